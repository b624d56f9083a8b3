//! `ModuleLaunchKernel`: extents one by one, arguments as a list or packed into a buffer (behaviour.md 1.1; design.md 6).

use gridcl::testing::guard;
use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};

use crate::steps::address_of;

const TEXT: &str = "
typedef struct { int a; float b; } pair;
__kernel void ids(__global uint *y) {
    uint at = (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
    if (get_local_id(0) + get_local_id(1) + get_local_id(2) == 0)
        y[at] = get_local_size(0) * 100 + get_local_size(1) * 10 + get_local_size(2);
}
__kernel void packed_all(char c, __global float *y, __local float *shared, double d, int n, float4 v) {
    shared[get_local_id(0)] = v.w;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = c + (float)d + n + shared[0];
}
__kernel void taken(__global float *y, pair p) { y[0] = p.a + p.b; }
__kernel void unsure(char c, pair p, __global float *y) { y[0] = p.a + p.b; }
__kernel void none() {}
";

/// What `packed_all` takes, as a structure of C lays it out.
#[repr(C)]
struct Mixed {
    c: i8,
    y: *mut c_void,
    d: f64,
    n: i32,
    v: Vector,
}

#[repr(C, align(16))]
struct Vector([f32; 4]);

both_dialects! {
    fn extents_and_a_list_of_addresses() {
        let _guard = guard();
        let module = load!(TEXT);
        let y = put!([0u32; 24]);
        let (ids, mut list) = (function!(module, c"ids"), [address_of(&y)]);
        let code = unsafe {
            module_launch_kernel(ids, 4, 3, 2, 3, 2, 1, 0, LEGACY, list.as_mut_ptr(), null_mut())
        };
        ok!(code);
        assert_eq!(fetch!(y, u32, 24), [321; 24]);
        let none = function!(module, c"none");
        ok!(unsafe { module_launch_kernel(none, 1, 1, 1, 1, 1, 1, 0, LEGACY, null_mut(), null_mut()) });
        ok!(free(y));
        ok!(module_unload(module));
    }

    fn a_buffer_of_all_arguments() {
        let _guard = guard();
        let module = load!(TEXT);
        let y = put!([0f32; 4]);
        let mut mixed = Mixed { c: 1, y, d: 2.0, n: 3, v: Vector([0.0, 0.0, 0.0, 4.0]) };
        let mut size = 48usize;
        let mut extra = [
            without_provenance_mut(1), std::ptr::from_mut(&mut mixed).cast(),
            without_provenance_mut(2), std::ptr::from_mut(&mut size).cast(), EXTRA_END,
        ];
        let kernel = function!(module, c"packed_all");
        let mut launch = |extra: &mut [*mut c_void], bytes: usize, list: *mut *mut c_void| {
            size = bytes;
            unsafe { module_launch_kernel(kernel, 1, 1, 1, 4, 1, 1, 16, LEGACY, list, extra.as_mut_ptr()) }
        };
        ok!(launch(&mut extra, 48, null_mut()));
        assert_eq!(fetch!(y, f32, 4), [10.0; 4]);
        fails!(launch(&mut extra, 47, null_mut()), INVALID_VALUE, "47 bytes and the kernel's arguments take 48");
        let mut list = [null_mut(); 8];
        fails!(launch(&mut extra, 48, list.as_mut_ptr()), INVALID_VALUE, "given twice");
        let mut strange = [without_provenance_mut(7), null_mut(), EXTRA_END];
        fails!(launch(&mut strange, 48, null_mut()), INVALID_VALUE, "entry 0, 0x7, is no key");
        let mut endless = [extra[0], extra[1]].repeat(9);
        fails!(launch(&mut endless, 48, null_mut()), INVALID_VALUE, "does not end");
        let mut empty = [EXTRA_END];
        fails!(launch(&mut empty, 48, null_mut()), INVALID_VALUE, "no buffer or no size");
        assert_eq!(fetch!(y, f32, 4), [10.0; 4]);
        ok!(free(y));
        ok!(module_unload(module));
    }

    fn structures_in_a_buffer_where_they_are_certain() {
        let _guard = guard();
        let module = load!(TEXT);
        let y = put!([0f32; 1]);
        let mut packed = [y.addr() as u64, u64::from(5u32) | u64::from(0.5f32.to_bits()) << 32];
        let mut size = 16usize;
        let mut extra = [
            without_provenance_mut(1), packed.as_mut_ptr().cast(),
            without_provenance_mut(2), std::ptr::from_mut(&mut size).cast(), EXTRA_END,
        ];
        let launch = |function: Function, extra: &mut [*mut c_void]| unsafe {
            module_launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, LEGACY, null_mut(), extra.as_mut_ptr())
        };
        ok!(launch(function!(module, c"taken"), &mut extra));
        assert_eq!(fetch!(y, f32, 1), [5.5]);
        let unsure = function!(module, c"unsure");
        fails!(launch(unsure, &mut extra), NOT_SUPPORTED, "pair p lies in the buffer is not certain", "kernelParams");
        fails!(launch(null_mut(), &mut extra), INVALID_DEVICE_FUNCTION);
        ok!(free(y));
        ok!(module_unload(module));
    }
}
