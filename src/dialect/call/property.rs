//! Numbers and texts of device properties, as C's structures hold them.

use std::ffi::{c_char, c_int};

/// A number as a C integer; the largest one where it is larger.
pub(crate) fn int(number: impl TryInto<c_int>) -> c_int {
    number.try_into().unwrap_or(c_int::MAX)
}

/// Bytes as C counts them.
pub(crate) fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// A text as a C string, cut between two characters where it is too long.
pub(crate) fn text<const N: usize>(text: &str) -> [c_char; N] {
    let room = N.saturating_sub(1);
    let end = (0..=text.len().min(room)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    let mut out = [0; N];
    for (to, from) in out.iter_mut().zip(text[..end].bytes()) {
        *to = from as c_char;
    }
    out
}

/// The characters before the NUL, or all where there is none.
pub(crate) fn until_nul(text: &[c_char]) -> &[c_char] {
    text.split(|&c| c == 0).next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_cut_to_fit() {
        assert_eq!((int(7_u64), int(u64::MAX), int(usize::MAX)), (7, c_int::MAX, c_int::MAX));
        let bytes = |text: [c_char; 4]| text.map(|c| c as u8);
        assert_eq!(bytes(text("abcd")), *b"abc\0");
        assert_eq!(bytes(text("ab\u{e9}")), *b"ab\0\0");
        assert_eq!(bytes(text("")), [0; 4]);
    }
}
