//! Products of a sparse matrix and a vector (`sparse.cl`) by four kernels, which all have to answer the same: loops
//! with bounds from memory, `volatile` local memory, a demanded block size, symbols.

use crate::support::{Random, assert_near, get, put, setting, zeros};
use gridcl::Dim3;
use std::cmp::Reverse;

const TEXT: &str = include_str!("sparse.cl");

/// Rows of entries (column, value), some of them empty, and a vector.
struct Problem {
    rows: Vec<Vec<(i32, f32)>>,
    x: Vec<f32>,
    expected: Vec<f64>,
}

fn problem() -> Problem {
    let (n, mut random) = (1111, Random(1));
    let rows: Vec<Vec<(i32, f32)>> = (0..n)
        .map(|row| {
            let length = if row % 7 == 0 { 0 } else { random.below(60) as usize };
            random.list(length, |random| (random.below(n) as i32, random.unit() - 0.5))
        })
        .collect();
    let x = random.units(n as usize);
    let product = |row: &Vec<(i32, f32)>| row.iter().map(|&(c, v)| f64::from(v) * f64::from(x[c as usize])).sum();
    let expected = rows.iter().map(product).collect();
    Problem { rows, x, expected }
}

/// The entries' columns and values.
fn split<'a>(entries: impl Iterator<Item = &'a (i32, f32)>) -> (Vec<i32>, Vec<f32>) {
    entries.copied().unzip()
}

#[test]
fn rows_one_after_the_other() {
    let (_guard, module, stream) = setting(TEXT, "");
    let Problem { rows, x, expected } = problem();
    let n = rows.len();
    let (columns, values) = split(rows.iter().flatten());
    let mut starts = vec![0];
    rows.iter().for_each(|row| starts.push(starts.last().unwrap() + row.len() as i32));
    let (columns, values) = (put(&stream, &columns), put(&stream, &values));
    let (starts, x) = (put(&stream, &starts), put(&stream, &x));
    let (y, z) = (zeros::<f32>(&stream, n), zeros::<f32>(&stream, n));
    run!(module.rows_by_items[Dim3::covering(n, 96), 96, stream](values, x, columns, starts, n as i32, y));
    run!(module.rows_by_lanes[Dim3::covering(n, 4), 128, stream](values, x, columns, starts, n as i32, z));
    assert_near("by items", &get(&stream, &y), &expected, 1e-5);
    assert_near("by lanes", &get(&stream, &z), &expected, 1e-5);
}

#[test]
fn rows_with_room_for_the_longest() {
    let (_guard, module, stream) = setting(TEXT, "");
    let Problem { rows, x, expected } = problem();
    let n = rows.len();
    let longest = rows.iter().map(Vec::len).max().unwrap();
    let (mut columns, mut values) = (vec![i32::MAX; longest * n], vec![f32::NAN; longest * n]);
    for (row, entries) in rows.iter().enumerate() {
        for (k, &(column, value)) in entries.iter().enumerate() {
            (columns[k * n + row], values[k * n + row]) = (column, value);
        }
    }
    let lengths: Vec<i32> = rows.iter().map(|row| row.len() as i32).collect();
    let (columns, values) = (put(&stream, &columns), put(&stream, &values));
    let (lengths, x, y) = (put(&stream, &lengths), put(&stream, &x), zeros::<f32>(&stream, n));
    run!(module.rows_with_room[Dim3::covering(n, 64), 64, stream](values, x, columns, lengths, n as i32, y));
    assert_near("with room", &get(&stream, &y), &expected, 1e-5);
}

#[test]
fn rows_in_order_of_their_lengths() {
    let (_guard, module, stream) = setting(TEXT, "");
    let Problem { rows, x, expected } = problem();
    let n = rows.len();
    let mut places: Vec<i32> = (0..n as i32).collect();
    places.sort_by_key(|&place| Reverse(rows[place as usize].len()));
    let (mut levels, mut entries) = (Vec::new(), Vec::new());
    loop {
        let first = entries.len() as i32;
        let k = levels.len();
        entries.extend(places.iter().filter_map(|&place| rows[place as usize].get(k)));
        if entries.len() as i32 == first {
            break;
        }
        levels.push([first, entries.len() as i32 - first]);
    }
    module.write_symbol(&stream, "levels", &levels).unwrap();
    module.write_symbol(&stream, "level_count", &[levels.len() as i32]).unwrap();
    let (columns, values) = split(entries.iter());
    let (columns, values) = (put(&stream, &columns), put(&stream, &values));
    let (places, x, y) = (put(&stream, &places), put(&stream, &x), zeros::<f32>(&stream, n));
    run!(module.rows_by_length[Dim3::covering(n, 64), 64, stream](values, x, columns, places, y, n as i32));
    assert_near("by length", &get(&stream, &y), &expected, 1e-5);
}
