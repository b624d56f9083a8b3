//! Copies between typed memory. What may be in flight when a call returns is memory that the runtime keeps alive;
//! slices of the program's own are done with by then.

use super::buffer::{DeviceBuffer, DeviceSlice, DeviceSliceMut};
use super::layout::{Layout, Side, fit};
use super::managed::ManagedBuffer;
use super::pinned::{PinnedBuffer, PinnedSlice, PinnedSliceMut};
use crate::error::Result;
use crate::rt::copy::{CopyKind, Extent, Mode, Pattern, Pitch, Region, copy_region, fill};
use crate::rt::stream::Stream;
use crate::trace;
use bytemuck::Pod;

/// What a copy may read while the program goes on: device, pitched, managed and pinned buffers, parts of them, and
/// [`Strided`](crate::Strided) rows.
pub trait Source<T>: sealed::End {}

/// What a copy may write while the program goes on: device, pitched, managed and pinned buffers, parts of them, and
/// [`Strided`](crate::Strided) rows.
pub trait Target<T>: sealed::End {}

pub(super) mod sealed {
    use crate::api::layout::Layout;
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
        /// How its elements lie.
        fn layout(&self) -> Layout {
            Layout::Row
        }
        /// Waits until the host may touch it: other streams may have work of their own with it.
        fn settle(&self) -> Result<()> {
            Ok(())
        }
        /// Takes note that the stream's work so far uses it.
        fn used_by(&self, _stream: &Stream) {}
    }

    /// An end whose elements lie one behind the other.
    pub trait Flat: End {}
}
use sealed::{End, Flat};

impl Stream {
    /// Copies the program's own memory to `target`, in stream order. `data` may change as soon as this returns.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`](crate::ErrorKind) when the lengths differ; nothing is copied then.
    pub fn upload<T: Pod>(&self, data: &[T], target: impl Target<T>) -> Result<()> {
        trace::observe("Stream::upload", &[("stream", &self), ("len", &data.len())], || {
            self.upload_from(data, Layout::Row, &target)
        })
    }

    /// The same where the rows begin `step` elements apart in `data`; slices follow each other like rows. `target` says
    /// how long and how many they are.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidPitch`](crate::ErrorKind) for a step shorter than a row,
    /// [`ErrorKind::InvalidValue`](crate::ErrorKind) when `data` is too short or `target` has no rows; nothing is copied
    /// then.
    pub fn upload_rows<T: Pod>(&self, data: &[T], step: usize, target: impl Target<T>) -> Result<()> {
        trace::observe("Stream::upload_rows", &[("stream", &self), ("len", &data.len()), ("step", &step)], || {
            self.upload_from(data, Layout::Stepped(step), &target)
        })
    }

    fn upload_from<T: Pod>(&self, data: &[T], layout: Layout, target: &impl Target<T>) -> Result<()> {
        let region = fit(side(target), Side { elements: data.len(), layout }, size_of::<T>())?;
        target.settle()?;
        // SAFETY: the slice is valid for the call, and the copy is done with it when it returns.
        unsafe { self.run_copy(target.start(), data.as_ptr() as usize, region) }?;
        target.used_by(self);
        Ok(())
    }

    /// Copies `source` to the program's own memory, after all work of the stream so far. Blocks until it is there.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`](crate::ErrorKind) when the lengths differ; what the device reported about earlier
    /// work.
    pub fn download<T: Pod>(&self, source: impl Source<T>, data: &mut [T]) -> Result<()> {
        trace::observe("Stream::download", &[("stream", &self), ("len", &data.len())], || {
            self.download_to(&source, data, Layout::Row)
        })
    }

    /// The same where the rows begin `step` elements apart in `data`; what lies between them stays as it is.
    ///
    /// # Errors
    /// As [`upload_rows`](Self::upload_rows); what the device reported about earlier work.
    pub fn download_rows<T: Pod>(&self, source: impl Source<T>, data: &mut [T], step: usize) -> Result<()> {
        trace::observe("Stream::download_rows", &[("stream", &self), ("len", &data.len()), ("step", &step)], || {
            self.download_to(&source, data, Layout::Stepped(step))
        })
    }

    fn download_to<T: Pod>(&self, source: &impl Source<T>, data: &mut [T], layout: Layout) -> Result<()> {
        let region = fit(Side { elements: data.len(), layout }, side(source), size_of::<T>())?;
        source.settle()?;
        // SAFETY: the slice is valid for the call, which returns when the copy is done.
        unsafe { self.run_copy(data.as_mut_ptr() as usize, source.start(), region) }
    }

    /// Copies between memory of the runtime's, of any device, in stream order. Returns before it is done, except
    /// between two pinned buffers.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`](crate::ErrorKind) when the lengths or shapes differ; nothing is copied then.
    pub fn copy<T: Pod>(&self, source: impl Source<T>, target: impl Target<T>) -> Result<()> {
        trace::observe("Stream::copy", &[("stream", &self), ("elements", &source.elements())], || {
            let region = fit(side(&target), side(&source), size_of::<T>())?;
            settle_host_ends(&source, &target)?;
            // SAFETY: both ends are kept alive by the runtime until the copy is done.
            unsafe { self.run_copy(target.start(), source.start(), region) }?;
            source.used_by(self);
            target.used_by(self);
            Ok(())
        })
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
        trace::observe("Stream::fill_with", &[("stream", &self), ("elements", &target.elements())], || {
            let side = side(&target);
            let Region { extent, to: pitch, .. } = fit(side, side, size_of::<T>())?;
            if extent.is_empty() {
                return Ok(());
            }
            let filled = self.fill_all(&target, pitch, extent, value);
            // Also where it failed: some of it may be under way.
            target.used_by(self);
            filled
        })
    }

    fn fill_all<T: Pod>(&self, target: &impl Target<T>, pitch: Pitch, extent: Extent, value: T) -> Result<()> {
        let start = target.start();
        self.fill_row(target, extent.width / size_of::<T>(), value)?;
        // The other rows are copies of the first, and the other slices of the first.
        let row = Region {
            extent: Extent { rows: extent.rows - 1, slices: 1, ..extent },
            to: pitch,
            from: Pitch { row: 0, slice: 0 },
        };
        let slice = Region {
            extent: Extent { slices: extent.slices - 1, ..extent },
            to: pitch,
            from: Pitch { slice: 0, ..pitch },
        };
        // SAFETY: both ends are kept alive by the runtime until the copies are done.
        unsafe {
            self.run_copy(start + pitch.row, start, row)?;
            self.run_copy(start + pitch.slice, start, slice)
        }
    }

    /// Sets elements from the first on that follow each other.
    fn fill_row<T: Pod>(&self, target: &impl Target<T>, elements: usize, value: T) -> Result<()> {
        let start = target.start();
        if let Some(pattern) = Pattern::of(bytemuck::bytes_of(&value)) {
            return fill::set(self, start, &pattern, (elements, size_of::<T>()), Mode::Async);
        }
        // No pattern: some elements are uploaded, and what is there is copied until it is all.
        target.settle()?;
        let first = vec![value; elements.min((64 << 10) / size_of::<T>()).max(1)];
        let bytes = |elements: usize| elements * size_of::<T>();
        let mut done = first.len();
        // SAFETY: the vector is valid for the call, and the copy is done with it when it returns.
        unsafe { self.run_copy(start, first.as_ptr() as usize, Region::flat(bytes(done))) }?;
        while done < elements {
            let step = done.min(elements - done);
            // SAFETY: both ends are kept alive by the runtime until the copy is done.
            unsafe { self.run_copy(start + bytes(done), start, Region::flat(bytes(step))) }?;
            done += step;
        }
        Ok(())
    }

    /// # Safety
    /// As [`copy_region`].
    unsafe fn run_copy(&self, to: usize, from: usize, region: Region) -> Result<()> {
        // SAFETY: the caller's.
        unsafe { copy_region(self, to, from, region, CopyKind::Default, Mode::Async) }
    }
}

fn settle_host_ends<S: End, T: End>(source: &S, target: &T) -> Result<()> {
    if S::ON_HOST && T::ON_HOST {
        source.settle()?;
        target.settle()?;
    }
    Ok(())
}

fn side(end: &impl End) -> Side {
    Side { elements: end.elements(), layout: end.layout() }
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

impl<T> Flat for &DeviceBuffer<T> {}
impl<T> Flat for &mut DeviceBuffer<T> {}
impl<T> Flat for DeviceSlice<'_, T> {}
impl<T> Flat for DeviceSliceMut<'_, T> {}
impl<T> Flat for &ManagedBuffer<T> {}
impl<T> Flat for &mut ManagedBuffer<T> {}
impl<T> Flat for &PinnedBuffer<T> {}
impl<T> Flat for &mut PinnedBuffer<T> {}
impl<T> Flat for PinnedSlice<'_, T> {}
impl<T> Flat for PinnedSliceMut<'_, T> {}
