//! The MUSA Runtime dialect: the names, signatures, constants and numbers of the vendor's guide.
//!
//! Every function answers a [`musaError_t`]; where the guide's numbers differ from other sources the guide's stand.
//! Kernels are OpenCL C, loaded with [`musaModuleLoadData`] and launched with [`musaLaunchKernel`].
//!
//! ```
//! use gridcl::musa::*;
//! use std::ptr::null_mut;
//! let mut memory = null_mut();
//! // SAFETY: `memory` is a variable for the result, and is freed once.
//! unsafe {
//!     assert_eq!(musaMalloc(&mut memory, 1024), musaSuccess);
//!     assert_eq!(musaMemset(memory, 0, 1024), musaSuccess);
//!     assert_eq!(musaFree(memory), musaSuccess);
//! }
//! ```

mod arrays;
mod boxes;
mod codes;
mod pointers;
mod properties;
mod table;
mod types;

pub use self::{codes::*, table::*, types::*};

use super::Dialect;
use super::handle::Handles;
use super::thread::Thread;
use crate::error::ErrorKind;
use std::cell::RefCell;
use std::thread::LocalKey;

static HANDLES_ALIVE: Handles = Handles::starting_at(0x6d75_0000_0000);

thread_local! {
    static THREAD: RefCell<Thread> = const { RefCell::new(Thread::new()) };
}

/// MUSA's own in what the dialects share.
pub(crate) enum Musa {}

impl Dialect for Musa {
    type Code = musaError_t;
    const SUCCESS: musaError_t = musaSuccess;
    const LEGACY_STREAMS: &'static [usize] = types::LEGACY_STREAMS;
    const PER_THREAD_STREAMS: &'static [usize] = types::PER_THREAD_STREAMS;

    fn code(kind: ErrorKind) -> musaError_t {
        musaError_t::from_kind(kind)
    }

    fn thread() -> &'static LocalKey<RefCell<Thread>> {
        &THREAD
    }

    fn handles() -> &'static Handles {
        &HANDLES_ALIVE
    }
}
