//! The functions of the MUSA dialect for memory: allocation, copies, sets, arrays, pools, pointers and symbols.

#![allow(non_snake_case, non_upper_case_globals, reason = "the names are the vendor's")]

use super::super::arrays::{desc, make_desc, make_extent};
use super::super::boxes::{extent, linear, parms, peer_parms};
use super::super::pointers::{POINTERS, memory_type, pointer_attributes, unregistered};
use super::super::*;
use crate::dialect::call::array::{Rows, Spot};
use crate::dialect::call::memory::ZeroSize;
use crate::dialect::call::symbol::Way;
use crate::dialect::call::{array, copy, device, managed, memory, peer, pitched, pointer, pool, refused, symbol};
use crate::dialect::runtime_api;
use crate::rt::copy::Mode;
use std::ffi::{c_int, c_uint, c_void};

const HOST_ALLOC: c_uint = musaHostAllocPortable | musaHostAllocMapped | musaHostAllocWriteCombined;
const HOST_REGISTER: c_uint =
    musaHostRegisterPortable | musaHostRegisterMapped | musaHostRegisterIoMemory | musaHostRegisterReadOnly;

fn pool_properties(properties: &musaMemPoolProps) -> pool::Properties {
    pool::Properties {
        allocation_type: properties.allocType.0,
        handle_types: properties.handleTypes.0,
        location: (properties.location.r#type.0, properties.location.id),
    }
}

runtime_api! {
    dialect Musa, code musaError_t;

    section "memory";

    /// Allocates `size` bytes on the current device, aligned to 256. Size 0 gives a null pointer.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorOutOfMemory`.
    call(unsafe) musaMalloc(devPtr: *mut *mut c_void, size: usize)
        => memory::malloc::<Musa>(devPtr, size, ZeroSize::Null);

    /// Allocates `height` rows of `width` bytes on the current device. Rows begin `*pitch` bytes apart, a multiple of
    /// 512, and the room behind each is the program's too. No rows or no bytes give a null pointer.
    ///
    /// Errors: `musaErrorInvalidValue` for null or a width beyond the largest pitch, `musaErrorOutOfMemory`.
    call(unsafe) musaMallocPitch(devPtr: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize)
        => pitched::malloc_pitch::<Musa>(devPtr, pitch, width, height);

    /// Allocates a box of `extent.depth` slices of `extent.height` rows of `extent.width` bytes. Row r of slice z is at
    /// `ptr + (z * ysize + r) * pitch`.
    ///
    /// Errors: as `musaMallocPitch`.
    call(unsafe) musaMalloc3D(pitchedDevPtr: *mut musaPitchedPtr, extent: musaExtent)
        => pitched::malloc_3d::<Musa, _>(pitchedDevPtr, self::extent(extent), make_musaPitchedPtr);

    /// Frees device memory, after all work of its device. Null is nothing to free.
    ///
    /// Errors: `musaErrorInvalidValue` for anything but the start of a live allocation.
    call musaFree(devPtr: *mut c_void) => memory::free::<Musa>(devPtr);

    /// Allocates `size` bytes of page-locked host memory.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorOutOfMemory`.
    call(unsafe) musaMallocHost(ptr: *mut *mut c_void, size: usize)
        => memory::host_alloc::<Musa>(ptr, size, 0, 0, 0);

    /// The same with flags, which are kept and ask for nothing that OpenCL lets one choose.
    ///
    /// Errors: `musaErrorInvalidValue` for null or unknown flags, `musaErrorOutOfMemory`.
    call(unsafe) musaHostAlloc(pHost: *mut *mut c_void, size: usize, flags: c_uint)
        => memory::host_alloc::<Musa>(pHost, size, flags, HOST_ALLOC, 0);

    /// Frees page-locked host memory, after all work of every device. Null is nothing to free.
    ///
    /// Errors: `musaErrorInvalidValue` for anything else.
    call musaFreeHost(ptr: *mut c_void) => memory::host_free::<Musa>(ptr);

    /// Page-locks memory that the program has. It has to stay until it is unregistered.
    ///
    /// Errors: `musaErrorInvalidValue` for null, size 0, unmapped memory or unknown flags,
    /// `musaErrorHostMemoryAlreadyRegistered` where a byte is registered, `musaErrorNotSupported` for I/O memory.
    call(unsafe) musaHostRegister(ptr: *mut c_void, size: usize, flags: c_uint)
        => memory::host_register::<Musa>(ptr, size, flags, HOST_REGISTER, musaHostRegisterIoMemory);

    /// Ends a registration, after all work of every device.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorHostMemoryNotRegistered` for what is not registered.
    call musaHostUnregister(ptr: *mut c_void) => memory::host_unregister(ptr);

    /// `musaHostUnregister`, as the vendor's guide spells it.
    call musaMemHostUnregister(ptr: *mut c_void) => memory::host_unregister(ptr);

    /// The flags that page-locked memory was made with.
    ///
    /// Errors: `musaErrorInvalidValue` for null or other memory.
    call(unsafe) musaHostGetFlags(pFlags: *mut c_uint, pHost: *mut c_void)
        => memory::host_flags(pFlags, pHost);

    /// The address by which kernels on the current device reach page-locked memory: the memory's own, interior
    /// addresses included. The host sees what kernels wrote there after the next synchronisation. `flags` has to be 0.
    ///
    /// Errors: `musaErrorInvalidValue` for null, other memory or flags; `musaErrorNotSupported` where kernels do not reach
    /// the host's memory.
    call(unsafe) musaHostGetDevicePointer(pDevice: *mut *mut c_void, pHost: *mut c_void, flags: c_uint)
        => memory::host_device_pointer::<Musa>(pDevice, pHost, flags);

    /// Free and total bytes of the current device.
    ///
    /// Errors: `musaErrorInvalidValue` for null.
    call(unsafe) musaMemGetInfo(free: *mut usize, total: *mut usize)
        => device::memory_info::<Musa>(free, total);

    /// Allocates `size` bytes that host and device share under one address, aligned to 256 at least. Freed by
    /// `musaFree`.
    ///
    /// `flags`: `musaMemAttachGlobal` for kernels of all streams; `musaMemAttachHost` for launches that are given the
    /// address; `musaMemAttachSingle` for all streams until it is attached to one. Where
    /// `musaDevAttrConcurrentManagedAccess` is 0 the host may touch it only when no stream has work, and changes hands
    /// as a whole, at the speed of a copy, with the first launch and the next synchronisation.
    ///
    /// Errors: `musaErrorInvalidValue` for null, size 0 or other flags, `musaErrorOutOfMemory`,
    /// `musaErrorNotSupported` where the device has no shared virtual memory.
    call(unsafe) musaMallocManaged(devPtr: *mut *mut c_void, size: usize, flags: c_uint)
        => managed::malloc::<Musa>(devPtr, size, flags);

    /// Moves managed memory to a device, or to the host (`musaCpuDeviceId`), in stream order; whole pages. A hint that
    /// changes no contents.
    ///
    /// Errors: `musaErrorInvalidValue` for null, an empty range, a range beyond the allocation or other memory,
    /// `musaErrorInvalidDevice`.
    call musaMemPrefetchAsync(devPtr: *const c_void, count: usize, dstDevice: c_int, stream: musaStream_t)
        => managed::prefetch::<Musa>(devPtr, count, dstDevice, stream.addr());

    /// Says how managed memory will be used; whole pages. It is kept for `musaMemRangeGetAttribute` and moves nothing.
    ///
    /// Errors: `musaErrorInvalidValue` for null, an empty range, a range beyond the allocation, other memory or unknown
    /// advice; `musaErrorInvalidDevice` where the advice names one.
    call musaMemAdvise(devPtr: *const c_void, count: usize, advice: musaMemoryAdvise, device: c_int)
        => managed::advise(devPtr, count, advice.0, device);

    /// What was said about a range of managed memory, where it holds for all of it; devices that are not known or not
    /// the same are `musaInvalidDeviceId`. The answer is an `int`, for the users of a range as many as fit.
    ///
    /// Errors: `musaErrorInvalidValue` for null, a size that does not fit, other memory or an unknown attribute.
    call(unsafe) musaMemRangeGetAttribute(
        data: *mut c_void, dataSize: usize, attribute: musaMemRangeAttribute, devPtr: *const c_void, count: usize)
        => managed::range_attribute(data, dataSize, attribute.0, devPtr, count);

    /// The same for several attributes; either all are answered or none.
    ///
    /// Errors: as `musaMemRangeGetAttribute`, and `musaErrorInvalidValue` for an empty list.
    call(unsafe) musaMemRangeGetAttributes(
        data: *mut *mut c_void, dataSizes: *mut usize, attributes: *mut musaMemRangeAttribute, numAttributes: usize,
        devPtr: *const c_void, count: usize)
        => managed::range_attributes(data, dataSizes, attributes.cast(), numAttributes, devPtr, count);

    /// Says whose kernels use managed memory from here on in the stream: all streams' (`musaMemAttachGlobal`), those
    /// that are given its address (`musaMemAttachHost`) or this stream's (`musaMemAttachSingle`). `length` is 0 or the
    /// size of the allocation. Waits for the device where it has the memory.
    ///
    /// Errors: `musaErrorInvalidValue` for null, an inner address, another length, other memory, several flags, or
    /// the default stream's alone.
    call musaStreamAttachMemAsync(stream: musaStream_t, devPtr: *mut c_void, length: usize, flags: c_uint)
        => managed::attach::<Musa>(stream.addr(), devPtr, length, flags);

    /// Copies `count` bytes in the default stream. Returns when host memory is done with; copies between device
    /// memory go on.
    ///
    /// Errors: `musaErrorInvalidValue` for null, unknown, freed or overrun pointers or a partial overlap,
    /// `musaErrorInvalidMemcpyDirection` for an unknown kind. Nothing is written then.
    call(unsafe) musaMemcpy(dst: *mut c_void, src: *const c_void, count: usize, kind: musaMemcpyKind)
        => copy::memcpy::<Musa>(dst, src, count, kind.0);

    /// Copies `count` bytes in a stream. Returns at once for page-locked and device memory; ordinary host memory may
    /// change or is complete when it returns.
    ///
    /// Errors: as `musaMemcpy`, and `musaErrorContextIsDestroyed` for a dead stream.
    call(unsafe) musaMemcpyAsync(
        dst: *mut c_void, src: *const c_void, count: usize, kind: musaMemcpyKind, stream: musaStream_t,
    ) => copy::memcpy_async::<Musa>(dst, src, count, kind.0, stream.addr());

    /// Copies `height` rows of `width` bytes in the default stream; rows begin `dpitch` and `spitch` bytes apart, and
    /// what lies between them stays. Returns as `musaMemcpy` does. An empty box is a success.
    ///
    /// Errors: as `musaMemcpy`, and `musaErrorInvalidPitchValue` for a pitch smaller than the width.
    call(unsafe) musaMemcpy2D(
        dst: *mut c_void, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize,
        kind: musaMemcpyKind,
    ) => pitched::memcpy_2d::<Musa>(dst, dpitch, src, spitch, width, height, kind.0, 0, Mode::Sync);

    /// The same in a stream. Returns as `musaMemcpyAsync` does.
    ///
    /// Errors: as `musaMemcpy2D`, and `musaErrorContextIsDestroyed` for a dead stream.
    call(unsafe) musaMemcpy2DAsync(
        dst: *mut c_void, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize,
        kind: musaMemcpyKind, stream: musaStream_t,
    ) => pitched::memcpy_2d::<Musa>(dst, dpitch, src, spitch, width, height, kind.0, stream.addr(), Mode::Async);

    /// Copies a box of `p->extent` in the default stream: on each side from a pitched pointer on, at a position in
    /// bytes, rows and slices, or in an array, at a position in elements, rows and slices or layers. Slices are
    /// `pitch * ysize` bytes apart. The extent's width is in bytes, or in elements where an array takes part. Returns as
    /// `musaMemcpy` does.
    ///
    /// Errors: as `musaMemcpy2D`, and `musaErrorInvalidValue` for no or two ends on a side, or a box that leaves its
    /// rows, slices or array; `musaErrorContextIsDestroyed` for dead arrays.
    call(unsafe) musaMemcpy3D(p: *const musaMemcpy3DParms)
        => pitched::memcpy_3d::<Musa>(parms(p), 0, Mode::Sync);

    /// The same in a stream. Returns as `musaMemcpyAsync` does.
    ///
    /// Errors: as `musaMemcpy3D`, and `musaErrorContextIsDestroyed` for a dead stream.
    call(unsafe) musaMemcpy3DAsync(p: *const musaMemcpy3DParms, stream: musaStream_t)
        => pitched::memcpy_3d::<Musa>(parms(p), stream.addr(), Mode::Async);

    /// Sets `count` bytes to the low byte of `value` in the default stream. Returns before it is done, but for
    /// page-locked host memory.
    ///
    /// Errors: `musaErrorInvalidValue` for null, unknown, freed or overrun pointers.
    call musaMemset(devPtr: *mut c_void, value: c_int, count: usize)
        => copy::memset::<Musa>(devPtr, value, count);

    /// Sets `count` bytes to the low byte of `value` in a stream.
    ///
    /// Errors: as `musaMemset`, and `musaErrorContextIsDestroyed` for a dead stream.
    call musaMemsetAsync(devPtr: *mut c_void, value: c_int, count: usize, stream: musaStream_t)
        => copy::memset_async::<Musa>(devPtr, value, count, stream.addr());

    /// Sets the low byte of `value` in `height` rows of `width` bytes that begin `pitch` bytes apart, in the default
    /// stream. What lies between the rows stays. Returns as `musaMemset` does. An empty box is a success.
    ///
    /// Errors: `musaErrorInvalidValue` for a pitch smaller than the width, and as `musaMemset`.
    call musaMemset2D(devPtr: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize)
        => pitched::memset_2d::<Musa>((devPtr, pitch), value, (width, height), 0, Mode::Sync);

    /// The same in a stream.
    ///
    /// Errors: as `musaMemset2D`, and `musaErrorContextIsDestroyed` for a dead stream.
    call musaMemset2DAsync(
        devPtr: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize, stream: musaStream_t,
    ) => pitched::memset_2d::<Musa>((devPtr, pitch), value, (width, height), stream.addr(), Mode::Async);

    /// Sets the low byte of `value` in a box that begins at a pitched pointer, in the default stream. Returns as
    /// `musaMemset` does. An empty box is a success.
    ///
    /// Errors: `musaErrorInvalidValue` for a box that leaves its rows or slices, and as `musaMemset`.
    call musaMemset3D(pitchedDevPtr: musaPitchedPtr, value: c_int, extent: musaExtent)
        => pitched::memset_3d::<Musa>(linear(pitchedDevPtr), value, self::extent(extent), 0, Mode::Sync);

    /// The same in a stream.
    ///
    /// Errors: as `musaMemset3D`, and `musaErrorContextIsDestroyed` for a dead stream.
    call musaMemset3DAsync(pitchedDevPtr: musaPitchedPtr, value: c_int, extent: musaExtent, stream: musaStream_t)
        => pitched::memset_3d::<Musa>(linear(pitchedDevPtr), value, self::extent(extent), stream.addr(), Mode::Async);

    section "peer";

    /// Whether a device can use another's memory: 0, for no OpenCL device can.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorInvalidDevice`.
    call(unsafe) musaDeviceCanAccessPeer(canAccessPeer: *mut c_int, device: c_int, peerDevice: c_int)
        => peer::can_access(canAccessPeer, device, peerDevice);

    /// Lets the current device use another's memory, which no OpenCL device can. Copies work without it.
    ///
    /// Errors: `musaErrorInvalidDevice`, also for the current device; `musaErrorInvalidValue` for flags;
    /// `musaErrorPeerAccessUnsupported`.
    call musaDeviceEnablePeerAccess(peerDevice: c_int, flags: c_uint) => peer::enable::<Musa>(peerDevice, flags);

    /// Ends what `musaDeviceEnablePeerAccess` began.
    ///
    /// Errors: `musaErrorInvalidDevice`, also for the current device; `musaErrorPeerAccessNotEnabled`.
    call musaDeviceDisablePeerAccess(peerDevice: c_int) => peer::disable::<Musa>(peerDevice);

    /// Copies `count` bytes from one device to another, after the work of the default streams of both and of the
    /// current device, and before their later work. Returns before it is done.
    ///
    /// Errors: `musaErrorInvalidDevice`; `musaErrorInvalidValue` for null, unknown, freed or overrun pointers and for
    /// memory that is not of the device named. Nothing is written then.
    call musaMemcpyPeer(dst: *mut c_void, dstDevice: c_int, src: *const c_void, srcDevice: c_int, count: usize)
        => peer::memcpy::<Musa>(dst, dstDevice, src, srcDevice, count);

    /// Copies `count` bytes from one device to another in a stream of any device. Returns before it is done.
    ///
    /// Errors: as `musaMemcpyPeer`, and `musaErrorContextIsDestroyed` for a dead stream.
    call musaMemcpyPeerAsync(
        dst: *mut c_void, dstDevice: c_int, src: *const c_void, srcDevice: c_int, count: usize, stream: musaStream_t,
    ) => peer::memcpy_async::<Musa>(dst, dstDevice, src, srcDevice, count, stream.addr());

    /// Copies a box of `p->extent` from one device to another: on each side from a pitched pointer or an array on, as
    /// `musaMemcpy3D`; ordered as `musaMemcpyPeer`. Returns before it is done, but with arrays.
    ///
    /// Errors: as `musaMemcpyPeer` and `musaMemcpy3D`. Nothing is written then.
    call(unsafe) musaMemcpy3DPeer(p: *const musaMemcpy3DPeerParms)
        => pitched::memcpy_3d_peer::<Musa>(peer_parms(p), 0, Mode::Sync);

    /// The same in a stream of any device.
    ///
    /// Errors: as `musaMemcpy3DPeer`, and `musaErrorContextIsDestroyed` for a dead stream.
    call(unsafe) musaMemcpy3DPeerAsync(p: *const musaMemcpy3DPeerParms, stream: musaStream_t)
        => pitched::memcpy_3d_peer::<Musa>(peer_parms(p), stream.addr(), Mode::Async);

    section "array";

    /// Makes an array of the current device: of one dimension where `height` is 0, else of two. An image of OpenCL,
    /// which kernels take as `image1d_t` or `image2d_t`; extents are in elements.
    ///
    /// Errors: `musaErrorInvalidValue` for null, width 0, more than the device's images can be, unknown flags, a
    /// descriptor that is none; `musaErrorNotSupported` for a format that the device lacks, `musaErrorOutOfMemory`.
    call(unsafe) musaMallocArray(
        array: *mut musaArray_t, desc: *const musaChannelFormatDesc, width: usize, height: usize, flags: c_uint,
    ) => array::malloc::<Musa, _>(array, self::desc(desc), width, height, flags);

    /// The same of up to three dimensions, those that are not 0; with `musaArrayLayered` the depth counts layers of one
    /// or two dimensions.
    ///
    /// Errors: as `musaMallocArray`, `musaErrorInvalidValue` for a depth without a height, and `musaErrorNotSupported`
    /// for cubemaps.
    call(unsafe) musaMalloc3DArray(
        array: *mut musaArray_t, desc: *const musaChannelFormatDesc, extent: musaExtent, flags: c_uint,
    ) => array::malloc_3d::<Musa, _>(
        array, self::desc(desc), [extent.width, extent.height, extent.depth], flags,
    );

    /// Frees an array, after all work of its device. Null is nothing to free.
    ///
    /// Errors: `musaErrorContextIsDestroyed` for dead handles.
    call musaFreeArray(array: musaArray_t) => array::free::<Musa>(array.addr());

    /// What the elements of an array are, channel widths in bits.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorContextIsDestroyed` for dead handles.
    call(unsafe) musaGetChannelDesc(desc: *mut musaChannelFormatDesc, array: musaArray_const_t)
        => array::channel_desc::<Musa, _>(desc, array.addr(), make_desc);

    /// Elements, extent and flags of an array, as it was asked for; results may be null.
    ///
    /// Errors: `musaErrorContextIsDestroyed` for dead handles.
    call(unsafe) musaArrayGetInfo(
        desc: *mut musaChannelFormatDesc, extent: *mut musaExtent, flags: *mut c_uint, array: musaArray_t,
    ) => array::info::<Musa, _, _>(desc, extent, flags, array.addr(), make_desc, make_extent);

    /// Copies `height` rows of `width` bytes to an array of one or two dimensions, from `wOffset` bytes into row
    /// `hOffset` on, in the default stream. Returns when host memory is done with.
    ///
    /// Errors: `musaErrorContextIsDestroyed` for dead arrays, `musaErrorInvalidPitchValue` for a pitch below the width,
    /// `musaErrorInvalidValue` beyond the array, for parts of elements, and for pointers as in `musaMemcpy`,
    /// `musaErrorInvalidMemcpyDirection`. Nothing is written then.
    call(unsafe) musaMemcpy2DToArray(
        dst: musaArray_t, wOffset: usize, hOffset: usize, src: *const c_void, spitch: usize, width: usize,
        height: usize, kind: musaMemcpyKind,
    ) => array::to_array::<Musa>(
        Spot { array: dst.addr(), x: wOffset, y: hOffset }, Rows { address: src.addr(), pitch: spitch },
        (width, height), kind.0, 0, Mode::Sync,
    );

    /// The same in a stream. Returns at once; ordinary host memory may change then.
    ///
    /// Errors: as `musaMemcpy2DToArray`, and `musaErrorContextIsDestroyed` for a dead stream.
    call(unsafe) musaMemcpy2DToArrayAsync(
        dst: musaArray_t, wOffset: usize, hOffset: usize, src: *const c_void, spitch: usize, width: usize,
        height: usize, kind: musaMemcpyKind, stream: musaStream_t,
    ) => array::to_array::<Musa>(
        Spot { array: dst.addr(), x: wOffset, y: hOffset }, Rows { address: src.addr(), pitch: spitch },
        (width, height), kind.0, stream.addr(), Mode::Async,
    );

    /// Copies `height` rows of `width` bytes out of an array of one or two dimensions, from `wOffset` bytes into row
    /// `hOffset` on, in the default stream. Returns when host memory is complete.
    ///
    /// Errors: as `musaMemcpy2DToArray`.
    call(unsafe) musaMemcpy2DFromArray(
        dst: *mut c_void, dpitch: usize, src: musaArray_const_t, wOffset: usize, hOffset: usize, width: usize,
        height: usize, kind: musaMemcpyKind,
    ) => array::from_array::<Musa>(
        Rows { address: dst.addr(), pitch: dpitch }, Spot { array: src.addr(), x: wOffset, y: hOffset },
        (width, height), kind.0, 0, Mode::Sync,
    );

    /// The same in a stream. Returns at once for page-locked and device memory; ordinary host memory is complete then.
    ///
    /// Errors: as `musaMemcpy2DToArrayAsync`.
    call(unsafe) musaMemcpy2DFromArrayAsync(
        dst: *mut c_void, dpitch: usize, src: musaArray_const_t, wOffset: usize, hOffset: usize, width: usize,
        height: usize, kind: musaMemcpyKind, stream: musaStream_t,
    ) => array::from_array::<Musa>(
        Rows { address: dst.addr(), pitch: dpitch }, Spot { array: src.addr(), x: wOffset, y: hOffset },
        (width, height), kind.0, stream.addr(), Mode::Async,
    );

    /// Copies `height` rows of `width` bytes between two arrays of one or two dimensions, or within one, in the default
    /// stream. Returns before it is done. The elements have to be of one size; their bytes are copied as they are.
    ///
    /// Errors: as `musaMemcpy2DToArray`, and `musaErrorInvalidValue` for parts that overlap.
    call musaMemcpy2DArrayToArray(
        dst: musaArray_t, wOffsetDst: usize, hOffsetDst: usize, src: musaArray_const_t, wOffsetSrc: usize,
        hOffsetSrc: usize, width: usize, height: usize, kind: musaMemcpyKind,
    ) => array::between::<Musa>(
        Spot { array: dst.addr(), x: wOffsetDst, y: hOffsetDst },
        Spot { array: src.addr(), x: wOffsetSrc, y: hOffsetSrc }, (width, height), kind.0,
    );

    section "pool";

    /// Allocates `size` bytes of the stream's device from its current pool. The stream's later work may use them at
    /// once, and so may what is ordered behind that. Size 0 gives a null pointer.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorContextIsDestroyed` for a dead stream,
    /// `musaErrorOutOfMemory`.
    call(unsafe) musaMallocAsync(devPtr: *mut *mut c_void, size: usize, hStream: musaStream_t)
        => pool::malloc_async::<Musa>(devPtr, size, hStream.addr(), ZeroSize::Null);

    /// The same from a pool, which may be another device's.
    ///
    /// Errors: as `musaMallocAsync`, and `musaErrorInvalidValue` for a dead pool.
    call(unsafe) musaMallocFromPoolAsync(
        ptr: *mut *mut c_void, size: usize, memPool: musaMemPool_t, stream: musaStream_t,
    ) => pool::malloc_from_pool::<Musa>(ptr, size, memPool.addr(), stream.addr(), ZeroSize::Null);

    /// Frees device memory behind the stream's work so far and returns at once; the address is unknown from then on.
    /// Memory of `musaMalloc` may be freed in this way, and the other way about. Null is nothing to free.
    ///
    /// Errors: `musaErrorInvalidValue` for anything but the start of a live allocation,
    /// `musaErrorContextIsDestroyed` for a dead stream.
    call musaFreeAsync(devPtr: *mut c_void, hStream: musaStream_t) => pool::free_async::<Musa>(devPtr, hStream.addr());

    /// The pool that a device begins with.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorInvalidDevice`.
    call(unsafe) musaDeviceGetDefaultMemPool(memPool: *mut musaMemPool_t, device: c_int)
        => pool::default_of::<Musa, _>(memPool, device);

    /// The pool that `musaMallocAsync` takes a device's memory from.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorInvalidDevice`.
    call(unsafe) musaDeviceGetMemPool(memPool: *mut musaMemPool_t, device: c_int)
        => pool::current_of::<Musa, _>(memPool, device);

    /// Chooses that pool.
    ///
    /// Errors: `musaErrorInvalidValue` for a dead pool or another device's, `musaErrorInvalidDevice`.
    call musaDeviceSetMemPool(device: c_int, memPool: musaMemPool_t)
        => pool::set_current::<Musa>(device, memPool.addr());

    /// Makes a pool of a device's memory.
    ///
    /// Errors: `musaErrorInvalidValue` for null or properties that no pool has, `musaErrorNotSupported` for a pool that
    /// can be shared with other processes.
    call(unsafe) musaMemPoolCreate(memPool: *mut musaMemPool_t, poolProps: *const musaMemPoolProps)
        => pool::create::<Musa, _, _>(memPool, poolProps, pool_properties);

    /// Gives a pool up; what is allocated from it stays. A device whose current pool it was goes back to its default.
    ///
    /// Errors: `musaErrorInvalidValue` for a dead pool and a default pool.
    call musaMemPoolDestroy(memPool: musaMemPool_t) => pool::destroy::<Musa>(memPool.addr());

    /// Gives back what is free in a pool and known to be done, until it holds at most `minBytesToKeep` bytes.
    ///
    /// Errors: `musaErrorInvalidValue` for a dead pool.
    call musaMemPoolTrimTo(memPool: musaMemPool_t, minBytesToKeep: usize)
        => pool::trim::<Musa>(memPool.addr(), minBytesToKeep);

    /// An attribute of a pool: an `int` for what it may reuse, a 64-bit number else.
    ///
    /// Errors: `musaErrorInvalidValue` for null, a dead pool or an unknown attribute.
    call(unsafe) musaMemPoolGetAttribute(memPool: musaMemPool_t, attr: musaMemPoolAttr, value: *mut c_void)
        => pool::get_attribute::<Musa>(memPool.addr(), attr.0, value);

    /// Sets what a pool may reuse, the bytes that synchronisations leave in it, or a high mark to 0.
    ///
    /// Errors: as `musaMemPoolGetAttribute`, and `musaErrorInvalidValue` for what can only be asked.
    call(unsafe) musaMemPoolSetAttribute(memPool: musaMemPool_t, attr: musaMemPoolAttr, value: *mut c_void)
        => pool::set_attribute::<Musa>(memPool.addr(), attr.0, value);

    /// Not supported: OpenCL shares no device memory between processes.
    ///
    /// Errors: `musaErrorInvalidValue` for null and for anything but the start of a live device allocation, else
    /// `musaErrorNotSupported`.
    call musaIpcGetMemHandle(handle: *mut musaIpcMemHandle_t, devPtr: *mut c_void)
        => refused::ipc_get_mem_handle(handle, devPtr);

    /// Not supported: OpenCL shares no device memory between processes.
    ///
    /// Errors: `musaErrorInvalidValue` for null and unknown flags, else `musaErrorNotSupported`.
    call musaIpcOpenMemHandle(devPtr: *mut *mut c_void, handle: musaIpcMemHandle_t, flags: c_uint) => {
        let _ = handle;
        refused::ipc_open_mem_handle(devPtr, flags, musaIpcMemLazyEnablePeerAccess)
    };

    /// Not supported: OpenCL shares no device memory between processes.
    ///
    /// Errors: `musaErrorInvalidValue` for null and for memory of the process's own, else `musaErrorNotSupported`.
    call musaIpcCloseMemHandle(devPtr: *mut c_void) => refused::ipc_close_mem_handle(devPtr);

    section "pointer";

    /// What is known of an address. Memory that the runtime does not know has the type
    /// `musaMemoryTypeUnregistered` and the device `musaInvalidDeviceId`.
    ///
    /// Errors: `musaErrorInvalidValue` for null `attributes`.
    call(unsafe) musaPointerGetAttributes(attributes: *mut musaPointerAttributes, ptr: *const c_void)
        => pointer::attributes("attributes", attributes, ptr, pointer_attributes, Some(unregistered()));

    /// One attribute of an address: an `int`, a pointer for addresses, a `size_t` for the size.
    ///
    /// Errors: `musaErrorInvalidValue` for null, for freed memory, for ordinary host memory but for its type, and for
    /// an address that the memory does not have; `musaErrorNotSupported` for other attributes.
    call(unsafe) musaPointerGetAttribute(data: *mut c_void, attribute: musaPointer_attribute, ptr: *const c_void)
        => pointer::attribute(data, attribute.0, ptr, &POINTERS);

    /// Where the memory of an address lives; `musaMemoryTypeUnregistered` for what the runtime does not know.
    ///
    /// Errors: `musaErrorInvalidValue` for null `memoryType`.
    call(unsafe) musaPointerGetMemoryType(memoryType: *mut musaMemoryType, ptr: *const c_void)
        => pointer::one("memoryType", memoryType, ptr, memory_type);

    /// The device whose memory an address is in, or through which host memory was page-locked; `musaInvalidDeviceId`
    /// for what the runtime does not know.
    ///
    /// Errors: `musaErrorInvalidValue` for null `device`.
    call(unsafe) musaPointerGetDevice(device: *mut c_int, ptr: *const c_void)
        => pointer::one("device", device, ptr, |facts| facts.map_or(musaInvalidDeviceId, pointer::ordinal));

    section "symbol";

    /// Copies `count` bytes to a symbol from `offset` on, in the default stream. `symbol` is a registered address, or
    /// points at its name.
    ///
    /// Errors: `musaErrorInvalidSymbol`, `musaErrorInvalidValue` past its end, `musaErrorInvalidMemcpyDirection`.
    call(unsafe) musaMemcpyToSymbol(
        symbol: *const c_void, src: *const c_void, count: usize, offset: usize, kind: musaMemcpyKind,
    ) => symbol::memcpy::<Musa>(Way::To, symbol, src, count, offset, kind.0, 0, Mode::Sync);

    /// The same in a stream.
    ///
    /// Errors: as `musaMemcpyToSymbol`, and `musaErrorContextIsDestroyed` for a dead stream.
    call(unsafe) musaMemcpyToSymbolAsync(
        symbol: *const c_void, src: *const c_void, count: usize, offset: usize, kind: musaMemcpyKind,
        stream: musaStream_t,
    ) => symbol::memcpy::<Musa>(Way::To, symbol, src, count, offset, kind.0, stream.addr(), Mode::Async);

    /// Copies `count` bytes from a symbol from `offset` on, in the default stream. `symbol` is a registered address, or
    /// points at its name.
    ///
    /// Errors: as `musaMemcpyToSymbol`.
    call(unsafe) musaMemcpyFromSymbol(
        dst: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: musaMemcpyKind,
    ) => symbol::memcpy::<Musa>(Way::From, symbol, dst, count, offset, kind.0, 0, Mode::Sync);

    /// The same in a stream.
    ///
    /// Errors: as `musaMemcpyToSymbolAsync`.
    call(unsafe) musaMemcpyFromSymbolAsync(
        dst: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: musaMemcpyKind,
        stream: musaStream_t,
    ) => symbol::memcpy::<Musa>(Way::From, symbol, dst, count, offset, kind.0, stream.addr(), Mode::Async);

    /// Where a symbol lies on the current device. `symbol` is a registered address, or points at its name.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorInvalidSymbol`.
    call(unsafe) musaGetSymbolAddress(devPtr: *mut *mut c_void, symbol: *const c_void)
        => symbol::address::<Musa>(devPtr, symbol);

    /// Bytes of a symbol. `symbol` is a registered address, or points at its name.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorInvalidSymbol`.
    call(unsafe) musaGetSymbolSize(size: *mut usize, symbol: *const c_void)
        => symbol::size::<Musa>(size, symbol);
}
