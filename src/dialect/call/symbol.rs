//! Symbols as arguments: a registered host address, or a pointer to a symbol's name (behaviour.md 1.6 and 3.5).

use super::{Out, null};
use crate::dialect::{Dialect, handle, registry, thread};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::copy::{self, CopyKind, Mode};
use crate::rt::module::{Symbol, symbol};
use std::ffi::{c_int, c_void};

/// Which way a symbol copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Into the symbol.
    To,
    /// Out of the symbol.
    From,
}

/// Finds the symbol that an argument means, on a device: the one that the address was registered for, else the name that
/// it points at, in the module loaded last. The pointer is read with care, since it may be anything.
fn find<D: Dialect>(pointer: *const c_void, on: &crate::rt::stream::Stream) -> Result<Symbol> {
    let refuse = |problem| {
        Error::new(ErrorKind::InvalidSymbol, problem).argument("symbol", format_args!("{:#x}", pointer.addr())).help(
            "pass an address given to gridclRegisterSymbol, or a pointer to the name of a symbol of a loaded module",
        )
    };
    if pointer.is_null() {
        return Err(refuse("the pointer is null"));
    }
    if let Some((module, name)) = registry::symbol(pointer.addr()) {
        return module.symbol_on(on.context(), &name).map_err(|error| error.with_kind(ErrorKind::InvalidSymbol));
    }
    let name = symbol::read_name(pointer.addr()).ok_or_else(|| refuse("it does not point at the name of a symbol"))?;
    symbol::find_by_name(on.context(), &name)
}

/// `GetSymbolAddress`: where the symbol lies on the current device.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn address<D: Dialect>(out: *mut *mut c_void, pointer: *const c_void) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("devPtr", out) }?;
    out.set(find::<D>(pointer, &thread::device::<D>()?.default_stream()?)?.address() as *mut c_void);
    Ok(())
}

/// `GetSymbolSize`: its size in bytes.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn size<D: Dialect>(out: *mut usize, pointer: *const c_void) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("size", out) }?;
    out.set(find::<D>(pointer, &thread::device::<D>()?.default_stream()?)?.bytes());
    Ok(())
}

/// `MemcpyToSymbol` and `MemcpyFromSymbol`, with and without a stream of their own.
///
/// # Safety
/// `other` has to be valid for the copy.
#[allow(clippy::too_many_arguments, reason = "the calls have as many")]
pub(crate) unsafe fn memcpy<D: Dialect>(
    way: Way,
    pointer: *const c_void,
    other: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
    stream: usize,
    mode: Mode,
) -> Result<()> {
    let kind = CopyKind::from_number(kind)?;
    let against = match way {
        Way::To => [CopyKind::DeviceToHost, CopyKind::HostToHost],
        Way::From => [CopyKind::HostToDevice, CopyKind::HostToHost],
    };
    if against.contains(&kind) {
        return Err(Error::new(ErrorKind::InvalidCopyDirection, "the kind goes against the call")
            .argument("kind", format_args!("{kind:?}")));
    }
    let stream = handle::stream::<D>(stream)?;
    let symbol = find::<D>(pointer, &stream)?;
    if other.is_null() {
        return Err(null(if way == Way::To { "src" } else { "dst" }));
    }
    let fits = offset.checked_add(bytes).is_some_and(|end| end <= symbol.bytes());
    if !fits {
        let problem =
            format!("{} has {} bytes, and the copy would end at {offset} + {bytes}", symbol.name(), symbol.bytes());
        return Err(Error::new(ErrorKind::InvalidValue, problem).argument("count", bytes));
    }
    let (here, there) = (symbol.address() + offset, other.addr());
    let (to, from) = if way == Way::To { (here, there) } else { (there, here) };
    // SAFETY: the caller's.
    unsafe { copy::copy(&stream, to, from, bytes, kind, mode) }
}
