//! Streams that wait for events, of their own device and of another (TOPS 7.3, MUSA "events"; behaviour.md 2.3 row 13,
//! 3.8 StreamWaitEvent and 3.9).

use crate::support::{Latch, in_time};
use crate::work::{hold_legacy, stepped};
use gridcl::Device;
use gridcl::testing::{Gate, guard};
use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// A pair of devices of one platform and one of two, each in both directions, as far as they are there.
fn pairs() -> Vec<(i32, i32)> {
    let devices = Device::all();
    let mut pairs = Vec::new();
    for (same, what) in [(true, "one platform"), (false, "two platforms")] {
        let all = (0..devices.len()).flat_map(|a| (a + 1..devices.len()).map(move |b| (a, b)));
        let fits = |&(a, b): &(usize, usize)| (devices[a].platform() == devices[b].platform()) == same;
        match all.into_iter().find(fits) {
            Some((a, b)) => pairs.extend([(a as i32, b as i32), (b as i32, a as i32)]),
            None => eprintln!("needs two devices of {what} for part of it"),
        }
    }
    pairs
}

both_dialects! {
    /// chipStar#1258: whoever waits for an event goes on waiting for the record that it was given.
    fn a_stream_waits_for_the_record_of_the_time_of_its_call() {
        let _guard = guard();
        let (cells, free, bound) = (work::Cells::new(2), work::aside(), work::aside());
        for event in [work::timed(), work::untimed()] {
            let gate = hold_legacy();
            ok!(event_record(*event, *free));
            ok!(stream_wait_event(*free, *event, 0));
            ok!(event_record(*event, LEGACY));
            ok!(stream_wait_event(*bound, *event, 0));
            cells.step(*bound, 0, 1);
            // Recorded anew where it is complete at once: the second stream is still held, the first never is.
            ok!(event_record(*event, *free));
            work::completes(*event);
            cells.step(*free, 1, 1);
            work::comes_to_its_end(*free);
            cells.held(*bound);
            gate.open();
            work::comes_to_its_end(*bound);
        }
        assert_eq!(cells.all(), [stepped(1, 1); 2]);
    }

    fn a_pending_event_may_be_destroyed() {
        let _guard = guard();
        let (cells, bound) = (work::Cells::new(1), work::aside());
        for flags in [0, EVENT_DISABLE_TIMING] {
            let mut event = null_mut();
            ok!(unsafe { event_create_with_flags(&mut event, flags) });
            let gate = hold_legacy();
            ok!(event_record(event, LEGACY));
            ok!(stream_wait_event(*bound, event, 0));
            cells.step(*bound, 0, 1);
            let handle = event.addr();
            assert_eq!(in_time("the end", move || event_destroy(without_provenance_mut(handle))), SUCCESS);
            fails!(event_query(event), INVALID_HANDLE, "not an event of this dialect that is alive");
            cells.held(*bound);
            gate.open();
            work::comes_to_its_end(*bound);
        }
        assert_eq!(cells.get(0), stepped(1, 1));
    }

    fn an_event_outlives_the_stream_it_was_recorded_in() {
        let _guard = guard();
        let (cells, bound) = (work::Cells::new(1), work::aside());
        for (round, event) in [work::timed(), work::untimed()].into_iter().enumerate() {
            let s = work::blocking();
            let gate = hold_legacy();
            cells.step(*s, 0, 5);
            ok!(event_record(*event, *s));
            drop(s);
            ok!(stream_wait_event(*bound, *event, 0));
            cells.step(*bound, 0, 6);
            cells.held_event(*event);
            cells.held(*bound);
            gate.open();
            ok!(event_synchronize(*event));
            work::comes_to_its_end(*bound);
            let expected = (0..=round).fold(0, |value, _| stepped(stepped(value, 5), 6));
            assert_eq!(cells.get(0), expected);
            ok!(event_query(*event));
        }
    }

    fn waits_order_streams_that_nothing_else_orders() {
        let _guard = guard();
        let cells = work::Cells::new(1);
        let streams: Vec<_> = (0..4).map(|_| work::aside()).collect();
        let mut expected = 0;
        for round in 0..60 {
            let event = if round % 3 == 0 { work::timed() } else { work::untimed() };
            let (from, to) = (&streams[round % 4], &streams[(round + 1) % 4]);
            cells.step(**from, 0, round as u32);
            ok!(event_record(*event, **from));
            ok!(stream_wait_event(**to, *event, 0));
            expected = stepped(expected, round as u32);
        }
        assert_eq!(cells.all(), [expected]);
    }

    fn a_record_in_a_stream_that_waits_carries_what_it_waits_for() {
        let _guard = guard();
        let (cells, a, b, c) = (work::Cells::new(1), work::aside(), work::aside(), work::aside());
        for round in 0..20 {
            cells.clear();
            let (first, second) = (work::untimed(), work::untimed());
            cells.step(*a, 0, round);
            ok!(event_record(*first, *a));
            ok!(stream_wait_event(*b, *first, 0));
            // No work of its own in between.
            ok!(event_record(*second, *b));
            ok!(stream_wait_event(*c, *second, 0));
            cells.step(*c, 0, 7);
            work::completes(*second);
            assert_eq!(event_query(*first), SUCCESS, "the first comes before the second");
            assert_eq!(cells.all()[0], stepped(round, 7));
        }
    }

    fn a_wait_in_the_recording_stream_is_no_deadlock() {
        let _guard = guard();
        let cells = work::Cells::new(1);
        let (s, aside) = (work::blocking(), work::aside());
        for event in [work::timed(), work::untimed()] {
            for stream in [LEGACY, *s, *aside, PER_THREAD] {
                cells.clear_in(stream);
                cells.step(stream, 0, 2);
                ok!(event_record(*event, stream));
                ok!(stream_wait_event(stream, *event, 0));
                cells.step(stream, 0, 3);
                work::comes_to_its_end(stream);
                assert_eq!(cells.peek(0), stepped(2, 3));
            }
        }
    }

    fn one_event_holds_many_streams_and_one_stream_waits_for_many_events() {
        let _guard = guard();
        let cells = work::Cells::new(9);
        let (streams, last) = ((0..8).map(|_| work::aside()).collect::<Vec<_>>(), work::aside());
        let (start, ends) = (work::untimed(), (0..8).map(|_| work::untimed()).collect::<Vec<_>>());
        let gate = hold_legacy();
        ok!(event_record(*start, LEGACY));
        for (cell, (stream, end)) in streams.iter().zip(&ends).enumerate() {
            ok!(stream_wait_event(**stream, *start, 0));
            cells.step(**stream, cell, cell as u32);
            ok!(event_record(**end, **stream));
            ok!(stream_wait_event(*last, **end, 0));
        }
        cells.step(*last, 8, 1);
        for stream in &streams {
            assert_eq!(stream_query(**stream), NOT_READY);
        }
        cells.held(*last);
        gate.open();
        work::comes_to_its_end(*last);
        for stream in &streams {
            assert_eq!(stream_query(**stream), SUCCESS, "all ended before the last one");
        }
        assert_eq!(cells.all(), [0, 1, 2, 3, 4, 5, 6, 7, 1]);
    }

    fn threads_record_and_wait_for_one_event_at_once() {
        let _guard = guard();
        let (cells, event, streams) = (work::Cells::new(4), work::timed(), [0; 4].map(|_| work::aside()));
        std::thread::scope(|scope| {
            let (cells, event) = (&cells, &event);
            for (cell, stream) in streams.iter().enumerate() {
                scope.spawn(move || {
                    for number in 0..50 {
                        cells.step_for(**stream, cell, number, 100);
                        ok!(event_record(**event, **stream));
                        ok!(stream_wait_event(**stream, **event, 0));
                        work::done(event_query(**event));
                    }
                    ok!(event_synchronize(**event));
                });
            }
        });
        assert_eq!(cells.all(), [(0..50).fold(0, stepped); 4]);
        ok!(event_query(*event));
    }

    fn a_stream_waits_for_an_event_of_another_device() {
        let _guard = guard();
        if Device::count() < 2 {
            return eprintln!("needs two devices");
        }
        let (cells, s, aside) = (work::Cells::new(3), work::blocking(), work::aside());
        ok!(set_device(1));
        let (far, far_stream) = (work::Cells::new(1), work::blocking());
        for flags in [0, EVENT_DISABLE_TIMING] {
            let event = work::point(flags);
            let gate = Gate::close(&Device::get(1).unwrap().default_stream().unwrap()).unwrap();
            far.step(*far_stream, 0, 4);
            ok!(event_record(*event, *far_stream));
            ok!(set_device(0));
            for (cell, stream) in [*s, *aside, LEGACY].into_iter().enumerate() {
                ok!(stream_wait_event(stream, *event, 0));
                cells.step(stream, cell, 5);
                cells.held(stream);
            }
            // Neither a new record nor the event's end changes what is waited for.
            ok!(set_device(1));
            let free = work::aside();
            ok!(event_record(*event, *free));
            work::completes(*event);
            drop(event);
            ok!(set_device(0));
            cells.held(*aside);
            assert_eq!([cells.peek(0), cells.peek(1), cells.peek(2)].map(|value| value % 3), [0, 0, 0]);
            gate.open();
            work::comes_to_its_end(LEGACY);
            work::comes_to_its_end(*aside);
            assert_eq!(cells.all(), [5; 3]);
            cells.clear();
            ok!(set_device(1));
        }
        assert_eq!(far.get(0), stepped(4, 4));
        drop(far);
        ok!(set_device(0));
    }

    /// From either device to the other, of one platform and of two: what is recorded on the one is held by a gate of
    /// the driver or by a callback, and with it whatever waits for it on the other.
    fn a_wait_leads_from_any_device_to_any_other() {
        unsafe extern "C" fn pass(_: Stream, _: Code, user: *mut c_void) {
            unsafe { Latch::pass(user) };
        }
        unsafe extern "C" fn note(_: Stream, _: Code, user: *mut c_void) {
            unsafe { &*user.cast_const().cast::<AtomicBool>() }.store(true, SeqCst);
        }
        let _guard = guard();
        for (from, to) in pairs() {
            ok!(set_device(from));
            let (there, busy) = (work::Cells::new(1), work::blocking());
            ok!(set_device(to));
            let here = work::Cells::new(3);
            let made = [work::blocking(), work::aside()];
            let streams = [*made[0], *made[1], LEGACY].map(|stream| (stream, AtomicBool::new(false)));
            let mut expected = (0, 0);
            for (round, flags) in [0, EVENT_DISABLE_TIMING, EVENT_BLOCKING_SYNC].into_iter().enumerate() {
                ok!(set_device(from));
                let (event, latch) = (work::point(flags), Latch::default());
                let gate = (round % 2 == 0).then(|| {
                    Gate::close(&Device::get(from as usize).unwrap().default_stream().unwrap()).unwrap()
                });
                if gate.is_none() {
                    ok!(unsafe { stream_add_callback(*busy, Some(pass), latch.user(), 0) });
                }
                there.step(*busy, 0, 4);
                ok!(event_record(*event, *busy));
                ok!(set_device(to));
                for (cell, (stream, ran)) in streams.iter().enumerate() {
                    ran.store(false, SeqCst);
                    ok!(stream_wait_event(*stream, *event, 0));
                    here.step(*stream, cell, 5);
                    ok!(unsafe { stream_add_callback(*stream, Some(note), (&raw const *ran).cast_mut().cast(), 0) });
                }
                for (stream, ran) in &streams {
                    here.held(*stream);
                    assert!(!ran.load(SeqCst), "what stands behind the wait has run");
                }
                assert_eq!(event_query(*event), NOT_READY);
                // One of these held the record.
                drop((gate, latch));
                for (stream, ran) in &streams {
                    work::comes_to_its_end(*stream);
                    assert!(ran.load(SeqCst));
                }
                expected = (stepped(expected.0, 4), stepped(expected.1, 5));
                assert_eq!(event_query(*event), SUCCESS, "it comes before what waits for it");
                assert_eq!(here.all(), [expected.1; 3]);
                assert_eq!(there.peek(0), expected.0);
            }
            drop((here, made));
            ok!(set_device(from));
            drop((there, busy));
        }
        ok!(set_device(0));
    }

    fn a_chain_through_two_devices_runs_in_order() {
        let _guard = guard();
        if Device::count() < 2 {
            return eprintln!("needs two devices");
        }
        let (near, near_stream) = (work::Cells::new(1), work::aside());
        ok!(set_device(1));
        let (far, far_stream) = (work::Cells::new(1), work::aside());
        ok!(set_device(0));
        let mut host = vec![0u32; 2];
        for round in 0..40 {
            let there = work::untimed();
            near.step(*near_stream, 0, round);
            ok!(event_record(*there, *near_stream));
            ok!(set_device(1));
            let back = work::timed();
            ok!(stream_wait_event(*far_stream, *there, 0));
            far.step(*far_stream, 0, round);
            ok!(event_record(*back, *far_stream));
            ok!(set_device(0));
            ok!(stream_wait_event(*near_stream, *back, 0));
            work::done(stream_query(*near_stream));
            if round % 8 == 7 {
                // What the last stream of the chain has done, all have done.
                ok!(stream_synchronize(*near_stream));
                assert_eq!([event_query(*there), event_query(*back)], [SUCCESS; 2]);
            }
        }
        for (value, cells) in host.iter_mut().zip([&near, &far]) {
            *value = cells.peek(0);
        }
        assert_eq!(host, [(0..40).fold(0, stepped); 2]);
        ok!(set_device(1));
        drop(far);
        ok!(set_device(0));
    }
}
