//! In-order command queues. Enqueues ask for no event unless the caller needs one.

use super::block::Buffer;
use super::call::{Live, Object, call, raw};
use super::context::Context;
use super::event::Event;
use super::kernel::Kernel;
use super::status::Result;
use super::watch::{self, Kind, slot};
use cl3::command_queue::CL_QUEUE_PROFILING_ENABLE;
use cl3::types::{CL_FALSE, CL_TRUE, cl_bool, cl_command_queue, cl_event};
use smallvec::SmallVec;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

const QUEUE_PROPERTIES: u64 = 0x1093;
/// `cl_khr_priority_hints`.
const QUEUE_PRIORITY: u64 = 0x1096;

/// Whether an enqueue returns before the command is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Return at once; the operands have to stay until the command is done.
    No,
    /// Return when the command is done.
    ForIt,
}

impl Wait {
    fn flag(self) -> cl_bool {
        if self == Self::ForIt { CL_TRUE } else { CL_FALSE }
    }
}

/// A box of bytes that moves between a buffer and host memory: rows of `extent[0]` bytes, `extent[1]` to a slice,
/// `extent[2]` slices, and how far rows and slices are apart on either side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rect {
    pub(crate) extent: [usize; 3],
    pub(crate) buffer: [usize; 2],
    pub(crate) host: [usize; 2],
}

impl Rect {
    fn bytes(&self) -> usize {
        self.extent.iter().product()
    }
}

/// A hint of how urgent a queue is (`cl_khr_priority_hints`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    High = 1,
    Medium = 2,
}

/// An in-order queue; released when dropped, after which its commands still run to their end.
#[derive(Debug)]
pub(crate) struct Queue {
    raw: cl_command_queue,
    _live: Live,
}

// SAFETY: OpenCL queues may be used from any thread.
unsafe impl Send for Queue {}
// SAFETY: as above.
unsafe impl Sync for Queue {}

impl Queue {
    /// Makes a queue; with `profiling` its markers carry times, and each event of it costs more.
    pub(crate) fn new(context: &Context, profiling: bool, priority: Option<Priority>) -> Result<Self> {
        let mut properties: SmallVec<[u64; 5]> = SmallVec::new();
        let profiling = profiling || watch::is_on();
        if profiling {
            properties.extend([QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE]);
        }
        if let Some(priority) = priority {
            properties.extend([QUEUE_PRIORITY, priority as u64]);
        }
        properties.push(0);
        let raw = call("clCreateCommandQueueWithProperties", || {
            // SAFETY: the device is the context's own and the list ends with 0.
            let with = unsafe {
                cl3::command_queue::create_command_queue_with_properties(
                    context.raw(),
                    context.device(),
                    properties.as_ptr(),
                )
            };
            // Devices before OpenCL 2.0 lack that entry point.
            with.or_else(|status| if priority.is_none() { Self::plain(context, profiling) } else { Err(status) })
        })?;
        Ok(Self { raw, _live: Live::new(Object::Queue) })
    }

    #[allow(deprecated, reason = "the only way to make a queue on an OpenCL 1.x device")]
    fn plain(context: &Context, profiling: bool) -> Result<cl_command_queue, i32> {
        let properties = if profiling { CL_QUEUE_PROFILING_ENABLE } else { 0 };
        // SAFETY: the device is the context's own.
        unsafe { cl3::command_queue::create_command_queue(context.raw(), context.device(), properties) }
    }

    pub(super) fn raw(&self) -> cl_command_queue {
        self.raw
    }

    /// Hands what is queued to the device. Without it some drivers never start the work.
    pub(crate) fn flush(&self) -> Result<()> {
        call("clFlush", || cl3::command_queue::flush(self.raw))
    }

    /// Blocks until everything queued so far is done.
    pub(crate) fn finish(&self) -> Result<()> {
        call("clFinish", || cl3::command_queue::finish(self.raw))
    }

    /// A marker behind everything queued so far.
    pub(crate) fn marker(&self) -> Result<Event> {
        // SAFETY: an empty wait list is passed as null.
        let raw = call("clEnqueueMarkerWithWaitList", || unsafe {
            cl3::command_queue::enqueue_marker_with_wait_list(self.raw, 0, null())
        })?;
        Ok(Event::own(raw))
    }

    /// Holds later commands until `events` are complete. Their queues have to be flushed.
    pub(crate) fn barrier(&self, events: &[&Event]) -> Result<()> {
        let list: SmallVec<[cl_event; 8]> = events.iter().map(|event| event.raw()).collect();
        if list.is_empty() {
            return Ok(());
        }
        // SAFETY: the list holds live events of this queue's context and outlives the call.
        call("clEnqueueBarrierWithWaitList", || {
            raw!(clEnqueueBarrierWithWaitList(self.raw, list.len() as u32, list.as_ptr(), null_mut()))
        })
    }

    /// Runs `kernel` over `global` work items in groups of `local`.
    pub(crate) fn run(&self, kernel: &Kernel, global: &[usize; 3], local: &[usize; 3], dims: u32) -> Result<()> {
        // SAFETY: all arguments are set (checked against the signature), and the sizes have three entries.
        call("clEnqueueNDRangeKernel", || {
            raw!(clEnqueueNDRangeKernel(
                self.raw,
                kernel.raw(),
                dims,
                null(),
                global.as_ptr(),
                local.as_ptr(),
                0,
                null(),
                slot(Kind::Kernel, 0),
            ))
        })
    }

    /// Copies between two addresses, each of which is shared virtual memory or, where the driver takes it, memory
    /// of the host.
    ///
    /// # Safety
    /// Both ranges have to be valid until the command is done, and must not overlap.
    pub(crate) unsafe fn copy_svm(&self, to: usize, from: usize, bytes: usize, wait: Wait) -> Result<()> {
        // SAFETY: the caller's.
        call("clEnqueueSVMMemcpy", || {
            raw!(clEnqueueSVMMemcpy(
                self.raw,
                wait.flag(),
                to as *mut c_void,
                from as *const c_void,
                bytes,
                0,
                null(),
                slot(Kind::Copy, bytes),
            ))
        })
    }

    /// Moves shared virtual memory to where the queue's device, or the host, reaches it soonest. A hint.
    ///
    /// # Safety
    /// The range has to be valid until the command is done.
    pub(crate) unsafe fn migrate_svm(&self, address: usize, bytes: usize, to_host: bool) -> Result<()> {
        let pointer = address as *const c_void;
        let flags = if to_host { cl3::memory::CL_MIGRATE_MEM_OBJECT_HOST } else { 0 };
        // SAFETY: the caller's; the two lists have an entry each.
        call("clEnqueueSVMMigrateMem", || {
            raw!(clEnqueueSVMMigrateMem(
                self.raw,
                1,
                (&raw const pointer).cast_mut(),
                &raw const bytes,
                flags,
                0,
                null(),
                slot(Kind::Migrate, bytes),
            ))
        })
    }

    /// Writes host memory into a buffer.
    ///
    /// # Safety
    /// `from` has to be readable until the command is done, and the range has to lie in the buffer.
    pub(crate) unsafe fn write(&self, to: &Buffer, at: usize, from: usize, bytes: usize, wait: Wait) -> Result<()> {
        // SAFETY: the caller's.
        call("clEnqueueWriteBuffer", || {
            raw!(clEnqueueWriteBuffer(
                self.raw,
                to.raw(),
                wait.flag(),
                at,
                bytes,
                from as *const c_void,
                0,
                null(),
                slot(Kind::Write, bytes),
            ))
        })
    }

    /// Reads a buffer into host memory.
    ///
    /// # Safety
    /// `to` has to be writable until the command is done, and the range has to lie in the buffer.
    pub(crate) unsafe fn read(&self, from: &Buffer, at: usize, to: usize, bytes: usize, wait: Wait) -> Result<()> {
        // SAFETY: the caller's.
        call("clEnqueueReadBuffer", || {
            raw!(clEnqueueReadBuffer(
                self.raw,
                from.raw(),
                wait.flag(),
                at,
                bytes,
                to as *mut c_void,
                0,
                null(),
                slot(Kind::Read, bytes),
            ))
        })
    }

    /// Writes a box of host memory into a buffer from byte `at` on, in one command.
    ///
    /// # Safety
    /// `from` has to be readable until the command is done, and the box has to lie in the buffer.
    pub(crate) unsafe fn write_rect(&self, to: &Buffer, at: usize, from: usize, rect: &Rect) -> Result<()> {
        let (origin, zero) = ([at, 0, 0], [0; 3]);
        // SAFETY: the caller's.
        call("clEnqueueWriteBufferRect", || {
            raw!(clEnqueueWriteBufferRect(
                self.raw,
                to.raw(),
                CL_FALSE,
                origin.as_ptr(),
                zero.as_ptr(),
                rect.extent.as_ptr(),
                rect.buffer[0],
                rect.buffer[1],
                rect.host[0],
                rect.host[1],
                from as *const c_void,
                0,
                null(),
                slot(Kind::Write, rect.bytes()),
            ))
        })
    }

    /// Reads a box of a buffer, from byte `at` on, into host memory, in one command.
    ///
    /// # Safety
    /// `to` has to be writable until the command is done, and the box has to lie in the buffer.
    pub(crate) unsafe fn read_rect(&self, from: &Buffer, at: usize, to: usize, rect: &Rect) -> Result<()> {
        let (origin, zero) = ([at, 0, 0], [0; 3]);
        // SAFETY: the caller's.
        call("clEnqueueReadBufferRect", || {
            raw!(clEnqueueReadBufferRect(
                self.raw,
                from.raw(),
                CL_FALSE,
                origin.as_ptr(),
                zero.as_ptr(),
                rect.extent.as_ptr(),
                rect.buffer[0],
                rect.buffer[1],
                rect.host[0],
                rect.host[1],
                to as *mut c_void,
                0,
                null(),
                slot(Kind::Read, rect.bytes()),
            ))
        })
    }

    /// Copies between buffers, or within one where the ranges do not overlap.
    pub(crate) fn copy(&self, to: (&Buffer, usize), from: (&Buffer, usize), bytes: usize) -> Result<()> {
        // SAFETY: the runtime has checked both ranges; OpenCL refuses an overlap.
        call("clEnqueueCopyBuffer", || {
            raw!(clEnqueueCopyBuffer(
                self.raw,
                from.0.raw(),
                to.0.raw(),
                from.1,
                to.1,
                bytes,
                0,
                null(),
                slot(Kind::Copy, bytes),
            ))
        })
    }

    /// Fills shared virtual memory with a pattern of 1, 2, 4, 8 or 16 bytes, at a multiple of its length.
    ///
    /// # Safety
    /// The range has to be valid until the command is done.
    pub(crate) unsafe fn fill_svm(&self, to: usize, pattern: &[u8], bytes: usize) -> Result<()> {
        // SAFETY: the caller's; the pattern is copied by the call.
        call("clEnqueueSVMMemFill", || {
            raw!(clEnqueueSVMMemFill(
                self.raw,
                to as *mut c_void,
                pattern.as_ptr().cast(),
                pattern.len(),
                bytes,
                0,
                null(),
                slot(Kind::Fill, bytes),
            ))
        })
    }

    /// Fills part of a buffer in the same way.
    pub(crate) fn fill(&self, to: &Buffer, at: usize, pattern: &[u8], bytes: usize) -> Result<()> {
        // SAFETY: the runtime has checked the range; the pattern is copied by the call.
        call("clEnqueueFillBuffer", || {
            raw!(clEnqueueFillBuffer(
                self.raw,
                to.raw(),
                pattern.as_ptr().cast(),
                pattern.len(),
                at,
                bytes,
                0,
                null(),
                slot(Kind::Fill, bytes),
            ))
        })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: this is the one reference that its creation gave us. Releasing flushes and does not wait.
        let released = call("clReleaseCommandQueue", || unsafe { cl3::command_queue::release_command_queue(self.raw) });
        super::status::log_release(released);
    }
}
