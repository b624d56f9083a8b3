//! Kernels in the shapes that programs bring along: the loops, data structures and argument lists of the public
//! benchmark suites (dense algebra, graphs, grids, images, particles, sequences, sparse matrices, counting) and in the
//! spellings that texts come in, written anew for this purpose and checked against plain code for the host.
//!
//! One binary that reads no files, so that a machine without Rust can be handed it. What a device lacks (`double`,
//! 64-bit atomics, `half`, pointers in memory, images) is skipped by name.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::undocumented_unsafe_blocks,
    unreachable_pub,
    reason = "a test says what it expects by failing; launches stay within buffers that the same lines make"
)]

#[macro_use]
mod support;

mod counting;
mod dense;
mod graphs;
mod grids;
mod images;
mod particles;
mod sequences;
mod sparse;
mod spellings;
mod symbols;
mod vectors;
