//! Kernel objects: their parameters, limits, and the setting of arguments.

use super::block::Buffer;
use super::call::{Live, Object, call};
use super::image::{Image, SamplerObject};
use super::program::Program;
use super::status::Result;
use cl3::kernel as cl;
use cl3::types::{cl_device_id, cl_kernel, cl_mem, cl_sampler};
use std::ffi::{CString, c_void};

/// `CL_KERNEL_EXEC_INFO_SVM_PTRS`.
const EXEC_INFO_SVM_PTRS: u32 = 0x11B6;

/// Where a parameter lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressSpace {
    /// `__global`: a pointer to device memory.
    Global,
    /// `__constant`: a pointer to device memory that the kernel only reads.
    Constant,
    /// `__local`: memory that the work group shares.
    Local,
    /// Passed by value; images and samplers too.
    Private,
}

/// A parameter as the compiler reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// The type as written, for instance `float*` or `struct body`.
    pub(crate) type_name: String,
    pub(crate) space: AddressSpace,
    /// Whether it is an image that the kernel may write.
    pub(crate) is_written_image: bool,
}

/// What a kernel needs of a work group on its device. Sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub(crate) struct WorkGroup {
    pub(crate) max_size: usize,
    pub(crate) multiple: usize,
    /// The size that the source demands (`reqd_work_group_size`); zeros where it demands none.
    pub(crate) required: [usize; 3],
    pub(crate) local_bytes: u64,
    pub(crate) private_bytes: u64,
}

/// One kernel object. Setting arguments is the one OpenCL call that is not thread-safe on one object, so it takes
/// `&mut self`.
#[derive(Debug)]
pub(crate) struct Kernel {
    raw: cl_kernel,
    device: cl_device_id,
    _live: Live,
}

// SAFETY: a kernel object may move between threads; `&mut self` keeps argument setting to one at a time.
unsafe impl Send for Kernel {}
// SAFETY: everything that takes `&self` is a query, which OpenCL lets any thread make.
unsafe impl Sync for Kernel {}

impl Kernel {
    /// The kernel called `name` of a built program.
    pub(crate) fn new(program: &Program, name: &str) -> Result<Self> {
        let name = CString::new(name).map_err(|_| super::Failure { entry: "clCreateKernel", status: -46 })?;
        let raw = call("clCreateKernel", || cl::create_kernel(program.raw(), &name))?;
        Ok(Self { raw, device: program.device(), _live: Live::new(Object::Kernel) })
    }

    pub(super) fn raw(&self) -> cl_kernel {
        self.raw
    }

    /// Its parameters in order. The program has to be built with `-cl-kernel-arg-info`.
    pub(crate) fn parameters(&self) -> Result<Vec<Parameter>> {
        let count = call("clGetKernelInfo", || cl::get_kernel_info(self.raw, cl::CL_KERNEL_NUM_ARGS))?.to_uint();
        (0..count).map(|index| self.parameter(index)).collect()
    }

    fn parameter(&self, index: u32) -> Result<Parameter> {
        let info = |what| call("clGetKernelArgInfo", || cl::get_kernel_arg_info(self.raw, index, what));
        let space = match info(cl::CL_KERNEL_ARG_ADDRESS_QUALIFIER)?.to_uint() {
            cl::CL_KERNEL_ARG_ADDRESS_GLOBAL => AddressSpace::Global,
            cl::CL_KERNEL_ARG_ADDRESS_CONSTANT => AddressSpace::Constant,
            cl::CL_KERNEL_ARG_ADDRESS_LOCAL => AddressSpace::Local,
            _ => AddressSpace::Private,
        };
        let access = info(cl::CL_KERNEL_ARG_ACCESS_QUALIFIER)?.to_uint();
        Ok(Parameter {
            is_written_image: matches!(
                access,
                cl::CL_KERNEL_ARG_ACCESS_WRITE_ONLY | cl::CL_KERNEL_ARG_ACCESS_READ_WRITE
            ),
            name: info(cl::CL_KERNEL_ARG_NAME)?.into(),
            type_name: info(cl::CL_KERNEL_ARG_TYPE_NAME)?.into(),
            space,
        })
    }

    /// Its limits on the device.
    pub(crate) fn work_group(&self) -> Result<WorkGroup> {
        let info =
            |what| call("clGetKernelWorkGroupInfo", || cl::get_kernel_work_group_info(self.raw, self.device, what));
        Ok(WorkGroup {
            max_size: info(cl::CL_KERNEL_WORK_GROUP_SIZE)?.to_size(),
            multiple: info(cl::CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE)?.to_size(),
            required: self.required_group()?,
            local_bytes: info(cl::CL_KERNEL_LOCAL_MEM_SIZE)?.to_ulong(),
            private_bytes: info(cl::CL_KERNEL_PRIVATE_MEM_SIZE)?.to_ulong(),
        })
    }

    /// The work-group size that the source demands, or zeros. The compiler evaluates it, so a kernel that demands
    /// `sizeof(T)` tells the size of a type without a launch.
    pub(crate) fn required_group(&self) -> Result<[usize; 3]> {
        let sizes = call("clGetKernelWorkGroupInfo", || {
            cl::get_kernel_work_group_info(self.raw, self.device, cl::CL_KERNEL_COMPILE_WORK_GROUP_SIZE)
        })?
        .to_vec_size();
        let size = |axis: usize| sizes.get(axis).copied().unwrap_or(0);
        Ok([size(0), size(1), size(2)])
    }

    /// Passes bytes by value.
    pub(crate) fn set_bytes(&mut self, index: u32, bytes: &[u8]) -> Result<()> {
        // SAFETY: the slice is valid for its length, and the driver copies it.
        unsafe { self.set(index, bytes.len(), bytes.as_ptr().cast()) }
    }

    /// Passes a buffer object, or null.
    pub(crate) fn set_buffer(&mut self, index: u32, buffer: Option<&Buffer>) -> Result<()> {
        let raw = buffer.map_or(std::ptr::null_mut(), Buffer::raw);
        // SAFETY: a handle's size and address; the driver copies it.
        unsafe { self.set(index, size_of::<cl_mem>(), (&raw const raw).cast()) }
    }

    /// Passes an image.
    pub(crate) fn set_image(&mut self, index: u32, image: &Image) -> Result<()> {
        let raw = image.raw();
        // SAFETY: a handle's size and address; the driver copies it.
        unsafe { self.set(index, size_of::<cl_mem>(), (&raw const raw).cast()) }
    }

    /// Passes a sampler.
    pub(crate) fn set_sampler(&mut self, index: u32, sampler: &SamplerObject) -> Result<()> {
        let raw = sampler.raw();
        // SAFETY: a handle's size and address; the driver copies it.
        unsafe { self.set(index, size_of::<cl_sampler>(), (&raw const raw).cast()) }
    }

    /// Gives a `__local` parameter its size. Some drivers refuse 0, so 0 asks for one byte.
    pub(crate) fn set_local(&mut self, index: u32, bytes: usize) -> Result<()> {
        // SAFETY: a null value with a size is how local memory is asked for.
        unsafe { self.set(index, bytes.max(1), std::ptr::null()) }
    }

    /// Passes a pointer to shared virtual memory, at any byte of a block, or null.
    pub(crate) fn set_pointer(&mut self, index: u32, address: usize) -> Result<()> {
        // SAFETY: the runtime has found the address in a live block of this context, or it is null.
        call("clSetKernelArgSVMPointer", || unsafe {
            cl::set_kernel_arg_svm_pointer(self.raw, index, address as *const c_void)
        })
    }

    /// Declares the blocks that the kernel may reach through pointers stored in memory.
    pub(crate) fn declare_blocks(&mut self, blocks: &[usize]) -> Result<()> {
        // One driver refuses an empty list.
        if blocks.is_empty() {
            return Ok(());
        }
        // SAFETY: the list holds the starts of live blocks of this context.
        call("clSetKernelExecInfo", || unsafe {
            cl::set_kernel_exec_info(self.raw, EXEC_INFO_SVM_PTRS, size_of_val(blocks), blocks.as_ptr().cast())
        })
    }

    unsafe fn set(&mut self, index: u32, bytes: usize, value: *const c_void) -> Result<()> {
        // SAFETY: the callers'.
        call("clSetKernelArg", || unsafe { cl::set_kernel_arg(self.raw, index, bytes, value) })
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        // SAFETY: this is the one reference that its creation gave us.
        let released = call("clReleaseKernel", || unsafe { cl::release_kernel(self.raw) });
        super::status::log_release(released);
    }
}
