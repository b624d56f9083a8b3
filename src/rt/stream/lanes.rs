//! The queues behind a context's streams, and the one lock that covers deciding an order and enqueuing it.
//!
//! A lane is a stream's place here: its in-order queue and how far it has come (`progress.rs`).
//! No event list is kept. The *tail* marker of a lane is made when somebody has to wait for the lane and serves
//! until new work arrives. Queues are made at the first work and there is one live queue a lane at all times.

use super::order::{Class, LaneId, Order};
use super::progress::Progress as Count;
pub(crate) use super::progress::Ticket;
use super::vigil::Vigil;
use super::worker::Worker;
use crate::cl::queue::Priority;
use crate::cl::status::Result;
use crate::cl::{self, Failure, Progress, Queue};
use crate::rt::device::Device;
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::sync::Arc;

/// Streams hold their lanes open, so a missing one means that the stream ended meanwhile: `CL_INVALID_COMMAND_QUEUE`.
const GONE: Failure = Failure { entry: "stream", status: -36 };

/// How often a driver is asked to wait, before it is given up.
const ATTEMPTS: u32 = 100;

/// All lanes of one context.
pub(crate) struct Lanes {
    cl: Arc<cl::Context>,
    vigil: Vigil,
    state: Mutex<State>,
}

struct State {
    /// Keeps a fault of its own, whoever finds it and whatever comes of the call.
    device: Device,
    order: Order,
    /// By [`LaneId::index`].
    lanes: Vec<Option<Lane>>,
    /// Lanes of destroyed streams, which go when their work is done.
    closed: Vec<LaneId>,
}

struct Lane {
    id: LaneId,
    queue: Option<Arc<Queue>>,
    profiling: bool,
    priority: Option<Priority>,
    count: Count<Arc<cl::Event>>,
    /// Runs the lane's callbacks, once it has had one.
    worker: Option<Arc<Worker>>,
}

/// Which waits come before an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// Those of the default-stream rules.
    Rules,
    /// In a blocking lane none (a wait for an event adds no other wait); in the legacy lane as the rules say.
    LegacyOnly,
}

/// Where a record stands: the marker behind a lane's work and the queue to flush before waiting for it.
#[derive(Clone, Debug)]
pub(crate) struct Marked {
    pub(crate) marker: Arc<cl::Event>,
    pub(crate) queue: Arc<Queue>,
}

impl Marked {
    /// Hands the work before the marker to the device, unless it is known to be done.
    pub(crate) fn flush(&self) -> Result<()> {
        if self.marker.is_known_complete() { Ok(()) } else { self.queue.flush() }
    }
}

impl Lanes {
    /// The lanes of a device's `context`: the legacy lane alone.
    pub(crate) fn new(context: &Arc<cl::Context>, device: Device) -> Self {
        let lanes = vec![Some(Lane::new(Order::LEGACY, None))];
        let state = State { device, order: Order::new(), lanes, closed: Vec::new() };
        Self { cl: Arc::clone(context), vigil: Vigil::new(device), state: Mutex::new(state) }
    }

    /// How threads wait for the device.
    pub(crate) fn vigil(&self) -> &Vigil {
        &self.vigil
    }

    /// A new lane without a queue yet.
    pub(crate) fn open(&self, class: Class, priority: Option<Priority>) -> LaneId {
        let mut state = self.state.lock();
        state.sweep();
        let id = state.order.add(class);
        let lane = Some(Lane::new(id, priority));
        match state.lanes.get_mut(id.index()) {
            Some(vacant) => *vacant = lane,
            None => state.lanes.push(lane),
        }
        id
    }

    /// Gives a lane up. Its work still runs, is waited for like any other, and then the lane goes.
    pub(crate) fn close(&self, id: LaneId) {
        let mut state = self.state.lock();
        if let Some(lane) = state.lane(id) {
            if let Some(queue) = lane.queue.clone()
                && let Err(failure) = queue.flush()
            {
                log::warn!(target: "gridcl::cl", "{failure}");
            }
            state.closed.push(id);
        }
        state.sweep();
    }

    /// Enqueues an action in a lane: the waits that the rules ask for, then whatever `enqueue` does. An action that
    /// fails counts, too: some of its commands may be in the queue.
    pub(crate) fn act<T>(&self, id: LaneId, join: Join, enqueue: impl FnOnce(&Arc<Queue>) -> Result<T>) -> Result<T> {
        self.state.lock().act(&self.cl, id, join, enqueue)
    }

    /// The same with a ticket for the action.
    pub(crate) fn submit<T>(
        &self,
        id: LaneId,
        join: Join,
        enqueue: impl FnOnce(&Arc<Queue>) -> Result<T>,
    ) -> Result<(T, Ticket)> {
        let mut state = self.state.lock();
        let answer = state.act(&self.cl, id, join, enqueue)?;
        let ticket = state.ticket(id).unwrap_or_else(|| Ticket::void(id));
        Ok((answer, ticket))
    }

    /// Closes a gate behind the lane's work: what stands there is held, and nothing comes between. Answers with the end
    /// of that work, unless it is known to be done; `None` where it is not and `only_idle` asks for that.
    pub(crate) fn hold(
        &self,
        id: LaneId,
        gate: &cl::UserEvent,
        only_idle: bool,
    ) -> Result<Option<(Option<Marked>, Ticket)>> {
        let mut state = self.state.lock();
        let idle = state.is_idle(id);
        if only_idle && !idle {
            return Ok(None);
        }
        let queue = Arc::clone(state.prepare(&self.cl, id, Join::Rules)?);
        let before = match idle {
            true => None,
            false => Some(Marked { marker: Arc::new(queue.marker()?), queue: Arc::clone(&queue) }),
        };
        let held = queue.barrier(&[gate.event()]);
        state.acted(id);
        let ticket = state.ticket(id).unwrap_or_else(|| Ticket::void(id));
        held.map(|()| Some((before, ticket)))
    }

    /// Does something short in the place of an action of the lane, while nothing can be enqueued, where the lane and what
    /// the rules make it wait for are known to be idle. `false` where they are not.
    pub(crate) fn while_idle(&self, id: LaneId, act: impl FnOnce()) -> bool {
        let state = self.state.lock();
        let idle = state.is_idle(id);
        if idle {
            act();
        }
        idle
    }

    /// Makes what comes behind a ticket wait for `marker`, too, which is flushed. `false` where something is behind it
    /// already, or somebody knows its end.
    pub(crate) fn follow(&self, id: LaneId, ticket: &Ticket, marker: &cl::Event) -> Result<bool> {
        let mut state = self.state.lock();
        let lane = state.expect(id)?;
        if !lane.count.is_last(ticket) || lane.count.tail().is_some() {
            return Ok(false);
        }
        let queue = lane.queue.clone().ok_or(Failure { entry: "stream", status: -36 })?;
        let waits = queue.barrier(&[marker]);
        state.acted(id);
        waits.map(|()| true)
    }

    /// Puts a marker behind the lane's work, or finds the one that stands there. `None`: everything is done.
    pub(crate) fn mark(&self, id: LaneId) -> Result<Option<Marked>> {
        let mut state = self.state.lock();
        let queue = Arc::clone(state.prepare(&self.cl, id, Join::Rules)?);
        if state.is_settled(id) {
            return Ok(None);
        }
        let marker = state.tail(id)?;
        Ok(Some(Marked { marker, queue }))
    }

    /// Puts a new marker that will know when the lane's work ended. The lane's queue profiles from then on.
    pub(crate) fn mark_time(&self, id: LaneId) -> Result<Marked> {
        let mut state = self.state.lock();
        state.profile(&self.cl, id)?;
        let queue = Arc::clone(state.prepare(&self.cl, id, Join::Rules)?);
        let marker = Arc::new(queue.marker()?);
        state.acted(id);
        if let Some(lane) = state.lane(id) {
            lane.count.stand(Arc::clone(&marker));
        }
        Ok(Marked { marker, queue })
    }

    /// The worker for the lane's callbacks.
    pub(super) fn worker(&self, id: LaneId) -> Result<Arc<Worker>> {
        let mut state = self.state.lock();
        let worker = &mut state.expect(id)?.worker;
        Ok(Arc::clone(worker.get_or_insert_with(|| Arc::new(Worker::new("gridcl-callback")))))
    }

    /// Whether all work of the lane is done; for the legacy lane, that of the blocking lanes too. Never waits.
    pub(crate) fn is_done(&self, id: LaneId) -> Result<bool> {
        let mut state = self.state.lock();
        for id in state.with_dirty(id) {
            if !state.look(id)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the lane, and what the rules make it wait for, is known to be idle without asking the driver.
    pub(crate) fn is_known_idle(&self, id: LaneId) -> bool {
        self.state.lock().is_idle(id)
    }

    /// Blocks until the lane is done; for the legacy lane, the blocking lanes too.
    pub(crate) fn wait(&self, id: LaneId) -> Result<()> {
        let busy = {
            let mut state = self.state.lock();
            let ids = state.with_dirty(id);
            state.busy(ids)
        };
        self.wait_for(&busy)
    }

    /// The same where an error would leave the device at work on memory that others take back: a driver that is short of
    /// something is asked again.
    pub(crate) fn wait_out(&self, id: LaneId) -> Result<()> {
        let mut outcome = self.wait(id);
        for _ in 1..ATTEMPTS {
            match outcome {
                Err(failure) if !failure.is_fault() => {
                    log::warn!(target: "gridcl::cl", "{failure}");
                    std::thread::yield_now();
                    outcome = self.wait(id);
                }
                _ => break,
            }
        }
        outcome
    }

    /// Blocks until all is done that the lane's next action has to come after.
    pub(crate) fn wait_turn(&self, id: LaneId) -> Result<()> {
        let busy = {
            let mut state = self.state.lock();
            let mut ids = state.order.before(id);
            ids.push(id);
            state.busy(ids)
        };
        self.wait_for(&busy)
    }

    /// Blocks until every lane is done.
    pub(crate) fn wait_all(&self) -> Result<()> {
        let busy = {
            let mut state = self.state.lock();
            let ids = state.ids();
            state.busy(ids)
        };
        let outcome = self.wait_for(&busy);
        self.state.lock().sweep();
        outcome
    }

    /// Blocks until the work before a ticket is done.
    pub(crate) fn wait_until(&self, ticket: &Ticket) -> Result<()> {
        if ticket.is_done() {
            return Ok(());
        }
        let busy = {
            let mut state = self.state.lock();
            // Of a lane that is gone nothing is left to wait for, and its number may serve another.
            let same = state.lane(ticket.lane()).is_some_and(|lane| lane.count.gave(ticket));
            if same { state.busy([ticket.lane()]) } else { SmallVec::new() }
        };
        self.wait_for(&busy)
    }

    /// The lane that gave a ticket, if it is still there.
    pub(crate) fn lane_of(&self, ticket: &Ticket) -> Option<LaneId> {
        let mut state = self.state.lock();
        state.lane(ticket.lane()).filter(|lane| lane.count.gave(ticket)).map(|lane| lane.id)
    }

    /// Notes that the work before a ticket is done, as somebody learned who waited for an event behind it.
    pub(crate) fn settle(&self, ticket: &Ticket) {
        self.state.lock().settle(ticket);
    }

    /// A ticket for the lane, unless its work is known to be done. Calls nothing of OpenCL.
    pub(crate) fn ticket(&self, id: LaneId) -> Option<Ticket> {
        let state = self.state.lock();
        if state.is_settled(id) { None } else { state.ticket(id) }
    }

    /// What tickets of the lane say as their [`Ticket::lane_key`].
    pub(crate) fn key(&self, id: LaneId) -> Option<usize> {
        self.state.lock().ticket(id).map(|ticket| ticket.lane_key())
    }

    /// A ticket for each lane with work that is not known to be done. Calls nothing of OpenCL.
    pub(crate) fn pending(&self) -> Vec<Ticket> {
        let state = self.state.lock();
        state.ids().into_iter().filter(|&id| !state.is_settled(id)).filter_map(|id| state.ticket(id)).collect()
    }

    /// Looks at every busy lane, so that tickets learn what is done.
    pub(crate) fn poll(&self) {
        let mut state = self.state.lock();
        for id in state.ids() {
            if let Err(failure) = state.look(id) {
                log::warn!(target: "gridcl::cl", "{failure}");
            }
        }
        state.sweep();
    }

    /// Looks at every busy lane and lets `act` know which are idle (`None`: all of them) while no work can be added.
    pub(crate) fn with_idle<T>(&self, act: impl FnOnce(&dyn Fn(Option<LaneId>) -> bool) -> T) -> T {
        let mut state = self.state.lock();
        for id in state.ids() {
            // A lane that failed has nothing left to run.
            let _ = state.look(id);
        }
        let state = &*state;
        act(&|lane| match lane {
            Some(id) => state.is_settled(id),
            None => state.lanes.iter().flatten().all(|lane| lane.count.is_settled()),
        })
    }

    /// Looks at every busy lane and answers what is still pending; `None` while somebody else holds the lock. For the
    /// process's exit, which may not wait for threads that have none left.
    pub(crate) fn try_pending(&self) -> Option<Vec<Ticket>> {
        let mut state = self.state.try_lock()?;
        // A lane that failed has nothing left to run.
        let busy = state.ids().into_iter().filter(|&id| !state.look(id).unwrap_or(true));
        let busy: SmallVec<[LaneId; 8]> = busy.collect();
        Some(busy.into_iter().filter_map(|id| state.ticket(id)).collect())
    }

    /// Gives up the queues of idle lanes; they come back with the next work.
    pub(crate) fn trim(&self) {
        let mut state = self.state.lock();
        for lane in state.lanes.iter_mut().flatten().filter(|lane| lane.count.is_settled()) {
            (lane.queue, lane.profiling) = (None, false);
            lane.count.forget_tail();
        }
    }

    fn wait_for(&self, busy: &[Busy]) -> Result<()> {
        let mut outcome = Ok(());
        // So that they run side by side while the first is waited for, which hands over its own.
        if busy.len() > 1 {
            for lane in busy {
                outcome = outcome.and(lane.queue.flush());
            }
        }
        for lane in busy {
            let finished = self.vigil.finish(&lane.queue);
            // What a device that failed still had to do is over; after a mere refusal it goes on.
            if finished.map_or_else(Failure::is_fault, |()| true) {
                self.state.lock().settle(&lane.ticket);
            }
            outcome = outcome.and(finished);
        }
        outcome
    }
}

/// A lane that somebody waits for without holding the lock.
struct Busy {
    queue: Arc<Queue>,
    ticket: Ticket,
}

impl State {
    fn lane(&mut self, id: LaneId) -> Option<&mut Lane> {
        self.lanes.get_mut(id.index())?.as_mut()
    }

    fn expect(&mut self, id: LaneId) -> Result<&mut Lane> {
        self.lane(id).ok_or(GONE)
    }

    fn ids(&self) -> SmallVec<[LaneId; 8]> {
        self.lanes.iter().flatten().map(|lane| lane.id).collect()
    }

    fn with_dirty(&self, id: LaneId) -> SmallVec<[LaneId; 8]> {
        let mut ids: SmallVec<[LaneId; 8]> = SmallVec::from_slice(&[id]);
        if id == Order::LEGACY {
            ids.extend_from_slice(self.order.dirty());
        }
        ids
    }

    fn is_settled(&self, id: LaneId) -> bool {
        self.lanes.get(id.index()).and_then(Option::as_ref).is_none_or(|lane| lane.count.is_settled())
    }

    /// Whether the lane and what its next action has to come after are known to be done.
    fn is_idle(&self, id: LaneId) -> bool {
        self.is_settled(id) && self.order.before(id).iter().all(|&other| self.is_settled(other))
    }

    fn ticket(&self, id: LaneId) -> Option<Ticket> {
        Some(self.lanes.get(id.index())?.as_ref()?.count.ticket())
    }

    fn act<T>(
        &mut self,
        cl: &cl::Context,
        id: LaneId,
        join: Join,
        enqueue: impl FnOnce(&Arc<Queue>) -> Result<T>,
    ) -> Result<T> {
        let clear = self.order.is_clear(id) || (join == Join::LegacyOnly && id != Order::LEGACY);
        // What most actions find: a queue and nothing to wait for.
        if clear
            && let Some(lane) = self.lanes.get_mut(id.index()).and_then(Option::as_mut)
            && let Some(queue) = &lane.queue
        {
            let answer = enqueue(queue);
            self.order.acted(id);
            lane.count.acted();
            return answer;
        }
        let answer = enqueue(self.prepare(cl, id, join)?);
        self.acted(id);
        answer
    }

    /// Makes the lane's queue where there is none, and the waits that an action in it has to come after. Waits count
    /// as an action of their own: whatever comes of the next one, the lane is busy until they are over.
    fn prepare(&mut self, cl: &cl::Context, id: LaneId, join: Join) -> Result<&Arc<Queue>> {
        let lane = self.expect(id)?;
        if lane.queue.is_none() {
            lane.queue = Some(Arc::new(Queue::new(cl, lane.profiling, lane.priority)?));
        }
        if (join == Join::Rules || id == Order::LEGACY) && !self.order.is_clear(id) {
            self.join(id)?;
        }
        self.queue(id)
    }

    fn queue(&self, id: LaneId) -> Result<&Arc<Queue>> {
        let lane = self.lanes.get(id.index()).and_then(Option::as_ref);
        lane.and_then(|lane| lane.queue.as_ref()).ok_or(GONE)
    }

    /// Enqueues the waits of the rules for a lane that has a queue.
    fn join(&mut self, id: LaneId) -> Result<()> {
        let mut tails: SmallVec<[Arc<cl::Event>; 4]> = SmallVec::new();
        for other in self.order.before(id) {
            if !self.is_settled(other) {
                tails.push(self.flushed_tail(other)?);
            }
        }
        let events: SmallVec<[&cl::Event; 4]> = tails.iter().map(AsRef::as_ref).collect();
        self.queue(id)?.barrier(&events)?;
        self.order.joined(id);
        if !events.is_empty() {
            self.acted(id);
        }
        Ok(())
    }

    fn acted(&mut self, id: LaneId) {
        self.order.acted(id);
        if let Some(lane) = self.lane(id) {
            lane.count.acted();
        }
    }

    /// The marker behind all work of the lane, made where the one there is has been overtaken.
    fn tail(&mut self, id: LaneId) -> Result<Arc<cl::Event>> {
        let lane = self.expect(id)?;
        if let Some(marker) = lane.count.tail() {
            return Ok(Arc::clone(marker));
        }
        let queue = lane.queue.as_ref().ok_or(GONE)?;
        let marker = Arc::new(queue.marker()?);
        lane.count.stand(Arc::clone(&marker));
        Ok(marker)
    }

    /// The same, on its way to the device: some drivers never start what nobody flushed.
    fn flushed_tail(&mut self, id: LaneId) -> Result<Arc<cl::Event>> {
        let marker = self.tail(id)?;
        let lane = self.expect(id)?;
        if let Some(queue) = lane.queue.as_ref().filter(|_| !lane.count.is_flushed()) {
            queue.flush()?;
            lane.count.flushed();
        }
        Ok(marker)
    }

    /// Looks whether a lane is done, without waiting.
    fn look(&mut self, id: LaneId) -> Result<bool> {
        if self.is_settled(id) {
            return Ok(true);
        }
        let marker = self.flushed_tail(id)?;
        let progress = marker.progress().inspect_err(|&failure| self.note(failure))?;
        if progress == Progress::Pending {
            return Ok(false);
        }
        if let Some(ticket) = self.ticket(id) {
            self.settle(&ticket);
        }
        match progress {
            Progress::Failed(failure) => {
                self.note(failure);
                Err(failure)
            }
            _ => Ok(true),
        }
    }

    /// The lane is settled when this is over, so nobody would find a fault of the device again.
    fn note(&self, failure: Failure) {
        if failure.is_fault() {
            self.device.note(failure);
        }
    }

    /// Notes that the work before a ticket is done.
    fn settle(&mut self, ticket: &Ticket) {
        ticket.settle();
        let Some(lane) = self.lane(ticket.lane()).filter(|lane| lane.count.gave(ticket)) else {
            return;
        };
        if lane.count.is_settled() {
            lane.count.forget_tail();
            self.order.idle(ticket.lane());
        }
    }

    fn busy(&mut self, ids: impl IntoIterator<Item = LaneId>) -> SmallVec<[Busy; 4]> {
        let mut busy = SmallVec::new();
        for id in ids {
            if !self.is_settled(id)
                && let Some(ticket) = self.ticket(id)
                && let Some(queue) = self.lane(id).and_then(|lane| lane.queue.clone())
            {
                busy.push(Busy { queue, ticket });
            }
        }
        busy
    }

    /// Changes the lane's queue for one whose markers carry times. The new queue waits for the old one, which
    /// goes when its work is done.
    fn profile(&mut self, cl: &cl::Context, id: LaneId) -> Result<()> {
        if self.expect(id)?.profiling {
            return Ok(());
        }
        let priority = self.expect(id)?.priority;
        let queue = Queue::new(cl, true, priority)?;
        if !self.is_settled(id) {
            let tail = self.flushed_tail(id)?;
            queue.barrier(&[&tail])?;
        }
        let lane = self.expect(id)?;
        lane.queue = Some(Arc::new(queue));
        lane.profiling = true;
        Ok(())
    }

    /// Removes lanes of destroyed streams whose work is done.
    fn sweep(&mut self) {
        for id in std::mem::take(&mut self.closed) {
            // The device's fault is found by those who wait for it; after a mere refusal the work goes on.
            if self.look(id).unwrap_or_else(|failure| failure.is_fault() || self.is_settled(id)) {
                self.lanes[id.index()] = None;
                self.order.remove(id);
            } else {
                self.closed.push(id);
            }
        }
    }
}

impl Lane {
    fn new(id: LaneId, priority: Option<Priority>) -> Self {
        Self { id, queue: None, profiling: false, priority, count: Count::new(id), worker: None }
    }
}
