//! Reductions, scans and a histogram: what a river did, from how much its level rose or fell in each hour.
//!
//! A running sum turns changes into levels, reductions find the lowest and the highest, and a histogram with its own
//! running sum tells how many hours were how wet. The two questions have a stream each. The kernels and their safe
//! functions are in `kernels/scan.rs` and `kernels/reduce.rs`. Seed chapters: MUSA "内核启动" (shared memory), "流"
//! (streams).
//!
//! ```sh
//! cargo run --release --example 15_reduce_and_scan -- 1000000
//! ```

mod common;
mod kernels;

use gridcl::prelude::*;
use kernels::{Histogram, Reduction, Scan};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    let hours = common::count("15_reduce_and_scan [HOURS]    (default 1000000)", 1_000_000);
    common::end(run(hours))
}

fn run(hours: usize) -> Result<(), Box<dyn Error>> {
    let device = Device::get(0)?;
    println!("{device}: {hours} hours");
    // Millimetres up or down, and how wet it was, from 0 to 255.
    let changes: Vec<i32> = (0..hours).map(|hour| chance(hour) as i32 % 41 - 20).collect();
    let rain: Vec<u8> = (0..hours).map(|hour| (chance(hour + 7) % 16 * (chance(hour) % 17)) as u8).collect();

    let scan = Scan::<i32>::new(device)?;
    let (levels_of, rain_of) = (device.create_stream()?, device.create_stream()?);
    let changed = DeviceBuffer::from_slice(&levels_of, &changes)?;
    let mut levels = DeviceBuffer::zeroed(&levels_of, hours)?;
    scan.inclusive(&levels_of, &changed, &mut levels)?;

    // Meanwhile: counts by wetness, and how many hours were drier than each.
    let wet = DeviceBuffer::from_slice(&rain_of, &rain)?;
    let counts = Histogram::new(device)?.count(&rain_of, &wet)?;
    let mut drier = DeviceBuffer::zeroed(&rain_of, Histogram::BINS)?;
    Scan::<u32>::new(device)?.exclusive(&rain_of, &counts, &mut drier)?;

    let reduction = Reduction::<i32>::new(device)?;
    let lowest = reduction.min(&levels_of, &levels)?;
    let highest = reduction.max(&levels_of, &levels)?;
    let total = reduction.sum(&levels_of, &changed)?;
    let levels = levels.to_vec(&levels_of)?;
    let (counts, drier) = (counts.to_vec(&rain_of)?, drier.to_vec(&rain_of)?);
    println!("levels from {} to {} mm, {total} mm in the end", lowest.unwrap_or(0), highest.unwrap_or(0));
    println!("{} dry hours, {} with 100 or more", counts[0], hours - drier[100] as usize);

    // The same on the host.
    let mut expected = changes;
    (1..hours).for_each(|hour| expected[hour] += expected[hour - 1]);
    same("levels", &levels, &expected)?;
    same("lowest", &lowest, &expected.iter().min().copied())?;
    same("highest", &highest, &expected.iter().max().copied())?;
    same("total", &Some(total), &expected.last().copied())?;
    let wetter = |least: usize| rain.iter().filter(|&&rain| usize::from(rain) >= least).count() as u32;
    let expected: Vec<u32> = (0..Histogram::BINS).map(|wetness| wetter(wetness) - wetter(wetness + 1)).collect();
    same("counts", &counts, &expected)?;
    let expected: Vec<u32> = (0..Histogram::BINS).map(|wetness| hours as u32 - wetter(wetness)).collect();
    same("drier hours", &drier, &expected)
}

fn same<T: PartialEq>(what: &str, device: &T, host: &T) -> Result<(), Box<dyn Error>> {
    if device == host { Ok(()) } else { Err(format!("{what}: device and host differ").into()) }
}

/// A number below 2^16 that looks like chance and is the same in each run.
fn chance(hour: usize) -> u32 {
    let mixed = (hour as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 48) as u32
}
