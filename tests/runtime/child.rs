//! Tests that may end their process run in one of their own: the test starts this binary again with its own name.

use crate::support::PATIENCE;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

pub const MARK: &str = "GRIDCL_TEST_CHILD";

/// Whether this process is the child.
pub fn is_child() -> bool {
    std::env::var_os(MARK).is_some()
}

/// Runs the test called `name` (its full path) in a child with more variables set, and answers what it printed. The
/// child is killed when it does not end in time.
pub fn run(name: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("the test binary"));
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(MARK, "1");
    command.envs(variables.iter().copied()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // SAFETY: `setrlimit` is safe to call between fork and exec.
    unsafe { command.pre_exec(dump_no_core) };
    let mut child = command.spawn().expect("a child process");
    let start = Instant::now();
    loop {
        if child.try_wait().expect("the child's state").is_some() {
            return child.wait_with_output().expect("the child's output");
        }
        if start.elapsed() > PATIENCE {
            child.kill().expect("to kill the child");
            let output = child.wait_with_output().expect("the child's output");
            panic!("{name} did not end in time:\n{}", String::from_utf8_lossy(&output.stdout));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Some children are meant to be ended by a signal, and would leave hundreds of megabytes behind each time.
fn dump_no_core() -> std::io::Result<()> {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure lives across the call.
    match unsafe { libc::setrlimit(libc::RLIMIT_CORE, &none) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Runs the test called `name` in a child and asserts that it passed there.
pub fn passes(name: &str, variables: &[(&str, &str)]) {
    let output = run(name, variables);
    assert!(
        output.status.success(),
        "{name} in a child: {}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("1 passed"), "{name} is the name of a test:\n{text}");
}
