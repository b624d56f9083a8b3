//! How `libgridcl.so` is linked: under its plain name, and never unloaded, since the OpenCL driver that it loads keeps
//! threads and cannot be.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Only ELF knows these two.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libgridcl.so");
    }
}
