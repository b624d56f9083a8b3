//! The calls of a random program, and what is known of streams, events and blocks while it runs.

use proptest::prelude::*;

/// One call. Numbers name things modulo what there is.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    Malloc { bytes: usize, how: Make },
    Free { block: usize, wrong: Wrong },
    FreeAsync { block: usize, stream: usize },
    CreateStream { blocking: bool },
    DestroyStream(usize),
    AskStream(usize, Ask),
    CreateEvent { timed: bool },
    DestroyEvent(usize),
    Record { event: usize, stream: usize },
    Wait { stream: usize, event: usize },
    AskEvent(usize, Ask),
    Elapsed(usize, usize),
    Set { block: usize, at: usize, bytes: usize, value: u8, stream: Option<usize>, wrong: Wrong },
    Copy { to: usize, from: usize, at: (usize, usize), bytes: usize, stream: Option<usize>, wrong: Wrong },
    Upload { block: usize, at: usize, bytes: usize, seed: u64, stream: Option<usize>, wrong: Wrong },
    Download { block: usize, at: usize, bytes: usize, stream: Option<usize>, wrong: Wrong },
    Launch { to: usize, from: usize, count: usize, by: u8, stream: usize, wrong: Wrong },
    Callback { stream: usize },
    Load { good: bool },
    Unload(usize),
    Synchronize,
}

/// Which memory is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Make {
    Device,
    Pinned,
    /// In the order of a stream.
    Ordered(usize),
    /// Into a null pointer.
    Nowhere,
    /// More than there is.
    Huge,
}

/// What is asked about work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    Query,
    Synchronize,
}

/// What is wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    Nothing,
    /// A null pointer, no function.
    Null,
    /// A byte more than the block has; a block of no threads.
    TooMuch,
    /// An address within the block; a kind that is none; a list without arguments.
    Odd,
}

fn wrong() -> impl Strategy<Value = Wrong> {
    prop_oneof![12 => Just(Wrong::Nothing), 1 => Just(Wrong::Null), 1 => Just(Wrong::TooMuch), 1 => Just(Wrong::Odd)]
}

fn make() -> impl Strategy<Value = Make> {
    prop_oneof![
        8 => Just(Make::Device),
        3 => Just(Make::Pinned),
        4 => (0..6_usize).prop_map(Make::Ordered),
        1 => Just(Make::Nowhere),
        1 => Just(Make::Huge),
    ]
}

fn ask() -> impl Strategy<Value = Ask> {
    prop_oneof![Just(Ask::Query), Just(Ask::Synchronize)]
}

/// Sizes around the borders of the ways that copies take.
fn bytes() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 1..600_usize, 2 => 1..9000_usize, 1 => Just(300_000_usize)]
}

/// Any call.
pub fn op() -> impl Strategy<Value = Op> {
    // Names of streams, events and blocks.
    let (s, e, b) = (0..6_usize, 0..5_usize, 0..8_usize);
    let maybe = prop::option::of(s.clone());
    prop_oneof![
        6 => (bytes(), make()).prop_map(|(bytes, how)| Op::Malloc { bytes, how }),
        3 => (b.clone(), wrong()).prop_map(|(block, wrong)| Op::Free { block, wrong }),
        2 => (b.clone(), s.clone()).prop_map(|(block, stream)| Op::FreeAsync { block, stream }),
        3 => any::<bool>().prop_map(|blocking| Op::CreateStream { blocking }),
        1 => s.clone().prop_map(Op::DestroyStream),
        2 => (s.clone(), ask()).prop_map(|(stream, ask)| Op::AskStream(stream, ask)),
        2 => any::<bool>().prop_map(|timed| Op::CreateEvent { timed }),
        1 => e.clone().prop_map(Op::DestroyEvent),
        3 => (e.clone(), s.clone()).prop_map(|(event, stream)| Op::Record { event, stream }),
        3 => (s.clone(), e.clone()).prop_map(|(stream, event)| Op::Wait { stream, event }),
        2 => (e.clone(), ask()).prop_map(|(event, ask)| Op::AskEvent(event, ask)),
        1 => (e.clone(), e).prop_map(|(start, end)| Op::Elapsed(start, end)),
        6 => (b.clone(), 0..9000_usize, bytes(), any::<u8>(), maybe.clone(), wrong())
            .prop_map(|(block, at, bytes, value, stream, wrong)| Op::Set { block, at, bytes, value, stream, wrong }),
        6 => (b.clone(), b.clone(), (0..9000_usize, 0..9000_usize), bytes(), maybe.clone(), wrong())
            .prop_map(|(to, from, at, bytes, stream, wrong)| Op::Copy { to, from, at, bytes, stream, wrong }),
        5 => (b.clone(), 0..9000_usize, bytes(), any::<u64>(), maybe.clone(), wrong())
            .prop_map(|(block, at, bytes, seed, stream, wrong)| Op::Upload { block, at, bytes, seed, stream, wrong }),
        5 => (b.clone(), 0..9000_usize, bytes(), maybe, wrong())
            .prop_map(|(block, at, bytes, stream, wrong)| Op::Download { block, at, bytes, stream, wrong }),
        6 => (b.clone(), b, 1..600_usize, any::<u8>(), s.clone(), wrong())
            .prop_map(|(to, from, count, by, stream, wrong)| Op::Launch { to, from, count, by, stream, wrong }),
        2 => s.prop_map(|stream| Op::Callback { stream }),
        // Builds take as long as hundreds of other calls.
        1 => prop::option::weighted(0.1, prop::bool::weighted(0.3))
            .prop_map(|load| load.map_or(Op::Synchronize, |good| Op::Load { good })),
        1 => (0..3_usize).prop_map(Op::Unload),
        1 => Just(Op::Synchronize),
    ]
}

/// A stream, as far as order goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    pub number: usize,
    pub class: Class,
}

/// How a stream stands to the default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Legacy,
    Blocking,
    Aside,
}

impl Lane {
    /// Whether the rules order work of `earlier` before later work of this one.
    pub fn follows(self, earlier: Self) -> bool {
        self.number == earlier.number
            || matches!(
                (earlier.class, self.class),
                (Class::Legacy, Class::Blocking) | (Class::Blocking, Class::Legacy)
            )
    }
}

/// Which streams use a block since it was last known to be idle, and whether they write.
#[derive(Clone, Debug, Default)]
pub struct Uses(Vec<(Lane, bool)>);

impl Uses {
    /// The streams whose work a use in `lane` has to wait for, where no rule makes it.
    pub fn in_the_way(&self, lane: Lane, writes: bool) -> Vec<Lane> {
        let mut found: Vec<Lane> = Vec::new();
        for &(other, wrote) in &self.0 {
            if (wrote || writes) && !lane.follows(other) && !found.contains(&other) {
                found.push(other);
            }
        }
        found
    }

    /// Notes a use.
    pub fn note(&mut self, lane: Lane, writes: bool) {
        if !self.0.contains(&(lane, writes)) {
            self.0.push((lane, writes));
        }
    }

    /// All streams that use it.
    pub fn lanes(&self) -> Vec<Lane> {
        self.0.iter().map(|&(lane, _)| lane).collect()
    }

    /// No work uses it any more.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
