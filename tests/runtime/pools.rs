//! Allocation in stream order (CUDA's `cudaMallocAsync` under both dialects' names; behaviour.md 2.5 and 3.2): what may
//! be used when, and who has freed memory again. What pools keep and count is in `pools_kept`.

use crate::blocks::{Held, assert_same, noise};
use crate::support::{device, gated, in_time};
use gridcl::testing::{count_calls, fail, guard};
use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};

/// Memory of the current pool.
macro_rules! ordered {
    ($bytes:expr, $stream:expr) => {{
        let mut pointer = null_mut();
        ok!(unsafe { malloc_async(&mut pointer, $bytes, $stream) });
        pointer
    }};
}

/// Whether freed blocks can be cut: buffer objects are taken whole.
fn blocks_are_cut() -> bool {
    std::env::var("GRIDCL_MEMORY").as_deref() != Ok("buffer")
}

both_dialects! {
    fn memory_can_be_used_in_stream_order_at_once() {
        let _guard = guard();
        let (blocking, aside) = (work::blocking(), work::aside());
        let pinned = pinned_memory!(100_000);
        for stream in [LEGACY, PER_THREAD, *blocking, *aside] {
            for round in 1..20 {
                let memory = ordered!(100_000, stream);
                assert_eq!(memory.addr() % 256, 0);
                ok!(memset_async(memory, round, 100_000, stream));
                ok!(unsafe { memcpy_async(pinned, memory, 100_000, DEVICE_TO_HOST, stream) });
                ok!(free_async(memory, stream));
                ok!(stream_synchronize(stream));
                let got = unsafe { std::slice::from_raw_parts(pinned.cast::<u8>(), 100_000) };
                assert_same(got, &[round as u8; 100_000], || format!("round {round}"));
            }
        }
        ok!(host_free(pinned));
    }

    fn freed_memory_is_unknown_at_once_and_nobody_waits() {
        let _guard = guard();
        let held = Held::default_stream(device());
        let stream = new_stream!();
        for from in [LEGACY, stream] {
            let memory = ordered!(1000, from);
            ok!(memset_async(memory, 7, 1000, from));
            let (address, handle) = (memory.addr(), from.addr());
            let code = in_time("a free in stream order", move || {
                free_async(without_provenance_mut(address), without_provenance_mut(handle))
            });
            assert_eq!(code, SUCCESS);
            fails!(memset_async(memory, 8, 1000, from), INVALID_VALUE, "freed");
            fails!(unsafe { memcpy_async(memory, memory, 10, DEVICE_TO_DEVICE, from) }, INVALID_VALUE, "freed");
            fails!(free_async(memory, from), INVALID_VALUE, "ptr");
            fails!(free(memory), INVALID_DEVICE_POINTER, "ptr");
            let mut value = 0_u64;
            let told = unsafe { pointer_get_attribute((&raw mut value).cast(), PointerAttribute(12), memory) };
            assert_eq!(told, INVALID_VALUE);
        }
        held.open();
        ok!(stream_destroy(stream));
        ok!(device_synchronize());
    }

    fn the_stream_that_freed_memory_has_it_again_without_a_wait() {
        let _guard = guard();
        const BYTES: usize = 50_000;
        let stream = new_stream!();
        let pinned = pinned_memory!(10 * BYTES);
        let held = Held::default_stream(device());
        for from in [stream, LEGACY] {
            let first = ordered!(BYTES, from);
            ok!(memset_async(first, 0, BYTES, from));
            ok!(free_async(first, from));
            for round in 0..10 {
                let again = ordered!(BYTES, from);
                assert_eq!(again, first, "what the stream has just freed");
                ok!(memset_async(again, round, BYTES, from));
                let to = pinned.wrapping_byte_add(round as usize * BYTES);
                ok!(unsafe { memcpy_async(to, again, BYTES, DEVICE_TO_HOST, from) });
                ok!(free_async(again, from));
            }
        }
        held.open();
        ok!(device_synchronize());
        let got = unsafe { std::slice::from_raw_parts(pinned.cast::<u8>(), 10 * BYTES) };
        for (round, got) in got.chunks(BYTES).enumerate() {
            assert_same(got, &[round as u8; BYTES], || format!("round {round}"));
        }
        ok!(host_free(pinned));
        ok!(stream_destroy(stream));
    }

    fn a_large_block_serves_several_small_requests() {
        let _guard = guard();
        if !blocks_are_cut() {
            return;
        }
        let stream = new_stream!();
        let held = Held::default_stream(device());
        let large = ordered!(1 << 20, stream);
        ok!(memset_async(large, 1, 1 << 20, stream));
        ok!(free_async(large, stream));
        let parts: Vec<_> = (0..8).map(|_| ordered!(100_000, stream)).collect();
        for (number, &part) in parts.iter().enumerate() {
            let within = large.addr()..large.addr() + (1 << 20);
            assert!(within.contains(&part.addr()) && within.contains(&(part.addr() + 99_999)));
            ok!(memset_async(part, number as i32 + 10, 100_000, stream));
            fails!(memset_async(part, 0, 100_001, stream), INVALID_VALUE, "too many");
        }
        held.open();
        for (number, part) in parts.into_iter().enumerate() {
            assert_same(&downloaded!(part, 100_000), &[number as u8 + 10; 100_000], || format!("part {number}"));
            ok!(free_async(part, stream));
        }
        ok!(stream_destroy(stream));
    }

    fn other_streams_have_freed_memory_only_when_its_work_is_done() {
        let _guard = guard();
        let (first, second, aside) = (new_stream!(), new_stream!(), work::aside());
        let memory = ordered!(3_000_000, first);
        let held = Held::default_stream(device());
        ok!(memset_async(memory, 1, 3_000_000, first));
        ok!(free_async(memory, first));
        for other in [second, *aside, LEGACY, PER_THREAD] {
            let fresh = ordered!(3_000_000, other);
            assert_ne!(fresh, memory, "its work is held back");
            ok!(free_async(fresh, other));
        }
        let fresh = device_memory!(3_000_000);
        assert_ne!(fresh, memory);
        held.open();
        ok!(free(fresh));
        ok!(stream_destroy(first));
        ok!(stream_destroy(second));
    }

    fn memory_may_be_freed_in_another_stream_than_it_was_allocated_in() {
        let _guard = guard();
        let (first, second, event) = (new_stream!(), new_stream!(), work::untimed());
        let held = Held::default_stream(device());
        let memory = ordered!(2_000_000, first);
        ok!(memset_async(memory, 1, 2_000_000, first));
        ok!(event_record(*event, first));
        ok!(stream_wait_event(second, *event, 0));
        ok!(memset_async(memory, 2, 2_000_000, second));
        ok!(free_async(memory, second));
        let other = ordered!(2_000_000, first);
        assert_ne!(other, memory, "the stream that allocated it knows nothing of the free");
        let again = ordered!(2_000_000, second);
        assert_eq!(again, memory, "the stream that freed it has it");
        ok!(memset_async(again, 3, 2_000_000, second));
        held.open();
        assert_same(&downloaded!(again, 2_000_000), &vec![3; 2_000_000], || "set last".into());
        ok!(free_async(again, first));
        ok!(free_async(other, first));
        ok!(stream_destroy(first));
        ok!(stream_destroy(second));
    }

    fn a_free_in_the_default_stream_comes_after_blocking_streams() {
        let _guard = guard();
        let (held_stream, gate) = gated(device());
        let stream = new_stream!();
        let (event, memory) = (work::untimed(), ordered!(1_000_000, stream));
        // The stream's set stands behind the default stream, which stands behind the gated one.
        ok!(memset_async(memory, 1, 16, LEGACY));
        ok!(memset_async(memory, 1, 1_000_000, stream));
        ok!(free_async(memory, LEGACY));
        ok!(event_record(*event, stream));
        let other = ordered!(1_000_000, *work::aside());
        assert_ne!(other, memory);
        let again = ordered!(1_000_000, LEGACY);
        assert_eq!(again, memory);
        ok!(memset_async(again, 2, 1_000_000, LEGACY));
        assert_eq!(event_query(*event), NOT_READY);
        gate.open();
        assert_same(&downloaded!(again, 1_000_000), &vec![2; 1_000_000], || "set last".into());
        held_stream.synchronize().unwrap();
        ok!(free_async(again, LEGACY));
        ok!(free_async(other, LEGACY));
        ok!(stream_destroy(stream));
    }

    fn either_free_takes_either_memory() {
        let _guard = guard();
        let stream = new_stream!();
        for _ in 0..3 {
            let memory = ordered!(10_000, stream);
            ok!(memset_async(memory, 1, 10_000, stream));
            ok!(free(memory));
            assert_eq!(stream_query(stream), SUCCESS, "the plain free waits");
            fails!(free_async(memory, stream), INVALID_VALUE);
            let memory = device_memory!(10_000);
            ok!(memset_async(memory, 1, 10_000, stream));
            ok!(free_async(memory, stream));
            fails!(free(memory), INVALID_DEVICE_POINTER);
        }
        let held = Held::default_stream(device());
        let memory = device_memory!(5_000_000);
        ok!(memset_async(memory, 1, 5_000_000, stream));
        ok!(free_async(memory, stream));
        let fresh = device_memory!(5_000_000);
        assert_ne!(fresh, memory, "its work is held back");
        held.open();
        ok!(free(fresh));
        ok!(stream_destroy(stream));
    }

    fn a_stream_may_be_destroyed_with_frees_pending() {
        let _guard = guard();
        let held = Held::default_stream(device());
        let addresses: Vec<usize> = (0..5)
            .map(|_| {
                let stream = new_stream!();
                let memory = ordered!(700_000, stream);
                ok!(memset_async(memory, 1, 700_000, stream));
                ok!(free_async(memory, stream));
                ok!(stream_destroy(stream));
                memory.addr()
            })
            .collect();
        for (index, address) in addresses.iter().enumerate() {
            assert!(!addresses[..index].contains(address), "a new stream is another one, whatever its number");
        }
        held.open();
        ok!(device_synchronize());
        let memory = ordered!(700_000, LEGACY);
        ok!(free_async(memory, LEGACY));
    }

    fn wrong_arguments_change_nothing() {
        let _guard = guard();
        let (stream, dead) = (new_stream!(), new_stream!());
        ok!(stream_destroy(dead));
        let mut pointer: *mut c_void = without_provenance_mut(77);
        fails!(unsafe { malloc_async(null_mut(), 10, stream) }, INVALID_VALUE, "devPtr");
        fails!(unsafe { malloc_async(&mut pointer, 10, dead) }, INVALID_HANDLE, "stream");
        fails!(unsafe { malloc_async(&mut pointer, usize::MAX, stream) }, OUT_OF_MEMORY, "size");
        fails!(unsafe { malloc_async(&mut pointer, usize::MAX - 300, stream) }, OUT_OF_MEMORY, "size");
        assert_eq!(pointer.addr(), 77);

        let (memory, pinned) = (ordered!(1000, stream), pinned_memory!(10));
        let mut own = 0_u64;
        fails!(free_async(memory, dead), INVALID_HANDLE, "stream");
        fails!(free_async(memory.wrapping_byte_add(256), stream), INVALID_VALUE, "points into");
        fails!(free_async(pinned, stream), INVALID_VALUE, "pinned");
        fails!(free_async((&raw mut own).cast(), stream), INVALID_VALUE, "ptr");
        ok!(free_async(null_mut(), stream));
        ok!(memset_async(memory, 1, 1000, stream));
        ok!(free_async(memory, stream));
        fails!(free_async(memory, stream), INVALID_VALUE, "free already");
        ok!(host_free(pinned));
        ok!(stream_destroy(stream));
    }

    fn no_bytes_are_as_in_the_plain_call() {
        let _guard = guard();
        let (mut plain, mut ordered) = (without_provenance_mut(77), without_provenance_mut(77));
        ok!(unsafe { malloc(&mut plain, 0) });
        ok!(unsafe { malloc_async(&mut ordered, 0, LEGACY) });
        assert_eq!(plain.is_null(), ordered.is_null());
        ok!(free(plain));
        ok!(free_async(ordered, LEGACY));
    }

    fn any_order_of_calls_keeps_live_memory_apart() {
        let _guard = guard();
        let streams = [new_stream!(), new_stream!(NON_BLOCKING), LEGACY];
        let mut live: Vec<(*mut c_void, Vec<u8>, usize)> = Vec::new();
        let mut chance = noise(9, 40_000).into_iter().map(usize::from);
        let mut next = move || chance.next().unwrap();
        for step in 0..1500 {
            let on = next() % 3;
            match next() % 8 {
                0..4 => {
                    let bytes = 1 + next() * 37 * (1 + next() % 8);
                    let (memory, contents) = (ordered!(bytes, streams[on]), noise(step, bytes));
                    let from = contents.as_ptr().cast();
                    ok!(unsafe { memcpy_async(memory, from, bytes, HOST_TO_DEVICE, streams[on]) });
                    live.push((memory, contents, on));
                }
                4..7 if !live.is_empty() => {
                    let (memory, contents, on) = live.swap_remove(next() % live.len());
                    let mut got = vec![0; contents.len()];
                    let to = got.as_mut_ptr().cast();
                    if step % 3 == 0 {
                        ok!(unsafe { memcpy_async(to, memory, got.len(), DEVICE_TO_HOST, streams[on]) });
                        assert_same(&got, &contents, || format!("at step {step}"));
                    }
                    match step % 17 {
                        0 => ok!(free(memory)),
                        _ => ok!(free_async(memory, streams[on])),
                    }
                }
                7 if step % 4 == 0 => ok!(stream_synchronize(streams[on])),
                _ => {}
            }
        }
        for (memory, contents, on) in live {
            let mut got = vec![0; contents.len()];
            ok!(unsafe { memcpy_async(got.as_mut_ptr().cast(), memory, got.len(), DEVICE_TO_HOST, streams[on]) });
            assert_same(&got, &contents, || "in the end".into());
            ok!(free_async(memory, streams[on]));
        }
        for stream in &streams[..2] {
            ok!(stream_destroy(*stream));
        }
    }

    fn threads_allocate_and_free_at_once() {
        let _guard = guard();
        std::thread::scope(|scope| {
            for thread in 0..6 {
                scope.spawn(move || {
                    for round in 0..60_usize {
                        let bytes = 1000 + (round * 7919 + thread * 13) % 60_000;
                        let stream = if round % 3 == 0 { LEGACY } else { PER_THREAD };
                        let memory = ordered!(bytes, stream);
                        ok!(memset_async(memory, thread as i32 + 1, bytes, stream));
                        let mut got = vec![0; bytes];
                        let to = got.as_mut_ptr().cast();
                        ok!(unsafe { memcpy_async(to, memory, bytes, DEVICE_TO_HOST, stream) });
                        assert_same(&got, &vec![thread as u8 + 1; bytes], || format!("thread {thread}"));
                        ok!(free_async(memory, stream));
                    }
                });
            }
        });
    }

    fn a_warm_allocation_and_its_free_call_nothing_of_opencl() {
        let _guard = guard();
        let stream = new_stream!();
        let held = Held::default_stream(device());
        let memory = ordered!(10_000, stream);
        ok!(memset_async(memory, 1, 10_000, stream));
        ok!(free_async(memory, stream));
        let ((), calls) = count_calls(|| {
            for _ in 0..10 {
                let memory = ordered!(10_000, stream);
                ok!(free_async(memory, stream));
            }
        });
        assert!(calls.is_empty(), "{calls:?}");
        held.open();
        ok!(stream_destroy(stream));
    }

    fn a_free_that_fails_frees_nothing() {
        let _guard = guard();
        let stream = new_stream!();
        let held = Held::default_stream(device());
        let memory = ordered!(10_000, stream);
        ok!(memset_async(memory, 1, 10_000, stream));
        // The free comes after the blocking stream, which takes a barrier.
        fail("clEnqueueBarrierWithWaitList", 0, -5);
        fails!(free_async(memory, LEGACY), LAUNCH_OUT_OF_RESOURCES, "clEnqueueBarrierWithWaitList");
        ok!(memset_async(memory, 2, 10_000, stream));
        held.open();
        assert_same(&downloaded!(memory, 10_000), &[2; 10_000], || "what is still there".into());
        ok!(free_async(memory, LEGACY));
        ok!(stream_destroy(stream));
    }

    fn kernels_use_pool_memory() {
        let _guard = guard();
        let source = c"__kernel void add(__global int *to, int more) { to[get_global_id(0)] += more; }";
        let (mut module, mut kernel, stream) = (null_mut(), null_mut(), new_stream!());
        ok!(unsafe { module_load_data(&mut module, source.as_ptr().cast()) });
        ok!(unsafe { module_get_function(&mut kernel, module, c"add".as_ptr()) });
        let launch = |memory: *mut c_void| {
            let more = 5_i32;
            let mut args = [(&raw const memory).cast_mut().cast(), (&raw const more).cast_mut().cast()];
            let (grid, block) = (dim3::new(10, 1, 1), dim3::new(100, 1, 1));
            unsafe { launch_kernel(kernel.cast(), grid, block, args.as_mut_ptr(), 0, stream) }
        };
        for _ in 0..5 {
            let memory = ordered!(4000, stream);
            ok!(memset_async(memory, 0, 4000, stream));
            ok!(launch(memory));
            ok!(launch(memory));
            let got: Vec<i32> = bytemuck::pod_collect_to_vec(&downloaded!(memory, 4000));
            assert_eq!(got, [10; 1000]);
            ok!(free_async(memory, stream));
            fails!(launch(memory), INVALID_VALUE);
        }
        ok!(stream_destroy(stream));
        ok!(module_unload(module));
    }
}
