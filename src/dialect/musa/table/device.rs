//! The functions of the MUSA dialect for devices, versions, and errors.

#![allow(non_snake_case, non_upper_case_globals, reason = "the names are the vendor's")]

use super::super::properties::{attribute, matches, properties};
use super::super::*;
use crate::dialect::call::{device, error, stream};
use crate::dialect::{runtime_api, thread};
use crate::rt::device::Device;
use std::ffi::{c_char, c_int, c_uint};

fn limit(device: Device, limit: c_int) -> Option<usize> {
    match musaLimit(limit) {
        musaLimitMallocHeapSize => Some(device::HEAP_BYTES),
        musaLimitPrintfFifoSize => Some(device.printf_bytes()),
        _ => None,
    }
}

runtime_api! {
    dialect Musa, code musaError_t;

    section "device";

    /// How many devices there are.
    ///
    /// Errors: `musaErrorDevicesUnavailable` and a count of 0 where there is none; `musaErrorInvalidValue` for null.
    call(unsafe) musaGetDeviceCount(count: *mut c_int) => device::count(count);

    /// Makes a device the calling thread's current one. Waits for nothing.
    ///
    /// Errors: `musaErrorInvalidDevice`; the current device stays then.
    call musaSetDevice(device: c_int) => device::set::<Musa>(device);

    /// The calling thread's current device; 0 until it is set.
    ///
    /// Errors: `musaErrorInvalidValue` for null.
    anywhere(unsafe) musaGetDevice(device: *mut c_int) => device::get::<Musa>(device);

    /// What a device is and can do; sizes in bytes, clocks in kHz.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorInvalidDevice`.
    call(unsafe) musaGetDeviceProperties(prop: *mut musaDeviceProp, device: c_int)
        => device::properties(prop, device, properties);

    /// One property of a device as a number.
    ///
    /// Errors: `musaErrorInvalidValue` for null or an unknown attribute, `musaErrorInvalidDevice`.
    call(unsafe) musaDeviceGetAttribute(value: *mut c_int, attr: musaDeviceAttr, device: c_int)
        => device::attribute(value, attr, device, attribute);

    /// The name of a device, cut to `len` bytes with its NUL.
    ///
    /// Errors: `musaErrorInvalidValue` for null or no room, `musaErrorInvalidDevice`.
    call(unsafe) musaDeviceGetName(name: *mut c_char, len: c_int, device: c_int)
        => device::name(name, len, device);

    /// Bytes of a device's memory.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorInvalidDevice`.
    call(unsafe) musaDeviceTotalMem(bytes: *mut usize, device: c_int)
        => device::total_memory(bytes, device);

    /// The device that meets most of what `prop` asks for in the fields that are not zero; the first of several.
    ///
    /// Errors: `musaErrorInvalidValue` for null.
    call(unsafe) musaChooseDevice(device: *mut c_int, prop: *const musaDeviceProp)
        => device::choose(device, prop, matches);

    /// Waits for the current device, then ends all that was made on it, in either dialect.
    ///
    /// Errors: what the device reported about its work; it is reset all the same.
    call musaDeviceReset() => device::reset::<Musa>();

    /// Waits for all streams of the current device.
    ///
    /// Errors: what the device reported about their work.
    call musaDeviceSynchronize() => device::synchronize::<Musa>();

    /// A device's address on the PCI bus as `dddd:bb:dd.f` in lower-case hex; needs 13 bytes.
    ///
    /// Errors: `musaErrorInvalidValue` for null or no room, `musaErrorInvalidDevice`.
    call(unsafe) musaDeviceGetPCIBusId(pciBusId: *mut c_char, len: c_int, device: c_int)
        => device::pci_bus_id(pciBusId, len, device);

    /// The device at a PCI address.
    ///
    /// Errors: `musaErrorInvalidValue` for null or an empty text, `musaErrorInvalidDevice` where none is there.
    call(unsafe) musaDeviceGetByPCIBusId(device: *mut c_int, pciBusId: *const c_char)
        => device::by_pci_bus_id(device, pciBusId);

    /// 16 bytes that name a device, the same in every process.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorInvalidDevice`.
    call(unsafe) musaDeviceGetUuid(uuid: *mut musaUuid_t, device: c_int)
        => device::uuid(uuid, device, |bytes| musaUuid_t { bytes });

    /// The flags that `musaSetDeviceFlags` gave the current device.
    ///
    /// Errors: `musaErrorInvalidValue` for null.
    call(unsafe) musaGetDeviceFlags(flags: *mut c_uint) => device::flags::<Musa>(flags);

    /// Sets flags of the current device: with the spin and yield flags threads stay awake while they wait for streams and
    /// events, else they wait in the OpenCL driver. Other flags are kept.
    ///
    /// Errors: `musaErrorInvalidValue` for unknown bits or several ways to wait.
    call musaSetDeviceFlags(flags: c_uint)
        => device::set_flags::<Musa>(flags, musaDeviceScheduleMask, musaDeviceMask);

    /// A limit of the current device in bytes: what kernels can print, and 0 for what they can allocate.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorUnsupportedLimit` for other limits.
    call(unsafe) musaDeviceGetLimit(pValue: *mut usize, limit: musaLimit)
        => device::limit::<Musa>(pValue, limit.0, self::limit);

    /// The least urgent stream priority (0), then the most urgent; smaller is more urgent. Either may be left out.
    call(unsafe) musaDeviceGetStreamPriorityRange(leastPriority: *mut c_int, greatestPriority: *mut c_int)
        => stream::priority_range::<Musa>(leastPriority, greatestPriority);

    /// The OpenCL version of the current device, 1000 times the major and 10 times the minor; 0 without a device.
    ///
    /// Errors: `musaErrorInvalidValue` for null.
    call(unsafe) musaDriverGetVersion(driverVersion: *mut c_int)
        => device::driver_version::<Musa>(driverVersion);

    /// The version of gridcl, 1000 times the major and 10 times the minor.
    ///
    /// Errors: `musaErrorInvalidValue` for null.
    call(unsafe) musaRuntimeGetVersion(runtimeVersion: *mut c_int)
        => device::runtime_version(runtimeVersion);

    section "error";

    /// The calling thread's last error, which is forgotten with that.
    plain musaGetLastError() -> musaError_t => thread::last_error::<Musa>(true);

    /// The calling thread's last error, which stays.
    plain musaPeekAtLastError() -> musaError_t => thread::last_error::<Musa>(false);

    /// The name of an error; never null.
    ///
    /// Errors: `musaErrorInvalidValue` for null or an unknown number, whose text is given all the same.
    anywhere(unsafe) musaGetErrorName(errorName: *mut *const c_char, error: musaError_t)
        => error::put_name(errorName, error.name(), error.is_known(), error.0);

    /// What an error means; never null.
    plain musaGetErrorString(error: musaError_t) -> *const c_char => error.error_string().as_ptr();
}
