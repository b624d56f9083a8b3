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
        println!(
            "{:<34}{:>12}{:>12}{:>8}   {:<15}{:>6}  verdict",
            "operation", "gridcl", "raw", "ratio", "middle half", "goal"
        );
        for (case, pairs) in &self.0 {
            let sorted = |of: fn(&Pair) -> f64| {
                let mut values: Vec<f64> = pairs.iter().map(of).collect();
                values.sort_by(f64::total_cmp);
                values
            };
            let ratios = sorted(|pair| pair.gridcl / pair.raw);
            let ratio = quantile(&ratios, 0.5);
            let (goal, verdict) = match case.goal {
                Some(goal) => (format!("{goal:.2}"), if ratio <= goal { "meets" } else { "misses" }),
                None => ("-".to_owned(), ""),
            };
            println!(
                "{:<34}{:>12}{:>12}{ratio:>8.3}   {:<15}{goal:>6}  {verdict}",
                format!("{}, {}", case.group, case.variant),
                time(quantile(&sorted(|pair| pair.gridcl), 0.5)),
                time(quantile(&sorted(|pair| pair.raw), 0.5)),
                format!("{:.3} to {:.3}", quantile(&ratios, 0.25), quantile(&ratios, 0.75)),
            );
        }
        println!(
            "\nTimes and ratios are medians over pairs of runs taken in turn; half of the ratios lie in \"middle half\"."
        );
        println!("Goals are upper bounds for the ratio. A miss by less than the middle half's width may be noise.");
    }
}

/// The value that a part of the sorted values lies below.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        ns if ns < 1e3 => format!("{ns:.1} ns"),
        ns if ns < 1e6 => format!("{:.2} us", ns * 1e-3),
        ns => format!("{:.2} ms", ns * 1e-6),
    }
}
