//! Sets: a byte, over and over.

use super::{End, Mode, peer};
use crate::cl::{Failure, Queue};
use crate::error::Result;
use crate::rt::context::Context;
use crate::rt::memory::{self, Kind, Place};
use crate::rt::stream::Stream;
use std::sync::Arc;

/// Host memory is filled from a device block of at most this size.
const PATTERN_BYTES: usize = 4 << 20;

/// Sets `bytes` bytes from `address` on to `byte`, in the order of `stream`. Returns before it is done, but for
/// [`Mode::Sync`] on host memory (behaviour.md 2.4).
///
/// # Errors
/// [`crate::ErrorKind::InvalidValue`] for a null, freed, unknown or overrun pointer; nothing is written then.
pub(crate) fn set(stream: &Stream, address: usize, byte: u8, bytes: usize, mode: Mode) -> Result<()> {
    stream.context().check()?;
    if bytes == 0 {
        return Ok(());
    }
    let end = End::find("ptr", address, bytes, true)?;
    let Some(owner) = &end.owner else { return Ok(()) };
    if owner.kind().is_host() {
        return set_host(stream, address, byte, bytes, mode);
    }
    let context = owner.context();
    if Arc::ptr_eq(context, stream.context()) {
        context.submit(stream.lane(), |queue| {
            end.lend(context, queue)?;
            enqueue(context, queue, end.place(), byte, bytes)
        })?;
        let waits = mode == Mode::Sync && owner.kind() == Kind::Managed;
        return if waits { context.wait(stream.lane()) } else { Ok(()) };
    }
    let context = Arc::clone(context);
    peer::set(stream, &context, end, byte, bytes, mode)
}

/// Enqueues a set of device memory.
pub(crate) fn enqueue(
    context: &Arc<Context>,
    queue: &Queue,
    to: Place<'_>,
    byte: u8,
    bytes: usize,
) -> Result<(), Failure> {
    if context.caps().fills_with_a_kernel() {
        return context.builtin().fill(context, queue, to, bytes, u32::from_ne_bytes([byte; 4]));
    }
    match to {
        Place::Buffer(buffer, at) => queue.fill(buffer, at, byte, bytes),
        // SAFETY: the range was found in the map.
        Place::Svm(to) | Place::Host(to) => unsafe { queue.fill_svm(to, byte, bytes) },
    }
}

/// Host memory in stream order: a block of device memory is filled and copied out.
fn set_host(stream: &Stream, address: usize, byte: u8, bytes: usize, mode: Mode) -> Result<()> {
    if mode == Mode::Sync {
        stream.wait_turn()?;
        // SAFETY: the range is live host memory that the runtime knows.
        unsafe { std::ptr::write_bytes(address as *mut u8, byte, bytes) };
        return Ok(());
    }
    let context = stream.context();
    let pattern = memory::allocate(context, bytes.min(PATTERN_BYTES), Kind::Device)?;
    let filled = set(stream, pattern.base(), byte, pattern.bytes(), Mode::Async);
    let copied = filled.and_then(|()| {
        (0..bytes).step_by(PATTERN_BYTES).try_for_each(|done| {
            let step = PATTERN_BYTES.min(bytes - done);
            // SAFETY: both ranges are known to the runtime.
            unsafe { super::copy(stream, address + done, pattern.base(), step, super::CopyKind::Default, mode) }
        })
    });
    memory::give_up(&pattern);
    copied
}
