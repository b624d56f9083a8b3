//! A copy would read while the program writes.

use gridcl::{DeviceBuffer, PinnedBuffer, Stream};

fn give(stream: &Stream, there: &mut DeviceBuffer<u32>, mut host: PinnedBuffer<u32>) -> gridcl::Result<()> {
    let mut elements = host.write()?;
    stream.copy(&host, there)?;
    elements[0] = 1;
    Ok(())
}

fn main() {}
