//! What a module tells of itself: its kernels' parameters and limits, its symbols' sizes.

use super::signature::{self, Class};
use super::{Kernel, Module};
use crate::error::Result;
use crate::rt::launch;
use std::fmt;

/// A parameter of a kernel, see [`Kernel::parameters`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelParameter {
    /// Its name in the text.
    pub name: String,
    /// Its type as the compiler writes it, for instance `float*`.
    pub type_name: String,
    /// What a launch gives for it.
    pub kind: ParameterKind,
}

/// What a launch gives for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterKind {
    /// Device memory (`__global`, `__constant`).
    Pointer,
    /// Shared memory (`__local`): a [`Local`](crate::Local), or the launch's own number of shared bytes.
    Local,
    /// An [`Array`](crate::Array).
    Image,
    /// A [`Sampler`](crate::Sampler).
    Sampler,
    /// A value of so many bytes; 0 where only the driver knows how many.
    Value {
        /// Its size in bytes.
        bytes: usize,
    },
}

impl fmt::Display for KernelParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = match self.kind {
            ParameterKind::Pointer => "__global ",
            ParameterKind::Local => "__local ",
            _ => "",
        };
        write!(f, "{space}{} {}", self.type_name, self.name)
    }
}

/// What a kernel takes of its device, see [`Kernel::limits`]. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelLimits {
    /// The most work items of a block.
    pub max_block_size: usize,
    /// Shared memory that the text declares; a launch may ask for more.
    pub shared_bytes: u64,
    /// Private memory of a work item.
    pub private_bytes: u64,
}

impl Kernel {
    /// Its parameters in order, as the compiler of its module's device reports them. Parameters that stand for symbols
    /// are not among them.
    ///
    /// ```
    /// use gridcl::{Device, Module, ParameterKind};
    /// let module = Module::from_source(Device::get(0)?, "
    ///     __kernel void scale(__global float *x, int n, float by) { if (get_global_id(0) < n) x[get_global_id(0)] *= by; }")?;
    /// let parameters = module.kernel("scale")?.parameters()?;
    /// assert_eq!(parameters[0].kind, ParameterKind::Pointer);
    /// assert_eq!((parameters[2].type_name.as_str(), parameters[2].kind), ("float", ParameterKind::Value { bytes: 4 }));
    /// # Ok::<(), gridcl::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the module is unloaded, or died with its device's reset.
    pub fn parameters(&self) -> Result<Vec<KernelParameter>> {
        let definition = self.definition(&self.home().context()?)?;
        let told = |parameter: &signature::Parameter| KernelParameter {
            name: parameter.name.clone(),
            type_name: parameter.type_name.clone(),
            kind: match parameter.class {
                Class::Pointer => ParameterKind::Pointer,
                Class::Local => ParameterKind::Local,
                Class::Image => ParameterKind::Image,
                Class::Sampler => ParameterKind::Sampler,
                Class::Value(bytes) => ParameterKind::Value { bytes: bytes.unwrap_or(0) },
            },
        };
        Ok(definition.parameters().iter().map(told).collect())
    }

    /// What it takes of its module's device.
    ///
    /// # Errors
    /// As [`parameters`](Self::parameters).
    pub fn limits(&self) -> Result<KernelLimits> {
        let needs = launch::needs(self, &self.home().context()?)?;
        Ok(KernelLimits {
            max_block_size: needs.max_block,
            shared_bytes: needs.shared_static,
            private_bytes: needs.private,
        })
    }
}

impl Module {
    /// The size of a symbol in bytes.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] where the module declares no such symbol.
    pub fn symbol_bytes(&self, name: &str) -> Result<usize> {
        Ok(self.symbol_on(&self.home().context()?, name)?.bytes())
    }
}
