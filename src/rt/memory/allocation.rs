//! One allocation: what it is, whose it is, and what backs its addresses.

use super::advice::{Advice, AdviceMap};
use super::pool::{ALIGN, Grown};
use super::reserve::{self, Reserved};
use super::slab;
use super::{Form, Memory, managed};
use crate::cl::{self, HostBuffer};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::sync::{Arc, OnceLock};

/// A block of this size is never too large.
const SMALL_BYTES: usize = 64 << 10;

/// What an allocation is to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Device memory that the program allocated.
    Device,
    /// Memory that host and device share, in turn or at the same time.
    Managed,
    /// Storage of a module's symbol, which goes with the module.
    Symbol,
    /// Host memory that the runtime allocated and pinned.
    Pinned,
    /// Host memory of the program's own that it registered.
    Registered,
}

impl Kind {
    /// Whether the host may touch the memory by its address.
    pub(crate) fn is_host(self) -> bool {
        matches!(self, Self::Pinned | Self::Registered)
    }
}

/// A range of addresses and what backs it.
#[derive(Debug)]
pub(crate) struct Allocation {
    context: Arc<Context>,
    base: usize,
    bytes: usize,
    kind: Kind,
    /// The flags that it was made with; what they mean is the dialect's.
    flags: u32,
    /// Tells allocations apart that had the same address one after the other.
    serial: u64,
    /// Whether the address map has it.
    listed: AtomicBool,
    /// What the program said about managed memory, if anything.
    advice: OnceLock<Mutex<AdviceMap>>,
    backing: Backing,
}

#[derive(Debug)]
enum Backing {
    /// Part of a slab of shared virtual memory.
    Slab(slab::Range),
    /// A buffer object; the addresses are only reserved.
    Buffer { buffer: Arc<cl::Buffer>, reserved: Reserved },
    /// A block that changes hands between host and device.
    Managed(Arc<managed::Block>),
    /// Host memory that the driver pinned, mapped as long as it lives.
    Host { _mapping: HostBuffer },
    /// Host memory as it is.
    Plain,
}

/// How an operation reaches an address.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    /// By itself, on the device.
    Svm(usize),
    /// As so many bytes into a buffer object.
    Buffer(&'a cl::Buffer, usize),
    /// By itself, on the host.
    Host(usize),
}

impl Place<'_> {
    /// What tells how the place is aligned: buffer objects start at multiples of what any access needs.
    pub(crate) fn offset(self) -> usize {
        match self {
            Self::Svm(address) | Self::Host(address) => address,
            Self::Buffer(_, offset) => offset,
        }
    }
}

impl Allocation {
    /// Device memory. The caller has charged the account, and the drop of what this returns discharges it.
    pub(super) fn new(context: &Arc<Context>, bytes: usize, kind: Kind, flags: u32) -> Result<Self> {
        let memory = context.memory();
        // A byte more than asked for: the address behind the last byte is then nobody else's.
        let spaced = bytes.saturating_add(1);
        let wanted = bytes.max(1);
        if kind == Kind::Managed && memory.form() != Form::Svm {
            return Self::managed(context, bytes);
        }
        if memory.form() != Form::Buffer
            && let Some((base, range)) = Self::slab(context, memory, spaced)
        {
            return Ok(Self::over(context, base, bytes, kind, flags, Backing::Slab(range)));
        }
        // Also where the device has shared virtual memory, but not as much of it in one block.
        let buffer = cl::Buffer::new(context.cl(), wanted).or_else(|_| {
            context.trim();
            cl::Buffer::new(context.cl(), wanted)
        });
        let buffer = buffer.map_err(cl::Failure::out_of_memory)?;
        let (base, reserved) = reserve::take(spaced)?;
        Ok(Self::over(context, base, bytes, kind, flags, Backing::Buffer { buffer: Arc::new(buffer), reserved }))
    }

    /// Managed memory that is not fine-grained: a block of its own, which changes hands as a whole.
    fn managed(context: &Arc<Context>, bytes: usize) -> Result<Self> {
        if context.memory().form() == Form::Buffer {
            let problem = "managed memory needs shared virtual memory, which this device does not have or may not use";
            return Err(Error::new(ErrorKind::NotSupported, problem).help("allocate pinned memory and copy"));
        }
        let make = || managed::Block::new(context.cl(), bytes);
        let block = make().or_else(|_| {
            context.trim();
            make()
        });
        let block = Arc::new(block.map_err(cl::Failure::out_of_memory)?);
        let base = block.address();
        context.memory().managed().enter(context, Arc::clone(&block))?;
        context.memory().declare_managed();
        Ok(Self::over(context, base, bytes, Kind::Managed, 0, Backing::Managed(block)))
    }

    fn slab(context: &Arc<Context>, memory: &Memory, bytes: usize) -> Option<(usize, slab::Range)> {
        match memory.pool.lock().take(context.cl(), bytes) {
            Grown::Taken(base, range) => return Some((base, range)),
            Grown::TooLarge => return None,
            Grown::Refused => {}
        }
        // The driver refused: what is buried or cached may be what it lacks.
        memory.scrape(context);
        let mut pool = memory.pool.lock();
        pool.trim(0);
        match pool.take(context.cl(), bytes) {
            Grown::Taken(base, range) => Some((base, range)),
            _ => None,
        }
    }

    /// Pinned or registered host memory.
    pub(super) fn host(
        context: &Arc<Context>,
        base: usize,
        bytes: usize,
        kind: Kind,
        flags: u32,
        pinned: Option<HostBuffer>,
    ) -> Self {
        Self::over(
            context,
            base,
            bytes,
            kind,
            flags,
            pinned.map_or(Backing::Plain, |_mapping| Backing::Host { _mapping }),
        )
    }

    fn over(context: &Arc<Context>, base: usize, bytes: usize, kind: Kind, flags: u32, backing: Backing) -> Self {
        static SERIAL: AtomicU64 = AtomicU64::new(1);
        let serial = SERIAL.fetch_add(1, Relaxed);
        let (context, listed) = (Arc::clone(context), AtomicBool::new(false));
        Self { context, base, bytes, kind, flags, serial, listed, advice: OnceLock::new(), backing }
    }

    /// The context that it belongs to.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Its first address.
    pub(crate) fn base(&self) -> usize {
        self.base
    }

    /// The size that the program asked for.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn flags(&self) -> u32 {
        self.flags
    }

    /// A number that no other allocation of the process has.
    pub(super) fn serial(&self) -> u64 {
        self.serial
    }

    /// Whether the address map has it: a free ends that at once, long before the memory goes.
    pub(crate) fn is_listed(&self) -> bool {
        self.listed.load(Acquire)
    }

    /// Says so, while the map is locked for writing.
    pub(super) fn set_listed(&self, listed: bool) {
        self.listed.store(listed, Release);
    }

    /// The bytes that it holds of what backs it.
    pub(super) fn held(&self) -> usize {
        match &self.backing {
            Backing::Slab(range) => range.len,
            // More than its bytes where a smaller allocation took the place of a larger one.
            Backing::Buffer { buffer, .. } => buffer.bytes(),
            _ => self.bytes.max(1),
        }
    }

    /// The most bytes that an allocation in its place could have.
    pub(super) fn room(&self) -> usize {
        match &self.backing {
            Backing::Slab(range) => range.len - 1,
            _ => self.held(),
        }
    }

    /// Whether it is far too large for `bytes` and nothing can be cut off.
    pub(super) fn is_wasted_on(&self, bytes: usize) -> bool {
        !matches!(self.backing, Backing::Slab(_)) && self.held() / 2 > bytes.max(SMALL_BYTES)
    }

    /// Makes an allocation of `bytes` in the place of one that is out of the map, and one of what is left where that
    /// can be cut off.
    pub(super) fn recut(mut self, bytes: usize) -> (Self, Option<Self>) {
        // The drop of `self` then gives nothing back.
        let backing = std::mem::replace(&mut self.backing, Backing::Plain);
        let memory = self.context.memory();
        memory.discharge(self.bytes);
        let make = |base: usize, bytes: usize, backing: Backing| {
            memory.charge_held(bytes);
            Self::over(&self.context, base, bytes, self.kind, 0, backing)
        };
        let Backing::Slab(range) = backing else { return (make(self.base, bytes, backing), None) };
        let (first, rest) = range.split(bytes.saturating_add(1), ALIGN);
        let rest = rest.map(|rest| make(self.base + first.len, rest.len - 1, Backing::Slab(rest)));
        (make(self.base, bytes, Backing::Slab(first)), rest)
    }

    /// Changes what was said about a range of it.
    pub(super) fn advise(&self, range: Range<usize>, change: impl Fn(&mut Advice)) {
        self.advice.get_or_init(Mutex::default).lock().change(range, change);
    }

    /// What was said about a range of it, each stretch that differs.
    pub(super) fn advice(&self, range: Range<usize>) -> Vec<Advice> {
        self.advice.get_or_init(Mutex::default).lock().of(range).cloned().collect()
    }

    /// Whether the driver pinned it.
    pub(super) fn is_pinned(&self) -> bool {
        matches!(self.backing, Backing::Host { .. })
    }

    /// How an operation reaches `address`, which lies in this allocation.
    pub(crate) fn place(&self, address: usize) -> Place<'_> {
        match &self.backing {
            Backing::Slab(_) | Backing::Managed(_) => Place::Svm(address),
            Backing::Buffer { buffer, .. } => Place::Buffer(buffer, address - self.base),
            Backing::Host { .. } | Backing::Plain => Place::Host(address),
        }
    }

    /// A buffer object that holds `address`, and how far into it that is, for calls that take no addresses. `None`
    /// for host memory.
    pub(crate) fn buffer(&self, address: usize) -> cl::status::Result<Option<(Arc<cl::Buffer>, usize)>> {
        match &self.backing {
            Backing::Slab(range) => {
                let (alias, start) = self.context.memory().pool.lock().alias(*range)?;
                Ok(Some((alias, address - start)))
            }
            Backing::Managed(block) => Ok(Some((block.alias()?, address - self.base))),
            Backing::Buffer { buffer, .. } => Ok(Some((Arc::clone(buffer), address - self.base))),
            Backing::Host { .. } | Backing::Plain => Ok(None),
        }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let memory = self.context.memory();
        match &self.backing {
            Backing::Slab(range) => memory.pool.lock().give(*range),
            Backing::Managed(_) => {
                memory.managed().leave(&self.context, self.base);
                memory.declare_managed();
            }
            Backing::Buffer { reserved, .. } => reserve::give(*reserved),
            Backing::Host { .. } | Backing::Plain => return,
        }
        memory.discharge(self.bytes);
    }
}
