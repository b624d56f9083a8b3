//! Compilers, the library, and programs that end in time.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// How long a compiler or a program may take; far beyond what a slow machine needs.
const PATIENCE: Duration = Duration::from_secs(240);

/// What every program is compiled with.
pub(crate) const STRICT: &[&str] = &["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-pthread"];

/// A language, its compiler and its standard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Language {
    C,
    Cxx,
}

impl Language {
    pub(crate) fn of(source: &Path) -> Self {
        if source.extension() == Some(OsStr::new("c")) { Self::C } else { Self::Cxx }
    }

    /// The system's compiler; `None`, said aloud, where there is none.
    pub(crate) fn compiler(self) -> Option<&'static str> {
        static C: LazyLock<bool> = LazyLock::new(|| is_there("cc"));
        static CXX: LazyLock<bool> = LazyLock::new(|| is_there("c++"));
        let (name, there) = match self {
            Self::C => ("cc", *C),
            Self::Cxx => ("c++", *CXX),
        };
        if !there {
            eprintln!("NOT TESTED: there is no {name} here");
        }
        there.then_some(name)
    }

    fn standard(self) -> &'static str {
        match self {
            Self::C => "-std=c11",
            Self::Cxx => "-std=c++17",
        }
    }
}

/// Whether a tool runs.
pub(crate) fn is_there(tool: &str) -> bool {
    Command::new(tool)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The library, which cargo makes beside the tests.
pub(crate) fn library() -> PathBuf {
    let test = std::env::current_exe().expect("this test's path");
    let library = test.with_file_name("libgridcl.so");
    assert!(library.exists(), "cargo made no {}", library.display());
    library
}

/// A folder of this test run's own for what a test called `name` makes.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c_abi").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for what the test makes");
    folder
}

/// Compiles a program against `include`, strictly, and links it with the library; answers the program.
pub(crate) fn compile(source: &Path, folder: &Path, more: &[&str]) -> Option<PathBuf> {
    let language = Language::of(source);
    let program = folder.join(source.file_stem().expect("a name"));
    let library = library();
    let mut command = Command::new(language.compiler()?);
    command.arg(language.standard()).args(STRICT).arg("-I").arg(root().join("include")).arg("-o").arg(&program);
    command.arg(source).arg("-L").arg(library.parent().expect("a folder")).args(["-lgridcl", "-lm"]).args(more);
    succeeds(&mut command);
    Some(program)
}

/// A program that finds the library, with a cache of its own for compiled kernels.
pub(crate) fn program(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.env("LD_LIBRARY_PATH", library().parent().expect("a folder"));
    command
}

/// Runs a command to its end and asserts that it succeeded; answers what it printed.
#[track_caller]
pub(crate) fn succeeds(command: &mut Command) -> String {
    let output = ends(command);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}\n{err}", output.status);
    out.into_owned()
}

/// Runs a command to its end, which has to come in time.
#[track_caller]
pub(crate) fn ends(command: &mut Command) -> Output {
    let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = started.unwrap_or_else(|error| panic!("{command:?}: {error}"));
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
