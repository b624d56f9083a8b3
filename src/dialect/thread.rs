//! What a dialect keeps for each thread: the current device, the last error, and the thread's own streams.

use super::{Dialect, native};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::device::Device;
use crate::rt::stream::Stream;
use std::cell::RefCell;

thread_local! {
    /// The thread's last failure in words, of whichever dialect.
    static DETAIL: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// A thread's state in one dialect.
#[derive(Debug, Default)]
pub(crate) struct Thread {
    device: usize,
    last: Option<ErrorKind>,
    /// The thread's own streams, one for each context that it used.
    streams: Vec<Stream>,
}

impl Thread {
    /// A thread that has called nothing yet: device 0, no error.
    pub(crate) const fn new() -> Self {
        Self { device: 0, last: None, streams: Vec::new() }
    }
}

/// Reaches the thread's state; a fresh one while the thread ends and its own is gone.
fn with<D: Dialect, T>(act: impl Fn(&mut Thread) -> T) -> T {
    D::thread().try_with(|thread| act(&mut thread.borrow_mut())).unwrap_or_else(|_| act(&mut Thread::new()))
}

/// Records a failure as the thread's last error and answers its code. "Not ready" is an answer and no failure; what
/// succeeds later wipes nothing (behaviour.md 2.2).
#[cold]
pub(crate) fn record<D: Dialect>(error: Error) -> D::Code {
    let kind = error.kind();
    if kind != ErrorKind::NotReady {
        with::<D, _>(|thread| thread.last = Some(kind));
        note(error);
    }
    D::code(kind)
}

/// Keeps a failure's words for the thread, and tells the log and the program's error sink.
#[cold]
pub(crate) fn note(error: Error) {
    log::warn!(target: "gridcl::warn", "{error}");
    // A thread that is ending has nobody left to read the words.
    let _ = DETAIL.try_with(|detail| *detail.borrow_mut() = Some(error.clone()));
    native::tell(&error);
}

/// The thread's last error; forgotten when `clear` says so.
pub(crate) fn last_error<D: Dialect>(clear: bool) -> D::Code {
    let last = with::<D, _>(|thread| if clear { thread.last.take() } else { thread.last });
    last.map_or(D::SUCCESS, D::code)
}

/// The thread's last failure in words: call, argument, value, cause and what to do.
///
/// It stays until the next failure of the thread, whatever was called in between.
pub fn last_error_detail() -> Option<String> {
    DETAIL.try_with(|detail| detail.borrow().as_ref().map(ToString::to_string)).ok().flatten()
}

/// The ordinal of the thread's current device.
pub(crate) fn ordinal<D: Dialect>() -> usize {
    with::<D, _>(|thread| thread.device)
}

/// Makes a device the thread's current one; waits for nothing.
pub(crate) fn set_device<D: Dialect>(device: Device) {
    with::<D, _>(|thread| thread.device = device.ordinal());
}

/// The thread's current device.
pub(crate) fn device<D: Dialect>() -> Result<Device> {
    Device::get(ordinal::<D>())
}

/// The thread's own stream on a device: like a created blocking stream, made at first use and again after a reset.
pub(crate) fn own_stream<D: Dialect>(device: Device) -> Result<Stream> {
    let known = with::<D, _>(|thread| {
        thread.streams.retain(Stream::is_alive);
        thread.streams.iter().find(|stream| stream.device() == device).cloned()
    });
    if let Some(stream) = known {
        return Ok(stream);
    }
    let stream = device.create_stream()?;
    with::<D, _>(|thread| thread.streams.push(stream.clone()));
    Ok(stream)
}
