//! Which functions of the seeds work; docs/coverage.md is printed from here.
