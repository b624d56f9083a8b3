//! Large copies of pageable memory, which go in parts by several threads.
//!
//! Each test runs with small parts through pinned buffers, as on a GPU, and the way this device goes by itself.

use crate::blocks::{Held, assert_same, noise, waits_for};
use crate::support::{device, gated};
use gridcl::DeviceBuffer;
use gridcl::testing::{clear_fault, fail, fail_times, guard, tune_staging};

/// More than any device's least size of a copy in parts, and no multiple of anything.
const LARGE: usize = (9 << 20) + 13;
/// From so many bytes on, bytes of a part, threads, buffers beyond theirs.
const RING: Option<(usize, usize, usize, usize)> = Some((4096, 100_003, 3, 2));

both_dialects! {
    fn large_copies_arrive_whole_in_both_directions() {
        let _guard = guard();
        for tuning in [RING, Some((4096, 1 << 20, 1, 0)), None] {
            tune_staging(tuning);
            let (stream, memory) = (new_stream!(), device_memory!(LARGE + 100));
            for (bytes, at) in [(LARGE, 0), (LARGE, 77), (4096, 1), (100_003, 0), (100_004, 3), (1 << 20, 5)] {
                let (source, to) = (noise(bytes as u64, bytes), memory.wrapping_byte_add(at));
                for asynchronous in [false, true] {
                    ok!(memset(memory, 0xA5, LARGE + 100));
                    let mut target = vec![0_u8; bytes];
                    if asynchronous {
                        ok!(unsafe { memcpy_async(to, source.as_ptr().cast(), bytes, HOST_TO_DEVICE, stream) });
                        let back = target.as_mut_ptr().cast();
                        ok!(unsafe { memcpy_async(back, to, bytes, DEVICE_TO_HOST, stream) });
                    } else {
                        ok!(unsafe { memcpy(to, source.as_ptr().cast(), bytes, HOST_TO_DEVICE) });
                        ok!(unsafe { memcpy(target.as_mut_ptr().cast(), to, bytes, DEVICE_TO_HOST) });
                    }
                    let what = || format!("{bytes} bytes at {at}, {tuning:?}, asynchronous: {asynchronous}");
                    assert_same(&target, &source, what);
                    let all = downloaded!(memory, LARGE + 100);
                    assert!(all[..at].iter().chain(&all[at + bytes..]).all(|&byte| byte == 0xA5), "{}", what());
                }
            }
            ok!(stream_destroy(stream));
            ok!(free(memory));
        }
    }

    fn a_large_source_is_copied_before_the_call_returns_and_nobody_waits_for_the_stream() {
        let _guard = guard();
        for tuning in [RING, None] {
            tune_staging(tuning);
            let (stream, memory) = (new_stream!(), device_memory!(2 * LARGE));
            let mut source = noise(1, LARGE);
            let held = Held::default_stream(device());
            for turn in 0..2 {
                let to = memory.wrapping_byte_add(turn * LARGE);
                ok!(unsafe { memcpy_async(to, source.as_ptr().cast(), LARGE, HOST_TO_DEVICE, stream) });
                source.copy_from_slice(&noise(turn as u64 + 2, LARGE));
            }
            assert_eq!(stream_query(stream), NOT_READY);
            source.fill(0);
            held.open();
            ok!(stream_synchronize(stream));
            let expected = [noise(1, LARGE), noise(2, LARGE)].concat();
            assert_same(&downloaded!(memory, 2 * LARGE), &expected, || format!("{tuning:?}"));
            ok!(stream_destroy(stream));
            ok!(free(memory));
        }
    }

    fn later_work_of_the_stream_finds_the_whole_copy() {
        let _guard = guard();
        for tuning in [RING, None] {
            tune_staging(tuning);
            let (stream, memory, copy) = (new_stream!(), device_memory!(LARGE), device_memory!(LARGE));
            for seed in 0..10 {
                let source = noise(seed, LARGE);
                ok!(unsafe { memcpy_async(memory, source.as_ptr().cast(), LARGE, HOST_TO_DEVICE, stream) });
                drop(source);
                ok!(unsafe { memcpy_async(copy, memory, LARGE, DEVICE_TO_DEVICE, stream) });
                ok!(memset_async(memory, 0, LARGE, stream));
                let mut got = vec![0_u8; LARGE];
                ok!(unsafe { memcpy_async(got.as_mut_ptr().cast(), copy, LARGE, DEVICE_TO_HOST, stream) });
                assert_same(&got, &noise(seed, LARGE), || format!("copy {seed}, {tuning:?}"));
            }
            ok!(stream_destroy(stream));
            ok!(free(memory));
            ok!(free(copy));
        }
    }

    fn large_synchronous_copies_wait_for_the_stream_and_for_themselves() {
        let _guard = guard();
        for tuning in [RING, None] {
            tune_staging(tuning);
            let (memory, source) = (uploaded!(noise(3, LARGE)), noise(4, LARGE));
            let held = Held::default_stream(device());
            waits_for(held, (memory, source.as_ptr()), |(memory, source)| {
                ok!(unsafe { memcpy(memory, source.cast(), LARGE, HOST_TO_DEVICE) });
            });
            let held = Held::default_stream(device());
            let mut target = vec![0_u8; LARGE];
            waits_for(held, (memory, target.as_mut_ptr()), |(memory, target)| {
                ok!(unsafe { memcpy_async(target.cast(), memory, LARGE, DEVICE_TO_HOST, LEGACY) });
            });
            assert_same(&target, &source, || format!("{tuning:?}"));
            ok!(free(memory));
        }
    }

    fn without_staging_memory_large_copies_wait_and_are_right() {
        let _guard = guard();
        tune_staging(RING);
        let (memory, stream) = (device_memory!(LARGE), new_stream!());
        for (after, times) in [(0, 1000), (2, 1000), (1, 2)] {
            // No block is left from before.
            let _ = gridcl::testing::live();
            let source = noise(after, LARGE);
            fail_times("clEnqueueMapBuffer", after, -4, times);
            ok!(unsafe { memcpy_async(memory, source.as_ptr().cast(), LARGE, HOST_TO_DEVICE, stream) });
            clear_fault();
            drop(source);
            let _ = gridcl::testing::live();
            fail_times("clEnqueueMapBuffer", after, -4, times);
            let mut target = vec![0_u8; LARGE];
            ok!(unsafe { memcpy_async(target.as_mut_ptr().cast(), memory, LARGE, DEVICE_TO_HOST, stream) });
            clear_fault();
            assert_same(&target, &noise(after, LARGE), || format!("after {after} blocks"));
        }
        ok!(stream_destroy(stream));
        ok!(free(memory));
    }

    fn a_part_that_fails_fails_the_copy_and_nothing_else() {
        let _guard = guard();
        tune_staging(RING);
        let copies = if device().memory_form() == "buffer" {
            ["clEnqueueWriteBuffer", "clEnqueueReadBuffer"]
        } else {
            ["clEnqueueSVMMemcpy"; 2]
        };
        let (memory, stream) = (device_memory!(LARGE), new_stream!());
        for after in [0, 1, 7, 40] {
            let (source, mut target) = (noise(1, LARGE), vec![0_u8; LARGE]);
            fail(copies[0], after, -5);
            let code = unsafe { memcpy_async(memory, source.as_ptr().cast(), LARGE, HOST_TO_DEVICE, stream) };
            assert!(code != SUCCESS && !clear_fault(), "part {after} up failed unseen");
            fail(copies[1], after, -5);
            let code = unsafe { memcpy_async(target.as_mut_ptr().cast(), memory, LARGE, DEVICE_TO_HOST, stream) };
            assert!(code != SUCCESS && !clear_fault(), "part {after} down failed unseen");
            let _ = get_last_error();
            ok!(stream_synchronize(stream));
            ok!(unsafe { memcpy_async(memory, source.as_ptr().cast(), LARGE, HOST_TO_DEVICE, stream) });
            ok!(unsafe { memcpy_async(target.as_mut_ptr().cast(), memory, LARGE, DEVICE_TO_HOST, stream) });
            assert_same(&target, &source, || format!("after a failure of part {after}"));
        }
        ok!(stream_destroy(stream));
        ok!(free(memory));
    }

    fn nothing_that_other_threads_enqueue_comes_between_the_parts() {
        let _guard = guard();
        for tuning in [RING, None] {
            tune_staging(tuning);
            let (stream, memory, copy) = (new_stream!(), device_memory!(LARGE), device_memory!(LARGE));
            ok!(memset(memory, 0, LARGE));
            let (there, handle) = (memory.addr(), stream.addr());
            let uploads = std::thread::spawn(move || {
                let stream = std::ptr::without_provenance_mut(handle);
                for turn in 1..=30_u8 {
                    let source = vec![turn; LARGE];
                    let to = std::ptr::without_provenance_mut(there);
                    ok!(unsafe { memcpy_async(to, source.as_ptr().cast(), LARGE, HOST_TO_DEVICE, stream) });
                }
            });
            while !uploads.is_finished() {
                let mut got = vec![0_u8; LARGE];
                ok!(unsafe { memcpy_async(copy, memory, LARGE, DEVICE_TO_DEVICE, stream) });
                ok!(unsafe { memcpy_async(got.as_mut_ptr().cast(), memory, LARGE, DEVICE_TO_HOST, stream) });
                for (what, got) in [("memory", got), ("its copy", downloaded!(copy, LARGE))] {
                    let other = got.iter().position(|&byte| byte != got[0]);
                    let other = other.map(|at| (at, got[at]));
                    assert_eq!(other, None, "in {what}, beside {}, {tuning:?}", got[0]);
                }
            }
            uploads.join().unwrap();
            ok!(stream_destroy(stream));
            ok!(free(memory));
            ok!(free(copy));
        }
    }
}

#[test]
fn a_copy_behind_one_streams_gate_holds_up_no_other_streams_copies() {
    let _guard = guard();
    tune_staging(RING);
    let (blocked, gate) = gated(device());
    let free = device().create_stream().unwrap();
    let mut memory = [(); 2].map(|()| DeviceBuffer::<u8>::zeroed(&free, LARGE).unwrap());
    free.synchronize().unwrap();
    let [first, second] = &mut memory;
    blocked.upload(&noise(1, LARGE), &mut *first).unwrap();
    free.upload(&noise(2, LARGE), &mut *second).unwrap();
    assert_same(&second.to_vec(&free).unwrap(), &noise(2, LARGE), || "beside the gate".into());
    assert!(!blocked.is_done().unwrap());
    gate.open();
    assert_same(&first.to_vec(&blocked).unwrap(), &noise(1, LARGE), || "behind the gate".into());
}
