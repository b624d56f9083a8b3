//! Stream calls (behaviour.md 2.3, 2.5 and 3.8).

use super::{Out, check_flags, null};
use crate::dialect::handle::{self, Object};
use crate::dialect::{Dialect, thread};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::stream::{PRIORITIES, StreamFlags};
use std::ffi::{c_int, c_uint, c_void};

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

/// What a callback is given: the program's own pointers, which the runtime carries to another thread unopened.
struct Carried<T>(T);

// SAFETY: the pointers are only handed back to the program, which knows what they are.
unsafe impl<T> Send for Carried<T> {}

impl<T> Carried<T> {
    /// The pointers. Taking the whole value keeps the promise attached to it inside a closure.
    fn open(self) -> T {
        self.0
    }
}

/// `StreamAddCallback`: a function in stream order.
///
/// # Safety
/// The function has to be callable from another thread with `user`.
pub(crate) unsafe fn add_callback<D: Dialect, S: 'static>(
    callback: Option<unsafe extern "C" fn(*mut S, D::Code, *mut c_void)>,
    stream: *mut S,
    user: *mut c_void,
    flags: c_uint,
    known: c_uint,
) -> Result<()> {
    let callback = callback.ok_or_else(|| null("callback"))?;
    check_flags(flags, known)?;
    let carried = Carried((stream, user));
    handle::stream::<D>(stream.addr())?.launch_host_fn(move |status| {
        let (stream, user) = carried.open();
        let code = status.map_or_else(|error| D::code(error.kind()), |()| D::SUCCESS);
        // SAFETY: the caller's.
        unsafe { callback(stream, code, user) };
    })
}

/// `LaunchHostFunc`: a function in stream order that is told nothing.
///
/// # Safety
/// The function has to be callable from another thread with `user`.
pub(crate) unsafe fn launch_host_func<D: Dialect>(
    stream: usize,
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    user: *mut c_void,
) -> Result<()> {
    let function = function.ok_or_else(|| null("fn"))?;
    let carried = Carried(user);
    handle::stream::<D>(stream)?.launch_host_fn(move |_| {
        // SAFETY: the caller's.
        unsafe { function(carried.open()) };
    })
}
