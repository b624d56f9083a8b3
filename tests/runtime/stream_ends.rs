//! The end of streams: destruction while idle and while busy, dead handles, resets (TOPS 7.2, MUSA "streams";
//! behaviour.md 2.5 and the Destroy rows of 3.8).

use crate::support::{PATIENCE, in_time, wait_until};
use crate::work::{filled, hold_legacy, stepped};
use gridcl::testing::{guard, live};
use std::ptr::{null_mut, without_provenance_mut};

both_dialects! {
    fn handles_that_name_no_stream_are_refused_by_every_call() {
        let _guard = guard();
        let (cells, event) = (work::Cells::new(2), work::timed());
        let mut dead = null_mut();
        ok!(unsafe { stream_create(&mut dead) });
        cells.step(dead, 0, 5);
        ok!(stream_synchronize(dead));
        ok!(stream_destroy(dead));
        let mut value = 77u32;
        let host = (&raw mut value).cast();
        for stream in [dead, without_provenance_mut(0x1234_5678), (*event).cast()] {
            let what = format!("stream = {:#x}: it is not a stream of this dialect that is alive", stream.addr());
            fails!(stream_query(stream), INVALID_HANDLE, "StreamQuery: ", &what);
            fails!(stream_synchronize(stream), INVALID_HANDLE, "StreamSynchronize: ", &what);
            fails!(stream_destroy(stream), INVALID_HANDLE, "StreamDestroy: ", &what);
            fails!(event_record(*event, stream), INVALID_HANDLE, "EventRecord: ", &what);
            fails!(stream_wait_event(stream, *event, 0), INVALID_HANDLE, "StreamWaitEvent: ", &what);
            fails!(cells.try_step(stream, 1, 5, 0), INVALID_HANDLE, "LaunchKernel: ", &what);
            fails!(memset_async(cells.at(1), 1, 4, stream), INVALID_HANDLE, "MemsetAsync: ", &what);
            fails!(
                unsafe { memcpy_async(cells.at(1), cells.at(0), 4, DEVICE_TO_DEVICE, stream) },
                INVALID_HANDLE, "MemcpyAsync: ", &what
            );
            fails!(
                unsafe { memcpy_async(host, cells.at(0), 4, DEVICE_TO_HOST, stream) },
                INVALID_HANDLE, "MemcpyAsync: ", &what
            );
        }
        assert_eq!((cells.all(), value), (vec![5, 0], 77), "nothing ran");
        let mut ms = 0.0;
        fails!(unsafe { event_elapsed_time(&mut ms, *event, *event) }, INVALID_HANDLE, "never recorded");
        // What was refused has ended nothing.
        ok!(event_record(*event, LEGACY));
        ok!(event_synchronize(*event));
    }

    fn a_stream_is_destroyed_once() {
        let _guard = guard();
        let mut stream = null_mut();
        ok!(unsafe { stream_create(&mut stream) });
        ok!(stream_destroy(stream));
        fails!(stream_destroy(stream), INVALID_HANDLE, "StreamDestroy: stream = ", "alive");
        fails!(stream_destroy(null_mut()), INVALID_HANDLE, "StreamDestroy: stream = 0x0: default streams");
    }

    fn a_busy_stream_is_destroyed_at_once_and_its_work_is_done() {
        let _guard = guard();
        let cells = work::Cells::new(2);
        for synchronize in [|| device_synchronize(), || stream_synchronize(LEGACY)] {
            cells.clear();
            let mut stream = null_mut();
            ok!(unsafe { stream_create(&mut stream) });
            let gate = hold_legacy();
            for number in 1..=3 {
                cells.step(stream, 0, number);
            }
            cells.copy(stream, 1, 0);
            let handle = stream.addr();
            assert_eq!(in_time("the end", move || stream_destroy(without_provenance_mut(handle))), SUCCESS);
            fails!(stream_query(stream), INVALID_HANDLE, "alive");
            assert_eq!(stream_query(LEGACY), NOT_READY);
            gate.open();
            ok!(synchronize());
            assert_eq!(cells.peek(1), stepped(stepped(1, 2), 3));
        }
    }

    fn work_of_destroyed_streams_aside_is_done_after_a_device_synchronisation() {
        let _guard = guard();
        let cells = work::Cells::new(8);
        for round in 0..10 {
            for cell in 0..8 {
                cells.step(*work::aside(), cell, round);
            }
            ok!(device_synchronize());
            let expected = (0..=round).fold(0, stepped);
            assert_eq!([cells.peek(0), cells.peek(7)], [expected; 2], "round {round}");
        }
    }

    fn two_thousand_streams_with_work_leave_nothing_behind() {
        let _guard = guard();
        let (cells, before) = (work::Cells::new(2), live());
        let (mut most, mut expected) = (0, 0);
        for number in 0..2000 {
            if number % 2 == 0 {
                cells.step_for(*work::blocking(), 0, number, 0);
                expected = stepped(expected, number);
                // Blocking streams have no order with each other but through the default stream.
                ok!(event_record(*work::untimed(), LEGACY));
            } else {
                cells.set(*work::aside(), 1, 7);
            }
            if number % 100 == 99 {
                // However busy the machine is, what came before is done now; the next stream looks around.
                let done = work::untimed();
                ok!(event_record(*done, LEGACY));
                ok!(event_synchronize(*done));
                drop(work::aside());
                most = most.max(live().queues - before.queues);
            }
        }
        ok!(device_synchronize());
        assert_eq!(cells.all(), [expected, filled(7)]);
        let after = live();
        assert_eq!((after.queues, after.events), (before.queues, before.events));
        assert!(most < 500, "{most} queues at once: streams that are done have to go while others come");
    }

    fn streams_that_are_destroyed_behind_a_gate_go_when_it_opens() {
        let _guard = guard();
        let (cells, before) = (work::Cells::new(200), live());
        let gate = hold_legacy();
        for cell in 0..200 {
            cells.step_for(*work::blocking(), cell, 3, 0);
        }
        assert!(live().queues >= before.queues + 200, "all of them still have work");
        gate.open();
        ok!(device_synchronize());
        assert_eq!(live().queues, before.queues);
        assert_eq!(cells.all(), [3; 200]);
    }

    fn threads_make_use_and_destroy_streams_at_once() {
        let _guard = guard();
        let cells = work::Cells::new(4);
        std::thread::scope(|scope| {
            let cells = &cells;
            for cell in 0..4 {
                scope.spawn(move || {
                    let mut expected = 0;
                    for number in 0..60 {
                        let stream = if number % 3 == 0 { work::aside() } else { work::blocking() };
                        cells.step_for(*stream, cell, number, 50);
                        expected = stepped(expected, number);
                        work::done(stream_query(*stream));
                        ok!(stream_synchronize(*stream));
                        assert_eq!(cells.peek(cell), expected);
                    }
                });
            }
        });
        ok!(device_synchronize());
    }

    fn a_stream_that_another_thread_destroys_is_still_waited_for() {
        let _guard = guard();
        let cells = work::Cells::new(1);
        let waited = (0..20).any(|_| {
            cells.clear();
            let s = work::blocking();
            let gate = hold_legacy();
            cells.step(*s, 0, 4);
            let handle = s.addr();
            let (sender, begins) = std::sync::mpsc::channel();
            let waiter = std::thread::spawn(move || {
                sender.send(()).unwrap();
                stream_synchronize(without_provenance_mut(handle))
            });
            begins.recv_timeout(PATIENCE).unwrap();
            cells.look_around();
            cells.look_around();
            drop(s);
            cells.look_around();
            let early = waiter.is_finished();
            gate.open();
            wait_until("the synchronisation", || waiter.is_finished());
            // A thread that begins late finds the handle dead; one that began in time stays for the work.
            let code = waiter.join().unwrap();
            assert!(code == INVALID_HANDLE || (code == SUCCESS && !early && cells.peek(0) == 4), "{code:?}");
            ok!(device_synchronize());
            code == SUCCESS
        });
        assert!(waited, "the thread was never quick enough");
    }

    fn a_reset_ends_streams() {
        let _guard = guard();
        let (mut stream, mut fresh) = (null_mut(), null_mut());
        ok!(unsafe { stream_create(&mut stream) });
        let event = work::untimed();
        ok!(event_record(*event, stream));
        std::mem::forget(event);
        ok!(device_reset());
        for call in [stream_query, stream_synchronize, stream_destroy] {
            fails!(call(stream), INVALID_HANDLE, "stream = 0x", "alive");
        }
        ok!(unsafe { stream_create(&mut fresh) });
        assert_ne!(stream, fresh, "no handle is used twice");
        let cells = work::Cells::new(1);
        cells.step(fresh, 0, 3);
        ok!(stream_synchronize(fresh));
        assert_eq!(cells.get(0), 3);
        ok!(stream_destroy(fresh));
    }
}

/// A handle of one dialect is dead in the other (behaviour.md 1.6), whose own objects it leaves alone.
#[test]
fn handles_of_the_other_dialect_are_dead() {
    use crate::dialects::{musa, tops};
    let _guard = guard();
    let (s, t) = (musa::work::blocking(), tops::work::blocking());
    let (event, point) = (musa::work::timed(), tops::work::timed());
    for _ in 0..2 {
        assert_eq!(musa::stream_query((*t).cast()), musa::INVALID_HANDLE);
        assert_eq!(tops::stream_query((*s).cast()), tops::INVALID_HANDLE);
        assert_eq!(musa::stream_destroy((*t).cast()), musa::INVALID_HANDLE);
        assert_eq!(tops::stream_destroy((*s).cast()), tops::INVALID_HANDLE);
        assert_eq!(musa::event_record((*point).cast(), *s), musa::INVALID_HANDLE);
        assert_eq!(tops::event_record(*point, (*s).cast()), tops::INVALID_HANDLE);
        assert_eq!(musa::stream_wait_event(*s, (*point).cast(), 0), musa::INVALID_HANDLE);
        assert_eq!(tops::event_destroy((*event).cast()), tops::INVALID_HANDLE);
    }
    assert_eq!(musa::event_record(*event, *s), musa::SUCCESS);
    assert_eq!(tops::event_record(*point, *t), tops::SUCCESS);
    assert_eq!(musa::device_synchronize(), musa::SUCCESS);
}
