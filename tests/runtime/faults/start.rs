//! OpenCL fails while the runtime starts: devices are found without what failed, or every call says that there is none
//! and why. Each time in a process of its own, since a runtime starts once.

use super::both::musa::code_of;
use super::step::Steps;
use crate::child;
use crate::dialects::musa::*;
use crate::watchdog::Watchdog;
use gridcl::Device;
use gridcl::testing::{clear_fault, count_calls, fail};
use std::ptr::null_mut;

const FAULT: &str = "GRIDCL_TEST_FAULT";
const NAME_OF_TEST: &str = "faults::start::a_start_that_opencl_refuses_is_told_or_does_without";

#[test]
fn a_start_that_opencl_refuses_is_told_or_does_without() {
    if child::is_child() {
        return match std::env::var(FAULT).unwrap().split_once(' ') {
            Some((entry, after)) => start_without(entry, after.parse().unwrap()),
            None => println!("counted: {:?}", count_calls(|| assert!(Device::count() > 0)).1),
        };
    }
    let output = child::run(NAME_OF_TEST, &[(FAULT, "none")]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let counted = text.lines().find_map(|line| line.split_once("counted: [(")).expect("counts").1;
    let mut entries = 0;
    for part in counted.trim_end_matches(")]").split("), (") {
        let (entry, count) = part.split_once(", ").expect("a name and a number");
        let (entry, count): (_, u64) = (entry.trim_matches('"'), count.parse().expect("a number"));
        let full = std::env::var("GRIDCL_FAULTS").as_deref() == Ok("full");
        let step = if full { 1 } else { (count / 6).max(1) };
        for after in (0..count).step_by(step as usize) {
            child::passes(NAME_OF_TEST, &[(FAULT, &format!("{entry} {after}"))]);
        }
        entries += 1;
    }
    assert!(entries >= 3, "{text}");
}

fn start_without(entry: &str, after: u64) {
    let _watchdog = Watchdog::new(entry);
    fail(entry, after, -6);
    let found = Device::count();
    if clear_fault() {
        panic!("the start calls {entry} {after} times only");
    }
    let notes = Device::discovery().join("\n");
    if found == 0 {
        assert!(notes.contains(entry), "what was found names {entry}: {notes}");
        let mut out = null_mut();
        fails!(unsafe { malloc(&mut out, 64) }, NO_DEVICE, "Malloc: no OpenCL device: ", entry);
        return;
    }
    // What is there works.
    let mut steps = Steps::risky(entry, -6, code_of);
    let memory = made!(steps, |out| unsafe { malloc(out, 64) });
    step!(steps, memset(memory, 3, 64));
    let mut got = [0_u8; 64];
    step!(steps, unsafe { memcpy(got.as_mut_ptr().cast(), memory, 64, DEVICE_TO_HOST) });
    assert_eq!((got, &steps.refused), ([3; 64], &None));
    step!(steps, free(memory));
}
