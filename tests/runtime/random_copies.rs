//! Random copies and sets of one, two and three dimensions between all sorts of memory, in several streams, against a
//! model that does the same to the bytes of the host.
//!
//! A round is a hundred calls, after which every block is compared with its model. Streams wait for each other just
//! where two calls meet in a block and no rule of the default stream orders them. A failure names the seed of its
//! round, with which that round is the first: `GRIDCL_TEST_SEED=… GRIDCL_TEST_CASES=1`.

use crate::blocks::noise;
use crate::boxes::{Lie, Memory, OFFSETS, Size, Sort, copy_rows, follow, model_copy, model_set, set_box};
use crate::dialects::musa::*;
use gridcl::Device;
use gridcl::musa::*;
use gridcl::testing::{guard, tune_staging};
use std::ffi::c_void;
use std::time::{SystemTime, UNIX_EPOCH};

/// Calls of a round.
const CALLS: usize = 100;
/// Bytes of most blocks, and of those for what is too large to go by hand.
const SMALL: usize = 8 << 10;
const LARGE: usize = 320 << 10;

/// A number from the environment.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// Random numbers (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((word ^ word >> 31) % sides as u64) as usize
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())]
    }
}

/// A block and what it should hold.
struct Block {
    memory: Memory,
    model: Vec<u8>,
}

/// One call, as a failure prints it.
#[derive(Clone, Copy, Debug)]
struct Call {
    what: What,
    size: Size,
    to: (usize, Lie),
    stream: usize,
    /// The form with "Async" in its name.
    asynchronous: bool,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Copy { from: (usize, Lie), kind: musaMemcpyKind },
    Set { value: i32 },
}

/// Which streams have used a block, and how far each stream has seen the others.
struct Order {
    calls: usize,
    /// By block and stream, the last call that read or wrote.
    reads: Vec<[usize; STREAMS]>,
    writes: Vec<[usize; STREAMS]>,
    seen: [[usize; STREAMS]; STREAMS],
}

/// The default stream, the thread's own, two blocking ones, and one that is not.
const STREAMS: usize = 5;
const NOT_BLOCKING: usize = 4;

impl Order {
    fn new(blocks: usize) -> Self {
        let never = vec![[0; STREAMS]; blocks];
        Self { calls: 0, reads: never.clone(), writes: never, seen: [[0; STREAMS]; STREAMS] }
    }

    /// The streams that a call has to wait for, besides those that the rules of the default stream name.
    fn before(&mut self, call: &Call) -> Vec<usize> {
        self.calls += 1;
        let (to, now) = (call.to.0, call.stream);
        let mut waits = Vec::new();
        for other in (0..STREAMS).filter(|&other| other != now) {
            let mut met = self.reads[to][other].max(self.writes[to][other]);
            if let What::Copy { from, .. } = call.what {
                met = met.max(self.writes[from.0][other]);
            }
            let by_rule = (now == 0 || other == 0) && now != NOT_BLOCKING && other != NOT_BLOCKING;
            if met > self.seen[now][other] && !by_rule {
                self.seen[now][other] = self.calls;
                waits.push(other);
            }
        }
        self.writes[to][now] = self.calls;
        if let What::Copy { from, .. } = call.what {
            self.reads[from.0][now] = self.calls;
        }
        waits
    }
}

/// A box that fits into `bytes`, and how a box of that size lies somewhere in a block.
fn random_size(dice: &mut Dice, large: bool) -> Size {
    let long = if large { 100_000 } else { 300 };
    let width = if dice.roll(4) == 0 { dice.pick(&[1, 4, 16, 64, 512]) } else { 1 + dice.roll(long) };
    match dice.roll(3) {
        0 if large => [1 + dice.roll(LARGE), 1, 1],
        0 => [1 + dice.roll(2000), 1, 1],
        1 => [width, 1 + dice.roll(8), 1],
        _ => [width, 1 + dice.roll(4), 1 + dice.roll(4)],
    }
}

fn random_lie(dice: &mut Dice, [width, rows, slices]: Size, bytes: usize) -> Option<Lie> {
    let pitch = match dice.roll(6) {
        0 => width.next_multiple_of(512),
        1 => width.next_multiple_of(16),
        gap => width + [0, 1, 13, 64][gap - 2],
    };
    let lie = Lie { at: 0, pitch, rows: rows + dice.pick(&[0, 0, 1, 2]) };
    let room = bytes.checked_sub(lie.range([width, rows, slices]).end)?;
    let at = if dice.roll(2) == 0 { dice.pick(&OFFSETS) } else { dice.roll(room + 1) };
    (at <= room).then_some(Lie { at, ..lie })
}

fn random_call(dice: &mut Dice, blocks: &[Block]) -> Call {
    loop {
        let large = dice.roll(40) == 0;
        let size = random_size(dice, large);
        let end = |dice: &mut Dice| {
            let block = dice.roll(blocks.len());
            random_lie(dice, size, blocks[block].model.len()).map(|lie| (block, lie))
        };
        let (Some(to), Some(from)) = (end(dice), end(dice)) else { continue };
        let stream = dice.roll(STREAMS);
        let (to_sort, from_sort) = (blocks[to.0].memory.sort, blocks[from.0].memory.sort);
        let what = if dice.roll(3) == 0 && to_sort != Sort::Pageable {
            What::Set { value: dice.roll(1 << 16) as i32 - (1 << 15) }
        } else {
            What::Copy { from, kind: dice.pick(&[DEFAULT, Sort::copy_kind(to_sort, from_sort)]) }
        };
        return Call { what, size, to, stream, asynchronous: stream != 0 || dice.roll(2) == 0 };
    }
}

/// Makes a call; answers its code.
fn make(call: &Call, blocks: &[Block], streams: &[Stream]) -> Code {
    let stream = call.asynchronous.then(|| streams[call.stream]);
    let (to, bytes) = ((&blocks[call.to.0].memory, call.to.1), call.size[0]);
    let is_flat = call.size[1..] == [1, 1];
    match (call.what, stream) {
        (What::Set { value }, None) if is_flat => memset(to.0.at(to.1.at), value, bytes),
        (What::Set { value }, Some(stream)) if is_flat => memset_async(to.0.at(to.1.at), value, bytes, stream),
        (What::Set { value }, stream) => set_box(to, value, call.size, stream),
        (What::Copy { from, kind }, stream) => {
            let from = (&blocks[from.0].memory, from.1);
            let (target, source): (_, *const c_void) = (to.0.at(to.1.at), from.0.at(from.1.at));
            match stream {
                None if is_flat => unsafe { memcpy(target, source, bytes, kind) },
                Some(stream) if is_flat => unsafe { memcpy_async(target, source, bytes, kind, stream) },
                _ if call.size[2] == 1 => copy_rows(to, from, call.size, kind, stream),
                _ => copy_volume(to, from, call.size, kind, stream),
            }
        }
    }
}

/// `Memcpy3D` by pointers to the blocks and positions in them, where the boxes lie so.
fn copy_volume(
    to: (&Memory, Lie),
    from: (&Memory, Lie),
    size: Size,
    kind: musaMemcpyKind,
    stream: Option<Stream>,
) -> Code {
    let end = |(memory, lie): (&Memory, Lie)| {
        let (x, y) = (lie.at % lie.pitch, lie.at / lie.pitch % lie.rows);
        if x + size[0] > lie.pitch || y + size[1] > lie.rows {
            return (lie.pointer(memory), musaPos::default());
        }
        let z = lie.at / lie.pitch / lie.rows;
        (Lie { at: 0, ..lie }.pointer(memory), make_musaPos(x, y, z))
    };
    let (target, source) = (end(to), end(from));
    let parms = musaMemcpy3DParms {
        dstPtr: target.0,
        dstPos: target.1,
        srcPtr: source.0,
        srcPos: source.1,
        extent: make_musaExtent(size[0], size[1], size[2]),
        kind,
        ..Default::default()
    };
    match stream {
        None => unsafe { musaMemcpy3D(&parms) },
        Some(stream) => unsafe { musaMemcpy3DAsync(&parms, stream) },
    }
}

/// Does to the models what a call does; false where the call has to be refused, because its boxes overlap in part.
fn model(call: &Call, blocks: &mut [Block]) -> bool {
    let (to, lie) = call.to;
    match call.what {
        What::Set { value } => model_set(&mut blocks[to].model, lie, value as u8, call.size),
        What::Copy { from: (from, source), .. } => {
            if to == from && overlap(lie, source, call.size) {
                return false;
            }
            let old = if to == from { blocks[from].model.clone() } else { std::mem::take(&mut blocks[from].model) };
            model_copy(&mut blocks[to].model, lie, &old, source, call.size);
            if to != from {
                blocks[from].model = old;
            }
        }
    }
    true
}

/// Whether two boxes of one block share bytes without being the same.
fn overlap(to: Lie, from: Lie, size: Size) -> bool {
    let meet = |row: usize| from.starts(size).any(|other| row.abs_diff(other) < size[0]);
    to.starts(size).any(meet) && !to.starts(size).eq(from.starts(size))
}

fn new_blocks() -> Vec<Block> {
    let mut sorts = vec![
        (Sort::Device(0), SMALL),
        (Sort::Device(0), SMALL),
        (Sort::Device(0), LARGE),
        (Sort::Pinned, SMALL),
        (Sort::Pinned, LARGE),
        (Sort::Registered, SMALL),
        (Sort::Pageable, SMALL),
        (Sort::Pageable, LARGE),
    ];
    if Sort::all().contains(&Sort::Managed) {
        sorts.extend([(Sort::Managed, SMALL), (Sort::Managed, LARGE)]);
    }
    if Device::count() > 1 {
        sorts.extend([(Sort::Device(1), SMALL), (Sort::Device(1), LARGE)]);
    }
    let block = |(sort, bytes)| Block { memory: Memory::new(sort, &vec![0; bytes]), model: Vec::new() };
    sorts.into_iter().map(block).collect()
}

/// Runs a round; answers what differs.
fn round(seed: u64, bytes: &[u8], blocks: &mut [Block], streams: &[Stream]) -> Result<(), String> {
    let mut dice = Dice(seed);
    for block in blocks.iter_mut() {
        let (len, start) = (block.memory.len(), dice.roll(SMALL));
        block.model = bytes[start..start + len].to_vec();
        block.memory.write(&block.model);
    }
    let (mut order, mut made) = (Order::new(blocks.len()), Vec::new());
    for _ in 0..CALLS {
        let call = random_call(&mut dice, blocks);
        made.push(call);
        for other in order.before(&call) {
            follow(streams[call.stream], streams[other]);
        }
        let expected = if model(&call, blocks) { SUCCESS } else { INVALID_VALUE };
        let code = make(&call, blocks, streams);
        if code != expected {
            let detail = gridcl::last_error_detail();
            return Err(format!("{code:?} instead of {expected:?} ({detail:?}) by the last of {made:#?}"));
        }
    }
    ok!(device_synchronize());
    let _ = get_last_error();
    for (index, block) in blocks.iter().enumerate() {
        let got = block.memory.read();
        if got == block.model {
            continue;
        }
        if let Some(at) = got.iter().zip(&block.model).position(|(got, expected)| got != expected) {
            let (got, expected, sort) = (got[at], block.model[at], block.memory.sort);
            let touches = |call: &&Call| call.to.0 == index && call.to.1.range(call.size).contains(&at);
            let near: Vec<&Call> = made.iter().filter(touches).collect();
            return Err(format!(
                "byte {at} of block {index} in {sort:?} memory is {got} instead of {expected}; boxes around it that \
                 were written: {near:#?}, of all calls: {made:?}"
            ));
        }
    }
    Ok(())
}

/// Runs `usual` random calls, or as many as the environment says.
fn run(usual: u64) {
    let cases = setting("GRIDCL_TEST_CASES").unwrap_or(usual);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let first = setting("GRIDCL_TEST_SEED").unwrap_or(now.as_nanos() as u64 >> 10);
    let bytes = noise(1, LARGE + SMALL);
    let mut blocks = new_blocks();
    let streams = [LEGACY, PER_THREAD, new_stream!(), new_stream!(), new_stream!(NON_BLOCKING)];
    for seed in (0..cases.div_ceil(CALLS as u64)).map(|round| first.wrapping_add(round)) {
        if let Err(what) = round(seed, &bytes, &mut blocks, &streams) {
            panic!("GRIDCL_TEST_SEED={seed} GRIDCL_TEST_CASES=1 repeats this: {what}");
        }
    }
    streams[2..].iter().for_each(|&stream| ok!(stream_destroy(stream)));
}

#[test]
fn random_copies_and_sets_do_what_the_model_does() {
    let _guard = guard();
    let is_plain = Device::get(0).unwrap().memory_form() == "svm" && Device::count() == 1;
    run(if is_plain { 20_000 } else { 2_000 });
}

#[test]
fn random_copies_in_parts_do_what_the_model_does() {
    let _guard = guard();
    // Every copy of pageable memory goes through small buffers, of which there are few.
    tune_staging(Some((1, 1000, 3, 1)));
    run(2_000);
}
