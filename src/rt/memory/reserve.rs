//! Addresses for memory that has none of its own: reserved, inaccessible, so that no other memory takes them and a
//! stray access faults instead of hitting something.

use super::TERRITORY;
use super::slab::{Range, SlabId, Slabs};
use crate::error::{Error, ErrorKind, Result};
use parking_lot::Mutex;
use std::ptr::null_mut;

/// Address space is plentiful and costs nothing until it is used.
const CHUNK: usize = 64 << 30;
const ALIGN: usize = 256;

static SPACE: Mutex<Option<Space>> = Mutex::new(None);

struct Space {
    slabs: Slabs,
    chunks: Vec<(SlabId, usize)>,
}

/// Reserved addresses, to be given back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reserved(Range);

/// Reserves `bytes` addresses, 256-byte aligned.
pub(super) fn take(bytes: usize) -> Result<(usize, Reserved)> {
    let mut space = SPACE.lock();
    let space = space.get_or_insert_with(|| Space { slabs: Slabs::new(ALIGN), chunks: Vec::new() });
    let range = match space.slabs.take(bytes) {
        Some(range) => range,
        None => {
            space.grow(bytes)?;
            space.slabs.take(bytes).ok_or_else(exhausted)?
        }
    };
    let base = space.chunks.iter().find(|(slab, _)| *slab == range.slab).map(|&(_, base)| base);
    Ok((base.ok_or_else(exhausted)? + range.offset, Reserved(range)))
}

/// Gives addresses back.
pub(super) fn give(reserved: Reserved) {
    if let Some(space) = &mut *SPACE.lock() {
        space.slabs.give(reserved.0);
    }
}

impl Space {
    fn grow(&mut self, bytes: usize) -> Result<()> {
        let len = bytes.checked_next_multiple_of(CHUNK).ok_or_else(exhausted)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
        let base = unsafe { libc::mmap(null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(exhausted().caused_by(format_args!("mmap: {}", std::io::Error::last_os_error())));
        }
        let base = base as usize;
        self.chunks.push((self.slabs.add(len, 0), base));
        // A new mapping overlaps nothing, so there is no clash to report.
        let _ = TERRITORY.write().insert(base, len, ());
        Ok(())
    }
}

fn exhausted() -> Error {
    Error::new(ErrorKind::OutOfMemory, "the address space has no room for it")
}
