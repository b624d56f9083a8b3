//! Which device a call means, and what ends with its reset (SEED-M and SEED-T "devices"; behaviour.md 2.1, the rows
//! of 3.1 on synchronising and resetting, and 1.6 on programs that use both dialects).

use crate::support::{PATIENCE, device, gated, in_time};
use gridcl::testing::{Gate, guard};
use gridcl::{Device, DeviceBuffer, ErrorKind, Event, Module as SafeModule, PinnedBuffer, StreamFlags};
use std::ffi::CStr;
use std::ptr::null_mut;
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

const SOURCE: &CStr = c"
    __kernel void mark(__global uint *out, uint value) { out[get_global_id(0)] = value; }";

/// Runs `act`, asserting that it comes back, and that it does so only when the gate was opened.
pub fn comes_back_when_opened<T: Send + 'static>(gate: Gate, act: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, answer) = channel();
    let thread = thread::spawn(move || sender.send(act()));
    assert!(answer.recv_timeout(Duration::from_millis(60)).is_err(), "it did not wait");
    gate.open();
    let answer = answer.recv_timeout(PATIENCE).expect("it comes back");
    let _ = thread.join();
    answer
}

/// Whether there is a second device; says so where a test has to be left out.
pub fn has_two_devices() -> bool {
    if Device::count() < 2 {
        eprintln!("skipped: needs two devices");
    }
    Device::count() >= 2
}

fn hold_default_stream(device: Device) -> Gate {
    Gate::close(&device.default_stream().unwrap()).unwrap()
}

both_dialects! {
    fn each_thread_begins_with_the_first_device_and_keeps_its_own() {
        let _guard = guard();
        if !has_two_devices() {
            return;
        }
        let current = || {
            let mut ordinal = -1;
            ok!(unsafe { get_device(&mut ordinal) });
            ordinal
        };
        ok!(set_device(1));
        let step = Arc::new(Barrier::new(4));
        let threads: Vec<_> = (0..4)
            .map(|number| {
                let step = Arc::clone(&step);
                thread::spawn(move || {
                    assert_eq!(current(), 0, "another thread's choice is not this one's");
                    for round in 0..20 {
                        ok!(set_device((number + round) % 2));
                        step.wait();
                        assert_eq!(current(), (number + round) % 2);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(current(), 1);
        ok!(set_device(0));
    }

    fn choosing_a_device_waits_for_nothing() {
        let _guard = guard();
        let gate = hold_default_stream(device());
        in_time("setting the device", || {
            ok!(set_device(0));
            let last = Device::count() - 1;
            ok!(set_device(last.try_into().unwrap()));
        });
        gate.open();
        ok!(device_synchronize());
    }

    fn memory_comes_from_the_current_device() {
        let _guard = guard();
        if !has_two_devices() {
            return;
        }
        let free_on = |ordinal| Device::get(ordinal).unwrap().memory_info().unwrap().0;
        let before = [free_on(0), free_on(1)];
        let mut memory = null_mut();
        ok!(set_device(1));
        ok!(unsafe { malloc(&mut memory, 8 << 20) });
        assert_eq!(free_on(0), before[0]);
        assert!(free_on(1) < before[1]);
        ok!(set_device(0));
        // Memory is freed whatever the current device is, and used through either.
        ok!(memset(memory, 7, 8 << 20));
        let mut last = 0_u8;
        let at = unsafe { memory.cast::<u8>().add((8 << 20) - 1) };
        ok!(unsafe { memcpy((&raw mut last).cast(), at.cast(), 1, DEVICE_TO_HOST) });
        assert_eq!(last, 7);
        ok!(free(memory));
        assert_eq!([free_on(0), free_on(1)], before);
    }

    fn streams_and_events_stay_on_the_device_that_was_current() {
        let _guard = guard();
        if !has_two_devices() {
            return;
        }
        let (mut stream, mut event, mut memory) = (null_mut(), null_mut(), null_mut());
        ok!(set_device(1));
        ok!(unsafe { stream_create(&mut stream) });
        ok!(unsafe { event_create(&mut event) });
        ok!(unsafe { malloc(&mut memory, 4) });
        let gate = hold_default_stream(Device::get(1).unwrap());
        ok!(memset_async(memory, 3, 4, stream));
        ok!(event_record(event, stream));

        ok!(set_device(0));
        assert_eq!(stream_query(stream), NOT_READY);
        assert_eq!(event_query(event), NOT_READY);
        ok!(device_synchronize());
        fails!(event_record(event, LEGACY), INVALID_HANDLE, "EventRecord: ", "device 1", "device 0");
        assert_eq!(event_query(event), NOT_READY, "the record is as it was");
        gate.open();
        ok!(stream_synchronize(stream));
        ok!(event_synchronize(event));
        ok!(stream_query(stream));
        ok!(event_query(event));

        let mut value = 0_u32;
        ok!(unsafe { memcpy_async((&raw mut value).cast(), memory, 4, DEVICE_TO_HOST, stream) });
        assert_eq!(value, 0x0303_0303);
        ok!(stream_destroy(stream));
        ok!(event_destroy(event));
        ok!(free(memory));
    }

    fn a_launch_runs_on_its_streams_device() {
        let _guard = guard();
        if !has_two_devices() {
            return;
        }
        let (mut module, mut function) = (null_mut(), null_mut());
        ok!(unsafe { module_load_data(&mut module, SOURCE.as_ptr().cast()) });
        ok!(unsafe { module_get_function(&mut function, module, c"mark".as_ptr()) });
        let (mut stream, mut memory) = (null_mut(), null_mut());
        ok!(set_device(1));
        ok!(unsafe { stream_create(&mut stream) });
        ok!(unsafe { malloc(&mut memory, 16) });
        ok!(set_device(0));

        let mut value = 0xcafe_u32;
        let mut args = [(&raw mut memory).cast(), (&raw mut value).cast()];
        let (one, four) = (dim3 { x: 1, y: 1, z: 1 }, dim3 { x: 4, y: 1, z: 1 });
        let launch = |args: &mut [_; 2], stream| unsafe {
            launch_kernel(function.cast_const().cast(), one, four, args.as_mut_ptr(), 0, stream)
        };
        ok!(launch(&mut args, stream));
        let mut seen = [0_u32; 4];
        ok!(unsafe { memcpy_async(seen.as_mut_ptr().cast(), memory, 16, DEVICE_TO_HOST, stream) });
        assert_eq!(seen, [0xcafe; 4]);
        // The default stream is the current device's, which does not have that memory.
        fails!(launch(&mut args, LEGACY), INVALID_VALUE, "LaunchKernel: ", "belongs to device 1");

        ok!(module_unload(module));
        ok!(stream_destroy(stream));
        ok!(free(memory));
    }

    fn synchronizing_waits_for_streams_of_both_kinds() {
        let _guard = guard();
        for flags in [StreamFlags::empty(), StreamFlags::NON_BLOCKING] {
            let stream = device().create_stream_with(flags, 0).unwrap();
            let gate = Gate::close(&stream).unwrap();
            comes_back_when_opened(gate, || ok!(device_synchronize()));
            assert!(stream.is_done().unwrap());
        }
    }

    fn synchronizing_does_not_wait_for_another_device() {
        let _guard = guard();
        if !has_two_devices() {
            return;
        }
        let (stream, gate) = gated(Device::get(1).unwrap());
        in_time("synchronising device 0", || ok!(device_synchronize()));
        assert!(!stream.is_done().unwrap());
        comes_back_when_opened(gate, || {
            ok!(set_device(1));
            ok!(device_synchronize());
        });
    }

    fn threads_allocate_and_free_at_once() {
        let _guard = guard();
        let threads: Vec<_> = (1..=8)
            .map(|number: u8| {
                thread::spawn(move || {
                    for round in 1..=20 {
                        let (mut memory, mut pinned) = (null_mut(), null_mut());
                        let bytes = 4096 * round + usize::from(number);
                        ok!(unsafe { malloc(&mut memory, bytes) });
                        ok!(unsafe { host_malloc(&mut pinned, bytes) });
                        ok!(memset(memory, number.into(), bytes));
                        ok!(unsafe { memcpy(pinned, memory, bytes, DEVICE_TO_HOST) });
                        let seen = unsafe { std::slice::from_raw_parts(pinned.cast::<u8>(), bytes) };
                        assert!(seen.iter().all(|&byte| byte == number), "another thread's memory was hit");
                        ok!(free(memory));
                        ok!(host_free(pinned));
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    fn a_reset_ends_all_that_was_made_on_the_device() {
        let _guard = guard();
        let (mut memory, mut pinned) = (null_mut(), null_mut());
        let (mut stream, mut event) = (null_mut(), null_mut());
        let (mut module, mut function) = (null_mut(), null_mut());
        ok!(unsafe { malloc(&mut memory, 64) });
        ok!(unsafe { host_malloc(&mut pinned, 64) });
        ok!(unsafe { stream_create(&mut stream) });
        ok!(unsafe { event_create(&mut event) });
        ok!(unsafe { module_load_data(&mut module, SOURCE.as_ptr().cast()) });
        ok!(unsafe { module_get_function(&mut function, module, c"mark".as_ptr()) });
        ok!(memset_async(memory, 1, 64, stream));
        ok!(event_record(event, stream));
        ok!(device_reset());

        let mut bytes = [9_u8; 64];
        fails!(free(memory), INVALID_DEVICE_POINTER, "Free: ");
        fails!(host_free(pinned), INVALID_VALUE);
        fails!(memset(memory, 2, 64), INVALID_VALUE);
        fails!(unsafe { memcpy(bytes.as_mut_ptr().cast(), memory, 64, DEVICE_TO_HOST) }, INVALID_VALUE);
        fails!(unsafe { memcpy(memory, bytes.as_ptr().cast(), 64, HOST_TO_DEVICE) }, INVALID_VALUE);
        fails!(stream_query(stream), INVALID_HANDLE, "StreamQuery: ", "stream = 0x");
        fails!(stream_synchronize(stream), INVALID_HANDLE);
        fails!(stream_wait_event(stream, event, 0), INVALID_HANDLE);
        fails!(stream_destroy(stream), INVALID_HANDLE);
        fails!(event_query(event), INVALID_HANDLE, "EventQuery: ", "event = 0x");
        fails!(event_synchronize(event), INVALID_HANDLE);
        fails!(event_record(event, LEGACY), INVALID_HANDLE);
        fails!(event_destroy(event), INVALID_HANDLE);
        let mut found = null_mut();
        fails!(unsafe { module_get_function(&mut found, module, c"mark".as_ptr()) }, INVALID_HANDLE);
        fails!(module_unload(module), INVALID_HANDLE);
        let (one, mut args) = (dim3 { x: 1, y: 1, z: 1 }, [null_mut(); 2]);
        fails!(
            unsafe { launch_kernel(function.cast_const().cast(), one, one, args.as_mut_ptr(), 0, LEGACY) },
            INVALID_DEVICE_FUNCTION,
        );
        assert_eq!((bytes, found), ([9; 64], null_mut()), "nothing was written");
    }

    fn a_device_begins_anew_after_a_reset() {
        let _guard = guard();
        for _ in 0..3 {
            ok!(device_reset());
            ok!(device_reset());
            let (mut stream, mut memory, mut module) = (null_mut(), null_mut(), null_mut());
            ok!(unsafe { stream_create(&mut stream) });
            ok!(unsafe { malloc(&mut memory, 4) });
            ok!(unsafe { module_load_data(&mut module, SOURCE.as_ptr().cast()) });
            ok!(memset_async(memory, 5, 4, stream));
            ok!(stream_synchronize(stream));
            let mut value = 0_u32;
            ok!(unsafe { memcpy((&raw mut value).cast(), memory, 4, DEVICE_TO_HOST) });
            assert_eq!(value, 0x0505_0505);
        }
        // What the last round made goes with a reset, too.
        ok!(device_reset());
        ok!(device_synchronize());
    }

    fn a_reset_waits_for_the_work_under_way() {
        let _guard = guard();
        let stream = device().create_stream_with(StreamFlags::NON_BLOCKING, 0).unwrap();
        let gate = Gate::close(&stream).unwrap();
        comes_back_when_opened(gate, || ok!(device_reset()));
        ok!(device_synchronize());
    }

    fn a_threads_own_stream_is_there_again_after_a_reset() {
        let _guard = guard();
        for byte in [1, 2, 3] {
            let mut memory = null_mut();
            ok!(unsafe { malloc(&mut memory, 4) });
            ok!(memset_async(memory, byte, 4, PER_THREAD));
            ok!(stream_synchronize(PER_THREAD));
            ok!(stream_query(PER_THREAD));
            ok!(device_reset());
            ok!(stream_query(PER_THREAD));
        }
    }

    fn a_reset_ends_what_another_thread_made() {
        let _guard = guard();
        let (to_main, from_thread) = channel();
        let (to_thread, from_main) = channel();
        let thread = thread::spawn(move || {
            let (mut stream, mut memory) = (null_mut(), null_mut());
            ok!(unsafe { stream_create(&mut stream) });
            ok!(unsafe { malloc(&mut memory, 64) });
            to_main.send(()).unwrap();
            from_main.recv_timeout(PATIENCE).unwrap();
            fails!(stream_query(stream), INVALID_HANDLE);
            fails!(free(memory), INVALID_DEVICE_POINTER);
            ok!(stream_query(LEGACY));
        });
        from_thread.recv_timeout(PATIENCE).unwrap();
        ok!(device_reset());
        to_thread.send(()).unwrap();
        thread.join().unwrap();
    }

    fn a_reset_leaves_other_devices_alone() {
        let _guard = guard();
        if !has_two_devices() {
            return;
        }
        let (mut stream, mut memory) = (null_mut(), null_mut());
        ok!(set_device(1));
        ok!(unsafe { stream_create(&mut stream) });
        ok!(unsafe { malloc(&mut memory, 4) });
        let gate = hold_default_stream(Device::get(1).unwrap());
        ok!(memset_async(memory, 9, 4, stream));
        in_time("resetting device 0 while device 1 is busy", || ok!(device_reset()));
        assert_eq!(stream_query(stream), NOT_READY);
        gate.open();
        let mut value = 0_u32;
        ok!(unsafe { memcpy((&raw mut value).cast(), memory, 4, DEVICE_TO_HOST) });
        assert_eq!(value, 0x0909_0909);
        ok!(stream_destroy(stream));
        ok!(free(memory));
        ok!(set_device(0));
        ok!(device_synchronize());
    }
}

#[test]
fn the_current_device_is_each_dialects_own() {
    use gridcl::musa::{musaGetDevice, musaSetDevice, musaSuccess};
    use gridcl::tops::{topsGetDevice, topsSetDevice, topsSuccess};
    let _guard = guard();
    if !has_two_devices() {
        return;
    }
    let current = || {
        let (mut musa, mut tops) = (-1, -1);
        assert_eq!(unsafe { musaGetDevice(&mut musa) }, musaSuccess);
        assert_eq!(unsafe { topsGetDevice(&mut tops) }, topsSuccess);
        (musa, tops)
    };
    assert_eq!(musaSetDevice(1), musaSuccess);
    assert_eq!(current(), (1, 0));
    assert_eq!(topsSetDevice(1), topsSuccess);
    assert_eq!(musaSetDevice(0), musaSuccess);
    assert_eq!(current(), (0, 1));
    assert_eq!(topsSetDevice(0), topsSuccess);
}

/// Makes a stream, an event, memory and a module in one dialect and answers what finds them dead.
macro_rules! made {
    ($prefix:ident) => {{
        use crate::dialects::$prefix::*;
        let (mut stream, mut event, mut memory, mut module) = (null_mut(), null_mut(), null_mut(), null_mut());
        ok!(unsafe { stream_create(&mut stream) });
        ok!(unsafe { event_create(&mut event) });
        ok!(unsafe { malloc(&mut memory, 64) });
        ok!(unsafe { module_load_data(&mut module, SOURCE.as_ptr().cast()) });
        move || {
            fails!(stream_query(stream), INVALID_HANDLE);
            fails!(event_query(event), INVALID_HANDLE);
            fails!(free(memory), INVALID_DEVICE_POINTER);
            fails!(module_unload(module), INVALID_HANDLE);
            ok!(stream_query(LEGACY));
        }
    }};
}

#[test]
fn a_reset_in_either_dialect_ends_the_objects_of_both() {
    let _guard = guard();
    for reset in [|| gridcl::musa::musaDeviceReset().is_ok(), || gridcl::tops::topsDeviceReset().is_ok()] {
        let (musa, tops) = (made!(musa), made!(tops));
        assert!(reset());
        musa();
        tops();
    }
}

#[test]
fn a_reset_ends_objects_of_the_safe_surface_and_they_say_so() {
    let _guard = guard();
    let device = device();
    let stream = device.create_stream().unwrap();
    let event = Event::new(device).unwrap();
    let buffer = DeviceBuffer::from_slice(&stream, &[1_u32; 16]).unwrap();
    let mut pinned = PinnedBuffer::<u32>::new(device, 16).unwrap();
    let module = SafeModule::from_source(device, SOURCE.to_str().unwrap()).unwrap();
    let kernel = module.kernel("mark").unwrap();
    stream.copy(&buffer, &mut pinned).unwrap();
    device.reset().unwrap();

    let fresh = device.create_stream().unwrap();
    let failures = [
        stream.synchronize().unwrap_err(),
        stream.is_done().unwrap_err(),
        event.record(&stream).unwrap_err(),
        event.synchronize().unwrap_err(),
        fresh.wait_event(&event).unwrap_err(),
        buffer.to_vec(&stream).unwrap_err(),
        module.kernel("mark").unwrap_err(),
        unsafe { kernel.launch(1, 1).stream(&stream).arg(&buffer).arg(&1_u32).run() }.unwrap_err(),
    ];
    for failure in failures {
        assert_eq!(failure.kind(), ErrorKind::InvalidHandle, "{failure}");
        assert!(failure.to_string().contains("before the device was reset"), "{failure}");
    }
    // Host memory with an owner stays while it has one; the device's is gone, and no later stream reaches it.
    assert_eq!(*pinned.read().unwrap(), [1; 16]);
    assert_eq!(buffer.to_vec(&fresh).unwrap_err().kind(), ErrorKind::InvalidValue);
    let again = DeviceBuffer::from_slice(&fresh, &[2_u32; 16]).unwrap();
    assert_eq!(again.to_vec(&fresh).unwrap(), [2; 16]);
}
