//! Grids (`grids.cl`): thirteen arguments, borders in local memory, three-dimensional launches, symbols that helper
//! functions read and the host changes between launches, arrays in private memory.

use crate::support::{Random, assert_near, get, put, setting, zeros};

const TEXT: &str = include_str!("grids.cl");

#[test]
fn a_chip_warms_up_in_overlapping_tiles() {
    let (_guard, module, stream) = setting(TEXT, "");
    let (columns, rows, steps, launches) = (100usize, 61usize, 3, 4);
    let mut random = Random(1);
    let power = random.units(columns * rows);
    let start = random.list(columns * rows, |random| 320.0 + 10.0 * random.unit());
    let (capacity, [rx, ry, rz], step) = (0.5f32, [10.0f32, 12.0, 90.0], 0.01f32);

    let (dpower, mut from) = (put(&stream, &power), put(&stream, &start));
    let mut to = zeros::<f32>(&stream, columns * rows);
    let useful = 16 - 2 * steps as u32;
    let grid = ((columns as u32).div_ceil(useful), (rows as u32).div_ceil(useful));
    for _ in 0..launches {
        run!(module.chip_steps[grid, (16, 16), stream](
            steps, dpower, from, to, columns as i32, rows as i32, steps, steps, capacity, rx, ry, rz, step
        ));
        std::mem::swap(&mut from, &mut to);
    }

    let mut now: Vec<f64> = start.iter().map(|&t| f64::from(t)).collect();
    for _ in 0..steps * launches {
        let old = now.clone();
        for (at, new) in now.iter_mut().enumerate() {
            let (x, y) = (at % columns, at / columns);
            let near = |x: usize, y: usize| old[y.min(rows - 1) * columns + x.min(columns - 1)];
            let along_y = near(x, y + 1) + near(x, y.saturating_sub(1)) - 2.0 * old[at];
            let along_x = near(x + 1, y) + near(x.saturating_sub(1), y) - 2.0 * old[at];
            let flow = f64::from(power[at])
                + along_y / f64::from(ry)
                + along_x / f64::from(rx)
                + (80.0 - old[at]) / f64::from(rz);
            *new += f64::from(step / capacity) * flow;
        }
    }
    assert_near("temperatures", &get(&stream, &from), &now, 1e-5);
}

#[test]
fn block_differences_over_three_axes() {
    let (_guard, module, stream) = setting(TEXT, "");
    let (width, height, range) = (52usize, 36usize, 3i32);
    let mut random = Random(2);
    let frame = random.list(width * height, |random| random.next() as u8);
    let reference = random.list(width * height, |random| random.next() as u8);
    let side = 2 * range + 1;
    let (blocks_x, blocks_y, offsets) = (width / 4, height / 4, (side * side) as usize);
    let sums = zeros::<u16>(&stream, blocks_x * blocks_y * offsets);
    let (dframe, dreference) = (put(&stream, &frame), put(&stream, &reference));
    let grid = ((blocks_x as u32).div_ceil(8), (blocks_y as u32).div_ceil(4), (offsets as u32).div_ceil(4));
    run!(module.block_differences[grid, (8, 4, 4), stream](
        dframe, dreference, sums, width as i32, height as i32, range
    ));
    let sum = |at: usize| {
        let (block_x, block_y, offset) = (at % blocks_x, at / blocks_x % blocks_y, (at / blocks_x / blocks_y) as i32);
        let (dx, dy) = (offset % side - range, offset / side - range);
        let difference = |k: usize| {
            let (x, y) = (block_x * 4 + k % 4, block_y * 4 + k / 4);
            let near_x = (x as i32 + dx).clamp(0, width as i32 - 1) as usize;
            let near_y = (y as i32 + dy).clamp(0, height as i32 - 1) as usize;
            u16::from(frame[y * width + x].abs_diff(reference[near_y * width + near_x]))
        };
        (0..16).map(difference).sum::<u16>()
    };
    let expected: Vec<u16> = (0..blocks_x * blocks_y * offsets).map(sum).collect();
    assert_eq!(get(&stream, &sums), expected);
}

#[test]
fn potentials_of_atoms_that_come_in_pieces() {
    let (_guard, module, stream) = setting(TEXT, "");
    let (size, spacing, cutoff2) = ([21usize, 10, 7], 0.5f32, 9.0f32);
    let points = size.iter().product::<usize>();
    let mut random = Random(3);
    // Off the lattice, so that no distance is 0.
    let atoms = random.list(150, |random| {
        let place: [f32; 3] =
            std::array::from_fn(|axis| spacing * (random.below(size[axis] as u32) as f32 + 0.3 + 0.4 * random.unit()));
        [place[0], place[1], place[2], random.unit() - 0.5]
    });
    let lattice = zeros::<f32>(&stream, points);
    for piece in atoms.chunks(64) {
        module.write_symbol(&stream, "atoms", piece).unwrap();
        module.write_symbol(&stream, "atom_count", &[piece.len() as i32]).unwrap();
        run!(module.add_potential[(3, 3, 4), (8, 4, 2), stream](
            lattice, [size[0] as i32, size[1] as i32, size[2] as i32], spacing, cutoff2
        ));
    }
    let point = |at: usize| {
        let place = [at % size[0], at / size[0] % size[1], at / size[0] / size[1]];
        let of = |atom: &[f32; 4]| {
            let away = |axis: usize| f64::from(atom[axis]) - place[axis] as f64 * f64::from(spacing);
            let r2: f64 = (0..3).map(|axis| away(axis).powi(2)).sum();
            let s = 1.0 - r2 / f64::from(cutoff2);
            if s > 0.0 { f64::from(atom[3]) / r2.sqrt() * s * s } else { 0.0 }
        };
        atoms.iter().map(of).sum::<f64>()
    };
    let expected: Vec<f64> = (0..points).map(point).collect();
    assert_near("potentials", &get(&stream, &lattice), &expected, 1e-4);
    let mut seen = [0u32];
    module.read_symbol(&stream, "lattice_points", &mut seen).unwrap();
    assert_eq!(seen, [3 * points as u32]);
}

#[test]
fn a_flow_passes_walls_and_the_ends_of_its_box() {
    let (_guard, module, stream) = setting(TEXT, "");
    let ([nx, ny, nz], steps, omega) = ([18usize, 9, 5], 6, 0.6f32);
    let (cells, mut random) = (nx * ny * nz, Random(4));
    let start = random.units(7 * cells);
    let wall = random.list(cells, |random| u8::from(random.below(5) == 0));
    let (mut from, mut to) = (put(&stream, &start), zeros::<f32>(&stream, 7 * cells));
    let dwall = put(&stream, &wall);
    let size = [nx as i32, ny as i32, nz as i32, 0];
    for _ in 0..steps {
        run!(module.flow_step[(2, 3, 3), (16, 4, 2), stream](from, to, dwall, size, omega));
        std::mem::swap(&mut from, &mut to);
    }

    let mut now: Vec<f64> = start.iter().map(|&f| f64::from(f)).collect();
    const MOVES: [[usize; 3]; 7] = [[0; 3], [1, 0, 0], [!0, 0, 0], [0, 1, 0], [0, !0, 0], [0, 0, 1], [0, 0, !0]];
    for _ in 0..steps {
        let old = now.clone();
        for cell in 0..cells {
            let place = [cell % nx, cell / nx % ny, cell / nx / ny];
            let mut f: [f64; 7] = std::array::from_fn(|d| old[d * cells + cell]);
            let density: f64 = f.iter().sum();
            if wall[cell] == 1 {
                [1, 3, 5].into_iter().for_each(|d| f.swap(d, d + 1));
            } else {
                let flow = [f[1] - f[2], f[3] - f[4], f[5] - f[6]];
                f = std::array::from_fn(|d| {
                    let along = if d == 0 { 0.0 } else { flow[(d - 1) / 2] * if d % 2 == 1 { 1.0 } else { -1.0 } };
                    let rest = if d == 0 { 0.25 * density } else { 0.125 * density + 0.5 * along };
                    f[d] + f64::from(omega) * (rest - f[d])
                });
            }
            for (d, by) in MOVES.iter().enumerate() {
                let [x, y, z] = std::array::from_fn(|axis| {
                    let side = [nx, ny, nz][axis];
                    place[axis].wrapping_add(by[axis]).wrapping_add(side) % side
                });
                now[d * cells + (z * ny + y) * nx + x] = f[d];
            }
        }
    }
    assert_near("flow", &get(&stream, &from), &now, 1e-4);
}
