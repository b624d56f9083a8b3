//! Samplers: how a kernel reads an image between and beyond its elements.

use crate::cl::SamplerObject;
pub use crate::cl::image::{Addressing, Filter};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use crate::rt::launch::args::{Argument, Given, KernelArg};
use parking_lot::Mutex;
use std::sync::Arc;

/// How a kernel reads an [`Array`](crate::Array) between and beyond its elements: the argument for a parameter of type
/// `sampler_t`.
///
/// A plain value: any number of launches on any device may take it. A kernel that is always to read in one way can
/// declare the sampler in its own text instead.
///
/// ```
/// use gridcl::{Addressing, Filter, Sampler};
/// let smooth = Sampler::new().filter(Filter::Linear).addressing(Addressing::Repeat).normalized(true);
/// assert_eq!(smooth, smooth.clone());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Sampler {
    normalized: bool,
    addressing: Addressing,
    filter: Filter,
}

impl Sampler {
    /// The nearest element, by its number; beyond the edge the nearest one there.
    pub const fn new() -> Self {
        Self { normalized: false, addressing: Addressing::Clamp, filter: Filter::Nearest }
    }

    /// Whether coordinates run from 0 to 1 along each axis instead of counting elements. Element 0 is at 0.5 of an
    /// element in either case.
    pub const fn normalized(self, normalized: bool) -> Self {
        Self { normalized, ..self }
    }

    /// What there is beyond the edge.
    pub const fn addressing(self, addressing: Addressing) -> Self {
        Self { addressing, ..self }
    }

    /// What there is between elements.
    pub const fn filter(self, filter: Filter) -> Self {
        Self { filter, ..self }
    }
}

impl Default for Sampler {
    fn default() -> Self {
        Self::new()
    }
}

// SAFETY: a value that refers to no memory.
unsafe impl KernelArg for Sampler {
    fn argument(&self) -> Argument<'_> {
        Argument(Given::Sampler(*self))
    }
}

/// A context's sampler objects, one for each way to sample that was used there.
#[derive(Debug, Default)]
pub(crate) struct Samplers(Mutex<Vec<(Sampler, Arc<SamplerObject>)>>);

impl Samplers {
    /// The object for a sampler.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] for repetition without normalised coordinates, which OpenCL does not define.
    pub(super) fn get(&self, context: &Context, sampler: Sampler) -> Result<Arc<SamplerObject>> {
        let Sampler { normalized, addressing, filter } = sampler;
        if !normalized && matches!(addressing, Addressing::Repeat | Addressing::Mirror) {
            let problem = format!("{addressing:?} needs coordinates from 0 to 1");
            return Err(Error::new(ErrorKind::InvalidValue, problem).help("make the sampler normalized(true)"));
        }
        let mut made = self.0.lock();
        if let Some((_, object)) = made.iter().find(|(of, _)| *of == sampler) {
            return Ok(Arc::clone(object));
        }
        let object = SamplerObject::new(context.cl(), normalized, addressing, filter);
        let object = Arc::new(object.map_err(|failure| context.note(failure))?);
        made.push((sampler, Arc::clone(&object)));
        Ok(object)
    }

    /// Gives the objects up; they are made again when needed.
    pub(crate) fn trim(&self) {
        self.0.lock().clear();
    }
}
