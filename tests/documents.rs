//! The documents say what is there: printed pages are fresh, and the commands that readers are told run in CI.

#![allow(clippy::panic, reason = "a test says what it expects by failing")]

#[path = "header/mod.rs"]
mod header;

use std::path::Path;

fn root(file: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn coverage_is_what_the_tables_print() {
    let page = gridcl::dialect::coverage::markdown();
    if std::env::var_os("GRIDCL_BLESS").is_some() {
        std::fs::write(root("docs/coverage.md"), &page).expect("docs/coverage.md");
    }
    let hint = "GRIDCL_BLESS=1 cargo test --test documents";
    assert!(read("docs/coverage.md") == page, "docs/coverage.md is stale: {hint}");
}

#[test]
fn the_page_of_errors_is_what_the_code_prints() {
    let page = gridcl::dialect::failures::markdown();
    if std::env::var_os("GRIDCL_BLESS").is_some() {
        std::fs::write(root("docs/errors.md"), &page).expect("docs/errors.md");
    }
    assert!(read("docs/errors.md") == page, "docs/errors.md is stale: GRIDCL_BLESS=1 cargo test --test documents");
    // The list is whole: the last kind's place is the end.
    assert_eq!(gridcl::ErrorKind::ALL.len(), gridcl::ErrorKind::Unknown as usize + 1);
    for (place, kind) in gridcl::ErrorKind::ALL.iter().enumerate() {
        assert_eq!(*kind as usize, place, "{kind:?}");
    }
}

#[test]
fn the_c_headers_are_what_the_tables_print() {
    let files = header::files();
    if std::env::var_os("GRIDCL_BLESS").is_some() {
        for (file, text) in &files {
            std::fs::create_dir_all(root(file).parent().expect("a folder")).expect("to make the folder");
            std::fs::write(root(file), text).unwrap_or_else(|error| panic!("{file}: {error}"));
        }
    }
    let stale = files.iter().filter(|(file, text)| std::fs::read_to_string(root(file)).ok().as_ref() != Some(text));
    let stale: Vec<&str> = stale.map(|(file, _)| file.as_str()).collect();
    assert!(stale.is_empty(), "stale: {stale:?}; print them with GRIDCL_BLESS=1 cargo test --test documents");
}

#[test]
fn the_readme_has_both_commands_that_a_newcomer_types() {
    let readme = read("README.md");
    for command in ["./setup.sh && cargo run --release --example 02_vector_add", "./setup.sh && cargo test"] {
        assert!(readme.contains(command), "README.md lacks: {command}");
    }
}

#[test]
fn links_between_documents_lead_somewhere() {
    for file in [
        "README.md",
        "README.zh-CN.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "docs/assumptions.md",
        "docs/environment.md",
        "docs/errors.md",
        "docs/porting.md",
        "examples/README.md",
    ] {
        let text = read(file);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            let from = root(file).parent().map(|folder| folder.join(target)).unwrap_or_default();
            assert!(from.exists(), "{file} links to {link}, which is not there");
        }
    }
}

#[test]
fn every_environment_variable_is_documented() {
    let page = read("docs/environment.md");
    let mut sources = vec![root("src")];
    while let Some(path) = sources.pop() {
        if path.is_dir() {
            sources.extend(std::fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file");
        for piece in text.split("\"GRIDCL_").skip(1) {
            let name: String = piece.chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').collect();
            assert!(page.contains(&format!("GRIDCL_{name}")), "GRIDCL_{name} of {} is not documented", path.display());
        }
    }
}
