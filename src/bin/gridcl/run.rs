//! `gridcl run`: one kernel of a file, with arguments from the command line.

use crate::Outcome;
use crate::check::BuildOptions;
use crate::measure::percentile;
use crate::operand::{Buffer, Operand, Written};
use crate::table::{print, time};
use gridcl::{Argument, Device, DeviceBuffer, Dim3, Event, Kernel, KernelArg, Local, Stream};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

const ARGUMENTS: &str = "\
Arguments, one --arg for each parameter of the kernel, in order:
  3, 2.5, 0x10        a number; 1,2,3,4 for a vector
  @FILE.npy           a buffer with the contents of NumPy's file, whose type has to be the parameter's
  @FILE               a buffer with a file's bytes
  zeros:COUNT         a buffer of zeros; COUNT is a number of elements, or a shape such as 32x32
  range:COUNT         0, 1, 2, …
  random:COUNT        random numbers: reals from 0 to 1, integers from 0 to 255; `,seed=N` for others
  local:BYTES         shared memory of a block
A buffer's contents after the launch go to a file with `,out=FILE` (.npy, or bytes by any other name).

  gridcl run saxpy.cl saxpy --grid 4 --block 256 --arg 2.0 --arg @x.npy --arg @y.npy,out=y.npy --arg 1000";

/// Run a kernel from a file
#[derive(clap::Args, Debug)]
#[command(after_help = ARGUMENTS)]
pub(crate) struct Options {
    /// A file of OpenCL C, or a binary that gridcl wrote
    file: PathBuf,
    /// The kernel's name
    kernel: String,
    /// Blocks of the grid: X, X,Y or X,Y,Z
    #[arg(short, long, value_parser = dim3, default_value = "1")]
    grid: Dim3,
    /// Work items of a block: X, X,Y or X,Y,Z
    #[arg(short, long, value_parser = dim3, default_value = "1")]
    block: Dim3,
    /// Shared memory for the kernel's one __local parameter, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    shared: usize,
    /// An argument, see below
    #[arg(short, long = "arg", value_name = "ARGUMENT", allow_hyphen_values = true)]
    arguments: Vec<Written>,
    /// Launch so often, and show the times. Buffers keep what the launch before left in them
    #[arg(short, long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    repeat: Option<u32>,
    /// Print so many values of each buffer
    #[arg(short, long, value_name = "COUNT", default_value_t = 8)]
    print: usize,
    #[command(flatten)]
    build: BuildOptions,
    #[command(flatten)]
    device: crate::DeviceOption,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads `4,2,1`.
fn dim3(text: &str) -> Result<Dim3, String> {
    let axes: Result<Vec<u32>, _> = text.split([',', 'x']).map(|axis| axis.trim().parse()).collect();
    match axes.as_deref() {
        Ok([x]) => Ok(Dim3::from(*x)),
        Ok([x, y]) => Ok(Dim3::from((*x, *y))),
        Ok([x, y, z]) => Ok(Dim3::from((*x, *y, *z))),
        _ => Err("not a shape; 256, 16,16 and 4,4,4 are".into()),
    }
}

pub(crate) fn run(options: &Options) -> Outcome {
    let device = options.device.get()?;
    let module = options.build.build(device, &options.file)?;
    let kernel = module.kernel(&options.kernel)?;
    let operands = operands(options, &kernel)?;
    let stream = device.create_stream()?;
    let mut arguments: Vec<Box<dyn KernelArg>> = Vec::new();
    let mut buffers: Vec<(Buffer, Arc<DeviceBuffer<u8>>)> = Vec::new();
    for operand in operands {
        match operand {
            Operand::Value(bytes) => arguments.push(value(&bytes)?),
            Operand::Local(bytes) => arguments.push(Box::new(Local(bytes))),
            Operand::Buffer(buffer) => {
                let there = Arc::new(DeviceBuffer::from_slice(&stream, &buffer.data)?);
                arguments.push(Box::new(Shared(Arc::clone(&there))));
                buffers.push((buffer, there));
            }
        }
    }
    let times = launch(options, &kernel, &stream, device, &arguments)?;
    let results: gridcl::Result<Vec<Vec<u8>>> = buffers.iter().map(|(_, there)| there.to_vec(&stream)).collect();
    let results = results?;
    for ((buffer, _), data) in buffers.iter().zip(&results) {
        if let Some(path) = &buffer.out {
            buffer.save(path, data)?;
        }
    }
    let shown: Vec<(&Buffer, &Vec<u8>)> = buffers.iter().map(|(buffer, _)| buffer).zip(&results).collect();
    if options.json {
        print(&format!("{:#}\n", as_json(options, device, &times, &shown)))?;
    } else {
        print(&as_text(options, device, &times, &shown))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn operands(options: &Options, kernel: &Kernel) -> Result<Vec<Operand>, String> {
    let given = &options.arguments;
    let parameters = kernel.parameters().map_err(|error| error.to_string())?;
    if given.len() != parameters.len() {
        let list: Vec<String> = parameters.iter().map(ToString::to_string).collect();
        let list = list.join(", ");
        return Err(format!(
            "{} takes {} arguments, and {} are given: {list}",
            kernel.name(),
            parameters.len(),
            given.len()
        ));
    }
    given.iter().zip(&parameters).map(|(given, parameter)| given.fit(parameter)).collect()
}

/// A buffer that is an argument and read afterwards.
struct Shared(Arc<DeviceBuffer<u8>>);

// SAFETY: it is what the buffer itself gives.
unsafe impl KernelArg for Shared {
    fn argument(&self) -> Argument<'_> {
        self.0.argument()
    }
}

/// A value of any size that OpenCL C's types have.
fn value(bytes: &[u8]) -> Result<Box<dyn KernelArg>, String> {
    fn of<const N: usize>(bytes: &[u8]) -> Option<Box<dyn KernelArg>>
    where
        [u8; N]: KernelArg,
    {
        <[u8; N]>::try_from(bytes).ok().map(|value| Box::new(value) as Box<dyn KernelArg>)
    }
    let fits = [of::<1>, of::<2>, of::<4>, of::<8>, of::<16>, of::<32>, of::<64>, of::<128>];
    let value = fits.iter().find_map(|fit| fit(bytes));
    value.ok_or_else(|| format!("values of {} bytes cannot be given here", bytes.len()))
}

/// Nanoseconds of each launch, by events.
fn launch(
    options: &Options,
    kernel: &Kernel,
    stream: &Stream,
    device: Device,
    arguments: &[Box<dyn KernelArg>],
) -> gridcl::Result<Vec<f64>> {
    let (start, stop) = (Event::new(device)?, Event::new(device)?);
    // Without a number the first launch is the only one, and the compiler may work in it.
    let mut times = Vec::new();
    for _ in 0..options.repeat.unwrap_or(1) {
        start.record(stream)?;
        let mut launch = kernel.launch(options.grid, options.block).shared(options.shared).stream(stream);
        for argument in arguments {
            launch = launch.arg(&**argument);
        }
        // SAFETY: what the kernel touches is up to who wrote it, and to the arguments given.
        unsafe { launch.run() }?;
        stop.record(stream)?;
        stop.synchronize()?;
        times.push(f64::from(stop.elapsed_since(&start)?) * 1e6);
    }
    Ok(times)
}

fn as_text(options: &Options, device: Device, times: &[f64], buffers: &[(&Buffer, &Vec<u8>)]) -> String {
    let mut text = format!("{} <<<{}, {}>>> on {device}\n", options.kernel, options.grid, options.block);
    if options.repeat.is_some() {
        let at = |part| time(percentile(times.to_vec(), part));
        let _ = writeln!(text, "  {} launches: min {}, median {}, max {}", times.len(), at(0.0), at(0.5), at(1.0));
    }
    for (buffer, data) in buffers {
        let _ = writeln!(text, "  {}: {}", buffer.name, buffer.show(data, options.print));
        if let Some(path) = &buffer.out {
            let _ = writeln!(text, "      written to {}", path.display());
        }
    }
    text
}

fn as_json(options: &Options, device: Device, times: &[f64], buffers: &[(&Buffer, &Vec<u8>)]) -> Value {
    let at = |part| percentile(times.to_vec(), part);
    let buffer = |(buffer, data): &(&Buffer, &Vec<u8>)| {
        let size = buffer.element.scalar.bytes();
        let values: Vec<String> =
            data.chunks_exact(size).take(options.print).map(|part| buffer.element.scalar.show(part)).collect();
        json!({ "name": buffer.name, "type": buffer.element.scalar.numpy(), "shape": buffer.shape, "first": values })
    };
    json!({
        "kernel": options.kernel,
        "device": { "ordinal": device.ordinal(), "name": device.name() },
        "grid": [options.grid.x, options.grid.y, options.grid.z],
        "block": [options.block.x, options.block.y, options.block.z],
        "launches": times.len(),
        "min_ns": at(0.0), "median_ns": at(0.5), "max_ns": at(1.0),
        "buffers": buffers.iter().map(buffer).collect::<Vec<_>>(),
    })
}
