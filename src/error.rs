//! The one error type: which call failed, on which argument and value, why, and what to do about it.
//!
//! Every layer adds what it alone knows: the planner and the checks say what is wrong with which argument, the
//! OpenCL border says which entry point answered what, the front end says which call the program made. An
//! [`Error`] is one pointer wide, so that `Result`s on hot paths stay small.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

/// What went wrong, in the small vocabulary that each dialect maps to its own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument is outside of what the call accepts.
    InvalidValue,
    /// The device or the host cannot give that much memory.
    OutOfMemory,
    /// The runtime cannot be used here, for instance in a forked child.
    NotInitialized,
    /// A launch shape or its dynamic shared memory is beyond what the device can do.
    InvalidConfiguration,
    /// A pitch is smaller than the row it has to hold.
    InvalidPitch,
    /// No symbol of that name or address is known.
    InvalidSymbol,
    /// The address is not the start of a device allocation.
    InvalidDevicePointer,
    /// The copy kind is none of the five, or contradicts the call.
    InvalidCopyDirection,
    /// A launch was asked for without its configuration.
    MissingConfiguration,
    /// The function handle does not name a kernel.
    InvalidFunction,
    /// There is no OpenCL loader, platform or device.
    NoDevice,
    /// No device has that ordinal.
    InvalidDevice,
    /// The bytes given are neither kernel text nor a program binary of this library.
    InvalidImage,
    /// The kernel text does not compile.
    BuildFailed,
    /// The file cannot be read.
    FileNotFound,
    /// The object belongs to another context, or the call is not possible in this one.
    InvalidContext,
    /// The device has no such limit.
    UnsupportedLimit,
    /// The device cannot map memory of its peer.
    PeerAccessUnsupported,
    /// The handle is dead, foreign or was never alive.
    InvalidHandle,
    /// Nothing has that name.
    NotFound,
    /// The work is still going on; not recorded as a last error.
    NotReady,
    /// A kernel touched memory that it may not touch.
    IllegalAddress,
    /// The kernel needs more of the device than the launch shape leaves.
    LaunchOutOfResources,
    /// The device stopped a kernel that ran for too long.
    LaunchTimeout,
    /// Peer access is on already.
    PeerAccessAlreadyEnabled,
    /// Peer access is not on.
    PeerAccessNotEnabled,
    /// The flags of a device that is in use cannot change.
    SetOnActiveProcess,
    /// The host range is registered already.
    HostMemoryAlreadyRegistered,
    /// The host range is not registered.
    HostMemoryNotRegistered,
    /// The device failed while it ran a command.
    LaunchFailure,
    /// A cooperative launch does not fit on the device at once.
    CooperativeLaunchTooLarge,
    /// The call is not allowed here, for instance inside a stream callback.
    NotPermitted,
    /// The device, the driver or this version of gridcl cannot do that.
    NotSupported,
    /// The driver failed in a way that has no name here.
    Unknown,
}

impl ErrorKind {
    /// Every kind, in order.
    pub const ALL: &[Self] = &[
        Self::InvalidValue,
        Self::OutOfMemory,
        Self::NotInitialized,
        Self::InvalidConfiguration,
        Self::InvalidPitch,
        Self::InvalidSymbol,
        Self::InvalidDevicePointer,
        Self::InvalidCopyDirection,
        Self::MissingConfiguration,
        Self::InvalidFunction,
        Self::NoDevice,
        Self::InvalidDevice,
        Self::InvalidImage,
        Self::BuildFailed,
        Self::FileNotFound,
        Self::InvalidContext,
        Self::UnsupportedLimit,
        Self::PeerAccessUnsupported,
        Self::InvalidHandle,
        Self::NotFound,
        Self::NotReady,
        Self::IllegalAddress,
        Self::LaunchOutOfResources,
        Self::LaunchTimeout,
        Self::PeerAccessAlreadyEnabled,
        Self::PeerAccessNotEnabled,
        Self::SetOnActiveProcess,
        Self::HostMemoryAlreadyRegistered,
        Self::HostMemoryNotRegistered,
        Self::LaunchFailure,
        Self::CooperativeLaunchTooLarge,
        Self::NotPermitted,
        Self::NotSupported,
        Self::Unknown,
    ];
}

/// A failed call: kind, place and cause in words.
///
/// ```
/// use gridcl::{Error, ErrorKind};
/// let error = Error::new(ErrorKind::InvalidValue, "the allocation holds 4096 bytes from there")
///     .argument("count", 4097)
///     .help("copy at most 4096 bytes")
///     .in_call("musaMemcpy");
/// assert_eq!(
///     error.to_string(),
///     "musaMemcpy: count = 4097: the allocation holds 4096 bytes from there; copy at most 4096 bytes"
/// );
/// ```
///
/// `{:?}` is the same text, which a `main` that returns a [`Result`] prints; `{:#?}` shows the parts.
#[derive(Clone, thiserror::Error)]
#[error("{0}")]
pub struct Error(Box<Detail>);

/// What every fallible function of gridcl returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug)]
struct Detail {
    kind: ErrorKind,
    call: Option<&'static str>,
    argument: Option<(&'static str, String)>,
    problem: Cow<'static, str>,
    help: Option<Cow<'static, str>>,
    device: Option<String>,
    cause: Option<String>,
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() { fmt::Debug::fmt(&self.0, f) } else { fmt::Display::fmt(&self.0, f) }
    }
}

impl Error {
    /// An error of `kind`; `problem` says what is wrong, in a clause without a full stop.
    #[cold]
    pub fn new(kind: ErrorKind, problem: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Detail {
            kind,
            call: None,
            argument: None,
            problem: problem.into(),
            help: None,
            device: None,
            cause: None,
        }))
    }

    /// Names the argument at fault and its value; the first name given stays.
    #[must_use]
    pub fn argument(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.0.argument.get_or_insert_with(|| (name, value.to_string()));
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.0.help.get_or_insert_with(|| help.into());
        self
    }

    /// Names the device that was asked.
    #[must_use]
    pub fn on_device(mut self, device: impl fmt::Display) -> Self {
        self.0.device.get_or_insert_with(|| device.to_string());
        self
    }

    /// Keeps what lay beneath: an OpenCL entry point and its answer, or a system error.
    #[must_use]
    pub fn caused_by(mut self, cause: impl fmt::Display) -> Self {
        self.0.cause.get_or_insert_with(|| cause.to_string());
        self
    }

    /// Names the call that the program made; the outermost layer that knows it says so, once.
    #[must_use]
    pub fn in_call(mut self, call: &'static str) -> Self {
        self.0.call.get_or_insert(call);
        self
    }

    /// The same report under another kind, where the layer above knows better.
    #[must_use]
    pub fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The call that failed, where the front end named it.
    pub fn call(&self) -> Option<&'static str> {
        self.0.call
    }

    /// The OpenCL call or system call beneath and its answer, where there was one.
    pub fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }
}

/// What a panic said, for the error that it becomes.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a value that is no text").to_owned()
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(call) = self.call {
            write!(f, "{call}: ")?;
        }
        if let Some((name, value)) = &self.argument {
            write!(f, "{name} = {value}: ")?;
        }
        f.write_str(&self.problem)?;
        if let Some(device) = &self.device {
            write!(f, " (on {device})")?;
        }
        if let Some(help) = &self.help {
            write!(f, "; {help}")?;
        }
        if let Some(cause) = &self.cause {
            write!(f, " [{cause}]")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_main_that_returns_it_prints_it_for_people() {
        let error = Error::new(ErrorKind::InvalidValue, "that is too many").argument("count", 7).in_call("musaMemcpy");
        assert_eq!(format!("{error:?}"), "musaMemcpy: count = 7: that is too many");
        assert!(format!("{error:#?}").contains("kind: InvalidValue"));
    }

    #[test]
    fn says_call_argument_value_cause_and_what_to_do() {
        let error = Error::new(ErrorKind::OutOfMemory, "the device has no room for it")
            .argument("size", 1u64 << 40)
            .on_device("device 0 \"gpu\"")
            .help("free something first")
            .caused_by("clSVMAlloc: CL_OUT_OF_RESOURCES (-5)")
            .in_call("topsMalloc")
            .in_call("inner");
        assert_eq!(
            error.to_string(),
            "topsMalloc: size = 1099511627776: the device has no room for it (on device 0 \"gpu\"); \
             free something first [clSVMAlloc: CL_OUT_OF_RESOURCES (-5)]"
        );
        assert_eq!((error.kind(), error.call()), (ErrorKind::OutOfMemory, Some("topsMalloc")));
    }

    #[test]
    fn results_stay_one_word_wide() {
        assert_eq!(size_of::<Result<(), Error>>(), size_of::<usize>());
    }
}
