//! Allocations, copies and sets of more than 4 GiB, beyond what 32 bits count.
//!
//! They take some 10 GiB of the device's memory and 5 of the host's, so they run when `GRIDCL_TEST_LARGE=1` asks for it.

use crate::blocks::{assert_same, noise};
use std::ffi::c_void;
use std::ptr::null_mut;

/// No multiple of anything, and far enough beyond 4 GiB to have a window there.
const LARGE: usize = (4 << 30) + (1 << 20) + 13;
/// What is looked at in each place.
const WINDOW: usize = 64 << 10;
/// Where numbers of 31 and 32 bits end, and the ends.
const PLACES: [usize; 6] =
    [0, (2 << 30) - WINDOW / 2, (2 << 30) + 4097, (4 << 30) - WINDOW / 2, (4 << 30) + 1, LARGE - WINDOW];

fn is_asked_for() -> bool {
    std::env::var("GRIDCL_TEST_LARGE").as_deref() == Ok("1")
}

both_dialects! {
    fn copies_and_sets_go_beyond_4_gib() {
        let _guard = gridcl::testing::guard();
        if !is_asked_for() {
            return;
        }
        let (memory, other) = (device_memory!(LARGE + 1), device_memory!(LARGE));
        let window = |base: *mut c_void, at: usize| downloaded!(base.wrapping_byte_add(at), WINDOW);
        // Also from an odd address on.
        for first in [0, 1] {
            let target = memory.wrapping_byte_add(first);
            ok!(memset(memory, 0, LARGE + 1));
            ok!(memset(target, 0x5A, LARGE));
            for at in PLACES {
                assert_same(&window(target, at), &[0x5A; WINDOW], || format!("set from byte {first} on, at {at}"));
            }
            let beside = if first == 0 { LARGE } else { 0 };
            assert_eq!(downloaded!(memory.wrapping_byte_add(beside), 1), [0], "the byte beside the set");
        }
        for (seed, at) in PLACES.into_iter().enumerate() {
            let contents = noise(seed as u64, WINDOW);
            let to = memory.wrapping_byte_add(at);
            ok!(unsafe { memcpy(to, contents.as_ptr().cast(), WINDOW, HOST_TO_DEVICE) });
        }
        // Later places may have run into earlier ones.
        let expected: Vec<Vec<u8>> = PLACES.into_iter().map(|at| window(memory, at)).collect();
        assert_same(&expected[5], &noise(5, WINDOW), || "the last window".into());
        ok!(memset(other, 0, LARGE));
        ok!(unsafe { memcpy(other, memory, LARGE, DEVICE_TO_DEVICE) });
        let mut host = vec![0_u8; LARGE];
        ok!(unsafe { memcpy(host.as_mut_ptr().cast(), other, LARGE, DEVICE_TO_HOST) });
        for (at, expected) in PLACES.into_iter().zip(&expected) {
            assert_same(&window(other, at), expected, || format!("copied within the device, at {at}"));
            assert_same(&host[at..at + WINDOW], expected, || format!("copied to the host, at {at}"));
        }
        ok!(memset(other, 1, LARGE));
        ok!(unsafe { memcpy(other, host.as_ptr().cast(), LARGE, HOST_TO_DEVICE) });
        for (at, expected) in PLACES.into_iter().zip(&expected) {
            assert_same(&window(other, at), expected, || format!("copied from the host, at {at}"));
        }
        ok!(free(memory));
        ok!(free(other));
    }

    fn an_allocation_beyond_the_largest_block_of_shared_memory_works_or_is_out_of_memory() {
        let _guard = gridcl::testing::guard();
        if !is_asked_for() {
            return;
        }
        let (mut left, mut total) = (0, 0);
        ok!(unsafe { mem_get_info(&mut left, &mut total) });
        // A quarter is what most drivers give as one block.
        let bytes = total / 10 * 3;
        let mut memory = null_mut();
        match unsafe { malloc(&mut memory, bytes) } {
            SUCCESS => {}
            code => {
                assert_eq!(code, OUT_OF_MEMORY, "{:?}", gridcl::last_error_detail());
                let _ = get_last_error();
                return;
            }
        }
        let contents = noise(9, WINDOW);
        for at in [0, bytes / 2 + 1, bytes - WINDOW] {
            let there = memory.wrapping_byte_add(at);
            ok!(unsafe { memcpy(there, contents.as_ptr().cast(), WINDOW, HOST_TO_DEVICE) });
            assert_same(&downloaded!(there, WINDOW), &contents, || format!("at {at} of {bytes}"));
        }
        ok!(free(memory));
    }
}
