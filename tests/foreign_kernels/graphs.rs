//! Graphs, trees and paths (`graphs.cl`): structs in memory and by value, pointers in memory, loops until the device
//! says stop, several `__local` parameters.

use crate::support::{Random, assert_near, follows_pointers, get, put, setting, zeros};
use bytemuck::{NoUninit, Pod, Zeroable};
use gridcl::{DevicePtr, Dim3, Local};
use std::collections::VecDeque;

const TEXT: &str = include_str!("graphs.cl");

#[test]
fn a_breadth_first_search_finds_every_distance() {
    let (_guard, module, stream) = setting(TEXT, "");
    let (n, mut random) = (5000, Random(1));
    // A long chain of vertices, so that it takes many steps, and some edges across.
    let (mut vertices, mut edges) = (Vec::new(), Vec::new());
    for at in 0..n {
        let first = edges.len() as i32;
        if at % 100 < 99 {
            edges.push(at + 1);
        }
        for _ in 0..random.below(3) {
            edges.push(random.below(n as u32 / 2) as i32 * 2);
        }
        vertices.push([first, edges.len() as i32 - first]);
    }
    let mut expected = vec![-1; n as usize];
    expected[0] = 0;
    let mut queue = VecDeque::from([0usize]);
    while let Some(at) = queue.pop_front() {
        let [first, count] = vertices[at];
        for &to in &edges[first as usize..(first + count) as usize] {
            if expected[to as usize] < 0 {
                expected[to as usize] = expected[at] + 1;
                queue.push_back(to as usize);
            }
        }
    }

    let mut start = vec![0u8; n as usize];
    start[0] = 1;
    let (frontier, visited) = (put(&stream, &start), put(&stream, &start));
    let reached = zeros::<u8>(&stream, n as usize);
    let mut cost = vec![-1; n as usize];
    cost[0] = 0;
    let (vertices, edges, cost) = (put(&stream, &vertices), put(&stream, &edges), put(&stream, &cost));
    let mut more = zeros::<i32>(&stream, 1);
    let grid = Dim3::covering(n as usize, 128);
    loop {
        stream.upload(&[0], &mut more).unwrap();
        run!(module.frontier_visit[grid, 128, stream](vertices, edges, frontier, reached, visited, cost, n));
        run!(module.frontier_advance[grid, 128, stream](frontier, reached, visited, more, n));
        if get(&stream, &more) == [0] {
            break;
        }
    }
    assert_eq!(get(&stream, &cost), expected);
    assert!(expected.iter().any(|&cost| cost > 10), "it took some steps");
}

#[test]
fn the_cheapest_path_is_found_in_overlapping_blocks() {
    let (_guard, module, stream) = setting(TEXT, "");
    let (columns, rows, block, pyramid) = (1000, 45, 128, 6);
    let mut random = Random(2);
    let wall = random.list(columns * rows, |random| random.below(10) as i32);
    let mut expected = wall[..columns].to_vec();
    for row in wall.chunks(columns).skip(1) {
        let near = |x: usize| expected[x.saturating_sub(1)..(x + 2).min(columns)].iter().min().copied().unwrap();
        expected = (0..columns).map(|x| near(x) + row[x]).collect();
    }
    let mut from = put(&stream, &wall[..columns]);
    let mut to = zeros::<i32>(&stream, columns);
    let wall = put(&stream, &wall);
    let mut start = 1;
    while start < rows {
        let steps = pyramid.min(rows - start);
        let grid = Dim3::covering(columns, block - 2 * pyramid as u32);
        let shared = Local(block as usize * size_of::<i32>());
        run!(module.cheapest_path[grid, block, stream](
            steps as i32, wall, from, to, columns as i32, start as i32, pyramid as i32, shared, shared
        ));
        std::mem::swap(&mut from, &mut to);
        start += steps;
    }
    assert_eq!(get(&stream, &from), expected);
}

#[repr(C)]
#[derive(Clone, Copy, NoUninit)]
struct Query {
    centre: [f32; 2],
    scale: f32,
    squared: u8,
    _pad: [u8; 3],
}

#[test]
fn distances_to_a_struct_in_a_struct_by_value() {
    let (_guard, module, stream) = setting(TEXT, "");
    let places = Random(3).list(3001, |random| [random.unit() * 90.0, random.unit() * 180.0]);
    let (device, distance) = (put(&stream, &places), zeros::<f32>(&stream, places.len()));
    for squared in [0, 1] {
        let query = Query { centre: [30.0, 90.0], scale: 2.0, squared, _pad: [0; 3] };
        // Two axes for one array.
        run!(module.distances[(4, 13), (64, 1), stream](device, distance, places.len() as i32, query));
        let host = |place: &[f32; 2]| {
            let sum = (f64::from(place[0]) - 30.0).powi(2) + (f64::from(place[1]) - 90.0).powi(2);
            2.0 * if squared == 1 { sum } else { sum.sqrt() }
        };
        let expected: Vec<f64> = places.iter().map(host).collect();
        assert_near("distances", &get(&stream, &distance), &expected, 1e-5);
    }
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Node {
    key: i32,
    value: i32,
    less: DevicePtr<Node>,
    more: DevicePtr<Node>,
}

#[test]
fn a_tree_of_pointers_is_searched() {
    if !follows_pointers() {
        return;
    }
    let (_guard, module, stream) = setting(TEXT, "");
    let mut random = Random(4);
    let mut nodes = zeros::<Node>(&stream, 2000);
    let base = nodes.as_device_ptr();
    let mut tree: Vec<Node> = Vec::new();
    let mut links: Vec<[Option<usize>; 2]> = Vec::new();
    while tree.len() < 2000 {
        let key = random.below(1 << 20) as i32;
        let (mut at, mut free) = (0, tree.is_empty());
        while !free && tree[at].key != key {
            let side = usize::from(key > tree[at].key);
            match links[at][side] {
                Some(next) => at = next,
                None => {
                    links[at][side] = Some(tree.len());
                    let link = if side == 0 { &mut tree[at].less } else { &mut tree[at].more };
                    *link = base.add(links.len());
                    free = true;
                }
            }
        }
        if free {
            let value = tree.len() as i32 * 7;
            tree.push(Node { key, value, less: DevicePtr::NULL, more: DevicePtr::NULL });
            links.push([None; 2]);
        }
    }
    stream.upload(&tree, &mut nodes).unwrap();
    let mut keys: Vec<i32> = tree.iter().map(|node| node.key).collect();
    let mut expected: Vec<i32> = tree.iter().map(|node| node.value).collect();
    for missing in [-1, 1 << 20, i32::MAX] {
        keys.push(missing);
        expected.push(-1);
    }
    let (wanted, values) = (put(&stream, &keys), zeros::<i32>(&stream, keys.len()));
    run!(module.look_up[Dim3::covering(keys.len(), 64), 64, stream](nodes, wanted, values, keys.len() as i32));
    assert_eq!(get(&stream, &values), expected);
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Strided {
    data: DevicePtr<f32>,
    length: u32,
    step: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Job {
    left: Strided,
    right: Strided,
    result: DevicePtr<f32>,
}

#[test]
fn structs_in_structs_point_at_other_allocations() {
    if !follows_pointers() {
        return;
    }
    let (_guard, module, stream) = setting(TEXT, "");
    let mut random = Random(5);
    let (a, b) = (random.units(4000), random.units(900));
    let (left, right) = (put(&stream, &a), put(&stream, &b));
    let results = zeros::<f32>(&stream, 100);
    let job = |at: usize| Job {
        left: Strided { data: left.as_device_ptr().add(at), length: 10 + at as u32, step: 3 },
        right: Strided { data: right.as_device_ptr().add(2 * at), length: 90, step: 5 },
        result: results.as_device_ptr().add(99 - at),
    };
    let jobs = put(&stream, &(0..100).map(job).collect::<Vec<_>>());
    run!(module.dot_jobs[2, 64, stream](jobs, 100u32));
    let dot = |at: usize| {
        (0..(10 + at).min(90)).map(|i| f64::from(a[at + 3 * i]) * f64::from(b[2 * at + 5 * i])).sum::<f64>()
    };
    let expected: Vec<f64> = (0..100).rev().map(dot).collect();
    assert_near("dots", &get(&stream, &results), &expected, 1e-5);
}
