//! Typed managed memory: one address for host and device.

use super::buffer::element_bytes;
use crate::error::Result;
use crate::rt::device::Device;
use crate::rt::launch::args::{Argument, KernelArg};
use crate::rt::memory::advice::Location;
use crate::rt::memory::managed::Attach;
use crate::rt::memory::{self, Allocation, Kind, hints};
use crate::rt::runtime::is_forked;
use crate::rt::stream::Stream;
use crate::rt::stream::uses::Uses;
use crate::trace;
use bytemuck::Pod;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// `len` elements of `T` that host and device share without copies.
///
/// Kernels take it as an argument; the host reaches the elements through guards, which wait for the work that may use
/// them. Where host and device cannot use memory at the same time
/// ([`Device::has_concurrent_managed_access`] is false) a guard waits for the whole device, and launches are refused
/// with [`ErrorKind::NotPermitted`](crate::ErrorKind::NotPermitted) while one is alive. Dropping the buffer never
/// waits.
///
/// ```
/// use gridcl::{Device, ManagedBuffer, Module, launch};
/// let device = Device::get(0)?;
/// # if !device.has_managed_memory() { return Ok(()); }
/// let stream = device.create_stream()?;
/// let module = Module::from_source(device, "
///     __kernel void twice(__global int *x) { x[get_global_id(0)] *= 2; }")?;
/// let twice = module.kernel("twice")?;
/// let mut x = ManagedBuffer::<i32>::new(device, 4)?;
/// x.write()?.copy_from_slice(&[1, 2, 3, 4]);
/// // SAFETY: four work items, four elements.
/// unsafe { launch!(twice<<<1, 4, 0, &stream>>>(x))? };
/// assert_eq!(*x.read()?, [2, 4, 6, 8]);
/// # Ok::<(), gridcl::Error>(())
/// ```
pub struct ManagedBuffer<T> {
    allocation: Arc<Allocation>,
    len: usize,
    uses: Uses,
    element: PhantomData<T>,
}

impl Device {
    /// Whether [`ManagedBuffer`]s can be had on the device: where it has shared virtual memory.
    pub fn has_managed_memory(self) -> bool {
        self.form() != memory::Form::Buffer
    }

    /// Whether the host may touch managed memory while the device has work: where shared virtual memory is
    /// fine-grained.
    pub fn has_concurrent_managed_access(self) -> bool {
        self.form() == memory::Form::Svm
    }
}

impl<T: Pod> ManagedBuffer<T> {
    /// Zeroed managed memory of `device`.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory) when there is no room,
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) where the device has none of it.
    pub fn new(device: Device, len: usize) -> Result<Self> {
        trace::observe("ManagedBuffer::new", &[("device", &device), ("len", &len)], || {
            let bytes = element_bytes::<T>(len)?;
            let allocation = memory::allocate(&device.context()?, bytes.max(1), Kind::Managed)?;
            // SAFETY: fresh memory is the host's, and that large.
            unsafe { std::ptr::write_bytes(allocation.base() as *mut u8, 0, bytes) };
            allocation.context().memory().managed().attach(allocation.base(), Attach::Global);
            Ok(Self { allocation, len, uses: Uses::default(), element: PhantomData })
        })
    }

    /// The elements to read, once what writes them is done.
    ///
    /// # Errors
    /// What the device reported about that work.
    pub fn read(&self) -> Result<ManagedRead<'_, T>> {
        self.uses.wait_for_writes()?;
        Ok(ManagedRead(Held::of(self)?))
    }

    /// The elements to read and write, once what uses them is done.
    ///
    /// # Errors
    /// What the device reported about that work.
    pub fn write(&mut self) -> Result<ManagedWrite<'_, T>> {
        self.uses.wait_for_all()?;
        Ok(ManagedWrite(Held::of(self)?))
    }

    /// Moves the elements to where they are used next, in the order of `stream`: to the stream's device, or to the
    /// host. A hint; what they are stays the same (MUSA `musaMemPrefetchAsync`).
    ///
    /// # Errors
    /// When the device was reset.
    pub fn prefetch(&self, stream: &Stream, to_host: bool) -> Result<()> {
        trace::observe(
            "ManagedBuffer::prefetch",
            &[("len", &self.len()), ("stream", &stream), ("to_host", &to_host)],
            || {
                let to = if to_host { Location::Host } else { Location::Device(stream.device().ordinal()) };
                hints::prefetch(stream, self.allocation.base(), self.allocation.bytes(), to)?;
                self.uses.written_by(stream);
                Ok(())
            },
        )
    }
}

impl<T> ManagedBuffer<T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device whose memory it is.
    pub fn device(&self) -> Device {
        self.allocation.context().device()
    }

    pub(super) fn address(&self) -> usize {
        self.allocation.base()
    }

    /// The work that may still use the buffer.
    pub(super) fn uses(&self) -> &Uses {
        &self.uses
    }
}

// SAFETY: the memory lives until the last work that is noted here is done.
unsafe impl<T: Pod> KernelArg for ManagedBuffer<T> {
    fn argument(&self) -> Argument<'_> {
        Argument::shared(self.allocation.base(), &self.uses)
    }
}

impl<T> Drop for ManagedBuffer<T> {
    fn drop(&mut self) {
        memory::give_up_after(&self.allocation, self.uses.take());
    }
}

impl<T> fmt::Debug for ManagedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagedBuffer")
            .field("element", &std::any::type_name::<T>())
            .field("len", &self.len)
            .field("device", &self.device())
            .finish_non_exhaustive()
    }
}

/// The elements in the host's hands.
struct Held<'a, T>(&'a ManagedBuffer<T>);

impl<'a, T> Held<'a, T> {
    fn of(buffer: &'a ManagedBuffer<T>) -> Result<Self> {
        let context = buffer.allocation.context();
        context.check()?;
        if !context.memory().managed().is_empty() {
            context.synchronize()?;
        }
        context.memory().managed().hold(buffer.allocation.base())?;
        Ok(Self(buffer))
    }

    fn start(&self) -> *mut T {
        self.0.allocation.base() as *mut T
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        if is_forked() {
            // A thread that stayed behind may hold the lock for ever.
            return;
        }
        self.0.allocation.context().memory().managed().let_go(self.0.allocation.base());
    }
}

/// The elements of a [`ManagedBuffer`] while no work writes them.
pub struct ManagedRead<'a, T>(Held<'a, T>);

impl<T> Deref for ManagedRead<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the memory is initialised and as long as the buffer; it is the host's while the guard is alive.
        unsafe { std::slice::from_raw_parts(self.0.start(), self.0.0.len) }
    }
}

/// The elements of a [`ManagedBuffer`] while no work uses them.
pub struct ManagedWrite<'a, T>(Held<'a, T>);

impl<T> Deref for ManagedWrite<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: as for `ManagedRead`.
        unsafe { std::slice::from_raw_parts(self.0.start(), self.0.0.len) }
    }
}

impl<T> DerefMut for ManagedWrite<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `ManagedRead`, and the guard borrows the buffer alone.
        unsafe { std::slice::from_raw_parts_mut(self.0.start(), self.0.0.len) }
    }
}

impl<T: fmt::Debug> fmt::Debug for ManagedRead<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: fmt::Debug> fmt::Debug for ManagedWrite<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
