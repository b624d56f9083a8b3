//! Sorting: puts measurements in the order of their station, and within a station in the order of their time.
//!
//! The radix sort (`kernels/sort.rs`) is stable: equal keys keep their order. So a sort by the lesser key and then one
//! by the greater make an order by both. What is sorted along with the keys are the measurements' numbers; a small
//! kernel fetches the next keys by them, without a way over the host. Seed chapters: MUSA "内核启动" (launches),
//! "事件" (events).
//!
//! ```sh
//! cargo run --release --example 16_sort -- 1000000
//! ```

mod common;
mod kernels;

use gridcl::prelude::*;
use kernels::{BLOCK, RadixSort};
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

const STATIONS: u32 = 500;

const GATHER: &str = "
__kernel void gather(__global const uint *from, __global const uint *index, __global uint *to, uint n)
{
    const uint i = (uint)get_group_id(0) * (uint)get_local_size(0) + (uint)get_local_id(0);
    if (i < n)
        to[i] = from[index[i]];
}";

fn main() -> ExitCode {
    let n = common::count("16_sort [MEASUREMENTS]    (default 1000000)", 1_000_000);
    common::end(run(n))
}

fn run(n: usize) -> Result<(), Box<dyn Error>> {
    let device = Device::get(0)?;
    let stream = device.create_stream()?;
    let sort = RadixSort::new(device)?;
    let gather = Module::from_source(device, GATHER)?.kernel("gather")?;
    println!("{device}: {n} measurements of {STATIONS} stations");

    let times: Vec<u32> = (0..n as u32).map(|i| chance(i) >> 8).collect();
    let stations: Vec<u32> = (0..n as u32).map(|i| chance(!i) % STATIONS).collect();
    let numbers: Vec<u32> = (0..n as u32).collect();

    let by_time = DeviceBuffer::from_slice(&stream, &times)?;
    let station_of = DeviceBuffer::from_slice(&stream, &stations)?;
    let (start, end) = (Event::new(device)?, Event::new(device)?);
    let sorted = |mut keys: DeviceBuffer<u32>| -> gridcl::Result<(DeviceBuffer<u32>, DeviceBuffer<u32>)> {
        let mut order = DeviceBuffer::from_slice(&stream, &numbers)?;
        start.record(&stream)?;
        sort.sort(&stream, &mut keys, &mut order)?;
        let mut by_station = DeviceBuffer::zeroed(&stream, n)?;
        // SAFETY: all have `n` elements, and `order` holds each number below `n` once.
        unsafe {
            launch!(gather<<<Dim3::covering(n, BLOCK), BLOCK, 0, &stream>>>(station_of, order, by_station, n as u32))?;
        }
        sort.sort(&stream, &mut by_station, &mut order)?;
        end.record(&stream)?;
        Ok((by_station, order))
    };
    let (keys, order) = sorted(by_time)?;
    let (keys, order) = (keys.to_vec(&stream)?, order.to_vec(&stream)?);
    println!("sorted on the device in {:.2} ms, kernels compiled on the way", end.elapsed_since(&start)?);

    let clock = Instant::now();
    let mut expected = numbers.clone();
    expected.sort_by_key(|&i| (stations[i as usize], times[i as usize]));
    println!("sorted on the host in {:.2} ms", clock.elapsed().as_secs_f64() * 1000.0);
    if order != expected {
        return Err("device and host differ in the order".into());
    }
    if keys.iter().zip(&expected).any(|(&key, &i)| key != stations[i as usize]) {
        return Err("the stations did not come along".into());
    }
    if let (Some(&first), Some(&last)) = (order.first(), order.last()) {
        let [first, last] = [first, last].map(|i| (stations[i as usize], times[i as usize]));
        println!("from station {} at {} to station {} at {}", first.0, first.1, last.0, last.1);
    }
    Ok(())
}

/// A number that looks like chance and is the same in each run.
fn chance(i: u32) -> u32 {
    let mixed = (u64::from(i) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as u32
}
