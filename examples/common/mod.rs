//! What the examples share and nobody needs to read first: the log, one argument, and how a program ends.

#![allow(dead_code, reason = "no example needs all of it")]

use std::error::Error;
use std::process::{ExitCode, exit};

/// Starts the log and answers the program's one argument, if it was given. Prints `usage` and ends the program when
/// it was asked for, or when there are more arguments.
///
/// `GRIDCL_LOG=api` prints every `musa*` and `tops*` call with its arguments, result and time, `GRIDCL_LOG=cl` what
/// OpenCL was asked to do as well, `GRIDCL_LOG=warn` failures alone. Anything else is a filter as env_logger takes it.
pub(crate) fn argument(usage: &str) -> Option<String> {
    let filter = std::env::var("GRIDCL_LOG").unwrap_or_default();
    env_logger::Builder::new()
        .parse_filters(match filter.as_str() {
            "api" => "gridcl::api=debug,gridcl::warn=warn",
            "cl" => "gridcl=trace",
            other => other,
        })
        .init();
    let mut arguments = std::env::args().skip(1);
    let argument = arguments.next();
    match argument.as_deref() {
        Some("-h" | "--help") => {
            println!("usage: {usage}");
            exit(0);
        }
        Some(option) if option.starts_with('-') => wrong(usage, &format!("there is no option {option}")),
        _ if arguments.next().is_some() => wrong(usage, "one argument at most"),
        _ => argument,
    }
}

/// The same for an argument that says how many, at least 1; `default` where it was not given.
pub(crate) fn count(usage: &str, default: usize) -> usize {
    let Some(argument) = argument(usage) else { return default };
    // The kernels count in OpenCL's `int`.
    match argument.parse::<i32>() {
        Ok(count @ 1..) => count as usize,
        _ => wrong(usage, &format!("\"{argument}\" is not a number from 1 to {}", i32::MAX)),
    }
}

fn wrong(usage: &str, problem: &str) -> ! {
    eprintln!("{problem}\nusage: {usage}");
    exit(2)
}

/// Ends `main`: says what went wrong, if anything did. gridcl's errors say which call, which argument and why.
pub(crate) fn end(outcome: Result<(), Box<dyn Error>>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("failed: {error}");
            ExitCode::FAILURE
        }
    }
}
