//! Streams: work in order, one after the other, and side by side with other streams'.

pub(crate) mod hostfn;
pub(crate) mod lanes;
pub(crate) mod order;
mod progress;
pub(crate) mod uses;
pub(crate) mod vigil;
pub(crate) mod waker;
pub(crate) mod worker;

use super::context::Context;
use super::device::Device;
use super::event::Event;
use super::ipc;
use super::runtime::is_forked;
use crate::cl::queue::Priority;
use crate::cl::{self, UserEvent};
use crate::error::{Error, ErrorKind, Result};
use crate::trace;
use bitflags::bitflags;
use lanes::{Join, Ticket};
use order::{Class, LaneId};
use std::fmt;
use std::sync::Arc;
use waker::News;

bitflags! {
    /// How a stream behaves; the numbers are those of both dialects.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct StreamFlags: u32 {
        /// The stream has no implicit order with the default stream.
        const NON_BLOCKING = 1;
    }
}

/// Stream priorities: numerically smaller is more urgent. `.0` is the least urgent, `.1` the most.
pub(crate) const PRIORITIES: (i32, i32) = (0, -2);

/// A stream of a device: its work runs in the order in which it was given.
///
/// A clone is the same stream. When the last clone is dropped the stream is given up without waiting; work that it
/// still has runs to its end (TOPS 7.2, MUSA "streams").
///
/// ```
/// let stream = gridcl::Device::get(0)?.create_stream()?;
/// assert!(stream.is_done()?);
/// stream.synchronize()?;
/// # Ok::<(), gridcl::Error>(())
/// ```
#[derive(Clone)]
pub struct Stream(Arc<Inner>);

struct Inner {
    context: Arc<Context>,
    lane: LaneId,
    flags: StreamFlags,
    priority: i32,
}

impl Device {
    /// A blocking stream: ordered with the default stream, not with others.
    ///
    /// # Errors
    /// When the device's context cannot be made.
    pub fn create_stream(self) -> Result<Stream> {
        self.create_stream_with(StreamFlags::empty(), 0)
    }

    /// A stream with flags and a priority, clamped to what there is (0 the least urgent, -2 the most). It is a hint
    /// to drivers that know it (`cl_khr_priority_hints`).
    ///
    /// # Errors
    /// When the device's context cannot be made.
    pub fn create_stream_with(self, flags: StreamFlags, priority: i32) -> Result<Stream> {
        trace::observe(
            "Device::create_stream",
            &[("device", &self), ("flags", &flags), ("priority", &priority)],
            || {
                let context = self.context()?;
                let class =
                    if flags.contains(StreamFlags::NON_BLOCKING) { Class::NonBlocking } else { Class::Blocking };
                let priority = priority.clamp(PRIORITIES.1, PRIORITIES.0);
                let hint = match priority {
                    0 => None,
                    -1 => Some(Priority::Medium),
                    _ => Some(Priority::High),
                };
                let lane = context.lanes().open(class, hint.filter(|_| self.caps().has_priorities()));
                context.forget_reports(lane);
                Ok(Stream(Arc::new(Inner { context, lane, flags, priority })))
            },
        )
    }
}

impl Stream {
    pub(super) fn legacy(context: Arc<Context>) -> Self {
        Self(Arc::new(Inner { context, lane: Context::LEGACY, flags: StreamFlags::empty(), priority: 0 }))
    }

    /// The device that runs its work.
    pub fn device(&self) -> Device {
        self.0.context.device()
    }

    /// The flags it was made with.
    pub fn flags(&self) -> StreamFlags {
        self.0.flags
    }

    /// The priority it was given, after clamping.
    pub fn priority(&self) -> i32 {
        self.0.priority
    }

    /// Whether all its work is done; for the default stream, that of all blocking streams too. Never waits.
    ///
    /// # Errors
    /// What the device reported about that work.
    pub fn is_done(&self) -> Result<bool> {
        let context = &self.0.context;
        context.check()?;
        let done = context.lanes().is_done(self.0.lane).map_err(|failure| context.note(failure))?;
        if done {
            context.catch_up()?;
        }
        Ok(done)
    }

    /// Blocks until all its work is done; for the default stream, that of all blocking streams too.
    ///
    /// # Errors
    /// What the device reported about that work.
    pub fn synchronize(&self) -> Result<()> {
        trace::observe("Stream::synchronize", &[("stream", &self)], || {
            self.0.context.check()?;
            self.0.context.wait(self.0.lane)
        })
    }

    /// Blocks until all is done that its next action has to come after: what the host does then is in stream order.
    pub(crate) fn wait_turn(&self) -> Result<()> {
        self.0.context.check()?;
        self.0.context.wait_turn(self.0.lane)
    }

    /// Makes the stream's later work wait for the latest record of `event` as it is now; of any device. An event
    /// that was never recorded is waited for no time at all. When the latest record is another process's and that
    /// process ends before its work, the wait ends, and the next call that waits for the stream reports it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidHandle`] when either of them died with its device's reset; as [`Event::is_done`] for a
    /// record of another process.
    pub fn wait_event(&self, event: &Event) -> Result<()> {
        trace::observe("Stream::wait_event", &[("stream", &self), ("event", &event)], || {
            let context = &self.0.context;
            context.check()?;
            event.context().check()?;
            let Some(record) = event.latest() else { return Ok(()) };
            // What is known to be done needs no wait, as what was done when it was recorded.
            let marked = record.marked.filter(|marked| !marked.marker.is_known_complete());
            let Some(marked) = marked else {
                if let Some(entry) = record.entry
                    && !entry.is_done()?
                {
                    return self.wait_entry(&entry);
                }
                if self.0.lane != Context::LEGACY {
                    return Ok(());
                }
                // Nothing to wait for, and an action all the same: it stands between the blocking streams.
                return context.submit_joined(self.0.lane, Join::LegacyOnly, |_| Ok(())).map(drop);
            };
            marked.queue.flush().map_err(|failure| record.context.note(failure))?;
            if Arc::ptr_eq(&record.context, context) {
                context.submit_joined(self.0.lane, Join::LegacyOnly, |queue| queue.barrier(&[&marked.marker]))?;
                return Ok(());
            }
            // OpenCL events do not cross contexts: the host carries the news from one to the other.
            let gate = UserEvent::new(context.cl()).map_err(|failure| context.note(failure))?;
            context.submit_joined(self.0.lane, Join::LegacyOnly, |queue| queue.barrier(&[gate.event()]))?;
            waker::at_end(&marked.marker, move || waker::tell(News::Open(gate)))
                .map_err(|failure| record.context.note(failure))
        })
    }

    /// The same for a record of another process, of which the host carries the news.
    fn wait_entry(&self, entry: &ipc::Entry) -> Result<()> {
        let (context, lane) = (Arc::clone(&self.0.context), self.0.lane);
        let gate = UserEvent::new(context.cl()).map_err(|failure| context.note(failure))?;
        context.submit_joined(lane, Join::LegacyOnly, |queue| queue.barrier(&[gate.event()]))?;
        entry.open_when_done(gate, move |error| context.report(lane, error))
    }

    /// Runs `function` on a thread of the runtime once all work of the stream so far is done, and holds back the
    /// stream's later work until it has returned (MUSA `musaStreamAddCallback`, CUDA `cudaLaunchHostFunc`).
    ///
    /// The function is told how the work before it ended. It must not call the runtime, which answers
    /// [`ErrorKind::NotPermitted`] there; dropping buffers is fine. A panic is
    /// contained, and the next call that waits for the stream reports it.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// let stream = gridcl::Device::get(0)?.create_stream()?;
    /// let (sender, receiver) = mpsc::channel();
    /// stream.launch_host_fn(move |status| {
    ///     let _ = sender.send(status.is_ok());
    /// })?;
    /// stream.synchronize()?;
    /// assert_eq!(receiver.recv(), Ok(true));
    /// # Ok::<(), gridcl::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the device was reset, or no thread can be had.
    pub fn launch_host_fn(&self, function: impl FnOnce(Result<()>) + Send + 'static) -> Result<()> {
        trace::observe("Stream::launch_host_fn", &[("stream", &self)], || {
            let (context, lane) = (&self.0.context, self.0.lane);
            context.check()?;
            let worker = context.lanes().worker(lane).map_err(|failure| context.note(failure))?;
            worker.expect().map_err(|error| {
                Error::new(ErrorKind::OutOfMemory, "there is no thread for the callback").caused_by(error)
            })?;
            let placed = self.place_gate();
            let (gate, marker, queue) = placed.inspect_err(|_| worker.forget())?;
            // Once the driver has the callback the function will be called, so nothing may fail after that.
            queue.flush().map_err(|failure| {
                worker.forget();
                context.note(failure)
            })?;
            let (watched, noting) = (Arc::clone(context), Arc::clone(context));
            let job = hostfn::Job {
                run: Box::new(function),
                status: Box::new(move || watched.device().check()),
                panicked: Box::new(move |text| noting.note_panic(lane, &text)),
                gate,
                marker: Arc::clone(&marker),
            };
            let signal = Arc::clone(&worker);
            marker.on_end(move || signal.signal(Box::new(move || job.run()))).map_err(|failure| {
                // The driver dropped the job, whose gate is open thereby.
                worker.forget();
                context.note(failure)
            })
        })
    }

    /// A marker behind the stream's work, and a closed gate behind that.
    fn place_gate(&self) -> Result<(UserEvent, Arc<cl::Event>, Arc<cl::Queue>)> {
        let context = &self.0.context;
        let gate = UserEvent::new(context.cl()).map_err(|failure| context.note(failure))?;
        let ((marker, queue), _) = context.submit(self.0.lane, |queue| {
            let marker = queue.marker()?;
            queue.barrier(&[gate.event()])?;
            Ok((marker, Arc::clone(queue)))
        })?;
        Ok((gate, Arc::new(marker), queue))
    }

    /// Whether its device was not reset since.
    pub(crate) fn is_alive(&self) -> bool {
        self.0.context.is_alive()
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.0.context
    }

    /// The point behind all its work so far; `None` when it is known to be done.
    pub(crate) fn ticket(&self) -> Option<Ticket> {
        self.0.context.lanes().ticket(self.0.lane)
    }

    pub(crate) fn lane(&self) -> LaneId {
        self.0.lane
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // In a forked child a thread that stayed behind may hold the lock for ever.
        if self.lane != Context::LEGACY && !is_forked() {
            self.context.memory().managed().detach(self.lane);
            self.context.lanes().close(self.lane);
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("device", &self.device())
            .field("number", &self.0.lane.index())
            .field("flags", &self.0.flags)
            .field("priority", &self.0.priority)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Stream {
    /// Whether both are the same stream.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0.context, &other.0.context) && self.0.lane == other.0.lane
    }
}

impl Eq for Stream {}
