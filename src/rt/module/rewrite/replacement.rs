//! The text that takes the place of a symbol's declaration.
//!
//! `__constant__ float a[4] = {..}, b;` becomes, on the same lines and in the same branch of any `#if`: a type per
//! symbol (`gridcl_type_a`), a kernel whose work-group size is the symbol's size, and where there is an initialiser
//! a native `__constant` object with it and a kernel that copies its bytes. Types, sizes and initialisers stay
//! where they were written, so that they see the same macros and the compiler's messages name the user's lines.

use super::super::lexer::Tokens;
use super::declaration::{Declaration, Declarator, joined};
use super::edit::Edits;
use super::item::is_space;
use super::{init_kernel, size_kernel};

/// What a declarator turns into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The type, the value and the kernels of the symbol.
    Definition,
    /// Only a type, for the code in front of the definition.
    Announcement,
    /// Nothing: the symbol was announced before.
    Repetition,
}

/// Name of the type that a definition makes.
pub(super) fn type_name(symbol: &str) -> String {
    format!("gridcl_type_{symbol}")
}

/// Name of the type that an `extern` declaration makes for the code in front of the definition.
pub(super) fn announced_type_name(symbol: &str) -> String {
    format!("gridcl_extern_{symbol}")
}

impl Declaration {
    /// Puts the new text in the place of the declaration; `ordinal` makes its base type unique.
    pub(super) fn replace(&self, code: &Tokens<'_>, ordinal: usize, roles: &[Role], edits: &mut Edits) {
        let base = format!("gridcl_base_{ordinal}");
        if let Some(first) = code.get(self.specifiers.start) {
            edits.insert(first.at, "typedef ");
        }
        let attributes = self.attributes.iter().cloned().flatten();
        for token in self.dropped.iter().copied().chain(attributes).filter_map(|at| code.get(at)) {
            edits.replace(token.bytes(), "");
        }
        if let Some(last) = code.get(self.specifiers.end.saturating_sub(1)) {
            edits.insert(last.bytes().end, format!(" {base};"));
        }
        for (declarator, role) in self.declarators.iter().zip(roles) {
            self.replace_one(code, declarator, &base, *role, edits);
        }
    }

    fn replace_one(&self, code: &Tokens<'_>, one: &Declarator, base: &str, role: Role, edits: &mut Edits) {
        let (Some(name), Some(end)) = (code.get(one.name), code.get(one.end)) else {
            return;
        };
        if role == Role::Repetition {
            let tokens = code.slice(one.start..one.end + 1).iter();
            tokens.for_each(|token| edits.replace(token.bytes(), ""));
            return;
        }
        let attributes = self.attributes.iter().map(|range| format!(" {}", joined(code, range.clone())));
        let parts = Parts { symbol: name.text, lead: self.lead(code, one, base), attributes: attributes.collect() };
        self.place_pointers(code, one, edits);
        let mut behind = if one.has_initializer && one.is_open {
            parts.value_first(code, one, edits)
        } else {
            parts.type_first(code, one, role, edits)
        };
        if one.has_initializer {
            behind.push_str(&format!(" {}", init_kernel_text(name.text)));
        }
        edits.replace(end.bytes(), format!(";{behind}"));
    }

    /// What goes in front of a declarator: the base type, which for a pointer needs an address space.
    fn lead(&self, code: &Tokens<'_>, one: &Declarator, base: &str) -> String {
        let points = (one.start..one.name).any(|at| code.is(at, "*"));
        let target = self.target_space.and_then(|at| code.word(at)).unwrap_or("__global");
        if points { format!("{target} {base} ") } else { format!("{base} ") }
    }

    /// Gives every `*` in front of the name its address space; the symbol's own is left to its users.
    fn place_pointers(&self, code: &Tokens<'_>, one: &Declarator, edits: &mut Edits) {
        let spaces = (one.start..one.name).filter(|&at| code.word(at).is_some_and(is_space));
        for token in spaces.filter_map(|at| code.get(at)) {
            edits.replace(token.bytes(), "");
        }
        let stars: Vec<usize> = (one.start..one.name).filter(|&at| code.is(at, "*")).collect();
        for star in stars.iter().rev().skip(1).filter_map(|&star| code.get(star)) {
            edits.insert(star.bytes().end, " __global ");
        }
    }
}

/// What both forms of a replaced declarator are made of.
struct Parts<'a> {
    symbol: &'a str,
    /// The base type.
    lead: String,
    attributes: String,
}

impl Parts<'_> {
    /// Makes the type, and then the value from it; gives what comes behind the declaration.
    fn type_first(&self, code: &Tokens<'_>, one: &Declarator, role: Role, edits: &mut Edits) -> String {
        let Self { symbol, lead, attributes } = self;
        let announced = role == Role::Announcement;
        let of = if announced { announced_type_name(symbol) } else { type_name(symbol) };
        let size = size_kernel_text(symbol);
        let (value, behind) = match one.has_initializer {
            true => (format!("; {size} __constant {of} gridcl_value_{symbol}"), String::new()),
            false if announced => Default::default(),
            false => (String::new(), format!(" {size}")),
        };
        self.place(code, one, format!(" typedef {lead}"), of, format!("{attributes}{value}"), edits);
        behind
    }

    /// Makes the value, and then the type from it: the initialiser gives the length.
    fn value_first(&self, code: &Tokens<'_>, one: &Declarator, edits: &mut Edits) -> String {
        let Self { symbol, lead, attributes } = self;
        let (of, value) = (type_name(symbol), format!("gridcl_value_{symbol}"));
        self.place(code, one, lead.clone(), format!("__constant {value}"), attributes.clone(), edits);
        let rest = one.dimensions[1..].iter().map(|range| joined(code, range.clone()));
        let (stars, rest) = (pointer_text(code, one), rest.collect::<String>());
        let length = format!("[sizeof({value}) / sizeof({value}[0])]");
        format!(" typedef {lead}{stars}{of}{length}{rest}{attributes}; {}", size_kernel_text(symbol))
    }

    /// Puts texts in front of the declarator, in the place of its name, and behind its dimensions and attributes.
    fn place(&self, code: &Tokens<'_>, one: &Declarator, front: String, name: String, tail: String, edits: &mut Edits) {
        let tokens = (code.get(one.start), code.get(one.name), code.get(one.tail - 1));
        if let (Some(first), Some(named), Some(last)) = tokens {
            edits.insert(first.at, front);
            edits.replace(named.bytes(), name);
            edits.insert(last.bytes().end, tail);
        }
    }
}

/// The pointers of a declarator once more, for the second type of an open array.
fn pointer_text(code: &Tokens<'_>, one: &Declarator) -> String {
    let tokens = code.slice(one.start..one.name);
    let mut left = tokens.iter().filter(|token| token.is("*")).count();
    let mut text = String::new();
    for token in tokens.iter().filter(|token| !is_space(token.text)) {
        text.push_str(token.text);
        left -= usize::from(token.is("*"));
        text.push_str(if token.is("*") && left > 0 { " __global " } else { " " });
    }
    text
}

/// A kernel that tells the size and alignment of a symbol by its required work-group size; it is never run.
///
/// Its parameter is there for NVIDIA's driver, which fails to build a kernel without one.
fn size_kernel_text(symbol: &str) -> String {
    let (of, kernel) = (type_name(symbol), size_kernel(symbol));
    format!(
        "__kernel __attribute__((reqd_work_group_size(sizeof({of}), __alignof__({of}), 1))) \
         void {kernel}(__global uchar *gridcl_to) {{}}"
    )
}

/// A kernel that copies the initial value of a symbol, run with one work-item.
fn init_kernel_text(symbol: &str) -> String {
    let (of, kernel) = (type_name(symbol), init_kernel(symbol));
    format!(
        "__kernel void {kernel}(__global uchar *gridcl_to) {{ for (size_t gridcl_i = 0; gridcl_i < sizeof({of}); \
         ++gridcl_i) gridcl_to[gridcl_i] = ((__constant const uchar *)&gridcl_value_{symbol})[gridcl_i]; }}"
    )
}
