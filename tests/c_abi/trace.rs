//! A C++ program's timeline: the same library, the same file.

use crate::tools::{compile, program, root, scratch, succeeds};
use serde_json::Value;

#[test]
fn a_c_program_writes_a_timeline() {
    let folder = scratch("trace");
    let Some(path) = compile(&root().join("examples/c/03_four_streams.cpp"), &folder, &[]) else { return };
    let file = folder.join("out.json");
    succeeds(program(&path).env("POCL_CACHE_DIR", folder.join("pocl")).env("GRIDCL_TRACE", &file));
    let text = std::fs::read_to_string(&file).expect("a timeline");
    let events: Vec<Value> = serde_json::from_str(&text).expect("valid JSON");
    let count = |category: &str, name: &str| {
        events.iter().filter(|event| event["cat"] == category && event["name"] == name).count()
    };
    assert_eq!(count("api", "musaLaunchKernel"), 4);
    assert_eq!(count("api", "musaMemcpyAsync"), 8);
    assert_eq!(count("kernel", "processKernel"), 4);
    assert_eq!(count("copy", "copy pinned to device"), 4);
    assert_eq!(count("copy", "copy device to pinned"), 4);
    let main = events.iter().find(|event| event["name"] == "thread_name" && event["pid"] == 1);
    assert_eq!(main.expect("the program's thread")["args"]["name"], "main");
}
