//! What MUSA tells of pointers, in its own numbers and structures.

#![allow(non_upper_case_globals, reason = "the names are the vendor's")]

use super::types::*;
use crate::dialect::call::pointer::{self, Rules};
use crate::error::ErrorKind;
use crate::rt::memory::query::{Facts, Home};
use std::ptr::null_mut;

/// Attributes of other numbers are not supported, known or not.
pub(super) const POINTERS: Rules = Rules {
    answered: &[
        musaPointerAttributeMemoryType.0,
        musaPointerAttributeDevicePointer.0,
        musaPointerAttributeHostPointer.0,
        musaPointerAttributeIsManaged.0,
        musaPointerAttributeDeviceOrdinal.0,
        musaPointerAttributeRangeStart.0,
        musaPointerAttributeRangeSize.0,
    ],
    refuses: |_| ErrorKind::NotSupported,
    memory_type: |facts| Some(memory_type(facts).0),
};

/// Where memory lives.
pub(super) fn memory_type(facts: Option<&Facts>) -> musaMemoryType {
    match facts {
        None => musaMemoryTypeUnregistered,
        Some(facts) if facts.managed => musaMemoryTypeManaged,
        Some(Facts { home: Home::Host, .. }) => musaMemoryTypeHost,
        Some(Facts { home: Home::Device, .. }) => musaMemoryTypeDevice,
    }
}

/// What the structure holds for an address within an allocation.
pub(super) fn pointer_attributes(facts: &Facts) -> musaPointerAttributes {
    musaPointerAttributes {
        r#type: memory_type(Some(facts)),
        device: pointer::ordinal(facts),
        devicePointer: pointer::address(facts.device_address),
        hostPointer: pointer::address(facts.host_address),
    }
}

/// The same for memory that the runtime does not know.
pub(super) fn unregistered() -> musaPointerAttributes {
    musaPointerAttributes {
        r#type: musaMemoryTypeUnregistered,
        device: musaInvalidDeviceId,
        devicePointer: null_mut(),
        hostPointer: null_mut(),
    }
}
