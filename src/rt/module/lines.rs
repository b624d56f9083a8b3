//! Which line of which file each line of a text is: `#line` directives, written and read. Pure.

/// The directive that makes what follows it line `line` of `file`.
pub(super) fn marker(line: usize, file: &str) -> String {
    let mut name = String::with_capacity(file.len());
    for character in file.chars() {
        match character {
            '\\' | '"' => name.extend(['\\', character]),
            // A directive is one line.
            character if character.is_control() => name.push(' '),
            character => name.push(character),
        }
    }
    format!("#line {line} \"{name}\"\n")
}

/// The lines of a text, by where they come from.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    /// The files that directives name, in order; the first one is what stands before any directive.
    files: Vec<String>,
    lines: Vec<Line<'t>>,
}

#[derive(Debug)]
struct Line<'t> {
    file: usize,
    number: usize,
    text: &'t str,
}

impl<'t> Lines<'t> {
    /// Reads the directives of `text`; `main` is the file of what stands before them.
    pub(super) fn new(main: &str, text: &'t str) -> Self {
        let mut files = vec![main.to_owned()];
        let mut lines = Vec::new();
        let (mut file, mut number) = (0, 1);
        for line in text.lines() {
            lines.push(Line { file, number, text: line });
            number = number.saturating_add(1);
            if let Some((line, name)) = directive(line) {
                number = line;
                if let Some(name) = name {
                    file = files.iter().position(|known| *known == name).unwrap_or_else(|| {
                        files.push(name);
                        files.len() - 1
                    });
                }
            }
        }
        Self { files, lines }
    }

    /// File, number and text of a line that is counted from the text's start, from 1.
    pub(super) fn at(&self, row: usize) -> (&str, usize, &'t str) {
        let line = row.checked_sub(1).and_then(|index| self.lines.get(index));
        line.map_or((&self.files[0], row, ""), |line| (&self.files[line.file], line.number, line.text))
    }

    /// Whether part of the text comes from a file of that name.
    pub(super) fn has(&self, file: &str) -> bool {
        self.files.iter().any(|known| known == file)
    }

    /// What stands in a line of a file.
    pub(super) fn text(&self, file: &str, number: usize) -> Option<&'t str> {
        let file = self.files.iter().position(|known| known == file)?;
        // What stands in front of a file has the number of its first line, too.
        self.lines.iter().rfind(|line| line.file == file && line.number == number).map(|line| line.text)
    }
}

/// Reads `#line 12 "file"` or `# 12 "file"`; the file may be left out.
fn directive(line: &str) -> Option<(usize, Option<String>)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = rest[..digits].parse().ok()?;
    let Some(quoted) = rest[digits..].trim_start().strip_prefix('"') else { return Some((number, None)) };
    let (mut name, mut escaped) = (String::new(), false);
    for character in quoted.chars() {
        match character {
            '\\' if !escaped => escaped = true,
            '"' if !escaped => return Some((number, Some(name))),
            character => {
                name.push(character);
                escaped = false;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_found_by_where_they_come_from() {
        let text =
            "before\n#line 1 \"a.cl\"\none\ntwo\n#line 7 \"b \\\"x\\\".h\"\nseven\n# 3 \"a.cl\"\nthree\n#line 9\nnine";
        let lines = Lines::new("main", text);
        assert_eq!(lines.at(1), ("main", 1, "before"));
        assert_eq!(lines.at(4), ("a.cl", 2, "two"));
        assert_eq!(lines.at(6), ("b \"x\".h", 7, "seven"));
        assert_eq!(lines.at(8), ("a.cl", 3, "three"));
        assert_eq!(lines.at(10), ("a.cl", 9, "nine"));
        assert_eq!(lines.at(99), ("main", 99, ""));
        assert_eq!(lines.at(0), ("main", 0, ""));
        assert_eq!(lines.text("a.cl", 1), Some("one"));
        assert_eq!(lines.text("a.cl", 9), Some("nine"));
        assert_eq!(lines.text("a.cl", 8), None);
        assert!(lines.has("a.cl") && lines.has("main") && !lines.has("c.cl"));
    }

    #[test]
    fn other_directives_are_none() {
        for line in
            ["#lines 3", "#line", "#define line 3", "line 3", "#line x", "#line 99999999999999999999", "#line 3 \"x"]
        {
            assert_eq!(directive(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_name_comes_back(name in "\\PC*", line in 0_usize..1_000_000) {
            let text = marker(line, &name);
            prop_assert_eq!(directive(text.trim_end()), Some((line, Some(name))));
        }

        #[test]
        fn any_text_has_lines(text in "([#line \"\\\\0-9a\n]|\\PC)*", row in 0_usize..20) {
            let lines = Lines::new("main", &text);
            lines.at(row);
            lines.text("main", row);
        }
    }
}
