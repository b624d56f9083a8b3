//! Events: points in a stream that the host and other streams wait for, and that tell times.

use super::context::Context;
use super::device::Device;
use super::stream::Stream;
use super::stream::lanes::Marked;
use crate::cl::Progress;
use crate::error::{Error, ErrorKind, Result};
use bitflags::bitflags;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

bitflags! {
    /// How an event behaves; the numbers are those of both dialects.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct EventFlags: u32 {
        /// A host thread that waits sleeps.
        const BLOCKING_SYNC = 1;
        /// The event keeps no time, which makes recording it cheaper.
        const DISABLE_TIMING = 2;
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
    record: Mutex<Option<Record>>,
}

/// What a record points at.
#[derive(Clone)]
pub(crate) struct Record {
    pub(crate) context: Arc<Context>,
    /// `None` where everything was done when it was recorded.
    pub(crate) marked: Option<Marked>,
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
    /// When the device's context cannot be made.
    pub fn with_flags(device: Device, flags: EventFlags) -> Result<Self> {
        Ok(Self(Arc::new(Inner { context: device.context()?, flags, record: Mutex::new(None) })))
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
        let context = stream.context();
        if !Arc::ptr_eq(context, &self.0.context) {
            return Err(Error::new(ErrorKind::InvalidHandle, format!("the event belongs to {}", self.device()))
                .argument("stream", format_args!("a stream of {}", context.device()))
                .help("record an event in streams of its own device"));
        }
        context.check()?;
        let lanes = context.lanes();
        let marked =
            if self.keeps_time() { lanes.mark_time(stream.lane()).map(Some) } else { lanes.mark(stream.lane()) }
                .map_err(|failure| context.note(failure))?;
        *self.0.record.lock() = Some(Record { context: Arc::clone(context), marked });
        Ok(())
    }

    /// Whether the work before the latest record is done; true for an event that was never recorded. Never waits.
    ///
    /// # Errors
    /// What the device reported about that work.
    pub fn is_done(&self) -> Result<bool> {
        self.0.context.check()?;
        self.latest().map_or(Ok(true), |record| record.is_done())
    }

    /// Blocks until the work before the latest record is done; returns at once for an event that was never
    /// recorded.
    ///
    /// # Errors
    /// What the device reported about that work.
    pub fn synchronize(&self) -> Result<()> {
        self.0.context.check()?;
        self.latest().map_or(Ok(()), |record| record.wait())
    }

    /// Milliseconds from `earlier` to this event, negative when they are the other way round. Resolution is the
    /// device clock's, and a pair with nothing between reads up to some 10 us.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidHandle`] when one of them was never recorded, keeps no time, or belongs to another
    /// device; [`ErrorKind::NotReady`] while one is pending.
    pub fn elapsed_since(&self, earlier: &Self) -> Result<f32> {
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
        self.0.record.lock().clone()
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
    fn is_done(&self) -> Result<bool> {
        let Some(marked) = &self.marked else { return Ok(true) };
        let progress = marked
            .queue
            .flush()
            .and_then(|()| marked.marker.progress())
            .map_err(|failure| self.context.note(failure))?;
        match progress {
            Progress::Pending => Ok(false),
            Progress::Complete => Ok(true),
            Progress::Failed(failure) => Err(self.context.note(failure)),
        }
    }

    fn wait(&self) -> Result<()> {
        let Some(marked) = &self.marked else { return Ok(()) };
        marked.queue.flush().and_then(|()| marked.marker.wait()).map_err(|failure| self.context.note(failure))
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
