//! Error names and texts (behaviour.md 2.2).

use super::Out;
use crate::error::{Error, ErrorKind, Result};
use std::ffi::{CStr, c_char};

/// `GetErrorName` with a result argument: an unknown number is an error, and its text is given all the same.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn put_name(out: *mut *const c_char, name: &'static CStr, known: bool, number: i32) -> Result<()> {
    // SAFETY: the caller's.
    unsafe { Out::new("errorName", out) }?.set(name.as_ptr());
    if known {
        return Ok(());
    }
    Err(Error::new(ErrorKind::InvalidValue, "no error has that number").argument("error", number))
}
