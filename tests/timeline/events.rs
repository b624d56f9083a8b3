//! A file as its reader sees it, and what holds for every timeline.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The events of a file that ended well.
pub(crate) fn read(path: &Path) -> Vec<Event> {
    let text = std::fs::read_to_string(path).expect("a timeline");
    parse(&text)
}

pub(crate) fn parse(text: &str) -> Vec<Event> {
    let json: Vec<Value> = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    json.into_iter().map(Event).collect()
}

pub(crate) struct Event(pub(crate) Value);

impl Event {
    pub(crate) fn text(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap_or_default()
    }

    pub(crate) fn phase(&self) -> &str {
        self.text("ph")
    }

    pub(crate) fn name(&self) -> &str {
        self.text("name")
    }

    /// Process and thread.
    pub(crate) fn track(&self) -> (u64, u64) {
        (self.0["pid"].as_u64().expect("a process"), self.0["tid"].as_u64().expect("a thread"))
    }

    /// In nanoseconds.
    pub(crate) fn start(&self) -> u64 {
        nanoseconds(&self.0["ts"])
    }

    pub(crate) fn end(&self) -> u64 {
        self.start() + self.0.get("dur").map_or(0, nanoseconds)
    }

    pub(crate) fn argument(&self, name: &str) -> &Value {
        &self.0["args"][name]
    }

    pub(crate) fn is_api(&self) -> bool {
        self.text("cat") == "api"
    }

    pub(crate) fn is_device_work(&self) -> bool {
        self.phase() == "X" && self.track().0 > 1
    }
}

fn nanoseconds(micros: &Value) -> u64 {
    (micros.as_f64().expect("a time") * 1e3).round() as u64
}

/// The calls of a name, in order.
pub(crate) fn calls<'a>(events: &'a [Event], name: &str) -> Vec<&'a Event> {
    let mut calls: Vec<_> = events.iter().filter(|event| event.is_api() && event.name() == name).collect();
    calls.sort_by_key(|event| event.start());
    calls
}

/// Device work of a name, in order.
pub(crate) fn work<'a>(events: &'a [Event], name: &str) -> Vec<&'a Event> {
    let mut work: Vec<_> = events.iter().filter(|event| event.is_device_work() && event.name() == name).collect();
    work.sort_by_key(|event| event.start());
    work
}

/// Copies of a name, by the device or by hand, in order.
pub(crate) fn copies<'a>(events: &'a [Event], name: &str) -> Vec<&'a Event> {
    let is_it = |event: &&Event| event.text("cat") == "copy" && event.name() == name;
    let mut copies: Vec<_> = events.iter().filter(is_it).collect();
    copies.sort_by_key(|event| event.start());
    copies
}

#[track_caller]
pub(crate) fn one<'a>(found: &[&'a Event], what: &str) -> &'a Event {
    assert_eq!(found.len(), 1, "{what}: {:?}", found.iter().map(|event| &event.0).collect::<Vec<_>>());
    found[0]
}

/// What holds for every timeline: slices of a track lie within or behind each other, streams are in order, tracks have
/// names, and each piece of device work has one arrow, from within a call to its own beginning.
#[track_caller]
pub(crate) fn check(events: &[Event]) {
    let mut tracks: BTreeMap<(u64, u64), Vec<&Event>> = BTreeMap::new();
    for event in events.iter().filter(|event| event.phase() == "X") {
        tracks.entry(event.track()).or_default().push(event);
    }
    for (track, slices) in &mut tracks {
        let named = |event: &&Event| event.phase() == "M" && event.name() == "thread_name" && event.track() == *track;
        assert_eq!(events.iter().filter(named).count(), 1, "the name of {track:?}");
        slices.sort_by_key(|event| (event.start(), std::cmp::Reverse(event.end())));
        let mut open: Vec<u64> = Vec::new();
        for slice in slices.iter() {
            while open.last().is_some_and(|end| *end <= slice.start()) {
                open.pop();
            }
            assert!(open.last().is_none_or(|end| slice.end() <= *end), "slices cross: {}", slice.0);
            assert!(track.0 == 1 || open.is_empty(), "two commands of a stream at once: {}", slice.0);
            open.push(slice.end());
        }
    }
    check_arrows(events);
}

fn check_arrows(events: &[Event]) {
    let arrows = |phase: &'static str| events.iter().filter(move |event| event.phase() == phase);
    let mut ends: BTreeMap<u64, &Event> = BTreeMap::new();
    for end in arrows("f") {
        assert!(ends.insert(end.0["id"].as_u64().expect("a number"), end).is_none(), "two arrows of a number");
        assert_eq!(end.text("bp"), "e", "it binds to the slice that it reaches: {}", end.0);
    }
    let work: Vec<_> = events.iter().filter(|event| event.is_device_work()).collect();
    assert_eq!(arrows("s").count(), work.len(), "an arrow for each piece of work");
    assert_eq!(ends.len(), work.len());
    for start in arrows("s") {
        let end = ends.get(&start.0["id"].as_u64().expect("a number")).unwrap_or_else(|| panic!("no end: {}", start.0));
        assert!(start.start() <= end.start(), "work begins after it was enqueued: {} {}", start.0, end.0);
        let leaves = |event: &&Event| {
            event.phase() == "X"
                && event.track() == start.track()
                && event.start() <= start.start()
                && start.start() <= event.end()
        };
        assert!(events.iter().any(|event| leaves(&event)), "it leaves a call: {}", start.0);
        let reached = |event: &&&Event| event.track() == end.track() && event.start() == end.start();
        assert!(work.iter().any(|event| reached(&event)), "it reaches work: {}", end.0);
    }
}
