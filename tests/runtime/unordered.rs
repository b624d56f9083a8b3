//! What has no order with the default stream, what its query and synchronisation are about, and the streams that
//! each thread has of its own (TOPS 7.4, MUSA "streams"; behaviour.md 2.3 rows 3 and 5 to 12).
//!
//! A gate holds one stream back; the others come to their end all the same.

use crate::support::{device, gated, in_time, wait_until};
use crate::work::{LONG, SLOW, filled, gated_aside, hold_legacy, stepped};
use gridcl::testing::{Gate, guard};
use gridcl::{Device, StreamFlags};
use std::ptr::without_provenance_mut;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

both_dialects! {
    fn a_stream_aside_does_everything_while_the_default_stream_is_held() {
        let _guard = guard();
        let (cells, aside, event) = (work::Cells::new(2), work::aside(), work::timed());
        let gate = hold_legacy();
        cells.step(*aside, 0, 5);
        cells.copy(*aside, 1, 0);
        ok!(event_record(*event, *aside));
        work::completes(*event);
        ok!(stream_wait_event(*aside, *event, 0));
        cells.set(*aside, 0, 0x33);
        work::comes_to_its_end(*aside);
        assert_eq!([cells.peek(0), cells.peek(1)], [filled(0x33), 5]);
        assert_eq!(stream_query(LEGACY), NOT_READY, "the gate is closed all along");
        gate.open();
        work::comes_to_its_end(LEGACY);
    }

    fn the_default_stream_does_everything_while_a_stream_aside_is_held() {
        let _guard = guard();
        let (cells, s, event) = (work::Cells::new(2), work::blocking(), work::timed());
        let (held, gate) = gated_aside();
        for stream in [LEGACY, *s, PER_THREAD] {
            cells.clear_in(stream);
            cells.step(stream, 0, 5);
            cells.copy(stream, 1, 0);
            ok!(event_record(*event, stream));
            work::completes(*event);
            ok!(stream_wait_event(stream, *event, 0));
            cells.set(stream, 0, 0x33);
            work::comes_to_its_end(stream);
            assert_eq!([cells.peek(0), cells.peek(1)], [filled(0x33), 5]);
            let handle = stream.addr();
            if stream != PER_THREAD {
                let code = in_time("a synchronisation", move || stream_synchronize(without_provenance_mut(handle)));
                assert_eq!(code, SUCCESS, "nothing aside is waited for");
            }
        }
        assert_eq!(stream_query(LEGACY), SUCCESS);
        assert_eq!(cells.get(1), 5, "a copy in the default stream does not wait either");
        assert!(!held.is_done().unwrap(), "the gate is closed all along");
        gate.open();
        held.synchronize().unwrap();
    }

    fn blocking_streams_do_everything_while_another_is_held() {
        let _guard = guard();
        let (cells, s, aside, event) = (work::Cells::new(2), work::blocking(), work::aside(), work::timed());
        let (held, gate) = gated(device());
        for stream in [*s, PER_THREAD, *aside] {
            cells.clear_in(stream);
            cells.step(stream, 0, 5);
            cells.copy(stream, 1, 0);
            ok!(event_record(*event, stream));
            work::completes(*event);
            ok!(stream_wait_event(stream, *event, 0));
            cells.set(stream, 0, 0x33);
            work::comes_to_its_end(stream);
            assert_eq!([cells.peek(0), cells.peek(1)], [filled(0x33), 5]);
        }
        assert!(!held.is_done().unwrap(), "the gate is closed all along");
        gate.open();
        held.synchronize().unwrap();
    }

    fn a_query_of_the_default_stream_is_about_blocking_streams_too() {
        let _guard = guard();
        let _ = get_last_error();
        assert_eq!(stream_query(LEGACY), SUCCESS);
        let (held, gate) = gated(device());
        for legacy in [LEGACY, without_provenance_mut(1)] {
            assert_eq!(stream_query(legacy), NOT_READY);
        }
        assert_eq!(stream_query(PER_THREAD), SUCCESS, "the thread's own stream has nothing to do");
        assert_eq!(stream_query(*work::blocking()), SUCCESS, "nor has another blocking stream");
        assert_eq!(get_last_error(), SUCCESS, "not ready is no error");
        gate.open();
        work::comes_to_its_end(LEGACY);
        assert!(held.is_done().unwrap(), "what the default stream is through with is done");

        let (held, gate) = gated_aside();
        assert_eq!(stream_query(LEGACY), SUCCESS, "a stream aside is none of its business");
        gate.open();
        held.synchronize().unwrap();
    }

    fn a_query_of_a_blocking_stream_is_about_its_own_work_alone() {
        let _guard = guard();
        let (cells, used, fresh) = (work::Cells::new(1), work::blocking(), work::blocking());
        cells.step(*used, 0, 1);
        work::comes_to_its_end(*used);
        let gate = hold_legacy();
        for stream in [*used, *fresh, PER_THREAD] {
            assert_eq!(stream_query(stream), SUCCESS, "it has no work");
        }
        for stream in [*used, *fresh] {
            let handle = stream.addr();
            let code = in_time("a synchronisation", move || stream_synchronize(without_provenance_mut(handle)));
            assert_eq!(code, SUCCESS, "there is nothing to wait for");
            cells.step(stream, 0, 1);
            assert_eq!(stream_query(stream), NOT_READY, "now it has");
        }
        gate.open();
        ok!(device_synchronize());
    }

    fn a_synchronisation_of_the_default_stream_drains_every_blocking_stream() {
        let _guard = guard();
        let streams: Vec<_> = (0..5).map(|_| work::blocking()).collect();
        let (cells, own) = (work::Cells::new(6), 5);
        for round in 0..20 {
            for (cell, stream) in streams.iter().enumerate() {
                cells.step(**stream, cell, 1);
            }
            cells.step(PER_THREAD, own, 1);
            ok!(stream_synchronize(LEGACY));
            for stream in streams.iter().map(|stream| **stream).chain([PER_THREAD, LEGACY]) {
                assert_eq!(stream_query(stream), SUCCESS, "round {round}");
            }
            let expected = (0..=round).fold(0, |value, _| stepped(value, 1));
            assert_eq!([0, 4, own].map(|cell| cells.peek(cell)), [expected; 3], "round {round}");
        }
    }

    fn a_synchronisation_of_the_default_stream_waits_for_a_held_blocking_stream() {
        let _guard = guard();
        let cells = work::Cells::new(1);
        let (_held, gate) = gated(device());
        let waiter = std::thread::spawn(|| stream_synchronize(LEGACY));
        cells.look_around();
        assert!(!waiter.is_finished());
        gate.open();
        wait_until("the synchronisation", || waiter.is_finished());
        assert_eq!(waiter.join().unwrap(), SUCCESS);
    }

    fn a_synchronisation_of_one_stream_does_not_wait_for_another() {
        let _guard = guard();
        let (cells, s) = (work::Cells::new(2), work::blocking());
        let (held, gate) = gated(device());
        cells.step(*s, 0, 5);
        cells.step(PER_THREAD, 1, 6);
        let handle = s.addr();
        assert_eq!(in_time("one stream", move || stream_synchronize(without_provenance_mut(handle))), SUCCESS);
        work::comes_to_its_end(PER_THREAD);
        ok!(stream_synchronize(PER_THREAD));
        assert_eq!([cells.peek(0), cells.peek(1)], [5, 6]);
        assert!(!held.is_done().unwrap());
        assert_eq!(stream_query(LEGACY), NOT_READY);
        gate.open();
        ok!(device_synchronize());
        assert!(held.is_done().unwrap());
    }

    /// chipStar#1103: work that a stream has to wait for is waited for by its synchronisation too.
    fn a_synchronisation_waits_for_what_comes_before_in_the_default_stream() {
        let _guard = guard();
        let (cells, s) = (work::Cells::new(1), work::blocking());
        let gate = hold_legacy();
        cells.step(LEGACY, 0, 1);
        cells.step(*s, 0, 2);
        let handle = s.addr();
        let waiter = std::thread::spawn(move || stream_synchronize(without_provenance_mut(handle)));
        cells.look_around();
        assert!(!waiter.is_finished());
        gate.open();
        wait_until("the synchronisation", || waiter.is_finished());
        assert_eq!(waiter.join().unwrap(), SUCCESS);
        assert_eq!(cells.peek(0), stepped(1, 2));
    }

    /// What a thread learns by waiting is not about work that came meanwhile.
    fn threads_that_wait_all_the_time_do_not_disturb_the_order() {
        let _guard = guard();
        let (cells, s, over) = (work::Cells::new(1), work::blocking(), AtomicBool::new(false));
        let mut expected = 0;
        std::thread::scope(|scope| {
            for stream in [LEGACY, *s] {
                let (handle, over) = (stream.addr(), &over);
                scope.spawn(move || {
                    while !over.load(Relaxed) {
                        ok!(stream_synchronize(without_provenance_mut(handle)));
                    }
                });
            }
            for number in 0..2000 {
                for stream in [*s, LEGACY] {
                    cells.step_for(stream, 0, number, SLOW / 20);
                    expected = stepped(expected, number);
                }
            }
            over.store(true, Relaxed);
        });
        assert_eq!(cells.get(0), expected);
    }

    fn streams_of_two_threads_are_two() {
        let _guard = guard();
        let cells = work::Cells::new(2);
        let (held, gate) = gated(device());
        // While this thread's stream has work, another thread's has none, does some, and is done.
        cells.step(PER_THREAD, 0, 1);
        std::thread::scope(|scope| {
            let cells = &cells;
            scope.spawn(move || {
                assert_eq!(stream_query(PER_THREAD), SUCCESS);
                cells.step(PER_THREAD, 1, 2);
                ok!(stream_synchronize(PER_THREAD));
                assert_eq!(cells.peek(1), 2);
            }).join().unwrap();
        });
        assert!(!held.is_done().unwrap());
        gate.open();
        ok!(device_synchronize());
    }

    /// The device has to be able to run two kernels at once, so this is seen to happen once in several attempts.
    fn a_busy_stream_of_one_thread_does_not_hold_up_that_of_another() {
        let _guard = guard();
        if device().compute_units() < 2 {
            return eprintln!("needs two compute units");
        }
        let (cells, mine) = (work::Cells::new(2), work::untimed());
        let overtaken = (0..20).any(|_| {
            cells.step_for(PER_THREAD, 0, 1, LONG);
            ok!(event_record(*mine, PER_THREAD));
            let answer = std::thread::scope(|scope| {
                let (cells, mine) = (&cells, &mine);
                scope.spawn(move || {
                    cells.step_for(PER_THREAD, 1, 1, 1);
                    ok!(stream_synchronize(PER_THREAD));
                    event_query(**mine) == NOT_READY
                }).join().unwrap()
            });
            ok!(device_synchronize());
            answer
        });
        assert!(overtaken, "the second thread's kernel never ended while the first one's ran");
    }

    fn a_busy_stream_of_a_thread_keeps_the_default_stream_busy() {
        let _guard = guard();
        let (cells, event) = (work::Cells::new(1), work::untimed());
        let mut seen = 0;
        for _ in 0..20 {
            cells.step_for(PER_THREAD, 0, 1, LONG);
            ok!(event_record(*event, PER_THREAD));
            let (before, legacy, own) = (event_query(*event), stream_query(LEGACY), stream_query(PER_THREAD));
            if (before, event_query(*event)) == (NOT_READY, NOT_READY) {
                assert_eq!((legacy, own), (NOT_READY, NOT_READY));
                seen += 1;
            }
            ok!(stream_synchronize(LEGACY));
            assert_eq!([event_query(*event), stream_query(PER_THREAD)], [SUCCESS; 2], "both are drained");
            if seen == 3 {
                return;
            }
        }
        panic!("the kernel was never seen running");
    }

    fn a_busy_stream_aside_does_not_keep_the_default_stream_busy() {
        let _guard = guard();
        let (cells, aside, event) = (work::Cells::new(1), work::aside(), work::untimed());
        for _ in 0..20 {
            cells.step_for(*aside, 0, 1, LONG);
            ok!(event_record(*event, *aside));
            let (legacy, own) = (stream_query(LEGACY), stream_query(PER_THREAD));
            assert_eq!((legacy, own), (SUCCESS, SUCCESS));
            ok!(stream_synchronize(LEGACY));
            let overtaken = event_query(*event) == NOT_READY;
            work::comes_to_its_end(*aside);
            if overtaken {
                return;
            }
        }
        panic!("the default stream was never through before the stream aside");
    }

    fn the_thread_handle_works_in_every_call() {
        let _guard = guard();
        let (cells, aside, event, stop) = (work::Cells::new(3), work::aside(), work::timed(), work::timed());
        ok!(event_record(*event, PER_THREAD));
        cells.step(PER_THREAD, 0, 5);
        ok!(event_record(*stop, PER_THREAD));
        ok!(stream_wait_event(*aside, *stop, 0));
        cells.step(*aside, 0, 6);
        ok!(event_record(*stop, *aside));
        ok!(stream_wait_event(PER_THREAD, *stop, 0));
        cells.copy(PER_THREAD, 1, 0);
        cells.set(PER_THREAD, 2, 0x44);
        let mut value = 0u32;
        ok!(unsafe { memcpy_async((&raw mut value).cast(), cells.at(1), 4, DEVICE_TO_HOST, PER_THREAD) });
        assert_eq!(value, stepped(5, 6), "the copy is complete when the call returns");
        ok!(stream_synchronize(PER_THREAD));
        ok!(stream_query(PER_THREAD));
        assert_eq!(cells.all(), [stepped(5, 6), stepped(5, 6), filled(0x44)]);
        let mut ms = 0.0;
        ok!(unsafe { event_elapsed_time(&mut ms, *event, *stop) });
        assert!(ms > 0.0);
    }

    fn default_streams_cannot_be_destroyed() {
        let _guard = guard();
        let cells = work::Cells::new(1);
        for stream in [LEGACY, without_provenance_mut(1), PER_THREAD] {
            cells.step(stream, 0, 1);
            let value = format!("stream = {:#x}", stream.addr());
            fails!(stream_destroy(stream), INVALID_HANDLE, "cannot be destroyed", &value);
            cells.step(stream, 0, 2);
            ok!(stream_synchronize(stream));
        }
        assert_eq!(cells.get(0), (0..3).fold(0, |value, _| stepped(stepped(value, 1), 2)));
    }

    fn the_thread_handle_works_after_a_reset() {
        let _guard = guard();
        for round in 0..3 {
            let cells = work::Cells::new(1);
            let event = work::timed();
            cells.step(PER_THREAD, 0, round);
            ok!(event_record(*event, PER_THREAD));
            assert_eq!(cells.get(0), round);
            // What is lost with the reset needs no destruction.
            std::mem::forget((cells, event));
            ok!(device_reset());
            ok!(stream_query(PER_THREAD));
            ok!(stream_synchronize(PER_THREAD));
            ok!(stream_query(LEGACY));
        }
        let cells = work::Cells::new(1);
        cells.step(PER_THREAD, 0, 8);
        cells.step(LEGACY, 0, 9);
        assert_eq!(cells.get(0), stepped(8, 9));
    }

    fn a_thread_that_ends_leaves_its_work_behind_in_order() {
        let _guard = guard();
        let cells = work::Cells::new(1);
        let mut expected = 0;
        for round in 0..30 {
            std::thread::scope(|scope| {
                let cells = &cells;
                scope.spawn(move || cells.step(PER_THREAD, 0, round)).join().unwrap();
            });
            cells.step(LEGACY, 0, 70);
            expected = stepped(stepped(expected, round), 70);
        }
        assert_eq!(cells.get(0), expected);
    }

    fn streams_of_threads_are_of_the_current_device() {
        let _guard = guard();
        if Device::count() < 2 {
            return eprintln!("needs two devices");
        }
        let cells = work::Cells::new(1);
        let gate = hold_legacy();
        cells.step(PER_THREAD, 0, 1);
        assert_eq!(stream_query(PER_THREAD), NOT_READY);
        ok!(set_device(1));
        assert_eq!(stream_query(PER_THREAD), SUCCESS, "the thread has a stream on each device");
        let far = work::Cells::new(1);
        far.step(PER_THREAD, 0, 2);
        ok!(stream_synchronize(PER_THREAD));
        assert_eq!(far.get(0), 2);
        drop(far);
        ok!(set_device(0));
        gate.open();
        ok!(device_synchronize());
    }

    /// With two devices a stream of the first can be held by the second, which no stream of the first waits for.
    fn a_held_stream_of_one_thread_does_not_hold_up_that_of_another() {
        let _guard = guard();
        if Device::count() < 2 {
            return eprintln!("needs two devices");
        }
        let cells = work::Cells::new(2);
        ok!(set_device(1));
        let gate = Gate::close(&Device::get(1).unwrap().default_stream().unwrap()).unwrap();
        let event = work::untimed();
        ok!(event_record(*event, LEGACY));
        ok!(set_device(0));
        ok!(stream_wait_event(PER_THREAD, *event, 0));
        cells.step(PER_THREAD, 0, 1);
        std::thread::scope(|scope| {
            let cells = &cells;
            scope.spawn(move || {
                cells.step(PER_THREAD, 1, 2);
                work::comes_to_its_end(PER_THREAD);
                assert_eq!(cells.peek(1), 2);
            }).join().unwrap();
        });
        cells.held(PER_THREAD);
        assert_eq!(stream_query(LEGACY), NOT_READY, "the default stream is about all threads' streams");
        cells.step(LEGACY, 0, 3);
        cells.held(LEGACY);
        gate.open();
        assert_eq!(cells.all(), [stepped(1, 3), 2]);
    }
}

/// MUSA alone: TOPS has neither flags nor priorities to ask for, nor the seed's second handle.
mod musa_alone {
    use super::*;
    use crate::dialects::musa::*;
    use gridcl::musa::{musaStreamGetFlags, musaStreamGetPriority, musaStreamLegacy};

    #[test]
    fn the_seeds_handle_is_the_threads_stream_too() {
        let _guard = guard();
        let cells = work::Cells::new(1);
        let seeds: Stream = without_provenance_mut(usize::MAX);
        let gate = hold_legacy();
        cells.step(seeds, 0, 1);
        cells.held(PER_THREAD);
        gate.open();
        cells.step(PER_THREAD, 0, 2);
        ok!(stream_synchronize(seeds));
        assert_eq!(cells.get(0), stepped(1, 2));
        fails!(stream_destroy(seeds), INVALID_HANDLE, "cannot be destroyed");
    }

    #[test]
    fn default_streams_have_flags_and_a_priority() {
        let _guard = guard();
        for stream in [LEGACY, musaStreamLegacy, PER_THREAD] {
            let (mut flags, mut priority) = (77, 77);
            ok!(unsafe { musaStreamGetFlags(stream, &mut flags) });
            ok!(unsafe { musaStreamGetPriority(stream, &mut priority) });
            assert_eq!((flags, priority), (StreamFlags::empty().bits(), 0));
        }
    }
}

/// TOPS alone: -1 is a handle of MUSA's seed.
#[test]
fn tops_knows_no_stream_minus_1() {
    use crate::dialects::tops::*;
    let _guard = guard();
    fails!(stream_query(without_provenance_mut(usize::MAX)), INVALID_HANDLE, "not a stream of this dialect");
}
