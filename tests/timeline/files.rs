//! The file: where it is, and what becomes of it at every kind of end.

use crate::child::{folder, run, traced};
use crate::events::{calls, check, parse, read, work};
use std::fs::read_to_string;

#[test]
fn without_the_variable_nothing_is_written() {
    for variables in [&[][..], &[("GRIDCL_TRACE", "")]] {
        let folder = folder();
        let output = run("musa_program", folder.path(), variables);
        assert!(output.status.success());
        assert_eq!(folder.path().read_dir().expect("the folder").count(), 0, "{variables:?}");
    }
}

#[test]
fn exit_ends_the_file_well() {
    let folder = folder();
    let file = folder.path().join("out.json");
    let output = run("exits", folder.path(), &[("GRIDCL_TRACE", "out.json")]);
    assert_eq!(output.status.code(), Some(7));
    let events = read(&file);
    check(&events);
    assert_eq!(work(&events, "twice").len(), 1);
}

#[test]
fn a_killed_program_leaves_whole_lines() {
    let folder = folder();
    let output = run("is_killed", folder.path(), &[("GRIDCL_TRACE", "out.json")]);
    assert!(!output.status.success());
    let text = read_to_string(folder.path().join("out.json")).expect("a timeline");
    assert!(!text.trim_end().ends_with(']'), "nobody ended it");
    // What Chrome and Perfetto put behind such a file.
    let events = parse(&format!("{text}]"));
    assert_eq!(work(&events, "twice").len(), 1, "what was waited for is there:\n{text}");
}

#[test]
fn a_forked_child_leaves_the_file_alone() {
    let folder = folder();
    let events = read(&traced("forks", folder.path(), &[]));
    check(&events);
    assert_eq!(work(&events, "twice").len(), 2, "before and after");
}

#[test]
fn a_child_that_was_forked_while_others_write_goes_on() {
    let folder = folder();
    check(&read(&traced("forks_among_threads", folder.path(), &[])));
}

#[test]
fn the_process_number_may_be_in_the_name() {
    let folder = folder();
    let output = run("safe_program", folder.path(), &[("GRIDCL_TRACE", "a-%p.json")]);
    assert!(output.status.success());
    let names: Vec<_> = folder.path().read_dir().expect("the folder").map(|entry| entry.unwrap().file_name()).collect();
    let [name] = &names[..] else { panic!("one file: {names:?}") };
    let name = name.to_str().expect("a name");
    let number = name.strip_prefix("a-").and_then(|name| name.strip_suffix(".json"));
    assert!(number.is_some_and(|number| number.parse::<u32>().is_ok()), "{name}");
    assert_eq!(calls(&read(&folder.path().join(name)), "Launch::run").len(), 1);
}

#[test]
fn a_file_that_was_there_is_replaced() {
    let folder = folder();
    std::fs::write(folder.path().join("out.json"), "x".repeat(1 << 20)).expect("a file");
    check(&read(&traced("safe_program", folder.path(), &[])));
}

#[test]
fn a_program_whose_timeline_cannot_be_written_runs_all_the_same() {
    let folder = folder();
    let output = run("safe_program", folder.path(), &[("GRIDCL_TRACE", "no/such/folder/out.json")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let output = run("safe_program", folder.path(), &[("GRIDCL_TRACE", "/dev/full")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn what_nobody_saw_done_is_counted() {
    let folder = folder();
    let output = run("leaves_work_behind", folder.path(), &[("GRIDCL_TRACE", "out.json")]);
    assert!(output.status.success());
    let events = read(&folder.path().join("out.json"));
    check(&events);
    assert_eq!(work(&events, "set").len(), 0);
    let lost = events.iter().find(|event| event.name() == "gridcl_lost").expect("a count");
    assert_eq!(lost.argument("commands"), 3);
}
