//! What the work that the calling thread is about to enqueue is called.

use super::is_on;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    static LABEL: RefCell<Option<Arc<Label>>> = const { RefCell::new(None) };
}

/// A name for device work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Label {
    /// A kernel's name, or what is done.
    pub(crate) name: String,
    /// `kernel`, `copy` or `set`.
    pub(crate) category: &'static str,
    /// What all commands of it move together, where they do not tell themselves.
    pub(crate) bytes: usize,
    /// What else there is to say.
    pub(crate) details: Vec<(&'static str, String)>,
}

/// Gives the calling thread's work a name until the answer is dropped; an inner name hides an outer one. `None` while
/// there is no timeline.
#[inline]
pub(crate) fn labelled(label: impl FnOnce() -> Label) -> Option<Labelled> {
    is_on().then(|| {
        let label = Some(Arc::new(label()));
        Labelled(LABEL.try_with(|current| current.replace(label)).ok().flatten())
    })
}

/// The name that the calling thread's work has now.
pub(crate) fn label() -> Option<Arc<Label>> {
    LABEL.try_with(|current| current.borrow().clone()).ok().flatten()
}

/// Takes a name back when it is dropped.
#[derive(Debug)]
pub(crate) struct Labelled(Option<Arc<Label>>);

impl Drop for Labelled {
    fn drop(&mut self) {
        let before = self.0.take();
        let _ = LABEL.try_with(|current| current.replace(before));
    }
}
