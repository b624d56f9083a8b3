//! The calls that the dialects share, in C's terms: pointers to results, flags, null rules. A table line names one
//! of them and says what is the dialect's own.

pub(crate) mod array;
pub(crate) mod copy;
pub(crate) mod device;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod function;
pub(crate) mod launch;
#[cfg(feature = "musa")]
pub(crate) mod managed;
pub(crate) mod memory;
pub(crate) mod module;
pub(crate) mod peer;
pub(crate) mod pitched;
pub(crate) mod pointer;
pub(crate) mod pool;
pub(crate) mod property;
pub(crate) mod refused;
pub(crate) mod stream;
pub(crate) mod symbol;

use crate::error::{Error, ErrorKind, Result};
use std::ffi::{CStr, c_char};
use std::ptr::NonNull;

/// Where a result goes; checked before anything is done for it.
pub(in crate::dialect) struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// # Errors
    /// [`ErrorKind::InvalidValue`] when the pointer is null.
    ///
    /// # Safety
    /// A pointer that is not null has to be writable.
    pub(in crate::dialect) unsafe fn new(name: &'static str, pointer: *mut T) -> Result<Self> {
        NonNull::new(pointer).map(Self).ok_or_else(|| null(name).help("pass the address of a variable for the result"))
    }

    /// Writes the result.
    pub(in crate::dialect) fn set(self, value: T) {
        // SAFETY: `new`'s caller promised it.
        unsafe { self.0.write_unaligned(value) };
    }
}

/// The error for a pointer that must not be null.
pub(in crate::dialect) fn null(name: &'static str) -> Error {
    Error::new(ErrorKind::InvalidValue, "the pointer must not be null").argument(name, "null")
}

/// The error for flag bits that the call does not know.
pub(super) fn unknown_flags(flags: u32, known: u32) -> Error {
    Error::new(ErrorKind::InvalidValue, format!("bits {:#x} are not flags of this call", flags & !known))
        .argument("flags", format_args!("{flags:#x}"))
}

/// Refuses flag bits outside of `known`.
pub(super) fn check_flags(flags: u32, known: u32) -> Result<()> {
    if flags & !known == 0 { Ok(()) } else { Err(unknown_flags(flags, known)) }
}

/// A C string argument.
///
/// # Safety
/// A pointer that is not null has to be to a NUL-terminated string.
pub(super) unsafe fn text<'a>(name: &'static str, pointer: *const c_char) -> Result<&'a str> {
    if pointer.is_null() {
        return Err(null(name));
    }
    // SAFETY: the caller's.
    let text = unsafe { CStr::from_ptr(pointer) };
    let text = text
        .to_str()
        .map_err(|_| Error::new(ErrorKind::InvalidValue, "the text is not UTF-8").argument(name, "a string"))?;
    if text.is_empty() {
        return Err(Error::new(ErrorKind::InvalidValue, "the text is empty").argument(name, "\"\""));
    }
    Ok(text)
}

/// Writes a text with its NUL into a buffer of `len` bytes.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] when the buffer is null or too small; nothing is written then.
///
/// # Safety
/// `out` has to be null or writable for `len` bytes.
pub(super) unsafe fn put_text(name: &'static str, out: *mut c_char, len: i32, text: &str, cut: bool) -> Result<()> {
    if out.is_null() {
        return Err(null(name));
    }
    let room = usize::try_from(len).unwrap_or(0);
    if room == 0 || (!cut && room <= text.len()) {
        let problem = format!("\"{text}\" needs {} bytes with its NUL", text.len() + 1);
        return Err(Error::new(ErrorKind::InvalidValue, problem).argument("len", len));
    }
    let kept = text.len().min(room - 1);
    // SAFETY: `kept + 1` bytes fit into the caller's buffer.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), out.cast(), kept);
        out.add(kept).write(0);
    }
    Ok(())
}
