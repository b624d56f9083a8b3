//! Modules as binaries, and the disk cache that keeps them (behaviour.md 3.10 ModuleLoad and ModuleLoadData, 1.6
//! "Codes").

use gridcl::testing::{OwnCache, count_calls, fail, guard};
use gridcl::{DeviceBuffer, ErrorKind, Module as SafeModule};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

use crate::child;
use crate::modules::File;
use crate::support::device;

/// Uses all that a binary has to bring along: structures, names of vectors, symbols with and without a value, local
/// memory, a kernel without parameters.
const TEXT: &str = "
    typedef struct { int n; float scale; } config;
    typedef float3 v;
    __constant__ float table[3] = {1, 2, 3};
    __device__ int calls;
    float pick(int i) { return table[i]; }
    __kernel void k(__global float *y, config c, v a, __local float *l) {
        l[0] = pick(c.n) * c.scale + a.z;
        y[0] = l[0];
        calls += 1;
        y[1] = calls;
    }
    __kernel __attribute__((reqd_work_group_size(2, 1, 1))) void two(__global float *y) { y[get_global_id(0)] = 8; }
    __kernel void nothing(void) { }
";

#[derive(Clone, Copy, bytemuck::NoUninit)]
#[repr(C)]
struct Config {
    n: i32,
    scale: f32,
}

/// Uses a module of [`TEXT`], and waits, which is when the cache gets what PoCL compiled.
fn try_out(module: &SafeModule) {
    let stream = device().create_stream().unwrap();
    let y = DeviceBuffer::<f32>::zeroed(&stream, 2).unwrap();
    let k = module.kernel("k").unwrap();
    let config = Config { n: 2, scale: 10.0 };
    let launch = || k.launch(1, 1).stream(&stream).shared(4).arg(&y);
    unsafe { launch().arg(&config).arg(&[0f32, 0.0, 0.5]).run() }.unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [30.5, 1.0], "a new module's symbols have their first values");
    let error = unsafe { launch().arg(&[1u8; 7]).arg(&[0f32; 3]).run() }.unwrap_err().to_string();
    assert!(error.contains("argument = 1 of k: config c") && error.contains("config has 8"), "{error}");
    let two = module.kernel("two").unwrap();
    let error = unsafe { two.launch(1, 1).stream(&stream).arg(&y).run() }.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidConfiguration, "{error}");
    unsafe { two.launch(1, 2).stream(&stream).arg(&y).run() }.unwrap();
    unsafe { module.kernel("nothing").unwrap().launch(1, 1).stream(&stream).run() }.unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [8.0, 8.0]);
    let names = module.kernel_names().unwrap();
    assert!(["k", "two", "nothing"].iter().all(|name| names.iter().any(|known| known == name)), "{names:?}");
}

/// How a module came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Compiled,
    Loaded,
}

fn way<T>(load: impl FnOnce() -> T) -> (T, Way) {
    let (answer, calls) = count_calls(load);
    let compiled = calls.iter().any(|(name, _)| *name == "clCreateProgramWithSource");
    (answer, if compiled { Way::Compiled } else { Way::Loaded })
}

fn load_text() -> (SafeModule, Way) {
    let (module, way) = way(|| SafeModule::from_source(device(), TEXT).unwrap());
    try_out(&module);
    (module, way)
}

/// The binary with its payload changed under a hash that says that it is right.
fn forged(binary: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let at = binary.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    let mut forged = binary.to_vec();
    forged[at..at + to.len()].copy_from_slice(to.as_bytes());
    let hash = Sha256::digest(&forged[48..]);
    forged[16..48].copy_from_slice(&hash);
    forged
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn a_binary_needs_no_compiler() {
    let _guard = guard();
    let module = SafeModule::from_source(device(), TEXT).unwrap();
    let bytes = module.to_binary().unwrap();
    drop(module);
    let (module, way) = way(|| SafeModule::from_binary(device(), &bytes).unwrap());
    assert_eq!(way, Way::Loaded);
    try_out(&module);
    // It is no different from its model.
    let again = SafeModule::from_binary(device(), &module.to_binary().unwrap()).unwrap();
    try_out(&again);
}

#[test]
fn a_saved_module_is_loaded_from_its_file() {
    let _guard = guard();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.bin");
    SafeModule::from_source(device(), TEXT).unwrap().save(&path).unwrap();
    assert_eq!(entries(folder.path()), std::slice::from_ref(&path), "nothing else is left");
    let (module, way) = way(|| SafeModule::from_file(device(), &path).unwrap());
    assert_eq!(way, Way::Loaded);
    try_out(&module);
    let error = module.save(folder.path().join("none/k.bin")).unwrap_err();
    assert!(error.to_string().contains("cannot be written"), "{error}");
    let error = SafeModule::builder(device()).file(&path).build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidImage, "{error}");
}

#[test]
fn a_binary_of_another_device_is_built_from_its_text() {
    let _guard = guard();
    let bytes = SafeModule::from_source(device(), TEXT).unwrap().to_binary().unwrap();
    let name = device().name();
    let foreign = forged(&bytes, name, &"X".repeat(name.len()));
    let (module, way) = way(|| SafeModule::from_binary(device(), &foreign).unwrap());
    assert_eq!(way, Way::Compiled);
    try_out(&module);
}

#[test]
fn a_binary_that_the_driver_refuses_is_built_from_its_text() {
    let _guard = guard();
    let bytes = SafeModule::from_source(device(), TEXT).unwrap().to_binary().unwrap();
    // CL_INVALID_BINARY.
    fail("clCreateProgramWithBinary", 0, -42);
    let (module, way) = way(|| SafeModule::from_binary(device(), &bytes).unwrap());
    assert_eq!(way, Way::Compiled);
    try_out(&module);
}

#[test]
fn a_binary_keeps_where_its_lines_come_from() {
    let _guard = guard();
    let module = SafeModule::builder(device()).source("mine.cl", TEXT).build().unwrap();
    let bytes = module.to_binary().unwrap();
    let error = SafeModule::from_binary(device(), &bytes).unwrap().kernel("none").unwrap_err().to_string();
    assert!(error.contains("mine.cl has no kernel"), "{error}");
    let broken = forged(&bytes, "calls += 1", "caxls += 1");
    let broken = forged(&broken, device().name(), &"X".repeat(device().name().len()));
    let error = SafeModule::from_binary(device(), &broken).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BuildFailed);
    assert!(error.to_string().contains("mine.cl:10:"), "{error}");
}

#[test]
fn damaged_binaries_are_no_images() {
    let _guard = guard();
    let bytes = SafeModule::from_source(device(), TEXT).unwrap().to_binary().unwrap();
    let mut flipped = bytes.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for damaged in [&bytes[..bytes.len() - 1], &bytes[..20], &flipped, b"", b"text"] {
        let error = SafeModule::from_binary(device(), damaged).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidImage, "{error}");
    }
}

both_dialects! {
    fn load_data_takes_a_binary() {
        let _guard = guard();
        let bytes = SafeModule::from_source(device(), crate::modules::SYMBOLS).unwrap().to_binary().unwrap();
        let mut module = null_mut();
        ok!(unsafe { module_load_data(&mut module, bytes.as_ptr().cast()) });
        let y = put!([0f32; 1]);
        ok!(start!(function!(module, c"sum"), 1, 1, [y]));
        assert_eq!(fetch!(y, f32, 1), [8.0]);
        let (mut address, mut size) = (null_mut(), 0);
        ok!(unsafe { module_get_global(&mut address, &mut size, module, c"table".as_ptr()) });
        assert_eq!((size, fetch!(address, f32, 6)), (24, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn load_takes_a_file_with_a_binary() {
        let _guard = guard();
        let bytes = SafeModule::from_source(device(), crate::modules::SEVEN).unwrap().to_binary().unwrap();
        let file = File::new(&format!("{NAME}-good.bin"), &bytes);
        let mut module = null_mut();
        ok!(unsafe { module_load(&mut module, file.name().as_ptr()) });
        let y = put!([0i32; 2]);
        ok!(start!(function!(module, c"put"), 2, 1, [y]));
        assert_eq!(fetch!(y, i32, 2), [7; 2]);
        ok!(module_unload(module));
        ok!(free(y));
        let cut = File::new(&format!("{NAME}-cut.bin"), &bytes[..bytes.len() / 2]);
        let mut module: Module = null_mut();
        fails!(
            unsafe { module_load(&mut module, cut.name().as_ptr()) },
            INVALID_IMAGE,
            &format!("path = {}", cut.0.display()),
            "cut short",
        );
        assert!(module.is_null());
    }

    fn bytes_that_only_begin_like_a_binary_are_no_image() {
        let _guard = guard();
        let mut module: Module = null_mut();
        let bytes = SafeModule::from_source(device(), crate::modules::SEVEN).unwrap().to_binary().unwrap();
        let mut damaged = bytes.clone();
        damaged[60] ^= 1;
        fails!(unsafe { module_load_data(&mut module, damaged.as_ptr().cast()) }, INVALID_IMAGE, "image = ", "damaged");
        // Nothing is read behind the NUL of what is too short, nor behind a version that is not known.
        for short in [c"\x7fG", c"\x7fGRIDCL"] {
            fails!(unsafe { module_load_data(&mut module, short.as_ptr().cast()) }, INVALID_IMAGE, "no kernel");
        }
        fails!(
            unsafe { module_load_data(&mut module, c"\x7fGRIDCL\x09".as_ptr().cast()) },
            INVALID_IMAGE,
            "another format version",
        );
        assert!(module.is_null());
    }
}

#[test]
fn the_second_load_of_a_text_needs_no_compiler() {
    let _guard = guard();
    let folder = tempfile::tempdir().unwrap();
    let _cache = OwnCache::new(folder.path(), 1 << 30).unwrap();
    assert_eq!(load_text().1, Way::Compiled);
    assert_eq!(entries(folder.path()).len(), 1);
    assert_eq!(load_text().1, Way::Loaded);
    assert_eq!(load_text().1, Way::Loaded);
    assert_eq!(entries(folder.path()).len(), 1);
    // Whoever does not want it does without.
    let (module, way) = way(|| SafeModule::builder(device()).source("kernel.cl", TEXT).cache(false).build().unwrap());
    assert_eq!(way, Way::Compiled);
    try_out(&module);
}

#[test]
fn anything_that_differs_is_another_entry() {
    let _guard = guard();
    let folder = tempfile::tempdir().unwrap();
    let _cache = OwnCache::new(&folder.path().join("cache"), 1 << 30).unwrap();
    let header = folder.path().join("value.h");
    let load = |value: &str, text: &str, options: &str| {
        std::fs::write(&header, format!("#define VALUE {value}\n")).unwrap();
        let builder = SafeModule::builder(device()).source("k.cl", text).include_dir(folder.path()).option(options);
        let (module, way) = way(|| builder.build().unwrap());
        let stream = device().create_stream().unwrap();
        let y = DeviceBuffer::<f32>::zeroed(&stream, 1).unwrap();
        unsafe { module.kernel("k").unwrap().launch(1, 1).stream(&stream).arg(&y).run() }.unwrap();
        (y.to_vec(&stream).unwrap()[0], way)
    };
    let text = "#include \"value.h\"\n#ifndef MORE\n#define MORE 0\n#endif\n\
                __kernel void k(__global float *y) { y[0] = VALUE + MORE; }";
    assert_eq!(load("1", text, ""), (1.0, Way::Compiled));
    assert_eq!(load("1", text, ""), (1.0, Way::Loaded));
    assert_eq!(load("2", text, ""), (2.0, Way::Compiled), "an included file");
    assert_eq!(load("1", text, "-DMORE=3"), (4.0, Way::Compiled), "an option");
    assert_eq!(load("1", &text.replace("+ MORE", "- MORE"), ""), (1.0, Way::Compiled), "the text");
    assert_eq!(load("2", text, ""), (2.0, Way::Loaded));
    // What the driver includes is not known, and may change.
    let text = text.replace("\"value.h\"", "NAME");
    let text = format!("#define NAME \"value.h\"\n{text}");
    assert_eq!(load("5", &text, ""), (5.0, Way::Compiled));
    assert_eq!(load("5", &text, ""), (5.0, Way::Compiled));
}

#[test]
fn damaged_and_foreign_entries_are_ignored_and_replaced() {
    let _guard = guard();
    let folder = tempfile::tempdir().unwrap();
    let _cache = OwnCache::new(folder.path(), 1 << 30).unwrap();
    load_text();
    let [entry] = &entries(folder.path())[..] else { panic!("one entry") };
    let good = std::fs::read(entry).unwrap();
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    let name = device().name();
    let other_device = forged(&good, name, &"X".repeat(name.len()));
    let other_text = forged(&good, "calls += 1", "calls += 2");
    for bad in [&flipped, &good[..good.len() / 2], b"", b"no entry at all", &other_device, &other_text] {
        std::fs::write(entry, bad).unwrap();
        assert_eq!(load_text().1, Way::Compiled);
        assert_eq!(load_text().1, Way::Loaded, "it is replaced");
    }
    // CL_INVALID_BINARY.
    fail("clCreateProgramWithBinary", 0, -42);
    assert_eq!(load_text().1, Way::Compiled, "the driver does not take it");
    assert_eq!(load_text().1, Way::Loaded);
}

#[test]
fn a_folder_that_cannot_be_written_costs_a_build_and_nothing_else() {
    let _guard = guard();
    let folder = tempfile::tempdir().unwrap();
    let _cache = OwnCache::new(folder.path(), 1 << 30).unwrap();
    drop(folder);
    assert_eq!(load_text().1, Way::Compiled);
    assert_eq!(load_text().1, Way::Compiled);
}

#[test]
fn what_does_not_fit_is_not_kept() {
    let _guard = guard();
    let folder = tempfile::tempdir().unwrap();
    let _cache = OwnCache::new(folder.path(), 100).unwrap();
    assert_eq!(load_text().1, Way::Compiled);
    assert_eq!(entries(folder.path()).len(), 0);
}

#[test]
fn a_text_that_does_not_build_is_not_kept() {
    let _guard = guard();
    let folder = tempfile::tempdir().unwrap();
    let _cache = OwnCache::new(folder.path(), 1 << 30).unwrap();
    for _ in 0..2 {
        let error =
            SafeModule::from_source(device(), "__kernel void k(__global int *y) { y[0] = nobody; }").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BuildFailed);
    }
    assert_eq!(entries(folder.path()).len(), 0);
}

#[test]
fn threads_share_the_cache() {
    let _guard = guard();
    let folder = tempfile::tempdir().unwrap();
    let _cache = OwnCache::new(folder.path(), 1 << 30).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| try_out(&SafeModule::from_source(device(), TEXT).unwrap()));
        }
    });
    // The cache may miss a size of block that another thread's wait came too early for.
    assert_eq!(load_text().1, Way::Loaded);
}

#[test]
fn processes_share_the_cache() {
    const NAME: &str = "module_binaries::processes_share_the_cache";
    let _guard = guard();
    if child::is_child() {
        let expected = std::env::var("GRIDCL_TEST_WAY").unwrap();
        let (_, way) = load_text();
        assert!(expected == "any" || expected == format!("{way:?}"), "{way:?}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("a/b");
    let place = place.to_str().unwrap();
    let in_child = |way: &str, more: &[(&str, &str)]| {
        let own =
            [("GRIDCL_CACHE_DIR", place), ("GRIDCL_CACHE", "1"), ("GRIDCL_CACHE_SIZE", ""), ("GRIDCL_TEST_WAY", way)];
        let variables = [&own[..], more].concat();
        child::passes(NAME, &variables);
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| in_child("any", &[]));
        }
    });
    in_child("Loaded", &[]);
    in_child("Compiled", &[("GRIDCL_CACHE", "0")]);
    in_child("Compiled", &[("GRIDCL_CACHE_SIZE", "100")]);
    assert_eq!(entries(Path::new(place)).len(), 1);
}

#[test]
fn a_cache_that_nobody_named_is_not_used_by_tests() {
    const NAME: &str = "module_binaries::a_cache_that_nobody_named_is_not_used_by_tests";
    let _guard = guard();
    if child::is_child() {
        load_text();
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let home_folder = home.path().to_str().unwrap();
    child::passes(NAME, &[("XDG_CACHE_HOME", home_folder), ("GRIDCL_CACHE", ""), ("GRIDCL_CACHE_DIR", "")]);
    assert!(!home.path().join("gridcl").exists());
}
