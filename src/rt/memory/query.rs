//! What an address is, for the calls that ask: the map's answer in the terms of a pointer query.

use super::{Allocation, Found, Kind, find, host};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::device::Device;

/// Where memory lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    Host,
    Device,
}

/// What is known of an address within a live allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) home: Home,
    /// Whether host and device use the memory by one address.
    pub(crate) managed: bool,
    /// Whose it is.
    pub(crate) device: Device,
    /// What kernels reach the address by, where they can.
    pub(crate) device_address: Option<usize>,
    /// What the host reaches the address by, where it may.
    pub(crate) host_address: Option<usize>,
    /// Start of the allocation, and the bytes that the program asked for.
    pub(crate) base: usize,
    pub(crate) bytes: usize,
    /// The flags that the allocation was made with.
    pub(crate) flags: u32,
    /// A number that no other allocation of the process has.
    pub(crate) serial: u64,
}

/// Whether an address is ordinary memory of the host, or garbage: never the runtime's.
pub(crate) fn is_foreign(address: usize) -> bool {
    matches!(find(address, 1), Ok(Found::Foreign))
}

/// What is known of an address.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for null, freed and foreign memory.
pub(crate) fn ask(address: usize) -> Result<Facts> {
    let problem = match find(address, 1) {
        Ok(Found::Known(allocation)) => return Ok(facts(&allocation, address)),
        _ if address == 0 => "the pointer is null",
        Ok(Found::Freed) => "the memory there was freed, or was never given out",
        _ => "the runtime has neither allocated nor registered it",
    };
    Err(Error::new(ErrorKind::InvalidValue, problem)
        .argument("ptr", format_args!("{address:#x}"))
        .help("ask about an address within a live allocation"))
}

fn facts(allocation: &Allocation, address: usize) -> Facts {
    let (home, managed) = match allocation.kind() {
        Kind::Device | Kind::Symbol => (Home::Device, false),
        Kind::Managed => (Home::Device, true),
        Kind::Pinned | Kind::Registered => (Home::Host, false),
    };
    let kernels = home == Home::Device || host::check_reach(allocation.context(), allocation).is_ok();
    let host = home == Home::Host || managed;
    Facts {
        home,
        managed,
        device: allocation.context().device(),
        device_address: kernels.then_some(address),
        host_address: host.then_some(address),
        base: allocation.base(),
        bytes: allocation.bytes(),
        flags: allocation.flags(),
        serial: allocation.serial(),
    }
}
