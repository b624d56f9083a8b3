//! Arrays: images in device memory, whose elements kernels reach by coordinates.

use super::Kept;
use crate::cl::image::{Formats, is_refusal};
use crate::cl::{Image, ImagePart};
pub(crate) use crate::cl::{ImageFormat, ImageType, Sample};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use crate::rt::runtime::is_forked;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// An array of one context.
pub(crate) struct Array {
    context: Arc<Context>,
    image: Image,
    spec: Spec,
}

/// What an array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(crate) image_type: ImageType,
    pub(crate) format: ImageFormat,
    /// Width, height, and depth or number of layers, in elements; 1 along an axis that there is not.
    pub(crate) size: [usize; 3],
    /// The flags that it was asked for with.
    pub(crate) flags: u32,
}

impl Spec {
    /// Bytes of its elements, saturating.
    pub(crate) fn bytes(&self) -> usize {
        self.size.iter().fold(self.format.bytes(), |bytes, &along| bytes.saturating_mul(along))
    }

    /// Refuses a size that no image of this device can have.
    fn check(&self, context: &Context) -> Result<()> {
        let refuse = |kind, problem: String| {
            let [width, height, depth] = self.size;
            let size = format_args!("{width} x {height} x {depth}").to_string();
            Err(Error::new(kind, problem).argument("extent", size).on_device(context.device()))
        };
        if !context.caps().has_images() {
            return refuse(ErrorKind::NotSupported, "the device has no images".to_owned());
        }
        let limits = context.caps().image_limits(self.image_type);
        let fits = self.size.iter().zip(limits).all(|(&along, limit)| (1..=limit).contains(&along));
        if !fits {
            let [width, height, depth] = limits;
            let name = self.image_type.name();
            return refuse(
                ErrorKind::InvalidValue,
                format!("an {name} has 1 to {width} x {height} x {depth} elements there"),
            );
        }
        Ok(())
    }
}

impl Array {
    /// An array with whatever is in it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] for more than the device's images can be, [`ErrorKind::NotSupported`] for a format
    /// that it lacks, [`ErrorKind::OutOfMemory`] when it has no room; nothing changed then.
    pub(crate) fn new(context: &Arc<Context>, spec: Spec) -> Result<Arc<Self>> {
        context.check()?;
        spec.check(context)?;
        if !context.images().formats(context, spec.image_type)?.contain(spec.format) {
            let problem = format!("its images have no elements of {}", spec.format);
            return Err(Error::new(ErrorKind::NotSupported, problem)
                .argument("desc", spec.format)
                .on_device(context.device())
                .help("use 1 or 4 channels, which every device has"));
        }
        let (memory, bytes) = (context.memory(), spec.bytes());
        super::charge(context, bytes)?;
        let make = || Image::new(context.cl(), spec.image_type, spec.format, spec.size);
        let image = make().or_else(|failure| {
            if is_refusal(failure) {
                return Err(failure);
            }
            context.trim();
            make()
        });
        match image {
            Ok(image) => Ok(Arc::new(Self { context: Arc::clone(context), image, spec })),
            Err(failure) => {
                memory.discharge(bytes);
                let error = if is_refusal(failure) { Error::from(failure) } else { failure.out_of_memory() };
                Err(error.argument("size", bytes).on_device(context.device()))
            }
        }
    }

    /// The context that it belongs to.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(crate) fn spec(&self) -> &Spec {
        &self.spec
    }

    pub(crate) fn image(&self) -> &Image {
        &self.image
    }

    /// Whether its device was not reset since.
    pub(crate) fn is_alive(&self) -> bool {
        self.context.is_alive()
    }

    /// A part of it, which the caller has checked.
    pub(crate) fn part(&self, at: [usize; 3], size: [usize; 3]) -> ImagePart<'_> {
        ImagePart { image: &self.image, at, size }
    }

    /// Blocks until no work can be using it.
    pub(crate) fn quiesce(&self) -> Result<()> {
        self.context.quiesce()
    }

    /// Frees it, after all work of its device.
    pub(crate) fn free(array: Arc<Self>) -> Result<()> {
        let outcome = array.context.synchronize();
        drop(array);
        outcome
    }

    /// Gives it up without waiting: its memory counts as free when the work under way is done.
    pub(crate) fn give_up(array: &Arc<Self>) {
        if is_forked() {
            // As for allocations; and the image, which is the parent's, must not be released.
            std::mem::forget(Arc::clone(array));
            return;
        }
        if !array.is_alive() {
            return;
        }
        let tickets = array.context.lanes().pending();
        array.context.memory().keep(Kept::Array(Arc::clone(array)), tickets);
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        self.context.memory().discharge(self.spec.bytes());
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Array").field("spec", &self.spec).field("device", &self.context.device()).finish()
    }
}

/// What a context knows of images: the formats of each type, asked once.
#[derive(Debug, Default)]
pub(crate) struct Images(Mutex<Vec<(ImageType, Arc<Formats>)>>);

impl Images {
    fn formats(&self, context: &Context, image_type: ImageType) -> Result<Arc<Formats>> {
        let mut known = self.0.lock();
        if let Some((_, formats)) = known.iter().find(|(of, _)| *of == image_type) {
            return Ok(Arc::clone(formats));
        }
        let formats = Arc::new(Formats::of(context.cl(), image_type).map_err(|failure| context.note(failure))?);
        known.push((image_type, Arc::clone(&formats)));
        Ok(formats)
    }
}

/// What the channels of a format hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChannelKind {
    Signed,
    Unsigned,
    Float,
}

/// The format with channels of these widths in bits (behaviour.md 3.2).
///
/// # Errors
/// [`ErrorKind::InvalidValue`] where there is no such format.
pub(crate) fn format(bits: [i32; 4], kind: ChannelKind) -> Result<ImageFormat> {
    let refuse = |problem: &'static str| {
        let [x, y, z, w] = bits;
        let desc = format!("{x}, {y}, {z}, {w} bits, {kind:?}");
        Err(Error::new(ErrorKind::InvalidValue, problem).argument("desc", desc))
    };
    let channels = bits.iter().take_while(|&&bits| bits != 0).count();
    if bits[channels..].iter().any(|&bits| bits != 0) {
        return refuse("a channel stands behind one of 0 bits");
    }
    if ![1, 2, 4].contains(&channels) {
        return refuse("arrays have 1, 2 or 4 channels");
    }
    if bits[..channels].iter().any(|&other| other != bits[0]) {
        return refuse("the channels have different widths");
    }
    let sample = match (kind, bits[0]) {
        (ChannelKind::Signed, 8) => Sample::I8,
        (ChannelKind::Signed, 16) => Sample::I16,
        (ChannelKind::Signed, 32) => Sample::I32,
        (ChannelKind::Unsigned, 8) => Sample::U8,
        (ChannelKind::Unsigned, 16) => Sample::U16,
        (ChannelKind::Unsigned, 32) => Sample::U32,
        (ChannelKind::Float, 16) => Sample::F16,
        (ChannelKind::Float, 32) => Sample::F32,
        (ChannelKind::Float, 8) => return refuse("floating-point channels have 16 or 32 bits"),
        _ => return refuse("channels have 8, 16 or 32 bits"),
    };
    Ok(ImageFormat { channels, sample })
}

impl ImageFormat {
    /// The widths in bits and the kind that [`format`] makes it of.
    pub(crate) fn channel_bits(self) -> ([i32; 4], ChannelKind) {
        let kind = match self.sample {
            Sample::I8 | Sample::I16 | Sample::I32 => ChannelKind::Signed,
            Sample::U8 | Sample::U16 | Sample::U32 => ChannelKind::Unsigned,
            Sample::F16 | Sample::F32 => ChannelKind::Float,
        };
        let width = self.sample.bits() as i32;
        (std::array::from_fn(|channel| if channel < self.channels { width } else { 0 }), kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_widths_and_kind() {
        let samples =
            [Sample::I8, Sample::I16, Sample::I32, Sample::U8, Sample::U16, Sample::U32, Sample::F16, Sample::F32];
        for sample in samples {
            for channels in [1, 2, 4] {
                let made = ImageFormat { channels, sample };
                let (bits, kind) = made.channel_bits();
                assert_eq!(format(bits, kind).expect("a format"), made);
                assert_eq!(made.bytes(), bits.iter().sum::<i32>() as usize / 8);
            }
        }
    }

    #[test]
    fn widths_that_make_no_format_are_refused_with_the_reason() {
        use ChannelKind::{Float, Signed, Unsigned};
        let cases = [
            ([0; 4], Signed, "1, 2 or 4 channels"),
            ([8, 8, 8, 0], Unsigned, "1, 2 or 4 channels"),
            ([8, 0, 8, 0], Signed, "behind one of 0 bits"),
            ([0, 8, 0, 0], Signed, "behind one of 0 bits"),
            ([8, 16, 0, 0], Unsigned, "different widths"),
            ([12, 0, 0, 0], Signed, "8, 16 or 32 bits"),
            ([64, 0, 0, 0], Float, "8, 16 or 32 bits"),
            ([-8, 0, 0, 0], Signed, "8, 16 or 32 bits"),
            ([1, 0, 0, 0], Signed, "8, 16 or 32 bits"),
            ([8, 8, 0, 0], Float, "16 or 32 bits"),
        ];
        for (bits, kind, reason) in cases {
            let error = format(bits, kind).expect_err("a refusal");
            assert_eq!(error.kind(), ErrorKind::InvalidValue);
            assert!(error.to_string().contains(reason), "{bits:?} {kind:?}: {error}");
        }
    }
}
