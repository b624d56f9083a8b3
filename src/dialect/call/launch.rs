//! Launch calls (behaviour.md 3.10).

use crate::dialect::dim3::dim3;
use crate::dialect::{Dialect, handle};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::launch::{self, Dim3};
use crate::rt::module::Kernel;
use std::ffi::{c_uint, c_void};

/// `LaunchKernel`: a kernel by its function handle, with the address of each argument's value.
///
/// # Safety
/// `args` has to be null or to hold the address of a value for each parameter that is not `__local`, and the kernel
/// has to stay within the memory that it is given.
pub(crate) unsafe fn launch<D: Dialect>(
    function: *const c_void,
    grid: dim3,
    block: dim3,
    args: *mut *mut c_void,
    shared: usize,
    stream: usize,
) -> Result<()> {
    let (kernel, stream) = (kernel::<D>(function)?, handle::stream::<D>(stream)?);
    // SAFETY: the caller's.
    unsafe {
        let array = |array| handle::array::<D>("array", array);
        launch::launch_list(&kernel, dims(grid), dims(block), args, shared, &stream, &array)
    }
}

/// An extent as the runtime has it.
pub(crate) fn dims(dims: dim3) -> Dim3 {
    Dim3::new(dims.x, dims.y, dims.z)
}

/// The kernel that a handle or a registered address stands for.
pub(crate) fn kernel<D: Dialect>(function: *const c_void) -> Result<Kernel> {
    if function.is_null() {
        return Err(Error::new(ErrorKind::InvalidFunction, "null is not a function").argument("func", "null"));
    }
    handle::function::<D>(function.addr())
}

/// `LaunchCooperativeKernel`: what would be launched is checked, and then refused, since blocks of OpenCL cannot wait for
/// each other.
///
/// # Safety
/// As [`launch`].
pub(crate) unsafe fn cooperative<D: Dialect>(
    function: *const c_void,
    grid: dim3,
    block: dim3,
    args: *mut *mut c_void,
    shared: usize,
    stream: usize,
) -> Result<()> {
    let (kernel, stream) = (kernel::<D>(function)?, handle::stream::<D>(stream)?);
    // SAFETY: the caller's.
    unsafe {
        let array = |array| handle::array::<D>("array", array);
        launch::check_list(&kernel, (dims(grid), dims(block), shared), args, &stream, &array)?;
    }
    Err(Error::new(ErrorKind::NotSupported, "blocks of OpenCL cannot wait for each other")
        .argument("func", kernel.name())
        .help("launch a kernel for each part between two waits of all blocks"))
}

/// What the entries of `extra` mean: a buffer of all arguments follows, its size follows, and the end.
pub(crate) struct ExtraKeys {
    pub(crate) buffer: *mut c_void,
    pub(crate) size: *mut c_void,
    pub(crate) end: *mut c_void,
}

/// More entries than a list with every key has.
const MAX_EXTRA: usize = 8;

/// `ModuleLaunchKernel`: the same with extents one by one, and arguments as a list or packed into a buffer.
///
/// # Safety
/// As [`launch`]; `extra` has to be null or a list that ends.
#[allow(clippy::too_many_arguments, reason = "the call has as many")]
pub(crate) unsafe fn module_launch<D: Dialect>(
    function: usize,
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    stream: usize,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
    keys: &ExtraKeys,
) -> Result<()> {
    let dims = |[x, y, z]: [c_uint; 3]| dim3 { x, y, z };
    let mut unpacked;
    let mut list = parameters;
    if !extra.is_null() {
        if !parameters.is_null() {
            let problem = "the arguments are given twice, as kernelParams and as extra";
            return Err(Error::new(ErrorKind::InvalidValue, problem)
                .argument("extra", format_args!("{extra:p}"))
                .help("pass one of them, and null for the other"));
        }
        // SAFETY: the caller's.
        let (buffer, bytes) = unsafe { read_extra(extra, keys) }?;
        unpacked = launch::unpack(&handle::function::<D>(function)?, &handle::stream::<D>(stream)?, buffer, bytes)?;
        list = unpacked.as_mut_ptr();
    }
    let function = std::ptr::without_provenance(function);
    // SAFETY: the caller's.
    unsafe { self::launch::<D>(function, dims(grid), dims(block), list, shared as usize, stream) }
}

/// The buffer in a list `extra`, and its size.
///
/// # Safety
/// `extra` has to be a list that ends.
unsafe fn read_extra(extra: *const *mut c_void, keys: &ExtraKeys) -> Result<(*mut c_void, usize)> {
    let refuse = |problem: String| {
        Err(Error::new(ErrorKind::InvalidValue, problem)
            .argument("extra", "a list")
            .help("give BUFFER_POINTER, the buffer, BUFFER_SIZE, the address of its size, END"))
    };
    // SAFETY: entries up to the end are the caller's.
    let entry = |index: usize| unsafe { *extra.add(index) };
    let (mut buffer, mut size) = (std::ptr::null_mut(), std::ptr::null_mut::<usize>());
    let mut index = 0;
    while entry(index) != keys.end {
        let key = entry(index);
        match entry(index + 1) {
            value if key == keys.buffer => buffer = value,
            value if key == keys.size => size = value.cast(),
            _ => return refuse(format!("its entry {index}, {key:p}, is no key")),
        }
        index += 2;
        if index > MAX_EXTRA {
            return refuse("it does not end".to_owned());
        }
    }
    if buffer.is_null() || size.is_null() {
        return refuse("it has no buffer or no size".to_owned());
    }
    // SAFETY: the caller's; it may lie anywhere.
    Ok((buffer, unsafe { size.read_unaligned() }))
}
