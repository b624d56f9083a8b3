//! The safe surface over time: what is dropped while work is under way, clones in several threads, and two devices
//! (the design's "the safe API").

use crate::current_device::has_two_devices;
use crate::support::{device, gated, in_time};
use gridcl::testing::{Gate, guard};
use gridcl::{Device, DeviceBuffer, ErrorKind, Event, Kernel, Module, PinnedBuffer, Stream, StreamFlags, launch};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

const SOURCE: &str = "
    __kernel void put(__global uint *data, uint value, uint n) {
        size_t at = get_global_id(0);
        if (at < n) data[at] = value + at;
    }
    __kernel void add(__global uint *data, uint value, uint n) {
        size_t at = get_global_id(0);
        if (at < n) data[at] += value;
    }";

/// Elements of the buffers; enough for several of them to share no slab's tail.
const LEN: usize = 50_000;

fn kernel(device: Device, name: &str) -> Kernel {
    Module::from_source(device, SOURCE).unwrap().kernel(name).unwrap()
}

fn run(kernel: &Kernel, stream: &Stream, data: &DeviceBuffer<u32>, value: u32) {
    let (blocks, len) = (data.len().div_ceil(64) as u32, data.len() as u32);
    unsafe { launch!(kernel<<<blocks, 64, 0, stream>>>(data, value, len)) }.unwrap();
}

fn counting(from: u32) -> Vec<u32> {
    (from..).take(LEN).collect()
}

#[test]
fn dropping_waits_for_nothing() {
    let _guard = guard();
    let device = device();
    let (stream, gate) = gated(device);
    let put = kernel(device, "put");
    let mut there = DeviceBuffer::<u32>::zeroed(&stream, LEN).unwrap();
    let mut here = PinnedBuffer::<u32>::new(device, LEN).unwrap();
    let event = Event::new(device).unwrap();
    run(&put, &stream, &there, 1);
    stream.copy(&here, &mut there).unwrap();
    stream.copy(&there, &mut here).unwrap();
    event.record(&stream).unwrap();
    let dropped = (stream, there, here, event, put);
    in_time("dropping all that is behind a gate", move || drop(dropped));
    gate.open();
    device.synchronize().unwrap();
}

#[test]
fn a_dropped_stream_runs_its_work_to_the_end() {
    let _guard = guard();
    let device = device();
    let (stream, gate) = gated(device);
    let event = Event::new(device).unwrap();
    let put = kernel(device, "put");
    let there = unsafe { DeviceBuffer::<u32>::uninit(device, LEN) }.unwrap();
    run(&put, &stream, &there, 10);
    event.record(&stream).unwrap();
    drop(stream);
    assert!(!event.is_done().unwrap());
    gate.open();
    event.synchronize().unwrap();
    let other = device.create_stream_with(StreamFlags::NON_BLOCKING, 0).unwrap();
    assert_eq!(there.to_vec(&other).unwrap(), counting(10));
}

/// Puts work into a stream that writes to all of a buffer.
type Writer = fn(&Stream, &Kernel, &mut DeviceBuffer<u32>);

const WRITERS: [(&str, Writer); 4] = [
    ("a kernel", |stream, put, buffer| run(put, stream, buffer, 1_000_000)),
    ("a fill", |stream, _, buffer| stream.fill(buffer, 0xee).unwrap()),
    ("an upload", |stream, _, buffer| stream.upload(&counting(1_000_000), buffer).unwrap()),
    ("a copy", |stream, _, buffer| {
        let mut source = PinnedBuffer::<u32>::new(buffer.device(), LEN).unwrap();
        source.write().unwrap().fill(0xeeee_eeee);
        stream.copy(&source, buffer).unwrap();
    }),
];

#[test]
fn memory_that_was_dropped_is_nobody_elses_while_work_writes_to_it() {
    let _guard = guard();
    let device = device();
    let put = kernel(device, "put");
    for (what, write) in WRITERS {
        let (stream, gate) = gated(device);
        let aside = device.create_stream_with(StreamFlags::NON_BLOCKING, 0).unwrap();
        let mut dropped = unsafe { DeviceBuffer::uninit(device, LEN) }.unwrap();
        let place = dropped.as_device_ptr().address();
        write(&stream, &put, &mut dropped);
        drop(dropped);
        let made: Vec<_> = (0..8)
            .map(|number| DeviceBuffer::from_slice(&aside, &counting(number)).unwrap())
            .inspect(|buffer| assert_ne!(buffer.as_device_ptr().address(), place, "{what} is still to come there"))
            .collect();
        aside.synchronize().unwrap();
        gate.open();
        stream.synchronize().unwrap();
        for (number, buffer) in (0..).zip(&made) {
            assert_eq!(buffer.to_vec(&aside).unwrap(), counting(number), "{what} hit a new buffer");
        }
    }
}

#[test]
fn memory_that_was_dropped_keeps_its_contents_while_work_reads_it() {
    let _guard = guard();
    let device = device();
    let (stream, gate) = gated(device);
    let aside = device.create_stream_with(StreamFlags::NON_BLOCKING, 0).unwrap();
    let source = DeviceBuffer::from_slice(&aside, &counting(5)).unwrap();
    let mut here = PinnedBuffer::<u32>::new(device, LEN).unwrap();
    here.write().unwrap().copy_from_slice(&counting(6));
    aside.synchronize().unwrap();
    let mut from_there = PinnedBuffer::<u32>::new(device, LEN).unwrap();
    let mut from_here = DeviceBuffer::<u32>::zeroed(&aside, LEN).unwrap();
    stream.copy(&source, &mut from_there).unwrap();
    stream.copy(&here, &mut from_here).unwrap();
    drop((source, here));
    // New memory of the same sizes, with other contents, of a stream that nothing holds back.
    let others: Vec<_> = (0..8)
        .map(|_| {
            let mut pinned = PinnedBuffer::<u32>::new(device, LEN).unwrap();
            pinned.write().unwrap().fill(0xdead);
            (DeviceBuffer::from_slice(&aside, &[0xdead_u32; LEN]).unwrap(), pinned)
        })
        .collect();
    aside.synchronize().unwrap();
    gate.open();
    assert_eq!(*from_there.read().unwrap(), *counting(5));
    assert_eq!(from_here.to_vec(&stream).unwrap(), counting(6));
    drop(others);
}

#[test]
fn pinned_memory_that_was_dropped_is_nobody_elses_while_a_copy_writes_to_it() {
    let _guard = guard();
    let device = device();
    let (stream, gate) = gated(device);
    let source = DeviceBuffer::from_slice(&stream, &[0xdead_u32; LEN]).unwrap();
    let mut dropped = PinnedBuffer::<u32>::new(device, LEN).unwrap();
    stream.copy(&source, &mut dropped).unwrap();
    drop(dropped);
    let mut made: Vec<_> = (0..8).map(|_| PinnedBuffer::<u32>::new(device, LEN).unwrap()).collect();
    made.iter_mut().for_each(|buffer| buffer.write().unwrap().copy_from_slice(&counting(3)));
    gate.open();
    stream.synchronize().unwrap();
    assert!(made.iter().all(|buffer| *buffer.read().unwrap() == *counting(3)), "the copy hit a new buffer");
}

#[test]
fn a_dropped_buffer_is_kept_for_streams_that_only_wait_for_its_work() {
    let _guard = guard();
    let device = device();
    let add = kernel(device, "add");
    let (first, gate) = gated(device);
    let second = device.create_stream_with(StreamFlags::NON_BLOCKING, 0).unwrap();
    let handed = Event::new(device).unwrap();
    let buffer = DeviceBuffer::from_slice(&first, &[1_u32; LEN]).unwrap();
    let mut result = PinnedBuffer::<u32>::new(device, LEN).unwrap();
    run(&add, &first, &buffer, 2);
    handed.record(&first).unwrap();
    second.wait_event(&handed).unwrap();
    run(&add, &second, &buffer, 3);
    second.copy(&buffer, &mut result).unwrap();
    drop((buffer, first, second, handed));
    gate.open();
    assert!(result.read().unwrap().iter().all(|&value| value == 6));
}

#[test]
fn memory_that_was_dropped_comes_back_when_its_work_is_done() {
    let _guard = guard();
    let device = device();
    let stream = device.create_stream().unwrap();
    let free = || device.memory_info().unwrap().0;
    let before = free();
    // In sum more than most devices have: without reuse there would be no room.
    let bytes = (before / 8).min(64 << 20) as usize;
    let rounds = before / bytes as u64 + 8;
    for round in 0..rounds.min(1_000) {
        let made = unsafe { DeviceBuffer::<u8>::uninit(device, bytes) };
        let mut buffer = made.unwrap_or_else(|error| panic!("round {round}: {error}"));
        stream.upload(&[1], buffer.slice_mut(..1)).unwrap();
    }
    stream.synchronize().unwrap();
    let _one_more = unsafe { DeviceBuffer::<u8>::uninit(device, 1) }.unwrap();
    assert!(free() + 4096 >= before, "{} of {before}", free());
}

#[test]
fn a_callback_may_be_where_things_are_dropped() {
    let _guard = guard();
    let device = device();
    let (stream, gate) = gated(device);
    let mut there = DeviceBuffer::<u32>::zeroed(&stream, LEN).unwrap();
    let mut here = PinnedBuffer::<u32>::new(device, LEN).unwrap();
    let (event, put) = (Event::new(device).unwrap(), kernel(device, "put"));
    let other = device.create_stream().unwrap();
    stream.copy(&here, &mut there).unwrap();
    run(&put, &other, &there, 4);
    other.copy(&there, &mut here).unwrap();
    event.record(&other).unwrap();
    let (sender, answer) = channel();
    stream
        .launch_host_fn(move |outcome| {
            drop((there, here, event, put, other));
            sender.send(outcome.is_ok()).unwrap();
        })
        .unwrap();
    gate.open();
    assert_eq!(answer.recv_timeout(crate::support::PATIENCE), Ok(true));
    device.synchronize().unwrap();
}

#[test]
fn a_clone_of_a_stream_is_the_same_stream() {
    let _guard = guard();
    let device = device();
    let stream = device.create_stream().unwrap();
    let clone = stream.clone();
    assert_eq!(stream, clone);
    assert_ne!(stream, device.create_stream().unwrap());
    assert_eq!(device.default_stream().unwrap(), device.default_stream().unwrap());
    let gate = Gate::close(&stream).unwrap();
    let mut buffer = DeviceBuffer::<u32>::zeroed(&clone, LEN).unwrap();
    clone.upload(&counting(8), &mut buffer).unwrap();
    assert!(!clone.is_done().unwrap());
    drop(stream);
    gate.open();
    assert_eq!(buffer.to_vec(&clone).unwrap(), counting(8));
}

#[test]
fn kernels_outlive_their_module_and_run_in_many_threads() {
    let _guard = guard();
    let device = device();
    let module = Module::from_source(device, SOURCE).unwrap();
    let (put, add) = (module.kernel("put").unwrap(), module.kernel("add").unwrap());
    assert_eq!(put.module().kernel_names().unwrap(), ["put", "add"]);
    drop(module);
    let threads: Vec<_> = (0..16)
        .map(|number| {
            let (put, add) = (put.clone(), add.clone());
            thread::spawn(move || {
                let stream = device.create_stream().unwrap();
                let buffer = unsafe { DeviceBuffer::<u32>::uninit(device, 1000) }.unwrap();
                for round in 0..20 {
                    run(&put, &stream, &buffer, number * 1000);
                    run(&add, &stream, &buffer, round);
                    let expected: Vec<_> = (number * 1000 + round..).take(1000).collect();
                    assert_eq!(buffer.to_vec(&stream).unwrap(), expected, "thread {number}, round {round}");
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn threads_share_one_stream_and_its_order() {
    let _guard = guard();
    let device = device();
    let stream = device.create_stream().unwrap();
    let add = kernel(device, "add");
    let buffer = Arc::new(DeviceBuffer::<u32>::zeroed(&stream, 100).unwrap());
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let (stream, add, buffer) = (stream.clone(), add.clone(), Arc::clone(&buffer));
            thread::spawn(move || (0..50).for_each(|_| run(&add, &stream, &buffer, 1)))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(buffer.to_vec(&stream).unwrap(), [400; 100], "no two of them ran at once");
}

#[test]
fn an_event_is_recorded_in_one_thread_and_waited_for_in_others() {
    let _guard = guard();
    let device = device();
    let (stream, gate) = gated(device);
    let event = Event::new(device).unwrap();
    event.record(&stream).unwrap();
    let (sender, answers) = channel();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (event, sender) = (event.clone(), sender.clone());
            thread::spawn(move || sender.send(event.synchronize().is_ok() && event.is_done().unwrap()).unwrap())
        })
        .collect();
    drop(event);
    assert!(answers.recv_timeout(std::time::Duration::from_millis(60)).is_err(), "one of them did not wait");
    gate.open();
    for _ in 0..4 {
        assert_eq!(answers.recv_timeout(crate::support::PATIENCE), Ok(true));
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_buffer_made_in_one_thread_is_used_and_dropped_in_others() {
    let _guard = guard();
    let device = device();
    let stream = device.create_stream().unwrap();
    let made: Vec<_> = (0..8).map(|number| DeviceBuffer::from_slice(&stream, &counting(number)).unwrap()).collect();
    let threads: Vec<_> = (0..)
        .zip(made)
        .map(|(number, buffer)| {
            let stream = stream.clone();
            thread::spawn(move || assert_eq!(buffer.to_vec(&stream).unwrap(), counting(number)))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn copies_cross_devices_by_any_stream() {
    let _guard = guard();
    if !has_two_devices() {
        return;
    }
    let devices = [Device::get(0).unwrap(), Device::get(1).unwrap()];
    let streams = devices.map(|device| device.create_stream().unwrap());
    for stream in &streams {
        for (from, to) in [(0, 1), (1, 0), (0, 0), (1, 1)] {
            let source = DeviceBuffer::from_slice(&streams[from], &counting(9)).unwrap();
            let mut target = DeviceBuffer::<u32>::zeroed(&streams[to], LEN).unwrap();
            streams.iter().for_each(|stream| stream.synchronize().unwrap());
            stream.copy(source.slice(10..), target.slice_mut(..LEN - 10)).unwrap();
            let seen = target.to_vec(stream).unwrap();
            assert_eq!(seen[..LEN - 10], counting(19)[..LEN - 10], "{from} to {to}");
            assert_eq!(seen[LEN - 10..], [0; 10]);

            let mut pinned = PinnedBuffer::<u32>::new(devices[from], LEN).unwrap();
            pinned.write().unwrap().copy_from_slice(&counting(2));
            stream.copy(&pinned, &mut target).unwrap();
            assert_eq!(target.to_vec(stream).unwrap(), counting(2));
            stream.copy(&target, &mut pinned).unwrap();
            assert_eq!(*pinned.read().unwrap(), *counting(2));
            stream.upload(&[5], target.slice_mut(..1)).unwrap();
            assert_eq!(target.slice(..2).to_vec(stream).unwrap(), [5, 3]);
        }
    }
}

#[test]
fn a_kernel_runs_on_either_device_and_takes_memory_of_its_own_alone() {
    let _guard = guard();
    if !has_two_devices() {
        return;
    }
    let devices = [Device::get(0).unwrap(), Device::get(1).unwrap()];
    let put = kernel(devices[0], "put");
    let streams = devices.map(|device| device.create_stream().unwrap());
    let buffers = devices.map(|device| unsafe { DeviceBuffer::<u32>::uninit(device, LEN) }.unwrap());
    for (number, (stream, buffer)) in (100..).zip(streams.iter().zip(&buffers)) {
        run(&put, stream, buffer, number);
        assert_eq!(buffer.to_vec(stream).unwrap(), counting(number));
    }
    let launch = put.launch(1, 1).stream(&streams[0]).arg(&buffers[1]).arg(&7_u32).arg(&1_u32);
    let error = unsafe { launch.run() }.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
    for part in ["argument = 0 of put: ", "data", "belongs to device 1 \""] {
        assert!(error.to_string().contains(part), "{part} in: {error}");
    }
    assert_eq!(buffers[1].slice(..1).to_vec(&streams[1]).unwrap(), [101], "nothing ran");
}

#[test]
fn a_stream_waits_for_an_event_of_another_device() {
    let _guard = guard();
    if !has_two_devices() {
        return;
    }
    let devices = [Device::get(0).unwrap(), Device::get(1).unwrap()];
    let (first, gate) = gated(devices[0]);
    let second = devices[1].create_stream().unwrap();
    let event = Event::new(devices[0]).unwrap();
    event.record(&first).unwrap();
    second.wait_event(&event).unwrap();
    let mut buffer = unsafe { DeviceBuffer::<u32>::uninit(devices[1], LEN) }.unwrap();
    second.upload(&counting(1), &mut buffer).unwrap();
    drop(event);
    assert!(!second.is_done().unwrap());
    let error = Event::new(devices[1]).unwrap().record(&first).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidHandle);
    gate.open();
    second.synchronize().unwrap();
    assert_eq!(buffer.to_vec(&second).unwrap(), counting(1));
    first.synchronize().unwrap();
}

#[test]
fn pinned_memory_is_kept_for_copies_of_another_device() {
    let _guard = guard();
    if !has_two_devices() {
        return;
    }
    let devices = [Device::get(0).unwrap(), Device::get(1).unwrap()];
    let (stream, gate) = gated(devices[1]);
    let mut source = PinnedBuffer::<u32>::new(devices[0], LEN).unwrap();
    source.write().unwrap().copy_from_slice(&counting(4));
    let mut target = DeviceBuffer::<u32>::zeroed(&stream, LEN).unwrap();
    stream.copy(&source, &mut target).unwrap();
    drop(source);
    let mut others: Vec<_> = (0..8).map(|_| PinnedBuffer::<u32>::new(devices[0], LEN).unwrap()).collect();
    others.iter_mut().for_each(|other| other.write().unwrap().fill(0xdead));
    gate.open();
    assert_eq!(target.to_vec(&stream).unwrap(), counting(4));
}
