//! Costs that must not grow: what an operation takes beside more and more live allocations and idle streams, with more
//! arguments, and from more host threads.
//!
//! `growth` does all, `growth allocations` one part. Prints a table for each; see `README.md` here. Nothing fails for being
//! slow.

#![allow(clippy::panic, reason = "a benchmark that cannot run says so by ending")]

mod raw;

use gridcl::musa::*;
use gridcl::prelude::*;
use raw::{Form, Raw, RawKernel};
use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;
use std::sync::Barrier;
use std::time::Instant;

/// Batches of which the median counts.
const BATCHES: usize = 61;
/// Operations in a batch, and launches between two waits.
const BATCH: usize = 64;

fn main() {
    let device = Device::get(0).unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(1);
    });
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    println!("\nCosts that must not grow, on {device}");
    println!("{}, driver {}, memory form {}", device.platform(), device.driver_version(), device.memory_form());
    type Part = (&'static str, fn(Device));
    let parts: [Part; 4] = [
        ("allocations", beside_allocations),
        ("streams", beside_streams),
        ("arguments", with_arguments),
        ("threads", from_threads),
    ];
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            part(device);
        }
    }
    println!("\nMedians of {BATCHES} batches; goal: the most that the ratio may be.");
}

/// Nanoseconds of one operation of a batch, with a wait behind each batch that is not counted.
fn batch(mut act: impl FnMut(usize), wait: impl Fn()) -> f64 {
    let start = Instant::now();
    (0..BATCH).for_each(&mut act);
    let time = start.elapsed();
    wait();
    time.as_secs_f64() * 1e9 / BATCH as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn time(mut act: impl FnMut(usize), wait: impl Fn()) -> f64 {
    median((0..BATCHES).map(|_| batch(&mut act, &wait)).collect())
}

/// The two sides' median times, and that of their ratios, by batches in turn.
fn compare(mut one: impl FnMut() -> f64, mut other: impl FnMut() -> f64) -> (f64, f64, f64) {
    let pair = |turn: usize| {
        // Whoever comes first finds other caches than who comes second.
        if turn.is_multiple_of(2) {
            let one = one();
            (one, other())
        } else {
            let other = other();
            (one(), other)
        }
    };
    let pairs: Vec<_> = (0..BATCHES).map(pair).collect();
    let of = |pick: fn(&(f64, f64)) -> f64| median(pairs.iter().map(pick).collect());
    (of(|pair| pair.0), of(|pair| pair.1), of(|pair| pair.0 / pair.1))
}

fn head(title: &str, first: &str, second: &str) {
    println!("\n{title:<36}{first:>12}{second:>14}{:>9}{:>7}  verdict", "ratio", "goal");
}

fn row(name: &str, first: f64, second: f64, ratio: f64, goal: Option<f64>) {
    let verdict = goal.map_or("", |goal| if ratio <= goal { "meets" } else { "misses" });
    let goal = goal.map_or("-".to_owned(), |goal| format!("{goal:.2}"));
    println!("{name:<36}{first:>9.0} ns{second:>11.0} ns{ratio:>9.3}{goal:>7}  {verdict}");
}

#[inline]
fn ok(code: musaError_t) {
    assert_eq!(code, musaSuccess, "{}", gridcl::last_error_detail().unwrap_or_default());
}

fn allocate(bytes: usize) -> *mut c_void {
    let mut pointer = null_mut();
    // SAFETY: a variable for the result.
    ok(unsafe { musaMalloc(&mut pointer, bytes) });
    pointer
}

fn synchronize() {
    ok(musaDeviceSynchronize());
}

/// A kernel of so many arguments, a pointer and a number in turn, which does nothing.
fn source(arguments: usize) -> String {
    let one = |index: usize| match index % 2 {
        0 => format!("__global int *a{index}"),
        _ => format!("int a{index}"),
    };
    let list: Vec<String> = (0..arguments).map(one).collect();
    format!("__kernel void many({}) {{ if (a0 == 0) a0[1] = 1; }}", list.join(", "))
}

/// A kernel through gridcl, with two sets of arguments.
struct Launched {
    module: musaModule_t,
    function: musaFunction_t,
    pointers: [*mut c_void; 2],
    arguments: usize,
}

impl Launched {
    fn new(arguments: usize) -> Self {
        let text = CString::new(source(arguments)).expect("a text without NUL");
        let (mut module, mut function) = (null_mut(), null_mut());
        let name: &CStr = c"many";
        // SAFETY: variables for the results, and texts that end with NUL.
        unsafe {
            ok(musaModuleLoadData(&mut module, text.as_ptr().cast()));
            ok(musaModuleGetFunction(&mut function, module, name.as_ptr()));
        }
        Self { module, function, pointers: [allocate(4096), allocate(4096)], arguments }
    }

    /// Launches with one of the sets of arguments.
    #[inline]
    fn run(&self, set: usize, stream: musaStream_t) {
        let (mut pointer, mut number) = (self.pointers[set % 2], (set % 2) as i32);
        let (pointer, number) = ((&raw mut pointer).cast(), (&raw mut number).cast());
        let mut list: [*mut c_void; 64] = [null_mut(); 64];
        for (index, entry) in list[..self.arguments].iter_mut().enumerate() {
            *entry = if index % 2 == 0 { pointer } else { number };
        }
        // SAFETY: there is an address for each parameter, and the kernel writes nothing.
        ok(unsafe { musaLaunchKernel(self.function.cast(), 1.into(), 64.into(), list.as_mut_ptr(), 0, stream) });
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        ok(musaModuleUnload(self.module));
        self.pointers.iter().for_each(|&pointer| ok(musaFree(pointer)));
    }
}

fn beside_allocations(_: Device) {
    let launched = Launched::new(8);
    let malloc = || time(|_| ok(musaFree(allocate(4096))), || ());
    // Every pointer is another one than in the launch before, so that all are looked up.
    let launch = || time(|turn| launched.run(turn, null_mut()), synchronize);
    let sizes = [1, 10, 100, 1_000, 10_000, 100_000];
    let mut live = Vec::new();
    let mut times = Vec::new();
    malloc();
    for size in sizes {
        live.resize_with(size, || allocate(256));
        times.push([malloc(), launch()]);
    }
    live.drain(1..).for_each(|pointer| ok(musaFree(pointer)));
    // A machine that became faster or slower meanwhile is no growth.
    let again = [malloc(), launch()];
    ok(musaFree(live[0]));
    for (at, title, goal) in [(0, "malloc and free", Some(1.5)), (1, "launch, 8 changing arguments", None)] {
        let first = (times[0][at] + again[at]) / 2.0;
        head(title, "beside 1", "beside all");
        for (size, times) in sizes.iter().zip(&times) {
            row(&format!("{size} live allocations"), first, times[at], times[at] / first, goal);
        }
    }
}

fn beside_streams(_: Device) {
    let launched = Launched::new(1);
    let made = || {
        let mut stream = null_mut();
        // SAFETY: a variable for the result.
        ok(unsafe { musaStreamCreate(&mut stream) });
        stream
    };
    let used = |count: usize| {
        let streams: Vec<_> = (0..count).map(|_| made()).collect();
        streams.iter().for_each(|&stream| launched.run(0, stream));
        synchronize();
        streams
    };
    let own = made();
    for (title, stream) in [("launch in a stream", own), ("launch in the default stream", null_mut())] {
        head(title, "beside none", "beside all");
        for count in [1, 10, 100, 1_000] {
            let measured = |idle: usize| {
                let streams = used(idle);
                let time = batch(|_| launched.run(0, stream), synchronize);
                streams.into_iter().for_each(|stream| ok(musaStreamDestroy(stream)));
                time
            };
            // The same comes and goes on both sides.
            let (all, none, ratio) = compare(
                || measured(count),
                || {
                    used(count).into_iter().for_each(|stream| ok(musaStreamDestroy(stream)));
                    measured(0)
                },
            );
            row(&format!("{count} idle streams"), none, all, ratio, Some(1.1));
        }
    }
    ok(musaStreamDestroy(own));
}

/// The kernel in plain OpenCL, where every argument is set for every launch.
struct Plain {
    queue: Raw,
    kernel: RawKernel,
    blocks: [raw::Block; 2],
    arguments: usize,
}

impl Plain {
    fn new(queue: Raw, form: Form, arguments: usize) -> Self {
        let kernel = queue.kernel(&source(arguments), "many");
        Self { kernel, blocks: [queue.block(form, 4096), queue.block(form, 4096)], queue, arguments }
    }

    #[inline]
    fn run(&self, set: usize) {
        for index in 0..self.arguments {
            match index % 2 {
                0 => self.kernel.set_block(index as u32, &self.blocks[set % 2]),
                _ => self.kernel.set(index as u32, &((set % 2) as i32)),
            }
        }
        self.queue.launch(&self.kernel, 64, 64);
    }
}

fn with_arguments(device: Device) {
    let form = Form::named(device.memory_form());
    let queue = Raw::open(device.platform(), device.name());
    for (title, turns) in [("launch, arguments stay", 0), ("launch, all arguments change", 1)] {
        head(title, "plain OpenCL", "gridcl");
        for count in [1, 2, 4, 8, 16, 32, 64] {
            let launched = Launched::new(count);
            let plain = Plain::new(queue.beside(), form, count);
            let (ours, theirs, ratio) = compare(
                || batch(|turn| launched.run(turn * turns, null_mut()), synchronize),
                || batch(|turn| plain.run(turn * turns), || plain.queue.finish()),
            );
            row(&format!("{count} arguments"), theirs, ours, ratio, Some(1.05));
        }
    }
}

/// Wall time of one launch while `count` threads do what `thread` answers, each on its own.
fn side_by_side(count: usize, thread: impl Fn(usize) + Sync) -> f64 {
    const ROUNDS: usize = 8;
    let barrier = Barrier::new(count + 1);
    std::thread::scope(|scope| {
        for number in 0..count {
            let (barrier, thread) = (&barrier, &thread);
            scope.spawn(move || {
                thread(number);
                barrier.wait();
                (0..ROUNDS).for_each(|_| thread(number));
                barrier.wait();
            });
        }
        barrier.wait();
        let start = Instant::now();
        barrier.wait();
        start.elapsed().as_secs_f64() * 1e9 / (ROUNDS * BATCH * count) as f64
    })
}

fn from_threads(device: Device) {
    let form = Form::named(device.memory_form());
    let queue = Raw::open(device.platform(), device.name());
    let mut rows = Vec::new();
    for count in [1, 2, 4, 8, 16] {
        let streams: Vec<Stream> = (0..count).map(|_| device.create_stream().expect("a stream")).collect();
        let module = Module::from_source(device, &source(1)).expect("the kernel");
        let kernel = module.kernel("many").expect("a kernel");
        let memory: Vec<_> =
            streams.iter().map(|stream| DeviceBuffer::<i32>::zeroed(stream, 1024).expect("memory")).collect();
        let plain: Vec<Plain> = (0..count).map(|_| Plain::new(queue.beside(), form, 1)).collect();
        let ours = |number: usize| {
            let stream = &streams[number];
            for _ in 0..BATCH {
                // SAFETY: the kernel writes nothing.
                unsafe { gridcl::launch!(kernel<<<1, 64, 0, stream>>>(memory[number])) }.expect("a launch");
            }
            stream.synchronize().expect("the launches");
        };
        let theirs = |number: usize| {
            (0..BATCH).for_each(|_| plain[number].run(0));
            plain[number].queue.finish();
        };
        let (ours, theirs, ratio) = compare(|| side_by_side(count, ours), || side_by_side(count, theirs));
        rows.push((format!("{count} threads, one kernel"), theirs, ours, ratio));
    }
    let first = rows[0].2;
    head("64 launches and a wait, by each", "1 thread", "all");
    rows.iter().for_each(|(name, _, ours, _)| row(name, first, *ours, ours / first, Some(1.1)));
    head("the same beside plain OpenCL", "plain OpenCL", "gridcl");
    rows.iter().for_each(|(name, theirs, ours, ratio)| row(name, *theirs, *ours, *ratio, None));
}
