//! Pairs of measurements, one of gridcl and one of plain OpenCL taken in turn, and the table of their ratios.
//!
//! A noisy machine is noisy for both sides of a pair, so the ratio of each pair is taken first and the median of the
//! ratios then. criterion gets the times of either side for its own statistics.

use criterion::{BenchmarkId, Criterion, SamplingMode};
use gridcl::Device;
use std::cell::RefCell;
use std::time::Duration;

/// One row of the table: a name, how often the work is done between two looks at the clock, and how long gridcl may
/// take for it, as a multiple of plain OpenCL's time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    /// What is done; criterion's group.
    pub(crate) group: &'static str,
    /// With which size or number of arguments.
    pub(crate) variant: &'static str,
    /// How often in a row before the other side's turn.
    pub(crate) batch: u64,
    /// The goal of the design, if there is one.
    pub(crate) goal: Option<f64>,
}

/// Everything that was measured.
#[derive(Default)]
pub(crate) struct Ledger(Vec<(Case, Vec<Pair>)>);

/// Nanoseconds of one operation on either side.
#[derive(Clone, Copy, Debug)]
struct Pair {
    gridcl: f64,
    raw: f64,
}

impl Ledger {
    /// Measures a case. Each side does its work as often as it is told and answers how long that took; what it does
    /// before and after is its own affair.
    pub(crate) fn compare(
        &mut self,
        criterion: &mut Criterion,
        case: Case,
        gridcl: impl FnMut(u64) -> Duration,
        raw: impl FnMut(u64) -> Duration,
    ) {
        let pairs = RefCell::new(Vec::new());
        let sides = RefCell::new((gridcl, raw));
        // Both of criterion's benchmarks run both sides in turn; each reports its own.
        let run = |iterations: u64| {
            let (gridcl, raw) = &mut *sides.borrow_mut();
            let mut sum = Pair { gridcl: 0.0, raw: 0.0 };
            let batches = iterations.div_ceil(case.batch);
            for batch in 0..batches {
                // Whoever comes first finds other caches than who comes second.
                let (gridcl, raw) = if batch % 2 == 0 {
                    let first = gridcl(case.batch);
                    (first, raw(case.batch))
                } else {
                    let first = raw(case.batch);
                    (gridcl(case.batch), first)
                };
                let each = |time: Duration| time.as_secs_f64() * 1e9 / case.batch as f64;
                let pair = Pair { gridcl: each(gridcl), raw: each(raw) };
                (sum.gridcl, sum.raw) = (sum.gridcl + pair.gridcl, sum.raw + pair.raw);
                pairs.borrow_mut().push(pair);
            }
            let scaled = |sum: f64| Duration::from_secs_f64(sum / batches as f64 * iterations as f64 * 1e-9);
            (scaled(sum.gridcl), scaled(sum.raw))
        };
        let mut group = criterion.benchmark_group(case.group);
        group.sampling_mode(SamplingMode::Flat);
        group.bench_function(BenchmarkId::new("gridcl", case.variant), |bencher| {
            bencher.iter_custom(|iterations| run(iterations).0);
        });
        group.bench_function(BenchmarkId::new("raw", case.variant), |bencher| {
            bencher.iter_custom(|iterations| run(iterations).1);
        });
        group.finish();
        let pairs = pairs.into_inner();
        if !pairs.is_empty() {
            self.0.push((case, pairs));
        }
    }

    /// Prints the table. Says nothing where nothing was measured.
    pub(crate) fn print(&self, device: Device) {
        if self.0.is_empty() {
            return;
        }
        println!("\ngridcl against plain OpenCL on {device}");
        println!("{}, driver {}, memory form {}\n", device.platform(), device.driver_version(), device.memory_form());
        println!("{:<40}{:>10}{:>11}{:>8}   95 %             goal  verdict", "operation", "gridcl", "raw", "ratio");
        for (case, pairs) in &self.0 {
            let sorted = |of: fn(&Pair) -> f64| {
                let mut values: Vec<f64> = pairs.iter().map(of).collect();
                values.sort_by(f64::total_cmp);
                values
            };
            let ratio = Median::of(&sorted(|pair| pair.gridcl / pair.raw));
            println!(
                "{:<40}{:>10}{:>11}{:>8.3}   {:.3} to {:.3} {:>6}  {}",
                format!("{}, {}", case.group, case.variant),
                time(Median::of(&sorted(|pair| pair.gridcl)).value),
                time(Median::of(&sorted(|pair| pair.raw)).value),
                ratio.value,
                ratio.low,
                ratio.high,
                case.goal.map_or("-".to_owned(), |goal| format!("{goal:.2}")),
                case.goal.map_or("", |goal| ratio.verdict(goal)),
            );
        }
        println!("\nratio: gridcl's time over plain OpenCL's, the median over pairs of runs taken in turn.");
        println!("goal: the most that the ratio may be.");
        println!("95 %: where the median lies. misses?: the goal lies there too, so this run does not tell.");
    }
}

/// A median, and the interval that it lies in at 95 % confidence.
#[derive(Clone, Copy, Debug)]
struct Median {
    value: f64,
    low: f64,
    high: f64,
}

impl Median {
    /// The median of sorted values. The interval comes from the values' ranks and assumes nothing about how they are
    /// spread.
    fn of(sorted: &[f64]) -> Self {
        let last = sorted.len() - 1;
        let reach = 0.98 * (sorted.len() as f64).sqrt();
        let rank = |offset: f64| sorted[(last as f64 / 2.0 + offset).round().clamp(0.0, last as f64) as usize];
        Self { value: rank(0.0), low: rank(-reach), high: rank(reach) }
    }

    fn verdict(self, goal: f64) -> &'static str {
        if self.value <= goal {
            "meets"
        } else if self.low <= goal {
            "misses?"
        } else {
            "misses"
        }
    }
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        ns if ns < 1e3 => format!("{ns:.1} ns"),
        ns if ns < 1e6 => format!("{:.2} us", ns * 1e-3),
        ns => format!("{:.2} ms", ns * 1e-6),
    }
}
