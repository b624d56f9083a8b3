//! The process around the runtime: machines without a loader, platform or device, what the environment chooses, how
//! a program ends, and forks (behaviour.md 1.6, 2.1 and 3.1, rows "none present"; the environment and the exit as
//! the design has them). Each test runs in a process of its own.

use crate::child;
use crate::support::{PATIENCE, device, gated};
use gridcl::testing::{Gate, guard};
use gridcl::{Device, DeviceBuffer, ErrorKind, Event, Module as SafeModule, PinnedBuffer};
use std::ffi::CStr;
use std::fs;
use std::io::{PipeWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::ptr::null_mut;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// A folder that goes when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gridcl-test-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = Path::new(&self.0).join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Asserts that no device is there, and that every surface says so, with a reason and what to do.
fn finds_no_device(reason: &str) {
    assert_eq!(Device::count(), 0);
    assert_eq!(Device::all(), []);
    let error = Device::get(0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoDevice);
    let words = error.to_string();
    for part in ["no OpenCL device: ", reason, "apt-get install pocl-opencl-icd", "OPENCL_DYLIB_PATH", "GRIDCL_DEVICES"]
    {
        assert!(words.contains(part), "{part} in: {words}");
    }
    musa::no_call_finds_a_device(reason);
    tops::no_call_finds_a_device(reason);
}

macro_rules! dialects {
    ($($item:item)+) => {
        mod musa {
            use super::*;
            use crate::dialects::musa::*;
            $($item)+
        }
        mod tops {
            use super::*;
            use crate::dialects::tops::*;
            $($item)+
        }
    };
}

dialects! {
    pub(super) fn no_call_finds_a_device(reason: &str) {
        let (mut count, mut ordinal) = (7, 7);
        fails!(unsafe { get_device_count(&mut count) }, NO_DEVICE, "GetDeviceCount: no OpenCL device: ", reason);
        assert_eq!(count, 0);
        let mut out = null_mut();
        fails!(set_device(0), NO_DEVICE, "SetDevice: ", reason);
        fails!(set_device(-1), NO_DEVICE);
        fails!(unsafe { malloc(&mut out, 64) }, NO_DEVICE, "Malloc: ", reason);
        fails!(unsafe { host_malloc(&mut out, 64) }, NO_DEVICE);
        assert!(out.is_null());
        fails!(free(null_mut()), NO_DEVICE, "Free: ");
        fails!(host_free(null_mut()), NO_DEVICE);
        fails!(memset(out, 0, 64), NO_DEVICE);
        fails!(unsafe { stream_create(&mut null_mut()) }, NO_DEVICE, "StreamCreate: ");
        fails!(unsafe { event_create(&mut null_mut()) }, NO_DEVICE);
        fails!(stream_query(LEGACY), NO_DEVICE);
        fails!(stream_synchronize(PER_THREAD), NO_DEVICE);
        fails!(device_synchronize(), NO_DEVICE, "DeviceSynchronize: ");
        fails!(device_reset(), NO_DEVICE);
        fails!(unsafe { module_load_data(&mut null_mut(), KERNEL.as_ptr().cast()) }, NO_DEVICE);
        fails!(unsafe { get_device_properties(&mut Default::default(), 0) }, NO_DEVICE, "GetDeviceProperties: ");
        fails!(unsafe { mem_get_info(&mut 0, &mut 0) }, NO_DEVICE);
        ok!(unsafe { get_device(&mut ordinal) });
        assert_eq!((ordinal, get_last_error()), (0, SUCCESS));
    }

    #[test]
    fn a_forked_child_is_refused_and_its_parent_goes_on() {
        if !child::is_child() {
            return child::passes(&format!("process::{NAME}::a_forked_child_is_refused_and_its_parent_goes_on"), &[]);
        }
        let (mut memory, mut pinned) = (null_mut(), null_mut());
        let (mut stream, mut event) = (null_mut(), null_mut());
        let (mut module, mut function) = (null_mut(), null_mut());
        ok!(unsafe { malloc(&mut memory, 64) });
        ok!(unsafe { host_malloc(&mut pinned, 64) });
        ok!(unsafe { stream_create(&mut stream) });
        ok!(unsafe { event_create(&mut event) });
        ok!(unsafe { module_load_data(&mut module, KERNEL.as_ptr().cast()) });
        ok!(unsafe { module_get_function(&mut function, module, c"spin".as_ptr()) });
        let gate = Gate::close(&device().default_stream().unwrap()).unwrap();
        ok!(memset_async(memory, 7, 64, stream));
        ok!(event_record(event, stream));

        let mut cell = [0_u8; 64];
        let cell = (&raw mut cell).cast();
        let one = dim3 { x: 1, y: 1, z: 1 };
        let launch = || unsafe {
            let (mut out, mut turns) = (memory, 1_u32);
            let mut args = [(&raw mut out).cast(), (&raw mut turns).cast()];
            launch_kernel(function.cast_const().cast(), one, one, args.as_mut_ptr(), 0, stream)
        };
        let calls: [(&str, &dyn Fn() -> Code); 34] = [
            ("GetDevice", &|| unsafe { get_device(&mut 0) }),
            ("GetDeviceCount", &|| unsafe { get_device_count(&mut 0) }),
            ("SetDevice", &|| set_device(0)),
            ("GetDeviceProperties", &|| unsafe { get_device_properties(&mut Default::default(), 0) }),
            ("DeviceSynchronize", &|| device_synchronize()),
            ("DeviceReset", &|| device_reset()),
            ("MemGetInfo", &|| unsafe { mem_get_info(&mut 0, &mut 0) }),
            ("Malloc", &|| unsafe { malloc(&mut null_mut(), 64) }),
            ("Free", &|| free(memory)),
            ("Free(null)", &|| free(null_mut())),
            ("HostMalloc", &|| unsafe { host_malloc(&mut null_mut(), 64) }),
            ("HostFree", &|| host_free(pinned)),
            ("HostRegister", &|| unsafe { host_register(cell, 64, 0) }),
            ("HostUnregister", &|| host_unregister(cell)),
            ("Memcpy", &|| unsafe { memcpy(pinned, memory, 64, DEVICE_TO_HOST) }),
            ("MemcpyAsync", &|| unsafe { memcpy_async(pinned, memory, 64, DEFAULT, stream) }),
            ("Memset", &|| memset(memory, 1, 64)),
            ("MemsetAsync", &|| memset_async(memory, 1, 64, stream)),
            ("StreamCreate", &|| unsafe { stream_create(&mut null_mut()) }),
            ("StreamQuery", &|| stream_query(stream)),
            ("StreamQuery(legacy)", &|| stream_query(LEGACY)),
            ("StreamQuery(per thread)", &|| stream_query(PER_THREAD)),
            ("StreamSynchronize", &|| stream_synchronize(stream)),
            ("StreamWaitEvent", &|| stream_wait_event(stream, event, 0)),
            ("StreamDestroy", &|| stream_destroy(stream)),
            ("EventCreate", &|| unsafe { event_create(&mut null_mut()) }),
            ("EventRecord", &|| event_record(event, stream)),
            ("EventQuery", &|| event_query(event)),
            ("EventSynchronize", &|| event_synchronize(event)),
            ("EventDestroy", &|| event_destroy(event)),
            ("ModuleLoadData", &|| unsafe { module_load_data(&mut null_mut(), KERNEL.as_ptr().cast()) }),
            ("ModuleGetFunction", &|| unsafe { module_get_function(&mut null_mut(), module, c"spin".as_ptr()) }),
            ("LaunchKernel", &launch),
            ("ModuleUnload", &|| module_unload(module)),
        ];
        let said = in_forked_child(|mut pipe| {
            for (name, call) in calls {
                let _ = write!(pipe, "{name}: ");
                let code = call();
                if code == NOT_INITIALIZED && get_last_error() == code {
                    let _ = pipe.write_all(b"refused\n");
                } else {
                    let _ = writeln!(pipe, "{code:?} in a forked child");
                }
            }
            let words = gridcl::last_error_detail().unwrap_or_default();
            let _ = writeln!(pipe, "at last: {words}");
        });
        let refused = said.lines().filter(|line| line.ends_with(": refused")).count();
        assert_eq!(refused, calls.len(), "{said}");
        assert!(said.contains("forked from one that used the runtime; call exec in the child"), "{said}");

        assert_eq!(stream_query(stream), NOT_READY, "the parent's work is where it was");
        gate.open();
        ok!(event_synchronize(event));
        ok!(unsafe { memcpy(pinned, memory, 64, DEVICE_TO_HOST) });
        assert_eq!(unsafe { *pinned.cast::<[u8; 64]>() }, [7; 64]);
        ok!(launch());
        ok!(device_synchronize());
        ok!(module_unload(module));
        ok!(event_destroy(event));
        ok!(stream_destroy(stream));
        ok!(host_free(pinned));
        ok!(free(memory));
    }
}

/// Takes its time, by the number of turns.
const KERNEL: &CStr = c"
    __kernel void spin(__global uint *out, uint turns) {
        uint value = get_global_id(0) + 1u;
        for (uint turn = 0; turn < turns; turn++) { value ^= value << 13; value ^= value >> 17; value ^= value << 5; }
        out[get_global_id(0)] = value;
    }";

/// Runs `act` in a forked child and answers what it wrote. The child is killed when it does not end in time.
fn in_forked_child(act: impl FnOnce(PipeWriter)) -> String {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        act(writer);
        unsafe { libc::_exit(0) };
    }
    drop(writer);
    let mut status = 0;
    let start = Instant::now();
    let in_time = loop {
        match unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG) } {
            0 if start.elapsed() > PATIENCE / 2 => break false,
            0 => std::thread::sleep(Duration::from_millis(1)),
            _ => break true,
        }
    };
    if !in_time {
        unsafe { libc::kill(pid, libc::SIGKILL) };
        unsafe { libc::waitpid(pid, &mut status, 0) };
    }
    let mut said = String::new();
    reader.read_to_string(&mut said).unwrap();
    assert_eq!((in_time, status), (true, 0), "the forked child ends in time and well: {said}");
    said
}

#[test]
fn a_machine_without_a_loader_has_no_device() {
    if child::is_child() {
        return finds_no_device("no OpenCL loader: ");
    }
    // A file of the loader's name that is no library ends the dynamic linker's search for it.
    let folder = Folder::new("no-loader");
    folder.file("libOpenCL.so.1", "");
    let known = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let path = format!("{}:{known}", folder.path());
    child::passes("process::a_machine_without_a_loader_has_no_device", &[("LD_LIBRARY_PATH", &path)]);
}

#[test]
fn a_loader_that_is_none_is_no_device() {
    if child::is_child() {
        return finds_no_device("no OpenCL loader: ");
    }
    // The mathematics library is there wherever there is Rust, and has none of OpenCL's functions.
    child::passes("process::a_loader_that_is_none_is_no_device", &[("OPENCL_DYLIB_PATH", "libm.so.6")]);
}

#[test]
fn a_loader_path_that_leads_nowhere_leaves_the_systems_loader() {
    if child::is_child() {
        assert!(Device::count() > 0, "{:?}", Device::discovery());
        return;
    }
    let name = "process::a_loader_path_that_leads_nowhere_leaves_the_systems_loader";
    child::passes(name, &[("OPENCL_DYLIB_PATH", "/nonexistent/libOpenCL.so;/dev/null")]);
}

#[test]
fn a_loader_without_a_platform_has_no_device() {
    if child::is_child() {
        return finds_no_device("knows no platform");
    }
    let folder = Folder::new("no-platform");
    let variables = [("OCL_ICD_VENDORS", folder.path()), ("OCL_ICD_FILENAMES", "")];
    child::passes("process::a_loader_without_a_platform_has_no_device", &variables);
}

#[test]
fn a_choice_that_fits_no_device_is_no_device_and_is_named() {
    if child::is_child() {
        return finds_no_device("GRIDCL_DEVICES: \"abacus\" fits none of the ");
    }
    let name = "process::a_choice_that_fits_no_device_is_no_device_and_is_named";
    child::passes(name, &[("GRIDCL_DEVICES", "abacus")]);
}

/// What a child that looked for devices said of each, and its notes.
fn look(selection: &str) -> (Vec<String>, String) {
    let variables = [("GRIDCL_DEVICES", selection), ("POCL_DEVICES", "pthread basic")];
    let output = child::run("process::the_environment_chooses_devices_and_their_order", &variables);
    assert!(output.status.success(), "{}", said(&output));
    let text = said(&output);
    let after = |mark: &str| text.lines().filter_map(|line| Some(line.split_once(mark)?.1.to_owned())).collect();
    let (devices, notes): (Vec<String>, Vec<String>) = (after("[device] "), after("[note] "));
    (devices, notes.join("\n"))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn the_environment_chooses_devices_and_their_order() {
    if child::is_child() {
        println!();
        for device in Device::all() {
            // The names come last and the address first: these have to be a device's own, however it is chosen.
            let names = (device.device_type().as_str(), device.name(), device.platform());
            println!("[device] {} {:?} {names:?}", device.pci_bus_id(), device.uuid());
        }
        return Device::discovery().iter().for_each(|note| println!("[note] {note}"));
    }
    let (all, notes) = look("");
    assert!(!all.is_empty() && !notes.contains("GRIDCL_DEVICES"), "{notes}");
    for index in 0..all.len() {
        let (chosen, notes) = look(&index.to_string());
        assert_eq!(chosen, all[index..=index]);
        assert_eq!(notes.matches("is left out by GRIDCL_DEVICES").count(), all.len() - 1, "{notes}");
    }
    let backwards: Vec<_> = (0..all.len()).rev().map(|index| index.to_string()).collect();
    assert_eq!(look(&backwards.join(" , ")).0, all.iter().rev().cloned().collect::<Vec<_>>());
    assert_eq!(look("0,0, 0,").0, all[..1], "a device is taken once");
    let (chosen, notes) = look("abacus,0");
    assert_eq!(chosen, all[..1]);
    assert!(notes.contains("\"abacus\" fits none of the "), "{notes}");
    // By type, by a part of the name in any case, and by platform.
    let first = Device::all()[0];
    let having = |part: &str| all.iter().filter(|device| device.contains(part)).cloned().collect::<Vec<_>>();
    let of_type = having(&format!("(\"{}\"", first.device_type().as_str()));
    assert_eq!(look(&first.device_type().as_str().to_uppercase()).0, of_type);
    // One driver's name for a device may be a part of another's.
    let containing = |part: &str| {
        let has = |device: &&String| device.to_lowercase().contains(&part.to_lowercase());
        all.iter().filter(has).cloned().collect::<Vec<_>>()
    };
    assert_eq!(look(&first.name().to_uppercase()).0, containing(first.name()));
    assert_eq!(look(&first.platform().to_lowercase()).0, containing(first.platform()));
}

#[test]
fn the_environment_chooses_the_form_of_memory() {
    if child::is_child() {
        let device = device();
        let stream = device.create_stream().unwrap();
        let buffer = DeviceBuffer::from_slice(&stream, &[5_u8; 100]).unwrap();
        assert_eq!(buffer.to_vec(&stream).unwrap(), [5; 100]);
        println!("\n[form] {}", device.memory_form());
        return Device::discovery().iter().for_each(|note| println!("[note] {note}"));
    }
    let form = |wanted: &str| {
        let output = child::run("process::the_environment_chooses_the_form_of_memory", &[("GRIDCL_MEMORY", wanted)]);
        let text = said(&output);
        assert!(output.status.success(), "{text}");
        let form = text.lines().find_map(|line| line.strip_prefix("[form] ")).unwrap_or_default().to_owned();
        (form, text)
    };
    let (best, _) = form("");
    assert!(["svm", "coarse", "buffer"].contains(&&*best), "{best}");
    assert_eq!(form("svm").0, best, "the best that the device has");
    assert_eq!(form("buffer").0, "buffer");
    assert_eq!(form("coarse").0, if best == "buffer" { "buffer" } else { "coarse" });
    for wrong in ["SVM", "fine", "coarse "] {
        let (form, text) = form(wrong);
        assert_eq!(form, best);
        let note = format!("[note] GRIDCL_MEMORY={wrong} is none of svm, coarse and buffer; svm is used");
        assert!(text.contains(&note), "{note} in: {text}");
    }
}

#[test]
fn the_safe_surface_refuses_a_forked_child_and_lets_it_drop_what_it_has() {
    if !child::is_child() {
        let name = "process::the_safe_surface_refuses_a_forked_child_and_lets_it_drop_what_it_has";
        return child::passes(name, &[]);
    }
    let device = device();
    let (stream, gate) = gated(device);
    let mut buffer = DeviceBuffer::from_slice(&stream, &[4_u32; 16]).unwrap();
    let mut pinned = PinnedBuffer::<u32>::new(device, 16).unwrap();
    let event = Event::new(device).unwrap();
    let module = SafeModule::from_source(device, KERNEL.to_str().unwrap()).unwrap();
    let kernel = module.kernel("spin").unwrap();
    stream.copy(&buffer, &mut pinned).unwrap();
    event.record(&stream).unwrap();

    let said = in_forked_child(|mut pipe| {
        let launch = unsafe { kernel.launch(1, 1).stream(&stream).arg(&buffer).arg(&1_u32).run() };
        let outcomes = [
            ("Device::get", Device::get(0).map(drop)),
            ("memory_info", device.memory_info().map(drop)),
            ("synchronize a device", device.synchronize()),
            ("reset", device.reset()),
            ("create_stream", device.create_stream().map(drop)),
            ("default_stream", device.default_stream().map(drop)),
            ("is_done", stream.is_done().map(drop)),
            ("synchronize a stream", stream.synchronize()),
            ("wait_event", stream.wait_event(&event)),
            ("fill", stream.fill(&mut buffer, 1)),
            ("upload", stream.upload(&[1; 16], &mut buffer)),
            ("download", buffer.to_vec(&stream).map(drop)),
            ("read", pinned.read().map(drop)),
            ("write", pinned.write().map(drop)),
            ("record", event.record(&stream)),
            ("query an event", event.is_done().map(drop)),
            ("synchronize an event", event.synchronize()),
            ("load", SafeModule::from_source(device, KERNEL.to_str().unwrap()).map(drop)),
            ("kernel", module.kernel("spin").map(drop)),
            ("launch", launch),
        ];
        for (name, outcome) in outcomes {
            if outcome.as_ref().err().map(gridcl::Error::kind) != Some(ErrorKind::NotInitialized) {
                let _ = writeln!(pipe, "{name}: {outcome:?}");
            }
        }
        assert_eq!((Device::count(), Device::all().len()), (0, 0));
        drop((stream.clone(), event.clone(), kernel.clone(), module.clone()));
        // What the child has are copies of its own: read and dropped bitwise, as at the end of its scope.
        unsafe {
            drop(std::ptr::read(&buffer));
            drop(std::ptr::read(&pinned));
            drop(std::ptr::read(&event));
            drop(std::ptr::read(&kernel));
            drop(std::ptr::read(&module));
            drop(std::ptr::read(&stream));
        }
        let _ = pipe.write_all(b"dropped");
    });
    assert_eq!(said, "dropped");
    gate.open();
    assert_eq!(*pinned.read().unwrap(), [4; 16]);
    assert_eq!(buffer.to_vec(&stream).unwrap(), [4; 16]);
}

#[test]
fn a_child_forked_in_the_midst_of_other_threads_calls_is_refused_too() {
    if !child::is_child() {
        return child::passes("process::a_child_forked_in_the_midst_of_other_threads_calls_is_refused_too", &[]);
    }
    let device = device();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(move || {
                let stream = device.create_stream().unwrap();
                for _ in 0..200 {
                    let buffer = DeviceBuffer::<u8>::zeroed(&stream, 4096).unwrap();
                    assert_eq!(buffer.slice(..1).to_vec(&stream).unwrap(), [0]);
                }
            })
        })
        .collect();
    for _ in 0..20 {
        let said = in_forked_child(|mut pipe| {
            let mut out = null_mut();
            let codes = unsafe { (gridcl::musa::musaMalloc(&mut out, 64), gridcl::tops::topsMalloc(&mut out, 64)) };
            let _ = write!(pipe, "{} {} {}", codes.0.0, codes.1.0, device.synchronize().is_err());
        });
        assert_eq!(said, "3 3 true");
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_program_that_is_started_by_another_one_has_a_runtime_of_its_own() {
    if child::is_child() {
        return assert!(Device::count() > 0);
    }
    let _guard = guard();
    assert!(Device::count() > 0 && device().synchronize().is_ok());
    child::passes("process::a_program_that_is_started_by_another_one_has_a_runtime_of_its_own", &[]);
    assert!(device().synchronize().is_ok(), "and the starting one goes on");
}

/// Live objects of every kind, with work done and under way, that nobody will drop.
fn leave_objects_behind() {
    let device = device();
    let stream = device.create_stream().unwrap();
    let mut buffer = DeviceBuffer::from_slice(&stream, &[1_u8; 1 << 20]).unwrap();
    let mut pinned = PinnedBuffer::<u8>::new(device, 1 << 20).unwrap();
    let event = Event::new(device).unwrap();
    stream.copy(&buffer, &mut pinned).unwrap();
    stream.fill(&mut buffer, 7).unwrap();
    event.record(&stream).unwrap();
    std::mem::forget((stream, buffer, pinned, event));
    let (mut stream, mut memory, mut event) = (null_mut(), null_mut(), null_mut());
    unsafe {
        assert!(gridcl::musa::musaStreamCreate(&mut stream).is_ok());
        assert!(gridcl::musa::musaMalloc(&mut memory, 4096).is_ok());
        assert!(gridcl::tops::topsEventCreate(&mut event).is_ok());
    }
    assert!(gridcl::musa::musaMemsetAsync(memory, 1, 4096, stream).is_ok());
}

/// Puts a kernel that runs for longer than the rest of the process into a stream, and sees it start.
fn leave_a_kernel_running() {
    let device = device();
    let stream = device.create_stream().unwrap();
    let module = SafeModule::from_source(device, KERNEL.to_str().unwrap()).unwrap();
    let out = DeviceBuffer::<u32>::zeroed(&stream, 1).unwrap();
    // PoCL compiles a kernel at its first launch, and does not bear an exit meanwhile.
    let spin = module.kernel("spin").unwrap();
    unsafe { spin.launch(1, 1).stream(&stream).arg(&out).arg(&1_u32).run() }.unwrap();
    stream.synchronize().unwrap();
    unsafe { spin.launch(1, 1).stream(&stream).arg(&out).arg(&300_000_000_u32).run() }.unwrap();
    // Looking at a stream hands its work to the device.
    assert!(!stream.is_done().unwrap());
    std::mem::forget((stream, module, out));
}

/// Starts threads that call the runtime for as long as there is a process.
fn leave_threads_calling() {
    let device = device();
    if device.platform().starts_with("Intel") {
        return eprintln!("skipped: this driver does not bear calls while its destructors run");
    }
    let (started, seen) = channel();
    for _ in 0..4 {
        let started = started.clone();
        std::thread::spawn(move || {
            let stream = device.create_stream().unwrap();
            loop {
                let mut buffer = DeviceBuffer::from_slice(&stream, &[1_u8; 4096]).unwrap();
                stream.fill(&mut buffer, 2).unwrap();
                assert_eq!(buffer.slice(..2).to_vec(&stream).unwrap(), [2, 2]);
                let (mut memory, mut handle) = (null_mut(), null_mut());
                unsafe {
                    assert!(gridcl::musa::musaMalloc(&mut memory, 100).is_ok());
                    assert!(gridcl::tops::topsStreamCreate(&mut handle).is_ok());
                }
                assert!(gridcl::tops::topsMemsetAsync(memory, 1, 100, handle).is_ok());
                assert!(gridcl::tops::topsStreamDestroy(handle).is_ok());
                assert!(gridcl::musa::musaFree(memory).is_ok());
                // Nobody listens any more when the process is ending.
                let _ = started.send(());
            }
        });
    }
    for _ in 0..40 {
        seen.recv_timeout(PATIENCE).expect("the threads call");
    }
}

/// Closes a gate that nobody will open, with work behind it.
fn leave_work_behind_a_gate() {
    let (stream, gate) = gated(device());
    let mut buffer = DeviceBuffer::<u8>::zeroed(&stream, 4096).unwrap();
    stream.fill(&mut buffer, 7).unwrap();
    assert!(!stream.is_done().unwrap());
    std::mem::forget((stream, gate, buffer));
}

/// Tests that leave the process in a state which it then ends in, by returning from `main` and by an exit from
/// within; so many times, because what goes wrong there does not do so each time.
macro_rules! ends {
    ($($times:literal $leave:ident: $returning:ident, $exiting:ident;)+) => {$(
        #[test]
        fn $returning() {
            if child::is_child() {
                return $leave();
            }
            for _ in 0..$times {
                child::passes(concat!("process::", stringify!($returning)), &[]);
            }
        }

        #[test]
        fn $exiting() {
            if child::is_child() {
                $leave();
                std::process::exit(0);
            }
            for _ in 0..$times {
                let output = child::run(concat!("process::", stringify!($exiting)), &[]);
                assert!(output.status.success(), "{}\n{}", output.status, said(&output));
            }
        }
    )+};
}

ends! {
    2 leave_objects_behind: main_returns_with_live_objects, a_program_exits_with_live_objects;
    4 leave_a_kernel_running: main_returns_while_a_kernel_runs, a_program_exits_while_a_kernel_runs;
    4 leave_threads_calling: main_returns_while_threads_call, a_program_exits_while_threads_call;
    1 leave_work_behind_a_gate: main_returns_with_work_behind_a_gate, a_program_exits_with_work_behind_a_gate;
}
