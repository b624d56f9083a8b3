//! The steps of a chapter: calls of the program, one of which may meet the fault that is planned.

use super::statuses;
use gridcl::ErrorKind;

/// What a chapter is run with: nothing, or a fault that one of its steps may meet.
pub struct Steps {
    planned: Option<Planned>,
    /// The step that failed, with the words of the failure.
    pub refused: Option<String>,
}

/// A fault on its way.
struct Planned {
    entry: String,
    status: i32,
    code_of: fn(ErrorKind) -> i32,
}

impl Steps {
    /// No step may fail.
    pub fn sure() -> Self {
        Self { planned: None, refused: None }
    }

    /// One step may fail, by that entry point's status and with the code for it.
    pub fn risky(entry: &str, status: i32, code_of: fn(ErrorKind) -> i32) -> Self {
        Self { planned: Some(Planned { entry: entry.into(), status, code_of }), refused: None }
    }

    /// Takes a step: a call that answers its code. Where it fails, it has to say so in the right way, and is made again.
    /// Answers whether it failed at first.
    pub fn take(&mut self, what: &str, success: i32, call: &mut dyn FnMut() -> i32) -> bool {
        let code = call();
        if code == success {
            return false;
        }
        let detail = gridcl::last_error_detail().unwrap_or_default();
        let planned = self.expects_failure(what, &detail);
        let allowed = statuses::kinds(&planned.entry, planned.status);
        assert!(
            allowed.iter().any(|&kind| (planned.code_of)(kind) == code),
            "{what}: {code} is none of {allowed:?}: {detail}"
        );
        self.note(what, detail);
        let again = call();
        assert_eq!(again, success, "{what}, made again: {:?}", gridcl::last_error_detail());
        true
    }

    /// The same for a call of the safe API, and for what tests do.
    pub fn get<T>(&mut self, what: &str, mut call: impl FnMut() -> gridcl::Result<T>) -> T {
        let error = match call() {
            Ok(value) => return value,
            Err(error) => error,
        };
        let planned = self.expects_failure(what, &error.to_string());
        let allowed = statuses::kinds(&planned.entry, planned.status);
        assert!(allowed.contains(&error.kind()), "{what}: {:?} is none of {allowed:?}: {error}", error.kind());
        self.note(what, error.to_string());
        call().unwrap_or_else(|error| panic!("{what}, made again: {error}"))
    }

    fn expects_failure(&self, what: &str, detail: &str) -> &Planned {
        assert_eq!(self.refused, None, "one refusal by OpenCL fails one call, not {what} as well: {detail}");
        let planned = self.planned.as_ref().unwrap_or_else(|| panic!("{what} fails of itself: {detail}"));
        assert!(detail.contains(&planned.entry), "{what} names the entry point {}: {detail}", planned.entry);
        planned
    }

    fn note(&mut self, what: &str, detail: String) {
        self.refused = Some(format!("{what}: {detail}"));
    }
}

/// Takes a step of a dialect.
macro_rules! step {
    ($steps:expr, $call:expr) => {
        $steps.take(stringify!($call), SUCCESS.0, &mut || ($call).0)
    };
}

/// Takes a step that makes something: what it answered with is untouched where it failed.
macro_rules! made {
    ($steps:expr, |$out:ident| $call:expr) => {{
        let mut made = std::ptr::null_mut();
        $steps.take(stringify!($call), SUCCESS.0, &mut || {
            assert_eq!(made, std::ptr::null_mut(), "a failure leaves nothing where the result goes");
            let $out = &raw mut made;
            ($call).0
        });
        made
    }};
}
