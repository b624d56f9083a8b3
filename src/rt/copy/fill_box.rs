//! Sets of boxes: a byte, over and over, in each row and nowhere between them.

use super::{CopyKind, End, Extent, Mode, Pattern, Pitch, Region, copy_region, fill, peer, span};
use crate::cl::{Failure, Queue};
use crate::error::Result;
use crate::rt::context::Context;
use crate::rt::memory::{self, Kind};
use crate::rt::stream::Stream;
use crate::rt::timeline;
use crate::trace;
use std::sync::Arc;

/// Host memory is filled from a device block of at most this size.
const PATTERN_BYTES: usize = 4 << 20;

/// Sets the bytes of a box that begins at `address` to `byte`, in the order of `stream`. Returns before it is done, but
/// for [`Mode::Sync`] on memory that the host may touch (behaviour.md 2.4).
///
/// # Errors
/// [`crate::ErrorKind::InvalidValue`] for a null, freed, unknown or overrun pointer; nothing is written then.
pub(crate) fn set(stream: &Stream, address: usize, byte: u8, extent: Extent, pitch: Pitch, mode: Mode) -> Result<()> {
    stream.context().check()?;
    if extent.is_empty() {
        return Ok(());
    }
    let end = End::find("ptr", address, span(extent, pitch)?, true)?;
    let region = Region { extent, to: pitch, from: pitch }.collapsed();
    if region.is_flat() {
        return fill::set(stream, address, &Pattern::byte(byte), (region.extent.width, 1), mode);
    }
    let (extent, pitch) = (region.extent, region.to);
    let Some(owner) = &end.owner else { return Ok(()) };
    if owner.kind().is_host() {
        return set_host(stream, address, byte, extent, pitch, mode);
    }
    let context = owner.context();
    if Arc::ptr_eq(context, stream.context()) {
        let _labelled = trace::labelled(|| timeline::set(extent.bytes().unwrap_or(0)));
        context.submit(stream.lane(), |queue| enqueue(context, queue, &end, byte, extent, pitch))?;
        let waits = mode == Mode::Sync && owner.kind() == Kind::Managed;
        return if waits { context.wait_out(stream.lane()) } else { Ok(()) };
    }
    let context = Arc::clone(context);
    peer::set(stream, &context, end, mode, move |context, queue, end| enqueue(context, queue, end, byte, extent, pitch))
}

/// Enqueues a set of a box of device memory: OpenCL fills no boxes, so this is a kernel of ours on every device.
fn enqueue(
    context: &Arc<Context>,
    queue: &Queue,
    to: &End,
    byte: u8,
    extent: Extent,
    pitch: Pitch,
) -> Result<(), Failure> {
    to.lend(context, queue)?;
    context.builtin().fill_box(context, queue, to.place(), (extent, pitch), u32::from_ne_bytes([byte; 4]))
}

/// Host memory in stream order: a block of device memory is filled and copied out, box by box where it is large.
fn set_host(stream: &Stream, address: usize, byte: u8, extent: Extent, pitch: Pitch, mode: Mode) -> Result<()> {
    if mode == Mode::Sync {
        stream.wait_turn()?;
        for row in extent.rows(pitch) {
            // SAFETY: the box lies in live host memory that the runtime knows.
            unsafe { std::ptr::write_bytes((address + row) as *mut u8, byte, extent.width) };
        }
        return Ok(());
    }
    let bytes = extent.bytes().unwrap_or(usize::MAX).min(PATTERN_BYTES);
    let pattern = memory::allocate(stream.context(), bytes, Kind::Device)?;
    let filled = fill::set(stream, pattern.base(), &Pattern::byte(byte), (bytes, 1), mode);
    let copied = filled.and_then(|()| {
        extent.pieces(PATTERN_BYTES).try_for_each(|(piece, at)| {
            let region = Region { extent: piece, to: pitch, from: piece.tight() };
            let to = address + pitch.offset(at);
            // SAFETY: both boxes are known to the runtime.
            unsafe { copy_region(stream, to, pattern.base(), region, CopyKind::Default, mode) }
        })
    });
    memory::give_up(&pattern);
    copied
}
