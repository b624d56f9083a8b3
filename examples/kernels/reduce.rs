//! Many elements to a few: `reduce.cl`, `histogram.cl`.

use super::{BLOCK, Number, count, module_for};
use gridcl::prelude::*;
use gridcl::{Error, ErrorKind, Result};
use std::marker::PhantomData;

/// Blocks for each of the device's multiprocessors: enough to keep them busy, few enough for a short second step.
const BLOCKS_PER_UNIT: u32 = 8;

/// How many blocks share the walk over `n` elements.
fn blocks(device: Device, n: u32) -> u32 {
    n.div_ceil(BLOCK).clamp(1, device.compute_units().max(1) * BLOCKS_PER_UNIT)
}

/// Sum, least and greatest of elements of one type.
pub(crate) struct Reduction<T> {
    sum: Kernel,
    min: Kernel,
    max: Kernel,
    element: PhantomData<T>,
}

impl<T: Number> Reduction<T> {
    /// Builds the kernels.
    pub(crate) fn new(device: Device) -> Result<Self> {
        let module = module_for::<T>(device, include_str!("../../kernels_cl/reduce.cl"), "")?;
        let [sum, min, max] = ["reduce_sum", "reduce_min", "reduce_max"].map(|name| module.kernel(name));
        Ok(Self { sum: sum?, min: min?, max: max?, element: PhantomData })
    }

    /// The sum, 0 of nothing. Floats are added in an order that depends on the device alone; unsigned integers wrap.
    pub(crate) fn sum(&self, stream: &Stream, data: &DeviceBuffer<T>) -> Result<T> {
        Ok(reduce(&self.sum, stream, data)?.unwrap_or_else(T::zeroed))
    }

    /// The least element, if there is any; a NaN only where there is nothing else.
    pub(crate) fn min(&self, stream: &Stream, data: &DeviceBuffer<T>) -> Result<Option<T>> {
        reduce(&self.min, stream, data)
    }

    /// The greatest element, if there is any; a NaN only where there is nothing else.
    pub(crate) fn max(&self, stream: &Stream, data: &DeviceBuffer<T>) -> Result<Option<T>> {
        reduce(&self.max, stream, data)
    }
}

fn reduce<T: Number>(kernel: &Kernel, stream: &Stream, data: &DeviceBuffer<T>) -> Result<Option<T>> {
    let n = count("data", data.len())?;
    if n == 0 {
        return Ok(None);
    }
    let blocks = blocks(stream.device(), n);
    // SAFETY: each block writes its element of `partial`, and the last launch `whole`.
    let uninit = |len| unsafe { DeviceBuffer::<T>::uninit(stream.device(), len) };
    let (partial, whole) = (uninit(blocks as usize)?, uninit(1)?);
    // SAFETY: the kernel reads below the given count, which is the buffer's length, and writes one element a block.
    unsafe {
        launch!(kernel<<<blocks, BLOCK, 0, stream>>>(data, partial, n))?;
        launch!(kernel<<<1, BLOCK, 0, stream>>>(partial, whole, blocks))?;
    }
    Ok(whole.to_vec(stream)?.first().copied())
}

/// Counts the values of bytes.
pub(crate) struct Histogram(Kernel);

impl Histogram {
    /// The number of bins: the values that a byte can have.
    pub(crate) const BINS: usize = 256;

    /// Builds the kernel.
    pub(crate) fn new(device: Device) -> Result<Self> {
        let module = Module::from_source(device, include_str!("../../kernels_cl/histogram.cl"))?;
        Ok(Self(module.kernel("histogram")?))
    }

    /// How often each value occurs.
    pub(crate) fn count(&self, stream: &Stream, data: &DeviceBuffer<u8>) -> Result<DeviceBuffer<u32>> {
        let mut bins = DeviceBuffer::zeroed(stream, Self::BINS)?;
        self.add(stream, data, &mut bins)?;
        Ok(bins)
    }

    /// Adds how often each value occurs to the counts of earlier data.
    pub(crate) fn add(&self, stream: &Stream, data: &DeviceBuffer<u8>, bins: &mut DeviceBuffer<u32>) -> Result<()> {
        if bins.len() != Self::BINS {
            let problem = format!("there are {} bins", Self::BINS);
            return Err(Error::new(ErrorKind::InvalidValue, problem).argument("bins", bins.len()));
        }
        let n = count("data", data.len())?;
        if n == 0 {
            return Ok(());
        }
        let kernel = &self.0;
        // SAFETY: the kernel reads below `n`, the length of `data`, and a byte is a bin's index.
        unsafe { launch!(kernel<<<blocks(stream.device(), n), BLOCK, 0, stream>>>(data, bins, n)) }
    }
}
