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

mod child;

mod copies;
mod default_stream;
mod devices;
mod errors;
mod events;
mod launches;
mod memory;
mod modules;
mod process;
mod safe;
mod streams;
mod symbols;
