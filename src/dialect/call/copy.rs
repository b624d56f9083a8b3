//! Copies and sets (behaviour.md 2.4, 3.5 and 3.6).

use crate::dialect::{Dialect, handle};
use crate::error::Result;
use crate::rt::copy::{self, CopyKind, Mode, Pattern, fill};
use bytemuck::NoUninit;
use std::ffi::{c_int, c_void};

/// The default stream, which calls without a stream of their own use.
const DEFAULT: usize = 0;

/// `Memcpy`: in the default stream.
///
/// # Safety
/// Host ranges have to be valid for the copy.
pub(crate) unsafe fn memcpy<D: Dialect>(to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int) -> Result<()> {
    // SAFETY: the caller's.
    unsafe { run::<D>(to, from, bytes, kind, DEFAULT, Mode::Sync) }
}

/// `MemcpyAsync`: in a stream.
///
/// # Safety
/// Host ranges that are pinned or registered have to stay valid until the copy is done, others for the call.
pub(crate) unsafe fn memcpy_async<D: Dialect>(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: c_int,
    stream: usize,
) -> Result<()> {
    // SAFETY: the caller's.
    unsafe { run::<D>(to, from, bytes, kind, stream, Mode::Async) }
}

/// `MemcpyWithStream`: in a stream, and done when the call returns as `Memcpy` is.
///
/// # Safety
/// Host ranges have to be valid for the copy.
pub(crate) unsafe fn memcpy_with_stream<D: Dialect>(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: c_int,
    stream: usize,
) -> Result<()> {
    // SAFETY: the caller's.
    unsafe { run::<D>(to, from, bytes, kind, stream, Mode::Sync) }
}

/// # Safety
/// As the calls above.
unsafe fn run<D: Dialect>(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: c_int,
    stream: usize,
    mode: Mode,
) -> Result<()> {
    let kind = CopyKind::from_number(kind)?;
    let stream = handle::stream::<D>(stream)?;
    // SAFETY: the caller's.
    unsafe { copy::copy(&stream, to.addr(), from.addr(), bytes, kind, mode) }
}

/// `Memset`: the low byte of `value`, over and over, in the default stream.
pub(crate) fn memset<D: Dialect>(pointer: *mut c_void, value: c_int, bytes: usize) -> Result<()> {
    set::<D, _>(pointer, low_byte(value), bytes, DEFAULT, Mode::Sync)
}

/// `MemsetAsync`: the same in a stream.
pub(crate) fn memset_async<D: Dialect>(pointer: *mut c_void, value: c_int, bytes: usize, stream: usize) -> Result<()> {
    set::<D, _>(pointer, low_byte(value), bytes, stream, Mode::Async)
}

/// `MemsetD8`, `MemsetD16` and `MemsetD32`: `count` elements of the value's own width.
pub(crate) fn memset_wide<D: Dialect, T: NoUninit>(pointer: *mut c_void, value: T, count: usize) -> Result<()> {
    set::<D, T>(pointer, value, count, DEFAULT, Mode::Sync)
}

/// The same in a stream.
pub(crate) fn memset_wide_async<D: Dialect, T: NoUninit>(
    pointer: *mut c_void,
    value: T,
    count: usize,
    stream: usize,
) -> Result<()> {
    set::<D, T>(pointer, value, count, stream, Mode::Async)
}

fn set<D: Dialect, T: NoUninit>(pointer: *mut c_void, value: T, count: usize, stream: usize, mode: Mode) -> Result<()> {
    let stream = handle::stream::<D>(stream)?;
    // Every width that the calls have is one that a pattern can be told by.
    let Some(pattern) = Pattern::of(bytemuck::bytes_of(&value)) else { return Ok(()) };
    fill::set(&stream, pointer.addr(), &pattern, (count, size_of::<T>()), mode)
}

fn low_byte(value: c_int) -> u8 {
    value.to_le_bytes()[0]
}
