//! `gridcl check` and `gridcl run`.

use crate::program::{gridcl, run, write};

const SAXPY: &str = "// y = a x + y
__kernel void saxpy(float a, __global const float *x, __global float *y, int n) {
    int i = get_global_id(0);
    if (i < n) y[i] += a * x[i];
}
";

/// A `.npy` file of floats as NumPy 1 and 2 write it.
fn npy(values: &[f32]) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}", values.len());
    header.extend(std::iter::repeat_n(' ', 117 - header.len()));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(header.bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|part| f32::from_le_bytes(part.try_into().unwrap())).collect()
}

#[test]
fn check_shows_signatures_and_symbols() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = write(
        folder.path(),
        "a.cl",
        "__constant__ float weights[4];\n__kernel void scale(__global float *x, __local int *tmp, int4 n) { tmp[0] = n.x; x[0] *= weights[tmp[0]]; }\n",
    );
    let text = run(&mut gridcl(&["check", &file])).with(0).out;
    assert!(text.contains("scale(__global float* x, __local int* tmp, int4 n)"), "{text}");
    assert!(text.contains("weights, 16 B"), "{text}");
    let json = run(&mut gridcl(&["check", "--json", &file])).with(0).json();
    assert_eq!(json[0]["kernels"][0]["parameters"][2], "int4 n");
    assert_eq!(json[0]["symbols"][0]["bytes"], 16);
}

#[test]
fn check_shows_errors_with_their_lines_and_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let bad = write(folder.path(), "bad.cl", "__kernel void k(__global int *a)\n{\n    a[0] = foo;\n}\n");
    let good = write(folder.path(), "good.cl", SAXPY);
    let ended = run(&mut gridcl(&["check", &bad, &good])).with(1);
    assert!(ended.err.contains("bad.cl:3:") && ended.err.contains("a[0] = foo;"), "{}", ended.err);
    assert!(ended.out.contains("good.cl: builds"), "{}", ended.out);
    let json = run(&mut gridcl(&["check", "--json", &bad, &good])).with(1).json();
    assert_eq!((&json[0]["builds"], &json[1]["builds"]), (&false.into(), &true.into()));
    // What is missing can be given.
    run(&mut gridcl(&["check", "-D", "foo=7", &bad])).with(0);
    run(&mut gridcl(&["check", "no_such_file.cl"])).with(1);
}

#[test]
fn run_takes_and_gives_npy_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = write(folder.path(), "saxpy.cl", SAXPY);
    let (x, y): (Vec<f32>, Vec<f32>) = ((0..1000).map(|i| i as f32).collect(), vec![0.5; 1000]);
    let x_file = write(folder.path(), "x.npy", npy(&x));
    let y_file = write(folder.path(), "y.npy", npy(&y));
    let out = folder.path().join("out.npy");
    let (x_arg, y_arg) = (format!("@{x_file}"), format!("@{y_file},out={}", out.display()));
    let arguments =
        ["run", &kernel, "saxpy", "--grid", "4", "--block", "256", "-a", "2", "-a", &x_arg, "-a", &y_arg, "-a", "1000"];
    let text = run(&mut gridcl(&arguments)).with(0).out;
    assert!(text.contains("y: 0.5 2.5 4.5 6.5") && text.contains("(992 more)"), "{text}");
    let bytes = std::fs::read(&out).expect("the result");
    assert_eq!(bytes[..128], npy(&x)[..128], "the header is NumPy's own");
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 2.0 * x + y).collect();
    assert_eq!(floats(&bytes[128..]), expected);
}

#[test]
fn run_takes_raw_files_numbers_shared_memory_and_vectors() {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = write(
        folder.path(),
        "mix.cl",
        "__kernel void mix_up(__global uchar *a, __global int *b, __global long *r, __local int *tmp, short4 v, ulong big, char small) {
            int i = get_local_id(0);
            tmp[i] = a[i] + b[i];
            barrier(CLK_LOCAL_MEM_FENCE);
            r[get_global_id(0)] = tmp[get_local_size(0) - 1 - i] * 10 + v.s3 + (long)(big >> 60) + small;
        }",
    );
    let raw = write(folder.path(), "a.bin", [1_u8, 2, 3, 4]);
    let out = folder.path().join("r.bin");
    let (raw, result) = (format!("@{raw}"), format!("zeros:4,out={}", out.display()));
    let big = u64::MAX.to_string();
    let mut arguments = vec!["run", &kernel, "mix_up", "--block", "4"];
    for argument in [&raw, "range:4", &result, "local:16", "1,2,3,-4", &big, "-1"] {
        arguments.extend(["--arg", argument]);
    }
    run(&mut gridcl(&arguments)).with(0);
    let bytes = std::fs::read(&out).expect("the result");
    let values: Vec<i64> = bytes.chunks_exact(8).map(|part| i64::from_le_bytes(part.try_into().unwrap())).collect();
    // a + b is 1, 3, 5, 7; the rest is -4 + 15 - 1.
    assert_eq!(values, [80, 60, 40, 20]);
}

#[test]
fn run_repeats_and_tells_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = write(folder.path(), "saxpy.cl", SAXPY);
    let arguments = [
        "run", &kernel, "saxpy", "-g", "1", "-b", "8", "-r", "5", "-a", "1", "-a", "range:8", "-a", "zeros:8", "-a",
        "8",
    ];
    let text = run(&mut gridcl(&arguments)).with(0).out;
    assert!(text.contains("5 launches: min ") && text.contains("y: 0 5 10 15 20 25 30 35"), "{text}");
    let json = run(&mut gridcl(&[&arguments[..], &["--json"]].concat())).with(0).json();
    assert_eq!((&json["launches"], &json["buffers"][1]["first"][7]), (&5.into(), &"35".into()));
    assert!(json["min_ns"].as_f64() <= json["max_ns"].as_f64());
    let seeded = |seed: &str| {
        let argument = format!("random:4,seed={seed}");
        let arguments = ["run", &kernel, "saxpy", "-a", "0", "-a", &argument, "-a", "zeros:4", "-a", "4", "--json"];
        run(&mut gridcl(&arguments)).with(0).json()["buffers"][0]["first"].clone()
    };
    assert_eq!(seeded("1"), seeded("1"));
    assert_ne!(seeded("1"), seeded("2"));
}

#[test]
fn run_says_what_does_not_fit() {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = write(folder.path(), "saxpy.cl", SAXPY);
    let doubles =
        write(folder.path(), "d.npy", String::from_utf8_lossy(&npy(&[])).replace("f4", "f8").replace('\u{fffd}', ""));
    std::fs::write(&doubles, {
        let mut bytes = npy(&[1.0, 2.0]);
        let at = bytes.windows(2).position(|part| part == b"f4").unwrap();
        bytes[at + 1] = b'8';
        bytes.splice(bytes.len() - 8.., [0; 16]);
        bytes
    })
    .expect("a file");
    let doubles = format!("@{doubles}");
    let with = |arguments: &[&str]| {
        let mut all = vec!["run", &kernel, "saxpy"];
        all.extend(arguments.iter().flat_map(|argument| ["--arg", argument]));
        run(&mut gridcl(&all)).with(1).err
    };
    assert!(with(&["1"]).contains("takes 4 arguments, and 1 are given"));
    assert!(with(&["1", "2", "zeros:4", "4"]).contains("a buffer is given as"));
    assert!(with(&["x", "zeros:4", "zeros:4", "4"]).contains("\"x\" is not a number"));
    assert!(with(&["1", "zeros:4", "zeros:4", "4.5"]).contains("not a value of int"));
    assert!(with(&["1", &doubles, "zeros:4", "4"]).contains("it holds f8, and the parameter takes f4"));
    assert!(with(&["1", "@no_such.npy", "zeros:4", "4"]).contains("no_such.npy"));
    let wrong = run(&mut gridcl(&["run", &kernel, "nosuch"])).with(1).err;
    assert!(wrong.contains("it has: saxpy"), "{wrong}");
    let large = ["run", &kernel, "saxpy", "-b", "1000000", "-a", "1", "-a", "zeros:1", "-a", "zeros:1", "-a", "1"];
    assert!(run(&mut gridcl(&large)).with(1).err.contains("block"));
}
