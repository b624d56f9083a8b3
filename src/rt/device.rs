//! Devices as the program sees them: ordinals, properties, and the primary context behind each.

use super::context::Context;
use super::memory::Form;
use super::runtime::{Runtime, runtime};
use super::stream::Stream;
use crate::cl::platform::DeviceId;
use crate::cl::{Caps, DeviceType, ext};
use crate::error::{Error, Result};
use crate::trace;
use parking_lot::{Mutex, RwLock};
use std::fmt;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// One device's place in the process, for as long as the process runs.
pub(crate) struct Slot {
    ordinal: usize,
    id: DeviceId,
    caps: Caps,
    form: Form,
    /// The default stream of the primary context, and with it the context.
    primary: RwLock<Option<Stream>>,
    /// Held while a context is made, so that two first calls make one.
    making: Mutex<()>,
    flags: AtomicU32,
    /// The device's first fault; from then on every call answers it.
    fault: OnceLock<Error>,
}

impl Slot {
    pub(super) fn new(ordinal: usize, id: DeviceId, caps: Caps, form: Form) -> Self {
        let form = form.limited_to(caps.svm);
        Self {
            ordinal,
            id,
            caps,
            form,
            primary: RwLock::new(None),
            making: Mutex::new(()),
            flags: AtomicU32::new(0),
            fault: OnceLock::new(),
        }
    }
}

impl Slot {
    /// Whether its driver aborts when the process exits with work under way.
    pub(super) fn aborts_at_busy_exit(&self) -> bool {
        self.caps.aborts_at_busy_exit()
    }

    /// The context if there is one, unless somebody is just making or ending it.
    pub(super) fn context_now(&self) -> Option<Arc<Context>> {
        self.primary.try_read()?.as_ref().map(|legacy| Arc::clone(legacy.context()))
    }
}

/// An OpenCL device, by its ordinal; cheap to copy.
///
/// MUSA and TOPS: "device management" of both seeds. Everything the program makes belongs to the device's primary
/// context, which is made on first use.
///
/// ```
/// let device = gridcl::Device::get(0)?;
/// println!("{} has {} compute units", device.name(), device.compute_units());
/// # Ok::<(), gridcl::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Device(&'static Slot);

/// How a thread waits for a device; the flags of both dialects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Schedule {
    /// In the driver's own wait.
    Driver,
    /// Awake, on its core.
    Spin,
    /// Awake, and others may run.
    Yield,
}

impl Device {
    /// How many devices there are; 0 where there is no OpenCL at all.
    pub fn count() -> usize {
        runtime().map_or(0, |runtime| runtime.slots().len())
    }

    /// Every device: GPUs, then accelerators, then CPUs, or as `GRIDCL_DEVICES` says.
    pub fn all() -> Vec<Self> {
        runtime().map_or_else(|_| Vec::new(), |runtime| runtime.slots().iter().map(Self).collect())
    }

    /// The device with that ordinal, counted from 0.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NoDevice`] where there is none at all, with what to install;
    /// [`crate::ErrorKind::InvalidDevice`] beyond the last.
    pub fn get(ordinal: usize) -> Result<Self> {
        runtime()?.slot(ordinal).map(Self)
    }

    /// What was found when the devices were looked for, and why something was left out, a line each.
    pub fn discovery() -> Vec<String> {
        runtime().map_or_else(|_| Vec::new(), |runtime: &'static Runtime| runtime.notes().to_vec())
    }

    /// Its ordinal.
    pub fn ordinal(self) -> usize {
        self.0.ordinal
    }

    /// Its name, as the driver gives it.
    pub fn name(self) -> &'static str {
        &self.0.caps.name
    }

    /// Who made it.
    pub fn vendor(self) -> &'static str {
        &self.0.caps.vendor
    }

    /// The platform (driver) it belongs to.
    pub fn platform(self) -> &'static str {
        &self.0.caps.platform
    }

    /// The driver's version text.
    pub fn driver_version(self) -> &'static str {
        &self.0.caps.driver
    }

    /// GPU, accelerator or CPU.
    pub fn device_type(self) -> DeviceType {
        self.0.caps.device_type
    }

    /// Multiprocessors (OpenCL: compute units).
    pub fn compute_units(self) -> u32 {
        self.0.caps.compute_units
    }

    /// Work items that run in lockstep: the vendor's number, else the preferred work-group multiple.
    pub fn warp_size(self) -> u32 {
        self.0.caps.warp_size
    }

    /// The most work items in one block.
    pub fn max_block_size(self) -> usize {
        self.0.caps.max_work_group
    }

    /// The most work items of a block along each axis.
    pub fn max_block_dim(self) -> [usize; 3] {
        self.0.caps.max_work_items
    }

    /// Memory that a block can share, in bytes.
    pub fn shared_memory_per_block(self) -> u64 {
        self.0.caps.local_bytes
    }

    /// The version of OpenCL that it speaks, major and minor.
    pub fn opencl_version(self) -> (u32, u32) {
        self.0.caps.version
    }

    /// Clock rate in MHz; 0 where the driver does not tell.
    pub fn clock_mhz(self) -> u32 {
        self.0.caps.clock_mhz
    }

    /// The largest single allocation in bytes.
    pub fn max_allocation(self) -> u64 {
        self.0.caps.max_alloc_bytes
    }

    /// OpenCL extensions, separated by spaces.
    pub fn extensions(self) -> &'static str {
        &self.0.caps.extensions
    }

    /// Bytes that kernels can print between two synchronisations.
    pub fn printf_bytes(self) -> usize {
        self.0.caps.printf_bytes
    }

    /// Global memory in bytes.
    pub fn total_memory(self) -> u64 {
        self.0.caps.global_bytes
    }

    /// 16 bytes that name the device: the driver's UUID, or a stable one derived from what names it.
    pub fn uuid(self) -> [u8; 16] {
        self.0.caps.uuid
    }

    /// Its place on the PCI bus, `dddd:bb:dd.f` in lower-case hex; derived where it is on none.
    pub fn pci_bus_id(self) -> String {
        let pci = self.0.caps.pci;
        format!("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.device, pci.function)
    }

    /// How memory of this device is backed: `svm`, `coarse` or `buffer` (`GRIDCL_MEMORY`).
    pub fn memory_form(self) -> &'static str {
        self.0.form.as_str()
    }

    /// Free and total memory in bytes. Free is what this process left, unless the driver knows more.
    ///
    /// # Errors
    /// When the context cannot be made, or the device has failed before.
    pub fn memory_info(self) -> Result<(u64, u64)> {
        let total = self.0.caps.global_bytes;
        let ours = total.saturating_sub(self.context()?.memory().allocated_bytes());
        let free = ext::free_memory(self.0.id, &self.0.caps.extensions).map_or(ours, |free| free.min(ours));
        Ok((free, total))
    }

    /// Blocks until all work of all streams of the device is done.
    ///
    /// # Errors
    /// What the device reported about that work.
    pub fn synchronize(self) -> Result<()> {
        trace::observe("Device::synchronize", &[("device", &self)], || self.context()?.synchronize())
    }

    /// Waits for the device, then ends everything made on it: memory, streams, events and modules.
    ///
    /// # Errors
    /// What the device reported about work that was still going on; it is reset all the same.
    pub fn reset(self) -> Result<()> {
        trace::observe("Device::reset", &[("device", &self)], || {
            runtime()?;
            let old = self.0.primary.write().take();
            self.0.flags.store(0, Relaxed);
            old.map_or(Ok(()), |legacy| legacy.context().end())
        })
    }

    /// The stream that takes part when no other is named ("default", "null" or "legacy" stream). It waits for all
    /// blocking streams of the device, and they for it.
    ///
    /// # Errors
    /// When the context cannot be made, or the device has failed before.
    pub fn default_stream(self) -> Result<Stream> {
        runtime()?;
        self.check()?;
        if let Some(legacy) = &*self.0.primary.read() {
            return Ok(legacy.clone());
        }
        self.make_primary()
    }

    /// What the device can do.
    pub(crate) fn caps(self) -> &'static Caps {
        &self.0.caps
    }

    /// How its memory is backed.
    pub(crate) fn form(self) -> Form {
        self.0.form
    }

    /// Flags set by the program (`SetDeviceFlags`). Those that say how a thread waits have an effect.
    pub(crate) fn flags(self) -> u32 {
        self.0.flags.load(Relaxed)
    }

    /// How the program wants its threads to wait.
    pub(crate) fn schedule(self) -> Schedule {
        match self.flags() & 7 {
            1 => Schedule::Spin,
            2 => Schedule::Yield,
            _ => Schedule::Driver,
        }
    }

    /// Keeps flags for the program.
    pub(crate) fn set_flags(self, flags: u32) {
        self.0.flags.store(flags, Relaxed);
    }

    /// The primary context, made on first use.
    pub(crate) fn context(self) -> Result<Arc<Context>> {
        runtime()?;
        self.check()?;
        if let Some(legacy) = &*self.0.primary.read() {
            return Ok(Arc::clone(legacy.context()));
        }
        self.make_primary().map(|legacy| Arc::clone(legacy.context()))
    }

    /// Makes the primary context, unless it was made meanwhile.
    #[cold]
    fn make_primary(self) -> Result<Stream> {
        let _making = self.0.making.lock();
        if let Some(legacy) = &*self.0.primary.read() {
            return Ok(legacy.clone());
        }
        let context = Context::new(self, self.0.id).map_err(|error| error.on_device(self))?;
        if self.0.aborts_at_busy_exit() {
            super::runtime::drain_at_exit();
        }
        let legacy = Stream::legacy(context);
        *self.0.primary.write() = Some(legacy.clone());
        Ok(legacy)
    }

    /// The context if there is one, without making it.
    pub(crate) fn active_context(self) -> Option<Arc<Context>> {
        self.0.primary.read().as_ref().map(|legacy| Arc::clone(legacy.context()))
    }

    /// Answers the device's fault, if it has had one: such faults stay until the process ends.
    pub(crate) fn check(self) -> Result<()> {
        match self.0.fault.get() {
            Some(fault) => Err(fault.clone()),
            None => Ok(()),
        }
    }

    /// Notes what OpenCL reported about work on the device; faults of the device stay.
    pub(crate) fn note(self, failure: crate::cl::Failure) -> Error {
        let error = Error::from(failure).on_device(self);
        if failure.is_fault() {
            return self.0.fault.get_or_init(|| error).clone();
        }
        error
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Device {}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "device {} \"{}\"", self.0.ordinal, self.0.caps.name)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
