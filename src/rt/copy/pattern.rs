//! What a set writes: up to 16 bytes, over and over. Plain data.

/// The most bytes that a pattern has.
const MOST: usize = 16;

/// A pattern of 1, 2, 4, 8 or 16 bytes, the shortest that it can be told by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// The pattern over and over.
    bytes: [u8; MOST],
    width: usize,
}

impl Pattern {
    /// One byte.
    pub(crate) fn byte(byte: u8) -> Self {
        Self { bytes: [byte; MOST], width: 1 }
    }

    /// What `element` is when it is repeated; `None` where no pattern can tell it.
    pub(crate) fn of(element: &[u8]) -> Option<Self> {
        let width = [1, 2, 4, 8, 16].into_iter().find(|&width| {
            element.len().is_multiple_of(width)
                && element.chunks(width).all(|chunk| Some(chunk) == element.get(..width))
        })?;
        let first = element.get(..width)?;
        let mut bytes = [0; MOST];
        bytes.chunks_mut(width).for_each(|chunk| chunk.copy_from_slice(first));
        Some(Self { bytes, width })
    }

    /// Once.
    pub(crate) fn once(&self) -> &[u8] {
        &self.bytes[..self.width]
    }

    /// The same, told by 16 bytes.
    pub(crate) fn widened(&self) -> Self {
        Self { width: MOST, ..*self }
    }

    /// 16 bytes of it, the first at the start of the range.
    pub(crate) fn repeated(&self) -> &[u8; MOST] {
        &self.bytes
    }

    /// 16 bytes of it as they lie at an address that is a multiple of 16, in a range that starts at `address`.
    pub(crate) fn aligned(&self, address: usize) -> [u8; MOST] {
        let mut bytes = self.bytes;
        bytes.rotate_right(address % MOST);
        bytes
    }

    /// Whether a range of `bytes` bytes from `address` on is of whole patterns, each where its width asks for.
    pub(crate) fn suits(&self, address: usize, bytes: usize) -> bool {
        address.is_multiple_of(self.width) && bytes.is_multiple_of(self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_pattern_is_as_short_as_can_be() {
        let once = |element: &[u8]| Pattern::of(element).map(|pattern| pattern.once().to_vec());
        assert_eq!(once(&[7; 16]), Some(vec![7]));
        assert_eq!(once(&[7; 12]), Some(vec![7]));
        assert_eq!(once(&[1, 2, 1, 2]), Some(vec![1, 2]));
        assert_eq!(once(&[1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]), Some(vec![1, 2, 3, 4]));
        assert_eq!(once(&[1, 2, 3]), None);
        assert_eq!(once(&[]), None);
        assert_eq!(Pattern::of(&[9, 9]), Some(Pattern::byte(9)));
    }

    proptest! {
        #[test]
        fn every_address_gets_its_byte_of_the_pattern(
            element in prop::sample::select(vec![1_usize, 2, 4, 8, 16])
                .prop_flat_map(|width| prop::collection::vec(any::<u8>(), width)),
            start in 0..64_usize,
        ) {
            let pattern = Pattern::of(&element).expect("a width that can be told");
            for address in start..start + 64 {
                let expected = element[(address - start) % element.len()];
                prop_assert_eq!(pattern.repeated()[(address - start) % MOST], expected);
                prop_assert_eq!(pattern.aligned(start)[address % MOST], expected);
                prop_assert_eq!(pattern.widened().once()[(address - start) % MOST], expected);
            }
        }
    }
}
