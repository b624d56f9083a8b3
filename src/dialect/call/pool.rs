//! Allocation in stream order and the memory pools behind it (behaviour.md 2.5 and 3.2).

use super::device::device;
use super::memory::ZeroSize;
use super::{Out, check_flags, null};
use crate::dialect::handle::{self, Object};
use crate::dialect::{Dialect, thread};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::memory::ordered::{self, MemPool, PoolAttribute};
use crate::rt::memory::query;
use crate::rt::stream::Stream;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::without_provenance_mut;

/// The numbers that the dialects share with CUDA.
mod number {
    use std::ffi::c_int;

    pub(super) const LOCATION_DEVICE: c_int = 1;
    pub(super) const ALLOCATION_PINNED: c_int = 1;
    pub(super) const ACCESS: [c_int; 3] = [0, 1, READ_WRITE];
    pub(super) const READ_WRITE: c_int = 3;
    /// How pools may be shared: not, by descriptor, and by Windows' handles.
    pub(super) const HANDLE_TYPES: std::ops::Range<c_int> = 0..8;
}

/// `MallocAsync`: memory of the stream's device from its current pool.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn malloc_async<D: Dialect>(
    out: *mut *mut c_void,
    bytes: usize,
    stream: usize,
    zero: ZeroSize,
) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("devPtr", out) }?;
    let stream = handle::stream::<D>(stream)?;
    take(out, bytes, &MemPool::current_of(stream.context()), &stream, zero)
}

/// `MallocFromPoolAsync`: memory from a pool.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn malloc_from_pool<D: Dialect>(
    out: *mut *mut c_void,
    bytes: usize,
    pool: usize,
    stream: usize,
    zero: ZeroSize,
) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("devPtr", out) }?;
    let pool = handle::pool::<D>(pool)?;
    take(out, bytes, &pool, &handle::stream::<D>(stream)?, zero)
}

fn take(out: Out<*mut c_void>, bytes: usize, pool: &MemPool, stream: &Stream, zero: ZeroSize) -> Result<()> {
    if bytes == 0 && zero == ZeroSize::Null {
        out.set(std::ptr::null_mut());
        return Ok(());
    }
    out.set(ordered::allocate(pool, stream, bytes)?.base() as *mut c_void);
    Ok(())
}

/// The flags of `topsMallocAsync`: a memory bank in the upper byte, which OpenCL has not, and flags below.
pub(crate) fn check_long_flags(flags: u64, known: c_uint) -> Result<()> {
    let low = flags & !(0xff << 56);
    check_flags(c_uint::try_from(low).unwrap_or(c_uint::MAX), known)
}

/// `FreeAsync`: gives device memory back in the order of a stream. Null is nothing to free.
pub(crate) fn free_async<D: Dialect>(pointer: *mut c_void, stream: usize) -> Result<()> {
    let stream = handle::stream::<D>(stream)?;
    if pointer.is_null() {
        return Ok(());
    }
    ordered::free(pointer.addr(), &stream)
}

/// `DeviceGetDefaultMemPool`: the pool that a device begins with.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn default_of<D: Dialect, P>(out: *mut *mut P, ordinal: c_int) -> Result<()> {
    // SAFETY: the caller's.
    unsafe { put::<D, P>(out, || Ok(MemPool::default_of(&device(ordinal)?.context()?))) }
}

/// `DeviceGetMemPool`: the pool that a device's stream-ordered allocations are from.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn current_of<D: Dialect, P>(out: *mut *mut P, ordinal: c_int) -> Result<()> {
    // SAFETY: the caller's.
    unsafe { put::<D, P>(out, || Ok(MemPool::current_of(&device(ordinal)?.context()?))) }
}

/// `DeviceSetMemPool`: chooses that pool, which has to be the device's own.
pub(crate) fn set_current<D: Dialect>(ordinal: c_int, pool: usize) -> Result<()> {
    let device = device(ordinal)?;
    let pool = handle::pool::<D>(pool)?;
    if pool.context().device() != device {
        let problem = format!("the pool's memory is {}'s", pool.context().device());
        return Err(Error::new(ErrorKind::InvalidValue, problem).argument("device", ordinal));
    }
    pool.make_current()
}

/// What a pool is to be made of.
pub(crate) struct Properties {
    pub(crate) allocation_type: c_int,
    pub(crate) handle_types: c_int,
    pub(crate) location: (c_int, c_int),
}

/// `MemPoolCreate`: a new pool of a device.
///
/// # Safety
/// `out` has to be null or writable, `properties` null or readable.
pub(crate) unsafe fn create<D: Dialect, P, A>(
    out: *mut *mut P,
    properties: *const A,
    read: fn(&A) -> Properties,
) -> Result<()> {
    // SAFETY: the caller's.
    let wanted = read(unsafe { properties.as_ref() }.ok_or_else(|| null("poolProps"))?);
    let make = || {
        if wanted.allocation_type != number::ALLOCATION_PINNED {
            return Err(Error::new(ErrorKind::InvalidValue, "pools are of pinned memory, type 1")
                .argument("poolProps.allocType", wanted.allocation_type));
        }
        check_handle_type("poolProps.handleTypes", wanted.handle_types)?;
        if wanted.handle_types != 0 {
            return Err(unshared());
        }
        MemPool::create(&place(wanted.location)?.context()?)
    };
    // SAFETY: the caller's.
    unsafe { put::<D, P>(out, make) }
}

/// `MemPoolDestroy`: gives a pool up; what is allocated from it stays.
pub(crate) fn destroy<D: Dialect>(pool: usize) -> Result<()> {
    handle::pool::<D>(pool)?.destroy()?;
    D::handles().sweep();
    Ok(())
}

/// `MemPoolTrimTo`: gives back what is free until the pool holds at most `keep` bytes.
pub(crate) fn trim<D: Dialect>(pool: usize, keep: usize) -> Result<()> {
    handle::pool::<D>(pool)?.trim_to(keep)
}

/// An attribute by its number, and whether its value is an `int`; else it is 64 bits wide.
fn attribute(number: c_int) -> Result<(PoolAttribute, bool)> {
    Ok(match number {
        1 => (PoolAttribute::ReuseFollowEvents, true),
        2 => (PoolAttribute::ReuseOpportunistic, true),
        3 => (PoolAttribute::ReuseInternal, true),
        4 => (PoolAttribute::ReleaseThreshold, false),
        5 => (PoolAttribute::ReservedNow, false),
        6 => (PoolAttribute::ReservedHigh, false),
        7 => (PoolAttribute::UsedNow, false),
        8 => (PoolAttribute::UsedHigh, false),
        _ => {
            return Err(Error::new(ErrorKind::InvalidValue, "pools have no such attribute")
                .argument("attr", number)
                .help("attributes are 1 to 8"));
        }
    })
}

/// `MemPoolGetAttribute`: one number about a pool.
///
/// # Safety
/// `value` has to be null or writable for the attribute's type.
pub(crate) unsafe fn get_attribute<D: Dialect>(pool: usize, number: c_int, value: *mut c_void) -> Result<()> {
    let pool = handle::pool::<D>(pool)?;
    let (attribute, is_int) = attribute(number)?;
    // SAFETY: the caller's.
    unsafe {
        if is_int {
            Out::new("value", value.cast::<c_int>())?.set(c_int::from(pool.attribute(attribute)? != 0));
        } else {
            Out::new("value", value.cast::<u64>())?.set(pool.attribute(attribute)?);
        }
    }
    Ok(())
}

/// `MemPoolSetAttribute`: what may be told of these.
///
/// # Safety
/// `value` has to be null or readable for the attribute's type.
pub(crate) unsafe fn set_attribute<D: Dialect>(pool: usize, number: c_int, value: *const c_void) -> Result<()> {
    let pool = handle::pool::<D>(pool)?;
    let (attribute, is_int) = attribute(number)?;
    if value.is_null() {
        return Err(null("value"));
    }
    // SAFETY: the caller's.
    let value = unsafe {
        if is_int {
            u64::from(value.cast::<c_int>().read_unaligned() != 0)
        } else {
            value.cast::<u64>().read_unaligned()
        }
    };
    pool.set_attribute(attribute, value)
}

/// `MemPoolSetAccess`: lets devices at a pool. Its own reads and writes it always, and others cannot.
///
/// # Safety
/// `list` has to be null or hold `count` entries.
pub(crate) unsafe fn set_access<D: Dialect, A>(
    pool: usize,
    list: *const A,
    count: usize,
    read: fn(&A) -> ((c_int, c_int), c_int),
) -> Result<()> {
    let pool = handle::pool::<D>(pool)?;
    if list.is_null() || count == 0 {
        return Err(null("desc_list").help("name at least one device"));
    }
    // SAFETY: the caller's.
    for entry in unsafe { std::slice::from_raw_parts(list, count) } {
        let (location, access) = read(entry);
        let own = place(location)? == pool.context().device();
        let refuse = |kind, problem| Err(Error::new(kind, problem).argument("desc_list.flags", access));
        match access {
            _ if !number::ACCESS.contains(&access) => return refuse(ErrorKind::InvalidValue, "flags are 0, 1 or 3"),
            number::READ_WRITE if own => {}
            _ if own => return refuse(ErrorKind::InvalidValue, "a pool's own device reads and writes it"),
            0 => {}
            _ => return refuse(ErrorKind::PeerAccessUnsupported, "OpenCL lets no other device at the memory"),
        }
    }
    Ok(())
}

/// `MemPoolGetAccess`: what a device may do with a pool's memory.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn get_access<D: Dialect>(
    out: *mut c_int,
    pool: usize,
    location: Option<(c_int, c_int)>,
) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("flags", out) }?;
    let pool = handle::pool::<D>(pool)?;
    let own = place(location.ok_or_else(|| null("location"))?)? == pool.context().device();
    out.set(if own { number::READ_WRITE } else { 0 });
    Ok(())
}

/// `MemPoolExportToShareableHandle`: refused, after its arguments are checked.
pub(crate) fn export<D: Dialect>(out: *mut c_void, pool: usize, handle_type: c_int, flags: c_uint) -> Result<()> {
    if out.is_null() {
        return Err(null("shared_handle"));
    }
    handle::pool::<D>(pool)?;
    check_handle_type("handle_type", handle_type)?;
    check_flags(flags, 0)?;
    Err(unshared())
}

/// `MemPoolImportFromShareableHandle`: refused, after its arguments are checked.
pub(crate) fn import<P>(out: *mut *mut P, shared: *const c_void, handle_type: c_int, flags: c_uint) -> Result<()> {
    if out.is_null() || shared.is_null() {
        return Err(null(if out.is_null() { "mem_pool" } else { "shared_handle" }));
    }
    check_handle_type("handle_type", handle_type)?;
    check_flags(flags, 0)?;
    Err(unshared())
}

/// `MemPoolExportPointer`: refused, after its arguments are checked.
pub(crate) fn export_pointer<A>(out: *mut A, pointer: *const c_void) -> Result<()> {
    if out.is_null() {
        return Err(null("export_data"));
    }
    query::ask(pointer.addr())?;
    Err(unshared())
}

/// `MemPoolImportPointer`: refused, after its arguments are checked.
pub(crate) fn import_pointer<D: Dialect, A>(out: *mut *mut c_void, pool: usize, data: *const A) -> Result<()> {
    if out.is_null() || data.is_null() {
        return Err(null(if out.is_null() { "dev_ptr" } else { "export_data" }));
    }
    handle::pool::<D>(pool)?;
    Err(unshared())
}

fn unshared() -> Error {
    Error::new(ErrorKind::NotSupported, "OpenCL shares no device memory between processes")
        .help("make the pool without handle types")
}

fn check_handle_type(name: &'static str, handle_type: c_int) -> Result<()> {
    if number::HANDLE_TYPES.contains(&handle_type) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::InvalidValue, "that is no kind of handle").argument(name, handle_type))
}

/// The device that a location names.
fn place((kind, id): (c_int, c_int)) -> Result<crate::rt::device::Device> {
    if kind != number::LOCATION_DEVICE {
        return Err(Error::new(ErrorKind::InvalidValue, "pools are of devices, location type 1")
            .argument("location.type", kind));
    }
    device(id).map_err(|error| error.with_kind(ErrorKind::InvalidValue))
}

/// Writes the handle of a pool, the same each time.
///
/// # Safety
/// `out` has to be null or writable.
unsafe fn put<D: Dialect, P>(out: *mut *mut P, pool: impl FnOnce() -> Result<MemPool>) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("memPool", out) }?;
    thread::device::<D>()?;
    let pool = pool()?;
    let is_it = |object: &Object| matches!(object, Object::Pool(known) if *known == pool);
    out.set(without_provenance_mut(D::handles().find_or_add(is_it, || Object::Pool(pool.clone()))));
    Ok(())
}
