//! When copies between devices, and work on another device's memory, run (behaviour.md 2.3 and 2.4, peer rows). No
//! call waits; the form with a stream is in the order of that stream alone, the form without in that of both devices'
//! default streams.

use crate::blocks::{Held, assert_same, noise, waits_for};
use crate::peer_copies::{there, two_devices};
use crate::support::{PATIENCE, in_time};
use crate::work::{BRISK, SLOW, stepped};
use gridcl::Device;
use gridcl::testing::{PinnedBy, guard, tune_transfers};
use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

const BYTES: usize = 3 * 4096 + 5;

/// Steps small enough for a copy to have some.
fn small_steps() {
    tune_transfers(Some((4096, 2, PinnedBy::SourceDevice)));
}

/// What a callback waits for: it blocks its stream until the test lets it go.
struct Block {
    entered: Sender<()>,
    leave: Mutex<Receiver<()>>,
}

impl Block {
    fn new() -> (Box<Self>, Receiver<()>, Sender<()>) {
        let ((entered, inside), (go, leave)) = (channel(), channel());
        (Box::new(Self { entered, leave: Mutex::new(leave) }), inside, go)
    }

    fn user(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// # Safety
    /// `user` has to come from [`Block::user`] of one that is alive.
    unsafe fn pass(user: *mut c_void) {
        let block = unsafe { &*user.cast_const().cast::<Self>() };
        block.entered.send(()).ok();
        block.leave.lock().unwrap().recv_timeout(PATIENCE).ok();
    }
}

both_dialects! {
    fn a_copy_waits_behind_a_callback_of_its_stream_and_holds_up_nobody_else() {
        unsafe extern "C" fn block(_: Stream, _: Code, user: *mut c_void) {
            unsafe { Block::pass(user) };
        }
        let _guard = guard();
        two_devices!();
        small_steps();
        let (near, far) = (uploaded!(noise(1, BYTES)), there!(uploaded!(vec![0; 2 * BYTES])));
        ok!(device_synchronize());
        let (held, free_stream) = (new_stream!(), new_stream!());
        let (blocker, inside, go) = Block::new();
        ok!(unsafe { stream_add_callback(held, Some(block), blocker.user(), 0) });
        inside.recv_timeout(PATIENCE).expect("the callback runs");
        ok!(memcpy_peer_async(far, 1, near, 0, BYTES, held));
        assert_eq!(stream_query(held), NOT_READY);
        // Between the same devices, both ways, while that one waits.
        let second = far.wrapping_byte_add(BYTES);
        ok!(memcpy_peer_async(second, 1, near, 0, BYTES, free_stream));
        ok!(memcpy_peer_async(near, 0, second, 1, BYTES, free_stream));
        in_time("a copy in a free stream", {
            let stream = free_stream.addr();
            move || ok!(stream_synchronize(std::ptr::without_provenance_mut(stream)))
        });
        let look = there!(new_stream!(NON_BLOCKING));
        let mut bytes = vec![1_u8; 2 * BYTES];
        ok!(unsafe { memcpy_async(bytes.as_mut_ptr().cast(), far, 2 * BYTES, DEVICE_TO_HOST, look) });
        assert_same(&bytes, &[vec![0; BYTES], noise(1, BYTES)].concat(), || "the held one has not begun".into());
        assert_eq!(stream_query(held), NOT_READY);
        go.send(()).unwrap();
        ok!(stream_synchronize(held));
        assert_same(&downloaded!(far, BYTES), &noise(1, BYTES), || "the held one".into());
        for stream in [held, free_stream, look] {
            ok!(stream_destroy(stream));
        }
        ok!(free(near));
        ok!(free(far));
    }

    fn work_before_comes_before_and_later_work_comes_after() {
        let _guard = guard();
        two_devices!();
        let near = work::Cells::new(2);
        let (far, far_stream) = there!((work::Cells::new(1), new_stream!(NON_BLOCKING)));
        for flags in [0, NON_BLOCKING] {
            let stream = new_stream!(flags);
            near.clear();
            there!(far.clear());
            for turns in [SLOW, BRISK, SLOW] {
                near.step_for(stream, 0, 5, turns);
                ok!(memcpy_peer_async(far.at(0), 1, near.at(0), 0, 4, stream));
                // Both overwrite the source; the copy has what was there before.
                near.step_for(stream, 0, 6, turns);
                near.set(stream, 0, 0);
                ok!(stream_synchronize(stream));
                assert_eq!(there!(far.get(0)), 5);
                // A chain through the other device and back.
                let (here, back) = (work::untimed(), there!(work::untimed()));
                near.step_for(stream, 0, 7, turns);
                ok!(memcpy_peer_async(far.at(0), 1, near.at(0), 0, 4, stream));
                ok!(event_record(*here, stream));
                there!({
                    ok!(stream_wait_event(far_stream, *here, 0));
                    far.step_for(far_stream, 0, 8, turns);
                    ok!(memcpy_peer_async(near.at(1), 0, far.at(0), 1, 4, far_stream));
                    ok!(event_record(*back, far_stream));
                });
                ok!(stream_wait_event(stream, *back, 0));
                near.step_for(stream, 1, 9, turns);
                near.set(stream, 0, 0);
                ok!(stream_synchronize(stream));
                assert_eq!(near.get(1), stepped(stepped(7, 8), 9));
            }
            ok!(stream_destroy(stream));
        }
        ok!(stream_destroy(far_stream));
        there!(drop(far));
    }

    fn a_copy_in_a_stream_is_in_the_order_of_that_stream_alone() {
        let _guard = guard();
        two_devices!();
        small_steps();
        let (near, far) = (uploaded!(noise(2, BYTES)), there!(device_memory!(BYTES)));
        let (near_stream, far_stream) = (new_stream!(), there!(new_stream!()));
        for (stream, other) in [(near_stream, 1), (far_stream, 0)] {
            let held = Held::default_stream(Device::get(other).unwrap());
            ok!(memcpy_peer_async(far, 1, near, 0, BYTES, stream));
            work::comes_to_its_end(stream);
            ok!(unsafe { memcpy_async(near, far, BYTES, DEFAULT, stream) });
            work::comes_to_its_end(stream);
            held.open();
        }
        // The default stream, where it is named as a stream, is one of the current device.
        let held = Held::default_stream(Device::get(1).unwrap());
        ok!(memcpy_peer_async(far, 1, near, 0, BYTES, LEGACY));
        work::comes_to_its_end(LEGACY);
        held.open();
        assert_same(&downloaded!(far, BYTES), &noise(2, BYTES), || "the copy".into());
        for stream in [near_stream, far_stream] {
            ok!(stream_destroy(stream));
        }
        ok!(free(near));
        ok!(free(far));
    }

    fn a_copy_without_a_stream_is_in_the_order_of_both_default_streams() {
        let _guard = guard();
        two_devices!();
        small_steps();
        let (near, far) = (device_memory!(BYTES), there!(device_memory!(BYTES)));
        let (near_stream, near_aside) = (new_stream!(), new_stream!(NON_BLOCKING));
        let (far_stream, far_aside) = there!((new_stream!(), new_stream!(NON_BLOCKING)));
        let aside = [device_memory!(4), there!(device_memory!(4))];
        for (gated, by_peer) in [(0, true), (1, true), (0, false), (1, false)] {
            ok!(memset(near, 1, BYTES));
            there!(ok!(memset(far, 2, BYTES)));
            let held = Held::default_stream(Device::get(gated).unwrap());
            // Earlier work of blocking streams, of which that of one device is held.
            ok!(memset_async(near, 3, BYTES, near_stream));
            ok!(memset_async(far, 4, BYTES, far_stream));
            if by_peer {
                ok!(memcpy_peer(far, 1, near, 0, BYTES));
            } else {
                ok!(unsafe { memcpy(far, near, BYTES, DEVICE_TO_DEVICE) });
            }
            // Later work of blocking streams of both.
            ok!(memset_async(near, 5, BYTES - 1, near_stream));
            ok!(memset_async(far, 6, 1, far_stream));
            for stream in [near_stream, far_stream, LEGACY] {
                assert_eq!(stream_query(stream), NOT_READY);
            }
            assert_eq!(there!(stream_query(LEGACY)), NOT_READY);
            for (stream, memory) in [near_aside, far_aside].into_iter().zip(aside) {
                ok!(memset_async(memory, 1, 4, stream));
                work::comes_to_its_end(stream);
            }
            held.open();
            let far_bytes = there!(downloaded!(far, BYTES));
            assert_same(&far_bytes, &[vec![6], vec![3; BYTES - 1]].concat(), || format!("device {gated} was held"));
            assert_same(&downloaded!(near, BYTES), &[vec![5; BYTES - 1], vec![3]].concat(), || "the source".into());
        }
        for stream in [near_stream, near_aside, far_stream, far_aside] {
            ok!(stream_destroy(stream));
        }
        for memory in [near, far].into_iter().chain(aside) {
            ok!(free(memory));
        }
    }

    fn work_on_memory_of_another_device_returns_at_once_and_in_stream_order() {
        let _guard = guard();
        two_devices!();
        let (far, other) = there!((uploaded!(vec![9_u8; 5 * BYTES]), device_memory!(BYTES)));
        there!(ok!(device_synchronize()));
        let (up, down) = (pinned_memory!(BYTES), pinned_memory!(BYTES));
        let from_pinned = noise(3, BYTES);
        unsafe { up.cast::<u8>().copy_from(from_pinned.as_ptr(), BYTES) };
        unsafe { down.cast::<u8>().write_bytes(0, BYTES) };
        let part = |number: usize| far.wrapping_byte_add(number * BYTES);
        for stream in [new_stream!(), new_stream!(NON_BLOCKING)] {
            let (gate_stream, event) = (new_stream!(), work::untimed());
            let held = Held::default_stream(Device::get(0).unwrap());
            // Behind the gate whatever the stream's kind.
            ok!(event_record(*event, gate_stream));
            ok!(stream_wait_event(stream, *event, 0));
            let mut pageable = noise(4, BYTES);
            ok!(memset_async(part(0), 7, BYTES, stream));
            ok!(unsafe { memcpy_async(part(1), up, BYTES, HOST_TO_DEVICE, stream) });
            ok!(unsafe { memcpy_async(part(2), pageable.as_ptr().cast(), BYTES, DEFAULT, stream) });
            pageable.fill(0);
            ok!(unsafe { memcpy_async(other, part(1), BYTES, DEVICE_TO_DEVICE, stream) });
            ok!(memset_async(part(1), 8, BYTES, stream));
            ok!(unsafe { memcpy_async(down, other, BYTES, DEVICE_TO_HOST, stream) });
            assert_eq!(stream_query(stream), NOT_READY);
            held.open();
            ok!(stream_synchronize(stream));
            let expected = [vec![7; BYTES], vec![8; BYTES], noise(4, BYTES), vec![9; 2 * BYTES]].concat();
            assert_same(&there!(downloaded!(far, 5 * BYTES)), &expected, || "the other device's memory".into());
            let got = unsafe { std::slice::from_raw_parts(down.cast::<u8>(), BYTES) };
            assert_same(got, &from_pinned, || "up, across and down".into());
            for stream in [stream, gate_stream] {
                ok!(stream_destroy(stream));
            }
        }
        for memory in [far, other] {
            ok!(free(memory));
        }
        for memory in [up, down] {
            ok!(host_free(memory));
        }
    }

    fn pageable_memory_is_filled_from_another_device_when_the_call_returns() {
        let _guard = guard();
        two_devices!();
        let (far, stream) = (there!(uploaded!(noise(5, BYTES))), new_stream!());
        let mut target = vec![0_u8; BYTES];
        let held = Held::default_stream(Device::get(0).unwrap());
        waits_for(held, (target.as_mut_ptr(), far, stream), |(target, far, stream)| {
            ok!(unsafe { memcpy_async(target.cast(), far, BYTES, DEVICE_TO_HOST, stream) });
            ok!(stream_query(stream));
        });
        assert_same(&target, &noise(5, BYTES), || "with a stream".into());
        // Without one, work of the other device's blocking streams comes first, too.
        let far_stream = there!(new_stream!());
        let held = Held::default_stream(Device::get(1).unwrap());
        ok!(memset_async(far, 6, BYTES, far_stream));
        waits_for(held, (target.as_mut_ptr(), far), |(target, far)| {
            ok!(unsafe { memcpy(target.cast(), far, BYTES, DEVICE_TO_HOST) });
        });
        assert_same(&target, &[6; BYTES], || "without a stream".into());
        ok!(memset(far, 1, BYTES));
        ok!(memset_async(far, 2, 1, far_stream));
        assert_same(&downloaded!(far, BYTES), &[vec![2], vec![1; BYTES - 1]].concat(), || "sets".into());
        for stream in [stream, far_stream] {
            ok!(stream_destroy(stream));
        }
        ok!(free(far));
    }

    fn pinned_memory_is_freed_after_the_work_of_every_device() {
        let _guard = guard();
        two_devices!();
        let far = there!(device_memory!(BYTES));
        for registered in [false, true] {
            let mut own = noise(6, BYTES);
            let host = if registered { own.as_mut_ptr().cast() } else { pinned_memory!(BYTES) };
            if registered {
                ok!(unsafe { host_register(host, BYTES, 0) });
            } else {
                unsafe { host.cast::<u8>().copy_from_nonoverlapping(own.as_ptr(), BYTES) };
            }
            // It was pinned through the first device, and the second's stream reads it.
            let held = Held::default_stream(Device::get(1).unwrap());
            ok!(set_device(1));
            ok!(unsafe { memcpy_async(far, host, BYTES, HOST_TO_DEVICE, LEGACY) });
            ok!(set_device(0));
            waits_for(held, (host, registered), |(host, registered)| {
                ok!(if registered { host_unregister(host) } else { host_free(host) });
            });
            assert_same(&downloaded!(far, BYTES), &own, || format!("registered: {registered}"));
            ok!(memset(far, 0, BYTES));
        }
        ok!(free(far));
    }
}
