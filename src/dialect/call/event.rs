//! Event calls (behaviour.md 2.5 and 3.9).

use super::{Out, check_flags};
use crate::dialect::handle::{self, Object};
use crate::dialect::{Dialect, thread};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::event::{Event, EventFlags};
use crate::rt::ipc::HANDLE_BYTES;
use std::ffi::{c_char, c_uint};

/// `EventCreate` and its kin: an event of the current device. `known` are the flags that the dialect knows.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn create<D: Dialect, E>(out: *mut *mut E, flags: c_uint, known: c_uint) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("event", out) }?;
    check_flags(flags, known)?;
    let event = Event::with_flags(thread::device::<D>()?, EventFlags::from_bits_truncate(flags))?;
    out.set(std::ptr::without_provenance_mut(D::handles().add(Object::Event(event))));
    Ok(())
}

/// `EventDestroy`: at once, also while it is pending; streams that wait for it go on waiting.
pub(crate) fn destroy<D: Dialect>(event: usize) -> Result<()> {
    match D::handles().remove(event, |object| matches!(object, Object::Event(_))) {
        Some(_) => Ok(()),
        None => Err(handle::dead("event", "an event", event)),
    }
}

/// `EventRecord`: behind the stream's work so far. `known` are the flags that the dialect knows, none of which
/// changes anything outside of a capture.
pub(crate) fn record<D: Dialect>(event: usize, stream: usize, flags: c_uint, known: c_uint) -> Result<()> {
    let event = handle::event::<D>("event", event)?;
    check_flags(flags, known)?;
    event.record(&handle::stream::<D>(stream)?)
}

/// `EventQuery`: success, or not ready.
pub(crate) fn query<D: Dialect>(event: usize) -> Result<()> {
    match handle::event::<D>("event", event)?.is_done()? {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::NotReady, "the work before the event is still going on")),
    }
}

/// `EventSynchronize`: waits for the latest record.
pub(crate) fn synchronize<D: Dialect>(event: usize) -> Result<()> {
    handle::event::<D>("event", event)?.synchronize()
}

/// `EventElapsedTime`: milliseconds from `start` to `stop`, negative when they are the other way round.
///
/// # Safety
/// `ms` has to be null or writable.
pub(crate) unsafe fn elapsed<D: Dialect>(ms: *mut f32, start: usize, stop: usize) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("ms", ms) }?;
    let (start, stop) = (handle::event::<D>("start", start)?, handle::event::<D>("stop", stop)?);
    out.set(stop.elapsed_since(&start)?);
    Ok(())
}

/// `IpcGetEventHandle`: the bytes by which another process opens an interprocess event.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn ipc_handle<D: Dialect>(out: *mut [c_char; HANDLE_BYTES], event: usize) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("handle", out) }?;
    let bytes = handle::event::<D>("event", event)?.ipc_handle()?;
    out.set(bytemuck::cast(bytes));
    Ok(())
}

/// `IpcOpenEventHandle`: an event of the current device that is the same as one of another process.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn ipc_open<D: Dialect, E>(out: *mut *mut E, handle: [c_char; HANDLE_BYTES]) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("event", out) }?;
    let event = Event::open_ipc(thread::device::<D>()?, &bytemuck::cast(handle))?;
    out.set(std::ptr::without_provenance_mut(D::handles().add(Object::Event(event))));
    Ok(())
}

/// Refuses flags that exclude each other.
pub(crate) fn check_exclusive(flags: c_uint, exclusive: c_uint) -> Result<()> {
    if flags & exclusive != exclusive {
        return Ok(());
    }
    Err(Error::new(ErrorKind::InvalidValue, format!("of the bits {exclusive:#x} one at most may be set"))
        .argument("flags", format_args!("{flags:#x}")))
}
