//! The map from addresses to the blocks that hold them.
//!
//! Every pointer that a program hands in is looked up here before anything else happens to it, so that a stale, foreign
//! or overrun one becomes an error and never reaches a driver. The map is plain data: it owns no memory, makes no
//! OpenCL call and takes no lock. Blocks never overlap; a look-up costs one descent of the tree.

use std::collections::BTreeMap;

/// Disjoint blocks of the address space, each with a value.
#[derive(Debug)]
pub(crate) struct AddressMap<T> {
    /// By base. A length is at least 1, and base + length may reach the end of the address space but is never computed:
    /// offsets are compared instead, which cannot overflow.
    blocks: BTreeMap<usize, Block<T>>,
}

#[derive(Debug)]
struct Block<T> {
    len: usize,
    value: T,
}

/// Where a range of addresses lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup<'a, T> {
    /// The whole range lies in one block.
    Inside { base: usize, len: usize, value: &'a T },
    /// The range starts in this block and runs past its end, whatever lies there.
    Overrun { base: usize, len: usize, value: &'a T },
    /// No block holds the first byte.
    Unknown,
}

/// A refused insertion: the block at `base`, of `len` bytes, is in the way of `value`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Overlap<T> {
    /// What was to be inserted, handed back.
    pub(crate) value: T,
    /// Start of the lowest block in the way.
    pub(crate) base: usize,
    /// Its length.
    pub(crate) len: usize,
}

impl<T> AddressMap<T> {
    /// An empty map.
    pub(crate) const fn new() -> Self {
        Self { blocks: BTreeMap::new() }
    }

    /// Adds the block of `len` bytes at `base`, unless it would overlap another. No block is empty: a `len` of 0 is a
    /// mistake of the caller, and is taken for 1.
    pub(crate) fn insert(&mut self, base: usize, len: usize, value: T) -> Result<(), Overlap<T>> {
        debug_assert!(len > 0, "an empty block at {base:#x}");
        let len = len.max(1);
        if let Some((base, len, _)) = self.overlapping(base, len).next() {
            return Err(Overlap { value, base, len });
        }
        self.blocks.insert(base, Block { len, value });
        Ok(())
    }

    /// Takes out the block that starts at `base`: its length and value.
    pub(crate) fn remove(&mut self, base: usize) -> Option<(usize, T)> {
        let block = self.blocks.remove(&base)?;
        Some((block.len, block.value))
    }

    /// Length and value of the block that starts exactly at `base`.
    pub(crate) fn get(&self, base: usize) -> Option<(usize, &T)> {
        let block = self.blocks.get(&base)?;
        Some((block.len, &block.value))
    }

    /// Finds the block that holds `address`, and says whether it holds all the `bytes` from there on. With `bytes` 0
    /// the address alone counts. One past the end of a block is not in it.
    pub(crate) fn look_up(&self, address: usize, bytes: usize) -> Lookup<'_, T> {
        match self.holder(address) {
            Some((base, block)) => {
                let (len, value) = (block.len, &block.value);
                if bytes <= len - (address - base) {
                    Lookup::Inside { base, len, value }
                } else {
                    Lookup::Overrun { base, len, value }
                }
            }
            None => Lookup::Unknown,
        }
    }

    /// The blocks that share a byte with the `len` bytes at `base`, in order of address. An empty range shares none.
    pub(crate) fn overlapping(&self, base: usize, len: usize) -> impl Iterator<Item = (usize, usize, &T)> {
        let last = len.checked_sub(1).map(|beyond_first| base.saturating_add(beyond_first));
        let first = self.holder(base).map_or(base, |(holder, _)| holder);
        last.into_iter().flat_map(move |last| self.blocks.range(first..=last)).map(Self::item)
    }

    /// Keeps the blocks for which `keep(base, len, value)` holds, asking in order of address, and returns the values of
    /// the others.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(usize, usize, &T) -> bool) -> Vec<T> {
        let doomed: Vec<usize> =
            self.iter().filter(|&(base, len, value)| !keep(base, len, value)).map(|(base, ..)| base).collect();
        doomed.into_iter().filter_map(|base| self.remove(base)).map(|(_, value)| value).collect()
    }

    /// How many blocks there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there is no block.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// All blocks as base, length and value, in order of address.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, usize, &T)> {
        self.blocks.iter().map(Self::item)
    }

    /// The block that holds `address`. As blocks are disjoint, only the last that starts at or below it can.
    fn holder(&self, address: usize) -> Option<(usize, &Block<T>)> {
        let (&base, block) = self.blocks.range(..=address).next_back()?;
        (address - base < block.len).then_some((base, block))
    }

    fn item<'a>((&base, block): (&'a usize, &'a Block<T>)) -> (usize, usize, &'a T) {
        (base, block.len, &block.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn map(blocks: &[(usize, usize)]) -> AddressMap<usize> {
        let mut map = AddressMap::new();
        for (number, &(base, len)) in blocks.iter().enumerate() {
            assert_eq!(map.insert(base, len, number), Ok(()));
        }
        map
    }

    #[test]
    fn ranges_are_inside_overrun_or_unknown() {
        let map = map(&[(100, 10), (110, 5)]);
        let first = |bytes| map.look_up(104, bytes);
        let (base, len, value) = (100, 10, &0);
        assert_eq!(first(0), Lookup::Inside { base, len, value });
        assert_eq!(first(6), Lookup::Inside { base, len, value });
        // The next block begins right there; a range may still not run into it.
        assert_eq!(first(7), Lookup::Overrun { base, len, value });
        assert_eq!(first(usize::MAX), Lookup::Overrun { base, len, value });
        assert_eq!(map.look_up(99, 1), Lookup::Unknown);
        assert_eq!(map.look_up(99, 2), Lookup::Unknown);
        assert_eq!(map.look_up(115, 0), Lookup::Unknown);
        assert_eq!(map.look_up(0, 0), Lookup::Unknown);
        assert_eq!(map.look_up(usize::MAX, usize::MAX), Lookup::Unknown);
    }

    #[test]
    fn a_clash_hands_the_value_back_and_names_the_lowest_block_in_the_way() {
        let mut map = map(&[(100, 10), (200, 10)]);
        let clash = |base, len| Overlap { value: 7, base, len };
        assert_eq!(map.insert(109, 1, 7), Err(clash(100, 10)));
        assert_eq!(map.insert(90, 11, 7), Err(clash(100, 10)));
        assert_eq!(map.insert(0, usize::MAX, 7), Err(clash(100, 10)));
        assert_eq!(map.insert(150, 51, 7), Err(clash(200, 10)));
        assert_eq!(map.insert(110, 90, 7), Ok(()));
        assert_eq!(map.len(), 3);
    }

    #[test]
    fn the_last_byte_of_the_address_space_is_a_byte_like_any_other() {
        let mut map = map(&[(usize::MAX - 3, 4)]);
        let last = map.look_up(usize::MAX, 1);
        assert!(matches!(last, Lookup::Inside { len: 4, .. }));
        assert!(matches!(map.look_up(usize::MAX, 2), Lookup::Overrun { .. }));
        assert!(map.insert(usize::MAX, 1, 1).is_err());
        // A length that leaves the address space is stored as given and still clashes with what lies above.
        assert!(map.insert(usize::MAX - 4, usize::MAX, 1).is_err());
        assert_eq!(map.overlapping(usize::MAX, usize::MAX).count(), 1);
    }

    #[test]
    fn only_a_base_names_a_block_for_get_and_remove() {
        let mut map = map(&[(100, 10)]);
        assert_eq!(map.get(101), None);
        assert_eq!(map.remove(101), None);
        assert_eq!(map.get(100), Some((10, &0)));
        assert_eq!(map.remove(100), Some((10, 0)));
        assert!(map.is_empty());
    }

    #[test]
    fn retain_returns_what_it_drops() {
        let mut map = map(&[(100, 10), (200, 20), (300, 30)]);
        assert_eq!(map.retain(|_, len, _| len == 20), [0, 2]);
        assert_eq!(map.iter().collect::<Vec<_>>(), [(200, 20, &1)]);
    }

    /// The same map as one owner per byte of a small window, which may lie anywhere in the address space.
    struct Model {
        window: usize,
        bytes: [Option<usize>; WINDOW],
        next: usize,
    }

    const WINDOW: usize = 48;

    impl Model {
        /// First byte and length of the block with this number.
        fn extent(&self, number: usize) -> (usize, usize) {
            let owned = |byte: &&Option<usize>| **byte == Some(number);
            let first = self.bytes.iter().position(|byte| owned(&byte));
            let first = first.expect("a live block");
            (self.window + first, self.bytes.iter().filter(owned).count())
        }

        fn overlapping(&self, at: usize, len: usize) -> Vec<(usize, usize, usize)> {
            let mut found: Vec<usize> = self.bytes[at..at + len].iter().flatten().copied().collect();
            found.dedup();
            let describe = |number| {
                let (base, len) = self.extent(number);
                (base, len, number)
            };
            found.into_iter().map(describe).collect()
        }

        fn insert(&mut self, map: &mut AddressMap<usize>, at: usize, len: usize) {
            let (number, in_the_way) = (self.next, self.overlapping(at, len));
            let expected = match in_the_way.first() {
                Some(&(base, len, _)) => Err(Overlap { value: number, base, len }),
                None => Ok(()),
            };
            assert_eq!(map.insert(self.window + at, len, number), expected);
            if expected.is_ok() {
                self.bytes[at..at + len].fill(Some(number));
                self.next += 1;
            }
        }

        fn remove(&mut self, map: &mut AddressMap<usize>, at: usize) {
            let block = self.bytes[at].map(|number| (self.extent(number), number));
            let expected = match block {
                Some(((base, len), number)) if base == self.window + at => Some((len, number)),
                _ => None,
            };
            assert_eq!(map.get(self.window + at).map(|(len, &value)| (len, value)), expected);
            assert_eq!(map.remove(self.window + at), expected);
            if let Some((len, _)) = expected {
                self.bytes[at..at + len].fill(None);
            }
        }

        fn retain(&mut self, map: &mut AddressMap<usize>, modulus: usize) {
            let dropped = map.retain(|_, _, number| number % modulus != 0);
            let mut expected = Vec::new();
            for byte in &mut self.bytes {
                let doomed = byte.take_if(|number| *number % modulus == 0);
                expected.extend(doomed);
            }
            expected.dedup();
            assert_eq!(dropped, expected);
        }

        fn check(&self, map: &AddressMap<usize>, at: usize, len: usize) {
            let (base, address) = (self.window, self.window + at);
            let expected = match self.bytes[at] {
                Some(number) => {
                    let (block, block_len) = self.extent(number);
                    Some((block, block_len, number, at + len <= block - base + block_len))
                }
                None => None,
            };
            let found = match map.look_up(address, len) {
                Lookup::Inside { base, len, value } => Some((base, len, *value, true)),
                Lookup::Overrun { base, len, value } => Some((base, len, *value, false)),
                Lookup::Unknown => None,
            };
            assert_eq!(found, expected);
            let copy = |(base, len, &number): (usize, usize, &usize)| (base, len, number);
            let found: Vec<_> = map.overlapping(address, len).map(copy).collect();
            assert_eq!(found, self.overlapping(at, len));
            let all: Vec<_> = map.iter().map(copy).collect();
            assert_eq!(all, self.overlapping(0, WINDOW));
            assert_eq!((map.len(), map.is_empty()), (all.len(), all.is_empty()));
        }
    }

    proptest! {
        #[test]
        fn behaves_like_one_owner_per_byte(
            window in prop_oneof![Just(0), Just(4096), Just(usize::MAX - (WINDOW - 1))],
            steps in prop::collection::vec((0..8_u8, 0..WINDOW, 1..WINDOW), 0..80),
        ) {
            let mut map = AddressMap::new();
            let mut model = Model { window, bytes: [None; WINDOW], next: 0 };
            for (what, at, len) in steps {
                let len = len.min(WINDOW - at);
                match what {
                    0..4 => model.insert(&mut map, at, len.div_ceil(4)),
                    4..6 => model.remove(&mut map, at),
                    6 => model.retain(&mut map, 2 + len % 4),
                    _ => model.check(&map, at, 0),
                }
                model.check(&map, at, len);
            }
        }
    }
}
