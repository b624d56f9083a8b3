//! What the runtime does, chapter by chapter of the seeds, against the rows of the behaviour table.
//!
//! One binary, so that a machine without Rust can be handed it. Tests of both dialects are written once, over
//! [`dialects`]; every test takes `gridcl::testing::guard()` first, so that tests run one after the other and each
//! ends with as many OpenCL objects as it began with.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::undocumented_unsafe_blocks,
    unreachable_pub,
    reason = "a test says what it expects by failing"
)]

#[macro_use]
mod dialects;
#[macro_use]
mod support;
#[macro_use]
mod blocks;
mod boxes;
#[macro_use]
mod steps;

mod child;
#[macro_use]
mod peer;
mod watchdog;
mod work;

mod array_tools;
mod arrays;
mod arrays_3d;
mod arrays_kernels;
mod arrays_order;
mod call_counts;
mod callbacks;
mod copies;
mod copies_async;
mod copies_named;
mod copies_refused;
mod current_device;
mod default_stream;
mod device_faults;
mod devices;
mod errors;
mod event_model;
mod event_waits;
mod events;
mod faults;
mod functions;
mod futures;
mod ipc;
mod ipc_handles;
mod large;
mod launch_arguments;
mod launch_builder;
mod launch_steps;
mod launches;
mod load;
mod managed;
mod memory;
mod memory_awaited;
mod memory_host;
mod memory_model;
mod module_binaries;
mod module_launch;
mod module_packing;
mod module_parts;
mod module_sources;
mod modules;
mod orders;
mod peer_access;
mod peer_boxes;
mod peer_copies;
mod peer_order;
mod pitched;
mod pitched_refused;
mod pitched_safe;
mod pointers;
mod pools;
mod pools_kept;
mod process;
mod programs;
mod random_copies;
mod refused;
mod registered;
mod safe;
mod safe_lifetimes;
mod sets;
mod sets_wide;
mod staged_copies;
mod stream_ends;
mod stream_faults;
mod streams;
mod symbol_copies;
mod symbols;
mod timing;
mod unordered;
mod zero_copy;
