//! The file that a timeline is written to: an array of events, a line each, that a reader takes up to where it ends.
//!
//! Lines are collected in memory and written in blocks; whole lines only, so that a program that is killed leaves a file
//! that lacks no more than its end. Nothing but this file's own memory is touched at exit.

use super::chrome::{self, HOST, Track, Value};
use parking_lot::Mutex;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// How much may wait in memory to be written.
const BLOCK_BYTES: usize = 64 << 10;
/// For how long, while there are events.
const BLOCK_TIME: Duration = Duration::from_millis(100);
/// How long the process's exit waits for a thread that is just writing.
const EXIT_PATIENCE: Duration = Duration::from_secs(1);

pub(super) struct File(Mutex<Out>);

struct Out {
    file: std::fs::File,
    text: String,
    written: Instant,
    /// No event comes after the end of the array; nothing is written after an error either.
    is_over: bool,
    lost: u64,
}

impl File {
    /// Makes the file, and sees to its end. A file of that name is replaced, so that another process that writes to it
    /// goes on with its own.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        if path.symlink_metadata().is_ok_and(|there| there.is_file()) {
            std::fs::remove_file(path)?;
        }
        let file = std::fs::File::create(path)?;
        let process = std::process::id();
        let mut text = String::from("[\n");
        let program = std::env::current_exe().ok();
        let program = program.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        let here = Track { process: HOST, thread: 0 };
        let name = format!("{program} (process {process})");
        chrome::metadata(&mut text, "process_name", here, &[("name", Value::Text(&name))]);
        text.push_str(",\n");
        let written_by = concat!("gridcl ", env!("CARGO_PKG_VERSION"));
        chrome::metadata(&mut text, "gridcl", here, &[("version", Value::Text(written_by))]);
        // SAFETY: the handler touches only what is never torn down.
        unsafe { libc::atexit(at_exit) };
        let written = Instant::now();
        Ok(Self(Mutex::new(Out { file, text, written, is_over: false, lost: 0 })))
    }

    /// Adds events by what `add` writes: objects with `,\n` between them.
    fn add(&self, add: impl FnOnce(&mut String)) {
        let mut out = self.0.lock();
        if out.is_over {
            return;
        }
        out.text.push_str(",\n");
        add(&mut out.text);
        if out.text.len() >= BLOCK_BYTES || out.written.elapsed() >= BLOCK_TIME {
            out.write();
        }
    }

    pub(super) fn slice(&self, track: Track, category: &str, name: &str, time: (u64, u64), details: &[(&str, String)]) {
        let details: Vec<_> = details.iter().map(|(name, value)| (*name, Value::Text(value))).collect();
        self.add(|text| chrome::slice(text, track, (category, name), time, &details));
    }

    /// Bytes that a thread moved by itself.
    pub(super) fn moved(&self, track: Track, names: (&str, &str), time: (u64, u64), bytes: usize) {
        let mut details = vec![("by", Value::Text("the host"))];
        details.extend(chrome::moved(bytes, time.1));
        self.add(|text| chrome::slice(text, track, names, time, &details));
    }

    /// Device work, with the arrow from where it was enqueued.
    pub(super) fn work(
        &self,
        (from, left): (Track, u64),
        track: Track,
        names: (&str, &str),
        time: (u64, u64),
        details: &[(&str, Value<'_>)],
        id: u64,
    ) {
        self.add(|text| {
            chrome::slice(text, track, names, time, details);
            text.push_str(",\n");
            chrome::arrow(text, id, (from, left), (track, time.0));
        });
    }

    pub(super) fn instant(&self, track: Track, names: (&str, &str), at: u64) {
        self.add(|text| chrome::instant(text, track, names, at));
    }

    pub(super) fn name_track(&self, track: Track, name: &str) {
        self.add(|text| {
            chrome::metadata(text, "thread_name", track, &[("name", Value::Text(name))]);
            text.push_str(",\n");
            chrome::metadata(text, "thread_sort_index", track, &[("sort_index", Value::Number(track.thread.into()))]);
        });
    }

    pub(super) fn name_process(&self, process: u32, name: &str, details: &[(&str, Value<'_>)]) {
        let track = Track { process, thread: 0 };
        self.add(|text| {
            chrome::metadata(text, "process_name", track, &[("name", Value::Text(name))]);
            text.push_str(",\n");
            chrome::metadata(text, "process_sort_index", track, &[("sort_index", Value::Number(process.into()))]);
            text.push_str(",\n");
            chrome::metadata(text, "gridcl_device", track, details);
        });
    }

    /// Counts commands of which nobody will ever know when they ran.
    pub(super) fn lose(&self, commands: u64) {
        self.0.lock().lost += commands;
    }

    pub(super) fn flush(&self) {
        self.0.lock().write();
    }

    /// Ends the array.
    fn finish(&self) {
        let Some(mut out) = self.0.try_lock_for(EXIT_PATIENCE) else { return };
        if out.is_over {
            return;
        }
        if out.lost > 0 {
            let (here, lost) = (Track { process: HOST, thread: 0 }, out.lost as f64);
            out.text.push_str(",\n");
            chrome::metadata(&mut out.text, "gridcl_lost", here, &[("commands", Value::Number(lost))]);
        }
        out.text.push_str("\n]\n");
        out.write();
        out.is_over = true;
    }
}

impl Out {
    fn write(&mut self) {
        if self.is_over {
            return;
        }
        if let Err(error) = self.file.write_all(self.text.as_bytes()) {
            log::warn!("GRIDCL_TRACE: the timeline ends here: {error}");
            self.is_over = true;
        }
        self.text.clear();
        self.written = Instant::now();
    }
}

extern "C" fn at_exit() {
    // A forked child has switched it off.
    if super::is_on()
        && let Some(timeline) = super::timeline()
    {
        super::device::count_unseen();
        timeline.file.finish();
    }
}
