//! The page that processes share: the records of one event, in memory that each of them may write.
//!
//! A record has a number, counted over all processes, and an *entry* in a ring that tells how it ended. An entry is
//! used again only when its record is done, so whoever finds another number there knows that the one it waits for is.
//! Records that failed, or whose process died, keep their entries: nobody misses that.
//!
//! Everything is atomic and every index is cut to the ring, so that nothing another process writes breaks this one.

use super::process::Process;
use std::ptr::null;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;

const MAGIC: u64 = u64::from_le_bytes(*b"gridclEv");
const VERSION: u32 = 1;
/// Records that may be pending at once.
pub(super) const ENTRIES: usize = 4096;

/// The shared memory of an event; all zeros is one without records.
#[repr(C)]
pub(super) struct Page {
    magic: AtomicU64,
    nonce: [AtomicU64; 2],
    version: AtomicU32,
    /// Changes when something ended; waiters sleep on it.
    news: AtomicU32,
    /// The last number that was taken.
    taken: AtomicU64,
    /// The number of the latest record, 0 before the first.
    latest: AtomicU64,
    ring: [Entry; ENTRIES],
}

#[repr(C)]
struct Entry {
    /// The record's number and, in the two lowest bits, its [`State`].
    record: AtomicU64,
    /// Who recorded it.
    start: AtomicU64,
    id: AtomicU32,
    _unused: AtomicU32,
}

/// How far a record has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Done, or never begun.
    Done = 0,
    /// Work before it is going on.
    Pending = 1,
    /// Work before it failed.
    Failed = 2,
}

const STATE_BITS: u32 = 2;

fn pack(number: u64, state: State) -> u64 {
    number << STATE_BITS | state as u64
}

fn unpack(record: u64) -> (u64, State) {
    let state = match record & ((1 << STATE_BITS) - 1) {
        0 => State::Done,
        1 => State::Pending,
        _ => State::Failed,
    };
    (record >> STATE_BITS, state)
}

impl Page {
    /// Makes a page of zeros one of that name.
    pub(super) fn begin(&self, nonce: [u8; 16]) {
        let [low, high] = halves(nonce);
        self.nonce[0].store(low, Relaxed);
        self.nonce[1].store(high, Relaxed);
        self.version.store(VERSION, Relaxed);
        self.magic.store(MAGIC, Release);
    }

    /// Whether it is the page of that name, in a form that this version knows.
    pub(super) fn is(&self, nonce: [u8; 16]) -> bool {
        self.magic.load(Acquire) == MAGIC
            && self.version.load(Relaxed) == VERSION
            && [self.nonce[0].load(Relaxed), self.nonce[1].load(Relaxed)] == halves(nonce)
    }

    /// Takes the next number for a record of `recorder`, pending from now on; `None` when no entry is free. Nobody
    /// sees it before [`publish`](Self::publish).
    pub(super) fn claim(&self, recorder: Process) -> Option<u64> {
        (0..ENTRIES).find_map(|_| {
            let number = unpack(pack(self.taken.fetch_add(1, AcqRel).wrapping_add(1), State::Done)).0;
            let entry = self.entry(number);
            let old = entry.record.load(Acquire);
            let free = unpack(old).1 == State::Done;
            let pending = pack(number, State::Pending);
            if !free || entry.record.compare_exchange(old, pending, AcqRel, Relaxed).is_err() {
                return None;
            }
            entry.id.store(recorder.id, Relaxed);
            entry.start.store(recorder.start, Relaxed);
            Some(number)
        })
    }

    /// Makes a claimed record the latest, unless a later one is there.
    pub(super) fn publish(&self, number: u64) {
        self.latest.fetch_max(number, AcqRel);
    }

    /// The number of the latest record.
    pub(super) fn latest(&self) -> Option<u64> {
        Some(self.latest.load(Acquire)).filter(|&number| number != 0)
    }

    /// Ends a pending record and wakes who waits; does nothing for one that has ended.
    pub(super) fn end(&self, number: u64, state: State) {
        let pending = pack(number, State::Pending);
        if self.entry(number).record.compare_exchange(pending, pack(number, state), AcqRel, Relaxed).is_ok() {
            self.stir();
        }
    }

    /// How far a record has come.
    pub(super) fn state(&self, number: u64) -> State {
        match unpack(self.entry(number).record.load(Acquire)) {
            (found, state) if found == number => state,
            // The entry serves another record, so this one was done.
            _ => State::Done,
        }
    }

    /// Who made a record; whoever asks has to look at its state again afterwards.
    pub(super) fn recorder(&self, number: u64) -> Process {
        let entry = self.entry(number);
        Process { id: entry.id.load(Relaxed), start: entry.start.load(Relaxed) }
    }

    /// What [`sleep`](Self::sleep) takes; to be asked for before looking at what is waited for.
    pub(super) fn news(&self) -> u32 {
        self.news.load(Acquire)
    }

    /// Sleeps until there is news since `seen`, for `limit` at most. May wake early.
    pub(super) fn sleep(&self, seen: u32, limit: Duration) {
        let limit = libc::timespec {
            tv_sec: limit.as_secs().cast_signed(),
            tv_nsec: libc::c_long::from(limit.subsec_nanos().cast_signed()),
        };
        // SAFETY: the word and the time limit are alive for the call; the rest are numbers that this operation takes.
        unsafe { libc::syscall(libc::SYS_futex, self.news.as_ptr(), libc::FUTEX_WAIT, seen, &raw const limit) };
    }

    /// Makes whoever sleeps look again.
    pub(super) fn stir(&self) {
        self.news.fetch_add(1, AcqRel);
        // SAFETY: the word is alive for the call; the rest are numbers that this operation takes.
        unsafe {
            libc::syscall(libc::SYS_futex, self.news.as_ptr(), libc::FUTEX_WAKE, i32::MAX, null::<libc::timespec>())
        };
    }

    fn entry(&self, number: u64) -> &Entry {
        // The remainder is below the length, so it fits.
        &self.ring[(number % ENTRIES as u64) as usize]
    }
}

fn halves(nonce: [u8; 16]) -> [u64; 2] {
    let whole = u128::from_le_bytes(nonce);
    [whole as u64, (whole >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Instant;

    const ME: Process = Process { id: 1, start: 2 };

    fn page() -> Arc<Page> {
        // SAFETY: all zeros is a page.
        let page: Box<Page> = unsafe { Box::<Page>::new_zeroed().assume_init() };
        Arc::from(page)
    }

    #[test]
    fn a_page_is_the_one_of_its_name_alone() {
        let page = page();
        assert!(!page.is([0; 16]), "all zeros is no page of any name");
        page.begin(*b"0123456789abcdef");
        assert!(page.is(*b"0123456789abcdef"));
        assert!(!page.is(*b"0123456789abcdeF"));
        assert!(!page.is(*b"!123456789abcdef"));
    }

    #[test]
    fn a_record_counts_once_it_is_published_and_ends_once() {
        let page = page();
        assert_eq!(page.latest(), None);
        let number = page.claim(ME).unwrap();
        assert_eq!((page.latest(), page.state(number)), (None, State::Pending));
        page.publish(number);
        assert_eq!((page.latest(), page.state(number)), (Some(number), State::Pending));
        assert_eq!(page.recorder(number), ME);
        page.end(number, State::Failed);
        page.end(number, State::Done);
        assert_eq!(page.state(number), State::Failed, "the first end stays");
    }

    #[test]
    fn records_that_are_published_late_do_not_hide_later_ones() {
        let page = page();
        let (first, second) = (page.claim(ME).unwrap(), page.claim(ME).unwrap());
        assert!(first < second);
        page.publish(second);
        page.publish(first);
        assert_eq!(page.latest(), Some(second));
    }

    #[test]
    fn a_done_entry_is_used_again_and_still_says_done() {
        let page = page();
        let first = page.claim(ME).unwrap();
        page.end(first, State::Done);
        let later: Vec<u64> = (0..ENTRIES).map(|_| page.claim(ME).unwrap()).collect();
        assert!(later.iter().all(|&number| page.state(number) == State::Pending));
        assert_eq!(page.state(first), State::Done);
        page.end(first, State::Failed);
        assert!(later.iter().all(|&number| page.state(number) == State::Pending), "an old end ends nothing new");
    }

    #[test]
    fn a_full_ring_refuses_until_one_is_done_and_failed_ones_stay() {
        let page = page();
        let numbers: Vec<u64> = (0..ENTRIES).map(|_| page.claim(ME).unwrap()).collect();
        assert_eq!(page.claim(ME), None);
        page.end(numbers[17], State::Failed);
        assert_eq!(page.claim(ME), None, "nobody may miss a failure");
        page.end(numbers[4000], State::Done);
        let next = page.claim(ME).expect("the one entry that is free");
        assert_eq!(page.claim(ME), None);
        assert_eq!((page.state(next), page.state(numbers[17])), (State::Pending, State::Failed));
        assert_eq!(page.state(numbers[4000]), State::Done);
    }

    #[test]
    fn numbers_at_the_end_of_their_range_break_nothing() {
        let page = page();
        for taken in [u64::MAX - 2, (u64::MAX >> 2) - 2, u64::MAX >> 1] {
            page.taken.store(taken, Relaxed);
            for _ in 0..8 {
                let number = page.claim(ME).expect("an entry");
                page.publish(number);
                assert_eq!(page.state(number), State::Pending);
                page.end(number, State::Done);
                assert_eq!(page.state(number), State::Done);
            }
        }
        page.latest.store(u64::MAX, Relaxed);
        assert_eq!(page.latest().map(|number| page.state(number)), Some(State::Done));
    }

    #[test]
    fn threads_that_record_at_once_never_share_an_entry() {
        let page = page();
        let all = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let mut numbers = Vec::new();
                        for turn in 0..20_000 {
                            let number = page.claim(ME).expect("few are pending");
                            page.publish(number);
                            assert_eq!(page.state(number), State::Pending, "nobody else ended it");
                            page.end(number, State::Done);
                            if turn % 100 == 0 {
                                numbers.push(number);
                            }
                        }
                        numbers
                    })
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<u64>>()
        });
        let mut distinct = all.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len());
        assert!(page.latest() >= distinct.last().copied());
    }

    #[test]
    fn the_end_of_a_record_wakes_who_sleeps() {
        let page = page();
        let number = page.claim(ME).unwrap();
        let start = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                loop {
                    let seen = page.news();
                    if page.state(number) == State::Done {
                        return;
                    }
                    page.sleep(seen, Duration::from_secs(60));
                }
            });
            std::thread::sleep(Duration::from_millis(20));
            page.end(number, State::Done);
        });
        assert!(start.elapsed() < Duration::from_secs(30), "woken, not timed out");
        let seen = page.news();
        page.sleep(seen.wrapping_sub(1), Duration::from_secs(60));
        assert!(start.elapsed() < Duration::from_secs(30), "news that is there already is not slept through");
        page.sleep(seen, Duration::from_millis(1));
    }
}
