//! A timeline's file, read: whole, or as far as a program that was killed came.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// What a file holds.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    /// The program's name.
    pub(crate) program: String,
    pub(crate) tracks: BTreeMap<TrackId, Track>,
    pub(crate) arrows: Vec<Arrow>,
    /// Commands of which nobody saw the end.
    pub(crate) lost: u64,
    /// Whether the file has its end.
    pub(crate) is_whole: bool,
}

/// Process (1 is the program, the others are devices) and thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TrackId {
    pub(crate) process: u64,
    pub(crate) thread: u64,
}

impl TrackId {
    pub(crate) fn is_device(self) -> bool {
        self.process > 1
    }
}

#[derive(Debug, Default)]
pub(crate) struct Track {
    /// The device's name, or nothing.
    pub(crate) process: String,
    pub(crate) name: String,
    /// In the order of their beginning.
    pub(crate) slices: Vec<Slice>,
    pub(crate) moments: Vec<Moment>,
}

/// Something that took a while. Times are in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slice {
    pub(crate) category: String,
    pub(crate) name: String,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) bytes: u64,
    pub(crate) details: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Moment {
    pub(crate) name: String,
    pub(crate) at: u64,
}

/// From a call to the work that it enqueued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrow {
    pub(crate) from: (TrackId, u64),
    pub(crate) to: (TrackId, u64),
}

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<Timeline, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&text).map_err(|problem| format!("{}: {problem}", path.display()))
}

pub(crate) fn parse(text: &str) -> Result<Timeline, String> {
    let mut timeline = Timeline::default();
    let mut names = Names::default();
    let events = match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(events)) => {
            timeline.is_whole = true;
            events
        }
        Ok(Value::Object(mut object)) => match object.remove("traceEvents") {
            Some(Value::Array(events)) => {
                timeline.is_whole = true;
                events
            }
            _ => return Err("it holds no events; is it a timeline?".into()),
        },
        Ok(_) => return Err("it is not a timeline".into()),
        Err(error) => whole_lines(text).ok_or(format!("it is not a timeline: {error}"))?,
    };
    let mut starts: BTreeMap<u64, (TrackId, u64)> = BTreeMap::new();
    let mut ends: BTreeMap<u64, (TrackId, u64)> = BTreeMap::new();
    for event in &events {
        let track = TrackId { process: number(&event["pid"]), thread: number(&event["tid"]) };
        match event["ph"].as_str().unwrap_or_default() {
            "X" => timeline.tracks.entry(track).or_default().slices.push(slice(event)),
            "i" => {
                let moment = Moment { name: word(&event["name"]), at: nanoseconds(&event["ts"]) };
                timeline.tracks.entry(track).or_default().moments.push(moment);
            }
            "s" => drop(starts.insert(number(&event["id"]), (track, nanoseconds(&event["ts"])))),
            "f" => drop(ends.insert(number(&event["id"]), (track, nanoseconds(&event["ts"])))),
            "M" => names.take(event, track, &mut timeline),
            _ => {}
        }
    }
    timeline.arrows =
        starts.iter().filter_map(|(id, from)| ends.get(id).map(|to| Arrow { from: *from, to: *to })).collect();
    names.give(&mut timeline);
    Ok(timeline)
}

/// The events of a file that lacks its end: one a line.
fn whole_lines(text: &str) -> Option<Vec<Value>> {
    let rest = text.trim_start().strip_prefix('[')?;
    let lines = rest.lines().map(|line| line.trim().trim_end_matches(',')).filter(|line| line.starts_with('{'));
    let events: Vec<Value> = lines.map_while(|line| serde_json::from_str(line).ok()).collect();
    (!events.is_empty()).then_some(events)
}

#[derive(Default)]
struct Names {
    processes: BTreeMap<u64, String>,
    threads: BTreeMap<TrackId, String>,
}

impl Names {
    fn take(&mut self, event: &Value, track: TrackId, timeline: &mut Timeline) {
        let given = || word(&event["args"]["name"]);
        match event["name"].as_str().unwrap_or_default() {
            "process_name" => drop(self.processes.insert(track.process, given())),
            "thread_name" => drop(self.threads.insert(track, given())),
            "gridcl_lost" => timeline.lost = number(&event["args"]["commands"]),
            _ => {}
        }
    }

    fn give(mut self, timeline: &mut Timeline) {
        timeline.program = self.processes.get(&1).cloned().unwrap_or_default();
        for (id, track) in &mut timeline.tracks {
            track.slices.sort_by_key(|slice| (slice.start, std::cmp::Reverse(slice.end)));
            track.name = self.threads.remove(id).unwrap_or_else(|| format!("thread {}", id.thread));
            track.process = self.processes.get(&id.process).cloned().unwrap_or_default();
        }
    }
}

fn slice(event: &Value) -> Slice {
    let start = nanoseconds(&event["ts"]);
    let details = event["args"].as_object().into_iter().flatten();
    Slice {
        category: word(&event["cat"]),
        name: word(&event["name"]),
        start,
        end: start + nanoseconds(&event["dur"]),
        bytes: number(&event["args"]["bytes"]),
        details: details
            .map(|(name, value)| (name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
            .collect(),
    }
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> u64 {
    value.as_u64().or_else(|| value.as_f64().map(|number| number as u64)).unwrap_or(0)
}

fn nanoseconds(micros: &Value) -> u64 {
    (micros.as_f64().unwrap_or(0.0) * 1e3).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = r#"[
{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"demo"}},
{"ph":"M","pid":2,"tid":1,"name":"thread_name","args":{"name":"stream 1"}},
{"ph":"X","pid":2,"tid":1,"ts":1.5,"dur":2.000,"cat":"copy","name":"copy pinned to device","args":{"bytes":4096,"GB/s":2.048}},
{"ph":"s","pid":1,"tid":1,"ts":1.000,"id":7,"cat":"enqueue","name":"enqueue"},
{"ph":"f","pid":2,"tid":1,"ts":1.500,"bp":"e","id":7,"cat":"enqueue","name":"enqueue"},
{"ph":"M","pid":1,"tid":0,"name":"gridcl_lost","args":{"commands":3}}"#;

    #[test]
    fn a_whole_file_and_one_without_its_end_say_the_same() {
        let whole = parse(&format!("{LINES}\n]\n")).expect("whole");
        let cut = parse(LINES).expect("cut");
        let half = parse(&format!("{LINES},\n{{\"ph\":\"X\",\"pid\":2,\"ti")).expect("cut within a line");
        for timeline in [&whole, &cut, &half] {
            let track = &timeline.tracks[&TrackId { process: 2, thread: 1 }];
            assert_eq!((track.name.as_str(), timeline.program.as_str(), timeline.lost), ("stream 1", "demo", 3));
            let slice = &track.slices[0];
            assert_eq!((slice.start, slice.end, slice.bytes), (1_500, 3_500, 4096));
            assert_eq!(timeline.arrows.len(), 1);
            assert_eq!(timeline.arrows[0].from.1, 1_000);
        }
        assert!(whole.is_whole && !cut.is_whole && !half.is_whole);
    }

    #[test]
    fn what_is_no_timeline_is_refused() {
        for text in ["", "hello", "[", "{}", "3", "{\"traceEvents\": 1}"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("[]").is_ok_and(|timeline| timeline.tracks.is_empty()));
    }
}
