//! What the calls between devices refuse (behaviour.md 1.6, 3.1 and 3.5, peer rows).

use gridcl::Device;
use gridcl::testing::guard;
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

fn count() -> c_int {
    Device::count().try_into().unwrap()
}

both_dialects! {
    fn no_device_can_use_the_memory_of_another() {
        let _guard = guard();
        let mut can;
        for (from, to) in [(0, 0), (0, count() - 1), (count() - 1, 0)] {
            can = 7;
            ok!(unsafe { device_can_access_peer(&mut can, from, to) });
            assert_eq!(can, 0);
        }
        can = 7;
        for (from, to) in [(-1, 0), (0, -1), (count(), 0), (0, count())] {
            fails!(unsafe { device_can_access_peer(&mut can, from, to) }, INVALID_DEVICE, "devices", "ordinals");
        }
        fails!(unsafe { device_can_access_peer(null_mut(), 0, 0) }, INVALID_VALUE, "null");
        assert_eq!(can, 7, "a refused call writes nothing");
    }

    fn peer_access_cannot_be_enabled() {
        let _guard = guard();
        for peer in [-1, count()] {
            fails!(device_enable_peer_access(peer, 0), INVALID_DEVICE, "ordinals start at 0");
        }
        fails!(device_enable_peer_access(0, 0), INVALID_DEVICE, "peerDevice = 0", "the current device itself");
        if count() < 2 {
            return eprintln!("skipped from here: this takes two devices");
        }
        fails!(device_enable_peer_access(1, 1), INVALID_VALUE, "flags = 0x1");
        for _ in 0..2 {
            fails!(device_enable_peer_access(1, 0), PEER_ACCESS_UNSUPPORTED, "peerDevice = 1", "work without it");
        }
    }

    fn a_copy_between_devices_refuses_devices_pointers_and_streams_that_are_none() {
        let _guard = guard();
        let (last, none) = (count() - 1, count());
        let near = uploaded!([1_u8; 100]);
        ok!(set_device(last));
        let (far, stream) = (uploaded!([2_u8; 100]), new_stream!());
        let (pinned, dead) = (pinned_memory!(100), new_stream!());
        ok!(stream_destroy(dead));
        let gone = device_memory!(100);
        ok!(free(gone));
        let mut local = [3_u8; 100];
        let local: *mut c_void = local.as_mut_ptr().cast();
        let past = far.wrapping_byte_add(1);
        let beside: &[(*mut c_void, c_int, *mut c_void, c_int, usize, Code, &str)] = &[
            (null_mut(), last, near, 0, 100, INVALID_VALUE, "dst = 0x0"),
            (far, last, null_mut(), 0, 100, INVALID_VALUE, "src = 0x0"),
            (far, none, near, 0, 100, INVALID_DEVICE, "dstDevice = "),
            (far, -1, near, 0, 100, INVALID_DEVICE, "dstDevice = -1"),
            (far, last, near, none, 100, INVALID_DEVICE, "srcDevice = "),
            (far, last, near, -1, 0, INVALID_DEVICE, "srcDevice = -1"),
            (far, last, near, 0, 101, INVALID_VALUE, "101 bytes are 1 too many"),
            (past, last, near, 0, 100, INVALID_VALUE, "dst = "),
            (far, last, near.wrapping_byte_add(100), 0, 1, INVALID_VALUE, "src = "),
            (gone, last, near, 0, 100, INVALID_VALUE, "freed"),
            (local, last, near, 0, 100, INVALID_VALUE, "not memory that the runtime allocated"),
            (far, last, local, 0, 100, INVALID_VALUE, "is it a host pointer?"),
            (far, last, pinned, 0, 100, INVALID_VALUE, "it is host memory"),
            (pinned, last, near, 0, 100, INVALID_VALUE, "it is host memory"),
        ];
        for &(to, to_device, from, from_device, bytes, code, text) in beside {
            fails!(memcpy_peer(to, to_device, from, from_device, bytes), code, text);
            fails!(memcpy_peer_async(to, to_device, from, from_device, bytes, stream), code, text);
        }
        fails!(memcpy_peer_async(far, last, near, 0, 100, dead), INVALID_HANDLE, "stream");
        fails!(memcpy_peer_async(far, last, near, 0, 0, dead), INVALID_HANDLE, "stream");
        ok!(memcpy_peer(far, last, near, 0, 0));
        ok!(memcpy_peer(null_mut(), last, null(), 0, 0));
        ok!(memcpy_peer_async(far, last, near, 0, 0, stream));
        if last > 0 {
            fails!(memcpy_peer(far, 0, near, 0, 100), INVALID_VALUE, "dst = ", "it is memory of device ", "not of device 0");
            fails!(memcpy_peer(far, last, near, last, 100), INVALID_VALUE, "src = ", "it is memory of device 0");
        }
        ok!(device_synchronize());
        assert_eq!(downloaded!(far, 100), [2; 100], "nothing was written");
        assert_eq!(downloaded!(near, 100), [1; 100], "nothing was written");
        for memory in [near, far] {
            ok!(free(memory));
        }
        ok!(host_free(pinned));
        ok!(stream_destroy(stream));
        ok!(set_device(0));
    }

    fn a_copy_between_parts_of_one_device_may_be_called_a_peer_copy() {
        let _guard = guard();
        let (memory, stream) = (uploaded!([[4_u8; 100], [5; 100]].concat()), new_stream!());
        ok!(memcpy_peer(memory, 0, memory.wrapping_byte_add(100), 0, 50));
        ok!(stream_synchronize(LEGACY));
        ok!(memcpy_peer_async(memory.wrapping_byte_add(150), 0, memory.wrapping_byte_add(50), 0, 50, stream));
        ok!(memcpy_peer_async(memory, 0, memory, 0, 200, stream));
        ok!(stream_synchronize(stream));
        assert_eq!(downloaded!(memory, 200), [[5_u8; 50], [4; 50], [5; 50], [4; 50]].concat());
        fails!(memcpy_peer(memory, 0, memory.wrapping_byte_add(50), 0, 100), INVALID_VALUE, "overlap");
        ok!(stream_destroy(stream));
        ok!(free(memory));
    }
}

#[test]
fn peer_access_that_was_never_enabled_cannot_be_disabled() {
    use crate::dialects::musa::*;
    use gridcl::musa::{musaDeviceDisablePeerAccess, musaErrorPeerAccessNotEnabled};
    let _guard = guard();
    for peer in [-1, count(), 0] {
        fails!(musaDeviceDisablePeerAccess(peer), INVALID_DEVICE, "evice = ");
    }
    if count() < 2 {
        return eprintln!("skipped from here: this takes two devices");
    }
    for _ in 0..2 {
        fails!(musaDeviceDisablePeerAccess(1), musaErrorPeerAccessNotEnabled, "peerDevice = 1", "never enabled");
    }
}

#[test]
fn regions_are_checked_and_not_supported() {
    use crate::dialects::tops::*;
    use gridcl::tops::{topsDeviceDisablePeerAccessRegion as disable, topsDeviceEnablePeerAccessRegion as enable};
    let _guard = guard();
    let (mut out, near) = (null_mut(), device_memory!(100));
    for peer in [-1, count(), 0] {
        fails!(unsafe { enable(peer, near, 100, &mut out) }, INVALID_DEVICE, "evice = ");
        fails!(disable(peer, near, 100), INVALID_DEVICE, "evice = ");
    }
    if count() < 2 {
        eprintln!("skipped from here: this takes two devices");
    } else {
        ok!(set_device(1));
        let far = device_memory!(100);
        ok!(set_device(0));
        fails!(unsafe { enable(1, far, 100, null_mut()) }, INVALID_VALUE, "devPtr = null");
        for (pointer, bytes) in [(null_mut(), 100), (far, 0), (far, 101), (near, 100), (far.wrapping_byte_add(50), 51)]
        {
            fails!(unsafe { enable(1, pointer, bytes, &mut out) }, INVALID_VALUE);
            fails!(disable(1, pointer, bytes), INVALID_VALUE);
        }
        fails!(unsafe { enable(1, far, 100, &mut out) }, NOT_SUPPORTED, "copy the region");
        fails!(disable(1, far.wrapping_byte_add(50), 50), NOT_SUPPORTED, "copy the region");
        ok!(free(far));
    }
    assert!(out.is_null());
    ok!(free(near));
}

#[test]
fn a_copy_over_a_link_of_choice_is_a_peer_copy() {
    use crate::dialects::tops::*;
    use gridcl::tops::{topsMemcpyPeerExt, topsMemcpyPeerExtAsync, topsTopologyMapType};
    let _guard = guard();
    let last = count() - 1;
    let near = uploaded!([6_u8; 100]);
    ok!(set_device(last));
    let (far, stream) = (uploaded!([0_u8; 100]), new_stream!());
    for (link, at) in (0..5).map(topsTopologyMapType).zip((0..).step_by(10)) {
        let (to, from) = (far.wrapping_byte_add(at), near.wrapping_byte_add(at));
        ok!(topsMemcpyPeerExt(to, last, from, 0, 5, link, 0));
        ok!(topsMemcpyPeerExtAsync(to.wrapping_byte_add(5), last, from, 0, 5, link, 3, stream));
    }
    ok!(device_synchronize());
    assert_eq!(downloaded!(far, 100), [[6_u8; 50], [0; 50]].concat());
    for link in [-1, 5] {
        let link = topsTopologyMapType(link);
        fails!(topsMemcpyPeerExt(far, last, near, 0, 5, link, 0), INVALID_VALUE, "map = ");
        fails!(topsMemcpyPeerExtAsync(far, last, near, 0, 5, link, 0, stream), INVALID_VALUE, "map = ");
    }
    ok!(stream_destroy(stream));
    ok!(free(far));
    ok!(free(near));
    ok!(set_device(0));
}
