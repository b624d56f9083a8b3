//! Dense algebra (`dense.cl`): long argument lists, two-dimensional launches, triangles, steps by several kernels; in
//! `float` everywhere and in `double` where there is one.

use crate::support::{Random, assert_near, get, has, put, setting, zeros};
use bytemuck::Pod;
use gridcl::{Module, Stream};

const TEXT: &str = include_str!("dense.cl");

/// `float` or `double`.
trait Real: Pod + Into<f64> {
    const NAME: &'static str;
    const TOLERANCE: f64;
    fn of(x: f64) -> Self;
}

impl Real for f32 {
    const NAME: &'static str = "float";
    const TOLERANCE: f64 = 1e-4;
    fn of(x: f64) -> Self {
        x as f32
    }
}

impl Real for f64 {
    const NAME: &'static str = "double";
    const TOLERANCE: f64 = 1e-12;
    fn of(x: f64) -> Self {
        x
    }
}

/// Numbers from 0 to 1, and the same in the kernels' type, of which `f32` holds them exactly.
fn numbers<R: Real>(random: &mut Random, len: usize) -> (Vec<f64>, Vec<R>) {
    let wide: Vec<f64> = random.units(len).into_iter().map(f64::from).collect();
    let real = wide.iter().map(|&x| R::of(x)).collect();
    (wide, real)
}

/// A test for both types of number.
macro_rules! for_reals {
    ($(fn $name:ident<R>($module:ident, $stream:ident) $body:block)*) => {$(
        #[test]
        fn $name() {
            fn check<R: Real>($module: &Module, $stream: &Stream) $body
            {
                let (_guard, module, stream) = setting(TEXT, "-DREAL=float");
                check::<f32>(&module, &stream);
            }
            if has("cl_khr_fp64") {
                let (_guard, module, stream) = setting(TEXT, &format!("-DREAL={}", f64::NAME));
                check::<f64>(&module, &stream);
            }
        }
    )*};
}

for_reals! {
    fn gemm_with_both_factors<R>(module, stream) {
        let (rows, columns, inner) = (37, 53, 29);
        let mut random = Random(1);
        let (a, da) = numbers::<R>(&mut random, rows * inner);
        let (b, db) = numbers::<R>(&mut random, inner * columns);
        let (c, dc) = numbers::<R>(&mut random, rows * columns);
        let (alpha, beta) = (1.5, -0.75);
        let (da, db, dc) = (put(stream, &da), put(stream, &db), put(stream, &dc));
        let sizes = [rows, columns, inner].map(|side| side as i32);
        run!(module.gemm[(2, 5), (32, 8), stream](
            da, db, dc, R::of(alpha), R::of(beta), sizes[0], sizes[1], sizes[2]
        ));
        let cell = |at: usize| {
            let product: f64 = (0..inner).map(|k| a[at / columns * inner + k] * b[k * columns + at % columns]).sum();
            alpha * product + beta * c[at]
        };
        let expected: Vec<f64> = (0..rows * columns).map(cell).collect();
        assert_near(R::NAME, &get(stream, &dc), &expected, R::TOLERANCE);
    }

    fn syrk_on_the_lower_triangle<R>(module, stream) {
        let (m, n) = (20, 45);
        let mut random = Random(2);
        let (a, da) = numbers::<R>(&mut random, n * m);
        let (c, dc) = numbers::<R>(&mut random, n * n);
        let (da, dc) = (put(stream, &da), put(stream, &dc));
        run!(module.syrk[(3, 3), (16, 16), stream](R::of(2.0), R::of(0.5), da, dc, m as i32, n as i32));
        let cell = |at: usize| {
            let (i, j) = (at / n, at % n);
            let product: f64 = (0..m).map(|k| a[i * m + k] * a[j * m + k]).sum();
            if j > i { c[at] } else { 0.5 * c[at] + 2.0 * product }
        };
        let expected: Vec<f64> = (0..n * n).map(cell).collect();
        assert_near(R::NAME, &get(stream, &dc), &expected, R::TOLERANCE);
    }

    fn atax_by_two_kernels<R>(module, stream) {
        let (rows, columns) = (61, 83);
        let mut random = Random(3);
        let (a, da) = numbers::<R>(&mut random, rows * columns);
        let (x, dx) = numbers::<R>(&mut random, columns);
        let (da, dx) = (put(stream, &da), put(stream, &dx));
        let (y, between) = (zeros::<R>(stream, columns), zeros::<R>(stream, rows));
        let sizes = [rows as i32, columns as i32];
        run!(module.atax_rows[1, 64, stream](da, dx, between, sizes[0], sizes[1]));
        run!(module.atax_columns[2, 64, stream](da, y, between, sizes[0], sizes[1]));
        let dot = |i: usize| (0..columns).map(|j| a[i * columns + j] * x[j]).sum::<f64>();
        let products: Vec<f64> = (0..rows).map(dot).collect();
        let expected: Vec<f64> =
            (0..columns).map(|j| (0..rows).map(|i| a[i * columns + j] * products[i]).sum()).collect();
        assert_near(R::NAME, &get(stream, &y), &expected, R::TOLERANCE);
    }

    fn waves_over_many_steps<R>(module, stream) {
        let (nx, ny, steps) = (30, 41, 12);
        let mut random = Random(4);
        let (pulse, dpulse) = numbers::<R>(&mut random, steps);
        let (mut ex, dex) = numbers::<R>(&mut random, nx * ny);
        let (mut ey, dey) = numbers::<R>(&mut random, nx * ny);
        let (mut hz, dhz) = numbers::<R>(&mut random, nx * ny);
        let dpulse = put(stream, &dpulse);
        let (dex, dey, dhz) = (put(stream, &dex), put(stream, &dey), put(stream, &dhz));
        let (grid, block, width, height) = ((2, 4), (32, 8), nx as i32, ny as i32);
        for (t, &now) in pulse.iter().enumerate() {
            run!(module.waves_ey[grid, block, stream](dpulse, dex, dey, dhz, t as i32, width, height));
            run!(module.waves_ex[grid, block, stream](dex, dey, dhz, width, height));
            run!(module.waves_hz[grid, block, stream](dex, dey, dhz, width, height));
            for at in 0..nx * ny {
                let old = if at < ny { 0.0 } else { hz[at] - hz[at - ny] };
                ey[at] = if at < ny { now } else { ey[at] - 0.5 * old };
            }
            (0..nx * ny).filter(|at| at % ny > 0).for_each(|at| ex[at] -= 0.5 * (hz[at] - hz[at - 1]));
            for at in (0..(nx - 1) * ny).filter(|at| at % ny < ny - 1) {
                hz[at] -= 0.7 * (ex[at + 1] - ex[at] + ey[at + ny] - ey[at]);
            }
        }
        for (what, device, host) in [("ex", &dex, &ex), ("ey", &dey, &ey), ("hz", &dhz, &hz)] {
            assert_near(what, &get(stream, device), host, R::TOLERANCE);
        }
    }

    fn covariances_of_columns<R>(module, stream) {
        let (n, m) = (70, 33);
        let (data, ddata) = numbers::<R>(&mut Random(5), n * m);
        let ddata = put(stream, &ddata);
        let (mean, symmetric) = (zeros::<R>(stream, m), zeros::<R>(stream, m * m));
        let (rows, columns) = (n as i32, m as i32);
        run!(module.mean_of_columns[2, 32, stream](mean, ddata, R::of(n as f64), rows, columns));
        run!(module.centre_columns[(2, 9), (32, 8), stream](mean, ddata, rows, columns));
        run!(module.covariance[2, 32, stream](symmetric, ddata, rows, columns));
        let means: Vec<f64> = (0..m).map(|j| (0..n).map(|i| data[i * m + j]).sum::<f64>() / n as f64).collect();
        let cell = |at: usize| {
            let (j, k) = (at / m, at % m);
            let products = (0..n).map(|i| (data[i * m + j] - means[j]) * (data[i * m + k] - means[k]));
            products.sum::<f64>() / (n - 1) as f64
        };
        let expected: Vec<f64> = (0..m * m).map(cell).collect();
        assert_near(R::NAME, &get(stream, &symmetric), &expected, R::TOLERANCE);
    }

    fn gaussian_elimination_solves<R>(module, stream) {
        let size = 40;
        let mut random = Random(6);
        let (mut a, _) = numbers::<R>(&mut random, size * size);
        // Strong diagonals need no pivots.
        (0..size).for_each(|i| a[i * size + i] += 30.0);
        let (x, _) = numbers::<R>(&mut random, size);
        let right: Vec<f64> = (0..size).map(|i| (0..size).map(|j| a[i * size + j] * x[j]).sum()).collect();
        let real = |list: &[f64]| list.iter().map(|&x| R::of(x)).collect::<Vec<R>>();
        let (da, dright) = (put(stream, &real(&a)), put(stream, &real(&right)));
        let factors = zeros::<R>(stream, size * size);
        for t in 0..size as i32 - 1 {
            run!(module.eliminate_factors[1, 64, stream](factors, da, size as i32, t));
            run!(module.eliminate_rows[(3, 3), (16, 16), stream](factors, da, dright, size as i32, t));
        }
        let upper: Vec<f64> = get(stream, &da).into_iter().map(Into::into).collect();
        let mut solved: Vec<f64> = get(stream, &dright).into_iter().map(Into::into).collect();
        for i in (0..size).rev() {
            let known: f64 = (i + 1..size).map(|j| upper[i * size + j] * solved[j]).sum();
            solved[i] = (solved[i] - known) / upper[i * size + i];
        }
        assert_near(R::NAME, &solved, &x, R::TOLERANCE);
    }
}
