//! Front ends: the vendors' names, numbers and null rules over the one runtime.
//!
//! A dialect is a table of functions (`runtime_api!`) with types and codes. What two dialects do alike is written
//! once, in `call`, over the `Dialect` trait; a table line names the call and what is special about it. Handles
//! (`handle`), the current device and the last error (`thread`) are kept per dialect.

pub(crate) mod c_enum;
pub(crate) mod call;
pub mod coverage;
pub(crate) mod dim3;
pub mod failures;
pub(crate) mod handle;
#[cfg(feature = "musa")]
pub mod musa;
pub mod native;
pub(crate) mod registry;
pub(crate) mod thread;
#[cfg(feature = "tops")]
pub mod tops;

use crate::error::{Error, ErrorKind, Result, panic_text};
use handle::Handles;
use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::LocalKey;
use thread::Thread;

/// What is a dialect's own.
pub(crate) trait Dialect: 'static {
    /// Its result code.
    type Code: Copy + fmt::Debug + 'static;
    /// The code of success.
    const SUCCESS: Self::Code;
    /// The handles that mean the default stream of the current device.
    const LEGACY_STREAMS: &'static [usize];
    /// The handles that mean the calling thread's stream.
    const PER_THREAD_STREAMS: &'static [usize];
    /// Its number for a kind of error.
    fn code(kind: ErrorKind) -> Self::Code;
    /// The calling thread's state.
    fn thread() -> &'static LocalKey<RefCell<Thread>>;
    /// Its live handles.
    fn handles() -> &'static Handles;
}

/// A line of a dialect's table, for documents and tests.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// The function's name.
    pub name: &'static str,
    /// The part of the API it belongs to.
    pub section: &'static str,
    /// Its parameters and their types, as Rust writes them.
    pub parameters: &'static [(&'static str, &'static str)],
    /// What it returns.
    pub returns: &'static str,
    /// What its documentation says, a line each.
    pub doc: &'static [&'static str],
}

/// Several tables as one; `N` is the number of their lines.
pub(crate) const fn joined<const N: usize>(tables: &[&[Entry]]) -> [Entry; N] {
    let mut all = [tables[0][0]; N];
    let (mut table, mut at) = (0, 0);
    while table < tables.len() {
        let mut line = 0;
        while line < tables[table].len() {
            all[at] = tables[table][line];
            (line, at) = (line + 1, at + 1);
        }
        table += 1;
    }
    all
}

/// Forgets, in every dialect, the handles of what died with its device's reset.
pub(crate) fn sweep_handles() {
    all_handles().for_each(Handles::sweep);
    registry::forget_dead();
}

/// The handles of every dialect.
pub(crate) fn all_handles() -> impl Iterator<Item = &'static Handles> {
    let all: [Option<&Handles>; 2] = [
        #[cfg(feature = "musa")]
        Some(musa::Musa::handles()),
        #[cfg(not(feature = "musa"))]
        None,
        #[cfg(feature = "tops")]
        Some(tops::Tops::handles()),
        #[cfg(not(feature = "tops"))]
        None,
    ];
    all.into_iter().flatten()
}

/// Runs a call: keeps a panic inside, names the call in the error and records it.
pub(crate) fn enter<D: Dialect>(call: &'static str, body: impl FnOnce() -> Result<()>) -> D::Code {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => D::SUCCESS,
        Ok(Err(error)) => thread::record::<D>(error.in_call(call)),
        Err(payload) => {
            let what = panic_text(&*payload);
            let error = Error::new(ErrorKind::Unknown, format!("gridcl failed within: {what}"));
            thread::record::<D>(error.help("this is a bug of gridcl, please report it").in_call(call))
        }
    }
}

/// Makes the functions of a dialect, and the table that documents and tests read.
///
/// `call name(parameter: Type, …) => body;` answers a result code: `body` is a [`Result`], a failure of which is
/// recorded; inside a stream callback and in a forked child it is refused, but for `anywhere`.
/// `plain name(…) -> Type => body;` answers whatever it answers, or nothing. `(unsafe)` stands where a pointer is followed.
macro_rules! runtime_api {
    (
        dialect $dialect:ident, code $code:ident;
        $(
            section $section:literal;
            $(
                $(#[doc = $doc:literal])+
                $kind:ident $(($safety:ident))? $name:ident ($($parameter:ident: $type:ty),* $(,)?) $(-> $answer:ty)?
                    => $body:expr;
            )+
        )+
    ) => {
        $($(
            $crate::dialect::runtime_api!(
                @$kind $dialect $code [$($safety)?] [$(#[doc = $doc])+] $name ($($parameter: $type),*) [$($answer)?] $body
            );
        )+)+

        /// Every function of this part of the dialect, in order.
        pub(super) const TABLE: &[$crate::dialect::Entry] = &[$($(
            $crate::dialect::Entry {
                name: stringify!($name),
                section: $section,
                parameters: &[$((stringify!($parameter), stringify!($type))),*],
                returns: $crate::dialect::runtime_api!(@returns $kind $code $($answer)?),
                doc: &[$($doc),+],
            },
        )+)+];
    };
    (@call $dialect:ident $code:ident [$($safety:ident)?] [$($doc:tt)+] $name:ident ($($parameter:ident: $type:ty),*) [] $body:expr) => {
        $crate::dialect::runtime_api!(
            @anywhere $dialect $code [$($safety)?] [$($doc)+] $name ($($parameter: $type),*) [] {
                $crate::rt::runtime::refuse_here()?;
                $body
            }
        );
    };
    (@anywhere $dialect:ident $code:ident [$($safety:ident)?] [$($doc:tt)+] $name:ident ($($parameter:ident: $type:ty),*) [] $body:expr) => {
        $($doc)+
        $(#[doc = $crate::dialect::pointer_rule!($safety)])?
        #[cfg_attr(feature = "capi", unsafe(no_mangle))]
        pub $($safety)? extern "C" fn $name($($parameter: $type),*) -> $code {
            $crate::dialect::native::begin();
            let span = $crate::trace::Span::open(stringify!($name));
            let code = $crate::dialect::enter::<$dialect>(stringify!($name), || $crate::dialect::body!([$($safety)?] $body));
            if let Some(span) = span {
                span.close(&[$((stringify!($parameter), &$parameter as &dyn ::std::fmt::Debug)),*], &code);
            }
            code
        }
    };
    (@plain $dialect:ident $code:ident [$($safety:ident)?] [$($doc:tt)+] $name:ident ($($parameter:ident: $type:ty),*) [$($answer:ty)?] $body:expr) => {
        $($doc)+
        $(#[doc = $crate::dialect::pointer_rule!($safety)])?
        #[cfg_attr(feature = "capi", unsafe(no_mangle))]
        pub $($safety)? extern "C" fn $name($($parameter: $type),*) $(-> $answer)? {
            $body
        }
    };
    (@returns call $code:ident) => { stringify!($code) };
    (@returns anywhere $code:ident) => { stringify!($code) };
    (@returns plain $code:ident $answer:ty) => { stringify!($answer) };
    (@returns plain $code:ident) => { "()" };
}
pub(crate) use runtime_api;

/// A call's body. Where it follows pointers the caller of the exported function has promised what they are.
macro_rules! body {
    ([unsafe] $body:expr) => {
        // SAFETY: the caller's, see `pointer_rule`.
        unsafe { $body }
    };
    ([] $body:expr) => {
        $body
    };
}
pub(crate) use body;

/// What a caller promises of the pointers that it passes.
macro_rules! pointer_rule {
    (unsafe) => {
        "\n# Safety\n\nResults and structures are written and read where the pointers say: each has to be null or valid \
         for that. Host memory has to be valid for as long as the call, or the work that it starts, uses it; a kernel \
         has to stay within the memory that it is given."
    };
}
pub(crate) use pointer_rule;
