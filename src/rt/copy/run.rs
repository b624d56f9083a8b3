//! Carries a planned copy to OpenCL.

use super::plan::Route;
use super::{End, Extent, Pitch, Region, staged, staging};
use crate::cl::queue::{Rect, Wait};
use crate::cl::{Buffer, Failure, Queue};
use crate::error::Result;
use crate::rt::context::Context;
use crate::rt::memory::{Form, Place};
use crate::rt::stream::Stream;
use crate::trace;
use std::sync::Arc;

/// Up to here a copy that the caller waits for, and that finds everything idle, is quicker by hand than through a queue,
/// and takes no longer than a lock may be held.
const BY_HAND_BYTES: usize = 1 << 20;
/// The same for a copy that the caller does not wait for.
const BY_HAND_ASIDE_BYTES: usize = 256 << 10;

/// Carries out a copy whose ends are checked and on the stream's device or the host.
///
/// # Safety
/// Host ranges have to be valid for as long as the route needs them.
pub(super) unsafe fn run(
    stream: &Stream,
    to: &End,
    from: &End,
    region: Region,
    route: Route,
    waits: bool,
) -> Result<()> {
    match route {
        Route::OnHost => {
            stream.wait_turn()?;
            // SAFETY: the caller's; `copy_region` has refused boxes that overlap in part.
            unsafe { by_hand(to.address, from.address, region) };
            Ok(())
        }
        Route::Within if to.address == from.address && region.to == region.from => Ok(()),
        // SAFETY: the caller's.
        _ => unsafe { on_device(stream, stream.context(), to, from, region, route, waits) },
    }
}

/// # Safety
/// As [`run`].
unsafe fn on_device(
    stream: &Stream,
    context: &Arc<Context>,
    to: &End,
    from: &End,
    region: Region,
    route: Route,
    waits: bool,
) -> Result<()> {
    let bytes = region.extent.bytes().unwrap_or(usize::MAX);
    // An asynchronous copy may be done early, too: that takes less than waking the device.
    let blocks = waits || route == (Route::Up { snapshot: true });
    let most = if blocks { BY_HAND_BYTES } else { BY_HAND_ASIDE_BYTES };
    if bytes <= most && can_go_by_hand(context, to, from) {
        // SAFETY: fine-grained memory is the host's too while the device has no work on it.
        let act = || unsafe { by_hand(to.address, from.address, region) };
        if context.lanes().while_idle(stream.lane(), act) {
            return Ok(());
        }
    }
    if let Some(method) = staged::method(context, to, from, route, bytes)
        // SAFETY: the caller's.
        && unsafe { staged::run(stream, to, from, region, waits, method) }?
    {
        return Ok(());
    }
    if route == (Route::Up { snapshot: true }) {
        match staging::hold(context, from.address, region.extent, region.from) {
            Ok(held) => {
                let source = End::host(held.address());
                let packed = Region { from: region.extent.tight(), ..region };
                let submitted = context.submit(stream.lane(), |queue| enqueue(context, queue, to, &source, packed));
                return staging::let_go(stream, held, submitted.map(|((), ticket)| ticket));
            }
            // Without room for a snapshot the source stays in use, so the call has to wait.
            Err(error) => log::warn!("a copy waits, for want of {bytes} bytes of staging memory: {error}"),
        }
    }
    context.submit(stream.lane(), |queue| enqueue(context, queue, to, from, region))?;
    if waits || route == (Route::Up { snapshot: true }) {
        return context.wait_out(stream.lane());
    }
    Ok(())
}

/// Whether the calling thread can reach both ends.
fn can_go_by_hand(context: &Context, to: &End, from: &End) -> bool {
    let reachable = |end: &End| !matches!(end.place(), Place::Buffer(..));
    context.memory().form() == Form::Svm && reachable(to) && reachable(from)
}

/// Enqueues one copy, as one command. Never both ends on the host.
pub(super) fn enqueue(
    context: &Arc<Context>,
    queue: &Arc<Queue>,
    to: &End,
    from: &End,
    region: Region,
) -> Result<(), Failure> {
    to.lend(context, queue)?;
    from.lend(context, queue)?;
    if region.is_flat() {
        enqueue_flat(queue, to, from, region.extent.width)
    } else {
        enqueue_box(context, queue, to, from, region)
    }
}

fn enqueue_flat(queue: &Arc<Queue>, to: &End, from: &End, bytes: usize) -> Result<(), Failure> {
    match (to.place(), from.place()) {
        // SAFETY: the ranges were found in the map or are the program's to keep valid.
        (Place::Buffer(to, at), Place::Host(from)) => unsafe { queue.write(to, at, from, bytes, Wait::No) },
        // SAFETY: as above.
        (Place::Host(to), Place::Buffer(from, at)) => unsafe { queue.read(from, at, to, bytes, Wait::No) },
        (Place::Svm(to) | Place::Host(to), Place::Svm(from) | Place::Host(from)) => {
            // SAFETY: as above.
            unsafe { queue.copy_svm(to, from, bytes, Wait::No) }
        }
        (Place::Svm(_) | Place::Buffer(..), Place::Buffer(..)) | (Place::Buffer(..), Place::Svm(_)) => {
            let (Some((to, at)), Some((from, start))) = (to.buffer()?, from.buffer()?) else { return Ok(()) };
            queue.copy((&to, at), (&from, start), bytes)
        }
    }
}

/// Boxes between host and device are the driver's, boxes within the device a kernel's: drivers copy them at half its
/// speed (NVIDIA 580.159, Intel 2026.2), and refuse different pitches within one buffer.
fn enqueue_box(
    context: &Arc<Context>,
    queue: &Arc<Queue>,
    to: &End,
    from: &End,
    region: Region,
) -> Result<(), Failure> {
    match (to.buffer()?, from.buffer()?) {
        (Some((buffer, at)), None) => rects(context, &buffer, region, region.to, |extent, corner| {
            let (at, from) = (at + region.to.offset(corner), from.address + region.from.offset(corner));
            let rect =
                Rect { extent: sides(extent), buffer: steps(extent, region.to), host: steps(extent, region.from) };
            // SAFETY: the boxes were found in the map or are the program's to keep valid.
            unsafe { queue.write_rect(&buffer, at, from, &rect) }
        }),
        (None, Some((buffer, at))) => rects(context, &buffer, region, region.from, |extent, corner| {
            let (at, to) = (at + region.from.offset(corner), to.address + region.to.offset(corner));
            let rect =
                Rect { extent: sides(extent), buffer: steps(extent, region.from), host: steps(extent, region.to) };
            // SAFETY: as above.
            unsafe { queue.read_rect(&buffer, at, to, &rect) }
        }),
        _ => context.builtin().copy(context, queue, to.place(), from.place(), region),
    }
}

/// Does a box as a whole, or in the parts that the driver takes.
fn rects(
    context: &Context,
    buffer: &Buffer,
    region: Region,
    pitch: Pitch,
    mut rect: impl FnMut(Extent, [usize; 3]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if !context.caps().counts_whole_slices() {
        return rect(region.extent, [0; 3]);
    }
    region.extent.within(pitch, buffer.bytes()).try_for_each(|(extent, corner)| rect(extent, corner))
}

fn sides(extent: Extent) -> [usize; 3] {
    [extent.width, extent.rows, extent.slices]
}

/// Pitches as OpenCL takes them: no larger than needed where there is but one row or slice.
fn steps(extent: Extent, pitch: Pitch) -> [usize; 2] {
    match (extent.rows, extent.slices) {
        (1, 1) => [extent.width, extent.width],
        (rows, 1) => [pitch.row, pitch.row * rows],
        _ => [pitch.row, pitch.slice],
    }
}

/// # Safety
/// Both boxes have to be valid.
pub(super) unsafe fn by_hand(to: usize, from: usize, region: Region) {
    let _shown = trace::hand_copy(region.extent.bytes().unwrap_or(0));
    for (target, source) in region.extent.rows(region.to).zip(region.extent.rows(region.from)) {
        // SAFETY: the caller's; `copy_region` allows equal ranges.
        unsafe { std::ptr::copy((from + source) as *const u8, (to + target) as *mut u8, region.extent.width) };
    }
}
