//! The installation, and the programs built against it with make and CMake, as a user would.

use crate::tools::{Language, is_there, library, root, scratch, succeeds};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program that finds the library by what it was linked with, and by nothing that cargo has set.
fn installed(program: impl AsRef<OsStr>, prefix: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_remove("LD_LIBRARY_PATH").env("POCL_CACHE_DIR", prefix.join("pocl"));
    command
}

/// Installs the library below a folder of the test's own; answers the folder.
fn install(name: &str) -> PathBuf {
    let prefix = scratch(name);
    let mut command = Command::new(root().join("capi/install.sh"));
    succeeds(command.arg("--prefix").arg(&prefix).arg("--library").arg(library()));
    prefix
}

fn pkg_config(prefix: &Path) -> Option<PathBuf> {
    if is_there("pkg-config") {
        return Some(prefix.join("lib/pkgconfig"));
    }
    eprintln!("NOT TESTED: there is no pkg-config here");
    None
}

#[test]
fn library_headers_and_package_file_are_installed() {
    let prefix = install("prefix");
    for file in [
        "lib/libgridcl.so",
        "lib/pkgconfig/gridcl.pc",
        "include/gridcl.h",
        "include/musa_runtime.h",
        "include/musa_runtime_api.h",
        "include/tops/tops_runtime.h",
        "include/tops/tops_runtime_api.h",
    ] {
        assert!(prefix.join(file).is_file(), "{file} is not installed");
    }
    let Some(path) = pkg_config(&prefix) else { return };
    let asked = |question: &str| {
        succeeds(Command::new("pkg-config").args([question, "gridcl"]).env("PKG_CONFIG_PATH", &path)).trim().to_owned()
    };
    assert_eq!(asked("--modversion"), env!("CARGO_PKG_VERSION"));
    assert_eq!(asked("--variable=libdir"), prefix.join("lib").to_string_lossy());
    assert!(asked("--cflags").contains(&prefix.join("include").to_string_lossy().into_owned()));
    assert!(asked("--libs").contains("-lgridcl"));
}

#[test]
fn make_builds_programs_that_find_the_library() {
    let prefix = install("make");
    let compilers = [Language::C.compiler(), Language::Cxx.compiler()];
    let Some(path) = pkg_config(&prefix) else { return };
    if !is_there("make") || compilers.contains(&None) {
        eprintln!("NOT TESTED: there is no make or no compiler here");
        return;
    }
    let build = prefix.join("build");
    let programs = ["01_devices", "08_launches"].map(|name| build.join(name));
    let mut command = Command::new("make");
    command.arg("-C").arg(root().join("examples/c")).arg(format!("BUILD={}", build.display()));
    succeeds(command.args(&programs).env("PKG_CONFIG_PATH", &path));
    for program in programs {
        succeeds(&mut installed(program, &prefix));
    }
}

#[test]
fn cmake_builds_the_same_programs() {
    let prefix = install("cmake");
    let Some(path) = pkg_config(&prefix) else { return };
    if !is_there("cmake") {
        eprintln!("NOT TESTED: there is no cmake here");
        return;
    }
    let build = prefix.join("build");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(root().join("examples/c")).arg("-B").arg(&build).env("PKG_CONFIG_PATH", &path);
    succeeds(&mut configure);
    succeeds(Command::new("cmake").arg("--build").arg(&build).args(["--target", "08_launches"]));
    succeeds(&mut installed(build.join("08_launches"), &prefix));
}
