//! Keeps the taking of a program's binary apart from launches, where a driver bears them only one at a time.
//!
//! PoCL (3.1) loads each kernel's code while a binary is taken, that of a kernel with a required size of block as if it
//! were for a launch of that size but in nobody's name, and finds it at the end of a launch of the same kernel that runs
//! meanwhile, also of one of another program with the same text: the process aborts. Kernels that take any block are
//! loaded under a size that no launch has, and may run.
//!
//! So launches of kernels with a required size pass their gate together, and whoever takes a binary with such kernels
//! holds their gates alone, once none of them runs. Nothing waits for the device or allocates device memory behind a gate,
//! and no code of the program runs there: who finds kernels running leaves, waits, and comes again. Lane locks are taken
//! behind gates, never the other way round.

use super::binary::KernelRecord;
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use crate::rt::stream::lanes::Ticket;
use lazy_static::lazy_static;
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

/// How often somebody who waits for the kernels of a text may find new ones running.
const ATTEMPTS: usize = 1000;

/// Kernels that PoCL may take for one another: equal code has an equal name and an equal required size.
type Likeness = (String, [usize; 3]);

lazy_static! {
    static ref KNOWN: Mutex<BTreeMap<Likeness, Arc<Launches>>> = Mutex::default();
}

/// The launches of kernels of one name and one required size of block, in all contexts.
#[derive(Debug, Default)]
pub(super) struct Launches {
    gate: RwLock<()>,
    /// Those that may still run.
    latest: Mutex<Vec<Launch>>,
}

/// The latest launch in a lane.
#[derive(Debug)]
struct Launch {
    context: Weak<Context>,
    ticket: Ticket,
}

impl Launches {
    /// Those of kernels like this one; `None` where they need not be known.
    pub(super) fn of(context: &Context, kernel: &KernelRecord) -> Option<Arc<Self>> {
        if !context.caps().aborts_launches_at_binaries() || kernel.group.required == [0; 3] {
            return None;
        }
        let mut known = KNOWN.lock();
        // Launches outlive their module.
        known.retain(|_, launches| Arc::strong_count(launches) > 1 || launches.may_run());
        Some(Arc::clone(known.entry((kernel.name.clone(), kernel.group.required)).or_default()))
    }

    /// Passes the gate with what enqueues a launch.
    #[inline]
    pub(super) fn pass<E>(
        &self,
        context: &Arc<Context>,
        enqueue: impl FnOnce() -> Result<((), Ticket), E>,
    ) -> Result<(), E> {
        let _together = self.gate.read();
        let ((), ticket) = enqueue()?;
        let mut launches = self.latest.lock();
        match launches.iter_mut().find(|launch| launch.ticket.lane_key() == ticket.lane_key()) {
            Some(launch) => launch.ticket = ticket,
            None => {
                launches.retain(|launch| !launch.ticket.is_done());
                launches.push(Launch { context: Arc::downgrade(context), ticket });
            }
        }
        Ok(())
    }

    /// The launches that are not known to be done, after a look at what is.
    fn running(&self) -> Vec<(Arc<Context>, Ticket)> {
        let running = || {
            let mut launches = self.latest.lock();
            launches.retain(|launch| !launch.ticket.is_done());
            // A context ends when its work is done.
            let live = launches.iter().filter_map(|launch| Some((launch.context.upgrade()?, launch.ticket.clone())));
            live.collect::<Vec<_>>()
        };
        for (context, _) in running() {
            context.lanes().poll();
        }
        running()
    }

    fn may_run(&self) -> bool {
        !self.running().is_empty()
    }
}

/// Runs `take` behind the gates of `kernels` while no launch of them runs; `None` where one does.
pub(super) fn try_alone<T>(kernels: &[Arc<Launches>], take: impl FnOnce() -> T) -> Option<T> {
    // In the order of their addresses, so that two who take the same ones do not wait for each other.
    let mut kernels: Vec<_> = kernels.iter().map(|launches| &**launches).collect();
    kernels.sort_by_key(|launches| std::ptr::from_ref(*launches).addr());
    let _alone: Vec<_> = kernels.iter().map(|launches| launches.gate.write()).collect();
    (!kernels.iter().any(|launches| launches.may_run())).then(take)
}

/// The same after the launches that run.
///
/// # Errors
/// [`ErrorKind::NotReady`] where other threads launch them without an end; what the device reported about them.
pub(super) fn alone<T>(kernels: &[Arc<Launches>], mut take: impl FnMut() -> T) -> Result<T> {
    for _ in 0..ATTEMPTS {
        if let Some(taken) = try_alone(kernels, &mut take) {
            return Ok(taken);
        }
        for (context, ticket) in kernels.iter().flat_map(|launches| launches.running()) {
            context.lanes().wait_until(&ticket).map_err(|failure| context.note(failure))?;
        }
    }
    let problem = "the driver gives no binary while kernels with a required block size run, and they do all the time";
    Err(Error::new(ErrorKind::NotReady, problem).help("let the launches of other threads end first"))
}
