//! Tests of the rewriter on whole texts; that drivers accept the result is tested with the modules.

use proptest::prelude::*;

use super::{Rewritten, Space, is_generated_kernel, kernel_names, may_define_kernel, rewrite};

const TABLE: &str = "__constant__ float table[4];\n";

fn done(source: &str) -> Rewritten {
    rewrite(source).expect("the text can be rewritten")
}

/// The rewritten text behind the declaration of `table`.
fn with_table(source: &str) -> String {
    let text = done(&format!("{TABLE}{source}")).text;
    text.split_once('\n').map(|(_, rest)| rest.to_owned()).unwrap_or_default()
}

/// `source` with `@` for the use of `table`.
fn used(source: &str) -> String {
    source.replace('@', "(*(__constant gridcl_type_table *)gridcl_sym_table)")
}

fn hidden(done: &Rewritten, kernel: &str) -> Vec<String> {
    let symbols = done.hidden.get(kernel).cloned().unwrap_or_default();
    symbols.into_iter().map(|symbol| done.symbols[symbol].name.clone()).collect()
}

/// The line and text of the error that `source` gives.
fn refused(source: &str) -> (u32, String) {
    let error = rewrite(source).expect_err(source);
    (error.line, error.message)
}

#[test]
fn a_text_without_symbols_is_unchanged() {
    let source = "__constant float lut[3] = {1, 2, 3};\n__kernel void k(__global float *o) { o[0] = lut[0]; }";
    assert_eq!(done(source).text, source);
    assert!(done(source).symbols.is_empty());
}

#[test]
fn a_kernel_gets_a_parameter_for_the_symbol_it_uses() {
    let text = with_table("__kernel void k(__global float *o) { o[0] = table[1]; }");
    let expected = "__kernel void k(__global float *o, __constant void *gridcl_sym_table) { o[0] = @[1]; }";
    assert_eq!(text, used(expected));
}

#[test]
fn a_kernel_without_uses_stays_as_it_is() {
    let kernel = "__kernel void k(__global float *o) { o[0] = 1; }";
    assert_eq!(with_table(kernel), kernel);
    assert!(done(&format!("{TABLE}{kernel}")).hidden.is_empty());
}

#[test]
fn helpers_and_prototypes_pass_symbols_on() {
    let text = with_table(
        "float f(int i);\nfloat g(void) { return f(1); }\nfloat f(int i) { return table[i]; }\nkernel void k() { g(); }",
    );
    let expected = "float f(int i, __constant void *gridcl_sym_table);\n\
        float g(__constant void *gridcl_sym_table) { return f(1, gridcl_sym_table); }\n\
        float f(int i, __constant void *gridcl_sym_table) { return @[i]; }\n\
        kernel void k(__constant void *gridcl_sym_table) { g(gridcl_sym_table); }";
    assert_eq!(text, used(expected));
}

#[test]
fn a_prototype_may_come_before_the_symbol() {
    let done = done("float f(int);\n__device__ float x = 1;\nfloat f(int i) { return x; }\nkernel void k() { f(2); }");
    assert!(done.text.starts_with("float f(int, __global void *gridcl_sym_x);\n"));
    assert_eq!(hidden(&done, "k"), ["x"]);
}

#[test]
fn hidden_parameters_come_in_declaration_order() {
    let done =
        done("__device__ int a, b;\n__constant__ int c;\nkernel void k() { c; b; a; }\nkernel void j() { c; a; }");
    assert_eq!(hidden(&done, "k"), ["a", "b", "c"]);
    assert_eq!(hidden(&done, "j"), ["a", "c"]);
}

#[test]
fn nested_calls_are_passed_on_too() {
    let text = with_table("float f(float x) { return table[0] + x; }\nkernel void k() { f(f(1)); }");
    assert!(text.ends_with("{ f(f(1, gridcl_sym_table), gridcl_sym_table); }"), "{text}");
}

#[test]
fn a_kernel_may_be_called_like_a_helper() {
    let done = done(&format!("{TABLE}kernel void a(int i) {{ table[i]; }}\nkernel void b() {{ a(1); }}"));
    assert_eq!((hidden(&done, "a"), hidden(&done, "b")), (vec!["table".into()], vec!["table".into()]));
}

#[test]
fn recursion_ends() {
    let text = with_table("int f(int i) { return g(i); }\nint g(int i) { return f(i) + table[0]; }");
    assert!(text.contains("return g(i, gridcl_sym_table)") && text.contains("return f(i, gridcl_sym_table)"));
}

#[test]
fn symbols_are_described() {
    let done =
        done("\n__device__ unsigned int n[2] [3], *p = 0;\nstatic __constant__ const struct S { int a; } s = {1};");
    let all: Vec<_> = done.symbols.iter().map(|s| (s.type_text.as_str(), s.line, s.space, s.has_initializer)).collect();
    assert_eq!(
        all,
        [
            ("unsigned int[2][3]", 2, Space::Device, false),
            ("unsigned int*", 2, Space::Device, true),
            ("const struct S", 3, Space::Constant, true),
        ]
    );
}

#[test]
fn a_declaration_becomes_a_type_and_a_size_kernel() {
    let text = done("__device__ float *p[2];").text;
    assert!(text.contains("typedef __global gridcl_base_0 *gridcl_type_p[2];"), "{text}");
    assert!(text.contains("reqd_work_group_size(sizeof(gridcl_type_p), __alignof__(gridcl_type_p), 1)"), "{text}");
    assert!(!text.contains("gridcl_init_p"));
}

#[test]
fn an_initialiser_stays_in_its_place() {
    let text = done("__constant__ int t[] = {1,\n#include \"x\"\n3};").text;
    assert!(text.contains("__constant gridcl_value_t[] = {1,\n#include \"x\"\n3};"), "{text}");
    assert!(text.contains("gridcl_type_t[sizeof(gridcl_value_t) / sizeof(gridcl_value_t[0])]"), "{text}");
    assert!(text.contains("void gridcl_init_t(__global uchar *gridcl_to)"), "{text}");
}

#[test]
fn every_pointer_gets_an_address_space() {
    let text = done("__constant__ const float *const *q = 0;").text;
    assert!(text.contains("typedef __global gridcl_base_0 * __global const *gridcl_type_q"), "{text}");
}

#[test]
fn attributes_of_a_symbol_go_to_its_type() {
    let text = done("__attribute__((aligned(16))) __device__ float t[4];").text;
    assert!(text.contains("gridcl_type_t[4] __attribute__ ( ( aligned ( 16 ) ) );"), "{text}");
}

#[test]
fn local_names_hide_symbols() {
    for source in [
        "void f(int table) { table; }",
        "void f(global float *table, int n) { table[n]; }",
        "void f() { int table; table = 1; }",
        "void f() { float4 a = 1, *table = &a; table[0]; }",
        "void f() { T * table = g; table; }",
        "void f() { for (int table = 0; table < 3; ++table) g(table); }",
        "void f() { struct S table[2] = {1}; table[1]; }",
        "void f() { int (*table)[4]; table; }",
        "void f() { switch (x) { case 1: { int table = 1; table; } } }",
        "void f() { if (x) { T table; table; } else { const T table = 1; table; } }",
        "void f() { EACH(x) { int table; table; } }",
        "void f() { enum { A, table }; table; }",
    ] {
        assert_eq!(with_table(source), source);
    }
}

#[test]
fn symbols_are_seen_again_behind_a_block() {
    for source in [
        "{ int table; table; } @;",
        "for (int table = 0;;) table; @;",
        "for (int table = 0;;) if (table) table; else table; @;",
        "if (a) for (int table = 0;;) table; else @;",
        "for (int table = 0;;) do { table; } while (table); @;",
        "@; int table; table;",
        "int x = @[0], table = 1;",
    ] {
        let plain = source.replace('@', "table");
        let text = with_table(&format!("void f() {{ {plain} }}"));
        let expected = format!("void f(__constant void *gridcl_sym_table) {{ {source} }}");
        assert_eq!(text, used(&expected));
    }
}

#[test]
fn members_labels_tags_and_strings_are_no_uses() {
    for source in [
        "void f() { p.table = q->table; }",
        "void f() { S s = { .table = 1 }; goto table; table: g(\"table\"); }",
        "void f() { struct table x; struct { int table; } y; }",
        "struct S { float table[2]; };",
    ] {
        assert_eq!(with_table(source), source);
    }
}

#[test]
fn only_the_size_of_a_symbol_can_be_had_outside_of_functions() {
    let text = with_table("int n[sizeof(table) / sizeof(table[0])];");
    let size = "(*(__constant gridcl_type_table *)0)";
    assert_eq!(text, format!("int n[sizeof({size}) / sizeof({size}[0])];"));
    let (line, message) = refused(&format!("{TABLE}__constant float x = table[0];"));
    assert!(line == 2 && message.contains("outside of a function"), "{message}");
}

#[test]
fn asking_the_size_takes_no_parameter() {
    assert!(!with_table("kernel void k() { int n = sizeof(table); }").contains("gridcl_sym_table"));
}

#[test]
fn macros_count_as_uses() {
    let source = "#define T(i) table[i]\n#define TWO \\\n T(2)\nkernel void k() { TWO; }";
    let text = with_table(source);
    assert!(text.starts_with(&used("#define T(i) @[i]\n#define TWO \\\n T(2)\n")), "{text}");
    assert_eq!(hidden(&done(&format!("{TABLE}{source}")), "k"), ["table"]);
}

#[test]
fn macros_pass_symbols_on_in_calls() {
    let text = with_table("#define F(x) f(x)\nint f(int x) { return table[x]; }\nkernel void k() { F(1); }");
    assert!(text.starts_with("#define F(x) f(x, gridcl_sym_table)\n"), "{text}");
}

#[test]
fn macro_parameters_hide_symbols() {
    let source = "#define F(table) (table + 1)\n#define G(x) #table x##table";
    assert_eq!(with_table(source), source);
}

#[test]
fn a_macro_use_under_a_hiding_name_is_refused() {
    let (line, message) = refused(&format!("{TABLE}#define T table[0]\nvoid f() {{ int table;\nT; }}"));
    assert!(line == 4 && message.contains("`T`") && message.contains("rename"), "{message}");
}

#[test]
fn macros_may_stand_for_the_markers() {
    let source = "#define DEV static __device__\n#define LUT __constant__ const\nLUT int t[2] = {1, 2};\nDEV int f() { return t[0]; }";
    let done = done(source);
    assert_eq!(done.symbols.len(), 1);
    assert!(done.text.starts_with("#define DEV static \n#define LUT  const\ntypedef"), "{}", done.text);
    assert!(done.text.ends_with(
        "DEV int f(__constant void *gridcl_sym_t) { return (*(__constant gridcl_type_t *)gridcl_sym_t)[0]; }"
    ));
}

#[test]
fn a_text_may_define_the_markers_itself() {
    let source = "#define __constant__ __constant\n__constant__ float t[1] = {1};";
    assert_eq!(done(source).text, source);
}

#[test]
fn markers_in_front_of_functions_are_dropped() {
    let source = "__device__ float f(float x);\n__host__ __device__ __forceinline__ float f(float x) { return x; }";
    assert_eq!(done(source).text, " float f(float x);\n   float f(float x) { return x; }");
}

#[test]
fn lines_keep_their_numbers() {
    let source = "__device__\nint\na = 1,\n  b[\n2] = {1,\n2};\nvoid f(\n)\n{ a\n; }\nmark";
    let text = done(source).text;
    assert_eq!(text.lines().count(), source.lines().count());
    assert_eq!(text.lines().position(|line| line == "mark"), Some(10));
}

#[test]
fn branches_may_define_a_symbol_each() {
    let done = done("#if A\n__device__ int a[2];\n#else\n__device__ int a[4] = {1};\n#endif\nkernel void k() { a; }");
    assert_eq!(done.symbols.len(), 1);
    assert_eq!(hidden(&done, "k"), ["a"]);
}

#[test]
fn branches_may_open_one_function_twice() {
    let text = with_table(
        "#if A\nkernel void k(int a) {\n#else\nkernel void k(float a) {\n#endif\n table; }\nkernel void j() { table; }",
    );
    let head = ", __constant void *gridcl_sym_table) {";
    assert!(text.contains(&format!("k(int a{head}")) && text.contains(&format!("k(float a{head}")), "{text}");
    assert!(text.contains("void j(__constant void *gridcl_sym_table)"), "{text}");
}

#[test]
fn extern_is_the_same_symbol() {
    let done =
        done("extern __constant__ float t[];\nvoid f() { t; }\n__constant__ float t[2] = {1, 2};\nvoid g() { t; }");
    assert_eq!((done.symbols.len(), done.symbols[0].line), (1, 3));
    assert!(done.text.contains("{ (*(__constant gridcl_extern_t *)gridcl_sym_t); }"), "{}", done.text);
    assert!(done.text.contains("{ (*(__constant gridcl_type_t *)gridcl_sym_t); }"), "{}", done.text);
}

#[test]
fn extern_alone_defines() {
    let done = done("extern __constant__ float t[2];\nextern __constant__ float t[2];");
    assert_eq!(done.text.matches("gridcl_size_t").count(), 1);
}

#[test]
fn errors_name_the_line_and_what_to_do() {
    for (source, line, part) in [
        ("__device__ int a;\n__device__ int a;", 2, "second time"),
        ("__device__ int a;\n__constant__ int a;", 2, "in another"),
        ("\n__device__ __shared__ int a;", 2, "work-group memory"),
        ("__device__ __managed__ int a;", 1, "`__managed__`"),
        ("__device__ void (*f)(int);", 1, "typedef"),
        ("__device__ int (*f)[2];", 1, "typedef"),
        ("__device__ int a[];", 1, "length of `a`"),
        ("__device__ int;", 1, "without a variable"),
        ("__device__;", 1, "type"),
        ("__device__ int a(3), b;", 1, "without a variable"),
        ("__device__ int a", 1, "does not end"),
        ("void f() {\n __device__ int a; }", 2, "file scope"),
        ("void f(__constant__ int *p) {}", 1, "file scope"),
        ("#define D(n) __device__ int n\nD(a);", 1, "macro `D`"),
        ("__device__ int a;\n#define M(n) void n() { a; }\nM(f)", 3, "macro `M`"),
        ("__device__ int a;\n#define M(n) void n()\nM(f) { a; }", 3, "macro names this function"),
        ("__device__ int a;\nint f() { return a; }\nvoid g() { APPLY(f, 1); }", 3, "only be called"),
    ] {
        let (at, message) = refused(source);
        assert!(at == line && message.contains(part), "{source}\n{at}: {message}");
    }
}

#[test]
fn kernels_are_named_in_order() {
    let source =
        "#define K __kernel\nkernel void a() {}\nvoid b() {}\n__attribute__((x)) K void c(int i) { }\nkernel void d();";
    assert_eq!(kernel_names(source), ["a", "c"]);
}

#[test]
fn texts_that_cannot_hold_a_kernel_are_told_apart() {
    assert!(may_define_kernel("#define MAKE(n) __kernel void n() {}\nMAKE(f)"));
    assert!(may_define_kernel("#include \"kernels.cl\""));
    assert!(!may_define_kernel("// kernel\nfloat f() { return 1; }"));
}

#[test]
fn generated_kernels_are_known() {
    assert!(is_generated_kernel("gridcl_size_a") && is_generated_kernel("gridcl_init_a"));
    assert!(!is_generated_kernel("size_a"));
}

/// Texts of words that lead into every corner of the rewriter.
fn soup() -> impl Strategy<Value = String> {
    let words = [
        "__device__",
        "__constant__",
        "a",
        "b",
        "f",
        "int",
        "float4",
        "struct",
        "enum",
        "for",
        "if",
        "else",
        "do",
        "while",
        "case",
        "sizeof",
        "extern",
        "static",
        "kernel",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ";",
        ",",
        "=",
        "*",
        ":",
        ".",
        "^",
        "->",
        "1",
        "\"s\"",
        "'",
        "\n",
        "\n#define a",
        "\n#define M(a) f(a)\n",
        "\n#if 1\n",
        "\n#else\n",
        "\n#endif\n",
        "__attribute__((x))",
        "//",
        "/*",
        "*/",
        "\\\n",
        "é",
        "__attribute__",
        "void f(int a) {",
        "int a[] = {1};",
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..60).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_soup_of_words_makes_it_panic_or_lose_a_line(source in soup()) {
        if let Ok(done) = rewrite(&source) {
            prop_assert_eq!(done.text.matches('\n').count(), source.matches('\n').count());
        }
        kernel_names(&source);
    }

    #[test]
    fn no_text_makes_it_panic(source in any::<String>()) {
        let _ = rewrite(&format!("__device__ {source}"));
        kernel_names(&source);
    }

    #[test]
    fn texts_without_markers_are_unchanged(source in "[a-z{}();=*\n ]*") {
        prop_assert_eq!(done(&source).text, source);
    }
}
