//! Kernels on host memory where it is: pinned, registered, through HostGetDevicePointer (behaviour.md 3.3). Where a
//! device's kernels do not reach the host's memory, the call says so.

use crate::support::device;
use gridcl::testing::guard;
use gridcl::{DeviceBuffer, Dim3, ErrorKind, Module, PinnedBuffer, launch};
use std::ffi::c_void;
use std::ptr::null_mut;

const SOURCE: &std::ffi::CStr = c"
    __kernel void add_to(__global uint *x, uint by, uint n) {
        uint i = get_global_id(0);
        if (i < n) x[i] += by;
    }
    __kernel void follow(__global ulong *table, uint by) {
        __global uint *x = (__global uint *)table[0];
        x[get_global_id(0)] += by;
    }";

/// Whether kernels reach host memory here, as the properties say.
fn reaches() -> bool {
    let mut prop = gridcl::musa::musaDeviceProp::default();
    let code = unsafe { gridcl::musa::musaGetDeviceProperties(&mut prop, 0) };
    assert_eq!(code, gridcl::musa::musaSuccess);
    prop.canMapHostMemory == 1
}

macro_rules! kernel {
    ($name:expr) => {{
        let (mut module, mut function) = (null_mut(), null_mut());
        ok!(unsafe { module_load_data(&mut module, SOURCE.as_ptr().cast()) });
        ok!(unsafe { module_get_function(&mut function, module, $name.as_ptr()) });
        (module, function)
    }};
}

macro_rules! add_to {
    ($function:expr, $pointer:expr, $by:expr, $n:expr) => {{
        let (mut pointer, mut by, mut n): (*mut c_void, u32, u32) = ($pointer, $by, $n);
        let mut args = [(&raw mut pointer).cast::<c_void>(), (&raw mut by).cast(), (&raw mut n).cast()];
        let grid = dim3 { x: n.div_ceil(64), y: 1, z: 1 };
        let block = dim3 { x: 64, y: 1, z: 1 };
        unsafe { launch_kernel($function.cast(), grid, block, args.as_mut_ptr(), 0, LEGACY) }
    }};
}

both_dialects! {
    fn kernels_read_and_write_pinned_memory_where_it_is() {
        let _guard = guard();
        if !reaches() {
            return;
        }
        let (module, function) = kernel!(c"add_to");
        let pinned = pinned_memory!(4000);
        let words = unsafe { std::slice::from_raw_parts_mut(pinned.cast::<u32>(), 1000) };
        for (index, word) in words.iter_mut().enumerate() {
            *word = index as u32;
        }
        let mut there = null_mut();
        ok!(unsafe { host_get_device_pointer(&mut there, pinned, 0) });
        for round in 1..=3 {
            ok!(add_to!(function, there, 10, 1000));
            ok!(device_synchronize());
            assert!(words.iter().enumerate().all(|(index, &word)| word == index as u32 + 10 * round), "round {round}");
        }
        // The host writes, and a kernel sees it.
        words[7] = 70;
        ok!(add_to!(function, there, 1, 1000));
        ok!(device_synchronize());
        assert_eq!((words[6], words[7], words[8]), (37, 71, 39));
        ok!(host_free(pinned));
        ok!(module_unload(module));
    }

    fn kernels_reach_memory_that_the_program_registered() {
        let _guard = guard();
        if !reaches() {
            return;
        }
        let (module, function) = kernel!(c"add_to");
        let mut words = vec![5_u32; 50_000];
        let (start, bytes) = (words.as_mut_ptr().cast::<c_void>(), words.len() * 4);
        ok!(unsafe { host_register(start, bytes, 0) });
        let mut there = null_mut();
        ok!(unsafe { host_get_device_pointer(&mut there, start, 0) });
        ok!(add_to!(function, there, 2, 50_000));
        ok!(device_synchronize());
        assert!(words.iter().all(|&word| word == 7));
        ok!(memset(there, 0, bytes));
        ok!(device_synchronize());
        assert!(words.iter().all(|&word| word == 0));
        ok!(host_unregister(start));
        fails!(unsafe { host_get_device_pointer(&mut there, start, 0) }, INVALID_VALUE, "pHost", "pinned");
        ok!(module_unload(module));
    }

    fn inner_addresses_of_host_memory_are_arguments_too() {
        let _guard = guard();
        if !reaches() {
            return;
        }
        let (module, function) = kernel!(c"add_to");
        let pinned = pinned_memory!(8192);
        let words = unsafe { std::slice::from_raw_parts_mut(pinned.cast::<u32>(), 2048) };
        for offset in [1, 31, 32, 33, 127, 128, 1024] {
            words.fill(0);
            let mut there = null_mut();
            ok!(unsafe { host_get_device_pointer(&mut there, pinned.wrapping_byte_add(4 * offset), 0) });
            ok!(add_to!(function, there, 1, 64));
            ok!(device_synchronize());
            let expected = |index: usize| u32::from((offset..offset + 64).contains(&index));
            assert!(words.iter().enumerate().all(|(index, &word)| word == expected(index)), "offset {offset}");
        }
        ok!(host_free(pinned));
        ok!(module_unload(module));
    }

    fn host_addresses_stored_in_device_memory_work() {
        let _guard = guard();
        if !reaches() || std::env::var("GRIDCL_MEMORY").as_deref() == Ok("buffer") {
            return;
        }
        let (module, function) = kernel!(c"follow");
        let pinned = pinned_memory!(64);
        let words = unsafe { std::slice::from_raw_parts_mut(pinned.cast::<u32>(), 16) };
        words.fill(1);
        let table = uploaded!((pinned as u64).to_ne_bytes());
        let (mut pointer, mut by) = (table, 4_u32);
        let mut args = [(&raw mut pointer).cast::<c_void>(), (&raw mut by).cast()];
        let one = dim3 { x: 1, y: 1, z: 1 };
        let block = dim3 { x: 16, y: 1, z: 1 };
        ok!(unsafe { launch_kernel(function.cast(), one, block, args.as_mut_ptr(), 0, LEGACY) });
        ok!(device_synchronize());
        assert!(words.iter().all(|&word| word == 5));
        ok!(free(table));
        ok!(host_free(pinned));
        ok!(module_unload(module));
    }

    fn other_memory_has_no_device_pointer() {
        let _guard = guard();
        let pinned = pinned_memory!(64);
        let there = device_memory!(64);
        let mut own = [0_u8; 64];
        let mut out = null_mut();
        fails!(unsafe { host_get_device_pointer(null_mut(), pinned, 0) }, INVALID_VALUE, "null");
        fails!(unsafe { host_get_device_pointer(&mut out, null_mut(), 0) }, INVALID_VALUE, "pHost", "null");
        fails!(unsafe { host_get_device_pointer(&mut out, pinned, 1) }, INVALID_VALUE, "flags");
        fails!(unsafe { host_get_device_pointer(&mut out, own.as_mut_ptr().cast(), 0) }, INVALID_VALUE, "register");
        fails!(unsafe { host_get_device_pointer(&mut out, there, 0) }, INVALID_VALUE, "pinned");
        assert!(out.is_null(), "nothing was written");
        ok!(host_free(pinned));
        fails!(unsafe { host_get_device_pointer(&mut out, pinned, 0) }, INVALID_VALUE);
        ok!(free(there));
    }

    fn a_device_that_does_not_reach_the_host_says_so() {
        let _guard = guard();
        if reaches() {
            return;
        }
        let pinned = pinned_memory!(64);
        let mut out = null_mut();
        fails!(unsafe { host_get_device_pointer(&mut out, pinned, 0) }, NOT_SUPPORTED, "copy");
        ok!(host_free(pinned));
    }
}

#[test]
fn guards_of_pinned_buffers_wait_for_kernels() {
    let _guard = guard();
    if !reaches() {
        return;
    }
    let stream = device().create_stream().unwrap();
    let module = Module::from_source(device(), SOURCE.to_str().unwrap()).unwrap();
    let add_to = module.kernel("add_to").unwrap();
    let mut host = PinnedBuffer::<u32>::new(device(), 100_000).unwrap();
    let there = DeviceBuffer::<u32>::zeroed(&stream, 1).unwrap();
    for round in 1..=50 {
        unsafe { launch!(add_to<<<Dim3::covering(100_000, 64), 64, 0, &stream>>>(host, 1_u32, 100_000_u32)) }.unwrap();
        let read = host.read().unwrap();
        assert!(read.iter().all(|&word| word == round), "round {round}");
    }
    unsafe { launch!(add_to<<<Dim3::covering(100_000, 64), 64, 0, &stream>>>(host, 1_u32, 100_000_u32)) }.unwrap();
    host.write().unwrap().fill(0);
    unsafe { launch!(add_to<<<Dim3::covering(100_000, 64), 64, 0, &stream>>>(host, 1_u32, 100_000_u32)) }.unwrap();
    assert!(host.read().unwrap().iter().all(|&word| word == 1), "the write came between");
    // Dropped while a kernel may still use it.
    unsafe { launch!(add_to<<<Dim3::covering(100_000, 64), 64, 0, &stream>>>(host, 1_u32, 100_000_u32)) }.unwrap();
    drop(host);
    stream.synchronize().unwrap();
    drop(there);
}

#[test]
fn a_launch_that_is_refused_leaves_no_mark_on_a_pinned_buffer() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let module = Module::from_source(device(), SOURCE.to_str().unwrap()).unwrap();
    let add_to = module.kernel("add_to").unwrap();
    let host = PinnedBuffer::<u32>::new(device(), 4).unwrap();
    let refused = unsafe { launch!(add_to<<<1, 4, 0, &stream>>>(host, 1_u32)) };
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidValue);
    assert_eq!(*host.read().unwrap(), [0; 4]);
}
