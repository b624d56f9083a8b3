//! Ranges within slabs: which bytes of a few large blocks are taken, and which are free.
//!
//! A slab here is a number and a length. Whoever owns the memory behind it maps a [`Range`] to an address; the runtime
//! does so both for slabs that a driver gave and for regions of reserved address space. Nothing here calls OpenCL,
//! touches memory or takes a lock.
//!
//! A request takes the smallest free range that holds it (best fit; among equals the one in the oldest slab and lowest
//! there, so that younger slabs run empty). A range that is given back merges with its free neighbours at once, so that
//! no two free ranges ever touch. Both cost O(log n) in the number of free ranges.

use std::collections::{BTreeMap, BTreeSet};

/// One slab; a number is never used again by the same [`Slabs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SlabId(u64);

/// Part of a slab that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// The slab that holds it.
    pub(crate) slab: SlabId,
    /// First byte, counted from the slab's base: a multiple of the alignment.
    pub(crate) offset: usize,
    /// Bytes really held: the request rounded up to the alignment.
    pub(crate) len: usize,
}

/// The slabs of one owner.
#[derive(Debug)]
pub(crate) struct Slabs {
    alignment: usize,
    slabs: BTreeMap<SlabId, Slab>,
    free: FreeRanges,
    /// The slabs of which nothing is taken, by length, and their bytes in sum.
    empty: BTreeSet<(usize, SlabId)>,
    bytes_empty: usize,
    bytes_held: usize,
    bytes_taken: usize,
    next: SlabId,
}

#[derive(Debug)]
struct Slab {
    len: usize,
    taken: usize,
}

impl Slabs {
    /// No slab yet. Ranges will start at multiples of `alignment`, a power of two, from the base of their slab.
    pub(crate) fn new(alignment: usize) -> Self {
        debug_assert!(alignment.is_power_of_two(), "alignment {alignment}");
        Self {
            alignment: alignment.max(1),
            slabs: BTreeMap::new(),
            free: FreeRanges::default(),
            empty: BTreeSet::new(),
            bytes_empty: 0,
            bytes_held: 0,
            bytes_taken: 0,
            next: SlabId(0),
        }
    }

    /// Adds a slab of `len` bytes, whose bytes below `first` stay unused. What the alignment leaves over at either end
    /// is unused too.
    pub(crate) fn add(&mut self, len: usize, first: usize) -> SlabId {
        let slab = self.next;
        self.next = SlabId(slab.0 + 1);
        self.slabs.insert(slab, Slab { len, taken: 0 });
        self.bytes_held += len;
        self.mark_empty(slab, len);

        let end = len - len % self.alignment;
        match first.checked_next_multiple_of(self.alignment) {
            Some(offset) if offset < end => {
                let len = end - offset;
                self.free.insert(Range { slab, offset, len });
            }
            _ => debug_assert!(false, "a slab of {len} bytes with none to use"),
        }
        slab
    }

    /// Takes the best place for `bytes`, if any free range is long enough. Even an empty request has a place of its
    /// own.
    pub(crate) fn take(&mut self, bytes: usize) -> Option<Range> {
        let len = bytes.max(1).checked_next_multiple_of(self.alignment)?;
        let place = self.free.best_fit(len)?;
        self.free.remove(place);
        if place.len > len {
            self.free.insert(Range { offset: place.offset + len, len: place.len - len, ..place });
        }
        self.count_taken(place.slab, len);
        Some(Range { len, ..place })
    }

    /// Gives back what [`take`](Self::take) returned. A range of a removed slab is ignored; so is one that is free
    /// already, which is a mistake of the caller.
    pub(crate) fn give(&mut self, range: Range) {
        if !self.slabs.contains_key(&range.slab) {
            return;
        }
        let (below, above) = self.free.neighbours(range);
        let clear_below = below.is_none_or(|below| below.end() <= range.offset);
        let clear_above = above.is_none_or(|above| range.end() <= above.offset);
        if !(clear_below && clear_above) {
            debug_assert!(false, "{range:?} is given back twice");
            return;
        }

        let mut merged = range;
        if let Some(below) = below.filter(|below| below.end() == range.offset) {
            self.free.remove(below);
            merged.offset = below.offset;
            merged.len += below.len;
        }
        if let Some(above) = above.filter(|above| above.offset == range.end()) {
            self.free.remove(above);
            merged.len += above.len;
        }
        self.free.insert(merged);
        self.count_given(range.slab, range.len);
    }

    /// Whether nothing of this slab is taken; true of a removed one.
    #[cfg(test)]
    pub(crate) fn is_empty(&self, slab: SlabId) -> bool {
        self.slabs.get(&slab).is_none_or(|slab| slab.taken == 0)
    }

    /// Removes slabs of which nothing is taken until those that stay have at most `keep_bytes` in sum, and names the
    /// removed. The largest go first, so that few releases give much back.
    pub(crate) fn remove_empty(&mut self, keep_bytes: usize) -> Vec<SlabId> {
        let mut removed = Vec::new();
        while self.bytes_empty > keep_bytes {
            let Some(&(_, slab)) = self.empty.last() else {
                break;
            };
            self.remove(slab);
            removed.push(slab);
        }
        removed
    }

    /// Removes a slab with all its ranges. Those still taken become void, and giving them back has no effect.
    pub(crate) fn remove(&mut self, slab: SlabId) {
        let Some(Slab { len, taken }) = self.slabs.remove(&slab) else {
            return;
        };
        if taken == 0 {
            self.unmark_empty(slab, len);
        }
        self.free.remove_slab(slab);
        self.bytes_held -= len;
        self.bytes_taken -= taken;
    }

    /// Bytes of all taken ranges, as rounded.
    #[cfg(test)]
    pub(crate) fn bytes_taken(&self) -> usize {
        self.bytes_taken
    }

    /// Bytes of all slabs, used or not.
    pub(crate) fn bytes_held(&self) -> usize {
        self.bytes_held
    }

    /// Bytes of the slabs of which nothing is taken.
    pub(crate) fn bytes_empty(&self) -> usize {
        self.bytes_empty
    }

    /// The most that one [`take`](Self::take) could get.
    #[cfg(test)]
    pub(crate) fn largest_free(&self) -> usize {
        self.free.largest()
    }

    fn count_taken(&mut self, id: SlabId, bytes: usize) {
        self.bytes_taken += bytes;
        if let Some(slab) = self.slabs.get_mut(&id) {
            let (len, was_empty) = (slab.len, slab.taken == 0);
            slab.taken += bytes;
            if was_empty {
                self.unmark_empty(id, len);
            }
        }
    }

    fn count_given(&mut self, id: SlabId, bytes: usize) {
        self.bytes_taken -= bytes;
        if let Some(slab) = self.slabs.get_mut(&id) {
            slab.taken -= bytes;
            let (len, is_empty) = (slab.len, slab.taken == 0);
            if is_empty {
                self.mark_empty(id, len);
            }
        }
    }

    fn mark_empty(&mut self, slab: SlabId, len: usize) {
        self.empty.insert((len, slab));
        self.bytes_empty += len;
    }

    fn unmark_empty(&mut self, slab: SlabId, len: usize) {
        self.empty.remove(&(len, slab));
        self.bytes_empty -= len;
    }
}

impl Range {
    /// Cuts a taken range behind its first `bytes`, rounded up to the alignment; the parts can be given back one by one.
    pub(crate) fn split(self, bytes: usize, alignment: usize) -> (Self, Option<Self>) {
        let len = bytes.max(1).checked_next_multiple_of(alignment).unwrap_or(self.len).min(self.len);
        let rest = Self { offset: self.offset + len, len: self.len - len, ..self };
        (Self { len, ..self }, (rest.len > 0).then_some(rest))
    }

    /// One past the last byte. It cannot overflow, as a range lies in its slab.
    fn end(self) -> usize {
        self.offset + self.len
    }
}

/// The free ranges, found by length for a request and by place for merging.
#[derive(Debug, Default)]
struct FreeRanges {
    by_len: BTreeSet<(usize, SlabId, usize)>,
    by_place: BTreeMap<(SlabId, usize), usize>,
    /// Searches, insertions and removals so far, for the test that bounds them.
    #[cfg(test)]
    steps: std::cell::Cell<usize>,
}

impl FreeRanges {
    fn insert(&mut self, range: Range) {
        self.step();
        self.by_len.insert((range.len, range.slab, range.offset));
        self.by_place.insert((range.slab, range.offset), range.len);
    }

    fn remove(&mut self, range: Range) {
        self.step();
        self.by_len.remove(&(range.len, range.slab, range.offset));
        self.by_place.remove(&(range.slab, range.offset));
    }

    fn remove_slab(&mut self, slab: SlabId) {
        let places = self.by_place.range((slab, 0)..=(slab, usize::MAX));
        let ranges: Vec<Range> = places.map(Self::range_at).collect();
        for range in ranges {
            self.remove(range);
        }
    }

    fn best_fit(&self, len: usize) -> Option<Range> {
        self.step();
        let &(len, slab, offset) = self.by_len.range((len, SlabId(0), 0)..).next()?;
        Some(Range { slab, offset, len })
    }

    /// The free ranges of the same slab that start last before, and first at or after, the start of `range`.
    fn neighbours(&self, range: Range) -> (Option<Range>, Option<Range>) {
        self.step();
        let (slab, offset) = (range.slab, range.offset);
        let mut below = self.by_place.range((slab, 0)..(slab, offset));
        let mut above = self.by_place.range((slab, offset)..=(slab, usize::MAX));
        (below.next_back().map(Self::range_at), above.next().map(Self::range_at))
    }

    #[cfg(test)]
    fn largest(&self) -> usize {
        self.by_len.last().map_or(0, |&(len, ..)| len)
    }

    fn range_at((&(slab, offset), &len): (&(SlabId, usize), &usize)) -> Range {
        Range { slab, offset, len }
    }

    fn step(&self) {
        #[cfg(test)]
        self.steps.set(self.steps.get() + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn taken(slabs: &mut Slabs, bytes: usize) -> Range {
        slabs.take(bytes).expect("room for this request")
    }

    #[test]
    fn requests_are_rounded_and_aligned() {
        let mut slabs = Slabs::new(256);
        let slab = slabs.add(1 << 20, 2048);
        let range = |offset, len| Range { slab, offset, len };
        assert_eq!(taken(&mut slabs, 1), range(2048, 256));
        assert_eq!(taken(&mut slabs, 257), range(2304, 512));
        assert_eq!(taken(&mut slabs, 0), range(2816, 256));
        assert_eq!(slabs.bytes_taken(), 1024);
        assert_eq!(slabs.bytes_held(), 1 << 20);
        assert_eq!(slabs.take(usize::MAX), None);
        assert_eq!(slabs.take(1 << 20), None);
    }

    #[test]
    fn odd_ends_of_a_slab_stay_unused() {
        let mut slabs = Slabs::new(256);
        slabs.add(1000, 100);
        assert_eq!(slabs.largest_free(), 512);
        assert_eq!(taken(&mut slabs, 512).offset, 256);
    }

    #[test]
    fn the_smallest_hole_that_fits_is_taken() {
        let mut slabs = Slabs::new(256);
        slabs.add(64 << 10, 0);
        let large = taken(&mut slabs, 2048);
        let _wall = taken(&mut slabs, 256);
        let small = taken(&mut slabs, 512);
        let _wall = taken(&mut slabs, 256);
        slabs.give(large);
        slabs.give(small);
        assert_eq!(taken(&mut slabs, 512), small);
        assert_eq!(taken(&mut slabs, 512).offset, large.offset);
    }

    #[test]
    fn neighbours_merge_in_any_order() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut slabs = Slabs::new(256);
            let slab = slabs.add(768, 0);
            let ranges: Vec<Range> = (0..3).map(|_| taken(&mut slabs, 256)).collect();
            assert_eq!(slabs.largest_free(), 0);
            for index in order {
                assert!(!slabs.is_empty(slab));
                slabs.give(ranges[index]);
            }
            assert!(slabs.is_empty(slab));
            assert_eq!(slabs.largest_free(), 768);
        }
    }

    #[test]
    fn neighbouring_slabs_do_not_merge() {
        let mut slabs = Slabs::new(256);
        slabs.add(512, 0);
        slabs.add(512, 0);
        let (first, second) = (taken(&mut slabs, 512), taken(&mut slabs, 512));
        assert_ne!(first.slab, second.slab);
        slabs.give(second);
        slabs.give(first);
        assert_eq!(slabs.largest_free(), 512);
    }

    #[test]
    fn empty_slabs_go_largest_first_until_the_rest_may_stay() {
        let mut slabs = Slabs::new(256);
        let ids = [1024, 4096, 2048, 8192].map(|len| slabs.add(len, 0));
        let held = taken(&mut slabs, 8192);
        assert_eq!(held.slab, ids[3]);
        assert_eq!(slabs.bytes_empty(), 7168);
        assert_eq!(slabs.remove_empty(7168), []);
        assert_eq!(slabs.remove_empty(3072), [ids[1]]);
        assert_eq!(slabs.remove_empty(0), [ids[2], ids[0]]);
        slabs.give(held);
        assert_eq!(slabs.remove_empty(0), [ids[3]]);
        assert_eq!((slabs.bytes_held(), slabs.largest_free()), (0, 0));
    }

    #[test]
    fn what_a_removed_slab_held_is_void_and_its_number_is_not_used_again() {
        let mut slabs = Slabs::new(256);
        let slab = slabs.add(1024, 0);
        let range = taken(&mut slabs, 256);
        slabs.remove(slab);
        assert_eq!((slabs.bytes_held(), slabs.bytes_taken()), (0, 0));
        slabs.give(range);
        assert_eq!(slabs.take(1), None);
        assert_ne!(slabs.add(1024, 0), slab);
    }

    #[test]
    #[should_panic(expected = "given back twice")]
    #[cfg(debug_assertions)]
    fn giving_twice_is_caught() {
        let mut slabs = Slabs::new(256);
        slabs.add(1024, 0);
        let range = taken(&mut slabs, 256);
        slabs.give(range);
        slabs.give(range);
    }

    /// Each request costs a fixed number of tree operations, on trees that hold no more ranges than there are gaps
    /// between taken ones.
    #[test]
    fn many_requests_in_random_order_cost_a_fixed_number_of_steps_each() {
        const PAIRS: usize = 200_000;
        const LIVE: usize = 5_000;
        let mut slabs = Slabs::new(256);
        let mut live = Vec::new();
        let mut state = 1_u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        for _ in 0..16 {
            slabs.add(64 << 20, 2048);
        }
        for _ in 0..PAIRS {
            if live.len() == LIVE {
                let index = random(LIVE);
                slabs.give(live.swap_remove(index));
            }
            let bytes = 1 << random(17);
            live.push(taken(&mut slabs, bytes + random(bytes)));
            assert!(slabs.free.by_len.len() <= live.len() + 16);
        }
        for range in live.drain(..) {
            slabs.give(range);
        }
        assert!(slabs.free.steps.get() <= 7 * PAIRS);
        assert_eq!(slabs.bytes_taken(), 0);
        assert_eq!(slabs.free.by_len.len(), 16);
        assert_eq!(slabs.free.by_place.len(), 16);
    }

    const UNIT: usize = 16;

    /// The same slabs as one flag per unit of the alignment.
    #[derive(Default)]
    struct Model {
        slabs: Vec<(SlabId, usize, Vec<bool>)>,
        live: Vec<Range>,
    }

    impl Model {
        fn units(&mut self, range: Range) -> &mut [bool] {
            let slab = self.slabs.iter_mut().find(|(id, ..)| *id == range.slab);
            let (_, _, units) = slab.expect("a slab that is there");
            &mut units[range.offset / UNIT..range.end() / UNIT]
        }

        /// Lengths of the free runs, in units.
        fn runs(&self) -> impl Iterator<Item = usize> {
            let units = self.slabs.iter().map(|(_, _, units)| units);
            units.flat_map(|units| units.split(|&taken| taken).map(<[bool]>::len))
        }

        fn add(&mut self, slabs: &mut Slabs, len: usize, first: usize) {
            let id = slabs.add(len, first);
            assert!(self.slabs.iter().all(|(other, ..)| *other < id));
            let mut units = vec![false; len / UNIT];
            units[..first.div_ceil(UNIT)].fill(true);
            self.slabs.push((id, len, units));
        }

        fn take(&mut self, slabs: &mut Slabs, bytes: usize) {
            let need = bytes.max(1).div_ceil(UNIT);
            let best = self.runs().filter(|&run| run >= need).min();
            let range = slabs.take(bytes);
            assert_eq!(range.is_some(), best.is_some());
            if let Some(range) = range {
                assert_eq!(range.len, need * UNIT);
                let units = self.units(range);
                assert!(units.iter().all(|&taken| !taken), "{range:?} overlaps");
                units.fill(true);
                self.live.push(range);
                // Best fit: one run of that length less, or the runs it was cut from would not add up.
                let best = best.expect("checked above");
                let (_, _, units) = &self.slabs.iter().find(|(id, ..)| *id == range.slab).expect("live");
                let after = units[range.end() / UNIT..].iter().take_while(|&&taken| !taken).count();
                let before = units[..range.offset / UNIT].iter().rev().take_while(|&&taken| !taken).count();
                assert_eq!((before, need + after), (0, best));
            }
        }

        fn give(&mut self, slabs: &mut Slabs, pick: usize) {
            if !self.live.is_empty() {
                let range = self.live.swap_remove(pick % self.live.len());
                self.units(range).fill(false);
                slabs.give(range);
            }
        }

        fn forget(&mut self, slab: SlabId) {
            self.slabs.retain(|(id, ..)| *id != slab);
            self.live.retain(|range| range.slab != slab);
        }

        fn is_empty(&self, slab: SlabId) -> bool {
            self.live.iter().all(|range| range.slab != slab)
        }

        fn bytes_empty(&self) -> usize {
            let empty = self.slabs.iter().filter(|(id, ..)| self.is_empty(*id));
            empty.map(|(_, len, _)| len).sum()
        }

        fn remove_empty(&mut self, slabs: &mut Slabs, keep: usize) {
            let removed = slabs.remove_empty(keep);
            let len_of = |slab: &SlabId| {
                let slab = self.slabs.iter().find(|(id, ..)| id == slab);
                slab.expect("a slab that was there").1
            };
            assert!(removed.is_sorted_by_key(|slab| usize::MAX - len_of(slab)));
            assert!(removed.iter().all(|&slab| self.is_empty(slab)));
            let spared = removed.last().map(len_of);
            for slab in removed {
                self.forget(slab);
            }
            assert!(self.bytes_empty() <= keep);
            // Not one more than needed: with the last one it would be too much.
            assert!(spared.is_none_or(|len| self.bytes_empty() + len > keep));
        }

        fn check(&self, slabs: &Slabs) {
            let held: usize = self.slabs.iter().map(|(_, len, _)| len).sum();
            let taken: usize = self.live.iter().map(|range| range.len).sum();
            assert_eq!((slabs.bytes_held(), slabs.bytes_taken()), (held, taken));
            assert_eq!(slabs.bytes_empty(), self.bytes_empty());
            assert_eq!(slabs.largest_free(), self.runs().max().unwrap_or(0) * UNIT);
            assert_eq!(slabs.free.by_len.len(), self.runs().filter(|&run| run > 0).count());
            assert_eq!(slabs.free.by_len.len(), slabs.free.by_place.len());
            for &(id, ..) in &self.slabs {
                assert_eq!(slabs.is_empty(id), self.is_empty(id));
            }
        }
    }

    proptest! {
        #[test]
        fn behaves_like_one_flag_per_unit(
            steps in prop::collection::vec((0..20_u8, 0..400_usize), 0..120),
        ) {
            let mut slabs = Slabs::new(UNIT);
            let mut model = Model::default();
            for (what, number) in steps {
                match what {
                    0..2 => model.add(&mut slabs, 100 + number, number % 80),
                    2..11 => model.take(&mut slabs, number / 4),
                    11..18 => model.give(&mut slabs, number),
                    18 => model.remove_empty(&mut slabs, number * 2),
                    _ if model.slabs.is_empty() => {}
                    _ => {
                        let slab = model.slabs[number % model.slabs.len()].0;
                        slabs.remove(slab);
                        model.forget(slab);
                    }
                }
                model.check(&slabs);
            }
        }
    }
}
