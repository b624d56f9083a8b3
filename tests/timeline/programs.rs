//! The programs that are traced.

use crate::child::is;
use gridcl::prelude::*;
use std::ffi::c_void;
use std::ptr::null_mut;

const KERNEL: &str = "__kernel void twice(__global float *x, int n) {
    int i = get_global_id(0) + get_global_size(0) * get_global_id(1);
    if (i < n) x[i] *= 2.0f;
}";

/// Bytes of a copy that the host does not do by hand.
const LARGE: usize = 4 << 20;

/// A program of one dialect: two streams, copies either way, a set, a launch, and an event.
macro_rules! program {
    ($name:ident, $dialect:ident, $prefix:ident, $success:ident, $pinned:ident, $free_pinned:ident) => {
        #[test]
        fn $name() {
            if !is(stringify!($name)) {
                return;
            }
            use gridcl::$dialect::*;
            pastey::paste! {
                let ok = |code| assert_eq!(code, $success, "{:?}", gridcl::last_error_detail());
                let text = std::ffi::CString::new(KERNEL).expect("a text");
                let (mut module, mut function) = (null_mut(), null_mut());
                let mut streams = [null_mut(); 2];
                let (mut host, mut device): (*mut c_void, *mut c_void) = (null_mut(), null_mut());
                let mut event = null_mut();
                // SAFETY: pointers are of live variables, and memory stays until the streams are done.
                unsafe {
                    ok([<$prefix ModuleLoadData>](&mut module, text.as_ptr().cast()));
                    ok([<$prefix ModuleGetFunction>](&mut function, module, c"twice".as_ptr()));
                    ok([<$prefix StreamCreate>](&mut streams[0]));
                    ok([<$prefix StreamCreate>](&mut streams[1]));
                    ok([<$prefix EventCreate>](&mut event));
                    ok($pinned(&mut host, LARGE));
                    host.cast::<u8>().write_bytes(0, LARGE);
                    ok([<$prefix Malloc>](&mut device, 2 * LARGE));
                    ok([<$prefix MemsetAsync>](device.wrapping_byte_add(LARGE), 7, LARGE / 4, streams[1]));
                    ok([<$prefix MemcpyAsync>](device, host, LARGE, [<$prefix MemcpyHostToDevice>], streams[0]));
                    let mut count = 1024;
                    let mut arguments: [*mut c_void; 2] = [(&raw mut device).cast(), (&raw mut count).cast()];
                    ok([<$prefix LaunchKernel>](
                        function.cast(), (3, 2).into(), 64.into(), arguments.as_mut_ptr(), 0, streams[0],
                    ));
                    ok([<$prefix MemcpyAsync>](host, device, LARGE / 2, [<$prefix MemcpyDeviceToHost>], streams[0]));
                    ok([<$prefix EventRecord>](event, streams[0]));
                    ok([<$prefix StreamSynchronize>](streams[0]));
                    ok([<$prefix DeviceSynchronize>]());
                    ok([<$prefix Free>](device));
                    ok($free_pinned(host));
                }
            }
        }
    };
}

program!(musa_program, musa, musa, musaSuccess, musaMallocHost, musaFreeHost);
program!(tops_program, tops, tops, topsSuccess, tops_pinned, topsHostFree);

/// The TOPS call takes flags as well.
fn tops_pinned(host: *mut *mut c_void, bytes: usize) -> gridcl::tops::topsError_t {
    // SAFETY: the pointer is the caller's variable.
    unsafe { gridcl::tops::topsHostMalloc(host, bytes, 0) }
}

/// The same in the safe API; a callback and an upload of ordinary memory besides.
#[test]
fn safe_program() {
    if is("safe_program") {
        let device = Device::get(0).expect("a device");
        let stream = device.create_stream().expect("a stream");
        work_on(device, &stream);
        stream.launch_host_fn(|_| std::thread::sleep(std::time::Duration::from_millis(2))).expect("a callback");
        stream.synchronize().expect("the end");
    }
}

fn work_on(device: Device, stream: &Stream) {
    let module = Module::from_source(device, KERNEL).expect("a module");
    let twice = module.kernel("twice").expect("a kernel");
    let x = DeviceBuffer::from_slice(stream, &[1.0f32; 1000]).expect("a buffer");
    // SAFETY: the kernel stays below the buffer's length.
    unsafe { launch!(twice<<<4, 250, 0, stream>>>(x, 1000i32)) }.expect("a launch");
    assert_eq!(x.to_vec(stream).expect("the result"), vec![2.0; 1000]);
}

/// Two threads with a stream each.
#[test]
fn two_threads() {
    if is("two_threads") {
        let device = Device::get(0).expect("a device");
        std::thread::scope(|scope| {
            for name in ["left", "right"] {
                let thread = std::thread::Builder::new().name(name.into());
                let run = move || work_on(device, &device.create_stream().expect("a stream"));
                thread.spawn_scoped(scope, run).expect("a thread");
            }
        });
    }
}

/// Many launches of which nobody waits for one: what waits to be seen done has a bound.
#[test]
fn many_launches() {
    if is("many_launches") {
        let device = Device::get(0).expect("a device");
        let stream = device.create_stream().expect("a stream");
        let module = Module::from_source(device, KERNEL).expect("a module");
        let twice = module.kernel("twice").expect("a kernel");
        let x = DeviceBuffer::from_slice(&stream, &[1.0f32; 8]).expect("a buffer");
        for _ in 0..5_000 {
            // SAFETY: as above.
            unsafe { launch!(twice<<<1, 8, 0, &stream>>>(x, 8i32)) }.expect("a launch");
        }
        stream.synchronize().expect("the end");
    }
}

/// Work between two devices, where there are two.
#[test]
fn two_devices() {
    if is("two_devices") {
        let [first, second] = [0, 1].map(|ordinal| Device::get(ordinal).expect("two devices"));
        let (here, there) = (first.create_stream().expect("a stream"), second.create_stream().expect("a stream"));
        let from = DeviceBuffer::from_slice(&here, &vec![3_u8; 1 << 20]).expect("a buffer");
        let mut to = DeviceBuffer::zeroed(&there, 1 << 20).expect("a buffer");
        there.synchronize().expect("zeros");
        here.copy(&from, &mut to).expect("a copy");
        here.synchronize().expect("the end");
        assert_eq!(to.to_vec(&there).expect("the result"), vec![3; 1 << 20]);
    }
}

fn some_work() {
    let device = Device::get(0).expect("a device");
    work_on(device, &device.create_stream().expect("a stream"));
}

#[test]
fn exits() {
    if is("exits") {
        some_work();
        std::process::exit(7);
    }
}

#[test]
fn is_killed() {
    if is("is_killed") {
        some_work();
        // SAFETY: a signal to ourselves.
        unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
    }
}

/// A child that was forked, not executed, ends by itself.
#[test]
fn forks() {
    if is("forks") {
        some_work();
        // SAFETY: the child calls nothing but `exit`, as a program in C would.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: as above.
            unsafe { libc::exit(0) };
        }
        let mut status = 0;
        // SAFETY: the child is ours, and the number lives for the call.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0, "the child ends well");
        some_work();
    }
}

/// Forks while other threads are calling: none of them may be missed by the child's own calls.
#[test]
fn forks_among_threads() {
    if !is("forks_among_threads") {
        return;
    }
    some_work();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    let _ = gridcl::musa::musaDeviceSynchronize();
                }
            });
        }
        for _ in 0..50 {
            // SAFETY: the child makes one call, which is refused there, and ends.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let code = gridcl::musa::musaDeviceSynchronize();
                // SAFETY: as above.
                unsafe { libc::_exit(if code == gridcl::musa::musaErrorNotInitialized { 0 } else { 1 }) };
            }
            let mut status = 0;
            // SAFETY: the child is ours, and the number lives for the call.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert_eq!(status, 0, "the child ends well");
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

/// Ends with work that a callback holds back.
#[test]
fn leaves_work_behind() {
    if is("leaves_work_behind") {
        let device = Device::get(0).expect("a device");
        let stream = device.create_stream().expect("a stream");
        let mut x = DeviceBuffer::from_slice(&stream, &[1_u8; 8]).expect("a buffer");
        stream.synchronize().expect("the copy");
        stream.launch_host_fn(|_| std::thread::park()).expect("a callback");
        for _ in 0..3 {
            stream.fill(&mut x, 9).expect("a set");
        }
        std::process::exit(0);
    }
}
