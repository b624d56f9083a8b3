//! Intervals of time and what they cover: pure arithmetic.

/// From a beginning to an end, in nanoseconds.
pub(crate) type Span = (u64, u64);

/// The same time without overlaps, in order.
pub(crate) fn union(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::new();
    for (start, end) in spans {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// How long they last together. They must not overlap.
pub(crate) fn length(spans: &[Span]) -> u64 {
    spans.iter().map(|(start, end)| end - start).sum()
}

/// The time that two lists have in common; neither has overlaps.
pub(crate) fn common(left: &[Span], right: &[Span]) -> u64 {
    let (mut i, mut j, mut sum) = (0, 0, 0);
    while let (Some(a), Some(b)) = (left.get(i), right.get(j)) {
        sum += a.1.min(b.1).saturating_sub(a.0.max(b.0));
        if a.1 < b.1 { i += 1 } else { j += 1 }
    }
    sum
}

/// How long at least two of the spans last at once.
pub(crate) fn at_once(spans: &[Span]) -> u64 {
    let mut edges: Vec<(u64, i64)> = spans.iter().flat_map(|(start, end)| [(*start, 1), (*end, -1)]).collect();
    edges.sort_unstable();
    let (mut depth, mut since, mut sum) = (0, 0, 0);
    for (at, change) in edges {
        if depth >= 2 {
            sum += at - since;
        }
        depth += change;
        since = at;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_count_once() {
        let spans = union(vec![(10, 20), (0, 5), (15, 30), (30, 31)]);
        assert_eq!(spans, [(0, 5), (10, 31)]);
        assert_eq!(length(&spans), 26);
        assert_eq!(length(&union(vec![])), 0);
    }

    #[test]
    fn common_time_is_found() {
        assert_eq!(common(&[(0, 10), (20, 30)], &[(5, 25)]), 10);
        assert_eq!(common(&[(0, 10)], &[(10, 20)]), 0);
        assert_eq!(common(&[], &[(10, 20)]), 0);
    }

    #[test]
    fn time_with_two_at_once_is_found() {
        assert_eq!(at_once(&[(0, 10), (5, 15), (8, 20)]), 10);
        assert_eq!(at_once(&[(0, 10), (10, 20)]), 0);
    }
}
