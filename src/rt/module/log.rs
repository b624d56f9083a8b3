//! Compilers' logs, brought to one form: the text's own name, the line and column, and the source line beneath.

use super::lines::Lines;

/// How many errors a message shows; the rest follow from the first ones as a rule.
const SHOWN: usize = 3;

/// The first errors of a build log as `file:line:column: text` with the source line and a caret, then the log.
///
/// Drivers take the file from the text's `#line` directives; where they do not, they have things of their own before the
/// position: PoCL a temporary path, NVIDIA `<kernel>`, Intel's CPU runtime the number of the text.
pub(super) fn report(name: &str, lines: &Lines<'_>, log: &str) -> String {
    let errors: Vec<String> = log.lines().filter_map(position).take(SHOWN).map(|found| show(lines, &found)).collect();
    let log = log.trim();
    match (errors.is_empty(), log.is_empty()) {
        (true, true) => format!("{name} does not build, and the compiler does not say why"),
        (true, false) => format!("{name} does not build:\n{log}"),
        (false, _) => format!("{name} does not build:\n{}\nthe compiler's log:\n{log}", errors.join("\n")),
    }
}

fn show(lines: &Lines<'_>, found: &Position<'_>) -> String {
    let Position { file, row, column, text } = found;
    let (file, row, code) = match lines.has(file) {
        true => (*file, *row, lines.text(file, *row)),
        false if is_stand_in(file) => {
            let (file, row, code) = lines.at(*row);
            (file, row, Some(code))
        }
        // A file that only the driver has read.
        false => (*file, *row, None),
    };
    let mut shown = format!("{file}:{row}:{column}: {text}");
    if let Some(code) = code {
        let indent = " ".repeat(column.saturating_sub(1).min(code.len()));
        shown.push_str(&format!("\n    {code}\n    {indent}^"));
    }
    shown
}

/// Whether a driver calls a text so that it knows no name of.
fn is_stand_in(file: &str) -> bool {
    file.bytes().all(|byte| byte.is_ascii_digit())
        || file.starts_with('<')
        || file.contains("tempfile")
        || file == "input.cl"
}

/// A line of a log that reports an error.
#[derive(Debug, PartialEq, Eq)]
struct Position<'l> {
    file: &'l str,
    row: usize,
    column: usize,
    text: String,
}

fn position(line: &str) -> Option<Position<'_>> {
    let error_at = line.find("error")?;
    // PoCL puts the word before the position, the others after.
    for (start, _) in line.match_indices(':') {
        let Some((row, column, text)) = numbers(&line[start + 1..]) else { continue };
        let names = ["error:", "fatal error:"].iter().find_map(|word| line[..start].trim_start().strip_prefix(word));
        if row == 0 || (names.is_none() && !text.starts_with("error") && !text.starts_with("fatal error")) {
            continue;
        }
        let file = names.unwrap_or(&line[..start]).trim();
        let text = if text.contains("error") { text.to_owned() } else { format!("error: {text}") };
        return Some(Position { file, row, column, text });
    }
    // Intel's CPU runtime has nothing before the line number where the text has no name.
    let (row, column, text) = numbers(line)?;
    (error_at > 0).then(|| Position { file: "", row, column, text: text.to_owned() })
}

/// Reads `line:column: text`.
fn numbers(text: &str) -> Option<(usize, usize, &str)> {
    let mut parts = text.splitn(3, ':');
    let (row, column, text) = (parts.next()?, parts.next()?, parts.next()?);
    Some((row.trim().parse().ok()?, column.trim().parse().ok()?, text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "__kernel void k(__global int *a)\n{\n    a[0] = foo;\n}\n";

    #[test]
    fn finds_the_position_in_every_known_form() {
        let forms = [
            "error: /tmp/POCL_CACHE/tempfile_AbC.cl:3:12: use of undeclared identifier 'foo'",
            "<kernel>:3:12: error: use of undeclared identifier 'foo'",
            "1:3:12: error: use of undeclared identifier 'foo'",
            "input.cl:3:12: error: use of undeclared identifier 'foo'",
            "3:12: error: use of undeclared identifier 'foo'",
        ];
        for form in forms {
            let shown = report("k.cl", &Lines::new("k.cl", SOURCE), form);
            let expected =
                "k.cl:3:12: error: use of undeclared identifier 'foo'\n        a[0] = foo;\n               ^";
            assert!(shown.contains(expected), "{form}\n{shown}");
        }
    }

    #[test]
    fn shows_the_log_where_no_position_is_found() {
        let lines = Lines::new("k.cl", SOURCE);
        assert_eq!(report("k.cl", &lines, "linker: 1 error"), "k.cl does not build:\nlinker: 1 error");
        assert!(report("k.cl", &lines, " \n").contains("does not say why"));
    }

    #[test]
    fn warnings_are_not_errors() {
        assert_eq!(position("<kernel>:3:12: warning: unused variable 'x'"), None);
    }

    #[test]
    fn files_that_directives_name_are_shown_with_their_own_text() {
        let text = "#line 1 \"k.cl\"\nint a;\n#line 1 \"my dir/f.h\"\nint b = x;\n#line 3 \"k.cl\"\nint c = y;\n";
        let lines = Lines::new("", text);
        let forms = [
            (
                "error: my dir/f.h:1:9: undeclared 'x'",
                "my dir/f.h:1:9: error: undeclared 'x'\n    int b = x;\n            ^",
            ),
            (
                "my dir/f.h:1:9: error: undeclared 'x'",
                "my dir/f.h:1:9: error: undeclared 'x'\n    int b = x;\n            ^",
            ),
            ("k.cl:3:9: fatal error: no", "k.cl:3:9: fatal error: no\n    int c = y;\n            ^"),
            // The driver did not look at the directives: the position counts from the text's start.
            ("<kernel>:4:9: error: no", "my dir/f.h:1:9: error: no\n    int b = x;\n            ^"),
            ("error: /tmp/kcache/tempfile_a1.cl:6:9: no", "k.cl:3:9: error: no\n    int c = y;\n            ^"),
            ("/usr/lib/x.h:3:9: error: no", "/usr/lib/x.h:3:9: error: no\nthe compiler's log"),
        ];
        for (form, expected) in forms {
            let shown = report("k.cl", &lines, form);
            assert!(shown.contains(expected), "{form}\n{shown}");
        }
    }
}
