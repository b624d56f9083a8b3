//! The same work through gridcl and in CUDA C++ (`native.cu`), in turn on one GPU; see `README.md` here.
//!
//! `native [--cuda PROGRAM] [--small] [--sweep] [ROW...]` runs the rows whose names begin like one of those given. The
//! CUDA program is a child that this one tells what to do, so that the two sides take turns within a row. Ends with 1
//! when a result is wrong; slowness fails nothing.

#![allow(clippy::panic, reason = "a benchmark that cannot run says so by ending")]

mod kernels;
mod memory;
mod side;
mod sweep;
mod table;

use gridcl::Device;
use side::{Cuda, Gridcl};
use std::process::ExitCode;
use table::{ROWS, Table};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    let (mut cuda, mut shift, mut sweeps, mut wanted) = (None, 0, false, Vec::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--cuda" => cuda = arguments.next(),
            // A two hundred and fifty-sixth of all sizes, to try it on a CPU.
            "--small" => shift = 8,
            "--sweep" => sweeps = true,
            // What cargo passes to every benchmark.
            "--bench" => {}
            row => wanted.push(row.to_owned()),
        }
    }
    let device = Device::get(0).unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(1);
    });
    println!("{device}, {} {}, memory {}", device.platform(), device.driver_version(), device.memory_form());
    if sweeps {
        sweep::run(device, shift);
        return ExitCode::SUCCESS;
    }
    let mut cuda = cuda.map(|program| Cuda::start(&program, shift));
    let mut gridcl = Gridcl::new(shift);
    let mut table = Table::default();
    for row in ROWS.iter().filter(|row| wanted.is_empty() || wanted.iter().any(|name| row.name.starts_with(&**name))) {
        table.measure(row, &mut gridcl, cuda.as_mut());
    }
    table.print();
    if table.is_wrong() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
