//! Modules: OpenCL C text, built for each device at first use there, with its kernels and symbols.

pub(crate) mod build;
pub(crate) mod lexer;
mod log;
pub(crate) mod rewrite;
pub(crate) mod signature;
pub(crate) mod symbol;

use super::context::Context;
use super::device::Device;
use crate::error::{Error, ErrorKind, Result};
use build::{Build, Definition};
use parking_lot::{Mutex, RwLock};
use rewrite::Rewritten;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
pub(crate) use symbol::Symbol;

/// Kernel text with what it defines.
///
/// The text is OpenCL C. Beside that a module may declare symbols as MUSA and TOPS programs do, `__constant__` and
/// `__device__` variables at file scope, which kernels use by name and the host reads and writes
/// ([`Module::write_symbol`]).
///
/// ```
/// use gridcl::{Device, Module};
/// let module = Module::from_source(Device::get(0)?, "
///     __kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }")?;
/// let twice = module.kernel("twice")?;
/// assert_eq!(twice.name(), "twice");
/// # Ok::<(), gridcl::Error>(())
/// ```
#[derive(Clone)]
pub struct Module(Arc<Inner>);

struct Inner {
    /// What messages call the text: the file, or a stand-in.
    name: String,
    source: String,
    rewritten: Rewritten,
    options: String,
    /// Larger for modules that were loaded later.
    serial: u64,
    /// The context that it was loaded for.
    home: Arc<Context>,
    unloaded: AtomicBool,
    /// One for each context that the module was used in.
    builds: Mutex<Vec<Arc<Build>>>,
}

/// A kernel of a module, for whatever device it is launched on. Any number of threads may launch it at once.
#[derive(Clone)]
pub struct Kernel(Arc<KernelInner>);

struct KernelInner {
    module: Module,
    name: String,
    /// The definitions used last, by context, so that a launch finds its own without the module's lock.
    definitions: RwLock<Vec<Arc<Definition>>>,
}

impl Module {
    /// Builds OpenCL C text for `device`; other devices build it at first use there.
    ///
    /// # Errors
    /// [`ErrorKind::BuildFailed`] with the compiler's first errors, the source lines they mean and the whole log;
    /// [`ErrorKind::InvalidImage`] for a text without a kernel.
    pub fn from_source(device: Device, source: &str) -> Result<Self> {
        Self::with_options(device, source, "")
    }

    /// The same with options for the compiler, for instance `-DN=16 -cl-fast-relaxed-math`.
    ///
    /// # Errors
    /// As [`Module::from_source`].
    pub fn with_options(device: Device, source: &str, options: &str) -> Result<Self> {
        Self::load(device, "kernel.cl".to_owned(), source.to_owned(), options)
    }

    /// Builds the text of a file.
    ///
    /// # Errors
    /// [`ErrorKind::FileNotFound`] where it cannot be read, else as [`Module::from_source`].
    pub fn from_file(device: Device, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|error| {
            Error::new(ErrorKind::FileNotFound, "the file cannot be read")
                .argument("path", path.display())
                .caused_by(error)
        })?;
        let source = String::from_utf8(bytes).map_err(|_| {
            Error::new(ErrorKind::InvalidImage, "the file is not text").argument("path", path.display())
        })?;
        Self::load(device, path.display().to_string(), source, "")
    }

    fn load(device: Device, name: String, source: String, options: &str) -> Result<Self> {
        static SERIAL: AtomicU64 = AtomicU64::new(1);
        let context = device.context()?;
        let rewritten = rewrite::rewrite(&source).map_err(|broken| {
            let line = source.lines().nth(broken.line.saturating_sub(1) as usize).unwrap_or_default().trim();
            let problem = format!("{name}:{}: {}\n    {line}", broken.line, broken.message);
            Error::new(ErrorKind::BuildFailed, problem)
        })?;
        if !rewrite::may_define_kernel(&source) {
            return Err(no_kernel(&name));
        }
        let module = Self(Arc::new(Inner {
            name,
            source,
            rewritten,
            options: options.to_owned(),
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            home: Arc::clone(&context),
            unloaded: AtomicBool::new(false),
            builds: Mutex::default(),
        }));
        if module.build_for(&context)?.kernel_names().next().is_none() {
            return Err(no_kernel(&module.0.name));
        }
        Ok(module)
    }

    /// The kernel called `name`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where there is none, with the names there are.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let build = self.build_for(&self.0.home)?;
        let definition = build.kernel(name).ok_or_else(|| {
            let names: Vec<_> = build.kernel_names().collect();
            Error::new(ErrorKind::NotFound, format!("{} has no kernel of that name", self.0.name))
                .argument("name", format_args!("\"{name}\""))
                .help(format!("it has: {}", names.join(", ")))
        })?;
        let definitions = RwLock::new(vec![definition]);
        Ok(Kernel(Arc::new(KernelInner { module: self.clone(), name: name.to_owned(), definitions })))
    }

    /// The names of its kernels, in the compiler's order.
    ///
    /// # Errors
    /// When the module is unloaded, or died with its device's reset.
    pub fn kernel_names(&self) -> Result<Vec<String>> {
        let build = self.build_for(&self.0.home)?;
        Ok(build.kernel_names().map(str::to_owned).collect())
    }

    /// The storage that a symbol has on `device`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where the module declares no such symbol.
    pub(crate) fn symbol_on(&self, context: &Arc<Context>, name: &str) -> Result<Symbol> {
        let build = self.build_for(context)?;
        build.symbol(name).cloned().ok_or_else(|| {
            let names: Vec<_> = self.symbol_names().filter(|name| build.symbol(name).is_some()).collect();
            let help = if names.is_empty() { "it has none".into() } else { format!("it has: {}", names.join(", ")) };
            Error::new(ErrorKind::NotFound, format!("{} has no symbol of that name", self.0.name))
                .argument("name", format_args!("\"{name}\""))
                .help(help)
        })
    }

    /// The names of its symbols, in the order of the text.
    pub fn symbol_names(&self) -> impl Iterator<Item = &str> {
        self.0.rewritten.symbols.iter().map(|symbol| symbol.name.as_str())
    }

    /// Whether it was neither unloaded nor lost to a reset of its device.
    pub(crate) fn is_alive(&self) -> bool {
        !self.0.unloaded.load(Ordering::Acquire) && self.0.home.is_alive()
    }

    /// The device that it was loaded for.
    pub(crate) fn home(&self) -> Device {
        self.0.home.device()
    }

    /// Larger for modules that were loaded later.
    pub(crate) fn serial(&self) -> u64 {
        self.0.serial
    }

    /// Ends the module, after all work of the devices that it was used on: its kernels cannot be launched and its
    /// symbols not found any more.
    pub(crate) fn unload(&self) -> Result<()> {
        self.0.unloaded.store(true, Ordering::Release);
        let builds = std::mem::take(&mut *self.0.builds.lock());
        // Kernels that are under way use the symbols' storage.
        builds.iter().map(|build| build.synchronize()).fold(Ok(()), Result::and)
    }

    fn check(&self) -> Result<()> {
        if self.0.unloaded.load(Ordering::Acquire) {
            return Err(Error::new(ErrorKind::InvalidHandle, format!("{} was unloaded", self.0.name)));
        }
        Ok(())
    }

    /// The build for a context, made at first use there.
    fn build_for(&self, context: &Arc<Context>) -> Result<Arc<Build>> {
        self.check()?;
        context.check()?;
        let mut builds = self.0.builds.lock();
        if let Some(build) = builds.iter().find(|build| build.is_for(context)) {
            return Ok(Arc::clone(build));
        }
        builds.retain(|build| build.is_alive());
        let inner = &self.0;
        let build = Build::new(context, &inner.name, &inner.source, &inner.rewritten, &inner.options)
            .map_err(|error| error.on_device(context.device()))?;
        let build = Arc::new(build);
        builds.push(Arc::clone(&build));
        Ok(build)
    }
}

fn no_kernel(name: &str) -> Error {
    Error::new(ErrorKind::InvalidImage, format!("{name} defines no kernel")).help("mark kernels with __kernel")
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The module that it is part of.
    pub fn module(&self) -> &Module {
        &self.0.module
    }

    /// The kernel as built for a context.
    pub(crate) fn definition(&self, context: &Arc<Context>) -> Result<Arc<Definition>> {
        self.0.module.check()?;
        if let Some(known) = self.0.definitions.read().iter().find(|known| known.is_for(context)) {
            return Ok(Arc::clone(known));
        }
        let build = self.0.module.build_for(context)?;
        let definition = build
            .kernel(&self.0.name)
            .ok_or_else(|| Error::new(ErrorKind::NotFound, "the kernel is missing in the build for this device"))?;
        let mut definitions = self.0.definitions.write();
        definitions.retain(|known| known.is_alive());
        definitions.push(Arc::clone(&definition));
        Ok(definition)
    }

    /// The device that its module was loaded for.
    pub(crate) fn home(&self) -> Device {
        self.0.module.home()
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("name", &self.0.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.0.name).field("module", &self.0.module.0.name).finish()
    }
}
