//! What was freed in stream order, by who may have it: one lane, whose later work comes after the free, or anybody.
//!
//! Plain data: whether the work before a free is done is told by a closure, and nothing here calls OpenCL.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Freed things by size and age.
#[derive(Debug)]
pub(super) struct Shelves<T> {
    lanes: HashMap<usize, Shelf<T>>,
    anyones: Shelf<T>,
    /// Counts what was put here, so that things of one size keep an order.
    next: u64,
    pending_bytes: usize,
}

#[derive(Debug)]
struct Shelf<T> {
    by_age: BTreeMap<u64, (usize, T)>,
    by_size: BTreeSet<(usize, u64)>,
}

impl<T> Shelves<T> {
    pub(super) fn new() -> Self {
        Self { lanes: HashMap::new(), anyones: Shelf::new(), next: 0, pending_bytes: 0 }
    }

    /// Puts a thing of `size` where a lane may have it at once, and others once its work is done; or anybody.
    pub(super) fn put(&mut self, lane: Option<usize>, size: usize, thing: T) {
        self.next += 1;
        match lane {
            Some(lane) => {
                self.pending_bytes += size;
                self.lanes.entry(lane).or_insert_with(Shelf::new).put(self.next, size, thing);
            }
            None => self.anyones.put(self.next, size, thing),
        }
    }

    /// Takes the smallest thing of at least `size` that a lane may have; its own rather than anybody's.
    pub(super) fn take(&mut self, lane: Option<usize>, size: usize) -> Option<T> {
        if let Some(lane) = lane
            && let Some(shelf) = self.lanes.get_mut(&lane)
            && let Some((found, thing)) = shelf.take(size)
        {
            self.pending_bytes -= found;
            if shelf.is_empty() {
                self.lanes.remove(&lane);
            }
            return Some(thing);
        }
        self.anyones.take(size).map(|(_, thing)| thing)
    }

    /// Gives anybody what is done. What a lane freed is done in the order in which it was freed.
    pub(super) fn settle(&mut self, is_done: impl Fn(&T) -> bool) {
        let (anyones, pending_bytes) = (&mut self.anyones, &mut self.pending_bytes);
        self.lanes.retain(|_, shelf| {
            while let Some((age, size, thing)) = shelf.take_oldest(&is_done) {
                *pending_bytes -= size;
                anyones.put(age, size, thing);
            }
            !shelf.is_empty()
        });
    }

    /// Takes the largest thing that is anybody's: the fewest steps to give much back.
    pub(super) fn take_largest(&mut self) -> Option<T> {
        let &(_, age) = self.anyones.by_size.last()?;
        self.anyones.remove(age).map(|(_, thing)| thing)
    }

    /// Bytes that only their lane may have.
    pub(super) fn pending_bytes(&self) -> usize {
        self.pending_bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lanes.is_empty() && self.anyones.is_empty()
    }

    /// Takes everything, done or not.
    pub(super) fn clear(&mut self) -> Vec<T> {
        let shelves = std::mem::replace(self, Self::new());
        let all = shelves.lanes.into_values().chain([shelves.anyones]);
        all.flat_map(|shelf| shelf.by_age.into_values()).map(|(_, thing)| thing).collect()
    }
}

impl<T> Shelf<T> {
    fn new() -> Self {
        Self { by_age: BTreeMap::new(), by_size: BTreeSet::new() }
    }

    fn put(&mut self, age: u64, size: usize, thing: T) {
        self.by_age.insert(age, (size, thing));
        self.by_size.insert((size, age));
    }

    fn take(&mut self, size: usize) -> Option<(usize, T)> {
        let &(_, age) = self.by_size.range((size, 0)..).next()?;
        self.remove(age)
    }

    fn take_oldest(&mut self, wanted: impl Fn(&T) -> bool) -> Option<(u64, usize, T)> {
        let (&age, (_, thing)) = self.by_age.first_key_value()?;
        if !wanted(thing) {
            return None;
        }
        self.remove(age).map(|(size, thing)| (age, size, thing))
    }

    fn remove(&mut self, age: u64) -> Option<(usize, T)> {
        let (size, thing) = self.by_age.remove(&age)?;
        self.by_size.remove(&(size, age));
        Some((size, thing))
    }

    fn is_empty(&self) -> bool {
        self.by_age.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_lane_has_its_own_at_once_and_others_when_it_is_done() {
        let mut shelves = Shelves::new();
        shelves.put(Some(1), 100, "own");
        shelves.put(Some(1), 50, "small");
        assert_eq!(shelves.take(Some(2), 10), None);
        assert_eq!(shelves.take(None, 10), None);
        assert_eq!(shelves.take(Some(1), 60), Some("own"));
        assert_eq!(shelves.pending_bytes(), 50);
        shelves.settle(|_| true);
        assert_eq!(shelves.pending_bytes(), 0);
        assert_eq!(shelves.take(Some(2), 50), Some("small"));
        assert!(shelves.is_empty());
    }

    #[test]
    fn the_largest_goes_first_and_what_is_pending_stays() {
        let mut shelves = Shelves::new();
        for (lane, size) in [(None, 10), (None, 30), (Some(1), 99), (None, 20)] {
            shelves.put(lane, size, size);
        }
        assert_eq!([shelves.take_largest(), shelves.take_largest(), shelves.take_largest()], [30, 20, 10].map(Some));
        assert_eq!(shelves.take_largest(), None);
        assert_eq!(shelves.clear(), [99]);
        assert_eq!((shelves.is_empty(), shelves.pending_bytes()), (true, 0));
    }

    proptest! {
        /// Against a list: each thing is (lane, size, number), and a lane's things are done up to a number.
        #[test]
        fn behaves_like_a_list(steps in prop::collection::vec((0..6_u8, 0..3_usize, 1..20_usize), 0..120)) {
            let mut shelves = Shelves::new();
            let mut list: Vec<(Option<usize>, usize, usize)> = Vec::new();
            for (number, (what, lane, size)) in steps.into_iter().enumerate() {
                match what {
                    0..3 => {
                        let lane = Some(lane).filter(|&lane| lane < 2);
                        list.push((lane, size, number));
                        shelves.put(lane, size, (lane, size, number));
                    }
                    3 | 4 => {
                        let fits = |of: Option<usize>| {
                            let fitting = list.iter().filter(|(lane, held, _)| *lane == of && *held >= size);
                            fitting.min_by_key(|(_, held, number)| (*held, *number)).copied()
                        };
                        let expected = fits(Some(lane)).or_else(|| fits(None));
                        let taken = shelves.take(Some(lane), size);
                        prop_assert_eq!(taken.map(|(_, _, number)| number), expected.map(|(_, _, number)| number));
                        list.retain(|thing| Some(thing) != expected.as_ref());
                    }
                    _ => {
                        let done = |lane: Option<usize>, it: usize| lane == Some(0) && it + 5 < number;
                        shelves.settle(|&(lane, _, it)| done(lane, it));
                        for (lane, _, it) in &mut list {
                            if done(*lane, *it) {
                                *lane = None;
                            }
                        }
                    }
                }
                let pending: usize = list.iter().filter(|(lane, ..)| lane.is_some()).map(|(_, size, _)| size).sum();
                prop_assert_eq!(shelves.pending_bytes(), pending);
                prop_assert_eq!(shelves.is_empty(), list.is_empty());
            }
        }
    }
}
