//! The programs of `examples/c`: each is compiled strictly, run, and checks its own results.

use crate::tools::{Language, compile, program, root, scratch, succeeds};
use std::path::PathBuf;

/// Every C and C++ source of `examples/c`, in order.
fn sources() -> Vec<PathBuf> {
    let folder = root().join("examples/c").read_dir().expect("examples/c");
    let paths = folder.map(|entry| entry.expect("an entry").path());
    let mut sources: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "c" || extension == "cpp")).collect();
    sources.sort();
    sources
}

/// One test for all of them, one after the other: PoCL's cache does not bear many processes at once.
#[test]
fn the_example_programs_compile_without_a_warning_and_run() {
    let folder = scratch("programs");
    let sources = sources();
    assert!(sources.len() >= 16, "programs are missing: {sources:?}");
    for source in sources {
        let Some(path) = compile(&source, &folder, &[]) else { continue };
        let said = succeeds(program(&path).env("POCL_CACHE_DIR", folder.join("pocl")));
        let last = said.lines().last().unwrap_or_else(|| panic!("{} says nothing", source.display()));
        println!("{}: {last}", source.display());
    }
}

#[test]
fn the_headers_add_what_programs_in_cxx_lean_on() {
    let folder = scratch("niceties");
    if let Some(path) = compile(&root().join("tests/c_abi/niceties.cpp"), &folder, &[]) {
        succeeds(program(&path).env("POCL_CACHE_DIR", folder.join("pocl")));
    }
}

/// What compiles as C has to compile as C++ as well.
#[test]
fn the_c_programs_are_c_plus_plus_too() {
    let folder = scratch("as_cxx");
    for source in sources().into_iter().filter(|source| Language::of(source) == Language::C) {
        let name = source.file_stem().expect("a name").to_string_lossy();
        let copy = folder.join(format!("{name}.cpp"));
        std::fs::copy(&source, &copy).expect("to copy the program");
        let here = format!("-I{}", root().join("examples/c").display());
        compile(&copy, &folder, &[&here]);
    }
}
