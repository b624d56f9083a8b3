//! The functions of the TOPS dialect for memory: allocation, copies, sets, arrays, pools, pointers and symbols.

#![allow(non_snake_case, non_upper_case_globals, reason = "the names are the vendor's")]

use super::super::pointers::{POINTERS, pointer_attributes};
use super::super::*;
use crate::dialect::call::memory::ZeroSize;
use crate::dialect::call::symbol::Way;
use crate::dialect::call::{copy, device, memory, peer, pointer, pool, refused, symbol};
use crate::dialect::runtime_api;
use crate::error::{Error, ErrorKind, Result};
use crate::rt::copy::Mode;
use std::ffi::{c_int, c_uchar, c_uint, c_ushort, c_void};

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
}

/// Refuses a link that the header does not have.
pub(super) fn check_link(map: topsTopologyMapType) -> Result<()> {
    if (topsTopologyMapTypeAuto.0..=topsTopologyMapTypeClsAsDev.0).contains(&map.0) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::InvalidValue, "it is none of the kinds of link")
        .argument("map", map.0)
        .help("kinds are 0 to 4; topsTopologyMapTypeAuto is 0"))
}
