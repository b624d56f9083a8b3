//! Programs in processes of their own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a program may take; far beyond what a slow machine needs.
const PATIENCE: Duration = Duration::from_secs(120);

const MARK: &str = "GRIDCL_TEST_PROGRAM";

/// Whether this process was started to run the program of that name.
pub(crate) fn is(name: &str) -> bool {
    std::env::var(MARK).is_ok_and(|asked| asked == name)
}

/// A folder that a test has for itself.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Runs a program with more variables, in a folder, to its end.
pub(crate) fn run(name: &str, folder: &Path, variables: &[(&str, &str)]) -> Output {
    // PoCL's cache of compiled kernels does not bear many processes at once.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.args(["--exact", &format!("programs::{name}"), "--nocapture", "--test-threads=1"]);
    command.env(MARK, name).env_remove("GRIDCL_TRACE").envs(variables.iter().copied()).current_dir(folder);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a child");
    let start = Instant::now();
    while child.try_wait().expect("the child's state").is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().expect("to end the child");
            panic!("{name} did not end in time");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("what it said")
}

/// Runs a program that has to succeed, traced; answers its file.
#[track_caller]
pub(crate) fn traced(name: &str, folder: &Path, variables: &[(&str, &str)]) -> PathBuf {
    let file = folder.join("out.json");
    let variables = [variables, &[("GRIDCL_TRACE", file.to_str().expect("a path"))]].concat();
    let output = run(name, folder, &variables);
    let said = |bytes| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{name}: {}\n{}\n{}", output.status, said(&output.stdout), said(&output.stderr));
    assert!(said(&output.stdout).contains("1 passed"), "{name} is a program: {}", said(&output.stdout));
    file
}
