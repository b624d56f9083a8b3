//! The functions of the MUSA dialect, a line each, in the files of [`device`], [`memory`] and [`work`].

mod device;
mod memory;
mod work;

use crate::dialect::{Entry, joined};
pub use device::*;
pub use memory::*;
pub use work::*;

/// Every function of the dialect, in the order of the tables.
pub const TABLE: &[Entry] = &joined::<{ device::TABLE.len() + memory::TABLE.len() + work::TABLE.len() }>(&[
    device::TABLE,
    memory::TABLE,
    work::TABLE,
]);
