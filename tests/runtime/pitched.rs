//! Pitched memory, and copies and sets of boxes (MUSA "memory"; behaviour.md 2.4, 3.2, 3.5, 3.6). What is refused is in
//! `pitched_refused`, the safe API in `pitched_safe`.

use crate::blocks::{Held, assert_same, noise, waits_for};
use crate::boxes::{Lie, Memory, OFFSETS, Size, Sort, copy_box, copy_rows, model_copy, model_set, set_box};
use crate::dialects::musa::*;
use crate::support::device;
use gridcl::Device;
use gridcl::musa::*;
use gridcl::testing::{count_calls, guard};
use std::ffi::c_void;
use std::ptr::null_mut;

/// Commands that move or set bytes, among OpenCL calls that were counted.
fn transfers(calls: &[(&'static str, u64)]) -> u64 {
    let orders = ["Marker", "Barrier", "Map", "Unmap"];
    let moves = |name: &str| name.starts_with("clEnqueue") && !orders.iter().any(|order| name.contains(order));
    calls.iter().filter(|(name, _)| moves(name)).map(|(_, count)| count).sum()
}

/// Boxes whose rows are contiguous, gapped, short, long, and of one byte; some are slices of a larger one.
const SIZES: [Size; 8] =
    [[1, 1, 1], [3, 5, 1], [64, 16, 1], [1000, 7, 1], [33, 4, 3], [512, 3, 2], [5, 1, 9], [70_000, 6, 1]];

/// How a box may lie: tight, padded, in taller slices, at an odd pitch.
fn lies([width, rows, _]: Size, at: usize) -> [Lie; 4] {
    let lie = |pitch, rows| Lie { at, pitch, rows };
    [lie(width, rows), lie(width.next_multiple_of(512), rows), lie(width, rows + 1), lie(width + 13, rows + 2)]
}

#[test]
fn rows_of_pitched_memory_begin_at_multiples_of_an_aligned_pitch() {
    let _guard = guard();
    let mut prop = musaDeviceProp::default();
    ok!(unsafe { musaGetDeviceProperties(&mut prop, 0) });
    for (width, height) in [(1, 1), (511, 3), (512, 2), (513, 40), (100_000, 5)] {
        let (mut pointer, mut pitch) = (null_mut(), 0);
        ok!(unsafe { musaMallocPitch(&mut pointer, &mut pitch, width, height) });
        assert!(pitch >= width && pitch < width + 512 && pitch.is_multiple_of(512), "{pitch} for {width}");
        assert!(pitch.is_multiple_of(prop.texturePitchAlignment) && pointer.addr().is_multiple_of(256));
        // All of it is the program's, and nothing more.
        ok!(memset(pointer, 7, pitch * height));
        fails!(memset(pointer, 7, pitch * height + 1), INVALID_VALUE, "1 too many");
        ok!(free(pointer));

        let mut volume = musaPitchedPtr::default();
        ok!(unsafe { musaMalloc3D(&mut volume, make_musaExtent(width, height, 3)) });
        assert_eq!((volume.pitch, volume.xsize, volume.ysize), (pitch, width, height));
        ok!(memset(volume.ptr, 7, pitch * height * 3));
        fails!(memset(volume.ptr, 7, pitch * height * 3 + 1), INVALID_VALUE, "1 too many");
        ok!(free(volume.ptr));
    }
}

#[test]
fn pitched_memory_without_bytes_is_null() {
    let _guard = guard();
    for (width, height, depth) in [(0, 5, 5), (5, 0, 5), (5, 5, 0), (0, 0, 0), (0, usize::MAX, 1), (usize::MAX, 0, 1)] {
        let stale: *mut c_void = std::ptr::without_provenance_mut(64);
        if depth != 0 {
            let (mut pointer, mut pitch) = (stale, 64);
            ok!(unsafe { musaMallocPitch(&mut pointer, &mut pitch, width, height) });
            assert!(pointer.is_null());
        }
        let mut volume = make_musaPitchedPtr(stale, 64, 64, 64);
        ok!(unsafe { musaMalloc3D(&mut volume, make_musaExtent(width, height, depth)) });
        assert!(volume.ptr.is_null());
    }
}

#[test]
fn every_pair_of_memories_copies_a_box_and_nothing_between_its_rows() {
    let _guard = guard();
    let stream = new_stream!();
    for size in SIZES {
        let room = lies(size, 512).map(|lie| lie.range(size).end).into_iter().max().unwrap() + 100;
        let (contents, blank) = (noise(1, room), noise(2, room));
        for (to, from) in Sort::pairs() {
            let (target, source) = (Memory::new(to, &blank), Memory::new(from, &contents));
            for turn in 0..OFFSETS.len() {
                let (to_at, from_at) = (OFFSETS[turn], OFFSETS[(turn * 3 + 1) % OFFSETS.len()]);
                let (to_lie, from_lie) = (lies(size, to_at)[turn % 4], lies(size, from_at)[(turn / 2 + turn) % 4]);
                let kind = if turn % 3 == 0 { DEFAULT } else { Sort::copy_kind(to, from) };
                let stream = (turn % 2 == 0).then_some(stream);
                let copy = if size[2] == 1 && turn % 4 < 2 { copy_rows } else { copy_box };
                ok!(copy((&target, to_lie), (&source, from_lie), size, kind, stream));
                ok!(device_synchronize());
                let mut expected = blank.clone();
                model_copy(&mut expected, to_lie, &contents, from_lie, size);
                assert_same(&target.read(), &expected, || {
                    format!("{size:?} from {from:?} {from_lie:?} to {to:?} {to_lie:?}, stream {stream:?}")
                });
                target.write(&blank);
            }
            assert_same(&source.read(), &contents, || format!("the source in {from:?} memory"));
        }
    }
    ok!(stream_destroy(stream));
}

#[test]
fn a_box_is_copied_from_one_position_to_another() {
    let _guard = guard();
    // Volumes of 40 x 10 x 6 bytes in rows of 50.
    let lie = Lie { at: 0, pitch: 50, rows: 10 };
    let (contents, blank) = (noise(3, 50 * 10 * 6), noise(4, 50 * 10 * 6));
    for (to, from) in Sort::pairs() {
        let (target, source) = (Memory::new(to, &blank), Memory::new(from, &contents));
        let parms = musaMemcpy3DParms {
            dstPtr: lie.pointer(&target),
            dstPos: make_musaPos(33, 2, 1),
            srcPtr: lie.pointer(&source),
            srcPos: make_musaPos(5, 7, 4),
            extent: make_musaExtent(17, 3, 2),
            kind: DEFAULT,
            ..Default::default()
        };
        ok!(unsafe { musaMemcpy3D(&parms) });
        ok!(device_synchronize());
        let mut expected = blank.clone();
        let place = |x: usize, y: usize, z: usize| Lie { at: x + y * 50 + z * 500, ..lie };
        model_copy(&mut expected, place(33, 2, 1), &contents, place(5, 7, 4), [17, 3, 2]);
        assert_same(&target.read(), &expected, || format!("{from:?} to {to:?}"));
    }
}

#[test]
fn columns_of_one_block_are_copied_beside_each_other() {
    let _guard = guard();
    for sort in Sort::all() {
        let mut model = noise(5, 64 * 20);
        let memory = Memory::new(sort, &model);
        let column = |at| Lie { at, pitch: 64, rows: 20 };
        let old = model.clone();
        for stream in [None, Some(LEGACY)] {
            // Rows meet without sharing a byte, though the spans do; then a box onto itself.
            ok!(copy_rows((&memory, column(32)), (&memory, column(0)), [32, 20, 1], DEFAULT, stream));
            ok!(copy_box((&memory, column(7)), (&memory, column(7)), [32, 20, 1], DEFAULT, stream));
        }
        ok!(device_synchronize());
        model_copy(&mut model, column(32), &old, column(0), [32, 20, 1]);
        assert_same(&memory.read(), &model, || format!("{sort:?} memory"));
    }
}

#[test]
fn a_set_of_a_box_writes_its_rows_and_nothing_between_them() {
    let _guard = guard();
    let stream = new_stream!();
    for size in SIZES {
        let room = lies(size, 512).map(|lie| lie.range(size).end).into_iter().max().unwrap() + 100;
        let blank = noise(6, room);
        for sort in Sort::known() {
            let memory = Memory::new(sort, &blank);
            for (turn, at) in OFFSETS.into_iter().enumerate() {
                let (lie, value) = (lies(size, at)[turn % 4], 0x1FA7 + turn as i32);
                ok!(set_box((&memory, lie), value, size, (turn % 3 == 1).then_some(stream)));
                ok!(device_synchronize());
                let mut expected = blank.clone();
                model_set(&mut expected, lie, value as u8, size);
                assert_same(&memory.read(), &expected, || format!("{size:?} in {sort:?} memory, {lie:?}"));
                memory.write(&blank);
            }
        }
    }
    ok!(stream_destroy(stream));
}

#[test]
fn every_short_row_is_set_exactly() {
    let _guard = guard();
    const PITCH: usize = 101;
    let mut model = noise(7, PITCH * 70 * 17);
    let memory = Memory::new(Sort::Device(0), &model);
    // An odd pitch goes through all alignments of a row within what a wide store covers.
    for at in 0..17 {
        let rows = Lie { at: at * PITCH * 70 + at, pitch: PITCH, rows: 67 };
        ok!(set_box((&memory, rows), 0x40 + at as i32, [1 + 4 * at, 67, 1], Some(LEGACY)));
        model_set(&mut model, rows, 0x40 + at as u8, [1 + 4 * at, 67, 1]);
    }
    assert_same(&memory.read(), &model, || "short rows".into());
}

#[test]
fn large_boxes_of_host_memory_are_set_in_stream_order() {
    let _guard = guard();
    let stream = new_stream!();
    // More than one step of what host memory is set from: in slices, in rows, and within a row.
    for (size, pitch) in [([3000, 100, 31], 3001), ([50_000, 190, 1], 50_001), ([5 << 20, 2, 1], (5 << 20) + 9)] {
        let lie = Lie { at: 3, pitch, rows: size[1] };
        let mut model = vec![0xEE; lie.range(size).end + 5];
        let memory = Memory::new(Sort::Pinned, &model);
        for value in 1..4 {
            ok!(set_box((&memory, lie), value, size, Some(stream)));
        }
        ok!(stream_synchronize(stream));
        model_set(&mut model, lie, 3, size);
        assert_same(&memory.read(), &model, || format!("{size:?}"));
    }
    ok!(stream_destroy(stream));
}

#[test]
fn a_copy_of_a_box_is_one_transfer_and_so_is_a_set() {
    let _guard = guard();
    let (stream, size) = (new_stream!(), [100, 50, 4]);
    let (tight, padded) = (Lie { at: 0, pitch: 100, rows: 50 }, Lie { at: 8, pitch: 512, rows: 51 });
    let contents = noise(8, padded.range(size).end);
    let busy = Memory::new(Sort::Device(0), &[0; 64]);
    for (to, from) in Sort::pairs() {
        let (target, source) = (Memory::new(to, &contents), Memory::new(from, &contents));
        let on_host = !to.is_device() && !from.is_device();
        for (to_lie, from_lie) in [(padded, tight), (tight, padded), (padded, padded), (tight, tight)] {
            for (stream, least) in [(None, 0), (Some(stream), u64::from(!on_host))] {
                // Its kernel, its alias of a slab and its staging are made once.
                ok!(copy_box((&target, to_lie), (&source, from_lie), size, DEFAULT, stream));
                // Busy, so that nothing goes by hand.
                ok!(memset_async(busy.at(0), 0, 64, stream.unwrap_or(LEGACY)));
                let (code, calls) =
                    count_calls(|| copy_box((&target, to_lie), (&source, from_lie), size, DEFAULT, stream));
                ok!(code);
                let made = transfers(&calls);
                assert!((least..=1).contains(&made), "{from:?} {from_lie:?} to {to:?} {to_lie:?}: {calls:?}");
            }
        }
    }
    let memory = Memory::new(Sort::Device(0), &contents);
    for lie in [tight, padded] {
        ok!(set_box((&memory, lie), 1, size, None));
        for stream in [None, Some(stream)] {
            let (code, calls) = count_calls(|| set_box((&memory, lie), 1, size, stream));
            ok!(code);
            assert_eq!(transfers(&calls), 1, "{lie:?}: {calls:?}");
        }
    }
    // Filled in a block of the device and copied from there.
    let memory = Memory::new(Sort::Pinned, &contents);
    ok!(set_box((&memory, padded), 1, size, Some(stream)));
    let (code, calls) = count_calls(|| set_box((&memory, padded), 1, size, Some(stream)));
    ok!(code);
    assert_eq!(transfers(&calls), 2, "{calls:?}");
    ok!(stream_destroy(stream));
}

#[test]
fn asynchronous_copies_and_sets_of_known_memory_return_at_once() {
    let _guard = guard();
    let (stream, size) = (new_stream!(), [1000, 300, 1]);
    let lie = Lie { at: 3, pitch: 1024, rows: 300 };
    let bytes = lie.range(size).end;
    let blocks = |seed| Memory::new(Sort::Device(0), &noise(seed, bytes));
    let (first, second, third) = (blocks(1), blocks(2), blocks(3));
    for host in [Sort::Pinned, Sort::Registered] {
        let (up, down) = (Memory::new(host, &noise(4, bytes)), Memory::new(host, &vec![0; bytes]));
        let held = Held::default_stream(device());
        ok!(copy_rows((&first, lie), (&up, lie), size, HOST_TO_DEVICE, Some(stream)));
        ok!(copy_box((&second, lie), (&first, lie), size, DEVICE_TO_DEVICE, Some(stream)));
        ok!(copy_rows((&down, lie), (&second, lie), size, DEVICE_TO_HOST, Some(stream)));
        ok!(set_box((&down, lie), 9, [1000, 100, 1], Some(stream)));
        ok!(set_box((&third, lie), 9, [1000, 100, 1], Some(stream)));
        // Without a stream of its own, within the device: it waits for nobody either.
        ok!(copy_rows((&third, lie), (&second, lie), size, DEVICE_TO_DEVICE, None));
        ok!(copy_box((&third, lie), (&second, lie), size, DEVICE_TO_DEVICE, None));
        ok!(set_box((&third, lie), 8, [1000, 50, 1], None));
        assert_eq!(stream_query(stream), NOT_READY);
        assert_eq!(down.read(), vec![0; bytes], "nothing ran yet");
        held.open();
        ok!(stream_synchronize(stream));
        let mut expected = vec![0; bytes];
        model_copy(&mut expected, lie, &noise(4, bytes), lie, size);
        model_set(&mut expected, lie, 9, [1000, 100, 1]);
        assert_same(&down.read(), &expected, || format!("{host:?} memory"));
    }
    ok!(stream_destroy(stream));
}

#[test]
fn a_pageable_box_may_be_overwritten_when_the_asynchronous_copy_returns() {
    let _guard = guard();
    let (stream, size, lie) = (new_stream!(), [700, 400, 2], Lie { at: 1, pitch: 777, rows: 401 });
    let (old, blank) = (noise(9, lie.range(size).end), vec![0; lie.range(size).end]);
    let (target, source) = (Memory::new(Sort::Device(0), &blank), Memory::new(Sort::Pageable, &old));
    let held = Held::default_stream(device());
    ok!(copy_box((&target, lie), (&source, lie), size, HOST_TO_DEVICE, Some(stream)));
    assert_eq!(stream_query(stream), NOT_READY);
    source.write(&blank);
    held.open();
    ok!(stream_synchronize(stream));
    let mut expected = blank;
    model_copy(&mut expected, lie, &old, lie, size);
    assert_same(&target.read(), &expected, || "the bytes of the call".into());
    ok!(stream_destroy(stream));
}

#[test]
fn what_has_to_be_complete_when_the_call_returns_waits_for_the_streams_work() {
    let _guard = guard();
    let stream = new_stream!();
    let (size, lie) = ([100, 20, 2], Lie { at: 1, pitch: 128, rows: 20 });
    let bytes = lie.range(size).end;
    for (to, from) in Sort::pairs() {
        for in_stream in [false, true] {
            let on_host = !to.is_device() && !from.is_device();
            let down_to_pageable = from.is_device() && to == Sort::Pageable;
            let managed = [to, from].contains(&Sort::Managed) && !in_stream;
            let within = to.is_device() && from.is_device() && !managed;
            if within || (in_stream && !on_host && !down_to_pageable) {
                continue;
            }
            let (target, source) = (Memory::new(to, &vec![0; bytes]), Memory::new(from, &noise(10, bytes)));
            let held = Held::default_stream(device());
            let stream = in_stream.then_some(stream);
            let arguments = (target, source, stream, size, lie);
            let (target, ..) = waits_for(held, arguments, |(target, source, stream, size, lie)| {
                ok!(copy_box((&target, lie), (&source, lie), size, DEFAULT, stream));
                ok!(stream_query(stream.unwrap_or(LEGACY)));
                Sent((target, source))
            })
            .0;
            let mut expected = vec![0; bytes];
            model_copy(&mut expected, lie, &noise(10, bytes), lie, size);
            assert_same(&target.read(), &expected, || format!("{from:?} to {to:?}"));
        }
    }
    for sort in Sort::known().into_iter().filter(|&sort| sort != Sort::Device(0)) {
        let memory = Memory::new(sort, &vec![0; bytes]);
        let memory = waits_for(Held::default_stream(device()), (memory, size, lie), |(memory, size, lie)| {
            ok!(set_box((&memory, lie), 5, size, None));
            Sent(memory)
        })
        .0;
        let mut expected = vec![0; bytes];
        model_set(&mut expected, lie, 5, size);
        assert_same(&memory.read(), &expected, || format!("a set of {sort:?} memory"));
    }
    ok!(stream_destroy(stream));
}

/// What another thread hands back.
struct Sent<T>(T);
// Any thread may use the pointers of these tests.
unsafe impl<T> Send for Sent<T> {}

#[test]
fn boxes_go_between_devices_and_are_set_on_any() {
    let _guard = guard();
    if Device::count() < 2 {
        return eprintln!("needs two devices");
    }
    let stream = new_stream!();
    let (tall, tight) = (Lie { at: 5, pitch: 1200, rows: 33 }, Lie { at: 0, pitch: 1100, rows: 30 });
    for (size, to_lie, from_lie) in [
        ([1000, 30, 3], tall, tight),
        ([1100, 30, 3], tight, tall),
        // More than one step through the host, of several rows and slices each.
        ([900, 3000, 8], Lie { rows: 3000, ..tall }, Lie { rows: 3001, ..tight }),
    ] {
        let (contents, blank) = (noise(11, from_lie.range(size).end), noise(12, to_lie.range(size).end));
        for (to, from) in [(0, 1), (1, 0), (1, 1)].map(|(to, from)| (Sort::Device(to), Sort::Device(from))) {
            let (target, source) = (Memory::new(to, &blank), Memory::new(from, &contents));
            for stream in [None, Some(stream)] {
                target.write(&blank);
                ok!(copy_box((&target, to_lie), (&source, from_lie), size, DEVICE_TO_DEVICE, stream));
                ok!(set_box((&target, to_lie), 3, [10, 20, 2], stream));
                ok!(stream_synchronize(stream.unwrap_or(LEGACY)));
                let mut expected = blank.clone();
                model_copy(&mut expected, to_lie, &contents, from_lie, size);
                model_set(&mut expected, to_lie, 3, [10, 20, 2]);
                assert_same(&target.read(), &expected, || format!("{size:?}, {from:?} to {to:?}"));
            }
        }
    }
    ok!(stream_destroy(stream));
}
