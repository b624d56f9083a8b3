//! Whether a launch shape fits: pure, and before anything is enqueued, because drivers accept shapes that they
//! cannot run.

use super::Dim3;
use crate::error::{Error, ErrorKind, Result};

/// What device and kernel allow.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// The kernel's name, for messages.
    pub(crate) kernel: String,
    /// The device's largest block.
    pub(crate) device_block: usize,
    /// The device's largest block along each axis.
    pub(crate) device_axes: [usize; 3],
    /// The largest block that the kernel's needs leave.
    pub(crate) kernel_block: usize,
    /// The block that the source demands; zeros where it demands none.
    pub(crate) required: [usize; 3],
    /// Shared memory of a block, in bytes.
    pub(crate) shared_bytes: u64,
    /// What the kernel uses of it by itself.
    pub(crate) shared_static: u64,
}

/// A shape as OpenCL takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) global: [usize; 3],
    pub(crate) local: [usize; 3],
    /// The number of axes that matter.
    pub(crate) dims: u32,
}

/// A launch that fits device and kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fitting {
    asked: (Dim3, Dim3, usize),
    pub(crate) shape: Shape,
    /// Whether it was checked anew.
    pub(crate) is_new: bool,
}

impl Fitting {
    /// Checks grid, block and bytes of shared memory, unless they were the `last` ones to fit.
    ///
    /// # Errors
    /// As [`shape`].
    #[inline]
    pub(crate) fn find(last: Option<&Self>, asked: (Dim3, Dim3, usize), limits: &Limits) -> Result<Self> {
        match last {
            Some(last) if last.asked == asked => Ok(Self { asked, shape: last.shape, is_new: false }),
            _ => shape(asked.0, asked.1, asked.2, limits).map(|shape| Self { asked, shape, is_new: true }),
        }
    }
}

/// Turns blocks of a grid into work items of work groups, where device and kernel allow it (behaviour.md 3.10).
///
/// # Errors
/// [`ErrorKind::InvalidConfiguration`] for a zero, oversized or overflowing shape, a block that the source does not
/// allow, or too much shared memory; [`ErrorKind::LaunchOutOfResources`] for a block above the kernel's own limit.
pub(crate) fn shape(grid: Dim3, block: Dim3, shared: usize, limits: &Limits) -> Result<Shape> {
    let refuse =
        |name, dims: Dim3, problem: String| Error::new(ErrorKind::InvalidConfiguration, problem).argument(name, dims);
    for (name, dims) in [("grid", grid), ("block", block)] {
        if dims.axes().contains(&0) {
            return Err(refuse(name, dims, "no component may be 0".into()));
        }
    }
    let local = block.axes();
    for ((axis, &most), items) in "xyz".chars().zip(&limits.device_axes).zip(local) {
        if items > most {
            return Err(refuse("block", block, format!("the device takes at most {most} along {axis}")));
        }
    }
    let product = local.iter().product::<usize>();
    if product > limits.device_block {
        let problem = format!("{product} work items are more than the device's {} a block", limits.device_block);
        return Err(refuse("block", block, problem));
    }
    if limits.required != [0; 3] && limits.required != local {
        let [x, y, z] = limits.required;
        return Err(refuse("block", block, format!("the source of {} demands ({x}, {y}, {z})", limits.kernel)));
    }
    if product > limits.kernel_block {
        let problem = format!(
            "{product} work items are more than the {} that {} leaves room for",
            limits.kernel_block, limits.kernel
        );
        return Err(Error::new(ErrorKind::LaunchOutOfResources, problem).argument("block", block));
    }
    let free = limits.shared_bytes.saturating_sub(limits.shared_static);
    if shared as u64 > free {
        let problem = format!("{} leaves {free} of the device's {} bytes", limits.kernel, limits.shared_bytes);
        return Err(Error::new(ErrorKind::InvalidConfiguration, problem).argument("sharedMem", shared));
    }
    let grid_axes = grid.axes();
    let mut global = [0; 3];
    for axis in 0..3 {
        // The public TOPS header sets this bound, and a 32-bit global id is what kernels rely on.
        global[axis] = grid_axes[axis]
            .checked_mul(local[axis])
            .filter(|&items| items <= u32::MAX as usize)
            .ok_or_else(|| refuse("grid", grid, "grid times block passes 2^32 along an axis".into()))?;
    }
    let dims = if global[2] > 1 {
        3
    } else if global[1] > 1 {
        2
    } else {
        1
    };
    Ok(Shape { global, local, dims })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits {
            kernel: "k".to_owned(),
            device_block: 1024,
            device_axes: [1024, 1024, 64],
            kernel_block: 512,
            required: [0; 3],
            shared_bytes: 48 << 10,
            shared_static: 1024,
        }
    }

    fn kind(grid: Dim3, block: Dim3, shared: usize) -> ErrorKind {
        shape(grid, block, shared, &limits()).expect_err("a refusal").kind()
    }

    #[test]
    fn a_grid_of_blocks_becomes_work_items_in_groups() {
        let made = shape(Dim3::new(3, 2, 1), Dim3::new(16, 8, 1), 0, &limits());
        assert_eq!(made.ok(), Some(Shape { global: [48, 16, 1], local: [16, 8, 1], dims: 2 }));
        assert_eq!(shape(Dim3::from(5), Dim3::from(64), 0, &limits()).map(|shape| shape.dims).ok(), Some(1));
    }

    #[test]
    fn zeros_oversized_blocks_and_overflows_are_configurations_that_cannot_be() {
        for (grid, block) in [
            (Dim3::new(0, 1, 1), Dim3::from(1)),
            (Dim3::from(1), Dim3::new(1, 0, 1)),
            (Dim3::from(1), Dim3::new(1, 1, 65)),
            (Dim3::from(1), Dim3::new(64, 32, 1)),
            (Dim3::from(u32::MAX), Dim3::from(2)),
        ] {
            assert_eq!(kind(grid, block, 0), ErrorKind::InvalidConfiguration, "{grid} {block}");
        }
    }

    #[test]
    fn a_block_above_the_kernels_own_limit_is_out_of_resources() {
        assert_eq!(kind(Dim3::from(1), Dim3::from(513), 0), ErrorKind::LaunchOutOfResources);
    }

    #[test]
    fn shared_memory_counts_what_the_kernel_uses_itself() {
        assert!(shape(Dim3::from(1), Dim3::from(1), 47 << 10, &limits()).is_ok());
        assert_eq!(kind(Dim3::from(1), Dim3::from(1), (47 << 10) + 1), ErrorKind::InvalidConfiguration);
    }

    #[test]
    fn a_block_other_than_the_one_demanded_is_refused() {
        let limits = Limits { required: [8, 8, 1], ..limits() };
        assert!(shape(Dim3::from(1), Dim3::new(8, 8, 1), 0, &limits).is_ok());
        assert!(shape(Dim3::from(1), Dim3::new(64, 1, 1), 0, &limits).is_err());
    }
}
