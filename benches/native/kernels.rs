//! gridcl's side of the seven kernels, with the texts of `kernels_cl/`. `native.cu` has the same in CUDA C++, with the
//! same blocks and grids.

use super::side::{Arguments, Memory, Module, Stream, Work};
use gridcl::musa::*;
use std::time::Instant;

const BLOCK: u32 = 256;

type Check = Box<dyn FnMut(&Kernels) -> Result<(), String>>;

/// One launch after the other, as often as told.
struct Kernels {
    launches: Vec<(musaFunction_t, dim3, dim3, Arguments)>,
    stream: Stream,
    memory: Vec<Memory>,
    /// Times that the launches ran so far.
    ran: usize,
    check: Option<Check>,
    _module: Module,
}

impl Work for Kernels {
    /// The wait for the launches is in the time.
    fn sample(&mut self, times: usize) -> f64 {
        let start = Instant::now();
        for _ in 0..times {
            for (function, grid, block, arguments) in &self.launches {
                arguments.launch(*function, *grid, *block, &self.stream);
            }
        }
        self.stream.wait();
        self.ran += times;
        start.elapsed().as_secs_f64() / times as f64
    }

    fn check(&mut self) -> Result<(), String> {
        let Some(mut check) = self.check.take() else { return Ok(()) };
        check(self)
    }
}

/// A kernel that is launched once a time.
fn single(
    text: &str,
    name: &std::ffi::CStr,
    (grid, block): (dim3, dim3),
    memory: Vec<Memory>,
    arguments: impl Fn(&[Memory]) -> Arguments,
    check: impl FnMut(&Kernels) -> Result<(), String> + 'static,
) -> Box<dyn Work> {
    let module = Module::new(text);
    Box::new(Kernels {
        launches: vec![(module.function(name), grid, block, arguments(&memory))],
        stream: Stream::new(),
        memory,
        ran: 0,
        check: Some(Box::new(check)),
        _module: module,
    })
}

pub(super) fn open(row: &str, shift: u32) -> Option<Box<dyn Work>> {
    // What grows with the square, or the third power, of its side.
    let (half, third) = (shift / 2, shift / 3);
    Some(match row {
        "vector_add" => vector_add((256 << 20) >> shift),
        "matmul" => matmul(4096 >> half),
        "reduce" => reduce((256 << 20) >> shift),
        "nbody" => nbody(131_072 >> half),
        "stencil" | "stencil_wait" => stencil(512 >> third),
        "transpose" => transpose(16_384 >> half),
        "histogram" => histogram((1 << 30) >> shift),
        _ => return None,
    })
}

fn vector_add(n: usize) -> Box<dyn Work> {
    let (a, b) = (|index: usize| (index % 4099) as f32, |index: usize| (index % 1021) as f32);
    let memory = vec![
        Memory::of(n, move |index| a(index).to_bits()),
        Memory::of(n, move |index| b(index).to_bits()),
        Memory::of(n, |_| 0),
    ];
    single(
        include_str!("../../kernels_cl/vector_add.cl"),
        c"vectorAdd",
        ((n as u32 / BLOCK).into(), BLOCK.into()),
        memory,
        |memory| {
            let [a, b, c] = memory else { panic!("three blocks") };
            Arguments::default().pointer(a).pointer(b).pointer(c).word(n as u32)
        },
        move |kernels| kernels.memory[2].expect(|index| (a(index) + b(index)).to_bits()),
    )
}

/// A number in [-1, 1) that looks random.
fn noise(index: usize) -> f32 {
    let word = (index as u32).wrapping_mul(0x9E37_79B9);
    let word = (word ^ word >> 15).wrapping_mul(0x85EB_CA6B);
    (word >> 8) as f32 / (1 << 23) as f32 - 1.0
}

fn floats(memory: &Memory) -> Result<Vec<f32>, String> {
    let mut all = Vec::with_capacity(memory.bytes / 4);
    memory.each_chunk(|_, chunk| {
        all.extend(chunk.iter().copied().map(f32::from_bits));
        Ok(())
    })?;
    Ok(all)
}

fn near(what: &str, at: usize, got: f64, expected: f64, by: f64) -> Result<(), String> {
    if (got - expected).abs() <= by {
        return Ok(());
    }
    Err(format!("{what} {at} is {got}, not {expected}"))
}

fn matmul(side: usize) -> Box<dyn Work> {
    const TILE: u32 = 16;
    let b = |index: usize| noise(index ^ 0x5555_5555);
    let n = side * side;
    let memory = vec![
        Memory::of(n, |index| noise(index).to_bits()),
        Memory::of(n, move |index| b(index).to_bits()),
        Memory::of(n, |_| 0),
    ];
    let tiles = side as u32 / TILE;
    single(
        &format!("#define TILE {TILE}\n{}", include_str!("../../kernels_cl/matmul.cl")),
        c"matmul",
        ((tiles, tiles).into(), (TILE, TILE).into()),
        memory,
        |memory| {
            let [a, b, c] = memory else { panic!("three blocks") };
            let side = side as u32;
            Arguments::default().pointer(a).pointer(b).pointer(c).word(side).word(side).word(side)
        },
        move |kernels| {
            let c = floats(&kernels.memory[2])?;
            (0..n).step_by(n / 251).try_for_each(|at| {
                let (row, column) = (at / side, at % side);
                let products = (0..side).map(|k| f64::from(noise(row * side + k)) * f64::from(b(k * side + column)));
                near("element", at, c[at].into(), products.sum(), 1e-2)
            })
        },
    )
}

fn reduce(n: usize) -> Box<dyn Work> {
    const GRID: u32 = 2048;
    let module = Module::new(&format!(
        "#define T float\n#define FLOATING 1\n#define BLOCK {BLOCK}\n{}",
        include_str!("../../kernels_cl/reduce.cl")
    ));
    let value = |index: usize| (index % 5) as u32 as f32;
    let memory = vec![
        Memory::of(n, move |index| value(index).to_bits()),
        Memory::of(GRID as usize, |_| 0),
        Memory::of(1, |_| 0),
    ];
    let sum = module.function(c"reduce_sum");
    let [from, parts, result] = &memory[..] else { panic!("three blocks") };
    let first = Arguments::default().pointer(from).pointer(parts).word(n as u32);
    let second = Arguments::default().pointer(parts).pointer(result).word(GRID);
    let launches = vec![(sum, GRID.into(), BLOCK.into(), first), (sum, 1.into(), BLOCK.into(), second)];
    let check = move |kernels: &Kernels| {
        let expected = (0..n).map(|index| f64::from(value(index))).sum::<f64>();
        near("sum", 0, floats(&kernels.memory[2])?[0].into(), expected, 1e-4 * expected)
    };
    let (stream, check) = (Stream::new(), Some(Box::new(check) as Check));
    Box::new(Kernels { launches, stream, memory, ran: 0, check, _module: module })
}

/// Places of bodies, and the mass that all of them have in sum.
fn body(index: usize, n: usize) -> f32 {
    if index % 4 == 3 { 1.0 / n as f32 } else { noise(index) }
}

fn nbody(n: usize) -> Box<dyn Work> {
    const SOFTENING: f32 = 0.05;
    let memory =
        vec![Memory::of(4 * n, |index| body(index, n).to_bits()), Memory::of(4 * n, |_| 0), Memory::of(4 * n, |_| 0)];
    single(
        &format!("#define BLOCK {BLOCK}\n{}", include_str!("../../kernels_cl/nbody.cl")),
        c"nbody_step",
        ((n as u32).div_ceil(BLOCK).into(), BLOCK.into()),
        memory,
        |memory| {
            let [from, to, velocities] = memory else { panic!("three blocks") };
            Arguments::default()
                .pointer(from)
                .pointer(to)
                .pointer(velocities)
                .word(n as u32)
                .word(1.0_f32)
                .word(SOFTENING)
        },
        move |kernels| {
            // The places stay, so each launch adds the same to the velocities.
            let velocities = floats(&kernels.memory[2])?;
            let place = |at: usize, axis: usize| f64::from(body(4 * at + axis, n));
            (0..n).step_by(n / 13).try_for_each(|at| {
                let mut pull = [0.0; 3];
                for other in 0..n {
                    let d = [0, 1, 2].map(|axis| place(other, axis) - place(at, axis));
                    let square: f64 = d.iter().map(|d| d * d).sum::<f64>() + f64::from(SOFTENING * SOFTENING);
                    let factor = place(other, 3) / (square * square.sqrt());
                    pull.iter_mut().zip(d).for_each(|(pull, d)| *pull += factor * d);
                }
                let size = pull.iter().map(|pull| pull * pull).sum::<f64>().sqrt();
                (0..3).try_for_each(|axis| {
                    let got = f64::from(velocities[4 * at + axis]) / kernels.ran as f64;
                    near("body", at, got, pull[axis], 1e-2 * size.max(1e-3))
                })
            })
        },
    )
}

fn stencil(side: usize) -> Box<dyn Work> {
    const RATE: f32 = 0.1;
    let n = side * side * side;
    let memory = vec![Memory::of(n, |index| noise(index).to_bits()), Memory::of(n, |_| 0)];
    let side_u32 = side as u32;
    // Blocks of 64 x 4 x 1 cells.
    single(
        include_str!("../../kernels_cl/stencil.cl"),
        c"heat_step",
        ((side_u32 / 64, side_u32 / 4, side_u32).into(), (64, 4).into()),
        memory,
        |memory| {
            let [from, to] = memory else { panic!("two blocks") };
            Arguments::default().pointer(from).pointer(to).word(side_u32).word(side_u32).word(side_u32).word(RATE)
        },
        move |kernels| {
            let to = floats(&kernels.memory[1])?;
            (0..n).step_by(n / 10_007).try_for_each(|at| {
                let place = [at % side, at / side % side, at / side / side];
                let here = noise(at);
                let surface = place.iter().any(|&x| x == 0 || x == side - 1);
                let steps = [1, side, side * side];
                let around: f32 =
                    steps.iter().map(|step| if surface { 0.0 } else { noise(at - step) + noise(at + step) }).sum();
                let expected = if surface { here } else { here + RATE * (around - 6.0 * here) };
                near("cell", at, to[at].into(), expected.into(), 1e-5)
            })
        },
    )
}

fn transpose(side: usize) -> Box<dyn Work> {
    const TILE: u32 = 32;
    const STEP: u32 = 8;
    let n = side * side;
    let memory = vec![Memory::of(n, |index| index as u32), Memory::of(n, |_| 0)];
    let tiles = side as u32 / TILE;
    single(
        &format!("#define TILE {TILE}\n#define STEP {STEP}\n{}", include_str!("../../kernels_cl/transpose.cl")),
        c"transpose",
        ((tiles, tiles).into(), (TILE, STEP).into()),
        memory,
        |memory| {
            let [from, to] = memory else { panic!("two blocks") };
            Arguments::default().pointer(from).pointer(to).word(side as u32).word(side as u32)
        },
        move |kernels| kernels.memory[1].expect(|index| (index % side * side + index / side) as u32),
    )
}

fn histogram(n: usize) -> Box<dyn Work> {
    const GRID: u32 = 2048;
    let word = |index: usize| {
        let word = (index as u32).wrapping_mul(0x9E37_79B9);
        (word ^ word >> 15).wrapping_mul(0x85EB_CA6B)
    };
    let memory = vec![Memory::of(n / 4, word), Memory::of(256, |_| 0)];
    single(
        include_str!("../../kernels_cl/histogram.cl"),
        c"histogram",
        (GRID.into(), BLOCK.into()),
        memory,
        |memory| {
            let [data, bins] = memory else { panic!("two blocks") };
            Arguments::default().pointer(data).pointer(bins).word(n as u32)
        },
        move |kernels| {
            let mut counts = [0_u32; 256];
            (0..n / 4).flat_map(|index| word(index).to_ne_bytes()).for_each(|byte| counts[usize::from(byte)] += 1);
            // Each launch adds to the bins.
            kernels.memory[1].expect(|bin| counts[bin].wrapping_mul(kernels.ran as u32))
        },
    )
}
