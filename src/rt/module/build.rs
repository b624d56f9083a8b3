//! A module's text built for one context, or taken from where it was built before: its kernels with their signatures,
//! and its symbols' storage.

use super::binary::{self, Image, KernelRecord, Recipe};
use super::cache;
use super::growth::Growth;
use super::lines::Lines;
use super::log;
use super::packing::{self, Launches};
use super::rewrite::empty::{self, fill_empty_parameters};
use super::rewrite::{self, Rewritten};
use super::signature::{self, Class, Parameter};
use super::symbol::{self, Symbol};
use crate::cl::kernel::WorkGroup;
use crate::cl::program::BuildFailure;
use crate::cl::{Caps, Failure, Kernel, Program, Queue};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use crate::rt::launch::check::{Fitting, Limits, Shape};
use crate::rt::launch::last::Slot;
use crate::rt::memory::Place;
use crate::rt::stream::lanes::Join;
use crate::rt::stream::order::LaneId;
use crate::rt::timeline;
use parking_lot::{Mutex, MutexGuard};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Without it neither PoCL nor NVIDIA tells what a kernel's parameters are.
const OPTIONS: &str = "-cl-kernel-arg-info";
/// `CL_INVALID_BUILD_OPTIONS`.
const INVALID_OPTIONS: i32 = -43;

/// What builds are made from.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) recipe: Recipe,
    pub(super) rewritten: Rewritten,
    /// Whether the disk cache may be asked.
    pub(super) cached: bool,
    /// The binary that the module was loaded from.
    pub(super) image: Option<Image>,
}

impl Plan {
    fn options(&self) -> String {
        format!("{} {OPTIONS}", self.recipe.options).trim().to_owned()
    }
}

/// A built module.
#[derive(Debug)]
pub(super) struct Build {
    context: Arc<Context>,
    plan: Arc<Plan>,
    program: Arc<Program>,
    /// Where it was built.
    device: String,
    kernels: Vec<Arc<Definition>>,
    symbols: Arc<[Symbol]>,
    symbol_records: Vec<binary::SymbolRecord>,
    /// Where the driver goes on compiling at launches: what it compiled.
    growth: Option<Arc<Growth>>,
    /// Whether the driver has made the program's binary, which is then all that it will ever give for it.
    packed: AtomicBool,
}

/// A kernel as built for a context. Launches borrow kernel objects, because setting arguments is the one OpenCL call that
/// is not thread-safe on an object.
#[derive(Debug)]
pub(crate) struct Definition {
    context: Arc<Context>,
    program: Arc<Program>,
    record: KernelRecord,
    /// What the driver calls it, where that is not its name.
    alias: Option<String>,
    symbols: Arc<[Symbol]>,
    /// The symbols behind the parameters, in the order of the hidden ones.
    hidden: Vec<usize>,
    limits: Limits,
    /// Bytes that the arguments take, as far as the sizes are known.
    argument_bytes: usize,
    /// How many of the parameters are `__local`.
    locals: usize,
    has_images: bool,
    /// The kernel object of a launch that is alone. Nobody waits for its lock.
    first: OnceLock<Mutex<Pooled>>,
    /// Those of launches side by side, and of pointers that are passed in other ways.
    others: Mutex<Vec<Pooled>>,
    /// Where it is told of new sizes of blocks, with its own number there.
    growth: Option<(Arc<Growth>, usize)>,
    /// Where the driver does not bear that a binary is taken while it runs.
    launches: Option<Arc<Launches>>,
}

/// A kernel object with its hidden arguments set.
#[derive(Debug)]
pub(crate) struct Pooled {
    pub(crate) kernel: Kernel,
    /// What the other arguments are, by parameter.
    pub(crate) slots: Vec<Slot>,
    /// The set of slabs that was declared last.
    pub(crate) declared: u64,
    /// What it was launched over last.
    pub(crate) fitting: Option<Fitting>,
}

/// A kernel object on loan.
pub(crate) enum Borrowed<'a> {
    /// The first one, where nobody else has it.
    First(MutexGuard<'a, Pooled>),
    /// One of the others, which goes back to them when dropped.
    Other(Other<'a>),
}

/// A kernel object out of the pool.
pub(crate) struct Other<'a> {
    definition: &'a Definition,
    /// Only its drop takes it out.
    pooled: ManuallyDrop<Pooled>,
}

impl Deref for Borrowed<'_> {
    type Target = Pooled;

    fn deref(&self) -> &Pooled {
        match self {
            Self::First(pooled) => pooled,
            Self::Other(other) => &other.pooled,
        }
    }
}

impl DerefMut for Borrowed<'_> {
    fn deref_mut(&mut self) -> &mut Pooled {
        match self {
            Self::First(pooled) => pooled,
            Self::Other(other) => &mut other.pooled,
        }
    }
}

impl Drop for Other<'_> {
    fn drop(&mut self) {
        // SAFETY: nothing looks at it after its owner's drop.
        let pooled = unsafe { ManuallyDrop::take(&mut self.pooled) };
        self.definition.others.lock().push(pooled);
    }
}

/// The text that the compiler of a context's device is given.
fn text_for<'a>(context: &Context, plan: &'a Plan) -> Cow<'a, str> {
    match context.caps().needs_kernel_parameters() {
        true => Cow::Owned(fill_empty_parameters(&plan.rewritten.text)),
        false => Cow::Borrowed(&plan.rewritten.text),
    }
}

impl Build {
    /// Takes the module from the binary that it was loaded from, from the disk cache, or else from the compiler.
    pub(super) fn new(context: &Arc<Context>, plan: &Arc<Plan>) -> Result<Self> {
        let device = context.cl().identity();
        let text = text_for(context, plan);
        let built = binary::built(&text, &plan.options());
        if let Some(image) = plan.image.as_ref().filter(|image| image.fits(&device, &built)) {
            match Self::restore(context, plan, image) {
                Ok(build) => return Ok(build),
                Err(error) => ::log::warn!(target: "gridcl::cache", "the module's binary is built anew: {error}"),
            }
        }
        let Some(cache) = plan.cached.then(cache::cache).flatten() else {
            return Self::compile(context, plan, device, &text);
        };
        let key = binary::key(&device, &plan.recipe);
        if let Some(bytes) = cache.get(&key) {
            let image =
                Image::from_bytes(&bytes).and_then(|image| match image.key() == key && image.fits(&device, &built) {
                    true => Ok(image),
                    false => Err(Error::new(ErrorKind::InvalidImage, "it was made from something else")),
                });
            match image.and_then(|image| Self::restore(context, plan, &image)) {
                Ok(build) => return Ok(build),
                Err(error) => {
                    ::log::warn!(target: "gridcl::cache", "entry {key} is removed: {error}");
                    cache.remove(&key);
                }
            }
        }
        let build = Self::compile(context, plan, device, &text)?;
        if build.growth.is_none() {
            build.store();
        }
        Ok(build)
    }

    fn compile(context: &Arc<Context>, plan: &Arc<Plan>, device: String, text: &str) -> Result<Self> {
        let (rewritten, options) = (&plan.rewritten, plan.options());
        let program = Program::build(context.cl(), text, &options).map_err(|failure| build_error(plan, &failure))?;
        let names = program.kernel_names()?;
        let ask = |declared| symbol::ask(&program, &names, declared);
        let symbols = rewritten.symbols.iter().map(ask).collect::<Result<_>>()?;
        let kernels = names.iter().filter(|name| !rewrite::is_generated_kernel(name));
        let kernels = kernels.map(|name| ask_kernel(context, &program, name, rewritten));
        let mut kernels = kernels.collect::<Result<Vec<_>>>()?;
        learn_sizes(context, text, &options, &mut kernels)?;
        let built = binary::built(text, &options);
        let image = Image::new(device, built, plan.recipe.clone(), kernels, symbols);
        Self::equip(context, plan, program, &image)
    }

    /// What a driver built before.
    fn restore(context: &Arc<Context>, plan: &Arc<Plan>, image: &Image) -> Result<Self> {
        if image.symbols.len() != plan.rewritten.symbols.len() {
            return Err(Error::new(ErrorKind::InvalidImage, "its symbols are not those of its text"));
        }
        let program = Program::from_binary(context.cl(), &image.driver, &plan.options())?;
        Self::equip(context, plan, program, image)
    }

    /// Makes what a built program needs to be launched.
    fn equip(context: &Arc<Context>, plan: &Arc<Plan>, program: Program, image: &Image) -> Result<Self> {
        let program = Arc::new(program);
        // A file that only the driver finds may call it.
        if plan.recipe.text.contains("printf") || !plan.recipe.complete || plan.recipe.options.contains("printf") {
            context.expect_prints();
        }
        let declared = plan.rewritten.symbols.iter().zip(&image.symbols);
        let symbols = declared.map(|(declared, &record)| symbol::make(context, &program, &declared.name, record));
        let symbols = symbols.collect::<Result<Arc<[Symbol]>>>()?;
        let grows = plan.cached && context.caps().compiles_at_launch() && cache::cache().is_some();
        let ours = image.symbols.iter().map(|symbol| 1 + usize::from(symbol.initialized)).sum::<usize>();
        let growth = grows.then(|| Arc::new(Growth::new(image.kernels.len() + ours, &image.shapes)));
        let names = match context.caps().prefix_of_known_names() {
            Some(_) => program.kernel_names()?,
            None => Vec::new(),
        };
        let mut kernels = Vec::new();
        for (index, record) in image.kernels.iter().cloned().enumerate() {
            let hidden = plan.rewritten.hidden.get(&record.name).cloned().unwrap_or_default();
            let growth = growth.clone().map(|growth| (growth, index));
            let alias = alias(context, &names, &record.name);
            kernels.push(Arc::new(Definition::new(context, &program, (record, alias), (&symbols, hidden), growth)?));
        }
        Ok(Self {
            context: Arc::clone(context),
            plan: Arc::clone(plan),
            program,
            device: image.device().to_owned(),
            kernels,
            symbols,
            symbol_records: image.symbols.clone(),
            growth,
            packed: AtomicBool::new(!image.driver.is_empty()),
        })
    }

    /// The module as bytes can hold it, for devices and drivers like this one.
    ///
    /// # Errors
    /// Where the driver gives no binaries.
    pub(super) fn to_binary(&self) -> Result<Vec<u8>> {
        let (mut image, program) = self.to_pack()?;
        image.driver = packing::alone(&self.launches(), || program.binary())??;
        self.finish(image)?.to_bytes()
    }

    /// All but the driver's binary, and the program to take it of.
    fn to_pack(&self) -> Result<(Image, Arc<Program>)> {
        // Before the driver is asked, which may know more by then.
        let shapes = self.growth.as_ref().map(|growth| growth.shapes()).unwrap_or_default();
        let kernels = self.kernels.iter().map(|kernel| kernel.record.clone()).collect();
        let (text, options) = (text_for(&self.context, &self.plan), self.plan.options());
        let built = binary::built(&text, &options);
        let recipe = self.plan.recipe.clone();
        let mut image = Image::new(self.device.clone(), built, recipe, kernels, self.symbol_records.clone());
        image.shapes = shapes;
        let is_spent = self.packed.swap(true, Ordering::Relaxed) && self.context.caps().packs_programs_once();
        // Files that only the driver finds may have changed since: what was built of them stays as it is.
        let program = match is_spent && self.plan.recipe.complete {
            true => {
                let program = Program::build(self.context.cl(), &text, &options);
                Arc::new(program.map_err(|failure| build_error(&self.plan, &failure))?)
            }
            false => Arc::clone(&self.program),
        };
        Ok((image, program))
    }

    fn finish(&self, image: Image) -> Result<Image> {
        match image.driver.is_empty() {
            true => Err(Error::new(ErrorKind::NotSupported, "the driver gives no program binaries")
                .argument("module", &self.plan.recipe.name)),
            false => Ok(image),
        }
    }

    /// The launches that must not run while its binary is taken.
    fn launches(&self) -> Vec<Arc<Launches>> {
        self.kernels.iter().filter_map(|kernel| kernel.launches.clone()).collect()
    }

    /// Keeps it in the disk cache, where there is one. Waits for nothing: `false` where kernels run that the driver does
    /// not bear meanwhile.
    pub(super) fn store(&self) -> bool {
        let Some(cache) = self.plan.cached.then(cache::cache).flatten() else { return true };
        let launches = self.launches();
        if packing::try_alone(&launches, || ()).is_none() {
            return false;
        }
        let stored = self.to_pack().and_then(|(mut image, program)| {
            let Some(driver) = packing::try_alone(&launches, || program.binary()) else { return Ok(None) };
            image.driver = driver?;
            let image = self.finish(image)?;
            Ok(Some((image.key(), image.shapes.len(), image.to_bytes()?)))
        });
        match stored {
            Ok(Some((key, shapes, bytes))) => {
                cache.put(&key, &bytes);
                if let Some(growth) = &self.growth {
                    growth.stored(shapes);
                }
            }
            Ok(None) => return false,
            Err(error) => ::log::warn!(target: "gridcl::cache", "{} is not kept: {error}", self.plan.recipe.name),
        }
        true
    }

    /// Lets the context know it where launches make the driver compile more, which is worth to be kept.
    pub(super) fn enroll(self: &Arc<Self>) {
        if let Some(growth) = &self.growth {
            growth.enroll(Arc::downgrade(self));
        }
    }

    /// Keeps what launches made the driver compile since it was kept last. The context should be idle; `false` as from
    /// [`Build::store`].
    pub(super) fn store_rest(&self) -> bool {
        let has_rest = self.growth.as_ref().is_some_and(|growth| growth.has_rest());
        !has_rest || self.store()
    }

    pub(super) fn is_for(&self, context: &Context) -> bool {
        std::ptr::eq(&*self.context, context)
    }

    pub(super) fn is_alive(&self) -> bool {
        self.context.is_alive()
    }

    /// Blocks until the context's work is done; an error says that it may not be.
    pub(super) fn quiesce(&self) -> Result<()> {
        self.context.quiesce()
    }

    /// Blocks until the context's work is done.
    pub(super) fn synchronize(&self) -> Result<()> {
        self.context.synchronize()
    }

    pub(super) fn kernel(&self, name: &str) -> Option<Arc<Definition>> {
        self.kernels.iter().find(|kernel| kernel.name() == name).cloned()
    }

    pub(super) fn kernel_names(&self) -> impl Iterator<Item = &str> {
        self.kernels.iter().map(|kernel| kernel.name())
    }

    pub(super) fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|symbol| symbol.name() == name && symbol.is_declared())
    }
}

/// The name that the text gave to a kernel.
fn as_written<'a>(context: &Context, rewritten: &Rewritten, name: &'a str) -> &'a str {
    let prefix = context.caps().prefix_of_known_names().filter(|_| !rewritten.text.contains(name));
    prefix.and_then(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

/// What the driver calls the kernel of a name, where it is another one of its `names`.
fn alias(context: &Context, names: &[String], name: &str) -> Option<String> {
    let alias = format!("{}{name}", context.caps().prefix_of_known_names()?);
    (names.contains(&alias) && !names.iter().any(|known| known == name)).then_some(alias)
}

/// What the compiler and the device tell of a kernel.
fn ask_kernel(context: &Context, program: &Program, name: &str, rewritten: &Rewritten) -> Result<KernelRecord> {
    let kernel = Kernel::new(program, name)?;
    let name = as_written(context, rewritten, name);
    let mut parameters: Vec<Parameter> = kernel.parameters()?.iter().map(Parameter::new).collect();
    // The hidden ones stand last.
    let hidden = rewritten.hidden.get(name).map_or(0, Vec::len);
    parameters.truncate(parameters.len().saturating_sub(hidden));
    let filled = parameters.len() == 1 && parameters[0].name == empty::NAME;
    if filled {
        parameters.clear();
    }
    let mut group = kernel.work_group()?;
    if context.caps().counts_unset_locals() {
        let locals = parameters.iter().filter(|parameter| parameter.class == Class::Local).count();
        if group.local_bytes <= locals.max(1) as u64 {
            group.local_bytes = 0;
        }
    }
    Ok(KernelRecord { name: name.to_owned(), parameters, group, filled })
}

fn build_error(plan: &Plan, broken: &BuildFailure) -> Error {
    let Recipe { name, text, options, .. } = &plan.recipe;
    if broken.failure.status == INVALID_OPTIONS {
        return Error::new(ErrorKind::InvalidValue, "the compiler does not know one of the options")
            .argument("options", plan.options())
            .caused_by(broken.failure);
    }
    if broken.is_no_fault_of_the_text() {
        return Error::from(broken.failure);
    }
    let report = log::report(name, &Lines::new(name, text), &broken.log);
    let error = Error::new(ErrorKind::BuildFailed, report).caused_by(broken.failure);
    // Our own option is always there and says nothing.
    match options.trim() {
        "" => error,
        given => error.help(format!("it was built with {given}")),
    }
}

/// Asks the compiler for what only it knows of the program's own types, in one more build of the text for all of them.
/// Where the compiler refuses that the sizes stay unknown and the driver judges the arguments.
fn learn_sizes(context: &Context, text: &str, options: &str, kernels: &mut [KernelRecord]) -> Result<(), Failure> {
    let parameters = kernels.iter().flat_map(|kernel| &kernel.parameters);
    let unknown: BTreeSet<String> = parameters
        .filter(|parameter| parameter.has_unknown_size())
        .map(|parameter| parameter.type_name.clone())
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let build = |plain: bool| {
        let probes = unknown.iter().enumerate().map(|(index, name)| signature::probe(index, name, plain));
        let macros = if plain { "" } else { signature::IS_THREE };
        Program::build(context.cl(), &format!("{text}\n{macros}{}", probes.collect::<String>()), options)
    };
    // Not every compiler compares types.
    let tried = build(false).or_else(|broken| if broken.is_no_fault_of_the_text() { Err(broken) } else { build(true) });
    let program = match tried {
        Ok(program) => program,
        // Not to be known for good, and kept in the cache, for what passes.
        Err(broken) if broken.is_no_fault_of_the_text() => return Err(broken.failure),
        Err(broken) => {
            ::log::warn!("the sizes of {unknown:?} are not known: {}", broken.failure);
            return Ok(());
        }
    };
    for (index, type_name) in unknown.iter().enumerate() {
        let group = match Kernel::new(&program, &signature::probe_name(index)).and_then(|probe| probe.required_group())
        {
            Ok(group) => group,
            Err(failure) if failure.is_shortage() => return Err(failure),
            Err(_) => continue,
        };
        let parameters = kernels.iter_mut().flat_map(|kernel| &mut kernel.parameters);
        for parameter in parameters.filter(|parameter| parameter.has_unknown_size()) {
            if parameter.type_name == *type_name && group[0] > 0 {
                parameter.class = Class::Value(Some(group[0]));
                parameter.three = group[1] == 2;
            }
        }
    }
    Ok(())
}

impl Definition {
    fn new(
        context: &Arc<Context>,
        program: &Arc<Program>,
        (record, alias): (KernelRecord, Option<String>),
        (symbols, hidden): (&Arc<[Symbol]>, Vec<usize>),
        growth: Option<(Arc<Growth>, usize)>,
    ) -> Result<Self> {
        let classes = || record.parameters.iter().map(|parameter| parameter.class);
        let definition = Self {
            context: Arc::clone(context),
            program: Arc::clone(program),
            symbols: Arc::clone(symbols),
            limits: limits(context.caps(), &record),
            argument_bytes: classes().map(Class::bytes).sum::<usize>() + hidden.len() * size_of::<usize>(),
            locals: classes().filter(|&class| class == Class::Local).count(),
            has_images: classes().any(|class| class == Class::Image),
            hidden,
            launches: Launches::of(context, &record),
            record,
            alias,
            first: OnceLock::new(),
            others: Mutex::default(),
            growth,
        };
        let first = definition.make()?;
        definition.first.get_or_init(|| Mutex::new(first));
        Ok(definition)
    }

    pub(crate) fn is_for(&self, context: &Context) -> bool {
        std::ptr::eq(&*self.context, context)
    }

    pub(super) fn is_alive(&self) -> bool {
        self.context.is_alive()
    }

    pub(crate) fn name(&self) -> &str {
        &self.record.name
    }

    /// The parameters that a launch has to give arguments for.
    pub(crate) fn parameters(&self) -> &[Parameter] {
        &self.record.parameters
    }

    /// Bytes that the arguments take, as far as the sizes are known.
    pub(crate) fn argument_bytes(&self) -> usize {
        self.argument_bytes
    }

    /// What device and kernel allow of a launch's shape.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How many of the parameters are `__local`.
    pub(crate) fn locals(&self) -> usize {
        self.locals
    }

    /// Whether a parameter is an image.
    pub(crate) fn has_images(&self) -> bool {
        self.has_images
    }

    pub(crate) fn group(&self) -> &WorkGroup {
        &self.record.group
    }

    /// Borrows a kernel object; a new one where all are in use.
    #[inline]
    pub(crate) fn borrow(&self) -> Result<Borrowed<'_>> {
        match self.first.get().and_then(Mutex::try_lock) {
            Some(first) => Ok(Borrowed::First(first)),
            None => Ok(Borrowed::Other(Other { definition: self, pooled: ManuallyDrop::new(self.other(|_| true)?) })),
        }
    }

    /// Takes an object that `fits` in place of one that does not, which waits with the others.
    #[cold]
    pub(crate) fn exchange(&self, borrowed: &mut Borrowed<'_>, fits: impl Fn(&Pooled) -> bool) -> Result<()> {
        let unfit = std::mem::replace(&mut **borrowed, self.other(fits)?);
        self.others.lock().push(unfit);
        Ok(())
    }

    /// One of the others that `fits`; a new one where none does.
    fn other(&self, fits: impl Fn(&Pooled) -> bool) -> Result<Pooled> {
        let mut others = self.others.lock();
        // The one that came back last is the likeliest to have the same arguments.
        let idle = others.iter().rposition(fits).map(|index| others.swap_remove(index));
        drop(others);
        match idle {
            Some(pooled) => Ok(pooled),
            None => self.make(),
        }
    }

    /// Takes note of a launch, for drivers that compile a kernel for each shape.
    #[inline]
    pub(crate) fn ran(&self, shape: &Shape) {
        let Some((growth, kernel)) = &self.growth else { return };
        // PoCL has code of its own for grids that 16 bits count.
        let is_large = shape.global.iter().any(|&items| items > usize::from(u16::MAX));
        let [x, y, z] = shape.local;
        growth.add(&self.context, *kernel, [x, y, z, usize::from(is_large)]);
    }

    /// Enqueues a launch in a lane: at once, or when the driver has given a binary that it must not run beside.
    #[inline]
    pub(crate) fn enqueue(
        &self,
        lane: LaneId,
        enqueue: impl FnOnce(&Arc<Queue>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let lanes = self.context.lanes();
        let enqueue = timeline::watched(&self.context, lane, enqueue);
        match &self.launches {
            None => lanes.act(lane, Join::Rules, enqueue),
            Some(launches) => launches.pass(&self.context, || lanes.submit(lane, Join::Rules, enqueue)),
        }
    }

    /// A kernel object with its hidden arguments, which never change.
    fn make(&self) -> Result<Pooled> {
        let mut kernel = Kernel::new(&self.program, self.alias.as_deref().unwrap_or(self.name()))?;
        if self.record.filled {
            kernel.set_buffer(0, None)?;
        }
        for (position, &symbol) in self.hidden.iter().enumerate() {
            let index = (self.parameters().len() + position) as u32;
            set_storage(&mut kernel, index, &self.symbols[symbol])?;
        }
        let slots = self.parameters().iter().map(|_| Slot::default()).collect();
        Ok(Pooled { kernel, slots, declared: 0, fitting: None })
    }
}

fn limits(caps: &Caps, KernelRecord { name, group, .. }: &KernelRecord) -> Limits {
    Limits {
        kernel: name.clone(),
        device_block: caps.max_work_group,
        device_axes: caps.max_work_items,
        kernel_block: if caps.understates_kernel_blocks() { caps.max_work_group } else { group.max_size },
        required: group.required,
        shared_bytes: caps.local_bytes,
        shared_static: group.local_bytes,
    }
}

fn set_storage(kernel: &mut Kernel, index: u32, symbol: &Symbol) -> Result<(), Failure> {
    match symbol.place() {
        Place::Buffer(buffer, _) => kernel.set_buffer(index, Some(buffer)),
        Place::Svm(address) | Place::Host(address) => kernel.set_pointer(index, address),
    }
}
