//! What a driver compiled at launches, and when that is worth to be kept in the disk cache.
//!
//! PoCL compiles a kernel for each shape of block at its first launch, which takes as long as the build; only a binary
//! that is taken afterwards has that code. To take one compiles every kernel once more, so it is done at few moments:
//! in a wait that finds the device idle, after the first launch and each time the number of shapes has doubled, and when
//! the module is unloaded. For a module of many kernels that would be a long wait, and only its end is such a moment.

use super::build::Build;
use crate::rt::context::Context;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock, Weak};

/// A wait must not compile more kernels than that; PoCL (3.1) takes some 0.1 s for each.
const MOST_KERNELS: usize = 16;

/// Block sizes, and whether the grid was large.
type Shape = [usize; 4];

/// The shapes that a build's kernels were launched with.
#[derive(Debug)]
pub(super) struct Growth {
    build: OnceLock<Weak<Build>>,
    /// Kernels of the program, ours included.
    kernels: usize,
    seen: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    shapes: BTreeSet<(usize, Shape)>,
    /// How many of them are kept.
    kept: usize,
}

impl Growth {
    /// Of a build that has code for some shapes from the start.
    pub(super) fn new(kernels: usize, shapes: &[(usize, Shape)]) -> Self {
        let shapes: BTreeSet<_> = shapes.iter().copied().collect();
        Self { build: OnceLock::new(), kernels, seen: Mutex::new(Seen { kept: shapes.len(), shapes }) }
    }

    pub(super) fn enroll(&self, build: Weak<Build>) {
        // Once is enough.
        let _ = self.build.set(build);
    }

    /// Takes note of a launch of a kernel.
    #[cold]
    pub(super) fn add(&self, context: &Context, kernel: usize, shape: Shape) {
        let mut seen = self.seen.lock();
        let is_new = seen.shapes.insert((kernel, shape));
        let is_due = is_new && self.kernels <= MOST_KERNELS && seen.shapes.len() >= (2 * seen.kept).max(1);
        drop(seen);
        if let (true, Some(build)) = (is_due, self.build.get()) {
            context.unsaved().push(build.clone());
        }
    }

    pub(super) fn shapes(&self) -> Vec<(usize, Shape)> {
        self.seen.lock().shapes.iter().copied().collect()
    }

    /// Whether there is code that is not kept.
    pub(super) fn has_rest(&self) -> bool {
        let seen = self.seen.lock();
        seen.shapes.len() > seen.kept
    }

    pub(super) fn stored(&self, shapes: usize) {
        self.seen.lock().kept = shapes;
    }
}

/// The builds of a context that are worth to be kept once it is idle.
#[derive(Debug, Default)]
pub(crate) struct Unsaved {
    count: AtomicUsize,
    builds: Mutex<Vec<Weak<Build>>>,
}

impl Unsaved {
    fn push(&self, build: Weak<Build>) {
        let mut builds = self.builds.lock();
        if !builds.iter().any(|known| known.ptr_eq(&build)) {
            builds.push(build);
            self.count.store(builds.len(), Relaxed);
        }
    }

    /// Keeps what is due, where the context has no work under way. Called where the program waits anyway.
    #[inline]
    pub(crate) fn save(&self, context: &Context) {
        if self.count.load(Relaxed) > 0 {
            self.save_now(context);
        }
    }

    #[cold]
    fn save_now(&self, context: &Context) {
        if !context.lanes().with_idle(|is_idle| is_idle(None)) {
            return;
        }
        let builds = std::mem::take(&mut *self.builds.lock());
        self.count.store(0, Relaxed);
        for build in builds.iter().filter_map(Weak::upgrade).filter(|build| build.is_alive()) {
            if !build.store_rest() {
                self.push(Arc::downgrade(&build));
            }
        }
    }
}
