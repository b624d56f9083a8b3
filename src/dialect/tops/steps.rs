//! Launches in steps, which compilers make of chevrons: a configuration, its arguments one by one, the launch. Each thread
//! has a stack of configurations, and a call of this file is about the latest (behaviour.md 3.10).

use super::Tops;
use crate::dialect::call::{Out, launch, null};
use crate::dialect::dim3::dim3;
use crate::dialect::handle;
use crate::error::{Error, ErrorKind, Result};
use crate::rt;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ffi::c_void;

/// Far more than any device passes to a kernel.
const MOST_BYTES: usize = 1 << 16;

thread_local! {
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
}

/// A launch to be.
pub(super) struct Call {
    pub(super) grid: dim3,
    pub(super) block: dim3,
    pub(super) shared: usize,
    /// The stream's handle, looked up at the launch.
    pub(super) stream: usize,
    arguments: Vec<Argument>,
}

/// A copy of an argument's value, and where it lies in the block of all of them.
struct Argument {
    offset: usize,
    bytes: SmallVec<[u8; 16]>,
}

impl Argument {
    fn end(&self) -> usize {
        self.offset + self.bytes.len()
    }
}

/// Puts a configuration on the thread's stack.
pub(super) fn push(grid: dim3, block: dim3, shared: usize, stream: usize) -> Result<()> {
    CALLS.with_borrow_mut(|calls| calls.push(Call { grid, block, shared, stream, arguments: Vec::new() }));
    Ok(())
}

/// Takes the latest configuration off the stack and tells it.
///
/// # Safety
/// Each pointer has to be null or writable.
pub(super) unsafe fn pop<S>(grid: *mut dim3, block: *mut dim3, shared: *mut usize, stream: *mut *mut S) -> Result<()> {
    // SAFETY: the caller's.
    let (grid, block) = unsafe { (Out::new("gridDim", grid)?, Out::new("blockDim", block)?) };
    // SAFETY: the caller's.
    let (shared, stream) = unsafe { (Out::new("sharedMem", shared)?, Out::new("stream", stream)?) };
    let call = take().ok_or_else(|| missing("call __topsPushCallConfiguration first, in the same thread"))?;
    grid.set(call.grid);
    block.set(call.block);
    shared.set(call.shared);
    stream.set(std::ptr::without_provenance_mut(call.stream));
    Ok(())
}

/// Copies the value of an argument of the latest configuration. The place of one that is there already takes its value
/// anew.
///
/// # Safety
/// `arg` has to be null or readable for `size` bytes.
pub(super) unsafe fn set_up(arg: *const c_void, size: usize, offset: usize) -> Result<()> {
    let refuse = |problem: String| Err(Error::new(ErrorKind::InvalidValue, problem));
    if arg.is_null() {
        return Err(null("arg"));
    }
    if size == 0 {
        return refuse("an argument has a byte at least".to_owned()).map_err(|error| error.argument("size", size));
    }
    let end = offset.checked_add(size).filter(|&end| end <= MOST_BYTES);
    let Some(end) = end else {
        return refuse(format!("{size} bytes from there on pass the {MOST_BYTES} that all arguments may take"))
            .map_err(|error| error.argument("offset", offset));
    };
    CALLS.with_borrow_mut(|calls| {
        let call = calls.last_mut().ok_or_else(not_configured)?;
        let other = call.arguments.iter().position(|other| offset < other.end() && other.offset < end);
        // SAFETY: the caller's.
        let bytes = SmallVec::from_slice(unsafe { std::slice::from_raw_parts(arg.cast::<u8>(), size) });
        let argument = Argument { offset, bytes };
        match other {
            None => call.arguments.push(argument),
            Some(same) if (call.arguments[same].offset, call.arguments[same].end()) == (offset, end) => {
                call.arguments[same] = argument;
            }
            Some(other) => {
                let (start, end) = (call.arguments[other].offset, call.arguments[other].end());
                return refuse(format!("another argument lies at {start} to {end}"))
                    .map_err(|error| error.argument("offset", offset));
            }
        }
        Ok(())
    })
}

/// Launches a kernel with the latest configuration, which is gone then, whatever comes of the launch: its arguments are
/// for no other kernel.
///
/// # Safety
/// The kernel has to stay within the memory that it is given.
pub(super) unsafe fn launch(function: *const c_void) -> Result<()> {
    let call = take();
    let kernel = launch::kernel::<Tops>(function)?;
    let mut call = call.ok_or_else(not_configured)?;
    let stream = handle::stream::<Tops>(call.stream)?;
    call.arguments.sort_by_key(|argument| argument.offset);
    let values: SmallVec<[&[u8]; 8]> = call.arguments.iter().map(|argument| &argument.bytes[..]).collect();
    let (grid, block) = (launch::dims(call.grid), launch::dims(call.block));
    // SAFETY: the caller's.
    unsafe { rt::launch::launch_values(&kernel, grid, block, &values, call.shared, &stream) }
}

fn take() -> Option<Call> {
    CALLS.with_borrow_mut(Vec::pop)
}

fn missing(help: &'static str) -> Error {
    Error::new(ErrorKind::MissingConfiguration, "the thread has no configuration of a launch").help(help)
}

fn not_configured() -> Error {
    missing("call topsConfigureCall first, in the same thread")
}
