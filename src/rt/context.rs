//! The primary context of a device: its OpenCL context, its streams' lanes, its memory, and its end.

use super::copy::Staging;
use super::copy::builtin::Builtin;
use super::copy::relay::Links;
use super::device::Device;
use super::launch::sampler::Samplers;
use super::memory::array::Images;
use super::memory::{Memory, host};
use super::module::growth::Unsaved;
use super::runtime::refuse_here;
use super::stream::lanes::{Join, Lanes, Ticket};
use super::stream::order::{LaneId, Order};
use super::timeline;
use crate::cl::platform::DeviceId;
use crate::cl::{self, Caps, DeviceType, Failure, Queue};
use crate::error::{Error, ErrorKind, Result};
use parking_lot::Mutex;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// One context of exactly one device. Objects of the program hold it, so it outlives them; [`Context::end`] says
/// that they are dead all the same.
pub(crate) struct Context {
    device: Device,
    /// Tells contexts of one device apart over resets.
    serial: u64,
    cl: Arc<cl::Context>,
    /// Carries the maps and unmaps of host memory. No stream's work is ever in it, so that it is never held up.
    service: Arc<Queue>,
    lanes: Lanes,
    memory: Memory,
    images: Images,
    samplers: Samplers,
    staging: Staging,
    builtin: Builtin,
    unsaved: Unsaved,
    reaches_host: OnceLock<bool>,
    links: Links,
    /// Whether a kernel may print.
    prints: AtomicBool,
    /// What went wrong in a lane outside of the driver, for whoever waits for the lane next.
    reports: Mutex<Vec<(LaneId, Error)>>,
    alive: AtomicBool,
}

impl Context {
    /// Makes the context of a device.
    pub(super) fn new(device: Device, id: DeviceId) -> Result<Arc<Self>> {
        static SERIAL: AtomicU64 = AtomicU64::new(1);
        timeline::prepare();
        let cl = Arc::new(cl::Context::new(id)?);
        let service = Arc::new(Queue::new(&cl, false, None)?);
        Ok(Arc::new(Self {
            device,
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            service,
            lanes: Lanes::new(&cl, device),
            memory: Memory::new(device.form(), device.caps()),
            images: Images::default(),
            samplers: Samplers::default(),
            staging: Staging::default(),
            builtin: Builtin::default(),
            unsaved: Unsaved::default(),
            reaches_host: OnceLock::new(),
            links: Links::default(),
            prints: AtomicBool::new(false),
            reports: Mutex::default(),
            alive: AtomicBool::new(true),
            cl,
        }))
    }

    pub(crate) fn device(&self) -> Device {
        self.device
    }

    pub(crate) fn caps(&self) -> &'static Caps {
        self.device.caps()
    }

    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    pub(crate) fn cl(&self) -> &Arc<cl::Context> {
        &self.cl
    }

    pub(crate) fn service(&self) -> &Arc<Queue> {
        &self.service
    }

    pub(crate) fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(crate) fn images(&self) -> &Images {
        &self.images
    }

    pub(crate) fn samplers(&self) -> &Samplers {
        &self.samplers
    }

    pub(crate) fn staging(&self) -> &Staging {
        &self.staging
    }

    pub(crate) fn builtin(&self) -> &Builtin {
        &self.builtin
    }

    /// Modules that the disk cache should have.
    pub(crate) fn unsaved(&self) -> &Unsaved {
        &self.unsaved
    }

    /// Whether kernels reach pinned host memory by its own address; tried once where only that tells.
    pub(crate) fn kernels_reach_host_memory(&self) -> bool {
        let caps = self.caps();
        caps.may_reach_host_memory()
            && (caps.device_type == DeviceType::Cpu || *self.reaches_host.get_or_init(|| host::try_reach(self)))
    }

    /// What takes work of other devices' streams.
    pub(crate) fn links(&self) -> &Links {
        &self.links
    }

    /// Whether objects of this context may still be used.
    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Refuses work where the runtime cannot be used, on a context that was reset, and on a device that failed.
    pub(crate) fn check(&self) -> Result<()> {
        refuse_here()?;
        if !self.is_alive() {
            return Err(
                Error::new(ErrorKind::InvalidHandle, "it was made before the device was reset").on_device(self.device)
            );
        }
        self.device.check()
    }

    /// Enqueues an action in a lane, in the order of the default-stream rules.
    pub(crate) fn submit<T>(
        &self,
        lane: LaneId,
        enqueue: impl FnOnce(&Arc<Queue>) -> Result<T, Failure>,
    ) -> Result<(T, Ticket)> {
        self.submit_joined(lane, Join::Rules, enqueue)
    }

    /// The same with a say in which waits come first.
    pub(crate) fn submit_joined<T>(
        &self,
        lane: LaneId,
        join: Join,
        enqueue: impl FnOnce(&Arc<Queue>) -> Result<T, Failure>,
    ) -> Result<(T, Ticket)> {
        self.check()?;
        self.lanes.submit(lane, join, timeline::watched(self, lane, enqueue)).map_err(|failure| self.note(failure))
    }

    /// Blocks until a lane is done.
    pub(crate) fn wait(&self, lane: LaneId) -> Result<()> {
        self.waited(lane, self.lanes.wait(lane))
    }

    /// The same for a call whose operands are the program's again when it returns.
    pub(crate) fn wait_out(&self, lane: LaneId) -> Result<()> {
        self.waited(lane, self.lanes.wait_out(lane))
    }

    fn waited(&self, lane: LaneId, outcome: Result<(), Failure>) -> Result<()> {
        let outcome = outcome.map_err(|failure| self.note(failure));
        self.memory.pools().synchronized();
        outcome?;
        self.unsaved.save(self);
        self.catch_up()?;
        self.device.check()?;
        self.take_report(|of| of == lane)
    }

    /// Blocks until all is done that a lane's next action has to come after.
    pub(crate) fn wait_turn(&self, lane: LaneId) -> Result<()> {
        self.lanes.wait_turn(lane).map_err(|failure| self.note(failure))?;
        self.device.check()
    }

    /// Blocks until the work before a ticket is done.
    pub(crate) fn wait_until(&self, ticket: &Ticket) -> Result<()> {
        refuse_here()?;
        let outcome = self.lanes.wait_until(ticket).map_err(|failure| self.note(failure));
        self.memory.pools().synchronized();
        outcome?;
        self.unsaved.save(self);
        self.catch_up()?;
        self.take_report(|of| self.lanes.lane_of(ticket) == Some(of))
    }

    /// After a wait for an event, which tells the lanes nothing: memory that was freed in stream order before it may
    /// be anybody's.
    pub(crate) fn waited_for_event(&self) -> Result<()> {
        if self.memory.pools().have_parked() {
            self.lanes.poll();
            self.memory.pools().synchronized();
        }
        self.catch_up()
    }

    /// Kernels may print from now on.
    pub(crate) fn expect_prints(&self) {
        self.prints.store(true, Ordering::Relaxed);
    }

    /// Lets out what kernels printed: drivers do so (Intel's CPU runtime 2026.2) through C's standard output, which keeps it
    /// back where it is no terminal.
    fn let_prints_out(&self) {
        unsafe extern "C" {
            #[allow(non_upper_case_globals, reason = "C's name")]
            static stdout: *mut libc::FILE;
        }
        if self.prints.load(Ordering::Relaxed) {
            // SAFETY: the stream is C's own, and open or null as the program left it; null flushes all streams. A failure
            // is the standard output's, and the next who prints meets it.
            unsafe { libc::fflush(stdout) };
        }
    }

    /// What follows a moment at which the host knows work to be done: what kernels printed is out, and managed memory is
    /// the host's again where no stream may use it.
    pub(crate) fn catch_up(&self) -> Result<()> {
        self.let_prints_out();
        timeline::collect(self);
        self.memory.managed().restore(self).map_err(|failure| self.note(failure))
    }

    /// Blocks until all lanes are done. An error says that they may not be; a device that failed has no work left.
    pub(crate) fn quiesce(&self) -> Result<()> {
        match self.lanes.wait_all() {
            Err(failure) if !failure.is_fault() => Err(self.note(failure)),
            _ => Ok(()),
        }
    }

    /// Blocks until all lanes are done.
    pub(crate) fn synchronize(&self) -> Result<()> {
        let outcome = self.lanes.wait_all().map_err(|failure| self.note(failure));
        self.memory.reclaim();
        self.memory.pools().synchronized();
        outcome?;
        self.unsaved.save(self);
        self.catch_up()?;
        self.device.check()?;
        self.take_report(|_| true)
    }

    /// Notes that a callback of a lane did not return.
    pub(crate) fn note_panic(&self, lane: LaneId, text: &str) {
        self.report(lane, Error::new(ErrorKind::Unknown, format!("a callback of the stream panicked: {text}")));
    }

    /// Keeps an error for whoever waits for a lane next.
    pub(crate) fn report(&self, lane: LaneId, error: Error) {
        self.reports.lock().push((lane, error));
    }

    /// Forgets what nobody asked for while a lane's number was another stream's.
    pub(crate) fn forget_reports(&self, lane: LaneId) {
        self.reports.lock().retain(|(of, _)| *of != lane);
    }

    fn take_report(&self, of: impl Fn(LaneId) -> bool) -> Result<()> {
        let mut reports = self.reports.lock();
        match reports.iter().position(|(lane, _)| of(*lane)) {
            Some(index) => Err(reports.remove(index).1),
            None => Ok(()),
        }
    }

    /// An error for what OpenCL reported, which the device keeps where it is a fault of its own.
    pub(crate) fn note(&self, failure: Failure) -> Error {
        self.device.note(failure)
    }

    /// Ends the context: waits for its work, then lets go of its memory. What the program still holds is dead.
    pub(super) fn end(&self) -> Result<()> {
        let outcome = self.lanes.wait_all().map_err(|failure| self.note(failure));
        self.let_prints_out();
        timeline::collect(self);
        self.alive.store(false, Ordering::Release);
        super::memory::forget_all_of(self);
        super::module::symbol::forget_dead();
        self.trim();
        outcome
    }

    /// Gives back what is kept only for speed.
    pub(crate) fn trim(&self) {
        self.lanes.poll();
        self.memory.reclaim();
        self.staging.trim();
        self.builtin.trim();
        self.samplers.trim();
        self.memory.trim(0);
        self.lanes.trim();
    }

    /// The default stream's lane.
    pub(crate) const LEGACY: LaneId = Order::LEGACY;
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("device", &self.device).field("serial", &self.serial).finish_non_exhaustive()
    }
}
