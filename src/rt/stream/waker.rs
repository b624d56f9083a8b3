//! A thread that completes user events for driver callbacks, which may not do so themselves everywhere.
//!
//! It runs nothing of the program's, so nothing can hold it up.

use crate::cl::UserEvent;
use lazy_static::lazy_static;
use parking_lot::Mutex;
use std::sync::mpsc::{Sender, channel};

lazy_static! {
    static ref WAKER: Mutex<Option<Sender<UserEvent>>> = Mutex::new(start());
}

fn start() -> Option<Sender<UserEvent>> {
    let (sender, gates) = channel::<UserEvent>();
    std::thread::Builder::new()
        .name("gridcl-waker".into())
        .spawn(move || gates.into_iter().for_each(|gate| gate.complete()))
        .map(|_| sender)
        .ok()
}

/// Opens `gate` soon, from the waker's thread; at once where there is no such thread.
pub(crate) fn open(gate: UserEvent) {
    let sender = WAKER.lock().clone();
    match sender {
        Some(sender) => {
            if let Err(unsent) = sender.send(gate) {
                unsent.0.complete();
            }
        }
        None => gate.complete(),
    }
}
