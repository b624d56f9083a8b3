//! The seeds of the fuzz targets, and each with every byte changed and every end cut off, as ordinary tests.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test says what it expects by failing")]

use gridcl::testing::fuzz;
use std::path::Path;

/// Feeds each seed of a target, whole, cut and damaged.
fn feed(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(name);
    let mut seeds = 0;
    for file in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        target(&bytes);
        for at in 0..bytes.len() {
            target(&bytes[..at]);
            for change in [0x01, 0x20, 0x80, 0xFF] {
                let mut damaged = bytes.clone();
                damaged[at] ^= change;
                target(&damaged);
            }
        }
        seeds += 1;
    }
    assert!(seeds >= 5, "{name} has {seeds} seeds");
}

#[test]
fn symbol_rewriter() {
    feed("symbol_rewriter", fuzz::symbol_rewriter);
}

#[test]
fn signature_parser() {
    feed("signature_parser", fuzz::signature_parser);
}

#[test]
fn cache_reader() {
    feed("cache_reader", fuzz::cache_reader);
}

#[test]
fn ipc_handle() {
    feed("ipc_handle", fuzz::ipc_handle);
}
