//! Linear algebra: finds the weights behind noisy measurements, by least squares and gradient descent on the device.
//!
//! Kernels that belong together are wrapped once (`kernels/linear.rs`) so that the program calls plain safe functions:
//! products, transposition, sums, `a * x + y`. Everything stays in device memory from step to step, and the host waits
//! once, at the end. Seed chapters: MUSA "内核启动" (launches), "内存管理" (memory).
//!
//! ```sh
//! cargo run --release --example 14_linear_algebra -- 20000
//! ```

mod common;
mod kernels;

use gridcl::prelude::*;
use kernels::{Linear, Matrix};
use std::error::Error;
use std::process::ExitCode;

/// Weights to find.
const WEIGHTS: usize = 24;
const STEPS: usize = 60;

fn main() -> ExitCode {
    let n = common::count("14_linear_algebra [MEASUREMENTS]    (default 20000)", 20_000);
    common::end(run(n))
}

fn run(n: usize) -> Result<(), Box<dyn Error>> {
    if n < 10 * WEIGHTS {
        return Err(format!("{n} measurements do not tell {WEIGHTS} weights; give {} or more", 10 * WEIGHTS).into());
    }
    let device = Device::get(0)?;
    let stream = device.create_stream()?;
    let linear = Linear::new(device)?;
    println!("{device}: {n} measurements, {WEIGHTS} weights, {STEPS} steps");

    // What is measured is x * weights + noise.
    let mut noise = numbers(1);
    let x: Vec<f32> = noise.by_ref().take(n * WEIGHTS).collect();
    let truth: Vec<f32> = (0..WEIGHTS).map(|i| (i as f32 - 10.0) / 4.0).collect();
    let errors: Vec<f32> = noise.map(|error| 0.01 * error).take(n).collect();

    let (start, end) = (Event::new(device)?, Event::new(device)?);
    start.record(&stream)?;
    let matrix = Matrix::new(&stream, [n, WEIGHTS], &x)?;
    let exact = linear.product(&stream, &matrix, &Matrix::new(&stream, [WEIGHTS, 1], &truth)?)?;
    let errors = DeviceBuffer::from_slice(&stream, &errors)?;
    let mut measured = DeviceBuffer::zeroed(&stream, n)?;
    linear.add(&stream, exact.elements(), &errors, &mut measured)?;

    // Downhill: weights -= rate * transposed * (matrix * weights - measured). Numbers from -1 to 1 have a mean square
    // of 1/3, which makes n/3 the slope's slope; a little less than its inverse is a safe rate.
    let transposed = linear.transpose(&stream, &matrix)?;
    let mut weights = Matrix::new(&stream, [WEIGHTS, 1], &[0.0; WEIGHTS])?;
    let rate = 2.0 / n as f32;
    for _ in 0..STEPS {
        let mut residual = linear.product(&stream, &matrix, &weights)?;
        linear.saxpy(&stream, -1.0, &measured, residual.elements_mut())?;
        let slope = linear.product(&stream, &transposed, &residual)?;
        linear.saxpy(&stream, -rate, slope.elements(), weights.elements_mut())?;
    }
    end.record(&stream)?;
    let weights = weights.to_vec(&stream)?;
    println!("found in {:.2} ms, kernels compiled on the way", end.elapsed_since(&start)?);

    check(&x, &measured.to_vec(&stream)?, &weights, &truth)
}

/// At the best fit what is left over stands at a right angle on each column, whatever way led there.
fn check(x: &[f32], measured: &[f32], weights: &[f32], truth: &[f32]) -> Result<(), Box<dyn Error>> {
    let mut slope = [0.0f64; WEIGHTS];
    for (row, &measured) in x.chunks(WEIGHTS).zip(measured) {
        let product: f64 = row.iter().zip(weights).map(|(&x, &weight)| f64::from(x) * f64::from(weight)).sum();
        let left_over = product - f64::from(measured);
        row.iter().zip(&mut slope).for_each(|(&x, slope)| *slope += f64::from(x) * left_over);
    }
    let steepest = slope.iter().fold(0.0f64, |most, slope| most.max(slope.abs())) / measured.len() as f64;
    let furthest = weights.iter().zip(truth).fold(0.0f32, |most, (found, truth)| most.max((found - truth).abs()));
    println!("slope at the end {steepest:.2e}, weights at most {furthest:.2e} from the truth");
    // Not a number would pass as no difference.
    if steepest <= 1e-4 && furthest <= 0.02 && weights.iter().all(|weight| weight.is_finite()) {
        return Ok(());
    }
    Err("the weights are not the best ones".into())
}

/// Numbers from -1 to 1 that look like chance and are the same in each run.
fn numbers(seed: u64) -> impl Iterator<Item = f32> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    })
}
