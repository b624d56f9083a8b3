//! Two streams, timed by events, in the TOPS dialect: the document's running example as a whole program.
//!
//! Each of two streams copies its half of a pinned array to the device, runs a kernel on it and copies the result back,
//! so that the copies of one can overlap the kernel of the other. Two events measure it all. Seed chapters: TOPS 7.2
//! (streams) and 7.3 (events).
//!
//! The document says `size` for two things. Here, as in `hostPtr + i * size`, it is the number of elements of each
//! stream; what the copies and allocations take is a number of bytes, `bytes` below.
//!
//! ```sh
//! cargo run --release --example 04_two_streams_timed -- 1024000
//! ```

mod common;

use gridcl::tops::*;
use std::ffi::{CStr, c_int, c_void};
use std::process::exit;
use std::ptr::null_mut;
use std::slice;

const KERNELS: &str = concat!(include_str!("../kernels_cl/square.cl"), "\0");

const USAGE: &str = "04_two_streams_timed [ELEMENTS]    (of each stream, default 51200)
On a device without shared virtual memory (GRIDCL_MEMORY=buffer) the second stream's half has to start at an aligned
address: use multiples of 1024 there.";

/// Ends the program when a call fails; see the second example.
macro_rules! tops_check {
    ($call:expr) => {
        let err = $call;
        if err != topsSuccess {
            let text = CStr::from_ptr(topsGetErrorString(err)).to_string_lossy();
            eprintln!("TOPS error at {}:{}: {text}", file!(), line!());
            eprintln!("  {}", gridcl::last_error_detail().unwrap_or_default());
            exit(1);
        }
    };
}

fn main() {
    let size = common::count(USAGE, 100 * 512);
    let bytes = size * size_of::<f32>();
    let input = |element: usize| (element % 1000) as f32;
    let mut elapsed_time = 0.0;

    // SAFETY: every pointer given is that of a live variable or lies within memory that is long enough; host and
    // device memory stays until both streams are done, and the host touches its array only before and after that.
    unsafe {
        let mut module: topsModule_t = null_mut();
        let mut my_kernel: topsFunction_t = null_mut();
        tops_check!(topsModuleLoadData(&mut module, KERNELS.as_ptr().cast()));
        tops_check!(topsModuleGetFunction(&mut my_kernel, module, c"myKernel".as_ptr()));

        // The document's shape, <<<100, 512>>>, where the device can run blocks of 512.
        let mut most = 0;
        tops_check!(topsDeviceGetAttribute(&mut most, topsDeviceAttributeMaxThreadsPerBlock, 0));
        let (grid, block) = (100_u32, 512.min(most as u32));

        let mut streams: [topsStream_t; 2] = [null_mut(); 2];
        for stream in &mut streams {
            tops_check!(topsStreamCreate(stream));
        }
        let (mut start, mut stop): (topsEvent_t, topsEvent_t) = (null_mut(), null_mut());
        tops_check!(topsEventCreate(&mut start));
        tops_check!(topsEventCreate(&mut stop));

        // The host's array is pinned (page-locked): copies of ordinary memory would not overlap anything.
        let mut host_ptr: *mut c_void = null_mut();
        tops_check!(topsHostMalloc(&mut host_ptr, 2 * bytes, topsHostMallocDefault));
        let host_ptr = host_ptr.cast::<f32>();
        for (i, value) in slice::from_raw_parts_mut(host_ptr, 2 * size).iter_mut().enumerate() {
            *value = input(i);
        }

        let (mut input_dev_ptr, mut output_dev_ptr): (*mut c_void, *mut c_void) = (null_mut(), null_mut());
        tops_check!(topsMalloc(&mut input_dev_ptr, 2 * bytes));
        tops_check!(topsMalloc(&mut output_dev_ptr, 2 * bytes));
        // Device pointers are addresses: arithmetic on them, in elements once they are typed, is all that halves need.
        let (input_dev_ptr, output_dev_ptr) = (input_dev_ptr.cast::<f32>(), output_dev_ptr.cast::<f32>());

        // myKernel<<<grid, block, 0, stream>>>(output, input, size);
        let launch = |mut output: *mut f32, mut input: *mut f32, size: usize, stream: topsStream_t| {
            let mut size = size as c_int;
            let mut args: [*mut c_void; 3] =
                [(&raw mut output).cast(), (&raw mut input).cast(), (&raw mut size).cast()];
            let args = args.as_mut_ptr();
            tops_check!(topsLaunchKernel(my_kernel.cast(), grid.into(), block.into(), args, 0, stream));
        };
        // Keep out of the time what happens once: the first launch of a kernel may still compile it (so here is one of
        // no elements), and the first touch of new memory may make the system look for it.
        launch(output_dev_ptr, input_dev_ptr, 0, streams[0]);
        tops_check!(topsMemset(input_dev_ptr.cast(), 0, 2 * bytes));
        tops_check!(topsMemset(output_dev_ptr.cast(), 0, 2 * bytes));

        // Recorded in the default stream (0), which waits for the other two, and they for it: so `start` comes before
        // all of the work below, and `stop` behind it.
        tops_check!(topsEventRecord(start, null_mut()));

        for (i, &stream) in streams.iter().enumerate() {
            tops_check!(topsMemcpyAsync(
                input_dev_ptr.add(i * size).cast(),
                host_ptr.add(i * size).cast(),
                bytes,
                topsMemcpyHostToDevice,
                stream,
            ));
        }

        for (i, &stream) in streams.iter().enumerate() {
            launch(output_dev_ptr.add(i * size), input_dev_ptr.add(i * size), size, stream);
        }

        for (i, &stream) in streams.iter().enumerate() {
            tops_check!(topsMemcpyAsync(
                host_ptr.add(i * size).cast(),
                output_dev_ptr.add(i * size).cast(),
                bytes,
                topsMemcpyDeviceToHost,
                stream,
            ));
        }

        tops_check!(topsEventRecord(stop, null_mut()));
        tops_check!(topsEventSynchronize(stop));
        tops_check!(topsEventElapsedTime(&mut elapsed_time, start, stop));

        for (i, value) in slice::from_raw_parts(host_ptr, 2 * size).iter().enumerate() {
            let expected = input(i) * input(i);
            if *value != expected {
                eprintln!("Error at index {i}: {} squared is {expected}, the device says {value}", input(i));
                exit(1);
            }
        }
        println!("{size} elements in each of 2 streams, <<<{grid}, {block}>>>: all {} are right", 2 * size);

        for stream in streams {
            tops_check!(topsStreamDestroy(stream));
        }
        tops_check!(topsEventDestroy(start));
        tops_check!(topsEventDestroy(stop));
        tops_check!(topsFree(input_dev_ptr.cast()));
        tops_check!(topsFree(output_dev_ptr.cast()));
        tops_check!(topsHostFree(host_ptr.cast()));
        tops_check!(topsModuleUnload(module));
    }

    println!("{elapsed_time:.3} ms from the first copy to the last, by events");
    if elapsed_time <= 0.0 {
        eprintln!("Error: copies and kernels cannot have taken no time");
        exit(1);
    }
}
