//! Runs the program.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a command may take; far beyond what a slow machine needs.
const PATIENCE: Duration = Duration::from_secs(120);

/// The program with arguments, in a folder; nothing of this process's settings for gridcl but the memory form.
pub(crate) fn gridcl(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridcl"));
    command.args(arguments).env_remove("GRIDCL_TRACE").env_remove("GRIDCL_LOG").env("GRIDCL_CACHE", "0");
    command
}

/// How a command ended.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}:\n{}\n{}", self.out, self.err))
    }

    #[track_caller]
    pub(crate) fn with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "\n{}\n{}", self.out, self.err);
        self
    }
}

/// Runs a command to its end. One at a time: PoCL's cache does not bear many processes at once.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> Ended {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let output = output(command);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints UTF-8");
    Ended { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

/// What a command printed by its end, which has to come in time.
#[track_caller]
pub(crate) fn output(command: &mut Command) -> Output {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let id = child.id();
    let (sender, answer) = std::sync::mpsc::channel();
    // Read by a thread of its own, so that a full pipe holds nothing up.
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let start = Instant::now();
    match answer.recv_timeout(PATIENCE) {
        Ok(output) => output.expect("the program's output"),
        Err(_) => {
            // SAFETY: the child has not been waited for, so the number is still its own.
            unsafe { libc::kill(id as libc::pid_t, libc::SIGKILL) };
            panic!("{command:?} did not end within {:?}", start.elapsed());
        }
    }
}

/// Writes a file of a test's folder and answers its path.
pub(crate) fn write(folder: &Path, name: &str, contents: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    std::fs::write(&path, contents).expect("to write a file");
    path.to_str().expect("a path").to_owned()
}
