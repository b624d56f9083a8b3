//! Padding has no value that could be copied to a kernel.

#[derive(Clone, Copy)]
#[repr(C)]
struct Padded {
    flag: u8,
    number: u32,
}

fn prepare(kernel: &gridcl::Kernel) {
    let argument = Padded { flag: 1, number: 2 };
    let _launch = kernel.launch(1, 1).arg(&argument);
}

fn main() {}
