//! What was called, with arguments, result and time, and what the device did for it: the log and the timeline.
//!
//! Every call of a dialect opens a [`Span`], the main calls of the safe API pass [`observe`]. While nobody listens that
//! costs a relaxed load for each. With the log target `gridcl::api` at `debug` each call is a line; with `GRIDCL_TRACE`
//! each is a slice on its thread's track in a file of Chrome's trace format. The runtime adds what devices did
//! ([`device::work`]), on the same clock. This folder uses nothing of ours and calls no OpenCL.

mod chrome;
pub(crate) mod clock;
pub(crate) mod device;
mod file;
mod label;
mod thread;

use file::File;
pub(crate) use label::{Label, label, labelled};
use log::{Level, log_enabled};
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::Instant;

/// Whether there is a timeline: not looked yet, no, yes.
static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;

static TIMELINE: OnceLock<Option<Timeline>> = OnceLock::new();

/// The timeline of this process, once there is one.
struct Timeline {
    /// Time 0.
    start: Instant,
    file: File,
}

/// Whether a timeline is written.
#[inline]
pub(crate) fn is_on() -> bool {
    match STATE.load(Relaxed) {
        OFF => false,
        ON => true,
        _ => begin(),
    }
}

#[cold]
fn begin() -> bool {
    let timeline = TIMELINE.get_or_init(|| Timeline::from_environment(Instant::now()));
    let is_on = timeline.is_some();
    STATE.store(if is_on { ON } else { OFF }, Relaxed);
    is_on
}

/// In a child that was forked and not executed: another thread may have been just writing, and will never let go.
extern "C" fn forked() {
    STATE.store(OFF, Relaxed);
}

fn timeline() -> Option<&'static Timeline> {
    TIMELINE.get()?.as_ref()
}

impl Timeline {
    fn from_environment(start: Instant) -> Option<Self> {
        let name = std::env::var_os("GRIDCL_TRACE").filter(|name| !name.is_empty())?;
        let name = name.to_string_lossy().replace("%p", &std::process::id().to_string());
        match File::create(name.as_ref()) {
            Ok(file) => {
                // SAFETY: the handler only stores to an atomic.
                unsafe { libc::pthread_atfork(None, None, Some(forked)) };
                Some(Self { start, file })
            }
            Err(error) => {
                log::warn!("GRIDCL_TRACE: {name} cannot be written, so there is no timeline: {error}");
                None
            }
        }
    }
}

/// Nanoseconds since the timeline began; 0 where there is none.
pub(crate) fn now() -> u64 {
    timeline().map_or(0, |timeline| since(timeline.start))
}

fn since(start: Instant) -> u64 {
    start.elapsed().as_nanos().try_into().unwrap_or(u64::MAX)
}

/// Writes to the file what is still in memory. Called where the program waits for the device, so that what is lost when
/// it is killed is little.
pub(crate) fn flush() {
    if let Some(timeline) = timeline() {
        timeline.file.flush();
    }
}

/// One call, from its entry to its result.
#[derive(Debug)]
pub(crate) struct Span {
    call: &'static str,
    started: Instant,
    /// Nanoseconds since the timeline began.
    at: u64,
}

impl Span {
    /// Opens a span where somebody listens.
    #[inline]
    pub(crate) fn open(call: &'static str) -> Option<Self> {
        (is_on() || log_enabled!(target: "gridcl::api", Level::Debug)).then(|| {
            thread::enter();
            Self { call, started: Instant::now(), at: now() }
        })
    }

    /// Reports the call with its arguments and result.
    #[cold]
    pub(crate) fn close(self, arguments: &[(&str, &dyn fmt::Debug)], result: &dyn fmt::Debug) {
        thread::leave();
        if is_on()
            && let Some(timeline) = timeline()
        {
            let took = since(timeline.start).saturating_sub(self.at);
            let arguments = arguments.iter().map(|(name, value)| (*name, format!("{value:?}")));
            let details: Vec<_> = arguments.chain([("result", format!("{result:?}"))]).collect();
            timeline.file.slice(thread::track(timeline), "api", self.call, (self.at, took), &details);
        }
        if log_enabled!(target: "gridcl::api", Level::Debug) {
            let micros = self.started.elapsed().as_secs_f64() * 1e6;
            let arguments: Vec<String> = arguments.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
            let arguments = arguments.join(", ");
            log::debug!(target: "gridcl::api", "{}({arguments}) = {result:?} [{micros:.1} us]", self.call);
        }
    }
}

/// How a call ended, as the log and the timeline put it.
struct Ending<'a, E>(Result<(), &'a E>);

impl<E: fmt::Display> fmt::Debug for Ending<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Ok(()) => f.write_str("ok"),
            Err(error) => write!(f, "{error}"),
        }
    }
}

/// Reports a call of the safe API. Calls that a reported call makes are its own affair.
#[inline]
pub(crate) fn observe<T, E: fmt::Display>(
    call: &'static str,
    arguments: &[(&str, &dyn fmt::Debug)],
    body: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    if !(is_on() || log_enabled!(target: "gridcl::api", Level::Debug)) || thread::is_inside() {
        return body();
    }
    let Some(span) = Span::open(call) else { return body() };
    let outcome = body();
    span.close(arguments, &Ending(outcome.as_ref().map(|_| ())));
    outcome
}

/// What a thread of the runtime does on behalf of a stream, until it is dropped.
#[derive(Debug)]
pub(crate) struct Task {
    name: &'static str,
    at: u64,
}

/// Shows what the calling thread does from now on; `None` while there is no timeline.
#[inline]
pub(crate) fn task(name: &'static str) -> Option<Task> {
    is_on().then(|| Task { name, at: now() })
}

/// A copy that the calling thread carries out itself.
#[derive(Debug)]
pub(crate) struct HandCopy {
    bytes: usize,
    at: u64,
}

/// Shows that the calling thread copies so much by hand until the answer is dropped; `None` while there is no timeline.
#[inline]
pub(crate) fn hand_copy(bytes: usize) -> Option<HandCopy> {
    is_on().then(|| HandCopy { bytes, at: now() })
}

impl Drop for HandCopy {
    fn drop(&mut self) {
        if let Some(timeline) = timeline() {
            let took = since(timeline.start).saturating_sub(self.at);
            let label = label();
            let name = label.as_ref().map_or("copy", |label| &label.name);
            timeline.file.moved(thread::track(timeline), ("copy", name), (self.at, took), self.bytes);
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if let Some(timeline) = timeline() {
            let took = since(timeline.start).saturating_sub(self.at);
            timeline.file.slice(thread::track(timeline), "task", self.name, (self.at, took), &[]);
        }
    }
}
