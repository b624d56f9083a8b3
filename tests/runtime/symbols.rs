//! Symbols, the `__constant__` and `__device__` variables of a module: their values, how they are found, and whose they
//! are (TOPS 7.1; behaviour.md 3.5 GetSymbolAddress and GetSymbolSize, 1.6 "Streams, memory, launch"). Copies are in
//! `symbol_copies`.

use gridcl::Device;
use gridcl::testing::guard;
use std::ptr::{null, null_mut};

use crate::steps::Pages;
use crate::support::device;

/// One symbol of each make, used directly, through helpers and through macros.
pub const MAKES: &str = "
#define COUNT 3
#define LUT static __constant__ const
#define CELL(i) cells[i]
typedef struct { int id; float weights[2]; } cell;

__constant__ float scalar = 2.5f;
__device__ int counter;
LUT short list[COUNT + 1] = {1, -2, 3};
__device__ int matrix[2][COUNT] = {{1, 2, 3}, {4, 5, 6}};
__constant__ cell cells[2] = {{1, {1.5f, 2.5f}}, {2, {3.5f}}};
__device__ struct pair { uchar a; long b; } one, two = {3, 4};
__device__ float4 vectors[2];
__constant__ int open[] = {7, 8, 9};
__device__ uint bits = 1u << 31 | 5, zeros[3];
#ifdef NEVER
__device__ int gone[4];
#endif

float weight(int i);
float weights() { return weight(0) + weight(1); }
float weight(int i) { return CELL(i).weights[0] + scalar; }
__device__ int row(int i) { int sum = 0; for (int j = 0; j < COUNT; j++) sum += matrix[i][j]; return sum; }

__kernel void read(__global float *y) {
    y[0] = scalar; y[1] = counter; y[2] = list[0] + list[1]; y[3] = row(1); y[4] = weights();
    y[5] = two.a * 10 + two.b; y[6] = vectors[1].z; y[7] = open[2]; y[8] = bits & 7; y[9] = zeros[2];
}
__kernel void write() { counter += 1; matrix[1][2] *= 10; two.b = -two.b; vectors[1].w = scalar; zeros[1] = 9; }
__kernel void count() { atomic_inc(&counter); }
__kernel void take(cell given) { counter = given.id; vectors[0].x = given.weights[1]; }
";

/// A symbol of which texts with different values are made.
fn valued(value: i32) -> String {
    format!(
        "__device__ int value = {value};
        __kernel void get(__global int *y) {{ y[get_global_id(0)] = value; }}"
    )
}

/// The symbol's size: the code and what was written.
macro_rules! size {
    ($pointer:expr) => {{
        let mut bytes = 77;
        let code = unsafe { get_symbol_size(&mut bytes, $pointer.cast()) };
        (code, bytes)
    }};
}

both_dialects! {
    fn symbols_have_the_size_of_their_type() {
        let _guard = guard();
        let module = load!(MAKES);
        for (name, bytes) in [
            (c"scalar", 4), (c"counter", 4), (c"list", 8), (c"matrix", 24), (c"cells", 24), (c"one", 16),
            (c"two", 16), (c"vectors", 32), (c"open", 12), (c"bits", 4), (c"zeros", 12),
        ] {
            assert_eq!(size!(name.as_ptr()), (SUCCESS, bytes), "{name:?}");
            let (mut address, mut same) = (null_mut(), 0);
            ok!(unsafe { module_get_global(&mut address, &mut same, module, name.as_ptr()) });
            assert_eq!((address, same), (address!(name), bytes), "{name:?}");
        }
        fails!(size!(c"gone".as_ptr()).0, INVALID_SYMBOL, "gone");
        let global = unsafe { module_get_global(null_mut(), &mut 0, module, c"gone".as_ptr()) };
        assert_eq!((global, get_last_error()), (NOT_FOUND, NOT_FOUND));
        assert!(gridcl::last_error_detail().unwrap().ends_with("open, bits, zeros"), "it is not offered either");
        ok!(module_unload(module));
    }

    fn symbols_begin_with_their_initial_value_or_zeros() {
        let _guard = guard();
        let module = load!(MAKES);
        assert_eq!(from_symbol!(c"scalar", f32, 1), [2.5]);
        assert_eq!(from_symbol!(c"counter", i32, 1), [0]);
        assert_eq!(from_symbol!(c"list", i16, 4), [1, -2, 3, 0]);
        assert_eq!(from_symbol!(c"matrix", i32, 6), [1, 2, 3, 4, 5, 6]);
        assert_eq!(from_symbol!(c"one", u8, 16), [0; 16]);
        assert_eq!(from_symbol!(c"two", i64, 2)[1], 4);
        assert_eq!(from_symbol!(c"vectors", f32, 8), [0.0; 8]);
        assert_eq!(from_symbol!(c"open", i32, 3), [7, 8, 9]);
        assert_eq!(from_symbol!(c"bits", u32, 1), [0x8000_0005]);
        assert_eq!(from_symbol!(c"zeros", u32, 3), [0; 3]);
        let cells = from_symbol!(c"cells", u32, 6);
        assert_eq!(cells, [1, 1.5f32.to_bits(), 2.5f32.to_bits(), 2, 3.5f32.to_bits(), 0]);
        ok!(module_unload(module));
    }

    fn kernels_read_symbols_by_name_through_helpers_and_macros() {
        let _guard = guard();
        let module = load!(MAKES);
        let read = function!(module, c"read");
        let y = put!([-1f32; 10]);
        ok!(start!(read, 1, 1, [y]));
        assert_eq!(fetch!(y, f32, 10), [2.5, 0.0, -1.0, 15.0, 10.0, 34.0, 0.0, 9.0, 5.0, 0.0]);
        ok!(to_symbol!(c"scalar", [0.5f32], 0));
        ok!(to_symbol!(c"counter", [11i32], 0));
        ok!(to_symbol!(c"list", [5i16, 6], 0));
        ok!(to_symbol!(c"matrix", [40i32, 50, 60], 12));
        ok!(to_symbol!(c"cells", [10f32, 20.0, 0.0, 30.0], 4));
        ok!(to_symbol!(c"two", [7u8], 0));
        ok!(to_symbol!(c"vectors", [8f32], 24));
        ok!(to_symbol!(c"open", [-3i32], 8));
        ok!(to_symbol!(c"zeros", [1u32, 2, 3], 0));
        ok!(start!(read, 1, 1, [y]));
        assert_eq!(fetch!(y, f32, 10), [0.5, 11.0, 11.0, 150.0, 41.0, 74.0, 8.0, -3.0, 5.0, 3.0]);
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn what_kernels_write_to_symbols_stays_there() {
        let _guard = guard();
        let module = load!(MAKES);
        let (write, read) = (function!(module, c"write"), function!(module, c"read"));
        for _ in 0..2 {
            ok!(start!(write, 1, 1, []));
        }
        assert_eq!(from_symbol!(c"counter", i32, 1), [2]);
        assert_eq!(from_symbol!(c"matrix", i32, 6), [1, 2, 3, 4, 5, 600]);
        assert_eq!(from_symbol!(c"two", i64, 2)[1], 4);
        assert_eq!(from_symbol!(c"vectors", f32, 8)[7], 2.5);
        assert_eq!(from_symbol!(c"zeros", u32, 3), [0, 9, 0]);
        let y = put!([-1f32; 10]);
        ok!(start!(read, 1, 1, [y]));
        assert_eq!(fetch!(y, f32, 10)[1..4], [2.0, -1.0, 609.0]);
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn hidden_arguments_stand_beside_structs() {
        let _guard = guard();
        let module = load!(MAKES);
        let cell = [5, 1f32.to_bits(), 2.5f32.to_bits()];
        ok!(start!(function!(module, c"take"), 1, 1, [cell]));
        assert_eq!((from_symbol!(c"counter", i32, 1), from_symbol!(c"vectors", f32, 1)), (vec![5], vec![2.5]));
        ok!(module_unload(module));
    }

    fn a_kernel_with_nothing_but_symbols_takes_no_list() {
        let _guard = guard();
        let module = load!(MAKES);
        let count = function!(module, c"count");
        for _ in 0..10 {
            let (grid, block) = (dim3::from(4), dim3::from(16));
            ok!(unsafe { launch_kernel(count.cast(), grid, block, null_mut(), 0, LEGACY) });
        }
        assert_eq!(from_symbol!(c"counter", i32, 1), [640]);
        ok!(module_unload(module));
    }

    fn null_is_neither_a_symbol_nor_a_place_for_a_result() {
        let _guard = guard();
        let module = load!(MAKES);
        let (mut data, symbol) = ([-1i32; 1], c"matrix".as_ptr().cast());
        let (mut address, mut bytes) = (null_mut(), 77);
        fails!(unsafe { get_symbol_size(null_mut(), symbol) }, INVALID_VALUE, "size = null");
        fails!(unsafe { get_symbol_address(null_mut(), symbol) }, INVALID_VALUE, "devPtr = null");
        let text = "symbol = 0x0: the pointer is null";
        fails!(unsafe { get_symbol_size(&mut bytes, null()) }, INVALID_SYMBOL, text);
        fails!(unsafe { get_symbol_address(&mut address, null()) }, INVALID_SYMBOL, text);
        let from = data.as_ptr().cast();
        fails!(unsafe { memcpy_to_symbol(null(), from, 4, 0, HOST_TO_DEVICE) }, INVALID_SYMBOL, text);
        fails!(
            unsafe { memcpy_from_symbol(data.as_mut_ptr().cast(), null(), 4, 0, DEVICE_TO_HOST) },
            INVALID_SYMBOL,
            text,
        );
        fails!(unsafe { memcpy_to_symbol(symbol, null(), 4, 0, HOST_TO_DEVICE) }, INVALID_VALUE, "src = null");
        fails!(unsafe { memcpy_from_symbol(null_mut(), symbol, 4, 0, DEVICE_TO_HOST) }, INVALID_VALUE, "dst = null");
        assert!(address.is_null() && bytes == 77 && data == [-1], "nothing is written");
        assert_eq!(from_symbol!(c"matrix", i32, 1), [1]);
        ok!(module_unload(module));
    }

    fn a_pointer_that_cannot_be_read_is_no_symbol() {
        let _guard = guard();
        let module = load!(MAKES);
        let page = Pages::new();
        let data = [1.0f32; 300];
        let long = [b'x'; 300];
        let pointers = [1, 0xdead_0000, usize::MAX, usize::MAX - 300, page.unreadable(), data.as_ptr().addr()];
        let texts = [long.as_ptr(), c"".as_ptr().cast(), c"\xff\xfe".as_ptr().cast(), page.end_with(b"matrix")];
        let texts = texts.into_iter().map(<*const u8>::addr);
        for address in pointers.into_iter().chain(texts) {
            let pointer: *const std::ffi::c_void = std::ptr::without_provenance(address);
            let text = format!("symbol = {address:#x}: it does not point at the name of a symbol");
            let mut to = [77f32];
            fails!(size!(pointer).0, INVALID_SYMBOL, &text, "name of a symbol of a loaded module");
            fails!(
                unsafe { memcpy_from_symbol(to.as_mut_ptr().cast(), pointer, 4, 0, DEVICE_TO_HOST) },
                INVALID_SYMBOL,
                &text,
            );
            fails!(
                unsafe { memcpy_to_symbol(pointer, data.as_ptr().cast(), 4, 0, HOST_TO_DEVICE) },
                INVALID_SYMBOL,
                &text,
            );
            assert_eq!(to, [77.0]);
        }
        assert_eq!(size!(page.end_with(b"matrix\0")), (SUCCESS, 24), "readable up to the last byte");
        ok!(module_unload(module));
    }

    fn a_name_that_no_module_has_is_no_symbol() {
        let _guard = guard();
        fails!(size!(c"lonely".as_ptr()).0, INVALID_SYMBOL, "symbol = \"lonely\"", "no loaded module");
        let module = load!(format!("__device__ int lonely;{MAKES}"));
        for name in [c"read", c"row", c"cell", c"Lonely", c"lonely ", c"gridcl_sym_lonely"] {
            fails!(size!(name.as_ptr()).0, INVALID_SYMBOL, &format!("symbol = {name:?}"));
        }
        assert_eq!(size!(c"lonely".as_ptr()), (SUCCESS, 4));
        ok!(module_unload(module));
        fails!(size!(c"lonely".as_ptr()).0, INVALID_SYMBOL, "symbol = \"lonely\"", "no loaded module");
        fails!(to_symbol!(c"lonely", [1f32], 0), INVALID_SYMBOL, "MemcpyToSymbol", "lonely");
    }

    fn every_module_has_its_own_storage_and_the_last_one_answers_to_the_name() {
        let _guard = guard();
        let (first, second) = (load!(valued(1)), load!(valued(2)));
        let (get_first, get_second) = (function!(first, c"get"), function!(second, c"get"));
        let global = |module| {
            let mut address = null_mut();
            ok!(unsafe { module_get_global(&mut address, null_mut(), module, c"value".as_ptr()) });
            address
        };
        assert_ne!(global(first), global(second));
        assert_eq!(address!(c"value"), global(second));
        ok!(to_symbol!(c"value", [20i32], 0));
        let y = put!([0i32; 2]);
        ok!(start!(get_first, 1, 1, [y]));
        assert_eq!(fetch!(y, i32, 1), [1]);
        ok!(start!(get_second, 1, 1, [y]));
        assert_eq!(fetch!(y, i32, 1), [20]);
        ok!(module_unload(second));
        assert_eq!(address!(c"value"), global(first), "the one that is left answers");
        assert_eq!(from_symbol!(c"value", i32, 1), [1]);
        let third = load!(valued(3));
        assert_eq!(from_symbol!(c"value", i32, 1), [3]);
        ok!(module_unload(first));
        assert_eq!(from_symbol!(c"value", i32, 1), [3]);
        ok!(module_unload(third));
        fails!(size!(c"value".as_ptr()).0, INVALID_SYMBOL);
        ok!(free(y));
    }

    fn a_later_module_without_the_symbol_does_not_hide_it() {
        let _guard = guard();
        let first = load!(valued(1));
        let text = "#ifdef NEVER\n__device__ int value = 9;\n#endif\n__kernel void k(__global int *y) { y[0] = 0; }";
        let second = load!(text);
        assert_eq!(from_symbol!(c"value", i32, 1), [1]);
        ok!(module_unload(second));
        ok!(module_unload(first));
    }

    fn a_symbols_address_is_device_memory() {
        let _guard = guard();
        let module = load!(MAKES);
        let other = load!("__kernel void add(__global int *x, int by) { x[get_global_id(0)] += by; }");
        let matrix = address!(c"matrix");
        ok!(start!(function!(other, c"add"), 1, 6, [matrix, 100i32]));
        assert_eq!(fetch!(matrix, i32, 6), [101, 102, 103, 104, 105, 106]);
        ok!(unsafe { memset(matrix.byte_add(4), 0, 8) });
        assert_eq!(from_symbol!(c"matrix", i32, 6), [101, 0, 0, 104, 105, 106]);
        let data = [1i32; 8];
        fails!(
            unsafe { memcpy(matrix, data.as_ptr().cast(), 28, HOST_TO_DEVICE) },
            INVALID_VALUE,
            "has 24 bytes",
        );
        ok!(module_unload(module));
        fails!(unsafe { memcpy(matrix, data.as_ptr().cast(), 4, HOST_TO_DEVICE) }, INVALID_VALUE, "was freed");
        ok!(module_unload(other));
    }

    fn a_symbols_storage_cannot_be_freed() {
        let _guard = guard();
        let module = load!(MAKES);
        let matrix = address!(c"matrix");
        let text = format!("ptr = {matrix:p}: it is the storage of a module's symbol; it goes with the module");
        fails!(free(matrix), INVALID_DEVICE_POINTER, &text);
        assert_eq!(from_symbol!(c"matrix", i32, 6), [1, 2, 3, 4, 5, 6]);
        ok!(module_unload(module));
        fails!(free(matrix), INVALID_DEVICE_POINTER, "free already");
    }

    fn a_symbol_may_point_at_device_memory() {
        let _guard = guard();
        if device().memory_form() == "buffer" {
            eprintln!("skipped: addresses of buffers mean nothing to kernels");
            return;
        }
        let module = load!(
            "__device__ __global float *where, *const fixed = 0;
            __kernel void follow(float x) { where[1] = fixed == 0 ? x : -1; }"
        );
        let y = put!([0f32; 2]);
        ok!(to_symbol!(c"where", [y], 0));
        ok!(start!(function!(module, c"follow"), 1, 1, [4.5f32]));
        assert_eq!(fetch!(y, f32, 2), [0.0, 4.5]);
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn symbols_die_with_their_device() {
        let _guard = guard();
        let module = load!(valued(1));
        ok!(device_reset());
        fails!(size!(c"value".as_ptr()).0, INVALID_SYMBOL, "symbol = \"value\"");
        fails!(module_unload(module), INVALID_HANDLE);
        let again = load!(valued(2));
        assert_eq!(from_symbol!(c"value", i32, 1), [2]);
        ok!(module_unload(again));
    }

    fn each_device_has_a_symbol_of_its_own() {
        let _guard = guard();
        if Device::count() < 2 {
            eprintln!("skipped: this takes two devices");
            return;
        }
        let module = load!(valued(5));
        let get = function!(module, c"get");
        let here = address!(c"value");
        ok!(to_symbol!(c"value", [6i32], 0));
        ok!(set_device(1));
        let there = address!(c"value");
        assert_ne!(here, there);
        assert_eq!(from_symbol!(c"value", i32, 1), [5], "the initial value, whatever the other device has by now");
        ok!(to_symbol!(c"value", [7i32], 0));
        let mut global = null_mut();
        ok!(unsafe { module_get_global(&mut global, null_mut(), module, c"value".as_ptr()) });
        assert_eq!(global, there);
        for (ordinal, value) in [(0, 6), (1, 7), (0, 6)] {
            ok!(set_device(ordinal));
            let y = put!([0i32; 4]);
            ok!(start!(get, 1, 4, [y]));
            assert_eq!(fetch!(y, i32, 4), [value; 4]);
            assert_eq!(from_symbol!(c"value", i32, 1), [value]);
            ok!(free(y));
        }
        ok!(module_unload(module));
    }

    fn the_module_loaded_last_on_the_current_device_answers_to_a_name() {
        let _guard = guard();
        if Device::count() < 2 {
            eprintln!("skipped: this takes two devices");
            return;
        }
        let here = load!(valued(1));
        ok!(set_device(1));
        assert_eq!(from_symbol!(c"value", i32, 1), [1], "no module was loaded here, so the other device's will do");
        let there = load!(valued(2));
        assert_eq!(from_symbol!(c"value", i32, 1), [2]);
        ok!(set_device(0));
        assert_eq!(from_symbol!(c"value", i32, 1), [1]);
        ok!(module_unload(here));
        assert_eq!(from_symbol!(c"value", i32, 1), [2]);
        ok!(module_unload(there));
    }
}

mod tops_alone {
    use super::*;
    use crate::dialects::tops::*;
    use gridcl::tops::topsMemcpyToSymbol;

    /// TOPS 7.1: "initialises constant memory with an array of host memory".
    #[test]
    fn the_documents_example_fills_constant_memory() {
        let _guard = guard();
        let module = load!(
            "__constant__ float constData[256];
            __kernel void copy(__global float *y) { y[get_global_id(0)] = constData[get_global_id(0)]; }"
        );
        let const_data: *const std::ffi::c_void = c"constData".as_ptr().cast();
        let data: [f32; 256] = std::array::from_fn(|i| i as f32 * 0.25);
        ok!(unsafe { topsMemcpyToSymbol(const_data, data.as_ptr().cast(), size_of_val(&data), 0, HOST_TO_DEVICE) });
        assert_eq!(size!(const_data), (SUCCESS, 1024));
        let y = put!([0f32; 256]);
        ok!(start!(function!(module, c"copy"), 4, 64, [y]));
        assert_eq!(fetch!(y, f32, 256), data);
        ok!(module_unload(module));
        ok!(free(y));
    }
}

#[test]
fn the_safe_api_writes_and_reads_symbols_in_stream_order() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let text = "__device__ int counts[4]; __kernel void count(int by) { counts[get_global_id(0)] += by; }";
    let module = gridcl::Module::from_source(device(), text).unwrap();
    let count = module.kernel("count").unwrap();
    let gate = gridcl::testing::Gate::close(&stream).unwrap();
    let mut data = [1, 2, 3];
    module.write_symbol(&stream, "counts", &data).unwrap();
    data = [0; 3];
    unsafe { gridcl::launch!(count<<<1, 4, 0, &stream>>>(10)) }.unwrap();
    gate.open();
    let mut all = [0; 4];
    module.read_symbol(&stream, "counts", &mut all).unwrap();
    assert_eq!((all, data), ([11, 12, 13, 10], [0; 3]));
    let error = module.write_symbol(&stream, "counts", &[0; 5]).unwrap_err();
    assert_eq!(error.kind(), gridcl::ErrorKind::InvalidValue);
    assert!(error.to_string().contains("data = 20 bytes: counts has 16 bytes"), "{error}");
    let error = module.read_symbol(&stream, "missing", &mut [0u8]).unwrap_err();
    assert_eq!(error.kind(), gridcl::ErrorKind::NotFound);
    module.read_symbol(&stream, "counts", &mut all).unwrap();
    assert_eq!(all, [11, 12, 13, 10], "nothing was written");
}
