//! When copies with arrays return while their stream is busy, in which order they run, and how long an array lives
//! (behaviour.md 2.4; 3.5, ordering; 1.6 `FreeArray` and `DeviceReset`).

use crate::array_tools::{Made, Picture, WORDS};
use crate::blocks::{Held, assert_same, noise, waits_for};
use crate::child;
use crate::dialects::musa::*;
use crate::support::device;
use gridcl::musa::*;
use gridcl::testing::{fail, guard};
use std::ffi::c_void;
use std::ptr::null_mut;

const WIDTH: usize = 64;
const HEIGHT: usize = 48;
const ROW: usize = WIDTH * 4;
const BYTES: usize = ROW * HEIGHT;

fn up(array: musaArray_t, from: *const c_void, stream: musaStream_t) {
    ok!(unsafe { musaMemcpy2DToArrayAsync(array, 0, 0, from, ROW, ROW, HEIGHT, musaMemcpyDefault, stream) });
}

fn down(to: *mut c_void, array: musaArray_t, stream: musaStream_t) {
    ok!(unsafe { musaMemcpy2DFromArrayAsync(to, ROW, array, 0, 0, ROW, HEIGHT, musaMemcpyDefault, stream) });
}

fn filled() -> (Made, Picture) {
    let (array, picture) = (Made::new(WORDS, WIDTH, HEIGHT), Picture::noise(1, WORDS, WIDTH, HEIGHT));
    up(array.handle, picture.at(0, 0), null_mut());
    (array, picture)
}

#[test]
fn a_pageable_source_may_be_overwritten_when_the_asynchronous_copy_returns() {
    let _guard = guard();
    let (array, stream) = (Made::new(WORDS, WIDTH, HEIGHT), new_stream!());
    let (wide, held) = (Picture::noise(3, WORDS, 2 * WIDTH, HEIGHT), Held::default_stream(device()));
    let mut source = wide.clone();
    ok!(unsafe {
        musaMemcpy2DToArrayAsync(
            array.handle,
            0,
            0,
            source.at(5, 0),
            source.pitch(),
            ROW,
            HEIGHT,
            musaMemcpyHostToDevice,
            stream,
        )
    });
    source.bytes.fill(0);
    drop(source);
    assert_eq!(stream_query(stream), NOT_READY);
    held.open();
    ok!(stream_synchronize(stream));
    let mut expected = Picture::noise(0, WORDS, WIDTH, HEIGHT);
    expected.paste((0, 0), &wide, (5, 0), (WIDTH, HEIGHT));
    array.holds(&expected);
    ok!(stream_destroy(stream));
}

#[test]
fn a_pageable_source_without_room_for_a_snapshot_is_waited_for() {
    let _guard = guard();
    let (array, picture) = (Made::new(WORDS, WIDTH, HEIGHT), Picture::noise(2, WORDS, WIDTH, HEIGHT));
    fail("clEnqueueMapBuffer", 0, -4);
    let held = Held::default_stream(device());
    waits_for(held, (array.handle, picture.at(0, 0)), |(array, from)| up(array, from, LEGACY));
    assert!(!gridcl::testing::clear_fault(), "there was to be no room");
    array.holds(&picture);
}

#[test]
fn asynchronous_copies_of_pinned_and_device_memory_return_at_once() {
    let _guard = guard();
    let (array, stream) = (Made::new(WORDS, WIDTH, HEIGHT), new_stream!());
    let (source, target) = (pinned_memory!(BYTES), pinned_memory!(BYTES));
    let between = device_memory!(BYTES);
    let bytes = noise(4, BYTES);
    unsafe {
        source.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), BYTES);
        target.cast::<u8>().write_bytes(0, BYTES);
    }
    let held = Held::default_stream(device());
    up(array.handle, source, stream);
    down(between, array.handle, stream);
    up(array.handle, between, stream);
    down(target, array.handle, stream);
    assert_eq!(stream_query(stream), NOT_READY);
    let seen = || unsafe { std::slice::from_raw_parts(target.cast::<u8>(), BYTES) };
    assert_same(seen(), &vec![0; BYTES], || "nothing ran yet".into());
    held.open();
    ok!(stream_synchronize(stream));
    assert_same(seen(), &bytes, || "through the array and back".into());
    ok!(stream_destroy(stream));
    ok!(free(between));
    ok!(host_free(source));
    ok!(host_free(target));
}

#[test]
fn a_pageable_target_is_complete_when_either_copy_returns() {
    let _guard = guard();
    let (array, picture) = filled();
    for stream in [None, Some(new_stream!())] {
        let mut target = vec![0_u8; BYTES];
        let arguments = (target.as_mut_ptr().cast(), array.handle, stream);
        waits_for(Held::default_stream(device()), arguments, |(target, array, stream)| match stream {
            Some(stream) => down(target, array, stream),
            None => {
                ok!(unsafe { musaMemcpy2DFromArray(target, ROW, array, 0, 0, ROW, HEIGHT, musaMemcpyDeviceToHost) });
            }
        });
        assert_same(&target, &picture.bytes, || "the array's elements".into());
        stream.into_iter().for_each(|stream| ok!(stream_destroy(stream)));
    }
}

#[test]
fn a_synchronous_copy_from_host_memory_waits_for_the_default_stream() {
    let _guard = guard();
    let (array, picture) = (Made::new(WORDS, WIDTH, HEIGHT), Picture::noise(5, WORDS, WIDTH, HEIGHT));
    waits_for(Held::default_stream(device()), (array.handle, picture.at(0, 0)), |(array, from)| {
        ok!(unsafe { musaMemcpy2DToArray(array, 0, 0, from, ROW, ROW, HEIGHT, musaMemcpyHostToDevice) });
    });
    array.holds(&picture);
}

#[test]
fn synchronous_copies_within_the_device_do_not_wait() {
    let _guard = guard();
    let (array, picture) = filled();
    let (other, memory) = (Made::new(WORDS, WIDTH, HEIGHT), device_memory!(BYTES));
    let back = device_memory!(2 * BYTES);
    ok!(device_synchronize());
    let held = Held::default_stream(device());
    ok!(musaMemcpy2DArrayToArray(other.handle, 0, 0, array.handle, 0, 0, ROW, HEIGHT, musaMemcpyDeviceToDevice));
    ok!(unsafe { musaMemcpy2DFromArray(memory, ROW, other.handle, 0, 0, ROW, HEIGHT, musaMemcpyDeviceToDevice) });
    ok!(unsafe { musaMemcpy2DFromArray(back, 2 * ROW, other.handle, 0, 0, ROW, HEIGHT, musaMemcpyDeviceToDevice) });
    ok!(unsafe { musaMemcpy2DToArray(array.handle, 0, 0, back, 2 * ROW, ROW, HEIGHT, musaMemcpyDeviceToDevice) });
    assert_eq!(stream_query(LEGACY), NOT_READY);
    held.open();
    assert_same(&downloaded!(memory, BYTES), &picture.bytes, || "through the second array".into());
    array.holds(&picture);
    ok!(free(memory));
    ok!(free(back));
}

#[test]
fn a_free_waits_for_the_work_of_its_device() {
    let _guard = guard();
    let (mut array, memory) = (null_mut(), device_memory!(BYTES));
    ok!(unsafe { musaMallocArray(&mut array, &WORDS.desc(), WIDTH, HEIGHT, 0) });
    let (stream, bytes) = (new_stream!(), noise(6, BYTES));
    up(array, bytes.as_ptr().cast(), stream);
    let held = Held::default_stream(device());
    down(memory, array, stream);
    waits_for(held, array, |array| ok!(musaFreeArray(array)));
    assert_eq!(stream_query(stream), SUCCESS);
    assert_same(&downloaded!(memory, BYTES), &bytes, || "what the array held".into());
    fails!(musaFreeArray(array), INVALID_HANDLE, "array = ");
    ok!(stream_destroy(stream));
    ok!(free(memory));
}

#[test]
fn a_copy_in_a_dead_stream_is_refused() {
    let _guard = guard();
    let ((array, picture), stream) = (filled(), new_stream!());
    ok!(stream_destroy(stream));
    let mut host = vec![0_u8; BYTES];
    let (kind, from) = (musaMemcpyDefault, picture.at(0, 0));
    let to_array = || unsafe { musaMemcpy2DToArrayAsync(array.handle, 0, 0, from, ROW, ROW, HEIGHT, kind, stream) };
    fails!(to_array(), INVALID_HANDLE, "stream = ");
    let mut from_array = || unsafe {
        musaMemcpy2DFromArrayAsync(host.as_mut_ptr().cast(), ROW, array.handle, 0, 0, ROW, HEIGHT, kind, stream)
    };
    fails!(from_array(), INVALID_HANDLE, "stream = ");
}

#[test]
fn a_copy_that_the_driver_refuses_is_reported_and_leaves_nothing_behind() {
    let _guard = guard();
    let (array, picture) = filled();
    ok!(device_synchronize());
    let (mut before, mut after, mut total) = (0, 0, 0);
    let memory = device_memory!(2 * BYTES);
    ok!(unsafe { mem_get_info(&mut before, &mut total) });
    for entry in ["clEnqueueReadImage", "clEnqueueCopyImageToBuffer", "clEnqueueWriteImage"] {
        fail(entry, 0, -5);
        let mut host = vec![0_u8; BYTES];
        let kind = musaMemcpyDefault;
        let mut copy = || unsafe {
            match entry {
                "clEnqueueReadImage" => {
                    musaMemcpy2DFromArray(host.as_mut_ptr().cast(), ROW, array.handle, 0, 0, ROW, HEIGHT, kind)
                }
                "clEnqueueWriteImage" => {
                    musaMemcpy2DToArray(array.handle, 0, 0, host.as_ptr().cast(), ROW, ROW, HEIGHT, kind)
                }
                _ => musaMemcpy2DFromArray(memory, 2 * ROW, array.handle, 0, 0, ROW, HEIGHT, kind),
            }
        };
        fails!(copy(), LAUNCH_OUT_OF_RESOURCES, entry);
        array.holds(&picture);
    }
    ok!(device_synchronize());
    ok!(unsafe { mem_get_info(&mut after, &mut total) });
    assert_eq!(before, after, "scratch memory came back");
    ok!(free(memory));
}

#[test]
fn arrays_of_a_device_that_was_reset_are_dead_handles() {
    if child::is_child() {
        let mut array = null_mut();
        ok!(unsafe { musaMallocArray(&mut array, &WORDS.desc(), WIDTH, HEIGHT, 0) });
        ok!(device_reset());
        fails!(musaFreeArray(array), INVALID_HANDLE, "array = ");
        let mut desc = musaChannelFormatDesc::default();
        fails!(unsafe { musaGetChannelDesc(&mut desc, array) }, INVALID_HANDLE, "array = ");
        let (other, picture) = filled();
        let copy = || musaMemcpy2DArrayToArray(other.handle, 0, 0, array, 0, 0, ROW, HEIGHT, musaMemcpyDefault);
        fails!(copy(), INVALID_HANDLE, "src = ");
        other.holds(&picture);
        return;
    }
    child::passes("arrays_order::arrays_of_a_device_that_was_reset_are_dead_handles", &[]);
}

#[test]
fn arrays_and_memory_of_two_devices_are_copied_through_the_host() {
    if child::is_child() {
        let ((array, picture), mut count) = (filled(), 0);
        ok!(unsafe { get_device_count(&mut count) });
        if count < 2 {
            return;
        }
        ok!(set_device(1));
        let (there, memory) = (Made::new(WORDS, WIDTH, HEIGHT), device_memory!(2 * BYTES));
        let kind = musaMemcpyDefault;
        // From one to another, in the stream of the second; to memory there; in a stream of neither end's device.
        ok!(musaMemcpy2DArrayToArray(there.handle, 0, 0, array.handle, 0, 0, ROW, HEIGHT, kind));
        there.holds(&picture);
        ok!(unsafe { musaMemcpy2DFromArray(memory, 2 * ROW, array.handle, 0, 0, ROW, HEIGHT, kind) });
        let other = Picture::noise(9, WORDS, WIDTH, HEIGHT);
        ok!(unsafe { musaMemcpy2DToArray(array.handle, 0, 0, other.at(0, 0), ROW, ROW, HEIGHT, kind) });
        array.holds(&other);
        ok!(unsafe { musaMemcpy2DToArray(array.handle, 0, 0, memory, 2 * ROW, ROW, HEIGHT, kind) });
        ok!(set_device(0));
        array.holds(&picture);
        there.holds(&picture);
        ok!(free(memory));
        return;
    }
    let name = "arrays_order::arrays_and_memory_of_two_devices_are_copied_through_the_host";
    child::passes(name, &[("POCL_DEVICES", "pthread pthread")]);
}

#[test]
fn managed_memory_goes_into_arrays_and_out() {
    let _guard = guard();
    let (array, mut managed) = (Made::new(WORDS, WIDTH, HEIGHT), null_mut());
    let made = unsafe { musaMallocManaged(&mut managed, 2 * BYTES, musaMemAttachGlobal) };
    if made == NOT_SUPPORTED {
        return assert_eq!(get_last_error(), NOT_SUPPORTED);
    }
    assert_eq!(made, SUCCESS, "{:?}", gridcl::last_error_detail());
    let bytes = noise(8, BYTES);
    unsafe { managed.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), BYTES) };
    ok!(unsafe { musaMemcpy2DToArray(array.handle, 0, 0, managed, ROW, ROW, HEIGHT, musaMemcpyDefault) });
    array.holds(&Picture::new(WORDS, WIDTH, bytes.clone()));
    let second = managed.wrapping_byte_add(BYTES);
    ok!(unsafe { musaMemcpy2DFromArray(second, ROW, array.handle, 0, 0, ROW, HEIGHT, musaMemcpyDefault) });
    // The memory is the host's when a synchronous call returns.
    let seen = unsafe { std::slice::from_raw_parts(second.cast::<u8>(), BYTES) };
    assert_same(seen, &bytes, || "through the array".into());
    ok!(free(managed));
}
