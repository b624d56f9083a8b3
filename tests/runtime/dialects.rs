//! The calls that both dialects have, under names without a prefix, so that a test is written once and run for both.

/// Runs each test once for MUSA and once for TOPS: within it `malloc` is `musaMalloc` and `topsMalloc` in turn.
macro_rules! both_dialects {
    ($($(#[$meta:meta])* fn $name:ident() $body:block)+) => {
        mod musa {
            #[allow(unused_imports)]
            use crate::dialects::musa::*;
            #[allow(unused_imports)]
            use super::*;
            $($(#[$meta])* #[test] fn $name() $body)+
        }
        mod tops {
            #[allow(unused_imports)]
            use crate::dialects::tops::*;
            #[allow(unused_imports)]
            use super::*;
            $($(#[$meta])* #[test] fn $name() $body)+
        }
    };
}

macro_rules! shared_calls {
    ($prefix:ident) => {
        pastey::paste! {
            pub use gridcl::$prefix::{
                [<$prefix DeviceReset>] as device_reset, [<$prefix DeviceSynchronize>] as device_synchronize,
                [<$prefix DeviceCanAccessPeer>] as device_can_access_peer,
                [<$prefix DeviceEnablePeerAccess>] as device_enable_peer_access,
                [<$prefix MemcpyPeer>] as memcpy_peer, [<$prefix MemcpyPeerAsync>] as memcpy_peer_async,
                [<$prefix ErrorPeerAccessUnsupported>] as PEER_ACCESS_UNSUPPORTED,
                [<$prefix DeviceScheduleBlockingSync>] as SCHEDULE_BLOCKING_SYNC,
                [<$prefix DeviceScheduleSpin>] as SCHEDULE_SPIN, [<$prefix DeviceScheduleYield>] as SCHEDULE_YIELD,
                [<$prefix SetDeviceFlags>] as set_device_flags,
                [<$prefix EventCreate>] as event_create, [<$prefix EventCreateWithFlags>] as event_create_with_flags,
                [<$prefix EventDestroy>] as event_destroy, [<$prefix EventElapsedTime>] as event_elapsed_time,
                [<$prefix EventQuery>] as event_query, [<$prefix EventRecord>] as event_record,
                [<$prefix EventSynchronize>] as event_synchronize, [<$prefix Free>] as free,
                [<$prefix GetDevice>] as get_device, [<$prefix GetDeviceCount>] as get_device_count,
                [<$prefix GetDeviceProperties>] as get_device_properties,
                [<$prefix GetErrorString>] as get_error_string, [<$prefix GetLastError>] as get_last_error,
                [<$prefix GetSymbolAddress>] as get_symbol_address, [<$prefix GetSymbolSize>] as get_symbol_size,
                [<$prefix HostGetDevicePointer>] as host_get_device_pointer,
                [<$prefix HostGetFlags>] as host_get_flags, [<$prefix HostRegister>] as host_register,
                [<$prefix HostUnregister>] as host_unregister,
                [<$prefix IpcGetEventHandle>] as ipc_get_event_handle,
                [<$prefix IpcOpenEventHandle>] as ipc_open_event_handle,
                [<$prefix FuncGetAttributes>] as func_get_attributes, [<$prefix FuncAttributes>] as FuncAttributes,
                [<$prefix LaunchCooperativeKernel>] as launch_cooperative_kernel,
                [<$prefix LaunchKernel>] as launch_kernel,
                [<$prefix Malloc>] as malloc, [<$prefix MemGetInfo>] as mem_get_info, [<$prefix Memcpy>] as memcpy,
                [<$prefix MemcpyAsync>] as memcpy_async, [<$prefix MemcpyFromSymbol>] as memcpy_from_symbol,
                [<$prefix MemcpyToSymbol>] as memcpy_to_symbol, [<$prefix Memset>] as memset,
                [<$prefix MemsetAsync>] as memset_async, [<$prefix ModuleGetFunction>] as module_get_function,
                [<$prefix ModuleGetGlobal>] as module_get_global,
                [<$prefix ModuleLaunchKernel>] as module_launch_kernel, [<$prefix ModuleLoad>] as module_load,
                [<$prefix ModuleLoadData>] as module_load_data, [<$prefix ModuleUnload>] as module_unload,
                [<$prefix IpcGetMemHandle>] as ipc_get_mem_handle,
                [<$prefix IpcOpenMemHandle>] as ipc_open_mem_handle,
                [<$prefix IpcCloseMemHandle>] as ipc_close_mem_handle, [<$prefix IpcMemHandle_t>] as IpcMemHandle,
                [<$prefix MemcpyFromSymbolAsync>] as memcpy_from_symbol_async,
                [<$prefix MemcpyToSymbolAsync>] as memcpy_to_symbol_async,
                [<$prefix DeviceGetMemPool>] as device_get_mem_pool, [<$prefix FreeAsync>] as free_async,
                [<$prefix MallocFromPoolAsync>] as malloc_from_pool_async,
                [<$prefix MemPoolCreate>] as mem_pool_create, [<$prefix MemPoolDestroy>] as mem_pool_destroy,
                [<$prefix MemPoolGetAttribute>] as mem_pool_get_attribute,
                [<$prefix MemPoolSetAttribute>] as mem_pool_set_attribute,
                [<$prefix MemPoolTrimTo>] as mem_pool_trim_to, [<$prefix MemPoolAttr>] as PoolAttribute,
                [<$prefix MemPoolProps>] as PoolProps, [<$prefix MemPool_t>] as Pool,
                [<$prefix MemLocation>] as Location, [<$prefix MemLocationType>] as LocationType,
                [<$prefix MemAllocationType>] as AllocationType,
                [<$prefix MemAllocationHandleType>] as AllocationHandleType,
                [<$prefix PointerGetAttribute>] as pointer_get_attribute,
                [<$prefix Pointer_attribute>] as PointerAttribute,
                [<$prefix PeekAtLastError>] as peek_at_last_error, [<$prefix SetDevice>] as set_device,
                [<$prefix StreamAddCallback>] as stream_add_callback, [<$prefix StreamCreate>] as stream_create,
                [<$prefix StreamCreateWithFlags>] as stream_create_with_flags,
                [<$prefix StreamDestroy>] as stream_destroy, [<$prefix StreamQuery>] as stream_query,
                [<$prefix StreamSynchronize>] as stream_synchronize,
                [<$prefix StreamWaitEvent>] as stream_wait_event, dim3,
                // Types.
                [<$prefix Error_t>] as Code, [<$prefix Event_t>] as Event, [<$prefix Function_t>] as Function,
                [<$prefix IpcEventHandle_t>] as IpcEventHandle,
                [<$prefix MemcpyKind>] as Kind, [<$prefix Module_t>] as Module, [<$prefix Stream_t>] as Stream,
                // Constants.
                [<$prefix ErrorFileNotFound>] as FILE_NOT_FOUND,
                [<$prefix ErrorHostMemoryAlreadyRegistered>] as HOST_MEMORY_ALREADY_REGISTERED,
                [<$prefix ErrorHostMemoryNotRegistered>] as HOST_MEMORY_NOT_REGISTERED,
                [<$prefix ErrorInvalidConfiguration>] as INVALID_CONFIGURATION,
                [<$prefix ErrorInvalidDevice>] as INVALID_DEVICE,
                [<$prefix ErrorInvalidDeviceFunction>] as INVALID_DEVICE_FUNCTION,
                [<$prefix ErrorInvalidMemcpyDirection>] as INVALID_MEMCPY_DIRECTION,
                [<$prefix ErrorInvalidSymbol>] as INVALID_SYMBOL, [<$prefix ErrorInvalidValue>] as INVALID_VALUE,
                [<$prefix ErrorLaunchOutOfResources>] as LAUNCH_OUT_OF_RESOURCES,
                [<$prefix ErrorNotReady>] as NOT_READY, [<$prefix ErrorNotSupported>] as NOT_SUPPORTED,
                [<$prefix ErrorNotInitialized>] as NOT_INITIALIZED, [<$prefix ErrorOutOfMemory>] as OUT_OF_MEMORY,
                [<$prefix EventBlockingSync>] as EVENT_BLOCKING_SYNC,
                [<$prefix EventDisableTiming>] as EVENT_DISABLE_TIMING,
                [<$prefix EventInterprocess>] as EVENT_INTERPROCESS, [<$prefix MemcpyDefault>] as DEFAULT,
                [<$prefix MemcpyDeviceToDevice>] as DEVICE_TO_DEVICE,
                [<$prefix MemcpyDeviceToHost>] as DEVICE_TO_HOST, [<$prefix MemcpyHostToDevice>] as HOST_TO_DEVICE,
                [<$prefix MemcpyHostToHost>] as HOST_TO_HOST, [<$prefix StreamNonBlocking>] as NON_BLOCKING,
                [<$prefix StreamPerThread>] as PER_THREAD, [<$prefix Success>] as SUCCESS,
            };
        }
        pub use crate::work::$prefix as work;
        use std::ffi::{c_char, c_int, c_uint, c_void};
        /// The default stream.
        pub const LEGACY: Stream = std::ptr::null_mut();
    };
}

/// MUSA under the shared names.
#[allow(unused_imports, dead_code)]
pub mod musa {
    shared_calls!(musa);
    use gridcl::musa::*;

    pub const NAME: &str = "musa";
    pub const NO_DEVICE: Code = musaErrorDevicesUnavailable;
    pub const NOT_PERMITTED: Code = musaErrorNotPermitted;
    pub const INVALID_HANDLE: Code = musaErrorContextIsDestroyed;
    pub const INVALID_CONTEXT: Code = musaErrorDeviceUninitialized;
    pub const INVALID_DEVICE_POINTER: Code = musaErrorInvalidValue;
    pub const BUILD_FAILED: Code = musaErrorInvalidKernel;
    pub const INVALID_IMAGE: Code = musaErrorInvalidKernelImage;
    pub const NOT_FOUND: Code = musaErrorSymbolNotFound;
    pub const EXTRA_END: *mut c_void = MU_LAUNCH_PARAM_END;

    /// Type, device, address for kernels and address for the host.
    pub fn pointer_attributes(pointer: *const c_void) -> (Code, [i32; 2], [usize; 2]) {
        let mut all = musaPointerAttributes { device: 77, ..Default::default() };
        let code = unsafe { musaPointerGetAttributes(&mut all, pointer) };
        (code, [all.r#type.0, all.device], [all.devicePointer.addr(), all.hostPointer.addr()])
    }
    pub unsafe fn malloc_async(pointer: *mut *mut c_void, bytes: usize, stream: Stream) -> Code {
        unsafe { musaMallocAsync(pointer, bytes, stream) }
    }
    pub unsafe fn host_malloc(pointer: *mut *mut c_void, bytes: usize) -> Code {
        unsafe { musaMallocHost(pointer, bytes) }
    }
    pub unsafe fn host_malloc_with_flags(pointer: *mut *mut c_void, bytes: usize, flags: c_uint) -> Code {
        unsafe { musaHostAlloc(pointer, bytes, flags) }
    }
    pub fn host_free(pointer: *mut c_void) -> Code {
        musaFreeHost(pointer)
    }
}

/// TOPS under the shared names.
#[allow(unused_imports, dead_code)]
pub mod tops {
    shared_calls!(tops);
    use gridcl::tops::*;

    pub const NAME: &str = "tops";
    pub const NO_DEVICE: Code = topsErrorNoDevice;
    pub const NOT_PERMITTED: Code = topsErrorNotSupported;
    pub const INVALID_HANDLE: Code = topsErrorInvalidHandle;
    pub const INVALID_CONTEXT: Code = topsErrorInvalidContext;
    pub const INVALID_DEVICE_POINTER: Code = topsErrorInvalidDevicePointer;
    pub const BUILD_FAILED: Code = topsErrorInvalidSource;
    pub const INVALID_IMAGE: Code = topsErrorInvalidImage;
    pub const NOT_FOUND: Code = topsErrorNotFound;
    pub const EXTRA_END: *mut c_void = TOPS_LAUNCH_PARAM_END;

    /// Type, device, address for kernels and address for the host.
    pub fn pointer_attributes(pointer: *const c_void) -> (Code, [i32; 2], [usize; 2]) {
        let mut all = topsPointerAttribute_t { device: 77, ..Default::default() };
        let code = unsafe { topsPointerGetAttributes(&mut all, pointer) };
        (code, [all.memoryType.0, all.device], [all.device_pointer.addr(), all.host_pointer.addr()])
    }
    pub unsafe fn malloc_async(pointer: *mut *mut c_void, bytes: usize, stream: Stream) -> Code {
        unsafe { topsMallocAsync(pointer, bytes, stream, 0) }
    }
    pub unsafe fn host_malloc(pointer: *mut *mut c_void, bytes: usize) -> Code {
        unsafe { topsHostMalloc(pointer, bytes, topsHostMallocDefault) }
    }
    pub unsafe fn host_malloc_with_flags(pointer: *mut *mut c_void, bytes: usize, flags: c_uint) -> Code {
        unsafe { topsHostMalloc(pointer, bytes, flags) }
    }
    pub fn host_free(pointer: *mut c_void) -> Code {
        topsHostFree(pointer)
    }
}
