/**
 * The MUSA Runtime API of gridcl, on any OpenCL device.
 *
 * Link with libgridcl.so (pkg-config gridcl). Kernels are OpenCL C, loaded with musaModuleLoadData.
 *
 * Printed from gridcl's own tables (GRIDCL_BLESS=1 cargo test --test documents): do not edit, it will be printed again.
 */
#ifndef GRIDCL_MUSA_RUNTIME_H
#define GRIDCL_MUSA_RUNTIME_H

#include "gridcl.h"

/** How the runtime calls back: as C functions are called. */
#define MUSART_CB

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Codes */

/** What every MUSA call answers. */
typedef enum musaError_t {
    musaSuccess = 0, /**< no error. */
    musaErrorInvalidValue = 1, /**< an argument is outside of what the call accepts. */
    musaErrorOutOfMemory = 2, /**< out of memory. */
    musaErrorNotInitialized = 3, /**< the runtime cannot be used here. */
    musaErrorMusartUnloading = 4, /**< the process is ending. */
    musaErrorProfilerDisabled = 5, /**< the profiler is off. */
    musaErrorProfilerNotInitialized = 6, /**< the profiler was not started. */
    musaErrorProfilerAlreadyStarted = 7, /**< the profiler runs already. */
    musaErrorProfilerAlreadyStopped = 8, /**< the profiler was stopped already. */
    musaErrorInvalidConfiguration = 9, /**< the launch shape is beyond what the device can do. */
    musaErrorInvalidPitchValue = 12, /**< the pitch does not fit the row. */
    musaErrorInvalidSymbol = 13, /**< no such symbol. */
    musaErrorInvalidHostPointer = 16, /**< not a host pointer. */
    musaErrorInvalidDevicePointer = 17, /**< not a device pointer. */
    musaErrorInvalidTexture = 18, /**< not a texture. */
    musaErrorInvalidTextureBinding = 19, /**< the texture is not bound. */
    musaErrorInvalidChannelDescriptor = 20, /**< no such element format. */
    musaErrorInvalidMemcpyDirection = 21, /**< no such copy direction. */
    musaErrorAddressOfConstant = 22, /**< a constant has no address. */
    musaErrorTextureFetchFailed = 23, /**< the texture could not be read. */
    musaErrorTextureNotBound = 24, /**< the texture was not bound for reading. */
    musaErrorSynchronizationError = 25, /**< the wait failed. */
    musaErrorInvalidFilterSetting = 26, /**< the texture cannot be filtered that way. */
    musaErrorInvalidNormSetting = 27, /**< the texture cannot be read as normalised numbers. */
    musaErrorMixedDeviceExecution = 28, /**< device and emulation code do not mix. */
    musaErrorNotYetImplemented = 31, /**< not written yet. */
    musaErrorMemoryValueTooLarge = 32, /**< the emulated address is too large. */
    musaErrorStubLibrary = 34, /**< the driver is a stub. */
    musaErrorInsufficientDriver = 35, /**< the driver is older than the runtime. */
    musaErrorCallRequiresNewerDriver = 36, /**< the call needs a newer driver. */
    musaErrorInvalidSurface = 37, /**< not a surface. */
    musaErrorDuplicateVariableName = 43, /**< two variables have that name. */
    musaErrorDuplicateTextureName = 44, /**< two textures have that name. */
    musaErrorDuplicateSurfaceName = 45, /**< two surfaces have that name. */
    musaErrorDevicesUnavailable = 46, /**< no device can be used. */
    musaErrorIncompatibleDriverContext = 49, /**< the driver's context does not suit the runtime. */
    musaErrorMissingConfiguration = 52, /**< the launch was not configured. */
    musaErrorPriorLaunchFailure = 53, /**< an earlier launch failed. */
    musaErrorLaunchMaxDepthExceeded = 65, /**< kernels launch kernels too deep. */
    musaErrorLaunchFileScopedTex = 66, /**< a kernel launched by a kernel uses a texture of its file. */
    musaErrorLaunchFileScopedSurf = 67, /**< a kernel launched by a kernel uses a surface of its file. */
    musaErrorSyncDepthExceeded = 68, /**< kernels wait for kernels too deep. */
    musaErrorLaunchPendingCountExceeded = 69, /**< too many launches of kernels by kernels are pending. */
    musaErrorInvalidDeviceFunction = 98, /**< not a kernel. */
    musaErrorInvalidDevice = 100, /**< no such device. */
    musaErrorDeviceNotLicensed = 102, /**< the device has no licence. */
    musaErrorSoftwareValidityNotEstablished = 103, /**< runtime and driver could not be verified. */
    musaErrorStartupFailure = 127, /**< the runtime could not start. */
    musaErrorInvalidKernelImage = 200, /**< neither kernel text nor a program of this runtime. */
    musaErrorDeviceUninitialized = 201, /**< no context, or the wrong one. */
    musaErrorMapBufferObjectFailed = 205, /**< the buffer could not be mapped. */
    musaErrorUnmapBufferObjectFailed = 206, /**< the buffer could not be unmapped. */
    musaErrorArrayIsMapped = 207, /**< the array is mapped. */
    musaErrorAlreadyMapped = 208, /**< mapped already. */
    musaErrorNoKernelImageForDevice = 209, /**< the program was not built for this device. */
    musaErrorAlreadyAcquired = 210, /**< acquired already. */
    musaErrorNotMapped = 211, /**< not mapped. */
    musaErrorNotMappedAsArray = 212, /**< not mapped as an array. */
    musaErrorNotMappedAsPointer = 213, /**< not mapped as a pointer. */
    musaErrorECCUncorrectable = 214, /**< a memory error could not be corrected. */
    musaErrorUnsupportedLimit = 215, /**< the device has no such limit. */
    musaErrorDeviceAlreadyInUse = 216, /**< another thread has the device for itself. */
    musaErrorPeerAccessUnsupported = 217, /**< the device cannot use memory of the other. */
    musaErrorInvalidPtx = 218, /**< the intermediate code does not compile. */
    musaErrorInvalidGraphicsContext = 219, /**< the graphics context is not valid. */
    musaErrorMtlinkUncorrectable = 220, /**< a link error could not be corrected. */
    musaErrorJitCompilerNotFound = 221, /**< there is no compiler. */
    musaErrorUnsupportedPtxVersion = 222, /**< the compiler is too old for the intermediate code. */
    musaErrorJitCompilationDisabled = 223, /**< compilation is switched off. */
    musaErrorUnsupportedExecAffinity = 224, /**< the device has no such affinity. */
    musaErrorInvalidKernel = 300, /**< the kernel text does not compile. */
    musaErrorFileNotFound = 301, /**< the file cannot be read. */
    musaErrorSharedObjectSymbolNotFound = 302, /**< a shared object lacks a symbol. */
    musaErrorSharedObjectInitFailed = 303, /**< a shared object could not start. */
    musaErrorOperatingSystem = 304, /**< a call to the operating system failed. */
    musaErrorLaunchFailure = 400, /**< the device failed while it ran a command. */
    musaErrorIllegalState = 401, /**< the object is in no state for that. */
    musaErrorLaunchTimeout = 408, /**< the device stopped a kernel that ran for too long. */
    musaErrorSymbolNotFound = 500, /**< nothing has that name. */
    musaErrorNotReady = 600, /**< the work is still going on. */
    musaErrorIllegalAddress = 700, /**< a kernel touched memory that it may not touch. */
    musaErrorLaunchOutOfResources = 701, /**< the kernel needs more than the launch shape leaves. */
    musaErrorLaunchIncompatibleTexturing = 703, /**< the kernel's texturing does not fit. */
    musaErrorPeerAccessAlreadyEnabled = 704, /**< peer access is on already. */
    musaErrorPeerAccessNotEnabled = 705, /**< peer access is not on. */
    musaErrorSetOnActiveProcess = 708, /**< the device is in use and cannot be changed. */
    musaErrorContextIsDestroyed = 709, /**< the handle is dead or foreign. */
    musaErrorAssert = 710, /**< an assertion in a kernel failed. */
    musaErrorTooManyPeers = 711, /**< no more devices can share memory. */
    musaErrorHostMemoryAlreadyRegistered = 712, /**< the host memory is registered already. */
    musaErrorHostMemoryNotRegistered = 713, /**< the host memory is not registered. */
    musaErrorHardwareStackError = 714, /**< a kernel broke its call stack. */
    musaErrorIllegalInstruction = 715, /**< a kernel ran into an instruction that is none. */
    musaErrorMisalignedAddress = 716, /**< a kernel used an address that is not aligned. */
    musaErrorInvalidAddressSpace = 717, /**< a kernel used an address of the wrong space. */
    musaErrorInvalidPc = 718, /**< a kernel left its code. */
    musaErrorCooperativeLaunchTooLarge = 720, /**< the cooperative launch does not fit at once. */
    musaErrorNotPermitted = 800, /**< not allowed here. */
    musaErrorNotSupported = 801, /**< not supported. */
    musaErrorSystemNotReady = 802, /**< the system is not ready. */
    musaErrorSystemDriverMismatch = 803, /**< the drivers do not go together. */
    musaErrorCompatNotSupportedOnDevice = 804, /**< the device cannot run in compatibility mode. */
    musaErrorMpsConnectionFailed = 805, /**< the process server cannot be reached. */
    musaErrorMpsRpcFailure = 806, /**< the process server did not answer. */
    musaErrorMpsServerNotReady = 807, /**< the process server is not ready. */
    musaErrorMpsMaxClientsReached = 808, /**< the process server has no room for a client. */
    musaErrorMpsMaxConnectionsReached = 809, /**< the process server has no connection left. */
    musaErrorStreamCaptureUnsupported = 900, /**< not possible while the stream is captured. */
    musaErrorStreamCaptureInvalidated = 901, /**< an earlier error ended the capture. */
    musaErrorStreamCaptureMerge = 902, /**< two captures would become one. */
    musaErrorStreamCaptureUnmatched = 903, /**< the capture began in another stream. */
    musaErrorStreamCaptureUnjoined = 904, /**< a branch of the capture was not joined. */
    musaErrorStreamCaptureIsolation = 905, /**< the capture would depend on what lies outside. */
    musaErrorStreamCaptureImplicit = 906, /**< the default stream would depend on the capture. */
    musaErrorCapturedEvent = 907, /**< the event belongs to a capture. */
    musaErrorStreamCaptureWrongThread = 908, /**< another thread began the capture. */
    musaErrorTimeout = 909, /**< the wait took too long. */
    musaErrorGraphExecUpdateFailure = 910, /**< the graph cannot be changed that way. */
    musaErrorExternalDevice = 911, /**< a device outside of the runtime failed. */
    musaErrorInvalidClusterSize = 912, /**< the cluster does not fit the launch. */
    musaErrorUnknown = 999, /**< unknown error. */
    musaErrorApiFailureBase = 10000, /**< a driver error without a name. */
    musaErrorMemoryAllocation = musaErrorOutOfMemory, /**< 2, as the vendor's header spells it. */
    musaErrorInitializationError = musaErrorNotInitialized, /**< 3, as the vendor's header spells it. */
} musaError_t;

/* ---- Mapping */

/* ---- Handles */

/** A stream: work that runs in order. Null is the default stream of the current device. */
typedef struct musaStream_st* musaStream_t;

/** An event: a point in a stream that can be waited for and timed. */
typedef struct musaEvent_st* musaEvent_t;

/** A module: kernels and symbols that were loaded together. */
typedef struct musaModule_st* musaModule_t;

/** A function: one kernel of a module. */
typedef struct musaFunction_st* musaFunction_t;

/** An array: an image of one, two or three dimensions. */
typedef struct musaArray* musaArray_t;

/** A memory pool: what stream-ordered allocations are taken from. */
typedef struct musaMemPoolHandle_st* musaMemPool_t;

/** An array that is only read. */
typedef const struct musaArray* musaArray_const_t;

/* ---- Callbacks */

/** Called in stream order with the stream, the state it is in, and what the program passed along. */
typedef void (*musaStreamCallback_t)(musaStream_t stream, musaError_t status, void* userData);

/** Called in stream order with what the program passed along. */
typedef void (*musaHostFn_t)(void* userData);

/* ---- Streams */

/** The default stream, which waits for every blocking stream of its device and is waited for by each. */
#define musaStreamLegacy ((musaStream_t)0x1)

/** The calling thread's own default stream. */
#define musaStreamPerThread ((musaStream_t)0x2)

/** Flags of musaStreamCreateWithFlags and musaStreamCreateWithPriority. */
#define musaStreamDefault 0x0 /**< Ordered with the default stream. */
#define musaStreamNonBlocking 0x1 /**< Not ordered with the default stream. */

/* ---- Events */

/** Flags of musaEventCreateWithFlags. */
#define musaEventDefault 0x0 /**< Timed, and waited for by spinning. */
#define musaEventBlockingSync 0x1 /**< A thread that waits for the event sleeps. */
#define musaEventDisableTiming 0x2 /**< Takes no time; cheaper, and no use to musaEventElapsedTime. */
#define musaEventInterprocess 0x4 /**< May be opened by another process; goes with musaEventDisableTiming only. */

/** Flags of musaEventRecordWithFlags. */
#define musaEventRecordDefault 0x0 /**< A plain record. */
#define musaEventRecordExternal 0x1 /**< A record that a captured graph shows to the outside; the same as a plain one elsewhere. */

/** Flags of musaStreamWaitEvent. */
#define musaEventWaitDefault 0x0 /**< A plain wait. */
#define musaEventWaitExternal 0x1 /**< A wait for an event from outside of a captured graph. */

/* ---- Other processes */

/** Bytes of an interprocess handle. */
#define MUSA_IPC_HANDLE_SIZE 64

/** What another process needs to open an event; may be copied there by any means. */
typedef struct musaIpcEventHandle_t {
    char reserved[MUSA_IPC_HANDLE_SIZE]; /**< The runtime's own. */
} musaIpcEventHandle_t;

/** What another process needs to open device memory. */
typedef struct musaIpcMemHandle_t {
    char reserved[MUSA_IPC_HANDLE_SIZE]; /**< The runtime's own. */
} musaIpcMemHandle_t;

/** Flags of musaIpcOpenMemHandle. */
#define musaIpcMemLazyEnablePeerAccess 0x1 /**< Peer access is switched on where opening needs it. */

/* ---- Device ordinals */

/** The host, where a call takes a device. */
#define musaCpuDeviceId (-1)

/** No device. */
#define musaInvalidDeviceId (-2)

/* ---- Identity */

/** A device's identity, the same in every process. */
typedef struct musaUUID {
    unsigned char bytes[16]; /**< Sixteen bytes in the order in which they are printed. */
} musaUUID;

/** musaUUID, as the vendor's header spells it. */
typedef musaUUID musaUUID_t;

/** musaUUID, as the vendor's guide spells it. */
typedef musaUUID musaUuid_t;

/* ---- Use */

/** Flags of musaSetDeviceFlags. */
#define musaDeviceScheduleAuto 0x0 /**< The runtime chooses how a thread waits. */
#define musaDeviceScheduleSpin 0x1 /**< A waiting thread spins. */
#define musaDeviceScheduleYield 0x2 /**< A waiting thread lets others run. */
#define musaDeviceScheduleBlockingSync 0x4 /**< A waiting thread sleeps. */
#define musaDeviceScheduleMask 0x7 /**< The bits that say how a thread waits. */
#define musaDeviceMapHost 0x8 /**< Page-locked memory is mapped. */
#define musaDeviceLmemResizeToMax 0x10 /**< Private memory keeps its largest size. */
#define musaDeviceMask 0x1f /**< All bits. */

/** Flags of musaDeviceEnablePeerAccess. */
#define musaPeerAccessDefault 0x0 /**< The only value there is. */

/** Who may use a device. */
typedef enum musaComputeMode {
    musaComputeModeDefault = 0, /**< Every thread of every process. */
    musaComputeModeExclusive = 1, /**< One thread. */
    musaComputeModeProhibited = 2, /**< Nobody. */
    musaComputeModeExclusiveProcess = 3, /**< One process. */
} musaComputeMode;

/** What musaDeviceGetLimit and musaDeviceSetLimit know. */
typedef enum musaLimit {
    musaLimitStackSize = 0, /**< Bytes of a thread's stack. */
    musaLimitPrintfFifoSize = 1, /**< Bytes that kernels can print between two synchronisations. */
    musaLimitMallocHeapSize = 2, /**< Bytes that kernels can allocate. */
    musaLimitDevRuntimeSyncDepth = 3, /**< How deep kernels may wait for kernels. */
    musaLimitDevRuntimePendingLaunchCount = 4, /**< How many launches of kernels by kernels may be pending. */
    musaLimitMaxL2FetchGranularity = 5, /**< Bytes that the second-level cache fetches at once, from 0 to 128. */
    musaLimitPersistingL2CacheSize = 6, /**< Bytes of the second-level cache that are set aside. */
} musaLimit;

/* ---- Attributes */

/** What musaDeviceGetAttribute can be asked; whether-questions are answered with 0 or 1. */
typedef enum musaDeviceAttr {
    musaDevAttrMaxThreadsPerBlock = 1, /**< Threads of the largest block. */
    musaDevAttrMaxBlockDimX = 2, /**< Largest block in x. */
    musaDevAttrMaxBlockDimY = 3, /**< Largest block in y. */
    musaDevAttrMaxBlockDimZ = 4, /**< Largest block in z. */
    musaDevAttrMaxGridDimX = 5, /**< Largest grid in x. */
    musaDevAttrMaxGridDimY = 6, /**< Largest grid in y. */
    musaDevAttrMaxGridDimZ = 7, /**< Largest grid in z. */
    musaDevAttrMaxSharedMemoryPerBlock = 8, /**< Bytes of shared memory for a block. */
    musaDevAttrTotalConstantMemory = 9, /**< Bytes of constant memory. */
    musaDevAttrWarpSize = 10, /**< Threads that run in step. */
    musaDevAttrMaxPitch = 11, /**< Bytes of the largest pitch that copies take. */
    musaDevAttrMaxRegistersPerBlock = 12, /**< Registers of 32 bits for a block. */
    musaDevAttrClockRate = 13, /**< Highest clock in kHz. */
    musaDevAttrTextureAlignment = 14, /**< Alignment of textures in bytes. */
    musaDevAttrGpuOverlap = 15, /**< Whether copies and kernels can run at once. */
    musaDevAttrMultiProcessorCount = 16, /**< Multiprocessors. */
    musaDevAttrKernelExecTimeout = 17, /**< Whether kernels that run for long are stopped. */
    musaDevAttrIntegrated = 18, /**< Whether the device shares the host's memory. */
    musaDevAttrCanMapHostMemory = 19, /**< Whether kernels can use page-locked host memory. */
    musaDevAttrComputeMode = 20, /**< Who may use the device, a musaComputeMode. */
    musaDevAttrMaxTexture1DWidth = 21, /**< Widest texture of one dimension. */
    musaDevAttrMaxTexture2DWidth = 22, /**< Widest texture of two dimensions. */
    musaDevAttrMaxTexture2DHeight = 23, /**< Highest texture of two dimensions. */
    musaDevAttrMaxTexture3DWidth = 24, /**< Widest texture of three dimensions. */
    musaDevAttrMaxTexture3DHeight = 25, /**< Highest texture of three dimensions. */
    musaDevAttrMaxTexture3DDepth = 26, /**< Deepest texture of three dimensions. */
    musaDevAttrMaxTexture2DLayeredWidth = 27, /**< Widest layered texture of two dimensions. */
    musaDevAttrMaxTexture2DLayeredHeight = 28, /**< Highest layered texture of two dimensions. */
    musaDevAttrMaxTexture2DLayeredLayers = 29, /**< Layers of a layered texture of two dimensions. */
    musaDevAttrSurfaceAlignment = 30, /**< Alignment of surfaces in bytes. */
    musaDevAttrConcurrentKernels = 31, /**< Whether several kernels can run at once. */
    musaDevAttrEccEnabled = 32, /**< Whether memory errors are corrected. */
    musaDevAttrPciBusId = 33, /**< PCI bus. */
    musaDevAttrPciDeviceId = 34, /**< PCI device. */
    musaDevAttrTccDriver = 35, /**< Whether a compute-only driver runs the device. */
    musaDevAttrMemoryClockRate = 36, /**< Highest clock of the memory in kHz. */
    musaDevAttrGlobalMemoryBusWidth = 37, /**< Width of the memory bus in bits. */
    musaDevAttrL2CacheSize = 38, /**< Bytes of the second-level cache. */
    musaDevAttrMaxThreadsPerMultiProcessor = 39, /**< Threads that a multiprocessor holds. */
    musaDevAttrAsyncEngineCount = 40, /**< Copies that can run beside kernels. */
    musaDevAttrUnifiedAddressing = 41, /**< Whether host and device share one address space. */
    musaDevAttrMaxTexture1DLayeredWidth = 42, /**< Widest layered texture of one dimension. */
    musaDevAttrMaxTexture1DLayeredLayers = 43, /**< Layers of a layered texture of one dimension. */
    musaDevAttrMaxTexture2DGatherWidth = 45, /**< Widest texture for gathers. */
    musaDevAttrMaxTexture2DGatherHeight = 46, /**< Highest texture for gathers. */
    musaDevAttrMaxTexture3DWidthAlt = 47, /**< Widest texture of three dimensions in the other shape. */
    musaDevAttrMaxTexture3DHeightAlt = 48, /**< Highest texture of three dimensions in the other shape. */
    musaDevAttrMaxTexture3DDepthAlt = 49, /**< Deepest texture of three dimensions in the other shape. */
    musaDevAttrPciDomainId = 50, /**< PCI domain. */
    musaDevAttrTexturePitchAlignment = 51, /**< Alignment of a texture's pitch in bytes. */
    musaDevAttrMaxTextureCubemapWidth = 52, /**< Widest cubemap texture. */
    musaDevAttrMaxTextureCubemapLayeredWidth = 53, /**< Widest layered cubemap texture. */
    musaDevAttrMaxTextureCubemapLayeredLayers = 54, /**< Layers of a layered cubemap texture. */
    musaDevAttrMaxSurface1DWidth = 55, /**< Widest surface of one dimension. */
    musaDevAttrMaxSurface2DWidth = 56, /**< Widest surface of two dimensions. */
    musaDevAttrMaxSurface2DHeight = 57, /**< Highest surface of two dimensions. */
    musaDevAttrMaxSurface3DWidth = 58, /**< Widest surface of three dimensions. */
    musaDevAttrMaxSurface3DHeight = 59, /**< Highest surface of three dimensions. */
    musaDevAttrMaxSurface3DDepth = 60, /**< Deepest surface of three dimensions. */
    musaDevAttrMaxSurface1DLayeredWidth = 61, /**< Widest layered surface of one dimension. */
    musaDevAttrMaxSurface1DLayeredLayers = 62, /**< Layers of a layered surface of one dimension. */
    musaDevAttrMaxSurface2DLayeredWidth = 63, /**< Widest layered surface of two dimensions. */
    musaDevAttrMaxSurface2DLayeredHeight = 64, /**< Highest layered surface of two dimensions. */
    musaDevAttrMaxSurface2DLayeredLayers = 65, /**< Layers of a layered surface of two dimensions. */
    musaDevAttrMaxSurfaceCubemapWidth = 66, /**< Widest cubemap surface. */
    musaDevAttrMaxSurfaceCubemapLayeredWidth = 67, /**< Widest layered cubemap surface. */
    musaDevAttrMaxSurfaceCubemapLayeredLayers = 68, /**< Layers of a layered cubemap surface. */
    musaDevAttrMaxTexture1DLinearWidth = 69, /**< Widest texture over linear memory. */
    musaDevAttrMaxTexture2DLinearWidth = 70, /**< Widest texture over pitched memory. */
    musaDevAttrMaxTexture2DLinearHeight = 71, /**< Highest texture over pitched memory. */
    musaDevAttrMaxTexture2DLinearPitch = 72, /**< Bytes of the largest pitch of a texture over pitched memory. */
    musaDevAttrMaxTexture2DMipmappedWidth = 73, /**< Widest mipmapped texture of two dimensions. */
    musaDevAttrMaxTexture2DMipmappedHeight = 74, /**< Highest mipmapped texture of two dimensions. */
    musaDevAttrComputeCapabilityMajor = 75, /**< Compute capability before the dot. */
    musaDevAttrComputeCapabilityMinor = 76, /**< Compute capability behind the dot. */
    musaDevAttrMaxTexture1DMipmappedWidth = 77, /**< Widest mipmapped texture of one dimension. */
    musaDevAttrStreamPrioritiesSupported = 78, /**< Whether stream priorities have an effect. */
    musaDevAttrGlobalL1CacheSupported = 79, /**< Whether global memory is cached in the first level. */
    musaDevAttrLocalL1CacheSupported = 80, /**< Whether private memory is cached in the first level. */
    musaDevAttrMaxSharedMemoryPerMultiprocessor = 81, /**< Bytes of shared memory of a multiprocessor. */
    musaDevAttrMaxRegistersPerMultiprocessor = 82, /**< Registers of 32 bits of a multiprocessor. */
    musaDevAttrManagedMemory = 83, /**< Whether managed memory can be allocated. */
    musaDevAttrIsMultiGpuBoard = 84, /**< Whether other devices are on the same board. */
    musaDevAttrMultiGpuBoardGroupID = 85, /**< The same number for all devices of a board. */
    musaDevAttrHostNativeAtomicSupported = 86, /**< Whether atomics work across the link to the host. */
    musaDevAttrSingleToDoublePrecisionPerfRatio = 87, /**< How many times faster single precision is than double. */
    musaDevAttrPageableMemoryAccess = 88, /**< Whether kernels can use any host memory. */
    musaDevAttrConcurrentManagedAccess = 89, /**< Whether host and kernels can use managed memory at once. */
    musaDevAttrComputePreemptionSupported = 90, /**< Whether kernels can be interrupted. */
    musaDevAttrCanUseHostPointerForRegisteredMem = 91, /**< Whether registered memory has one address for host and device. */
    musaDevAttrReserved92 = 92, /**< Reserved. */
    musaDevAttrReserved93 = 93, /**< Reserved. */
    musaDevAttrReserved94 = 94, /**< Reserved. */
    musaDevAttrCooperativeLaunch = 95, /**< Whether cooperative launches work. */
    musaDevAttrCooperativeMultiDeviceLaunch = 96, /**< Whether cooperative launches over several devices work. */
    musaDevAttrMaxSharedMemoryPerBlockOptin = 97, /**< Bytes of shared memory for a block whose kernel asked for more. */
    musaDevAttrCanFlushRemoteWrites = 98, /**< Whether writes from other devices can be flushed. */
    musaDevAttrHostRegisterSupported = 99, /**< Whether host memory can be registered. */
    musaDevAttrPageableMemoryAccessUsesHostPageTables = 100, /**< Whether kernels use any host memory through the host's page tables. */
    musaDevAttrDirectManagedMemAccessFromHost = 101, /**< Whether the host can use managed memory where it lies. */
    musaDevAttrMaxBlocksPerMultiprocessor = 106, /**< Blocks that a multiprocessor holds. */
    musaDevAttrMaxPersistingL2CacheSize = 108, /**< Bytes of the second-level cache that can be set aside. */
    musaDevAttrMaxAccessPolicyWindowSize = 109, /**< Bytes of the largest access policy window. */
    musaDevAttrReservedSharedMemoryPerBlock = 111, /**< Bytes of shared memory of a block that the runtime takes. */
    musaDevAttrSparseMusaArraySupported = 112, /**< Whether arrays can be sparse. */
    musaDevAttrHostRegisterReadOnlySupported = 113, /**< Whether host memory can be registered for reading only. */
    musaDevAttrMaxTimelineSemaphoreInteropSupported = 114, /**< Whether timeline semaphores of other interfaces can be used. */
    musaDevAttrMemoryPoolsSupported = 115, /**< Whether stream-ordered allocation works. */
    musaDevAttrGPUDirectRDMASupported = 116, /**< Whether other PCI devices can use device memory. */
    musaDevAttrGPUDirectRDMAFlushWritesOptions = 117, /**< How their writes can be flushed, a bit mask. */
    musaDevAttrGPUDirectRDMAWritesOrdering = 118, /**< Who sees their writes without a flush. */
    musaDevAttrMemoryPoolSupportedHandleTypes = 119, /**< How memory pools can be shared with other processes, a bit mask. */
    musaDevAttrMax = 120, /**< One more than the last. */
} musaDeviceAttr;

/** musaDeviceAttr by its other name. */
typedef musaDeviceAttr musaDeviceAttr_t;

/* ---- Kernel attributes */

/** What musaFuncGetAttributes tells of a kernel. */
typedef struct musaFuncAttributes {
    size_t sharedSizeBytes; /**< Bytes of shared memory that a block takes by itself. */
    size_t constSizeBytes; /**< Bytes of constant memory. */
    size_t localSizeBytes; /**< Bytes of private memory that a thread takes. */
    int maxThreadsPerBlock; /**< Threads of the largest block that can be launched. */
    int numRegs; /**< Registers of a thread. */
    int ptxVersion; /**< Version of the intermediate code, ten times major plus minor. */
    int binaryVersion; /**< Version of the machine code, ten times major plus minor. */
    int cacheModeCA; /**< Whether the kernel was built to cache global loads in the first level. */
    int maxDynamicSharedSizeBytes; /**< Bytes of dynamic shared memory that a launch may ask for. */
    int preferredShmemCarveout; /**< Wanted share of the first-level cache for shared memory, in percent; -1 for no wish. */
} musaFuncAttributes;

/** What musaFuncSetAttribute can set. */
typedef enum musaFuncAttribute {
    musaFuncAttributeMaxDynamicSharedMemorySize = 8, /**< Bytes of dynamic shared memory that a launch may ask for. */
    musaFuncAttributePreferredSharedMemoryCarveout = 9, /**< Wanted share of the first-level cache for shared memory, in percent. */
} musaFuncAttribute;

/** Values of musaFuncAttributePreferredSharedMemoryCarveout besides percents. */
typedef enum musaSharedCarveout {
    musaSharedmemCarveoutDefault = (-1), /**< No wish. */
    musaSharedmemCarveoutMaxL1 = 0, /**< All of it for the cache. */
    musaSharedmemCarveoutMaxShared = 100, /**< All of it for shared memory. */
} musaSharedCarveout;

/** Which of cache and shared memory a kernel wants more of. */
typedef enum musaFuncCache {
    musaFuncCachePreferNone = 0, /**< Either. */
    musaFuncCachePreferShared = 1, /**< Shared memory. */
    musaFuncCachePreferL1 = 2, /**< Cache. */
    musaFuncCachePreferEqual = 3, /**< As much of both. */
} musaFuncCache;

/** The width of a bank of shared memory. */
typedef enum musaSharedMemConfig {
    musaSharedMemBankSizeDefault = 0, /**< As the device likes it. */
    musaSharedMemBankSizeFourByte = 1, /**< Four bytes. */
    musaSharedMemBankSizeEightByte = 2, /**< Eight bytes. */
} musaSharedMemConfig;

/** Flags of the occupancy calls. */
#define musaOccupancyDefault 0x0 /**< The usual answer. */
#define musaOccupancyDisableCachingOverride 0x1 /**< Caching of global loads is left out of the reckoning. */

/* ---- Launch */

/** Ends the list `extra` of musaModuleLaunchKernel. */
#define MU_LAUNCH_PARAM_END ((void*)0x0)

/** The next entry of `extra` is the address of a buffer with all arguments. */
#define MU_LAUNCH_PARAM_BUFFER_POINTER ((void*)0x1)

/** The next entry of `extra` is the address of that buffer's size in bytes, a `size_t`. */
#define MU_LAUNCH_PARAM_BUFFER_SIZE ((void*)0x2)

/* ---- Allocation */

/** Flags of musaHostAlloc. */
#define musaHostAllocDefault 0x0 /**< Page-locked. */
#define musaHostAllocPortable 0x1 /**< Page-locked for every device. */
#define musaHostAllocMapped 0x2 /**< Seen by the current device through a pointer of its own. */
#define musaHostAllocWriteCombined 0x4 /**< Fast to write and slow to read for the host. */

/** Flags of musaHostRegister. */
#define musaHostRegisterDefault 0x0 /**< Page-locked. */
#define musaHostRegisterPortable 0x1 /**< Page-locked for every device. */
#define musaHostRegisterMapped 0x2 /**< Seen by the current device through a pointer of its own. */
#define musaHostRegisterIoMemory 0x4 /**< Memory of another device; not supported. */
#define musaHostRegisterReadOnly 0x8 /**< Only read by the device. */

/** Flags of musaMallocManaged and musaStreamAttachMemAsync. */
#define musaMemAttachGlobal 0x1 /**< For every stream of every device. */
#define musaMemAttachHost 0x2 /**< For the host, until it is attached to a stream. */
#define musaMemAttachSingle 0x4 /**< For one stream. */

/** How managed memory will be used: the advice of musaMemAdvise. */
typedef enum musaMemoryAdvise {
    musaMemAdviseSetReadMostly = 1, /**< It is mostly read. */
    musaMemAdviseUnsetReadMostly = 2, /**< It is not mostly read after all. */
    musaMemAdviseSetPreferredLocation = 3, /**< It should live on the device given. */
    musaMemAdviseUnsetPreferredLocation = 4, /**< It may live anywhere. */
    musaMemAdviseSetAccessedBy = 5, /**< The device given will use it. */
    musaMemAdviseUnsetAccessedBy = 6, /**< The device given will no longer use it. */
} musaMemoryAdvise;

/** What musaMemRangeGetAttribute can be asked about managed memory. */
typedef enum musaMemRangeAttribute {
    musaMemRangeAttributeReadMostly = 1, /**< Whether it was advised to be mostly read: 1 or 0. */
    musaMemRangeAttributePreferredLocation = 2, /**< The device that was advised to be preferred. */
    musaMemRangeAttributeAccessedBy = 3, /**< The devices that were advised to use it. */
    musaMemRangeAttributeLastPrefetchLocation = 4, /**< The device it was prefetched to last. */
} musaMemRangeAttribute;

/* ---- Copies */

/** The direction of a copy. */
typedef enum musaMemcpyKind {
    musaMemcpyHostToHost = 0, /**< Host to host. */
    musaMemcpyHostToDevice = 1, /**< Host to device. */
    musaMemcpyDeviceToHost = 2, /**< Device to host. */
    musaMemcpyDeviceToDevice = 3, /**< Device to device. */
    musaMemcpyDefault = 4, /**< As the addresses say. */
} musaMemcpyKind;

/** Rows of memory with room behind each. */
typedef struct musaPitchedPtr {
    void* ptr; /**< The first byte of the first row. */
    size_t pitch; /**< Bytes from one row to the next. */
    size_t xsize; /**< Bytes of a row that are in use. */
    size_t ysize; /**< Rows of a slice. */
} musaPitchedPtr;

/** The size of a box of memory. */
typedef struct musaExtent {
    size_t width; /**< Bytes of a row; elements where an array takes part. */
    size_t height; /**< Rows of a slice. */
    size_t depth; /**< Slices. */
} musaExtent;

/** A place in a box of memory. */
typedef struct musaPos {
    size_t x; /**< Bytes into the row; elements in an array. */
    size_t y; /**< Row of the slice. */
    size_t z; /**< Slice. */
} musaPos;

/** A copy of a box of memory: on each side either an array or a pitched pointer. */
typedef struct musaMemcpy3DParms {
    musaArray_t srcArray; /**< The array to read, or null. */
    musaPos srcPos; /**< Where reading starts. */
    musaPitchedPtr srcPtr; /**< The memory to read, or null. */
    musaArray_t dstArray; /**< The array to write, or null. */
    musaPos dstPos; /**< Where writing starts. */
    musaPitchedPtr dstPtr; /**< The memory to write, or null. */
    musaExtent extent; /**< How much is copied. */
    musaMemcpyKind kind; /**< The direction. */
} musaMemcpy3DParms;

/** A copy of a box of memory between devices: on each side either an array or a pitched pointer. */
typedef struct musaMemcpy3DPeerParms {
    musaArray_t srcArray; /**< The array to read, or null. */
    musaPos srcPos; /**< Where reading starts. */
    musaPitchedPtr srcPtr; /**< The memory to read, or null. */
    int srcDevice; /**< The device that is read. */
    musaArray_t dstArray; /**< The array to write, or null. */
    musaPos dstPos; /**< Where writing starts. */
    musaPitchedPtr dstPtr; /**< The memory to write, or null. */
    int dstDevice; /**< The device that is written. */
    musaExtent extent; /**< How much is copied. */
} musaMemcpy3DPeerParms;

/** A musaPitchedPtr of its four parts. */
static inline musaPitchedPtr make_musaPitchedPtr(void* ptr, size_t pitch, size_t xsize, size_t ysize) {
    musaPitchedPtr made;
    made.ptr = ptr;
    made.pitch = pitch;
    made.xsize = xsize;
    made.ysize = ysize;
    return made;
}

/** A musaExtent of its three parts. */
static inline musaExtent make_musaExtent(size_t width, size_t height, size_t depth) {
    musaExtent made;
    made.width = width;
    made.height = height;
    made.depth = depth;
    return made;
}

/** A musaPos of its three parts. */
static inline musaPos make_musaPos(size_t x, size_t y, size_t z) {
    musaPos made;
    made.x = x;
    made.y = y;
    made.z = z;
    return made;
}

/* ---- Arrays */

/** What the channels of an array hold. */
typedef enum musaChannelFormatKind {
    musaChannelFormatKindSigned = 0, /**< Signed integers. */
    musaChannelFormatKindUnsigned = 1, /**< Unsigned integers. */
    musaChannelFormatKindFloat = 2, /**< Floating-point numbers. */
    musaChannelFormatKindNone = 3, /**< Nothing. */
} musaChannelFormatKind;

/** The format of an array's elements. */
typedef struct musaChannelFormatDesc {
    int x; /**< Bits of the first channel. */
    int y; /**< Bits of the second channel, or 0. */
    int z; /**< Bits of the third channel, or 0. */
    int w; /**< Bits of the fourth channel, or 0. */
    musaChannelFormatKind f; /**< What they hold. */
} musaChannelFormatDesc;

/** Flags of musaMallocArray and musaMalloc3DArray. */
#define musaArrayDefault 0x0 /**< A plain array. */
#define musaArrayLayered 0x1 /**< Layers instead of a third dimension. */
#define musaArraySurfaceLoadStore 0x2 /**< May be written through a surface. */
#define musaArrayCubemap 0x4 /**< Six faces of a cube. */
#define musaArrayTextureGather 0x8 /**< Texture gathers may be done on it. */

/**
 * An element format of up to four channels, widths in bits.
 *
 * Widths are 8, 16 or 32. The vendor's guide passes `1, 0, 0, 0` with kind float, which an array takes for one
 * 32-bit float channel; the descriptor itself holds what was passed.
 */
static inline musaChannelFormatDesc musaCreateChannelDesc(int x, int y, int z, int w, musaChannelFormatKind f) {
    musaChannelFormatDesc made;
    made.x = x;
    made.y = y;
    made.z = z;
    made.w = w;
    made.f = f;
    return made;
}

/* ---- Pointers */

/** Where memory lives. */
typedef enum musaMemoryType {
    musaMemoryTypeUnregistered = 0, /**< Memory that the runtime does not know. */
    musaMemoryTypeHost = 1, /**< Page-locked host memory. */
    musaMemoryTypeDevice = 2, /**< Device memory. */
    musaMemoryTypeManaged = 3, /**< Managed memory. */
} musaMemoryType;

/** What musaPointerGetAttribute can be asked; other numbers are not supported. */
typedef enum musaPointer_attribute {
    musaPointerAttributeContext = 1, /**< The context of the allocation; not supported. */
    musaPointerAttributeMemoryType = 2, /**< Where the memory lives, as a musaMemoryType. */
    musaPointerAttributeDevicePointer = 3, /**< The address for kernels. */
    musaPointerAttributeHostPointer = 4, /**< The address for the host. */
    musaPointerAttributeIsManaged = 8, /**< Whether the memory is managed. */
    musaPointerAttributeDeviceOrdinal = 9, /**< The ordinal of the owning device. */
    musaPointerAttributeRangeStart = 11, /**< The first address of the allocation. */
    musaPointerAttributeRangeSize = 12, /**< The bytes of the allocation. */
} musaPointer_attribute;

/** What musaPointerGetAttributes tells of an address. */
typedef struct musaPointerAttributes {
    musaMemoryType type; /**< Where the memory lives. */
    int device; /**< The owning device, or musaInvalidDeviceId. */
    void* devicePointer; /**< The address for kernels, or null. */
    void* hostPointer; /**< The address for the host, or null. */
} musaPointerAttributes;

/** What a memory pool can be asked and told. */
typedef enum musaMemPoolAttr {
    musaMemPoolReuseFollowEventDependencies = 1, /**< Whether memory freed in another stream is reused once an event orders the two; an `int`. */
    musaMemPoolReuseAllowOpportunistic = 2, /**< Whether memory whose free has happened is reused in any stream; an `int`. */
    musaMemPoolReuseAllowInternalDependencies = 3, /**< Whether the pool may order streams to reuse memory; an `int`. */
    musaMemPoolAttrReleaseThreshold = 4, /**< Bytes that the pool keeps at a synchronisation; a `uint64_t`, as are all below. */
    musaMemPoolAttrReservedMemCurrent = 5, /**< Bytes that the pool holds now. */
    musaMemPoolAttrReservedMemHigh = 6, /**< The most bytes it held since this was set to 0. */
    musaMemPoolAttrUsedMemCurrent = 7, /**< Bytes that the program has of it now. */
    musaMemPoolAttrUsedMemHigh = 8, /**< The most bytes the program had since this was set to 0. */
} musaMemPoolAttr;

/** The kind of a place for memory. */
typedef enum musaMemLocationType {
    musaMemLocationTypeInvalid = 0, /**< No place. */
    musaMemLocationTypeDevice = 1, /**< A device, by its ordinal. */
} musaMemLocationType;

/** The kind of a pool's allocations. */
typedef enum musaMemAllocationType {
    musaMemAllocationTypeInvalid = 0, /**< No kind. */
    musaMemAllocationTypePinned = 1, /**< Memory that stays where it is. */
    musaMemAllocationTypeMax = 0x7fffffff, /**< The largest value. */
} musaMemAllocationType;

/** How a pool can be shared with other processes; only the first is supported. */
typedef enum musaMemAllocationHandleType {
    musaMemHandleTypeNone = 0, /**< Not at all. */
    musaMemHandleTypePosixFileDescriptor = 1, /**< By a file descriptor. */
    musaMemHandleTypeWin32 = 2, /**< By a Windows handle. */
    musaMemHandleTypeWin32Kmt = 4, /**< By an older Windows handle. */
} musaMemAllocationHandleType;

/** A place for memory. */
typedef struct musaMemLocation {
    musaMemLocationType type; /**< The kind of place. */
    int id; /**< Which one. */
} musaMemLocation;

/** How a pool is to be made. */
typedef struct musaMemPoolProps {
    musaMemAllocationType allocType; /**< The kind of its allocations. */
    musaMemAllocationHandleType handleTypes; /**< How it can be shared. */
    musaMemLocation location; /**< Where its memory lives. */
    void* win32SecurityAttributes; /**< Who may open it on Windows; null here. */
    unsigned char reserved[64]; /**< Zeros. */
} musaMemPoolProps;

/** What musaGetDeviceProperties tells of a device; whether-questions are answered with 0 or 1. */
typedef struct musaDeviceProp {
    char name[256]; /**< The device's name, ended by NUL. */
    musaUUID uuid; /**< The device's identity. */
    char luid[8]; /**< The device's identity on Windows; zeros here. */
    unsigned int luidDeviceNodeMask; /**< Its node mask on Windows; 0 here. */
    size_t totalGlobalMem; /**< Bytes of device memory. */
    size_t sharedMemPerBlock; /**< Bytes of shared memory for a block. */
    int regsPerBlock; /**< Registers of 32 bits for a block. */
    int warpSize; /**< Threads that run in step. */
    size_t memPitch; /**< Bytes of the largest pitch that copies take. */
    int maxThreadsPerBlock; /**< Threads of the largest block. */
    int maxThreadsDim[3]; /**< Largest block in x, y and z. */
    int maxGridSize[3]; /**< Largest grid in x, y and z. */
    int clockRate; /**< Clock in kHz. */
    size_t totalConstMem; /**< Bytes of constant memory. */
    int major; /**< Compute capability before the dot. */
    int minor; /**< Compute capability behind the dot. */
    size_t textureAlignment; /**< Alignment of textures in bytes. */
    size_t texturePitchAlignment; /**< Alignment of a texture's pitch in bytes. */
    int deviceOverlap; /**< Whether copies and kernels can run at once. */
    int multiProcessorCount; /**< Multiprocessors. */
    int kernelExecTimeoutEnabled; /**< Whether kernels that run for long are stopped. */
    int integrated; /**< Whether the device shares the host's memory. */
    int canMapHostMemory; /**< Whether kernels can use page-locked host memory. */
    int computeMode; /**< Who may use the device, a musaComputeMode. */
    int maxTexture1D; /**< Widest texture of one dimension. */
    int maxTexture1DMipmap; /**< Widest mipmapped texture of one dimension. */
    int maxTexture1DLinear; /**< Widest texture over linear memory. */
    int maxTexture2D[2]; /**< Largest texture of two dimensions. */
    int maxTexture2DMipmap[2]; /**< Largest mipmapped texture of two dimensions. */
    int maxTexture2DLinear[3]; /**< Largest texture over pitched memory: width, height, pitch in bytes. */
    int maxTexture2DGather[2]; /**< Largest texture for gathers. */
    int maxTexture3D[3]; /**< Largest texture of three dimensions. */
    int maxTexture3DAlt[3]; /**< Largest texture of three dimensions in the other shape. */
    int maxTextureCubemap; /**< Widest cubemap texture. */
    int maxTexture1DLayered[2]; /**< Largest layered texture of one dimension: width, layers. */
    int maxTexture2DLayered[3]; /**< Largest layered texture of two dimensions: width, height, layers. */
    int maxTextureCubemapLayered[2]; /**< Largest layered cubemap texture: width, layers. */
    int maxSurface1D; /**< Widest surface of one dimension. */
    int maxSurface2D[2]; /**< Largest surface of two dimensions. */
    int maxSurface3D[3]; /**< Largest surface of three dimensions. */
    int maxSurface1DLayered[2]; /**< Largest layered surface of one dimension: width, layers. */
    int maxSurface2DLayered[3]; /**< Largest layered surface of two dimensions: width, height, layers. */
    int maxSurfaceCubemap; /**< Widest cubemap surface. */
    int maxSurfaceCubemapLayered[2]; /**< Largest layered cubemap surface: width, layers. */
    size_t surfaceAlignment; /**< Alignment of surfaces in bytes. */
    int concurrentKernels; /**< Whether several kernels can run at once. */
    int ECCEnabled; /**< Whether memory errors are corrected. */
    int pciBusID; /**< PCI bus. */
    int pciDeviceID; /**< PCI device. */
    int pciDomainID; /**< PCI domain. */
    int tccDriver; /**< Whether a compute-only driver runs the device. */
    int asyncEngineCount; /**< Copies that can run beside kernels. */
    int unifiedAddressing; /**< Whether host and device share one address space. */
    int memoryClockRate; /**< Clock of the memory in kHz. */
    int memoryBusWidth; /**< Width of the memory bus in bits. */
    int l2CacheSize; /**< Bytes of the second-level cache. */
    int persistingL2CacheMaxSize; /**< Bytes of the second-level cache that can be set aside. */
    int maxThreadsPerMultiProcessor; /**< Threads that a multiprocessor holds. */
    int streamPrioritiesSupported; /**< Whether stream priorities have an effect. */
    int globalL1CacheSupported; /**< Whether global memory is cached in the first level. */
    int localL1CacheSupported; /**< Whether private memory is cached in the first level. */
    size_t sharedMemPerMultiprocessor; /**< Bytes of shared memory of a multiprocessor. */
    int regsPerMultiprocessor; /**< Registers of 32 bits of a multiprocessor. */
    int managedMemory; /**< Whether managed memory can be allocated. */
    int isMultiGpuBoard; /**< Whether other devices are on the same board. */
    int multiGpuBoardGroupID; /**< The same number for all devices of a board. */
    int hostNativeAtomicSupported; /**< Whether atomics work across the link to the host. */
    int singleToDoublePrecisionPerfRatio; /**< How many times faster single precision is than double. */
    int pageableMemoryAccess; /**< Whether kernels can use any host memory. */
    int concurrentManagedAccess; /**< Whether host and kernels can use managed memory at once. */
    int computePreemptionSupported; /**< Whether kernels can be interrupted. */
    int canUseHostPointerForRegisteredMem; /**< Whether registered memory has one address for host and device. */
    int cooperativeLaunch; /**< Whether cooperative launches work. */
    int cooperativeMultiDeviceLaunch; /**< Whether cooperative launches over several devices work. */
    size_t sharedMemPerBlockOptin; /**< Bytes of shared memory for a block whose kernel asked for more. */
    int pageableMemoryAccessUsesHostPageTables; /**< Whether kernels use any host memory through the host's page tables. */
    int directManagedMemAccessFromHost; /**< Whether the host can use managed memory where it lies. */
    int maxBlocksPerMultiProcessor; /**< Blocks that a multiprocessor holds. */
    int accessPolicyMaxWindowSize; /**< Bytes of the largest access policy window. */
    size_t reservedSharedMemPerBlock; /**< Bytes of shared memory of a block that the runtime takes. */
} musaDeviceProp;

/** musaDeviceProp, as the vendor's guide spells it. */
typedef musaDeviceProp musaDeviceProp_t;

/* ---- Calls: device */

/**
 * How many devices there are.
 *
 * Errors: musaErrorDevicesUnavailable and a count of 0 where there is none; musaErrorInvalidValue for null.
 */
musaError_t musaGetDeviceCount(int* count);

/**
 * Makes a device the calling thread's current one. Waits for nothing.
 *
 * Errors: musaErrorInvalidDevice; the current device stays then.
 */
musaError_t musaSetDevice(int device);

/**
 * The calling thread's current device; 0 until it is set.
 *
 * Errors: musaErrorInvalidValue for null.
 */
musaError_t musaGetDevice(int* device);

/**
 * What a device is and can do; sizes in bytes, clocks in kHz.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorInvalidDevice.
 */
musaError_t musaGetDeviceProperties(musaDeviceProp* prop, int device);

/**
 * One property of a device as a number.
 *
 * Errors: musaErrorInvalidValue for null or an unknown attribute, musaErrorInvalidDevice.
 */
musaError_t musaDeviceGetAttribute(int* value, musaDeviceAttr attr, int device);

/**
 * The name of a device, cut to `len` bytes with its NUL.
 *
 * Errors: musaErrorInvalidValue for null or no room, musaErrorInvalidDevice.
 */
musaError_t musaDeviceGetName(char* name, int len, int device);

/**
 * Bytes of a device's memory.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorInvalidDevice.
 */
musaError_t musaDeviceTotalMem(size_t* bytes, int device);

/**
 * The device that meets most of what `prop` asks for in the fields that are not zero; the first of several.
 *
 * Errors: musaErrorInvalidValue for null.
 */
musaError_t musaChooseDevice(int* device, const musaDeviceProp* prop);

/**
 * Waits for the current device, then ends all that was made on it, in either dialect.
 *
 * Errors: what the device reported about its work; it is reset all the same.
 */
musaError_t musaDeviceReset(void);

/**
 * Waits for all streams of the current device.
 *
 * Errors: what the device reported about their work.
 */
musaError_t musaDeviceSynchronize(void);

/**
 * A device's address on the PCI bus as `dddd:bb:dd.f` in lower-case hex; needs 13 bytes.
 *
 * Errors: musaErrorInvalidValue for null or no room, musaErrorInvalidDevice.
 */
musaError_t musaDeviceGetPCIBusId(char* pciBusId, int len, int device);

/**
 * The device at a PCI address.
 *
 * Errors: musaErrorInvalidValue for null or an empty text, musaErrorInvalidDevice where none is there.
 */
musaError_t musaDeviceGetByPCIBusId(int* device, const char* pciBusId);

/**
 * 16 bytes that name a device, the same in every process.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorInvalidDevice.
 */
musaError_t musaDeviceGetUuid(musaUuid_t* uuid, int device);

/**
 * The flags that musaSetDeviceFlags gave the current device.
 *
 * Errors: musaErrorInvalidValue for null.
 */
musaError_t musaGetDeviceFlags(unsigned int* flags);

/**
 * Sets flags of the current device: with the spin and yield flags threads stay awake while they wait for streams and
 * events, else they wait in the OpenCL driver. Other flags are kept.
 *
 * Errors: musaErrorInvalidValue for unknown bits or several ways to wait.
 */
musaError_t musaSetDeviceFlags(unsigned int flags);

/**
 * A limit of the current device in bytes: what kernels can print, and 0 for what they can allocate.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorUnsupportedLimit for other limits.
 */
musaError_t musaDeviceGetLimit(size_t* pValue, musaLimit limit);

/**
 * The least urgent stream priority (0), then the most urgent; smaller is more urgent. Either may be left out.
 */
musaError_t musaDeviceGetStreamPriorityRange(int* leastPriority, int* greatestPriority);

/**
 * The OpenCL version of the current device, 1000 times the major and 10 times the minor; 0 without a device.
 *
 * Errors: musaErrorInvalidValue for null.
 */
musaError_t musaDriverGetVersion(int* driverVersion);

/**
 * The version of gridcl, 1000 times the major and 10 times the minor.
 *
 * Errors: musaErrorInvalidValue for null.
 */
musaError_t musaRuntimeGetVersion(int* runtimeVersion);

/* ---- Calls: error */

/** The calling thread's last error, which is forgotten with that. */
musaError_t musaGetLastError(void);

/** The calling thread's last error, which stays. */
musaError_t musaPeekAtLastError(void);

/**
 * The name of an error; never null.
 *
 * Errors: musaErrorInvalidValue for null or an unknown number, whose text is given all the same.
 */
musaError_t musaGetErrorName(const char** errorName, musaError_t error);

/** What an error means; never null. */
const char* musaGetErrorString(musaError_t error);

/* ---- Calls: memory */

/**
 * Allocates `size` bytes on the current device, aligned to 256. Size 0 gives a null pointer.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorOutOfMemory.
 */
musaError_t musaMalloc(void** devPtr, size_t size);

/**
 * Allocates `height` rows of `width` bytes on the current device. Rows begin `*pitch` bytes apart, a multiple of
 * 512, and the room behind each is the program's too. No rows or no bytes give a null pointer.
 *
 * Errors: musaErrorInvalidValue for null or a width beyond the largest pitch, musaErrorOutOfMemory.
 */
musaError_t musaMallocPitch(void** devPtr, size_t* pitch, size_t width, size_t height);

/**
 * Allocates a box of `extent.depth` slices of `extent.height` rows of `extent.width` bytes. Row r of slice z is at
 * `ptr + (z * ysize + r) * pitch`.
 *
 * Errors: as musaMallocPitch.
 */
musaError_t musaMalloc3D(musaPitchedPtr* pitchedDevPtr, musaExtent extent);

/**
 * Frees device memory, after all work of its device. Null is nothing to free.
 *
 * Errors: musaErrorInvalidValue for anything but the start of a live allocation.
 */
musaError_t musaFree(void* devPtr);

/**
 * Allocates `size` bytes of page-locked host memory.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorOutOfMemory.
 */
musaError_t musaMallocHost(void** ptr, size_t size);

/**
 * The same with flags, which are kept and ask for nothing that OpenCL lets one choose.
 *
 * Errors: musaErrorInvalidValue for null or unknown flags, musaErrorOutOfMemory.
 */
musaError_t musaHostAlloc(void** pHost, size_t size, unsigned int flags GRIDCL_DEFAULT(musaHostAllocDefault));

/**
 * Frees page-locked host memory, after all work of every device. Null is nothing to free.
 *
 * Errors: musaErrorInvalidValue for anything else.
 */
musaError_t musaFreeHost(void* ptr);

/**
 * Page-locks memory that the program has. It has to stay until it is unregistered.
 *
 * Errors: musaErrorInvalidValue for null, size 0, unmapped memory or unknown flags,
 * musaErrorHostMemoryAlreadyRegistered where a byte is registered, musaErrorNotSupported for I/O memory.
 */
musaError_t musaHostRegister(
    void* ptr, size_t size, unsigned int flags GRIDCL_DEFAULT(musaHostRegisterDefault));

/**
 * Ends a registration, after all work of every device.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorHostMemoryNotRegistered for what is not registered.
 */
musaError_t musaHostUnregister(void* ptr);

/** musaHostUnregister, as the vendor's guide spells it. */
musaError_t musaMemHostUnregister(void* ptr);

/**
 * The flags that page-locked memory was made with.
 *
 * Errors: musaErrorInvalidValue for null or other memory.
 */
musaError_t musaHostGetFlags(unsigned int* pFlags, void* pHost);

/**
 * The address by which kernels on the current device reach page-locked memory: the memory's own, interior
 * addresses included. The host sees what kernels wrote there after the next synchronisation. `flags` has to be 0.
 *
 * Errors: musaErrorInvalidValue for null, other memory or flags; musaErrorNotSupported where kernels do not reach
 * the host's memory.
 */
musaError_t musaHostGetDevicePointer(void** pDevice, void* pHost, unsigned int flags GRIDCL_DEFAULT(0));

/**
 * Free and total bytes of the current device.
 *
 * Errors: musaErrorInvalidValue for null.
 */
musaError_t musaMemGetInfo(size_t* free, size_t* total);

/**
 * Allocates `size` bytes that host and device share under one address, aligned to 256 at least. Freed by
 * musaFree.
 *
 * `flags`: musaMemAttachGlobal for kernels of all streams; musaMemAttachHost for launches that are given the
 * address; musaMemAttachSingle for all streams until it is attached to one. Where
 * musaDevAttrConcurrentManagedAccess is 0 the host may touch it only when no stream has work, and changes hands
 * as a whole, at the speed of a copy, with the first launch and the next synchronisation.
 *
 * Errors: musaErrorInvalidValue for null, size 0 or other flags, musaErrorOutOfMemory,
 * musaErrorNotSupported where the device has no shared virtual memory.
 */
musaError_t musaMallocManaged(
    void** devPtr, size_t size, unsigned int flags GRIDCL_DEFAULT(musaMemAttachGlobal));

/**
 * Moves managed memory to a device, or to the host (musaCpuDeviceId), in stream order; whole pages. A hint that
 * changes no contents.
 *
 * Errors: musaErrorInvalidValue for null, an empty range, a range beyond the allocation or other memory,
 * musaErrorInvalidDevice.
 */
musaError_t musaMemPrefetchAsync(
    const void* devPtr, size_t count, int dstDevice, musaStream_t stream GRIDCL_DEFAULT(0));

/**
 * Says how managed memory will be used; whole pages. It is kept for musaMemRangeGetAttribute and moves nothing.
 *
 * Errors: musaErrorInvalidValue for null, an empty range, a range beyond the allocation, other memory or unknown
 * advice; musaErrorInvalidDevice where the advice names one.
 */
musaError_t musaMemAdvise(const void* devPtr, size_t count, musaMemoryAdvise advice, int device);

/**
 * What was said about a range of managed memory, where it holds for all of it; devices that are not known or not
 * the same are musaInvalidDeviceId. The answer is an `int`, for the users of a range as many as fit.
 *
 * Errors: musaErrorInvalidValue for null, a size that does not fit, other memory or an unknown attribute.
 */
musaError_t musaMemRangeGetAttribute(
    void* data, size_t dataSize, musaMemRangeAttribute attribute, const void* devPtr, size_t count);

/**
 * The same for several attributes; either all are answered or none.
 *
 * Errors: as musaMemRangeGetAttribute, and musaErrorInvalidValue for an empty list.
 */
musaError_t musaMemRangeGetAttributes(
    void** data, size_t* dataSizes, musaMemRangeAttribute* attributes, size_t numAttributes,
    const void* devPtr, size_t count);

/**
 * Says whose kernels use managed memory from here on in the stream: all streams' (musaMemAttachGlobal), those
 * that are given its address (musaMemAttachHost) or this stream's (musaMemAttachSingle). `length` is 0 or the
 * size of the allocation. Waits for the device where it has the memory.
 *
 * Errors: musaErrorInvalidValue for null, an inner address, another length, other memory, several flags, or
 * the default stream's alone.
 */
musaError_t musaStreamAttachMemAsync(musaStream_t stream, void* devPtr, size_t length, unsigned int flags);

/**
 * Copies `count` bytes in the default stream. Returns when host memory is done with; copies between device
 * memory go on.
 *
 * Errors: musaErrorInvalidValue for null, unknown, freed or overrun pointers or a partial overlap,
 * musaErrorInvalidMemcpyDirection for an unknown kind. Nothing is written then.
 */
musaError_t musaMemcpy(void* dst, const void* src, size_t count, musaMemcpyKind kind);

/**
 * Copies `count` bytes in a stream. Returns at once for page-locked and device memory; ordinary host memory may
 * change or is complete when it returns.
 *
 * Errors: as musaMemcpy, and musaErrorContextIsDestroyed for a dead stream.
 */
musaError_t musaMemcpyAsync(
    void* dst, const void* src, size_t count, musaMemcpyKind kind, musaStream_t stream GRIDCL_DEFAULT(0));

/**
 * Copies `height` rows of `width` bytes in the default stream; rows begin `dpitch` and `spitch` bytes apart, and
 * what lies between them stays. Returns as musaMemcpy does. An empty box is a success.
 *
 * Errors: as musaMemcpy, and musaErrorInvalidPitchValue for a pitch smaller than the width.
 */
musaError_t musaMemcpy2D(
    void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
    musaMemcpyKind kind);

/**
 * The same in a stream. Returns as musaMemcpyAsync does.
 *
 * Errors: as musaMemcpy2D, and musaErrorContextIsDestroyed for a dead stream.
 */
musaError_t musaMemcpy2DAsync(
    void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
    musaMemcpyKind kind, musaStream_t stream GRIDCL_DEFAULT(0));

/**
 * Copies a box of `p->extent` in the default stream: on each side from a pitched pointer on, at a position in
 * bytes, rows and slices, or in an array, at a position in elements, rows and slices or layers. Slices are
 * `pitch * ysize` bytes apart. The extent's width is in bytes, or in elements where an array takes part. Returns as
 * musaMemcpy does.
 *
 * Errors: as musaMemcpy2D, and musaErrorInvalidValue for no or two ends on a side, or a box that leaves its
 * rows, slices or array; musaErrorContextIsDestroyed for dead arrays.
 */
musaError_t musaMemcpy3D(const musaMemcpy3DParms* p);

/**
 * The same in a stream. Returns as musaMemcpyAsync does.
 *
 * Errors: as musaMemcpy3D, and musaErrorContextIsDestroyed for a dead stream.
 */
musaError_t musaMemcpy3DAsync(const musaMemcpy3DParms* p, musaStream_t stream GRIDCL_DEFAULT(0));

/**
 * Sets `count` bytes to the low byte of `value` in the default stream. Returns before it is done, but for
 * page-locked host memory.
 *
 * Errors: musaErrorInvalidValue for null, unknown, freed or overrun pointers.
 */
musaError_t musaMemset(void* devPtr, int value, size_t count);

/**
 * Sets `count` bytes to the low byte of `value` in a stream.
 *
 * Errors: as musaMemset, and musaErrorContextIsDestroyed for a dead stream.
 */
musaError_t musaMemsetAsync(void* devPtr, int value, size_t count, musaStream_t stream GRIDCL_DEFAULT(0));

/**
 * Sets the low byte of `value` in `height` rows of `width` bytes that begin `pitch` bytes apart, in the default
 * stream. What lies between the rows stays. Returns as musaMemset does. An empty box is a success.
 *
 * Errors: musaErrorInvalidValue for a pitch smaller than the width, and as musaMemset.
 */
musaError_t musaMemset2D(void* devPtr, size_t pitch, int value, size_t width, size_t height);

/**
 * The same in a stream.
 *
 * Errors: as musaMemset2D, and musaErrorContextIsDestroyed for a dead stream.
 */
musaError_t musaMemset2DAsync(
    void* devPtr, size_t pitch, int value, size_t width, size_t height,
    musaStream_t stream GRIDCL_DEFAULT(0));

/**
 * Sets the low byte of `value` in a box that begins at a pitched pointer, in the default stream. Returns as
 * musaMemset does. An empty box is a success.
 *
 * Errors: musaErrorInvalidValue for a box that leaves its rows or slices, and as musaMemset.
 */
musaError_t musaMemset3D(musaPitchedPtr pitchedDevPtr, int value, musaExtent extent);

/**
 * The same in a stream.
 *
 * Errors: as musaMemset3D, and musaErrorContextIsDestroyed for a dead stream.
 */
musaError_t musaMemset3DAsync(
    musaPitchedPtr pitchedDevPtr, int value, musaExtent extent, musaStream_t stream GRIDCL_DEFAULT(0));

/* ---- Calls: peer */

/**
 * Whether a device can use another's memory: 0, for no OpenCL device can.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorInvalidDevice.
 */
musaError_t musaDeviceCanAccessPeer(int* canAccessPeer, int device, int peerDevice);

/**
 * Lets the current device use another's memory, which no OpenCL device can. Copies work without it.
 *
 * Errors: musaErrorInvalidDevice, also for the current device; musaErrorInvalidValue for flags;
 * musaErrorPeerAccessUnsupported.
 */
musaError_t musaDeviceEnablePeerAccess(int peerDevice, unsigned int flags);

/**
 * Ends what musaDeviceEnablePeerAccess began.
 *
 * Errors: musaErrorInvalidDevice, also for the current device; musaErrorPeerAccessNotEnabled.
 */
musaError_t musaDeviceDisablePeerAccess(int peerDevice);

/**
 * Copies `count` bytes from one device to another, after the work of the default streams of both and of the
 * current device, and before their later work. Returns before it is done.
 *
 * Errors: musaErrorInvalidDevice; musaErrorInvalidValue for null, unknown, freed or overrun pointers and for
 * memory that is not of the device named. Nothing is written then.
 */
musaError_t musaMemcpyPeer(void* dst, int dstDevice, const void* src, int srcDevice, size_t count);

/**
 * Copies `count` bytes from one device to another in a stream of any device. Returns before it is done.
 *
 * Errors: as musaMemcpyPeer, and musaErrorContextIsDestroyed for a dead stream.
 */
musaError_t musaMemcpyPeerAsync(
    void* dst, int dstDevice, const void* src, int srcDevice, size_t count,
    musaStream_t stream GRIDCL_DEFAULT(0));

/**
 * Copies a box of `p->extent` from one device to another: on each side from a pitched pointer or an array on, as
 * musaMemcpy3D; ordered as musaMemcpyPeer. Returns before it is done, but with arrays.
 *
 * Errors: as musaMemcpyPeer and musaMemcpy3D. Nothing is written then.
 */
musaError_t musaMemcpy3DPeer(const musaMemcpy3DPeerParms* p);

/**
 * The same in a stream of any device.
 *
 * Errors: as musaMemcpy3DPeer, and musaErrorContextIsDestroyed for a dead stream.
 */
musaError_t musaMemcpy3DPeerAsync(const musaMemcpy3DPeerParms* p, musaStream_t stream GRIDCL_DEFAULT(0));

/* ---- Calls: array */

/**
 * Makes an array of the current device: of one dimension where `height` is 0, else of two. An image of OpenCL,
 * which kernels take as `image1d_t` or `image2d_t`; extents are in elements.
 *
 * Errors: musaErrorInvalidValue for null, width 0, more than the device's images can be, unknown flags, a
 * descriptor that is none; musaErrorNotSupported for a format that the device lacks, musaErrorOutOfMemory.
 */
musaError_t musaMallocArray(
    musaArray_t* array, const musaChannelFormatDesc* desc, size_t width, size_t height,
    unsigned int flags GRIDCL_DEFAULT(0));

/**
 * The same of up to three dimensions, those that are not 0; with musaArrayLayered the depth counts layers of one
 * or two dimensions.
 *
 * Errors: as musaMallocArray, musaErrorInvalidValue for a depth without a height, and musaErrorNotSupported
 * for cubemaps.
 */
musaError_t musaMalloc3DArray(
    musaArray_t* array, const musaChannelFormatDesc* desc, musaExtent extent,
    unsigned int flags GRIDCL_DEFAULT(0));

/**
 * Frees an array, after all work of its device. Null is nothing to free.
 *
 * Errors: musaErrorContextIsDestroyed for dead handles.
 */
musaError_t musaFreeArray(musaArray_t array);

/**
 * What the elements of an array are, channel widths in bits.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorContextIsDestroyed for dead handles.
 */
musaError_t musaGetChannelDesc(musaChannelFormatDesc* desc, musaArray_const_t array);

/**
 * Elements, extent and flags of an array, as it was asked for; results may be null.
 *
 * Errors: musaErrorContextIsDestroyed for dead handles.
 */
musaError_t musaArrayGetInfo(
    musaChannelFormatDesc* desc, musaExtent* extent, unsigned int* flags, musaArray_t array);

/**
 * Copies `height` rows of `width` bytes to an array of one or two dimensions, from `wOffset` bytes into row
 * `hOffset` on, in the default stream. Returns when host memory is done with.
 *
 * Errors: musaErrorContextIsDestroyed for dead arrays, musaErrorInvalidPitchValue for a pitch below the width,
 * musaErrorInvalidValue beyond the array, for parts of elements, and for pointers as in musaMemcpy,
 * musaErrorInvalidMemcpyDirection. Nothing is written then.
 */
musaError_t musaMemcpy2DToArray(
    musaArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t spitch, size_t width,
    size_t height, musaMemcpyKind kind);

/**
 * The same in a stream. Returns at once; ordinary host memory may change then.
 *
 * Errors: as musaMemcpy2DToArray, and musaErrorContextIsDestroyed for a dead stream.
 */
musaError_t musaMemcpy2DToArrayAsync(
    musaArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t spitch, size_t width,
    size_t height, musaMemcpyKind kind, musaStream_t stream GRIDCL_DEFAULT(0));

/**
 * Copies `height` rows of `width` bytes out of an array of one or two dimensions, from `wOffset` bytes into row
 * `hOffset` on, in the default stream. Returns when host memory is complete.
 *
 * Errors: as musaMemcpy2DToArray.
 */
musaError_t musaMemcpy2DFromArray(
    void* dst, size_t dpitch, musaArray_const_t src, size_t wOffset, size_t hOffset, size_t width,
    size_t height, musaMemcpyKind kind);

/**
 * The same in a stream. Returns at once for page-locked and device memory; ordinary host memory is complete then.
 *
 * Errors: as musaMemcpy2DToArrayAsync.
 */
musaError_t musaMemcpy2DFromArrayAsync(
    void* dst, size_t dpitch, musaArray_const_t src, size_t wOffset, size_t hOffset, size_t width,
    size_t height, musaMemcpyKind kind, musaStream_t stream GRIDCL_DEFAULT(0));

/**
 * Copies `height` rows of `width` bytes between two arrays of one or two dimensions, or within one, in the default
 * stream. Returns before it is done. The elements have to be of one size; their bytes are copied as they are.
 *
 * Errors: as musaMemcpy2DToArray, and musaErrorInvalidValue for parts that overlap.
 */
musaError_t musaMemcpy2DArrayToArray(
    musaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, musaArray_const_t src, size_t wOffsetSrc,
    size_t hOffsetSrc, size_t width, size_t height, musaMemcpyKind kind);

/* ---- Calls: pool */

/**
 * Allocates `size` bytes of the stream's device from its current pool. The stream's later work may use them at
 * once, and so may what is ordered behind that. Size 0 gives a null pointer.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorContextIsDestroyed for a dead stream,
 * musaErrorOutOfMemory.
 */
musaError_t musaMallocAsync(void** devPtr, size_t size, musaStream_t hStream GRIDCL_DEFAULT(0));

/**
 * The same from a pool, which may be another device's.
 *
 * Errors: as musaMallocAsync, and musaErrorInvalidValue for a dead pool.
 */
musaError_t musaMallocFromPoolAsync(
    void** ptr, size_t size, musaMemPool_t memPool, musaStream_t stream GRIDCL_DEFAULT(0));

/**
 * Frees device memory behind the stream's work so far and returns at once; the address is unknown from then on.
 * Memory of musaMalloc may be freed in this way, and the other way about. Null is nothing to free.
 *
 * Errors: musaErrorInvalidValue for anything but the start of a live allocation,
 * musaErrorContextIsDestroyed for a dead stream.
 */
musaError_t musaFreeAsync(void* devPtr, musaStream_t hStream GRIDCL_DEFAULT(0));

/**
 * The pool that a device begins with.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorInvalidDevice.
 */
musaError_t musaDeviceGetDefaultMemPool(musaMemPool_t* memPool, int device);

/**
 * The pool that musaMallocAsync takes a device's memory from.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorInvalidDevice.
 */
musaError_t musaDeviceGetMemPool(musaMemPool_t* memPool, int device);

/**
 * Chooses that pool.
 *
 * Errors: musaErrorInvalidValue for a dead pool or another device's, musaErrorInvalidDevice.
 */
musaError_t musaDeviceSetMemPool(int device, musaMemPool_t memPool);

/**
 * Makes a pool of a device's memory.
 *
 * Errors: musaErrorInvalidValue for null or properties that no pool has, musaErrorNotSupported for a pool that
 * can be shared with other processes.
 */
musaError_t musaMemPoolCreate(musaMemPool_t* memPool, const musaMemPoolProps* poolProps);

/**
 * Gives a pool up; what is allocated from it stays. A device whose current pool it was goes back to its default.
 *
 * Errors: musaErrorInvalidValue for a dead pool and a default pool.
 */
musaError_t musaMemPoolDestroy(musaMemPool_t memPool);

/**
 * Gives back what is free in a pool and known to be done, until it holds at most `minBytesToKeep` bytes.
 *
 * Errors: musaErrorInvalidValue for a dead pool.
 */
musaError_t musaMemPoolTrimTo(musaMemPool_t memPool, size_t minBytesToKeep);

/**
 * An attribute of a pool: an `int` for what it may reuse, a 64-bit number else.
 *
 * Errors: musaErrorInvalidValue for null, a dead pool or an unknown attribute.
 */
musaError_t musaMemPoolGetAttribute(musaMemPool_t memPool, musaMemPoolAttr attr, void* value);

/**
 * Sets what a pool may reuse, the bytes that synchronisations leave in it, or a high mark to 0.
 *
 * Errors: as musaMemPoolGetAttribute, and musaErrorInvalidValue for what can only be asked.
 */
musaError_t musaMemPoolSetAttribute(musaMemPool_t memPool, musaMemPoolAttr attr, void* value);

/**
 * Not supported: OpenCL shares no device memory between processes.
 *
 * Errors: musaErrorInvalidValue for null and for anything but the start of a live device allocation, else
 * musaErrorNotSupported.
 */
musaError_t musaIpcGetMemHandle(musaIpcMemHandle_t* handle, void* devPtr);

/**
 * Not supported: OpenCL shares no device memory between processes.
 *
 * Errors: musaErrorInvalidValue for null and unknown flags, else musaErrorNotSupported.
 */
musaError_t musaIpcOpenMemHandle(void** devPtr, musaIpcMemHandle_t handle, unsigned int flags);

/**
 * Not supported: OpenCL shares no device memory between processes.
 *
 * Errors: musaErrorInvalidValue for null and for memory of the process's own, else musaErrorNotSupported.
 */
musaError_t musaIpcCloseMemHandle(void* devPtr);

/* ---- Calls: pointer */

/**
 * What is known of an address. Memory that the runtime does not know has the type
 * musaMemoryTypeUnregistered and the device musaInvalidDeviceId.
 *
 * Errors: musaErrorInvalidValue for null `attributes`.
 */
musaError_t musaPointerGetAttributes(musaPointerAttributes* attributes, const void* ptr);

/**
 * One attribute of an address: an `int`, a pointer for addresses, a `size_t` for the size.
 *
 * Errors: musaErrorInvalidValue for null, for freed memory, for ordinary host memory but for its type, and for
 * an address that the memory does not have; musaErrorNotSupported for other attributes.
 */
musaError_t musaPointerGetAttribute(void* data, musaPointer_attribute attribute, const void* ptr);

/**
 * Where the memory of an address lives; musaMemoryTypeUnregistered for what the runtime does not know.
 *
 * Errors: musaErrorInvalidValue for null `memoryType`.
 */
musaError_t musaPointerGetMemoryType(musaMemoryType* memoryType, const void* ptr);

/**
 * The device whose memory an address is in, or through which host memory was page-locked; musaInvalidDeviceId
 * for what the runtime does not know.
 *
 * Errors: musaErrorInvalidValue for null `device`.
 */
musaError_t musaPointerGetDevice(int* device, const void* ptr);

/* ---- Calls: symbol */

/**
 * Copies `count` bytes to a symbol from `offset` on, in the default stream. `symbol` is a registered address, or
 * points at its name.
 *
 * Errors: musaErrorInvalidSymbol, musaErrorInvalidValue past its end, musaErrorInvalidMemcpyDirection.
 */
musaError_t musaMemcpyToSymbol(
    const void* symbol, const void* src, size_t count, size_t offset GRIDCL_DEFAULT(0),
    musaMemcpyKind kind GRIDCL_DEFAULT(musaMemcpyHostToDevice));

/**
 * The same in a stream.
 *
 * Errors: as musaMemcpyToSymbol, and musaErrorContextIsDestroyed for a dead stream.
 */
musaError_t musaMemcpyToSymbolAsync(
    const void* symbol, const void* src, size_t count, size_t offset GRIDCL_DEFAULT(0),
    musaMemcpyKind kind GRIDCL_DEFAULT(musaMemcpyHostToDevice), musaStream_t stream GRIDCL_DEFAULT(0));

/**
 * Copies `count` bytes from a symbol from `offset` on, in the default stream. `symbol` is a registered address, or
 * points at its name.
 *
 * Errors: as musaMemcpyToSymbol.
 */
musaError_t musaMemcpyFromSymbol(
    void* dst, const void* symbol, size_t count, size_t offset GRIDCL_DEFAULT(0),
    musaMemcpyKind kind GRIDCL_DEFAULT(musaMemcpyDeviceToHost));

/**
 * The same in a stream.
 *
 * Errors: as musaMemcpyToSymbolAsync.
 */
musaError_t musaMemcpyFromSymbolAsync(
    void* dst, const void* symbol, size_t count, size_t offset GRIDCL_DEFAULT(0),
    musaMemcpyKind kind GRIDCL_DEFAULT(musaMemcpyDeviceToHost), musaStream_t stream GRIDCL_DEFAULT(0));

/**
 * Where a symbol lies on the current device. `symbol` is a registered address, or points at its name.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorInvalidSymbol.
 */
musaError_t musaGetSymbolAddress(void** devPtr, const void* symbol);

/**
 * Bytes of a symbol. `symbol` is a registered address, or points at its name.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorInvalidSymbol.
 */
musaError_t musaGetSymbolSize(size_t* size, const void* symbol);

/* ---- Calls: stream */

/**
 * Creates a stream of the current device, ordered with the default stream.
 *
 * Errors: musaErrorInvalidValue for null.
 */
musaError_t musaStreamCreate(musaStream_t* pStream);

/**
 * The same with flags.
 *
 * Errors: musaErrorInvalidValue for null or unknown flags.
 */
musaError_t musaStreamCreateWithFlags(musaStream_t* pStream, unsigned int flags);

/**
 * The same with a priority, smaller being more urgent; clamped to what there is.
 *
 * Errors: musaErrorInvalidValue for null or unknown flags.
 */
musaError_t musaStreamCreateWithPriority(musaStream_t* pStream, unsigned int flags, int priority);

/**
 * Gives a stream up. Returns at once; its work runs to its end.
 *
 * Errors: musaErrorContextIsDestroyed for default streams and dead handles.
 */
musaError_t musaStreamDestroy(musaStream_t stream);

/**
 * Success when a stream's work is done, else musaErrorNotReady, which is not kept as the last error.
 *
 * Errors: musaErrorContextIsDestroyed for dead handles.
 */
musaError_t musaStreamQuery(musaStream_t stream);

/**
 * Waits for a stream's work; for the default stream, that of all blocking streams too.
 *
 * Errors: musaErrorContextIsDestroyed for dead handles; what the device reported.
 */
musaError_t musaStreamSynchronize(musaStream_t stream);

/**
 * Makes later work of a stream wait for the event as recorded last; of any device.
 *
 * Errors: musaErrorContextIsDestroyed for dead handles, musaErrorInvalidValue for unknown flags.
 */
musaError_t musaStreamWaitEvent(musaStream_t stream, musaEvent_t event, unsigned int flags GRIDCL_DEFAULT(0));

/**
 * The flags of a stream.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorContextIsDestroyed for dead handles.
 */
musaError_t musaStreamGetFlags(musaStream_t stream, unsigned int* flags);

/**
 * The priority of a stream, after clamping.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorContextIsDestroyed for dead handles.
 */
musaError_t musaStreamGetPriority(musaStream_t stream, int* priority);

/**
 * Calls a function of the program in stream order, once, with the stream, success or the device's error, and
 * `userData`. Later work of the stream waits until it has returned. `flags` has to be 0. Calls of the runtime
 * from inside answer musaErrorNotPermitted.
 *
 * Errors: musaErrorInvalidValue for null or flags, musaErrorContextIsDestroyed for dead handles.
 */
musaError_t musaStreamAddCallback(
    musaStream_t stream, musaStreamCallback_t callback, void* userData, unsigned int flags);

/**
 * The same with a function that is told nothing but `userData`.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorContextIsDestroyed for dead handles.
 */
musaError_t musaLaunchHostFunc(musaStream_t stream, musaHostFn_t hostFn, void* userData);

/* ---- Calls: event */

/**
 * Creates an event of the current device that keeps times.
 *
 * Errors: musaErrorInvalidValue for null.
 */
musaError_t musaEventCreate(musaEvent_t* event);

/**
 * The same with flags.
 *
 * Errors: musaErrorInvalidValue for null or unknown flags.
 */
musaError_t musaEventCreateWithFlags(musaEvent_t* event, unsigned int flags);

/**
 * Destroys an event. Returns at once, also while it is pending.
 *
 * Errors: musaErrorContextIsDestroyed for dead handles.
 */
musaError_t musaEventDestroy(musaEvent_t event);

/**
 * Puts an event behind a stream's work so far.
 *
 * Errors: musaErrorContextIsDestroyed for dead handles or a stream of another device.
 */
musaError_t musaEventRecord(musaEvent_t event, musaStream_t stream GRIDCL_DEFAULT(0));

/**
 * The same with flags, of which none changes anything here.
 *
 * Errors: as musaEventRecord, and musaErrorInvalidValue for unknown flags.
 */
musaError_t musaEventRecordWithFlags(
    musaEvent_t event, musaStream_t stream GRIDCL_DEFAULT(0),
    unsigned int flags GRIDCL_DEFAULT(musaEventRecordDefault));

/**
 * Success when the work before an event is done, or it was never recorded; else musaErrorNotReady.
 *
 * Errors: musaErrorContextIsDestroyed for dead handles.
 */
musaError_t musaEventQuery(musaEvent_t event);

/**
 * Waits for the work before an event; returns at once when it was never recorded.
 *
 * Errors: musaErrorContextIsDestroyed for dead handles; what the device reported.
 */
musaError_t musaEventSynchronize(musaEvent_t event);

/**
 * Milliseconds from one event to another, negative when they are the other way round.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorContextIsDestroyed for dead, unrecorded or untimed
 * events and different devices, musaErrorNotReady while one is pending.
 */
musaError_t musaEventElapsedTime(float* ms, musaEvent_t start, musaEvent_t end);

/**
 * The bytes by which another process of the same user opens an event, for as long as the event is there. It
 * has to be made with musaEventInterprocess | musaEventDisableTiming.
 *
 * Errors: musaErrorInvalidValue for null or an event without those flags, musaErrorContextIsDestroyed for
 * dead handles.
 */
musaError_t musaIpcGetEventHandle(musaIpcEventHandle_t* handle, musaEvent_t event);

/**
 * Opens an event of another process, as an event of the current device that keeps no times. Records of either
 * process are waited for by both.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorDeviceUninitialized for a handle of this process,
 * musaErrorContextIsDestroyed when event or process are gone, or another user's.
 */
musaError_t musaIpcOpenEventHandle(musaEvent_t* event, musaIpcEventHandle_t handle);

/* ---- Calls: module and launch */

/**
 * Builds NUL-terminated OpenCL C text for the current device; others build it at first use.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorInvalidKernel for text that does not compile,
 * musaErrorInvalidKernelImage for what is no text or has no kernel.
 */
musaError_t musaModuleLoadData(musaModule_t* module, const void* image);

/**
 * The same from a file.
 *
 * Errors: as musaModuleLoadData, and musaErrorFileNotFound.
 */
musaError_t musaModuleLoad(musaModule_t* module, const char* fname);

/**
 * Ends a module with its functions and symbols, after all work of the current device.
 *
 * Errors: musaErrorContextIsDestroyed for dead handles.
 */
musaError_t musaModuleUnload(musaModule_t module);

/**
 * A kernel of a module by its name.
 *
 * Errors: musaErrorInvalidValue for null or an empty name, musaErrorSymbolNotFound,
 * musaErrorContextIsDestroyed for dead handles.
 */
musaError_t musaModuleGetFunction(musaFunction_t* function, musaModule_t module, const char* name);

/**
 * A symbol's address and size in bytes on the current device; one of the results may be null.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorSymbolNotFound, musaErrorContextIsDestroyed.
 */
musaError_t musaModuleGetGlobal(void** dptr, size_t* bytes, musaModule_t module, const char* name);

/**
 * Launches a kernel, by its handle or a registered address: `args[i]` points at the i-th value, `__local`
 * parameters take none and share `sharedMem` bytes. Returns before it runs; the values are copied.
 *
 * Errors: musaErrorInvalidDeviceFunction for no function, musaErrorInvalidConfiguration and
 * musaErrorLaunchOutOfResources for a shape that does not fit, musaErrorInvalidValue for arguments that do
 * not. Nothing runs then.
 */
musaError_t musaLaunchKernel(
    const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem GRIDCL_DEFAULT(0),
    musaStream_t stream GRIDCL_DEFAULT(0));

/**
 * Not supported: blocks of OpenCL cannot wait for each other. Its arguments are checked as those of
 * musaLaunchKernel.
 *
 * Errors: as musaLaunchKernel, else musaErrorNotSupported.
 */
musaError_t musaLaunchCooperativeKernel(
    const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem GRIDCL_DEFAULT(0),
    musaStream_t stream GRIDCL_DEFAULT(0));

/**
 * musaLaunchKernel with extents one by one. The values are given either by `kernelParams`, as by `args`, or by `extra`, a
 * list of `MU_LAUNCH_PARAM_BUFFER_POINTER`, a buffer, `MU_LAUNCH_PARAM_BUFFER_SIZE`, the address of its size in
 * bytes and `MU_LAUNCH_PARAM_END`: the buffer holds all values, each as aligned as its type.
 *
 * Errors: as musaLaunchKernel, and musaErrorInvalidValue for both or a list that makes no sense,
 * musaErrorNotSupported for a buffer where structures leave open what lies where.
 */
musaError_t musaModuleLaunchKernel(
    musaFunction_t f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
    unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes,
    musaStream_t stream, void** kernelParams, void** extra);

/* ---- Calls: kernels */

/**
 * What a kernel is on the current device. OpenCL tells neither constant memory nor registers: they are 0.
 *
 * Errors: musaErrorInvalidValue for null, musaErrorInvalidDeviceFunction for no function.
 */
musaError_t musaFuncGetAttributes(musaFuncAttributes* attr, const void* func);

/**
 * Checks an attribute of a kernel, and has no effect: dynamic shared memory needs no leave up to the device's
 * limit.
 *
 * Errors: musaErrorInvalidDeviceFunction for no function, musaErrorInvalidValue for an unknown attribute and
 * a value outside of its range.
 */
musaError_t musaFuncSetAttribute(const void* func, musaFuncAttribute attr, int value);

/**
 * How many blocks of a kernel a compute unit runs at once, reckoned from threads and shared memory; 0 for a block
 * that cannot be launched.
 *
 * Errors: musaErrorInvalidValue for null and an empty block, musaErrorInvalidDeviceFunction for no function.
 */
musaError_t musaOccupancyMaxActiveBlocksPerMultiprocessor(
    int* numBlocks, const void* func, int blockSize, size_t dynamicSMemSize GRIDCL_DEFAULT(0));

/**
 * The same; the flags are checked.
 *
 * Errors: as musaOccupancyMaxActiveBlocksPerMultiprocessor, and musaErrorInvalidValue for unknown flags.
 */
musaError_t musaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* numBlocks, const void* func, int blockSize, size_t dynamicSMemSize, unsigned int flags);

/**
 * The block size that keeps most threads of a compute unit busy, and the smallest grid that fills the device.
 *
 * Errors: musaErrorInvalidValue for null, a negative limit and more shared memory than a block may have,
 * musaErrorInvalidDeviceFunction for no function.
 */
musaError_t musaOccupancyMaxPotentialBlockSize(
    int* minGridSize, int* blockSize, const void* func, size_t dynamicSMemSize GRIDCL_DEFAULT(0),
    int blockSizeLimit GRIDCL_DEFAULT(0));

/**
 * The same; the flags are checked.
 *
 * Errors: as musaOccupancyMaxPotentialBlockSize, and musaErrorInvalidValue for unknown flags.
 */
musaError_t musaOccupancyMaxPotentialBlockSizeWithFlags(
    int* minGridSize, int* blockSize, const void* func, size_t dynamicSMemSize, int blockSizeLimit,
    unsigned int flags);

#ifdef __cplusplus
} /* extern "C" */

/* ---- The same calls for typed pointers and functions */

/** The name itself; never null. */
inline const char* musaGetErrorName(musaError_t error) {
    const char* errorName = "";
    (void)musaGetErrorName(&errorName, error);
    return errorName;
}

template <class T>
inline musaError_t musaMalloc(T** devPtr, size_t size) {
    return musaMalloc(static_cast<void**>(static_cast<void*>(devPtr)), size);
}

template <class T>
inline musaError_t musaMallocPitch(T** devPtr, size_t* pitch, size_t width, size_t height) {
    return musaMallocPitch(static_cast<void**>(static_cast<void*>(devPtr)), pitch, width, height);
}

template <class T>
inline musaError_t musaMallocHost(T** ptr, size_t size) {
    return musaMallocHost(static_cast<void**>(static_cast<void*>(ptr)), size);
}

template <class T>
inline musaError_t musaHostAlloc(T** pHost, size_t size, unsigned int flags = musaHostAllocDefault) {
    return musaHostAlloc(static_cast<void**>(static_cast<void*>(pHost)), size, flags);
}

template <class T>
inline musaError_t musaHostGetDevicePointer(T** pDevice, void* pHost, unsigned int flags = 0) {
    return musaHostGetDevicePointer(static_cast<void**>(static_cast<void*>(pDevice)), pHost, flags);
}

template <class T>
inline musaError_t musaMallocManaged(T** devPtr, size_t size, unsigned int flags = musaMemAttachGlobal) {
    return musaMallocManaged(static_cast<void**>(static_cast<void*>(devPtr)), size, flags);
}

template <class T>
inline musaError_t musaMallocAsync(T** devPtr, size_t size, musaStream_t hStream = 0) {
    return musaMallocAsync(static_cast<void**>(static_cast<void*>(devPtr)), size, hStream);
}

template <class T>
inline musaError_t musaMallocFromPoolAsync(
    T** ptr, size_t size, musaMemPool_t memPool, musaStream_t stream = 0) {
    return musaMallocFromPoolAsync(static_cast<void**>(static_cast<void*>(ptr)), size, memPool, stream);
}

template <class T>
inline musaError_t musaGetSymbolAddress(T** devPtr, const void* symbol) {
    return musaGetSymbolAddress(static_cast<void**>(static_cast<void*>(devPtr)), symbol);
}

template <class Result, class... Parameters>
inline musaError_t musaLaunchKernel(
    Result (*func)(Parameters...), dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem = 0,
    musaStream_t stream = 0) {
    return musaLaunchKernel(reinterpret_cast<const void*>(func), gridDim, blockDim, args, sharedMem, stream);
}

template <class Result, class... Parameters>
inline musaError_t musaLaunchCooperativeKernel(
    Result (*func)(Parameters...), dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem = 0,
    musaStream_t stream = 0) {
    return musaLaunchCooperativeKernel(
    reinterpret_cast<const void*>(func), gridDim, blockDim, args, sharedMem, stream);
}

template <class Result, class... Parameters>
inline musaError_t musaFuncGetAttributes(musaFuncAttributes* attr, Result (*func)(Parameters...)) {
    return musaFuncGetAttributes(attr, reinterpret_cast<const void*>(func));
}

template <class Result, class... Parameters>
inline musaError_t musaFuncSetAttribute(Result (*func)(Parameters...), musaFuncAttribute attr, int value) {
    return musaFuncSetAttribute(reinterpret_cast<const void*>(func), attr, value);
}

template <class Result, class... Parameters>
inline musaError_t musaOccupancyMaxActiveBlocksPerMultiprocessor(
    int* numBlocks, Result (*func)(Parameters...), int blockSize, size_t dynamicSMemSize = 0) {
    return musaOccupancyMaxActiveBlocksPerMultiprocessor(
    numBlocks, reinterpret_cast<const void*>(func), blockSize, dynamicSMemSize);
}

template <class Result, class... Parameters>
inline musaError_t musaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* numBlocks, Result (*func)(Parameters...), int blockSize, size_t dynamicSMemSize,
    unsigned int flags) {
    return musaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    numBlocks, reinterpret_cast<const void*>(func), blockSize, dynamicSMemSize, flags);
}

template <class Result, class... Parameters>
inline musaError_t musaOccupancyMaxPotentialBlockSize(
    int* minGridSize, int* blockSize, Result (*func)(Parameters...), size_t dynamicSMemSize = 0,
    int blockSizeLimit = 0) {
    return musaOccupancyMaxPotentialBlockSize(
    minGridSize, blockSize, reinterpret_cast<const void*>(func), dynamicSMemSize, blockSizeLimit);
}

template <class Result, class... Parameters>
inline musaError_t musaOccupancyMaxPotentialBlockSizeWithFlags(
    int* minGridSize, int* blockSize, Result (*func)(Parameters...), size_t dynamicSMemSize,
    int blockSizeLimit, unsigned int flags) {
    return musaOccupancyMaxPotentialBlockSizeWithFlags(
    minGridSize, blockSize, reinterpret_cast<const void*>(func), dynamicSMemSize, blockSizeLimit, flags);
}

#endif

#endif /* GRIDCL_MUSA_RUNTIME_H */
