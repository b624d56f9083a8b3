//! Small things that many tests need.

use gridcl::testing::Gate;
use gridcl::{Device, Stream};
use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long a test waits for something that has to happen; far beyond what a slow machine needs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The first device.
pub fn device() -> Device {
    Device::get(0).expect("an OpenCL device; run ./setup.sh")
}

/// Whether tests may take most of the device's memory: `GRIDCL_TEST_LARGE=0` spares a driver that takes minutes for it.
pub fn allows_large() -> bool {
    std::env::var("GRIDCL_TEST_LARGE").as_deref() != Ok("0")
}

/// Asserts that a dialect's call succeeded, with the runtime's own words where it did not.
macro_rules! ok {
    ($call:expr) => {{
        let code = $call;
        assert_eq!(code, SUCCESS, "{}: {:?}", stringify!($call), gridcl::last_error_detail());
    }};
}

/// Asserts that a dialect's call failed with a code, that the code is the thread's last error and that the words
/// name the call and hold each of the texts given. Clears the last error.
macro_rules! fails {
    ($call:expr, $code:expr $(, $text:expr)* $(,)?) => {{
        let _ = get_last_error();
        let code = $call;
        assert_eq!(code, $code, "{}: {:?}", stringify!($call), gridcl::last_error_detail());
        assert_eq!(get_last_error(), $code, "{} is recorded", stringify!($call));
        let detail = gridcl::last_error_detail().expect("a text for the failure");
        assert!(detail.trim_start_matches('_').starts_with(NAME), "the text names the call: {detail}");
        $(assert!(detail.contains($text), "{:?} in: {detail}", $text);)*
    }};
}

/// Waits until `done` answers true.
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "waited in vain for: {what}");
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Runs `act` in a thread of its own and asserts that it comes back in time.
pub fn in_time<T: Send + 'static>(what: &str, act: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, answer) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(act()));
    answer.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{what}: {error}"))
}

/// A stream of the safe API behind a closed gate.
pub fn gated(device: Device) -> (Stream, Gate) {
    let stream = device.create_stream().expect("a stream");
    let gate = Gate::close(&stream).expect("a gate");
    (stream, gate)
}

/// What a callback waits for, so that it holds back what comes after it in its stream.
#[derive(Debug, Default)]
pub struct Latch(Arc<(Mutex<bool>, Condvar)>);

impl Latch {
    /// What the callback is given; it has to [`pass`](Self::pass) once.
    pub fn user(&self) -> *mut c_void {
        Arc::into_raw(Arc::clone(&self.0)).cast_mut().cast()
    }

    /// Waits until the latch is dropped.
    ///
    /// # Safety
    /// `user` has to come from [`Latch::user`], and be used once.
    pub unsafe fn pass(user: *mut c_void) {
        let latch = unsafe { Arc::from_raw(user.cast_const().cast::<(Mutex<bool>, Condvar)>()) };
        let open = latch.0.lock().unwrap();
        drop(latch.1.wait_timeout_while(open, PATIENCE, |open| !*open).unwrap());
    }
}

impl Drop for Latch {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }
}
