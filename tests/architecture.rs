//! The layering rules of the house, as a test that reads the sources: who may use whom, how long a file may be, and that
//! each says at its top what it is for. ARCHITECTURE.md gives the reasons.

#[path = "architecture/layer.rs"]
mod layer;
#[path = "architecture/lex.rs"]
mod lex;
#[path = "architecture/path.rs"]
mod path;
#[path = "architecture/samples.rs"]
mod samples;

use layer::{Checker, Layer};
use std::path::{Path, PathBuf};

/// The layers, each with the module that it is and the other layers that it may use. `lib.rs` may use everything, and
/// the programs in `src/bin` are crates of their own: see [`PRIVATE`].
const LAYERS: &[Layer] = &[
    layer("error", &["error"], &[]),
    layer("trace", &["trace"], &[]),
    layer("cl", &["cl"], &["error"]),
    layer("rt", &["rt"], &["cl", "error", "trace"]),
    layer("api", &["api"], &["rt", "error", "trace"]),
    layer("dialect", &["dialect"], &["musa", "tops", "rt", "error", "trace"]),
    layer("musa", &["dialect", "musa"], &["dialect", "rt", "error", "trace"]),
    layer("tops", &["dialect", "tops"], &["dialect", "rt", "error", "trace"]),
    layer("testing", &["testing"], &["api", "rt", "cl", "error", "trace"]),
];

/// The crates that call OpenCL, and the one layer that may.
const DRIVER_CRATES: &[&str] = &["opencl3", "cl3", "opencl_sys", "cl_sys"];
const DRIVER_LAYER: &str = "cl";

/// Our own name, which only the programs in `src/bin` use; and the layers that they may not reach even so.
const THIS_CRATE: &str = "gridcl";
const PRIVATE: &[&str] = &["cl", "rt"];

/// Where [`MAX_LINES`] holds. Not in `include`: nobody edits those files, they are printed.
const MEASURED: &[&str] = &["src", "tests", "benches", "examples", "kernels_cl"];
const MAX_LINES: usize = 800;

/// How a newcomer runs the tests, by the README, and how CI does.
const TEST_COMMAND: &str = "./setup.sh && cargo test";

const fn layer(name: &'static str, module: &'static [&'static str], may_use: &'static [&'static str]) -> Layer {
    Layer { name, module, may_use }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a folder of the repository, in order; none if there is no such folder.
fn files_below(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().into_iter().flatten() {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Path from the repository's root, and text, of the text files below a folder.
fn texts_below(folder: &str) -> impl Iterator<Item = (String, String)> {
    files_below(folder).into_iter().filter_map(|path| {
        let text = std::fs::read_to_string(&path).ok()?;
        let short = path.strip_prefix(root()).expect("below the root");
        Some((short.to_string_lossy().replace('\\', "/"), text))
    })
}

fn sources() -> Vec<(String, String)> {
    let rust = |(path, _): &(String, String)| path.ends_with(".rs");
    texts_below("src").filter(rust).collect()
}

#[track_caller]
fn assert_none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn every_layer_keeps_to_those_it_may_use() {
    assert_none(Checker::new(&sources()).complaints());
}

#[test]
fn every_source_file_begins_with_what_it_is_for() {
    let silent = sources().into_iter().filter(|(_, text)| !text.starts_with("//!"));
    assert_none(silent.map(|(path, _)| format!("{path}: does not begin with //!")).collect());
}

#[test]
fn no_file_is_too_long() {
    let texts = MEASURED.iter().flat_map(|folder| texts_below(folder));
    let lengths = texts.map(|(path, text)| (path, text.lines().count()));
    let long = lengths.filter(|(_, lines)| *lines > MAX_LINES);
    assert_none(long.map(|(path, lines)| format!("{path}: {lines} lines, over {MAX_LINES}")).collect());
}

#[test]
fn the_readme_and_ci_run_the_same_tests() {
    for file in ["README.md", ".ci/run"] {
        match std::fs::read_to_string(root().join(file)) {
            Ok(text) => assert!(text.contains(TEST_COMMAND), "{file} does not say `{TEST_COMMAND}`"),
            // A published package comes without the CI script.
            Err(_) => assert_ne!(file, "README.md", "README.md is missing"),
        }
    }
}
