//! Calls that OpenCL cannot carry out: their arguments are checked, then they are not supported (behaviour.md 1.6).

use gridcl::testing::guard;
use gridcl::tops::*;
use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};

both_dialects! {
    fn device_memory_has_no_handle_for_other_processes() {
        let _guard = guard();
        let (memory, freed, pinned) = (device_memory!(1000), device_memory!(1000), pinned_memory!(1000));
        ok!(free(freed));
        let (mut handle, mut own) = (IpcMemHandle::default(), 0_u64);
        fails!(ipc_get_mem_handle(&mut handle, memory), NOT_SUPPORTED);
        fails!(ipc_get_mem_handle(null_mut(), memory), INVALID_VALUE, "handle");
        let wrong: [*mut c_void; 6] = [
            null_mut(),
            freed,
            memory.wrapping_byte_add(1000),
            memory.wrapping_byte_add(1),
            pinned,
            (&raw mut own).cast(),
        ];
        for wrong in wrong {
            fails!(ipc_get_mem_handle(&mut handle, wrong), INVALID_VALUE);
        }
        assert!(handle.reserved.iter().all(|&byte| byte == 0));
        let mut opened = null_mut();
        fails!(ipc_open_mem_handle(&mut opened, handle, 0), NOT_SUPPORTED);
        fails!(ipc_open_mem_handle(null_mut(), handle, 0), INVALID_VALUE, "devPtr");
        for flags in [2, 0x10, u32::MAX] {
            fails!(ipc_open_mem_handle(&mut opened, handle, flags), INVALID_VALUE, "flags");
        }
        assert!(opened.is_null());
        fails!(ipc_close_mem_handle(without_provenance_mut(4096)), NOT_SUPPORTED);
        fails!(ipc_close_mem_handle(null_mut()), INVALID_VALUE, "devPtr");
        fails!(ipc_close_mem_handle(memory), INVALID_VALUE, "own");
        ok!(free(memory));
        ok!(host_free(pinned));
    }
}

#[test]
fn tops_streams_neither_write_nor_await_words() {
    use crate::dialects::tops::*;
    type Call = fn(*mut c_void, u32, Option<topsStream_t>) -> topsError_t;
    let _guard = guard();
    let (memory, pinned, dead) = (uploaded!([1; 10]), pinned_memory!(16), new_stream!());
    ok!(stream_destroy(dead));
    let mut own = 0_u32;
    let write: Call = |to, flags, stream| match stream {
        None => topsStreamWriteValue32(to, 5, flags),
        Some(stream) => topsStreamWriteValue32Async(to, 5, flags, stream),
    };
    let wait: Call = |to, flags, stream| match stream {
        None => topsStreamWaitValue32(to, 5, flags),
        Some(stream) => topsStreamWaitValue32Async(to, 5, flags, stream),
    };
    for (call, known) in [(write, 0), (wait, 3)] {
        for stream in [None, Some(LEGACY), Some(PER_THREAD)] {
            for flags in 0..=known {
                fails!(call(memory, flags, stream), NOT_SUPPORTED);
                fails!(call(memory.wrapping_byte_add(4), flags, stream), NOT_SUPPORTED);
            }
            fails!(call(memory, known + 1, stream), INVALID_VALUE, "flags");
            for wrong in [null_mut(), memory.wrapping_byte_add(2), memory.wrapping_byte_add(8), pinned] {
                fails!(call(wrong, 0, stream), INVALID_DEVICE_POINTER);
            }
            fails!(call((&raw mut own).cast(), 0, stream), INVALID_DEVICE_POINTER);
        }
        fails!(call(memory, 0, Some(dead)), INVALID_HANDLE, "stream");
    }
    assert_eq!(downloaded!(memory, 10), [1; 10]);
    ok!(free(memory));
    ok!(host_free(pinned));
}
