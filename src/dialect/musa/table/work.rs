//! The functions of the MUSA dialect for streams, events, modules and launches.

#![allow(non_snake_case, non_upper_case_globals, reason = "the names are the vendor's")]

use super::super::*;
use crate::dialect::call::function::{self, Attributes, Setting};
use crate::dialect::call::{event, launch, module, stream};
use crate::dialect::runtime_api;
use std::ffi::{c_char, c_int, c_uint, c_void};

const EVENT: c_uint = musaEventBlockingSync | musaEventDisableTiming | musaEventInterprocess;

const EXTRA: launch::ExtraKeys = launch::ExtraKeys {
    buffer: MU_LAUNCH_PARAM_BUFFER_POINTER,
    size: MU_LAUNCH_PARAM_BUFFER_SIZE,
    end: MU_LAUNCH_PARAM_END,
};

runtime_api! {
    dialect Musa, code musaError_t;

    section "stream";

    /// Creates a stream of the current device, ordered with the default stream.
    ///
    /// Errors: `musaErrorInvalidValue` for null.
    call(unsafe) musaStreamCreate(pStream: *mut musaStream_t)
        => stream::create::<Musa, _>(pStream, 0, musaStreamNonBlocking, 0);

    /// The same with flags.
    ///
    /// Errors: `musaErrorInvalidValue` for null or unknown flags.
    call(unsafe) musaStreamCreateWithFlags(pStream: *mut musaStream_t, flags: c_uint)
        => stream::create::<Musa, _>(pStream, flags, musaStreamNonBlocking, 0);

    /// The same with a priority, smaller being more urgent; clamped to what there is.
    ///
    /// Errors: `musaErrorInvalidValue` for null or unknown flags.
    call(unsafe) musaStreamCreateWithPriority(pStream: *mut musaStream_t, flags: c_uint, priority: c_int)
        => stream::create::<Musa, _>(pStream, flags, musaStreamNonBlocking, priority);

    /// Gives a stream up. Returns at once; its work runs to its end.
    ///
    /// Errors: `musaErrorContextIsDestroyed` for default streams and dead handles.
    call musaStreamDestroy(stream: musaStream_t) => stream::destroy::<Musa>(stream.addr());

    /// Success when a stream's work is done, else `musaErrorNotReady`, which is not kept as the last error.
    ///
    /// Errors: `musaErrorContextIsDestroyed` for dead handles.
    call musaStreamQuery(stream: musaStream_t) => stream::query::<Musa>(stream.addr());

    /// Waits for a stream's work; for the default stream, that of all blocking streams too.
    ///
    /// Errors: `musaErrorContextIsDestroyed` for dead handles; what the device reported.
    call musaStreamSynchronize(stream: musaStream_t) => stream::synchronize::<Musa>(stream.addr());

    /// Makes later work of a stream wait for the event as recorded last; of any device.
    ///
    /// Errors: `musaErrorContextIsDestroyed` for dead handles, `musaErrorInvalidValue` for unknown flags.
    call musaStreamWaitEvent(stream: musaStream_t, event: musaEvent_t, flags: c_uint)
        => stream::wait_event::<Musa>(stream.addr(), event.addr(), flags, musaEventWaitExternal);

    /// The flags of a stream.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorContextIsDestroyed` for dead handles.
    call(unsafe) musaStreamGetFlags(stream: musaStream_t, flags: *mut c_uint)
        => stream::flags::<Musa>(stream.addr(), flags);

    /// The priority of a stream, after clamping.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorContextIsDestroyed` for dead handles.
    call(unsafe) musaStreamGetPriority(stream: musaStream_t, priority: *mut c_int)
        => stream::priority::<Musa>(stream.addr(), priority);

    /// Calls a function of the program in stream order, once, with the stream, success or the device's error, and
    /// `userData`. Later work of the stream waits until it has returned. `flags` has to be 0. Calls of the runtime
    /// from inside answer `musaErrorNotPermitted`.
    ///
    /// Errors: `musaErrorInvalidValue` for null or flags, `musaErrorContextIsDestroyed` for dead handles.
    call(unsafe) musaStreamAddCallback(
        stream: musaStream_t, callback: musaStreamCallback_t, userData: *mut c_void, flags: c_uint,
    ) => stream::add_callback::<Musa, _>(callback, stream, userData, flags, 0);

    /// The same with a function that is told nothing but `userData`.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorContextIsDestroyed` for dead handles.
    call(unsafe) musaLaunchHostFunc(stream: musaStream_t, hostFn: musaHostFn_t, userData: *mut c_void)
        => stream::launch_host_func::<Musa>(stream.addr(), hostFn, userData);

    section "event";

    /// Creates an event of the current device that keeps times.
    ///
    /// Errors: `musaErrorInvalidValue` for null.
    call(unsafe) musaEventCreate(event: *mut musaEvent_t)
        => event::create::<Musa, _>(event, 0, EVENT);

    /// The same with flags.
    ///
    /// Errors: `musaErrorInvalidValue` for null or unknown flags.
    call(unsafe) musaEventCreateWithFlags(event: *mut musaEvent_t, flags: c_uint)
        => event::create::<Musa, _>(event, flags, EVENT);

    /// Destroys an event. Returns at once, also while it is pending.
    ///
    /// Errors: `musaErrorContextIsDestroyed` for dead handles.
    call musaEventDestroy(event: musaEvent_t) => event::destroy::<Musa>(event.addr());

    /// Puts an event behind a stream's work so far.
    ///
    /// Errors: `musaErrorContextIsDestroyed` for dead handles or a stream of another device.
    call musaEventRecord(event: musaEvent_t, stream: musaStream_t)
        => event::record::<Musa>(event.addr(), stream.addr(), 0, 0);

    /// The same with flags, of which none changes anything here.
    ///
    /// Errors: as `musaEventRecord`, and `musaErrorInvalidValue` for unknown flags.
    call musaEventRecordWithFlags(event: musaEvent_t, stream: musaStream_t, flags: c_uint)
        => event::record::<Musa>(event.addr(), stream.addr(), flags, musaEventRecordExternal);

    /// Success when the work before an event is done, or it was never recorded; else `musaErrorNotReady`.
    ///
    /// Errors: `musaErrorContextIsDestroyed` for dead handles.
    call musaEventQuery(event: musaEvent_t) => event::query::<Musa>(event.addr());

    /// Waits for the work before an event; returns at once when it was never recorded.
    ///
    /// Errors: `musaErrorContextIsDestroyed` for dead handles; what the device reported.
    call musaEventSynchronize(event: musaEvent_t) => event::synchronize::<Musa>(event.addr());

    /// Milliseconds from one event to another, negative when they are the other way round.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorContextIsDestroyed` for dead, unrecorded or untimed
    /// events and different devices, `musaErrorNotReady` while one is pending.
    call(unsafe) musaEventElapsedTime(ms: *mut f32, start: musaEvent_t, end: musaEvent_t)
        => event::elapsed::<Musa>(ms, start.addr(), end.addr());

    /// The bytes by which another process of the same user opens an event, for as long as the event is there. It
    /// has to be made with `musaEventInterprocess | musaEventDisableTiming`.
    ///
    /// Errors: `musaErrorInvalidValue` for null or an event without those flags, `musaErrorContextIsDestroyed` for
    /// dead handles.
    call(unsafe) musaIpcGetEventHandle(handle: *mut musaIpcEventHandle_t, event: musaEvent_t)
        => event::ipc_handle::<Musa>(handle.cast(), event.addr());

    /// Opens an event of another process, as an event of the current device that keeps no times. Records of either
    /// process are waited for by both.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorDeviceUninitialized` for a handle of this process,
    /// `musaErrorContextIsDestroyed` when event or process are gone, or another user's.
    call(unsafe) musaIpcOpenEventHandle(event: *mut musaEvent_t, handle: musaIpcEventHandle_t)
        => event::ipc_open::<Musa, _>(event, handle.reserved);

    section "module and launch";

    /// Builds NUL-terminated OpenCL C text for the current device; others build it at first use.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorInvalidKernel` for text that does not compile,
    /// `musaErrorInvalidKernelImage` for what is no text or has no kernel.
    call(unsafe) musaModuleLoadData(module: *mut musaModule_t, image: *const c_void)
        => module::load_data::<Musa, _>(module, image);

    /// The same from a file.
    ///
    /// Errors: as `musaModuleLoadData`, and `musaErrorFileNotFound`.
    call(unsafe) musaModuleLoad(module: *mut musaModule_t, fname: *const c_char)
        => module::load::<Musa, _>(module, fname);

    /// Ends a module with its functions and symbols, after all work of the current device.
    ///
    /// Errors: `musaErrorContextIsDestroyed` for dead handles.
    call musaModuleUnload(module: musaModule_t) => module::unload::<Musa>(module.addr());

    /// A kernel of a module by its name.
    ///
    /// Errors: `musaErrorInvalidValue` for null or an empty name, `musaErrorSymbolNotFound`,
    /// `musaErrorContextIsDestroyed` for dead handles.
    call(unsafe) musaModuleGetFunction(function: *mut musaFunction_t, module: musaModule_t, name: *const c_char)
        => module::function::<Musa, _>(function, module.addr(), name);

    /// A symbol's address and size in bytes on the current device; one of the results may be null.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorSymbolNotFound`, `musaErrorContextIsDestroyed`.
    call(unsafe) musaModuleGetGlobal(
        dptr: *mut *mut c_void, bytes: *mut usize, module: musaModule_t, name: *const c_char,
    ) => module::global::<Musa>(dptr, bytes, module.addr(), name, false);

    /// Launches a kernel, by its handle or a registered address: `args[i]` points at the i-th value, `__local`
    /// parameters take none and share `sharedMem` bytes. Returns before it runs; the values are copied.
    ///
    /// Errors: `musaErrorInvalidDeviceFunction` for no function, `musaErrorInvalidConfiguration` and
    /// `musaErrorLaunchOutOfResources` for a shape that does not fit, `musaErrorInvalidValue` for arguments that do
    /// not. Nothing runs then.
    call(unsafe) musaLaunchKernel(
        func: *const c_void, gridDim: dim3, blockDim: dim3, args: *mut *mut c_void, sharedMem: usize,
        stream: musaStream_t,
    ) => launch::launch::<Musa>(func, gridDim, blockDim, args, sharedMem, stream.addr());

    /// Not supported: blocks of OpenCL cannot wait for each other. Its arguments are checked as those of
    /// `musaLaunchKernel`.
    ///
    /// Errors: as `musaLaunchKernel`, else `musaErrorNotSupported`.
    call(unsafe) musaLaunchCooperativeKernel(
        func: *const c_void, gridDim: dim3, blockDim: dim3, args: *mut *mut c_void, sharedMem: usize,
        stream: musaStream_t,
    ) => launch::cooperative::<Musa>(func, gridDim, blockDim, args, sharedMem, stream.addr());

    /// `musaLaunchKernel` with extents one by one. The values are given either by `kernelParams`, as by `args`, or by `extra`, a
    /// list of `MU_LAUNCH_PARAM_BUFFER_POINTER`, a buffer, `MU_LAUNCH_PARAM_BUFFER_SIZE`, the address of its size in
    /// bytes and `MU_LAUNCH_PARAM_END`: the buffer holds all values, each as aligned as its type.
    ///
    /// Errors: as `musaLaunchKernel`, and `musaErrorInvalidValue` for both or a list that makes no sense,
    /// `musaErrorNotSupported` for a buffer where structures leave open what lies where.
    call(unsafe) musaModuleLaunchKernel(
        f: musaFunction_t, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint,
        blockDimZ: c_uint, sharedMemBytes: c_uint, stream: musaStream_t, kernelParams: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) => launch::module_launch::<Musa>(
        f.addr(), [gridDimX, gridDimY, gridDimZ], [blockDimX, blockDimY, blockDimZ], sharedMemBytes, stream.addr(),
        kernelParams, extra, &EXTRA,
    );

    section "kernels";

    /// What a kernel is on the current device. OpenCL tells neither constant memory nor registers: they are 0.
    ///
    /// Errors: `musaErrorInvalidValue` for null, `musaErrorInvalidDeviceFunction` for no function.
    call(unsafe) musaFuncGetAttributes(attr: *mut musaFuncAttributes, func: *const c_void)
        => function::get_all::<Musa, _>(attr, func, func_attributes);

    /// Checks an attribute of a kernel, and has no effect: dynamic shared memory needs no leave up to the device's
    /// limit.
    ///
    /// Errors: `musaErrorInvalidDeviceFunction` for no function, `musaErrorInvalidValue` for an unknown attribute and
    /// a value outside of its range.
    call musaFuncSetAttribute(func: *const c_void, attr: musaFuncAttribute, value: c_int)
        => function::set::<Musa>(func, func_setting(attr), value);

    /// How many blocks of a kernel a compute unit runs at once, reckoned from threads and shared memory; 0 for a block
    /// that cannot be launched.
    ///
    /// Errors: `musaErrorInvalidValue` for null and an empty block, `musaErrorInvalidDeviceFunction` for no function.
    call(unsafe) musaOccupancyMaxActiveBlocksPerMultiprocessor(
        numBlocks: *mut c_int, func: *const c_void, blockSize: c_int, dynamicSMemSize: usize,
    ) => function::active_blocks::<Musa>(numBlocks, func, blockSize, dynamicSMemSize, (0, 0));

    /// The same; the flags are checked.
    ///
    /// Errors: as `musaOccupancyMaxActiveBlocksPerMultiprocessor`, and `musaErrorInvalidValue` for unknown flags.
    call(unsafe) musaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks: *mut c_int, func: *const c_void, blockSize: c_int, dynamicSMemSize: usize, flags: c_uint,
    ) => function::active_blocks::<Musa>(
        numBlocks, func, blockSize, dynamicSMemSize, (flags, musaOccupancyDisableCachingOverride),
    );

    /// The block size that keeps most threads of a compute unit busy, and the smallest grid that fills the device.
    ///
    /// Errors: `musaErrorInvalidValue` for null, a negative limit and more shared memory than a block may have,
    /// `musaErrorInvalidDeviceFunction` for no function.
    call(unsafe) musaOccupancyMaxPotentialBlockSize(
        minGridSize: *mut c_int, blockSize: *mut c_int, func: *const c_void, dynamicSMemSize: usize,
        blockSizeLimit: c_int,
    ) => function::best_block::<Musa>(minGridSize, blockSize, func, dynamicSMemSize, blockSizeLimit, (0, 0));

    /// The same; the flags are checked.
    ///
    /// Errors: as `musaOccupancyMaxPotentialBlockSize`, and `musaErrorInvalidValue` for unknown flags.
    call(unsafe) musaOccupancyMaxPotentialBlockSizeWithFlags(
        minGridSize: *mut c_int, blockSize: *mut c_int, func: *const c_void, dynamicSMemSize: usize,
        blockSizeLimit: c_int, flags: c_uint,
    ) => function::best_block::<Musa>(
        minGridSize, blockSize, func, dynamicSMemSize, blockSizeLimit, (flags, musaOccupancyDisableCachingOverride),
    );
}

fn func_attributes(of: Attributes) -> musaFuncAttributes {
    musaFuncAttributes {
        sharedSizeBytes: of.shared,
        constSizeBytes: 0,
        localSizeBytes: of.private,
        maxThreadsPerBlock: of.max_threads,
        numRegs: 0,
        ptxVersion: of.version,
        binaryVersion: of.version,
        cacheModeCA: 0,
        maxDynamicSharedSizeBytes: of.max_dynamic_shared,
        preferredShmemCarveout: -1,
    }
}

fn func_setting(attribute: musaFuncAttribute) -> Option<Setting> {
    match attribute {
        musaFuncAttributeMaxDynamicSharedMemorySize => Some(Setting::DynamicShared),
        musaFuncAttributePreferredSharedMemoryCarveout => Some(Setting::Carveout),
        _ => None,
    }
}
