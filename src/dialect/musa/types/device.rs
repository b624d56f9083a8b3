//! Devices: how they are used, and what they can be asked one by one.

use std::ffi::c_uchar;

use crate::dialect::c_enum::{c_enum, c_flags, c_struct};

// ---- Identity
// The vendor's layout; both spellings of the alias are in use.

c_struct! {
    /// A device's identity, the same in every process.
    pub struct musaUUID {
        /// Sixteen bytes in the order in which they are printed.
        pub bytes: [c_uchar; 16],
    }
}

/// [`musaUUID`], as the vendor's header spells it.
pub type musaUUID_t = musaUUID;

/// [`musaUUID`], as the vendor's guide spells it.
pub type musaUuid_t = musaUUID;

// ---- Use
// CUDA's numbers.

c_flags! {
    /// Flags of `musaSetDeviceFlags`.
    DEVICE_FLAGS {
        /// The runtime chooses how a thread waits.
        musaDeviceScheduleAuto = 0x0,
        /// A waiting thread spins.
        musaDeviceScheduleSpin = 0x1,
        /// A waiting thread lets others run.
        musaDeviceScheduleYield = 0x2,
        /// A waiting thread sleeps.
        musaDeviceScheduleBlockingSync = 0x4,
        /// The bits that say how a thread waits.
        musaDeviceScheduleMask = 0x7,
        /// Page-locked memory is mapped.
        musaDeviceMapHost = 0x8,
        /// Private memory keeps its largest size.
        musaDeviceLmemResizeToMax = 0x10,
        /// All bits.
        musaDeviceMask = 0x1f,
    }

    /// Flags of `musaDeviceEnablePeerAccess`.
    PEER_ACCESS_FLAGS {
        /// The only value there is.
        musaPeerAccessDefault = 0x0,
    }
}

c_enum! {
    /// Who may use a device.
    pub struct musaComputeMode {
        /// Every thread of every process.
        musaComputeModeDefault = 0,
        /// One thread.
        musaComputeModeExclusive = 1,
        /// Nobody.
        musaComputeModeProhibited = 2,
        /// One process.
        musaComputeModeExclusiveProcess = 3,
    }

    /// What `musaDeviceGetLimit` and `musaDeviceSetLimit` know.
    pub struct musaLimit {
        /// Bytes of a thread's stack.
        musaLimitStackSize = 0,
        /// Bytes that kernels can print between two synchronisations.
        musaLimitPrintfFifoSize = 1,
        /// Bytes that kernels can allocate.
        musaLimitMallocHeapSize = 2,
        /// How deep kernels may wait for kernels.
        musaLimitDevRuntimeSyncDepth = 3,
        /// How many launches of kernels by kernels may be pending.
        musaLimitDevRuntimePendingLaunchCount = 4,
        /// Bytes that the second-level cache fetches at once, from 0 to 128.
        musaLimitMaxL2FetchGranularity = 5,
        /// Bytes of the second-level cache that are set aside.
        musaLimitPersistingL2CacheSize = 6,
    }
}

// ---- Attributes
// The vendor's numbers.

c_enum! {
    /// What `musaDeviceGetAttribute` can be asked; whether-questions are answered with 0 or 1.
    pub struct musaDeviceAttr {
        /// Threads of the largest block.
        musaDevAttrMaxThreadsPerBlock = 1,
        /// Largest block in x.
        musaDevAttrMaxBlockDimX = 2,
        /// Largest block in y.
        musaDevAttrMaxBlockDimY = 3,
        /// Largest block in z.
        musaDevAttrMaxBlockDimZ = 4,
        /// Largest grid in x.
        musaDevAttrMaxGridDimX = 5,
        /// Largest grid in y.
        musaDevAttrMaxGridDimY = 6,
        /// Largest grid in z.
        musaDevAttrMaxGridDimZ = 7,
        /// Bytes of shared memory for a block.
        musaDevAttrMaxSharedMemoryPerBlock = 8,
        /// Bytes of constant memory.
        musaDevAttrTotalConstantMemory = 9,
        /// Threads that run in step.
        musaDevAttrWarpSize = 10,
        /// Bytes of the largest pitch that copies take.
        musaDevAttrMaxPitch = 11,
        /// Registers of 32 bits for a block.
        musaDevAttrMaxRegistersPerBlock = 12,
        /// Highest clock in kHz.
        musaDevAttrClockRate = 13,
        /// Alignment of textures in bytes.
        musaDevAttrTextureAlignment = 14,
        /// Whether copies and kernels can run at once.
        musaDevAttrGpuOverlap = 15,
        /// Multiprocessors.
        musaDevAttrMultiProcessorCount = 16,
        /// Whether kernels that run for long are stopped.
        musaDevAttrKernelExecTimeout = 17,
        /// Whether the device shares the host's memory.
        musaDevAttrIntegrated = 18,
        /// Whether kernels can use page-locked host memory.
        musaDevAttrCanMapHostMemory = 19,
        /// Who may use the device, a [`musaComputeMode`].
        musaDevAttrComputeMode = 20,
        /// Widest texture of one dimension.
        musaDevAttrMaxTexture1DWidth = 21,
        /// Widest texture of two dimensions.
        musaDevAttrMaxTexture2DWidth = 22,
        /// Highest texture of two dimensions.
        musaDevAttrMaxTexture2DHeight = 23,
        /// Widest texture of three dimensions.
        musaDevAttrMaxTexture3DWidth = 24,
        /// Highest texture of three dimensions.
        musaDevAttrMaxTexture3DHeight = 25,
        /// Deepest texture of three dimensions.
        musaDevAttrMaxTexture3DDepth = 26,
        /// Widest layered texture of two dimensions.
        musaDevAttrMaxTexture2DLayeredWidth = 27,
        /// Highest layered texture of two dimensions.
        musaDevAttrMaxTexture2DLayeredHeight = 28,
        /// Layers of a layered texture of two dimensions.
        musaDevAttrMaxTexture2DLayeredLayers = 29,
        /// Alignment of surfaces in bytes.
        musaDevAttrSurfaceAlignment = 30,
        /// Whether several kernels can run at once.
        musaDevAttrConcurrentKernels = 31,
        /// Whether memory errors are corrected.
        musaDevAttrEccEnabled = 32,
        /// PCI bus.
        musaDevAttrPciBusId = 33,
        /// PCI device.
        musaDevAttrPciDeviceId = 34,
        /// Whether a compute-only driver runs the device.
        musaDevAttrTccDriver = 35,
        /// Highest clock of the memory in kHz.
        musaDevAttrMemoryClockRate = 36,
        /// Width of the memory bus in bits.
        musaDevAttrGlobalMemoryBusWidth = 37,
        /// Bytes of the second-level cache.
        musaDevAttrL2CacheSize = 38,
        /// Threads that a multiprocessor holds.
        musaDevAttrMaxThreadsPerMultiProcessor = 39,
        /// Copies that can run beside kernels.
        musaDevAttrAsyncEngineCount = 40,
        /// Whether host and device share one address space.
        musaDevAttrUnifiedAddressing = 41,
        /// Widest layered texture of one dimension.
        musaDevAttrMaxTexture1DLayeredWidth = 42,
        /// Layers of a layered texture of one dimension.
        musaDevAttrMaxTexture1DLayeredLayers = 43,
        /// Widest texture for gathers.
        musaDevAttrMaxTexture2DGatherWidth = 45,
        /// Highest texture for gathers.
        musaDevAttrMaxTexture2DGatherHeight = 46,
        /// Widest texture of three dimensions in the other shape.
        musaDevAttrMaxTexture3DWidthAlt = 47,
        /// Highest texture of three dimensions in the other shape.
        musaDevAttrMaxTexture3DHeightAlt = 48,
        /// Deepest texture of three dimensions in the other shape.
        musaDevAttrMaxTexture3DDepthAlt = 49,
        /// PCI domain.
        musaDevAttrPciDomainId = 50,
        /// Alignment of a texture's pitch in bytes.
        musaDevAttrTexturePitchAlignment = 51,
        /// Widest cubemap texture.
        musaDevAttrMaxTextureCubemapWidth = 52,
        /// Widest layered cubemap texture.
        musaDevAttrMaxTextureCubemapLayeredWidth = 53,
        /// Layers of a layered cubemap texture.
        musaDevAttrMaxTextureCubemapLayeredLayers = 54,
        /// Widest surface of one dimension.
        musaDevAttrMaxSurface1DWidth = 55,
        /// Widest surface of two dimensions.
        musaDevAttrMaxSurface2DWidth = 56,
        /// Highest surface of two dimensions.
        musaDevAttrMaxSurface2DHeight = 57,
        /// Widest surface of three dimensions.
        musaDevAttrMaxSurface3DWidth = 58,
        /// Highest surface of three dimensions.
        musaDevAttrMaxSurface3DHeight = 59,
        /// Deepest surface of three dimensions.
        musaDevAttrMaxSurface3DDepth = 60,
        /// Widest layered surface of one dimension.
        musaDevAttrMaxSurface1DLayeredWidth = 61,
        /// Layers of a layered surface of one dimension.
        musaDevAttrMaxSurface1DLayeredLayers = 62,
        /// Widest layered surface of two dimensions.
        musaDevAttrMaxSurface2DLayeredWidth = 63,
        /// Highest layered surface of two dimensions.
        musaDevAttrMaxSurface2DLayeredHeight = 64,
        /// Layers of a layered surface of two dimensions.
        musaDevAttrMaxSurface2DLayeredLayers = 65,
        /// Widest cubemap surface.
        musaDevAttrMaxSurfaceCubemapWidth = 66,
        /// Widest layered cubemap surface.
        musaDevAttrMaxSurfaceCubemapLayeredWidth = 67,
        /// Layers of a layered cubemap surface.
        musaDevAttrMaxSurfaceCubemapLayeredLayers = 68,
        /// Widest texture over linear memory.
        musaDevAttrMaxTexture1DLinearWidth = 69,
        /// Widest texture over pitched memory.
        musaDevAttrMaxTexture2DLinearWidth = 70,
        /// Highest texture over pitched memory.
        musaDevAttrMaxTexture2DLinearHeight = 71,
        /// Bytes of the largest pitch of a texture over pitched memory.
        musaDevAttrMaxTexture2DLinearPitch = 72,
        /// Widest mipmapped texture of two dimensions.
        musaDevAttrMaxTexture2DMipmappedWidth = 73,
        /// Highest mipmapped texture of two dimensions.
        musaDevAttrMaxTexture2DMipmappedHeight = 74,
        /// Compute capability before the dot.
        musaDevAttrComputeCapabilityMajor = 75,
        /// Compute capability behind the dot.
        musaDevAttrComputeCapabilityMinor = 76,
        /// Widest mipmapped texture of one dimension.
        musaDevAttrMaxTexture1DMipmappedWidth = 77,
        /// Whether stream priorities have an effect.
        musaDevAttrStreamPrioritiesSupported = 78,
        /// Whether global memory is cached in the first level.
        musaDevAttrGlobalL1CacheSupported = 79,
        /// Whether private memory is cached in the first level.
        musaDevAttrLocalL1CacheSupported = 80,
        /// Bytes of shared memory of a multiprocessor.
        musaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
        /// Registers of 32 bits of a multiprocessor.
        musaDevAttrMaxRegistersPerMultiprocessor = 82,
        /// Whether managed memory can be allocated.
        musaDevAttrManagedMemory = 83,
        /// Whether other devices are on the same board.
        musaDevAttrIsMultiGpuBoard = 84,
        /// The same number for all devices of a board.
        musaDevAttrMultiGpuBoardGroupID = 85,
        /// Whether atomics work across the link to the host.
        musaDevAttrHostNativeAtomicSupported = 86,
        /// How many times faster single precision is than double.
        musaDevAttrSingleToDoublePrecisionPerfRatio = 87,
        /// Whether kernels can use any host memory.
        musaDevAttrPageableMemoryAccess = 88,
        /// Whether host and kernels can use managed memory at once.
        musaDevAttrConcurrentManagedAccess = 89,
        /// Whether kernels can be interrupted.
        musaDevAttrComputePreemptionSupported = 90,
        /// Whether registered memory has one address for host and device.
        musaDevAttrCanUseHostPointerForRegisteredMem = 91,
        /// Reserved.
        musaDevAttrReserved92 = 92,
        /// Reserved.
        musaDevAttrReserved93 = 93,
        /// Reserved.
        musaDevAttrReserved94 = 94,
        /// Whether cooperative launches work.
        musaDevAttrCooperativeLaunch = 95,
        /// Whether cooperative launches over several devices work.
        musaDevAttrCooperativeMultiDeviceLaunch = 96,
        /// Bytes of shared memory for a block whose kernel asked for more.
        musaDevAttrMaxSharedMemoryPerBlockOptin = 97,
        /// Whether writes from other devices can be flushed.
        musaDevAttrCanFlushRemoteWrites = 98,
        /// Whether host memory can be registered.
        musaDevAttrHostRegisterSupported = 99,
        /// Whether kernels use any host memory through the host's page tables.
        musaDevAttrPageableMemoryAccessUsesHostPageTables = 100,
        /// Whether the host can use managed memory where it lies.
        musaDevAttrDirectManagedMemAccessFromHost = 101,
        /// Blocks that a multiprocessor holds.
        musaDevAttrMaxBlocksPerMultiprocessor = 106,
        /// Bytes of the second-level cache that can be set aside.
        musaDevAttrMaxPersistingL2CacheSize = 108,
        /// Bytes of the largest access policy window.
        musaDevAttrMaxAccessPolicyWindowSize = 109,
        /// Bytes of shared memory of a block that the runtime takes.
        musaDevAttrReservedSharedMemoryPerBlock = 111,
        /// Whether arrays can be sparse.
        musaDevAttrSparseMusaArraySupported = 112,
        /// Whether host memory can be registered for reading only.
        musaDevAttrHostRegisterReadOnlySupported = 113,
        /// Whether timeline semaphores of other interfaces can be used.
        musaDevAttrMaxTimelineSemaphoreInteropSupported = 114,
        /// Whether stream-ordered allocation works.
        musaDevAttrMemoryPoolsSupported = 115,
        /// Whether other PCI devices can use device memory.
        musaDevAttrGPUDirectRDMASupported = 116,
        /// How their writes can be flushed, a bit mask.
        musaDevAttrGPUDirectRDMAFlushWritesOptions = 117,
        /// Who sees their writes without a flush.
        musaDevAttrGPUDirectRDMAWritesOrdering = 118,
        /// How memory pools can be shared with other processes, a bit mask.
        musaDevAttrMemoryPoolSupportedHandleTypes = 119,
        /// One more than the last.
        musaDevAttrMax = 120,
    }
}

/// [`musaDeviceAttr`] by its other name.
pub type musaDeviceAttr_t = musaDeviceAttr;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_16_bytes() {
        assert_eq!(size_of::<musaUuid_t>(), 16);
    }

    #[test]
    fn attributes_ascend_and_leave_out_what_the_vendor_leaves_out() {
        let numbers: Vec<_> = musaDeviceAttr::NAMES.iter().map(|(_, number)| *number).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b));
        let missing: Vec<_> = (1..=120).filter(|n| !numbers.contains(n)).collect();
        assert_eq!(missing, [44, 102, 103, 104, 105, 107, 110]);
    }
}
