//! Modules: text to kernels, and what is wrong with a text (the launches of both seeds need them; behaviour.md 3.10
//! ModuleLoad and ModuleLoadData, 1.6 "Codes"). What a loaded module gives is in `module_parts`.

use gridcl::testing::{Gate, guard, live};
use gridcl::{Device, DeviceBuffer, ErrorKind, Module as SafeModule};
use std::ffi::CString;
use std::path::PathBuf;
use std::ptr::null_mut;

use crate::support::{device, in_time};

/// Kernels that tell which text they are from.
pub const SEVEN: &str = "
int seven() { return 7; }
__kernel void put(__global int *y) { y[get_global_id(0)] = seven(); }
__kernel void twice(__global int *y) { y[get_global_id(0)] *= 2; }
";

/// Does not build; the third line is to blame.
const BROKEN: &str = "__kernel void put(__global int *y)\n{\n    y[0] = nobody_knows_this;\n}\n";

/// Symbols of both kinds beside a constant of OpenCL C's own, which is none.
pub const SYMBOLS: &str = "
__constant__ float table[6] = {1, 2, 3, 4, 5, 6};
__device__ long total;
__constant int native[2] = {1, 2};
__kernel void sum(__global float *y) { y[0] = table[5] + native[1]; total += 1; }
";

/// Texts without a kernel, although some seem to have one.
const KERNELLESS: [&str; 5] = [
    "",
    " \n",
    "int helper(int x) { return x; }",
    "// __kernel void k(__global int *y) {}\nint helper(int x) { return x; }",
    "#if 0\n__kernel void k(__global int *y) { y[0] = 1; }\n#endif\nint helper(int x) { return x; }",
];

/// A file that is gone with the test.
pub struct File(pub PathBuf);

impl File {
    pub fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("gridcl-test-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }

    pub fn name(&self) -> CString {
        CString::new(self.0.to_str().unwrap()).unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The text of a kernel that puts `value`.
fn putting(value: usize) -> String {
    format!("__kernel void put(__global int *y) {{ y[get_global_id(0)] = {value}; }}")
}

both_dialects! {
    fn a_text_is_loaded_and_its_kernels_run() {
        let _guard = guard();
        let module = load!(SEVEN);
        let (first, second) = (function!(module, c"put"), function!(module, c"twice"));
        let y = put!([0i32; 8]);
        ok!(start!(first, 2, 4, [y]));
        ok!(start!(second, 2, 4, [y]));
        assert_eq!(fetch!(y, i32, 8), [14; 8]);
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn a_module_keeps_nothing_of_the_callers_text() {
        let _guard = guard();
        let mut text = CString::new(SEVEN).unwrap().into_bytes_with_nul();
        let mut module = null_mut();
        ok!(unsafe { module_load_data(&mut module, text.as_ptr().cast()) });
        text.fill(b'#');
        let y = put!([0i32; 1]);
        ok!(start!(function!(module, c"put"), 1, 1, [y]));
        assert_eq!(fetch!(y, i32, 1), [7]);
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn a_text_that_does_not_build_is_shown_with_its_line_and_the_log() {
        let _guard = guard();
        let untouched: Module = std::ptr::without_provenance_mut(0x5a5a);
        let mut module = untouched;
        let text = CString::new(BROKEN).unwrap();
        fails!(
            unsafe { module_load_data(&mut module, text.as_ptr().cast()) },
            BUILD_FAILED,
            "ModuleLoadData: ",
            "kernel.cl:3:",
            "nobody_knows_this",
            "    y[0] = nobody_knows_this;",
            "the compiler's log:",
            "clBuildProgram",
        );
        assert_eq!(module, untouched, "nothing is written");
        ok!(module_unload(load!(SEVEN)));
    }

    fn an_error_in_a_text_with_symbols_shows_the_text_as_it_was_written() {
        let _guard = guard();
        let mut module: Module = null_mut();
        let text = c"__constant__ float t[2] = {1,\n2};\n\
            __kernel void k(__global float *y) {\n    y[0] = t[0] + nothing;\n}";
        fails!(
            unsafe { module_load_data(&mut module, text.as_ptr().cast()) },
            BUILD_FAILED,
            "kernel.cl:4:",
            "        y[0] = t[0] + nothing;",
        );
    }

    fn other_alphabets_and_line_ends_keep_their_lines() {
        let _guard = guard();
        let text = "// \u{e9} \u{6f22}\r\n__device__ int t[2] = {1, 2}; /* \u{1f980} */\r\n\
            __kernel void k(__global int *y) {\r\n    y[0] = t[1];\r\n}\r\n";
        let module = load!(text);
        let y = put!([0i32; 1]);
        ok!(start!(function!(module, c"k"), 1, 1, [y]));
        assert_eq!(fetch!(y, i32, 1), [2]);
        ok!(module_unload(module));
        ok!(free(y));
        let broken = CString::new(text.replace("t[1]", "nobody_knows_this")).unwrap();
        let mut module: Module = null_mut();
        fails!(
            unsafe { module_load_data(&mut module, broken.as_ptr().cast()) },
            BUILD_FAILED,
            "kernel.cl:4:",
            "        y[0] = nobody_knows_this;",
        );
    }

    fn a_function_that_nobody_defines_is_a_build_error() {
        let _guard = guard();
        let mut module: Module = null_mut();
        let text = c"int f(int);\n__kernel void k(__global int *y) { y[0] = f(2); }";
        fails!(
            unsafe { module_load_data(&mut module, text.as_ptr().cast()) },
            BUILD_FAILED,
            "kernel.cl does not build",
        );
        assert!(module.is_null());
    }

    fn a_symbol_that_cannot_be_declared_so_is_a_build_error_with_its_line() {
        let _guard = guard();
        let mut module: Module = null_mut();
        let text = c"\n__device__ int n[];\n__kernel void k(__global int *y) { y[0] = n[0]; }";
        fails!(
            unsafe { module_load_data(&mut module, text.as_ptr().cast()) },
            BUILD_FAILED,
            "kernel.cl:2: the length of `n` is missing",
            "    __device__ int n[];",
        );
        assert!(module.is_null());
    }

    fn a_text_without_a_kernel_is_no_image() {
        let _guard = guard();
        let mut module: Module = null_mut();
        for text in KERNELLESS {
            let image = CString::new(text).unwrap();
            fails!(
                unsafe { module_load_data(&mut module, image.as_ptr().cast()) },
                INVALID_IMAGE,
                "kernel.cl defines no kernel",
                "__kernel",
            );
            assert!(module.is_null(), "{text:?}");
        }
    }

    fn bytes_that_are_not_text_are_no_image() {
        let _guard = guard();
        let mut module: Module = null_mut();
        for bytes in [c"\x7fELF\x02\xff\xfe", c"__kernel void k(__global int *y) { } // \xc3\x28"] {
            fails!(
                unsafe { module_load_data(&mut module, bytes.as_ptr().cast()) },
                INVALID_IMAGE,
                "image = ",
                "not UTF-8",
            );
        }
        assert!(module.is_null());
    }

    fn load_data_takes_no_null() {
        let _guard = guard();
        let text = CString::new(SEVEN).unwrap();
        fails!(unsafe { module_load_data(null_mut(), text.as_ptr().cast()) }, INVALID_VALUE, "module = null");
        let mut module: Module = null_mut();
        fails!(unsafe { module_load_data(&mut module, std::ptr::null()) }, INVALID_VALUE, "image = null");
        assert!(module.is_null());
    }

    fn a_file_is_loaded() {
        let _guard = guard();
        let file = File::new(&format!("{NAME}-good.cl"), SEVEN.as_bytes());
        let mut module = null_mut();
        ok!(unsafe { module_load(&mut module, file.name().as_ptr()) });
        drop(file);
        let y = put!([0i32; 3]);
        ok!(start!(function!(module, c"put"), 3, 1, [y]));
        assert_eq!(fetch!(y, i32, 3), [7; 3]);
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn a_file_that_does_not_build_is_named_with_its_line() {
        let _guard = guard();
        let file = File::new(&format!("{NAME}-broken.cl"), BROKEN.as_bytes());
        let mut module: Module = null_mut();
        fails!(
            unsafe { module_load(&mut module, file.name().as_ptr()) },
            BUILD_FAILED,
            "ModuleLoad: ",
            &format!("{}:3:", file.0.display()),
            "    y[0] = nobody_knows_this;",
        );
        assert!(module.is_null());
    }

    fn a_file_that_cannot_be_read_is_not_found() {
        let _guard = guard();
        let mut module: Module = null_mut();
        let missing = std::env::temp_dir().join("gridcl/no such folder/kernel.cl");
        let folder = std::env::temp_dir();
        for path in [missing, folder] {
            let name = CString::new(path.to_str().unwrap()).unwrap();
            fails!(
                unsafe { module_load(&mut module, name.as_ptr()) },
                FILE_NOT_FOUND,
                &format!("path = {}: the file cannot be read", path.display()),
                "os error",
            );
        }
        assert!(module.is_null());
    }

    fn a_file_without_a_kernel_or_without_text_is_no_image() {
        let _guard = guard();
        let mut module: Module = null_mut();
        for (what, bytes) in [
            ("empty", &b""[..]),
            ("helper", b"int helper(int x) { return x; }"),
            ("binary", b"\x7fELF\x02\x01\xff\xfe__kernel"),
        ] {
            let file = File::new(&format!("{NAME}-{what}"), bytes);
            let name = file.name();
            fails!(
                unsafe { module_load(&mut module, name.as_ptr()) },
                INVALID_IMAGE,
                file.0.to_str().unwrap(),
            );
        }
        assert!(module.is_null());
    }

    fn load_takes_neither_null_nor_an_empty_path() {
        let _guard = guard();
        let mut module: Module = null_mut();
        fails!(unsafe { module_load(null_mut(), c"k.cl".as_ptr()) }, INVALID_VALUE, "module = null");
        fails!(unsafe { module_load(&mut module, std::ptr::null()) }, INVALID_VALUE, "fname = null");
        fails!(unsafe { module_load(&mut module, c"".as_ptr()) }, INVALID_VALUE, "fname = \"\"", "empty");
        assert!(module.is_null());
    }

    fn loading_waits_for_no_stream() {
        let _guard = guard();
        let gate = Gate::close(&device().default_stream().unwrap()).unwrap();
        let module = in_time("a load beside a gated stream", || {
            let module = load!(SYMBOLS);
            function!(module, c"sum");
            module.addr()
        });
        gate.open();
        ok!(module_unload(std::ptr::without_provenance_mut(module)));
    }

    fn many_threads_load_and_launch_at_once() {
        let _guard = guard();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                scope.spawn(move || {
                    for round in 0..2 {
                        let value = 100 * round + thread;
                        let module = load!(putting(value));
                        let y = put!([-1i32; 64]);
                        ok!(start!(function!(module, c"put"), 4, 16, [y]));
                        assert_eq!(fetch!(y, i32, 64), [value as i32; 64]);
                        ok!(module_unload(module));
                        ok!(free(y));
                    }
                });
            }
        });
    }

    fn threads_get_the_errors_of_their_own_texts() {
        let _guard = guard();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                scope.spawn(move || {
                    let name = format!("nobody_{thread}");
                    let text = CString::new(BROKEN.replace("nobody_knows_this", &name)).unwrap();
                    let mut module: Module = null_mut();
                    fails!(
                        unsafe { module_load_data(&mut module, text.as_ptr().cast()) },
                        BUILD_FAILED,
                        "kernel.cl:3:",
                        &format!("y[0] = {name};"),
                        &format!("'{name}'"),
                    );
                    assert!(module.is_null());
                });
            }
        });
    }

    fn each_device_builds_a_module_at_its_first_use_there() {
        let _guard = guard();
        if Device::count() < 2 {
            eprintln!("skipped: this takes two devices");
            return;
        }
        let none = live().programs;
        let module = load!(SEVEN);
        let put = function!(module, c"put");
        assert_eq!(live().programs, none + 1, "built for the current device at once, and for no other");
        ok!(set_device(1));
        let y = put!([0i32; 4]);
        assert_eq!(live().programs, none + 1);
        ok!(start!(put, 1, 4, [y]));
        assert_eq!(fetch!(y, i32, 4), [7; 4]);
        assert_eq!(live().programs, none + 2);
        ok!(start!(put, 1, 4, [y]));
        assert_eq!(live().programs, none + 2, "the second launch finds the build");
        ok!(module_unload(module));
        assert_eq!(live().programs, none, "both builds go with the module");
        ok!(free(y));
        ok!(set_device(0));
    }

    fn a_module_is_loaded_for_the_device_that_is_current() {
        let _guard = guard();
        if Device::count() < 2 {
            eprintln!("skipped: this takes two devices");
            return;
        }
        ok!(set_device(1));
        let mut module: Module = null_mut();
        let broken = CString::new(BROKEN).unwrap();
        fails!(unsafe { module_load_data(&mut module, broken.as_ptr().cast()) }, BUILD_FAILED, "on device 1");
        ok!(set_device(0));
        fails!(unsafe { module_load_data(&mut module, broken.as_ptr().cast()) }, BUILD_FAILED, "on device 0");
    }
}

#[test]
fn options_reach_the_compiler() {
    let _guard = guard();
    let text = "#ifdef LATE\n#define N 1\n#endif\n__kernel void put(__global int *y) { y[get_global_id(0)] = N; }";
    let stream = device().create_stream().unwrap();
    for (options, value) in [("-DN=16", 16), ("-D N=-3 -cl-fast-relaxed-math", -3), ("  -DLATE ", 1)] {
        let module = SafeModule::with_options(device(), text, options).unwrap();
        let y = DeviceBuffer::<i32>::zeroed(&stream, 4).unwrap();
        unsafe { module.kernel("put").unwrap().launch(1, 4).stream(&stream).arg(&y).run() }.unwrap();
        assert_eq!(y.to_vec(&stream).unwrap(), [value; 4], "{options}");
    }
    let error = SafeModule::from_source(device(), text).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BuildFailed, "{error}");
    assert!(error.to_string().contains("kernel.cl:4:"), "{error}");
}

#[test]
fn options_that_the_compiler_does_not_know_are_an_invalid_value() {
    let _guard = guard();
    let error = SafeModule::with_options(device(), SEVEN, "-no-such-option").unwrap_err();
    // NVIDIA's driver (580) tells a wrong option and a wrong text alike.
    let expected =
        if device().vendor().starts_with("NVIDIA") { ErrorKind::BuildFailed } else { ErrorKind::InvalidValue };
    assert_eq!(error.kind(), expected, "{error}");
    assert!(error.to_string().contains("-no-such-option"), "{error}");
    assert!(SafeModule::from_source(device(), SEVEN).is_ok());
}

#[test]
fn a_module_tells_what_it_has() {
    let _guard = guard();
    let module = SafeModule::from_source(device(), SYMBOLS).unwrap();
    assert_eq!(module.kernel_names().unwrap(), ["sum"]);
    assert_eq!(module.symbol_names().collect::<Vec<_>>(), ["table", "total"]);
    let kernel = module.kernel("sum").unwrap();
    assert_eq!(kernel.name(), "sum");
    let error = module.kernel("product").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("\"product\"") && error.to_string().contains("it has: sum"), "{error}");
}

#[test]
fn a_kernel_keeps_its_module() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let kernel = SafeModule::from_source(device(), SYMBOLS).unwrap().kernel("sum").unwrap();
    let y = DeviceBuffer::<f32>::zeroed(&stream, 1).unwrap();
    unsafe { kernel.launch(1, 1).stream(&stream).arg(&y).run() }.unwrap();
    drop(kernel);
    assert_eq!(y.to_vec(&stream).unwrap(), [8.0]);
}

#[test]
fn a_module_of_a_file_is_called_after_it() {
    let _guard = guard();
    let file = File::new("safe.cl", SEVEN.as_bytes());
    let module = SafeModule::from_file(device(), &file.0).unwrap();
    let error = module.kernel("nothing").unwrap_err().to_string();
    assert!(error.contains(file.0.to_str().unwrap()), "{error}");
    let error = SafeModule::from_file(device(), "no such file").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileNotFound, "{error}");
}
