//! What a device can do, asked once, and the traps of its driver, each named once.

use super::call::call;
use super::ext::{self, PciAddress};
use super::image::ImageType;
use super::platform::DeviceId;
use super::status::Result;
use cl3::device::{CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, CL_DEVICE_SVM_FINE_GRAIN_BUFFER};

/// The kind of hardware, in the order in which devices are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DeviceType {
    /// A graphics processor.
    Gpu,
    /// An accelerator card that is not a graphics processor.
    Accelerator,
    /// The host's own processor.
    Cpu,
    /// Anything else that OpenCL may name.
    Other,
}

impl DeviceType {
    pub(super) fn from_bits(bits: u64) -> Self {
        use cl3::device::{CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU};
        match bits {
            bits if bits & CL_DEVICE_TYPE_GPU != 0 => Self::Gpu,
            bits if bits & CL_DEVICE_TYPE_ACCELERATOR != 0 => Self::Accelerator,
            bits if bits & CL_DEVICE_TYPE_CPU != 0 => Self::Cpu,
            _ => Self::Other,
        }
    }

    /// The word that `GRIDCL_DEVICES` and messages use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Accelerator => "accelerator",
            Self::Cpu => "cpu",
            Self::Other => "other",
        }
    }
}

/// How much shared virtual memory a device offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SvmSupport {
    /// None: pointers have to be stood in for.
    None,
    /// Buffers that the host reaches only while they are mapped.
    Coarse,
    /// Buffers that host and device share without mapping.
    Fine,
}

/// What a device is and can do. Sizes are in bytes unless the name says otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Caps {
    pub(crate) name: String,
    pub(crate) vendor: String,
    pub(crate) driver: String,
    pub(crate) platform: String,
    pub(crate) extensions: String,
    pub(crate) device_type: DeviceType,
    /// OpenCL version, major and minor.
    pub(crate) version: (u32, u32),
    pub(crate) compute_units: u32,
    pub(crate) clock_mhz: u32,
    pub(crate) warp_size: u32,
    pub(crate) compute_capability: Option<(u32, u32)>,
    pub(crate) registers_per_block: u32,
    pub(crate) max_work_group: usize,
    pub(crate) max_work_items: [usize; 3],
    pub(crate) max_parameter_bytes: usize,
    pub(crate) global_bytes: u64,
    pub(crate) max_alloc_bytes: u64,
    pub(crate) local_bytes: u64,
    pub(crate) constant_bytes: u64,
    pub(crate) cache_bytes: u64,
    /// Alignment that the origin of a sub-buffer needs.
    pub(crate) sub_buffer_align: usize,
    pub(crate) image_2d: [usize; 2],
    pub(crate) image_3d: [usize; 3],
    pub(crate) image_layers: usize,
    pub(crate) image_buffer_pixels: usize,
    pub(crate) printf_bytes: usize,
    pub(crate) unified_memory: bool,
    pub(crate) ecc: bool,
    pub(crate) kernel_timeout: bool,
    pub(crate) svm: SvmSupport,
    pub(crate) pci: PciAddress,
    pub(crate) uuid: [u8; 16],
}

impl Caps {
    /// Asks a device for everything; `ordinal` tells devices of one name apart.
    pub(crate) fn of(id: DeviceId, platform: &str, ordinal: usize) -> Result<Self> {
        let query = id.query();
        let name = call("clGetDeviceInfo", || query.name().map_err(|error| error.0))?;
        let vendor = query.vendor().unwrap_or_default();
        let driver = query.driver_version().unwrap_or_default();
        let extensions = query.extensions().unwrap_or_default();
        let items = query.max_work_item_sizes().unwrap_or_default();
        let item = |axis: usize| items.get(axis).copied().unwrap_or(1);
        let warp_size = ext::lockstep_width(id, &extensions)
            .or_else(|| query.preferred_work_group_size_multiple().ok().and_then(|n| n.try_into().ok()))
            .unwrap_or(1)
            .max(1);
        Ok(Self {
            device_type: DeviceType::from_bits(query.dev_type().unwrap_or(0)),
            version: parse_version(&query.version().unwrap_or_default()),
            compute_units: query.max_compute_units().unwrap_or(1),
            clock_mhz: query.max_clock_frequency().unwrap_or(0),
            warp_size,
            compute_capability: ext::compute_capability(id, &extensions),
            registers_per_block: query.registers_per_block_nv().unwrap_or(0),
            max_work_group: query.max_work_group_size().unwrap_or(1),
            max_work_items: [item(0), item(1), item(2)],
            max_parameter_bytes: query.max_parameter_size().unwrap_or(256),
            global_bytes: query.global_mem_size().unwrap_or(0),
            max_alloc_bytes: query.max_mem_alloc_size().unwrap_or(0),
            local_bytes: query.local_mem_size().unwrap_or(0),
            constant_bytes: query.max_constant_buffer_size().unwrap_or(0),
            cache_bytes: query.global_mem_cache_size().unwrap_or(0),
            sub_buffer_align: query.mem_base_addr_align().unwrap_or(8192).div_ceil(8) as usize,
            image_2d: [query.image2d_max_width().unwrap_or(0), query.image2d_max_height().unwrap_or(0)],
            image_3d: [
                query.image3d_max_width().unwrap_or(0),
                query.image3d_max_height().unwrap_or(0),
                query.image3d_max_depth().unwrap_or(0),
            ],
            image_layers: query.image_max_array_size().unwrap_or(0),
            image_buffer_pixels: query.image_max_buffer_size().unwrap_or(0),
            printf_bytes: query.printf_buffer_size().unwrap_or(0),
            unified_memory: query.host_unified_memory().unwrap_or(false),
            ecc: query.error_correction_support().unwrap_or(false),
            kernel_timeout: query.compute_kernel_exec_timeout_nv().is_ok_and(|limited| limited != 0),
            svm: svm_support(query.svm_capabilities().unwrap_or(0)),
            pci: ext::pci_address(id, &extensions).unwrap_or_else(|| ext::derived_pci_address(ordinal)),
            uuid: ext::uuid(id, &extensions).unwrap_or_else(|| ext::derived_uuid(&[platform, &vendor, &name], ordinal)),
            platform: platform.to_owned(),
            name,
            vendor,
            driver,
            extensions,
        })
    }

    /// Compute capability as the dialects report it: the vendor's, else the OpenCL version (behaviour.md 1.6).
    pub(crate) fn capability(&self) -> (u32, u32) {
        self.compute_capability.unwrap_or(self.version)
    }

    fn is_nvidia(&self) -> bool {
        self.vendor.starts_with("NVIDIA")
    }

    /// The driver's fill is far slower than the memory on GPUs, and NVIDIA's (580.159) never completes from 2 GiB
    /// on: a kernel of ours fills there. On CPUs the driver's own is as fast as `memset`.
    pub(crate) fn fills_with_a_kernel(&self) -> bool {
        self.device_type != DeviceType::Cpu
    }

    /// Whether the driver fills faster with a value repeated to 16 bytes than with the value itself: PoCL (3.1) takes
    /// two to three times as long for 2 and 4 bytes.
    pub(crate) fn fills_better_with_16_bytes(&self, width: usize) -> bool {
        self.platform.starts_with("Portable Computing Language") && matches!(width, 2 | 4)
    }

    /// Whether a kernel of ours fills faster: Intel's CPU runtime (2026.2) takes ten times as long for values of more than
    /// a byte, and four times for anything in buffer objects.
    pub(crate) fn fills_slowly(&self, width: usize, is_buffer: bool) -> bool {
        self.device_type == DeviceType::Cpu && self.platform.starts_with("Intel") && (width > 1 || is_buffer)
    }

    /// NVIDIA's driver (580.159) tells 256 as every kernel's largest work group and runs 1024 all the same; only the
    /// launch itself finds out whether the kernel's registers suffice.
    pub(crate) fn understates_kernel_blocks(&self) -> bool {
        self.is_nvidia()
    }

    /// NVIDIA's assembler (driver 580.159) takes no kernel without parameters.
    pub(crate) fn needs_kernel_parameters(&self) -> bool {
        self.is_nvidia()
    }

    /// NVIDIA's driver (580.159) counts a byte of local memory for each `__local` parameter that is not set,
    /// and one for kernels without any, too.
    pub(crate) fn counts_unset_locals(&self) -> bool {
        self.is_nvidia()
    }

    /// Whether the driver has to be told of the blocks that pointers in memory may point into, as the specification has it.
    /// Drivers take time for each such block in every launch: NVIDIA's (580.159) 0.75 us on an H200, Intel's CPU runtime
    /// (2026.2) 0.05 us. NVIDIA's and those of CPUs need none of it.
    pub(crate) fn needs_svm_declarations(&self) -> bool {
        !self.is_nvidia() && self.device_type != DeviceType::Cpu
    }

    /// Whether the device has images at all, which OpenCL leaves open.
    pub(crate) fn has_images(&self) -> bool {
        self.image_2d.iter().all(|&limit| limit > 0)
    }

    /// The largest width, height, and depth or number of layers of an image.
    pub(crate) fn image_limits(&self, image_type: ImageType) -> [usize; 3] {
        let [width, height] = self.image_2d;
        match image_type {
            ImageType::D1 => [width, 1, 1],
            ImageType::D2 => [width, height, 1],
            ImageType::D3 => self.image_3d,
            ImageType::D1Layered => [width, 1, self.image_layers],
            ImageType::D2Layered => [width, height, self.image_layers],
        }
    }

    /// PoCL (3.1), where it lacks 16-bit floats, lists images of them: kernels read those, and what they write is lost.
    pub(crate) fn loses_half_image_writes(&self) -> bool {
        self.platform == "Portable Computing Language" && !self.extensions.contains("cl_khr_fp16")
    }

    /// Whether kernels may reach pinned host memory by its own address: where host and device are one, and where the
    /// driver takes the addresses of pages that it pinned. On a GPU only a trial shows it.
    pub(crate) fn may_reach_host_memory(&self) -> bool {
        self.svm != SvmSupport::None && (self.device_type == DeviceType::Cpu || self.pins_own_pages())
    }

    /// Kernels on NVIDIA's (580.159) reach memory that `CL_MEM_ALLOC_HOST_PTR` gave through its buffer object alone, and
    /// the host sees what they wrote only once it unmapped and mapped it. Pages of ours that the driver pins are reached
    /// by their addresses, seen at once, and copied as fast.
    pub(crate) fn pins_own_pages(&self) -> bool {
        self.is_nvidia()
    }

    /// NVIDIA's driver (580.159) refuses a box between host and buffer whose slices, counted whole with what lies behind
    /// their last rows, take more than the buffer has, wherever in the buffer the box begins.
    pub(crate) fn counts_whole_slices(&self) -> bool {
        self.is_nvidia()
    }

    /// NVIDIA's driver (580.159) copies no more than the first layer between a buffer and an image of one-dimensional
    /// layers.
    pub(crate) fn copies_no_1d_layers_with_buffers(&self) -> bool {
        self.is_nvidia()
    }

    /// PoCL (3.1) compiles a kernel for each size of block at its first launch; its binaries hold what was compiled so
    /// far, and to ask for one compiles every kernel once more. Others have done all of it when the build returns.
    pub(crate) fn compiles_at_launch(&self) -> bool {
        self.platform.starts_with("Portable Computing Language")
    }

    /// PoCL (3.1) aborts at the end of a launch of a kernel with a required size of block if meanwhile a binary was taken,
    /// or its size asked for, of a program of the same text (`pocl_release_dlhandle_cache`, `found->ref_count > 0`).
    pub(crate) fn aborts_launches_at_binaries(&self) -> bool {
        self.platform.starts_with("Portable Computing Language")
    }

    /// PoCL (3.1) makes a program's binary at the first question, or has it from where the program was loaded, and never
    /// again: what it compiles later is in the binaries of programs that are built anew.
    pub(crate) fn packs_programs_once(&self) -> bool {
        self.platform.starts_with("Portable Computing Language")
    }

    /// What stands in front of the names of kernels that are called like a function of OpenCL C: PoCL (3.1) has macros
    /// for those, and `mix` is `_cl_mix` to it.
    pub(crate) fn prefix_of_known_names(&self) -> Option<&'static str> {
        self.platform.starts_with("Portable Computing Language").then_some("_cl_")
    }

    /// Whether the driver knows queue priorities (`cl_khr_priority_hints`).
    pub(crate) fn has_priorities(&self) -> bool {
        self.extensions.contains("cl_khr_priority_hints")
    }

    /// Intel's CPU runtime (2026.2) aborts in one of two exits that leave a kernel running. PoCL bears that, and must
    /// not be waited for: what its compiler registered later than we did is gone when our handler runs, and a kernel
    /// that is still being compiled would then crash for certain.
    pub(crate) fn aborts_at_busy_exit(&self) -> bool {
        self.device_type == DeviceType::Cpu && self.platform.starts_with("Intel")
    }
}

fn svm_support(bits: u64) -> SvmSupport {
    if bits & CL_DEVICE_SVM_FINE_GRAIN_BUFFER != 0 {
        SvmSupport::Fine
    } else if bits & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER != 0 {
        SvmSupport::Coarse
    } else {
        SvmSupport::None
    }
}

/// Reads "OpenCL 3.0 PoCL …" as (3, 0).
fn parse_version(text: &str) -> (u32, u32) {
    let number = text.strip_prefix("OpenCL ").unwrap_or(text);
    let mut parts = number.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_version_texts() {
        assert_eq!(parse_version("OpenCL 3.0 PoCL HSTR: pthread"), (3, 0));
        assert_eq!(parse_version("OpenCL 1.2 CUDA"), (1, 2));
        assert_eq!(parse_version("what"), (0, 0));
    }

    #[test]
    fn fine_grain_wins_over_coarse() {
        assert_eq!(svm_support(0b1011), SvmSupport::Fine);
        assert_eq!(svm_support(0b0001), SvmSupport::Coarse);
        assert_eq!(svm_support(0), SvmSupport::None);
    }
}
