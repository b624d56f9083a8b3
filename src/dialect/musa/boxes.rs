//! MUSA's structures for boxes of memory, in the words of the calls that read them.

use super::types::{musaExtent, musaMemcpy3DParms, musaMemcpy3DPeerParms, musaPitchedPtr};
use crate::dialect::call::pitched::{Linear, Parms, Side};
use crate::rt::copy::Extent;
use std::ffi::c_int;

pub(super) fn extent(extent: musaExtent) -> Extent {
    Extent { width: extent.width, rows: extent.height, slices: extent.depth }
}

pub(super) fn linear(pointer: musaPitchedPtr) -> Linear {
    Linear { address: pointer.ptr.addr(), pitch: pointer.pitch, rows: pointer.ysize }
}

/// The parameters of a copy; `None` where the pointer is null.
///
/// # Safety
/// The pointer has to be null or to a structure.
pub(super) unsafe fn parms(pointer: *const musaMemcpy3DParms) -> Option<Parms> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the caller's; C does not promise the alignment.
    let parms = unsafe { pointer.read_unaligned() };
    let (to, from) = (parms.dstPos, parms.srcPos);
    Some(Parms {
        to: Side { array: parms.dstArray.addr(), memory: linear(parms.dstPtr), at: [to.x, to.y, to.z] },
        from: Side { array: parms.srcArray.addr(), memory: linear(parms.srcPtr), at: [from.x, from.y, from.z] },
        extent: extent(parms.extent),
        kind: parms.kind.0,
    })
}

/// The parameters of a copy between devices, and the devices to and from; `None` where the pointer is null.
///
/// # Safety
/// The pointer has to be null or to a structure.
pub(super) unsafe fn peer_parms(pointer: *const musaMemcpy3DPeerParms) -> Option<(Parms, c_int, c_int)> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the caller's; C does not promise the alignment.
    let parms = unsafe { pointer.read_unaligned() };
    let (to, from) = (parms.dstPos, parms.srcPos);
    let boxed = Parms {
        to: Side { array: parms.dstArray.addr(), memory: linear(parms.dstPtr), at: [to.x, to.y, to.z] },
        from: Side { array: parms.srcArray.addr(), memory: linear(parms.srcPtr), at: [from.x, from.y, from.z] },
        extent: extent(parms.extent),
        kind: 3,
    };
    Some((boxed, parms.dstDevice, parms.srcDevice))
}
