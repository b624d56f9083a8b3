//! The kernels of `kernels_cl/` behind safe functions: what a program on top of gridcl may look like.
//!
//! Each function checks what its kernels rely on (lengths, shapes, counts that fit 32 bits) and answers an error
//! otherwise, so no caller needs `unsafe`. All work goes into the caller's stream and nothing waits for it, except
//! where a result comes back to the host. Memory that only a function needs is allocated and dropped there: it is used
//! again when the work under way is done with it. Examples and `tests/kernels_cl.rs` share these files.

#![allow(dead_code, unused_imports, reason = "no program needs all of it")]

mod bodies;
mod fields;
mod linear;
mod matrix;
mod reduce;
mod scan;
mod sort;

pub(crate) use bodies::{Bodies, NBody};
pub(crate) use fields::{Convolution, Heat, Volume};
pub(crate) use linear::Linear;
pub(crate) use matrix::Matrix;
pub(crate) use reduce::{Histogram, Reduction};
pub(crate) use scan::Scan;
pub(crate) use sort::RadixSort;

use bytemuck::Pod;
use gridcl::{Device, Error, ErrorKind, Module, Result};

/// Work items of a block of one dimension; any device can run as many.
pub(crate) const BLOCK: u32 = 256;

/// A number that kernels are built for.
pub(crate) trait Number: Pod + PartialOrd {
    /// What OpenCL C calls it.
    const NAME: &'static str;
    /// Whether it is `float` or `double`.
    const FLOATING: bool = false;
}

impl Number for i32 {
    const NAME: &'static str = "int";
}

impl Number for u32 {
    const NAME: &'static str = "uint";
}

impl Number for i64 {
    const NAME: &'static str = "long";
}

impl Number for u64 {
    const NAME: &'static str = "ulong";
}

impl Number for f32 {
    const NAME: &'static str = "float";
    const FLOATING: bool = true;
}

/// Not every device has `double`; where there is none, building its kernels fails.
impl Number for f64 {
    const NAME: &'static str = "double";
    const FLOATING: bool = true;
}

/// Builds a text for one type of number.
fn module_for<T: Number>(device: Device, source: &str, more_options: &str) -> Result<Module> {
    let floating = u8::from(T::FLOATING);
    let options = format!("-DT={} -DFLOATING={floating} -DBLOCK={BLOCK} {more_options}", T::NAME);
    Module::with_options(device, source, &options)
}

/// A number of elements as kernels count them. Half of what 32 bits hold, so that the last block may reach past it.
fn count(argument: &'static str, elements: usize) -> Result<u32> {
    i32::try_from(elements).map(|elements| elements as u32).map_err(|_| {
        Error::new(ErrorKind::InvalidValue, format!("the kernel counts up to {} elements", i32::MAX))
            .argument(argument, elements)
    })
}

/// Refuses a length other than `expected`.
fn same_length(argument: &'static str, elements: usize, expected: usize) -> Result<()> {
    if elements == expected {
        return Ok(());
    }
    let problem = format!("it needs {expected} elements, as many as the others");
    Err(Error::new(ErrorKind::InvalidValue, problem).argument(argument, format_args!("{elements} elements")))
}
