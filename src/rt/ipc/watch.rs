//! Waits of streams for records of other processes: a thread for each event that is waited for, while it is.

use super::{Board, LOOK};
use crate::cl::UserEvent;
use crate::error::{Error, Result};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Instant;

/// Takes note of why a wait failed.
type Report = Box<dyn FnOnce(Error) + Send>;

/// The waits for records of one event.
#[derive(Default)]
pub(super) struct Watch(Mutex<State>);

#[derive(Default)]
struct State {
    waits: Vec<Wait>,
    /// Whether the thread is there; it ends with the last wait.
    running: bool,
}

struct Wait {
    number: u64,
    gate: UserEvent,
    report: Report,
}

/// Adds a wait, which ends with the gate's opening.
pub(super) fn add(board: &Arc<Board>, number: u64, gate: UserEvent, report: Report) -> std::io::Result<()> {
    let mut state = board.watch.0.lock();
    if !state.running {
        let board = Arc::clone(board);
        std::thread::Builder::new().name("gridcl-ipc".into()).spawn(move || serve(&board))?;
        state.running = true;
    }
    state.waits.push(Wait { number, gate, report });
    drop(state);
    // The thread may sleep, or the record may have ended before anybody watched it.
    board.page.stir();
    Ok(())
}

fn serve(board: &Board) {
    let mut looked = Instant::now();
    loop {
        let news = board.page.news();
        let Some(over) = board.over(&mut looked) else { return };
        if over.is_empty() {
            board.page.sleep(news, LOOK);
        }
        for (wait, outcome) in over {
            if let Err(error) = outcome {
                (wait.report)(error);
            }
            wait.gate.complete();
        }
    }
}

impl Board {
    /// Takes out the waits that are over; `None`, and no thread any more, when there is none at all.
    fn over(&self, looked: &mut Instant) -> Option<Vec<(Wait, Result<()>)>> {
        let mut state = self.watch.0.lock();
        if state.waits.is_empty() {
            state.running = false;
            return None;
        }
        let closely = looked.elapsed() >= LOOK;
        if closely {
            *looked = Instant::now();
        }
        let look = |wait: &Wait| if closely { self.look_closely(wait.number) } else { self.look(wait.number) };
        let mut over = Vec::new();
        for wait in std::mem::take(&mut state.waits) {
            match look(&wait) {
                Ok(false) => state.waits.push(wait),
                outcome => over.push((wait, outcome.map(drop))),
            }
        }
        Some(over)
    }
}
