//! `gridcl trace`: timelines that `GRIDCL_TRACE` wrote, as tables and as a page.

mod read;
mod spans;
mod summary;
mod view;

use crate::Outcome;

/// Read a timeline that a program wrote with GRIDCL_TRACE=out.json
#[derive(clap::Subcommand, Debug)]
#[command(after_help = "  GRIDCL_TRACE=out.json ./my_program\n  gridcl trace summary out.json\n  \
    gridcl trace view out.json -o out.html\n\nPerfetto (ui.perfetto.dev) opens the file as well.")]
pub(crate) enum Command {
    Summary(summary::Options),
    View(view::Options),
}

pub(crate) fn run(command: &Command) -> Outcome {
    match command {
        Command::Summary(options) => summary::run(options),
        Command::View(options) => view::run(options),
    }
}
