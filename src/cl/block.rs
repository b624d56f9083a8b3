//! Blocks of memory: shared virtual memory, buffers, and host memory that the driver pinned.

use super::call::{Live, Object, call, raw};
use super::context::Context;
use super::queue::Queue;
use super::status::Result;
use cl3::memory::{
    CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE, CL_MEM_SVM_FINE_GRAIN_BUFFER,
    CL_MEM_USE_HOST_PTR,
};
use cl3::types::{cl_buffer_region, cl_context, cl_mem};
use std::ffi::c_void;
use std::ptr::{NonNull, null, null_mut};
use std::sync::Arc;

const BUFFER_CREATE_TYPE_REGION: u32 = 0x1220;

/// A block of shared virtual memory: one address for host and device.
#[derive(Debug)]
pub(crate) struct Svm {
    context: Arc<Context>,
    address: NonNull<c_void>,
    _live: Live,
}

// SAFETY: the block is a plain range of addresses that this value owns.
unsafe impl Send for Svm {}
// SAFETY: as above.
unsafe impl Sync for Svm {}

impl Svm {
    /// Allocates `bytes`, fine-grained where asked. A null answer of the driver is a failure.
    pub(crate) fn new(context: &Arc<Context>, bytes: usize, fine: bool) -> Result<Self> {
        let flags = CL_MEM_READ_WRITE | if fine { CL_MEM_SVM_FINE_GRAIN_BUFFER } else { 0 };
        // SAFETY: the flags are valid together; alignment 0 asks for the largest type's.
        let address = call("clSVMAlloc", || unsafe { cl3::memory::svm_alloc(context.raw(), flags, bytes, 0) })?;
        let address = NonNull::new(address).ok_or(super::Failure { entry: "clSVMAlloc", status: -30 })?;
        Ok(Self { context: Arc::clone(context), address, _live: Live::new(Object::Block) })
    }

    /// The first byte.
    pub(crate) fn address(&self) -> usize {
        self.address.as_ptr() as usize
    }

    /// Hands the first `bytes` to the host, in the order of `queue` and without waiting. Only a coarse-grained block
    /// needs it.
    pub(crate) fn map(&self, queue: &Queue, bytes: usize) -> Result<()> {
        let address = self.address.as_ptr();
        // SAFETY: the range is the block's own, which lives until the owner waited for the queue.
        call("clEnqueueSVMMap", || {
            raw!(clEnqueueSVMMap(
                queue.raw(),
                cl3::types::CL_FALSE,
                CL_MAP_READ | CL_MAP_WRITE,
                address,
                bytes,
                0,
                null(),
                null_mut(),
            ))
        })?;
        self.context.count_mapped(true);
        Ok(())
    }

    /// Hands the block back to the device, in the order of `queue` and without waiting.
    pub(crate) fn unmap(&self, queue: &Queue) -> Result<()> {
        let address = self.address.as_ptr();
        // SAFETY: unmaps what `map` mapped.
        call("clEnqueueSVMUnmap", || raw!(clEnqueueSVMUnmap(queue.raw(), address, 0, null(), null_mut())))?;
        self.context.count_mapped(false);
        Ok(())
    }

    /// The same for a block that goes: one that the driver keeps mapped counts no more.
    pub(crate) fn unmap_at_last(&self, queue: &Queue) -> Result<()> {
        self.unmap(queue).or_else(|_| self.unmap(queue)).inspect_err(|_| self.context.count_mapped(false))
    }

    /// The same memory as a buffer object (`CL_MEM_USE_HOST_PTR`), for the calls that take no address: rectangles and
    /// images. It has to be dropped before the block, and `bytes` are the block's.
    pub(crate) fn alias(&self, bytes: usize) -> Result<Buffer> {
        let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
        Buffer::with_flags(self.context.raw(), flags, bytes, self.address.as_ptr())
    }
}

impl Drop for Svm {
    fn drop(&mut self) {
        // SAFETY: the block came from this context, and the owner waited for the work that used it.
        let freed = call("clSVMFree", || unsafe { cl3::memory::svm_free(self.context.raw(), self.address.as_ptr()) });
        super::status::log_release(freed);
    }
}

/// A buffer object, or an aligned part of one.
#[derive(Debug)]
pub(crate) struct Buffer {
    raw: cl_mem,
    bytes: usize,
    _live: Live,
}

// SAFETY: OpenCL memory objects may be used from any thread.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// A buffer in device memory.
    pub(crate) fn new(context: &Context, bytes: usize) -> Result<Self> {
        Self::with_flags(context.raw(), CL_MEM_READ_WRITE, bytes, null_mut())
    }

    fn with_flags(context: cl_context, flags: u64, bytes: usize, host: *mut c_void) -> Result<Self> {
        // SAFETY: `host` is null, or `bytes` of host memory that outlive the buffer (see the callers).
        let raw = call("clCreateBuffer", || unsafe { cl3::memory::create_buffer(context, flags, bytes, host) })?;
        Ok(Self { raw, bytes, _live: Live::new(Object::Block) })
    }

    /// The part from `origin` on; `origin` has to be a multiple of the device's sub-buffer alignment.
    pub(crate) fn part(&self, origin: usize, bytes: usize) -> Result<Self> {
        let region = cl_buffer_region { origin, size: bytes };
        // SAFETY: the region outlives the call.
        let raw = call("clCreateSubBuffer", || unsafe {
            cl3::memory::create_sub_buffer(
                self.raw,
                CL_MEM_READ_WRITE,
                BUFFER_CREATE_TYPE_REGION,
                (&raw const region).cast(),
            )
        })?;
        Ok(Self { raw, bytes, _live: Live::new(Object::Block) })
    }

    /// Its size.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn raw(&self) -> cl_mem {
        self.raw
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: this is the one reference that its creation gave us.
        let released = call("clReleaseMemObject", || unsafe { cl3::memory::release_mem_object(self.raw) });
        super::status::log_release(released);
    }
}

/// Host memory that the driver allocated or pinned, mapped for the host as long as it lives.
#[derive(Debug)]
pub(crate) struct HostBuffer {
    buffer: Buffer,
    queue: Arc<Queue>,
    address: NonNull<c_void>,
    /// The memory, where it is ours. Ends after the buffer.
    _pages: Option<Pages>,
}

/// Pages of the process's own.
#[derive(Debug)]
struct Pages {
    start: NonNull<c_void>,
    bytes: usize,
}

impl Pages {
    fn new(bytes: usize) -> Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
        let start = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        let out_of_memory = super::Failure { entry: "mmap", status: cl3::error_codes::CL_OUT_OF_HOST_MEMORY };
        if start == libc::MAP_FAILED {
            return Err(out_of_memory);
        }
        Ok(Self { start: NonNull::new(start).ok_or(out_of_memory)?, bytes })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made, of which nothing is in use any more.
        let unmapped = unsafe { libc::munmap(self.start.as_ptr(), self.bytes) };
        debug_assert_eq!(unmapped, 0, "{}", std::io::Error::last_os_error());
    }
}

// SAFETY: the mapping is a plain range of host memory that this value owns.
unsafe impl Send for HostBuffer {}
// SAFETY: as above.
unsafe impl Sync for HostBuffer {}

impl HostBuffer {
    /// Allocates pinned memory (`CL_MEM_ALLOC_HOST_PTR`); `queue` carries the mapping.
    pub(crate) fn new(context: &Context, queue: &Arc<Queue>, bytes: usize) -> Result<Self> {
        let flags = CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
        Self::map(Buffer::with_flags(context.raw(), flags, bytes, null_mut())?, queue, bytes)
    }

    /// The same in pages of ours that the driver pins (`CL_MEM_USE_HOST_PTR`).
    pub(crate) fn in_own_pages(context: &Context, queue: &Arc<Queue>, bytes: usize) -> Result<Self> {
        let pages = Pages::new(bytes)?;
        // SAFETY: the pages live as long as the value.
        let mut pinned = unsafe { Self::over(context, queue, pages.start.as_ptr() as usize, bytes) }?;
        pinned._pages = Some(pages);
        Ok(pinned)
    }

    /// Pins memory that the program has (`CL_MEM_USE_HOST_PTR`).
    ///
    /// # Safety
    /// `host` has to stay valid for `bytes` until the value is dropped.
    pub(crate) unsafe fn over(context: &Context, queue: &Arc<Queue>, host: usize, bytes: usize) -> Result<Self> {
        let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
        Self::map(Buffer::with_flags(context.raw(), flags, bytes, host as *mut c_void)?, queue, bytes)
    }

    fn map(buffer: Buffer, queue: &Arc<Queue>, bytes: usize) -> Result<Self> {
        let mut address = null_mut();
        // SAFETY: the range is the whole buffer; `address` takes the mapping.
        call("clEnqueueMapBuffer", || unsafe {
            cl3::command_queue::enqueue_map_buffer(
                queue.raw(),
                buffer.raw(),
                cl3::types::CL_TRUE,
                CL_MAP_READ | CL_MAP_WRITE,
                0,
                bytes,
                &mut address,
                0,
                null(),
            )
        })
        .map(drop_event)?;
        let address = NonNull::new(address).ok_or(super::Failure { entry: "clEnqueueMapBuffer", status: -12 })?;
        Ok(Self { buffer, queue: Arc::clone(queue), address, _pages: None })
    }

    /// The first byte of the mapping.
    pub(crate) fn address(&self) -> usize {
        self.address.as_ptr() as usize
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        let (queue, memory, address) = (self.queue.raw(), self.buffer.raw(), self.address.as_ptr());
        // SAFETY: unmaps the one mapping that `map` made, without an event.
        let unmapped = call("clEnqueueUnmapMemObject", || {
            raw!(clEnqueueUnmapMemObject(queue, memory, address, 0, null(), null_mut()))
        });
        // The mapping's memory must not go before the unmap ran.
        let unmapped = unmapped.and_then(|()| self.queue.finish());
        if unmapped.is_err() {
            std::mem::forget(self._pages.take());
        }
        super::status::log_release(unmapped);
    }
}

/// Releases an event that a wrapper of cl3 asked for and nobody needs.
fn drop_event(event: cl3::types::cl_event) {
    drop(super::Event::own(event));
}
