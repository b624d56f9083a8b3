//! A test's second process, and the lines that the two exchange.
//!
//! The test starts this binary again with its own name; the second process finds [`child::is_child`] true, plays its part
//! in the same test function and passes like any test. Every line is waited for with a time limit, and neither
//! process outlives the other.

use crate::child;
use crate::support::PATIENCE;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

/// Begins a line that is meant for the other process; the harness prints lines of its own.
const SIGN: char = '@';

/// The full name of the test that this stands in.
macro_rules! this_test {
    () => {{
        fn here() {}
        let path = std::any::type_name_of_val(&here).trim_end_matches("::here");
        path.split_once("::").expect("a crate's name").1
    }};
}

/// A second process, as the first one sees it.
pub struct Peer {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Peer {
    /// Starts the test called `name` in a second process.
    pub fn start(name: &str, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("the test binary"));
        command.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(child::MARK, "1");
        command.envs(variables.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a second process");
        let (input, output) = (child.stdin.take().expect("its input"), child.stdout.take().expect("its output"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(text) = line.strip_prefix(SIGN)
                    && sender.send(text.to_owned()).is_err()
                {
                    return;
                }
            }
        });
        Self { child, input, lines }
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Says a line to it.
    pub fn say(&mut self, text: &str) {
        writeln!(self.input, "{text}").expect("the second process listens");
    }

    /// The next line that it says.
    pub fn hear(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("the second process says something")
    }

    /// Waits until it says that.
    pub fn expect(&self, text: &str) {
        assert_eq!(self.hear(), text);
    }

    /// Ends it as it stands, as `kill -9` does.
    pub fn kill(&mut self) {
        self.child.kill().expect("to kill the second process");
        self.child.wait().expect("its end");
    }

    /// Waits for its end, and asserts that it passed.
    pub fn passes(mut self) {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("its state") {
                return assert!(status.success(), "the second process: {status}");
            }
            assert!(start.elapsed() < PATIENCE, "the second process does not end");
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // One that has ended already is none to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// In the second process: says a line to the first.
pub fn say(text: &str) {
    // The harness may have left a line unfinished.
    println!("\n{SIGN}{text}");
}

/// In the second process: the next line that the first one says.
pub fn hear() -> String {
    let mut line = String::new();
    let bytes = std::io::stdin().read_line(&mut line).expect("standard input");
    assert_ne!(bytes, 0, "the first process is gone");
    line.trim_end().to_owned()
}

/// In the second process: waits until the first one says that.
pub fn expect(text: &str) {
    assert_eq!(hear(), text);
}
