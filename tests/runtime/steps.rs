//! Steps that tests of kernels take in either dialect: text to module to function, memory to the device and back.
//! Use them within `both_dialects!`, whose names they call.

use std::ffi::c_void;

/// The address of a value, as `args` lists take it.
pub fn address_of<T>(value: &T) -> *mut c_void {
    std::ptr::from_ref(value).cast_mut().cast()
}

/// A loaded module of a text.
macro_rules! load {
    ($text:expr) => {{
        let text = std::ffi::CString::new($text).unwrap();
        let mut module: Module = std::ptr::null_mut();
        ok!(unsafe { module_load_data(&mut module, text.as_ptr().cast()) });
        module
    }};
}

/// A module's kernel, named by a C string.
macro_rules! function {
    ($module:expr, $name:expr) => {{
        let mut function: Function = std::ptr::null_mut();
        ok!(unsafe { module_get_function(&mut function, $module, $name.as_ptr()) });
        function
    }};
}

/// `LaunchKernel` in a stream, with the address of each value: answers the code.
macro_rules! launch_in {
    ($stream:expr, $function:expr, $grid:expr, $block:expr, $shared:expr, [$($value:expr),* $(,)?]) => {{
        let mut list: Vec<*mut std::ffi::c_void> = vec![$($crate::steps::address_of(&$value)),*];
        let (function, stream, grid, block) = ($function, $stream, dim3::from($grid), dim3::from($block));
        unsafe { launch_kernel(function.cast(), grid, block, list.as_mut_ptr(), $shared, stream) }
    }};
}

/// The same in the default stream, without shared memory.
macro_rules! start {
    ($function:expr, $grid:expr, $block:expr, [$($value:expr),* $(,)?]) => {
        launch_in!(LEGACY, $function, $grid, $block, 0, [$($value),*])
    };
}

/// Device memory with the elements of a slice.
macro_rules! put {
    ($data:expr) => {{
        let data = &$data[..];
        let mut pointer: *mut std::ffi::c_void = std::ptr::null_mut();
        ok!(unsafe { malloc(&mut pointer, size_of_val(data)) });
        ok!(unsafe { memcpy(pointer, data.as_ptr().cast(), size_of_val(data), HOST_TO_DEVICE) });
        pointer
    }};
}

/// So many elements of a type, fetched from device memory behind the default stream's work.
macro_rules! fetch {
    ($pointer:expr, $type:ty, $count:expr) => {{
        let mut data = vec![<$type as bytemuck::Zeroable>::zeroed(); $count];
        let (to, from) = (data.as_mut_ptr().cast(), $pointer.cast_const());
        ok!(unsafe { memcpy(to, from, size_of_val(&data[..]), DEVICE_TO_HOST) });
        data
    }};
}

/// Copies a slice to the symbol from an offset on: answers the code.
macro_rules! to_symbol {
    ($name:expr, $data:expr, $offset:expr) => {{
        let data = &$data[..];
        let from = data.as_ptr().cast();
        unsafe { memcpy_to_symbol($name.as_ptr().cast(), from, size_of_val(data), $offset, HOST_TO_DEVICE) }
    }};
}

/// So many elements of a type from the symbol's start.
macro_rules! from_symbol {
    ($name:expr, $type:ty, $count:expr) => {{
        let mut data = vec![<$type>::default(); $count];
        let (to, bytes) = (data.as_mut_ptr().cast(), size_of_val(&data[..]));
        ok!(unsafe { memcpy_from_symbol(to, $name.as_ptr().cast(), bytes, 0, DEVICE_TO_HOST) });
        data
    }};
}

/// The symbol's address.
macro_rules! address {
    ($name:expr) => {{
        let mut address = null_mut();
        ok!(unsafe { get_symbol_address(&mut address, $name.as_ptr().cast()) });
        address
    }};
}

/// A page that can be read, and behind it one that cannot.
pub struct Pages(*mut u8);

impl Pages {
    const BYTES: usize = 4096;

    pub fn new() -> Self {
        let (flags, none) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, libc::PROT_NONE);
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let base = unsafe { libc::mmap(std::ptr::null_mut(), 2 * Self::BYTES, access, flags, -1, 0) };
        assert_ne!(base, libc::MAP_FAILED);
        assert_eq!(unsafe { libc::mprotect(base.byte_add(Self::BYTES), Self::BYTES, none) }, 0);
        Self(base.cast())
    }

    pub fn unreadable(&self) -> usize {
        self.0.addr() + Self::BYTES
    }

    /// Puts bytes at the very end of what can be read.
    pub fn end_with(&self, bytes: &[u8]) -> *const u8 {
        let at = unsafe { self.0.add(Self::BYTES - bytes.len()) };
        unsafe { at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        at
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        assert_eq!(unsafe { libc::munmap(self.0.cast(), 2 * Self::BYTES) }, 0);
    }
}
