//! Arguments are borrowed until the launch.

fn run(kernel: &gridcl::Kernel) -> gridcl::Result<()> {
    let launch = {
        let number = 7_u32;
        kernel.launch(1, 1).arg(&number)
    };
    unsafe { launch.run() }
}

fn main() {}
