//! Errors (SEED-M "error handling", SEED-T "error handling"; behaviour.md 2.2, the codes of 1.3 and 1.6): the last
//! error of a thread and dialect, names and texts of codes, and the words of a failure.

use crate::child;
use crate::support::device;
use gridcl::testing::{Gate, count_calls, fail, guard};
use gridcl::{Device, DeviceBuffer, Error, ErrorKind, Module as SafeModule, last_error_detail};
use std::ffi::{CStr, c_char, c_int};
use std::ptr::{null, null_mut, without_provenance_mut};
use std::thread;

fn text<'a>(pointer: *const c_char) -> &'a str {
    assert!(!pointer.is_null());
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap()
}

both_dialects! {
    fn an_error_stays_until_it_is_got() {
        let _guard = guard();
        assert_eq!(get_last_error(), SUCCESS);
        assert_eq!(peek_at_last_error(), SUCCESS);
        assert_eq!(set_device(-1), INVALID_DEVICE);
        assert_eq!(peek_at_last_error(), INVALID_DEVICE);
        assert_eq!(peek_at_last_error(), INVALID_DEVICE, "peeking keeps it");
        assert_eq!(get_last_error(), INVALID_DEVICE);
        assert_eq!(get_last_error(), SUCCESS, "getting forgets it");
        assert_eq!(peek_at_last_error(), SUCCESS);
    }

    fn success_leaves_the_error_and_another_failure_replaces_it() {
        let _guard = guard();
        let mut memory = null_mut();
        assert_eq!(set_device(-1), INVALID_DEVICE);
        ok!(unsafe { malloc(&mut memory, 64) });
        ok!(memset(memory, 0, 64));
        ok!(device_synchronize());
        assert_eq!(peek_at_last_error(), INVALID_DEVICE);
        assert_eq!(unsafe { malloc(null_mut(), 64) }, INVALID_VALUE);
        ok!(free(memory));
        assert_eq!(get_last_error(), INVALID_VALUE);
        assert_eq!(get_last_error(), SUCCESS);
    }

    fn not_ready_is_an_answer_and_no_error() {
        let _guard = guard();
        let gate = Gate::close(&device().default_stream().unwrap()).unwrap();
        let (mut start, mut stop) = (null_mut(), null_mut());
        ok!(unsafe { event_create(&mut start) });
        ok!(unsafe { event_create(&mut stop) });
        ok!(event_record(start, LEGACY));
        ok!(event_record(stop, LEGACY));
        let mut ms = 7.0_f32;
        let mut answer_not_ready = || {
            assert_eq!(stream_query(LEGACY), NOT_READY);
            assert_eq!(event_query(start), NOT_READY);
            assert_eq!(unsafe { event_elapsed_time(&mut ms, start, stop) }, NOT_READY);
            assert_eq!(ms, 7.0, "nothing was written");
        };
        answer_not_ready();
        assert_eq!(get_last_error(), SUCCESS);

        assert_eq!(set_device(-1), INVALID_DEVICE);
        let words = last_error_detail();
        answer_not_ready();
        assert_eq!(last_error_detail(), words);
        assert_eq!(get_last_error(), INVALID_DEVICE, "it replaces nothing");
        gate.open();
        ok!(stream_synchronize(LEGACY));
        ok!(event_destroy(start));
        ok!(event_destroy(stop));
    }

    fn each_thread_has_an_error_of_its_own() {
        let _guard = guard();
        assert_eq!(set_device(-1), INVALID_DEVICE);
        let threads: Vec<_> = (0..4)
            .map(|number| {
                thread::spawn(move || {
                    assert_eq!(peek_at_last_error(), SUCCESS, "another thread's failure is not this one's");
                    assert_eq!(last_error_detail(), None);
                    assert_eq!(unsafe { malloc(null_mut(), number) }, INVALID_VALUE);
                    assert_eq!(get_last_error(), INVALID_VALUE);
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(last_error_detail().unwrap().contains("SetDevice"));
        assert_eq!(get_last_error(), INVALID_DEVICE);
    }

    fn a_refused_call_does_nothing_and_the_next_one_succeeds() {
        let _guard = guard();
        let mut memory = null_mut();
        ok!(unsafe { malloc(&mut memory, 64) });
        ok!(memset(memory, 3, 64));
        let bytes = [9_u8; 128];
        let (to, from) = (memory, bytes.as_ptr().cast());
        fails!(unsafe { memcpy(to, from, 65, HOST_TO_DEVICE) }, INVALID_VALUE, "has 64 bytes", "1 too many");
        fails!(unsafe { memcpy(to, from, 64, Kind(7)) }, INVALID_MEMCPY_DIRECTION, "kind = 7", "0 to 4");
        fails!(memset(memory, 1, 65), INVALID_VALUE);
        fails!(free(memory.wrapping_byte_add(1)), INVALID_DEVICE_POINTER, "points into", "free that address");
        let mut seen = [0_u8; 64];
        ok!(unsafe { memcpy(seen.as_mut_ptr().cast(), memory, 64, DEVICE_TO_HOST) });
        assert_eq!(seen, [3; 64]);
        ok!(unsafe { memcpy(to, from, 64, HOST_TO_DEVICE) });
        ok!(free(memory));
    }

    fn a_launch_that_is_refused_is_returned_and_recorded() {
        let _guard = guard();
        let one = dim3 { x: 1, y: 1, z: 1 };
        let launch = |function| unsafe { launch_kernel(function, one, one, null_mut(), 0, LEGACY) };
        fails!(launch(null()), INVALID_DEVICE_FUNCTION, "LaunchKernel: func", " = null: ", "not a function");
        fails!(launch(without_provenance_mut(0x5a5a)), INVALID_DEVICE_FUNCTION, " = 0x5a5a: ", "not a function");
        ok!(device_synchronize());
    }

    fn every_failure_names_its_call_and_argument() {
        let _guard = guard();
        let dead = without_provenance_mut(0x4242_4240);
        let mut out = null_mut();
        let (stream, event) = (without_provenance_mut(0x4242_4240), without_provenance_mut(0x4242_4240));
        let mut host = [0_u8; 8];
        let at = host.as_mut_ptr().cast();
        fails!(unsafe { malloc(null_mut(), 8) }, INVALID_VALUE, "Malloc: ", " = null: ", "must not be null");
        fails!(unsafe { malloc(&mut out, usize::MAX) }, OUT_OF_MEMORY, "Malloc: size = 18446744073709551615: ");
        fails!(free(at), INVALID_DEVICE_POINTER, "Free: ptr = 0x", "has not allocated it");
        fails!(host_free(at), INVALID_VALUE, "Free", "ptr = 0x", "no pinned memory there");
        fails!(memset(at, 1, 8), INVALID_VALUE, "Memset: ", " = 0x", "host pointer?");
        fails!(memset(null_mut(), 1, 8), INVALID_VALUE, "Memset: ", "null");
        fails!(unsafe { memcpy(null_mut(), at, 8, DEFAULT) }, INVALID_VALUE, "Memcpy: dst = 0x0: ", "null");
        fails!(unsafe { memcpy(at, null(), 8, DEFAULT) }, INVALID_VALUE, "Memcpy: src = 0x0: ", "null");
        fails!(unsafe { memcpy_async(at, at, 8, DEFAULT, stream) }, INVALID_HANDLE, "Async: stream = 0x42424240: ");
        fails!(unsafe { host_register(at, 0, 0) }, INVALID_VALUE, "HostRegister: size = 0: ");
        fails!(unsafe { host_register(at, 8, 0xf0) }, INVALID_VALUE, "flags = 0xf0: ", "bits 0xf0");
        fails!(host_unregister(at), HOST_MEMORY_NOT_REGISTERED, "HostUnregister: ptr = 0x");
        fails!(unsafe { stream_create(null_mut()) }, INVALID_VALUE, "StreamCreate: ", "tream = null: ");
        fails!(unsafe { stream_create_with_flags(&mut null_mut(), 0xf0) }, INVALID_VALUE, "flags = 0xf0: ");
        fails!(stream_query(stream), INVALID_HANDLE, "StreamQuery: stream = 0x42424240: ", "not a stream");
        fails!(stream_synchronize(stream), INVALID_HANDLE, "StreamSynchronize: stream = 0x42424240: ");
        fails!(stream_destroy(stream), INVALID_HANDLE, "StreamDestroy: stream = 0x42424240: ");
        fails!(stream_wait_event(LEGACY, event, 0), INVALID_HANDLE, "WaitEvent: event = 0x42424240: ");
        fails!(unsafe { event_create(null_mut()) }, INVALID_VALUE, "EventCreate: event = null: ");
        fails!(event_record(event, LEGACY), INVALID_HANDLE, "EventRecord: event = 0x42424240: ", "not an event");
        fails!(event_record(null_mut(), LEGACY), INVALID_HANDLE, "EventRecord: event = ", "null is not an event");
        fails!(event_destroy(event), INVALID_HANDLE, "EventDestroy: event = 0x42424240: ");
        fails!(unsafe { event_elapsed_time(&mut 0.0, event, event) }, INVALID_HANDLE, "start = 0x42424240: ");
        fails!(module_unload(dead), INVALID_HANDLE, "ModuleUnload: module = 0x42424240: ", "not a module");
        fails!(unsafe { module_load_data(&mut null_mut(), null()) }, INVALID_VALUE, "LoadData: image = null: ");
        fails!(unsafe { module_load(&mut null_mut(), c"no/such".as_ptr()) }, FILE_NOT_FOUND, "no/such");
        assert!(out.is_null());
        ok!(device_synchronize());
    }

    fn a_handle_of_the_other_dialect_is_a_dead_one() {
        let _guard = guard();
        let (mut stream, mut event) = (null_mut(), null_mut());
        ok!(unsafe { stream_create(&mut stream) });
        ok!(unsafe { event_create(&mut event) });
        match NAME {
            "musa" => {
                use gridcl::tops::*;
                assert_eq!(topsStreamQuery(stream.cast()), topsErrorInvalidHandle);
                assert_eq!(topsEventDestroy(event.cast()), topsErrorInvalidHandle);
                assert_eq!(topsGetLastError(), topsErrorInvalidHandle);
            }
            _ => {
                use gridcl::musa::*;
                assert_eq!(musaStreamQuery(stream.cast()), musaErrorContextIsDestroyed);
                assert_eq!(musaEventDestroy(event.cast()), musaErrorContextIsDestroyed);
                assert_eq!(musaGetLastError(), musaErrorContextIsDestroyed);
            }
        }
        assert_eq!(get_last_error(), SUCCESS, "and the failure is the other dialect's");
        ok!(stream_destroy(stream));
        ok!(event_destroy(event));
    }

    fn a_text_is_never_null_and_fails_for_nothing() {
        let _guard = guard();
        for number in (-2..1100).chain([10_000, 12_345, c_int::MAX, c_int::MIN]) {
            let words = text(get_error_string(Code(number)));
            assert!(!words.is_empty());
            assert_eq!(words == "unrecognized error code", !Code(number).is_known(), "{number}: {words}");
        }
        assert_eq!(get_last_error(), SUCCESS);
    }

    fn the_last_error_needs_no_runtime() {
        if !child::is_child() {
            return child::passes(&format!("errors::{NAME}::the_last_error_needs_no_runtime"), &[]);
        }
        let ((), calls) = count_calls(|| {
            assert_eq!(get_last_error(), SUCCESS);
            assert_eq!(peek_at_last_error(), SUCCESS);
            assert!(!text(get_error_string(SUCCESS)).is_empty());
            assert_eq!(unsafe { get_device_count(null_mut()) }, INVALID_VALUE);
            assert_eq!(get_last_error(), INVALID_VALUE);
        });
        assert_eq!(calls, [], "no OpenCL call was made");
        let (code, calls) = count_calls(|| free(null_mut()));
        assert_eq!(code, SUCCESS);
        assert!(!calls.is_empty(), "the first call that needs the runtime starts it");
    }

    fn a_fault_of_the_device_stays_until_the_process_ends() {
        if !child::is_child() {
            let name = format!("errors::{NAME}::a_fault_of_the_device_stays_until_the_process_ends");
            return child::passes(&name, &[]);
        }
        let launch_failure = if NAME == "musa" { Code(400) } else { Code(719) };
        let (mut memory, mut other) = (null_mut(), null_mut());
        let (mut stream, mut event) = (null_mut(), null_mut());
        ok!(unsafe { malloc(&mut memory, 64) });
        ok!(unsafe { stream_create(&mut stream) });
        ok!(unsafe { event_create(&mut event) });
        ok!(memset_async(memory, 1, 64, stream));
        // Nothing runs on when the driver's wait is kept from happening.
        ok!(event_record(event, stream));
        ok!(event_synchronize(event));
        // What NVIDIA's driver answers when a kernel of the queue died.
        fail("clFinish", 0, -36);
        assert_eq!(stream_synchronize(stream), launch_failure);
        assert_eq!(get_last_error(), launch_failure);
        let words = last_error_detail().unwrap();
        for part in [
            "StreamSynchronize: the device failed while it ran earlier work (on device 0 \"",
            "[clFinish: CL_INVALID_COMMAND_QUEUE (-36)]",
        ] {
            assert!(words.contains(part), "{part} in: {words}");
        }

        for call in [
            || device_synchronize(),
            || stream_query(LEGACY),
            || stream_synchronize(LEGACY),
            || unsafe { malloc(&mut null_mut(), 8) },
            || unsafe { stream_create(&mut null_mut()) },
            || unsafe { event_create(&mut null_mut()) },
            || unsafe { mem_get_info(&mut 0, &mut 0) },
        ] {
            assert_eq!(call(), launch_failure);
            assert_eq!(get_last_error(), launch_failure);
        }
        assert_eq!(stream_query(stream), launch_failure);
        assert_eq!(memset_async(memory, 1, 64, stream), launch_failure);
        assert_eq!(unsafe { memcpy(memory, memory, 64, DEVICE_TO_DEVICE) }, launch_failure);
        // A reset does not mend the device, and what needs no device still works.
        let _ = device_reset();
        assert_eq!(unsafe { malloc(&mut other, 64) }, launch_failure);
        assert!(other.is_null());
        ok!(unsafe { get_device_count(&mut 0) });
        ok!(set_device(0));
        assert_eq!(get_last_error(), launch_failure);
        assert_eq!(get_last_error(), SUCCESS, "the record is got once, like any other");
    }

    fn a_refusal_by_the_driver_is_no_fault_of_the_device() {
        let _guard = guard();
        let mut event = null_mut();
        let mut memory = null_mut();
        ok!(unsafe { malloc(&mut memory, 64) });
        ok!(unsafe { event_create(&mut event) });
        ok!(memset(memory, 1, 64));
        fail("clEnqueueMarkerWithWaitList", 0, -6);
        fails!(event_record(event, LEGACY), OUT_OF_MEMORY, "[clEnqueueMarkerWithWaitList: CL_OUT_OF_HOST_MEMORY (-6)]");
        ok!(event_record(event, LEGACY));
        ok!(event_synchronize(event));
        ok!(event_destroy(event));
        ok!(free(memory));
    }
}

#[test]
fn an_error_is_of_the_dialect_whose_call_failed() {
    use gridcl::musa::*;
    use gridcl::tops::*;
    let _guard = guard();
    assert_eq!(musaSetDevice(-1), musaErrorInvalidDevice);
    assert_eq!(topsPeekAtLastError(), topsSuccess);
    assert_eq!(unsafe { topsMalloc(null_mut(), 8) }, topsErrorInvalidValue);
    assert_eq!(musaPeekAtLastError(), musaErrorInvalidDevice);
    assert!(last_error_detail().unwrap().starts_with("topsMalloc: "), "the words are of the latest of both");
    assert_eq!(topsGetLastError(), topsErrorInvalidValue);
    assert_eq!(musaGetLastError(), musaErrorInvalidDevice);
    assert!(last_error_detail().unwrap().starts_with("topsMalloc: "), "and stay when the codes are got");
}

#[test]
fn musa_numbers_are_the_seeds() {
    use gridcl::musa::*;
    let seed = [
        (musaSuccess, 0, "musaSuccess"),
        (musaErrorInvalidValue, 1, "musaErrorInvalidValue"),
        (musaErrorOutOfMemory, 2, "musaErrorOutOfMemory"),
        (musaErrorNotInitialized, 3, "musaErrorNotInitialized"),
        (musaErrorInvalidDevice, 100, "musaErrorInvalidDevice"),
        (musaErrorInvalidKernel, 300, "musaErrorInvalidKernel"),
        (musaErrorLaunchFailure, 400, "musaErrorLaunchFailure"),
        (musaErrorLaunchTimeout, 408, "musaErrorLaunchTimeout"),
        (musaErrorInvalidConfiguration, 9, "musaErrorInvalidConfiguration"),
        (musaErrorInvalidPitchValue, 12, "musaErrorInvalidPitchValue"),
        (musaErrorInvalidSymbol, 13, "musaErrorInvalidSymbol"),
        (musaErrorInvalidMemcpyDirection, 21, "musaErrorInvalidMemcpyDirection"),
        (musaErrorDevicesUnavailable, 46, "musaErrorDevicesUnavailable"),
        (musaErrorInvalidDeviceFunction, 98, "musaErrorInvalidDeviceFunction"),
        (musaErrorInvalidKernelImage, 200, "musaErrorInvalidKernelImage"),
        (musaErrorSymbolNotFound, 500, "musaErrorSymbolNotFound"),
        (musaErrorNotReady, 600, "musaErrorNotReady"),
        (musaErrorIllegalAddress, 700, "musaErrorIllegalAddress"),
        (musaErrorContextIsDestroyed, 709, "musaErrorContextIsDestroyed"),
        (musaErrorNotPermitted, 800, "musaErrorNotPermitted"),
        (musaErrorNotSupported, 801, "musaErrorNotSupported"),
        (musaErrorUnknown, 999, "musaErrorUnknown"),
        (musaErrorMemoryAllocation, 2, "musaErrorOutOfMemory"),
        (musaErrorInitializationError, 3, "musaErrorNotInitialized"),
    ];
    for (code, number, name) in seed {
        assert_eq!(code.0, number);
        let mut found = null();
        assert_eq!(unsafe { musaGetErrorName(&mut found, code) }, musaSuccess);
        assert_eq!(text(found), name);
        assert_eq!(format!("{code:?}"), name);
        let words = text(musaGetErrorString(code));
        assert!(words != name && words.contains(' '), "the text is words: {words}");
        assert_eq!(code.to_string(), words);
    }
}

#[test]
fn musa_error_names_go_where_the_program_says() {
    use crate::dialects::musa::*;
    use gridcl::musa::musaGetErrorName;
    let _guard = guard();
    // The seed's numbers leave these three without a meaning.
    for number in [101, 702, 719, -1, 12_345, c_int::MIN] {
        let mut name = null();
        let words = format!("error = {number}: ");
        fails!(unsafe { musaGetErrorName(&mut name, Code(number)) }, INVALID_VALUE, "musaGetErrorName: ", &words);
        assert_eq!(text(name), "unrecognized error code", "{number} has a text all the same");
        assert_eq!(text(get_error_string(Code(number))), "unrecognized error code");
    }
    fails!(unsafe { musaGetErrorName(null_mut(), SUCCESS) }, INVALID_VALUE, "errorName = null");
    let mut name = null();
    ok!(unsafe { musaGetErrorName(&mut name, NOT_READY) });
    assert_eq!((text(name), get_last_error()), ("musaErrorNotReady", SUCCESS), "naming an error is no failure");
}

#[test]
fn tops_numbers_are_the_headers() {
    use gridcl::tops::*;
    let header = [
        (topsSuccess, 0, "topsSuccess"),
        (topsErrorInvalidValue, 1, "topsErrorInvalidValue"),
        (topsErrorOutOfMemory, 2, "topsErrorOutOfMemory"),
        (topsErrorMemoryAllocation, 2, "topsErrorOutOfMemory"),
        (topsErrorNotInitialized, 3, "topsErrorNotInitialized"),
        (topsErrorInitializationError, 3, "topsErrorNotInitialized"),
        (topsErrorInvalidConfiguration, 9, "topsErrorInvalidConfiguration"),
        (topsErrorInvalidSymbol, 13, "topsErrorInvalidSymbol"),
        (topsErrorInvalidDevicePointer, 17, "topsErrorInvalidDevicePointer"),
        (topsErrorInvalidMemcpyDirection, 21, "topsErrorInvalidMemcpyDirection"),
        (topsErrorInvalidDeviceFunction, 98, "topsErrorInvalidDeviceFunction"),
        (topsErrorNoDevice, 100, "topsErrorNoDevice"),
        (topsErrorInvalidDevice, 101, "topsErrorInvalidDevice"),
        (topsErrorInvalidImage, 200, "topsErrorInvalidImage"),
        (topsErrorInvalidContext, 201, "topsErrorInvalidContext"),
        (topsErrorInvalidSource, 300, "topsErrorInvalidSource"),
        (topsErrorFileNotFound, 301, "topsErrorFileNotFound"),
        (topsErrorInvalidHandle, 400, "topsErrorInvalidHandle"),
        (topsErrorInvalidResourceHandle, 400, "topsErrorInvalidHandle"),
        (topsErrorNotFound, 500, "topsErrorNotFound"),
        (topsErrorNotReady, 600, "topsErrorNotReady"),
        (topsErrorLaunchTimeOut, 702, "topsErrorLaunchTimeOut"),
        (topsErrorLaunchFailure, 719, "topsErrorLaunchFailure"),
        (topsErrorNotSupported, 801, "topsErrorNotSupported"),
        (topsErrorUnknown, 999, "topsErrorUnknown"),
        (topsErrorTbd, 1054, "topsErrorTbd"),
    ];
    for (code, number, name) in header {
        assert_eq!(code.0, number);
        assert_eq!(text(topsGetErrorName(code)), name);
        assert_eq!(text(topsGetErrorString(code)), name, "the header says that both are the name");
        assert_eq!(format!("{code:?}"), name);
    }
    for number in [-1, 800, 12_345] {
        assert_eq!(text(topsGetErrorName(topsError_t(number))), "unrecognized error code");
    }
    assert_eq!(topsGetLastError(), topsSuccess);
}

#[test]
fn codes_work_as_errors_of_rust() {
    use gridcl::musa::{musaError_t, musaErrorNotReady, musaSuccess};
    fn is_error<E: std::error::Error + Send + Sync + 'static>(error: E) -> Box<dyn std::error::Error + Send + Sync> {
        error.into()
    }
    assert_eq!(musaSuccess.into_result(), Ok(()));
    assert_eq!(musaErrorNotReady.into_result(), Err(musaErrorNotReady));
    assert!(musaSuccess.is_ok() && !musaErrorNotReady.is_ok());
    assert!(is_error(musaErrorNotReady).to_string().contains("still going on"));
    assert_eq!(format!("{:?}", musaError_t(101)), "musaError_t(101)");
    assert_eq!(is_error(Device::get(usize::MAX).unwrap_err()).downcast_ref::<Error>().map(Error::call), Some(None));
}

#[test]
fn errors_of_the_safe_surface_say_what_and_where_and_why() {
    let _guard = guard();
    let device = device();
    let stream = device.create_stream().unwrap();
    let mut buffer = DeviceBuffer::from_slice(&stream, &[1_u32, 2, 3, 4]).unwrap();

    let error = Device::get(usize::MAX).unwrap_err();
    assert_eq!((error.kind(), error.call(), error.cause()), (ErrorKind::InvalidDevice, None, None));
    assert!(error.to_string().starts_with("device = 18446744073709551615: there are "), "{error}");

    let error = stream.upload(&[1_u32; 5], &mut buffer).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
    assert_eq!(error.to_string(), "target = 4 elements: the source has 5 elements; copy slices of the same length");

    let error = DeviceBuffer::<u64>::zeroed(&stream, usize::MAX).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    assert!(error.to_string().contains("len = 18446744073709551615: "), "{error}");

    let error = DeviceBuffer::<u8>::zeroed(&stream, usize::MAX / 2).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    let words = error.to_string();
    assert!(words.contains("size = 9223372036854775807: ") && words.contains("(on device 0 \""), "{words}");

    let broken = "__kernel void broken(__global int *a) { a[0] = nonsense; }";
    let error = SafeModule::from_source(device, broken).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BuildFailed);
    let words = error.to_string();
    for part in ["kernel.cl:1", "nonsense", "(on device 0 \"", "[clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11)]"] {
        assert!(words.contains(part), "{part} in: {words}");
    }
    assert_eq!(error.cause(), Some("clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11)"));
    assert_eq!(buffer.to_vec(&stream).unwrap(), [1, 2, 3, 4], "nothing was written");
}
