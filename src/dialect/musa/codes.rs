//! The result codes of the MUSA dialect.
//!
//! Sources, in this order: the decisions where sources disagree, the seed's table (0, 1, 2, 3, 100, 300, 400, 408),
//! and the vendor's public header. No code comes from anywhere else. Where the seed's numbers take those of the
//! header, the header's meaning is gone: there is no NoDevice, InvalidSource or InvalidResourceHandle, and 101, 702
//! and 719 are no codes.

#![allow(non_camel_case_types, non_upper_case_globals, reason = "the names are the vendor's")]

use std::ffi::CStr;

use crate::dialect::c_enum::c_error;
use crate::error::ErrorKind;

// ---- Codes

c_error! {
    /// What every MUSA call answers.
    pub struct musaError_t {
        musaSuccess = 0, "no error";
        musaErrorInvalidValue = 1, "an argument is outside of what the call accepts";
        musaErrorOutOfMemory = 2, "out of memory";
        musaErrorNotInitialized = 3, "the runtime cannot be used here";
        musaErrorMusartUnloading = 4, "the process is ending";
        musaErrorProfilerDisabled = 5, "the profiler is off";
        musaErrorProfilerNotInitialized = 6, "the profiler was not started";
        musaErrorProfilerAlreadyStarted = 7, "the profiler runs already";
        musaErrorProfilerAlreadyStopped = 8, "the profiler was stopped already";
        musaErrorInvalidConfiguration = 9, "the launch shape is beyond what the device can do";
        musaErrorInvalidPitchValue = 12, "the pitch does not fit the row";
        musaErrorInvalidSymbol = 13, "no such symbol";
        musaErrorInvalidHostPointer = 16, "not a host pointer";
        musaErrorInvalidDevicePointer = 17, "not a device pointer";
        musaErrorInvalidTexture = 18, "not a texture";
        musaErrorInvalidTextureBinding = 19, "the texture is not bound";
        musaErrorInvalidChannelDescriptor = 20, "no such element format";
        musaErrorInvalidMemcpyDirection = 21, "no such copy direction";
        musaErrorAddressOfConstant = 22, "a constant has no address";
        musaErrorTextureFetchFailed = 23, "the texture could not be read";
        musaErrorTextureNotBound = 24, "the texture was not bound for reading";
        musaErrorSynchronizationError = 25, "the wait failed";
        musaErrorInvalidFilterSetting = 26, "the texture cannot be filtered that way";
        musaErrorInvalidNormSetting = 27, "the texture cannot be read as normalised numbers";
        musaErrorMixedDeviceExecution = 28, "device and emulation code do not mix";
        musaErrorNotYetImplemented = 31, "not written yet";
        musaErrorMemoryValueTooLarge = 32, "the emulated address is too large";
        musaErrorStubLibrary = 34, "the driver is a stub";
        musaErrorInsufficientDriver = 35, "the driver is older than the runtime";
        musaErrorCallRequiresNewerDriver = 36, "the call needs a newer driver";
        musaErrorInvalidSurface = 37, "not a surface";
        musaErrorDuplicateVariableName = 43, "two variables have that name";
        musaErrorDuplicateTextureName = 44, "two textures have that name";
        musaErrorDuplicateSurfaceName = 45, "two surfaces have that name";
        musaErrorDevicesUnavailable = 46, "no device can be used";
        musaErrorIncompatibleDriverContext = 49, "the driver's context does not suit the runtime";
        musaErrorMissingConfiguration = 52, "the launch was not configured";
        musaErrorPriorLaunchFailure = 53, "an earlier launch failed";
        musaErrorLaunchMaxDepthExceeded = 65, "kernels launch kernels too deep";
        musaErrorLaunchFileScopedTex = 66, "a kernel launched by a kernel uses a texture of its file";
        musaErrorLaunchFileScopedSurf = 67, "a kernel launched by a kernel uses a surface of its file";
        musaErrorSyncDepthExceeded = 68, "kernels wait for kernels too deep";
        musaErrorLaunchPendingCountExceeded = 69, "too many launches of kernels by kernels are pending";
        musaErrorInvalidDeviceFunction = 98, "not a kernel";
        musaErrorInvalidDevice = 100, "no such device";
        musaErrorDeviceNotLicensed = 102, "the device has no licence";
        musaErrorSoftwareValidityNotEstablished = 103, "runtime and driver could not be verified";
        musaErrorStartupFailure = 127, "the runtime could not start";
        musaErrorInvalidKernelImage = 200, "neither kernel text nor a program of this runtime";
        musaErrorDeviceUninitialized = 201, "no context, or the wrong one";
        musaErrorMapBufferObjectFailed = 205, "the buffer could not be mapped";
        musaErrorUnmapBufferObjectFailed = 206, "the buffer could not be unmapped";
        musaErrorArrayIsMapped = 207, "the array is mapped";
        musaErrorAlreadyMapped = 208, "mapped already";
        musaErrorNoKernelImageForDevice = 209, "the program was not built for this device";
        musaErrorAlreadyAcquired = 210, "acquired already";
        musaErrorNotMapped = 211, "not mapped";
        musaErrorNotMappedAsArray = 212, "not mapped as an array";
        musaErrorNotMappedAsPointer = 213, "not mapped as a pointer";
        musaErrorECCUncorrectable = 214, "a memory error could not be corrected";
        musaErrorUnsupportedLimit = 215, "the device has no such limit";
        musaErrorDeviceAlreadyInUse = 216, "another thread has the device for itself";
        musaErrorPeerAccessUnsupported = 217, "the device cannot use memory of the other";
        musaErrorInvalidPtx = 218, "the intermediate code does not compile";
        musaErrorInvalidGraphicsContext = 219, "the graphics context is not valid";
        musaErrorMtlinkUncorrectable = 220, "a link error could not be corrected";
        musaErrorJitCompilerNotFound = 221, "there is no compiler";
        musaErrorUnsupportedPtxVersion = 222, "the compiler is too old for the intermediate code";
        musaErrorJitCompilationDisabled = 223, "compilation is switched off";
        musaErrorUnsupportedExecAffinity = 224, "the device has no such affinity";
        musaErrorInvalidKernel = 300, "the kernel text does not compile";
        musaErrorFileNotFound = 301, "the file cannot be read";
        musaErrorSharedObjectSymbolNotFound = 302, "a shared object lacks a symbol";
        musaErrorSharedObjectInitFailed = 303, "a shared object could not start";
        musaErrorOperatingSystem = 304, "a call to the operating system failed";
        musaErrorLaunchFailure = 400, "the device failed while it ran a command";
        musaErrorIllegalState = 401, "the object is in no state for that";
        musaErrorLaunchTimeout = 408, "the device stopped a kernel that ran for too long";
        musaErrorSymbolNotFound = 500, "nothing has that name";
        musaErrorNotReady = 600, "the work is still going on";
        musaErrorIllegalAddress = 700, "a kernel touched memory that it may not touch";
        musaErrorLaunchOutOfResources = 701, "the kernel needs more than the launch shape leaves";
        musaErrorLaunchIncompatibleTexturing = 703, "the kernel's texturing does not fit";
        musaErrorPeerAccessAlreadyEnabled = 704, "peer access is on already";
        musaErrorPeerAccessNotEnabled = 705, "peer access is not on";
        musaErrorSetOnActiveProcess = 708, "the device is in use and cannot be changed";
        musaErrorContextIsDestroyed = 709, "the handle is dead or foreign";
        musaErrorAssert = 710, "an assertion in a kernel failed";
        musaErrorTooManyPeers = 711, "no more devices can share memory";
        musaErrorHostMemoryAlreadyRegistered = 712, "the host memory is registered already";
        musaErrorHostMemoryNotRegistered = 713, "the host memory is not registered";
        musaErrorHardwareStackError = 714, "a kernel broke its call stack";
        musaErrorIllegalInstruction = 715, "a kernel ran into an instruction that is none";
        musaErrorMisalignedAddress = 716, "a kernel used an address that is not aligned";
        musaErrorInvalidAddressSpace = 717, "a kernel used an address of the wrong space";
        musaErrorInvalidPc = 718, "a kernel left its code";
        musaErrorCooperativeLaunchTooLarge = 720, "the cooperative launch does not fit at once";
        musaErrorNotPermitted = 800, "not allowed here";
        musaErrorNotSupported = 801, "not supported";
        musaErrorSystemNotReady = 802, "the system is not ready";
        musaErrorSystemDriverMismatch = 803, "the drivers do not go together";
        musaErrorCompatNotSupportedOnDevice = 804, "the device cannot run in compatibility mode";
        musaErrorMpsConnectionFailed = 805, "the process server cannot be reached";
        musaErrorMpsRpcFailure = 806, "the process server did not answer";
        musaErrorMpsServerNotReady = 807, "the process server is not ready";
        musaErrorMpsMaxClientsReached = 808, "the process server has no room for a client";
        musaErrorMpsMaxConnectionsReached = 809, "the process server has no connection left";
        musaErrorStreamCaptureUnsupported = 900, "not possible while the stream is captured";
        musaErrorStreamCaptureInvalidated = 901, "an earlier error ended the capture";
        musaErrorStreamCaptureMerge = 902, "two captures would become one";
        musaErrorStreamCaptureUnmatched = 903, "the capture began in another stream";
        musaErrorStreamCaptureUnjoined = 904, "a branch of the capture was not joined";
        musaErrorStreamCaptureIsolation = 905, "the capture would depend on what lies outside";
        musaErrorStreamCaptureImplicit = 906, "the default stream would depend on the capture";
        musaErrorCapturedEvent = 907, "the event belongs to a capture";
        musaErrorStreamCaptureWrongThread = 908, "another thread began the capture";
        musaErrorTimeout = 909, "the wait took too long";
        musaErrorGraphExecUpdateFailure = 910, "the graph cannot be changed that way";
        musaErrorExternalDevice = 911, "a device outside of the runtime failed";
        musaErrorInvalidClusterSize = 912, "the cluster does not fit the launch";
        musaErrorUnknown = 999, "unknown error";
        musaErrorApiFailureBase = 10000, "a driver error without a name";
    }
    aliases {
        /// 2, as the vendor's header spells it.
        musaErrorMemoryAllocation = musaErrorOutOfMemory;
        /// 3, as the vendor's header spells it.
        musaErrorInitializationError = musaErrorNotInitialized;
    }
}

// ---- Mapping

impl musaError_t {
    /// The code that says what gridcl's own error kind says.
    pub(crate) const fn from_kind(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::InvalidValue => musaErrorInvalidValue,
            ErrorKind::OutOfMemory => musaErrorOutOfMemory,
            ErrorKind::NotInitialized => musaErrorNotInitialized,
            ErrorKind::InvalidConfiguration => musaErrorInvalidConfiguration,
            ErrorKind::InvalidPitch => musaErrorInvalidPitchValue,
            ErrorKind::InvalidSymbol => musaErrorInvalidSymbol,
            // 17 is out of use there: freeing what was never allocated is an invalid value.
            ErrorKind::InvalidDevicePointer => musaErrorInvalidValue,
            ErrorKind::InvalidCopyDirection => musaErrorInvalidMemcpyDirection,
            ErrorKind::MissingConfiguration => musaErrorMissingConfiguration,
            ErrorKind::InvalidFunction => musaErrorInvalidDeviceFunction,
            // The header's 100 means an invalid device in the seed.
            ErrorKind::NoDevice => musaErrorDevicesUnavailable,
            ErrorKind::InvalidDevice => musaErrorInvalidDevice,
            ErrorKind::InvalidImage => musaErrorInvalidKernelImage,
            ErrorKind::BuildFailed => musaErrorInvalidKernel,
            ErrorKind::FileNotFound => musaErrorFileNotFound,
            ErrorKind::InvalidContext => musaErrorDeviceUninitialized,
            ErrorKind::UnsupportedLimit => musaErrorUnsupportedLimit,
            ErrorKind::PeerAccessUnsupported => musaErrorPeerAccessUnsupported,
            // The header's 400 means a failed launch in the seed.
            ErrorKind::InvalidHandle => musaErrorContextIsDestroyed,
            ErrorKind::NotFound => musaErrorSymbolNotFound,
            ErrorKind::NotReady => musaErrorNotReady,
            ErrorKind::IllegalAddress => musaErrorIllegalAddress,
            ErrorKind::LaunchOutOfResources => musaErrorLaunchOutOfResources,
            ErrorKind::LaunchTimeout => musaErrorLaunchTimeout,
            ErrorKind::PeerAccessAlreadyEnabled => musaErrorPeerAccessAlreadyEnabled,
            ErrorKind::PeerAccessNotEnabled => musaErrorPeerAccessNotEnabled,
            ErrorKind::SetOnActiveProcess => musaErrorSetOnActiveProcess,
            ErrorKind::HostMemoryAlreadyRegistered => musaErrorHostMemoryAlreadyRegistered,
            ErrorKind::HostMemoryNotRegistered => musaErrorHostMemoryNotRegistered,
            ErrorKind::LaunchFailure => musaErrorLaunchFailure,
            ErrorKind::CooperativeLaunchTooLarge => musaErrorCooperativeLaunchTooLarge,
            ErrorKind::NotPermitted => musaErrorNotPermitted,
            ErrorKind::NotSupported => musaErrorNotSupported,
            ErrorKind::Unknown => musaErrorUnknown,
        }
    }

    /// What `musaGetErrorString` answers: the text.
    pub(crate) fn error_string(self) -> &'static CStr {
        self.text()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::ffi::c_int;

    use super::*;

    #[test]
    fn the_seeds_table_stands() {
        let seed = [
            ("musaSuccess", 0),
            ("musaErrorInvalidValue", 1),
            ("musaErrorOutOfMemory", 2),
            ("musaErrorNotInitialized", 3),
            ("musaErrorInvalidDevice", 100),
            ("musaErrorInvalidKernel", 300),
            ("musaErrorLaunchFailure", 400),
            ("musaErrorLaunchTimeout", 408),
        ];
        for code in seed {
            assert!(musaError_t::NAMES.contains(&code), "{code:?}");
        }
    }

    #[test]
    fn no_number_means_two_things() {
        let numbers: HashSet<c_int> = musaError_t::NAMES.iter().map(|(_, number)| *number).collect();
        assert_eq!(numbers.len(), musaError_t::NAMES.len());
        for gone in [101, 702, 719] {
            assert!(!musaError_t(gone).is_known(), "{gone}");
        }
        for gone in ["NoDevice", "InvalidSource", "InvalidResourceHandle"] {
            assert!(musaError_t::NAMES.iter().all(|(name, _)| !name.ends_with(gone)), "{gone}");
        }
    }

    #[test]
    fn every_code_has_a_name_and_a_text() {
        for &(name, number) in musaError_t::NAMES {
            let code = musaError_t(number);
            assert_eq!(code.name().to_str(), Ok(name));
            assert_eq!(format!("{code:?}"), name);
            assert!(!code.error_string().is_empty(), "{name}");
        }
        let none = musaError_t(101);
        assert!(!none.name().is_empty() && !none.error_string().is_empty());
        assert_eq!(musaErrorMemoryAllocation.name(), c"musaErrorOutOfMemory");
        assert_eq!(musaErrorInitializationError.name(), c"musaErrorNotInitialized");
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
            (ErrorKind::InvalidDevicePointer, 1),
            (ErrorKind::InvalidCopyDirection, 21),
            (ErrorKind::MissingConfiguration, 52),
            (ErrorKind::InvalidFunction, 98),
            (ErrorKind::NoDevice, 46),
            (ErrorKind::InvalidDevice, 100),
            (ErrorKind::InvalidImage, 200),
            (ErrorKind::BuildFailed, 300),
            (ErrorKind::FileNotFound, 301),
            (ErrorKind::InvalidContext, 201),
            (ErrorKind::UnsupportedLimit, 215),
            (ErrorKind::PeerAccessUnsupported, 217),
            (ErrorKind::InvalidHandle, 709),
            (ErrorKind::NotFound, 500),
            (ErrorKind::NotReady, 600),
            (ErrorKind::IllegalAddress, 700),
            (ErrorKind::LaunchOutOfResources, 701),
            (ErrorKind::LaunchTimeout, 408),
            (ErrorKind::PeerAccessAlreadyEnabled, 704),
            (ErrorKind::PeerAccessNotEnabled, 705),
            (ErrorKind::SetOnActiveProcess, 708),
            (ErrorKind::HostMemoryAlreadyRegistered, 712),
            (ErrorKind::HostMemoryNotRegistered, 713),
            (ErrorKind::LaunchFailure, 400),
            (ErrorKind::CooperativeLaunchTooLarge, 720),
            (ErrorKind::NotPermitted, 800),
            (ErrorKind::NotSupported, 801),
            (ErrorKind::Unknown, 999),
        ];
        for (kind, number) in expected {
            let code = musaError_t::from_kind(kind);
            assert_eq!(code.0, number, "{kind:?}");
            assert!(code.is_known() && !code.is_ok(), "{kind:?}");
        }
    }
}
