//! What the arguments of a kernel object were set to last, so that an argument which is that still needs no call.
//!
//! A kernel object waits in its pool while what it was given goes: drivers keep neither memory nor images for it, and it
//! keeps nothing either. So nothing is known again by its address or handle, which the next one may have: the weak
//! references here tell the object itself, whose place is not used again as long as one of them is there.

use super::args::Given;
use crate::cl::SamplerObject;
use crate::rt::memory::{Allocation, Array};
use smallvec::SmallVec;
use std::sync::{Arc, Weak};

/// The bytes of a value; most fit without memory of their own.
pub(crate) type Bytes = SmallVec<[u8; 16]>;

/// How a pointer is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By its address.
    Address,
    /// As a buffer object.
    Object,
}

/// One argument of a kernel object.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// A kernel object keeps to one way for each pointer: NVIDIA's driver (580.159) refuses the launch after an address
    /// and then a buffer object for one argument. `None` before the first.
    pub(super) way: Option<Way>,
    pub(super) last: Last,
}

/// What an argument was set to.
#[derive(Debug, Default)]
pub(super) enum Last {
    /// Nothing that can be known again.
    #[default]
    Unknown,
    Local(usize),
    /// A value of a plain type: its bytes as a number, and how many they are.
    Word(u64, usize),
    /// Any other value.
    Value(Bytes),
    Null,
    /// A pointer to an allocation, passed in either way.
    Pointer {
        address: usize,
        owner: Weak<Allocation>,
    },
    Image(Weak<Array>),
    Sampler(Weak<SamplerObject>),
}

/// What an argument is to a kernel object.
pub(super) enum Kept {
    /// It has to be checked and set.
    No,
    /// The object has it already.
    Value,
    /// It has this pointer already, to what has to live until the launch is enqueued.
    Pointer(Arc<Allocation>),
}

impl Last {
    #[inline]
    pub(super) fn is_value(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Word(last, len) => bytes.len() == *len && word(bytes) == Some(*last),
            Self::Value(last) => *bytes == **last,
            _ => false,
        }
    }

    pub(super) fn value(bytes: &[u8]) -> Self {
        match word(bytes) {
            Some(word) => Self::Word(word, bytes.len()),
            None => Self::Value(Bytes::from_slice(bytes)),
        }
    }
}

/// The bytes of a value as a number, where it has as many as a plain type.
#[inline]
fn word(bytes: &[u8]) -> Option<u64> {
    Some(match *bytes {
        [a] => a.into(),
        [a, b] => u16::from_ne_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_ne_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => u64::from_ne_bytes([a, b, c, d, e, f, g, h]),
        _ => return None,
    })
}

impl Slot {
    /// Whether the argument was set to just this, and therefore passed every check: nothing that a check of an argument
    /// asks for changes, but for memory that is freed.
    #[inline]
    pub(super) fn keeps(&self, given: &Given<'_>) -> Kept {
        let same = match (given, &self.last) {
            (Given::Value { bytes, .. }, last) => last.is_value(bytes),
            (Given::Pointer { address } | Given::Shared { address, .. }, Last::Pointer { address: last, owner })
                if address == last =>
            {
                return match owner.upgrade() {
                    Some(owner) if owner.is_listed() => Kept::Pointer(owner),
                    _ => Kept::No,
                };
            }
            (Given::Pointer { address: 0 } | Given::Shared { address: 0, .. }, Last::Null) => true,
            (Given::Local { bytes }, Last::Local(last)) => bytes == last,
            // The caller holds the array, so it is none that took the place of another.
            (Given::Array(array), Last::Image(last)) => Arc::as_ptr(array) == last.as_ptr(),
            _ => false,
        };
        if same { Kept::Value } else { Kept::No }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(last: Last, given: Given<'_>) -> bool {
        matches!(Slot { way: None, last }.keeps(&given), Kept::Value)
    }

    fn value(bytes: &[u8]) -> Given<'_> {
        Given::Value { bytes, type_name: || "bytes" }
    }

    #[test]
    fn only_what_was_set_is_known_again() {
        let all = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18];
        for len in 0..all.len() {
            let (bytes, mut other) = (&all[..len], all);
            assert!(kept(Last::value(bytes), value(bytes)), "{len}");
            assert!(
                !kept(Last::value(bytes), value(&all[..len + 1])) && !kept(Last::value(&all[..len + 1]), value(bytes))
            );
            for at in 0..len {
                other[at] ^= 0x80;
                assert!(!kept(Last::value(bytes), value(&other[..len])), "{at} of {len}");
                other[at] ^= 0x80;
            }
        }
        // As numbers they are alike.
        assert!(!kept(Last::value(&[1, 0]), value(&[1])) && !kept(Last::value(&[0, 0, 0, 0]), value(&[0])));
        assert!(!kept(Last::Unknown, value(&[])));
        assert!(kept(Last::Local(64), Given::Local { bytes: 64 }));
        assert!(!kept(Last::Local(64), Given::Local { bytes: 65 }));
        assert!(kept(Last::Null, Given::Pointer { address: 0 }));
        assert!(!kept(Last::Null, Given::Pointer { address: 8 }));
        assert!(!kept(Last::Unknown, Given::Pointer { address: 0 }));
        // A value that looks like a size, and the other way round.
        assert!(!kept(Last::value(&64_usize.to_ne_bytes()), Given::Local { bytes: 64 }));
    }

    #[test]
    fn an_address_of_memory_that_is_gone_is_unknown() {
        let last = Last::Pointer { address: 4096, owner: Weak::new() };
        let slot = Slot { way: Some(Way::Address), last };
        assert!(matches!(slot.keeps(&Given::Pointer { address: 4096 }), Kept::No));
    }
}
