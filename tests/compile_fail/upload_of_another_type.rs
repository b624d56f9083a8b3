//! A buffer of numbers of one type takes no others.

use gridcl::{DeviceBuffer, Stream};

fn fill(stream: &Stream, target: &mut DeviceBuffer<u32>) -> gridcl::Result<()> {
    stream.upload(&[1.0_f32, 2.0], target)
}

fn main() {}
