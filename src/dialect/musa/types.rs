//! The types and constants of the MUSA dialect.
//!
//! Sources, in this order: the seed (names, the per-thread stream -1, `musaMemAttachSingle`), the vendor's public
//! header (device attributes, device properties, UUID), and CUDA 11, which that header follows number by number,
//! for everything else: sections that say "CUDA's numbers" have nothing from the vendor but the names.

#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case, reason = "the names are the vendor's")]

mod device;
mod launch;
mod memory;
mod pool;
mod property;

use std::ffi::{c_char, c_int, c_void};
use std::ptr::without_provenance_mut;

use super::codes::musaError_t;
use crate::dialect::c_enum::{c_flags, c_handle, c_struct};

pub use self::{device::*, launch::*, memory::*, pool::*, property::*};
pub use crate::dialect::dim3::dim3;

// ---- Handles

c_handle! {
    /// A stream: work that runs in order. Null is the default stream of the current device.
    pub type musaStream_t = *mut musaStream_st;
    /// An event: a point in a stream that can be waited for and timed.
    pub type musaEvent_t = *mut musaEvent_st;
    /// A module: kernels and symbols that were loaded together.
    pub type musaModule_t = *mut musaModule_st;
    /// A function: one kernel of a module.
    pub type musaFunction_t = *mut musaFunction_st;
    /// An array: an image of one, two or three dimensions.
    pub type musaArray_t = *mut musaArray;
    /// A memory pool: what stream-ordered allocations are taken from.
    pub type musaMemPool_t = *mut musaMemPoolHandle_st;
}

/// An array that is only read.
pub type musaArray_const_t = *const musaArray;

// ---- Callbacks

/// Called in stream order with the stream, the state it is in, and what the program passed along.
pub type musaStreamCallback_t =
    Option<unsafe extern "C" fn(stream: musaStream_t, status: musaError_t, userData: *mut c_void)>;

/// Called in stream order with what the program passed along.
pub type musaHostFn_t = Option<unsafe extern "C" fn(userData: *mut c_void)>;

// ---- Streams
// CUDA's numbers.

/// The default stream, which waits for every blocking stream of its device and is waited for by each.
pub const musaStreamLegacy: musaStream_t = without_provenance_mut(0x1);

/// The calling thread's own default stream.
pub const musaStreamPerThread: musaStream_t = without_provenance_mut(0x2);

/// The handles that mean the default stream.
pub(crate) const LEGACY_STREAMS: &[usize] = &[0, 0x1];

/// The handles that mean the calling thread's stream; the seed's is -1.
pub(crate) const PER_THREAD_STREAMS: &[usize] = &[0x2, usize::MAX];

c_flags! {
    /// Flags of `musaStreamCreateWithFlags` and `musaStreamCreateWithPriority`.
    STREAM_FLAGS {
        /// Ordered with the default stream.
        musaStreamDefault = 0x0,
        /// Not ordered with the default stream.
        musaStreamNonBlocking = 0x1,
    }
}

// ---- Events
// CUDA's numbers.

c_flags! {
    /// Flags of `musaEventCreateWithFlags`.
    EVENT_FLAGS {
        /// Timed, and waited for by spinning.
        musaEventDefault = 0x0,
        /// A thread that waits for the event sleeps.
        musaEventBlockingSync = 0x1,
        /// Takes no time; cheaper, and no use to `musaEventElapsedTime`.
        musaEventDisableTiming = 0x2,
        /// May be opened by another process; goes with `musaEventDisableTiming` only.
        musaEventInterprocess = 0x4,
    }

    /// Flags of `musaEventRecordWithFlags`.
    EVENT_RECORD_FLAGS {
        /// A plain record.
        musaEventRecordDefault = 0x0,
        /// A record that a captured graph shows to the outside; the same as a plain one elsewhere.
        musaEventRecordExternal = 0x1,
    }

    /// Flags of `musaStreamWaitEvent`.
    EVENT_WAIT_FLAGS {
        /// A plain wait.
        musaEventWaitDefault = 0x0,
        /// A wait for an event from outside of a captured graph.
        musaEventWaitExternal = 0x1,
    }
}

// ---- Other processes
// CUDA's numbers.

/// Bytes of an interprocess handle.
pub const MUSA_IPC_HANDLE_SIZE: usize = 64;

c_struct! {
    /// What another process needs to open an event; may be copied there by any means.
    pub struct musaIpcEventHandle_t {
        /// The runtime's own.
        pub reserved: [c_char; MUSA_IPC_HANDLE_SIZE],
    }

    /// What another process needs to open device memory.
    pub struct musaIpcMemHandle_t {
        /// The runtime's own.
        pub reserved: [c_char; MUSA_IPC_HANDLE_SIZE],
    }
}

c_flags! {
    /// Flags of `musaIpcOpenMemHandle`.
    IPC_MEM_FLAGS {
        /// Peer access is switched on where opening needs it.
        musaIpcMemLazyEnablePeerAccess = 0x1,
    }
}

// ---- Device ordinals
// CUDA's numbers.

/// The host, where a call takes a device.
pub const musaCpuDeviceId: c_int = -1;

/// No device.
pub const musaInvalidDeviceId: c_int = -2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_special_streams_are_among_the_handles_that_mean_them() {
        assert!(LEGACY_STREAMS.contains(&musaStreamLegacy.addr()));
        assert!(PER_THREAD_STREAMS.contains(&musaStreamPerThread.addr()));
        assert!(PER_THREAD_STREAMS.contains(&(-1isize as usize)));
    }

    #[test]
    fn interprocess_handles_are_64_bytes() {
        assert_eq!(size_of::<musaIpcEventHandle_t>(), 64);
        assert_eq!(size_of::<musaIpcMemHandle_t>(), 64);
    }

    #[test]
    fn a_callback_is_a_nullable_pointer() {
        assert_eq!(size_of::<musaStreamCallback_t>(), size_of::<*const ()>());
        assert_eq!(size_of::<musaHostFn_t>(), size_of::<*const ()>());
    }
}
