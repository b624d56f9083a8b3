//! A thread that acts on the news that driver callbacks bring: they may only signal, since calls of OpenCL inside them
//! deadlock on some drivers, and a program's own wakers may do anything.
//!
//! It runs nothing of the program's but `Waker::wake`, which futures expect to be quick, so nothing holds it up.

use crate::cl::status::Result;
use crate::cl::{Event, UserEvent};
use lazy_static::lazy_static;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

lazy_static! {
    static ref WAKER: Mutex<Option<Sender<News>>> = Mutex::new(start());
}

/// What there is to do.
pub(crate) enum News {
    /// Let what waits for the event go on.
    Open(UserEvent),
    /// Do something short of the runtime's own.
    Run(Box<dyn FnOnce() + Send>),
    /// Wake a future.
    #[cfg(feature = "async")]
    Wake(std::task::Waker),
}

impl News {
    fn act(self) {
        match self {
            Self::Open(gate) => gate.complete(),
            Self::Run(something) => something(),
            #[cfg(feature = "async")]
            Self::Wake(waker) => waker.wake(),
        }
    }
}

fn start() -> Option<Sender<News>> {
    let (sender, news) = channel::<News>();
    std::thread::Builder::new()
        .name("gridcl-waker".into())
        .spawn(move || news.into_iter().for_each(act))
        .map(|_| sender)
        .ok()
}

fn act(news: News) {
    news.act();
    #[cfg(feature = "testing")]
    super::hostfn::UNDER_WAY.fetch_sub(1, std::sync::atomic::Ordering::AcqRel);
}

/// Hands news to the thread; acts at once where there is no such thread.
pub(crate) fn tell(news: News) {
    #[cfg(feature = "testing")]
    super::hostfn::UNDER_WAY.fetch_add(1, std::sync::atomic::Ordering::AcqRel);
    let sender = WAKER.lock().clone();
    match sender {
        Some(sender) => {
            if let Err(unsent) = sender.send(news) {
                act(unsent.0);
            }
        }
        None => act(news),
    }
}

/// Calls `signal` once at the end of what `marker` stands behind, from a thread of the driver or at once from this one.
/// Some drivers do not keep an event for its callback, so it is kept until then, and let go of by the thread.
pub(crate) fn at_end(marker: &Arc<Event>, signal: impl FnOnce() + Send + 'static) -> Result<()> {
    let kept = Arc::clone(marker);
    marker.on_end(move || {
        signal();
        tell(News::Run(Box::new(move || drop(kept))));
    })
}
