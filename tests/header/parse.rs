//! Reads what a dialect's sources declare for C: the bodies of the `c_*!` macros, and public types, constants and
//! helper functions.

/// Something declared, with its documentation as it stands in the source.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// A heading: `// ---- Streams`.
    Section(String),
    /// A handle and the type without contents that it points at.
    Handle {
        doc: Vec<String>,
        name: String,
        pointee: String,
    },
    /// An enumeration, or the result codes.
    Enum {
        doc: Vec<String>,
        name: String,
        constants: Vec<Constant>,
    },
    /// Flags: macros in C.
    Flags {
        doc: Vec<String>,
        constants: Vec<Constant>,
    },
    Struct {
        doc: Vec<String>,
        name: String,
        fields: Vec<Field>,
    },
    /// `pub type`.
    Alias {
        doc: Vec<String>,
        name: String,
        of: String,
    },
    /// `pub const`.
    Constant {
        kind: String,
        constant: Constant,
    },
    /// `pub const fn` that puts a structure together of its parameters.
    Maker {
        doc: Vec<String>,
        name: String,
        parameters: Vec<(String, String)>,
        of: String,
        fields: Vec<String>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Constant {
    pub(crate) doc: Vec<String>,
    pub(crate) name: String,
    /// As Rust writes it.
    pub(crate) value: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) doc: Vec<String>,
    /// With the `r#` of a Rust keyword.
    pub(crate) name: String,
    pub(crate) kind: String,
}

/// Everything that a source file declares for C, in its order, up to its tests.
pub(crate) fn items(source: &str) -> Result<Vec<Item>, String> {
    let tokens = tokens(source);
    let mut parser = Parser { tokens: &tokens, at: 0, doc: Vec::new(), items: Vec::new() };
    while parser.at < tokens.len() && parser.step()? {}
    Ok(parser.items)
}

#[derive(Clone, Debug, PartialEq)]
struct Token {
    text: String,
    line: usize,
}

/// Words, numbers, string literals, signs, documentation (`/// …`) and headings (`// ---- …`).
fn tokens(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (index, full) in source.lines().enumerate() {
        let line = index + 1;
        let mut push = |text: &str| tokens.push(Token { text: text.to_owned(), line });
        let mut rest = full.trim();
        if rest.starts_with("///") || rest.starts_with("// ---- ") {
            push(rest);
            continue;
        }
        while let Some(first) = rest.chars().next() {
            let len = match first {
                '/' if rest.starts_with("//") => break,
                '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
                c if is_word(c) => rest.find(|c: char| !is_word(c) && c != '#').unwrap_or(rest.len()),
                c => c.len_utf8(),
            };
            push(&rest[..len]);
            rest = rest[len..].trim_start();
        }
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    /// Documentation that the next item takes.
    doc: Vec<String>,
    items: Vec<Item>,
}

impl Parser<'_> {
    fn peek(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |token| token.text.as_str())
    }

    fn next(&mut self) -> String {
        let text = self.peek(0).to_owned();
        self.at += 1;
        text
    }

    fn expect(&mut self, text: &str) -> Result<(), String> {
        let line = self.tokens.get(self.at).map_or(0, |token| token.line);
        match self.next() {
            found if found == text => Ok(()),
            found => Err(format!("line {line}: expected {text}, found {found}")),
        }
    }

    /// Takes documentation and attributes; false at the tests, which end what there is to read.
    fn prelude(&mut self) -> bool {
        loop {
            if let Some(doc) = self.peek(0).strip_prefix("///") {
                let doc = doc.strip_prefix(' ').unwrap_or(doc).to_owned();
                self.doc.push(doc);
                self.at += 1;
            } else if self.peek(0) == "#" {
                if self.peek(2) == "cfg" && self.peek(4) == "test" {
                    return false;
                }
                while self.next() != "]" {}
            } else {
                return true;
            }
        }
    }

    fn doc(&mut self) -> Vec<String> {
        std::mem::take(&mut self.doc)
    }

    /// Reads one item, or skips what is none.
    fn step(&mut self) -> Result<bool, String> {
        if !self.prelude() {
            return Ok(false);
        }
        if let Some(heading) = self.peek(0).strip_prefix("// ---- ") {
            let heading = heading.to_owned();
            self.items.push(Item::Section(heading));
            self.at += 1;
            return Ok(true);
        }
        match (self.peek(0), self.peek(1), self.peek(2)) {
            (name @ ("c_handle" | "c_enum" | "c_flags" | "c_struct" | "c_error"), "!", "{") => {
                let name = name.to_owned();
                self.at += 3;
                self.doc.clear();
                while self.prelude() && self.peek(0) != "}" {
                    self.declaration(&name)?;
                }
                self.expect("}")?;
            }
            ("pub", "type", _) => {
                self.at += 2;
                let name = self.next();
                self.expect("=")?;
                let (doc, of) = (self.doc(), self.until(&[";"]));
                self.expect(";")?;
                self.items.push(Item::Alias { doc, name, of });
            }
            ("pub", "const", "fn") => self.maker()?,
            ("pub", "const", _) => {
                self.at += 2;
                let name = self.next();
                self.expect(":")?;
                let kind = self.until(&["="]);
                self.expect("=")?;
                let (doc, value) = (self.doc(), self.until(&[";"]));
                self.expect(";")?;
                // A reference is a list of Rust's own, and no value of C's.
                if !kind.starts_with('&') {
                    self.items.push(Item::Constant { kind, constant: Constant { doc, name, value } });
                }
            }
            _ => self.skip(),
        }
        Ok(true)
    }

    /// Skips to the end of what is no item for C.
    fn skip(&mut self) {
        self.doc.clear();
        let mut depth = 0usize;
        while self.at < self.tokens.len() {
            match self.next().as_str() {
                "{" => depth += 1,
                "}" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                ";" if depth == 0 => return,
                _ => {}
            }
        }
    }

    /// The text up to one of `ends` outside of brackets, words kept apart.
    fn until(&mut self, ends: &[&str]) -> String {
        let (mut text, mut depth) = (String::new(), 0usize);
        while self.at < self.tokens.len() && !(depth == 0 && ends.contains(&self.peek(0))) {
            match self.peek(0) {
                "(" | "[" | "<" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                // Not the arrow of a function's result.
                ">" if !text.ends_with('-') => depth = depth.saturating_sub(1),
                _ => {}
            }
            let token = self.next();
            let apart = text.ends_with(|c: char| is_word(c) || matches!(c, ';' | ':' | ',' | '"'));
            if apart && token.starts_with(|c: char| is_word(c) || c == '"' || c == '*') {
                text.push(' ');
            }
            text.push_str(&token);
        }
        text
    }

    /// One declaration in the body of a macro.
    fn declaration(&mut self, of: &str) -> Result<(), String> {
        let doc = self.doc();
        if of == "c_flags" {
            self.next();
            let constants = self.constants(",")?;
            self.items.push(Item::Flags { doc, constants });
            return Ok(());
        }
        self.visibility();
        let keyword = self.next();
        let name = self.next();
        match of {
            "c_handle" => {
                for expected in ["=", "*", "mut"] {
                    self.expect(expected)?;
                }
                let pointee = self.next();
                self.expect(";")?;
                self.items.push(Item::Handle { doc, name, pointee });
            }
            "c_struct" => {
                let fields = self.fields()?;
                self.items.push(Item::Struct { doc, name, fields });
            }
            _ => {
                debug_assert_eq!(keyword, "struct");
                let mut constants = self.constants(if of == "c_error" { ";" } else { "," })?;
                if of == "c_error" {
                    self.expect("aliases")?;
                    constants.extend(self.constants(";")?);
                }
                self.items.push(Item::Enum { doc, name, constants });
            }
        }
        Ok(())
    }

    fn visibility(&mut self) {
        if self.peek(0) == "pub" {
            self.at += 1;
            if self.peek(0) == "(" {
                while self.next() != ")" {}
            }
        }
    }

    /// `{ /// doc  name = value, … }`; of result codes, `name = value, "text";` where the text is the documentation.
    fn constants(&mut self, separator: &str) -> Result<Vec<Constant>, String> {
        self.expect("{")?;
        let mut constants = Vec::new();
        while self.prelude() && self.peek(0) != "}" {
            let mut doc = self.doc();
            let name = self.next();
            self.expect("=")?;
            let value = self.until(&[",", ";", "}"]);
            if separator == ";" && self.peek(0) == "," {
                self.at += 1;
                doc = vec![format!("{}.", self.next().trim_matches('"'))];
            }
            if self.peek(0) == separator {
                self.at += 1;
            }
            constants.push(Constant { doc, name, value });
        }
        self.expect("}")?;
        Ok(constants)
    }

    fn fields(&mut self) -> Result<Vec<Field>, String> {
        self.expect("{")?;
        let mut fields = Vec::new();
        while self.prelude() && self.peek(0) != "}" {
            let doc = self.doc();
            self.visibility();
            let name = self.next();
            self.expect(":")?;
            let kind = self.until(&[",", "}"]);
            if self.peek(0) == "," {
                self.at += 1;
            }
            fields.push(Field { doc, name, kind });
        }
        self.expect("}")?;
        Ok(fields)
    }

    /// `pub const fn NAME(PARAMETERS) -> STRUCT { STRUCT { FIELDS } }`.
    fn maker(&mut self) -> Result<(), String> {
        self.at += 3;
        let (doc, name) = (self.doc(), self.next());
        self.expect("(")?;
        let mut parameters = Vec::new();
        while self.peek(0) != ")" {
            let parameter = self.next();
            self.expect(":")?;
            parameters.push((parameter, self.until(&[",", ")"])));
            if self.peek(0) == "," {
                self.at += 1;
            }
        }
        for expected in [")", "-", ">"] {
            self.expect(expected)?;
        }
        let of = self.next();
        self.expect("{")?;
        self.expect(&of)?;
        self.expect("{")?;
        let fields = self.until(&["}"]).split(',').map(|field| field.trim().to_owned()).collect();
        self.expect("}")?;
        self.expect("}")?;
        self.items.push(Item::Maker { doc, name, parameters, of, fields });
        Ok(())
    }
}
