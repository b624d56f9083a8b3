//! `__device__` and its like where they declare no symbol.
//!
//! In front of a function they are dropped, in the code and in macros that stand for them; anywhere else they are
//! errors.

use std::collections::HashSet;

use super::super::lexer::{Macro, Scan, Tokens};
use super::edit::Edits;
use super::item::{FUNCTION_HABITS, Item, Vocabulary};
use super::{RewriteError, error};

/// Drops the markers of functions and refuses those that stand where no symbol may.
pub(super) fn drop_from_functions(
    scan: &Scan<'_>,
    vocabulary: &Vocabulary<'_>,
    items: &[Item],
    edits: &mut Edits,
) -> Result<(), RewriteError> {
    let code = &scan.code;
    let macros: HashSet<&str> = scan.macros.iter().map(|definition| definition.name.text).collect();
    let mut placed: HashSet<usize> = HashSet::new();
    for item in items.iter().filter(|item| !item.markers.is_empty()) {
        placed.extend(&item.markers);
        if !item.declares_symbols() {
            for token in code.slice(item.header()).iter().filter(|token| is_habit(token.text, &macros)) {
                edits.replace(token.bytes(), "");
            }
            placed.extend(item.header());
        }
    }
    for definition in &scan.macros {
        drop_from_macro(definition, code, vocabulary, &macros, edits)?;
    }
    for (index, token) in code.slice(0..code.len()).iter().enumerate() {
        if is_marker(token.text, vocabulary, &macros) && !placed.contains(&index) {
            let message = format!("`{}` declares a symbol at file scope only; move the declaration there", token.text);
            return error(token.line, message);
        }
    }
    Ok(())
}

/// Drops the markers in a macro that stands for them or makes functions.
fn drop_from_macro(
    definition: &Macro<'_>,
    code: &Tokens<'_>,
    vocabulary: &Vocabulary<'_>,
    macros: &HashSet<&str>,
    edits: &mut Edits,
) -> Result<(), RewriteError> {
    let body = &definition.body;
    let tokens = body.slice(0..body.len());
    let Some(marker) = tokens.iter().find(|token| is_marker(token.text, vocabulary, macros)) else {
        return Ok(());
    };
    let name = definition.name.text;
    let makes_function = (1..body.len()).any(|at| body.is(at, "{") && body.follows(at, ")"));
    if vocabulary.is_marker(name) || makes_function {
        for token in tokens.iter().filter(|token| is_habit(token.text, macros)) {
            edits.replace(token.bytes(), "");
        }
    } else if code.slice(0..code.len()).iter().any(|token| token.is(name)) {
        let message = format!("the macro `{name}` declares a symbol; write `{}` and the declaration out", marker.text);
        return error(marker.line, message);
    }
    Ok(())
}

fn is_marker(word: &str, vocabulary: &Vocabulary<'_>, macros: &HashSet<&str>) -> bool {
    !macros.contains(word) && vocabulary.is_marker(word)
}

fn is_habit(word: &str, macros: &HashSet<&str>) -> bool {
    FUNCTION_HABITS.contains(&word) && !macros.contains(word)
}
