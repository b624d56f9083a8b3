//! Kernels: their attributes and how they are launched.

use std::ffi::{c_int, c_void};
use std::ptr::without_provenance_mut;

use crate::dialect::c_enum::{c_enum, c_flags, c_struct};

// ---- Kernel attributes
// CUDA's numbers and layouts, as of CUDA 11.

c_struct! {
    /// What `musaFuncGetAttributes` tells of a kernel.
    pub struct musaFuncAttributes {
        /// Bytes of shared memory that a block takes by itself.
        pub sharedSizeBytes: usize,
        /// Bytes of constant memory.
        pub constSizeBytes: usize,
        /// Bytes of private memory that a thread takes.
        pub localSizeBytes: usize,
        /// Threads of the largest block that can be launched.
        pub maxThreadsPerBlock: c_int,
        /// Registers of a thread.
        pub numRegs: c_int,
        /// Version of the intermediate code, ten times major plus minor.
        pub ptxVersion: c_int,
        /// Version of the machine code, ten times major plus minor.
        pub binaryVersion: c_int,
        /// Whether the kernel was built to cache global loads in the first level.
        pub cacheModeCA: c_int,
        /// Bytes of dynamic shared memory that a launch may ask for.
        pub maxDynamicSharedSizeBytes: c_int,
        /// Wanted share of the first-level cache for shared memory, in percent; -1 for no wish.
        pub preferredShmemCarveout: c_int,
    }
}

c_enum! {
    /// What `musaFuncSetAttribute` can set.
    pub struct musaFuncAttribute {
        /// Bytes of dynamic shared memory that a launch may ask for.
        musaFuncAttributeMaxDynamicSharedMemorySize = 8,
        /// Wanted share of the first-level cache for shared memory, in percent.
        musaFuncAttributePreferredSharedMemoryCarveout = 9,
    }

    /// Values of [`musaFuncAttributePreferredSharedMemoryCarveout`] besides percents.
    pub struct musaSharedCarveout {
        /// No wish.
        musaSharedmemCarveoutDefault = -1,
        /// All of it for the cache.
        musaSharedmemCarveoutMaxL1 = 0,
        /// All of it for shared memory.
        musaSharedmemCarveoutMaxShared = 100,
    }

    /// Which of cache and shared memory a kernel wants more of.
    pub struct musaFuncCache {
        /// Either.
        musaFuncCachePreferNone = 0,
        /// Shared memory.
        musaFuncCachePreferShared = 1,
        /// Cache.
        musaFuncCachePreferL1 = 2,
        /// As much of both.
        musaFuncCachePreferEqual = 3,
    }

    /// The width of a bank of shared memory.
    pub struct musaSharedMemConfig {
        /// As the device likes it.
        musaSharedMemBankSizeDefault = 0,
        /// Four bytes.
        musaSharedMemBankSizeFourByte = 1,
        /// Eight bytes.
        musaSharedMemBankSizeEightByte = 2,
    }
}

c_flags! {
    /// Flags of the occupancy calls.
    OCCUPANCY_FLAGS {
        /// The usual answer.
        musaOccupancyDefault = 0x0,
        /// Caching of global loads is left out of the reckoning.
        musaOccupancyDisableCachingOverride = 0x1,
    }
}

// ---- Launch
// CUDA's numbers, under the prefix of the MUSA driver interface.

/// Ends the list `extra` of `musaModuleLaunchKernel`.
pub const MU_LAUNCH_PARAM_END: *mut c_void = without_provenance_mut(0x0);

/// The next entry of `extra` is the address of a buffer with all arguments.
pub const MU_LAUNCH_PARAM_BUFFER_POINTER: *mut c_void = without_provenance_mut(0x1);

/// The next entry of `extra` is the address of that buffer's size in bytes, a `size_t`.
pub const MU_LAUNCH_PARAM_BUFFER_SIZE: *mut c_void = without_provenance_mut(0x2);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::c_enum::assert_layout;

    /// The numbers are those that gcc prints for the same declaration in C on x86-64.
    #[test]
    fn structures_are_laid_out_as_in_c() {
        assert_layout::<musaFuncAttributes>(
            musaFuncAttributes::FIELDS,
            56,
            &[
                ("sharedSizeBytes", 0),
                ("localSizeBytes", 16),
                ("maxThreadsPerBlock", 24),
                ("cacheModeCA", 40),
                ("preferredShmemCarveout", 48),
            ],
        );
    }
}
