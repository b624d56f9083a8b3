//! Allocations that find no room while memory that was given up is still in use (docs/assumptions.md).

use crate::blocks::Held;
use crate::child;
use crate::support::{PATIENCE, allows_large, device, gated, in_time};
use gridcl::testing::{fail_times, guard, tune_patience};
use gridcl::{Device, DeviceBuffer, ErrorKind, Result, Stream};
use std::ptr::null_mut;
use std::time::{Duration, Instant};

/// More than half of what the device has, so that two do not fit.
fn most_of(device: Device) -> usize {
    usize::try_from(device.total_memory()).unwrap() / 2 + 4096
}

/// Buffers that hold most of the memory in sum: no driver gives that much in one.
fn fill_up(device: Device) -> Result<Vec<DeviceBuffer<u8>>> {
    // SAFETY: nobody reads them.
    (0..4).map(|_| unsafe { DeviceBuffer::<u8>::uninit(device, most_of(device) / 4) }).collect()
}

/// Work of the stream uses a buffer, which is then dropped.
fn give_up(stream: &Stream, buffers: Vec<DeviceBuffer<u8>>) {
    for mut buffer in buffers {
        stream.fill_with(buffer.slice_mut(..16), 1).unwrap();
    }
}

#[test]
fn memory_that_is_still_in_use_is_waited_for() {
    let _guard = guard();
    if !allows_large() {
        return;
    }
    let (stream, gate) = gated(device());
    give_up(&stream, fill_up(device()).unwrap());
    let opener = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(30));
        gate.open();
    });
    let start = Instant::now();
    let again = fill_up(device());
    assert!(again.is_ok(), "{:?}", again.err());
    assert!(start.elapsed() < PATIENCE);
    opener.join().unwrap();
    drop(again);
    stream.synchronize().unwrap();
}

both_dialects! {
    fn memory_that_is_freed_in_stream_order_is_waited_for() {
        let _guard = guard();
        if !allows_large() {
            return;
        }
        let (stream, held) = (new_stream!(), Held::default_stream(device()));
        let size = most_of(device()) / 4;
        for _ in 0..4 {
            let mut memory = null_mut();
            ok!(unsafe { malloc_async(&mut memory, size, stream) });
            ok!(memset_async(memory, 1, 16, stream));
            ok!(free_async(memory, stream));
            // Kept for the stream: the same would come back to it at once.
            ok!(unsafe { malloc_async(&mut memory, 16, LEGACY) });
            ok!(free_async(memory, LEGACY));
        }
        let opener = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            held.open();
        });
        let blocks: Vec<_> = (0..7).map(|_| device_memory!(size)).collect();
        opener.join().unwrap();
        ok!(stream_synchronize(stream));
        blocks.into_iter().for_each(|memory| ok!(free(memory)));
        ok!(stream_destroy(stream));
    }
}

#[test]
fn nobody_waits_for_memory_that_would_not_do() {
    let _guard = guard();
    // Far longer than the test may take.
    tune_patience(Some(Duration::from_secs(24 * 3600)));
    let (stream, gate) = gated(device());
    give_up(&stream, vec![DeviceBuffer::zeroed(&device().create_stream().unwrap(), 4096).unwrap()]);
    let total = usize::try_from(device().total_memory()).unwrap();
    let error = in_time("an allocation of more than there is", move || {
        // SAFETY: nobody reads it.
        unsafe { DeviceBuffer::<u8>::uninit(device(), total + 1) }.unwrap_err()
    });
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
    tune_patience(None);
    gate.open();
    stream.synchronize().unwrap();
}

#[test]
fn memory_that_does_not_come_back_is_not_waited_for_without_end() {
    let _guard = guard();
    if !allows_large() {
        return;
    }
    tune_patience(Some(Duration::from_millis(50)));
    let (stream, gate) = gated(device());
    give_up(&stream, fill_up(device()).unwrap());
    // Only this thread opens the gate, after the call.
    let error = fill_up(device()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
    gate.open();
    // Nothing was lost.
    drop(fill_up(device()).unwrap());
    stream.synchronize().unwrap();
}

#[test]
fn what_the_driver_refuses_is_asked_for_again_when_memory_comes_back() {
    let _guard = guard();
    if device().memory_form() != "buffer" {
        // Where there is shared virtual memory a buffer object takes its place.
        return;
    }
    let (stream, gate) = gated(device());
    // SAFETY: nobody reads it.
    give_up(&stream, vec![unsafe { DeviceBuffer::<u8>::uninit(device(), 1 << 20) }.unwrap()]);
    // The first attempt, and the one after what is kept for speed was given back.
    fail_times("clCreateBuffer", 0, -4, 2);
    let opener = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(30));
        gate.open();
    });
    // SAFETY: as above.
    let outcome = unsafe { DeviceBuffer::<u8>::uninit(device(), 1 << 20) };
    opener.join().unwrap();
    assert!(!gridcl::testing::clear_fault(), "the driver was to refuse twice");
    assert!(outcome.is_ok(), "{:?}", outcome.err());
    stream.synchronize().unwrap();
}

#[test]
fn a_fault_that_an_allocation_finds_is_the_devices() {
    const NAME: &str = "memory_awaited::a_fault_that_an_allocation_finds_is_the_devices";
    if !child::is_child() {
        return child::passes(NAME, &[]);
    }
    let (stream, gate) = gated(device());
    let other = device().create_stream().unwrap();
    // So much that the next allocation looks what is done.
    // SAFETY: nobody reads it.
    give_up(&stream, vec![unsafe { DeviceBuffer::<u8>::uninit(device(), 80 << 20) }.unwrap()]);
    fail_times("clGetEventInfo", 0, -36, 1);
    // SAFETY: as above.
    let found = unsafe { DeviceBuffer::<u8>::uninit(device(), 16) };
    assert!(!gridcl::testing::clear_fault(), "the allocation was to look");
    gate.open();
    drop(found);
    for outcome in [stream.synchronize(), other.synchronize(), device().synchronize()] {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::LaunchFailure);
    }
}
