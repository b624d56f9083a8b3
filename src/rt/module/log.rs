//! Compilers' logs, brought to one form: the text's own name, the line and column, and the source line beneath.

/// How many errors a message shows; the rest follow from the first ones as a rule.
const SHOWN: usize = 3;

/// The first errors of a build log as `name:line:column: text` with the source line and a caret, then the log.
///
/// Drivers put different things before the position: PoCL a temporary path, NVIDIA `<kernel>`, Intel's CPU runtime
/// the number of the text.
pub(super) fn report(name: &str, source: &str, log: &str) -> String {
    let errors: Vec<String> = log
        .lines()
        .filter_map(position)
        .take(SHOWN)
        .map(|(line, column, text)| {
            let mut shown = format!("{name}:{line}:{column}: {text}");
            if let Some(code) = source.lines().nth(line.saturating_sub(1)) {
                let indent = " ".repeat(column.saturating_sub(1).min(code.len()));
                shown.push_str(&format!("\n    {code}\n    {indent}^"));
            }
            shown
        })
        .collect();
    let log = log.trim();
    match (errors.is_empty(), log.is_empty()) {
        (true, true) => format!("{name} does not build, and the compiler does not say why"),
        (true, false) => format!("{name} does not build:\n{log}"),
        (false, _) => format!("{name} does not build:\n{}\nthe compiler's log:\n{log}", errors.join("\n")),
    }
}

/// Line, column and message of a line that reports an error.
fn position(line: &str) -> Option<(usize, usize, String)> {
    let error_at = line.find("error")?;
    // PoCL puts the word before the position, the others after.
    for (start, _) in line.match_indices(':') {
        let mut rest = line[start + 1..].splitn(3, ':');
        let (Some(row), Some(column), Some(text)) = (rest.next(), rest.next(), rest.next()) else { continue };
        let (Ok(row), Ok(column)) = (row.trim().parse::<usize>(), column.trim().parse::<usize>()) else { continue };
        let text = text.trim();
        if row == 0 || (error_at > start && !text.starts_with("error") && !text.starts_with("fatal error")) {
            continue;
        }
        let text = if text.contains("error") { text.to_owned() } else { format!("error: {text}") };
        return Some((row, column, text));
    }
    // Intel's CPU runtime has nothing before the line number.
    let mut parts = line.splitn(3, ':');
    let (row, column, text) = (parts.next()?, parts.next()?, parts.next()?);
    Some((row.trim().parse().ok()?, column.trim().parse().ok()?, text.trim().to_owned()))
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
            let shown = report("k.cl", SOURCE, form);
            let expected =
                "k.cl:3:12: error: use of undeclared identifier 'foo'\n        a[0] = foo;\n               ^";
            assert!(shown.contains(expected), "{form}\n{shown}");
        }
    }

    #[test]
    fn shows_the_log_where_no_position_is_found() {
        assert_eq!(report("k.cl", SOURCE, "linker: 1 error"), "k.cl does not build:\nlinker: 1 error");
        assert!(report("k.cl", SOURCE, " \n").contains("does not say why"));
    }

    #[test]
    fn warnings_are_not_errors() {
        assert_eq!(position("<kernel>:3:12: warning: unused variable 'x'"), None);
    }
}
