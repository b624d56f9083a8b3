//! The result codes of the TOPS dialect.
//!
//! The seed prints no numbers, so every code is that of the vendor's public header. No code comes from anywhere else.

#![allow(non_camel_case_types, non_upper_case_globals, reason = "the names are the vendor's")]

use std::ffi::CStr;

use crate::dialect::c_enum::c_error;
use crate::error::ErrorKind;

// ---- Codes

c_error! {
    /// What every TOPS call answers.
    pub struct topsError_t {
        topsSuccess = 0, "no error";
        topsErrorInvalidValue = 1, "an argument is outside of what the call accepts";
        topsErrorOutOfMemory = 2, "out of memory";
        topsErrorNotInitialized = 3, "the runtime cannot be used here";
        topsErrorDeinitialized = 4, "the process is ending";
        topsErrorProfilerDisabled = 5, "the profiler is off";
        topsErrorProfilerNotInitialized = 6, "the profiler was not started";
        topsErrorProfilerAlreadyStarted = 7, "the profiler runs already";
        topsErrorProfilerAlreadyStopped = 8, "the profiler was stopped already";
        topsErrorInvalidConfiguration = 9, "the launch shape is beyond what the device can do";
        topsErrorInvalidPitchValue = 12, "the pitch does not fit the row";
        topsErrorInvalidSymbol = 13, "no such symbol";
        topsErrorInvalidDevicePointer = 17, "not a device pointer";
        topsErrorInvalidMemcpyDirection = 21, "no such copy direction";
        topsErrorInsufficientDriver = 35, "the driver is older than the runtime";
        topsErrorMissingConfiguration = 52, "the launch was not configured";
        topsErrorPriorLaunchFailure = 53, "an earlier launch failed";
        topsErrorInvalidDeviceFunction = 98, "not a kernel";
        topsErrorNoDevice = 100, "no device can be used";
        topsErrorInvalidDevice = 101, "no such device";
        topsErrorInvalidImage = 200, "neither kernel text nor a program of this runtime";
        topsErrorInvalidContext = 201, "no context, or the wrong one";
        topsErrorContextAlreadyCurrent = 202, "the context is current already";
        topsErrorMapFailed = 205, "the memory could not be mapped";
        topsErrorUnmapFailed = 206, "the memory could not be unmapped";
        topsErrorArrayIsMapped = 207, "the array is mapped";
        topsErrorAlreadyMapped = 208, "mapped already";
        topsErrorNoBinaryForGcu = 209, "the program was not built for this device";
        topsErrorAlreadyAcquired = 210, "acquired already";
        topsErrorNotMapped = 211, "not mapped";
        topsErrorNotMappedAsArray = 212, "not mapped as an array";
        topsErrorNotMappedAsPointer = 213, "not mapped as a pointer";
        topsErrorECCNotCorrectable = 214, "a memory error could not be corrected";
        topsErrorUnsupportedLimit = 215, "the device has no such limit";
        topsErrorContextAlreadyInUse = 216, "another thread has the context for itself";
        topsErrorPeerAccessUnsupported = 217, "the device cannot use memory of the other";
        topsErrorInvalidKernelFile = 218, "not a file with kernels";
        topsErrorInvalidGraphicsContext = 219, "the graphics context is not valid";
        topsErrorInvalidSource = 300, "the kernel text does not compile";
        topsErrorFileNotFound = 301, "the file cannot be read";
        topsErrorSharedObjectSymbolNotFound = 302, "a shared object lacks a symbol";
        topsErrorSharedObjectInitFailed = 303, "a shared object could not start";
        topsErrorOperatingSystem = 304, "a call to the operating system failed";
        topsErrorInvalidHandle = 400, "the handle is dead or foreign";
        topsErrorIllegalState = 401, "the object is in no state for that";
        topsErrorNotFound = 500, "nothing has that name";
        topsErrorNotReady = 600, "the work is still going on";
        topsErrorIllegalAddress = 700, "a kernel touched memory that it may not touch";
        topsErrorLaunchOutOfResources = 701, "the kernel needs more than the launch shape leaves";
        topsErrorLaunchTimeOut = 702, "the device stopped a kernel that ran for too long";
        topsErrorPeerAccessAlreadyEnabled = 704, "peer access is on already";
        topsErrorPeerAccessNotEnabled = 705, "peer access is not on";
        topsErrorSetOnActiveProcess = 708, "the device is in use and cannot be changed";
        topsErrorContextIsDestroyed = 709, "the context is gone";
        topsErrorAssert = 710, "an assertion in a kernel failed";
        topsErrorHostMemoryAlreadyRegistered = 712, "the host memory is registered already";
        topsErrorHostMemoryNotRegistered = 713, "the host memory is not registered";
        topsErrorLaunchFailure = 719, "the device failed while it ran a command";
        topsErrorCooperativeLaunchTooLarge = 720, "the cooperative launch does not fit at once";
        topsErrorNotSupported = 801, "not supported, or not allowed here";
        topsErrorStreamCaptureUnsupported = 900, "not possible while the stream is captured";
        topsErrorStreamCaptureInvalidated = 901, "an earlier error ended the capture";
        topsErrorStreamCaptureMerge = 902, "two captures would become one";
        topsErrorStreamCaptureUnmatched = 903, "the capture began in another stream";
        topsErrorStreamCaptureUnjoined = 904, "a branch of the capture was not joined";
        topsErrorStreamCaptureIsolation = 905, "the capture would depend on what lies outside";
        topsErrorStreamCaptureImplicit = 906, "the default stream would depend on the capture";
        topsErrorCapturedEvent = 907, "the event belongs to a capture";
        topsErrorStreamCaptureWrongThread = 908, "another thread began the capture";
        topsErrorGraphExecUpdateFailure = 910, "the graph cannot be changed that way";
        topsErrorUnknown = 999, "unknown error";
        topsErrorRuntimeMemory = 1052, "the layer beneath failed at memory";
        topsErrorRuntimeOther = 1053, "the layer beneath failed at something else";
        topsErrorTbd = 1054, "an error without a code of its own";
    }
    aliases {
        /// 2, by its older name.
        topsErrorMemoryAllocation = topsErrorOutOfMemory;
        /// 3, by its older name.
        topsErrorInitializationError = topsErrorNotInitialized;
        /// 205, by its older name.
        topsErrorMapBufferObjectFailed = topsErrorMapFailed;
        /// 400, by its older name.
        topsErrorInvalidResourceHandle = topsErrorInvalidHandle;
    }
}

// ---- Mapping

impl topsError_t {
    /// The code that says what gridcl's own error kind says.
    pub(crate) const fn from_kind(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::InvalidValue => topsErrorInvalidValue,
            ErrorKind::OutOfMemory => topsErrorOutOfMemory,
            ErrorKind::NotInitialized => topsErrorNotInitialized,
            ErrorKind::InvalidConfiguration => topsErrorInvalidConfiguration,
            ErrorKind::InvalidPitch => topsErrorInvalidPitchValue,
            ErrorKind::InvalidSymbol => topsErrorInvalidSymbol,
            ErrorKind::InvalidDevicePointer => topsErrorInvalidDevicePointer,
            ErrorKind::InvalidCopyDirection => topsErrorInvalidMemcpyDirection,
            ErrorKind::MissingConfiguration => topsErrorMissingConfiguration,
            ErrorKind::InvalidFunction => topsErrorInvalidDeviceFunction,
            ErrorKind::NoDevice => topsErrorNoDevice,
            ErrorKind::InvalidDevice => topsErrorInvalidDevice,
            ErrorKind::InvalidImage => topsErrorInvalidImage,
            ErrorKind::BuildFailed => topsErrorInvalidSource,
            ErrorKind::FileNotFound => topsErrorFileNotFound,
            ErrorKind::InvalidContext => topsErrorInvalidContext,
            ErrorKind::UnsupportedLimit => topsErrorUnsupportedLimit,
            ErrorKind::PeerAccessUnsupported => topsErrorPeerAccessUnsupported,
            ErrorKind::InvalidHandle => topsErrorInvalidHandle,
            ErrorKind::NotFound => topsErrorNotFound,
            ErrorKind::NotReady => topsErrorNotReady,
            ErrorKind::IllegalAddress => topsErrorIllegalAddress,
            ErrorKind::LaunchOutOfResources => topsErrorLaunchOutOfResources,
            ErrorKind::LaunchTimeout => topsErrorLaunchTimeOut,
            ErrorKind::PeerAccessAlreadyEnabled => topsErrorPeerAccessAlreadyEnabled,
            ErrorKind::PeerAccessNotEnabled => topsErrorPeerAccessNotEnabled,
            ErrorKind::SetOnActiveProcess => topsErrorSetOnActiveProcess,
            ErrorKind::HostMemoryAlreadyRegistered => topsErrorHostMemoryAlreadyRegistered,
            ErrorKind::HostMemoryNotRegistered => topsErrorHostMemoryNotRegistered,
            ErrorKind::LaunchFailure => topsErrorLaunchFailure,
            ErrorKind::CooperativeLaunchTooLarge => topsErrorCooperativeLaunchTooLarge,
            // The header has no code for what is not permitted.
            ErrorKind::NotPermitted => topsErrorNotSupported,
            ErrorKind::NotSupported => topsErrorNotSupported,
            ErrorKind::Unknown => topsErrorUnknown,
        }
    }

    /// What `topsGetErrorString` answers: the name, as the vendor's header warns.
    pub(crate) fn error_string(self) -> &'static CStr {
        self.name()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::ffi::c_int;

    use super::*;

    #[test]
    fn the_headers_numbers_stand() {
        let header = [
            ("topsSuccess", 0),
            ("topsErrorInvalidValue", 1),
            ("topsErrorOutOfMemory", 2),
            ("topsErrorNotInitialized", 3),
            ("topsErrorInvalidConfiguration", 9),
            ("topsErrorInvalidDevicePointer", 17),
            ("topsErrorNoDevice", 100),
            ("topsErrorInvalidDevice", 101),
            ("topsErrorInvalidSource", 300),
            ("topsErrorInvalidHandle", 400),
            ("topsErrorNotReady", 600),
            ("topsErrorLaunchTimeOut", 702),
            ("topsErrorLaunchFailure", 719),
            ("topsErrorNotSupported", 801),
            ("topsErrorTbd", 1054),
        ];
        for code in header {
            assert!(topsError_t::NAMES.contains(&code), "{code:?}");
        }
    }

    #[test]
    fn no_number_means_two_things() {
        let numbers: HashSet<c_int> = topsError_t::NAMES.iter().map(|(_, number)| *number).collect();
        assert_eq!(numbers.len(), topsError_t::NAMES.len());
    }

    #[test]
    fn every_code_has_a_name_and_a_text() {
        for &(name, number) in topsError_t::NAMES {
            let code = topsError_t(number);
            assert_eq!(code.name().to_str(), Ok(name));
            assert_eq!(format!("{code:?}"), name);
            assert!(!code.text().is_empty(), "{name}");
            assert_eq!(code.error_string(), code.name());
        }
        let none = topsError_t(800);
        assert!(!none.name().is_empty() && !none.error_string().is_empty());
        assert_eq!(topsErrorInvalidResourceHandle.name(), c"topsErrorInvalidHandle");
        assert_eq!(topsErrorMapBufferObjectFailed.name(), c"topsErrorMapFailed");
    }

    #[test]
    fn every_kind_has_a_code() {
        let expected = [
            (ErrorKind::InvalidValue, 1),
            (ErrorKind::OutOfMemory, 2),
            (ErrorKind::NotInitialized, 3),
            (ErrorKind::InvalidConfiguration, 9),
            (ErrorKind::InvalidPitch, 12),
            (ErrorKind::InvalidSymbol, 13),
            (ErrorKind::InvalidDevicePointer, 17),
            (ErrorKind::InvalidCopyDirection, 21),
            (ErrorKind::MissingConfiguration, 52),
            (ErrorKind::InvalidFunction, 98),
            (ErrorKind::NoDevice, 100),
            (ErrorKind::InvalidDevice, 101),
            (ErrorKind::InvalidImage, 200),
            (ErrorKind::BuildFailed, 300),
            (ErrorKind::FileNotFound, 301),
            (ErrorKind::InvalidContext, 201),
            (ErrorKind::UnsupportedLimit, 215),
            (ErrorKind::PeerAccessUnsupported, 217),
            (ErrorKind::InvalidHandle, 400),
            (ErrorKind::NotFound, 500),
            (ErrorKind::NotReady, 600),
            (ErrorKind::IllegalAddress, 700),
            (ErrorKind::LaunchOutOfResources, 701),
            (ErrorKind::LaunchTimeout, 702),
            (ErrorKind::PeerAccessAlreadyEnabled, 704),
            (ErrorKind::PeerAccessNotEnabled, 705),
            (ErrorKind::SetOnActiveProcess, 708),
            (ErrorKind::HostMemoryAlreadyRegistered, 712),
            (ErrorKind::HostMemoryNotRegistered, 713),
            (ErrorKind::LaunchFailure, 719),
            (ErrorKind::CooperativeLaunchTooLarge, 720),
            (ErrorKind::NotPermitted, 801),
            (ErrorKind::NotSupported, 801),
            (ErrorKind::Unknown, 999),
        ];
        for (kind, number) in expected {
            let code = topsError_t::from_kind(kind);
            assert_eq!(code.0, number, "{kind:?}");
            assert!(code.is_known() && !code.is_ok(), "{kind:?}");
        }
    }
}
