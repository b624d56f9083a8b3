//! Kernels that go wrong, each in a process of its own, and kernels that print (behaviour.md 2.2).
//!
//! What a kernel does to memory that is not its own is the driver's to notice. On a CPU it ends the process, or
//! nobody sees it; a GPU's driver reports it, and then every later call says so.

use crate::child;
use crate::support::device;
use gridcl::{DeviceBuffer, ErrorKind, Event, Module, launch};
use std::os::unix::process::ExitStatusExt;

const SOURCE: &str = "
    __kernel void stray(__global int *x, ulong far) { x[far] = 1; }
    __kernel void stop(__global int *x) {
        if (x[0] == 0) __builtin_trap();
        x[1] = 1;
    }
    __kernel void add(__global int *x) { x[get_global_id(0)] += 1; }
    __kernel void say(int turn) { printf(\"turn %d\\n\", turn); }";

/// Runs `test` in a child, which either finds the fault reported and ends well, or is ended by the fault.
fn ends_by_the_fault_or_reports_it(test: &str) {
    let output = child::run(&format!("device_faults::{test}"), &[]);
    let told = format!(
        "{}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success() || output.status.signal().is_some(), "{told}");
}

/// In the child: a launch that goes wrong, and what every call says afterwards where the driver noticed it.
fn go_wrong(launch: impl FnOnce(&gridcl::Stream, &Module, &DeviceBuffer<i32>)) {
    let stream = device().create_stream().unwrap();
    let module = Module::from_source(device(), SOURCE).unwrap();
    let memory = DeviceBuffer::<i32>::zeroed(&stream, 16).unwrap();
    stream.synchronize().unwrap();
    launch(&stream, &module, &memory);
    let Err(first) = stream.synchronize() else { return println!("the driver noticed nothing") };
    assert!(matches!(first.kind(), ErrorKind::LaunchFailure | ErrorKind::IllegalAddress), "{first}");
    // The device's fault stays: other streams, allocations and launches answer the same.
    let add = module.kernel("add");
    for again in [
        stream.synchronize().unwrap_err(),
        device().create_stream().and_then(|other| other.synchronize()).unwrap_err(),
        DeviceBuffer::<i32>::zeroed(&stream, 16).unwrap_err(),
        // SAFETY: nothing runs any more.
        add.and_then(|add| unsafe { launch!(add<<<1, 16, 0, &stream>>>(memory)) }).unwrap_err(),
    ] {
        assert_eq!(again.kind(), first.kind(), "{again}");
    }
}

#[test]
fn a_kernel_that_writes_far_away() {
    if !child::is_child() {
        return ends_by_the_fault_or_reports_it("a_kernel_that_writes_far_away");
    }
    go_wrong(|stream, module, memory| {
        let stray = module.kernel("stray").unwrap();
        // SAFETY: none; this is what the test is about, and the process is its own.
        unsafe { launch!(stray<<<1, 1, 0, stream>>>(memory, 1_u64 << 44)) }.unwrap();
    });
}

#[test]
fn a_kernel_that_traps() {
    if !child::is_child() {
        return ends_by_the_fault_or_reports_it("a_kernel_that_traps");
    }
    go_wrong(|stream, module, memory| {
        let stop = module.kernel("stop").unwrap();
        // SAFETY: none; this is what the test is about, and the process is its own.
        unsafe { launch!(stop<<<1, 1, 0, stream>>>(memory)) }.unwrap();
    });
}

#[test]
fn what_kernels_print_is_out_in_order_when_the_host_has_synchronized() {
    const NAME: &str = "device_faults::what_kernels_print_is_out_in_order_when_the_host_has_synchronized";
    if !child::is_child() {
        let output = child::run(NAME, &[]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
        let lines: Vec<&str> =
            text.lines().filter(|line| line.starts_with("turn ") || line.starts_with("host")).collect();
        let turns = |host: i32| (host - 2..=host).map(|turn| format!("turn {turn}")).chain([format!("host {host}")]);
        assert_eq!(lines, [2, 5, 8, 11].into_iter().flat_map(turns).collect::<Vec<_>>(), "{text}");
        return;
    }
    let stream = device().create_stream().unwrap();
    let module = Module::from_source(device(), SOURCE).unwrap();
    let say = module.kernel("say").unwrap();
    let memory = DeviceBuffer::<i32>::zeroed(&stream, 1).unwrap();
    println!();
    for turn in 0..12 {
        // SAFETY: the kernel touches no memory.
        unsafe { launch!(say<<<1, 1, 0, &stream>>>(turn)) }.unwrap();
        match turn {
            2 => stream.synchronize().unwrap(),
            5 => {
                let event = Event::new(device()).unwrap();
                event.record(&stream).unwrap();
                event.synchronize().unwrap();
            }
            8 => drop(memory.to_vec(&stream).unwrap()),
            11 => device().synchronize().unwrap(),
            _ => continue,
        }
        println!("host {turn}");
    }
}
