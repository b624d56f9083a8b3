//! Goes through the entry points that a chapter reaches, and through their calls and statuses.

use super::statuses::{at_times_untold, never_told, statuses};
use super::step::Steps;
use crate::watchdog::Watchdog;
use gridcl::ErrorKind;
use gridcl::testing::{Live, clear_fault, count_calls, fail, fault_is_to_come, live, settled};
use std::collections::BTreeMap;

/// A few calls of the program that belong together, and check what came of them.
pub struct Chapter<K> {
    /// Its name.
    pub name: &'static str,
    /// Runs it once.
    pub run: fn(&mut Steps, &K),
}

/// How many of an entry point's calls fail in turn, unless `GRIDCL_FAULTS=full` asks for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The first three, the last, and some between.
    Usual,
    /// The first and the last.
    Brief,
}

/// What became of the faults of one entry point.
#[derive(Debug, Default)]
struct Outcome {
    met: usize,
    told: usize,
    /// Faults that nobody was told of, though somebody has to be.
    silent: Vec<String>,
}

/// Lets each call of OpenCL fail that the chapters make.
pub fn sweep<K>(chapters: &[Chapter<K>], kit: &K, check: fn(&K), depth: Depth, code_of: fn(ErrorKind) -> i32) {
    let watchdog = Watchdog::new("the first run of the chapters");
    // A single chapter may know an entry point only from what nobody is told of.
    let is_whole = chapters.len() > 1;
    let mut outcomes = BTreeMap::<String, Outcome>::new();
    for chapter in chapters {
        let before = std::time::Instant::now();
        // What is made once for good is made here, and what PoCL compiles at first use.
        for _ in 0..2 {
            (chapter.run)(&mut Steps::sure(), kit);
        }
        let baseline = live();
        let ((), calls) = count_calls(|| {
            (chapter.run)(&mut Steps::sure(), kit);
            let _ = live();
        });
        let mut runs = 0;
        for &(entry, count) in &calls {
            for (round, after) in positions(count, depth).into_iter().enumerate() {
                for &status in picked(statuses(entry), round) {
                    let what = format!("{}: {entry} answers {status} after {after} calls", chapter.name);
                    watchdog.beat(what.clone());
                    let _saying = Saying(what);
                    let outcome = outcomes.entry(entry.to_owned()).or_default();
                    run_with_fault(chapter, kit, (entry, after, status), code_of, &baseline, outcome);
                    check(kit);
                    runs += 1;
                }
            }
            watchdog.beat(format!("{}: after the faults of {entry}", chapter.name));
            (chapter.run)(&mut Steps::sure(), kit);
        }
        println!("{}: {runs} faults of {} entry points in {:?}", chapter.name, calls.len(), before.elapsed());
    }
    for (entry, outcome) in &outcomes {
        println!("{entry}: met {}, told {}", outcome.met, outcome.told);
        assert!(
            outcome.told > 0 || never_told(entry).is_some() || !is_whole,
            "{entry} failed {} times, and nobody was ever told",
            outcome.met
        );
        assert!(outcome.met > 0, "{entry} was reached by counting and not by a fault");
    }
    let silent: Vec<&String> = outcomes.values().flat_map(|outcome| &outcome.silent).collect();
    assert!(silent.is_empty(), "nobody was told that\n{silent:#?}");
}

fn run_with_fault<K>(
    chapter: &Chapter<K>,
    kit: &K,
    (entry, after, status): (&str, u64, i32),
    code_of: fn(ErrorKind) -> i32,
    baseline: &Live,
    outcome: &mut Outcome,
) {
    let mut steps = Steps::risky(entry, status, code_of);
    fail(entry, after, status);
    (chapter.run)(&mut steps, kit);
    let silent = !fault_is_to_come() && steps.refused.is_none();
    // What is given back late may meet the fault, too, and then there is nobody to tell.
    let _ = live();
    let met = !clear_fault();
    let name = chapter.name;
    assert!(met || steps.refused.is_none(), "{name}: {:?} without {entry}", steps.refused);
    if met {
        outcome.met += 1;
        outcome.told += usize::from(steps.refused.is_some());
        if silent && never_told(entry).or_else(|| at_times_untold(name, entry)).is_none() {
            outcome.silent.push(format!("{name}: {entry} answered {status} after {after} calls"));
        }
    }
    let now = settled(baseline);
    assert!(
        now.within(baseline),
        "{name}: alive after {entry} answered {status} after {after} calls: {now:?}, before: {baseline:?}"
    );
}

/// Says what was going on when an assertion fails.
struct Saying(String);

impl Drop for Saying {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in {}", self.0);
        }
    }
}

/// After how many calls of `count` the fault comes.
fn positions(count: u64, depth: Depth) -> Vec<u64> {
    let full = std::env::var("GRIDCL_FAULTS").as_deref() == Ok("full");
    let last = count - 1;
    let mut all: Vec<u64> = match depth {
        _ if full => (0..count).collect(),
        Depth::Usual => vec![0, 1, 2, last / 3, last / 2, last],
        Depth::Brief => vec![0, last],
    };
    all.retain(|&after| after < count);
    all.sort_unstable();
    all.dedup();
    all
}

/// All statuses for an entry point's first call, then one each in turn.
fn picked(statuses: &'static [i32], round: usize) -> &'static [i32] {
    if round == 0 { statuses } else { std::slice::from_ref(&statuses[round % statuses.len()]) }
}
