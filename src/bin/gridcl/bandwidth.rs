//! `gridcl bandwidth`: how fast memory moves, by direction, kind of host memory and size.

use crate::table::{Table, bytes, print, rate};
use crate::{Outcome, measure, plot};
use gridcl::{Device, DeviceBuffer, PinnedBuffer, Stream};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Measure copies between host and device, on a device, and between devices
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    device: crate::DeviceOption,
    /// The other device of copies between devices; without it the next one, if there is one
    #[arg(long, value_name = "N")]
    peer: Option<usize>,
    /// What to measure, separated by commas; without it all
    #[arg(long, value_delimiter = ',', value_enum)]
    kinds: Vec<Kind>,
    /// Sizes of copies, separated by commas: bytes, or with K, M or G
    #[arg(long, value_delimiter = ',', value_parser = size, default_value = "64K,256K,1M,4M,16M,64M")]
    sizes: Vec<usize>,
    /// Milliseconds spent on each measurement
    #[arg(long, value_name = "MS", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    time: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Draw the result into this file (SVG)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// Pinned host memory to the device
    H2dPinned,
    /// Ordinary host memory to the device
    H2dPageable,
    /// The device to pinned host memory
    D2hPinned,
    /// The device to ordinary host memory
    D2hPageable,
    /// Within the device
    D2d,
    /// From the device to another
    Peer,
}

impl Kind {
    const ALL: [Self; 6] =
        [Self::H2dPinned, Self::H2dPageable, Self::D2hPinned, Self::D2hPageable, Self::D2d, Self::Peer];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::H2dPinned => "host to device, pinned",
            Self::H2dPageable => "host to device, pageable",
            Self::D2hPinned => "device to host, pinned",
            Self::D2hPageable => "device to host, pageable",
            Self::D2d => "on the device",
            Self::Peer => "to another device",
        }
    }
}

/// Reads `64K`.
fn size(text: &str) -> Result<usize, String> {
    let (number, factor) = match text.trim().to_ascii_uppercase().trim_end_matches("IB").trim_end_matches('B') {
        text if text.ends_with('K') => (text.trim_end_matches('K').to_owned(), 1 << 10),
        text if text.ends_with('M') => (text.trim_end_matches('M').to_owned(), 1 << 20),
        text if text.ends_with('G') => (text.trim_end_matches('G').to_owned(), 1 << 30),
        text => (text.to_owned(), 1),
    };
    let number: usize = number.trim().parse().map_err(|_| "not a size; 4096, 64K, 16M and 1G are".to_owned())?;
    let size = number.checked_mul(factor).ok_or("no memory is that large")?;
    if size == 0 { Err("a copy of nothing takes no time".into()) } else { Ok(size) }
}

/// One direction's rates in GB/s, by size.
pub(crate) struct Line {
    pub(crate) kind: Kind,
    pub(crate) rates: Vec<(usize, f64)>,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let device = options.device.get()?;
    let peer = match options.peer {
        Some(peer) => Some(Device::get(peer)?),
        None => Device::get(device.ordinal() + 1).ok(),
    };
    let mut kinds = if options.kinds.is_empty() { Kind::ALL.to_vec() } else { options.kinds.clone() };
    if peer.is_none() && options.kinds.contains(&Kind::Peer) {
        return Err("there is no other device; name one with --peer".into());
    }
    kinds.retain(|kind| *kind != Kind::Peer || peer.is_some());
    let lines = measure_all(options, &kinds, device, peer)?;
    if options.json {
        print(&format!("{:#}\n", as_json(device, &lines)))?;
    } else {
        print(&as_text(device, options, &lines))?;
    }
    if let Some(path) = &options.plot {
        let title = format!("Copies, {}", device.name());
        std::fs::write(path, plot::bandwidth(&title, &lines))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn measure_all(options: &Options, kinds: &[Kind], device: Device, peer: Option<Device>) -> gridcl::Result<Vec<Line>> {
    let bar = ProgressBar::new((kinds.len() * options.sizes.len()) as u64);
    // Hidden where standard error is no terminal.
    bar.set_draw_target(ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    let mut lines = Vec::new();
    for &kind in kinds {
        bar.set_message(kind.name());
        let mut rates = Vec::new();
        for &size in &options.sizes {
            let nanoseconds = measure_one(kind, device, peer, size, Duration::from_millis(options.time))?;
            rates.push((size, size as f64 / nanoseconds));
            bar.inc(1);
        }
        lines.push(Line { kind, rates });
    }
    bar.finish_and_clear();
    Ok(lines)
}

/// Nanoseconds of one copy.
fn measure_one(kind: Kind, device: Device, peer: Option<Device>, size: usize, budget: Duration) -> gridcl::Result<f64> {
    let stream = device.create_stream()?;
    let mut here = DeviceBuffer::<u8>::zeroed(&stream, size)?;
    let settle = || stream.synchronize();
    match kind {
        Kind::H2dPinned | Kind::D2hPinned => pinned(kind, device, &stream, &mut here, budget),
        Kind::H2dPageable => {
            let host = vec![1_u8; size];
            measure::throughput(budget, || stream.upload(&host, &mut here), settle)
        }
        Kind::D2hPageable => {
            let mut host = vec![1_u8; size];
            measure::throughput(budget, || stream.download(&here, &mut host), settle)
        }
        Kind::D2d => {
            let mut there = DeviceBuffer::<u8>::zeroed(&stream, size)?;
            measure::throughput(budget, || stream.copy(&here, &mut there), settle)
        }
        Kind::Peer => {
            let far = peer.unwrap_or(device).create_stream()?;
            let mut there = DeviceBuffer::<u8>::zeroed(&far, size)?;
            far.synchronize()?;
            measure::throughput(budget, || stream.copy(&here, &mut there), settle)
        }
    }
}

fn pinned(
    kind: Kind,
    device: Device,
    stream: &Stream,
    here: &mut DeviceBuffer<u8>,
    budget: Duration,
) -> gridcl::Result<f64> {
    let mut host = PinnedBuffer::<u8>::new(device, here.len())?;
    let settle = || stream.synchronize();
    if kind == Kind::H2dPinned {
        measure::throughput(budget, || stream.copy(&host, &mut *here), settle)
    } else {
        measure::throughput(budget, || stream.copy(&*here, &mut host), settle)
    }
}

fn as_text(device: Device, options: &Options, lines: &[Line]) -> String {
    const MOST: usize = 32;
    let mut heading = vec!["size"];
    heading.extend(lines.iter().map(|line| line.kind.name()).take(MOST));
    let mut table = Table::new(&heading, 0);
    for (index, &size) in options.sizes.iter().enumerate() {
        let rates = lines.iter().map(|line| rate(line.rates[index].1));
        table.row([bytes(size as f64)].into_iter().chain(rates));
    }
    format!("{device}, {}: GB/s (10^9 bytes a second)\n\n{}", device.platform(), table.text())
}

fn as_json(device: Device, lines: &[Line]) -> Value {
    let line = |line: &Line| {
        let rates: Vec<Value> =
            line.rates.iter().map(|(size, rate)| json!({ "bytes": size, "gigabytes_per_second": rate })).collect();
        json!({ "kind": line.kind.name(), "rates": rates })
    };
    json!({
        "device": { "ordinal": device.ordinal(), "name": device.name(), "driver": device.driver_version() },
        "copies": lines.iter().map(line).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_letters() {
        assert_eq!(
            ["4096", "64K", "16M", "1g", "2 MiB", "3KB"].map(|text| size(text).ok()),
            [Some(4096), Some(65_536), Some(16 << 20), Some(1 << 30), Some(2 << 20), Some(3 << 10)]
        );
        for wrong in ["", "0", "-1", "K", "1T", "99999999999999G"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
