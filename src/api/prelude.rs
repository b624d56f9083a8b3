//! What most programs import: `use gridcl::prelude::*;`.

pub use super::{DeviceBuffer, PinnedBuffer};
pub use crate::launch;
pub use crate::rt::device::Device;
pub use crate::rt::event::{Event, EventFlags};
pub use crate::rt::launch::Dim3;
pub use crate::rt::launch::args::{KernelArg, Local};
pub use crate::rt::module::{Kernel, Module};
pub use crate::rt::stream::{Stream, StreamFlags};
