//! The platforms that the loader knows, and their devices.

use super::call::call;
use super::caps::DeviceType;
use super::status::{Failure, Result};
use cl3::types::cl_device_id;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::platform::Platform;

/// "No such device": how a platform without devices answers, and no failure.
const DEVICE_NOT_FOUND: i32 = -1;
/// "No platform": how a loader without drivers answers, and no failure either.
const PLATFORM_NOT_FOUND: i32 = -1001;

/// A device as OpenCL names it; root devices live as long as the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceId(cl_device_id);

// SAFETY: a device id is a name that any thread may use.
unsafe impl Send for DeviceId {}
// SAFETY: as above.
unsafe impl Sync for DeviceId {}

impl DeviceId {
    pub(super) fn raw(self) -> cl_device_id {
        self.0
    }

    pub(super) fn query(self) -> Device {
        Device::new(self.0)
    }
}

/// One platform with what it has.
#[derive(Debug)]
pub(crate) struct Found {
    /// The platform's name.
    pub(crate) platform: String,
    /// Its version text.
    pub(crate) version: String,
    /// Its devices, with their types; empty where the driver found no hardware.
    pub(crate) devices: Vec<(DeviceId, DeviceType)>,
    /// Why the driver did not say what it has.
    pub(crate) failure: Option<Failure>,
}

/// Lists every platform, those without devices too, so that a choice can be explained.
///
/// No loader is an error; a loader without drivers is an empty list.
pub(crate) fn find() -> Result<Vec<Found>> {
    let platforms = call("clGetPlatformIDs", || match cl3::platform::get_platform_ids() {
        Err(PLATFORM_NOT_FOUND) => Ok(Vec::new()),
        answer => answer,
    })?;
    platforms.into_iter().map(|id| look_into(&Platform::new(id))).collect()
}

fn look_into(platform: &Platform) -> Result<Found> {
    let ids = call("clGetDeviceIDs", || match platform.get_devices(CL_DEVICE_TYPE_ALL) {
        Err(error) if error.0 == DEVICE_NOT_FOUND => Ok(Vec::new()),
        answer => answer.map_err(|error| error.0),
    });
    // One broken driver must not hide the others.
    let (ids, failure) = match ids {
        Ok(ids) => (ids, None),
        Err(failure) => (Vec::new(), Some(failure)),
    };
    let devices = ids
        .into_iter()
        .map(|id| (DeviceId(id), DeviceType::from_bits(Device::new(id).dev_type().unwrap_or(0))))
        .collect();
    Ok(Found {
        platform: platform.name().unwrap_or_default(),
        version: platform.version().unwrap_or_default(),
        devices,
        failure,
    })
}
