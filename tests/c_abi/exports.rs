//! What the library shows to the linker, and how it behaves when it is loaded.

use crate::check::functions;
use crate::tools::{compile, ends, is_there, library, program, root, scratch, succeeds};
use std::collections::BTreeSet;
use std::process::Command;

#[test]
fn the_library_exports_the_tables_and_nothing_else() {
    if !is_there("nm") {
        eprintln!("NOT TESTED: there is no nm here");
        return;
    }
    let listed = succeeds(Command::new("nm").args(["-D", "--defined-only"]).arg(library()));
    let exported: BTreeSet<&str> = listed.lines().filter_map(|line| line.split_whitespace().last()).collect();
    let intended: BTreeSet<&str> = functions().map(|entry| entry.name).collect();
    assert_eq!(exported, intended);
}

#[test]
fn the_library_is_called_by_its_plain_name_and_stays_loaded() {
    if !is_there("readelf") {
        eprintln!("NOT TESTED: there is no readelf here");
        return;
    }
    let dynamic = succeeds(Command::new("readelf").args(["-d", "-W"]).arg(library()));
    assert!(dynamic.contains("Library soname: [libgridcl.so]"), "{dynamic}");
    assert!(dynamic.contains("NODELETE"), "{dynamic}");
    assert!(!dynamic.contains("OpenCL"), "the loader is found at the first call, not before: {dynamic}");
}

#[test]
fn loading_and_closing_in_a_loop_is_safe() {
    let folder = scratch("load_loop");
    if let Some(path) = compile(&root().join("tests/c_abi/load_loop.c"), &folder, &["-ldl"]) {
        succeeds(program(&path).arg(library()));
    }
}

#[test]
fn without_opencl_the_first_call_says_what_is_missing() {
    let folder = scratch("no_opencl");
    if let Some(path) = compile(&root().join("tests/c_abi/no_opencl.c"), &folder, &[]) {
        succeeds(program(&path).env("OPENCL_DYLIB_PATH", "libm.so.6"));
    }
}

#[test]
fn a_global_objects_destructor_may_use_the_runtime() {
    let folder = scratch("global_object");
    if let Some(path) = compile(&root().join("tests/c_abi/global_object.cpp"), &folder, &[]) {
        succeeds(program(&path).env("POCL_CACHE_DIR", folder.join("pocl")));
    }
}

#[test]
fn the_log_is_there_for_programs_without_one() {
    let folder = scratch("log");
    let Some(path) = compile(&root().join("tests/c_abi/global_object.cpp"), &folder, &[]) else { return };
    let output = ends(program(&path).env("POCL_CACHE_DIR", folder.join("pocl")).env("GRIDCL_LOG", "api"));
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(log.contains("musaMalloc(devPtr=") && log.contains("musaStreamDestroy(stream="), "{log}");
    let output = ends(program(&path).env("POCL_CACHE_DIR", folder.join("pocl")).env_remove("GRIDCL_LOG"));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
