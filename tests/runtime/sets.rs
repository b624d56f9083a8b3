//! Sets (MUSA "memory", TOPS 7.1; behaviour.md 3.6): values, sizes, offsets, kinds of memory. When they return is in
//! `copies_async`, what is refused in `copies_refused`.

use crate::blocks::{Block, Sort, assert_same, noise};
use gridcl::Device;
use gridcl::testing::guard;
use std::ffi::c_void;

both_dialects! {
    fn the_low_byte_of_the_value_is_what_is_written() {
        let _guard = guard();
        let calls = calls!();
        for sort in [Sort::Device, Sort::Pinned] {
            let block = Block::new(calls, sort, &[0xCC; 1000]);
            for value in [0, 1, 0x7F, 0x80, 0xFF, 0x100, 0x1FF, 0x1234_5678, -1, -256, i32::MIN, i32::MAX] {
                for stream in [None, Some(LEGACY.cast())] {
                    (calls.set)(block.at(0), !value, 1000, stream);
                    (calls.set)(block.at(0), value, 1000, stream);
                    ok!(device_synchronize());
                    assert_eq!(block.read(), [value as u8; 1000], "{value:#x} in {sort:?} memory");
                }
            }
        }
    }

    fn a_set_writes_its_range_and_nothing_else() {
        let _guard = guard();
        const BYTES: usize = (1 << 20) + 4096;
        let calls = calls!();
        let model = noise(1, BYTES);
        let streams = [None, Some(new_stream!().cast::<c_void>())];
        for sort in [Sort::Device, Sort::Pinned] {
            let block = Block::new(calls, sort, &model);
            for bytes in [1, 3, 4095, 4096, 65_537, (1 << 20) + 1] {
                for (turn, at) in [0, 1, 4, 127, 128, 511, 512, BYTES - bytes].into_iter().enumerate() {
                    let mut expected = model.clone();
                    (calls.set)(block.at(at), 0xA7, bytes, streams[turn % 2]);
                    ok!(device_synchronize());
                    expected[at..at + bytes].fill(0xA7);
                    assert_same(&block.read(), &expected, || format!("{bytes} bytes at {at} of {sort:?} memory"));
                    block.write(&model);
                }
            }
        }
        ok!(stream_destroy(streams[1].unwrap().cast()));
    }

    fn every_short_range_is_set_exactly() {
        let _guard = guard();
        let memory = device_memory!(1 << 20);
        ok!(memset(memory, 0, 1 << 20));
        // All alignments within what a wide store covers, beside all lengths up to some of them.
        let mut expected = vec![0; 1 << 20];
        for at in 0..17 {
            for bytes in 1..70 {
                let start = (at * 70 + bytes) * 128 + at;
                ok!(memset_async(memory.wrapping_byte_add(start), bytes as i32, bytes, LEGACY));
                expected[start..start + bytes].fill(bytes as u8);
            }
        }
        assert_same(&downloaded!(memory, 1 << 20), &expected, || "short sets".into());
        ok!(free(memory));
    }

    fn large_host_memory_is_set_in_stream_order() {
        let _guard = guard();
        // More than one step of what host memory is set from.
        const BYTES: usize = (9 << 20) + 5;
        let calls = calls!();
        let (pinned, stream) = (Block::new(calls, Sort::Pinned, &vec![0; BYTES]), new_stream!());
        for value in 1..4 {
            ok!(memset_async(pinned.at(0), value, BYTES, stream));
            ok!(memset_async(pinned.at(1), -value, BYTES - 2, stream));
        }
        ok!(stream_synchronize(stream));
        let mut expected = vec![-3_i8 as u8; BYTES];
        (expected[0], expected[BYTES - 1]) = (3, 3);
        assert_same(&pinned.read(), &expected, || "what was set last".into());
        ok!(stream_destroy(stream));
    }

    fn threads_set_at_once() {
        let _guard = guard();
        let memory = device_memory!(8 * 5000).addr();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                scope.spawn(move || {
                    let part: *mut c_void = std::ptr::without_provenance_mut(memory + thread * 5000);
                    for value in 0..50 {
                        let value = value * 8 + thread as i32;
                        ok!(memset_async(part, value, 5000, if value % 3 == 0 { PER_THREAD } else { LEGACY }));
                        ok!(stream_synchronize(PER_THREAD));
                    }
                });
            }
        });
        let got = downloaded!(std::ptr::without_provenance_mut::<c_void>(memory), 8 * 5000);
        for (thread, part) in got.chunks(5000).enumerate() {
            assert_same(part, &[(49 * 8 + thread) as u8; 5000], || format!("the part of thread {thread}"));
        }
        ok!(free(std::ptr::without_provenance_mut(memory)));
    }

    fn pinned_memory_of_any_device_is_set() {
        let _guard = guard();
        if Device::count() < 2 {
            return eprintln!("needs two devices");
        }
        ok!(set_device(1));
        let pinned = Block::new(calls!(), Sort::Pinned, &[0; 5000]);
        ok!(set_device(0));
        let stream = new_stream!();
        ok!(memset_async(pinned.at(1), 3, 4000, stream));
        ok!(stream_synchronize(stream));
        ok!(memset(pinned.at(0), 4, 1));
        assert_eq!((pinned.read()[..2].to_vec(), pinned.read()[4000..4002].to_vec()), (vec![4, 3], vec![3, 0]));
        ok!(stream_destroy(stream));
    }
}
