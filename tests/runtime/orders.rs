//! Random programs over the default stream, blocking streams, a thread's own stream and streams aside (TOPS 7.4,
//! MUSA "streams" and "events"; behaviour.md 2.3).
//!
//! A model keeps for each stream which actions the rules put before its next one, and a program touches a cell only
//! where the rules order the touch with all that it depends on. Whatever order the runtime chooses within the rules,
//! the cells end as if the program had run line by line; a wait that is missing loses a step.

use crate::work::{BRISK, SLOW, filled, hold_legacy, stepped};
use gridcl::testing::guard;
use std::fmt;

/// Cells of a program: few, so that streams meet at them.
const CELLS: usize = 4;

/// Events of a program; half of them keep times.
const EVENTS: usize = 4;

/// The default stream's place among a program's streams.
const FIRST: usize = 0;

/// Numbers without rhyme or reason, the same for the same seed (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % sides
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        if from.is_empty() { None } else { Some(from[self.roll(from.len())]) }
    }
}

/// How far along each stream is, as far as somebody knows: the number of its actions that come before.
type Clock = Vec<usize>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Default,
    Blocking,
    Aside,
}

/// An action's place: the stream and its number there, from 1.
type Place = (usize, usize);

/// What a line of the program does; cells and events by number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Step(usize, u32, u32),
    Copy(usize, usize),
    Set(usize, u8),
    Record(usize),
    Wait(usize),
    Synchronize,
    Replace,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Step(cell, number, turns) => write!(f, "cell {cell} = 3 * cell {cell} + {number} ({turns} turns)"),
            Self::Copy(to, from) => write!(f, "cell {to} = cell {from}"),
            Self::Set(cell, byte) => write!(f, "cell {cell} = 4 times {byte:#x}"),
            Self::Record(event) => write!(f, "record event {event}"),
            Self::Wait(event) => write!(f, "wait for event {event}"),
            Self::Synchronize => write!(f, "synchronize"),
            Self::Replace => write!(f, "destroy, and make another"),
        }
    }
}

/// The rules, and what the cells hold.
#[derive(Default)]
struct Model {
    streams: Vec<(Class, Clock)>,
    /// What comes before the latest record of each event, if it has one.
    events: [Option<Clock>; EVENTS],
    values: [u32; CELLS],
    /// The last write of each cell, and the reads since.
    touched: [(Option<Place>, Vec<Place>); CELLS],
}

impl Model {
    fn add(&mut self, class: Class) -> usize {
        self.streams.push((class, Clock::new()));
        self.streams.len() - 1
    }

    /// What comes before the next action of a stream. A wait in a blocking stream adds no wait for the default one.
    fn before(&self, stream: usize, is_wait: bool) -> Clock {
        let (class, own) = &self.streams[stream];
        let mut clock = own.clone();
        match class {
            Class::Default => {
                for (_, other) in self.streams.iter().filter(|(class, _)| *class == Class::Blocking) {
                    join(&mut clock, other);
                }
            }
            Class::Blocking if !is_wait => join(&mut clock, &self.streams[FIRST].1),
            Class::Blocking | Class::Aside => {}
        }
        clock
    }

    fn act(&mut self, stream: usize, mut clock: Clock) -> Place {
        clock.resize(clock.len().max(stream + 1), 0);
        clock[stream] += 1;
        let place = (stream, clock[stream]);
        self.streams[stream].1 = clock;
        place
    }

    /// Cells that the next action of a stream may read, or write.
    fn free(&self, stream: usize, write: bool) -> Vec<usize> {
        let clock = self.before(stream, false);
        let knows = |&(stream, number): &Place| clock.get(stream).is_some_and(|&known| known >= number);
        (0..CELLS)
            .filter(|&cell| {
                let (write_before, reads) = &self.touched[cell];
                write_before.iter().all(knows) && (!write || reads.iter().all(knows))
            })
            .collect()
    }

    fn run(&mut self, stream: usize, line: Line) {
        let clock = self.before(stream, matches!(line, Line::Wait(_)));
        match line {
            Line::Step(cell, number, _) => {
                self.values[cell] = stepped(self.values[cell], number);
                self.touched[cell] = (Some(self.act(stream, clock)), Vec::new());
            }
            Line::Copy(to, from) => {
                self.values[to] = self.values[from];
                let place = self.act(stream, clock);
                self.touched[from].1.push(place);
                self.touched[to] = (Some(place), Vec::new());
            }
            Line::Set(cell, byte) => {
                self.values[cell] = filled(byte);
                self.touched[cell] = (Some(self.act(stream, clock)), Vec::new());
            }
            Line::Record(event) => {
                self.act(stream, clock);
                self.events[event] = Some(self.streams[stream].1.clone());
            }
            Line::Wait(event) => {
                // A wait for an event that was never recorded is none.
                if let Some(event) = self.events[event].clone() {
                    self.act(stream, clock);
                    join(&mut self.streams[stream].1, &event);
                }
            }
            // The host knows then; the streams need not.
            Line::Synchronize | Line::Replace => {}
        }
    }

    /// The next line for a stream: something that touches a cell last touched elsewhere, where the rules allow it,
    /// else an event's record or wait that will.
    fn invent(&self, dice: &mut Dice, stream: usize) -> Line {
        let event = dice.roll(EVENTS);
        match dice.roll(20) {
            0..5 => return Line::Record(event),
            5..8 => return Line::Wait(event),
            8 => return Line::Synchronize,
            9 if self.streams[stream].0 != Class::Default => return Line::Replace,
            _ => {}
        }
        let writable = self.free(stream, true);
        let elsewhere = |&&cell: &&usize| self.touched[cell].0.is_some_and(|(other, _)| other != stream);
        let contested: Vec<_> = writable.iter().filter(elsewhere).copied().collect();
        if contested.is_empty() && self.streams[stream].0 == Class::Aside && dice.roll(2) == 0 {
            return Line::Wait(event);
        }
        let Some(to) = dice.pick(&contested).or_else(|| dice.pick(&writable)) else {
            return if dice.roll(2) == 0 { Line::Wait(event) } else { Line::Record(event) };
        };
        let readable: Vec<_> = self.free(stream, false).into_iter().filter(|&from| from != to).collect();
        match (dice.roll(8), dice.pick(&readable)) {
            (0 | 1, Some(from)) => Line::Copy(to, from),
            (2, _) => Line::Set(to, dice.roll(256) as u8),
            (kind, _) => Line::Step(to, dice.roll(1000) as u32, if kind < 6 { SLOW } else { BRISK }),
        }
    }
}

fn join(clock: &mut Clock, other: &Clock) {
    clock.resize(clock.len().max(other.len()), 0);
    for (known, more) in clock.iter_mut().zip(other) {
        *known = (*known).max(*more);
    }
}

both_dialects! {
    fn random_programs_end_as_if_they_ran_line_by_line() {
        let _guard = guard();
        let cells = work::Cells::new(CELLS);
        // Hundreds of programs can be asked for where there is time.
        let programs: u64 = std::env::var("GRIDCL_TEST_PROGRAMS").map_or(200, |number| number.parse().unwrap());
        for seed in 1..=programs {
            let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let mut model = Model::default();
            let mut made: Vec<Option<work::Made>> = vec![None, None];
            let blocking = Class::Blocking;
            let classes = [Class::Default, blocking, blocking, blocking, Class::Aside, Class::Aside];
            for (stream, class) in classes.into_iter().enumerate() {
                model.add(class);
                // The first two are the default stream and the thread's own.
                match class {
                    Class::Aside => made.push(Some(work::aside())),
                    _ if stream > 1 => made.push(Some(work::blocking())),
                    _ => {}
                }
            }
            let handle = |made: &[Option<work::Made>], stream: usize| match &made[stream] {
                Some(made) => **made,
                None if stream == FIRST => LEGACY,
                None => PER_THREAD,
            };
            let events: [_; EVENTS] =
                std::array::from_fn(|event| if event % 2 == 0 { work::timed() } else { work::untimed() });
            cells.clear();
            // Every second program is there as a whole before the first blocking line of it runs.
            let mut gate = (seed % 2 == 0).then(hold_legacy);
            let mut current = [0, 1, 2, 3, 4, 5];
            let mut program = Vec::new();
            for _ in 0..80 {
                let at = dice.roll(current.len());
                let stream = current[at];
                let line = model.invent(&mut dice, stream);
                if line == Line::Synchronize && gate.is_some() {
                    continue;
                }
                let on = handle(&made, stream);
                match line {
                    Line::Step(cell, number, turns) => cells.step_for(on, cell, number, turns),
                    Line::Copy(to, from) => cells.copy(on, to, from),
                    Line::Set(cell, byte) => cells.set(on, cell, byte),
                    Line::Record(event) => ok!(event_record(*events[event], on)),
                    Line::Wait(event) => ok!(stream_wait_event(on, *events[event], 0)),
                    Line::Synchronize => ok!(stream_synchronize(on)),
                    Line::Replace if made[stream].is_none() => continue,
                    Line::Replace => {
                        made[stream] = None;
                        let class = model.streams[stream].0;
                        current[at] = model.add(class);
                        made.push(Some(if class == Class::Aside { work::aside() } else { work::blocking() }));
                    }
                }
                model.run(stream, line);
                program.push((stream, line));
            }
            drop(gate.take());
            assert_eq!(cells.all(), model.values, "program {seed}: {program:#?}");
        }
    }
}

/// The model is worth something only if its programs lean on the rules.
#[test]
fn random_programs_touch_cells_across_streams() {
    let mut dice = Dice(77);
    let mut model = Model::default();
    let classes = [Class::Default, Class::Blocking, Class::Blocking, Class::Aside, Class::Aside];
    let streams = classes.map(|class| model.add(class));
    let mut crossings = [0; 3];
    for _ in 0..2000 {
        let stream = streams[dice.roll(streams.len())];
        let line = model.invent(&mut dice, stream);
        if let Line::Step(cell, ..) | Line::Set(cell, _) | Line::Copy(cell, _) = line
            && model.touched[cell].0.is_some_and(|(other, _)| other != stream)
        {
            crossings[model.streams[stream].0 as usize] += 1;
        }
        model.run(stream, line);
    }
    assert!(crossings.iter().all(|&number| number > 30), "{crossings:?}");
}

#[test]
fn the_model_knows_the_rules() {
    let mut model = Model::default();
    let [_, s, t, aside] =
        [Class::Default, Class::Blocking, Class::Blocking, Class::Aside].map(|class| model.add(class));
    model.run(s, Line::Step(0, 1, 0));
    assert!(model.free(s, true).contains(&0) && model.free(FIRST, true).contains(&0));
    assert!(!model.free(t, true).contains(&0) && !model.free(aside, false).contains(&0));
    model.run(FIRST, Line::Record(0));
    assert!(model.free(t, true).contains(&0) && !model.free(aside, true).contains(&0));
    model.run(aside, Line::Wait(0));
    assert!(model.free(aside, true).contains(&0));
    model.run(aside, Line::Copy(1, 0));
    assert!(!model.free(t, true).contains(&0) && model.free(t, false).contains(&0), "a read bars writes alone");
    assert_eq!(model.values, [1, 1, 0, 0]);
}
