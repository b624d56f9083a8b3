//! The timeline (`GRIDCL_TRACE`): programs of both dialects and the safe API, traced in processes of their own, and
//! their files read as Chrome and Perfetto read them.
//!
//! A test starts this binary again with the name of a program of `programs.rs`, which is a test as well and does nothing
//! when it is not asked for by name.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod child;
mod events;
mod files;
mod programs;
mod work;
