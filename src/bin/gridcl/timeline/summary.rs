//! `gridcl trace summary`: the tables that people know from profilers.

use super::read::{Slice, Timeline, Track, TrackId, read};
use super::spans::{Span, at_once, common, length, union};
use crate::Outcome;
use crate::table::{Table, bytes, print, rate, share, time};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// Print the top calls, kernels and copies, and how busy the devices were
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// What GRIDCL_TRACE wrote
    file: PathBuf,
    /// Show at most so many lines of a table
    #[arg(long, value_name = "COUNT", default_value_t = 15)]
    top: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let timeline = read(&options.file)?;
    let summary = Summary::of(&timeline);
    if options.json {
        print(&format!("{:#}\n", summary.as_json(&timeline)))?;
    } else {
        print(&summary.as_text(&timeline, options.top))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What several slices of one name come to. Times in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sum {
    name: String,
    count: u64,
    total: u64,
    least: u64,
    most: u64,
    bytes: u64,
}

/// How busy one device was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Device {
    name: String,
    streams: usize,
    /// From its first work to the end of its last.
    span: u64,
    busy: u64,
    /// With work of several streams at once.
    at_once: u64,
    kernels: u64,
    copies: u64,
    /// With kernels and copies at once.
    overlap: u64,
}

#[derive(Debug, Default)]
struct Summary {
    span: u64,
    calls: Vec<Sum>,
    kernels: Vec<Sum>,
    /// Copies and sets.
    moves: Vec<Sum>,
    devices: Vec<Device>,
}

impl Summary {
    fn of(timeline: &Timeline) -> Self {
        let all = || timeline.tracks.iter().flat_map(|(id, track)| track.slices.iter().map(move |slice| (*id, slice)));
        let start = all().map(|(_, slice)| slice.start).min().unwrap_or(0);
        let end = all().map(|(_, slice)| slice.end).max().unwrap_or(0);
        let of = |wanted: &dyn Fn(TrackId, &Slice) -> bool| {
            sums(all().filter(|(id, slice)| wanted(*id, slice)).map(|(_, slice)| slice))
        };
        Self {
            span: end - start,
            calls: of(&|id, slice| !id.is_device() && slice.category == "api"),
            kernels: of(&|id, slice| id.is_device() && slice.category == "kernel"),
            // The host's threads do small copies themselves.
            moves: of(&|_, slice| ["copy", "set"].contains(&slice.category.as_str())),
            devices: devices(timeline),
        }
    }

    fn as_text(&self, timeline: &Timeline, top: usize) -> String {
        let mut text = format!("{}, {}\n", timeline.program, time(self.span as f64));
        if !timeline.is_whole {
            text.push_str("The file lacks its end: the program was killed, or still runs.\n");
        }
        if timeline.lost > 0 {
            text.push_str(&format!("{} commands are missing: nobody waited for them.\n", timeline.lost));
        }
        let mut add = |title: &str, table: Table| {
            if !table.is_empty() {
                text.push_str(&format!("\n\x1b[1m{title}\x1b[0m\n{}", table.text()));
            }
        };
        add("calls", timed("call", &self.calls, top));
        add("kernels", timed("kernel", &self.kernels, top));
        add("copies and sets", moved(&self.moves, top));
        add("devices", busy(&self.devices));
        text
    }

    fn as_json(&self, timeline: &Timeline) -> Value {
        let list = |sums: &[Sum]| -> Vec<Value> {
            let one = |sum: &Sum| {
                json!({
                    "name": sum.name, "count": sum.count, "bytes": sum.bytes,
                    "total_ns": sum.total, "min_ns": sum.least, "max_ns": sum.most,
                })
            };
            sums.iter().map(one).collect()
        };
        let device = |device: &Device| {
            json!({
                "name": device.name, "streams": device.streams, "span_ns": device.span, "busy_ns": device.busy,
                "idle_ns": device.span - device.busy, "several_streams_ns": device.at_once,
                "kernels_ns": device.kernels, "copies_ns": device.copies, "copies_behind_kernels_ns": device.overlap,
            })
        };
        json!({
            "program": timeline.program, "span_ns": self.span, "whole": timeline.is_whole, "lost_commands": timeline.lost,
            "calls": list(&self.calls), "kernels": list(&self.kernels), "copies_and_sets": list(&self.moves),
            "devices": self.devices.iter().map(device).collect::<Vec<_>>(),
        })
    }
}

/// By name, what took longest first.
fn sums<'a>(slices: impl Iterator<Item = &'a Slice>) -> Vec<Sum> {
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    for slice in slices {
        let took = slice.end - slice.start;
        let sum = sums.entry(&slice.name).or_insert_with(|| Sum { least: u64::MAX, ..Sum::default() });
        sum.count += 1;
        sum.total += took;
        sum.least = sum.least.min(took);
        sum.most = sum.most.max(took);
        sum.bytes += slice.bytes;
    }
    let mut sums: Vec<Sum> = sums.into_iter().map(|(name, sum)| Sum { name: name.to_owned(), ..sum }).collect();
    sums.sort_by_key(|sum| std::cmp::Reverse(sum.total));
    sums
}

fn devices(timeline: &Timeline) -> Vec<Device> {
    let mut processes: BTreeMap<u64, Vec<&Track>> = BTreeMap::new();
    for (id, track) in timeline.tracks.iter().filter(|(id, track)| id.is_device() && !track.slices.is_empty()) {
        processes.entry(id.process).or_default().push(track);
    }
    processes.into_values().map(|tracks| device(&tracks)).collect()
}

fn device(tracks: &[&Track]) -> Device {
    let spans = |wanted: &dyn Fn(&Slice) -> bool| -> Vec<Span> {
        let slices = tracks.iter().flat_map(|track| &track.slices).filter(|slice| wanted(slice));
        slices.map(|slice| (slice.start, slice.end)).collect()
    };
    let all = spans(&|_| true);
    let busy = union(all.clone());
    let kernels = union(spans(&|slice| slice.category == "kernel"));
    let copies = union(spans(&|slice| slice.category == "copy"));
    Device {
        name: tracks[0].process.clone(),
        streams: tracks.len(),
        span: busy.last().map_or(0, |last| last.1) - busy.first().map_or(0, |first| first.0),
        busy: length(&busy),
        at_once: at_once(&all),
        overlap: common(&kernels, &copies),
        kernels: length(&kernels),
        copies: length(&copies),
    }
}

fn timed(what: &'static str, sums: &[Sum], top: usize) -> Table {
    let all: u64 = sums.iter().map(|sum| sum.total).sum();
    let mut table = Table::new(&[what, "count", "total", "part", "mean", "min", "max"], 1);
    for sum in sums.iter().take(top) {
        table.row([
            sum.name.clone(),
            sum.count.to_string(),
            time(sum.total as f64),
            share(sum.total as f64, all as f64),
            time(sum.total as f64 / sum.count as f64),
            time(sum.least as f64),
            time(sum.most as f64),
        ]);
    }
    rest(&mut table, sums.len().saturating_sub(top));
    table
}

fn moved(sums: &[Sum], top: usize) -> Table {
    let mut table = Table::new(&["what", "count", "total", "bytes", "GB/s", "mean", "max"], 1);
    for sum in sums.iter().take(top) {
        let gigabytes = sum.bytes as f64 / sum.total.max(1) as f64;
        table.row([
            sum.name.clone(),
            sum.count.to_string(),
            time(sum.total as f64),
            bytes(sum.bytes as f64),
            if sum.bytes > 0 { rate(gigabytes) } else { String::new() },
            time(sum.total as f64 / sum.count as f64),
            time(sum.most as f64),
        ]);
    }
    rest(&mut table, sums.len().saturating_sub(top));
    table
}

fn rest(table: &mut Table, more: usize) {
    if more > 0 {
        table.row([format!("… and {more} more (--top)")]);
    }
}

fn busy(devices: &[Device]) -> Table {
    let heading = ["device", "streams", "span", "busy", "idle", "several streams", "kernels", "copies", "both at once"];
    let mut table = Table::new(&heading, 1);
    for device in devices {
        let part = |of: u64| format!("{} ({})", time(of as f64), share(of as f64, device.span as f64));
        table.row([
            device.name.clone(),
            device.streams.to_string(),
            time(device.span as f64),
            part(device.busy),
            part(device.span - device.busy),
            part(device.at_once),
            part(device.kernels),
            part(device.copies),
            part(device.overlap),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::read::parse;
    use super::*;

    #[test]
    fn sums_and_overlaps_are_right() {
        let slice = |thread: u32, category: &str, name: &str, at: u32, took: u32, bytes: u32| {
            format!(
                r#"{{"ph":"X","pid":2,"tid":{thread},"ts":{at},"dur":{took},"cat":"{category}","name":"{name}","args":{{"bytes":{bytes}}}}}"#
            )
        };
        let lines = [
            slice(1, "copy", "up", 0, 10, 4000),
            slice(1, "kernel", "k", 10, 20, 0),
            slice(2, "copy", "up", 15, 10, 8000),
            slice(2, "kernel", "k", 50, 10, 0),
        ];
        let timeline = parse(&format!("[{}]", lines.join(","))).expect("a timeline");
        let summary = Summary::of(&timeline);
        assert_eq!(
            summary.kernels[0],
            Sum { name: "k".into(), count: 2, total: 30_000, least: 10_000, most: 20_000, bytes: 0 }
        );
        assert_eq!((summary.moves[0].count, summary.moves[0].bytes, summary.moves[0].total), (2, 12_000, 20_000));
        let device = &summary.devices[0];
        assert_eq!((device.streams, device.span, device.busy), (2, 60_000, 40_000));
        assert_eq!((device.at_once, device.overlap, device.kernels, device.copies), (10_000, 10_000, 30_000, 20_000));
        let text = summary.as_text(&timeline, 1);
        assert!(text.contains("0.60"), "12,000 bytes in 20 us: {text}");
    }
}
