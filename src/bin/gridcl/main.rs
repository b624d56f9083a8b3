//! `gridcl`, the command-line program: what devices there are and how fast, kernels built and run from files, what is
//! wrong with an installation, and timelines read. It uses the public API.
//!
//! It ends with 0, with 1 when something failed, and with 2 when it was called wrongly.

mod bandwidth;
mod check;
mod doctor;
mod element;
mod info;
mod latency;
mod measure;
mod npy;
mod operand;
mod plot;
mod run;
mod table;
mod timeline;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand};
use std::error::Error;
use std::io::ErrorKind::BrokenPipe;
use std::process::ExitCode;

/// How a command ends: well, not well after it has said all there is to say, or by an error.
pub(crate) type Outcome = Result<ExitCode, Box<dyn Error>>;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// CUDA-style runtime APIs on any OpenCL device: look at devices, measure them, run kernels, read timelines.
#[derive(Parser)]
#[command(version, styles = STYLES, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Environment variables (GRIDCL_DEVICES, GRIDCL_MEMORY, GRIDCL_TRACE, GRIDCL_LOG, …) are \
    described in docs/environment.md. `gridcl doctor` says what is wrong when nothing works.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Info(info::Options),
    Bandwidth(bandwidth::Options),
    Latency(latency::Options),
    Run(run::Options),
    Check(check::Options),
    Doctor(doctor::Options),
    #[command(subcommand)]
    Trace(timeline::Command),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    start_log();
    let outcome = match cli.command {
        Command::Info(options) => info::run(&options),
        Command::Bandwidth(options) => bandwidth::run(&options),
        Command::Latency(options) => latency::run(&options),
        Command::Run(options) => run::run(&options),
        Command::Check(options) => check::run(&options),
        Command::Doctor(options) => doctor::run(&options),
        Command::Trace(command) => timeline::run(&command),
    };
    outcome.unwrap_or_else(|error| {
        // Whoever reads has read enough, as `gridcl … | head` does.
        if error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == BrokenPipe) {
            return ExitCode::SUCCESS;
        }
        anstream::eprintln!("\x1b[31;1merror:\x1b[0m {error}");
        ExitCode::FAILURE
    })
}

/// `GRIDCL_LOG` as everywhere: `api`, `cl`, `warn`, or a filter.
fn start_log() {
    let Ok(filter) = std::env::var("GRIDCL_LOG") else { return };
    let filters = match filter.as_str() {
        "api" => "gridcl::api=debug,gridcl::warn=warn",
        "cl" => "gridcl=trace",
        "warn" => "gridcl::warn=warn",
        other => other,
    };
    let _ = env_logger::Builder::new().parse_filters(filters).try_init();
}

/// The device that a command works on.
#[derive(clap::Args, Debug)]
pub(crate) struct DeviceOption {
    /// The device, by its number in `gridcl info`
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    device: usize,
}

impl DeviceOption {
    fn get(&self) -> gridcl::Result<gridcl::Device> {
        gridcl::Device::get(self.device)
    }
}
