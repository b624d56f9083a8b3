//! An allocation that finds no room while memory that was given up is still in use waits for that memory.
//!
//! As in CUDA, memory runs out only when the program holds it. But what the memory waits for may be something that only
//! the calling thread can bring about, such as a callback that waits for it, and nobody can tell. So the wait ends when
//! nothing has come back for a while.

use super::super::context::Context;
use super::super::device::Device;
use super::super::stream::hostfn;
use std::time::{Duration, Instant};

/// How long nothing may come back.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks.
const PAUSE: Duration = Duration::from_micros(200);

/// What a test wants instead, in milliseconds; 0 for the usual.
#[cfg(feature = "testing")]
pub(crate) static TUNED: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

fn patience() -> Duration {
    #[cfg(feature = "testing")]
    match TUNED.load(std::sync::atomic::Ordering::Relaxed) {
        0 => {}
        milliseconds => return Duration::from_millis(milliseconds),
    }
    PATIENCE
}

/// Tries again each time that memory of the context comes back, until it succeeds or nothing more is to come.
pub(super) fn until_returned<T>(context: &Context, mut again: impl FnMut() -> Option<T>) -> Option<T> {
    let memory = context.memory();
    let mut awaited = memory.awaited_bytes();
    let mut last = Instant::now();
    // A callback's own stream cannot go on before the callback returns.
    while awaited > 0 && last.elapsed() < patience() && !hostfn::inside() {
        // It may wait for the work of other devices.
        Device::all().into_iter().filter_map(Device::active_context).for_each(|any| any.lanes().poll());
        memory.scrape(context);
        let left = memory.awaited_bytes();
        if left != awaited {
            if let Some(done) = again() {
                return Some(done);
            }
            (awaited, last) = (left, Instant::now());
            continue;
        }
        std::thread::sleep(PAUSE);
    }
    // What came back after the latest try.
    again()
}
