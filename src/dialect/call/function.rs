//! What the dialects tell of kernels, and what may be set of them (behaviour.md 3.10 FuncGetAttributes,
//! FuncSetAttribute, FuncGetAttribute).

use super::Out;
#[cfg(feature = "musa")]
use super::check_flags;
#[cfg(feature = "tops")]
use super::null;
use crate::dialect::{Dialect, handle, thread};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::launch;
use crate::rt::launch::occupancy::Needs;
use std::ffi::{c_int, c_void};

/// What is told of a kernel; each dialect has a structure of its own for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attributes {
    pub(crate) shared: usize,
    pub(crate) private: usize,
    pub(crate) max_threads: c_int,
    pub(crate) max_dynamic_shared: c_int,
    /// The device's capability, ten times major plus minor: OpenCL has no version for a kernel's code.
    pub(crate) version: c_int,
}

fn int(value: u64) -> c_int {
    c_int::try_from(value).unwrap_or(c_int::MAX)
}

fn needs<D: Dialect>(function: usize) -> Result<Needs> {
    let kernel = match function {
        0 => return Err(Error::new(ErrorKind::InvalidFunction, "null is not a function").argument("func", "null")),
        function => handle::function::<D>(function)?,
    };
    launch::needs(&kernel, &thread::device::<D>()?.context()?)
}

fn attributes<D: Dialect>(function: usize) -> Result<Attributes> {
    let needs = needs::<D>(function)?;
    let (major, minor) = thread::device::<D>()?.caps().capability();
    Ok(Attributes {
        shared: needs.shared_static as usize,
        private: needs.private as usize,
        max_threads: int(needs.max_block as u64),
        max_dynamic_shared: int(needs.shared_dynamic()),
        version: int(u64::from(10 * major + minor)),
    })
}

/// `FuncGetAttributes`: what a kernel is on the current device.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn get_all<D: Dialect, A>(
    out: *mut A,
    function: *const c_void,
    write: fn(Attributes) -> A,
) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("attr", out) }?;
    out.set(write(attributes::<D>(function.addr())?));
    Ok(())
}

/// `FuncGetAttribute`: one number of it; `read` knows the attributes, and what is not known is an invalid value.
///
/// # Safety
/// `out` has to be null or writable.
#[cfg(feature = "tops")]
pub(crate) unsafe fn get<D: Dialect>(
    out: *mut c_int,
    attribute: c_int,
    function: usize,
    read: fn(Attributes, c_int) -> Option<c_int>,
) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("value", out) }?;
    let attributes = attributes::<D>(function).map_err(|error| match error.kind() {
        ErrorKind::InvalidFunction => error.with_kind(ErrorKind::InvalidHandle),
        _ => error,
    })?;
    let value = read(attributes, attribute)
        .ok_or_else(|| Error::new(ErrorKind::InvalidValue, "no such attribute").argument("attrib", attribute))?;
    out.set(value);
    Ok(())
}

/// What `FuncSetAttribute` may set.
#[cfg(feature = "musa")]
pub(crate) enum Setting {
    DynamicShared,
    Carveout,
}

/// `FuncSetAttribute`: checks that a launch may have so much dynamic shared memory, which needs no leave here, or that
/// a wish for the cache's share is one; OpenCL has nothing to pass it to.
#[cfg(feature = "musa")]
pub(crate) fn set<D: Dialect>(function: *const c_void, setting: Option<Setting>, value: c_int) -> Result<()> {
    let needs = needs::<D>(function.addr())?;
    let refuse = |problem: String| Err(Error::new(ErrorKind::InvalidValue, problem).argument("value", value));
    match setting {
        None => Err(Error::new(ErrorKind::InvalidValue, "no such attribute can be set").argument("attr", "unknown")),
        Some(Setting::Carveout) if !(-1..=100).contains(&value) => refuse("it is a percentage, or -1".into()),
        Some(Setting::DynamicShared) if value < 0 || value as u64 > needs.shared_dynamic() => {
            refuse(format!("a launch of this kernel may have 0 to {} bytes", needs.shared_dynamic()))
        }
        Some(_) => Ok(()),
    }
}

/// `OccupancyMaxActiveBlocksPerMultiprocessor`: by the reckoning of [`crate::rt::launch::occupancy`].
///
/// # Safety
/// `out` has to be null or writable.
#[cfg(feature = "musa")]
pub(crate) unsafe fn active_blocks<D: Dialect>(
    out: *mut c_int,
    function: *const c_void,
    block: c_int,
    shared: usize,
    (flags, known): (u32, u32),
) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("numBlocks", out) }?;
    check_flags(flags, known)?;
    let needs = needs::<D>(function.addr())?;
    let size = usize::try_from(block).ok().filter(|&size| size > 0).ok_or_else(|| {
        Error::new(ErrorKind::InvalidValue, "a block has at least one thread").argument("blockSize", block)
    })?;
    out.set(int(needs.active_blocks(size, shared) as u64));
    Ok(())
}

/// `OccupancyMaxPotentialBlockSize`: the block that keeps most threads busy, and the smallest grid of it that keeps
/// the device busy.
///
/// # Safety
/// The results have to be null or writable.
#[cfg(feature = "musa")]
pub(crate) unsafe fn best_block<D: Dialect>(
    grid: *mut c_int,
    block: *mut c_int,
    function: *const c_void,
    shared: usize,
    limit: c_int,
    (flags, known): (u32, u32),
) -> Result<()> {
    // SAFETY: the caller's.
    let (grid, block) = unsafe { (Out::new("minGridSize", grid)?, Out::new("blockSize", block)?) };
    check_flags(flags, known)?;
    let needs = needs::<D>(function.addr())?;
    let limit = usize::try_from(limit)
        .map_err(|_| Error::new(ErrorKind::InvalidValue, "it is 0 or more").argument("blockSizeLimit", limit))?;
    let best = needs.best_block(|_| shared, limit).ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidValue,
            format!("a launch of this kernel may have {} bytes", needs.shared_dynamic()),
        )
        .argument("dynamicSMemSize", shared)
    })?;
    let units = thread::device::<D>()?.compute_units() as usize;
    block.set(int(best as u64));
    grid.set(int((needs.active_blocks(best, shared) * units) as u64));
    Ok(())
}

/// `ModuleLoadDataEx` and its options: their number and whether they are there, which is all that is looked at.
#[cfg(feature = "tops")]
pub(crate) fn check_options(count: u32, names: bool, values: bool) -> Result<()> {
    match (count, names, values) {
        (0, ..) | (_, true, true) => Ok(()),
        (_, false, _) => Err(null("options")),
        (_, _, false) => Err(null("optionValues")),
    }
}
