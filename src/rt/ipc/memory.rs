//! Memory without a name, and how another process finds it: through the descriptor table of the one that holds it.
//!
//! The size is sealed, so that no process can take pages away from under another. Nothing has to be cleaned up: the
//! memory goes with the last process that has it.

use super::handle::Parts;
use super::page::Page;
use super::process::{Process, Stat};
use crate::error::{Error, ErrorKind, Result};
use std::ffi::{CString, c_int};
use std::io;
use std::ops::Deref;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::{NonNull, null_mut};

const BYTES: usize = size_of::<Page>();
const SEALS: c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// A page that is mapped into this process.
pub(super) struct Mapped(NonNull<Page>);

// SAFETY: a page is atomics, wherever it lies.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

impl Deref for Mapped {
    type Target = Page;

    fn deref(&self) -> &Page {
        // SAFETY: the mapping has the size of a page, cannot shrink, and lives as long as `self`. Every pattern of bits
        // is a page, and other processes write to it as to atomics.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing borrows it any more.
        unsafe { libc::munmap(self.0.as_ptr().cast(), BYTES) };
    }
}

/// New memory of zeros, sealed, and the nonce that its page begins with.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`] where the system gives no memory or descriptor.
pub(super) fn create() -> Result<(OwnedFd, Mapped, [u8; 16])> {
    let refuse = |(call, error): (&str, io::Error)| {
        Error::new(ErrorKind::OutOfMemory, "the system has no memory to share between processes")
            .caused_by(format_args!("{call}: {error}"))
    };
    let file = unnamed().map_err(|error| refuse(("memfd_create", error)))?;
    // SAFETY: the descriptor is ours; the calls take numbers.
    checked(unsafe { libc::ftruncate(file.as_raw_fd(), BYTES as libc::off_t) })
        .map_err(|error| refuse(("ftruncate", error)))?;
    // SAFETY: as above.
    checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, SEALS) })
        .map_err(|error| refuse(("fcntl(F_ADD_SEALS)", error)))?;
    let page = map(&file).map_err(|error| refuse(("mmap", error)))?;
    let nonce = random().map_err(|error| refuse(("getrandom", error)))?;
    page.begin(nonce);
    Ok((file, page, nonce))
}

/// The memory that a handle means, after every check that can be made.
///
/// # Errors
/// [`ErrorKind::InvalidContext`] for a handle of this process; [`ErrorKind::InvalidHandle`] for one whose process has
/// ended or is another user's, and for one that does not lead to the very page that it was made for.
pub(super) fn open(parts: &Parts) -> Result<(OwnedFd, Mapped)> {
    let place = format!("descriptor {} of process {}", parts.descriptor, parts.holder.id);
    let refuse = |kind, problem: &'static str| Error::new(kind, problem).argument("handle", &place);
    let dead = |problem| refuse(ErrorKind::InvalidHandle, problem);
    let gone = |error: &io::Error| {
        let problem = match error.raw_os_error() {
            Some(libc::ENOENT | libc::ESRCH) => "the process that made it has ended",
            _ => "the process that made it cannot be looked at",
        };
        dead(problem).caused_by(format_args!("/proc/{}: {error}", parts.holder.id))
    };
    if parts.holder == Process::this()? {
        return Err(refuse(ErrorKind::InvalidContext, "it was made by this process").help("use the event itself"));
    }
    // The folder stays that of this process, also when its number is used again.
    let folder = open_at(libc::AT_FDCWD, &format!("/proc/{}", parts.holder.id), libc::O_PATH | libc::O_DIRECTORY)
        .map_err(|error| gone(&error))?;
    let stat = read_at(&folder, "stat").map_err(|error| gone(&error))?;
    if Stat::parse(&stat).is_none_or(|stat| stat.start != parts.holder.start) {
        return Err(dead("the process that made it has ended, and its number is another's now"));
    }
    let closed = |error: io::Error| {
        let problem = match error.raw_os_error() {
            Some(libc::EACCES | libc::EPERM) => "it belongs to a process that this one may not look into",
            Some(libc::ENOENT) => "its event was destroyed",
            _ => "its event cannot be opened",
        };
        dead(problem).caused_by(format_args!("/proc/{}/fd/{}: {error}", parts.holder.id, parts.descriptor))
    };
    // A path alone opens nothing, whatever it leads to: looking is safe.
    let found = open_at(folder.as_raw_fd(), &format!("fd/{}", parts.descriptor), libc::O_PATH).map_err(closed)?;
    // SAFETY: the call takes nothing and cannot fail.
    let user = unsafe { libc::geteuid() };
    for file in [&folder, &found] {
        if status(file).map_err(|error| gone(&error))?.st_uid != user {
            return Err(dead("it belongs to a process of another user"));
        }
    }
    let foreign = || dead("the descriptor is not that of an event any more").help("was the event destroyed?");
    let status = status(&found).map_err(|error| gone(&error))?;
    if status.st_mode & libc::S_IFMT != libc::S_IFREG || status.st_size != BYTES as libc::off_t {
        return Err(foreign());
    }
    let file =
        open_at(libc::AT_FDCWD, &format!("/proc/self/fd/{}", found.as_raw_fd()), libc::O_RDWR).map_err(closed)?;
    // SAFETY: the descriptor is ours; the call takes numbers.
    let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
    if seals < 0 || seals & SEALS != SEALS {
        return Err(foreign());
    }
    let page = map(&file).map_err(|error| foreign().caused_by(format_args!("mmap: {error}")))?;
    if page.is(parts.nonce) { Ok((file, page)) } else { Err(foreign()) }
}

fn unnamed() -> io::Result<OwnedFd> {
    let make = |flags| {
        // SAFETY: the name is a C string; the rest are numbers.
        checked(unsafe { libc::memfd_create(c"gridcl-event".as_ptr(), flags) })
    };
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    let made = make(flags | libc::MFD_NOEXEC_SEAL)
        .or_else(|error| if error.raw_os_error() == Some(libc::EINVAL) { make(flags) } else { Err(error) })?;
    // SAFETY: the call made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}

fn map(file: &OwnedFd) -> io::Result<Mapped> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
    let address = unsafe { libc::mmap(null_mut(), BYTES, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(address.cast()).map(Mapped).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn random() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    // SAFETY: the call writes at most that many bytes.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if got == bytes.len() as isize { Ok(bytes) } else { Err(io::Error::last_os_error()) }
}

fn open_at(folder: RawFd, path: &str, flags: c_int) -> io::Result<OwnedFd> {
    let path = CString::new(path)?;
    // SAFETY: the path is a C string and the folder a descriptor or the number of the current folder.
    let opened = checked(unsafe { libc::openat(folder, path.as_ptr(), flags | libc::O_CLOEXEC) })?;
    // SAFETY: the call made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(opened) })
}

fn read_at(folder: &OwnedFd, path: &str) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    io::Read::read_to_end(&mut std::fs::File::from(open_at(folder.as_raw_fd(), path, libc::O_RDONLY)?), &mut text)?;
    Ok(text)
}

fn status(file: &OwnedFd) -> io::Result<libc::stat> {
    let mut status = std::mem::MaybeUninit::uninit();
    // SAFETY: the call fills the structure when it succeeds.
    checked(unsafe { libc::fstat(file.as_raw_fd(), status.as_mut_ptr()) })?;
    // SAFETY: it succeeded.
    Ok(unsafe { status.assume_init() })
}

fn checked(answer: c_int) -> io::Result<c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}
