//! Four streams in the MUSA dialect: the guide's second complete program.
//!
//! Each stream copies its own pinned array to the device, runs a kernel on it and copies it back. The calls return
//! before the work is done; within a stream it runs in order, and the four streams run side by side. Seed chapter: MUSA
//! "完整示例: 多流并发示例" (complete examples, several streams).
//!
//! ```sh
//! cargo run --release --example 03_four_streams -- 100000
//! GRIDCL_LOG=gridcl::api=debug cargo run --release --example 03_four_streams    # see what returns when
//! ```

mod common;

use gridcl::musa::*;
use std::ffi::{CStr, c_int, c_void};
use std::process::exit;
use std::ptr::null_mut;
use std::slice;

const KERNELS: &str = concat!(include_str!("../kernels_cl/process.cl"), "\0");
const NUM_STREAMS: usize = 4;

/// Ends the program when a call fails; see the second example.
macro_rules! musa_check {
    ($call:expr) => {
        let err = $call;
        if err != musaSuccess {
            let text = CStr::from_ptr(musaGetErrorString(err)).to_string_lossy();
            eprintln!("MUSA error at {}:{}: {text}", file!(), line!());
            eprintln!("  {}", gridcl::last_error_detail().unwrap_or_default());
            exit(1);
        }
    };
}

fn main() {
    let n = common::count("03_four_streams [ELEMENTS]    (of each stream, default 1024)", 1024);
    let size = n * size_of::<f32>();

    let mut streams: [musaStream_t; NUM_STREAMS] = [null_mut(); NUM_STREAMS];
    let mut h_data: [*mut c_void; NUM_STREAMS] = [null_mut(); NUM_STREAMS];
    let mut d_data: [*mut c_void; NUM_STREAMS] = [null_mut(); NUM_STREAMS];

    // SAFETY: every pointer given is that of a live variable; host and device memory of `size` bytes stays until all
    // streams are done, and the host touches its arrays only before the first copy and after the last.
    unsafe {
        let mut module: musaModule_t = null_mut();
        let mut process: musaFunction_t = null_mut();
        musa_check!(musaModuleLoadData(&mut module, KERNELS.as_ptr().cast()));
        musa_check!(musaModuleGetFunction(&mut process, module, c"processKernel".as_ptr()));

        for stream in &mut streams {
            musa_check!(musaStreamCreate(stream));
        }

        for i in 0..NUM_STREAMS {
            // Only copies of pinned memory run on while the host goes on; ordinary memory would make the call wait.
            musa_check!(musaMallocHost(&mut h_data[i], size));
            musa_check!(musaMalloc(&mut d_data[i], size));

            for (j, value) in slice::from_raw_parts_mut(h_data[i].cast::<f32>(), n).iter_mut().enumerate() {
                *value = j as f32;
            }

            musa_check!(musaMemcpyAsync(d_data[i], h_data[i], size, musaMemcpyHostToDevice, streams[i]));

            // processKernel<<<gridSize, blockSize, 0, streams[i]>>>(d_data[i], n);
            let block_size = 256;
            let grid_size = (n as u32).div_ceil(block_size);
            let mut count = n as c_int;
            let mut args: [*mut c_void; 2] = [(&raw mut d_data[i]).cast(), (&raw mut count).cast()];
            musa_check!(musaLaunchKernel(
                process.cast(),
                grid_size.into(),
                block_size.into(),
                args.as_mut_ptr(),
                0,
                streams[i],
            ));

            musa_check!(musaMemcpyAsync(h_data[i], d_data[i], size, musaMemcpyDeviceToHost, streams[i]));
        }

        for stream in streams {
            musa_check!(musaStreamSynchronize(stream));
        }

        // The guide's program stops here; this one looks at what came back.
        for (i, data) in h_data.iter().enumerate() {
            for (j, value) in slice::from_raw_parts(data.cast::<f32>(), n).iter().enumerate() {
                let expected = j as f32 * 2.0 + 1.0;
                if *value != expected {
                    eprintln!("Error in stream {i} at index {j}: {expected} expected, the device says {value}");
                    exit(1);
                }
            }
            println!("stream {i}: {n} elements processed");
        }

        for i in 0..NUM_STREAMS {
            musa_check!(musaFree(d_data[i]));
            musa_check!(musaFreeHost(h_data[i]));
            musa_check!(musaStreamDestroy(streams[i]));
        }
        musa_check!(musaModuleUnload(module));
    }
    println!("Multi-stream processing completed!");
}
