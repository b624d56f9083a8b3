//! What copies between devices move (behaviour.md 3.5, peer rows): every byte, from where and to where it should go,
//! however the runtime cuts it up; and what becomes of memory, streams and devices that go meanwhile.

use crate::blocks::{Held, assert_same, noise, waits_for};
use crate::child;
use crate::support::in_time;
use gridcl::testing::{Gate, PinnedBy, fail, guard, tune_transfers};
use gridcl::{Device, DeviceBuffer, PinnedBuffer};
use std::ffi::c_void;

/// Leaves a test that takes two devices, and says so, where there is one.
macro_rules! two_devices {
    () => {
        if gridcl::Device::count() < 2 {
            return eprintln!("skipped: this takes two devices");
        }
    };
}
pub(crate) use two_devices;

/// Does something with another device current.
macro_rules! there {
    ($($act:tt)*) => {{
        ok!(set_device(1));
        let answer = { $($act)* };
        ok!(set_device(0));
        answer
    }};
}
pub(crate) use there;

/// A step small enough to have many.
const STEP: usize = 4096;

/// A pointer for another thread.
#[derive(Clone, Copy)]
struct Carried(*mut c_void);
// Any thread may use the pointers of these tests.
unsafe impl Send for Carried {}
impl Carried {
    fn get(self) -> *mut c_void {
        self.0
    }
}

both_dialects! {
    fn every_size_arrives_at_its_place_and_nowhere_else() {
        let _guard = guard();
        two_devices!();
        const SHELL: usize = 100;
        let most = 5 * STEP + 7 + 2 * SHELL;
        let (near, near_stream) = (device_memory!(most), new_stream!());
        let (far, far_stream) = there!((device_memory!(most), new_stream!()));
        let pinned_by = [PinnedBy::SourceDevice, PinnedBy::TargetDevice, PinnedBy::Alternating];
        let mut seed = 0;
        for (buffers, pinned_by) in (2..5).zip(pinned_by) {
            tune_transfers(Some((STEP, buffers, pinned_by)));
            for bytes in [1, 4, STEP - 1, STEP, STEP + 1, 2 * STEP, 5 * STEP + 7] {
                for way in 0..6 {
                    seed += 1;
                    let (to, from, to_device, from_device) = if way % 2 == 0 { (far, near, 1, 0) } else { (near, far, 0, 1) };
                    let (source, shell) = (noise(seed, most), vec![0xAA_u8; most]);
                    // An odd place on either side.
                    let (at, start) = (SHELL - 1 - seed as usize % 3, SHELL - 7);
                    ok!(unsafe { memcpy(from, source.as_ptr().cast(), most, HOST_TO_DEVICE) });
                    ok!(unsafe { memcpy(to, shell.as_ptr().cast(), most, HOST_TO_DEVICE) });
                    let (into, out) = (to.wrapping_byte_add(at), from.wrapping_byte_add(start).cast_const());
                    let stream = if way < 3 { near_stream } else { far_stream };
                    match way {
                        0 | 1 => ok!(memcpy_peer(into, to_device, out, from_device, bytes)),
                        2 | 3 => ok!(memcpy_peer_async(into, to_device, out, from_device, bytes, stream)),
                        4 => ok!(unsafe { memcpy(into, out, bytes, DEVICE_TO_DEVICE) }),
                        _ => ok!(unsafe { memcpy_async(into, out, bytes, DEFAULT, stream) }),
                    }
                    ok!(stream_synchronize(stream));
                    let mut expected = shell;
                    expected[at..at + bytes].copy_from_slice(&source[start..start + bytes]);
                    let what = || format!("{bytes} bytes, way {way}, {buffers} buffers pinned by the {pinned_by:?}");
                    assert_same(&downloaded!(to, most), &expected, what);
                    assert_same(&downloaded!(from, most), &source, || "the source".into());
                }
            }
        }
        for memory in [near, far] {
            ok!(free(memory));
        }
        for stream in [near_stream, far_stream] {
            ok!(stream_destroy(stream));
        }
    }

    fn large_copies_arrive_with_the_usual_steps() {
        let _guard = guard();
        two_devices!();
        for bytes in [256 << 10, (256 << 10) + 1, (9 << 20) + 7, (67 << 20) + 5] {
            let source = noise(bytes as u64, bytes);
            let near = uploaded!(source);
            let (far, back) = (there!(device_memory!(bytes)), device_memory!(bytes));
            ok!(memcpy_peer(far, 1, near, 0, bytes));
            ok!(memcpy_peer(back, 0, far, 1, bytes));
            assert_same(&downloaded!(back, bytes), &source, || format!("{bytes} bytes there and back"));
            for memory in [near, far, back] {
                ok!(free(memory));
            }
        }
    }

    fn freeing_either_end_waits_for_the_copy() {
        let _guard = guard();
        two_devices!();
        tune_transfers(Some((STEP, 2, PinnedBy::SourceDevice)));
        let bytes = 3 * STEP + 1;
        for (frees_source, current) in [(false, 0), (true, 0), (false, 1), (true, 1)] {
            let (near, stream, far) = (uploaded!(noise(1, bytes)), new_stream!(), there!(device_memory!(bytes)));
            let held = Held::default_stream(Device::get(0).unwrap());
            ok!(memcpy_peer_async(far, 1, near, 0, bytes, stream));
            let (goes, stays) = if frees_source { (near, far) } else { (far, near) };
            waits_for(held, (goes, current), |(memory, current)| {
                ok!(set_device(current));
                ok!(free(memory));
            });
            work::comes_to_its_end(stream);
            assert_same(&downloaded!(stays, bytes), &noise(1, bytes), || "what stays".into());
            ok!(free(stays));
            ok!(stream_destroy(stream));
        }
    }

    fn either_device_is_busy_until_the_copy_is_done() {
        let _guard = guard();
        two_devices!();
        let bytes = 5000;
        let (near, stream, far) = (uploaded!(noise(2, bytes)), new_stream!(), there!(device_memory!(bytes)));
        for device in [0, 1] {
            let held = Held::default_stream(Device::get(0).unwrap());
            ok!(memcpy_peer_async(far, 1, near, 0, bytes, stream));
            waits_for(held, device, |device| {
                ok!(set_device(device));
                ok!(device_synchronize());
            });
            assert_same(&downloaded!(far, bytes), &noise(2, bytes), || format!("after device {device}"));
            ok!(there!({ let done = memset(far, 0, bytes); ok!(device_synchronize()); done }));
        }
        ok!(stream_destroy(stream));
        ok!(free(near));
        ok!(free(far));
    }

    fn a_stream_may_be_destroyed_right_after_the_call() {
        let _guard = guard();
        two_devices!();
        tune_transfers(Some((STEP, 2, PinnedBy::SourceDevice)));
        let bytes = 3 * STEP + 1;
        let (near, far) = (uploaded!(noise(3, bytes)), there!(device_memory!(bytes)));
        for (to, from, ends, owner) in [(far, near, [1, 0], 0), (near, far, [0, 1], 0), (far, near, [1, 0], 1)] {
            let held = Held::default_stream(Device::get(owner).unwrap());
            ok!(set_device(owner as _));
            let stream = new_stream!();
            ok!(memcpy_peer_async(to, ends[0], from, ends[1], bytes, stream));
            ok!(stream_destroy(stream));
            held.open();
            ok!(device_synchronize());
            ok!(set_device(0));
            assert_same(&downloaded!(to, bytes), &noise(3, bytes), || format!("a stream of device {owner}"));
        }
        ok!(free(near));
        ok!(free(far));
    }

    fn many_threads_copy_in_both_directions() {
        let _guard = guard();
        two_devices!();
        tune_transfers(Some((STEP, 3, PinnedBy::Alternating)));
        const BYTES: usize = 3 * STEP + 11;
        let threads: Vec<_> = (0..6_u64).map(|number| {
            std::thread::spawn(move || {
                // Half of them with either device current, and so with streams of either.
                ok!(set_device((number % 2) as _));
                let stream = new_stream!(if number < 3 { 0 } else { NON_BLOCKING });
                let [here, there] = [number % 2, 1 - number % 2].map(|device| device as std::ffi::c_int);
                let (mine, back) = (uploaded!(noise(number, BYTES)), device_memory!(BYTES));
                ok!(device_synchronize());
                ok!(set_device(there));
                let far = device_memory!(BYTES);
                ok!(set_device(here));
                for round in 0..10 {
                    ok!(memset_async(back, 0, BYTES, stream));
                    if round % 2 == 0 {
                        ok!(memcpy_peer_async(far, there, mine, here, BYTES, stream));
                        ok!(memcpy_peer_async(back, here, far, there, BYTES, stream));
                    } else {
                        ok!(stream_synchronize(stream));
                        ok!(memcpy_peer(far, there, mine, here, BYTES));
                        ok!(memcpy_peer(back, here, far, there, BYTES));
                        ok!(stream_synchronize(LEGACY));
                    }
                    ok!(stream_synchronize(stream));
                    assert_same(&downloaded!(back, BYTES), &noise(number, BYTES), || format!("thread {number}"));
                }
                for memory in [mine, back, far] {
                    ok!(free(memory));
                }
                ok!(stream_destroy(stream));
            })
        }).collect();
        in_time("threads that copy between devices", || threads.into_iter().for_each(|thread| thread.join().unwrap()));
    }

    fn what_goes_wrong_on_the_way_is_told_to_whoever_waits_for_the_stream() {
        let _guard = guard();
        two_devices!();
        let (near, far) = (uploaded!([1_u8; 100]), there!(uploaded!([2_u8; 100])));
        let stream = new_stream!();
        ok!(device_synchronize());
        // So that there is no staging memory left from before.
        gridcl::testing::live();
        let held = Held::default_stream(Device::get(0).unwrap());
        ok!(memcpy_peer_async(far, 1, near, 0, 100, stream));
        fail("clEnqueueMapBuffer", 0, -4);
        held.open();
        fails!(stream_synchronize(stream), OUT_OF_MEMORY);
        ok!(stream_synchronize(stream));
        assert_eq!(downloaded!(far, 100), [2; 100]);
        ok!(memcpy_peer_async(far, 1, near, 0, 100, stream));
        ok!(stream_synchronize(stream));
        assert_eq!(downloaded!(far, 100), [1; 100]);

        // A call that does not get its work into place says so itself.
        for entry in ["clCreateUserEvent", "clEnqueueBarrierWithWaitList", "clEnqueueMarkerWithWaitList", "clSetEventCallback"] {
            for after in 0..2 {
                fail(entry, after, -5);
                let code = memcpy_peer(far, 1, near, 0, 100);
                if gridcl::testing::clear_fault() {
                    ok!(code);
                } else {
                    assert_ne!(code, SUCCESS, "{entry}");
                }
                let _ = get_last_error();
                ok!(in_time("both devices after a fault", || { ok!(device_synchronize()); there!(device_synchronize()) }));
            }
        }
        ok!(memcpy_peer(far, 1, near, 0, 100));
        ok!(device_synchronize());
        ok!(stream_destroy(stream));
        ok!(free(near));
        ok!(free(far));
    }

    fn a_reset_of_either_device_waits_for_the_copy() {
        let _guard = guard();
        two_devices!();
        for device in [0, 1] {
            let (near, stream, far) = (uploaded!(noise(4, 5000)), new_stream!(), there!(device_memory!(5000)));
            let held = Held::default_stream(Device::get(0).unwrap());
            ok!(memcpy_peer_async(far, 1, near, 0, 5000, stream));
            waits_for(held, device, |device| {
                ok!(set_device(device));
                ok!(device_reset());
            });
            let (stays, goes) = if device == 0 { (far, near) } else { (near, far) };
            assert_same(&downloaded!(stays, 5000), &noise(4, 5000), || format!("after a reset of device {device}"));
            fails!(memcpy_peer(far, 1, near, 0, 5000), INVALID_VALUE);
            fails!(free(goes), INVALID_DEVICE_POINTER);
            ok!(free(stays));
            if device == 1 {
                ok!(stream_destroy(stream));
            }
        }
    }
}

#[test]
fn buffers_of_two_devices_copy_in_stream_order() {
    let _guard = guard();
    two_devices!();
    let [here, there] = [0, 1].map(|device| Device::get(device).unwrap());
    let streams = [here, there].map(|device| device.create_stream().unwrap());
    let mut near = DeviceBuffer::from_slice(&streams[0], &[1_u32, 2, 3, 4]).unwrap();
    let mut far = DeviceBuffer::from_slice(&streams[1], &[9_u32; 4]).unwrap();
    let mut pinned = PinnedBuffer::<u32>::new(here, 4).unwrap();
    streams[1].synchronize().unwrap();
    for stream in &streams {
        let held = Held::close(stream);
        stream.copy(near.slice(1..), far.slice_mut(..3)).unwrap();
        stream.fill(&mut near, 0xFF).unwrap();
        stream.copy(&far, &mut pinned).unwrap();
        stream.copy(far.slice(..), &mut near).unwrap();
        assert!(!stream.is_done().unwrap());
        held.open();
        assert_eq!(*pinned.read().unwrap(), [2, 3, 4, 9]);
        assert_eq!(near.to_vec(stream).unwrap(), [2, 3, 4, 9]);
        stream.upload(&[1, 2, 3, 4], &mut near).unwrap();
        stream.synchronize().unwrap();
    }
    // Buffers that go while they are in use stay for as long as it takes.
    let held = Held::close(&streams[0]);
    streams[0].copy(&near, &mut far).unwrap();
    drop(near);
    streams[0].copy(&far, &mut pinned).unwrap();
    drop(far);
    held.open();
    assert_eq!(*pinned.read().unwrap(), [1, 2, 3, 4]);
}

#[test]
fn a_stream_of_a_third_device_copies_between_two_others() {
    if !child::is_child() {
        let name = "peer_copies::a_stream_of_a_third_device_copies_between_two_others";
        return child::passes(name, &[("POCL_DEVICES", "pthread pthread pthread")]);
    }
    let _guard = guard();
    let [first, second, third] = Device::all()[..] else { return eprintln!("skipped: this takes three devices") };
    let [near, far, aside] = [first, second, third].map(|device| device.create_stream().unwrap());
    let source = DeviceBuffer::from_slice(&near, &[1_u32, 2, 3]).unwrap();
    let mut target = DeviceBuffer::<u32>::zeroed(&far, 3).unwrap();
    near.synchronize().unwrap();
    far.synchronize().unwrap();
    let held = Held::close(&aside);
    aside.copy(&source, &mut target).unwrap();
    assert!(!aside.is_done().unwrap());
    assert!(near.is_done().unwrap() && far.is_done().unwrap(), "the order is the third device's alone");
    waits_for(held, second, |device| device.synchronize().unwrap());
    assert_eq!(target.to_vec(&far).unwrap(), [1, 2, 3]);

    // Without a stream, by all three devices' default streams.
    use crate::dialects::musa::*;
    ok!(set_device(2));
    let addresses = there!((device_memory!(4), ok!(set_device(0)), uploaded!(7_u32.to_ne_bytes())));
    let (to, (), from) = addresses;
    for gated in [first, second, third] {
        ok!(memset(to, 0, 4));
        ok!(in_time("the set", || {
            ok!(set_device(1));
            device_synchronize()
        }));
        ok!(set_device(2));
        let held = Held::default_stream(gated);
        ok!(memcpy_peer(to, 1, from, 0, 4));
        for device in 0..3 {
            ok!(set_device(device));
            assert_eq!(stream_query(LEGACY), NOT_READY, "device {device}");
        }
        held.open();
        ok!(device_synchronize());
        assert_eq!(downloaded!(to, 4), 7_u32.to_ne_bytes());
    }
    ok!(free(to));
    ok!(free(from));
    ok!(set_device(0));
}

/// Two devices of PoCL, where that is the driver; what it has otherwise.
const TWO: &[(&str, &str)] = &[("POCL_DEVICES", "pthread pthread")];

/// Starts transfers, of which one waits at a gate that nobody opens; `None` where there is one device.
fn leave_transfers_under_way() -> Option<()> {
    if Device::count() < 2 {
        eprintln!("skipped: this takes two devices");
        return None;
    }
    let [here, there] = [0, 1].map(|device| Device::get(device).unwrap());
    let [held, free] = [(); 2].map(|()| here.create_stream().unwrap());
    let near = DeviceBuffer::from_slice(&free, &vec![7_u8; 64 << 20]).unwrap();
    let [mut far, mut other] = [(); 2].map(|()| DeviceBuffer::<u8>::zeroed(&free, 64 << 20).unwrap());
    free.synchronize().unwrap();
    std::mem::forget(Gate::close(&held).unwrap());
    held.copy(&near, &mut far).unwrap();
    let mut there = DeviceBuffer::<u8>::zeroed(&there.create_stream().unwrap(), 64 << 20).unwrap();
    free.copy(&near, &mut there).unwrap();
    free.copy(&there, &mut other).unwrap();
    std::mem::forget((held, free, near, far, other, there));
    Some(())
}

#[test]
fn main_returns_with_transfers_under_way() {
    if child::is_child() {
        leave_transfers_under_way();
        return;
    }
    for _ in 0..3 {
        child::passes("peer_copies::main_returns_with_transfers_under_way", TWO);
    }
}

#[test]
fn a_program_exits_with_transfers_under_way() {
    if child::is_child() {
        leave_transfers_under_way();
        std::process::exit(0);
    }
    for _ in 0..3 {
        let output = child::run("peer_copies::a_program_exits_with_transfers_under_way", TWO);
        assert!(output.status.success(), "{}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_child_forked_with_transfers_under_way_is_refused_and_its_parent_goes_on() {
    if !child::is_child() {
        let name = "peer_copies::a_child_forked_with_transfers_under_way_is_refused_and_its_parent_goes_on";
        return child::passes(name, TWO);
    }
    use crate::dialects::musa::*;
    two_devices!();
    let bytes = 32 << 20;
    let (near, far, back) = (uploaded!(noise(5, bytes)), there!(device_memory!(bytes)), device_memory!(bytes));
    let stream = new_stream!();
    let owned = Device::get(0).unwrap().create_stream().unwrap();
    let buffer = DeviceBuffer::from_slice(&owned, &[1_u8; 100]).unwrap();
    for _ in 0..16 {
        ok!(memcpy_peer_async(far, 1, near, 0, bytes, stream));
        ok!(memcpy_peer_async(back, 0, far, 1, bytes, stream));
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            let refused = memcpy_peer(far, 1, near, 0, bytes) == NOT_INITIALIZED && free(near) == NOT_INITIALIZED;
            // What the child has are copies of its own, dropped as at the end of their scope.
            unsafe { drop((std::ptr::read(&buffer), std::ptr::read(&owned))) };
            unsafe { libc::_exit(i32::from(!refused)) };
        }
        let status = in_time("the forked child", move || {
            let mut status = -1;
            assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
            status
        });
        assert_eq!(status, 0, "the child was refused");
    }
    ok!(stream_synchronize(stream));
    assert_same(&downloaded!(back, bytes), &noise(5, bytes), || "there and back".into());
    let memory = [near, far, back].map(Carried);
    in_time("freeing", move || memory.into_iter().for_each(|memory| ok!(free(memory.get()))));
    ok!(stream_destroy(stream));
}
