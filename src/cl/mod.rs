//! The OpenCL border: the only folder that calls OpenCL.
//!
//! Each file owns one kind of OpenCL object as a type that releases itself, and every entry point passes
//! [`call::call`], which logs it, lets tests make it fail, and names it in the error. The objects are thin: they
//! know what OpenCL asks of them and nothing of streams, allocations or launches. What a driver lacks or gets
//! wrong is found out once, in [`caps`].
//!
//! Who validates what: this folder trusts its caller with sizes and bounds (the runtime has checked them against
//! its own records, because drivers do not) and reports whatever OpenCL answers.

pub(crate) mod block;
pub(crate) mod call;
pub(crate) mod caps;
pub(crate) mod context;
pub(crate) mod event;
pub(crate) mod ext;
pub(crate) mod image;
pub(crate) mod kernel;
pub(crate) mod platform;
pub(crate) mod program;
pub(crate) mod queue;
pub(crate) mod status;
pub(crate) mod watch;

pub(crate) use block::{Buffer, HostBuffer, Svm};
pub(crate) use caps::{Caps, DeviceType};
pub(crate) use context::Context;
pub(crate) use event::{Event, Progress, UserEvent};
pub(crate) use image::{Image, ImageFormat, ImagePart, ImageType, Sample, SamplerObject};
pub(crate) use kernel::{AddressSpace, Kernel};
pub(crate) use program::Program;
pub(crate) use queue::Queue;
pub(crate) use status::Failure;
