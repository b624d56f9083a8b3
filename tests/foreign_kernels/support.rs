//! What all of these tests need: a device with a module, launches in one line, numbers, comparison.

use bytemuck::Pod;
use gridcl::testing::{Guard, guard};
use gridcl::{Device, DeviceBuffer, Module, Stream};

/// Launches a kernel of a module: `run!(module.name[grid, block, stream](arguments))`.
macro_rules! run {
    ($module:ident.$kernel:ident[$grid:expr, $block:expr, $stream:expr]($($argument:expr),* $(,)?)) => {{
        let kernel = $module.kernel(stringify!($kernel)).unwrap();
        unsafe { kernel.launch($grid, $block).stream(&$stream)$(.arg(&$argument))*.run() }.unwrap()
    }};
}

/// A test's turn, a stream of the first device, and a module for it.
pub fn setting(source: &str, options: &str) -> (Guard, Module, Stream) {
    let guard = guard();
    let device = device();
    let module = Module::with_options(device, source, options).unwrap_or_else(|error| panic!("{error}"));
    (guard, module, device.create_stream().unwrap())
}

/// The first device.
pub fn device() -> Device {
    Device::get(0).expect("an OpenCL device; run ./setup.sh")
}

/// Whether the first device's compiler has an extension; says so where it has not.
pub fn has(extension: &str) -> bool {
    let text = format!(
        "#ifndef {extension}\n#error it is not there\n#endif\n__kernel void probe(__global int *x) {{ x[0] = 1; }}"
    );
    let there = Module::from_source(device(), &text).is_ok();
    if !there {
        eprintln!("skipped: {} has no {extension}", device());
    }
    there
}

/// Whether kernels can follow pointers that lie in memory; says so where they cannot.
pub fn follows_pointers() -> bool {
    let there = device().memory_form() != "buffer";
    if !there {
        eprintln!("skipped: no pointers in memory in form buffer");
    }
    there
}

/// Device memory with a copy of `data`.
pub fn put<T: Pod>(stream: &Stream, data: &[T]) -> DeviceBuffer<T> {
    DeviceBuffer::from_slice(stream, data).unwrap()
}

/// Device memory of so many zeros.
pub fn zeros<T: Pod>(stream: &Stream, len: usize) -> DeviceBuffer<T> {
    DeviceBuffer::zeroed(stream, len).unwrap()
}

/// What is in device memory.
pub fn get<T: Pod>(stream: &Stream, buffer: &DeviceBuffer<T>) -> Vec<T> {
    buffer.to_vec(stream).unwrap()
}

/// Numbers that look like chance and are the same in each run.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32 ^ (self.0 >> 13) as u32
    }

    pub fn below(&mut self, end: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(end)) >> 32) as u32
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f32 {
        self.below(1 << 24) as f32 / (1 << 24) as f32
    }

    pub fn units(&mut self, len: usize) -> Vec<f32> {
        (0..len).map(|_| self.unit()).collect()
    }

    pub fn list<T>(&mut self, len: usize, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..len).map(|_| one(self)).collect()
    }
}

/// Asserts that numbers agree, up to `tolerance` of 1 and of their size.
#[track_caller]
pub fn assert_near<D: Copy + Into<f64>, H: Copy + Into<f64>>(what: &str, device: &[D], host: &[H], tolerance: f64) {
    assert_eq!(device.len(), host.len(), "{what}: as many on both sides");
    for (i, (&device, &host)) in device.iter().zip(host).enumerate() {
        let (device, host): (f64, f64) = (device.into(), host.into());
        let near = (device - host).abs() <= tolerance * (1.0 + host.abs());
        assert!(near, "{what}: element {i} is {device}, and {host} on the host");
    }
}
