//! Carries a planned copy to OpenCL.

use super::plan::Route;
use super::{End, staging};
use crate::cl::queue::Wait;
use crate::cl::{Failure, Queue};
use crate::error::Result;
use crate::rt::context::Context;
use crate::rt::memory::{Form, Place};
use crate::rt::stream::Stream;
use std::sync::Arc;

/// Up to here a copy that finds everything idle is quicker by hand than through a queue.
const BY_HAND_BYTES: usize = 256 << 10;

/// Carries out a copy whose ends are checked and on the stream's device or the host.
///
/// # Safety
/// Host ranges have to be valid for as long as the route needs them.
pub(super) unsafe fn run(stream: &Stream, to: &End, from: &End, bytes: usize, route: Route, waits: bool) -> Result<()> {
    match route {
        Route::OnHost => {
            stream.wait_turn()?;
            // SAFETY: the caller's; `copy` has refused ranges that overlap in part.
            unsafe { by_hand(to.address, from.address, bytes) };
            Ok(())
        }
        Route::Within if to.address == from.address => Ok(()),
        // SAFETY: the caller's.
        _ => unsafe { on_device(stream, stream.context(), to, from, bytes, route, waits) },
    }
}

/// # Safety
/// As [`run`].
unsafe fn on_device(
    stream: &Stream,
    context: &Arc<Context>,
    to: &End,
    from: &End,
    bytes: usize,
    route: Route,
    waits: bool,
) -> Result<()> {
    if waits
        && bytes <= BY_HAND_BYTES
        && can_go_by_hand(context, to, from)
        && context.lanes().is_known_idle(stream.lane())
    {
        // SAFETY: fine-grained memory is the host's too while the device has no work on it.
        unsafe { by_hand(to.address, from.address, bytes) };
        return Ok(());
    }
    if route == (Route::Up { snapshot: true }) {
        match staging::hold(context, from.address, bytes) {
            Ok(held) => {
                let source = Place::Host(held.address());
                let ((), ticket) =
                    context.submit(stream.lane(), |queue| enqueue(context, queue, to.place(), source, bytes))?;
                context.staging().give_back(held, ticket);
                return Ok(());
            }
            // Without room for a snapshot the source stays in use, so the call has to wait.
            Err(error) => log::warn!("a copy waits, for want of {bytes} bytes of staging memory: {error}"),
        }
    }
    context.submit(stream.lane(), |queue| enqueue(context, queue, to.place(), from.place(), bytes))?;
    if waits || route == (Route::Up { snapshot: true }) {
        return context.wait(stream.lane());
    }
    Ok(())
}

/// Whether the calling thread can reach both ends.
fn can_go_by_hand(context: &Context, to: &End, from: &End) -> bool {
    let reachable = |end: &End| !matches!(end.place(), Place::Buffer(..));
    context.memory().form() == Form::Svm && reachable(to) && reachable(from)
}

/// Enqueues one copy. Never both ends on the host.
pub(super) fn enqueue(
    context: &Arc<Context>,
    queue: &Arc<Queue>,
    to: Place<'_>,
    from: Place<'_>,
    bytes: usize,
) -> Result<(), Failure> {
    match (to, from) {
        (Place::Buffer(to, at), Place::Buffer(from, start)) => queue.copy((to, at), (from, start), bytes),
        // SAFETY: the ranges were found in the map or are the program's to keep valid.
        (Place::Buffer(to, at), Place::Host(from)) => unsafe { queue.write(to, at, from, bytes, Wait::No) },
        // SAFETY: as above.
        (Place::Host(to), Place::Buffer(from, at)) => unsafe { queue.read(from, at, to, bytes, Wait::No) },
        (Place::Svm(_), Place::Buffer(..)) | (Place::Buffer(..), Place::Svm(_)) => {
            context.builtin().copy(context, queue, to, from, bytes)
        }
        (Place::Svm(to) | Place::Host(to), Place::Svm(from) | Place::Host(from)) => {
            // SAFETY: as above.
            unsafe { queue.copy_svm(to, from, bytes, Wait::No) }
        }
    }
}

/// # Safety
/// Both ranges have to be valid.
unsafe fn by_hand(to: usize, from: usize, bytes: usize) {
    // SAFETY: the caller's; `copy` allows equal ranges.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
}
