//! `musaMemcpy3DPeer` and its form with a stream: boxes from device to device, with and without arrays (behaviour.md
//! 3.5). TOPS has no such calls.

use crate::array_tools::WORDS;
use crate::blocks::{assert_same, noise};
use crate::dialects::musa::*;
use crate::peer_copies::{there, two_devices};
use gridcl::Device;
use gridcl::musa::*;
use gridcl::testing::{PinnedBy, guard, tune_transfers};
use std::ffi::c_void;
use std::ptr::null_mut;

const PITCH: usize = 512;
const ROWS: usize = 40;
const SLICES: usize = 5;
const BYTES: usize = PITCH * ROWS * SLICES;

/// A copy of 100 bytes x 30 rows x 3 slices, to (4, 2, 1) and from (8, 5, 2).
fn parms(to: *mut c_void, from: *mut c_void) -> musaMemcpy3DPeerParms {
    musaMemcpy3DPeerParms {
        dstPtr: make_musaPitchedPtr(to, PITCH, PITCH, ROWS),
        dstPos: make_musaPos(4, 2, 1),
        dstDevice: 1,
        srcPtr: make_musaPitchedPtr(from, PITCH, PITCH, ROWS),
        srcPos: make_musaPos(8, 5, 2),
        srcDevice: 0,
        extent: make_musaExtent(100, 30, 3),
        ..Default::default()
    }
}

fn moved(source: &[u8], mut target: Vec<u8>) -> Vec<u8> {
    for (z, y) in (0..3).flat_map(|z| (0..30).map(move |y| (z, y))) {
        let at = |z: usize, y: usize, x: usize| (z * ROWS + y) * PITCH + x;
        let (to, from) = (at(z + 1, y + 2, 4), at(z + 2, y + 5, 8));
        target[to..to + 100].copy_from_slice(&source[from..from + 100]);
    }
    target
}

#[test]
fn a_box_arrives_and_nothing_between_its_rows_does() {
    let _guard = guard();
    two_devices!();
    // Whole rows, parts of rows, and all at once.
    for step in [64, 1000, 1 << 20] {
        tune_transfers(Some((step, 3, PinnedBy::SourceDevice)));
        let (source, target) = (noise(1, BYTES), noise(2, BYTES));
        let from = uploaded!(source);
        let (to, stream) = there!((uploaded!(target), new_stream!()));
        ok!(unsafe { musaMemcpy3DPeer(&parms(to, from)) });
        assert_same(&downloaded!(to, BYTES), &moved(&source, target), || format!("steps of {step}"));
        ok!(there!(memset_async(to, 7, BYTES, stream)));
        ok!(unsafe { musaMemcpy3DPeerAsync(&parms(to, from), stream) });
        ok!(stream_synchronize(stream));
        assert_same(&downloaded!(to, BYTES), &moved(&source, vec![7; BYTES]), || format!("steps of {step}, a stream"));
        ok!(stream_destroy(stream));
        ok!(free(to));
        ok!(free(from));
    }
}

#[test]
fn a_box_goes_into_another_devices_array() {
    let _guard = guard();
    two_devices!();
    let source = noise(3, BYTES);
    let from = uploaded!(source);
    let array = there!({
        let mut array = null_mut();
        ok!(unsafe { musaMalloc3DArray(&mut array, &WORDS.desc(), make_musaExtent(64, ROWS, SLICES), 0) });
        array
    });
    // In elements of 4 bytes where the array is, and in bytes where it is not.
    let into = musaMemcpy3DPeerParms {
        dstPtr: make_musaPitchedPtr(null_mut(), 0, 0, 0),
        dstArray: array,
        dstPos: make_musaPos(1, 2, 1),
        extent: make_musaExtent(25, 30, 3),
        ..parms(null_mut(), from)
    };
    ok!(unsafe { musaMemcpy3DPeer(&into) });
    let mut back = vec![0_u8; BYTES];
    let out = musaMemcpy3DParms {
        srcArray: array,
        srcPos: make_musaPos(1, 2, 1),
        dstPtr: make_musaPitchedPtr(back.as_mut_ptr().cast(), PITCH, PITCH, ROWS),
        dstPos: make_musaPos(4, 2, 1),
        extent: make_musaExtent(25, 30, 3),
        kind: musaMemcpyDeviceToHost,
        ..Default::default()
    };
    ok!(there!(unsafe { musaMemcpy3D(&out) }));
    assert_same(&back, &moved(&source, vec![0; BYTES]), || "through the array".into());
    let elsewhere = musaMemcpy3DPeerParms { dstDevice: 0, ..into };
    fails!(unsafe { musaMemcpy3DPeer(&elsewhere) }, INVALID_VALUE, "array", "memory of");
    ok!(musaFreeArray(array));
    ok!(free(from));
}

#[test]
fn boxes_that_do_not_fit_and_devices_that_are_not_there_are_refused() {
    let _guard = guard();
    let memory = uploaded!(noise(4, BYTES));
    let other = i32::from(Device::count() > 1);
    let here = || musaMemcpy3DPeerParms { dstDevice: 0, ..parms(memory, memory) };
    let copy = |parms: musaMemcpy3DPeerParms| unsafe { musaMemcpy3DPeer(&parms) };
    fails!(unsafe { musaMemcpy3DPeer(std::ptr::null()) }, INVALID_VALUE, "p = null");
    fails!(copy(musaMemcpy3DPeerParms { dstDevice: -1, ..here() }), INVALID_DEVICE, "dstDevice = -1");
    fails!(copy(musaMemcpy3DPeerParms { srcDevice: 99, ..here() }), INVALID_DEVICE, "srcDevice = 99");
    fails!(
        copy(musaMemcpy3DPeerParms { dstPtr: make_musaPitchedPtr(null_mut(), 512, 512, 40), ..here() }),
        INVALID_VALUE
    );
    let narrow = make_musaPitchedPtr(memory, 99, 99, ROWS);
    fails!(copy(musaMemcpy3DPeerParms { srcPtr: narrow, ..here() }), musaErrorInvalidPitchValue, "99");
    let deep = make_musaExtent(100, 30, 5);
    fails!(copy(musaMemcpy3DPeerParms { extent: deep, ..here() }), INVALID_VALUE);
    if other == 1 {
        fails!(copy(musaMemcpy3DPeerParms { dstDevice: other, ..here() }), INVALID_VALUE, "memory of");
    }
    ok!(copy(musaMemcpy3DPeerParms { extent: make_musaExtent(0, 3, 3), ..here() }));
    ok!(free(memory));
}
