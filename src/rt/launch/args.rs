//! Arguments of a launch: checked against the kernel's signature, then set.

use crate::cl::{Buffer, Kernel};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use crate::rt::memory::{self, Allocation, Found, Place};
use crate::rt::module::build::Definition;
use crate::rt::module::signature::{self, Class, Parameter};
use bytemuck::NoUninit;
use smallvec::SmallVec;
use std::ffi::c_void;
use std::sync::Arc;

/// One argument of a launch, made by [`KernelArg::argument`].
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a>(pub(super) Given<'a>);

#[derive(Clone, Copy, Debug)]
pub(super) enum Given<'a> {
    Value { bytes: &'a [u8], type_name: &'static str },
    Pointer { address: usize },
    Local { bytes: usize },
}

impl Argument<'_> {
    /// A pointer to device memory, or null (0).
    pub(crate) fn pointer(address: usize) -> Self {
        Self(Given::Pointer { address })
    }
}

/// What may be given for a kernel's parameter: plain values (scalars, arrays as vectors, structs that are
/// [`NoUninit`]), device buffers and their slices, and [`Local`] memory.
///
/// # Safety
/// [`KernelArg::argument`] has to describe memory that stays valid until the launch returns; device memory has to
/// stay allocated until the kernel ended, or be the runtime's to keep.
pub unsafe trait KernelArg {
    /// The argument as a launch takes it.
    fn argument(&self) -> Argument<'_>;
}

// SAFETY: the bytes are the value's own, without padding, and are copied by the launch.
unsafe impl<T: NoUninit> KernelArg for T {
    fn argument(&self) -> Argument<'_> {
        Argument(Given::Value { bytes: bytemuck::bytes_of(self), type_name: std::any::type_name::<T>() })
    }
}

/// So many bytes of shared memory for one `__local` parameter. With one such parameter the launch's own number of
/// shared bytes does; with several, each gets a `Local` in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local(pub usize);

// SAFETY: a size refers to no memory.
unsafe impl KernelArg for Local {
    fn argument(&self) -> Argument<'_> {
        Argument(Given::Local { bytes: self.0 })
    }
}

/// What has to live until the launch is enqueued.
#[derive(Default)]
pub(super) struct Bound {
    allocations: SmallVec<[Arc<Allocation>; 8]>,
    parts: SmallVec<[Buffer; 2]>,
}

/// The shared memory of a launch: what its [`Local`]s take together, or `shared` where it has none.
pub(super) fn shared_bytes(arguments: &[Argument<'_>], shared: usize) -> usize {
    let locals = arguments.iter().filter_map(|argument| match argument.0 {
        Given::Local { bytes } => Some(bytes),
        _ => None,
    });
    locals.reduce(usize::saturating_add).unwrap_or(shared)
}

/// Sets arguments after checking each against its parameter; answers what has to live until the launch is enqueued.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for a wrong count, size or kind, or a pointer that is not device memory of this
/// device; nothing was enqueued then.
pub(super) fn bind(
    context: &Arc<Context>,
    definition: &Definition,
    kernel: &mut Kernel,
    arguments: &[Argument<'_>],
    shared: usize,
) -> Result<Bound> {
    let locals_given = arguments.iter().any(|argument| matches!(argument.0, Given::Local { .. }));
    let parameters = definition.parameters();
    let unbound = parameters.iter().filter(|parameter| parameter.class == Class::Local).count();
    let expected = if locals_given { parameters.len() } else { parameters.len() - unbound };
    if arguments.len() != expected {
        return Err(wrong_count(definition, arguments.len(), expected));
    }
    if !locals_given && unbound > 1 {
        let problem = format!("{} has {unbound} __local parameters, and one number for them all", definition.name());
        return Err(Error::new(ErrorKind::InvalidValue, problem)
            .argument("sharedMem", shared)
            .help("give each its size with the launch builder"));
    }
    let (taken, room) = (definition.argument_bytes(), context.caps().max_parameter_bytes);
    if taken > room {
        let problem =
            format!("the arguments of {} take {taken} bytes, and the device passes {room}", definition.name());
        return Err(Error::new(ErrorKind::InvalidValue, problem).help("pass large structures in a buffer"));
    }
    let mut given = arguments.iter();
    let mut bound = Bound::default();
    for (index, parameter) in parameters.iter().enumerate() {
        let position = index as u32;
        if parameter.class == Class::Local && !locals_given {
            kernel.set_local(position, shared)?;
            continue;
        }
        let Some(argument) = given.next() else { break };
        bind_one(context, kernel, position, parameter, argument.0, &mut bound)
            .map_err(|error| in_place(error, definition, index, parameter))?;
    }
    Ok(bound)
}

fn bind_one(
    context: &Arc<Context>,
    kernel: &mut Kernel,
    index: u32,
    parameter: &Parameter,
    given: Given<'_>,
    bound: &mut Bound,
) -> Result<()> {
    match (parameter.class, given) {
        // A null buffer: NVIDIA refuses the launch after a null pointer to shared memory.
        (Class::Pointer, Given::Pointer { address: 0 }) => kernel.set_buffer(index, None)?,
        (Class::Pointer, Given::Pointer { address }) => bind_pointer(context, kernel, index, address, bound)?,
        (Class::Local, Given::Local { bytes }) => kernel.set_local(index, bytes)?,
        // The plain case first, without a copy of the bytes.
        (Class::Value(size), Given::Value { bytes, .. }) if size.is_none_or(|size| size == bytes.len()) => {
            kernel.set_bytes(index, bytes)?;
        }
        (Class::Value(size), Given::Value { bytes, type_name }) => match padded(bytes, size, parameter) {
            Some(value) => kernel.set_bytes(index, &value)?,
            None => {
                let problem = format!(
                    "{type_name} has {} bytes and {} has {}",
                    bytes.len(),
                    parameter.type_name,
                    size.unwrap_or(0)
                );
                return Err(Error::new(ErrorKind::InvalidValue, problem));
            }
        },
        (class, given) => {
            let problem = format!("{} was given where {} is expected", describe(given), expected(class));
            return Err(Error::new(ErrorKind::InvalidValue, problem));
        }
    }
    Ok(())
}

fn bind_pointer(
    context: &Arc<Context>,
    kernel: &mut Kernel,
    index: u32,
    address: usize,
    bound: &mut Bound,
) -> Result<()> {
    let refuse = |problem: String| Error::new(ErrorKind::InvalidValue, problem);
    let found = match memory::find(address, 1)? {
        Found::Known(owner) => Found::Known(owner),
        // The end of an array, which kernels compare with.
        unknown => memory::ending_at(address).map_or(unknown, Found::Known),
    };
    let owner = match found {
        Found::Known(owner) => owner,
        Found::Freed => return Err(refuse(format!("the memory at {address:#x} was freed"))),
        Found::Foreign => {
            let problem = format!("{address:#x} is not memory that the runtime allocated");
            return Err(refuse(problem).help("is it a host pointer?"));
        }
    };
    if !Arc::ptr_eq(owner.context(), context) && !owner.kind().is_host() {
        return Err(refuse(format!("the memory at {address:#x} belongs to {}", owner.context().device())));
    }
    match owner.place(address) {
        Place::Svm(address) => kernel.set_pointer(index, address)?,
        Place::Buffer(buffer, 0) => kernel.set_buffer(index, Some(buffer))?,
        Place::Buffer(buffer, offset) => bind_part(context, kernel, index, (buffer, offset, &owner), bound)?,
        Place::Host(address) => bind_host(context, kernel, index, address)?,
    }
    bound.allocations.push(owner);
    Ok(())
}

/// A pointer into a buffer object: OpenCL binds parts of it from aligned offsets on only.
fn bind_part(
    context: &Context,
    kernel: &mut Kernel,
    index: u32,
    (buffer, offset, owner): (&Buffer, usize, &Allocation),
    bound: &mut Bound,
) -> Result<()> {
    let align = context.caps().sub_buffer_align.max(1);
    if !offset.is_multiple_of(align) {
        let problem =
            format!("it points {offset} bytes into its allocation, and this device binds multiples of {align}");
        return Err(Error::new(ErrorKind::InvalidValue, problem)
            .help("pass the base and an index, or use memory form svm where the device has it"));
    }
    let part = buffer.part(offset, owner.bytes() - offset)?;
    kernel.set_buffer(index, Some(&part))?;
    bound.parts.push(part);
    Ok(())
}

/// Host memory in a kernel: where host and device are one, its address is the device's too.
fn bind_host(context: &Context, kernel: &mut Kernel, index: u32, address: usize) -> Result<()> {
    if context.caps().kernels_reach_host_memory() {
        return Ok(kernel.set_pointer(index, address)?);
    }
    Err(Error::new(ErrorKind::NotSupported, "kernels on this device do not reach pinned host memory")
        .help("copy it to device memory first"))
}

/// The bytes to set where they are fewer than the parameter's: vectors of three take the room of four, so three
/// components do as well.
fn padded(bytes: &[u8], size: Option<usize>, parameter: &Parameter) -> Option<SmallVec<[u8; 64]>> {
    let size = size.filter(|size| is_vector_of_three(parameter) && bytes.len() == size / 4 * 3)?;
    let mut value = SmallVec::from_slice(bytes);
    value.resize(size, 0);
    Some(value)
}

/// Whether it is a built-in one: a struct of the program's may be called `vec3`.
fn is_vector_of_three(parameter: &Parameter) -> bool {
    parameter.type_name.ends_with('3') && signature::size_of_type(&parameter.type_name).is_some()
}

/// Reads a `void** args` list: one address of a value for each parameter but the `__local` ones.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for a null list or entry, or a value whose size the driver does not tell.
///
/// # Safety
/// `list` has to be null or to have an entry for each parameter, each null or pointing at a value of its type.
pub(super) unsafe fn read_list<'a>(
    definition: &Definition,
    list: *const *mut c_void,
) -> Result<SmallVec<[Argument<'a>; 8]>> {
    let wanted = definition.parameters().iter().enumerate().filter(|(_, parameter)| parameter.class != Class::Local);
    let mut arguments = SmallVec::new();
    for (position, (index, parameter)) in wanted.enumerate() {
        if list.is_null() {
            return Err(wrong_count(definition, 0, definition.parameters().len()).argument("args", "null"));
        }
        // SAFETY: the caller's list has an entry for each parameter.
        let entry = unsafe { *list.add(position) };
        if entry.is_null() {
            let error = Error::new(ErrorKind::InvalidValue, "the list has a null entry where a value's address goes");
            return Err(in_place(error, definition, index, parameter));
        }
        // SAFETY: the entry points at a value of the parameter's type.
        arguments.push(Argument(
            unsafe { read_entry(parameter, entry) }.map_err(|error| in_place(error, definition, index, parameter))?,
        ));
    }
    Ok(arguments)
}

/// # Safety
/// `entry` has to point at a value of the parameter's type.
unsafe fn read_entry<'a>(parameter: &Parameter, entry: *const c_void) -> Result<Given<'a>> {
    match parameter.class {
        // SAFETY: the caller's; an address in a list may lie anywhere.
        Class::Pointer => Ok(Given::Pointer { address: unsafe { entry.cast::<usize>().read_unaligned() } }),
        Class::Value(Some(size)) => {
            // The host's type of three components may be as short as that.
            let len = if is_vector_of_three(parameter) { size / 4 * 3 } else { size };
            // SAFETY: the caller's.
            let bytes = unsafe { std::slice::from_raw_parts(entry.cast::<u8>(), len) };
            Ok(Given::Value { bytes, type_name: "the value" })
        }
        Class::Value(None) => Err(Error::new(ErrorKind::NotSupported, "the driver does not tell the size of its type")),
        Class::Image | Class::Sampler | Class::Local => {
            Err(Error::new(ErrorKind::NotSupported, "images and samplers cannot be passed yet"))
        }
    }
}

fn wrong_count(definition: &Definition, given: usize, expected: usize) -> Error {
    let list: Vec<_> = definition.parameters().iter().map(|p| format!("{} {}", p.type_name, p.name)).collect();
    let problem = format!("{}({}) takes {expected} arguments", definition.name(), list.join(", "));
    Error::new(ErrorKind::InvalidValue, problem).argument("args", format_args!("{given} given"))
}

fn in_place(error: Error, definition: &Definition, index: usize, parameter: &Parameter) -> Error {
    let place = format!("{index} of {}: {} {}", definition.name(), parameter.type_name, parameter.name);
    error.argument("argument", place)
}

fn describe(given: Given<'_>) -> String {
    match given {
        Given::Value { type_name, .. } => format!("a value ({type_name})"),
        Given::Pointer { .. } => "a device pointer".to_owned(),
        Given::Local { .. } => "a size of local memory".to_owned(),
    }
}

fn expected(class: Class) -> &'static str {
    match class {
        Class::Pointer => "a device pointer",
        Class::Local => "a size of local memory (Local)",
        Class::Image => "an image",
        Class::Sampler => "a sampler",
        Class::Value(_) => "a value",
    }
}
