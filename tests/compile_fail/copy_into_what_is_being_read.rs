//! A guard's elements do not change under it.

use gridcl::{DeviceBuffer, PinnedBuffer, Stream};

fn take(stream: &Stream, there: &DeviceBuffer<u32>, mut host: PinnedBuffer<u32>) -> gridcl::Result<u32> {
    let elements = host.read()?;
    stream.copy(there, &mut host)?;
    Ok(elements[0])
}

fn main() {}
