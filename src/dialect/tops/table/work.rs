//! The functions of the TOPS dialect for streams, events, modules and launches.

#![allow(non_snake_case, non_upper_case_globals, reason = "the names are the vendor's")]

use super::super::steps;
use super::super::*;
use super::memory::check_link;
use crate::dialect::call::function::Attributes;
use crate::dialect::call::{event, function, launch, module, refused, stream};
use crate::dialect::runtime_api;
use std::ffi::{c_char, c_int, c_uint, c_void};

const STREAM: c_uint = topsStreamNonBlocking | topsStreamNonMerging;
const RELEASE: c_uint = topsEventReleaseToDevice | topsEventReleaseToSystem;
const EVENT: c_uint = topsEventBlockingSync
    | topsEventDisableTiming
    | topsEventInterprocess
    | topsEventRecordOnce
    | topsEventStrongOrder
    | topsEventDisableQueryAndSync
    | RELEASE;

const EXTRA: launch::ExtraKeys = launch::ExtraKeys {
    buffer: TOPS_LAUNCH_PARAM_BUFFER_POINTER,
    size: TOPS_LAUNCH_PARAM_BUFFER_SIZE,
    end: TOPS_LAUNCH_PARAM_END,
};

runtime_api! {
    dialect Tops, code topsError_t;

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

    /// The same over a link of the program's choice, which OpenCL does not let one choose. Any port will do.
    ///
    /// Errors: as `topsIpcOpenEventHandle`, and `topsErrorInvalidValue` for an unknown link.
    call(unsafe) topsIpcOpenEventHandleExt(
        event: *mut topsEvent_t, handle: topsIpcEventHandle_t, map: topsTopologyMapType, port: c_int,
    ) => check_link(map).and_then(|()| event::ipc_open::<Tops, _>(event, handle.reserved));

    section "module and launch";

    /// Builds NUL-terminated OpenCL C text for the current device; others build it at first use.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorInvalidSource` for text that does not compile,
    /// `topsErrorInvalidImage` for what is no text or has no kernel.
    call(unsafe) topsModuleLoadData(module: *mut topsModule_t, image: *const c_void)
        => module::load_data::<Tops, _>(module, image);

    /// The same with options for the vendor's compiler, which are not used.
    ///
    /// Errors: as `topsModuleLoadData`, and `topsErrorInvalidValue` for options that are null.
    call(unsafe) topsModuleLoadDataEx(
        module: *mut topsModule_t, image: *const c_void, numOptions: c_uint, options: *mut topsJitOption,
        optionValues: *mut *mut c_void,
    ) => function::check_options(numOptions, !options.is_null(), !optionValues.is_null())
        .and_then(|()| module::load_data::<Tops, _>(module, image));

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

    /// Not supported: blocks of OpenCL cannot wait for each other. Its arguments are checked as those of
    /// `topsLaunchKernel`.
    ///
    /// Errors: as `topsLaunchKernel`, else `topsErrorNotSupported`.
    call(unsafe) topsLaunchCooperativeKernel(
        f: *const c_void, gridDim: dim3, blockDimX: dim3, kernelParams: *mut *mut c_void, sharedMemBytes: c_uint,
        stream: topsStream_t,
    ) => launch::cooperative::<Tops>(f, gridDim, blockDimX, kernelParams, sharedMemBytes as usize, stream.addr());

    /// `topsLaunchKernel` with extents one by one. The values are given either by `kernelParams`, as by `args`, or by `extra`, a
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

    /// Configures the calling thread's next launch: the first step of three that compilers make of chevrons. Configurations
    /// of a thread are a stack, and nothing is looked at before the launch.
    ///
    /// Errors: none of its own.
    call topsConfigureCall(gridDim: dim3, blockDim: dim3, sharedMem: usize, stream: topsStream_t)
        => steps::push(gridDim, blockDim, sharedMem, stream.addr());

    /// Copies an argument of the thread's latest configuration: `size` bytes, at `offset` in the block of all arguments.
    /// Their order in it is that of the parameters; `__local` ones take none. The same place again takes another value.
    ///
    /// Errors: `topsErrorMissingConfiguration`; `topsErrorInvalidValue` for null, no bytes, and a place that reaches
    /// into another argument's or beyond 64 KiB.
    call(unsafe) topsSetupArgument(arg: *const c_void, size: usize, offset: usize) => steps::set_up(arg, size, offset);

    /// Launches a kernel, by its handle or a registered address, with the thread's latest configuration, which is used up
    /// then, also when the launch is refused. Returns before it runs.
    ///
    /// Errors: as `topsLaunchKernel`, and `topsErrorMissingConfiguration`.
    call(unsafe) topsLaunchByPtr(func: *const c_void) => steps::launch(func);

    /// What compilers put before a function that stands for a kernel: `topsConfigureCall` by another name.
    ///
    /// Errors: none of its own.
    call __topsPushCallConfiguration(gridDim: dim3, blockDim: dim3, sharedMem: usize, stream: topsStream_t)
        => steps::push(gridDim, blockDim, sharedMem, stream.addr());

    /// Takes the thread's latest configuration back, as such functions do before they call `topsLaunchKernel`.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorMissingConfiguration`.
    call(unsafe) __topsPopCallConfiguration(
        gridDim: *mut dim3, blockDim: *mut dim3, sharedMem: *mut usize, stream: *mut topsStream_t,
    ) => steps::pop(gridDim, blockDim, sharedMem, stream);

    section "kernels";

    /// What a kernel is on the current device. OpenCL tells neither constant memory nor registers: they are 0.
    ///
    /// Errors: `topsErrorInvalidValue` for null, `topsErrorInvalidDeviceFunction` for no function.
    call(unsafe) topsFuncGetAttributes(attr: *mut topsFuncAttributes, func: *const c_void)
        => function::get_all::<Tops, _>(attr, func, func_attributes);

    /// One number of what `topsFuncGetAttributes` tells.
    ///
    /// Errors: `topsErrorInvalidValue` for null and an unknown attribute, `topsErrorInvalidHandle` for no function.
    call(unsafe) topsFuncGetAttribute(value: *mut c_int, attrib: topsFunction_attribute, hfunc: topsFunction_t)
        => function::get::<Tops>(value, attrib.0 as c_int, hfunc.addr(), func_attribute);
}

fn func_attributes(of: Attributes) -> topsFuncAttributes {
    topsFuncAttributes {
        binaryVersion: of.version,
        cacheModeCA: 0,
        constSizeBytes: 0,
        localSizeBytes: of.private,
        maxDynamicSharedSizeBytes: of.max_dynamic_shared,
        maxThreadsPerBlock: of.max_threads,
        numRegs: 0,
        preferredShmemCarveout: -1,
        ptxVersion: of.version,
        sharedSizeBytes: of.shared,
    }
}

fn func_attribute(of: Attributes, attribute: c_int) -> Option<c_int> {
    let small = |bytes: usize| c_int::try_from(bytes).unwrap_or(c_int::MAX);
    Some(match topsFunction_attribute(attribute as _) {
        TOPS_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => of.max_threads,
        TOPS_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => small(of.shared),
        TOPS_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => small(of.private),
        TOPS_FUNC_ATTRIBUTE_CONST_SIZE_BYTES | TOPS_FUNC_ATTRIBUTE_NUM_REGS | TOPS_FUNC_ATTRIBUTE_CACHE_MODE_CA => 0,
        TOPS_FUNC_ATTRIBUTE_PTX_VERSION | TOPS_FUNC_ATTRIBUTE_BINARY_VERSION => of.version,
        TOPS_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => of.max_dynamic_shared,
        TOPS_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => -1,
        _ => return None,
    })
}
