//! The gate that every OpenCL call passes: logged, counted and made to fail in one place.

use super::status::{Failure, Result};
use cl3::OpenClRuntime;
use cl3::error_codes::DLOPEN_RUNTIME_LOAD_FAILED;
use cl3::types::cl_int;
use log::{Level, log_enabled, trace};

/// Runs one OpenCL entry point and names it in the failure.
#[inline]
pub(super) fn call<T>(entry: &'static str, run: impl FnOnce() -> Result<T, cl_int>) -> Result<T> {
    #[cfg(feature = "testing")]
    if let Some(status) = testing::enter(entry) {
        return Err(Failure { entry, status });
    }
    let outcome = run().map_err(|status| Failure { entry, status });
    if log_enabled!(target: "gridcl::cl", Level::Trace) {
        report(entry, outcome.as_ref().err());
    }
    outcome
}

/// The loaded OpenCL library, for the calls that cl3's wrappers do not offer as we need them.
#[inline]
pub(super) fn library() -> Result<&'static OpenClRuntime, cl_int> {
    cl3::load_library().as_ref().map_err(|_| DLOPEN_RUNTIME_LOAD_FAILED)
}

/// Calls an entry point that returns a status through the loaded table: cl3's own wrappers ask for an event at
/// every enqueue, which costs more than a launch on some drivers.
macro_rules! raw {
    ($entry:ident($($argument:expr),* $(,)?)) => {
        match $crate::cl::call::library()?.$entry($($argument),*) {
            Some(0) => Ok(()),
            Some(status) => Err(status),
            None => Err(cl3::error_codes::DLOPEN_FUNCTION_NOT_AVAILABLE),
        }
    };
}
pub(super) use raw;

/// Why the OpenCL library could not be loaded, in the loader's words.
pub(crate) fn library_problem() -> Option<String> {
    cl3::load_library().as_ref().err().map(ToString::to_string)
}

#[cold]
fn report(entry: &'static str, failure: Option<&Failure>) {
    match failure {
        None => trace!(target: "gridcl::cl", "{entry}"),
        Some(failure) => trace!(target: "gridcl::cl", "{failure}"),
    }
}

/// The OpenCL objects that are counted while they live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    Context,
    Queue,
    Event,
    Program,
    Kernel,
    Block,
    Sampler,
}

/// A place in the count of live objects; costs nothing without the feature `testing`.
#[derive(Debug)]
pub(super) struct Live(#[cfg(feature = "testing")] Object);

impl Live {
    pub(super) fn new(object: Object) -> Self {
        #[cfg(feature = "testing")]
        testing::LIVE[object as usize].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        #[cfg(not(feature = "testing"))]
        let _ = object;
        Self(
            #[cfg(feature = "testing")]
            object,
        )
    }
}

#[cfg(feature = "testing")]
impl Drop for Live {
    fn drop(&mut self) {
        testing::LIVE[self.0 as usize].fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
    }
}

/// What the test suite may ask of the border.
#[cfg(feature = "testing")]
pub(crate) mod testing {
    use parking_lot::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

    /// Live objects by `Object`, in its order.
    pub(crate) static LIVE: [AtomicI64; 7] = [const { AtomicI64::new(0) }; 7];

    /// Set while a count or a fault is asked for, so that other runs pay one relaxed load a call.
    static WATCHED: AtomicBool = AtomicBool::new(false);
    static WATCH: Mutex<Watch> = Mutex::new(Watch { counts: Vec::new(), fault: None });

    struct Watch {
        counts: Vec<(&'static str, u64)>,
        fault: Option<Fault>,
    }

    struct Fault {
        entry: String,
        after: u64,
        status: i32,
        times: u64,
    }

    /// Notes the call and answers the status it has to fail with, if any.
    #[inline]
    pub(super) fn enter(entry: &'static str) -> Option<i32> {
        if WATCHED.load(Relaxed) { note(entry) } else { None }
    }

    #[cold]
    fn note(entry: &'static str) -> Option<i32> {
        let mut watch = WATCH.lock();
        match watch.counts.iter_mut().find(|(name, _)| *name == entry) {
            Some((_, count)) => *count += 1,
            None => watch.counts.push((entry, 1)),
        }
        let fault = watch.fault.as_mut().filter(|fault| fault.entry == entry)?;
        if fault.after > 0 {
            fault.after -= 1;
            return None;
        }
        fault.times -= 1;
        let (status, is_over) = (fault.status, fault.times == 0);
        if is_over {
            watch.fault = None;
        }
        Some(status)
    }

    /// Starts to count calls by entry point, from nothing.
    pub(crate) fn count_calls() {
        WATCH.lock().counts.clear();
        WATCHED.store(true, Relaxed);
    }

    /// Ends the count and answers what was called how often.
    pub(crate) fn counted() -> Vec<(&'static str, u64)> {
        let mut watch = WATCH.lock();
        WATCHED.store(watch.fault.is_some(), Relaxed);
        std::mem::take(&mut watch.counts)
    }

    /// Makes the `times` calls of `entry` that follow `after` more of them fail with `status`.
    pub(crate) fn fail(entry: &str, after: u64, status: i32, times: u64) {
        WATCH.lock().fault = (times > 0).then(|| Fault { entry: entry.to_owned(), after, status, times });
        WATCHED.store(true, Relaxed);
    }

    /// Whether a planned fault is still to come.
    pub(crate) fn fault_is_to_come() -> bool {
        WATCH.lock().fault.is_some()
    }

    /// Takes a planned fault back; answers whether it was still to come.
    pub(crate) fn clear_fault() -> bool {
        let mut watch = WATCH.lock();
        WATCHED.store(false, Relaxed);
        watch.fault.take().is_some()
    }
}
