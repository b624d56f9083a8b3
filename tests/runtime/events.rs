//! Events: creation, record, query and synchronisation (TOPS 7.3, MUSA "events"; behaviour.md 2.5 and 3.9 without its
//! interprocess rows). Streams that wait for them stand in [`crate::event_waits`], times in [`crate::timing`].

use crate::support::{PATIENCE, device, gated, in_time, wait_until};
use crate::work::{filled, gated_aside, hold_legacy, stepped};
use gridcl::Device;
use gridcl::testing::{count_calls, guard};
use std::ptr::{null_mut, without_provenance_mut};
use std::time::{Duration, Instant};

/// The most that a thread may run while it waits for ten times as long.
const AWAKE: Duration = Duration::from_millis(30);

/// For how long the calling thread has run.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) }, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

both_dialects! {
    fn creation_wants_a_place_for_the_handle() {
        let _guard = guard();
        fails!(unsafe { event_create(null_mut()) }, INVALID_VALUE, "EventCreate: ", "event = null");
        fails!(unsafe { event_create_with_flags(null_mut(), 0) }, INVALID_VALUE, "WithFlags: ", "event = null");
        let mut event = null_mut();
        ok!(unsafe { event_create(&mut event) });
        assert!(!event.is_null());
        ok!(event_destroy(event));
    }

    fn flags_that_are_known_make_events_that_work() {
        let _guard = guard();
        let (cells, s) = (work::Cells::new(1), work::blocking());
        for flags in [0, EVENT_BLOCKING_SYNC, EVENT_DISABLE_TIMING, EVENT_BLOCKING_SYNC | EVENT_DISABLE_TIMING] {
            let event = work::point(flags);
            let gate = hold_legacy();
            cells.step(*s, 0, 1);
            ok!(event_record(*event, *s));
            cells.held_event(*event);
            gate.open();
            ok!(event_synchronize(*event));
            ok!(event_query(*event));
            assert_eq!(stream_query(*s), SUCCESS, "flags {flags:#x}");
        }
    }

    fn flags_that_are_unknown_make_nothing() {
        let _guard = guard();
        let untouched: Event = without_provenance_mut(0x77);
        for flags in [0x0800_0000, 0x100, 0x0800_0000 | EVENT_DISABLE_TIMING] {
            let mut event = untouched;
            let (value, bits) = (format!("flags = {flags:#x}"), format!("bits {:#x}", flags & !EVENT_DISABLE_TIMING));
            fails!(unsafe { event_create_with_flags(&mut event, flags) }, INVALID_VALUE, &value, &bits);
            assert_eq!(event, untouched, "nothing is written");
        }
        // An event for other processes keeps no time.
        let mut event = untouched;
        fails!(unsafe { event_create_with_flags(&mut event, 4) }, INVALID_VALUE, "flags = 0x4");
        assert_eq!(event, untouched, "nothing is written");
        drop(work::timed());
    }

    fn an_event_that_was_never_recorded_is_complete() {
        let _guard = guard();
        let (cells, s) = (work::Cells::new(1), work::blocking());
        for event in [work::timed(), work::untimed()] {
            let gate = hold_legacy();
            ok!(event_query(*event));
            let handle = event.addr();
            assert_eq!(in_time("the wait", move || event_synchronize(without_provenance_mut(handle))), SUCCESS);
            ok!(stream_wait_event(*s, *event, 0));
            assert_eq!(stream_query(*s), SUCCESS, "the wait asks for nothing");
            gate.open();
        }
        cells.step(*s, 0, 3);
        assert_eq!(cells.get(0), 3);
    }

    fn a_record_is_pending_until_the_work_before_it_is_done() {
        let _guard = guard();
        let _ = get_last_error();
        let (cells, s) = (work::Cells::new(1), work::blocking());
        for event in [work::timed(), work::untimed()] {
            let gate = hold_legacy();
            for stream in [LEGACY, *s, PER_THREAD] {
                ok!(event_record(*event, stream));
                cells.held_event(*event);
                assert_eq!(get_last_error(), SUCCESS, "not ready is no error");
            }
            gate.open();
            work::completes(*event);
        }
    }

    fn a_record_does_not_wait_for_work_that_comes_after_it() {
        let _guard = guard();
        let (cells, aside) = (work::Cells::new(1), work::aside());
        for event in [work::timed(), work::untimed()] {
            cells.step(*aside, 0, 1);
            ok!(event_record(*event, *aside));
            let later = work::untimed();
            let gate = hold_legacy();
            ok!(event_record(*later, LEGACY));
            ok!(stream_wait_event(*aside, *later, 0));
            cells.step(*aside, 0, 2);
            work::completes(*event);
            cells.held(*aside);
            assert_eq!(cells.peek(0) % 3, 1, "the first step is through, the second is not");
            gate.open();
            work::comes_to_its_end(*aside);
            cells.clear();
        }
    }

    fn a_synchronisation_returns_when_the_event_is_complete() {
        let _guard = guard();
        let (cells, s) = (work::Cells::new(1), work::blocking());
        let flags = [0, EVENT_BLOCKING_SYNC, EVENT_DISABLE_TIMING];
        for event in flags.map(work::point) {
            let gate = hold_legacy();
            cells.step(*s, 0, 1);
            ok!(event_record(*event, *s));
            let handle = event.addr();
            let waiter = std::thread::spawn(move || event_synchronize(without_provenance_mut(handle)));
            cells.look_around();
            assert!(!waiter.is_finished(), "the event is pending");
            gate.open();
            wait_until("the synchronisation", || waiter.is_finished());
            assert_eq!(waiter.join().unwrap(), SUCCESS);
            assert_eq!(event_query(*event), SUCCESS);
        }
        let expected = (0..flags.len()).fold(0, |value, _| stepped(value, 1));
        assert_eq!(cells.get(0), expected);
    }

    /// Intel's and NVIDIA's drivers spin in their own waits.
    fn who_waits_for_a_blocking_event_sleeps() {
        let _guard = guard();
        let (cells, s, aside) = (work::Cells::new(1), work::blocking(), work::aside());
        for flags in [EVENT_BLOCKING_SYNC, EVENT_BLOCKING_SYNC | EVENT_DISABLE_TIMING] {
            let event = work::point(flags);
            let gate = hold_legacy();
            cells.step(*s, 0, 1);
            ok!(event_record(*event, *s));
            let handle = event.addr();
            let (sender, begins) = std::sync::mpsc::channel();
            let waiter = std::thread::spawn(move || {
                sender.send(Instant::now()).unwrap();
                let before = cpu_time();
                let code = event_synchronize(without_provenance_mut(handle));
                (code, cpu_time() - before)
            });
            let begin = begins.recv_timeout(PATIENCE).unwrap();
            wait_until("a while to pass", || begin.elapsed() > 10 * AWAKE);
            assert!(!waiter.is_finished(), "the event is pending");
            gate.open();
            wait_until("the synchronisation", || waiter.is_finished());
            let (code, awake) = waiter.join().unwrap();
            assert_eq!((code, event_query(*event)), (SUCCESS, SUCCESS));
            assert!(awake < AWAKE, "awake for {awake:?} of {:?}", begin.elapsed());
            // What is done is waited for no time at all, and the latest record counts.
            ok!(event_synchronize(*event));
            ok!(event_record(*event, *aside));
            ok!(event_synchronize(*event));
        }
    }

    fn recording_again_moves_the_event() {
        let _guard = guard();
        let (cells, aside, s) = (work::Cells::new(1), work::aside(), work::blocking());
        for event in [work::timed(), work::untimed()] {
            // From complete to pending,
            ok!(event_record(*event, *aside));
            work::completes(*event);
            let gate = hold_legacy();
            ok!(event_record(*event, *s));
            ok!(event_record(*event, LEGACY));
            cells.held_event(*event);
            // and, in a stream that is free, from pending to complete.
            cells.step(*aside, 0, 1);
            ok!(event_record(*event, *aside));
            work::completes(*event);
            assert_eq!(stream_query(LEGACY), NOT_READY);
            gate.open();
            ok!(device_synchronize());
        }
    }

    fn handles_that_name_no_event_are_refused_by_every_call() {
        let _guard = guard();
        let (cells, s, live, bystander) = (work::Cells::new(1), work::blocking(), work::timed(), work::blocking());
        ok!(event_record(*live, *s));
        let mut dead = null_mut();
        ok!(unsafe { event_create(&mut dead) });
        ok!(event_record(dead, *s));
        ok!(event_destroy(dead));
        let mut ms = -7.0f32;
        for event in [null_mut(), dead, without_provenance_mut(0x1234_5678), bystander.cast()] {
            let value = format!("= {:#x}: ", event.addr());
            let what = if event.is_null() { "null is not an event" } else { "not an event of this dialect" };
            fails!(event_record(event, *s), INVALID_HANDLE, "EventRecord: event ", &value, what);
            fails!(event_query(event), INVALID_HANDLE, "EventQuery: event ", &value, what);
            fails!(event_synchronize(event), INVALID_HANDLE, "EventSynchronize: event ", &value, what);
            fails!(event_destroy(event), INVALID_HANDLE, "EventDestroy: event ", &value, what);
            fails!(stream_wait_event(*s, event, 0), INVALID_HANDLE, "StreamWaitEvent: event ", &value, what);
            let (start, stop) = (event, *live);
            fails!(unsafe { event_elapsed_time(&mut ms, start, stop) }, INVALID_HANDLE, "start ", &value, what);
            fails!(unsafe { event_elapsed_time(&mut ms, stop, start) }, INVALID_HANDLE, "stop ", &value, what);
        }
        assert_eq!(ms, -7.0, "nothing is written");
        // Destroying a stream as an event has not destroyed it.
        cells.step(*bystander, 0, 3);
        assert_eq!(cells.get(0), 3);
        ok!(event_query(*live));
    }

    fn a_record_wants_a_stream_that_is_alive() {
        let _guard = guard();
        let (event, mut dead) = (work::timed(), null_mut());
        ok!(unsafe { stream_create(&mut dead) });
        ok!(stream_destroy(dead));
        for stream in [dead, without_provenance_mut(0x1234_5678), (*event).cast()] {
            let value = format!("stream = {:#x}: ", stream.addr());
            fails!(event_record(*event, stream), INVALID_HANDLE, &value, "not a stream of this dialect");
        }
        let mut ms = -7.0f32;
        fails!(unsafe { event_elapsed_time(&mut ms, *event, *event) }, INVALID_HANDLE, "never recorded");
        ok!(event_record(*event, LEGACY));
        ok!(event_synchronize(*event));
    }

    /// chipStar#1542: polling must not put anything more into the stream that it polls.
    fn polling_a_pending_event_enqueues_nothing() {
        let _guard = guard();
        for event in [work::timed(), work::untimed()] {
            let gate = hold_legacy();
            ok!(event_record(*event, LEGACY));
            let ((), calls) = count_calls(|| (0..100).for_each(|_| assert_eq!(event_query(*event), NOT_READY)));
            let enqueued = calls.iter().filter(|(entry, _)| entry.starts_with("clEnqueue")).count();
            assert_eq!(enqueued, 0, "{calls:?}");
            gate.open();
            work::completes(*event);
        }
    }

    fn a_record_without_times_costs_one_marker_at_most() {
        let _guard = guard();
        let (event, s) = (work::untimed(), work::blocking());
        let gate = hold_legacy();
        ok!(event_record(*event, *s));
        let ((), calls) = count_calls(|| (0..50).for_each(|_| ok!(event_record(*event, *s))));
        let markers = calls.iter().find(|(entry, _)| entry.starts_with("clEnqueue"));
        assert_eq!(markers, None, "the marker that stands behind the stream's work serves every record");
        gate.open();
        work::completes(*event);
    }

    fn an_event_belongs_to_the_device_that_was_current_when_it_was_made() {
        let _guard = guard();
        if Device::count() < 2 {
            return eprintln!("needs two devices");
        }
        let (event, s) = (work::timed(), work::blocking());
        ok!(set_device(1));
        let far = work::blocking();
        for stream in [LEGACY, PER_THREAD, *far] {
            fails!(event_record(*event, stream), INVALID_HANDLE, "EventRecord: ", "the event belongs to device 0");
        }
        ok!(event_query(*event));
        // Its own stream, its query and its synchronisation do not ask which device is current.
        ok!(event_record(*event, *s));
        ok!(event_synchronize(*event));
        ok!(event_query(*event));
        ok!(set_device(0));
    }

    fn a_reset_ends_events() {
        let _guard = guard();
        let (mut event, mut fresh) = (null_mut(), null_mut());
        ok!(unsafe { event_create(&mut event) });
        ok!(event_record(event, LEGACY));
        ok!(device_reset());
        for call in [event_query, event_synchronize, event_destroy] {
            fails!(call(event), INVALID_HANDLE, "event = 0x", "alive");
        }
        fails!(event_record(event, LEGACY), INVALID_HANDLE, "event = 0x");
        ok!(unsafe { event_create(&mut fresh) });
        assert_ne!(event, fresh, "no handle is used twice");
        ok!(event_record(fresh, LEGACY));
        ok!(event_synchronize(fresh));
        ok!(event_destroy(fresh));
    }

    fn a_held_stream_aside_does_not_hold_an_event_of_the_default_stream() {
        let _guard = guard();
        let (cells, event) = (work::Cells::new(1), work::untimed());
        let (held, gate) = gated_aside();
        cells.set(LEGACY, 0, 0x12);
        ok!(event_record(*event, LEGACY));
        work::completes(*event);
        assert_eq!(cells.peek(0), filled(0x12));
        assert!(!held.is_done().unwrap());
        gate.open();
        held.synchronize().unwrap();

        let (held, gate) = gated(device());
        ok!(event_record(*event, LEGACY));
        cells.held_event(*event);
        gate.open();
        held.synchronize().unwrap();
        work::completes(*event);
    }
}

mod musa_alone {
    use super::*;
    use crate::dialects::musa::*;
    use gridcl::musa::{musaEventRecordExternal, musaEventRecordWithFlags};

    #[test]
    fn a_record_with_flags_is_a_record() {
        let _guard = guard();
        let (cells, s) = (work::Cells::new(1), work::blocking());
        for flags in [0, musaEventRecordExternal] {
            let event = work::timed();
            let gate = hold_legacy();
            ok!(musaEventRecordWithFlags(*event, *s, flags));
            cells.held_event(*event);
            gate.open();
            ok!(event_synchronize(*event));
        }
        let event = work::timed();
        fails!(musaEventRecordWithFlags(*event, *s, 2), INVALID_VALUE, "WithFlags: flags = 0x2", "bits 0x2");
        fails!(musaEventRecordWithFlags(null_mut(), *s, 2), INVALID_HANDLE, "event = 0x0: null is not an event");
        let mut ms = 0.0;
        fails!(unsafe { event_elapsed_time(&mut ms, *event, *event) }, INVALID_HANDLE, "never recorded");
    }

    #[test]
    fn flags_of_the_other_dialect_are_unknown() {
        let _guard = guard();
        for flags in [0x8, 0x10, 0x20, 0x4000_0000, 0x8000_0000] {
            let mut event = null_mut();
            let bits = format!("bits {flags:#x} are not flags");
            fails!(unsafe { event_create_with_flags(&mut event, flags) }, INVALID_VALUE, &bits);
            assert!(event.is_null());
        }
    }
}

mod tops_alone {
    use super::*;
    use crate::dialects::tops::*;
    use gridcl::tops::{
        topsEventDisableQueryAndSync, topsEventRecordOnce, topsEventReleaseToDevice, topsEventReleaseToSystem,
        topsEventStrongOrder,
    };

    #[test]
    fn the_vendors_further_flags_are_known() {
        let _guard = guard();
        let further = [
            topsEventDisableQueryAndSync,
            topsEventRecordOnce,
            topsEventReleaseToDevice,
            topsEventReleaseToSystem,
            topsEventStrongOrder,
        ];
        let (cells, s, aside) = (work::Cells::new(1), work::blocking(), work::aside());
        for (number, flags) in further.into_iter().enumerate() {
            let event = work::point(flags | EVENT_DISABLE_TIMING);
            cells.clear();
            cells.step(*s, 0, number as u32);
            ok!(event_record(*event, *s));
            ok!(stream_wait_event(*aside, *event, 0));
            cells.step(*aside, 0, 9);
            assert_eq!(cells.all(), [stepped(number as u32, 9)], "flags {flags:#x}");
        }
    }

    #[test]
    fn an_event_is_released_to_the_device_or_to_the_system() {
        let _guard = guard();
        let mut event = null_mut();
        let both = topsEventReleaseToDevice | topsEventReleaseToSystem;
        fails!(
            unsafe { event_create_with_flags(&mut event, both) },
            INVALID_VALUE,
            "flags = 0xc0000000",
            "one at most"
        );
        assert!(event.is_null());
    }
}
