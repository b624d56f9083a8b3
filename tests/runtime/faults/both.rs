//! The chapters that both dialects have.

use super::step::Steps;
use super::sweep::{Chapter, Depth, sweep};
use crate::blocks::noise;
use crate::support::device;
use crate::work::stepped;
use gridcl::testing::{Gate, OwnCache, guard};
use gridcl::{Device, DeviceBuffer, ErrorKind, PinnedBuffer};
use std::ffi::{c_uint, c_void};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Bytes of the blocks that the chapters copy.
const BYTES: usize = 40_000;

/// Counts what callbacks were called.
static CALLED: AtomicU32 = AtomicU32::new(0);

const TEXT: &std::ffi::CStr = c"
    typedef struct { int by; float unused; } config;
    __constant__ int table[4] = {1, 2, 3, 4};
    __device__ int total;
    __kernel void blend(__global int *x, config c, __local int *scratch, int n) {
        int i = get_global_id(0);
        scratch[get_local_id(0)] = table[i & 3];
        if (i < n) x[i] = x[i] * 3 + c.by + scratch[get_local_id(0)];
        if (i == 0) total += c.by;
    }";

/// What `blend` makes of an element.
fn mixed(index: usize, value: i32, by: i32) -> i32 {
    value.wrapping_mul(3) + by + [1, 2, 3, 4][index & 3]
}

macro_rules! chapters_of {
    ($prefix:ident) => {
        pub mod $prefix {
            use super::*;
            use crate::dialects::$prefix::*;
            use std::ptr::null_mut;

            /// What chapters find there: words that steps are made on, and memory that has to stay as it is.
            pub struct Kit {
                cells: work::Cells,
                kept: *mut c_void,
            }

            impl Kit {
                pub fn new() -> Self {
                    Self { cells: work::Cells::new(2), kept: uploaded!(noise(77, BYTES)) }
                }
            }

            impl Drop for Kit {
                fn drop(&mut self) {
                    let code = free(self.kept);
                    assert!(code == SUCCESS || std::thread::panicking(), "{:?}", gridcl::last_error_detail());
                }
            }

            /// Asserts that memory which a chapter had nothing to do with is as it was.
            pub fn check(kit: &Kit) {
                assert!(downloaded!(kit.kept, BYTES) == noise(77, BYTES), "data that was there before is there");
            }

            /// The chapters that can share a context.
            pub const CHAPTERS: &[Chapter<Kit>] = &[
                Chapter { name: "memory", run: memory },
                Chapter { name: "host memory", run: host_memory },
                Chapter { name: "pools", run: pools },
                Chapter { name: "streams", run: streams },
                Chapter { name: "default stream", run: default_stream },
                Chapter { name: "events", run: events },
                Chapter { name: "callbacks", run: callbacks },
                Chapter { name: "modules", run: modules },
                Chapter { name: "module cache", run: module_cache },
                Chapter { name: "peers", run: peers },
                Chapter { name: "safe surface", run: safe_surface },
            ];

            /// The dialect's number for a kind of error.
            pub fn code_of(kind: ErrorKind) -> i32 {
                match kind {
                    ErrorKind::OutOfMemory => OUT_OF_MEMORY.0,
                    ErrorKind::LaunchOutOfResources => LAUNCH_OUT_OF_RESOURCES.0,
                    ErrorKind::BuildFailed => BUILD_FAILED.0,
                    ErrorKind::NotFound => NOT_FOUND.0,
                    ErrorKind::NotSupported => NOT_SUPPORTED.0,
                    ErrorKind::InvalidConfiguration => INVALID_CONFIGURATION.0,
                    kind => panic!("no test expects {kind:?}"),
                }
            }

            #[test]
            fn every_call_of_opencl_may_fail() {
                let _guard = guard();
                let depth = if NAME == "musa" { Depth::Usual } else { Depth::Brief };
                sweep(CHAPTERS, &Kit::new(), check, depth, code_of);
            }

            #[test]
            fn every_call_of_opencl_may_fail_around_a_reset() {
                let _guard = guard();
                sweep(&[Chapter { name: "reset", run: reset }], &(), |()| (), Depth::Usual, code_of);
            }

            fn allocate(steps: &mut Steps, bytes: usize) -> *mut c_void {
                made!(steps, |out| unsafe { malloc(out, bytes) })
            }

            fn upload(steps: &mut Steps, to: *mut c_void, bytes: &[u8]) {
                step!(steps, unsafe { memcpy(to, bytes.as_ptr().cast(), bytes.len(), HOST_TO_DEVICE) });
            }

            fn holds(steps: &mut Steps, from: *mut c_void, expected: &[u8]) {
                let mut got = vec![0xEE_u8; expected.len()];
                step!(steps, unsafe { memcpy(got.as_mut_ptr().cast(), from.cast_const(), got.len(), DEVICE_TO_HOST) });
                assert!(got == expected, "the memory holds what was written");
            }

            /// A blocking stream, or one aside.
            fn stream(steps: &mut Steps, flags: c_uint) -> Stream {
                made!(steps, |out| unsafe { stream_create_with_flags(out, flags) })
            }

            fn event(steps: &mut Steps, flags: c_uint) -> Event {
                made!(steps, |out| unsafe { event_create_with_flags(out, flags) })
            }

            fn memory(steps: &mut Steps, _: &Kit) {
                let (first, second) = (noise(1, BYTES), noise(2, BYTES));
                let (a, b) = (allocate(steps, BYTES), allocate(steps, 3 << 20));
                upload(steps, a, &first);
                step!(steps, unsafe { memcpy(b, a.cast_const(), BYTES, DEVICE_TO_DEVICE) });
                step!(steps, memset(b.wrapping_byte_add(BYTES), 7, BYTES));
                step!(steps, memset_async(a, 9, 100, LEGACY));
                step!(steps, unsafe {
                    memcpy_async(a.wrapping_byte_add(100), second.as_ptr().cast(), 1000, HOST_TO_DEVICE, PER_THREAD)
                });
                step!(steps, stream_synchronize(PER_THREAD));
                let mut expected = [[9; 100].as_slice(), &second[..1000], &first[1100..]].concat();
                holds(steps, a, &expected);
                expected = [first.as_slice(), &[7; BYTES]].concat();
                holds(steps, b, &expected);
                let (mut free_bytes, mut total) = (0, 0);
                step!(steps, unsafe { mem_get_info(&mut free_bytes, &mut total) });
                step!(steps, device_synchronize());
                // A free that waits.
                step!(steps, memset_async(a, 9, 100, PER_THREAD));
                step!(steps, free(a));
                step!(steps, free(b));
            }

            fn host_memory(steps: &mut Steps, _: &Kit) {
                let bytes = noise(3, BYTES);
                let device = allocate(steps, BYTES);
                let pinned = made!(steps, |out| unsafe { host_malloc(out, BYTES) });
                let mut own = noise(4, BYTES);
                step!(steps, unsafe { host_register(own.as_mut_ptr().cast(), BYTES, 0) });
                unsafe { pinned.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), BYTES) };
                step!(steps, unsafe { memcpy_async(device, pinned.cast_const(), BYTES, HOST_TO_DEVICE, LEGACY) });
                step!(steps, unsafe {
                    memcpy_async(own.as_mut_ptr().cast(), device.cast_const(), BYTES, DEVICE_TO_HOST, LEGACY)
                });
                step!(steps, memset_async(pinned, 5, 64, LEGACY));
                step!(steps, device_synchronize());
                assert!(own == bytes, "registered memory holds what was copied");
                let got = unsafe { std::slice::from_raw_parts(pinned.cast::<u8>(), BYTES) };
                assert!(got[..64] == [5; 64] && got[64..] == bytes[64..], "pinned memory holds what was set");
                let at = own.as_mut_ptr().cast::<c_void>();
                step!(steps, unsafe { memcpy_async(device, at.cast_const(), 64, HOST_TO_DEVICE, PER_THREAD) });
                step!(steps, host_unregister(at));
                step!(steps, unsafe { memcpy_async(device, pinned.cast_const(), 64, HOST_TO_DEVICE, PER_THREAD) });
                step!(steps, host_free(pinned));
                step!(steps, free(device));
            }

            fn pools(steps: &mut Steps, _: &Kit) {
                let s = stream(steps, NON_BLOCKING);
                let pool = {
                    let mut pool: Pool = null_mut();
                    step!(steps, unsafe { device_get_mem_pool(&mut pool, 0) });
                    pool
                };
                let a = made!(steps, |out| unsafe { malloc_async(out, BYTES, s) });
                let b = made!(steps, |out| unsafe { malloc_from_pool_async(out, BYTES, pool, LEGACY) });
                step!(steps, memset_async(a, 3, BYTES, s));
                step!(steps, memset_async(b, 4, BYTES, LEGACY));
                step!(steps, stream_synchronize(s));
                holds(steps, a, &[3; BYTES]);
                holds(steps, b, &[4; BYTES]);
                step!(steps, free_async(a, s));
                let again = made!(steps, |out| unsafe { malloc_async(out, BYTES, s) });
                step!(steps, memset_async(again, 6, BYTES, s));
                step!(steps, stream_synchronize(s));
                holds(steps, again, &[6; BYTES]);
                holds(steps, b, &[4; BYTES]);
                step!(steps, free_async(again, s));
                step!(steps, free(b));
                step!(steps, device_synchronize());
                step!(steps, mem_pool_trim_to(pool, 0));
                step!(steps, stream_destroy(s));
            }

            fn launch(cells: &work::Cells, steps: &mut Steps, stream: Stream, cell: usize, number: u32) {
                step!(steps, cells.try_step(stream, cell, number, crate::work::BRISK));
            }

            fn streams(steps: &mut Steps, kit: &Kit) {
                let cells = &kit.cells;
                let (s, t) = (stream(steps, 0), stream(steps, NON_BLOCKING));
                let done = event(steps, EVENT_DISABLE_TIMING);
                step!(steps, memset_async(cells.at(0), 0, 8, s));
                let of_s = steps.get("the default stream", || device().default_stream());
                let gate = steps.get("a gate", || Gate::close(&of_s));
                launch(cells, steps, s, 0, 5);
                step!(steps, event_record(done, s));
                step!(steps, stream_wait_event(t, done, 0));
                launch(cells, steps, t, 0, 6);
                queried(steps, "a busy stream", &mut || stream_query(s));
                queried(steps, "a waiting stream", &mut || stream_query(t));
                gate.open();
                step!(steps, stream_synchronize(t));
                step!(steps, stream_synchronize(s));
                step!(steps, stream_query(s));
                step!(steps, stream_destroy(s));
                step!(steps, stream_destroy(t));
                step!(steps, event_destroy(done));
                holds(steps, cells.at(0), &stepped(stepped(0, 5), 6).to_ne_bytes());
            }

            fn default_stream(steps: &mut Steps, kit: &Kit) {
                let cells = &kit.cells;
                let (s, t) = (stream(steps, 0), stream(steps, 0));
                step!(steps, memset(cells.at(0), 0, 8));
                launch(cells, steps, s, 0, 1);
                launch(cells, steps, t, 1, 2);
                launch(cells, steps, LEGACY, 0, 3);
                launch(cells, steps, LEGACY, 1, 4);
                launch(cells, steps, s, 1, 5);
                launch(cells, steps, PER_THREAD, 0, 6);
                launch(cells, steps, LEGACY, 0, 7);
                let first = [1, 3, 6, 7].into_iter().fold(0, stepped);
                let second = [2, 4, 5].into_iter().fold(0, stepped);
                let expected = [first.to_ne_bytes(), second.to_ne_bytes()].concat();
                holds(steps, cells.at(0), &expected);
                step!(steps, stream_destroy(s));
                step!(steps, stream_destroy(t));
            }

            fn events(steps: &mut Steps, kit: &Kit) {
                let cells = &kit.cells;
                let s = stream(steps, 0);
                let (start, stop, sleepy) = (event(steps, 0), event(steps, 0), event(steps, EVENT_BLOCKING_SYNC));
                let shared = event(steps, EVENT_INTERPROCESS | EVENT_DISABLE_TIMING);
                step!(steps, memset(cells.at(0), 0, 8));
                step!(steps, event_record(start, s));
                launch(cells, steps, s, 0, 1);
                step!(steps, event_record(stop, s));
                step!(steps, event_record(sleepy, s));
                step!(steps, event_record(shared, s));
                step!(steps, event_synchronize(stop));
                step!(steps, event_synchronize(sleepy));
                step!(steps, event_synchronize(shared));
                step!(steps, event_query(stop));
                step!(steps, stream_wait_event(LEGACY, shared, 0));
                launch(cells, steps, LEGACY, 0, 2);
                let mut ms = -1.0;
                step!(steps, unsafe { event_elapsed_time(&mut ms, start, stop) });
                assert!(ms > 0.0, "{ms}");
                let mut handle = IpcEventHandle::default();
                step!(steps, unsafe { ipc_get_event_handle(&mut handle, shared) });
                for event in [start, stop, sleepy, shared] {
                    step!(steps, event_destroy(event));
                }
                step!(steps, stream_destroy(s));
                holds(steps, cells.at(0), &stepped(stepped(0, 1), 2).to_ne_bytes());
            }

            fn callbacks(steps: &mut Steps, kit: &Kit) {
                unsafe extern "C" fn called(_: Stream, code: Code, _: *mut c_void) {
                    CALLED.fetch_add(if code == SUCCESS { 1 } else { 1000 }, SeqCst);
                }
                let cells = &kit.cells;
                let s = stream(steps, 0);
                CALLED.store(0, SeqCst);
                step!(steps, memset_async(cells.at(0), 0, 8, s));
                for number in 1..4 {
                    launch(cells, steps, s, 0, number);
                    step!(steps, unsafe { stream_add_callback(s, Some(called), null_mut(), 0) });
                }
                launch(cells, steps, s, 0, 4);
                step!(steps, stream_synchronize(s));
                assert_eq!(CALLED.load(SeqCst), 3, "each callback was called once, and told of no error");
                holds(steps, cells.at(0), &[1, 2, 3, 4].into_iter().fold(0, stepped).to_ne_bytes());
                step!(steps, stream_destroy(s));
            }

            fn modules(steps: &mut Steps, _: &Kit) {
                let module: Module = made!(steps, |out| unsafe { module_load_data(out, TEXT.as_ptr().cast()) });
                let blend: Function =
                    made!(steps, |out| unsafe { module_get_function(out, module, c"blend".as_ptr()) });
                let x = allocate(steps, 64 * 4);
                let mut expected: Vec<i32> = (0..64).collect();
                upload(steps, x, bytemuck::cast_slice(&expected));
                let mut attributes = FuncAttributes::default();
                step!(steps, unsafe { func_get_attributes(&mut attributes, blend.cast_const().cast()) });
                for by in [10_i32, 20] {
                    let (config, n) = ([by, 0], 60_i32);
                    let (block, grid) = (dim3::new(16, 1, 1), dim3::new(4, 1, 1));
                    let at = crate::steps::address_of::<*mut c_void>(&x);
                    let mut list = [at, (&raw const config).cast_mut().cast(), (&raw const n).cast_mut().cast()];
                    step!(steps, unsafe { launch_kernel(blend.cast(), grid, block, list.as_mut_ptr(), 64, LEGACY) });
                    for (index, value) in expected.iter_mut().enumerate().take(60) {
                        *value = mixed(index, *value, by);
                    }
                }
                holds(steps, x, bytemuck::cast_slice(&expected));
                let (mut total, mut address, mut bytes) = (0_i32, null_mut(), 0);
                let name = c"total".as_ptr().cast::<c_void>();
                let to = (&raw mut total).cast();
                step!(steps, unsafe { memcpy_from_symbol(to, name, 4, 0, DEVICE_TO_HOST) });
                assert_eq!(total, 30, "each launch ran once");
                step!(steps, unsafe { module_get_global(&mut address, &mut bytes, module, c"table".as_ptr()) });
                let table = c"table".as_ptr().cast::<c_void>();
                step!(steps, unsafe { memcpy_to_symbol(table, [9_i32].as_ptr().cast(), 4, 4, HOST_TO_DEVICE) });
                holds(steps, address, bytemuck::cast_slice(&[1, 9, 3, 4]));
                step!(steps, memset_async(x, 0, 64, PER_THREAD));
                step!(steps, module_unload(module));
                step!(steps, free(x));
            }

            /// A module that comes from the cache on disk, whose folder the sweep keeps.
            fn module_cache(steps: &mut Steps, kit: &Kit) {
                let folder = std::env::temp_dir().join(format!("gridcl-faults-{}", std::process::id()));
                let cache = OwnCache::new(&folder, 1 << 20).unwrap();
                for _ in 0..2 {
                    modules(steps, kit);
                }
                drop(cache);
                std::fs::remove_dir_all(&folder).unwrap();
            }

            fn peers(steps: &mut Steps, _: &Kit) {
                let last = Device::count() as i32 - 1;
                let bytes = noise(8, 3 * BYTES);
                let from = allocate(steps, bytes.len());
                upload(steps, from, &bytes);
                step!(steps, set_device(last));
                let (to, s) = (allocate(steps, bytes.len()), stream(steps, 0));
                step!(steps, memset(to, 1, bytes.len()));
                // What goes wrong on the way is told to who waits, so that the two are one step.
                step!(steps, {
                    let code = memcpy_peer(to, last, from.cast_const(), 0, bytes.len());
                    if code == SUCCESS { device_synchronize() } else { code }
                });
                holds(steps, to, &bytes);
                step!(steps, memset_async(to, 2, bytes.len(), s));
                step!(steps, {
                    let code = memcpy_peer_async(to, last, from.cast_const(), 0, bytes.len(), s);
                    if code == SUCCESS { stream_synchronize(s) } else { code }
                });
                holds(steps, to, &bytes);
                step!(steps, stream_destroy(s));
                step!(steps, free(to));
                step!(steps, set_device(0));
                step!(steps, free(from));
            }

            fn safe_surface(steps: &mut Steps, _: &Kit) {
                let data: Vec<u32> = (0..5000).collect();
                let s = steps.get("a stream", || device().create_stream());
                let a = steps.get("a buffer", || DeviceBuffer::from_slice(&s, &data));
                let mut b = steps.get("zeros", || DeviceBuffer::<u32>::zeroed(&s, 5000));
                steps.get("a copy", || s.copy(&a, &mut b));
                let mut pinned = steps.get("pinned memory", || PinnedBuffer::<u32>::new(device(), 5000));
                steps.get("a download", || s.copy(&b, &mut pinned));
                let got = steps.get("the words", || pinned.read().map(|words| words.to_vec()));
                assert!(got == data, "the words came along");
                let got = steps.get("the words", || b.to_vec(&s));
                assert!(got == data, "the words are there");
                // Given up while their stream may be busy.
                drop((a, b, pinned, s));
            }

            fn reset(steps: &mut Steps, (): &()) {
                let a = allocate(steps, 64);
                step!(steps, memset(a, 3, 64));
                holds(steps, a, &[3; 64]);
                step!(steps, device_reset());
                let b = allocate(steps, 64);
                step!(steps, memset(b, 4, 64));
                holds(steps, b, &[4; 64]);
                step!(steps, free(b));
            }

            /// A query of work that may be going on.
            fn queried(steps: &mut Steps, what: &str, query: &mut dyn FnMut() -> Code) {
                steps.take(what, SUCCESS.0, &mut || match query() {
                    NOT_READY => SUCCESS.0,
                    code => code.0,
                });
            }
        }
    };
}

chapters_of!(musa);
chapters_of!(tops);
