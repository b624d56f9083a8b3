//! The symbols of a text and where each is declared.

use std::collections::{HashMap, HashSet};

use super::super::lexer::{Token, Tokens};
use super::declaration::{self, Declaration, Declarator};
use super::edit::Edits;
use super::item::{Item, Vocabulary};
use super::replacement::{Role, announced_type_name, type_name};
use super::{RewriteError, SymbolDecl, error};

/// All symbols of a text.
#[derive(Debug, Default)]
pub(super) struct Table<'s> {
    /// The symbols, in the order of their first declaration.
    pub symbols: Vec<SymbolDecl>,
    /// Where each is declared.
    pub known: HashMap<&'s str, Known>,
}

/// Where a symbol is declared; places are offsets in the text.
#[derive(Debug)]
pub(super) struct Known {
    /// Its index among the symbols.
    pub index: usize,
    /// The first declaration.
    pub declared: usize,
    /// The first definition; an `extern` declaration counts only where there is nothing else.
    defined: Option<usize>,
    /// The conditional branches that define it.
    branches: Vec<u32>,
}

impl<'s> Table<'s> {
    /// Reads the declarations among `items`.
    pub(super) fn read(
        code: &Tokens<'s>,
        vocabulary: &Vocabulary<'_>,
        items: &[Item],
    ) -> Result<(Self, Vec<Declaration>), RewriteError> {
        let mut table = Self::default();
        let mut declarations = Vec::new();
        for item in items.iter().filter(|item| item.declares_symbols()) {
            let declaration = declaration::parse(code, item, vocabulary)?;
            for declarator in &declaration.declarators {
                table.add(code, &declaration, declarator)?;
            }
            declarations.push(declaration);
        }
        table.check_sizes(code, &declarations)?;
        Ok((table, declarations))
    }

    fn add(&mut self, code: &Tokens<'s>, of: &Declaration, one: &Declarator) -> Result<(), RewriteError> {
        let Some(Token { text, at, line, branch, .. }) = code.get(one.name).copied() else {
            return Ok(());
        };
        let type_text = of.type_text(code, one);
        let known = self.known.entry(text).or_insert_with(|| {
            let name = text.to_owned();
            self.symbols.push(SymbolDecl {
                name,
                space: of.space,
                line,
                type_text: type_text.clone(),
                has_initializer: false,
            });
            Known { index: self.symbols.len() - 1, declared: at, defined: None, branches: Vec::new() }
        });
        let symbol = &mut self.symbols[known.index];
        if symbol.space != of.space {
            return error(line, format!("`{text}` is `__constant__` in one place and `__device__` in another"));
        }
        if of.is_extern {
            return Ok(());
        }
        if known.branches.contains(&branch) {
            let message = format!("`{text}` is defined a second time; remove one");
            return Err(RewriteError { line, message, first: Some(symbol.line) });
        }
        if known.defined.is_none() {
            known.defined = Some(at);
            symbol.line = line;
            symbol.type_text = type_text;
        }
        known.branches.push(branch);
        symbol.has_initializer |= one.has_initializer;
        Ok(())
    }

    /// Refuses arrays whose length nothing tells.
    fn check_sizes(&self, code: &Tokens<'s>, declarations: &[Declaration]) -> Result<(), RewriteError> {
        for (of, one) in declarations.iter().flat_map(|of| of.declarators.iter().map(move |one| (of, one))) {
            let Some(name) = code.get(one.name) else {
                continue;
            };
            let announces = of.is_extern && self.known.get(name.text).is_some_and(|known| known.defined.is_some());
            if one.is_open && !one.has_initializer && !announces {
                return error(
                    name.line,
                    format!("the length of `{}` is missing; write it between the brackets", name.text),
                );
            }
        }
        Ok(())
    }

    /// Puts the new text in the place of all declarations.
    pub(super) fn replace(&self, code: &Tokens<'s>, declarations: &[Declaration], edits: &mut Edits) {
        let mut seen: HashSet<(&str, u32)> = HashSet::new();
        for (ordinal, of) in declarations.iter().enumerate() {
            let mut roles = Vec::new();
            for name in of.declarators.iter().filter_map(|one| code.get(one.name)) {
                let defined = self.known.get(name.text).is_some_and(|known| known.defined.is_some());
                roles.push(match (of.is_extern, defined) {
                    (false, _) => Role::Definition,
                    _ if !seen.insert((name.text, name.branch)) => Role::Repetition,
                    (true, true) => Role::Announcement,
                    (true, false) => Role::Definition,
                });
            }
            of.replace(code, ordinal, &roles, edits);
        }
    }

    /// The hidden parameter of a symbol, as it is declared.
    pub(super) fn parameter(&self, symbol: usize) -> String {
        format!("{} void *{}", self.symbols[symbol].space.keyword(), self.argument(symbol))
    }

    /// The hidden parameter of a symbol, as it is passed on.
    pub(super) fn argument(&self, symbol: usize) -> String {
        format!("gridcl_sym_{}", self.symbols[symbol].name)
    }

    /// What stands for a symbol at the offset `at`; in macros there is none.
    pub(super) fn access(&self, symbol: usize, pointer: &str, at: Option<usize>) -> String {
        let SymbolDecl { name, space, .. } = &self.symbols[symbol];
        let defined = self.known.get(name.as_str()).and_then(|known| known.defined);
        let announced = defined.zip(at).is_some_and(|(defined, at)| at < defined);
        let of = if announced { announced_type_name(name) } else { type_name(name) };
        format!("(*({} {of} *){pointer})", space.keyword())
    }
}
