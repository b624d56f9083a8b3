//! The command-line program `gridcl`, run as people run it: what it prints, its JSON, and how it ends.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod commands;
mod kernels;
mod page;
mod program;
mod timelines;
