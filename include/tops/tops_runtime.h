/**
 * The TopsRuntime API of gridcl, on any OpenCL device.
 *
 * Link with libgridcl.so (pkg-config gridcl). Kernels are OpenCL C, loaded with topsModuleLoadData.
 *
 * Printed from gridcl's own tables (GRIDCL_BLESS=1 cargo test --test documents): do not edit, it will be printed again.
 */
#ifndef GRIDCL_TOPS_TOPS_RUNTIME_H
#define GRIDCL_TOPS_TOPS_RUNTIME_H

#include "../gridcl.h"

/** A symbol as an argument: its registered address. */
#define TOPS_SYMBOL(symbol) (symbol)

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Codes */

/** What every TOPS call answers. */
typedef enum topsError_t {
    topsSuccess = 0, /**< no error. */
    topsErrorInvalidValue = 1, /**< an argument is outside of what the call accepts. */
    topsErrorOutOfMemory = 2, /**< out of memory. */
    topsErrorNotInitialized = 3, /**< the runtime cannot be used here. */
    topsErrorDeinitialized = 4, /**< the process is ending. */
    topsErrorProfilerDisabled = 5, /**< the profiler is off. */
    topsErrorProfilerNotInitialized = 6, /**< the profiler was not started. */
    topsErrorProfilerAlreadyStarted = 7, /**< the profiler runs already. */
    topsErrorProfilerAlreadyStopped = 8, /**< the profiler was stopped already. */
    topsErrorInvalidConfiguration = 9, /**< the launch shape is beyond what the device can do. */
    topsErrorInvalidPitchValue = 12, /**< the pitch does not fit the row. */
    topsErrorInvalidSymbol = 13, /**< no such symbol. */
    topsErrorInvalidDevicePointer = 17, /**< not a device pointer. */
    topsErrorInvalidMemcpyDirection = 21, /**< no such copy direction. */
    topsErrorInsufficientDriver = 35, /**< the driver is older than the runtime. */
    topsErrorMissingConfiguration = 52, /**< the launch was not configured. */
    topsErrorPriorLaunchFailure = 53, /**< an earlier launch failed. */
    topsErrorInvalidDeviceFunction = 98, /**< not a kernel. */
    topsErrorNoDevice = 100, /**< no device can be used. */
    topsErrorInvalidDevice = 101, /**< no such device. */
    topsErrorInvalidImage = 200, /**< neither kernel text nor a program of this runtime. */
    topsErrorInvalidContext = 201, /**< no context, or the wrong one. */
    topsErrorContextAlreadyCurrent = 202, /**< the context is current already. */
    topsErrorMapFailed = 205, /**< the memory could not be mapped. */
    topsErrorUnmapFailed = 206, /**< the memory could not be unmapped. */
    topsErrorArrayIsMapped = 207, /**< the array is mapped. */
    topsErrorAlreadyMapped = 208, /**< mapped already. */
    topsErrorNoBinaryForGcu = 209, /**< the program was not built for this device. */
    topsErrorAlreadyAcquired = 210, /**< acquired already. */
    topsErrorNotMapped = 211, /**< not mapped. */
    topsErrorNotMappedAsArray = 212, /**< not mapped as an array. */
    topsErrorNotMappedAsPointer = 213, /**< not mapped as a pointer. */
    topsErrorECCNotCorrectable = 214, /**< a memory error could not be corrected. */
    topsErrorUnsupportedLimit = 215, /**< the device has no such limit. */
    topsErrorContextAlreadyInUse = 216, /**< another thread has the context for itself. */
    topsErrorPeerAccessUnsupported = 217, /**< the device cannot use memory of the other. */
    topsErrorInvalidKernelFile = 218, /**< not a file with kernels. */
    topsErrorInvalidGraphicsContext = 219, /**< the graphics context is not valid. */
    topsErrorInvalidSource = 300, /**< the kernel text does not compile. */
    topsErrorFileNotFound = 301, /**< the file cannot be read. */
    topsErrorSharedObjectSymbolNotFound = 302, /**< a shared object lacks a symbol. */
    topsErrorSharedObjectInitFailed = 303, /**< a shared object could not start. */
    topsErrorOperatingSystem = 304, /**< a call to the operating system failed. */
    topsErrorInvalidHandle = 400, /**< the handle is dead or foreign. */
    topsErrorIllegalState = 401, /**< the object is in no state for that. */
    topsErrorNotFound = 500, /**< nothing has that name. */
    topsErrorNotReady = 600, /**< the work is still going on. */
    topsErrorIllegalAddress = 700, /**< a kernel touched memory that it may not touch. */
    topsErrorLaunchOutOfResources = 701, /**< the kernel needs more than the launch shape leaves. */
    topsErrorLaunchTimeOut = 702, /**< the device stopped a kernel that ran for too long. */
    topsErrorPeerAccessAlreadyEnabled = 704, /**< peer access is on already. */
    topsErrorPeerAccessNotEnabled = 705, /**< peer access is not on. */
    topsErrorSetOnActiveProcess = 708, /**< the device is in use and cannot be changed. */
    topsErrorContextIsDestroyed = 709, /**< the context is gone. */
    topsErrorAssert = 710, /**< an assertion in a kernel failed. */
    topsErrorHostMemoryAlreadyRegistered = 712, /**< the host memory is registered already. */
    topsErrorHostMemoryNotRegistered = 713, /**< the host memory is not registered. */
    topsErrorLaunchFailure = 719, /**< the device failed while it ran a command. */
    topsErrorCooperativeLaunchTooLarge = 720, /**< the cooperative launch does not fit at once. */
    topsErrorNotSupported = 801, /**< not supported, or not allowed here. */
    topsErrorStreamCaptureUnsupported = 900, /**< not possible while the stream is captured. */
    topsErrorStreamCaptureInvalidated = 901, /**< an earlier error ended the capture. */
    topsErrorStreamCaptureMerge = 902, /**< two captures would become one. */
    topsErrorStreamCaptureUnmatched = 903, /**< the capture began in another stream. */
    topsErrorStreamCaptureUnjoined = 904, /**< a branch of the capture was not joined. */
    topsErrorStreamCaptureIsolation = 905, /**< the capture would depend on what lies outside. */
    topsErrorStreamCaptureImplicit = 906, /**< the default stream would depend on the capture. */
    topsErrorCapturedEvent = 907, /**< the event belongs to a capture. */
    topsErrorStreamCaptureWrongThread = 908, /**< another thread began the capture. */
    topsErrorGraphExecUpdateFailure = 910, /**< the graph cannot be changed that way. */
    topsErrorUnknown = 999, /**< unknown error. */
    topsErrorRuntimeMemory = 1052, /**< the layer beneath failed at memory. */
    topsErrorRuntimeOther = 1053, /**< the layer beneath failed at something else. */
    topsErrorTbd = 1054, /**< an error without a code of its own. */
    topsErrorMemoryAllocation = topsErrorOutOfMemory, /**< 2, by its older name. */
    topsErrorInitializationError = topsErrorNotInitialized, /**< 3, by its older name. */
    topsErrorMapBufferObjectFailed = topsErrorMapFailed, /**< 205, by its older name. */
    topsErrorInvalidResourceHandle = topsErrorInvalidHandle, /**< 400, by its older name. */
} topsError_t;

/* ---- Mapping */

/* ---- Handles */

/** A stream: work that runs in order. Null is the default stream of the current device. */
typedef struct itopsStream_t* topsStream_t;

/** An event: a point in a stream that can be waited for and timed. */
typedef struct itopsEvent_t* topsEvent_t;

/** A module: kernels and symbols that were loaded together. */
typedef struct itopsModule_t* topsModule_t;

/** A function: one kernel of a module. */
typedef struct itopsModuleSymbol_t* topsFunction_t;

/** A memory pool: what stream-ordered allocations are taken from. */
typedef struct itopMemPoolHandle_t* topsMemPool_t;

/** A device by its ordinal. */
typedef int topsDevice_t;

/* ---- Callbacks */

/** Called in stream order with the stream, the state it is in, and what the program passed along. */
typedef void (*topsStreamCallback_t)(topsStream_t stream, topsError_t status, void* userData);

/* ---- Streams */

/** The calling thread's own default stream. */
#define topsStreamPerThread ((topsStream_t)0x2)

/** Flags of topsStreamCreateWithFlags; topsStreamCallbackBlocking is for topsStreamAddCallback. */
#define topsStreamDefault 0x0 /**< Ordered with the default stream. */
#define topsStreamNonBlocking 0x1 /**< Not ordered with the default stream. */
#define topsStreamCallbackBlocking 0x2 /**< Later work waits for the callback. */
#define topsStreamNonMerging 0x4 /**< Shares no hardware queue with another stream. */

/** When topsStreamWaitValue32 goes on. */
#define topsStreamWaitValueGte 0x0 /**< The value in memory is not less. */
#define topsStreamWaitValueEq 0x1 /**< It is equal. */
#define topsStreamWaitValueAnd 0x2 /**< They have a bit in common. */
#define topsStreamWaitValueNor 0x3 /**< Some bit is set in neither. */

/* ---- Events */

/** Flags of topsEventCreateWithFlags. */
#define topsEventDefault 0x0 /**< Timed, and waited for by spinning. */
#define topsEventBlockingSync 0x1 /**< A thread that waits for the event sleeps. */
#define topsEventDisableTiming 0x2 /**< Takes no time; cheaper, and no use to topsEventElapsedTime. */
#define topsEventInterprocess 0x4 /**< May be opened by another process; goes with topsEventDisableTiming only. */
#define topsEventRecordOnce 0x8 /**< Is recorded once at most. */
#define topsEventStrongOrder 0x10 /**< Completes after all that was enqueued before it. */
#define topsEventDisableQueryAndSync 0x20 /**< Is neither queried nor waited for by the host. */
#define topsEventReleaseToDevice 0x40000000 /**< Makes earlier writes visible to the device. */
#define topsEventReleaseToSystem 0x80000000 /**< Makes earlier writes visible to the host and other devices. */

/* ---- Other processes */

/** Bytes of an interprocess handle. */
#define TOPS_IPC_HANDLE_SIZE 64

/** What another process needs to open an event; may be copied there by any means. */
typedef struct topsIpcEventHandle_t {
    char reserved[TOPS_IPC_HANDLE_SIZE]; /**< The runtime's own. */
} topsIpcEventHandle_t;

/** What another process needs to open device memory. */
typedef struct topsIpcMemHandle_t {
    char reserved[TOPS_IPC_HANDLE_SIZE]; /**< The runtime's own. */
} topsIpcMemHandle_t;

/** Flags of topsIpcOpenMemHandle. */
#define topsIpcMemLazyEnablePeerAccess 0x0 /**< The only value there is. */

/* ---- Device ordinals */

/** The host, where a call takes a device. */
#define topsCpuDeviceId (-1)

/** No device. */
#define topsInvalidDeviceId (-2)

/* ---- Use */

/** Flags of topsSetDeviceFlags. */
#define topsDeviceScheduleAuto 0x0 /**< The runtime chooses how a thread waits. */
#define topsDeviceScheduleSpin 0x1 /**< A waiting thread spins. */
#define topsDeviceScheduleYield 0x2 /**< A waiting thread lets others run. */
#define topsDeviceScheduleBlockingSync 0x4 /**< A waiting thread sleeps. */
#define topsDeviceScheduleMask 0x7 /**< The bits that say how a thread waits. */
#define topsDeviceMapHost 0x8 /**< Page-locked memory is mapped. */
#define topsDeviceLmemResizeToMax 0x16 /**< Private memory keeps its largest size; no single bit, but the header's number. */

/** Who may use a device. */
typedef enum topsComputeMode {
    topsComputeModeDefault = 0, /**< Every thread of every process. */
    topsComputeModeExclusive = 1, /**< One thread. */
    topsComputeModeProhibited = 2, /**< Nobody. */
    topsComputeModeExclusiveProcess = 3, /**< One process. */
} topsComputeMode;

/** What topsDeviceGetLimit can be asked; only the heap is supported. */
typedef enum topsLimit_t {
    topsLimitPrintfFifoSize = 1, /**< Bytes that kernels can print between two synchronisations. */
    topsLimitMallocHeapSize = 2, /**< Bytes that kernels can allocate. */
} topsLimit_t;

/* ---- Attributes */

/** What topsDeviceGetAttribute can be asked. */
typedef enum topsDeviceAttribute_t {
    topsDeviceAttributeClockRate = 0, /**< Highest clock in kHz. */
    topsDeviceAttributeComputeCapabilityMajor = 1, /**< Compute capability before the dot. */
    topsDeviceAttributeComputeCapabilityMinor = 2, /**< Compute capability behind the dot. */
    topsDeviceAttributeMaxBlockDimX = 3, /**< Largest block in x. */
    topsDeviceAttributeMaxBlockDimY = 4, /**< Largest block in y. */
    topsDeviceAttributeMaxBlockDimZ = 5, /**< Largest block in z. */
    topsDeviceAttributeMaxGridDimX = 6, /**< Largest grid in x. */
    topsDeviceAttributeMaxGridDimY = 7, /**< Largest grid in y. */
    topsDeviceAttributeMaxGridDimZ = 8, /**< Largest grid in z. */
    topsDeviceAttributeMaxThreadsPerBlock = 9, /**< Threads of the largest block. */
    topsDeviceAttributeMultiprocessorCount = 10, /**< Multiprocessors. */
    topsDeviceAttributeMaxSharedMemoryPerBlock = 11, /**< Bytes of shared memory for a block. */
    topsDeviceAttributeEnflameSpecificBegin = 10000, /**< Where the vendor's own attributes begin; none itself. */
    topsDeviceAttributeEnflameMcChannel = 10001, /**< Channels of the memory controllers. */
} topsDeviceAttribute_t;

/* ---- Kernel attributes */

/** What topsFuncGetAttributes tells of a kernel. */
typedef struct topsFuncAttributes {
    int binaryVersion; /**< Version of the machine code, ten times major plus minor. */
    int cacheModeCA; /**< Whether the kernel was built to cache global loads in the first level. */
    size_t constSizeBytes; /**< Bytes of constant memory. */
    size_t localSizeBytes; /**< Bytes of private memory that a thread takes. */
    int maxDynamicSharedSizeBytes; /**< Bytes of dynamic shared memory that a launch may ask for. */
    int maxThreadsPerBlock; /**< Threads of the largest block that can be launched. */
    int numRegs; /**< Registers of a thread. */
    int preferredShmemCarveout; /**< Wanted share of the first-level cache for shared memory, in percent; -1 for no wish. */
    int ptxVersion; /**< Version of the intermediate code, ten times major plus minor. */
    size_t sharedSizeBytes; /**< Bytes of shared memory that a block takes by itself. */
} topsFuncAttributes;

/** What topsFuncGetAttribute can be asked. */
typedef enum topsFunction_attribute {
    TOPS_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0, /**< Threads of the largest block that can be launched. */
    TOPS_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1, /**< Bytes of shared memory that a block takes by itself. */
    TOPS_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2, /**< Bytes of constant memory. */
    TOPS_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3, /**< Bytes of private memory that a thread takes. */
    TOPS_FUNC_ATTRIBUTE_NUM_REGS = 4, /**< Registers of a thread. */
    TOPS_FUNC_ATTRIBUTE_PTX_VERSION = 5, /**< Version of the intermediate code, ten times major plus minor. */
    TOPS_FUNC_ATTRIBUTE_BINARY_VERSION = 6, /**< Version of the machine code, ten times major plus minor. */
    TOPS_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7, /**< Whether the kernel was built to cache global loads in the first level. */
    TOPS_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8, /**< Bytes of dynamic shared memory that a launch may ask for. */
    TOPS_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9, /**< Wanted share of the first-level cache for shared memory, in percent. */
    TOPS_FUNC_ATTRIBUTE_MAX = 10, /**< One more than the last. */
} topsFunction_attribute;

/** Options of topsModuleLoadDataEx, which takes and ignores them. */
typedef enum topsJitOption {
    topsJitOptionMaxRegisters = 0, /**< Registers of a thread. */
    topsJitOptionThreadsPerBlock = 1, /**< Threads of a block. */
    topsJitOptionWallTime = 2, /**< Time spent, in milliseconds. */
    topsJitOptionInfoLogBuffer = 3, /**< Where remarks go. */
    topsJitOptionInfoLogBufferSizeBytes = 4, /**< Bytes there. */
    topsJitOptionErrorLogBuffer = 5, /**< Where errors go. */
    topsJitOptionErrorLogBufferSizeBytes = 6, /**< Bytes there. */
    topsJitOptionOptimizationLevel = 7, /**< How hard to optimise. */
    topsJitOptionTargetFromContext = 8, /**< Build for the current device. */
    topsJitOptionTarget = 9, /**< Build for the architecture given. */
    topsJitOptionFallbackStrategy = 10, /**< What to do without a fitting binary. */
    topsJitOptionGenerateDebugInfo = 11, /**< Keep what debuggers need. */
    topsJitOptionLogVerbose = 12, /**< Make more remarks. */
    topsJitOptionGenerateLineInfo = 13, /**< Keep line numbers. */
    topsJitOptionCacheMode = 14, /**< How loads are cached. */
    topsJitOptionSm3xOpt = 15, /**< Unused. */
    topsJitOptionFastCompile = 16, /**< Build fast rather than well. */
    topsJitOptionNumOptions = 17, /**< One more than the last. */
} topsJitOption;

/* ---- Launch */

/** The next entry of `extra` of topsModuleLaunchKernel is the address of a buffer with all arguments. */
#define TOPS_LAUNCH_PARAM_BUFFER_POINTER ((void*)0x1)

/** The next entry of `extra` is the address of that buffer's size in bytes, a `size_t`. */
#define TOPS_LAUNCH_PARAM_BUFFER_SIZE ((void*)0x2)

/** Ends the list `extra`. */
#define TOPS_LAUNCH_PARAM_END ((void*)0x3)

/** A device address, as the calls that are modelled on a driver interface take it. */
typedef void* topsDeviceptr_t;

/* ---- Allocation */

/** Flags of topsExtMallocWithFlags, and the low 56 bits of those of topsMallocAsync. */
#define topsDeviceMallocDefault 0x0 /**< Device memory. */
#define topsDeviceMallocFinegrained 0x1 /**< Coherent with the host while kernels run. */
#define topsMallocSignalMemory 0x2 /**< A signal between host and device. */
#define topsMallocTopDown 0x4 /**< Taken from the upper end. */
#define topsMallocForbidMergeMove 0x8 /**< Never moved or merged. */
#define topsMallocPreferHighSpeedMem 0x10 /**< Taken from faster memory where there is room. */
#define topsMallocHostAccessable 0x20 /**< Seen by the host. */

/** Flags of topsHostMalloc. */
#define topsHostMallocDefault 0x0 /**< Page-locked. */
#define topsHostMallocPortable 0x1 /**< Page-locked for every device. */
#define topsHostMallocMapped 0x2 /**< Seen by the current device through a pointer of its own. */
#define topsHostMallocWriteCombined 0x4 /**< Fast to write and slow to read for the host. */
#define topsHostMallocNumaUser 0x20000000 /**< Placed as the program's NUMA policy says. */
#define topsHostMallocCoherent 0x40000000 /**< Coherent with the device while kernels run. */
#define topsHostMallocNonCoherent 0x80000000 /**< Coherent with the device at synchronisations only. */

/** Flags of topsHostRegister. */
#define topsHostRegisterDefault 0x0 /**< Page-locked. */
#define topsHostRegisterPortable 0x1 /**< Page-locked for every device. */
#define topsHostRegisterMapped 0x2 /**< Seen by the current device through a pointer of its own. */
#define topsHostRegisterIoMemory 0x4 /**< Memory of another device; not supported. */
#define topsExtHostRegisterCoarseGrained 0x8 /**< Coherent with the device at synchronisations only. */

/** Who may use managed memory; the vendor has the flags and no call that takes them. */
#define topsMemAttachGlobal 0x1 /**< Every stream of every device. */
#define topsMemAttachHost 0x2 /**< The host, until it is attached to a stream. */
#define topsMemAttachSingle 0x4 /**< One stream. */

/** How managed memory will be used; the vendor has the advice and no call that takes it. */
typedef enum topsMemoryAdvise {
    topsMemAdviseSetReadMostly = 1, /**< It is mostly read. */
    topsMemAdviseUnsetReadMostly = 2, /**< It is not mostly read after all. */
    topsMemAdviseSetPreferredLocation = 3, /**< It should live on the device given. */
    topsMemAdviseUnsetPreferredLocation = 4, /**< It may live anywhere. */
    topsMemAdviseSetAccessedBy = 5, /**< The device given will use it. */
    topsMemAdviseUnsetAccessedBy = 6, /**< The device given will no longer use it. */
    topsMemAdviseSetCoarseGrain = 100, /**< It need not be coherent while kernels run. */
    topsMemAdviseUnsetCoarseGrain = 101, /**< It must be coherent while kernels run. */
} topsMemoryAdvise;

/* ---- Copies */

/** The direction of a copy. */
typedef enum topsMemcpyKind {
    topsMemcpyHostToHost = 0, /**< Host to host. */
    topsMemcpyHostToDevice = 1, /**< Host to device. */
    topsMemcpyDeviceToHost = 2, /**< Device to host. */
    topsMemcpyDeviceToDevice = 3, /**< Device to device. */
    topsMemcpyDefault = 4, /**< As the addresses say. */
} topsMemcpyKind;

/** The link that a copy between devices, or an event of another process, should take. */
typedef enum topsTopologyMapType {
    topsTopologyMapTypeAuto = 0, /**< The best there is. */
    topsTopologyMapTypeLocal = 1, /**< Local memory. */
    topsTopologyMapTypeEsl = 2, /**< The vendor's own link. */
    topsTopologyMapTypeP2P = 3, /**< PCI, from device to device. */
    topsTopologyMapTypeClsAsDev = 4, /**< The same card, whose clusters are devices. */
} topsTopologyMapType;

/* ---- Element formats */

/** What the channels of an element hold. */
typedef enum topsChannelFormatKind {
    topsChannelFormatKindSigned = 0, /**< Signed integers. */
    topsChannelFormatKindUnsigned = 1, /**< Unsigned integers. */
    topsChannelFormatKindFloat = 2, /**< Floating-point numbers. */
    topsChannelFormatKindNone = 3, /**< Nothing. */
} topsChannelFormatKind;

/** The format of an element. */
typedef struct topsChannelFormatDesc {
    int x; /**< Bits of the first channel. */
    int y; /**< Bits of the second channel, or 0. */
    int z; /**< Bits of the third channel, or 0. */
    int w; /**< Bits of the fourth channel, or 0. */
    topsChannelFormatKind f; /**< What they hold. */
} topsChannelFormatDesc;

/* ---- Pointers */

/** Where memory lives; there is no member for memory that the runtime does not know. */
typedef enum topsMemoryType {
    topsMemoryTypeHost = 1, /**< Page-locked host memory. */
    topsMemoryTypeDevice = 2, /**< Device memory. */
    topsMemoryTypeScatter = 4, /**< Device memory in several pieces. */
    topsMemoryTypeLazy = 8, /**< The same, made at first use. */
    topsMemoryTypeUnified = 9, /**< Not used. */
} topsMemoryType;

/** What topsPointerGetAttribute can be asked. */
typedef enum topsPointer_attribute {
    TOPS_POINTER_ATTRIBUTE_CONTEXT = 1, /**< The context of the allocation; not supported. */
    TOPS_POINTER_ATTRIBUTE_MEMORY_TYPE = 2, /**< Where the memory lives, as a topsMemoryType. */
    TOPS_POINTER_ATTRIBUTE_DEVICE_POINTER = 3, /**< The address for kernels. */
    TOPS_POINTER_ATTRIBUTE_HOST_POINTER = 4, /**< The address for the host. */
    TOPS_POINTER_ATTRIBUTE_P2P_TOKENS = 5, /**< Tokens for the kernel driver; not supported. */
    TOPS_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6, /**< Whether every copy of the memory is synchronous. */
    TOPS_POINTER_ATTRIBUTE_BUFFER_ID = 7, /**< A number that no other allocation of the process has. */
    TOPS_POINTER_ATTRIBUTE_IS_MANAGED = 8, /**< Whether the memory is managed. */
    TOPS_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9, /**< The ordinal of the owning device. */
    TOPS_POINTER_ATTRIBUTE_IS_LEGACY_TOPS_IPC_CAPABLE = 10, /**< Whether another process can open the memory; not supported. */
    TOPS_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11, /**< The first address of the allocation. */
    TOPS_POINTER_ATTRIBUTE_RANGE_SIZE = 12, /**< The bytes of the allocation. */
    TOPS_POINTER_ATTRIBUTE_MAPPED = 13, /**< Whether memory lies behind the address. */
    TOPS_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14, /**< How the allocation can be shared, a bit mask; not supported. */
    TOPS_POINTER_ATTRIBUTE_IS_GCU_DIRECT_RDMA_CAPABLE = 15, /**< Whether other PCI devices can use the memory; not supported. */
    TOPS_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16, /**< Who may do what with the memory. */
    TOPS_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17, /**< The pool of the allocation; not supported. */
    TOPS_POINTER_ATTRIBUTE_MEM_BANK = 18, /**< The memory bank of the allocation. */
} topsPointer_attribute;

/** What topsPointerGetAttributes tells of an address. */
typedef struct topsPointerAttribute_t {
    topsMemoryType memoryType; /**< Where the memory lives. */
    int device; /**< The owning device. */
    void* device_pointer; /**< The address for kernels, or null. */
    void* host_pointer; /**< The address for the host, or null. */
    int isManaged; /**< Whether the memory is managed. */
    unsigned int allocationFlags; /**< The flags of the allocation. */
} topsPointerAttribute_t;

/* ---- Pools */

/** What a memory pool can be asked and told. */
typedef enum topsMemPoolAttr {
    topsMemPoolReuseFollowEventDependencies = 1, /**< Whether memory freed in another stream is reused once an event orders the two; an `int`. */
    topsMemPoolReuseAllowOpportunistic = 2, /**< Whether memory whose free has happened is reused in any stream; an `int`. */
    topsMemPoolReuseAllowInternalDependencies = 3, /**< Whether the pool may order streams to reuse memory; an `int`. */
    topsMemPoolAttrReleaseThreshold = 4, /**< Bytes that the pool keeps when it gives memory back; a `uint64_t`, as are all below. */
    topsMemPoolAttrReservedMemCurrent = 5, /**< Bytes that the pool holds now. */
    topsMemPoolAttrReservedMemHigh = 6, /**< The most bytes it held since this was set to 0. */
    topsMemPoolAttrUsedMemCurrent = 7, /**< Bytes that the program has of it now. */
    topsMemPoolAttrUsedMemHigh = 8, /**< The most bytes the program had since this was set to 0. */
} topsMemPoolAttr;

/** The kind of a place for memory. */
typedef enum topsMemLocationType {
    topsMemLocationTypeInvalid = 0, /**< No place. */
    topsMemLocationTypeDevice = 1, /**< A device, by its ordinal. */
} topsMemLocationType;

/** What a device may do with a pool's memory. */
typedef enum topsMemAccessFlags {
    topsMemAccessFlagsProtNone = 0, /**< Nothing. */
    topsMemAccessFlagsProtRead = 1, /**< Read. */
    topsMemAccessFlagsProtReadWrite = 3, /**< Read and write. */
} topsMemAccessFlags;

/** The kind of a pool's allocations. */
typedef enum topsMemAllocationType {
    topsMemAllocationTypeInvalid = 0, /**< No kind. */
    topsMemAllocationTypePinned = 1, /**< Memory that stays where it is. */
    topsMemAllocationTypeMax = 0x7fffffff, /**< The largest value. */
} topsMemAllocationType;

/** How a pool can be shared with other processes. */
typedef enum topsMemAllocationHandleType {
    topsMemHandleTypeNone = 0, /**< Not at all. */
    topsMemHandleTypePosixFileDescriptor = 1, /**< By a file descriptor. */
    topsMemHandleTypeWin32 = 2, /**< By a Windows handle. */
    topsMemHandleTypeWin32Kmt = 4, /**< By an older Windows handle. */
} topsMemAllocationHandleType;

/** A place for memory. */
typedef struct topsMemLocation {
    topsMemLocationType type; /**< The kind of place. */
    int id; /**< Which one. */
} topsMemLocation;

/** What one device may do with a pool's memory. */
typedef struct topsMemAccessDesc {
    topsMemLocation location; /**< The device. */
    topsMemAccessFlags flags; /**< What it may do. */
} topsMemAccessDesc;

/** How a pool is to be made. */
typedef struct topsMemPoolProps {
    topsMemAllocationType allocType; /**< The kind of its allocations. */
    topsMemAllocationHandleType handleTypes; /**< How it can be shared. */
    topsMemLocation location; /**< Where its memory lives. */
    void* win32SecurityAttributes; /**< Who may open it on Windows; null here. */
    unsigned char reserved[64]; /**< Zeros. */
} topsMemPoolProps;

/** What another process needs to open an allocation of a pool. */
typedef struct topsMemPoolPtrExportData {
    unsigned char reserved[64]; /**< The runtime's own. */
} topsMemPoolPtrExportData;

/** Features of a device's architecture. */
typedef struct topsDeviceArch_t {
    unsigned int feature; /**< A bit for each feature; the vendor names none. */
} topsDeviceArch_t;

/** What topsGetDeviceProperties tells of a device; whether-questions are answered with 0 or 1. */
typedef struct topsDeviceProp_t {
    char name[256]; /**< The device's name, ended by NUL. */
    size_t totalGlobalMem; /**< Bytes of device memory. */
    size_t sharedMemPerBlock; /**< Bytes of shared memory for a block. */
    int maxThreadsPerBlock; /**< Threads of the largest block. */
    int maxThreadsDim[3]; /**< Largest block in x, y and z. */
    int maxGridSize[3]; /**< Largest grid in x, y and z. */
    int clockRate; /**< Clock in kHz. */
    int memoryClockRate; /**< Clock of the memory in kHz. */
    int memoryBusWidth; /**< Width of the memory bus in bits. */
    int major; /**< Compute capability before the dot. */
    int minor; /**< Compute capability behind the dot. */
    int multiProcessorCount; /**< Multiprocessors. */
    int maxThreadsPerMultiProcessor; /**< Threads that a multiprocessor holds. */
    int computeMode; /**< Who may use the device, a topsComputeMode. */
    int clockInstructionRate; /**< Rate in kHz of the clock that kernels read. */
    topsDeviceArch_t arch; /**< Features of the architecture. */
    int concurrentKernels; /**< Whether several kernels can run at once. */
    int pciDomainID; /**< PCI domain. */
    int pciBusID; /**< PCI bus. */
    int pciDeviceID; /**< PCI device. */
    size_t maxSharedMemoryPerMultiProcessor; /**< Bytes of shared memory of a multiprocessor. */
    int canMapHostMemory; /**< Whether kernels can use page-locked host memory. */
    char gcuArchName[256]; /**< The architecture's name, ended by NUL. */
    int cooperativeLaunch; /**< Whether cooperative launches work. */
    int cooperativeMultiDeviceLaunch; /**< Whether cooperative launches over several devices work. */
    int kernelExecTimeoutEnabled; /**< Whether kernels that run for long are stopped. */
    int ECCEnabled; /**< Whether memory errors are corrected. */
    int isLargeBar; /**< Whether all device memory lies in the host's PCI window. */
    int managedMemory; /**< Whether managed memory can be allocated. */
    int directManagedMemAccessFromHost; /**< Whether the host can use managed memory where it lies. */
    int concurrentManagedAccess; /**< Whether host and kernels can use managed memory at once. */
    int pageableMemoryAccess; /**< Whether kernels can use any host memory. */
    int mc_channel; /**< Channels of the memory controllers. */
    size_t localMemPerThread; /**< Bytes of private memory for a thread. */
    char localUuidId[16]; /**< The device's identity. */
    char remoteUuidId[6][16]; /**< The identities of the devices it is linked to. */
} topsDeviceProp_t;

/* ---- Calls: device */

/**
 * Does what the first call of any kind would do; `flags` has to be 0.
 *
 * Errors: topsErrorInvalidValue for flags, topsErrorNoDevice.
 */
topsError_t topsInit(unsigned int flags);

/**
 * The OpenCL version of the current device, 1000 times the major and 10 times the minor; 0 without a device.
 *
 * Errors: topsErrorInvalidValue for null.
 */
topsError_t topsDriverGetVersion(int* driverVersion);

/**
 * The version of gridcl, 1000 times the major and 10 times the minor.
 *
 * Errors: topsErrorInvalidValue for null.
 */
topsError_t topsRuntimeGetVersion(int* runtimeVersion);

/**
 * How many devices there are.
 *
 * Errors: topsErrorNoDevice and a count of 0 where there is none; topsErrorInvalidValue for null.
 */
topsError_t topsGetDeviceCount(int* count);

/**
 * Makes a device the calling thread's current one. Waits for nothing.
 *
 * Errors: topsErrorInvalidDevice; the current device stays then.
 */
topsError_t topsSetDevice(int deviceId);

/**
 * The calling thread's current device; 0 until it is set.
 *
 * Errors: topsErrorInvalidValue for null.
 */
topsError_t topsGetDevice(int* deviceId);

/**
 * The device handle of an ordinal, which is the ordinal.
 *
 * Errors: topsErrorInvalidValue for null, topsErrorInvalidDevice.
 */
topsError_t topsDeviceGet(topsDevice_t* device, int ordinal);

/**
 * What a device is and can do; sizes in bytes, clocks in kHz.
 *
 * Errors: topsErrorInvalidValue for null, topsErrorInvalidDevice.
 */
topsError_t topsGetDeviceProperties(topsDeviceProp_t* prop, int deviceId);

/**
 * One property of a device as a number.
 *
 * Errors: topsErrorInvalidValue for null or an unknown attribute, topsErrorInvalidDevice.
 */
topsError_t topsDeviceGetAttribute(int* pi, topsDeviceAttribute_t attr, int deviceId);

/**
 * The compute capability of a device.
 *
 * Errors: topsErrorInvalidValue for null, topsErrorInvalidDevice.
 */
topsError_t topsDeviceComputeCapability(int* major, int* minor, topsDevice_t device);

/**
 * The name of a device, cut to `len` bytes with its NUL.
 *
 * Errors: topsErrorInvalidValue for null or no room, topsErrorInvalidDevice.
 */
topsError_t topsDeviceGetName(char* name, int len, topsDevice_t device);

/**
 * Bytes of a device's memory.
 *
 * Errors: topsErrorInvalidValue for null, topsErrorInvalidDevice.
 */
topsError_t topsDeviceTotalMem(size_t* bytes, topsDevice_t device);

/**
 * The device that meets most of what `prop` asks for in the fields that are not zero; the first of several.
 *
 * Errors: topsErrorInvalidValue for null.
 */
topsError_t topsChooseDevice(int* device, const topsDeviceProp_t* prop);

/**
 * Waits for the current device, then ends all that was made on it, in either dialect.
 *
 * Errors: what the device reported about its work; it is reset all the same.
 */
topsError_t topsDeviceReset(void);

/**
 * Waits for all streams of the current device.
 *
 * Errors: what the device reported about their work.
 */
topsError_t topsDeviceSynchronize(void);

/**
 * A device's address on the PCI bus as `dddd:bb:dd.f` in lower-case hex; needs 13 bytes.
 *
 * Errors: topsErrorInvalidValue for null or no room, topsErrorInvalidDevice.
 */
topsError_t topsDeviceGetPCIBusId(char* pciBusId, int len, int device);

/**
 * The device at a PCI address.
 *
 * Errors: topsErrorInvalidValue for null or an empty text, topsErrorInvalidDevice where none is there.
 */
topsError_t topsDeviceGetByPCIBusId(int* device, const char* pciBusId);

/**
 * The flags that topsSetDeviceFlags gave the current device.
 *
 * Errors: topsErrorInvalidValue for null.
 */
topsError_t topsGetDeviceFlags(unsigned int* flags);

/**
 * Sets flags of the current device: with the spin and yield flags threads stay awake while they wait for streams and
 * events, else they wait in the OpenCL driver. Other flags are kept.
 *
 * Errors: topsErrorInvalidValue for unknown bits or several ways to wait.
 */
topsError_t topsSetDeviceFlags(unsigned int flags);

/**
 * A limit of the current device in bytes; only what kernels can allocate is known, and that is 0.
 *
 * Errors: topsErrorInvalidValue for null, topsErrorUnsupportedLimit for other limits.
 */
topsError_t topsDeviceGetLimit(size_t* pValue, topsLimit_t limit);

/* ---- Calls: error */

/** The calling thread's last error, which is forgotten with that. */
topsError_t topsGetLastError(void);

/** The calling thread's last error, which stays. */
topsError_t topsPeekAtLastError(void);

/** The name of an error; never null. */
const char* topsGetErrorName(topsError_t error);

/** The name of an error, as the vendor's header says of this call; never null. */
const char* topsGetErrorString(topsError_t error);

/* ---- Calls: memory */

/**
 * Allocates `size` bytes on the current device, aligned to 256. Size 0 gives a pointer that can be freed.
 *
 * Errors: topsErrorInvalidValue for null, topsErrorOutOfMemory.
 */
topsError_t topsMalloc(void** ptr, size_t size);

/**
 * Allocates as topsMalloc does. The flags are kept and ask for nothing that OpenCL lets one choose: the host
 * reaches none of the memory by its address.
 *
 * Errors: as topsMalloc, and topsErrorInvalidValue for unknown flags.
 */
topsError_t topsExtMallocWithFlags(void** ptr, size_t sizeBytes, unsigned int flags);

/**
 * Frees device memory, after all work of its device. Null is nothing to free.
 *
 * Errors: topsErrorInvalidDevicePointer for anything but the start of a live allocation.
 */
topsError_t topsFree(void* ptr);

/**
 * Allocates `size` bytes of page-locked host memory. The flags are kept and ask for nothing that OpenCL lets
 * one choose.
 *
 * Errors: topsErrorInvalidValue for null or unknown flags, topsErrorOutOfMemory.
 */
topsError_t topsHostMalloc(void** ptr, size_t size, unsigned int flags GRIDCL_DEFAULT(topsHostMallocDefault));

/**
 * Frees page-locked host memory, after all work of every device. Null is nothing to free.
 *
 * Errors: topsErrorInvalidValue for anything else.
 */
topsError_t topsHostFree(void* ptr);

/**
 * Page-locks memory that the program has. It has to stay until it is unregistered.
 *
 * Errors: topsErrorInvalidValue for null, size 0, unmapped memory or unknown flags, topsErrorOutOfMemory
 * for more than the host has, topsErrorHostMemoryAlreadyRegistered where a byte is registered,
 * topsErrorNotSupported for I/O memory.
 */
topsError_t topsHostRegister(
    void* hostPtr, size_t sizeBytes, unsigned int flags GRIDCL_DEFAULT(topsHostRegisterDefault));

/**
 * Ends a registration, after all work of every device.
 *
 * Errors: topsErrorInvalidValue for null, topsErrorHostMemoryNotRegistered for what is not registered.
 */
topsError_t topsHostUnregister(void* hostPtr);

/**
 * The flags that page-locked memory was made with.
 *
 * Errors: topsErrorInvalidValue for null or other memory.
 */
topsError_t topsHostGetFlags(unsigned int* flagsPtr, void* hostPtr);

/**
 * The address by which kernels on the current device reach page-locked memory: the memory's own, interior
 * addresses included. The host sees what kernels wrote there after the next synchronisation. `flags` has to be 0.
 *
 * Errors: topsErrorInvalidValue for null, other memory or flags; topsErrorNotSupported where kernels do not reach
 * the host's memory.
 */
topsError_t topsHostGetDevicePointer(void** devPtr, void* hstPtr, unsigned int flags GRIDCL_DEFAULT(0));

/**
 * Free and total bytes of the current device.
 *
 * Errors: topsErrorInvalidValue for null.
 */
topsError_t topsMemGetInfo(size_t* free, size_t* total);

/**
 * Copies `sizeBytes` bytes in the default stream. Returns when host memory is done with; copies between device
 * memory go on.
 *
 * Errors: topsErrorInvalidValue for null, unknown, freed or overrun pointers or a partial overlap,
 * topsErrorInvalidMemcpyDirection for an unknown kind. Nothing is written then.
 */
topsError_t topsMemcpy(void* dst, const void* src, size_t sizeBytes, topsMemcpyKind kind);

/**
 * Copies `sizeBytes` bytes in a stream. Returns at once for page-locked and device memory; ordinary host memory
 * may change or is complete when it returns.
 *
 * Errors: as topsMemcpy, and topsErrorInvalidHandle for a dead stream.
 */
topsError_t topsMemcpyAsync(
    void* dst, const void* src, size_t sizeBytes, topsMemcpyKind kind, topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * Copies `sizeBytes` bytes in a stream and returns as topsMemcpy does.
 *
 * Errors: as topsMemcpyAsync.
 */
topsError_t topsMemcpyWithStream(
    void* dst, const void* src, size_t sizeBytes, topsMemcpyKind kind, topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * Copies from host to device memory in the default stream; returns as topsMemcpy does.
 *
 * Errors: as topsMemcpy.
 */
topsError_t topsMemcpyHtoD(topsDeviceptr_t dst, void* src, size_t sizeBytes);

/**
 * Copies from device to host memory in the default stream; returns as topsMemcpy does.
 *
 * Errors: as topsMemcpy.
 */
topsError_t topsMemcpyDtoH(void* dst, topsDeviceptr_t src, size_t sizeBytes);

/**
 * Copies between device memory in the default stream; returns as topsMemcpy does.
 *
 * Errors: as topsMemcpy.
 */
topsError_t topsMemcpyDtoD(topsDeviceptr_t dst, topsDeviceptr_t src, size_t sizeBytes);

/**
 * Copies from host to device memory in a stream; returns as topsMemcpyAsync does.
 *
 * Errors: as topsMemcpyAsync.
 */
topsError_t topsMemcpyHtoDAsync(
    topsDeviceptr_t dst, void* src, size_t sizeBytes, topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * Copies from device to host memory in a stream; returns as topsMemcpyAsync does.
 *
 * Errors: as topsMemcpyAsync.
 */
topsError_t topsMemcpyDtoHAsync(
    void* dst, topsDeviceptr_t src, size_t sizeBytes, topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * Copies between device memory in a stream; returns as topsMemcpyAsync does.
 *
 * Errors: as topsMemcpyAsync.
 */
topsError_t topsMemcpyDtoDAsync(
    topsDeviceptr_t dst, topsDeviceptr_t src, size_t sizeBytes, topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * Sets `sizeBytes` bytes to the low byte of `value` in the default stream. Returns before it is done, but for
 * page-locked host memory.
 *
 * Errors: topsErrorInvalidValue for null, unknown, freed or overrun pointers.
 */
topsError_t topsMemset(void* dst, int value, size_t sizeBytes);

/**
 * Sets `sizeBytes` bytes to the low byte of `value` in a stream.
 *
 * Errors: as topsMemset, and topsErrorInvalidHandle for a dead stream.
 */
topsError_t topsMemsetAsync(void* dst, int value, size_t sizeBytes, topsStream_t stream GRIDCL_DEFAULT(0));

/* ---- Calls: peer */

/**
 * How a device can use another's memory, as bits: 0, for no OpenCL device can.
 *
 * Errors: topsErrorInvalidValue for null, topsErrorInvalidDevice.
 */
topsError_t topsDeviceCanAccessPeer(int* canAccess, int deviceId, int peerDeviceId);

/**
 * Lets the current device use another's memory, which no OpenCL device can. Copies work without it.
 *
 * Errors: topsErrorInvalidDevice, also for the current device; topsErrorInvalidValue for flags;
 * topsErrorPeerAccessUnsupported.
 */
topsError_t topsDeviceEnablePeerAccess(int peerDeviceId, unsigned int flags);

/**
 * Lets the current device use part of another's memory, which no OpenCL device can.
 *
 * Errors: topsErrorInvalidDevice, also for the current device; topsErrorInvalidValue for null, size 0 and
 * memory that is not the other device's; topsErrorNotSupported.
 */
topsError_t topsDeviceEnablePeerAccessRegion(int peerDeviceId, void* peerDevPtr, size_t size, void** devPtr);

/**
 * Ends what topsDeviceEnablePeerAccessRegion began.
 *
 * Errors: as topsDeviceEnablePeerAccessRegion.
 */
topsError_t topsDeviceDisablePeerAccessRegion(int peerDeviceId, void* peerDevPtr, size_t size);

/**
 * Copies `sizeBytes` bytes from one device to another, after the work of the default streams of both and of the
 * current device, and before their later work. Returns before it is done.
 *
 * Errors: topsErrorInvalidDevice; topsErrorInvalidValue for null, unknown, freed or overrun pointers and for
 * memory that is not of the device named. Nothing is written then.
 */
topsError_t topsMemcpyPeer(void* dst, int dstDevice, const void* src, int srcDevice, size_t sizeBytes);

/**
 * Copies `sizeBytes` bytes from one device to another in a stream of any device. Returns before it is done.
 *
 * Errors: as topsMemcpyPeer, and topsErrorInvalidHandle for a dead stream.
 */
topsError_t topsMemcpyPeerAsync(
    void* dst, int dstDevice, const void* src, int srcDevice, size_t sizeBytes,
    topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * topsMemcpyPeer over a link of the program's choice, which OpenCL does not let one choose.
 *
 * Errors: as topsMemcpyPeer, and topsErrorInvalidValue for an unknown link. Any port will do.
 */
topsError_t topsMemcpyPeerExt(
    void* dst, int dstDevice, const void* src, int srcDevice, size_t sizeBytes, topsTopologyMapType map,
    int port);

/**
 * topsMemcpyPeerAsync over a link of the program's choice, which OpenCL does not let one choose.
 *
 * Errors: as topsMemcpyPeerAsync, and topsErrorInvalidValue for an unknown link. Any port will do.
 */
topsError_t topsMemcpyPeerExtAsync(
    void* dst, int dstDevice, const void* src, int srcDevice, size_t sizeBytes, topsTopologyMapType map,
    int port, topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * Sets `count` bytes to `value` in the default stream; returns as topsMemset does.
 *
 * Errors: as topsMemset.
 */
topsError_t topsMemsetD8(topsDeviceptr_t dest, unsigned char value, size_t count);

/**
 * The same in a stream.
 *
 * Errors: as topsMemsetAsync.
 */
topsError_t topsMemsetD8Async(
    topsDeviceptr_t dest, unsigned char value, size_t count, topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * Sets `count` 16-bit elements to `value` in the default stream, at any address; returns as topsMemset does.
 *
 * Errors: as topsMemset.
 */
topsError_t topsMemsetD16(topsDeviceptr_t dest, unsigned short value, size_t count);

/**
 * The same in a stream.
 *
 * Errors: as topsMemsetAsync.
 */
topsError_t topsMemsetD16Async(
    topsDeviceptr_t dest, unsigned short value, size_t count, topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * Sets `count` 32-bit elements to `value` in the default stream, at any address; returns as topsMemset does.
 *
 * Errors: as topsMemset.
 */
topsError_t topsMemsetD32(topsDeviceptr_t dest, int value, size_t count);

/**
 * The same in a stream.
 *
 * Errors: as topsMemsetAsync.
 */
topsError_t topsMemsetD32Async(
    topsDeviceptr_t dst, int value, size_t count, topsStream_t stream GRIDCL_DEFAULT(0));

/* ---- Calls: pool */

/**
 * Allocates `size` bytes of the stream's device from its current pool. The stream's later work may use them at
 * once, and so may what is ordered behind that. The flags are kept to nothing that OpenCL lets one choose, and
 * neither is the memory bank in their upper byte. Size 0 gives a pointer that can be freed.
 *
 * Errors: topsErrorInvalidValue for null or unknown flags, topsErrorInvalidHandle for a dead stream,
 * topsErrorOutOfMemory.
 */
topsError_t topsMallocAsync(void** dev_ptr, size_t size, topsStream_t stream, uint64_t flags);

/**
 * The same from a pool, which may be another device's.
 *
 * Errors: as topsMallocAsync, and topsErrorInvalidValue for a dead pool.
 */
topsError_t topsMallocFromPoolAsync(
    void** dev_ptr, size_t size, topsMemPool_t mem_pool, topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * Frees device memory behind the stream's work so far and returns at once; the address is unknown from then on.
 * Memory of topsMalloc may be freed in this way, and the other way about. Null is nothing to free.
 *
 * Errors: topsErrorInvalidValue for anything but the start of a live allocation, topsErrorInvalidHandle for a
 * dead stream.
 */
topsError_t topsFreeAsync(void* dev_ptr, topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * The pool that topsMallocAsync takes a device's memory from.
 *
 * Errors: topsErrorInvalidValue for null, topsErrorInvalidDevice.
 */
topsError_t topsDeviceGetMemPool(topsMemPool_t* mem_pool, int device);

/**
 * Makes a pool of a device's memory.
 *
 * Errors: topsErrorInvalidValue for null or properties that no pool has, topsErrorNotSupported for a pool that
 * can be shared with other processes.
 */
topsError_t topsMemPoolCreate(topsMemPool_t* mem_pool, const topsMemPoolProps* pool_props);

/**
 * Gives a pool up; what is allocated from it stays. A device whose current pool it was goes back to its default.
 *
 * Errors: topsErrorInvalidValue for a dead pool and a default pool.
 */
topsError_t topsMemPoolDestroy(topsMemPool_t mem_pool);

/**
 * Gives back what is free in a pool and known to be done, until it holds at most `min_bytes_to_hold` bytes.
 *
 * Errors: topsErrorInvalidValue for a dead pool.
 */
topsError_t topsMemPoolTrimTo(topsMemPool_t mem_pool, size_t min_bytes_to_hold);

/**
 * An attribute of a pool: an `int` for what it may reuse, a 64-bit number else.
 *
 * Errors: topsErrorInvalidValue for null, a dead pool or an unknown attribute.
 */
topsError_t topsMemPoolGetAttribute(topsMemPool_t mem_pool, topsMemPoolAttr attr, void* value);

/**
 * Sets what a pool may reuse, the bytes that synchronisations leave in it, or a high mark to 0.
 *
 * Errors: as topsMemPoolGetAttribute, and topsErrorInvalidValue for what can only be asked.
 */
topsError_t topsMemPoolSetAttribute(topsMemPool_t mem_pool, topsMemPoolAttr attr, void* value);

/**
 * Lets devices at a pool's memory. Its own device reads and writes it always; others cannot through OpenCL.
 *
 * Errors: topsErrorInvalidValue for null, none, a dead pool, unknown flags or less for its own device,
 * topsErrorPeerAccessUnsupported for another device.
 */
topsError_t topsMemPoolSetAccess(topsMemPool_t mem_pool, const topsMemAccessDesc* desc_list, size_t count);

/**
 * What a device may do with a pool's memory: read and write it, or nothing.
 *
 * Errors: topsErrorInvalidValue for null, a dead pool or what is no device.
 */
topsError_t topsMemPoolGetAccess(
    topsMemAccessFlags* flags, topsMemPool_t mem_pool, topsMemLocation* location);

/**
 * Not supported: OpenCL shares no device memory between processes.
 *
 * Errors: topsErrorInvalidValue for arguments that would be wrong, else topsErrorNotSupported.
 */
topsError_t topsMemPoolExportToShareableHandle(
    void* shared_handle, topsMemPool_t mem_pool, topsMemAllocationHandleType handle_type, unsigned int flags);

/**
 * Not supported: OpenCL shares no device memory between processes.
 *
 * Errors: topsErrorInvalidValue for arguments that would be wrong, else topsErrorNotSupported.
 */
topsError_t topsMemPoolImportFromShareableHandle(
    topsMemPool_t* mem_pool, void* shared_handle, topsMemAllocationHandleType handle_type,
    unsigned int flags);

/**
 * Not supported: OpenCL shares no device memory between processes.
 *
 * Errors: topsErrorInvalidValue for arguments that would be wrong, else topsErrorNotSupported.
 */
topsError_t topsMemPoolExportPointer(topsMemPoolPtrExportData* export_data, void* dev_ptr);

/**
 * Not supported: OpenCL shares no device memory between processes.
 *
 * Errors: topsErrorInvalidValue for arguments that would be wrong, else topsErrorNotSupported.
 */
topsError_t topsMemPoolImportPointer(
    void** dev_ptr, topsMemPool_t mem_pool, topsMemPoolPtrExportData* export_data);

/**
 * Not supported: OpenCL shares no device memory between processes.
 *
 * Errors: topsErrorInvalidValue for null and for anything but the start of a live device allocation, else
 * topsErrorNotSupported.
 */
topsError_t topsIpcGetMemHandle(topsIpcMemHandle_t* handle, void* devPtr);

/**
 * Not supported: OpenCL shares no device memory between processes.
 *
 * Errors: topsErrorInvalidValue for null and unknown flags, else topsErrorNotSupported.
 */
topsError_t topsIpcOpenMemHandle(void** devPtr, topsIpcMemHandle_t handle, unsigned int flags);

/**
 * Not supported: OpenCL shares no device memory between processes.
 *
 * Errors: topsErrorInvalidValue for null and for memory of the process's own, else topsErrorNotSupported.
 */
topsError_t topsIpcCloseMemHandle(void* devPtr);

/* ---- Calls: pointer */

/**
 * What is known of an address within a live allocation.
 *
 * Errors: topsErrorInvalidValue for null and for memory that the runtime does not know.
 */
topsError_t topsPointerGetAttributes(topsPointerAttribute_t* attributes, const void* ptr);

/**
 * One attribute of an address: an `int`, a pointer for addresses, a `size_t` for the size.
 *
 * Errors: topsErrorInvalidValue for null, unknown attributes, memory that the runtime does not know and an
 * address that the memory does not have; topsErrorNotSupported for attributes that the vendor does not support.
 */
topsError_t topsPointerGetAttribute(void* data, topsPointer_attribute attribute, topsDeviceptr_t ptr);

/**
 * Several attributes of one address, all or none of them; an address that the memory does not have is null.
 *
 * Errors: as topsPointerGetAttribute, and topsErrorInvalidValue for none.
 */
topsError_t topsDrvPointerGetAttributes(
    unsigned int numAttributes, topsPointer_attribute* attributes, void** data, topsDeviceptr_t ptr);

/**
 * Start and bytes of the allocation that an address is in. Either result may be left out.
 *
 * Errors: topsErrorInvalidDevicePointer for memory that the runtime does not know.
 */
topsError_t topsMemGetAddressRange(topsDeviceptr_t* pbase, size_t* psize, topsDeviceptr_t dptr);

/**
 * The bytes that were asked for of the allocation that an address is in.
 *
 * Errors: topsErrorInvalidValue for null and for memory that the runtime does not know.
 */
topsError_t topsMemPtrGetInfo(void* ptr, size_t* size);

/* ---- Calls: symbol */

/**
 * Where a symbol lies on the current device. `symbol` is a registered address, or points at its name.
 *
 * Errors: topsErrorInvalidValue for null, topsErrorInvalidSymbol.
 */
topsError_t topsGetSymbolAddress(void** devPtr, const void* symbol);

/**
 * Bytes of a symbol. `symbol` is a registered address, or points at its name.
 *
 * Errors: topsErrorInvalidValue for null, topsErrorInvalidSymbol.
 */
topsError_t topsGetSymbolSize(size_t* size, const void* symbol);

/**
 * Copies `sizeBytes` bytes to a symbol from `offset` on, in the default stream. `symbol` is a registered address, or
 * points at its name.
 *
 * Errors: topsErrorInvalidSymbol, topsErrorInvalidValue past its end, topsErrorInvalidMemcpyDirection.
 */
topsError_t topsMemcpyToSymbol(
    const void* symbol, const void* src, size_t sizeBytes, size_t offset GRIDCL_DEFAULT(0),
    topsMemcpyKind kind GRIDCL_DEFAULT(topsMemcpyHostToDevice));

/**
 * The same in a stream.
 *
 * Errors: as topsMemcpyToSymbol, and topsErrorInvalidHandle for a dead stream.
 */
topsError_t topsMemcpyToSymbolAsync(
    const void* symbol, const void* src, size_t sizeBytes, size_t offset GRIDCL_DEFAULT(0),
    topsMemcpyKind kind GRIDCL_DEFAULT(topsMemcpyHostToDevice), topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * Copies `sizeBytes` bytes from a symbol from `offset` on, in the default stream. `symbol` is a registered address, or
 * points at its name.
 *
 * Errors: as topsMemcpyToSymbol.
 */
topsError_t topsMemcpyFromSymbol(
    void* dst, const void* symbol, size_t sizeBytes, size_t offset GRIDCL_DEFAULT(0),
    topsMemcpyKind kind GRIDCL_DEFAULT(topsMemcpyDeviceToHost));

/**
 * The same in a stream.
 *
 * Errors: as topsMemcpyToSymbol, and topsErrorInvalidHandle for a dead stream.
 */
topsError_t topsMemcpyFromSymbolAsync(
    void* dst, const void* symbol, size_t sizeBytes, size_t offset GRIDCL_DEFAULT(0),
    topsMemcpyKind kind GRIDCL_DEFAULT(topsMemcpyDeviceToHost), topsStream_t stream GRIDCL_DEFAULT(0));

/* ---- Calls: stream */

/**
 * Creates a stream of the current device, ordered with the default stream.
 *
 * Errors: topsErrorInvalidValue for null.
 */
topsError_t topsStreamCreate(topsStream_t* stream);

/**
 * The same with flags; topsStreamNonMerging changes nothing, since no two actions are ever merged.
 *
 * Errors: topsErrorInvalidValue for null or unknown flags.
 */
topsError_t topsStreamCreateWithFlags(topsStream_t* stream, unsigned int flags);

/**
 * Gives a stream up. Returns at once; its work runs to its end.
 *
 * Errors: topsErrorInvalidHandle for default streams and dead handles.
 */
topsError_t topsStreamDestroy(topsStream_t stream);

/**
 * Success when a stream's work is done, else topsErrorNotReady, which is not kept as the last error.
 *
 * Errors: topsErrorInvalidHandle for dead handles.
 */
topsError_t topsStreamQuery(topsStream_t stream);

/**
 * Waits for a stream's work; for the default stream, that of all blocking streams too.
 *
 * Errors: topsErrorInvalidHandle for dead handles; what the device reported.
 */
topsError_t topsStreamSynchronize(topsStream_t stream);

/**
 * Makes later work of a stream wait for the event as recorded last; of any device. `flags` has to be 0.
 *
 * Errors: topsErrorInvalidHandle for dead handles, topsErrorInvalidValue for flags.
 */
topsError_t topsStreamWaitEvent(topsStream_t stream, topsEvent_t event, unsigned int flags GRIDCL_DEFAULT(0));

/**
 * Calls a function of the program in stream order, once, with the stream, success or the device's error, and
 * `userData`. Later work of the stream waits until it has returned, with either flag. Calls of the runtime from
 * inside answer topsErrorNotSupported.
 *
 * Errors: topsErrorInvalidValue for null or unknown flags, topsErrorInvalidHandle for dead handles.
 */
topsError_t topsStreamAddCallback(
    topsStream_t stream, topsStreamCallback_t callback, void* userData, unsigned int flags);

/**
 * Not supported: OpenCL's queues do not write single words.
 *
 * Errors: topsErrorInvalidDevicePointer for what is no word of device memory, topsErrorInvalidValue for flags,
 * else topsErrorNotSupported.
 */
topsError_t topsStreamWriteValue32(topsDeviceptr_t dst, int value, unsigned int flags);

/**
 * The same in a stream.
 *
 * Errors: as topsStreamWriteValue32, and topsErrorInvalidHandle for a dead stream.
 */
topsError_t topsStreamWriteValue32Async(
    topsDeviceptr_t dst, int value, unsigned int flags, topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * Not supported: OpenCL's queues do not watch single words.
 *
 * Errors: topsErrorInvalidDevicePointer for what is no word of device memory, topsErrorInvalidValue for unknown
 * flags, else topsErrorNotSupported.
 */
topsError_t topsStreamWaitValue32(topsDeviceptr_t dst, int value, unsigned int flags);

/**
 * The same in a stream.
 *
 * Errors: as topsStreamWaitValue32, and topsErrorInvalidHandle for a dead stream.
 */
topsError_t topsStreamWaitValue32Async(
    topsDeviceptr_t dst, int value, unsigned int flags, topsStream_t stream GRIDCL_DEFAULT(0));

/* ---- Calls: event */

/**
 * Creates an event of the current device that keeps times.
 *
 * Errors: topsErrorInvalidValue for null.
 */
topsError_t topsEventCreate(topsEvent_t* event);

/**
 * The same with flags.
 *
 * Errors: topsErrorInvalidValue for null, unknown flags, or both release flags.
 */
topsError_t topsEventCreateWithFlags(topsEvent_t* event, unsigned int flags);

/**
 * Destroys an event. Returns at once, also while it is pending.
 *
 * Errors: topsErrorInvalidHandle for dead handles.
 */
topsError_t topsEventDestroy(topsEvent_t event);

/**
 * Puts an event behind a stream's work so far.
 *
 * Errors: topsErrorInvalidHandle for dead handles or a stream of another device.
 */
topsError_t topsEventRecord(topsEvent_t event, topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * Success when the work before an event is done, or it was never recorded; else topsErrorNotReady.
 *
 * Errors: topsErrorInvalidHandle for dead handles.
 */
topsError_t topsEventQuery(topsEvent_t event);

/**
 * Waits for the work before an event; returns at once when it was never recorded.
 *
 * Errors: topsErrorInvalidHandle for dead handles; what the device reported.
 */
topsError_t topsEventSynchronize(topsEvent_t event);

/**
 * Milliseconds from one event to another, negative when they are the other way round.
 *
 * Errors: topsErrorInvalidValue for null, topsErrorInvalidHandle for dead, unrecorded or untimed events and
 * different devices, topsErrorNotReady while one is pending.
 */
topsError_t topsEventElapsedTime(float* ms, topsEvent_t start, topsEvent_t stop);

/**
 * The bytes by which another process of the same user opens an event, for as long as the event is there. It
 * has to be made with topsEventInterprocess | topsEventDisableTiming.
 *
 * Errors: topsErrorInvalidValue for null or an event without those flags, topsErrorInvalidHandle for dead
 * handles.
 */
topsError_t topsIpcGetEventHandle(topsIpcEventHandle_t* handle, topsEvent_t event);

/**
 * Opens an event of another process, as an event of the current device that keeps no times. Records of either
 * process are waited for by both, also in streams.
 *
 * Errors: topsErrorInvalidValue for null, topsErrorInvalidContext for a handle of this process,
 * topsErrorInvalidHandle when event or process are gone, or another user's.
 */
topsError_t topsIpcOpenEventHandle(topsEvent_t* event, topsIpcEventHandle_t handle);

/**
 * The same over a link of the program's choice, which OpenCL does not let one choose. Any port will do.
 *
 * Errors: as topsIpcOpenEventHandle, and topsErrorInvalidValue for an unknown link.
 */
topsError_t topsIpcOpenEventHandleExt(
    topsEvent_t* event, topsIpcEventHandle_t handle, topsTopologyMapType map, int port);

/* ---- Calls: module and launch */

/**
 * Builds NUL-terminated OpenCL C text for the current device; others build it at first use.
 *
 * Errors: topsErrorInvalidValue for null, topsErrorInvalidSource for text that does not compile,
 * topsErrorInvalidImage for what is no text or has no kernel.
 */
topsError_t topsModuleLoadData(topsModule_t* module, const void* image);

/**
 * The same with options for the vendor's compiler, which are not used.
 *
 * Errors: as topsModuleLoadData, and topsErrorInvalidValue for options that are null.
 */
topsError_t topsModuleLoadDataEx(
    topsModule_t* module, const void* image, unsigned int numOptions, topsJitOption* options,
    void** optionValues);

/**
 * The same from a file.
 *
 * Errors: as topsModuleLoadData, and topsErrorFileNotFound.
 */
topsError_t topsModuleLoad(topsModule_t* module, const char* fname);

/**
 * Ends a module with its functions and symbols, after all work of the current device.
 *
 * Errors: topsErrorInvalidHandle for dead handles.
 */
topsError_t topsModuleUnload(topsModule_t module);

/**
 * A kernel of a module by its name.
 *
 * Errors: topsErrorInvalidValue for null or an empty name, topsErrorNotFound, topsErrorInvalidHandle for
 * dead handles.
 */
topsError_t topsModuleGetFunction(topsFunction_t* function, topsModule_t module, const char* kname);

/**
 * A symbol's address and size in bytes on the current device; either result may be null.
 *
 * Errors: topsErrorInvalidValue for a null name, topsErrorNotFound, topsErrorInvalidHandle.
 */
topsError_t topsModuleGetGlobal(void** dptr, size_t* bytes, topsModule_t hmod, const char* name);

/**
 * Launches a kernel, by its handle or a registered address: `args[i]` points at the i-th value, `__local`
 * parameters take none and share `sharedMemBytes`. Returns before it runs; the values are copied.
 *
 * Errors: topsErrorInvalidDeviceFunction for no function, topsErrorInvalidConfiguration and
 * topsErrorLaunchOutOfResources for a shape that does not fit, topsErrorInvalidValue for arguments that do
 * not. Nothing runs then.
 */
topsError_t topsLaunchKernel(
    const void* function_address, dim3 numBlocks, dim3 dimBlocks, void** args,
    size_t sharedMemBytes GRIDCL_DEFAULT(0), topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * Not supported: blocks of OpenCL cannot wait for each other. Its arguments are checked as those of
 * topsLaunchKernel.
 *
 * Errors: as topsLaunchKernel, else topsErrorNotSupported.
 */
topsError_t topsLaunchCooperativeKernel(
    const void* f, dim3 gridDim, dim3 blockDimX, void** kernelParams, unsigned int sharedMemBytes,
    topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * topsLaunchKernel with extents one by one. The values are given either by `kernelParams`, as by `args`, or by `extra`, a
 * list of TOPS_LAUNCH_PARAM_BUFFER_POINTER, a buffer, TOPS_LAUNCH_PARAM_BUFFER_SIZE, the address of its size
 * in bytes and TOPS_LAUNCH_PARAM_END: the buffer holds all values, each as aligned as its type.
 *
 * Errors: as topsLaunchKernel, and topsErrorInvalidValue for both or a list that makes no sense,
 * topsErrorNotSupported for a buffer where structures leave open what lies where.
 */
topsError_t topsModuleLaunchKernel(
    topsFunction_t f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
    unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes,
    topsStream_t stream, void** kernelParams, void** extra);

/**
 * Configures the calling thread's next launch: the first step of three that compilers make of chevrons. Configurations
 * of a thread are a stack, and nothing is looked at before the launch.
 *
 * Errors: none of its own.
 */
topsError_t topsConfigureCall(
    dim3 gridDim, dim3 blockDim, size_t sharedMem GRIDCL_DEFAULT(0), topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * Copies an argument of the thread's latest configuration: `size` bytes, at `offset` in the block of all arguments.
 * Their order in it is that of the parameters; `__local` ones take none. The same place again takes another value.
 *
 * Errors: topsErrorMissingConfiguration; topsErrorInvalidValue for null, no bytes, and a place that reaches
 * into another argument's or beyond 64 KiB.
 */
topsError_t topsSetupArgument(const void* arg, size_t size, size_t offset);

/**
 * Launches a kernel, by its handle or a registered address, with the thread's latest configuration, which is used up
 * then, also when the launch is refused. Returns before it runs.
 *
 * Errors: as topsLaunchKernel, and topsErrorMissingConfiguration.
 */
topsError_t topsLaunchByPtr(const void* func);

/**
 * What compilers put before a function that stands for a kernel: topsConfigureCall by another name.
 *
 * Errors: none of its own.
 */
topsError_t __topsPushCallConfiguration(
    dim3 gridDim, dim3 blockDim, size_t sharedMem GRIDCL_DEFAULT(0), topsStream_t stream GRIDCL_DEFAULT(0));

/**
 * Takes the thread's latest configuration back, as such functions do before they call topsLaunchKernel.
 *
 * Errors: topsErrorInvalidValue for null, topsErrorMissingConfiguration.
 */
topsError_t __topsPopCallConfiguration(
    dim3* gridDim, dim3* blockDim, size_t* sharedMem, topsStream_t* stream);

/* ---- Calls: kernels */

/**
 * What a kernel is on the current device. OpenCL tells neither constant memory nor registers: they are 0.
 *
 * Errors: topsErrorInvalidValue for null, topsErrorInvalidDeviceFunction for no function.
 */
topsError_t topsFuncGetAttributes(topsFuncAttributes* attr, const void* func);

/**
 * One number of what topsFuncGetAttributes tells.
 *
 * Errors: topsErrorInvalidValue for null and an unknown attribute, topsErrorInvalidHandle for no function.
 */
topsError_t topsFuncGetAttribute(int* value, topsFunction_attribute attrib, topsFunction_t hfunc);

#ifdef __cplusplus
} /* extern "C" */

/* ---- The same calls for typed pointers and functions */

template <class T>
inline topsError_t topsMalloc(T** ptr, size_t size) {
    return topsMalloc(static_cast<void**>(static_cast<void*>(ptr)), size);
}

template <class T>
inline topsError_t topsExtMallocWithFlags(T** ptr, size_t sizeBytes, unsigned int flags) {
    return topsExtMallocWithFlags(static_cast<void**>(static_cast<void*>(ptr)), sizeBytes, flags);
}

template <class T>
inline topsError_t topsHostMalloc(T** ptr, size_t size, unsigned int flags = topsHostMallocDefault) {
    return topsHostMalloc(static_cast<void**>(static_cast<void*>(ptr)), size, flags);
}

template <class T>
inline topsError_t topsHostGetDevicePointer(T** devPtr, void* hstPtr, unsigned int flags = 0) {
    return topsHostGetDevicePointer(static_cast<void**>(static_cast<void*>(devPtr)), hstPtr, flags);
}

template <class T>
inline topsError_t topsMallocAsync(T** dev_ptr, size_t size, topsStream_t stream, uint64_t flags) {
    return topsMallocAsync(static_cast<void**>(static_cast<void*>(dev_ptr)), size, stream, flags);
}

template <class T>
inline topsError_t topsMallocFromPoolAsync(
    T** dev_ptr, size_t size, topsMemPool_t mem_pool, topsStream_t stream = 0) {
    return topsMallocFromPoolAsync(static_cast<void**>(static_cast<void*>(dev_ptr)), size, mem_pool, stream);
}

template <class T>
inline topsError_t topsGetSymbolAddress(T** devPtr, const void* symbol) {
    return topsGetSymbolAddress(static_cast<void**>(static_cast<void*>(devPtr)), symbol);
}

template <class Result, class... Parameters>
inline topsError_t topsLaunchKernel(
    Result (*function_address)(Parameters...), dim3 numBlocks, dim3 dimBlocks, void** args,
    size_t sharedMemBytes = 0, topsStream_t stream = 0) {
    return topsLaunchKernel(
    reinterpret_cast<const void*>(function_address), numBlocks, dimBlocks, args, sharedMemBytes, stream);
}

template <class Result, class... Parameters>
inline topsError_t topsLaunchByPtr(Result (*func)(Parameters...)) {
    return topsLaunchByPtr(reinterpret_cast<const void*>(func));
}

template <class Result, class... Parameters>
inline topsError_t topsFuncGetAttributes(topsFuncAttributes* attr, Result (*func)(Parameters...)) {
    return topsFuncGetAttributes(attr, reinterpret_cast<const void*>(func));
}

#endif

#endif /* GRIDCL_TOPS_TOPS_RUNTIME_H */
