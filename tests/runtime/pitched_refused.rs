//! Pitched memory that cannot be had, and copies and sets of boxes that are refused and leave everything as it was
//! (MUSA "memory"; behaviour.md 3.2, 3.5, 3.6).

use crate::blocks::{assert_same, noise};
use crate::boxes::{Lie, Memory, Sort};
use crate::dialects::musa::*;
use gridcl::musa::*;
use gridcl::testing::guard;
use std::ffi::c_void;
use std::ptr::{null, null_mut, without_provenance_mut as address};

const MAX_PITCH: usize = i32::MAX as usize;

/// Asserts that a 2-D copy is refused by both calls, for a reason.
macro_rules! copy_2d_fails {
    (($to:expr, $dpitch:expr, $from:expr, $spitch:expr, $width:expr, $height:expr, $kind:expr), $code:expr $(, $text:expr)*) => {
        fails!(
            unsafe { musaMemcpy2D($to, $dpitch, $from, $spitch, $width, $height, $kind) },
            $code, "musaMemcpy2D: " $(, $text)*
        );
        fails!(
            unsafe { musaMemcpy2DAsync($to, $dpitch, $from, $spitch, $width, $height, $kind, LEGACY) },
            $code, "musaMemcpy2DAsync: " $(, $text)*
        );
    };
}

/// The same for a 3-D copy, of parameters that are changed first.
macro_rules! copy_3d_fails {
    ($parms:expr, |$changed:ident| $change:expr, $code:expr $(, $text:expr)*) => {{
        let mut $changed = $parms;
        $change;
        fails!(unsafe { musaMemcpy3D(&$changed) }, $code, "musaMemcpy3D: " $(, $text)*);
        fails!(unsafe { musaMemcpy3DAsync(&$changed, LEGACY) }, $code, "musaMemcpy3DAsync: " $(, $text)*);
    }};
}

/// The same for a 2-D set and the 3-D set of one slice.
macro_rules! set_fails {
    (($to:expr, $pitch:expr, $width:expr, $height:expr) $(, $text:expr)*) => {
        let (to, pitch, width, height) = ($to, $pitch, $width, $height);
        let (volume, extent) = (make_musaPitchedPtr(to, pitch, width, height), make_musaExtent(width, height, 1));
        fails!(musaMemset2D(to, pitch, 1, width, height), INVALID_VALUE, "musaMemset2D: " $(, $text)*);
        fails!(musaMemset2DAsync(to, pitch, 1, width, height, LEGACY), INVALID_VALUE, "musaMemset2DAsync: " $(, $text)*);
        fails!(musaMemset3D(volume, 1, extent), INVALID_VALUE, "musaMemset3D: " $(, $text)*);
        fails!(musaMemset3DAsync(volume, 1, extent, LEGACY), INVALID_VALUE, "musaMemset3DAsync: " $(, $text)*);
    };
}

#[test]
fn pitched_memory_without_a_place_for_it_or_too_large_is_refused() {
    let _guard = guard();
    let (mut pointer, mut pitch, mut volume) = (null_mut(), 0, musaPitchedPtr::default());
    fails!(unsafe { musaMallocPitch(null_mut(), &mut pitch, 5, 5) }, INVALID_VALUE, "devPtr = null");
    fails!(unsafe { musaMallocPitch(&mut pointer, null_mut(), 5, 5) }, INVALID_VALUE, "pitch = null");
    fails!(unsafe { musaMalloc3D(null_mut(), make_musaExtent(5, 5, 5)) }, INVALID_VALUE, "pitchedDevPtr = null");
    for width in [usize::MAX, usize::MAX - 511, MAX_PITCH] {
        for height in [5, usize::MAX] {
            fails!(unsafe { musaMallocPitch(&mut pointer, &mut pitch, width, height) }, INVALID_VALUE, "width = ");
            let extent = make_musaExtent(width, height, height);
            fails!(unsafe { musaMalloc3D(&mut volume, extent) }, INVALID_VALUE, "a pitch is at most");
        }
    }
    for (height, depth) in [(usize::MAX, 1), (usize::MAX / 512, 1), (1 << 40, 1), (5, usize::MAX), (usize::MAX, 2)] {
        if depth == 1 {
            fails!(unsafe { musaMallocPitch(&mut pointer, &mut pitch, 100, height) }, OUT_OF_MEMORY);
        }
        fails!(unsafe { musaMalloc3D(&mut volume, make_musaExtent(100, height, depth)) }, OUT_OF_MEMORY);
    }
    assert!(pointer.is_null() && pitch == 0 && volume.ptr.is_null(), "nothing was written");
}

#[test]
fn a_copy_of_rows_is_refused_for_one_thing_after_the_other() {
    let _guard = guard();
    let (block, plain) = (Memory::new(Sort::Device(0), &noise(1, 5000)), Memory::new(Sort::Pageable, &noise(2, 5000)));
    let (to, from) = (block.at(0), plain.at(0).cast_const());
    let dead = new_stream!();
    ok!(stream_destroy(dead));
    for kind in [-1, 5, i32::MAX].map(musaMemcpyKind) {
        copy_2d_fails!((null_mut(), 1, null(), 1, 9, 9, kind), INVALID_MEMCPY_DIRECTION, "kind = ");
        // Even where there is nothing to copy, as in one dimension.
        copy_2d_fails!((to, 9, from, 9, 0, 9, kind), INVALID_MEMCPY_DIRECTION, "kind = ");
    }
    fails!(unsafe { musaMemcpy2DAsync(to, 9, from, 9, 0, 9, HOST_TO_DEVICE, dead) }, INVALID_HANDLE, "stream");
    copy_2d_fails!((null_mut(), 1, from, 1, 9, 9, HOST_TO_DEVICE), INVALID_VALUE, "dst = null");
    copy_2d_fails!((to, 1, null(), 1, 9, 9, HOST_TO_DEVICE), INVALID_VALUE, "src = null");
    let code = musaErrorInvalidPitchValue;
    copy_2d_fails!((to, 9, from, 10, 10, 1, HOST_TO_DEVICE), code, "dpitch = 9: ", "rows of 10 bytes");
    copy_2d_fails!((to, 10, from, 9, 10, 1, HOST_TO_DEVICE), code, "spitch = 9: ", "rows of 10 bytes");
    copy_2d_fails!((to, 0, from, 0, 10, 3, DEFAULT), code, "dpitch = 0: ");
    copy_2d_fails!((to, MAX_PITCH + 1, from, 10, 10, 1, DEFAULT), INVALID_VALUE, "dpitch = ", "at most 2147483647");
    copy_2d_fails!((to, 10, from, usize::MAX, 10, 1, DEFAULT), INVALID_VALUE, "spitch = ", "at most 2147483647");
    // The last row ends with its width, not with its pitch.
    ok!(unsafe { musaMemcpy2D(block.at(40), 1000, from, 40, 40, 5, HOST_TO_DEVICE) });
    copy_2d_fails!((block.at(961), 1000, from, 40, 40, 5, HOST_TO_DEVICE), INVALID_VALUE, "dst = ", "1 too many");
    copy_2d_fails!((to, 40, from, 40, 40, usize::MAX, HOST_TO_DEVICE), INVALID_VALUE, "beyond the address space");
    copy_2d_fails!((to, 64, from, 64, 64, usize::MAX / 64, HOST_TO_DEVICE), INVALID_VALUE, "too many");
    copy_2d_fails!((from.cast_mut(), 9, from, 9, 9, 9, HOST_TO_DEVICE), INVALID_VALUE, "dst = ", "host pointer");
    copy_2d_fails!((block.at(5), 20, to, 20, 10, 9, DEFAULT), INVALID_VALUE, "overlap");
    assert_eq!(plain.read(), noise(2, 5000));
}

#[test]
fn a_copy_of_a_box_is_refused_for_one_thing_after_the_other() {
    let _guard = guard();
    let lie = Lie { at: 0, pitch: 64, rows: 10 };
    let (contents, blank) = (noise(3, 64 * 10 * 5), noise(4, 64 * 10 * 5));
    let (target, source) = (Memory::new(Sort::Device(0), &blank), Memory::new(Sort::Pageable, &contents));
    let parms = musaMemcpy3DParms {
        dstPtr: lie.pointer(&target),
        srcPtr: lie.pointer(&source),
        extent: make_musaExtent(64, 10, 5),
        kind: HOST_TO_DEVICE,
        ..Default::default()
    };
    let pitch = musaErrorInvalidPitchValue;
    fails!(unsafe { musaMemcpy3D(null()) }, INVALID_VALUE, "p = null");
    fails!(unsafe { musaMemcpy3DAsync(null(), LEGACY) }, INVALID_VALUE, "p = null");
    copy_3d_fails!(parms, |p| p.kind = musaMemcpyKind(5), INVALID_MEMCPY_DIRECTION, "kind = 5");
    copy_3d_fails!(parms, |p| p.kind = musaMemcpyKind(-1), INVALID_MEMCPY_DIRECTION, "kind = -1");
    let dead = new_stream!();
    ok!(stream_destroy(dead));
    fails!(unsafe { musaMemcpy3DAsync(&parms, dead) }, INVALID_HANDLE, "stream");
    // Exactly one of memory and array on each side.
    let array = address::<c_void>(0x40).cast();
    copy_3d_fails!(parms, |p| p.dstPtr.ptr = null_mut(), INVALID_VALUE, "dstPtr = null", "dstArray");
    copy_3d_fails!(parms, |p| p.srcPtr.ptr = null_mut(), INVALID_VALUE, "srcPtr = null", "srcArray");
    copy_3d_fails!(parms, |p| p.srcPtr = musaPitchedPtr::default(), INVALID_VALUE, "srcPtr = null");
    copy_3d_fails!(parms, |p| p.dstArray = array, INVALID_VALUE, "dstPtr = 0x", "dstArray is set as well");
    copy_3d_fails!(parms, |p| p.srcArray = array, INVALID_VALUE, "srcPtr = 0x", "srcArray is set as well");
    // Pitches.
    copy_3d_fails!(parms, |p| p.dstPtr.pitch = 63, pitch, "dstPtr.pitch = 63: ", "rows of 64 bytes");
    copy_3d_fails!(parms, |p| p.srcPtr.pitch = 0, pitch, "srcPtr.pitch = 0: ");
    copy_3d_fails!(parms, |p| p.srcPtr.pitch = MAX_PITCH + 1, INVALID_VALUE, "srcPtr.pitch = ", "at most");
    // Positions.
    copy_3d_fails!(parms, |p| p.dstPos.x = 1, INVALID_VALUE, "dstPos = (1, 0, 0): the box ends at 65", "64 bytes");
    copy_3d_fails!(parms, |p| p.srcPos.x = usize::MAX, INVALID_VALUE, "srcPos = ", "beyond the address space");
    copy_3d_fails!(
        parms,
        |p| p.srcPos.y = 1,
        INVALID_VALUE,
        "srcPos = (0, 1, 0): the box ends at 11",
        "10 rows",
        "ysize"
    );
    copy_3d_fails!(parms, |p| p.dstPtr.ysize = 9, INVALID_VALUE, "dstPos = ", "9 rows");
    copy_3d_fails!(parms, |p| p.dstPtr.ysize = 0, INVALID_VALUE, "dstPos = ", "0 rows");
    copy_3d_fails!(parms, |p| p.extent.height = usize::MAX, INVALID_VALUE, "Pos = ");
    copy_3d_fails!(parms, |p| p.dstPos.z = 1, INVALID_VALUE, "dst = ", "640 too many");
    copy_3d_fails!(parms, |p| p.dstPos.z = usize::MAX, INVALID_VALUE, "dstPos = ", "more than there is");
    copy_3d_fails!(parms, |p| p.extent.depth = 6, INVALID_VALUE, "dst = ", "640 too many");
    copy_3d_fails!(parms, |p| p.extent.depth = usize::MAX, INVALID_VALUE, "extent = ", "beyond the address space");
    copy_3d_fails!(parms, |p| p.dstPtr.ysize = usize::MAX, INVALID_VALUE, "dstPos = ", "more than there is");
    // Memory.
    copy_3d_fails!(parms, |p| p.dstPtr.ptr = source.at(0), INVALID_VALUE, "dst = ", "host pointer");
    copy_3d_fails!(parms, |p| p.dstPtr.ptr = target.at(1), INVALID_VALUE, "dst = ", "1 too many");
    ok!(device_synchronize());
    assert_same(&target.read(), &blank, || "the target of what was refused".into());
    ok!(unsafe { musaMemcpy3D(&parms) });
    assert_same(&target.read(), &contents, || "the target of the one copy that was right".into());
}

#[test]
fn a_set_of_a_box_that_is_not_there_is_refused() {
    let _guard = guard();
    let (device, pinned) = (Memory::new(Sort::Device(0), &noise(5, 6400)), Memory::new(Sort::Pinned, &noise(5, 6400)));
    let plain = Memory::new(Sort::Pageable, &noise(5, 6400));
    for memory in [&device, &pinned] {
        set_fails!((memory.at(0), 9, 10, 2), "pitch = 9: ", "rows of 10 bytes");
        set_fails!((memory.at(0), 1, 10, 2), "pitch = 1: ");
        set_fails!((memory.at(0), 0, 10, 1), "pitch = 0: ");
        set_fails!((memory.at(0), MAX_PITCH + 1, 10, 1), "pitch = ", "at most");
        set_fails!((memory.at(0), 64, 64, 101), "64 too many");
        set_fails!((memory.at(1), 64, 64, 100), "1 too many");
        set_fails!((memory.at(6400), 64, 1, 1));
        set_fails!((memory.at(0), 64, 64, usize::MAX));
        let volume = make_musaPitchedPtr(memory.at(0), 64, 64, 10);
        for (width, height, depth, text) in [
            (65, 10, 10, "rows of 65 bytes"),
            (64, 11, 10, "10 rows"),
            (64, 10, 11, "640 too many"),
            (64, 10, usize::MAX, "beyond the address space"),
        ] {
            fails!(musaMemset3D(volume, 1, make_musaExtent(width, height, depth)), INVALID_VALUE, text);
        }
    }
    set_fails!((null_mut(), 64, 64, 1), "devPtr = null");
    set_fails!((plain.at(0), 64, 64, 2), "not memory that the runtime allocated");
    set_fails!((address(0xdead_beef_0000), 64, 64, 2));
    fails!(musaMemset3D(musaPitchedPtr::default(), 1, make_musaExtent(1, 1, 1)), INVALID_VALUE, "devPtr = null");
    let freed: *mut c_void = device_memory!(6400);
    ok!(free(freed));
    set_fails!((freed, 64, 32, 2));
    let dead = new_stream!();
    ok!(stream_destroy(dead));
    fails!(musaMemset2DAsync(device.at(0), 64, 1, 0, 0, dead), INVALID_HANDLE, "stream");
    fails!(musaMemset3DAsync(musaPitchedPtr::default(), 1, musaExtent::default(), dead), INVALID_HANDLE, "stream");
    ok!(device_synchronize());
    for memory in [&device, &pinned, &plain] {
        assert_same(&memory.read(), &noise(5, 6400), || format!("{:?} memory", memory.sort));
    }
}

#[test]
fn an_empty_box_is_a_success_wherever_it_is() {
    let _guard = guard();
    let (block, plain) = (Memory::new(Sort::Device(0), &noise(6, 100)), Memory::new(Sort::Pageable, &noise(7, 100)));
    for (width, height, depth) in [(0, 5, 5), (5, 0, 5), (5, 5, 0), (0, usize::MAX, usize::MAX), (usize::MAX, 0, 1)] {
        let extent = make_musaExtent(width, height, depth);
        for pointer in [block.at(0), block.at(100), plain.at(0), null_mut()] {
            for pitch in [0, 5, usize::MAX] {
                let volume = make_musaPitchedPtr(pointer, pitch, width, height);
                ok!(musaMemset3D(volume, 1, extent));
                ok!(musaMemset3DAsync(volume, 1, extent, LEGACY));
                let kind = HOST_TO_DEVICE;
                let parms = musaMemcpy3DParms { srcPtr: volume, dstPtr: volume, extent, kind, ..Default::default() };
                ok!(unsafe { musaMemcpy3D(&parms) });
                ok!(unsafe { musaMemcpy3DAsync(&parms, LEGACY) });
                if depth != 0 {
                    ok!(musaMemset2D(pointer, pitch, 1, width, height));
                    ok!(musaMemset2DAsync(pointer, pitch, 1, width, height, LEGACY));
                    ok!(unsafe { musaMemcpy2D(pointer, pitch, pointer, pitch, width, height, kind) });
                    ok!(unsafe { musaMemcpy2DAsync(pointer, pitch, pointer, pitch, width, height, kind, LEGACY) });
                }
            }
        }
    }
    assert_eq!((block.read(), plain.read()), (noise(6, 100), noise(7, 100)));
}
