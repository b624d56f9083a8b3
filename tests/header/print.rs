//! Prints the headers.

use super::c;
use super::cxx;
use super::parse::{Constant, Item};
use super::{Front, own_items};
use gridcl::dialect::Entry;
use std::collections::HashSet;

const WIDTH: usize = 110;
const PRINTED: &str = "Printed from gridcl's own tables (GRIDCL_BLESS=1 cargo test --test documents): do not edit, it will be printed again.";

/// `include/gridcl.h`.
pub(crate) fn own_header() -> String {
    let items = own_items();
    let known = known(&items);
    let mut page = format!(
        "/**\n * gridcl's own calls for C and C++ programs, and what the headers of both dialects share.\n *\n * {PRINTED}\n */\n\
         #ifndef GRIDCL_H\n#define GRIDCL_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n\
         /* A default argument in C++, nothing in C. */\n\
         #ifdef __cplusplus\n#define GRIDCL_DEFAULT(value) = value\n#else\n#define GRIDCL_DEFAULT(value)\n#endif\n\n{}\n",
        cxx::DIM3
    );
    page.push_str("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    types(&mut page, &items, &known);
    for entry in gridcl::dialect::native::FUNCTIONS {
        page.push_str(&function(entry, &known));
    }
    page.push_str("#ifdef __cplusplus\n} /* extern \"C\" */\n");
    page.push_str(cxx::OWN);
    page.push_str("#endif\n\n#endif /* GRIDCL_H */\n");
    page
}

/// The header of a dialect.
pub(crate) fn header(front: &Front, items: &[Item]) -> String {
    let known = known(items);
    let guard = guard(front.header);
    let up = "../".repeat(front.header.matches('/').count());
    let mut page = format!(
        "/**\n * The {} API of gridcl, on any OpenCL device.\n *\n * Link with libgridcl.so (pkg-config gridcl). Kernels are \
         OpenCL C, loaded with {}ModuleLoadData.\n *\n * {PRINTED}\n */\n#ifndef {guard}\n#define {guard}\n\n\
         #include \"{up}gridcl.h\"\n\n{}\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
        front.title, front.name, front.empty_macros
    );
    types(&mut page, items, &known);
    let mut section = "";
    for entry in front.table {
        if entry.section != section {
            section = entry.section;
            page.push_str(&format!("/* ---- Calls: {section} */\n\n"));
        }
        page.push_str(&function(entry, &known));
    }
    page.push_str(
        "#ifdef __cplusplus\n} /* extern \"C\" */\n\n/* ---- The same calls for typed pointers and functions */\n\n",
    );
    for entry in front.table {
        page.push_str(&cxx::overloads(entry, &known));
    }
    page.push_str(&format!("#endif\n\n#endif /* {guard} */\n"));
    page
}

/// The header's other name.
pub(crate) fn alias(front: &Front) -> String {
    let file = front.header.rsplit('/').next().unwrap_or(front.header);
    let guard = guard(&front.header.replace(".h", "_api.h"));
    format!(
        "/** The other name of {file}. {PRINTED} */\n#ifndef {guard}\n#define {guard}\n#include \"{file}\"\n#endif\n"
    )
}

fn guard(header: &str) -> String {
    let name: String = header.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    format!("GRIDCL_{name}")
}

/// The types that items declare.
pub(crate) fn known(items: &[Item]) -> HashSet<String> {
    items.iter().filter_map(type_name).chain(items.iter().filter_map(pointee)).map(str::to_owned).collect()
}

fn type_name(item: &Item) -> Option<&str> {
    match item {
        Item::Handle { name, .. } | Item::Enum { name, .. } | Item::Struct { name, .. } | Item::Alias { name, .. } => {
            Some(name)
        }
        _ => None,
    }
}

fn pointee(item: &Item) -> Option<&str> {
    match item {
        Item::Handle { pointee, .. } => Some(pointee),
        _ => None,
    }
}

/// Prints every type and constant, each behind what it needs.
fn types(page: &mut String, items: &[Item], known: &HashSet<String>) {
    let mut done = vec![false; items.len()];
    for index in 0..items.len() {
        emit(page, items, index, &mut done, known);
    }
}

fn emit(page: &mut String, items: &[Item], index: usize, done: &mut [bool], known: &HashSet<String>) {
    if std::mem::replace(&mut done[index], true) {
        return;
    }
    for needed in needs(&items[index]) {
        let declares = |item: &Item| {
            type_name(item) == Some(needed)
                || pointee(item) == Some(needed)
                || matches!(item, Item::Constant { constant, .. } if constant.name == needed)
        };
        if let Some(other) = items.iter().position(declares) {
            emit(page, items, other, done, known);
        }
    }
    page.push_str(&item(&items[index], known).unwrap_or_else(|problem| panic!("{:?}: {problem}", items[index])));
}

fn needs(item: &Item) -> Vec<&str> {
    match item {
        Item::Struct { fields, .. } => fields.iter().flat_map(|field| mentions(&field.kind)).collect(),
        Item::Alias { of, .. } => mentions(of).collect(),
        Item::Constant { kind, .. } => mentions(kind).collect(),
        Item::Maker { of, parameters, .. } => {
            parameters.iter().flat_map(|(_, kind)| mentions(kind)).chain([of.as_str()]).collect()
        }
        _ => Vec::new(),
    }
}

/// The names of types that a Rust type mentions.
fn mentions(kind: &str) -> impl Iterator<Item = &str> {
    kind.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

fn item(item: &Item, known: &HashSet<String>) -> Result<String, String> {
    let is_known = |name: &str| known.contains(name);
    let mut text = String::new();
    match item {
        Item::Section(heading) => text.push_str(&format!("/* ---- {heading} */\n\n")),
        Item::Handle { doc, name, pointee } => {
            text.push_str(&comment(doc, ""));
            text.push_str(&format!("typedef struct {pointee}* {name};\n\n"));
        }
        Item::Enum { doc, name, constants } => {
            text.push_str(&comment(doc, ""));
            text.push_str(&format!("typedef enum {name} {{\n"));
            for constant in constants {
                text.push_str(&format!(
                    "    {} = {},{}\n",
                    constant.name,
                    c::number(&constant.value),
                    behind(constant)
                ));
            }
            text.push_str(&format!("}} {name};\n\n"));
        }
        Item::Flags { doc, constants } => {
            text.push_str(&comment(doc, ""));
            for constant in constants {
                let value = c::number(&constant.value);
                text.push_str(&format!("#define {} {value}{}\n", constant.name, behind(constant)));
            }
            text.push('\n');
        }
        Item::Struct { doc, name, fields } => {
            text.push_str(&comment(doc, ""));
            text.push_str(&format!("typedef struct {name} {{\n"));
            for field in fields {
                let declared = c::declare(&field.kind, field.name.trim_start_matches("r#"), &is_known)?;
                text.push_str(&format!("    {declared}; /**< {} */\n", plain(&field.doc.join(" "))));
            }
            text.push_str(&format!("}} {name};\n\n"));
        }
        Item::Alias { doc, name, of } => {
            text.push_str(&comment(doc, ""));
            // What a handle points at is known by its tag only.
            let declared = match of.strip_prefix("*const ").filter(|pointee| is_known(pointee)) {
                Some(pointee) => format!("const struct {pointee}* {name}"),
                None => c::declare(of, name, &is_known)?,
            };
            text.push_str(&format!("typedef {declared};\n\n"));
        }
        Item::Constant { kind, constant } => {
            text.push_str(&comment(&constant.doc, ""));
            let value = c::value(kind, &constant.value, &is_known)?;
            text.push_str(&format!("#define {} {value}\n\n", constant.name));
        }
        Item::Maker { doc, name, parameters, of, fields } => {
            text.push_str(&comment(doc, ""));
            let list = c::parameter_list(parameters, &is_known)?;
            text.push_str(&format!("static inline {of} {name}({list}) {{\n    {of} made;\n"));
            for field in fields {
                text.push_str(&format!("    made.{field} = {field};\n"));
            }
            text.push_str("    return made;\n}\n\n");
        }
    }
    Ok(text)
}

fn behind(constant: &Constant) -> String {
    if constant.doc.is_empty() { String::new() } else { format!(" /**< {} */", plain(&constant.doc.join(" "))) }
}

/// A function's declaration with its documentation.
fn function(entry: &Entry, known: &HashSet<String>) -> String {
    let is_known = |name: &str| known.contains(name);
    let declared = |kind: &str, name: &str| {
        c::declare(kind, name, &is_known).unwrap_or_else(|problem| panic!("{}: {problem}", entry.name))
    };
    let mut parameters: Vec<String> = entry
        .parameters
        .iter()
        .zip(cxx::defaults(entry))
        .map(|((name, kind), default)| {
            let declared = declared(kind, name);
            default.map_or(declared.clone(), |value| format!("{declared} GRIDCL_DEFAULT({value})"))
        })
        .collect();
    if parameters.is_empty() {
        parameters.push("void".to_owned());
    }
    let doc: Vec<String> = entry.doc.iter().map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned()).collect();
    let head = format!("{}(", declared(entry.returns, entry.name));
    format!("{}{}\n\n", comment(&doc, ""), wrapped(&head, &parameters, ");"))
}

/// Puts a list on one line, or on several where it is long.
pub(crate) fn wrapped(head: &str, parts: &[String], tail: &str) -> String {
    let line = format!("{head}{}{tail}", parts.join(", "));
    if line.len() <= WIDTH {
        return line;
    }
    let mut lines = vec![head.to_owned()];
    for (index, part) in parts.iter().enumerate() {
        let part = format!("{part}{}", if index + 1 == parts.len() { tail } else { "," });
        match lines.last_mut() {
            Some(last) if index > 0 && last.len() + 1 + part.len() <= WIDTH => {
                last.push(' ');
                last.push_str(&part);
            }
            _ => lines.push(format!("    {part}")),
        }
    }
    lines.join("\n")
}

/// Documentation as a C comment.
fn comment(doc: &[String], indent: &str) -> String {
    let text: Vec<String> = doc.iter().map(|line| plain(line)).collect();
    match &text[..] {
        [] => String::new(),
        [line] if line.len() + 7 <= WIDTH => format!("{indent}/** {line} */\n"),
        lines => {
            let lines: Vec<String> =
                lines.iter().map(|line| format!("{indent} * {line}").trim_end().to_owned()).collect();
            format!("{indent}/**\n{}\n{indent} */\n", lines.join("\n"))
        }
    }
}

/// Rust's documentation in plain words: links become what they are called, and nothing ends the comment.
fn plain(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(start) = rest.find("[`") {
        text.push_str(&rest[..start]);
        let Some(end) = rest[start..].find("`]") else { break };
        text.push_str(&rest[start + 2..start + end]);
        rest = &rest[start + end + 2..];
        if let Some(target) = rest.strip_prefix('(') {
            rest = target.split_once(')').map_or("", |(_, after)| after);
        }
    }
    text.push_str(rest);
    // Names that speak for themselves need no quotes.
    let pieces = text.split('`').enumerate().map(|(index, piece)| match index % 2 {
        1 if !["musa", "tops", "gridcl", "MUSA", "TOPS"].iter().any(|prefix| piece.starts_with(prefix)) => {
            format!("`{piece}`")
        }
        _ => piece.to_owned(),
    });
    pieces.collect::<String>().replace("*/", "* /").replace("/*", "/ *")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_words() {
        assert_eq!(
            plain("A [`musaExtent`] of `n`, `musaX`, see [`x`](super::x)."),
            "A musaExtent of `n`, musaX, see x."
        );
        assert_eq!(plain("void**/"), "void** /");
    }

    #[test]
    fn long_lists_are_wrapped() {
        let parts: Vec<String> = (0..9).map(|index| format!("unsigned int parameter{index}")).collect();
        let text = wrapped("int call(", &parts, ");");
        assert!(text.lines().count() > 2 && text.lines().all(|line| line.len() <= WIDTH), "{text}");
    }
}
