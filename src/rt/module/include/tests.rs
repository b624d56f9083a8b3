//! Includes over files that exist only here.

use super::*;
use crate::rt::module::lines::Lines;
use proptest::prelude::*;

fn file(name: &str, text: &str) -> File {
    File {
        name: name.to_owned(),
        text: text.to_owned(),
        path: Some(PathBuf::from(name)),
        identity: Some(PathBuf::from(name)),
    }
}

fn with(files: &[(&str, &str)], main: &str) -> Result<Expanded> {
    let load = |path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path)?;
        Some((path.to_owned(), found.1.to_owned()))
    };
    expand(&[file("src/main.cl", main)], &[PathBuf::from("inc"), PathBuf::from("more")], &load)
}

/// The lines of code, without directives.
fn code(expanded: &Expanded) -> Vec<&str> {
    expanded.text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).collect()
}

#[test]
fn the_including_files_folder_comes_first_and_then_the_others_in_order() {
    let files = [("src/a.h", "beside"), ("inc/a.h", "first"), ("more/a.h", "second"), ("more/b.h", "other")];
    let expanded = with(&files, "#include \"a.h\"\n#include <a.h>\n  #  include \"b.h\" // why\nrest").unwrap();
    assert_eq!(code(&expanded), ["beside", "first", "other", "rest"]);
    assert!(expanded.complete);
}

#[test]
fn a_file_includes_relative_to_itself() {
    let files =
        [("src/sub/a.h", "#include \"b.h\"\n#include \"../c.h\""), ("src/sub/b.h", "b"), ("src/sub/../c.h", "c")];
    assert_eq!(code(&with(&files, "#include \"sub/a.h\"\n").unwrap()), ["b", "c"]);
}

#[test]
fn every_line_keeps_its_file_and_number() {
    let files = [("src/a.h", "a one\na two"), ("src/b.h", "b one\n#include \"a.h\"\nb three\n")];
    let expanded = with(&files, "one\n#include \"b.h\"\nthree\nfour").unwrap();
    let lines = Lines::new("", &expanded.text);
    for (file, number, text) in [
        ("src/main.cl", 1, "one"),
        ("src/main.cl", 3, "three"),
        ("src/main.cl", 4, "four"),
        ("src/a.h", 2, "a two"),
        ("src/b.h", 1, "b one"),
        ("src/b.h", 3, "b three"),
    ] {
        assert_eq!(lines.text(file, number), Some(text), "{file}:{number}\n{}", expanded.text);
    }
}

#[test]
fn what_is_not_found_is_left_to_the_driver() {
    for include in [
        "#import \"none.h\"",
        "#include_next <none.h>",
        "#include \"none.h\"",
        "#include <none.h>",
        "#include NAME",
        "#include \"\"",
        "#include",
    ] {
        let expanded = with(&[], &format!("{include}\nrest\n")).unwrap();
        assert!(!expanded.complete, "{include}");
        assert_eq!(expanded.text, format!("#line 1 \"src/main.cl\"\n{include}\nrest\n"));
    }
}

#[test]
fn comments_strings_and_continued_lines_include_nothing() {
    let text = "/*\n#include \"none.h\"\n*/\n// \\\n#include \"none.h\"\n#define X \\\n#include \"none.h\"\n\
                const char *s = \"/*\";\n/* a */ /* b */ #include \"a.h\"\n";
    let expanded = with(&[("src/a.h", "found")], text).unwrap();
    assert!(expanded.complete && expanded.text.contains("found"), "{}", expanded.text);
}

#[test]
fn a_guarded_file_counts_once() {
    for text in [
        "#pragma once\nonce\n",
        "// c\n#ifndef A_H\n#define A_H\nonce\n#endif\n",
        "#ifndef A_H\n#define A_H 1\n#if 1\nonce\n#else\n#endif\n#endif // A_H\n/* end */\n",
    ] {
        let files = [("src/a.h", text), ("src/b.h", "#include \"a.h\"\n")];
        let expanded = with(&files, "#include \"b.h\"\n#include \"a.h\"\n#include \"a.h\"\n").unwrap();
        assert_eq!(code(&expanded).iter().filter(|line| **line == "once").count(), 1, "{}", expanded.text);
    }
}

#[test]
fn a_guarded_file_that_is_a_part_counts_once_too() {
    for text in ["#pragma once\nonce\n", "#ifndef A\n#define A\nonce\n#endif\n"] {
        let load = |path: &Path| (path == Path::new("src/a.cl")).then(|| (path.to_owned(), text.to_owned()));
        let parts = [file("src/a.cl", text), file("src/b.cl", "#include \"a.cl\"\nrest\n")];
        let expanded = expand(&parts, &[], &load).unwrap();
        assert_eq!(code(&expanded), ["once", "rest"], "{}", expanded.text);
        // The other way round the compiler leaves the second out.
        let expanded = expand(&[parts[1].clone(), parts[0].clone()], &[], &load).unwrap();
        assert_eq!(expanded.text.lines().filter(|line| line.starts_with("#ifndef")).count(), 2, "{}", expanded.text);
    }
}

#[test]
fn a_file_without_a_guard_counts_each_time() {
    for text in [
        "x\n",
        "#ifndef A\n#define A\n#endif\nx\n",
        "#ifndef A\n#define B\nx\n#endif\n",
        "#ifdef A\n#define A\nx\n#endif",
    ] {
        let expanded = with(&[("src/a.h", text)], "#include \"a.h\"\n#include \"a.h\"\n").unwrap();
        assert_eq!(code(&expanded), ["x", "x"], "{text}");
    }
}

#[test]
fn a_first_include_in_a_branch_that_may_be_dropped_settles_nothing() {
    for text in ["#pragma once\nx\n", "#ifndef A\n#define A\nx\n#endif\n"] {
        let main = "#ifdef LATER\n#include \"a.h\"\n#endif\n#include \"a.h\"\n#include \"a.h\"\n";
        let expanded = with(&[("src/a.h", text)], main).unwrap();
        assert_eq!(code(&expanded), ["x", "x"], "{}", expanded.text);
        // One name, so that the compiler takes the file once.
        let names: HashSet<_> = expanded.text.lines().filter(|line| line.starts_with("#ifndef")).collect();
        assert_eq!(names.len(), 1, "{}", expanded.text);
    }
}

#[test]
fn circles_end_at_a_guard_and_are_errors_without_one() {
    let guarded =
        [("src/a.h", "#pragma once\n#include \"b.h\"\na\n"), ("src/b.h", "#pragma once\n#include \"a.h\"\nb\n")];
    assert_eq!(code(&with(&guarded, "#include \"a.h\"\n").unwrap()), ["b", "a"]);
    let bare = [("src/a.h", "\n#include \"b.h\"\n"), ("src/b.h", "#include \"a.h\"\n")];
    let error = with(&bare, "#include \"a.h\"\n").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BuildFailed);
    let text = error.to_string();
    assert!(text.contains("src/a.h includes itself"), "{text}");
    assert!(text.contains("src/main.cl:1, which includes src/a.h:2, which includes src/b.h:1"), "{text}");
}

#[test]
fn depth_and_length_have_limits() {
    let load = |path: &Path| {
        let number: usize = path.file_stem()?.to_str()?.parse().ok()?;
        Some((path.to_owned(), format!("#include \"{}.h\"\n", number + 1)))
    };
    let error = expand(&[file("x.cl", "#include \"1.h\"")], &[], &load).unwrap_err().to_string();
    assert!(error.contains("more than 64 deep"), "{error}");
    // Twice as much with each file.
    let load = |path: &Path| {
        let number: usize = path.file_stem()?.to_str()?.parse().ok()?;
        let next = if number < 40 {
            format!("#include \"{0}.h\"\n#include \"{0}.h\"\n", number + 1)
        } else {
            "x\n".repeat(1 << 16)
        };
        Some((path.to_owned(), next))
    };
    let error = expand(&[file("x.cl", "#include \"1.h\"")], &[], &load).unwrap_err().to_string();
    assert!(error.contains("longer than"), "{error}");
}

#[test]
fn several_files_become_one_text() {
    let files = [file("a.cl", "a"), file("b.cl", "b\n")];
    let expanded = expand(&files, &[], &|_| None).unwrap();
    assert_eq!(expanded.text, "#line 1 \"a.cl\"\na\n#line 1 \"b.cl\"\nb\n");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(
        main in "(#include \"a.h\"\n|#if\n|#endif\n|#pragma once\n|/\\*|\\*/|\\\\|\"|'|//|#|x\n|é)*",
        a in "(#include \"b.h\"\n|#ifndef A\n#define A\n|#endif\n|/\\*|#pragma once\n|x|\n)*",
    ) {
        let _ = with(&[("src/a.h", &a), ("src/b.h", &main)], &main);
    }

    #[test]
    fn a_text_without_includes_comes_back_behind_its_marker(main in "(#if\n|#endif\n|/\\*|\\*/|\\\\|\"|'|//|#|x\n|é)*\n") {
        let expanded = with(&[], &main).unwrap();
        prop_assert_eq!(expanded.text, format!("#line 1 \"src/main.cl\"\n{}", main));
    }
}
