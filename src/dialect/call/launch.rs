//! Launch calls (behaviour.md 3.10).

use crate::dialect::dim3::dim3;
use crate::dialect::{Dialect, handle};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::launch::{self, Dim3};
use std::ffi::c_void;

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
    if function.is_null() {
        return Err(Error::new(ErrorKind::InvalidFunction, "null is not a function").argument("func", "null"));
    }
    let kernel = handle::function::<D>(function.addr())?;
    let stream = handle::stream::<D>(stream)?;
    let dims = |dims: dim3| Dim3::new(dims.x, dims.y, dims.z);
    // SAFETY: the caller's.
    unsafe {
        let array = |array| handle::array::<D>("array", array);
        launch::launch_list(&kernel, dims(grid), dims(block), args, shared, &stream, &array)
    }
}
