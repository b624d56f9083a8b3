//! The paths that a file mentions: in `use` trees, taken apart, and inline.

use crate::lex::Token;

/// One path as it is written, and where.
#[derive(Debug)]
pub(crate) struct Mention {
    /// Its segments; the last of a glob import is `*`.
    pub(crate) path: Vec<String>,
    pub(crate) role: Role,
    /// The module that it stands in, from the crate root.
    pub(crate) module: Vec<String>,
    pub(crate) line: usize,
}

/// What a path is mentioned for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Imported under this name.
    Import(String),
    /// Imported with everything in it.
    Glob,
    /// Called as a macro.
    Macro,
    /// Anything else.
    Inline,
}

/// All paths of at least two segments, and all imports, in the code of the file that holds `module`.
pub(crate) fn mentions(tokens: &[Token<'_>], module: &[String]) -> Vec<Mention> {
    let mut finder = Finder { tokens, at: 0, module: module.to_vec(), braces: Vec::new(), found: Vec::new() };
    while finder.at < tokens.len() {
        finder.step();
    }
    finder.found
}

struct Finder<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    module: Vec<String>,
    /// For each open brace, whether it opened a module.
    braces: Vec<bool>,
    found: Vec<Mention>,
}

impl<'a> Finder<'a> {
    fn text(&self, ahead: usize) -> &'a str {
        self.tokens.get(self.at + ahead).map_or("", |token| token.text)
    }

    fn word(&self, ahead: usize) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(|token| token.is_word())
    }

    fn step(&mut self) {
        match self.text(0) {
            "mod" if self.word(1) && self.text(2) == "{" => {
                self.module.push(self.text(1).to_owned());
                self.braces.push(true);
                self.at += 3;
            }
            "{" => {
                self.braces.push(false);
                self.at += 1;
            }
            "}" => {
                if self.braces.pop() == Some(true) {
                    self.module.pop();
                }
                self.at += 1;
            }
            "use" => {
                self.at += 1;
                self.use_tree(Vec::new());
            }
            "extern" if self.text(1) == "crate" && self.word(2) => {
                self.at += 2;
                self.use_tree(Vec::new());
            }
            _ if self.word(0) => self.inline(),
            _ => self.at += 1,
        }
    }

    fn inline(&mut self) {
        let start = self.at;
        let mut path = vec![self.text(0).to_owned()];
        self.at += 1;
        while self.text(0) == "::" && self.word(1) {
            path.push(self.text(1).to_owned());
            self.at += 2;
        }
        if path.len() > 1 {
            let is_macro = self.text(0) == "!" && self.text(1) != "=";
            let role = if is_macro { Role::Macro } else { Role::Inline };
            self.note(path, role, start);
        }
    }

    /// Takes apart the tree at the front; each leaf becomes an import of `path` with its segments added.
    fn use_tree(&mut self, mut path: Vec<String>) {
        loop {
            match self.text(0) {
                "::" | "$" => self.at += 1,
                "*" => {
                    path.push("*".to_owned());
                    self.note(path, Role::Glob, self.at);
                    self.at += 1;
                    return;
                }
                "{" => {
                    self.at += 1;
                    self.use_list(&path);
                    return;
                }
                segment if self.word(0) => {
                    let start = self.at;
                    self.at += 1;
                    // `a::{self}` imports `a`.
                    if segment != "self" || path.is_empty() {
                        path.push(segment.to_owned());
                    }
                    if self.text(0) == "::" {
                        continue;
                    }
                    let mut name = path.last().cloned().unwrap_or_default();
                    if self.text(0) == "as" {
                        name = self.text(1).to_owned();
                        self.at += 2;
                    }
                    self.note(path, Role::Import(name), start);
                    return;
                }
                _ => return,
            }
        }
    }

    /// The branches of a tree, after its opening brace.
    fn use_list(&mut self, path: &[String]) {
        loop {
            self.use_tree(path.to_vec());
            match self.text(0) {
                "," => self.at += 1,
                "}" => {
                    self.at += 1;
                    return;
                }
                // Not a tree after all, such as a macro's repetition.
                _ => return,
            }
        }
    }

    fn note(&mut self, path: Vec<String>, role: Role, at: usize) {
        let line = self.tokens.get(at).map_or(0, |token| token.line);
        let module = self.module.clone();
        self.found.push(Mention { path, role, module, line });
    }
}
