//! `gridcl doctor`: what keeps gridcl from working here, and the command that mends it.

mod driver;
mod environment;

use crate::Outcome;
use crate::table::print;
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::ExitCode;

/// Look at the OpenCL loader, drivers, permissions, cache and environment: what is wrong and how to mend it
#[derive(clap::Args, Debug)]
#[command(after_help = "It ends with 1 when something keeps gridcl from working; warnings do not count.")]
pub(crate) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was found about one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) grade: Grade,
    pub(crate) what: String,
    /// A command, or what to do.
    pub(crate) mend: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grade {
    Good,
    /// It works, but not as well as it could, or not as somebody wished.
    Warning,
    Bad,
}

impl Finding {
    pub(crate) fn good(what: impl Into<String>) -> Self {
        Self { grade: Grade::Good, what: what.into(), mend: None }
    }

    pub(crate) fn warning(what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { grade: Grade::Warning, what: what.into(), mend: Some(mend.into()) }
    }

    pub(crate) fn bad(what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { grade: Grade::Bad, what: what.into(), mend: Some(mend.into()) }
    }
}

pub(crate) fn run(options: &Options) -> Outcome {
    let parts = [
        ("loader and drivers", driver::loader()),
        ("hardware", driver::hardware()),
        ("devices", driver::devices()),
        ("cache of built modules", environment::cache()),
        ("environment variables", environment::variables()),
    ];
    let is_well = parts.iter().flat_map(|(_, findings)| findings).all(|finding| finding.grade != Grade::Bad);
    if options.json {
        print(&format!("{:#}\n", as_json(&parts, is_well)))?;
    } else {
        print(&as_text(&parts, is_well))?;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn as_text(parts: &[(&str, Vec<Finding>)], is_well: bool) -> String {
    let mut text = String::new();
    for (title, findings) in parts.iter().filter(|(_, findings)| !findings.is_empty()) {
        let _ = writeln!(text, "\x1b[1m{title}\x1b[0m");
        for finding in findings {
            let mark = match finding.grade {
                Grade::Good => "\x1b[32mok     \x1b[0m",
                Grade::Warning => "\x1b[33mwarning\x1b[0m",
                Grade::Bad => "\x1b[31mwrong  \x1b[0m",
            };
            let _ = writeln!(text, "  {mark}  {}", finding.what);
            for line in finding.mend.iter().flat_map(|mend| mend.lines()) {
                let _ = writeln!(text, "           \x1b[36m{line}\x1b[0m");
            }
        }
    }
    let end = if is_well { "gridcl works here." } else { "gridcl does not work here; mend what is marked as wrong." };
    let _ = writeln!(text, "\n{end}");
    text
}

fn as_json(parts: &[(&str, Vec<Finding>)], is_well: bool) -> Value {
    let mut list = Vec::new();
    for (part, findings) in parts {
        for finding in findings {
            let grade = match finding.grade {
                Grade::Good => "ok",
                Grade::Warning => "warning",
                Grade::Bad => "wrong",
            };
            list.push(json!({ "part": part, "grade": grade, "what": finding.what, "mend": finding.mend }));
        }
    }
    json!({ "works": is_well, "findings": list })
}
