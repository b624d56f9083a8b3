//! gridcl's own calls for C programs (`include/gridcl.h`): host addresses that stand for kernels and symbols, and
//! failures in words. They belong to no dialect and serve both.
//!
//! What a program in a CUDA-style language gets from its compiler, a kernel's and a variable's address on the host, a
//! program in plain C asks for here, once its module is loaded.

#![allow(non_snake_case, non_camel_case_types, reason = "the names are C's")]

use super::call::{null, text};
use super::handle::Object;
use super::registry::{self, Registered};
use super::{Entry, runtime_api, thread};
use crate::error::{Error, ErrorKind, Result, panic_text};
use crate::rt::module::Module;
use parking_lot::RwLock;
use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Told of each failure of a call, on the thread that made the call and before it returns: the text of
/// `gridclLastErrorDetail`, and what the program passed along. It must not unwind.
pub type gridclErrorSink_t = Option<unsafe extern "C" fn(detail: *const c_char, userData: *mut c_void)>;

runtime_api! {
    dialect None, code c_int;

    section "gridcl";

    /// Lets a host address, usually a function's of the program, stand for the kernel `name` of a loaded module
    /// wherever a call takes a function. `module` is a handle of either dialect. The latest registration of an address
    /// counts; unloading the module ends it.
    ///
    /// Errors: 1 for null or an empty name, 400 for a dead module, 500 for a name that the module has no kernel of.
    plain(unsafe) gridclRegisterFunction(module: *mut c_void, hostAddress: *const c_void, name: *const c_char) -> c_int => {
        // SAFETY: the caller's.
        answer("gridclRegisterFunction", || unsafe { register_function(module.addr(), hostAddress.addr(), name) })
    };

    /// Lets a host address, usually a variable's of the program, stand for the symbol `name` of a loaded module
    /// wherever a call takes a symbol. The variable's own memory is never touched. `module` is a handle of either
    /// dialect. The latest registration of an address counts; unloading the module ends it.
    ///
    /// Errors: 1 for null or an empty name, 400 for a dead module, 500 for a name that the module has no symbol of.
    plain(unsafe) gridclRegisterSymbol(module: *mut c_void, hostAddress: *const c_void, name: *const c_char) -> c_int => {
        // SAFETY: the caller's.
        answer("gridclRegisterSymbol", || unsafe { register_symbol(module.addr(), hostAddress.addr(), name) })
    };

    /// The calling thread's last failure in words, of whichever dialect: call, argument, value, cause and what to do.
    /// Empty before the first failure, never null. The text stays until the thread calls this again after another
    /// failure.
    plain gridclLastErrorDetail() -> *const c_char => last_error_detail();

    /// Tells `callback` of every later failure, on any thread; null ends it, but for what other threads are telling it
    /// just then. The callback may call `gridclLastErrorDetail`; failures of what it calls are not reported.
    plain gridclSetErrorSink(callback: gridclErrorSink_t, userData: *mut c_void) => set_error_sink(callback, userData);
}

/// Every function of this file, in order.
pub const FUNCTIONS: &[Entry] = TABLE;

/// Runs a call of this file: keeps a panic inside, and answers 0 or the failure's number.
fn answer(call: &'static str, body: impl FnOnce() -> Result<()>) -> c_int {
    begin();
    let checked = || crate::rt::runtime::refuse_here().and_then(|()| body());
    let outcome = catch_unwind(AssertUnwindSafe(checked)).unwrap_or_else(|payload| {
        Err(Error::new(ErrorKind::Unknown, format!("gridcl failed within: {}", panic_text(&*payload))))
    });
    let Err(error) = outcome else { return 0 };
    let number = match error.kind() {
        ErrorKind::InvalidValue => 1,
        ErrorKind::NotInitialized => 3,
        ErrorKind::InvalidHandle => 400,
        ErrorKind::NotFound => 500,
        ErrorKind::NotPermitted => 800,
        _ => 999,
    };
    thread::note(error.in_call(call));
    number
}

/// # Safety
/// `name` has to be null or a NUL-terminated string.
unsafe fn register_function(module: usize, address: usize, name: *const c_char) -> Result<()> {
    // SAFETY: the caller's.
    let (module, name) = unsafe { arguments(module, address, name) }?;
    registry::add(address, Registered::Function(module.kernel(name)?));
    Ok(())
}

/// # Safety
/// `name` has to be null or a NUL-terminated string.
unsafe fn register_symbol(module: usize, address: usize, name: *const c_char) -> Result<()> {
    // SAFETY: the caller's.
    let (module, name) = unsafe { arguments(module, address, name) }?;
    module.symbol_on(&module.home().context()?, name)?;
    registry::add(address, Registered::Symbol(module, name.to_owned()));
    Ok(())
}

/// # Safety
/// `name` has to be null or a NUL-terminated string.
unsafe fn arguments<'a>(handle: usize, address: usize, name: *const c_char) -> Result<(Module, &'a str)> {
    let module = module(handle).ok_or_else(|| {
        Error::new(ErrorKind::InvalidHandle, "it is not a module of either dialect that is alive")
            .argument("module", format_args!("{handle:#x}"))
            .help("pass what ModuleLoad or ModuleLoadData gave")
    })?;
    if address == 0 {
        return Err(null("hostAddress"));
    }
    // SAFETY: the caller's.
    Ok((module, unsafe { text("name", name) }?))
}

/// The module that a handle of either dialect means.
fn module(handle: usize) -> Option<Module> {
    let pick = |object: &Object| match object {
        Object::Module(module) => Some(module.clone()),
        _ => None,
    };
    super::all_handles().find_map(|handles| handles.look(handle, pick))
}

thread_local! {
    /// Holds the text that the thread was given last.
    static TEXT: RefCell<CString> = RefCell::default();
    /// Whether the thread is in the program's error sink.
    static TELLING: Cell<bool> = const { Cell::new(false) };
}

fn last_error_detail() -> *const c_char {
    let detail = c_text(&thread::last_error_detail().unwrap_or_default());
    // A thread that is ending has nothing left to hold the text with.
    TEXT.try_with(|text| {
        let mut text = text.borrow_mut();
        // What was given out stays where it is while it is still true.
        if *text != detail {
            *text = detail;
        }
        text.as_ptr()
    })
    .unwrap_or(c"".as_ptr())
}

/// A text as C has it; one with a NUL inside ends there.
fn c_text(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// Who is told of failures, and with what; the program promised that both may be used by any thread.
#[derive(Clone, Copy)]
struct Sink {
    callback: unsafe extern "C" fn(*const c_char, *mut c_void),
    user_data: usize,
}

static SINK: RwLock<Option<Sink>> = RwLock::new(None);

fn set_error_sink(callback: gridclErrorSink_t, user_data: *mut c_void) {
    *SINK.write() = callback.map(|callback| Sink { callback, user_data: user_data.expose_provenance() });
}

/// Tells the program of a failure, if it wants to know.
pub(super) fn tell(error: &Error) {
    // Copied out, so that the program's code runs without the lock.
    let Some(sink) = *SINK.read() else { return };
    let entered = TELLING.try_with(|telling| !telling.replace(true)).unwrap_or(false);
    if !entered {
        return;
    }
    let detail = c_text(&error.to_string());
    // SAFETY: the program gave both for this.
    unsafe { (sink.callback)(detail.as_ptr(), std::ptr::with_exposed_provenance_mut(sink.user_data)) };
    let _ = TELLING.try_with(|telling| telling.set(false));
}

/// What has to be there before a C program's first call: a logger where `GRIDCL_LOG` asks for one, since such a program
/// has none of its own. Nothing happens when the library is loaded.
#[inline]
pub(crate) fn begin() {
    #[cfg(feature = "capi")]
    {
        static BEGUN: std::sync::Once = std::sync::Once::new();
        BEGUN.call_once(start_log);
    }
}

#[cfg(feature = "capi")]
fn start_log() {
    let Ok(filter) = std::env::var("GRIDCL_LOG") else { return };
    let filters = match filter.as_str() {
        "api" => "gridcl::api=debug,gridcl::warn=warn",
        "cl" => "gridcl=trace",
        "warn" => "gridcl::warn=warn",
        other => other,
    };
    // A Rust program that has a logger keeps it.
    let _ = env_logger::Builder::new().parse_filters(filters).try_init();
}
