//! CUDA-style runtime APIs on any OpenCL device.
//!
//! gridcl lets programs written for the MUSA Runtime (`musa*`) and TopsRuntime (`tops*`) run wherever there is an
//! OpenCL driver, a CPU's included, by translating each call: a stream becomes an in-order command queue, an event a
//! marker, a launch of grid x block a global x local size. Kernels are OpenCL C.
//!
//! Three surfaces over one runtime: the safe API at the root of this crate, the dialects in [`musa`] and [`tops`]
//! with the vendors' names, signatures and numbers, and a C ABI of the same calls (`libgridcl.so`).
//!
//! # From what you know to what is here
//!
//! | CUDA | MUSA | TOPS | OpenCL | gridcl |
//! | --- | --- | --- | --- | --- |
//! | device | `musaSetDevice` | `topsSetDevice` | `cl_device_id`, `cl_context` | [`Device`], always named |
//! | `cudaMalloc` | `musaMalloc` | `topsMalloc` | SVM or `cl_mem` | [`DeviceBuffer`] |
//! | `cudaMallocArray` | `musaMallocArray` | none | image | [`Array`], [`Sampler`] |
//! | `cudaMallocPitch`, `cudaMemcpy2D`, … | `musaMallocPitch`, `musaMemcpy2D`, … | none | `clEnqueueReadBufferRect`, … | [`PitchedBuffer`] |
//! | `cudaMallocHost` | `musaMallocHost` | `topsHostMalloc` | `CL_MEM_ALLOC_HOST_PTR` | [`PinnedBuffer`] |
//! | `cudaMallocManaged` | `musaMallocManaged` | | SVM | [`ManagedBuffer`] |
//! | `cudaMemcpyAsync` | `musaMemcpyAsync` | `topsMemcpyAsync` | `clEnqueueSVMMemcpy`, … | [`Stream::copy`], [`Stream::upload`], [`Stream::download`] |
//! | stream | `musaStream_t` | `topsStream_t` | in-order queue | [`Stream`] |
//! | event | `musaEvent_t` | `topsEvent_t` | marker | [`Event`] |
//! | module | `musaModuleLoadData` | `topsModuleLoadData` | `cl_program` | [`Module`] |
//! | `__constant__`, `__device__` variables | `musaMemcpyToSymbol` | `topsMemcpyToSymbol` | none | symbols of a [`Module`] |
//! | `kernel<<<g, b, s, st>>>(…)` | `musaLaunchKernel` | `topsLaunchKernel` | `clEnqueueNDRangeKernel` | [`launch!`], [`Kernel::launch`] |
//! | `cudaGetLastError` | `musaGetLastError` | `topsGetLastError` | status codes | [`Error`], [`last_error_detail`] |
//!
//! [`concepts`] has a program for each of them.
//!
//! # A first program
//!
//! ```
//! use gridcl::prelude::*;
//!
//! let device = Device::get(0)?;
//! let stream = device.create_stream()?;
//! let module = Module::from_source(device, "
//!     __kernel void saxpy(float a, __global const float *x, __global float *y, uint n) {
//!         uint i = get_global_id(0);
//!         if (i < n) y[i] += a * x[i];
//!     }")?;
//! let saxpy = module.kernel("saxpy")?;
//!
//! let n = 1000;
//! let x = DeviceBuffer::from_slice(&stream, &vec![1.0f32; n])?;
//! let y = DeviceBuffer::from_slice(&stream, &vec![2.0f32; n])?;
//! // SAFETY: the kernel stays below `n`, which is the length of both buffers.
//! unsafe { launch!(saxpy<<<Dim3::covering(n, 256), 256, 0, &stream>>>(3.0f32, x, y, n as u32))? };
//! assert_eq!(y.to_vec(&stream)?, vec![5.0; n]);
//! # Ok::<(), gridcl::Error>(())
//! ```
//!
//! # What the types promise
//!
//! All types are `Send + Sync`. The device is always named; nothing depends on the thread, except in the dialects.
//! Copies from slices are done with the slice when they return; copies that go on after the call take only memory
//! that the runtime keeps alive ([`DeviceBuffer`], [`PinnedBuffer`]). `Drop` never waits: memory that work under way
//! may use is reused when that work is done. Only launches are `unsafe`, because a kernel does what it likes.
//!
//! # Features
//!
//! | feature | on | what it adds |
//! | --- | --- | --- |
//! | `musa`, `tops` | by default | the dialects |
//! | `half` | | `half::f16` and `half::bf16` as elements and arguments |
//! | `async` | | [`Event::wait_async`] and [`Stream::synchronize_async`], plain futures |
//! | `cli` | | the command-line program `gridcl`: `cargo install gridcl --features cli` |
//! | `capi` | | the C ABI: every function of the dialects and of [`dialect::native`] under its own name |
//! | `testing` | | counters, faults and gates for gridcl's own tests; not stable |

#![cfg_attr(
    not(all(feature = "musa", feature = "tops")),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        unused_macros,
        unused_mut,
        reason = "the dialects share what one of them may not need"
    )
)]

mod api;
mod cl;
pub mod dialect;
mod error;
mod rt;
#[cfg(feature = "testing")]
pub mod testing;
mod trace;

#[doc = include_str!("../docs/concepts.md")]
pub mod concepts {}

pub use api::{
    Array, ArrayShape, DeviceBuffer, DevicePtr, DeviceSlice, DeviceSliceMut, ManagedBuffer, ManagedRead, ManagedWrite,
    PinnedBuffer, PinnedSlice, PinnedSliceMut, PitchedBuffer, PitchedView, PitchedViewMut, Reading, Shape, Source,
    Strided, Target, Texel, Writing,
};
pub use cl::caps::DeviceType;
#[cfg(feature = "musa")]
pub use dialect::musa;
pub use dialect::thread::last_error_detail;
#[cfg(feature = "tops")]
pub use dialect::tops;
pub use error::{Error, ErrorKind, Result};
pub use rt::device::Device;
pub use rt::event::{Event, EventFlags};
#[cfg(feature = "async")]
pub use rt::future::Completion;
pub use rt::lacks::Substitute;
pub use rt::launch::args::{Argument, KernelArg, Local};
pub use rt::launch::sampler::{Addressing, Filter, Sampler};
pub use rt::launch::{Dim3, Launch};
pub use rt::module::{Kernel, KernelLimits, KernelParameter, Module, ModuleBuilder, ParameterKind};
pub use rt::stream::{Stream, StreamFlags};

/// What most programs import: `use gridcl::prelude::*;`.
pub mod prelude {
    pub use crate::{
        Addressing, Array, Device, DeviceBuffer, Dim3, Event, EventFlags, Filter, Kernel, KernelArg, Local,
        ManagedBuffer, Module, PinnedBuffer, PitchedBuffer, Sampler, Stream, StreamFlags, launch,
    };
}
