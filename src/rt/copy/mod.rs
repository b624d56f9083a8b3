//! Copies and sets: a request is validated against the address map, planned without a device, then carried out.

pub(crate) mod array;
pub(crate) mod builtin;
mod crew;
pub(crate) mod fill;
pub(crate) mod fill_box;
mod pattern;
pub(crate) mod peer;
pub(crate) mod plan;
pub(crate) mod relay;
mod run;
pub(crate) mod shape;
pub(crate) mod staged;
pub(crate) mod staging;

use super::context::Context;
use super::memory::managed::Use;
use super::memory::{self, Allocation, Found, Kind, Place};
use super::stream::Stream;
use super::timeline;
use crate::cl::{Buffer, Failure, Queue};
use crate::error::{Error, ErrorKind, Result};
use crate::trace;
pub(crate) use pattern::Pattern;
pub(crate) use plan::Mode;
use plan::{Plan, Side};
pub(crate) use shape::{Extent, Pitch, Region};
pub(crate) use staging::Staging;
use std::sync::Arc;

/// The direction that a copy call names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyKind {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    /// Found out from the addresses.
    Default,
}

impl CopyKind {
    /// The kind with the number that both dialects give it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidCopyDirection`] for any other number.
    pub(crate) fn from_number(number: i32) -> Result<Self> {
        Ok(match number {
            0 => Self::HostToHost,
            1 => Self::HostToDevice,
            2 => Self::DeviceToHost,
            3 => Self::DeviceToDevice,
            4 => Self::Default,
            _ => {
                return Err(Error::new(ErrorKind::InvalidCopyDirection, "it is none of the five kinds of copy")
                    .argument("kind", number)
                    .help("kinds are 0 to 4"));
            }
        })
    }

    fn target_is_device(self) -> bool {
        matches!(self, Self::HostToDevice | Self::DeviceToDevice)
    }

    fn source_is_device(self) -> bool {
        matches!(self, Self::DeviceToHost | Self::DeviceToDevice)
    }
}

/// One end of a copy, found in the map.
pub(super) struct End {
    address: usize,
    owner: Option<Arc<Allocation>>,
}

impl End {
    /// The context of an end in device memory.
    fn context(&self) -> Option<&Arc<Context>> {
        self.owner.as_ref().filter(|owner| !owner.kind().is_host()).map(|owner| owner.context())
    }

    /// Finds what lies at `address`; `device` says that the call takes it for device memory.
    fn find(name: &'static str, address: usize, bytes: usize, device: bool) -> Result<Self> {
        let refuse = |error: Error| error.argument(name, format_args!("{address:#x}"));
        if address == 0 {
            return Err(refuse(Error::new(ErrorKind::InvalidValue, "the pointer is null")));
        }
        let owner = match memory::find(address, bytes).map_err(refuse)? {
            Found::Known(allocation) => {
                allocation.context().check().map_err(refuse)?;
                Some(allocation)
            }
            Found::Freed => {
                return Err(refuse(Error::new(ErrorKind::InvalidValue, "the memory there was freed")));
            }
            Found::Foreign if device => {
                let problem = "it is not memory that the runtime allocated";
                return Err(refuse(Error::new(ErrorKind::InvalidValue, problem).help("is it a host pointer?")));
            }
            Found::Foreign => None,
        };
        Ok(Self { address, owner })
    }

    /// Host memory that is valid for the copy.
    fn host(address: usize) -> Self {
        Self { address, owner: None }
    }

    /// The same end, so many bytes further on.
    fn further(&self, bytes: usize) -> Self {
        Self { address: self.address + bytes, owner: self.owner.clone() }
    }

    fn side(&self) -> Side {
        match &self.owner {
            None => Side::Pageable,
            Some(owner) if owner.kind().is_host() => Side::Pinned,
            Some(owner) if owner.kind() == Kind::Managed => Side::Managed(owner.context().serial()),
            Some(owner) => Side::Device(owner.context().serial()),
        }
    }

    fn place(&self) -> Place<'_> {
        self.owner.as_ref().map_or(Place::Host(self.address), |owner| owner.place(self.address))
    }

    /// Hands it to the device where it is managed memory that the host has. Called under the lane lock.
    fn lend(&self, context: &Context, queue: &Queue) -> Result<(), Failure> {
        match &self.owner {
            Some(owner) if owner.kind() == Kind::Managed => {
                context.memory().managed().lend(context, queue, Use::Blocks(&[owner.base()]))
            }
            _ => Ok(()),
        }
    }

    /// The buffer object that holds it and how far into that it is; `None` on the host.
    fn buffer(&self) -> Result<Option<(Arc<Buffer>, usize)>, Failure> {
        self.owner.as_ref().map_or(Ok(None), |owner| owner.buffer(self.address))
    }
}

/// Copies `bytes` from one address to another, in the order of `stream`.
///
/// The direction follows from what the addresses are; `kind` says what the program takes them for, which a pointer
/// that the runtime does not know is held to. Whether the call waits is behaviour.md 2.4.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for a null, freed, unknown or overrun pointer, or ranges that overlap in part.
/// Nothing is written then.
///
/// # Safety
/// A host range that the runtime does not know has to be valid for the copy.
pub(crate) unsafe fn copy(
    stream: &Stream,
    to: usize,
    from: usize,
    bytes: usize,
    kind: CopyKind,
    mode: Mode,
) -> Result<()> {
    // SAFETY: the caller's.
    unsafe { copy_region(stream, to, from, Region::flat(bytes), kind, mode) }
}

/// The same for a box of rows and slices, of which only the bytes in it are read and written.
///
/// # Errors
/// As [`copy`].
///
/// # Safety
/// As [`copy`].
pub(crate) unsafe fn copy_region(
    stream: &Stream,
    to: usize,
    from: usize,
    region: Region,
    kind: CopyKind,
    mode: Mode,
) -> Result<()> {
    stream.context().check()?;
    if region.extent.is_empty() {
        return Ok(());
    }
    let target = End::find("dst", to, span(region.extent, region.to)?, kind.target_is_device())?;
    let source = End::find("src", from, span(region.extent, region.from)?, kind.source_is_device())?;
    // Now that its ends are known to be within the address space.
    let region = region.collapsed();
    let (to_side, from_side) = (target.side(), source.side());
    if to_side == from_side && region.overlaps(to, from) {
        return Err(Error::new(ErrorKind::InvalidValue, "source and destination overlap")
            .argument("count", region.extent.width)
            .help(format!("the ranges start {} bytes apart", to.abs_diff(from))));
    }
    let _labelled =
        trace::labelled(|| timeline::copy(direction(to_side, from_side), region.extent.bytes().unwrap_or(0)));
    let plan = plan::plan(to_side, from_side, mode);
    if peer::is_foreign(stream, &target, &source) {
        // SAFETY: as below.
        return unsafe { peer::copy(stream, target, source, region, plan, mode) };
    }
    let Plan { route, waits } = plan;
    // SAFETY: the caller's; what the runtime knows has been checked to hold the box.
    unsafe { run::run(stream, &target, &source, region, route, waits) }
}

/// What the timeline calls a copy.
fn direction(to: Side, from: Side) -> &'static str {
    match (from, to) {
        (Side::Pageable, Side::Pageable | Side::Pinned) | (Side::Pinned, Side::Pageable) => "host to host",
        (Side::Pinned, Side::Pinned) => "pinned to pinned",
        (Side::Pageable, _) => "host to device",
        (Side::Pinned, _) => "pinned to device",
        (_, Side::Pageable) => "device to host",
        (_, Side::Pinned) => "device to pinned",
        (Side::Device(from) | Side::Managed(from), Side::Device(to) | Side::Managed(to)) if from == to => "on device",
        _ => "device to device",
    }
}

/// The bytes from a box's first to its last.
fn span(extent: Extent, pitch: Pitch) -> Result<usize> {
    extent.span(pitch).ok_or_else(|| {
        let Extent { width, rows, slices } = extent;
        Error::new(ErrorKind::InvalidValue, "it ends beyond the address space")
            .argument("extent", format_args!("{width} bytes x {rows} rows x {slices} slices"))
    })
}
