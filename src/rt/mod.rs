//! The runtime: devices, memory, copies, streams, events, modules and launches, in terms of OpenCL.
//!
//! It knows no dialect: no vendor's name, number or null rule appears here. Each folder is one subject; within it
//! the parts that decide ([`memory::address`], [`memory::slab`], [`stream::order`], [`copy::plan`],
//! [`launch::check`]) take plain data and are tested without a device, and the parts that act carry the decision
//! to [`crate::cl`].
//!
//! Locks, from the outside in: the address map (a lookup, never held across a call), then one lane lock a context
//! ([`stream::lanes`]), which covers deciding an order and enqueuing it and is never held while waiting or in user
//! code, then the pools.

pub(crate) mod context;
pub(crate) mod copy;
pub(crate) mod device;
pub(crate) mod event;
#[cfg(feature = "async")]
pub(crate) mod future;
pub(crate) mod ipc;
pub(crate) mod lacks;
pub(crate) mod launch;
pub(crate) mod memory;
pub(crate) mod module;
pub(crate) mod runtime;
pub(crate) mod stream;
pub(crate) mod timeline;
