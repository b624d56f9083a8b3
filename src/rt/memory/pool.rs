//! Slabs of shared virtual memory: `clSVMAlloc` costs up to 1.5 ms and its memory is slow at first touch, so blocks
//! are cut from slabs that stay.

use super::TERRITORY;
use super::slab::{Range, SlabId, Slabs};
use crate::cl::{self, Buffer, Caps, Svm};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::Release};

/// What `cudaMalloc` promises, and what its users align to.
pub(super) const ALIGN: usize = 256;
/// Slabs grow with what the context holds: a first one is quick to get (NVIDIA's driver takes 0.6 ms a MiB), and many
/// small ones would be many to declare.
const SLAB_BYTES: std::ops::RangeInclusive<usize> = (4 << 20)..=(32 << 20);
/// Slabs start at 2048 in a 4 KiB page: host buffers mostly start near 0, and a copy between two addresses that are
/// alike modulo 4096 runs at a third of its speed on many CPUs.
const PAGE: usize = 4096;
const PAGE_OFFSET: usize = 2048;
/// What a slab loses at most for starting there.
const SLACK: usize = PAGE + PAGE_OFFSET;
/// Empty slabs beyond this are given back to the driver.
const KEPT_BYTES: u64 = 4 << 30;

/// A context's slabs.
#[derive(Debug)]
pub(super) struct Pool {
    fine: bool,
    slabs: Slabs,
    blocks: HashMap<SlabId, Block>,
    /// Grows when the set of slabs changes; read without the pool's lock.
    generation: Arc<AtomicU64>,
    bases: Arc<[usize]>,
    /// Blocks outside of the slabs that kernels reach as well.
    extras: Vec<usize>,
    largest: usize,
    kept: usize,
}

#[derive(Debug)]
struct Block {
    /// The block as a buffer object, once somebody needed it. Ends before the block.
    alias: Option<Arc<Buffer>>,
    svm: Svm,
    bytes: usize,
    /// Where offsets count from.
    origin: usize,
}

impl Drop for Block {
    /// The addresses stop being the runtime's before the memory goes back: the next one who gets them may be the
    /// program, however the block came to its end.
    fn drop(&mut self) {
        TERRITORY.write().remove(self.svm.address());
    }
}

/// How a request for a range ended.
pub(super) enum Grown {
    /// With an address and the range to give back.
    Taken(usize, Range),
    /// It is larger than the device's largest block.
    TooLarge,
    /// The driver gave no slab.
    Refused,
}

impl Pool {
    pub(super) fn new(fine: bool, caps: &Caps) -> Self {
        Self {
            fine,
            slabs: Slabs::new(ALIGN),
            blocks: HashMap::new(),
            generation: Arc::new(AtomicU64::new(1)),
            bases: Arc::new([]),
            extras: Vec::new(),
            largest: usize::try_from(caps.max_alloc_bytes).unwrap_or(usize::MAX),
            kept: usize::try_from(KEPT_BYTES.min(caps.global_bytes / 8)).unwrap_or(usize::MAX),
        }
    }

    /// Cuts `bytes` from a slab, a new one where none has room.
    pub(super) fn take(&mut self, context: &Arc<cl::Context>, bytes: usize) -> Grown {
        if let Some(taken) = self.cut(bytes) {
            return taken;
        }
        let Some(least) = bytes.checked_next_multiple_of(PAGE).and_then(|bytes| bytes.checked_add(SLACK)) else {
            return Grown::TooLarge;
        };
        if least > self.largest {
            return Grown::TooLarge;
        }
        let usual = self.slabs.bytes_held().clamp(*SLAB_BYTES.start(), *SLAB_BYTES.end());
        let roomy = least.max(usual).min(self.largest);
        let svm = [roomy, least].into_iter().find_map(|bytes| Some((Svm::new(context, bytes, self.fine).ok()?, bytes)));
        let Some((svm, bytes_given)) = svm else { return Grown::Refused };
        self.add(svm, bytes_given);
        self.cut(bytes).unwrap_or(Grown::Refused)
    }

    fn cut(&mut self, bytes: usize) -> Option<Grown> {
        let range = self.slabs.take(bytes)?;
        let block = self.blocks.get(&range.slab)?;
        Some(Grown::Taken(block.origin + range.offset, range))
    }

    fn add(&mut self, svm: Svm, bytes: usize) {
        let origin = svm.address().next_multiple_of(PAGE) + PAGE_OFFSET;
        let slab = self.slabs.add(bytes - (origin - svm.address()), 0);
        // A block that the driver just gave overlaps nothing, so there is no clash to report.
        let _ = TERRITORY.write().insert(svm.address(), bytes, ());
        self.blocks.insert(slab, Block { alias: None, svm, bytes, origin });
        self.changed();
    }

    /// The buffer object over the slab of a range, and where the slab starts.
    pub(super) fn alias(&mut self, range: Range) -> cl::status::Result<(Arc<Buffer>, usize)> {
        let gone = cl::Failure { entry: "slab", status: -38 };
        let block = self.blocks.get_mut(&range.slab).ok_or(gone)?;
        let alias = match &block.alias {
            Some(alias) => Arc::clone(alias),
            None => Arc::clone(block.alias.insert(Arc::new(block.svm.alias(block.bytes)?))),
        };
        Ok((alias, block.svm.address()))
    }

    /// Takes a range back. No work may use it any more.
    pub(super) fn give(&mut self, range: Range) {
        self.slabs.give(range);
        if self.slabs.bytes_empty() > self.kept {
            self.trim(self.kept);
        }
    }

    /// Gives empty slabs back to the driver until at most `keep` bytes of them are left.
    pub(super) fn trim(&mut self, keep: usize) {
        let gone = self.slabs.remove_empty(keep);
        if gone.is_empty() {
            return;
        }
        for slab in gone {
            self.blocks.remove(&slab);
        }
        self.changed();
    }

    /// Replaces the list of blocks outside of the slabs that kernels reach.
    pub(super) fn declare_too(&mut self, extras: Vec<usize>) {
        self.extras = extras;
        self.changed();
    }

    /// Where the slabs and the other blocks start, and a number that changes with them.
    pub(super) fn bases(&self) -> (u64, Arc<[usize]>) {
        (self.generation.load(Relaxed), Arc::clone(&self.bases))
    }

    /// The number alone, for those who hold no lock.
    pub(super) fn generation(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.generation)
    }

    fn changed(&mut self) {
        let slabs = self.blocks.values().map(|block| block.svm.address());
        self.bases = slabs.chain(self.extras.iter().copied()).collect();
        self.generation.fetch_add(1, Release);
    }
}
