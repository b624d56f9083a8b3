//! Types and built-in functions (`vectors.cl`): half precision, vectors of three and sixteen, unions, enums and packed
//! structs by value, copies by a whole block, private arrays behind pointers.

use crate::support::{Random, get, has, put, setting, zeros};
use bytemuck::NoUninit;
use gridcl::{Dim3, Local};

const TEXT: &str = include_str!("vectors.cl");

/// The bits of a whole number from -2048 to 2048 as `half`, which holds all of them exactly.
fn half(whole: i32) -> u16 {
    if whole == 0 {
        return 0;
    }
    let sign = u16::from(whole < 0) << 15;
    let size = whole.unsigned_abs();
    let exponent = size.ilog2();
    let fraction = (size << 10 >> exponent) as u16 & 0x3ff;
    sign | ((exponent as u16 + 15) << 10) | fraction
}

#[test]
fn halves_in_memory_are_scaled_as_floats() {
    let (_guard, module, stream) = setting(TEXT, "");
    for n in [1, 4, 1023] {
        let whole = Random(1).list(n, |random| random.below(401) as i32 - 200);
        let from = put(&stream, &whole.iter().map(|&x| half(x)).collect::<Vec<_>>());
        let to = zeros::<u16>(&stream, n);
        run!(module.scale_halves[Dim3::covering(n.div_ceil(4), 64), 64, stream](from, to, 6.0f32, n as u32));
        let expected: Vec<u16> = whole.iter().map(|&x| half(6 * x)).collect();
        assert_eq!(get(&stream, &to), expected, "{n}");
    }
}

#[test]
fn halves_are_calculated_with_where_there_is_such_arithmetic() {
    if !has("cl_khr_fp16") {
        return;
    }
    let (_guard, module, stream) = setting(TEXT, "-DHALF");
    let (n, mut random) = (500, Random(2));
    let small = |random: &mut Random| random.below(11) as i32 - 5;
    let a = random.list(n, small);
    let b = random.list(n, |random| [0; 4].map(|_| small(random)));
    let da = put(&stream, &a.iter().map(|&x| half(x)).collect::<Vec<_>>());
    let db = put(&stream, &b.iter().map(|v| v.map(half)).collect::<Vec<_>>());
    let c = zeros::<u16>(&stream, n);
    let shift = [1, -2, 3, 0];
    run!(module.mix_halves[Dim3::covering(n, 64), 64, stream](da, db, c, half(3), shift.map(half), n as u32));
    let mixed = |i: usize| {
        let v: [i32; 4] = std::array::from_fn(|lane| 3 * a[i] + b[i][lane] + shift[lane]);
        half(v[0] + v[1] * v[2] - v[3])
    };
    // Zeros may carry a sign.
    let plain = |bits: u16| if bits == 0x8000 { 0 } else { bits };
    let device: Vec<u16> = get(&stream, &c).into_iter().map(plain).collect();
    assert_eq!(device, (0..n).map(mixed).collect::<Vec<_>>());
}

#[test]
fn bytes_in_vectors_of_three() {
    let (_guard, module, stream) = setting(TEXT, "");
    let (n, weights) = (1001, [77u8, 150, 29]);
    let pixels = Random(3).list(3 * n, |random| random.next() as u8);
    let (from, grey) = (put(&stream, &pixels), zeros::<u8>(&stream, n));
    run!(module.brightness[Dim3::covering(n, 128), 128, stream](from, grey, weights, n as u32));
    let weigh = |pixel: &[u8]| pixel.iter().zip(weights).map(|(&x, by)| u32::from(x) * u32::from(by)).sum::<u32>();
    let expected: Vec<u8> = pixels.chunks(3).map(|pixel| (weigh(pixel) >> 8).min(255) as u8).collect();
    assert_eq!(get(&stream, &grey), expected);
}

#[test]
fn vectors_of_sixteen_are_turned_around() {
    let (_guard, module, stream) = setting(TEXT, "");
    let n = 64;
    let from = Random(4).list(n, |random| -> [i16; 16] { [0; 16].map(|_: i32| random.next() as i16 / 4) });
    let (device, to) = (put(&stream, &from), zeros::<[i16; 16]>(&stream, n));
    let low: [i16; 8] = std::array::from_fn(|lane| lane as i16 * 100);
    run!(module.reverse_sixteens[2, 32, stream](device, to, low, [5i64, -7i64]));
    let turn = |v: &[i16; 16]| -> [i16; 16] {
        std::array::from_fn(|lane| {
            let high = [5, -7, 0, 0, 0, 0, 0, 0];
            let moved = v[15 - lane] + if lane < 8 { low[lane] } else { -high[lane - 8] };
            if lane % 2 == 0 && v[lane + 1] > 0 { -1 } else { moved }
        })
    };
    assert_eq!(get(&stream, &to), from.iter().map(turn).collect::<Vec<_>>());
}

#[repr(C, packed)]
#[derive(Clone, Copy, NoUninit)]
struct Tight {
    flag: u8,
    add: u32,
    scale: u16,
}

#[repr(C)]
#[derive(Clone, Copy, NoUninit)]
struct Order {
    what: u32,
    by: Tight,
    _pad: u8,
    start: u32,
}

#[test]
fn unions_enums_and_packed_structs_by_value() {
    let (_guard, module, stream) = setting(TEXT, "");
    let words = Random(5).list(1000, Random::next);
    for what in 0..8 {
        let cells = put(&stream, &words);
        let by = Tight { flag: 200, add: 1_000_000, scale: 40_000 };
        let given = Order { what, by, _pad: 0, start: 0xaabb_ccdd };
        run!(module.act[16, 64, stream](cells, given, words.len() as u32));
        let act = |&word: &u32| {
            let mut word = if what & 1 == 1 { word.rotate_left(16) } else { word };
            word = if what & 2 == 2 { !word } else { word };
            word = if what & 4 == 4 { word.count_ones() + (word | 1).leading_zeros() } else { word };
            word.wrapping_mul(40_000).wrapping_add(1_000_000 + 200 + 0xcc)
        };
        assert_eq!(get(&stream, &cells), words.iter().map(act).collect::<Vec<_>>(), "{what}");
    }
}

#[test]
fn blocks_are_copied_as_a_whole_and_turned_around() {
    let (_guard, module, stream) = setting(TEXT, "");
    let (blocks, size) = (11usize, 96usize);
    let from: Vec<[f32; 2]> = (0..blocks * size).map(|i| [i as f32, -(i as f32)]).collect();
    let (device, to) = (put(&stream, &from), zeros::<[f32; 2]>(&stream, from.len()));
    let shared = Local(size * size_of::<[f32; 2]>());
    run!(module.turn_blocks[blocks as u32, size as u32, stream](device, to, shared, shared));
    let expected: Vec<[f32; 2]> =
        from.chunks(size).flat_map(|block| block.iter().rev().map(|&[x, y]| [y, x])).collect();
    assert_eq!(get(&stream, &to), expected);
}

#[test]
fn darts_are_thrown_until_enough_have_hit() {
    let (_guard, module, stream) = setting(TEXT, "");
    let (items, seed, wanted) = (256u32, 12_345u32, 500);
    let thrown = zeros::<u32>(&stream, items as usize);
    run!(module.throw_darts[4, 64, stream](thrown, seed, wanted));
    let throw = |item: u32| {
        let first = seed.wrapping_add(item).wrapping_mul(2_654_435_761);
        let mut state: [u32; 16] = std::array::from_fn(|i| first.wrapping_add(i as u32 * 40_503 + 1));
        let mut at = 0;
        let mut draw = || {
            let first = state[at];
            at = (at + 1) & 15;
            let mut mixed = state[at];
            mixed ^= mixed << 13;
            mixed ^= mixed >> 17;
            mixed ^= mixed << 5;
            state[at] = mixed.wrapping_add(first);
            state[at]
        };
        let (mut hits, mut darts) = (0, 0);
        while hits < wanted {
            let (x, y) = (draw() >> 17, draw() >> 17);
            darts += 1;
            hits += u32::from(x * x + y * y < 1 << 30);
        }
        darts
    };
    let expected: Vec<u32> = (0..items).map(throw).collect();
    assert_eq!(get(&stream, &thrown), expected);
}
