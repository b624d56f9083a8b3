//! A copy may still be writing there: the elements are reached through `read` and `write`.

fn main() {
    let device = gridcl::Device::get(0).unwrap();
    let host = gridcl::PinnedBuffer::<u32>::new(device, 4).unwrap();
    let _first = host[0];
}
