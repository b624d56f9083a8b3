//! Callbacks in stream order (MUSA "stream callbacks"; behaviour.md 3.8 StreamAddCallback and LaunchHostFunc, 1.6).

use crate::child;
use crate::support::{Latch, device, in_time, wait_until};
use crate::work::{hold_legacy, stepped};
use gridcl::testing::{fail, guard};
use gridcl::{DeviceBuffer, ErrorKind, EventFlags};
use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

/// What a C callback is handed: where it notes, and what it waits for.
#[derive(Default)]
struct Notes {
    calls: AtomicU32,
    stream: AtomicU32,
    codes: Mutex<Vec<String>>,
    release: AtomicBool,
}

impl Notes {
    fn user(&self) -> *mut c_void {
        (&raw const *self).cast_mut().cast()
    }

    /// # Safety
    /// `user` has to come from [`Notes::user`] of one that is alive.
    unsafe fn of<'a>(user: *mut c_void) -> &'a Self {
        unsafe { &*user.cast_const().cast::<Self>() }
    }

    fn note(&self, text: impl std::fmt::Debug) {
        self.codes.lock().unwrap().push(format!("{text:?}"));
    }

    fn noted(&self) -> Vec<String> {
        self.codes.lock().unwrap().clone()
    }
}

/// The low half of a handle tells handles apart.
fn low(handle: *mut c_void) -> u32 {
    handle.addr() as u32
}

both_dialects! {
    fn a_callback_gets_stream_status_and_user_data_once_and_synchronize_waits_for_it() {
        unsafe extern "C" fn note(stream: Stream, status: Code, user: *mut c_void) {
            let notes = unsafe { Notes::of(user) };
            notes.stream.store(low(stream.cast()), SeqCst);
            notes.note(status);
            std::thread::sleep(std::time::Duration::from_millis(20));
            notes.calls.fetch_add(1, SeqCst);
        }
        let _guard = guard();
        let notes = Notes::default();
        let mut created = null_mut();
        ok!(unsafe { stream_create(&mut created) });
        for stream in [created, LEGACY, PER_THREAD] {
            let before = notes.calls.load(SeqCst);
            ok!(unsafe { stream_add_callback(stream, Some(note), notes.user(), 0) });
            ok!(stream_synchronize(stream));
            assert_eq!(notes.calls.load(SeqCst), before + 1, "synchronize came after the callback's return");
            assert_eq!(notes.stream.load(SeqCst), low(stream.cast()));
        }
        assert_eq!(notes.noted(), vec![format!("{SUCCESS:?}"); 3]);
        ok!(stream_destroy(created));
    }

    fn later_work_waits_until_the_callback_has_returned_and_other_streams_do_not() {
        unsafe extern "C" fn block(_: Stream, _: Code, user: *mut c_void) {
            let notes = unsafe { Notes::of(user) };
            notes.calls.store(1, SeqCst);
            wait_until("the test to release the callback", || notes.release.load(SeqCst));
        }
        unsafe extern "C" fn count(_: Stream, _: Code, user: *mut c_void) {
            unsafe { Notes::of(user) }.calls.fetch_add(1, SeqCst);
        }
        let _guard = guard();
        let (blocked, other) = (Notes::default(), Notes::default());
        let (mut first, mut second, mut pinned) = (null_mut(), null_mut(), null_mut());
        ok!(unsafe { stream_create_with_flags(&mut first, NON_BLOCKING) });
        ok!(unsafe { stream_create_with_flags(&mut second, NON_BLOCKING) });
        ok!(unsafe { host_malloc(&mut pinned, 64) });
        let mut memory = null_mut();
        ok!(unsafe { malloc(&mut memory, 64) });
        ok!(memset_async(memory, 1, 64, first));
        ok!(stream_synchronize(first));
        ok!(unsafe { stream_add_callback(first, Some(block), blocked.user(), 0) });
        ok!(memset_async(memory, 2, 64, first));
        wait_until("the callback to begin", || blocked.calls.load(SeqCst) == 1);
        // The other stream sees the old bytes, and has callbacks of its own meanwhile.
        ok!(unsafe { memcpy_async(pinned, memory, 64, DEVICE_TO_HOST, second) });
        ok!(unsafe { stream_add_callback(second, Some(count), other.user(), 0) });
        let handle = second.addr();
        let code = in_time("the other stream", move || stream_synchronize(std::ptr::without_provenance_mut(handle)));
        assert_eq!((code, other.calls.load(SeqCst)), (SUCCESS, 1));
        assert_eq!(unsafe { *pinned.cast::<u8>() }, 1, "the set waits for the callback");
        assert_eq!(stream_query(first), NOT_READY);
        blocked.release.store(true, SeqCst);
        ok!(stream_synchronize(first));
        ok!(unsafe { memcpy(pinned, memory, 64, DEVICE_TO_HOST) });
        assert_eq!(unsafe { *pinned.cast::<u8>() }, 2);
        ok!(free(memory));
        ok!(host_free(pinned));
        ok!(stream_destroy(first));
        ok!(stream_destroy(second));
    }

    fn the_runtime_may_not_be_called_from_inside_and_what_asks_nothing_may() {
        unsafe extern "C" fn call(stream: Stream, _: Code, user: *mut c_void) {
            let notes = unsafe { Notes::of(user) };
            let (mut pointer, mut ordinal) = (null_mut(), -1);
            let refused = [
                unsafe { malloc(&mut pointer, 16) },
                free(pointer),
                stream_synchronize(stream),
                stream_query(stream),
                device_synchronize(),
                memset(pointer, 0, 0),
                event_record(null_mut(), stream),
                stream_destroy(stream),
                set_device(0),
            ];
            for code in refused {
                notes.note(code);
            }
            notes.note(peek_at_last_error());
            notes.note(get_last_error());
            notes.note(unsafe { get_device(&mut ordinal) });
            assert!(!get_error_string(SUCCESS).is_null());
            notes.calls.fetch_add(1, SeqCst);
        }
        let _guard = guard();
        let notes = Notes::default();
        let mut stream = null_mut();
        ok!(unsafe { stream_create(&mut stream) });
        ok!(unsafe { stream_add_callback(stream, Some(call), notes.user(), 0) });
        let handle = stream.addr();
        let code = in_time("a callback that calls", move || stream_synchronize(std::ptr::without_provenance_mut(handle)));
        assert_eq!((code, notes.calls.load(SeqCst)), (SUCCESS, 1));
        let refused = format!("{NOT_PERMITTED:?}");
        let mut expected = vec![refused; 11];
        expected.push(format!("{SUCCESS:?}"));
        assert_eq!(notes.noted(), expected);
        ok!(stream_destroy(stream));
    }

    fn callbacks_of_a_stream_run_in_the_order_of_their_calls_one_at_a_time() {
        unsafe extern "C" fn append(_: Stream, _: Code, user: *mut c_void) {
            let notes = unsafe { Notes::of(user) };
            assert!(!notes.release.swap(true, SeqCst), "two callbacks of one stream at once");
            let turn = notes.calls.fetch_add(1, SeqCst);
            notes.note(turn);
            notes.release.store(false, SeqCst);
        }
        let _guard = guard();
        let notes = Notes::default();
        let mut stream = null_mut();
        ok!(unsafe { stream_create(&mut stream) });
        for _ in 0..100 {
            ok!(unsafe { stream_add_callback(stream, Some(append), notes.user(), 0) });
        }
        ok!(stream_synchronize(stream));
        assert_eq!(notes.noted(), (0..100).map(|turn| turn.to_string()).collect::<Vec<_>>());
        ok!(stream_destroy(stream));
    }

    fn bad_callbacks_flags_and_streams_are_refused() {
        unsafe extern "C" fn never(_: Stream, _: Code, _: *mut c_void) {
            unreachable!("a refused callback does not run");
        }
        let _guard = guard();
        let mut stream = null_mut();
        ok!(unsafe { stream_create(&mut stream) });
        for stream in [LEGACY, PER_THREAD, stream] {
            fails!(unsafe { stream_add_callback(stream, None, null_mut(), 0) }, INVALID_VALUE, "callback = null");
            // TOPS knows 2.
            for flags in [1, 3, 4, u32::MAX] {
                let value = format!("flags = {flags:#x}");
                fails!(unsafe { stream_add_callback(stream, Some(never), null_mut(), flags) }, INVALID_VALUE, &value);
            }
        }
        ok!(stream_destroy(stream));
        for stream in [stream, without_provenance_mut(0x1234_5678)] {
            fails!(unsafe { stream_add_callback(stream, Some(never), null_mut(), 0) }, INVALID_HANDLE, "stream = ");
        }
        // What was refused holds nothing back.
        ok!(device_synchronize());
    }

    fn a_callback_runs_once_the_work_before_it_is_done() {
        unsafe extern "C" fn count(_: Stream, _: Code, user: *mut c_void) {
            unsafe { Notes::of(user) }.calls.fetch_add(1, SeqCst);
        }
        let _guard = guard();
        let (cells, s, aside) = (work::Cells::new(1), work::blocking(), work::aside());
        // Held by the default stream's rules, or by an event.
        for stream in [LEGACY, *s, PER_THREAD, *aside] {
            let (notes, event) = (Notes::default(), work::untimed());
            let gate = hold_legacy();
            ok!(event_record(*event, LEGACY));
            ok!(stream_wait_event(stream, *event, 0));
            ok!(unsafe { stream_add_callback(stream, Some(count), notes.user(), 0) });
            cells.held(stream);
            assert_eq!(notes.calls.load(SeqCst), 0, "the work before it is held");
            gate.open();
            work::comes_to_its_end(stream);
            assert_eq!(notes.calls.load(SeqCst), 1);
        }
        // Records and queries tell of callbacks as of any work.
        let (notes, event) = (Notes::default(), work::timed());
        for number in 0..20 {
            cells.step(*s, 0, number);
            ok!(unsafe { stream_add_callback(*s, Some(count), notes.user(), 0) });
            ok!(event_record(*event, *s));
            ok!(event_synchronize(*event));
            assert_eq!(notes.calls.load(SeqCst), number + 1);
            assert_eq!(cells.peek(0), (0..=number).fold(0, stepped));
        }
    }

    /// What stands behind a callback in other streams waits for it too: the default stream for one in a blocking
    /// stream and the other way round, any stream for an event behind it.
    fn the_order_of_streams_goes_through_callbacks() {
        unsafe extern "C" fn pass(_: Stream, _: Code, user: *mut c_void) {
            unsafe { Latch::pass(user) };
        }
        let _guard = guard();
        let (cells, s, aside) = (work::Cells::new(3), work::blocking(), work::aside());
        for (first, second) in [(LEGACY, *s), (*s, LEGACY), (PER_THREAD, LEGACY), (LEGACY, PER_THREAD)] {
            cells.clear();
            let (latch, event) = (Latch::default(), work::untimed());
            ok!(unsafe { stream_add_callback(first, Some(pass), latch.user(), 0) });
            ok!(event_record(*event, first));
            ok!(stream_wait_event(*aside, *event, 0));
            for (cell, stream) in [first, second, *aside].into_iter().enumerate() {
                cells.step_for(stream, cell, 5, 0);
            }
            cells.held_event(*event);
            assert_eq!([0, 1, 2].map(|cell| cells.peek(cell)), [0; 3], "all of it waits for the callback");
            drop(latch);
            assert_eq!(cells.all(), [5; 3]);
        }
    }

    /// NV-CB: a callback behind work that failed is told so. The failure is planned, in a process of its own.
    fn callbacks_are_told_that_the_device_failed() {
        unsafe extern "C" fn pass(_: Stream, _: Code, user: *mut c_void) {
            unsafe { Latch::pass(user) };
        }
        unsafe extern "C" fn note(_: Stream, status: Code, user: *mut c_void) {
            let notes = unsafe { Notes::of(user) };
            notes.note(status);
            notes.calls.fetch_add(1, SeqCst);
        }
        if !child::is_child() {
            let name = format!("callbacks::{NAME}::callbacks_are_told_that_the_device_failed");
            return child::passes(&name, &[]);
        }
        let launch_failure = if NAME == "musa" { Code(400) } else { Code(719) };
        let (cells, s, aside) = (work::Cells::new(1), work::blocking(), work::aside());
        let (latch, notes) = (Latch::default(), Notes::default());
        ok!(unsafe { stream_add_callback(*s, Some(pass), latch.user(), 0) });
        ok!(unsafe { stream_add_callback(*s, Some(note), notes.user(), 0) });
        cells.step(*aside, 0, 1);
        fail("clFinish", 0, -36);
        assert_eq!(stream_synchronize(*aside), launch_failure);
        drop(latch);
        wait_until("the callback", || notes.calls.load(SeqCst) == 1);
        assert_eq!(notes.noted(), [format!("{launch_failure:?}")]);
        // Nothing can be given back on a device that failed.
        std::mem::forget((cells, s, aside));
    }

    fn a_destroyed_stream_still_runs_its_callbacks() {
        unsafe extern "C" fn count(_: Stream, _: Code, user: *mut c_void) {
            unsafe { Notes::of(user) }.calls.fetch_add(1, SeqCst);
        }
        let _guard = guard();
        let notes = Notes::default();
        let mut stream = null_mut();
        ok!(unsafe { stream_create(&mut stream) });
        ok!(unsafe { stream_add_callback(stream, Some(count), notes.user(), 0) });
        ok!(stream_destroy(stream));
        ok!(device_synchronize());
        assert_eq!(notes.calls.load(SeqCst), 1);
    }
}

#[test]
fn tops_takes_its_blocking_flag_and_musa_has_a_function_without_status() {
    unsafe extern "C" fn count(user: *mut c_void) {
        unsafe { Notes::of(user) }.calls.fetch_add(1, SeqCst);
    }
    unsafe extern "C" fn blocking(_: gridcl::tops::topsStream_t, _: gridcl::tops::topsError_t, user: *mut c_void) {
        unsafe { Notes::of(user) }.calls.fetch_add(1, SeqCst);
    }
    let _guard = guard();
    let notes = Notes::default();
    let flag = gridcl::tops::topsStreamCallbackBlocking;
    let code = unsafe { gridcl::tops::topsStreamAddCallback(null_mut(), Some(blocking), notes.user(), flag) };
    assert_eq!(code, gridcl::tops::topsSuccess);
    let code = unsafe { gridcl::musa::musaLaunchHostFunc(null_mut(), Some(count), notes.user()) };
    assert_eq!(code, gridcl::musa::musaSuccess);
    assert_eq!(gridcl::musa::musaDeviceSynchronize(), gridcl::musa::musaSuccess);
    assert_eq!(notes.calls.load(SeqCst), 2);
    let code = unsafe { gridcl::musa::musaLaunchHostFunc(null_mut(), None, null_mut()) };
    assert_eq!(code, gridcl::musa::musaErrorInvalidValue);
    let _ = gridcl::musa::musaGetLastError();
}

/// MUSA alone has it; what holds for callbacks with a status holds for these.
#[test]
fn a_function_without_status_is_a_callback_like_any_other() {
    use crate::dialects::musa::*;
    use gridcl::musa::musaLaunchHostFunc;
    unsafe extern "C" fn append(user: *mut c_void) {
        let notes = unsafe { Notes::of(user) };
        let turn = notes.calls.fetch_add(1, SeqCst);
        notes.note((turn, device_synchronize() == NOT_PERMITTED));
    }
    unsafe extern "C" fn pass(user: *mut c_void) {
        unsafe { Latch::pass(user) };
    }
    let _guard = guard();
    let (cells, s, aside) = (work::Cells::new(1), work::blocking(), work::aside());
    for stream in [LEGACY, PER_THREAD, *s, *aside] {
        let (notes, latch) = (Notes::default(), Latch::default());
        cells.clear();
        ok!(unsafe { musaLaunchHostFunc(stream, Some(pass), latch.user()) });
        for _ in 0..3 {
            ok!(unsafe { musaLaunchHostFunc(stream, Some(append), notes.user()) });
        }
        cells.step(stream, 0, 4);
        cells.held(stream);
        assert_eq!((notes.calls.load(SeqCst), cells.peek(0)), (0, 0), "they wait, and what follows waits for them");
        drop(latch);
        ok!(stream_synchronize(stream));
        assert_eq!(notes.noted(), [0, 1, 2].map(|turn| format!("{:?}", (turn, true))));
        assert_eq!(cells.get(0), 4);
        fails!(unsafe { musaLaunchHostFunc(stream, None, null_mut()) }, INVALID_VALUE, "LaunchHostFunc: fn = null");
    }
    let mut dead = null_mut();
    ok!(unsafe { stream_create(&mut dead) });
    ok!(stream_destroy(dead));
    for stream in [dead, without_provenance_mut(0x1234_5678)] {
        let refused = unsafe { musaLaunchHostFunc(stream, Some(append), null_mut()) };
        assert_eq!(refused, INVALID_HANDLE);
        assert_eq!(get_last_error(), INVALID_HANDLE);
    }
}

#[test]
fn a_panic_is_contained_and_reported_to_who_waits_next() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    stream.launch_host_fn(|_| panic!("on purpose, in a callback")).unwrap();
    let error = stream.synchronize().unwrap_err();
    assert!(error.to_string().contains("on purpose, in a callback"), "{error}");
    stream.synchronize().unwrap();
    let (sender, receiver) = channel();
    stream.launch_host_fn(move |status| sender.send(status.is_ok()).unwrap()).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(receiver.recv(), Ok(true), "the next callback runs");
}

#[test]
fn memory_may_be_dropped_inside_a_callback() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let buffer = DeviceBuffer::from_slice(&stream, &[7u32; 1000]).unwrap();
    let kept = DeviceBuffer::from_slice(&stream, &[8u32; 1000]).unwrap();
    let event = gridcl::Event::with_flags(device(), EventFlags::DISABLE_TIMING).unwrap();
    let inner = stream.clone();
    stream
        .launch_host_fn(move |_| {
            let refused = inner.synchronize().unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::NotPermitted);
            drop((buffer, event, inner));
        })
        .unwrap();
    in_time("a callback that drops", move || {
        stream.synchronize().unwrap();
        assert_eq!(kept.to_vec(&stream).unwrap(), [8; 1000]);
    });
}

#[test]
fn a_callback_that_opens_another_streams_way_does_not_deadlock() {
    let _guard = guard();
    // One stream's callback waits for another's: each has a worker of its own.
    let (first, second) = (device().create_stream().unwrap(), device().create_stream().unwrap());
    let (sender, receiver) = channel();
    let order = Arc::new(Mutex::new(Vec::new()));
    let (early, late) = (Arc::clone(&order), Arc::clone(&order));
    first
        .launch_host_fn(move |_| {
            receiver.recv().unwrap();
            late.lock().unwrap().push("first");
        })
        .unwrap();
    second
        .launch_host_fn(move |_| {
            early.lock().unwrap().push("second");
            sender.send(()).unwrap();
        })
        .unwrap();
    in_time("two callbacks", move || device().synchronize().unwrap());
    assert_eq!(*order.lock().unwrap(), ["second", "first"]);
}
