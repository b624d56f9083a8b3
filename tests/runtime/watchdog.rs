//! Ends the process, with words, when something that has to end does not: a hang is a failure that no assertion sees.

use crate::support::PATIENCE;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};

/// Watches over what is done while it lives; each [`beat`](Self::beat) gives it [`PATIENCE`] more.
#[derive(Debug)]
pub struct Watchdog(Sender<String>);

impl Watchdog {
    /// Begins to watch.
    pub fn new(what: &str) -> Self {
        let (sender, beats) = channel::<String>();
        let mut doing = what.to_owned();
        std::thread::spawn(move || {
            loop {
                match beats.recv_timeout(PATIENCE) {
                    Ok(next) => doing = next,
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        eprintln!("this does not come to an end: {doing}");
                        std::process::abort();
                    }
                }
            }
        });
        Self(sender)
    }

    /// Says what is done next.
    pub fn beat(&self, what: String) {
        self.0.send(what).expect("the watchdog is there");
    }
}
