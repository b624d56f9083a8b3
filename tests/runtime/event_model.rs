//! Events against a simple model: random programs over several streams, and threads that record and ask at once (TOPS
//! 7.3, MUSA "events"; behaviour.md 3.9, 2.3 and 2.5).
//!
//! In the model a stream, and each record, is the set of gates that hold it back. What no closed gate holds back
//! comes to its end; what one does is pending for as long as the gate is closed. Nothing else takes time here, so that
//! the model says the answer of every call.

use crate::support::Latch;
use crate::work::hold_legacy;
use gridcl::testing::guard;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Streams of a program: the default stream, two blocking ones, two aside.
const STREAMS: usize = 5;
/// Events of a program; every second one keeps no time.
const EVENTS: usize = 4;
/// The default stream's place.
const FIRST: usize = 0;

/// Gates that hold something back, by number.
type Held = BTreeSet<usize>;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A gate is closed in a stream.
    Close(usize),
    /// The gate with this place among the closed ones is opened.
    Open(usize),
    /// An event is recorded in a stream.
    Record(usize, usize),
    /// A stream is made to wait for an event.
    Wait(usize, usize),
    /// An event is asked for, and waited for where nothing holds it.
    Event(usize),
    /// The same for a stream.
    Stream(usize),
    /// The time from one event to another is asked for.
    Elapsed(usize, usize),
    /// An event is destroyed as it is, and another made in its place.
    Remake(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (stream, event) = (|| 0..STREAMS, || 0..EVENTS);
    let step = prop_oneof![
        4 => stream().prop_map(Step::Close),
        3 => (0..8_usize).prop_map(Step::Open),
        9 => (event(), stream()).prop_map(|(event, stream)| Step::Record(event, stream)),
        6 => (stream(), event()).prop_map(|(stream, event)| Step::Wait(stream, event)),
        6 => event().prop_map(Step::Event),
        3 => stream().prop_map(Step::Stream),
        4 => (event(), event()).prop_map(|(start, stop)| Step::Elapsed(start, stop)),
        1 => event().prop_map(Step::Remake),
    ];
    prop::collection::vec(step, 1..60)
}

/// What an event's latest record is behind.
#[derive(Clone, Default)]
struct Recorded {
    held: Held,
    /// Records that are known to come before this one, by their number; for the sign of times.
    past: BTreeSet<usize>,
    number: usize,
}

#[derive(Clone, Default)]
struct Line {
    held: Held,
    past: BTreeSet<usize>,
}

#[derive(Default)]
struct Model {
    streams: [Line; STREAMS],
    events: [Option<Recorded>; EVENTS],
    closed: BTreeSet<usize>,
    gates: usize,
    records: usize,
}

fn is_blocking(stream: usize) -> bool {
    (1..3).contains(&stream)
}

impl Model {
    /// What an action of a stream comes after, and then the stream with it.
    fn act(&mut self, stream: usize, is_wait: bool) -> &mut Line {
        let others = match stream {
            FIRST => 1..3,
            // A wait in a blocking stream adds no other wait (2.3 row 13).
            _ if is_blocking(stream) && !is_wait => 0..1,
            _ => 0..0,
        };
        for other in others {
            let Line { held, past } = self.streams[other].clone();
            self.streams[stream].held.extend(held);
            self.streams[stream].past.extend(past);
        }
        &mut self.streams[stream]
    }

    fn close(&mut self, stream: usize) -> usize {
        self.gates += 1;
        let gate = self.gates;
        self.act(stream, false).held.insert(gate);
        self.closed.insert(gate);
        gate
    }

    fn record(&mut self, event: usize, stream: usize) {
        self.records += 1;
        let number = self.records;
        let line = self.act(stream, false);
        let recorded = Recorded { held: line.held.clone(), past: line.past.clone(), number };
        line.past.insert(number);
        self.events[event] = Some(recorded);
    }

    fn wait(&mut self, stream: usize, event: usize) {
        // One that was never recorded is waited for no time at all.
        let Some(Recorded { held, mut past, number }) = self.events[event].clone() else { return };
        past.insert(number);
        let line = self.act(stream, true);
        line.held.extend(held);
        line.past.extend(past);
    }

    fn is_held(&self, held: &Held) -> bool {
        !held.is_disjoint(&self.closed)
    }

    fn event_is_held(&self, event: usize) -> bool {
        self.events[event].as_ref().is_some_and(|recorded| self.is_held(&recorded.held))
    }

    /// The query of the default stream is about blocking streams too.
    fn stream_is_held(&self, stream: usize) -> bool {
        let streams = if stream == FIRST { &self.streams[..3] } else { &self.streams[stream..=stream] };
        streams.iter().any(|line| self.is_held(&line.held))
    }
}

/// A call on an event that several threads share, as it looked from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    /// It was recorded where it is held, or where it is complete at once.
    Record { held: bool },
    /// The answer was that of a held record, or not.
    Answer { held: bool },
}

/// A call, and the times at which it began and ended.
type Timed = (Call, u64, u64);

/// Whether the calls of several threads can be put into one order, in keeping with which ended before which began, in
/// which every answer is that of the latest record. An event that was never recorded is complete.
fn have_an_order(threads: &[Vec<Timed>]) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![(vec![0; threads.len()], false)];
    while let Some((at, held)) = open.pop() {
        let next: Vec<_> = threads.iter().zip(&at).map(|(calls, &at)| calls.get(at)).collect();
        if next.iter().all(Option::is_none) {
            return true;
        }
        // Nothing may come first that began after another has ended.
        let ended = next.iter().flatten().map(|(_, _, end)| *end).min().unwrap();
        for (thread, call) in next.iter().enumerate() {
            let Some(&(call, begin, _)) = *call else { continue };
            let after = match call {
                _ if begin > ended => continue,
                Call::Record { held } => held,
                Call::Answer { held: answer } if answer == held => held,
                Call::Answer { .. } => continue,
            };
            let mut at = at.clone();
            at[thread] += 1;
            if seen.insert((at.clone(), after)) {
                open.push((at, after));
            }
        }
    }
    false
}

#[test]
fn an_order_of_calls_is_found_where_there_is_one() {
    let record = |held| Call::Record { held };
    let answer = |held| Call::Answer { held };
    // One after another: the answer is the latest record's.
    assert!(have_an_order(&[vec![(record(true), 0, 1), (answer(true), 2, 3)]]));
    assert!(!have_an_order(&[vec![(record(true), 0, 1), (answer(false), 2, 3)]]));
    // At once: either way.
    for held in [false, true] {
        assert!(have_an_order(&[vec![(record(true), 0, 3)], vec![(answer(held), 1, 2)]]));
    }
    // What was seen by one is not unseen by who comes later.
    let after = |held| vec![(answer(true), 1, 2), (answer(held), 3, 4)];
    assert!(have_an_order(&[vec![(record(true), 0, 5)], after(true)]));
    assert!(!have_an_order(&[vec![(record(true), 0, 5)], after(false)]));
}

/// Random programs can be asked for in any number where there is time.
fn programs() -> u32 {
    std::env::var("GRIDCL_TEST_PROGRAMS").map_or(1000, |number| number.parse().unwrap())
}

both_dialects! {
    fn random_programs_are_answered_as_the_model_says() {
        unsafe extern "C" fn pass(_: Stream, _: Code, user: *mut c_void) {
            unsafe { Latch::pass(user) };
        }
        let _guard = guard();
        let config = Config { cases: programs(), failure_persistence: None, max_shrink_time: 20_000, ..Config::default() };
        let outcome = TestRunner::new(config).run(&steps(), |steps| {
            let made = [work::blocking(), work::blocking(), work::aside(), work::aside()];
            let handles: Vec<_> = std::iter::once(LEGACY).chain(made.iter().map(|made| **made)).collect();
            let flags = |event: usize| if event.is_multiple_of(2) { 0 } else { EVENT_DISABLE_TIMING };
            let mut events: [_; EVENTS] = std::array::from_fn(|event| Some(work::point(flags(event))));
            let (mut model, mut gates) = (Model::default(), BTreeMap::<usize, Latch>::new());
            let at = |events: &[Option<work::Point>; EVENTS], event: usize| **events[event].as_ref().unwrap();
            let _ = get_last_error();
            for step in steps {
                match step {
                    Step::Close(stream) => {
                        let latch = Latch::default();
                        ok!(unsafe { stream_add_callback(handles[stream], Some(pass), latch.user(), 0) });
                        gates.insert(model.close(stream), latch);
                    }
                    Step::Open(place) => {
                        let Some(&gate) = model.closed.iter().nth(place) else { continue };
                        model.closed.remove(&gate);
                        gates.remove(&gate);
                    }
                    Step::Record(event, stream) => {
                        ok!(event_record(at(&events, event), handles[stream]));
                        model.record(event, stream);
                    }
                    Step::Wait(stream, event) => {
                        ok!(stream_wait_event(handles[stream], at(&events, event), 0));
                        model.wait(stream, event);
                    }
                    Step::Event(event) => {
                        let handle = at(&events, event);
                        if model.event_is_held(event) {
                            prop_assert_eq!(event_query(handle), NOT_READY);
                        } else {
                            work::completes(handle);
                            ok!(event_synchronize(handle));
                        }
                    }
                    Step::Stream(stream) => {
                        if model.stream_is_held(stream) {
                            prop_assert_eq!(stream_query(handles[stream]), NOT_READY);
                        } else {
                            work::comes_to_its_end(handles[stream]);
                            ok!(stream_synchronize(handles[stream]));
                        }
                    }
                    Step::Elapsed(start, stop) => {
                        let (mut ms, pair) = (f32::NAN, [start, stop]);
                        let (from, to) = (at(&events, start), at(&events, stop));
                        let without = |event: usize| flags(event) != 0 || model.events[event].is_none();
                        let expected = if pair.into_iter().any(without) {
                            INVALID_HANDLE
                        } else if pair.into_iter().any(|event| model.event_is_held(event)) {
                            NOT_READY
                        } else {
                            pair.into_iter().for_each(|event| work::completes(at(&events, event)));
                            SUCCESS
                        };
                        prop_assert_eq!(unsafe { event_elapsed_time(&mut ms, from, to) }, expected);
                        prop_assert_eq!(ms.is_nan(), expected != SUCCESS, "written where there is a time");
                        let records = pair.map(|event| model.events[event].clone().unwrap_or_default());
                        let [first, second] = records;
                        if expected == SUCCESS && second.past.contains(&first.number) {
                            prop_assert!(ms >= 0.0, "{} ms to a later record", ms);
                        }
                        if start == stop && expected == SUCCESS {
                            prop_assert_eq!(ms.to_bits(), 0);
                        }
                    }
                    Step::Remake(event) => {
                        events[event] = None;
                        events[event] = Some(work::point(flags(event)));
                        model.events[event] = None;
                    }
                }
            }
            // In the end every gate opens, and all comes to its end.
            drop(gates);
            for event in events.iter().flatten() {
                work::completes(**event);
            }
            for stream in handles {
                work::comes_to_its_end(stream);
            }
            Ok(())
        });
        if let Err(failure) = outcome {
            panic!("{failure}");
        }
    }

    /// Threads record one event where it is complete at once and where it is held, ask for it, and have streams wait
    /// for it.
    fn calls_of_threads_on_one_event_have_an_order() {
        const THREADS: usize = 4;
        const CALLS: usize = 5;
        const ROUNDS: usize = 500;
        let _guard = guard();
        let (free, held) = ([(); THREADS].map(|()| work::aside()), work::blocking());
        let gate = hold_legacy();
        let (clock, barrier) = (AtomicU64::new(0), Barrier::new(THREADS));
        let events: Vec<_> = (0..ROUNDS).map(|_| work::untimed()).collect();
        let one_call = |event: Event, free: Stream, dice: u64| match dice % 8 {
            0 | 1 => {
                ok!(event_record(event, *held));
                Call::Record { held: true }
            }
            2 | 3 => {
                // Nothing is ever put into this stream, so there is nothing that the event could wait for.
                ok!(event_record(event, free));
                Call::Record { held: false }
            }
            4 => {
                let fresh = work::aside();
                ok!(stream_wait_event(*fresh, event, 0));
                Call::Answer { held: !work::done(stream_query(*fresh)) }
            }
            _ => Call::Answer { held: !work::done(event_query(event)) },
        };
        // Handles are numbers; a thread takes them as such.
        let calls = std::thread::scope(|scope| {
            let (clock, barrier, events, free, one_call) = (&clock, &barrier, &events, &free, &one_call);
            let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || {
                let mut rounds = Vec::new();
                for (round, event) in events.iter().enumerate() {
                    let mut dice = ((round * THREADS + thread) as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                    let mut calls: Vec<Timed> = Vec::new();
                    barrier.wait();
                    for _ in 0..CALLS {
                        dice ^= dice << 13;
                        dice ^= dice >> 7;
                        dice ^= dice << 17;
                        let begin = clock.fetch_add(1, SeqCst);
                        let call = one_call(**event, *free[thread], dice >> 33);
                        calls.push((call, begin, clock.fetch_add(1, SeqCst)));
                    }
                    rounds.push(calls);
                }
                rounds
            })).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        for round in 0..ROUNDS {
            let history: Vec<_> = calls.iter().map(|rounds| rounds[round].clone()).collect();
            assert!(have_an_order(&history), "round {round}: {history:#?}");
        }
        gate.open();
        for event in &events {
            work::completes(**event);
        }
        ok!(device_synchronize());
    }
}
