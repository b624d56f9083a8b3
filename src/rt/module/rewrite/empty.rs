//! A parameter for kernels that have none: NVIDIA's assembler (driver 580) takes no such kernel, and with it refuses
//! the whole text.

use super::edit::Edits;
use super::item::{Vocabulary, items};
use crate::rt::module::lexer::scan;

/// What the parameter is called; it is given null.
pub(crate) const NAME: &str = "gridcl_none";

/// Gives each kernel of `text` without parameters one. Lines stay where they are.
pub(crate) fn fill_empty_parameters(text: &str) -> String {
    let scan = scan(text);
    let vocabulary = Vocabulary::new(&scan.macros);
    let mut edits = Edits::default();
    for item in items(&scan, &vocabulary).iter().filter(|item| item.kernel) {
        for head in &item.heads {
            let Some(open) = scan.code.partner(head.close) else { continue };
            let inside = scan.code.slice(open + 1..head.close);
            let is_empty = inside.is_empty() || (inside.len() == 1 && inside[0].is("void"));
            if let (true, Some(open), Some(close)) = (is_empty, scan.code.get(open), scan.code.get(head.close)) {
                let newlines = text[open.bytes().end..close.at].matches('\n').count();
                let parameter = format!("__global uchar *{NAME}{}", "\n".repeat(newlines));
                edits.replace(open.bytes().end..close.at, parameter);
            }
        }
    }
    edits.apply(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_kernels_without_parameters_get_one() {
        let text =
            "__kernel void a() { }\nvoid b(void) { }\n__kernel void c(\nvoid)\n{ }\n__kernel void d(int x) { b(); }";
        let expected = "__kernel void a(__global uchar *gridcl_none) { }\nvoid b(void) { }\n\
                        __kernel void c(__global uchar *gridcl_none\n)\n{ }\n__kernel void d(int x) { b(); }";
        assert_eq!(fill_empty_parameters(text), expected);
    }

    #[test]
    fn attributes_and_prototypes_are_seen_through() {
        let text = "kernel __attribute__((reqd_work_group_size(8, 1, 1))) void k(void);\nkernel void k(void) {}";
        assert_eq!(fill_empty_parameters(text).matches(NAME).count(), 2);
    }
}
