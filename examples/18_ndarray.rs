//! NumPy-like arrays on the device: `ndarray` on the host, `bytemuck` for structs, `half` for 16-bit floats.
//!
//! Anything that lies in memory as plain data goes to the device and back: an `ndarray` as the slice behind it, a struct
//! that is `Pod` as it is, `half::f16` as OpenCL's `half` (feature `half`; here through its bits, so that the example
//! runs without). Seed chapter: MUSA "内核启动" (kernel launch).
//!
//! ```sh
//! cargo run --release --example 18_ndarray -- 512
//! ```

mod common;

use bytemuck::{Pod, Zeroable};
use gridcl::prelude::*;
use half::f16;
use ndarray::{Array2, Axis, s};
use std::error::Error;
use std::process::ExitCode;

const KERNELS: &str = "
    typedef struct { float scale, shift; uint columns; uint rows; } pass;

    // Each row is scaled, shifted, and kept in 16 bits beside its 32-bit sum.
    __kernel void squeeze(__global const float *from, __global half *to, __global float *sums, pass how) {
        const uint row = get_global_id(0);
        if (row >= how.rows) return;
        float sum = 0;
        for (uint i = 0; i < how.columns; i++) {
            const float value = from[row * how.columns + i] * how.scale + how.shift;
            vstore_half_rte(value, row * how.columns + i, to);
            sum += value;
        }
        sums[row] = sum;
    }";

/// The kernel's structure: as C lays it out, and without padding.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Step {
    scale: f32,
    shift: f32,
    columns: u32,
    rows: u32,
}

fn main() -> ExitCode {
    let rows = common::count("18_ndarray [ROWS]    (default 256)", 256);
    common::end(run(rows))
}

fn run(rows: usize) -> Result<(), Box<dyn Error>> {
    let columns = 100;
    let matrix = Array2::from_shape_fn((rows, columns), |(row, column)| (row % 7) as f32 + column as f32 / 64.0);

    let device = Device::get(0)?;
    let stream = device.create_stream()?;
    let module = Module::from_source(device, KERNELS)?;
    let squeeze = module.kernel("squeeze")?;

    // The array's elements in order; a view with steps between them has none, and `as_standard_layout` makes some.
    let from = DeviceBuffer::from_slice(&stream, matrix.as_slice().ok_or("the matrix is in order")?)?;
    let halves = DeviceBuffer::<u16>::zeroed(&stream, matrix.len())?;
    let sums = DeviceBuffer::<f32>::zeroed(&stream, rows)?;
    let step = Step { scale: 0.5, shift: 1.0, columns: columns as u32, rows: rows as u32 };
    // SAFETY: a work item a row, and each stays within its row of buffers of that size.
    unsafe { launch!(squeeze<<<Dim3::covering(rows, 64), 64, 0, &stream>>>(from, halves, sums, step))? };

    // Back into arrays: the bits are those of `f16`, which has the same layout.
    let bits = halves.to_vec(&stream)?;
    let squeezed = Array2::from_shape_vec((rows, columns), bytemuck::cast_slice::<u16, f16>(&bits).to_vec())?;
    let sums = ndarray::Array1::from_vec(sums.to_vec(&stream)?);

    let expected = &matrix * step.scale + step.shift;
    let off = |(left, right): (&f16, &f32)| (left.to_f32() - right).abs();
    let worst = squeezed.iter().zip(&expected).map(off).fold(0.0, f32::max);
    if worst > 4.0e-3 {
        return Err(format!("16 bits hold the values to 0.002, not to {worst}").into());
    }
    let difference =
        (&sums - &expected.sum_axis(Axis(1))).mapv(f32::abs).fold(0.0, |most: f32, value| most.max(*value));
    if difference > 1.0e-2 {
        return Err(format!("the sums of rows are off by {difference}").into());
    }
    println!("{rows} x {columns} values, the first of the second row: {}", squeezed.slice(s![1.min(rows - 1), ..4]));
    Ok(())
}
