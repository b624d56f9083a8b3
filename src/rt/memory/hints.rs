//! What programs say about managed memory: prefetches, advice, and which stream uses it (MUSA "managed memory",
//! behaviour.md 3.4).

use super::advice::{Advice, Location};
use super::managed::{Attach, Use};
use super::{Allocation, Found, Kind, find};
use crate::cl::{Failure, Queue};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use crate::rt::stream::Stream;
use std::ops::Range;
use std::sync::Arc;

/// Ranges are rounded outwards to pages of this size.
const PAGE: usize = 4096;

/// A range of managed memory.
struct Managed {
    allocation: Arc<Allocation>,
    /// In bytes from its start, whole pages.
    range: Range<usize>,
}

impl Managed {
    /// # Errors
    /// [`ErrorKind::InvalidValue`] for an empty range and for anything but managed memory.
    fn find(address: usize, bytes: usize) -> Result<Self> {
        let refuse = |error: Error| error.argument("devPtr", format_args!("{address:#x}"));
        if bytes == 0 {
            return Err(Error::new(ErrorKind::InvalidValue, "the range is empty").argument("count", 0));
        }
        match find(address, bytes).map_err(refuse)? {
            Found::Known(allocation) if allocation.kind() == Kind::Managed => {
                allocation.context().check()?;
                let start = address - allocation.base();
                let end = (start + bytes).next_multiple_of(PAGE).min(allocation.bytes());
                Ok(Self { range: start / PAGE * PAGE..end, allocation })
            }
            _ => Err(refuse(
                Error::new(ErrorKind::InvalidValue, "it is not managed memory")
                    .help("only memory of the managed allocator can be prefetched and advised on"),
            )),
        }
    }
}

/// Moves a range to a place, in the order of `stream`. What it holds stays the same.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for an empty range and for anything but managed memory.
pub(crate) fn prefetch(stream: &Stream, address: usize, bytes: usize, to: Location) -> Result<()> {
    let context = stream.context();
    context.check()?;
    let Managed { allocation, range } = Managed::find(address, bytes)?;
    let here = to == Location::Device(context.device().ordinal()) && Arc::ptr_eq(context, allocation.context());
    context.submit(stream.lane(), |queue| {
        if here {
            context.memory().managed().lend(context, queue, Use::Blocks(&[allocation.base()]))?;
        }
        migrate(queue, allocation.base() + range.start, range.len(), here, to == Location::Host)
    })?;
    allocation.advise(range, |advice| advice.prefetched = Some(to));
    Ok(())
}

/// A prefetch is a hint, but an action of its stream in any case.
fn migrate(queue: &Queue, address: usize, bytes: usize, here: bool, to_host: bool) -> Result<(), Failure> {
    if here || to_host {
        // SAFETY: the range is managed memory of the queue's context, kept by the caller until it is enqueued and by
        // the rules of freeing until it is done.
        match unsafe { queue.migrate_svm(address, bytes, to_host) } {
            Ok(()) => return Ok(()),
            Err(failure) if failure.is_fault() => return Err(failure),
            Err(failure) => log::debug!("a prefetch has no effect: {failure}"),
        }
    }
    queue.marker().map(drop)
}

/// Keeps what the program says about a range. Moves nothing.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for an empty range and for anything but managed memory.
pub(crate) fn advise(address: usize, bytes: usize, change: impl Fn(&mut Advice)) -> Result<()> {
    let Managed { allocation, range } = Managed::find(address, bytes)?;
    allocation.advise(range, change);
    Ok(())
}

/// What the program said about a range, each differing stretch of it.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for an empty range and for anything but managed memory.
pub(crate) fn advice(address: usize, bytes: usize) -> Result<Vec<Advice>> {
    let Managed { allocation, range } = Managed::find(address, bytes)?;
    Ok(allocation.advice(range))
}

/// Says whose kernels use a block, from `stream`'s next action on. Where the device has the block it waits for the
/// device first: kernels of other streams may be using it.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for anything but the start of managed memory, or a length that is neither 0 nor its
/// size.
pub(crate) fn attach(stream: &Stream, address: usize, bytes: usize, attached: Attach) -> Result<()> {
    let context = stream.context();
    context.check()?;
    let Managed { allocation, .. } = Managed::find(address, 1)?;
    if address != allocation.base() || (bytes != 0 && bytes != allocation.bytes()) {
        let problem = format!("the managed memory at {:#x} has {} bytes", allocation.base(), allocation.bytes());
        return Err(Error::new(ErrorKind::InvalidValue, problem)
            .argument("length", bytes)
            .help("it is attached as a whole: pass its start, and 0 or its size"));
    }
    owned_by(&allocation, context)?;
    let managed = context.memory().managed();
    if managed.is_lent(address) {
        context.synchronize()?;
    }
    managed.attach(address, attached);
    context.submit(stream.lane(), |queue| queue.marker().map(drop)).map(drop)
}

fn owned_by(allocation: &Allocation, context: &Arc<Context>) -> Result<()> {
    if Arc::ptr_eq(allocation.context(), context) {
        return Ok(());
    }
    let problem = format!("the memory belongs to {}", allocation.context().device());
    Err(Error::new(ErrorKind::InvalidValue, problem).help("attach it to a stream of its own device"))
}
