//! Host memory that the runtime pins: allocated here, or the program's own.

use super::{Allocation, Kind, MAP, TERRITORY, check_unknown, enter, find, put_back, take_out};
use crate::cl::{DeviceType, HostBuffer};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use crate::rt::device::Device;
use crate::rt::memory::Found;
use std::sync::Arc;

/// Allocates pinned host memory through a context. Any device's copies may use it.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`] when the driver has no more of it.
pub(crate) fn allocate_pinned(context: &Arc<Context>, bytes: usize, flags: u32) -> Result<Arc<Allocation>> {
    context.check()?;
    let refuse = |error: Error| error.argument("size", bytes).on_device(context.device());
    if bytes > physical_bytes() {
        let problem = format!("the host has {} bytes of memory", physical_bytes());
        return Err(refuse(Error::new(ErrorKind::OutOfMemory, problem)));
    }
    if context.memory().is_much_buried() {
        // It may wait for the work of other devices.
        Device::all().into_iter().filter_map(Device::active_context).for_each(|any| any.lanes().poll());
    }
    context.memory().reclaim();
    let pin = if context.caps().pins_own_pages() { HostBuffer::in_own_pages } else { HostBuffer::new };
    let make = || pin(context.cl(), context.service(), bytes);
    let pinned = make().or_else(|_| {
        context.trim();
        make()
    });
    let pinned = pinned.map_err(|failure| refuse(failure.out_of_memory()))?;
    enter(Allocation::host(context, pinned.address(), bytes, Kind::Pinned, flags, Some(pinned))).map_err(refuse)
}

/// Frees pinned host memory by its address, after all work of every device.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for anything but the start of a live pinned allocation; nothing is freed.
pub(crate) fn free_pinned(address: usize) -> Result<()> {
    let Some(allocation) = take_out(address, |allocation| allocation.kind() == Kind::Pinned) else {
        let problem = match find(address, 1) {
            Ok(Found::Known(allocation)) => match allocation.kind() {
                Kind::Pinned => format!("it points into the pinned memory at {:#x}", allocation.base()),
                Kind::Registered => "it is registered memory, which the program allocated itself".to_owned(),
                Kind::Managed => "it is managed memory".to_owned(),
                Kind::Device | Kind::Symbol => "it is device memory".to_owned(),
            },
            _ => "the runtime has no pinned memory there".to_owned(),
        };
        return Err(Error::new(ErrorKind::InvalidValue, problem).argument("ptr", format_args!("{address:#x}")));
    };
    let_go(allocation)
}

/// Registers host memory of the program's own: pins it where that makes copies faster, and keeps its bounds.
///
/// # Errors
/// [`ErrorKind::HostMemoryAlreadyRegistered`] when a byte of it is registered; [`ErrorKind::InvalidValue`] when it
/// is not mapped, or known to the runtime as something else.
pub(crate) fn register(context: &Arc<Context>, address: usize, bytes: usize, flags: u32) -> Result<()> {
    context.check()?;
    let refuse = |error: Error| error.argument("ptr", format_args!("{bytes} bytes at {address:#x}"));
    check_unknown(&MAP.read(), address, bytes).map_err(refuse)?;
    if bytes > physical_bytes() {
        let problem = format!("the host has {} bytes of memory", physical_bytes());
        return Err(refuse(Error::new(ErrorKind::InvalidValue, problem)));
    }
    if TERRITORY.read().overlapping(address, bytes).next().is_some() {
        // Reserved addresses count as mapped, too.
        let problem = "some of it is where the runtime keeps device memory";
        return Err(refuse(Error::new(ErrorKind::InvalidValue, problem).help("was it freed?")));
    }
    if !is_mapped(address, bytes) {
        let problem = "not all of it is mapped into the process";
        return Err(refuse(Error::new(ErrorKind::InvalidValue, problem).help("check pointer and size")));
    }
    // A CPU device reaches any memory as it is; elsewhere pinning is what makes copies fast, and their being
    // asynchronous does not depend on it.
    let pinned = if context.caps().device_type == DeviceType::Cpu {
        None
    } else {
        // SAFETY: the range is mapped, and the program promises to keep it until it unregisters it.
        unsafe { HostBuffer::over(context.cl(), context.service(), address, bytes) }
            .inspect_err(|failure| log::warn!("registered memory at {address:#x} is not pinned: {failure}"))
            .ok()
            .filter(|pinned| pinned.address() == address)
    };
    enter(Allocation::host(context, address, bytes, Kind::Registered, flags, pinned)).map(drop).map_err(refuse)
}

/// Ends a registration, after all work of every device.
///
/// # Errors
/// [`ErrorKind::HostMemoryNotRegistered`] for anything but the start of a registered range.
pub(crate) fn unregister(address: usize) -> Result<()> {
    let Some(allocation) = take_out(address, |allocation| allocation.kind() == Kind::Registered) else {
        let problem = match find(address, 1) {
            Ok(Found::Known(allocation)) if allocation.kind() == Kind::Registered => {
                format!("the registered range starts at {:#x}", allocation.base())
            }
            _ => "no registered range starts there".to_owned(),
        };
        return Err(
            Error::new(ErrorKind::HostMemoryNotRegistered, problem).argument("ptr", format_args!("{address:#x}"))
        );
    };
    let_go(allocation)
}

/// Lets go of host memory after the work of every device: copies of any of them take what was pinned through another.
fn let_go(allocation: Arc<Allocation>) -> Result<()> {
    let contexts = || Device::all().into_iter().filter_map(Device::active_context);
    let owner = Arc::clone(allocation.context());
    // Where a wait is refused the memory may be in use.
    if let Err(refusal) = contexts().chain([Arc::clone(&owner)]).try_for_each(|context| context.quiesce()) {
        put_back(allocation);
        return Err(refusal);
    }
    // What went wrong on other devices is for those who wait for that work.
    let outcome = owner.synchronize();
    drop(allocation);
    outcome
}

/// The address by which kernels on the context's device reach pinned or registered host memory: its own.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for other memory, [`ErrorKind::NotSupported`] where kernels do not reach the host's.
pub(crate) fn device_address(context: &Arc<Context>, address: usize) -> Result<usize> {
    context.check()?;
    let refuse = |error: Error| error.argument("pHost", format_args!("{address:#x}"));
    match find(address, 1).map_err(refuse)? {
        Found::Known(allocation) if allocation.kind().is_host() => {
            check_reach(context, &allocation).map_err(refuse)?;
            Ok(address)
        }
        _ => Err(refuse(
            Error::new(ErrorKind::InvalidValue, "it is neither pinned nor registered host memory")
                .help("allocate it pinned, or register it"),
        )),
    }
}

/// Refuses host memory that kernels of the context do not reach.
pub(crate) fn check_reach(context: &Arc<Context>, allocation: &Allocation) -> Result<()> {
    let refuse = |problem| {
        let error = Error::new(ErrorKind::NotSupported, problem).help("copy it to device memory");
        Err(error.on_device(context.device()))
    };
    if context.caps().device_type == DeviceType::Cpu && context.caps().may_reach_host_memory() {
        return Ok(());
    }
    if !Arc::ptr_eq(allocation.context(), context) {
        return refuse("kernels reach the host memory that was pinned for their own device only");
    }
    if !allocation.is_pinned() {
        return refuse("the driver did not pin this host memory, so that kernels do not reach it");
    }
    if context.kernels_reach_host_memory() { Ok(()) } else { refuse("kernels on this device do not reach host memory") }
}

/// Whether a kernel of the context sees a page that the driver pinned, and the host what the kernel wrote there.
pub(crate) fn try_reach(context: &Context) -> bool {
    const BYTES: usize = 4096;
    const WORD: [u8; 16] = *b"kernels see this";
    let tried = HostBuffer::in_own_pages(context.cl(), context.service(), BYTES).and_then(|page| {
        let queue = context.service();
        context.builtin().fill(context, queue, super::Place::Host(page.address()), BYTES, &WORD)?;
        queue.finish()?;
        // SAFETY: the page is ours, and nothing writes to it any more.
        Ok(unsafe { std::slice::from_raw_parts(page.address() as *const [u8; 16], BYTES / 16) }
            .iter()
            .all(|word| *word == WORD))
    });
    match tried {
        Ok(seen) => seen,
        Err(failure) => {
            log::info!("kernels do not reach host memory: {failure}");
            false
        }
    }
}

/// The host's memory in bytes.
pub(crate) fn physical_bytes() -> usize {
    // SAFETY: a query without pointers.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    usize::try_from(pages).unwrap_or(0).saturating_mul(usize::try_from(page).unwrap_or(0))
}

/// Whether every page of the range is mapped; touches none of them.
fn is_mapped(address: usize, bytes: usize) -> bool {
    // SAFETY: a query without pointers.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    let first = address & !(page - 1);
    let Some(end) = address.checked_add(bytes).and_then(|end| end.checked_next_multiple_of(page)) else {
        return false;
    };
    const BATCH: usize = 4096;
    let mut resident = [0u8; BATCH];
    (first..end).step_by(page * BATCH).all(|start| {
        let len = (end - start).min(page * BATCH);
        // SAFETY: the answer has a byte for each page asked about; the kernel checks the addresses.
        unsafe { libc::mincore(start as *mut _, len, resident.as_mut_ptr()) == 0 }
    })
}
