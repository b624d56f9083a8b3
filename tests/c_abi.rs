//! The C ABI: `libgridcl.so` and the headers of `include`, with the system's compilers. C programs, printed from what
//! Rust compiled, hold the headers against it; those of `examples/c` and `tests/c_abi` are compiled, linked and run.
//!
//! The library is the one that cargo makes beside this test, since the package asks itself for the feature `capi` when
//! it is tested. Where there is no compiler the tests that need one say so and pass.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test says what it expects by failing")]

#[path = "header/c.rs"]
mod c;
#[path = "c_abi/check.rs"]
mod check;
#[path = "c_abi/exports.rs"]
mod exports;
#[path = "c_abi/install.rs"]
mod install;
#[path = "c_abi/programs.rs"]
mod programs;
#[path = "c_abi/tools.rs"]
mod tools;
#[path = "c_abi/trace.rs"]
mod trace;
#[path = "c_abi/values.rs"]
mod values;
