//! Devices: how they are used, and what they can be asked one by one.

use crate::dialect::c_enum::{c_enum, c_flags};

// ---- Use

c_flags! {
    /// Flags of `topsSetDeviceFlags`.
    DEVICE_FLAGS {
        /// The runtime chooses how a thread waits.
        topsDeviceScheduleAuto = 0x0,
        /// A waiting thread spins.
        topsDeviceScheduleSpin = 0x1,
        /// A waiting thread lets others run.
        topsDeviceScheduleYield = 0x2,
        /// A waiting thread sleeps.
        topsDeviceScheduleBlockingSync = 0x4,
        /// The bits that say how a thread waits.
        topsDeviceScheduleMask = 0x7,
        /// Page-locked memory is mapped.
        topsDeviceMapHost = 0x8,
        /// Private memory keeps its largest size; no single bit, but the header's number.
        topsDeviceLmemResizeToMax = 0x16,
    }
}

c_enum! {
    /// Who may use a device.
    pub struct topsComputeMode {
        /// Every thread of every process.
        topsComputeModeDefault = 0,
        /// One thread.
        topsComputeModeExclusive = 1,
        /// Nobody.
        topsComputeModeProhibited = 2,
        /// One process.
        topsComputeModeExclusiveProcess = 3,
    }

    /// What `topsDeviceGetLimit` can be asked; only the heap is supported.
    pub struct topsLimit_t {
        /// Bytes that kernels can print between two synchronisations.
        topsLimitPrintfFifoSize = 1,
        /// Bytes that kernels can allocate.
        topsLimitMallocHeapSize = 2,
    }
}

// ---- Attributes

c_enum! {
    /// What `topsDeviceGetAttribute` can be asked.
    pub struct topsDeviceAttribute_t {
        /// Highest clock in kHz.
        topsDeviceAttributeClockRate = 0,
        /// Compute capability before the dot.
        topsDeviceAttributeComputeCapabilityMajor = 1,
        /// Compute capability behind the dot.
        topsDeviceAttributeComputeCapabilityMinor = 2,
        /// Largest block in x.
        topsDeviceAttributeMaxBlockDimX = 3,
        /// Largest block in y.
        topsDeviceAttributeMaxBlockDimY = 4,
        /// Largest block in z.
        topsDeviceAttributeMaxBlockDimZ = 5,
        /// Largest grid in x.
        topsDeviceAttributeMaxGridDimX = 6,
        /// Largest grid in y.
        topsDeviceAttributeMaxGridDimY = 7,
        /// Largest grid in z.
        topsDeviceAttributeMaxGridDimZ = 8,
        /// Threads of the largest block.
        topsDeviceAttributeMaxThreadsPerBlock = 9,
        /// Multiprocessors.
        topsDeviceAttributeMultiprocessorCount = 10,
        /// Bytes of shared memory for a block.
        topsDeviceAttributeMaxSharedMemoryPerBlock = 11,
        /// Where the vendor's own attributes begin; none itself.
        topsDeviceAttributeEnflameSpecificBegin = 10000,
        /// Channels of the memory controllers.
        topsDeviceAttributeEnflameMcChannel = 10001,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_count_from_zero_and_again_from_the_vendors_own() {
        let numbers: Vec<_> = topsDeviceAttribute_t::NAMES.iter().map(|(_, number)| *number).collect();
        let expected: Vec<_> = (0..12).chain(10000..10002).collect();
        assert_eq!(numbers, expected);
    }
}
