//! What must not compile: the safe surface's promises that the compiler keeps, each as a program of a few lines
//! that breaks one.
//!
//! The expected messages beside the programs are those of one compiler. With another one the test is left out;
//! `TRYBUILD=overwrite cargo test --test compile_fail` writes them anew, to be read before they are kept.

/// The compiler whose messages are expected.
const COMPILER: &str = "rustc 1.95.";

#[test]
fn what_breaks_a_promise_does_not_compile() {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = std::process::Command::new(compiler).arg("--version").output().expect("the compiler's version");
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    if !version.starts_with(COMPILER) {
        return eprintln!("skipped: the messages expected are those of {COMPILER}, and this is {version}");
    }
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
