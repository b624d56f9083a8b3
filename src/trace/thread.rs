//! The calling thread: its track in the timeline, and how deep in calls it is.

use super::Timeline;
use super::chrome::{HOST, Track};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

thread_local! {
    static NUMBER: Cell<u32> = const { Cell::new(0) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// The thread's number; the first to be asked is 1. 0 for a thread that is being torn down.
pub(super) fn number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let number = |number: &Cell<u32>| {
        if number.get() == 0 {
            number.set(NEXT.fetch_add(1, Relaxed));
        }
        number.get()
    };
    NUMBER.try_with(number).unwrap_or(0)
}

/// The thread's track, which gets its name here.
pub(super) fn track(timeline: &Timeline) -> Track {
    let is_new = NUMBER.try_with(|number| number.get() == 0).unwrap_or(false);
    let track = Track { process: HOST, thread: number() };
    if is_new {
        timeline.file.name_track(track, &name(track.thread));
    }
    track
}

fn name(number: u32) -> String {
    let thread = std::thread::current();
    match thread.name() {
        Some(name) => name.to_owned(),
        // Rust does not know the first thread of a program in C.
        None if is_first() => "main".into(),
        None => format!("thread {number}"),
    }
}

#[cfg(target_os = "linux")]
fn is_first() -> bool {
    // SAFETY: neither takes or follows a pointer.
    unsafe { libc::gettid() == libc::getpid() }
}

#[cfg(not(target_os = "linux"))]
fn is_first() -> bool {
    false
}

/// A reported call begins.
pub(super) fn enter() {
    let _ = DEPTH.try_with(|depth| depth.set(depth.get() + 1));
}

/// It is over.
pub(super) fn leave() {
    let _ = DEPTH.try_with(|depth| depth.set(depth.get().saturating_sub(1)));
}

/// Whether the thread is inside a reported call.
pub(super) fn is_inside() -> bool {
    DEPTH.try_with(Cell::get).unwrap_or(0) > 0
}
