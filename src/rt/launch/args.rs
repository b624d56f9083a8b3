//! Arguments of a launch: checked against the kernel's signature, then set.

use super::last::{Bytes, Kept, Last, Slot, Way};
use super::sampler::Sampler;
use crate::cl::{Buffer, Kernel, SamplerObject};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use crate::rt::memory::array::Sample;
use crate::rt::memory::{self, Allocation, Array, Found, Kind, Place};
use crate::rt::module::build::{Definition, Pooled};
use crate::rt::module::signature::{self, Class, Parameter};
use crate::rt::stream::Stream;
use crate::rt::stream::uses::Uses;
use bytemuck::NoUninit;
use smallvec::SmallVec;
use std::ffi::c_void;
use std::sync::Arc;

/// One argument of a launch, made by [`KernelArg::argument`].
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a>(pub(super) Given<'a>);

#[derive(Clone, Copy, Debug)]
pub(super) enum Given<'a> {
    Value {
        bytes: &'a [u8],
        type_name: fn() -> &'static str,
    },
    Pointer {
        address: usize,
    },
    /// Memory that the host may touch as well, with what keeps account of who uses it.
    Shared {
        address: usize,
        uses: &'a Uses,
    },
    Local {
        bytes: usize,
    },
    Array(&'a Arc<Array>),
    Sampler(Sampler),
}

impl<'a> Argument<'a> {
    /// An array for an image.
    pub(crate) fn array(array: &'a Arc<Array>) -> Self {
        Self(Given::Array(array))
    }

    /// A pointer to device memory, or null (0).
    pub(crate) fn pointer(address: usize) -> Self {
        Self(Given::Pointer { address })
    }

    /// A pointer to memory that the host may touch once the launch is done, which `uses` takes note of.
    pub(crate) fn shared(address: usize, uses: &'a Uses) -> Self {
        Self(Given::Shared { address, uses })
    }
}

/// Takes note of a launch in the memory that it shares with the host.
pub(super) fn note_uses(arguments: &[Argument<'_>], stream: &Stream) {
    for argument in arguments {
        if let Given::Shared { uses, .. } = argument.0 {
            uses.written_by(stream);
        }
    }
}

/// What may be given for a kernel's parameter: plain values (scalars, arrays as vectors, structs that are
/// [`NoUninit`]), device buffers and their slices, pinned and managed buffers, and [`Local`] memory.
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
        Argument(Given::Value { bytes: bytemuck::bytes_of(self), type_name: std::any::type_name::<T> })
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

/// Arguments that fit their parameters: what the kernel object has of them, and what it has to be told.
#[derive(Default)]
pub(super) struct Checked<'a> {
    /// What it has pointers to already. It has to live until the launch is enqueued.
    kept: SmallVec<[Arc<Allocation>; 8]>,
    /// What it has to be told, by parameter; lives as long.
    new: SmallVec<[(u32, Ready<'a>); 8]>,
    /// Whether some of it is shared with the host, which keeps account.
    shares: bool,
}

/// One argument, ready to be set.
enum Ready<'a> {
    Local(usize),
    Value(&'a [u8]),
    /// Three components of a vector that takes the room of four.
    Padded(Bytes),
    Null,
    /// An address that kernels take as it is.
    Address {
        owner: Arc<Allocation>,
        address: usize,
    },
    /// A whole buffer object.
    Buffer(Arc<Allocation>),
    /// A buffer object from an offset on.
    Part(Box<Buffer>),
    Image(&'a Arc<Array>),
    Sampler(Arc<SamplerObject>),
}

impl Ready<'_> {
    /// How it is passed, where there are several ways.
    fn way(&self) -> Option<Way> {
        match self {
            Self::Null | Self::Buffer(_) | Self::Part(_) => Some(Way::Object),
            Self::Address { .. } => Some(Way::Address),
            Self::Local(_) | Self::Value(_) | Self::Padded(_) | Self::Image(_) | Self::Sampler(_) => None,
        }
    }

    /// Whether the kernel object has it already, where only the check could tell.
    fn is(&self, last: &Last) -> bool {
        match (self, last) {
            (Self::Padded(bytes), last) => last.is_value(bytes),
            (Self::Sampler(object), Last::Sampler(last)) => Arc::as_ptr(object) == last.as_ptr(),
            _ => false,
        }
    }

    /// Sets it, and answers what to know it by.
    fn set(&self, kernel: &mut Kernel, index: u32) -> Result<Last> {
        Ok(match self {
            Self::Local(bytes) => {
                kernel.set_local(index, *bytes)?;
                Last::Local(*bytes)
            }
            Self::Value(bytes) => {
                kernel.set_bytes(index, bytes)?;
                Last::value(bytes)
            }
            Self::Padded(bytes) => {
                kernel.set_bytes(index, bytes)?;
                Last::value(bytes)
            }
            // A null buffer: NVIDIA refuses the launch after a null address.
            Self::Null => {
                kernel.set_buffer(index, None)?;
                Last::Null
            }
            Self::Address { owner, address } => {
                kernel.set_pointer(index, *address)?;
                Last::Pointer { address: *address, owner: Arc::downgrade(owner) }
            }
            Self::Buffer(owner) => {
                match owner.place(owner.base()) {
                    Place::Buffer(buffer, _) => kernel.set_buffer(index, Some(buffer))?,
                    Place::Svm(address) | Place::Host(address) => kernel.set_pointer(index, address)?,
                }
                Last::Pointer { address: owner.base(), owner: Arc::downgrade(owner) }
            }
            // It goes with this launch.
            Self::Part(part) => {
                kernel.set_buffer(index, Some(part))?;
                Last::Unknown
            }
            Self::Image(array) => {
                kernel.set_image(index, array.image())?;
                Last::Image(Arc::downgrade(array))
            }
            Self::Sampler(object) => {
                kernel.set_sampler(index, object)?;
                Last::Sampler(Arc::downgrade(object))
            }
        })
    }
}

impl Checked<'_> {
    /// Whether a kernel object takes each pointer in the way that it is passed.
    pub(super) fn fits(&self, slots: &[Slot]) -> bool {
        let fits = |(index, ready): &(u32, Ready<'_>)| match (ready.way(), slots[*index as usize].way) {
            (Some(way), Some(kept)) => way == kept,
            _ => true,
        };
        self.new.iter().all(fits)
    }

    /// Where the managed blocks start that are among them.
    pub(super) fn managed(&self) -> SmallVec<[usize; 2]> {
        let new = self.new.iter().filter_map(|(_, ready)| match ready {
            Ready::Address { owner, .. } => Some(owner),
            _ => None,
        });
        let owners = self.kept.iter().chain(new);
        owners.filter(|owner| owner.kind() == Kind::Managed).map(|owner| owner.base()).collect()
    }

    /// Whether memory is among them that the host keeps account of.
    pub(super) fn shares(&self) -> bool {
        self.shares
    }

    /// Tells the kernel object what is new to it.
    pub(super) fn set(&self, pooled: &mut Pooled) -> Result<()> {
        for (index, ready) in &self.new {
            let slot = &mut pooled.slots[*index as usize];
            // Where the call fails nothing is known.
            slot.last = Last::Unknown;
            slot.way = ready.way();
            slot.last = ready.set(&mut pooled.kernel, *index)?;
        }
        Ok(())
    }
}

/// The shared memory of a launch: what its [`Local`]s take together, or `shared` where it has none.
pub(super) fn shared_bytes(arguments: &[Argument<'_>], shared: usize) -> usize {
    let locals = arguments.iter().filter_map(|argument| match argument.0 {
        Given::Local { bytes } => Some(bytes),
        _ => None,
    });
    locals.reduce(usize::saturating_add).unwrap_or(shared)
}

/// Checks each argument against its parameter, beside what a kernel object has already. Nothing is set yet.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for a wrong count, size or kind, or a pointer that is not device memory of this
/// device.
pub(super) fn check<'a>(
    context: &Arc<Context>,
    definition: &Definition,
    arguments: &[Argument<'a>],
    shared: usize,
    slots: &[Slot],
    checked: &mut Checked<'a>,
) -> Result<()> {
    let (parameters, unbound) = (definition.parameters(), definition.locals());
    let locals_given = unbound > 0 && arguments.iter().any(|argument| matches!(argument.0, Given::Local { .. }));
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
    checked.kept.clear();
    checked.new.clear();
    let mut given = arguments.iter();
    for (index, parameter) in (0..).zip(parameters) {
        let given = match parameter.class {
            Class::Local if !locals_given => Given::Local { bytes: shared },
            _ => match given.next() {
                Some(argument) => argument.0,
                None => break,
            },
        };
        checked.shares |= matches!(given, Given::Shared { .. });
        let slot = slots.get(index as usize);
        match slot.map_or(Kept::No, |slot| slot.keeps(&given)) {
            Kept::Value => {}
            Kept::Pointer(owner) => checked.kept.push(owner),
            Kept::No => {
                let ready = check_one(context, parameter, given);
                let ready = ready.map_err(|error| in_place(error, definition, index as usize, parameter))?;
                if !slot.is_some_and(|slot| ready.is(&slot.last)) {
                    checked.new.push((index, ready));
                }
            }
        }
    }
    Ok(())
}

fn check_one<'a>(context: &Arc<Context>, parameter: &Parameter, given: Given<'a>) -> Result<Ready<'a>> {
    let refuse = |problem| Err(Error::new(ErrorKind::InvalidValue, problem));
    match (parameter.class, given) {
        (Class::Pointer, Given::Pointer { address: 0 } | Given::Shared { address: 0, .. }) => Ok(Ready::Null),
        (Class::Pointer, Given::Pointer { address } | Given::Shared { address, .. }) => check_pointer(context, address),
        (Class::Local, Given::Local { bytes }) => Ok(Ready::Local(bytes)),
        (Class::Image, Given::Array(array)) => check_image(context, parameter, array),
        (Class::Sampler, Given::Sampler(sampler)) => context.samplers().get(context, sampler).map(Ready::Sampler),
        (Class::Value(size), Given::Value { bytes, type_name }) => match size {
            Some(size) if parameter.three && bytes.len() == size / 4 * 3 => {
                let mut value = Bytes::from_slice(bytes);
                value.resize(size, 0);
                Ok(Ready::Padded(value))
            }
            Some(size) if size != bytes.len() => {
                refuse(format!("{} has {} bytes and {} has {size}", type_name(), bytes.len(), parameter.type_name))
            }
            _ => Ok(Ready::Value(bytes)),
        },
        (class, given) => refuse(format!("{} was given where {} is expected", describe(given), expected(class))),
    }
}

fn check_pointer<'a>(context: &Arc<Context>, address: usize) -> Result<Ready<'a>> {
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
        Place::Svm(_) => {}
        Place::Buffer(_, 0) => return Ok(Ready::Buffer(owner)),
        Place::Buffer(buffer, offset) => return part(context, buffer, offset, &owner).map(Box::new).map(Ready::Part),
        Place::Host(_) => memory::host::check_reach(context, &owner)?,
    }
    Ok(Ready::Address { owner, address })
}

fn check_image<'a>(context: &Arc<Context>, parameter: &Parameter, array: &'a Arc<Array>) -> Result<Ready<'a>> {
    array.context().check()?;
    let refuse = |problem| Err(Error::new(ErrorKind::InvalidValue, problem));
    if !Arc::ptr_eq(array.context(), context) {
        return refuse(format!("the array belongs to {}", array.context().device()));
    }
    let given = array.spec().image_type.name();
    if signature::image_type(&parameter.type_name) != Some(given) {
        return refuse(format!("the array is an {given} and the parameter an {}", parameter.type_name));
    }
    if parameter.is_written_image
        && array.spec().format.sample == Sample::F16
        && context.caps().loses_half_image_writes()
    {
        let problem = "the driver loses what kernels write to an array of 16-bit floats";
        return Err(Error::new(ErrorKind::NotSupported, problem).help("write 32-bit floats"));
    }
    Ok(Ready::Image(array))
}

/// A pointer into a buffer object: OpenCL binds parts of it from aligned offsets on only.
fn part(context: &Context, buffer: &Buffer, offset: usize, owner: &Allocation) -> Result<Buffer> {
    let align = context.caps().sub_buffer_align.max(1);
    if !offset.is_multiple_of(align) {
        let problem =
            format!("it points {offset} bytes into its allocation, and this device binds multiples of {align}");
        return Err(Error::new(ErrorKind::InvalidValue, problem)
            .help("pass the base and an index, or use memory form svm where the device has it"));
    }
    Ok(buffer.part(offset, owner.bytes().saturating_sub(offset))?)
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
    arrays: &'a [Arc<Array>],
) -> Result<SmallVec<[Argument<'a>; 8]>> {
    let mut arrays = arrays.iter();
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
        if parameter.class == Class::Image {
            arguments.extend(arrays.next().map(Argument::array));
            continue;
        }
        // SAFETY: the entry points at a value of the parameter's type.
        arguments.push(Argument(
            unsafe { read_entry(parameter, entry) }.map_err(|error| in_place(error, definition, index, parameter))?,
        ));
    }
    Ok(arguments)
}

/// The arrays that the handles in a `void** args` list mean, one for each image among the parameters.
///
/// # Errors
/// [`ErrorKind::InvalidHandle`] for a handle that means none. A null list or entry is left to [`read_list`].
///
/// # Safety
/// As [`read_list`].
pub(super) unsafe fn read_arrays(
    definition: &Definition,
    list: *const *mut c_void,
    find: &dyn Fn(usize) -> Result<Arc<Array>>,
) -> Result<SmallVec<[Arc<Array>; 4]>> {
    let mut arrays = SmallVec::new();
    if list.is_null() || !definition.has_images() {
        return Ok(arrays);
    }
    let wanted = definition.parameters().iter().enumerate().filter(|(_, parameter)| parameter.class != Class::Local);
    for (position, (index, parameter)) in wanted.enumerate() {
        if parameter.class != Class::Image {
            continue;
        }
        // SAFETY: the caller's list has an entry for each parameter.
        let entry = unsafe { *list.add(position) };
        if entry.is_null() {
            break;
        }
        // SAFETY: the entry points at a handle, which may lie anywhere.
        let handle = unsafe { entry.cast::<usize>().read_unaligned() };
        let place = || format!("argument {index} of {}: {} {}", definition.name(), parameter.type_name, parameter.name);
        arrays.push(find(handle).map_err(|error| error.help(format!("it is {}", place())))?);
    }
    Ok(arrays)
}

/// Reads the bytes of each argument but those of `__local` parameters. What they are too few or too many for is left to
/// [`check`].
///
/// # Errors
/// [`ErrorKind::NotSupported`] for an image or a sampler.
pub(super) fn read_values<'a>(definition: &Definition, values: &[&'a [u8]]) -> Result<SmallVec<[Argument<'a>; 8]>> {
    let mut wanted =
        definition.parameters().iter().enumerate().filter(|(_, parameter)| parameter.class != Class::Local);
    let mut arguments = SmallVec::new();
    for &bytes in values {
        let value = Given::Value { bytes, type_name: || "the value" };
        let given = match wanted.next() {
            Some((_, Parameter { class: Class::Pointer, .. })) => match <[u8; size_of::<usize>()]>::try_from(bytes) {
                Ok(address) => Given::Pointer { address: usize::from_ne_bytes(address) },
                Err(_) => value,
            },
            Some((index, parameter)) if matches!(parameter.class, Class::Image | Class::Sampler) => {
                return Err(in_place(no_bytes(), definition, index, parameter));
            }
            _ => value,
        };
        arguments.push(Argument(given));
    }
    Ok(arguments)
}

fn no_bytes() -> Error {
    Error::new(ErrorKind::NotSupported, "images and samplers are no bytes that could be copied")
        .help("declare samplers in the kernel's text, and launch with a list of addresses or the launch builder")
}

/// # Safety
/// `entry` has to point at a value of the parameter's type.
unsafe fn read_entry<'a>(parameter: &Parameter, entry: *const c_void) -> Result<Given<'a>> {
    match parameter.class {
        // SAFETY: the caller's; an address in a list may lie anywhere.
        Class::Pointer => Ok(Given::Pointer { address: unsafe { entry.cast::<usize>().read_unaligned() } }),
        Class::Value(Some(size)) => {
            // The host's type of three components may be as short as that.
            let len = if parameter.three { size / 4 * 3 } else { size };
            // SAFETY: the caller's.
            let bytes = unsafe { std::slice::from_raw_parts(entry.cast::<u8>(), len) };
            Ok(Given::Value { bytes, type_name: || "the value" })
        }
        Class::Value(None) => Err(Error::new(ErrorKind::NotSupported, "the driver does not tell the size of its type")),
        Class::Image | Class::Sampler | Class::Local => {
            Err(Error::new(ErrorKind::NotSupported, "a list of addresses has no form for a sampler")
                .help("declare the sampler in the kernel's text, or use the launch builder"))
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
        Given::Value { type_name, .. } => format!("a value ({})", type_name()),
        Given::Pointer { .. } => "a device pointer".to_owned(),
        Given::Shared { .. } => "a pointer to memory shared with the host".to_owned(),
        Given::Local { .. } => "a size of local memory".to_owned(),
        Given::Array(array) => format!("an array ({})", array.spec().image_type.name()),
        Given::Sampler(_) => "a sampler".to_owned(),
    }
}

fn expected(class: Class) -> &'static str {
    match class {
        Class::Pointer => "a device pointer",
        Class::Local => "a size of local memory (Local)",
        Class::Image => "an array",
        Class::Sampler => "a sampler",
        Class::Value(_) => "a value",
    }
}
