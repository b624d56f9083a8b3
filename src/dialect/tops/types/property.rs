//! What a device can do, in one structure.

use std::ffi::{c_char, c_int, c_uint};

use crate::dialect::c_enum::c_struct;

// The vendor's layouts.
c_struct! {
    /// Features of a device's architecture.
    pub struct topsDeviceArch_t {
        /// A bit for each feature; the vendor names none.
        pub feature: c_uint,
    }

    /// What `topsGetDeviceProperties` tells of a device; whether-questions are answered with 0 or 1.
    pub struct topsDeviceProp_t {
        /// The device's name, ended by NUL.
        pub name: [c_char; 256],
        /// Bytes of device memory.
        pub totalGlobalMem: usize,
        /// Bytes of shared memory for a block.
        pub sharedMemPerBlock: usize,
        /// Threads of the largest block.
        pub maxThreadsPerBlock: c_int,
        /// Largest block in x, y and z.
        pub maxThreadsDim: [c_int; 3],
        /// Largest grid in x, y and z.
        pub maxGridSize: [c_int; 3],
        /// Clock in kHz.
        pub clockRate: c_int,
        /// Clock of the memory in kHz.
        pub memoryClockRate: c_int,
        /// Width of the memory bus in bits.
        pub memoryBusWidth: c_int,
        /// Compute capability before the dot.
        pub major: c_int,
        /// Compute capability behind the dot.
        pub minor: c_int,
        /// Multiprocessors.
        pub multiProcessorCount: c_int,
        /// Threads that a multiprocessor holds.
        pub maxThreadsPerMultiProcessor: c_int,
        /// Who may use the device, a [`topsComputeMode`](super::topsComputeMode).
        pub computeMode: c_int,
        /// Rate in kHz of the clock that kernels read.
        pub clockInstructionRate: c_int,
        /// Features of the architecture.
        pub arch: topsDeviceArch_t,
        /// Whether several kernels can run at once.
        pub concurrentKernels: c_int,
        /// PCI domain.
        pub pciDomainID: c_int,
        /// PCI bus.
        pub pciBusID: c_int,
        /// PCI device.
        pub pciDeviceID: c_int,
        /// Bytes of shared memory of a multiprocessor.
        pub maxSharedMemoryPerMultiProcessor: usize,
        /// Whether kernels can use page-locked host memory.
        pub canMapHostMemory: c_int,
        /// The architecture's name, ended by NUL.
        pub gcuArchName: [c_char; 256],
        /// Whether cooperative launches work.
        pub cooperativeLaunch: c_int,
        /// Whether cooperative launches over several devices work.
        pub cooperativeMultiDeviceLaunch: c_int,
        /// Whether kernels that run for long are stopped.
        pub kernelExecTimeoutEnabled: c_int,
        /// Whether memory errors are corrected.
        pub ECCEnabled: c_int,
        /// Whether all device memory lies in the host's PCI window.
        pub isLargeBar: c_int,
        /// Whether managed memory can be allocated.
        pub managedMemory: c_int,
        /// Whether the host can use managed memory where it lies.
        pub directManagedMemAccessFromHost: c_int,
        /// Whether host and kernels can use managed memory at once.
        pub concurrentManagedAccess: c_int,
        /// Whether kernels can use any host memory.
        pub pageableMemoryAccess: c_int,
        /// Channels of the memory controllers.
        pub mc_channel: c_int,
        /// Bytes of private memory for a thread.
        pub localMemPerThread: usize,
        /// The device's identity.
        pub localUuidId: [c_char; 16],
        /// The identities of the devices it is linked to.
        pub remoteUuidId: [[c_char; 16]; 6],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::c_enum::assert_layout;

    /// The numbers are those that gcc prints for the vendor's declaration on x86-64.
    #[test]
    fn the_structure_is_laid_out_as_in_c() {
        assert_layout::<topsDeviceProp_t>(
            topsDeviceProp_t::FIELDS,
            792,
            &[
                ("name", 0),
                ("totalGlobalMem", 256),
                ("maxThreadsPerBlock", 272),
                ("maxThreadsDim", 276),
                ("maxGridSize", 288),
                ("memoryClockRate", 304),
                ("major", 312),
                ("multiProcessorCount", 320),
                ("clockInstructionRate", 332),
                ("arch", 336),
                ("pciDomainID", 344),
                ("maxSharedMemoryPerMultiProcessor", 360),
                ("gcuArchName", 372),
                ("cooperativeLaunch", 628),
                ("managedMemory", 648),
                ("mc_channel", 664),
                ("localMemPerThread", 672),
                ("localUuidId", 680),
                ("remoteUuidId", 696),
            ],
        );
        assert_eq!(topsDeviceProp_t::FIELDS.len(), 36);
    }

    #[test]
    fn properties_start_as_zeros() {
        let prop = topsDeviceProp_t::default();
        assert_eq!((prop.name[0], prop.arch.feature, prop.remoteUuidId), (0, 0, [[0; 16]; 6]));
    }
}
