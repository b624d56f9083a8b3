//! What the disk cache saves: build plus first launch of a module, cold and from gridcl's cache, with the driver's own
//! cache off or empty each time. Every run is a process of its own.
//!
//! Prints a table, which `README.md` here explains. Nothing fails for being late.

#![allow(clippy::panic, reason = "a benchmark that cannot run says so by ending")]

use gridcl::prelude::*;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Tells a process that it is a run, and of which module.
const RUN: &str = "GRIDCL_BENCH_MODULE";
/// Runs of each kind; their median counts.
const RUNS: usize = 5;

/// What is built.
struct Case {
    name: &'static str,
    text: fn() -> String,
}

const CASES: [Case; 3] = [
    Case { name: "one small kernel", text: || "__kernel void k(__global float *y, int n) { y[0] = n; }".into() },
    Case { name: "matrix product, reduction, structs", text: middle },
    Case { name: "12 kernels with symbols", text: large },
];

fn middle() -> String {
    "
    typedef struct { float scale; int n; } config;
    typedef float3 v;
    __kernel void k(__global float *y, int n) { for (int i = 0; i < n; i++) y[get_global_id(0)] += sin(y[i]) * i; }
    __kernel void product(__global const float *a, __global const float *b, __global float *c, int n, config with) {
        __local float left[16][16], right[16][16];
        int x = get_local_id(0), y = get_local_id(1), row = get_global_id(1), column = get_global_id(0);
        float sum = 0;
        for (int tile = 0; tile < n; tile += 16) {
            left[y][x] = a[row * n + tile + x];
            right[y][x] = b[(tile + y) * n + column];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int i = 0; i < 16; i++) sum += left[y][i] * right[i][x];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        c[row * n + column] = sum * with.scale;
    }
    __kernel void reduce(__global const float *x, __global float *y, __local float *part, v by) {
        int i = get_local_id(0);
        part[i] = x[get_global_id(0)] * by.x;
        for (int left = get_local_size(0) / 2; left > 0; left /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (i < left) part[i] += part[i + left];
        }
        if (i == 0) y[get_group_id(0)] = part[0];
    }"
    .into()
}

fn large() -> String {
    let mut text = String::from("__constant__ float table[4] = {1, 2, 3, 4};\n__device__ int calls;\n");
    for number in 0..12 {
        let name = if number == 0 { "k".to_owned() } else { format!("k{number}") };
        text.push_str(&format!(
            "__kernel void {name}(__global float *y, int n) {{
                float sum = 0;
                for (int i = 0; i < n; i++) {{
                    sum += native_sin(y[i] * {number}) * table[i % 4];
                    sum = fmax(sum, sqrt(fabs(sum)) + i);
                }}
                y[get_global_id(0)] = sum + exp(sum);
                calls++;
            }}\n"
        ));
    }
    text
}

fn main() {
    match std::env::var(RUN).as_deref() {
        Ok("device") => return describe(),
        Ok(number) => return run(&CASES[number.parse::<usize>().expect("a number")]),
        Err(_) => {}
    }
    // Whoever asks for one of the other benchmark's rows by name does not ask for this.
    if std::env::args().skip(1).any(|argument| !argument.starts_with('-') && !"module_cache".contains(&argument)) {
        return;
    }
    // This process never opens the device: where one process holds it for itself, those that measure would have none.
    println!("{}", text_of(Command::new(std::env::current_exe().expect("this program")).env(RUN, "device")));
    println!("{:<36} {:>10} {:>10} {:>10} {:>10} {:>7}", "module", "off", "cold", "its wait", "warm", "ratio");
    for (number, case) in CASES.iter().enumerate() {
        let mut times = [const { Vec::new() }; 4];
        for _ in 0..RUNS {
            let folder = tempfile::tempdir().expect("a folder");
            let cache = folder.path().join("gridcl");
            times[0].push(child(number, None));
            let cold = child(number, Some(&cache));
            times[1].push(cold[0..1].to_vec());
            times[2].push(cold[1..2].to_vec());
            times[3].push(child(number, Some(&cache)));
        }
        let [off, cold, again, warm] = times.map(|runs| median(runs.into_iter().map(|run| run[0]).collect()));
        println!("{:<36} {off:>7.1} ms {cold:>7.1} ms {again:>7.1} ms {warm:>7.1} ms {:>6.1}x", case.name, off / warm);
    }
}

/// Runs a case in a process of its own, with the driver's cache off or empty; answers its times in milliseconds.
fn child(number: usize, cache: Option<&Path>) -> Vec<f64> {
    let driver = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.env(RUN, number.to_string()).env("POCL_CACHE_DIR", driver.path()).env("CUDA_CACHE_DISABLE", "1");
    match cache {
        Some(folder) => command.env("GRIDCL_CACHE_DIR", folder).env_remove("GRIDCL_CACHE"),
        None => command.env("GRIDCL_CACHE", "0"),
    };
    text_of(&mut command).split_whitespace().map(|time| time.parse().expect("a time")).collect()
}

/// What a process prints.
fn text_of(command: &mut Command) -> String {
    let output = command.output().expect("a process");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}\n{text}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    text
}

/// Prints which device is measured.
fn describe() {
    let device = Device::get(0).unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(1);
    });
    println!("build and first launch on {device}");
    println!("{}, driver {}; the driver's own cache is off or empty", device.platform(), device.driver_version());
}

/// Prints how long a build and a first launch take, and how long the wait takes in which the cache is written.
fn run(case: &Case) {
    let device = Device::get(0).expect("a device");
    let stream = device.create_stream().expect("a stream");
    let text = (case.text)();
    // What only the first use of the driver costs, so that it is in none of the times.
    let memory = DeviceBuffer::<f32>::zeroed(&stream, 1024).expect("memory");
    stream.synchronize().expect("an idle stream");
    let start = Instant::now();
    let kernel = Module::from_source(device, &text).and_then(|module| module.kernel("k")).expect("the module");
    // SAFETY: the buffer has an element for each of the work items.
    unsafe { kernel.launch(16, 64).stream(&stream).arg(&memory).arg(&4_i32).run() }.expect("a launch");
    // Ends with the work, and in PoCL's case before the cache is written.
    while !stream.is_done().expect("a stream") {
        std::thread::yield_now();
    }
    let first = start.elapsed();
    let start = Instant::now();
    stream.synchronize().expect("a stream");
    let rest = start.elapsed();
    println!("{} {}", first.as_secs_f64() * 1e3, rest.as_secs_f64() * 1e3);
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
