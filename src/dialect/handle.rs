//! Handles: numbers that look like pointers, are never followed and never used twice, so that a dead handle is an
//! error and never somebody else's object.

use super::{Dialect, registry, thread};
use crate::error::{Error, ErrorKind, Result};
use crate::rt::event::Event;
use crate::rt::memory::Array;
use crate::rt::memory::ordered::MemPool;
use crate::rt::module::{Kernel, Module};
use crate::rt::stream::Stream;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};

/// Handles are this far apart, as pointers to objects would be.
const STEP: usize = 16;

/// The live handles of one dialect.
pub(crate) struct Handles {
    objects: LazyLock<RwLock<HashMap<usize, Object, BuildHasherDefault<Counted>>>>,
    next: AtomicUsize,
}

/// Handles are counted up and not chosen by anybody, so that their own bits spread them well enough.
#[derive(Default)]
struct Counted(u64);

impl Hasher for Counted {
    fn write_usize(&mut self, handle: usize) {
        self.0 = ((handle / STEP) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    fn write(&mut self, _: &[u8]) {}
    fn finish(&self) -> u64 {
        self.0
    }
}

/// What a handle may name.
#[derive(Clone, Debug)]
pub(crate) enum Object {
    Stream(Stream),
    Event(Event),
    Module(Module),
    Function(Kernel),
    Array(Arc<Array>),
    Pool(MemPool),
}

impl Object {
    fn is_alive(&self) -> bool {
        match self {
            Self::Stream(stream) => stream.is_alive(),
            Self::Event(event) => event.is_alive(),
            Self::Module(module) => module.is_alive(),
            Self::Function(kernel) => kernel.module().is_alive(),
            Self::Array(array) => array.is_alive(),
            Self::Pool(pool) => pool.is_alive(),
        }
    }
}

impl Handles {
    /// Handles that count from `first`; dialects start far apart, so that one's handle is none of the other's.
    pub(crate) const fn starting_at(first: usize) -> Self {
        Self { objects: LazyLock::new(RwLock::default), next: AtomicUsize::new(first) }
    }

    /// A handle for an object.
    pub(crate) fn add(&self, object: Object) -> usize {
        let handle = self.next.fetch_add(STEP, Relaxed);
        self.objects.write().insert(handle, object);
        handle
    }

    /// The handle of the object that `is_it` knows, a new one where it has none.
    pub(crate) fn find_or_add(&self, is_it: impl Fn(&Object) -> bool, make: impl FnOnce() -> Object) -> usize {
        let mut objects = self.objects.write();
        if let Some((&handle, _)) = objects.iter().find(|(_, object)| is_it(object)) {
            return handle;
        }
        let handle = self.next.fetch_add(STEP, Relaxed);
        objects.insert(handle, make());
        handle
    }

    /// Ends a handle if `wanted` accepts what it names; answers that.
    pub(crate) fn remove(&self, handle: usize, wanted: impl FnOnce(&Object) -> bool) -> Option<Object> {
        let mut objects = self.objects.write();
        if !objects.get(&handle).is_some_and(|object| object.is_alive() && wanted(object)) {
            return None;
        }
        objects.remove(&handle)
    }

    /// Forgets what died with its device's reset.
    pub(crate) fn sweep(&self) {
        let dead: Vec<Object> =
            self.objects.write().extract_if(|_, object| !object.is_alive()).map(|(_, o)| o).collect();
        drop(dead);
    }

    fn get<T>(&self, handle: usize, pick: impl FnOnce(&Object) -> Option<&T>) -> Option<T>
    where
        T: Clone,
    {
        self.look(handle, |object| pick(object).cloned())
    }

    /// What `pick` takes of the object that a handle names.
    pub(crate) fn look<T>(&self, handle: usize, pick: impl FnOnce(&Object) -> Option<T>) -> Option<T> {
        self.objects.read().get(&handle).filter(|object| object.is_alive()).and_then(pick)
    }
}

/// The stream that a handle means: a created one, the default stream of the current device, or the thread's own.
pub(crate) fn stream<D: Dialect>(handle: usize) -> Result<Stream> {
    if D::LEGACY_STREAMS.contains(&handle) {
        return thread::device::<D>()?.default_stream();
    }
    if D::PER_THREAD_STREAMS.contains(&handle) {
        return thread::own_stream::<D>(thread::device::<D>()?);
    }
    let found = D::handles().get(handle, |object| match object {
        Object::Stream(stream) => Some(stream),
        _ => None,
    });
    found.ok_or_else(|| dead("stream", "a stream", handle))
}

/// The event that a handle means.
pub(crate) fn event<D: Dialect>(name: &'static str, handle: usize) -> Result<Event> {
    let found = D::handles().get(handle, |object| match object {
        Object::Event(event) => Some(event),
        _ => None,
    });
    found.ok_or_else(|| dead(name, "an event", handle))
}

/// The array that a handle means.
pub(crate) fn array<D: Dialect>(name: &'static str, handle: usize) -> Result<Arc<Array>> {
    let found = D::handles().get(handle, |object| match object {
        Object::Array(array) => Some(array),
        _ => None,
    });
    found.ok_or_else(|| dead(name, "an array", handle))
}

/// The module that a handle means.
pub(crate) fn module<D: Dialect>(handle: usize) -> Result<Module> {
    let found = D::handles().get(handle, |object| match object {
        Object::Module(module) => Some(module),
        _ => None,
    });
    found.ok_or_else(|| dead("module", "a module", handle))
}

/// The kernel that a function handle means, or a host address that was registered for one.
pub(crate) fn function<D: Dialect>(handle: usize) -> Result<Kernel> {
    let found = D::handles().get(handle, |object| match object {
        Object::Function(kernel) => Some(kernel),
        _ => None,
    });
    found.or_else(|| registry::function(handle)).ok_or_else(|| {
        dead("func", "a function", handle)
            .with_kind(ErrorKind::InvalidFunction)
            .help("take a handle from ModuleGetFunction, or register the address with gridclRegisterFunction")
    })
}

/// The memory pool that a handle means.
pub(crate) fn pool<D: Dialect>(handle: usize) -> Result<MemPool> {
    let found = D::handles().get(handle, |object| match object {
        Object::Pool(pool) => Some(pool),
        _ => None,
    });
    found.ok_or_else(|| {
        dead("memPool", "a memory pool", handle)
            .with_kind(ErrorKind::InvalidValue)
            .help("take a handle from DeviceGetMemPool or MemPoolCreate")
    })
}

/// The error for a handle that names nothing of that kind.
pub(crate) fn dead(name: &'static str, what: &str, handle: usize) -> Error {
    let problem = match handle {
        0 => format!("null is not {what}"),
        _ => format!("it is not {what} of this dialect that is alive"),
    };
    Error::new(ErrorKind::InvalidHandle, problem).argument(name, format_args!("{handle:#x}"))
}
