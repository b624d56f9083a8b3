//! Callbacks: the host takes part in a stream.
//!
//! Batches go through one stream, and after each a callback looks at what came back while the device is busy with the
//! next one's neighbour in another stream. A callback stands in its stream like any other work: it runs once, in
//! order, and what comes later waits until it has returned. It must not call the runtime; it hands what it found to
//! the main thread. Seed chapter: MUSA "流回调" (stream callbacks), there `musaStreamAddCallback`.
//!
//! ```sh
//! cargo run --release --example 07_callbacks -- 100000
//! ```

mod common;

use gridcl::prelude::*;
use std::error::Error;
use std::process::ExitCode;
use std::sync::mpsc;

const USAGE: &str = "07_callbacks [ELEMENTS]    (of each batch, default 4096)";
const BATCHES: usize = 8;

/// What a callback tells the main thread.
struct Report {
    batch: usize,
    status: Result<(), gridcl::Error>,
}

fn main() -> ExitCode {
    common::end(run(common::count(USAGE, 4096)))
}

fn run(n: usize) -> Result<(), Box<dyn Error>> {
    let device = Device::get(0)?;
    let module = Module::from_source(device, include_str!("../kernels_cl/process.cl"))?;
    let process = module.kernel("processKernel")?;
    // Two lanes: while one batch is looked at, the other lane's is on its way.
    let lanes = [device.create_stream()?, device.create_stream()?];
    let mut host: Vec<PinnedBuffer<f32>> = Vec::new();
    let (sender, reports) = mpsc::channel();

    for batch in 0..BATCHES {
        let stream = &lanes[batch % lanes.len()];
        let mut values = PinnedBuffer::new(device, n)?;
        values.write()?.iter_mut().enumerate().for_each(|(i, value)| *value = (batch * n + i) as f32);
        let mut data = DeviceBuffer::zeroed(stream, n)?;
        stream.copy(&values, &mut data)?;
        // SAFETY: the kernel stays below `n`, the length of the buffer.
        unsafe { launch!(process<<<Dim3::covering(n, 64), 64, 0, stream>>>(data, n as i32))? };
        stream.copy(&data, &mut values)?;

        let sender = sender.clone();
        stream.launch_host_fn(move |status| {
            // The receiver is there until the last report came.
            let _ = sender.send(Report { batch, status });
        })?;
        // `data` goes here; its memory is reused when the stream is done with it.
        host.push(values);
    }
    drop(sender);

    let mut last = [None; 2];
    let mut seen = 0;
    for Report { batch, status } in reports {
        status?;
        let lane = &mut last[batch % lanes.len()];
        if lane.is_some_and(|before| before > batch) {
            return Err(format!("the callback of batch {batch} came after a later one of its stream").into());
        }
        *lane = Some(batch);
        for (i, value) in host[batch].read()?.iter().enumerate() {
            let expected = (batch * n + i) as f32 * 2.0 + 1.0;
            if *value != expected {
                return Err(format!("batch {batch}, element {i}: {expected} expected, the device says {value}").into());
            }
        }
        println!("batch {batch} of stream {} is right", batch % lanes.len());
        seen += 1;
    }
    if seen != BATCHES {
        return Err(format!("{BATCHES} callbacks expected, {seen} came").into());
    }
    println!("{BATCHES} batches of {n} elements, each reported once and in order");
    Ok(())
}
