//! What each kind of error means in words and numbers. `docs/errors.md` is printed from here by [`markdown`].

use super::Dialect;
use crate::error::ErrorKind;
use std::fmt::Write;

/// A kind's meaning, and what to do about it.
fn meaning(kind: ErrorKind) -> (&'static str, &'static str) {
    use ErrorKind as K;
    match kind {
        K::InvalidValue => (
            "an argument is outside of what the call accepts: a null, freed, foreign or overrun pointer, a size, a flag",
            "read the text: it names the argument, its value and what was expected",
        ),
        K::OutOfMemory => (
            "the device or the host cannot give that much memory, or no thread",
            "free memory; `gridcl info` shows how much there is and the largest single allocation",
        ),
        K::NotInitialized => (
            "the runtime cannot be used here: the process was forked from one that used it",
            "call `exec` in the child, or fork before the first call",
        ),
        K::InvalidConfiguration => (
            "the grid, the block or the shared memory of a launch is beyond the device",
            "`gridcl info` shows the limits of blocks; an extent is never 0",
        ),
        K::InvalidPitch => ("a pitch is smaller than the row it has to hold", "pitches are bytes from row to row"),
        K::InvalidSymbol => (
            "no symbol of that name or address is known",
            "load the module first; in C, register the host variable (`gridclRegisterSymbol`)",
        ),
        K::InvalidDevicePointer => {
            ("what is freed is not the start of a device allocation", "free the address that the allocation gave, once")
        }
        K::InvalidCopyDirection => ("the kind of a copy is none of the five, or contradicts the call", "use `Default`"),
        K::MissingConfiguration => (
            "a launch was asked for without its configuration",
            "call `topsConfigureCall` before each `topsLaunchByPtr`",
        ),
        K::InvalidFunction => (
            "the function does not name a kernel",
            "pass what `ModuleGetFunction` gave; in C, register the host function (`gridclRegisterFunction`)",
        ),
        K::NoDevice => {
            ("there is no OpenCL loader, driver or device", "`gridcl doctor` says which, and what to install")
        }
        K::InvalidDevice => ("no device has that ordinal", "ordinals count from 0; `gridcl info` lists them"),
        K::InvalidImage => (
            "the bytes are neither OpenCL C nor a binary of gridcl, or define no kernel",
            "binaries of the vendors' compilers do not run here: load the kernel's text",
        ),
        K::BuildFailed => (
            "the kernel's text does not compile",
            "the text shows the lines; `gridcl check FILE.cl` shows them as well",
        ),
        K::FileNotFound => ("a file cannot be read", "paths are relative to the working directory"),
        K::InvalidContext => (
            "the object belongs to another context, or another process that is gone",
            "use objects on the device that they were made for",
        ),
        K::UnsupportedLimit => ("the device has no such limit", "there is none to set"),
        K::PeerAccessUnsupported => (
            "no device can map memory of another under OpenCL",
            "copy between the devices: `MemcpyPeer` works without access",
        ),
        K::InvalidHandle => (
            "the stream, event, module or array is dead, foreign or was never alive",
            "handles die when they are destroyed and with their device's reset",
        ),
        K::NotFound => ("nothing has that name", "the text lists the names there are"),
        K::NotReady => ("the work is still going on; not kept as the last error", "ask again, or synchronise"),
        K::IllegalAddress => (
            "a kernel touched memory that it may not touch; the device answers this from then on",
            "start the process again; check the kernel's bounds",
        ),
        K::LaunchOutOfResources => (
            "the kernel needs more registers or shared memory than a block of that size leaves",
            "launch smaller blocks; `gridcl check` shows what a kernel takes",
        ),
        K::LaunchTimeout => (
            "the system stopped a kernel that ran for too long; the device answers this from then on",
            "split the work into shorter launches, or take a device that drives no display",
        ),
        K::PeerAccessAlreadyEnabled => ("peer access is on already", "nothing"),
        K::PeerAccessNotEnabled => ("peer access is not on", "nothing, since it cannot be"),
        K::SetOnActiveProcess => {
            ("flags of a device that is in use cannot change", "set them before the first other call")
        }
        K::HostMemoryAlreadyRegistered => ("the host range is registered already", "register it once"),
        K::HostMemoryNotRegistered => {
            ("the host range is not registered", "unregister the address that was registered")
        }
        K::LaunchFailure => (
            "the device failed while it ran a command; it answers this from then on",
            "start the process again; try the kernel on PoCL, where a debugger sees it",
        ),
        K::CooperativeLaunchTooLarge => {
            ("a cooperative launch does not fit on the device at once", "launch fewer blocks")
        }
        K::NotPermitted => (
            "the call is not allowed here, for instance inside a stream's callback",
            "let the callback signal another thread",
        ),
        K::NotSupported => (
            "the device, its driver or this version of gridcl cannot do that",
            "[assumptions.md](assumptions.md) says what there is instead",
        ),
        K::Unknown => {
            ("the driver failed in a way that has no name here", "the text has OpenCL's own status; please report it")
        }
    }
}

/// The page, with the numbers that both dialects give.
pub fn markdown() -> String {
    let mut page = String::from(
        "# Errors\n\n<!-- Printed from src/dialect/failures.rs: GRIDCL_BLESS=1 cargo test --test documents -->\n\n\
         A failed call answers a code, and says more in words: which call, which argument, what value, why, and what to \
         do. In Rust that\nis the `gridcl::Error` itself, or `gridcl::last_error_detail()` after a call of a dialect; in C \
         it is `gridclLastErrorDetail()`;\nwith `GRIDCL_LOG=warn` it is on standard error. A refused call has changed \
         nothing.\n\n\
         | kind | MUSA | TOPS | meaning | what to do |\n| --- | --- | --- | --- | --- |\n",
    );
    for kind in ErrorKind::ALL {
        let (means, mends) = meaning(*kind);
        let _ = writeln!(page, "| `{kind:?}` | {} | {} | {means} | {mends} |", musa(*kind), tops(*kind));
    }
    page
}

#[cfg(feature = "musa")]
fn musa(kind: ErrorKind) -> String {
    let code = super::musa::Musa::code(kind);
    format!("{} `{code:?}`", code.0)
}

#[cfg(not(feature = "musa"))]
fn musa(_: ErrorKind) -> String {
    String::new()
}

#[cfg(feature = "tops")]
fn tops(kind: ErrorKind) -> String {
    let code = super::tops::Tops::code(kind);
    format!("{} `{code:?}`", code.0)
}

#[cfg(not(feature = "tops"))]
fn tops(_: ErrorKind) -> String {
    String::new()
}
