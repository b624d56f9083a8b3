//! Which way a copy goes and when it lets the caller go on: decided here, without a device.

/// Which of the two forms of a copy call was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The call without a stream of its own: results are there when it returns, where the host can see them.
    Sync,
    /// The call with "Async" in its name.
    Async,
}

/// One end of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Ordinary host memory, which may change as soon as the call returns.
    Pageable,
    /// Pinned or registered host memory, which the program keeps for the copy.
    Pinned,
    /// Device memory, of the context with this serial number.
    Device(u64),
    /// Managed memory, of the context with this serial number.
    Managed(u64),
}

impl Side {
    /// The serial number of the context that holds it; `None` for memory of the host.
    fn context(self) -> Option<u64> {
        match self {
            Self::Pageable | Self::Pinned => None,
            Self::Device(serial) | Self::Managed(serial) => Some(serial),
        }
    }

    fn is_managed(self) -> bool {
        matches!(self, Self::Managed(_))
    }
}

/// What carries a copy out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// The calling thread, after the stream's work.
    OnHost,
    /// To the device. `snapshot`: through a copy of the source that is made before the call returns.
    Up { snapshot: bool },
    /// To the host.
    Down,
    /// Within one device.
    Within,
    /// From one device to another, through the host.
    Across,
}

/// A decided copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) route: Route,
    /// Whether the call returns only when the copy is done.
    pub(crate) waits: bool,
}

/// Decides a copy (behaviour.md 2.4).
pub(crate) fn plan(to: Side, from: Side, mode: Mode) -> Plan {
    let sync = mode == Mode::Sync;
    let (route, waits) = match (to.context(), from.context()) {
        (Some(to), Some(from)) if to == from => (Route::Within, false),
        (Some(_), Some(_)) => (Route::Across, false),
        (Some(_), None) => (Route::Up { snapshot: from == Side::Pageable && !sync }, sync),
        (None, Some(_)) => (Route::Down, sync || to == Side::Pageable),
        (None, None) => (Route::OnHost, true),
    };
    // Managed memory is the host's again when a call without "Async" returns.
    Plan { route, waits: waits || (sync && (to.is_managed() || from.is_managed())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pageable_sources_are_safe_to_overwrite_when_the_call_returns() {
        for mode in [Mode::Sync, Mode::Async] {
            let plan = plan(Side::Device(1), Side::Pageable, mode);
            assert!(plan.waits || plan.route == Route::Up { snapshot: true }, "{mode:?}");
        }
    }

    #[test]
    fn pageable_targets_are_complete_when_the_call_returns() {
        for mode in [Mode::Sync, Mode::Async] {
            assert_eq!(plan(Side::Pageable, Side::Device(1), mode), Plan { route: Route::Down, waits: true });
        }
    }

    #[test]
    fn asynchronous_copies_of_pinned_memory_and_within_the_device_do_not_wait() {
        let pinned_up = plan(Side::Device(1), Side::Pinned, Mode::Async);
        assert_eq!(pinned_up, Plan { route: Route::Up { snapshot: false }, waits: false });
        assert!(!plan(Side::Pinned, Side::Device(1), Mode::Async).waits);
        assert_eq!(plan(Side::Device(1), Side::Device(1), Mode::Sync), Plan { route: Route::Within, waits: false });
        assert_eq!(plan(Side::Device(1), Side::Device(2), Mode::Sync).route, Route::Across);
    }

    #[test]
    fn managed_memory_is_the_hosts_when_a_synchronous_call_returns() {
        for (to, from) in [(Side::Managed(1), Side::Device(1)), (Side::Device(1), Side::Managed(1))] {
            assert_eq!(plan(to, from, Mode::Sync), Plan { route: Route::Within, waits: true });
            assert!(!plan(to, from, Mode::Async).waits);
        }
        let up = plan(Side::Managed(1), Side::Pageable, Mode::Async);
        assert_eq!(up, Plan { route: Route::Up { snapshot: true }, waits: false });
    }
}
