//! Host functions in stream order: the program's callbacks.
//!
//! A callback stands in its stream like any other work: it runs once, after what came before, and what comes later
//! waits until it has returned. The driver's own callback only signals, because OpenCL calls inside it deadlock on
//! several drivers; the program's function runs on a worker of its stream, so that one that waits holds up its own
//! stream alone. Later work is held back by a user event, which is completed whatever the function does.

use crate::cl::{Event, UserEvent};
use crate::error::{Error, ErrorKind, panic_text};
use crate::trace;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Tasks of workers whose events may still live: a worker lets go of them after it has let the stream go on.
#[cfg(feature = "testing")]
pub(crate) static UNDER_WAY: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is inside a callback, where calls of the runtime are refused.
pub(crate) fn inside() -> bool {
    INSIDE.try_with(Cell::get).unwrap_or(false)
}

/// Refuses a call from inside a callback: waiting there for the stream that the callback holds back would never end.
pub(crate) fn refuse_inside() -> Result<(), Error> {
    if !inside() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::NotPermitted, "the runtime may not be called from inside a stream callback")
        .help("let the callback signal another thread"))
}

/// The program's function; it is told how the work before it ended.
pub(crate) type HostFn = Box<dyn FnOnce(Result<(), Error>) + Send>;

/// A callback on its way.
pub(super) struct Job {
    /// What to run.
    pub(super) run: HostFn,
    /// Tells how the work before it ended, at the time of running.
    pub(super) status: Box<dyn FnOnce() -> Result<(), Error> + Send>,
    /// Takes note of a panic of the function.
    pub(super) panicked: Box<dyn FnOnce(String) + Send>,
    /// Holds the stream's later work.
    pub(super) gate: UserEvent,
    /// Stands before the callback; kept because some drivers do not keep an event for its callback.
    pub(super) marker: Arc<Event>,
}

impl Job {
    /// Runs the function and lets the stream go on.
    pub(super) fn run(self) {
        let task = trace::task("callback");
        let status = (self.status)();
        INSIDE.with(|inside| inside.set(true));
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.run)(status)));
        INSIDE.with(|inside| inside.set(false));
        drop(task);
        if let Err(payload) = outcome {
            (self.panicked)(panic_text(&*payload));
        }
        self.gate.complete();
        drop(self.marker);
    }
}
