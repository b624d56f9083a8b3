//! Copies, pitched and managed memory, arrays, and what a pointer can be asked.

use std::ffi::{c_int, c_void};

use super::musaArray_t;
use crate::dialect::c_enum::{c_enum, c_flags, c_struct};

// ---- Allocation
// CUDA's numbers; the seed names `musaMemAttachSingle` as one of the flags of managed memory.

c_flags! {
    /// Flags of `musaHostAlloc`.
    HOST_ALLOC_FLAGS {
        /// Page-locked.
        musaHostAllocDefault = 0x0,
        /// Page-locked for every device.
        musaHostAllocPortable = 0x1,
        /// Seen by the current device through a pointer of its own.
        musaHostAllocMapped = 0x2,
        /// Fast to write and slow to read for the host.
        musaHostAllocWriteCombined = 0x4,
    }

    /// Flags of `musaHostRegister`.
    HOST_REGISTER_FLAGS {
        /// Page-locked.
        musaHostRegisterDefault = 0x0,
        /// Page-locked for every device.
        musaHostRegisterPortable = 0x1,
        /// Seen by the current device through a pointer of its own.
        musaHostRegisterMapped = 0x2,
        /// Memory of another device; not supported.
        musaHostRegisterIoMemory = 0x4,
        /// Only read by the device.
        musaHostRegisterReadOnly = 0x8,
    }

    /// Flags of `musaMallocManaged` and `musaStreamAttachMemAsync`.
    MEM_ATTACH_FLAGS {
        /// For every stream of every device.
        musaMemAttachGlobal = 0x1,
        /// For the host, until it is attached to a stream.
        musaMemAttachHost = 0x2,
        /// For one stream.
        musaMemAttachSingle = 0x4,
    }
}

c_enum! {
    /// How managed memory will be used: the advice of `musaMemAdvise`.
    pub struct musaMemoryAdvise {
        /// It is mostly read.
        musaMemAdviseSetReadMostly = 1,
        /// It is not mostly read after all.
        musaMemAdviseUnsetReadMostly = 2,
        /// It should live on the device given.
        musaMemAdviseSetPreferredLocation = 3,
        /// It may live anywhere.
        musaMemAdviseUnsetPreferredLocation = 4,
        /// The device given will use it.
        musaMemAdviseSetAccessedBy = 5,
        /// The device given will no longer use it.
        musaMemAdviseUnsetAccessedBy = 6,
    }
}

c_enum! {
    // CUDA's numbers.
    /// What `musaMemRangeGetAttribute` can be asked about managed memory.
    pub struct musaMemRangeAttribute {
        /// Whether it was advised to be mostly read: 1 or 0.
        musaMemRangeAttributeReadMostly = 1,
        /// The device that was advised to be preferred.
        musaMemRangeAttributePreferredLocation = 2,
        /// The devices that were advised to use it.
        musaMemRangeAttributeAccessedBy = 3,
        /// The device it was prefetched to last.
        musaMemRangeAttributeLastPrefetchLocation = 4,
    }
}

// ---- Copies
// CUDA's numbers and layouts.

c_enum! {
    /// The direction of a copy.
    pub struct musaMemcpyKind {
        /// Host to host.
        musaMemcpyHostToHost = 0,
        /// Host to device.
        musaMemcpyHostToDevice = 1,
        /// Device to host.
        musaMemcpyDeviceToHost = 2,
        /// Device to device.
        musaMemcpyDeviceToDevice = 3,
        /// As the addresses say.
        musaMemcpyDefault = 4,
    }
}

c_struct! {
    /// Rows of memory with room behind each.
    pub struct musaPitchedPtr {
        /// The first byte of the first row.
        pub ptr: *mut c_void,
        /// Bytes from one row to the next.
        pub pitch: usize,
        /// Bytes of a row that are in use.
        pub xsize: usize,
        /// Rows of a slice.
        pub ysize: usize,
    }

    /// The size of a box of memory.
    pub struct musaExtent {
        /// Bytes of a row; elements where an array takes part.
        pub width: usize,
        /// Rows of a slice.
        pub height: usize,
        /// Slices.
        pub depth: usize,
    }

    /// A place in a box of memory.
    pub struct musaPos {
        /// Bytes into the row; elements in an array.
        pub x: usize,
        /// Row of the slice.
        pub y: usize,
        /// Slice.
        pub z: usize,
    }

    /// A copy of a box of memory: on each side either an array or a pitched pointer.
    pub struct musaMemcpy3DParms {
        /// The array to read, or null.
        pub srcArray: musaArray_t,
        /// Where reading starts.
        pub srcPos: musaPos,
        /// The memory to read, or null.
        pub srcPtr: musaPitchedPtr,
        /// The array to write, or null.
        pub dstArray: musaArray_t,
        /// Where writing starts.
        pub dstPos: musaPos,
        /// The memory to write, or null.
        pub dstPtr: musaPitchedPtr,
        /// How much is copied.
        pub extent: musaExtent,
        /// The direction.
        pub kind: musaMemcpyKind,
    }

    /// A copy of a box of memory between devices: on each side either an array or a pitched pointer.
    pub struct musaMemcpy3DPeerParms {
        /// The array to read, or null.
        pub srcArray: musaArray_t,
        /// Where reading starts.
        pub srcPos: musaPos,
        /// The memory to read, or null.
        pub srcPtr: musaPitchedPtr,
        /// The device that is read.
        pub srcDevice: c_int,
        /// The array to write, or null.
        pub dstArray: musaArray_t,
        /// Where writing starts.
        pub dstPos: musaPos,
        /// The memory to write, or null.
        pub dstPtr: musaPitchedPtr,
        /// The device that is written.
        pub dstDevice: c_int,
        /// How much is copied.
        pub extent: musaExtent,
    }
}

/// A [`musaPitchedPtr`] of its four parts.
#[must_use]
pub const fn make_musaPitchedPtr(ptr: *mut c_void, pitch: usize, xsize: usize, ysize: usize) -> musaPitchedPtr {
    musaPitchedPtr { ptr, pitch, xsize, ysize }
}

/// A [`musaExtent`] of its three parts.
#[must_use]
pub const fn make_musaExtent(width: usize, height: usize, depth: usize) -> musaExtent {
    musaExtent { width, height, depth }
}

/// A [`musaPos`] of its three parts.
#[must_use]
pub const fn make_musaPos(x: usize, y: usize, z: usize) -> musaPos {
    musaPos { x, y, z }
}

// ---- Arrays
// CUDA's numbers and layouts.

c_enum! {
    /// What the channels of an array hold.
    pub struct musaChannelFormatKind {
        /// Signed integers.
        musaChannelFormatKindSigned = 0,
        /// Unsigned integers.
        musaChannelFormatKindUnsigned = 1,
        /// Floating-point numbers.
        musaChannelFormatKindFloat = 2,
        /// Nothing.
        musaChannelFormatKindNone = 3,
    }
}

c_struct! {
    /// The format of an array's elements.
    pub struct musaChannelFormatDesc {
        /// Bits of the first channel.
        pub x: c_int,
        /// Bits of the second channel, or 0.
        pub y: c_int,
        /// Bits of the third channel, or 0.
        pub z: c_int,
        /// Bits of the fourth channel, or 0.
        pub w: c_int,
        /// What they hold.
        pub f: musaChannelFormatKind,
    }
}

c_flags! {
    /// Flags of `musaMallocArray` and `musaMalloc3DArray`.
    ARRAY_FLAGS {
        /// A plain array.
        musaArrayDefault = 0x0,
        /// Layers instead of a third dimension.
        musaArrayLayered = 0x1,
        /// May be written through a surface.
        musaArraySurfaceLoadStore = 0x2,
        /// Six faces of a cube.
        musaArrayCubemap = 0x4,
        /// Texture gathers may be done on it.
        musaArrayTextureGather = 0x8,
    }
}

/// An element format of up to four channels, widths in bits.
///
/// Widths are 8, 16 or 32. The vendor's guide passes `1, 0, 0, 0` with kind float, which an array takes for one
/// 32-bit float channel; the descriptor itself holds what was passed.
#[must_use]
pub const fn musaCreateChannelDesc(
    x: c_int,
    y: c_int,
    z: c_int,
    w: c_int,
    f: musaChannelFormatKind,
) -> musaChannelFormatDesc {
    musaChannelFormatDesc { x, y, z, w, f }
}

// ---- Pointers

c_enum! {
    // CUDA's numbers.
    /// Where memory lives.
    pub struct musaMemoryType {
        /// Memory that the runtime does not know.
        musaMemoryTypeUnregistered = 0,
        /// Page-locked host memory.
        musaMemoryTypeHost = 1,
        /// Device memory.
        musaMemoryTypeDevice = 2,
        /// Managed memory.
        musaMemoryTypeManaged = 3,
    }

    // The numbers of the public TOPS header: no MUSA source has any.
    /// What `musaPointerGetAttribute` can be asked; other numbers are not supported.
    pub struct musaPointer_attribute {
        /// The context of the allocation; not supported.
        musaPointerAttributeContext = 1,
        /// Where the memory lives, as a [`musaMemoryType`].
        musaPointerAttributeMemoryType = 2,
        /// The address for kernels.
        musaPointerAttributeDevicePointer = 3,
        /// The address for the host.
        musaPointerAttributeHostPointer = 4,
        /// Whether the memory is managed.
        musaPointerAttributeIsManaged = 8,
        /// The ordinal of the owning device.
        musaPointerAttributeDeviceOrdinal = 9,
        /// The first address of the allocation.
        musaPointerAttributeRangeStart = 11,
        /// The bytes of the allocation.
        musaPointerAttributeRangeSize = 12,
    }
}

// CUDA's layout.
c_struct! {
    /// What `musaPointerGetAttributes` tells of an address.
    pub struct musaPointerAttributes {
        /// Where the memory lives.
        pub r#type: musaMemoryType,
        /// The owning device, or [`musaInvalidDeviceId`](super::musaInvalidDeviceId).
        pub device: c_int,
        /// The address for kernels, or null.
        pub devicePointer: *mut c_void,
        /// The address for the host, or null.
        pub hostPointer: *mut c_void,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::c_enum::assert_layout;

    /// The numbers are those that gcc prints for the same declarations in C on x86-64.
    #[test]
    fn structures_are_laid_out_as_in_c() {
        assert_layout::<musaPitchedPtr>(musaPitchedPtr::FIELDS, 32, &[("ptr", 0), ("ysize", 24)]);
        assert_layout::<musaExtent>(musaExtent::FIELDS, 24, &[("width", 0), ("depth", 16)]);
        assert_layout::<musaPos>(musaPos::FIELDS, 24, &[("x", 0), ("z", 16)]);
        assert_layout::<musaMemcpy3DParms>(
            musaMemcpy3DParms::FIELDS,
            160,
            &[
                ("srcArray", 0),
                ("srcPos", 8),
                ("srcPtr", 32),
                ("dstArray", 64),
                ("dstPos", 72),
                ("dstPtr", 96),
                ("extent", 128),
                ("kind", 152),
            ],
        );
        assert_layout::<musaMemcpy3DPeerParms>(
            musaMemcpy3DPeerParms::FIELDS,
            168,
            &[("srcDevice", 64), ("dstArray", 72), ("dstDevice", 136), ("extent", 144)],
        );
        assert_layout::<musaChannelFormatDesc>(musaChannelFormatDesc::FIELDS, 20, &[("x", 0), ("w", 12), ("f", 16)]);
        assert_layout::<musaPointerAttributes>(
            musaPointerAttributes::FIELDS,
            24,
            &[("r#type", 0), ("device", 4), ("devicePointer", 8), ("hostPointer", 16)],
        );
    }

    #[test]
    fn parameters_of_a_copy_start_empty() {
        let parms = musaMemcpy3DParms::default();
        assert!(parms.srcArray.is_null() && parms.srcPtr.ptr.is_null());
        assert_eq!((parms.extent, parms.kind), (make_musaExtent(0, 0, 0), musaMemcpyHostToHost));
    }

    #[test]
    fn a_descriptor_holds_what_was_passed() {
        let desc = musaCreateChannelDesc(1, 0, 0, 0, musaChannelFormatKindFloat);
        assert_eq!((desc.x, desc.y, desc.f), (1, 0, musaChannelFormatKindFloat));
    }
}
