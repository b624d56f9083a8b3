//! Feeds bytes to `gridcl::testing::fuzz::signature_parser`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gridcl::testing::fuzz::signature_parser(bytes));
