//! Prints `tests/c_abi/values.rs`: the names of all constants and structures, from which the Rust compiler makes the
//! values and layouts that the headers are held against.

use super::parse::{Constant, Item};

const HEAD: &str =
    "//! What the headers declare, as Rust has it. Printed (GRIDCL_BLESS=1 cargo test --test documents): do not edit.

use crate::check::{Layout, addresses, codes, flags, layouts};
";

/// The module's text.
pub(crate) fn module(dialects: &[(&str, Vec<Item>)]) -> String {
    let mut page = HEAD.to_owned();
    for (dialect, items) in dialects {
        let enums = items.iter().filter_map(|item| match item {
            Item::Enum { constants, .. } => Some(constants),
            _ => None,
        });
        let flags = items.iter().filter_map(|item| match item {
            Item::Flags { constants, .. } => Some(constants),
            _ => None,
        });
        let single = |address: bool| {
            items.iter().filter_map(move |item| match item {
                Item::Constant { constant, .. } => {
                    (constant.value.starts_with("without_provenance_mut") == address).then_some(constant.name.as_str())
                }
                _ => None,
            })
        };
        let names = |constant: &'_ Constant| constant.name.clone();
        let upper = dialect.to_uppercase();
        let flags: Vec<String> = flags.flatten().map(names).chain(single(false).map(str::to_owned)).collect();
        list(
            &mut page,
            &format!("codes! {{ {upper}_CODES, {dialect}:"),
            &enums.flatten().map(names).collect::<Vec<_>>(),
        );
        list(&mut page, &format!("flags! {{ {upper}_FLAGS, {dialect}:"), &flags);
        let addresses: Vec<String> = single(true).map(str::to_owned).collect();
        list(&mut page, &format!("addresses! {{ {upper}_ADDRESSES, {dialect}:"), &addresses);
        let structs: Vec<String> = items
            .iter()
            .filter_map(|item| match item {
                Item::Struct { name, fields, .. } => {
                    let fields: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
                    Some(format!("{name} ( {} )", fields.join(" ")))
                }
                _ => None,
            })
            .collect();
        list(&mut page, &format!("layouts! {{ {upper}_LAYOUTS, {dialect}:"), &structs);
    }
    page
}

/// A macro call over lines of at most 120 bytes.
fn list(page: &mut String, head: &str, words: &[String]) {
    page.push_str(&format!("\n{head}\n"));
    let mut line = String::new();
    for word in words.iter().flat_map(|words| words.split(' ')) {
        if line.len() + 5 + word.len() > 120 {
            page.push_str(&format!("    {}\n", line.trim_end()));
            line.clear();
        }
        line.push_str(word);
        line.push(' ');
    }
    page.push_str(&format!("    {}\n}}\n", line.trim_end()));
}
