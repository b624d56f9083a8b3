//! Modules: OpenCL C text, built for each device at first use there, with its kernels and symbols.

pub(crate) mod binary;
pub(crate) mod build;
mod builder;
pub(crate) mod cache;
mod describe;
#[cfg(feature = "testing")]
pub(crate) mod fuzz;
pub(crate) mod growth;
mod include;
pub(crate) mod lexer;
mod lines;
mod log;
mod packing;
pub(crate) mod rewrite;
pub(crate) mod signature;
pub(crate) mod symbol;

use super::context::Context;
use super::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::trace;
use binary::{Image, Recipe};
use build::{Build, Definition, Plan};
pub use builder::ModuleBuilder;
pub use describe::{KernelLimits, KernelParameter, ParameterKind};
use lines::Lines;
use parking_lot::{Mutex, RwLock};
use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
pub(crate) use symbol::Symbol;

/// What messages call a text that is no file.
const TEXT_NAME: &str = "kernel.cl";

/// Kernel text with what it defines.
///
/// The text is OpenCL C. Beside that a module may declare symbols as MUSA and TOPS programs do, `__constant__` and
/// `__device__` variables at file scope, which kernels use by name and the host reads and writes
/// ([`Module::write_symbol`]).
///
/// Files, include folders, definitions and options are given to [`Module::builder`]. What the driver makes of a text is
/// kept in a cache on disk (`docs/environment.md`), and can be kept by the program ([`Module::to_binary`]).
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
    plan: Arc<Plan>,
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
    /// The definition for the context that the module was loaded for, which a launch finds without any lock.
    home: Arc<Definition>,
    /// Those of other contexts, which a launch finds without the module's lock.
    elsewhere: RwLock<Vec<Arc<Definition>>>,
}

impl Module {
    /// Builds OpenCL C text for `device`; other devices build it at first use there.
    ///
    /// # Errors
    /// [`ErrorKind::BuildFailed`] with the compiler's first errors, the source lines they mean and the whole log;
    /// [`ErrorKind::InvalidImage`] for a text without a kernel.
    pub fn from_source(device: Device, source: &str) -> Result<Self> {
        Self::builder(device).source(TEXT_NAME, source).build()
    }

    /// The same with options for the compiler, for instance `-DN=16 -cl-fast-relaxed-math`.
    ///
    /// # Errors
    /// As [`Module::from_source`].
    pub fn with_options(device: Device, source: &str, options: &str) -> Result<Self> {
        Self::builder(device).source(TEXT_NAME, source).option(options).build()
    }

    /// Builds the text of a file, or loads a binary that [`Module::save`] wrote.
    ///
    /// # Errors
    /// [`ErrorKind::FileNotFound`] where it cannot be read, else as [`Module::from_source`].
    pub fn from_file(device: Device, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = builder::read(path)?;
        if binary::is_binary(&bytes) {
            return Self::from_binary(device, &bytes).map_err(|error| error.argument("path", path.display()));
        }
        Self::builder(device).file_of(path, bytes).build()
    }

    /// Loads what [`Module::to_binary`] gave. For another device or driver, or another version of gridcl, it is built
    /// anew from the text that it holds.
    ///
    /// The bytes are a program: load only those that come from where programs may come from.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidImage`] for other bytes, and for damaged ones; else as [`Module::from_source`].
    pub fn from_binary(device: Device, bytes: &[u8]) -> Result<Self> {
        trace::observe("Module::from_binary", &[("device", &device), ("bytes", &bytes.len())], || {
            let image = Image::from_bytes(bytes)?;
            let recipe = image.recipe.clone();
            Self::load(device, recipe, Some(image), true, false)
        })
    }

    /// The module as the device's driver built it, with its text and what is known of its kernels, for
    /// [`Module::from_binary`]. PoCL compiles every kernel once more for it, and kernels that demand a size of block
    /// (`reqd_work_group_size`) must not run there meanwhile: the call waits for launches of such kernels with the
    /// module's names, and later ones wait for the call.
    ///
    /// # Errors
    /// [`ErrorKind::NotSupported`] where the driver gives no binaries; [`ErrorKind::NotReady`] where other threads launch
    /// the kernels that it waits for without an end; when the module is unloaded.
    pub fn to_binary(&self) -> Result<Vec<u8>> {
        self.build_for(&self.0.home)?.to_binary()
    }

    /// Writes [`Module::to_binary`] to a file, which appears as a whole.
    ///
    /// # Errors
    /// As [`Module::to_binary`], and [`ErrorKind::FileNotFound`] where the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        builder::write(path.as_ref(), &self.to_binary()?)
    }

    fn load(device: Device, recipe: Recipe, image: Option<Image>, cached: bool, lazy: bool) -> Result<Self> {
        static SERIAL: AtomicU64 = AtomicU64::new(1);
        let context = device.context()?;
        let rewritten = rewrite(&recipe)?;
        if !rewrite::may_define_kernel(&recipe.text) {
            return Err(no_kernel(&recipe.name));
        }
        // What the driver includes may change without the text.
        let cached = cached && recipe.complete;
        let plan = Plan { recipe, rewritten, cached, image };
        let module = Self(Arc::new(Inner {
            plan: Arc::new(plan),
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            home: context,
            unloaded: AtomicBool::new(false),
            builds: Mutex::default(),
        }));
        if !lazy {
            module.home_build()?;
        }
        Ok(module)
    }

    /// The build for the device that it was loaded for.
    fn home_build(&self) -> Result<Arc<Build>> {
        let build = self.build_for(&self.0.home)?;
        if build.kernel_names().next().is_none() {
            return Err(no_kernel(self.name()));
        }
        Ok(build)
    }

    /// What messages call the text: the file, or a stand-in.
    fn name(&self) -> &str {
        &self.0.plan.recipe.name
    }

    /// The kernel called `name`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where there is none, with the names there are.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let build = self.home_build()?;
        let home = build.kernel(name).ok_or_else(|| {
            let names: Vec<_> = build.kernel_names().collect();
            Error::new(ErrorKind::NotFound, format!("{} has no kernel of that name", self.name()))
                .argument("name", format_args!("\"{name}\""))
                .help(format!("it has: {}", names.join(", ")))
        })?;
        let elsewhere = RwLock::default();
        Ok(Kernel(Arc::new(KernelInner { module: self.clone(), name: name.to_owned(), home, elsewhere })))
    }

    /// The names of its kernels, in the compiler's order.
    ///
    /// # Errors
    /// When the module is unloaded, or died with its device's reset.
    pub fn kernel_names(&self) -> Result<Vec<String>> {
        let build = self.home_build()?;
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
            Error::new(ErrorKind::NotFound, format!("{} has no symbol of that name", self.name()))
                .argument("name", format_args!("\"{name}\""))
                .help(help)
        })
    }

    /// The names of its symbols, in the order of the text.
    pub fn symbol_names(&self) -> impl Iterator<Item = &str> {
        self.0.plan.rewritten.symbols.iter().map(|symbol| symbol.name.as_str())
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

    /// Blocks until no work can be using it.
    pub(crate) fn quiesce(&self) -> Result<()> {
        let builds = self.0.builds.lock().clone();
        builds.iter().try_for_each(|build| build.quiesce())
    }

    /// Ends the module, after all work of the devices that it was used on: its kernels cannot be launched and its
    /// symbols not found any more.
    pub(crate) fn unload(&self) -> Result<()> {
        self.0.unloaded.store(true, Ordering::Release);
        let builds = std::mem::take(&mut *self.0.builds.lock());
        // Kernels that are under way use the symbols' storage.
        let outcome = builds.iter().map(|build| build.synchronize()).fold(Ok(()), Result::and);
        for build in builds.iter().filter(|build| build.is_alive()) {
            // Where another module's kernels are in the way, the cache has what it was given before.
            let _ = build.store_rest();
        }
        outcome
    }

    fn check(&self) -> Result<()> {
        if self.0.unloaded.load(Ordering::Acquire) {
            return Err(Error::new(ErrorKind::InvalidHandle, format!("{} was unloaded", self.name())));
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
        let build = Build::new(context, &self.0.plan).map_err(|error| error.on_device(context.device()))?;
        let build = Arc::new(build);
        build.enroll();
        builds.push(Arc::clone(&build));
        Ok(build)
    }
}

/// Takes the symbols out of a text.
fn rewrite(recipe: &Recipe) -> Result<rewrite::Rewritten> {
    let Recipe { name, text, .. } = recipe;
    rewrite::rewrite(text).map_err(|broken| {
        let lines = Lines::new(name, text);
        let (file, number, code) = lines.at(broken.line as usize);
        let first = broken.first.map(|line| lines.at(line as usize));
        let first = first.map_or_else(String::new, |(file, number, _)| format!(" (first in {file}:{number})"));
        let problem = format!("{file}:{number}: {}{first}\n    {}", broken.message, code.trim());
        Error::new(ErrorKind::BuildFailed, problem)
    })
}

fn no_kernel(name: &str) -> Error {
    Error::new(ErrorKind::InvalidImage, format!("{name} defines no kernel")).help("mark kernels with __kernel")
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether both are the same kernel of the same module.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.0.name == other.0.name && self.0.module.serial() == other.0.module.serial()
    }

    /// The module that it is part of.
    pub fn module(&self) -> &Module {
        &self.0.module
    }

    /// The kernel as built for a context.
    #[inline]
    pub(crate) fn definition(&self, context: &Arc<Context>) -> Result<Cow<'_, Arc<Definition>>> {
        self.0.module.check()?;
        if self.0.home.is_for(context) {
            return Ok(Cow::Borrowed(&self.0.home));
        }
        self.definition_elsewhere(context).map(Cow::Owned)
    }

    fn definition_elsewhere(&self, context: &Arc<Context>) -> Result<Arc<Definition>> {
        if let Some(known) = self.0.elsewhere.read().iter().find(|known| known.is_for(context)) {
            return Ok(Arc::clone(known));
        }
        let build = self.0.module.build_for(context)?;
        let definition = build
            .kernel(&self.0.name)
            .ok_or_else(|| Error::new(ErrorKind::NotFound, "the kernel is missing in the build for this device"))?;
        let mut elsewhere = self.0.elsewhere.write();
        elsewhere.retain(|known| known.is_alive());
        elsewhere.push(Arc::clone(&definition));
        Ok(definition)
    }

    /// The device that its module was loaded for.
    pub(crate) fn home(&self) -> Device {
        self.0.module.home()
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.0.name).field("module", &self.0.module.name()).finish()
    }
}
