//! Which process is which, and whether it still runs.

use crate::error::{Error, ErrorKind, Result};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;

/// A process. Its number is used again after its end; together with its start it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) id: u32,
    /// When it started, in clock ticks since the system did.
    pub(super) start: u64,
}

impl Process {
    /// The calling one.
    pub(super) fn this() -> Result<Self> {
        static THIS: OnceLock<Process> = OnceLock::new();
        if let Some(this) = THIS.get() {
            return Ok(*this);
        }
        let unknown = |cause: &dyn std::fmt::Display| {
            Error::new(ErrorKind::NotSupported, "interprocess events need /proc to tell processes apart")
                .caused_by(format_args!("/proc/self/stat: {cause}"))
        };
        let stat = std::fs::read("/proc/self/stat").map_err(|error| unknown(&error))?;
        let stat = Stat::parse(&stat).ok_or_else(|| unknown(&"no start time"))?;
        Ok(*THIS.get_or_init(|| Self { id: std::process::id(), start: stat.start }))
    }

    /// Whether it still runs. One that ended and was not waited for by its parent does not.
    pub(super) fn is_running(self) -> bool {
        // Opened before the look at the start, so that it cannot be a later process of that number.
        let watch = open_watch(self.id);
        let stat = match std::fs::read(format!("/proc/{}/stat", self.id)) {
            Ok(stat) => stat,
            // Where it cannot be told, it is better to go on waiting.
            Err(error) => return error.kind() != io::ErrorKind::NotFound && error.raw_os_error() != Some(libc::ESRCH),
        };
        match (Stat::parse(&stat), watch) {
            (None, _) => true,
            (Some(stat), _) if stat.start != self.start => false,
            (Some(_), Some(watch)) => !has_ended(&watch),
            (Some(stat), None) => !matches!(stat.state, b'Z' | b'X'),
        }
    }
}

/// What `/proc/PID/stat` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    state: u8,
    pub(super) start: u64,
}

impl Stat {
    /// Reads the file's text. The program's name stands in it in brackets and may hold anything, brackets too.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let behind_name = text.iter().rposition(|&byte| byte == b')')? + 1;
        let mut fields = std::str::from_utf8(text.get(behind_name..)?).ok()?.split_ascii_whitespace();
        // The third field, and the 22nd.
        let state = *fields.next()?.as_bytes().first()?;
        let start = fields.nth(18)?.parse().ok()?;
        Some(Self { state, start })
    }
}

/// A descriptor that tells the end of a process; none on systems before Linux 5.3, or when the process is gone.
fn open_watch(id: u32) -> Option<OwnedFd> {
    // SAFETY: the call takes two numbers.
    let watch = unsafe { libc::syscall(libc::SYS_pidfd_open, libc::c_long::from(id.cast_signed()), 0) };
    let watch = libc::c_int::try_from(watch).ok().filter(|&watch| watch >= 0)?;
    // SAFETY: the call made this descriptor for us.
    Some(unsafe { OwnedFd::from_raw_fd(watch) })
}

fn has_ended(watch: &OwnedFd) -> bool {
    let mut poll = libc::pollfd { fd: watch.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: the list holds the one entry that the call is told of.
    let ready = unsafe { libc::poll(&raw mut poll, 1, 0) };
    ready == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn reads_the_start_behind_any_name() {
        let line = |name: &str| {
            format!("31662 ({name}) R 31657 31657 18451 0 -1 4194304 101 0 0 0 0 0 0 0 20 0 1 0 387962 3133440 413 7\n")
        };
        for name in ["cat", "a b", "(", ")", ") Z 1 1 1 1 1 1", ""] {
            assert_eq!(Stat::parse(line(name).as_bytes()), Some(Stat { state: b'R', start: 387_962 }), "{name:?}");
        }
    }

    #[test]
    fn refuses_texts_that_end_early_or_hold_no_number() {
        for text in
            ["", "1", "1 (cat)", "1 (cat) R 2 3", "1 (c) R 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 late 1", "\u{fffd})"]
        {
            assert_eq!(Stat::parse(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(Stat::parse(b"1 (cat) \xFF 1"), None);
    }

    #[test]
    fn this_process_runs_and_one_of_the_same_number_and_another_start_does_not() {
        let this = Process::this().unwrap();
        assert_eq!(this.id, std::process::id());
        assert!(this.is_running());
        assert!(!Process { start: this.start + 1, ..this }.is_running());
        assert!(!Process { id: u32::MAX, start: 1 }.is_running());
    }

    #[test]
    fn a_process_stops_running_when_it_is_killed_and_not_when_it_is_waited_for() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat");
        let stat = std::fs::read(format!("/proc/{}/stat", child.id())).unwrap();
        let process = Process { id: child.id(), start: Stat::parse(&stat).unwrap().start };
        assert!(process.is_running());
        child.kill().unwrap();
        let start = std::time::Instant::now();
        while process.is_running() {
            assert!(start.elapsed().as_secs() < 60, "the end of a killed process is not seen");
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!process.is_running());
    }
}
