//! Managed memory where shared virtual memory is coarse-grained: a block is the host's while the device is idle, and
//! the device's from a launch until the next synchronisation that finds the device idle.
//!
//! Blocks change hands through the context's service queue, which runs its commands in order and never waits for a
//! stream: unmapped there before a launch, whose queue waits for that; mapped there when all streams are idle. Both
//! are decided under the lane lock, so that no launch comes between. On fine-grained memory nothing of this is
//! needed, and the context keeps no block here.

use super::TERRITORY;
use crate::cl::{self, Buffer, Failure, Progress, Queue, Svm};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use crate::rt::stream::order::LaneId;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// What a launch fails with that would take a block from a guard: `CL_MAP_FAILURE`.
const MAP_FAILURE: i32 = -12;

/// Whose kernels may use a block without naming it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attach {
    /// Those of all streams.
    Global,
    /// None: only launches that are given its address.
    Host,
    /// Those of one stream.
    Stream(LaneId),
}

/// A coarse-grained block of its own.
#[derive(Debug)]
pub(super) struct Block {
    /// The block as a buffer object, once somebody needed it. Ends before the block.
    alias: OnceLock<Arc<Buffer>>,
    svm: Svm,
    bytes: usize,
}

impl Block {
    /// A block that is in nobody's hands yet.
    pub(super) fn new(context: &Arc<cl::Context>, bytes: usize) -> Result<Self, Failure> {
        let svm = Svm::new(context, bytes, false)?;
        // A block that the driver just gave overlaps nothing, so there is no clash to report.
        let _ = TERRITORY.write().insert(svm.address(), bytes, ());
        Ok(Self { alias: OnceLock::new(), svm, bytes })
    }

    pub(super) fn address(&self) -> usize {
        self.svm.address()
    }

    pub(super) fn alias(&self) -> Result<Arc<Buffer>, Failure> {
        if let Some(alias) = self.alias.get() {
            return Ok(Arc::clone(alias));
        }
        let made = Arc::new(self.svm.alias(self.bytes)?);
        Ok(Arc::clone(self.alias.get_or_init(|| made)))
    }
}

impl Drop for Block {
    /// As for slabs: the addresses may be the program's next.
    fn drop(&mut self) {
        TERRITORY.write().remove(self.svm.address());
    }
}

/// The managed blocks of a context.
#[derive(Debug, Default)]
pub(crate) struct Managed {
    /// How many there are, so that a launch without any costs one load.
    count: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By address.
    blocks: BTreeMap<usize, Entry>,
    /// Stands behind the latest unmaps, until they are known to be done.
    handed_over: Option<cl::Event>,
}

#[derive(Debug)]
struct Entry {
    block: Arc<Block>,
    attached: Attach,
    /// Whether it is the host's.
    mapped: bool,
    /// Whether, since the device has it, kernels of other streams than that which it is attached to may have used it.
    strayed: bool,
    /// Guards of the safe API that read or write it.
    held: usize,
}

/// What is about to use managed memory.
#[derive(Clone, Copy)]
pub(crate) enum Use<'a> {
    /// A kernel in a lane, which reaches whatever is attached there, and the blocks that it is given.
    Kernel(LaneId, &'a [usize]),
    /// A copy or a set of the blocks that start there.
    Blocks(&'a [usize]),
}

impl Use<'_> {
    fn takes(self, base: usize, attached: Attach) -> bool {
        match self {
            Self::Blocks(given) => given.contains(&base),
            Self::Kernel(lane, given) => match attached {
                Attach::Global => true,
                Attach::Stream(of) if of == lane => true,
                Attach::Stream(_) | Attach::Host => given.contains(&base),
            },
        }
    }

    /// Whether it may use a block from another stream than that which the block is attached to.
    fn strays_from(self, attached: Attach) -> bool {
        match (self, attached) {
            (Self::Kernel(lane, _), Attach::Stream(of)) => lane != of,
            _ => false,
        }
    }
}

impl Managed {
    /// Whether there are no blocks to hand over.
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Relaxed) == 0
    }

    /// The addresses of all blocks, for kernels that reach them without being given them.
    pub(super) fn bases(&self) -> Vec<usize> {
        self.state.lock().blocks.keys().copied().collect()
    }

    /// Takes a new block in and makes it the host's, attached to the host.
    pub(super) fn enter(&self, context: &Context, block: Arc<Block>) -> Result<(), Failure> {
        let service = context.service();
        {
            let mut state = self.state.lock();
            block.svm.map(service, block.bytes)?;
            let entry = Entry {
                block: Arc::clone(&block),
                // Until whoever made it says otherwise, so that no launch takes it while it is being filled.
                attached: Attach::Host,
                mapped: true,
                strayed: false,
                held: 0,
            };
            state.blocks.insert(block.address(), entry);
        }
        self.count.fetch_add(1, Relaxed);
        service.finish().inspect_err(|_| self.leave(context, block.address()))
    }

    /// Lets a block go that no work uses any more.
    pub(super) fn leave(&self, context: &Context, base: usize) {
        let service = context.service();
        let mut state = self.state.lock();
        let Some(entry) = state.blocks.remove(&base) else { return };
        let unmapped = if entry.mapped { entry.block.svm.unmap_at_last(service) } else { Ok(()) };
        if state.blocks.is_empty() {
            state.handed_over = None;
        }
        drop(state);
        self.count.fetch_sub(1, Relaxed);
        // The block must not go before what the service queue has to do with it.
        if let Err(failure) = unmapped.and(service.finish()) {
            log::warn!(target: "gridcl::cl", "{failure}");
        }
    }

    /// Changes whose kernels may use a block. Nothing happens to one that is not here.
    pub(crate) fn attach(&self, base: usize, attached: Attach) {
        if let Some(entry) = self.state.lock().blocks.get_mut(&base) {
            entry.attached = attached;
            entry.strayed |= !entry.mapped;
        }
    }

    /// Gives the blocks of a stream that ended back to all.
    pub(crate) fn detach(&self, lane: LaneId) {
        if self.is_empty() {
            return;
        }
        for entry in self.state.lock().blocks.values_mut().filter(|entry| entry.attached == Attach::Stream(lane)) {
            entry.attached = Attach::Global;
        }
    }

    /// Whether the device has a block.
    pub(crate) fn is_lent(&self, base: usize) -> bool {
        self.state.lock().blocks.get(&base).is_some_and(|entry| !entry.mapped)
    }

    /// Hands to the device what `using` may reach, before it is enqueued in `queue`. Called under the lane lock.
    pub(crate) fn lend(&self, context: &Context, queue: &Queue, using: Use<'_>) -> Result<(), Failure> {
        if self.is_empty() {
            return Ok(());
        }
        let service = context.service();
        let state = &mut *self.state.lock();
        if state.holds_back(using) {
            return Err(Failure { entry: "clEnqueueSVMUnmap", status: MAP_FAILURE });
        }
        let mut unmapped = false;
        let wanted = state.blocks.iter_mut().filter(|(base, entry)| using.takes(**base, entry.attached));
        for (_, entry) in wanted {
            entry.strayed |= using.strays_from(entry.attached);
            if entry.mapped {
                entry.block.svm.unmap(service)?;
                entry.mapped = false;
                unmapped = true;
            }
        }
        if unmapped {
            state.handed_over = Some(service.marker()?);
            service.flush()?;
        }
        debug_assert_eq!(
            state.blocks.values().filter(|entry| entry.mapped).count(),
            context.cl().mapped_blocks(),
            "a block that the device may use is mapped"
        );
        if let Some(marker) = &state.handed_over {
            if marker.progress()? == Progress::Pending {
                queue.barrier(&[marker])?;
            } else {
                state.handed_over = None;
            }
        }
        Ok(())
    }

    /// Makes the host's again what no stream may use any more. Blocks until it is.
    pub(crate) fn restore(&self, context: &Context) -> Result<(), Failure> {
        if self.is_empty() {
            return Ok(());
        }
        let service = context.service();
        context.lanes().with_idle(|is_idle| {
            let mut state = self.state.lock();
            for entry in state.blocks.values_mut().filter(|entry| !entry.mapped) {
                let lane = match entry.attached {
                    Attach::Stream(lane) if !entry.strayed => Some(lane),
                    _ => None,
                };
                if is_idle(lane) {
                    entry.block.svm.map(service, entry.block.bytes)?;
                    entry.mapped = true;
                    entry.strayed = false;
                }
            }
            debug_assert!(
                !is_idle(None) || context.cl().mapped_blocks() == state.blocks.len(),
                "the device is idle and has a block"
            );
            if is_idle(None) {
                // Whoever waited for it is done.
                state.handed_over = None;
            }
            Ok(())
        })?;
        service.finish()
    }

    /// Keeps a block the host's until [`let_go`](Self::let_go).
    ///
    /// # Errors
    /// [`ErrorKind::NotReady`] while work of the device may use it.
    pub(crate) fn hold(&self, base: usize) -> Result<()> {
        if let Some(entry) = self.state.lock().blocks.get_mut(&base) {
            if !entry.mapped {
                return Err(Error::new(ErrorKind::NotReady, "work of the device may still use this managed memory")
                    .help("synchronize all streams of the device first: host and device use it in turn"));
            }
            entry.held += 1;
        }
        Ok(())
    }

    /// Ends a [`hold`](Self::hold).
    pub(crate) fn let_go(&self, base: usize) {
        if let Some(entry) = self.state.lock().blocks.get_mut(&base) {
            entry.held -= 1;
        }
    }

    /// Refuses what would take a block from a guard, with more words than [`lend`](Self::lend) has.
    pub(crate) fn check(&self, using: Use<'_>) -> Result<()> {
        if self.is_empty() || !self.state.lock().holds_back(using) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::NotPermitted, "a guard holds managed memory that the work may use")
            .help("drop the guards of `ManagedBuffer`s first: on this device host and kernels use them in turn"))
    }
}

impl State {
    /// Whether a guard has a block that would have to go to the device.
    fn holds_back(&self, using: Use<'_>) -> bool {
        self.blocks.iter().any(|(base, entry)| entry.held > 0 && using.takes(*base, entry.attached))
    }
}
