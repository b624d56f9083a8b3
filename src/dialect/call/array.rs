//! Arrays, and copies of their boxes (behaviour.md 2.4, 3.2 and 3.5).
//!
//! An array is an image of OpenCL in the memory of the device that was current when it was made. The calls count widths
//! and places in bytes, as their names' pitched kin do; whole elements are what moves.

use super::{Out, check_flags, null};
use crate::dialect::handle::{self, Object};
use crate::dialect::{Dialect, thread};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::copy::array::{self, ArrayEnd};
use crate::rt::copy::{CopyKind, Mode, Pitch};
use crate::rt::memory::Array;
use crate::rt::memory::array::{self as rt, ChannelKind, ImageType, Spec};
use std::ffi::{c_int, c_uint};
use std::sync::Arc;

/// Layers stand where the third dimension would.
pub(crate) const LAYERED: c_uint = 1;
/// Kernels may write the array, as they may any.
pub(crate) const SURFACE: c_uint = 2;
/// Six faces of a cube.
pub(crate) const CUBEMAP: c_uint = 4;
/// A promise about textures that asks for nothing.
pub(crate) const GATHER: c_uint = 8;

/// A channel descriptor: bits of each channel, and the number of their kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Desc {
    pub(crate) bits: [c_int; 4],
    pub(crate) kind: c_int,
}

const SIGNED: c_int = 0;
const UNSIGNED: c_int = 1;
const FLOAT: c_int = 2;

/// `MallocArray`: one dimension where `height` is 0, else two.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn malloc<D: Dialect, A>(
    out: *mut *mut A,
    desc: Option<Desc>,
    width: usize,
    height: usize,
    flags: c_uint,
) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("array", out) }?;
    let desc = desc.ok_or_else(|| null("desc"))?;
    check_flags(flags, SURFACE | GATHER)?;
    make::<D, A>(out, desc, [width, height, 0], flags)
}

/// `Malloc3DArray`: as many dimensions as the extent has numbers; with [`LAYERED`] the last one counts layers.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn malloc_3d<D: Dialect, A>(
    out: *mut *mut A,
    desc: Option<Desc>,
    extent: [usize; 3],
    flags: c_uint,
) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("array", out) }?;
    let desc = desc.ok_or_else(|| null("desc"))?;
    check_flags(flags, LAYERED | SURFACE | CUBEMAP | GATHER)?;
    make::<D, A>(out, desc, extent, flags)
}

fn make<D: Dialect, A>(out: Out<*mut A>, desc: Desc, extent: [usize; 3], flags: c_uint) -> Result<()> {
    let kind = match desc.kind {
        SIGNED => ChannelKind::Signed,
        UNSIGNED => ChannelKind::Unsigned,
        FLOAT => ChannelKind::Float,
        other => {
            let problem = format!("kinds of channels are {SIGNED}, {UNSIGNED} and {FLOAT}");
            return Err(Error::new(ErrorKind::InvalidValue, problem).argument("desc", format_args!("kind {other}")));
        }
    };
    let format = rt::format(desc.bits, kind)?;
    let image_type = image_type(extent, flags)?;
    let spec = Spec { image_type, format, size: extent.map(|along| along.max(1)), flags };
    let array = Array::new(&thread::device::<D>()?.context()?, spec)?;
    out.set(std::ptr::without_provenance_mut(D::handles().add(Object::Array(array))));
    Ok(())
}

/// What an extent and flags make of an array.
fn image_type(extent: [usize; 3], flags: c_uint) -> Result<ImageType> {
    let [width, height, depth] = extent;
    let refuse = |kind, problem: &'static str| {
        let text = format!("{width} x {height} x {depth}, flags {flags:#x}");
        Err(Error::new(kind, problem).argument("extent", text))
    };
    let invalid = |problem| refuse(ErrorKind::InvalidValue, problem);
    if width == 0 {
        return invalid("there is nothing in it");
    }
    if flags & CUBEMAP != 0 {
        let faces_fit = if flags & LAYERED == 0 { depth == 6 } else { depth > 0 && depth.is_multiple_of(6) };
        if width != height || !faces_fit {
            return invalid("a cubemap has six faces, as wide as high");
        }
        return refuse(ErrorKind::NotSupported, "OpenCL has no cubemaps");
    }
    let image_type = match (height, depth, flags & LAYERED != 0) {
        (_, 0, true) => return invalid("it is to be in layers and has none"),
        (0, _, true) => ImageType::D1Layered,
        (_, _, true) => ImageType::D2Layered,
        (0, 0, false) => ImageType::D1,
        (0, _, false) => return invalid("it has a depth and no height"),
        (_, 0, false) => ImageType::D2,
        (_, _, false) => ImageType::D3,
    };
    if flags & GATHER != 0 && image_type != ImageType::D2 {
        return invalid("texture gathers are for arrays of two dimensions");
    }
    Ok(image_type)
}

/// `FreeArray`: after all work of its device. Null is nothing to free.
pub(crate) fn free<D: Dialect>(array: usize) -> Result<()> {
    if array == 0 {
        return thread::device::<D>()?.context().map(drop);
    }
    handle::array::<D>("array", array)?.quiesce()?;
    match D::handles().remove(array, |object| matches!(object, Object::Array(_))) {
        Some(Object::Array(array)) => Array::free(array),
        _ => Err(handle::dead("array", "an array", array)),
    }
}

/// `GetChannelDesc`: what the elements are; `make` makes the dialect's structure.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn channel_desc<D: Dialect, C>(out: *mut C, array: usize, make: fn(Desc) -> C) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("desc", out) }?;
    out.set(make(desc_of(&*handle::array::<D>("array", array)?)));
    Ok(())
}

/// `ArrayGetInfo`: elements, extent as it was asked for, and flags. Any of the results may be left out.
///
/// # Safety
/// The results have to be null or writable.
pub(crate) unsafe fn info<D: Dialect, C, E>(
    desc: *mut C,
    extent: *mut E,
    flags: *mut c_uint,
    array: usize,
    make_desc: fn(Desc) -> C,
    make_extent: fn([usize; 3]) -> E,
) -> Result<()> {
    let array = handle::array::<D>("array", array)?;
    let Spec { image_type, size: [width, height, depth], flags: made_with, .. } = *array.spec();
    let asked = match image_type {
        ImageType::D1 => [width, 0, 0],
        ImageType::D2 => [width, height, 0],
        ImageType::D1Layered => [width, 0, depth],
        ImageType::D3 | ImageType::D2Layered => [width, height, depth],
    };
    // SAFETY: the caller's, where they are not null.
    unsafe {
        if let Ok(out) = Out::new("desc", desc) {
            out.set(make_desc(desc_of(&array)));
        }
        if let Ok(out) = Out::new("extent", extent) {
            out.set(make_extent(asked));
        }
        if let Ok(out) = Out::new("flags", flags) {
            out.set(made_with);
        }
    }
    Ok(())
}

fn desc_of(array: &Array) -> Desc {
    let (bits, kind) = array.spec().format.channel_bits();
    let kind = match kind {
        ChannelKind::Signed => SIGNED,
        ChannelKind::Unsigned => UNSIGNED,
        ChannelKind::Float => FLOAT,
    };
    Desc { bits, kind }
}

/// A place in an array of one or two dimensions, as the calls for two have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub(crate) array: usize,
    /// Bytes into the row.
    pub(crate) x: usize,
    pub(crate) y: usize,
}

/// Rows of memory, as the calls for two dimensions have them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) address: usize,
    pub(crate) pitch: usize,
}

/// `Memcpy2DToArray` in a stream; which of its two forms says `mode`. `size` is bytes of a row, and rows.
///
/// # Safety
/// Host memory has to be valid for the copy.
pub(crate) unsafe fn to_array<D: Dialect>(
    to: Spot,
    from: Rows,
    size: (usize, usize),
    kind: c_int,
    stream: usize,
    mode: Mode,
) -> Result<()> {
    let kind = CopyKind::from_number(kind)?;
    let stream = handle::stream::<D>(stream)?;
    let array = flat_array::<D>("dst", to.array)?;
    let to = spot("wOffset", &array, to)?;
    let from = rows("src", "spitch", from, size)?;
    let size = elements(&array, size)?;
    // SAFETY: the caller's.
    unsafe { array::copy(&stream, to, from, size, kind, mode) }
}

/// `Memcpy2DFromArray`, likewise.
///
/// # Safety
/// Host memory has to be valid for the copy.
pub(crate) unsafe fn from_array<D: Dialect>(
    to: Rows,
    from: Spot,
    size: (usize, usize),
    kind: c_int,
    stream: usize,
    mode: Mode,
) -> Result<()> {
    let kind = CopyKind::from_number(kind)?;
    let stream = handle::stream::<D>(stream)?;
    let array = flat_array::<D>("src", from.array)?;
    let from = spot("wOffset", &array, from)?;
    let to = rows("dst", "dpitch", to, size)?;
    let size = elements(&array, size)?;
    // SAFETY: the caller's.
    unsafe { array::copy(&stream, to, from, size, kind, mode) }
}

/// `Memcpy2DArrayToArray`, in the default stream.
pub(crate) fn between<D: Dialect>(to: Spot, from: Spot, size: (usize, usize), kind: c_int) -> Result<()> {
    let kind = CopyKind::from_number(kind)?;
    let stream = handle::stream::<D>(0)?;
    let (target, source) = (flat_array::<D>("dst", to.array)?, flat_array::<D>("src", from.array)?);
    let (to, from) = (spot("wOffsetDst", &target, to)?, spot("wOffsetSrc", &source, from)?);
    let size = elements(&source, size)?;
    // SAFETY: both ends are memory that the runtime knows.
    unsafe { array::copy(&stream, to, from, size, kind, Mode::Sync) }
}

/// An array that calls for two dimensions take.
fn flat_array<D: Dialect>(name: &'static str, handle: usize) -> Result<Arc<Array>> {
    let array = handle::array::<D>(name, handle)?;
    match array.spec().image_type {
        ImageType::D1 | ImageType::D2 => Ok(array),
        _ => Err(Error::new(ErrorKind::InvalidValue, "it has layers or a third dimension")
            .argument(name, format_args!("{handle:#x}"))
            .help("use the copies for three dimensions")),
    }
}

fn spot<'a>(name: &'static str, array: &'a Arc<Array>, spot: Spot) -> Result<ArrayEnd<'a>> {
    Ok(ArrayEnd::Array { array, at: [whole(name, array, spot.x)?, spot.y, 0] })
}

fn rows(
    pointer: &'static str,
    pitch: &'static str,
    rows: Rows,
    (width, height): (usize, usize),
) -> Result<ArrayEnd<'static>> {
    if rows.address == 0 && width > 0 && height > 0 {
        return Err(null(pointer));
    }
    if rows.pitch < width {
        let problem = format!("rows of {width} bytes do not fit into it");
        return Err(Error::new(ErrorKind::InvalidPitch, problem)
            .argument(pitch, rows.pitch)
            .help("the pitch is in bytes and no smaller than the width"));
    }
    let slice = rows.pitch.saturating_mul(height);
    Ok(ArrayEnd::Memory { address: rows.address, pitch: Pitch { row: rows.pitch, slice } })
}

fn elements(array: &Array, (width, height): (usize, usize)) -> Result<[usize; 3]> {
    Ok([whole("width", array, width)?, height, 1])
}

/// Bytes as elements, of which only whole ones move.
fn whole(name: &'static str, array: &Array, bytes: usize) -> Result<usize> {
    let element = array.spec().format.bytes();
    if bytes.is_multiple_of(element) {
        return Ok(bytes / element);
    }
    Err(Error::new(ErrorKind::InvalidValue, format!("the array's elements have {element} bytes"))
        .argument(name, bytes)
        .help("it is in bytes, and a multiple of that"))
}
