//! Typed device memory with an owner.

use crate::error::{Error, ErrorKind, Result};
use crate::rt::copy::{Mode, Pattern, fill};
use crate::rt::device::Device;
use crate::rt::launch::args::{Argument, KernelArg};
use crate::rt::memory::{self, Allocation, Kind};
use crate::rt::stream::Stream;
use crate::trace;
use bytemuck::{Pod, Zeroable};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, Range, RangeBounds};
use std::sync::Arc;

/// `len` elements of `T` in the memory of one device.
///
/// Dropping it never waits: work that was given before still has the memory, which is reused when that work is done.
/// Clones are not cheap, so there is no `Clone`; use [`Stream::copy`].
pub struct DeviceBuffer<T> {
    allocation: Arc<Allocation>,
    len: usize,
    element: PhantomData<T>,
}

/// The bytes of so many elements.
pub(super) fn element_bytes<T>(len: usize) -> Result<usize> {
    len.checked_mul(size_of::<T>()).ok_or_else(|| {
        Error::new(ErrorKind::OutOfMemory, format!("elements of {} bytes each", size_of::<T>())).argument("len", len)
    })
}

impl<T: Pod> DeviceBuffer<T> {
    /// Memory with whatever is in it.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] when the device has no room.
    ///
    /// # Safety
    /// The contents are not defined until something is written there.
    pub unsafe fn uninit(device: Device, len: usize) -> Result<Self> {
        let allocation = memory::allocate(&device.context()?, element_bytes::<T>(len)?, Kind::Device)?;
        Ok(Self { allocation, len, element: PhantomData })
    }

    /// Memory full of zeros, in the order of `stream`.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] when the device has no room.
    pub fn zeroed(stream: &Stream, len: usize) -> Result<Self> {
        trace::observe("DeviceBuffer::zeroed", &[("stream", &stream), ("len", &len)], || {
            // SAFETY: filled before anything can read it.
            let mut buffer = unsafe { Self::uninit(stream.device(), len) }?;
            stream.fill(&mut buffer, 0)?;
            Ok(buffer)
        })
    }

    /// Memory with a copy of `data`, which may change as soon as this returns.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] when the device has no room.
    pub fn from_slice(stream: &Stream, data: &[T]) -> Result<Self> {
        trace::observe("DeviceBuffer::from_slice", &[("stream", &stream), ("len", &data.len())], || {
            // SAFETY: written before anything can read it.
            let mut buffer = unsafe { Self::uninit(stream.device(), data.len()) }?;
            stream.upload(data, &mut buffer)?;
            Ok(buffer)
        })
    }

    /// The contents, after all work of `stream` so far.
    ///
    /// # Errors
    /// What the device reported about that work.
    pub fn to_vec(&self, stream: &Stream) -> Result<Vec<T>> {
        trace::observe("DeviceBuffer::to_vec", &[("len", &self.len()), ("stream", &stream)], || {
            self.slice(..).to_vec(stream)
        })
    }
}

impl<T> DeviceBuffer<T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device whose memory it is.
    pub fn device(&self) -> Device {
        self.allocation.context().device()
    }

    /// The address of the first element. It names the memory and keeps nothing alive.
    pub fn as_device_ptr(&self) -> DevicePtr<T> {
        DevicePtr::at(self.allocation.base())
    }

    /// Part of the buffer, to read.
    ///
    /// # Panics
    /// When the range is not within the buffer, as slices do.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> DeviceSlice<'_, T> {
        let range = within(range, self.len);
        DeviceSlice { buffer: self, range }
    }

    /// Part of the buffer, to write.
    ///
    /// # Panics
    /// When the range is not within the buffer, as slices do.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> DeviceSliceMut<'_, T> {
        let range = within(range, self.len);
        DeviceSliceMut { buffer: self, range }
    }
}

impl<T> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        memory::give_up(&self.allocation);
    }
}

impl<T> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceBuffer")
            .field("element", &std::any::type_name::<T>())
            .field("len", &self.len)
            .field("device", &self.device())
            .finish()
    }
}

/// Part of a [`DeviceBuffer`], to read from and to give to kernels.
#[derive(Clone, Debug)]
pub struct DeviceSlice<'a, T> {
    buffer: &'a DeviceBuffer<T>,
    range: Range<usize>,
}

/// Part of a [`DeviceBuffer`], to write to and to give to kernels.
#[derive(Debug)]
pub struct DeviceSliceMut<'a, T> {
    buffer: &'a mut DeviceBuffer<T>,
    range: Range<usize>,
}

impl<T> DeviceSlice<'_, T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    pub(super) fn address(&self) -> usize {
        self.buffer.allocation.base() + self.range.start * size_of::<T>()
    }
}

impl<T: Pod> DeviceSlice<'_, T> {
    /// The contents, after all work of `stream` so far.
    ///
    /// # Errors
    /// What the device reported about that work.
    pub fn to_vec(&self, stream: &Stream) -> Result<Vec<T>> {
        let mut host = vec![T::zeroed(); self.len()];
        stream.download(self.clone(), &mut host)?;
        Ok(host)
    }
}

impl<T> DeviceSliceMut<'_, T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    pub(super) fn address(&self) -> usize {
        self.buffer.allocation.base() + self.range.start * size_of::<T>()
    }
}

/// A device address, for structures that kernels follow. Its size and layout are a kernel's pointer's; arithmetic
/// is in elements. For a kernel's own pointer parameter give the buffer or a slice of it instead.
#[repr(transparent)]
pub struct DevicePtr<T> {
    address: u64,
    element: PhantomData<T>,
}

// SAFETY: null is a pointer.
unsafe impl<T> Zeroable for DevicePtr<T> {}

// SAFETY: a 64-bit number without padding, and any bits are one.
unsafe impl<T: 'static> Pod for DevicePtr<T> {}

impl<T> DevicePtr<T> {
    /// The pointer to an address.
    pub(super) fn at(address: usize) -> Self {
        Self { address: address as u64, element: PhantomData }
    }

    /// The null pointer.
    pub const NULL: Self = Self { address: 0, element: PhantomData };

    /// The address.
    pub fn address(self) -> u64 {
        self.address
    }

    /// The pointer `elements` further on.
    #[must_use]
    #[allow(clippy::should_implement_trait, reason = "the name that pointers have for it")]
    pub fn add(self, elements: usize) -> Self {
        Self { address: self.address.wrapping_add((elements * size_of::<T>()) as u64), element: PhantomData }
    }
}

impl<T> Clone for DevicePtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DevicePtr<T> {}

impl<T> fmt::Debug for DevicePtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DevicePtr({:#x})", self.address)
    }
}

/// The argument for `len` elements at `address`; null where there are none, since nothing is at that address then.
fn pointer(address: usize, len: usize) -> Argument<'static> {
    Argument::pointer(if len == 0 { 0 } else { address })
}

// SAFETY: the buffer keeps its memory until the launch's work is done.
unsafe impl<T> KernelArg for DeviceBuffer<T> {
    fn argument(&self) -> Argument<'_> {
        pointer(self.allocation.base(), self.len)
    }
}

// SAFETY: as the buffer.
unsafe impl<T> KernelArg for &DeviceBuffer<T> {
    fn argument(&self) -> Argument<'_> {
        (**self).argument()
    }
}

// SAFETY: as the buffer.
unsafe impl<T> KernelArg for &mut DeviceBuffer<T> {
    fn argument(&self) -> Argument<'_> {
        (**self).argument()
    }
}

// SAFETY: as the buffer.
unsafe impl<T> KernelArg for DeviceSlice<'_, T> {
    fn argument(&self) -> Argument<'_> {
        pointer(self.address(), self.len())
    }
}

// SAFETY: as the buffer.
unsafe impl<T> KernelArg for DeviceSliceMut<'_, T> {
    fn argument(&self) -> Argument<'_> {
        pointer(self.address(), self.len())
    }
}

impl Stream {
    /// Sets every byte of `target` to `byte`, in stream order. [`Stream::fill_with`] sets elements.
    ///
    /// # Errors
    /// What the device reported about earlier work.
    pub fn fill<T: Pod>(&self, target: &mut DeviceBuffer<T>, byte: u8) -> Result<()> {
        trace::observe("Stream::fill", &[("stream", &self), ("len", &target.len()), ("byte", &byte)], || {
            let all = (target.len, size_of::<T>());
            fill::set(self, target.allocation.base(), &Pattern::byte(byte), all, Mode::Async)
        })
    }
}

/// A range of elements within `len`, as slices take it.
#[allow(clippy::panic, reason = "an index out of range is the caller's bug, as with slices")]
pub(super) fn within(range: impl RangeBounds<usize>, len: usize) -> Range<usize> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&start) => start.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&end) => end.saturating_add(1),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    if start > end || end > len {
        panic!("range {start}..{end} is not within a buffer of {len} elements");
    }
    start..end
}
