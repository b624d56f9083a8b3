//! Runs a random program's calls in a dialect and in the model at once.

use super::model::{Ask, Class, Lane, Make, Op, Uses, Wrong};
use crate::blocks::noise;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Mutex;

const TEXT: &std::ffi::CStr = c"
    __kernel void blend(__global uchar *to, __global const uchar *from, uint count, uint by) {
        uint i = get_global_id(0);
        if (i < count) to[i] = (uchar)(to[i] * 3 + from[i] + by);
    }";

/// What `blend` makes of a byte.
fn blended(to: u8, from: u8, by: u8) -> u8 {
    to.wrapping_mul(3).wrapping_add(from).wrapping_add(by)
}

/// The callbacks that ran, by stream and number.
static CALLED: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

macro_rules! machine_of {
    ($prefix:ident) => {
        pub mod $prefix {
            use super::*;
            use crate::dialects::$prefix::*;

            /// What all programs share, since building it takes longer than a program.
            pub struct Kit {
                module: Module,
                blend: Function,
            }

            impl Kit {
                pub fn new() -> Self {
                    let module = load!(TEXT.to_bytes());
                    Self { module, blend: function!(module, c"blend") }
                }
            }

            impl Drop for Kit {
                fn drop(&mut self) {
                    let code = module_unload(self.module);
                    assert!(code == SUCCESS || std::thread::panicking(), "{:?}", gridcl::last_error_detail());
                }
            }

            /// Memory, alive or not, and what it should hold.
            struct Block {
                at: *mut c_void,
                bytes: Vec<u8>,
                alive: bool,
                pinned: bool,
                uses: Uses,
            }

            struct Machine<'a> {
                kit: &'a Kit,
                blocks: Vec<Block>,
                /// The default streams come first; a dead one stays in the list.
                streams: Vec<(Stream, Lane, bool)>,
                /// Handle, whether it keeps times, is alive, and was recorded.
                events: Vec<(Event, bool, bool, bool)>,
                modules: Vec<(Module, bool)>,
                /// The numbers of the callbacks that were asked for, by stream.
                callbacks: Vec<(usize, usize)>,
                /// Turns through the ways to wait.
                turn: usize,
            }

            /// Runs a program, and compares all memory in the end.
            pub fn run(kit: &Kit, ops: &[Op]) {
                CALLED.lock().unwrap().clear();
                let lane = |number, class| Lane { number, class };
                let streams =
                    vec![(LEGACY, lane(0, Class::Legacy), true), (PER_THREAD, lane(1, Class::Blocking), true)];
                let mut machine = Machine {
                    kit,
                    blocks: Vec::new(),
                    streams,
                    events: Vec::new(),
                    modules: Vec::new(),
                    callbacks: Vec::new(),
                    turn: 0,
                };
                for op in ops {
                    machine.step(*op);
                }
                machine.end();
            }

            fn says(code: Code, expected: Code, op: impl std::fmt::Debug) {
                assert_eq!(code, expected, "{op:?}: {:?}", gridcl::last_error_detail());
            }

            impl Machine<'_> {
                fn step(&mut self, op: Op) {
                    match op {
                        Op::Malloc { bytes, how } => self.malloc(bytes, how),
                        Op::Free { block, wrong } => self.free(block, wrong),
                        Op::FreeAsync { block, stream } => self.free_async(block, stream),
                        Op::CreateStream { blocking } => self.create_stream(blocking),
                        Op::DestroyStream(stream) => self.destroy_stream(stream),
                        Op::AskStream(stream, ask) => self.ask_stream(stream, ask),
                        Op::CreateEvent { timed } => self.create_event(timed),
                        Op::DestroyEvent(event) => self.destroy_event(event),
                        Op::Record { event, stream } => self.record(event, stream),
                        Op::Wait { stream, event } => self.wait(stream, event),
                        Op::AskEvent(event, ask) => self.ask_event(event, ask),
                        Op::Elapsed(start, end) => self.elapsed(start, end),
                        Op::Set { block, at, bytes, value, stream, wrong } => {
                            self.set(op, block, (at, bytes), value, stream, wrong);
                        }
                        Op::Copy { to, from, at, bytes, stream, wrong } => {
                            self.copy(op, (to, from), at, bytes, stream, wrong);
                        }
                        Op::Upload { block, at, bytes, seed, stream, wrong } => {
                            self.transfer(op, block, (at, bytes), Some(seed), stream, wrong);
                        }
                        Op::Download { block, at, bytes, stream, wrong } => {
                            self.transfer(op, block, (at, bytes), None, stream, wrong);
                        }
                        Op::Launch { to, from, count, by, stream, wrong } => {
                            self.launch(op, (to, from), count, by, stream, wrong);
                        }
                        Op::Callback { stream } => self.callback(stream),
                        Op::Load { good } => self.load(good),
                        Op::Unload(module) => self.unload(module),
                        Op::Synchronize => {
                            ok!(device_synchronize());
                            self.all_idle();
                        }
                    }
                }

                fn all_idle(&mut self) {
                    self.blocks.iter_mut().for_each(|block| block.uses.clear());
                }

                fn stream(&self, name: usize) -> (Stream, Lane, bool) {
                    self.streams[name % self.streams.len()]
                }

                fn event(&self, name: usize) -> Option<usize> {
                    (!self.events.is_empty()).then(|| name % self.events.len())
                }

                fn block(&self, name: usize) -> Option<usize> {
                    (!self.blocks.is_empty()).then(|| name % self.blocks.len())
                }

                /// Makes a use of a block in a stream come after what is in its way, by each way in turn.
                fn order(&mut self, block: usize, lane: Lane, writes: bool) {
                    for other in self.blocks[block].uses.in_the_way(lane, writes) {
                        self.turn += 1;
                        let (stream, _, alive) = self.streams[other.number];
                        match self.turn % 3 {
                            // A destroyed stream is waited for with the device.
                            _ if !alive => ok!(device_synchronize()),
                            0 => ok!(device_synchronize()),
                            1 => ok!(stream_synchronize(stream)),
                            _ => {
                                let mut event = null_mut();
                                ok!(unsafe { event_create_with_flags(&mut event, EVENT_DISABLE_TIMING) });
                                ok!(event_record(event, stream));
                                ok!(stream_wait_event(self.streams[lane.number].0, event, 0));
                                ok!(event_destroy(event));
                            }
                        }
                    }
                    self.blocks[block].uses.note(lane, writes);
                }

                /// The host may look at a block when no work writes to it, and write when none uses it.
                fn rest(&mut self, block: usize) {
                    for lane in self.blocks[block].uses.lanes() {
                        match self.streams[lane.number] {
                            (stream, _, true) => ok!(stream_synchronize(stream)),
                            _ => ok!(device_synchronize()),
                        }
                    }
                    self.blocks[block].uses.clear();
                }

                fn malloc(&mut self, bytes: usize, how: Make) {
                    let mut at = null_mut();
                    let lane = match how {
                        Make::Device => {
                            ok!(unsafe { malloc(&mut at, bytes) });
                            self.streams[0].1
                        }
                        Make::Pinned => {
                            ok!(unsafe { host_malloc(&mut at, bytes) });
                            self.streams[0].1
                        }
                        Make::Ordered(stream) => {
                            let (stream, lane, alive) = self.stream(stream);
                            let code = unsafe { malloc_async(&mut at, bytes, stream) };
                            if !alive {
                                return says(code, INVALID_HANDLE, how);
                            }
                            says(code, SUCCESS, how);
                            lane
                        }
                        Make::Nowhere => return says(unsafe { malloc(null_mut(), bytes) }, INVALID_VALUE, how),
                        Make::Huge => {
                            says(unsafe { malloc(&mut at, usize::MAX - bytes) }, OUT_OF_MEMORY, how);
                            return assert!(at.is_null(), "a failure leaves nothing");
                        }
                    };
                    let model = noise(bytes as u64, bytes);
                    let (stream, pinned) = (self.streams[lane.number].0, how == Make::Pinned);
                    ok!(unsafe { memcpy_async(at, model.as_ptr().cast(), bytes, DEFAULT, stream) });
                    let mut uses = Uses::default();
                    uses.note(lane, true);
                    self.blocks.push(Block { at, bytes: model, alive: true, pinned, uses });
                }

                fn free(&mut self, name: usize, wrong: Wrong) {
                    let mut local = 0_u64;
                    let Some(block) = self.block(name) else {
                        says(free(null_mut()), SUCCESS, "null");
                        return says(free((&raw mut local).cast()), INVALID_DEVICE_POINTER, "an address of the stack");
                    };
                    let Block { at, alive, pinned, ref bytes, .. } = self.blocks[block];
                    let give = |at: *mut c_void| if pinned { host_free(at) } else { free(at) };
                    let not_its_start = if pinned { INVALID_VALUE } else { INVALID_DEVICE_POINTER };
                    match wrong {
                        Wrong::Null => return says(give(null_mut()), SUCCESS, wrong),
                        Wrong::TooMuch if alive => {
                            let end = at.wrapping_byte_add(bytes.len());
                            return says(give(end), not_its_start, wrong);
                        }
                        Wrong::Odd if alive && bytes.len() > 1 => {
                            return says(give(at.wrapping_byte_add(1)), not_its_start, wrong);
                        }
                        _ => {}
                    }
                    // A dead one's address may be another's by now.
                    if alive {
                        says(give(at), SUCCESS, "a free");
                        self.blocks[block].alive = false;
                        self.blocks[block].uses.clear();
                    } else if !self.is_reused(block) {
                        says(give(at), not_its_start, "a second free");
                    }
                }

                /// Whether nobody can tell a dead block from something else: a live one lies there, or it was pinned, and
                /// is ordinary memory of the host by now, or nobody's.
                fn is_reused(&self, dead: usize) -> bool {
                    if self.blocks[dead].pinned {
                        return true;
                    }
                    let start = self.blocks[dead].at.addr();
                    let end = start + self.blocks[dead].bytes.len();
                    self.blocks.iter().any(|block| {
                        block.alive && block.at.addr() < end + 1 && start < block.at.addr() + block.bytes.len() + 1
                    })
                }

                fn free_async(&mut self, name: usize, stream: usize) {
                    let Some(block) = self.block(name) else { return };
                    let (stream, lane, stream_lives) = self.stream(stream);
                    let Block { at, alive, pinned, .. } = self.blocks[block];
                    if !stream_lives {
                        return says(free_async(at, stream), INVALID_HANDLE, "a dead stream");
                    }
                    if pinned || !alive {
                        if pinned || !self.is_reused(block) {
                            says(free_async(at, stream), INVALID_VALUE, "no device memory");
                        }
                        return;
                    }
                    self.order(block, lane, true);
                    says(free_async(at, stream), SUCCESS, "a free in stream order");
                    self.blocks[block].alive = false;
                }

                fn create_stream(&mut self, blocking: bool) {
                    if self.streams.len() >= 6 {
                        return says(unsafe { stream_create(null_mut()) }, INVALID_VALUE, "a stream into null");
                    }
                    let mut stream = null_mut();
                    let (flags, class) = if blocking { (0, Class::Blocking) } else { (NON_BLOCKING, Class::Aside) };
                    ok!(unsafe { stream_create_with_flags(&mut stream, flags) });
                    self.streams.push((stream, Lane { number: self.streams.len(), class }, true));
                }

                fn destroy_stream(&mut self, name: usize) {
                    let number = name % self.streams.len();
                    let (stream, lane, alive) = self.streams[number];
                    let is_default = lane.number < 2;
                    let expected = if is_default || !alive { INVALID_HANDLE } else { SUCCESS };
                    says(stream_destroy(stream), expected, "a stream's end");
                    self.streams[number].2 &= is_default;
                }

                fn ask_stream(&mut self, name: usize, ask: Ask) {
                    let (stream, lane, alive) = self.stream(name);
                    let code = if ask == Ask::Query { stream_query(stream) } else { stream_synchronize(stream) };
                    match code {
                        NOT_READY if alive && ask == Ask::Query => return,
                        code => says(code, if alive { SUCCESS } else { INVALID_HANDLE }, ask),
                    }
                    if alive {
                        self.callbacks_ran(|other| lane.number == other);
                    }
                }

                fn create_event(&mut self, timed: bool) {
                    if self.events.len() >= 5 {
                        return says(unsafe { event_create(null_mut()) }, INVALID_VALUE, "an event into null");
                    }
                    let mut event = null_mut();
                    let flags = if timed { 0 } else { EVENT_DISABLE_TIMING };
                    ok!(unsafe { event_create_with_flags(&mut event, flags) });
                    self.events.push((event, timed, true, false));
                }

                fn destroy_event(&mut self, name: usize) {
                    let Some(index) = self.event(name) else {
                        return says(event_destroy(null_mut()), INVALID_HANDLE, "no event");
                    };
                    let (event, _, alive, _) = self.events[index];
                    says(event_destroy(event), if alive { SUCCESS } else { INVALID_HANDLE }, "an event's end");
                    self.events[index].2 = false;
                }

                fn record(&mut self, name: usize, stream: usize) {
                    let (stream, _, stream_lives) = self.stream(stream);
                    let Some(index) = self.event(name) else { return };
                    let (event, _, alive, _) = self.events[index];
                    let good = alive && stream_lives;
                    says(event_record(event, stream), if good { SUCCESS } else { INVALID_HANDLE }, "a record");
                    self.events[index].3 |= good;
                }

                fn wait(&mut self, stream: usize, name: usize) {
                    let (stream, _, stream_lives) = self.stream(stream);
                    let Some(index) = self.event(name) else { return };
                    let (event, _, alive, _) = self.events[index];
                    let expected = if alive && stream_lives { SUCCESS } else { INVALID_HANDLE };
                    says(stream_wait_event(stream, event, 0), expected, "a wait");
                }

                fn ask_event(&mut self, name: usize, ask: Ask) {
                    let Some(index) = self.event(name) else { return };
                    let (event, _, alive, recorded) = self.events[index];
                    let code = if ask == Ask::Query { event_query(event) } else { event_synchronize(event) };
                    match code {
                        NOT_READY if alive && recorded && ask == Ask::Query => {}
                        code => says(code, if alive { SUCCESS } else { INVALID_HANDLE }, ask),
                    }
                }

                fn elapsed(&mut self, start: usize, end: usize) {
                    let (Some(start), Some(end)) = (self.event(start), self.event(end)) else { return };
                    let mut ms = f32::NAN;
                    let of = |index: usize| self.events[index];
                    let code = unsafe { event_elapsed_time(&mut ms, of(start).0, of(end).0) };
                    let good = [start, end].into_iter().all(|index| matches!(of(index), (_, true, true, true)));
                    match code {
                        NOT_READY if good => {}
                        code => says(code, if good { SUCCESS } else { INVALID_HANDLE }, (of(start), of(end))),
                    }
                    assert_eq!(code == SUCCESS, !ms.is_nan(), "a time is there when the code says so");
                    assert!(start != end || code != SUCCESS || ms == 0.0, "{ms} from an event to itself");
                }

                /// The part of a block that a call names; what is too much begins within it.
                fn part(&self, block: usize, (at, bytes): (usize, usize), wrong: Wrong) -> (usize, usize) {
                    let len = self.blocks[block].bytes.len();
                    let at = at % len;
                    let bytes = bytes.min(len - at);
                    if wrong == Wrong::TooMuch { (at, len - at + 1) } else { (at, bytes) }
                }

                /// The stream of a call, and whether its handle lives; without one it is the default stream.
                fn stream_of(&self, stream: Option<usize>) -> (Stream, Lane, bool) {
                    stream.map_or(self.streams[0], |name| self.stream(name))
                }

                fn set(
                    &mut self,
                    op: Op,
                    name: usize,
                    part: (usize, usize),
                    value: u8,
                    stream: Option<usize>,
                    wrong: Wrong,
                ) {
                    let Some(block) = self.block(name) else { return };
                    let (handle, lane, stream_lives) = self.stream_of(stream);
                    let (at, bytes) = self.part(block, part, wrong);
                    let alive = self.blocks[block].alive;
                    if !alive && self.is_reused(block) {
                        return;
                    }
                    let base =
                        if wrong == Wrong::Null { null_mut() } else { self.blocks[block].at.wrapping_byte_add(at) };
                    let good = alive && stream_lives && matches!(wrong, Wrong::Nothing | Wrong::Odd);
                    if good {
                        self.order(block, lane, true);
                    }
                    let code = match stream {
                        Some(_) => memset_async(base, value.into(), bytes, handle),
                        None => memset(base, value.into(), bytes),
                    };
                    let expected = if good {
                        SUCCESS
                    } else if stream_lives {
                        INVALID_VALUE
                    } else {
                        INVALID_HANDLE
                    };
                    says(code, expected, op);
                    if good {
                        self.blocks[block].bytes[at..at + bytes].fill(value);
                    }
                }

                fn copy(
                    &mut self,
                    op: Op,
                    (to, from): (usize, usize),
                    at: (usize, usize),
                    bytes: usize,
                    stream: Option<usize>,
                    wrong: Wrong,
                ) {
                    let (Some(to), Some(from)) = (self.block(to), self.block(from)) else { return };
                    let (handle, lane, stream_lives) = self.stream_of(stream);
                    let (to_at, most) = self.part(to, (at.0, bytes), wrong);
                    let (from_at, bytes) = self.part(from, (at.1, most), Wrong::Nothing);
                    let bytes = if wrong == Wrong::TooMuch { most } else { bytes };
                    if [to, from].into_iter().any(|block| !self.blocks[block].alive && self.is_reused(block)) {
                        return;
                    }
                    let both_live = self.blocks[to].alive && self.blocks[from].alive;
                    let overlaps = to == from && to_at != from_at && to_at.abs_diff(from_at) < bytes;
                    let good = both_live && stream_lives && wrong == Wrong::Nothing && !overlaps;
                    if good {
                        self.order(from, lane, false);
                        self.order(to, lane, true);
                    }
                    let target = self.blocks[to].at.wrapping_byte_add(to_at);
                    let source = self.blocks[from].at.wrapping_byte_add(from_at).cast_const();
                    let source = if wrong == Wrong::Null { null() } else { source };
                    let kind = if wrong == Wrong::Odd { Kind(77) } else { DEFAULT };
                    let code = match stream {
                        Some(_) => unsafe { memcpy_async(target, source, bytes, kind, handle) },
                        None => unsafe { memcpy(target, source, bytes, kind) },
                    };
                    let expected = match () {
                        () if good => SUCCESS,
                        () if wrong == Wrong::Odd => INVALID_MEMCPY_DIRECTION,
                        () if !stream_lives => INVALID_HANDLE,
                        () => INVALID_VALUE,
                    };
                    says(code, expected, op);
                    if good {
                        let data = self.blocks[from].bytes[from_at..from_at + bytes].to_vec();
                        self.blocks[to].bytes[to_at..to_at + bytes].copy_from_slice(&data);
                    }
                }

                /// Copies to or from ordinary memory of the host.
                fn transfer(
                    &mut self,
                    op: Op,
                    name: usize,
                    part: (usize, usize),
                    seed: Option<u64>,
                    stream: Option<usize>,
                    wrong: Wrong,
                ) {
                    let Some(block) = self.block(name) else { return };
                    let (handle, lane, stream_lives) = self.stream_of(stream);
                    let (at, bytes) = self.part(block, part, wrong);
                    if !self.blocks[block].alive && self.is_reused(block) {
                        return;
                    }
                    let good = self.blocks[block].alive && stream_lives && wrong == Wrong::Nothing;
                    if good {
                        self.order(block, lane, seed.is_some());
                    }
                    let mut host = noise(seed.unwrap_or(0), bytes);
                    let (there, here) =
                        (self.blocks[block].at.wrapping_byte_add(at), host.as_mut_ptr().cast::<c_void>());
                    let there = if wrong == Wrong::Null { null_mut() } else { there };
                    let (to, from) = if seed.is_some() { (there, here) } else { (here, there) };
                    let kind = if wrong == Wrong::Odd { Kind(-1) } else { DEFAULT };
                    let code = match stream {
                        Some(_) => unsafe { memcpy_async(to, from.cast_const(), bytes, kind, handle) },
                        None => unsafe { memcpy(to, from.cast_const(), bytes, kind) },
                    };
                    let expected = match () {
                        () if good => SUCCESS,
                        () if wrong == Wrong::Odd => INVALID_MEMCPY_DIRECTION,
                        () if !stream_lives => INVALID_HANDLE,
                        () => INVALID_VALUE,
                    };
                    says(code, expected, op);
                    if !good {
                        return assert!(host == noise(seed.unwrap_or(0), bytes), "a refused copy writes nothing");
                    }
                    let model = &mut self.blocks[block].bytes[at..at + bytes];
                    match seed {
                        Some(_) => {
                            model.copy_from_slice(&host);
                            // The source is the program's again.
                            host.fill(0xEE);
                        }
                        None => assert!(host == model, "{op:?} gets what is there"),
                    }
                }

                fn launch(
                    &mut self,
                    op: Op,
                    (to, from): (usize, usize),
                    count: usize,
                    by: u8,
                    stream: usize,
                    wrong: Wrong,
                ) {
                    let (Some(to), Some(from)) = (self.block(to), self.block(from)) else { return };
                    let (stream, lane, stream_lives) = self.stream(stream);
                    // Kernels reach device memory in every form.
                    if self.blocks[to].pinned || self.blocks[from].pinned {
                        return;
                    }
                    let count = count.min(self.blocks[to].bytes.len()).min(self.blocks[from].bytes.len());
                    if [to, from].into_iter().any(|block| !self.blocks[block].alive && self.is_reused(block)) {
                        return;
                    }
                    let both_live = self.blocks[to].alive && self.blocks[from].alive;
                    let good = both_live && stream_lives && wrong == Wrong::Nothing && to != from;
                    if to == from && both_live && stream_lives && wrong == Wrong::Nothing {
                        return;
                    }
                    if good {
                        self.order(from, lane, false);
                        self.order(to, lane, true);
                    }
                    let (target, source) = (self.blocks[to].at, self.blocks[from].at);
                    let (many, number) = (count as u32, u32::from(by));
                    let address = crate::steps::address_of::<*mut c_void>;
                    let word = crate::steps::address_of::<u32>;
                    let mut list = [address(&target), address(&source), word(&many), word(&number)];
                    let function = if wrong == Wrong::Null { null_mut() } else { self.kit.blend };
                    let block = dim3::new(if wrong == Wrong::TooMuch { 0 } else { 64 }, 1, 1);
                    let args = if wrong == Wrong::Odd { null_mut() } else { list.as_mut_ptr() };
                    let grid = dim3::new(count.div_ceil(64) as u32, 1, 1);
                    let code = unsafe { launch_kernel(function.cast_const().cast(), grid, block, args, 0, stream) };
                    if good {
                        says(code, SUCCESS, op);
                        for index in 0..count {
                            let source = self.blocks[from].bytes[index];
                            let target = &mut self.blocks[to].bytes[index];
                            *target = blended(*target, source, by);
                        }
                        return;
                    }
                    // With two things wrong either may be told.
                    let mut allowed = Vec::new();
                    allowed.extend((!stream_lives).then_some(INVALID_HANDLE));
                    allowed.extend((!both_live).then_some(INVALID_VALUE));
                    allowed.extend((wrong == Wrong::Null).then_some(INVALID_DEVICE_FUNCTION));
                    allowed.extend((wrong == Wrong::TooMuch).then_some(INVALID_CONFIGURATION));
                    allowed.extend((wrong == Wrong::Odd).then_some(INVALID_VALUE));
                    assert!(
                        allowed.contains(&code),
                        "{op:?}: {code:?} is none of {allowed:?}: {:?}",
                        gridcl::last_error_detail()
                    );
                }

                fn callback(&mut self, name: usize) {
                    unsafe extern "C" fn called(_: Stream, code: Code, user: *mut c_void) {
                        let number = user.addr();
                        let stream = if code == SUCCESS { number >> 32 } else { usize::MAX };
                        CALLED.lock().unwrap().push((stream, number & 0xFFFF_FFFF));
                    }
                    let (stream, lane, alive) = self.stream(name);
                    let number = self.callbacks.len();
                    let user = std::ptr::without_provenance_mut(lane.number << 32 | number);
                    let code = unsafe { stream_add_callback(stream, Some(called), user, 0) };
                    says(code, if alive { SUCCESS } else { INVALID_HANDLE }, "a callback");
                    says(unsafe { stream_add_callback(stream, None, user, 0) }, INVALID_VALUE, "no callback");
                    if alive {
                        self.callbacks.push((lane.number, number));
                    }
                }

                /// Asserts that the callbacks of some streams ran, each once, and in the order of their stream.
                fn callbacks_ran(&self, of: impl Fn(usize) -> bool) {
                    let ran: Vec<(usize, usize)> =
                        CALLED.lock().unwrap().iter().copied().filter(|&(stream, _)| of(stream)).collect();
                    let mut streams: Vec<usize> = ran.iter().map(|&(stream, _)| stream).collect();
                    streams.extend(self.callbacks.iter().map(|&(stream, _)| stream).filter(|&stream| of(stream)));
                    streams.sort_unstable();
                    streams.dedup();
                    for stream in streams {
                        let numbers = |list: &[(usize, usize)]| -> Vec<usize> {
                            list.iter().filter(|&&(of, _)| of == stream).map(|&(_, number)| number).collect()
                        };
                        assert_eq!(numbers(&ran), numbers(&self.callbacks), "callbacks of stream {stream}");
                    }
                }

                fn load(&mut self, good: bool) {
                    let mut module = null_mut();
                    let text = if good { TEXT } else { c"__kernel void broken(__global int *x) { x[0] = ; }" };
                    let code = unsafe { module_load_data(&mut module, text.as_ptr().cast()) };
                    says(code, if good { SUCCESS } else { BUILD_FAILED }, text);
                    if good {
                        let mut function = null_mut();
                        let absent = unsafe { module_get_function(&mut function, module, c"absent".as_ptr()) };
                        says(absent, NOT_FOUND, "a kernel that is not there");
                        self.modules.push((module, true));
                    }
                }

                fn unload(&mut self, name: usize) {
                    if self.modules.is_empty() {
                        return says(module_unload(null_mut()), INVALID_HANDLE, "no module");
                    }
                    let index = name % self.modules.len();
                    let (module, alive) = self.modules[index];
                    says(module_unload(module), if alive { SUCCESS } else { INVALID_HANDLE }, "an unload");
                    self.modules[index].1 = false;
                }

                /// Compares what is there with the model.
                fn end(&mut self) {
                    for index in 0..self.blocks.len() {
                        if !self.blocks[index].alive {
                            continue;
                        }
                        self.rest(index);
                        let Block { at, ref bytes, pinned, .. } = self.blocks[index];
                        let mut got = vec![0xEE_u8; bytes.len()];
                        if pinned {
                            unsafe { at.cast::<u8>().copy_to_nonoverlapping(got.as_mut_ptr(), got.len()) };
                        } else {
                            ok!(unsafe { memcpy(got.as_mut_ptr().cast(), at, got.len(), DEVICE_TO_HOST) });
                        }
                        crate::blocks::assert_same(&got, bytes, || format!("block {index} in the end"));
                    }
                    ok!(device_synchronize());
                    self.callbacks_ran(|_| true);
                    let _ = get_last_error();
                }
            }

            impl Drop for Machine<'_> {
                /// Gives back what the program has not, so that a shorter program can be tried.
                fn drop(&mut self) {
                    let _ = device_synchronize();
                    for block in self.blocks.iter().filter(|block| block.alive) {
                        let _ = if block.pinned { host_free(block.at) } else { free(block.at) };
                    }
                    for &(stream, _, _) in self.streams[2..].iter().filter(|(_, _, alive)| *alive) {
                        let _ = stream_destroy(stream);
                    }
                    for &(event, ..) in self.events.iter().filter(|(_, _, alive, _)| *alive) {
                        let _ = event_destroy(event);
                    }
                    for &(module, _) in self.modules.iter().filter(|(_, alive)| *alive) {
                        let _ = module_unload(module);
                    }
                }
            }
        }
    };
}

machine_of!(musa);
machine_of!(tops);
