//! `gridcl check`: does a file build, and what is in it.

use crate::Outcome;
use crate::table::{bytes, print};
use clap::ArgAction;
use gridcl::{Device, Module};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Build kernels and show their signatures, limits and symbols, or the compiler's errors with their lines
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Files of OpenCL C, or binaries that gridcl wrote; each is a module of its own
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    build: BuildOptions,
    #[command(flatten)]
    device: crate::DeviceOption,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How text is built.
#[derive(clap::Args, Debug)]
pub(crate) struct BuildOptions {
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]", action = ArgAction::Append)]
    define: Vec<String>,
    /// Look for included files in this folder
    #[arg(short = 'I', value_name = "FOLDER", action = ArgAction::Append)]
    include: Vec<PathBuf>,
    /// Pass more options to the compiler, for instance -cl-fast-relaxed-math
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    options: Option<String>,
}

impl BuildOptions {
    pub(crate) fn build(&self, device: Device, file: &Path) -> gridcl::Result<Module> {
        let is_plain = self.define.is_empty() && self.include.is_empty() && self.options.is_none();
        if is_plain {
            return Module::from_file(device, file);
        }
        let mut builder = Module::builder(device).file(file);
        for folder in &self.include {
            builder = builder.include_dir(folder);
        }
        for define in &self.define {
            let (name, value) = define.split_once('=').unwrap_or((define, "1"));
            builder = builder.define(name, value);
        }
        if let Some(options) = &self.options {
            builder = builder.option(options);
        }
        builder.build()
    }
}

pub(crate) fn run(options: &Options) -> Outcome {
    let device = options.device.get()?;
    let mut all_well = true;
    let mut list = Vec::new();
    for file in &options.files {
        let built = options.build.build(device, file).and_then(|module| describe(&module));
        all_well &= built.is_ok();
        match (options.json, built) {
            (true, built) => list.push(as_json(file, built)),
            (false, Ok(found)) => print(&as_text(file, &found))?,
            (false, Err(error)) => anstream::eprintln!("\x1b[31;1merror:\x1b[0m {error}"),
        }
    }
    if options.json {
        print(&format!("{:#}\n", Value::Array(list)))?;
    }
    Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Found {
    kernels: Vec<Kernel>,
    symbols: Vec<(String, Option<usize>)>,
}

struct Kernel {
    name: String,
    parameters: Vec<String>,
    limits: gridcl::KernelLimits,
}

fn describe(module: &Module) -> gridcl::Result<Found> {
    let mut kernels = Vec::new();
    for name in module.kernel_names()? {
        let kernel = module.kernel(&name)?;
        let parameters = kernel.parameters()?.iter().map(ToString::to_string).collect();
        kernels.push(Kernel { parameters, limits: kernel.limits()?, name });
    }
    let symbols = module.symbol_names().map(|name| (name.to_owned(), module.symbol_bytes(name).ok())).collect();
    Ok(Found { kernels, symbols })
}

fn as_text(file: &Path, found: &Found) -> String {
    let mut text = format!("\x1b[32;1m{}: builds\x1b[0m\n", file.display());
    for kernel in &found.kernels {
        let limits = &kernel.limits;
        let _ = writeln!(text, "  __kernel void \x1b[1m{}\x1b[0m({})", kernel.name, kernel.parameters.join(", "));
        let _ = writeln!(
            text,
            "      blocks of up to {} work items, {} shared, {} private",
            limits.max_block_size,
            bytes(limits.shared_bytes as f64),
            bytes(limits.private_bytes as f64)
        );
    }
    for (name, size) in &found.symbols {
        let size = size.map_or_else(|| "used by no kernel".into(), |size| bytes(size as f64));
        let _ = writeln!(text, "  symbol \x1b[1m{name}\x1b[0m, {size}");
    }
    text
}

fn as_json(file: &Path, built: gridcl::Result<Found>) -> Value {
    let file = file.display().to_string();
    match built {
        Err(error) => json!({ "file": file, "builds": false, "error": error.to_string() }),
        Ok(found) => {
            let kernel = |kernel: &Kernel| {
                json!({
                    "name": kernel.name,
                    "parameters": kernel.parameters,
                    "max_block_size": kernel.limits.max_block_size,
                    "shared_bytes": kernel.limits.shared_bytes,
                    "private_bytes": kernel.limits.private_bytes,
                })
            };
            let symbol = |(name, size): &(String, Option<usize>)| json!({ "name": name, "bytes": size });
            json!({
                "file": file,
                "builds": true,
                "kernels": found.kernels.iter().map(kernel).collect::<Vec<_>>(),
                "symbols": found.symbols.iter().map(symbol).collect::<Vec<_>>(),
            })
        }
    }
}
