//! Zero-copy: kernels work on pinned memory where it is.
//!
//! A histogram of a text that is read once: copying it to the device first would cost as much as reading it, so the
//! kernel reads it over the bus, and writes its 256 counts to pinned memory as well. The host and the device use one
//! address. Seed chapter: MUSA "主机内存" (host memory), there `musaHostAlloc` with `musaHostAllocMapped` and
//! `musaHostGetDevicePointer`.
//!
//! ```sh
//! cargo run --release --example 11_zero_copy -- 1000000
//! ```

mod common;

use gridcl::musa::*;
use gridcl::prelude::*;
use std::error::Error;
use std::ffi::c_void;
use std::process::ExitCode;
use std::ptr::null_mut;

const USAGE: &str = "11_zero_copy [BYTES]    (of the text, default 65536)";

const HISTOGRAM: &str = "
    __kernel void histogram(__global const uchar *text, __global uint *counts, uint n)
    {
        for (uint i = get_global_id(0); i < n; i += get_global_size(0))
            atomic_inc(counts + text[i]);
    }";

fn main() -> ExitCode {
    common::end(safe(common::count(USAGE, 1 << 16)).and_then(|()| as_in_the_guide()))
}

/// With the safe API: a pinned buffer is an argument like any other, and its guard waits for the kernel.
fn safe(n: usize) -> Result<(), Box<dyn Error>> {
    let device = Device::get(0)?;
    let stream = device.create_stream()?;
    let module = Module::from_source(device, HISTOGRAM)?;
    let histogram = module.kernel("histogram")?;

    let mut text = PinnedBuffer::<u8>::new(device, n)?;
    text.write()?.iter_mut().enumerate().for_each(|(i, byte)| *byte = (i * i % 251) as u8);
    let counts = PinnedBuffer::<u32>::new(device, 256)?;
    // SAFETY: the kernel reads below `n` and counts in 256 places, one for each value of a byte.
    let launched = unsafe { launch!(histogram<<<32, 64, 0, &stream>>>(text, counts, n as u32)) };
    if let Err(error) = &launched
        && error.kind() == gridcl::ErrorKind::NotSupported
    {
        println!("{error}");
        return Ok(());
    }
    launched?;

    let mut expected = [0; 256];
    text.read()?.iter().for_each(|&byte| expected[usize::from(byte)] += 1);
    if *counts.read()? != expected {
        return Err("the device counted otherwise than the host".into());
    }
    println!("{n} bytes counted where they are");
    Ok(())
}

/// The same calls as in C: the pointer for kernels is asked for, and is the host's own.
fn as_in_the_guide() -> Result<(), Box<dyn Error>> {
    const N: usize = 1024;
    let mut host = null_mut();
    // SAFETY: `host` takes the result, and is then that large.
    unsafe {
        check(musaHostAlloc(&mut host, N, musaHostAllocMapped))?;
        host.cast::<u8>().write_bytes(7, N);
    }
    let mut device_pointer: *mut c_void = null_mut();
    // SAFETY: the result goes to a variable.
    let code = unsafe { musaHostGetDevicePointer(&mut device_pointer, host, 0) };
    if code == musaErrorNotSupported {
        println!("{}", gridcl::last_error_detail().unwrap_or_default());
    } else {
        check(code)?;
        check(musaMemset(device_pointer, 9, N / 2))?;
        // SAFETY: the set is done: of host memory it returns when it is.
        let bytes = unsafe { std::slice::from_raw_parts(host.cast::<u8>(), N) };
        if bytes[..N / 2] != [9; N / 2] || bytes[N / 2..] != [7; N / 2] {
            return Err("the set did not reach the host's memory".into());
        }
        println!("host {host:p} is {device_pointer:p} on the device");
    }
    check(musaFreeHost(host))
}

/// An error in gridcl's own words: call, argument, value and what to do.
fn check(code: musaError_t) -> Result<(), Box<dyn Error>> {
    if code == musaSuccess { Ok(()) } else { Err(gridcl::last_error_detail().unwrap_or_default().into()) }
}
