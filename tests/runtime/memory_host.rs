//! Pinned and registered host memory (MUSA "memory", TOPS 7.1; behaviour.md 1.6, 2.1, 2.4 `FreeHost`, 3.3).

use crate::blocks::{Held, assert_same, noise, waits_for};
use gridcl::Device;
use gridcl::testing::{clear_fault, fail, fail_times, guard};
use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut as address};
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The host's memory in bytes.
fn physical_bytes() -> usize {
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    pages as usize * page as usize
}

/// Some pages where nothing is mapped, as far as anybody can say.
fn unmapped(bytes: usize) -> *mut c_void {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let pointer = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_READ, flags, -1, 0) };
    assert_ne!(pointer, libc::MAP_FAILED);
    assert_eq!(unsafe { libc::munmap(pointer, bytes) }, 0);
    pointer
}

both_dialects! {
    fn pinned_memory_is_the_hosts_and_the_devices() {
        let _guard = guard();
        const SIZES: [usize; 7] = [1, 3, 4095, 4096, 4097, 65_537, (1 << 20) + 1];
        let blocks = SIZES.map(|bytes| (pinned_memory!(bytes).cast::<u8>(), noise(bytes as u64, bytes)));
        for (pinned, contents) in &blocks {
            assert!(!pinned.is_null());
            unsafe { pinned.copy_from_nonoverlapping(contents.as_ptr(), contents.len()) };
        }
        for (pinned, contents) in blocks {
            let bytes = contents.len();
            let device = device_memory!(bytes);
            ok!(unsafe { memcpy(device, pinned.cast(), bytes, HOST_TO_DEVICE) });
            assert_same(&downloaded!(device, bytes), &contents, || format!("{bytes} bytes of pinned memory"));
            unsafe { pinned.write_bytes(0, bytes) };
            ok!(unsafe { memcpy(pinned.cast(), device, bytes, DEVICE_TO_HOST) });
            let got = unsafe { slice::from_raw_parts(pinned, bytes) };
            assert_same(got, &contents, || format!("{bytes} bytes and back"));
            ok!(host_free(pinned.cast()));
            ok!(free(device));
        }
    }

    fn an_empty_pinned_allocation_is_a_null_pointer() {
        let _guard = guard();
        for flags in 0..8 {
            let mut pointer = address(0x40);
            ok!(unsafe { host_malloc_with_flags(&mut pointer, 0, flags) });
            assert!(pointer.is_null());
            ok!(host_free(pointer));
        }
    }

    fn pinned_memory_keeps_the_flags_that_it_was_made_with() {
        let _guard = guard();
        for made_with in 0..8 {
            let (mut pinned, mut flags) = (null_mut(), !0);
            ok!(unsafe { host_malloc_with_flags(&mut pinned, 100, made_with) });
            ok!(unsafe { host_get_flags(&mut flags, pinned) });
            assert_eq!(flags, made_with);
            ok!(unsafe { host_get_flags(&mut flags, pinned.wrapping_byte_add(99)) });
            assert_eq!(flags, made_with, "also by an address within");
            ok!(host_free(pinned));
        }
    }

    fn a_pinned_allocation_that_makes_no_sense_is_refused() {
        let _guard = guard();
        for bytes in [0, 16, usize::MAX] {
            fails!(unsafe { host_malloc(null_mut(), bytes) }, INVALID_VALUE, "pHost = null: ");
        }
        for flags in [8, 0x100, 0x1000_0001, !0] {
            let mut pointer = address(0x40);
            let argument = format!("flags = {flags:#x}: ");
            fails!(unsafe { host_malloc_with_flags(&mut pointer, 16, flags) }, INVALID_VALUE, &argument, "not flags");
            fails!(unsafe { host_malloc_with_flags(&mut pointer, 0, flags) }, INVALID_VALUE, &argument);
            assert_eq!(pointer.addr(), 0x40, "nothing is written by a call that fails");
        }
        let pinned = pinned_memory!(16);
        ok!(host_free(pinned));
    }

    fn more_pinned_memory_than_the_host_has_is_refused_and_leaves_everything_usable() {
        let _guard = guard();
        for bytes in [usize::MAX, usize::MAX - 4095, isize::MAX as usize, physical_bytes() + 1] {
            let mut pointer = address(0x40);
            let argument = format!("size = {bytes}: ");
            fails!(unsafe { host_malloc(&mut pointer, bytes) }, OUT_OF_MEMORY, &argument, "the host has");
            assert_eq!(pointer.addr(), 0x40, "nothing is written by a call that fails");
            let pinned = pinned_memory!(4096).cast::<u8>();
            unsafe { pinned.write_bytes(1, 4096) };
            ok!(host_free(pinned.cast()));
        }
    }

    fn a_driver_that_refuses_pinned_memory_once_is_asked_again_without_what_is_kept_for_speed() {
        let _guard = guard();
        for entry in ["clCreateBuffer", "clEnqueueMapBuffer"] {
            fail(entry, 0, -4);
            let pinned = pinned_memory!(4096);
            assert!(!clear_fault(), "{entry} was to fail");
            ok!(host_free(pinned));
        }
    }

    fn a_driver_that_has_no_pinned_memory_is_an_error_that_leaves_nothing_behind() {
        let _guard = guard();
        for entry in ["clCreateBuffer", "clEnqueueMapBuffer"] {
            fail_times(entry, 0, -4, 2);
            let mut pointer = address(0x40);
            fails!(unsafe { host_malloc(&mut pointer, 4096) }, OUT_OF_MEMORY, "size = 4096: ", "device 0", entry);
            assert!(!clear_fault(), "{entry} was to fail");
            assert_eq!(pointer.addr(), 0x40);
            let pinned = pinned_memory!(4096);
            ok!(host_free(pinned));
        }
    }

    fn only_the_start_of_live_pinned_memory_is_freed_as_such() {
        let _guard = guard();
        let (pinned, device) = (pinned_memory!(4096), uploaded!(noise(1, 4096)));
        let (mut stack, mut heap) = (0_u64, vec![0_u8; 4096]);
        ok!(unsafe { host_register(heap.as_mut_ptr().cast(), heap.len(), 0) });
        unsafe { pinned.cast::<u8>().copy_from_nonoverlapping(noise(2, 4096).as_ptr(), 4096) };

        let base = format!("the pinned memory at {:#x}", pinned.addr());
        for offset in [1, 64, 4095] {
            let inside = pinned.wrapping_byte_add(offset);
            let argument = format!("ptr = {:#x}: ", inside.addr());
            fails!(host_free(inside), INVALID_VALUE, &argument, "points into", &base);
        }
        fails!(host_free(device), INVALID_VALUE, "device memory");
        fails!(host_free(heap.as_mut_ptr().cast()), INVALID_VALUE, "registered memory");
        fails!(host_free((&raw mut stack).cast()), INVALID_VALUE, "no pinned memory there");
        for garbage in [1, 0xdead_beef_0000, usize::MAX] {
            fails!(host_free(address(garbage)), INVALID_VALUE, &format!("ptr = {garbage:#x}: "));
        }

        assert_same(&downloaded!(device, 4096), &noise(1, 4096), || "device memory afterwards".into());
        let kept = unsafe { slice::from_raw_parts(pinned.cast::<u8>(), 4096) };
        assert_same(kept, &noise(2, 4096), || "pinned memory afterwards".into());
        ok!(host_free(pinned));
        fails!(host_free(pinned), INVALID_VALUE, "no pinned memory there");
        ok!(host_free(null_mut()));
        ok!(host_unregister(heap.as_mut_ptr().cast()));
        ok!(free(device));
    }

    fn freeing_and_unregistering_host_memory_wait_for_the_device() {
        let _guard = guard();
        let device = Device::get(0).unwrap();
        let (from, stream, pinned) = (uploaded!([4; 4096]), new_stream!(), pinned_memory!(4096));
        let mut heap = vec![0_u8; 4096];
        let registered: *mut c_void = heap.as_mut_ptr().cast();
        ok!(unsafe { host_register(registered, 4096, 0) });

        let held = Held::default_stream(device);
        ok!(unsafe { memcpy_async(pinned, from, 4096, DEVICE_TO_HOST, stream) });
        assert_eq!(stream_query(LEGACY), NOT_READY);
        waits_for(held, pinned, |pinned| ok!(host_free(pinned)));
        ok!(stream_query(LEGACY));

        let held = Held::default_stream(device);
        ok!(unsafe { memcpy_async(registered, from, 4096, DEVICE_TO_HOST, stream) });
        waits_for(held, registered, |registered| ok!(host_unregister(registered)));
        ok!(stream_query(LEGACY));
        assert_same(&heap, &[4; 4096], || "what the copy wrote before the end of the registration".into());
        ok!(stream_destroy(stream));
        ok!(free(from));
    }

    fn threads_pin_and_free_at_once() {
        let _guard = guard();
        std::thread::scope(|scope| {
            for thread in 0..8_u8 {
                scope.spawn(move || {
                    for round in 1..10 {
                        let blocks = [1, 700, 5000].map(|bytes| (pinned_memory!(bytes).cast::<u8>(), bytes));
                        for (pinned, bytes) in blocks {
                            unsafe { pinned.write_bytes(thread, bytes) };
                        }
                        for (pinned, bytes) in blocks {
                            let got = unsafe { slice::from_raw_parts(pinned, bytes) };
                            assert_same(got, &vec![thread; bytes], || format!("round {round} of thread {thread}"));
                            ok!(host_free(pinned.cast()));
                        }
                    }
                });
            }
        });
        let blocks: Vec<usize> = (1..64).map(|index| pinned_memory!(index * 100).addr()).collect();
        std::thread::scope(|scope| {
            for part in blocks.chunks(8) {
                scope.spawn(|| part.iter().for_each(|&block| ok!(host_free(address(block)))));
            }
        });
    }

    fn registered_memory_keeps_its_flags_until_it_is_unregistered() {
        let _guard = guard();
        let mut heap = vec![0_u8; 10_000];
        let pointer: *mut c_void = heap.as_mut_ptr().cast();
        for registered_with in [0, 1, 2, 3, 8, 9, 10, 11] {
            let mut flags = !0;
            ok!(unsafe { host_register(pointer, 10_000, registered_with) });
            for at in [0, 1, 9999] {
                ok!(unsafe { host_get_flags(&mut flags, pointer.wrapping_byte_add(at)) });
                assert_eq!(flags, registered_with);
            }
            fails!(unsafe { host_get_flags(&mut flags, pointer.wrapping_byte_add(10_000)) }, INVALID_VALUE);
            ok!(host_unregister(pointer));
            fails!(unsafe { host_get_flags(&mut flags, pointer) }, INVALID_VALUE, "neither pinned nor registered");
            assert_eq!(flags, registered_with, "nothing is written by a call that fails");
        }
    }

    fn registered_memory_takes_part_in_copies_and_sets_within_its_bounds() {
        let _guard = guard();
        let mut heap = noise(3, 6000);
        // Neither end lies on a page.
        let registered = heap.as_mut_ptr().wrapping_add(500).cast::<c_void>();
        ok!(unsafe { host_register(registered, 5000, 0) });
        let (mut expected, device, stream) = (heap.clone(), device_memory!(5000), new_stream!());
        ok!(unsafe { memcpy_async(device, registered, 5000, HOST_TO_DEVICE, stream) });
        ok!(unsafe { memcpy_async(registered.wrapping_byte_add(1), device, 4000, DEVICE_TO_HOST, stream) });
        ok!(memset_async(registered.wrapping_byte_add(4500), 0x1_23, 500, stream));
        ok!(stream_synchronize(stream));
        expected.copy_within(500..4500, 501);
        expected[5000..5500].fill(0x23);
        assert_same(&heap, &expected, || "after asynchronous copies and a set".into());
        ok!(memset(registered, -1, 7));
        expected[500..507].fill(0xFF);
        assert_same(&heap, &expected, || "after a set".into());

        // The memory goes on, the registration does not.
        let last = registered.wrapping_byte_add(4999);
        fails!(memset(last, 1, 2), INVALID_VALUE, "1 too many");
        fails!(memset(registered.wrapping_byte_add(5000), 1, 1), INVALID_VALUE, "not memory that the runtime");
        fails!(unsafe { memcpy(device, last, 2, HOST_TO_DEVICE) }, INVALID_VALUE, "src = ", "1 too many");
        fails!(unsafe { memcpy(last, device, 2, DEVICE_TO_HOST) }, INVALID_VALUE, "dst = ", "1 too many");
        assert_same(&heap, &expected, || "after calls that fail".into());
        ok!(host_unregister(registered));
        fails!(memset(registered, 1, 1), INVALID_VALUE, "not memory that the runtime");
        ok!(stream_destroy(stream));
        ok!(free(device));
    }

    fn a_registration_that_makes_no_sense_is_refused() {
        let _guard = guard();
        let mut heap = vec![0_u8; 4096];
        let pointer: *mut c_void = heap.as_mut_ptr().cast();
        fails!(unsafe { host_register(null_mut(), 4096, 0) }, INVALID_VALUE, "HostRegister: ptr = null: ");
        fails!(unsafe { host_register(pointer, 0, 0) }, INVALID_VALUE, "size = 0: ");
        for flags in [0xF0, 0xFFF2, 0x10, !0] {
            fails!(unsafe { host_register(pointer, 4096, flags) }, INVALID_VALUE, &format!("flags = {flags:#x}: "));
        }
        for flags in [4, 5, 0xF] {
            let argument = format!("flags = {flags:#x}: ");
            fails!(unsafe { host_register(pointer, 4096, flags) }, NOT_SUPPORTED, &argument, "I/O");
        }
        let hole = unmapped(1 << 16);
        let argument = format!("65536 bytes at {:#x}: ", hole.addr());
        fails!(unsafe { host_register(hole, 1 << 16, 0) }, INVALID_VALUE, &argument, "mapped");
        // None of them left a registration behind.
        fails!(host_unregister(pointer), HOST_MEMORY_NOT_REGISTERED);
        ok!(unsafe { host_register(pointer, 4096, 0) });
        ok!(host_unregister(pointer));
    }

    fn a_byte_is_registered_once() {
        let _guard = guard();
        let mut heap = vec![0_u8; 4096];
        let pointer: *mut c_void = heap.as_mut_ptr().cast();
        let part = |at: usize| pointer.wrapping_byte_add(at);
        ok!(unsafe { host_register(part(1000), 2000, 2) });
        let known = format!("2000 bytes at {:#x} are registered already", part(1000).addr());
        for (at, bytes) in [(1000, 2000), (1000, 1), (2999, 1), (0, 1001), (0, 4096), (1500, 100), (2999, 1000)] {
            let argument = format!("ptr = {bytes} bytes at {:#x}: ", part(at).addr());
            let code = HOST_MEMORY_ALREADY_REGISTERED;
            fails!(unsafe { host_register(part(at), bytes, 0) }, code, &argument, &known);
        }
        let mut flags = 0;
        ok!(unsafe { host_get_flags(&mut flags, part(1000)) });
        assert_eq!(flags, 2, "the registration is as it was");
        // Neighbours of the same page are no overlap.
        ok!(unsafe { host_register(part(0), 1000, 0) });
        ok!(unsafe { host_register(part(3000), 1096, 0) });
        [0, 1000, 3000].into_iter().for_each(|at| ok!(host_unregister(part(at))));
        ok!(unsafe { host_register(part(0), 4096, 0) });
        ok!(host_unregister(part(0)));
    }

    fn chunks_of_one_block_are_registered_and_unregistered_again_and_again() {
        let _guard = guard();
        let mut heap = vec![0_u8; 16 * 1000];
        for round in 0..5 {
            for chunk in heap.chunks_mut(1000) {
                ok!(unsafe { host_register(chunk.as_mut_ptr().cast(), 1000, 0) });
            }
            for index in 0..16 {
                let chunk = &mut heap[(index * (2 * round + 1)) % 16 * 1000..][..1000];
                ok!(memset(chunk.as_mut_ptr().cast(), index as i32, 1000));
                ok!(host_unregister(chunk.as_mut_ptr().cast()));
                assert_same(chunk, &[index as u8; 1000], || format!("chunk {index}"));
            }
        }
    }

    fn memory_of_the_runtime_is_not_registered() {
        let _guard = guard();
        let (keeper, device, pinned) = (device_memory!(4096), device_memory!(4096), pinned_memory!(4096));
        for known in [device, pinned] {
            for at in [0, 1000] {
                let inside = known.wrapping_byte_add(at);
                fails!(unsafe { host_register(inside, 100, 0) }, INVALID_VALUE, "memory that the runtime allocated");
            }
            fails!(host_unregister(known), HOST_MEMORY_NOT_REGISTERED, "no registered range starts there");
        }
        ok!(free(device));
        let freed = "where the runtime keeps device memory; was it freed?";
        fails!(unsafe { host_register(device, 4096, 0) }, INVALID_VALUE, "4096 bytes at ", freed);
        ok!(free(keeper));
        ok!(host_free(pinned));
    }

    fn only_the_start_of_a_registered_range_ends_its_registration() {
        let _guard = guard();
        let mut heap = vec![0_u8; 4096];
        let pointer: *mut c_void = heap.as_mut_ptr().cast();
        fails!(host_unregister(null_mut()), INVALID_VALUE, "HostUnregister: ptr = null: ");
        let argument = format!("ptr = {:#x}: ", pointer.addr());
        fails!(host_unregister(pointer), HOST_MEMORY_NOT_REGISTERED, &argument, "no registered range starts there");
        ok!(unsafe { host_register(pointer, 4096, 0) });
        let base = format!("the registered range starts at {:#x}", pointer.addr());
        for at in [1, 4095] {
            fails!(host_unregister(pointer.wrapping_byte_add(at)), HOST_MEMORY_NOT_REGISTERED, &base);
        }
        ok!(host_unregister(pointer));
        fails!(host_unregister(pointer), HOST_MEMORY_NOT_REGISTERED, "no registered range starts there");
    }

    fn of_many_registrations_of_one_range_one_succeeds() {
        let _guard = guard();
        let mut heap = vec![0_u8; 4096];
        let pointer = heap.as_mut_ptr().expose_provenance();
        for _ in 0..50 {
            let (registered, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| match unsafe { host_register(address(pointer), 4096, 0) } {
                        SUCCESS => drop(registered.fetch_add(1, Relaxed)),
                        code => assert_eq!(code, HOST_MEMORY_ALREADY_REGISTERED),
                    });
                }
            });
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| match host_unregister(address(pointer)) {
                        SUCCESS => drop(ended.fetch_add(1, Relaxed)),
                        code => assert_eq!(code, HOST_MEMORY_NOT_REGISTERED),
                    });
                }
            });
            assert_eq!((registered.into_inner(), ended.into_inner()), (1, 1));
        }
    }

    fn only_pinned_and_registered_memory_has_host_flags() {
        let _guard = guard();
        let (device, pinned) = (device_memory!(64), pinned_memory!(64));
        let (mut stack, mut flags) = (0_u64, 77);
        for other in [device, null_mut(), (&raw mut stack).cast(), pinned.wrapping_byte_add(64), address(1)] {
            let argument = format!("pHost = {:#x}: ", other.addr());
            fails!(unsafe { host_get_flags(&mut flags, other) }, INVALID_VALUE, "HostGetFlags: ", &argument);
        }
        fails!(unsafe { host_get_flags(null_mut(), pinned) }, INVALID_VALUE, "pFlags = null: ");
        ok!(host_free(pinned));
        fails!(unsafe { host_get_flags(&mut flags, pinned) }, INVALID_VALUE, "neither pinned nor registered");
        assert_eq!(flags, 77, "nothing is written by a call that fails");
        ok!(free(device));
    }

    fn pinned_memory_serves_every_device() {
        let _guard = guard();
        if Device::count() < 2 {
            return eprintln!("needs two devices");
        }
        ok!(set_device(1));
        let pinned = pinned_memory!(70_000).cast::<u8>();
        unsafe { pinned.copy_from_nonoverlapping(noise(5, 70_000).as_ptr(), 70_000) };
        for device in [0, 1] {
            ok!(set_device(device));
            let (stream, memory) = (new_stream!(), device_memory!(70_000));
            ok!(unsafe { memcpy_async(memory, pinned.cast(), 70_000, HOST_TO_DEVICE, stream) });
            ok!(stream_synchronize(stream));
            assert_same(&downloaded!(memory, 70_000), &noise(5, 70_000), || format!("on device {device}"));
            ok!(memset_async(pinned.cast(), 8, 10, stream));
            ok!(unsafe { memcpy_async(pinned.cast(), memory, 70_000, DEVICE_TO_HOST, stream) });
            ok!(stream_synchronize(stream));
            let got = unsafe { slice::from_raw_parts(pinned, 70_000) };
            assert_same(got, &noise(5, 70_000), || format!("back from device {device}"));
            ok!(stream_destroy(stream));
            ok!(free(memory));
        }
        ok!(set_device(0));
        ok!(host_free(pinned.cast()));
    }
}

mod musa_alone {
    use super::*;
    use crate::dialects::musa::*;
    use gridcl::musa::musaMemHostUnregister;

    #[test]
    fn the_guides_spelling_of_unregister_is_the_same_call() {
        let _guard = guard();
        let mut heap = vec![0_u8; 4096];
        let pointer: *mut c_void = heap.as_mut_ptr().cast();
        ok!(unsafe { host_register(pointer, 4096, 0) });
        ok!(musaMemHostUnregister(pointer));
        fails!(musaMemHostUnregister(pointer), HOST_MEMORY_NOT_REGISTERED, "musaMemHostUnregister: ptr = ");
        fails!(musaMemHostUnregister(null_mut()), INVALID_VALUE, "musaMemHostUnregister: ptr = null: ");
    }

    #[test]
    fn a_registration_of_more_than_the_host_has_is_an_invalid_value() {
        let _guard = guard();
        let mut heap = vec![0_u8; 4096];
        for bytes in [usize::MAX, isize::MAX as usize, physical_bytes() + 4096] {
            let argument = format!("ptr = {bytes} bytes at ");
            fails!(unsafe { host_register(heap.as_mut_ptr().cast(), bytes, 0) }, INVALID_VALUE, &argument);
        }
    }

    #[test]
    fn memory_without_flags_has_none() {
        let _guard = guard();
        let (pinned, mut flags) = (pinned_memory!(64), 77);
        ok!(unsafe { host_get_flags(&mut flags, pinned) });
        assert_eq!(flags, 0);
        ok!(host_free(pinned));
    }
}

mod tops_alone {
    use super::*;
    use crate::dialects::tops::*;
    use gridcl::tops::{topsHostMallocCoherent, topsHostMallocNonCoherent, topsHostMallocNumaUser};

    #[test]
    fn pinned_memory_is_coherent_or_not() {
        let _guard = guard();
        let both = topsHostMallocCoherent | topsHostMallocNonCoherent;
        for refused in [both, both | 1] {
            let mut pointer = address(0x40);
            let argument = format!("topsHostMalloc: flags = {refused:#x}: ");
            fails!(unsafe { host_malloc_with_flags(&mut pointer, 64, refused) }, INVALID_VALUE, &argument, "coherent");
            assert_eq!(pointer.addr(), 0x40);
        }
        for made_with in [topsHostMallocCoherent, topsHostMallocNonCoherent | 3, topsHostMallocNumaUser | 7] {
            let (mut pinned, mut flags) = (null_mut(), 0);
            ok!(unsafe { host_malloc_with_flags(&mut pinned, 64, made_with) });
            ok!(unsafe { host_get_flags(&mut flags, pinned) });
            assert_eq!(flags, made_with);
            ok!(host_free(pinned));
        }
    }

    #[test]
    fn a_registration_of_more_than_the_host_has_is_out_of_memory() {
        let _guard = guard();
        let mut heap = vec![0_u8; 4096];
        let pointer: *mut c_void = heap.as_mut_ptr().cast();
        for bytes in [usize::MAX, isize::MAX as usize, physical_bytes() + 1] {
            let argument = format!("topsHostRegister: size = {bytes}: ");
            fails!(unsafe { host_register(pointer, bytes, 0) }, OUT_OF_MEMORY, &argument, "the host has");
        }
        ok!(unsafe { host_register(pointer, 4096, 0) });
        ok!(host_unregister(pointer));
    }
}
