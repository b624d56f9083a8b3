//! Running sums of any length: `scan.cl`.

use super::{BLOCK, Number, count, module_for, same_length};
use gridcl::Result;
use gridcl::prelude::*;
use std::marker::PhantomData;

/// Elements of a work item, and of a block.
const EACH: u32 = 4;
const TILE: u32 = BLOCK * EACH;

/// Running sums of elements of one type. Floats are added in another order than from left to right.
pub(crate) struct Scan<T> {
    tiles: Kernel,
    add: Kernel,
    element: PhantomData<T>,
}

/// What a running sum takes in.
#[derive(Clone, Copy)]
enum Sum {
    Inclusive = 0,
    Exclusive = 1,
}

impl<T: Number> Scan<T> {
    /// Builds the kernels.
    pub(crate) fn new(device: Device) -> Result<Self> {
        let options = format!("-DEACH={EACH}");
        let module = module_for::<T>(device, include_str!("../../kernels_cl/scan.cl"), &options)?;
        Ok(Self { tiles: module.kernel("scan_tiles")?, add: module.kernel("scan_add")?, element: PhantomData })
    }

    /// `to[i]` is the sum of `from[0]` up to and with `from[i]`.
    pub(crate) fn inclusive(&self, stream: &Stream, from: &DeviceBuffer<T>, to: &mut DeviceBuffer<T>) -> Result<()> {
        same_length("to", to.len(), from.len())?;
        self.run(stream, Some(from), to, Sum::Inclusive)
    }

    /// `to[i]` is the sum of what stands in front of `from[i]`, so `to[0]` is 0.
    pub(crate) fn exclusive(&self, stream: &Stream, from: &DeviceBuffer<T>, to: &mut DeviceBuffer<T>) -> Result<()> {
        same_length("to", to.len(), from.len())?;
        self.run(stream, Some(from), to, Sum::Exclusive)
    }

    /// [`inclusive`](Self::inclusive), where the sums take the elements' place.
    pub(crate) fn inclusive_in_place(&self, stream: &Stream, data: &mut DeviceBuffer<T>) -> Result<()> {
        self.run(stream, None, data, Sum::Inclusive)
    }

    /// [`exclusive`](Self::exclusive), where the sums take the elements' place.
    pub(crate) fn exclusive_in_place(&self, stream: &Stream, data: &mut DeviceBuffer<T>) -> Result<()> {
        self.run(stream, None, data, Sum::Exclusive)
    }

    /// Scans the tiles, then the tiles' sums in the same way, and adds those to the tiles.
    fn run(&self, stream: &Stream, from: Option<&DeviceBuffer<T>>, to: &mut DeviceBuffer<T>, sum: Sum) -> Result<()> {
        let n = count("to", to.len())?;
        if n == 0 {
            return Ok(());
        }
        let (scan, add) = (&self.tiles, &self.add);
        let tiles = n.div_ceil(TILE);
        // SAFETY: each block writes its element.
        let mut sums = unsafe { DeviceBuffer::<T>::uninit(stream.device(), tiles as usize) }?;
        let source = from.unwrap_or(to);
        // SAFETY: both have `n` elements and there is a sum for each tile; the kernel may work in place.
        unsafe { launch!(scan<<<tiles, BLOCK, 0, stream>>>(source, to, sums, n, sum as u32))? };
        if tiles > 1 {
            self.run(stream, None, &mut sums, Sum::Exclusive)?;
            // SAFETY: as above.
            unsafe { launch!(add<<<tiles, BLOCK, 0, stream>>>(to, sums, n))? };
        }
        Ok(())
    }
}
