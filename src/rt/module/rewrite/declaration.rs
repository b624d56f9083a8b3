//! The declaration of one or more symbols, read.
//!
//! Understands what C allows in front of `;`: specifiers in any order, attributes, several declarators,
//! initialisers. It refuses pointers to functions and arrays. [`super::replacement`] makes the text that takes its
//! place.

use std::ops::Range;

use super::super::lexer::Tokens;
use super::item::{Item, Vocabulary, is_builtin_type, is_qualifier, is_space, is_storage, is_type_word, tag_end};
use super::{RewriteError, Space};

/// A parsed declaration; all positions are tokens.
#[derive(Debug)]
pub(super) struct Declaration {
    /// Where its symbols live.
    pub space: Space,
    /// Whether it says `extern` and gives no value.
    pub is_extern: bool,
    /// What it declares.
    pub declarators: Vec<Declarator>,
    /// Everything in front of the first declarator.
    pub specifiers: Range<usize>,
    /// The attributes among the specifiers; they belong to the symbols, not to the type.
    pub attributes: Vec<Range<usize>>,
    /// Words of the specifiers that the type does not need.
    pub dropped: Vec<usize>,
    /// The address space that the text itself names for the target of a pointer.
    pub target_space: Option<usize>,
    type_words: String,
}

/// One symbol of a declaration.
#[derive(Debug)]
pub(super) struct Declarator {
    /// The name.
    pub name: usize,
    /// Whether there is an initialiser.
    pub has_initializer: bool,
    /// Whether the first dimension is left to the initialiser.
    pub is_open: bool,
    /// The first token, which may be a `*`.
    pub start: usize,
    /// The brackets behind the name.
    pub dimensions: Vec<Range<usize>>,
    /// The first token behind name, dimensions and attributes.
    pub tail: usize,
    /// The `,` or `;` behind it.
    pub end: usize,
}

/// Reads the declaration in `item`.
pub(super) fn parse(code: &Tokens<'_>, item: &Item, vocabulary: &Vocabulary<'_>) -> Result<Declaration, RewriteError> {
    let mut parser = Parser { code, vocabulary, at: item.range.start, end: item.range.end };
    let mut declaration = parser.specifiers()?;
    loop {
        let declarator = parser.declarator()?;
        let done = !code.is(declarator.end, ",");
        declaration.is_extern &= !declarator.has_initializer;
        declaration.declarators.push(declarator);
        if done {
            return Ok(declaration);
        }
        parser.at += 1;
    }
}

struct Parser<'a, 's> {
    code: &'a Tokens<'s>,
    vocabulary: &'a Vocabulary<'s>,
    at: usize,
    end: usize,
}

impl Parser<'_, '_> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T, RewriteError> {
        let at = self.at.min(self.end.saturating_sub(1));
        let line = self.code.get(at).map_or(1, |token| token.line);
        Err(RewriteError { line, message: message.into(), first: None })
    }

    /// Reads everything in front of the first declarator.
    fn specifiers(&mut self) -> Result<Declaration, RewriteError> {
        let (code, start) = (self.code, self.at);
        let mut found = Declaration::empty(start);
        let mut typed = false;
        while self.at < self.end {
            let at = self.at;
            let past = self.vocabulary.attribute_end(code, at);
            if past > at {
                found.attributes.push(at..past);
                self.at = past;
                continue;
            }
            let Some(word) = code.word(at) else { break };
            self.refuse(word)?;
            let call = code.is(at + 1, "(");
            if typed && call && !is_type_word(word) {
                // A macro with arguments beside the type: most likely an attribute.
                self.at = code.after(at + 1);
                found.attributes.push(at..self.at);
                continue;
            }
            if self.drops(word, &mut found) {
                self.at += 1;
                continue;
            }
            match word {
                "struct" | "union" | "enum" => self.at = tag_end(code, at),
                _ if is_qualifier(word) || is_builtin_type(word) => self.at += 1,
                _ if typed && self.ends_name(at + 1) => break,
                _ if call => self.at = code.after(at + 1),
                _ => self.at += 1,
            }
            typed |= !is_qualifier(word);
            push_words(&mut found.type_words, code, at..self.at);
        }
        found.specifiers = start..self.at;
        if typed { Ok(found) } else { self.error("a symbol needs a type, as in `__device__ int counter;`") }
    }

    /// Refuses words that no symbol can have.
    fn refuse(&self, word: &str) -> Result<(), RewriteError> {
        match word {
            "__shared__" | "__local" | "local" => {
                self.error("work-group memory cannot be a symbol; declare it `__local` inside the kernel")
            }
            "__managed__" => self.error("`__managed__` symbols are not supported; use `__device__` and copy"),
            _ => Ok(()),
        }
    }

    /// Notes `word` if it is not part of the type.
    fn drops(&self, word: &str, found: &mut Declaration) -> bool {
        let marker = self.vocabulary.is_marker(word);
        if self.vocabulary.meaning(word).constant {
            found.space = Space::Constant;
        }
        if is_space(word) {
            found.target_space = Some(self.at);
        }
        found.is_extern |= word == "extern";
        let drops = marker || is_storage(word) || is_space(word);
        if drops {
            found.dropped.push(self.at);
        }
        drops
    }

    /// Whether a name may end in front of the token at `at`.
    fn ends_name(&self, at: usize) -> bool {
        at >= self.end
            || ["[", ",", "=", ";"].iter().any(|mark| self.code.is(at, mark))
            || self.vocabulary.attribute_end(self.code, at) > at
    }

    fn declarator(&mut self) -> Result<Declarator, RewriteError> {
        let (code, start) = (self.code, self.at);
        while code.is(self.at, "*") || code.word(self.at).is_some_and(|word| is_qualifier(word) || is_space(word)) {
            self.at += 1;
        }
        if code.is(self.at, "(") {
            return self
                .error("a symbol cannot be a pointer to a function or an array; give the type a name by `typedef`");
        }
        let name = self.at;
        if name >= self.end || code.word(name).is_none() {
            return self.error("`__constant__` or `__device__` without a variable; remove it or name one");
        }
        self.at += 1;
        let mut dimensions = Vec::new();
        while code.is(self.at, "[") {
            dimensions.push(self.at..code.after(self.at));
            self.at = code.after(self.at);
        }
        let tail = self.find(&["=", ",", ";"]);
        let has_initializer = code.is(tail, "=");
        let end = if has_initializer { self.find(&[",", ";"]) } else { tail };
        if end >= self.end {
            return self.error("the declaration of this symbol does not end; is a `;` missing?");
        }
        let is_open = dimensions.first().is_some_and(|first| first.len() == 2);
        Ok(Declarator { name, has_initializer, is_open, start, dimensions, tail, end })
    }

    /// Moves to the next of `marks` outside of brackets.
    fn find(&mut self, marks: &[&str]) -> usize {
        while self.at < self.end && !marks.iter().any(|mark| self.code.is(self.at, mark)) {
            self.at = self.code.after(self.at);
        }
        self.at
    }
}

/// Appends the words of a type to `text`, without the members of a struct.
fn push_words(text: &mut String, code: &Tokens<'_>, range: Range<usize>) {
    let mut at = range.start;
    while at < range.end {
        if let Some(word) = code.get(at).filter(|token| !token.is("{")) {
            let glued = text.is_empty() || !word.is_word() || text.ends_with('(');
            text.push_str(if glued { "" } else { " " });
            text.push_str(word.text);
        }
        at = if code.is(at, "{") { code.after(at) } else { at + 1 };
    }
}

/// The tokens of `range` as text on one line.
pub(super) fn joined(code: &Tokens<'_>, range: Range<usize>) -> String {
    code.slice(range).iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
}

impl Declaration {
    fn empty(start: usize) -> Self {
        Self {
            space: Space::Device,
            is_extern: false,
            declarators: Vec::new(),
            specifiers: start..start,
            attributes: Vec::new(),
            dropped: Vec::new(),
            target_space: None,
            type_words: String::new(),
        }
    }

    /// The type of `declarator` for messages, as in `float[256]`.
    pub(super) fn type_text(&self, code: &Tokens<'_>, declarator: &Declarator) -> String {
        let stars = code.slice(declarator.start..declarator.name).iter().filter(|token| token.is("*")).count();
        let dimensions: String = declarator.dimensions.iter().map(|range| joined(code, range.clone())).collect();
        format!("{}{}{}", self.type_words, "*".repeat(stars), dimensions.replace(' ', ""))
    }
}
