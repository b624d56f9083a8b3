//! Sorting: `radix_sort.cl`, with the scan between its steps.

use super::scan::Scan;
use super::{BLOCK, count, same_length};
use gridcl::Result;
use gridcl::prelude::*;

/// Keys of a work item, and of a block.
const EACH: u32 = 4;
const TILE: u32 = BLOCK * EACH;
/// Bits that a pass sorts by, as `radix_sort.cl` has it.
const BITS: u32 = 4;
const DIGITS: usize = 1 << BITS;

/// Sorts keys of 32 bits, each with a value; keys that are the same keep their order.
pub(crate) struct RadixSort {
    count: Kernel,
    scatter: Kernel,
    scan: Scan<u32>,
}

impl RadixSort {
    /// Builds the kernels.
    pub(crate) fn new(device: Device) -> Result<Self> {
        let options = format!("-DBLOCK={BLOCK} -DEACH={EACH}");
        let module = Module::with_options(device, include_str!("../../kernels_cl/radix_sort.cl"), &options)?;
        let (count, scatter) = (module.kernel("radix_count")?, module.kernel("radix_scatter")?);
        Ok(Self { count, scatter, scan: Scan::new(device)? })
    }

    /// Sorts `keys`, least first, and moves `values` with them.
    pub(crate) fn sort(
        &self,
        stream: &Stream,
        keys: &mut DeviceBuffer<u32>,
        values: &mut DeviceBuffer<u32>,
    ) -> Result<()> {
        let n = count("keys", keys.len())?;
        same_length("values", values.len(), keys.len())?;
        if n < 2 {
            return Ok(());
        }
        let (count, scatter) = (&self.count, &self.scatter);
        let tiles = n.div_ceil(TILE);
        let device = stream.device();
        // SAFETY: every pass writes all of them before the next reads them.
        let uninit = |len| unsafe { DeviceBuffer::<u32>::uninit(device, len) };
        let (other_keys, other_values) = (uninit(keys.len())?, uninit(keys.len())?);
        let mut offsets = uninit(tiles as usize * DIGITS)?;

        // An even number of passes, so the result ends up where the keys came from.
        let (mut from, mut to) = ((&*keys, &*values), (&other_keys, &other_values));
        for shift in (0..u32::BITS).step_by(BITS as usize) {
            // SAFETY: `n` keys and values on both sides, and a count for each digit of each tile.
            unsafe { launch!(count<<<tiles, BLOCK, 0, stream>>>(from.0, offsets, n, shift))? };
            self.scan.exclusive_in_place(stream, &mut offsets)?;
            // SAFETY: as above; the scanned counts are a permutation of the places below `n`.
            unsafe { launch!(scatter<<<tiles, BLOCK, 0, stream>>>(from.0, from.1, to.0, to.1, offsets, n, shift))? };
            std::mem::swap(&mut from, &mut to);
        }
        Ok(())
    }
}
