//! Bodies that attract each other: `nbody.cl`.

use super::{BLOCK, count, same_length};
use gridcl::prelude::*;
use gridcl::{Error, ErrorKind, Result};

/// Bodies in device memory.
pub(crate) struct Bodies {
    /// x, y, z and mass of each.
    places: DeviceBuffer<[f32; 4]>,
    /// x, y, z of each, and a fourth number that stays as it is.
    velocities: DeviceBuffer<[f32; 4]>,
}

impl Bodies {
    /// Bodies at `places` (x, y, z, mass), with `velocities` (x, y, z, anything).
    pub(crate) fn new(stream: &Stream, places: &[[f32; 4]], velocities: &[[f32; 4]]) -> Result<Self> {
        same_length("velocities", velocities.len(), places.len())?;
        count("places", places.len())?;
        Ok(Self {
            places: DeviceBuffer::from_slice(stream, places)?,
            velocities: DeviceBuffer::from_slice(stream, velocities)?,
        })
    }

    /// Places and velocities on the host, after all work of the stream so far.
    pub(crate) fn to_host(&self, stream: &Stream) -> Result<[Vec<[f32; 4]>; 2]> {
        Ok([self.places.to_vec(stream)?, self.velocities.to_vec(stream)?])
    }
}

/// Moves bodies by the pull of all on each.
pub(crate) struct NBody(Kernel);

impl NBody {
    /// Builds the kernel.
    pub(crate) fn new(device: Device) -> Result<Self> {
        let source = include_str!("../../kernels_cl/nbody.cl");
        Ok(Self(Module::with_options(device, source, &format!("-DBLOCK={BLOCK}"))?.kernel("nbody_step")?))
    }

    /// Goes on for `steps` steps of `dt`; `softening`, above 0, is the distance below which the pull grows no further.
    pub(crate) fn run(
        &self,
        stream: &Stream,
        bodies: &mut Bodies,
        dt: f32,
        softening: f32,
        steps: usize,
    ) -> Result<()> {
        if softening.is_nan() || softening <= 0.0 {
            return Err(Error::new(ErrorKind::InvalidValue, "it is above 0").argument("softening", softening));
        }
        let n = count("bodies", bodies.places.len())?;
        if n == 0 || steps == 0 {
            return Ok(());
        }
        let kernel = &self.0;
        // SAFETY: a step writes every place before the next reads it.
        let mut next = unsafe { DeviceBuffer::<[f32; 4]>::uninit(stream.device(), bodies.places.len()) }?;
        for _ in 0..steps {
            // SAFETY: `n` bodies in all three.
            unsafe {
                launch!(kernel<<<Dim3::covering(n as usize, BLOCK), BLOCK, 0, stream>>>(
                    bodies.places, next, bodies.velocities, n, dt, softening
                ))?;
            }
            std::mem::swap(&mut bodies.places, &mut next);
        }
        Ok(())
    }
}
