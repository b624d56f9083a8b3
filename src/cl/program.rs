//! Programs built from OpenCL C for one device.

use super::call::{Live, Object, call};
use super::context::Context;
use super::status::{Failure, Result};
use cl3::program::{CL_PROGRAM_BUILD_LOG, CL_PROGRAM_KERNEL_NAMES, CL_PROGRAM_NUM_KERNELS};
use cl3::types::{cl_device_id, cl_program};
use std::ffi::CString;

/// A program that built; released when dropped.
#[derive(Debug)]
pub(crate) struct Program {
    raw: cl_program,
    device: cl_device_id,
    _live: Live,
}

// SAFETY: OpenCL programs may be used from any thread.
unsafe impl Send for Program {}
// SAFETY: as above.
unsafe impl Sync for Program {}

/// A build that failed, with what the compiler said.
#[derive(Debug)]
pub(crate) struct BuildFailure {
    pub(crate) failure: Failure,
    pub(crate) log: String,
}

impl From<Failure> for BuildFailure {
    fn from(failure: Failure) -> Self {
        Self { failure, log: String::new() }
    }
}

impl Program {
    /// Compiles `source`. The log is fetched on every failure: some drivers name a compile error "out of
    /// resources".
    pub(crate) fn build(context: &Context, source: &str, options: &str) -> std::result::Result<Self, BuildFailure> {
        let raw =
            call("clCreateProgramWithSource", || cl3::program::create_program_with_source(context.raw(), &[source]))?;
        let program = Self { raw, device: context.device(), _live: Live::new(Object::Program) };
        // An option with a NUL cannot have been meant; the compiler reports what is left.
        let options = CString::new(options.replace('\0', " ")).unwrap_or_default();
        call("clBuildProgram", || {
            cl3::program::build_program(raw, &[program.device], &options, None, std::ptr::null_mut())
        })
        .map_err(|failure| BuildFailure { failure, log: program.log() })?;
        Ok(program)
    }

    /// What the compiler said, with errors, warnings and remarks as the driver gives them.
    pub(crate) fn log(&self) -> String {
        cl3::program::get_program_build_info(self.raw, self.device, CL_PROGRAM_BUILD_LOG)
            .map(String::from)
            .unwrap_or_default()
    }

    /// The names of its kernels.
    pub(crate) fn kernel_names(&self) -> Result<Vec<String>> {
        // Where there is none PoCL 3.1 writes no names, not even the NUL, and Intel's CPU runtime answers an error.
        let count = call("clGetProgramInfo", || cl3::program::get_program_info(self.raw, CL_PROGRAM_NUM_KERNELS))?;
        if count.to_size() == 0 {
            return Ok(Vec::new());
        }
        let names = call("clGetProgramInfo", || cl3::program::get_program_info(self.raw, CL_PROGRAM_KERNEL_NAMES))?;
        Ok(String::from(names).split(';').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    pub(super) fn raw(&self) -> cl_program {
        self.raw
    }

    pub(super) fn device(&self) -> cl_device_id {
        self.device
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: this is the one reference that its creation gave us.
        let released = call("clReleaseProgram", || unsafe { cl3::program::release_program(self.raw) });
        super::status::log_release(released);
    }
}
