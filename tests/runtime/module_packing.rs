//! Binaries of modules whose kernels run meanwhile, and of modules that were launched with more sizes of blocks since.
//! PoCL (3.1) aborts the process at the one and forgets the other, so that these tests run in children.

use gridcl::testing::{count_calls, guard};
use gridcl::{DeviceBuffer, DeviceType, Module as SafeModule};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use crate::child;
use crate::support::{device, gated, in_time, wait_until};

/// `hold` tells that it runs and goes on until it is let go, or for some minutes.
const TEXT: &str = "
    __kernel __attribute__((reqd_work_group_size(2, 1, 1))) void hold(ulong address) {
        volatile __global int *flags = (volatile __global int *)address;
        flags[0] = 1;
        for (long spins = 0; flags[1] == 0 && spins < 50000000000L; spins++) { }
    }
    __kernel __attribute__((reqd_work_group_size(4, 1, 1))) void four(__global int *y) { y[get_global_id(0)] += 4; }
    __kernel void plain(__global int *y) { y[get_global_id(0)] += (int)get_local_size(0); }
";

fn is_pocl() -> bool {
    device().platform().starts_with("Portable Computing Language")
}

fn load() -> SafeModule {
    SafeModule::from_source(device(), TEXT).unwrap()
}

/// Launches `plain` with blocks of a size, and waits.
fn launch_plain(module: &SafeModule, block: u32) {
    let stream = device().create_stream().unwrap();
    let y = DeviceBuffer::<i32>::zeroed(&stream, 2 * block as usize).unwrap();
    unsafe { module.kernel("plain").unwrap().launch(2, block).stream(&stream).arg(&y).run() }.unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), vec![block as i32; 2 * block as usize]);
}

#[test]
fn a_binary_is_not_taken_while_its_kernels_run() {
    const NAME: &str = "module_packing::a_binary_is_not_taken_while_its_kernels_run";
    let _guard = guard();
    if device().device_type() != DeviceType::Cpu {
        eprintln!("skipped: the kernel reaches into the process's own memory");
        return;
    }
    if !child::is_child() {
        return child::passes(NAME, &[]);
    }
    let (first, same_text) = (load(), load());
    for module in [&first, &same_text] {
        let flags = [AtomicI32::new(0), AtomicI32::new(0)];
        let stream = device().create_stream().unwrap();
        let address = flags.as_ptr() as u64;
        unsafe { first.kernel("hold").unwrap().launch(1, 2).stream(&stream).arg(&address).run() }.unwrap();
        // A look at the stream flushes it.
        assert!(!stream.is_done().unwrap());
        wait_until("the kernel runs", || flags[0].load(SeqCst) == 1);
        let taken = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let taker = scope.spawn(|| {
                let bytes = module.to_binary().unwrap();
                taken.store(true, SeqCst);
                (bytes, flags[1].load(SeqCst))
            });
            // Time enough for what must not happen.
            let start = Instant::now();
            while !taken.load(SeqCst) && start.elapsed() < Duration::from_millis(500) {
                std::thread::yield_now();
            }
            flags[1].store(1, SeqCst);
            let (bytes, let_go) = taker.join().unwrap();
            assert!(let_go == 1 || !is_pocl(), "it was taken while the kernel ran");
            SafeModule::from_binary(device(), &bytes).unwrap();
        });
        stream.synchronize().unwrap();
    }
}

#[test]
fn launches_do_not_begin_while_a_binary_is_taken() {
    const NAME: &str = "module_packing::launches_do_not_begin_while_a_binary_is_taken";
    const ROUNDS: usize = 8;
    let _guard = guard();
    if !child::is_child() {
        return child::passes(NAME, &[]);
    }
    // Launchers end when the thread that takes the binary does, however it ends.
    struct Enough<'a>(&'a AtomicBool);
    impl Drop for Enough<'_> {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }
    for round in 0..ROUNDS {
        // Each round is another program to the driver.
        let load = || SafeModule::with_options(device(), TEXT, &format!("-DROUND={round}")).unwrap();
        let (enough, launched) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            let launch = || {
                let (module, stream) = (load(), device().create_stream().unwrap());
                let four = module.kernel("four").unwrap();
                let y = DeviceBuffer::<i32>::zeroed(&stream, 1 << 18).unwrap();
                let mut launches = 0;
                while !enough.load(SeqCst) {
                    unsafe { four.launch(1 << 16, 4).stream(&stream).arg(&y).run() }.unwrap();
                    stream.synchronize().unwrap();
                    launches += 1;
                    launched.fetch_add(1, SeqCst);
                }
                assert_eq!(y.to_vec(&stream).unwrap(), vec![4 * launches; 1 << 18]);
            };
            let launchers = [scope.spawn(launch), scope.spawn(launch)];
            let at_the_end = Enough(&enough);
            let module = load();
            wait_until("launches", || launched.load(SeqCst) > 4);
            let bytes = module.to_binary().unwrap();
            launch_plain(&SafeModule::from_binary(device(), &bytes).unwrap(), 8);
            drop(at_the_end);
            launchers.into_iter().for_each(|launcher| launcher.join().unwrap());
        });
    }
}

#[test]
fn a_binary_does_not_wait_for_kernels_that_may_run_beside_it() {
    let _guard = guard();
    let module = load();
    let (stream, gate) = gated(device());
    let other = device().create_stream().unwrap();
    let y = DeviceBuffer::<i32>::zeroed(&other, 8).unwrap();
    other.synchronize().unwrap();
    unsafe { module.kernel("plain").unwrap().launch(1, 8).stream(&stream).arg(&y).run() }.unwrap();
    let copy = module.clone();
    in_time("the binary", move || copy.to_binary().unwrap());
    assert!(!stream.is_done().unwrap());
    gate.open();
    assert_eq!(y.to_vec(&stream).unwrap(), [8; 8]);
}

/// The files with kernels' code that PoCL has in its folder.
fn compiled() -> BTreeSet<String> {
    fn visit(folder: &Path, found: &mut BTreeSet<String>) {
        for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
            match file.is_dir() {
                true => visit(&file, found),
                false if file.extension().is_some_and(|ending| ending == "so") => {
                    found.insert(file.display().to_string());
                }
                false => {}
            }
        }
    }
    let mut found = BTreeSet::new();
    visit(Path::new(&std::env::var("POCL_CACHE_DIR").unwrap()), &mut found);
    found
}

#[test]
fn later_sizes_of_blocks_join_the_entry() {
    const NAME: &str = "module_packing::later_sizes_of_blocks_join_the_entry";
    let _guard = guard();
    if !is_pocl() {
        eprintln!("skipped: other drivers compile nothing at launches");
        return;
    }
    if child::is_child() {
        let sizes = std::env::var("GRIDCL_TEST_SIZES").unwrap();
        let is_new = std::env::var("GRIDCL_TEST_NEW").unwrap() == "yes";
        let (module, calls) = count_calls(load);
        let is_built = calls.iter().any(|(name, _)| *name == "clCreateProgramWithSource");
        let before = compiled();
        for size in sizes.split(' ') {
            launch_plain(&module, size.parse().unwrap());
        }
        assert_eq!(is_new, compiled() != before, "{is_built} {:?} {before:?}", compiled());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let in_child = |sizes: &str, is_new: &str| {
        let own = tempfile::tempdir().unwrap();
        let variables = [
            ("GRIDCL_CACHE_DIR", cache.to_str().unwrap()),
            ("GRIDCL_CACHE", "1"),
            ("GRIDCL_CACHE_SIZE", ""),
            // As if the driver had seen nothing before.
            ("POCL_CACHE_DIR", own.path().to_str().unwrap()),
            ("GRIDCL_TEST_SIZES", sizes),
            ("GRIDCL_TEST_NEW", is_new),
        ];
        child::passes(NAME, &variables);
    };
    // The entry is written after the first size and again after the second.
    in_child("8 16", "yes");
    in_child("8 16", "no");
    // From a module that came out of the cache, with twice as many sizes: after the third and the fourth.
    in_child("8 24 32", "yes");
    in_child("8 16 24 32", "no");
    assert_eq!(std::fs::read_dir(&cache).unwrap().count(), 1);
}

#[test]
fn a_binary_has_what_was_compiled_since_the_one_before() {
    let _guard = guard();
    let module = load();
    for size in [8, 16, 32] {
        launch_plain(&module, size);
        let bytes = module.to_binary().unwrap();
        let folder = format!("/{size}-1-1");
        assert!(!is_pocl() || bytes.windows(folder.len()).any(|window| window == folder.as_bytes()), "{size}");
        launch_plain(&SafeModule::from_binary(device(), &bytes).unwrap(), size);
    }
}

#[test]
fn what_was_built_of_files_that_only_the_driver_finds_stays_as_it_is() {
    let _guard = guard();
    let folder = tempfile::tempdir().unwrap();
    let header = folder.path().join("value.h");
    std::fs::write(&header, "#define VALUE 3\ntypedef struct { int a; } s;\n").unwrap();
    let text = "#define NAME \"value.h\"\n#include NAME\n__kernel void k(__global int *y, s x) { y[0] = VALUE + x.a; }";
    let build = || SafeModule::builder(device()).source("k.cl", text).include_dir(folder.path()).build();
    let module = build().unwrap();
    let check = |module: &SafeModule| {
        let stream = device().create_stream().unwrap();
        let y = DeviceBuffer::<i32>::zeroed(&stream, 1).unwrap();
        unsafe { module.kernel("k").unwrap().launch(1, 1).stream(&stream).arg(&y).arg(&4i32).run() }.unwrap();
        assert_eq!(y.to_vec(&stream).unwrap(), [7]);
    };
    let load = |bytes: &[u8]| SafeModule::from_binary(device(), bytes).unwrap();
    let before = module.to_binary().unwrap();
    for change in [Some("#define VALUE 5\ntypedef struct { int a, b; } s;\n"), None] {
        match change {
            Some(other) => std::fs::write(&header, other).unwrap(),
            None => std::fs::remove_file(&header).unwrap(),
        }
        check(&module);
        let after = load(&module.to_binary().unwrap());
        check(&after);
        check(&load(&after.to_binary().unwrap()));
        check(&load(&before));
    }
    assert!(build().is_err(), "the file is gone");
}
