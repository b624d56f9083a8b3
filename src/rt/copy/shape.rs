//! Boxes of bytes: rows of a width, in slices, and how they lie in memory. Plain arithmetic, without a device.

/// What the pitch of pitched memory is a multiple of: that of CUDA's devices.
pub(crate) const PITCH_ALIGNMENT: usize = 512;

/// No pitch is larger, as with CUDA.
pub(crate) const MAX_PITCH: usize = i32::MAX as usize;

/// How much is copied or set: `width` bytes of each of `rows` rows of each of `slices` slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) width: usize,
    pub(crate) rows: usize,
    pub(crate) slices: usize,
}

/// Bytes from one row to the next, and from one slice to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pitch {
    pub(crate) row: usize,
    pub(crate) slice: usize,
}

/// A box as it lies at each end of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) extent: Extent,
    pub(crate) to: Pitch,
    pub(crate) from: Pitch,
}

impl Extent {
    /// So many bytes in a row.
    pub(crate) fn flat(width: usize) -> Self {
        Self { width, rows: 1, slices: 1 }
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(self) -> bool {
        self.width == 0 || self.rows == 0 || self.slices == 0
    }

    /// The bytes in it; `None` beyond the address space.
    pub(crate) fn bytes(self) -> Option<usize> {
        self.width.checked_mul(self.rows)?.checked_mul(self.slices)
    }

    /// Rows without room between them.
    pub(crate) fn tight(self) -> Pitch {
        Pitch { row: self.width, slice: self.width.saturating_mul(self.rows) }
    }

    /// Bytes from the first of the box to behind its last; `None` beyond the address space.
    pub(crate) fn span(self, pitch: Pitch) -> Option<usize> {
        if self.is_empty() {
            return Some(0);
        }
        let rows = pitch.row.checked_mul(self.rows - 1)?;
        pitch.slice.checked_mul(self.slices - 1)?.checked_add(rows)?.checked_add(self.width)
    }

    /// The pitch of memory for boxes of so many bytes a row and so many rows a slice; `None` beyond [`MAX_PITCH`].
    pub(crate) fn padded(self) -> Option<Pitch> {
        let row = self.width.checked_next_multiple_of(PITCH_ALIGNMENT).filter(|&row| row <= MAX_PITCH)?;
        Some(Pitch { row, slice: row.saturating_mul(self.rows) })
    }

    /// Cuts it into boxes of at most `limit` bytes, whole rows and slices where those are as small; each with where it
    /// begins, as bytes, rows and slices.
    pub(crate) fn pieces(self, limit: usize) -> impl Iterator<Item = (Self, [usize; 3])> {
        let slice = self.width.saturating_mul(self.rows);
        let (width, rows, slices) = match (self.width, slice) {
            (width, _) if width > limit => (limit, 1, 1),
            (width, slice) if slice > limit => (width, limit / width, 1),
            (width, slice) => (width, self.rows, limit / slice.max(1)),
        };
        let step = move |whole: usize, step: usize| (0..whole).step_by(step.max(1));
        step(self.slices, slices).flat_map(move |z| {
            step(self.rows, rows).flat_map(move |y| {
                step(self.width, width).map(move |x| {
                    let left = [self.width - x, self.rows - y, self.slices - z];
                    let extent =
                        Self { width: width.min(left[0]), rows: rows.min(left[1]), slices: slices.min(left[2]) };
                    (extent, [x, y, z])
                })
            })
        })
    }

    /// Offsets of its rows, in order.
    pub(crate) fn rows(self, pitch: Pitch) -> impl Iterator<Item = usize> {
        (0..self.slices).flat_map(move |z| (0..self.rows).map(move |y| z * pitch.slice + y * pitch.row))
    }
}

impl Pitch {
    /// The offset of a place in a box, given as bytes, rows and slices.
    pub(crate) fn offset(self, [x, y, z]: [usize; 3]) -> usize {
        z * self.slice + y * self.row + x
    }
}

impl Region {
    /// So many bytes in a row.
    pub(crate) fn flat(bytes: usize) -> Self {
        let extent = Extent::flat(bytes);
        Self { extent, to: extent.tight(), from: extent.tight() }
    }

    /// The same bytes with as few rows as can be: rows that follow each other at both ends are one. Both spans have to
    /// lie within the address space.
    pub(crate) fn collapsed(self) -> Self {
        let Self { mut extent, mut to, mut from } = self;
        let follow = |pitch: Pitch, extent: Extent| pitch.slice == pitch.row.saturating_mul(extent.rows);
        if extent.rows == 1 || (follow(to, extent) && follow(from, extent)) {
            // Slices are then rows like others.
            if extent.rows == 1 {
                (to.row, from.row) = (to.slice, from.slice);
            }
            extent = Extent { rows: extent.rows * extent.slices, slices: 1, ..extent };
        }
        if extent.rows == 1 || (to.row == extent.width && from.row == extent.width) {
            // Whole slices are then the rows.
            extent = Extent { width: extent.width * extent.rows, rows: extent.slices, slices: 1 };
            (to.row, from.row) = (to.slice, from.slice);
        }
        if extent.slices == 1 {
            (to.slice, from.slice) = (to.row.saturating_mul(extent.rows), from.row.saturating_mul(extent.rows));
        }
        if extent.rows == 1 && extent.slices == 1 {
            return Self::flat(extent.width);
        }
        Self { extent, to, from }
    }

    /// Whether it is bytes in a row at both ends.
    pub(crate) fn is_flat(self) -> bool {
        self.extent.rows == 1 && self.extent.slices == 1
    }

    /// The largest of 16, 8, 4, 2 and 1 bytes in which rows can be moved whole, for ends that start at these addresses.
    pub(crate) fn unit(self, to: usize, from: usize) -> usize {
        let all = to | from | self.extent.width | self.row_steps() | 16;
        1 << all.trailing_zeros()
    }

    fn row_steps(self) -> usize {
        let rows = if self.extent.rows > 1 { self.to.row | self.from.row } else { 0 };
        let slices = if self.extent.slices > 1 { self.to.slice | self.from.slice } else { 0 };
        rows | slices
    }

    /// Whether the box at `to` and the box at `from` share a byte without being the same bytes in the same places.
    pub(crate) fn overlaps(self, to: usize, from: usize) -> bool {
        let spans = (self.extent.span(self.to), self.extent.span(self.from));
        let (Some(to_span), Some(from_span)) = spans else { return true };
        let apart = if to <= from { from - to >= to_span } else { to - from >= from_span };
        if apart || self.extent.is_empty() || (to == from && self.row_steps_are_equal()) {
            return false;
        }
        // Both lists of rows ascend, so that one walk through both finds two that meet.
        let (low, high) = (to.min(from), self.extent.width);
        let mut targets = self.extent.rows(self.to).map(|row| to - low + row).peekable();
        let mut sources = self.extent.rows(self.from).map(|row| from - low + row).peekable();
        while let (Some(&target), Some(&source)) = (targets.peek(), sources.peek()) {
            if target.abs_diff(source) < high {
                return true;
            }
            if target < source {
                targets.next()
            } else {
                sources.next()
            };
        }
        false
    }

    fn row_steps_are_equal(self) -> bool {
        (self.extent.rows == 1 || self.to.row == self.from.row)
            && (self.extent.slices == 1 || self.to.slice == self.from.slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// Rows and slices of a pitch at least as long as they are, as the dialects check.
    fn regions() -> impl Strategy<Value = Region> {
        (1usize..20, 1usize..5, 1usize..4, 0usize..9, 0usize..9, 0usize..3, 0usize..3).prop_map(
            |(width, rows, slices, to, from, to_rows, from_rows)| {
                let pitch = |gap: usize, more: usize| {
                    let row = width + gap;
                    Pitch { row, slice: row * (rows + more) }
                };
                Region { extent: Extent { width, rows, slices }, to: pitch(to, to_rows), from: pitch(from, from_rows) }
            },
        )
    }

    /// Where each byte goes to and comes from, as offsets.
    fn moves(region: Region) -> Vec<(usize, usize)> {
        let rows = region.extent.rows(region.to).zip(region.extent.rows(region.from));
        rows.flat_map(|(to, from)| (0..region.extent.width).map(move |x| (to + x, from + x))).collect()
    }

    proptest! {
        #[test]
        fn collapsing_moves_the_same_bytes(region in regions()) {
            prop_assert_eq!(moves(region.collapsed()), moves(region));
        }

        #[test]
        fn a_collapsed_box_cannot_be_collapsed_further(region in regions()) {
            let once = region.collapsed();
            prop_assert_eq!(once.collapsed(), once);
            let tight = once.extent.tight();
            if once.to == tight && once.from == tight {
                prop_assert!(once.is_flat());
            }
        }

        #[test]
        fn the_span_ends_behind_the_last_byte(region in regions()) {
            let last = moves(region).into_iter().map(|(to, _)| to).max();
            prop_assert_eq!(region.extent.span(region.to), last.map(|last| last + 1));
        }

        #[test]
        fn pieces_are_the_whole_in_order_and_small(region in regions(), limit in 1usize..90) {
            let whole: Vec<usize> = moves(region).into_iter().map(|(to, _)| to).collect();
            let mut parts = Vec::new();
            for (extent, at) in region.extent.pieces(limit) {
                prop_assert!(extent.bytes().is_some_and(|bytes| (1..=limit).contains(&bytes)));
                let start = region.to.offset(at);
                parts.extend(extent.rows(region.to).flat_map(|row| (0..extent.width).map(move |x| start + row + x)));
            }
            prop_assert_eq!(parts, whole);
        }

        #[test]
        fn rows_are_whole_numbers_of_units(region in regions(), to in 0usize..64, from in 0usize..64) {
            let unit = region.unit(to, from);
            let mut starts = region.extent.rows(region.to).map(|row| row + to).chain(
                region.extent.rows(region.from).map(|row| row + from));
            prop_assert!(region.extent.width.is_multiple_of(unit) && starts.all(|start| start.is_multiple_of(unit)));
        }

        #[test]
        fn overlap_is_what_the_bytes_say(region in regions(), to in 0usize..200, from in 0usize..200) {
            let targets: HashSet<usize> = moves(region).into_iter().map(|(at, _)| at + to).collect();
            let shared = moves(region).into_iter().any(|(_, at)| targets.contains(&(at + from)));
            let same = moves(region).into_iter().all(|(target, source)| target + to == source + from);
            prop_assert_eq!(region.overlaps(to, from), shared && !same);
        }
    }

    #[test]
    fn contiguous_rows_and_slices_are_one_copy() {
        let extent = Extent { width: 64, rows: 7, slices: 3 };
        let region = Region { extent, to: extent.tight(), from: extent.tight() };
        assert_eq!(region.collapsed(), Region::flat(64 * 21));
    }

    #[test]
    fn what_is_beyond_the_address_space_has_no_span() {
        let extent = Extent { width: 1, rows: usize::MAX, slices: 2 };
        assert_eq!(extent.span(Pitch { row: 2, slice: usize::MAX }), None);
        assert_eq!(extent.bytes(), None);
        assert!(Region { extent, to: Pitch { row: 2, slice: 2 }, from: extent.tight() }.overlaps(0, 0));
    }

    #[test]
    fn padded_rows_are_multiples_of_the_alignment_that_no_pitch_is_beyond() {
        let padded = |width| Extent { width, rows: 3, slices: 1 }.padded();
        let largest = MAX_PITCH / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
        assert_eq!(padded(1), Some(Pitch { row: 512, slice: 1536 }));
        assert_eq!(padded(512).map(|pitch| pitch.row), Some(512));
        assert_eq!(padded(largest).map(|pitch| pitch.row), Some(largest));
        assert_eq!([largest + 1, usize::MAX].map(padded), [None; 2]);
    }

    #[test]
    fn an_empty_box_touches_nothing() {
        let extent = Extent { width: 0, rows: 5, slices: 5 };
        assert_eq!(extent.span(Pitch { row: 9, slice: 90 }), Some(0));
    }
}
