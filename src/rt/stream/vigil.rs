//! How a thread waits for the device: in the driver's own wait, or awake where the program asks for that
//! (`SetDeviceFlags`).

use crate::cl::status::Result;
use crate::cl::{Event, Progress, Queue};
use crate::rt::device::{Device, Schedule};
use std::hint::spin_loop;
use std::thread::yield_now;

/// Turns between two looks of a thread that spins; a look is a call of the driver.
const TURNS: u32 = 64;

/// The waits for one device.
pub(crate) struct Vigil(Device);

impl Vigil {
    pub(super) fn new(device: Device) -> Self {
        Self(device)
    }

    /// Blocks until everything that was queued is done.
    pub(super) fn finish(&self, queue: &Queue) -> Result<()> {
        let schedule = self.0.schedule();
        if schedule != Schedule::Driver {
            let marker = queue.marker()?;
            queue.flush()?;
            stay_awake(&marker, schedule);
        }
        queue.finish()
    }

    /// Blocks until a command is done that was handed to the device.
    pub(crate) fn wait_for(&self, event: &Event) -> Result<()> {
        stay_awake(event, self.0.schedule());
        event.wait()
    }
}

/// Until the event has ended, or cannot be asked; then the driver's own wait says how it ended.
fn stay_awake(event: &Event, schedule: Schedule) {
    while schedule != Schedule::Driver && matches!(event.progress(), Ok(Progress::Pending)) {
        match schedule {
            Schedule::Yield => yield_now(),
            _ => (0..TURNS).for_each(|_| spin_loop()),
        }
    }
}
