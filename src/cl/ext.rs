//! What only extensions and vendors' queries tell, with a stable stand-in where they are silent.

use super::platform::DeviceId;
use sha2::{Digest, Sha256};

/// `cl_nv_device_attribute_query`: the PCI domain, which cl3 does not list.
const PCI_DOMAIN_ID_NV: u32 = 0x400A;

/// Where a device sits on the PCI bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PciAddress {
    pub(crate) domain: u32,
    pub(crate) bus: u32,
    pub(crate) device: u32,
    pub(crate) function: u32,
}

/// The number of work items that run in lockstep, where a vendor's query has it.
pub(super) fn lockstep_width(id: DeviceId, extensions: &str) -> Option<u32> {
    let query = id.query();
    if extensions.contains("cl_nv_device_attribute_query") {
        return query.wrap_size_nv().ok();
    }
    if extensions.contains("cl_amd_device_attribute_query") {
        return query.wavefront_width_amd().ok();
    }
    None
}

/// Compute capability: the vendor's, where there is a query for it.
pub(super) fn compute_capability(id: DeviceId, extensions: &str) -> Option<(u32, u32)> {
    if !extensions.contains("cl_nv_device_attribute_query") {
        return None;
    }
    let query = id.query();
    Some((query.compute_capability_major_nv().ok()?, query.compute_capability_minor_nv().ok()?))
}

/// The PCI address, by the Khronos query or a vendor's.
pub(super) fn pci_address(id: DeviceId, extensions: &str) -> Option<PciAddress> {
    let query = id.query();
    if extensions.contains("cl_khr_pci_bus_info") {
        let info = query.pcibusinfokhr_intel().ok()?;
        return Some(PciAddress {
            domain: info.pci_domain,
            bus: info.pci_bus,
            device: info.pci_device,
            function: info.pci_function,
        });
    }
    if extensions.contains("cl_nv_device_attribute_query") {
        let domain = cl3::device::get_device_data(id.raw(), PCI_DOMAIN_ID_NV)
            .ok()
            .and_then(|bytes| Some(u32::from_ne_bytes(bytes.try_into().ok()?)));
        return Some(PciAddress {
            domain: domain.unwrap_or(0),
            bus: query.pci_bus_id_nv().ok()?,
            device: query.pci_slot_id_nv().ok()? >> 3,
            function: query.pci_slot_id_nv().ok()? & 7,
        });
    }
    None
}

/// A stand-in for devices that are on no bus: one that no card has, and the same at every start.
pub(super) fn derived_pci_address(ordinal: usize) -> PciAddress {
    let slot = u32::try_from(ordinal).unwrap_or(0) & 0xff;
    PciAddress { domain: 0, bus: 0xff, device: slot >> 3, function: slot & 7 }
}

/// The driver's UUID of the device, unless it is missing or all zeros (PoCL 7.1).
pub(super) fn uuid(id: DeviceId, extensions: &str) -> Option<[u8; 16]> {
    if !extensions.contains("cl_khr_device_uuid") {
        return None;
    }
    id.query().uuid_khr().ok().filter(|uuid| uuid.iter().any(|&byte| byte != 0))
}

/// A UUID from what names the device, the same at every start; version 8 ("custom") of RFC 9562.
pub(super) fn derived_uuid(names: &[&str], ordinal: usize) -> [u8; 16] {
    let mut hash = Sha256::new();
    for name in names {
        hash.update(name.as_bytes());
        hash.update([0]);
    }
    hash.update(ordinal.to_le_bytes());
    let digest = hash.finalize();
    let mut uuid = [0; 16];
    uuid.copy_from_slice(&digest[..16]);
    uuid[6] = uuid[6] & 0x0f | 0x80;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    uuid
}

/// Free bytes of device memory, where a vendor's query has it.
pub(crate) fn free_memory(id: DeviceId, extensions: &str) -> Option<u64> {
    if !extensions.contains("cl_amd_device_attribute_query") {
        return None;
    }
    id.query().global_free_memory_amd().ok().map(|kibibytes| kibibytes as u64 * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_are_stable_and_tell_devices_apart() {
        assert_eq!(derived_uuid(&["a", "b"], 0), derived_uuid(&["a", "b"], 0));
        assert_ne!(derived_uuid(&["a", "b"], 0), derived_uuid(&["a", "b"], 1));
        assert_ne!(derived_uuid(&["ab", ""], 0), derived_uuid(&["a", "b"], 0));
        assert_ne!(derived_pci_address(0), derived_pci_address(9));
    }
}
