//! Who still works with memory that the host may touch: what a guard of the safe API has to wait for.

use super::Stream;
use super::lanes::Ticket;
use crate::error::Result;
use crate::rt::context::Context;
use parking_lot::Mutex;
use std::sync::Arc;

/// Work that may not be done with a block of memory, of any device.
#[derive(Default)]
pub(crate) struct Uses(Mutex<Lists>);

#[derive(Default)]
struct Lists {
    reads: Vec<Point>,
    writes: Vec<Point>,
}

type Point = (Arc<Context>, Ticket);

impl Uses {
    /// Takes note that the stream's work so far reads the memory.
    pub(crate) fn read_by(&self, stream: &Stream) {
        note(&mut self.0.lock().reads, stream);
    }

    /// Takes note that the stream's work so far writes it.
    pub(crate) fn written_by(&self, stream: &Stream) {
        note(&mut self.0.lock().writes, stream);
    }

    /// Waits for what writes the memory. It stays listed until it is over: another thread, or a call after a failure,
    /// has to wait as well.
    pub(crate) fn wait_for_writes(&self) -> Result<()> {
        let writes = self.0.lock().writes.clone();
        wait(&writes)?;
        self.0.lock().writes.retain(|(_, ticket)| !ticket.is_done());
        Ok(())
    }

    /// Waits for what reads or writes it.
    pub(crate) fn wait_for_all(&self) -> Result<()> {
        let reads = self.0.lock().reads.clone();
        wait(&reads)?;
        self.0.lock().reads.retain(|(_, ticket)| !ticket.is_done());
        self.wait_for_writes()
    }

    /// The ends of all of it; forgets them.
    pub(crate) fn take(&mut self) -> Vec<Ticket> {
        let Lists { reads, writes } = std::mem::take(self.0.get_mut());
        reads.into_iter().chain(writes).map(|(_, ticket)| ticket).collect()
    }
}

fn note(uses: &mut Vec<Point>, stream: &Stream) {
    uses.retain(|(_, ticket)| !ticket.is_done());
    if let Some(ticket) = stream.ticket() {
        uses.push((Arc::clone(stream.context()), ticket));
    }
}

fn wait(uses: &[Point]) -> Result<()> {
    uses.iter().try_for_each(|(context, ticket)| context.wait_until(ticket))
}

impl std::fmt::Debug for Uses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Uses").finish_non_exhaustive()
    }
}
