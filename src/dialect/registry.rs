//! Host addresses that stand for kernels and symbols: what a C program's compiler would have arranged, were kernels in
//! the program itself. Both dialects share them; they end with their module.

use crate::rt::module::{Kernel, Module};
use parking_lot::RwLock;
use std::collections::HashMap;

/// What an address stands for.
#[derive(Clone, Debug)]
pub(crate) enum Registered {
    Function(Kernel),
    Symbol(Module, String),
}

impl Registered {
    /// Whether both are a kernel, or both a symbol, of one module: the later takes the place of the earlier.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Function(one), Self::Function(other)) => one.module().serial() == other.module().serial(),
            (Self::Symbol(one, _), Self::Symbol(other, _)) => one.serial() == other.serial(),
            _ => false,
        }
    }

    fn is_alive(&self) -> bool {
        match self {
            Self::Function(kernel) => kernel.module().is_alive(),
            Self::Symbol(module, _) => module.is_alive(),
        }
    }
}

/// All registrations of an address, the latest last: it is the one that counts, as long as its module is there.
type Registrations = HashMap<usize, Vec<Registered>>;

static REGISTERED: RwLock<Option<Registrations>> = RwLock::new(None);

/// Lets an address stand for something.
pub(crate) fn add(address: usize, what: Registered) {
    let mut registered = REGISTERED.write();
    let all = registered.get_or_insert_default().entry(address).or_default();
    let replaced: Vec<_> = all.extract_if(.., |known| known.is_like(&what)).collect();
    all.push(what);
    drop(registered);
    drop(replaced);
}

/// The kernel that an address stands for.
pub(crate) fn function(address: usize) -> Option<Kernel> {
    find(address, |what| match what {
        Registered::Function(kernel) => Some(kernel.clone()),
        Registered::Symbol(..) => None,
    })
}

/// The module and the name of the symbol that an address stands for.
pub(crate) fn symbol(address: usize) -> Option<(Module, String)> {
    find(address, |what| match what {
        Registered::Symbol(module, name) => Some((module.clone(), name.clone())),
        Registered::Function(_) => None,
    })
}

fn find<T>(address: usize, pick: impl Fn(&Registered) -> Option<T>) -> Option<T> {
    let registered = REGISTERED.read();
    let all = registered.as_ref()?.get(&address)?;
    all.iter().rev().filter(|what| what.is_alive()).find_map(pick)
}

/// Drops what belongs to modules that were unloaded, or died with their device's reset.
pub(crate) fn forget_dead() {
    let mut dead = Vec::new();
    if let Some(registered) = REGISTERED.write().as_mut() {
        for all in registered.values_mut() {
            dead.extend(all.extract_if(.., |what| !what.is_alive()));
        }
        registered.retain(|_, all| !all.is_empty());
    }
    // Outside of the lock: the last of a module takes its programs along.
    drop(dead);
}
