//! The TopsRuntime dialect: the names of the vendor's programming interface, the signatures, constants and numbers of its
//! public header.
//!
//! Every function answers a [`topsError_t`]; TOPS 7.1 to 7.4 of the guide are what works.
//! Kernels are OpenCL C, loaded with [`topsModuleLoadData`] and launched with [`topsLaunchKernel`].
//!
//! ```
//! use gridcl::tops::*;
//! use std::ptr::null_mut;
//! let mut memory = null_mut();
//! // SAFETY: `memory` is a variable for the result, and is freed once.
//! unsafe {
//!     assert_eq!(topsMalloc(&mut memory, 1024), topsSuccess);
//!     assert_eq!(topsMemset(memory, 0, 1024), topsSuccess);
//!     assert_eq!(topsFree(memory), topsSuccess);
//! }
//! ```

mod codes;
mod pointers;
mod properties;
mod steps;
mod table;
mod types;

pub use self::{codes::*, table::*, types::*};

use super::Dialect;
use super::handle::Handles;
use super::thread::Thread;
use crate::error::ErrorKind;
use std::cell::RefCell;
use std::thread::LocalKey;

static HANDLES_ALIVE: Handles = Handles::starting_at(0x746f_0000_0000);

thread_local! {
    static THREAD: RefCell<Thread> = const { RefCell::new(Thread::new()) };
}

/// TOPS's own in what the dialects share.
pub(crate) enum Tops {}

impl Dialect for Tops {
    type Code = topsError_t;
    const SUCCESS: topsError_t = topsSuccess;
    const LEGACY_STREAMS: &'static [usize] = types::LEGACY_STREAMS;
    const PER_THREAD_STREAMS: &'static [usize] = types::PER_THREAD_STREAMS;

    fn code(kind: ErrorKind) -> topsError_t {
        topsError_t::from_kind(kind)
    }

    fn thread() -> &'static LocalKey<RefCell<Thread>> {
        &THREAD
    }

    fn handles() -> &'static Handles {
        &HANDLES_ALIVE
    }
}
