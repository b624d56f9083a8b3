//! Memory: what each address belongs to, and where blocks come from.
//!
//! Pointers are real addresses, since programs do arithmetic on them. One interval map for the whole process answers
//! every question about a pointer ([`find`]); every copy, set, free and launch asks it, so garbage, stale and
//! overrun pointers are errors and never crashes. What backs an address is the [`Allocation`]'s business.

pub(crate) mod address;
pub(crate) mod advice;
pub(crate) mod allocation;
pub(crate) mod array;
pub(crate) mod hints;
pub(crate) mod host;
pub(crate) mod managed;
pub(crate) mod ordered;
pub(crate) mod pool;
pub(crate) mod query;
mod reserve;
mod shelf;
pub(crate) mod slab;
pub(crate) mod waiting;

use super::context::Context;
use super::runtime::is_forked;
use super::stream::lanes::Ticket;
use crate::cl::Caps;
use crate::cl::caps::SvmSupport;
use crate::error::{Error, ErrorKind, Result};
use address::{AddressMap, Lookup};
pub(crate) use allocation::{Allocation, Kind, Place};
pub(crate) use array::Array;
use managed::Managed;
use ordered::Pools;
use parking_lot::{Mutex, RwLock};
use pool::Pool;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Acquire, Ordering::Relaxed};

/// Every live allocation of the process, by address.
static MAP: RwLock<AddressMap<Arc<Allocation>>> = RwLock::new(AddressMap::new());

/// The address ranges that the runtime cuts allocations from: an address in one of them that is in no allocation
/// was freed, and is nobody's host memory.
static TERRITORY: RwLock<AddressMap<()>> = RwLock::new(AddressMap::new());

/// How device memory is backed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Shared virtual memory, fine-grained where the device has it.
    Svm,
    /// Shared virtual memory, used as coarse-grained.
    Coarse,
    /// Buffer objects behind reserved addresses.
    Buffer,
}

impl Form {
    /// Reads `GRIDCL_MEMORY`.
    pub(crate) fn from_environment(notes: &mut Vec<String>) -> Self {
        match std::env::var("GRIDCL_MEMORY").as_deref() {
            Ok("coarse") => Self::Coarse,
            Ok("buffer") => Self::Buffer,
            Ok("svm" | "") | Err(_) => Self::Svm,
            Ok(other) => {
                notes.push(format!("GRIDCL_MEMORY={other} is none of svm, coarse and buffer; svm is used"));
                Self::Svm
            }
        }
    }

    /// The nearest form that the device can do.
    pub(crate) fn limited_to(self, svm: SvmSupport) -> Self {
        match (self, svm) {
            (_, SvmSupport::None) => Self::Buffer,
            (Self::Svm, SvmSupport::Coarse) => Self::Coarse,
            (form, _) => form,
        }
    }

    /// The word that `GRIDCL_MEMORY` and messages use.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Svm => "svm",
            Self::Coarse => "coarse",
            Self::Buffer => "buffer",
        }
    }
}

/// A context's memory: the pool, the account, and what waits to be taken back.
#[derive(Debug)]
pub(crate) struct Memory {
    form: Form,
    declares_blocks: bool,
    /// What the device has; more is never asked of the driver, which may promise what it does not have.
    limit: u64,
    allocated: AtomicU64,
    pool: Mutex<Pool>,
    slab_generation: Arc<AtomicU64>,
    managed: Managed,
    graveyard: Mutex<Vec<Buried>>,
    buried_bytes: AtomicUsize,
    pools: Pools,
}

/// Memory that was given up while work that may use it was under way.
#[derive(Debug)]
struct Buried {
    kept: Kept,
    tickets: Vec<Ticket>,
}

/// What is buried; dropping it gives its memory back.
#[derive(Debug)]
enum Kept {
    Allocation(Arc<Allocation>),
    Array(Arc<Array>),
}

impl Kept {
    fn bytes(&self) -> usize {
        match self {
            Self::Allocation(allocation) => allocation.bytes(),
            Self::Array(array) => array.spec().bytes(),
        }
    }
}

/// Buried memory beyond this many bytes makes the next allocation ask the driver what is done.
const GRAVEYARD_BYTES: usize = 64 << 20;

impl Memory {
    pub(crate) fn new(form: Form, caps: &Caps) -> Self {
        let pool = Pool::new(form == Form::Svm, caps);
        Self {
            form,
            // A device that is used as coarse-grained stands for those that are.
            declares_blocks: caps.needs_svm_declarations() || (form == Form::Coarse && caps.svm == SvmSupport::Fine),
            limit: caps.global_bytes,
            allocated: AtomicU64::new(0),
            slab_generation: pool.generation(),
            pool: Mutex::new(pool),
            managed: Managed::default(),
            graveyard: Mutex::default(),
            buried_bytes: AtomicUsize::new(0),
            pools: Pools::new(),
        }
    }

    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Bytes of device memory that the program holds.
    pub(crate) fn allocated_bytes(&self) -> u64 {
        self.allocated.load(Relaxed)
    }

    /// Managed memory that host and device use in turn.
    pub(crate) fn managed(&self) -> &Managed {
        &self.managed
    }

    /// Tells kernels of the managed blocks that there are now.
    fn declare_managed(&self) {
        self.pool.lock().declare_too(self.managed.bases());
    }

    /// Takes back buried memory whose work is known to be done. Asks no driver.
    pub(crate) fn reclaim(&self) {
        let mut graveyard = self.graveyard.lock();
        let (done, waiting) =
            std::mem::take(&mut *graveyard).into_iter().partition(|buried| buried.tickets.iter().all(Ticket::is_done));
        *graveyard = waiting;
        drop(graveyard);
        let done: Vec<Buried> = done;
        let bytes = done.iter().map(|buried| buried.kept.bytes()).sum();
        // Who sees that nothing is to come any more finds what has come.
        drop(done);
        self.buried_bytes.fetch_sub(bytes, Relaxed);
    }

    /// Whether so much is buried that asking the driver what is done pays.
    fn is_much_buried(&self) -> bool {
        self.buried_bytes.load(Relaxed) > GRAVEYARD_BYTES
    }

    /// What was allocated in stream order.
    pub(crate) fn pools(&self) -> &Pools {
        &self.pools
    }

    /// Takes back all that is freed and done, by asking the driver.
    fn scrape(&self, context: &Context) {
        context.lanes().poll();
        self.reclaim();
        self.pools.scrape();
    }

    /// Bytes that were given up and that work under way still uses.
    fn awaited_bytes(&self) -> usize {
        self.buried_bytes.load(Relaxed) + self.pools.pending_bytes()
    }

    /// Gives empty slabs back to the driver, down to `keep` bytes.
    pub(crate) fn trim(&self, keep: usize) {
        self.pools.scrape();
        self.pool.lock().trim(keep);
    }

    /// Whether kernel objects are told of the slabs.
    pub(crate) fn declares_blocks(&self) -> bool {
        self.declares_blocks
    }

    /// The slabs that kernels may reach with a number that changes with them; `None` when it is `known` still.
    pub(crate) fn slabs(&self, known: u64) -> Option<(u64, Arc<[usize]>)> {
        (self.slab_generation.load(Acquire) != known).then(|| self.pool.lock().bases())
    }

    fn bury(&self, allocation: Arc<Allocation>, tickets: Vec<Ticket>) {
        self.keep(Kept::Allocation(allocation), tickets);
    }

    fn keep(&self, kept: Kept, tickets: Vec<Ticket>) {
        self.buried_bytes.fetch_add(kept.bytes(), Relaxed);
        self.graveyard.lock().push(Buried { kept, tickets });
    }

    /// Enters `bytes` into the account, unless the device does not have them.
    fn charge(&self, bytes: usize) -> bool {
        self.allocated
            .fetch_update(Relaxed, Relaxed, |held| held.checked_add(bytes as u64).filter(|&sum| sum <= self.limit))
            .is_ok()
    }

    /// Enters bytes that the device is known to have.
    fn charge_held(&self, bytes: usize) {
        self.allocated.fetch_add(bytes as u64, Relaxed);
    }

    fn discharge(&self, bytes: usize) {
        self.allocated.fetch_sub(bytes as u64, Relaxed);
    }
}

/// What the map says about a range.
#[derive(Debug)]
pub(crate) enum Found {
    /// The whole range lies in this allocation.
    Known(Arc<Allocation>),
    /// It was the runtime's and is free.
    Freed,
    /// The runtime does not know it: ordinary memory of the host, or garbage.
    Foreign,
}

/// Finds what a range belongs to.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] where it starts in an allocation and ends beyond it.
pub(crate) fn find(address: usize, bytes: usize) -> Result<Found> {
    let map = MAP.read();
    match map.look_up(address, bytes) {
        Lookup::Inside { value, .. } => Ok(Found::Known(Arc::clone(value))),
        Lookup::Overrun { base, len, .. } => {
            let left = base + len - address;
            Err(Error::new(
                ErrorKind::InvalidValue,
                format!("the allocation at {base:#x} has {len} bytes, {left} from there on"),
            )
            .help(format!("{bytes} bytes are {} too many", bytes - left)))
        }
        Lookup::Unknown => {
            drop(map);
            let ours = !matches!(TERRITORY.read().look_up(address, 1), Lookup::Unknown);
            Ok(if ours { Found::Freed } else { Found::Foreign })
        }
    }
}

/// The device allocation whose first address beyond its end is `address`. Allocations keep a byte of distance, so that
/// this address belongs to no other.
pub(crate) fn ending_at(address: usize) -> Option<Arc<Allocation>> {
    match MAP.read().look_up(address.wrapping_sub(1), 1) {
        Lookup::Inside { base, value, .. } if !value.kind().is_host() && base + value.bytes() == address => {
            Some(Arc::clone(value))
        }
        _ => None,
    }
}

/// Allocates device memory of a context.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`] when the device has no room; nothing changed then.
pub(crate) fn allocate(context: &Arc<Context>, bytes: usize, kind: Kind) -> Result<Arc<Allocation>> {
    allocate_with(context, bytes, kind, 0)
}

/// The same with flags that the allocation keeps for those who ask.
///
/// # Errors
/// As [`allocate`].
pub(crate) fn allocate_with(context: &Arc<Context>, bytes: usize, kind: Kind, flags: u32) -> Result<Arc<Allocation>> {
    context.check()?;
    charge(context, bytes)?;
    // What was made discharges the account itself when it goes.
    let mut made = Allocation::new(context, bytes, kind, flags);
    if made.as_ref().is_err_and(|error| error.kind() == ErrorKind::OutOfMemory) {
        let again = || Allocation::new(context, bytes, kind, flags).ok();
        made = waiting::until_returned(context, again).map_or(made, Ok);
    }
    made.inspect_err(|_| context.memory().discharge(bytes))
        .and_then(enter)
        .map_err(|error| error.argument("size", bytes).on_device(context.device()))
}

/// Enters `bytes` into a context's account, after taking back what is buried and done.
fn charge(context: &Context, bytes: usize) -> Result<()> {
    let memory = context.memory();
    if memory.is_much_buried() {
        context.lanes().poll();
    }
    memory.reclaim();
    if memory.charge(bytes) {
        return Ok(());
    }
    memory.scrape(context);
    if memory.charge(bytes) {
        return Ok(());
    }
    // What the program holds does not come back by waiting.
    let held = memory.allocated_bytes().saturating_sub(memory.awaited_bytes() as u64);
    let may_fit = bytes as u64 <= memory.limit.saturating_sub(held);
    if may_fit && waiting::until_returned(context, || memory.charge(bytes).then_some(())).is_some() {
        return Ok(());
    }
    let free = memory.limit.saturating_sub(memory.allocated_bytes());
    Err(Error::new(ErrorKind::OutOfMemory, format!("the device has {free} bytes left"))
        .argument("size", bytes)
        .on_device(context.device()))
}

/// Puts an allocation into the map.
fn enter(allocation: Allocation) -> Result<Arc<Allocation>> {
    let allocation = Arc::new(allocation);
    // Even an empty one has an address of its own, which the map holds as one byte.
    let (base, bytes) = (allocation.base(), allocation.bytes().max(1));
    let mut map = MAP.write();
    check_unknown(&map, base, bytes)?;
    // It was just checked that nothing is in the way.
    let _ = map.insert(base, bytes, Arc::clone(&allocation));
    allocation.set_listed(true);
    Ok(allocation)
}

/// Refuses a range of which the map knows a byte.
fn check_unknown(map: &AddressMap<Arc<Allocation>>, address: usize, bytes: usize) -> Result<()> {
    let Some((base, len, allocation)) = map.overlapping(address, bytes).next() else { return Ok(()) };
    if allocation.kind() == Kind::Registered {
        let problem = format!("{len} bytes at {base:#x} are registered already");
        return Err(Error::new(ErrorKind::HostMemoryAlreadyRegistered, problem).help("unregister them first"));
    }
    let problem = format!("{len} bytes at {base:#x} are memory that the runtime allocated");
    Err(Error::new(ErrorKind::InvalidValue, problem).help("register memory of the program's own"))
}

/// Takes an allocation out of the map if it starts at `address` and `wanted` accepts it, atomically: of two frees of
/// one pointer one finds nothing.
fn take_out(address: usize, wanted: impl FnOnce(&Allocation) -> bool) -> Option<Arc<Allocation>> {
    let mut map = MAP.write();
    let (_, allocation) = map.get(address)?;
    if !wanted(allocation) {
        return None;
    }
    let (_, allocation) = map.remove(address)?;
    allocation.set_listed(false);
    Some(allocation)
}

/// Puts an allocation back that cannot be freed yet. Nothing comes in its way but the program's own memory, which it may
/// have registered anew meanwhile.
fn put_back(allocation: Arc<Allocation>) {
    let (base, bytes) = (allocation.base(), allocation.bytes().max(1));
    let mut map = MAP.write();
    allocation.set_listed(true);
    let outcome = map.insert(base, bytes, allocation);
    drop(map);
    drop(outcome);
}

/// Frees device or managed memory by its address, after all work of its device.
///
/// # Errors
/// [`ErrorKind::InvalidDevicePointer`] for anything but the start of a live device allocation; nothing is freed.
pub(crate) fn free(address: usize) -> Result<()> {
    let is_freed_here = |allocation: &Allocation| matches!(allocation.kind(), Kind::Device | Kind::Managed);
    let Some(allocation) = take_out(address, is_freed_here) else {
        return Err(why_not_free(address).argument("ptr", format_args!("{address:#x}")));
    };
    // The memory must not be reused while work may still touch it.
    if let Err(refusal) = allocation.context().quiesce() {
        put_back(allocation);
        return Err(refusal);
    }
    allocation.context().memory().pools.forget(address);
    let outcome = allocation.context().synchronize();
    drop(allocation);
    outcome
}

fn why_not_free(address: usize) -> Error {
    let refuse = |problem: String| Error::new(ErrorKind::InvalidDevicePointer, problem);
    match find(address, 1) {
        Ok(Found::Known(allocation)) if matches!(allocation.kind(), Kind::Device | Kind::Managed) => {
            refuse(format!("it points into the allocation at {:#x}", allocation.base())).help("free that address")
        }
        Ok(Found::Known(allocation)) => match allocation.kind() {
            Kind::Pinned => refuse("it is pinned host memory".into()).help("free it with the call for host memory"),
            Kind::Registered => refuse("it is registered host memory".into()).help("unregister it"),
            _ => refuse("it is the storage of a module's symbol".into()).help("it goes with the module"),
        },
        Ok(Found::Freed) => refuse("it is free already".into()),
        _ => refuse("the runtime has not allocated it".into()),
    }
}

/// Gives an allocation up without waiting: it is reused when the work under way is done.
pub(crate) fn give_up(allocation: &Arc<Allocation>) {
    give_up_after(allocation, Vec::new());
}

/// The same where work of other devices may use it too.
pub(crate) fn give_up_after(allocation: &Arc<Allocation>, mut tickets: Vec<Ticket>) {
    if is_forked() {
        // A thread that stayed behind may hold a lock for ever; the memory is the parent's anyway.
        return;
    }
    let Some(allocation) = take_out(allocation.base(), |found| std::ptr::eq(found, &**allocation)) else {
        return;
    };
    let context = Arc::clone(allocation.context());
    tickets.extend(context.lanes().pending());
    context.memory().bury(allocation, tickets);
}

/// Drops every allocation of a context from the map.
pub(super) fn forget_all_of(context: &Context) {
    let mut map = MAP.write();
    let ours = map.retain(|_, _, allocation| !std::ptr::eq(&**allocation.context(), context));
    ours.iter().for_each(|allocation| allocation.set_listed(false));
    drop(map);
    drop(ours);
    context.memory().pools.clear();
}
