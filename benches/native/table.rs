//! The rows, how each is measured, and the table of ratios.

use super::side::{Cuda, Gridcl};

/// What is compared. The sizes are in `memory.rs`, `kernels.rs` and `native.cu`, under the same names.
pub(super) struct Row {
    pub(super) name: &'static str,
    what: &'static str,
    samples: usize,
    /// Operations in a sample.
    times: usize,
    /// gridcl's time over CUDA's at most.
    goal: Option<f64>,
}

const fn row(name: &'static str, what: &'static str, (samples, times): (usize, usize), goal: f64) -> Row {
    Row { name, what, samples, times, goal: Some(goal) }
}

const fn plain(name: &'static str, what: &'static str, (samples, times): (usize, usize)) -> Row {
    Row { name, what, samples, times, goal: None }
}

/// Goals for rates stand here as their inverse. What takes less than a millisecond runs 32 times before the wait, since
/// the two sides learn at different times that the device is done; the rows "and a wait" show that.
pub(super) const ROWS: &[Row] = &[
    plain("launch", "launch, 1 argument", (101, 64)),
    row("sync", "launch and synchronize", (101, 64), 1.10),
    row("record", "event record", (101, 64), 1.2),
    row("cross", "event record and wait in another stream", (101, 64), 1.2),
    row("h2d_pinned", "pinned to device, 256 MiB", (15, 1), 1.0 / 0.99),
    row("d2h_pinned", "device to pinned, 256 MiB", (15, 1), 1.0 / 0.99),
    row("d2d", "device to device, 1 GiB", (15, 32), 1.0 / 0.99),
    row("memset", "memset, 1 GiB", (15, 32), 1.0),
    plain("memset_wait", "memset, 1 GiB, and a wait", (31, 1)),
    row("memset_odd", "memset, 1 GiB - 3 bytes from byte 1 on", (15, 32), 1.0),
    row("h2d_pageable_64", "pageable to device, 64 MiB", (15, 1), 0.5),
    row("h2d_pageable_256", "pageable to device, 256 MiB", (9, 1), 0.5),
    row("d2h_pageable_64", "device to pageable, 64 MiB", (15, 1), 1.0 / 1.5),
    row("d2h_pageable_256", "device to pageable, 256 MiB", (9, 1), 1.0 / 1.5),
    row("malloc_1k", "malloc and free, 1 KiB", (31, 8), 0.1),
    row("malloc_64k", "malloc and free, 64 KiB", (31, 8), 0.1),
    row("malloc_1m", "malloc and free, 1 MiB", (31, 8), 0.1),
    row("malloc_64m", "malloc and free, 64 MiB", (15, 8), 0.1),
    plain("stage_in", "512 MiB in, 8 MiB at a time", (7, 1)),
    plain("stage_kernel", "their kernels", (7, 1)),
    plain("stage_out", "512 MiB out", (7, 1)),
    plain("pipeline", "all three on 4 streams", (7, 1)),
    row("vector_add", "vector add, 3 x 1 GiB", (15, 32), 1.0 / 0.97),
    row("matmul", "tiled matrix product, 4096", (9, 4), 1.0 / 0.97),
    row("reduce", "reduction, 1 GiB", (15, 32), 1.0 / 0.97),
    row("nbody", "n-body, 131,072", (9, 4), 1.0 / 0.97),
    row("stencil", "stencil, 512 x 512 x 512", (15, 32), 1.0 / 0.97),
    plain("stencil_wait", "stencil, and a wait", (31, 1)),
    row("transpose", "transpose, 16,384 x 16,384", (15, 32), 1.0 / 0.97),
    row("histogram", "histogram, 1 GiB", (15, 32), 1.0 / 0.97),
];

/// The pipeline's time over that of its longest stage at most.
const PIPELINE_GOAL: f64 = 1.10;

struct Line {
    name: &'static str,
    what: &'static str,
    goal: Option<f64>,
    gridcl: f64,
    /// CUDA's time, and the median of the ratios of each pair of samples.
    cuda: Option<(f64, f64)>,
    wrong: Vec<String>,
}

#[derive(Default)]
pub(super) struct Table(Vec<Line>);

impl Table {
    /// Runs a row on both sides in turn, after one sample each that does not count.
    pub(super) fn measure(&mut self, row: &Row, gridcl: &mut Gridcl, mut cuda: Option<&mut Cuda>) {
        let mut work = gridcl.open(row.name);
        if let Some(cuda) = &mut cuda {
            cuda.open(row.name);
        }
        let (mut here, mut there, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for sample in 0..=row.samples {
            // Who goes first alternates.
            let theirs_first = sample % 2 == 1;
            let early = cuda.as_mut().filter(|_| theirs_first).map(|cuda| cuda.sample(row.times));
            let ours = work.sample(row.times);
            let theirs = early.or_else(|| cuda.as_mut().map(|cuda| cuda.sample(row.times)));
            if sample > 0 {
                here.push(ours);
                if let Some(theirs) = theirs {
                    there.push(theirs);
                    ratios.push(ours / theirs);
                }
            }
        }
        let mut wrong: Vec<String> = work.check().err().map(|what| format!("gridcl: {what}")).into_iter().collect();
        drop(work);
        if let Some(what) = cuda.and_then(|cuda| cuda.close().err()) {
            wrong.push(format!("CUDA: {what}"));
        }
        let cuda = (!there.is_empty()).then(|| (median(&mut there), median(&mut ratios)));
        let line = Line { name: row.name, what: row.what, goal: row.goal, gridcl: median(&mut here), cuda, wrong };
        eprintln!("{:<44} {}", line.what, time(line.gridcl));
        self.0.push(line);
    }

    pub(super) fn is_wrong(&self) -> bool {
        self.0.iter().any(|line| !line.wrong.is_empty())
    }

    pub(super) fn print(&self) {
        println!("\n{:<44} {:>11} {:>11} {:>7} {:>6}  verdict", "operation", "gridcl", "CUDA", "ratio", "goal");
        for line in &self.0 {
            let (theirs, ratio) = line.cuda.unzip();
            print_line(line.what, line.gridcl, theirs, ratio, line.goal);
            for what in &line.wrong {
                println!("    WRONG, {what}");
            }
        }
        self.print_pipeline();
    }

    /// The pipeline against its longest stage, on either side.
    fn print_pipeline(&self) {
        let of = |name: &str| self.0.iter().find(|line| line.name == name);
        let (Some(whole), Some(stages)) =
            (of("pipeline"), ["stage_in", "stage_kernel", "stage_out"].map(of).into_iter().collect::<Option<Vec<_>>>())
        else {
            return;
        };
        let longest = stages.iter().map(|stage| stage.gridcl).fold(0.0, f64::max);
        let theirs = whole.cuda.map(|(whole, _)| {
            let longest = stages.iter().filter_map(|stage| stage.cuda).map(|(time, _)| time).fold(0.0, f64::max);
            whole / longest
        });
        let verdict = if whole.gridcl / longest <= PIPELINE_GOAL { "meets" } else { "misses" };
        println!(
            "the pipeline over its longest stage: {:.3}, goal {PIPELINE_GOAL}, {verdict}; CUDA's {}",
            whole.gridcl / longest,
            theirs.map_or("-".into(), |ratio| format!("{ratio:.3}"))
        );
    }
}

fn print_line(what: &str, ours: f64, theirs: Option<f64>, ratio: Option<f64>, goal: Option<f64>) {
    let text = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
    let verdict = match (ratio, goal) {
        (Some(ratio), Some(goal)) if ratio <= goal => "meets",
        (Some(_), Some(_)) => "misses",
        _ => "",
    };
    let theirs = theirs.map_or("-".into(), time);
    println!("{what:<44} {:>11} {theirs:>11} {:>7} {:>6}  {verdict}", time(ours), text(ratio), text(goal));
}

fn time(seconds: f64) -> String {
    match seconds {
        ..1e-3 => format!("{:.2} us", seconds * 1e6),
        ..1.0 => format!("{:.3} ms", seconds * 1e3),
        _ => format!("{seconds:.3} s"),
    }
}

pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
