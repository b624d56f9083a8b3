//! A device's clock in terms of the timeline's: plain arithmetic over pairs of readings.
//!
//! The two run alike and differ by an offset, of which each observation tells something: a command begins after the
//! call that enqueues it, and ends before somebody sees that it has ended. Calibration gives a first interval; work
//! whose place on the timeline would be impossible moves the offset just as far as it has to.

/// The offset of one device's clock, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    offset: i128,
    /// How far the offset may be off either way.
    error: u64,
}

/// A moment on the device's clock, and an interval of the timeline in which it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) device: u64,
    pub(crate) after: u64,
    pub(crate) before: u64,
}

impl Clock {
    /// What readings say together. The ones that come first count most: a later one that contradicts them is left out.
    pub(crate) fn of(readings: impl IntoIterator<Item = Reading>) -> Option<Self> {
        let mut known: Option<(i128, i128)> = None;
        for reading in readings {
            let (device, after, before) = (reading.device.into(), reading.after.into(), reading.before.into());
            let (least, most): (i128, i128) = (i128::checked_sub(after, device)?, i128::checked_sub(before, device)?);
            known = match known {
                None => Some((least, most)),
                Some((low, high)) if least.max(low) <= most.min(high) => Some((least.max(low), most.min(high))),
                contradicted => contradicted,
            };
        }
        let (least, most) = known?;
        let error = ((most - least) / 2).try_into().unwrap_or(u64::MAX);
        Some(Self { offset: least.midpoint(most), error })
    }

    /// How far its times may be off, in nanoseconds.
    pub(crate) fn error(&self) -> u64 {
        self.error
    }

    /// A command's place on the timeline. It was enqueued and seen to have ended at times of the timeline.
    pub(crate) fn place(&mut self, (start, end): (u64, u64), enqueued: u64, seen: u64) -> (u64, u64) {
        let end = end.max(start);
        let least = i128::from(enqueued) - i128::from(start);
        let most = i128::from(seen) - i128::from(end);
        if least <= most {
            self.offset = self.offset.clamp(least, most);
        }
        let at = |time: u64| (i128::from(time) + self.offset).clamp(0, u64::MAX.into()) as u64;
        (at(start), at(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(device: u64, after: u64, before: u64) -> Reading {
        Reading { device, after, before }
    }

    #[test]
    fn readings_narrow_each_other() {
        let clock = Clock::of([reading(1_000, 100, 140), reading(2_000, 1_110, 1_160)]).expect("a clock");
        // From -900 to -860, and from -890 to -840.
        assert_eq!(clock, Clock { offset: -875, error: 15 });
        assert_eq!(Clock::of([]), None);
    }

    #[test]
    fn a_reading_that_contradicts_the_first_is_left_out() {
        let clock = Clock::of([reading(1_000, 100, 140), reading(7_000, 100, 140)]).expect("a clock");
        assert_eq!(clock, Clock { offset: -880, error: 20 });
    }

    #[test]
    fn work_lies_between_its_enqueue_and_the_moment_it_was_seen_done() {
        let mut clock = Clock { offset: 0, error: 0 };
        assert_eq!(clock.place((50, 90), 10, 100), (50, 90));
        // It would begin before it was enqueued: all later work moves along.
        assert_eq!(clock.place((150, 190), 170, 400), (170, 210));
        assert_eq!(clock.place((200, 210), 100, 400), (220, 230));
        // And back, when it would end after it was seen to have ended.
        assert_eq!(clock.place((300, 400), 100, 405), (305, 405));
        // Times that no offset explains are left as they are.
        assert_eq!(clock.place((500, 900), 500, 600), (505, 905));
    }

    #[test]
    fn clocks_of_any_distance_do() {
        let far = u64::MAX / 2;
        let mut clock = Clock::of([reading(far, 10, 12)]).expect("a clock");
        assert_eq!(clock.place((far + 5, far + 9), 0, 1_000), (16, 20));
    }
}
