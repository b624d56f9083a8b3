//! Waiting without a blocked thread (feature `async`): plain futures that any executor runs.
//!
//! A future looks at its marker when it is polled and asks the driver to be told of the marker's end. The driver's
//! callback only passes the news to the runtime's own thread, which wakes the task.

use super::event::{Event, Record};
use super::stream::Stream;
use super::stream::waker::{self, News};
use crate::error::{Error, ErrorKind, Result};
use parking_lot::Mutex;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// The end of work, as a future. Dropping it waits for nothing and stops nothing.
#[must_use = "a future does nothing unless it is awaited"]
pub struct Completion {
    /// What is waited for; `None` where nothing is left to wait for.
    record: Option<Record>,
    /// What kept the wait from being set up.
    refused: Option<Error>,
    /// The task to wake, once the end was asked for.
    task: Option<Arc<Mutex<Waker>>>,
}

impl fmt::Debug for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completion").field("asked", &self.task.is_some()).finish_non_exhaustive()
    }
}

impl Event {
    /// The end of the work before the event's latest record, as it is now. Ready at once for an event that was never
    /// recorded.
    ///
    /// The future answers what the device reported about the work. Waking takes as long as the driver's callback: 20
    /// to 50 us on the drivers measured, so a thread that has nothing else to do waits faster with
    /// [`Event::synchronize`].
    pub fn wait_async(&self) -> Completion {
        match self.context().check() {
            Ok(()) => Completion { record: self.latest(), refused: None, task: None },
            Err(error) => Completion { record: None, refused: Some(error), task: None },
        }
    }
}

impl Stream {
    /// The end of all work of the stream so far, as a future; for the default stream, that of all blocking streams too.
    ///
    /// The future answers what the device reported about the work.
    pub fn synchronize_async(&self) -> Completion {
        match Record::behind(self) {
            Ok(record) => Completion { record: Some(record), refused: None, task: None },
            Err(error) => Completion { record: None, refused: Some(error), task: None },
        }
    }
}

impl Future for Completion {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        if let Some(error) = self.refused.take() {
            return Poll::Ready(Err(error));
        }
        let Some(record) = self.record.clone() else { return Poll::Ready(Ok(())) };
        if let Some(task) = &self.task {
            // An executor may move the task between two polls.
            task.lock().clone_from(cx.waker());
        }
        match record.is_done() {
            Ok(true) => return Poll::Ready(Ok(())),
            Err(error) => return Poll::Ready(Err(error)),
            Ok(false) if self.task.is_some() => return Poll::Pending,
            Ok(false) => {}
        }
        let task = Arc::new(Mutex::new(cx.waker().clone()));
        self.task = Some(Arc::clone(&task));
        match ask(record, task) {
            Ok(()) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

/// Has the task woken at the end of what a record stands for.
fn ask(record: Record, task: Arc<Mutex<Waker>>) -> Result<()> {
    let wake = move || waker::tell(News::Wake(task.lock().clone()));
    match &record.marked {
        Some(marked) => waker::at_end(&marked.marker, wake).map_err(|failure| record.context.note(failure)),
        // A record of another process, whose end no driver of ours reports: a thread waits for it.
        None => std::thread::Builder::new()
            .name("gridcl-future".into())
            .spawn(move || {
                // What the wait ended in is found again at the next poll.
                let _ = record.wait();
                wake();
            })
            .map(drop)
            .map_err(|error| Error::new(ErrorKind::OutOfMemory, "there is no thread to wait with").caused_by(error)),
    }
}
