//! What stands at file scope: functions, prototypes, symbol declarations and the rest.
//!
//! [`items`] only finds where things are; it understands no types. It promises an item for every token at file scope,
//! for any input.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::super::lexer::{Kind, Macro, Scan, Tokens};

/// The words that declare a symbol; both sides underscored, unlike OpenCL's own `__constant`.
pub(super) const MARKERS: [&str; 2] = ["__constant__", "__device__"];

/// Words that CUDA puts in front of a function and OpenCL C does not know.
pub(super) const FUNCTION_HABITS: [&str; 4] = ["__constant__", "__device__", "__host__", "__forceinline__"];

/// What a word at the start of a declaration means to us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Meaning {
    /// Declares a symbol in constant memory.
    pub constant: bool,
    /// Declares a symbol in global memory.
    pub device: bool,
    /// Makes a function a kernel.
    pub kernel: bool,
}

/// The words that matter at the start of a declaration, among them macros that stand for such words.
#[derive(Debug)]
pub(super) struct Vocabulary<'s> {
    meanings: HashMap<&'s str, Meaning>,
    /// Macros that stand for attributes.
    attributes: HashSet<&'s str>,
}

impl<'s> Vocabulary<'s> {
    /// Learns the words from the macros of a text; a word that the text defines by itself is no longer ours.
    pub(super) fn new(macros: &[Macro<'s>]) -> Self {
        let mut words = HashMap::from([
            ("__constant__", Meaning { constant: true, ..Meaning::default() }),
            ("__device__", Meaning { device: true, ..Meaning::default() }),
            ("__kernel", Meaning { kernel: true, ..Meaning::default() }),
            ("kernel", Meaning { kernel: true, ..Meaning::default() }),
        ]);
        for definition in macros {
            words.remove(definition.name.text);
        }
        // A macro may stand for a macro that is defined later; chains are short.
        for _ in 0..4 {
            for definition in macros {
                if let Some(meaning) = alias(definition, &words) {
                    words.insert(definition.name.text, meaning);
                }
            }
        }
        let attributes = macros.iter().filter(|definition| attribute_end(&definition.body, 0) > 0);
        Self { meanings: words, attributes: attributes.map(|definition| definition.name.text).collect() }
    }

    /// The index behind the attributes at `at`, macros for them included; `at` itself where there are none.
    pub(super) fn attribute_end(&self, tokens: &Tokens<'_>, mut at: usize) -> usize {
        loop {
            let past = attribute_end(tokens, at);
            if past > at {
                at = past;
            } else if tokens.word(at).is_some_and(|word| self.attributes.contains(word) && !self.is_marker(word)) {
                at = if tokens.is(at + 1, "(") { tokens.after(at + 1) } else { at + 1 };
            } else {
                return at;
            }
        }
    }

    /// What `word` means; nothing for most words.
    pub(super) fn meaning(&self, word: &str) -> Meaning {
        self.meanings.get(word).copied().unwrap_or_default()
    }

    /// Whether `word` declares a symbol.
    pub(super) fn is_marker(&self, word: &str) -> bool {
        let meaning = self.meaning(word);
        meaning.constant || meaning.device
    }
}

/// The meaning of a macro that is nothing but words in front of a declaration, as in `#define DEV static __device__`.
fn alias(definition: &Macro<'_>, words: &HashMap<&str, Meaning>) -> Option<Meaning> {
    const FILLERS: [&str; 5] = ["static", "inline", "const", "extern", "volatile"];
    let body = &definition.body;
    let mut meaning = Meaning::default();
    let mut at = 0;
    while at < body.len() {
        let past = attribute_end(body, at);
        if past > at {
            at = past;
            continue;
        }
        let word = body.word(at)?;
        match words.get(word) {
            Some(known) => {
                meaning.constant |= known.constant;
                meaning.device |= known.device;
                meaning.kernel |= known.kernel;
            }
            None if FILLERS.contains(&word) || FUNCTION_HABITS.contains(&word) => {}
            None => return None,
        }
        at += 1;
    }
    (meaning != Meaning::default()).then_some(meaning)
}

/// A function name with its parameter list, in a definition or a prototype.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// Token of the name.
    pub name: usize,
    /// Token of the bracket that closes the parameters.
    pub close: usize,
}

/// One item at file scope.
#[derive(Debug, Default)]
pub(super) struct Item {
    /// Its tokens, with the closing `;` or `}`.
    pub range: Range<usize>,
    /// The functions it declares; two when branches of an `#if` give the same function different heads.
    pub heads: Vec<Head>,
    /// The tokens between the braces of a function.
    pub body: Option<Range<usize>>,
    /// The first `=` outside of brackets.
    pub equals: Option<usize>,
    /// Tokens that declare a symbol.
    pub markers: Vec<usize>,
    /// Whether it is a kernel.
    pub kernel: bool,
}

impl Item {
    /// Whether the item declares symbols.
    pub(super) fn declares_symbols(&self) -> bool {
        !self.markers.is_empty() && self.heads.is_empty() && self.body.is_none()
    }

    /// The tokens in front of the body.
    pub(super) fn header(&self) -> Range<usize> {
        self.range.start..self.body.as_ref().map_or(self.range.end, |body| body.start)
    }
}

/// Cuts the code of a text into items.
pub(super) fn items<'s>(scan: &Scan<'s>, vocabulary: &Vocabulary<'s>) -> Vec<Item> {
    let finder = Finder { code: &scan.code, macros: &scan.macros.iter().map(|d| d.name.text).collect(), vocabulary };
    let mut items = Vec::new();
    let mut at = 0;
    while at < scan.code.len() {
        let item = finder.item(at);
        at = item.range.end;
        items.push(item);
    }
    items
}

struct Finder<'a, 's> {
    code: &'a Tokens<'s>,
    macros: &'a HashSet<&'s str>,
    vocabulary: &'a Vocabulary<'s>,
}

impl Finder<'_, '_> {
    /// The item that starts at `start`.
    fn item(&self, start: usize) -> Item {
        let code = self.code;
        let mut item = Item::default();
        let mut at = start;
        while let Some(token) = code.get(at) {
            match token.text {
                _ if token.kind == Kind::LooseBracket => at += 1,
                ";" | "}" => {
                    at += 1;
                    break;
                }
                "=" => {
                    item.equals.get_or_insert(at);
                    at += 1;
                }
                "{" if item.equals.is_some() => at = code.after(at),
                "{" => {
                    // Anything else with a brace, like `extern "C" {`, is looked into.
                    let (inside, after) = (at + 1, code.after(at));
                    at = inside;
                    if !item.heads.is_empty() || code.follows(inside - 1, ")") {
                        item.body = Some(inside..code.partner(inside - 1).unwrap_or(code.len()));
                        at = if after > inside { after } else { code.len() };
                    }
                    break;
                }
                "(" => {
                    item.heads.extend(self.head(start, at, &item));
                    at = code.after(at);
                }
                "[" => at = code.after(at),
                "struct" | "union" | "enum" => at = tag_end(code, at),
                word => {
                    let meaning = self.vocabulary.meaning(word);
                    if item.equals.is_none() && (meaning.constant || meaning.device) {
                        item.markers.push(at);
                    }
                    item.kernel |= meaning.kernel;
                    at = attribute_end(code, at).max(at + 1);
                }
            }
        }
        item.range = start..at.max(start + 1);
        item
    }

    /// Reads the bracket at `open` as a parameter list, if it is one.
    fn head(&self, start: usize, open: usize, item: &Item) -> Option<Head> {
        let code = self.code;
        let close = code.partner(open)?;
        let name = open.checked_sub(1).filter(|&name| name > start && item.equals.is_none())?;
        let word = code.word(name)?;
        let named = !self.macros.contains(word) && !is_type_word(word) && !is_attribute(word);
        // A parameter list starts with neither a pointer nor a value.
        let first = code.get(open + 1);
        let points = first.is_some_and(|token| token.is("*") || token.is("^"));
        let value = first.is_some_and(|token| matches!(token.kind, Kind::Number | Kind::Literal));
        (named && !points && !value && self.names_a_type(start, name)).then_some(Head { name, close })
    }

    /// Whether what stands between `start` and `name` may end a return type.
    fn names_a_type(&self, start: usize, name: usize) -> bool {
        let code = self.code;
        let mut at = name;
        while at > start {
            let last = at - 1;
            // Attributes, and macros with arguments that stand for them, do not count.
            let group = code.partner(last).filter(|&open| code.is(last, ")") && open > start);
            let Some(open) = group else {
                return code.word(last).is_some() || code.is(last, "*") || code.is(last, ",") || code.is(last, "}");
            };
            match code.word(open - 1) {
                Some(word) if is_attribute(word) || self.macros.contains(word) => at = open - 1,
                word => return matches!(word, Some("typeof" | "__typeof__" | "__typeof")),
            }
        }
        false
    }
}

/// Whether `word` opens an attribute.
pub(super) fn is_attribute(word: &str) -> bool {
    matches!(word, "__attribute__" | "__attribute")
}

/// The index behind the attributes at `at`; `at` itself where there are none.
pub(super) fn attribute_end(tokens: &Tokens<'_>, mut at: usize) -> usize {
    while tokens.word(at).is_some_and(is_attribute) && tokens.is(at + 1, "(") {
        at = tokens.after(at + 1);
    }
    at
}

/// The index behind `struct name { .. }` at `at`, with or without name, body and attributes.
pub(super) fn tag_end(tokens: &Tokens<'_>, at: usize) -> usize {
    let mut end = attribute_end(tokens, at + 1);
    if tokens.word(end).is_some() {
        end += 1;
    }
    if tokens.is(end, "{") {
        end = attribute_end(tokens, tokens.after(end));
    }
    end
}

/// Whether `word` is a keyword that may be part of a type.
pub(super) fn is_type_word(word: &str) -> bool {
    is_builtin_type(word)
        || is_qualifier(word)
        || is_space(word)
        || matches!(word, "typeof" | "__typeof__" | "__typeof")
}

/// Whether `word` is a type of the language that may stand beside others, as in `unsigned long`.
pub(super) fn is_builtin_type(word: &str) -> bool {
    matches!(
        word,
        "void"
            | "bool"
            | "_Bool"
            | "char"
            | "short"
            | "int"
            | "long"
            | "float"
            | "double"
            | "half"
            | "signed"
            | "unsigned"
    )
}

/// Whether `word` qualifies a type or a declaration.
pub(super) fn is_qualifier(word: &str) -> bool {
    is_storage(word)
        || matches!(
            word,
            "const"
                | "volatile"
                | "restrict"
                | "__restrict"
                | "__restrict__"
                | "__const"
                | "__volatile__"
                | "__read_only"
                | "__write_only"
                | "__read_write"
                | "read_only"
                | "write_only"
                | "read_write"
        )
}

/// Whether `word` is a storage class, or stands where one does.
pub(super) fn is_storage(word: &str) -> bool {
    matches!(word, "static" | "extern" | "typedef" | "register" | "auto" | "inline" | "__inline" | "__inline__")
}

/// Whether `word` is an address space.
pub(super) fn is_space(word: &str) -> bool {
    let plain = word.strip_prefix("__").unwrap_or(word);
    matches!(plain, "global" | "constant" | "local" | "private" | "generic")
}
