//! Programs built from OpenCL C for one device.

use super::call::{Live, Object, call, library, raw};
use super::context::Context;
use super::status::{Failure, Result};
use crate::error::ErrorKind;
use cl3::error_codes::DLOPEN_FUNCTION_NOT_AVAILABLE;
use cl3::program::{
    CL_PROGRAM_BINARIES, CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_BUILD_LOG, CL_PROGRAM_KERNEL_NAMES, CL_PROGRAM_NUM_KERNELS,
};
use cl3::types::{cl_device_id, cl_program};
use parking_lot::Mutex;
use std::ffi::CString;

/// A program that built; released when dropped.
#[derive(Debug)]
pub(crate) struct Program {
    raw: cl_program,
    device: cl_device_id,
    /// Held while the binary is taken: PoCL 3.1 frees and fills what it keeps of it at every question, with no lock.
    packing: Mutex<()>,
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

impl BuildFailure {
    /// Whether the text has nothing to do with it: the driver was short of something, or has no compiler. A compile
    /// error that a driver calls "out of resources" comes with a log.
    pub(crate) fn is_no_fault_of_the_text(&self) -> bool {
        self.log.trim().is_empty() && (self.failure.is_shortage() || self.failure.kind() == ErrorKind::NotSupported)
    }
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
        let program =
            Self { raw, device: context.device(), packing: Mutex::new(()), _live: Live::new(Object::Program) };
        program.finish(options).map_err(|failure| BuildFailure { failure, log: program.log() })?;
        Ok(program)
    }

    /// Loads what [`Program::binary`] gave for a device and driver like this one. What the compiler knew of kernels'
    /// parameters is gone (PoCL, Intel's CPU runtime).
    pub(crate) fn from_binary(context: &Context, binary: &[u8], options: &str) -> Result<Self> {
        let device = context.device();
        let (bytes, start) = (binary.len(), binary.as_ptr());
        // cl3's wrapper passes slices as if they were pointers.
        let raw = call("clCreateProgramWithBinary", || {
            let (mut of_binary, mut status) = (0, 0);
            let raw = library()?.clCreateProgramWithBinary(
                context.raw(),
                1,
                &raw const device,
                &raw const bytes,
                &raw const start,
                &raw mut of_binary,
                &raw mut status,
            );
            match (raw, status) {
                (Some(raw), 0) if !raw.is_null() => Ok(raw),
                (Some(_), status) => Err(status),
                (None, _) => Err(DLOPEN_FUNCTION_NOT_AVAILABLE),
            }
        })?;
        let program = Self { raw, device, packing: Mutex::new(()), _live: Live::new(Object::Program) };
        program.finish(options)?;
        Ok(program)
    }

    fn finish(&self, options: &str) -> Result<()> {
        // An option with a NUL cannot have been meant; the compiler reports what is left.
        let options = CString::new(options.replace('\0', " ")).unwrap_or_default();
        call("clBuildProgram", || {
            cl3::program::build_program(self.raw, &[self.device], &options, None, std::ptr::null_mut())
        })
    }

    /// The program as the driver keeps it. PoCL (3.1) compiles each kernel for blocks of any size first, and puts in
    /// what it compiled for the sizes of launches so far. Empty where it did not hold still for long enough.
    pub(crate) fn binary(&self) -> Result<Vec<u8>> {
        // PoCL packs a folder that programs of one text share, also those of other threads and processes. When the
        // folder grows behind the question for the size it writes more than that: hence the room, and the second look.
        const ATTEMPTS: usize = 8;
        const ROOM_BYTES: usize = 64 << 20;
        let _packing = self.packing.lock();
        let mut size = self.binary_size()?;
        for _ in 0..ATTEMPTS {
            // Zeros from the system, which take no memory before they are written.
            let mut bytes = vec![0_u8; size.saturating_mul(2).saturating_add(ROOM_BYTES)];
            let mut start = bytes.as_mut_ptr();
            call("clGetProgramInfo", || {
                raw!(clGetProgramInfo(
                    self.raw,
                    CL_PROGRAM_BINARIES,
                    size_of::<*mut u8>(),
                    (&raw mut start).cast(),
                    std::ptr::null_mut(),
                ))
            })?;
            let written = std::mem::replace(&mut size, self.binary_size()?);
            if size == written {
                bytes.truncate(size);
                bytes.shrink_to_fit();
                return Ok(bytes);
            }
        }
        Ok(Vec::new())
    }

    /// The bytes of its binary, as the driver says now.
    fn binary_size(&self) -> Result<usize> {
        let sizes = call("clGetProgramInfo", || cl3::program::get_program_info(self.raw, CL_PROGRAM_BINARY_SIZES))?;
        Ok(sizes.to_vec_size().into_iter().next().unwrap_or_default())
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
