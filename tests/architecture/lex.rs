//! Rust source as tokens: words, `::` and single punctuation marks, without comments, literals and test-only items.
//!
//! No more of the language is understood than it takes to find paths, so a file need not even compile.

/// A word, `::`, or one punctuation mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

impl Token<'_> {
    pub(crate) fn is_word(self) -> bool {
        self.text.starts_with(in_word)
    }
}

/// What is compiled into the library proper.
#[derive(Debug, Default)]
pub(crate) struct Code<'a> {
    pub(crate) tokens: Vec<Token<'a>>,
    /// Modules in files of their own that are declared for tests only.
    pub(crate) test_modules: Vec<&'a str>,
}

/// The tokens of a source file outside of `#[cfg(test)]` items.
pub(crate) fn code(source: &str) -> Code<'_> {
    let tokens = tokens(source);
    let mut code = Code::default();
    let mut rest = tokens.as_slice();
    while let Some((&token, after)) = rest.split_first() {
        if starts_test_item(rest) {
            let (item, after) = rest.split_at(item_len(rest));
            code.test_modules.extend(external_module(item));
            rest = after;
        } else {
            code.tokens.push(token);
            rest = after;
        }
    }
    code
}

fn starts_test_item(tokens: &[Token<'_>]) -> bool {
    let begins = |with: &[&str]| tokens.iter().map(|token| token.text).take(with.len()).eq(with.iter().copied());
    begins(&["#", "[", "cfg", "(", "test", ")"]) || begins(&["#", "[", "cfg", "(", "all", "(", "test", ","])
}

/// `name` if the item is `mod name;`.
fn external_module<'a>(item: &[Token<'a>]) -> Option<&'a str> {
    match item {
        [.., keyword, name, end] if keyword.text == "mod" && end.text == ";" => Some(name.text),
        _ => None,
    }
}

/// How many tokens the item takes that stands at the front, attributes included: up to a `;`, the end of a braced body,
/// or, for a field or an element of a list, a comma or the end of the list.
fn item_len(tokens: &[Token<'_>]) -> usize {
    const ITEMS: &[&str] = &[
        "pub",
        "use",
        "mod",
        "fn",
        "const",
        "static",
        "struct",
        "enum",
        "type",
        "impl",
        "trait",
        "unsafe",
        "extern",
        "async",
        "macro_rules",
        "let",
    ];
    let mut at = 0;
    while tokens.get(at).is_some_and(|token| token.text == "#") {
        at += 1 + group_len(&tokens[at + 1..]);
    }
    let ends_at_comma = tokens.get(at).is_some_and(|token| !ITEMS.contains(&token.text));
    while let Some(token) = tokens.get(at) {
        match token.text {
            ";" => return at + 1,
            "," if ends_at_comma => return at + 1,
            ")" | "]" | "}" => return at,
            "{" => return at + group_len(&tokens[at..]),
            "(" | "[" => at += group_len(&tokens[at..]),
            _ => at += 1,
        }
    }
    at
}

/// How many tokens the bracketed group takes that stands at the front.
fn group_len(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let (len, is_code) = match blank_len(rest) {
            Some(len) => (len, false),
            None if first.is_whitespace() => (first.len_utf8(), false),
            None if rest.starts_with("::") => (2, true),
            None if in_word(first) => (rest.find(|c| !in_word(c)).unwrap_or(rest.len()), true),
            None => (first.len_utf8(), true),
        };
        let text = &rest[..len];
        if is_code {
            tokens.push(Token { text, line });
        }
        line += text.matches('\n').count();
        at += len;
    }
    tokens
}

/// Length of the comment, literal, lifetime or raw-identifier prefix that `rest` begins with.
fn blank_len(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(block_comment_len(rest));
    }
    if rest.starts_with('\'') {
        return Some(quote_len(rest));
    }
    for prefix in ["br", "cr", "r"] {
        if let Some(after) = rest.strip_prefix(prefix) {
            let hashes = after.len() - after.trim_start_matches('#').len();
            if after[hashes..].starts_with('"') {
                let end = format!("\"{}", &after[..hashes]);
                let body = prefix.len() + hashes + 1;
                return Some(rest[body..].find(&end).map_or(rest.len(), |at| body + at + end.len()));
            }
            if prefix == "r" && hashes == 1 && after[1..].starts_with(in_word) {
                return Some(2);
            }
        }
    }
    let unprefixed = rest.strip_prefix(['b', 'c']).unwrap_or(rest);
    let prefix = rest.len() - unprefixed.len();
    match unprefixed.chars().next() {
        Some('"') => Some(prefix + escaped_len(unprefixed, '"')),
        Some('\'') => Some(prefix + escaped_len(unprefixed, '\'')),
        _ => None,
    }
}

fn block_comment_len(rest: &str) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            (at, depth) = (at + 2, depth + 1);
        } else if here.starts_with(b"*/") {
            (at, depth) = (at + 2, depth - 1);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// A character literal, or a lifetime without its name's end being of interest.
fn quote_len(rest: &str) -> usize {
    let mut chars = rest.chars().skip(1);
    let (first, second) = (chars.next(), chars.next());
    if first == Some('\\') || second == Some('\'') {
        return escaped_len(rest, '\'');
    }
    let name = rest[1..].find(|c| !in_word(c));
    name.map_or(rest.len(), |len| len + 1)
}

/// Length of a literal in quotes in which `\` escapes.
fn escaped_len(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn in_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}
