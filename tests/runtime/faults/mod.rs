//! Every call of OpenCL that the runtime makes fails in turn, under work that uses all of the API (issue 8).
//!
//! The work is cut into chapters of a few calls. What a chapter asks of OpenCL is found by counting, so that an entry
//! point that the runtime begins to use is covered by itself. Then each of them fails, the first time, the n-th time
//! and with each status that it may answer. A call of the program that fails by that says so with the right code and
//! names the entry point, and succeeds when it is made again; memory holds what it should in the end, no object of
//! OpenCL is left, and the chapter passes as it did before.

#[macro_use]
mod step;
mod both;
mod device_dies;
mod musa_only;
mod start;
mod statuses;
mod sweep;
