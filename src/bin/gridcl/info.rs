//! `gridcl info`: which devices there are, in which order and why, and what gridcl makes up for.

use crate::Outcome;
use crate::table::{Table, bytes, print};
use gridcl::Device;
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::ExitCode;

/// Show the devices, why they are in this order, and what gridcl does where a driver lacks something
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Show only this device
    #[arg(short, long, value_name = "N")]
    device: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let devices = match options.device {
        Some(ordinal) => vec![Device::get(ordinal)?],
        None => Device::all(),
    };
    if options.json {
        print(&format!("{:#}\n", as_json(&devices)?))?;
    } else if devices.is_empty() {
        // Its error says what was looked for and what to install.
        Device::get(0)?;
    } else {
        print(&as_text(&devices)?)?;
    }
    Ok(if devices.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn order() -> String {
    match std::env::var("GRIDCL_DEVICES").ok().filter(|wanted| !wanted.trim().is_empty()) {
        Some(wanted) => format!("GRIDCL_DEVICES={wanted} chose these devices, in this order."),
        None => {
            "GPUs come first, then accelerators, then CPUs, in the order of the drivers (GRIDCL_DEVICES is not set)."
                .into()
        }
    }
}

fn as_text(devices: &[Device]) -> gridcl::Result<String> {
    let mut text = format!("gridcl {}\n\n", env!("CARGO_PKG_VERSION"));
    let mut table = Table::new(&["#", "device", "type", "driver", "memory", "units", "form"], 4);
    for device in devices {
        table.row([
            device.ordinal().to_string(),
            device.name().to_owned(),
            device.device_type().as_str().to_owned(),
            format!("{} {}", device.platform(), device.driver_version()),
            bytes(device.total_memory() as f64),
            device.compute_units().to_string(),
            device.memory_form().to_owned(),
        ]);
    }
    let _ = writeln!(text, "{}\n{}", table.text(), order());
    for note in Device::discovery() {
        let _ = writeln!(text, "  {note}");
    }
    for device in devices {
        describe(&mut text, *device)?;
    }
    Ok(text)
}

fn describe(text: &mut String, device: Device) -> gridcl::Result<()> {
    let _ = writeln!(text, "\n\x1b[1mdevice {}: {}\x1b[0m", device.ordinal(), device.name());
    for (name, value) in properties(device)? {
        let _ = writeln!(text, "  {name:<20}{value}");
    }
    let substitutes = device.substitutes();
    if !substitutes.is_empty() {
        let _ = writeln!(text, "  what its driver lacks, and what gridcl does instead");
    }
    for substitute in substitutes {
        let _ = writeln!(text, "    - {}: {}", substitute.lacks, substitute.instead);
    }
    Ok(())
}

fn properties(device: Device) -> gridcl::Result<Vec<(&'static str, String)>> {
    let (free, total) = device.memory_info()?;
    let [x, y, z] = device.max_block_dim();
    let (major, minor) = device.opencl_version();
    let clock = match device.clock_mhz() {
        0 => "not known".into(),
        clock => format!("{clock} MHz"),
    };
    Ok(vec![
        ("vendor", device.vendor().to_owned()),
        ("OpenCL", format!("{major}.{minor} ({})", device.platform())),
        ("multiprocessors", format!("{}, {clock}", device.compute_units())),
        ("warp size", device.warp_size().to_string()),
        ("largest block", format!("{} work items, at most {x} x {y} x {z}", device.max_block_size())),
        ("shared memory", format!("{} a block", bytes(device.shared_memory_per_block() as f64))),
        ("global memory", format!("{}, {} free", bytes(total as f64), bytes(free as f64))),
        ("largest allocation", bytes(device.max_allocation() as f64)),
        ("memory form", device.memory_form().to_owned()),
        ("managed memory", if device.has_managed_memory() { "yes" } else { "no" }.to_owned()),
        ("PCI bus id", device.pci_bus_id()),
        ("UUID", uuid(device)),
    ])
}

fn uuid(device: Device) -> String {
    device.uuid().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn as_json(devices: &[Device]) -> gridcl::Result<Value> {
    let list: gridcl::Result<Vec<Value>> = devices.iter().map(|device| device_json(*device)).collect();
    Ok(json!({
        "gridcl": env!("CARGO_PKG_VERSION"),
        "order": order(),
        "notes": Device::discovery(),
        "devices": list?,
    }))
}

fn device_json(device: Device) -> gridcl::Result<Value> {
    let (free, total) = device.memory_info()?;
    let (major, minor) = device.opencl_version();
    let substitutes: Vec<Value> = device
        .substitutes()
        .into_iter()
        .map(|substitute| json!({ "lacks": substitute.lacks, "instead": substitute.instead }))
        .collect();
    Ok(json!({
        "ordinal": device.ordinal(),
        "name": device.name(),
        "type": device.device_type().as_str(),
        "vendor": device.vendor(),
        "platform": device.platform(),
        "driver": device.driver_version(),
        "opencl": format!("{major}.{minor}"),
        "compute_units": device.compute_units(),
        "clock_mhz": device.clock_mhz(),
        "warp_size": device.warp_size(),
        "max_block_size": device.max_block_size(),
        "max_block_dim": device.max_block_dim(),
        "shared_memory_bytes": device.shared_memory_per_block(),
        "global_memory_bytes": total,
        "free_memory_bytes": free,
        "max_allocation_bytes": device.max_allocation(),
        "memory_form": device.memory_form(),
        "managed_memory": device.has_managed_memory(),
        "pci_bus_id": device.pci_bus_id(),
        "uuid": uuid(device),
        "extensions": device.extensions().split_whitespace().collect::<Vec<_>>(),
        "substitutes": substitutes,
    }))
}
