//! Copies whose name tells the direction, and allocation with flags (TOPS `topsMemcpyHtoD` and its kin,
//! `topsExtMallocWithFlags`; behaviour.md 1.2, 2.4 and 3.5).

use crate::blocks::{Held, assert_same, noise};
use crate::dialects::tops::*;
use crate::support::device;
use gridcl::testing::guard;
use gridcl::tops::*;
use std::ffi::c_void;
use std::ptr::null_mut;

/// The three directions, in a stream or without.
fn to_device(to: *mut c_void, from: *mut c_void, bytes: usize, stream: Option<Stream>) -> Code {
    match stream {
        None => unsafe { topsMemcpyHtoD(to, from, bytes) },
        Some(stream) => unsafe { topsMemcpyHtoDAsync(to, from, bytes, stream) },
    }
}

fn to_host(to: *mut c_void, from: *mut c_void, bytes: usize, stream: Option<Stream>) -> Code {
    match stream {
        None => unsafe { topsMemcpyDtoH(to, from, bytes) },
        Some(stream) => unsafe { topsMemcpyDtoHAsync(to, from, bytes, stream) },
    }
}

fn within(to: *mut c_void, from: *mut c_void, bytes: usize, stream: Option<Stream>) -> Code {
    match stream {
        None => unsafe { topsMemcpyDtoD(to, from, bytes) },
        Some(stream) => unsafe { topsMemcpyDtoDAsync(to, from, bytes, stream) },
    }
}

#[test]
fn each_direction_copies_its_range() {
    let _guard = guard();
    let made = new_stream!();
    for stream in [None, Some(LEGACY), Some(PER_THREAD), Some(made)] {
        let (first, second) = (device_memory!(10_000), device_memory!(10_000));
        let (mut data, mut back) = (noise(4, 10_000), vec![0_u8; 9_000]);
        ok!(to_device(first, data.as_mut_ptr().cast(), 10_000, stream));
        ok!(within(second.wrapping_byte_add(5), first.wrapping_byte_add(700), 9_000, stream));
        data[700..9_700].fill(0);
        ok!(to_host(back.as_mut_ptr().cast(), second.wrapping_byte_add(5), 9_000, stream));
        assert_same(&back, &noise(4, 10_000)[700..9_700], || format!("in {stream:?}"));
        ok!(free(first));
        ok!(free(second));
    }
    ok!(stream_destroy(made));
}

#[test]
fn what_the_name_says_has_to_be_so() {
    let _guard = guard();
    let (memory, mut own, dead) = (uploaded!([1; 16]), [2_u8; 16], new_stream!());
    let host: *mut c_void = own.as_mut_ptr().cast();
    ok!(stream_destroy(dead));
    for stream in [None, Some(LEGACY)] {
        fails!(to_device(host, host, 16, stream), INVALID_VALUE, "dst");
        fails!(to_host(host, host, 16, stream), INVALID_VALUE, "src");
        fails!(within(memory, host, 16, stream), INVALID_VALUE, "src");
        fails!(within(host, memory, 16, stream), INVALID_VALUE, "dst");
        for (to, from) in [(null_mut(), host), (memory, null_mut())] {
            fails!(to_device(to, from, 16, stream), INVALID_VALUE, "null");
        }
        fails!(to_device(memory, host, 17, stream), INVALID_VALUE, "too many");
        fails!(to_host(host, memory.wrapping_byte_add(1), 16, stream), INVALID_VALUE, "too many");
        ok!(to_device(null_mut(), null_mut(), 0, stream));
    }
    fails!(to_device(memory, host, 16, Some(dead)), INVALID_HANDLE, "stream");
    fails!(to_host(host, memory, 16, Some(dead)), INVALID_HANDLE, "stream");
    fails!(within(memory, memory, 16, Some(dead)), INVALID_HANDLE, "stream");
    assert_eq!((downloaded!(memory, 16), own), (vec![1; 16], [2; 16]));
    ok!(free(memory));
}

#[test]
fn the_asynchronous_ones_return_before_pinned_memory_is_copied() {
    let _guard = guard();
    let (memory, pinned) = (uploaded!([7; 64]), pinned_memory!(64));
    let host = unsafe { std::slice::from_raw_parts_mut(pinned.cast::<u8>(), 64) };
    host.fill(1);
    let held = Held::default_stream(device());
    ok!(to_host(pinned, memory, 64, Some(LEGACY)));
    ok!(within(memory.wrapping_byte_add(32), memory, 32, Some(LEGACY)));
    ok!(within(memory.wrapping_byte_add(32), memory, 16, None));
    assert_eq!(host, [1; 64]);
    held.open();
    ok!(device_synchronize());
    assert_eq!(host, [7; 64]);
    host.fill(9);
    ok!(to_device(memory, pinned, 64, Some(LEGACY)));
    assert_eq!(downloaded!(memory, 64), [9; 64]);
    ok!(free(memory));
    ok!(host_free(pinned));
}

#[test]
fn flags_of_an_allocation_are_kept() {
    let _guard = guard();
    let mut memory = null_mut();
    for flags in [0, 1, 2, 4, 8, 0x10, 0x20, 0x3f] {
        for bytes in [0, 1000] {
            ok!(unsafe { topsExtMallocWithFlags(&mut memory, bytes, flags) });
            assert!(!memory.is_null());
            let mut all = topsPointerAttribute_t::default();
            ok!(unsafe { topsPointerGetAttributes(&mut all, memory) });
            assert_eq!((all.allocationFlags, all.memoryType), (flags, topsMemoryTypeDevice));
            ok!(memset(memory, 3, bytes));
            assert_eq!(downloaded!(memory, bytes), vec![3; bytes]);
            ok!(free(memory));
        }
    }
    for flags in [0x40, 0x80, 1 << 31, u32::MAX] {
        fails!(unsafe { topsExtMallocWithFlags(&mut memory, 10, flags) }, INVALID_VALUE, "flags");
    }
    fails!(unsafe { topsExtMallocWithFlags(null_mut(), 10, 0) }, INVALID_VALUE, "ptr");
    fails!(unsafe { topsExtMallocWithFlags(&mut memory, usize::MAX, 0) }, OUT_OF_MEMORY, "size");
}
