//! Handles of interprocess events (behaviour.md 2.5, 3.9 Ipc rows): what is refused, with which words, and what is left behind,
//! which is nothing.

use crate::child::is_child;
use crate::ipc::{hex, unhex};
use crate::peer::{self, Peer};
use crate::support::wait_until;
use crate::work::hold_legacy;
use gridcl::testing::guard;
use gridcl::{ErrorKind, Event as SafeEvent, EventFlags};
use sha2::{Digest, Sha256};
use std::ffi::c_char;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;

/// Where things stand in a handle.
const PID: std::ops::Range<usize> = 12..16;
const START: std::ops::Range<usize> = 16..24;
const DESCRIPTOR: std::ops::Range<usize> = 24..28;
const NONCE: std::ops::Range<usize> = 28..44;

/// A handle with some bytes changed, and a checksum that says that all is well.
fn forged(handle: &[c_char; 64], at: std::ops::Range<usize>, with: &[u8]) -> [c_char; 64] {
    let mut bytes = handle.map(c_char::cast_unsigned);
    bytes[at].copy_from_slice(with);
    let digest = Sha256::digest(&bytes[..48]);
    bytes[48..].copy_from_slice(&digest[..16]);
    bytes.map(u8::cast_signed)
}

fn bytes_of(handle: &[c_char; 64], at: std::ops::Range<usize>) -> Vec<u8> {
    handle[at].iter().map(|byte| byte.cast_unsigned()).collect()
}

/// What this process has open.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// How many pages of events this process has open, and how many mapped.
fn pages() -> (usize, usize) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    // The listing itself is among them, and gone by now.
    let targets = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let of_events = |text: &str| text.contains("gridcl-event");
    (targets.filter(|to| of_events(&to.to_string_lossy())).count(), maps.lines().filter(|line| of_events(line)).count())
}

/// Waits until none is left: callbacks under way hold what their events had mapped.
fn no_pages_are_left() {
    wait_until("pages go with their events", || pages() == (0, 0));
}

/// An event that is never dereferenced.
const UNTOUCHED: usize = 0x7070;

/// Asserts that a handle is refused with a code and words, and that no event was made of it.
macro_rules! refused {
    ($handle:expr, $code:expr, $($text:expr),+) => {{
        let mut event = std::ptr::without_provenance_mut(UNTOUCHED);
        fails!(
            unsafe { ipc_open_event_handle(&mut event, IpcEventHandle { reserved: $handle }) },
            $code, "IpcOpenEventHandle: handle = ", $($text),+
        );
        assert_eq!(event.addr(), UNTOUCHED, "nothing was written");
    }};
}

both_dialects! {
    fn an_interprocess_event_keeps_no_times() {
        let _guard = guard();
        let mut event = std::ptr::without_provenance_mut(UNTOUCHED);
        for flags in [EVENT_INTERPROCESS, EVENT_INTERPROCESS | EVENT_BLOCKING_SYNC] {
            fails!(
                unsafe { event_create_with_flags(&mut event, flags) },
                INVALID_VALUE, &format!("flags = {flags:#x}"), "keeps no times", "DisableTiming"
            );
            assert_eq!(event.addr(), UNTOUCHED, "nothing was written");
        }
        for more in [0, EVENT_BLOCKING_SYNC] {
            let event = work::point(EVENT_INTERPROCESS | EVENT_DISABLE_TIMING | more);
            assert_eq!(event_query(*event), SUCCESS);
            ok!(event_synchronize(*event));
            ok!(event_record(*event, LEGACY));
            ok!(event_synchronize(*event));
            let mut ms = -7.0;
            fails!(unsafe { event_elapsed_time(&mut ms, *event, *event) }, INVALID_HANDLE, "without timing");
        }
    }

    fn only_an_interprocess_event_has_a_handle() {
        let _guard = guard();
        let blank = IpcEventHandle { reserved: [0x55; 64] };
        let mut handle = blank;
        for event in [work::timed(), work::untimed()] {
            fails!(
                unsafe { ipc_get_event_handle(&mut handle, *event) },
                INVALID_VALUE, "IpcGetEventHandle: event", "Interprocess and DisableTiming"
            );
        }
        fails!(unsafe { ipc_get_event_handle(&mut handle, null_mut()) }, INVALID_HANDLE, "null is not an event");
        let event = work::point(EVENT_INTERPROCESS | EVENT_DISABLE_TIMING);
        let dead = *event;
        fails!(unsafe { ipc_get_event_handle(null_mut(), *event) }, INVALID_VALUE, "handle = null");
        ok!(unsafe { ipc_get_event_handle(&mut handle, *event) });
        assert_ne!(handle, blank);
        let (first, mut second) = (handle, blank);
        ok!(unsafe { ipc_get_event_handle(&mut second, *event) });
        assert_eq!(first, second, "it stays the same");
        drop(event);
        handle = blank;
        fails!(unsafe { ipc_get_event_handle(&mut handle, dead) }, INVALID_HANDLE, "IpcGetEventHandle: event = 0x");
        assert_eq!(handle, blank, "nothing was written");
    }

    fn a_handle_does_not_open_in_its_own_process() {
        let _guard = guard();
        let event = work::point(EVENT_INTERPROCESS | EVENT_DISABLE_TIMING);
        let mut handle = IpcEventHandle::default();
        ok!(unsafe { ipc_get_event_handle(&mut handle, *event) });
        let place = format!("of process {}", std::process::id());
        refused!(handle.reserved, INVALID_CONTEXT, &place, "made by this process");
        fails!(unsafe { ipc_open_event_handle(null_mut(), handle) }, INVALID_VALUE, "event = null");
        ok!(event_record(*event, LEGACY));
        ok!(event_synchronize(*event));
    }

    fn a_handle_that_leads_elsewhere_is_refused() {
        let _guard = guard();
        if is_child() {
            let (event, other) = (
                work::point(EVENT_INTERPROCESS | EVENT_DISABLE_TIMING),
                work::point(EVENT_INTERPROCESS | EVENT_DISABLE_TIMING),
            );
            let mut handles = [IpcEventHandle::default(); 2];
            ok!(unsafe { ipc_get_event_handle(&mut handles[0], *event) });
            ok!(unsafe { ipc_get_event_handle(&mut handles[1], *other) });
            handles.iter().for_each(|handle| peer::say(&hex(&handle.reserved)));
            // What a guess might find: files of the right size or contents, sealed or not, and what is no file.
            let number = u32::from_le_bytes(bytes_of(&handles[0].reserved, DESCRIPTOR).try_into().unwrap());
            let page = std::fs::read(format!("/proc/self/fd/{number}")).unwrap();
            let file = |contents: &[u8], seals: i32| {
                let file = unsafe { libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
                let file = unsafe { OwnedFd::from_raw_fd(file) };
                std::fs::File::from(file.try_clone().unwrap()).write_all(contents).unwrap();
                assert_eq!(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) }, 0);
                file
            };
            let all = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
            let files = [
                file(&page, 0), file(&page, libc::F_SEAL_GROW), file(&page, all & !libc::F_SEAL_SHRINK),
                file(&page, all | libc::F_SEAL_WRITE), file(&vec![0; page.len()], all), file(&[], all),
                file(&[&page[..], &[0]].concat(), all), file(&page[1..], all),
            ];
            let (reader, writer) = std::io::pipe().unwrap();
            let numbers: Vec<i32> = files.iter().map(AsRawFd::as_raw_fd).collect();
            let rest = [0, 1, 2, reader.as_raw_fd(), writer.as_raw_fd()];
            let numbers: Vec<String> = numbers.iter().chain(&rest).map(ToString::to_string).collect();
            peer::say(&numbers.join(" "));
            peer::expect("destroy");
            let gate = hold_legacy();
            ok!(event_record(*event, LEGACY));
            drop(event);
            peer::say("destroyed");
            peer::expect("end");
            return gate.open();
        }
        let mut second = Peer::start(this_test!(), &[]);
        let (handle, other) = (unhex(&second.hear()), unhex(&second.hear()));
        let place = format!("descriptor {} of process {}", handle[DESCRIPTOR.start], second.id());
        let open = |handle: [c_char; 64]| {
            let mut event = null_mut();
            ok!(unsafe { ipc_open_event_handle(&mut event, IpcEventHandle { reserved: handle }) });
            work::Point::of(event)
        };
        drop(open(handle));
        drop(open(forged(&handle, 0..0, &[])));
        // Bytes that are no handle.
        refused!([0; 64], INVALID_HANDLE, "not a handle of an interprocess event");
        refused!([-1; 64], INVALID_HANDLE, "not a handle of an interprocess event");
        for at in 8..64 {
            let mut damaged = handle;
            damaged[at] ^= 1;
            refused!(damaged, INVALID_HANDLE, if at < 12 { "another version" } else { "damaged" });
        }
        // Handles that nobody made, with nothing wrong about their form.
        let foreign = "not that of an event any more";
        refused!(forged(&handle, NONCE, &[7; 16]), INVALID_HANDLE, &place, foreign);
        refused!(forged(&handle, NONCE, &bytes_of(&other, NONCE)), INVALID_HANDLE, foreign);
        refused!(forged(&handle, DESCRIPTOR, &bytes_of(&other, DESCRIPTOR)), INVALID_HANDLE, foreign);
        for number in second.hear().split(' ').map(|number| number.parse::<u32>().unwrap()) {
            refused!(forged(&handle, DESCRIPTOR, &number.to_le_bytes()), INVALID_HANDLE, &format!("{number} of process"));
        }
        for number in [9999, u32::MAX, 1 << 31] {
            let forged = forged(&handle, DESCRIPTOR, &number.to_le_bytes());
            refused!(forged, INVALID_HANDLE, &format!("descriptor {number} of"), "its event was destroyed", "/proc/");
        }
        let start = u64::from_le_bytes(bytes_of(&handle, START).try_into().unwrap());
        for start in [start + 1, start - 1, 0, u64::MAX] {
            refused!(forged(&handle, START, &start.to_le_bytes()), INVALID_HANDLE, "has ended, and its number is another's");
        }
        for pid in [0, 1, std::process::id(), u32::MAX, 1 << 22] {
            refused!(forged(&handle, PID, &pid.to_le_bytes()), INVALID_HANDLE, &format!("of process {pid}"), "has ended");
        }
        // Handles that were good once.
        let kept = open(handle);
        second.say("destroy");
        second.expect("destroyed");
        refused!(handle, INVALID_HANDLE, &place, "its event was destroyed", "No such file");
        assert_eq!(event_query(*kept), NOT_READY, "what was opened before goes on");
        drop(open(other));
        second.say("end");
        second.passes();
        refused!(other, INVALID_HANDLE, "has ended", "No such file");
        ok!(event_query(*kept));
    }

    /// As root only, who alone can be somebody else.
    fn a_handle_of_another_users_process_is_refused() {
        let _guard = guard();
        if unsafe { libc::geteuid() } != 0 {
            return eprintln!("skipped: needs root");
        }
        if is_child() {
            const NOBODY: libc::uid_t = 65534;
            assert_eq!(unsafe { libc::setresuid(NOBODY, NOBODY, NOBODY) }, 0);
            assert_eq!(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1) }, 0, "as a process that began as this user is");
            refused!(unhex(&peer::hear()), INVALID_HANDLE, "a process that this one may not look into");
            let event = work::point(EVENT_INTERPROCESS | EVENT_DISABLE_TIMING);
            let mut handle = IpcEventHandle::default();
            ok!(unsafe { ipc_get_event_handle(&mut handle, *event) });
            peer::say(&hex(&handle.reserved));
            return peer::expect("end");
        }
        let event = work::point(EVENT_INTERPROCESS | EVENT_DISABLE_TIMING);
        let mut handle = IpcEventHandle::default();
        ok!(unsafe { ipc_get_event_handle(&mut handle, *event) });
        let mut second = Peer::start(this_test!(), &[]);
        second.say(&hex(&handle.reserved));
        refused!(unhex(&second.hear()), INVALID_HANDLE, "a process of another user");
        second.say("end");
        second.passes();
    }

    fn records_and_openings_leave_nothing_behind() {
        let _guard = guard();
        if is_child() {
            let line = peer::hear();
            let turn = || {
                let mut event = null_mut();
                let handle = IpcEventHandle { reserved: unhex(&line) };
                ok!(unsafe { ipc_open_event_handle(&mut event, handle) });
                let event = work::Point::of(event);
                ok!(event_record(*event, LEGACY));
                ok!(event_synchronize(*event));
                ok!(stream_wait_event(LEGACY, *event, 0));
                ok!(device_synchronize());
            };
            turn();
            no_pages_are_left();
            let before = descriptors();
            (0..200).for_each(|_| turn());
            no_pages_are_left();
            return assert_eq!(descriptors(), before);
        }
        no_pages_are_left();
        let event = work::point(EVENT_INTERPROCESS | EVENT_DISABLE_TIMING);
        assert_eq!(pages(), (1, 1));
        let s = work::blocking();
        let cells = work::Cells::new(1);
        for number in 0..1000 {
            cells.step_for(*s, 0, number, 0);
            ok!(event_record(*event, *s));
            ok!(event_synchronize(*event));
        }
        let mut handle = IpcEventHandle::default();
        ok!(unsafe { ipc_get_event_handle(&mut handle, *event) });
        let mut second = Peer::start(this_test!(), &[]);
        second.say(&hex(&handle.reserved));
        second.passes();
        assert_eq!(pages(), (1, 1));
        drop(event);
        no_pages_are_left();
        for _ in 0..100 {
            let event = work::point(EVENT_INTERPROCESS | EVENT_DISABLE_TIMING);
            ok!(event_record(*event, *s));
        }
        ok!(device_synchronize());
        no_pages_are_left();
    }

    /// There is no name anywhere, so there is nothing to clean up.
    fn a_killed_process_leaves_no_file() {
        let _guard = guard();
        if is_child() {
            let event = work::point(EVENT_INTERPROCESS | EVENT_DISABLE_TIMING);
            let mut handle = IpcEventHandle::default();
            ok!(unsafe { ipc_get_event_handle(&mut handle, *event) });
            let _gate = hold_legacy();
            ok!(event_record(*event, LEGACY));
            peer::say(&hex(&handle.reserved));
            // Never comes.
            return peer::expect("the end");
        }
        let folder = std::env::temp_dir().join(format!("gridcl-{NAME}-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let list = |folder: &std::path::Path| -> Vec<_> {
            let ours = |name: &String| name.contains("gridcl");
            let entries = std::fs::read_dir(folder).into_iter().flatten();
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).filter(ours).collect()
        };
        let shared = std::path::Path::new("/dev/shm");
        let before = list(shared);
        let mut second = Peer::start(this_test!(), &[("TMPDIR", folder.to_str().unwrap())]);
        let mut event = null_mut();
        let handle = IpcEventHandle { reserved: unhex(&second.hear()) };
        ok!(unsafe { ipc_open_event_handle(&mut event, handle) });
        let event = work::Point::of(event);
        assert_eq!(event_query(*event), NOT_READY);
        second.kill();
        fails!(event_query(*event), INVALID_CONTEXT, &format!("process {} ended", second.id()));
        refused!(handle.reserved, INVALID_HANDLE, "has ended");
        let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(list(shared), before);
    }
}

#[test]
fn the_safe_events_say_the_same() {
    let _guard = guard();
    let device = crate::support::device();
    let error = SafeEvent::with_flags(device, EventFlags::INTERPROCESS).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidValue, "{error}");
    let error = SafeEvent::new(device).unwrap().ipc_handle().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidValue, "{error}");
    let event = SafeEvent::with_flags(device, EventFlags::INTERPROCESS | EventFlags::DISABLE_TIMING).unwrap();
    let error = SafeEvent::open_ipc(device, &event.ipc_handle().unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidContext, "{error}");
    let error = SafeEvent::open_ipc(device, &[0; 64]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidHandle, "{error}");
    assert!(event.is_done().unwrap());
}
