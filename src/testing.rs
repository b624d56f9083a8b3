//! What the test suite may ask of the runtime (feature `testing`); not part of the stable API.
//!
//! A test takes [`guard`] first: tests of one process then run one after the other, and the guard's end asserts
//! that every OpenCL object that the test made is gone again.

use crate::cl::UserEvent;
use crate::cl::call::testing as border;
use crate::error::Result;
pub use crate::rt::copy::peer::PinnedBy;
use crate::rt::copy::peer::{TUNED, Tuning};
use crate::rt::copy::staged;
use crate::rt::device::Device;
use crate::rt::memory::waiting;
use crate::rt::module::cache::testing as cache;
use crate::rt::stream::Stream;
use crate::rt::stream::hostfn::UNDER_WAY;
use parking_lot::{ReentrantMutex, ReentrantMutexGuard};
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::time::{Duration, Instant};

/// How long objects may outlive their test.
const PATIENCE: Duration = Duration::from_secs(2);

static TURN: ReentrantMutex<()> = ReentrantMutex::new(());

/// Live OpenCL objects by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Live {
    /// Contexts; one a device that was used.
    pub contexts: i64,
    /// Command queues.
    pub queues: i64,
    /// Events.
    pub events: i64,
    /// Programs.
    pub programs: i64,
    /// Kernel objects.
    pub kernels: i64,
    /// Buffers, parts of buffers, images and blocks of shared virtual memory.
    pub blocks: i64,
    /// Samplers.
    pub samplers: i64,
}

impl Live {
    /// Whether no kind has more than before. An earlier test's thread may have let go of something meanwhile.
    pub fn within(&self, before: &Self) -> bool {
        let counts = |live: &Self| {
            let objects = [live.contexts, live.queues, live.events, live.programs, live.kernels];
            [objects.as_slice(), &[live.blocks, live.samplers]].concat()
        };
        counts(self).iter().zip(counts(before)).all(|(&now, before)| now <= before)
    }
}

/// Counts the live objects, after what is kept only for speed was given back.
pub fn live() -> Live {
    let start = Instant::now();
    while UNDER_WAY.load(Acquire) > 0 && start.elapsed() < Duration::from_secs(10) {
        std::thread::yield_now();
    }
    for device in Device::all() {
        if let Some(context) = device.active_context() {
            context.trim();
        }
    }
    let [contexts, queues, events, programs, kernels, blocks, samplers] =
        std::array::from_fn(|object| border::LIVE[object].load(Relaxed));
    Live { contexts, queues, events, programs, kernels, blocks, samplers }
}

/// One test's turn.
#[derive(Debug)]
pub struct Guard {
    before: Live,
    _turn: ReentrantMutexGuard<'static, ()>,
}

/// Waits for this test's turn and counts what is alive. Contexts are made first, so that they count before.
pub fn guard() -> Guard {
    let turn = TURN.lock();
    for device in Device::all() {
        // A device that failed has no context; its test says so.
        let _ = device.context();
    }
    Guard { before: live(), _turn: turn }
}

impl Drop for Guard {
    fn drop(&mut self) {
        border::clear_fault();
        tune_transfers(None);
        tune_staging(None);
        tune_patience(None);
        if !std::thread::panicking() {
            let after = settled(&self.before);
            assert!(after.within(&self.before), "alive after the test: {after:?}, before it: {:?}", self.before);
        }
    }
}

/// Counts until it is no more than before, for a while: a thread that ends, or that carried a wait from one device
/// to another, lets go of its objects a moment after their work is done.
pub fn settled(before: &Live) -> Live {
    let start = Instant::now();
    loop {
        let now = live();
        if now.within(before) || start.elapsed() > PATIENCE {
            return now;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Holds a stream's later work back until it is opened, or dropped.
#[derive(Debug)]
pub struct Gate(UserEvent);

impl Gate {
    /// Closes a gate behind the stream's work so far.
    ///
    /// # Errors
    /// What the device reported about earlier work.
    pub fn close(stream: &Stream) -> Result<Self> {
        let context = stream.context();
        let gate = UserEvent::new(context.cl())?;
        context.submit(stream.lane(), |queue| queue.barrier(&[gate.event()]))?;
        Ok(Self(gate))
    }

    /// Lets the work go on.
    pub fn open(self) {
        self.0.complete();
    }
}

/// Counts the OpenCL calls that `run` makes, by entry point.
pub fn count_calls<T>(run: impl FnOnce() -> T) -> (T, Vec<(&'static str, u64)>) {
    border::count_calls();
    let answer = run();
    (answer, border::counted())
}

/// Makes the call of the OpenCL entry point that follows `after` more of them fail with `status`, once.
pub fn fail(entry: &str, after: u64, status: i32) {
    fail_times(entry, after, status, 1);
}

/// The same for so many calls in a row.
pub fn fail_times(entry: &str, after: u64, status: i32, times: u64) {
    border::fail(entry, after, status, times);
}

/// Whether a planned fault is still to come.
pub fn fault_is_to_come() -> bool {
    border::fault_is_to_come()
}

/// Takes a planned fault back; answers whether it was still to come.
pub fn clear_fault() -> bool {
    border::clear_fault()
}

/// A disk cache of a test's own, in the place of the process's, until it is dropped.
#[derive(Debug)]
pub struct OwnCache(());

impl OwnCache {
    /// Keeps at most `bytes` in a folder.
    ///
    /// # Errors
    /// Why the folder cannot be used.
    pub fn new(folder: &std::path::Path, bytes: u64) -> std::io::Result<Self> {
        cache::instead(folder, bytes).map(|()| Self(()))
    }
}

impl Drop for OwnCache {
    fn drop(&mut self) {
        cache::restore();
    }
}

/// How copies between devices use host memory: bytes of a step at most, buffers, and whose context pins them. `None`
/// brings the usual back.
pub fn tune_transfers(tuning: Option<(usize, usize, PinnedBy)>) {
    *TUNED.lock() = tuning.map(|(step, buffers, pinned_by)| Tuning { step, buffers, pinned_by });
}

/// How large copies of pageable memory are cut up: from how many bytes on, bytes of a part at most, threads, and buffers
/// beyond one a thread. They go through pinned buffers then on any device. `None` brings the usual back.
pub fn tune_staging(tuning: Option<(usize, usize, usize, usize)>) {
    *staged::TUNED.lock() =
        tuning.map(|(from, step, threads, ahead)| staged::Tuning { from, step, threads: threads.max(1), ahead });
}

/// How long an allocation without room waits while no memory comes back. `None` brings the usual back.
pub fn tune_patience(patience: Option<Duration>) {
    waiting::TUNED.store(patience.map_or(0, |patience| patience.as_millis().max(1) as u64), Relaxed);
}

/// What fuzzers feed with bytes, here and in `fuzz/`. Each function panics where a promise is broken.
pub mod fuzz {
    /// The text of a module, for the symbol rewriter.
    pub fn symbol_rewriter(bytes: &[u8]) {
        crate::rt::module::fuzz::text(bytes);
    }

    /// The name of a parameter's type, for the reader of signatures.
    pub fn signature_parser(bytes: &[u8]) {
        crate::rt::module::fuzz::type_name(bytes);
    }

    /// A module binary or an entry of the cache.
    pub fn cache_reader(bytes: &[u8]) {
        crate::rt::module::fuzz::binary(bytes);
    }

    /// The handle of an interprocess event.
    pub fn ipc_handle(bytes: &[u8]) {
        crate::rt::ipc::handle::fuzz(bytes);
    }
}
