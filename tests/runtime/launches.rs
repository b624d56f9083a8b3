//! Launches: shapes, shared memory, streams, failures (MUSA "kernels", TOPS 7.2; behaviour.md 3.10 the LaunchKernel
//! rows, 1.6 "Codes" and "Streams, memory, launch"). What arguments may be is in `launch_arguments`.

use gridcl::Device;
use gridcl::testing::{Gate, guard};
use std::ffi::c_void;
use std::ptr::null_mut;

use crate::support::{device, in_time};

/// Every work item writes where it is, in six words.
const IDS: &str = "
__kernel void ids(__global uint *y) {
    size_t row = get_global_id(2) * get_global_size(1) + get_global_id(1);
    __global uint *to = y + (row * get_global_size(0) + get_global_id(0)) * 6;
    for (uint axis = 0; axis < 3; axis++) {
        to[axis] = get_group_id(axis) * 100 + get_num_groups(axis);
        to[3 + axis] = get_local_id(axis) * 100 + get_local_size(axis);
    }
}
";

/// Kernels that any shape fits, one that takes a certain block, one that leaves room for small blocks only.
const SHAPES: &str = "
__kernel void mark(__global int *y) { y[0] = 1; }
__kernel __attribute__((reqd_work_group_size(8, 2, 1))) void fixed(__global int *y) { y[0] = 1; }
__kernel void heavy(__global int *y, int n) {
    int big[20000];
    for (int i = 0; i < 20000; i++) big[i] = y[i % n] * i;
    int sum = 0;
    for (int i = 0; i < n; i++) sum += big[(i * 7919) % 20000];
    y[get_global_id(0)] = sum + 1;
}
";

/// Kernels with shared memory of every kind. `turn` turns each block's words round.
const SHARED: &str = "
#define TURN(shared) \\
    uint at = get_local_id(0), last = get_local_size(0) - 1; \\
    shared[at] = y[get_global_id(0)]; \\
    barrier(CLK_LOCAL_MEM_FENCE); \\
    y[get_global_id(0)] = shared[last - at];

__kernel void turn(__global uint *y, __local uint *shared) { TURN(shared) }
__kernel void first(__local uint *shared, __global uint *y) { TURN(shared) }
__kernel void fixed(__global uint *y, __local uint *shared) {
    __local uint own[256];
    TURN(own)
    if (at == 0) { shared[0] = 1; y[get_global_id(0)] += shared[0]; }
}
__kernel void none(__global uint *y) { y[get_global_id(0)] = 5; }
__kernel void alone(__local uint *shared) { shared[get_local_id(0)] = 1; }
__kernel void two(__global uint *y, __local uint *a, __local uint *b) {
    uint at = get_local_id(0);
    a[at] = y[at];
    b[at] = 10 * y[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint other = get_local_size(0) - 1 - at;
    y[at] = a[other] + b[other];
}
";

/// Plain kernels.
const PLAIN: &str = "
__kernel void put(__global int *y, int at, int value) { y[at] = value; }
__kernel void nothing() {}
";

/// What [`IDS`] has to give.
fn ids(grid: [u32; 3], block: [u32; 3]) -> Vec<u32> {
    let global: [u32; 3] = std::array::from_fn(|axis| grid[axis] * block[axis]);
    let mut expected = Vec::new();
    for z in 0..global[2] {
        for y in 0..global[1] {
            for x in 0..global[0] {
                let at = [x, y, z];
                expected.extend((0..3).map(|axis| at[axis] / block[axis] * 100 + grid[axis]));
                expected.extend((0..3).map(|axis| at[axis] % block[axis] * 100 + block[axis]));
            }
        }
    }
    expected
}

both_dialects! {
    fn every_work_item_of_every_block_runs_once_and_knows_where_it_is() {
        let _guard = guard();
        let module = load!(IDS);
        let function = function!(module, c"ids");
        for (grid, block) in [
            ([1, 1, 1], [1, 1, 1]),
            ([5, 1, 1], [32, 1, 1]),
            ([7, 1, 1], [1, 1, 1]),
            ([3, 2, 1], [8, 4, 1]),
            ([1, 4, 1], [3, 1, 1]),
            ([2, 1, 1], [1, 2, 3]),
            ([2, 3, 4], [4, 2, 2]),
            ([1, 1, 3], [1, 1, 2]),
            ([1, 1, 4], [2, 1, 1]),
        ] {
            let expected = ids(grid, block);
            let y = put!(vec![u32::MAX; expected.len()]);
            let [x, y2, z] = grid;
            let [bx, by, bz] = block;
            ok!(start!(function, (x, y2, z), (bx, by, bz), [y]));
            assert_eq!(fetch!(y, u32, expected.len()), expected, "{grid:?} x {block:?}");
            ok!(free(y));
        }
        ok!(module_unload(module));
    }

    fn no_component_of_a_shape_may_be_zero() {
        let _guard = guard();
        let module = load!(SHAPES);
        let (mark, y) = (function!(module, c"mark"), put!([0i32; 1]));
        for (x, y2, z) in [(0, 1, 1), (1, 0, 1), (1, 1, 0), (0, 0, 0)] {
            let text = format!("= ({x}, {y2}, {z}): no component may be 0");
            fails!(start!(mark, (x, y2, z), 1, [y]), INVALID_CONFIGURATION, "LaunchKernel: ", "grid", &text);
            fails!(start!(mark, 1, (x, y2, z), [y]), INVALID_CONFIGURATION, "LaunchKernel: ", "block", &text);
        }
        assert_eq!(fetch!(y, i32, 1), [0], "nothing ran");
        ok!(start!(mark, 1, 1, [y]));
        assert_eq!(fetch!(y, i32, 1), [1]);
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn a_block_beyond_what_the_device_takes_is_refused() {
        let _guard = guard();
        let module = load!(SHAPES);
        let (mark, y) = (function!(module, c"mark"), put!([0i32; 1]));
        let axes = device().max_block_dim().map(|limit| limit as u32);
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            for size in [axes[axis] + 1, u32::MAX] {
                let mut block = [1; 3];
                block[axis] = size;
                let [x, y2, z] = block;
                let text = format!("block = ({x}, {y2}, {z}): the device takes at most {} along {name}", axes[axis]);
                fails!(start!(mark, 1, (x, y2, z), [y]), INVALID_CONFIGURATION, &text);
            }
        }
        let most = device().max_block_size() as u32;
        let text = format!("{} work items are more than the device's {most} a block", 2 * most);
        if axes[0] == most && axes[1] > 1 {
            fails!(start!(mark, 1, (most, 2, 1), [y]), INVALID_CONFIGURATION, &text);
        }
        assert_eq!(fetch!(y, i32, 1), [0], "nothing ran");
        ok!(start!(mark, 1, axes[0].min(most), [y]));
        assert_eq!(fetch!(y, i32, 1), [1], "the largest block runs");
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn a_grid_with_two_to_the_32_work_items_along_an_axis_is_refused() {
        let _guard = guard();
        let module = load!(SHAPES);
        let (mark, y) = (function!(module, c"mark"), put!([0i32; 1]));
        for (grid, block) in [
            ((1 << 31, 1, 1), (2, 1, 1)),
            ((1, 1 << 31, 1), (1, 2, 1)),
            ((1, 1, u32::MAX), (1, 1, 2)),
            ((u32::MAX, u32::MAX, u32::MAX), (2, 1, 1)),
        ] {
            let (x, y2, z) = grid;
            fails!(
                start!(mark, grid, block, [y]),
                INVALID_CONFIGURATION,
                &format!("grid = ({x}, {y2}, {z})"),
                "2^32",
            );
        }
        assert_eq!(fetch!(y, i32, 1), [0], "nothing ran");
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn a_kernel_that_demands_a_block_runs_with_that_one_only() {
        let _guard = guard();
        let module = load!(SHAPES);
        let (fixed, y) = (function!(module, c"fixed"), put!([0i32; 1]));
        for block in [(16, 1, 1), (2, 8, 1), (8, 2, 2), (8, 1, 1), (1, 1, 1)] {
            fails!(
                start!(fixed, 1, block, [y]),
                INVALID_CONFIGURATION,
                &format!("block = {block:?}: the source of fixed demands (8, 2, 1)"),
            );
        }
        assert_eq!(fetch!(y, i32, 1), [0], "nothing ran");
        ok!(start!(fixed, (1, 3), (8, 2), [y]));
        assert_eq!(fetch!(y, i32, 1), [1]);
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn a_block_above_the_kernels_own_limit_is_out_of_resources() {
        let _guard = guard();
        let module = load!(SHAPES);
        let (heavy, y) = (function!(module, c"heavy"), put!([0i32; 64]));
        let code = start!(heavy, 1, 64, [y, 64i32]);
        if code == SUCCESS {
            eprintln!("skipped: on this device the kernel leaves room for every block");
            ok!(device_synchronize());
        } else {
            assert_eq!(code, LAUNCH_OUT_OF_RESOURCES);
            fails!(
                start!(heavy, 1, 64, [y, 64i32]),
                LAUNCH_OUT_OF_RESOURCES,
                "block = (64, 1, 1): 64 work items are more than the ",
                "that heavy leaves room for",
            );
            assert_eq!(fetch!(y, i32, 64), [0; 64], "nothing ran");
        }
        ok!(start!(heavy, 64, 1, [y, 64i32]));
        assert_ne!(fetch!(y, i32, 64), [0; 64]);
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn the_local_parameter_has_the_shared_memory_of_the_launch() {
        let _guard = guard();
        let module = load!(SHARED);
        let data: Vec<u32> = (0..128).collect();
        let turned: Vec<u32> = data.chunks(32).flat_map(|block| block.iter().rev().copied()).collect();
        for name in [c"turn", c"first"] {
            let y = put!(data);
            // The list has no entry for it, wherever it stands.
            ok!(launch_in!(LEGACY, function!(module, name), 4, 32, 32 * 4, [y]));
            assert_eq!(fetch!(y, u32, 128), turned, "{name:?}");
            ok!(free(y));
        }
        ok!(module_unload(module));
    }

    fn more_shared_memory_than_the_device_has_is_refused() {
        let _guard = guard();
        let module = load!(SHARED);
        let (turn, fixed) = (function!(module, c"turn"), function!(module, c"fixed"));
        let y = put!([7u32; 1]);
        let all = device().shared_memory_per_block() as usize;
        for bytes in [all + 1, 2 * all, usize::MAX] {
            fails!(
                launch_in!(LEGACY, turn, 1, 1, bytes, [y]),
                INVALID_CONFIGURATION,
                &format!("= {bytes}: turn leaves {all} of the device's {all} bytes"),
            );
        }
        // 1 KiB of it is the kernel's own.
        let left = all - 1024;
        fails!(
            launch_in!(LEGACY, fixed, 1, 1, left + 1, [y]),
            INVALID_CONFIGURATION,
            &format!("= {}: fixed leaves ", left + 1),
        );
        assert_eq!(fetch!(y, u32, 1), [7], "nothing ran");
        // Drivers align what they lay out, so not to the last byte.
        ok!(launch_in!(LEGACY, fixed, 1, 1, left - 64, [y]));
        assert_eq!(fetch!(y, u32, 1), [8]);
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn shared_memory_for_a_kernel_without_a_local_parameter_is_ignored() {
        let _guard = guard();
        let module = load!(SHARED);
        let (none, y) = (function!(module, c"none"), put!([0u32; 4]));
        ok!(launch_in!(LEGACY, none, 1, 4, 4096, [y]));
        assert_eq!(fetch!(y, u32, 4), [5; 4]);
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn a_kernel_with_only_a_local_parameter_takes_no_list() {
        let _guard = guard();
        let module = load!(SHARED);
        let (alone, one) = (function!(module, c"alone"), dim3::from(1));
        ok!(unsafe { launch_kernel(alone.cast(), one, dim3::from(8), null_mut(), 32, LEGACY) });
        ok!(device_synchronize());
        ok!(module_unload(module));
    }

    fn one_number_for_two_local_parameters_is_refused() {
        let _guard = guard();
        let module = load!(SHARED);
        let (two, y) = (function!(module, c"two"), put!([7u32; 4]));
        for bytes in [0, 64] {
            fails!(
                launch_in!(LEGACY, two, 1, 4, bytes, [y]),
                INVALID_VALUE,
                &format!("= {bytes}: two has 2 __local parameters"),
                "launch builder",
            );
        }
        assert_eq!(fetch!(y, u32, 4), [7; 4], "nothing ran");
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn what_is_no_function_cannot_be_launched() {
        let _guard = guard();
        let module = load!(PLAIN);
        let (put, y) = (function!(module, c"put"), put!([7i32; 1]));
        let wild: Function = std::ptr::without_provenance_mut(0xdead_0000);
        let host = 5u64;
        let null: Function = null_mut();
        fails!(start!(null, 1, 1, [y, 0i32, 1i32]), INVALID_DEVICE_FUNCTION, "LaunchKernel: ", "null");
        for handle in [wild, std::ptr::without_provenance_mut(module.addr()), (&raw const host).cast_mut().cast()] {
            fails!(
                start!(handle, 1, 1, [y, 0i32, 1i32]),
                INVALID_DEVICE_FUNCTION,
                &format!("= {:#x}", handle.addr()),
                "ModuleGetFunction",
            );
        }
        assert_eq!(fetch!(y, i32, 1), [7], "nothing ran");
        ok!(start!(put, 1, 1, [y, 0i32, 1i32]));
        assert_eq!(fetch!(y, i32, 1), [1]);
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn a_launch_goes_into_the_stream_that_it_names() {
        let _guard = guard();
        let module = load!(PLAIN);
        let (put, y) = (function!(module, c"put"), put!([0i32; 4]));
        let (mut blocking, mut aside) = (null_mut(), null_mut());
        ok!(unsafe { stream_create(&mut blocking) });
        ok!(unsafe { stream_create_with_flags(&mut aside, NON_BLOCKING) });
        let gate = Gate::close(&device().default_stream().unwrap()).unwrap();
        // The default stream, a blocking stream and the thread's own wait for the gate; the one aside does not.
        for (at, stream) in [LEGACY, blocking, PER_THREAD, aside].into_iter().enumerate() {
            ok!(launch_in!(stream, put, 1, 1, 0, [y, at as i32, 10 + at as i32]));
        }
        let (stream, address) = (aside.addr(), y.addr());
        let seen = in_time("a stream without an order with the default stream", move || {
            let mut seen = [0i32; 4];
            let (from, stream) = (std::ptr::without_provenance(address), std::ptr::without_provenance_mut(stream));
            ok!(unsafe { memcpy_async(seen.as_mut_ptr().cast(), from, 16, DEVICE_TO_HOST, stream) });
            seen
        });
        assert_eq!(seen, [0, 0, 0, 13]);
        assert_eq!([LEGACY, blocking, PER_THREAD].map(|stream| stream_query(stream)), [NOT_READY; 3]);
        gate.open();
        assert_eq!(fetch!(y, i32, 4), [10, 11, 12, 13]);
        ok!(stream_destroy(blocking));
        ok!(stream_destroy(aside));
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn a_dead_stream_takes_no_launch() {
        let _guard = guard();
        let module = load!(PLAIN);
        let (put, y) = (function!(module, c"put"), put!([7i32; 1]));
        let mut stream = null_mut();
        ok!(unsafe { stream_create(&mut stream) });
        ok!(stream_destroy(stream));
        let wild: Stream = std::ptr::without_provenance_mut(0xdead_0000);
        for stream in [stream, wild] {
            let text = format!("stream = {:#x}", stream.addr());
            fails!(launch_in!(stream, put, 1, 1, 0, [y, 0i32, 1i32]), INVALID_HANDLE, "LaunchKernel: ", &text);
        }
        assert_eq!(fetch!(y, i32, 1), [7], "nothing ran");
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn a_failed_launch_is_recorded_and_a_good_one_does_not_wipe_it() {
        let _guard = guard();
        let module = load!(PLAIN);
        let (put, y) = (function!(module, c"put"), put!([7i32; 2]));
        let _ = get_last_error();
        ok!(start!(put, 1, 1, [y, 0i32, 1i32]));
        assert_eq!(peek_at_last_error(), SUCCESS);
        let code = start!(put, 0, 1, [y, 1i32, 2i32]);
        assert_eq!((code, peek_at_last_error()), (INVALID_CONFIGURATION, INVALID_CONFIGURATION));
        ok!(start!(put, 1, 1, [y, 0i32, 3i32]));
        ok!(device_synchronize());
        assert_eq!(peek_at_last_error(), INVALID_CONFIGURATION, "what succeeded later wipes nothing");
        assert_eq!(start!(null_mut::<u8>(), 1, 1, [y, 1i32, 4i32]), INVALID_DEVICE_FUNCTION);
        assert_eq!(get_last_error(), INVALID_DEVICE_FUNCTION);
        assert_eq!(get_last_error(), SUCCESS);
        assert_eq!(fetch!(y, i32, 2), [3, 7], "what failed did not run");
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn a_kernel_without_parameters_takes_no_list() {
        let _guard = guard();
        let module = load!(PLAIN);
        let (nothing, one) = (function!(module, c"nothing"), dim3::default());
        ok!(unsafe { launch_kernel(nothing.cast(), one, one, null_mut(), 0, LEGACY) });
        ok!(start!(nothing, 3, 4, []));
        ok!(device_synchronize());
        ok!(module_unload(module));
    }

    fn a_cooperative_launch_is_checked_and_then_not_supported() {
        let _guard = guard();
        let module = load!(SHAPES);
        let (mark, mut y) = (function!(module, c"mark"), put!([0i32; 1]));
        let mut args = [(&raw mut y).cast::<c_void>()];
        let list = args.as_mut_ptr();
        let launch = |function: *const c_void, grid: u32, list: *mut *mut c_void| unsafe {
            launch_cooperative_kernel(function, dim3 { x: grid, y: 1, z: 1 }, dim3 { x: 1, y: 1, z: 1 }, list, 0, LEGACY)
        };
        fails!(launch(std::ptr::null(), 1, list), INVALID_DEVICE_FUNCTION, "func");
        fails!(launch(mark.cast(), 0, list), INVALID_CONFIGURATION, "grid");
        fails!(launch(mark.cast(), 1, null_mut()), INVALID_VALUE, "args");
        fails!(launch(mark.cast(), 1, list), NOT_SUPPORTED, "mark", "blocks");
        assert_eq!(fetch!(y, i32, 1), [0], "nothing ran");
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn threads_launch_one_kernel_at_once() {
        let _guard = guard();
        let module = load!(PLAIN);
        let (put, y) = (function!(module, c"put"), put!([-1i32; 16 * 64]));
        let (put, y_at) = (put.addr(), y.addr());
        std::thread::scope(|scope| {
            for thread in 0..16i32 {
                scope.spawn(move || {
                    let put: Function = std::ptr::without_provenance_mut(put);
                    let mut stream = null_mut();
                    ok!(unsafe { stream_create(&mut stream) });
                    let own = put!([-1i32; 64]);
                    for round in 0..64 {
                        let value = thread * 1000 + round;
                        ok!(launch_in!(stream, put, 1, 1, 0, [own, round, value]));
                        ok!(launch_in!(LEGACY, put, 1, 1, 0, [y_at, thread * 64 + round, value]));
                    }
                    assert_eq!(fetch!(own, i32, 64), (0..64).map(|round| thread * 1000 + round).collect::<Vec<_>>());
                    ok!(stream_destroy(stream));
                    ok!(free(own));
                });
            }
        });
        let all = fetch!(y, i32, 16 * 64);
        assert!(all.iter().enumerate().all(|(at, &value)| value == at as i32 / 64 * 1000 + at as i32 % 64), "{all:?}");
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn a_launch_runs_on_the_device_of_its_stream() {
        let _guard = guard();
        if Device::count() < 2 {
            eprintln!("skipped: this takes two devices");
            return;
        }
        let module = load!(PLAIN);
        let put = function!(module, c"put");
        let here = put!([7i32; 1]);
        ok!(set_device(1));
        let mut stream = null_mut();
        ok!(unsafe { stream_create(&mut stream) });
        let there = put!([7i32; 1]);
        ok!(set_device(0));
        ok!(launch_in!(stream, put, 1, 1, 0, [there, 0i32, 1i32]));
        ok!(stream_synchronize(stream));
        assert_eq!(fetch!(there, i32, 1), [1]);
        fails!(
            launch_in!(stream, put, 1, 1, 0, [here, 0i32, 2i32]),
            INVALID_VALUE,
            "argument = 0 of put: int* y",
            &format!("{here:p} belongs to device 0"),
        );
        fails!(
            start!(put, 1, 1, [there, 0i32, 2i32]),
            INVALID_VALUE,
            &format!("{there:p} belongs to device 1"),
        );
        assert_eq!((fetch!(here, i32, 1), fetch!(there, i32, 1)), (vec![7], vec![1]), "nothing ran");
        ok!(module_unload(module));
        ok!(stream_destroy(stream));
        ok!(free(here));
        ok!(free(there));
    }
}
