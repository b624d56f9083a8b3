//! Values on grids: `convolve.cl`, `stencil.cl`.

use super::{Matrix, count};
use gridcl::prelude::*;
use gridcl::{Error, ErrorKind, Result};

/// The side of the blocks of `convolve.cl`.
const SIDE: u32 = 16;
/// The blocks of `stencil.cl`: wide, since neighbours along x are neighbours in memory.
const CELLS: Dim3 = Dim3::new(32, 4, 2);

/// Convolves pictures with filters.
pub(crate) struct Convolution(Kernel);

impl Convolution {
    /// Builds the kernel.
    pub(crate) fn new(device: Device) -> Result<Self> {
        let source = include_str!("../../kernels_cl/convolve.cl");
        let module = Module::with_options(device, source, &format!("-DBLOCK={SIDE}"))?;
        Ok(Self(module.kernel("convolve")?))
    }

    /// The convolution of `picture` with `filter`, whose sides are odd. Beyond its edges the picture goes on with its
    /// outermost elements. The filter's size is limited by the device's local memory, and the launch says so.
    pub(crate) fn run(&self, stream: &Stream, picture: &Matrix, filter: &Matrix) -> Result<Matrix> {
        let (width, height) = (picture.columns, picture.rows);
        if filter.columns.is_multiple_of(2) || filter.rows.is_multiple_of(2) {
            return Err(Error::new(ErrorKind::InvalidValue, "a filter has odd sides")
                .argument("filter", format_args!("{} rows of {}", filter.rows, filter.columns)));
        }
        // SAFETY: the kernel writes every element.
        let to = unsafe { Matrix::uninit(stream, [height, width]) }?;
        if to.elements.is_empty() {
            return Ok(to);
        }
        let kernel = &self.0;
        let grid = (width.div_ceil(SIDE), height.div_ceil(SIDE));
        let side = |filter: u32| (SIDE + filter - 1) as usize;
        let shared = (side(filter.columns)).saturating_mul(side(filter.rows)).saturating_mul(size_of::<f32>());
        // SAFETY: the buffers have these shapes, and the local memory has room for a block with its border.
        unsafe {
            launch!(kernel<<<grid, (SIDE, SIDE), shared, stream>>>(
                picture.elements, to.elements, width, height, filter.elements, filter.columns, filter.rows
            ))?;
        }
        Ok(to)
    }
}

/// A box of values: `width` along x, which varies fastest, `height` along y, `depth` along z.
pub(crate) struct Volume {
    cells: DeviceBuffer<f32>,
    size: [u32; 3],
}

impl Volume {
    /// A copy of `cells`.
    pub(crate) fn new(stream: &Stream, size: [u32; 3], cells: &[f32]) -> Result<Self> {
        let wanted = size.iter().try_fold(1usize, |product, &side| product.checked_mul(side as usize));
        if wanted != Some(cells.len()) {
            let problem = format!("{} cells do not fill a box of {size:?}", cells.len());
            return Err(Error::new(ErrorKind::InvalidValue, problem));
        }
        count("cells", cells.len())?;
        Ok(Self { cells: DeviceBuffer::from_slice(stream, cells)?, size })
    }

    /// Its cells, x fastest.
    pub(crate) fn cells(&self) -> &DeviceBuffer<f32> {
        &self.cells
    }
}

/// Heat that spreads through a box.
pub(crate) struct Heat(Kernel);

impl Heat {
    /// Builds the kernel.
    pub(crate) fn new(device: Device) -> Result<Self> {
        let module = Module::from_source(device, include_str!("../../kernels_cl/stencil.cl"))?;
        Ok(Self(module.kernel("heat_step")?))
    }

    /// Lets heat spread for `steps` steps, at a `rate` from 0 to 1/6. The surface keeps its temperature.
    pub(crate) fn run(&self, stream: &Stream, volume: &mut Volume, rate: f32, steps: usize) -> Result<()> {
        if !(0.0..=1.0 / 6.0).contains(&rate) {
            return Err(
                Error::new(ErrorKind::InvalidValue, "beyond 0 to 1/6 the result swings up").argument("rate", rate)
            );
        }
        if volume.cells.is_empty() || steps == 0 {
            return Ok(());
        }
        let kernel = &self.0;
        let [width, height, depth] = volume.size;
        let grid = (width.div_ceil(CELLS.x), height.div_ceil(CELLS.y), depth.div_ceil(CELLS.z));
        // SAFETY: a step writes every cell before the next reads it.
        let mut other = unsafe { DeviceBuffer::<f32>::uninit(stream.device(), volume.cells.len()) }?;
        for _ in 0..steps {
            // SAFETY: both have a cell for each place of the box.
            unsafe {
                launch!(kernel<<<grid, CELLS, 0, stream>>>(volume.cells, other, width, height, depth, rate))?;
            }
            std::mem::swap(&mut volume.cells, &mut other);
        }
        Ok(())
    }
}
