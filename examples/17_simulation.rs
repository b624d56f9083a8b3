//! Two simulations at once: stars that attract each other, and heat that spreads through a box, in a stream each.
//!
//! Each step is a launch, hundreds of them are under way before anything is waited for, and places and temperatures go
//! back and forth between two buffers. In the end the middle of the box is looked at through a lens out of focus, a
//! convolution. The kernels and their safe functions are in `kernels/bodies.rs` and `kernels/fields.rs`. Seed
//! chapters: MUSA "内核启动" (launches of several dimensions, shared memory), "流" (streams).
//!
//! ```sh
//! cargo run --release --example 17_simulation -- 1500
//! ```

mod common;
mod kernels;

use gridcl::prelude::*;
use kernels::{Bodies, Convolution, Heat, Matrix, NBody, Volume};
use std::error::Error;
use std::process::ExitCode;

const STAR_STEPS: usize = 60;
const DT: f32 = 0.002;
const SOFTENING: f32 = 0.05;

/// Cells along x, y and z, and what makes a hot one.
const BOX: [u32; 3] = [64, 48, 33];
const HEAT_STEPS: usize = 120;
const RATE: f32 = 0.15;
const HOT: f32 = 1000.0;

fn main() -> ExitCode {
    let stars = common::count("17_simulation [STARS]    (default 1500)", 1500);
    common::end(run(stars))
}

fn run(stars: usize) -> Result<(), Box<dyn Error>> {
    let device = Device::get(0)?;
    println!("{device}: {stars} stars for {STAR_STEPS} steps, {BOX:?} cells for {HEAT_STEPS} steps");
    let (sky, stove) = (device.create_stream()?, device.create_stream()?);

    let (places, velocities) = galaxy(stars);
    let mut bodies = Bodies::new(&sky, &places, &velocities)?;
    let nbody = NBody::new(device)?;
    nbody.run(&sky, &mut bodies, DT, SOFTENING, STAR_STEPS)?;

    let cells = hot_spots();
    let mut volume = Volume::new(&stove, BOX, &cells)?;
    Heat::new(device)?.run(&stove, &mut volume, RATE, HEAT_STEPS)?;
    let cells = volume.cells().to_vec(&stove)?;
    check_heat(&cells)?;
    look(device, &stove, &cells)?;

    let [end_places, end_velocities] = bodies.to_host(&sky)?;
    check_stars((&places, &velocities), (&end_places, &end_velocities))
}

/// Stars in a disc, on their way around its middle.
fn galaxy(stars: usize) -> (Vec<[f32; 4]>, Vec<[f32; 4]>) {
    let place = |i: usize| {
        // Neighbours in number are a golden angle apart, which spreads them evenly.
        let (sine, cosine) = (i as f32 * 2.399_963).sin_cos();
        let radius = ((i as f32 + 0.5) / stars as f32).sqrt();
        [radius * cosine, radius * sine, 0.05 * (i as f32 * 0.7).sin(), 1.0 / stars as f32]
    };
    let places: Vec<[f32; 4]> = (0..stars).map(place).collect();
    let velocities = places.iter().map(|[x, y, ..]| [-0.8 * y, 0.8 * x, 0.0, 0.0]).collect();
    (places, velocities)
}

/// Momentum and energy of all stars, which no pull between them changes.
fn conserved(places: &[[f32; 4]], velocities: &[[f32; 4]]) -> ([f64; 3], f64) {
    let (mut momentum, mut energy) = ([0.0; 3], 0.0);
    for (i, (place, velocity)) in places.iter().zip(velocities).enumerate() {
        let mass = f64::from(place[3]);
        for axis in 0..3 {
            momentum[axis] += mass * f64::from(velocity[axis]);
            energy += 0.5 * mass * f64::from(velocity[axis]).powi(2);
        }
        for other in &places[..i] {
            let away: f64 = (0..3).map(|axis| f64::from(place[axis] - other[axis]).powi(2)).sum();
            energy -= mass * f64::from(other[3]) / (away + f64::from(SOFTENING).powi(2)).sqrt();
        }
    }
    (momentum, energy)
}

type Stars<'a> = (&'a [[f32; 4]], &'a [[f32; 4]]);

fn check_stars(start: Stars<'_>, end: Stars<'_>) -> Result<(), Box<dyn Error>> {
    let ((momentum, energy), (end_momentum, end_energy)) = (conserved(start.0, start.1), conserved(end.0, end.1));
    println!("energy of the stars: {energy:.5} before, {end_energy:.5} after");
    let at_rest = momentum.iter().zip(end_momentum).all(|(before, after)| (before - after).abs() <= 1e-4);
    if at_rest && (energy - end_energy).abs() <= 0.01 * energy.abs() {
        return Ok(());
    }
    Err("the stars gained or lost momentum or energy".into())
}

/// Three hot cells, in a cold box.
fn hot_spots() -> Vec<f32> {
    let [width, height, depth] = BOX.map(|side| side as usize);
    let mut cells = vec![0.0; width * height * depth];
    for [x, y, z] in [[width / 2, height / 2, depth / 2], [width / 3, height / 3, depth / 2], [40, 20, 10]] {
        cells[(z * height + y) * width + x] = HOT;
    }
    cells
}

/// The same on the host.
fn check_heat(cells: &[f32]) -> Result<(), Box<dyn Error>> {
    let [width, height, depth] = BOX.map(|side| side as usize);
    let mut now = hot_spots();
    let mut old = now.clone();
    for _ in 0..HEAT_STEPS {
        std::mem::swap(&mut old, &mut now);
        for z in 1..depth - 1 {
            for y in 1..height - 1 {
                let first = (z * height + y) * width;
                for at in first + 1..first + width - 1 {
                    let around: f32 = [1, width, width * height].map(|by| old[at - by] + old[at + by]).iter().sum();
                    now[at] = old[at] + RATE * (around - 6.0 * old[at]);
                }
            }
        }
    }
    let furthest = cells.iter().zip(&now).fold(0.0f32, |most, (device, host)| most.max((device - host).abs()));
    let hottest = cells.iter().copied().fold(0.0, f32::max);
    println!("the hottest cell has {hottest:.4} degrees; device and host are at most {furthest:.1e} apart");
    // Not a number would pass as no difference.
    if furthest <= 1e-4 * hottest && cells.iter().all(|cell| cell.is_finite()) {
        return Ok(());
    }
    Err("the box is warm in other places than on the host".into())
}

/// Prints the middle slice, seen through a lens out of focus.
fn look(device: Device, stream: &Stream, cells: &[f32]) -> Result<(), Box<dyn Error>> {
    let [width, height, depth] = BOX.map(|side| side as usize);
    let slice = &cells[depth / 2 * width * height..][..width * height];
    let bell = [1.0f32, 4.0, 6.0, 4.0, 1.0].map(|weight| weight / 16.0);
    let lens: Vec<f32> = (0..25).map(|k| bell[k % 5] * bell[k / 5]).collect();
    let picture = Matrix::new(stream, [height, width], slice)?;
    let seen = Convolution::new(device)?.run(stream, &picture, &Matrix::new(stream, [5, 5], &lens)?)?.to_vec(stream)?;
    let brightest = seen.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    for row in seen.chunks(width).step_by(4) {
        let shade = |&value: &f32| char::from(b" .:-=+*#%@"[(9.99 * (value / brightest).clamp(0.0, 1.0)) as usize]);
        println!("  {}", row.iter().step_by(2).map(shade).collect::<String>());
    }
    // A lens moves light and loses none, away from the edges.
    let (before, after) = (slice.iter().sum::<f32>(), seen.iter().sum::<f32>());
    if (before - after).abs() <= 0.01 * before {
        return Ok(());
    }
    Err(format!("the slice has {before} degrees in all, and {after} through the lens").into())
}
