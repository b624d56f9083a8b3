//! The C headers of `include`, printed from what Rust compiles: functions from the dialects' tables, types and constants
//! from the sources that declare them. Pure text; `tests/documents.rs` compares it with what is checked in.

pub(crate) mod c;
pub(crate) mod cxx;
pub(crate) mod parse;
pub(crate) mod print;
pub(crate) mod values;

use gridcl::dialect::Entry;
use parse::Item;
use std::path::{Path, PathBuf};

/// A dialect as its header needs it.
pub(crate) struct Front {
    /// The folder in `src/dialect`, the module of the crate, and the prefix of its functions.
    pub(crate) name: &'static str,
    /// What its vendor calls it.
    pub(crate) title: &'static str,
    /// The header, below `include`.
    pub(crate) header: &'static str,
    pub(crate) table: &'static [Entry],
    /// Names that the vendor's programs use and that are nothing here.
    pub(crate) empty_macros: &'static str,
}

pub(crate) const FRONTS: [Front; 2] = [
    Front {
        name: "musa",
        title: "MUSA Runtime",
        header: "musa_runtime.h",
        table: gridcl::musa::TABLE,
        empty_macros: "/** How the runtime calls back: as C functions are called. */\n#define MUSART_CB\n",
    },
    Front {
        name: "tops",
        title: "TopsRuntime",
        header: "tops/tops_runtime.h",
        table: gridcl::tops::TABLE,
        empty_macros: "/** A symbol as an argument: its registered address. */\n#define TOPS_SYMBOL(symbol) (symbol)\n",
    },
];

/// Every file that is printed, below the repository's root, with its text.
pub(crate) fn files() -> Vec<(String, String)> {
    let mut files = vec![("include/gridcl.h".to_owned(), print::own_header())];
    let mut all_items = Vec::new();
    for front in &FRONTS {
        let items = items(front.name);
        files.push((format!("include/{}", front.header), print::header(front, &items)));
        files.push((format!("include/{}", front.header.replace(".h", "_api.h")), print::alias(front)));
        all_items.push((front.name, items));
    }
    files.push(("tests/c_abi/values.rs".to_owned(), values::module(&all_items)));
    files
}

/// What the sources of a dialect declare for C: codes first, then the files in the order of their names.
pub(crate) fn items(dialect: &str) -> Vec<Item> {
    let folder = root().join("src/dialect").join(dialect);
    let mut paths = Vec::new();
    collect(&folder, &mut paths);
    paths.sort_by_key(|path| (!path.ends_with("codes.rs"), !path.ends_with("types.rs"), path.clone()));
    paths.iter().flat_map(|path| parse_file(path)).collect()
}

/// What `src/dialect/native.rs` declares.
pub(crate) fn own_items() -> Vec<Item> {
    parse_file(&root().join("src/dialect/native.rs"))
}

fn parse_file(path: &Path) -> Vec<Item> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    parse::items(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        // The tables are compiled, not read.
        let is_table = path.file_stem().is_some_and(|name| name == "table");
        if path.is_dir() && !is_table {
            collect(&path, into);
        } else if !is_table {
            into.push(path);
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
