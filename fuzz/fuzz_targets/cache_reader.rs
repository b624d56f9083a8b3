//! Feeds bytes to `gridcl::testing::fuzz::cache_reader`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gridcl::testing::fuzz::cache_reader(bytes));
