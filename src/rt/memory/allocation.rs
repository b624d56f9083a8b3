//! One allocation: what it is, whose it is, and what backs its addresses.

use super::pool::{ALIGN, Grown};
use super::reserve::{self, Reserved};
use super::slab::Range;
use super::{Form, Memory};
use crate::cl::{self, HostBuffer};
use crate::error::Result;
use crate::rt::context::Context;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A block of this size is never too large.
const SMALL_BYTES: usize = 64 << 10;

/// What an allocation is to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Device memory that the program allocated.
    Device,
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
    backing: Backing,
}

#[derive(Debug)]
enum Backing {
    /// Part of a slab of shared virtual memory.
    Slab(Range),
    /// A buffer object; the addresses are only reserved.
    Buffer { buffer: cl::Buffer, reserved: Reserved },
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

impl Allocation {
    /// Device memory. The caller has charged the account, and the drop of what this returns discharges it.
    pub(super) fn new(context: &Arc<Context>, bytes: usize, kind: Kind, flags: u32) -> Result<Self> {
        let memory = context.memory();
        // A byte more than asked for: the address behind the last byte is then nobody else's.
        let spaced = bytes.saturating_add(1);
        let wanted = bytes.max(1);
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
        Ok(Self::over(context, base, bytes, kind, flags, Backing::Buffer { buffer, reserved }))
    }

    fn slab(context: &Arc<Context>, memory: &Memory, bytes: usize) -> Option<(usize, Range)> {
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
        Self { context: Arc::clone(context), base, bytes, kind, flags, serial, backing }
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

    /// The bytes that it holds of what backs it.
    pub(super) fn held(&self) -> usize {
        match &self.backing {
            Backing::Slab(range) => range.len,
            _ => self.bytes.max(1),
        }
    }

    /// The most bytes that an allocation in its place could have.
    pub(super) fn room(&self) -> usize {
        match &self.backing {
            Backing::Slab(range) => range.len - 1,
            _ => self.bytes.max(1),
        }
    }

    /// Whether it is far too large for `bytes` and nothing can be cut off.
    pub(super) fn is_wasted_on(&self, bytes: usize) -> bool {
        !matches!(self.backing, Backing::Slab(_)) && self.bytes / 2 > bytes.max(SMALL_BYTES)
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

    /// How an operation reaches `address`, which lies in this allocation.
    pub(crate) fn place(&self, address: usize) -> Place<'_> {
        match &self.backing {
            Backing::Slab(_) => Place::Svm(address),
            Backing::Buffer { buffer, .. } => Place::Buffer(buffer, address - self.base),
            Backing::Host { .. } | Backing::Plain => Place::Host(address),
        }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let memory = self.context.memory();
        match &self.backing {
            Backing::Slab(range) => memory.pool.lock().give(*range),
            Backing::Buffer { reserved, .. } => reserve::give(*reserved),
            Backing::Host { .. } | Backing::Plain => return,
        }
        memory.discharge(self.bytes);
    }
}
