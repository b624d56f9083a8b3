//! The process-wide runtime: which devices there are and in which order, found on first use and never torn down.

use super::device::Slot;
use super::memory::Form;
use super::stream::lanes::Ticket;
use crate::cl::platform::{DeviceId, Found};
use crate::cl::{Caps, DeviceType, call, platform};
use crate::error::{Error, ErrorKind, Result};
use lazy_static::lazy_static;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Set in a child process that forked without exec: the driver's threads did not come along.
static FORKED: AtomicBool = AtomicBool::new(false);

lazy_static! {
    /// Lives for the whole process: drivers do not survive destructors that run at exit.
    static ref RUNTIME: Runtime = Runtime::start();
}

/// The devices, and how they were chosen.
pub(crate) struct Runtime {
    slots: Vec<Slot>,
    /// What was found, what was left out and why, a line each.
    notes: Vec<String>,
}

/// The runtime, started on first use.
///
/// # Errors
/// As [`refuse_here`].
pub(crate) fn runtime() -> Result<&'static Runtime> {
    refuse_here()?;
    Ok(&RUNTIME)
}

/// Refuses a call from where the runtime cannot be used: a forked child, or the inside of a callback.
pub(crate) fn refuse_here() -> Result<()> {
    refuse_forked()?;
    super::stream::hostfn::refuse_inside()
}

/// Whether this is a child process that forked without exec.
pub(crate) fn is_forked() -> bool {
    FORKED.load(Relaxed)
}

/// Refuses a call in a forked child with [`ErrorKind::NotInitialized`]: it would wait for threads that stayed behind.
pub(crate) fn refuse_forked() -> Result<()> {
    if is_forked() {
        return Err(Error::new(ErrorKind::NotInitialized, "this process was forked from one that used the runtime")
            .help("call exec in the child, or fork before the first call"));
    }
    Ok(())
}

impl Runtime {
    fn start() -> Self {
        // SAFETY: the handler only stores to an atomic.
        unsafe { libc::pthread_atfork(None, None, Some(note_fork)) };
        let mut notes = Vec::new();
        let found = match platform::find() {
            Ok(found) => found,
            Err(failure) => {
                let reason = call::library_problem().unwrap_or_else(|| failure.to_string());
                notes.push(format!("no OpenCL loader: {reason}"));
                Vec::new()
            }
        };
        let form = Form::from_environment(&mut notes);
        let candidates = candidates(&found, &mut notes);
        let selection = std::env::var("GRIDCL_DEVICES").ok();
        let slots = select(&candidates, selection.as_deref(), &mut notes)
            .into_iter()
            .enumerate()
            .map(|(ordinal, index)| {
                let (id, caps) = &candidates[index];
                Slot::new(ordinal, *id, caps.clone(), form)
            })
            .collect();
        for note in &notes {
            log::info!(target: "gridcl::devices", "{note}");
        }
        Self { slots, notes }
    }

    /// The devices in order: GPUs, then accelerators, then CPUs, or as `GRIDCL_DEVICES` says.
    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// What was found and why it was taken or left, a line each.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The device with that ordinal.
    pub(crate) fn slot(&'static self, ordinal: usize) -> Result<&'static Slot> {
        self.slots.get(ordinal).ok_or_else(|| {
            if self.slots.is_empty() {
                return self.no_device();
            }
            Error::new(ErrorKind::InvalidDevice, format!("there are {} devices", self.slots.len()))
                .argument("device", ordinal)
                .help("ordinals start at 0")
        })
    }

    /// The error for a machine without a usable device, with what was seen and what to install.
    pub(crate) fn no_device(&self) -> Error {
        let seen =
            if self.notes.is_empty() { "the OpenCL loader knows no platform".into() } else { self.notes.join("; ") };
        Error::new(ErrorKind::NoDevice, format!("no OpenCL device: {seen}")).help(
            "install a driver (Debian and Ubuntu: apt-get install pocl-opencl-icd for the CPU, or the GPU vendor's), \
             name a loader in OPENCL_DYLIB_PATH, and check that GRIDCL_DEVICES does not hide the device",
        )
    }
}

/// Makes the process's exit wait for the device's work, for drivers that abort otherwise. Called when the driver is
/// loaded, so that the handler runs before the driver's own.
pub(super) fn drain_at_exit() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: the handler touches only what is never torn down.
    ONCE.call_once(|| unsafe {
        libc::atexit(drain);
    });
}

/// How long an exit waits at most: work behind a gate that nobody opens any more never ends.
const EXIT_PATIENCE: Duration = Duration::from_secs(2);

extern "C" fn drain() {
    if is_forked() {
        return;
    }
    let start = Instant::now();
    let fragile = RUNTIME.slots().iter().filter(|slot| slot.aborts_at_busy_exit());
    for context in fragile.filter_map(Slot::context_now) {
        // What other threads give to the device from now on is not waited for.
        let mut before: Option<Vec<Ticket>> = None;
        while start.elapsed() < EXIT_PATIENCE {
            let now = context.lanes().try_pending();
            before = before.or(now);
            if before.as_ref().is_some_and(|tickets| tickets.iter().all(Ticket::is_done)) {
                break;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

extern "C" fn note_fork() {
    FORKED.store(true, Relaxed);
}

/// Every device that answers, in the default order, each with what it can do.
fn candidates(found: &[Found], notes: &mut Vec<String>) -> Vec<(DeviceId, Caps)> {
    let mut devices = Vec::new();
    for platform in found {
        if let Some(failure) = platform.failure {
            notes.push(format!("platform \"{}\" ({}) does not answer: {failure}", platform.platform, platform.version));
        } else if platform.devices.is_empty() {
            notes.push(format!("platform \"{}\" ({}) has no device", platform.platform, platform.version));
        }
        for &(id, kind) in &platform.devices {
            devices.push((kind, id, platform.platform.as_str()));
        }
    }
    devices.sort_by_key(|&(kind, ..)| kind);
    let mut answer = Vec::new();
    for (_, id, platform) in devices {
        match Caps::of(id, platform, answer.len()) {
            Ok(caps) => answer.push((id, caps)),
            Err(failure) => notes.push(format!("a device of platform \"{platform}\" does not answer: {failure}")),
        }
    }
    answer
}

/// Applies `GRIDCL_DEVICES`: a list of indices, types and parts of names, in the order wanted.
fn select(candidates: &[(DeviceId, Caps)], wanted: Option<&str>, notes: &mut Vec<String>) -> Vec<usize> {
    let described: Vec<_> = candidates.iter().map(|(_, caps)| (caps.device_type, describe(caps))).collect();
    let Some(wanted) = wanted.map(str::trim).filter(|wanted| !wanted.is_empty()) else {
        return (0..candidates.len()).collect();
    };
    pick(&described, wanted, notes)
}

fn describe(caps: &Caps) -> String {
    format!("{} / {}", caps.name, caps.platform)
}

fn pick(described: &[(DeviceType, String)], wanted: &str, notes: &mut Vec<String>) -> Vec<usize> {
    let mut picked = Vec::new();
    for term in wanted.split(',').map(str::trim).filter(|term| !term.is_empty()) {
        let lower = term.to_lowercase();
        let matches: Vec<usize> = described
            .iter()
            .enumerate()
            .filter(|(index, (kind, name))| match term.parse::<usize>() {
                Ok(number) => number == *index,
                Err(_) => lower == kind.as_str() || name.to_lowercase().contains(&lower),
            })
            .map(|(index, _)| index)
            .collect();
        if matches.is_empty() {
            notes.push(format!("GRIDCL_DEVICES: \"{term}\" fits none of the {} devices", described.len()));
        }
        for index in matches {
            if !picked.contains(&index) {
                picked.push(index);
            }
        }
    }
    for (index, (_, name)) in described.iter().enumerate() {
        if !picked.contains(&index) {
            notes.push(format!("device \"{name}\" is left out by GRIDCL_DEVICES={wanted}"));
        }
    }
    picked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices() -> Vec<(DeviceType, String)> {
        vec![
            (DeviceType::Gpu, "NVIDIA H200 / NVIDIA CUDA".into()),
            (DeviceType::Gpu, "Arc / Intel(R) OpenCL".into()),
            (DeviceType::Cpu, "pthread / Portable Computing Language".into()),
        ]
    }

    #[test]
    fn picks_by_index_type_and_name_in_the_order_given() {
        let notes = &mut Vec::new();
        assert_eq!(pick(&devices(), "2,0", notes), [2, 0]);
        assert_eq!(pick(&devices(), "cpu,gpu", notes), [2, 0, 1]);
        assert_eq!(pick(&devices(), "portable", notes), [2]);
        assert_eq!(pick(&devices(), "gpu,0,gpu", notes), [0, 1]);
    }

    #[test]
    fn says_what_fits_nothing_and_what_was_left_out() {
        let mut notes = Vec::new();
        assert!(pick(&devices(), "7", &mut notes).is_empty());
        assert!(notes[0].contains("\"7\" fits none of the 3 devices"), "{notes:?}");
        assert_eq!(notes.len(), 4);
    }
}
