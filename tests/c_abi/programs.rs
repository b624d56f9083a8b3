//! The programs of `examples/c` and `tests/c_abi`: each is compiled strictly, run, and checks its own results.
