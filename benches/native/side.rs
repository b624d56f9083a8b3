//! The two sides: gridcl's MUSA dialect in this process, and the CUDA program as a child that takes orders.

use super::{kernels, memory};
use gridcl::musa::*;
use std::ffi::{CStr, c_void};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::ptr::null_mut;

/// A row that is ready to run.
pub(super) trait Work {
    /// Does it several times in a row and answers the seconds of one time.
    fn sample(&mut self, times: usize) -> f64;

    /// Looks whether the result is right.
    fn check(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// gridcl's side.
pub(super) struct Gridcl {
    shift: u32,
}

impl Gridcl {
    pub(super) fn new(shift: u32) -> Self {
        Self { shift }
    }

    pub(super) fn open(&mut self, row: &str) -> Box<dyn Work> {
        memory::open(row, self.shift)
            .or_else(|| kernels::open(row, self.shift))
            .unwrap_or_else(|| panic!("there is no row {row}"))
    }
}

/// The CUDA program. It answers each order with a line.
pub(super) struct Cuda {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Cuda {
    pub(super) fn start(program: &str, shift: u32) -> Self {
        let mut child = Command::new(program)
            .arg(shift.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        let (orders, answers) = (child.stdin.take(), child.stdout.take());
        let mut cuda =
            Self { child, orders: orders.expect("a pipe"), answers: BufReader::new(answers.expect("a pipe")) };
        println!("CUDA: {}", cuda.answer());
        cuda
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(1..) => line.trim_end().to_owned(),
            _ => panic!("the CUDA program ended: {:?}", self.child.wait()),
        }
    }

    fn order(&mut self, order: &str) -> String {
        writeln!(self.orders, "{order}").and_then(|()| self.orders.flush()).expect("the CUDA program to listen");
        self.answer()
    }

    pub(super) fn open(&mut self, row: &str) {
        let answer = self.order(&format!("open {row}"));
        assert_eq!(answer, "ok", "{row} in CUDA");
    }

    pub(super) fn sample(&mut self, times: usize) -> f64 {
        let answer = self.order(&format!("run {times}"));
        answer.parse().unwrap_or_else(|_| panic!("the CUDA program says {answer}"))
    }

    pub(super) fn close(&mut self) -> Result<(), String> {
        let answer = self.order("close");
        if answer == "ok" { Ok(()) } else { Err(answer) }
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        let _ = writeln!(self.orders, "quit").and_then(|()| self.orders.flush());
        let _ = self.child.wait();
    }
}

#[track_caller]
pub(super) fn ok(code: musaError_t) {
    assert_eq!(code, musaSuccess, "{}", gridcl::last_error_detail().unwrap_or_default());
}

/// Device memory, freed with the value.
pub(super) struct Memory {
    pub(super) at: *mut c_void,
    pub(super) bytes: usize,
}

/// What uploads and checks move at a time.
pub(super) const CHUNK: usize = 64 << 20;

impl Memory {
    pub(super) fn new(bytes: usize) -> Self {
        let mut at = null_mut();
        // SAFETY: a variable for the result.
        ok(unsafe { musaMalloc(&mut at, bytes) });
        Self { at, bytes }
    }

    /// Memory whose 32-bit words are what `word` says of their numbers.
    pub(super) fn of(words: usize, word: impl Fn(usize) -> u32) -> Self {
        let memory = Self::new(4 * words);
        let mut chunk = Vec::with_capacity(CHUNK / 4);
        for start in (0..words).step_by(CHUNK / 4) {
            chunk.clear();
            chunk.extend((start..words.min(start + CHUNK / 4)).map(&word));
            let to = memory.at.wrapping_byte_add(4 * start);
            // SAFETY: both ranges are as long as said.
            ok(unsafe { musaMemcpy(to, chunk.as_ptr().cast(), 4 * chunk.len(), musaMemcpyHostToDevice) });
        }
        memory
    }

    /// Shows all words with the number of the first, a chunk at a time.
    pub(super) fn each_chunk(&self, mut see: impl FnMut(usize, &[u32]) -> Result<(), String>) -> Result<(), String> {
        let words = self.bytes / 4;
        let mut chunk = vec![0_u32; words.min(CHUNK / 4)];
        for start in (0..words).step_by(CHUNK / 4) {
            let part = &mut chunk[..(words - start).min(CHUNK / 4)];
            let from = self.at.wrapping_byte_add(4 * start);
            // SAFETY: as above.
            ok(unsafe { musaMemcpy(part.as_mut_ptr().cast(), from, 4 * part.len(), musaMemcpyDeviceToHost) });
            see(start, part)?;
        }
        Ok(())
    }

    /// Refuses words that are not what `word` says.
    pub(super) fn expect(&self, word: impl Fn(usize) -> u32) -> Result<(), String> {
        self.each_chunk(|start, chunk| {
            let wrong = chunk.iter().zip(start..).find(|&(&got, index)| got != word(index));
            wrong.map_or(Ok(()), |(got, index)| Err(format!("word {index} is {got:#x}, not {:#x}", word(index))))
        })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        ok(musaFree(self.at));
    }
}

/// A stream, destroyed with the value.
pub(super) struct Stream(pub(super) musaStream_t);

impl Stream {
    pub(super) fn new() -> Self {
        let mut stream = null_mut();
        // SAFETY: a variable for the result.
        ok(unsafe { musaStreamCreateWithFlags(&mut stream, musaStreamNonBlocking) });
        Self(stream)
    }

    pub(super) fn wait(&self) {
        ok(musaStreamSynchronize(self.0));
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        ok(musaStreamDestroy(self.0));
    }
}

/// A module, unloaded with the value.
pub(super) struct Module(musaModule_t);

impl Module {
    pub(super) fn new(text: &str) -> Self {
        let (mut module, text) = (null_mut(), format!("{text}\0"));
        // SAFETY: a variable for the result, and a text that ends with NUL.
        ok(unsafe { musaModuleLoadData(&mut module, text.as_ptr().cast()) });
        Self(module)
    }

    pub(super) fn function(&self, name: &CStr) -> musaFunction_t {
        let mut function = null_mut();
        // SAFETY: a variable for the result.
        ok(unsafe { musaModuleGetFunction(&mut function, self.0, name.as_ptr()) });
        function
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        ok(musaModuleUnload(self.0));
    }
}

/// Arguments of a launch: values, and the list of where they are.
#[derive(Default)]
pub(super) struct Arguments {
    values: Vec<Box<[u8]>>,
    list: Vec<*mut c_void>,
}

impl Arguments {
    pub(super) fn pointer(self, memory: &Memory) -> Self {
        self.with(&memory.at.addr().to_ne_bytes())
    }

    pub(super) fn word(self, value: impl Into<Word>) -> Self {
        self.with(&value.into().0)
    }

    fn with(mut self, value: &[u8]) -> Self {
        let value: Box<[u8]> = value.into();
        self.list.push(value.as_ptr().cast_mut().cast());
        self.values.push(value);
        self
    }

    pub(super) fn launch(&self, function: musaFunction_t, grid: dim3, block: dim3, stream: &Stream) {
        debug_assert_eq!(self.list.len(), self.values.len());
        let list = self.list.as_ptr().cast_mut();
        // SAFETY: an address for each parameter of the kernel, of a value of its size, which is only read.
        ok(unsafe { musaLaunchKernel(function.cast(), grid, block, list, 0, stream.0) });
    }
}

/// Four bytes of an argument.
pub(super) struct Word([u8; 4]);

impl From<u32> for Word {
    fn from(value: u32) -> Self {
        Self(value.to_ne_bytes())
    }
}

impl From<f32> for Word {
    fn from(value: f32) -> Self {
        Self(value.to_ne_bytes())
    }
}
