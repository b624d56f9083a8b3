//! Vector addition in the MUSA dialect: the guide's first complete program, call by call.
//!
//! Allocate, copy to the device, launch, copy back, compare. The calls have the guide's names, arguments and numbers;
//! what differs from the C program is marked below with "Here:". Seed chapter: MUSA "完整示例: 向量加法示例" (complete
//! examples, vector addition), with the error-checking macro of "错误处理" (errors).
//!
//! ```sh
//! cargo run --release --example 02_vector_add -- 1000000
//! GRIDCL_LOG=gridcl::api=debug cargo run --release --example 02_vector_add    # see each call
//! ```

mod common;

use gridcl::musa::*;
use std::ffi::{CStr, c_int, c_void};
use std::process::exit;
use std::ptr::null_mut;

/// Kernels are OpenCL C, as NUL-terminated text.
const KERNELS: &str = concat!(include_str!("../kernels_cl/vector_add.cl"), "\0");

/// The guide's MUSA_CHECK: ends the program when a call fails. The dialect's own text is short;
/// [`gridcl::last_error_detail`] knows the argument and the reason too.
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
    let n = common::count("02_vector_add [ELEMENTS]    (default 1024)", 1024);
    let size = n * size_of::<f32>();

    // Host memory, with the guide's values.
    let h_a: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let h_b: Vec<f32> = (0..n).map(|i| (i * 2) as f32).collect();
    let mut h_c = vec![f32::NAN; n];

    // SAFETY: every pointer given is that of a live variable, or of host memory of `size` bytes; device memory is
    // used between its allocation and its one free; the kernel writes to the first `n` elements of `d_c` only.
    unsafe {
        // Here: the kernel is built when the program runs, not by the program's compiler.
        let mut module: musaModule_t = null_mut();
        let mut vector_add: musaFunction_t = null_mut();
        musa_check!(musaModuleLoadData(&mut module, KERNELS.as_ptr().cast()));
        musa_check!(musaModuleGetFunction(&mut vector_add, module, c"vectorAdd".as_ptr()));

        // Device memory.
        let (mut d_a, mut d_b, mut d_c): (*mut c_void, *mut c_void, *mut c_void) = (null_mut(), null_mut(), null_mut());
        musa_check!(musaMalloc(&mut d_a, size));
        musa_check!(musaMalloc(&mut d_b, size));
        musa_check!(musaMalloc(&mut d_c, size));

        // Host to device.
        musa_check!(musaMemcpy(d_a, h_a.as_ptr().cast(), size, musaMemcpyHostToDevice));
        musa_check!(musaMemcpy(d_b, h_b.as_ptr().cast(), size, musaMemcpyHostToDevice));

        // As many blocks as it takes to cover all elements.
        let block_size = 256;
        let grid_size = (n as u32).div_ceil(block_size);

        // vectorAdd<<<gridSize, blockSize>>>(d_a, d_b, d_c, n);
        // Here: a list with the address of each argument. The values are copied, so the list may go at once.
        let mut count = n as c_int;
        let mut args: [*mut c_void; 4] =
            [(&raw mut d_a).cast(), (&raw mut d_b).cast(), (&raw mut d_c).cast(), (&raw mut count).cast()];
        musa_check!(musaLaunchKernel(
            vector_add.cast(),
            grid_size.into(),
            block_size.into(),
            args.as_mut_ptr(),
            0,
            null_mut(),
        ));
        // Chevrons answer nothing, so the guide asks for the last error here. musaLaunchKernel has answered already.
        musa_check!(musaGetLastError());

        // The launch has returned; the kernel may still run.
        musa_check!(musaDeviceSynchronize());

        // Device to host.
        musa_check!(musaMemcpy(h_c.as_mut_ptr().cast(), d_c, size, musaMemcpyDeviceToHost));

        musa_check!(musaFree(d_a));
        musa_check!(musaFree(d_b));
        musa_check!(musaFree(d_c));
        musa_check!(musaModuleUnload(module));
    }

    // Here: a wrong element ends the program; the guide's prints it and claims success all the same.
    for i in 0..n {
        if h_c[i] != h_a[i] + h_b[i] {
            eprintln!("Error at index {i}: {} + {} is {}, the device says {}", h_a[i], h_b[i], h_a[i] + h_b[i], h_c[i]);
            exit(1);
        }
    }
    println!("{n} elements, for instance c[{}] = {}", n - 1, h_c[n - 1]);
    println!("Vector addition completed successfully!");
}
