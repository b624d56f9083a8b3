//! Copies, sets and allocations through gridcl beside the same in plain OpenCL, in one run on one device.
//!
//! Ends with a table of the ratios, the design's goals and whether they are met; see `README.md` here. Nothing fails
//! for being slow.

#![allow(clippy::panic, reason = "a benchmark that cannot run says so by ending")]
#![allow(dead_code, reason = "the plain side has what other benchmarks need, too")]

mod ledger;
mod raw;

use criterion::Criterion;
use gridcl::musa::*;
use gridcl::prelude::*;
use gridcl::{DeviceType, launch};
use ledger::{Case, Ledger};
use raw::{Form, Raw};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

const SOURCE: &str = "
    __kernel void touch(__global uchar *p, uint pages) {
        uint page = get_global_id(0);
        if (page < pages) p[(ulong)page * 4096] = 1;
    }
    __kernel void spin(__global float *x, uint turns) {
        const uint i = get_global_id(0);
        float value = x[i];
        for (uint turn = 0; turn < turns; turn++)
            value = value * 0.999f + 0.001f;
        x[i] = value;
    }";

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(40)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1200))
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
    bench.pinned_copies(&mut criterion);
    bench.pageable_copies(&mut criterion);
    bench.sets(&mut criterion);
    bench.allocations(&mut criterion);
    bench.allocations_among_many(&mut criterion);
    bench.pipeline(&mut criterion);
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

/// The most that a rate's goal leaves of the time.
fn rate(goal: f64) -> Option<f64> {
    Some(1.0 / goal)
}

impl Bench {
    fn is_cpu(&self) -> bool {
        self.device.device_type() == DeviceType::Cpu
    }

    fn pinned_copies(&mut self, criterion: &mut Criterion) {
        let Self { device, stream, raw, form, ledger, .. } = self;
        let (wait, raw_wait) = (|| stream.synchronize().expect("the copies"), || raw.finish());
        let sizes = [(4, "4 B", 16), (64 * KIB, "64 KiB", 16), (16 * MIB, "16 MiB", 1), (256 * MIB, "256 MiB", 1)];
        for (bytes, variant, batch) in sizes {
            let mut host = PinnedBuffer::<u8>::new(*device, bytes).expect("pinned memory");
            let mut memory = DeviceBuffer::<u8>::zeroed(stream, bytes).expect("memory");
            let mut other = DeviceBuffer::<u8>::zeroed(stream, bytes).expect("memory");
            wait();
            let raw_host = raw.pinned(bytes);
            let (raw_memory, raw_other) = (raw.block(*form, bytes), raw.block(*form, bytes));
            raw.fill(&raw_memory, 0, bytes);
            raw.fill(&raw_other, 0, bytes);
            raw.download(raw_host, &raw_memory, bytes);
            raw.finish();
            // Four bytes have no rate to speak of.
            let goal = |goal: f64| rate(goal).filter(|_| bytes > 4);
            ledger.compare(
                criterion,
                Case { group: "pinned to device", variant, batch, goal: goal(0.99) },
                |count| one_by_one(count, || stream.copy(&host, &mut memory).expect("a copy"), wait),
                |count| one_by_one(count, || raw.upload(&raw_memory, raw_host, bytes), raw_wait),
            );
            ledger.compare(
                criterion,
                Case { group: "device to pinned", variant, batch, goal: goal(0.99) },
                |count| one_by_one(count, || stream.copy(&memory, &mut host).expect("a copy"), wait),
                |count| one_by_one(count, || raw.download(raw_host, &raw_memory, bytes), raw_wait),
            );
            ledger.compare(
                criterion,
                Case { group: "device to device", variant, batch, goal: goal(1.0) },
                |count| one_by_one(count, || stream.copy(&memory, &mut other).expect("a copy"), wait),
                |count| one_by_one(count, || raw.copy(&raw_other, &raw_memory, bytes), raw_wait),
            );
            raw_memory.free(raw);
            raw_other.free(raw);
        }
    }

    /// Memory of the allocator, by the calls without a stream.
    fn pageable_copies(&mut self, criterion: &mut Criterion) {
        let Self { raw, form, ledger, .. } = self;
        let nothing_more = || ();
        for (bytes, variant, batch) in [
            (4, "4 B", 16),
            (64 * KIB, "64 KiB", 16),
            (MIB, "1 MiB", 4),
            (64 * MIB, "64 MiB", 1),
            (256 * MIB, "256 MiB", 1),
        ] {
            let (mut host, mut raw_host) = (vec![1_u8; bytes], vec![1_u8; bytes]);
            let (memory, raw_memory) = (allocate(bytes), raw.block(*form, bytes));
            raw.fill(&raw_memory, 0, bytes);
            raw.finish();
            let address: *mut c_void = host.as_mut_ptr().cast();
            let raw_address: *mut c_void = raw_host.as_mut_ptr().cast();
            let copy = |to: *mut c_void, from: *const c_void, kind| {
                // SAFETY: both are that long.
                ok(unsafe { musaMemcpy(to, from, bytes, kind) });
            };
            let goal = Some(1.0);
            ledger.compare(
                criterion,
                Case { group: "pageable to device", variant, batch, goal },
                |count| one_by_one(count, || copy(memory, address, musaMemcpyHostToDevice), nothing_more),
                |count| one_by_one(count, || raw.upload(&raw_memory, raw_address, bytes), || raw.finish()),
            );
            ledger.compare(
                criterion,
                Case { group: "device to pageable", variant, batch, goal },
                |count| one_by_one(count, || copy(address, memory, musaMemcpyDeviceToHost), nothing_more),
                |count| one_by_one(count, || raw.download(raw_address, &raw_memory, bytes), || raw.finish()),
            );
            ok(musaFree(memory));
            raw_memory.free(raw);
        }
    }

    /// Values of several widths, where the driver takes them, and bytes where it does not.
    fn sets(&mut self, criterion: &mut Criterion) {
        // The driver's fill with the value's own width: 1.00 of its rate on CPUs, 2.5 on GPUs up to 4 bytes.
        let goal = if self.is_cpu() { rate(1.0) } else { rate(2.5) };
        let wide = if self.is_cpu() { rate(1.0) } else { None };
        let Self { stream, raw, form, ledger, .. } = self;
        let wait = || stream.synchronize().expect("the sets");
        let bytes = 64 * MIB;
        let mut memory = DeviceBuffer::<u8>::zeroed(stream, bytes).expect("memory");
        let raw_memory = raw.block(*form, bytes);
        raw.fill(&raw_memory, 0, bytes);
        raw.finish();
        let mut row = |variant, goal, pattern: &[u8], set: &mut dyn FnMut()| {
            ledger.compare(
                criterion,
                Case { group: "set, 64 MiB", variant, batch: 1, goal },
                |count| one_by_one(count, &mut *set, wait),
                |count| one_by_one(count, || raw.fill_with(&raw_memory, pattern, 0, bytes), || raw.finish()),
            );
        };
        row("bytes", goal, &[7], &mut || stream.fill(&mut memory, 7).expect("a set"));
        row("zeros", goal, &[0], &mut || stream.fill(&mut memory, 0).expect("a set"));
        row("bytes from byte 1 on", goal, &[7], &mut || {
            stream.fill_with(memory.slice_mut(1..bytes - 2), 7).expect("a set");
        });
        let mut words = DeviceBuffer::<u16>::zeroed(stream, bytes / 2).expect("memory");
        row("2 bytes", goal, &[1, 2], &mut || stream.fill_with(&mut words, 0x0201).expect("a set"));
        drop(words);
        let mut words = DeviceBuffer::<u32>::zeroed(stream, bytes / 4).expect("memory");
        row("4 bytes", goal, &[1, 2, 3, 4], &mut || stream.fill_with(&mut words, 0x0403_0201).expect("a set"));
        drop(words);
        let mut words = DeviceBuffer::<u64>::zeroed(stream, bytes / 8).expect("memory");
        let value = 0x0807_0605_0403_0201_u64;
        row("8 bytes", wide, &value.to_ne_bytes(), &mut || stream.fill_with(&mut words, value).expect("a set"));
        raw_memory.free(raw);
    }

    /// Allocate, write a byte to each page, wait, free. Without the bytes a driver may put off the work.
    fn allocations(&mut self, criterion: &mut Criterion) {
        let large = if self.is_cpu() { 16 * MIB } else { 64 * KIB };
        let Self { raw, form, ledger, .. } = self;
        let musa = Musa::new();
        let touch = musa.function(c"touch");
        let nothing_more = || ();
        let raw_touch = raw.kernel(SOURCE, "touch");
        for (bytes, variant, batch) in
            [(4 * KIB, "4 KiB", 16), (MIB, "1 MiB", 16), (16 * MIB, "16 MiB", 4), (64 * MIB, "64 MiB", 1)]
        {
            let pages = (bytes / 4096) as u32;
            let block = pages.min(64);
            let goal = Some(if bytes >= large { 0.1 } else { 1.0 });
            let run_gridcl = || {
                let (mut memory, mut count) = (allocate(bytes), pages);
                musa.launch(touch, pages / block, block, &mut [(&raw mut memory).cast(), (&raw mut count).cast()]);
                // Waits for the kernel.
                ok(musaFree(memory));
            };
            let run_raw = |form: Form| {
                let memory = raw.block(form, bytes);
                raw_touch.set_block(0, &memory);
                raw_touch.set(1, &pages);
                raw.launch(&raw_touch, pages as usize, block as usize);
                raw.finish();
                memory.free(raw);
            };
            ledger.compare(
                criterion,
                Case { group: "malloc, touch, free", variant, batch, goal },
                |count| one_by_one(count, run_gridcl, nothing_more),
                |count| one_by_one(count, || run_raw(*form), nothing_more),
            );
            if *form != Form::Buffer {
                ledger.compare(
                    criterion,
                    Case { group: "the same against clCreateBuffer", variant, batch, goal },
                    |count| one_by_one(count, run_gridcl, nothing_more),
                    |count| one_by_one(count, || run_raw(Form::Buffer), nothing_more),
                );
            }
        }
    }

    /// Both sides are gridcl: an allocation and its end beside 100,000 others, and beside none.
    fn allocations_among_many(&mut self, criterion: &mut Criterion) {
        const OTHERS: usize = 100_000;
        let nothing_more = || ();
        let pair = || ok(musaFree(allocate(1024)));
        let alone: Vec<*mut c_void> = Vec::new();
        let others = std::cell::RefCell::new(alone);
        let live = |count: usize| {
            let mut others = others.borrow_mut();
            while others.len() < count {
                others.push(allocate(1024));
            }
            while others.len() > count
                && let Some(memory) = others.pop()
            {
                ok(musaFree(memory));
            }
        };
        self.ledger.compare(
            criterion,
            Case { group: "malloc and free among", variant: "100,000", batch: 2048, goal: Some(1.5) },
            |count| {
                live(OTHERS);
                one_by_one(count, pair, nothing_more)
            },
            |count| {
                live(0);
                one_by_one(count, pair, nothing_more)
            },
        );
        live(0);
    }

    /// Both sides are gridcl: parts that come in, are worked on and go out in 4 streams, and the longest of the three
    /// stages alone.
    fn pipeline(&mut self, criterion: &mut Criterion) {
        const PARTS: usize = 32;
        let part = 256 * KIB;
        let Self { device, ledger, .. } = self;
        let module = Module::from_source(*device, SOURCE).expect("the kernels");
        let spin = module.kernel("spin").expect("a kernel");
        let streams: Vec<_> = (0..4).map(|_| device.create_stream().expect("a stream")).collect();
        let source = PinnedBuffer::<f32>::new(*device, PARTS * part).expect("pinned memory");
        let target = std::cell::RefCell::new(PinnedBuffer::<f32>::new(*device, PARTS * part).expect("pinned memory"));
        let memory = DeviceBuffer::<f32>::zeroed(&streams[0], PARTS * part).expect("memory");
        let memory = std::cell::RefCell::new(memory);
        let run = |stages: [bool; 3], width: usize| {
            let (mut memory, mut target) = (memory.borrow_mut(), target.borrow_mut());
            let start = Instant::now();
            for number in 0..PARTS {
                let (stream, range) = (&streams[number % width], number * part..(number + 1) * part);
                if stages[0] {
                    stream.copy(source.slice(range.clone()), memory.slice_mut(range.clone())).expect("a copy");
                }
                if stages[1] {
                    let (x, grid) = (memory.slice_mut(range.clone()), (part / 256) as u32);
                    // SAFETY: the kernel stays within its part, which its stream alone uses.
                    unsafe { launch!(spin<<<grid, 256, 0, stream>>>(x, 100_u32)) }.expect("a launch");
                }
                if stages[2] {
                    stream.copy(memory.slice(range.clone()), target.slice_mut(range)).expect("a copy");
                }
            }
            streams.iter().for_each(|stream| stream.synchronize().expect("the pipeline"));
            start.elapsed()
        };
        let stages = [[true, false, false], [false, true, false], [false, false, true]];
        // On a CPU all stages run on the same cores.
        let goal = (device.device_type() != DeviceType::Cpu).then_some(1.1);
        ledger.compare(
            criterion,
            Case { group: "pipeline against its longest stage", variant: "4 streams", batch: 1, goal },
            |_| run([true; 3], 4),
            |_| stages.map(|stage| run(stage, 1)).into_iter().max().unwrap_or_default(),
        );
    }
}

fn allocate(bytes: usize) -> *mut c_void {
    let mut memory = null_mut();
    // SAFETY: a variable for the result.
    ok(unsafe { musaMalloc(&mut memory, bytes) });
    memory
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
