//! Sequences (`sequences.cl`): two `__local` parameters, tables in constant memory, macros that hold statements,
//! helpers with local pointers, and a loop between host and device by way of symbols.

use crate::support::{Random, assert_near, get, put, setting, zeros};
use bytemuck::{Pod, Zeroable};
use gridcl::{Dim3, Local};

const TEXT: &str = include_str!("sequences.cl");

#[test]
fn an_alignment_goes_over_the_table_by_diagonals() {
    let (_guard, module, stream) = setting(TEXT, "");
    let (tiles, penalty) = (7usize, 3);
    let side = tiles * 16 + 1;
    let matches = Random(1).list(side * side, |random| random.below(15) as i32 - 6);
    let mut expected = vec![0; side * side];
    for i in 1..side {
        (expected[i], expected[i * side]) = (-penalty * i as i32, -penalty * i as i32);
    }
    let (dmatches, table) = (put(&stream, &matches), put(&stream, &expected));
    for y in 1..side {
        for x in 1..side {
            let at = y * side + x;
            let alone = expected[at - 1].max(expected[at - side]) - penalty;
            expected[at] = alone.max(expected[at - side - 1] + matches[at]);
        }
    }
    for diagonal in 0..2 * tiles - 1 {
        let count = (diagonal + 1).min(2 * tiles - 1 - diagonal) as u32;
        let (score, own) = (Local(17 * 17 * 4), Local(16 * 16 * 4));
        run!(module.align_tiles[count, 16, stream](
            dmatches, table, score, own, side as i32, penalty, diagonal as i32, tiles as i32
        ));
    }
    assert_eq!(get(&stream, &table), expected);
}

#[test]
fn digests_by_rounds_over_constants() {
    const CONSTANTS: [u32; 8] =
        [0x9e37_79b9, 0x7f4a_7c15, 0xbf58_476d, 0x1ce4_e5b9, 0x94d0_49bb, 0x1331_11eb, 0xd6e8_feb8, 0x6659_fd93];
    let (_guard, module, stream) = setting(TEXT, "");
    let n = 1000;
    let data = Random(2).list(16 * n, Random::next);
    let (from, to) = (put(&stream, &data), zeros::<[u32; 4]>(&stream, n));
    run!(module.digests[Dim3::covering(n, 64), 64, stream](from, to, n as u32));
    let digest = |words: &[u32]| {
        let [mut a, mut b, mut c, mut d] = [0x6745_2301u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
        for i in 0..32 {
            let mixed = if i < 16 { b & c | !b & d } else { b ^ c ^ d };
            let mixed = a.wrapping_add(mixed).wrapping_add(words[i * 5 % 16]).wrapping_add(CONSTANTS[i % 8]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(mixed.rotate_left([7, 12, 17, 22][i % 4]));
        }
        [a, b, c, d]
    };
    let expected: Vec<[u32; 4]> = data.chunks(16).map(digest).collect();
    assert_eq!(get(&stream, &to), expected);
}

#[test]
fn fourier_transforms_there_and_back() {
    let (_guard, module, stream) = setting(TEXT, "");
    let count = 9;
    let mut random = Random(3);
    let data = random.list(count * 64, |random| [random.unit(), random.unit()]);
    let from = put(&stream, &data);
    let (spectrum, back) = (zeros::<[f32; 2]>(&stream, count * 64), zeros::<[f32; 2]>(&stream, count * 64));
    run!(module.transforms[count as u32, 32, stream](from, spectrum, -1.0f32));
    run!(module.transforms[count as u32, 32, stream](spectrum, back, 1.0f32));
    let expected: Vec<[f64; 2]> = (0..count * 64)
        .map(|at| {
            let mut sum = [0.0; 2];
            for (i, [re, im]) in data[at / 64 * 64..][..64].iter().map(|x| x.map(f64::from)).enumerate() {
                let (sine, cosine) = (-std::f64::consts::TAU * ((i * at) % 64) as f64 / 64.0).sin_cos();
                sum[0] += re * cosine - im * sine;
                sum[1] += re * sine + im * cosine;
            }
            sum
        })
        .collect();
    assert_near("spectrum", get(&stream, &spectrum).as_flattened(), expected.as_flattened(), 1e-4);
    let there: Vec<f32> = data.as_flattened().iter().map(|x| 64.0 * x).collect();
    assert_near("back again", get(&stream, &back).as_flattened(), &there, 1e-4);
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Centres {
    count: i32,
    at: [[f32; 5]; 8],
}

#[test]
fn clusters_settle_around_centres_in_a_symbol() {
    let (_guard, module, stream) = setting(TEXT, "");
    let (points, clusters) = (2000usize, 6usize);
    let mut random = Random(4);
    // Point by point on the host, feature by feature on the device.
    let data = random.list(points, |random| -> [f32; 5] {
        let middle = random.below(clusters as u32) as f32;
        std::array::from_fn(|f| middle * (f as f32 - 2.0) + random.unit())
    });
    let by_feature: Vec<f32> = (0..5 * points).map(|k| data[k % points][k / points]).collect();
    let features = put(&stream, &by_feature);
    let membership = put(&stream, &vec![-1i32; points]);
    let mut centres = Centres { count: clusters as i32, at: [[0.0; 5]; 8] };
    (0..clusters).for_each(|c| centres.at[c] = data[c * 300]);

    let mut rounds = 0;
    loop {
        module.write_symbol(&stream, "current", &[centres]).unwrap();
        module.write_symbol(&stream, "changed", &[0i32]).unwrap();
        run!(module.join_clusters[Dim3::covering(points, 128), 128, stream](features, membership, points as i32));
        let mut changed = [-1i32];
        module.read_symbol(&stream, "changed", &mut changed).unwrap();
        let members = get(&stream, &membership);
        for (point, &member) in data.iter().zip(&members) {
            let distance = |c: usize| (0..5).map(|f| f64::from(point[f] - centres.at[c][f]).powi(2)).sum::<f64>();
            let least = (0..clusters).map(distance).fold(f64::INFINITY, f64::min);
            assert!(distance(member as usize) <= least * 1.000_01, "round {rounds}");
        }
        rounds += 1;
        if changed == [0] {
            break;
        }
        assert!(rounds < 200 && changed[0] > 0);
        for c in 0..clusters {
            let mine: Vec<_> = data.iter().zip(&members).filter(|(_, member)| **member == c as i32).collect();
            for f in 0..5 {
                let sum: f32 = mine.iter().map(|(point, _)| point[f]).sum();
                centres.at[c][f] = if mine.is_empty() { centres.at[c][f] } else { sum / mine.len() as f32 };
            }
        }
    }
    assert!(rounds > 1, "the centres moved");
}
