//! Plain OpenCL through cl-sys: the work that gridcl is measured against, as a careful C program would do it.
//!
//! One in-order queue without properties, enqueues that neither block nor ask for an event, `clFinish` to wait.
//! Memory is of the kind that gridcl uses on the device. Every function is one OpenCL call; a failure ends the program.
//! Objects live as long as the program, but for blocks, which [`Block::free`] gives back.

#![allow(dead_code, reason = "no benchmark needs all of it")]

use cl_sys::*;
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

/// The kinds of device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    FineSvm,
    CoarseSvm,
    Buffer,
}

impl Form {
    /// The kind behind a word of `GRIDCL_MEMORY`.
    pub(crate) fn named(word: &str) -> Self {
        match word {
            "svm" => Self::FineSvm,
            "coarse" => Self::CoarseSvm,
            _ => Self::Buffer,
        }
    }
}

/// A context of one device, and its queue.
pub(crate) struct Raw {
    device: cl_device_id,
    context: cl_context,
    queue: cl_command_queue,
}

// SAFETY: OpenCL's objects may be used from any thread, and each call here is one of OpenCL's.
unsafe impl Sync for Raw {}

impl Raw {
    /// Opens the device with that name of the platform with that name.
    pub(crate) fn open(platform: &str, name: &str) -> Self {
        Self::open_with(platform, name, &[])
    }

    /// The same with a queue that keeps times.
    pub(crate) fn open_profiling(platform: &str, name: &str) -> Self {
        Self::open_with(platform, name, &[CL_QUEUE_PROPERTIES as u64, CL_QUEUE_PROFILING_ENABLE])
    }

    fn open_with(platform: &str, name: &str, properties: &[u64]) -> Self {
        let device = find(platform, name);
        let mut status = CL_SUCCESS;
        let properties = [properties, &[0]].concat();
        // SAFETY: the device was just found; null and 0 stand for what is left out, and the list ends with 0.
        unsafe {
            let context = clCreateContext(null(), 1, &device, None, null_mut(), &mut status);
            check("clCreateContext", status);
            let queue = clCreateCommandQueueWithProperties(context, device, properties.as_ptr(), &mut status);
            check("clCreateCommandQueueWithProperties", status);
            Self { device, context, queue }
        }
    }

    /// Builds a text and answers one of its kernels.
    pub(crate) fn kernel(&self, source: &str, name: &str) -> RawKernel {
        let name = CString::new(name).expect("a name without NUL");
        let mut status = CL_SUCCESS;
        // SAFETY: the text is as long as said; the strings outlive their calls.
        unsafe {
            let text = source.as_ptr().cast();
            let program = clCreateProgramWithSource(self.context, 1, &text, &source.len(), &mut status);
            check("clCreateProgramWithSource", status);
            check("clBuildProgram", clBuildProgram(program, 1, &self.device, null(), None, null_mut()));
            let kernel = clCreateKernel(program, name.as_ptr(), &mut status);
            check("clCreateKernel", status);
            RawKernel(kernel)
        }
    }

    /// Allocates device memory.
    pub(crate) fn block(&self, form: Form, bytes: usize) -> Block {
        let svm = |flags| {
            // SAFETY: alignment 0 is the driver's own choice.
            let address = unsafe { clSVMAlloc(self.context, CL_MEM_READ_WRITE | flags, bytes, 0) };
            assert!(!address.is_null(), "clSVMAlloc gave nothing for {bytes} bytes");
            Block::Svm(address)
        };
        match form {
            Form::FineSvm => svm(CL_MEM_SVM_FINE_GRAIN_BUFFER),
            Form::CoarseSvm => svm(0),
            Form::Buffer => Block::Buffer(self.buffer(CL_MEM_READ_WRITE, bytes)),
        }
    }

    /// Allocates pinned host memory, and maps it for good.
    pub(crate) fn pinned(&self, bytes: usize) -> *mut c_void {
        let buffer = self.buffer(CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes);
        let mut status = CL_SUCCESS;
        let flags = CL_MAP_READ | CL_MAP_WRITE;
        // SAFETY: the range is the whole buffer.
        let address = unsafe {
            clEnqueueMapBuffer(self.queue, buffer, CL_TRUE, flags, 0, bytes, 0, null(), null_mut(), &mut status)
        };
        check("clEnqueueMapBuffer", status);
        address
    }

    fn buffer(&self, flags: cl_mem_flags, bytes: usize) -> cl_mem {
        let mut status = CL_SUCCESS;
        // SAFETY: no host memory is given.
        let buffer = unsafe { clCreateBuffer(self.context, flags, bytes, null_mut(), &mut status) };
        check("clCreateBuffer", status);
        buffer
    }

    /// Launches a kernel whose arguments are set.
    #[inline]
    pub(crate) fn launch(&self, kernel: &RawKernel, global: usize, local: usize) {
        // SAFETY: one dimension, one size each.
        check("clEnqueueNDRangeKernel", unsafe {
            clEnqueueNDRangeKernel(self.queue, kernel.0, 1, null(), &global, &local, 0, null(), null_mut())
        });
    }

    /// Puts a marker behind the work so far, and gives its event up again.
    #[inline]
    pub(crate) fn mark(&self) {
        release(self.record());
    }

    /// Puts a marker behind the work so far; its event has to be given to [`release`] once.
    #[inline]
    pub(crate) fn record(&self) -> cl_event {
        let mut event = null_mut();
        // SAFETY: no wait list, and room for the event.
        check("clEnqueueMarker", unsafe { clEnqueueMarkerWithWaitList(self.queue, 0, null(), &mut event) });
        event
    }

    /// Holds the queue's later work until an event of any queue of the context is complete.
    #[inline]
    pub(crate) fn wait_for(&self, event: cl_event) {
        // SAFETY: one live event.
        check("clEnqueueBarrier", unsafe { clEnqueueBarrierWithWaitList(self.queue, 1, &event, null_mut()) });
    }

    /// Hands the queue's work to the device.
    #[inline]
    pub(crate) fn flush(&self) {
        // SAFETY: a live queue.
        check("clFlush", unsafe { clFlush(self.queue) });
    }

    /// The same context with another queue.
    pub(crate) fn beside(&self) -> Self {
        let mut status = CL_SUCCESS;
        // SAFETY: a live context and its device; no properties.
        let queue = unsafe { clCreateCommandQueueWithProperties(self.context, self.device, null(), &mut status) };
        check("clCreateCommandQueueWithProperties", status);
        Self { device: self.device, context: self.context, queue }
    }

    /// Launches a kernel between two markers, waits, and answers in nanoseconds how long it ran and how far apart the
    /// markers ended. The queue has to keep times.
    pub(crate) fn time(&self, kernel: &RawKernel, global: usize, local: usize) -> (u64, u64) {
        let mut events = [null_mut(); 3];
        let [before, run, after] = &mut events;
        // SAFETY: one dimension, one size each; each enqueue gives an event, which is released once.
        unsafe {
            check("clEnqueueMarker", clEnqueueMarkerWithWaitList(self.queue, 0, null(), before));
            check(
                "clEnqueueNDRangeKernel",
                clEnqueueNDRangeKernel(self.queue, kernel.0, 1, null(), &global, &local, 0, null(), run),
            );
            check("clEnqueueMarker", clEnqueueMarkerWithWaitList(self.queue, 0, null(), after));
            check("clWaitForEvents", clWaitForEvents(1, after));
            let [before, run, after] = events;
            let times = (
                at(run, CL_PROFILING_COMMAND_END) - at(run, CL_PROFILING_COMMAND_START),
                at(after, CL_PROFILING_COMMAND_END).saturating_sub(at(before, CL_PROFILING_COMMAND_END)),
            );
            for event in events {
                check("clReleaseEvent", clReleaseEvent(event));
            }
            times
        }
    }

    /// What the device says its clock can tell apart, in nanoseconds.
    pub(crate) fn clock_step(&self) -> usize {
        let mut step = 0_usize;
        let to = (&raw mut step).cast();
        // SAFETY: a live device, and room for the answer.
        check("clGetDeviceInfo", unsafe {
            clGetDeviceInfo(self.device, CL_DEVICE_PROFILING_TIMER_RESOLUTION, size_of::<usize>(), to, null_mut())
        });
        step
    }

    /// Copies host memory to the start of a block.
    #[inline]
    pub(crate) fn upload(&self, to: &Block, from: *const c_void, bytes: usize) {
        // SAFETY: both are as long as the callers made them, and stay.
        unsafe {
            match to {
                Block::Svm(to) => self.copy_svm(*to, from, bytes),
                Block::Buffer(to) => check(
                    "clEnqueueWriteBuffer",
                    clEnqueueWriteBuffer(self.queue, *to, CL_FALSE, 0, bytes, from, 0, null(), null_mut()),
                ),
            }
        }
    }

    /// Copies the start of a block to host memory.
    #[inline]
    pub(crate) fn download(&self, to: *mut c_void, from: &Block, bytes: usize) {
        // SAFETY: as above.
        unsafe {
            match from {
                Block::Svm(from) => self.copy_svm(to, *from, bytes),
                Block::Buffer(from) => check(
                    "clEnqueueReadBuffer",
                    clEnqueueReadBuffer(self.queue, *from, CL_FALSE, 0, bytes, to, 0, null(), null_mut()),
                ),
            }
        }
    }

    /// Copies the start of a block to that of another, of the same kind.
    #[inline]
    pub(crate) fn copy(&self, to: &Block, from: &Block, bytes: usize) {
        // SAFETY: as above.
        unsafe {
            match (to, from) {
                (Block::Buffer(to), Block::Buffer(from)) => check(
                    "clEnqueueCopyBuffer",
                    clEnqueueCopyBuffer(self.queue, *from, *to, 0, 0, bytes, 0, null(), null_mut()),
                ),
                (Block::Svm(to), Block::Svm(from)) => self.copy_svm(*to, *from, bytes),
                _ => unreachable!("blocks of one kind"),
            }
        }
    }

    /// # Safety
    /// Both ranges have to be valid until the copy is done.
    #[inline]
    unsafe fn copy_svm(&self, to: *mut c_void, from: *const c_void, bytes: usize) {
        // SAFETY: the caller's.
        check("clEnqueueSVMMemcpy", unsafe {
            clEnqueueSVMMemcpy(self.queue, CL_FALSE, to, from, bytes, 0, null(), null_mut())
        });
    }

    /// Fills the start of a block with a byte.
    #[inline]
    pub(crate) fn fill(&self, to: &Block, byte: u8, bytes: usize) {
        let pattern = (&raw const byte).cast();
        // SAFETY: the block is that long, and the pattern is copied by the call.
        unsafe {
            match to {
                Block::Svm(to) => check(
                    "clEnqueueSVMMemFill",
                    clEnqueueSVMMemFill(self.queue, *to, pattern, 1, bytes, 0, null(), null_mut()),
                ),
                Block::Buffer(to) => check(
                    "clEnqueueFillBuffer",
                    clEnqueueFillBuffer(self.queue, *to, pattern, 1, 0, bytes, 0, null(), null_mut()),
                ),
            }
        }
    }

    /// Fills part of a block with a pattern, at a multiple of its length.
    #[inline]
    pub(crate) fn fill_with(&self, to: &Block, pattern: &[u8], at: usize, bytes: usize) {
        let (value, width) = (pattern.as_ptr().cast(), pattern.len());
        // SAFETY: the block is that long, and the pattern is copied by the call.
        unsafe {
            match to {
                Block::Svm(to) => check(
                    "clEnqueueSVMMemFill",
                    clEnqueueSVMMemFill(
                        self.queue,
                        to.wrapping_byte_add(at),
                        value,
                        width,
                        bytes,
                        0,
                        null(),
                        null_mut(),
                    ),
                ),
                Block::Buffer(to) => check(
                    "clEnqueueFillBuffer",
                    clEnqueueFillBuffer(self.queue, *to, value, width, at, bytes, 0, null(), null_mut()),
                ),
            }
        }
    }

    /// Waits until all of the queue is done.
    #[inline]
    pub(crate) fn finish(&self) {
        // SAFETY: a live queue.
        check("clFinish", unsafe { clFinish(self.queue) });
    }
}

/// Device memory.
pub(crate) enum Block {
    Svm(*mut c_void),
    Buffer(cl_mem),
}

// SAFETY: an address that is not followed, or a handle.
unsafe impl Sync for Block {}

impl Block {
    /// Gives it back. No work may use it any more.
    pub(crate) fn free(self, raw: &Raw) {
        // SAFETY: allocated by `Raw::block`, and given back once.
        unsafe {
            match self {
                Self::Svm(address) => clSVMFree(raw.context, address),
                Self::Buffer(buffer) => check("clReleaseMemObject", clReleaseMemObject(buffer)),
            }
        }
    }
}

/// A kernel object. Setting arguments is for one thread at a time.
pub(crate) struct RawKernel(cl_kernel);

// SAFETY: as for `Raw`; the benchmarks use each from one thread at a time.
unsafe impl Sync for RawKernel {}

impl RawKernel {
    /// Passes a pointer to a block.
    #[inline]
    pub(crate) fn set_block(&self, index: u32, block: &Block) {
        match block {
            Block::Svm(address) => {
                // SAFETY: a live block of the kernel's context.
                let status = unsafe { clSetKernelArgSVMPointer(self.0, index, *address) };
                check("clSetKernelArgSVMPointer", status);
            }
            Block::Buffer(buffer) => self.set(index, buffer),
        }
    }

    /// Passes a value.
    #[inline]
    pub(crate) fn set<T>(&self, index: u32, value: &T) {
        // SAFETY: the value's own size and address; the driver copies it.
        check("clSetKernelArg", unsafe {
            clSetKernelArg(self.0, index, size_of::<T>(), std::ptr::from_ref(value).cast())
        });
    }
}

/// Gives an event up.
#[inline]
pub(crate) fn release(event: cl_event) {
    // SAFETY: the one reference that the enqueue gave.
    check("clReleaseEvent", unsafe { clReleaseEvent(event) });
}

/// One of the times of a command that is complete.
///
/// # Safety
/// The event has to be live, and of a queue that keeps times.
unsafe fn at(event: cl_event, what: cl_profiling_info) -> u64 {
    let mut time = 0_u64;
    // SAFETY: the caller's, and room for the answer.
    check("clGetEventProfilingInfo", unsafe {
        clGetEventProfilingInfo(event, what, size_of::<u64>(), (&raw mut time).cast(), null_mut())
    });
    time
}

fn find(platform_name: &str, device_name: &str) -> cl_device_id {
    let platforms = list(|len, items, count| {
        // SAFETY: there is room for `len` items.
        unsafe { clGetPlatformIDs(len, items, count) }
    });
    for platform in platforms {
        // SAFETY: a live platform, and as much room as said.
        let name =
            text(|len, bytes, count| unsafe { clGetPlatformInfo(platform, CL_PLATFORM_NAME, len, bytes, count) });
        if name != platform_name {
            continue;
        }
        let devices = list(|len, items, count| {
            // SAFETY: as above.
            unsafe { clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, len, items, count) }
        });
        for device in devices {
            // SAFETY: as above.
            let name = text(|len, bytes, count| unsafe { clGetDeviceInfo(device, CL_DEVICE_NAME, len, bytes, count) });
            if name == device_name {
                return device;
            }
        }
    }
    panic!("no device \"{device_name}\" of \"{platform_name}\"");
}

/// Asks for a list twice: how long it is, then what is in it. None is an empty list.
fn list(ask: impl Fn(cl_uint, *mut *mut c_void, *mut cl_uint) -> cl_int) -> Vec<*mut c_void> {
    let mut count = 0;
    if ask(0, null_mut(), &mut count) != CL_SUCCESS {
        return Vec::new();
    }
    let mut items = vec![null_mut(); count as usize];
    check("clGet…IDs", ask(count, items.as_mut_ptr(), null_mut()));
    items
}

/// Asks for a text twice: how long it is, then what it says.
fn text(ask: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> String {
    let mut len = 0;
    check("clGet…Info", ask(0, null_mut(), &mut len));
    let mut bytes = vec![0_u8; len];
    check("clGet…Info", ask(len, bytes.as_mut_ptr().cast(), null_mut()));
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').trim().to_owned()
}

#[inline]
fn check(entry: &str, status: cl_int) {
    assert_eq!(status, CL_SUCCESS, "{entry}");
}
