//! A module's symbols, read and written by name.

use crate::error::{Error, ErrorKind, Result};
use crate::rt::copy::{CopyKind, Mode, copy};
use crate::rt::module::{Module, Symbol};
use crate::rt::stream::Stream;
use crate::trace;
use bytemuck::Pod;

impl Module {
    /// Writes a symbol from its start on, in stream order, on the stream's device: each device has storage of its own.
    /// `data` may change as soon as this returns (MUSA and TOPS: `MemcpyToSymbolAsync`).
    ///
    /// ```
    /// use gridcl::{Device, DeviceBuffer, Module, launch};
    /// let stream = Device::get(0)?.create_stream()?;
    /// let module = Module::from_source(stream.device(), "
    ///     __constant__ float weights[3];
    ///     __kernel void apply(__global float *x) { x[get_global_id(0)] *= weights[get_global_id(0)]; }")?;
    /// module.write_symbol(&stream, "weights", &[1.0f32, 2.0, 3.0])?;
    /// let x = DeviceBuffer::from_slice(&stream, &[10.0f32; 3])?;
    /// let apply = module.kernel("apply")?;
    /// // SAFETY: three work items, three elements.
    /// unsafe { launch!(apply<<<1, 3, 0, &stream>>>(x))? };
    /// assert_eq!(x.to_vec(&stream)?, [10.0, 20.0, 30.0]);
    /// # Ok::<(), gridcl::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where the module declares no such symbol, [`ErrorKind::InvalidValue`] for more data than
    /// it holds; nothing is written then.
    pub fn write_symbol<T: Pod>(&self, stream: &Stream, name: &str, data: &[T]) -> Result<()> {
        trace::observe("Module::write_symbol", &[("stream", &stream), ("name", &name), ("len", &data.len())], || {
            let symbol = self.holding(stream, name, size_of_val(data))?;
            let from = data.as_ptr() as usize;
            // SAFETY: the slice is valid for the call, and the copy is done with it when it returns.
            unsafe { copy(stream, symbol.address(), from, size_of_val(data), CopyKind::HostToDevice, Mode::Async) }
        })
    }

    /// Reads a symbol from its start on, after all work of the stream so far. Blocks until `data` is there.
    ///
    /// # Errors
    /// As [`write_symbol`](Self::write_symbol), and what the device reported about earlier work.
    pub fn read_symbol<T: Pod>(&self, stream: &Stream, name: &str, data: &mut [T]) -> Result<()> {
        trace::observe("Module::read_symbol", &[("stream", &stream), ("name", &name), ("len", &data.len())], || {
            let symbol = self.holding(stream, name, size_of_val(data))?;
            let (to, bytes) = (data.as_mut_ptr() as usize, size_of_val(data));
            // SAFETY: the slice is valid for the call, which returns when the copy is done.
            unsafe { copy(stream, to, symbol.address(), bytes, CopyKind::DeviceToHost, Mode::Async) }
        })
    }

    fn holding(&self, stream: &Stream, name: &str, bytes: usize) -> Result<Symbol> {
        let symbol = self.symbol_on(stream.context(), name)?;
        if bytes <= symbol.bytes() {
            return Ok(symbol);
        }
        Err(Error::new(ErrorKind::InvalidValue, format!("{name} has {} bytes", symbol.bytes()))
            .argument("data", format_args!("{bytes} bytes")))
    }
}
