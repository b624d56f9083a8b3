//! How far a lane has come, as plain counting: how much was submitted, how much of it is known to be done, and the
//! marker that stands behind all of it.
//!
//! A lane's actions end one after another, so that a number says which of them are done. Whoever waits takes a
//! [`Ticket`] under the lane lock, waits without it, and tells what it learned: by then there may be new work, which the
//! ticket says nothing about, and the lane's number may be another stream's. Nothing here calls OpenCL.

use super::order::LaneId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::AcqRel, Ordering::Acquire};

/// One lane's count. `M` is what marks a place in its queue.
#[derive(Debug)]
pub(super) struct Progress<M> {
    lane: LaneId,
    submitted: u64,
    track: Arc<Track>,
    tail: Option<Tail<M>>,
}

/// How many of a lane's actions are known to be done; outlives the lane for those who asked.
#[derive(Debug, Default)]
struct Track(AtomicU64);

#[derive(Debug)]
struct Tail<M> {
    /// The marker stands behind this many actions.
    behind: u64,
    marker: M,
    flushed: bool,
}

/// A point in a lane: behind all that was submitted when it was taken. Taking one calls nothing.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    lane: LaneId,
    at: u64,
    track: Arc<Track>,
}

impl Ticket {
    /// Whether the work before it is known to be done; looks at no driver.
    pub(crate) fn is_done(&self) -> bool {
        self.track.0.load(Acquire) >= self.at
    }

    /// A number that tickets of one lane share while one of them is kept, and no other lane's have.
    pub(crate) fn lane_key(&self) -> usize {
        Arc::as_ptr(&self.track).addr()
    }

    /// A ticket of a lane that is gone, and its work with it.
    pub(super) fn void(lane: LaneId) -> Self {
        Self { lane, at: 0, track: Arc::default() }
    }

    pub(super) fn lane(&self) -> LaneId {
        self.lane
    }

    /// Notes that the work before it is done.
    pub(super) fn settle(&self) {
        self.track.0.fetch_max(self.at, AcqRel);
    }
}

impl<M> Progress<M> {
    /// A lane without work.
    pub(super) fn new(lane: LaneId) -> Self {
        Self { lane, submitted: 0, track: Arc::default(), tail: None }
    }

    /// One more action was enqueued.
    pub(super) fn acted(&mut self) {
        self.submitted += 1;
    }

    /// A ticket for all so far.
    pub(super) fn ticket(&self) -> Ticket {
        Ticket { lane: self.lane, at: self.submitted, track: Arc::clone(&self.track) }
    }

    /// Whether a ticket is this lane's, and not that of one which had its number before.
    pub(super) fn gave(&self, ticket: &Ticket) -> bool {
        Arc::ptr_eq(&self.track, &ticket.track)
    }

    /// Whether nothing was submitted after a ticket of this lane.
    pub(super) fn is_last(&self, ticket: &Ticket) -> bool {
        self.gave(ticket) && ticket.at == self.submitted
    }

    /// Whether everything submitted is known to be done.
    pub(super) fn is_settled(&self) -> bool {
        self.track.0.load(Acquire) >= self.submitted
    }

    /// The marker behind all work, if there is one; one that new work has overtaken is none.
    pub(super) fn tail(&self) -> Option<&M> {
        self.tail.as_ref().filter(|tail| tail.behind == self.submitted).map(|tail| &tail.marker)
    }

    /// A marker was enqueued behind all work.
    pub(super) fn stand(&mut self, marker: M) {
        self.tail = Some(Tail { behind: self.submitted, marker, flushed: false });
    }

    /// Whether the latest marker is on its way to the device.
    pub(super) fn is_flushed(&self) -> bool {
        self.tail.as_ref().is_none_or(|tail| tail.flushed)
    }

    /// The latest marker was handed to the device.
    pub(super) fn flushed(&mut self) {
        if let Some(tail) = &mut self.tail {
            tail.flushed = true;
        }
    }

    /// Nobody needs a marker behind work that is done.
    pub(super) fn forget_tail(&mut self) {
        self.tail = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::Order;
    use super::*;
    use proptest::prelude::*;

    const LANE: LaneId = Order::LEGACY;

    /// What a random program does with one lane, or with one that has its number after it.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// Work is enqueued.
        Act,
        /// The event with this number is recorded.
        Record(usize),
        /// The latest marker is flushed.
        Flush,
        /// Somebody takes a ticket to wait with.
        Take,
        /// The device does so much of what is there.
        Run(usize),
        /// Who holds the ticket with this number finds the work before it done, if it is.
        Learn(usize),
        /// The lane goes, and its number is given again.
        Replace,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            6 => Just(Step::Act),
            6 => (0..3_usize).prop_map(Step::Record),
            1 => Just(Step::Flush),
            3 => Just(Step::Take),
            3 => (1..4_usize).prop_map(Step::Run),
            4 => (0..8_usize).prop_map(Step::Learn),
            1 => Just(Step::Replace),
        ];
        prop::collection::vec(step, 0..60)
    }

    /// The same, remembered action by action: what stands in the queue and how much of it the device has done.
    #[derive(Default)]
    struct Model {
        /// Which lane with this number it is.
        age: usize,
        /// Actions ever submitted, and how many of them are known to be done.
        submitted: usize,
        known: usize,
        done: usize,
        /// Markers ever made: behind which action each stands.
        markers: Vec<usize>,
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

        #[test]
        fn records_and_tickets_tell_of_the_work_before_them_and_of_nothing_else(steps in steps()) {
            let (mut progress, mut model) = (Progress::new(LANE), Model::default());
            let mut tickets: Vec<(Ticket, usize, usize)> = Vec::new();
            let mut events: [Option<(usize, usize, usize)>; 3] = [None; 3];
            for step in steps {
                match step {
                    Step::Act => {
                        progress.acted();
                        let ticket = progress.ticket();
                        model.submitted += 1;
                        prop_assert!(!ticket.is_done() && !progress.is_settled() && progress.tail().is_none());
                    }
                    Step::Record(event) => {
                        let settled = progress.is_settled();
                        prop_assert_eq!(settled, model.known == model.submitted);
                        if settled {
                            // Nothing to point at: complete for good, whatever the event was before.
                            events[event] = None;
                            continue;
                        }
                        let marker = match progress.tail() {
                            Some(&marker) => marker,
                            None => {
                                model.markers.push(model.submitted);
                                progress.stand(model.markers.len() - 1);
                                prop_assert!(!progress.is_flushed(), "a new marker is not on its way yet");
                                model.markers.len() - 1
                            }
                        };
                        // A marker made for one serves all who come before new work.
                        prop_assert_eq!(model.markers[marker], model.submitted);
                        events[event] = Some((model.age, marker, model.submitted));
                    }
                    Step::Flush => {
                        progress.flushed();
                        prop_assert!(progress.is_flushed());
                    }
                    Step::Take => {
                        let ticket = progress.ticket();
                        prop_assert_eq!(ticket.lane(), LANE);
                        tickets.push((ticket, model.age, model.submitted));
                    }
                    Step::Run(count) => model.done = model.submitted.min(model.done + count),
                    Step::Learn(number) => {
                        let Some((ticket, age, at)) = tickets.get(number) else { continue };
                        prop_assert_eq!(progress.gave(ticket), *age == model.age);
                        // Of a lane that is gone everything is done.
                        if *age == model.age && *at > model.done {
                            continue;
                        }
                        ticket.settle();
                        prop_assert!(ticket.is_done());
                        if *age == model.age {
                            model.known = model.known.max(*at);
                        }
                        if progress.gave(ticket) && progress.is_settled() {
                            progress.forget_tail();
                            prop_assert!(progress.tail().is_none() && progress.is_flushed());
                        }
                    }
                    Step::Replace => {
                        progress = Progress::new(LANE);
                        model = Model { age: model.age + 1, ..Model::default() };
                    }
                }
                // What is known is true, of the lane, of each ticket and of each event that still points at it.
                prop_assert!(model.known <= model.done);
                prop_assert_eq!(progress.is_settled(), model.known == model.submitted);
                for (ticket, age, at) in &tickets {
                    if *age == model.age {
                        prop_assert_eq!(ticket.is_done(), *at <= model.known);
                    }
                }
                for (age, marker, at) in events.iter().flatten() {
                    if *age == model.age {
                        prop_assert_eq!(model.markers[*marker], *at, "later records leave earlier ones alone");
                    }
                }
            }
        }
    }

    #[test]
    fn a_ticket_of_a_lane_that_is_gone_is_done() {
        assert!(Ticket::void(LANE).is_done());
    }
}
