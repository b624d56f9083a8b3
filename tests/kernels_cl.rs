//! The kernels of `kernels_cl/`, through the safe functions of `examples/kernels`, against plain code for the host:
//! sizes on both sides of each block, odd shapes, values that are no ordinary numbers, millions of elements.
//!
//! One binary that reads no files, so that a machine without Rust can be handed it.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test says what it expects by failing")]

#[path = "../examples/kernels/mod.rs"]
mod kernels;

use gridcl::prelude::*;
use gridcl::testing::{Guard, guard};
use gridcl::{ErrorKind, Result};
use kernels::*;
use std::fmt::Debug;
use std::iter::Sum;

/// Lengths around blocks of 256 and tiles of 1024, and some that take more blocks than a grid has.
const LENGTHS: [usize; 14] = [0, 1, 2, 3, 255, 256, 257, 1000, 1023, 1024, 1025, 4097, 70_001, 3_000_001];

/// A test's turn, the first device, and a stream there.
fn setting() -> (Guard, Device, Stream) {
    let guard = guard();
    let device = Device::get(0).expect("an OpenCL device; run ./setup.sh");
    let stream = device.create_stream().unwrap();
    (guard, device, stream)
}

/// Numbers that look like chance and are the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32) as u32
    }

    fn below(&mut self, end: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(end)) >> 32) as u32
    }

    /// From -1 to 1.
    fn signed(&mut self) -> f32 {
        self.below(1 << 24) as f32 / (1 << 23) as f32 - 1.0
    }

    /// Small whole numbers, whose sums are exact in any order.
    fn whole(&mut self, len: usize) -> Vec<f32> {
        (0..len).map(|_| self.below(9) as f32 - 4.0).collect()
    }

    fn list<T>(&mut self, len: usize, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..len).map(|_| one(self)).collect()
    }
}

#[track_caller]
fn refused<T>(outcome: Result<T>, kind: ErrorKind, text: &str) {
    let error = outcome.err().expect("a refusal");
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(text), "{text:?} in: {error}");
}

#[track_caller]
fn assert_near(what: &str, device: &[f32], host: &[f64], tolerance: f64) {
    assert_eq!(device.len(), host.len(), "{what}");
    for (i, (&device, &host)) in device.iter().zip(host).enumerate() {
        let near = (f64::from(device) - host).abs() <= tolerance * (1.0 + host.abs());
        assert!(near, "{what}: element {i} is {device}, and {host} on the host");
    }
}

// --- Vectors and matrices ------------------------------------------------------------------------------------------

#[test]
fn vectors_of_any_length_are_added() {
    let (_guard, device, stream) = setting();
    let (linear, mut random) = (Linear::new(device).unwrap(), Random(1));
    for n in LENGTHS {
        let (x, y) = (random.whole(n), random.whole(n));
        let a = DeviceBuffer::from_slice(&stream, &x).unwrap();
        let mut b = DeviceBuffer::from_slice(&stream, &y).unwrap();
        let mut sum = DeviceBuffer::zeroed(&stream, n).unwrap();
        linear.add(&stream, &a, &b, &mut sum).unwrap();
        linear.saxpy(&stream, -2.5, &a, &mut b).unwrap();
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
        assert!(sum.to_vec(&stream).unwrap() == expected, "sum of {n}");
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| -2.5 * x + y).collect();
        assert!(b.to_vec(&stream).unwrap() == expected, "saxpy of {n}");
    }
}

#[test]
fn infinities_and_nans_go_through_a_saxpy() {
    let (_guard, device, stream) = setting();
    let linear = Linear::new(device).unwrap();
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let x = DeviceBuffer::from_slice(&stream, &[inf, nan, 0.0, inf, f32::MAX, -0.0]).unwrap();
    let mut y = DeviceBuffer::from_slice(&stream, &[1.0, 1.0, nan, -inf, f32::MAX, -0.0f32]).unwrap();
    linear.saxpy(&stream, 1.0, &x, &mut y).unwrap();
    let y = y.to_vec(&stream).unwrap();
    assert_eq!(y[0], inf);
    assert!(y[1..4].iter().all(|y| y.is_nan()), "{y:?}");
    assert_eq!(y[4], inf);
    assert_eq!(y[5].to_bits(), (-0.0f32).to_bits());
}

#[test]
fn vectors_of_different_lengths_are_refused() {
    let (_guard, device, stream) = setting();
    let linear = Linear::new(device).unwrap();
    let a = DeviceBuffer::from_slice(&stream, &[1.0f32; 4]).unwrap();
    let mut short = DeviceBuffer::from_slice(&stream, &[1.0f32; 3]).unwrap();
    let mut same = DeviceBuffer::from_slice(&stream, &[1.0f32; 4]).unwrap();
    refused(linear.add(&stream, &a, &short, &mut same), ErrorKind::InvalidValue, "b = 3 elements");
    refused(linear.add(&stream, &a, &a, &mut short), ErrorKind::InvalidValue, "sum = 3 elements");
    refused(linear.saxpy(&stream, 1.0, &a, &mut short), ErrorKind::InvalidValue, "y = 3 elements: it needs 4");
    assert_eq!(short.to_vec(&stream).unwrap(), [1.0; 3], "nothing ran");
}

/// Rows, inner side and columns: of one tile, around it, long, thin and empty.
const PRODUCTS: [[usize; 3]; 11] = [
    [1, 1, 1],
    [16, 16, 16],
    [15, 17, 16],
    [17, 15, 33],
    [1, 300, 1],
    [65, 1, 70],
    [130, 257, 66],
    [1, 1, 1000],
    [3, 0, 5],
    [0, 4, 4],
    [4, 4, 0],
];

#[test]
fn products_of_matrices_of_odd_shapes_are_right() {
    let (_guard, device, stream) = setting();
    let (linear, mut random) = (Linear::new(device).unwrap(), Random(2));
    for [rows, inner, columns] in PRODUCTS {
        let (a, b) = (random.whole(rows * inner), random.whole(inner * columns));
        let left = Matrix::new(&stream, [rows, inner], &a).unwrap();
        let right = Matrix::new(&stream, [inner, columns], &b).unwrap();
        let product = linear.product(&stream, &left, &right).unwrap();
        assert_eq!(product.shape(), [rows, columns]);
        let cell = |at: usize| (0..inner).map(|k| a[at / columns * inner + k] * b[k * columns + at % columns]).sum();
        let expected: Vec<f32> = (0..rows * columns).map(cell).collect();
        // A sum of nothing is -0 on the host; it equals 0.
        assert!(product.to_vec(&stream).unwrap() == expected, "{rows} x {inner} x {columns}");
    }
}

#[test]
fn a_nan_stays_in_the_rows_and_columns_that_it_belongs_to() {
    let (_guard, device, stream) = setting();
    let linear = Linear::new(device).unwrap();
    let mut a = vec![1.0f32; 20 * 19];
    a[7 * 19 + 18] = f32::NAN;
    let left = Matrix::new(&stream, [20, 19], &a).unwrap();
    let right = Matrix::new(&stream, [19, 18], &[1.0; 19 * 18]).unwrap();
    let product = linear.product(&stream, &left, &right).unwrap().to_vec(&stream).unwrap();
    for (at, value) in product.into_iter().enumerate() {
        if at / 18 == 7 { assert!(value.is_nan(), "{at}") } else { assert_eq!(value, 19.0, "{at}") }
    }
}

#[test]
fn matrices_that_do_not_fit_are_refused() {
    let (_guard, device, stream) = setting();
    let linear = Linear::new(device).unwrap();
    refused(Matrix::new(&stream, [2, 3], &[0.0; 5]).map(drop), ErrorKind::InvalidValue, "2 rows of 3 are not 5");
    refused(Matrix::new(&stream, [usize::MAX, 2], &[0.0; 4]).map(drop), ErrorKind::InvalidValue, "are not 4 elements");
    let a = Matrix::new(&stream, [2, 3], &[0.0; 6]).unwrap();
    refused(linear.product(&stream, &a, &a).map(drop), ErrorKind::InvalidValue, "b = 2 rows");
}

#[test]
fn matrices_of_any_shape_are_transposed() {
    let (_guard, device, stream) = setting();
    let linear = Linear::new(device).unwrap();
    for [rows, columns] in
        [[1, 1], [32, 32], [31, 33], [33, 31], [1, 5000], [5000, 1], [8, 100], [1031, 517], [0, 3], [3, 0]]
    {
        let from: Vec<f32> = (0..rows * columns).map(|at| at as f32).collect();
        let matrix = Matrix::new(&stream, [rows, columns], &from).unwrap();
        let turned = linear.transpose(&stream, &matrix).unwrap();
        assert_eq!(turned.shape(), [columns, rows]);
        let expected: Vec<f32> = (0..rows * columns).map(|at| from[at % rows * columns + at / rows]).collect();
        assert!(turned.to_vec(&stream).unwrap() == expected, "{rows} x {columns}");
        let back = linear.transpose(&stream, &turned).unwrap();
        assert!(back.to_vec(&stream).unwrap() == from, "{rows} x {columns} and back");
    }
}

// --- Reductions, histograms and scans ------------------------------------------------------------------------------

/// Sum, least and greatest of whole numbers of one type; the sums stay within the type.
fn whole_numbers_reduce<T>(device: Device, stream: &Stream, from: impl Fn(u32) -> T)
where
    T: Number + Ord + Debug + Sum<T>,
{
    let (reduction, mut random) = (Reduction::<T>::new(device).unwrap(), Random(3));
    for n in LENGTHS {
        let data = random.list(n, |random| from(random.below(512)));
        let buffer = DeviceBuffer::from_slice(stream, &data).unwrap();
        assert_eq!(reduction.sum(stream, &buffer).unwrap(), data.iter().copied().sum(), "sum of {n} {}", T::NAME);
        assert_eq!(reduction.min(stream, &buffer).unwrap(), data.iter().copied().min(), "least of {n} {}", T::NAME);
        assert_eq!(reduction.max(stream, &buffer).unwrap(), data.iter().copied().max(), "greatest of {n} {}", T::NAME);
    }
}

#[test]
fn reductions_of_whole_numbers_are_exact() {
    let (_guard, device, stream) = setting();
    whole_numbers_reduce(device, &stream, |number| number as i32 - 256);
    whole_numbers_reduce(device, &stream, |number| number);
    whole_numbers_reduce(device, &stream, |number| i64::from(number) << 32);
    whole_numbers_reduce(device, &stream, |number| u64::from(number) << 31);
}

#[test]
fn reductions_reach_the_ends_of_their_types() {
    let (_guard, device, stream) = setting();
    let reduction = Reduction::<i32>::new(device).unwrap();
    let mut data = vec![0; 1000];
    (data[0], data[999]) = (i32::MAX, i32::MIN);
    let buffer = DeviceBuffer::from_slice(&stream, &data).unwrap();
    assert_eq!(reduction.min(&stream, &buffer).unwrap(), Some(i32::MIN));
    assert_eq!(reduction.max(&stream, &buffer).unwrap(), Some(i32::MAX));
    assert_eq!(reduction.sum(&stream, &buffer).unwrap(), -1);
    let buffer = DeviceBuffer::from_slice(&stream, &[u32::MAX, 3, 0]).unwrap();
    assert_eq!(Reduction::<u32>::new(device).unwrap().sum(&stream, &buffer).unwrap(), 2, "unsigned sums wrap");
}

#[test]
fn sums_of_floats_are_near_the_exact_ones() {
    let (_guard, device, stream) = setting();
    let (reduction, mut random) = (Reduction::<f32>::new(device).unwrap(), Random(4));
    for n in LENGTHS {
        let data = random.list(n, Random::signed);
        let buffer = DeviceBuffer::from_slice(&stream, &data).unwrap();
        let exact: f64 = data.iter().map(|&x| f64::from(x)).sum();
        let sum = f64::from(reduction.sum(&stream, &buffer).unwrap());
        assert!((sum - exact).abs() <= 1e-7 * n as f64, "{n}: {sum} and {exact}");
        assert_eq!(reduction.min(&stream, &buffer).unwrap(), data.iter().copied().reduce(f32::min));
        assert_eq!(reduction.max(&stream, &buffer).unwrap(), data.iter().copied().reduce(f32::max));
    }
}

#[test]
fn nans_are_passed_over_and_infinities_counted() {
    let (_guard, device, stream) = setting();
    let reduction = Reduction::<f32>::new(device).unwrap();
    let of = |data: &[f32]| {
        let buffer = DeviceBuffer::from_slice(&stream, data).unwrap();
        [reduction.min(&stream, &buffer), reduction.max(&stream, &buffer)].map(|end| end.unwrap().unwrap())
    };
    let mut data = vec![f32::NAN; 700];
    assert!(of(&data).iter().all(|end| end.is_nan()));
    (data[300], data[699]) = (2.0, -3.0);
    assert_eq!(of(&data), [-3.0, 2.0]);
    (data[1], data[2]) = (f32::INFINITY, f32::NEG_INFINITY);
    assert_eq!(of(&data), [f32::NEG_INFINITY, f32::INFINITY]);
    let buffer = DeviceBuffer::from_slice(&stream, &data).unwrap();
    assert!(reduction.sum(&stream, &buffer).unwrap().is_nan());
}

#[test]
fn doubles_are_reduced_and_scanned_where_the_device_has_them() {
    let (_guard, device, stream) = setting();
    let probe = "#ifndef cl_khr_fp64\n#error\n#endif\n__kernel void k(__global double *x) { x[0] = 1; }";
    if Module::from_source(device, probe).is_err() {
        eprintln!("skipped: {device} has no double");
        return;
    }
    // Whole numbers that float cannot tell apart.
    let data: Vec<f64> = (0..5000).map(|i| f64::from(i) + 1e9).collect();
    let buffer = DeviceBuffer::from_slice(&stream, &data).unwrap();
    let reduction = Reduction::<f64>::new(device).unwrap();
    assert_eq!(reduction.sum(&stream, &buffer).unwrap(), data.iter().sum());
    assert_eq!(reduction.max(&stream, &buffer).unwrap(), Some(1_000_004_999.0));
    let mut to = DeviceBuffer::zeroed(&stream, data.len()).unwrap();
    Scan::<f64>::new(device).unwrap().inclusive(&stream, &buffer, &mut to).unwrap();
    assert_eq!(to.to_vec(&stream).unwrap(), running_sums(&data, |a, b| a + b));
}

#[test]
fn histograms_count_each_byte_once() {
    let (_guard, device, stream) = setting();
    let (histogram, mut random) = (Histogram::new(device).unwrap(), Random(5));
    for n in LENGTHS {
        let data = random.list(n, |random| (random.next() >> 13) as u8);
        let mut expected = vec![0u32; 256];
        data.iter().for_each(|&byte| expected[usize::from(byte)] += 1);
        let buffer = DeviceBuffer::from_slice(&stream, &data).unwrap();
        let mut bins = histogram.count(&stream, &buffer).unwrap();
        assert_eq!(bins.to_vec(&stream).unwrap(), expected, "{n}");
        histogram.add(&stream, &buffer, &mut bins).unwrap();
        expected.iter_mut().for_each(|bin| *bin *= 2);
        assert_eq!(bins.to_vec(&stream).unwrap(), expected, "{n} twice");
    }
}

#[test]
fn a_histogram_of_one_value_has_one_full_bin() {
    let (_guard, device, stream) = setting();
    let histogram = Histogram::new(device).unwrap();
    let buffer = DeviceBuffer::from_slice(&stream, &vec![255u8; 1_000_003]).unwrap();
    let bins = histogram.count(&stream, &buffer).unwrap().to_vec(&stream).unwrap();
    assert_eq!((bins[255], bins[..255].iter().sum()), (1_000_003, 0u32));
    let mut few = DeviceBuffer::zeroed(&stream, 255).unwrap();
    refused(histogram.add(&stream, &buffer, &mut few), ErrorKind::InvalidValue, "bins = 255: there are 256 bins");
}

fn running_sums<T: Copy>(data: &[T], add: impl Fn(T, T) -> T) -> Vec<T> {
    let mut sums: Vec<T> = Vec::with_capacity(data.len());
    data.iter().for_each(|&x| sums.push(sums.last().map_or(x, |&sum| add(sum, x))));
    sums
}

/// All four scans of whole numbers of one type, whose sums may wrap.
fn whole_numbers_scan<T: Number + Debug>(
    device: Device,
    stream: &Stream,
    mut one: impl FnMut(&mut Random) -> T,
    add: impl Fn(T, T) -> T,
) {
    let (scan, mut random) = (Scan::<T>::new(device).unwrap(), Random(6));
    // From the last on three levels.
    for n in LENGTHS.into_iter().chain([1024 * 1024, 1024 * 1024 + 1]) {
        let data = random.list(n, &mut one);
        let inclusive = running_sums(&data, &add);
        let mut exclusive = vec![T::zeroed(); n.min(1)];
        exclusive.extend(&inclusive[..n.saturating_sub(1)]);
        let from = DeviceBuffer::from_slice(stream, &data).unwrap();
        let mut to = DeviceBuffer::zeroed(stream, n).unwrap();
        scan.inclusive(stream, &from, &mut to).unwrap();
        assert!(to.to_vec(stream).unwrap() == inclusive, "inclusive, {n} {}", T::NAME);
        scan.exclusive(stream, &from, &mut to).unwrap();
        assert!(to.to_vec(stream).unwrap() == exclusive, "exclusive, {n} {}", T::NAME);
        assert!(from.to_vec(stream).unwrap() == data, "the source stays, {n} {}", T::NAME);
        let mut both = DeviceBuffer::from_slice(stream, &data).unwrap();
        scan.inclusive_in_place(stream, &mut both).unwrap();
        assert!(both.to_vec(stream).unwrap() == inclusive, "inclusive in place, {n} {}", T::NAME);
        let mut both = from;
        scan.exclusive_in_place(stream, &mut both).unwrap();
        assert!(both.to_vec(stream).unwrap() == exclusive, "exclusive in place, {n} {}", T::NAME);
    }
}

#[test]
fn scans_of_any_length_are_exact_for_whole_numbers() {
    let (_guard, device, stream) = setting();
    whole_numbers_scan(device, &stream, |random| random.next(), u32::wrapping_add);
    whole_numbers_scan(device, &stream, |random| random.below(201) as i32 - 100, i32::wrapping_add);
    whole_numbers_scan(device, &stream, |random| random.below(5) as f32 - 2.0, |a, b| a + b);
}

#[test]
fn scans_of_floats_are_near_the_exact_ones() {
    let (_guard, device, stream) = setting();
    let data = Random(7).list(1_500_000, Random::signed);
    let from = DeviceBuffer::from_slice(&stream, &data).unwrap();
    let mut to = DeviceBuffer::zeroed(&stream, data.len()).unwrap();
    Scan::<f32>::new(device).unwrap().inclusive(&stream, &from, &mut to).unwrap();
    let exact = running_sums(&data.iter().map(|&x| f64::from(x)).collect::<Vec<_>>(), |a, b| a + b);
    assert_near("running sums", &to.to_vec(&stream).unwrap(), &exact, 1e-3);
    let mut short = DeviceBuffer::zeroed(&stream, 7).unwrap();
    let scan = Scan::<f32>::new(device).unwrap();
    refused(scan.inclusive(&stream, &from, &mut short), ErrorKind::InvalidValue, "to = 7 elements");
}

// --- Sorting -------------------------------------------------------------------------------------------------------

/// Sorts keys with their places for values, and compares with the stable sort of the host.
#[track_caller]
fn assert_sorts(sort: &RadixSort, stream: &Stream, what: &str, keys: &[u32]) {
    let places: Vec<u32> = (0..keys.len() as u32).collect();
    let mut expected = places.clone();
    expected.sort_by_key(|&place| keys[place as usize]);
    let mut sorted = DeviceBuffer::from_slice(stream, keys).unwrap();
    let mut values = DeviceBuffer::from_slice(stream, &places).unwrap();
    sort.sort(stream, &mut sorted, &mut values).unwrap();
    assert!(values.to_vec(stream).unwrap() == expected, "values, {what}, {} keys", keys.len());
    let expected: Vec<u32> = expected.iter().map(|&place| keys[place as usize]).collect();
    assert!(sorted.to_vec(stream).unwrap() == expected, "keys, {what}, {} keys", keys.len());
}

#[test]
fn keys_of_any_number_are_sorted_with_their_values() {
    let (_guard, device, stream) = setting();
    let (sort, mut random) = (RadixSort::new(device).unwrap(), Random(8));
    for n in LENGTHS.into_iter().filter(|&n| n < 1_000_000).chain([1_200_007]) {
        assert_sorts(&sort, &stream, "random", &random.list(n, Random::next));
    }
}

#[test]
fn equal_keys_keep_their_order() {
    let (_guard, device, stream) = setting();
    let (sort, mut random) = (RadixSort::new(device).unwrap(), Random(9));
    for n in [2, 257, 1025, 40_000] {
        assert_sorts(&sort, &stream, "three values", &random.list(n, |random| random.below(3) << 15));
        assert_sorts(&sort, &stream, "one value", &vec![0xdead_beef; n]);
    }
}

#[test]
fn order_on_arrival_and_the_ends_of_the_range_do_not_matter() {
    let (_guard, device, stream) = setting();
    let sort = RadixSort::new(device).unwrap();
    let rising: Vec<u32> = (0..10_000).map(|i| i * 400_000).collect();
    assert_sorts(&sort, &stream, "sorted", &rising);
    assert_sorts(&sort, &stream, "reversed", &rising.iter().rev().copied().collect::<Vec<_>>());
    let ends: Vec<u32> = (0..3000).map(|i| [u32::MAX, 0, 1 << 31, u32::MAX - 1, 1][i % 5]).collect();
    assert_sorts(&sort, &stream, "ends", &ends);
    let mut keys = DeviceBuffer::from_slice(&stream, &ends).unwrap();
    let mut values = DeviceBuffer::zeroed(&stream, 2).unwrap();
    refused(sort.sort(&stream, &mut keys, &mut values), ErrorKind::InvalidValue, "values = 2 elements");
}

#[test]
fn sorts_in_two_streams_do_not_share_their_temporary_memory() {
    let (_guard, device, stream) = setting();
    let other = device.create_stream().unwrap();
    let (sort, mut random) = (RadixSort::new(device).unwrap(), Random(10));
    let lists: Vec<Vec<u32>> = (0..6).map(|_| random.list(30_000, Random::next)).collect();
    let under_way: Vec<_> = lists
        .iter()
        .zip([&stream, &other].into_iter().cycle())
        .map(|(keys, stream)| {
            let mut sorted = DeviceBuffer::from_slice(stream, keys).unwrap();
            let mut values = DeviceBuffer::from_slice(stream, keys).unwrap();
            sort.sort(stream, &mut sorted, &mut values).unwrap();
            (stream, sorted, values)
        })
        .collect();
    for (mut keys, (stream, sorted, values)) in lists.into_iter().zip(under_way) {
        keys.sort_unstable();
        assert!(sorted.to_vec(stream).unwrap() == keys);
        assert!(values.to_vec(stream).unwrap() == keys);
    }
}

// --- Grids and bodies ----------------------------------------------------------------------------------------------

/// The convolution as its definition has it.
fn convolve_on_host(
    [height, width]: [usize; 2],
    from: &[f32],
    [rows, columns]: [usize; 2],
    filter: &[f32],
) -> Vec<f32> {
    let at = |x: isize, y: isize| {
        let [x, y] = [(x, width), (y, height)].map(|(at, end)| at.clamp(0, end as isize - 1) as usize);
        from[y * width + x]
    };
    let pixel = |x: isize, y: isize| {
        let cell = |k: usize| {
            let (i, j) = (k % columns, k / columns);
            filter[k] * at(x + (columns / 2) as isize - i as isize, y + (rows / 2) as isize - j as isize)
        };
        (0..rows * columns).map(cell).sum()
    };
    (0..height * width).map(|k| pixel((k % width) as isize, (k / width) as isize)).collect()
}

#[test]
fn pictures_are_convolved_with_filters_of_any_odd_shape() {
    let (_guard, device, stream) = setting();
    let (convolution, mut random) = (Convolution::new(device).unwrap(), Random(11));
    for size in [[1, 1], [16, 16], [15, 17], [33, 40], [1, 100], [100, 1], [70, 51], [0, 5]] {
        let picture = random.whole(size[0] * size[1]);
        for shape in [[1, 1], [3, 3], [3, 5], [7, 1], [1, 9], [11, 11]] {
            let weights = random.whole(shape[0] * shape[1]);
            let from = Matrix::new(&stream, size, &picture).unwrap();
            let filter = Matrix::new(&stream, shape, &weights).unwrap();
            let to = convolution.run(&stream, &from, &filter).unwrap().to_vec(&stream).unwrap();
            assert_eq!(to, convolve_on_host(size, &picture, shape, &weights), "{size:?} with {shape:?}");
        }
    }
}

#[test]
fn filters_that_have_no_middle_or_no_room_are_refused() {
    let (_guard, device, stream) = setting();
    let convolution = Convolution::new(device).unwrap();
    let picture = Matrix::new(&stream, [4, 4], &[1.0; 16]).unwrap();
    for shape in [[2, 3], [3, 2], [0, 1]] {
        let filter = Matrix::new(&stream, shape, &vec![1.0; shape[0] * shape[1]]).unwrap();
        refused(convolution.run(&stream, &picture, &filter).map(drop), ErrorKind::InvalidValue, "odd sides");
    }
    let long = device.shared_memory_per_block() as usize / 64 / 2 * 2 + 1;
    let filter = Matrix::new(&stream, [1, long], &vec![1.0; long]).unwrap();
    let outcome = convolution.run(&stream, &picture, &filter).map(drop);
    refused(outcome, ErrorKind::InvalidConfiguration, "sharedMem = ");
}

#[test]
fn heat_spreads_as_on_the_host() {
    let (_guard, device, stream) = setting();
    let (heat, mut random) = (Heat::new(device).unwrap(), Random(12));
    for size in [[1, 1, 1], [3, 3, 3], [2, 5, 7], [33, 5, 3], [40, 30, 20], [70, 9, 8]] {
        let [width, height, depth] = size.map(|side| side as usize);
        let cells = random.list(width * height * depth, Random::signed);
        for steps in [0, 1, 2, 7] {
            let mut volume = Volume::new(&stream, size, &cells).unwrap();
            heat.run(&stream, &mut volume, 0.15, steps).unwrap();
            let mut now: Vec<f64> = cells.iter().map(|&cell| f64::from(cell)).collect();
            for _ in 0..steps {
                let old = now.clone();
                for z in 1..depth.saturating_sub(1) {
                    for y in 1..height.saturating_sub(1) {
                        for x in 1..width.saturating_sub(1) {
                            let at = (z * height + y) * width + x;
                            let around: f64 =
                                [1, width, width * height].map(|by| old[at - by] + old[at + by]).iter().sum();
                            now[at] += f64::from(0.15f32) * (around - 6.0 * old[at]);
                        }
                    }
                }
            }
            let what = format!("{size:?} after {steps} steps");
            assert_near(&what, &volume.cells().to_vec(&stream).unwrap(), &now, 1e-5);
        }
    }
    let mut volume = Volume::new(&stream, [3, 3, 3], &[0.0; 27]).unwrap();
    refused(heat.run(&stream, &mut volume, 0.2, 1), ErrorKind::InvalidValue, "rate = 0.2");
    refused(heat.run(&stream, &mut volume, f32::NAN, 1), ErrorKind::InvalidValue, "rate = NaN");
    refused(Volume::new(&stream, [3, 3, 2], &[0.0; 27]).map(drop), ErrorKind::InvalidValue, "do not fill a box");
}

/// One step of the bodies, in double precision.
fn step_on_host(places: &mut [[f64; 4]], velocities: &mut [[f64; 4]], dt: f64, softening: f64) {
    let old = places.to_vec();
    for (own, velocity) in old.iter().zip(&mut *velocities) {
        for other in &old {
            let away: [f64; 3] = std::array::from_fn(|axis| other[axis] - own[axis]);
            let squared = away.iter().map(|d| d * d).sum::<f64>() + softening * softening;
            let pull = other[3] / (squared * squared.sqrt());
            (0..3).for_each(|axis| velocity[axis] += dt * pull * away[axis]);
        }
    }
    for (place, velocity) in places.iter_mut().zip(velocities) {
        (0..3).for_each(|axis| place[axis] += dt * velocity[axis]);
    }
}

#[test]
fn bodies_move_as_on_the_host() {
    let (_guard, device, stream) = setting();
    let (nbody, mut random) = (NBody::new(device).unwrap(), Random(13));
    for n in [0, 1, 2, 255, 256, 257, 700] {
        let places = random.list(n, |random| [random.signed(), random.signed(), random.signed(), 1.0 / n as f32]);
        let velocities = random.list(n, |random| [random.signed(), random.signed(), random.signed(), 7.0]);
        let mut bodies = Bodies::new(&stream, &places, &velocities).unwrap();
        nbody.run(&stream, &mut bodies, 0.01, 0.05, 3).unwrap();
        let wide = |list: &[[f32; 4]]| list.iter().map(|body| body.map(f64::from)).collect::<Vec<_>>();
        let (mut host, mut speeds) = (wide(&places), wide(&velocities));
        (0..3).for_each(|_| step_on_host(&mut host, &mut speeds, 0.01f32.into(), 0.05f32.into()));
        let [places, velocities] = bodies.to_host(&stream).unwrap();
        assert_near(&format!("places of {n}"), places.as_flattened(), host.as_flattened(), 1e-4);
        assert_near(&format!("velocities of {n}"), velocities.as_flattened(), speeds.as_flattened(), 1e-4);
    }
    let mut two = Bodies::new(&stream, &[[0.0; 4]; 2], &[[0.0; 4]; 2]).unwrap();
    refused(nbody.run(&stream, &mut two, 0.1, 0.0, 1), ErrorKind::InvalidValue, "softening = 0");
    refused(Bodies::new(&stream, &[[0.0; 4]; 2], &[]).map(drop), ErrorKind::InvalidValue, "velocities = 0 elements");
}
