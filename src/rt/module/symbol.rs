//! Symbols: device variables of a module, which kernels use by name and the host by name or address.

use super::Module;
use super::binary::SymbolRecord;
use super::rewrite::{self, SymbolDecl};
use crate::cl::{Kernel, Program};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::context::Context;
use crate::rt::copy::{Pattern, builtin, fill};
use crate::rt::memory::{self, Allocation, Kind, Place};
use parking_lot::RwLock;
use std::sync::Arc;

/// A symbol's storage on one device; it goes with the last of the module's builds that hold it.
#[derive(Clone, Debug)]
pub(crate) struct Symbol(Arc<Storage>);

#[derive(Debug)]
struct Storage {
    name: String,
    allocation: Arc<Allocation>,
    /// Whether the preprocessor left the declaration in the text.
    declared: bool,
}

impl Symbol {
    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether the preprocessor left the declaration in the text; without it only kernels' parameters have to be
    /// served.
    pub(super) fn is_declared(&self) -> bool {
        self.0.declared
    }

    /// Its address on the device.
    pub(crate) fn address(&self) -> usize {
        self.0.allocation.base()
    }

    /// Its size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.0.allocation.bytes()
    }

    pub(super) fn place(&self) -> Place<'_> {
        self.0.allocation.place(self.address())
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        memory::give_up(&self.allocation);
    }
}

/// What the compiler made of a symbol's declaration.
///
/// The rewriter has put a kernel into the program that demands a work group of the symbol's size, which tells the
/// size without a launch, and one that writes the initialiser.
pub(super) fn ask(program: &Program, names: &[String], symbol: &SymbolDecl) -> Result<SymbolRecord> {
    let has = |kernel: &str| names.iter().any(|name| name == kernel);
    let size_kernel = rewrite::size_kernel(&symbol.name);
    let declared = has(&size_kernel);
    let bytes = if declared { Kernel::new(program, &size_kernel)?.required_group()?[0] } else { 1 };
    if bytes == 0 {
        return Err(Error::new(ErrorKind::NotSupported, "the driver does not tell the symbol's size")
            .argument("symbol", &symbol.name));
    }
    let initialized = symbol.has_initializer && has(&rewrite::init_kernel(&symbol.name));
    Ok(SymbolRecord { bytes, declared, initialized })
}

/// Makes a symbol's storage and gives it its first value: the initialiser's, else zeros.
pub(super) fn make(context: &Arc<Context>, program: &Program, name: &str, record: SymbolRecord) -> Result<Symbol> {
    let allocation = memory::allocate(context, record.bytes, Kind::Symbol)?;
    let symbol = Symbol(Arc::new(Storage { name: name.to_owned(), allocation, declared: record.declared }));
    let queue = context.service();
    let started = if record.initialized {
        let mut init = Kernel::new(program, &rewrite::init_kernel(name))?;
        builtin::place(&mut init, 0, symbol.place()).and_then(|_| queue.run(&init, &[1; 3], &[1; 3], 1))
    } else {
        fill::enqueue(context, queue, symbol.place(), &Pattern::byte(0), record.bytes)
    };
    started.and_then(|()| queue.finish()).map_err(|failure| context.note(failure))?;
    Ok(symbol)
}

/// The modules whose symbols are found by their names alone, in the order of loading.
static PUBLISHED: RwLock<Vec<Module>> = RwLock::new(Vec::new());

impl Module {
    /// Lets [`find_by_name`] see the module's symbols until it is unloaded.
    pub(crate) fn publish(&self) {
        if self.symbol_names().next().is_some() {
            PUBLISHED.write().push(self.clone());
        }
    }

    /// Takes the module's symbols out of sight.
    pub(crate) fn withdraw(&self) {
        let gone: Vec<Self> = {
            let mut published = PUBLISHED.write();
            let (gone, kept) = std::mem::take(&mut *published).into_iter().partition(|m| m.serial() == self.serial());
            *published = kept;
            gone
        };
        drop(gone);
    }
}

/// Takes the symbols of modules that died with their device out of sight.
pub(crate) fn forget_dead() {
    let dead: Vec<Module> = PUBLISHED.write().extract_if(.., |module| !module.is_alive()).collect();
    drop(dead);
}

/// The symbol called `name` of the module that was loaded last for the context's device; where there is none, of the
/// one loaded last for another.
///
/// # Errors
/// [`ErrorKind::InvalidSymbol`] where no loaded module has it.
pub(crate) fn find_by_name(context: &Arc<Context>, name: &str) -> Result<Symbol> {
    let declares = |module: &&Module| module.is_alive() && module.symbol_names().any(|symbol| symbol == name);
    let modules: Vec<Module> = PUBLISHED.read().iter().rev().filter(declares).cloned().collect();
    let (here, elsewhere): (Vec<_>, Vec<_>) = modules.into_iter().partition(|module| module.home() == context.device());
    for module in here.iter().chain(&elsewhere) {
        match module.symbol_on(context, name) {
            // The preprocessor left the declaration out.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            answer => return answer.map_err(|error| error.with_kind(ErrorKind::InvalidSymbol)),
        }
    }
    let problem = "no loaded module declares a symbol of that name";
    Err(Error::new(ErrorKind::InvalidSymbol, problem).argument("symbol", format_args!("\"{name}\"")))
}

/// Names of symbols are no longer than this.
const NAME_BYTES: usize = 256;
/// Memory is readable or not in pieces of at least this.
const PAGE: usize = 4096;

/// Reads the name that a symbol argument points at, whatever the pointer is: unreadable memory is an answer, not a
/// fault.
pub(crate) fn read_name(address: usize) -> Option<String> {
    let mut text = [0u8; NAME_BYTES];
    let mut have = 0;
    // Up to the end of its page first, since the next one may not be readable.
    for end in [PAGE - address % PAGE, NAME_BYTES] {
        let end = end.min(NAME_BYTES);
        if end > have {
            have += read_own_memory(address.checked_add(have)?, &mut text[have..end]);
        }
        if let Some(len) = text[..have].iter().position(|&byte| byte == 0) {
            return std::str::from_utf8(&text[..len]).ok().filter(|name| !name.is_empty()).map(str::to_owned);
        }
    }
    None
}

/// Whether the system lets the process read its own memory with care; some sandboxes do not.
pub(crate) fn can_read_with_care() -> bool {
    static KNOWN: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *KNOWN.get_or_init(|| {
        let (there, mut read) = ([7_u8], [0_u8]);
        read_own_memory(there.as_ptr() as usize, &mut read) == 1 && read == there
    })
}

/// Reads bytes of the process's own memory, as many as are there in a row.
pub(crate) fn read_bytes(address: usize, bytes: usize) -> Vec<u8> {
    const STEP: usize = 1 << 20;
    let mut read = Vec::new();
    while read.len() < bytes {
        let (have, step) = (read.len(), STEP.min(bytes - read.len()));
        read.resize(have + step, 0);
        let got = address.checked_add(have).map_or(0, |from| read_own_memory(from, &mut read[have..]));
        read.truncate(have + got);
        if got < step {
            break;
        }
    }
    read
}

fn read_own_memory(address: usize, to: &mut [u8]) -> usize {
    let local = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: to.len() };
    let remote = libc::iovec { iov_base: address as *mut _, iov_len: to.len() };
    // SAFETY: the local range is ours; the kernel checks the other one.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(read).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_and_survives_garbage() {
        assert_eq!(read_name(c"constData".as_ptr() as usize).as_deref(), Some("constData"));
        for address in [0, 1, 0xdead_0000, usize::MAX, usize::MAX - 300] {
            assert_eq!(read_name(address), None, "{address:#x}");
        }
        let endless = [b'x'; 600];
        assert_eq!(read_name(endless.as_ptr() as usize), None);
    }
}
