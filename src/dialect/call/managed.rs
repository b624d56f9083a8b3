//! Managed memory (behaviour.md 3.4).

use super::{Out, check_flags, null};
use crate::dialect::{Dialect, handle, thread};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::device::Device;
use crate::rt::memory::advice::{Advice, Location};
use crate::rt::memory::managed::Attach;
use crate::rt::memory::{self, Kind, hints};
use std::ffi::{c_int, c_uint, c_void};

/// The numbers of the flags that say who uses managed memory.
const GLOBAL: c_uint = 1;
const HOST: c_uint = 2;
const SINGLE: c_uint = 4;

/// The number that means the host in place of a device's ordinal.
const CPU: c_int = -1;

/// `MallocManaged`: memory for host and device under one address.
///
/// # Safety
/// `out` has to be null or writable.
pub(crate) unsafe fn malloc<D: Dialect>(out: *mut *mut c_void, bytes: usize, flags: c_uint) -> Result<()> {
    // SAFETY: the caller's.
    let out = unsafe { Out::new("devPtr", out) }?;
    one_of(flags)?;
    if bytes == 0 {
        return Err(Error::new(ErrorKind::InvalidValue, "managed memory cannot be empty").argument("size", 0));
    }
    let context = thread::device::<D>()?.context()?;
    let allocation = memory::allocate(&context, bytes, Kind::Managed)?;
    if flags != HOST {
        context.memory().managed().attach(allocation.base(), Attach::Global);
    }
    out.set(allocation.base() as *mut c_void);
    Ok(())
}

/// Refuses anything but one of the three flags.
fn one_of(flags: c_uint) -> Result<()> {
    check_flags(flags, GLOBAL | HOST | SINGLE)?;
    if flags.count_ones() == 1 {
        return Ok(());
    }
    Err(Error::new(ErrorKind::InvalidValue, "exactly one way to attach has to be named")
        .argument("flags", format_args!("{flags:#x}"))
        .help("pass Global (1), Host (2) or Single (4)"))
}

/// `MemPrefetchAsync`: moves managed memory to a device, or to the host (-1), in the order of a stream.
pub(crate) fn prefetch<D: Dialect>(pointer: *const c_void, bytes: usize, to: c_int, stream: usize) -> Result<()> {
    if pointer.is_null() {
        return Err(null("devPtr"));
    }
    let to = location("dstDevice", to)?;
    hints::prefetch(&handle::stream::<D>(stream)?, pointer.addr(), bytes, to)
}

/// `MemAdvise`: keeps what the program says about managed memory.
pub(crate) fn advise(pointer: *const c_void, bytes: usize, advice: c_int, device: c_int) -> Result<()> {
    if pointer.is_null() {
        return Err(null("devPtr"));
    }
    match advice {
        // The device plays no part in these, whatever it is.
        1 | 2 => hints::advise(pointer.addr(), bytes, |known| known.read_mostly = advice == 1),
        3 => {
            let to = location("device", device)?;
            hints::advise(pointer.addr(), bytes, |known| known.preferred = Some(to))
        }
        4 => {
            location("device", device)?;
            hints::advise(pointer.addr(), bytes, |known| known.preferred = None)
        }
        5 | 6 => {
            let by = location("device", device)?;
            hints::advise(pointer.addr(), bytes, |known| {
                if advice == 5 {
                    known.accessed_by.insert(by)
                } else {
                    known.accessed_by.remove(&by)
                };
            })
        }
        _ => Err(Error::new(ErrorKind::InvalidValue, "it is none of the six kinds of advice")
            .argument("advice", advice)
            .help("advice is 1 to 6")),
    }
}

/// The place that a device number means.
fn location(name: &'static str, number: c_int) -> Result<Location> {
    if number == CPU {
        return Ok(Location::Host);
    }
    let known = usize::try_from(number).ok().and_then(|ordinal| Device::get(ordinal).ok());
    known.map(|device| Location::Device(device.ordinal())).ok_or_else(|| {
        Error::new(ErrorKind::InvalidDevice, format!("there are {} devices", Device::count()))
            .argument(name, number)
            .help("pass a device's ordinal, or -1 for the host")
    })
}

/// `MemRangeGetAttribute`: what the program said about a range, where it said the same of all of it.
///
/// # Safety
/// `out` has to be null or writable for `size` bytes.
pub(crate) unsafe fn range_attribute(
    out: *mut c_void,
    size: usize,
    attribute: c_int,
    pointer: *const c_void,
    bytes: usize,
) -> Result<()> {
    if out.is_null() {
        return Err(null("data"));
    }
    if pointer.is_null() {
        return Err(null("devPtr"));
    }
    let answer = answers(attribute, size, pointer, bytes)?;
    for (index, value) in answer.into_iter().enumerate() {
        // SAFETY: the caller's; there are `size / 4` answers.
        unsafe { out.cast::<c_int>().add(index).write_unaligned(value) };
    }
    Ok(())
}

/// `MemRangeGetAttributes`: several of them. Nothing is written where one is refused.
///
/// # Safety
/// The three lists have to be null or to have `count` entries, each of `outs` writable for its size.
pub(crate) unsafe fn range_attributes(
    outs: *mut *mut c_void,
    sizes: *const usize,
    attributes: *const c_int,
    count: usize,
    pointer: *const c_void,
    bytes: usize,
) -> Result<()> {
    for (name, list) in
        [("data", outs.cast_const().cast()), ("dataSizes", sizes.cast()), ("attributes", attributes.cast::<()>())]
    {
        if list.is_null() {
            return Err(null(name));
        }
    }
    if count == 0 {
        return Err(Error::new(ErrorKind::InvalidValue, "nothing is asked for").argument("numAttributes", 0));
    }
    // SAFETY: the caller's.
    let entries = (0..count).map(|index| unsafe { (*outs.add(index), *sizes.add(index), *attributes.add(index)) });
    let mut found = Vec::with_capacity(count);
    for (out, size, attribute) in entries {
        if out.is_null() {
            return Err(null("data"));
        }
        found.push((out, answers(attribute, size, pointer, bytes)?));
    }
    for (out, answer) in found {
        for (index, value) in answer.into_iter().enumerate() {
            // SAFETY: the caller's; there are as many answers as fit.
            unsafe { out.cast::<c_int>().add(index).write_unaligned(value) };
        }
    }
    Ok(())
}

/// What a range attribute answers in `size` bytes.
fn answers(attribute: c_int, size: usize, pointer: *const c_void, bytes: usize) -> Result<Vec<c_int>> {
    const UNKNOWN: c_int = -2;
    let refuse = |problem: &str| {
        Err(Error::new(ErrorKind::InvalidValue, problem.to_owned())
            .argument("dataSize", size)
            .help("numbers have 4 bytes each"))
    };
    let known = hints::advice(pointer.addr(), bytes)?;
    let number = |place: Location| match place {
        Location::Host => CPU,
        Location::Device(ordinal) => c_int::try_from(ordinal).unwrap_or(UNKNOWN),
    };
    // A place counts where it is that of the whole range.
    let common = |of: fn(&Advice) -> Option<Location>| {
        let mut places = known.iter().map(of);
        let first = places.next().flatten();
        first.filter(|_| places.all(|place| place == first)).map_or(UNKNOWN, number)
    };
    let single = match attribute {
        1 => c_int::from(known.iter().all(|advice| advice.read_mostly)),
        2 => common(|advice| advice.preferred),
        4 => common(|advice| advice.prefetched),
        3 => {
            if size == 0 || !size.is_multiple_of(4) {
                return refuse("the list has to have room for whole numbers");
            }
            let mut users = known[0].accessed_by.clone();
            users.retain(|user| known.iter().all(|advice| advice.accessed_by.contains(user)));
            return Ok(users.into_iter().map(number).chain(std::iter::repeat(UNKNOWN)).take(size / 4).collect());
        }
        _ => {
            return Err(Error::new(ErrorKind::InvalidValue, "it is none of the four attributes of a range")
                .argument("attribute", attribute)
                .help("attributes are 1 to 4"));
        }
    };
    if size == 4 { Ok(vec![single]) } else { refuse("the answer is one number") }
}

/// `StreamAttachMemAsync`: says whose kernels use managed memory.
pub(crate) fn attach<D: Dialect>(stream: usize, pointer: *mut c_void, bytes: usize, flags: c_uint) -> Result<()> {
    if pointer.is_null() {
        return Err(null("devPtr"));
    }
    one_of(flags)?;
    let on = handle::stream::<D>(stream)?;
    let attached = match flags {
        GLOBAL => Attach::Global,
        HOST => Attach::Host,
        _ if D::LEGACY_STREAMS.contains(&stream) => {
            return Err(Error::new(ErrorKind::InvalidValue, "memory cannot be the default stream's alone")
                .argument("flags", format_args!("{flags:#x}"))
                .help("pass a created stream, or Global"));
        }
        _ => Attach::Stream(on.lane()),
    };
    hints::attach(&on, pointer.addr(), bytes, attached)
}
