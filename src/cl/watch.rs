//! Events of commands, for the timeline. While it is off an enqueue asks for no event, and looks at one flag.
//!
//! The runtime puts [`watch`] around what enqueues; each enqueue in it that passes [`slot`] then leaves a [`Command`].

use super::call::call;
use super::context::Context;
use super::event::{Event, Progress};
use super::status::Result;
use cl3::event::{CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_START, get_event_profiling_info};
use cl3::types::cl_event;
use std::cell::{RefCell, UnsafeCell};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static ON: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// What the calling thread enqueues, while it is watched. Boxes, since the driver writes to where they are.
    static SEEN: RefCell<Option<Vec<Slot>>> = const { RefCell::new(None) };
}

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Kernel,
    /// From device memory to host memory.
    Read,
    /// The other way.
    Write,
    /// Between any two.
    Copy,
    Fill,
    Migrate,
}

struct Slot {
    kind: Kind,
    bytes: usize,
    event: Box<UnsafeCell<cl_event>>,
}

/// A command that was enqueued under watch.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) kind: Kind,
    /// What it moves or writes; 0 where its enqueue does not tell.
    pub(crate) bytes: usize,
    event: Event,
}

/// Has queues that are made from now on keep times, and enqueues under watch ask for events.
pub(crate) fn turn_on() {
    ON.store(true, Relaxed);
}

#[inline]
pub(super) fn is_on() -> bool {
    ON.load(Relaxed)
}

/// Where an enqueue has to put its command's event; null while nobody watches.
#[inline]
pub(super) fn slot(kind: Kind, bytes: usize) -> *mut cl_event {
    if is_on() { new_slot(kind, bytes) } else { null_mut() }
}

#[cold]
fn new_slot(kind: Kind, bytes: usize) -> *mut cl_event {
    let add = |seen: &RefCell<Option<Vec<Slot>>>| {
        let mut seen = seen.borrow_mut();
        let Some(seen) = &mut *seen else { return null_mut() };
        seen.push(Slot { kind, bytes, event: Box::new(UnsafeCell::new(null_mut())) });
        seen.last().map_or(null_mut(), |slot| slot.event.get())
    };
    SEEN.try_with(add).unwrap_or(null_mut())
}

/// Runs what enqueues, and answers the commands that it left. Of those that failed there are none.
pub(crate) fn watch<T>(enqueue: impl FnOnce() -> T) -> (T, Vec<Command>) {
    let before = SEEN.try_with(|seen| seen.borrow_mut().replace(Vec::new())).ok().flatten();
    let answer = enqueue();
    let seen = SEEN.try_with(|seen| std::mem::replace(&mut *seen.borrow_mut(), before)).ok().flatten();
    let given = seen.unwrap_or_default().into_iter().filter_map(|slot| {
        let event = slot.event.into_inner();
        (!event.is_null()).then(|| Command { kind: slot.kind, bytes: slot.bytes, event: Event::own(event) })
    });
    (answer, given.collect())
}

impl Command {
    /// Looks how far it is, without waiting.
    pub(crate) fn progress(&self) -> Result<Progress> {
        self.event.progress()
    }

    /// When it began and ended, in nanoseconds of the device's clock.
    pub(crate) fn times(&self) -> Result<(u64, u64)> {
        let time = |which| {
            call("clGetEventProfilingInfo", || get_event_profiling_info(self.event.raw(), which))
                .map(|time| time.to_ulong())
        };
        Ok((time(CL_PROFILING_COMMAND_START)?, time(CL_PROFILING_COMMAND_END)?))
    }
}

/// The device's clock now, in nanoseconds, where the driver tells (OpenCL 2.1; PoCL 3.1 and NVIDIA do not).
pub(crate) fn device_time(context: &Context) -> Option<u64> {
    let [device, _] =
        call("clGetDeviceAndHostTimer", || cl3::device::get_device_and_host_timer(context.device())).ok()?;
    (device > 0).then_some(device)
}
