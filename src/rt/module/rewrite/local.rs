//! Local names: what a declaration inside of a function declares and how far it reaches.

use std::collections::HashMap;
use std::ops::Range;

use super::super::lexer::Tokens;
use super::item::{attribute_end, is_builtin_type, is_qualifier, is_space, tag_end};

/// The names of the parameters between `open` and its partner.
pub(super) fn parameters<'s>(tokens: &Tokens<'s>, open: usize, close: usize) -> Vec<&'s str> {
    let mut names = Vec::new();
    let mut at = open + 1;
    while at < close {
        let (mut words, mut name) = (0, None);
        while at < close && !tokens.is(at, ",") {
            let past = attribute_end(tokens, at);
            if past > at {
                at = past;
                continue;
            }
            if tokens.is(at, "(") && tokens.is(at + 1, "*") {
                // A pointer to an array or a function: the name is inside.
                name = tokens.slice(at + 1..tokens.after(at)).iter().rfind(|token| token.is_word()).map(|t| t.text);
                words = 2;
            } else if let Some(word) = tokens.word(at) {
                (words, name) = (words + 1, Some(word));
            } else if tokens.is(at, "*") {
                words += 1;
            }
            at = tokens.after(at);
        }
        names.extend(name.filter(|_| words > 1));
        at += 1;
    }
    names
}

/// The tokens that name what a declaration at the start of `range` declares; none if there is no declaration.
///
/// `macros` tells of each macro whether it may stand for a type.
pub(super) fn declared(tokens: &Tokens<'_>, range: Range<usize>, macros: &HashMap<&str, bool>) -> Vec<usize> {
    let mut names = Vec::new();
    let Some(mut at) = type_end(tokens, range.clone(), macros) else {
        return names;
    };
    loop {
        let (bracketed, name) = declarator(tokens, at);
        let next = name + 1;
        let plain = next >= range.end
            || attribute_end(tokens, next) > next
            || [";", ",", "=", "[", ")", ":"].iter().any(|mark| tokens.is(next, mark));
        if tokens.word(name).is_none() || !(plain || bracketed) {
            return names;
        }
        names.push(name);
        at = if bracketed { tokens.after(at) } else { next };
        while at < range.end && ![",", ";", ")", "}"].iter().any(|mark| tokens.is(at, mark)) {
            at = tokens.after(at);
        }
        if !tokens.is(at, ",") {
            return names;
        }
        at += 1;
    }
}

/// Passes over the type in front of a local name; none if no type can stand there.
fn type_end(tokens: &Tokens<'_>, range: Range<usize>, macros: &HashMap<&str, bool>) -> Option<usize> {
    let mut at = range.start;
    let mut typed = false;
    loop {
        at = attribute_end(tokens, at);
        let Some(word) = tokens.word(at).filter(|word| at < range.end && !is_statement(word)) else {
            break;
        };
        let passed = is_qualifier(word) || is_space(word) || macros.get(word) == Some(&false);
        match word {
            _ if passed => at += 1,
            "struct" | "union" | "enum" => at = tag_end(tokens, at),
            "typeof" | "__typeof__" | "__typeof" => at = tokens.after(at + 1),
            _ if is_builtin_type(word) => at += 1,
            _ if typed => break,
            _ if macros.contains_key(word) && tokens.is(at + 1, "(") => at = tokens.after(at + 1),
            _ => at += 1,
        }
        typed |= !passed;
    }
    typed.then_some(at)
}

/// The name that is declared at `at`, and whether it stands in brackets, as in `(*name)[4]`.
fn declarator(tokens: &Tokens<'_>, at: usize) -> (bool, usize) {
    let skip = |mut at| {
        while tokens.is(at, "*") || tokens.word(at).is_some_and(|word| is_qualifier(word) || is_space(word)) {
            at += 1;
        }
        at
    };
    let at = skip(at);
    // `f(*p)` may be a call, so only a type of the language makes brackets a declaration.
    let typed = at > 0 && tokens.word(at - 1).is_some_and(is_builtin_type);
    let bracketed = typed && tokens.is(at, "(") && tokens.is(at + 1, "*");
    (bracketed, if bracketed { skip(at + 1) } else { at })
}

/// Whether `word` starts a statement that declares nothing.
fn is_statement(word: &str) -> bool {
    matches!(
        word,
        "return"
            | "goto"
            | "case"
            | "default"
            | "else"
            | "do"
            | "if"
            | "for"
            | "while"
            | "switch"
            | "break"
            | "continue"
            | "sizeof"
    )
}

/// The index behind the statement at `at`.
pub(super) fn statement_end(tokens: &Tokens<'_>, mut at: usize, end: usize) -> usize {
    // The `if` and `do` whose statement is being passed, innermost last.
    let mut open = Vec::new();
    while at < end {
        match tokens.word(at) {
            Some(word @ ("for" | "while" | "switch" | "if")) if tokens.is(at + 1, "(") => {
                if word == "if" {
                    open.push("if");
                }
                at = tokens.after(at + 1);
                continue;
            }
            Some("do") => {
                open.push("do");
                at += 1;
                continue;
            }
            _ => {}
        }
        while at < end && !tokens.is(at, ";") && !tokens.is(at, "{") {
            at = tokens.after(at);
        }
        at = tokens.after(at);
        loop {
            match open.pop() {
                Some("if") if tokens.is(at, "else") => {
                    at += 1;
                    break;
                }
                Some("do") => at = tokens.after(tokens.after(at + 1)),
                Some(_) => {}
                None => return at.min(end),
            }
        }
    }
    end
}
