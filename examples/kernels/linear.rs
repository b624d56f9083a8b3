//! Vectors and matrices: `vector_add.cl`, `saxpy.cl`, `matmul.cl`, `transpose.cl`.

use super::{BLOCK, Matrix, count, same_length};
use gridcl::prelude::*;
use gridcl::{Error, ErrorKind, Result};

/// The sides of the tiles that `matmul.cl` and `transpose.cl` work on, and the rows of a block of the latter.
const PRODUCT_TILE: u32 = 16;
const TRANSPOSE_TILE: u32 = 32;
const TRANSPOSE_STEP: u32 = 8;

/// Vector and matrix kernels, built for a device.
pub(crate) struct Linear {
    add: Kernel,
    saxpy: Kernel,
    product: Kernel,
    transpose: Kernel,
}

impl Linear {
    /// Builds the kernels.
    pub(crate) fn new(device: Device) -> Result<Self> {
        let build = |source, options: &str| Module::with_options(device, source, options);
        let product = format!("-DTILE={PRODUCT_TILE}");
        let transpose = format!("-DTILE={TRANSPOSE_TILE} -DSTEP={TRANSPOSE_STEP}");
        Ok(Self {
            add: build(include_str!("../../kernels_cl/vector_add.cl"), "")?.kernel("vectorAdd")?,
            saxpy: build(include_str!("../../kernels_cl/saxpy.cl"), "")?.kernel("saxpy")?,
            product: build(include_str!("../../kernels_cl/matmul.cl"), &product)?.kernel("matmul")?,
            transpose: build(include_str!("../../kernels_cl/transpose.cl"), &transpose)?.kernel("transpose")?,
        })
    }

    /// `sum = a + b`.
    pub(crate) fn add(
        &self,
        stream: &Stream,
        a: &DeviceBuffer<f32>,
        b: &DeviceBuffer<f32>,
        sum: &mut DeviceBuffer<f32>,
    ) -> Result<()> {
        let n = count("a", a.len())?;
        same_length("b", b.len(), a.len())?;
        same_length("sum", sum.len(), a.len())?;
        if n == 0 {
            return Ok(());
        }
        let add = &self.add;
        // SAFETY: the kernel stays below `n`, the length of all three.
        unsafe { launch!(add<<<Dim3::covering(a.len(), BLOCK), BLOCK, 0, stream>>>(a, b, sum, n)) }
    }

    /// `y += factor * x`.
    pub(crate) fn saxpy(
        &self,
        stream: &Stream,
        factor: f32,
        x: &DeviceBuffer<f32>,
        y: &mut DeviceBuffer<f32>,
    ) -> Result<()> {
        let n = count("x", x.len())?;
        same_length("y", y.len(), x.len())?;
        if n == 0 {
            return Ok(());
        }
        let saxpy = &self.saxpy;
        // SAFETY: the kernel stays below `n`, the length of both.
        unsafe { launch!(saxpy<<<Dim3::covering(x.len(), BLOCK), BLOCK, 0, stream>>>(n, factor, x, y)) }
    }

    /// The product of two matrices.
    pub(crate) fn product(&self, stream: &Stream, a: &Matrix, b: &Matrix) -> Result<Matrix> {
        if a.columns != b.rows {
            let problem = format!("the left matrix has {} columns", a.columns);
            return Err(Error::new(ErrorKind::InvalidValue, problem).argument("b", format_args!("{} rows", b.rows)));
        }
        let (rows, inner, columns) = (a.rows, a.columns, b.columns);
        // SAFETY: the kernel writes every element.
        let c = unsafe { Matrix::uninit(stream, [rows, columns]) }?;
        if c.elements.is_empty() {
            return Ok(c);
        }
        let product = &self.product;
        let grid = (columns.div_ceil(PRODUCT_TILE), rows.div_ceil(PRODUCT_TILE));
        let block = (PRODUCT_TILE, PRODUCT_TILE);
        // SAFETY: the matrices have these shapes, and the kernel stays within them.
        unsafe {
            launch!(product<<<grid, block, 0, stream>>>(a.elements, b.elements, c.elements, rows, inner, columns))?;
        }
        Ok(c)
    }

    /// The matrix whose rows are the columns of this one.
    pub(crate) fn transpose(&self, stream: &Stream, from: &Matrix) -> Result<Matrix> {
        let (rows, columns) = (from.rows, from.columns);
        // SAFETY: the kernel writes every element.
        let to = unsafe { Matrix::uninit(stream, [columns, rows]) }?;
        if to.elements.is_empty() {
            return Ok(to);
        }
        let transpose = &self.transpose;
        let grid = (columns.div_ceil(TRANSPOSE_TILE), rows.div_ceil(TRANSPOSE_TILE));
        let block = (TRANSPOSE_TILE, TRANSPOSE_STEP);
        // SAFETY: as many elements on both sides, and the kernel stays within them.
        unsafe { launch!(transpose<<<grid, block, 0, stream>>>(from.elements, to.elements, rows, columns))? };
        Ok(to)
    }
}
