//! MUSA's structures for arrays, as the calls that do not know the dialect take and give them.

use super::{musaChannelFormatDesc, musaChannelFormatKind, musaChannelFormatKindFloat, musaExtent};
use crate::dialect::call::array::Desc;
use std::ffi::c_int;

/// What the guide's example passes for one channel of floating-point numbers, which cannot be bits.
const GUIDES_FLOAT: [c_int; 4] = [1, 0, 0, 0];

/// A descriptor as an array takes it; `None` for null.
///
/// # Safety
/// `desc` has to be null or readable.
pub(super) unsafe fn desc(desc: *const musaChannelFormatDesc) -> Option<Desc> {
    // SAFETY: the caller's; a structure of C may lie anywhere.
    let musaChannelFormatDesc { x, y, z, w, f } = (!desc.is_null()).then(|| unsafe { desc.read_unaligned() })?;
    let bits = [x, y, z, w];
    let bits = if f == musaChannelFormatKindFloat && bits == GUIDES_FLOAT { [32, 0, 0, 0] } else { bits };
    Some(Desc { bits, kind: f.0 })
}

/// The same the other way.
pub(super) fn make_desc(desc: Desc) -> musaChannelFormatDesc {
    let [x, y, z, w] = desc.bits;
    musaChannelFormatDesc { x, y, z, w, f: musaChannelFormatKind(desc.kind) }
}

pub(super) fn make_extent([width, height, depth]: [usize; 3]) -> musaExtent {
    musaExtent { width, height, depth }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::musa::{musaChannelFormatKindUnsigned, musaCreateChannelDesc};

    #[test]
    fn only_the_guides_literal_is_a_float_of_32_bits() {
        let bits = |x, y, kind| {
            let desc = musaCreateChannelDesc(x, y, 0, 0, kind);
            // SAFETY: a live structure.
            unsafe { super::desc(&desc) }.map(|desc| desc.bits)
        };
        assert_eq!(bits(1, 0, musaChannelFormatKindFloat), Some([32, 0, 0, 0]));
        assert_eq!(bits(1, 1, musaChannelFormatKindFloat), Some([1, 1, 0, 0]));
        assert_eq!(bits(1, 0, musaChannelFormatKindUnsigned), Some([1, 0, 0, 0]));
        assert_eq!(bits(16, 0, musaChannelFormatKindFloat), Some([16, 0, 0, 0]));
        // SAFETY: null is allowed.
        assert!(unsafe { desc(std::ptr::null()) }.is_none());
    }
}
