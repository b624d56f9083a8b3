//! OpenCL's status numbers with their names, and what each means in the runtime's own vocabulary.

use crate::error::{Error, ErrorKind};
use cl3::error_codes::{DLOPEN_FUNCTION_NOT_AVAILABLE, DLOPEN_RUNTIME_LOAD_FAILED, error_text};
use std::fmt;

/// NVIDIA's driver answers this number, which no header names, after an illegal access in a kernel.
const NV_ILLEGAL_ACCESS: i32 = -9999;

/// An OpenCL entry point that did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The entry point's name.
    pub(crate) entry: &'static str,
    /// What it answered.
    pub(crate) status: i32,
}

/// What functions of this folder return.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// The kind that this status means when nothing more is known about the call.
    pub(crate) fn kind(self) -> ErrorKind {
        match self.status {
            -1 | -32 | -33 | -1001 | DLOPEN_RUNTIME_LOAD_FAILED => ErrorKind::NoDevice,
            -4 | -6 | -61 => ErrorKind::OutOfMemory,
            -5 => ErrorKind::LaunchOutOfResources,
            // A queue that turned invalid is how NVIDIA's driver reports a kernel that died.
            -14 | -36 => ErrorKind::LaunchFailure,
            NV_ILLEGAL_ACCESS => ErrorKind::IllegalAddress,
            -11 | -15 | -17 => ErrorKind::BuildFailed,
            -42 => ErrorKind::InvalidImage,
            -46 => ErrorKind::NotFound,
            -34 => ErrorKind::InvalidContext,
            -55..=-53 | -63 => ErrorKind::InvalidConfiguration,
            -3 | -10 | -12 | -59 | -68 | DLOPEN_FUNCTION_NOT_AVAILABLE => ErrorKind::NotSupported,
            -8 | -13 | -30 | -31 | -38 | -40 | -43 | -52..=-49 | -57 | -58 => ErrorKind::InvalidValue,
            _ => ErrorKind::Unknown,
        }
    }

    /// Whether the device failed, rather than the driver refused a call.
    pub(crate) fn is_fault(self) -> bool {
        matches!(self.kind(), ErrorKind::LaunchFailure | ErrorKind::IllegalAddress)
    }

    /// Whether the driver was short of something that it may have the next time.
    pub(crate) fn is_shortage(self) -> bool {
        matches!(self.kind(), ErrorKind::OutOfMemory | ErrorKind::LaunchOutOfResources)
    }

    /// An error of `kind` that keeps this answer as its cause.
    pub(crate) fn as_error(self, kind: ErrorKind, problem: &'static str) -> Error {
        Error::new(kind, problem).caused_by(self)
    }

    /// The same for a failed request for memory: no driver agrees with another on the status.
    pub(crate) fn out_of_memory(self) -> Error {
        self.as_error(ErrorKind::OutOfMemory, "the driver could not give that much memory")
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.status {
            NV_ILLEGAL_ACCESS => "illegal memory access in a kernel",
            -1001 => "CL_PLATFORM_NOT_FOUND_KHR",
            status => error_text(status),
        };
        write!(f, "{}: {name} ({})", self.entry, self.status)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let problem = match failure.kind() {
            ErrorKind::LaunchFailure | ErrorKind::IllegalAddress => "the device failed while it ran earlier work",
            ErrorKind::NoDevice => "no OpenCL device answers",
            ErrorKind::OutOfMemory => "the driver is out of memory",
            _ => "the OpenCL driver refused the call",
        };
        failure.as_error(failure.kind(), problem)
    }
}

/// A release that fails is logged: a destructor has nobody to answer to.
pub(super) fn log_release(outcome: Result<()>) {
    if let Err(failure) = outcome {
        log::warn!(target: "gridcl::cl", "{failure}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_entry_point_and_the_status() {
        let failure = Failure { entry: "clFinish", status: -36 };
        assert_eq!(failure.to_string(), "clFinish: CL_INVALID_COMMAND_QUEUE (-36)");
        assert_eq!(Error::from(failure).kind(), ErrorKind::LaunchFailure);
    }
}
