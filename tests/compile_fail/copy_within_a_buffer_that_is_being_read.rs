//! Views of one buffer cannot be read and written at once; there are two buffers, or a copy through a third.

use gridcl::{PitchedBuffer, Stream};

fn within(stream: &Stream, image: &mut PitchedBuffer<u32>) -> gridcl::Result<()> {
    let left = image.view(..4, .., ..);
    stream.copy(left, image.view_mut(4..8, .., ..))
}

fn main() {}
