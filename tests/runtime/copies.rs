//! Copies that succeed (MUSA "memory", TOPS 7.1; behaviour.md 2.3, 3.5): every pair of memories, sizes, offsets,
//! kinds, devices. When they return is in `copies_async`, what is refused in `copies_refused`.

use crate::blocks::{Block, Calls, Sort, assert_same, noise};
use gridcl::Device;
use gridcl::testing::guard;
use std::ffi::c_void;
use std::slice;

const SIZES: [usize; 6] = [1, 3, 4095, 4096, 65_537, (1 << 20) + 1];
const OFFSETS: [usize; 7] = [0, 1, 4, 127, 128, 511, 512];

both_dialects! {
    fn every_pair_of_memories_copies_exactly_the_bytes_asked_for() {
        let _guard = guard();
        for to in Sort::ALL {
            for from in Sort::ALL {
                copy_between(calls!(), to, from);
            }
        }
    }

    fn a_copy_onto_itself_changes_nothing() {
        let _guard = guard();
        let calls = calls!();
        for sort in Sort::ALL {
            let block = Block::new(calls, sort, &noise(1, 70_000));
            for (at, bytes) in [(0, 70_000), (1, 4096), (69_999, 1)] {
                for stream in [None, Some(LEGACY.cast())] {
                    (calls.copy)(block.at(at), block.at(at), bytes, Sort::copy_kind(sort, sort), stream);
                    (calls.copy)(block.at(at), block.at(at), bytes, 4, stream);
                }
            }
            ok!(device_synchronize());
            assert_same(&block.read(), &noise(1, 70_000), || format!("{sort:?} memory"));
        }
    }

    fn neighbouring_ranges_of_one_block_are_copied() {
        let _guard = guard();
        let calls = calls!();
        for sort in Sort::ALL {
            for bytes in [1, 100, 4096, 300_000] {
                let mut model = noise(2, 3 * bytes);
                let block = Block::new(calls, sort, &model);
                let kind = Sort::copy_kind(sort, sort);
                (calls.copy)(block.at(bytes), block.at(0), bytes, kind, None);
                model.copy_within(..bytes, bytes);
                (calls.copy)(block.at(bytes), block.at(2 * bytes), bytes, kind, Some(LEGACY.cast()));
                model.copy_within(2 * bytes.., bytes);
                ok!(device_synchronize());
                assert_same(&block.read(), &model, || format!("{bytes} bytes within {sort:?} memory"));
            }
        }
    }

    fn an_empty_copy_changes_nothing() {
        let _guard = guard();
        let calls = calls!();
        for (to, from) in Sort::ALL.into_iter().flat_map(|to| Sort::ALL.map(|from| (to, from))) {
            let (target, source) = (Block::new(calls, to, &noise(3, 64)), Block::new(calls, from, &noise(4, 64)));
            for (kind, stream) in [(Sort::copy_kind(to, from), None), (4, Some(LEGACY.cast()))] {
                (calls.copy)(target.at(0), source.at(0), 0, kind, stream);
                (calls.copy)(target.at(63), source.at(63), 0, kind, stream);
                (calls.copy)(target.at(0), target.at(1), 0, kind, stream);
            }
            ok!(device_synchronize());
            assert_eq!((target.read(), source.read()), (noise(3, 64), noise(4, 64)));
        }
    }

    fn known_addresses_tell_the_direction_whatever_the_kind_says() {
        let _guard = guard();
        let calls = calls!();
        for (to, from) in Sort::ALL.into_iter().flat_map(|to| Sort::ALL.map(|from| (to, from))) {
            for kind in 0..5 {
                // Memory that the runtime does not know is held to what the kind says of it.
                let says_device = |sort, kinds: [i32; 2]| sort == Sort::Pageable && kinds.contains(&kind);
                if says_device(to, [1, 3]) || says_device(from, [2, 3]) {
                    continue;
                }
                let (target, source) = (Block::new(calls, to, &[0; 500]), Block::new(calls, from, &noise(5, 500)));
                (calls.copy)(target.at(0), source.at(0), 500, kind, None);
                ok!(device_synchronize());
                assert_same(&target.read(), &noise(5, 500), || format!("{from:?} to {to:?} as kind {kind}"));
            }
        }
    }

    fn a_stream_copies_and_sets_in_the_order_of_the_calls() {
        let _guard = guard();
        const BYTES: usize = 200_000;
        let (first, second, pinned) = (device_memory!(BYTES), device_memory!(BYTES), pinned_memory!(BYTES));
        let source = noise(6, BYTES);
        for flags in [0, NON_BLOCKING] {
            let stream = new_stream!(flags);
            ok!(memset_async(pinned, 0, BYTES, stream));
            ok!(unsafe { memcpy_async(first, source.as_ptr().cast(), BYTES, HOST_TO_DEVICE, stream) });
            ok!(unsafe { memcpy_async(second, first, BYTES, DEVICE_TO_DEVICE, stream) });
            ok!(memset_async(first, 1, BYTES, stream));
            ok!(unsafe { memcpy_async(pinned, second, BYTES, DEVICE_TO_HOST, stream) });
            ok!(memset_async(second, 2, BYTES, stream));
            ok!(unsafe { memcpy_async(second, pinned, BYTES / 2, HOST_TO_DEVICE, stream) });
            ok!(stream_synchronize(stream));
            let got = unsafe { slice::from_raw_parts(pinned.cast::<u8>(), BYTES) };
            assert_same(got, &source, || "what went up, across and down".into());
            assert_same(&downloaded!(first, BYTES), &[1; BYTES], || "what was set later".into());
            let mut expected = vec![2; BYTES];
            expected[..BYTES / 2].copy_from_slice(&source[..BYTES / 2]);
            assert_same(&downloaded!(second, BYTES), &expected, || "what was set and copied later".into());
            ok!(stream_destroy(stream));
        }
        ok!(free(first));
        ok!(free(second));
        ok!(host_free(pinned));
    }

    fn a_copy_without_a_stream_sees_the_work_of_blocking_streams() {
        let _guard = guard();
        const BYTES: usize = 3 << 20;
        let memory = device_memory!(BYTES);
        let streams = [new_stream!(), new_stream!()];
        for value in 1..6 {
            ok!(memset_async(memory, value, BYTES / 2, streams[0]));
            ok!(memset_async(memory.wrapping_byte_add(BYTES / 2), value, BYTES / 2, streams[1]));
            assert_same(&downloaded!(memory, BYTES), &vec![value as u8; BYTES], || format!("round {value}"));
        }
        streams.into_iter().for_each(|stream| ok!(stream_destroy(stream)));
        ok!(free(memory));
    }

    fn large_copies_arrive_whole() {
        let _guard = guard();
        const BYTES: usize = (64 << 20) + 3;
        let calls = calls!();
        let contents = noise(7, BYTES);
        let device = Block::new(calls, Sort::Device, &contents);
        let second = device_memory!(BYTES);
        ok!(unsafe { memcpy(second, device.at(0), BYTES, DEVICE_TO_DEVICE) });
        let back = Block::new(calls, Sort::Pinned, &vec![0; BYTES]);
        ok!(unsafe { memcpy_async(back.at(0), second, BYTES, DEVICE_TO_HOST, LEGACY) });
        ok!(stream_synchronize(LEGACY));
        assert_same(&back.read(), &contents, || "up, across and down to pinned memory".into());
        ok!(memset(second, 0, BYTES));
        ok!(unsafe { memcpy_async(second, contents.as_ptr().cast(), BYTES, HOST_TO_DEVICE, LEGACY) });
        assert_same(&downloaded!(second, BYTES), &contents, || "up asynchronously".into());
        ok!(free(second));
    }

    fn threads_copy_at_once() {
        let _guard = guard();
        let calls = calls!();
        std::thread::scope(|scope| {
            for thread in 0..8_u64 {
                scope.spawn(move || {
                    let stream = new_stream!(thread as u32 % 2);
                    for round in 0..10 {
                        let contents = noise(thread << 8 | round, 1 + (round as usize * 7919) % 70_000);
                        let bytes = contents.len();
                        let blocks =
                            [Sort::Device, Sort::Pinned, Sort::Device].map(|s| Block::new(calls, s, &contents));
                        let (mut last, mut pageable) = (contents.as_ptr().cast::<c_void>(), vec![0; bytes]);
                        for block in &blocks {
                            (calls.copy)(block.at(0), last, bytes, 4, Some(stream.cast()));
                            last = block.at(0);
                        }
                        (calls.copy)(pageable.as_mut_ptr().cast(), last, bytes, 2, Some(stream.cast()));
                        assert_same(&pageable, &contents, || format!("round {round} of thread {thread}"));
                    }
                    ok!(stream_destroy(stream));
                });
            }
        });
    }

    fn the_calling_threads_own_stream_copies_and_sets() {
        let _guard = guard();
        let (memory, source, mut back) = (device_memory!(5000), noise(8, 5000), vec![0; 5000]);
        ok!(unsafe { memcpy_async(memory, source.as_ptr().cast(), 5000, HOST_TO_DEVICE, PER_THREAD) });
        ok!(memset_async(memory, 3, 50, PER_THREAD));
        ok!(unsafe { memcpy_async(back.as_mut_ptr().cast(), memory, 5000, DEVICE_TO_HOST, PER_THREAD) });
        assert_eq!(back[..50], [3; 50]);
        assert_same(&back[50..], &source[50..], || "what was not set".into());
        ok!(free(memory));
    }

    fn a_destroyed_stream_still_finishes_its_copies() {
        let _guard = guard();
        let (pinned, memory) = (pinned_memory!(1 << 20), uploaded!(noise(9, 1 << 20)));
        for _ in 0..10 {
            let stream = new_stream!();
            ok!(memset_async(pinned, 0, 1 << 20, stream));
            ok!(unsafe { memcpy_async(pinned, memory, 1 << 20, DEVICE_TO_HOST, stream) });
            ok!(stream_destroy(stream));
            ok!(device_synchronize());
            let got = unsafe { slice::from_raw_parts(pinned.cast::<u8>(), 1 << 20) };
            assert_same(got, &noise(9, 1 << 20), || "what the stream was to copy".into());
        }
        ok!(host_free(pinned));
        ok!(free(memory));
    }

    fn a_device_pointer_serves_with_another_current_device() {
        let _guard = guard();
        if Device::count() < 2 {
            return eprintln!("needs two devices");
        }
        let calls = calls!();
        for (owner, current) in [(0, 1), (1, 0)] {
            ok!(set_device(owner));
            let (memory, beside) = (device_memory!(70_000), device_memory!(70_000));
            ok!(set_device(current));
            let (stream, mut model) = (new_stream!(), noise(10, 70_000));
            for (sort, lane) in [(Sort::Pageable, None), (Sort::Pinned, None), (Sort::Pageable, Some(stream.cast()))] {
                let host = Block::new(calls, sort, &model);
                (calls.copy)(memory, host.at(0), 70_000, 1, lane);
                (calls.set)(memory.wrapping_byte_add(7), 9, 1000, lane);
                model[7..1007].fill(9);
                (calls.copy)(beside, memory, 70_000, 3, lane);
                (calls.copy)(host.at(0), beside, 70_000, 2, lane);
                ok!(stream_synchronize(stream));
                assert_same(&host.read(), &model, || format!("{sort:?} memory and device {owner}"));
                model.rotate_left(1);
            }
            fails!(memset(memory.wrapping_byte_add(69_999), 1, 2), INVALID_VALUE, "1 too many");
            ok!(stream_destroy(stream));
            ok!(free(memory));
            ok!(free(beside));
        }
        ok!(set_device(0));
    }

    fn a_copy_goes_from_one_device_to_another() {
        let _guard = guard();
        if Device::count() < 2 {
            return eprintln!("needs two devices");
        }
        // More than one step through the host.
        for (bytes, to_at, from_at) in [(1, 0, 1), (65_537, 127, 4), ((40 << 20) + 5, 3, 511)] {
            let source = noise(11, bytes + from_at);
            ok!(set_device(1));
            let to = uploaded!(vec![0x77; bytes + to_at + 1]);
            ok!(set_device(0));
            let (from, stream) = (uploaded!(source), new_stream!());
            let mut expected = vec![0x77; bytes + to_at + 1];
            for (kind, current) in [(DEVICE_TO_DEVICE, 0), (DEFAULT, 0), (DEVICE_TO_DEVICE, 1)] {
                ok!(set_device(current));
                ok!(memset(to, 0x77, expected.len()));
                expected.fill(0x77);
                let (to, from) = (to.wrapping_byte_add(to_at), from.wrapping_byte_add(from_at));
                ok!(unsafe { memcpy(to, from, bytes, kind) });
                expected[to_at..to_at + bytes].copy_from_slice(&source[from_at..]);
                assert_same(&downloaded!(to.wrapping_byte_sub(to_at), expected.len()), &expected, || {
                    format!("{bytes}")
                });
            }
            // Behind the stream's earlier work on both devices.
            ok!(set_device(0));
            ok!(memset_async(from, 5, source.len(), stream));
            ok!(unsafe { memcpy_async(to, from, bytes, DEVICE_TO_DEVICE, stream) });
            ok!(stream_synchronize(stream));
            assert_same(&downloaded!(to, bytes), &vec![5; bytes], || format!("{bytes} bytes in a stream"));
            fails!(unsafe { memcpy(to, from, bytes + from_at + 1, DEVICE_TO_DEVICE) }, INVALID_VALUE, "too many");
            ok!(stream_destroy(stream));
            ok!(free(to));
            ok!(free(from));
        }
    }
}

/// Every size between all offsets, by both calls and both ways to name the direction. What lies around the target and
/// the source stay as they were.
fn copy_between(calls: Calls, to: Sort, from: Sort) {
    const ROOM: usize = 1024;
    let stream = (calls.create_stream)(0);
    for size in SIZES {
        let (contents, blank) = (noise(1, size + ROOM), noise(2, size + ROOM));
        let (source, target) = (Block::new(calls, from, &contents), Block::new(calls, to, &blank));
        for (to_turn, to_at) in OFFSETS.into_iter().enumerate() {
            for (from_turn, from_at) in OFFSETS.into_iter().enumerate() {
                // All pairs of offsets for small sizes; each offset once on either side for large ones.
                if size > 4096 && (to_turn * 3 + from_turn) % OFFSETS.len() != 0 {
                    continue;
                }
                for stream in [None, Some(stream)] {
                    let by_address = (to_turn + from_turn) % 2 == 0;
                    let kind = if by_address { 4 } else { Sort::copy_kind(to, from) };
                    (calls.copy)(target.at(to_at), source.at(from_at), size, kind, stream);
                    stream.inspect(|&stream| (calls.synchronize)(stream));
                    let mut expected = blank.clone();
                    expected[to_at..to_at + size].copy_from_slice(&contents[from_at..from_at + size]);
                    assert_same(&target.read(), &expected, || {
                        format!(
                            "{size} bytes, {from:?} + {from_at} to {to:?} + {to_at}, stream {stream:?}, kind {kind}"
                        )
                    });
                    target.write(&blank);
                }
            }
        }
        assert_same(&source.read(), &contents, || format!("the source of {size} bytes in {from:?} memory"));
    }
    (calls.destroy_stream)(stream);
}
