//! Copies between typed memory. What may be in flight when a call returns is memory that the runtime keeps alive;
//! slices of the program's own are done with by then.

use super::buffer::{DeviceBuffer, DeviceSlice, DeviceSliceMut};
use super::managed::ManagedBuffer;
use super::pinned::{PinnedBuffer, PinnedSlice, PinnedSliceMut};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::copy::{CopyKind, Mode, Pattern, copy, fill};
use crate::rt::stream::Stream;
use bytemuck::Pod;

/// What a copy may read while the program goes on: device buffers, pinned buffers, and slices of either.
pub trait Source<T>: sealed::End {}

/// What a copy may write while the program goes on: device buffers, pinned buffers, and slices of either.
pub trait Target<T>: sealed::End {}

mod sealed {
    use crate::error::Result;
    use crate::rt::stream::Stream;

    /// One end of a copy.
    pub trait End {
        /// Whether the host carries out a copy whose other end is on the host, too.
        const ON_HOST: bool = false;
        /// Its first address.
        fn start(&self) -> usize;
        /// Its length in elements.
        fn elements(&self) -> usize;
        /// Waits until the host may touch it: other streams may have work of their own with it.
        fn settle(&self) -> Result<()> {
            Ok(())
        }
        /// Takes note that the stream's work so far uses it.
        fn used_by(&self, _stream: &Stream) {}
    }
}
use sealed::End;

impl Stream {
    /// Copies the program's own memory to `target`, in stream order. `data` may change as soon as this returns.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] when the lengths differ; nothing is copied then.
    pub fn upload<T: Pod>(&self, data: &[T], target: impl Target<T>) -> Result<()> {
        same_length(data.len(), target.elements())?;
        target.settle()?;
        // SAFETY: the slice is valid for the call, and the copy is done with it when it returns.
        unsafe { self.run_copy::<T>(target.start(), data.as_ptr() as usize, data.len()) }?;
        target.used_by(self);
        Ok(())
    }

    /// Copies `source` to the program's own memory, after all work of the stream so far. Blocks until it is there.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] when the lengths differ; what the device reported about earlier work.
    pub fn download<T: Pod>(&self, source: impl Source<T>, data: &mut [T]) -> Result<()> {
        same_length(source.elements(), data.len())?;
        source.settle()?;
        // SAFETY: the slice is valid for the call, which returns when the copy is done.
        unsafe { self.run_copy::<T>(data.as_mut_ptr() as usize, source.start(), data.len()) }
    }

    /// Copies between memory of the runtime's, of any device, in stream order. Returns before it is done, except
    /// between two pinned buffers.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] when the lengths differ; nothing is copied then.
    pub fn copy<T: Pod>(&self, source: impl Source<T>, target: impl Target<T>) -> Result<()> {
        same_length(source.elements(), target.elements())?;
        settle_host_ends(&source, &target)?;
        // SAFETY: both ends are kept alive by the runtime until the copy is done.
        unsafe { self.run_copy::<T>(target.start(), source.start(), target.elements()) }?;
        source.used_by(self);
        target.used_by(self);
        Ok(())
    }

    /// Sets every element of `target` to `value`, in stream order.
    ///
    /// ```
    /// # use gridcl::{Device, DeviceBuffer};
    /// let stream = Device::get(0)?.create_stream()?;
    /// let mut ones = DeviceBuffer::<f32>::zeroed(&stream, 1000)?;
    /// stream.fill_with(ones.slice_mut(500..), 1.0)?;
    /// assert_eq!(ones.to_vec(&stream)?[499..501], [0.0, 1.0]);
    /// # Ok::<(), gridcl::Error>(())
    /// ```
    ///
    /// # Errors
    /// What the device reported about earlier work.
    pub fn fill_with<T: Pod>(&self, target: impl Target<T>, value: T) -> Result<()> {
        let (start, elements) = (target.start(), target.elements());
        if elements == 0 || size_of::<T>() == 0 {
            return Ok(());
        }
        if let Some(pattern) = Pattern::of(bytemuck::bytes_of(&value)) {
            fill::set(self, start, &pattern, (elements, size_of::<T>()), Mode::Async)?;
        } else {
            // No pattern: some elements are uploaded, and what is there is copied until it is all.
            target.settle()?;
            let first = vec![value; elements.min((64 << 10) / size_of::<T>()).max(1)];
            let mut done = first.len();
            // SAFETY: the vector is valid for the call, and the copy is done with it when it returns.
            unsafe { self.run_copy::<T>(start, first.as_ptr() as usize, done) }?;
            while done < elements {
                let step = done.min(elements - done);
                // SAFETY: both ends are kept alive by the runtime until the copy is done.
                unsafe { self.run_copy::<T>(start + done * size_of::<T>(), start, step) }?;
                done += step;
            }
        }
        target.used_by(self);
        Ok(())
    }

    /// # Safety
    /// As [`copy`].
    unsafe fn run_copy<T>(&self, to: usize, from: usize, elements: usize) -> Result<()> {
        // SAFETY: the caller's.
        unsafe { copy(self, to, from, elements * size_of::<T>(), CopyKind::Default, Mode::Async) }
    }
}

fn settle_host_ends<S: End, T: End>(source: &S, target: &T) -> Result<()> {
    if S::ON_HOST && T::ON_HOST {
        source.settle()?;
        target.settle()?;
    }
    Ok(())
}

fn same_length(source: usize, target: usize) -> Result<()> {
    if source == target {
        return Ok(());
    }
    Err(Error::new(ErrorKind::InvalidValue, format!("the source has {source} elements"))
        .argument("target", format_args!("{target} elements"))
        .help("copy slices of the same length"))
}

impl<T> End for &DeviceBuffer<T> {
    fn start(&self) -> usize {
        self.slice(..).address()
    }
    fn elements(&self) -> usize {
        self.len()
    }
}

impl<T> End for &mut DeviceBuffer<T> {
    fn start(&self) -> usize {
        self.slice(..).address()
    }
    fn elements(&self) -> usize {
        self.len()
    }
}

impl<T> End for DeviceSlice<'_, T> {
    fn start(&self) -> usize {
        self.address()
    }
    fn elements(&self) -> usize {
        self.len()
    }
}

impl<T> End for DeviceSliceMut<'_, T> {
    fn start(&self) -> usize {
        self.address()
    }
    fn elements(&self) -> usize {
        self.len()
    }
}

impl<T> End for &PinnedBuffer<T> {
    const ON_HOST: bool = true;
    fn start(&self) -> usize {
        self.address()
    }
    fn elements(&self) -> usize {
        self.len()
    }
    fn settle(&self) -> Result<()> {
        self.uses().wait_for_writes()
    }
    fn used_by(&self, stream: &Stream) {
        self.uses().read_by(stream);
    }
}

impl<T> End for &mut PinnedBuffer<T> {
    const ON_HOST: bool = true;
    fn start(&self) -> usize {
        self.address()
    }
    fn elements(&self) -> usize {
        self.len()
    }
    fn settle(&self) -> Result<()> {
        self.uses().wait_for_all()
    }
    fn used_by(&self, stream: &Stream) {
        self.uses().written_by(stream);
    }
}

impl<T> End for PinnedSlice<'_, T> {
    const ON_HOST: bool = true;
    fn start(&self) -> usize {
        self.buffer.address() + self.range.start * size_of::<T>()
    }
    fn elements(&self) -> usize {
        self.range.len()
    }
    fn settle(&self) -> Result<()> {
        self.buffer.uses().wait_for_writes()
    }
    fn used_by(&self, stream: &Stream) {
        self.buffer.uses().read_by(stream);
    }
}

impl<T> End for PinnedSliceMut<'_, T> {
    const ON_HOST: bool = true;
    fn start(&self) -> usize {
        self.buffer.address() + self.range.start * size_of::<T>()
    }
    fn elements(&self) -> usize {
        self.range.len()
    }
    fn settle(&self) -> Result<()> {
        self.buffer.uses().wait_for_all()
    }
    fn used_by(&self, stream: &Stream) {
        self.buffer.uses().written_by(stream);
    }
}

impl<T> End for &ManagedBuffer<T> {
    fn start(&self) -> usize {
        self.address()
    }
    fn elements(&self) -> usize {
        self.len()
    }
    fn used_by(&self, stream: &Stream) {
        self.uses().read_by(stream);
    }
}

impl<T> End for &mut ManagedBuffer<T> {
    fn start(&self) -> usize {
        self.address()
    }
    fn elements(&self) -> usize {
        self.len()
    }
    fn used_by(&self, stream: &Stream) {
        self.uses().written_by(stream);
    }
}

impl<T> Source<T> for &ManagedBuffer<T> {}
impl<T> Target<T> for &mut ManagedBuffer<T> {}
impl<T> Source<T> for &DeviceBuffer<T> {}
impl<T> Source<T> for DeviceSlice<'_, T> {}
impl<T> Source<T> for &PinnedBuffer<T> {}
impl<T> Source<T> for PinnedSlice<'_, T> {}
impl<T> Target<T> for &mut DeviceBuffer<T> {}
impl<T> Target<T> for DeviceSliceMut<'_, T> {}
impl<T> Target<T> for &mut PinnedBuffer<T> {}
impl<T> Target<T> for PinnedSliceMut<'_, T> {}
