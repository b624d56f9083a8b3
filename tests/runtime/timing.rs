//! Elapsed time between events (TOPS 7.3, MUSA "event timing"; behaviour.md 3.9 the ElapsedTime rows).

use crate::support::{device, gated};
use crate::work::{LONG, SLOW, hold_legacy, stepped};
use gridcl::Device;
use gridcl::testing::guard;
use std::ptr::{null_mut, without_provenance_mut};
use std::time::Instant;

/// What a result variable holds before a call that has to leave it alone.
const UNTOUCHED: f32 = -7.0;

both_dialects! {
    fn the_time_of_a_kernel_is_positive_and_within_what_the_host_saw() {
        let _guard = guard();
        let cells = work::Cells::new(1);
        let (s, aside) = (work::blocking(), work::aside());
        // The shortest of several runs is the closest to the kernel's own time; launch and wake-up are part of it.
        let shortest = (0..3).map(|_| {
            let begin = Instant::now();
            cells.step_for(*aside, 0, 1, LONG);
            ok!(stream_synchronize(*aside));
            begin.elapsed().as_secs_f32() * 1e3
        }).fold(f32::INFINITY, f32::min);
        for stream in [LEGACY, *s, *aside, PER_THREAD] {
            let (start, stop) = (work::timed(), work::timed());
            let begin = Instant::now();
            ok!(event_record(*start, stream));
            cells.step_for(stream, 0, 1, LONG);
            ok!(event_record(*stop, stream));
            ok!(event_synchronize(*stop));
            let seen = begin.elapsed().as_secs_f32() * 1e3;
            let (mut ms, mut swapped) = (0.0, 0.0);
            ok!(unsafe { event_elapsed_time(&mut ms, *start, *stop) });
            ok!(unsafe { event_elapsed_time(&mut swapped, *stop, *start) });
            assert!(ms > shortest / 4.0, "{ms} ms for a kernel of some {shortest} ms");
            assert!(ms <= seen, "{ms} ms of {seen} ms");
            assert_eq!(swapped, -ms, "the sign tells which came first");
            // Asking again changes nothing.
            let mut again = 0.0;
            ok!(unsafe { event_elapsed_time(&mut again, *start, *stop) });
            assert_eq!(again, ms);
        }
    }

    fn an_event_is_no_time_away_from_itself() {
        let _guard = guard();
        let (event, mut ms) = (work::timed(), UNTOUCHED);
        ok!(event_record(*event, LEGACY));
        ok!(event_synchronize(*event));
        ok!(unsafe { event_elapsed_time(&mut ms, *event, *event) });
        assert_eq!(ms.to_bits(), 0.0f32.to_bits());
    }

    fn events_with_nothing_between_are_close() {
        let _guard = guard();
        let (start, stop, mut ms) = (work::timed(), work::timed(), UNTOUCHED);
        let closest = (0..10).map(|_| {
            ok!(event_record(*start, LEGACY));
            ok!(event_record(*stop, LEGACY));
            ok!(event_synchronize(*stop));
            ok!(unsafe { event_elapsed_time(&mut ms, *start, *stop) });
            ms
        }).fold(f32::INFINITY, f32::min);
        assert!((0.0..1.0).contains(&closest), "{closest} ms");
    }

    /// The seeds' own example: events in the default stream time the work of all blocking streams.
    fn events_of_the_default_stream_span_the_work_of_blocking_streams() {
        let _guard = guard();
        let (cells, streams) = (work::Cells::new(3), [work::blocking(), work::blocking()]);
        let (start, stop) = (work::timed(), work::timed());
        let (first, last) = (work::timed(), work::timed());
        ok!(event_record(*start, LEGACY));
        ok!(event_record(*first, *streams[0]));
        for (cell, stream) in streams.iter().enumerate() {
            cells.step_for(**stream, cell, 1, LONG);
        }
        ok!(event_record(*last, *streams[0]));
        ok!(event_record(*stop, LEGACY));
        ok!(event_synchronize(*stop));
        let (mut whole, mut part) = (0.0, 0.0);
        ok!(unsafe { event_elapsed_time(&mut whole, *start, *stop) });
        ok!(unsafe { event_elapsed_time(&mut part, *first, *last) });
        assert!(part > 0.0 && whole >= part, "{part} of {whole} ms");
        assert_eq!(cells.all(), [1, 1, 0]);
    }

    fn times_compare_across_streams() {
        let _guard = guard();
        let (cells, a, b) = (work::Cells::new(1), work::aside(), work::aside());
        let points: [_; 4] = std::array::from_fn(|_| work::timed());
        ok!(event_record(*points[0], *a));
        cells.step_for(*a, 0, 1, 10 * SLOW);
        ok!(event_record(*points[1], *a));
        ok!(stream_wait_event(*b, *points[1], 0));
        ok!(event_record(*points[2], *b));
        cells.step_for(*b, 0, 2, 10 * SLOW);
        ok!(event_record(*points[3], *b));
        ok!(device_synchronize());
        let between = |from: usize, to: usize| {
            let mut ms = UNTOUCHED;
            ok!(unsafe { event_elapsed_time(&mut ms, *points[from], *points[to]) });
            ms
        };
        assert!(between(0, 1) > 0.0 && between(1, 2) >= 0.0 && between(2, 3) > 0.0);
        let (sum, whole) = (between(0, 1) + between(1, 2) + between(2, 3), between(0, 3));
        assert!((sum - whole).abs() < 0.01 * whole, "{sum} and {whole} ms");
    }

    fn a_timed_record_in_a_busy_stream_keeps_the_streams_order() {
        let _guard = guard();
        let cells = work::Cells::new(1);
        for round in 0..20 {
            // A new stream each time: the first timed record may change how its queue is made.
            let (s, before) = (work::blocking(), work::untimed());
            let (start, stop) = (work::timed(), work::timed());
            cells.clear_in(*s);
            cells.step(*s, 0, round);
            ok!(event_record(*before, *s));
            ok!(event_record(*start, *s));
            cells.step(*s, 0, 5);
            ok!(event_record(*stop, *s));
            cells.step(*s, 0, 6);
            ok!(stream_synchronize(*s));
            assert_eq!(cells.peek(0), stepped(stepped(round, 5), 6), "round {round}");
            for event in [&before, &start, &stop] {
                assert_eq!(event_query(**event), SUCCESS, "round {round}");
            }
            let mut ms = UNTOUCHED;
            ok!(unsafe { event_elapsed_time(&mut ms, *start, *stop) });
            assert!(ms > 0.0, "{ms} ms in round {round}");
        }
    }

    fn a_timed_record_in_a_held_stream_is_held() {
        let _guard = guard();
        let (cells, s) = (work::Cells::new(1), work::blocking());
        let (start, stop) = (work::timed(), work::timed());
        let gate = hold_legacy();
        cells.step(*s, 0, 1);
        ok!(event_record(*start, *s));
        cells.step(*s, 0, 2);
        ok!(event_record(*stop, LEGACY));
        cells.held_event(*start);
        cells.held_event(*stop);
        assert_eq!(cells.peek(0), 0);
        gate.open();
        ok!(event_synchronize(*stop));
        assert_eq!(cells.peek(0), stepped(1, 2));
        let mut ms = UNTOUCHED;
        ok!(unsafe { event_elapsed_time(&mut ms, *start, *stop) });
        assert!(ms > 0.0, "{ms} ms");
    }

    fn a_pending_event_has_no_time_yet() {
        let _guard = guard();
        let _ = get_last_error();
        let (early, late, mut ms) = (work::timed(), work::timed(), UNTOUCHED);
        ok!(event_record(*early, LEGACY));
        ok!(event_synchronize(*early));
        let gate = hold_legacy();
        ok!(event_record(*late, LEGACY));
        for (start, stop) in [(*early, *late), (*late, *early), (*late, *late)] {
            assert_eq!(unsafe { event_elapsed_time(&mut ms, start, stop) }, NOT_READY);
        }
        assert_eq!((ms, get_last_error()), (UNTOUCHED, SUCCESS), "nothing is written, and nothing went wrong");
        gate.open();
        ok!(event_synchronize(*late));
        ok!(unsafe { event_elapsed_time(&mut ms, *early, *late) });
        assert!(ms > 0.0);
    }

    fn the_latest_record_counts() {
        let _guard = guard();
        let (cells, aside) = (work::Cells::new(1), work::aside());
        let (first, start, stop) = (work::timed(), work::timed(), work::timed());
        for event in [&first, &start] {
            ok!(event_record(**event, *aside));
        }
        cells.step(*aside, 0, 1);
        ok!(event_record(*start, *aside));
        ok!(event_record(*stop, *aside));
        ok!(stream_synchronize(*aside));
        let (mut whole, mut rest) = (UNTOUCHED, UNTOUCHED);
        ok!(unsafe { event_elapsed_time(&mut whole, *first, *stop) });
        ok!(unsafe { event_elapsed_time(&mut rest, *start, *stop) });
        assert!(0.0 <= rest && rest < whole, "{rest} of {whole} ms");
    }

    fn events_without_a_time_are_refused() {
        let _guard = guard();
        let (good, never, untimed) = (work::timed(), work::timed(), work::untimed());
        ok!(event_record(*good, LEGACY));
        ok!(event_record(*untimed, LEGACY));
        ok!(device_synchronize());
        let unrecorded_untimed = work::untimed();
        let mut ms = UNTOUCHED;
        for (event, why) in [(&never, "never recorded"), (&untimed, "without timing"), (&unrecorded_untimed, "")] {
            let event = **event;
            let pairs = [(event, *good, "start = "), (*good, event, "stop = "), (event, event, "start = ")];
            for (start, stop, name) in pairs {
                fails!(unsafe { event_elapsed_time(&mut ms, start, stop) }, INVALID_HANDLE, "ElapsedTime: ", name, why);
            }
        }
        assert_eq!(ms, UNTOUCHED, "nothing is written");
        ok!(unsafe { event_elapsed_time(&mut ms, *good, *good) });
    }

    /// A null result, dead handles, then what the events lack, and readiness last.
    fn the_checks_come_in_order() {
        let _guard = guard();
        let (pending, never, untimed) = (work::timed(), work::timed(), work::untimed());
        let dead: Event = without_provenance_mut(0x1234_5678);
        let (_held, gate) = gated(device());
        ok!(event_record(*pending, LEGACY));
        ok!(event_record(*untimed, LEGACY));
        for event in [null_mut(), dead, *never, *untimed, *pending] {
            fails!(unsafe { event_elapsed_time(null_mut(), event, event) }, INVALID_VALUE, "ms = null");
        }
        let mut ms = UNTOUCHED;
        for event in [*never, *untimed, *pending] {
            for handle in [null_mut(), dead] {
                let value = format!("{:#x}", handle.addr());
                fails!(unsafe { event_elapsed_time(&mut ms, event, handle) }, INVALID_HANDLE, "stop = ", &value);
                fails!(unsafe { event_elapsed_time(&mut ms, handle, event) }, INVALID_HANDLE, "start = ", &value);
            }
        }
        for event in [*never, *untimed] {
            fails!(unsafe { event_elapsed_time(&mut ms, *pending, event) }, INVALID_HANDLE, "stop = ");
            fails!(unsafe { event_elapsed_time(&mut ms, event, *pending) }, INVALID_HANDLE, "start = ");
        }
        assert_eq!(unsafe { event_elapsed_time(&mut ms, *pending, *pending) }, NOT_READY);
        assert_eq!(ms, UNTOUCHED);
        gate.open();
        ok!(event_synchronize(*pending));
    }

    fn times_of_two_devices_do_not_compare() {
        let _guard = guard();
        if Device::count() < 2 {
            return eprintln!("needs two devices");
        }
        let near = work::timed();
        ok!(event_record(*near, LEGACY));
        ok!(set_device(1));
        let (far, other) = (work::timed(), work::timed());
        ok!(event_record(*far, LEGACY));
        ok!(event_record(*other, LEGACY));
        let mut ms = UNTOUCHED;
        for (start, stop) in [(*near, *far), (*far, *near)] {
            fails!(unsafe { event_elapsed_time(&mut ms, start, stop) }, INVALID_HANDLE, "different devices");
        }
        assert_eq!(ms, UNTOUCHED);
        // Also before readiness, and the current device has no say.
        ok!(device_synchronize());
        ok!(set_device(0));
        let gate = hold_legacy();
        ok!(event_record(*near, LEGACY));
        fails!(unsafe { event_elapsed_time(&mut ms, *near, *far) }, INVALID_HANDLE, "different devices");
        ok!(unsafe { event_elapsed_time(&mut ms, *far, *other) });
        gate.open();
        ok!(device_synchronize());
    }
}
