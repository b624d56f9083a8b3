//! Typed pinned host memory: the only host memory that asynchronous copies take.

use super::buffer::{element_bytes, within};
use crate::error::Result;
use crate::rt::device::Device;
use crate::rt::launch::args::{Argument, KernelArg};
use crate::rt::memory::{self, Allocation, host};
use crate::rt::stream::uses::Uses;
use crate::trace;
use bytemuck::Pod;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range, RangeBounds};
use std::sync::Arc;

/// `len` elements of `T` in pinned host memory.
///
/// A copy or a kernel may still be using it when the call that asked for it has returned, so the elements are reached
/// through guards, which wait for that: [`read`](Self::read) for what writes the buffer, [`write`](Self::write) for
/// all. Dropping the buffer never waits.
///
/// As an argument of a kernel it is read and written where it is, over the bus on a GPU (zero-copy). Devices that
/// cannot do that refuse the launch with [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported).
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
    uses: Uses,
    element: PhantomData<T>,
}

impl<T: Pod> PinnedBuffer<T> {
    /// Zeroed pinned memory, allocated through `device`; copies of any device take it.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory) when there is no more memory that can be pinned.
    pub fn new(device: Device, len: usize) -> Result<Self> {
        trace::observe("PinnedBuffer::new", &[("device", &device), ("len", &len)], || {
            let bytes = element_bytes::<T>(len)?;
            let allocation = match bytes {
                0 => None,
                _ => Some(host::allocate_pinned(&device.context()?, bytes, 0)?),
            };
            if let Some(allocation) = &allocation {
                // SAFETY: the memory is ours alone and that large.
                unsafe { std::ptr::write_bytes(allocation.base() as *mut u8, 0, bytes) };
            }
            Ok(Self { allocation, len, uses: Uses::default(), element: PhantomData })
        })
    }

    /// The elements to read, once what writes the buffer is done.
    ///
    /// # Errors
    /// What the device reported about that work.
    pub fn read(&self) -> Result<Reading<'_, T>> {
        self.uses.wait_for_writes()?;
        Ok(Reading { elements: self.elements() })
    }

    /// The elements to read and write, once what uses the buffer is done.
    ///
    /// # Errors
    /// What the device reported about that work.
    pub fn write(&mut self) -> Result<Writing<'_, T>> {
        self.uses.wait_for_all()?;
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

    /// The work that may still use the buffer.
    pub(super) fn uses(&self) -> &Uses {
        &self.uses
    }
}

// SAFETY: the memory lives until the last work that is noted here is done.
unsafe impl<T: Pod> KernelArg for PinnedBuffer<T> {
    fn argument(&self) -> Argument<'_> {
        Argument::shared(self.allocation.as_ref().map_or(0, |memory| memory.base()), &self.uses)
    }
}

impl<T> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        if let Some(allocation) = &self.allocation {
            memory::give_up_after(allocation, self.uses.take());
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
