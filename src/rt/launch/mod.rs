//! Launches: a grid of blocks of a kernel, checked as a whole and then enqueued once.

pub(crate) mod args;
pub(crate) mod check;
pub(crate) mod last;
pub(crate) mod occupancy;
mod packed;
pub(crate) mod sampler;

use super::context::Context;
use super::memory::Array;
use super::memory::managed::Use;
use super::module::Kernel;
use super::module::build::{Definition, Pooled};
use super::stream::Stream;
use crate::error::{Error, ErrorKind, Result};
use crate::trace;
use args::{Argument, Checked, KernelArg};
use check::Fitting;
use occupancy::Needs;
use smallvec::SmallVec;
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

/// The extent of a grid in blocks, or of a block in work items.
///
/// Made from a number, a pair or a triple; what is left out is 1.
///
/// ```
/// use gridcl::Dim3;
/// assert_eq!(Dim3::from((16, 16)), Dim3::new(16, 16, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// Along the axis that varies fastest.
    pub x: u32,
    /// Along the second axis.
    pub y: u32,
    /// Along the third axis.
    pub z: u32,
}

impl Dim3 {
    /// All three components.
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// A grid that covers `items` along one axis with blocks of `block`.
    pub const fn covering(items: usize, block: u32) -> Self {
        let blocks = items.div_ceil(if block == 0 { 1 } else { block as usize });
        Self::new(if blocks > u32::MAX as usize { u32::MAX } else { blocks as u32 }, 1, 1)
    }

    pub(crate) fn axes(self) -> [usize; 3] {
        [self.x as usize, self.y as usize, self.z as usize]
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self::new(x, 1, 1)
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self::new(x, y, 1)
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self::new(x, y, z)
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}

/// A launch being put together; made by [`Kernel::launch`].
#[derive(Debug)]
#[must_use = "nothing runs until `run`"]
pub struct Launch<'a> {
    kernel: &'a Kernel,
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: Option<&'a Stream>,
    arguments: SmallVec<[Argument<'a>; 8]>,
}

impl Kernel {
    /// Begins a launch of `grid` blocks of `block` work items each.
    ///
    /// ```
    /// use gridcl::{Device, DeviceBuffer, Dim3, Module};
    /// let device = Device::get(0)?;
    /// let stream = device.create_stream()?;
    /// let module = Module::from_source(device, "
    ///     __kernel void scale(__global float *x, float by, int n) {
    ///         int i = get_global_id(0);
    ///         if (i < n) x[i] *= by;
    ///     }")?;
    /// let x = DeviceBuffer::from_slice(&stream, &[1.0f32, 2.0, 3.0])?;
    /// // SAFETY: the kernel writes only to the first 3 elements of `x`.
    /// unsafe {
    ///     module.kernel("scale")?.launch(Dim3::covering(3, 64), 64)
    ///         .stream(&stream).arg(&x).arg(&2.0f32).arg(&3i32).run()?;
    /// }
    /// assert_eq!(x.to_vec(&stream)?, [2.0, 4.0, 6.0]);
    /// # Ok::<(), gridcl::Error>(())
    /// ```
    pub fn launch(&self, grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Launch<'_> {
        Launch {
            kernel: self,
            grid: grid.into(),
            block: block.into(),
            shared: 0,
            stream: None,
            arguments: SmallVec::new(),
        }
    }
}

impl<'a> Launch<'a> {
    /// Bytes of dynamic shared memory: the size of the kernel's one `__local` parameter, which then takes no
    /// argument. Ignored by a kernel without one.
    pub fn shared(mut self, bytes: usize) -> Self {
        self.shared = bytes;
        self
    }

    /// The stream to launch in; without it the default stream of the device that the module was loaded for.
    pub fn stream(mut self, stream: &'a Stream) -> Self {
        self.stream = Some(stream);
        self
    }

    /// The next argument, in the order of the kernel's parameters.
    #[inline]
    pub fn arg<A: KernelArg + ?Sized>(mut self, argument: &'a A) -> Self {
        self.arguments.push(argument.argument());
        self
    }

    /// Checks shape and arguments, copies the arguments, and puts the launch into the stream. Returns before it
    /// runs.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidConfiguration`] and [`crate::ErrorKind::LaunchOutOfResources`] for a shape that
    /// does not fit, [`crate::ErrorKind::InvalidValue`] for arguments that do not; nothing runs then.
    ///
    /// # Safety
    /// The kernel must stay within the buffers that it is given, and must not race with other work on them. Buffers
    /// that are dropped while it runs stay allocated until it is done.
    pub unsafe fn run(self) -> Result<()> {
        trace::observe(
            "Launch::run",
            &[
                ("kernel", &self.kernel.name()),
                ("grid", &self.grid),
                ("block", &self.block),
                ("shared", &self.shared),
                ("stream", &self.stream),
                ("arguments", &self.arguments.len()),
            ],
            || {
                let default;
                let stream = match self.stream {
                    Some(stream) => stream,
                    None => {
                        default = self.kernel.home().default_stream()?;
                        &default
                    }
                };
                let context = stream.context();
                context.check()?;
                let definition = self.kernel.definition(context)?;
                enqueue(stream, context, &definition, (self.grid, self.block, self.shared), &self.arguments)
            },
        )
    }
}

/// Launches with a `void** args` list, as the dialects' calls do; `array` finds what a handle in it means.
///
/// # Errors
/// As [`Launch::run`].
///
/// # Safety
/// As [`Launch::run`], and the list has to have an entry for each parameter that is not `__local`.
pub(crate) unsafe fn launch_list(
    kernel: &Kernel,
    grid: Dim3,
    block: Dim3,
    list: *const *mut c_void,
    shared: usize,
    stream: &Stream,
    array: &dyn Fn(usize) -> Result<Arc<Array>>,
) -> Result<()> {
    let context = stream.context();
    context.check()?;
    let definition = kernel.definition(context)?;
    // SAFETY: the caller's.
    let arrays = unsafe { args::read_arrays(&definition, list, array) }?;
    // SAFETY: the caller's.
    let arguments = unsafe { args::read_list(&definition, list, &arrays) }?;
    enqueue(stream, context, &definition, (grid, block, shared), &arguments)
}

/// Checks what [`launch_list`] checks, and launches nothing.
///
/// # Errors
/// As [`launch_list`].
///
/// # Safety
/// As [`launch_list`].
pub(crate) unsafe fn check_list(
    kernel: &Kernel,
    (grid, block, shared): (Dim3, Dim3, usize),
    list: *const *mut c_void,
    stream: &Stream,
    array: &dyn Fn(usize) -> Result<Arc<Array>>,
) -> Result<()> {
    let context = stream.context();
    context.check()?;
    let definition = kernel.definition(context)?;
    // SAFETY: the caller's.
    let arrays = unsafe { args::read_arrays(&definition, list, array) }?;
    // SAFETY: the caller's.
    let arguments = unsafe { args::read_list(&definition, list, &arrays) }?;
    check::shape(grid, block, shared, definition.limits())?;
    args::check(context, &definition, &arguments, shared, &[], &mut Checked::default())
}

/// Launches a kernel with the bytes of each argument that is not `__local`, in order.
///
/// # Errors
/// As [`Launch::run`]; [`ErrorKind::NotSupported`] for images and samplers, which have no bytes.
///
/// # Safety
/// As [`Launch::run`].
pub(crate) unsafe fn launch_values(
    kernel: &Kernel,
    grid: Dim3,
    block: Dim3,
    values: &[&[u8]],
    shared: usize,
    stream: &Stream,
) -> Result<()> {
    let context = stream.context();
    context.check()?;
    let definition = kernel.definition(context)?;
    let arguments = args::read_values(&definition, values)?;
    enqueue(stream, context, &definition, (grid, block, shared), &arguments)
}

/// The addresses of arguments that are packed into a buffer, as [`launch_list`] takes them.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for a buffer that is too small, [`ErrorKind::NotSupported`] where the kernel does not tell
/// where in it an argument lies.
pub(crate) fn unpack(
    kernel: &Kernel,
    stream: &Stream,
    buffer: *mut c_void,
    bytes: usize,
) -> Result<SmallVec<[*mut c_void; 8]>> {
    let context = stream.context();
    context.check()?;
    let offsets = packed::offsets(kernel.definition(context)?.parameters(), bytes)?;
    Ok(offsets.into_iter().map(|offset| buffer.cast::<u8>().wrapping_add(offset).cast()).collect())
}

/// Checks a launch and puts it into the stream, whose context is known to be usable.
fn enqueue(
    stream: &Stream,
    context: &Arc<Context>,
    definition: &Definition,
    (grid, block, shared): (Dim3, Dim3, usize),
    arguments: &[Argument<'_>],
) -> Result<()> {
    let shared = if definition.locals() > 0 { args::shared_bytes(arguments, shared) } else { shared };
    let asked = (grid, block, shared);
    let mut borrowed = definition.borrow()?;
    let fitting = Fitting::find(borrowed.fitting.as_ref(), asked, definition.limits())?;
    // What the arguments point at lives until the end.
    let mut checked = Checked::default();
    args::check(context, definition, arguments, shared, &borrowed.slots, &mut checked)?;
    if !checked.fits(&borrowed.slots) {
        // What this object has already says nothing of another one.
        args::check(context, definition, arguments, shared, &[], &mut checked)?;
        definition.exchange(&mut borrowed, |other| checked.fits(&other.slots))?;
        args::check(context, definition, arguments, shared, &borrowed.slots, &mut checked)?;
        debug_assert!(checked.fits(&borrowed.slots), "each pointer is passed in the way that its object keeps to");
    }
    let managed = context.memory().managed();
    let given = if managed.is_empty() { SmallVec::new() } else { checked.managed() };
    let using = Use::Kernel(stream.lane(), &given);
    if !managed.is_empty() {
        managed.check(using)?;
    }
    let _labelled = trace::labelled(|| label(definition.name(), asked));
    checked.set(&mut borrowed)?;
    declare(context, &mut borrowed)?;
    let shape = fitting.shape;
    let launched = definition.enqueue(stream.lane(), |queue| {
        if !managed.is_empty() {
            managed.lend(context, queue, using)?;
        }
        queue.run(&borrowed.kernel, &shape.global, &shape.local, shape.dims)
    });
    launched.map_err(|failure| refused(context.note(failure), definition, block))?;
    if fitting.is_new {
        definition.ran(&shape);
        borrowed.fitting = Some(fitting);
    }
    if checked.shares() {
        args::note_uses(arguments, stream);
    }
    Ok(())
}

/// Tells a kernel object what the pointers in memory may point into, where the driver wants to know and it has changed.
fn declare(context: &Context, pooled: &mut Pooled) -> Result<()> {
    if context.memory().declares_blocks()
        && let Some((set, slabs)) = context.memory().slabs(pooled.declared)
    {
        pooled.kernel.declare_blocks(&slabs)?;
        pooled.declared = set;
    }
    Ok(())
}

/// What the timeline says of a launch.
fn label(kernel: &str, (grid, block, shared): (Dim3, Dim3, usize)) -> trace::Label {
    let mut details = vec![("grid", grid.to_string()), ("block", block.to_string())];
    if shared > 0 {
        details.push(("shared", format!("{shared} bytes")));
    }
    trace::Label { name: kernel.to_owned(), category: "kernel", bytes: 0, details }
}

/// The shape is one that the device can run, so a driver that refuses it speaks of the kernel's own needs.
fn refused(error: Error, definition: &Definition, block: Dim3) -> Error {
    match error.kind() {
        ErrorKind::InvalidConfiguration | ErrorKind::LaunchOutOfResources => {
            let problem = format!("{} needs more of the device than a block of that size leaves", definition.name());
            let cause = error.cause().unwrap_or_default().to_owned();
            Error::new(ErrorKind::LaunchOutOfResources, problem).argument("block", block).caused_by(cause)
        }
        _ => error,
    }
}

/// What a kernel takes of the device that it is built for.
pub(crate) fn needs(kernel: &Kernel, context: &Arc<Context>) -> Result<Needs> {
    context.check()?;
    let definition = kernel.definition(context)?;
    let limits = definition.limits();
    Ok(Needs {
        max_block: limits.kernel_block.min(limits.device_block),
        warp: context.caps().warp_size as usize,
        device_block: limits.device_block,
        shared_static: limits.shared_static,
        shared_most: limits.shared_bytes,
        private: definition.group().private_bytes,
        required: if limits.required == [0; 3] { 0 } else { limits.required.iter().product() },
    })
}

/// Launches a kernel with the chevrons of CUDA-style languages; expands to [`Kernel::launch`].
///
/// `launch!(kernel<<<grid, block, shared, stream>>>(a, b, n))`. `shared` (bytes) and `stream` (a [`Stream`]) may be
/// left out. Arguments are borrowed for the call. Like [`Launch::run`], which it ends in, it is unsafe and returns a
/// [`Result`].
///
/// ```
/// use gridcl::{Device, DeviceBuffer, Module, launch};
/// let device = Device::get(0)?;
/// let stream = device.create_stream()?;
/// let module = Module::from_source(device, "
///     __kernel void add(__global const int *a, __global int *b) {
///         int i = get_global_id(0);
///         b[i] += a[i];
///     }")?;
/// let add = module.kernel("add")?;
/// let a = DeviceBuffer::from_slice(&stream, &[1, 2, 3, 4])?;
/// let b = DeviceBuffer::from_slice(&stream, &[10, 20, 30, 40])?;
/// // SAFETY: four work items, four elements in each buffer.
/// unsafe { launch!(add<<<1, 4, 0, &stream>>>(a, b))? };
/// assert_eq!(b.to_vec(&stream)?, [11, 22, 33, 44]);
/// # Ok::<(), gridcl::Error>(())
/// ```
#[macro_export]
macro_rules! launch {
    // The configuration ends at `>>>`; until then tokens are collected one by one, because no fragment may stand
    // before it.
    (@until [$kernel:expr] [$($configuration:tt)*] >>> ($($argument:expr),* $(,)?)) => {
        $crate::launch!(@with [$kernel] [$($configuration)*] [$($argument),*])
    };
    (@until [$kernel:expr] [$($configuration:tt)*] $next:tt $($rest:tt)*) => {
        $crate::launch!(@until [$kernel] [$($configuration)* $next] $($rest)*)
    };
    (@with [$kernel:expr] [$grid:expr, $block:expr] [$($argument:expr),*]) => {
        $kernel.launch($grid, $block)$(.arg(&$argument))*.run()
    };
    (@with [$kernel:expr] [$grid:expr, $block:expr, $shared:expr] [$($argument:expr),*]) => {
        $kernel.launch($grid, $block).shared($shared)$(.arg(&$argument))*.run()
    };
    (@with [$kernel:expr] [$grid:expr, $block:expr, $shared:expr, $stream:expr] [$($argument:expr),*]) => {
        $kernel.launch($grid, $block).shared($shared).stream($stream)$(.arg(&$argument))*.run()
    };
    ($kernel:ident <<< $($rest:tt)*) => {
        $crate::launch!(@until [$kernel] [] $($rest)*)
    };
}
