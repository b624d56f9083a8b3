//! How the rate of pageable copies depends on how they are cut up (`native --sweep`).

use super::side::{Memory, ok};
use super::table::median;
use gridcl::Device;
use gridcl::musa::*;
use gridcl::testing::tune_staging;
use std::time::Instant;

const MIB: usize = 1 << 20;
const SAMPLES: usize = 5;

pub(super) fn run(device: Device, shift: u32) {
    println!("pageable copies on {device}, GB/s, medians of {SAMPLES}");
    let whole = (256 * MIB) >> shift;
    let (memory, mut host) = (Memory::new(whole), vec![1_u8; whole]);
    let mut rate = |bytes: usize, up: bool| {
        let mut times = [0.0; SAMPLES];
        for sample in 0..=SAMPLES {
            let start = Instant::now();
            let (here, there) = (host.as_mut_ptr().cast(), memory.at);
            // SAFETY: both ranges are that long.
            ok(unsafe {
                match up {
                    true => musaMemcpy(there, here, bytes, musaMemcpyHostToDevice),
                    false => musaMemcpy(here, there, bytes, musaMemcpyDeviceToHost),
                }
            });
            if let Some(at) = sample.checked_sub(1) {
                times[at] = start.elapsed().as_secs_f64();
            }
        }
        bytes as f64 / median(&mut times) / 1e9
    };
    let mut line = |what: &str, sizes: &[usize]| {
        let rates: Vec<String> =
            sizes.iter().map(|&bytes| format!("{:>6.1} {:>6.1}", rate(bytes, true), rate(bytes, false))).collect();
        println!("{what:<46} {}", rates.join("  |"));
    };
    let large = [(64 * MIB) >> shift, whole];
    println!("{:<46}   64 MiB up, down | 256 MiB up, down", "");
    line("as it is", &large);
    tune_staging(Some((usize::MAX, 1, 1, 0)));
    line("by the driver", &large);
    for threads in [1, 2, 4, 6, 8, 12, 16] {
        for step in [MIB / 2, MIB, 2 * MIB, 4 * MIB] {
            for ahead in [2, 4, 8] {
                tune_staging(Some((0, step, threads, ahead)));
                line(&format!("{threads:>2} threads, parts of {:>4} KiB, {ahead} ahead", step >> 10), &large);
            }
        }
    }
    println!("where parts begin to pay: 256 KiB, 512 KiB, 1 MiB, 2 MiB, 4 MiB, 8 MiB, 16 MiB, each up and down");
    let sizes: Vec<usize> = (18..25).map(|bits| 1 << bits).collect();
    tune_staging(Some((usize::MAX, 1, 1, 0)));
    line("by the driver", &sizes);
    for threads in [2, 4, 8] {
        tune_staging(Some((0, 2 * MIB, threads, 4)));
        line(&format!("{threads} threads"), &sizes);
    }
    tune_staging(None);
}
