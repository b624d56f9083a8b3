//! `gridcl trace`, over a timeline that the program writes of itself.

use crate::program::{gridcl, run, write};
use std::path::{Path, PathBuf};

const KERNEL: &str = "__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2.0f; }\n";

/// A timeline with three launches of a kernel called `twice`, between a copy of 4 KiB either way.
pub(crate) fn timeline(folder: &Path) -> PathBuf {
    let kernel = write(folder, "twice.cl", KERNEL);
    let file = folder.join("trace.json");
    let arguments = ["run", &kernel, "twice", "-g", "4", "-b", "256", "-a", "range:1024", "-r", "3"];
    run(gridcl(&arguments).env("GRIDCL_TRACE", &file)).with(0);
    file
}

#[test]
fn the_summary_has_calls_kernels_copies_and_devices() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = timeline(folder.path());
    let file = file.to_str().unwrap();
    let text = run(&mut gridcl(&["trace", "summary", file])).with(0).out;
    for part in [
        "calls",
        "Launch::run",
        "kernels",
        "twice",
        "copies and sets",
        "copy host to device",
        "4 KiB",
        "devices",
        "busy",
    ] {
        assert!(text.contains(part), "{part} in:\n{text}");
    }
    let json = run(&mut gridcl(&["trace", "summary", "--json", file])).with(0).json();
    assert_eq!((&json["kernels"][0]["name"], &json["kernels"][0]["count"]), (&"twice".into(), &3.into()));
    assert_eq!(json["whole"], true);
    let device = &json["devices"][0];
    let [span, busy, idle] = ["span_ns", "busy_ns", "idle_ns"].map(|key| device[key].as_u64().expect("a time"));
    assert!(span == busy + idle && busy > 0, "{device}");
    let up = json["copies_and_sets"].as_array().unwrap().iter().find(|copy| copy["name"] == "copy host to device");
    assert_eq!(up.expect("the copy")["bytes"], 4096);
}

#[test]
fn a_file_that_was_cut_off_is_read_as_far_as_it_goes() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(timeline(folder.path())).expect("a timeline");
    let cut = write(folder.path(), "cut.json", &text[..text.len() - 30]);
    let ended = run(&mut gridcl(&["trace", "summary", &cut])).with(0);
    assert!(ended.out.contains("lacks its end") && ended.out.contains("twice"), "{}", ended.out);
}

#[test]
fn what_is_no_timeline_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = write(folder.path(), "no.json", "hello");
    assert!(run(&mut gridcl(&["trace", "summary", &text])).with(1).err.contains("not a timeline"));
    assert!(run(&mut gridcl(&["trace", "view", &text])).with(1).err.contains("not a timeline"));
    assert!(run(&mut gridcl(&["trace", "summary", "no_such_file"])).with(1).err.contains("no_such_file"));
    let file = timeline(folder.path());
    let file = file.to_str().unwrap();
    assert!(run(&mut gridcl(&["trace", "view", file, "-o", file])).with(1).err.contains("the timeline itself"));
}

#[test]
fn the_page_goes_where_it_is_told_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = timeline(folder.path());
    run(&mut gridcl(&["trace", "view", file.to_str().unwrap()])).with(0);
    let beside = std::fs::read_to_string(folder.path().join("trace.html")).expect("a page");
    let other = folder.path().join("other.html");
    run(&mut gridcl(&["trace", "view", file.to_str().unwrap(), "-o", other.to_str().unwrap()])).with(0);
    assert_eq!(beside, std::fs::read_to_string(other).expect("the page"));
    assert!(beside.contains("twice") && !beside.contains("{{"));
}
