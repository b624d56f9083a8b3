//! What is written to is borrowed for writing.

use gridcl::{DeviceBuffer, Stream};

fn twice(stream: &Stream, from: &DeviceBuffer<u32>, to: &DeviceBuffer<u32>) -> gridcl::Result<()> {
    stream.copy(from, to)
}

fn main() {}
