//! Much of everything: launches, allocations, streams, events, threads and a pipeline at full rate (issue 8). Memory stays
//! flat and no object of OpenCL is left. What the last tenth takes against the first is printed, and not judged: a
//! machine may be busy with something else. `GRIDCL_LOAD=full` runs all of it, otherwise a part.

use crate::support::device;
use crate::watchdog::Watchdog;
use gridcl::testing::{guard, live, settled};
use gridcl::{DeviceBuffer, Module, PinnedBuffer, Stream, launch};
use std::time::{Duration, Instant};

const TEXT: &str = "__kernel void add(__global uint *x, uint by) { x[get_global_id(0)] += by; }";

/// What a test grows by while nothing is left behind: the heap's own slack, and the driver's.
const SLACK_BYTES: usize = 24 << 20;

/// All of it, or a fraction.
fn much(full: usize, part: usize) -> usize {
    if std::env::var("GRIDCL_LOAD").as_deref() == Ok("full") { full } else { part }
}

/// Bytes of memory that the process has.
fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: usize = text.split(' ').nth(1).expect("a second number").parse().expect("a number");
    pages * 4096
}

/// Does something `count` times in tenths. After the second tenth everything that grows has grown, and from there to the
/// end memory stays flat.
fn in_tenths(what: &str, count: usize, mut act: impl FnMut(usize)) {
    let watchdog = Watchdog::new(what);
    let mut times = Vec::new();
    let mut settled_bytes = 0;
    for tenth in 0..10 {
        let start = Instant::now();
        for index in 0..count / 10 {
            if index % 1000 == 0 {
                watchdog.beat(format!("{what}: {index} of tenth {tenth}"));
            }
            act(tenth * (count / 10) + index);
        }
        times.push(start.elapsed());
        if tenth == 1 {
            settled_bytes = resident_bytes();
        }
    }
    let grown = resident_bytes().saturating_sub(settled_bytes);
    let ratio = times[9].as_secs_f64() / times[0].as_secs_f64();
    println!("{what}: {count} times, the last tenth takes {ratio:.2} of the first, {} KiB more", grown >> 10);
    assert!(grown < SLACK_BYTES, "{what}: the process grew by {} KiB", grown >> 10);
}

both_dialects! {
    fn memory_that_comes_and_goes_leaves_nothing() {
        let _guard = guard();
        let baseline = live();
        in_tenths("malloc and free", much(500_000, 20_000), |index| {
            let mut memory = std::ptr::null_mut();
            ok!(unsafe { malloc(&mut memory, 1 + index * 97 % 70_000) });
            ok!(free(memory));
        });
        let now = settled(&baseline);
        assert!(now.within(&baseline), "{now:?}, before: {baseline:?}");
    }

    fn streams_and_events_that_come_and_go_leave_nothing() {
        let _guard = guard();
        let baseline = live();
        let mut memory = std::ptr::null_mut();
        ok!(unsafe { malloc(&mut memory, 64) });
        in_tenths("streams and events", much(10_000, 1_000), |_| {
            let (mut stream, mut event) = (std::ptr::null_mut(), std::ptr::null_mut());
            ok!(unsafe { stream_create(&mut stream) });
            ok!(unsafe { event_create(&mut event) });
            ok!(memset_async(memory, 1, 64, stream));
            ok!(event_record(event, stream));
            ok!(stream_wait_event(LEGACY, event, 0));
            ok!(event_synchronize(event));
            ok!(event_destroy(event));
            ok!(stream_destroy(stream));
        });
        ok!(free(memory));
        let now = settled(&baseline);
        assert!(now.within(&baseline), "{now:?}, before: {baseline:?}");
    }
}

#[test]
fn launches_leave_nothing() {
    let _guard = guard();
    let module = Module::from_source(device(), TEXT).unwrap();
    let add = module.kernel("add").unwrap();
    let stream = device().create_stream().unwrap();
    let memory = DeviceBuffer::<u32>::zeroed(&stream, 64).unwrap();
    let count = much(200_000, 20_000);
    in_tenths("launches", count, |index| {
        // SAFETY: the kernel stays within the buffer.
        unsafe { launch!(add<<<1, 64, 0, &stream>>>(memory, 1_u32)) }.unwrap();
        // So that the driver's queue, which holds commands until they run, does not count as growth.
        if index % 1000 == 999 {
            stream.synchronize().unwrap();
        }
    });
    assert_eq!(memory.to_vec(&stream).unwrap(), [count as u32; 64]);
}

#[test]
fn many_threads_share_a_device() {
    let _guard = guard();
    let watchdog = Watchdog::new("64 threads on a device");
    let module = Module::from_source(device(), TEXT).unwrap();
    let add = module.kernel("add").unwrap();
    let rounds = much(500, 40) as u32;
    std::thread::scope(|scope| {
        for thread in 0..64_u32 {
            let add = &add;
            scope.spawn(move || {
                let stream = device().create_stream().unwrap();
                let memory = DeviceBuffer::from_slice(&stream, &[thread; 256]).unwrap();
                for _ in 0..rounds {
                    // SAFETY: the kernel stays within the buffer.
                    unsafe { launch!(add<<<4, 64, 0, &stream>>>(memory, 1_u32)) }.unwrap();
                }
                assert_eq!(memory.to_vec(&stream).unwrap(), [thread + rounds; 256]);
            });
        }
    });
    watchdog.beat("after the threads".into());
}

/// A place in the pipeline: upload, kernel and download in a stream of its own.
struct Slot {
    stream: Stream,
    input: PinnedBuffer<u32>,
    memory: DeviceBuffer<u32>,
    output: PinnedBuffer<u32>,
    round: Option<u32>,
}

impl Slot {
    const WORDS: usize = 64 << 10;

    fn new() -> Self {
        let stream = device().create_stream().unwrap();
        let memory = DeviceBuffer::zeroed(&stream, Self::WORDS).unwrap();
        let pinned = || PinnedBuffer::new(device(), Self::WORDS).unwrap();
        Self { input: pinned(), output: pinned(), stream, memory, round: None }
    }

    /// Looks at what the round before brought.
    fn collect(&mut self) {
        if let Some(round) = self.round.take() {
            let words = self.output.read().unwrap();
            assert!(words.iter().all(|&word| word == round + 7), "round {round}");
        }
    }
}

#[test]
fn a_pipeline_at_full_rate_stays_flat() {
    let _guard = guard();
    let watchdog = Watchdog::new("the pipeline");
    let module = Module::from_source(device(), TEXT).unwrap();
    let add = module.kernel("add").unwrap();
    let mut slots: Vec<Slot> = (0..3).map(|_| Slot::new()).collect();
    let seconds = much(120, 4) as u64;
    let start = Instant::now();
    let (mut round, mut settled_bytes) = (0_u32, None);
    while start.elapsed() < Duration::from_secs(seconds) {
        let slot = &mut slots[round as usize % 3];
        slot.collect();
        slot.input.write().unwrap().fill(round);
        slot.stream.copy(&slot.input, &mut slot.memory).unwrap();
        let (stream, memory) = (&slot.stream, &slot.memory);
        let blocks = (Slot::WORDS / 64) as u32;
        // SAFETY: the kernel stays within the buffer.
        unsafe { launch!(add<<<blocks, 64, 0, stream>>>(memory, 7_u32)) }.unwrap();
        slot.stream.copy(&slot.memory, &mut slot.output).unwrap();
        slot.round = Some(round);
        round += 1;
        if round % 100 == 0 {
            watchdog.beat(format!("round {round}"));
        }
        if settled_bytes.is_none() && start.elapsed() > Duration::from_secs(seconds) / 5 {
            settled_bytes = Some(resident_bytes());
        }
    }
    slots.iter_mut().for_each(Slot::collect);
    let grown = resident_bytes().saturating_sub(settled_bytes.expect("a fifth of the time"));
    println!("the pipeline: {round} rounds in {seconds} s, {} KiB more", grown >> 10);
    assert!(grown < SLACK_BYTES, "the process grew by {} KiB", grown >> 10);
}
