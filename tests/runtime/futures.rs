//! Futures of streams and events (feature `async`), run by an executor of a few lines: none is a dependency.

use crate::support::{PATIENCE, device, gated, in_time};
use gridcl::testing::guard;
use gridcl::{DeviceBuffer, Event, EventFlags};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

/// Wakes a parked thread and counts how often.
struct Parked {
    thread: Thread,
    wakes: AtomicUsize,
}

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, SeqCst);
        self.thread.unpark();
    }
}

fn parked() -> Arc<Parked> {
    Arc::new(Parked { thread: std::thread::current(), wakes: AtomicUsize::new(0) })
}

/// Runs a future on this thread; it sleeps between polls until it is woken.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let parked = parked();
    let waker = Waker::from(Arc::clone(&parked));
    let mut future = pin!(future);
    loop {
        let before = parked.wakes.load(SeqCst);
        if let Poll::Ready(answer) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return answer;
        }
        while parked.wakes.load(SeqCst) == before {
            std::thread::park_timeout(PATIENCE);
        }
    }
}

#[test]
fn a_stream_is_awaited_while_it_works() {
    let _guard = guard();
    in_time("a future", || {
        let (stream, gate) = gated(device());
        let data = DeviceBuffer::from_slice(&stream, &[5u8; 4096]).unwrap();
        let opener = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            gate.open();
        });
        assert!(!stream.is_done().unwrap());
        block_on(stream.synchronize_async()).unwrap();
        assert!(stream.is_done().unwrap());
        opener.join().unwrap();
        assert_eq!(data.to_vec(&stream).unwrap(), [5; 4096]);
    });
}

#[test]
fn an_event_is_awaited_as_it_was_recorded_when_the_future_was_made() {
    let _guard = guard();
    in_time("a future", || {
        let stream = device().create_stream().unwrap();
        let event = Event::with_flags(device(), EventFlags::DISABLE_TIMING).unwrap();
        block_on(event.wait_async()).unwrap();
        event.record(&stream).unwrap();
        let early = event.wait_async();
        let (held, gate) = gated(device());
        event.record(&held).unwrap();
        block_on(early).unwrap();
        assert!(!event.is_done().unwrap(), "the later record is still held back");
        gate.open();
        block_on(event.wait_async()).unwrap();
    });
}

#[test]
fn a_future_that_is_dropped_or_polled_again_does_no_harm() {
    let _guard = guard();
    in_time("futures", || {
        let (stream, gate) = gated(device());
        drop(stream.synchronize_async());
        let mut future = pin!(stream.synchronize_async());
        let (first, second) = (parked(), parked());
        for parked in [&first, &first, &second] {
            let waker = Waker::from(Arc::clone(parked));
            assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        gate.open();
        // Only the task that polled last is woken.
        crate::support::wait_until("the wake", || second.wakes.load(SeqCst) == 1);
        assert_eq!(first.wakes.load(SeqCst), 0);
        let waker = Waker::from(second);
        assert!(matches!(future.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Ready(Ok(()))));
    });
}

#[test]
fn a_future_of_a_dead_stream_answers_the_error() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    device().reset().unwrap();
    let error = block_on(stream.synchronize_async()).unwrap_err();
    assert_eq!(error.kind(), gridcl::ErrorKind::InvalidHandle);
    // Nothing of the old context is to live on in the count.
    drop(stream);
    device().default_stream().unwrap();
}
