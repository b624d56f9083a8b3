//! Launches in steps: a configuration, its arguments one by one, the launch (TOPS header; behaviour.md 1.2 and 3.10).

use crate::dialects::tops::*;
use crate::steps::address_of;
use crate::work::hold_legacy;
use gridcl::testing::guard;
use gridcl::tops::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

const TEXT: &str = "
__kernel void ids(__global uint *y) {
    uint at = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    if (get_local_id(0) + get_local_id(1) == 0) y[at] = get_local_size(0) * 10 + get_local_size(1);
}
typedef struct { char tag; double value; } pair;
__kernel void mixed(char c, __global float *y, __local float *shared, pair p, float3 v, int n) {
    shared[get_local_id(0)] = v.z;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = c + p.tag + (float)p.value + n + shared[0];
}
__kernel void none() {}
";

#[repr(C)]
struct Pair {
    tag: i8,
    value: f64,
}

fn dims(x: u32, y: u32) -> dim3 {
    dim3 { x, y, z: 1 }
}

/// Sets one argument of the thread's latest configuration.
fn set_up<T>(value: &T, offset: usize) -> topsError_t {
    unsafe { topsSetupArgument(address_of(value), size_of::<T>(), offset) }
}

fn launch(function: Function) -> topsError_t {
    unsafe { topsLaunchByPtr(function.cast()) }
}

#[test]
fn a_configured_call_runs_with_its_arguments() {
    let _guard = guard();
    let module = load!(TEXT);
    let (ids, mixed, none) = (function!(module, c"ids"), function!(module, c"mixed"), function!(module, c"none"));
    let y = put!([0u32; 6]);
    ok!(topsConfigureCall(dims(3, 2), dims(4, 2), 0, LEGACY));
    ok!(set_up(&y, 0));
    ok!(launch(ids));
    assert_eq!(fetch!(y, u32, 6), [42; 6]);

    // In any order, and each is copied: what becomes of the variable afterwards does not matter.
    ok!(topsConfigureCall(dims(1, 1), dims(4, 1), 16, LEGACY));
    let mut n = Box::new(5i32);
    ok!(set_up(&*n, 52));
    *n = 100;
    ok!(set_up(&[0f32, 0.0, 7.0], 40));
    ok!(set_up(&Pair { tag: 2, value: 0.5 }, 16));
    ok!(set_up(&y, 8));
    ok!(set_up(&3i8, 0));
    ok!(launch(mixed));
    assert_eq!(fetch!(y, f32, 4), [17.5; 4]);
    assert_eq!(*n, 100);

    ok!(topsConfigureCall(dims(1, 1), dims(1, 1), 0, LEGACY));
    ok!(launch(none));
    ok!(free(y));
    ok!(module_unload(module));
}

#[test]
fn a_launch_takes_the_latest_configuration_of_its_thread() {
    let _guard = guard();
    let module = load!(TEXT);
    let ids = function!(module, c"ids");
    let (a, b) = (put!([0u32; 1]), put!([0u32; 1]));
    ok!(topsConfigureCall(dims(1, 1), dims(2, 1), 0, LEGACY));
    ok!(set_up(&a, 0));
    ok!(topsConfigureCall(dims(1, 1), dims(3, 1), 0, LEGACY));
    ok!(set_up(&b, 0));
    let address = ids.addr();
    std::thread::spawn(move || {
        let function: Function = std::ptr::without_provenance_mut(address);
        fails!(launch(function), topsErrorMissingConfiguration, "topsConfigureCall");
    })
    .join()
    .unwrap();
    ok!(launch(ids));
    assert_eq!((fetch!(a, u32, 1)[0], fetch!(b, u32, 1)[0]), (0, 31));
    ok!(launch(ids));
    assert_eq!((fetch!(a, u32, 1)[0], fetch!(b, u32, 1)[0]), (21, 31));
    fails!(launch(ids), topsErrorMissingConfiguration);
    ok!(free(a));
    ok!(free(b));
    ok!(module_unload(module));
}

#[test]
fn a_configured_call_runs_in_its_stream() {
    let _guard = guard();
    let module = load!(TEXT);
    let ids = function!(module, c"ids");
    let y = put!([0u32; 1]);
    let mut stream = null_mut();
    ok!(unsafe { topsStreamCreateWithFlags(&mut stream, topsStreamNonBlocking) });
    ok!(topsConfigureCall(dims(1, 1), dims(2, 2), 0, stream));
    ok!(set_up(&y, 0));
    // The default stream is held, and that stream is not ordered with it.
    let gate = hold_legacy();
    ok!(launch(ids));
    work::comes_to_its_end(stream);
    gate.open();
    assert_eq!(fetch!(y, u32, 1), [22]);
    // A stream that is gone when its launch comes.
    ok!(topsConfigureCall(dims(1, 1), dims(3, 3), 0, stream));
    ok!(set_up(&y, 0));
    ok!(topsStreamDestroy(stream));
    fails!(launch(ids), topsErrorInvalidHandle, "stream");
    assert_eq!(fetch!(y, u32, 1), [22]);
    ok!(free(y));
    ok!(module_unload(module));
}

#[test]
fn arguments_that_do_not_fit_are_refused_and_nothing_runs() {
    let _guard = guard();
    let module = load!(TEXT);
    let (ids, mixed) = (function!(module, c"ids"), function!(module, c"mixed"));
    let y = put!([7u32; 4]);
    fails!(set_up(&y, 0), topsErrorMissingConfiguration, "topsConfigureCall");
    let configured = || ok!(topsConfigureCall(dims(1, 1), dims(1, 1), 4, LEGACY));

    configured();
    fails!(unsafe { topsSetupArgument(null(), 8, 0) }, INVALID_VALUE, "arg = null");
    fails!(unsafe { topsSetupArgument(address_of(&y), 0, 0) }, INVALID_VALUE, "size = 0");
    for (size, offset) in [(8, usize::MAX), (usize::MAX, 8), (8, 1 << 40)] {
        fails!(unsafe { topsSetupArgument(address_of(&y), size, offset) }, INVALID_VALUE, "offset");
    }
    ok!(set_up(&y, 8));
    fails!(set_up(&0u32, 12), INVALID_VALUE, "offset = 12", "8 to 16");
    fails!(set_up(&0u32, 6), INVALID_VALUE, "offset = 6", "8 to 16");
    // The same place again is another value of that argument.
    ok!(set_up(&y, 8));
    ok!(launch(ids));
    assert_eq!(fetch!(y, u32, 1), [11]);

    // Too few, too many, and one of another size; each takes its configuration with it.
    configured();
    fails!(launch(ids), INVALID_VALUE, "ids(uint* y) takes 1 arguments", "0 given");
    configured();
    ok!(set_up(&y, 0));
    ok!(set_up(&y, 8));
    fails!(launch(ids), INVALID_VALUE, "ids(uint* y) takes 1 arguments", "2 given");
    configured();
    ok!(set_up(&1u32, 0));
    fails!(launch(ids), INVALID_VALUE, "argument = 0 of ids: uint* y", "where a device pointer is expected");
    configured();
    ok!(set_up(&3i8, 0));
    ok!(set_up(&y, 8));
    ok!(set_up(&1.0f64, 16));
    ok!(set_up(&[0f32; 3], 24));
    ok!(set_up(&0i32, 36));
    fails!(launch(mixed), INVALID_VALUE, "of mixed: pair p", "8 bytes and pair has 16");
    configured();
    ok!(set_up(&address_of(&y), 0));
    fails!(launch(ids), INVALID_VALUE, "is not memory that the runtime allocated");
    fails!(launch(ids), topsErrorMissingConfiguration);
    assert_eq!(fetch!(y, u32, 4), [11, 7, 7, 7]);
    ok!(free(y));
    ok!(module_unload(module));
}

#[test]
fn a_launch_of_nothing_is_refused() {
    let _guard = guard();
    let module = load!(TEXT);
    let none = function!(module, c"none");
    fails!(unsafe { topsLaunchByPtr(null()) }, topsErrorInvalidDeviceFunction);
    fails!(launch(none), topsErrorMissingConfiguration, "topsConfigureCall");
    for (grid, block) in [(dims(0, 1), dims(1, 1)), (dims(1, 1), dims(1, 0)), (dims(1, 1), dims(1 << 20, 1))] {
        ok!(topsConfigureCall(grid, block, 0, LEGACY));
        fails!(launch(none), topsErrorInvalidConfiguration);
    }
    fails!(launch(none), topsErrorMissingConfiguration);
    // A refused launch took its configuration with it, also one of no function.
    ok!(topsConfigureCall(dims(1, 1), dims(1, 1), 0, LEGACY));
    fails!(unsafe { topsLaunchByPtr(null()) }, topsErrorInvalidDeviceFunction);
    fails!(launch(none), topsErrorMissingConfiguration);
    ok!(module_unload(module));
}

#[test]
fn what_was_pushed_is_popped_in_reverse() {
    let _guard = guard();
    let mut stream = null_mut();
    ok!(unsafe { topsStreamCreate(&mut stream) });
    let pop = || {
        let (mut grid, mut block, mut shared, mut stream) = (dims(9, 9), dims(9, 9), 9usize, null_mut());
        let code = unsafe { __topsPopCallConfiguration(&mut grid, &mut block, &mut shared, &mut stream) };
        (code, [grid.x, grid.y, grid.z, block.x, block.y, block.z], shared, stream)
    };
    ok!(__topsPushCallConfiguration(dims(1, 2), dims(3, 4), 5, LEGACY));
    ok!(__topsPushCallConfiguration(dims(6, 7), dims(8, 9), 10, stream));
    fails!(
        unsafe { __topsPopCallConfiguration(null_mut(), &mut dims(0, 0), &mut 0, &mut null_mut()) },
        INVALID_VALUE,
        "gridDim = null"
    );
    assert_eq!(pop(), (SUCCESS, [6, 7, 1, 8, 9, 1], 10, stream));
    assert_eq!(pop(), (SUCCESS, [1, 2, 1, 3, 4, 1], 5, LEGACY));
    fails!(
        {
            let (code, untouched, ..) = pop();
            assert_eq!(untouched, [9, 9, 1, 9, 9, 1]);
            code
        },
        topsErrorMissingConfiguration,
        "__topsPushCallConfiguration"
    );
    ok!(topsStreamDestroy(stream));
}

#[test]
fn an_event_of_another_process_may_name_the_link_to_it() {
    let _guard = guard();
    let mut event = null_mut();
    let handle = topsIpcEventHandle_t::default();
    let open =
        |map: topsTopologyMapType, event: *mut topsEvent_t| unsafe { topsIpcOpenEventHandleExt(event, handle, map, 0) };
    fails!(open(topsTopologyMapTypeAuto, null_mut()), INVALID_VALUE, "event = null");
    fails!(open(topsTopologyMapType(9), &mut event), INVALID_VALUE, "map = 9");
    // Of a handle that leads nowhere both calls say the same.
    let code = unsafe { topsIpcOpenEventHandle(&mut event, handle) };
    assert_ne!(code, SUCCESS);
    assert_eq!(open(topsTopologyMapTypeEsl, &mut event), code);
    let mut own: *mut c_void = null_mut();
    ok!(unsafe { event_create_with_flags((&raw mut own).cast(), topsEventInterprocess | topsEventDisableTiming) });
    let mut handle = topsIpcEventHandle_t::default();
    ok!(unsafe { topsIpcGetEventHandle(&mut handle, own.cast()) });
    fails!(
        unsafe { topsIpcOpenEventHandleExt(&mut event, handle, topsTopologyMapTypeAuto, 0) },
        topsErrorInvalidContext
    );
    ok!(event_destroy(own.cast()));
    let _ = topsGetLastError();
}
