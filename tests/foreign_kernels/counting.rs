//! Counting (`counting.cl`): atomics in local and global memory, in 32 bits and where there are such in 64, and symbols
//! that helper functions change.

use crate::support::{Random, get, has, put, setting, zeros};
use gridcl::{Dim3, Local};

const TEXT: &str = include_str!("counting.cl");

#[test]
fn bins_stop_at_their_limit() {
    let (_guard, module, stream) = setting(TEXT, "");
    let (n, bins) = (20_000, 512usize);
    // Low bins are hit more often than they count to.
    let data = Random(1).list(n, |random| (random.below(512) * random.below(512) / 512) as u16);
    let (device, counts) = (put(&stream, &data), zeros::<u32>(&stream, bins / 4));
    run!(module.saturating_bins[13, 64, stream](device, counts, n as u32, 511u32));
    let mut expected = vec![0u8; bins];
    data.iter().for_each(|&x| expected[usize::from(x)] = expected[usize::from(x)].saturating_add(1));
    assert_eq!(bytemuck::cast_slice::<u32, u8>(&get(&stream, &counts)), expected);
    assert!(expected.contains(&255), "some are full");
}

#[test]
fn angles_of_pairs_fall_into_bins() {
    let (_guard, module, stream) = setting(TEXT, "");
    let (n, mut random) = (600, Random(2));
    // Whole numbers: their products are exact, so no pair is on the other side of a border on the device.
    let [x, y, z] = [0; 3].map(|_| random.list(n, |random| random.below(41) as f32 - 20.0));
    let borders: Vec<f32> = (0..21).map(|bin| 1000.5 - 100.0 * bin as f32).collect();
    module.write_symbol(&stream, "borders", &borders).unwrap();
    let (dx, dy, dz) = (put(&stream, &x), put(&stream, &y), put(&stream, &z));
    let totals = zeros::<u32>(&stream, 22);
    run!(module.pair_angles[Dim3::covering(n, 64), 64, stream](dx, dy, dz, n as i32, totals));
    let mut expected = vec![0u32; 22];
    for i in 0..n {
        for j in i + 1..n {
            let product = x[i] * x[j] + y[i] * y[j] + z[i] * z[j];
            let above = borders.iter().filter(|&&border| product < border).count();
            expected[above] += 1;
        }
    }
    assert_eq!(get(&stream, &totals), expected);
}

#[test]
fn a_queue_grows_behind_a_counter_in_a_symbol() {
    let (_guard, module, stream) = setting(TEXT, "");
    let (n, room) = (5000u32, 1200u32);
    let numbers: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761) >> 3).collect();
    let (device, queue) = (put(&stream, &numbers), zeros::<u32>(&stream, room as usize));
    let sieves = [None, Some([5u32, 2u32])];
    let mut rejected = [0, -1000];
    for sieve in sieves {
        if let Some(sieve) = sieve {
            module.write_symbol(&stream, "sieve", &[sieve]).unwrap();
        }
        let [divisor, remainder] = sieve.unwrap_or([3, 1]);
        module.write_symbol(&stream, "queue_end", &[0u32]).unwrap();
        let (mine, places) = (Local(128 * 4), Local(2 * 4));
        run!(module.enqueue_passing[Dim3::covering(n as usize, 128), 128, stream](
            device, queue, n, room, mine, places
        ));
        let mut passing: Vec<u32> = numbers.iter().copied().filter(|x| x % divisor == remainder).collect();
        let mut end = [0u32];
        module.read_symbol(&stream, "queue_end", &mut end).unwrap();
        assert_eq!(end, [passing.len() as u32]);
        let fitted = end[0].min(room) as usize;
        rejected[0] += (n - end[0]) as i32;
        rejected[1] += end[0] as i32 - fitted as i32;
        let mut counted = [0i32; 2];
        module.read_symbol(&stream, "rejected", &mut counted).unwrap();
        assert_eq!(counted, rejected);
        let mut seen = get(&stream, &queue);
        seen.truncate(fitted);
        seen.sort_unstable();
        passing.sort_unstable();
        if fitted == passing.len() {
            assert_eq!(seen, passing);
        } else {
            seen.dedup();
            assert_eq!(seen.len(), fitted, "each once");
            assert!(seen.iter().all(|x| passing.binary_search(x).is_ok()));
        }
    }
}

#[test]
fn totals_in_64_bits() {
    if !has("cl_khr_int64_base_atomics") || !has("cl_khr_int64_extended_atomics") {
        return;
    }
    let (_guard, module, stream) = setting(TEXT, "-DWIDE");
    let n = 3000;
    let mut random = Random(3);
    let data = random.list(n, |random| u64::from(random.next()) << 32 | u64::from(random.next()));
    let (device, totals) = (put(&stream, &data), zeros::<u64>(&stream, 4));
    let ends = put(&stream, &[i64::MAX, i64::MIN]);
    run!(module.wide_totals[Dim3::covering(n, 64), 64, stream](device, totals, ends, n as u32));
    let sum = data.iter().fold(0u64, |sum, &x| sum.wrapping_add(x));
    let odd = data.iter().filter(|&x| x % 2 == 1).count() as u64;
    let bits = data.iter().fold(0, |bits, x| bits ^ x);
    assert_eq!(get(&stream, &totals), [sum, sum.wrapping_neg(), odd, bits]);
    let signed = || data.iter().map(|&x| x as i64);
    assert_eq!(get(&stream, &ends), [signed().min().unwrap(), signed().max().unwrap()]);
    let mut high = [0u64];
    module.read_symbol(&stream, "wide_sum", &mut high).unwrap();
    assert_eq!(high, [data.iter().map(|x| x >> 32).sum()]);
}
