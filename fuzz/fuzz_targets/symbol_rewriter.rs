//! Feeds bytes to `gridcl::testing::fuzz::symbol_rewriter`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gridcl::testing::fuzz::symbol_rewriter(bytes));
