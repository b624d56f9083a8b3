//! Allocation in stream order: pools whose memory, once freed in a stream, is that stream's again at once.
//!
//! A freed block leaves the address map at the call and stays in its pool. Later allocations in the stream that freed
//! it have it without a wait, since their work comes after the free; others have it when the work before the free is
//! known to be done. At synchronisations a pool gives back what it holds beyond its threshold.

use super::shelf::Shelves;
use super::{Allocation, GRAVEYARD_BYTES, Kind, MAP, allocate as allocate_anew, enter, take_out, why_not_free};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use crate::rt::stream::Stream;
use crate::rt::stream::lanes::Ticket;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The pool that each context begins with.
const DEFAULT: u64 = 0;

/// A context's pools, and which of them its stream-ordered allocations are from.
#[derive(Debug)]
pub(crate) struct Pools {
    state: Mutex<State>,
    /// Blocks that were freed and not given back, so that synchronisations without any cost nothing.
    parked: AtomicUsize,
}

#[derive(Debug)]
struct State {
    pools: BTreeMap<u64, Pool>,
    /// The live allocations from pools, by address.
    live: HashMap<usize, Live>,
    current: u64,
    next: u64,
}

#[derive(Debug)]
struct Live {
    pool: u64,
    bytes: usize,
    held: usize,
}

#[derive(Debug)]
struct Pool {
    parked: Shelves<Parked>,
    /// What the program has.
    used: Level,
    /// That and what is parked, as held in slabs.
    reserved: Level,
    threshold: u64,
    reuse: [bool; 3],
    /// The program gave it up; it goes with its last block.
    destroyed: bool,
}

/// A block that was freed in stream order.
#[derive(Debug)]
struct Parked {
    allocation: Arc<Allocation>,
    /// Behind the work before the free; `None` when that is done.
    ticket: Option<Ticket>,
}

/// Bytes now, and at most since the program last asked to count anew.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    now: u64,
    high: u64,
}

impl Level {
    fn add(&mut self, bytes: usize) {
        self.now += bytes as u64;
        self.high = self.high.max(self.now);
    }

    fn sub(&mut self, bytes: usize) {
        self.now = self.now.saturating_sub(bytes as u64);
    }
}

/// What a pool can be asked and told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoolAttribute {
    /// Whether memory may be reused where an event orders the streams, whenever its free is done, and by making one
    /// stream wait for another. Only the second is ever done.
    ReuseFollowEvents,
    ReuseOpportunistic,
    ReuseInternal,
    /// Bytes that a synchronisation leaves in the pool.
    ReleaseThreshold,
    ReservedNow,
    ReservedHigh,
    UsedNow,
    UsedHigh,
}

/// A pool of a context, by its number; cheap to copy and no reason to live.
#[derive(Clone, Debug)]
pub(crate) struct MemPool {
    context: Arc<Context>,
    id: u64,
}

impl PartialEq for MemPool {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.context, &other.context) && self.id == other.id
    }
}

impl MemPool {
    /// The pool that a context begins with.
    pub(crate) fn default_of(context: &Arc<Context>) -> Self {
        Self { context: Arc::clone(context), id: DEFAULT }
    }

    /// The pool that stream-ordered allocations of a context are from.
    pub(crate) fn current_of(context: &Arc<Context>) -> Self {
        let id = context.memory().pools().state.lock().current;
        Self { context: Arc::clone(context), id }
    }

    /// A new pool of a context.
    pub(crate) fn create(context: &Arc<Context>) -> Result<Self> {
        context.check()?;
        let mut state = context.memory().pools().state.lock();
        state.next += 1;
        let id = state.next;
        state.pools.insert(id, Pool::new());
        Ok(Self { context: Arc::clone(context), id })
    }

    /// Gives a pool up; what the program has from it stays. The context's default pool follows where it was current.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] for a default pool.
    pub(crate) fn destroy(&self) -> Result<()> {
        if self.id == DEFAULT {
            return Err(Error::new(ErrorKind::InvalidValue, "a device's default pool cannot be destroyed"));
        }
        let pools = self.context.memory().pools();
        let mut state = pools.state.lock();
        if state.current == self.id {
            state.current = DEFAULT;
        }
        if let Some(pool) = state.pools.get_mut(&self.id) {
            pool.destroyed = true;
        }
        drop(state);
        pools.give_back(None);
        Ok(())
    }

    /// Makes it the one that stream-ordered allocations of its context are from.
    pub(crate) fn make_current(&self) -> Result<()> {
        self.with(|_| Ok(()))?;
        self.context.memory().pools().state.lock().current = self.id;
        Ok(())
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Whether it was not destroyed, and its device not reset.
    pub(crate) fn is_alive(&self) -> bool {
        self.context.is_alive() && self.with(|_| Ok(())).is_ok()
    }

    /// Gives back what is free and known to be done, until the pool holds at most `keep` bytes.
    pub(crate) fn trim_to(&self, keep: usize) -> Result<()> {
        self.with(|_| Ok(()))?;
        self.context.lanes().poll();
        let memory = self.context.memory();
        memory.pools().give_back(Some((self.id, keep as u64)));
        Ok(())
    }

    pub(crate) fn attribute(&self, attribute: PoolAttribute) -> Result<u64> {
        self.with(|pool| {
            Ok(match attribute {
                PoolAttribute::ReuseFollowEvents => pool.reuse[0].into(),
                PoolAttribute::ReuseOpportunistic => pool.reuse[1].into(),
                PoolAttribute::ReuseInternal => pool.reuse[2].into(),
                PoolAttribute::ReleaseThreshold => pool.threshold,
                PoolAttribute::ReservedNow => pool.reserved.now,
                PoolAttribute::ReservedHigh => pool.reserved.high,
                PoolAttribute::UsedNow => pool.used.now,
                PoolAttribute::UsedHigh => pool.used.high,
            })
        })
    }

    /// # Errors
    /// [`ErrorKind::InvalidValue`] for what can only be asked, and for a high mark that is set to anything but 0.
    pub(crate) fn set_attribute(&self, attribute: PoolAttribute, value: u64) -> Result<()> {
        let refuse = |problem: &'static str, help: &'static str| {
            Err(Error::new(ErrorKind::InvalidValue, problem).argument("value", value).help(help))
        };
        self.with(|pool| {
            match attribute {
                PoolAttribute::ReuseFollowEvents => pool.reuse[0] = value != 0,
                PoolAttribute::ReuseOpportunistic => pool.reuse[1] = value != 0,
                PoolAttribute::ReuseInternal => pool.reuse[2] = value != 0,
                PoolAttribute::ReleaseThreshold => pool.threshold = value,
                PoolAttribute::ReservedNow | PoolAttribute::UsedNow => {
                    return refuse("what a pool holds follows from its allocations", "it can only be asked");
                }
                PoolAttribute::ReservedHigh | PoolAttribute::UsedHigh if value != 0 => {
                    return refuse("a high mark cannot be chosen", "0 makes it count from now on");
                }
                PoolAttribute::ReservedHigh => pool.reserved.high = pool.reserved.now,
                PoolAttribute::UsedHigh => pool.used.high = pool.used.now,
            }
            Ok(())
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut Pool) -> Result<T>) -> Result<T> {
        let mut state = self.context.memory().pools().state.lock();
        match state.pools.get_mut(&self.id).filter(|pool| !pool.destroyed) {
            Some(pool) => act(pool),
            None => Err(Error::new(ErrorKind::InvalidValue, "the memory pool was destroyed")),
        }
    }
}

/// Allocates device memory from a pool in the order of `stream`. It can be used at once by the stream's later work and
/// by whatever is ordered behind that.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`] when the device has no room; nothing changed then.
pub(crate) fn allocate(pool: &MemPool, stream: &Stream, bytes: usize) -> Result<Arc<Allocation>> {
    stream.context().check()?;
    let context = &pool.context;
    context.check()?;
    let pools = context.memory().pools();
    if let Some(found) = pools.reuse(pool, stream, bytes)? {
        return Ok(found);
    }
    let pending = pool.with(|pool| Ok(pool.parked.pending_bytes()))?;
    if pending > GRAVEYARD_BYTES {
        context.lanes().poll();
        if let Some(found) = pools.reuse(pool, stream, bytes)? {
            return Ok(found);
        }
    }
    let allocation = allocate_anew(context, bytes, Kind::Device)?;
    pools.enter(pool, &allocation, true);
    Ok(allocation)
}

/// Frees device memory in the order of `stream`, without a wait: its address is unknown when the call returns.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for anything but the start of a live device allocation; nothing is freed.
pub(crate) fn free(address: usize, stream: &Stream) -> Result<()> {
    stream.context().check()?;
    let is_live = |allocation: &Allocation| allocation.kind() == Kind::Device;
    let refuse = |error: Error| error.argument("ptr", format_args!("{address:#x}"));
    let unknown = || refuse(why_not_free(address).with_kind(ErrorKind::InvalidValue));
    // Not in the `match`, which would hold the map while the error asks it again.
    let kind = MAP.read().get(address).map(|(_, allocation)| allocation.kind());
    match kind {
        Some(Kind::Device) => {}
        Some(Kind::Managed) => {
            let problem = "managed memory is not freed in stream order";
            return Err(refuse(Error::new(ErrorKind::InvalidValue, problem).help("use Free")));
        }
        _ => return Err(unknown()),
    }
    // An action of its own, so that it comes after what the default-stream rules say.
    let lane = stream.lane();
    let ticket = match stream.context().lanes().is_known_idle(lane) {
        true => None,
        false => Some(stream.context().submit(lane, |_| Ok(()))?.1),
    };
    let Some(allocation) = take_out(address, is_live) else { return Err(unknown()) };
    let context = Arc::clone(allocation.context());
    let memory = context.memory();
    if let Some((allocation, ticket)) = memory.pools().park(allocation, ticket) {
        // Not from a pool: it is buried until the stream is through with it.
        memory.bury(allocation, ticket.into_iter().collect());
    }
    Ok(())
}

impl Pools {
    pub(super) fn new() -> Self {
        let state = State {
            pools: BTreeMap::from([(DEFAULT, Pool::new())]),
            live: HashMap::new(),
            current: DEFAULT,
            next: DEFAULT,
        };
        Self { state: Mutex::new(state), parked: AtomicUsize::new(0) }
    }

    /// Counts an allocation as its pool's.
    fn enter(&self, pool: &MemPool, allocation: &Allocation, is_new: bool) {
        let (bytes, held) = (allocation.bytes(), allocation.held());
        let mut state = self.state.lock();
        state.live.insert(allocation.base(), Live { pool: pool.id, bytes, held });
        if let Some(pool) = state.pools.get_mut(&pool.id) {
            pool.used.add(bytes);
            if is_new {
                pool.reserved.add(held);
            }
        }
    }

    /// Makes an allocation of a freed block, where there is one that the stream may have.
    fn reuse(&self, pool: &MemPool, stream: &Stream, bytes: usize) -> Result<Option<Arc<Allocation>>> {
        if !self.have_parked() {
            return Ok(None);
        }
        let lane = stream.context().lanes().key(stream.lane());
        let mut used_still = Vec::new();
        let found = pool.with(|pool| {
            if pool.reuse[1] {
                pool.parked.settle(Parked::is_done);
            }
            while let Some(parked) = pool.parked.take(lane, bytes.max(1)) {
                self.parked.fetch_sub(1, Relaxed);
                if parked.allocation.is_wasted_on(bytes) {
                    self.put(pool, parked);
                    break;
                }
                match Arc::try_unwrap(parked.allocation) {
                    Ok(allocation) => {
                        let (allocation, rest) = allocation.recut(bytes);
                        if let Some(rest) = rest {
                            self.put(pool, Parked { allocation: Arc::new(rest), ticket: parked.ticket });
                        }
                        return Ok(Some(allocation));
                    }
                    // A call that found it before it was freed is still at it.
                    Err(allocation) => used_still.push(Parked { allocation, ticket: parked.ticket }),
                }
            }
            Ok(None)
        })?;
        if !used_still.is_empty() {
            pool.with(|pool| {
                used_still.into_iter().for_each(|parked| self.put(pool, parked));
                Ok(())
            })?;
        }
        let Some(allocation) = found else { return Ok(None) };
        let allocation = enter(allocation)?;
        self.enter(pool, &allocation, false);
        Ok(Some(allocation))
    }

    /// Keeps a freed block in its pool; hands back what is from none.
    fn park(&self, allocation: Arc<Allocation>, ticket: Option<Ticket>) -> Option<(Arc<Allocation>, Option<Ticket>)> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let Some(live) = state.live.remove(&allocation.base()) else { return Some((allocation, ticket)) };
        let Some(pool) = state.pools.get_mut(&live.pool) else { return Some((allocation, ticket)) };
        pool.used.sub(live.bytes);
        self.put(pool, Parked { allocation, ticket });
        None
    }

    fn put(&self, pool: &mut Pool, parked: Parked) {
        self.parked.fetch_add(1, Relaxed);
        let lane = parked.ticket.as_ref().filter(|ticket| !ticket.is_done()).map(Ticket::lane_key);
        pool.parked.put(lane, parked.allocation.room(), parked);
    }

    /// Forgets a block that was freed at once.
    pub(super) fn forget(&self, base: usize) {
        let mut state = self.state.lock();
        let state = &mut *state;
        if let Some(live) = state.live.remove(&base)
            && let Some(pool) = state.pools.get_mut(&live.pool)
        {
            pool.used.sub(live.bytes);
            pool.reserved.sub(live.held);
        }
        state.sweep();
    }

    /// Whether a pool holds blocks that were freed.
    pub(crate) fn have_parked(&self) -> bool {
        self.parked.load(Relaxed) > 0
    }

    /// After a synchronisation: gives back what the pools hold beyond their thresholds. Asks no driver.
    pub(crate) fn synchronized(&self) {
        if self.have_parked() {
            self.give_back(None);
        }
    }

    /// Bytes that were freed and that work under way still uses.
    pub(super) fn pending_bytes(&self) -> usize {
        if !self.have_parked() {
            return 0;
        }
        self.state.lock().pools.values().map(|pool| pool.parked.pending_bytes()).sum()
    }

    /// Gives back all that is free and known to be done.
    pub(super) fn scrape(&self) {
        if self.have_parked() {
            let ids: Vec<u64> = self.state.lock().pools.keys().copied().collect();
            ids.into_iter().for_each(|id| self.give_back(Some((id, 0))));
        }
    }

    /// Gives back what is free and known to be done: what is beyond the threshold of each pool, or of one pool what is
    /// beyond so many bytes.
    fn give_back(&self, one: Option<(u64, u64)>) {
        let mut gone = Vec::new();
        let mut state = self.state.lock();
        for (&id, pool) in &mut state.pools {
            let keep = match one {
                _ if pool.destroyed => 0,
                Some((only, keep)) if only == id => keep,
                Some(_) => continue,
                None => pool.threshold,
            };
            pool.parked.settle(Parked::is_done);
            while pool.reserved.now > keep {
                let Some(parked) = pool.parked.take_largest() else { break };
                pool.reserved.sub(parked.allocation.held());
                gone.push(parked);
            }
        }
        self.parked.fetch_sub(gone.len(), Relaxed);
        state.sweep();
        drop(state);
        // Outside of the lock: their ranges go back to the slabs, which have a lock of their own.
        drop(gone);
    }

    /// Lets go of everything, at the context's end.
    pub(super) fn clear(&self) {
        let mut state = self.state.lock();
        let gone: Vec<Parked> = state.pools.values_mut().flat_map(|pool| pool.parked.clear()).collect();
        state.pools = BTreeMap::from([(DEFAULT, Pool::new())]);
        state.live.clear();
        state.current = DEFAULT;
        drop(state);
        self.parked.fetch_sub(gone.len(), Relaxed);
        drop(gone);
    }
}

impl State {
    /// Removes destroyed pools that hold nothing any more.
    fn sweep(&mut self) {
        self.pools.retain(|_, pool| !pool.destroyed || pool.reserved.now > 0 || !pool.parked.is_empty());
    }
}

impl Pool {
    fn new() -> Self {
        Self {
            parked: Shelves::new(),
            used: Level::default(),
            reserved: Level::default(),
            threshold: 0,
            reuse: [true; 3],
            destroyed: false,
        }
    }
}

impl Parked {
    fn is_done(&self) -> bool {
        self.ticket.as_ref().is_none_or(Ticket::is_done)
    }
}
