//! The words of an OpenCL C text.
//!
//! [`scan`] cuts a text into tokens without expanding anything: comments and white space are dropped, `#define`
//! lines are kept apart as [`Macro`]s, other directives only say which tokens share a conditional branch. Every
//! token is a slice of the text, so that a rewriter can edit the text in place. Any input gives a result; nothing
//! here fails.
//!
//! A line continuation counts as white space: a word that is split by one is read as two words.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier or a keyword.
    Word,
    /// A number.
    Number,
    /// A string or character literal, with its quotes.
    Literal,
    /// An operator, a bracket or a separator.
    Mark,
    /// A bracket that another branch of the same `#if` repeats; it takes no part in nesting.
    LooseBracket,
}

/// One token: a slice of the text and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'s> {
    /// What the token is.
    pub kind: Kind,
    /// Its text.
    pub text: &'s str,
    /// Byte offset in the source.
    pub at: usize,
    /// Line of its first character, from 1.
    pub line: u32,
    /// The conditional branch it stands in; 0 outside of any `#if`.
    pub branch: u32,
}

impl Token<'_> {
    /// Whether this is the word or mark `text`.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.kind != Kind::LooseBracket && self.text == text
    }

    /// Whether this is an identifier or a keyword.
    pub(crate) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }

    /// The bytes of the source that the token covers.
    pub(crate) fn bytes(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }
}

/// A run of tokens whose brackets are matched; every question may be asked about any index.
#[derive(Debug, Default)]
pub(crate) struct Tokens<'s> {
    list: Vec<Token<'s>>,
    partner: Vec<Option<usize>>,
}

impl<'s> Tokens<'s> {
    fn new(list: Vec<Token<'s>>) -> Self {
        let partner = match_brackets(&list, |_| ());
        Self { list, partner }
    }

    /// How many tokens there are.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The token at `index`.
    pub(crate) fn get(&self, index: usize) -> Option<&Token<'s>> {
        self.list.get(index)
    }

    /// The tokens of `range`, cut to what is there.
    pub(crate) fn slice(&self, range: Range<usize>) -> &[Token<'s>] {
        let end = range.end.min(self.list.len());
        &self.list[range.start.min(end)..end]
    }

    /// Whether the token at `index` is the word or mark `text`.
    pub(crate) fn is(&self, index: usize, text: &str) -> bool {
        self.get(index).is_some_and(|token| token.is(text))
    }

    /// Whether the token before `index` is the word or mark `text`.
    pub(crate) fn follows(&self, index: usize, text: &str) -> bool {
        index > 0 && self.is(index - 1, text)
    }

    /// The text of the word at `index`.
    pub(crate) fn word(&self, index: usize) -> Option<&'s str> {
        self.get(index).filter(|token| token.is_word()).map(|token| token.text)
    }

    /// The bracket that belongs to the one at `index`.
    pub(crate) fn partner(&self, index: usize) -> Option<usize> {
        self.partner.get(index).copied().flatten()
    }

    /// The index behind the token at `index`, or behind the whole group if a bracket opens there.
    pub(crate) fn after(&self, index: usize) -> usize {
        self.partner(index).filter(|&close| close > index).unwrap_or(index) + 1
    }
}

/// A `#define` line.
#[derive(Debug)]
pub(crate) struct Macro<'s> {
    /// The name that is defined.
    pub name: Token<'s>,
    /// The parameters of a function-like macro; empty for any other.
    pub parameters: Vec<&'s str>,
    /// What the name stands for.
    pub body: Tokens<'s>,
}

/// A text cut into tokens.
#[derive(Debug, Default)]
pub(crate) struct Scan<'s> {
    /// Everything but the directives.
    pub code: Tokens<'s>,
    /// The `#define` lines, in order.
    pub macros: Vec<Macro<'s>>,
    /// Whether there is an `#include`.
    pub includes: bool,
}

/// Cuts `source` into tokens.
pub(crate) fn scan(source: &str) -> Scan<'_> {
    let mut cursor = Cursor { source, at: 0, line: 1, branch: 0 };
    let mut code = Vec::new();
    let mut macros = Vec::new();
    let mut includes = false;
    let mut branches = Branches::default();
    let mut line_is_fresh = true;
    loop {
        match cursor.next() {
            Piece::End => break,
            Piece::NewLine => line_is_fresh = true,
            Piece::Token(token) if line_is_fresh && token.is("#") => {
                let line = cursor.rest_of_line();
                match line.first().map_or("", |word| word.text) {
                    "define" => macros.extend(definition(&line[1..])),
                    "include" => includes = true,
                    directive => cursor.branch = branches.turn(directive, cursor.branch, &mut code),
                }
            }
            Piece::Token(token) => {
                line_is_fresh = false;
                code.push(token);
            }
        }
    }
    Scan { code: Tokens::new(code), macros, includes }
}

/// Reads what follows `#define`.
fn definition<'s>(line: &[Token<'s>]) -> Option<Macro<'s>> {
    let name = *line.first().filter(|name| name.is_word())?;
    let mut body = &line[1..];
    let mut parameters = Vec::new();
    // Only a bracket that touches the name opens a parameter list.
    if body.first().is_some_and(|token| token.is("(") && token.at == name.bytes().end) {
        let close = body.iter().position(|token| token.is(")")).unwrap_or(body.len() - 1);
        parameters = body[1..close.max(1)].iter().filter(|token| token.is_word()).map(|token| token.text).collect();
        body = &body[close + 1..];
    }
    Some(Macro { name, parameters, body: Tokens::new(body.to_vec()) })
}

/// What the cursor finds next.
enum Piece<'s> {
    Token(Token<'s>),
    NewLine,
    End,
}

/// A place in the text.
struct Cursor<'s> {
    source: &'s str,
    at: usize,
    line: u32,
    branch: u32,
}

impl<'s> Cursor<'s> {
    fn byte(&self, ahead: usize) -> u8 {
        self.source.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn done(&self) -> bool {
        self.at >= self.source.len()
    }

    /// Moves on by one byte and counts lines.
    fn step(&mut self) {
        self.line += u32::from(self.byte(0) == b'\n');
        self.at += 1;
    }

    /// Moves on while `wanted` holds for the next byte.
    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while !self.done() && wanted(self.byte(0)) {
            self.step();
        }
    }

    /// Length of the line continuation that starts here, or 0.
    fn continuation(&self) -> usize {
        match (self.byte(0), self.byte(1), self.byte(2)) {
            (b'\\', b'\n', _) => 2,
            (b'\\', b'\r', b'\n') => 3,
            _ => 0,
        }
    }

    /// Skips white space, continuations and comments up to the end of the line.
    fn skip_blank(&mut self) {
        while !self.done() {
            match (self.byte(0), self.byte(1)) {
                (b'/', b'/') => self.skip_line_comment(),
                (b'/', b'*') => self.skip_block_comment(),
                (b'\\', _) if self.continuation() > 0 => (0..self.continuation()).for_each(|_| self.step()),
                (b' ' | b'\t' | b'\r' | 0x0b | 0x0c, _) => self.step(),
                _ => break,
            }
        }
    }

    fn skip_line_comment(&mut self) {
        while !self.done() && self.byte(0) != b'\n' {
            (0..self.continuation().max(1)).for_each(|_| self.step());
        }
    }

    fn skip_block_comment(&mut self) {
        self.at += 2;
        while !self.done() && (self.byte(0), self.byte(1)) != (b'*', b'/') {
            self.step();
        }
        self.at = (self.at + 2).min(self.source.len());
    }

    /// Skips a literal; one without an end stops at the end of its line.
    fn skip_literal(&mut self, quote: u8) {
        self.step();
        while !self.done() && self.byte(0) != b'\n' {
            let next = self.byte(0);
            let width = if next == b'\\' { self.continuation().max(2) } else { 1 };
            (0..width).for_each(|_| self.step());
            if next == quote {
                break;
            }
        }
        self.at = self.at.min(self.source.len());
        // An escape may have ended inside of a character.
        while !self.source.is_char_boundary(self.at) {
            self.at += 1;
        }
    }

    fn skip_number(&mut self) {
        while is_word_byte(self.byte(0)) || self.byte(0) == b'.' {
            let exponent = matches!(self.byte(0), b'e' | b'E' | b'p' | b'P');
            self.step();
            if exponent && matches!(self.byte(0), b'+' | b'-') {
                self.step();
            }
        }
    }

    fn next(&mut self) -> Piece<'s> {
        self.skip_blank();
        if self.done() {
            return Piece::End;
        }
        let (at, line) = (self.at, self.line);
        let kind = match self.byte(0) {
            b'\n' => {
                self.step();
                return Piece::NewLine;
            }
            quote @ (b'"' | b'\'') => {
                self.skip_literal(quote);
                Kind::Literal
            }
            first if first.is_ascii_digit() || first == b'.' && self.byte(1).is_ascii_digit() => {
                self.skip_number();
                Kind::Number
            }
            first if is_word_byte(first) => {
                self.skip_while(is_word_byte);
                Kind::Word
            }
            first => {
                self.at += if is_double_mark(first, self.byte(1)) { 2 } else { 1 };
                Kind::Mark
            }
        };
        Piece::Token(Token { kind, text: &self.source[at..self.at], at, line, branch: self.branch })
    }

    /// The tokens up to the end of the line.
    fn rest_of_line(&mut self) -> Vec<Token<'s>> {
        let mut line = Vec::new();
        while let Piece::Token(token) = self.next() {
            line.push(token);
        }
        line
    }
}

/// Whether `byte` may stand in a word; so may every byte that is not ASCII.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// The marks of two characters that must not be read as two: `=` and `.` have a meaning of their own.
fn is_double_mark(first: u8, second: u8) -> bool {
    matches!((first, second), (b'-', b'>') | (b'#', b'#')) || second == b'=' && b"=!<>+-*/%&|^".contains(&first)
}

/// The conditional groups that are open, innermost last.
#[derive(Default)]
struct Branches {
    open: Vec<Group>,
    made: u32,
}

/// One `#if` with its branches so far.
struct Group {
    /// The branch that holds the group.
    outer: u32,
    /// Where in the code each branch starts.
    starts: Vec<usize>,
}

impl Branches {
    /// Follows a directive that was met in branch `current` behind `code`; says which branch the next tokens stand in.
    fn turn(&mut self, directive: &str, current: u32, code: &mut [Token<'_>]) -> u32 {
        match directive {
            "if" | "ifdef" | "ifndef" => {
                self.open.push(Group { outer: current, starts: vec![code.len()] });
                self.fresh()
            }
            "else" | "elif" | "elifdef" | "elifndef" => match self.open.last_mut() {
                Some(group) => {
                    group.starts.push(code.len());
                    self.fresh()
                }
                None => current,
            },
            "endif" => match self.open.pop() {
                Some(group) => {
                    settle(&group.starts, code);
                    group.outer
                }
                None => current,
            },
            _ => current,
        }
    }

    fn fresh(&mut self) -> u32 {
        self.made += 1;
        self.made
    }
}

/// Lets only one branch of a finished group open or close brackets that it does not also close or open.
///
/// `#if A` / `if (a) {` / `#else` / `if (b) {` / `#endif` opens one block, not two. All branches are read, so the last
/// one that changes the nesting counts, and such brackets of the others become loose.
fn settle(starts: &[usize], code: &mut [Token<'_>]) {
    let ends = starts[1..].iter().copied().chain([code.len()]);
    let mut counted = false;
    for (start, end) in starts.iter().copied().zip(ends).collect::<Vec<_>>().into_iter().rev() {
        let branch = &mut code[start..end];
        let mut alone = Vec::new();
        match_brackets(branch, |index| alone.push(index));
        if counted {
            alone.iter().for_each(|&index| branch[index].kind = Kind::LooseBracket);
        }
        counted |= !alone.is_empty();
    }
}

/// Pairs the brackets of `tokens` and reports those that stay alone.
///
/// A closing brace gives up brackets that were left open inside of it, so that one slip does not spoil the whole text.
fn match_brackets(tokens: &[Token<'_>], mut alone: impl FnMut(usize)) -> Vec<Option<usize>> {
    let mut partner = vec![None; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut braces = 0;
    for (index, token) in tokens.iter().enumerate() {
        let wanted = match token.text {
            _ if token.kind != Kind::Mark => continue,
            "(" | "[" | "{" => {
                braces += usize::from(token.text == "{");
                open.push(index);
                continue;
            }
            ")" => "(",
            "]" => "[",
            "}" if braces > 0 => {
                braces -= 1;
                while let Some(lost) = open.pop_if(|top| tokens[*top].text != "{") {
                    alone(lost);
                }
                "{"
            }
            "}" => "{",
            _ => continue,
        };
        match open.pop_if(|top| tokens[*top].text == wanted) {
            Some(start) => {
                partner[start] = Some(index);
                partner[index] = Some(start);
            }
            None => alone(index),
        }
    }
    open.into_iter().for_each(alone);
    partner
}

#[cfg(test)]
mod tests;
