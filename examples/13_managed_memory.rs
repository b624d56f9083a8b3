//! Managed memory: one address for host and device, and no copies in the program.
//!
//! A linked list that the host builds, a kernel walks and changes, and the host reads again: its pointers are the same
//! on both sides. Seed chapter: MUSA "统一内存" (unified memory), there `musaMallocManaged`, `musaMemPrefetchAsync` and
//! `musaMemAdvise`.
//!
//! ```sh
//! cargo run --release --example 13_managed_memory -- 1000
//! ```

mod common;

use gridcl::musa::*;
use gridcl::prelude::*;
use std::error::Error;
use std::ffi::c_void;
use std::process::ExitCode;
use std::ptr::null_mut;

const USAGE: &str = "13_managed_memory [NODES]    (default 1000)";

const WALK: &std::ffi::CStr = c"
    typedef struct { ulong next; long value; } Node;

    __kernel void walk(__global Node *first)
    {
        for (__global Node *node = first; node; node = (__global Node *)node->next)
            node->value *= 2;
    }";

/// As in the kernel: an address, and a number.
#[repr(C)]
#[derive(Clone, Copy)]
struct Node {
    next: u64,
    value: i64,
}

fn main() -> ExitCode {
    common::end(guide(common::count(USAGE, 1000)).and_then(|()| safe()))
}

/// The calls of the guide: the list lives in managed memory.
fn guide(n: usize) -> Result<(), Box<dyn Error>> {
    let size = n * size_of::<Node>();
    let mut managed: *mut c_void = null_mut();
    // SAFETY: the result goes to a variable.
    let code = unsafe { musaMallocManaged(&mut managed, size, musaMemAttachGlobal) };
    if code == musaErrorNotSupported {
        println!("{}", gridcl::last_error_detail().unwrap_or_default());
        return Ok(());
    }
    check(code)?;
    check(musaMemAdvise(managed, size, musaMemAdviseSetPreferredLocation, 0))?;

    // SAFETY: the memory is that large, aligned for nodes, and no work of the device is under way.
    let nodes = unsafe { std::slice::from_raw_parts_mut(managed.cast::<Node>(), n) };
    // The list hops through the array, and comes by every node once.
    let hop = (n / 3..).find(|&hop| common_divisor(hop, n) == 1).unwrap_or(1);
    for (i, node) in nodes.iter_mut().enumerate() {
        let next = (i + hop) % n;
        let address = managed as u64 + (next * size_of::<Node>()) as u64;
        *node = Node { next: if next == 0 { 0 } else { address }, value: i as i64 };
    }

    check(musaMemPrefetchAsync(managed, size, 0, null_mut()))?;
    let (mut module, mut walk) = (null_mut(), null_mut());
    let mut first = managed;
    let mut args = [(&raw mut first).cast::<c_void>()];
    // SAFETY: results go to variables, the list has the kernel's one argument, and the kernel stays in the list.
    unsafe {
        check(musaModuleLoadData(&mut module, WALK.as_ptr().cast()))?;
        check(musaModuleGetFunction(&mut walk, module, c"walk".as_ptr()))?;
        check(musaLaunchKernel(walk.cast(), 1.into(), 1.into(), args.as_mut_ptr(), 0, null_mut()))?;
    }
    check(musaDeviceSynchronize())?;
    if let Some(i) = (0..n).find(|&i| nodes[i].value != 2 * i as i64) {
        return Err(format!("node {i}: {} expected, the device says {}", 2 * i, nodes[i].value).into());
    }
    println!("a list of {n} nodes walked by the device, read by the host, never copied");
    check(musaModuleUnload(module))?;
    check(musaFree(managed))
}

fn common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// An error in gridcl's own words: call, argument, value and what to do.
fn check(code: musaError_t) -> Result<(), Box<dyn Error>> {
    if code == musaSuccess { Ok(()) } else { Err(gridcl::last_error_detail().unwrap_or_default().into()) }
}

/// The safe API: guards in place of synchronisation.
fn safe() -> Result<(), Box<dyn Error>> {
    let device = Device::get(0)?;
    if !device.has_managed_memory() {
        return Ok(());
    }
    let stream = device.create_stream()?;
    let module = Module::from_source(device, include_str!("../kernels_cl/process.cl"))?;
    let process = module.kernel("processKernel")?;
    let mut values = ManagedBuffer::<f32>::new(device, 1000)?;
    values.write()?.iter_mut().enumerate().for_each(|(i, value)| *value = i as f32);
    // SAFETY: the kernel stays below 1000, the length of the buffer.
    unsafe { launch!(process<<<Dim3::covering(1000, 64), 64, 0, &stream>>>(values, 1000_i32))? };
    // The guard waits for the kernel.
    if values.read()?.iter().enumerate().any(|(i, &value)| value != i as f32 * 2.0 + 1.0) {
        return Err("a value is wrong".into());
    }
    println!("1000 values written by the host, changed by the device, read by the host");
    Ok(())
}
