//! Threads that share the parts of one large copy: made on demand, lasting, and gone when idle.
//!
//! The calling thread works too, so that a copy ends even where no thread can be had. Nothing of a copy outlives its
//! call: a helper borrows the work, and the call returns when no helper is in it any more.

use crate::error::{Error, ErrorKind, Result, panic_text};
use crate::trace::{self, Label};
use parking_lot::{Condvar, Mutex};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// A helper without work ends after this.
const IDLE: Duration = Duration::from_secs(2);
/// Helpers of the whole process at most.
const MOST: usize = 32;

static CREW: Crew = Crew { state: Mutex::new(State::new()), wake: Condvar::new() };

struct Crew {
    state: Mutex<State>,
    wake: Condvar,
}

struct State {
    /// Work that helpers may join.
    open: Vec<Arc<Job>>,
    threads: usize,
    idle: usize,
}

/// One call's work. The pointer is good as long as the job is open or a helper is in it.
struct Job {
    work: *const (dyn Fn(usize) -> Result<()> + Sync),
    parts: usize,
    next: AtomicUsize,
    stopped: AtomicBool,
    /// Helpers that may join at once.
    helpers: usize,
    inside: Mutex<Inside>,
    left: Condvar,
}

#[derive(Default)]
struct Inside {
    helpers: usize,
    failure: Option<Error>,
}

// SAFETY: the work behind the pointer is `Sync`, and `share` keeps it until nobody is in it.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

/// Does `parts` parts of some work, each once, by this thread and at most so many helpers. Blocks until nobody works
/// on it. The first part that fails, or panics, keeps parts that nobody has begun from being done.
///
/// # Errors
/// What a part answered.
pub(super) fn share(parts: usize, helpers: usize, work: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()> {
    // The helpers' part of it has the same name in the timeline.
    let label = trace::label();
    let work: &(dyn Fn(usize) -> Result<()> + Sync) = &|part| {
        let _shown = trace::task("part of a copy");
        let _labelled = label.as_ref().and_then(|label| trace::labelled(|| Label::clone(label)));
        work(part)
    };
    let work: *const (dyn Fn(usize) -> Result<()> + Sync + '_) = work;
    // SAFETY: only the lifetime changes; this call ends after the last use.
    let work = unsafe {
        std::mem::transmute::<
            *const (dyn Fn(usize) -> Result<()> + Sync + '_),
            *const (dyn Fn(usize) -> Result<()> + Sync + 'static),
        >(work)
    };
    let job = Arc::new(Job {
        work,
        parts,
        next: AtomicUsize::new(0),
        stopped: AtomicBool::new(false),
        helpers: helpers.min(parts.saturating_sub(1)),
        inside: Mutex::default(),
        left: Condvar::new(),
    });
    CREW.open(&job);
    job.work_on();
    CREW.close(&job);
    job.end()
}

impl State {
    const fn new() -> Self {
        Self { open: Vec::new(), threads: 0, idle: 0 }
    }
}

impl Crew {
    fn open(&'static self, job: &Arc<Job>) {
        if job.helpers == 0 {
            return;
        }
        let mut state = self.state.lock();
        let missing = job.helpers.saturating_sub(state.idle).min(MOST.saturating_sub(state.threads));
        for _ in 0..missing {
            let spawned = std::thread::Builder::new().name("gridcl-copy".into()).spawn(|| self.serve());
            if let Err(error) = spawned {
                log::warn!("a copy has fewer threads than it could use: {error}");
                break;
            }
            state.threads += 1;
        }
        state.open.push(Arc::clone(job));
        drop(state);
        self.wake.notify_all();
    }

    /// Lets nobody join any more.
    fn close(&self, job: &Arc<Job>) {
        if job.helpers > 0 {
            self.state.lock().open.retain(|open| !Arc::ptr_eq(open, job));
        }
    }

    fn serve(&self) {
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.open.iter().find(|job| job.join()).cloned() {
                drop(state);
                job.work_on();
                job.leave();
                state = self.state.lock();
                continue;
            }
            state.idle += 1;
            let timed_out = self.wake.wait_for(&mut state, IDLE).timed_out();
            state.idle -= 1;
            if timed_out && state.open.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }
}

impl Job {
    /// Joins if there is something to do. Called under the crew's lock, so that a closed job has all its helpers.
    fn join(&self) -> bool {
        let mut inside = self.inside.lock();
        let joins = inside.helpers < self.helpers && self.next.load(Ordering::Relaxed) < self.parts;
        inside.helpers += usize::from(joins);
        joins
    }

    fn leave(&self) {
        self.inside.lock().helpers -= 1;
        self.left.notify_all();
    }

    fn work_on(&self) {
        while !self.stopped.load(Ordering::Relaxed) {
            let part = self.next.fetch_add(1, Ordering::Relaxed);
            if part >= self.parts {
                return;
            }
            // SAFETY: `share` keeps the work until all who joined have left.
            let outcome = catch_unwind(AssertUnwindSafe(|| unsafe { (*self.work)(part) }));
            let outcome = outcome.unwrap_or_else(|payload| {
                let problem = format!("gridcl failed within a copy: {}", panic_text(&*payload));
                Err(Error::new(ErrorKind::Unknown, problem).help("this is a bug of gridcl, please report it"))
            });
            if let Err(error) = outcome {
                self.stopped.store(true, Ordering::Relaxed);
                self.inside.lock().failure.get_or_insert(error);
            }
        }
    }

    /// Waits until nobody is in it, and answers how it went.
    fn end(&self) -> Result<()> {
        let mut inside = self.inside.lock();
        while inside.helpers > 0 {
            self.left.wait(&mut inside);
        }
        inside.failure.take().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_part_is_done_once_whatever_the_helpers() {
        for helpers in [0, 1, 3, 100] {
            let done: Vec<AtomicUsize> = (0..97).map(|_| AtomicUsize::new(0)).collect();
            let outcome = share(done.len(), helpers, &|part| {
                done[part].fetch_add(1, Ordering::Relaxed);
                Ok(())
            });
            assert!(outcome.is_ok() && done.iter().all(|times| times.load(Ordering::Relaxed) == 1), "{helpers}");
        }
        assert!(share(0, 3, &|_| Err(Error::new(ErrorKind::Unknown, "there is no part"))).is_ok());
    }

    #[test]
    fn helpers_join_and_nobody_is_in_the_work_when_the_call_returns() {
        let inside = AtomicUsize::new(0);
        let threads = Mutex::new(HashSet::new());
        // Each of the two parts waits for the other, which takes two threads.
        let met = std::sync::Barrier::new(2);
        let outcome = share(2, 1, &|_| {
            inside.fetch_add(1, Ordering::AcqRel);
            met.wait();
            threads.lock().insert(std::thread::current().id());
            inside.fetch_sub(1, Ordering::AcqRel);
            Ok(())
        });
        assert!(outcome.is_ok());
        assert_eq!((inside.load(Ordering::Acquire), threads.lock().len()), (0, 2));
    }

    #[test]
    fn a_part_that_fails_or_panics_fails_the_whole() {
        for panics in [false, true] {
            for (bad, helpers) in [(0, 0), (5, 0), (0, 2), (39, 2)] {
                let outcome = share(40, helpers, &|part| {
                    assert!(!(part == bad && panics), "a part panics");
                    if part == bad { Err(Error::new(ErrorKind::OutOfMemory, "a part fails")) } else { Ok(()) }
                });
                let error = outcome.expect_err("a part was lost");
                let expected = if panics { ErrorKind::Unknown } else { ErrorKind::OutOfMemory };
                assert_eq!(error.kind(), expected, "part {bad}, {helpers} helpers");
            }
        }
    }

    #[test]
    fn several_copies_share_the_helpers() {
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let done = AtomicUsize::new(0);
                        let outcome = share(16, 3, &|_| {
                            done.fetch_add(1, Ordering::Relaxed);
                            Ok(())
                        });
                        assert!(outcome.is_ok());
                        assert_eq!(done.load(Ordering::Relaxed), 16);
                    }
                });
            }
        });
    }
}
