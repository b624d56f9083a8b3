//! Kernels: their attributes, how they are built and how they are launched.

use std::ffi::{c_int, c_void};
use std::ptr::without_provenance_mut;

use crate::dialect::c_enum::{c_enum, c_struct};

// ---- Kernel attributes

c_struct! {
    /// What `topsFuncGetAttributes` tells of a kernel.
    pub struct topsFuncAttributes {
        /// Version of the machine code, ten times major plus minor.
        pub binaryVersion: c_int,
        /// Whether the kernel was built to cache global loads in the first level.
        pub cacheModeCA: c_int,
        /// Bytes of constant memory.
        pub constSizeBytes: usize,
        /// Bytes of private memory that a thread takes.
        pub localSizeBytes: usize,
        /// Bytes of dynamic shared memory that a launch may ask for.
        pub maxDynamicSharedSizeBytes: c_int,
        /// Threads of the largest block that can be launched.
        pub maxThreadsPerBlock: c_int,
        /// Registers of a thread.
        pub numRegs: c_int,
        /// Wanted share of the first-level cache for shared memory, in percent; -1 for no wish.
        pub preferredShmemCarveout: c_int,
        /// Version of the intermediate code, ten times major plus minor.
        pub ptxVersion: c_int,
        /// Bytes of shared memory that a block takes by itself.
        pub sharedSizeBytes: usize,
    }
}

c_enum! {
    /// What `topsFuncGetAttribute` can be asked.
    pub struct topsFunction_attribute {
        /// Threads of the largest block that can be launched.
        TOPS_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
        /// Bytes of shared memory that a block takes by itself.
        TOPS_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
        /// Bytes of constant memory.
        TOPS_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
        /// Bytes of private memory that a thread takes.
        TOPS_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
        /// Registers of a thread.
        TOPS_FUNC_ATTRIBUTE_NUM_REGS = 4,
        /// Version of the intermediate code, ten times major plus minor.
        TOPS_FUNC_ATTRIBUTE_PTX_VERSION = 5,
        /// Version of the machine code, ten times major plus minor.
        TOPS_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
        /// Whether the kernel was built to cache global loads in the first level.
        TOPS_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
        /// Bytes of dynamic shared memory that a launch may ask for.
        TOPS_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
        /// Wanted share of the first-level cache for shared memory, in percent.
        TOPS_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
        /// One more than the last.
        TOPS_FUNC_ATTRIBUTE_MAX = 10,
    }

    /// Options of `topsModuleLoadDataEx`, which takes and ignores them.
    pub struct topsJitOption {
        /// Registers of a thread.
        topsJitOptionMaxRegisters = 0,
        /// Threads of a block.
        topsJitOptionThreadsPerBlock = 1,
        /// Time spent, in milliseconds.
        topsJitOptionWallTime = 2,
        /// Where remarks go.
        topsJitOptionInfoLogBuffer = 3,
        /// Bytes there.
        topsJitOptionInfoLogBufferSizeBytes = 4,
        /// Where errors go.
        topsJitOptionErrorLogBuffer = 5,
        /// Bytes there.
        topsJitOptionErrorLogBufferSizeBytes = 6,
        /// How hard to optimise.
        topsJitOptionOptimizationLevel = 7,
        /// Build for the current device.
        topsJitOptionTargetFromContext = 8,
        /// Build for the architecture given.
        topsJitOptionTarget = 9,
        /// What to do without a fitting binary.
        topsJitOptionFallbackStrategy = 10,
        /// Keep what debuggers need.
        topsJitOptionGenerateDebugInfo = 11,
        /// Make more remarks.
        topsJitOptionLogVerbose = 12,
        /// Keep line numbers.
        topsJitOptionGenerateLineInfo = 13,
        /// How loads are cached.
        topsJitOptionCacheMode = 14,
        /// Unused.
        topsJitOptionSm3xOpt = 15,
        /// Build fast rather than well.
        topsJitOptionFastCompile = 16,
        /// One more than the last.
        topsJitOptionNumOptions = 17,
    }
}

// ---- Launch

/// The next entry of `extra` of `topsModuleLaunchKernel` is the address of a buffer with all arguments.
pub const TOPS_LAUNCH_PARAM_BUFFER_POINTER: *mut c_void = without_provenance_mut(0x1);

/// The next entry of `extra` is the address of that buffer's size in bytes, a `size_t`.
pub const TOPS_LAUNCH_PARAM_BUFFER_SIZE: *mut c_void = without_provenance_mut(0x2);

/// Ends the list `extra`.
pub const TOPS_LAUNCH_PARAM_END: *mut c_void = without_provenance_mut(0x3);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::c_enum::assert_layout;

    /// The numbers are those that gcc prints for the vendor's declaration on x86-64.
    #[test]
    fn structures_are_laid_out_as_in_c() {
        assert_layout::<topsFuncAttributes>(
            topsFuncAttributes::FIELDS,
            56,
            &[
                ("binaryVersion", 0),
                ("constSizeBytes", 8),
                ("maxDynamicSharedSizeBytes", 24),
                ("ptxVersion", 40),
                ("sharedSizeBytes", 48),
            ],
        );
    }
}
