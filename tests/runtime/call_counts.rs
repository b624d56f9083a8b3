//! How many OpenCL calls a call of the runtime becomes (ARCHITECTURE.md "Life of three calls"): where time goes is first
//! of all a matter of that. Every count is exact, so that a hidden flush, wait or query is seen.

use gridcl::testing::{count_calls, guard};
use gridcl::{
    Array, DeviceBuffer, Event as SafeEvent, EventFlags, Local, Module as SafeModule, PinnedBuffer, Sampler, launch,
};
use std::ffi::c_void;
use std::ptr::null_mut;

use crate::support::{device, wait_until};
use crate::work::hold_legacy;

const KERNELS: &str = "
__kernel void one(__global float *a) { a[0] += 1; }
__kernel void eight(__global float *a, __global float *b, __global float *c, __global float *d,
                    int i, int j, float x, float y) {
    a[j] = b[i] * x + c[i] * y + d[i];
}
__kernel void turn(__global uint *y, __local uint *shared, uint add) {
    uint at = get_local_id(0), last = get_local_size(0) - 1;
    shared[at] = y[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[at] = shared[last - at] + add;
}
__kernel void ask(__global int *y, __global float *maybe, float3 v) { y[0] = (maybe == 0) + v.z; }
";

/// A kernel that reads an image, for devices that have some.
const READING: &str = "
__kernel void look(read_only image2d_t image, sampler_t how, __global float4 *to) {
    to[0] = read_imagef(image, how, (int2)(0, 0));
}
";

const ENQUEUE: &str = "clEnqueueNDRangeKernel";
const MARKER: &str = "clEnqueueMarkerWithWaitList";

/// What one run calls, sorted by name. It has run before, and all that it left to be done is done.
fn warm(mut run: impl FnMut(), settle: impl Fn()) -> Vec<(&'static str, u64)> {
    for _ in 0..3 {
        run();
        settle();
    }
    let ((), mut calls) = count_calls(run);
    settle();
    calls.sort_unstable();
    calls
}

/// How many calls of a launch set an argument; all others are the one enqueue.
fn arguments_set(launch: impl FnOnce()) -> u64 {
    let ((), calls) = count_calls(launch);
    let (set, rest): (Vec<_>, Vec<_>) =
        calls.iter().copied().partition(|(entry, _)| entry.starts_with("clSetKernelArg"));
    assert_eq!(rest, [(ENQUEUE, 1)], "{calls:?}");
    set.iter().map(|(_, count)| count).sum()
}

both_dialects! {
    fn a_thread_waits_as_the_device_flags_say() {
        let _guard = guard();
        let (cells, s, event) = (work::Cells::new(1), work::blocking(), work::untimed());
        let mut expected = 0;
        for (flags, awake) in [(SCHEDULE_SPIN, true), (SCHEDULE_YIELD, true), (SCHEDULE_BLOCKING_SYNC, false)] {
            ok!(set_device_flags(flags));
            let looks = |calls: &[(&str, u64)]| calls.iter().any(|&(entry, _)| entry == "clGetEventInfo");
            cells.step(*s, 0, 3);
            let ((), calls) = count_calls(|| ok!(stream_synchronize(*s)));
            assert_eq!((looks(&calls), calls.contains(&(MARKER, 1))), (awake, awake), "{calls:?}");
            cells.step(*s, 0, 5);
            ok!(event_record(*event, *s));
            let ((), calls) = count_calls(|| ok!(event_synchronize(*event)));
            assert_eq!((looks(&calls), calls.contains(&("clWaitForEvents", 1))), (awake, !awake), "{calls:?}");
            assert_eq!((event_query(*event), stream_query(*s)), (SUCCESS, SUCCESS));
            expected = crate::work::stepped(crate::work::stepped(expected, 3), 5);
            assert_eq!(cells.get(0), expected);
        }
        ok!(set_device_flags(0));
    }

    fn a_launch_like_the_last_one_is_one_enqueue() {
        let _guard = guard();
        let (module, s) = (load!(KERNELS), work::blocking());
        let [one, eight] = [c"one", c"eight"].map(|name| function!(module, name));
        let [a, b, c, d] = [(); 4].map(|()| put!([1.0f32; 4]));
        for stream in [*s, LEGACY, PER_THREAD] {
            let settle = || ok!(device_synchronize());
            let calls = warm(|| ok!(launch_in!(stream, one, 1, 1, 0, [a])), settle);
            assert_eq!(calls, [(ENQUEUE, 1)]);
            let run = || ok!(launch_in!(stream, eight, 1, 1, 0, [a, b, c, d, 1i32, 0i32, 2.0f32, 3.0f32]));
            assert_eq!(warm(run, settle), [(ENQUEUE, 1)]);
        }
        assert_eq!(fetch!(a, f32, 1), [6.0]);
        ok!(module_unload(module));
        [a, b, c, d].into_iter().for_each(|pointer| ok!(free(pointer)));
    }

    fn each_argument_that_changed_is_one_call() {
        let _guard = guard();
        let (module, s) = (load!(KERNELS), work::blocking());
        let eight = function!(module, c"eight");
        let [a, b, c, d] = [(); 4].map(|()| put!([1.0f32, 2.0, 3.0, 4.0]));
        let launch = |p: [*mut c_void; 4], i: i32, x: f32| {
            ok!(launch_in!(*s, eight, 1, 1, 0, [p[0], p[1], p[2], p[3], i, 0i32, x, 3.0f32]));
        };
        let run = |p, i, x| arguments_set(|| launch(p, i, x));
        launch([a, b, c, d], 1, 2.0);
        assert_eq!(run([a, b, c, d], 1, 2.0), 0);
        assert_eq!(run([a, b, c, d], 2, 2.0), 1);
        assert_eq!(run([a, b, c, d], 2, -0.0), 1);
        // Equal as floats, and not the same.
        assert_eq!(run([a, b, c, d], 2, 0.0), 1);
        assert_eq!(run([a, c, b, d], 2, 0.0), 2);
        assert_eq!(run([d, c, b, b], 3, 5.0), 4);
        ok!(device_synchronize());
        assert_eq!(fetch!(d, f32, 1), [4.0 * 5.0 + 4.0 * 3.0 + 4.0]);
        ok!(module_unload(module));
        [a, b, c, d].into_iter().for_each(|pointer| ok!(free(pointer)));
    }

    /// A kernel object must not take an address, or a handle of the driver's, for what was there before.
    fn memory_in_the_place_of_freed_memory_is_a_new_argument() {
        let _guard = guard();
        let (module, s) = (load!(KERNELS), work::blocking());
        let one = function!(module, c"one");
        let launch = |pointer: *mut c_void| ok!(launch_in!(*s, one, 1, 1, 0, [pointer]));
        let other = put!([0.0f32]);
        launch(other);
        let mut seen = Vec::new();
        for round in 0..8u8 {
            let a = put!([f32::from(round)]);
            assert_eq!(arguments_set(|| launch(a)), 1, "round {round}");
            assert_eq!(arguments_set(|| launch(a)), 0, "round {round}");
            ok!(stream_synchronize(*s));
            assert_eq!(fetch!(a, f32, 1), [f32::from(round) + 2.0]);
            ok!(free(a));
            // Known to the kernel object, and nobody's.
            fails!(launch_in!(*s, one, 1, 1, 0, [a]), INVALID_VALUE, "was freed");
            seen.push(a.addr());
        }
        seen.sort_unstable();
        seen.dedup();
        if seen.len() == 8 {
            eprintln!("the allocator gave no address twice here");
        }
        ok!(module_unload(module));
        ok!(free(other));
    }

    fn shared_memory_is_an_argument_like_others() {
        let _guard = guard();
        let (module, s) = (load!(KERNELS), work::blocking());
        let (turn, y) = (function!(module, c"turn"), put!([1u32, 2, 3, 4]));
        let launch = |shared: usize, add: u32| ok!(launch_in!(*s, turn, 1, 4, shared, [y, add]));
        let run = |shared, add| arguments_set(|| launch(shared, add));
        launch(16, 10);
        assert_eq!(run(16, 10), 0);
        // The arguments behind the one that the list leaves out are not taken for their neighbours.
        assert_eq!(run(16, 20), 1);
        assert_eq!(run(32, 20), 1);
        assert_eq!(run(32, 20), 0);
        ok!(stream_synchronize(*s));
        assert_eq!(fetch!(y, u32, 4), [84, 83, 82, 81]);
        ok!(module_unload(module));
        ok!(free(y));
    }

    /// Each kernel object keeps to an address or a buffer object for each pointer, whichever launch it serves.
    fn objects_of_a_kernel_are_exchanged_for_ones_that_fit_all_pointers() {
        let _guard = guard();
        let module = load!("__kernel void mark(__global int *a, __global int *b, int add) {
            if (a) a[0] += add;
            if (b) b[1] += add;
        }");
        let (mark, y, nothing) = (function!(module, c"mark"), put!([0i32; 2]), null_mut::<c_void>());
        let mut expected = [0; 2];
        for round in 1..4i32 {
            for (a, b) in [(nothing, y), (y, nothing), (nothing, y), (nothing, nothing), (y, y), (y, nothing)] {
                ok!(start!(mark, 1, 1, [a, b, round]));
                expected[0] += if a.is_null() { 0 } else { round };
                expected[1] += if b.is_null() { 0 } else { round };
                assert_eq!(fetch!(y, i32, 2), expected);
            }
        }
        ok!(free(y));
        ok!(module_unload(module));
    }

    fn null_and_vectors_of_three_are_known_again() {
        let _guard = guard();
        let (module, s) = (load!(KERNELS), work::blocking());
        let (ask, y, x) = (function!(module, c"ask"), put!([0i32; 1]), put!([0f32; 1]));
        let nothing: *mut c_void = null_mut();
        let launch = |maybe: *mut c_void, z: f32| ok!(launch_in!(*s, ask, 1, 1, 0, [y, maybe, [1.0f32, 2.0, z]]));
        launch(nothing, 6.0);
        assert_eq!(arguments_set(|| launch(nothing, 6.0)), 0);
        assert_eq!(arguments_set(|| launch(nothing, 7.0)), 1);
        ok!(stream_synchronize(*s));
        assert_eq!(fetch!(y, i32, 1), [8]);
        // The first pointer after null may need a kernel object of its own (NVIDIA).
        launch(x, 7.0);
        launch(nothing, 7.0);
        launch(x, 7.0);
        assert_eq!(arguments_set(|| launch(x, 7.0)), 0);
        ok!(stream_synchronize(*s));
        assert_eq!(fetch!(y, i32, 1), [7]);
        ok!(module_unload(module));
        [y, x].into_iter().for_each(|pointer| ok!(free(pointer)));
    }

    fn a_record_is_one_marker() {
        let _guard = guard();
        let (module, s) = (load!(KERNELS), work::blocking());
        let (one, a) = (function!(module, c"one"), put!([1.0f32; 1]));
        let settle = || ok!(stream_synchronize(*s));
        for event in [work::untimed(), work::timed()] {
            let run = || {
                ok!(launch_in!(*s, one, 1, 1, 0, [a]));
                ok!(event_record(*event, *s));
            };
            // The record before gives its own marker up.
            assert_eq!(warm(run, settle), [(MARKER, 1), (ENQUEUE, 1), ("clReleaseEvent", 1)]);
        }
        let event = work::untimed();
        assert_eq!(warm(|| ok!(event_record(*event, *s)), settle), [], "of a stream that is known to be done");
        ok!(module_unload(module));
        ok!(free(a));
    }

    fn a_wait_across_streams_is_a_flush_and_a_barrier() {
        let _guard = guard();
        let (module, s, t) = (load!(KERNELS), work::blocking(), work::blocking());
        let (one, a, event) = (function!(module, c"one"), put!([1.0f32; 1]), work::untimed());
        let gate = hold_legacy();
        ok!(launch_in!(*s, one, 1, 1, 0, [a]));
        ok!(event_record(*event, *s));
        // Its queue is there.
        ok!(launch_in!(*t, one, 1, 1, 0, [a]));
        let ((), mut calls) = count_calls(|| ok!(stream_wait_event(*t, *event, 0)));
        calls.sort_unstable();
        assert_eq!(calls, [("clEnqueueBarrierWithWaitList", 1), ("clFlush", 1)]);
        gate.open();
        ok!(device_synchronize());
        ok!(module_unload(module));
        ok!(free(a));
    }

    fn what_is_known_to_be_done_is_not_asked_about_again() {
        let _guard = guard();
        let (module, s, t) = (load!(KERNELS), work::blocking(), work::blocking());
        let (one, a, event) = (function!(module, c"one"), put!([1.0f32; 1]), work::untimed());
        for synchronize in [true, false] {
            ok!(launch_in!(*s, one, 1, 1, 0, [a]));
            ok!(event_record(*event, *s));
            match synchronize {
                true => ok!(event_synchronize(*event)),
                false => wait_until("the event", || event_query(*event) == SUCCESS),
            }
            let ((), calls) = count_calls(|| {
                ok!(event_synchronize(*event));
                ok!(event_query(*event));
                ok!(stream_wait_event(*t, *event, 0));
            });
            assert_eq!(calls, []);
        }
        ok!(stream_synchronize(*s));
        let ((), calls) = count_calls(|| {
            ok!(stream_synchronize(*s));
            ok!(stream_query(*s));
            ok!(device_synchronize());
        });
        assert_eq!(calls, []);
        ok!(module_unload(module));
        ok!(free(a));
    }

    fn a_synchronisation_is_one_finish_of_each_busy_stream() {
        let _guard = guard();
        let (module, s, t, idle) = (load!(KERNELS), work::blocking(), work::blocking(), work::blocking());
        let (one, a) = (function!(module, c"one"), put!([1.0f32; 1]));
        let launch = |stream| ok!(launch_in!(stream, one, 1, 1, 0, [a]));
        launch(*idle);
        let settle = || ok!(device_synchronize());
        let run = || {
            launch(*s);
            ok!(stream_synchronize(*s));
        };
        assert_eq!(warm(run, settle), [(ENQUEUE, 1), ("clFinish", 1)]);
        let run = || {
            launch(*s);
            launch(*t);
            ok!(device_synchronize());
        };
        assert_eq!(warm(run, settle), [(ENQUEUE, 2), ("clFinish", 2), ("clFlush", 2)]);
        ok!(module_unload(module));
        ok!(free(a));
    }

    fn warm_allocations_call_nothing() {
        let _guard = guard();
        let run = || {
            let mut pointer = null_mut();
            ok!(unsafe { malloc(&mut pointer, 1000) });
            ok!(free(pointer));
        };
        let calls = warm(run, || ());
        match device().memory_form() {
            // A buffer object is its own allocation.
            "buffer" => assert_eq!(calls, [("clCreateBuffer", 1), ("clReleaseMemObject", 1)]),
            _ => assert_eq!(calls, []),
        }
    }
}

#[test]
fn the_safe_launch_is_one_enqueue_as_well() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let module = SafeModule::from_source(device(), KERNELS).unwrap();
    let (eight, turn) = (module.kernel("eight").unwrap(), module.kernel("turn").unwrap());
    let [a, b, c, d] = [(); 4].map(|()| DeviceBuffer::from_slice(&stream, &[1.0f32; 4]).unwrap());
    let settle = || stream.synchronize().unwrap();
    let run = || unsafe { launch!(eight<<<1, 1, 0, &stream>>>(a, b, c, d, 1, 0, 2.0f32, 3.0f32)) }.unwrap();
    assert_eq!(warm(run, settle), [(ENQUEUE, 1)]);
    let y = DeviceBuffer::from_slice(&stream, &[1u32, 2, 3, 4]).unwrap();
    let run = || unsafe { launch!(turn<<<1, 4, 0, &stream>>>(y, Local(16), 1u32)) }.unwrap();
    assert_eq!(warm(run, settle), [(ENQUEUE, 1)]);
    // The same by one number for all shared memory.
    let run = || unsafe { launch!(turn<<<1, 4, 16, &stream>>>(y, 1u32)) }.unwrap();
    assert_eq!(arguments_set(run), 0);
    // Five launches: turned round, and 1 more each time.
    assert_eq!(y.to_vec(&stream).unwrap(), [4 + 5, 3 + 5, 2 + 5, 1 + 5]);
}

#[test]
fn a_pinned_buffer_is_an_argument_like_others_where_kernels_reach_it() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let module = SafeModule::from_source(device(), KERNELS).unwrap();
    let one = module.kernel("one").unwrap();
    let pinned = PinnedBuffer::<f32>::new(device(), 4).unwrap();
    let run = || unsafe { launch!(one<<<1, 1, 0, &stream>>>(pinned)) };
    if run().is_err() {
        return eprintln!("skipped: kernels do not reach host memory here");
    }
    assert_eq!(warm(|| run().unwrap(), || stream.synchronize().unwrap()), [(ENQUEUE, 1)]);
    assert_eq!(pinned.read().unwrap()[0], 5.0);
}

#[test]
fn images_and_samplers_are_known_again_and_new_ones_are_not_taken_for_them() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let module = SafeModule::from_source(device(), READING).unwrap();
    let look = module.kernel("look").unwrap();
    let to = DeviceBuffer::<[f32; 4]>::zeroed(&stream, 1).unwrap();
    for value in 0..6u8 {
        // The last one's image is gone, and its handle may be this one's.
        let value = f32::from(value);
        let image = Array::from_slice(&stream, (1, 1), &[[value; 4]]).unwrap();
        let launch = |sampler| unsafe { launch!(look<<<1, 1, 0, &stream>>>(image, sampler, to)) }.unwrap();
        launch(Sampler::new());
        assert_eq!(arguments_set(|| launch(Sampler::new())), 0);
        assert_eq!(to.to_vec(&stream).unwrap(), [[value; 4]]);
        let other = Sampler::new().addressing(gridcl::Addressing::Border);
        launch(other);
        assert_eq!(arguments_set(|| launch(Sampler::new())), 1);
    }
    let image = Array::from_slice(&stream, (1, 1), &[[9.0f32; 4]]).unwrap();
    unsafe { launch!(look<<<1, 1, 0, &stream>>>(image, Sampler::new(), to)) }.unwrap();
    assert_eq!(to.to_vec(&stream).unwrap(), [[9.0; 4]]);
}

/// Kernel objects of launches side by side remember each their own arguments.
#[test]
fn threads_that_share_a_kernel_find_their_own_arguments() {
    let _guard = guard();
    let module = SafeModule::from_source(device(), KERNELS).unwrap();
    let one = module.kernel("one").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let one = &one;
            scope.spawn(move || {
                let stream = device().create_stream().unwrap();
                let mut expected = Vec::new();
                let buffers: Vec<_> =
                    (0..3).map(|at| DeviceBuffer::from_slice(&stream, &[(thread * 10 + at) as f32]).unwrap()).collect();
                for round in 0..60 {
                    let buffer = &buffers[round % 7 % 3];
                    unsafe { launch!(one<<<1, 1, 0, &stream>>>(*buffer)) }.unwrap();
                    expected.push(round % 7 % 3);
                }
                for (at, buffer) in buffers.iter().enumerate() {
                    let times = expected.iter().filter(|&&which| which == at).count();
                    assert_eq!(buffer.to_vec(&stream).unwrap(), [(thread * 10 + at) as f32 + times as f32]);
                }
            });
        }
    });
}

#[test]
fn events_of_the_safe_api_cost_the_same() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let module = SafeModule::from_source(device(), KERNELS).unwrap();
    let one = module.kernel("one").unwrap();
    let a = DeviceBuffer::from_slice(&stream, &[1.0f32]).unwrap();
    for flags in [EventFlags::DISABLE_TIMING, EventFlags::empty()] {
        let event = SafeEvent::with_flags(device(), flags).unwrap();
        let run = || {
            unsafe { launch!(one<<<1, 1, 0, &stream>>>(a)) }.unwrap();
            event.record(&stream).unwrap();
        };
        let calls = warm(run, || stream.synchronize().unwrap());
        assert_eq!(calls, [(MARKER, 1), (ENQUEUE, 1), ("clReleaseEvent", 1)]);
        event.synchronize().unwrap();
        let ((), calls) = count_calls(|| {
            event.synchronize().unwrap();
            assert!(event.is_done().unwrap());
        });
        assert_eq!(calls, []);
    }
}
