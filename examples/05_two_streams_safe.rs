//! The two timed streams again, in the safe API: what a new Rust program looks like.
//!
//! The same work as in the fourth example, beside which this one is best read. Memory has a type and an owner, halves
//! are slices, nothing is freed by hand, and no pointer can outlive what it points at. One thing stays unsafe: the
//! launch, because nobody can check what a kernel does. Seed chapters: TOPS 7.2 (streams) and 7.3 (events).
//!
//! ```sh
//! cargo run --release --example 05_two_streams_safe -- 1024000
//! ```

mod common;

use gridcl::prelude::*;
use std::error::Error;
use std::process::ExitCode;

const USAGE: &str = "05_two_streams_safe [ELEMENTS]    (of each stream, default 51200)
On a device without shared virtual memory (GRIDCL_MEMORY=buffer) the second stream's half has to start at an aligned
address: use multiples of 1024 there.";

fn main() -> ExitCode {
    common::end(run(common::count(USAGE, 100 * 512)))
}

fn run(size: usize) -> Result<(), Box<dyn Error>> {
    let device = Device::get(0)?;
    let module = Module::from_source(device, include_str!("../kernels_cl/square.cl"))?;
    let my_kernel = module.kernel("myKernel")?;
    // The document's shape, <<<100, 512>>>, where the device can run blocks of 512.
    let (grid, block) = (100, 512.min(device.max_block_size() as u32));

    let streams = [device.create_stream()?, device.create_stream()?];
    let default = device.default_stream()?;
    let (start, stop) = (Event::new(device)?, Event::new(device)?);

    // Pinned memory is reached through guards, which wait until copies are done with it.
    let mut host = PinnedBuffer::<f32>::new(device, 2 * size)?;
    for (i, value) in host.write()?.iter_mut().enumerate() {
        *value = (i % 1000) as f32;
    }
    let expected: Vec<f32> = host.read()?.iter().map(|x| x * x).collect();

    let mut input = DeviceBuffer::<f32>::zeroed(&default, 2 * size)?;
    let mut output = DeviceBuffer::<f32>::zeroed(&default, 2 * size)?;
    let half = |i: usize| i * size..(i + 1) * size;

    // Keep out of the time what happens once: the first launch of a kernel may still compile it. This one is of no
    // elements. (The memory was touched when it was zeroed.)
    // SAFETY: the kernel touches nothing.
    unsafe { launch!(my_kernel<<<grid, block, 0, &streams[0]>>>(output, input, 0))? };

    start.record(&default)?;
    for (i, stream) in streams.iter().enumerate() {
        stream.copy(host.slice(half(i)), input.slice_mut(half(i)))?;
    }
    for (i, stream) in streams.iter().enumerate() {
        // SAFETY: the kernel reads and writes the first `size` elements of slices that are as long, and the streams'
        // slices have none in common.
        unsafe {
            launch!(my_kernel<<<grid, block, 0, stream>>>(
                output.slice_mut(half(i)), input.slice(half(i)), size as i32
            ))?;
        }
    }
    for (i, stream) in streams.iter().enumerate() {
        stream.copy(output.slice(half(i)), host.slice_mut(half(i)))?;
    }
    stop.record(&default)?;
    stop.synchronize()?;

    for (i, (value, expected)) in host.read()?.iter().zip(&expected).enumerate() {
        if value != expected {
            return Err(format!("element {i}: {expected} expected, the device says {value}").into());
        }
    }
    let elapsed = stop.elapsed_since(&start)?;
    println!("{size} elements in each of 2 streams, <<<{grid}, {block}>>>: all {} are right", 2 * size);
    println!("{elapsed:.3} ms from the first copy to the last, by events");
    if elapsed <= 0.0 {
        return Err("copies and kernels cannot have taken no time".into());
    }
    Ok(())
}
