//! Puts the files that a text includes into it, so that symbols in them are found, a build depends on one text alone
//! and every driver takes it. Pure but for the loader that it is given.
//!
//! Nothing is evaluated: an `#include` in a branch that the compiler drops is followed too, and stays in that branch.
//! What is found nowhere, or named by a macro, is left to the driver.

use super::lines::marker;
use crate::error::{Error, ErrorKind, Result};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Files may include each other so deep.
const DEPTH: usize = 64;
/// A text may become so long.
const BYTES: usize = 16 << 20;

/// A text to start from.
#[derive(Clone, Debug)]
pub(super) struct File {
    /// What messages call it.
    pub(super) name: String,
    pub(super) text: String,
    /// Where it was read, for `#include "..."`.
    pub(super) path: Option<PathBuf>,
    /// What tells it apart from files that are included.
    pub(super) identity: Option<PathBuf>,
}

/// One text of all.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Expanded {
    pub(super) text: String,
    /// Whether it includes nothing any more that the driver would have to find.
    pub(super) complete: bool,
}

/// Reads a file that is included; `None` where there is none. The path tells files apart.
pub(super) type Loader<'a> = &'a dyn Fn(&Path) -> Option<(PathBuf, String)>;

/// Joins `files` to one text with their includes in it, each part with a `#line` in front.
///
/// # Errors
/// [`ErrorKind::BuildFailed`] for files that include themselves without a guard, or too deep, or too much.
pub(super) fn expand(files: &[File], folders: &[PathBuf], load: Loader<'_>) -> Result<Expanded> {
    let mut expander =
        Expander { folders, load, out: String::new(), chain: Vec::new(), settled: HashSet::new(), complete: true };
    for file in files {
        let folder = file.path.as_deref().and_then(Path::parent);
        expander.chain.push(Link { name: file.name.clone(), path: file.identity.clone(), line: 0 });
        expander.add(&file.name, folder, &file.text, false)?;
        expander.chain.pop();
        if let Some(identity) = &file.identity
            && Guard::of(&file.text) != Guard::None
        {
            expander.settled.insert(identity.clone());
        }
    }
    Ok(Expanded { text: expander.out, complete: expander.complete })
}

struct Expander<'a> {
    folders: &'a [PathBuf],
    load: Loader<'a>,
    out: String,
    /// The files that are being put in, outermost first.
    chain: Vec<Link>,
    /// Files that guard themselves and stand outside of any `#if`: to include them again does nothing.
    settled: HashSet<PathBuf>,
    complete: bool,
}

struct Link {
    name: String,
    path: Option<PathBuf>,
    /// The line that is being read.
    line: usize,
}

impl Expander<'_> {
    /// Puts a text in; `inside` tells whether it stands in an `#if` of a file further out.
    fn add(&mut self, name: &str, folder: Option<&Path>, text: &str, inside: bool) -> Result<()> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let guard = Guard::of(text);
        let pragma = guard == Guard::Pragma && self.chain.last().is_some_and(|link| link.path.is_some());
        if pragma {
            self.out.push_str(&format!("#ifndef gridcl_once_{0}\n#define gridcl_once_{0}\n", self.once_name(name)));
        }
        // The guard's own `#ifndef` hides nothing the first time.
        let own = usize::from(guard == Guard::Macro);
        let mut depth = 0_usize;
        self.out.push_str(&marker(1, name));
        let mut scanner = Scanner::default();
        for (index, line) in text.split_inclusive('\n').enumerate() {
            match scanner.directive(line) {
                Some(("if" | "ifdef" | "ifndef", _)) => depth += 1,
                Some(("endif", _)) => depth = depth.saturating_sub(1),
                Some(("pragma", rest)) if rest.trim() == "once" => {
                    self.out.push('\n');
                    continue;
                }
                Some(("include", rest)) => {
                    if let Some(link) = self.chain.last_mut() {
                        link.line = index + 1;
                    }
                    if self.include(folder, rest, inside || depth > own)? {
                        self.out.push_str(&marker(index + 2, name));
                        continue;
                    }
                }
                // The compiler finds these files by itself.
                Some(("import" | "embed", _)) => self.complete = false,
                _ => {}
            }
            self.out.push_str(line);
        }
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        if pragma {
            self.out.push_str("#endif\n");
        }
        if self.out.len() > BYTES {
            return Err(self.refuse(format!("the text is longer than {BYTES} bytes with what it includes")));
        }
        Ok(())
    }

    /// Puts an included file in; `false` where it is the driver's to find.
    fn include(&mut self, folder: Option<&Path>, rest: &str, inside: bool) -> Result<bool> {
        let Some((wanted, beside)) = target(rest) else {
            self.complete = false;
            return Ok(false);
        };
        let beside = if beside { folder } else { None };
        // An absolute path replaces the folder.
        let places: Vec<PathBuf> = beside
            .into_iter()
            .chain(self.folders.iter().map(PathBuf::as_path))
            .map(|folder| folder.join(wanted))
            .collect();
        let places = if Path::new(wanted).is_absolute() { vec![PathBuf::from(wanted)] } else { places };
        let Some((place, (path, text))) =
            places.into_iter().find_map(|place| (self.load)(&place).map(|file| (place, file)))
        else {
            self.complete = false;
            return Ok(false);
        };
        let guarded = Guard::of(&text) != Guard::None;
        let under_way = self.chain.iter().any(|link| link.path.as_ref() == Some(&path));
        if guarded && (under_way || self.settled.contains(&path)) {
            return Ok(true);
        }
        if under_way {
            return Err(self.refuse(format!("{} includes itself", place.display())).help("begin it with #pragma once"));
        }
        if self.chain.len() >= DEPTH {
            return Err(self.refuse(format!("files are included more than {DEPTH} deep")));
        }
        let name = place.display().to_string();
        self.chain.push(Link { name: name.clone(), path: Some(path.clone()), line: 0 });
        self.add(&name, place.parent(), &text, inside)?;
        self.chain.pop();
        if guarded && !inside {
            self.settled.insert(path);
        }
        Ok(true)
    }

    /// One name a file, however often it is put in.
    fn once_name(&self, name: &str) -> String {
        let path = self.chain.last().and_then(|link| link.path.as_ref());
        let path = path.map_or_else(|| name.to_owned(), |path| path.display().to_string());
        // Any injective spelling as a word will do.
        path.bytes()
            .map(
                |byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("_{byte:02x}") },
            )
            .collect()
    }

    fn refuse(&self, problem: String) -> Error {
        let chain: Vec<_> = self.chain.iter().map(|link| format!("{}:{}", link.name, link.line)).collect();
        Error::new(ErrorKind::BuildFailed, format!("{problem} ({})", chain.join(", which includes ")))
    }
}

/// Reads what `#include` names, and whether it is looked for beside the including file.
fn target(rest: &str) -> Option<(&str, bool)> {
    let rest = rest.trim();
    let (open, close) = match rest.as_bytes().first()? {
        b'"' => ('"', '"'),
        b'<' => ('<', '>'),
        _ => return None,
    };
    let name = &rest[1..];
    let name = &name[..name.find(close)?];
    (!name.is_empty()).then_some((name, open == '"'))
}

/// How a file sees to it that it counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    None,
    /// `#pragma once`.
    Pragma,
    /// All of it stands in `#ifndef X` / `#define X`.
    Macro,
}

impl Guard {
    fn of(text: &str) -> Self {
        let mut scanner = Scanner::default();
        let (mut depth, mut seen) = (0_usize, 0);
        let mut name = "";
        let mut is_guarded = true;
        for line in text.split_inclusive('\n') {
            let directive = scanner.directive(line);
            if let Some(("pragma", rest)) = directive
                && rest.trim() == "once"
                && depth == 0
            {
                return Self::Pragma;
            }
            let word = |rest: &'_ str| {
                rest.split(|c: char| !(c.is_alphanumeric() || c == '_'))
                    .find(|word| !word.is_empty())
                    .map(str::to_owned)
            };
            match (seen, directive) {
                (_, None) if !scanner.had_code => continue,
                (0, Some(("ifndef", rest))) => {
                    name = rest.trim();
                    depth = 1;
                }
                (1, Some(("define", rest))) => is_guarded &= word(rest).as_deref() == word(name).as_deref(),
                (0 | 1, _) => is_guarded = false,
                // Something behind the guard's end.
                _ if depth == 0 => is_guarded = false,
                (_, Some(("if" | "ifdef" | "ifndef", _))) => depth += 1,
                (_, Some(("endif", _))) => depth -= 1,
                (_, Some(("else" | "elif", _))) if depth == 1 => is_guarded = false,
                _ => {}
            }
            seen += 1;
        }
        if is_guarded && seen > 2 && depth == 0 { Self::Macro } else { Self::None }
    }
}

/// Finds directives line by line, outside of comments.
#[derive(Default)]
struct Scanner {
    in_comment: bool,
    /// Whether the line belongs to the one before.
    continued: bool,
    in_line_comment: bool,
    /// Whether the last line had more than white space and comments.
    had_code: bool,
}

impl Scanner {
    /// The directive on the next line and what follows its name.
    fn directive<'l>(&mut self, line: &'l str) -> Option<(&'l str, &'l str)> {
        let line = line.trim_end_matches(['\n', '\r']);
        let starts_fresh = !self.continued;
        let continues = line.ends_with('\\');
        let mut first = None;
        let bytes = line.as_bytes();
        let mut at = 0;
        let mut quote = None;
        if !self.continued {
            self.in_line_comment = false;
        }
        while at < bytes.len() && !self.in_line_comment {
            let pair = (bytes[at], bytes.get(at + 1).copied().unwrap_or(0));
            match (self.in_comment, quote, pair) {
                (true, _, (b'*', b'/')) => {
                    self.in_comment = false;
                    at += 1;
                }
                (true, ..) => {}
                (_, None, (b'/', b'*')) => {
                    self.in_comment = true;
                    at += 1;
                }
                (_, None, (b'/', b'/')) => self.in_line_comment = true,
                (_, Some(_), (b'\\', _)) => at += 1,
                (_, Some(open), (byte, _)) if byte == open => quote = None,
                (_, Some(_), _) => {}
                (_, None, (byte, _)) if byte.is_ascii_whitespace() => {}
                (_, None, (byte, _)) => {
                    first.get_or_insert(at);
                    if byte == b'"' || byte == b'\'' {
                        quote = Some(byte);
                    }
                }
            }
            at += 1;
        }
        self.continued = continues;
        self.had_code = first.is_some();
        let start = first.filter(|&start| starts_fresh && bytes[start] == b'#')?;
        let rest = line[start + 1..].trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        Some(rest.split_at(end))
    }
}

#[cfg(test)]
mod tests;
