//! The checker, checked: it must see each breach below, and must not see one where there is none.

use crate::layer::Checker;

/// A `lib.rs` with re-exports, for the samples.
const LIB: &str = "
    mod api; mod cl; mod dialect; mod error; mod rt;
    pub use api::Device;
    pub use crate::error::{Error, Result as GridResult};
    #[doc(hidden)] pub mod private { pub use crate::rt::launch::Grid; pub use crate::cl::Queue; }
";

fn complaints(path: &str, text: &str) -> Vec<String> {
    let own = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    Checker::new(&[own("src/lib.rs", LIB), own(path, text)]).complaints()
}

#[track_caller]
fn assert_breach(path: &str, text: &str, complaint: &str) {
    let found = complaints(path, text);
    assert!(
        found.len() == 1 && found[0].starts_with(path) && found[0].contains(complaint),
        "{path} with {text:?} gives {found:?}, not {complaint:?}"
    );
}

#[track_caller]
fn assert_fine(path: &str, text: &str) {
    assert_eq!(complaints(path, text), [""; 0], "{path} with {text:?}");
}

#[test]
fn each_layer_is_kept_from_those_it_may_not_use() {
    for (path, target, complaint) in [
        ("src/error.rs", "cl", "error may not use cl"),
        ("src/error.rs", "trace", "error may not use trace"),
        ("src/trace/mod.rs", "rt", "trace may not use rt"),
        ("src/trace/chrome.rs", "error", "trace may not use error"),
        ("src/cl/queue.rs", "rt", "cl may not use rt"),
        ("src/cl/mod.rs", "api", "cl may not use api"),
        ("src/cl/mod.rs", "dialect", "cl may not use dialect"),
        ("src/cl/mod.rs", "trace", "cl may not use trace"),
        ("src/rt/memory/slab.rs", "api", "rt may not use api"),
        ("src/rt/mod.rs", "dialect", "rt may not use dialect"),
        ("src/api/buffer.rs", "cl", "api may not use cl"),
        ("src/api/buffer.rs", "dialect", "api may not use dialect"),
        ("src/dialect/mod.rs", "cl", "dialect may not use cl"),
        ("src/dialect/handle.rs", "api", "dialect may not use api"),
        ("src/dialect/musa/table.rs", "cl", "musa may not use cl"),
        ("src/dialect/musa/table.rs", "dialect::tops", "musa may not use tops"),
        ("src/dialect/tops/mod.rs", "dialect::musa", "tops may not use musa"),
        ("src/testing.rs", "dialect", "testing may not use dialect"),
        ("src/rt/device.rs", "testing", "rt may not use testing"),
    ] {
        assert_breach(path, &format!("use crate::{target}::Thing;"), complaint);
    }
}

#[test]
fn each_layer_may_use_what_the_table_says_and_itself() {
    for (path, targets) in [
        ("src/error.rs", "error"),
        ("src/cl/block.rs", "cl error"),
        ("src/rt/memory/slab.rs", "cl error trace rt"),
        ("src/api/buffer.rs", "api rt error trace"),
        ("src/dialect/coverage.rs", "dialect::musa dialect::tops rt error trace"),
        ("src/dialect/musa/table.rs", "dialect dialect::musa rt error trace"),
        ("src/testing.rs", "testing cl rt api error trace"),
        ("src/lib.rs", "cl rt api dialect::tops testing"),
    ] {
        for target in targets.split(' ') {
            assert_fine(path, &format!("use crate::{target}::Thing;"));
        }
    }
}

#[test]
fn paths_are_found_in_every_form() {
    let path = "src/cl/queue.rs";
    for text in [
        "use crate::{cl, rt};",
        "use crate::{error::Error, rt::{self}};",
        "use crate::{error::{self, Error}, rt::{stream::Stream as _}};",
        "pub(crate) use crate :: rt :: Stream ;",
        "use crate::rt as runtime;",
        "fn f(s: &crate::rt::Stream) {}",
        "fn f() { crate::rt::memory::look_up::<u8>(1) }",
        "macro_rules! m { () => { $crate::rt::stream() } }",
        "macro_rules! m { () => { use $crate::rt::Stream; } }",
        "use super::super::rt::Stream;",
        "fn f() { super::super::rt::stream() }",
        "mod inner { fn f() { super::super::super::rt::stream() } }",
        "use r#crate::rt;",
        "#[cfg(feature = \"testing\")] use crate::rt::Stream;",
        "#[cfg(any(test, feature = \"testing\"))] use crate::rt::Stream;",
        "#[cfg(not(test))] use crate::rt::Stream;",
        "const QUOTE: char = '\"'; use crate::rt::Stream; const OTHER: char = '\"';",
        "fn f<'a>(x: &'a str) {} use crate::rt::Stream; fn g<'a>(x: &'a str) {}",
        "#[cfg(test)] mod tests { fn f() {} } use crate::rt::Stream;",
        "struct S { #[cfg(test)] steps: usize, stream: crate::rt::Stream }",
        "fn f() { #[cfg(test)] count(); crate::rt::stream() }",
    ] {
        assert_breach(path, text, "cl may not use rt");
    }
}

#[test]
fn an_import_does_not_hide_where_a_path_leads() {
    let musa = "src/dialect/musa/mod.rs";
    assert_breach(musa, "use crate::dialect; fn f() { dialect::tops::g() }", "tops");
    assert_breach(musa, "use super::super::dialect as d; type T = d::tops::T;", "tops");
    assert_breach(musa, "use crate as root; type T = root::cl::Queue;", "cl");
    assert_breach("src/cl/mod.rs", "use super::*;", "whole layers");
    assert_breach("src/rt/mod.rs", "use crate::*;", "whole layers");
    assert_breach(musa, "use super::*;", "whole layers");
    assert_fine("src/rt/copy/run.rs", "use super::*; use crate::cl::*;");
}

#[test]
fn a_name_that_lib_gives_counts_as_what_it_stands_for() {
    assert_breach("src/rt/mod.rs", "use crate::Device;", "rt may not use api");
    assert_breach("src/api/mod.rs", "use crate::private::Queue;", "api may not use cl");
    assert_fine("src/cl/mod.rs", "use crate::{Error, GridResult};");
    assert_fine("src/rt/launch/mod.rs", "macro_rules! m { () => { $crate::private::Grid } }");
    assert_fine("src/api/mod.rs", "fn f() { crate::launch!(x) }");
    assert_breach("src/api/mod.rs", "use crate::Surprise;", "of no layer");
}

#[test]
fn only_cl_calls_opencl() {
    for name in ["opencl3", "cl3", "opencl_sys", "cl_sys"] {
        let text = format!("use {name}::types::cl_int;");
        assert_fine("src/cl/status.rs", &text);
        for path in ["src/rt/device.rs", "src/api/mod.rs", "src/error.rs", "src/bin/gridcl/main.rs"] {
            assert_breach(path, &text, "only cl may call OpenCL");
        }
    }
    assert_breach("src/rt/mod.rs", "fn f() -> ::cl3::types::cl_int { 0 }", "only cl");
    assert_breach("src/rt/mod.rs", "extern crate opencl3 as ocl;", "only cl");
    assert_breach("src/rt/mod.rs", "use {cl3::types, std::fmt};", "only cl");
}

#[test]
fn the_library_does_not_call_itself_by_name() {
    assert_breach("src/api/mod.rs", "use gridcl::rt::Stream;", "`crate` to itself");
    assert_breach("src/cl/mod.rs", "fn f() { ::gridcl::count() }", "`crate` to itself");
    assert_fine("src/cl/mod.rs", "const TOOL: &str = \"gridcl::cl\"; // gridcl::rt\n");
}

#[test]
fn programs_use_the_public_api() {
    let path = "src/bin/gridcl/main.rs";
    assert_fine(path, "use gridcl::{Device, musa, trace}; use crate::rt::mine;");
    assert_breach(path, "use gridcl::{Device, rt};", "public API only");
    assert_breach(path, "fn f() { gridcl::cl::queue() }", "public API only");
}

#[test]
fn a_new_module_needs_a_place_in_the_table() {
    assert_breach("src/extra/mod.rs", "", "belongs to no layer");
}

#[test]
fn what_is_no_code_of_the_library_is_left_alone() {
    let path = "src/cl/queue.rs";
    for text in [
        "//! See [`crate::rt`].\n/// And crate::rt::Stream.\nfn f() {} /* crate::rt /* nested */ crate::rt::x */",
        "const A: &str = \"crate::rt::x \\\" crate::rt::x\"; const B: &[u8] = b\"crate::rt::x\";",
        "const A: &str = r#\"crate::rt::x \" crate::rt::x\"#; const B: &str = r\"\\\"; const C: u8 = b'\\'';",
        "#[cfg(test)]\nmod tests { use crate::rt::Stream; fn f() { crate::rt::x() } }",
        "#[cfg(test)] #[allow(dead_code)] use crate::{rt, error};",
        "#[cfg(all(test, unix))] fn f(a: A<B, C>) -> D<E, crate::rt::F> { crate::rt::x() }",
        "struct S { #[cfg(test)] stream: Option<crate::rt::Stream>, len: usize }",
        "fn f() { #[cfg(test)] crate::rt::count(1, 2); g() }",
        "fn f() -> impl Sized + use<'static> { cl::rt::x() }",
        "pub(crate) fn f() {} pub(super) fn g() {} pub(in crate::cl) fn h() {}",
    ] {
        assert_fine(path, text);
    }
}

#[test]
fn modules_in_files_of_their_own_may_be_for_tests_only() {
    let own = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let sources = |declaration: &str| {
        let tests = own("src/cl/queue/tests.rs", "use crate::rt::Stream;");
        [own("src/cl/queue.rs", declaration), tests]
    };
    assert_eq!(Checker::new(&sources("#[cfg(test)] mod tests;")).complaints(), [""; 0]);
    assert_eq!(Checker::new(&sources("mod tests;")).complaints().len(), 1);
}

#[test]
fn a_complaint_names_file_and_line() {
    let text = "//! A file.\n\nuse std::{\n    fmt,\n    io,\n};\nuse crate::{\n    error,\n    rt::Stream,\n};\n";
    assert_eq!(complaints("src/cl/queue.rs", text), ["src/cl/queue.rs:9: `crate::rt::Stream`: cl may not use rt"]);
}
