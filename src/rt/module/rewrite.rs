//! Turns CUDA's file-scope symbols into kernel parameters.
//!
//! OpenCL drivers have no program-scope variables. `__constant__ float table[256];` and `__device__ int counter;`
//! are taken out of a module's OpenCL C, and every function that mentions the name, by itself, through functions it
//! calls or through macros, gets a hidden trailing parameter:
//!
//! | written | becomes |
//! | --- | --- |
//! | `__constant__ float table[256];` | a type `gridcl_type_table` and the kernel `gridcl_size_table` |
//! | `.. = {1, 2}` | also the kernel `gridcl_init_table`, which copies the initial value |
//! | `float f(int i) { return table[i]; }` | `float f(int i, __constant void *gridcl_sym_table) ..` |
//! | `table` in a body | `(*(__constant gridcl_type_table *)gridcl_sym_table)` |
//! | `f(1)` | `f(1, gridcl_sym_table)` |
//!
//! The parameter points to `void`, so that a prototype in front of the declaration can name it and a symbol may
//! itself be a pointer (a kernel may not take a pointer to a pointer before OpenCL C 2.0).
//!
//! Promises: text in, text out, no driver; every line of the text keeps its number; a text without symbols comes
//! back as it was; no input makes it panic. Nothing is expanded or evaluated: all branches of an `#if` are
//! rewritten, and files that the text still includes are not seen ([`super::include`] has put in what it found). A
//! symbol in a branch that the compiler drops has no kernels; its hidden parameters remain.

mod declaration;
mod edit;
pub(crate) mod empty;
mod graph;
mod item;
mod local;
mod marker;
mod pass;
mod replacement;
mod table;
mod usage;

use std::collections::BTreeMap;

use super::lexer::scan;
use edit::Edits;
use item::{MARKERS, Vocabulary, items};
use table::Table;

const SIZE_PREFIX: &str = "gridcl_size_";
const INIT_PREFIX: &str = "gridcl_init_";

/// The memory that a symbol lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// `__constant__`: OpenCL's constant memory.
    Constant,
    /// `__device__`: OpenCL's global memory.
    Device,
}

impl Space {
    /// The address space in OpenCL C.
    fn keyword(self) -> &'static str {
        match self {
            Self::Constant => "__constant",
            Self::Device => "__global",
        }
    }
}

/// A symbol that was found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SymbolDecl {
    /// Its name.
    pub name: String,
    /// The memory it lives in.
    pub space: Space,
    /// The line that declares it, from 1.
    pub line: u32,
    /// Its type for messages, as in `float[256]`.
    pub type_text: String,
    /// Whether its initial value is to be fetched by [`init_kernel`]; otherwise it is zero.
    pub has_initializer: bool,
}

/// A text whose symbols are parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rewritten {
    /// The text for the compiler.
    pub text: String,
    /// The symbols, in the order of their first declaration.
    pub symbols: Vec<SymbolDecl>,
    /// For each kernel with hidden parameters, their symbols as indices into `symbols`, in parameter order.
    pub hidden: BTreeMap<String, Vec<usize>>,
}

/// Why a text cannot be rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RewriteError {
    /// The line it is about, from 1.
    pub line: u32,
    /// What is wrong and what to do.
    pub message: String,
    /// Another line that it is about.
    pub first: Option<u32>,
}

/// Name of the kernel whose required work-group size is (size, alignment, 1) of `symbol`.
pub(crate) fn size_kernel(symbol: &str) -> String {
    format!("{SIZE_PREFIX}{symbol}")
}

/// Name of the kernel that writes the initial value of `symbol` to its only argument, with one work-item.
pub(crate) fn init_kernel(symbol: &str) -> String {
    format!("{INIT_PREFIX}{symbol}")
}

/// Whether a kernel was added by [`rewrite`].
pub(crate) fn is_generated_kernel(name: &str) -> bool {
    name.starts_with(SIZE_PREFIX) || name.starts_with(INIT_PREFIX)
}

/// The kernels that a text defines, in order; those whose names macros make are not seen.
#[cfg(test)]
pub(crate) fn kernel_names(source: &str) -> Vec<String> {
    let scan = scan(source);
    let vocabulary = Vocabulary::new(&scan.macros);
    let mut names: Vec<String> = Vec::new();
    for item in items(&scan, &vocabulary).iter().filter(|item| item.kernel && item.body.is_some()) {
        for name in item.heads.iter().filter_map(|head| scan.code.word(head.name)) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

/// Whether a text may define a kernel: false only if it neither has the keyword nor includes a file.
pub(crate) fn may_define_kernel(source: &str) -> bool {
    let scan = scan(source);
    let bodies = scan.macros.iter().map(|definition| &definition.body);
    scan.includes
        || bodies
            .chain([&scan.code])
            .any(|tokens| tokens.slice(0..tokens.len()).iter().any(|token| token.is("__kernel") || token.is("kernel")))
}

/// Takes the symbols out of `source`.
pub(crate) fn rewrite(source: &str) -> Result<Rewritten, RewriteError> {
    if !MARKERS.iter().any(|marker| source.contains(marker)) {
        return Ok(Rewritten { text: source.to_owned(), symbols: Vec::new(), hidden: BTreeMap::new() });
    }
    let scan = scan(source);
    let vocabulary = Vocabulary::new(&scan.macros);
    let items = items(&scan, &vocabulary);
    let mut edits = Edits::default();
    marker::drop_from_functions(&scan, &vocabulary, &items, &mut edits)?;
    let (table, declarations) = Table::read(&scan.code, &vocabulary, &items)?;
    table.replace(&scan.code, &declarations, &mut edits);
    let hidden = pass::run(&scan, &items, &table, &mut edits)?;
    Ok(Rewritten { text: edits.apply(source), symbols: table.symbols, hidden })
}

fn error<T>(line: u32, message: impl Into<String>) -> Result<T, RewriteError> {
    Err(RewriteError { line, message: message.into(), first: None })
}

#[cfg(test)]
mod tests;
