//! Sets: a pattern, over and over.

use super::{End, Mode, Pattern, peer};
use crate::cl::{Failure, Queue};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use crate::rt::memory::{self, Kind, Place};
use crate::rt::stream::Stream;
use crate::rt::timeline;
use crate::trace;
use std::sync::Arc;

/// Host memory is filled from a device block of at most this size, a multiple of every pattern's.
const BLOCK_BYTES: usize = 4 << 20;

/// From here on a kernel of ours pays where the driver's fill is slow.
const KERNEL_BYTES: usize = 256 << 10;

/// Sets `count` elements of `size` bytes each from `address` on to `pattern`, in the order of `stream`. Returns before
/// it is done, but for [`Mode::Sync`] on host memory (behaviour.md 2.4).
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for a null, freed, unknown or overrun pointer; nothing is written then.
pub(crate) fn set(
    stream: &Stream,
    address: usize,
    pattern: &Pattern,
    (count, size): (usize, usize),
    mode: Mode,
) -> Result<()> {
    stream.context().check()?;
    let bytes = count.checked_mul(size).ok_or_else(|| {
        Error::new(ErrorKind::InvalidValue, format!("no memory holds that many elements of {size} bytes"))
            .argument("count", count)
    })?;
    if bytes == 0 {
        return Ok(());
    }
    let end = End::find("ptr", address, bytes, true)?;
    let Some(owner) = &end.owner else { return Ok(()) };
    if owner.kind().is_host() {
        return set_host(stream, address, pattern, bytes, mode);
    }
    let _labelled = trace::labelled(|| timeline::set(bytes));
    let context = owner.context();
    if Arc::ptr_eq(context, stream.context()) {
        context.submit(stream.lane(), |queue| {
            end.lend(context, queue)?;
            enqueue(context, queue, end.place(), pattern, bytes)
        })?;
        let waits = mode == Mode::Sync && owner.kind() == Kind::Managed;
        return if waits { context.wait_out(stream.lane()) } else { Ok(()) };
    }
    let (context, pattern) = (Arc::clone(context), *pattern);
    peer::set(stream, &context, end, mode, move |context, queue, end| {
        enqueue(context, queue, end.place(), &pattern, bytes)
    })
}

/// Enqueues a set of device memory.
pub(crate) fn enqueue(
    context: &Arc<Context>,
    queue: &Queue,
    to: Place<'_>,
    pattern: &Pattern,
    bytes: usize,
) -> Result<(), Failure> {
    let (Place::Svm(at) | Place::Host(at) | Place::Buffer(_, at)) = to;
    let caps = context.caps();
    let width = pattern.once().len();
    let slow = bytes >= KERNEL_BYTES && caps.fills_slowly(width, matches!(to, Place::Buffer(..)));
    // OpenCL's own fill takes no pattern across its alignment.
    if caps.fills_with_a_kernel() || slow || !pattern.suits(at, bytes) {
        return context.builtin().fill(context, queue, to, bytes, &pattern.aligned(at));
    }
    let wide = pattern.widened();
    let widens = caps.fills_better_with_16_bytes(width) && wide.suits(at, bytes);
    let pattern = if widens { &wide } else { pattern };
    match to {
        Place::Buffer(buffer, at) => queue.fill(buffer, at, pattern.once(), bytes),
        // SAFETY: the range was found in the map.
        Place::Svm(to) | Place::Host(to) => unsafe { queue.fill_svm(to, pattern.once(), bytes) },
    }
}

/// Host memory in stream order: a block of device memory is filled and copied out.
fn set_host(stream: &Stream, address: usize, pattern: &Pattern, bytes: usize, mode: Mode) -> Result<()> {
    if mode == Mode::Sync {
        stream.wait_turn()?;
        // SAFETY: the range is live host memory that the runtime knows.
        unsafe { by_hand(address as *mut u8, pattern, bytes) };
        return Ok(());
    }
    let context = stream.context();
    let block = memory::allocate(context, bytes.min(BLOCK_BYTES), Kind::Device)?;
    let filled = set(stream, block.base(), pattern, (block.bytes(), 1), Mode::Async);
    let copied = filled.and_then(|()| {
        (0..bytes).step_by(BLOCK_BYTES).try_for_each(|done| {
            let step = BLOCK_BYTES.min(bytes - done);
            // SAFETY: both ranges are known to the runtime.
            unsafe { super::copy(stream, address + done, block.base(), step, super::CopyKind::Default, mode) }
        })
    });
    memory::give_up(&block);
    copied
}

/// # Safety
/// The range has to be writable.
unsafe fn by_hand(to: *mut u8, pattern: &Pattern, bytes: usize) {
    let once = pattern.repeated();
    let mut done = once.len().min(bytes);
    // SAFETY: `done` bytes are within the range and within the pattern.
    unsafe { to.copy_from_nonoverlapping(once.as_ptr(), done) };
    while done < bytes {
        let step = done.min(bytes - done);
        // SAFETY: the first `done` bytes are written, and the next `step` are within the range.
        unsafe { to.add(done).copy_from_nonoverlapping(to, step) };
        done += step;
    }
}
