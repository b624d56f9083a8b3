//! stub
use super::*;
use crate::rt::device::Device;
use std::ffi::c_int;
pub(crate) fn properties(_: Device) -> musaDeviceProp {
    musaDeviceProp::default()
}
pub(crate) fn attribute(_: Device, _: musaDeviceAttr) -> crate::Result<c_int> {
    Ok(0)
}
pub(crate) fn matches(_: Device, _: &musaDeviceProp) -> u32 {
    0
}
