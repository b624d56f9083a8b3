//! Hands the symbols to those who use them: parameters, arguments and the uses themselves.

use std::collections::BTreeMap;

use super::super::lexer::{Scan, Tokens};
use super::edit::Edits;
use super::graph::{Graph, Needs, Node};
use super::item::Item;
use super::local::parameters;
use super::table::Table;
use super::usage::{Names, Place, Target, Use, is_sizeof, uses};
use super::{RewriteError, error};

/// Rewrites all functions and macros; says which kernel takes which symbols.
pub(super) fn run<'s>(
    scan: &Scan<'s>,
    items: &[Item],
    table: &Table<'s>,
    edits: &mut Edits,
) -> Result<BTreeMap<String, Vec<usize>>, RewriteError> {
    let names = names(scan, items, table);
    let bodies: Vec<(&Item, Vec<Use<'s>>)> = items.iter().filter_map(|item| body_uses(scan, item, &names)).collect();
    let macros: Vec<Vec<Use<'s>>> = scan
        .macros
        .iter()
        .map(|definition| {
            let body = &definition.body;
            uses(body, 0..body.len(), &definition.parameters, &names, Place::Macro)
        })
        .collect();
    let mut graph = Graph::default();
    for (item, uses) in &bodies {
        let heads = item.heads.iter().filter_map(|head| scan.code.word(head.name));
        heads.for_each(|name| graph.add(Node::Function(name), uses));
    }
    for (definition, uses) in scan.macros.iter().zip(&macros) {
        graph.add(Node::Macro(definition.name.text), uses);
    }
    let pass = Pass { code: &scan.code, table, needs: graph.needs(), macro_needs: graph.macro_needs() };
    for (item, uses) in &bodies {
        pass.check_body(item, uses)?;
        pass.rewrite_uses(&scan.code, uses, Place::Code, edits)?;
    }
    for (definition, uses) in scan.macros.iter().zip(&macros) {
        pass.rewrite_uses(&definition.body, uses, Place::Macro, edits)?;
    }
    for item in items {
        pass.rewrite_outside(item, &names, edits)?;
    }
    Ok(pass.rewrite_heads(items, edits))
}

/// All names that can lead to a symbol.
fn names<'s>(scan: &Scan<'s>, items: &[Item], table: &Table<'s>) -> Names<'s> {
    let heads = items.iter().flat_map(|item| &item.heads);
    let type_like = |body: &Tokens<'_>| {
        let tokens = body.slice(0..body.len());
        !tokens.is_empty() && !tokens.iter().any(|token| token.is(";") || token.is("}"))
    };
    Names {
        symbols: table.known.iter().map(|(name, known)| (*name, (known.index, known.declared))).collect(),
        functions: heads.filter_map(|head| scan.code.word(head.name)).collect(),
        macros: scan.macros.iter().map(|definition| (definition.name.text, type_like(&definition.body))).collect(),
    }
}

/// The mentions in the body of a function.
fn body_uses<'a, 's>(scan: &Scan<'s>, item: &'a Item, names: &Names<'s>) -> Option<(&'a Item, Vec<Use<'s>>)> {
    let body = item.body.clone()?;
    let mut locals = Vec::new();
    for head in &item.heads {
        if let Some(open) = scan.code.partner(head.close) {
            locals.extend(parameters(&scan.code, open, head.close));
        }
    }
    Some((item, uses(&scan.code, body, &locals, names, Place::Code)))
}

struct Pass<'a, 's> {
    code: &'a Tokens<'s>,
    table: &'a Table<'s>,
    needs: Needs<'s>,
    macro_needs: Needs<'s>,
}

impl<'s> Pass<'_, 's> {
    /// The first symbol that a mention needs.
    fn first_need(&self, one: &Use<'s>) -> Option<usize> {
        match one.target {
            Target::Symbol(symbol) => Some(symbol),
            Target::SizeOf(_) => None,
            Target::Function(name, _) => self.needs.of(Node::Function(name)).next(),
            Target::Macro(name) => self.needs.of(Node::Macro(name)).next(),
        }
    }

    fn name(&self, symbol: usize) -> &str {
        &self.table.symbols[symbol].name
    }

    /// Refuses what a change of the text cannot express.
    fn check_body(&self, item: &Item, uses: &[Use<'s>]) -> Result<(), RewriteError> {
        for one in uses {
            let line = self.code.get(one.token).map_or(1, |token| token.line);
            if let Some(symbol) = self.first_need(one).filter(|_| item.heads.is_empty()) {
                let name = self.name(symbol);
                return error(
                    line,
                    format!("a macro names this function, which uses the symbol `{name}`; write it out"),
                );
            }
            let Target::Macro(name) = one.target else {
                continue;
            };
            let mut needed = self.macro_needs.of(Node::Macro(name));
            if let Some(symbol) = needed.find(|&symbol| one.hidden.contains(&self.name(symbol))) {
                let hidden = self.name(symbol);
                return error(
                    line,
                    format!("the macro `{name}` uses the symbol `{hidden}`, which a local name hides here; rename one"),
                );
            }
        }
        Ok(())
    }

    /// Replaces symbols and passes them on in calls.
    fn rewrite_uses(
        &self,
        tokens: &Tokens<'s>,
        uses: &[Use<'s>],
        place: Place,
        edits: &mut Edits,
    ) -> Result<(), RewriteError> {
        for one in uses {
            let Some(token) = tokens.get(one.token) else {
                continue;
            };
            let at = (place == Place::Code).then_some(token.at);
            match one.target {
                Target::Symbol(symbol) => {
                    let pointer = self.table.argument(symbol);
                    edits.replace(token.bytes(), self.table.access(symbol, &pointer, at));
                }
                Target::SizeOf(symbol) => edits.replace(token.bytes(), self.table.access(symbol, "0", at)),
                Target::Function(name, Some(close)) => {
                    let arguments = self.needs.of(Node::Function(name)).map(|symbol| self.table.argument(symbol));
                    append(tokens, close, &arguments.collect::<Vec<_>>(), edits);
                }
                Target::Function(name, None) => {
                    if let Some(symbol) = self.first_need(one) {
                        let symbol = self.name(symbol);
                        let message =
                            format!("`{name}` uses the symbol `{symbol}`, so it can only be called, as `{name}(..)`");
                        return error(token.line, message);
                    }
                }
                Target::Macro(_) => {}
            }
        }
        Ok(())
    }

    /// Looks after the mentions outside of function bodies, where only the size of a symbol can be had.
    fn rewrite_outside(&self, item: &Item, names: &Names<'s>, edits: &mut Edits) -> Result<(), RewriteError> {
        let code = self.code;
        for (at, token) in item.header().filter_map(|at| code.get(at).map(|token| (at, token))) {
            if !token.is_word() || code.follows(at, ".") || code.follows(at, "->") {
                continue;
            }
            if let Some(symbol) = self.needs.of(Node::Macro(token.text)).next() {
                let (name, symbol) = (token.text, self.name(symbol));
                let message =
                    format!("the macro `{name}` uses the symbol `{symbol}` outside of a function; write it out");
                return error(token.line, message);
            }
            let Some(&(symbol, declared)) = names.symbols.get(token.text) else {
                continue;
            };
            if token.at <= declared {
                continue;
            }
            if is_sizeof(code, at) {
                edits.replace(token.bytes(), self.table.access(symbol, "0", Some(token.at)));
            } else if item.equals.is_some_and(|equals| at > equals) {
                let name = token.text;
                return error(
                    token.line,
                    format!("the symbol `{name}` is used outside of a function; set this at run time"),
                );
            }
        }
        Ok(())
    }

    /// Adds the hidden parameters to definitions and prototypes; says which kernel takes which symbols.
    fn rewrite_heads(&self, items: &[Item], edits: &mut Edits) -> BTreeMap<String, Vec<usize>> {
        let mut hidden = BTreeMap::new();
        for item in items {
            for head in &item.heads {
                let Some(name) = self.code.word(head.name).filter(|name| self.needs.any(Node::Function(name))) else {
                    continue;
                };
                let symbols: Vec<usize> = self.needs.of(Node::Function(name)).collect();
                let parameters: Vec<String> = symbols.iter().map(|&symbol| self.table.parameter(symbol)).collect();
                append(self.code, head.close, &parameters, edits);
                if item.kernel && item.body.is_some() {
                    hidden.insert(name.to_owned(), symbols);
                }
            }
        }
        hidden
    }
}

/// Appends `texts` to the list that the bracket at `close` closes.
fn append(tokens: &Tokens<'_>, close: usize, texts: &[String], edits: &mut Edits) {
    let (Some(end), Some(open)) = (tokens.get(close), tokens.partner(close)) else {
        return;
    };
    let text = texts.join(", ");
    if text.is_empty() {
        return;
    }
    match tokens.get(open + 1) {
        Some(only) if only.is("void") && open + 2 == close => edits.replace(only.bytes(), text),
        _ if open + 1 == close => edits.insert(end.at, text),
        _ => edits.insert(end.at, format!(", {text}")),
    }
}
