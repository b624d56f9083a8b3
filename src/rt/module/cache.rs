//! The disk cache of built modules: a folder of module binaries, named by what they were made from.
//!
//! Knows files only; what is in them is for [`super::binary`] to judge. Any number of processes may use a folder at
//! once: entries appear whole by a rename, are never changed, and one that vanishes is one that is not there. Whatever
//! fails here is logged (`gridcl::cache`) and costs a build, nothing else.

use lazy_static::lazy_static;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Entries and temporary files end so; nothing else in the folder is touched.
const SUFFIX: &str = ".gridcl";
const TEMPORARY: &str = ".writing-";
/// Temporary files older than that were left by a process that ended.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);
/// Bytes of all entries, where `GRIDCL_CACHE_SIZE` does not say.
const LIMIT: u64 = 256 << 20;

/// A folder of entries.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    limit: u64,
}

lazy_static! {
    static ref CACHE: Option<Arc<Cache>> = Setting::read(&|name| std::env::var_os(name)).and_then(Setting::open);
}

/// The process's cache; `None` where it is switched off or cannot be used.
pub(super) fn cache() -> Option<Arc<Cache>> {
    #[cfg(feature = "testing")]
    if let Some(instead) = testing::INSTEAD.lock().as_ref() {
        return Some(Arc::clone(instead));
    }
    CACHE.clone()
}

/// What the environment asks for.
#[derive(Debug, PartialEq, Eq)]
struct Setting {
    folder: PathBuf,
    limit: u64,
}

impl Setting {
    fn read(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<Self> {
        let text = |name| variable(name).filter(|value| !value.is_empty());
        let given = text("GRIDCL_CACHE_DIR");
        match text("GRIDCL_CACHE").as_deref().and_then(|value| value.to_str()) {
            Some("0" | "off" | "no" | "false") => return None,
            Some("1" | "on" | "yes" | "true") => {}
            Some(other) => log::warn!(target: "gridcl::cache", "GRIDCL_CACHE = {other}: expected 0 or 1; ignored"),
            // Who builds with that tests, and a test suite has no business in its user's cache.
            None if cfg!(feature = "testing") && given.is_none() => return None,
            None => {}
        }
        let limit = match text("GRIDCL_CACHE_SIZE").map(|value| value.to_string_lossy().into_owned()) {
            Some(value) => parse_size(&value).unwrap_or_else(|| {
                log::warn!(target: "gridcl::cache", "GRIDCL_CACHE_SIZE = {value}: expected bytes, or a number and K, M or G; ignored");
                LIMIT
            }),
            None => LIMIT,
        };
        let absolute = |name, below: &str| {
            text(name).map(PathBuf::from).filter(|path| path.is_absolute()).map(|path| path.join(below))
        };
        let folder = given
            .map(PathBuf::from)
            .or_else(|| absolute("XDG_CACHE_HOME", "gridcl"))
            .or_else(|| absolute("HOME", ".cache/gridcl"))?;
        (limit > 0).then_some(Self { folder, limit })
    }

    fn open(self) -> Option<Arc<Cache>> {
        match Cache::open(&self.folder, self.limit) {
            Ok(cache) => Some(Arc::new(cache)),
            Err(error) => {
                log::warn!(target: "gridcl::cache", "{}: not used: {error}", self.folder.display());
                None
            }
        }
    }
}

/// Reads `1000`, `64K`, `256M`, `1G`.
fn parse_size(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

impl Cache {
    /// Opens a folder, made where it is missing, that nobody else can write to: what is in it will be run.
    fn open(folder: &Path, limit: u64) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        // What it means must not change with the working directory or a link.
        let folder = &folder.canonicalize()?;
        let about = fs::metadata(folder)?;
        // SAFETY: it has no precondition.
        let user = unsafe { libc::geteuid() };
        if about.uid() != user {
            return Err(io::Error::other(format!("it belongs to user {}, and this is user {user}", about.uid())));
        }
        if about.mode() & 0o022 != 0 {
            return Err(io::Error::other(format!(
                "others may write to it (mode {:o}); chmod go-w",
                about.mode() & 0o777
            )));
        }
        Ok(Self { folder: folder.to_owned(), limit })
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}{SUFFIX}"))
    }

    /// What is kept under a key.
    pub(super) fn get(&self, key: &str) -> Option<Vec<u8>> {
        let path = self.path(key);
        match self.read(&path) {
            Ok(bytes) => {
                log::debug!(target: "gridcl::cache", "{} found, {} bytes", path.display(), bytes.len());
                Some(bytes)
            }
            Err(error) => {
                log::debug!(target: "gridcl::cache", "{}: {error}", path.display());
                None
            }
        }
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        // Neither a link to somewhere else nor a pipe that nobody writes to.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let mut file = File::options().read(true).custom_flags(flags).open(path)?;
        let about = file.metadata()?;
        // SAFETY: it has no precondition.
        let ours = about.uid() == unsafe { libc::geteuid() } && about.mode() & 0o022 == 0;
        if !about.is_file() || !ours || about.len() > self.limit {
            return Err(io::Error::other("it is no entry of this user's"));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(about.len()).unwrap_or(0));
        file.read_to_end(&mut bytes)?;
        // The least recently used go first; where time cannot be set the oldest do.
        let _ = file.set_modified(SystemTime::now());
        Ok(bytes)
    }

    /// Keeps bytes under a key, in the place of others.
    pub(super) fn put(&self, key: &str, bytes: &[u8]) {
        let path = self.path(key);
        if bytes.len() as u64 > self.limit {
            log::debug!(target: "gridcl::cache", "{} bytes are more than the cache may have", bytes.len());
            return;
        }
        match self.write(&path, bytes) {
            Ok(()) => log::debug!(target: "gridcl::cache", "{} written, {} bytes", path.display(), bytes.len()),
            Err(error) => log::warn!(target: "gridcl::cache", "{} cannot be written: {error}", path.display()),
        }
        self.trim();
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(&self.folder)?;
        file.write_all(bytes)?;
        file.persist(path).map(drop).map_err(|error| error.error)
    }

    /// Drops an entry that is good for nothing.
    pub(super) fn remove(&self, key: &str) {
        // Another process may have been faster.
        let _ = fs::remove_file(self.path(key));
    }

    /// Removes the least recently used entries until the rest fits.
    fn trim(&self) {
        let Ok(files) = fs::read_dir(&self.folder) else { return };
        let mut entries = Vec::new();
        for file in files.flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            let Some((about, used)) =
                file.metadata().ok().and_then(|about| Some((about.len(), about.modified().ok()?)))
            else {
                continue;
            };
            if name.ends_with(SUFFIX) {
                entries.push((used, about, file.path()));
            } else if name.starts_with(TEMPORARY) && used.elapsed().is_ok_and(|age| age > LEFT_BEHIND) {
                let _ = fs::remove_file(file.path());
            }
        }
        let mut total: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        entries.sort();
        for (_, bytes, path) in entries {
            if total <= self.limit {
                break;
            }
            log::debug!(target: "gridcl::cache", "{} removed", path.display());
            let _ = fs::remove_file(path);
            total -= bytes;
        }
    }
}

/// What the test suite may ask of the cache.
#[cfg(feature = "testing")]
pub(crate) mod testing {
    use super::{Arc, Cache, Path, io};
    use parking_lot::Mutex;

    /// What stands in the place of the process's cache.
    pub(super) static INSTEAD: Mutex<Option<Arc<Cache>>> = Mutex::new(None);

    /// Puts a cache in a folder in the place of the process's own.
    pub(crate) fn instead(folder: &Path, limit: u64) -> io::Result<()> {
        *INSTEAD.lock() = Some(Arc::new(Cache::open(folder, limit)?));
        Ok(())
    }

    /// Puts the process's own back.
    pub(crate) fn restore() {
        *INSTEAD.lock() = None;
    }
}

#[cfg(test)]
mod tests;
