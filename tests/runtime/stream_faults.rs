//! Streams and events when OpenCL refuses one call: the action fails with the words, nothing else changes, and the
//! rules of order still hold for the next (TOPS 7.2 to 7.4, MUSA "streams"; behaviour.md 2.3, 3.8 and 3.9).

use crate::support::{device, gated, in_time};
use crate::work::{LONG, hold_legacy, stepped};
use gridcl::testing::{clear_fault, fail, guard};
use std::ptr::without_provenance_mut;

/// Enqueues a wait.
const BARRIER: &str = "clEnqueueBarrierWithWaitList";
/// Enqueues an event.
const MARKER: &str = "clEnqueueMarkerWithWaitList";
/// Enqueues a kernel.
const KERNEL: &str = "clEnqueueNDRangeKernel";
/// Makes a stream's queue.
const QUEUE: &str = "clCreateCommandQueueWithProperties";
/// A status that says nothing about the device's health.
const REFUSED: i32 = -6;

both_dialects! {
    fn a_launch_whose_wait_is_refused_does_not_run_and_the_next_one_waits() {
        let _guard = guard();
        let (cells, s) = (work::Cells::new(1), work::blocking());
        for stream in [*s, PER_THREAD] {
            cells.clear();
            let gate = hold_legacy();
            fail(BARRIER, 0, REFUSED);
            fails!(cells.try_step(stream, 0, 5, 0), OUT_OF_MEMORY, "LaunchKernel: ", BARRIER);
            assert_eq!(stream_query(stream), SUCCESS, "nothing was put into the stream");
            cells.step(stream, 0, 6);
            cells.held(stream);
            gate.open();
            ok!(device_synchronize());
            assert_eq!(cells.get(0), 6);
        }
        cells.clear();
        let (_held, gate) = gated(device());
        fail(BARRIER, 0, REFUSED);
        fails!(cells.try_step(LEGACY, 0, 5, 0), OUT_OF_MEMORY, "LaunchKernel: ", BARRIER);
        cells.step(LEGACY, 0, 6);
        cells.held(LEGACY);
        assert_eq!(cells.peek(0), 0);
        gate.open();
        assert_eq!(cells.get(0), 6);
    }

    fn a_launch_that_is_refused_after_its_wait_leaves_the_order_intact() {
        let _guard = guard();
        let (cells, s, t) = (work::Cells::new(1), work::blocking(), work::blocking());
        let gate = hold_legacy();
        fail(KERNEL, 0, REFUSED);
        fails!(cells.try_step(*s, 0, 5, 0), OUT_OF_MEMORY, "LaunchKernel: ", KERNEL);
        cells.step(*s, 0, 6);
        cells.held(*s);
        gate.open();
        ok!(device_synchronize());
        assert_eq!(cells.get(0), 6);

        // In the default stream the wait alone stands between the blocking streams.
        let (_held, gate) = gated(device());
        fail(KERNEL, 0, REFUSED);
        fails!(cells.try_step(LEGACY, 0, 5, 0), OUT_OF_MEMORY, "LaunchKernel: ", KERNEL);
        cells.step(LEGACY, 0, 7);
        cells.step(*t, 0, 8);
        cells.held(LEGACY);
        cells.held(*t);
        gate.open();
        ok!(device_synchronize());
        assert_eq!(cells.get(0), stepped(stepped(6, 7), 8));
    }

    fn a_record_that_is_refused_leaves_the_event_where_it_was() {
        let _guard = guard();
        let (cells, s, aside) = (work::Cells::new(1), work::blocking(), work::aside());
        for event in [work::timed(), work::untimed()] {
            cells.clear();
            let gate = hold_legacy();
            cells.step(*s, 0, 1);
            fail(MARKER, 0, REFUSED);
            fails!(event_record(*event, *s), OUT_OF_MEMORY, "EventRecord: ", MARKER);
            ok!(event_query(*event));
            ok!(event_record(*event, *s));
            cells.held_event(*event);
            cells.step(*aside, 0, 0);
            ok!(stream_synchronize(*aside));
            cells.step(*aside, 0, 0);
            fail(MARKER, 0, REFUSED);
            fails!(event_record(*event, *aside), OUT_OF_MEMORY, "EventRecord: ", MARKER);
            assert_eq!(event_query(*event), NOT_READY, "the event is still the one in the held stream");
            gate.open();
            work::completes(*event);
            ok!(device_synchronize());
        }
    }

    fn a_wait_that_is_refused_holds_nothing() {
        let _guard = guard();
        let (cells, event, aside) = (work::Cells::new(1), work::untimed(), work::aside());
        let gate = hold_legacy();
        ok!(event_record(*event, LEGACY));
        fail(BARRIER, 0, REFUSED);
        fails!(stream_wait_event(*aside, *event, 0), OUT_OF_MEMORY, "StreamWaitEvent: ", BARRIER);
        cells.step(*aside, 0, 1);
        work::comes_to_its_end(*aside);
        ok!(stream_wait_event(*aside, *event, 0));
        cells.step(*aside, 0, 2);
        cells.held(*aside);
        gate.open();
        work::comes_to_its_end(*aside);
        assert_eq!(cells.get(0), stepped(1, 2));
    }

    fn a_stream_without_a_queue_is_tried_again() {
        let _guard = guard();
        let (cells, event) = (work::Cells::new(1), work::timed());
        let s = work::blocking();
        fail(QUEUE, 0, REFUSED);
        fails!(cells.try_step(*s, 0, 1, 0), OUT_OF_MEMORY, "LaunchKernel: ", QUEUE);
        assert_eq!(stream_query(*s), SUCCESS);
        cells.step(*s, 0, 2);
        // The first timed record may change the queue.
        fail(QUEUE, 0, REFUSED);
        if event_record(*event, *s) == SUCCESS {
            assert!(clear_fault(), "no queue was made");
        }
        cells.step(*s, 0, 3);
        ok!(event_record(*event, *s));
        ok!(event_synchronize(*event));
        assert_eq!(cells.get(0), stepped(2, 3));
    }

    fn a_query_that_is_refused_may_be_asked_again() {
        let _guard = guard();
        let (cells, event, s) = (work::Cells::new(1), work::untimed(), work::blocking());
        let gate = hold_legacy();
        cells.step(*s, 0, 1);
        ok!(event_record(*event, *s));
        fail("clGetEventInfo", 0, REFUSED);
        fails!(stream_query(*s), OUT_OF_MEMORY, "StreamQuery: ", "clGetEventInfo");
        assert_eq!(stream_query(*s), NOT_READY);
        fail("clGetEventInfo", 0, REFUSED);
        fails!(event_query(*event), OUT_OF_MEMORY, "EventQuery: ", "clGetEventInfo");
        assert_eq!(event_query(*event), NOT_READY);
        gate.open();
        work::comes_to_its_end(*s);
        ok!(event_query(*event));
    }

    fn a_synchronisation_that_is_refused_does_not_make_a_stream_idle() {
        let _guard = guard();
        let (cells, s) = (work::Cells::new(1), work::blocking());
        let gate = hold_legacy();
        cells.step(*s, 0, 1);
        fail("clFinish", 0, REFUSED);
        let handle = s.addr();
        let code = in_time("a refusal", move || stream_synchronize(without_provenance_mut(handle)));
        assert_eq!(code, OUT_OF_MEMORY);
        cells.held(*s);
        gate.open();
        work::comes_to_its_end(*s);

        // Were it taken for idle, the default stream would not wait for it.
        for round in 0..5 {
            cells.clear();
            cells.step_for(*s, 0, round, LONG / 4);
            fail("clFinish", 0, REFUSED);
            fails!(stream_synchronize(*s), OUT_OF_MEMORY, "StreamSynchronize: ", "clFinish");
            cells.step(LEGACY, 0, 9);
            assert_eq!(cells.get(0), stepped(round, 9));
        }
    }
}
