//! Arguments of launches by `void** args`: values of every type, pointers, and what is wrong with them (behaviour.md
//! 3.10 the LaunchKernel rows; design "Launch").

use bytemuck::NoUninit;
use gridcl::Module as SafeModule;
use gridcl::testing::{Gate, guard};
use std::ptr::null_mut;

use crate::steps::{Pages, address_of};
use crate::support::device;

/// The types of scalars that every device has.
pub const SCALARS: [(&str, usize); 9] = [
    ("char", 1),
    ("uchar", 1),
    ("short", 2),
    ("ushort", 2),
    ("int", 4),
    ("uint", 4),
    ("long", 8),
    ("ulong", 8),
    ("float", 4),
];

/// Scalars that a device may lack.
const RARE: [(&str, usize, &str); 2] = [("double", 8, "cl_khr_fp64"), ("half", 2, "cl_khr_fp16")];

/// Where a kernel of [`storing`] puts each argument: so many bytes apart.
pub const STRIDE: usize = 128;

/// A kernel `store` with an argument of each type, `lanes` wide, that stores the i-th at `y + i * STRIDE`.
pub fn storing(types: &[(&str, usize)], lanes: usize, pragma: &str) -> String {
    let width = if lanes == 1 { String::new() } else { lanes.to_string() };
    let mut parameters = String::from("__global uchar *y");
    let mut body = String::new();
    for (index, (name, _)) in types.iter().enumerate() {
        parameters += &format!(", {name}{width} a{index}");
        let to = format!("(__global {name} *)(y + {})", index * STRIDE);
        body += &match lanes {
            1 => format!("    *{to} = a{index};\n"),
            _ => format!("    vstore{lanes}(a{index}, 0, {to});\n"),
        };
    }
    format!("{pragma}\n__kernel void store({parameters}) {{\n{body}}}\n")
}

/// Bytes that tell types and lanes apart and are plain numbers as floats.
pub fn pattern(index: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|byte| (index * 16 + byte) as u8 & 0x3f | 1).collect()
}

/// The program's own types, two of which look like vectors of three.
const OWN: &str = "
typedef struct { float x, y, z; } vec3;
struct inner { uchar tag; short parts[3]; };
typedef struct { struct inner inner; vec3 at; long count; } outer;
struct byte3 { uchar b[3]; };
typedef float real_t;
typedef uint4 quad;
enum mode { OFF, ON = 5 };
union word { int i; float f; };

__kernel void own(__global float *y, vec3 v, outer o, struct byte3 b, real_t r, quad q, enum mode m, union word w) {
    y[0] = v.x; y[1] = v.y; y[2] = v.z;
    y[3] = o.inner.tag; y[4] = o.inner.parts[2]; y[5] = o.at.z; y[6] = o.count;
    y[7] = b.b[0] * 10000 + b.b[1] * 100 + b.b[2];
    y[8] = r; y[9] = q.s0 + q.s3; y[10] = m == ON; y[11] = w.f;
}
";

#[repr(C)]
#[derive(Clone, Copy, NoUninit)]
struct Inner {
    tag: u8,
    _pad: u8,
    parts: [i16; 3],
}

#[repr(C)]
#[derive(Clone, Copy, NoUninit)]
struct Outer {
    inner: Inner,
    at: [f32; 3],
    _pad: u32,
    count: i64,
}

const OUTER: Outer =
    Outer { inner: Inner { tag: 9, _pad: 0, parts: [1, 2, -3] }, at: [4.0, 5.0, 6.5], _pad: 0, count: -1 << 20 };

/// Pointers of every make.
const POINTERS: &str = "
typedef __global uchar *bytes;
__kernel void fill(bytes p, int n, uchar value) { for (int i = 0; i < n; i++) p[i] = value; }
__kernel void add(__global const int * restrict a, __constant int *b, __global volatile int *y) {
    y[get_global_id(0)] = a[get_global_id(0)] + b[get_global_id(0)];
}
__kernel void ask(__global int *maybe, __constant int *too, __global int *y) { y[0] = (maybe == 0) + 10 * (too == 0); }
";

/// A kernel and what it takes, for messages.
const SCALE: &str = "
__kernel void scale(__global float *x, float by, int n) { int i = get_global_id(0); if (i < n) x[i] *= by; }
";

both_dialects! {
    fn values_of_every_scalar_and_vector_type_arrive() {
        let _guard = guard();
        let page = Pages::new();
        for lanes in [1, 2, 3, 4, 8, 16] {
            let module = load!(storing(&SCALARS, lanes, ""));
            let y = put!(vec![0u8; SCALARS.len() * STRIDE]);
            let values: Vec<Vec<u8>> =
                SCALARS.iter().enumerate().map(|(index, (_, bytes))| pattern(index, bytes * lanes)).collect();
            // The last value ends where memory ends: no more than its own bytes may be read, 12 for three floats.
            let mut list = vec![address_of(&y)];
            list.extend(values.iter().map(|value| value.as_ptr().cast_mut().cast()));
            *list.last_mut().unwrap() = page.end_with(values.last().unwrap()).cast_mut().cast();
            let (store, one) = (function!(module, c"store"), dim3::default());
            ok!(unsafe { launch_kernel(store.cast(), one, one, list.as_mut_ptr(), 0, LEGACY) });
            let stored = fetch!(y, u8, SCALARS.len() * STRIDE);
            for (index, ((name, _), value)) in SCALARS.iter().zip(&values).enumerate() {
                assert_eq!(&stored[index * STRIDE..][..value.len()], value, "{name}{lanes}");
            }
            ok!(module_unload(module));
            ok!(free(y));
        }
    }

    fn values_of_types_that_a_device_may_lack_arrive_where_it_has_them() {
        let _guard = guard();
        for (name, bytes, extension) in RARE {
            let pragma = format!("#pragma OPENCL EXTENSION {extension} : enable");
            if !has(extension, &storing(&[(name, bytes)], 1, &pragma)) {
                eprintln!("skipped: this device has no {name}");
                continue;
            }
            for lanes in [1, 3, 16] {
                let module = load!(storing(&[(name, bytes)], lanes, &pragma));
                let (y, value) = (put!([0u8; STRIDE]), pattern(5, bytes * lanes));
                let mut list = [address_of(&y), value.as_ptr().cast_mut().cast()];
                let (store, one) = (function!(module, c"store"), dim3::default());
                ok!(unsafe { launch_kernel(store.cast(), one, one, list.as_mut_ptr(), 0, LEGACY) });
                assert_eq!(fetch!(y, u8, bytes * lanes), value, "{name}{lanes}");
                ok!(module_unload(module));
                ok!(free(y));
            }
        }
    }

    fn values_of_the_programs_own_types_arrive_whole() {
        let _guard = guard();
        let module = load!(OWN);
        let (own, y) = (function!(module, c"own"), put!([0f32; 12]));
        let (vec3, byte3, quad) = ([1f32, 2.0, 3.5], [1u8, 2, 3], [3u32, 0, 0, 4]);
        ok!(start!(own, 1, 1, [y, vec3, OUTER, byte3, 0.25f32, quad, 5i32, -7.5f32]));
        let expected = [1.0, 2.0, 3.5, 9.0, -3.0, 6.5, -1048576.0, 10203.0, 0.25, 7.0, 1.0, -7.5];
        assert_eq!(fetch!(y, f32, 12), expected);
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn pointers_to_global_and_constant_memory_arrive() {
        let _guard = guard();
        let module = load!(POINTERS);
        let (a, b, y) = (put!([1i32, 2, 3]), put!([10i32, 20, 30]), put!([0i32; 3]));
        ok!(start!(function!(module, c"add"), 1, 3, [a, b, y]));
        assert_eq!(fetch!(y, i32, 3), [11, 22, 33]);
        ok!(module_unload(module));
        for pointer in [a, b, y] {
            ok!(free(pointer));
        }
    }

    fn null_is_a_pointer_that_a_kernel_may_ask_for() {
        let _guard = guard();
        let module = load!(POINTERS);
        let (ask, y) = (function!(module, c"ask"), put!([-1i32; 1]));
        let null = 0usize;
        ok!(start!(ask, 1, 1, [null, null, y]));
        assert_eq!(fetch!(y, i32, 1), [11]);
        ok!(start!(ask, 1, 1, [y, null, y]));
        assert_eq!(fetch!(y, i32, 1), [10]);
        ok!(start!(ask, 1, 1, [y, y, y]));
        assert_eq!(fetch!(y, i32, 1), [0], "no null is left from the launch before");
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn a_pointer_may_point_into_its_allocation() {
        let _guard = guard();
        let module = load!(POINTERS);
        let fill = function!(module, c"fill");
        let buffer = device().memory_form() == "buffer";
        for offset in [0usize, 1, 4, 127, 128, 511, 512, 1023] {
            let base = put!([0u8; 1024]);
            let inside = base.wrapping_byte_add(offset);
            let code = start!(fill, 1, 1, [inside, 1i32, 9u8]);
            let mut expected = vec![0u8; 1024];
            if code == SUCCESS {
                expected[offset] = 9;
            } else {
                // OpenCL binds parts of a buffer from aligned offsets on only, and the runtime says so.
                assert!(buffer && offset % 128 != 0, "{:?}", gridcl::last_error_detail());
                fails!(
                    start!(fill, 1, 1, [inside, 1i32, 9u8]),
                    INVALID_VALUE,
                    "argument = 0 of fill: ",
                    &format!("it points {offset} bytes into its allocation, and this device binds multiples of"),
                    "pass the base and an index",
                );
            }
            assert_eq!(fetch!(base, u8, 1024), expected, "{offset}");
            ok!(free(base));
        }
        ok!(module_unload(module));
    }

    fn a_pointer_to_anything_but_device_memory_is_refused() {
        let _guard = guard();
        let module = load!(POINTERS);
        let (fill, y) = (function!(module, c"fill"), put!([7u8; 512]));
        let mut host = vec![7u8; 512];
        let freed = put!([7u8; 512]);
        ok!(free(freed));
        let inside = freed.wrapping_byte_add(100);
        for (pointer, text) in [
            (host.as_mut_ptr().cast(), "is not memory that the runtime allocated; is it a host pointer?"),
            (freed, "was freed"),
            (inside, "was freed"),
            (std::ptr::without_provenance_mut(0xdead_0000), "is not memory that the runtime allocated"),
            (std::ptr::without_provenance_mut(usize::MAX), "is not memory that the runtime allocated"),
        ] {
            fails!(
                start!(fill, 1, 1, [pointer, 512i32, 9u8]),
                INVALID_VALUE,
                "LaunchKernel: argument = 0 of fill: ",
                " p: ",
                &format!("{:#x}", pointer.addr()),
                text,
            );
        }
        assert_eq!((host, fetch!(y, u8, 512)), (vec![7; 512], vec![7; 512]), "nothing ran");
        ok!(start!(fill, 1, 1, [y, 512i32, 9u8]));
        assert_eq!(fetch!(y, u8, 512), [9; 512]);
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn pinned_memory_is_a_pointer_where_kernels_reach_it() {
        let _guard = guard();
        let module = load!(POINTERS);
        let (fill, mut pinned) = (function!(module, c"fill"), null_mut());
        ok!(unsafe { host_malloc(&mut pinned, 64) });
        unsafe { pinned.cast::<u8>().write_bytes(1, 64) };
        let code = start!(fill, 1, 1, [pinned.wrapping_byte_add(3), 7i32, 9u8]);
        ok!(device_synchronize());
        let seen = unsafe { std::slice::from_raw_parts(pinned.cast::<u8>(), 64) };
        if code == SUCCESS {
            assert!(seen.iter().enumerate().all(|(at, &byte)| byte == if (3..10).contains(&at) { 9 } else { 1 }));
        } else {
            let text = "do not reach pinned host memory";
            fails!(start!(fill, 1, 1, [pinned, 7i32, 9u8]), NOT_SUPPORTED, "argument = 0 of fill: ", text);
            assert_eq!(seen, [1; 64]);
        }
        ok!(host_free(pinned));
        ok!(module_unload(module));
    }

    fn the_list_has_to_have_an_address_for_each_argument() {
        let _guard = guard();
        let module = load!(SCALE);
        let (scale, x) = (function!(module, c"scale"), put!([1f32; 2]));
        let one = dim3::default();
        fails!(
            unsafe { launch_kernel(scale.cast(), one, one, null_mut(), 0, LEGACY) },
            INVALID_VALUE,
            "LaunchKernel: args = ",
            "scale(float* x, float by, int n) takes 3 arguments",
        );
        let (by, n) = (2f32, 2i32);
        for (missing, text) in [(0, "0 of scale: float* x"), (1, "1 of scale: float by"), (2, "2 of scale: int n")] {
            let mut list = [address_of(&x), address_of(&by), address_of(&n)];
            list[missing] = null_mut();
            fails!(
                unsafe { launch_kernel(scale.cast(), one, one, list.as_mut_ptr(), 0, LEGACY) },
                INVALID_VALUE,
                &format!("argument = {text}: the list has a null entry"),
            );
        }
        assert_eq!(fetch!(x, f32, 2), [1.0; 2], "nothing ran");
        ok!(start!(scale, 1, 2, [x, by, n]));
        assert_eq!(fetch!(x, f32, 2), [2.0; 2]);
        ok!(module_unload(module));
        ok!(free(x));
    }

    fn arguments_are_those_of_the_time_of_the_call() {
        let _guard = guard();
        let module = load!(OWN);
        let scaling = load!(SCALE);
        let (own, scale) = (function!(module, c"own"), function!(scaling, c"scale"));
        let (y, other) = (put!([1f32; 12]), put!([1f32; 12]));
        let gate = Gate::close(&device().default_stream().unwrap()).unwrap();
        let (mut target, mut outer, mut by, mut n) = (y, OUTER, 3f32, 8i32);
        ok!(start!(own, 1, 1, [target, [1f32; 3], outer, [0u8; 3], 0f32, [0u32; 4], 0i32, 0f32]));
        ok!(start!(scale, 1, 12, [target, by, n]));
        (target, outer.count, by, n) = (other, 77, 100.0, 0);
        assert_eq!(stream_query(LEGACY), NOT_READY);
        gate.open();
        assert_eq!(fetch!(y, f32, 12)[..8], [3.0, 3.0, 3.0, 27.0, -9.0, 19.5, -3.0 * 1048576.0, 0.0]);
        assert_eq!(fetch!(other, f32, 12), [1.0; 12]);
        ok!(start!(scale, 1, 12, [target, by, 12i32]));
        assert_eq!(fetch!(other, f32, 12), [100.0; 12]);
        assert_eq!((outer.count, n), (77, 0));
        ok!(module_unload(module));
        ok!(module_unload(scaling));
        ok!(free(y));
        ok!(free(other));
    }

    fn images_take_live_arrays_and_lists_have_no_samplers() {
        let _guard = guard();
        let text = "__kernel void look(__global float *y, read_only image2d_t image, sampler_t by) {
            y[0] = read_imagef(image, by, (float2)(0, 0)).x;
        }
        __kernel void sample(__global float *y, sampler_t by) { y[0] = 1; }";
        if SafeModule::from_source(device(), text).is_err() {
            eprintln!("skipped: this device has no images");
            return;
        }
        let module = load!(text);
        let (look, sample, y) = (function!(module, c"look"), function!(module, c"sample"), put!([7f32; 1]));
        fails!(start!(look, 1, 1, [y, 0usize, 0usize]), INVALID_HANDLE, "null", "argument 1 of look: image2d_t image");
        fails!(start!(look, 1, 1, [y, y, 0usize]), INVALID_HANDLE, "alive", "argument 1 of look: image2d_t image");
        let how = "declare the sampler in the kernel's text";
        fails!(start!(sample, 1, 1, [y, 0usize]), NOT_SUPPORTED, "argument = 1 of sample: sampler_t by", how);
        assert_eq!(fetch!(y, f32, 1), [7.0], "nothing ran");
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn a_refused_launch_leaves_nothing_behind_for_the_next_one() {
        let _guard = guard();
        let module = load!(POINTERS);
        let add = function!(module, c"add");
        let (a, b, y) = (put!([1i32, 2, 3]), put!([10i32, 20, 30]), put!([0i32; 3]));
        let host = [0i32; 3];
        for _ in 0..3 {
            fails!(start!(add, 1, 3, [b, b, host.as_ptr()]), INVALID_VALUE, "argument = 2 of add: ");
            fails!(start!(add, 1, 0, [b, b, y]), INVALID_CONFIGURATION);
            assert_eq!(fetch!(y, i32, 3), [0; 3]);
            ok!(start!(add, 1, 3, [a, b, y]));
            assert_eq!(fetch!(y, i32, 3), [11, 22, 33]);
            ok!(memset(y, 0, 12));
        }
        ok!(module_unload(module));
        for pointer in [a, b, y] {
            ok!(free(pointer));
        }
    }
}

/// Whether the first device builds a text that needs an extension.
fn has(extension: &str, text: &str) -> bool {
    let text = format!("#ifndef {extension}\n#error no {extension}\n#endif\n{text}");
    SafeModule::from_source(device(), &text).is_ok()
}
