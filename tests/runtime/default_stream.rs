//! What the default stream is ordered with (TOPS 7.4; behaviour.md 2.3 rows 1, 2, 4, 10 and 13).
//!
//! The programs tell by their result in which order their actions ran (see [`crate::work`]); each is run many times,
//! and where a gate holds the first action back the second is seen not to run. What the default stream is *not*
//! ordered with stands in [`crate::unordered`].

use crate::support::{Latch, device, gated, in_time, wait_until};
use crate::work::{BRISK, filled, hold_legacy, stepped};
use gridcl::testing::guard;
use gridcl::{Device, testing::Gate};
use std::ffi::c_void;

/// What a program can put into a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Launch,
    Copy,
    Set,
    Record,
    Wait,
}

const ACTS: [Act; 5] = [Act::Launch, Act::Copy, Act::Set, Act::Record, Act::Wait];

/// What cell 1 holds in the programs here.
const SOURCE: u32 = filled(0x5A);

both_dialects! {
    fn kernels_in_s_then_0_then_s_run_one_after_another() {
        let _guard = guard();
        let (cells, s) = (work::Cells::new(1), work::blocking());
        let mut expected = 0;
        for s in [*s, PER_THREAD] {
            for round in 0..50 {
                for (stream, number) in [(s, 1), (LEGACY, 2), (s, 3)] {
                    cells.step(stream, 0, number);
                    expected = stepped(expected, number);
                }
                assert_eq!(cells.get(0), expected, "round {round}");
            }
        }
    }

    fn kernels_in_0_then_s_then_0_run_one_after_another_without_a_synchronisation() {
        let _guard = guard();
        let (cells, s) = (work::Cells::new(1), work::blocking());
        let mut expected = 0;
        for number in 0..100 {
            for stream in [LEGACY, *s, LEGACY, PER_THREAD] {
                cells.step(stream, 0, number);
                expected = stepped(expected, number);
            }
        }
        assert_eq!(cells.get(0), expected);
    }

    /// A long program in the first stream, an action of each kind at its end, and one of each kind in the second.
    fn every_action_waits_for_every_action_of_the_stream_it_is_ordered_with() {
        let _guard = guard();
        let cells = work::Cells::new(4);
        let (s, x, aside, reader) = (work::blocking(), work::blocking(), work::aside(), work::aside());
        let early = work::untimed();
        ok!(event_record(*early, *aside));
        for (first, second) in [(LEGACY, *s), (*s, LEGACY), (LEGACY, PER_THREAD), (PER_THREAD, LEGACY)] {
            for (a, b) in ACTS.into_iter().flat_map(|a| ACTS.map(|b| (a, b))) {
                // A wait in a blocking stream adds no other wait (row 13).
                if b == Act::Wait && second != LEGACY {
                    continue;
                }
                for round in 0..50 {
                    let event = if round % 2 == 0 { work::untimed() } else { work::timed() };
                    cells.clear();
                    cells.set(LEGACY, 1, 0x5A);
                    ok!(device_synchronize());
                    if round % 4 < 2 {
                        cells.step(first, 3, 1);
                    } else {
                        // The second stream is even with the first: what it waits for is the next action alone.
                        cells.step_for(first, 3, 1, BRISK);
                        cells.step_for(second, 3, 2, BRISK);
                    }
                    let mut value = stepped(0, 5);
                    match a {
                        Act::Launch => cells.step(first, 0, 5),
                        Act::Copy => {
                            cells.copy(first, 0, 1);
                            value = SOURCE;
                        }
                        Act::Set => {
                            cells.set(first, 0, 0x11);
                            value = filled(0x11);
                        }
                        Act::Record => {
                            // In the default stream a record stands for all blocking streams.
                            cells.step(if first == LEGACY { *x } else { first }, 0, 5);
                            ok!(event_record(*event, first));
                        }
                        Act::Wait => {
                            cells.step(*aside, 0, 5);
                            ok!(event_record(*event, *aside));
                            ok!(stream_wait_event(first, *event, 0));
                        }
                    }
                    let (cell, value) = match b {
                        Act::Launch => {
                            cells.step(second, 0, 7);
                            (0, stepped(value, 7))
                        }
                        Act::Copy => {
                            cells.copy(second, 2, 0);
                            (2, value)
                        }
                        Act::Set => {
                            cells.set(second, 0, 0x22);
                            (0, filled(0x22))
                        }
                        Act::Record => {
                            ok!(event_record(*event, second));
                            ok!(stream_wait_event(*reader, *event, 0));
                            cells.copy(*reader, 2, 0);
                            (2, value)
                        }
                        Act::Wait => {
                            ok!(stream_wait_event(second, *early, 0));
                            cells.step(if first == *s { *x } else { *s }, 0, 7);
                            (0, stepped(value, 7))
                        }
                    };
                    assert_eq!(cells.all()[cell], value, "{a:?} in {first:?}, {b:?} in {second:?}, round {round}");
                }
            }
        }
    }

    /// Every stream held in turn, each action in it and each in every other stream: what has an order waits, and what
    /// has none does not.
    fn every_cell_of_the_table_is_ordered_or_is_not() {
        unsafe extern "C" fn pass(_: Stream, _: Code, user: *mut c_void) {
            unsafe { Latch::pass(user) };
        }
        let _guard = guard();
        let cells = work::Cells::new(6);
        let made = [work::blocking(), work::blocking(), work::aside(), work::aside()];
        let [s, t, aside, apart] = [*made[0], *made[1], *made[2], *made[3]];
        let (probe, early) = (work::blocking(), work::untimed());
        ok!(event_record(*early, apart));
        let act = |act: Act, stream: Stream, cell: usize, event: Event| match act {
            Act::Launch => cells.step_for(stream, cell, 5, BRISK),
            Act::Copy => cells.copy(stream, cell, 5),
            Act::Set => cells.set(stream, cell, 0x5A),
            Act::Record => ok!(event_record(event, stream)),
            Act::Wait => ok!(stream_wait_event(stream, *early, 0)),
        };
        let streams = [LEGACY, PER_THREAD, s, t, aside, apart];
        let pairs = streams.into_iter().flat_map(|first| streams.map(|second| (first, second)));
        for (first, second) in pairs.filter(|(first, second)| first != second) {
            let is_aside = |stream: Stream| stream == aside || stream == apart;
            let related = (first == LEGACY || second == LEGACY) && !is_aside(first) && !is_aside(second);
            for (a, b) in ACTS.into_iter().flat_map(|a| ACTS.map(|b| (a, b))) {
                let what = format!("{a:?} in {first:?}, {b:?} in {second:?}");
                cells.clear();
                cells.set(LEGACY, 5, 0x5A);
                ok!(device_synchronize());
                let (latch, event, other) = (Latch::default(), work::untimed(), work::untimed());
                ok!(unsafe { stream_add_callback(first, Some(pass), latch.user(), 0) });
                act(a, first, 0, *other);
                act(b, second, 1, *event);
                let expected = match b {
                    Act::Launch => 5,
                    Act::Copy | Act::Set => SOURCE,
                    // What comes after the record, and after the wait, tells.
                    Act::Record => {
                        let after = if first == apart { aside } else { apart };
                        ok!(stream_wait_event(after, *event, 0));
                        cells.step_for(after, 1, 5, BRISK);
                        5
                    }
                    Act::Wait => {
                        let after = if second == LEGACY { *probe } else { second };
                        // In a blocking stream a wait adds no other one (row 13), but what follows it does.
                        cells.step_for(after, 1, 5, BRISK);
                        5
                    }
                };
                if related {
                    for _ in 0..2 {
                        cells.look_around();
                        assert_eq!(cells.peek(1), 0, "{what}: waits");
                    }
                } else {
                    wait_until(&what, || cells.peek(1) == expected);
                }
                drop(latch);
                let code = in_time(&what, || device_synchronize());
                assert_eq!(code, SUCCESS);
                assert_eq!(cells.peek(1), expected, "{what}");
            }
        }
    }

    fn any_action_of_the_default_stream_stands_between_two_blocking_streams() {
        let _guard = guard();
        let cells = work::Cells::new(4);
        let (s, t, aside) = (work::blocking(), work::blocking(), work::aside());
        let early = work::untimed();
        ok!(event_record(*early, *aside));
        for (before, after) in [(*s, *t), (PER_THREAD, *t), (*s, PER_THREAD)] {
            for act in ACTS {
                for round in 0..50 {
                    let event = if round % 2 == 0 { work::untimed() } else { work::timed() };
                    cells.clear();
                    cells.step(before, 0, 5);
                    match act {
                        Act::Launch => cells.step_for(LEGACY, 1, 1, 0),
                        Act::Copy => cells.copy(LEGACY, 1, 2),
                        Act::Set => cells.set(LEGACY, 1, 1),
                        Act::Record => ok!(event_record(*event, LEGACY)),
                        Act::Wait => ok!(stream_wait_event(LEGACY, *early, 0)),
                    }
                    cells.step(after, 0, 7);
                    assert_eq!(cells.all()[0], stepped(stepped(0, 5), 7), "{act:?} between, round {round}");
                }
            }
        }
    }

    fn the_default_stream_waits_for_every_one_of_many_blocking_streams() {
        let _guard = guard();
        let (cells, streams) = (work::Cells::new(10), [0; 4].map(|_| work::blocking()));
        for round in 0..20 {
            cells.clear();
            for (cell, stream) in streams.iter().map(|stream| **stream).chain([PER_THREAD]).enumerate() {
                cells.step(stream, cell, 1);
            }
            for cell in 0..5 {
                cells.copy(LEGACY, 5 + cell, cell);
            }
            // And every one of them waits for it.
            for (cell, stream) in streams.iter().map(|stream| **stream).chain([PER_THREAD]).enumerate() {
                cells.step(stream, 5 + cell, cell as u32);
            }
            let expected = [1, 1, 1, 1, 1, 3, 4, 5, 6, 7];
            assert_eq!(cells.all(), expected, "round {round}");
        }
    }

    fn a_held_default_stream_holds_back_later_work_of_blocking_streams() {
        let _guard = guard();
        let cells = work::Cells::new(4);
        let (used, event) = (work::blocking(), work::untimed());
        cells.step(*used, 0, 1);
        for act in ACTS.into_iter().filter(|&act| act != Act::Wait) {
            cells.clear();
            cells.set(LEGACY, 3, 0x5A);
            ok!(device_synchronize());
            let gate = hold_legacy();
            // Also a stream that is made while the default stream is busy.
            let fresh = work::blocking();
            for (stream, cell) in [(*used, 0), (*fresh, 1), (PER_THREAD, 2)] {
                match act {
                    Act::Launch => cells.step(stream, cell, 9),
                    Act::Copy => cells.copy(stream, cell, 3),
                    Act::Set => cells.set(stream, cell, 0x77),
                    _ => {
                        ok!(event_record(*event, stream));
                        cells.held_event(*event);
                    }
                }
                cells.held(stream);
            }
            assert_eq!([cells.peek(0), cells.peek(1), cells.peek(2)], [0; 3], "{act:?} waits");
            gate.open();
            work::completes(*event);
            let value = match act {
                Act::Launch => 9,
                Act::Copy => SOURCE,
                Act::Set => filled(0x77),
                _ => 0,
            };
            assert_eq!(cells.all(), [value, value, value, SOURCE], "{act:?}");
        }
    }

    fn a_held_blocking_stream_holds_back_the_default_stream_and_what_follows_it() {
        let _guard = guard();
        let cells = work::Cells::new(3);
        let (s, aside, early, event) = (work::blocking(), work::aside(), work::untimed(), work::untimed());
        ok!(event_record(*early, *aside));
        for act in ACTS {
            cells.clear();
            let (_held, gate) = gated(device());
            match act {
                Act::Launch => cells.step(LEGACY, 1, 1),
                Act::Copy => cells.copy(LEGACY, 1, 2),
                Act::Set => cells.set(LEGACY, 1, 1),
                Act::Record => ok!(event_record(*event, LEGACY)),
                Act::Wait => ok!(stream_wait_event(LEGACY, *early, 0)),
            }
            cells.step(*s, 0, 5);
            cells.step(PER_THREAD, 2, 5);
            for stream in [LEGACY, *s, PER_THREAD] {
                cells.held(stream);
            }
            assert_eq!([cells.peek(0), cells.peek(1), cells.peek(2)], [0; 3], "{act:?} holds back what follows");
            gate.open();
            assert_eq!(cells.all()[0], stepped(0, 5));
        }
    }

    fn a_wait_that_asks_for_nothing_more_counts_as_an_action_of_the_default_stream() {
        let _guard = guard();
        let (cells, s, aside) = (work::Cells::new(1), work::blocking(), work::aside());
        for early in [work::untimed(), work::timed()] {
            // Recorded where nothing is left to do, and recorded in passing.
            for busy in [false, true] {
                if busy {
                    cells.look_around();
                    cells.step(*aside, 0, 0);
                }
                ok!(event_record(*early, *aside));
                work::comes_to_its_end(*aside);
                let (_held, gate) = gated(device());
                ok!(stream_wait_event(LEGACY, *early, 0));
                cells.step(*s, 0, 0);
                cells.held(*s);
                gate.open();
                work::comes_to_its_end(LEGACY);
            }
        }
    }

    fn a_stream_that_is_given_up_busy_is_waited_for_all_the_same() {
        let _guard = guard();
        let cells = work::Cells::new(1);
        let (held, gate) = gated(device());
        drop(held);
        cells.step(LEGACY, 0, 4);
        cells.held(LEGACY);
        assert_eq!(cells.peek(0), 0);
        gate.open();
        let mut expected = stepped(0, 4);
        assert_eq!(cells.get(0), expected);
        for round in 0..30 {
            let s = work::blocking();
            cells.step(*s, 0, round);
            drop(s);
            cells.step(LEGACY, 0, 2);
            expected = stepped(stepped(expected, round), 2);
            assert_eq!(cells.get(0), expected, "round {round}");
        }
    }

    fn a_wait_in_a_blocking_stream_adds_no_wait_for_the_default_stream() {
        let _guard = guard();
        let (cells, aside) = (work::Cells::new(1), work::aside());
        for early in [work::untimed(), work::timed()] {
            let s = work::blocking();
            cells.step(*aside, 0, 1);
            ok!(event_record(*early, *aside));
            let gate = hold_legacy();
            for stream in [*s, PER_THREAD] {
                ok!(stream_wait_event(stream, *early, 0));
                work::comes_to_its_end(stream);
                // The next action waits as ever.
                cells.step(stream, 0, 1);
                cells.held(stream);
            }
            gate.open();
            ok!(device_synchronize());
        }
    }

    fn threads_share_the_default_stream() {
        let _guard = guard();
        let cells = work::Cells::new(1);
        let mut expected = 0;
        std::thread::scope(|scope| {
            let cells = &cells;
            for round in 0..20 {
                // The host alone says which comes first; nothing waits for the device.
                scope.spawn(move || cells.step(LEGACY, 0, round)).join().unwrap();
                cells.step(std::ptr::without_provenance_mut(1), 0, 40 + round);
                expected = stepped(stepped(expected, round), 40 + round);
            }
        });
        assert_eq!(cells.get(0), expected);

        let gate = hold_legacy();
        std::thread::scope(|scope| {
            let cells = &cells;
            scope.spawn(move || {
                cells.step(LEGACY, 0, 1);
                cells.held(LEGACY);
            });
        });
        gate.open();
        assert_eq!(cells.get(0), stepped(expected, 1));
    }

    fn default_streams_of_two_devices_are_independent() {
        let _guard = guard();
        if Device::count() < 2 {
            return eprintln!("needs two devices");
        }
        let gate = Gate::close(&device().default_stream().unwrap()).unwrap();
        ok!(set_device(1));
        let (cells, s) = (work::Cells::new(1), work::blocking());
        for stream in [LEGACY, *s, PER_THREAD, LEGACY] {
            cells.step(stream, 0, 3);
            work::comes_to_its_end(stream);
        }
        assert_eq!(cells.get(0), (0..4).fold(0, |value, _| stepped(value, 3)));
        ok!(device_synchronize());
        assert_eq!(stream_query(LEGACY), SUCCESS);
        ok!(set_device(0));
        assert_eq!(stream_query(LEGACY), NOT_READY, "the same handle is another stream now");
        gate.open();
        work::comes_to_its_end(LEGACY);
        ok!(set_device(1));
        drop(cells);
        ok!(set_device(0));
    }
}
