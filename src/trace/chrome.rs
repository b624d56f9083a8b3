//! Events as Chrome's trace format has them (JSON), which Perfetto reads as well.
//!
//! Tracks are "threads" of "processes": the program's threads are those of process 1, a device is a process of its own
//! and its streams are the threads in it. Times are in microseconds.

use std::fmt::Write;

/// The process that holds the program's threads.
pub(super) const HOST: u32 = 1;

/// A line of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Track {
    pub(super) process: u32,
    pub(super) thread: u32,
}

/// A value that goes with an event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Text(&'a str),
    Number(f64),
}

/// `{"ph":"X"…}`: something that took a while.
pub(super) fn slice(
    out: &mut String,
    track: Track,
    (category, name): (&str, &str),
    (at, took): (u64, u64),
    details: &[(&str, Value<'_>)],
) {
    begin(out, "X", track, at);
    let _ = write!(out, ",\"dur\":{}", Micros(took));
    named(out, category, name);
    args(out, details);
    out.push('}');
}

/// How many bytes were moved, and how fast.
pub(super) fn moved(bytes: usize, took: u64) -> [(&'static str, Value<'static>); 2] {
    // Bytes a nanosecond are gigabytes a second.
    let rate = (bytes as f64 / took.max(1) as f64 * 1e3).round() / 1e3;
    [("bytes", Value::Number(bytes as f64)), ("GB/s", Value::Number(rate))]
}

/// Something that happened at one moment.
pub(super) fn instant(out: &mut String, track: Track, (category, name): (&str, &str), at: u64) {
    begin(out, "i", track, at);
    out.push_str(",\"s\":\"t\"");
    named(out, category, name);
    out.push('}');
}

/// An arrow from what `from` was doing at a time to what begins on `to` at another.
pub(super) fn arrow(out: &mut String, id: u64, (from, left): (Track, u64), (to, reached): (Track, u64)) {
    begin(out, "s", from, left);
    let _ = write!(out, ",\"id\":{id}");
    named(out, "enqueue", "enqueue");
    out.push_str("},\n");
    begin(out, "f", to, reached);
    let _ = write!(out, ",\"bp\":\"e\",\"id\":{id}");
    named(out, "enqueue", "enqueue");
    out.push('}');
}

/// Says what a process or track is called (`process_name`, `thread_name`), or what else is known of it.
pub(super) fn metadata(out: &mut String, what: &str, track: Track, details: &[(&str, Value<'_>)]) {
    let _ = write!(out, "{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":", track.process, track.thread);
    text(out, what);
    args(out, details);
    out.push('}');
}

fn begin(out: &mut String, phase: &str, track: Track, at: u64) {
    let Track { process, thread } = track;
    let _ = write!(out, "{{\"ph\":\"{phase}\",\"pid\":{process},\"tid\":{thread},\"ts\":{}", Micros(at));
}

fn named(out: &mut String, category: &str, name: &str) {
    out.push_str(",\"cat\":");
    text(out, category);
    out.push_str(",\"name\":");
    text(out, name);
}

fn args(out: &mut String, details: &[(&str, Value<'_>)]) {
    if details.is_empty() {
        return;
    }
    out.push_str(",\"args\":{");
    for (index, (name, value)) in details.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        text(out, name);
        out.push(':');
        match value {
            Value::Text(value) => text(out, value),
            Value::Number(value) if value.is_finite() => {
                let _ = write!(out, "{value}");
            }
            Value::Number(_) => out.push_str("null"),
        }
    }
    out.push('}');
}

/// Nanoseconds as microseconds, exactly.
struct Micros(u64);

impl std::fmt::Display for Micros {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// A string with its quotation marks.
fn text(out: &mut String, value: &str) {
    out.push('"');
    for character in value.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACK: Track = Track { process: 2, thread: 3 };

    #[test]
    fn names_and_values_of_any_text_are_valid_json() {
        let mut out = String::new();
        let odd = "a \"quoted\" \\ name\n\u{1}\u{7f}é日";
        let details = [("text", Value::Text(odd)), ("number", Value::Number(1.5)), ("none", Value::Number(f64::NAN))];
        slice(&mut out, TRACK, ("kernel", odd), (1_234_567, 89), &details);
        let json: serde_json::Value = serde_json::from_str(&out).expect("valid JSON");
        assert_eq!(json["name"], odd);
        assert_eq!(json["args"]["text"], odd);
        assert_eq!(json["args"]["number"], 1.5);
        assert!(json["args"]["none"].is_null());
        assert_eq!(json["ts"], 1234.567);
        assert_eq!(json["dur"], 0.089);
    }

    #[test]
    fn an_arrow_is_two_events_of_one_number() {
        let mut out = String::new();
        arrow(&mut out, 7, (Track { process: HOST, thread: 1 }, 1_000), (TRACK, 2_000));
        let json: serde_json::Value = serde_json::from_str(&format!("[{out}]")).expect("valid JSON");
        assert_eq!((&json[0]["ph"], &json[1]["ph"]), (&"s".into(), &"f".into()));
        assert_eq!(json[0]["id"], json[1]["id"]);
        assert_eq!(json[0]["cat"], json[1]["cat"]);
        assert_eq!(json[1]["tid"], 3);
    }
}
