//! A thread that runs tasks one after the other, made on demand and retired when idle: a stream's callbacks, and what
//! the host carries from one device to another.

use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// A worker without work ends after this.
const IDLE: Duration = Duration::from_millis(500);

/// What a worker is to do.
pub(crate) type Task = Box<dyn FnOnce() + Send>;

/// The thread and its tasks.
pub(crate) struct Worker {
    name: &'static str,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    /// Tasks that will come or have come, and have not run.
    expected: usize,
    /// Those whose turn it is.
    ready: VecDeque<Task>,
    /// Whether the thread is there.
    running: bool,
}

impl Worker {
    /// A worker whose thread has this name, once there is one.
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, state: Mutex::default(), wake: Condvar::new() }
    }

    /// Makes sure that a thread is there for one more task.
    pub(crate) fn expect(self: &Arc<Self>) -> std::io::Result<()> {
        let mut state = self.state.lock();
        if !state.running {
            let worker = Arc::clone(self);
            std::thread::Builder::new().name(self.name.into()).spawn(move || worker.serve())?;
            state.running = true;
        }
        state.expected += 1;
        Ok(())
    }

    /// Takes back [`expect`](Self::expect) for a task that will not come.
    pub(crate) fn forget(&self) {
        self.state.lock().expected -= 1;
    }

    /// It is this task's turn. Called from the driver's threads, so it only signals.
    pub(crate) fn signal(&self, task: Task) {
        #[cfg(feature = "testing")]
        super::hostfn::UNDER_WAY.fetch_add(1, std::sync::atomic::Ordering::AcqRel);
        self.state.lock().ready.push_back(task);
        self.wake.notify_one();
    }

    /// Whether no task is expected and none runs.
    pub(crate) fn is_idle(&self) -> bool {
        self.state.lock().expected == 0
    }

    fn serve(&self) {
        while let Some(task) = self.next() {
            if catch_unwind(AssertUnwindSafe(task)).is_err() {
                log::error!("a task of {} panicked, which is a bug of gridcl", self.name);
            }
            self.state.lock().expected -= 1;
            #[cfg(feature = "testing")]
            super::hostfn::UNDER_WAY.fetch_sub(1, std::sync::atomic::Ordering::AcqRel);
        }
    }

    /// The next task; `None` when the thread is not needed any more.
    fn next(&self) -> Option<Task> {
        let mut state = self.state.lock();
        loop {
            if let Some(task) = state.ready.pop_front() {
                return Some(task);
            }
            let timed_out = self.wake.wait_for(&mut state, IDLE).timed_out();
            if timed_out && state.expected == 0 {
                state.running = false;
                return None;
            }
        }
    }
}
