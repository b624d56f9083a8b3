//! The rules of the legacy default stream, as a state machine over *lanes*.
//!
//! A lane is a stream of one context as far as order goes: a queue whose actions run one after another. Between lanes
//! only two rules hold. An action in the legacy lane (the default stream) waits for all work that the blocking lanes
//! hold by then; an action in a blocking lane waits for all work that the legacy lane holds by then. Non-blocking lanes
//! stand apart, and two blocking lanes are ordered only through a legacy action between them.
//!
//! Idle lanes cost nothing. The legacy lane's actions are counted in an epoch, and each blocking lane remembers the
//! epoch it last waited for, so a legacy action touches no blocking lane at all. In the other direction the blocking
//! lanes with work that the legacy lane has not waited for stand in a list, the dirty lanes.
//!
//! Nothing here enqueues or blocks. The caller holds one lock around the whole of an action: ask
//! [`before`](Order::before), enqueue those waits, tell [`joined`](Order::joined), enqueue the action, tell
//! [`acted`](Order::acted). Where an enqueue fails it stops there, and what was told so far still holds.

use smallvec::SmallVec;

/// How a lane relates to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The default stream; exactly one lane, which [`Order::new`] makes.
    Legacy,
    /// Ordered with the legacy lane in both directions: streams made without a flag, and per-thread default streams.
    Blocking,
    /// Ordered with no other lane.
    NonBlocking,
}

/// A lane of one [`Order`]. The number is used again once the lane is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LaneId(u32);

/// The lanes of one context, and which of them owe each other a wait.
#[derive(Debug)]
pub(crate) struct Order {
    /// By lane number; `None` where a lane was removed.
    lanes: Vec<Option<Lane>>,
    /// Numbers of removed lanes.
    vacant: Vec<LaneId>,
    /// Blocking lanes with work that the legacy lane has not waited for, in no order.
    dirty: Vec<LaneId>,
    /// How many actions the legacy lane had.
    epoch: u64,
    /// How many of them are known to be complete.
    complete: u64,
}

#[derive(Debug)]
struct Lane {
    class: Class,
    /// Blocking lanes: the legacy epoch that the lane has waited for.
    seen: u64,
    /// Where the lane stands in the dirty list, if it does.
    dirty_at: Option<usize>,
}

impl Order {
    /// The default stream's lane.
    pub(crate) const LEGACY: LaneId = LaneId(0);

    /// A context with its default stream only.
    pub(crate) fn new() -> Self {
        Self {
            lanes: vec![Some(Lane::new(Class::Legacy))],
            vacant: Vec::new(),
            dirty: Vec::new(),
            epoch: 0,
            complete: 0,
        }
    }

    /// Adds a lane, of any class but `Legacy`. Its first action is ordered like that of any lane: a new blocking lane
    /// too waits for what the legacy lane holds by then.
    pub(crate) fn add(&mut self, class: Class) -> LaneId {
        debug_assert!(class != Class::Legacy, "there is one legacy lane");
        let class = match class {
            Class::Legacy => Class::Blocking,
            other => other,
        };
        let lane = Some(Lane::new(class));
        match self.vacant.pop() {
            Some(id) => {
                self.lanes[id.index()] = lane;
                id
            }
            None => {
                let id = LaneId(self.lanes.len() as u32);
                self.lanes.push(lane);
                id
            }
        }
    }

    /// Removes a lane; not the legacy lane. Nothing waits for the lane's work from now on, so a stream that is destroyed
    /// while busy keeps its lane until its work is complete.
    pub(crate) fn remove(&mut self, lane: LaneId) {
        debug_assert!(lane != Self::LEGACY, "the legacy lane stays");
        if lane == Self::LEGACY {
            return;
        }
        self.mark_clean(lane);
        if let Some(slot) = self.lanes.get_mut(lane.index())
            && slot.take().is_some()
        {
            self.vacant.push(lane);
        }
    }

    /// The lanes whose work so far the next action in `lane` must wait for. A question only: asking changes nothing.
    pub(crate) fn before(&self, lane: LaneId) -> SmallVec<[LaneId; 4]> {
        match lane {
            _ if self.is_clear(lane) => SmallVec::new(),
            Self::LEGACY => SmallVec::from_slice(&self.dirty),
            _ => SmallVec::from_slice(&[Self::LEGACY]),
        }
    }

    /// Whether the next action in `lane` waits for nothing: what [`before`](Self::before) then answers.
    pub(crate) fn is_clear(&self, lane: LaneId) -> bool {
        match self.lane(lane) {
            Some(Lane { class: Class::Legacy, .. }) => self.dirty.is_empty(),
            Some(Lane { class: Class::Blocking, seen, .. }) => self.epoch <= self.complete.max(*seen),
            _ => true,
        }
    }

    /// The waits that [`before`](Self::before) named are enqueued in `lane`: all its later actions come after them.
    pub(crate) fn joined(&mut self, lane: LaneId) {
        if lane == Self::LEGACY {
            while let Some(dirty) = self.dirty.pop() {
                if let Some(lane) = self.lane_mut(dirty) {
                    lane.dirty_at = None;
                }
            }
        } else {
            let epoch = self.epoch;
            if let Some(lane) = self.lane_mut(lane) {
                lane.seen = epoch;
            }
        }
    }

    /// An action was enqueued in `lane`, after its waits.
    pub(crate) fn acted(&mut self, lane: LaneId) {
        match self.lane(lane).map(|lane| lane.class) {
            Some(Class::Legacy) => self.epoch += 1,
            Some(Class::Blocking) => self.mark_dirty(lane),
            Some(Class::NonBlocking) | None => {}
        }
    }

    /// All work of `lane` is known to be complete, so that nothing need wait for it. Whoever learned this by waiting
    /// outside the lock must make sure that nothing was enqueued in between.
    pub(crate) fn idle(&mut self, lane: LaneId) {
        if lane == Self::LEGACY {
            self.complete = self.epoch;
        } else {
            self.mark_clean(lane);
        }
    }

    /// The blocking lanes with work that the legacy lane has not waited for and that is not known to be complete: with
    /// the legacy lane itself, what a query or synchronisation of the default stream is about.
    pub(crate) fn dirty(&self) -> &[LaneId] {
        &self.dirty
    }

    fn mark_dirty(&mut self, id: LaneId) {
        let at = self.dirty.len();
        if let Some(lane) = self.lane_mut(id)
            && lane.dirty_at.is_none()
        {
            lane.dirty_at = Some(at);
            self.dirty.push(id);
        }
    }

    /// Takes a lane out of the dirty list; the last one there moves to its place.
    fn mark_clean(&mut self, id: LaneId) {
        let Some(at) = self.lane_mut(id).and_then(|lane| lane.dirty_at.take()) else {
            return;
        };
        self.dirty.swap_remove(at);
        if let Some(&moved) = self.dirty.get(at)
            && let Some(moved) = self.lane_mut(moved)
        {
            moved.dirty_at = Some(at);
        }
    }

    fn lane(&self, lane: LaneId) -> Option<&Lane> {
        self.lanes.get(lane.index())?.as_ref()
    }

    fn lane_mut(&mut self, lane: LaneId) -> Option<&mut Lane> {
        self.lanes.get_mut(lane.index())?.as_mut()
    }
}

impl Lane {
    fn new(class: Class) -> Self {
        Self { class, seen: 0, dirty_at: None }
    }
}

impl LaneId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    const LEGACY: LaneId = Order::LEGACY;

    /// One whole action; returns what it waited for.
    fn act(order: &mut Order, lane: LaneId) -> Vec<LaneId> {
        let mut waits = order.before(lane).to_vec();
        order.joined(lane);
        order.acted(lane);
        waits.sort();
        waits
    }

    #[test]
    fn kernels_in_s_then_0_then_s_run_one_after_another() {
        let mut order = Order::new();
        let s = order.add(Class::Blocking);
        assert_eq!(act(&mut order, s), []);
        assert_eq!(act(&mut order, LEGACY), [s]);
        assert_eq!(act(&mut order, s), [LEGACY]);
    }

    #[test]
    fn one_wait_is_enough_until_there_is_new_work() {
        let mut order = Order::new();
        let [a, b] = [(); 2].map(|()| order.add(Class::Blocking));
        act(&mut order, LEGACY);
        assert_eq!(act(&mut order, a), [LEGACY]);
        assert_eq!(act(&mut order, a), []);
        assert_eq!(act(&mut order, b), [LEGACY]);
        assert_eq!(act(&mut order, LEGACY), [a, b]);
        assert_eq!(act(&mut order, LEGACY), []);
        assert_eq!(act(&mut order, b), [LEGACY]);
        assert_eq!(order.dirty(), [b]);
    }

    #[test]
    fn non_blocking_lanes_stand_apart() {
        let mut order = Order::new();
        let apart = order.add(Class::NonBlocking);
        let s = order.add(Class::Blocking);
        act(&mut order, LEGACY);
        act(&mut order, s);
        assert_eq!(act(&mut order, apart), []);
        assert_eq!(act(&mut order, LEGACY), [s]);
        assert_eq!(act(&mut order, s), [LEGACY]);
        assert_eq!(order.dirty(), [s]);
    }

    #[test]
    fn asking_changes_nothing() {
        let mut order = Order::new();
        let s = order.add(Class::Blocking);
        act(&mut order, s);
        assert_eq!(order.before(LEGACY).as_slice(), [s]);
        assert_eq!(order.before(LEGACY).as_slice(), [s]);
        act(&mut order, LEGACY);
        assert_eq!(order.before(s).as_slice(), [LEGACY]);
        assert_eq!(order.before(s).as_slice(), [LEGACY]);
    }

    #[test]
    fn idle_work_needs_no_wait() {
        let mut order = Order::new();
        let s = order.add(Class::Blocking);
        act(&mut order, s);
        order.idle(s);
        assert_eq!(order.dirty(), []);
        assert_eq!(act(&mut order, LEGACY), []);
        order.idle(LEGACY);
        assert_eq!(act(&mut order, s), []);
        act(&mut order, LEGACY);
        assert_eq!(act(&mut order, s), [LEGACY]);
    }

    #[test]
    fn a_new_lane_waits_for_what_the_legacy_lane_holds_already() {
        let mut order = Order::new();
        act(&mut order, LEGACY);
        let s = order.add(Class::Blocking);
        assert_eq!(act(&mut order, s), [LEGACY]);
    }

    #[test]
    fn a_removed_lane_is_waited_for_no_more_and_its_number_comes_back_clean() {
        let mut order = Order::new();
        let [a, b, c] = [(); 3].map(|()| order.add(Class::Blocking));
        for lane in [a, b, c] {
            act(&mut order, lane);
        }
        order.remove(a);
        order.remove(a);
        assert_eq!(act(&mut order, a), []);
        assert_eq!(act(&mut order, LEGACY), [b, c]);
        let again = order.add(Class::NonBlocking);
        assert_eq!(again, a);
        assert_eq!(act(&mut order, again), []);
        assert_eq!(order.dirty(), []);
        assert_ne!(order.add(Class::Blocking), a);
    }

    /// What one step of a random program does, to a lane picked by number.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Act(usize),
        /// The waits get enqueued, the action does not.
        JoinOnly(usize),
        /// Not even the waits get enqueued.
        FailEarly(usize),
        Idle(usize),
        Add(Class),
        Remove(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let lane = || 0..8_usize;
        let class = prop_oneof![3 => Just(Class::Blocking), 1 => Just(Class::NonBlocking)];
        let step = prop_oneof![
            12 => lane().prop_map(Step::Act),
            4 => Just(Step::Act(0)),
            1 => lane().prop_map(Step::JoinOnly),
            1 => lane().prop_map(Step::FailEarly),
            2 => lane().prop_map(Step::Idle),
            3 => class.prop_map(Step::Add),
            1 => lane().prop_map(Step::Remove),
        ];
        prop::collection::vec(step, 0..70)
    }

    /// The rules, played out action by action, beside the machine under test.
    struct Model {
        order: Order,
        /// The lanes that are there, and their actions.
        lanes: BTreeMap<LaneId, (Class, Vec<usize>)>,
        /// Waits enqueued in a lane whose action failed: the lane's next action inherits them.
        inherited: BTreeMap<LaneId, BTreeSet<usize>>,
        /// Per action: what comes before it by the enqueued waits, and what must by the rules, each with all that comes
        /// before that in turn.
        implied: Vec<BTreeSet<usize>>,
        demanded: Vec<BTreeSet<usize>>,
        complete: BTreeSet<usize>,
    }

    /// Whether an action of this class must come after all work of that one.
    fn rule(class: Class, other: Class) -> bool {
        match class {
            Class::Legacy => other == Class::Blocking,
            Class::Blocking => other == Class::Legacy,
            Class::NonBlocking => false,
        }
    }

    fn with_ancestors(direct: BTreeSet<usize>, past: &[BTreeSet<usize>]) -> BTreeSet<usize> {
        let ancestors = direct.iter().flat_map(|&action| past[action].iter().copied());
        ancestors.chain(direct.iter().copied()).collect()
    }

    impl Model {
        fn new() -> Self {
            Self {
                order: Order::new(),
                lanes: BTreeMap::from([(LEGACY, (Class::Legacy, Vec::new()))]),
                inherited: BTreeMap::new(),
                implied: Vec::new(),
                demanded: Vec::new(),
                complete: BTreeSet::new(),
            }
        }

        fn pick(&self, number: usize) -> LaneId {
            *self.lanes.keys().nth(number % self.lanes.len()).expect("one lane at least")
        }

        fn class(&self, lane: LaneId) -> Class {
            self.lanes[&lane].0
        }

        fn actions(&self, lane: LaneId) -> impl Iterator<Item = usize> {
            self.lanes[&lane].1.iter().copied()
        }

        fn run(&mut self, step: Step) {
            match step {
                Step::Act(number) => {
                    let lane = self.pick(number);
                    self.join(lane);
                    self.act(lane);
                }
                Step::JoinOnly(number) => self.join(self.pick(number)),
                Step::FailEarly(number) => drop(self.order.before(self.pick(number))),
                Step::Idle(number) => {
                    let lane = self.pick(number);
                    let done = with_ancestors(self.actions(lane).collect(), &self.implied);
                    self.complete.extend(done);
                    self.order.idle(lane);
                }
                Step::Add(class) => {
                    let lane = self.order.add(class);
                    let before = self.lanes.insert(lane, (class, Vec::new()));
                    assert!(before.is_none(), "{lane:?} is in use");
                }
                Step::Remove(number) => {
                    let lane = self.pick(number);
                    if lane != LEGACY {
                        self.order.remove(lane);
                        self.lanes.remove(&lane);
                        self.inherited.remove(&lane);
                    }
                }
            }
        }

        /// Enqueues the waits that the machine asks for. None may be idle talk: each must order something anew.
        fn join(&mut self, lane: LaneId) {
            let known = self.ordered_before_next(lane);
            let waits = self.order.before(lane);
            for &waited in &waits {
                assert!(rule(self.class(lane), self.class(waited)), "{lane:?} after {waited:?}");
                assert!(
                    self.actions(waited).any(|action| !known.contains(&action)),
                    "{lane:?} need not wait for {waited:?}"
                );
            }
            let work = waits.iter().flat_map(|&waited| self.actions(waited)).collect::<Vec<_>>();
            self.inherited.entry(lane).or_default().extend(work);
            self.order.joined(lane);
            assert!(self.order.before(lane).is_empty(), "joined, and yet not");
        }

        fn ordered_before_next(&self, lane: LaneId) -> BTreeSet<usize> {
            let inherited = self.inherited.get(&lane).into_iter().flatten().copied();
            let direct = inherited.chain(self.actions(lane)).collect();
            with_ancestors(direct, &self.implied)
        }

        fn act(&mut self, lane: LaneId) {
            let class = self.class(lane);
            let others = self.lanes.values().filter(|(other, _)| rule(class, *other));
            let direct = others.flat_map(|(_, actions)| actions.iter().copied());
            // What was joined without an action stays before this one, even if its lane was removed since.
            let inherited = self.inherited.get(&lane).into_iter().flatten().copied();
            let direct = direct.chain(inherited).chain(self.actions(lane)).collect();
            self.demanded.push(with_ancestors(direct, &self.demanded));
            self.implied.push(self.ordered_before_next(lane));
            self.order.acted(lane);

            let (_, actions) = self.lanes.get_mut(&lane).expect("picked from these");
            actions.push(self.implied.len() - 1);
            self.check_last();
        }

        /// No order is missing, unless what should come before is over anyway; and none is there that no rule demands.
        fn check_last(&self) {
            let (Some(implied), Some(demanded)) = (self.implied.last(), self.demanded.last()) else {
                return;
            };
            let missing = demanded.iter().find(|action| !implied.contains(action) && !self.complete.contains(action));
            assert_eq!(missing, None, "an order that the rules demand is missing");
            assert!(implied.is_subset(demanded), "an order that no rule demands");
        }

        /// The dirty lanes are those with work that is neither complete nor before the legacy lane's next action.
        fn check_dirty(&self) {
            let known = self.ordered_before_next(LEGACY);
            for (&lane, (class, actions)) in &self.lanes {
                let mut work = actions.iter();
                let open = *class == Class::Blocking
                    && work.any(|action| !known.contains(action) && !self.complete.contains(action));
                let dirty = self.order.dirty().contains(&lane);
                // Work may be complete because something that waited for it is; the machine need not see that.
                assert!(dirty || !open, "{lane:?} has open work");
                assert!(!dirty || *class == Class::Blocking);
            }
            let distinct: BTreeSet<_> = self.order.dirty().iter().collect();
            assert_eq!(distinct.len(), self.order.dirty().len());
        }
    }

    proptest! {
        #[test]
        fn random_programs_are_ordered_by_the_rules_and_by_nothing_else(steps in steps()) {
            let mut model = Model::new();
            for step in steps {
                model.run(step);
                model.check_dirty();
            }
        }
    }
}
