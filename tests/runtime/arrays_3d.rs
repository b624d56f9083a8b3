//! `musaMemcpy3D` with arrays on one side or both: units, layers, and what is wrong with them (behaviour.md 3.5).

use crate::array_tools::WORDS;
use crate::blocks::{assert_same, noise};
use crate::dialects::musa::*;
use gridcl::musa::*;
use gridcl::testing::guard;
use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};

/// An array of up to three dimensions, freed with the value.
struct Box3(musaArray_t);

impl Box3 {
    fn new(extent: [usize; 3], flags: u32) -> Self {
        let mut array = null_mut();
        let extent = make_musaExtent(extent[0], extent[1], extent[2]);
        ok!(unsafe { musaMalloc3DArray(&mut array, &WORDS.desc(), extent, flags) });
        Self(array)
    }
}

impl Drop for Box3 {
    fn drop(&mut self) {
        let code = musaFreeArray(self.0);
        assert!(code == SUCCESS || std::thread::panicking(), "{:?}", gridcl::last_error_detail());
    }
}

/// Rows of 4-byte elements in slices, with room for `wide` elements a row and `high` rows a slice.
#[derive(Clone)]
struct Volume {
    bytes: Vec<u8>,
    wide: usize,
    high: usize,
}

impl Volume {
    fn noise(seed: u64, [wide, high, deep]: [usize; 3]) -> Self {
        Self { bytes: noise(seed, wide * high * deep * 4), wide, high }
    }

    fn offset(&self, [x, y, z]: [usize; 3]) -> usize {
        (x + self.wide * (y + self.high * z)) * 4
    }

    fn pitched(&self, at: *mut c_void) -> musaPitchedPtr {
        make_musaPitchedPtr(at, self.wide * 4, self.wide * 4, self.high)
    }

    fn paste(&mut self, at: [usize; 3], from: &Self, part: [usize; 3], size: [usize; 3]) {
        for (z, y) in (0..size[2]).flat_map(|z| (0..size[1]).map(move |y| (z, y))) {
            let to = self.offset([at[0], at[1] + y, at[2] + z]);
            let source = from.offset([part[0], part[1] + y, part[2] + z]);
            self.bytes[to..to + size[0] * 4].copy_from_slice(&from.bytes[source..source + size[0] * 4]);
        }
    }
}

fn extent([width, height, depth]: [usize; 3]) -> musaExtent {
    make_musaExtent(width, height, depth)
}

fn position([x, y, z]: [usize; 3]) -> musaPos {
    make_musaPos(x, y, z)
}

/// In bytes along x, as linear memory is counted.
fn bytes([x, y, z]: [usize; 3]) -> musaPos {
    make_musaPos(x * 4, y, z)
}

const SHAPES: [([usize; 3], [usize; 3], u32); 5] = [
    ([20, 0, 0], [20, 1, 1], musaArrayDefault),
    ([20, 9, 0], [20, 9, 1], musaArrayDefault),
    ([20, 9, 6], [20, 9, 6], musaArrayDefault),
    ([20, 0, 6], [20, 1, 6], musaArrayLayered),
    ([20, 9, 6], [20, 9, 6], musaArrayLayered),
];

#[test]
fn boxes_go_from_the_host_through_arrays_and_device_memory_back() {
    let _guard = guard();
    for (asked, size, flags) in SHAPES {
        let (first, second) = (Box3::new(asked, flags), Box3::new(asked, flags));
        let mut source = Volume::noise(1, [25, size[1] + 2, size[2] + 1]);
        let (there, skip) = (source.bytes.as_mut_ptr().cast(), [3, 1, 1]);
        // Everything, out of something larger.
        let mut parms = musaMemcpy3DParms {
            srcPtr: source.pitched(there),
            srcPos: bytes(skip),
            dstArray: first.0,
            extent: extent(size),
            kind: musaMemcpyHostToDevice,
            ..Default::default()
        };
        ok!(unsafe { musaMemcpy3D(&parms) });
        let mut expected = Volume::noise(2, size);
        expected.paste([0; 3], &source, skip, size);

        // A part to another place of the second array, then of that to device memory with room between its rows.
        let whole = musaMemcpy3DParms {
            srcArray: first.0,
            dstArray: second.0,
            extent: extent(size),
            kind: musaMemcpyDeviceToDevice,
            ..Default::default()
        };
        ok!(unsafe { musaMemcpy3D(&whole) });
        let part = [11, size[1].min(4), size[2].min(3)];
        let (from, to) = ([1, 0, 0], [7, size[1] - part[1], size[2] - part[2]]);
        parms = musaMemcpy3DParms { srcPos: position(from), dstPos: position(to), extent: extent(part), ..whole };
        ok!(unsafe { musaMemcpy3D(&parms) });
        let before = expected.clone();
        expected.paste(to, &before, from, part);

        let mut target = Volume::noise(3, [30, size[1] + 3, size[2] + 1]);
        let memory = uploaded!(target.bytes);
        let at = [5, 2, 1];
        parms = musaMemcpy3DParms {
            srcArray: second.0,
            dstPtr: target.pitched(memory),
            dstPos: bytes(at),
            extent: extent(size),
            kind: musaMemcpyDeviceToDevice,
            ..Default::default()
        };
        ok!(unsafe { musaMemcpy3D(&parms) });
        target.paste(at, &expected, [0; 3], size);
        let got = downloaded!(memory, target.bytes.len());
        assert_same(&got, &target.bytes, || format!("{asked:?} flags {flags}, in device memory"));

        // And back from there to the first array and to the host, in a stream.
        let stream = new_stream!();
        parms = musaMemcpy3DParms {
            srcPtr: target.pitched(memory),
            srcPos: bytes(at),
            dstArray: first.0,
            extent: extent(size),
            kind: musaMemcpyDefault,
            ..Default::default()
        };
        ok!(unsafe { musaMemcpy3DAsync(&parms, stream) });
        let mut back = Volume::noise(4, [21, size[1] + 1, size[2]]);
        let there = back.bytes.as_mut_ptr().cast();
        parms = musaMemcpy3DParms {
            srcArray: first.0,
            dstPtr: back.pitched(there),
            extent: extent(size),
            kind: musaMemcpyDeviceToHost,
            ..Default::default()
        };
        let mut wanted = back.clone();
        ok!(unsafe { musaMemcpy3DAsync(&parms, stream) });
        wanted.paste([0; 3], &expected, [0; 3], size);
        assert_same(&back.bytes, &wanted.bytes, || format!("{asked:?} flags {flags}, on the host"));
        ok!(stream_destroy(stream));
        ok!(free(memory));
    }
}

#[test]
fn copies_that_do_not_fit_are_refused() {
    let _guard = guard();
    let array = Box3::new([8, 6, 4], musaArrayDefault);
    let mut host = Volume::noise(1, [8, 6, 4]);
    let memory = host.bytes.as_mut_ptr().cast();
    let good = musaMemcpy3DParms {
        srcPtr: host.pitched(memory),
        dstArray: array.0,
        extent: make_musaExtent(8, 6, 4),
        kind: musaMemcpyHostToDevice,
        ..Default::default()
    };
    ok!(unsafe { musaMemcpy3D(&good) });
    let refused = |change: fn(&mut musaMemcpy3DParms), code, texts: &[&str]| {
        let mut parms = good;
        change(&mut parms);
        fails!(unsafe { musaMemcpy3D(&parms) }, code);
        fails!(unsafe { musaMemcpy3DAsync(&parms, LEGACY) }, code);
        let _ = unsafe { musaMemcpy3D(&parms) };
        let text = gridcl::last_error_detail().expect("a text");
        texts.iter().for_each(|part| assert!(text.contains(part), "{part:?} in: {text}"));
        let _ = get_last_error();
    };
    refused(|p| p.dstPos.x = 1, INVALID_VALUE, &["8 x 6 x 4 elements", "(1, 0, 0)"]);
    refused(|p| p.dstPos.y = 1, INVALID_VALUE, &["8 x 6 x 4 elements", "(0, 1, 0)"]);
    refused(|p| p.dstPos.z = 1, INVALID_VALUE, &["8 x 6 x 4 elements", "(0, 0, 1)"]);
    refused(|p| p.dstPos.z = usize::MAX, INVALID_VALUE, &["8 x 6 x 4 elements"]);
    refused(|p| p.srcPos.x = 4, INVALID_VALUE, &["srcPos"]);
    refused(|p| p.srcPos.y = 1, INVALID_VALUE, &["srcPos"]);
    refused(|p| p.extent.width = usize::MAX, musaErrorInvalidPitchValue, &["srcPtr.pitch"]);
    refused(|p| p.srcPtr.pitch = 31, musaErrorInvalidPitchValue, &["srcPtr.pitch", "32 bytes"]);
    refused(|p| p.srcPtr.ptr = null_mut(), INVALID_VALUE, &["srcPtr"]);
    refused(|p| p.dstArray = null_mut(), INVALID_VALUE, &["dstPtr"]);
    refused(|p| p.srcArray = p.dstArray, INVALID_VALUE, &["srcArray is set as well"]);
    refused(|p| p.dstArray = without_provenance_mut(0x40), INVALID_HANDLE, &["dstArray = 0x40"]);
    refused(|p| p.kind = musaMemcpyDeviceToHost, INVALID_MEMCPY_DIRECTION, &["destination is an array"]);
    refused(|p| p.kind = musaMemcpyKind(7), INVALID_MEMCPY_DIRECTION, &["kind = 7"]);
    let within = |p: &mut musaMemcpy3DParms| {
        (p.srcArray, p.srcPtr, p.kind) = (p.dstArray, musaPitchedPtr::default(), musaMemcpyDeviceToDevice);
        (p.extent, p.dstPos) = (make_musaExtent(4, 4, 3), make_musaPos(1, 1, 1));
    };
    refused(within, INVALID_VALUE, &["overlap"]);
    // An empty box is a success.
    let empty = musaMemcpy3DParms { extent: make_musaExtent(8, 0, 4), ..good };
    ok!(unsafe { musaMemcpy3D(&empty) });
    let mut got = vec![0_u8; host.bytes.len()];
    let back = musaMemcpy3DParms {
        srcArray: array.0,
        dstPtr: host.pitched(got.as_mut_ptr().cast()),
        extent: good.extent,
        kind: musaMemcpyDeviceToHost,
        ..Default::default()
    };
    ok!(unsafe { musaMemcpy3D(&back) });
    assert_same(&got, &host.bytes, || "what refused copies left alone".into());
}
