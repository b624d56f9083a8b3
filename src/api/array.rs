//! Typed arrays: images of one to three dimensions that kernels read and write by coordinates.

use super::copy::{Source, Target};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::copy::array::{self, ArrayEnd};
use crate::rt::copy::{CopyKind, Mode, Pitch};
use crate::rt::device::Device;
use crate::rt::launch::args::{Argument, KernelArg};
use crate::rt::memory;
use crate::rt::memory::array::{ImageFormat, ImageType, Sample, Spec};
use crate::rt::stream::Stream;
use crate::trace;
use bytemuck::Pod;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// How many dimensions an [`Array`] has, and how many elements along each.
///
/// Made from a number, a pair or a triple for one, two or three dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArrayShape {
    /// Width: an `image1d_t`.
    D1(usize),
    /// Width and height: an `image2d_t`.
    D2(usize, usize),
    /// Width, height and depth: an `image3d_t`.
    D3(usize, usize, usize),
    /// Width, and layers, between which no sampler mixes: an `image1d_array_t`.
    D1Layered(usize, usize),
    /// Width, height, and layers: an `image2d_array_t`.
    D2Layered(usize, usize, usize),
}

impl ArrayShape {
    fn parts(self) -> (ImageType, [usize; 3]) {
        match self {
            Self::D1(width) => (ImageType::D1, [width, 1, 1]),
            Self::D2(width, height) => (ImageType::D2, [width, height, 1]),
            Self::D3(width, height, depth) => (ImageType::D3, [width, height, depth]),
            Self::D1Layered(width, layers) => (ImageType::D1Layered, [width, 1, layers]),
            Self::D2Layered(width, height, layers) => (ImageType::D2Layered, [width, height, layers]),
        }
    }
}

impl From<usize> for ArrayShape {
    fn from(width: usize) -> Self {
        Self::D1(width)
    }
}

impl From<(usize, usize)> for ArrayShape {
    fn from((width, height): (usize, usize)) -> Self {
        Self::D2(width, height)
    }
}

impl From<(usize, usize, usize)> for ArrayShape {
    fn from((width, height, depth): (usize, usize, usize)) -> Self {
        Self::D3(width, height, depth)
    }
}

/// What the elements of an [`Array`] may be: integers of 8, 16 and 32 bits, `f32`, `half::f16` (feature `half`), and
/// pairs and fours of them. Kernels read them with `read_imagei`, `read_imageui` and `read_imagef`.
pub trait Texel: Pod + sealed::Format {}

impl<T: Pod + sealed::Format> Texel for T {}

mod sealed {
    use super::{ImageFormat, Sample};

    /// What an element is to OpenCL.
    pub trait Format {
        #[doc(hidden)]
        const FORMAT: ImageFormat;
    }

    macro_rules! formats {
        ($($type:ty => $sample:ident),+ $(,)?) => {$(
            impl Format for $type {
                const FORMAT: ImageFormat = ImageFormat { channels: 1, sample: Sample::$sample };
            }
            impl Format for [$type; 2] {
                const FORMAT: ImageFormat = ImageFormat { channels: 2, sample: Sample::$sample };
            }
            impl Format for [$type; 4] {
                const FORMAT: ImageFormat = ImageFormat { channels: 4, sample: Sample::$sample };
            }
        )+};
    }

    formats! { i8 => I8, i16 => I16, i32 => I32, u8 => U8, u16 => U16, u32 => U32, f32 => F32 }
    #[cfg(feature = "half")]
    formats! { half::f16 => F16 }
}

/// An array of elements in the memory of one device, which kernels reach by coordinates: an image of OpenCL.
///
/// A kernel takes it as `read_only`, `write_only` or `read_write` image of its shape and reads it through a
/// [`Sampler`](crate::Sampler), which mixes neighbours and says what there is beyond the edge. Host and buffers hold the
/// elements row after row, slice after slice.
///
/// Dropping it never waits: work that was given before still has the memory.
///
/// ```
/// use gridcl::{Array, Device, DeviceBuffer, Filter, Module, Sampler, launch};
/// let stream = Device::get(0)?.create_stream()?;
/// let picture = Array::<f32>::from_slice(&stream, (2, 2), &[0.0, 1.0, 2.0, 3.0])?;
/// let module = Module::from_source(stream.device(), "
///     __kernel void middle(read_only image2d_t picture, sampler_t smooth, __global float *out) {
///         *out = read_imagef(picture, smooth, (float2)(1.0f, 1.0f)).x;
///     }")?;
/// let (middle, smooth) = (module.kernel("middle")?, Sampler::new().filter(Filter::Linear));
/// let out = DeviceBuffer::<f32>::zeroed(&stream, 1)?;
/// // SAFETY: the kernel writes one element.
/// unsafe { launch!(middle<<<1, 1, 0, &stream>>>(picture, smooth, out))? };
/// assert_eq!(out.to_vec(&stream)?, [1.5]);
/// # Ok::<(), gridcl::Error>(())
/// ```
pub struct Array<T> {
    array: Arc<memory::Array>,
    shape: ArrayShape,
    element: PhantomData<T>,
}

impl<T: Texel> Array<T> {
    /// An array with whatever is in it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] for a shape that the device's images cannot have, [`ErrorKind::NotSupported`] for
    /// elements that they cannot (two channels on PoCL 3.1), [`ErrorKind::OutOfMemory`] when the device has no room.
    ///
    /// # Safety
    /// The contents are not defined until something is written there.
    pub unsafe fn uninit(device: Device, shape: impl Into<ArrayShape>) -> Result<Self> {
        let shape = shape.into();
        let (image_type, size) = shape.parts();
        let spec = Spec { image_type, format: T::FORMAT, size, flags: 0 };
        Ok(Self { array: memory::Array::new(&device.context()?, spec)?, shape, element: PhantomData })
    }

    /// An array of zeros, in the order of `stream`.
    ///
    /// # Errors
    /// As [`uninit`](Self::uninit).
    pub fn zeroed(stream: &Stream, shape: impl Into<ArrayShape>) -> Result<Self> {
        // SAFETY: cleared before anything can read it.
        let array = unsafe { Self::uninit(stream.device(), shape) }?;
        array::clear(stream, &array.array)?;
        Ok(array)
    }

    /// An array with a copy of `data`, which may change as soon as this returns.
    ///
    /// # Errors
    /// As [`uninit`](Self::uninit), and [`ErrorKind::InvalidValue`] when there are not as many elements as in the shape.
    pub fn from_slice(stream: &Stream, shape: impl Into<ArrayShape>, data: &[T]) -> Result<Self> {
        // SAFETY: written before anything can read it.
        let mut array = unsafe { Self::uninit(stream.device(), shape) }?;
        array.upload(stream, data)?;
        Ok(array)
    }

    /// The elements, after all work of `stream` so far.
    ///
    /// # Errors
    /// What the device reported about that work.
    pub fn to_vec(&self, stream: &Stream) -> Result<Vec<T>> {
        let mut data = vec![T::zeroed(); self.len()];
        self.download(stream, &mut data)?;
        Ok(data)
    }

    /// Copies `data` to all elements, in stream order. It may change as soon as this returns.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] when there are not as many elements; nothing is written then.
    pub fn upload(&mut self, stream: &Stream, data: &[T]) -> Result<()> {
        trace::observe("Array::upload", &[("len", &data.len()), ("stream", &stream)], || {
            self.upload_part(stream, [0; 3], self.size(), data)
        })
    }

    /// Copies all elements to `data`, after all work of `stream` so far. Blocks until they are there.
    ///
    /// # Errors
    /// As [`upload`](Self::upload), and what the device reported about that work.
    pub fn download(&self, stream: &Stream, data: &mut [T]) -> Result<()> {
        trace::observe("Array::download", &[("len", &data.len()), ("stream", &stream)], || {
            self.download_part(stream, [0; 3], self.size(), data)
        })
    }

    /// The same as [`upload`](Self::upload) for a box of `size` elements from the element at `at` on, both as x, y and z:
    /// layers count along z, and a size is 1 along an axis that there is not.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] when the box is not within the array or `data` not as large; nothing is written then.
    pub fn upload_part(&mut self, stream: &Stream, at: [usize; 3], size: [usize; 3], data: &[T]) -> Result<()> {
        same_length(data.len(), size)?;
        let memory = packed::<T>(data.as_ptr() as usize, size);
        // SAFETY: the slice is valid for the call, and the copy is done with it when it returns.
        unsafe { array::copy(stream, self.end(at), memory, size, CopyKind::Default, Mode::Async) }
    }

    /// The same as [`download`](Self::download) for a box, as in [`upload_part`](Self::upload_part).
    ///
    /// # Errors
    /// As [`upload_part`](Self::upload_part), and what the device reported about earlier work.
    pub fn download_part(&self, stream: &Stream, at: [usize; 3], size: [usize; 3], data: &mut [T]) -> Result<()> {
        same_length(data.len(), size)?;
        let memory = packed::<T>(data.as_mut_ptr() as usize, size);
        // SAFETY: the slice is valid for the call, which returns when the copy is done.
        unsafe { array::copy(stream, memory, self.end(at), size, CopyKind::Default, Mode::Async) }
    }

    /// Copies a device or pinned buffer to all elements, in stream order. Returns before it is done.
    ///
    /// # Errors
    /// As [`upload`](Self::upload).
    pub fn copy_from(&mut self, stream: &Stream, source: impl Source<T>) -> Result<()> {
        same_length(source.elements(), self.size())?;
        let memory = packed::<T>(source.start(), self.size());
        // SAFETY: the buffer is kept by the runtime until the copy is done.
        unsafe { array::copy(stream, self.end([0; 3]), memory, self.size(), CopyKind::Default, Mode::Async) }?;
        source.used_by(stream);
        Ok(())
    }

    /// Copies all elements to a device or pinned buffer, in stream order. Returns before it is done.
    ///
    /// # Errors
    /// As [`upload`](Self::upload).
    pub fn copy_to(&self, stream: &Stream, target: impl Target<T>) -> Result<()> {
        same_length(target.elements(), self.size())?;
        let memory = packed::<T>(target.start(), self.size());
        // SAFETY: as above.
        unsafe { array::copy(stream, memory, self.end([0; 3]), self.size(), CopyKind::Default, Mode::Async) }?;
        target.used_by(stream);
        Ok(())
    }

    /// Copies all elements of another array, of any shape with the same numbers along x, y and z, in stream order.
    /// Returns before it is done, except between two devices.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] when the sizes differ; nothing is written then.
    pub fn copy_from_array(&mut self, stream: &Stream, source: &Self) -> Result<()> {
        if self.size() != source.size() {
            return Err(Error::new(ErrorKind::InvalidValue, format!("the source is {:?}", source.shape))
                .argument("target", format_args!("{:?}", self.shape))
                .help("copy arrays of the same size"));
        }
        let (to, from) = (self.end([0; 3]), source.end([0; 3]));
        // SAFETY: both are the runtime's to keep until the copy is done.
        unsafe { array::copy(stream, to, from, self.size(), CopyKind::Default, Mode::Async) }
    }

    fn end(&self, at: [usize; 3]) -> ArrayEnd<'_> {
        ArrayEnd::Array { array: &self.array, at }
    }
}

impl<T> Array<T> {
    /// How many dimensions it has, and how many elements along each.
    pub fn shape(&self) -> ArrayShape {
        self.shape
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.size().iter().product()
    }

    /// Never: an array has at least one element.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The device whose memory it is.
    pub fn device(&self) -> Device {
        self.array.context().device()
    }

    fn size(&self) -> [usize; 3] {
        self.array.spec().size
    }
}

/// Rows of elements in memory without room between them.
fn packed<T>(address: usize, [width, height, _]: [usize; 3]) -> ArrayEnd<'static> {
    let row = width.saturating_mul(size_of::<T>());
    ArrayEnd::Memory { address, pitch: Pitch { row, slice: row.saturating_mul(height) } }
}

fn same_length(elements: usize, size: [usize; 3]) -> Result<()> {
    let [width, height, depth] = size;
    if width.checked_mul(height).and_then(|plane| plane.checked_mul(depth)) == Some(elements) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::InvalidValue, format!("the array's part has {width} x {height} x {depth} elements"))
        .argument("data", format_args!("{elements} elements"))
        .help("copy as many elements as the part has"))
}

impl<T> Drop for Array<T> {
    fn drop(&mut self) {
        memory::Array::give_up(&self.array);
    }
}

impl<T> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Array")
            .field("element", &std::any::type_name::<T>())
            .field("shape", &self.shape)
            .field("device", &self.device())
            .finish()
    }
}

// SAFETY: the array keeps its memory until the launch's work is done.
unsafe impl<T> KernelArg for Array<T> {
    fn argument(&self) -> Argument<'_> {
        Argument::array(&self.array)
    }
}

// SAFETY: as the array.
unsafe impl<T> KernelArg for &Array<T> {
    fn argument(&self) -> Argument<'_> {
        (**self).argument()
    }
}

// SAFETY: as the array.
unsafe impl<T> KernelArg for &mut Array<T> {
    fn argument(&self) -> Argument<'_> {
        (**self).argument()
    }
}
