//! Events of other processes (MUSA "process events"; behaviour.md 1.6, 2.5 and the Ipc rows of 3.9): what is recorded in one
//! process is waited for in another, in both directions, by the host and by streams, whatever becomes of either.
//! Handles that lead nowhere stand in [`crate::ipc_handles`].

use crate::child::is_child;
use crate::peer::{self, Peer};
use crate::support::{in_time, wait_until};
use crate::work::{LONG, hold_legacy, stepped};
use gridcl::testing::{count_calls, guard};
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr::null_mut;
use std::time::{Duration, Instant};

/// A handle as a line of text.
pub fn hex(bytes: &[std::ffi::c_char; 64]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A line of text as a handle.
pub fn unhex(line: &str) -> [std::ffi::c_char; 64] {
    std::array::from_fn(|at| u8::from_str_radix(&line[2 * at..2 * at + 2], 16).expect("hex").cast_signed())
}

/// An event that other processes can open.
macro_rules! shared_event {
    () => {
        work::point(EVENT_INTERPROCESS | EVENT_DISABLE_TIMING)
    };
}

/// The handle of an event, as a line of text.
macro_rules! handle_of {
    ($event:expr) => {{
        let mut handle = IpcEventHandle::default();
        ok!(unsafe { ipc_get_event_handle(&mut handle, $event) });
        hex(&handle.reserved)
    }};
}

/// Opens a handle that came as a line of text; destroyed like a made one.
macro_rules! opened {
    ($line:expr) => {{
        let mut event = std::ptr::null_mut();
        ok!(unsafe { ipc_open_event_handle(&mut event, IpcEventHandle { reserved: unhex($line) }) });
        work::Point::of(event)
    }};
}

/// Asserts that a stream and an event are held back, for longer than a waiter sleeps between two looks at whether the
/// other process is alive.
macro_rules! stays_held {
    ($cells:expr, $stream:expr, $event:expr) => {{
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(200) {
            $cells.held($stream);
            $cells.held_event($event);
        }
    }};
}

/// The thread that acts on the driver's callbacks.
const WAKER: &str = "gridcl-waker";

/// The threads of this process, by number and name.
fn threads() -> Vec<(libc::pid_t, String)> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let thread = |task: std::fs::DirEntry| {
        let name = std::fs::read_to_string(task.path().join("comm")).ok()?;
        Some((task.file_name().to_str()?.parse().ok()?, name.trim().to_owned()))
    };
    tasks.filter_map(thread).collect()
}

/// Makes that thread come last: all threads share one processor, and it is the least urgent of them.
fn hold_up_the_waker() {
    let mut one: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    unsafe { libc::CPU_SET(libc::sched_getcpu().max(0).cast_unsigned() as usize, &mut one) };
    for (id, name) in threads() {
        unsafe { libc::sched_setaffinity(id, size_of_val(&one), &one) };
        if name == WAKER {
            unsafe { libc::setpriority(libc::PRIO_PROCESS, id.cast_unsigned(), 10) };
        }
    }
}

/// Memory that has no name, which a second process inherits under the same number.
struct Common {
    file: OwnedFd,
    words: *mut u32,
}

const COMMON_BYTES: usize = 4096;

impl Common {
    fn new() -> Self {
        let file = unsafe { OwnedFd::from_raw_fd(libc::memfd_create(c"test".as_ptr(), 0)) };
        std::fs::File::from(file.try_clone().unwrap()).set_len(COMMON_BYTES as u64).unwrap();
        Self::map(file)
    }

    fn map(file: OwnedFd) -> Self {
        use std::os::fd::AsRawFd;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let words = unsafe { libc::mmap(null_mut(), COMMON_BYTES, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        assert_ne!(words, libc::MAP_FAILED);
        Self { file, words: words.cast() }
    }
}

impl Drop for Common {
    fn drop(&mut self) {
        unsafe { libc::munmap(self.words.cast(), COMMON_BYTES) };
    }
}

both_dialects! {
    fn a_record_is_waited_for_in_another_process_by_host_and_streams() {
        let _guard = guard();
        let (cells, s, t) = (work::Cells::new(1), work::blocking(), work::aside());
        if is_child() {
            let event = opened!(&peer::hear());
            assert_eq!(event_query(*event), NOT_READY);
            ok!(stream_wait_event(*t, *event, 0));
            cells.step(*t, 0, 5);
            stays_held!(cells, *t, *event);
            peer::say("held");
            let waited = *event as usize;
            in_time("the event", move || ok!(event_synchronize(waited as Event)));
            assert_eq!(event_query(*event), SUCCESS, "as the wait said");
            work::comes_to_its_end(*t);
            assert_eq!(cells.peek(0), stepped(0, 5));
            ok!(stream_synchronize(*t));
            return;
        }
        let event = shared_event!();
        let gate = hold_legacy();
        cells.step(*s, 0, 1);
        ok!(event_record(*event, *s));
        assert_eq!(event_query(*event), NOT_READY);
        let mut second = Peer::start(this_test!(), &[]);
        second.say(&handle_of!(*event));
        second.expect("held");
        assert_eq!(event_query(*event), NOT_READY, "waiting elsewhere changes nothing here");
        gate.open();
        second.passes();
        assert_eq!(event_query(*event), SUCCESS);
    }

    fn a_record_of_an_opened_event_is_waited_for_where_the_event_was_made() {
        let _guard = guard();
        let (cells, s, t) = (work::Cells::new(1), work::blocking(), work::aside());
        if is_child() {
            let event = opened!(&peer::hear());
            assert_eq!(event_query(*event), SUCCESS, "what the other process recorded is done");
            ok!(event_synchronize(*event));
            let gate = hold_legacy();
            ok!(event_record(*event, *s));
            assert_eq!(event_query(*event), NOT_READY);
            peer::say("recorded");
            peer::expect("held");
            gate.open();
            ok!(event_synchronize(*event));
            peer::say("done");
            return peer::expect("end");
        }
        let event = shared_event!();
        ok!(event_record(*event, *s));
        ok!(event_synchronize(*event));
        let mut second = Peer::start(this_test!(), &[]);
        second.say(&handle_of!(*event));
        second.expect("recorded");
        assert_eq!(event_query(*event), NOT_READY);
        ok!(stream_wait_event(*t, *event, 0));
        cells.step(*t, 0, 5);
        stays_held!(cells, *t, *event);
        second.say("held");
        let waited = *event as usize;
        in_time("the event", move || ok!(event_synchronize(waited as Event)));
        assert_eq!(event_query(*event), SUCCESS);
        ok!(stream_synchronize(*t));
        assert_eq!(cells.get(0), stepped(0, 5));
        second.expect("done");
        assert_eq!(event_query(*event), SUCCESS);
        // A record of this process counts from now on.
        let gate = hold_legacy();
        ok!(event_record(*event, *s));
        assert_eq!(event_query(*event), NOT_READY);
        gate.open();
        ok!(event_synchronize(*event));
        second.say("end");
        second.passes();
    }

    /// Each waits for the other's record on the device alone, and the value that goes back and forth tells when a turn
    /// was taken too early.
    fn two_processes_take_turns_on_memory_that_they_share() {
        const ROUNDS: u32 = 40;
        let _guard = guard();
        let (cells, s) = (work::Cells::new(1), work::blocking());
        let turn = |common: &Common, theirs: Event, ours: Event, number: u32| {
            ok!(stream_wait_event(*s, theirs, 0));
            ok!(unsafe { memcpy_async(cells.at(0), common.words.cast(), 4, HOST_TO_DEVICE, *s) });
            cells.step(*s, 0, number);
            ok!(unsafe { memcpy_async(common.words.cast(), cells.at(0), 4, DEVICE_TO_HOST, *s) });
            ok!(event_record(ours, *s));
        };
        let ours = shared_event!();
        if is_child() {
            let number = std::env::var("GRIDCL_TEST_COMMON").unwrap().parse().unwrap();
            let common = Common::map(unsafe { OwnedFd::from_raw_fd(number) });
            ok!(unsafe { host_register(common.words.cast(), COMMON_BYTES, 0) });
            let theirs = opened!(&peer::hear());
            peer::say(&handle_of!(*ours));
            for round in 0..ROUNDS {
                peer::expect("your turn");
                turn(&common, *theirs, *ours, 2 * round + 1);
                peer::say("your turn");
            }
            peer::expect("end");
            ok!(device_synchronize());
            ok!(host_unregister(common.words.cast()));
            return;
        }
        let common = Common::new();
        ok!(unsafe { host_register(common.words.cast(), COMMON_BYTES, 0) });
        let number = std::os::fd::AsRawFd::as_raw_fd(&common.file).to_string();
        let mut second = Peer::start(this_test!(), &[("GRIDCL_TEST_COMMON", &number)]);
        second.say(&handle_of!(*ours));
        let theirs = opened!(&second.hear());
        // The first turns stand behind a gate, so that both hosts run ahead of both devices.
        let gate = hold_legacy();
        let mut gate = Some(gate);
        for round in 0..ROUNDS {
            turn(&common, *theirs, *ours, 2 * round);
            second.say("your turn");
            second.expect("your turn");
            if round == ROUNDS / 2 {
                assert_eq!(event_query(*theirs), NOT_READY);
                gate.take();
            }
        }
        let last = *theirs as usize;
        in_time("the last turn", move || ok!(event_synchronize(last as Event)));
        let expected = (0..2 * ROUNDS).fold(0, stepped);
        assert_eq!(unsafe { common.words.read_volatile() }, expected);
        second.say("end");
        second.passes();
        ok!(device_synchronize());
        ok!(host_unregister(common.words.cast()));
    }

    fn later_records_of_another_process_do_not_change_what_is_waited_for() {
        let _guard = guard();
        let (cells, s, t) = (work::Cells::new(1), work::blocking(), work::aside());
        if is_child() {
            let event = opened!(&peer::hear());
            ok!(stream_wait_event(*t, *event, 0));
            peer::say("waiting for the first");
            peer::expect("recorded again");
            assert_eq!(event_query(*event), SUCCESS, "the second record is done");
            ok!(event_synchronize(*event));
            cells.held(*t);
            // What is waited for outlives the event object.
            drop(event);
            cells.held(*t);
            peer::say("held");
            work::comes_to_its_end(*t);
            ok!(stream_synchronize(*t));
            return;
        }
        let event = shared_event!();
        let gate = hold_legacy();
        ok!(event_record(*event, *s));
        let mut second = Peer::start(this_test!(), &[]);
        second.say(&handle_of!(*event));
        second.expect("waiting for the first");
        ok!(event_record(*event, *t));
        work::completes(*event);
        second.say("recorded again");
        second.expect("held");
        drop(event);
        gate.open();
        second.passes();
    }

    fn the_death_of_a_process_ends_the_waits_for_what_it_recorded() {
        let _guard = guard();
        let (cells, s, t, u) = (work::Cells::new(1), work::blocking(), work::aside(), work::aside());
        if is_child() {
            let event = shared_event!();
            let _gate = hold_legacy();
            ok!(event_record(*event, *s));
            peer::say(&handle_of!(*event));
            // Never comes.
            return peer::expect("the end");
        }
        let mut second = Peer::start(this_test!(), &[]);
        let event = opened!(&second.hear());
        ok!(stream_wait_event(*t, *event, 0));
        ok!(stream_wait_event(*u, *event, 0));
        cells.step(*t, 0, 5);
        cells.held(*t);
        cells.held_event(*event);
        let (waited, began) = (*event as usize, std::sync::mpsc::channel());
        let waiter = std::thread::spawn(move || {
            began.0.send(()).unwrap();
            let code = event_synchronize(waited as Event);
            (code, gridcl::last_error_detail())
        });
        began.1.recv().unwrap();
        let id = second.id();
        second.kill();
        let (code, detail) = in_time("the wait of the host", move || waiter.join().unwrap());
        assert_eq!(code, INVALID_CONTEXT, "{detail:?}");
        let detail = detail.unwrap();
        assert!(detail.contains(&format!("EventSynchronize: process {id} ended before the work")), "{detail}");
        let dead = format!("process {id} ended");
        // A stream's wait ends as well; the stream says so once, and goes on.
        work::comes_to_its_end(*t);
        work::comes_to_its_end(*u);
        fails!(stream_synchronize(*t), INVALID_CONTEXT, "StreamSynchronize", &dead);
        ok!(stream_synchronize(*t));
        assert_eq!(cells.get(0), stepped(0, 5), "what stood behind the wait ran");
        fails!(device_synchronize(), INVALID_CONTEXT, "DeviceSynchronize", &dead);
        ok!(device_synchronize());
        // The record stays lost until there is another.
        fails!(event_query(*event), INVALID_CONTEXT, "EventQuery", &dead);
        fails!(event_synchronize(*event), INVALID_CONTEXT, "EventSynchronize", &dead);
        fails!(stream_wait_event(*t, *event, 0), INVALID_CONTEXT, "StreamWaitEvent", &dead);
        ok!(stream_query(*t));
        ok!(event_record(*event, *t));
        ok!(event_synchronize(*event));
        ok!(event_query(*event));
    }

    /// The driver calls back after the wait has returned, or not at all where the process ends first.
    fn work_that_was_done_before_its_process_ended_is_not_lost() {
        if is_child() {
            let (event, cells, s) = (opened!(&peer::hear()), work::Cells::new(1), work::blocking());
            cells.step(*s, 0, 1);
            ok!(event_record(*event, *s));
            ok!(event_synchronize(*event));
            wait_until("a thread for callbacks", || threads().iter().any(|(_, name)| name == WAKER));
            hold_up_the_waker();
            for number in 0..20 {
                cells.step(*s, 0, number);
                ok!(event_record(*event, *s));
            }
            ok!(stream_synchronize(*s));
            std::process::exit(0);
        }
        let _guard = guard();
        for round in 0..3 {
            let event = shared_event!();
            let mut second = Peer::start(this_test!(), &[]);
            second.say(&handle_of!(*event));
            second.passes();
            assert_eq!(event_query(*event), SUCCESS, "round {round}: {:?}", gridcl::last_error_detail());
            ok!(event_synchronize(*event));
        }
    }

    /// Nobody here may ever wait for it, and some drivers start nothing that was not flushed.
    fn what_is_recorded_for_other_processes_is_on_its_way_at_once() {
        let _guard = guard();
        let (cells, s) = (work::Cells::new(1), work::blocking());
        let event = shared_event!();
        cells.step(*s, 0, 1);
        let ((), calls) = count_calls(|| ok!(event_record(*event, *s)));
        assert!(calls.iter().any(|(entry, _)| *entry == "clFlush"), "{calls:?}");
        ok!(event_synchronize(*event));
    }

    fn an_event_that_its_maker_destroyed_still_works_where_it_is_open() {
        let _guard = guard();
        let (cells, s, t) = (work::Cells::new(1), work::blocking(), work::aside());
        if is_child() {
            let event = opened!(&peer::hear());
            peer::say("opened");
            peer::expect("destroyed");
            assert_eq!(event_query(*event), NOT_READY, "its work goes on");
            ok!(stream_wait_event(*t, *event, 0));
            peer::say("waiting");
            in_time("the event", { let event = *event as usize; move || ok!(event_synchronize(event as Event)) });
            ok!(stream_synchronize(*t));
            ok!(event_record(*event, *t));
            ok!(event_synchronize(*event));
            return;
        }
        let event = shared_event!();
        let gate = hold_legacy();
        cells.step(*s, 0, 1);
        ok!(event_record(*event, *s));
        let mut second = Peer::start(this_test!(), &[]);
        second.say(&handle_of!(*event));
        second.expect("opened");
        drop(event);
        second.say("destroyed");
        second.expect("waiting");
        gate.open();
        second.passes();
    }

    fn an_opened_event_is_one_of_the_current_device_and_keeps_no_times() {
        let _guard = guard();
        let mut count = 0;
        ok!(unsafe { get_device_count(&mut count) });
        if is_child() {
            let event = shared_event!();
            peer::say(&handle_of!(*event));
            peer::expect("recorded");
            ok!(event_synchronize(*event));
            return;
        }
        let mut second = Peer::start(this_test!(), &[]);
        let line = second.hear();
        ok!(set_device(count - 1));
        let (event, here) = (opened!(&line), work::blocking());
        assert_eq!(event_query(*event), SUCCESS, "it was never recorded");
        ok!(event_synchronize(*event));
        ok!(stream_wait_event(*here, *event, 0));
        let mut ms = -7.0;
        fails!(unsafe { event_elapsed_time(&mut ms, *event, *event) }, INVALID_HANDLE, "without timing");
        assert_eq!(ms, -7.0, "nothing was written");
        ok!(event_record(*event, *here));
        if count > 1 {
            ok!(set_device(0));
            let elsewhere = work::blocking();
            fails!(event_record(*event, *elsewhere), INVALID_HANDLE, "the event belongs to device 1");
            ok!(stream_wait_event(*elsewhere, *event, 0));
            ok!(stream_synchronize(*elsewhere));
            // The default stream of the current device is another device's too.
            fails!(event_record(*event, LEGACY), INVALID_HANDLE, "the event belongs to device 1");
        } else {
            eprintln!("the half about two devices is skipped: there is one");
        }
        second.say("recorded");
        second.passes();
        ok!(set_device(0));
    }

    fn an_opened_event_can_be_handed_on_and_comes_home_as_another_object() {
        let _guard = guard();
        if is_child() {
            let event = opened!(&peer::hear());
            peer::say(&handle_of!(*event));
            return peer::expect("end");
        }
        let s = work::blocking();
        let event = shared_event!();
        let mut second = Peer::start(this_test!(), &[]);
        second.say(&handle_of!(*event));
        let again = opened!(&second.hear());
        let gate = hold_legacy();
        ok!(event_record(*event, *s));
        assert_eq!(event_query(*again), NOT_READY);
        gate.open();
        ok!(event_synchronize(*again));
        assert_eq!((event_query(*again), event_query(*event)), (SUCCESS, SUCCESS));
        second.say("end");
        second.passes();
    }

    fn an_event_holds_some_thousand_pending_records_and_says_when_it_is_full() {
        let _guard = guard();
        let s = work::blocking();
        let event = shared_event!();
        let gate = hold_legacy();
        let mut records = 0;
        while event_record(*event, *s) == SUCCESS {
            records += 1;
            assert!(records < 100_000, "the page is of a fixed size");
        }
        assert!(records >= 1000, "{records}");
        fails!(event_record(*event, *s), OUT_OF_MEMORY, "EventRecord", &format!("all {records} records"), "pending");
        assert_eq!(event_query(*event), NOT_READY, "the latest record is still there");
        let other = shared_event!();
        ok!(event_record(*other, *s));
        gate.open();
        ok!(event_synchronize(*event));
        ok!(device_synchronize());
        wait_until("room", || event_record(*event, *s) == SUCCESS);
        let _ = get_last_error();
        ok!(event_synchronize(*event));
    }

    fn work_under_way_in_two_processes_is_waited_for_many_times_over() {
        let _guard = guard();
        let (cells, s, t) = (work::Cells::new(1), work::blocking(), work::aside());
        const RECORDS: u32 = 200;
        if is_child() {
            let event = opened!(&peer::hear());
            peer::expect("go");
            for number in 0..RECORDS {
                cells.step_for(*s, 0, number, if number % 64 == 0 { LONG / 64 } else { 10 });
                ok!(event_record(*event, *s));
            }
            ok!(stream_synchronize(*s));
            peer::say("done");
            return peer::expect("end");
        }
        let event = shared_event!();
        let mut second = Peer::start(this_test!(), &[]);
        second.say(&handle_of!(*event));
        second.say("go");
        for turn in 0..RECORDS {
            ok!(stream_wait_event(*t, *event, 0));
            if turn % 8 == 0 {
                ok!(event_synchronize(*event));
            }
        }
        second.expect("done");
        ok!(event_synchronize(*event));
        in_time("the waits of a stream", { let t = *t as usize; move || ok!(stream_synchronize(t as Stream)) });
        second.say("end");
        second.passes();
    }
}
