//! Device query: which devices there are, what they can do, and why device 0 is device 0.
//!
//! Shows the first steps of the safe API, which need no `unsafe`: [`Device::all`], its properties, and
//! [`Device::discovery`]. Seed chapter: MUSA "设备管理" (device management).
//!
//! ```sh
//! cargo run --release --example 01_device_query
//! GRIDCL_DEVICES=cpu cargo run --release --example 01_device_query       # a type, a number, or part of a name
//! GRIDCL_MEMORY=buffer cargo run --release --example 01_device_query     # another form of device memory
//! ```

mod common;

use gridcl::Device;
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    common::argument("01_device_query");
    common::end(run())
}

fn run() -> Result<(), Box<dyn Error>> {
    // Nothing has to be initialised: the first call finds the devices. Where there is none, the error of asking for
    // device 0 says what was looked for and what to install.
    Device::get(0)?;

    let devices = Device::all();
    println!("OpenCL devices: {}", devices.len());
    for device in &devices {
        print_device(*device)?;
    }

    println!("\nDevices are numbered GPUs first, then accelerators, then CPUs, unless GRIDCL_DEVICES says otherwise.");
    for note in Device::discovery() {
        println!("  {note}");
    }

    // Like every example this one checks itself: ordinals name the devices in the order of the list.
    for (ordinal, device) in devices.iter().enumerate() {
        if Device::get(ordinal)? != *device || device.ordinal() != ordinal {
            return Err(format!("{device} should be device {ordinal}").into());
        }
    }
    Ok(())
}

fn print_device(device: Device) -> Result<(), Box<dyn Error>> {
    let (free, total) = device.memory_info()?;
    let [x, y, z] = device.max_block_dim();
    let uuid: String = device.uuid().iter().map(|byte| format!("{byte:02x}")).collect();

    println!("\n{device}");
    row("type", device.device_type().as_str());
    row("vendor", device.vendor());
    row("platform", format!("{}, driver {}", device.platform(), device.driver_version()));
    row("multiprocessors", device.compute_units());
    row("warp size", device.warp_size());
    row("largest block", format!("{} work items, at most {x} x {y} x {z}", device.max_block_size()));
    row("shared memory", format!("{} a block", bytes(device.shared_memory_per_block())));
    row("global memory", format!("{}, {} free", bytes(total), bytes(free)));
    row("memory form", device.memory_form());
    row("PCI bus id", device.pci_bus_id());
    row("UUID", uuid);
    Ok(())
}

fn row(name: &str, value: impl std::fmt::Display) {
    println!("  {name:<16}{value}");
}

fn bytes(count: u64) -> String {
    let kib = count as f64 / 1024.0;
    if kib < 1024.0 * 1024.0 { format!("{kib:.0} KiB") } else { format!("{:.1} GiB", kib / 1024.0 / 1024.0) }
}
