//! What TOPS tells of pointers, in its own numbers and structures.

#![allow(non_upper_case_globals, reason = "the names are the vendor's")]

use super::types::*;
use crate::dialect::call::pointer::{self, Rules};
use crate::error::ErrorKind;
use crate::rt::memory::query::{Facts, Home};

/// What the vendor does not support is not supported here either; numbers that the header does not have are invalid.
pub(super) const POINTERS: Rules = Rules {
    answered: &[
        TOPS_POINTER_ATTRIBUTE_MEMORY_TYPE.0,
        TOPS_POINTER_ATTRIBUTE_DEVICE_POINTER.0,
        TOPS_POINTER_ATTRIBUTE_HOST_POINTER.0,
        TOPS_POINTER_ATTRIBUTE_SYNC_MEMOPS.0,
        TOPS_POINTER_ATTRIBUTE_BUFFER_ID.0,
        TOPS_POINTER_ATTRIBUTE_IS_MANAGED.0,
        TOPS_POINTER_ATTRIBUTE_DEVICE_ORDINAL.0,
        TOPS_POINTER_ATTRIBUTE_RANGE_START_ADDR.0,
        TOPS_POINTER_ATTRIBUTE_RANGE_SIZE.0,
        TOPS_POINTER_ATTRIBUTE_MAPPED.0,
        TOPS_POINTER_ATTRIBUTE_ACCESS_FLAGS.0,
        TOPS_POINTER_ATTRIBUTE_MEM_BANK.0,
    ],
    refuses: |number| match topsPointer_attribute::NAMES.iter().any(|&(_, known)| known == number) {
        true => ErrorKind::NotSupported,
        false => ErrorKind::InvalidValue,
    },
    memory_type: |facts| facts.map(|facts| memory_type(facts).0),
};

/// Where memory lives. The vendor has no type for managed memory, which counts as the device's.
fn memory_type(facts: &Facts) -> topsMemoryType {
    match facts.home {
        Home::Host => topsMemoryTypeHost,
        Home::Device => topsMemoryTypeDevice,
    }
}

/// What the structure holds for an address within an allocation.
pub(super) fn pointer_attributes(facts: &Facts) -> topsPointerAttribute_t {
    topsPointerAttribute_t {
        memoryType: memory_type(facts),
        device: pointer::ordinal(facts),
        device_pointer: pointer::address(facts.device_address),
        host_pointer: pointer::address(facts.host_address),
        isManaged: facts.managed.into(),
        allocationFlags: facts.flags,
    }
}
