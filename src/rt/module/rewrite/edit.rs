//! Changes to a text, collected in any order and made at once.

use std::ops::Range;

/// Replacements of byte ranges; insertions are replacements of nothing.
#[derive(Debug, Default)]
pub(super) struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    /// Puts `text` in front of the byte `at`; a later insertion at the same place comes behind.
    pub(super) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.0.push((at..at, text.into()));
    }

    /// Puts `text` in the place of `bytes`.
    pub(super) fn replace(&mut self, bytes: Range<usize>, text: impl Into<String>) {
        self.0.push((bytes, text.into()));
    }

    /// The text with all changes made; of two replacements of one place the first counts.
    pub(super) fn apply(mut self, source: &str) -> String {
        self.0.sort_by_key(|(bytes, _)| (bytes.start, bytes.end));
        let mut text = String::with_capacity(source.len() * 2);
        let mut done = 0;
        for (bytes, new) in self.0 {
            if bytes.start >= done {
                text.push_str(&source[done..bytes.start]);
                text.push_str(&new);
                done = bytes.end;
            }
        }
        text.push_str(&source[done..]);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Edits;

    #[test]
    fn insertions_at_one_place_keep_their_order() {
        let mut edits = Edits::default();
        edits.replace(1..2, "X");
        edits.insert(1, "1");
        edits.insert(1, "2");
        assert_eq!(edits.apply("abc"), "a12Xc");
    }

    #[test]
    fn the_first_of_two_replacements_counts() {
        let mut edits = Edits::default();
        edits.replace(0..1, "x");
        edits.replace(0..1, "y");
        assert_eq!(edits.apply("abc"), "xbc");
    }
}
