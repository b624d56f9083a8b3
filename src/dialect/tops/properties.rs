//! What a device is and can do, in TOPS' terms.
//!
//! [`properties`] says it as one structure, [`attribute`] one question at a time and from that same structure, so that
//! the two never disagree. Everything is what the driver or this version of gridcl can do; where OpenCL has no answer,
//! the value is the least that is sure, or 0.

#![allow(non_upper_case_globals, reason = "the constants that attributes are matched with are the vendor's")]

use super::types::*;
use crate::dialect::call::property::{int, size, text, until_nul};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::device::Device;
use std::ffi::c_int;

/// Launches are refused when grid times block passes 2^32 - 1 along an axis, and the field is a C integer, so with
/// blocks of 1 or 2 along an axis this holds for any of the three. Larger blocks leave room for fewer of them.
const MAX_GRID: [c_int; 3] = [c_int::MAX; 3];

/// Everything about a device.
pub(crate) fn properties(device: Device) -> topsDeviceProp_t {
    let caps = device.caps();
    let (major, minor) = caps.capability();
    topsDeviceProp_t {
        name: text(&caps.name),
        // The OpenCL C that the device runs: architectures have no common names.
        gcuArchName: text(&format!("opencl-{}.{}", caps.version.0, caps.version.1)),
        localUuidId: caps.uuid.map(|byte| byte as std::ffi::c_char),
        totalGlobalMem: size(caps.global_bytes),
        sharedMemPerBlock: size(caps.local_bytes),
        maxThreadsPerBlock: int(caps.max_work_group),
        maxThreadsDim: caps.max_work_items.map(int),
        maxGridSize: MAX_GRID,
        clockRate: int(u64::from(caps.clock_mhz) * 1000),
        major: int(major),
        minor: int(minor),
        multiProcessorCount: int(caps.compute_units),
        ECCEnabled: c_int::from(caps.ecc),
        // The PCI address is a stand-in (bus 0xff) where the device is on no bus.
        pciBusID: int(caps.pci.bus),
        pciDeviceID: int(caps.pci.device),
        pciDomainID: int(caps.pci.domain),
        // Only NVIDIA's driver tells it; 0 elsewhere.
        kernelExecTimeoutEnabled: c_int::from(caps.kernel_timeout),

        // OpenCL does not say what a multiprocessor holds: one block, for sure.
        maxThreadsPerMultiProcessor: int(caps.max_work_group),
        maxSharedMemoryPerMultiProcessor: size(caps.local_bytes),

        // What the runtime does: a queue for each stream.
        computeMode: topsComputeModeDefault.0,
        concurrentKernels: 1,
        canMapHostMemory: c_int::from(device.caps().may_reach_host_memory()),
        // TOPS has no call that allocates managed memory. What this version does not do: kernels on memory that the
        // program did not register, launches that synchronise across blocks.
        managedMemory: 0,
        concurrentManagedAccess: 0,
        directManagedMemAccessFromHost: 0,
        pageableMemoryAccess: 0,
        cooperativeLaunch: 0,
        cooperativeMultiDeviceLaunch: 0,
        // What OpenCL has no word for.
        memoryClockRate: 0,
        memoryBusWidth: 0,
        clockInstructionRate: 0,
        arch: topsDeviceArch_t { feature: 0 },
        isLargeBar: 0,
        mc_channel: 0,
        localMemPerThread: 0,
        remoteUuidId: [[0; 16]; 6],
    }
}

/// One property of a device; sizes beyond a C integer are answered with the largest one.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for a number that is no attribute.
pub(crate) fn attribute(device: Device, attribute: topsDeviceAttribute_t) -> Result<c_int> {
    general(&properties(device), attribute).ok_or_else(|| {
        Error::new(ErrorKind::InvalidValue, "it is no attribute of a device")
            .argument("attr", attribute.0)
            .help("pass a constant of topsDeviceAttribute_t that is not a mark")
    })
}

/// Identity, sizes and counts.
fn general(prop: &topsDeviceProp_t, attribute: topsDeviceAttribute_t) -> Option<c_int> {
    Some(match attribute {
        topsDeviceAttributeClockRate => prop.clockRate,
        topsDeviceAttributeComputeCapabilityMajor => prop.major,
        topsDeviceAttributeComputeCapabilityMinor => prop.minor,
        topsDeviceAttributeMaxBlockDimX => prop.maxThreadsDim[0],
        topsDeviceAttributeMaxBlockDimY => prop.maxThreadsDim[1],
        topsDeviceAttributeMaxBlockDimZ => prop.maxThreadsDim[2],
        topsDeviceAttributeMaxGridDimX => prop.maxGridSize[0],
        topsDeviceAttributeMaxGridDimY => prop.maxGridSize[1],
        topsDeviceAttributeMaxGridDimZ => prop.maxGridSize[2],
        topsDeviceAttributeMaxThreadsPerBlock => prop.maxThreadsPerBlock,
        topsDeviceAttributeMultiprocessorCount => prop.multiProcessorCount,
        topsDeviceAttributeMaxSharedMemoryPerBlock => int(prop.sharedMemPerBlock),
        topsDeviceAttributeEnflameMcChannel => prop.mc_channel,
        _ => return None,
    })
}

/// How many of the wishes in `wanted` the device meets; of devices with the same score the first one is chosen.
///
/// A field that is 0, or a name that is empty, is no wish. The name has to be equal; memory, shared memory, threads of
/// a block, multiprocessors, clock and compute capability (one wish, major first) have to be as large. The other
/// fields are not looked at.
pub(crate) fn matches(device: Device, wanted: &topsDeviceProp_t) -> u32 {
    score(&properties(device), wanted)
}

fn score(have: &topsDeviceProp_t, wanted: &topsDeviceProp_t) -> u32 {
    let wishes = [
        wanted.name[0] != 0 && until_nul(&have.name) == until_nul(&wanted.name),
        wanted.totalGlobalMem != 0 && have.totalGlobalMem >= wanted.totalGlobalMem,
        wanted.sharedMemPerBlock != 0 && have.sharedMemPerBlock >= wanted.sharedMemPerBlock,
        wanted.maxThreadsPerBlock != 0 && have.maxThreadsPerBlock >= wanted.maxThreadsPerBlock,
        wanted.multiProcessorCount != 0 && have.multiProcessorCount >= wanted.multiProcessorCount,
        wanted.clockRate != 0 && have.clockRate >= wanted.clockRate,
        (wanted.major, wanted.minor) != (0, 0) && (have.major, have.minor) >= (wanted.major, wanted.minor),
    ];
    wishes.into_iter().map(u32::from).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_is_answered_from_a_field_of_its_own() {
        let prop = topsDeviceProp_t {
            clockRate: 0,
            major: 1,
            minor: 2,
            maxThreadsDim: [3, 4, 5],
            maxGridSize: [6, 7, 8],
            maxThreadsPerBlock: 9,
            multiProcessorCount: 10,
            sharedMemPerBlock: 11,
            mc_channel: 10001,
            ..Default::default()
        };
        for (name, number) in topsDeviceAttribute_t::NAMES {
            let expected = (*name != "topsDeviceAttributeEnflameSpecificBegin").then_some(*number);
            assert_eq!(general(&prop, topsDeviceAttribute_t(*number)), expected, "{name}");
        }
        assert_eq!([-1, 12, 10002].map(|number| general(&prop, topsDeviceAttribute_t(number))), [None; 3]);
    }

    #[test]
    fn a_device_meets_the_wishes_that_are_made() {
        let have =
            topsDeviceProp_t { name: text("gcu"), major: 3, minor: 1, totalGlobalMem: 100, ..Default::default() };
        let wish = |wanted: topsDeviceProp_t| score(&have, &wanted);
        assert_eq!(wish(topsDeviceProp_t::default()), 0);
        assert_eq!(wish(have), 3);
        assert_eq!(wish(topsDeviceProp_t { totalGlobalMem: 101, ..Default::default() }), 0);
        assert_eq!(wish(topsDeviceProp_t { major: 2, minor: 9, ..Default::default() }), 1);
        assert_eq!(wish(topsDeviceProp_t { major: 3, minor: 2, ..Default::default() }), 0);
        assert_eq!(wish(topsDeviceProp_t { name: text("gc"), ..Default::default() }), 0);
        assert_eq!(wish(topsDeviceProp_t { name: [1; 256], ..Default::default() }), 0);
    }

    #[test]
    fn the_structure_and_the_attributes_say_what_the_device_says() -> Result<()> {
        let device = Device::get(0)?;
        let prop = properties(device);
        assert_eq!(prop.name, text(device.name()));
        assert_eq!(prop.localUuidId.map(|c| c as u8), device.uuid());
        assert_eq!(prop.totalGlobalMem, size(device.total_memory()));
        assert_eq!(attribute(device, topsDeviceAttributeMultiprocessorCount)?, int(device.compute_units()));
        assert_eq!(prop.gcuArchName[..7], text::<8>("opencl-")[..7]);
        // The clock is 0 where the driver does not know it.
        assert_eq!(matches(device, &prop), 6 + u32::from(prop.clockRate != 0));
        let refusal = attribute(device, topsDeviceAttributeEnflameSpecificBegin).expect_err("a refusal").to_string();
        assert!(refusal.starts_with("attr = 10000: "), "{refusal}");
        Ok(())
    }
}
