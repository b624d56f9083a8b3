//! Copies, allocations and pools, element formats, and what a pointer can be asked.

use std::ffi::{c_int, c_uchar, c_uint, c_void};

use crate::dialect::c_enum::{c_enum, c_flags, c_struct};

/// A device address, as the calls that are modelled on a driver interface take it.
pub type topsDeviceptr_t = *mut c_void;

// ---- Allocation

c_flags! {
    /// Flags of `topsExtMallocWithFlags`, and the low 56 bits of those of `topsMallocAsync`.
    MALLOC_FLAGS {
        /// Device memory.
        topsDeviceMallocDefault = 0x0,
        /// Coherent with the host while kernels run.
        topsDeviceMallocFinegrained = 0x1,
        /// A signal between host and device.
        topsMallocSignalMemory = 0x2,
        /// Taken from the upper end.
        topsMallocTopDown = 0x4,
        /// Never moved or merged.
        topsMallocForbidMergeMove = 0x8,
        /// Taken from faster memory where there is room.
        topsMallocPreferHighSpeedMem = 0x10,
        /// Seen by the host.
        topsMallocHostAccessable = 0x20,
    }

    /// Flags of `topsHostMalloc`.
    HOST_MALLOC_FLAGS {
        /// Page-locked.
        topsHostMallocDefault = 0x0,
        /// Page-locked for every device.
        topsHostMallocPortable = 0x1,
        /// Seen by the current device through a pointer of its own.
        topsHostMallocMapped = 0x2,
        /// Fast to write and slow to read for the host.
        topsHostMallocWriteCombined = 0x4,
        /// Placed as the program's NUMA policy says.
        topsHostMallocNumaUser = 0x2000_0000,
        /// Coherent with the device while kernels run.
        topsHostMallocCoherent = 0x4000_0000,
        /// Coherent with the device at synchronisations only.
        topsHostMallocNonCoherent = 0x8000_0000,
    }

    /// Flags of `topsHostRegister`.
    HOST_REGISTER_FLAGS {
        /// Page-locked.
        topsHostRegisterDefault = 0x0,
        /// Page-locked for every device.
        topsHostRegisterPortable = 0x1,
        /// Seen by the current device through a pointer of its own.
        topsHostRegisterMapped = 0x2,
        /// Memory of another device; not supported.
        topsHostRegisterIoMemory = 0x4,
        /// Coherent with the device at synchronisations only.
        topsExtHostRegisterCoarseGrained = 0x8,
    }

    /// Who may use managed memory; the vendor has the flags and no call that takes them.
    MEM_ATTACH_FLAGS {
        /// Every stream of every device.
        topsMemAttachGlobal = 0x1,
        /// The host, until it is attached to a stream.
        topsMemAttachHost = 0x2,
        /// One stream.
        topsMemAttachSingle = 0x4,
    }
}

c_enum! {
    /// How managed memory will be used; the vendor has the advice and no call that takes it.
    pub struct topsMemoryAdvise {
        /// It is mostly read.
        topsMemAdviseSetReadMostly = 1,
        /// It is not mostly read after all.
        topsMemAdviseUnsetReadMostly = 2,
        /// It should live on the device given.
        topsMemAdviseSetPreferredLocation = 3,
        /// It may live anywhere.
        topsMemAdviseUnsetPreferredLocation = 4,
        /// The device given will use it.
        topsMemAdviseSetAccessedBy = 5,
        /// The device given will no longer use it.
        topsMemAdviseUnsetAccessedBy = 6,
        /// It need not be coherent while kernels run.
        topsMemAdviseSetCoarseGrain = 100,
        /// It must be coherent while kernels run.
        topsMemAdviseUnsetCoarseGrain = 101,
    }
}

// ---- Copies

c_enum! {
    /// The direction of a copy.
    pub struct topsMemcpyKind {
        /// Host to host.
        topsMemcpyHostToHost = 0,
        /// Host to device.
        topsMemcpyHostToDevice = 1,
        /// Device to host.
        topsMemcpyDeviceToHost = 2,
        /// Device to device.
        topsMemcpyDeviceToDevice = 3,
        /// As the addresses say.
        topsMemcpyDefault = 4,
    }

    /// The link that a copy between devices, or an event of another process, should take.
    pub struct topsTopologyMapType {
        /// The best there is.
        topsTopologyMapTypeAuto = 0,
        /// Local memory.
        topsTopologyMapTypeLocal = 1,
        /// The vendor's own link.
        topsTopologyMapTypeEsl = 2,
        /// PCI, from device to device.
        topsTopologyMapTypeP2P = 3,
        /// The same card, whose clusters are devices.
        topsTopologyMapTypeClsAsDev = 4,
    }
}

// ---- Element formats

c_enum! {
    /// What the channels of an element hold.
    pub struct topsChannelFormatKind {
        /// Signed integers.
        topsChannelFormatKindSigned = 0,
        /// Unsigned integers.
        topsChannelFormatKindUnsigned = 1,
        /// Floating-point numbers.
        topsChannelFormatKindFloat = 2,
        /// Nothing.
        topsChannelFormatKindNone = 3,
    }
}

c_struct! {
    /// The format of an element.
    pub struct topsChannelFormatDesc {
        /// Bits of the first channel.
        pub x: c_int,
        /// Bits of the second channel, or 0.
        pub y: c_int,
        /// Bits of the third channel, or 0.
        pub z: c_int,
        /// Bits of the fourth channel, or 0.
        pub w: c_int,
        /// What they hold.
        pub f: topsChannelFormatKind,
    }
}

// ---- Pointers

c_enum! {
    /// Where memory lives; there is no member for memory that the runtime does not know.
    pub struct topsMemoryType {
        /// Page-locked host memory.
        topsMemoryTypeHost = 1,
        /// Device memory.
        topsMemoryTypeDevice = 2,
        /// Device memory in several pieces.
        topsMemoryTypeScatter = 4,
        /// The same, made at first use.
        topsMemoryTypeLazy = 8,
        /// Not used.
        topsMemoryTypeUnified = 9,
    }

    /// What `topsPointerGetAttribute` can be asked.
    pub struct topsPointer_attribute {
        /// The context of the allocation; not supported.
        TOPS_POINTER_ATTRIBUTE_CONTEXT = 1,
        /// Where the memory lives, as a [`topsMemoryType`].
        TOPS_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
        /// The address for kernels.
        TOPS_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
        /// The address for the host.
        TOPS_POINTER_ATTRIBUTE_HOST_POINTER = 4,
        /// Tokens for the kernel driver; not supported.
        TOPS_POINTER_ATTRIBUTE_P2P_TOKENS = 5,
        /// Whether every copy of the memory is synchronous.
        TOPS_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
        /// A number that no other allocation of the process has.
        TOPS_POINTER_ATTRIBUTE_BUFFER_ID = 7,
        /// Whether the memory is managed.
        TOPS_POINTER_ATTRIBUTE_IS_MANAGED = 8,
        /// The ordinal of the owning device.
        TOPS_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
        /// Whether another process can open the memory; not supported.
        TOPS_POINTER_ATTRIBUTE_IS_LEGACY_TOPS_IPC_CAPABLE = 10,
        /// The first address of the allocation.
        TOPS_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
        /// The bytes of the allocation.
        TOPS_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
        /// Whether memory lies behind the address.
        TOPS_POINTER_ATTRIBUTE_MAPPED = 13,
        /// How the allocation can be shared, a bit mask; not supported.
        TOPS_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14,
        /// Whether other PCI devices can use the memory; not supported.
        TOPS_POINTER_ATTRIBUTE_IS_GCU_DIRECT_RDMA_CAPABLE = 15,
        /// Who may do what with the memory.
        TOPS_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16,
        /// The pool of the allocation; not supported.
        TOPS_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
        /// The memory bank of the allocation.
        TOPS_POINTER_ATTRIBUTE_MEM_BANK = 18,
    }
}

c_struct! {
    /// What `topsPointerGetAttributes` tells of an address.
    pub struct topsPointerAttribute_t {
        /// Where the memory lives.
        pub memoryType: topsMemoryType,
        /// The owning device.
        pub device: c_int,
        /// The address for kernels, or null.
        pub device_pointer: *mut c_void,
        /// The address for the host, or null.
        pub host_pointer: *mut c_void,
        /// Whether the memory is managed.
        pub isManaged: c_int,
        /// The flags of the allocation.
        pub allocationFlags: c_uint,
    }
}

// ---- Pools

c_enum! {
    /// What a memory pool can be asked and told.
    pub struct topsMemPoolAttr {
        /// Whether memory freed in another stream is reused once an event orders the two; an `int`.
        topsMemPoolReuseFollowEventDependencies = 1,
        /// Whether memory whose free has happened is reused in any stream; an `int`.
        topsMemPoolReuseAllowOpportunistic = 2,
        /// Whether the pool may order streams to reuse memory; an `int`.
        topsMemPoolReuseAllowInternalDependencies = 3,
        /// Bytes that the pool keeps when it gives memory back; a `uint64_t`, as are all below.
        topsMemPoolAttrReleaseThreshold = 4,
        /// Bytes that the pool holds now.
        topsMemPoolAttrReservedMemCurrent = 5,
        /// The most bytes it held since this was set to 0.
        topsMemPoolAttrReservedMemHigh = 6,
        /// Bytes that the program has of it now.
        topsMemPoolAttrUsedMemCurrent = 7,
        /// The most bytes the program had since this was set to 0.
        topsMemPoolAttrUsedMemHigh = 8,
    }

    /// The kind of a place for memory.
    pub struct topsMemLocationType {
        /// No place.
        topsMemLocationTypeInvalid = 0,
        /// A device, by its ordinal.
        topsMemLocationTypeDevice = 1,
    }

    /// What a device may do with a pool's memory.
    pub struct topsMemAccessFlags {
        /// Nothing.
        topsMemAccessFlagsProtNone = 0,
        /// Read.
        topsMemAccessFlagsProtRead = 1,
        /// Read and write.
        topsMemAccessFlagsProtReadWrite = 3,
    }

    /// The kind of a pool's allocations.
    pub struct topsMemAllocationType {
        /// No kind.
        topsMemAllocationTypeInvalid = 0,
        /// Memory that stays where it is.
        topsMemAllocationTypePinned = 1,
        /// The largest value.
        topsMemAllocationTypeMax = 0x7fff_ffff,
    }

    /// How a pool can be shared with other processes.
    pub struct topsMemAllocationHandleType {
        /// Not at all.
        topsMemHandleTypeNone = 0,
        /// By a file descriptor.
        topsMemHandleTypePosixFileDescriptor = 1,
        /// By a Windows handle.
        topsMemHandleTypeWin32 = 2,
        /// By an older Windows handle.
        topsMemHandleTypeWin32Kmt = 4,
    }
}

c_struct! {
    /// A place for memory.
    pub struct topsMemLocation {
        /// The kind of place.
        pub r#type: topsMemLocationType,
        /// Which one.
        pub id: c_int,
    }

    /// What one device may do with a pool's memory.
    pub struct topsMemAccessDesc {
        /// The device.
        pub location: topsMemLocation,
        /// What it may do.
        pub flags: topsMemAccessFlags,
    }

    /// How a pool is to be made.
    pub struct topsMemPoolProps {
        /// The kind of its allocations.
        pub allocType: topsMemAllocationType,
        /// How it can be shared.
        pub handleTypes: topsMemAllocationHandleType,
        /// Where its memory lives.
        pub location: topsMemLocation,
        /// Who may open it on Windows; null here.
        pub win32SecurityAttributes: *mut c_void,
        /// Zeros.
        pub reserved: [c_uchar; 64],
    }

    /// What another process needs to open an allocation of a pool.
    pub struct topsMemPoolPtrExportData {
        /// The runtime's own.
        pub reserved: [c_uchar; 64],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::c_enum::assert_layout;

    /// The numbers are those that gcc prints for the vendor's declarations on x86-64.
    #[test]
    fn structures_are_laid_out_as_in_c() {
        assert_layout::<topsChannelFormatDesc>(topsChannelFormatDesc::FIELDS, 20, &[("x", 0), ("w", 12), ("f", 16)]);
        assert_layout::<topsPointerAttribute_t>(
            topsPointerAttribute_t::FIELDS,
            32,
            &[
                ("memoryType", 0),
                ("device", 4),
                ("device_pointer", 8),
                ("host_pointer", 16),
                ("isManaged", 24),
                ("allocationFlags", 28),
            ],
        );
        assert_layout::<topsMemLocation>(topsMemLocation::FIELDS, 8, &[("r#type", 0), ("id", 4)]);
        assert_layout::<topsMemAccessDesc>(topsMemAccessDesc::FIELDS, 12, &[("flags", 8)]);
        assert_layout::<topsMemPoolProps>(
            topsMemPoolProps::FIELDS,
            88,
            &[("handleTypes", 4), ("location", 8), ("win32SecurityAttributes", 16), ("reserved", 24)],
        );
    }
}
