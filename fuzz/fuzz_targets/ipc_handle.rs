//! Feeds bytes to `gridcl::testing::fuzz::ipc_handle`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gridcl::testing::fuzz::ipc_handle(bytes));
