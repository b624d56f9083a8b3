//! Interprocess events: a page of records in memory without a name, which other processes open by a handle.
//!
//! The page ([`page`]) holds the records of every process that has the event. It lies in a memfd ([`memory`]) whose
//! handle ([`handle`]) names a process and its descriptor; whoever may look into that process can open it, and nothing
//! is left behind by any end of either. Who recorded stands beside each record, so that a wait for the record of a
//! process that died ends with an error ([`process`]). A wait in a stream is a gate that a thread opens ([`watch`]).

pub(crate) mod handle;
mod memory;
mod page;
mod process;
mod watch;

pub(crate) use handle::HANDLE_BYTES;

use super::context::Context;
use super::device::Slot;
use super::runtime::runtime;
use super::stream::lanes::Marked;
use super::stream::waker::{self, News};
use crate::cl::{Progress, UserEvent};
use crate::error::{Error, ErrorKind, Result};
use handle::Parts;
use memory::Mapped;
use page::State;
use process::Process;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering::AcqRel, Ordering::Acquire};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};
use watch::Watch;

/// How often a driver is asked how a command ended.
const ATTEMPTS: u32 = 100;

/// A waiter looks this often whether the process that it waits for still runs.
const LOOK: Duration = Duration::from_millis(50);

/// What an interprocess event holds: the page, and the descriptor that others find it by.
pub(crate) struct Shared {
    file: OwnedFd,
    nonce: [u8; 16],
    board: Arc<Board>,
}

/// The page in this process, and what here waits for records of others. Records under way hold it, so it may outlive
/// its event; the descriptor does not.
struct Board {
    page: Mapped,
    watch: Watch,
}

/// One record.
#[derive(Clone)]
pub(crate) struct Entry {
    board: Arc<Board>,
    number: u64,
}

impl Shared {
    /// A page without records.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] where the system has no memory or descriptor for it.
    pub(crate) fn create() -> Result<Self> {
        let (file, page, nonce) = memory::create()?;
        Ok(Self { file, nonce, board: Arc::new(Board { page, watch: Watch::default() }) })
    }

    /// The page that a handle of another process means.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidContext`] for a handle of this process, [`ErrorKind::InvalidHandle`] for what leads to no
    /// live event of a process of the same user.
    pub(crate) fn open(handle: &[u8; HANDLE_BYTES]) -> Result<Self> {
        let parts = Parts::parse(handle)?;
        let (file, page) = memory::open(&parts)?;
        Ok(Self { file, nonce: parts.nonce, board: Arc::new(Board { page, watch: Watch::default() }) })
    }

    /// The handle by which another process opens it, for as long as this one has it.
    ///
    /// # Errors
    /// Where there is no `/proc`.
    pub(crate) fn handle(&self) -> Result<[u8; HANDLE_BYTES]> {
        // Descriptors are never negative.
        let descriptor = self.file.as_raw_fd().cast_unsigned();
        Ok(Parts { holder: Process::this()?, descriptor, nonce: self.nonce }.to_bytes())
    }

    /// The latest record of any process.
    pub(crate) fn latest(&self) -> Option<Entry> {
        let number = self.board.page.latest()?;
        Some(Entry { board: Arc::clone(&self.board), number })
    }

    /// Makes a record of what `mark` puts behind a stream's work; it becomes the latest for every process.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] when too many are pending, and what `mark` answers; there is no new record then.
    pub(crate) fn record(
        &self,
        context: &Context,
        mark: impl FnOnce() -> Result<Option<Marked>>,
    ) -> Result<(Option<Marked>, Entry)> {
        let number = self.board.page.claim(Process::this()?).ok_or_else(|| {
            let problem = format!("all {} records that an interprocess event can hold are pending", page::ENTRIES);
            Error::new(ErrorKind::OutOfMemory, problem).help("wait for some of them, or use more events")
        })?;
        let entry = Entry { board: Arc::clone(&self.board), number };
        let announced = mark().and_then(|marked| {
            match &marked {
                Some(marked) => entry.follow(marked).map_err(|failure| context.note(failure))?,
                None => entry.settle(true),
            }
            Ok(marked)
        });
        // What was not published is nobody's: its number is free again.
        let marked = announced.inspect_err(|_| entry.settle(true))?;
        self.board.page.publish(number);
        Ok((marked, entry))
    }
}

impl Entry {
    /// Whether both are the same record of the same event object.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.number == other.number && Arc::ptr_eq(&self.board, &other.board)
    }

    /// Says to every process that the work is over. Only the first word counts.
    pub(crate) fn settle(&self, well: bool) {
        self.board.page.end(self.number, if well { State::Done } else { State::Failed });
    }

    /// Whether it is done; never waits.
    ///
    /// # Errors
    /// [`ErrorKind::LaunchFailure`] when the work failed, [`ErrorKind::InvalidContext`] when its process died.
    pub(crate) fn is_done(&self) -> Result<bool> {
        self.board.look_closely(self.number)
    }

    /// Blocks until it is done.
    ///
    /// # Errors
    /// As [`is_done`](Self::is_done).
    pub(crate) fn wait(&self) -> Result<()> {
        let mut looked = Instant::now();
        loop {
            let news = self.board.page.news();
            if self.board.look_in_turn(self.number, &mut looked)? {
                return Ok(());
            }
            self.board.page.sleep(news, LOOK);
        }
    }

    /// Opens a gate when it is done. When it never will be, `report` is told why first.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] when there is no thread for it; the gate is open then.
    pub(crate) fn open_when_done(&self, gate: UserEvent, report: impl FnOnce(Error) + Send + 'static) -> Result<()> {
        watch::add(&self.board, self.number, gate, Box::new(report)).map_err(|error| {
            Error::new(ErrorKind::OutOfMemory, "there is no thread to wait for the other process").caused_by(error)
        })
    }

    /// Settles when the work before a marker is over. Nobody here may ever wait for that, so it is on its way at once.
    fn follow(&self, marked: &Marked) -> Result<(), crate::cl::Failure> {
        settle_at_exit();
        let (entry, under_way) = (self.clone(), UnderWay::new());
        // Some drivers do not keep an event for its callback.
        let marker = Arc::clone(&marked.marker);
        let settle = move || {
            // A driver that refuses to say how it ended has said that it has.
            let ended = (0..ATTEMPTS).find_map(|_| marker.progress().ok());
            entry.settle(!matches!(ended, Some(Progress::Failed(_))));
            drop((marker, under_way));
        };
        marked.marker.on_end(move || waker::tell(News::Run(Box::new(settle))))?;
        marked.queue.flush()
    }
}

impl Board {
    /// Whether a record is done.
    fn look(&self, number: u64) -> Result<bool> {
        match self.page.state(number) {
            State::Done => Ok(true),
            State::Pending => Ok(false),
            State::Failed => {
                let recorder = self.page.recorder(number).id;
                Err(Error::new(
                    ErrorKind::LaunchFailure,
                    format!("the work before the event failed in process {recorder}"),
                ))
            }
        }
    }

    /// The same, with a look whether a pending one can still be done.
    fn look_closely(&self, number: u64) -> Result<bool> {
        if self.look(number)? {
            return Ok(true);
        }
        let recorder = self.page.recorder(number);
        // It may have ended the record just before it ended itself, and the entry may serve another one since.
        if recorder.is_running() || self.look(number)? {
            return self.look(number);
        }
        let problem = format!("process {} ended before the work that it recorded in the event was done", recorder.id);
        Err(Error::new(ErrorKind::InvalidContext, problem).help("what the wait was for will not happen"))
    }

    /// The same as often as [`LOOK`] says.
    fn look_in_turn(&self, number: u64, looked: &mut Instant) -> Result<bool> {
        if looked.elapsed() < LOOK {
            return self.look(number);
        }
        *looked = Instant::now();
        self.look_closely(number)
    }
}

/// Records of this process whose end is not on their pages yet.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// One of them.
struct UnderWay;

impl UnderWay {
    fn new() -> Self {
        UNDER_WAY.fetch_add(1, AcqRel);
        Self
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, AcqRel);
    }
}

/// Makes the process's exit wait until the end of work that is done is on the pages: drivers call back a little later
/// than a wait returns, and others would take what was done for lost.
fn settle_at_exit() {
    static ONCE: Once = Once::new();
    // SAFETY: the handler touches only what is never torn down. The driver was loaded before, so its own runs later.
    ONCE.call_once(|| unsafe {
        libc::atexit(settle_all);
    });
}

extern "C" fn settle_all() {
    const PATIENCE: Duration = Duration::from_millis(500);
    /// Work that is not done is lost with the process; what is done beside it gets this long.
    const PATIENCE_IF_BUSY: Duration = Duration::from_millis(20);

    // A forked child has nothing under way.
    let Ok(runtime) = runtime() else { return };
    let start = Instant::now();
    while UNDER_WAY.load(Acquire) > 0 {
        let mut contexts = runtime.slots().iter().filter_map(Slot::context_now);
        let quiet = contexts.all(|context| context.lanes().try_pending().is_some_and(|pending| pending.is_empty()));
        if start.elapsed() > if quiet { PATIENCE } else { PATIENCE_IF_BUSY } {
            return;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}
