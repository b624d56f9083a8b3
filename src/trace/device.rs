//! What devices did: work that was enqueued, waits here to be seen done, and is written with its times.
//!
//! What stands for a command is the runtime's ([`Seen`]): this folder calls no OpenCL. Work waits a stream's in order,
//! and at most [`MOST_WAITING`] commands in all; what is beyond that is left out and counted.

use super::chrome::{self, HOST, Track, Value};
use super::clock::Clock;
use super::{Label, thread, timeline};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Commands that may wait to be seen done.
const MOST_WAITING: usize = 1 << 16;

/// The process number of device 0 in the file.
const FIRST_DEVICE: u32 = HOST + 1;

/// A command of which somebody can tell how far it is.
pub(crate) trait Seen: Send {
    /// `None` while it is pending; else when it began and ended by the device's clock, where that is known.
    fn times(&self) -> Option<Option<(u64, u64)>>;
}

/// One command, as it was enqueued.
pub(crate) struct Work {
    pub(crate) label: Option<Arc<Label>>,
    /// What the command itself says that it does: category and name, where there is no label.
    pub(crate) default: (&'static str, &'static str),
    /// What it moves; 0 where it does not tell.
    pub(crate) bytes: usize,
    /// A moment in the work of a stream rather than work.
    pub(crate) is_moment: bool,
    pub(crate) command: Box<dyn Seen>,
}

/// A stream of a device: whose and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Lane {
    pub(crate) device: usize,
    /// Tells contexts of one device apart.
    pub(crate) context: u64,
    pub(crate) index: usize,
}

#[derive(Default)]
struct Devices {
    lanes: BTreeMap<Lane, Waiting>,
    clocks: BTreeMap<usize, Clocked>,
}

struct Waiting {
    track: Track,
    works: VecDeque<(Work, u64, Track)>,
    /// Where the last work ended: what comes later in a stream begins later.
    end: u64,
}

struct Clocked {
    clock: Clock,
    /// When it was last compared.
    compared: u64,
}

static DEVICES: Mutex<Devices> = Mutex::new(Devices { lanes: BTreeMap::new(), clocks: BTreeMap::new() });
static WAITING: AtomicUsize = AtomicUsize::new(0);
static NEXT_ARROW: AtomicU64 = AtomicU64::new(1);

/// How long clocks are taken to keep step.
const STEP_NS: u64 = 1_000_000_000;

/// Takes note of a command that the calling thread put into a lane at `at`. To be called in the lane's order.
pub(crate) fn work(lane: Lane, name: impl FnOnce() -> String, work: Work, at: u64) {
    let Some(timeline) = timeline() else { return };
    if WAITING.load(Relaxed) >= MOST_WAITING {
        timeline.file.lose(1);
        return;
    }
    let from = thread::track(timeline);
    let mut devices = DEVICES.lock();
    if !devices.lanes.contains_key(&lane) {
        let before = devices.lanes.keys().filter(|known| known.device == lane.device).count();
        let track = Track { process: FIRST_DEVICE + lane.device as u32, thread: before as u32 + 1 };
        timeline.file.name_track(track, &name());
        devices.lanes.insert(lane, Waiting { track, works: VecDeque::new(), end: 0 });
    }
    let Some(waiting) = devices.lanes.get_mut(&lane) else { return };
    waiting.works.push_back((work, at, from));
    WAITING.fetch_add(1, Relaxed);
}

/// How many commands wait to be seen done.
pub(crate) fn waiting() -> usize {
    WAITING.load(Relaxed)
}

/// Whether a device's clock has to be compared with the timeline's before its work can be placed.
pub(crate) fn needs_clock(device: usize) -> bool {
    let now = super::now();
    DEVICES.lock().clocks.get(&device).is_none_or(|known| now.saturating_sub(known.compared) > STEP_NS)
}

/// Takes note of how a device's clock compares with the timeline's, and of what it is called when it is new.
pub(crate) fn set_clock(device: usize, name: &str, clock: Clock) {
    let Some(timeline) = timeline() else { return };
    let clocked = Clocked { clock, compared: super::now() };
    if DEVICES.lock().clocks.insert(device, clocked).is_none() {
        let error = clock.error() as f64 / 1e3;
        let details = [("device", Value::Number(device as f64)), ("clock_error_us", Value::Number(error))];
        timeline.file.name_process(FIRST_DEVICE + device as u32, name, &details);
    }
}

/// Writes what is seen to be done. Does not wait.
pub(crate) fn collect() {
    let Some(timeline) = timeline() else { return };
    let mut devices = DEVICES.lock();
    let Devices { lanes, clocks } = &mut *devices;
    for (lane, waiting) in lanes {
        let Some(Clocked { clock, .. }) = clocks.get_mut(&lane.device) else { continue };
        while let Some((work, at, from)) = waiting.works.front() {
            let Some(times) = work.command.times() else { break };
            let seen = super::now();
            if let Some(times) = times {
                let (start, end) = clock.place(times, *at, seen);
                let (start, end) = (start.max(waiting.end), end.max(waiting.end));
                waiting.end = end;
                write(&timeline.file, work, (*from, *at), waiting.track, (start, end));
            } else {
                timeline.file.lose(1);
            }
            waiting.works.pop_front();
            WAITING.fetch_sub(1, Relaxed);
        }
    }
}

fn write(file: &super::file::File, work: &Work, from: (Track, u64), track: Track, (start, end): (u64, u64)) {
    let label = work.label.as_deref();
    let names = label.map_or(work.default, |label| (label.category, &label.name));
    if work.is_moment {
        file.instant(track, names, end);
        return;
    }
    let mut details: Vec<_> =
        label.iter().flat_map(|label| label.details.iter().map(|(name, value)| (*name, Value::Text(value)))).collect();
    let bytes = if work.bytes > 0 { work.bytes } else { label.map_or(0, |label| label.bytes) };
    if bytes > 0 {
        details.extend(chrome::moved(bytes, end - start));
    }
    file.work(from, track, names, (start, end - start), &details, NEXT_ARROW.fetch_add(1, Relaxed));
}

/// Counts what nobody will see done any more. For the process's exit, which may not call OpenCL.
pub(super) fn count_unseen() {
    let waiting = WAITING.swap(0, Relaxed);
    if let (Some(timeline), true) = (timeline(), waiting > 0) {
        timeline.file.lose(waiting as u64);
    }
}
