//! Particles (`particles.cl`): neighbour lists, a struct of nested structs by value, vectors of three components in
//! arguments, structs and tight arrays, and thirty-three arguments of every size.

use crate::support::{Random, assert_near, get, put, setting, zeros};
use bytemuck::{NoUninit, Pod, Zeroable};
use gridcl::Dim3;

const TEXT: &str = include_str!("particles.cl");

#[test]
fn forces_by_a_list_of_neighbours() {
    let (_guard, module, stream) = setting(TEXT, "");
    let (n, neighbours, cutoff2, lj1, lj2) = (1500, 20, 0.3f32, 0.01f32, 0.02f32);
    let mut random = Random(1);
    let places = random.list(n, |random| [random.unit(), random.unit(), random.unit(), 1.0]);
    let list = random.list(n * neighbours, |random| random.below(n as u32 + 100) as i32 - 100);
    // Nobody is its own neighbour, and some places in the list are empty.
    let list: Vec<i32> =
        list.iter().enumerate().map(|(k, &to)| if to == (k % n) as i32 { -1 } else { to.max(-1) }).collect();
    let force = zeros::<[f32; 4]>(&stream, n);
    let (dplaces, dlist) = (put(&stream, &places), put(&stream, &list));
    run!(module.neighbour_forces[Dim3::covering(n, 128), 128, stream](
        force, dplaces, neighbours as i32, dlist, cutoff2, lj1, lj2, n as i32
    ));
    let mut expected = vec![[0.0f64; 4]; n];
    for (k, &to) in list.iter().enumerate().filter(|(_, to)| **to >= 0) {
        let away: [f64; 3] =
            std::array::from_fn(|axis| f64::from(places[k % n][axis]) - f64::from(places[to as usize][axis]));
        let r2: f64 = away.iter().map(|d| d * d).sum();
        if r2 < f64::from(cutoff2) {
            let sixth = r2.powi(-3);
            let strength = sixth / r2 * (f64::from(lj1) * sixth - f64::from(lj2));
            (0..3).for_each(|axis| expected[k % n][axis] += away[axis] * strength);
        }
    }
    // Close pairs push hard, so the error is measured against the strongest push on each.
    assert_near("forces", get(&stream, &force).as_flattened(), expected.as_flattened(), 1e-3);
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct BoxAt {
    place: [i32; 3],
    number: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Box {
    home: BoxAt,
    neighbours: i32,
    neighbour: [BoxAt; 26],
}

/// As the device's compiler lays it out: a vector of three takes the room and the alignment of four.
#[repr(C)]
#[derive(Clone, Copy, NoUninit)]
struct Parameters {
    alpha: f32,
    boxes: i32,
    each: i32,
    unused: i8,
    _pad0: [u8; 3],
    shift: [f32; 4],
    scale: [i16; 3],
    _pad1: [u8; 10],
}

#[test]
fn forces_between_boxes_with_a_struct_of_structs_by_value() {
    let (_guard, module, stream) = setting(TEXT, "");
    let (side, each) = (3i32, 40usize);
    let at = |number: i32| BoxAt { place: [number % side, number / side % side, number / side / side], number };
    let boxes: Vec<Box> = (0..side * side * side)
        .map(|number| {
            let mut own = Box { home: at(number), neighbours: 0, neighbour: [BoxAt::zeroed(); 26] };
            for other in (0..side * side * side).filter(|&other| other != number).map(at) {
                if (0..3).all(|axis| (other.place[axis] - own.home.place[axis]).abs() <= 1) {
                    own.neighbour[own.neighbours as usize] = other;
                    own.neighbours += 1;
                }
            }
            own
        })
        .collect();
    let (n, mut random) = (boxes.len() * each, Random(2));
    let places = random.list(n, |random| [random.unit(), random.unit(), random.unit(), 0.0]);
    let charges = random.units(n);
    let by = Parameters {
        alpha: 0.5,
        boxes: boxes.len() as i32,
        each: each as i32,
        unused: 1,
        _pad0: [0; 3],
        shift: [1.0, 2.0, 3.0, 0.0],
        scale: [1, -2, 3],
        _pad1: [0; 10],
    };
    let forces = zeros::<[f32; 4]>(&stream, n);
    let (dboxes, dplaces, dcharges) = (put(&stream, &boxes), put(&stream, &places), put(&stream, &charges));
    run!(module.box_forces[boxes.len() as u32 + 1, 32, stream](by, dboxes, dplaces, dcharges, forces));

    let mut expected = vec![[0.0f64; 4]; n];
    for (i, force) in expected.iter_mut().enumerate() {
        let own = &boxes[i / each];
        let near = own.neighbour[..own.neighbours as usize].iter().map(|other| other.number as usize);
        for j in near.chain([i / each]).flat_map(|other| other * each..(other + 1) * each) {
            let away: [f64; 3] = std::array::from_fn(|axis| f64::from(places[i][axis]) - f64::from(places[j][axis]));
            let strength = f64::from(charges[j]) * (-0.5 * away.iter().map(|d| d * d).sum::<f64>()).exp();
            (0..3).for_each(|axis| force[axis] += strength * away[axis] * f64::from(by.scale[axis]));
            force[3] += strength;
        }
    }
    assert_near("forces", get(&stream, &forces).as_flattened(), expected.as_flattened(), 1e-3);
}

#[test]
fn vectors_of_three_as_arguments_and_in_tight_arrays() {
    let (_guard, module, stream) = setting(TEXT, "");
    let n = 777;
    let places = Random(3).units(3 * n);
    let (from, to) = (put(&stream, &places), zeros::<f32>(&stream, 3 * n));
    // Three components by a list of three, and by four of which one is not looked at.
    let order = [2i32, 0, 1, 99];
    run!(module.turn_bodies[Dim3::covering(n, 64), 64, stream](from, to, [0.0f32, 3.0, 4.0], order, n as u32));
    let axis = [0.0, 0.6, 0.8];
    let expected: Vec<f64> = places
        .chunks(3)
        .flat_map(|v| {
            let v: [f64; 3] = std::array::from_fn(|i| f64::from(v[i]));
            let along: f64 = (0..3).map(|i| axis[i] * v[i]).sum();
            let turned: [f64; 3] = std::array::from_fn(|i| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                axis[j] * v[k] - axis[k] * v[j] + axis[i] * along
            });
            [turned[2], turned[0], turned[1]]
        })
        .collect();
    assert_near("turned", &get(&stream, &to), &expected, 1e-5);
}

#[test]
fn thirty_three_arguments_of_every_size_arrive() {
    let (_guard, module, stream) = setting(TEXT, "");
    let (variables, cells) = (13, 300);
    let mut random = Random(4);
    let state = random.units(variables * cells);
    let stimulus = random.units(cells);
    let weights = random.units(variables);
    let (dstate, change) = (put(&stream, &state), zeros::<f32>(&stream, variables * cells));
    let (dstimulus, dweights, calls) = (put(&stream, &stimulus), put(&stream, &weights), zeros::<i32>(&stream, 1));
    let a: [f32; 10] = std::array::from_fn(|i| i as f32 * 0.125 + 0.25);
    let mut c3 = [0f32; 16];
    c3[15] = 8.0;
    run!(module.cell_model[5, 64, stream](
        dstate, change, variables as i32, cells as i32, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9],
        -1i8, 200u8, -300i16, 60_000u16, -70_000i32, 80_000u32, -5i64, 9u64, dstimulus, dweights, calls,
        [9.0f32, 1.0], [9.0f32, 9.0, 9.0, 2.0], [0.0f32, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0], c3, 3u8, -1000i64, 5u8,
        -60_000i32,
    ));
    let whole = f64::from(-1 + 200 - 300 + 60_000 - 70_000 + 80_000 - 5 + 9 + 3 - 1000 + 5 - 60_000);
    let rate = |k: usize| {
        let (v, cell) = (k / cells, k % cells);
        let (rate, weight) = (f64::from(a[v % 10]), f64::from(weights[v]));
        rate * (whole - f64::from(state[k])) + weight * f64::from(stimulus[cell]) + 15.0
    };
    let expected: Vec<f64> = (0..variables * cells).map(rate).collect();
    assert_near("rates", &get(&stream, &change), &expected, 1e-5);
    assert_eq!(get(&stream, &calls), [cells as i32]);
}
