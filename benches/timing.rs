//! How true the times of events are: a kernel of known length between two timed records, beside the host's clock and
//! beside the driver's own times of the same kernel in plain OpenCL.
//!
//! Prints two tables, which `README.md` here explains. Nothing fails for being late.

#![allow(clippy::panic, reason = "a benchmark that cannot run says so by ending")]

mod raw;

use gridcl::launch;
use gridcl::prelude::*;
use raw::{Form, Raw, RawKernel};
use std::time::Instant;

/// One work item that takes as long as it is told.
const SOURCE: &str = "
    __kernel void spin(__global uint *out, uint turns) {
        uint x = 1;
        for (uint turn = 0; turn < turns; turn++) {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
        }
        // Never so, which the compiler does not know.
        if (x == 0) out[0] = 1;
    }";

/// Lengths of the kernel, in microseconds.
const LENGTHS: [f64; 4] = [100.0, 1e3, 1e4, 1e5];
/// Runs of each length.
const RUNS: usize = 25;
/// Pairs of records with nothing between them.
const PAIRS: usize = 2000;

fn main() {
    // Whoever asks for one of the other benchmark's rows by name does not ask for this.
    if std::env::args().skip(1).any(|argument| !argument.starts_with('-') && !"timing".contains(&argument)) {
        return;
    }
    let device = Device::get(0).unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(1);
    });
    let timing = Timing::of(device);
    println!("times of events on {device}");
    println!("{}, driver {}\n", device.platform(), device.driver_version());
    timing.kernels();
    timing.pairs();
}

/// The kernel on both sides, and what is recorded around it.
struct Timing {
    stream: Stream,
    kernel: Kernel,
    memory: DeviceBuffer<u32>,
    start: Event,
    stop: Event,
    raw: Raw,
    raw_kernel: RawKernel,
}

/// What one run of the kernel took, in microseconds.
#[derive(Clone, Copy)]
struct Run {
    /// From start to end of the kernel in plain OpenCL, by the driver's times.
    kernel: f64,
    /// Between the markers around it in plain OpenCL.
    markers: f64,
    /// Between gridcl's events around another run of it.
    events: f64,
    /// From before the first record to after the wait, by the host's clock, in that run.
    host: f64,
}

impl Timing {
    fn of(device: Device) -> Self {
        let stream = device.create_stream().expect("a stream");
        let module = Module::from_source(device, SOURCE).expect("the kernel");
        let raw = Raw::open_profiling(device.platform(), device.name());
        let raw_kernel = raw.kernel(SOURCE, "spin");
        raw_kernel.set_block(0, &raw.block(Form::named(device.memory_form()), 4096));
        let event = || Event::new(device).expect("an event");
        Self {
            kernel: module.kernel("spin").expect("the kernel"),
            memory: DeviceBuffer::zeroed(&stream, 1024).expect("memory"),
            stream,
            start: event(),
            stop: event(),
            raw,
            raw_kernel,
        }
    }

    fn run(&self, turns: u32) -> Run {
        self.raw_kernel.set(1, &turns);
        let (kernel, markers) = self.raw.time(&self.raw_kernel, 1, 1);
        let Self { kernel: spin, stream, memory, .. } = self;
        let clock = Instant::now();
        self.start.record(stream).expect("a record");
        // SAFETY: the kernel writes nothing.
        unsafe { launch!(spin<<<1, 1, 0, stream>>>(*memory, turns)) }.expect("a launch");
        self.stop.record(stream).expect("a record");
        self.stop.synchronize().expect("the kernel");
        let host = clock.elapsed().as_secs_f64() * 1e6;
        Run { kernel: kernel as f64 / 1e3, markers: markers as f64 / 1e3, events: self.elapsed(), host }
    }

    fn elapsed(&self) -> f64 {
        f64::from(self.stop.elapsed_since(&self.start).expect("a time")) * 1e3
    }

    /// So many turns that the kernel takes about as long as wanted. Devices change their pace, so this comes anew
    /// before each length.
    fn turns(&self, wanted: f64) -> u32 {
        let mut turns = 10_000.0;
        for _ in 0..6 {
            let took = self.run(turns as u32).kernel.max(1.0);
            turns = (turns * (wanted / took).clamp(0.02, 50.0)).clamp(1.0, 4e9);
        }
        turns as u32
    }

    fn kernels(&self) {
        println!("a kernel between two records, {RUNS} runs of each length; microseconds, medians\n");
        println!(
            "{:>10}{:>12}{:>10}{:>12}{:>17}{:>18}{:>18}{:>16}",
            "kernel", "scatter", "events", "scatter", "events - kernel", "markers - kernel", "host - events", "off by"
        );
        for wanted in LENGTHS {
            let turns = self.turns(wanted);
            let runs: Vec<Run> = (0..RUNS).map(|_| self.run(turns)).collect();
            let values = |of: fn(&Run) -> f64| Spread::of(runs.iter().map(of).collect());
            let (kernel, events) = (values(|run| run.kernel), values(|run| run.events));
            let added = values(|run| run.events - run.kernel);
            println!(
                "{:>10.1}{:>12.1}{:>10.1}{:>12.1}{:>17.1}{:>18.1}{:>18.1}{:>14.2} %",
                kernel.median,
                kernel.scatter,
                events.median,
                events.scatter,
                added.median,
                values(|run| run.markers - run.kernel).median,
                values(|run| run.host - run.events).median,
                added.median / kernel.median * 100.0,
            );
        }
        println!("\nscatter: between the first and the ninth tenth of the runs.");
    }

    fn pairs(&self) {
        let times = (0..PAIRS).map(|_| {
            self.start.record(&self.stream).expect("a record");
            self.stop.record(&self.stream).expect("a record");
            self.stop.synchronize().expect("the records");
            self.elapsed()
        });
        let times: Vec<f64> = times.collect();
        let zeros = times.iter().filter(|&&time| time == 0.0).count();
        let negative = times.iter().filter(|&&time| time < 0.0).count();
        let least = times.iter().copied().filter(|&time| time > 0.0).fold(f64::INFINITY, f64::min);
        let spread = Spread::of(times);
        println!("\ntwo records with nothing between, {PAIRS} pairs; microseconds\n");
        println!("the device's clock tells apart   {:>10.3}", self.raw.clock_step() as f64 / 1e3);
        println!("smallest time above 0            {least:>10.3}");
        println!("median                           {:>10.3}", spread.median);
        println!("99 of 100 are below              {:>10.3}", spread.high);
        println!("exactly 0, below 0               {zeros:>10}, {negative}");
    }
}

/// How values are spread.
struct Spread {
    median: f64,
    /// Between the first and the ninth tenth.
    scatter: f64,
    /// What 99 of 100 are below.
    high: f64,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |part: f64| values[((values.len() - 1) as f64 * part).round() as usize];
        Self { median: at(0.5), scatter: at(0.9) - at(0.1), high: at(0.99) }
    }
}
