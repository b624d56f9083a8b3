//! Pitched memory, and copies and sets of its boxes (behaviour.md 2.4, 3.2, 3.5 and 3.6).
//!
//! Copies and sets look at their arguments in this order: the kind, the stream, whether there is anything to do, the
//! pointers, the pitches, and at last the memory itself. An empty box is a success wherever it is.

use super::{Out, null, peer};
use crate::dialect::{Dialect, handle, thread};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::copy::array::{self, ArrayEnd};
use crate::rt::copy::shape::MAX_PITCH;
use crate::rt::copy::{self, CopyKind, Extent, Mode, Pitch, Region, fill_box};
use crate::rt::device::Device;
use crate::rt::memory::{self, Array, Kind};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// Where linear memory takes part: an address, and how its rows lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear {
    pub(crate) address: usize,
    /// Bytes from one row to the next.
    pub(crate) pitch: usize,
    /// Rows of a slice.
    pub(crate) rows: usize,
}

/// One end of a 3-D copy as a dialect's structure has it; one of array and memory is null.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub(crate) array: usize,
    pub(crate) memory: Linear,
    /// Bytes into the row, or elements in an array; row; slice.
    pub(crate) at: [usize; 3],
}

/// A 3-D copy as a dialect's structure has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parms {
    pub(crate) to: Side,
    pub(crate) from: Side,
    /// Width in bytes, or in elements where an array takes part.
    pub(crate) extent: Extent,
    pub(crate) kind: c_int,
}

/// What the arguments of one end are called.
struct Names {
    pointer: &'static str,
    array: &'static str,
    pitch: &'static str,
    row: &'static str,
}

const TO: Names = Names { pointer: "dstPtr", array: "dstArray", pitch: "dstPtr.pitch", row: "dstPos" };
const FROM: Names = Names { pointer: "srcPtr", array: "srcArray", pitch: "srcPtr.pitch", row: "srcPos" };

/// One end of a 3-D copy, looked at.
enum End {
    Linear(Linear),
    Array,
}

/// `MallocPitch`: device memory for `height` rows of `width` bytes, each at a multiple of the pitch.
///
/// # Safety
/// `out` and `pitch` have to be null or writable.
pub(crate) unsafe fn malloc_pitch<D: Dialect>(
    out: *mut *mut c_void,
    pitch: *mut usize,
    width: usize,
    height: usize,
) -> Result<()> {
    // SAFETY: the caller's.
    let (out, pitch) = unsafe { (Out::new("devPtr", out)?, Out::new("pitch", pitch)?) };
    let (address, row) = allocate::<D>(Extent { width, rows: height, slices: 1 })?;
    out.set(address as *mut c_void);
    pitch.set(row);
    Ok(())
}

/// `Malloc3D`: the same for `slices` slices of such rows; `make` makes the dialect's structure.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn malloc_3d<D: Dialect, P>(
    out: *mut P,
    extent: Extent,
    make: impl FnOnce(*mut c_void, usize, usize, usize) -> P,
) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("pitchedDevPtr", out) }?;
    let (address, row) = allocate::<D>(extent)?;
    out.set(make(address as *mut c_void, row, extent.width, extent.rows));
    Ok(())
}

/// Address and pitch of new memory for a box; nulls for an empty one.
fn allocate<D: Dialect>(extent: Extent) -> Result<(usize, usize)> {
    if extent.is_empty() {
        return Ok((0, 0));
    }
    let pitch = extent.padded().ok_or_else(|| {
        Error::new(ErrorKind::InvalidValue, format!("a pitch is at most {MAX_PITCH} bytes"))
            .argument("width", extent.width)
            .help("use shorter rows, or memory without a pitch")
    })?;
    let bytes = pitch.row.checked_mul(extent.rows).and_then(|slice| slice.checked_mul(extent.slices));
    let bytes = bytes.ok_or_else(|| {
        let Extent { rows, slices, .. } = extent;
        Error::new(ErrorKind::OutOfMemory, format!("rows of {} bytes do not fit into the address space", pitch.row))
            .argument("extent", format_args!("{rows} rows x {slices} slices"))
    })?;
    let allocation = memory::allocate(&thread::device::<D>()?.context()?, bytes, Kind::Device)?;
    Ok((allocation.base(), pitch.row))
}

/// `Memcpy2D` in a stream; which of its two forms says `mode`.
///
/// # Safety
/// As the 1-D calls: host boxes have to be valid for the copy.
#[allow(clippy::too_many_arguments, reason = "the call has as many")]
pub(crate) unsafe fn memcpy_2d<D: Dialect>(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
    stream: usize,
    mode: Mode,
) -> Result<()> {
    let kind = CopyKind::from_number(kind)?;
    let stream = handle::stream::<D>(stream)?;
    let extent = Extent { width, rows: height, slices: 1 };
    if extent.is_empty() {
        return Ok(());
    }
    for (name, pointer) in [("dst", to.cast_const()), ("src", from)] {
        if pointer.is_null() {
            return Err(null(name));
        }
    }
    for (name, pitch) in [("dpitch", to_pitch), ("spitch", from_pitch)] {
        check_pitch(name, pitch, width)?;
    }
    let pitch = |row: usize| Pitch { row, slice: row.saturating_mul(height) };
    let region = Region { extent, to: pitch(to_pitch), from: pitch(from_pitch) };
    // SAFETY: the caller's.
    unsafe { copy::copy_region(&stream, to.addr(), from.addr(), region, kind, mode) }
}

/// `Memcpy3D` in a stream; which of its two forms says `mode`. `None` stands for a null structure.
///
/// # Safety
/// As the 1-D calls: host boxes have to be valid for the copy.
pub(crate) unsafe fn memcpy_3d<D: Dialect>(parms: Option<Parms>, stream: usize, mode: Mode) -> Result<()> {
    let parms = parms.ok_or_else(|| null("p"))?;
    let kind = CopyKind::from_number(parms.kind)?;
    let stream = handle::stream::<D>(stream)?;
    if parms.extent.is_empty() {
        return Ok(());
    }
    match ends::<D>(&parms)? {
        Ends::Linear { to, from, region } => {
            // SAFETY: the caller's.
            unsafe { copy::copy_region(&stream, to, from, region, kind, mode) }
        }
        // SAFETY: the caller's.
        Ends::Arrays { to, from, size } => unsafe { array::copy(&stream, to.end(), from.end(), size, kind, mode) },
    }
}

/// `Memcpy3DPeer` in a stream: the same between the devices named, of whose memory both ends have to be.
///
/// # Safety
/// As [`memcpy_3d`].
pub(crate) unsafe fn memcpy_3d_peer<D: Dialect>(
    parms: Option<(Parms, c_int, c_int)>,
    stream: usize,
    mode: Mode,
) -> Result<()> {
    let (parms, to_device, from_device) = parms.ok_or_else(|| null("p"))?;
    let to_device = peer::ordinal("dstDevice", to_device)?;
    let from_device = peer::ordinal("srcDevice", from_device)?;
    let stream = handle::stream::<D>(stream)?;
    if parms.extent.is_empty() {
        return Ok(());
    }
    match ends::<D>(&parms)? {
        Ends::Linear { to, from, region } => {
            copy::peer::between(&stream, (to, to_device), (from, from_device), region, mode)
        }
        Ends::Arrays { to, from, size } => {
            let bytes = size[0] * to.element().max(from.element());
            to.check_on(TO.pointer, bytes, to_device)?;
            from.check_on(FROM.pointer, bytes, from_device)?;
            // SAFETY: both ends are memory of devices, as was just checked.
            unsafe { array::copy(&stream, to.end(), from.end(), size, CopyKind::DeviceToDevice, mode) }
        }
    }
}

/// Both ends of a 3-D copy, looked at.
enum Ends {
    /// Addresses, and the box in bytes.
    Linear { to: usize, from: usize, region: Region },
    /// At least one array, and the box in its elements.
    Arrays { to: Place, from: Place, size: [usize; 3] },
}

/// Where a box lies, when an array takes part.
enum Place {
    Array { array: Arc<Array>, at: [usize; 3] },
    Memory { address: usize, pitch: Pitch },
}

impl Place {
    fn end(&self) -> ArrayEnd<'_> {
        match self {
            Self::Array { array, at } => ArrayEnd::Array { array, at: *at },
            &Self::Memory { address, pitch } => ArrayEnd::Memory { address, pitch },
        }
    }

    /// Bytes of an element; 0 where the other end tells.
    fn element(&self) -> usize {
        match self {
            Self::Array { array, .. } => array.spec().format.bytes(),
            Self::Memory { .. } => 0,
        }
    }

    /// Refuses what is not memory of a device; `bytes` are a row's.
    fn check_on(&self, name: &'static str, bytes: usize, device: Device) -> Result<()> {
        match self {
            Self::Memory { address, .. } => copy::peer::check_on(name, *address, bytes, device),
            Self::Array { array, .. } if array.context().device() == device => Ok(()),
            Self::Array { array, .. } => {
                let problem = format!("the array is memory of {}, not of {device}", array.context().device());
                Err(Error::new(ErrorKind::InvalidValue, problem).argument(name, "an array"))
            }
        }
    }
}

/// Reads both ends. Where an array takes part the width is in its elements; a position is in what its own end has,
/// elements or bytes.
fn ends<D: Dialect>(parms: &Parms) -> Result<Ends> {
    let extent = parms.extent;
    let (to, from) = (end(&parms.to, &TO)?, end(&parms.from, &FROM)?);
    if let (End::Linear(to), End::Linear(from)) = (&to, &from) {
        let (to, to_pitch) = place(*to, parms.to.at, extent, &TO)?;
        let (from, from_pitch) = place(*from, parms.from.at, extent, &FROM)?;
        return Ok(Ends::Linear { to, from, region: Region { extent, to: to_pitch, from: from_pitch } });
    }
    let array = |side: &Side, end: &End, names: &Names| match end {
        End::Array => handle::array::<D>(names.array, side.array).map(Some),
        End::Linear(_) => Ok(None),
    };
    let (target, source) = (array(&parms.to, &to, &TO)?, array(&parms.from, &from, &FROM)?);
    let element = target.as_ref().or(source.as_ref()).map_or(1, |array| array.spec().format.bytes());
    let bytes = Extent { width: extent.width.saturating_mul(element), ..extent };
    let lay = |side: &Side, end: End, array: Option<Arc<Array>>, names: &Names| match (end, array) {
        (End::Linear(memory), _) => {
            place(memory, side.at, bytes, names).map(|(address, pitch)| Place::Memory { address, pitch })
        }
        (End::Array, Some(array)) => Ok(Place::Array { array, at: side.at }),
        (End::Array, None) => Err(null(names.array)),
    };
    Ok(Ends::Arrays {
        to: lay(&parms.to, to, target, &TO)?,
        from: lay(&parms.from, from, source, &FROM)?,
        size: [extent.width, extent.rows, extent.slices],
    })
}

/// Which of the two that an end may be it is.
fn end(side: &Side, names: &Names) -> Result<End> {
    match (side.array, side.memory.address) {
        (0, 0) => Err(null(names.pointer).help(format!("set either {} or {}", names.pointer, names.array))),
        (0, _) => Ok(End::Linear(side.memory)),
        (_, 0) => Ok(End::Array),
        (_, address) => {
            let problem = format!("{} is set as well", names.array);
            Err(Error::new(ErrorKind::InvalidValue, problem)
                .argument(names.pointer, format_args!("{address:#x}"))
                .help("leave one of the two null"))
        }
    }
}

/// The address of a box in linear memory, and how it lies there.
fn place(memory: Linear, at: [usize; 3], extent: Extent, names: &Names) -> Result<(usize, Pitch)> {
    let Linear { address, pitch, rows } = memory;
    check_pitch(names.pitch, pitch, extent.width)?;
    let [x, y, z] = at;
    let beyond = |what: &str, end: Option<usize>| {
        let end = end.map_or_else(|| "beyond the address space".to_owned(), |end| format!("at {end}"));
        Error::new(ErrorKind::InvalidValue, format!("the box ends {end}, {what}"))
            .argument(names.row, format_args!("({x}, {y}, {z})"))
    };
    let within = |at: usize, len: usize, room: usize| match at.checked_add(len) {
        Some(end) if end <= room => Ok(()),
        end => Err(end),
    };
    within(x, extent.width, pitch).map_err(|end| beyond(&format!("and a row has a pitch of {pitch} bytes"), end))?;
    within(y, extent.rows, rows)
        .map_err(|end| beyond(&format!("and a slice has {rows} rows"), end).help("ysize is the rows of a slice"))?;
    let start = || {
        let slice = pitch.checked_mul(rows)?;
        let start = z.checked_mul(slice)?.checked_add(y.checked_mul(pitch)?)?.checked_add(x)?;
        Some((address.checked_add(start)?, Pitch { row: pitch, slice }))
    };
    start().ok_or_else(|| beyond("which is more than there is", None))
}

/// Refuses a pitch that rows of `width` bytes do not fit into, or that no device has.
fn check_pitch(name: &'static str, pitch: usize, width: usize) -> Result<()> {
    if pitch < width {
        let problem = format!("rows of {width} bytes do not fit into it");
        return Err(Error::new(ErrorKind::InvalidPitch, problem)
            .argument(name, pitch)
            .help("the pitch is in bytes and no smaller than the width"));
    }
    if pitch > MAX_PITCH {
        return Err(
            Error::new(ErrorKind::InvalidValue, format!("a pitch is at most {MAX_PITCH} bytes")).argument(name, pitch)
        );
    }
    Ok(())
}

/// `Memset2D` in a stream: the low byte of `value` in each of `height` rows of `width` bytes.
pub(crate) fn memset_2d<D: Dialect>(
    memory: (*mut c_void, usize),
    value: c_int,
    (width, height): (usize, usize),
    stream: usize,
    mode: Mode,
) -> Result<()> {
    let (pointer, pitch) = memory;
    let memory = Linear { address: pointer.addr(), pitch, rows: height };
    set::<D>(memory, value, Extent { width, rows: height, slices: 1 }, stream, mode)
}

/// `Memset3D` in a stream.
pub(crate) fn memset_3d<D: Dialect>(
    memory: Linear,
    value: c_int,
    extent: Extent,
    stream: usize,
    mode: Mode,
) -> Result<()> {
    set::<D>(memory, value, extent, stream, mode)
}

fn set<D: Dialect>(memory: Linear, value: c_int, extent: Extent, stream: usize, mode: Mode) -> Result<()> {
    const NAMES: Names = Names { pointer: "devPtr", array: "", pitch: "pitch", row: "extent" };
    let stream = handle::stream::<D>(stream)?;
    if extent.is_empty() {
        return Ok(());
    }
    if memory.address == 0 {
        return Err(null(NAMES.pointer));
    }
    // Sets have no code of their own for a pitch.
    let placed = place(memory, [0; 3], extent, &NAMES).map_err(|error| error.with_kind(ErrorKind::InvalidValue));
    let (address, pitch) = placed?;
    fill_box::set(&stream, address, value.to_le_bytes()[0], extent, pitch, mode)
}
