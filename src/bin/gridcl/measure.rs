//! Times of things that are done over and over.

use gridcl::Result;
use std::time::{Duration, Instant};

/// How many groups a time is the median of.
const GROUPS: usize = 7;

/// Nanoseconds that `act` takes when it is done many times in a row with `settle` behind all of them: the median over
/// several rows, which take `budget` together.
pub(crate) fn throughput(
    budget: Duration,
    mut act: impl FnMut() -> Result<()>,
    mut settle: impl FnMut() -> Result<()>,
) -> Result<f64> {
    let mut row = |times: usize| -> Result<Duration> {
        let start = Instant::now();
        (0..times).try_for_each(|_| act())?;
        settle()?;
        Ok(start.elapsed())
    };
    // The first time is another: memory is touched, queues are made.
    row(1)?;
    let one = row(1)?.max(Duration::from_nanos(1));
    let each = budget / GROUPS as u32;
    let times = ((each.as_secs_f64() / one.as_secs_f64()) as usize).clamp(1, 10_000);
    let rows: Result<Vec<f64>> = (0..GROUPS).map(|_| Ok(row(times)?.as_nanos() as f64 / times as f64)).collect();
    Ok(percentile(rows?, 0.5))
}

/// Nanoseconds that `act` takes, each time by itself; `between` is not timed.
pub(crate) fn samples(
    count: usize,
    mut act: impl FnMut() -> Result<()>,
    mut between: impl FnMut() -> Result<()>,
) -> Result<Vec<f64>> {
    let mut one = || -> Result<f64> {
        let start = Instant::now();
        act()?;
        let took = start.elapsed().as_nanos() as f64;
        between()?;
        Ok(took)
    };
    (0..count / 10 + 1).try_for_each(|_| one().map(drop))?;
    (0..count).map(|_| one()).collect()
}

/// The value below which that part of the values lies; 0 of none.
pub(crate) fn percentile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    values.get((last as f64 * part).round() as usize).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        assert_eq!(percentile(vec![5.0, 1.0, 3.0], 0.5), 3.0);
        assert_eq!(percentile(vec![5.0, 1.0, 3.0], 1.0), 5.0);
        assert_eq!(percentile(vec![], 0.5), 0.0);
    }
}
