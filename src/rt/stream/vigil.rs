//! How a thread waits for the device: in the driver's own wait, or awake.
//!
//! NVIDIA's driver (580.159) spins in its waits for short work and sleeps for longer, and who sleeps wakes late: 0.12 to
//! 0.18 ms after work of 0.1 ms and more, on an H200 of a virtual machine. So there a wait that follows a long one looks at
//! a marker itself for a while before it is the driver's, as CUDA's runtime does all the time. The program may ask for
//! either (`SetDeviceFlags`).

use crate::cl::status::Result;
use crate::cl::{Event, Progress, Queue};
use crate::rt::device::{Device, Schedule};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// In waits up to that the driver does not sleep.
const SHORT: Duration = Duration::from_micros(60);
/// How long a thread stays awake that nobody asked to. Who sleeps after that wakes late by a fiftieth at most.
const MOST: Duration = Duration::from_millis(10);
/// Turns between two looks; a look is a call of the driver.
const TURNS: u32 = 64;

/// The waits for one device.
pub(crate) struct Vigil {
    device: Device,
    /// Whether the latest wait took longer than the driver stays awake for.
    was_long: AtomicBool,
}

impl Vigil {
    pub(super) fn new(device: Device) -> Self {
        Self { device, was_long: AtomicBool::new(false) }
    }

    /// Blocks until everything that was queued is done.
    pub(super) fn finish(&self, queue: &Queue) -> Result<()> {
        self.wait(
            || {
                let marker = queue.marker()?;
                queue.flush()?;
                Ok(marker)
            },
            || queue.finish(),
        )
    }

    /// Blocks until a command is done that was handed to the device.
    pub(crate) fn wait_for(&self, event: &Event) -> Result<()> {
        self.wait(|| Ok(event), || event.wait())
    }

    fn wait<E: std::borrow::Borrow<Event>>(
        &self,
        mark: impl FnOnce() -> Result<E>,
        in_driver: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let schedule = self.device.schedule();
        let wakes_late = self.device.caps().wakes_late();
        if schedule == Schedule::Sleep || (schedule == Schedule::Auto && !wakes_late) {
            return in_driver();
        }
        let begun = Instant::now();
        if schedule != Schedule::Auto || self.was_long.load(Relaxed) {
            let until = (schedule == Schedule::Auto).then(|| begun + MOST);
            // Whatever goes wrong here the driver says in its own wait.
            if let Ok(marker) = mark() {
                stay_awake(marker.borrow(), until, schedule);
            }
        }
        let outcome = in_driver();
        self.was_long.store(begun.elapsed() > SHORT, Relaxed);
        outcome
    }
}

fn stay_awake(marker: &Event, until: Option<Instant>, schedule: Schedule) {
    while matches!(marker.progress(), Ok(Progress::Pending)) && until.is_none_or(|until| Instant::now() < until) {
        match schedule {
            Schedule::Yield => yield_now(),
            _ => (0..TURNS).for_each(|_| spin_loop()),
        }
    }
}
