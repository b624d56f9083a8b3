//! Events: points in a stream that the host and other streams wait for, and that tell times.

use super::context::Context;
use super::device::Device;
use super::ipc::{self, HANDLE_BYTES};
use super::stream::Stream;
use super::stream::lanes::Marked;
use super::stream::waker;
use super::timeline;
use crate::cl::Progress;
use crate::error::{Error, ErrorKind, Result};
use crate::trace;
use bitflags::bitflags;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

/// How often a thread that sleeps looks for itself.
const LOOK: Duration = Duration::from_millis(100);

bitflags! {
    /// How an event behaves; the numbers are those of both dialects.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct EventFlags: u32 {
        /// A host thread that waits sleeps; without it some drivers spin, and wake sooner.
        const BLOCKING_SYNC = 1;
        /// The event keeps no time, which makes recording it cheaper.
        const DISABLE_TIMING = 2;
        /// Other processes can open the event; goes with `DISABLE_TIMING` only.
        const INTERPROCESS = 4;
    }
}

/// A point in a stream.
///
/// An event holds its latest record. Recording it again swaps in a new one; whoever waits for the old one goes on
/// waiting for the old one (TOPS 7.3, MUSA "events").
///
/// ```
/// use gridcl::{Device, Event};
/// let device = Device::get(0)?;
/// let stream = device.create_stream()?;
/// let (start, stop) = (Event::new(device)?, Event::new(device)?);
/// start.record(&stream)?;
/// // work in `stream`
/// stop.record(&stream)?;
/// stop.synchronize()?;
/// println!("{:.3} ms", stop.elapsed_since(&start)?);
/// # Ok::<(), gridcl::Error>(())
/// ```
#[derive(Clone)]
pub struct Event(Arc<Inner>);

struct Inner {
    context: Arc<Context>,
    flags: EventFlags,
    /// This process's latest record.
    record: Mutex<Option<Record>>,
    /// What an interprocess event has in common with those of other processes.
    shared: Option<ipc::Shared>,
}

/// What a record points at.
#[derive(Clone)]
pub(crate) struct Record {
    pub(crate) context: Arc<Context>,
    /// `None` where everything was done when it was recorded, and for records of other processes.
    pub(crate) marked: Option<Marked>,
    /// What other processes see of it, where the event is an interprocess one.
    pub(crate) entry: Option<ipc::Entry>,
}

impl Event {
    /// An event of `device` that keeps times.
    ///
    /// # Errors
    /// When the device's context cannot be made.
    pub fn new(device: Device) -> Result<Self> {
        Self::with_flags(device, EventFlags::empty())
    }

    /// An event with flags.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] for an interprocess event that keeps times; when the device's context cannot be
    /// made.
    pub fn with_flags(device: Device, flags: EventFlags) -> Result<Self> {
        trace::observe("Event::new", &[("device", &device), ("flags", &flags)], || {
            let context = device.context()?;
            if !flags.contains(EventFlags::INTERPROCESS) {
                return Ok(Self::made(context, flags, None));
            }
            if !flags.contains(EventFlags::DISABLE_TIMING) {
                return Err(Error::new(ErrorKind::InvalidValue, "an interprocess event keeps no times")
                    .argument("flags", format_args!("{:#x}", flags.bits()))
                    .help("add the flag DisableTiming"));
            }
            Ok(Self::made(context, flags, Some(ipc::Shared::create()?)))
        })
    }

    /// The event of another process whose [`ipc_handle`](Self::ipc_handle) this is, as an event of `device`.
    ///
    /// Both are then one event: the latest record of either is what both wait for. Nothing has a name that could be
    /// left behind, and a wait for a process that has died ends with an error (MUSA "interprocess events").
    ///
    /// # Errors
    /// [`ErrorKind::InvalidContext`] for a handle of this process; [`ErrorKind::InvalidHandle`] when its event or its
    /// process is gone, when it is another user's, and for bytes that are no handle.
    pub fn open_ipc(device: Device, handle: &[u8; HANDLE_BYTES]) -> Result<Self> {
        let context = device.context()?;
        let flags = EventFlags::DISABLE_TIMING | EventFlags::INTERPROCESS;
        Ok(Self::made(context, flags, Some(ipc::Shared::open(handle)?)))
    }

    fn made(context: Arc<Context>, flags: EventFlags, shared: Option<ipc::Shared>) -> Self {
        Self(Arc::new(Inner { context, flags, record: Mutex::new(None), shared }))
    }

    /// Bytes by which another process of the same user [opens](Self::open_ipc) the event, for as long as it is there.
    /// They may be carried over by any means.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] for an event without [`EventFlags::INTERPROCESS`].
    pub fn ipc_handle(&self) -> Result<[u8; HANDLE_BYTES]> {
        self.0.context.check()?;
        let Some(shared) = &self.0.shared else {
            return Err(Error::new(ErrorKind::InvalidValue, "the event was not made for other processes")
                .argument("event", "an event of this process alone")
                .help("make it with the flags Interprocess and DisableTiming"));
        };
        shared.handle()
    }

    /// The device that the event belongs to.
    pub fn device(&self) -> Device {
        self.0.context.device()
    }

    /// Puts the event behind all work of `stream` so far; in the default stream, behind that of the device's
    /// blocking streams too.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidHandle`] when the stream belongs to another device.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        trace::observe("Event::record", &[("event", &self), ("stream", &stream)], || {
            let context = stream.context();
            if !Arc::ptr_eq(context, &self.0.context) {
                return Err(Error::new(ErrorKind::InvalidHandle, format!("the event belongs to {}", self.device()))
                    .argument("stream", format_args!("a stream of {}", context.device()))
                    .help("record an event in streams of its own device"));
            }
            context.check()?;
            let lanes = context.lanes();
            let mark = || {
                if self.keeps_time() { lanes.mark_time(stream.lane()).map(Some) } else { lanes.mark(stream.lane()) }
                    .map_err(|failure| context.note(failure))
            };
            let (marked, entry) = match &self.0.shared {
                Some(shared) => shared.record(context, mark).map(|(marked, entry)| (marked, Some(entry)))?,
                None => (mark()?, None),
            };
            timeline::recorded(context, stream.lane(), marked.as_ref().map(|marked| &marked.marker));
            *self.0.record.lock() = Some(Record { context: Arc::clone(context), marked, entry });
            Ok(())
        })
    }

    /// Whether the work before the latest record is done; true for an event that was never recorded. Never waits.
    ///
    /// # Errors
    /// What the device reported about that work; of a record of another process, [`ErrorKind::LaunchFailure`] when
    /// the work failed and [`ErrorKind::InvalidContext`] when the process ended first.
    pub fn is_done(&self) -> Result<bool> {
        self.0.context.check()?;
        self.latest().map_or(Ok(true), |record| record.is_done())
    }

    /// Blocks until the work before the latest record is done; returns at once for an event that was never
    /// recorded.
    ///
    /// # Errors
    /// As [`is_done`](Self::is_done).
    pub fn synchronize(&self) -> Result<()> {
        trace::observe("Event::synchronize", &[("event", &self)], || {
            self.0.context.check()?;
            let Some(record) = self.latest() else { return Ok(()) };
            if self.0.flags.contains(EventFlags::BLOCKING_SYNC) { record.sleep() } else { record.wait() }
        })
    }

    /// Milliseconds from `earlier` to this event, negative when they are the other way round. Resolution is the
    /// device clock's, and a pair with nothing between reads up to some 10 us.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidHandle`] when one of them was never recorded, keeps no time, or belongs to another
    /// device; [`ErrorKind::NotReady`] while one is pending.
    pub fn elapsed_since(&self, earlier: &Self) -> Result<f32> {
        trace::observe("Event::elapsed_since", &[("event", &self), ("earlier", &earlier)], || {
            let (start, stop) = (earlier.timed_record("start")?, self.timed_record("stop")?);
            if earlier.device() != self.device() {
                return Err(Error::new(ErrorKind::InvalidHandle, "the events belong to different devices")
                    .argument("stop", format_args!("an event of {}", self.device()))
                    .help("clocks of two devices have nothing in common"));
            }
            for (name, record) in [("start", &start), ("stop", &stop)] {
                if !record.is_done()? {
                    return Err(Error::new(ErrorKind::NotReady, "the work before it is still going on")
                        .argument(name, "a pending event")
                        .help("synchronize the event first"));
                }
            }
            if Arc::ptr_eq(&self.0, &earlier.0) {
                return Ok(0.0);
            }
            let nanoseconds = stop.end_ns()?.cast_signed().wrapping_sub(start.end_ns()?.cast_signed());
            Ok(nanoseconds as f32 * 1e-6)
        })
    }

    fn keeps_time(&self) -> bool {
        !self.0.flags.contains(EventFlags::DISABLE_TIMING)
    }

    fn timed_record(&self, name: &'static str) -> Result<Record> {
        self.0.context.check()?;
        let refuse =
            |problem, help| Err(Error::new(ErrorKind::InvalidHandle, problem).argument(name, "an event").help(help));
        if !self.keeps_time() {
            return refuse("it was made without timing", "leave out the flag DisableTiming");
        }
        match self.latest() {
            Some(record) => Ok(record),
            None => refuse("it was never recorded", "record it in a stream first"),
        }
    }

    /// The latest record; a later one does not change what the answer points at.
    pub(crate) fn latest(&self) -> Option<Record> {
        let own = self.0.record.lock().clone();
        let Some(shared) = &self.0.shared else { return own };
        let latest = shared.latest()?;
        let own = own.filter(|own| own.entry.as_ref().is_some_and(|entry| entry.is(&latest)));
        Some(own.unwrap_or_else(|| Record { context: Arc::clone(&self.0.context), marked: None, entry: Some(latest) }))
    }

    /// Whether its device was not reset since.
    pub(crate) fn is_alive(&self) -> bool {
        self.0.context.is_alive()
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.0.context
    }
}

impl Record {
    /// A record behind all work of a stream so far.
    #[cfg(feature = "async")]
    pub(crate) fn behind(stream: &Stream) -> Result<Self> {
        let context = Arc::clone(stream.context());
        context.check()?;
        let marked = context.lanes().mark(stream.lane()).map_err(|failure| context.note(failure))?;
        Ok(Self { context, marked, entry: None })
    }

    pub(crate) fn is_done(&self) -> Result<bool> {
        let Some(marked) = &self.marked else {
            return self.entry.as_ref().map_or(Ok(true), ipc::Entry::is_done);
        };
        let looked = marked.flush().and_then(|()| marked.marker.progress());
        let progress = looked.map_err(|failure| self.context.note(failure))?;
        match progress {
            Progress::Pending => Ok(false),
            Progress::Complete => {
                self.settle(true);
                self.context.catch_up()?;
                Ok(true)
            }
            Progress::Failed(failure) => {
                self.settle(false);
                Err(self.context.note(failure))
            }
        }
    }

    pub(crate) fn wait(&self) -> Result<()> {
        let Some(marked) = &self.marked else { return self.entry.as_ref().map_or(Ok(()), ipc::Entry::wait) };
        let waited = marked.flush().and_then(|()| self.context.lanes().vigil().wait_for(&marked.marker));
        waited.map_err(|failure| self.context.note(failure))?;
        self.settle(true);
        self.context.unsaved().save(&self.context);
        self.context.waited_for_event()
    }

    /// The same, but the thread surely sleeps: some drivers spin in their own waits.
    fn sleep(&self) -> Result<()> {
        // What other processes recorded is slept for anyway.
        let Some(marked) = &self.marked else { return self.wait() };
        if self.is_done()? {
            return Ok(());
        }
        let (ring, bell) = sync_channel(1);
        let signal = move || {
            let _ = ring.try_send(());
        };
        waker::at_end(&marked.marker, signal).map_err(|failure| self.context.note(failure))?;
        // Some drivers do not call back about work that failed.
        while bell.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if self.is_done()? {
                return Ok(());
            }
        }
        self.wait()
    }

    /// Lets other processes know at once what this one has seen; the driver's callback may come later.
    fn settle(&self, well: bool) {
        if let Some(entry) = &self.entry {
            entry.settle(well);
        }
    }

    fn end_ns(&self) -> Result<u64> {
        let marked =
            self.marked.as_ref().ok_or_else(|| Error::new(ErrorKind::Unknown, "a timed event has no marker"))?;
        marked.marker.end_ns().map_err(|failure| self.context.note(failure))
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("device", &self.device()).field("flags", &self.0.flags).finish_non_exhaustive()
    }
}
