//! What each entry point of OpenCL may answer, what that means to a program, and where it need not be told.

use gridcl::ErrorKind::{self, *};

/// The statuses that an entry point may answer when nothing is wrong with the call, the likeliest first.
pub fn statuses(entry: &str) -> &'static [i32] {
    match entry {
        "clBuildProgram" => &[-11, -6, -5, -3],
        "clCreateProgramWithBinary" => &[-42, -6, -5],
        "clCreateKernel" => &[-6, -5, -46],
        "clCreateImage" => &[-4, -6, -5, -10],
        "clCreateBuffer" | "clCreateSubBuffer" => &[-4, -6, -5, -61],
        "clSVMAlloc" => &[-4, -6],
        "clEnqueueNDRangeKernel" => &[-5, -4, -6, -54],
        entry if entry.starts_with("clEnqueue") => &[-6, -5, -4],
        _ => &[-6, -5],
    }
}

/// The statuses by which drivers say that the device died.
pub const DEATHS: [(i32, ErrorKind); 3] = [(-36, LaunchFailure), (-14, LaunchFailure), (-9999, IllegalAddress)];

/// The kinds of error that a program may be told for an entry point's status.
pub fn kinds(entry: &str, status: i32) -> &'static [ErrorKind] {
    match (entry, status) {
        // Where memory was asked for, the lack of anything is the lack of memory.
        ("clCreateBuffer" | "clCreateSubBuffer" | "clCreateImage" | "clSVMAlloc" | "clEnqueueMapBuffer", -5) => {
            &[OutOfMemory, LaunchOutOfResources]
        }
        ("clCreateImage", -10) => &[NotSupported],
        (_, -4 | -6 | -61) => &[OutOfMemory],
        (_, -5) => &[LaunchOutOfResources],
        ("clBuildProgram", -11) => &[BuildFailed],
        ("clBuildProgram", -3) => &[NotSupported],
        ("clCreateKernel", -46) => &[NotFound],
        ("clEnqueueNDRangeKernel", -54) => &[LaunchOutOfResources, InvalidConfiguration],
        _ => &[],
    }
}

/// Why a program is never told of an entry point's single failure; `None` where it has to be.
pub fn never_told(entry: &str) -> Option<&'static str> {
    Some(match entry {
        _ if entry.starts_with("clRelease") => "nobody can do anything about it",
        "clSVMFree" | "clEnqueueUnmapMemObject" => "nobody can do anything about it",
        "clSVMAlloc" => "less may do, or what is kept only for speed makes room",
        "clCreateImage" => "it is tried again after a clean-up",
        "clCreateBuffer" | "clEnqueueMapBuffer" => "pinning is tried again after a clean-up, and a copy can do without",
        "clSetUserEventStatus" => "it is tried again",
        "clEnqueueSVMMigrateMem" => "a prefetch is a hint",
        "clCreateProgramWithBinary" => "the module is built from its text",
        _ => return None,
    })
}

/// Why a program need not be told of some of an entry point's failures, though it is of others.
pub fn at_times_untold(chapter: &str, entry: &str) -> Option<&'static str> {
    Some(match (chapter, entry) {
        ("managed memory", "clEnqueueSVMUnmap") => "a block that goes is tried again",
        ("managed memory", "clEnqueueSVMMap") => "an allocation that finds no room is tried again",
        ("module cache", _) => "what cannot be had from the cache, or put there, is made anew",
        (_, "clFlush" | "clGetEventInfo" | "clEnqueueMarkerWithWaitList") => {
            "who only looks around for what is done, or gives a stream up, leaves it to those who wait"
        }
        (_, "clFinish") => "a copy whose host memory is the program's again when it returns waits until it can",
        _ => return None,
    })
}
