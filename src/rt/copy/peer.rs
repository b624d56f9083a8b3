//! Copies between devices, and work on memory of another device than the stream's.
//!
//! A pointer of one context is never given to a queue of another, because drivers take it and write wrong data. What
//! goes from device to device goes through pinned host memory in steps, a ring of buffers of it: while one step leaves
//! the source the one before reaches the target, so that both links are busy.

use super::plan::{Plan, Route};
use super::relay::{self, Scope, Sent};
use super::run::enqueue;
use super::staging::{self, Block};
use super::{CopyKind, End, Mode, Region};
use crate::cl::{Failure, Queue};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use crate::rt::device::Device;
use crate::rt::memory::{Allocation, Kind};
use crate::rt::stream::Stream;
use std::sync::Arc;

/// How the host memory between two devices is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tuning {
    /// Bytes of a step, at most.
    pub(crate) step: usize,
    /// Buffers: with two a link pauses whenever the host is late; with more the next step is there already.
    pub(crate) buffers: usize,
    /// Which device's context pins them.
    pub(crate) pinned_by: PinnedBy,
}

/// Whose context pins the buffers. To the other context they are plain host memory by the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(unreachable_pub, dead_code, reason = "tests and benches choose, by `testing::tune_transfers`")]
pub enum PinnedBy {
    /// The device that is copied from.
    SourceDevice,
    /// The device that is copied to.
    TargetDevice,
    /// Either in turn.
    Alternating,
}

impl Tuning {
    const USUAL: Self = Self { step: 8 << 20, buffers: 4, pinned_by: PinnedBy::SourceDevice };
    /// Below this a step costs more to begin than to do.
    const LEAST_STEP: usize = 256 << 10;

    fn now() -> Self {
        #[cfg(feature = "testing")]
        if let Some(tuning) = *TUNED.lock() {
            return tuning;
        }
        Self::USUAL
    }

    /// The bytes of a step: small copies take several steps, too, so that both links have work.
    fn step_for(self, bytes: usize) -> usize {
        let share = (bytes / 8).max(Self::LEAST_STEP).next_multiple_of(4096);
        share.min(self.step).max(1)
    }
}

/// What a test or bench wants instead.
#[cfg(feature = "testing")]
pub(crate) static TUNED: parking_lot::Mutex<Option<Tuning>> = parking_lot::Mutex::new(None);

/// Whether a copy uses device memory of another context than the stream's.
pub(super) fn is_foreign(stream: &Stream, to: &End, from: &End) -> bool {
    [to, from].into_iter().filter_map(End::context).any(|context| !Arc::ptr_eq(context, stream.context()))
}

fn scope(stream: &Stream, mode: Mode) -> Scope {
    // The form without a stream is ordered with both devices, as CUDA has it; with a stream, with that alone.
    if mode == Mode::Sync && stream.lane() == Context::LEGACY { Scope::DefaultStreams } else { Scope::Stream }
}

/// `MemcpyPeer` and its kin: copies between the devices named, of which either may be the stream's or neither.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] as [`super::copy`], and for memory that does not lie on the device named for it.
pub(crate) fn between(
    stream: &Stream,
    (to, to_device): (usize, Device),
    (from, from_device): (usize, Device),
    region: Region,
    mode: Mode,
) -> Result<()> {
    stream.context().check()?;
    if region.extent.is_empty() {
        return Ok(());
    }
    check_on("dst", to, super::span(region.extent, region.to)?, to_device)?;
    check_on("src", from, super::span(region.extent, region.from)?, from_device)?;
    // SAFETY: both ends are device memory that the runtime knows.
    unsafe { super::copy_region(stream, to, from, region, CopyKind::DeviceToDevice, mode) }
}

/// Refuses a range that is not memory of a device.
///
/// # Errors
/// [`ErrorKind::InvalidValue`].
pub(crate) fn check_on(name: &'static str, address: usize, bytes: usize, device: Device) -> Result<()> {
    let end = End::find(name, address, bytes, true)?;
    let refuse =
        |problem: String| Error::new(ErrorKind::InvalidValue, problem).argument(name, format_args!("{address:#x}"));
    match end.context().map(|context| context.device()) {
        Some(owner) if owner == device => Ok(()),
        Some(owner) => Err(refuse(format!("it is memory of {owner}, not of {device}"))),
        None => Err(refuse(format!("it is host memory, not memory of {device}"))
            .help("the copy calls without devices take host memory")),
    }
}

/// Carries out a copy whose ends are checked, some of it in another context than the stream's.
///
/// # Safety
/// Host ranges have to be valid for as long as the plan needs them.
pub(super) unsafe fn copy(stream: &Stream, to: End, from: End, region: Region, plan: Plan, mode: Mode) -> Result<()> {
    let scope = scope(stream, mode);
    if let (Route::Across, Some(target), Some(source)) = (plan.route, to.context(), from.context()) {
        let (target, source) = (Arc::clone(target), Arc::clone(source));
        let worker = source.links().worker(&target);
        let work = move || across(&to, &from, region);
        relay::run(stream, scope, &[&source, &target], &worker, Box::new(work))?;
        return if plan.waits { relay::finish(stream, scope, &[&source, &target]) } else { Ok(()) };
    }
    if to.address == from.address && region.to == region.from {
        return Ok(());
    }
    let Some(context) = to.context().or_else(|| from.context()).cloned() else { return Ok(()) };
    elsewhere(stream, scope, &context, to, from, region, plan)
}

/// A copy on one device, which is not the stream's.
fn elsewhere(
    stream: &Stream,
    scope: Scope,
    context: &Arc<Context>,
    to: End,
    from: End,
    region: Region,
    plan: Plan,
) -> Result<()> {
    let lanes = context.links().lanes(context);
    let lane = if to.context().is_some() { lanes.into } else { lanes.out };
    let held = match plan.route {
        Route::Up { snapshot: true } => staging::hold(context, from.address, region.extent, region.from)
            .inspect_err(|error| log::warn!("a copy waits, for want of staging memory: {error}"))
            .ok(),
        _ => None,
    };
    if plan.waits || (held.is_none() && plan.route == (Route::Up { snapshot: true })) {
        stream.wait_turn()?;
        let lane = if scope == Scope::DefaultStreams { Context::LEGACY } else { lane };
        relay::send_and_wait(context, lane, |queue| enqueue(context, queue, &to, &from, region))?;
        return context.catch_up();
    }
    let owners: Vec<_> = [&to, &from].into_iter().filter_map(|end| end.owner.clone()).collect();
    let mut busy = vec![context];
    busy.extend(owners.iter().map(|owner| owner.context()));
    let there = Arc::clone(context);
    let work = move || {
        let packed = Region { from: region.extent.tight(), ..region };
        let (source, region) = held.as_ref().map_or((from, region), |held| (End::host(held.address()), packed));
        let outcome = relay::send_and_wait(&there, lane, |queue| enqueue(&there, queue, &to, &source, region));
        if let Some(held) = held {
            there.staging().put(held);
        }
        outcome
    };
    relay::run(stream, scope, &busy, &context.links().worker(context), Box::new(work))
}

/// Sets device memory of another context than the stream's by what `enqueue` does. Returns before it is done, but for
/// [`Mode::Sync`] on managed memory.
pub(super) fn set(
    stream: &Stream,
    context: &Arc<Context>,
    to: End,
    mode: Mode,
    enqueue: impl FnOnce(&Arc<Context>, &Arc<Queue>, &End) -> Result<(), Failure> + Send + 'static,
) -> Result<()> {
    let lane = context.links().lanes(context).into;
    let there = Arc::clone(context);
    let scope = scope(stream, mode);
    let waits = mode == Mode::Sync && to.owner.as_ref().is_some_and(|owner| owner.kind() == Kind::Managed);
    let work = move || {
        relay::send_and_wait(&there, lane, |queue| {
            to.lend(&there, queue)?;
            enqueue(&there, queue, &to)
        })
    };
    relay::run(stream, scope, &[context], &context.links().worker(context), Box::new(work))?;
    if waits { relay::finish(stream, scope, &[context]) } else { Ok(()) }
}

/// From one device to another. Blocks until it is done.
fn across(to: &End, from: &End, region: Region) -> Result<()> {
    let (Some(target), Some(source)) = (&to.owner, &from.owner) else { return Ok(()) };
    let (into, out) = (target.context(), source.context());
    let (up, down) = (into.links().lanes(into).into, out.links().lanes(out).out);
    let tuning = Tuning::now();
    let step = tuning.step_for(region.extent.bytes().unwrap_or(usize::MAX));
    let pieces: Vec<_> = region.extent.pieces(step).collect();
    let largest = pieces.iter().filter_map(|(piece, _)| piece.bytes()).max().unwrap_or(0);
    let mut ring = Ring::take(out, into, tuning, largest, pieces.len())?;
    let part = |owner: &Arc<Allocation>, address| End { address, owner: Some(Arc::clone(owner)) };
    let pumped = (|| {
        // A step leaves the source while the one before is on its way to the target.
        let mut left: Option<(usize, Sent<'_>)> = None;
        for number in 0..=pieces.len() {
            let next = match pieces.get(number) {
                Some(&(extent, at)) => {
                    let slot = ring.slot(number);
                    if let Some(arriving) = slot.arriving.take() {
                        arriving.wait()?;
                    }
                    let (hop, here) = (End::host(slot.address()), part(source, from.address + region.from.offset(at)));
                    let packed = Region { extent, to: extent.tight(), from: region.from }.collapsed();
                    let leave = relay::send(out, down, |queue| enqueue(out, queue, &hop, &here, packed))?;
                    Some((number, leave))
                }
                None => None,
            };
            if let Some((number, leaving)) = std::mem::replace(&mut left, next) {
                leaving.wait()?;
                let (slot, (extent, at)) = (ring.slot(number), pieces[number]);
                let (hop, there) = (End::host(slot.address()), part(target, to.address + region.to.offset(at)));
                let packed = Region { extent, to: region.to, from: extent.tight() }.collapsed();
                slot.arriving = Some(relay::send(into, up, |queue| enqueue(into, queue, &there, &hop, packed))?);
            }
        }
        ring.slots.iter_mut().filter_map(|slot| slot.arriving.take()).try_for_each(Sent::wait)
    })();
    if pumped.is_err() {
        // Something may still use the buffers.
        relay::drain(out, down);
        relay::drain(into, up);
    }
    pumped
}

/// The buffers between two devices.
struct Ring<'a> {
    slots: Vec<Slot<'a>>,
}

/// One buffer.
struct Slot<'a> {
    pinned_by: &'a Arc<Context>,
    /// Taken out when it goes.
    block: Option<Block>,
    /// What last went from it to the target.
    arriving: Option<Sent<'a>>,
}

impl<'a> Ring<'a> {
    fn take(
        source: &'a Arc<Context>,
        target: &'a Arc<Context>,
        tuning: Tuning,
        bytes: usize,
        steps: usize,
    ) -> Result<Self> {
        let mut slots = Vec::new();
        for number in 0..tuning.buffers.clamp(2, steps.max(2)).min(steps) {
            let pinned_by = match tuning.pinned_by {
                PinnedBy::SourceDevice => source,
                PinnedBy::TargetDevice => target,
                PinnedBy::Alternating => [source, target][number % 2],
            };
            let block = match staging::take(pinned_by, bytes) {
                Ok(block) => Some(block),
                // Slower with two, and just as right.
                Err(_) if number > 1 => break,
                Err(error) => return Err(error),
            };
            slots.push(Slot { pinned_by, block, arriving: None });
        }
        Ok(Self { slots })
    }

    fn slot(&mut self, number: usize) -> &mut Slot<'a> {
        let count = self.slots.len();
        &mut self.slots[number % count]
    }
}

impl Slot<'_> {
    fn address(&self) -> usize {
        self.block.as_ref().map_or(0, Block::address)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            self.pinned_by.staging().put(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_a_share_of_the_copy_within_bounds() {
        let tuning = Tuning::USUAL;
        assert_eq!(tuning.step_for(1), Tuning::LEAST_STEP);
        assert_eq!(tuning.step_for(8 << 20), 1 << 20);
        assert_eq!(tuning.step_for(1 << 30), tuning.step);
        assert_eq!(Tuning { step: 100, ..tuning }.step_for(1 << 30), 100);
    }
}
