//! Images and samplers, and the commands that move what images hold.
//!
//! Places and sizes are in elements and always `x, y, z`, with the layers of a layered image along z; what OpenCL makes of
//! them is settled here.

use super::block::Buffer;
use super::call::{Live, Object, call, raw};
use super::context::Context;
use super::queue::Queue;
use super::status::{Failure, Result};
use super::watch::{Kind, slot};
use cl3::memory::CL_MEM_READ_WRITE;
use cl3::types::{CL_FALSE, cl_image_desc, cl_image_format, cl_mem, cl_sampler};
use std::ffi::c_void;
use std::fmt;
use std::ptr::{null, null_mut};

/// How many dimensions an image has, and whether it is in layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ImageType {
    D1,
    D2,
    D3,
    D1Layered,
    D2Layered,
}

impl ImageType {
    /// What a kernel calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::D1 => "image1d_t",
            Self::D2 => "image2d_t",
            Self::D3 => "image3d_t",
            Self::D1Layered => "image1d_array_t",
            Self::D2Layered => "image2d_array_t",
        }
    }

    fn raw(self) -> u32 {
        match self {
            Self::D2 => 0x10F1,
            Self::D3 => 0x10F2,
            Self::D2Layered => 0x10F3,
            Self::D1 => 0x10F4,
            Self::D1Layered => 0x10F5,
        }
    }

    /// A place or size as OpenCL counts it: the layers of lines stand where rows do.
    fn axes(self, [x, y, z]: [usize; 3], unused: usize) -> [usize; 3] {
        if self == Self::D1Layered { [x, z, unused] } else { [x, y, z] }
    }

    /// Row and slice pitch as OpenCL wants them: 0 where it wants none.
    fn pitches(self, [row, slice]: [usize; 2]) -> [usize; 2] {
        match self {
            Self::D1 => [0, 0],
            Self::D2 => [row, 0],
            Self::D3 | Self::D2Layered => [row, slice],
            // Which of the two tells how far layers of lines are apart is read in both ways.
            Self::D1Layered => [slice, slice],
        }
    }
}

/// What a channel of an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sample {
    /// A signed integer of 8 bits.
    I8,
    /// A signed integer of 16 bits.
    I16,
    /// A signed integer of 32 bits.
    I32,
    /// An unsigned integer of 8 bits.
    U8,
    /// An unsigned integer of 16 bits.
    U16,
    /// An unsigned integer of 32 bits.
    U32,
    /// A floating-point number of 16 bits.
    F16,
    /// A floating-point number of 32 bits.
    F32,
}

impl Sample {
    /// Its size in bits.
    pub(crate) fn bits(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 8,
            Self::I16 | Self::U16 | Self::F16 => 16,
            Self::I32 | Self::U32 | Self::F32 => 32,
        }
    }

    fn raw(self) -> u32 {
        match self {
            Self::I8 => 0x10D7,
            Self::I16 => 0x10D8,
            Self::I32 => 0x10D9,
            Self::U8 => 0x10DA,
            Self::U16 => 0x10DB,
            Self::U32 => 0x10DC,
            Self::F16 => 0x10DD,
            Self::F32 => 0x10DE,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::I8 | Self::I16 | Self::I32 => "signed",
            Self::U8 | Self::U16 | Self::U32 => "unsigned",
            Self::F16 | Self::F32 => "float",
        }
    }
}

/// What the elements of an image are: 1, 2 or 4 channels of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageFormat {
    pub(crate) channels: usize,
    pub(crate) sample: Sample,
}

impl ImageFormat {
    /// Bytes of an element.
    pub(crate) fn bytes(self) -> usize {
        self.channels * self.sample.bits() / 8
    }

    fn raw(self) -> cl_image_format {
        let order = match self.channels {
            1 => 0x10B0,
            2 => 0x10B2,
            _ => 0x10B5,
        };
        cl_image_format { image_channel_order: order, image_channel_data_type: self.sample.raw() }
    }
}

impl fmt::Display for ImageFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (plural, sample) = (if self.channels == 1 { "" } else { "s" }, self.sample);
        write!(f, "{} channel{plural} of {} bits, {}", self.channels, sample.bits(), sample.word())
    }
}

/// The formats that a context's kernels can read and write in images of a type.
#[derive(Debug)]
pub(crate) struct Formats(Vec<(u32, u32)>);

impl Formats {
    pub(crate) fn of(context: &Context, image_type: ImageType) -> Result<Self> {
        let formats = call("clGetSupportedImageFormats", || {
            cl3::memory::get_supported_image_formats(context.raw(), CL_MEM_READ_WRITE, image_type.raw())
        })?;
        Ok(Self(formats.iter().map(|format| (format.image_channel_order, format.image_channel_data_type)).collect()))
    }

    pub(crate) fn contain(&self, format: ImageFormat) -> bool {
        let raw = format.raw();
        self.0.contains(&(raw.image_channel_order, raw.image_channel_data_type))
    }
}

/// An image in device memory, released when dropped; work under way keeps it.
#[derive(Debug)]
pub(crate) struct Image {
    raw: cl_mem,
    image_type: ImageType,
    _live: Live,
}

// SAFETY: OpenCL memory objects may be used from any thread.
unsafe impl Send for Image {}
// SAFETY: as above.
unsafe impl Sync for Image {}

impl Image {
    /// An image that kernels read and write, with whatever is in it.
    pub(crate) fn new(
        context: &Context,
        image_type: ImageType,
        format: ImageFormat,
        [width, height, depth]: [usize; 3],
    ) -> Result<Self> {
        let layered = matches!(image_type, ImageType::D1Layered | ImageType::D2Layered);
        let desc = cl_image_desc {
            image_type: image_type.raw(),
            image_width: width,
            image_height: height,
            image_depth: if layered { 1 } else { depth },
            image_array_size: if layered { depth } else { 1 },
            image_row_pitch: 0,
            image_slice_pitch: 0,
            num_mip_levels: 0,
            num_samples: 0,
            buffer: null_mut(),
        };
        let format = format.raw();
        // SAFETY: both descriptions outlive the call, and no host memory is given.
        let raw = call("clCreateImage", || unsafe {
            cl3::memory::create_image(context.raw(), CL_MEM_READ_WRITE, &raw const format, &raw const desc, null_mut())
        })?;
        Ok(Self { raw, image_type, _live: Live::new(Object::Block) })
    }

    pub(super) fn raw(&self) -> cl_mem {
        self.raw
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: this is the one reference that its creation gave us.
        let released = call("clReleaseMemObject", || unsafe { cl3::memory::release_mem_object(self.raw) });
        super::status::log_release(released);
    }
}

/// Part of an image: where it starts and how large it is, in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImagePart<'a> {
    pub(crate) image: &'a Image,
    pub(crate) at: [usize; 3],
    pub(crate) size: [usize; 3],
}

impl ImagePart<'_> {
    fn origin(&self) -> [usize; 3] {
        self.image.image_type.axes(self.at, 0)
    }

    fn region(&self) -> [usize; 3] {
        self.image.image_type.axes(self.size, 1)
    }
}

impl Queue {
    /// Writes host memory into part of an image; rows and slices there are so many bytes apart.
    ///
    /// # Safety
    /// `from` has to be readable until the command is done, and the part has to lie in the image.
    pub(crate) unsafe fn write_image(&self, to: &ImagePart<'_>, from: usize, pitch: [usize; 2]) -> Result<()> {
        let (origin, region, [row, slice]) = (to.origin(), to.region(), to.image.image_type.pitches(pitch));
        let (queue, image) = (self.raw(), to.image.raw);
        // SAFETY: the caller's.
        call("clEnqueueWriteImage", || {
            raw!(clEnqueueWriteImage(
                queue,
                image,
                CL_FALSE,
                origin.as_ptr(),
                region.as_ptr(),
                row,
                slice,
                from as *const c_void,
                0,
                null(),
                slot(Kind::Write, 0),
            ))
        })
    }

    /// Reads part of an image into host memory; rows and slices there are so many bytes apart.
    ///
    /// # Safety
    /// `to` has to be writable until the command is done, and the part has to lie in the image.
    pub(crate) unsafe fn read_image(&self, from: &ImagePart<'_>, to: usize, pitch: [usize; 2]) -> Result<()> {
        let (origin, region, [row, slice]) = (from.origin(), from.region(), from.image.image_type.pitches(pitch));
        let (queue, image) = (self.raw(), from.image.raw);
        // SAFETY: the caller's.
        call("clEnqueueReadImage", || {
            raw!(clEnqueueReadImage(
                queue,
                image,
                CL_FALSE,
                origin.as_ptr(),
                region.as_ptr(),
                row,
                slice,
                to as *mut c_void,
                0,
                null(),
                slot(Kind::Read, 0),
            ))
        })
    }

    /// Copies part of an image to another place or image of the same format; the two must not overlap.
    pub(crate) fn copy_image(&self, to: &ImagePart<'_>, from: &ImagePart<'_>) -> Result<()> {
        let (source, target, region) = (from.origin(), to.origin(), from.region());
        let (queue, from, to) = (self.raw(), from.image.raw, to.image.raw);
        // SAFETY: the runtime has checked both parts.
        call("clEnqueueCopyImage", || {
            raw!(clEnqueueCopyImage(
                queue,
                from,
                to,
                source.as_ptr(),
                target.as_ptr(),
                region.as_ptr(),
                0,
                null(),
                slot(Kind::Copy, 0),
            ))
        })
    }

    /// Copies rows without room between them from a buffer into part of an image.
    pub(crate) fn copy_to_image(&self, to: &ImagePart<'_>, from: (&Buffer, usize)) -> Result<()> {
        let (origin, region) = (to.origin(), to.region());
        let (queue, buffer, image) = (self.raw(), from.0.raw(), to.image.raw);
        // SAFETY: the runtime has checked the part and the range.
        call("clEnqueueCopyBufferToImage", || {
            raw!(clEnqueueCopyBufferToImage(
                queue,
                buffer,
                image,
                from.1,
                origin.as_ptr(),
                region.as_ptr(),
                0,
                null(),
                slot(Kind::Copy, 0),
            ))
        })
    }

    /// Copies part of an image to a buffer, as rows without room between them.
    pub(crate) fn copy_from_image(&self, to: (&Buffer, usize), from: &ImagePart<'_>) -> Result<()> {
        let (origin, region) = (from.origin(), from.region());
        let (queue, buffer, image) = (self.raw(), to.0.raw(), from.image.raw);
        // SAFETY: the runtime has checked the part and the range.
        call("clEnqueueCopyImageToBuffer", || {
            raw!(clEnqueueCopyImageToBuffer(
                queue,
                image,
                buffer,
                origin.as_ptr(),
                region.as_ptr(),
                to.1,
                0,
                null(),
                slot(Kind::Copy, 0),
            ))
        })
    }

    /// Sets every channel in part of an image to 0.
    pub(crate) fn clear_image(&self, part: &ImagePart<'_>) -> Result<()> {
        let (origin, region, zero) = (part.origin(), part.region(), [0_u32; 4]);
        let (queue, image) = (self.raw(), part.image.raw);
        // SAFETY: the runtime has checked the part; four zeros are a colour of any format, and are copied by the call.
        call("clEnqueueFillImage", || {
            raw!(clEnqueueFillImage(
                queue,
                image,
                (&raw const zero).cast(),
                origin.as_ptr(),
                region.as_ptr(),
                0,
                null(),
                slot(Kind::Fill, 0),
            ))
        })
    }
}

/// What a kernel sees beyond the edge of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Addressing {
    /// Zeros; alpha is 1 where an image has none (`CLK_ADDRESS_CLAMP`; CUDA: border).
    Border,
    /// The nearest element (`CLK_ADDRESS_CLAMP_TO_EDGE`; CUDA: clamp).
    Clamp,
    /// The image over again (`CLK_ADDRESS_REPEAT`; CUDA: wrap). Needs normalised coordinates.
    Repeat,
    /// The image over again, each time turned round (`CLK_ADDRESS_MIRRORED_REPEAT`; CUDA: mirror). Needs normalised
    /// coordinates.
    Mirror,
}

/// What a kernel sees between elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Filter {
    /// The nearest element (CUDA: point).
    Nearest,
    /// A mixture of the neighbours along each axis. For images of floating-point numbers.
    Linear,
}

/// A sampler object; released when dropped.
#[derive(Debug)]
pub(crate) struct SamplerObject {
    raw: cl_sampler,
    _live: Live,
}

// SAFETY: OpenCL samplers may be used from any thread.
unsafe impl Send for SamplerObject {}
// SAFETY: as above.
unsafe impl Sync for SamplerObject {}

impl SamplerObject {
    pub(crate) fn new(context: &Context, normalized: bool, addressing: Addressing, filter: Filter) -> Result<Self> {
        let addressing: u32 = match addressing {
            Addressing::Clamp => 0x1131,
            Addressing::Border => 0x1132,
            Addressing::Repeat => 0x1133,
            Addressing::Mirror => 0x1134,
        };
        let filter: u32 = if filter == Filter::Linear { 0x1141 } else { 0x1140 };
        let properties = [0x1152, u64::from(normalized), 0x1153, addressing.into(), 0x1154, filter.into(), 0];
        let raw = call("clCreateSamplerWithProperties", || {
            cl3::sampler::create_sampler_with_properties(context.raw(), properties.as_ptr()).or_else(|status| {
                // Devices before OpenCL 2.0 lack that entry point.
                Self::plain(context, normalized, addressing, filter).map_err(|_| status)
            })
        })?;
        Ok(Self { raw, _live: Live::new(Object::Sampler) })
    }

    #[allow(deprecated, reason = "the only way to make a sampler on an OpenCL 1.x device")]
    fn plain(context: &Context, normalized: bool, addressing: u32, filter: u32) -> Result<cl_sampler, i32> {
        cl3::sampler::create_sampler(context.raw(), normalized.into(), addressing, filter)
    }

    pub(super) fn raw(&self) -> cl_sampler {
        self.raw
    }
}

impl Drop for SamplerObject {
    fn drop(&mut self) {
        // SAFETY: this is the one reference that its creation gave us.
        let released = call("clReleaseSampler", || unsafe { cl3::sampler::release_sampler(self.raw) });
        super::status::log_release(released);
    }
}

/// Whether a failure says that the device cannot do what was asked, rather than that it lacks memory.
pub(crate) fn is_refusal(failure: Failure) -> bool {
    // Invalid operation, unsupported format, invalid descriptor or size, a missing entry point.
    matches!(failure.kind(), crate::error::ErrorKind::NotSupported | crate::error::ErrorKind::InvalidValue)
}
