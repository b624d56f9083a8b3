//! Bytes from a device are no pointers of the host.

fn main() {
    let device = gridcl::Device::get(0).unwrap();
    let _names = gridcl::PinnedBuffer::<String>::new(device, 4);
}
