//! Random programs over the C surface, valid calls and invalid ones in any order, against a model in host memory
//! (issue 8): every call answers the code that the model expects, and all memory holds what the model holds.
//!
//! Calls name streams, events, blocks and functions by a number that is taken modulo what has been made so far, whether
//! it is still alive or not: dead handles and stale pointers are part of every program. Where two calls meet in a block,
//! and neither the default stream's rules nor a stream order them, the program waits by an event, by a synchronisation
//! or for the device. `GRIDCL_TEST_PROGRAMS` says how many programs there are; a failure prints the shortest that fails,
//! and a program that does not end is printed and ends the process.

mod machine;
mod model;

use crate::watchdog::Watchdog;
use gridcl::Device;
use gridcl::testing::{guard, live, settled};
use model::Op;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;

/// How many programs a dialect runs.
fn cases() -> u32 {
    let asked = std::env::var("GRIDCL_TEST_PROGRAMS").ok().and_then(|text| text.parse().ok());
    let is_plain = Device::get(0).is_ok_and(|device| device.memory_form() == "svm") && Device::count() == 1;
    asked.unwrap_or(if is_plain { 1000 } else { 200 })
}

/// Runs random programs, and looks after each that nothing of them is left.
fn run_programs(run: impl Fn(&[Op])) {
    let watchdog = Watchdog::new("the first program");
    // What is made once for good.
    run(&[]);
    let baseline = live();
    let config = Config { cases: cases(), failure_persistence: None, max_shrink_iters: 500, ..Config::default() };
    let count = Cell::new(0);
    let outcome = TestRunner::new(config).run(&prop::collection::vec(model::op(), 1..60), |ops| {
        watchdog.beat(format!("{ops:?}"));
        run(&ops);
        count.set(count.get() + 1);
        if count.get() % 10 == 0 {
            let now = settled(&baseline);
            prop_assert!(now.within(&baseline), "left: {now:?}, before: {baseline:?}");
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

/// The test of one dialect.
macro_rules! programs_of {
    ($prefix:ident) => {
        mod $prefix {
            use super::*;

            #[test]
            fn random_programs_do_what_the_model_does() {
                let _guard = guard();
                let kit = machine::$prefix::Kit::new();
                run_programs(|ops| machine::$prefix::run(&kit, ops));
            }
        }
    };
}

programs_of!(musa);
programs_of!(tops);
