//! What a kernel does with its buffers is its author's promise.

use gridcl::launch;

fn run(kernel: &gridcl::Kernel) -> gridcl::Result<()> {
    launch!(kernel<<<1, 64>>>(7_u32))
}

fn main() {}
