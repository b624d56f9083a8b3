//! Records of events and waits for them through gridcl beside the same in plain OpenCL, and what a queue that keeps times
//! costs, in one run on one device.
//!
//! Ends with a table of the ratios, the design's goals and whether they are met; see `README.md` here. Nothing fails
//! for being slow.

#![allow(clippy::panic, reason = "a benchmark that cannot run says so by ending")]

mod ledger;
mod raw;

use criterion::Criterion;
use gridcl::prelude::*;
use gridcl::{EventFlags, launch};
use ledger::{Case, Ledger};
use raw::{Form, Raw, RawKernel};
use std::cell::Cell;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

/// A kernel that does next to nothing.
const SOURCE: &str = "__kernel void one(__global float *a) { if (a == 0) a[1] = 1; }";

/// Operations between two waits.
const BATCH: u64 = 64;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(40)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_millis(1500))
        .configure_from_args();
    let device = Device::get(0).unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(1);
    });
    let mut ledger = Ledger::default();
    records(device, &mut ledger, &mut criterion);
    queues_that_keep_times(device, &mut ledger, &mut criterion);
    ledger.print(device);
    criterion.final_summary();
}

/// Does something `count` times behind a `before` of its own that is not counted, and answers how long it took. Both
/// sides pay for looking at the clock.
#[inline]
fn behind(count: u64, mut before: impl FnMut(), mut act: impl FnMut(), wait: impl Fn()) -> Duration {
    let mut time = Duration::ZERO;
    for _ in 0..count {
        before();
        let start = Instant::now();
        act();
        time += start.elapsed();
    }
    wait();
    time
}

/// A queue of plain OpenCL with a kernel whose argument is set, and the event of the latest record, which each record
/// gives up as gridcl's does.
struct Plain {
    queue: Raw,
    kernel: RawKernel,
    latest: Cell<cl_sys::cl_event>,
}

impl Plain {
    fn new(queue: Raw, form: Form) -> Self {
        let kernel = queue.kernel(SOURCE, "one");
        kernel.set_block(0, &queue.block(form, 4096));
        Self { queue, kernel, latest: Cell::new(null_mut()) }
    }

    #[inline]
    fn launch(&self) {
        self.queue.launch(&self.kernel, 64, 64);
    }

    #[inline]
    fn record(&self) {
        let before = self.latest.replace(self.queue.record());
        if !before.is_null() {
            raw::release(before);
        }
    }
}

fn records(device: Device, ledger: &mut Ledger, criterion: &mut Criterion) {
    let form = Form::named(device.memory_form());
    let (stream, other) = (device.create_stream().expect("a stream"), device.create_stream().expect("a stream"));
    // Its queue keeps times from its first timed record on.
    let timed_stream = device.create_stream().expect("a stream");
    let module = Module::from_source(device, SOURCE).expect("the kernel");
    let one = module.kernel("one").expect("a kernel");
    let memory = DeviceBuffer::<f32>::zeroed(&stream, 1024).expect("memory");
    let event = Event::with_flags(device, EventFlags::DISABLE_TIMING).expect("an event");
    let timed = Event::new(device).expect("an event");
    let run = |stream: &Stream| {
        // SAFETY: the kernel writes nothing.
        unsafe { launch!(one<<<1, 64, 0, stream>>>(memory)) }.expect("a launch");
    };
    let record = || event.record(&stream).expect("a record");
    let wait =
        || [&stream, &other, &timed_stream].into_iter().for_each(|stream| stream.synchronize().expect("the work"));
    let plain = Plain::new(Raw::open(device.platform(), device.name()), form);
    let plain_other = plain.queue.beside();
    let plain_timed = Plain::new(Raw::open_profiling(device.platform(), device.name()), form);
    let plain_wait = || [&plain.queue, &plain_other, &plain_timed.queue].into_iter().for_each(Raw::finish);

    let case = |group, variant, goal| Case { group, variant, batch: BATCH, goal };
    ledger.compare(
        criterion,
        case("record", "timing disabled", Some(1.2)),
        |count| behind(count, || run(&stream), record, wait),
        |count| behind(count, || plain.launch(), || plain.record(), plain_wait),
    );
    ledger.compare(
        criterion,
        case("record and wait in another stream", "timing disabled", Some(1.2)),
        |count| {
            let act = || {
                record();
                other.wait_event(&event).expect("a wait");
            };
            behind(count, || run(&stream), act, wait)
        },
        |count| {
            let act = || {
                plain.record();
                plain.queue.flush();
                plain_other.wait_for(plain.latest.get());
            };
            behind(count, || plain.launch(), act, plain_wait)
        },
    );
    ledger.compare(
        criterion,
        case("record", "timed", Some(1.05)),
        |count| behind(count, || run(&timed_stream), || timed.record(&timed_stream).expect("a record"), wait),
        |count| behind(count, || plain_timed.launch(), || plain_timed.record(), plain_wait),
    );
    ledger.compare(
        criterion,
        case("launch", "beside timed records", Some(1.05)),
        |count| behind(count, || (), || run(&timed_stream), wait),
        |count| behind(count, || (), || plain_timed.launch(), plain_wait),
    );
}

/// Both sides are plain OpenCL: a queue that keeps times in gridcl's column, and one that does not. A stream's queue is
/// exchanged for one that keeps times at its first timed record; this is what it saves those that have none.
fn queues_that_keep_times(device: Device, ledger: &mut Ledger, criterion: &mut Criterion) {
    let form = Form::named(device.memory_form());
    let timed = Plain::new(Raw::open_profiling(device.platform(), device.name()), form);
    let plain = Plain::new(Raw::open(device.platform(), device.name()), form);
    let case = |variant| Case { group: "queue that keeps times", variant, batch: BATCH, goal: None };
    ledger.compare(
        criterion,
        case("launch"),
        |count| behind(count, || (), || timed.launch(), || timed.queue.finish()),
        |count| behind(count, || (), || plain.launch(), || plain.queue.finish()),
    );
    ledger.compare(
        criterion,
        case("marker"),
        |count| behind(count, || timed.launch(), || timed.record(), || timed.queue.finish()),
        |count| behind(count, || plain.launch(), || plain.record(), || plain.queue.finish()),
    );
}
