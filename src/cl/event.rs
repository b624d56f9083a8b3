//! OpenCL events: markers that the runtime waits for, and user events that hold a queue back.

use super::call::{Live, Object, call};
use super::context::Context;
use super::status::{Failure, Result};
use cl3::event::{CL_COMPLETE, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_PROFILING_COMMAND_END};
use cl3::types::{cl_event, cl_int};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};

/// How often a driver is asked to complete a user event, before it is given up.
const ATTEMPTS: u32 = 100;

/// How far a command has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Queued, submitted or running.
    Pending,
    /// Done.
    Complete,
    /// Ended by an error of the device or of what it waited for.
    Failed(Failure),
}

/// An event of a command; released when dropped.
#[derive(Debug)]
pub(crate) struct Event {
    raw: cl_event,
    /// Set once the driver said that the command is done, which it stays.
    complete: AtomicBool,
    _live: Live,
}

// SAFETY: OpenCL events may be used from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// Takes over the reference that an enqueue gave.
    pub(super) fn own(raw: cl_event) -> Self {
        Self { raw, complete: AtomicBool::new(false), _live: Live::new(Object::Event) }
    }

    pub(super) fn raw(&self) -> cl_event {
        self.raw
    }

    /// Whether the command is known to be done; asks no driver.
    pub(crate) fn is_known_complete(&self) -> bool {
        self.complete.load(Acquire)
    }

    /// Looks how far the command is, without waiting. What is known to be done is not asked about again.
    pub(crate) fn progress(&self) -> Result<Progress> {
        if self.is_known_complete() {
            return Ok(Progress::Complete);
        }
        let status =
            call("clGetEventInfo", || cl3::event::get_event_info(self.raw, CL_EVENT_COMMAND_EXECUTION_STATUS))?
                .to_int();
        Ok(match status {
            CL_COMPLETE => {
                self.complete.store(true, Release);
                Progress::Complete
            }
            1.. => Progress::Pending,
            status => Progress::Failed(Failure { entry: "command", status }),
        })
    }

    /// Blocks the calling thread until the command is done.
    pub(crate) fn wait(&self) -> Result<()> {
        if !self.is_known_complete() {
            call("clWaitForEvents", || cl3::event::wait_for_events(&[self.raw]))?;
            self.complete.store(true, Release);
        }
        Ok(())
    }

    /// When the command ended, in nanoseconds of the device's clock. Only this time of a marker is right on every
    /// driver: Intel's CPU runtime reports 0 for when it was queued.
    pub(crate) fn end_ns(&self) -> Result<u64> {
        Ok(call("clGetEventProfilingInfo", || {
            cl3::event::get_event_profiling_info(self.raw, CL_PROFILING_COMMAND_END)
        })?
        .to_ulong())
    }

    /// Calls `notify` once when the command has ended, well or not, from a thread of the driver or at once from
    /// this one. It may only signal: OpenCL calls inside deadlock on several drivers.
    pub(crate) fn on_end(&self, notify: impl FnOnce() + Send + 'static) -> Result<()> {
        let boxed: Box<Box<dyn FnOnce() + Send>> = Box::new(Box::new(notify));
        let user = Box::into_raw(boxed).cast::<c_void>();
        let set =
            call("clSetEventCallback", || cl3::event::set_event_callback(self.raw, CL_COMPLETE, on_event_end, user));
        if set.is_err() {
            // SAFETY: the driver refused the callback, so the box is still ours alone.
            drop(unsafe { Box::from_raw(user.cast::<Box<dyn FnOnce() + Send>>()) });
        }
        set
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: this is the one reference that the enqueue gave us.
        let released = call("clReleaseEvent", || unsafe { cl3::event::release_event(self.raw) });
        super::status::log_release(released);
    }
}

extern "C" fn on_event_end(_event: cl_event, _status: cl_int, user: *mut c_void) {
    // SAFETY: `on_end` passed a box of exactly this type, and the driver calls back once.
    let notify = unsafe { Box::from_raw(user.cast::<Box<dyn FnOnce() + Send>>()) };
    notify();
}

/// An event that the host completes: what waits for it stays where it is until then.
///
/// It is always completed with success, at the latest when dropped: a negative status makes some drivers drop
/// queues for good (rusticl) and others run the dependents all the same (Intel).
#[derive(Debug)]
pub(crate) struct UserEvent {
    event: Event,
    open: std::sync::atomic::AtomicBool,
}

impl UserEvent {
    /// Makes a closed gate.
    pub(crate) fn new(context: &Context) -> Result<Self> {
        let raw = call("clCreateUserEvent", || cl3::event::create_user_event(context.raw()))?;
        Ok(Self { event: Event::own(raw), open: std::sync::atomic::AtomicBool::new(false) })
    }

    /// Lets what waits go on; a second call does nothing.
    pub(crate) fn complete(&self) {
        if self.open.swap(true, std::sync::atomic::Ordering::AcqRel) {
            return;
        }
        // What waits for it would wait for ever, so a driver that is short of something is asked again.
        for _ in 0..ATTEMPTS {
            let set = call("clSetUserEventStatus", || cl3::event::set_user_event_status(self.event.raw, CL_COMPLETE));
            if set.is_ok() {
                return;
            }
            super::status::log_release(set);
            std::thread::yield_now();
        }
    }

    /// The event that commands can wait for.
    pub(crate) fn event(&self) -> &Event {
        &self.event
    }
}

impl Drop for UserEvent {
    fn drop(&mut self) {
        self.complete();
    }
}
