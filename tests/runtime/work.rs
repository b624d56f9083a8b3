//! Work whose result tells the order in which it ran, for the tests of streams, events and the default stream.
//!
//! A *cell* is a word of device memory. A *step* reads a cell, dawdles, and writes what it read times three plus a
//! number: two steps that overlap lose one of them, and two that change places give another value.

use crate::support::device;
use gridcl::testing::Gate;

/// What a step with `number` makes of a cell.
pub const fn stepped(value: u32, number: u32) -> u32 {
    value.wrapping_mul(3).wrapping_add(number)
}

/// What a set with `byte` makes of a cell.
pub const fn filled(byte: u8) -> u32 {
    u32::from_ne_bytes([byte; 4])
}

/// Turns of a step that takes some tenths of a millisecond: long enough for other work to overtake it.
pub const SLOW: u32 = 100_000;

/// Turns of a step that is over at once.
pub const BRISK: u32 = 0;

/// Turns of a step that takes some tens of milliseconds: long enough to be looked at while it runs.
pub const LONG: u32 = 20_000_000;

/// Holds the default stream of the first device back, and with it whatever waits for it.
pub fn hold_legacy() -> Gate {
    Gate::close(&device().default_stream().expect("the default stream")).expect("a gate")
}

/// The same for a stream of the safe API without an order with the default stream.
pub fn gated_aside() -> (gridcl::Stream, Gate) {
    let stream = device().create_stream_with(gridcl::StreamFlags::NON_BLOCKING, 0).expect("a stream");
    let gate = Gate::close(&stream).expect("a gate");
    (stream, gate)
}

const SOURCE: &std::ffi::CStr = c"
    __kernel void step_cell(__global uint *cells, uint cell, uint number, uint turns) {
        volatile __global uint *word = cells + cell;
        uint before = *word;
        uint dawdle = number | 1u;
        for (uint turn = 0; turn < turns; turn++) {
            dawdle ^= dawdle << 13;
            dawdle ^= dawdle >> 17;
            dawdle ^= dawdle << 5;
        }
        // `dawdle` is never 0, which the compiler does not know.
        *word = before * 3u + number + (dawdle == 0u);
    }";

macro_rules! work_of {
    ($prefix:ident) => {
        /// The same for one dialect.
        #[allow(dead_code)]
        pub mod $prefix {
            use super::SOURCE;
            use crate::dialects::$prefix::*;
            use crate::support::wait_until;
            use std::ffi::{c_uint, c_void};
            use std::ops::Deref;
            use std::ptr::null_mut;

            /// A stream that is destroyed when it goes out of scope.
            #[derive(Debug)]
            pub struct Made(Stream);

            /// A blocking stream.
            pub fn blocking() -> Made {
                made(0)
            }

            /// A stream without an order with the default stream.
            pub fn aside() -> Made {
                made(NON_BLOCKING)
            }

            fn made(flags: c_uint) -> Made {
                let mut stream = null_mut();
                ok!(unsafe { stream_create_with_flags(&mut stream, flags) });
                Made(stream)
            }

            impl Deref for Made {
                type Target = Stream;
                fn deref(&self) -> &Stream {
                    &self.0
                }
            }

            impl Drop for Made {
                fn drop(&mut self) {
                    let code = stream_destroy(self.0);
                    assert!(code == SUCCESS || std::thread::panicking(), "{:?}", gridcl::last_error_detail());
                }
            }

            /// An event that is destroyed when it goes out of scope.
            #[derive(Debug)]
            pub struct Point(Event);

            /// An event that keeps times.
            pub fn timed() -> Point {
                point(0)
            }

            /// An event without times.
            pub fn untimed() -> Point {
                point(EVENT_DISABLE_TIMING)
            }

            /// An event with flags.
            pub fn point(flags: c_uint) -> Point {
                let mut event = null_mut();
                ok!(unsafe { event_create_with_flags(&mut event, flags) });
                Point(event)
            }

            impl Point {
                /// An event that was made otherwise.
                pub fn of(event: Event) -> Self {
                    Self(event)
                }
            }

            impl Deref for Point {
                type Target = Event;
                fn deref(&self) -> &Event {
                    &self.0
                }
            }

            impl Drop for Point {
                fn drop(&mut self) {
                    let code = event_destroy(self.0);
                    assert!(code == SUCCESS || std::thread::panicking(), "{:?}", gridcl::last_error_detail());
                }
            }

            /// Cells of the device that was current when they were made, and a stream aside to look at them.
            #[derive(Debug)]
            pub struct Cells {
                module: Module,
                step: Function,
                base: *mut c_void,
                count: usize,
                aside: Made,
            }

            impl Cells {
                /// `count` cells that hold 0.
                pub fn new(count: usize) -> Self {
                    let (mut module, mut step, mut base) = (null_mut(), null_mut(), null_mut());
                    ok!(unsafe { module_load_data(&mut module, SOURCE.as_ptr().cast()) });
                    ok!(unsafe { module_get_function(&mut step, module, c"step_cell".as_ptr()) });
                    // One more for `look_around`.
                    ok!(unsafe { malloc(&mut base, (count + 1) * 4) });
                    let cells = Self { module, step, base, count, aside: aside() };
                    cells.clear();
                    // The first launch may compile, which later ones should not be held up by.
                    cells.look_around();
                    cells
                }

                /// Sets all cells to 0, after all work so far.
                pub fn clear(&self) {
                    ok!(memset(self.base, 0, (self.count + 1) * 4));
                    ok!(device_synchronize());
                }

                /// The same in a stream's order alone.
                pub fn clear_in(&self, stream: Stream) {
                    ok!(memset_async(self.base, 0, self.count * 4, stream));
                }

                /// Where a cell lies.
                pub fn at(&self, cell: usize) -> *mut c_void {
                    self.base.wrapping_byte_add(cell * 4)
                }

                /// Launches a slow step.
                pub fn step(&self, stream: Stream, cell: usize, number: u32) {
                    self.step_for(stream, cell, number, super::SLOW);
                }

                /// Launches a step of so many turns.
                pub fn step_for(&self, stream: Stream, cell: usize, number: u32, turns: u32) {
                    ok!(self.try_step(stream, cell, number, turns));
                }

                /// The same, to see the answer.
                pub fn try_step(&self, stream: Stream, cell: usize, number: u32, turns: u32) -> Code {
                    let (cell, one) = (cell as u32, dim3::new(1, 1, 1));
                    let mut args: [*mut c_void; 4] = [
                        (&raw const self.base).cast_mut().cast(),
                        (&raw const cell).cast_mut().cast(),
                        (&raw const number).cast_mut().cast(),
                        (&raw const turns).cast_mut().cast(),
                    ];
                    unsafe { launch_kernel(self.step.cast(), one, one, args.as_mut_ptr(), 0, stream) }
                }

                /// Copies a cell.
                pub fn copy(&self, stream: Stream, to: usize, from: usize) {
                    ok!(unsafe { memcpy_async(self.at(to), self.at(from), 4, DEVICE_TO_DEVICE, stream) });
                }

                /// Sets each byte of a cell.
                pub fn set(&self, stream: Stream, cell: usize, byte: u8) {
                    ok!(memset_async(self.at(cell), byte.into(), 4, stream));
                }

                /// What a cell holds after all work of the default stream and of blocking streams.
                pub fn get(&self, cell: usize) -> u32 {
                    let mut value = 0u32;
                    ok!(unsafe { memcpy((&raw mut value).cast(), self.at(cell), 4, DEVICE_TO_HOST) });
                    value
                }

                /// What a cell holds now; waits for nobody.
                pub fn peek(&self, cell: usize) -> u32 {
                    let mut value = 0u32;
                    let to = (&raw mut value).cast();
                    ok!(unsafe { memcpy_async(to, self.at(cell), 4, DEVICE_TO_HOST, *self.aside) });
                    value
                }

                /// What all cells hold after all work of the device.
                pub fn all(&self) -> Vec<u32> {
                    ok!(device_synchronize());
                    let mut values = vec![0u32; self.count];
                    ok!(unsafe { memcpy(values.as_mut_ptr().cast(), self.base, self.count * 4, DEVICE_TO_HOST) });
                    values
                }

                /// Runs unrelated work to its end: what could run meanwhile has had its chance.
                pub fn look_around(&self) {
                    self.step(*self.aside, self.count, 1);
                    comes_to_its_end(*self.aside);
                }

                /// Asserts that a stream does not come to its end while other work does.
                pub fn held(&self, stream: Stream) {
                    for _ in 0..3 {
                        assert_eq!(stream_query(stream), NOT_READY, "the stream is held back");
                        self.look_around();
                    }
                    assert_eq!(stream_query(stream), NOT_READY, "the stream is held back");
                }

                /// Asserts that an event does not complete while other work does.
                pub fn held_event(&self, event: Event) {
                    for _ in 0..3 {
                        assert_eq!(event_query(event), NOT_READY, "the event is held back");
                        self.look_around();
                    }
                    assert_eq!(event_query(event), NOT_READY, "the event is held back");
                }
            }

            // SAFETY: handles are numbers, and the calls may come from any thread.
            unsafe impl Send for Cells {}
            unsafe impl Sync for Cells {}
            unsafe impl Sync for Made {}
            unsafe impl Sync for Point {}

            impl Drop for Cells {
                fn drop(&mut self) {
                    for code in [free(self.base), module_unload(self.module)] {
                        assert!(code == SUCCESS || std::thread::panicking(), "{:?}", gridcl::last_error_detail());
                    }
                }
            }

            /// Waits until a stream has no work left, without blocking in the runtime.
            pub fn comes_to_its_end(stream: Stream) {
                wait_until("the end of a stream's work", || done(stream_query(stream)));
            }

            /// Waits until an event is complete, without blocking in the runtime.
            pub fn completes(event: Event) {
                wait_until("an event", || done(event_query(event)));
            }

            /// Whether a query says that all is done.
            pub fn done(code: Code) -> bool {
                assert!(code == SUCCESS || code == NOT_READY, "{code:?}: {:?}", gridcl::last_error_detail());
                code == SUCCESS
            }
        }
    };
}

work_of!(musa);
work_of!(tops);
