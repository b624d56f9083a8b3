//! Spellings (`spellings.cl`): how the texts of kernels are written, rather than what they do. Symbols make gridcl
//! rewrite the text, so most of them are used in places that are easy to get wrong.

use crate::support::{Random, get, put, setting, zeros};
use bytemuck::NoUninit;
use gridcl::{Dim3, Local};

const TEXT: &str = include_str!("spellings.cl");

#[repr(C)]
#[derive(Clone, Copy, NoUninit)]
struct Hiding {
    total: i32,
    scales: f32,
}

#[test]
fn keywords_without_underscores_and_conditions_in_parameter_lists() {
    let n = 300;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    for with_offset in [true, false] {
        let (_guard, module, stream) = setting(TEXT, &format!("-DWITH_OFFSET={}", u8::from(with_offset)));
        let (from, to, shared) = (put(&stream, &x), zeros::<f32>(&stream, n), Local(64 * 4));
        let grid = Dim3::covering(n, 64);
        if with_offset {
            run!(module.plain_words[grid, 64, stream](from, to, 0.5f32, shared, n as u32));
        } else {
            run!(module.plain_words[grid, 64, stream](from, to, shared, n as u32));
        }
        let more = if with_offset { 1.5 } else { 0.0 };
        assert_eq!(get(&stream, &to), x.iter().map(|x| x + more).collect::<Vec<_>>());
    }
}

#[test]
fn macros_in_place_of_keywords_and_around_symbols() {
    let (_guard, module, stream) = setting(TEXT, "");
    let x = Random(1).list(50, |random| random.below(4) as i32);
    let (from, to) = (put(&stream, &x), zeros::<f32>(&stream, 1));
    run!(module.by_macros[1, 1, stream](to, from, x.len() as u32));
    let scales = [1.0, 2.0, 9.0, 16.0];
    let expected: f32 = x.iter().map(|&i| 0.5 * scales[i as usize] + 0.25 * 2.0).sum();
    assert_eq!(get(&stream, &to), [expected]);
    let mut total = [0];
    module.read_symbol(&stream, "total", &mut total).unwrap();
    assert_eq!(total, [7 + 50]);
}

#[test]
fn arrays_as_parameters_and_attributes_in_front() {
    let (_guard, module, stream) = setting(TEXT, "");
    let rows = zeros::<[f32; 4]>(&stream, 6);
    let weights = put(&stream, &[1.0f32, 10.0, 100.0, 1000.0]);
    let columns = put(&stream, &[[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]);
    // An empty buffer is a null pointer.
    let nothing = zeros::<i32>(&stream, 0);
    run!(module.arrays[1, (4, 2), stream](rows, weights, columns, nothing));
    let expected = [[2.0, 31.0, 501.0, 7001.0], [3.0, 41.0, 601.0, 8001.0]];
    assert_eq!(get(&stream, &rows)[..2], expected);
}

#[test]
fn names_that_hide_symbols_are_left_alone() {
    let (_guard, module, stream) = setting(TEXT, "");
    let tally = zeros::<i32>(&stream, 3);
    run!(module.hidden_names[1, 1, stream](tally, Hiding { total: 1000, scales: 100.0 }));
    assert_eq!(get(&stream, &tally), [1106, 1108, 1110]);
    let mut symbol = [9; 3];
    module.read_symbol(&stream, "tally", &mut symbol).unwrap();
    assert_eq!(symbol, [0; 3], "the parameter was written, not the symbol");
}

#[test]
fn symbols_behind_pointers_and_in_kernels_called_by_kernels() {
    let (_guard, module, stream) = setting(TEXT, "");
    let y = zeros::<i32>(&stream, 3);
    module.write_symbol(&stream, "grid", &[4.0f32, 0.0]).unwrap();
    run!(module.by_address[1, 1, stream](y, 17));
    // Of 0 to 16 two are multiples of 16, which count half.
    assert_eq!(get(&stream, &y), [2, 16, 40 + 16]);
    run!(module.outer_kernel[1, 1, stream](y));
    assert_eq!(get(&stream, &y), [15 + 16, 16 + 16, 14 + 16]);
}

#[test]
fn types_of_several_words_arrive() {
    let (_guard, module, stream) = setting(TEXT, "");
    let (h, y) = (put(&stream, &[9.5f32]), zeros::<f32>(&stream, 9));
    let (f, g) = (Hiding { total: -6, scales: 6.5 }, [0.0f32, 7.5]);
    run!(module.long_types[1, 1, stream](200u8, -300i16, 70_000u32, -4i64, 5u64, f, g, h, y));
    assert_eq!(get(&stream, &y), [200.0, -300.0, 70_000.0, -4.0, 5.0, -6.0, 6.5, 7.5, 9.5]);
}
