//! Device calls (behaviour.md 3.1).

use super::{Out, null, put_text, text};
use crate::dialect::{Dialect, thread};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::device::Device;
use crate::rt::runtime::refuse_forked;
use std::ffi::{c_char, c_int, c_uint};

/// A device argument, as C passes it.
pub(crate) fn device(ordinal: c_int) -> Result<Device> {
    let beyond = usize::try_from(ordinal).ok().filter(|&ordinal| ordinal < Device::count());
    match beyond {
        Some(ordinal) => Device::get(ordinal),
        // Asking for one that cannot be there tells whether there is any.
        None => Device::get(usize::MAX).map_err(|error| match error.kind() {
            ErrorKind::InvalidDevice => {
                Error::new(ErrorKind::InvalidDevice, format!("there are {} devices", Device::count()))
                    .argument("device", ordinal)
                    .help("ordinals start at 0")
            }
            _ => error,
        }),
    }
}

/// `GetDeviceCount`: how many devices there are. None is an error, and the count is 0 all the same.
///
/// # Safety
/// `count` has to be null or writable.
pub(crate) unsafe fn count(count: *mut c_int) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("count", count) }?;
    let devices = Device::count();
    out.set(devices.try_into().unwrap_or(c_int::MAX));
    // The error of device 0 says why there is none, or that this process may not ask.
    Device::get(0).map(drop)
}

/// `SetDevice`: makes a device the thread's current one; nothing is waited for.
pub(crate) fn set<D: Dialect>(ordinal: c_int) -> Result<()> {
    thread::set_device::<D>(device(ordinal)?);
    Ok(())
}

/// `GetDevice`: the thread's current device.
///
/// # Safety
/// `ordinal` has to be null or writable.
pub(crate) unsafe fn get<D: Dialect>(ordinal: *mut c_int) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("device", ordinal) }?;
    refuse_forked()?;
    out.set(thread::ordinal::<D>().try_into().unwrap_or(0));
    Ok(())
}

/// `DeviceSynchronize`: waits for all streams of the current device.
pub(crate) fn synchronize<D: Dialect>() -> Result<()> {
    thread::device::<D>()?.synchronize()
}

/// `DeviceReset`: ends everything that was made on the current device.
pub(crate) fn reset<D: Dialect>() -> Result<()> {
    let outcome = thread::device::<D>()?.reset();
    crate::dialect::sweep_handles();
    outcome
}

/// `GetDeviceProperties`: what a device is and can do.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn properties<P>(out: *mut P, ordinal: c_int, of: fn(Device) -> P) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("prop", out) }?;
    out.set(of(device(ordinal)?));
    Ok(())
}

/// `DeviceGet`: the handle of a device, which is its ordinal.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn handle(out: *mut c_int, ordinal: c_int) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("device", out) }?;
    out.set(device(ordinal)?.ordinal().try_into().unwrap_or(0));
    Ok(())
}

/// `DeviceGetAttribute`: one property as a number.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn attribute<A>(
    out: *mut c_int,
    attribute: A,
    ordinal: c_int,
    of: fn(Device, A) -> Result<c_int>,
) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("value", out) }?;
    out.set(of(device(ordinal)?, attribute)?);
    Ok(())
}

/// `ChooseDevice`: the device that meets most of what `wanted` asks for; the first of several.
///
/// # Safety
/// Both pointers have to be null or valid.
pub(crate) unsafe fn choose<P>(out: *mut c_int, wanted: *const P, score: fn(Device, &P) -> u32) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("device", out) }?;
    // SAFETY: the caller's.
    let wanted = unsafe { wanted.as_ref() }.ok_or_else(|| null("prop"))?;
    let devices = Device::all();
    let mut best = Device::get(0)?;
    for device in devices {
        if score(device, wanted) > score(best, wanted) {
            best = device;
        }
    }
    out.set(best.ordinal().try_into().unwrap_or(0));
    Ok(())
}

/// `DeviceGetName`: the name, cut to the buffer.
///
/// # Safety
/// `out` has to be null or writable for `len` bytes.
pub(crate) unsafe fn name(out: *mut c_char, len: c_int, ordinal: c_int) -> Result<()> {
    if out.is_null() {
        return Err(null("name"));
    }
    // SAFETY: the caller's.
    unsafe { put_text("name", out, len, device(ordinal)?.name(), true) }
}

/// `DeviceTotalMem`: global memory in bytes.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn total_memory(out: *mut usize, ordinal: c_int) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("bytes", out) }?;
    out.set(usize::try_from(device(ordinal)?.total_memory()).unwrap_or(usize::MAX));
    Ok(())
}

/// `DeviceComputeCapability`: major and minor.
///
/// # Safety
/// Both pointers have to be null or writable.
pub(crate) unsafe fn capability(major: *mut c_int, minor: *mut c_int, ordinal: c_int) -> Result<()> {
    // SAFETY: the caller's.
    let (major, minor) = unsafe { (Out::new("major", major)?, Out::new("minor", minor)?) };
    let (first, second) = device(ordinal)?.caps().capability();
    major.set(first.try_into().unwrap_or(0));
    minor.set(second.try_into().unwrap_or(0));
    Ok(())
}

/// `DeviceGetPCIBusId`: `dddd:bb:dd.f` in lower-case hex; needs 13 bytes.
///
/// # Safety
/// `out` has to be null or writable for `len` bytes.
pub(crate) unsafe fn pci_bus_id(out: *mut c_char, len: c_int, ordinal: c_int) -> Result<()> {
    if out.is_null() {
        return Err(null("pciBusId"));
    }
    // SAFETY: the caller's.
    unsafe { put_text("pciBusId", out, len, &device(ordinal)?.pci_bus_id(), false) }
}

/// `DeviceGetByPCIBusId`: the device at an address that [`pci_bus_id`] gave; the domain may be left out.
///
/// # Safety
/// `out` has to be null or writable, `id` null or a NUL-terminated string.
pub(crate) unsafe fn by_pci_bus_id(out: *mut c_int, id: *const c_char) -> Result<()> {
    // SAFETY: the caller's.
    let (out, id) = unsafe { (Out::new("device", out)?, text("pciBusId", id)?) };
    let wanted = id.to_lowercase();
    let at = |device: &Device| {
        let address = device.pci_bus_id();
        address == wanted || address.strip_prefix("0000:") == Some(&wanted)
    };
    match Device::all().iter().find(|device| at(device)) {
        Some(device) => {
            out.set(device.ordinal().try_into().unwrap_or(0));
            Ok(())
        }
        None => Err(Error::new(ErrorKind::InvalidDevice, "no device has that address")
            .argument("pciBusId", format_args!("\"{id}\""))
            .help("addresses look like 0000:3b:00.0")),
    }
}

/// `DeviceGetUuid`: 16 bytes that name the device, the same in every process.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn uuid<U>(out: *mut U, ordinal: c_int, make: fn([u8; 16]) -> U) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("uuid", out) }?;
    out.set(make(device(ordinal)?.uuid()));
    Ok(())
}

/// `MemGetInfo`: free and total bytes of the current device.
///
/// # Safety
/// Both pointers have to be null or writable.
pub(crate) unsafe fn memory_info<D: Dialect>(free: *mut usize, total: *mut usize) -> Result<()> {
    // SAFETY: the caller's.
    let (free, total) = unsafe { (Out::new("free", free)?, Out::new("total", total)?) };
    let (left, all) = thread::device::<D>()?.memory_info()?;
    free.set(usize::try_from(left).unwrap_or(usize::MAX));
    total.set(usize::try_from(all).unwrap_or(usize::MAX));
    Ok(())
}

/// `GetDeviceFlags`: what `SetDeviceFlags` was given; 0 before.
///
/// # Safety
/// `flags` has to be null or writable.
pub(crate) unsafe fn flags<D: Dialect>(flags: *mut c_uint) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("flags", flags) }?;
    out.set(thread::device::<D>()?.flags());
    Ok(())
}

/// `SetDeviceFlags`: how a waiting thread waits, and what was optional once, which is kept for the program.
pub(crate) fn set_flags<D: Dialect>(flags: c_uint, schedule: c_uint, known: c_uint) -> Result<()> {
    super::check_flags(flags, known)?;
    let ways = flags & schedule;
    if !matches!(ways, 0 | 1 | 2 | 4) {
        return Err(Error::new(ErrorKind::InvalidValue, "a thread waits in one way only")
            .argument("flags", format_args!("{flags:#x}"))
            .help("give one of the schedule flags"));
    }
    thread::device::<D>()?.set_flags(flags);
    Ok(())
}

/// `DeviceGetLimit`: `of` answers the limits that there are.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn limit<D: Dialect>(
    out: *mut usize,
    limit: c_int,
    of: fn(Device, c_int) -> Option<usize>,
) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("pValue", out) }?;
    let value = of(thread::device::<D>()?, limit).ok_or_else(|| {
        Error::new(ErrorKind::UnsupportedLimit, "OpenCL devices have no such limit").argument("limit", limit)
    })?;
    out.set(value);
    Ok(())
}

/// Bytes that kernels can allocate themselves: OpenCL C has no `malloc`.
pub(crate) const HEAP_BYTES: usize = 0;

/// A version number, 1000 times the major and 10 times the minor.
fn version_number((major, minor): (u32, u32)) -> c_int {
    (1000 * major + 10 * minor).try_into().unwrap_or(0)
}

/// `DriverGetVersion`: the OpenCL version of the current device; 0 where there is none.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn driver_version<D: Dialect>(out: *mut c_int) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("driverVersion", out) }?;
    out.set(thread::device::<D>().map_or(0, |device| version_number(device.caps().version)));
    Ok(())
}

/// `RuntimeGetVersion`: the version of gridcl.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn runtime_version(out: *mut c_int) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("runtimeVersion", out) }?;
    let part = |text: &str| text.parse().unwrap_or(0);
    out.set(version_number((part(env!("CARGO_PKG_VERSION_MAJOR")), part(env!("CARGO_PKG_VERSION_MINOR")))));
    Ok(())
}

/// `Init`: does nothing that the first call would not do.
pub(crate) fn init(flags: c_uint) -> Result<()> {
    super::check_flags(flags, 0)?;
    Device::get(0).map(drop)
}
