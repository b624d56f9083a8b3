//! gridcl
pub mod api;
mod cl;
pub mod dialect;
mod error;
mod rt;
#[cfg(feature = "testing")]
pub mod testing;
mod trace;
pub use api::prelude;
pub use api::{DeviceBuffer, DevicePtr, DeviceSlice, DeviceSliceMut, PinnedBuffer, PinnedSlice, PinnedSliceMut};
pub use cl::caps::DeviceType;
#[cfg(feature = "musa")]
pub use dialect::musa;
pub use dialect::thread::last_error_detail;
#[cfg(feature = "tops")]
pub use dialect::tops;
pub use error::{Error, ErrorKind, Result};
pub use rt::device::Device;
pub use rt::event::{Event, EventFlags};
pub use rt::launch::args::{Argument, KernelArg, Local};
pub use rt::launch::{Dim3, Launch};
pub use rt::module::{Kernel, Module};
pub use rt::stream::{Stream, StreamFlags};
