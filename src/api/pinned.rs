//! Typed pinned host memory: the only host memory that asynchronous copies take.

use super::buffer::within;
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use crate::rt::device::Device;
use crate::rt::memory::{self, Allocation, host};
use crate::rt::stream::Stream;
use crate::rt::stream::lanes::Ticket;
use bytemuck::Pod;
use parking_lot::Mutex;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range, RangeBounds};
use std::sync::Arc;

/// `len` elements of `T` in pinned host memory.
///
/// A copy may still be reading or writing it when the call that asked for the copy has returned, so the elements are
/// reached through guards, which wait for that: [`read`](Self::read) for copies into the buffer,
/// [`write`](Self::write) for all. Dropping the buffer never waits.
///
/// ```
/// use gridcl::{Device, DeviceBuffer, PinnedBuffer};
/// let device = Device::get(0)?;
/// let stream = device.create_stream()?;
/// let mut host = PinnedBuffer::<u32>::new(device, 4)?;
/// host.write()?.copy_from_slice(&[1, 2, 3, 4]);
/// let mut there = DeviceBuffer::<u32>::zeroed(&stream, 4)?;
/// let mut back = PinnedBuffer::<u32>::new(device, 4)?;
/// stream.copy(&host, &mut there)?;
/// stream.copy(&there, &mut back)?;
/// assert_eq!(*back.read()?, [1, 2, 3, 4]);
/// # Ok::<(), gridcl::Error>(())
/// ```
pub struct PinnedBuffer<T> {
    allocation: Option<Arc<Allocation>>,
    len: usize,
    uses: Mutex<Uses>,
    element: PhantomData<T>,
}

/// Work that may not be done with the buffer.
#[derive(Default)]
struct Uses {
    reads: Vec<(Arc<Context>, Ticket)>,
    writes: Vec<(Arc<Context>, Ticket)>,
}

impl<T: Pod> PinnedBuffer<T> {
    /// Zeroed pinned memory, allocated through `device`; copies of any device take it.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] when there is no more memory that can be pinned.
    pub fn new(device: Device, len: usize) -> Result<Self> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or_else(|| {
            Error::new(ErrorKind::OutOfMemory, format!("elements of {} bytes each", size_of::<T>()))
                .argument("len", len)
        })?;
        let allocation = match bytes {
            0 => None,
            _ => Some(host::allocate_pinned(&device.context()?, bytes, 0)?),
        };
        if let Some(allocation) = &allocation {
            // SAFETY: the memory is ours alone and that large.
            unsafe { std::ptr::write_bytes(allocation.base() as *mut u8, 0, bytes) };
        }
        Ok(Self { allocation, len, uses: Mutex::default(), element: PhantomData })
    }

    /// The elements to read, once copies into the buffer are done.
    ///
    /// # Errors
    /// What the device reported about those copies.
    pub fn read(&self) -> Result<Reading<'_, T>> {
        self.wait_for_writes()?;
        Ok(Reading { elements: self.elements() })
    }

    /// The elements to read and write, once all copies with the buffer are done.
    ///
    /// # Errors
    /// What the device reported about those copies.
    pub fn write(&mut self) -> Result<Writing<'_, T>> {
        self.wait_for_all()?;
        let (start, len) = (self.start(), self.len);
        // SAFETY: the memory is ours, initialised, as long as `self`, and nothing else uses it.
        Ok(Writing { elements: unsafe { std::slice::from_raw_parts_mut(start, len) } })
    }

    fn elements(&self) -> &[T] {
        // SAFETY: the memory is ours, initialised and as long as `self`; nothing writes to it while a guard borrows
        // the buffer, because copies into it take `&mut`.
        unsafe { std::slice::from_raw_parts(self.start(), self.len) }
    }
}

impl<T> PinnedBuffer<T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Part of the buffer, to copy from.
    ///
    /// # Panics
    /// When the range is not within the buffer, as slices do.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> PinnedSlice<'_, T> {
        PinnedSlice { range: within(range, self.len), buffer: self }
    }

    /// Part of the buffer, to copy to.
    ///
    /// # Panics
    /// When the range is not within the buffer, as slices do.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> PinnedSliceMut<'_, T> {
        PinnedSliceMut { range: within(range, self.len), buffer: self }
    }

    fn start(&self) -> *mut T {
        self.allocation.as_ref().map_or(std::ptr::NonNull::dangling().as_ptr(), |memory| memory.base() as *mut T)
    }

    pub(super) fn address(&self) -> usize {
        self.start() as usize
    }

    /// Waits for the copies into the buffer. They stay listed until they are over: another thread, or a call after a
    /// failure, has to wait as well.
    pub(super) fn wait_for_writes(&self) -> Result<()> {
        let writes = self.uses.lock().writes.clone();
        wait(&writes)?;
        self.uses.lock().writes.retain(|(_, ticket)| !ticket.is_done());
        Ok(())
    }

    /// Waits for the copies in both directions.
    pub(super) fn wait_for_all(&self) -> Result<()> {
        let reads = self.uses.lock().reads.clone();
        wait(&reads)?;
        self.uses.lock().reads.retain(|(_, ticket)| !ticket.is_done());
        self.wait_for_writes()
    }

    pub(super) fn read_by(&self, stream: &Stream) {
        note(&mut self.uses.lock().reads, stream);
    }

    pub(super) fn written_by(&self, stream: &Stream) {
        note(&mut self.uses.lock().writes, stream);
    }
}

fn note(uses: &mut Vec<(Arc<Context>, Ticket)>, stream: &Stream) {
    uses.retain(|(_, ticket)| !ticket.is_done());
    if let Some(ticket) = stream.ticket() {
        uses.push((Arc::clone(stream.context()), ticket));
    }
}

fn wait(uses: &[(Arc<Context>, Ticket)]) -> Result<()> {
    uses.iter().try_for_each(|(context, ticket)| context.wait_until(ticket))
}

impl<T> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        let Uses { reads, writes } = std::mem::take(self.uses.get_mut());
        if let Some(allocation) = &self.allocation {
            let tickets = reads.into_iter().chain(writes).map(|(_, ticket)| ticket).collect();
            memory::give_up_after(allocation, tickets);
        }
    }
}

impl<T> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedBuffer")
            .field("element", &std::any::type_name::<T>())
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

/// Part of a [`PinnedBuffer`], to copy from.
#[derive(Clone, Debug)]
pub struct PinnedSlice<'a, T> {
    pub(super) buffer: &'a PinnedBuffer<T>,
    pub(super) range: Range<usize>,
}

/// Part of a [`PinnedBuffer`], to copy to.
#[derive(Debug)]
pub struct PinnedSliceMut<'a, T> {
    pub(super) buffer: &'a mut PinnedBuffer<T>,
    pub(super) range: Range<usize>,
}

/// The elements of a [`PinnedBuffer`] while no copy writes to it.
#[derive(Debug)]
pub struct Reading<'a, T> {
    elements: &'a [T],
}

impl<T> Deref for Reading<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.elements
    }
}

/// The elements of a [`PinnedBuffer`] while no copy uses it.
#[derive(Debug)]
pub struct Writing<'a, T> {
    elements: &'a mut [T],
}

impl<T> Deref for Writing<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.elements
    }
}

impl<T> DerefMut for Writing<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.elements
    }
}
