//! How fast copies are by their size, from 4 B to 1 GiB: a table, and a picture of it.
//!
//! `cargo bench --bench curve -- [MIB] [FILE]` goes up to so many MiB (1024) and draws into the file
//! (`target/copies.svg`). Each size is copied through gridcl and in plain OpenCL in turn, each with its wait.

#![allow(clippy::panic, reason = "a benchmark that cannot run says so by ending")]
#![allow(dead_code, reason = "the plain side has what other benchmarks need, too")]

mod raw;

use gridcl::prelude::*;
use raw::{Form, Raw};
use std::fmt::Write;
use std::time::Instant;

const SERIES: [(&str, &str); 4] = [
    ("pinned to device", "#1b6ca8"),
    ("device to pinned", "#c0392b"),
    ("pageable to device", "#e08e0b"),
    ("device to device", "#2e7d32"),
];

/// Bytes a second at one size, by series: gridcl's and plain OpenCL's.
struct Point {
    bytes: usize,
    rates: [[f64; 2]; SERIES.len()],
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    // Whoever asks for another benchmark's rows by name does not ask for this.
    let mib = arguments.iter().find_map(|argument| argument.parse::<usize>().ok());
    let file = arguments.iter().find(|argument| argument.ends_with(".svg")).map_or("target/copies.svg", |file| file);
    if !arguments.is_empty() && mib.is_none() && !arguments.iter().any(|argument| "curve".contains(&**argument)) {
        return;
    }
    let device = Device::get(0).unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(1);
    });
    let most = mib.unwrap_or(1024).max(1) << 20;
    println!("{device}, {} {}, memory {}", device.platform(), device.driver_version(), device.memory_form());
    let names = SERIES.map(|(name, _)| format!("{name:>20}"));
    println!("GB/s, gridcl and plain OpenCL\n{:>12} {}", "bytes", names.concat());
    let points: Vec<Point> = (1..=15)
        .map(|power| 1 << (2 * power))
        .filter(|&bytes| bytes <= most)
        .map(|bytes| measure(device, bytes))
        .collect();
    std::fs::write(file, draw(device, &points)).unwrap_or_else(|error| panic!("{file}: {error}"));
    println!("drawn into {file}");
}

fn measure(device: Device, bytes: usize) -> Point {
    let raw = Raw::open(device.platform(), device.name());
    let form = Form::named(device.memory_form());
    let stream = device.create_stream().expect("a stream");
    let mut memory = DeviceBuffer::<u8>::zeroed(&stream, bytes).expect("memory");
    let mut other = DeviceBuffer::<u8>::zeroed(&stream, bytes).expect("memory");
    let mut pinned = PinnedBuffer::<u8>::new(device, bytes).expect("pinned memory");
    let pageable = vec![1_u8; bytes];
    let (raw_memory, raw_other, raw_pinned) = (raw.block(form, bytes), raw.block(form, bytes), raw.pinned(bytes));
    raw.fill(&raw_memory, 0, bytes);
    raw.fill(&raw_other, 0, bytes);
    // Memory that nobody wrote is one page of zeros, and quick to read.
    raw.download(raw_pinned, &raw_memory, bytes);
    raw.finish();
    let mut run = |series: usize, plain: bool| match (series, plain) {
        (0, false) => stream.copy(&pinned, &mut memory).expect("a copy"),
        (1, false) => stream.copy(&memory, &mut pinned).expect("a copy"),
        (2, false) => stream.upload(&pageable, &mut memory).expect("a copy"),
        (_, false) => stream.copy(&memory, &mut other).expect("a copy"),
        (0, true) => raw.upload(&raw_memory, raw_pinned, bytes),
        (1, true) => raw.download(raw_pinned, &raw_memory, bytes),
        (2, true) => raw.upload(&raw_memory, pageable.as_ptr().cast(), bytes),
        (_, true) => raw.copy(&raw_other, &raw_memory, bytes),
    };
    let wait = |plain: bool| if plain { raw.finish() } else { stream.synchronize().expect("the copy") };
    let mut rates = [[0.0; 2]; SERIES.len()];
    for (series, rates) in rates.iter_mut().enumerate() {
        let mut times = [Vec::new(), Vec::new()];
        // Few for what takes long, and the first does not count.
        for sample in 0..=(64 << 20 >> bytes.ilog2()).clamp(5, 101) {
            for (plain, times) in times.iter_mut().enumerate() {
                let start = Instant::now();
                run(series, plain == 1);
                wait(plain == 1);
                if sample > 0 {
                    times.push(start.elapsed().as_secs_f64());
                }
            }
        }
        *rates = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            bytes as f64 / times[times.len() / 2]
        });
    }
    raw_memory.free(&raw);
    raw_other.free(&raw);
    let texts = rates.map(|[ours, plain]| format!("{:>11.4} {:>8.4}", ours / 1e9, plain / 1e9));
    println!("{bytes:>12} {}", texts.concat());
    Point { bytes, rates }
}

/// The points on scales that both grow by factors: sizes by 4, rates by 10.
fn draw(device: Device, points: &[Point]) -> String {
    const LEFT: f64 = 70.0;
    const TOP: f64 = 40.0;
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 360.0;
    let rates = || points.iter().flat_map(|point| point.rates.as_flattened()).map(|rate| rate.log10());
    let (low, high) = (rates().fold(f64::MAX, f64::min).floor(), rates().fold(0.0, f64::max).ceil());
    let last = points.len().max(2) as f64 - 1.0;
    let x = |index: usize| LEFT + WIDTH * index as f64 / last;
    let y = |power: f64| TOP + HEIGHT * (high - power) / (high - low).max(1.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 940 450\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"940\" height=\"450\" fill=\"white\"/>\n<text x=\"{LEFT}\" y=\"22\" font-size=\"14\">Copies on {}, {} {}</text>\n",
        device.name(),
        device.platform(),
        device.driver_version()
    );
    let mut line = |text: std::fmt::Arguments<'_>| writeln!(svg, "{text}").expect("a string takes all");
    for power in low as i32..=high as i32 {
        let at = y(power.into());
        line(format_args!("<path d=\"M{LEFT} {at:.1}h{WIDTH}\" stroke=\"#ddd\"/>"));
        line(format_args!(
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            at + 4.0,
            rate_text(power)
        ));
    }
    for (index, point) in points.iter().enumerate().step_by(2) {
        let (at, size) = (x(index), size_text(point.bytes));
        line(format_args!("<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{size}</text>", TOP + HEIGHT + 18.0));
    }
    for (series, (name, colour)) in SERIES.into_iter().enumerate() {
        for (side, dashes) in ["", " stroke-dasharray=\"5 4\""].into_iter().enumerate() {
            let places = points.iter().enumerate();
            let path: Vec<String> = places
                .map(|(index, point)| format!("{:.1},{:.1}", x(index), y(point.rates[series][side].log10())))
                .collect();
            let path = path.join(" ");
            line(format_args!(
                "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"{dashes}/>"
            ));
        }
        let at = TOP + 20.0 * series as f64 + 12.0;
        line(format_args!("<text x=\"{}\" y=\"{at}\" fill=\"{colour}\">{name}</text>", LEFT + WIDTH + 20.0));
    }
    line(format_args!("<text x=\"{}\" y=\"{}\">dashed: plain OpenCL</text>", LEFT + WIDTH + 20.0, TOP + 100.0));
    svg + "</svg>\n"
}

fn rate_text(power: i32) -> String {
    let unit = ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"][(power / 3).clamp(0, 4) as usize];
    format!("{} {unit}", 10_u32.pow((power % 3).max(0) as u32))
}

fn size_text(bytes: usize) -> String {
    match bytes.ilog2() {
        power @ 30.. => format!("{} GiB", 1 << (power - 30)),
        power @ 20.. => format!("{} MiB", 1 << (power - 20)),
        power @ 10.. => format!("{} KiB", 1 << (power - 10)),
        _ => format!("{bytes} B"),
    }
}
