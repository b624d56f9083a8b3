//! What a device's driver lacks or gets wrong, in words, and what the runtime does instead.

use super::device::Device;
use crate::cl::caps::SvmSupport;
use crate::cl::{Caps, DeviceType};

/// Something that a driver lacks, see [`Device::substitutes`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Substitute {
    /// What it lacks or does otherwise.
    pub lacks: String,
    /// What the runtime does instead.
    pub instead: String,
}

impl Device {
    /// What the device's driver lacks of what the runtime needs, and what the runtime does instead.
    pub fn substitutes(self) -> Vec<Substitute> {
        let mut list = of_memory(self.caps());
        list.extend(of_driver(self.caps()));
        let substitute = |(lacks, instead): (&str, &str)| Substitute { lacks: lacks.into(), instead: instead.into() };
        list.into_iter().map(substitute).collect()
    }
}

type Pair = (&'static str, &'static str);

fn of_memory(caps: &Caps) -> Vec<Pair> {
    let mut list = Vec::new();
    match caps.svm {
        SvmSupport::None => list.push((
            "shared virtual memory",
            "buffer objects behind reserved addresses; pointers within structures and managed memory do not work",
        )),
        SvmSupport::Coarse => list.push((
            "memory that host and device may touch at once (fine-grained)",
            "managed memory changes hands at launches and synchronisations",
        )),
        SvmSupport::Fine => {}
    }
    if !caps.has_images() {
        list.push(("images", "arrays answer NotSupported"));
    }
    if caps.loses_half_image_writes() {
        list.push(("what kernels write to images of 16-bit floats", "such arrays answer NotSupported as surfaces"));
    }
    if caps.copies_no_1d_layers_with_buffers() {
        list.push(("copies of one-dimensional layers with buffers", "they go by way of the host"));
    }
    if caps.counts_whole_slices() {
        list.push(("boxes that end within the last slice of a buffer", "they are copied in parts"));
    }
    list
}

fn of_driver(caps: &Caps) -> Vec<Pair> {
    let mut list = vec![(
        "variables of a program (program-scope __constant__ and __device__)",
        "they are taken out of the text and become hidden arguments of the kernels that use them",
    )];
    if !caps.has_priorities() {
        list.push(("queue priorities (cl_khr_priority_hints)", "priorities of streams are kept and have no effect"));
    }
    if caps.fills_with_a_kernel() {
        list.push(("a fill at the speed of the memory", "a kernel of gridcl's sets memory"));
    }
    if caps.understates_kernel_blocks() {
        list.push(("true limits of a kernel's blocks", "the device's own limit holds; the launch itself finds out"));
    }
    if caps.compiles_at_launch() {
        list.push(("whole binaries at the build", "modules enter the disk cache after their first launches"));
    }
    if caps.aborts_at_busy_exit() {
        list.push(("an exit with work under way", "the process waits for the work at its end, up to 2 s"));
    }
    if caps.device_type != DeviceType::Cpu && !caps.may_reach_host_memory() {
        list.push(("kernels on host memory (zero-copy)", "HostGetDevicePointer answers NotSupported"));
    }
    if caps.compute_capability.is_none() {
        list.push(("a compute capability", "the OpenCL version stands for it"));
    }
    list
}
