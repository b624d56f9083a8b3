//! `gridcl trace view`: a timeline as one page that needs nothing else.

use super::read::{Timeline, TrackId, read};
use crate::Outcome;
use crate::table::print;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// Make one self-contained page that shows the timeline, also offline
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// What GRIDCL_TRACE wrote
    file: PathBuf,
    /// The page; without it the timeline's name with .html
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

pub(crate) fn run(options: &Options) -> Outcome {
    let timeline = read(&options.file)?;
    let output = options.output.clone().unwrap_or_else(|| options.file.with_extension("html"));
    if output == options.file {
        return Err(format!("{} is the timeline itself; name the page with -o", output.display()).into());
    }
    std::fs::write(&output, page(&timeline)).map_err(|error| format!("{}: {error}", output.display()))?;
    print(&format!("{}\n", output.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn page(timeline: &Timeline) -> String {
    // Within a script nothing may look like its end.
    let data = data(timeline).to_string().replace("</", "<\\/").replace("<!--", "<\\!--");
    let title = timeline.program.replace('&', "&amp;").replace('<', "&lt;");
    PAGE.replace("{{title}}", &title)
        .replace("{{style}}", STYLE)
        .replace("{{script}}", SCRIPT)
        .replace("{{data}}", &data)
}

/// What the script draws. Times are in nanoseconds from the first event.
fn data(timeline: &Timeline) -> Value {
    let starts = timeline.tracks.values().flat_map(|track| {
        track.slices.iter().map(|slice| slice.start).chain(track.moments.iter().map(|moment| moment.at))
    });
    let origin = starts.min().unwrap_or(0);
    let mut strings = Strings::default();
    let mut numbers: BTreeMap<TrackId, usize> = BTreeMap::new();
    let mut tracks = Vec::new();
    for (id, track) in timeline.tracks.iter().filter(|(_, track)| !track.slices.is_empty()) {
        numbers.insert(*id, tracks.len());
        let mut open: Vec<u64> = Vec::new();
        let mut slices = Vec::new();
        for slice in &track.slices {
            while open.last().is_some_and(|end| *end <= slice.start) {
                open.pop();
            }
            let details: Vec<usize> =
                slice.details.iter().flat_map(|(name, value)| [strings.number(name), strings.number(value)]).collect();
            slices.push(json!([
                slice.start - origin,
                slice.end - slice.start,
                strings.number(&slice.name),
                strings.number(&slice.category),
                open.len(),
                details,
            ]));
            open.push(slice.end);
        }
        let moments: Vec<Value> =
            track.moments.iter().map(|moment| json!([moment.at - origin, strings.number(&moment.name)])).collect();
        let process = if id.is_device() { &track.process } else { &timeline.program };
        tracks.push(json!({
            "process": process, "name": track.name, "device": id.is_device(), "slices": slices, "moments": moments,
        }));
    }
    let arrows = timeline.arrows.iter().filter_map(|arrow| {
        let (from, to) = (numbers.get(&arrow.from.0)?, numbers.get(&arrow.to.0)?);
        Some(json!([from, arrow.from.1.saturating_sub(origin), to, arrow.to.1.saturating_sub(origin)]))
    });
    let arrows: Vec<Value> = arrows.collect();
    json!({ "title": timeline.program, "tracks": tracks, "arrows": arrows, "strings": strings.list })
}

/// Texts by number, since most occur often.
#[derive(Default)]
struct Strings {
    list: Vec<String>,
    known: BTreeMap<String, usize>,
}

impl Strings {
    fn number(&mut self, text: &str) -> usize {
        if let Some(number) = self.known.get(text) {
            return *number;
        }
        self.list.push(text.to_owned());
        self.known.insert(text.to_owned(), self.list.len() - 1);
        self.list.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::read::parse;
    use super::*;

    #[test]
    fn no_name_ends_the_script_early() {
        let text = r#"[{"ph":"X","pid":1,"tid":1,"ts":5,"dur":2,"cat":"api","name":"</script><b>{{data}}","args":{"x":"<!--"}}]"#;
        let page = page(&parse(text).expect("a timeline"));
        assert_eq!(page.matches("</script>").count(), 2, "the data's and the script's own");
        assert!(!page.contains("<!--"));
        assert!(!page.contains("http://") && !page.contains("https://"), "nothing is fetched");
    }
}
