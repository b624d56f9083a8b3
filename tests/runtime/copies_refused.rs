//! Copies and sets that are refused, and leave everything as it was (behaviour.md 2.5, 3.5, 3.6): null, unknown,
//! freed and overrun pointers, overlaps, kinds that are none, dead streams.

use crate::blocks::{Block, Held, Sort, assert_same, noise};
use crate::support::device;
use gridcl::testing::guard;
use std::ffi::c_void;
use std::ptr::{null, null_mut, without_provenance_mut as address};

/// Asserts that a copy is refused by both calls, for a reason.
macro_rules! copy_fails {
    ($to:expr, $from:expr, $bytes:expr, $kind:expr, $code:expr $(, $text:expr)*) => {
        fails!(unsafe { memcpy($to, $from, $bytes, $kind) }, $code, "Memcpy: " $(, $text)*);
        fails!(unsafe { memcpy_async($to, $from, $bytes, $kind, LEGACY) }, $code, "MemcpyAsync: " $(, $text)*);
    };
}

/// The same for a set.
macro_rules! set_fails {
    ($to:expr, $bytes:expr $(, $text:expr)*) => {
        fails!(memset($to, 0x55, $bytes), INVALID_VALUE, "Memset: " $(, $text)*);
        fails!(memset_async($to, 0x55, $bytes, LEGACY), INVALID_VALUE, "MemsetAsync: " $(, $text)*);
    };
}

/// Addresses that nobody allocated.
const GARBAGE: [usize; 4] = [1, 0x1000, 0xdead_beef_0000, usize::MAX];

both_dialects! {
    fn a_null_pointer_is_refused() {
        let _guard = guard();
        let (block, mut plain) = (uploaded!(noise(1, 64)), noise(2, 64));
        let host: *mut c_void = plain.as_mut_ptr().cast();
        for kind in 0..5 {
            let kind = Kind(kind);
            copy_fails!(null_mut(), host, 1, kind, INVALID_VALUE, "dst = 0x0: ", "null");
            copy_fails!(null_mut(), block, 64, kind, INVALID_VALUE, "dst = 0x0: ", "null");
            copy_fails!(block, null(), 64, kind, INVALID_VALUE, "src = 0x0: ", "null");
            copy_fails!(null_mut(), null(), usize::MAX, kind, INVALID_VALUE, "null");
        }
        copy_fails!(host, null(), 1, HOST_TO_HOST, INVALID_VALUE, "src = 0x0: ");
        set_fails!(null_mut(), 1, " = 0x0: ", "null");
        assert_eq!((downloaded!(block, 64), plain), (noise(1, 64), noise(2, 64)));
        ok!(free(block));
    }

    fn a_range_that_runs_past_its_allocation_is_refused() {
        let _guard = guard();
        const BYTES: usize = 4096;
        let calls = calls!();
        let mut plain = noise(3, 3 * BYTES);
        let host: *mut c_void = plain.as_mut_ptr().cast();
        // Neighbours that an overrun could reach.
        let blocks: Vec<Block> = (0..3_u64)
            .flat_map(|seed| [Sort::Device, Sort::Pinned].map(|sort| Block::new(calls, sort, &noise(seed, BYTES))))
            .collect();
        let whole = Block::new(calls, Sort::Device, &noise(9, 3 * BYTES));
        for block in &blocks {
            for (at, bytes) in [(0, BYTES + 1), (1, BYTES), (BYTES - 1, 2), (77, 2 * BYTES), (0, 3 * BYTES)] {
                let (inside, base) =
                    (block.at(at), format!("the allocation at {:#x} has 4096 bytes", block.at(0).addr()));
                let (left, over) =
                    (format!("{} from there on", BYTES - at), format!("{} too many", at + bytes - BYTES));
                let (up, down) = if block.sort() == Sort::Device { (1, 2) } else { (0, 0) };
                copy_fails!(inside, host, bytes, Kind(up), INVALID_VALUE, "dst = ", &base, &left, &over);
                copy_fails!(host, inside, bytes, Kind(down), INVALID_VALUE, "src = ", &base, &left, &over);
                copy_fails!(inside, whole.at(0), bytes, DEFAULT, INVALID_VALUE, "dst = ", &over);
                copy_fails!(whole.at(0), inside, bytes, DEFAULT, INVALID_VALUE, "src = ", &over);
                set_fails!(inside, bytes, &base, &left, &over);
            }
            for bytes in [usize::MAX, usize::MAX - 100, isize::MAX as usize] {
                copy_fails!(host, block.at(1), bytes, DEFAULT, INVALID_VALUE, "src = ", "too many");
                copy_fails!(block.at(1), host, bytes, DEFAULT, INVALID_VALUE, "dst = ", "too many");
                set_fails!(block.at(1), bytes, "too many");
            }
            // One byte less is one byte within.
            ok!(unsafe { memcpy(block.at(BYTES - 1), whole.at(0), 1, DEFAULT) });
            ok!(memset(block.at(0), 1, BYTES));
        }
        ok!(device_synchronize());
        for block in &blocks {
            assert_eq!(block.read(), [1; BYTES]);
        }
        assert_same(&whole.read(), &noise(9, 3 * BYTES), || "the other end of the refused copies".into());
        assert_same(&plain, &noise(3, 3 * BYTES), || "host memory".into());
    }

    fn a_pointer_one_past_the_end_is_no_pointer_into_the_allocation() {
        let _guard = guard();
        // A multiple of the alignment, right behind which another allocation may lie.
        let blocks = [0, 1, 2].map(|seed| uploaded!(noise(seed, 4096)));
        let free_end = |block: &*mut c_void| !blocks.contains(&block.wrapping_byte_add(4096));
        let ends: Vec<*mut c_void> =
            blocks.iter().filter(|block| free_end(block)).map(|block| block.wrapping_byte_add(4096)).collect();
        assert!(!ends.is_empty());
        let mut host = [7_u8; 16];
        for end in ends {
            set_fails!(end, 1);
            copy_fails!(end, host.as_ptr().cast(), 1, HOST_TO_DEVICE, INVALID_VALUE, "dst = ");
            copy_fails!(host.as_mut_ptr().cast(), end, 1, DEVICE_TO_HOST, INVALID_VALUE, "src = ");
        }
        assert_eq!(host, [7; 16]);
        for (seed, block) in (0..).zip(blocks) {
            assert_same(&downloaded!(block, 4096), &noise(seed, 4096), || "a block".into());
            ok!(free(block));
        }
    }

    fn freed_memory_is_refused() {
        let _guard = guard();
        let (keeper, stale) = (device_memory!(4096), device_memory!(4096));
        let (pinned, mut host) = (pinned_memory!(4096), [7_u8; 4096]);
        ok!(free(stale));
        let plain: *mut c_void = host.as_mut_ptr().cast();
        for at in [0, 1, 4095] {
            let stale = stale.wrapping_byte_add(at);
            let (to, from) = (format!("dst = {:#x}: ", stale.addr()), format!("src = {:#x}: ", stale.addr()));
            for kind in 0..5 {
                let kind = Kind(kind);
                copy_fails!(stale, plain, 1, kind, INVALID_VALUE, &to, "the memory there was freed");
                copy_fails!(stale, pinned, 1, kind, INVALID_VALUE, &to, "the memory there was freed");
                copy_fails!(pinned, stale, 1, kind, INVALID_VALUE, &from, "the memory there was freed");
                copy_fails!(keeper, stale, 1, kind, INVALID_VALUE, &from, "the memory there was freed");
            }
            set_fails!(stale, 1, "the memory there was freed");
        }
        assert_eq!(host, [7; 4096]);
        ok!(free(keeper));
        ok!(host_free(pinned));
        set_fails!(pinned, 1);
        copy_fails!(pinned, plain, 1, HOST_TO_DEVICE, INVALID_VALUE, "dst = ");
    }

    fn garbage_is_refused_where_device_memory_is_expected() {
        let _guard = guard();
        let (block, mut host) = (uploaded!(noise(5, 64)), noise(6, 64));
        let plain: *mut c_void = host.as_mut_ptr().cast();
        let mut stack = [3_u8; 64];
        let hosts: [*mut c_void; 2] = [plain, (&raw mut stack).cast()];
        for other in GARBAGE.map(address).into_iter().chain(hosts) {
            let (to, from) = (format!("dst = {:#x}: ", other.addr()), format!("src = {:#x}: ", other.addr()));
            copy_fails!(other, plain, 8, HOST_TO_DEVICE, INVALID_VALUE, &to, "not memory that the runtime allocated");
            copy_fails!(other, block, 8, DEVICE_TO_DEVICE, INVALID_VALUE, &to, "is it a host pointer?");
            copy_fails!(plain, other, 8, DEVICE_TO_HOST, INVALID_VALUE, &from, "not memory that the runtime allocated");
            copy_fails!(block, other, 8, DEVICE_TO_DEVICE, INVALID_VALUE, &from, "is it a host pointer?");
            set_fails!(other, 8, "not memory that the runtime allocated");
            set_fails!(other, usize::MAX, "not memory that the runtime allocated");
        }
        assert_eq!((downloaded!(block, 64), host, stack), (noise(5, 64), noise(6, 64), [3; 64]));
        ok!(free(block));
    }

    fn ranges_that_overlap_in_part_are_refused() {
        let _guard = guard();
        let calls = calls!();
        for sort in Sort::ALL {
            let block = Block::new(calls, sort, &noise(7, 9000));
            let kind = Sort::copy_kind(sort, sort);
            for (to, from, bytes) in [(0, 1, 4096), (1, 0, 4096), (4095, 0, 4096), (0, 4095, 4096), (10, 12, 3)] {
                let (to, from) = (block.at(to), block.at(from));
                let (count, apart) =
                    (format!("count = {bytes}: "), format!("start {} bytes apart", to.addr().abs_diff(from.addr())));
                for kind in [Kind(kind), DEFAULT] {
                    copy_fails!(to, from, bytes, kind, INVALID_VALUE, &count, "overlap", &apart);
                }
            }
            assert_same(&block.read(), &noise(7, 9000), || format!("{sort:?} memory"));
        }
    }

    fn a_number_that_is_no_kind_is_refused_before_all_else() {
        let _guard = guard();
        let (block, host) = (uploaded!(noise(8, 64)), [0_u8; 64]);
        for number in [-1, 5, 6, 100, i32::MIN, i32::MAX] {
            let kind = format!("kind = {number}: ");
            for (to, bytes) in [(block, 64), (block, 0), (null_mut(), 64), (address(1), 64)] {
                let code = INVALID_MEMCPY_DIRECTION;
                copy_fails!(to, host.as_ptr().cast(), bytes, Kind(number), code, &kind, "none of the five", "0 to 4");
            }
        }
        assert_eq!(downloaded!(block, 64), noise(8, 64));
        ok!(free(block));
    }

    fn an_empty_set_asks_for_no_pointer() {
        let _guard = guard();
        let block = uploaded!(noise(9, 64));
        for pointer in [block, block.wrapping_byte_add(64), null_mut(), address(0xdead_beef_0000)] {
            ok!(memset(pointer, 1, 0));
            ok!(memset_async(pointer, 1, 0, LEGACY));
        }
        assert_eq!(downloaded!(block, 64), noise(9, 64));
        ok!(free(block));
    }

    fn a_stream_that_is_none_is_refused() {
        let _guard = guard();
        let (block, host, mut event) = (uploaded!(noise(10, 64)), [1_u8; 64], null_mut());
        let dead = new_stream!();
        ok!(stream_destroy(dead));
        ok!(unsafe { event_create(&mut event) });
        for (stream, bytes) in [(dead, 64), (dead, 0), (event.cast(), 64), (address(0xdead_beef_0000), 64)] {
            let argument = format!("stream = {:#x}: ", stream.addr());
            let copy = || unsafe { memcpy_async(block, host.as_ptr().cast(), bytes, HOST_TO_DEVICE, stream) };
            fails!(copy(), INVALID_HANDLE, "MemcpyAsync: ", &argument, "not a stream");
            fails!(memset_async(block, 1, bytes, stream), INVALID_HANDLE, "MemsetAsync: ", &argument, "not a stream");
        }
        assert_eq!(downloaded!(block, 64), noise(10, 64));
        ok!(event_destroy(event));
        ok!(free(block));
    }

    fn what_is_refused_waits_for_nothing_and_leaves_the_stream_as_it_was() {
        let _guard = guard();
        let (block, stream, mut host) = (uploaded!([1; 64]), new_stream!(), [0_u8; 64]);
        let plain: *mut c_void = host.as_mut_ptr().cast();
        let held = Held::default_stream(device());
        ok!(memset_async(block, 2, 64, stream));
        copy_fails!(plain, block, 65, DEVICE_TO_HOST, INVALID_VALUE, "1 too many");
        copy_fails!(block, null(), 64, HOST_TO_DEVICE, INVALID_VALUE, "null");
        copy_fails!(block, block.wrapping_byte_add(1), 8, DEVICE_TO_DEVICE, INVALID_VALUE, "overlap");
        set_fails!(block, 65, "1 too many");
        fails!(memset_async(block, 3, 65, stream), INVALID_VALUE, "1 too many");
        fails!(unsafe { memcpy_async(plain, block, 65, DEVICE_TO_HOST, stream) }, INVALID_VALUE, "1 too many");
        assert_eq!(stream_query(stream), NOT_READY);
        held.open();
        ok!(unsafe { memcpy_async(plain, block, 64, DEVICE_TO_HOST, stream) });
        assert_eq!(host, [2; 64]);
        ok!(stream_destroy(stream));
        ok!(free(block));
    }
}
