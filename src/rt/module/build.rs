//! A module's text built for one context: its kernels with their signatures, and its symbols' storage.

use super::log;
use super::rewrite::empty::{self, fill_empty_parameters};
use super::rewrite::{self, Rewritten};
use super::signature::{self, Class, Parameter};
use super::symbol::{self, Symbol};
use crate::cl::kernel::WorkGroup;
use crate::cl::program::BuildFailure;
use crate::cl::{Failure, Kernel, Program};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use crate::rt::memory::Place;
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Without it neither PoCL nor NVIDIA tells what a kernel's parameters are.
const OPTIONS: &str = "-cl-kernel-arg-info";
/// `CL_INVALID_BUILD_OPTIONS`.
const INVALID_OPTIONS: i32 = -43;

/// A built module.
#[derive(Debug)]
pub(super) struct Build {
    context: Arc<Context>,
    kernels: Vec<Arc<Definition>>,
    symbols: Arc<[Symbol]>,
}

/// A kernel as built for a context. Launches borrow kernel objects from its pool, because setting arguments is the
/// one OpenCL call that is not thread-safe on an object.
#[derive(Debug)]
pub(crate) struct Definition {
    context: Arc<Context>,
    program: Arc<Program>,
    name: String,
    parameters: Vec<Parameter>,
    group: WorkGroup,
    symbols: Arc<[Symbol]>,
    /// The symbols behind the parameters, in the order of the hidden ones.
    hidden: Vec<usize>,
    /// Whether its one parameter is a stand-in that gets null.
    filled: bool,
    pool: Mutex<Vec<Pooled>>,
}

/// A bit for each argument.
pub(crate) type Bits = SmallVec<[u64; 1]>;

/// A kernel object with its hidden arguments set.
#[derive(Debug)]
pub(crate) struct Pooled {
    pub(crate) kernel: Kernel,
    /// The arguments that it takes as buffer objects; `None` before its first launch.
    buffers: Option<Bits>,
    /// The set of slabs that was declared last.
    pub(crate) declared: u64,
}

impl Build {
    pub(super) fn new(
        context: &Arc<Context>,
        name: &str,
        source: &str,
        rewritten: &Rewritten,
        options: &str,
    ) -> Result<Self> {
        let options = format!("{options} {OPTIONS}");
        let text = match context.caps().needs_kernel_parameters() {
            true => Cow::Owned(fill_empty_parameters(&rewritten.text)),
            false => Cow::Borrowed(&rewritten.text),
        };
        let program = Program::build(context.cl(), &text, options.trim())
            .map_err(|failure| build_error(name, source, &options, &failure))?;
        let program = Arc::new(program);
        let names = program.kernel_names()?;
        let make = |declared| symbol::make(context, &program, &names, declared);
        let symbols: Arc<[Symbol]> = rewritten.symbols.iter().map(make).collect::<Result<_>>()?;
        let mut kernels = Vec::new();
        for name in names.iter().cloned() {
            if rewrite::is_generated_kernel(&name) {
                continue;
            }
            let hidden = rewritten.hidden.get(&name).cloned().unwrap_or_default();
            kernels.push(Definition::new(context, &program, name, Arc::clone(&symbols), hidden)?);
        }
        learn_sizes(context, &text, options.trim(), &mut kernels);
        Ok(Self { context: Arc::clone(context), kernels: kernels.into_iter().map(Arc::new).collect(), symbols })
    }

    pub(super) fn is_for(&self, context: &Context) -> bool {
        std::ptr::eq(&*self.context, context)
    }

    pub(super) fn is_alive(&self) -> bool {
        self.context.is_alive()
    }

    /// Blocks until the context's work is done.
    pub(super) fn synchronize(&self) -> Result<()> {
        self.context.synchronize()
    }

    pub(super) fn kernel(&self, name: &str) -> Option<Arc<Definition>> {
        self.kernels.iter().find(|kernel| kernel.name == name).cloned()
    }

    pub(super) fn kernel_names(&self) -> impl Iterator<Item = &str> {
        self.kernels.iter().map(|kernel| kernel.name.as_str())
    }

    pub(super) fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|symbol| symbol.name() == name && symbol.is_declared())
    }
}

fn build_error(name: &str, source: &str, options: &str, broken: &BuildFailure) -> Error {
    if broken.failure.status == INVALID_OPTIONS {
        return Error::new(ErrorKind::InvalidValue, "the compiler does not know one of the options")
            .argument("options", options.trim())
            .caused_by(broken.failure);
    }
    let error = Error::new(ErrorKind::BuildFailed, log::report(name, source, &broken.log)).caused_by(broken.failure);
    // Our own option is always there and says nothing.
    match options.trim_end_matches(OPTIONS).trim() {
        "" => error,
        given => error.help(format!("it was built with {given}")),
    }
}

/// Asks the compiler for the sizes of the program's own types, in one more build of the text for all of them. Where
/// that fails the sizes stay unknown and the driver judges the arguments.
fn learn_sizes(context: &Context, text: &str, options: &str, kernels: &mut [Definition]) {
    let unknown: BTreeSet<String> = kernels
        .iter()
        .flat_map(|kernel| &kernel.parameters)
        .filter(|parameter| parameter.has_unknown_size())
        .map(|parameter| parameter.type_name.clone())
        .collect();
    if unknown.is_empty() {
        return;
    }
    let probes: String =
        unknown.iter().enumerate().map(|(index, type_name)| signature::probe(index, type_name)).collect();
    let program = match Program::build(context.cl(), &format!("{text}{probes}"), options) {
        Ok(program) => program,
        Err(broken) => {
            ::log::warn!("the sizes of {unknown:?} are not known: {}", broken.failure);
            return;
        }
    };
    for (index, type_name) in unknown.iter().enumerate() {
        let Ok(size) = Kernel::new(&program, &signature::probe_name(index)).and_then(|probe| probe.required_group())
        else {
            continue;
        };
        let parameters = kernels.iter_mut().flat_map(|kernel| &mut kernel.parameters);
        for parameter in parameters.filter(|parameter| parameter.has_unknown_size()) {
            if parameter.type_name == *type_name && size[0] > 0 {
                parameter.class = Class::Value(Some(size[0]));
            }
        }
    }
}

impl Definition {
    fn new(
        context: &Arc<Context>,
        program: &Arc<Program>,
        name: String,
        symbols: Arc<[Symbol]>,
        hidden: Vec<usize>,
    ) -> Result<Self> {
        let kernel = Kernel::new(program, &name)?;
        let mut parameters: Vec<Parameter> = kernel.parameters()?.iter().map(Parameter::new).collect();
        // The hidden ones stand last.
        parameters.truncate(parameters.len().saturating_sub(hidden.len()));
        let filled = parameters.len() == 1 && parameters[0].name == empty::NAME;
        if filled {
            parameters.clear();
        }
        let mut group = kernel.work_group()?;
        if context.caps().counts_unset_locals() {
            let locals = parameters.iter().filter(|parameter| parameter.class == Class::Local).count();
            if group.local_bytes <= locals as u64 {
                group.local_bytes = 0;
            }
        }
        let definition = Self {
            context: Arc::clone(context),
            program: Arc::clone(program),
            name,
            parameters,
            group,
            filled,
            symbols,
            hidden,
            pool: Mutex::default(),
        };
        let pooled = definition.equip(kernel)?;
        definition.give_back(pooled);
        Ok(definition)
    }

    pub(crate) fn is_for(&self, context: &Context) -> bool {
        std::ptr::eq(&*self.context, context)
    }

    pub(super) fn is_alive(&self) -> bool {
        self.context.is_alive()
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The parameters that a launch has to give arguments for.
    pub(crate) fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Bytes that the arguments take, as far as the sizes are known.
    pub(crate) fn argument_bytes(&self) -> usize {
        self.parameters.iter().map(|parameter| parameter.class.bytes()).sum::<usize>()
            + self.hidden.len() * size_of::<usize>()
    }

    pub(crate) fn group(&self) -> &WorkGroup {
        &self.group
    }

    /// Borrows a kernel object that was only ever given buffer objects for the arguments with a bit in `buffers`; a new
    /// one where all are in use.
    pub(crate) fn borrow(&self, buffers: Bits) -> Result<Pooled> {
        let mut pool = self.pool.lock();
        let idle = pool.iter().rposition(|pooled| pooled.buffers.as_ref().is_none_or(|known| *known == buffers));
        let idle = idle.map(|index| pool.swap_remove(index));
        drop(pool);
        let mut pooled = match idle {
            Some(pooled) => pooled,
            None => self.equip(Kernel::new(&self.program, &self.name)?)?,
        };
        pooled.buffers = Some(buffers);
        Ok(pooled)
    }

    /// Gives a kernel object back.
    pub(crate) fn give_back(&self, pooled: Pooled) {
        self.pool.lock().push(pooled);
    }

    /// Sets the hidden arguments, which never change.
    fn equip(&self, mut kernel: Kernel) -> Result<Pooled> {
        if self.filled {
            kernel.set_buffer(0, None)?;
        }
        for (position, &symbol) in self.hidden.iter().enumerate() {
            let index = (self.parameters.len() + position) as u32;
            set_storage(&mut kernel, index, &self.symbols[symbol])?;
        }
        Ok(Pooled { kernel, buffers: None, declared: 0 })
    }
}

fn set_storage(kernel: &mut Kernel, index: u32, symbol: &Symbol) -> Result<(), Failure> {
    match symbol.place() {
        Place::Buffer(buffer, _) => kernel.set_buffer(index, Some(buffer)),
        Place::Svm(address) | Place::Host(address) => kernel.set_pointer(index, address),
    }
}
