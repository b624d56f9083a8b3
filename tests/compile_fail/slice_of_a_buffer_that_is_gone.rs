//! A part does not outlive the whole.

use gridcl::{DeviceBuffer, Stream};

fn read(stream: &Stream, buffer: DeviceBuffer<u32>) -> gridcl::Result<Vec<u32>> {
    let part = buffer.slice(1..);
    drop(buffer);
    part.to_vec(stream)
}

fn main() {}
