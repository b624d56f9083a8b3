//! The safe launch: builder and `launch!`, what they take for arguments and how they refuse (behaviour.md 1.6
//! "Streams, memory, launch"; design "Launch" and "The safe API").

use bytemuck::{NoUninit, Pod, Zeroable, pod_read_unaligned};
use gridcl::prelude::*;
use gridcl::testing::{Gate, guard};
use gridcl::{DevicePtr, Error, ErrorKind};

use crate::launch_arguments::{SCALARS, STRIDE, pattern, storing};
use crate::support::{device, gated};

const TEXT: &str = "
typedef struct { ulong data; uint count; uint step; } view;
typedef struct { float x; float y[2]; } point;

__kernel void scale(__global float *x, float by, int n) { int i = get_global_id(0); if (i < n) x[i] *= by; }
__kernel void put(__global int *y, int at, int value) { y[at] = value; }
__kernel void where(__global uint *y) {
    size_t at = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
    y[at] = get_group_id(0) + 10 * get_group_id(1) + 100 * get_group_id(2);
}
__kernel void gather(__global float *y, view from) {
    uint at = get_global_id(0);
    if (at < from.count) y[at] = ((__global float *)from.data)[at * from.step];
}
__kernel void unpack(__global float *y, point p) { y[0] = p.x; y[1] = p.y[0]; y[2] = p.y[1]; }
__kernel void two(__global uint *y, __local uint *a, __local uint *b) {
    uint at = get_local_id(0), other = get_local_size(0) - 1 - at;
    a[at] = y[get_global_id(0)];
    b[at] = 10 * y[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = a[other] + b[other];
}
__kernel void turn(__global uint *y, __local uint *shared) {
    uint at = get_local_id(0), other = get_local_size(0) - 1 - at;
    shared[at] = y[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = shared[other];
}
__kernel void ask(__global int *y, int at, __global float *maybe) { y[at] = maybe == 0; }
__kernel void nothing() {}
";

/// The module and a stream to launch in.
fn setting() -> (Module, Stream) {
    (Module::from_source(device(), TEXT).unwrap(), device().create_stream().unwrap())
}

/// Asserts the kind of a failure and that its words hold each of the texts.
#[track_caller]
fn refused(outcome: gridcl::Result<()>, kind: ErrorKind, texts: &[&str]) {
    let error: Error = outcome.expect_err("a refusal");
    assert_eq!(error.kind(), kind, "{error}");
    for text in texts {
        assert!(error.to_string().contains(text), "{text:?} in: {error}");
    }
}

#[test]
fn the_macro_takes_two_to_four_parts_of_a_configuration() {
    let _guard = guard();
    let (module, stream) = setting();
    let (place, turn) = (module.kernel("where").unwrap(), module.kernel("turn").unwrap());
    let y = DeviceBuffer::from_slice(&stream, &[9u32; 8]).unwrap();
    unsafe { launch!(place<<<2, 4>>>(y)) }.unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [0, 0, 0, 0, 1, 1, 1, 1]);
    unsafe { launch!(place<<<(2, 2, 1), 8 >> 2, 0>>>(&y)) }.unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [0, 0, 1, 1, 10, 10, 11, 11]);
    let shared = 4 * size_of::<u32>();
    let y = DeviceBuffer::from_slice(&stream, &[1u32, 2, 3, 4]).unwrap();
    unsafe { launch!(turn<<<1, 4, shared>>>(y)) }.unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [4, 3, 2, 1]);
    unsafe { launch!(turn<<<Dim3::new(2, 1, 1), Dim3::from(2), shared / 2, &stream>>>(y,)) }.unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [3, 4, 1, 2]);
    let nothing = module.kernel("nothing").unwrap();
    unsafe { launch!(nothing<<<1, 1>>>()) }.unwrap();
    device().synchronize().unwrap();
}

#[test]
fn without_a_stream_a_launch_goes_into_the_default_stream() {
    let _guard = guard();
    let (module, stream) = setting();
    let aside = device().create_stream_with(StreamFlags::NON_BLOCKING, 0).unwrap();
    let y = DeviceBuffer::from_slice(&stream, &[0i32]).unwrap();
    stream.synchronize().unwrap();
    let default = device().default_stream().unwrap();
    let gate = Gate::close(&default).unwrap();
    unsafe { module.kernel("put").unwrap().launch(1, 1).arg(&y).arg(&0).arg(&5).run() }.unwrap();
    assert_eq!(y.to_vec(&aside).unwrap(), [0]);
    assert!(!default.is_done().unwrap());
    gate.open();
    assert_eq!(y.to_vec(&default).unwrap(), [5]);
}

/// Launches [`storing`]'s kernel with arrays of `N` for vectors of `lanes`.
fn store<const N: usize>(lanes: usize) {
    fn value<T: Pod, const N: usize>(index: usize) -> [T; N] {
        pod_read_unaligned(&pattern(index, size_of::<[T; N]>()))
    }
    let stream = device().create_stream().unwrap();
    let module = Module::from_source(device(), &storing(&SCALARS, lanes, "")).unwrap();
    let y = DeviceBuffer::<u8>::zeroed(&stream, SCALARS.len() * STRIDE).unwrap();
    let store = module.kernel("store").unwrap();
    let (a, b, c, d) = (value::<i8, N>(0), value::<u8, N>(1), value::<i16, N>(2), value::<u16, N>(3));
    let (e, f, g, h, i) =
        (value::<i32, N>(4), value::<u32, N>(5), value::<i64, N>(6), value::<u64, N>(7), value::<f32, N>(8));
    unsafe { launch!(store<<<1, 1, 0, &stream>>>(y, a, b, c, d, e, f, g, h, i)) }.unwrap();
    let stored = y.to_vec(&stream).unwrap();
    for (index, (name, bytes)) in SCALARS.iter().enumerate() {
        let (expected, len) = (pattern(index, bytes * N), bytes * lanes);
        assert_eq!(stored[index * STRIDE..][..len], expected[..len], "{name}{lanes} of {N}");
    }
}

#[test]
fn arrays_are_vectors() {
    let _guard = guard();
    store::<1>(1);
    store::<2>(2);
    store::<3>(3);
    store::<4>(3);
    store::<4>(4);
    store::<8>(8);
    store::<16>(16);
}

#[test]
fn types_of_several_words_have_their_size() {
    let _guard = guard();
    let text = "
    typedef unsigned int id;
    __kernel void words(__global long *y, unsigned char a, signed char b, const unsigned short c, unsigned int d,
                        unsigned e, signed f, long int g, volatile unsigned long h, short int i, const id j) {
        y[0] = a; y[1] = b; y[2] = c; y[3] = d; y[4] = e; y[5] = f; y[6] = g; y[7] = h; y[8] = i; y[9] = j;
    }";
    let stream = device().create_stream().unwrap();
    let words = Module::from_source(device(), text).unwrap().kernel("words").unwrap();
    let y = DeviceBuffer::<i64>::zeroed(&stream, 10).unwrap();
    unsafe { launch!(words<<<1, 1, 0, &stream>>>(y, 255u8, -1i8, 9u16, 1u32, 2u32, -3i32, -4i64, 5u64, -6i16, 7u32)) }
        .unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [255, -1, 9, 1, 2, -3, -4, 5, -6, 7]);
    let outcome =
        unsafe { launch!(words<<<1, 1, 0, &stream>>>(y, 0u8, 0i8, 0u16, 0u32, 0u32, 0i32, 0i64, 0u64, 0i16, 0u64)) };
    refused(outcome, ErrorKind::InvalidValue, &["argument = 10 of words: ", "u64 has 8 bytes and ", "has 4"]);
}

#[test]
fn more_bytes_than_the_device_passes_are_refused() {
    let _guard = guard();
    let text = "
    typedef struct { uchar bytes[40000]; } large;
    __kernel void last(__global uchar *y, large l) { y[0] = l.bytes[39999]; }";
    let Ok(module) = Module::from_source(device(), text) else {
        eprintln!("skipped: the compiler refuses such a kernel by itself");
        return;
    };
    let (last, stream) = (module.kernel("last").unwrap(), device().create_stream().unwrap());
    let y = DeviceBuffer::from_slice(&stream, &[7u8]).unwrap();
    let outcome = unsafe { launch!(last<<<1, 1, 0, &stream>>>(y, [9u8; 40000])) };
    refused(outcome, ErrorKind::InvalidValue, &["the arguments of last take 40008 bytes", "in a buffer"]);
    assert_eq!(y.to_vec(&stream).unwrap(), [7], "nothing ran");
}

#[test]
fn structs_are_passed_by_value() {
    #[repr(C)]
    #[derive(Clone, Copy, NoUninit)]
    struct Point {
        x: f32,
        y: [f32; 2],
    }
    let _guard = guard();
    let (module, stream) = setting();
    let y = DeviceBuffer::<f32>::zeroed(&stream, 3).unwrap();
    let unpack = module.kernel("unpack").unwrap();
    unsafe { launch!(unpack<<<1, 1, 0, &stream>>>(y, Point { x: 1.0, y: [2.0, 3.0] })) }.unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [1.0, 2.0, 3.0]);
    let outcome = unsafe { launch!(unpack<<<1, 1, 0, &stream>>>(y, [9f32; 2])) };
    refused(
        outcome,
        ErrorKind::InvalidValue,
        &["argument = 1 of unpack: ", "point", " p: [f32; 2] has 8 bytes and ", "point has 12"],
    );
    assert_eq!(y.to_vec(&stream).unwrap(), [1.0, 2.0, 3.0], "nothing ran");
}

#[test]
fn a_struct_may_hold_a_device_pointer() {
    #[repr(C)]
    #[derive(Clone, Copy, NoUninit)]
    struct View {
        data: DevicePtr<f32>,
        count: u32,
        step: u32,
    }
    let _guard = guard();
    if device().memory_form() == "buffer" {
        eprintln!("skipped: addresses of buffers mean nothing to kernels");
        return;
    }
    let (module, stream) = setting();
    let data = DeviceBuffer::from_slice(&stream, &[0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).unwrap();
    let y = DeviceBuffer::<f32>::zeroed(&stream, 4).unwrap();
    let view = View { data: data.as_device_ptr().add(1), count: 3, step: 2 };
    let gather = module.kernel("gather").unwrap();
    unsafe { launch!(gather<<<1, 4, 0, &stream>>>(y, view)) }.unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [1.0, 3.0, 5.0, 0.0]);
}

/// The structs lie in memory of their own, each in another slab, and the launch names the first alone. Some drivers want
/// to be told what such pointers may point into, and others find out by themselves: a capability says which.
#[test]
fn structs_in_memory_point_to_others_that_no_launch_names() {
    const BYTES: usize = 40 << 20;
    #[repr(C)]
    #[derive(Clone, Copy, Default, Pod, Zeroable)]
    struct Node {
        next: u64,
        value: i64,
    }
    let _guard = guard();
    if device().memory_form() == "buffer" {
        eprintln!("skipped: addresses of buffers mean nothing to kernels");
        return;
    }
    let stream = device().create_stream().unwrap();
    let text = "
        typedef struct { ulong next; long value; } node;
        __kernel void follow(__global node *first, __global long *sum) {
            long all = 0;
            for (__global node *at = first; at; at = (__global node *)at->next) {
                all += at->value;
                at->value = -at->value;
            }
            sum[0] = all;
        }";
    let module = Module::from_source(device(), text).unwrap();
    let follow = module.kernel("follow").unwrap();
    let sum = DeviceBuffer::<i64>::zeroed(&stream, 1).unwrap();
    let run = |first: &DeviceBuffer<Node>| {
        unsafe { launch!(follow<<<1, 1, 0, &stream>>>(*first, sum)) }.unwrap();
        sum.to_vec(&stream).unwrap()[0]
    };
    let mut chain = vec![DeviceBuffer::from_slice(&stream, &[Node { next: 0, value: 5 }]).unwrap()];
    // The kernel object is told of what there is before the others come.
    assert_eq!(run(&chain[0]), 5);
    for value in [-70, -900, -11_000] {
        // Larger than a slab that others fit into as well.
        let mut far = unsafe { DeviceBuffer::<Node>::uninit(device(), BYTES / size_of::<Node>()) }.unwrap();
        let next = chain[chain.len() - 1].as_device_ptr().address();
        stream.upload(&[Node { next, value }], far.slice_mut(..1)).unwrap();
        chain.push(far);
    }
    // What the launch before wrote is what the next one reads, with every sign turned.
    let first = &chain[chain.len() - 1];
    assert_eq!([run(first), run(first), run(first)], [-11_975, 11_975, -11_975]);
}

#[test]
fn buffers_and_their_parts_are_pointers() {
    let _guard = guard();
    let (module, stream) = setting();
    let scale = module.kernel("scale").unwrap();
    let mut x = DeviceBuffer::from_slice(&stream, &[1f32; 64]).unwrap();
    unsafe { launch!(scale<<<1, 64, 0, &stream>>>(x, 2f32, 64)) }.unwrap();
    unsafe { launch!(scale<<<1, 64, 0, &stream>>>(&x, 2f32, 32)) }.unwrap();
    unsafe { launch!(scale<<<1, 64, 0, &stream>>>(&mut x, 2f32, 16)) }.unwrap();
    // 128 bytes in: every form of memory can bind that.
    unsafe { launch!(scale<<<1, 64, 0, &stream>>>(x.slice(32..), 3f32, 16)) }.unwrap();
    unsafe { launch!(scale<<<1, 64, 0, &stream>>>(x.slice_mut(32..40), 5f32, 8)) }.unwrap();
    let expected: Vec<f32> = (0..64).map(|at| [8.0, 4.0, 30.0, 2.0][at / 16]).collect();
    let expected: Vec<f32> =
        expected.into_iter().enumerate().map(|(at, x)| if (40..48).contains(&at) { 6.0 } else { x }).collect();
    assert_eq!(x.to_vec(&stream).unwrap(), expected);
}

#[test]
fn a_wrong_number_of_arguments_is_refused_with_the_signature() {
    let _guard = guard();
    let (module, stream) = setting();
    let scale = module.kernel("scale").unwrap();
    let x = DeviceBuffer::from_slice(&stream, &[1f32; 4]).unwrap();
    let signature = "scale(float* x, float by, int n) takes 3 arguments";
    let none = unsafe { launch!(scale<<<1, 4, 0, &stream>>>()) };
    refused(none, ErrorKind::InvalidValue, &["args = 0 given", signature]);
    let few = unsafe { launch!(scale<<<1, 4, 0, &stream>>>(x, 2f32)) };
    refused(few, ErrorKind::InvalidValue, &["args = 2 given", signature]);
    let many = unsafe { launch!(scale<<<1, 4, 0, &stream>>>(x, 2f32, 4, 4)) };
    refused(many, ErrorKind::InvalidValue, &["args = 4 given", signature]);
    assert_eq!(x.to_vec(&stream).unwrap(), [1.0; 4], "nothing ran");
    unsafe { launch!(scale<<<1, 4, 0, &stream>>>(x, 2f32, 4)) }.unwrap();
    assert_eq!(x.to_vec(&stream).unwrap(), [2.0; 4]);
}

#[test]
fn a_value_of_another_size_is_refused_with_both_types() {
    let _guard = guard();
    let (module, stream) = setting();
    let scale = module.kernel("scale").unwrap();
    let x = DeviceBuffer::from_slice(&stream, &[1f32; 4]).unwrap();
    let wide = unsafe { launch!(scale<<<1, 4, 0, &stream>>>(x, 2f64, 4)) };
    let text = "argument = 1 of scale: float by: f64 has 8 bytes and float has 4";
    refused(wide, ErrorKind::InvalidValue, &[text]);
    let narrow = unsafe { launch!(scale<<<1, 4, 0, &stream>>>(x, 2f32, 4u8)) };
    refused(narrow, ErrorKind::InvalidValue, &["argument = 2 of scale: int n: u8 has 1 bytes and int has 4"]);
    let array = unsafe { launch!(scale<<<1, 4, 0, &stream>>>(x, [2f32; 3], 4)) };
    refused(array, ErrorKind::InvalidValue, &["[f32; 3] has 12 bytes and float has 4"]);
    assert_eq!(x.to_vec(&stream).unwrap(), [1.0; 4], "nothing ran");
}

#[test]
fn an_argument_of_another_kind_is_refused() {
    let _guard = guard();
    let (module, stream) = setting();
    let (scale, turn) = (module.kernel("scale").unwrap(), module.kernel("turn").unwrap());
    let x = DeviceBuffer::from_slice(&stream, &[1f32; 4]).unwrap();
    let value = unsafe { launch!(scale<<<1, 4, 0, &stream>>>(5u64, 2f32, 4)) };
    let text = "argument = 0 of scale: float* x: a value (u64) was given where a device pointer is expected";
    refused(value, ErrorKind::InvalidValue, &[text]);
    let pointer = unsafe { launch!(scale<<<1, 4, 0, &stream>>>(x, x, 4)) };
    let text = "argument = 1 of scale: float by: a device pointer was given where a value is expected";
    refused(pointer, ErrorKind::InvalidValue, &[text]);
    let local = unsafe { launch!(scale<<<1, 4, 0, &stream>>>(x, 2f32, Local(4))) };
    refused(local, ErrorKind::InvalidValue, &["2 of scale: int n: a size of local memory was given where a value"]);
    let local = unsafe { launch!(scale<<<1, 4, 0, &stream>>>(Local(16), 2f32, 4)) };
    refused(local, ErrorKind::InvalidValue, &["0 of scale: float* x: a size of local memory was given where a device"]);
    let swapped = unsafe { launch!(turn<<<1, 4, 0, &stream>>>(Local(16), x)) };
    refused(swapped, ErrorKind::InvalidValue, &["argument = 0 of turn: uint* y: a size of local memory"]);
    assert_eq!(x.to_vec(&stream).unwrap(), [1.0; 4], "nothing ran");
}

#[test]
fn every_local_parameter_can_have_its_own_size() {
    let _guard = guard();
    let (module, stream) = setting();
    let (two, turn) = (module.kernel("two").unwrap(), module.kernel("turn").unwrap());
    let y = DeviceBuffer::from_slice(&stream, &[1u32, 2, 3, 4]).unwrap();
    unsafe { launch!(two<<<2, 2, 0, &stream>>>(y, Local(8), Local(64))) }.unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [22, 11, 44, 33]);
    unsafe { launch!(turn<<<1, 4, 0, &stream>>>(y, Local(16))) }.unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [33, 44, 11, 22]);
    unsafe { launch!(turn<<<1, 4, 16, &stream>>>(y)) }.unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [22, 11, 44, 33]);
    let one = unsafe { launch!(two<<<1, 4, 0, &stream>>>(y, Local(16))) };
    refused(one, ErrorKind::InvalidValue, &["two(uint* y, uint* a, uint* b) takes 3 arguments"]);
    let number = unsafe { launch!(two<<<1, 4, 32, &stream>>>(y)) };
    refused(number, ErrorKind::InvalidValue, &["sharedMem = 32", "two has 2 __local parameters", "builder"]);
    let value = unsafe { launch!(two<<<1, 4, 0, &stream>>>(y, Local(16), 16u32)) };
    refused(value, ErrorKind::InvalidValue, &["2 of two: uint* b: a value (u32) was given where a size of local"]);
    assert_eq!(y.to_vec(&stream).unwrap(), [22, 11, 44, 33], "nothing ran");
}

#[test]
fn sizes_of_local_parameters_count_as_shared_memory() {
    let _guard = guard();
    let (module, stream) = setting();
    let (two, turn) = (module.kernel("two").unwrap(), module.kernel("turn").unwrap());
    let y = DeviceBuffer::from_slice(&stream, &[1u32]).unwrap();
    let all = device().shared_memory_per_block() as usize;
    let half = all / 2;
    for (a, b) in [(half + 4, half), (4, all), (usize::MAX, 8), (usize::MAX, usize::MAX)] {
        let outcome = unsafe { launch!(two<<<1, 1, 0, &stream>>>(y, Local(a), Local(b))) };
        refused(outcome, ErrorKind::InvalidConfiguration, &["sharedMem = ", "two leaves"]);
    }
    let outcome = unsafe { launch!(turn<<<1, 1, 0, &stream>>>(y, Local(all + 1))) };
    refused(outcome, ErrorKind::InvalidConfiguration, &["sharedMem = ", "turn leaves"]);
    assert_eq!(y.to_vec(&stream).unwrap(), [1], "nothing ran");
    // Drivers align what they lay out, so not to the last byte.
    let most = half - 64;
    unsafe { launch!(two<<<1, 1, 0, &stream>>>(y, Local(most), Local(most))) }.unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [11]);
}

#[test]
fn a_shape_that_cannot_be_is_refused() {
    let _guard = guard();
    let (module, stream) = setting();
    let put = module.kernel("put").unwrap();
    let y = DeviceBuffer::from_slice(&stream, &[7i32]).unwrap();
    let empty = unsafe { put.launch(Dim3::covering(0, 64), 64).stream(&stream).arg(&y).arg(&0).arg(&1).run() };
    refused(empty, ErrorKind::InvalidConfiguration, &["grid = (0, 1, 1): no component may be 0"]);
    let wide = unsafe { launch!(put<<<1, u32::MAX, 0, &stream>>>(y, 0, 1)) };
    refused(wide, ErrorKind::InvalidConfiguration, &["block = (4294967295, 1, 1)"]);
    assert_eq!(y.to_vec(&stream).unwrap(), [7], "nothing ran");
}

#[test]
fn a_buffer_dropped_behind_a_launch_lives_until_it_ran() {
    let _guard = guard();
    let module = Module::from_source(device(), TEXT).unwrap();
    let put = module.kernel("put").unwrap();
    let (stream, gate) = gated(device());
    let aside = device().create_stream_with(StreamFlags::NON_BLOCKING, 0).unwrap();
    for _ in 0..8 {
        let y = unsafe { DeviceBuffer::<i32>::uninit(device(), 1024) }.unwrap();
        unsafe { launch!(put<<<1, 1, 0, &stream>>>(y, 0, 1)) }.unwrap();
    }
    let others: Vec<_> = (0..8).map(|_| DeviceBuffer::from_slice(&aside, &[5i32; 1024]).unwrap()).collect();
    gate.open();
    stream.synchronize().unwrap();
    for other in &others {
        assert_eq!(other.to_vec(&aside).unwrap(), [5; 1024], "the launches wrote to their own buffers");
    }
}

#[test]
fn threads_share_a_kernel() {
    let _guard = guard();
    let (module, stream) = setting();
    let put = module.kernel("put").unwrap();
    let shared = DeviceBuffer::from_slice(&stream, &[-1i32; 16 * 64]).unwrap();
    stream.synchronize().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..16i32 {
            let (put, shared) = (&put, &shared);
            scope.spawn(move || {
                let stream = device().create_stream().unwrap();
                let own = DeviceBuffer::from_slice(&stream, &[-1i32; 64]).unwrap();
                for round in 0..64 {
                    let value = thread * 1000 + round;
                    unsafe { launch!(put<<<1, 1, 0, &stream>>>(own, round, value)) }.unwrap();
                    unsafe { launch!(put<<<1, 1, 0, &stream>>>(shared, thread * 64 + round, value)) }.unwrap();
                }
                let expected: Vec<i32> = (0..64).map(|round| thread * 1000 + round).collect();
                assert_eq!(own.to_vec(&stream).unwrap(), expected);
            });
        }
    });
    let all = shared.to_vec(&stream).unwrap();
    assert!(all.iter().enumerate().all(|(at, &value)| value == at as i32 / 64 * 1000 + at as i32 % 64), "{all:?}");
}

#[test]
fn a_kernel_runs_on_the_device_of_the_stream() {
    let _guard = guard();
    if Device::count() < 2 {
        eprintln!("skipped: this takes two devices");
        return;
    }
    let (module, here) = setting();
    let put = module.kernel("put").unwrap();
    let there = Device::get(1).unwrap().create_stream().unwrap();
    let (near, far) =
        (DeviceBuffer::from_slice(&here, &[7i32]).unwrap(), DeviceBuffer::from_slice(&there, &[7i32]).unwrap());
    unsafe { launch!(put<<<1, 1, 0, &there>>>(far, 0, 1)) }.unwrap();
    let text =
        format!("argument = 0 of put: int* y: the memory at {:#x} belongs to device 0", near.as_device_ptr().address());
    refused(unsafe { launch!(put<<<1, 1, 0, &there>>>(near, 0, 2)) }, ErrorKind::InvalidValue, &[&text]);
    refused(unsafe { launch!(put<<<1, 1>>>(far, 0, 2)) }, ErrorKind::InvalidValue, &["belongs to device 1"]);
    assert_eq!((near.to_vec(&here).unwrap(), far.to_vec(&there).unwrap()), (vec![7], vec![1]), "nothing else ran");
}

#[test]
fn an_empty_buffer_or_slice_is_null() {
    let _guard = guard();
    let (module, stream) = setting();
    let ask = module.kernel("ask").unwrap();
    let empty = DeviceBuffer::<f32>::from_slice(&stream, &[]).unwrap();
    let mut full = DeviceBuffer::<f32>::zeroed(&stream, 4).unwrap();
    let y = DeviceBuffer::from_slice(&stream, &[7i32; 4]).unwrap();
    unsafe { launch!(ask<<<1, 1, 0, &stream>>>(y, 0, empty)) }.unwrap();
    unsafe { launch!(ask<<<1, 1, 0, &stream>>>(y, 1, full.slice(4..))) }.unwrap();
    unsafe { launch!(ask<<<1, 1, 0, &stream>>>(y, 2, full.slice_mut(2..2))) }.unwrap();
    unsafe { launch!(ask<<<1, 1, 0, &stream>>>(y, 3, full)) }.unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [1, 1, 1, 0]);
}

#[test]
fn the_end_of_an_array_is_a_pointer_argument_as_well() {
    let _guard = guard();
    if device().memory_form() == "buffer" {
        eprintln!("a buffer object has no part of nothing at its end");
        return;
    }
    let stream = device().create_stream().unwrap();
    let out = DeviceBuffer::<u64>::zeroed(&stream, 1).unwrap();
    for len in [1, 64, 1000, 1 << 20] {
        let array = DeviceBuffer::<i32>::zeroed(&stream, len).unwrap();
        let mut end = array.as_device_ptr().add(len).address();
        let mut list: [*mut std::ffi::c_void; 3] = [std::ptr::null_mut(); 3];
        let (mut first, mut to) = (array.as_device_ptr().address(), out.as_device_ptr().address());
        for (entry, value) in list.iter_mut().zip([&mut first, &mut end, &mut to]) {
            *entry = (&raw mut *value).cast();
        }
        let (mut handle, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
        let text =
            c"__kernel void extent_of(__global const int *first, __global const int *last, __global ulong *out) {
            out[0] = last - first;
        }";
        unsafe {
            use gridcl::musa::*;
            assert_eq!(musaModuleLoadData(&mut handle, text.as_ptr().cast()), musaSuccess);
            assert_eq!(musaModuleGetFunction(&mut function, handle, c"extent_of".as_ptr()), musaSuccess);
            stream.synchronize().unwrap();
            let code = musaLaunchKernel(
                function.cast_const().cast(),
                dim3::from(1),
                dim3::from(1),
                list.as_mut_ptr(),
                0,
                std::ptr::null_mut(),
            );
            assert_eq!(code, musaSuccess, "{len}: {:?}", gridcl::last_error_detail());
            assert_eq!(musaDeviceSynchronize(), musaSuccess);
            assert_eq!(musaModuleUnload(handle), musaSuccess);
        }
        assert_eq!(out.to_vec(&stream).unwrap(), [len as u64]);
    }
}
