//! Large copies between a device and pageable memory of the host: in parts, by several threads.
//!
//! A driver carries such a copy through one thread, whose `memcpy` is far below the bus. Here several threads move
//! parts between the program's memory and a ring of pinned buffers, while other parts are on the bus. Where the host
//! reaches the device's memory, as on a CPU, the threads copy straight.
//!
//! To the stream it is one action. A gate stands in its place there (`Hold`), and the parts travel in a lane of their
//! own, so that nothing that other threads enqueue in the stream comes between them, and waiting for a buffer never
//! waits for anything but parts of the same copy.

use super::crew;
use super::plan::Route;
use super::relay::{self, Sent};
use super::run::{by_hand, enqueue};
use super::staging::{self, Block};
use super::{End, Extent, Region};
use crate::cl::{DeviceType, Event, Failure, Progress, UserEvent};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use crate::rt::memory::{Form, Kind, Place};
use crate::rt::stream::Stream;
use crate::rt::stream::lanes::{Marked, Ticket};
use crate::rt::stream::order::{Class, LaneId};
use crate::rt::stream::waker::{self, News};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Lanes that are kept for later copies.
const KEPT_LANES: usize = 4;

/// How large copies are cut up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tuning {
    /// Copies of fewer bytes are the driver's.
    pub(crate) from: usize,
    /// Bytes of a part, at most.
    pub(crate) step: usize,
    /// Threads, the calling one among them.
    pub(crate) threads: usize,
    /// Buffers beyond one a thread: what they hold is on the bus while the threads fill or empty theirs.
    pub(crate) ahead: usize,
}

/// What a test or bench wants instead, on any device, and always through the ring.
#[cfg(feature = "testing")]
pub(crate) static TUNED: Mutex<Option<Tuning>> = Mutex::new(None);

/// How the parts travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// Through pinned buffers.
    Ring(Tuning),
    /// Straight, by the threads.
    Hands(Tuning),
}

impl Tuning {
    /// Below this a part costs more to begin than to do.
    const LEAST_STEP: usize = 256 << 10;

    /// For a bus: half the cores, since the program has work for the others, and no more than it takes to fill it.
    fn for_bus(cores: usize) -> Self {
        Self { from: 2 << 20, step: 2 << 20, threads: (cores / 2).clamp(1, 8), ahead: 4 }
    }

    /// For memory that the host reaches. Opening the gate wakes the driver's threads, which a smaller copy feels.
    fn for_memory(cores: usize) -> Self {
        Self { from: 8 << 20, step: 4 << 20, threads: (cores / 2).clamp(1, 4), ahead: 0 }
    }

    /// The bytes of a part: several a thread, so that all end at about the same time.
    fn step_for(self, bytes: usize) -> usize {
        let share = (bytes / (4 * self.threads.max(1))).max(Self::LEAST_STEP).next_multiple_of(4096);
        share.min(self.step).max(1)
    }
}

/// How a copy goes, if not as one command of the driver.
pub(super) fn method(context: &Context, to: &End, from: &End, route: Route, bytes: usize) -> Option<Method> {
    let pageable = match route {
        Route::Up { .. } => from.owner.is_none(),
        Route::Down => to.owner.is_none(),
        _ => false,
    };
    let in_turn = [to, from].into_iter().filter_map(|end| end.owner.as_ref()).any(|owner| {
        // It changes hands in the order of the stream's own queue.
        owner.kind() == Kind::Managed && context.memory().form() != Form::Svm
    });
    if !pageable || in_turn {
        return None;
    }
    #[cfg(feature = "testing")]
    if let Some(tuning) = *TUNED.lock() {
        return (bytes >= tuning.from).then_some(Method::Ring(tuning));
    }
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    if context.caps().device_type != DeviceType::Cpu {
        let tuning = Tuning::for_bus(cores());
        return (bytes >= tuning.from).then_some(Method::Ring(tuning));
    }
    let reached = context.memory().form() == Form::Svm
        && [to, from].into_iter().all(|end| !matches!(end.place(), Place::Buffer(..)));
    let tuning = Tuning::for_memory(cores());
    (reached && bytes >= tuning.from).then_some(Method::Hands(tuning))
}

/// Carries out a copy in parts. `false`: it was not the moment for that, and nothing happened.
///
/// # Safety
/// The host's range has to be valid for the call.
pub(super) unsafe fn run(
    stream: &Stream,
    to: &End,
    from: &End,
    region: Region,
    waits: bool,
    method: Method,
) -> Result<bool> {
    let context = stream.context();
    let tuning = match method {
        Method::Ring(tuning) | Method::Hands(tuning) => tuning,
    };
    let step = tuning.step_for(region.extent.bytes().unwrap_or(usize::MAX));
    let parts = Parts { context, to, from, region, pieces: region.extent.pieces(step).collect() };
    // What may not wait goes by hand only when its turn has come.
    let only_idle = !waits && matches!(method, Method::Hands(_));
    let Some(hold) = Hold::place(stream, only_idle)? else { return Ok(false) };
    if waits {
        hold.wait(context)?;
    }
    match method {
        // SAFETY: the caller's, and it is this copy's turn.
        Method::Hands(_) => unsafe { parts.by_hand(tuning) }?,
        Method::Ring(_) if matches!(to.place(), Place::Host(_)) && to.owner.is_none() => {
            let lane = Path::take(context, stream.lane());
            // SAFETY: the caller's.
            unsafe { parts.down(lane.0, tuning) }?;
        }
        Method::Ring(_) => {
            let lane = Path::take(context, stream.lane());
            // SAFETY: the caller's.
            let under_way = unsafe { parts.up(lane.0, tuning, &hold, waits) }?;
            if under_way {
                return hold.open_after(stream, lane.0).map(|()| true);
            }
        }
    }
    hold.open(context);
    if waits { context.wait(stream.lane()) } else { context.catch_up() }.map(|()| true)
}

/// A copy's place in its stream, which nothing passes before it is opened, at the latest when it is dropped.
struct Hold {
    gate: Arc<UserEvent>,
    /// What comes before it, unless that is known to be done.
    before: Option<Marked>,
    ticket: Ticket,
}

impl Hold {
    /// Takes the place behind the stream's work; with `only_idle` only where all of that is known to be done.
    fn place(stream: &Stream, only_idle: bool) -> Result<Option<Self>> {
        let context = stream.context();
        context.check()?;
        let note = |failure| context.note(failure);
        let gate = UserEvent::new(context.cl()).map_err(note)?;
        let Some((before, ticket)) = context.lanes().hold(stream.lane(), &gate, only_idle).map_err(note)? else {
            return Ok(None);
        };
        if let Some(marked) = &before {
            // Some drivers never start what nobody flushed.
            marked.queue.flush().map_err(note)?;
        }
        Ok(Some(Self { gate: Arc::new(gate), before, ticket }))
    }

    /// Blocks until the place's turn has come.
    fn wait(&self, context: &Context) -> Result<()> {
        match &self.before {
            Some(marked) => marked.marker.wait().map_err(|failure| context.note(failure)),
            None => Ok(()),
        }
    }

    fn has_come(&self) -> bool {
        self.before.as_ref().is_none_or(|marked| !matches!(marked.marker.progress(), Ok(Progress::Pending)))
    }

    /// The marker to wait for, where the turn has not come.
    fn marker(&self) -> Option<&Event> {
        if self.has_come() { None } else { self.before.as_ref().map(|marked| &*marked.marker) }
    }

    /// Lets the stream go on; all before is done.
    fn open(&self, context: &Context) {
        self.gate.complete();
        // Nobody has to ask the driver for that.
        context.lanes().settle(&self.ticket);
    }

    /// Lets the stream go on once a lane is done. Where that fails it is done when this returns: what comes later in the
    /// stream must not be overtaken.
    fn open_after(self, stream: &Stream, lane: LaneId) -> Result<()> {
        let context = stream.context();
        let opened = self.open_behind(stream, lane);
        opened.map_err(|failure| {
            relay::drain(context, lane);
            context.note(failure)
        })
    }

    fn open_behind(&self, stream: &Stream, lane: LaneId) -> Result<(), Failure> {
        let context = stream.context();
        let Some(marked) = context.lanes().mark(lane)? else {
            self.open(context);
            return Ok(());
        };
        marked.queue.flush()?;
        // Where nobody came behind the gate yet the device itself waits, which is quicker than a callback.
        if context.lanes().follow(stream.lane(), &self.ticket, &marked.marker)? {
            self.gate.complete();
            return Ok(());
        }
        let gate = Arc::clone(&self.gate);
        waker::at_end(&marked.marker, move || waker::tell(News::Run(Box::new(move || gate.complete()))))
    }
}

/// A lane for parts. One stream's copies share theirs, since they come one after the other anyway.
#[derive(Debug)]
struct Lane {
    of: LaneId,
    lane: LaneId,
}

/// The lanes that no copy uses.
#[derive(Debug, Default)]
pub(super) struct Lanes(Mutex<Vec<Lane>>);

/// A lane in use; goes back when dropped.
struct Path<'a>(LaneId, LaneId, &'a Arc<Context>);

impl<'a> Path<'a> {
    fn take(context: &'a Arc<Context>, of: LaneId) -> Self {
        let mut free = context.staging().lanes().0.lock();
        let idle = |lane: &Lane| context.lanes().is_known_idle(lane.lane);
        let mut found = free.iter().position(|lane| lane.of == of).or_else(|| free.iter().position(idle));
        if found.is_none() && !free.is_empty() {
            context.lanes().poll();
            found = free.iter().position(idle);
        }
        let lane = found.map(|index| free.swap_remove(index).lane);
        Self(lane.unwrap_or_else(|| context.lanes().open(Class::NonBlocking, None)), of, context)
    }
}

impl Drop for Path<'_> {
    fn drop(&mut self) {
        let Self(lane, of, context) = *self;
        let mut free = context.staging().lanes().0.lock();
        if free.len() < KEPT_LANES {
            free.push(Lane { of, lane });
        } else {
            drop(free);
            context.lanes().close(lane);
        }
    }
}

/// A copy and the boxes that it was cut into.
struct Parts<'a> {
    context: &'a Arc<Context>,
    to: &'a End,
    from: &'a End,
    region: Region,
    pieces: Vec<(Extent, [usize; 3])>,
}

/// Buffers whose contents travel, the earliest first.
type Flight<'a> = Mutex<VecDeque<(usize, Block, Sent<'a>)>>;

impl<'a> Parts<'a> {
    fn largest(&self) -> usize {
        self.pieces.iter().filter_map(|(piece, _)| piece.bytes()).max().unwrap_or(0)
    }

    /// # Safety
    /// Both ends have to be valid, and nobody else may use them.
    unsafe fn by_hand(&self, tuning: Tuning) -> Result<()> {
        crew::share(self.pieces.len(), tuning.threads.saturating_sub(1), &|part| {
            let (extent, at) = self.pieces[part];
            let (to, from) = self.starts(at);
            // SAFETY: the caller's; the part lies in the whole.
            unsafe { by_hand(to, from, Region { extent, ..self.region }.collapsed()) };
            Ok(())
        })
    }

    /// Sends everything up. Answers whether parts are still under way.
    ///
    /// # Safety
    /// The source has to be valid for the call.
    unsafe fn up(&self, lane: LaneId, tuning: Tuning, hold: &Hold, waits: bool) -> Result<bool> {
        let context = self.context;
        if let Some(marker) = hold.marker() {
            context.submit(lane, |queue| queue.barrier(&[marker]))?;
        }
        let up = Up {
            parts: self,
            lane,
            hold,
            bytes: self.largest(),
            limit: tuning.threads + tuning.ahead,
            made: AtomicUsize::new(0),
            flight: Mutex::default(),
            unstaged: AtomicBool::new(false),
        };
        // SAFETY: the caller's.
        let sent = crew::share(self.pieces.len(), tuning.threads.saturating_sub(1), &|part| unsafe { up.send(part) });
        // Where a part had no buffer the program's memory itself is in use.
        let drains = sent.is_err() || waits || up.unstaged.load(Ordering::Acquire);
        let drained =
            if drains { context.lanes().wait_out(lane).map_err(|failure| context.note(failure)) } else { Ok(()) };
        for (_, block, sent) in up.flight.into_inner() {
            context.staging().give_back(block, sent.ticket());
        }
        sent.and(drained).map(|()| !drains)
    }

    /// Fetches everything. Blocks until it is there.
    ///
    /// # Safety
    /// The target has to be valid for the call.
    unsafe fn down(&self, lane: LaneId, tuning: Tuning) -> Result<()> {
        let context = self.context;
        let flight = self.first_fetches(lane, tuning.threads + tuning.ahead)?;
        if flight.is_empty() {
            return relay::send_and_wait(context, lane, |queue| {
                enqueue(context, queue, self.to, self.from, self.region)
            });
        }
        let threads = flight.len().min(tuning.threads);
        let down = Down { parts: self, lane, next: AtomicUsize::new(flight.len()), flight: Mutex::new(flight) };
        let done = AtomicUsize::new(0);
        // SAFETY: the caller's.
        let fetched = crew::share(threads, threads - 1, &|_| unsafe { down.receive(&done) });
        if fetched.is_err() {
            relay::drain(context, lane);
        }
        for (_, block, sent) in down.flight.into_inner() {
            context.staging().give_back(block, sent.ticket());
        }
        fetched?;
        if done.into_inner() == self.pieces.len() { Ok(()) } else { Err(lost()) }
    }

    /// Has the first parts come, as many as there are buffers for.
    fn first_fetches(&self, lane: LaneId, buffers: usize) -> Result<VecDeque<(usize, Block, Sent<'a>)>> {
        let (context, bytes) = (self.context, self.largest());
        let mut flight = VecDeque::new();
        for part in 0..self.pieces.len().min(buffers) {
            let block = match staging::take(context, bytes) {
                Ok(block) => block,
                // Slower with fewer, and just as right.
                Err(error) => {
                    log::warn!("a copy has {part} staging buffers instead of {buffers}: {error}");
                    break;
                }
            };
            match self.fetch(lane, part, block) {
                Ok(coming) => flight.push_back(coming),
                Err(error) => {
                    relay::drain(context, lane);
                    return Err(error);
                }
            }
        }
        Ok(flight)
    }

    /// Has a part of the device's memory come into a block.
    fn fetch(&self, lane: LaneId, part: usize, block: Block) -> Result<(usize, Block, Sent<'a>)> {
        let (extent, at) = self.pieces[part];
        let packed = Region { extent, to: extent.tight(), from: self.region.from }.collapsed();
        let (hop, here) = (End::host(block.address()), self.from.further(self.region.from.offset(at)));
        self.send(lane, part, block, &hop, &here, packed)
    }

    fn send(
        &self,
        lane: LaneId,
        part: usize,
        block: Block,
        to: &End,
        from: &End,
        region: Region,
    ) -> Result<(usize, Block, Sent<'a>)> {
        let context = self.context;
        match relay::send(context, lane, |queue| enqueue(context, queue, to, from, region)) {
            Ok(sent) => Ok((part, block, sent)),
            Err(error) => {
                // Some of it may be in the queue.
                match context.lanes().ticket(lane) {
                    Some(ticket) => context.staging().give_back(block, ticket),
                    None => context.staging().put(block),
                }
                Err(error)
            }
        }
    }

    /// Where a part begins at either end.
    fn starts(&self, at: [usize; 3]) -> (usize, usize) {
        (self.to.address + self.region.to.offset(at), self.from.address + self.region.from.offset(at))
    }
}

fn lost() -> Error {
    Error::new(ErrorKind::Unknown, "a part of the copy was lost").help("this is a bug of gridcl, please report it")
}

/// A copy on its way down.
struct Down<'a, 'b> {
    parts: &'b Parts<'a>,
    lane: LaneId,
    /// The first part that was not asked for.
    next: AtomicUsize,
    flight: Flight<'a>,
}

impl Down<'_, '_> {
    /// Takes what has come out of the buffers and has more come, until nothing is on its way; who asks for a part sees
    /// to it that it is taken.
    ///
    /// # Safety
    /// The target has to be valid.
    unsafe fn receive(&self, done: &AtomicUsize) -> Result<()> {
        let Parts { context, region, ref pieces, .. } = *self.parts;
        loop {
            let Some((part, block, sent)) = self.flight.lock().pop_front() else { return Ok(()) };
            let ticket = sent.ticket();
            if let Err(error) = sent.wait() {
                context.staging().give_back(block, ticket);
                return Err(error);
            }
            let (extent, at) = pieces[part];
            // SAFETY: the caller's; what is in the block has arrived.
            unsafe { staging::unpack(&block, self.parts.starts(at).0, extent, region.to) };
            done.fetch_add(1, Ordering::AcqRel);
            let part = self.next.fetch_add(1, Ordering::AcqRel);
            if part >= pieces.len() {
                context.staging().put(block);
                continue;
            }
            let coming = self.parts.fetch(self.lane, part, block)?;
            self.flight.lock().push_back(coming);
        }
    }
}

/// A copy on its way up.
struct Up<'a, 'b> {
    parts: &'b Parts<'a>,
    lane: LaneId,
    hold: &'b Hold,
    /// Of a buffer.
    bytes: usize,
    /// Buffers that a copy whose turn has come gets along with.
    limit: usize,
    made: AtomicUsize,
    flight: Flight<'a>,
    unstaged: AtomicBool,
}

impl Up<'_, '_> {
    /// # Safety
    /// The source has to be valid until the copy is done, where no buffer could be had for the part; else for the call.
    unsafe fn send(&self, part: usize) -> Result<()> {
        let Parts { context, to, region, ref pieces, .. } = *self.parts;
        let (extent, at) = pieces[part];
        let (there, source) = (to.further(region.to.offset(at)), self.parts.starts(at).1);
        let Some(block) = self.block()? else {
            self.unstaged.store(true, Ordering::Release);
            let here = Region { extent, ..region }.collapsed();
            let sent =
                relay::send(context, self.lane, |queue| enqueue(context, queue, &there, &End::host(source), here));
            return sent.map(drop);
        };
        // SAFETY: the caller's.
        unsafe { staging::pack(&block, source, extent, region.from) };
        let packed = Region { extent, to: region.to, from: extent.tight() }.collapsed();
        let hop = End::host(block.address());
        let sent = self.parts.send(self.lane, part, block, &there, &hop, packed)?;
        self.flight.lock().push_back(sent);
        Ok(())
    }

    /// A buffer: one more, or the one whose part left first. A copy whose turn has not come does not wait for that,
    /// because what it comes after may need the calling thread. `None` when there is no more memory.
    fn block(&self) -> Result<Option<Block>> {
        let context = self.parts.context;
        let more = self.made.fetch_add(1, Ordering::AcqRel) < self.limit;
        if !more && self.hold.has_come() {
            let first = self.flight.lock().pop_front();
            if let Some((_, block, sent)) = first {
                let ticket = sent.ticket();
                return match sent.wait() {
                    Ok(()) => Ok(Some(block)),
                    Err(error) => {
                        context.staging().give_back(block, ticket);
                        Err(error)
                    }
                };
            }
        }
        match staging::take(context, self.bytes) {
            Ok(block) => Ok(Some(block)),
            Err(error) => {
                log::warn!("a copy waits, for want of {} bytes of staging memory: {error}", self.bytes);
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_a_share_of_the_copy_within_bounds() {
        let tuning = Tuning::for_bus(16);
        assert_eq!(tuning.threads, 8);
        assert_eq!(tuning.step_for(1), Tuning::LEAST_STEP);
        assert_eq!(tuning.step_for(64 << 20), tuning.step);
        assert_eq!(Tuning { step: 100, ..tuning }.step_for(1 << 30), 100);
        assert_eq!(Tuning::for_bus(1).threads, 1);
        assert_eq!(Tuning::for_memory(2).threads, 1);
    }
}
