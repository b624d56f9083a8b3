//! Streams: creation, query, synchronisation and waits (TOPS 7.2, MUSA "streams"; behaviour.md 3.8 without callbacks).
//! How they end stands in [`crate::stream_ends`].

use crate::support::{gated, wait_until};
use crate::work::{SLOW, filled, hold_legacy, stepped};
use gridcl::Device;
use gridcl::testing::{count_calls, guard};
use std::ffi::c_int;
use std::ptr::{null_mut, without_provenance_mut};

both_dialects! {
    fn creation_wants_a_place_for_the_handle() {
        let _guard = guard();
        fails!(unsafe { stream_create(null_mut()) }, INVALID_VALUE, "StreamCreate: ", "tream = null");
        fails!(unsafe { stream_create_with_flags(null_mut(), 0) }, INVALID_VALUE, "WithFlags: ", "tream = null");
        // The place comes first.
        fails!(unsafe { stream_create_with_flags(null_mut(), 0xFF) }, INVALID_VALUE, "tream = null");
        let mut stream = null_mut();
        ok!(unsafe { stream_create(&mut stream) });
        assert!(!stream.is_null());
        ok!(stream_destroy(stream));
    }

    fn flags_that_are_unknown_make_nothing() {
        let _guard = guard();
        let untouched: Stream = without_provenance_mut(0x77);
        for flags in [0xFF, 2, 8, 0x8000_0000, u32::MAX, 2 | NON_BLOCKING] {
            let mut stream = untouched;
            let value = format!("flags = {flags:#x}: bits ");
            fails!(unsafe { stream_create_with_flags(&mut stream, flags) }, INVALID_VALUE, "WithFlags: ", &value);
            assert_eq!(stream, untouched, "nothing is written");
        }
        let mut stream = untouched;
        ok!(unsafe { stream_create_with_flags(&mut stream, NON_BLOCKING) });
        ok!(stream_destroy(stream));
    }

    fn every_stream_has_a_handle_of_its_own() {
        let _guard = guard();
        let mut seen = std::collections::BTreeSet::from([0, 1, 2, usize::MAX]);
        for _ in 0..100 {
            // Handles of dead streams are never given again.
            assert!(seen.insert(work::blocking().addr()) && seen.insert(work::aside().addr()));
        }
    }

    fn a_new_stream_is_done_and_its_synchronisation_returns_at_once() {
        let _guard = guard();
        for stream in [work::blocking(), work::aside()] {
            ok!(stream_query(*stream));
            ok!(stream_synchronize(*stream));
        }
        let ((), calls) = count_calls(|| {
            let stream = work::blocking();
            ok!(stream_query(*stream));
            ok!(stream_synchronize(*stream));
        });
        assert_eq!(calls, [], "a stream without work costs OpenCL nothing");
    }

    fn a_query_tells_pending_work_and_records_no_error() {
        let _guard = guard();
        let (cells, s) = (work::Cells::new(1), work::blocking());
        let _ = get_last_error();
        let gate = hold_legacy();
        assert_eq!(stream_query(*s), SUCCESS);
        cells.step(*s, 0, 1);
        for _ in 0..3 {
            assert_eq!(stream_query(*s), NOT_READY);
            assert_eq!((peek_at_last_error(), get_last_error()), (SUCCESS, SUCCESS));
        }
        // An error that is there stays.
        assert_eq!(stream_query(without_provenance_mut(0x1234_5678)), INVALID_HANDLE);
        assert_eq!(stream_query(*s), NOT_READY);
        assert_eq!(get_last_error(), INVALID_HANDLE);
        gate.open();
        work::comes_to_its_end(*s);
        assert_eq!(cells.get(0), 1);
    }

    /// chipStar#1542: polling must not put anything more into the stream that it polls.
    fn polling_a_busy_stream_enqueues_one_marker_at_most() {
        let _guard = guard();
        let (cells, s) = (work::Cells::new(1), work::blocking());
        let gate = hold_legacy();
        cells.step(*s, 0, 1);
        for stream in [*s, LEGACY] {
            let ((), calls) = count_calls(|| (0..100).for_each(|_| assert_eq!(stream_query(stream), NOT_READY)));
            let enqueued: u64 =
                calls.iter().filter(|(entry, _)| entry.starts_with("clEnqueue")).map(|(_, count)| count).sum();
            assert!(enqueued <= 1, "{calls:?}");
        }
        gate.open();
        ok!(device_synchronize());
    }

    fn a_synchronisation_returns_when_the_work_is_done() {
        let _guard = guard();
        let (cells, s) = (work::Cells::new(1), work::blocking());
        let mut expected = 0;
        for number in 0..50 {
            cells.step(*s, 0, number);
            expected = stepped(expected, number);
            ok!(stream_synchronize(*s));
            assert_eq!(stream_query(*s), SUCCESS);
            assert_eq!(cells.peek(0), expected);
        }
        let gate = hold_legacy();
        cells.step(*s, 0, 9);
        let handle = s.addr();
        let waiter = std::thread::spawn(move || stream_synchronize(without_provenance_mut(handle)));
        cells.look_around();
        assert!(!waiter.is_finished());
        gate.open();
        wait_until("the synchronisation", || waiter.is_finished());
        assert_eq!(waiter.join().unwrap(), SUCCESS);
        assert_eq!(cells.peek(0), stepped(expected, 9));
    }

    fn work_of_one_stream_runs_in_order() {
        let _guard = guard();
        let cells = work::Cells::new(3);
        for stream in [work::blocking(), work::aside()] {
            cells.clear();
            let mut model = [0u32; 3];
            for number in 0..60u32 {
                cells.step_for(*stream, 0, number, SLOW / 10);
                cells.copy(*stream, 1, 0);
                cells.set(*stream, 2, number as u8);
                cells.copy(*stream, 0, 2);
                cells.step_for(*stream, 0, 1, 10);
                let set = filled(number as u8);
                model = [stepped(set, 1), stepped(model[0], number), set];
            }
            ok!(stream_synchronize(*stream));
            assert_eq!(cells.all(), model);
        }
    }

    fn a_wait_checks_its_event_then_its_flags_then_its_stream() {
        let _guard = guard();
        let (cells, event, s) = (work::Cells::new(1), work::untimed(), work::blocking());
        let dead: Stream = without_provenance_mut(0x1234_5678);
        fails!(stream_wait_event(dead, null_mut(), u32::MAX), INVALID_HANDLE, "event = 0x0: null is not an event");
        fails!(stream_wait_event(dead, *event, u32::MAX), INVALID_VALUE, "flags = 0xffffffff: bits ");
        fails!(stream_wait_event(*s, *event, 2), INVALID_VALUE, "flags = 0x2: bits 0x2 are not flags");
        fails!(stream_wait_event(dead, *event, 0), INVALID_HANDLE, "stream = 0x12345678: ");
        // A wait that was refused holds nothing.
        let gate = hold_legacy();
        ok!(event_record(*event, LEGACY));
        fails!(stream_wait_event(*s, *event, 2), INVALID_VALUE, "flags");
        assert_eq!(stream_query(*s), SUCCESS);
        ok!(stream_wait_event(*s, *event, 0));
        cells.held(*s);
        gate.open();
        work::comes_to_its_end(*s);
    }

    fn a_stream_that_waits_is_busy() {
        let _guard = guard();
        let (cells, event, s, aside) = (work::Cells::new(2), work::untimed(), work::blocking(), work::aside());
        let gate = hold_legacy();
        ok!(event_record(*event, LEGACY));
        for (cell, stream) in [*s, *aside].into_iter().enumerate() {
            ok!(stream_wait_event(stream, *event, 0));
            assert_eq!(stream_query(stream), NOT_READY, "the wait is work");
            cells.step(stream, cell, 2);
            cells.held(stream);
        }
        gate.open();
        for stream in [*s, *aside] {
            work::comes_to_its_end(stream);
        }
        assert_eq!(cells.all(), [2, 2]);
    }

    /// Copies, kernels and copies back over parts of an array in pinned memory, each part in its stream (TOPS 7.2).
    fn the_program_of_the_seed_computes_each_part_in_its_stream() {
        let _guard = guard();
        const SIZE: usize = 64;
        let cells = work::Cells::new(2 * SIZE);
        let streams = [work::blocking(), work::aside()];
        let mut host = null_mut();
        ok!(unsafe { host_malloc(&mut host, 2 * SIZE * 4) });
        let values = unsafe { std::slice::from_raw_parts_mut(host.cast::<u32>(), 2 * SIZE) };
        for (index, value) in values.iter_mut().enumerate() {
            *value = index as u32;
        }
        let part = |index: usize| host.wrapping_byte_add(index * SIZE * 4);
        for (index, stream) in streams.iter().enumerate() {
            let to = cells.at(index * SIZE);
            ok!(unsafe { memcpy_async(to, part(index), SIZE * 4, HOST_TO_DEVICE, **stream) });
        }
        for (index, stream) in streams.iter().enumerate() {
            for cell in 0..SIZE {
                cells.step_for(**stream, index * SIZE + cell, 7, 10);
            }
        }
        for (index, stream) in streams.iter().enumerate() {
            let from = cells.at(index * SIZE);
            ok!(unsafe { memcpy_async(part(index), from, SIZE * 4, DEVICE_TO_HOST, **stream) });
        }
        ok!(device_synchronize());
        let values = unsafe { std::slice::from_raw_parts(host.cast::<u32>(), 2 * SIZE) };
        assert!(values.iter().enumerate().all(|(index, &value)| value == stepped(index as u32, 7)), "{values:?}");
        ok!(host_free(host));
    }

    fn a_stream_belongs_to_the_device_that_was_current_when_it_was_made() {
        let _guard = guard();
        if Device::count() < 2 {
            return eprintln!("needs two devices");
        }
        let (cells, s) = (work::Cells::new(1), work::blocking());
        ok!(set_device(1));
        // Launch, query, synchronisation and destruction do not ask which device is current.
        cells.step(*s, 0, 6);
        ok!(stream_synchronize(*s));
        ok!(stream_query(*s));
        let gate = hold_legacy();
        cells.step(*s, 0, 7);
        assert_eq!(stream_query(*s), NOT_READY, "the stream is held by its own device's default stream");
        assert_eq!(stream_query(LEGACY), SUCCESS, "which is not this device's");
        ok!(device_synchronize());
        gate.open();
        ok!(stream_synchronize(*s));
        drop(s);
        ok!(set_device(0));
        assert_eq!(cells.get(0), stepped(6, 7));
    }

    /// A launch does not look at streams that have nothing to do.
    fn idle_streams_do_not_slow_down_the_default_stream() {
        let _guard = guard();
        let cells = work::Cells::new(1);
        let calls = |cells: &work::Cells| {
            ok!(device_synchronize());
            count_calls(|| cells.step_for(LEGACY, 0, 1, 0)).1
        };
        // The first one tells the kernel object its arguments.
        calls(&cells);
        let (few, streams) = (calls(&cells), (0..300).map(|_| work::blocking()).collect::<Vec<_>>());
        for stream in &streams {
            cells.step_for(**stream, 0, 1, 0);
            ok!(stream_synchronize(**stream));
        }
        assert_eq!(calls(&cells), few);
        ok!(device_synchronize());
    }
}

mod musa_alone {
    use super::*;
    use crate::dialects::musa::*;
    use gridcl::musa::{
        musaDeviceGetStreamPriorityRange, musaStreamCreateWithPriority, musaStreamDefault, musaStreamGetFlags,
        musaStreamGetPriority, musaStreamNonBlocking,
    };

    fn range() -> (c_int, c_int) {
        let (mut least, mut greatest) = (77, 77);
        ok!(unsafe { musaDeviceGetStreamPriorityRange(&mut least, &mut greatest) });
        (least, greatest)
    }

    #[test]
    fn a_stream_tells_the_flags_it_was_made_with() {
        let _guard = guard();
        for flags in [musaStreamDefault, musaStreamNonBlocking] {
            let (mut stream, mut got, mut priority) = (null_mut(), 77, 77);
            ok!(unsafe { stream_create_with_flags(&mut stream, flags) });
            ok!(unsafe { musaStreamGetFlags(stream, &mut got) });
            ok!(unsafe { musaStreamGetPriority(stream, &mut priority) });
            assert_eq!((got, priority), (flags, 0));
            ok!(stream_destroy(stream));
        }
    }

    #[test]
    fn the_least_urgent_priority_comes_first() {
        let _guard = guard();
        let (least, greatest) = range();
        assert!(least == 0 && greatest <= -1, "{least} {greatest}");
        // One of the two may be left out.
        let mut alone = 77;
        ok!(unsafe { musaDeviceGetStreamPriorityRange(&mut alone, null_mut()) });
        assert_eq!(alone, least);
        ok!(unsafe { musaDeviceGetStreamPriorityRange(null_mut(), &mut alone) });
        assert_eq!(alone, greatest);
    }

    #[test]
    fn priorities_are_clamped_and_streams_of_all_of_them_work() {
        let _guard = guard();
        let (least, greatest) = range();
        let cells = work::Cells::new(1);
        let mut expected = 0;
        for wanted in [c_int::MIN, greatest - 1, greatest, -1, least, least + 1, c_int::MAX] {
            for flags in [musaStreamDefault, musaStreamNonBlocking] {
                let (mut stream, mut got, mut got_flags) = (null_mut(), 77, 77);
                ok!(unsafe { musaStreamCreateWithPriority(&mut stream, flags, wanted) });
                ok!(unsafe { musaStreamGetPriority(stream, &mut got) });
                ok!(unsafe { musaStreamGetFlags(stream, &mut got_flags) });
                assert_eq!((got, got_flags), (wanted.clamp(greatest, least), flags), "wanted {wanted}");
                cells.step(stream, 0, 3);
                // A timed record may change how the stream's queue is made.
                let event = work::timed();
                ok!(event_record(*event, stream));
                cells.step(stream, 0, 4);
                ok!(stream_synchronize(stream));
                expected = stepped(stepped(expected, 3), 4);
                assert_eq!(cells.peek(0), expected);
                ok!(stream_destroy(stream));
            }
        }
    }

    #[test]
    fn a_priority_does_not_excuse_wrong_arguments() {
        let _guard = guard();
        let untouched: Stream = without_provenance_mut(0x77);
        let mut stream = untouched;
        let wrong = unsafe { musaStreamCreateWithPriority(null_mut(), 0, 0) };
        assert_eq!(wrong, INVALID_VALUE);
        fails!(unsafe { musaStreamCreateWithPriority(null_mut(), 0, 0) }, INVALID_VALUE, "pStream = null");
        for flags in [u32::MAX, 4] {
            let value = format!("WithPriority: flags = {flags:#x}: bits ");
            fails!(unsafe { musaStreamCreateWithPriority(&mut stream, flags, 0) }, INVALID_VALUE, &value);
            fails!(unsafe { stream_create_with_flags(&mut stream, flags) }, INVALID_VALUE, "WithFlags: flags = ");
        }
        assert_eq!(stream, untouched, "nothing is written");
    }

    #[test]
    fn flags_and_priority_want_a_place_and_a_live_stream() {
        let _guard = guard();
        let (s, dead) = (work::blocking(), without_provenance_mut(0x1234_5678));
        let (mut flags, mut priority) = (77, 77);
        fails!(unsafe { musaStreamGetFlags(*s, null_mut()) }, INVALID_VALUE, "StreamGetFlags: flags = null");
        fails!(unsafe { musaStreamGetPriority(*s, null_mut()) }, INVALID_VALUE, "StreamGetPriority: priority = null");
        fails!(unsafe { musaStreamGetFlags(dead, &mut flags) }, INVALID_HANDLE, "stream = 0x12345678");
        fails!(unsafe { musaStreamGetPriority(dead, &mut priority) }, INVALID_HANDLE, "stream = 0x12345678");
        assert_eq!((flags, priority), (77, 77), "nothing is written");
    }

    #[test]
    fn a_wait_may_be_for_an_event_from_outside() {
        let _guard = guard();
        let (event, s) = (work::untimed(), work::blocking());
        let gate = hold_legacy();
        ok!(event_record(*event, LEGACY));
        ok!(stream_wait_event(*s, *event, gridcl::musa::musaEventWaitExternal));
        assert_eq!(stream_query(*s), NOT_READY);
        gate.open();
        work::comes_to_its_end(*s);
    }
}

mod tops_alone {
    use super::*;
    use crate::dialects::tops::*;
    use gridcl::tops::{topsStreamCallbackBlocking, topsStreamNonMerging};

    #[test]
    fn a_stream_may_be_asked_not_to_merge() {
        let _guard = guard();
        let cells = work::Cells::new(1);
        let mut expected = 0;
        for flags in [topsStreamNonMerging, topsStreamNonMerging | NON_BLOCKING] {
            let mut stream = null_mut();
            ok!(unsafe { stream_create_with_flags(&mut stream, flags) });
            let gate = hold_legacy();
            cells.step(stream, 0, 3);
            if flags & NON_BLOCKING == 0 {
                cells.held(stream);
            } else {
                work::comes_to_its_end(stream);
            }
            gate.open();
            ok!(stream_synchronize(stream));
            ok!(stream_destroy(stream));
            expected = stepped(expected, 3);
        }
        assert_eq!(cells.get(0), expected);
        let mut stream = null_mut();
        fails!(
            unsafe { stream_create_with_flags(&mut stream, topsStreamCallbackBlocking) },
            INVALID_VALUE,
            "flags = 0x2: bits 0x2"
        );
        assert!(stream.is_null());
    }

    #[test]
    fn a_wait_takes_no_flags() {
        let _guard = guard();
        let (event, s) = (work::untimed(), work::blocking());
        fails!(stream_wait_event(*s, *event, 1), INVALID_VALUE, "flags = 0x1: bits 0x1 are not flags");
    }
}

/// Both dialects' default streams are the device's, so that a program that mixes them keeps its order.
#[test]
fn the_default_stream_is_the_devices_in_both_dialects() {
    use crate::dialects::{musa, tops};
    let _guard = guard();
    let (cells, others) = (musa::work::Cells::new(1), tops::work::Cells::new(1));
    let (s, t) = (musa::work::blocking(), tops::work::blocking());
    let gate = hold_legacy();
    cells.step(musa::LEGACY, 0, 1);
    others.step(*t, 0, 1);
    others.held(*t);
    gate.open();
    assert_eq!(tops::device_synchronize(), tops::SUCCESS);
    let (held, gate) = gated(crate::support::device());
    others.step(tops::LEGACY, 0, 2);
    cells.step(*s, 0, 2);
    cells.held(*s);
    gate.open();
    assert_eq!(musa::device_synchronize(), musa::SUCCESS);
    assert!(held.is_done().unwrap());
    assert_eq!((cells.get(0), others.get(0)), (stepped(1, 2), stepped(1, 2)));
}
