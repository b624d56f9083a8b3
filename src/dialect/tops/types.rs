//! The types and constants of the TOPS dialect.
//!
//! The seed names types and prints no numbers, so every number and layout here is that of the vendor's public header,
//! and nothing is added to it. What only its graphs, textures and codec extensions use is left out.

#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case, reason = "the names are the vendor's")]

mod device;
mod launch;
mod memory;
mod property;

use std::ffi::{c_char, c_int, c_void};
use std::ptr::without_provenance_mut;

use super::codes::topsError_t;
use crate::dialect::c_enum::{c_flags, c_handle, c_struct};

pub use self::{device::*, launch::*, memory::*, property::*};
pub use crate::dialect::dim3::dim3;

// ---- Handles

c_handle! {
    /// A stream: work that runs in order. Null is the default stream of the current device.
    pub type topsStream_t = *mut itopsStream_t;
    /// An event: a point in a stream that can be waited for and timed.
    pub type topsEvent_t = *mut itopsEvent_t;
    /// A module: kernels and symbols that were loaded together.
    pub type topsModule_t = *mut itopsModule_t;
    /// A function: one kernel of a module.
    pub type topsFunction_t = *mut itopsModuleSymbol_t;
    /// A memory pool: what stream-ordered allocations are taken from.
    pub type topsMemPool_t = *mut itopMemPoolHandle_t;
}

/// A device by its ordinal.
pub type topsDevice_t = c_int;

// ---- Callbacks

/// Called in stream order with the stream, the state it is in, and what the program passed along.
pub type topsStreamCallback_t =
    Option<unsafe extern "C" fn(stream: topsStream_t, status: topsError_t, userData: *mut c_void)>;

// ---- Streams

/// The calling thread's own default stream.
pub const topsStreamPerThread: topsStream_t = without_provenance_mut(0x2);

/// The handles that mean the default stream; 1 is CUDA's.
pub(crate) const LEGACY_STREAMS: &[usize] = &[0, 0x1];

/// The handles that mean the calling thread's stream.
pub(crate) const PER_THREAD_STREAMS: &[usize] = &[0x2];

c_flags! {
    /// Flags of `topsStreamCreateWithFlags`; `topsStreamCallbackBlocking` is for `topsStreamAddCallback`.
    STREAM_FLAGS {
        /// Ordered with the default stream.
        topsStreamDefault = 0x0,
        /// Not ordered with the default stream.
        topsStreamNonBlocking = 0x1,
        /// Later work waits for the callback.
        topsStreamCallbackBlocking = 0x2,
        /// Shares no hardware queue with another stream.
        topsStreamNonMerging = 0x4,
    }

    /// When `topsStreamWaitValue32` goes on.
    STREAM_WAIT_VALUE_FLAGS {
        /// The value in memory is not less.
        topsStreamWaitValueGte = 0x0,
        /// It is equal.
        topsStreamWaitValueEq = 0x1,
        /// They have a bit in common.
        topsStreamWaitValueAnd = 0x2,
        /// Some bit is set in neither.
        topsStreamWaitValueNor = 0x3,
    }
}

// ---- Events

c_flags! {
    /// Flags of `topsEventCreateWithFlags`.
    EVENT_FLAGS {
        /// Timed, and waited for by spinning.
        topsEventDefault = 0x0,
        /// A thread that waits for the event sleeps.
        topsEventBlockingSync = 0x1,
        /// Takes no time; cheaper, and no use to `topsEventElapsedTime`.
        topsEventDisableTiming = 0x2,
        /// May be opened by another process; goes with `topsEventDisableTiming` only.
        topsEventInterprocess = 0x4,
        /// Is recorded once at most.
        topsEventRecordOnce = 0x8,
        /// Completes after all that was enqueued before it.
        topsEventStrongOrder = 0x10,
        /// Is neither queried nor waited for by the host.
        topsEventDisableQueryAndSync = 0x20,
        /// Makes earlier writes visible to the device.
        topsEventReleaseToDevice = 0x4000_0000,
        /// Makes earlier writes visible to the host and other devices.
        topsEventReleaseToSystem = 0x8000_0000,
    }
}

// ---- Other processes

/// Bytes of an interprocess handle.
pub const TOPS_IPC_HANDLE_SIZE: usize = 64;

c_struct! {
    /// What another process needs to open an event; may be copied there by any means.
    pub struct topsIpcEventHandle_t {
        /// The runtime's own.
        pub reserved: [c_char; TOPS_IPC_HANDLE_SIZE],
    }

    /// What another process needs to open device memory.
    pub struct topsIpcMemHandle_t {
        /// The runtime's own.
        pub reserved: [c_char; TOPS_IPC_HANDLE_SIZE],
    }
}

c_flags! {
    /// Flags of `topsIpcOpenMemHandle`.
    IPC_MEM_FLAGS {
        /// The only value there is.
        topsIpcMemLazyEnablePeerAccess = 0x0,
    }
}

// ---- Device ordinals

/// The host, where a call takes a device.
pub const topsCpuDeviceId: c_int = -1;

/// No device.
pub const topsInvalidDeviceId: c_int = -2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_special_streams_are_among_the_handles_that_mean_them() {
        assert!(PER_THREAD_STREAMS.contains(&topsStreamPerThread.addr()));
        assert!(!LEGACY_STREAMS.contains(&topsStreamPerThread.addr()));
    }

    #[test]
    fn interprocess_handles_are_64_bytes() {
        assert_eq!(size_of::<topsIpcEventHandle_t>(), 64);
        assert_eq!(size_of::<topsIpcMemHandle_t>(), 64);
    }

    #[test]
    fn a_callback_is_a_nullable_pointer() {
        assert_eq!(size_of::<topsStreamCallback_t>(), size_of::<*const ()>());
    }
}
