//! Copies between two devices: how fast, and whether every byte arrived.
//!
//! `cargo bench --bench peer_copy -- [MIB] [--sweep]` copies between the first two devices: 1024 MiB unless told
//! otherwise. `--sweep` tries other steps, buffers and pinning contexts, too. A wrong byte ends it with status 1; a low
//! rate does not.

#![allow(clippy::panic, reason = "a benchmark that cannot run says so by ending")]

use gridcl::DeviceType;
use gridcl::prelude::*;
use gridcl::testing::{PinnedBy, tune_transfers};
use std::process::ExitCode;
use std::time::Instant;

const MIB: usize = 1 << 20;
/// Measured after one copy that is not.
const RUNS: usize = 7;
/// What the design asks for between two GPUs of one host, in GB/s.
const GOAL: f64 = 48.0;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mib = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(1024_usize);
    let [here, there] = match Device::all()[..] {
        [here, there, ..] => [here, there],
        _ => {
            eprintln!("this takes two devices; try POCL_DEVICES=\"pthread pthread\"");
            return ExitCode::SUCCESS;
        }
    };
    println!("{here} and {there}, {mib} MiB, median of {RUNS}");
    let mut bench = Bench::new(here, there, mib.max(1) * MIB);
    bench.links();
    bench.usual();
    if arguments.iter().any(|argument| argument == "--sweep") {
        bench.sweep();
    }
    if bench.wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

struct Bench {
    bytes: usize,
    streams: [Stream; 2],
    /// What is copied, of either device.
    sources: [DeviceBuffer<u64>; 2],
    targets: [DeviceBuffer<u64>; 2],
    data: [Vec<u64>; 2],
    wrong: bool,
}

/// Words of which no two are alike.
fn noise(seed: u64, words: usize) -> Vec<u64> {
    (0..words as u64).map(|index| (index ^ seed << 56).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect()
}

/// The median of the times of `act`, in seconds.
fn median(mut act: impl FnMut()) -> f64 {
    act();
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            act();
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}

fn print(what: &str, bytes: usize, seconds: f64) {
    println!("{what:<58} {:>10.1} us {:>8.2} GB/s", seconds * 1e6, bytes as f64 / seconds / 1e9);
}

impl Bench {
    fn new(here: Device, there: Device, bytes: usize) -> Self {
        let devices = [here, there];
        let words = bytes / 8;
        let data = [0, 1].map(|seed| noise(seed, words));
        let streams = devices.map(|device| device.create_stream().expect("a stream"));
        let sources = [0, 1].map(|at| DeviceBuffer::from_slice(&streams[at], &data[at]).expect("memory"));
        let targets = [0, 1].map(|at| DeviceBuffer::zeroed(&streams[at], words).expect("memory"));
        streams.iter().for_each(|stream| stream.synchronize().expect("the data"));
        Self { bytes, streams, sources, targets, data, wrong: false }
    }

    /// What either link does alone, which bounds the rest.
    fn links(&mut self) {
        let bytes = self.bytes.min(256 * MIB);
        for (at, stream) in self.streams.iter().enumerate() {
            let mut pinned = PinnedBuffer::<u64>::new(stream.device(), bytes / 8).expect("pinned memory");
            let part = ..bytes / 8;
            let down = median(|| {
                stream.copy(self.sources[at].slice(part), &mut pinned).expect("a copy");
                stream.synchronize().expect("the copy");
            });
            print(&format!("device {at} to pinned memory"), bytes, down);
            let target = &mut self.targets[at];
            let up = median(|| {
                stream.copy(&pinned, target.slice_mut(part)).expect("a copy");
                stream.synchronize().expect("the copy");
            });
            print(&format!("pinned memory to device {at}"), bytes, up);
        }
    }

    /// Copies so many bytes from one device to the other, in a stream of the source, and answers the median.
    fn one_way(&mut self, from: usize, bytes: usize) -> f64 {
        let (stream, part) = (&self.streams[from], ..bytes / 8);
        let (source, target) = (&self.sources[from], &mut self.targets[1 - from]);
        stream.fill(target, 0).expect("a set");
        let time = median(|| {
            stream.copy(source.slice(part), target.slice_mut(part)).expect("a copy");
            stream.synchronize().expect("the copy");
        });
        self.check(1 - from, bytes);
        time
    }

    fn check(&mut self, at: usize, bytes: usize) {
        let got = self.targets[at].to_vec(&self.streams[at]).expect("the result");
        let (words, expected) = (bytes / 8, &self.data[1 - at]);
        let right = got[..words] == expected[..words] && got[words..].iter().all(|&word| word == 0);
        if !right {
            let first = got.iter().zip(expected).position(|(got, expected)| got != expected);
            println!("WRONG on device {at}: {bytes} bytes were copied, the first wrong word is {first:?}");
            self.wrong = true;
        }
    }

    fn usual(&mut self) {
        for bytes in [4096, 256 << 10, MIB, 16 * MIB, 128 * MIB, self.bytes] {
            if bytes > self.bytes {
                continue;
            }
            for from in [0, 1] {
                let time = self.one_way(from, bytes);
                print(&format!("device {from} to device {}, {} KiB", 1 - from, bytes >> 10), bytes, time);
            }
        }
        if self.streams.iter().all(|stream| stream.device().device_type() == DeviceType::Gpu) {
            let rate = self.bytes as f64 / self.one_way(0, self.bytes) / 1e9;
            println!("goal between two GPUs: {GOAL} GB/s; {}", if rate >= GOAL { "met" } else { "missed" });
        }
        let (streams, sources) = (&self.streams, &self.sources);
        let [first, second] = &mut self.targets;
        let both = median(|| {
            streams[0].copy(&sources[0], &mut *second).expect("a copy");
            streams[1].copy(&sources[1], &mut *first).expect("a copy");
            streams.iter().for_each(|stream| stream.synchronize().expect("the copies"));
        });
        print("both ways at once, the sum", 2 * self.bytes, both);
        self.check(0, self.bytes);
        self.check(1, self.bytes);
    }

    fn sweep(&mut self) {
        for pinned_by in [PinnedBy::SourceDevice, PinnedBy::TargetDevice, PinnedBy::Alternating] {
            for step in [2, 4, 8, 16, 32] {
                for buffers in [2, 3, 4, 6] {
                    tune_transfers(Some((step * MIB, buffers, pinned_by)));
                    let time = self.one_way(0, self.bytes);
                    let what = format!("steps of {step:>2} MiB, {buffers} buffers, pinned by {pinned_by:?}");
                    print(&what, self.bytes, time);
                }
            }
        }
        tune_transfers(None);
    }
}
