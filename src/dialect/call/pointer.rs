//! What a pointer is (behaviour.md 3.7). The dialects share the numbers of the attributes and differ in what they
//! answer for memory that the runtime does not know.

use super::{Out, null};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::memory::query::{self, Facts};
use std::ffi::{c_int, c_uint, c_void};

/// What is a dialect's own in the queries of one attribute.
pub(crate) struct Rules {
    /// The attributes that it answers, by their numbers.
    pub(crate) answered: &'static [c_int],
    /// What it says to another number.
    pub(crate) refuses: fn(c_int) -> ErrorKind,
    /// Its number for where memory lives. Memory that the runtime does not know has none in some dialects.
    pub(crate) memory_type: fn(Option<&Facts>) -> Option<c_int>,
}

/// The attributes by the numbers that both dialects give them.
mod number {
    use std::ffi::c_int;

    pub(super) const MEMORY_TYPE: c_int = 2;
    pub(super) const DEVICE_POINTER: c_int = 3;
    pub(super) const HOST_POINTER: c_int = 4;
    pub(super) const SYNC_MEMOPS: c_int = 6;
    pub(super) const BUFFER_ID: c_int = 7;
    pub(super) const IS_MANAGED: c_int = 8;
    pub(super) const DEVICE_ORDINAL: c_int = 9;
    pub(super) const RANGE_START: c_int = 11;
    pub(super) const RANGE_SIZE: c_int = 12;
    pub(super) const MAPPED: c_int = 13;
    pub(super) const ACCESS_FLAGS: c_int = 16;
    pub(super) const MEM_BANK: c_int = 18;
}

/// An attribute's value, in the C type that it has.
#[derive(Clone, Copy, Debug)]
enum Value {
    Int(c_int),
    Size(usize),
    Pointer(*mut c_void),
}

impl Value {
    fn pointer(address: usize) -> Self {
        Self::Pointer(address as *mut c_void)
    }

    /// # Safety
    /// `out` has to be null or writable for a value of this type.
    unsafe fn put(self, out: *mut c_void) -> Result<()> {
        // SAFETY: the caller's.
        unsafe {
            match self {
                Self::Int(value) => Out::new("data", out.cast::<c_int>())?.set(value),
                Self::Size(value) => Out::new("data", out.cast::<usize>())?.set(value),
                Self::Pointer(value) => Out::new("data", out.cast::<*mut c_void>())?.set(value),
            }
        }
        Ok(())
    }
}

/// `PointerGetAttributes`: all that is known of an address, as `shape` puts it. Memory that the runtime does not know
/// is an error where the dialect has no words for it.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn attributes<A>(
    name: &'static str,
    out: *mut A,
    pointer: *const c_void,
    shape: fn(&Facts) -> A,
    unknown: Option<A>,
) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new(name, out) }?;
    out.set(match query::ask(pointer.addr()) {
        Ok(facts) => shape(&facts),
        Err(error) => unknown.ok_or(error)?,
    });
    Ok(())
}

/// `PointerGetAttribute`: one attribute of an address, an `int` but for addresses and sizes.
///
/// # Safety
/// `out` has to be null or writable for the attribute's type.
pub(crate) unsafe fn attribute(
    out: *mut c_void,
    attribute: c_int,
    pointer: *const c_void,
    rules: &Rules,
) -> Result<()> {
    if out.is_null() {
        return Err(null("data").help("pass the address of a variable for the result"));
    }
    check_number(attribute, rules)?;
    let value = value(attribute, pointer.addr(), rules)?.ok_or_else(|| {
        Error::new(ErrorKind::InvalidValue, "the memory there has no such attribute")
            .argument("attribute", attribute)
            .help("device memory has no address for the host; host memory has one for kernels on some devices only")
    })?;
    // SAFETY: the caller's.
    unsafe { value.put(out) }
}

/// `DrvPointerGetAttributes`: several attributes of one address, all or none of them. An address that the memory has
/// not is null.
///
/// # Safety
/// `attributes` and `data` have to be null or hold `count` entries, each of `data` null or writable for its attribute's
/// type.
pub(crate) unsafe fn several<A>(
    count: c_uint,
    attributes: *const A,
    number: fn(&A) -> c_int,
    data: *const *mut c_void,
    pointer: *const c_void,
    rules: &Rules,
) -> Result<()> {
    if count == 0 {
        return Err(Error::new(ErrorKind::InvalidValue, "there is nothing to ask for").argument("numAttributes", 0));
    }
    if attributes.is_null() || data.is_null() {
        return Err(null(if attributes.is_null() { "attributes" } else { "data" }));
    }
    // SAFETY: the caller's.
    let (asked, outs) = unsafe {
        (std::slice::from_raw_parts(attributes, count as usize), std::slice::from_raw_parts(data, count as usize))
    };
    let mut values = Vec::with_capacity(outs.len());
    for (attribute, &out) in asked.iter().zip(outs) {
        if out.is_null() {
            return Err(null("data").help("each entry is the address of a variable for one result"));
        }
        check_number(number(attribute), rules)?;
        values.push(value(number(attribute), pointer.addr(), rules)?.unwrap_or(Value::pointer(0)));
    }
    for (value, &out) in values.into_iter().zip(outs) {
        // SAFETY: the caller's.
        unsafe { value.put(out) }?;
    }
    Ok(())
}

fn check_number(attribute: c_int, rules: &Rules) -> Result<()> {
    if rules.answered.contains(&attribute) {
        return Ok(());
    }
    let kind = (rules.refuses)(attribute);
    Err(Error::new(kind, "that is not told of pointers")
        .argument("attribute", attribute)
        .help(format!("the attributes that are told are {:?}", rules.answered)))
}

/// The value of an attribute; `None` for an address that the memory does not have.
fn value(attribute: c_int, address: usize, rules: &Rules) -> Result<Option<Value>> {
    if attribute == number::MEMORY_TYPE
        && address != 0
        && let Some(memory_type) = unknown_type(address, rules)
    {
        return Ok(Some(Value::Int(memory_type)));
    }
    let facts = query::ask(address)?;
    let flag = |is: bool| Value::Int(is.into());
    Ok(Some(match attribute {
        number::MEMORY_TYPE => Value::Int((rules.memory_type)(Some(&facts)).unwrap_or_default()),
        number::DEVICE_POINTER => return Ok(facts.device_address.map(Value::pointer)),
        number::HOST_POINTER => return Ok(facts.host_address.map(Value::pointer)),
        number::BUFFER_ID => Value::Int(facts.serial as c_int),
        number::IS_MANAGED => flag(facts.managed),
        number::DEVICE_ORDINAL => Value::Int(ordinal(&facts)),
        number::RANGE_START => Value::pointer(facts.base),
        number::RANGE_SIZE => Value::Size(facts.bytes),
        number::MAPPED => flag(true),
        // Its device reads and writes it.
        number::ACCESS_FLAGS => Value::Int(3),
        // Copies are as synchronous as their call says, and OpenCL knows no banks.
        number::SYNC_MEMOPS | number::MEM_BANK => Value::Int(0),
        _ => return Ok(None),
    }))
}

/// The type of ordinary memory of the host, where the dialect has one. Memory that was freed has none: who asks for
/// one attribute of it has a stale pointer in hand.
fn unknown_type(address: usize, rules: &Rules) -> Option<c_int> {
    if query::is_foreign(address) { (rules.memory_type)(None) } else { None }
}

/// The ordinal of the device that memory belongs to.
pub(crate) fn ordinal(facts: &Facts) -> c_int {
    c_int::try_from(facts.device.ordinal()).unwrap_or(c_int::MAX)
}

/// An address that memory may not have.
pub(crate) fn address(address: Option<usize>) -> *mut c_void {
    address.unwrap_or(0) as *mut c_void
}

/// `MemGetAddressRange`: start and size of the allocation that holds an address. Either result may be left out.
///
/// # Safety
/// Both results have to be null or writable.
pub(crate) unsafe fn range(base: *mut *mut c_void, size: *mut usize, pointer: *const c_void) -> Result<()> {
    let facts = query::ask(pointer.addr()).map_err(|error| error.with_kind(ErrorKind::InvalidDevicePointer))?;
    // SAFETY: the caller's.
    unsafe {
        if !base.is_null() {
            Out::new("pbase", base)?.set(address(Some(facts.base)));
        }
        if !size.is_null() {
            Out::new("psize", size)?.set(facts.bytes);
        }
    }
    Ok(())
}

/// `MemPtrGetInfo`: the size that the allocation which holds an address was asked for with.
///
/// # Safety
/// `size` has to be null or writable.
pub(crate) unsafe fn size(pointer: *const c_void, size: *mut usize) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("size", size) }?;
    out.set(query::ask(pointer.addr())?.bytes);
    Ok(())
}

/// One of the attributes, by `pick`, for the calls that tell no more.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn one<T>(
    name: &'static str,
    out: *mut T,
    pointer: *const c_void,
    pick: fn(Option<&Facts>) -> T,
) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new(name, out) }?;
    out.set(pick(query::ask(pointer.addr()).ok().as_ref()));
    Ok(())
}
