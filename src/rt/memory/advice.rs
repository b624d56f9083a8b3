//! What the program said about how it will use managed memory, by range. Plain data: OpenCL has no use for it but a
//! prefetch, and programs read it back.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Where memory may live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Location {
    /// On the host.
    Host,
    /// On the device with this ordinal.
    Device(usize),
}

/// What was said about a range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Advice {
    /// It is mostly read.
    pub(crate) read_mostly: bool,
    /// Where it should live.
    pub(crate) preferred: Option<Location>,
    /// Who will use it.
    pub(crate) accessed_by: BTreeSet<Location>,
    /// Where it was prefetched to last.
    pub(crate) prefetched: Option<Location>,
}

/// The advice for each byte of a block. Nothing was said at first.
#[derive(Debug)]
pub(crate) struct AdviceMap {
    /// Where a stretch of bytes with the same advice starts; it ends where the next one starts. Has 0.
    starts: BTreeMap<usize, Advice>,
}

impl Default for AdviceMap {
    fn default() -> Self {
        Self { starts: BTreeMap::from([(0, Advice::default())]) }
    }
}

impl AdviceMap {
    /// Changes what was said about a range.
    pub(crate) fn change(&mut self, range: Range<usize>, change: impl Fn(&mut Advice)) {
        if range.is_empty() {
            return;
        }
        self.cut(range.start);
        self.cut(range.end);
        self.starts.range_mut(range).for_each(|(_, advice)| change(advice));
        self.join();
    }

    /// The advice of each stretch that the range touches, in order.
    pub(crate) fn of(&self, range: Range<usize>) -> impl Iterator<Item = &Advice> {
        let first = self.starts.range(..=range.start).next_back().map_or(0, |(&start, _)| start);
        self.starts.range(first..range.end.max(first + 1)).map(|(_, advice)| advice)
    }

    /// Lets a stretch start there.
    fn cut(&mut self, at: usize) {
        if let Some((_, advice)) = self.starts.range(..=at).next_back() {
            let advice = advice.clone();
            self.starts.entry(at).or_insert(advice);
        }
    }

    /// Makes one stretch of neighbours that are alike.
    fn join(&mut self) {
        let mut last: Option<Advice> = None;
        self.starts.retain(|_, advice| {
            let keep = last.as_ref() != Some(advice);
            if keep {
                last = Some(advice.clone());
            }
            keep
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_was_said_at_first() {
        assert!(AdviceMap::default().of(3..9).eq([&Advice::default()]));
    }

    #[test]
    fn equal_neighbours_are_one_stretch() {
        let mut map = AdviceMap::default();
        map.change(0..10, |advice| advice.read_mostly = true);
        map.change(10..20, |advice| advice.read_mostly = true);
        assert_eq!(map.of(0..20).count(), 1);
        assert_eq!(map.of(0..21).count(), 2);
        map.change(0..20, |advice| advice.read_mostly = false);
        assert_eq!(map.starts.len(), 1);
    }

    proptest! {
        #[test]
        fn each_byte_has_what_was_said_about_it_last(
            changes in prop::collection::vec((0usize..40, 0usize..40, 0usize..3), 0..20),
            asked in (0usize..40, 1usize..40),
        ) {
            let mut map = AdviceMap::default();
            let mut model = vec![Advice::default(); 100];
            for (start, len, place) in changes {
                let change = |advice: &mut Advice| advice.preferred = Some(Location::Device(place));
                map.change(start..start + len, change);
                model[start..start + len].iter_mut().for_each(change);
            }
            let range = asked.0..asked.0 + asked.1;
            let mut expected: Vec<&Advice> = model[range.clone()].iter().collect();
            expected.dedup();
            prop_assert_eq!(map.of(range).collect::<Vec<_>>(), expected);
        }
    }
}
