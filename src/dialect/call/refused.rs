//! Calls that OpenCL cannot carry out: their arguments are checked all the same, so that a program learns of its own
//! mistakes first (behaviour.md 1.6).

use super::{check_flags, null};
use crate::dialect::{Dialect, handle};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::memory::query::{self, Facts, Home};
use std::ffi::{c_uint, c_void};

/// `IpcGetMemHandle`: for the start of device memory.
pub(crate) fn ipc_get_mem_handle<H>(out: *mut H, pointer: *const c_void) -> Result<()> {
    if out.is_null() {
        return Err(null("handle"));
    }
    let facts = device_memory(pointer)?;
    if facts.base != pointer.addr() {
        let problem = format!("it points into the allocation at {:#x}", facts.base);
        return Err(Error::new(ErrorKind::InvalidValue, problem)
            .argument("devPtr", format_args!("{:#x}", pointer.addr()))
            .help("a handle is of a whole allocation"));
    }
    Err(between_processes())
}

/// `IpcOpenMemHandle`: with flags that are known.
pub(crate) fn ipc_open_mem_handle(out: *mut *mut c_void, flags: c_uint, known: c_uint) -> Result<()> {
    if out.is_null() {
        return Err(null("devPtr"));
    }
    check_flags(flags, known)?;
    Err(between_processes())
}

/// `IpcCloseMemHandle`: not of memory that the process allocated itself.
pub(crate) fn ipc_close_mem_handle(pointer: *const c_void) -> Result<()> {
    if pointer.is_null() {
        return Err(null("devPtr"));
    }
    if query::ask(pointer.addr()).is_ok() {
        return Err(Error::new(ErrorKind::InvalidValue, "the memory is this process's own")
            .argument("devPtr", format_args!("{:#x}", pointer.addr())));
    }
    Err(between_processes())
}

/// `StreamWriteValue32` and `StreamWaitValue32`: of a word of device memory.
pub(crate) fn stream_value<D: Dialect>(
    pointer: *const c_void,
    flags: c_uint,
    known: c_uint,
    stream: usize,
) -> Result<()> {
    let refuse = |error: Error| error.with_kind(ErrorKind::InvalidDevicePointer);
    let facts = device_memory(pointer).map_err(refuse)?;
    if facts.base + facts.bytes - pointer.addr() < size_of::<u32>() || !pointer.addr().is_multiple_of(size_of::<u32>())
    {
        let problem = "it is not the address of a whole word of 4 bytes";
        return Err(
            Error::new(ErrorKind::InvalidDevicePointer, problem).argument("dst", format_args!("{:#x}", pointer.addr()))
        );
    }
    check_flags(flags, known)?;
    handle::stream::<D>(stream)?;
    Err(Error::new(ErrorKind::NotSupported, "OpenCL's queues neither write nor watch single words")
        .help("order streams by events"))
}

fn device_memory(pointer: *const c_void) -> Result<Facts> {
    let facts = query::ask(pointer.addr())?;
    if facts.home == Home::Host {
        return Err(Error::new(ErrorKind::InvalidValue, "it is host memory")
            .argument("ptr", format_args!("{:#x}", pointer.addr())));
    }
    Ok(facts)
}

fn between_processes() -> Error {
    Error::new(ErrorKind::NotSupported, "OpenCL shares no device memory between processes")
        .help("copy through host memory that the processes share")
}
