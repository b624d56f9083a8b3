//! What a device is and can do, in MUSA's terms.
//!
//! [`properties`] says it as one structure, [`attribute`] one question at a time and from that same structure, so that
//! the two never disagree. Everything is what the driver or this version of gridcl can do; where OpenCL has no answer,
//! the value is the least that is sure, or 0.

#![allow(non_upper_case_globals, reason = "the constants that attributes are matched with are the vendor's")]

use super::types::*;
use crate::dialect::call::property::{int, size, text, until_nul};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::copy::shape::{MAX_PITCH, PITCH_ALIGNMENT};
use crate::rt::device::Device;
use std::ffi::c_int;

/// What addresses of gridcl's are multiples of, textures' and surfaces' included.
const ALIGNMENT: usize = 256;

/// Launches are refused when grid times block passes 2^32 - 1 along an axis, and the field is a C integer, so with
/// blocks of 1 or 2 along an axis this holds for any of the three. Larger blocks leave room for fewer of them.
const MAX_GRID: [c_int; 3] = [c_int::MAX; 3];

/// Everything about a device.
pub(crate) fn properties(device: Device) -> musaDeviceProp {
    let caps = device.caps();
    let (major, minor) = caps.capability();
    let engines = copy_engines(device.device_type().as_str(), caps.unified_memory);
    let reaches_host = c_int::from(device.caps().may_reach_host_memory());
    musaDeviceProp {
        name: text(&caps.name),
        uuid: musaUUID { bytes: caps.uuid },
        totalGlobalMem: size(caps.global_bytes),
        sharedMemPerBlock: size(caps.local_bytes),
        warpSize: int(caps.warp_size),
        memPitch: MAX_PITCH,
        maxThreadsPerBlock: int(caps.max_work_group),
        maxThreadsDim: caps.max_work_items.map(int),
        maxGridSize: MAX_GRID,
        clockRate: int(u64::from(caps.clock_mhz) * 1000),
        totalConstMem: size(caps.constant_bytes),
        major: int(major),
        minor: int(minor),
        textureAlignment: ALIGNMENT,
        texturePitchAlignment: PITCH_ALIGNMENT,
        surfaceAlignment: ALIGNMENT,
        multiProcessorCount: int(caps.compute_units),
        integrated: c_int::from(caps.unified_memory),
        ECCEnabled: c_int::from(caps.ecc),
        // The PCI address is a stand-in (bus 0xff) where the device is on no bus.
        pciBusID: int(caps.pci.bus),
        pciDeviceID: int(caps.pci.device),
        pciDomainID: int(caps.pci.domain),
        // Of caches OpenCL tells one size, and not which level that is.
        l2CacheSize: int(caps.cache_bytes),
        // Only NVIDIA's driver tells these two; 0 elsewhere.
        regsPerBlock: int(caps.registers_per_block),
        kernelExecTimeoutEnabled: c_int::from(caps.kernel_timeout),

        // OpenCL does not say what a multiprocessor holds: one block, for sure.
        maxThreadsPerMultiProcessor: int(caps.max_work_group),
        maxBlocksPerMultiProcessor: 1,
        sharedMemPerMultiprocessor: size(caps.local_bytes),
        regsPerMultiprocessor: int(caps.registers_per_block),
        // Kernels can have all shared memory without asking, and the runtime takes none of it.
        sharedMemPerBlockOptin: size(caps.local_bytes),
        reservedSharedMemPerBlock: 0,

        // What the runtime does: a queue for each stream, and an address that means one thing in the whole process.
        computeMode: musaComputeModeDefault.0,
        concurrentKernels: 1,
        unifiedAddressing: 1,
        streamPrioritiesSupported: c_int::from(caps.has_priorities()),
        deviceOverlap: c_int::from(engines > 0),
        asyncEngineCount: engines,
        canMapHostMemory: reaches_host,
        canUseHostPointerForRegisteredMem: reaches_host,
        // Every device is a board of its own.
        isMultiGpuBoard: 0,
        multiGpuBoardGroupID: int(device.ordinal()),
        managedMemory: c_int::from(device.has_managed_memory()),
        concurrentManagedAccess: c_int::from(device.has_concurrent_managed_access()),
        // What this version does not do: managed memory that stays on the device while the host uses it, kernels on
        // memory that the program did not register, launches that synchronise across blocks.
        directManagedMemAccessFromHost: 0,
        pageableMemoryAccess: 0,
        pageableMemoryAccessUsesHostPageTables: 0,
        cooperativeLaunch: 0,
        cooperativeMultiDeviceLaunch: 0,
        // What OpenCL has no word for.
        luid: [0; 8],
        luidDeviceNodeMask: 0,
        tccDriver: 0,
        memoryClockRate: 0,
        memoryBusWidth: 0,
        globalL1CacheSupported: 0,
        localL1CacheSupported: 0,
        persistingL2CacheMaxSize: 0,
        accessPolicyMaxWindowSize: 0,
        hostNativeAtomicSupported: 0,
        singleToDoublePrecisionPerfRatio: 0,
        computePreemptionSupported: 0,
        ..images(device)
    }
}

/// The extents of textures and surfaces, which are OpenCL's images: those of one dimension are bounded by the width of
/// those of two. All else is zero.
fn images(device: Device) -> musaDeviceProp {
    let caps = device.caps();
    let [width, height] = caps.image_2d.map(int);
    let volume = caps.image_3d.map(int);
    let layers = int(caps.image_layers);
    // Reading images of three dimensions is in every version of OpenCL, writing them in some.
    let written = if caps.extensions.contains("cl_khr_3d_image_writes") { volume } else { [0; 3] };
    musaDeviceProp {
        maxTexture1D: width,
        maxTexture1DLinear: int(caps.image_buffer_pixels),
        maxTexture2D: [width, height],
        maxTexture3D: volume,
        maxTexture1DLayered: [width, layers],
        maxTexture2DLayered: [width, height, layers],
        maxSurface1D: width,
        maxSurface2D: [width, height],
        maxSurface3D: written,
        maxSurface1DLayered: [width, layers],
        maxSurface2DLayered: [width, height, layers],
        // Zero: mipmaps, cubemaps, gathers, pitched memory and the other 3-D shape, which OpenCL's images do not come
        // in, or only with extensions that gridcl does not use.
        ..musaDeviceProp::default()
    }
}

/// One property of a device; sizes beyond a C integer are answered with the largest one.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for a number that is no attribute.
pub(crate) fn attribute(device: Device, attribute: musaDeviceAttr) -> Result<c_int> {
    let prop = properties(device);
    general(&prop, attribute)
        .or_else(|| ability(&prop, attribute))
        .or_else(|| texture(&prop, attribute))
        .or_else(|| surface(&prop, attribute))
        .ok_or_else(|| {
            Error::new(ErrorKind::InvalidValue, "it is no attribute of a device")
                .argument("attr", attribute.0)
                .help("pass a constant of musaDeviceAttr that is not reserved")
        })
}

/// Identity, sizes and counts.
fn general(prop: &musaDeviceProp, attribute: musaDeviceAttr) -> Option<c_int> {
    Some(match attribute {
        musaDevAttrMaxThreadsPerBlock => prop.maxThreadsPerBlock,
        musaDevAttrMaxBlockDimX => prop.maxThreadsDim[0],
        musaDevAttrMaxBlockDimY => prop.maxThreadsDim[1],
        musaDevAttrMaxBlockDimZ => prop.maxThreadsDim[2],
        musaDevAttrMaxGridDimX => prop.maxGridSize[0],
        musaDevAttrMaxGridDimY => prop.maxGridSize[1],
        musaDevAttrMaxGridDimZ => prop.maxGridSize[2],
        musaDevAttrMaxSharedMemoryPerBlock => int(prop.sharedMemPerBlock),
        musaDevAttrMaxSharedMemoryPerBlockOptin => int(prop.sharedMemPerBlockOptin),
        musaDevAttrMaxSharedMemoryPerMultiprocessor => int(prop.sharedMemPerMultiprocessor),
        musaDevAttrReservedSharedMemoryPerBlock => int(prop.reservedSharedMemPerBlock),
        musaDevAttrTotalConstantMemory => int(prop.totalConstMem),
        musaDevAttrWarpSize => prop.warpSize,
        musaDevAttrMaxPitch => int(prop.memPitch),
        musaDevAttrMaxRegistersPerBlock => prop.regsPerBlock,
        musaDevAttrMaxRegistersPerMultiprocessor => prop.regsPerMultiprocessor,
        musaDevAttrMaxThreadsPerMultiProcessor => prop.maxThreadsPerMultiProcessor,
        musaDevAttrMaxBlocksPerMultiprocessor => prop.maxBlocksPerMultiProcessor,
        musaDevAttrMultiProcessorCount => prop.multiProcessorCount,
        musaDevAttrClockRate => prop.clockRate,
        musaDevAttrMemoryClockRate => prop.memoryClockRate,
        musaDevAttrGlobalMemoryBusWidth => prop.memoryBusWidth,
        musaDevAttrL2CacheSize => prop.l2CacheSize,
        musaDevAttrMaxPersistingL2CacheSize => prop.persistingL2CacheMaxSize,
        musaDevAttrMaxAccessPolicyWindowSize => prop.accessPolicyMaxWindowSize,
        musaDevAttrSingleToDoublePrecisionPerfRatio => prop.singleToDoublePrecisionPerfRatio,
        musaDevAttrAsyncEngineCount => prop.asyncEngineCount,
        musaDevAttrComputeMode => prop.computeMode,
        musaDevAttrComputeCapabilityMajor => prop.major,
        musaDevAttrComputeCapabilityMinor => prop.minor,
        musaDevAttrPciBusId => prop.pciBusID,
        musaDevAttrPciDeviceId => prop.pciDeviceID,
        musaDevAttrPciDomainId => prop.pciDomainID,
        musaDevAttrMultiGpuBoardGroupID => prop.multiGpuBoardGroupID,
        _ => return None,
    })
}

/// What can be answered with yes or no, and its kin that the structure leaves out.
fn ability(prop: &musaDeviceProp, attribute: musaDeviceAttr) -> Option<c_int> {
    Some(match attribute {
        musaDevAttrGpuOverlap => prop.deviceOverlap,
        musaDevAttrKernelExecTimeout => prop.kernelExecTimeoutEnabled,
        musaDevAttrIntegrated => prop.integrated,
        musaDevAttrCanMapHostMemory => prop.canMapHostMemory,
        musaDevAttrConcurrentKernels => prop.concurrentKernels,
        musaDevAttrEccEnabled => prop.ECCEnabled,
        musaDevAttrTccDriver => prop.tccDriver,
        musaDevAttrUnifiedAddressing => prop.unifiedAddressing,
        musaDevAttrStreamPrioritiesSupported => prop.streamPrioritiesSupported,
        musaDevAttrGlobalL1CacheSupported => prop.globalL1CacheSupported,
        musaDevAttrLocalL1CacheSupported => prop.localL1CacheSupported,
        musaDevAttrManagedMemory => prop.managedMemory,
        musaDevAttrConcurrentManagedAccess => prop.concurrentManagedAccess,
        musaDevAttrDirectManagedMemAccessFromHost => prop.directManagedMemAccessFromHost,
        musaDevAttrIsMultiGpuBoard => prop.isMultiGpuBoard,
        musaDevAttrHostNativeAtomicSupported => prop.hostNativeAtomicSupported,
        musaDevAttrPageableMemoryAccess => prop.pageableMemoryAccess,
        musaDevAttrPageableMemoryAccessUsesHostPageTables => prop.pageableMemoryAccessUsesHostPageTables,
        musaDevAttrComputePreemptionSupported => prop.computePreemptionSupported,
        musaDevAttrCanUseHostPointerForRegisteredMem => prop.canUseHostPointerForRegisteredMem,
        musaDevAttrCooperativeLaunch => prop.cooperativeLaunch,
        musaDevAttrCooperativeMultiDeviceLaunch => prop.cooperativeMultiDeviceLaunch,
        musaDevAttrHostRegisterSupported => 1,
        // The flag is accepted, but nothing keeps kernels from writing there.
        musaDevAttrHostRegisterReadOnlySupported => 0,
        musaDevAttrMemoryPoolsSupported => 1,
        // Pools are not shared between processes.
        musaDevAttrMemoryPoolSupportedHandleTypes => 0,
        // Not with OpenCL.
        musaDevAttrCanFlushRemoteWrites
        | musaDevAttrSparseMusaArraySupported
        | musaDevAttrMaxTimelineSemaphoreInteropSupported
        | musaDevAttrGPUDirectRDMASupported
        | musaDevAttrGPUDirectRDMAFlushWritesOptions
        | musaDevAttrGPUDirectRDMAWritesOrdering => 0,
        _ => return None,
    })
}

/// Alignment and extents of textures.
fn texture(prop: &musaDeviceProp, attribute: musaDeviceAttr) -> Option<c_int> {
    Some(match attribute {
        musaDevAttrTextureAlignment => int(prop.textureAlignment),
        musaDevAttrTexturePitchAlignment => int(prop.texturePitchAlignment),
        musaDevAttrMaxTexture1DWidth => prop.maxTexture1D,
        musaDevAttrMaxTexture1DMipmappedWidth => prop.maxTexture1DMipmap,
        musaDevAttrMaxTexture1DLinearWidth => prop.maxTexture1DLinear,
        musaDevAttrMaxTexture1DLayeredWidth => prop.maxTexture1DLayered[0],
        musaDevAttrMaxTexture1DLayeredLayers => prop.maxTexture1DLayered[1],
        musaDevAttrMaxTexture2DWidth => prop.maxTexture2D[0],
        musaDevAttrMaxTexture2DHeight => prop.maxTexture2D[1],
        musaDevAttrMaxTexture2DMipmappedWidth => prop.maxTexture2DMipmap[0],
        musaDevAttrMaxTexture2DMipmappedHeight => prop.maxTexture2DMipmap[1],
        musaDevAttrMaxTexture2DLinearWidth => prop.maxTexture2DLinear[0],
        musaDevAttrMaxTexture2DLinearHeight => prop.maxTexture2DLinear[1],
        musaDevAttrMaxTexture2DLinearPitch => prop.maxTexture2DLinear[2],
        musaDevAttrMaxTexture2DGatherWidth => prop.maxTexture2DGather[0],
        musaDevAttrMaxTexture2DGatherHeight => prop.maxTexture2DGather[1],
        musaDevAttrMaxTexture2DLayeredWidth => prop.maxTexture2DLayered[0],
        musaDevAttrMaxTexture2DLayeredHeight => prop.maxTexture2DLayered[1],
        musaDevAttrMaxTexture2DLayeredLayers => prop.maxTexture2DLayered[2],
        musaDevAttrMaxTexture3DWidth => prop.maxTexture3D[0],
        musaDevAttrMaxTexture3DHeight => prop.maxTexture3D[1],
        musaDevAttrMaxTexture3DDepth => prop.maxTexture3D[2],
        musaDevAttrMaxTexture3DWidthAlt => prop.maxTexture3DAlt[0],
        musaDevAttrMaxTexture3DHeightAlt => prop.maxTexture3DAlt[1],
        musaDevAttrMaxTexture3DDepthAlt => prop.maxTexture3DAlt[2],
        musaDevAttrMaxTextureCubemapWidth => prop.maxTextureCubemap,
        musaDevAttrMaxTextureCubemapLayeredWidth => prop.maxTextureCubemapLayered[0],
        musaDevAttrMaxTextureCubemapLayeredLayers => prop.maxTextureCubemapLayered[1],
        _ => return None,
    })
}

/// Alignment and extents of surfaces.
fn surface(prop: &musaDeviceProp, attribute: musaDeviceAttr) -> Option<c_int> {
    Some(match attribute {
        musaDevAttrSurfaceAlignment => int(prop.surfaceAlignment),
        musaDevAttrMaxSurface1DWidth => prop.maxSurface1D,
        musaDevAttrMaxSurface1DLayeredWidth => prop.maxSurface1DLayered[0],
        musaDevAttrMaxSurface1DLayeredLayers => prop.maxSurface1DLayered[1],
        musaDevAttrMaxSurface2DWidth => prop.maxSurface2D[0],
        musaDevAttrMaxSurface2DHeight => prop.maxSurface2D[1],
        musaDevAttrMaxSurface2DLayeredWidth => prop.maxSurface2DLayered[0],
        musaDevAttrMaxSurface2DLayeredHeight => prop.maxSurface2DLayered[1],
        musaDevAttrMaxSurface2DLayeredLayers => prop.maxSurface2DLayered[2],
        musaDevAttrMaxSurface3DWidth => prop.maxSurface3D[0],
        musaDevAttrMaxSurface3DHeight => prop.maxSurface3D[1],
        musaDevAttrMaxSurface3DDepth => prop.maxSurface3D[2],
        musaDevAttrMaxSurfaceCubemapWidth => prop.maxSurfaceCubemap,
        musaDevAttrMaxSurfaceCubemapLayeredWidth => prop.maxSurfaceCubemapLayered[0],
        musaDevAttrMaxSurfaceCubemapLayeredLayers => prop.maxSurfaceCubemapLayered[1],
        _ => return None,
    })
}

/// How many of the wishes in `wanted` the device meets; of devices with the same score the first one is chosen.
///
/// A field that is 0, or a name that is empty, is no wish. Name and warp size have to be equal; memory, shared memory,
/// threads of a block, multiprocessors, clock and compute capability (one wish, major first) have to be as large. The
/// other fields are not looked at.
pub(crate) fn matches(device: Device, wanted: &musaDeviceProp) -> u32 {
    score(&properties(device), wanted)
}

fn score(have: &musaDeviceProp, wanted: &musaDeviceProp) -> u32 {
    let wishes = [
        wanted.name[0] != 0 && until_nul(&have.name) == until_nul(&wanted.name),
        wanted.warpSize != 0 && have.warpSize == wanted.warpSize,
        wanted.totalGlobalMem != 0 && have.totalGlobalMem >= wanted.totalGlobalMem,
        wanted.sharedMemPerBlock != 0 && have.sharedMemPerBlock >= wanted.sharedMemPerBlock,
        wanted.maxThreadsPerBlock != 0 && have.maxThreadsPerBlock >= wanted.maxThreadsPerBlock,
        wanted.multiProcessorCount != 0 && have.multiProcessorCount >= wanted.multiProcessorCount,
        wanted.clockRate != 0 && have.clockRate >= wanted.clockRate,
        (wanted.major, wanted.minor) != (0, 0) && (have.major, have.minor) >= (wanted.major, wanted.minor),
    ];
    wishes.into_iter().map(u32::from).sum()
}

/// Copies that run beside kernels. OpenCL does not count them: two, one each way, on GPUs with memory of their own
/// (so seen on NVIDIA's H200); none where the host's processors or its memory do the work.
fn copy_engines(device_type: &str, unified_memory: bool) -> c_int {
    if device_type == "gpu" && !unified_memory { 2 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A structure whose numbers are 1000 and on; and of each number its field, its place there and how many are there.
    fn numbered() -> (musaDeviceProp, Vec<(&'static str, usize, usize)>) {
        let mut prop = musaDeviceProp::default();
        let base = (&raw mut prop).cast::<u8>();
        let mut numbers = Vec::new();
        for &(field, kind, offset) in musaDeviceProp::FIELDS {
            let count = match kind.strip_prefix("[c_int; ") {
                Some(rest) => rest.trim_end_matches(']').parse().expect("a count"),
                None => usize::from(["c_int", "usize"].contains(&kind)),
            };
            for place in 0..count {
                let (at, number) = (base.wrapping_add(offset), 1000 + numbers.len());
                // SAFETY: a field of that type, or an array that long, lies there.
                unsafe {
                    match kind {
                        "usize" => at.cast::<usize>().write(number),
                        _ => at.cast::<c_int>().add(place).write(int(number)),
                    }
                }
                numbers.push((field, place, count));
            }
        }
        (prop, numbers)
    }

    fn answers(prop: &musaDeviceProp, number: c_int) -> Vec<c_int> {
        let groups = [general, ability, texture, surface];
        groups.iter().filter_map(|group| group(prop, musaDeviceAttr(number))).collect()
    }

    #[test]
    fn every_attribute_is_answered_and_every_number_of_the_structure_is_asked_for_once() {
        let (prop, numbers) = numbered();
        let mut asked = vec![int(prop.totalGlobalMem)];
        for (name, number) in musaDeviceAttr::NAMES {
            let found = answers(&prop, *number);
            let is_real = !name.contains("Reserved9") && *name != "musaDevAttrMax";
            assert_eq!(found.len(), usize::from(is_real), "{name}");
            asked.extend(found.iter().filter(|answer| **answer > 1));
        }
        asked.sort_unstable();
        assert_eq!(asked, (1000..1000 + int(numbers.len())).collect::<Vec<_>>());
        assert!([0, 44, 121, -1].iter().all(|number| answers(&prop, *number).is_empty()));
    }

    #[test]
    fn extents_come_from_the_field_of_that_name() {
        let (prop, numbers) = numbered();
        let is_extent = |name: &str| name.contains("MaxTexture") || name.contains("MaxSurface");
        for (name, number) in musaDeviceAttr::NAMES.iter().filter(|(name, _)| is_extent(name)) {
            let index = usize::try_from(answers(&prop, *number)[0] - 1000).expect("a number of the structure");
            let (field, place, count) = numbers[index];
            let axes = [("Width", 0), ("Height", 1), ("Depth", 2), ("Layers", count - 1), ("Pitch", 2)];
            let (axis, wanted) = axes.iter().find(|(axis, _)| name.contains(axis)).expect("an axis");
            let expected = name.replace("musaDevAttrM", "m").replace(axis, "").replace("Mipmapped", "Mipmap");
            assert_eq!((field, place), (&*expected, *wanted), "{name}");
        }
    }

    #[test]
    fn a_device_meets_the_wishes_that_are_made() {
        let have = musaDeviceProp { name: text("gpu"), major: 3, minor: 1, warpSize: 32, ..Default::default() };
        let wish = |wanted: musaDeviceProp| score(&have, &wanted);
        assert_eq!(wish(musaDeviceProp::default()), 0);
        assert_eq!(wish(have), 3);
        assert_eq!(wish(musaDeviceProp { totalGlobalMem: 1, warpSize: 16, ..Default::default() }), 0);
        assert_eq!(wish(musaDeviceProp { major: 2, minor: 9, ..Default::default() }), 1);
        assert_eq!(wish(musaDeviceProp { major: 3, minor: 2, ..Default::default() }), 0);
        assert_eq!(wish(musaDeviceProp { name: text("gp"), ..Default::default() }), 0);
        assert_eq!(wish(musaDeviceProp { name: [1; 256], ..Default::default() }), 0);
    }

    #[test]
    fn the_structure_and_the_attributes_say_what_the_device_says() -> Result<()> {
        let device = Device::get(0)?;
        let prop = properties(device);
        assert_eq!(prop.name, text(device.name()));
        assert_eq!(prop.uuid.bytes, device.uuid());
        assert_eq!(prop.totalGlobalMem, size(device.total_memory()));
        assert_eq!(attribute(device, musaDevAttrWarpSize)?, int(device.warp_size()));
        // The clock is 0 where the driver does not know it.
        assert_eq!(matches(device, &prop), 7 + u32::from(prop.clockRate != 0));
        let refusal = attribute(device, musaDevAttrReserved92).expect_err("a refusal").to_string();
        assert!(refusal.starts_with("attr = 92: "), "{refusal}");
        Ok(())
    }
}
