//! Memory to test with, its contents, and gates with a time limit.
//!
//! The macros are for short tests and use the dialect whose names are in scope; [`Calls`] and [`Block`] carry one
//! dialect's calls into helpers that are written once.

use crate::support::PATIENCE;
use gridcl::testing::Gate;
use gridcl::{Device, Stream};
use std::ffi::{c_int, c_void};
use std::slice;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Fresh device memory.
macro_rules! device_memory {
    ($bytes:expr) => {{
        let mut pointer = std::ptr::null_mut();
        ok!(unsafe { malloc(&mut pointer, $bytes) });
        pointer
    }};
}

/// Fresh pinned memory.
macro_rules! pinned_memory {
    ($bytes:expr) => {{
        let mut pointer = std::ptr::null_mut();
        ok!(unsafe { host_malloc(&mut pointer, $bytes) });
        pointer
    }};
}

/// Device memory that holds a copy of some bytes.
macro_rules! uploaded {
    ($bytes:expr) => {{
        let bytes: &[u8] = &$bytes;
        let pointer = device_memory!(bytes.len());
        ok!(unsafe { memcpy(pointer, bytes.as_ptr().cast(), bytes.len(), HOST_TO_DEVICE) });
        pointer
    }};
}

/// The first bytes of device memory.
macro_rules! downloaded {
    ($pointer:expr, $bytes:expr) => {{
        let mut bytes = vec![0xEE_u8; $bytes];
        ok!(unsafe { memcpy(bytes.as_mut_ptr().cast(), $pointer.cast_const(), bytes.len(), DEVICE_TO_HOST) });
        bytes
    }};
}

/// A stream of the dialect: blocking, or with flags.
macro_rules! new_stream {
    () => {
        new_stream!(0)
    };
    ($flags:expr) => {{
        let mut stream = std::ptr::null_mut();
        ok!(unsafe { stream_create_with_flags(&mut stream, $flags) });
        stream
    }};
}

/// Bytes that look like no others: different for each seed, without a period that a misplaced copy could hide in.
pub fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut noise = vec![0; bytes];
    for (index, chunk) in noise.chunks_mut(8).enumerate() {
        let mut word = (index as u64 ^ seed << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        chunk.copy_from_slice(&(word ^ word >> 27).to_le_bytes()[..chunk.len()]);
    }
    noise
}

/// Asserts that two blocks are alike; says where they differ first instead of printing both.
#[track_caller]
pub fn assert_same(got: &[u8], expected: &[u8], what: impl FnOnce() -> String) {
    if got == expected {
        return;
    }
    assert_eq!(got.len(), expected.len(), "{}", what());
    let first = got.iter().zip(expected).position(|(got, expected)| got != expected).unwrap();
    let differing = got.iter().zip(expected).filter(|(got, expected)| got != expected).count();
    panic!("{}: {differing} bytes differ, first [{first}]: {} is not {}", what(), got[first], expected[first]);
}

/// A gate that some work waits behind, for calls that must not wait with it. One that does is let go in the end, and
/// [`open`](Self::open) tells.
pub struct Held {
    gate: Arc<Mutex<Option<Gate>>>,
    _done: Sender<()>,
}

impl Held {
    /// Closes a gate behind a stream's work so far.
    pub fn close(stream: &Stream) -> Self {
        let gate = Arc::new(Mutex::new(Some(Gate::close(stream).expect("a gate"))));
        let (done, told) = channel();
        let watched = Arc::clone(&gate);
        std::thread::spawn(move || {
            if told.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                watched.lock().unwrap().take();
            }
        });
        Self { gate, _done: done }
    }

    /// Closes a gate in a device's default stream, which holds all its blocking streams' later work.
    pub fn default_stream(device: Device) -> Self {
        Self::close(&device.default_stream().expect("the default stream"))
    }

    /// Lets the work go on; panics when it went on already because a call waited.
    pub fn open(self) {
        let gate = self.gate.lock().unwrap().take();
        gate.expect("a call waited for what stands behind the gate").open();
    }
}

/// Runs `act` on its arguments in a thread of its own, asserts that it does not come back while the gate is closed,
/// then opens the gate and answers what `act` answers.
pub fn waits_for<A: 'static, T: Send + 'static>(held: Held, arguments: A, act: fn(A) -> T) -> T {
    struct Carried<A>(A);
    // Any thread may use the pointers of these tests.
    unsafe impl<A> Send for Carried<A> {}
    let carried = Carried(arguments);
    let (sender, answer) = channel();
    let thread = std::thread::spawn(move || {
        // Moved as a whole: the closure would capture the field by itself, which is not `Send`.
        let Carried(arguments) = { carried };
        sender.send(act(arguments))
    });
    let early = answer.recv_timeout(Duration::from_millis(30)).err();
    assert_eq!(early, Some(RecvTimeoutError::Timeout), "the call did not wait for the work behind the gate");
    held.open();
    let answer = answer.recv_timeout(PATIENCE).expect("the call to return once the gate is open");
    thread.join().unwrap().ok();
    answer
}

/// One dialect's calls; each asserts success.
#[derive(Clone, Copy)]
pub struct Calls {
    pub malloc: fn(usize) -> *mut c_void,
    pub free: fn(*mut c_void),
    pub host_malloc: fn(usize) -> *mut c_void,
    pub host_free: fn(*mut c_void),
    /// To, from, bytes, kind; in the stream given, else the call without one.
    pub copy: fn(*mut c_void, *const c_void, usize, c_int, Option<*mut c_void>),
    /// To, value, bytes; in the stream given, else the call without one.
    pub set: fn(*mut c_void, c_int, usize, Option<*mut c_void>),
    pub create_stream: fn(u32) -> *mut c_void,
    pub synchronize: fn(*mut c_void),
    pub destroy_stream: fn(*mut c_void),
    /// Later work of the first stream waits for the second's work so far.
    pub follow: fn(*mut c_void, *mut c_void),
}

/// The calls of the dialect whose names are in scope.
macro_rules! calls {
    () => {
        $crate::blocks::Calls {
            malloc: |bytes| device_memory!(bytes),
            free: |pointer| ok!(free(pointer)),
            host_malloc: |bytes| pinned_memory!(bytes),
            host_free: |pointer| ok!(host_free(pointer)),
            copy: |to, from, bytes, kind, stream| match stream {
                None => ok!(unsafe { memcpy(to, from, bytes, Kind(kind)) }),
                Some(stream) => ok!(unsafe { memcpy_async(to, from, bytes, Kind(kind), stream.cast()) }),
            },
            set: |to, value, bytes, stream| match stream {
                None => ok!(memset(to, value, bytes)),
                Some(stream) => ok!(memset_async(to, value, bytes, stream.cast())),
            },
            create_stream: |flags| new_stream!(flags).cast(),
            synchronize: |stream| ok!(stream_synchronize(stream.cast())),
            destroy_stream: |stream| ok!(stream_destroy(stream.cast())),
            follow: |later, earlier| {
                let mut event = std::ptr::null_mut();
                ok!(unsafe { event_create_with_flags(&mut event, EVENT_DISABLE_TIMING) });
                ok!(event_record(event, earlier.cast()));
                ok!(stream_wait_event(later.cast(), event, 0));
                ok!(event_destroy(event));
            },
        }
    };
}

/// What memory a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Device,
    Pinned,
    Pageable,
}

impl Sort {
    pub const ALL: [Self; 3] = [Self::Device, Self::Pinned, Self::Pageable];

    /// The number of the kind of copy from one sort to another.
    pub fn copy_kind(to: Self, from: Self) -> c_int {
        match (from == Self::Device, to == Self::Device) {
            (false, false) => 0,
            (false, true) => 1,
            (true, false) => 2,
            (true, true) => 3,
        }
    }
}

/// A block of memory, freed with the value.
pub struct Block {
    calls: Calls,
    sort: Sort,
    base: *mut u8,
    bytes: usize,
}

impl Block {
    /// A block that holds `contents`.
    pub fn new(calls: Calls, sort: Sort, contents: &[u8]) -> Self {
        let bytes = contents.len();
        let base = match sort {
            Sort::Device => (calls.malloc)(bytes).cast(),
            Sort::Pinned => (calls.host_malloc)(bytes).cast(),
            Sort::Pageable => Box::leak(vec![0_u8; bytes].into_boxed_slice()).as_mut_ptr(),
        };
        let block = Self { calls, sort, base, bytes };
        block.write(contents);
        block
    }

    pub fn sort(&self) -> Sort {
        self.sort
    }

    pub fn len(&self) -> usize {
        self.bytes
    }

    /// The address so many bytes in.
    pub fn at(&self, offset: usize) -> *mut c_void {
        self.base.wrapping_add(offset).cast()
    }

    /// Fills the block. No work may use it.
    pub fn write(&self, contents: &[u8]) {
        assert_eq!(contents.len(), self.bytes);
        match self.sort {
            Sort::Device => (self.calls.copy)(self.at(0), contents.as_ptr().cast(), self.bytes, 1, None),
            _ => unsafe { self.base.copy_from_nonoverlapping(contents.as_ptr(), self.bytes) },
        }
    }

    /// What the block holds. No work may write it.
    pub fn read(&self) -> Vec<u8> {
        let mut contents = vec![0; self.bytes];
        match self.sort {
            Sort::Device => (self.calls.copy)(contents.as_mut_ptr().cast(), self.at(0), self.bytes, 2, None),
            _ => contents.copy_from_slice(unsafe { slice::from_raw_parts(self.base, self.bytes) }),
        }
        contents
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        match self.sort {
            Sort::Device => (self.calls.free)(self.at(0)),
            Sort::Pinned => (self.calls.host_free)(self.at(0)),
            Sort::Pageable => drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(self.base, self.bytes)) }),
        }
    }
}
