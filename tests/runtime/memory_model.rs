//! Random programs of allocations, copies and sets against a model in host memory (behaviour.md 2.3, 3.2, 3.5, 3.6):
//! what the runtime's memory holds afterwards is what plain slices hold.

use crate::blocks::{Block, Calls, Sort, assert_same, noise};
use crate::support::device;
use gridcl::testing::guard;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::ffi::c_int;
use std::ops::Range;
use std::ptr::null_mut;

both_dialects! {
    fn live_blocks_keep_their_bytes_while_others_come_and_go() {
        let _guard = guard();
        come_and_go(calls!());
    }

    fn any_list_of_copies_and_sets_leaves_what_a_host_would_have() {
        let _guard = guard();
        let config = Config { cases: 48, failure_persistence: None, ..Config::default() };
        let run = |steps: Vec<Step>| {
            run(calls!(), &steps);
            Ok(())
        };
        TestRunner::new(config).run(&prop::collection::vec(step(), 1..40), run).unwrap();
    }
}

/// A stream of numbers that is the same at every run.
struct Numbers(u64);

impl Numbers {
    /// The next number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    /// A range within `len` that is not empty.
    fn range(&mut self, len: usize) -> Range<usize> {
        let start = self.below(len);
        start..start + 1 + self.below(len - start)
    }
}

fn come_and_go(calls: Calls) {
    const LIVE: usize = 48;
    let mut numbers = Numbers(7);
    let mut live: Vec<(Block, Vec<u8>)> = Vec::new();
    let streams = [(calls.create_stream)(0), (calls.create_stream)(1)];
    let check = |(block, model): &(Block, Vec<u8>), when: &str| {
        streams.iter().for_each(|&stream| (calls.synchronize)(stream));
        assert_same(&block.read(), model, || format!("{} bytes {when}", model.len()));
    };
    for step in 0..2000 {
        let choice = numbers.below(8);
        if live.is_empty() || choice < 3 && live.len() < LIVE {
            let most = [300, 300, 5000, 5000, 5000, 70_000, 70_000, 1 << 20][numbers.below(8)];
            let model = noise(step, 1 + numbers.below(most));
            live.push((Block::new(calls, Sort::Device, &model), model));
        } else if choice < 5 {
            let gone = live.swap_remove(numbers.below(live.len()));
            check(&gone, "at their end");
        } else {
            let index = numbers.below(live.len());
            let (block, model) = &mut live[index];
            let (range, value) = (numbers.range(model.len()), numbers.below(256));
            let stream = [None, Some(streams[0]), Some(streams[1])][numbers.below(3)];
            if stream != Some(streams[1]) {
                // The second stream has no order with the default stream and the first.
                (calls.synchronize)(streams[1]);
            } else {
                (calls.synchronize)(null_mut());
            }
            (calls.set)(block.at(range.start), value as c_int, range.len(), stream);
            model[range].fill(value as u8);
        }
        if step % 16 == 0 && !live.is_empty() {
            check(&live[numbers.below(live.len())], "among others");
        }
    }
    live.iter().for_each(|block| check(block, "at the end"));
    drop(live);
    streams.into_iter().for_each(|stream| (calls.destroy_stream)(stream));
}

/// The blocks that a random list works on.
const BLOCKS: [(Sort, usize); 7] = [
    (Sort::Device, 5000),
    (Sort::Device, 90_001),
    (Sort::Device, 300),
    (Sort::Pinned, 70_003),
    (Sort::Pinned, 4096),
    (Sort::Pageable, 80_000),
    (Sort::Pageable, 515),
];

/// Where a step runs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lane {
    /// The call without "Async".
    Plain,
    /// Asynchronously in the default stream.
    Legacy,
    /// In a stream that is ordered with the default stream.
    Blocking,
    /// In a stream that is not.
    Aside,
}

/// One call; numbers are brought into the bounds of the blocks when it is made.
#[derive(Clone, Debug)]
enum Step {
    Copy { to: usize, from: usize, at: (usize, usize), bytes: usize, by_address: bool, lane: Lane },
    Set { to: usize, at: usize, bytes: usize, value: c_int, lane: Lane },
}

fn step() -> impl Strategy<Value = Step> {
    let block = 0..BLOCKS.len();
    let lane = prop::sample::select(vec![Lane::Plain, Lane::Legacy, Lane::Blocking, Lane::Aside]);
    let bytes = prop_oneof![0..20_usize, 250..260_usize, 0..100_000_usize];
    let at = prop_oneof![Just(0_usize), 1..20_usize, 500..520_usize, 0..100_000_usize];
    let copy = (block.clone(), block.clone(), (at.clone(), at.clone()), bytes.clone(), any::<bool>(), lane.clone())
        .prop_map(|(to, from, at, bytes, by_address, lane)| Step::Copy { to, from, at, bytes, by_address, lane });
    let set = (block, at, bytes, any::<c_int>(), lane).prop_map(|(to, at, bytes, value, lane)| Step::Set {
        to,
        at,
        bytes,
        value,
        lane,
    });
    prop_oneof![3 => copy, 1 => set]
}

/// Runs a list of steps on fresh blocks, and on slices.
fn run(calls: Calls, steps: &[Step]) {
    let mut models: Vec<Vec<u8>> = (0..).zip(BLOCKS).map(|(seed, (_, bytes))| noise(seed, bytes)).collect();
    let blocks: Vec<Block> =
        BLOCKS.iter().zip(&models).map(|(&(sort, _), model)| Block::new(calls, sort, model)).collect();
    let (blocking, aside) = ((calls.create_stream)(0), (calls.create_stream)(1));
    let handle = |lane| match lane {
        Lane::Plain | Lane::Legacy => null_mut(),
        Lane::Blocking => blocking,
        Lane::Aside => aside,
    };
    let mut last = Lane::Plain;
    // The default stream and the blocking one keep the order by themselves.
    let mut in_order = |lane| {
        if (lane == Lane::Aside) != (last == Lane::Aside) {
            (calls.follow)(handle(lane), handle(last));
        }
        last = lane;
        (lane != Lane::Plain).then(|| handle(lane))
    };
    for step in steps {
        match *step {
            Step::Copy { to, from, at: (to_at, from_at), bytes, by_address, lane } => {
                let (to_at, from_at) = (to_at % blocks[to].len(), from_at % blocks[from].len());
                let bytes = bytes.min(blocks[to].len() - to_at).min(blocks[from].len() - from_at);
                if to == from && to_at != from_at && to_at.abs_diff(from_at) < bytes {
                    continue;
                }
                let kind = if by_address { 4 } else { Sort::copy_kind(blocks[to].sort(), blocks[from].sort()) };
                (calls.copy)(blocks[to].at(to_at), blocks[from].at(from_at), bytes, kind, in_order(lane));
                let source = models[from][from_at..from_at + bytes].to_vec();
                models[to][to_at..to_at + bytes].copy_from_slice(&source);
            }
            Step::Set { to, at, bytes, value, lane } => {
                if blocks[to].sort() == Sort::Pageable {
                    continue;
                }
                let at = at % blocks[to].len();
                let bytes = bytes.min(blocks[to].len() - at);
                (calls.set)(blocks[to].at(at), value, bytes, in_order(lane));
                models[to][at..at + bytes].fill(value as u8);
            }
        }
    }
    for stream in [null_mut(), aside] {
        (calls.synchronize)(stream);
    }
    for (index, (block, model)) in blocks.iter().zip(&models).enumerate() {
        assert_same(&block.read(), model, || format!("block {index} {:?}", BLOCKS[index]));
    }
    (calls.destroy_stream)(blocking);
    (calls.destroy_stream)(aside);
}

#[test]
fn addresses_that_a_dead_context_had_are_the_programs_again() {
    let _guard = guard();
    for _ in 0..8 {
        // A buffer that outlives its context keeps a slab alive beyond the reset's own clean-up.
        let stream = device().create_stream().unwrap();
        let kept = gridcl::DeviceBuffer::from_slice(&stream, &[1u8; 4096]).unwrap();
        device().reset().unwrap();
        drop((kept, stream));
    }
    // Blocks of the size of a slab and less land where those were, on drivers that take memory from the heap.
    let stream = device().create_stream().unwrap();
    let mut there = gridcl::DeviceBuffer::<u8>::zeroed(&stream, 64).unwrap();
    for exponent in 6..24 {
        let blocks: Vec<Vec<u8>> = (0..8).map(|_| vec![3u8; 1 << exponent]).collect();
        for block in &blocks {
            stream.upload(&block[..64], &mut there).unwrap();
            stream.upload(&block[block.len() - 64..], &mut there).unwrap();
        }
    }
    stream.synchronize().unwrap();
}
