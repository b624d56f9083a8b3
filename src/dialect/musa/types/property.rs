//! What a device can do, in one structure.

use std::ffi::{c_char, c_int, c_uint};

use super::musaUUID;
use crate::dialect::c_enum::c_struct;

// The vendor's layout.
c_struct! {
    /// What `musaGetDeviceProperties` tells of a device; whether-questions are answered with 0 or 1.
    pub struct musaDeviceProp {
        /// The device's name, ended by NUL.
        pub name: [c_char; 256],
        /// The device's identity.
        pub uuid: musaUUID,
        /// The device's identity on Windows; zeros here.
        pub luid: [c_char; 8],
        /// Its node mask on Windows; 0 here.
        pub luidDeviceNodeMask: c_uint,
        /// Bytes of device memory.
        pub totalGlobalMem: usize,
        /// Bytes of shared memory for a block.
        pub sharedMemPerBlock: usize,
        /// Registers of 32 bits for a block.
        pub regsPerBlock: c_int,
        /// Threads that run in step.
        pub warpSize: c_int,
        /// Bytes of the largest pitch that copies take.
        pub memPitch: usize,
        /// Threads of the largest block.
        pub maxThreadsPerBlock: c_int,
        /// Largest block in x, y and z.
        pub maxThreadsDim: [c_int; 3],
        /// Largest grid in x, y and z.
        pub maxGridSize: [c_int; 3],
        /// Clock in kHz.
        pub clockRate: c_int,
        /// Bytes of constant memory.
        pub totalConstMem: usize,
        /// Compute capability before the dot.
        pub major: c_int,
        /// Compute capability behind the dot.
        pub minor: c_int,
        /// Alignment of textures in bytes.
        pub textureAlignment: usize,
        /// Alignment of a texture's pitch in bytes.
        pub texturePitchAlignment: usize,
        /// Whether copies and kernels can run at once.
        pub deviceOverlap: c_int,
        /// Multiprocessors.
        pub multiProcessorCount: c_int,
        /// Whether kernels that run for long are stopped.
        pub kernelExecTimeoutEnabled: c_int,
        /// Whether the device shares the host's memory.
        pub integrated: c_int,
        /// Whether kernels can use page-locked host memory.
        pub canMapHostMemory: c_int,
        /// Who may use the device, a [`musaComputeMode`](super::musaComputeMode).
        pub computeMode: c_int,
        /// Widest texture of one dimension.
        pub maxTexture1D: c_int,
        /// Widest mipmapped texture of one dimension.
        pub maxTexture1DMipmap: c_int,
        /// Widest texture over linear memory.
        pub maxTexture1DLinear: c_int,
        /// Largest texture of two dimensions.
        pub maxTexture2D: [c_int; 2],
        /// Largest mipmapped texture of two dimensions.
        pub maxTexture2DMipmap: [c_int; 2],
        /// Largest texture over pitched memory: width, height, pitch in bytes.
        pub maxTexture2DLinear: [c_int; 3],
        /// Largest texture for gathers.
        pub maxTexture2DGather: [c_int; 2],
        /// Largest texture of three dimensions.
        pub maxTexture3D: [c_int; 3],
        /// Largest texture of three dimensions in the other shape.
        pub maxTexture3DAlt: [c_int; 3],
        /// Widest cubemap texture.
        pub maxTextureCubemap: c_int,
        /// Largest layered texture of one dimension: width, layers.
        pub maxTexture1DLayered: [c_int; 2],
        /// Largest layered texture of two dimensions: width, height, layers.
        pub maxTexture2DLayered: [c_int; 3],
        /// Largest layered cubemap texture: width, layers.
        pub maxTextureCubemapLayered: [c_int; 2],
        /// Widest surface of one dimension.
        pub maxSurface1D: c_int,
        /// Largest surface of two dimensions.
        pub maxSurface2D: [c_int; 2],
        /// Largest surface of three dimensions.
        pub maxSurface3D: [c_int; 3],
        /// Largest layered surface of one dimension: width, layers.
        pub maxSurface1DLayered: [c_int; 2],
        /// Largest layered surface of two dimensions: width, height, layers.
        pub maxSurface2DLayered: [c_int; 3],
        /// Widest cubemap surface.
        pub maxSurfaceCubemap: c_int,
        /// Largest layered cubemap surface: width, layers.
        pub maxSurfaceCubemapLayered: [c_int; 2],
        /// Alignment of surfaces in bytes.
        pub surfaceAlignment: usize,
        /// Whether several kernels can run at once.
        pub concurrentKernels: c_int,
        /// Whether memory errors are corrected.
        pub ECCEnabled: c_int,
        /// PCI bus.
        pub pciBusID: c_int,
        /// PCI device.
        pub pciDeviceID: c_int,
        /// PCI domain.
        pub pciDomainID: c_int,
        /// Whether a compute-only driver runs the device.
        pub tccDriver: c_int,
        /// Copies that can run beside kernels.
        pub asyncEngineCount: c_int,
        /// Whether host and device share one address space.
        pub unifiedAddressing: c_int,
        /// Clock of the memory in kHz.
        pub memoryClockRate: c_int,
        /// Width of the memory bus in bits.
        pub memoryBusWidth: c_int,
        /// Bytes of the second-level cache.
        pub l2CacheSize: c_int,
        /// Bytes of the second-level cache that can be set aside.
        pub persistingL2CacheMaxSize: c_int,
        /// Threads that a multiprocessor holds.
        pub maxThreadsPerMultiProcessor: c_int,
        /// Whether stream priorities have an effect.
        pub streamPrioritiesSupported: c_int,
        /// Whether global memory is cached in the first level.
        pub globalL1CacheSupported: c_int,
        /// Whether private memory is cached in the first level.
        pub localL1CacheSupported: c_int,
        /// Bytes of shared memory of a multiprocessor.
        pub sharedMemPerMultiprocessor: usize,
        /// Registers of 32 bits of a multiprocessor.
        pub regsPerMultiprocessor: c_int,
        /// Whether managed memory can be allocated.
        pub managedMemory: c_int,
        /// Whether other devices are on the same board.
        pub isMultiGpuBoard: c_int,
        /// The same number for all devices of a board.
        pub multiGpuBoardGroupID: c_int,
        /// Whether atomics work across the link to the host.
        pub hostNativeAtomicSupported: c_int,
        /// How many times faster single precision is than double.
        pub singleToDoublePrecisionPerfRatio: c_int,
        /// Whether kernels can use any host memory.
        pub pageableMemoryAccess: c_int,
        /// Whether host and kernels can use managed memory at once.
        pub concurrentManagedAccess: c_int,
        /// Whether kernels can be interrupted.
        pub computePreemptionSupported: c_int,
        /// Whether registered memory has one address for host and device.
        pub canUseHostPointerForRegisteredMem: c_int,
        /// Whether cooperative launches work.
        pub cooperativeLaunch: c_int,
        /// Whether cooperative launches over several devices work.
        pub cooperativeMultiDeviceLaunch: c_int,
        /// Bytes of shared memory for a block whose kernel asked for more.
        pub sharedMemPerBlockOptin: usize,
        /// Whether kernels use any host memory through the host's page tables.
        pub pageableMemoryAccessUsesHostPageTables: c_int,
        /// Whether the host can use managed memory where it lies.
        pub directManagedMemAccessFromHost: c_int,
        /// Blocks that a multiprocessor holds.
        pub maxBlocksPerMultiProcessor: c_int,
        /// Bytes of the largest access policy window.
        pub accessPolicyMaxWindowSize: c_int,
        /// Bytes of shared memory of a block that the runtime takes.
        pub reservedSharedMemPerBlock: usize,
    }
}

/// [`musaDeviceProp`], as the vendor's guide spells it.
pub type musaDeviceProp_t = musaDeviceProp;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::c_enum::assert_layout;

    /// The numbers are those that gcc prints for the vendor's declaration on x86-64.
    #[test]
    fn the_structure_is_laid_out_as_in_c() {
        assert_layout::<musaDeviceProp>(
            musaDeviceProp::FIELDS,
            728,
            &[
                ("name", 0),
                ("uuid", 256),
                ("luidDeviceNodeMask", 280),
                ("totalGlobalMem", 288),
                ("warpSize", 308),
                ("maxThreadsPerBlock", 320),
                ("maxThreadsDim", 324),
                ("maxGridSize", 336),
                ("totalConstMem", 352),
                ("major", 360),
                ("textureAlignment", 368),
                ("multiProcessorCount", 388),
                ("maxTexture2DGather", 448),
                ("maxTexture2DLayered", 492),
                ("maxSurfaceCubemapLayered", 560),
                ("surfaceAlignment", 568),
                ("pciBusID", 584),
                ("memoryClockRate", 608),
                ("l2CacheSize", 616),
                ("sharedMemPerMultiprocessor", 640),
                ("managedMemory", 652),
                ("cooperativeLaunch", 688),
                ("sharedMemPerBlockOptin", 696),
                ("reservedSharedMemPerBlock", 720),
            ],
        );
        assert_eq!(musaDeviceProp::FIELDS.len(), 80);
    }

    #[test]
    fn properties_start_as_zeros() {
        let prop = musaDeviceProp_t::default();
        assert_eq!((prop.name[0], prop.uuid, prop.totalGlobalMem), (0, musaUUID::default(), 0));
    }
}
