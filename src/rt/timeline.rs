//! What the timeline needs of the runtime: events of the commands that streams are given, seen done when somebody
//! waits, and each device's clock beside the host's.
//!
//! All of it is idle without `GRIDCL_TRACE`. With it queues keep times from the start, and every command has an event.

use super::context::Context;
use super::stream::order::LaneId;
use crate::cl::status::Result;
use crate::cl::watch::{self, Command, Kind};
use crate::cl::{Event, Progress, Queue};
use crate::trace::clock::{Clock, Reading};
use crate::trace::device::{self, Lane, Seen, Work};
use crate::trace::{self, Label};
use std::sync::Arc;

/// So many commands wait before somebody who enqueues looks which are done.
const LOOK_AT: usize = 1 << 10;
/// How often a clock is read to find out how it compares: the quickest reading says most.
const READINGS: usize = 8;

/// Switches the events of commands on where there is a timeline. Called before the first queue is made.
pub(super) fn prepare() {
    if trace::is_on() {
        watch::turn_on();
    }
}

/// Lets the timeline know what `enqueue` puts into a lane. Runs under the lane lock.
#[inline]
pub(crate) fn watched<T>(
    context: &Context,
    lane: LaneId,
    enqueue: impl FnOnce(&Arc<Queue>) -> T,
) -> impl FnOnce(&Arc<Queue>) -> T {
    move |queue| if trace::is_on() { note(context, lane, || enqueue(queue)) } else { enqueue(queue) }
}

#[cold]
fn note<T>(context: &Context, lane: LaneId, enqueue: impl FnOnce() -> T) -> T {
    let at = trace::now();
    let (answer, commands) = watch::watch(enqueue);
    for command in commands {
        let work = Work {
            label: trace::label(),
            default: names(command.kind),
            bytes: command.bytes,
            is_moment: false,
            command: Box::new(command),
        };
        device::work(place(context, lane), || name(lane), work, at);
    }
    if device::waiting() >= LOOK_AT && device::waiting().is_multiple_of(LOOK_AT) {
        device::collect();
    }
    answer
}

/// Shows where an event was recorded in a lane.
#[inline]
pub(super) fn recorded(context: &Context, lane: LaneId, marker: Option<&Arc<Event>>) {
    if let (true, Some(marker)) = (trace::is_on(), marker) {
        let command = Box::new(Arc::clone(marker));
        let work = Work { label: None, default: ("event", "event record"), bytes: 0, is_moment: true, command };
        device::work(place(context, lane), || name(lane), work, trace::now());
    }
}

/// Writes what is done by now. Called when somebody has waited.
#[inline]
pub(super) fn collect(context: &Context) {
    if trace::is_on() && device::waiting() > 0 {
        compare_clocks(context);
        device::collect();
        trace::flush();
    }
}

/// A copy's name: what lies at its ends.
pub(crate) fn copy(direction: &'static str, bytes: usize) -> Label {
    Label { name: format!("copy {direction}"), category: "copy", bytes, details: Vec::new() }
}

/// A set's name.
pub(crate) fn set(bytes: usize) -> Label {
    Label { name: "set".into(), category: "set", bytes, details: Vec::new() }
}

fn place(context: &Context, lane: LaneId) -> Lane {
    Lane { device: context.device().ordinal(), context: context.serial(), index: lane.index() }
}

fn name(lane: LaneId) -> String {
    if lane == Context::LEGACY { "default stream".into() } else { format!("stream {}", lane.index()) }
}

fn names(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Kernel => ("kernel", "kernel"),
        Kind::Read => ("copy", "copy device to host"),
        Kind::Write => ("copy", "copy host to device"),
        Kind::Copy => ("copy", "copy"),
        Kind::Fill => ("set", "set"),
        Kind::Migrate => ("copy", "prefetch"),
    }
}

impl Seen for Command {
    fn times(&self) -> Option<Option<(u64, u64)>> {
        match self.progress() {
            Ok(Progress::Pending) => None,
            Ok(Progress::Complete) => Some(Command::times(self).ok()),
            Ok(Progress::Failed(_)) | Err(_) => Some(None),
        }
    }
}

impl Seen for Arc<Event> {
    fn times(&self) -> Option<Option<(u64, u64)>> {
        match self.progress() {
            Ok(Progress::Pending) => None,
            // Of a marker no more than the end is true on every driver.
            Ok(Progress::Complete) => Some(self.end_ns().ok().map(|end| (end, end))),
            Ok(Progress::Failed(_)) | Err(_) => Some(None),
        }
    }
}

/// Compares the clock of a context's device with the host's, where that has not been done of late.
fn compare_clocks(context: &Context) {
    let ordinal = context.device().ordinal();
    if !device::needs_clock(ordinal) {
        return;
    }
    match read_clock(context) {
        Ok(Some(clock)) => device::set_clock(ordinal, &context.device().to_string(), clock),
        Ok(None) => {}
        Err(failure) => log::warn!("the timeline cannot read the clock of {}: {failure}", context.device()),
    }
}

/// Markers in an idle queue end between two looks at the host's clock. The driver's own reading, where it has one,
/// lies closer together, and counts where it agrees.
fn read_clock(context: &Context) -> Result<Option<Clock>> {
    let queue = Queue::new(context.cl(), true, None)?;
    let mut readings = Vec::with_capacity(2 * READINGS);
    for _ in 0..READINGS {
        let after = trace::now();
        let marker = queue.marker()?;
        queue.flush()?;
        marker.wait()?;
        let before = trace::now();
        readings.push(Reading { device: marker.end_ns()?, after, before });
    }
    for _ in 0..READINGS {
        let after = trace::now();
        let Some(device) = watch::device_time(context.cl()) else { break };
        readings.push(Reading { device, after, before: trace::now() });
    }
    Ok(Clock::of(readings))
}
