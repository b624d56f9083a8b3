//! Copies with an array on one side or both. Each is one command of OpenCL, or two where memory of the device has room
//! between its rows.

use super::plan::{self, Plan, Route, Side};
use super::{CopyKind, End, Extent, Mode, Pitch, Region, span, staging};
use crate::cl::{Failure, Queue};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use crate::rt::memory::array::ImageType;
use crate::rt::memory::{self, Allocation, Array, Kind};
use crate::rt::stream::Stream;
use crate::rt::timeline;
use crate::trace;
use std::sync::Arc;

/// One end of a copy with arrays.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ArrayEnd<'a> {
    /// A box of an array, from the element at `at` on.
    Array { array: &'a Arc<Array>, at: [usize; 3] },
    /// Memory of the device or the host, from its first byte on.
    Memory { address: usize, pitch: Pitch },
}

/// The same with what is at an address found.
enum Side3<'a> {
    Array(&'a Arc<Array>, [usize; 3]),
    Memory(End, Pitch),
}

impl Side3<'_> {
    fn side(&self) -> Side {
        match self {
            Self::Array(array, _) => Side::Device(array.context().serial()),
            Self::Memory(end, _) => end.side(),
        }
    }

    /// The context of what is in a device's memory.
    fn context(&self) -> Option<&Arc<Context>> {
        match self {
            Self::Array(array, _) => Some(array.context()),
            Self::Memory(end, _) => end.context(),
        }
    }
}

/// A box to copy: its size in elements and what an element is.
#[derive(Clone, Copy)]
struct Boxed {
    size: [usize; 3],
    element: usize,
}

impl Boxed {
    fn extent(self) -> Extent {
        let [width, rows, slices] = self.size;
        Extent { width: width.saturating_mul(self.element), rows, slices }
    }

    fn bytes(self) -> usize {
        self.extent().bytes().unwrap_or(usize::MAX)
    }
}

/// Copies a box of `size` elements, of which at least one end is in an array, in the order of `stream`.
///
/// `kind` says what the program takes the ends for; an array is memory of its device. Whether the call waits is
/// behaviour.md 2.4.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for a box that does not lie in an array or an allocation, a null, freed or unknown
/// pointer, elements of different sizes, or parts of one array that overlap; [`ErrorKind::InvalidPitch`] for rows that
/// are longer than their pitch; [`ErrorKind::InvalidCopyDirection`] where the kind takes an array for host memory.
/// Nothing is written then.
///
/// # Safety
/// A host range that the runtime does not know has to be valid for the copy.
pub(crate) unsafe fn copy(
    stream: &Stream,
    to: ArrayEnd<'_>,
    from: ArrayEnd<'_>,
    size: [usize; 3],
    kind: CopyKind,
    mode: Mode,
) -> Result<()> {
    stream.context().check()?;
    check_kind(&to, &from, kind)?;
    let element = element(&to, &from)?;
    let boxed = Boxed { size, element };
    check_box("dst", &to, boxed)?;
    check_box("src", &from, boxed)?;
    if boxed.extent().is_empty() {
        return Ok(());
    }
    let to = find("dst", to, boxed, kind.target_is_device())?;
    let from = find("src", from, boxed, kind.source_is_device())?;
    if let (Side3::Array(target, to), Side3::Array(source, from)) = (&to, &from)
        && Arc::ptr_eq(target, source)
    {
        if to == from {
            return Ok(());
        }
        if (0..3).all(|axis| to[axis].abs_diff(from[axis]) < size[axis]) {
            let problem = "source and destination overlap in the array";
            return Err(Error::new(ErrorKind::InvalidValue, problem).argument("extent", size_text(size)));
        }
    }
    // SAFETY: the caller's; what the runtime knows has been checked to hold the box.
    unsafe { run(stream, &to, &from, boxed, mode) }
}

/// # Safety
/// As [`copy`], and both ends have to hold the box.
unsafe fn run(stream: &Stream, to: &Side3<'_>, from: &Side3<'_>, boxed: Boxed, mode: Mode) -> Result<()> {
    match (to.context(), from.context()) {
        // SAFETY: the caller's.
        (Some(target), Some(source)) if !Arc::ptr_eq(target, source) || goes_by_the_host(target, to, from, boxed) => unsafe {
            across(stream, to, from, boxed)
        },
        (Some(context), _) | (None, Some(context)) if !Arc::ptr_eq(context, stream.context()) => {
            // On another device than the stream's: behind the stream's work, and done when the call returns.
            stream.wait_turn()?;
            // SAFETY: the caller's.
            unsafe { run(&context.device().default_stream()?, to, from, boxed, Mode::Sync) }?;
            context.wait_out(Context::LEGACY)
        }
        // SAFETY: the caller's.
        _ => unsafe { on_device(stream, to, from, boxed, plan::plan(to.side(), from.side(), mode)) },
    }
}

/// Whether the driver lacks the copy between a buffer and an array that this would take.
fn goes_by_the_host(context: &Context, to: &Side3<'_>, from: &Side3<'_>, boxed: Boxed) -> bool {
    let layered =
        |side: &Side3<'_>| matches!(side, Side3::Array(array, _) if array.spec().image_type == ImageType::D1Layered);
    let one_command = matches!((to, from), (Side3::Array(..), Side3::Array(..))) && !needs_scratch(to, from, boxed);
    context.caps().copies_no_1d_layers_with_buffers() && (layered(to) || layered(from)) && !one_command
}

/// # Safety
/// As [`run`], and all memory of devices has to be the stream's device's.
unsafe fn on_device(stream: &Stream, to: &Side3<'_>, from: &Side3<'_>, boxed: Boxed, plan: Plan) -> Result<()> {
    let context = stream.context();
    let Plan { route, mut waits } = plan;
    if route == (Route::Up { snapshot: true })
        && let Side3::Memory(end, pitch) = from
    {
        match staging::hold(context, end.address, boxed.extent(), *pitch) {
            Ok(held) => {
                let source = Side3::Memory(End::host(held.address()), boxed.extent().tight());
                return staging::let_go(stream, held, submit(stream, to, &source, boxed));
            }
            // Without room for a snapshot the source stays in use, so the call has to wait.
            Err(error) => {
                log::warn!("a copy waits, for want of {} bytes of staging memory: {error}", boxed.bytes());
                waits = true;
            }
        }
    }
    submit(stream, to, from, boxed)?;
    if waits { context.wait_out(stream.lane()) } else { Ok(()) }
}

/// Enqueues the copy, by way of a tight block where one command does not do.
fn submit(stream: &Stream, to: &Side3<'_>, from: &Side3<'_>, boxed: Boxed) -> Result<crate::rt::stream::lanes::Ticket> {
    let context = stream.context();
    let _labelled = trace::labelled(|| timeline::copy(super::direction(to.side(), from.side()), boxed.bytes()));
    // Allocated before the lane is locked: an allocation may look at the lanes.
    let scratch = if needs_scratch(to, from, boxed) {
        Some(memory::allocate(context, boxed.bytes(), Kind::Device)?)
    } else {
        None
    };
    let submitted = context.submit(stream.lane(), |queue| enqueue(context, queue, to, from, boxed, scratch.as_deref()));
    if let Some(scratch) = scratch {
        memory::give_up(&scratch);
    }
    submitted.map(|((), ticket)| ticket)
}

fn needs_scratch(to: &Side3<'_>, from: &Side3<'_>, boxed: Boxed) -> bool {
    let loose = |side: &Side3<'_>| match side {
        Side3::Memory(_, pitch) => side.context().is_some() && !is_tight(*pitch, boxed.extent()),
        Side3::Array(..) => false,
    };
    match (to, from) {
        // OpenCL copies between images of one format only.
        (Side3::Array(target, _), Side3::Array(source, _)) => target.spec().format != source.spec().format,
        _ => loose(to) || loose(from),
    }
}

/// Whether the rows of a box follow each other.
fn is_tight(pitch: Pitch, extent: Extent) -> bool {
    let tight = extent.tight();
    (extent.rows == 1 || pitch.row == tight.row) && (extent.slices == 1 || pitch.slice == tight.slice)
}

fn enqueue(
    context: &Arc<Context>,
    queue: &Arc<Queue>,
    to: &Side3<'_>,
    from: &Side3<'_>,
    boxed: Boxed,
    scratch: Option<&Allocation>,
) -> Result<(), Failure> {
    for side in [to, from] {
        if let Side3::Memory(end, _) = side {
            end.lend(context, queue)?;
        }
    }
    let between = match scratch {
        Some(scratch) => scratch.buffer(scratch.base())?.map(|(buffer, at)| (scratch, buffer, at)),
        None => None,
    };
    match (to, from) {
        (Side3::Array(target, to), Side3::Array(source, from)) => {
            let (to, from) = (target.part(*to, boxed.size), source.part(*from, boxed.size));
            match between {
                Some((_, buffer, at)) => {
                    queue.copy_from_image((&buffer, at), &from)?;
                    queue.copy_to_image(&to, (&buffer, at))
                }
                None => queue.copy_image(&to, &from),
            }
        }
        (Side3::Array(array, at), Side3::Memory(end, pitch)) => {
            let part = array.part(*at, boxed.size);
            match (end.buffer()?, between) {
                // SAFETY: the box was found in the map or is the program's to keep valid.
                (None, _) => unsafe { queue.write_image(&part, end.address, host_pitch(*pitch, boxed)) },
                (Some((buffer, at)), None) => queue.copy_to_image(&part, (&buffer, at)),
                (Some(_), Some((scratch, buffer, at))) => {
                    let tight = boxed.extent().tight();
                    let region = Region { extent: boxed.extent(), to: tight, from: *pitch };
                    let place = scratch.place(scratch.base());
                    context.builtin().copy(context, queue, place, end.place(), region.collapsed())?;
                    queue.copy_to_image(&part, (&buffer, at))
                }
            }
        }
        (Side3::Memory(end, pitch), Side3::Array(array, at)) => {
            let part = array.part(*at, boxed.size);
            match (end.buffer()?, between) {
                // SAFETY: as above.
                (None, _) => unsafe { queue.read_image(&part, end.address, host_pitch(*pitch, boxed)) },
                (Some((buffer, at)), None) => queue.copy_from_image((&buffer, at), &part),
                (Some(_), Some((scratch, buffer, at))) => {
                    queue.copy_from_image((&buffer, at), &part)?;
                    let tight = boxed.extent().tight();
                    let region = Region { extent: boxed.extent(), to: *pitch, from: tight };
                    let place = scratch.place(scratch.base());
                    context.builtin().copy(context, queue, end.place(), place, region.collapsed())
                }
            }
        }
        (Side3::Memory(..), Side3::Memory(..)) => Ok(()),
    }
}

/// The pitches of a box in host memory as OpenCL takes them: at least what the box needs, also where there is but one
/// row or slice.
fn host_pitch(pitch: Pitch, boxed: Boxed) -> [usize; 2] {
    let Extent { width, rows, slices } = boxed.extent();
    let row = if rows == 1 && slices == 1 { width } else { pitch.row };
    let slice = if slices == 1 { row * rows } else { pitch.slice };
    [row, slice]
}

/// From one device to another through host memory: nothing of one context is ever given to a queue of another.
///
/// # Safety
/// As [`run`].
unsafe fn across(stream: &Stream, to: &Side3<'_>, from: &Side3<'_>, boxed: Boxed) -> Result<()> {
    stream.wait_turn()?;
    let mut hop = Vec::<u8>::new();
    hop.try_reserve_exact(boxed.bytes()).map_err(|error| {
        Error::new(ErrorKind::OutOfMemory, "the host has no room between the two devices").caused_by(error)
    })?;
    let (address, tight) = (hop.as_mut_ptr() as usize, boxed.extent().tight());
    // SAFETY: the hop is ours and large enough until both copies, which wait, are done.
    unsafe {
        one_way(&Side3::Memory(End::host(address), tight), from, boxed)?;
        one_way(to, &Side3::Memory(End::host(address), tight), boxed)
    }
}

/// A copy between one device and the host that is done when the call returns.
///
/// # Safety
/// As [`run`].
unsafe fn one_way(to: &Side3<'_>, from: &Side3<'_>, boxed: Boxed) -> Result<()> {
    let Some(context) = to.context().or(from.context()) else { return Ok(()) };
    let stream = context.device().default_stream()?;
    match (to, from) {
        (Side3::Memory(target, to), Side3::Memory(source, from)) => {
            let region = Region { extent: boxed.extent(), to: *to, from: *from };
            // SAFETY: the caller's.
            unsafe {
                super::copy_region(&stream, target.address, source.address, region, CopyKind::Default, Mode::Sync)
            }
        }
        // SAFETY: the caller's.
        _ => unsafe { run(&stream, to, from, boxed, Mode::Sync) },
    }
}

/// Refuses a kind that takes an array for host memory.
fn check_kind(to: &ArrayEnd<'_>, from: &ArrayEnd<'_>, kind: CopyKind) -> Result<()> {
    let against = |end: &ArrayEnd<'_>, is_device: bool| matches!(end, ArrayEnd::Array { .. }) && !is_device;
    if kind == CopyKind::Default {
        return Ok(());
    }
    let name = match () {
        () if against(to, kind.target_is_device()) => "destination",
        () if against(from, kind.source_is_device()) => "source",
        () => return Ok(()),
    };
    Err(Error::new(ErrorKind::InvalidCopyDirection, format!("the {name} is an array, which is device memory"))
        .argument("kind", format_args!("{kind:?}")))
}

/// Bytes of an element, which both arrays have to agree on.
fn element(to: &ArrayEnd<'_>, from: &ArrayEnd<'_>) -> Result<usize> {
    let format = |end: &ArrayEnd<'_>| match end {
        ArrayEnd::Array { array, .. } => Some(array.spec().format),
        ArrayEnd::Memory { .. } => None,
    };
    match (format(to), format(from)) {
        (Some(target), Some(source)) if target.bytes() != source.bytes() => {
            let problem = format!(
                "elements of {} bytes do not go where elements of {} bytes are: {source}, and {target}",
                source.bytes(),
                target.bytes()
            );
            Err(Error::new(ErrorKind::InvalidValue, problem).argument("dst", "an array"))
        }
        (Some(format), _) | (None, Some(format)) => Ok(format.bytes()),
        (None, None) => Err(Error::new(ErrorKind::InvalidValue, "neither end is an array")),
    }
}

fn size_text([width, height, depth]: [usize; 3]) -> String {
    format!("{width} x {height} x {depth} elements")
}

/// Holds a box against its array, or its rows against their pitch.
fn check_box(name: &'static str, end: &ArrayEnd<'_>, boxed: Boxed) -> Result<()> {
    match end {
        ArrayEnd::Array { array, at } => {
            array.context().check()?;
            let size = array.spec().size;
            let inside = (0..3).all(|axis| at[axis].checked_add(boxed.size[axis]).is_some_and(|end| end <= size[axis]));
            if inside {
                return Ok(());
            }
            let problem = format!(
                "the array has {}, and the copy would have {} from ({}, {}, {}) on",
                size_text(size),
                size_text(boxed.size),
                at[0],
                at[1],
                at[2]
            );
            Err(Error::new(ErrorKind::InvalidValue, problem).argument(name, "an array"))
        }
        ArrayEnd::Memory { pitch, .. } => {
            let Extent { width, rows, slices } = boxed.extent();
            if pitch.row < width && (rows > 1 || slices > 1) {
                let problem = format!("rows of {width} bytes do not fit");
                return Err(Error::new(ErrorKind::InvalidPitch, problem).argument("pitch", pitch.row));
            }
            if slices > 1 && pitch.slice < pitch.row.saturating_mul(rows) {
                let problem = format!("slices of {rows} rows, {} bytes apart, do not fit", pitch.row);
                return Err(Error::new(ErrorKind::InvalidPitch, problem).argument("slice pitch", pitch.slice));
            }
            Ok(())
        }
    }
}

fn find<'a>(name: &'static str, end: ArrayEnd<'a>, boxed: Boxed, device: bool) -> Result<Side3<'a>> {
    match end {
        ArrayEnd::Array { array, at } => Ok(Side3::Array(array, at)),
        ArrayEnd::Memory { address, pitch } => {
            Ok(Side3::Memory(End::find(name, address, span(boxed.extent(), pitch)?, device)?, pitch))
        }
    }
}

/// Sets every channel of an array to 0, in the order of a stream of its device.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for a stream of another device.
pub(crate) fn clear(stream: &Stream, array: &Array) -> Result<()> {
    array.context().check()?;
    let context = stream.context();
    if !std::ptr::eq(&**array.context(), &**context) {
        let problem = format!("the array belongs to {}", array.context().device());
        return Err(Error::new(ErrorKind::InvalidValue, problem).argument("stream", context.device()));
    }
    let part = array.part([0; 3], array.spec().size);
    context.submit(stream.lane(), |queue| queue.clear_image(&part)).map(drop)
}
