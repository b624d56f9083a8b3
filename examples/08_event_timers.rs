//! Events as timers: how long each part of the work took, by the device's own clock.
//!
//! An event recorded before and one after a piece of work tell the time between, without making the host wait in
//! between. Seed chapters: MUSA "事件计时" (timing with events) and TOPS 7.3, there `musaEventElapsedTime` and
//! `topsEventElapsedTime`.
//!
//! ```sh
//! cargo run --release --example 08_event_timers -- 10000000
//! ```

mod common;

use gridcl::prelude::*;
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "08_event_timers [ELEMENTS]    (default 4194304)";

fn main() -> ExitCode {
    common::end(run(common::count(USAGE, 1 << 22)))
}

fn run(n: usize) -> Result<(), Box<dyn Error>> {
    let device = Device::get(0)?;
    let stream = device.create_stream()?;
    let module = Module::from_source(device, include_str!("../kernels_cl/process.cl"))?;
    let process = module.kernel("processKernel")?;
    let mut host = PinnedBuffer::<f32>::new(device, n)?;
    host.write()?.iter_mut().enumerate().for_each(|(i, value)| *value = (i % 4096) as f32);
    let mut data = DeviceBuffer::<f32>::zeroed(&stream, n)?;
    let grid = Dim3::covering(n, 256);

    // Keep out of the times what happens once: a kernel's first launch may still compile it.
    // SAFETY: a count of 0 makes the kernel touch nothing.
    unsafe { launch!(process<<<grid, 256, 0, &stream>>>(data, 0))? };
    stream.synchronize()?;

    let marks: Vec<Event> = (0..4).map(|_| Event::new(device)).collect::<Result<_, _>>()?;
    // The first timed record of a stream changes its queue for one that keeps times; once, so before the clock starts.
    marks[0].record(&stream)?;
    stream.synchronize()?;

    let wall = Instant::now();
    marks[0].record(&stream)?;
    stream.copy(&host, &mut data)?;
    marks[1].record(&stream)?;
    // SAFETY: the kernel stays below `n`, the length of the buffer.
    unsafe { launch!(process<<<grid, 256, 0, &stream>>>(data, n as i32))? };
    marks[2].record(&stream)?;
    stream.copy(&data, &mut host)?;
    marks[3].record(&stream)?;
    marks[3].synchronize()?;
    let wall = wall.elapsed().as_secs_f64() * 1e3;

    for (i, value) in host.read()?.iter().enumerate() {
        let expected = (i % 4096) as f32 * 2.0 + 1.0;
        if *value != expected {
            return Err(format!("element {i}: {expected} expected, the device says {value}").into());
        }
    }

    let gigabytes = (n * size_of::<f32>()) as f64 * 1e-9;
    // The kernel reads and writes each element.
    for (i, (what, moved)) in [("to the device", 1.0), ("kernel", 2.0), ("back", 1.0)].iter().enumerate() {
        let ms = f64::from(marks[i + 1].elapsed_since(&marks[i])?);
        if ms <= 0.0 {
            return Err(format!("{what}: {ms} ms by events").into());
        }
        println!("{what:<14} {ms:>9.3} ms {:>8.1} GB/s", gigabytes * moved / (ms * 1e-3));
    }
    let total = f64::from(marks[3].elapsed_since(&marks[0])?);
    println!("{:<14} {total:>9.3} ms, {wall:.3} ms by the host's clock", "together");
    if total > wall * 1.05 + 1.0 {
        return Err("the events say that it took longer than the host waited".into());
    }
    Ok(())
}
