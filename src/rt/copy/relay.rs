//! Work of a stream on queues of another context, which OpenCL cannot order: events do not cross contexts, so a thread
//! of the runtime begins the work when the stream's turn has come and lets the stream go on when it is done.
//!
//! Nobody waits in the call. Behind the stream's work stands a marker that starts the thread's part, and behind that a
//! gate that holds the stream's later work. Every other context that takes part has a gate in a lane of its own, so
//! that it counts as busy: freeing memory there, or its end, waits.

use crate::cl::{Event, Failure, Progress, Queue, UserEvent};
use crate::error::{Error, ErrorKind, Result, panic_text};
use crate::rt::context::Context;
use crate::rt::stream::Stream;
use crate::rt::stream::lanes::{Join, Marked, Ticket};
use crate::rt::stream::order::{Class, LaneId};
use crate::rt::stream::worker::Worker;
use crate::trace;
use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// What a context has for work of other contexts' streams; made at first use.
#[derive(Default)]
pub(crate) struct Links {
    lanes: OnceLock<LinkLanes>,
    /// A thread for each context that something goes to from here, by serial number: transfers of one pair share the
    /// links anyway, and what blocks one pair does not hold up another.
    workers: Mutex<Vec<(u64, Arc<Worker>)>>,
}

/// Lanes without an order with any other, so that neither a stream nor its gates hold them up.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkLanes {
    /// What leaves the device.
    pub(super) out: LaneId,
    /// What comes to it.
    pub(super) into: LaneId,
    /// Gates alone: busy as long as work that uses the context is.
    hold: LaneId,
}

impl Links {
    /// The lanes, opened at first use.
    pub(super) fn lanes(&self, context: &Context) -> LinkLanes {
        *self.lanes.get_or_init(|| {
            let [out, into, hold] = [(); 3].map(|()| context.lanes().open(Class::NonBlocking, None));
            LinkLanes { out, into, hold }
        })
    }

    /// The worker for what goes to `target` from here.
    pub(super) fn worker(&self, target: &Context) -> Arc<Worker> {
        let mut workers = self.workers.lock();
        if let Some((_, worker)) = workers.iter().find(|(serial, _)| *serial == target.serial()) {
            return Arc::clone(worker);
        }
        // Contexts that were reset do not come back.
        workers.retain(|(_, worker)| !worker.is_idle());
        let worker = Arc::new(Worker::new("gridcl-transfer"));
        workers.push((target.serial(), Arc::clone(&worker)));
        worker
    }
}

/// What the work has to come after, and what comes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The stream's own work.
    Stream,
    /// Work of the default streams, and so of the blocking streams, of all devices that take part.
    DefaultStreams,
}

/// Work that blocks until it is done. It owns what it needs, and lets go of it when it returns.
pub(super) type Work = Box<dyn FnOnce() -> Result<()> + Send>;

/// A lane that the work stands in, and the gate that holds what comes later there.
struct Spot<'a> {
    context: &'a Arc<Context>,
    lane: LaneId,
    gate: UserEvent,
}

/// Has `worker` do some work in the order of `stream`. The contexts in `busy` are busy until it is done. What goes
/// wrong in it is reported to whoever waits for the stream.
///
/// # Errors
/// When the work could not be put in its place; it is not done then.
pub(super) fn run(
    stream: &Stream,
    scope: Scope,
    busy: &[&Arc<Context>],
    worker: &Arc<Worker>,
    work: Work,
) -> Result<()> {
    let mut contexts: Vec<&Arc<Context>> = vec![stream.context()];
    for context in busy {
        context.check()?;
        if !contexts.iter().any(|known| Arc::ptr_eq(known, context)) {
            contexts.push(context);
        }
    }
    let mut ordered = Vec::new();
    let mut held = Vec::new();
    for (index, context) in contexts.into_iter().enumerate() {
        let gate = UserEvent::new(context.cl()).map_err(|failure| context.note(failure))?;
        if index == 0 || scope == Scope::DefaultStreams {
            let lane = if index == 0 { stream.lane() } else { Context::LEGACY };
            ordered.push(Spot { context, lane, gate });
        } else {
            let hold = context.links().lanes(context).hold;
            context.submit(hold, |queue| queue.barrier(&[gate.event()]))?;
            held.push(gate);
        }
    }
    // Of several lane locks the one of the older context is taken first, always.
    ordered.sort_by_key(|spot| spot.context.serial());
    worker
        .expect()
        .map_err(|error| Error::new(ErrorKind::OutOfMemory, "there is no thread for the transfer").caused_by(error))?;
    let mut marked = Vec::new();
    place(&ordered, &mut marked).inspect_err(|_| worker.forget())?;
    let owners = ordered.iter().rev().map(|spot| Arc::clone(spot.context));
    let before = owners.zip(marked.iter().map(|marked| Arc::clone(&marked.marker))).collect();
    // The stream's first: whoever waited for another device finds the stream done as well.
    let gates = ordered.into_iter().map(|spot| spot.gate).chain(held).collect();
    let job = Job { stream: (Arc::clone(stream.context()), stream.lane()), before, work, gates };
    begin(job, marked, worker)
}

/// Blocks until what [`run`] was given is done, and gives managed memory back to the host where its device is idle.
pub(super) fn finish(stream: &Stream, scope: Scope, busy: &[&Arc<Context>]) -> Result<()> {
    stream.context().wait_out(stream.lane())?;
    for context in busy.iter().filter(|context| !Arc::ptr_eq(context, stream.context())) {
        let held = match scope {
            Scope::DefaultStreams => Context::LEGACY,
            Scope::Stream => context.links().lanes(context).hold,
        };
        context.wait_out(held)?;
    }
    Ok(())
}

/// Puts a marker and, behind it, the gate into each of the lanes. All their locks are held meanwhile: with something in
/// between, two transfers could come to wait for each other.
fn place(spots: &[Spot<'_>], marked: &mut Vec<Marked>) -> Result<()> {
    let Some((spot, rest)) = spots.split_first() else { return Ok(()) };
    let mut beyond = None;
    let placed = spot.context.lanes().submit(spot.lane, Join::Rules, |queue| {
        let marker = Arc::new(queue.marker()?);
        if let Err(error) = place(rest, marked) {
            beyond = Some(error);
            return Err(Failure { entry: "stream", status: -36 });
        }
        marked.push(Marked { marker, queue: Arc::clone(queue) });
        queue.barrier(&[spot.gate.event()])
    });
    match beyond {
        Some(error) => Err(error),
        None => placed.map(drop).map_err(|failure| spot.context.note(failure)),
    }
}

/// Has the job start when all markers are complete.
fn begin(job: Job, marked: Vec<Marked>, worker: &Arc<Worker>) -> Result<()> {
    let contexts: Vec<_> = job.before.iter().map(|(context, _)| Arc::clone(context)).collect();
    let start = Arc::new(Start {
        left: AtomicUsize::new(marked.len()),
        job: Mutex::new(Some(job)),
        worker: Arc::clone(worker),
    });
    for (context, marked) in contexts.iter().zip(&marked) {
        // Some drivers never start what nobody flushed. Nothing may fail once the last marker has its callback: the job
        // is as good as done then.
        let arrived = Arc::clone(&start);
        let flushed = marked.queue.flush();
        if let Err(failure) = flushed.and_then(|()| marked.marker.on_end(move || arrived.count())) {
            // The job goes, and its gates open thereby.
            drop(start.job.lock().take());
            worker.forget();
            return Err(context.note(failure));
        }
    }
    Ok(())
}

/// A job that waits for its markers.
struct Start {
    left: AtomicUsize,
    job: Mutex<Option<Job>>,
    worker: Arc<Worker>,
}

impl Start {
    /// A marker is complete. Called from the driver's threads, so it only signals.
    fn count(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(job) = self.job.lock().take()
        {
            self.worker.signal(Box::new(move || job.run()));
        }
    }
}

/// Work on its way.
struct Job {
    /// Who hears of what went wrong.
    stream: (Arc<Context>, LaneId),
    /// What came before it, by device; kept because some drivers do not keep an event for its callback.
    before: Vec<(Arc<Context>, Arc<Event>)>,
    work: Work,
    /// Hold what comes later. They open at the latest when they are dropped.
    gates: Vec<UserEvent>,
}

impl Job {
    fn run(self) {
        let _task = trace::task("transfer");
        let Self { stream: (context, lane), before, work, gates } = self;
        let ready = before.iter().try_for_each(|(context, marker)| match marker.progress() {
            Ok(Progress::Failed(failure)) | Err(failure) => Err(context.note(failure)),
            Ok(_) => Ok(()),
        });
        // What the work holds is let go of before anybody is told that it is done.
        let outcome = match ready {
            Ok(()) => catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
                let problem = format!("gridcl failed within a transfer: {}", panic_text(&*payload));
                Err(Error::new(ErrorKind::Unknown, problem).help("this is a bug of gridcl, please report it"))
            }),
            Err(error) => {
                drop(work);
                Err(error)
            }
        };
        if let Err(error) = outcome {
            log::warn!("a transfer between devices failed: {error}");
            context.report(lane, error);
        }
        for gate in &gates {
            gate.complete();
        }
    }
}

/// A command in a lane that somebody will wait for.
pub(super) struct Sent<'a> {
    context: &'a Arc<Context>,
    marked: Option<Marked>,
    ticket: Ticket,
}

/// Enqueues a command in a lane and hands it to the device.
pub(super) fn send<'a>(
    context: &'a Arc<Context>,
    lane: LaneId,
    enqueue: impl FnOnce(&Arc<Queue>) -> Result<(), Failure>,
) -> Result<Sent<'a>> {
    let note = |failure| context.note(failure);
    let ((), ticket) = context.submit(lane, enqueue)?;
    let marked = context.lanes().mark(lane).map_err(note)?;
    if let Some(marked) = &marked {
        marked.queue.flush().map_err(note)?;
    }
    Ok(Sent { context, marked, ticket })
}

impl Sent<'_> {
    /// The point behind the command.
    pub(super) fn ticket(&self) -> Ticket {
        self.ticket.clone()
    }

    /// Blocks until the command is done.
    pub(super) fn wait(self) -> Result<()> {
        if let Some(marked) = &self.marked {
            marked.marker.wait().map_err(|failure| self.context.note(failure))?;
            self.context.lanes().settle(&self.ticket);
        }
        self.context.device().check()
    }
}

/// Sends a command and blocks until it is done, or until the lane has nothing left that might still use its operands.
pub(super) fn send_and_wait(
    context: &Arc<Context>,
    lane: LaneId,
    enqueue: impl FnOnce(&Arc<Queue>) -> Result<(), Failure>,
) -> Result<()> {
    send(context, lane, enqueue).and_then(Sent::wait).inspect_err(|_| drain(context, lane))
}

/// Blocks until a lane is done, after something went wrong.
pub(super) fn drain(context: &Context, lane: LaneId) {
    if let Err(failure) = context.lanes().wait_out(lane) {
        log::warn!(target: "gridcl::cl", "{failure}");
    }
}
