//! `gridcl latency`: what single calls cost.

use crate::Outcome;
use crate::measure::{percentile, samples};
use crate::table::{Table, print, time};
use gridcl::{Device, DeviceBuffer, Event, EventFlags, Module, PinnedBuffer, Stream};
use serde_json::json;
use std::process::ExitCode;

/// Measure what launches, synchronisations, events, small copies and allocations cost
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    device: crate::DeviceOption,
    /// How often each is done
    #[arg(long, value_name = "COUNT", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    repeat: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const KERNEL: &str = "__kernel void nothing(__global int *x) { if (get_global_id(0) > 0x7fffff) x[0] = 1; }";

pub(crate) fn run(options: &Options) -> Outcome {
    let device = options.device.get()?;
    let all = measure_all(device, options.repeat as usize)?;
    let figures = all.iter().map(|(what, samples)| {
        let at = |part| percentile(samples.clone(), part);
        (*what, [at(0.0), at(0.5), at(0.99)])
    });
    if options.json {
        let list: Vec<_> = figures
            .map(|(what, [least, median, most])| {
                json!({ "what": what, "min_ns": least, "median_ns": median, "p99_ns": most })
            })
            .collect();
        let device = json!({ "ordinal": device.ordinal(), "name": device.name(), "driver": device.driver_version() });
        print(&format!("{:#}\n", json!({ "device": device, "repeat": options.repeat, "calls": list })))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(&["what", "min", "median", "99 %"], 1);
    for (what, values) in figures {
        table.row([what.to_owned()].into_iter().chain(values.map(time)));
    }
    print(&format!("{device}, {}, {} times each\n\n{}", device.platform(), options.repeat, table.text()))?;
    Ok(ExitCode::SUCCESS)
}

type Samples = Vec<(&'static str, Vec<f64>)>;

fn measure_all(device: Device, count: usize) -> gridcl::Result<Samples> {
    let stream = device.create_stream()?;
    let mut all = of_launches(device, &stream, count)?;
    all.extend(of_events(device, &stream, count)?);
    all.extend(of_copies(device, &stream, count)?);
    all.extend(of_memory(device, count)?);
    Ok(all)
}

fn of_launches(device: Device, stream: &Stream, count: usize) -> gridcl::Result<Samples> {
    let module = Module::from_source(device, KERNEL)?;
    let kernel = module.kernel("nothing")?;
    let x = DeviceBuffer::<i32>::zeroed(stream, 1)?;
    // SAFETY: one work item, which writes nothing.
    let launch = || unsafe { kernel.launch(1, 1).stream(stream).arg(&x).run() };
    let settle = || stream.synchronize();
    Ok(vec![
        ("launch", samples(count, launch, settle)?),
        ("launch and synchronise", samples(count, || launch().and_then(|()| settle()), || Ok(()))?),
        ("synchronise an idle stream", samples(count, settle, || Ok(()))?),
    ])
}

fn of_events(device: Device, stream: &Stream, count: usize) -> gridcl::Result<Samples> {
    // A stream keeps times from its first timed record on, so the one without comes first.
    let plain = Event::with_flags(device, EventFlags::DISABLE_TIMING)?;
    let timed = Event::new(device)?;
    let other = device.create_stream()?;
    let settle = || stream.synchronize();
    Ok(vec![
        ("record an event without time", samples(count, || plain.record(stream), settle)?),
        ("wait for it in another stream", samples(count, || other.wait_event(&plain), || other.synchronize())?),
        ("record an event with time", samples(count, || timed.record(stream), settle)?),
    ])
}

fn of_copies(device: Device, stream: &Stream, count: usize) -> gridcl::Result<Samples> {
    let mut there = DeviceBuffer::<u8>::zeroed(stream, 64)?;
    let mut host = [0_u8; 64];
    let mut pinned = PinnedBuffer::<u8>::new(device, 64)?;
    let settle = || stream.synchronize();
    let up = samples(count, || stream.upload(&host, &mut there).and_then(|()| settle()), || Ok(()))?;
    let down = samples(count, || stream.download(&there, &mut host), || Ok(()))?;
    let from = samples(count, || stream.copy(&there, &mut pinned), settle)?;
    Ok(vec![
        ("copy 64 bytes to the device and synchronise", up),
        ("copy 64 bytes to ordinary memory", down),
        ("copy 64 bytes to pinned memory, asynchronously", from),
    ])
}

fn of_memory(device: Device, count: usize) -> gridcl::Result<Samples> {
    let take = |bytes: usize| {
        // SAFETY: nothing reads it.
        move || unsafe { DeviceBuffer::<u8>::uninit(device, bytes) }.map(drop)
    };
    Ok(vec![
        ("allocate and free 4 KiB", samples(count, take(4 << 10), || Ok(()))?),
        ("allocate and free 1 MiB", samples(count, take(1 << 20), || Ok(()))?),
        ("create and drop a stream", samples(count, || device.create_stream().map(drop), || Ok(()))?),
    ])
}
