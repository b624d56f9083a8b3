//! The safe surface over the runtime: buffers with types and owners, copies that cannot outlive what they touch.

mod array;
mod buffer;
mod copy;
mod layout;
mod managed;
mod pinned;
mod pitched;
mod symbol;

pub use array::{Array, ArrayShape, Texel};
pub use buffer::{DeviceBuffer, DevicePtr, DeviceSlice, DeviceSliceMut};
pub use copy::{Source, Target};
pub use layout::Shape;
pub use managed::{ManagedBuffer, ManagedRead, ManagedWrite};
pub use pinned::{PinnedBuffer, PinnedSlice, PinnedSliceMut, Reading, Writing};
pub use pitched::{PitchedBuffer, PitchedView, PitchedViewMut, Strided};
