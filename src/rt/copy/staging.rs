//! Pinned host memory for copies whose source may change when the call returns.
//!
//! Grows on demand: a call that waited for room could wait for work that only its own thread can release.

use super::{Extent, Pitch, staged};
use crate::cl::HostBuffer;
use crate::error::Result;
use crate::rt::context::Context;
use crate::rt::stream::Stream;
use crate::rt::stream::lanes::Ticket;
use parking_lot::Mutex;
use std::sync::Arc;

/// The smallest block.
const LEAST_BYTES: usize = 64 << 10;
/// Free blocks beyond this go back to the driver.
const KEPT_BYTES: usize = 64 << 20;

/// A context's staging memory, and the lanes of copies that go through it in parts.
#[derive(Debug, Default)]
pub(crate) struct Staging {
    blocks: Mutex<Blocks>,
    lanes: staged::Lanes,
}

#[derive(Debug, Default)]
struct Blocks {
    free: Vec<Block>,
    /// In use until the work before the ticket is done.
    busy: Vec<(Block, Ticket)>,
}

/// A block of staging memory.
#[derive(Debug)]
pub(crate) struct Block {
    pinned: HostBuffer,
    bytes: usize,
}

impl Block {
    pub(super) fn address(&self) -> usize {
        self.pinned.address()
    }
}

/// Takes a block of at least `bytes`.
pub(super) fn take(context: &Arc<Context>, bytes: usize) -> Result<Block> {
    if let Some(block) = context.staging().reuse(bytes) {
        return Ok(block);
    }
    // What the lanes do not know yet may have freed a block.
    context.lanes().poll();
    if let Some(block) = context.staging().reuse(bytes) {
        return Ok(block);
    }
    let bytes = bytes.max(LEAST_BYTES).checked_next_power_of_two().unwrap_or(bytes);
    let pinned = HostBuffer::new(context.cl(), context.service(), bytes).map_err(|failure| failure.out_of_memory())?;
    Ok(Block { pinned, bytes })
}

/// Takes a block and packs a box of the program's bytes into it.
pub(super) fn hold(context: &Arc<Context>, from: usize, extent: Extent, pitch: Pitch) -> Result<Block> {
    let block = take(context, extent.bytes().unwrap_or(usize::MAX))?;
    // SAFETY: the program's box is valid for the call, and the block is ours alone and large enough.
    unsafe { pack(&block, from, extent, pitch) };
    Ok(block)
}

/// Packs a box of the program's bytes into a block.
///
/// # Safety
/// The box has to be readable, and the block unused and large enough.
pub(super) unsafe fn pack(block: &Block, from: usize, extent: Extent, pitch: Pitch) {
    for (row, at) in extent.rows(pitch).zip((block.address()..).step_by(extent.width)) {
        // SAFETY: the caller's.
        unsafe { std::ptr::copy_nonoverlapping((from + row) as *const u8, at as *mut u8, extent.width) };
    }
}

/// Unpacks a block into a box of the program's bytes.
///
/// # Safety
/// The box has to be writable, and the block to hold it.
pub(super) unsafe fn unpack(block: &Block, to: usize, extent: Extent, pitch: Pitch) {
    for (row, at) in extent.rows(pitch).zip((block.address()..).step_by(extent.width)) {
        // SAFETY: the caller's.
        unsafe { std::ptr::copy_nonoverlapping(at as *const u8, (to + row) as *mut u8, extent.width) };
    }
}

/// Gives a block back after what `submitted` says: behind the copy, or where that failed behind the stream's work,
/// since some of it may be in the queue.
pub(super) fn let_go(stream: &Stream, block: Block, submitted: Result<Ticket>) -> Result<()> {
    let staging = stream.context().staging();
    let ticket = submitted.as_ref().ok().cloned().or_else(|| stream.ticket());
    match ticket {
        Some(ticket) => staging.give_back(block, ticket),
        None => staging.put(block),
    }
    submitted.map(drop)
}

impl Staging {
    pub(super) fn lanes(&self) -> &staged::Lanes {
        &self.lanes
    }

    /// Gives a block back once the work before `ticket` is done.
    pub(super) fn give_back(&self, block: Block, ticket: Ticket) {
        self.blocks.lock().busy.push((block, ticket));
    }

    /// Gives an idle block back.
    pub(super) fn put(&self, block: Block) {
        let surplus = {
            let mut blocks = self.blocks.lock();
            blocks.free.push(block);
            blocks.surplus(KEPT_BYTES)
        };
        drop(surplus);
    }

    /// Gives idle blocks back to the driver.
    pub(crate) fn trim(&self) {
        let surplus = {
            let mut blocks = self.blocks.lock();
            blocks.collect();
            blocks.surplus(0)
        };
        drop(surplus);
    }

    fn reuse(&self, bytes: usize) -> Option<Block> {
        let (found, surplus) = {
            let mut blocks = self.blocks.lock();
            blocks.collect();
            let fits = |block: &Block| block.bytes >= bytes && block.bytes / 8 <= bytes.max(LEAST_BYTES);
            let found = blocks.free.iter().position(fits).map(|index| blocks.free.swap_remove(index));
            (found, blocks.surplus(KEPT_BYTES))
        };
        drop(surplus);
        found
    }
}

impl Blocks {
    /// Moves blocks whose work is done to the free ones.
    fn collect(&mut self) {
        let (done, busy) = std::mem::take(&mut self.busy).into_iter().partition(|(_, ticket)| ticket.is_done());
        self.busy = busy;
        let done: Vec<(Block, Ticket)> = done;
        self.free.extend(done.into_iter().map(|(block, _)| block));
    }

    /// Takes out free blocks until at most `keep` bytes are left; released by the caller, outside the lock.
    fn surplus(&mut self, keep: usize) -> Vec<Block> {
        let mut held: usize = self.free.iter().map(|block| block.bytes).sum();
        let mut surplus = Vec::new();
        while held > keep
            && let Some(block) = self.free.pop()
        {
            held -= block.bytes;
            surplus.push(block);
        }
        surplus
    }
}
