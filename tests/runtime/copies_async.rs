//! When copies and sets return while their stream is busy (behaviour.md 2.4; 3.5 and 3.6, ordering).
//!
//! A gate in the default stream holds back all blocking streams. What must not wait is called while it is closed; what
//! must wait is called in a thread, which may not come back before the gate is opened.

use crate::blocks::{Block, Held, Sort, assert_same, noise, waits_for};
use crate::support::device;
use gridcl::StreamFlags;
use gridcl::testing::{fail, guard};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::slice;

/// Sizes below and above what goes by hand when it may, and above any single staging step.
const SIZES: [usize; 4] = [1, 4096, 300_000, (9 << 20) + 1];

/// What pinned memory holds.
fn host_bytes(pointer: *mut c_void, bytes: usize) -> &'static [u8] {
    unsafe { slice::from_raw_parts(pointer.cast(), bytes) }
}

both_dialects! {
    fn a_pageable_source_may_be_overwritten_when_the_asynchronous_copy_returns() {
        let _guard = guard();
        for bytes in SIZES {
            let (stream, memory) = (new_stream!(), device_memory!(3 * bytes));
            let mut source = noise(0, bytes);
            let held = Held::default_stream(device());
            for turn in 0..3 {
                let to = memory.wrapping_byte_add(turn * bytes);
                ok!(unsafe { memcpy_async(to, source.as_ptr().cast(), bytes, HOST_TO_DEVICE, stream) });
                source = noise(turn as u64 + 1, bytes);
            }
            assert_eq!(stream_query(stream), NOT_READY);
            drop(source);
            held.open();
            ok!(stream_synchronize(stream));
            let old: Vec<u8> = (0..3).flat_map(|turn| noise(turn, bytes)).collect();
            assert_same(&downloaded!(memory, 3 * bytes), &old, || format!("3 times {bytes} bytes"));
            ok!(stream_destroy(stream));
            ok!(free(memory));
        }
    }

    fn registered_memory_is_pageable_again_once_it_is_unregistered() {
        let _guard = guard();
        let (stream, memory, mut source) = (new_stream!(), device_memory!(5000), noise(1, 5000));
        let pointer: *mut c_void = source.as_mut_ptr().cast();
        ok!(unsafe { host_register(pointer, 5000, 0) });
        ok!(host_unregister(pointer));
        let held = Held::default_stream(device());
        ok!(unsafe { memcpy_async(memory, pointer, 5000, HOST_TO_DEVICE, stream) });
        source.fill(0);
        held.open();
        ok!(stream_synchronize(stream));
        assert_same(&downloaded!(memory, 5000), &noise(1, 5000), || "the old bytes".into());
        ok!(stream_destroy(stream));
        ok!(free(memory));
    }

    fn a_pageable_source_without_room_for_a_snapshot_is_waited_for() {
        let _guard = guard();
        let (memory, source) = (device_memory!(5000), noise(2, 5000));
        fail("clEnqueueMapBuffer", 0, -4);
        let held = Held::default_stream(device());
        waits_for(held, (memory, source.as_ptr()), |(memory, source)| {
            ok!(unsafe { memcpy_async(memory, source.cast(), 5000, HOST_TO_DEVICE, LEGACY) });
        });
        assert!(!gridcl::testing::clear_fault(), "there was to be no room");
        drop(source);
        assert_same(&downloaded!(memory, 5000), &noise(2, 5000), || "the bytes of the call".into());
        ok!(free(memory));
    }

    fn asynchronous_copies_of_pinned_registered_and_device_memory_return_at_once() {
        let _guard = guard();
        for bytes in SIZES {
            let (stream, calls) = (new_stream!(), calls!());
            let (up, down) = (Block::new(calls, Sort::Pinned, &noise(1, bytes)), pinned_memory!(bytes));
            let (mut plain_up, mut plain_down) = (noise(2, bytes), vec![0_u8; bytes]);
            for plain in [&mut plain_up, &mut plain_down] {
                ok!(unsafe { host_register(plain.as_mut_ptr().cast(), bytes, 0) });
            }
            let device_blocks = [0; 4].map(|_| device_memory!(bytes));
            let [first, second, third, fourth] = device_blocks;
            let to_registered: *mut c_void = plain_down.as_mut_ptr().cast();
            unsafe { down.cast::<u8>().write_bytes(0, bytes) };

            let held = Held::default_stream(device());
            ok!(unsafe { memcpy_async(first, up.at(0), bytes, HOST_TO_DEVICE, stream) });
            ok!(unsafe { memcpy_async(second, first, bytes, DEVICE_TO_DEVICE, stream) });
            ok!(unsafe { memcpy_async(down, second, bytes, DEVICE_TO_HOST, stream) });
            ok!(unsafe { memcpy_async(third, plain_up.as_ptr().cast(), bytes, DEFAULT, stream) });
            ok!(unsafe { memcpy_async(fourth, third, bytes, DEFAULT, stream) });
            ok!(unsafe { memcpy_async(to_registered, fourth, bytes, DEFAULT, stream) });
            assert_eq!(stream_query(stream), NOT_READY);
            assert_eq!(stream_query(LEGACY), NOT_READY);
            assert_eq!(host_bytes(down, bytes), vec![0; bytes], "nothing ran yet");
            assert_eq!(host_bytes(to_registered, bytes), vec![0; bytes], "nothing ran yet");
            held.open();
            ok!(stream_synchronize(stream));
            assert_same(host_bytes(down, bytes), &noise(1, bytes), || format!("{bytes} bytes of pinned memory"));
            assert_same(host_bytes(to_registered, bytes), &noise(2, bytes), || format!("{bytes} registered bytes"));

            ok!(host_unregister(plain_up.as_mut_ptr().cast()));
            ok!(host_unregister(to_registered));
            ok!(host_free(down));
            device_blocks.into_iter().for_each(|block| ok!(free(block)));
            ok!(stream_destroy(stream));
        }
    }

    fn a_pageable_target_is_complete_when_the_asynchronous_copy_returns() {
        let _guard = guard();
        for bytes in SIZES {
            let (stream, memory, mut target) = (new_stream!(), uploaded!(noise(3, bytes)), vec![0_u8; bytes]);
            waits_for(
                Held::default_stream(device()),
                (target.as_mut_ptr(), memory, stream, bytes),
                |(target, memory, stream, bytes)| {
                    ok!(unsafe { memcpy_async(target.cast(), memory, bytes, DEVICE_TO_HOST, stream) });
                    ok!(stream_query(stream));
                },
            );
            assert_same(&target, &noise(3, bytes), || format!("{bytes} bytes"));
            ok!(stream_destroy(stream));
            ok!(free(memory));
        }
    }

    fn a_copy_between_host_memories_is_complete_when_it_returns() {
        let _guard = guard();
        let (calls, stream) = (calls!(), new_stream!());
        let hosts = [Sort::Pinned, Sort::Pageable];
        for (to, from) in hosts.into_iter().flat_map(|to| hosts.map(|from| (to, from))) {
            let (target, source) = (Block::new(calls, to, &[0; 5000]), Block::new(calls, from, &[6; 5000]));
            for in_stream in [false, true] {
                target.write(&[0; 5000]);
                let held = Held::default_stream(device());
                if from == Sort::Pinned {
                    // In the other stream of the two, which comes first by the rules of the default stream alone.
                    let earlier = if in_stream { LEGACY } else { stream };
                    ok!(memset_async(source.at(0), 6 + i32::from(in_stream), 5000, earlier));
                }
                let arguments = (target.at(0), source.at(0), in_stream.then_some(stream));
                waits_for(held, arguments, |(to, from, stream)| match stream {
                    Some(stream) => {
                        ok!(unsafe { memcpy_async(to, from, 5000, HOST_TO_HOST, stream) });
                        ok!(stream_query(stream));
                    }
                    None => ok!(unsafe { memcpy(to, from, 5000, DEFAULT) }),
                });
                let value = if from == Sort::Pinned { 6 + u8::from(in_stream) } else { 6 };
                assert_same(&target.read(), &[value; 5000], || format!("{from:?} to {to:?}"));
            }
        }
        ok!(stream_destroy(stream));
    }

    fn copies_of_host_memory_without_a_stream_are_complete_when_they_return() {
        let _guard = guard();
        let calls = calls!();
        for bytes in [1, 4096, 300_000] {
            for sort in [Sort::Pinned, Sort::Pageable] {
                let (stream, memory) = (new_stream!(), device_memory!(bytes));
                let host = Block::new(calls, sort, &noise(4, bytes));
                // Work of a blocking stream comes before the copy, which would undo it.
                let held = Held::default_stream(device());
                ok!(memset_async(memory, 9, bytes, stream));
                waits_for(held, (memory, host.at(0), bytes), |(memory, host, bytes)| {
                    ok!(unsafe { memcpy(memory, host, bytes, HOST_TO_DEVICE) });
                    ok!(stream_query(LEGACY));
                });
                assert_same(&downloaded!(memory, bytes), &noise(4, bytes), || {
                    format!("{bytes} bytes up from {sort:?}")
                });

                let held = Held::default_stream(device());
                ok!(memset_async(memory, 9, bytes, stream));
                waits_for(held, (host.at(0), memory, bytes), |(host, memory, bytes)| {
                    ok!(unsafe { memcpy(host, memory, bytes, DEVICE_TO_HOST) });
                    ok!(stream_query(LEGACY));
                });
                assert_same(&host.read(), &vec![9; bytes], || format!("{bytes} bytes down to {sort:?}"));
                ok!(stream_destroy(stream));
                ok!(free(memory));
            }
        }
    }

    fn a_copy_within_the_device_without_a_stream_returns_at_once() {
        let _guard = guard();
        for bytes in SIZES {
            let (to, from, stream) = (device_memory!(bytes), uploaded!(noise(5, bytes)), new_stream!());
            ok!(memset(to, 0, bytes));
            ok!(device_synchronize());
            let held = Held::default_stream(device());
            ok!(unsafe { memcpy(to, from, bytes, DEVICE_TO_DEVICE) });
            // Later work of a blocking stream stands behind it.
            ok!(memset_async(from, 1, bytes, stream));
            assert_eq!(stream_query(LEGACY), NOT_READY);
            held.open();
            assert_same(&downloaded!(to, bytes), &noise(5, bytes), || format!("{bytes} bytes"));
            assert_same(&downloaded!(from, bytes), &vec![1; bytes], || format!("{bytes} bytes set later"));
            ok!(stream_destroy(stream));
            ok!(free(to));
            ok!(free(from));
        }
    }

    fn sets_of_device_memory_return_at_once() {
        let _guard = guard();
        for bytes in SIZES {
            let (stream, memory, pinned) = (new_stream!(), uploaded!(noise(6, 3 * bytes)), pinned_memory!(3 * bytes));
            let held = Held::default_stream(device());
            ok!(memset(memory, 1, bytes));
            ok!(memset_async(memory.wrapping_byte_add(bytes), 2, bytes, stream));
            ok!(unsafe { memcpy_async(pinned, memory, 3 * bytes, DEVICE_TO_HOST, stream) });
            assert_eq!(stream_query(stream), NOT_READY);
            assert_eq!(stream_query(LEGACY), NOT_READY);
            held.open();
            ok!(stream_synchronize(stream));
            let mut expected = noise(6, 3 * bytes);
            expected[..bytes].fill(1);
            expected[bytes..2 * bytes].fill(2);
            assert_same(host_bytes(pinned, 3 * bytes), &expected, || format!("3 times {bytes} bytes"));
            ok!(stream_destroy(stream));
            ok!(free(memory));
            ok!(host_free(pinned));
        }
    }

    fn a_set_of_host_memory_is_complete_when_it_returns_and_its_asynchronous_form_returns_at_once() {
        let _guard = guard();
        for bytes in SIZES {
            let (stream, pinned, mut plain) = (new_stream!(), pinned_memory!(bytes), vec![0_u8; bytes]);
            let registered: *mut c_void = plain.as_mut_ptr().cast();
            ok!(unsafe { host_register(registered, bytes, 0) });
            for host in [pinned, registered] {
                unsafe { host.cast::<u8>().write_bytes(0, bytes) };
                let held = Held::default_stream(device());
                ok!(memset_async(host, 1, bytes, stream));
                assert_eq!(stream_query(stream), NOT_READY);
                assert_eq!(host_bytes(host, bytes), vec![0; bytes], "nothing ran yet");
                held.open();
                ok!(stream_synchronize(stream));
                assert_eq!(host_bytes(host, bytes), vec![1; bytes]);

                let held = Held::default_stream(device());
                ok!(memset_async(host, 2, bytes, stream));
                waits_for(held, (host, bytes), |(host, bytes)| {
                    ok!(memset(host, 3, bytes));
                    ok!(stream_query(LEGACY));
                });
                assert_eq!(host_bytes(host, bytes), vec![3; bytes]);
            }
            ok!(host_unregister(registered));
            ok!(host_free(pinned));
            ok!(stream_destroy(stream));
        }
    }

    fn work_without_an_order_holds_no_copy_up() {
        let _guard = guard();
        let (memory, mut back) = (uploaded!(noise(7, 5000)), vec![0_u8; 5000]);
        let (aside, other) = (new_stream!(NON_BLOCKING), new_stream!(NON_BLOCKING));
        // A stream aside is busy: neither the default stream nor another one waits for it.
        let busy = device().create_stream_with(StreamFlags::NON_BLOCKING, 0).unwrap();
        let held = Held::close(&busy);
        ok!(unsafe { memcpy(back.as_mut_ptr().cast(), memory, 5000, DEVICE_TO_HOST) });
        assert_same(&back, &noise(7, 5000), || "in the default stream".into());
        ok!(memset_async(memory, 3, 5000, aside));
        ok!(unsafe { memcpy_async(back.as_mut_ptr().cast(), memory, 5000, DEVICE_TO_HOST, aside) });
        assert_eq!(back, [3; 5000]);
        assert!(!busy.is_done().unwrap());
        held.open();
        busy.synchronize().unwrap();
        // And the other way round.
        let held = Held::default_stream(device());
        ok!(memset_async(memory, 4, 5000, other));
        ok!(unsafe { memcpy_async(back.as_mut_ptr().cast(), memory, 5000, DEVICE_TO_HOST, other) });
        assert_eq!(back, [4; 5000]);
        held.open();
        ok!(device_synchronize());
        for stream in [aside, other] {
            ok!(stream_destroy(stream));
        }
        ok!(free(memory));
    }

    fn an_event_orders_the_copies_of_two_streams() {
        let _guard = guard();
        let (memory, pinned, mut event) = (uploaded!([1; 300_000]), pinned_memory!(300_000), null_mut());
        let (first, second) = (new_stream!(), new_stream!(NON_BLOCKING));
        ok!(unsafe { event_create_with_flags(&mut event, EVENT_DISABLE_TIMING) });
        let held = Held::default_stream(device());
        ok!(memset_async(memory, 8, 300_000, first));
        ok!(event_record(event, first));
        ok!(stream_wait_event(second, event, 0));
        ok!(unsafe { memcpy_async(pinned, memory, 300_000, DEVICE_TO_HOST, second) });
        assert_eq!(stream_query(second), NOT_READY);
        held.open();
        ok!(stream_synchronize(second));
        assert_eq!(host_bytes(pinned, 300_000), [8; 300_000]);
        ok!(event_destroy(event));
        for stream in [first, second] {
            ok!(stream_destroy(stream));
        }
        ok!(free(memory));
        ok!(host_free(pinned));
    }

    fn a_thousand_snapshots_wait_behind_one_gate() {
        let _guard = guard();
        let (stream, memory) = (new_stream!(), device_memory!(1000 * 777));
        let contents = noise(8, 1000 * 777);
        let held = Held::default_stream(device());
        for (index, part) in contents.chunks(777).enumerate() {
            let (to, part) = (memory.wrapping_byte_add(index * 777), part.to_vec());
            ok!(unsafe { memcpy_async(to, part.as_ptr().cast(), 777, HOST_TO_DEVICE, stream) });
        }
        held.open();
        ok!(stream_synchronize(stream));
        assert_same(&downloaded!(memory, 1000 * 777), &contents, || "all parts".into());
        ok!(stream_destroy(stream));
        ok!(free(memory));
    }
}

mod tops_alone {
    use super::*;
    use crate::dialects::tops::*;
    use gridcl::tops::topsMemcpyWithStream;

    #[test]
    fn a_copy_with_a_stream_waits_for_that_stream_and_returns_as_the_one_without() {
        let _guard = guard();
        let calls = calls!();
        let aside = device().create_stream_with(StreamFlags::NON_BLOCKING, 0).unwrap();
        let (stream, memory, second) = (new_stream!(), device_memory!(5000), device_memory!(5000));
        for sort in [Sort::Pinned, Sort::Pageable] {
            let host = Block::new(calls, sort, &noise(9, 5000));
            // Another stream's work is not waited for.
            let elsewhere = Held::close(&aside);
            let arguments = (memory, host.at(0), stream);
            waits_for(Held::default_stream(device()), arguments, |(memory, host, stream)| {
                ok!(unsafe { topsMemcpyWithStream(memory, host, 5000, HOST_TO_DEVICE, stream) });
                ok!(stream_query(stream));
            });
            host.write(&[0; 5000]);
            waits_for(Held::default_stream(device()), arguments, |(memory, host, stream)| {
                ok!(unsafe { topsMemcpyWithStream(host, memory, 5000, DEVICE_TO_HOST, stream) });
                ok!(stream_query(stream));
            });
            assert_same(&host.read(), &noise(9, 5000), || format!("{sort:?} memory there and back"));
            elsewhere.open();
        }
        let held = Held::default_stream(device());
        ok!(unsafe { topsMemcpyWithStream(second, memory, 5000, DEVICE_TO_DEVICE, stream) });
        assert_eq!(stream_query(stream), NOT_READY);
        held.open();
        ok!(stream_synchronize(stream));
        assert_same(&downloaded!(second, 5000), &noise(9, 5000), || "within the device".into());
        aside.synchronize().unwrap();
        ok!(stream_destroy(stream));
        ok!(free(memory));
        ok!(free(second));
    }

    #[test]
    fn a_copy_with_a_stream_that_is_none_or_bytes_that_are_not_there_is_refused() {
        let _guard = guard();
        let (stream, dead, memory, host) = (new_stream!(), new_stream!(), device_memory!(64), [0_u8; 128]);
        ok!(stream_destroy(dead));
        let copy = |bytes, kind: i32, stream| unsafe {
            topsMemcpyWithStream(memory, host.as_ptr().cast(), bytes, Kind(kind), stream)
        };
        fails!(copy(64, 1, dead), INVALID_HANDLE, "topsMemcpyWithStream: stream = ");
        fails!(copy(65, 1, stream), INVALID_VALUE, "topsMemcpyWithStream: dst = ", "1 too many");
        fails!(copy(64, 5, stream), INVALID_MEMCPY_DIRECTION, "topsMemcpyWithStream: kind = 5: ");
        ok!(copy(64, 1, stream));
        ok!(stream_destroy(stream));
        ok!(free(memory));
    }
}
