//! Memory pools. The vendor's sources have the calls' names at most; every number and layout here is CUDA's.

use std::ffi::{c_int, c_uchar, c_void};

use crate::dialect::c_enum::{c_enum, c_struct};

c_enum! {
    /// What a memory pool can be asked and told.
    pub struct musaMemPoolAttr {
        /// Whether memory freed in another stream is reused once an event orders the two; an `int`.
        musaMemPoolReuseFollowEventDependencies = 1,
        /// Whether memory whose free has happened is reused in any stream; an `int`.
        musaMemPoolReuseAllowOpportunistic = 2,
        /// Whether the pool may order streams to reuse memory; an `int`.
        musaMemPoolReuseAllowInternalDependencies = 3,
        /// Bytes that the pool keeps at a synchronisation; a `uint64_t`, as are all below.
        musaMemPoolAttrReleaseThreshold = 4,
        /// Bytes that the pool holds now.
        musaMemPoolAttrReservedMemCurrent = 5,
        /// The most bytes it held since this was set to 0.
        musaMemPoolAttrReservedMemHigh = 6,
        /// Bytes that the program has of it now.
        musaMemPoolAttrUsedMemCurrent = 7,
        /// The most bytes the program had since this was set to 0.
        musaMemPoolAttrUsedMemHigh = 8,
    }

    /// The kind of a place for memory.
    pub struct musaMemLocationType {
        /// No place.
        musaMemLocationTypeInvalid = 0,
        /// A device, by its ordinal.
        musaMemLocationTypeDevice = 1,
    }

    /// The kind of a pool's allocations.
    pub struct musaMemAllocationType {
        /// No kind.
        musaMemAllocationTypeInvalid = 0,
        /// Memory that stays where it is.
        musaMemAllocationTypePinned = 1,
        /// The largest value.
        musaMemAllocationTypeMax = 0x7fff_ffff,
    }

    /// How a pool can be shared with other processes; only the first is supported.
    pub struct musaMemAllocationHandleType {
        /// Not at all.
        musaMemHandleTypeNone = 0,
        /// By a file descriptor.
        musaMemHandleTypePosixFileDescriptor = 1,
        /// By a Windows handle.
        musaMemHandleTypeWin32 = 2,
        /// By an older Windows handle.
        musaMemHandleTypeWin32Kmt = 4,
    }
}

c_struct! {
    /// A place for memory.
    pub struct musaMemLocation {
        /// The kind of place.
        pub r#type: musaMemLocationType,
        /// Which one.
        pub id: c_int,
    }

    /// How a pool is to be made.
    pub struct musaMemPoolProps {
        /// The kind of its allocations.
        pub allocType: musaMemAllocationType,
        /// How it can be shared.
        pub handleTypes: musaMemAllocationHandleType,
        /// Where its memory lives.
        pub location: musaMemLocation,
        /// Who may open it on Windows; null here.
        pub win32SecurityAttributes: *mut c_void,
        /// Zeros.
        pub reserved: [c_uchar; 64],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::c_enum::assert_layout;

    /// The numbers are those that gcc prints for the same declarations in C on x86-64.
    #[test]
    fn structures_are_laid_out_as_in_c() {
        assert_layout::<musaMemLocation>(musaMemLocation::FIELDS, 8, &[("r#type", 0), ("id", 4)]);
        assert_layout::<musaMemPoolProps>(
            musaMemPoolProps::FIELDS,
            88,
            &[("handleTypes", 4), ("location", 8), ("win32SecurityAttributes", 16), ("reserved", 24)],
        );
    }
}
