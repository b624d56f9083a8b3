//! What the program called, with arguments, result and time.
//!
//! Every call of a dialect opens a [`Span`]. While nobody listens it costs one relaxed load; with the log target
//! `gridcl::api` at `debug` each call is a line. The timeline is built on the same spans.

use log::{Level, log_enabled};
use std::fmt;
use std::time::Instant;

/// One call, from its entry to its result.
#[derive(Debug)]
pub(crate) struct Span {
    call: &'static str,
    started: Instant,
}

impl Span {
    /// Opens a span where somebody listens.
    #[inline]
    pub(crate) fn open(call: &'static str) -> Option<Self> {
        log_enabled!(target: "gridcl::api", Level::Debug).then(|| Self { call, started: Instant::now() })
    }

    /// Reports the call with its arguments and result.
    #[cold]
    pub(crate) fn close(self, arguments: &[(&str, &dyn fmt::Debug)], result: &dyn fmt::Debug) {
        let micros = self.started.elapsed().as_secs_f64() * 1e6;
        let arguments: Vec<String> = arguments.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
        let arguments = arguments.join(", ");
        log::debug!(target: "gridcl::api", "{}({arguments}) = {result:?} [{micros:.1} us]", self.call);
    }
}
