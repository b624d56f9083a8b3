//! Allocation, pinned memory and registration (behaviour.md 3.2 and 3.3).

use super::{Out, check_flags, null};
use crate::dialect::{Dialect, thread};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::memory::{self, Kind, host};
use std::ffi::{c_uint, c_void};

/// What a zero-sized allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ZeroSize {
    /// Success and a null pointer (CUDA, MUSA).
    Null,
    /// Success and a pointer that can be freed (TOPS).
    Pointer,
}

/// `Malloc`: device memory of the current device, aligned to 256 bytes.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn malloc<D: Dialect>(out: *mut *mut c_void, bytes: usize, zero: ZeroSize) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("devPtr", out) }?;
    if bytes == 0 && zero == ZeroSize::Null {
        out.set(std::ptr::null_mut());
        return Ok(());
    }
    let allocation = memory::allocate(&thread::device::<D>()?.context()?, bytes, Kind::Device)?;
    out.set(allocation.base() as *mut c_void);
    Ok(())
}

/// `ExtMallocWithFlags`: the same with flags, which are kept.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn malloc_with_flags<D: Dialect>(
    out: *mut *mut c_void,
    bytes: usize,
    flags: c_uint,
    known: c_uint,
) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("ptr", out) }?;
    check_flags(flags, known)?;
    let allocation = memory::allocate_with(&thread::device::<D>()?.context()?, bytes, Kind::Device, flags)?;
    out.set(allocation.base() as *mut c_void);
    Ok(())
}

/// `Free`: gives device memory back, after all work of its device. Null is nothing to free.
pub(crate) fn free<D: Dialect>(pointer: *mut c_void) -> Result<()> {
    if pointer.is_null() {
        return thread::device::<D>()?.context().map(drop);
    }
    memory::free(pointer.addr())
}

/// `HostAlloc`: pinned host memory.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn host_alloc<D: Dialect>(
    out: *mut *mut c_void,
    bytes: usize,
    flags: c_uint,
    known: c_uint,
    exclusive: c_uint,
) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("pHost", out) }?;
    check_flags(flags, known)?;
    if exclusive != 0 && flags & exclusive == exclusive {
        return Err(Error::new(ErrorKind::InvalidValue, "the memory is either coherent or not")
            .argument("flags", format_args!("{flags:#x}")));
    }
    if bytes == 0 {
        out.set(std::ptr::null_mut());
        return Ok(());
    }
    let allocation = host::allocate_pinned(&thread::device::<D>()?.context()?, bytes, flags)?;
    out.set(allocation.base() as *mut c_void);
    Ok(())
}

/// `FreeHost`: gives pinned host memory back, after all work of its device. Null is nothing to free.
pub(crate) fn host_free<D: Dialect>(pointer: *mut c_void) -> Result<()> {
    if pointer.is_null() {
        return thread::device::<D>().map(drop);
    }
    host::free_pinned(pointer.addr())
}

/// `HostRegister`: pins memory of the program's own. `refused` are flags that are known and cannot be had.
///
/// # Safety
/// The range has to stay valid until it is unregistered.
pub(crate) unsafe fn host_register<D: Dialect>(
    pointer: *mut c_void,
    bytes: usize,
    flags: c_uint,
    known: c_uint,
    refused: c_uint,
) -> Result<()> {
    if pointer.is_null() {
        return Err(null("ptr"));
    }
    if bytes == 0 {
        return Err(Error::new(ErrorKind::InvalidValue, "there is nothing to register").argument("size", 0));
    }
    check_flags(flags, known)?;
    if flags & refused != 0 {
        return Err(Error::new(ErrorKind::NotSupported, "memory of I/O devices cannot be registered through OpenCL")
            .argument("flags", format_args!("{flags:#x}")));
    }
    host::register(&thread::device::<D>()?.context()?, pointer.addr(), bytes, flags)
}

/// `HostUnregister`: ends a registration.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for null, [`ErrorKind::HostMemoryNotRegistered`] for what is not registered.
pub(crate) fn host_unregister(pointer: *mut c_void) -> Result<()> {
    if pointer.is_null() {
        return Err(null("ptr"));
    }
    host::unregister(pointer.addr())
}

/// `HostGetFlags`: the flags that pinned or registered memory was made with.
///
/// # Safety
/// `flags` has to be null or writable.
pub(crate) unsafe fn host_flags(flags: *mut c_uint, pointer: *mut c_void) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("pFlags", flags) }?;
    match memory::find(pointer.addr(), 1)? {
        memory::Found::Known(allocation) if allocation.kind().is_host() => {
            out.set(allocation.flags());
            Ok(())
        }
        _ => Err(Error::new(ErrorKind::InvalidValue, "it is neither pinned nor registered host memory")
            .argument("pHost", format_args!("{:#x}", pointer.addr()))),
    }
}

/// `HostGetDevicePointer`: the address of pinned or registered memory for kernels, which is its own.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn host_device_pointer<D: Dialect>(
    out: *mut *mut c_void,
    pointer: *mut c_void,
    flags: c_uint,
) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("pDevice", out) }?;
    check_flags(flags, 0)?;
    if pointer.is_null() {
        return Err(null("pHost"));
    }
    out.set(host::device_address(&thread::device::<D>()?.context()?, pointer.addr())? as *mut c_void);
    Ok(())
}

/// More than the host has: TOPS answers out of memory for it, where others answer an invalid value.
pub(crate) fn check_fits_host(bytes: usize) -> Result<()> {
    if bytes <= host::physical_bytes() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::OutOfMemory, format!("the host has {} bytes", host::physical_bytes()))
        .argument("size", bytes))
}
