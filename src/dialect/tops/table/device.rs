//! The functions of the TOPS dialect for devices, versions, and errors.

#![allow(non_snake_case, non_upper_case_globals, reason = "the names are the vendor's")]

use super::super::properties::{attribute, matches, properties};
use super::super::*;
use crate::dialect::call::device;
use crate::dialect::{runtime_api, thread};
use crate::rt::device::Device;
use std::ffi::{c_char, c_int, c_uint};

const DEVICE: c_uint = topsDeviceScheduleMask | topsDeviceMapHost | topsDeviceLmemResizeToMax;

fn limit(_: Device, limit: c_int) -> Option<usize> {
    (topsLimit_t(limit) == topsLimitMallocHeapSize).then_some(device::HEAP_BYTES)
}

runtime_api! {
    dialect Tops, code topsError_t;

    section "device";

    /// Does what the first call of any kind would do; `flags` has to be 0.
    ///
    /// Errors: `topsErrorInvalidValue` for flags, `topsErrorNoDevice`.
    call topsInit(flags: c_uint) => device::init(flags);

    /// The OpenCL version of the current device, 1000 times the major and 10 times the minor; 0 without a device.
    ///
    /// Errors: `topsErrorInvalidValue` for null.
    call(unsafe) topsDriverGetVersion(driverVersion: *mut c_int)
        => device::driver_version::<Tops>(driverVersion);

    /// The version of gridcl, 1000 times the major and 10 times the minor.
    ///
    /// Errors: `topsErrorInvalidValue` for null.
    call(unsafe) topsRuntimeGetVersion(runtimeVersion: *mut c_int)
        => device::runtime_version(runtimeVersion);

    /// How many devices there are.
    ///
    /// Errors: `topsErrorNoDevice` and a count of 0 where there is none; `topsErrorInvalidValue` for null.
    call(unsafe) topsGetDeviceCount(count: *mut c_int) => device::count(count);

    /// Makes a device the calling thread's current one. Waits for nothing.
    ///
    /// Errors: `topsErrorInvalidDevice`; the current device stays then.
    call topsSetDevice(deviceId: c_int) => device::set::<Tops>(deviceId);

    /// The calling thread's current device; 0 until it is set.
    ///
    /// Errors: `topsErrorInvalidValue` for null.
    anywhere(unsafe) topsGetDevice(deviceId: *mut c_int) => device::get::<Tops>(deviceId);

    /// The device handle of an ordinal, which is the ordinal.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorInvalidDevice`.
    call(unsafe) topsDeviceGet(device: *mut topsDevice_t, ordinal: c_int)
        => device::handle(device, ordinal);

    /// What a device is and can do; sizes in bytes, clocks in kHz.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorInvalidDevice`.
    call(unsafe) topsGetDeviceProperties(prop: *mut topsDeviceProp_t, deviceId: c_int)
        => device::properties(prop, deviceId, properties);

    /// One property of a device as a number.
    ///
    /// Errors: `topsErrorInvalidValue` for null or an unknown attribute, `topsErrorInvalidDevice`.
    call(unsafe) topsDeviceGetAttribute(pi: *mut c_int, attr: topsDeviceAttribute_t, deviceId: c_int)
        => device::attribute(pi, attr, deviceId, attribute);

    /// The compute capability of a device.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorInvalidDevice`.
    call(unsafe) topsDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: topsDevice_t)
        => device::capability(major, minor, device);

    /// The name of a device, cut to `len` bytes with its NUL.
    ///
    /// Errors: `topsErrorInvalidValue` for null or no room, `topsErrorInvalidDevice`.
    call(unsafe) topsDeviceGetName(name: *mut c_char, len: c_int, device: topsDevice_t)
        => device::name(name, len, device);

    /// Bytes of a device's memory.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorInvalidDevice`.
    call(unsafe) topsDeviceTotalMem(bytes: *mut usize, device: topsDevice_t)
        => device::total_memory(bytes, device);

    /// The device that meets most of what `prop` asks for in the fields that are not zero; the first of several.
    ///
    /// Errors: `topsErrorInvalidValue` for null.
    call(unsafe) topsChooseDevice(device: *mut c_int, prop: *const topsDeviceProp_t)
        => device::choose(device, prop, matches);

    /// Waits for the current device, then ends all that was made on it, in either dialect.
    ///
    /// Errors: what the device reported about its work; it is reset all the same.
    call topsDeviceReset() => device::reset::<Tops>();

    /// Waits for all streams of the current device.
    ///
    /// Errors: what the device reported about their work.
    call topsDeviceSynchronize() => device::synchronize::<Tops>();

    /// A device's address on the PCI bus as `dddd:bb:dd.f` in lower-case hex; needs 13 bytes.
    ///
    /// Errors: `topsErrorInvalidValue` for null or no room, `topsErrorInvalidDevice`.
    call(unsafe) topsDeviceGetPCIBusId(pciBusId: *mut c_char, len: c_int, device: c_int)
        => device::pci_bus_id(pciBusId, len, device);

    /// The device at a PCI address.
    ///
    /// Errors: `topsErrorInvalidValue` for null or an empty text, `topsErrorInvalidDevice` where none is there.
    call(unsafe) topsDeviceGetByPCIBusId(device: *mut c_int, pciBusId: *const c_char)
        => device::by_pci_bus_id(device, pciBusId);

    /// The flags that `topsSetDeviceFlags` gave the current device.
    ///
    /// Errors: `topsErrorInvalidValue` for null.
    call(unsafe) topsGetDeviceFlags(flags: *mut c_uint) => device::flags::<Tops>(flags);

    /// Sets flags of the current device: with the spin and yield flags threads stay awake while they wait for streams and
    /// events, else they wait in the OpenCL driver. Other flags are kept.
    ///
    /// Errors: `topsErrorInvalidValue` for unknown bits or several ways to wait.
    call topsSetDeviceFlags(flags: c_uint) => device::set_flags::<Tops>(flags, schedule(flags), DEVICE);

    /// A limit of the current device in bytes; only what kernels can allocate is known, and that is 0.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorUnsupportedLimit` for other limits.
    call(unsafe) topsDeviceGetLimit(pValue: *mut usize, limit: topsLimit_t)
        => device::limit::<Tops>(pValue, limit.0, self::limit);

    section "error";

    /// The calling thread's last error, which is forgotten with that.
    plain topsGetLastError() -> topsError_t => thread::last_error::<Tops>(true);

    /// The calling thread's last error, which stays.
    plain topsPeekAtLastError() -> topsError_t => thread::last_error::<Tops>(false);

    /// The name of an error; never null.
    plain topsGetErrorName(error: topsError_t) -> *const c_char => error.name().as_ptr();

    /// The name of an error, as the vendor's header says of this call; never null.
    plain topsGetErrorString(error: topsError_t) -> *const c_char => error.error_string().as_ptr();
}

/// The schedule bits to check: the header's number for "resize to max" has two of them set by itself.
fn schedule(flags: c_uint) -> c_uint {
    let whole = flags & topsDeviceLmemResizeToMax == topsDeviceLmemResizeToMax;
    if whole { topsDeviceScheduleMask & !topsDeviceLmemResizeToMax } else { topsDeviceScheduleMask }
}
