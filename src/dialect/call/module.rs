//! Module calls (behaviour.md 3.10).

use super::{Out, null, text};
use crate::dialect::handle::{self, Object};
use crate::dialect::{Dialect, registry, thread};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::module::binary::{HEADER, MAGIC, other_version, payload_bytes};
use crate::rt::module::{Module, symbol};
use std::ffi::{CStr, c_char, c_void};

/// `ModuleLoadData`: NUL-terminated OpenCL C text, built for the current device at once, or a module binary.
///
/// # Safety
/// `out` has to be null or writable; `image` null, a NUL-terminated string, or a module binary, which tells its own
/// length.
pub(crate) unsafe fn load_data<D: Dialect, M>(out: *mut *mut M, image: *const c_void) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("module", out) }?;
    if image.is_null() {
        return Err(null("image"));
    }
    let device = thread::device::<D>()?;
    // SAFETY: the caller's.
    if let Some(bytes) = unsafe { binary(image.cast()) }? {
        return give::<D, M>(out, Module::from_binary(device, &bytes).map_err(|e| e.argument("image", "a binary"))?);
    }
    // SAFETY: the caller's; it is no binary.
    let bytes = unsafe { CStr::from_ptr(image.cast::<c_char>()) };
    let source = bytes.to_str().map_err(|_| {
        Error::new(ErrorKind::InvalidImage, "the bytes are not text").argument("image", "bytes that are not UTF-8")
    })?;
    give::<D, M>(out, Module::from_source(device, source)?)
}

/// A copy of the module binary that `image` points at, if it is one. What its header says of its length is not trusted:
/// memory that is not there is a binary that is cut short.
///
/// # Safety
/// `image` has to point at a NUL-terminated string or at a module binary.
unsafe fn binary(image: *const u8) -> Result<Option<Vec<u8>>> {
    // A string may end anywhere; no byte of the magic is a NUL.
    for (index, byte) in MAGIC.iter().enumerate() {
        // SAFETY: the bytes before this one were not NUL.
        let read = unsafe { image.add(index).read() };
        match index + 1 == MAGIC.len() {
            _ if read == *byte => {}
            // The version.
            true if read != 0 => return Err(other_version()),
            _ => return Ok(None),
        }
    }
    let read = |bytes: usize| {
        if symbol::can_read_with_care() {
            return symbol::read_bytes(image.addr(), bytes);
        }
        // SAFETY: a binary has a header, and as many bytes behind it as that says.
        unsafe { std::slice::from_raw_parts(image, bytes.min(isize::MAX as usize)) }.to_vec()
    };
    let header = read(HEADER);
    let bytes = HEADER.saturating_add(payload_bytes(&header)?);
    Ok(Some(read(bytes)))
}

/// `ModuleLoad`: the same from a file.
///
/// # Safety
/// `out` has to be null or writable, `path` null or a NUL-terminated string.
pub(crate) unsafe fn load<D: Dialect, M>(out: *mut *mut M, path: *const c_char) -> Result<()> {
    // SAFETY: the caller's.
    let (out, path) = unsafe { (Out::new("module", out)?, text("fname", path)?) };
    give::<D, M>(out, Module::from_file(thread::device::<D>()?, path)?)
}

fn give<D: Dialect, M>(out: Out<*mut M>, module: Module) -> Result<()> {
    module.publish();
    out.set(std::ptr::without_provenance_mut(D::handles().add(Object::Module(module))));
    Ok(())
}

/// `ModuleUnload`: ends a module with its functions and symbols.
pub(crate) fn unload<D: Dialect>(module: usize) -> Result<()> {
    // Where the wait is refused the module is left as it is.
    handle::module::<D>(module)?.quiesce()?;
    match D::handles().remove(module, |object| matches!(object, Object::Module(_))) {
        Some(Object::Module(module)) => {
            module.withdraw();
            let outcome = module.unload();
            D::handles().sweep();
            registry::forget_dead();
            outcome
        }
        _ => Err(handle::dead("module", "a module", module)),
    }
}

/// `ModuleGetFunction`: a kernel by its name.
///
/// # Safety
/// `out` has to be null or writable, `name` null or a NUL-terminated string.
pub(crate) unsafe fn function<D: Dialect, F>(out: *mut *mut F, module: usize, name: *const c_char) -> Result<()> {
    // SAFETY: the caller's.
    let (out, name) = unsafe { (Out::new("function", out)?, text("name", name)?) };
    let kernel = handle::module::<D>(module)?.kernel(name)?;
    // Asked for again, it is the handle that there is: nothing gives one back before the module goes.
    let same = |object: &Object| matches!(object, Object::Function(known) if known.is_same(&kernel));
    let handle = D::handles().find_or_add(same, || Object::Function(kernel.clone()));
    out.set(std::ptr::without_provenance_mut(handle));
    Ok(())
}

/// `ModuleGetGlobal`: a symbol's address and size on the current device. Either result may be left out, and both
/// where `optional` says so.
///
/// # Safety
/// The results have to be null or writable, `name` null or a NUL-terminated string.
pub(crate) unsafe fn global<D: Dialect>(
    address: *mut *mut c_void,
    bytes: *mut usize,
    module: usize,
    name: *const c_char,
    optional: bool,
) -> Result<()> {
    if address.is_null() && bytes.is_null() && !optional {
        return Err(null("dptr and bytes"));
    }
    let module = handle::module::<D>(module)?;
    // SAFETY: the caller's.
    let name = unsafe { text("name", name) }?;
    let symbol = module.symbol_on(&thread::device::<D>()?.context()?, name)?;
    // SAFETY: the caller's, where they are not null.
    unsafe {
        if let Ok(out) = Out::new("dptr", address) {
            out.set(symbol.address() as *mut c_void);
        }
        if let Ok(out) = Out::new("bytes", bytes) {
            out.set(symbol.bytes());
        }
    }
    Ok(())
}
