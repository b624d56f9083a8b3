//! An entry point says that the device died: whichever it is, that call and every later one that needs the device say
//! so, nothing hangs, and the process ends well. Each time in a process of its own.

use super::statuses::DEATHS;
use crate::child;
use crate::support::device;
use crate::watchdog::Watchdog;
use gridcl::ErrorKind;
use gridcl::testing::{Gate, clear_fault, count_calls, fail, guard};
use std::ffi::c_void;
use std::ptr::null_mut;

const ENTRY: &str = "GRIDCL_TEST_ENTRY";
const STATUS: &str = "GRIDCL_TEST_STATUS";

/// Whether drivers tell of a dead device by it.
fn tells(entry: &str) -> bool {
    entry.starts_with("clEnqueue") || ["clFinish", "clFlush", "clWaitForEvents", "clGetEventInfo"].contains(&entry)
}

both_dialects! {
    fn a_device_that_dies_is_dead_to_every_call() {
        let name = format!("faults::device_dies::{NAME}::a_device_that_dies_is_dead_to_every_call");
        if child::is_child() {
            let entry = std::env::var(ENTRY).unwrap();
            return die_by(&entry, std::env::var(STATUS).unwrap().parse().unwrap());
        }
        let _guard = guard();
        let objects = Objects::new();
        let ((), calls) = count_calls(|| {
            let codes = objects.use_all();
            assert!(codes.iter().all(|(_, code)| *code == SUCCESS || *code == NOT_READY), "{codes:?}");
        });
        objects.end();
        let entries: Vec<&str> = calls.iter().map(|(entry, _)| *entry).filter(|entry| tells(entry)).collect();
        assert!(entries.len() >= 7, "{entries:?}");
        for (index, entry) in entries.iter().enumerate() {
            let (status, _) = DEATHS[index % DEATHS.len()];
            child::passes(&name, &[(ENTRY, entry), (STATUS, &status.to_string())]);
        }

        fn die_by(entry: &str, status: i32) {
            let _watchdog = Watchdog::new(entry);
            let (_, kind) = DEATHS.into_iter().find(|(number, _)| *number == status).unwrap();
            let death = match (kind, NAME) {
                (ErrorKind::IllegalAddress, _) => Code(700),
                (_, "musa") => Code(400),
                _ => Code(719),
            };
            let objects = Objects::new();
            fail(entry, 0, status);
            let codes = objects.use_all();
            assert!(!clear_fault(), "{entry} is called");
            let first = codes.iter().position(|(_, code)| *code == death);
            let first = first.unwrap_or_else(|| panic!("nobody was told: {codes:?}"));
            let well = |code: Code| code == SUCCESS || code == NOT_READY;
            assert!(codes[..first].iter().all(|&(_, code)| well(code)), "{codes:?}");
            assert!(codes[first..].iter().all(|&(_, code)| code == death), "{codes:?}");
            let again = objects.use_all();
            assert!(again.iter().all(|&(_, code)| code == death), "{again:?}");
            assert_eq!(unsafe { malloc(&mut null_mut(), 64) }, death);
            assert_eq!(unsafe { stream_create(&mut null_mut()) }, death);
            assert_eq!(unsafe { module_load_data(&mut null_mut(), TEXT.as_ptr().cast()) }, death);
            // Giving things up works, or says the same; it does not hang.
            for code in objects.give_up() {
                assert!(code == SUCCESS || code == death, "{code:?}: {:?}", gridcl::last_error_detail());
            }
        }

        const TEXT: &std::ffi::CStr = c"__kernel void add(__global uint *x) { x[get_global_id(0)] += 1; }";

        struct Objects {
            module: Module,
            add: Function,
            memory: *mut c_void,
            pinned: *mut c_void,
            streams: [Stream; 2],
            event: Event,
        }

        impl Objects {
            fn new() -> Self {
                let module = load!(TEXT.to_bytes());
                let (mut memory, mut pinned, mut event) = (null_mut(), null_mut(), null_mut());
                let mut streams = [null_mut(); 2];
                ok!(unsafe { malloc(&mut memory, 4096) });
                ok!(unsafe { host_malloc(&mut pinned, 4096) });
                for stream in &mut streams {
                    ok!(unsafe { stream_create(stream) });
                }
                ok!(unsafe { event_create_with_flags(&mut event, EVENT_DISABLE_TIMING) });
                // Nothing is under way when the device dies: what it had to do then would be the driver's to end.
                ok!(device_synchronize());
                Self { module, add: function!(module, c"add"), memory, pinned, streams, event }
            }

            /// One call of each kind that makes the device work or asks about its work.
            fn use_all(&self) -> Vec<(&'static str, Code)> {
                let [s, t] = self.streams;
                let host = self.pinned.cast_const();
                let mut codes = vec![("memset", memset_async(self.memory, 1, 4096, s))];
                // With something to wait for, everything after it takes the way through the queues.
                let gate = device().default_stream().and_then(|of| Gate::close(&of)).ok();
                codes.extend([
                    ("record", event_record(self.event, s)),
                    ("wait", stream_wait_event(t, self.event, 0)),
                    ("up", unsafe { memcpy_async(self.memory, host, 64, HOST_TO_DEVICE, t) }),
                    ("within", unsafe {
                        memcpy_async(self.memory.wrapping_byte_add(64), self.memory, 64, DEVICE_TO_DEVICE, t)
                    }),
                    ("launch", launch_in!(t, self.add, 1, 16, 0, [self.memory])),
                    ("query", stream_query(t)),
                    ("event query", event_query(self.event)),
                ]);
                drop(gate);
                codes.extend([
                    ("down", unsafe { memcpy_async(self.pinned, self.memory, 64, DEVICE_TO_HOST, t) }),
                    ("event", event_synchronize(self.event)),
                    ("stream", stream_synchronize(t)),
                    ("device", device_synchronize()),
                ]);
                codes
            }

            fn give_up(&self) -> [Code; 7] {
                let [s, t] = self.streams;
                [
                    event_destroy(self.event), stream_destroy(s), stream_destroy(t), host_free(self.pinned),
                    free(self.memory), module_unload(self.module), device_reset(),
                ]
            }

            fn end(&self) {
                ok!(event_destroy(self.event));
                self.streams.iter().for_each(|&stream| ok!(stream_destroy(stream)));
                ok!(host_free(self.pinned));
                ok!(free(self.memory));
                ok!(module_unload(self.module));
            }
        }
    }
}
