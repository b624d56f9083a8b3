//! Holds the headers against what Rust compiled: a C and a C++ program, printed from the constants, layouts and tables,
//! whose compiler refuses any difference.

use crate::tools::{compile, program, scratch, succeeds};
use crate::{c, values};
use gridcl::dialect::Entry;
use std::fmt::Write;

/// A structure: its name, size and alignment, and each field with its offset and size.
pub(crate) type Layout = (&'static str, usize, usize, &'static [(&'static str, usize, usize)]);

/// Constants that are a transparent integer.
macro_rules! codes {
    ($list:ident, $dialect:ident: $($name:ident)*) => {
        pub(crate) const $list: &[(&str, i64)] = &[$((stringify!($name), gridcl::$dialect::$name.0 as i64)),*];
    };
}

/// Constants that are an integer.
macro_rules! flags {
    ($list:ident, $dialect:ident: $($name:ident)*) => {
        pub(crate) const $list: &[(&str, i64)] = &[$((stringify!($name), gridcl::$dialect::$name as i64)),*];
    };
}

/// Constants that are an address.
macro_rules! addresses {
    ($list:ident, $dialect:ident: $($name:ident)*) => {
        #[allow(non_snake_case, reason = "the other lists are constants")]
        pub(crate) fn $list() -> Vec<(&'static str, usize)> {
            vec![$((stringify!($name), gridcl::$dialect::$name.addr())),*]
        }
    };
}

/// Structures with their fields.
macro_rules! layouts {
    ($list:ident, $dialect:ident: $($name:ident ($($field:ident)*))*) => {
        pub(crate) const $list: &[Layout] = &[$((
            stringify!($name),
            size_of::<gridcl::$dialect::$name>(),
            align_of::<gridcl::$dialect::$name>(),
            &[$((
                stringify!($field),
                std::mem::offset_of!(gridcl::$dialect::$name, $field),
                crate::check::size_of_field(|it: &gridcl::$dialect::$name| &raw const it.$field),
            )),*],
        )),*];
    };
}
pub(crate) use {addresses, codes, flags, layouts};

/// The size of what a projection points at.
pub(crate) const fn size_of_field<S, F, P: Copy + Fn(&S) -> *const F>(_projection: P) -> usize {
    size_of::<F>()
}

const BOTH: &str = "#include <musa_runtime.h>\n#include <tops/tops_runtime.h>\n#include <musa_runtime_api.h>\n\
                    #include <tops/tops_runtime_api.h>\n#include <stdio.h>\n";
/// `_Static_assert` is C's; C++ spells it without the underscore.
const ASSERT: &str = "#ifdef __cplusplus\n#define CHECK(what) static_assert(what, #what)\n#define ALIGN alignof\n#else\n\
                      #define CHECK(what) _Static_assert(what, #what)\n#define ALIGN _Alignof\n#endif\n";

/// Compiles the text as C and as C++, links and runs both.
fn accepted(name: &str, text: &str) {
    let folder = scratch(name);
    for extension in ["c", "cpp"] {
        let source = folder.join(format!("{name}.{extension}"));
        std::fs::write(&source, text).expect("to write the program");
        if let Some(path) = compile(&source, &folder, &[]) {
            succeeds(&mut program(&path));
        }
    }
}

#[test]
fn constants_are_the_same_in_c_and_in_rust() {
    let mut text = format!("{BOTH}{ASSERT}");
    let lists = [values::MUSA_CODES, values::MUSA_FLAGS, values::TOPS_CODES, values::TOPS_FLAGS];
    assert!(lists.iter().all(|list| list.len() > 10), "constants are missing");
    for (name, value) in lists.into_iter().flatten() {
        writeln!(text, "CHECK((long long)({name}) == {value}LL);").expect("a string");
    }
    text.push_str("int main(void) {\n    int wrong = 0;\n");
    for (name, value) in values::MUSA_ADDRESSES().into_iter().chain(values::TOPS_ADDRESSES()) {
        writeln!(text, "    wrong += (size_t){name} != {value}u;").expect("a string");
    }
    text.push_str("    return wrong;\n}\n");
    accepted("constants", &text);
}

#[test]
fn structures_are_laid_out_alike_in_c_and_in_rust() {
    let mut text = format!("{BOTH}{ASSERT}");
    let layouts: Vec<&Layout> = values::MUSA_LAYOUTS.iter().chain(values::TOPS_LAYOUTS).collect();
    for named in [
        "musaDeviceProp",
        "musaMemcpy3DParms",
        "musaPitchedPtr",
        "musaExtent",
        "musaPointerAttributes",
        "musaIpcEventHandle_t",
        "topsDeviceProp_t",
        "topsPointerAttribute_t",
    ] {
        assert!(layouts.iter().any(|layout| layout.0 == named), "{named} is missing");
    }
    for (name, size, align, fields) in layouts {
        writeln!(text, "CHECK(sizeof({name}) == {size} && ALIGN({name}) == {align});").expect("a string");
        for (field, offset, size) in *fields {
            let field = field.trim_start_matches("r#");
            writeln!(text, "CHECK(offsetof({name}, {field}) == {offset} && sizeof((({name}*)0)->{field}) == {size});")
                .expect("a string");
        }
    }
    let dim3 = (size_of::<gridcl::musa::dim3>(), align_of::<gridcl::musa::dim3>());
    writeln!(text, "CHECK(sizeof(dim3) == {} && ALIGN(dim3) == {});", dim3.0, dim3.1).expect("a string");
    for id in ["musaUuid_t", "musaUUID_t"] {
        writeln!(text, "CHECK(sizeof({id}) == {});", size_of::<gridcl::musa::musaUuid_t>()).expect("a string");
    }
    text.push_str("int main(void) { return 0; }\n");
    accepted("layouts", &text);
}

/// Every function of every table, with its name's prefix.
pub(crate) fn functions() -> impl Iterator<Item = &'static Entry> {
    gridcl::musa::TABLE.iter().chain(gridcl::tops::TABLE).chain(gridcl::dialect::native::FUNCTIONS)
}

#[test]
fn every_function_is_declared_as_its_table_says_and_exported() {
    let mut text = format!("{BOTH}#ifdef __cplusplus\nextern \"C\" {{\n#endif\n");
    // Any name of a type: those that the header lacks do not compile.
    let any = |_: &str| true;
    let mut names = Vec::new();
    for entry in functions() {
        let kinds: Vec<(String, String)> =
            entry.parameters.iter().map(|(_, kind)| (String::new(), (*kind).to_owned())).collect();
        let list = c::parameter_list(&kinds, &any).unwrap();
        let pointer = c::declare(entry.returns, &format!("(*at_{})({list})", entry.name), &any).unwrap();
        // A pointer to a function of another type does not compile.
        writeln!(text, "extern {pointer};\n{pointer} = {};", entry.name).expect("a string");
        names.push(entry.name);
    }
    assert!(names.len() > 140, "functions are missing");
    text.push_str("#ifdef __cplusplus\n}\n#endif\nint main(void) {\n    int missing = 0;\n");
    for name in names {
        writeln!(text, "    missing += at_{name} == NULL;").expect("a string");
    }
    text.push_str("    return missing;\n}\n");
    accepted("functions", &text);
}

#[test]
fn each_header_stands_alone() {
    let folder = scratch("headers");
    for header in ["gridcl.h", "musa_runtime.h", "musa_runtime_api.h", "tops/tops_runtime.h", "tops/tops_runtime_api.h"]
    {
        for (extension, standards) in
            [("c", &["-std=c11", "-std=c17"][..]), ("cpp", &["-std=c++11", "-std=c++17", "-std=c++20"])]
        {
            for standard in standards {
                let name = header.replace(['/', '.'], "_");
                let source = folder.join(format!("{name}.{extension}"));
                // Twice, so that the guard is tested too.
                let text = format!("#include <{header}>\n#include <{header}>\nint main(void) {{ return 0; }}\n");
                std::fs::write(&source, text).expect("to write the program");
                compile(&source, &folder, &["-Wshadow", "-Wconversion", standard]);
            }
        }
    }
}
