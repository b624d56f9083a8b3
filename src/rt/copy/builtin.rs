//! The runtime's own kernels for filling and copying, built at first use in each context.

use super::{Extent, Pitch, Region};
use crate::cl::queue::Queue;
use crate::cl::{Context as ClContext, Failure, Kernel, Program};
use crate::rt::context::Context;
use crate::rt::memory::Place;
use parking_lot::Mutex;

/// Their text (`kernels_cl/`): OpenCL C 1.2 without anything optional.
const SOURCE: &str = concat!(
    include_str!("../../../kernels_cl/fill.cl"),
    include_str!("../../../kernels_cl/fill_box.cl"),
    include_str!("../../../kernels_cl/copy.cl")
);

/// Work items in a group; every device that is worth a kernel of ours takes as many.
const GROUP: usize = 256;

/// Work items of a box along a row and down the rows at most; they stride over what is beyond. Multiples of every
/// work group's sides.
const MAX_ACROSS: usize = 1 << 20;
const MAX_DOWN: usize = 1 << 14;

/// The kernels of one context.
#[derive(Debug, Default)]
pub(crate) struct Builtin(Mutex<Option<Kernels>>);

#[derive(Debug)]
struct Kernels {
    /// For shared virtual memory, and for buffer objects: NVIDIA's driver (580.159) refuses a launch after both for
    /// one argument of one object.
    fill: [Kernel; 2],
    fill_box: [Kernel; 2],
    /// The same by what the target is, and then the source.
    copy: [[Kernel; 2]; 2],
    group: usize,
}

impl Builtin {
    /// Fills `bytes` from `to` on with a word of 16 bytes, which is what an address that is a multiple of 16 gets.
    /// Buffer objects start at such addresses: OpenCL aligns them to 128 bytes at least.
    pub(crate) fn fill(
        &self,
        context: &Context,
        queue: &Queue,
        to: Place<'_>,
        bytes: usize,
        word: &[u8; 16],
    ) -> Result<(), Failure> {
        self.with(context.cl(), |kernels| {
            let fill = &mut kernels.fill[variant(to)];
            let offset = place(fill, 0, to)?;
            fill.set_bytes(1, &(offset as u64).to_ne_bytes())?;
            fill.set_bytes(2, &(bytes as u64).to_ne_bytes())?;
            fill.set_bytes(3, word)?;
            run(queue, fill, (bytes / 16).max(32), kernels.group)
        })
    }

    /// Fills a box with a 4-byte word.
    pub(super) fn fill_box(
        &self,
        context: &Context,
        queue: &Queue,
        to: Place<'_>,
        (extent, pitch): (Extent, Pitch),
        word: u32,
    ) -> Result<(), Failure> {
        self.with(context.cl(), |kernels| {
            let fill = &mut kernels.fill_box[variant(to)];
            set_end(fill, 0, to, pitch)?;
            for (index, value) in (4..).zip([extent.width, extent.rows, extent.slices]) {
                fill.set_bytes(index, &(value as u64).to_ne_bytes())?;
            }
            fill.set_bytes(7, &word.to_ne_bytes())?;
            let (global, local) = rows(kernels.group, extent.width.div_ceil(16), extent);
            queue.run(fill, &global, &local, 2)
        })
    }

    /// Copies a box between two places of the device.
    pub(super) fn copy(
        &self,
        context: &Context,
        queue: &Queue,
        to: Place<'_>,
        from: Place<'_>,
        region: Region,
    ) -> Result<(), Failure> {
        self.with(context.cl(), |kernels| {
            let copy = &mut kernels.copy[variant(to)][variant(from)];
            let Region { extent, to: to_pitch, from: from_pitch } = region;
            let unit = region.unit(to.offset(), from.offset());
            set_end(copy, 0, to, to_pitch)?;
            set_end(copy, 4, from, from_pitch)?;
            for (index, value) in (8..).zip([extent.width, extent.rows, extent.slices]) {
                copy.set_bytes(index, &(value as u64).to_ne_bytes())?;
            }
            copy.set_bytes(11, &(unit as u32).to_ne_bytes())?;
            let (global, local) = rows(kernels.group, extent.width / unit, extent);
            queue.run(copy, &global, &local, 2)
        })
    }

    /// Gives the kernels up; they are built again when needed.
    pub(crate) fn trim(&self) {
        *self.0.lock() = None;
    }

    /// The lock is held over setting arguments and enqueuing, which belong together.
    fn with(&self, context: &ClContext, act: impl FnOnce(&mut Kernels) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut kernels = self.0.lock();
        match &mut *kernels {
            Some(kernels) => act(kernels),
            None => act(kernels.insert(Kernels::build(context)?)),
        }
    }
}

impl Kernels {
    fn build(context: &ClContext) -> Result<Self, Failure> {
        let program = Program::build(context, SOURCE, "").map_err(|broken| {
            log::error!("the runtime's own kernels do not build: {}", broken.log);
            broken.failure
        })?;
        let pair = |name| Ok::<_, Failure>([Kernel::new(&program, name)?, Kernel::new(&program, name)?]);
        let (fill, fill_box) = (pair("gridcl_fill")?, pair("gridcl_fill_box")?);
        let copy = [pair("gridcl_copy")?, pair("gridcl_copy")?];
        let mut group = GROUP;
        for kernel in [&fill[0], &fill_box[0], &copy[0][0]] {
            group = group.min(kernel.work_group()?.max_size).max(1);
        }
        // A power of two, which halves into the sides of a work group.
        let group = 1 << group.ilog2();
        Ok(Self { fill, fill_box, copy, group })
    }
}

/// Which of two kernel objects serves a pointer.
fn variant(place: Place<'_>) -> usize {
    usize::from(matches!(place, Place::Buffer(..)))
}

/// Sets the four arguments for a box: pointer, offset, and pitches.
fn set_end(kernel: &mut Kernel, index: u32, end: Place<'_>, pitch: Pitch) -> Result<(), Failure> {
    let offset = place(kernel, index, end)?;
    for (index, value) in (index + 1..).zip([offset, pitch.row, pitch.slice]) {
        kernel.set_bytes(index, &(value as u64).to_ne_bytes())?;
    }
    Ok(())
}

/// Sets a pointer argument to the base of a place; answers how far into it the place is.
pub(crate) fn place(kernel: &mut Kernel, index: u32, place: Place<'_>) -> Result<usize, Failure> {
    match place {
        Place::Buffer(buffer, offset) => kernel.set_buffer(index, Some(buffer)).map(|()| offset),
        Place::Svm(address) | Place::Host(address) => kernel.set_pointer(index, address).map(|()| 0),
    }
}

fn run(queue: &Queue, kernel: &Kernel, items: usize, group: usize) -> Result<(), Failure> {
    queue.run(kernel, &[items.next_multiple_of(group), 1, 1], &[group, 1, 1], 1)
}

/// Global and local sizes, in groups of so many, for units of a row along x and all rows of a box along y.
fn rows(group: usize, units: usize, extent: Extent) -> ([usize; 3], [usize; 3]) {
    let across = units.next_power_of_two().min(group);
    let down = group / across;
    let lines = extent.rows.saturating_mul(extent.slices);
    let global = [units.min(MAX_ACROSS).next_multiple_of(across), lines.min(MAX_DOWN).next_multiple_of(down), 1];
    (global, [across, down, 1])
}
