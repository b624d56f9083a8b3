//! Calls between devices (behaviour.md 1.6, 3.1 and 3.5): no device reaches another's memory, and copies go through
//! the host.

use super::device::device;
use super::{Out, check_flags};
use crate::dialect::{Dialect, handle, thread};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::copy::{Mode, Region, peer};
use crate::rt::device::Device;
use std::ffi::{c_int, c_uint, c_void};

/// The default stream, which calls without a stream of their own use.
const DEFAULT: usize = 0;

/// `DeviceCanAccessPeer`: 0, for any two devices.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn can_access(out: *mut c_int, from: c_int, to: c_int) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("canAccessPeer", out) }?;
    device(from)?;
    device(to)?;
    out.set(0);
    Ok(())
}

/// The device that the current one is asked to reach.
fn other<D: Dialect>(peer: c_int) -> Result<Device> {
    let other = device(peer)?;
    if other == thread::device::<D>()? {
        return Err(Error::new(ErrorKind::InvalidDevice, "it is the current device itself")
            .argument("peerDevice", peer)
            .help("name another device"));
    }
    Ok(other)
}

/// `DeviceEnablePeerAccess`: not possible.
pub(crate) fn enable<D: Dialect>(peer: c_int, flags: c_uint) -> Result<()> {
    let other = other::<D>(peer)?;
    check_flags(flags, 0)?;
    Err(Error::new(ErrorKind::PeerAccessUnsupported, format!("no OpenCL device can use memory of {other}"))
        .argument("peerDevice", peer)
        .help("copies between devices work without it"))
}

/// `DeviceDisablePeerAccess`: it was never on.
pub(crate) fn disable<D: Dialect>(peer: c_int) -> Result<()> {
    let other = other::<D>(peer)?;
    Err(Error::new(ErrorKind::PeerAccessNotEnabled, format!("access to memory of {other} was never enabled"))
        .argument("peerDevice", peer)
        .help("there is nothing to disable"))
}

/// `DeviceDisablePeerAccessRegion`: checks its arguments; not possible.
pub(crate) fn disable_region<D: Dialect>(peer: c_int, pointer: *mut c_void, bytes: usize) -> Result<()> {
    let other = other::<D>(peer)?;
    peer::check_on("peerDevPtr", pointer.addr(), bytes.max(1), other)?;
    if bytes == 0 {
        return Err(Error::new(ErrorKind::InvalidValue, "a region has a byte at least").argument("size", bytes));
    }
    Err(Error::new(ErrorKind::NotSupported, format!("no OpenCL device can use memory of {other}"))
        .argument("peerDevice", peer)
        .help("copy the region, which works between any two devices"))
}

/// `DeviceEnablePeerAccessRegion`: the same, which would have a result.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn enable_region<D: Dialect>(
    peer: c_int,
    pointer: *mut c_void,
    bytes: usize,
    out: *mut *mut c_void,
) -> Result<()> {
    // SAFETY: the caller's.
    unsafe { Out::new("devPtr", out) }?;
    disable_region::<D>(peer, pointer, bytes)
}

/// `MemcpyPeer`: in the default stream, and in the order of both devices' default streams. Returns before it is done.
pub(crate) fn memcpy<D: Dialect>(
    to: *mut c_void,
    to_device: c_int,
    from: *const c_void,
    from_device: c_int,
    bytes: usize,
) -> Result<()> {
    run::<D>((to.addr(), to_device), (from.addr(), from_device), bytes, DEFAULT, Mode::Sync)
}

/// `MemcpyPeerAsync`: in a stream of any device, and in the order of that stream alone.
pub(crate) fn memcpy_async<D: Dialect>(
    to: *mut c_void,
    to_device: c_int,
    from: *const c_void,
    from_device: c_int,
    bytes: usize,
    stream: usize,
) -> Result<()> {
    run::<D>((to.addr(), to_device), (from.addr(), from_device), bytes, stream, Mode::Async)
}

fn run<D: Dialect>(to: (usize, c_int), from: (usize, c_int), bytes: usize, stream: usize, mode: Mode) -> Result<()> {
    let to_device = ordinal("dstDevice", to.1)?;
    let from_device = ordinal("srcDevice", from.1)?;
    let stream = handle::stream::<D>(stream)?;
    peer::between(&stream, (to.0, to_device), (from.0, from_device), Region::flat(bytes), mode)
}

/// The device with an ordinal; the general name of a device argument would not tell which of the two it is.
pub(super) fn ordinal(name: &'static str, ordinal: c_int) -> Result<Device> {
    device(ordinal).map_err(|error| match error.kind() {
        ErrorKind::InvalidDevice => {
            Error::new(ErrorKind::InvalidDevice, format!("there are {} devices", Device::count()))
                .argument(name, ordinal)
                .help("ordinals start at 0")
        }
        _ => error,
    })
}
