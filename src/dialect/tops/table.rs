//! The functions of the TOPS dialect.

#![allow(non_snake_case, non_upper_case_globals, reason = "the names are the vendor's")]

use super::pointers::{POINTERS, pointer_attributes};
use super::properties::{attribute, matches, properties};
use super::*;
use crate::dialect::call::memory::ZeroSize;
use crate::dialect::call::symbol::Way;
use crate::dialect::call::{copy, device, event, launch, memory, module, peer, pointer, pool, refused, stream, symbol};
use crate::dialect::{runtime_api, thread};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::copy::Mode;
use crate::rt::device::Device;
use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ushort, c_void};

const HOST_COHERENCE: c_uint = topsHostMallocCoherent | topsHostMallocNonCoherent;
const HOST_MALLOC: c_uint = topsHostMallocPortable
    | topsHostMallocMapped
    | topsHostMallocWriteCombined
    | topsHostMallocNumaUser
    | HOST_COHERENCE;
const HOST_REGISTER: c_uint =
    topsHostRegisterPortable | topsHostRegisterMapped | topsHostRegisterIoMemory | topsExtHostRegisterCoarseGrained;
const MALLOC: c_uint = topsDeviceMallocFinegrained
    | topsMallocSignalMemory
    | topsMallocTopDown
    | topsMallocForbidMergeMove
    | topsMallocPreferHighSpeedMem
    | topsMallocHostAccessable;
const STREAM: c_uint = topsStreamNonBlocking | topsStreamNonMerging;
const RELEASE: c_uint = topsEventReleaseToDevice | topsEventReleaseToSystem;
const EVENT: c_uint = topsEventBlockingSync
    | topsEventDisableTiming
    | topsEventInterprocess
    | topsEventRecordOnce
    | topsEventStrongOrder
    | topsEventDisableQueryAndSync
    | RELEASE;
const DEVICE: c_uint = topsDeviceScheduleMask | topsDeviceMapHost | topsDeviceLmemResizeToMax;
const EXTRA: launch::ExtraKeys = launch::ExtraKeys {
    buffer: TOPS_LAUNCH_PARAM_BUFFER_POINTER,
    size: TOPS_LAUNCH_PARAM_BUFFER_SIZE,
    end: TOPS_LAUNCH_PARAM_END,
};

fn limit(_: Device, limit: c_int) -> Option<usize> {
    (topsLimit_t(limit) == topsLimitMallocHeapSize).then_some(device::HEAP_BYTES)
}

fn place(location: &topsMemLocation) -> (c_int, c_int) {
    (location.r#type.0, location.id)
}

fn pool_properties(properties: &topsMemPoolProps) -> pool::Properties {
    pool::Properties {
        allocation_type: properties.allocType.0,
        handle_types: properties.handleTypes.0,
        location: place(&properties.location),
    }
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

    /// Keeps flags for the current device. How a thread waits is the OpenCL driver's choice.
    ///
    /// Errors: `topsErrorInvalidValue` for unknown bits or several ways to wait.
    call topsSetDeviceFlags(flags: c_uint) => device::set_flags::<Tops>(flags, schedule(flags), DEVICE);

    /// A limit of the current device in bytes; only what kernels can allocate is known, and that is 0.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorUnsupportedLimit` for other limits.
    call(unsafe) topsDeviceGetLimit(pValue: *mut usize, limit: topsLimit_t)
        => device::limit::<Tops>(pValue, limit.0, self::limit);

    section "memory";

    /// Allocates `size` bytes on the current device, aligned to 256. Size 0 gives a pointer that can be freed.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorOutOfMemory`.
    call(unsafe) topsMalloc(ptr: *mut *mut c_void, size: usize)
        => memory::malloc::<Tops>(ptr, size, ZeroSize::Pointer);

    /// Allocates as `topsMalloc` does. The flags are kept and ask for nothing that OpenCL lets one choose: the host
    /// reaches none of the memory by its address.
    ///
    /// Errors: as `topsMalloc`, and `topsErrorInvalidValue` for unknown flags.
    call(unsafe) topsExtMallocWithFlags(ptr: *mut *mut c_void, sizeBytes: usize, flags: c_uint)
        => memory::malloc_with_flags::<Tops>(ptr, sizeBytes, flags, MALLOC);

    /// Frees device memory, after all work of its device. Null is nothing to free.
    ///
    /// Errors: `topsErrorInvalidDevicePointer` for anything but the start of a live allocation.
    call topsFree(ptr: *mut c_void) => memory::free::<Tops>(ptr);

    /// Allocates `size` bytes of page-locked host memory. The flags are kept and ask for nothing that OpenCL lets
    /// one choose.
    ///
    /// Errors: `topsErrorInvalidValue` for null or unknown flags, `topsErrorOutOfMemory`.
    call(unsafe) topsHostMalloc(ptr: *mut *mut c_void, size: usize, flags: c_uint)
        => memory::host_alloc::<Tops>(ptr, size, flags, HOST_MALLOC, HOST_COHERENCE);

    /// Frees page-locked host memory, after all work of every device. Null is nothing to free.
    ///
    /// Errors: `topsErrorInvalidValue` for anything else.
    call topsHostFree(ptr: *mut c_void) => memory::host_free::<Tops>(ptr);

    /// Page-locks memory that the program has. It has to stay until it is unregistered.
    ///
    /// Errors: `topsErrorInvalidValue` for null, size 0, unmapped memory or unknown flags, `topsErrorOutOfMemory`
    /// for more than the host has, `topsErrorHostMemoryAlreadyRegistered` where a byte is registered,
    /// `topsErrorNotSupported` for I/O memory.
    call(unsafe) topsHostRegister(hostPtr: *mut c_void, sizeBytes: usize, flags: c_uint) => {
        memory::check_fits_host(sizeBytes)?;
        memory::host_register::<Tops>(hostPtr, sizeBytes, flags, HOST_REGISTER, topsHostRegisterIoMemory)
    };

    /// Ends a registration, after all work of every device.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorHostMemoryNotRegistered` for what is not registered.
    call topsHostUnregister(hostPtr: *mut c_void) => memory::host_unregister(hostPtr);

    /// The flags that page-locked memory was made with.
    ///
    /// Errors: `topsErrorInvalidValue` for null or other memory.
    call(unsafe) topsHostGetFlags(flagsPtr: *mut c_uint, hostPtr: *mut c_void)
        => memory::host_flags(flagsPtr, hostPtr);

    /// The address by which kernels on the current device reach page-locked memory: the memory's own, interior
    /// addresses included. The host sees what kernels wrote there after the next synchronisation. `flags` has to be 0.
    ///
    /// Errors: `topsErrorInvalidValue` for null, other memory or flags; `topsErrorNotSupported` where kernels do not reach
    /// the host's memory.
    call(unsafe) topsHostGetDevicePointer(devPtr: *mut *mut c_void, hstPtr: *mut c_void, flags: c_uint)
        => memory::host_device_pointer::<Tops>(devPtr, hstPtr, flags);

    /// Free and total bytes of the current device.
    ///
    /// Errors: `topsErrorInvalidValue` for null.
    call(unsafe) topsMemGetInfo(free: *mut usize, total: *mut usize)
        => device::memory_info::<Tops>(free, total);

    /// Copies `sizeBytes` bytes in the default stream. Returns when host memory is done with; copies between device
    /// memory go on.
    ///
    /// Errors: `topsErrorInvalidValue` for null, unknown, freed or overrun pointers or a partial overlap,
    /// `topsErrorInvalidMemcpyDirection` for an unknown kind. Nothing is written then.
    call(unsafe) topsMemcpy(dst: *mut c_void, src: *const c_void, sizeBytes: usize, kind: topsMemcpyKind)
        => copy::memcpy::<Tops>(dst, src, sizeBytes, kind.0);

    /// Copies `sizeBytes` bytes in a stream. Returns at once for page-locked and device memory; ordinary host memory
    /// may change or is complete when it returns.
    ///
    /// Errors: as `topsMemcpy`, and `topsErrorInvalidHandle` for a dead stream.
    call(unsafe) topsMemcpyAsync(
        dst: *mut c_void, src: *const c_void, sizeBytes: usize, kind: topsMemcpyKind, stream: topsStream_t,
    ) => copy::memcpy_async::<Tops>(dst, src, sizeBytes, kind.0, stream.addr());

    /// Copies `sizeBytes` bytes in a stream and returns as `topsMemcpy` does.
    ///
    /// Errors: as `topsMemcpyAsync`.
    call(unsafe) topsMemcpyWithStream(
        dst: *mut c_void, src: *const c_void, sizeBytes: usize, kind: topsMemcpyKind, stream: topsStream_t,
    ) => copy::memcpy_with_stream::<Tops>(dst, src, sizeBytes, kind.0, stream.addr());

    /// Copies from host to device memory in the default stream; returns as `topsMemcpy` does.
    ///
    /// Errors: as `topsMemcpy`.
    call(unsafe) topsMemcpyHtoD(dst: topsDeviceptr_t, src: *mut c_void, sizeBytes: usize)
        => copy::memcpy::<Tops>(dst, src, sizeBytes, topsMemcpyHostToDevice.0);

    /// Copies from device to host memory in the default stream; returns as `topsMemcpy` does.
    ///
    /// Errors: as `topsMemcpy`.
    call(unsafe) topsMemcpyDtoH(dst: *mut c_void, src: topsDeviceptr_t, sizeBytes: usize)
        => copy::memcpy::<Tops>(dst, src, sizeBytes, topsMemcpyDeviceToHost.0);

    /// Copies between device memory in the default stream; returns as `topsMemcpy` does.
    ///
    /// Errors: as `topsMemcpy`.
    call(unsafe) topsMemcpyDtoD(dst: topsDeviceptr_t, src: topsDeviceptr_t, sizeBytes: usize)
        => copy::memcpy::<Tops>(dst, src, sizeBytes, topsMemcpyDeviceToDevice.0);

    /// Copies from host to device memory in a stream; returns as `topsMemcpyAsync` does.
    ///
    /// Errors: as `topsMemcpyAsync`.
    call(unsafe) topsMemcpyHtoDAsync(
        dst: topsDeviceptr_t, src: *mut c_void, sizeBytes: usize, stream: topsStream_t,
    ) => copy::memcpy_async::<Tops>(dst, src, sizeBytes, topsMemcpyHostToDevice.0, stream.addr());

    /// Copies from device to host memory in a stream; returns as `topsMemcpyAsync` does.
    ///
    /// Errors: as `topsMemcpyAsync`.
    call(unsafe) topsMemcpyDtoHAsync(
        dst: *mut c_void, src: topsDeviceptr_t, sizeBytes: usize, stream: topsStream_t,
    ) => copy::memcpy_async::<Tops>(dst, src, sizeBytes, topsMemcpyDeviceToHost.0, stream.addr());

    /// Copies between device memory in a stream; returns as `topsMemcpyAsync` does.
    ///
    /// Errors: as `topsMemcpyAsync`.
    call(unsafe) topsMemcpyDtoDAsync(
        dst: topsDeviceptr_t, src: topsDeviceptr_t, sizeBytes: usize, stream: topsStream_t,
    ) => copy::memcpy_async::<Tops>(dst, src, sizeBytes, topsMemcpyDeviceToDevice.0, stream.addr());

    /// Sets `sizeBytes` bytes to the low byte of `value` in the default stream. Returns before it is done, but for
    /// page-locked host memory.
    ///
    /// Errors: `topsErrorInvalidValue` for null, unknown, freed or overrun pointers.
    call topsMemset(dst: *mut c_void, value: c_int, sizeBytes: usize)
        => copy::memset::<Tops>(dst, value, sizeBytes);

    /// Sets `sizeBytes` bytes to the low byte of `value` in a stream.
    ///
    /// Errors: as `topsMemset`, and `topsErrorInvalidHandle` for a dead stream.
    call topsMemsetAsync(dst: *mut c_void, value: c_int, sizeBytes: usize, stream: topsStream_t)
        => copy::memset_async::<Tops>(dst, value, sizeBytes, stream.addr());

    section "peer";

    /// How a device can use another's memory, as bits: 0, for no OpenCL device can.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorInvalidDevice`.
    call(unsafe) topsDeviceCanAccessPeer(canAccess: *mut c_int, deviceId: c_int, peerDeviceId: c_int)
        => peer::can_access(canAccess, deviceId, peerDeviceId);

    /// Lets the current device use another's memory, which no OpenCL device can. Copies work without it.
    ///
    /// Errors: `topsErrorInvalidDevice`, also for the current device; `topsErrorInvalidValue` for flags;
    /// `topsErrorPeerAccessUnsupported`.
    call topsDeviceEnablePeerAccess(peerDeviceId: c_int, flags: c_uint) => peer::enable::<Tops>(peerDeviceId, flags);

    /// Lets the current device use part of another's memory, which no OpenCL device can.
    ///
    /// Errors: `topsErrorInvalidDevice`, also for the current device; `topsErrorInvalidValue` for null, size 0 and
    /// memory that is not the other device's; `topsErrorNotSupported`.
    call(unsafe) topsDeviceEnablePeerAccessRegion(
        peerDeviceId: c_int, peerDevPtr: *mut c_void, size: usize, devPtr: *mut *mut c_void,
    ) => peer::enable_region::<Tops>(peerDeviceId, peerDevPtr, size, devPtr);

    /// Ends what `topsDeviceEnablePeerAccessRegion` began.
    ///
    /// Errors: as `topsDeviceEnablePeerAccessRegion`.
    call topsDeviceDisablePeerAccessRegion(peerDeviceId: c_int, peerDevPtr: *mut c_void, size: usize)
        => peer::disable_region::<Tops>(peerDeviceId, peerDevPtr, size);

    /// Copies `sizeBytes` bytes from one device to another, after the work of the default streams of both and of the
    /// current device, and before their later work. Returns before it is done.
    ///
    /// Errors: `topsErrorInvalidDevice`; `topsErrorInvalidValue` for null, unknown, freed or overrun pointers and for
    /// memory that is not of the device named. Nothing is written then.
    call topsMemcpyPeer(dst: *mut c_void, dstDevice: c_int, src: *const c_void, srcDevice: c_int, sizeBytes: usize)
        => peer::memcpy::<Tops>(dst, dstDevice, src, srcDevice, sizeBytes);

    /// Copies `sizeBytes` bytes from one device to another in a stream of any device. Returns before it is done.
    ///
    /// Errors: as `topsMemcpyPeer`, and `topsErrorInvalidHandle` for a dead stream.
    call topsMemcpyPeerAsync(
        dst: *mut c_void, dstDevice: c_int, src: *const c_void, srcDevice: c_int, sizeBytes: usize,
        stream: topsStream_t,
    ) => peer::memcpy_async::<Tops>(dst, dstDevice, src, srcDevice, sizeBytes, stream.addr());

    /// `topsMemcpyPeer` over a link of the program's choice, which OpenCL does not let one choose.
    ///
    /// Errors: as `topsMemcpyPeer`, and `topsErrorInvalidValue` for an unknown link. Any port will do.
    call topsMemcpyPeerExt(
        dst: *mut c_void, dstDevice: c_int, src: *const c_void, srcDevice: c_int, sizeBytes: usize,
        map: topsTopologyMapType, port: c_int,
    ) => {
        check_link(map)?;
        peer::memcpy::<Tops>(dst, dstDevice, src, srcDevice, sizeBytes)
    };

    /// `topsMemcpyPeerAsync` over a link of the program's choice, which OpenCL does not let one choose.
    ///
    /// Errors: as `topsMemcpyPeerAsync`, and `topsErrorInvalidValue` for an unknown link. Any port will do.
    call topsMemcpyPeerExtAsync(
        dst: *mut c_void, dstDevice: c_int, src: *const c_void, srcDevice: c_int, sizeBytes: usize,
        map: topsTopologyMapType, port: c_int, stream: topsStream_t,
    ) => {
        check_link(map)?;
        peer::memcpy_async::<Tops>(dst, dstDevice, src, srcDevice, sizeBytes, stream.addr())
    };

    /// Sets `count` bytes to `value` in the default stream; returns as `topsMemset` does.
    ///
    /// Errors: as `topsMemset`.
    call topsMemsetD8(dest: topsDeviceptr_t, value: c_uchar, count: usize)
        => copy::memset_wide::<Tops, u8>(dest, value, count);

    /// The same in a stream.
    ///
    /// Errors: as `topsMemsetAsync`.
    call topsMemsetD8Async(dest: topsDeviceptr_t, value: c_uchar, count: usize, stream: topsStream_t)
        => copy::memset_wide_async::<Tops, u8>(dest, value, count, stream.addr());

    /// Sets `count` 16-bit elements to `value` in the default stream, at any address; returns as `topsMemset` does.
    ///
    /// Errors: as `topsMemset`.
    call topsMemsetD16(dest: topsDeviceptr_t, value: c_ushort, count: usize)
        => copy::memset_wide::<Tops, u16>(dest, value, count);

    /// The same in a stream.
    ///
    /// Errors: as `topsMemsetAsync`.
    call topsMemsetD16Async(dest: topsDeviceptr_t, value: c_ushort, count: usize, stream: topsStream_t)
        => copy::memset_wide_async::<Tops, u16>(dest, value, count, stream.addr());

    /// Sets `count` 32-bit elements to `value` in the default stream, at any address; returns as `topsMemset` does.
    ///
    /// Errors: as `topsMemset`.
    call topsMemsetD32(dest: topsDeviceptr_t, value: c_int, count: usize)
        => copy::memset_wide::<Tops, i32>(dest, value, count);

    /// The same in a stream.
    ///
    /// Errors: as `topsMemsetAsync`.
    call topsMemsetD32Async(dst: topsDeviceptr_t, value: c_int, count: usize, stream: topsStream_t)
        => copy::memset_wide_async::<Tops, i32>(dst, value, count, stream.addr());

    section "pool";

    /// Allocates `size` bytes of the stream's device from its current pool. The stream's later work may use them at
    /// once, and so may what is ordered behind that. The flags are kept to nothing that OpenCL lets one choose, and
    /// neither is the memory bank in their upper byte. Size 0 gives a pointer that can be freed.
    ///
    /// Errors: `topsErrorInvalidValue` for null or unknown flags, `topsErrorInvalidHandle` for a dead stream,
    /// `topsErrorOutOfMemory`.
    call(unsafe) topsMallocAsync(dev_ptr: *mut *mut c_void, size: usize, stream: topsStream_t, flags: u64) => {
        pool::check_long_flags(flags, MALLOC)?;
        pool::malloc_async::<Tops>(dev_ptr, size, stream.addr(), ZeroSize::Pointer)
    };

    /// The same from a pool, which may be another device's.
    ///
    /// Errors: as `topsMallocAsync`, and `topsErrorInvalidValue` for a dead pool.
    call(unsafe) topsMallocFromPoolAsync(
        dev_ptr: *mut *mut c_void, size: usize, mem_pool: topsMemPool_t, stream: topsStream_t,
    ) => pool::malloc_from_pool::<Tops>(dev_ptr, size, mem_pool.addr(), stream.addr(), ZeroSize::Pointer);

    /// Frees device memory behind the stream's work so far and returns at once; the address is unknown from then on.
    /// Memory of `topsMalloc` may be freed in this way, and the other way about. Null is nothing to free.
    ///
    /// Errors: `topsErrorInvalidValue` for anything but the start of a live allocation, `topsErrorInvalidHandle` for a
    /// dead stream.
    call topsFreeAsync(dev_ptr: *mut c_void, stream: topsStream_t) => pool::free_async::<Tops>(dev_ptr, stream.addr());

    /// The pool that `topsMallocAsync` takes a device's memory from.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorInvalidDevice`.
    call(unsafe) topsDeviceGetMemPool(mem_pool: *mut topsMemPool_t, device: c_int)
        => pool::current_of::<Tops, _>(mem_pool, device);

    /// Makes a pool of a device's memory.
    ///
    /// Errors: `topsErrorInvalidValue` for null or properties that no pool has, `topsErrorNotSupported` for a pool that
    /// can be shared with other processes.
    call(unsafe) topsMemPoolCreate(mem_pool: *mut topsMemPool_t, pool_props: *const topsMemPoolProps)
        => pool::create::<Tops, _, _>(mem_pool, pool_props, pool_properties);

    /// Gives a pool up; what is allocated from it stays. A device whose current pool it was goes back to its default.
    ///
    /// Errors: `topsErrorInvalidValue` for a dead pool and a default pool.
    call topsMemPoolDestroy(mem_pool: topsMemPool_t) => pool::destroy::<Tops>(mem_pool.addr());

    /// Gives back what is free in a pool and known to be done, until it holds at most `min_bytes_to_hold` bytes.
    ///
    /// Errors: `topsErrorInvalidValue` for a dead pool.
    call topsMemPoolTrimTo(mem_pool: topsMemPool_t, min_bytes_to_hold: usize)
        => pool::trim::<Tops>(mem_pool.addr(), min_bytes_to_hold);

    /// An attribute of a pool: an `int` for what it may reuse, a 64-bit number else.
    ///
    /// Errors: `topsErrorInvalidValue` for null, a dead pool or an unknown attribute.
    call(unsafe) topsMemPoolGetAttribute(mem_pool: topsMemPool_t, attr: topsMemPoolAttr, value: *mut c_void)
        => pool::get_attribute::<Tops>(mem_pool.addr(), attr.0, value);

    /// Sets what a pool may reuse, the bytes that synchronisations leave in it, or a high mark to 0.
    ///
    /// Errors: as `topsMemPoolGetAttribute`, and `topsErrorInvalidValue` for what can only be asked.
    call(unsafe) topsMemPoolSetAttribute(mem_pool: topsMemPool_t, attr: topsMemPoolAttr, value: *mut c_void)
        => pool::set_attribute::<Tops>(mem_pool.addr(), attr.0, value);

    /// Lets devices at a pool's memory. Its own device reads and writes it always; others cannot through OpenCL.
    ///
    /// Errors: `topsErrorInvalidValue` for null, none, a dead pool, unknown flags or less for its own device,
    /// `topsErrorPeerAccessUnsupported` for another device.
    call(unsafe) topsMemPoolSetAccess(mem_pool: topsMemPool_t, desc_list: *const topsMemAccessDesc, count: usize)
        => pool::set_access::<Tops, _>(mem_pool.addr(), desc_list, count, |desc| (place(&desc.location), desc.flags.0));

    /// What a device may do with a pool's memory: read and write it, or nothing.
    ///
    /// Errors: `topsErrorInvalidValue` for null, a dead pool or what is no device.
    call(unsafe) topsMemPoolGetAccess(
        flags: *mut topsMemAccessFlags, mem_pool: topsMemPool_t, location: *mut topsMemLocation,
    ) => pool::get_access::<Tops>(flags.cast(), mem_pool.addr(), location.as_ref().map(place));

    /// Not supported: OpenCL shares no device memory between processes.
    ///
    /// Errors: `topsErrorInvalidValue` for arguments that would be wrong, else `topsErrorNotSupported`.
    call topsMemPoolExportToShareableHandle(
        shared_handle: *mut c_void, mem_pool: topsMemPool_t, handle_type: topsMemAllocationHandleType, flags: c_uint,
    ) => pool::export::<Tops>(shared_handle, mem_pool.addr(), handle_type.0, flags);

    /// Not supported: OpenCL shares no device memory between processes.
    ///
    /// Errors: `topsErrorInvalidValue` for arguments that would be wrong, else `topsErrorNotSupported`.
    call topsMemPoolImportFromShareableHandle(
        mem_pool: *mut topsMemPool_t, shared_handle: *mut c_void, handle_type: topsMemAllocationHandleType,
        flags: c_uint,
    ) => pool::import(mem_pool, shared_handle, handle_type.0, flags);

    /// Not supported: OpenCL shares no device memory between processes.
    ///
    /// Errors: `topsErrorInvalidValue` for arguments that would be wrong, else `topsErrorNotSupported`.
    call topsMemPoolExportPointer(export_data: *mut topsMemPoolPtrExportData, dev_ptr: *mut c_void)
        => pool::export_pointer(export_data, dev_ptr);

    /// Not supported: OpenCL shares no device memory between processes.
    ///
    /// Errors: `topsErrorInvalidValue` for arguments that would be wrong, else `topsErrorNotSupported`.
    call topsMemPoolImportPointer(
        dev_ptr: *mut *mut c_void, mem_pool: topsMemPool_t, export_data: *mut topsMemPoolPtrExportData,
    ) => pool::import_pointer::<Tops, _>(dev_ptr, mem_pool.addr(), export_data);

    /// Not supported: OpenCL shares no device memory between processes.
    ///
    /// Errors: `topsErrorInvalidValue` for null and for anything but the start of a live device allocation, else
    /// `topsErrorNotSupported`.
    call topsIpcGetMemHandle(handle: *mut topsIpcMemHandle_t, devPtr: *mut c_void)
        => refused::ipc_get_mem_handle(handle, devPtr);

    /// Not supported: OpenCL shares no device memory between processes.
    ///
    /// Errors: `topsErrorInvalidValue` for null and unknown flags, else `topsErrorNotSupported`.
    call topsIpcOpenMemHandle(devPtr: *mut *mut c_void, handle: topsIpcMemHandle_t, flags: c_uint) => {
        let _ = handle;
        refused::ipc_open_mem_handle(devPtr, flags, topsIpcMemLazyEnablePeerAccess)
    };

    /// Not supported: OpenCL shares no device memory between processes.
    ///
    /// Errors: `topsErrorInvalidValue` for null and for memory of the process's own, else `topsErrorNotSupported`.
    call topsIpcCloseMemHandle(devPtr: *mut c_void) => refused::ipc_close_mem_handle(devPtr);

    section "pointer";

    /// What is known of an address within a live allocation.
    ///
    /// Errors: `topsErrorInvalidValue` for null and for memory that the runtime does not know.
    call(unsafe) topsPointerGetAttributes(attributes: *mut topsPointerAttribute_t, ptr: *const c_void)
        => pointer::attributes("attributes", attributes, ptr, pointer_attributes, None);

    /// One attribute of an address: an `int`, a pointer for addresses, a `size_t` for the size.
    ///
    /// Errors: `topsErrorInvalidValue` for null, unknown attributes, memory that the runtime does not know and an
    /// address that the memory does not have; `topsErrorNotSupported` for attributes that the vendor does not support.
    call(unsafe) topsPointerGetAttribute(data: *mut c_void, attribute: topsPointer_attribute, ptr: topsDeviceptr_t)
        => pointer::attribute(data, attribute.0, ptr, &POINTERS);

    /// Several attributes of one address, all or none of them; an address that the memory does not have is null.
    ///
    /// Errors: as `topsPointerGetAttribute`, and `topsErrorInvalidValue` for none.
    call(unsafe) topsDrvPointerGetAttributes(
        numAttributes: c_uint, attributes: *mut topsPointer_attribute, data: *mut *mut c_void, ptr: topsDeviceptr_t,
    ) => pointer::several(numAttributes, attributes, |attribute| attribute.0, data, ptr, &POINTERS);

    /// Start and bytes of the allocation that an address is in. Either result may be left out.
    ///
    /// Errors: `topsErrorInvalidDevicePointer` for memory that the runtime does not know.
    call(unsafe) topsMemGetAddressRange(pbase: *mut topsDeviceptr_t, psize: *mut usize, dptr: topsDeviceptr_t)
        => pointer::range(pbase, psize, dptr);

    /// The bytes that were asked for of the allocation that an address is in.
    ///
    /// Errors: `topsErrorInvalidValue` for null and for memory that the runtime does not know.
    call(unsafe) topsMemPtrGetInfo(ptr: *mut c_void, size: *mut usize) => pointer::size(ptr, size);

    section "symbol";

    /// Where a symbol lies on the current device. `symbol` is a registered address, or points at its name.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorInvalidSymbol`.
    call(unsafe) topsGetSymbolAddress(devPtr: *mut *mut c_void, symbol: *const c_void)
        => symbol::address::<Tops>(devPtr, symbol);

    /// Bytes of a symbol. `symbol` is a registered address, or points at its name.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorInvalidSymbol`.
    call(unsafe) topsGetSymbolSize(size: *mut usize, symbol: *const c_void)
        => symbol::size::<Tops>(size, symbol);

    /// Copies `sizeBytes` bytes to a symbol from `offset` on, in the default stream. `symbol` is a registered address, or
    /// points at its name.
    ///
    /// Errors: `topsErrorInvalidSymbol`, `topsErrorInvalidValue` past its end, `topsErrorInvalidMemcpyDirection`.
    call(unsafe) topsMemcpyToSymbol(
        symbol: *const c_void, src: *const c_void, sizeBytes: usize, offset: usize, kind: topsMemcpyKind,
    ) => symbol::memcpy::<Tops>(Way::To, symbol, src, sizeBytes, offset, kind.0, 0, Mode::Sync);

    /// The same in a stream.
    ///
    /// Errors: as `topsMemcpyToSymbol`, and `topsErrorInvalidHandle` for a dead stream.
    call(unsafe) topsMemcpyToSymbolAsync(
        symbol: *const c_void, src: *const c_void, sizeBytes: usize, offset: usize, kind: topsMemcpyKind,
        stream: topsStream_t,
    ) =>
        symbol::memcpy::<Tops>(Way::To, symbol, src, sizeBytes, offset, kind.0, stream.addr(), Mode::Async);

    /// Copies `sizeBytes` bytes from a symbol from `offset` on, in the default stream. `symbol` is a registered address, or
    /// points at its name.
    ///
    /// Errors: as `topsMemcpyToSymbol`.
    call(unsafe) topsMemcpyFromSymbol(
        dst: *mut c_void, symbol: *const c_void, sizeBytes: usize, offset: usize, kind: topsMemcpyKind,
    ) => symbol::memcpy::<Tops>(Way::From, symbol, dst, sizeBytes, offset, kind.0, 0, Mode::Sync);

    /// The same in a stream.
    ///
    /// Errors: as `topsMemcpyToSymbol`, and `topsErrorInvalidHandle` for a dead stream.
    call(unsafe) topsMemcpyFromSymbolAsync(
        dst: *mut c_void, symbol: *const c_void, sizeBytes: usize, offset: usize, kind: topsMemcpyKind,
        stream: topsStream_t,
    ) =>
        symbol::memcpy::<Tops>(Way::From, symbol, dst, sizeBytes, offset, kind.0, stream.addr(), Mode::Async);

    section "stream";

    /// Creates a stream of the current device, ordered with the default stream.
    ///
    /// Errors: `topsErrorInvalidValue` for null.
    call(unsafe) topsStreamCreate(stream: *mut topsStream_t)
        => stream::create::<Tops, _>(stream, 0, STREAM, 0);

    /// The same with flags; `topsStreamNonMerging` changes nothing, since no two actions are ever merged.
    ///
    /// Errors: `topsErrorInvalidValue` for null or unknown flags.
    call(unsafe) topsStreamCreateWithFlags(stream: *mut topsStream_t, flags: c_uint)
        => stream::create::<Tops, _>(stream, flags, STREAM, 0);

    /// Gives a stream up. Returns at once; its work runs to its end.
    ///
    /// Errors: `topsErrorInvalidHandle` for default streams and dead handles.
    call topsStreamDestroy(stream: topsStream_t) => stream::destroy::<Tops>(stream.addr());

    /// Success when a stream's work is done, else `topsErrorNotReady`, which is not kept as the last error.
    ///
    /// Errors: `topsErrorInvalidHandle` for dead handles.
    call topsStreamQuery(stream: topsStream_t) => stream::query::<Tops>(stream.addr());

    /// Waits for a stream's work; for the default stream, that of all blocking streams too.
    ///
    /// Errors: `topsErrorInvalidHandle` for dead handles; what the device reported.
    call topsStreamSynchronize(stream: topsStream_t) => stream::synchronize::<Tops>(stream.addr());

    /// Makes later work of a stream wait for the event as recorded last; of any device. `flags` has to be 0.
    ///
    /// Errors: `topsErrorInvalidHandle` for dead handles, `topsErrorInvalidValue` for flags.
    call topsStreamWaitEvent(stream: topsStream_t, event: topsEvent_t, flags: c_uint)
        => stream::wait_event::<Tops>(stream.addr(), event.addr(), flags, 0);

    /// Calls a function of the program in stream order, once, with the stream, success or the device's error, and
    /// `userData`. Later work of the stream waits until it has returned, with either flag. Calls of the runtime from
    /// inside answer `topsErrorNotSupported`.
    ///
    /// Errors: `topsErrorInvalidValue` for null or unknown flags, `topsErrorInvalidHandle` for dead handles.
    call(unsafe) topsStreamAddCallback(
        stream: topsStream_t, callback: topsStreamCallback_t, userData: *mut c_void, flags: c_uint,
    ) => stream::add_callback::<Tops, _>(callback, stream, userData, flags, topsStreamCallbackBlocking);

    /// Not supported: OpenCL's queues do not write single words.
    ///
    /// Errors: `topsErrorInvalidDevicePointer` for what is no word of device memory, `topsErrorInvalidValue` for flags,
    /// else `topsErrorNotSupported`.
    call topsStreamWriteValue32(dst: topsDeviceptr_t, value: c_int, flags: c_uint) => {
        let _ = value;
        refused::stream_value::<Tops>(dst, flags, 0, 0)
    };

    /// The same in a stream.
    ///
    /// Errors: as `topsStreamWriteValue32`, and `topsErrorInvalidHandle` for a dead stream.
    call topsStreamWriteValue32Async(dst: topsDeviceptr_t, value: c_int, flags: c_uint, stream: topsStream_t) => {
        let _ = value;
        refused::stream_value::<Tops>(dst, flags, 0, stream.addr())
    };

    /// Not supported: OpenCL's queues do not watch single words.
    ///
    /// Errors: `topsErrorInvalidDevicePointer` for what is no word of device memory, `topsErrorInvalidValue` for unknown
    /// flags, else `topsErrorNotSupported`.
    call topsStreamWaitValue32(dst: topsDeviceptr_t, value: c_int, flags: c_uint) => {
        let _ = value;
        refused::stream_value::<Tops>(dst, flags, topsStreamWaitValueNor, 0)
    };

    /// The same in a stream.
    ///
    /// Errors: as `topsStreamWaitValue32`, and `topsErrorInvalidHandle` for a dead stream.
    call topsStreamWaitValue32Async(dst: topsDeviceptr_t, value: c_int, flags: c_uint, stream: topsStream_t) => {
        let _ = value;
        refused::stream_value::<Tops>(dst, flags, topsStreamWaitValueNor, stream.addr())
    };

    section "event";

    /// Creates an event of the current device that keeps times.
    ///
    /// Errors: `topsErrorInvalidValue` for null.
    call(unsafe) topsEventCreate(event: *mut topsEvent_t)
        => event::create::<Tops, _>(event, 0, EVENT);

    /// The same with flags.
    ///
    /// Errors: `topsErrorInvalidValue` for null, unknown flags, or both release flags.
    call(unsafe) topsEventCreateWithFlags(event: *mut topsEvent_t, flags: c_uint) => {
        event::check_exclusive(flags, RELEASE)?;
        event::create::<Tops, _>(event, flags, EVENT)
    };

    /// Destroys an event. Returns at once, also while it is pending.
    ///
    /// Errors: `topsErrorInvalidHandle` for dead handles.
    call topsEventDestroy(event: topsEvent_t) => event::destroy::<Tops>(event.addr());

    /// Puts an event behind a stream's work so far.
    ///
    /// Errors: `topsErrorInvalidHandle` for dead handles or a stream of another device.
    call topsEventRecord(event: topsEvent_t, stream: topsStream_t)
        => event::record::<Tops>(event.addr(), stream.addr(), 0, 0);

    /// Success when the work before an event is done, or it was never recorded; else `topsErrorNotReady`.
    ///
    /// Errors: `topsErrorInvalidHandle` for dead handles.
    call topsEventQuery(event: topsEvent_t) => event::query::<Tops>(event.addr());

    /// Waits for the work before an event; returns at once when it was never recorded.
    ///
    /// Errors: `topsErrorInvalidHandle` for dead handles; what the device reported.
    call topsEventSynchronize(event: topsEvent_t) => event::synchronize::<Tops>(event.addr());

    /// Milliseconds from one event to another, negative when they are the other way round.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorInvalidHandle` for dead, unrecorded or untimed events and
    /// different devices, `topsErrorNotReady` while one is pending.
    call(unsafe) topsEventElapsedTime(ms: *mut f32, start: topsEvent_t, stop: topsEvent_t)
        => event::elapsed::<Tops>(ms, start.addr(), stop.addr());

    /// The bytes by which another process of the same user opens an event, for as long as the event is there. It
    /// has to be made with `topsEventInterprocess | topsEventDisableTiming`.
    ///
    /// Errors: `topsErrorInvalidValue` for null or an event without those flags, `topsErrorInvalidHandle` for dead
    /// handles.
    call(unsafe) topsIpcGetEventHandle(handle: *mut topsIpcEventHandle_t, event: topsEvent_t)
        => event::ipc_handle::<Tops>(handle.cast(), event.addr());

    /// Opens an event of another process, as an event of the current device that keeps no times. Records of either
    /// process are waited for by both, also in streams.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorInvalidContext` for a handle of this process,
    /// `topsErrorInvalidHandle` when event or process are gone, or another user's.
    call(unsafe) topsIpcOpenEventHandle(event: *mut topsEvent_t, handle: topsIpcEventHandle_t)
        => event::ipc_open::<Tops, _>(event, handle.reserved);

    section "module and launch";

    /// Builds NUL-terminated OpenCL C text for the current device; others build it at first use.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorInvalidSource` for text that does not compile,
    /// `topsErrorInvalidImage` for what is no text or has no kernel.
    call(unsafe) topsModuleLoadData(module: *mut topsModule_t, image: *const c_void)
        => module::load_data::<Tops, _>(module, image);

    /// The same from a file.
    ///
    /// Errors: as `topsModuleLoadData`, and `topsErrorFileNotFound`.
    call(unsafe) topsModuleLoad(module: *mut topsModule_t, fname: *const c_char)
        => module::load::<Tops, _>(module, fname);

    /// Ends a module with its functions and symbols, after all work of the current device.
    ///
    /// Errors: `topsErrorInvalidHandle` for dead handles.
    call topsModuleUnload(module: topsModule_t) => module::unload::<Tops>(module.addr());

    /// A kernel of a module by its name.
    ///
    /// Errors: `topsErrorInvalidValue` for null or an empty name, `topsErrorNotFound`, `topsErrorInvalidHandle` for
    /// dead handles.
    call(unsafe) topsModuleGetFunction(function: *mut topsFunction_t, module: topsModule_t, kname: *const c_char)
        => module::function::<Tops, _>(function, module.addr(), kname);

    /// A symbol's address and size in bytes on the current device; either result may be null.
    ///
    /// Errors: `topsErrorInvalidValue` for a null name, `topsErrorNotFound`, `topsErrorInvalidHandle`.
    call(unsafe) topsModuleGetGlobal(
        dptr: *mut *mut c_void, bytes: *mut usize, hmod: topsModule_t, name: *const c_char,
    ) => module::global::<Tops>(dptr, bytes, hmod.addr(), name, true);

    /// Launches a kernel, by its handle or a registered address: `args[i]` points at the i-th value, `__local`
    /// parameters take none and share `sharedMemBytes`. Returns before it runs; the values are copied.
    ///
    /// Errors: `topsErrorInvalidDeviceFunction` for no function, `topsErrorInvalidConfiguration` and
    /// `topsErrorLaunchOutOfResources` for a shape that does not fit, `topsErrorInvalidValue` for arguments that do
    /// not. Nothing runs then.
    call(unsafe) topsLaunchKernel(
        function_address: *const c_void, numBlocks: dim3, dimBlocks: dim3, args: *mut *mut c_void,
        sharedMemBytes: usize, stream: topsStream_t,
    ) => launch::launch::<Tops>(function_address, numBlocks, dimBlocks, args, sharedMemBytes, stream.addr());

    /// The same with extents one by one. The values are given either by `kernelParams`, as by `args`, or by `extra`, a
    /// list of `TOPS_LAUNCH_PARAM_BUFFER_POINTER`, a buffer, `TOPS_LAUNCH_PARAM_BUFFER_SIZE`, the address of its size
    /// in bytes and `TOPS_LAUNCH_PARAM_END`: the buffer holds all values, each as aligned as its type.
    ///
    /// Errors: as `topsLaunchKernel`, and `topsErrorInvalidValue` for both or a list that makes no sense,
    /// `topsErrorNotSupported` for a buffer where structures leave open what lies where.
    call(unsafe) topsModuleLaunchKernel(
        f: topsFunction_t, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint,
        blockDimZ: c_uint, sharedMemBytes: c_uint, stream: topsStream_t, kernelParams: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) => launch::module_launch::<Tops>(
        f.addr(), [gridDimX, gridDimY, gridDimZ], [blockDimX, blockDimY, blockDimZ], sharedMemBytes, stream.addr(),
        kernelParams, extra, &EXTRA,
    );

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

/// Refuses a link that the header does not have.
fn check_link(map: topsTopologyMapType) -> Result<()> {
    if (topsTopologyMapTypeAuto.0..=topsTopologyMapTypeClsAsDev.0).contains(&map.0) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::InvalidValue, "it is none of the kinds of link")
        .argument("map", map.0)
        .help("kinds are 0 to 4; topsTopologyMapTypeAuto is 0"))
}
