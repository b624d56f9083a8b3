//! One operation done many times between two waits, for `instructions.sh`, which counts its instructions.
//!
//! `instructions SIDE OPERATION` does it 64 times warm within a function named `measured`, which callgrind is told to
//! look at. Without arguments, as under `cargo bench`, it only says so.

#![allow(clippy::panic, reason = "a benchmark that cannot run says so by ending")]

mod raw;

use gridcl::prelude::*;
use gridcl::{EventFlags, launch};
use raw::{Form, Raw};
use std::hint::black_box;

const SOURCE: &str = "
    __kernel void one(__global float *a) { if (a == 0) a[1] = 1; }
    __kernel void eight(__global float *a, __global float *b, __global float *c, __global float *d,
                        int i, int j, float x, float y) {
        if (i == 0) a[j] = b[j] * x + c[j] * y + d[j];
    }";

/// How often within one look.
const TIMES: u32 = 64;

/// The name that the script gives callgrind.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn measured(act: &mut &mut dyn FnMut(u32)) {
    for time in 0..TIMES {
        act(black_box(time));
    }
}

/// Warms up with the operation, then does it where callgrind looks.
fn look(mut act: impl FnMut(u32), wait: impl Fn()) {
    for _ in 0..8 {
        (0..TIMES).for_each(&mut act);
        wait();
    }
    let mut act: &mut dyn FnMut(u32) = &mut act;
    measured(&mut act);
    wait();
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let [side, operation] = arguments.as_slice() else {
        println!("instructions: run benches/instructions.sh");
        return;
    };
    let device = Device::get(0).unwrap_or_else(|error| panic!("{error}"));
    match side.as_str() {
        "gridcl" => through_gridcl(device, operation),
        "raw" => plain(device, operation),
        other => panic!("{other} is neither gridcl nor raw"),
    }
}

fn through_gridcl(device: Device, operation: &str) {
    let stream = device.create_stream().expect("a stream");
    let module = Module::from_source(device, SOURCE).expect("the kernels");
    let (one, eight) = (module.kernel("one").expect("a kernel"), module.kernel("eight").expect("a kernel"));
    let memory = [(); 4].map(|()| DeviceBuffer::<f32>::zeroed(&stream, 1024).expect("memory"));
    let [a, b, c, d] = &memory;
    let host = PinnedBuffer::<u8>::new(device, 4).expect("pinned memory");
    let mut target = DeviceBuffer::<u8>::zeroed(&stream, 4).expect("memory");
    let event = Event::with_flags(device, EventFlags::DISABLE_TIMING).expect("an event");
    let wait = || stream.synchronize().expect("the work");
    let stream = &stream;
    match operation {
        "launch-1" => look(
            |_| {
                // SAFETY: the kernel writes nothing.
                unsafe { launch!(one<<<1, 64, 0, stream>>>(*a)) }.expect("a launch")
            },
            wait,
        ),
        "launch-8" => look(
            |_| {
                // SAFETY: the kernel writes nothing but where `i` is 0.
                unsafe { launch!(eight<<<1, 64, 0, stream>>>(*a, *b, *c, *d, 1, 0, 1.0f32, 2.0f32)) }.expect("a launch")
            },
            wait,
        ),
        "launch-8-changing" => look(
            |time| {
                let [a, b] = if time % 2 == 0 { [a, b] } else { [b, a] };
                let i = 1 + time as i32;
                // SAFETY: as above.
                unsafe { launch!(eight<<<1, 64, 0, stream>>>(*a, *b, *c, *d, i, 0, 1.0f32, 2.0f32)) }
                    .expect("a launch");
            },
            wait,
        ),
        "launch-and-record" => look(
            |_| {
                // SAFETY: as for one.
                unsafe { launch!(one<<<1, 64, 0, stream>>>(*a)) }.expect("a launch");
                event.record(stream).expect("a record");
            },
            wait,
        ),
        "copy-4-bytes" => look(|_| stream.copy(&host, &mut target).expect("a copy"), wait),
        other => panic!("{other} is no operation"),
    }
}

fn plain(device: Device, operation: &str) {
    let raw = Raw::open(device.platform(), device.name());
    let form = Form::named(device.memory_form());
    let (one, eight) = (raw.kernel(SOURCE, "one"), raw.kernel(SOURCE, "eight"));
    let memory = [(); 4].map(|()| raw.block(form, 4096));
    let host = raw.pinned(4);
    let wait = || raw.finish();
    let set_eight = |first: usize, i: i32| {
        for index in 0..4 {
            let block = if index < 2 { (index + first) % 2 } else { index };
            eight.set_block(index as u32, &memory[block]);
        }
        eight.set(4, &i);
        eight.set(5, &0_i32);
        eight.set(6, &1.0_f32);
        eight.set(7, &2.0_f32);
        raw.launch(&eight, 64, 64);
    };
    let run_one = || {
        one.set_block(0, &memory[0]);
        raw.launch(&one, 64, 64);
    };
    match operation {
        "launch-1" => look(|_| run_one(), wait),
        "launch-8" => look(|_| set_eight(0, 1), wait),
        "launch-8-changing" => look(|time| set_eight(time as usize % 2, 1 + time as i32), wait),
        "launch-and-record" => look(
            |_| {
                run_one();
                raw.mark();
            },
            wait,
        ),
        "copy-4-bytes" => look(|_| raw.upload(&memory[0], host, 4), wait),
        other => panic!("{other} is no operation"),
    }
}
