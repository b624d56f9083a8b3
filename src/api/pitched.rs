//! Typed device memory in rows that are padded to a pitch: images and volumes.

use super::buffer::{DevicePtr, within};
use super::copy::sealed::{End, Flat};
use super::copy::{Source, Target};
use super::layout::{Layout, Shape};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::copy::shape::MAX_PITCH;
use crate::rt::copy::{Mode, Pitch, fill_box};
use crate::rt::device::Device;
use crate::rt::launch::args::{Argument, KernelArg};
use crate::rt::memory::{self, Allocation, Kind};
use crate::rt::stream::Stream;
use bytemuck::Pod;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Range, RangeBounds};
use std::sync::Arc;

/// A box of elements of `T` in the memory of one device. Each row begins at a multiple of [`pitch`](Self::pitch)
/// bytes, so that rows are aligned for the device; what lies behind a row's last element belongs to nobody.
///
/// Element (x, y, z) is `pitch * (z * height + y) + x * size_of::<T>()` bytes from the start. As a kernel's argument
/// the buffer is the pointer to its start; give the pitch beside it.
///
/// Copies and fills move the elements alone, in the order of their stream: with [`Stream::upload`],
/// [`Stream::download`] and [`Stream::copy`], where slices and flat buffers hold the rows one behind the other, and
/// with [`Stream::upload_rows`], [`Stream::download_rows`] and [`Strided`] where those have gaps, too. Dropping the
/// buffer never waits: work that was given before still has the memory.
///
/// ```
/// use gridcl::{Device, PitchedBuffer, PinnedBuffer};
/// let device = Device::get(0)?;
/// let stream = device.create_stream()?;
/// let pixels: Vec<u8> = (0..12).collect();
/// // Three rows of four.
/// let mut image = PitchedBuffer::from_slice(&stream, (4, 3), &pixels)?;
/// assert_eq!(image.pitch() % 512, 0);
/// // The two pixels in the middle of the second row.
/// image.view_mut(1..3, 1..2, ..).fill(&stream, 99)?;
/// assert_eq!(image.view(.., 1.., ..).to_vec(&stream)?, [4, 99, 99, 7, 8, 9, 10, 11]);
/// // The left half to pinned memory, without waiting.
/// let mut half = PinnedBuffer::<u8>::new(device, 6)?;
/// stream.copy(image.view(..2, .., ..), &mut half)?;
/// assert_eq!(*half.read()?, [0, 1, 4, 99, 8, 9]);
/// # Ok::<(), gridcl::Error>(())
/// ```
pub struct PitchedBuffer<T> {
    allocation: Arc<Allocation>,
    shape: Shape,
    pitch: Pitch,
    element: PhantomData<T>,
}

impl<T: Pod> PitchedBuffer<T> {
    /// Memory with whatever is in it, for a shape `(width, height)` or `(width, height, depth)` in elements.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] for rows of more than 2 GiB, [`ErrorKind::OutOfMemory`] when the device has no room.
    ///
    /// # Safety
    /// The contents are not defined until something is written there.
    pub unsafe fn uninit(device: Device, shape: impl Into<Shape>) -> Result<Self> {
        let shape = shape.into();
        let pitch = shape.extent(size_of::<T>()).padded().ok_or_else(|| {
            Error::new(ErrorKind::InvalidValue, format!("a row has at most {MAX_PITCH} bytes"))
                .argument("width", format_args!("{} elements of {} bytes", shape.width, size_of::<T>()))
        })?;
        let bytes = pitch.row.checked_mul(shape.height).and_then(|slice| slice.checked_mul(shape.depth));
        let bytes = bytes.ok_or_else(|| {
            Error::new(ErrorKind::OutOfMemory, format!("rows of {} bytes each", pitch.row)).argument("shape", shape)
        })?;
        let allocation = memory::allocate(&device.context()?, bytes, Kind::Device)?;
        Ok(Self { allocation, shape, pitch, element: PhantomData })
    }

    /// Memory full of zeros, in the order of `stream`.
    ///
    /// # Errors
    /// As [`uninit`](Self::uninit).
    pub fn zeroed(stream: &Stream, shape: impl Into<Shape>) -> Result<Self> {
        // SAFETY: filled before anything can read it.
        let mut buffer = unsafe { Self::uninit(stream.device(), shape) }?;
        buffer.fill(stream, 0)?;
        Ok(buffer)
    }

    /// Memory with a copy of `data`, which holds the rows one behind the other and may change as soon as this returns.
    ///
    /// # Errors
    /// As [`uninit`](Self::uninit), and [`ErrorKind::InvalidValue`] when `data` has not as many elements as the shape.
    pub fn from_slice(stream: &Stream, shape: impl Into<Shape>, data: &[T]) -> Result<Self> {
        // SAFETY: written before anything can read it.
        let mut buffer = unsafe { Self::uninit(stream.device(), shape) }?;
        stream.upload(data, &mut buffer)?;
        Ok(buffer)
    }

    /// The elements, row behind row, after all work of `stream` so far.
    ///
    /// # Errors
    /// What the device reported about that work.
    pub fn to_vec(&self, stream: &Stream) -> Result<Vec<T>> {
        self.view(.., .., ..).to_vec(stream)
    }

    /// Sets every byte of every element to `byte`, in stream order.
    ///
    /// # Errors
    /// What the device reported about earlier work.
    pub fn fill(&mut self, stream: &Stream, byte: u8) -> Result<()> {
        self.view_mut(.., .., ..).fill(stream, byte)
    }
}

impl<T> PitchedBuffer<T> {
    /// Its size in elements.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Bytes from one row to the next: a multiple of 512. Slices are this times the height apart.
    pub fn pitch(&self) -> usize {
        self.pitch.row
    }

    /// The device whose memory it is.
    pub fn device(&self) -> Device {
        self.allocation.context().device()
    }

    /// The address of the first element. It names the memory and keeps nothing alive.
    pub fn as_device_ptr(&self) -> DevicePtr<T> {
        DevicePtr::at(self.allocation.base())
    }

    /// A box within the buffer, to read: ranges of columns, rows and slices.
    ///
    /// # Panics
    /// When a range is not within the buffer, as slices do.
    pub fn view(
        &self,
        x: impl RangeBounds<usize>,
        y: impl RangeBounds<usize>,
        z: impl RangeBounds<usize>,
    ) -> PitchedView<'_, T> {
        PitchedView { area: Area::new(self.shape, x, y, z), buffer: self }
    }

    /// A box within the buffer, to write.
    ///
    /// # Panics
    /// When a range is not within the buffer, as slices do.
    pub fn view_mut(
        &mut self,
        x: impl RangeBounds<usize>,
        y: impl RangeBounds<usize>,
        z: impl RangeBounds<usize>,
    ) -> PitchedViewMut<'_, T> {
        PitchedViewMut { area: Area::new(self.shape, x, y, z), buffer: self }
    }

    fn address_of(&self, area: &Area) -> usize {
        let [x, y, z] = area.start;
        self.allocation.base() + self.pitch.offset([x * size_of::<T>(), y, z])
    }

    fn layout_of(&self, area: &Area) -> Layout {
        Layout::Box(area.shape, [self.pitch.row, self.pitch.slice])
    }

    fn pointer_to(&self, area: &Area) -> Argument<'static> {
        Argument::pointer(if area.shape.is_empty() { 0 } else { self.address_of(area) })
    }

    fn whole(&self) -> Area {
        Area { start: [0; 3], shape: self.shape }
    }
}

impl<T> Drop for PitchedBuffer<T> {
    fn drop(&mut self) {
        memory::give_up(&self.allocation);
    }
}

impl<T> fmt::Debug for PitchedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PitchedBuffer")
            .field("element", &std::any::type_name::<T>())
            .field("shape", &self.shape)
            .field("pitch", &self.pitch.row)
            .field("device", &self.device())
            .finish()
    }
}

/// A box within a buffer: its first element's place, and its size.
#[derive(Clone, Copy, Debug)]
struct Area {
    start: [usize; 3],
    shape: Shape,
}

impl Area {
    fn new(whole: Shape, x: impl RangeBounds<usize>, y: impl RangeBounds<usize>, z: impl RangeBounds<usize>) -> Self {
        let ranges: [Range<usize>; 3] = [within(x, whole.width), within(y, whole.height), within(z, whole.depth)];
        let [width, height, depth] = [0, 1, 2].map(|axis: usize| ranges[axis].len());
        Self { start: ranges.map(|range| range.start), shape: Shape { width, height, depth } }
    }
}

/// A box within a [`PitchedBuffer`], to read from and to give to kernels, for which it is the pointer to its first
/// element.
#[derive(Clone, Debug)]
pub struct PitchedView<'a, T> {
    buffer: &'a PitchedBuffer<T>,
    area: Area,
}

/// A box within a [`PitchedBuffer`], to write to and to give to kernels, for which it is the pointer to its first
/// element.
#[derive(Debug)]
pub struct PitchedViewMut<'a, T> {
    buffer: &'a mut PitchedBuffer<T>,
    area: Area,
}

impl<T> PitchedView<'_, T> {
    /// Its size in elements.
    pub fn shape(&self) -> Shape {
        self.area.shape
    }
}

impl<T: Pod> PitchedView<'_, T> {
    /// The elements, row behind row, after all work of `stream` so far.
    ///
    /// # Errors
    /// What the device reported about that work.
    pub fn to_vec(&self, stream: &Stream) -> Result<Vec<T>> {
        let mut host = vec![T::zeroed(); self.shape().len()];
        stream.download(self.clone(), &mut host)?;
        Ok(host)
    }
}

impl<T> PitchedViewMut<'_, T> {
    /// Its size in elements.
    pub fn shape(&self) -> Shape {
        self.area.shape
    }

    /// Sets every byte of every element to `byte`, in stream order.
    ///
    /// # Errors
    /// What the device reported about earlier work.
    pub fn fill(self, stream: &Stream, byte: u8) -> Result<()>
    where
        T: Pod,
    {
        let extent = self.area.shape.extent(size_of::<T>());
        fill_box::set(stream, self.buffer.address_of(&self.area), byte, extent, self.buffer.pitch, Mode::Async)
    }
}

/// Flat memory as rows with gaps: a device or pinned buffer, or a slice of one, whose rows begin so many elements
/// apart. Their length is the other end's of the copy, and slices follow each other like rows.
///
/// ```
/// use gridcl::{Device, PinnedBuffer, PitchedBuffer, Strided};
/// let device = Device::get(0)?;
/// let stream = device.create_stream()?;
/// let image = PitchedBuffer::from_slice(&stream, (2, 2), &[1u16, 2, 3, 4])?;
/// let mut host = PinnedBuffer::<u16>::new(device, 6)?;
/// stream.copy(&image, Strided::new(&mut host, 3))?;
/// assert_eq!(*host.read()?, [1, 2, 0, 3, 4, 0]);
/// # Ok::<(), gridcl::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Strided<E> {
    end: E,
    step: usize,
}

impl<E: Flat> Strided<E> {
    /// Rows that begin `step` elements apart.
    pub fn new(end: E, step: usize) -> Self {
        Self { end, step }
    }
}

impl<E: Flat> End for Strided<E> {
    const ON_HOST: bool = E::ON_HOST;
    fn start(&self) -> usize {
        self.end.start()
    }
    fn elements(&self) -> usize {
        self.end.elements()
    }
    fn layout(&self) -> Layout {
        Layout::Stepped(self.step)
    }
    fn settle(&self) -> Result<()> {
        self.end.settle()
    }
    fn used_by(&self, stream: &Stream) {
        self.end.used_by(stream);
    }
}

impl<T, E: Flat + Source<T>> Source<T> for Strided<E> {}
impl<T, E: Flat + Target<T>> Target<T> for Strided<E> {}

/// The ends that are a buffer, or a view with its area.
macro_rules! ends {
    ($($end:ty, $self:ident => $area:expr, $buffer:expr;)+) => {$(
        impl<T> End for $end {
            fn start(&$self) -> usize {
                $buffer.address_of($area)
            }
            fn elements(&$self) -> usize {
                $area.shape.len()
            }
            fn layout(&$self) -> Layout {
                $buffer.layout_of($area)
            }
        }

        // SAFETY: the buffer keeps its memory until the launch's work is done.
        unsafe impl<T> KernelArg for $end {
            fn argument(&$self) -> Argument<'_> {
                $buffer.pointer_to($area)
            }
        }
    )+};
}

ends! {
    &PitchedBuffer<T>, self => &self.whole(), self;
    &mut PitchedBuffer<T>, self => &self.whole(), self;
    PitchedView<'_, T>, self => &self.area, self.buffer;
    PitchedViewMut<'_, T>, self => &self.area, self.buffer;
}

// SAFETY: the buffer keeps its memory until the launch's work is done.
unsafe impl<T> KernelArg for PitchedBuffer<T> {
    fn argument(&self) -> Argument<'_> {
        self.pointer_to(&self.whole())
    }
}

impl<T> Source<T> for &PitchedBuffer<T> {}
impl<T> Source<T> for PitchedView<'_, T> {}
impl<T> Target<T> for &mut PitchedBuffer<T> {}
impl<T> Target<T> for PitchedViewMut<'_, T> {}
