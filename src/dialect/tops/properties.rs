//! stub
use super::*;
use crate::rt::device::Device;
use std::ffi::c_int;
pub(crate) fn properties(_: Device) -> topsDeviceProp_t {
    topsDeviceProp_t::default()
}
pub(crate) fn attribute(_: Device, _: topsDeviceAttribute_t) -> crate::Result<c_int> {
    Ok(0)
}
pub(crate) fn matches(_: Device, _: &topsDeviceProp_t) -> u32 {
    0
}
