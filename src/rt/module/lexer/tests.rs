//! Tests of the scanner.

use proptest::prelude::*;

use super::{Kind, scan};

/// The texts of all code tokens.
fn words(source: &str) -> Vec<String> {
    let scan = scan(source);
    scan.code.slice(0..usize::MAX).iter().map(|token| token.text.to_owned()).collect()
}

#[test]
fn comments_and_continuations_are_white_space() {
    assert_eq!(words("a/* b\n */c // d \\\n e\nf \\\n g"), ["a", "c", "f", "g"]);
}

#[test]
fn literals_keep_what_is_inside() {
    assert_eq!(words(r#"f("a\"{", '\'', "x")"#), ["f", "(", r#""a\"{""#, ",", r"'\''", ",", r#""x""#, ")"]);
}

#[test]
fn a_literal_without_an_end_stops_at_its_line() {
    assert_eq!(words("don't {\nx"), ["don", "'t {", "x"]);
}

#[test]
fn numbers_are_one_token() {
    assert_eq!(words("1.5e-3f 0x1p+2 .5 v.x"), ["1.5e-3f", "0x1p+2", ".5", "v", ".", "x"]);
}

#[test]
fn assignment_is_told_from_comparison() {
    assert_eq!(words("a==b=c->d"), ["a", "==", "b", "=", "c", "->", "d"]);
}

#[test]
fn lines_are_counted_through_comments_and_directives() {
    let scan = scan("/*\n*/ a\n#define X \\\n 1\r\n\"x\\\ny\" b");
    let lines: Vec<u32> = scan.code.slice(0..9).iter().map(|token| token.line).collect();
    assert_eq!(lines, [2, 5, 6]);
}

#[test]
fn macros_are_kept_apart() {
    let scan = scan("a\n #define F(x, y) x + \\\n y\n#define G (x)\n#define H\nb");
    assert_eq!(scan.code.len(), 2);
    assert_eq!(scan.macros[0].parameters, ["x", "y"]);
    assert_eq!(scan.macros[0].body.len(), 3);
    assert!(scan.macros[1].parameters.is_empty());
    assert_eq!(scan.macros[1].body.len(), 3);
    assert_eq!(scan.macros[2].body.len(), 0);
}

#[test]
fn broken_macros_are_harmless() {
    for source in ["#define", "#define F(", "#define F()", "#define F(x", "#define 1 2", "#", "#define F(x,...) x"] {
        scan(source);
    }
}

#[test]
fn branches_are_told_apart() {
    let scan = scan("a\n#if X\nb\n#ifdef Y\nc\n#endif\nd\n#else\ne\n#endif\nf\n#endif\ng");
    let branches: Vec<u32> = scan.code.slice(0..9).iter().map(|token| token.branch).collect();
    assert_eq!(branches, [0, 1, 2, 1, 3, 0, 0]);
}

#[test]
fn a_bracket_that_both_branches_open_counts_once() {
    let scan = scan("#if X\nf(a) {\n#else\nf(b) {\n#endif\n}");
    assert_eq!(scan.code.get(4).map(|token| token.kind), Some(Kind::LooseBracket));
    assert_eq!(scan.code.partner(9), Some(10));
}

#[test]
fn a_brace_gives_up_what_stays_open_inside() {
    let scan = scan("{ ( [ } { }");
    assert_eq!(scan.code.partner(0), Some(3));
    assert_eq!(scan.code.partner(1), None);
    assert_eq!(scan.code.after(4), 6);
}

proptest! {
    #[test]
    fn any_text_is_cut_into_slices_of_itself(source in "\\PC*|[a-z0-9 \\\\\n\r'\"/*#(){}\\[\\].=é-]*") {
        let scan = scan(&source);
        let mut end = 0;
        for token in scan.code.slice(0..usize::MAX) {
            prop_assert!(token.at >= end);
            end = token.bytes().end;
            prop_assert_eq!(&source[token.bytes()], token.text);
        }
    }
}
