//! gridcl's side of the rows about launches, events, copies, sets and allocations.

use super::side::{Arguments, Memory, Module, Stream, Work, ok};
use gridcl::musa::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::Instant;

const SOURCE: &str = "
    __kernel void one(__global float *a) { if (a == 0) a[1] = 1; }
    __kernel void spin(__global float *x, uint turns) {
        const uint i = (uint)get_group_id(0) * (uint)get_local_size(0) + (uint)get_local_id(0);
        float value = x[i];
        for (uint turn = 0; turn < turns; turn++)
            value = value * 0.999f + 0.001f;
        x[i] = value;
    }";

const MIB: usize = 1 << 20;
/// Parts of the pipeline, the bytes of each, and what its kernel does to an element.
const PARTS: usize = 64;
const PART_BYTES: usize = 8 * MIB;
const TURNS: u32 = 1000;
const STREAMS: usize = 4;
const BLOCK: u32 = 256;

pub(super) fn open(row: &str, shift: u32) -> Option<Box<dyn Work>> {
    let sized = |mib: usize| (mib * MIB) >> shift;
    Some(match row {
        "launch" => Box::new(Small::new(Op::Launch)),
        "sync" => Box::new(Small::new(Op::LaunchAndWait)),
        "record" => Box::new(Small::new(Op::Record)),
        "cross" => Box::new(Small::new(Op::Cross)),
        "h2d_pinned" => Box::new(Copy::new(sized(256), true, true)),
        "d2h_pinned" => Box::new(Copy::new(sized(256), true, false)),
        "h2d_pageable_64" => Box::new(Copy::new(sized(64), false, true)),
        "d2h_pageable_64" => Box::new(Copy::new(sized(64), false, false)),
        "h2d_pageable_256" => Box::new(Copy::new(sized(256), false, true)),
        "d2h_pageable_256" => Box::new(Copy::new(sized(256), false, false)),
        "d2d" => Box::new(Within::new(sized(1024))),
        "memset" | "memset_wait" => Box::new(Set::new(sized(1024), 0, 0)),
        "memset_odd" => Box::new(Set::new(sized(1024), 1, 3)),
        "malloc_1k" => Box::new(Malloc(1 << 10)),
        "malloc_64k" => Box::new(Malloc(64 << 10)),
        "malloc_1m" => Box::new(Malloc(MIB)),
        "malloc_64m" => Box::new(Malloc(sized(64))),
        "stage_in" => Box::new(Pipeline::new(shift, Stage::In)),
        "stage_kernel" => Box::new(Pipeline::new(shift, Stage::Kernel)),
        "stage_out" => Box::new(Pipeline::new(shift, Stage::Out)),
        "pipeline" => Box::new(Pipeline::new(shift, Stage::All)),
        _ => return None,
    })
}

/// Seconds of one of `count` operations.
fn each(count: usize, start: Instant) -> f64 {
    start.elapsed().as_secs_f64() / count as f64
}

/// What takes microseconds.
struct Small {
    op: Op,
    streams: [Stream; 2],
    event: musaEvent_t,
    one: musaFunction_t,
    arguments: Arguments,
    _memory: Memory,
    _module: Module,
}

#[derive(Clone, Copy)]
enum Op {
    Launch,
    LaunchAndWait,
    Record,
    Cross,
}

impl Small {
    fn new(op: Op) -> Self {
        let (memory, module) = (Memory::new(4096), Module::new(SOURCE));
        let mut event = null_mut();
        // SAFETY: a variable for the result.
        ok(unsafe { musaEventCreateWithFlags(&mut event, musaEventDisableTiming) });
        Self {
            op,
            streams: [Stream::new(), Stream::new()],
            event,
            one: module.function(c"one"),
            arguments: Arguments::default().pointer(&memory),
            _memory: memory,
            _module: module,
        }
    }

    fn launch(&self) {
        self.arguments.launch(self.one, 1.into(), 64.into(), &self.streams[0]);
    }
}

impl Work for Small {
    fn sample(&mut self, times: usize) -> f64 {
        let start = Instant::now();
        for _ in 0..times {
            match self.op {
                Op::Launch => self.launch(),
                Op::LaunchAndWait => {
                    self.launch();
                    self.streams[0].wait();
                }
                Op::Record => ok(musaEventRecord(self.event, self.streams[0].0)),
                Op::Cross => {
                    ok(musaEventRecord(self.event, self.streams[0].0));
                    ok(musaStreamWaitEvent(self.streams[1].0, self.event, 0));
                }
            }
        }
        let time = each(times, start);
        self.streams.iter().for_each(Stream::wait);
        time
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        ok(musaEventDestroy(self.event));
    }
}

/// Host memory: pinned, or the allocator's.
struct Host {
    at: *mut u8,
    bytes: usize,
    pageable: Option<Vec<u8>>,
}

impl Host {
    fn new(bytes: usize, pinned: bool) -> Self {
        let mut pageable = (!pinned).then(|| vec![1_u8; bytes]);
        let at = match &mut pageable {
            Some(memory) => memory.as_mut_ptr(),
            None => {
                let mut at: *mut c_void = null_mut();
                // SAFETY: a variable for the result.
                ok(unsafe { musaMallocHost(&mut at, bytes) });
                at.cast()
            }
        };
        let mut host = Self { at, bytes, pageable };
        host.fill(|_| 0);
        host
    }

    fn words(&mut self) -> &mut [u32] {
        // SAFETY: that many bytes, aligned by their allocators, which nobody else uses now.
        unsafe { std::slice::from_raw_parts_mut(self.at.cast(), self.bytes / 4) }
    }

    fn fill(&mut self, word: impl Fn(usize) -> u32) {
        self.words().iter_mut().enumerate().for_each(|(index, to)| *to = word(index));
    }

    fn expect(&mut self, word: impl Fn(usize) -> u32) -> Result<(), String> {
        let wrong = self.words().iter().enumerate().find(|&(index, &got)| got != word(index));
        wrong.map_or(Ok(()), |(index, got)| Err(format!("word {index} is {got:#x}, not {:#x}", word(index))))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if self.pageable.is_none() {
            ok(musaFreeHost(self.at.cast()));
        }
    }
}

fn mixed(index: usize) -> u32 {
    (index as u32).wrapping_mul(0x9E37_79B9)
}

/// Between host and device.
struct Copy {
    host: Host,
    memory: Memory,
    up: bool,
}

impl Copy {
    fn new(bytes: usize, pinned: bool, up: bool) -> Self {
        let (mut host, memory) =
            (Host::new(bytes, pinned), Memory::of(bytes / 4, |index| if up { 0 } else { mixed(index) }));
        if up {
            host.fill(mixed);
        }
        Self { host, memory, up }
    }
}

impl Work for Copy {
    fn sample(&mut self, times: usize) -> f64 {
        let (host, device): (*mut c_void, _) = (self.host.at.cast(), self.memory.at);
        let (to, from, kind) =
            if self.up { (device, host, musaMemcpyHostToDevice) } else { (host, device, musaMemcpyDeviceToHost) };
        let start = Instant::now();
        for _ in 0..times {
            // SAFETY: both ranges are that long.
            ok(unsafe { musaMemcpy(to, from, self.memory.bytes, kind) });
        }
        each(times, start)
    }

    fn check(&mut self) -> Result<(), String> {
        if self.up { self.memory.expect(mixed) } else { self.host.expect(mixed) }
    }
}

/// Within the device.
struct Within {
    to: Memory,
    from: Memory,
    stream: Stream,
}

impl Within {
    fn new(bytes: usize) -> Self {
        Self { to: Memory::of(bytes / 4, |_| 0), from: Memory::of(bytes / 4, mixed), stream: Stream::new() }
    }
}

impl Work for Within {
    fn sample(&mut self, times: usize) -> f64 {
        let start = Instant::now();
        for _ in 0..times {
            // SAFETY: both ranges are that long.
            ok(unsafe {
                musaMemcpyAsync(self.to.at, self.from.at, self.to.bytes, musaMemcpyDeviceToDevice, self.stream.0)
            });
        }
        self.stream.wait();
        each(times, start)
    }

    fn check(&mut self) -> Result<(), String> {
        self.to.expect(mixed)
    }
}

/// A set of all bytes but some at the ends.
struct Set {
    memory: Memory,
    first: usize,
    less: usize,
    stream: Stream,
}

impl Set {
    const BYTE: u8 = 0x5A;

    fn new(bytes: usize, first: usize, less: usize) -> Self {
        Self { memory: Memory::of(bytes / 4, |_| 0), first, less, stream: Stream::new() }
    }
}

impl Work for Set {
    fn sample(&mut self, times: usize) -> f64 {
        let start = Instant::now();
        for _ in 0..times {
            let to = self.memory.at.wrapping_byte_add(self.first);
            ok(musaMemsetAsync(to, Self::BYTE.into(), self.memory.bytes - self.less, self.stream.0));
        }
        self.stream.wait();
        each(times, start)
    }

    fn check(&mut self) -> Result<(), String> {
        let set = self.first..self.first + self.memory.bytes - self.less;
        let byte = |at: usize| if set.contains(&at) { Self::BYTE } else { 0 };
        self.memory.expect(|word| u32::from_ne_bytes([0, 1, 2, 3].map(|at| byte(4 * word + at))))
    }
}

/// An allocation and its end.
struct Malloc(usize);

impl Work for Malloc {
    fn sample(&mut self, times: usize) -> f64 {
        let start = Instant::now();
        for _ in 0..times {
            drop(Memory::new(self.0));
        }
        each(times, start)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    In,
    Kernel,
    Out,
    All,
}

/// Parts that come in, are worked on and go out, in several streams.
struct Pipeline {
    stage: Stage,
    part: usize,
    source: Host,
    target: Host,
    memory: Memory,
    streams: Vec<Stream>,
    spin: musaFunction_t,
    arguments: Vec<Arguments>,
    _module: Module,
}

impl Pipeline {
    fn new(shift: u32, stage: Stage) -> Self {
        let part = PART_BYTES >> shift;
        let (mut source, target) = (Host::new(PARTS * part, true), Host::new(PARTS * part, true));
        // Whole numbers of a float end at 2^24, which is less than there are.
        source.fill(|index| ((index % 1024) as f32).to_bits());
        let (memory, module) = (Memory::of(PARTS * part / 4, |_| 0), Module::new(SOURCE));
        let arguments = (0..PARTS).map(|number| {
            let part =
                std::mem::ManuallyDrop::new(Memory { at: memory.at.wrapping_byte_add(number * part), bytes: part });
            Arguments::default().pointer(&part).word(TURNS)
        });
        Self {
            stage,
            part,
            source,
            target,
            arguments: arguments.collect(),
            memory,
            streams: (0..STREAMS).map(|_| Stream::new()).collect(),
            spin: module.function(c"spin"),
            _module: module,
        }
    }
}

impl Work for Pipeline {
    fn sample(&mut self, times: usize) -> f64 {
        let does = |stage| self.stage == stage || self.stage == Stage::All;
        let start = Instant::now();
        for number in (0..times).flat_map(|_| 0..PARTS) {
            // A stage alone needs no more than one stream.
            let stream = &self.streams[if self.stage == Stage::All { number % STREAMS } else { 0 }];
            let at = number * self.part;
            let there = self.memory.at.wrapping_byte_add(at);
            if does(Stage::In) {
                let from = self.source.at.wrapping_add(at).cast();
                // SAFETY: the part lies in both; they live until the wait.
                ok(unsafe { musaMemcpyAsync(there, from, self.part, musaMemcpyHostToDevice, stream.0) });
            }
            if does(Stage::Kernel) {
                let grid = (self.part / 4) as u32 / BLOCK;
                self.arguments[number].launch(self.spin, grid.into(), BLOCK.into(), stream);
            }
            if does(Stage::Out) {
                let to = self.target.at.wrapping_add(at).cast();
                // SAFETY: as above.
                ok(unsafe { musaMemcpyAsync(to, there, self.part, musaMemcpyDeviceToHost, stream.0) });
            }
        }
        self.streams.iter().for_each(Stream::wait);
        each(times, start)
    }

    fn check(&mut self) -> Result<(), String> {
        if self.stage != Stage::All {
            return Ok(());
        }
        let spun = |index: usize| {
            let start = (index % 1024) as f32;
            (0..TURNS).fold(start, |value, _| value.mul_add(0.999, 0.001))
        };
        let expected: Vec<f32> = (0..1024).map(spun).collect();
        let wrong = self.target.words().iter().enumerate().find(|&(index, &got)| {
            let expected = expected[index % 1024];
            // Fused or not, in a thousand steps.
            (f32::from_bits(got) - expected).abs() > 1e-3 * expected.abs().max(1.0)
        });
        wrong.map_or(Ok(()), |(index, &got)| {
            Err(format!("element {index} is {}, not {}", f32::from_bits(got), expected[index % 1024]))
        })
    }
}
