//! Two processes, one event each: a producer and a consumer that hand memory to each other in stream order.
//!
//! The program starts itself as its second process. The producer fills a piece of memory that both see, the consumer takes
//! it in, and so on in turns. No process ever waits for its device while there is work to queue: *produced* and
//! *consumed* are interprocess events, and each stream waits for the other process's record. Only two things pass
//! through the pipe between them: the handles of the events, 64 bytes each, and the news that a record was made, since
//! a wait is for the latest record at the time of the call. Seed chapter: MUSA "事件管理" (events), "进程间事件"
//! (interprocess events).
//!
//! ```sh
//! cargo run --release --example 09_interprocess_event
//! cargo run --release --example 09_interprocess_event -- 1000000
//! ```

mod common;

use gridcl::musa::*;
use std::env;
use std::ffi::{CStr, c_int, c_void};
use std::io::{BufRead, Write, stdin};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Command, Stdio, exit};
use std::ptr::null_mut;

const KERNELS: &str = concat!(include_str!("../kernels_cl/process.cl"), "\0");
const USAGE: &str = "09_interprocess_event [ELEMENTS]    (handed over each time, default 4096)";
/// How often the memory changes hands.
const ROUNDS: usize = 8;
/// Set in the second process: the number of the memory that it inherits.
const INHERITED: &str = "EXAMPLE_INHERITED_MEMORY";

/// Ends the program when a call fails; see the second example.
macro_rules! musa_check {
    ($call:expr) => {
        let err = $call;
        if err != musaSuccess {
            let text = CStr::from_ptr(musaGetErrorString(err)).to_string_lossy();
            eprintln!("MUSA error at {}:{}: {text}", file!(), line!());
            eprintln!("  {}", gridcl::last_error_detail().unwrap_or_default());
            exit(1);
        }
    };
}

/// What the producer hands over in a round: each round's kernel makes 2x + 1 of what was there.
fn expected(element: usize, round: usize) -> f32 {
    let mut value = (element % 100) as f32;
    for _ in 0..=round {
        value = value * 2.0 + 1.0;
    }
    value
}

fn main() {
    let n = common::count(USAGE, 4096);
    // SAFETY: what each function promises.
    match env::var(INHERITED).ok().and_then(|number| number.parse().ok()) {
        // SAFETY: as `produce`.
        Some(number) => unsafe { consume(n, number) },
        // SAFETY: every pointer is to a variable of the program's, and the kernel stays within the memory.
        None => unsafe { produce(n) },
    }
}

/// The first process.
///
/// # Safety
/// Every pointer given below is that of a live variable or of memory of `n` floats that stays until the stream is done,
/// and the host touches none of it while the stream may.
unsafe fn produce(n: usize) {
    let size = n * size_of::<f32>();
    let (mut module, mut process, mut stream): (musaModule_t, musaFunction_t, _) = (null_mut(), null_mut(), null_mut());
    let (mut d_data, mut produced, mut consumed) = (null_mut(), null_mut(), null_mut());

    // SAFETY: see above.
    unsafe {
        // Memory without a name. The second process inherits it under the same number.
        let file = OwnedFd::from_raw_fd(libc::memfd_create(c"example".as_ptr(), 0));
        let shared = map(&file, size);

        let mut second = Command::new(env::current_exe().expect("this program"))
            .arg(n.to_string())
            .env(INHERITED, file.as_raw_fd().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a second process");
        let mut tell = second.stdin.take().expect("its input");
        let mut news = std::io::BufReader::new(second.stdout.take().expect("its output"));

        musa_check!(musaModuleLoadData(&mut module, KERNELS.as_ptr().cast()));
        musa_check!(musaModuleGetFunction(&mut process, module, c"processKernel".as_ptr()));
        musa_check!(musaStreamCreate(&mut stream));
        musa_check!(musaMalloc(&mut d_data, size));
        let start: Vec<f32> = (0..n).map(|element| (element % 100) as f32).collect();
        musa_check!(musaMemcpy(d_data, start.as_ptr().cast(), size, musaMemcpyHostToDevice));

        // Each process makes the event that it records, and opens the other's.
        musa_check!(musaEventCreateWithFlags(&mut produced, musaEventInterprocess | musaEventDisableTiming));
        let mut handle = musaIpcEventHandle_t::default();
        musa_check!(musaIpcGetEventHandle(&mut handle, produced));
        writeln!(tell, "{}", hex(&handle)).expect("to tell the second process");
        musa_check!(musaIpcOpenEventHandle(&mut consumed, unhex(&line(&mut news))));

        for round in 0..ROUNDS {
            // processKernel<<<gridSize, blockSize, 0, stream>>>(d_data, n);
            let (mut count, block_size) = (n as c_int, 256);
            let mut args: [*mut c_void; 2] = [(&raw mut d_data).cast(), (&raw mut count).cast()];
            let grid = (n as u32).div_ceil(block_size).into();
            musa_check!(musaLaunchKernel(process.cast(), grid, block_size.into(), args.as_mut_ptr(), 0, stream));

            // Not before the consumer's stream has taken in what is there. Before its first record this is no wait.
            musa_check!(musaStreamWaitEvent(stream, consumed, 0));
            musa_check!(musaMemcpyAsync(shared, d_data, size, musaMemcpyDeviceToHost, stream));
            musa_check!(musaEventRecord(produced, stream));

            writeln!(tell, "produced {round}").expect("to tell the second process");
            assert_eq!(line(&mut news), format!("consumed {round}"));
        }
        println!("producer: {ROUNDS} rounds are queued");

        let verdict = line(&mut news);
        println!("consumer: {verdict}");
        let ended = second.wait().expect("the second process's end");
        if !ended.success() || !verdict.ends_with("are right") {
            eprintln!("Error: the consumer ended with {ended}");
            exit(1);
        }

        musa_check!(musaStreamSynchronize(stream));
        musa_check!(musaEventDestroy(consumed));
        musa_check!(musaEventDestroy(produced));
        musa_check!(musaHostUnregister(shared));
        musa_check!(musaFree(d_data));
        musa_check!(musaStreamDestroy(stream));
        musa_check!(musaModuleUnload(module));
    }
    println!("Handing over between two processes completed!");
}

/// The second process. Its standard output goes to the first.
///
/// # Safety
/// As for [`produce`]; `number` is that of the memory which the first process made.
unsafe fn consume(n: usize, number: c_int) {
    let size = n * size_of::<f32>();
    let mut news = stdin().lock();
    let (mut stream, mut d_rounds) = (null_mut(), null_mut());
    let (mut produced, mut consumed) = (null_mut(), null_mut());

    // SAFETY: see above.
    unsafe {
        let shared = map(&OwnedFd::from_raw_fd(number), size);
        musa_check!(musaStreamCreate(&mut stream));
        musa_check!(musaMalloc(&mut d_rounds, ROUNDS * size));

        musa_check!(musaIpcOpenEventHandle(&mut produced, unhex(&line(&mut news))));
        musa_check!(musaEventCreateWithFlags(&mut consumed, musaEventInterprocess | musaEventDisableTiming));
        let mut handle = musaIpcEventHandle_t::default();
        musa_check!(musaIpcGetEventHandle(&mut handle, consumed));
        println!("{}", hex(&handle));

        for round in 0..ROUNDS {
            assert_eq!(line(&mut news), format!("produced {round}"));
            // The record is made; the work before it may take its time.
            musa_check!(musaStreamWaitEvent(stream, produced, 0));
            let place = d_rounds.byte_add(round * size);
            musa_check!(musaMemcpyAsync(place, shared, size, musaMemcpyHostToDevice, stream));
            musa_check!(musaEventRecord(consumed, stream));
            println!("consumed {round}");
        }

        let mut rounds = vec![0f32; ROUNDS * n];
        musa_check!(musaStreamSynchronize(stream));
        musa_check!(musaMemcpy(rounds.as_mut_ptr().cast(), d_rounds, ROUNDS * size, musaMemcpyDeviceToHost));
        for (round, data) in rounds.chunks(n).enumerate() {
            for (element, value) in data.iter().enumerate() {
                let expected = expected(element, round);
                if *value != expected {
                    println!("round {round}, element {element}: {expected} expected, {value} came");
                    exit(1);
                }
            }
        }

        musa_check!(musaEventDestroy(consumed));
        musa_check!(musaEventDestroy(produced));
        musa_check!(musaHostUnregister(shared));
        musa_check!(musaFree(d_rounds));
        musa_check!(musaStreamDestroy(stream));
    }
    println!("{n} elements in each of {ROUNDS} rounds are right");
}

/// Maps memory that both processes see, and registers it: only then copies of it run on while the host goes on.
///
/// # Safety
/// `file` has to be memory of this program.
unsafe fn map(file: &OwnedFd, size: usize) -> *mut c_void {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address of the system's choice; the file is as long as the mapping.
    unsafe {
        assert_eq!(libc::ftruncate(file.as_raw_fd(), size as libc::off_t), 0, "memory for {size} bytes");
        let memory = libc::mmap(null_mut(), size, access, libc::MAP_SHARED, file.as_raw_fd(), 0);
        assert_ne!(memory, libc::MAP_FAILED, "room for {size} bytes");
        musa_check!(musaHostRegister(memory, size, musaHostRegisterDefault));
        memory
    }
}

/// The next line of the other process; ends the program when that has ended.
fn line(news: &mut impl BufRead) -> String {
    let mut line = String::new();
    if news.read_line(&mut line).expect("a line of text") == 0 {
        eprintln!("Error: the other process has ended");
        exit(1);
    }
    line.trim_end().to_owned()
}

/// A handle is bytes, which may travel by any means: here as text.
fn hex(handle: &musaIpcEventHandle_t) -> String {
    handle.reserved.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> musaIpcEventHandle_t {
    let byte = |at: usize| u8::from_str_radix(text.get(2 * at..2 * at + 2).unwrap_or_default(), 16);
    musaIpcEventHandle_t { reserved: std::array::from_fn(|at| byte(at).expect("a handle").cast_signed()) }
}
