//! Which symbols, functions and macros a piece of code mentions.
//!
//! Follows C's scopes far enough to know when a local name hides a symbol: parameters, declarations in blocks and
//! in the head of `for`. Members, labels and tags are not uses. It does not know types, so it reads `a * b;` as C
//! does when `a` is one.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::super::lexer::{Kind, Tokens};
use super::item::tag_end;
use super::local::{declared, parameters, statement_end};

/// The names that matter; all others are passed over.
#[derive(Debug, Default)]
pub(super) struct Names<'s> {
    /// Symbols: index, and the offset in the text from which on they are declared.
    pub symbols: HashMap<&'s str, (usize, usize)>,
    /// Functions of the text.
    pub functions: HashSet<&'s str>,
    /// Macros of the text, and whether one may stand for a type.
    pub macros: HashMap<&'s str, bool>,
}

impl Names<'_> {
    fn contain(&self, name: &str) -> bool {
        self.symbols.contains_key(name) || self.functions.contains(name) || self.macros.contains_key(name)
    }
}

/// What is mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target<'s> {
    /// A symbol, by index.
    Symbol(usize),
    /// A symbol of which only the size is asked.
    SizeOf(usize),
    /// A function, with the bracket that closes the arguments if it is called.
    Function(&'s str, Option<usize>),
    /// A macro.
    Macro(&'s str),
}

/// One mention.
#[derive(Clone, Debug)]
pub(super) struct Use<'s> {
    /// The token that mentions it.
    pub token: usize,
    /// What it mentions.
    pub target: Target<'s>,
    /// Names that a local declaration hides there; kept for macros only.
    pub hidden: Vec<&'s str>,
}

/// Where a piece of code stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a function: names count once they are declared.
    Code,
    /// In a `#define`: names count wherever they are declared.
    Macro,
}

/// Finds the mentions in `range`, in which the `parameters` are local names.
pub(super) fn uses<'s>(
    tokens: &Tokens<'s>,
    range: Range<usize>,
    parameters: &[&'s str],
    names: &Names<'s>,
    place: Place,
) -> Vec<Use<'s>> {
    let mut walk = Walk {
        tokens,
        names,
        place,
        end: range.end,
        blocks: vec![range.end],
        for_head_end: 0,
        in_case: false,
        hidden: Vec::new(),
        starts: HashSet::from([range.start]),
        declared: HashSet::new(),
        found: Vec::new(),
    };
    parameters.iter().for_each(|name| walk.hide(name, range.end));
    walk.run(range.start);
    walk.found
}

struct Walk<'a, 's> {
    tokens: &'a Tokens<'s>,
    names: &'a Names<'s>,
    place: Place,
    end: usize,
    /// Ends of the open scopes, innermost last.
    blocks: Vec<usize>,
    /// Where the head of the current `for` ends: its semicolons start no statement.
    for_head_end: usize,
    in_case: bool,
    /// Local names that matter, each with the end of its scope.
    hidden: Vec<(&'s str, usize)>,
    /// Tokens at which a statement starts.
    starts: HashSet<usize>,
    /// Tokens that declare a local name.
    declared: HashSet<usize>,
    found: Vec<Use<'s>>,
}

impl<'s> Walk<'_, 's> {
    fn run(&mut self, start: usize) {
        let mut at = start;
        while at < self.end {
            while self.blocks.len() > 1 && self.blocks.last().is_some_and(|&end| end <= at) {
                self.blocks.pop();
            }
            while self.hidden.pop_if(|(_, end)| *end <= at).is_some() {}
            at = self.token(at);
        }
    }

    /// Takes the token at `at` and gives the index of the next one.
    fn token(&mut self, at: usize) -> usize {
        let starts = self.starts.remove(&at);
        if starts {
            self.declared.extend(declared(self.tokens, at..self.end, &self.names.macros));
        }
        let Some(token) = self.tokens.get(at).copied() else {
            return self.end;
        };
        match token.text {
            _ if token.kind == Kind::LooseBracket => self.start(at + 1),
            ";" if at >= self.for_head_end => self.start(at + 1),
            "}" | "else" | "do" => self.start(at + 1),
            ":" if self.in_case => {
                self.in_case = false;
                self.start(at + 1);
            }
            "{" if starts || self.tokens.follows(at, "(") => self.block(at),
            "^" if self.tokens.is(at + 1, "(") => self.closure(at + 1),
            "for" => self.for_loop(at),
            "case" | "default" => self.in_case = true,
            "struct" | "union" => return self.members(at),
            "enum" => self.enumerators(at),
            _ if token.is_word() && starts && self.tokens.is(at + 1, ":") => {
                self.start(at + 2);
                return at + 1;
            }
            _ if token.is_word() => {
                self.name(at, token.text);
                self.controlled(at, starts);
            }
            _ => {}
        }
        at + 1
    }

    fn start(&mut self, at: usize) {
        self.starts.insert(at);
    }

    fn scope_end(&self) -> usize {
        self.blocks.last().copied().unwrap_or(self.end)
    }

    /// Opens the block at `at`.
    fn block(&mut self, at: usize) {
        self.blocks.push(self.tokens.partner(at).unwrap_or(self.end).min(self.scope_end()));
        self.start(at + 1);
    }

    /// Lets a statement start behind `if (..)`, `while (..)` and macros that work like them.
    fn controlled(&mut self, at: usize, starts: bool) {
        let statement = self.tokens.after(at + 1);
        let keyword = matches!(self.tokens.word(at), Some("if" | "while" | "switch"));
        if self.tokens.is(at + 1, "(") && (keyword || starts && self.tokens.is(statement, "{")) {
            self.start(statement);
        }
    }

    /// Opens the scope of a `for` at `at`, which reaches over its statement.
    fn for_loop(&mut self, at: usize) {
        if !self.tokens.is(at + 1, "(") {
            return;
        }
        let statement = self.tokens.after(at + 1);
        self.for_head_end = self.for_head_end.max(statement);
        self.start(statement);
        let names = declared(self.tokens, at + 2..self.end, &self.names.macros);
        let matters = |&name: &usize| self.tokens.word(name).is_some_and(|name| self.names.contain(name));
        if names.iter().any(matters) {
            self.blocks.push(statement_end(self.tokens, statement, self.scope_end()));
            self.declared.extend(names);
        }
    }

    /// Opens the block literal whose parameters stand at `open`.
    fn closure(&mut self, open: usize) {
        let block = self.tokens.after(open);
        if self.tokens.is(block, "{") {
            let end = self.tokens.partner(block).unwrap_or(self.end).min(self.scope_end());
            for name in parameters(self.tokens, open, block - 1) {
                self.hide(name, end);
            }
            self.start(block);
        }
    }

    /// Passes over the members of a struct; they hide nothing.
    fn members(&mut self, at: usize) -> usize {
        tag_end(self.tokens, at).max(at + 1)
    }

    /// Notes the constants of an enum.
    fn enumerators(&mut self, at: usize) {
        let end = tag_end(self.tokens, at);
        let names = (at + 1..end).filter(|&i| self.tokens.follows(i, "{") || self.tokens.follows(i, ","));
        self.declared.extend(names);
    }

    /// Hides `name` up to `end`.
    fn hide(&mut self, name: &'s str, end: usize) {
        if self.names.contain(name) && self.hidden.last() != Some(&(name, end)) {
            self.hidden.push((name, end));
        }
    }

    /// Takes the word at `at`.
    fn name(&mut self, at: usize, name: &'s str) {
        if !self.names.contain(name) {
            return;
        }
        if self.declared.contains(&at) {
            return self.hide(name, self.scope_end());
        }
        let (before, after) = (|text| self.tokens.follows(at, text), |text| self.tokens.is(at + 1, text));
        // In a macro, `#name` and `name##x` keep the name as text.
        let pasted = before("#") || before("##") || after("##");
        if before(".") || before("->") || before("goto") || before("enum") || pasted {
            return;
        }
        if let Some((macro_name, _)) = self.names.macros.get_key_value(name) {
            let hidden = self.hidden.iter().map(|(name, _)| *name).collect();
            self.found.push(Use { token: at, target: Target::Macro(macro_name), hidden });
        }
        if self.hidden.iter().any(|(hidden, _)| *hidden == name) {
            return;
        }
        if let Some(target) = self.target(at, name) {
            self.found.push(Use { token: at, target, hidden: Vec::new() });
        }
    }

    /// The symbol or function that `name` means at `at`.
    fn target(&self, at: usize, name: &'s str) -> Option<Target<'s>> {
        if let Some(&(symbol, declared)) = self.names.symbols.get(name) {
            let visible = self.place == Place::Macro || self.tokens.get(at).is_some_and(|t| t.at > declared);
            let target = if is_sizeof(self.tokens, at) { Target::SizeOf(symbol) } else { Target::Symbol(symbol) };
            return visible.then_some(target);
        }
        let call = self.tokens.is(at + 1, "(").then(|| self.tokens.partner(at + 1)).flatten();
        self.names.functions.get(name).map(|function| Target::Function(function, call))
    }
}

/// Whether the word at `at` is what a `sizeof` measures; nothing is read there.
pub(super) fn is_sizeof(tokens: &Tokens<'_>, at: usize) -> bool {
    let open = at.saturating_sub(1);
    tokens.follows(at, "sizeof") || tokens.follows(at, "(") && tokens.follows(open, "sizeof")
}
