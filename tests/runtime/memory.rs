//! Device memory: allocation, free, what is left (MUSA "memory", TOPS 7.1; behaviour.md 1.6, 2.1, 2.4 `Free`, 3.1
//! `MemGetInfo`, 3.2).

use crate::blocks::{Held, assert_same, noise, waits_for};
use crate::child;
use crate::support::in_time;
use gridcl::testing::{clear_fault, fail, guard};
use gridcl::{Device, StreamFlags};
use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut as address};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Sizes on both sides of what the runtime rounds to: its alignment, a page, a slab.
const SIZES: [usize; 12] = [1, 2, 255, 256, 257, 511, 4095, 4096, 4097, 65_537, (1 << 20) + 1, (33 << 20) + 1];

both_dialects! {
    fn memory_of_any_size_is_aligned_to_256_and_overlaps_nothing() {
        let _guard = guard();
        let blocks: Vec<(*mut c_void, Vec<u8>)> = SIZES
            .iter()
            .map(|&bytes| {
                let contents = noise(bytes as u64, bytes);
                let pointer = uploaded!(contents);
                assert!(!pointer.is_null() && pointer.addr().is_multiple_of(256), "{bytes} bytes at {pointer:p}");
                (pointer, contents)
            })
            .collect();
        for (pointer, contents) in &blocks {
            let got = downloaded!(*pointer, contents.len());
            assert_same(&got, contents, || format!("{} bytes among others", contents.len()));
        }
        for (pointer, _) in blocks {
            ok!(free(pointer));
        }
    }

    fn an_allocation_without_a_place_for_its_pointer_is_refused() {
        let _guard = guard();
        for bytes in [0, 1, usize::MAX] {
            fails!(unsafe { malloc(null_mut(), bytes) }, INVALID_VALUE, "Malloc: ", "= null: ", "must not be null");
        }
        let pointer = device_memory!(16);
        ok!(free(pointer));
        fails!(unsafe { mem_get_info(null_mut(), &mut 0) }, INVALID_VALUE, "MemGetInfo: free = null");
        let mut left = 7;
        fails!(unsafe { mem_get_info(&mut left, null_mut()) }, INVALID_VALUE, "MemGetInfo: total = null");
        assert_eq!(left, 7, "nothing is written by a call that fails");
    }

    fn a_null_pointer_is_nothing_to_free() {
        let _guard = guard();
        ok!(free(null_mut()));
        ok!(free(null_mut()));
    }

    fn the_first_call_of_a_process_may_be_a_free_of_null() {
        if child::is_child() {
            ok!(free(null_mut()));
            let pointer = device_memory!(16);
            ok!(free(pointer));
            return;
        }
        let _guard = guard();
        child::passes(&format!("memory::{NAME}::the_first_call_of_a_process_may_be_a_free_of_null"), &[]);
    }

    fn what_is_left_falls_by_what_is_allocated_and_comes_back() {
        let _guard = guard();
        let info = || {
            let (mut left, mut total) = (0_usize, 0_usize);
            ok!(unsafe { mem_get_info(&mut left, &mut total) });
            assert!(left <= total, "{left} of {total} bytes are left");
            assert_eq!(total as u64, Device::get(0).unwrap().total_memory());
            left
        };
        let before = info();
        let mut held = 0;
        let blocks: Vec<(*mut c_void, usize)> = SIZES
            .iter()
            .map(|&bytes| {
                let pointer = device_memory!(bytes);
                held += bytes;
                assert_eq!(before - info(), held, "after {bytes} more bytes");
                (pointer, bytes)
            })
            .collect();
        // Neither host memory nor a failure changes what the device has left.
        let pinned = pinned_memory!(4096);
        fails!(unsafe { malloc(&mut null_mut(), usize::MAX) }, OUT_OF_MEMORY);
        fails!(free(pinned), INVALID_DEVICE_POINTER);
        assert_eq!(before - info(), held);
        ok!(host_free(pinned));
        for (pointer, bytes) in blocks {
            ok!(free(pointer));
            held -= bytes;
            assert_eq!(before - info(), held, "after {bytes} bytes were freed");
        }
        assert_eq!(info(), before);
    }

    fn more_than_the_device_has_is_refused_and_leaves_everything_usable() {
        let _guard = guard();
        let contents = noise(1, 5000);
        let neighbour = uploaded!(contents);
        let (mut left, mut total) = (0_usize, 0_usize);
        ok!(unsafe { mem_get_info(&mut left, &mut total) });
        for bytes in
            [usize::MAX, usize::MAX - 255, usize::MAX - 6144, isize::MAX as usize, 1 << 62, total + 1, left + 1]
        {
            let mut pointer = address(0x40);
            let size = format!("size = {bytes}");
            fails!(unsafe { malloc(&mut pointer, bytes) }, OUT_OF_MEMORY, "Malloc: ", &size, "device 0");
            assert_eq!(pointer.addr(), 0x40, "nothing is written by a call that fails");
            let mut still = 0;
            ok!(unsafe { mem_get_info(&mut still, &mut total) });
            assert_eq!(still, left);
            let pointer = uploaded!(contents);
            assert_same(&downloaded!(pointer, 5000), &contents, || format!("after {bytes} bytes were refused"));
            ok!(free(pointer));
        }
        assert_same(&downloaded!(neighbour, 5000), &contents, || "the neighbour".into());
        ok!(free(neighbour));
    }

    fn memory_taken_in_steps_runs_out_and_comes_back() {
        let _guard = guard();
        if !crate::support::allows_large() {
            return;
        }
        let (mut before, mut total) = (0_usize, 0_usize);
        ok!(unsafe { mem_get_info(&mut before, &mut total) });
        let step = total / 8 + 4096;
        let take_all = || {
            let mut blocks = Vec::new();
            loop {
                let mut pointer = null_mut();
                match unsafe { malloc(&mut pointer, step) } {
                    SUCCESS => blocks.push(pointer),
                    code => {
                        assert_eq!(code, OUT_OF_MEMORY, "{:?}", gridcl::last_error_detail());
                        return blocks;
                    }
                }
                assert!(blocks.len() <= 8, "the device gave more than it has");
            }
        };
        let blocks = take_all();
        assert!(blocks.len() > 2, "only {} of {step} bytes", blocks.len());
        let mut left = 0;
        ok!(unsafe { mem_get_info(&mut left, &mut total) });
        assert_eq!(before - left, blocks.len() * step);
        // One that is given back can be had again at once, and only that one.
        ok!(free(blocks[1]));
        let again = device_memory!(step);
        fails!(unsafe { malloc(&mut null_mut(), step) }, OUT_OF_MEMORY);
        let count = blocks.len();
        for (index, pointer) in blocks.into_iter().enumerate() {
            ok!(free(if index == 1 { again } else { pointer }));
        }
        ok!(unsafe { mem_get_info(&mut left, &mut total) });
        assert_eq!(left, before);
        let blocks = take_all();
        assert_eq!(blocks.len(), count, "as much as the first time");
        blocks.into_iter().for_each(|pointer| ok!(free(pointer)));
    }

    fn what_the_driver_refuses_is_not_charged() {
        let _guard = guard();
        if !crate::support::allows_large() {
            return;
        }
        let (mut before, mut after, mut total) = (0_usize, 0_usize, 0_usize);
        ok!(unsafe { mem_get_info(&mut before, &mut total) });
        // The device has as much, but many drivers do not give it in one block.
        for bytes in [total / 2 + 1, before / 4 * 3, before] {
            let mut pointer = address(0x40);
            match unsafe { malloc(&mut pointer, bytes) } {
                SUCCESS => ok!(free(pointer)),
                code => {
                    let detail = gridcl::last_error_detail().unwrap();
                    assert_eq!((code, pointer.addr()), (OUT_OF_MEMORY, 0x40), "{detail}");
                    assert!(
                        detail.contains(&format!("size = {bytes}: ")) && detail.contains("clCreateBuffer"),
                        "{detail}"
                    );
                }
            }
            ok!(unsafe { mem_get_info(&mut after, &mut total) });
            assert_eq!(after, before, "{bytes} bytes");
        }
    }

    fn a_driver_that_refuses_once_is_asked_again() {
        let _guard = guard();
        let entry = if Device::get(0).unwrap().memory_form() == "buffer" { "clCreateBuffer" } else { "clSVMAlloc" };
        fail(entry, 0, -4);
        let pointer = device_memory!(40 << 20);
        assert!(!clear_fault(), "{entry} was to fail");
        let end = pointer.wrapping_byte_add((40 << 20) - 5000);
        ok!(memset(end, 3, 5000));
        assert_eq!(downloaded!(end, 5000), [3; 5000]);
        ok!(free(pointer));
    }

    fn what_is_not_the_start_of_live_device_memory_is_not_freed() {
        let _guard = guard();
        let contents = noise(3, 4096);
        let (pointer, neighbour) = (uploaded!(contents), uploaded!(contents));
        let pinned = pinned_memory!(4096);
        let (mut stack, mut heap) = ([0_u8; 64], vec![0_u8; 8192]);
        ok!(unsafe { host_register(heap.as_mut_ptr().cast(), heap.len(), 0) });
        let mut plain = vec![0_u8; 64];

        let base = format!("the allocation at {:#x}", pointer.addr());
        for offset in [1, 4, 256, 4095] {
            let inside = pointer.wrapping_byte_add(offset);
            let argument = format!("ptr = {:#x}: ", inside.addr());
            fails!(free(inside), INVALID_DEVICE_POINTER, "Free: ", &argument, "points into", &base);
        }
        for garbage in [1, 0x1000, 0xdead_beef_0000, usize::MAX] {
            fails!(free(address(garbage)), INVALID_DEVICE_POINTER, "Free: ", &format!("ptr = {garbage:#x}: "));
        }
        fails!(free((&raw mut stack).cast()), INVALID_DEVICE_POINTER, "has not allocated it");
        fails!(free(plain.as_mut_ptr().cast()), INVALID_DEVICE_POINTER, "has not allocated it");
        fails!(free(pinned), INVALID_DEVICE_POINTER, "pinned host memory");
        fails!(free(pinned.wrapping_byte_add(64)), INVALID_DEVICE_POINTER, "pinned host memory");
        fails!(free(heap.as_mut_ptr().cast()), INVALID_DEVICE_POINTER, "registered host memory");

        for live in [pointer, neighbour] {
            assert_same(&downloaded!(live, 4096), &contents, || "device memory afterwards".into());
        }
        unsafe { pinned.cast::<u8>().write_bytes(0x11, 4096) };
        ok!(free(pointer));
        fails!(free(pointer), INVALID_DEVICE_POINTER, "Free: ", &format!("{:#x}", pointer.addr()), "free already");
        fails!(free(pointer.wrapping_byte_add(1)), INVALID_DEVICE_POINTER, "free already");
        assert_same(&downloaded!(neighbour, 4096), &contents, || "the neighbour of what was freed".into());
        ok!(free(neighbour));
        ok!(host_unregister(heap.as_mut_ptr().cast()));
        ok!(host_free(pinned));
    }

    fn a_reset_ends_all_memory_of_the_device() {
        let _guard = guard();
        let (pointer, pinned) = (device_memory!(4096), pinned_memory!(4096));
        let (mut left, mut total) = (0_usize, 0_usize);
        ok!(device_reset());
        fails!(free(pointer), INVALID_DEVICE_POINTER, "Free: ");
        fails!(memset(pointer, 0, 1), INVALID_VALUE, "Memset: ");
        fails!(host_free(pinned), INVALID_VALUE);
        ok!(unsafe { mem_get_info(&mut left, &mut total) });
        assert_eq!(left, total, "all of the device is left");
        let pointer = uploaded!(noise(4, 100));
        assert_same(&downloaded!(pointer, 100), &noise(4, 100), || "memory of the next context".into());
        ok!(free(pointer));
    }

    fn a_free_waits_for_all_streams_of_the_device() {
        let _guard = guard();
        let device = Device::get(0).unwrap();
        // One that has no order with the default stream.
        let aside = device.create_stream_with(StreamFlags::NON_BLOCKING, 0).unwrap();
        let (pointer, other) = (device_memory!(4096), device_memory!(4096));
        waits_for(Held::close(&aside), pointer, |pointer| ok!(free(pointer)));
        assert!(aside.is_done().unwrap());

        let stream = new_stream!();
        let held = Held::default_stream(device);
        ok!(memset_async(other, 5, 4096, stream));
        assert_eq!(stream_query(LEGACY), NOT_READY);
        waits_for(held, other, |pointer| ok!(free(pointer)));
        ok!(stream_query(LEGACY));
        ok!(stream_query(stream));
        ok!(stream_destroy(stream));
    }

    fn a_free_that_is_refused_waits_for_nothing() {
        let _guard = guard();
        let pointer = device_memory!(4096);
        ok!(free(pointer));
        let held = Held::default_stream(Device::get(0).unwrap());
        let freed = pointer.addr();
        in_time("a refused free", move || fails!(free(address(freed)), INVALID_DEVICE_POINTER, "free already"));
        held.open();
        ok!(device_synchronize());
    }

    fn addresses_can_be_computed() {
        let _guard = guard();
        const SIZE: usize = 1000;
        let contents = noise(5, 4 * SIZE);
        let memory = device_memory!(4 * SIZE);
        let streams = [new_stream!(), new_stream!()];
        for (index, part) in contents.chunks(SIZE).enumerate() {
            let to = memory.wrapping_byte_add(index * SIZE);
            ok!(unsafe { memcpy_async(to, part.as_ptr().cast(), SIZE, HOST_TO_DEVICE, streams[index % 2]) });
        }
        ok!(device_synchronize());
        assert_same(&downloaded!(memory, 4 * SIZE), &contents, || "four parts".into());
        ok!(memset(memory.wrapping_byte_add(SIZE), 9, SIZE));
        let second = downloaded!(memory.wrapping_byte_add(SIZE), SIZE);
        assert_same(&second, &[9; SIZE], || "the second part".into());
        let last = downloaded!(memory.wrapping_byte_add(4 * SIZE - 1), 1);
        assert_eq!(last[0], contents[4 * SIZE - 1]);
        streams.into_iter().for_each(|stream| ok!(stream_destroy(stream)));
        ok!(free(memory));
    }

    fn a_large_allocation_is_memory_to_its_last_byte() {
        let _guard = guard();
        const BYTES: usize = 300 << 20;
        let memory = device_memory!(BYTES);
        ok!(memset(memory, 0x5A, BYTES));
        ok!(memset(memory.wrapping_byte_add(BYTES / 2), 0xA5, 3));
        let spots = [0, 1, 4095, 32 << 20, (128 << 20) - 1, BYTES / 2 - 8, (256 << 20) + 77, BYTES - 17];
        for spot in spots {
            let mut expected = [0x5A; 16];
            if spot == BYTES / 2 - 8 {
                expected[8..11].fill(0xA5);
            }
            let got = downloaded!(memory.wrapping_byte_add(spot), 16);
            assert_same(&got, &expected, || format!("16 bytes at {spot}"));
        }
        let end = memory.wrapping_byte_add(BYTES - 1);
        fails!(memset(end, 1, 2), INVALID_VALUE, "1 from there on", "1 too many");
        assert_eq!(downloaded!(end, 1), [0x5A]);
        ok!(free(memory));
        fails!(free(memory), INVALID_DEVICE_POINTER);
    }

    fn threads_allocate_and_free_at_once() {
        let _guard = guard();
        let (mut before, mut after, mut total) = (0_usize, 0_usize, 0_usize);
        ok!(unsafe { mem_get_info(&mut before, &mut total) });
        std::thread::scope(|scope| {
            for thread in 0..8_u64 {
                scope.spawn(move || {
                    for round in 0..25 {
                        let contents = noise(thread << 8 | round, 1 + (round as usize * 977) % 9000);
                        let pointer = uploaded!(contents);
                        let got = downloaded!(pointer, contents.len());
                        assert_same(&got, &contents, || format!("round {round} of thread {thread}"));
                        ok!(free(pointer));
                    }
                });
            }
        });
        ok!(unsafe { mem_get_info(&mut after, &mut total) });
        assert_eq!(after, before);
    }

    fn threads_free_what_one_thread_allocated_while_work_is_under_way() {
        let _guard = guard();
        let stream = new_stream!();
        let blocks: Vec<usize> = (0..64)
            .map(|index| {
                let pointer = device_memory!(100 + index * 1000);
                ok!(memset_async(pointer, 1, 100 + index * 1000, stream));
                pointer.addr()
            })
            .collect();
        std::thread::scope(|scope| {
            for part in blocks.chunks(8) {
                scope.spawn(|| part.iter().for_each(|&block| ok!(free(address(block)))));
            }
        });
        for block in blocks {
            fails!(free(address(block)), INVALID_DEVICE_POINTER, "free already");
        }
        ok!(stream_destroy(stream));
    }

    fn of_many_frees_of_one_pointer_one_succeeds() {
        let _guard = guard();
        for _ in 0..50 {
            let (pointer, freed) = (device_memory!(512).addr(), AtomicUsize::new(0));
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| match free(address(pointer)) {
                        SUCCESS => drop(freed.fetch_add(1, Relaxed)),
                        code => assert_eq!(code, INVALID_DEVICE_POINTER),
                    });
                }
            });
            assert_eq!(freed.into_inner(), 1);
        }
    }

    fn memory_belongs_to_the_device_that_was_current() {
        let _guard = guard();
        if Device::count() < 2 {
            return eprintln!("needs two devices");
        }
        let left = |device| {
            let (mut left, mut total) = (0_usize, 0_usize);
            ok!(set_device(device));
            ok!(unsafe { mem_get_info(&mut left, &mut total) });
            left
        };
        let before = [left(0), left(1)];
        ok!(set_device(1));
        let second = device_memory!(5000);
        assert_eq!([left(0), left(1)], [before[0], before[1] - 5000]);
        ok!(set_device(0));
        let first = device_memory!(700);
        assert_eq!([left(0), left(1)], [before[0] - 700, before[1] - 5000]);
        // Whatever device is current, a free waits for the memory's own device and for no other.
        ok!(set_device(0));
        waits_for(Held::default_stream(Device::get(1).unwrap()), second, |second| ok!(free(second)));
        let held = Held::default_stream(Device::get(1).unwrap());
        let first = first.addr();
        in_time("a free beside a busy device", move || {
            ok!(set_device(1));
            ok!(free(address(first)));
        });
        held.open();
        assert_eq!([left(0), left(1)], before);
        ok!(device_synchronize());
        ok!(set_device(0));
    }
}

mod musa_alone {
    use super::*;
    use crate::dialects::musa::*;

    #[test]
    fn an_empty_allocation_is_a_null_pointer() {
        let _guard = guard();
        let mut pointer = address(0x40);
        ok!(unsafe { malloc(&mut pointer, 0) });
        assert!(pointer.is_null());
        ok!(free(pointer));
    }
}

mod tops_alone {
    use super::*;
    use crate::dialects::tops::*;

    #[test]
    fn an_empty_allocation_is_a_pointer_to_free_once() {
        let _guard = guard();
        let (mut before, mut after, mut total) = (0_usize, 0_usize, 0_usize);
        ok!(unsafe { mem_get_info(&mut before, &mut total) });
        let (first, second, neighbour) = (device_memory!(0), device_memory!(0), uploaded!([7; 300]));
        assert!(!first.is_null() && !second.is_null());
        assert_ne!(first, second);
        for empty in [first, second] {
            fails!(memset(empty, 1, 2), INVALID_VALUE, "topsMemset: ", "too many");
            ok!(memset(empty, 1, 0));
        }
        assert_eq!(downloaded!(neighbour, 300), [7; 300]);
        for empty in [first, second] {
            ok!(free(empty));
            fails!(free(empty), INVALID_DEVICE_POINTER, "free already");
        }
        ok!(free(neighbour));
        ok!(unsafe { mem_get_info(&mut after, &mut total) });
        assert_eq!(after, before);
    }
}

#[test]
fn memory_of_one_dialect_serves_the_other() {
    use gridcl::{musa::*, tops::*};
    let _guard = guard();
    let (mut device, mut pinned, mut flags, mut heap) = (null_mut(), null_mut(), 0, vec![6_u8; 5000]);
    let registered: *mut c_void = heap.as_mut_ptr().cast();
    assert_eq!(unsafe { musaMalloc(&mut device, 5000) }, musaSuccess);
    assert_eq!(unsafe { topsHostMalloc(&mut pinned, 5000, topsHostMallocPortable) }, topsSuccess);
    assert_eq!(unsafe { musaHostRegister(registered, 5000, musaHostRegisterMapped) }, musaSuccess);
    assert_eq!(unsafe { topsHostRegister(registered, 5000, 0) }, topsErrorHostMemoryAlreadyRegistered);
    assert_eq!(unsafe { musaHostGetFlags(&mut flags, pinned) }, musaSuccess);
    assert_eq!(flags, topsHostMallocPortable);

    assert_eq!(unsafe { topsMemcpy(device, registered, 5000, topsMemcpyHostToDevice) }, topsSuccess);
    assert_eq!(musaMemset(device, 5, 100), musaSuccess);
    assert_eq!(unsafe { topsMemcpy(pinned, device, 5000, topsMemcpyDefault) }, topsSuccess);
    let mut expected = vec![6; 5000];
    expected[..100].fill(5);
    let got = unsafe { std::slice::from_raw_parts(pinned.cast::<u8>(), 5000) };
    assert_same(got, &expected, || "through both dialects".into());

    assert_eq!(topsFree(device), topsSuccess);
    assert_eq!(musaFree(device), musaErrorInvalidValue);
    assert_eq!(musaFreeHost(pinned), musaSuccess);
    assert_eq!(topsHostFree(pinned), topsErrorInvalidValue);
    assert_eq!(topsHostUnregister(registered), topsSuccess);
    // A failure is the last error of its own dialect.
    assert_eq!((musaGetLastError(), topsGetLastError()), (musaErrorInvalidValue, topsErrorInvalidValue));
}
