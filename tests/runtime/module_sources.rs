//! Modules put together from texts and files, with include folders, definitions and options; lazy builds; what the
//! compiler tells of types (behaviour.md 3.10, 1.6 "Codes").

use gridcl::testing::{OwnCache, guard, live};
use gridcl::{DeviceBuffer, ErrorKind, Kernel, Module as SafeModule, launch};
use std::path::{Path, PathBuf};

use crate::support::device;

/// A folder of files that is gone with the test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// What a kernel of one work item writes to its only argument.
fn run(kernel: &Kernel) -> Vec<f32> {
    let stream = device().create_stream().unwrap();
    let y = DeviceBuffer::<f32>::zeroed(&stream, 4).unwrap();
    unsafe { kernel.launch(1, 1).stream(&stream).arg(&y).run() }.unwrap();
    y.to_vec(&stream).unwrap()
}

fn error_of(built: gridcl::Result<SafeModule>) -> (ErrorKind, String) {
    let error = built.expect_err("it does not build");
    (error.kind(), error.to_string())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn files_with_includes_and_definitions_become_one_module() {
    let _guard = guard();
    let folder = Folder::new(&[
        ("a.cl", "#include \"sub/tables.h\"\n__kernel void first(__global float *y) { y[0] = pick(1); y[1] = N; }"),
        ("b.cl", "#include <common.h>\n__kernel void second(__global float *y) { y[0] = TWICE(table[0]); }\n"),
        ("sub/tables.h", "#pragma once\n#include \"pick.h\"\n"),
        ("sub/pick.h", "#pragma once\n__constant__ float table[2] = {3, 4};\nfloat pick(int i) { return table[i]; }\n"),
        ("inc/common.h", "#ifndef COMMON\n#define COMMON\n#define TWICE(x) TIMES2(x)\n#endif\n"),
    ]);
    let module = SafeModule::builder(device())
        .file(folder.path("a.cl"))
        .file(folder.path("b.cl"))
        .source("c.cl", "#include \"common.h\"\n__kernel void third(__global float *y) { y[0] = TWICE(N) + OPTION; }")
        .include_dir(folder.path("inc"))
        .define("N", 7)
        .define("TIMES2(x)", "((x) * 2)")
        .option("-DOPTION=0.5f")
        .build()
        .unwrap();
    assert_eq!(module.kernel_names().unwrap().len(), 3);
    assert_eq!(module.symbol_names().collect::<Vec<_>>(), ["table"], "a symbol of an included file");
    assert_eq!(run(&module.kernel("first").unwrap())[..2], [4.0, 7.0]);
    assert_eq!(run(&module.kernel("second").unwrap())[0], 6.0);
    assert_eq!(run(&module.kernel("third").unwrap())[0], 14.5);
}

#[test]
fn errors_name_the_file_and_line_that_the_user_wrote() {
    let _guard = guard();
    let folder = Folder::new(&[
        ("main.cl", "#include \"deep/a.h\"\n\n__kernel void k(__global float *y) {\n    y[0] = missing_here;\n}\n"),
        ("deep/a.h", "#include \"b.h\"\nfloat a() { return b(); }\n"),
        ("deep/b.h", "// one\n__constant__ float t[2] = {1,\n2};\nfloat b() {\n    return t[0] + missing_there;\n}\n"),
    ]);
    let (kind, text) = error_of(SafeModule::from_file(device(), folder.path("main.cl")));
    assert_eq!(kind, ErrorKind::BuildFailed, "{text}");
    for expected in [
        format!("{}:5:", shown(&folder.path("deep/b.h"))),
        "        return t[0] + missing_there;".to_owned(),
        format!("{}:4:", shown(&folder.path("main.cl"))),
        "        y[0] = missing_here;".to_owned(),
        format!("{} does not build", shown(&folder.path("main.cl"))),
    ] {
        assert!(text.contains(&expected), "{expected}\n{text}");
    }
    let first = text.split("the compiler's log").next().unwrap();
    assert!(!first.contains("tempfile") && !first.contains("<kernel>"), "{first}");
}

#[test]
fn every_text_of_several_has_lines_of_its_own() {
    let _guard = guard();
    let built = SafeModule::builder(device())
        .define("X", "1")
        .source("one.cl", "float one() { return 1; }\n\n")
        .source("two.cl", "\n__kernel void k(__global float *y) { y[0] = nobody; }")
        .build();
    let (_, text) = error_of(built);
    assert!(text.contains("two.cl:2:") && text.contains("    __kernel void k"), "{text}");
}

#[test]
fn errors_of_symbols_name_their_file_too() {
    let _guard = guard();
    let folder = Folder::new(&[("a.h", "\n__device__ int n[];\n")]);
    let text = "#include \"a.h\"\n__kernel void k(__global int *y) { y[0] = n[0]; }";
    let built = SafeModule::builder(device()).source("k.cl", text).include_dir(folder.0.path()).build();
    let (kind, text) = error_of(built);
    assert_eq!(kind, ErrorKind::BuildFailed);
    assert!(text.contains(&format!("{}:2: the length of `n` is missing", shown(&folder.path("a.h")))), "{text}");
    let twice = SafeModule::builder(device())
        .source("one.cl", "\n\n__device__ int n;")
        .source("two.cl", "\n__device__ int n;\n__kernel void k(__global int *y) { y[0] = n; }")
        .build();
    let (_, text) = error_of(twice);
    assert!(text.contains("two.cl:2: `n` is defined a second time; remove one (first in one.cl:3)"), "{text}");
}

#[test]
fn files_that_include_each_other_without_a_guard_are_an_error() {
    let _guard = guard();
    let folder = Folder::new(&[("k.cl", "#include \"a.h\"\n"), ("a.h", "#include \"k.cl\"\n")]);
    let (kind, text) = error_of(SafeModule::from_file(device(), folder.path("k.cl")));
    assert_eq!(kind, ErrorKind::BuildFailed, "{text}");
    assert!(text.contains("includes itself") && text.contains("#pragma once"), "{text}");
}

#[test]
fn what_gridcl_does_not_find_the_driver_may() {
    let _guard = guard();
    let folder = Folder::new(&[("a.h", "#define VALUE 5\n")]);
    let text = "#define NAME \"a.h\"\n#include NAME\n__kernel void k(__global float *y) { y[0] = VALUE; }";
    let module = SafeModule::builder(device()).source("k.cl", text).include_dir(folder.0.path()).build().unwrap();
    assert_eq!(run(&module.kernel("k").unwrap())[0], 5.0);
    // The same folder by the compiler's own option.
    let text = text.replace("NAME\n", "\"a.h\"\n");
    let module = SafeModule::with_options(device(), &text, &format!("-I {}", shown(folder.0.path()))).unwrap();
    assert_eq!(run(&module.kernel("k").unwrap())[0], 5.0);
    let (kind, text) = error_of(SafeModule::from_source(device(), &text));
    assert_eq!(kind, ErrorKind::BuildFailed);
    assert!(text.contains("a.h"), "{text}");
}

#[test]
fn files_that_are_missing_or_no_text_are_told_apart() {
    let _guard = guard();
    let folder = Folder::new(&[]);
    let (kind, text) = error_of(SafeModule::builder(device()).file(folder.path("none.cl")).build());
    assert_eq!(kind, ErrorKind::FileNotFound);
    assert!(text.contains("none.cl"), "{text}");
    std::fs::write(folder.path("bytes"), b"\xff\xfe").unwrap();
    let (kind, text) = error_of(SafeModule::builder(device()).file(folder.path("bytes")).build());
    assert_eq!(kind, ErrorKind::InvalidImage);
    assert!(text.contains("not text"), "{text}");
    let (kind, _) = error_of(SafeModule::builder(device()).build());
    assert_eq!(kind, ErrorKind::InvalidImage, "no text at all");
    let (kind, _) = error_of(SafeModule::builder(device()).define("A\nB", 1).build());
    assert_eq!(kind, ErrorKind::InvalidValue);
}

#[test]
fn a_lazy_module_is_built_at_its_first_use() {
    let _guard = guard();
    let none = live().programs;
    let text = "__kernel void k(__global float *y) { y[0] = 2; }";
    let module = SafeModule::builder(device()).source("k.cl", text).lazy(true).build().unwrap();
    assert_eq!(live().programs, none);
    assert_eq!(run(&module.kernel("k").unwrap())[0], 2.0);
    assert_eq!(live().programs, none + 1);
    let broken = SafeModule::builder(device()).source("k.cl", text.replace('2', "nobody")).lazy(true).build().unwrap();
    let error = broken.kernel("k").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BuildFailed);
    assert!(error.to_string().contains("k.cl:1:"), "{error}");
    assert_eq!(broken.kernel("k").unwrap_err().kind(), ErrorKind::BuildFailed, "each use says so");
    let empty = SafeModule::builder(device()).source("k.cl", "#if 0\n__kernel void k() {}\n#endif").lazy(true).build();
    assert_eq!(empty.unwrap().kernel("k").unwrap_err().kind(), ErrorKind::InvalidImage);
}

#[test]
fn a_type_that_names_a_vector_of_three_takes_three_components() {
    let _guard = guard();
    let text = "
        typedef float3 position;
        typedef position place;
        typedef struct { float x, y, z, w; } vec3;
        #define SPOT uchar3
        typedef const SPOT spot;
        __kernel void k(__global float *y, place p, spot s, vec3 v, position q) {
            y[0] = p.x + p.y * 10 + p.z * 100; y[1] = s.x + s.y * 10 + s.z * 100; y[2] = v.z; y[3] = q.z;
        }";
    let kernel = SafeModule::from_source(device(), text).unwrap().kernel("k").unwrap();
    let stream = device().create_stream().unwrap();
    let y = DeviceBuffer::<f32>::zeroed(&stream, 4).unwrap();
    let launch = || kernel.launch(1, 1).stream(&stream).arg(&y);
    let (three, small, four) = ([1f32, 2.0, 3.0], [4u8, 5, 6], [7f32, 8.0, 9.0, 10.0]);
    unsafe { launch().arg(&three).arg(&small).arg(&four).arg(&four).run() }.unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [321.0, 654.0, 9.0, 9.0]);
    // A structure is none, whatever it is called, and a vector has no two components.
    let error = unsafe { launch().arg(&three).arg(&small).arg(&three).arg(&four).run() }.unwrap_err();
    assert!(error.to_string().contains("[f32; 3] has 12 bytes and vec3 has 16"), "{error}");
    let error = unsafe { launch().arg(&[1f32, 2.0]).arg(&small).arg(&four).arg(&four).run() }.unwrap_err();
    assert!(error.to_string().contains("has 8 bytes"), "{error}");
}

both_dialects! {
    fn a_list_gives_three_components_of_a_type_that_names_a_vector_of_three() {
        let _guard = guard();
        let module = load!("typedef float3 v;\n__kernel void k(__global float *y, v a) { y[0] = a.x + a.y + a.z; }");
        let y = put!([0f32; 1]);
        ok!(start!(function!(module, c"k"), 1, 1, [y, [1f32, 2.0, 3.0]]));
        assert_eq!(fetch!(y, f32, 1), [6.0]);
        ok!(module_unload(module));
        ok!(free(y));
    }
}

#[test]
fn kernels_may_be_called_like_functions_of_the_language() {
    let _guard = guard();
    let folder = tempfile::tempdir().unwrap();
    let _cache = OwnCache::new(folder.path(), 1 << 30).unwrap();
    let text = "
        typedef struct { float a, b; } pair;
        __constant__ float base = 3;
        float more(float x) { return x + base; }
        __kernel void mix(__global float *y, pair by) { y[get_global_id(0)] = more(by.b); }
        __kernel __attribute__((reqd_work_group_size(2, 1, 1))) void step(__global float *y) { y[get_global_id(0)] = 2; }
        __kernel void _cl_own(__global float *y) { y[0] = 5; }
    ";
    let load = || SafeModule::from_source(device(), text);
    let Ok(module) = load() else {
        let pocl = device().platform().starts_with("Portable Computing Language");
        assert!(!pocl, "{}", load().unwrap_err());
        eprintln!("skipped: the driver's compiler takes no such kernels");
        return;
    };
    let check = |module: &SafeModule| {
        let mut names = module.kernel_names().unwrap();
        names.sort();
        assert_eq!(names, ["_cl_own", "mix", "step"]);
        let stream = device().create_stream().unwrap();
        let y = DeviceBuffer::<f32>::zeroed(&stream, 2).unwrap();
        let (mix, step, own) = ("mix", "step", "_cl_own");
        let [mix, step, own] = [mix, step, own].map(|name| module.kernel(name).unwrap());
        unsafe { launch!(mix<<<1, 2, 0, &stream>>>(y, [1f32, 4.0])) }.unwrap();
        assert_eq!(y.to_vec(&stream).unwrap(), [7.0, 7.0]);
        let error = unsafe { launch!(mix<<<1, 2, 0, &stream>>>(y, 1f32)) }.unwrap_err().to_string();
        assert!(error.contains("of mix: pair by"), "{error}");
        unsafe { launch!(step<<<1, 2, 0, &stream>>>(y)) }.unwrap();
        assert_eq!(y.to_vec(&stream).unwrap(), [2.0, 2.0]);
        unsafe { launch!(own<<<1, 1, 0, &stream>>>(y)) }.unwrap();
        assert_eq!(y.to_vec(&stream).unwrap(), [5.0, 2.0]);
        assert_eq!(module.kernel("none").unwrap_err().to_string().matches("_cl_").count(), 1);
    };
    check(&module);
    check(&load().unwrap());
    check(&SafeModule::from_binary(device(), &module.to_binary().unwrap()).unwrap());
}
