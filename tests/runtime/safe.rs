//! The safe surface: typed buffers, slices, copies between all ends, and the guards of pinned memory (the design's
//! "the safe API"; behaviour.md 2.4 as far as it shows there). What drops and clones do is in `safe_lifetimes`.

use crate::current_device::comes_back_when_opened;
use crate::support::{PATIENCE, device, gated, in_time, wait_until};
use bytemuck::{Pod, Zeroable};
use gridcl::testing::{Gate, guard};
use gridcl::{
    Device, DeviceBuffer, DevicePtr, DeviceSlice, DeviceSliceMut, ErrorKind, Event, Kernel, Module, PinnedBuffer,
    PinnedSlice, PinnedSliceMut, Reading, Stream, StreamFlags, Writing, launch,
};
use std::fmt::Debug;
use std::ops::RangeBounds;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::time::Duration;

/// What a test with a pattern puts into a buffer.
fn numbers(from: u32, len: usize) -> Vec<u32> {
    (from..).take(len).collect()
}

fn pinned(device: Device, data: &[u32]) -> PinnedBuffer<u32> {
    let mut buffer = PinnedBuffer::new(device, data.len()).unwrap();
    buffer.write().unwrap().copy_from_slice(data);
    buffer
}

#[test]
fn every_type_may_be_shared_and_sent() {
    fn check<T: Send + Sync>() {}
    check::<(Device, Stream, Event, Module, Kernel)>();
    check::<(DeviceBuffer<f32>, PinnedBuffer<f32>, DevicePtr<f32>)>();
    check::<(DeviceSlice<'_, f32>, DeviceSliceMut<'_, f32>, PinnedSlice<'_, f32>, PinnedSliceMut<'_, f32>)>();
    check::<(Reading<'_, f32>, Writing<'_, f32>, gridcl::Error)>();
}

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Body {
    place: [f32; 3],
    mass: f32,
}

#[test]
fn a_buffer_gives_back_what_it_was_given_for_any_type_of_element() {
    fn check<T: Pod + PartialEq + Debug>(data: &[T]) {
        let stream = device().create_stream().unwrap();
        let mut buffer = DeviceBuffer::from_slice(&stream, data).unwrap();
        assert_eq!((buffer.len(), buffer.is_empty(), buffer.device()), (data.len(), false, device()));
        assert_eq!(buffer.to_vec(&stream).unwrap(), data);
        let backwards: Vec<_> = data.iter().rev().copied().collect();
        stream.upload(&backwards, &mut buffer).unwrap();
        let mut host = vec![T::zeroed(); data.len()];
        stream.download(&buffer, &mut host).unwrap();
        assert_eq!(host, backwards);
    }
    let _guard = guard();
    check(&[1_u8, 2, 3]);
    check(&[-1_i16, 2, i16::MIN, i16::MAX, 0]);
    check(&[0.5_f32, -1.0, f32::MAX]);
    check(&[0.1_f64, f64::MIN_POSITIVE]);
    check(&numbers(0, 1 << 20));
    check(&[[1_u64; 4], [2; 4]]);
    check(&[Body { place: [1.0, 2.0, 3.0], mass: 4.0 }, Body::zeroed()]);
}

#[test]
fn new_memory_is_what_its_constructor_says() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    for _ in 0..3 {
        let mut zeroed = DeviceBuffer::<u32>::zeroed(&stream, 5000).unwrap();
        assert_eq!(zeroed.to_vec(&stream).unwrap(), vec![0; 5000]);
        stream.fill(&mut zeroed, 0xab).unwrap();
        assert_eq!(zeroed.to_vec(&stream).unwrap(), vec![0xabab_abab; 5000]);
        // What was given up with other contents may be what comes back.
        let mut host = PinnedBuffer::<u32>::new(device(), 5000).unwrap();
        assert_eq!(*host.read().unwrap(), [0; 5000]);
        host.write().unwrap().fill(7);
    }
    let mut unwritten = unsafe { DeviceBuffer::<u32>::uninit(device(), 3).unwrap() };
    stream.upload(&[1, 2, 3], &mut unwritten).unwrap();
    assert_eq!(unwritten.to_vec(&stream).unwrap(), [1, 2, 3]);
}

#[test]
fn an_upload_is_done_with_its_source_when_it_returns() {
    let _guard = guard();
    let (stream, gate) = gated(device());
    let mut buffer = unsafe { DeviceBuffer::<u32>::uninit(device(), 100_000) }.unwrap();
    let sent = stream.clone();
    let mut buffer = in_time("an upload behind a gate", move || {
        let mut data = numbers(1, 100_000);
        sent.upload(&data, &mut buffer).unwrap();
        data.fill(0);
        buffer
    });
    stream.upload(&[77], buffer.slice_mut(5..6)).unwrap();
    assert!(!stream.is_done().unwrap());
    gate.open();
    let mut expected = numbers(1, 100_000);
    expected[5] = 77;
    assert_eq!(buffer.to_vec(&stream).unwrap(), expected);
}

#[test]
fn a_download_is_complete_when_it_returns() {
    let _guard = guard();
    let (stream, gate) = gated(device());
    let buffer = DeviceBuffer::from_slice(&stream, &numbers(5, 3000)).unwrap();
    let seen = comes_back_when_opened(gate, move || buffer.to_vec(&stream).unwrap());
    assert_eq!(seen, numbers(5, 3000));
}

/// A buffer of either kind.
enum Either {
    Device(DeviceBuffer<u32>),
    Pinned(PinnedBuffer<u32>),
}

impl Either {
    fn of_both_kinds(stream: &Stream, data: &[u32]) -> [Self; 2] {
        let there = DeviceBuffer::from_slice(stream, data).unwrap();
        [Self::Device(there), Self::Pinned(pinned(stream.device(), data))]
    }

    fn elements(&self, stream: &Stream) -> Vec<u32> {
        match self {
            Self::Device(buffer) => buffer.to_vec(stream).unwrap(),
            Self::Pinned(buffer) => buffer.read().unwrap().to_vec(),
        }
    }
}

#[test]
fn either_kind_of_buffer_is_copied_to_either() {
    use Either::{Device, Pinned};
    let _guard = guard();
    let stream = &device().create_stream().unwrap();
    let (old, new) = (numbers(0, 12), numbers(100, 12));
    let sources = || Either::of_both_kinds(stream, &new).into_iter();
    for (source, part) in sources().zip([false; 2]).chain(sources().zip([true; 2])) {
        for mut target in Either::of_both_kinds(stream, &old) {
            match (&source, &mut target, part) {
                (Device(from), Device(to), false) => stream.copy(from, to),
                (Device(from), Pinned(to), false) => stream.copy(from, to),
                (Pinned(from), Device(to), false) => stream.copy(from, to),
                (Pinned(from), Pinned(to), false) => stream.copy(from, to),
                (Device(from), Device(to), true) => stream.copy(from.slice(3..9), to.slice_mut(5..11)),
                (Device(from), Pinned(to), true) => stream.copy(from.slice(3..9), to.slice_mut(5..11)),
                (Pinned(from), Device(to), true) => stream.copy(from.slice(3..9), to.slice_mut(5..11)),
                (Pinned(from), Pinned(to), true) => stream.copy(from.slice(3..9), to.slice_mut(5..11)),
            }
            .unwrap();
            let expected = if part { [&old[..5], &new[3..9], &old[11..]].concat() } else { new.clone() };
            assert_eq!(target.elements(stream), expected);
        }
        assert_eq!(source.elements(stream), new, "the source stays");
    }
}

#[test]
fn either_kind_of_buffer_is_uploaded_to_and_downloaded_from() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let mut there = DeviceBuffer::from_slice(&stream, &numbers(0, 8)).unwrap();
    let mut here = pinned(device(), &numbers(0, 8));
    stream.upload(&[50, 51], there.slice_mut(6..)).unwrap();
    stream.upload(&[50, 51], here.slice_mut(6..)).unwrap();
    let (mut from_there, mut from_here) = ([9; 4], [9; 4]);
    stream.download(there.slice(4..), &mut from_there).unwrap();
    stream.download(here.slice(4..), &mut from_here).unwrap();
    assert_eq!((from_there, from_here), ([4, 5, 50, 51], [4, 5, 50, 51]));
    stream.upload(&numbers(20, 8), &mut there).unwrap();
    stream.upload(&numbers(20, 8), &mut here).unwrap();
    let (mut from_there, mut from_here) = ([9; 8], [9; 8]);
    stream.download(&there, &mut from_there).unwrap();
    stream.download(&here, &mut from_here).unwrap();
    assert_eq!((&from_there[..], &from_here[..]), (&*numbers(20, 8), &*numbers(20, 8)));
}

#[test]
fn lengths_that_differ_are_refused_and_nothing_is_copied() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let mut there = DeviceBuffer::from_slice(&stream, &numbers(0, 8)).unwrap();
    let mut here = pinned(device(), &numbers(0, 8));
    let mut host = [9; 7];
    let failures = [
        (stream.upload(&[1; 9], &mut there), "target = 8 elements: the source has 9 elements"),
        (stream.upload(&[], &mut there), "target = 8 elements: the source has 0 elements"),
        (stream.upload(&[1; 3], here.slice_mut(2..4)), "target = 2 elements: the source has 3 elements"),
        (stream.download(&there, &mut host), "target = 7 elements: the source has 8 elements"),
        (stream.download(here.slice(..1), &mut host), "target = 7 elements: the source has 1 elements"),
        (stream.copy(&there, here.slice_mut(1..)), "target = 7 elements: the source has 8 elements"),
        (stream.copy(here.slice(..0), &mut there), "target = 8 elements: the source has 0 elements"),
    ];
    for (outcome, words) in failures {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidValue);
        assert!(error.to_string().contains(words), "{words} in: {error}");
        assert!(error.to_string().contains("copy slices of the same length"), "{error}");
    }
    assert_eq!(host, [9; 7]);
    assert_eq!(there.to_vec(&stream).unwrap(), numbers(0, 8));
    assert_eq!(*here.read().unwrap(), *numbers(0, 8));
    stream.copy(&there, &mut here).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn slices_take_ranges_as_rusts_own_do() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let mut there = DeviceBuffer::from_slice(&stream, &numbers(0, 8)).unwrap();
    let mut here = pinned(device(), &numbers(0, 8));
    let mut check = |range: (std::ops::Bound<usize>, std::ops::Bound<usize>)| {
        let expected = &numbers(0, 8)[range];
        let part = there.slice(range);
        assert_eq!((part.len(), part.is_empty()), (expected.len(), expected.is_empty()));
        assert_eq!(part.to_vec(&stream).unwrap(), expected);
        assert_eq!(part.clone().to_vec(&stream).unwrap(), expected);
        let mut host = vec![0; expected.len()];
        stream.download(here.slice(range), &mut host).unwrap();
        assert_eq!(host, expected);
        assert_eq!(there.slice_mut(range).len(), expected.len());
        stream.upload(expected, here.slice_mut(range)).unwrap();
    };
    fn bounds(range: impl RangeBounds<usize>) -> (std::ops::Bound<usize>, std::ops::Bound<usize>) {
        (range.start_bound().cloned(), range.end_bound().cloned())
    }
    check(bounds(..));
    check(bounds(2..5));
    check(bounds(2..=5));
    check(bounds(3..));
    check(bounds(..3));
    check(bounds(..=7));
    check(bounds(8..));
    check(bounds(4..4));
    check((std::ops::Bound::Excluded(1), std::ops::Bound::Excluded(4)));
    assert_eq!(*here.read().unwrap(), *numbers(0, 8));
}

#[test]
#[allow(clippy::reversed_empty_ranges, reason = "that they are refused is the test")]
fn a_range_that_is_not_within_the_buffer_panics_and_says_so() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let mut there = DeviceBuffer::from_slice(&stream, &numbers(0, 8)).unwrap();
    let mut here = pinned(device(), &numbers(0, 8));
    let words = |act: &mut dyn FnMut()| {
        let payload = catch_unwind(AssertUnwindSafe(act)).expect_err("a panic");
        payload.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let said = [
        words(&mut || _ = there.slice(3..9)),
        words(&mut || _ = there.slice(5..3)),
        words(&mut || _ = there.slice_mut(9..)),
        words(&mut || _ = here.slice(..=8)),
        words(&mut || _ = here.slice_mut(usize::MAX..)),
        words(&mut || _ = there.slice(..=usize::MAX)),
    ];
    std::panic::set_hook(hook);
    let most = usize::MAX;
    let ranges = ["3..9", "5..3", "9..8", "0..9", &format!("{most}..8"), &format!("0..{most}")];
    for (said, range) in said.iter().zip(ranges) {
        assert_eq!(*said, format!("range {range} is not within a buffer of 8 elements"));
    }
    assert_eq!(there.to_vec(&stream).unwrap(), numbers(0, 8));
}

#[test]
fn a_buffer_of_nothing_goes_everywhere() {
    let _guard = guard();
    let device = device();
    let stream = device.create_stream().unwrap();
    let mut nothing = DeviceBuffer::<u32>::from_slice(&stream, &[]).unwrap();
    let mut here = PinnedBuffer::<u32>::new(device, 0).unwrap();
    let mut zeroed = DeviceBuffer::<u64>::zeroed(&stream, 0).unwrap();
    assert!(nothing.is_empty() && here.is_empty() && zeroed.is_empty());
    assert_eq!((nothing.len(), here.len()), (0, 0));
    assert_eq!(nothing.to_vec(&stream).unwrap(), []);
    assert_eq!(nothing.slice(..).to_vec(&stream).unwrap(), []);
    stream.fill(&mut zeroed, 3).unwrap();
    stream.upload(&[], &mut nothing).unwrap();
    stream.download(&nothing, &mut []).unwrap();
    stream.copy(&nothing, &mut here).unwrap();
    stream.copy(&here, &mut nothing).unwrap();
    assert!(here.read().unwrap().is_empty());
    assert!(here.write().unwrap().is_empty());
    // Elements of no size, and the empty part of a buffer that has some.
    let bare = DeviceBuffer::from_slice(&stream, &[[0_u8; 0]; 5]).unwrap();
    assert_eq!(bare.to_vec(&stream).unwrap(), [[0_u8; 0]; 5]);
    let some = DeviceBuffer::from_slice(&stream, &numbers(0, 8)).unwrap();
    stream.copy(some.slice(8..), &mut nothing).unwrap();
    stream.copy(some.slice(3..3), &mut here).unwrap();

    let source = "__kernel void none(__global uint *data, uint n) { if (get_global_id(0) < n) data[0] = 1; }";
    let kernel = Module::from_source(device, source).unwrap().kernel("none").unwrap();
    unsafe { launch!(kernel<<<1, 1, 0, &stream>>>(nothing, 0_u32)) }.unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn what_there_is_no_room_for_is_an_error_and_the_next_request_succeeds() {
    let _guard = guard();
    let device = device();
    let stream = device.create_stream().unwrap();
    let total = usize::try_from(device.total_memory()).unwrap();
    let failures = [
        DeviceBuffer::<u64>::zeroed(&stream, usize::MAX).map(drop),
        DeviceBuffer::<u8>::zeroed(&stream, usize::MAX).map(drop),
        DeviceBuffer::<u8>::zeroed(&stream, total + 1).map(drop),
        PinnedBuffer::<u64>::new(device, usize::MAX).map(drop),
        PinnedBuffer::<u8>::new(device, usize::MAX).map(drop),
    ];
    for (number, outcome) in failures.into_iter().enumerate() {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{number}: {error}");
        assert!(["len = ", "size = "].iter().any(|name| error.to_string().contains(name)), "{error}");
    }
    assert_eq!(DeviceBuffer::from_slice(&stream, &[1_u8; 9]).unwrap().to_vec(&stream).unwrap(), [1; 9]);
    assert_eq!(*PinnedBuffer::<u8>::new(device, 3).unwrap().read().unwrap(), [0; 3]);
}

#[test]
fn reading_waits_for_copies_into_the_buffer_alone() {
    let _guard = guard();
    let (stream, gate) = gated(device());
    let there = DeviceBuffer::from_slice(&stream, &numbers(40, 6)).unwrap();
    let mut target = pinned(device(), &numbers(0, 6));
    let source = pinned(device(), &numbers(7, 6));
    let mut other = DeviceBuffer::<u32>::zeroed(&stream, 6).unwrap();
    stream.copy(&source, &mut other).unwrap();
    stream.copy(&there, &mut target).unwrap();
    let source = in_time("reading what is copied from", move || {
        assert_eq!(*source.read().unwrap(), *numbers(7, 6));
        source
    });
    assert!(!stream.is_done().unwrap());
    comes_back_when_opened(gate, move || assert_eq!(*target.read().unwrap(), *numbers(40, 6)));
    assert_eq!(other.to_vec(&stream).unwrap(), *source.read().unwrap());
}

#[test]
fn writing_waits_for_copies_in_both_directions() {
    let _guard = guard();
    let (stream, gate) = gated(device());
    let mut there = DeviceBuffer::<u32>::zeroed(&stream, 6).unwrap();
    let mut source = pinned(device(), &numbers(7, 6));
    stream.copy(&source, &mut there).unwrap();
    comes_back_when_opened(gate, move || source.write().unwrap().fill(0));
    assert_eq!(there.to_vec(&stream).unwrap(), numbers(7, 6));

    let gate = Gate::close(&stream).unwrap();
    let mut target = pinned(device(), &numbers(0, 6));
    stream.copy(&there, &mut target).unwrap();
    comes_back_when_opened(gate, move || {
        let mut elements = target.write().unwrap();
        assert_eq!(*elements, *numbers(7, 6));
        elements[0] = 1;
        assert_eq!(target.read().unwrap()[0], 1);
    });
}

#[test]
fn a_guard_waits_for_the_streams_that_use_the_buffer_and_no_other() {
    let _guard = guard();
    let (first, first_gate) = gated(device());
    let (second, second_gate) = gated(device());
    let (_other, other_gate) = gated(device());
    let there = DeviceBuffer::from_slice(&first, &numbers(1, 4)).unwrap();
    let there_too = DeviceBuffer::from_slice(&second, &numbers(5, 4)).unwrap();
    let mut target = PinnedBuffer::<u32>::new(device(), 8).unwrap();
    first.copy(&there, target.slice_mut(..4)).unwrap();
    second.copy(&there_too, target.slice_mut(4..)).unwrap();
    let (sender, answer) = channel();
    let thread = std::thread::spawn(move || {
        sender.send(target.read().unwrap().to_vec()).unwrap();
        target
    });
    first_gate.open();
    assert!(answer.recv_timeout(Duration::from_millis(60)).is_err(), "it waits for the second stream");
    second_gate.open();
    assert_eq!(answer.recv_timeout(PATIENCE).unwrap(), numbers(1, 8));
    drop(thread.join().unwrap());
    other_gate.open();
    device().synchronize().unwrap();
}

#[test]
fn each_of_several_threads_that_read_waits() {
    let _guard = guard();
    let (stream, gate) = gated(device());
    let there = DeviceBuffer::from_slice(&stream, &numbers(3, 1000)).unwrap();
    let mut target = PinnedBuffer::<u32>::new(device(), 1000).unwrap();
    stream.copy(&there, &mut target).unwrap();
    let (sender, answers) = channel();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let (sender, target) = (sender.clone(), &target);
            scope.spawn(move || sender.send(target.read().unwrap().to_vec()).unwrap());
        }
        assert!(answers.recv_timeout(Duration::from_millis(60)).is_err(), "one of them did not wait");
        gate.open();
        for _ in 0..4 {
            assert_eq!(answers.recv_timeout(PATIENCE).unwrap(), numbers(3, 1000));
        }
    });
}

#[test]
fn guards_and_copies_take_turns_without_end() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let mut there = DeviceBuffer::<u32>::zeroed(&stream, 512).unwrap();
    let mut here = PinnedBuffer::<u32>::new(device(), 512).unwrap();
    for round in 0..100 {
        here.write().unwrap().fill(round);
        stream.copy(&here, &mut there).unwrap();
        stream.copy(there.slice(..256), here.slice_mut(256..)).unwrap();
        let seen = here.read().unwrap();
        assert!(seen.iter().all(|&value| value == round), "round {round}");
    }
    wait_until("the stream to be done", || stream.is_done().unwrap());
}

#[test]
fn a_device_pointer_counts_in_elements_and_is_as_wide_as_a_kernels() {
    let _guard = guard();
    let buffer = unsafe { DeviceBuffer::<u32>::uninit(device(), 8) }.unwrap();
    let pointer = buffer.as_device_ptr();
    assert_eq!(size_of::<DevicePtr<[u8; 3]>>(), 8);
    assert_eq!(pointer.add(3).address(), pointer.address() + 12);
    assert_eq!(DevicePtr::<u32>::NULL.address(), 0);
    assert_eq!(DevicePtr::<u32>::zeroed().address(), 0);
    assert!(pointer.address().is_multiple_of(256));
    assert_eq!(format!("{pointer:?}"), format!("DevicePtr({:#x})", pointer.address()));
}

#[test]
fn a_copy_by_the_host_waits_for_what_else_uses_a_pinned_buffer() {
    let _guard = guard();
    let aside = device().create_stream_with(StreamFlags::NON_BLOCKING, 0).unwrap();
    let fresh = || pinned(device(), &numbers(1, 6));
    let mut there = DeviceBuffer::from_slice(&aside, &numbers(50, 6)).unwrap();
    aside.synchronize().unwrap();

    // What another stream still copies from is not written to, and what it copies to is not read.
    let (stream, gate) = gated(device());
    let (mut source, mut target) = (fresh(), fresh());
    stream.copy(&there, &mut target).unwrap();
    stream.copy(&source, &mut there).unwrap();
    let other = aside.clone();
    let (read, target) = comes_back_when_opened(gate, move || {
        let mut read = [0; 6];
        other.download(&target, &mut read).unwrap();
        (read, target)
    });
    assert_eq!(read[..], numbers(50, 6));
    let gate = Gate::close(&stream).unwrap();
    stream.copy(&source, &mut there).unwrap();
    let other = aside.clone();
    let mut source = comes_back_when_opened(gate, move || {
        other.upload(&numbers(100, 6), &mut source).unwrap();
        source
    });
    assert_eq!(there.to_vec(&stream).unwrap(), numbers(1, 6));
    let gate = Gate::close(&stream).unwrap();
    stream.copy(&source, &mut there).unwrap();
    let source = comes_back_when_opened(gate, move || {
        aside.copy(&target, &mut source).unwrap();
        source
    });
    assert_eq!(there.to_vec(&stream).unwrap(), numbers(100, 6));
    assert_eq!(*source.read().unwrap(), *numbers(50, 6));
}
