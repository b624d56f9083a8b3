//! An OpenCL context of exactly one device.

use super::call::{Live, Object, call};
use super::status::Result;
use cl3::types::{cl_context, cl_device_id};
use opencl3::device::Device;
use opencl3::platform::Platform;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A context and its device; released when dropped.
#[derive(Debug)]
pub(crate) struct Context {
    raw: cl_context,
    device: cl_device_id,
    /// Blocks of shared virtual memory that the host has.
    mapped: AtomicUsize,
    _live: Live,
}

// SAFETY: OpenCL contexts and devices may be used from any thread (specification, appendix A.2).
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Makes a context of `device` alone. What the driver has to say about it later is logged.
    pub(crate) fn new(device: super::platform::DeviceId) -> Result<Self> {
        let device = device.raw();
        let raw = call("clCreateContext", || {
            cl3::context::create_context(&[device], std::ptr::null(), Some(notify), std::ptr::null_mut())
        })?;
        Ok(Self { raw, device, mapped: AtomicUsize::new(0), _live: Live::new(Object::Context) })
    }

    pub(super) fn raw(&self) -> cl_context {
        self.raw
    }

    /// Platform, device and driver with their versions: where this differs, a program's binary may not fit.
    pub(crate) fn identity(&self) -> String {
        let device = Device::new(self.device);
        let platform = device.platform().map(Platform::new);
        let platform = platform.map(|id| (id.name().unwrap_or_default(), id.version().unwrap_or_default()));
        let (platform, platform_version) = platform.unwrap_or_default();
        let of_device = [device.vendor(), device.name(), device.version(), device.driver_version()];
        let of_device = of_device.map(Result::unwrap_or_default);
        [platform, platform_version].into_iter().chain(of_device).collect::<Vec<_>>().join("; ")
    }

    /// How many blocks of shared virtual memory the host has: counted here, at the calls, so that the runtime's own
    /// account can be held against it. No CPU driver shows a block that a kernel uses while it is mapped.
    pub(crate) fn mapped_blocks(&self) -> usize {
        self.mapped.load(Relaxed)
    }

    pub(super) fn count_mapped(&self, more: bool) {
        if more {
            self.mapped.fetch_add(1, Relaxed)
        } else {
            self.mapped.fetch_sub(1, Relaxed)
        };
    }

    pub(super) fn device(&self) -> cl_device_id {
        self.device
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context was made by us, and this is the only release of that reference.
        let released = call("clReleaseContext", || unsafe { cl3::context::release_context(self.raw) });
        super::status::log_release(released);
    }
}

/// Takes a message from the driver, on whatever thread it comes.
unsafe extern "C" fn notify(message: *const c_char, _private: *const c_void, _bytes: usize, _user: *mut c_void) {
    if !message.is_null() {
        // SAFETY: the driver passes a NUL-terminated string that lives for the call.
        let message = unsafe { CStr::from_ptr(message) };
        log::warn!(target: "gridcl::cl", "driver: {}", message.to_string_lossy().trim_end());
    }
}
