//! Sets of elements wider than a byte (TOPS `topsMemsetD8`, `D16`, `D32`; behaviour.md 3.6), and of whole elements in
//! the safe API.

use crate::blocks::{Block, Held, Sort, assert_same, noise, waits_for};
use crate::dialects::tops::*;
use crate::support::{device, gated};
use gridcl::testing::guard;
use gridcl::tops::*;
use gridcl::{DeviceBuffer, PinnedBuffer};
use std::ffi::c_void;
use std::ptr::null_mut;

/// A set of elements: to, value, count, and the stream for the call that has one.
struct Wide {
    width: usize,
    set: fn(*mut c_void, u32, usize, Option<topsStream_t>) -> topsError_t,
}

const WIDE: [Wide; 3] = [
    Wide {
        width: 1,
        set: |to, value, count, stream| match stream {
            None => topsMemsetD8(to, value as u8, count),
            Some(stream) => topsMemsetD8Async(to, value as u8, count, stream),
        },
    },
    Wide {
        width: 2,
        set: |to, value, count, stream| match stream {
            None => topsMemsetD16(to, value as u16, count),
            Some(stream) => topsMemsetD16Async(to, value as u16, count, stream),
        },
    },
    Wide {
        width: 4,
        set: |to, value, count, stream| match stream {
            None => topsMemsetD32(to, value as i32, count),
            Some(stream) => topsMemsetD32Async(to, value as i32, count, stream),
        },
    },
];

/// What `count` elements of a value are as bytes.
fn elements(value: u32, width: usize, count: usize) -> Vec<u8> {
    value.to_le_bytes()[..width].repeat(count)
}

#[test]
fn elements_are_written_at_any_address_and_nothing_else() {
    let _guard = guard();
    const BYTES: usize = 70_000;
    let (model, stream) = (noise(3, BYTES), new_stream!());
    let mut turn = 0;
    for sort in [Sort::Device, Sort::Pinned] {
        let block = Block::new(calls!(), sort, &model);
        for Wide { width, set } in WIDE {
            for count in [1, 2, 3, 5, 31, 4096, 4099] {
                for at in [0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 255, 258] {
                    turn += 1;
                    // The last one repeats itself, so that a shorter pattern says as much.
                    let value = [0x8182_8384, 0x0000_00FF, 0x5A6B_5A6B, 0x7777_7777][turn % 4];
                    let mut expected = model.clone();
                    expected[at..at + count * width].copy_from_slice(&elements(value, width, count));
                    ok!(set(block.at(at), value, count, (turn % 2 == 0).then_some(stream)));
                    ok!(device_synchronize());
                    let what = || format!("{count} elements of {width} bytes at {at} of {sort:?} memory");
                    assert_same(&block.read(), &expected, what);
                    block.write(&model);
                }
            }
        }
    }
    ok!(stream_destroy(stream));
}

#[test]
fn large_sets_of_elements_are_whole() {
    let _guard = guard();
    // More than one step of what host memory is set from.
    const COUNT: usize = (5 << 20) / 4 + 3;
    for sort in [Sort::Device, Sort::Pinned] {
        let block = Block::new(calls!(), sort, &vec![0; COUNT * 4 + 8]);
        for at in [0, 1, 6] {
            ok!(topsMemsetD32Async(block.at(at), 0x0102_0304, COUNT, LEGACY));
            ok!(device_synchronize());
            let got = &block.read()[at..at + COUNT * 4];
            assert_same(got, &elements(0x0102_0304, 4, COUNT), || format!("from {at} on in {sort:?} memory"));
        }
    }
}

#[test]
fn no_elements_are_no_work_wherever_they_are() {
    let _guard = guard();
    for Wide { set, .. } in WIDE {
        for stream in [None, Some(LEGACY)] {
            ok!(set(null_mut(), 1, 0, stream));
            ok!(set(8 as *mut c_void, 1, 0, stream));
        }
    }
}

#[test]
fn sets_of_elements_are_refused_as_those_of_bytes() {
    let _guard = guard();
    let (memory, stream) = (uploaded!([7; 64]), new_stream!());
    let mut own = [0_u8; 64];
    for Wide { width, set } in WIDE {
        for stream in [None, Some(stream)] {
            fails!(set(null_mut(), 1, 1, stream), INVALID_VALUE, "null");
            fails!(set(own.as_mut_ptr().cast(), 1, 1, stream), INVALID_VALUE, "ptr");
            fails!(set(memory.wrapping_byte_add(64), 1, 1, stream), INVALID_VALUE, "ptr");
            fails!(set(memory, 1, 64 / width + 1, stream), INVALID_VALUE, "too many");
            fails!(set(memory.wrapping_byte_add(1), 1, 64 / width, stream), INVALID_VALUE, "too many");
            fails!(set(memory, 1, usize::MAX, stream), INVALID_VALUE);
            fails!(set(memory, 1, (usize::MAX / width).wrapping_add(1).max(65), stream), INVALID_VALUE);
        }
        fails!(set(memory, 1, 1, Some(memory.cast())), INVALID_HANDLE, "stream");
    }
    assert_eq!(downloaded!(memory, 64), [7; 64]);
    assert_eq!(own, [0; 64]);
    ok!(stream_destroy(stream));
    ok!(free(memory));
}

#[test]
fn sets_of_elements_return_before_device_memory_is_set() {
    let _guard = guard();
    let (memory, pinned) = (device_memory!(64), pinned_memory!(64));
    for Wide { width, set } in WIDE {
        let held = Held::default_stream(device());
        ok!(set(memory, 5, 64 / width, None));
        ok!(set(memory, 6, 64 / width, Some(LEGACY)));
        ok!(set(pinned, 7, 64 / width, Some(LEGACY)));
        held.open();
        ok!(device_synchronize());
        assert_eq!(downloaded!(memory, 64), elements(6, width, 64 / width));
    }
    let code = waits_for(Held::default_stream(device()), pinned, |pinned| topsMemsetD16(pinned, 0x0908, 32));
    assert_eq!(code, SUCCESS);
    assert_eq!(unsafe { std::slice::from_raw_parts(pinned.cast::<u16>(), 32) }, [0x0908; 32]);
    ok!(free(memory));
    ok!(host_free(pinned));
}

#[test]
fn sets_of_elements_keep_the_streams_order() {
    let _guard = guard();
    let (memory, stream) = (device_memory!(4000), new_stream!());
    for round in 0..50 {
        ok!(topsMemsetD32Async(memory, round, 1000, stream));
        ok!(topsMemsetD16Async(memory.wrapping_byte_add(1), round as u16, 1000, stream));
        ok!(topsMemsetD8Async(memory.wrapping_byte_add(3), round as u8, 100, stream));
    }
    let mut expected = elements(49, 4, 1000);
    expected[1..2001].copy_from_slice(&elements(49, 2, 1000));
    expected[3..103].fill(49);
    assert_same(&downloaded!(memory, 4000), &expected, || "the last of each".into());
    ok!(stream_destroy(stream));
    ok!(free(memory));
}

#[test]
fn buffers_are_filled_with_elements_of_any_size() {
    fn check<T: bytemuck::Pod + PartialEq + std::fmt::Debug>(value: T, other: T) {
        let stream = device().create_stream().unwrap();
        for len in [0, 1, 7, 5000, 100_003] {
            let mut buffer = DeviceBuffer::from_slice(&stream, &vec![other; len]).unwrap();
            stream.fill_with(&mut buffer, value).unwrap();
            assert!(buffer.to_vec(&stream).unwrap() == vec![value; len], "{len} of {value:?}");
            let (from, to) = (len / 3, len - len / 4);
            stream.fill_with(buffer.slice_mut(from..to), other).unwrap();
            let mut expected = vec![value; len];
            expected[from..to].fill(other);
            assert!(buffer.to_vec(&stream).unwrap() == expected, "{from}..{to} of {len} of {other:?}");

            let mut pinned = PinnedBuffer::<T>::new(device(), len).unwrap();
            stream.fill_with(&mut pinned, value).unwrap();
            assert!(*pinned.read().unwrap() == vec![value; len], "{len} pinned of {value:?}");
        }
    }
    let _guard = guard();
    check(1_u8, 2);
    check(-2_i16, 0x0102);
    check(1.5_f32, -0.0);
    check(0x0102_0304_0506_0708_u64, 0);
    check([1.0_f64, 2.0], [3.0, 3.0]);
    check([1_u8, 2, 3], [4, 4, 4]);
    check([1_u32, 2, 3], [0; 3]);
    check([1_u64, 2, 3, 4], [5, 6, 5, 6]);
    check([7_u32; 1000], [8; 1000]);
}

#[test]
fn a_fill_with_elements_does_not_wait() {
    let _guard = guard();
    let (stream, gate) = gated(device());
    let mut buffer = DeviceBuffer::<[u8; 3]>::zeroed(&stream, 100_000).unwrap();
    stream.fill_with(&mut buffer, [1, 2, 3]).unwrap();
    let mut words = DeviceBuffer::<u32>::zeroed(&stream, 100_000).unwrap();
    stream.fill_with(&mut words, 9).unwrap();
    assert!(!stream.is_done().unwrap());
    gate.open();
    assert!(buffer.to_vec(&stream).unwrap() == vec![[1, 2, 3]; 100_000]);
    assert!(words.to_vec(&stream).unwrap() == vec![9; 100_000]);
}
