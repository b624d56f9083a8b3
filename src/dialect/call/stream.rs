//! Stream calls (behaviour.md 2.3, 2.5 and 3.8).

use super::{Out, check_flags};
use crate::dialect::handle::{self, Object};
use crate::dialect::{Dialect, thread};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::stream::{PRIORITIES, StreamFlags};
use std::ffi::{c_int, c_uint};

/// `StreamCreate` and its kin: a stream of the current device. `known` are the flags that the dialect knows.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn create<D: Dialect, S>(
    out: *mut *mut S,
    flags: c_uint,
    known: c_uint,
    priority: c_int,
) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("pStream", out) }?;
    check_flags(flags, known)?;
    let flags = StreamFlags::from_bits_truncate(flags);
    let stream = thread::device::<D>()?.create_stream_with(flags, priority)?;
    out.set(std::ptr::without_provenance_mut(D::handles().add(Object::Stream(stream))));
    Ok(())
}

/// `StreamDestroy`: gives a stream up without waiting; its work still runs to its end.
pub(crate) fn destroy<D: Dialect>(stream: usize) -> Result<()> {
    if D::LEGACY_STREAMS.contains(&stream) || D::PER_THREAD_STREAMS.contains(&stream) {
        return Err(Error::new(ErrorKind::InvalidHandle, "default streams cannot be destroyed")
            .argument("stream", format_args!("{stream:#x}")));
    }
    match D::handles().remove(stream, |object| matches!(object, Object::Stream(_))) {
        Some(_) => Ok(()),
        None => Err(handle::dead("stream", "a stream", stream)),
    }
}

/// `StreamQuery`: success, or not ready.
pub(crate) fn query<D: Dialect>(stream: usize) -> Result<()> {
    match handle::stream::<D>(stream)?.is_done()? {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::NotReady, "the stream has work to do")),
    }
}

/// `StreamSynchronize`: waits for a stream.
pub(crate) fn synchronize<D: Dialect>(stream: usize) -> Result<()> {
    handle::stream::<D>(stream)?.synchronize()
}

/// `StreamWaitEvent`: later work of the stream waits for the event's latest record.
pub(crate) fn wait_event<D: Dialect>(stream: usize, event: usize, flags: c_uint, known: c_uint) -> Result<()> {
    let event = handle::event::<D>("event", event)?;
    check_flags(flags, known)?;
    handle::stream::<D>(stream)?.wait_event(&event)
}

/// `StreamGetFlags`: what the stream was made with.
///
/// # Safety
/// `flags` has to be null or writable.
pub(crate) unsafe fn flags<D: Dialect>(stream: usize, flags: *mut c_uint) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("flags", flags) }?;
    out.set(handle::stream::<D>(stream)?.flags().bits());
    Ok(())
}

/// `StreamGetPriority`: the priority after clamping.
///
/// # Safety
/// `priority` has to be null or writable.
pub(crate) unsafe fn priority<D: Dialect>(stream: usize, priority: *mut c_int) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("priority", priority) }?;
    out.set(handle::stream::<D>(stream)?.priority());
    Ok(())
}

/// `DeviceGetStreamPriorityRange`: the least urgent first (0), then the most. Either pointer may be null.
///
/// # Safety
/// Both pointers have to be null or writable.
pub(crate) unsafe fn priority_range<D: Dialect>(least: *mut c_int, greatest: *mut c_int) -> Result<()> {
    thread::device::<D>()?;
    for (out, value) in [(least, PRIORITIES.0), (greatest, PRIORITIES.1)] {
        if !out.is_null() {
            // SAFETY: the caller's.
            unsafe { Out::new("priority", out) }?.set(value);
        }
    }
    Ok(())
}
