//! Launches through gridcl beside the same in plain OpenCL, in one run on one device.
//!
//! Ends with a table of the ratios, the design's goals and whether they are met; see `README.md` here. Nothing fails
//! for being slow.

#![allow(clippy::panic, reason = "a benchmark that cannot run says so by ending")]

mod ledger;
mod raw;

use criterion::Criterion;
use gridcl::launch;
use gridcl::musa::*;
use gridcl::prelude::*;
use ledger::{Case, Ledger};
use raw::{Form, Raw, RawKernel};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

/// Kernels that do next to nothing.
const SOURCE: &str = "
    __kernel void one(__global float *a) { if (a == 0) a[1] = 1; }
    __kernel void eight(__global float *a, __global float *b, __global float *c, __global float *d,
                        int i, int j, float x, float y) {
        if (i == 0) a[j] = b[j] * x + c[j] * y + d[j];
    }";

/// Launches in a row: enough to look at the clock seldom, few enough for any driver's queue.
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
    let mut bench = Bench {
        device,
        stream: device.create_stream().expect("a stream"),
        raw: Raw::open(device.platform(), device.name()),
        form: Form::named(device.memory_form()),
        ledger: Ledger::default(),
    };
    bench.launches(&mut criterion);
    bench.launches_of_the_dialect(&mut criterion);
    bench.launches_beside_idle_streams(&mut criterion);
    bench.ledger.print(device);
    criterion.final_summary();
}

/// Both sides of every comparison.
struct Bench {
    device: Device,
    stream: Stream,
    raw: Raw,
    form: Form,
    ledger: Ledger,
}

/// Does something `count` times in a row and answers how long that took, without the wait that follows.
#[inline]
fn in_a_row(count: u64, mut act: impl FnMut(), wait: impl FnOnce()) -> Duration {
    let start = Instant::now();
    for _ in 0..count {
        act();
    }
    let time = start.elapsed();
    wait();
    time
}

/// Does something `count` times, each with its wait, and answers how long that took.
#[inline]
fn one_by_one(count: u64, mut act: impl FnMut(), wait: impl Fn()) -> Duration {
    let start = Instant::now();
    for _ in 0..count {
        act();
        wait();
    }
    start.elapsed()
}

impl Bench {
    fn launches(&mut self, criterion: &mut Criterion) {
        let Self { device, stream, raw, form, ledger, .. } = self;
        let module = Module::from_source(*device, SOURCE).expect("the kernels");
        let (one, eight) = (module.kernel("one").expect("a kernel"), module.kernel("eight").expect("a kernel"));
        let memory = [(); 4].map(|()| DeviceBuffer::<f32>::zeroed(stream, 1024).expect("memory"));
        let [a, b, c, d] = &memory;
        let raw_kernels = RawKernels::new(raw, *form);

        let mut run_one = || {
            // SAFETY: the kernel writes nothing.
            unsafe { launch!(one<<<1, 64, 0, stream>>>(*a)) }.expect("a launch");
        };
        let mut run_eight = || {
            // SAFETY: as above.
            unsafe { launch!(eight<<<1, 64, 0, stream>>>(*a, *b, *c, *d, 1, 0, 1.0f32, 2.0f32)) }.expect("a launch");
        };
        let (wait, raw_wait) = (|| stream.synchronize().expect("the launches"), || raw.finish());

        let group = "launch";
        let goal = Some(1.05);
        ledger.compare(
            criterion,
            Case { group, variant: "1 argument", batch: BATCH, goal },
            |count| in_a_row(count, &mut run_one, wait),
            |count| in_a_row(count, || raw_kernels.run_one(raw), raw_wait),
        );
        ledger.compare(
            criterion,
            Case { group, variant: "8 arguments", batch: BATCH, goal },
            |count| in_a_row(count, &mut run_eight, wait),
            |count| in_a_row(count, || raw_kernels.run_eight(raw), raw_wait),
        );
        ledger.compare(
            criterion,
            Case { group: "launch and wait", variant: "1 argument", batch: 16, goal },
            |count| one_by_one(count, &mut run_one, wait),
            |count| one_by_one(count, || raw_kernels.run_one(raw), raw_wait),
        );
    }

    fn launches_of_the_dialect(&mut self, criterion: &mut Criterion) {
        let Self { raw, form, ledger, .. } = self;
        let raw_kernels = RawKernels::new(raw, *form);
        let musa = Musa::new();
        let mut memory: [*mut c_void; 4] = [null_mut(); 4];
        for pointer in &mut memory {
            // SAFETY: a variable for the result.
            ok(unsafe { musaMalloc(pointer, 4096) });
        }
        let [mut a, mut b, mut c, mut d] = memory;
        let (mut i, mut j, mut x, mut y) = (1_i32, 0_i32, 1.0_f32, 2.0_f32);
        let one = musa.function(c"one");
        let eight = musa.function(c"eight");
        let (wait, raw_wait) = (|| ok(musaStreamSynchronize(musa.stream)), || raw.finish());

        let group = "musaLaunchKernel";
        let goal = Some(1.05);
        ledger.compare(
            criterion,
            Case { group, variant: "1 argument", batch: BATCH, goal },
            |count| in_a_row(count, || musa.launch(one, 1, 64, &mut [(&raw mut a).cast()]), wait),
            |count| in_a_row(count, || raw_kernels.run_one(raw), raw_wait),
        );
        let mut run_eight = || {
            musa.launch(
                eight,
                1,
                64,
                &mut [
                    (&raw mut a).cast(),
                    (&raw mut b).cast(),
                    (&raw mut c).cast(),
                    (&raw mut d).cast(),
                    (&raw mut i).cast(),
                    (&raw mut j).cast(),
                    (&raw mut x).cast(),
                    (&raw mut y).cast(),
                ],
            );
        };
        ledger.compare(
            criterion,
            Case { group, variant: "8 arguments", batch: BATCH, goal },
            |count| in_a_row(count, &mut run_eight, wait),
            |count| in_a_row(count, || raw_kernels.run_eight(raw), raw_wait),
        );
        for pointer in memory {
            ok(musaFree(pointer));
        }
    }

    /// Both sides are gridcl: the same launch beside idle streams, and beside none. Streams come and go outside the
    /// time that is taken, and there are as many launches in a batch as make that worth while.
    fn launches_beside_idle_streams(&mut self, criterion: &mut Criterion) {
        const IN_A_BATCH: u64 = 16 * BATCH;
        let Self { device, ledger, .. } = self;
        let module = Module::from_source(*device, SOURCE).expect("the kernels");
        let one = module.kernel("one").expect("a kernel");
        let memory = DeviceBuffer::<f32>::zeroed(&device.default_stream().expect("a stream"), 1024).expect("memory");
        let run = |stream: &Stream| {
            // SAFETY: the kernel writes nothing.
            unsafe { launch!(one<<<1, 64, 0, stream>>>(memory)) }.expect("a launch");
        };
        // The default stream is ordered with every one of them, a stream with the default stream alone.
        let launches = |stream: &Stream| {
            let wait = || stream.synchronize().expect("the launches");
            let rounds = 0..IN_A_BATCH / BATCH;
            rounds.map(|_| in_a_row(BATCH, || run(stream), wait)).sum::<Duration>()
        };
        let used = |stream: &Stream| {
            run(stream);
            stream.synchronize().expect("the launch");
        };
        let unused = |_: &Stream| ();
        let legacy = device.default_stream().expect("the default stream");
        let blocking = device.create_stream().expect("a stream");
        let streams = |prepare: &dyn Fn(&Stream)| {
            let streams: Vec<_> = (0..1000).map(|_| device.create_stream().expect("a stream")).collect();
            streams.iter().for_each(prepare);
            streams
        };
        let mut compare = |variant, stream: &Stream, prepare: &dyn Fn(&Stream)| {
            ledger.compare(
                criterion,
                Case { group: "launch beside 1,000 idle", variant, batch: IN_A_BATCH, goal: Some(1.1) },
                |_| {
                    let _idle = streams(prepare);
                    launches(stream)
                },
                |_| {
                    // The device has done the same before.
                    drop(streams(prepare));
                    launches(stream)
                },
            );
        };
        compare("unused", &legacy, &unused);
        compare("used", &legacy, &used);
        compare("in a stream", &blocking, &used);
    }
}

/// The same kernels and memory in plain OpenCL. Arguments are set for each launch, as gridcl does: that is what a
/// launch with arguments means.
struct RawKernels {
    one: RawKernel,
    eight: RawKernel,
    memory: [raw::Block; 4],
}

impl RawKernels {
    fn new(raw: &Raw, form: Form) -> Self {
        let memory = [(); 4].map(|()| raw.block(form, 4096));
        Self { one: raw.kernel(SOURCE, "one"), eight: raw.kernel(SOURCE, "eight"), memory }
    }

    #[inline]
    fn run_one(&self, raw: &Raw) {
        self.one.set_block(0, &self.memory[0]);
        raw.launch(&self.one, 64, 64);
    }

    #[inline]
    fn run_eight(&self, raw: &Raw) {
        for (index, block) in (0..).zip(&self.memory) {
            self.eight.set_block(index, block);
        }
        self.eight.set(4, &1_i32);
        self.eight.set(5, &0_i32);
        self.eight.set(6, &1.0_f32);
        self.eight.set(7, &2.0_f32);
        raw.launch(&self.eight, 64, 64);
    }
}

/// The kernels and a stream in the MUSA dialect.
struct Musa {
    module: musaModule_t,
    stream: musaStream_t,
}

impl Musa {
    fn new() -> Self {
        let source = format!("{SOURCE}\0");
        let (mut module, mut stream) = (null_mut(), null_mut());
        // SAFETY: variables for the results, and a text that ends with NUL.
        unsafe {
            ok(musaModuleLoadData(&mut module, source.as_ptr().cast()));
            ok(musaStreamCreate(&mut stream));
        }
        Self { module, stream }
    }

    fn function(&self, name: &std::ffi::CStr) -> musaFunction_t {
        let mut function = null_mut();
        // SAFETY: a variable for the result.
        ok(unsafe { musaModuleGetFunction(&mut function, self.module, name.as_ptr()) });
        function
    }

    #[inline]
    fn launch(&self, function: musaFunction_t, grid: u32, block: u32, arguments: &mut [*mut c_void]) {
        // SAFETY: there is an address for each parameter of the kernel.
        ok(unsafe {
            musaLaunchKernel(function.cast(), grid.into(), block.into(), arguments.as_mut_ptr(), 0, self.stream)
        });
    }
}

#[inline]
fn ok(code: musaError_t) {
    assert_eq!(code, musaSuccess, "{}", gridcl::last_error_detail().unwrap_or_default());
}
