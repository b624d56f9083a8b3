//! The cache folder, and environment variables that mean nothing or lead nowhere.

use super::Finding;
use gridcl::Device;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What gridcl reads (docs/environment.md).
const OURS: [&str; 7] = [
    "GRIDCL_CACHE",
    "GRIDCL_CACHE_DIR",
    "GRIDCL_CACHE_SIZE",
    "GRIDCL_DEVICES",
    "GRIDCL_LOG",
    "GRIDCL_MEMORY",
    "GRIDCL_TRACE",
];

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(|value| value.to_string_lossy().into_owned())
}

/// Whether built modules can be kept.
pub(super) fn cache() -> Vec<Finding> {
    if variable("GRIDCL_CACHE").as_deref() == Some("0") {
        return vec![Finding::good("switched off (GRIDCL_CACHE=0)")];
    }
    let below = |name: &str, rest: &str| {
        variable(name).map(PathBuf::from).filter(|path| path.is_absolute()).map(|path| path.join(rest))
    };
    let folder = variable("GRIDCL_CACHE_DIR")
        .map(PathBuf::from)
        .or_else(|| below("XDG_CACHE_HOME", "gridcl"))
        .or_else(|| below("HOME", ".cache/gridcl"));
    let Some(folder) = folder else {
        return vec![Finding::warning(
            "there is no folder for it: HOME is not set",
            "export GRIDCL_CACHE_DIR=/a/folder",
        )];
    };
    vec![state_of(&folder)]
}

fn state_of(folder: &Path) -> Finding {
    let shown = folder.display();
    let Ok(about) = folder.metadata() else {
        let parent = folder.ancestors().skip(1).find(|parent| parent.exists());
        return match parent.filter(|parent| is_writable(parent)) {
            Some(_) => Finding::good(format!("{shown} will be made at the first build")),
            None => Finding::warning(format!("{shown} cannot be made"), "export GRIDCL_CACHE_DIR=/a/folder/of/yours"),
        };
    };
    // SAFETY: it has no precondition.
    let user = unsafe { libc::geteuid() };
    if !about.is_dir() {
        return Finding::warning(format!("{shown} is not a folder"), format!("rm {shown}"));
    }
    if about.uid() != user {
        let problem = format!("{shown} belongs to user {}, so it is not used", about.uid());
        return Finding::warning(problem, "export GRIDCL_CACHE_DIR=/a/folder/of/yours");
    }
    if about.mode() & 0o022 != 0 {
        let problem = format!("others may write to {shown}, so it is not used");
        return Finding::warning(problem, format!("chmod go-w {shown}"));
    }
    if !is_writable(folder) {
        return Finding::warning(format!("{shown} cannot be written to"), format!("chmod u+rwx {shown}"));
    }
    let files = folder.read_dir().into_iter().flatten().flatten().filter_map(|entry| entry.metadata().ok());
    let (count, bytes) =
        files.filter(std::fs::Metadata::is_file).fold((0, 0), |(count, bytes), file| (count + 1, bytes + file.len()));
    Finding::good(format!("{shown}: {count} files, {}", crate::table::bytes(bytes as f64)))
}

fn is_writable(folder: &Path) -> bool {
    let Ok(name) = std::ffi::CString::new(folder.as_os_str().as_encoded_bytes()) else { return false };
    // SAFETY: the name lives for the call.
    unsafe { libc::access(name.as_ptr(), libc::W_OK | libc::X_OK) == 0 }
}

/// Variables that are set, and what is wrong with them.
pub(super) fn variables() -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut names: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| name.starts_with("GRIDCL_") && !name.starts_with("GRIDCL_TEST_"))
        .collect();
    names.sort();
    for name in names {
        let value = variable(&name).unwrap_or_default();
        findings.push(match OURS.contains(&name.as_str()) {
            true => of_ours(&name, &value),
            false => {
                Finding::warning(format!("{name} means nothing to gridcl"), format!("unset {name}{}", nearest(&name)))
            }
        });
    }
    for name in ["OPENCL_DYLIB_PATH", "OCL_ICD_VENDORS"] {
        if let Some(value) = variable(name) {
            // The first may hold several, and names without a folder are looked for.
            let is_there = value.split(';').any(|path| !path.contains('/') || Path::new(path).exists());
            findings.push(match is_there {
                true => Finding::good(format!("{name}={value}")),
                false => Finding::warning(format!("{name}={value} leads nowhere"), format!("unset {name}")),
            });
        }
    }
    findings
}

fn of_ours(name: &str, value: &str) -> Finding {
    let set = format!("{name}={value}");
    let complaint =
        Device::discovery().into_iter().find(|note| note.starts_with(name) && !note.contains("left out by"));
    if let Some(note) = complaint {
        return Finding::warning(note, format!("unset {name}"));
    }
    if name == "GRIDCL_TRACE" && !value.is_empty() {
        let folder = Path::new(value).parent().filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !is_writable(folder)) {
            return Finding::warning(format!("{set} cannot be written"), format!("unset {name}"));
        }
    }
    Finding::good(set)
}

/// The name of ours that was probably meant.
fn nearest(name: &str) -> String {
    let common = |ours: &&&str| ours.bytes().zip(name.bytes()).take_while(|(left, right)| left == right).count();
    let best = OURS.iter().max_by_key(common).filter(|ours| common(ours) > "GRIDCL_".len() + 1);
    best.map_or_else(String::new, |ours| format!("    # was {ours} meant?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_are_recognised() {
        assert!(nearest("GRIDCL_DEVICE").contains("GRIDCL_DEVICES"));
        let [more, none] = ["TRACES", "XYZ"].map(|end| format!("GRIDCL_{end}"));
        assert!(nearest(&more).contains("GRIDCL_TRACE "));
        assert_eq!(nearest(&none), "");
    }
}
