//! Managed memory (MUSA "managed memory"; behaviour.md 3.4): one address for host and device, who may use it when,
//! and what programs say about it. TOPS has no such calls.

use crate::blocks::noise;
use crate::dialects::musa::*;
use crate::peer_copies::two_devices;
use crate::support::{PATIENCE, device, gated, in_time};
use gridcl::musa::*;
use gridcl::testing::{Gate, count_calls, guard};
use gridcl::{ErrorKind, ManagedBuffer, Module, launch};
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

const GLOBAL: c_uint = musaMemAttachGlobal;

const SOURCE: &std::ffi::CStr = c"
    __kernel void add_to(__global uint *x, uint by, uint n) {
        uint i = get_global_id(0);
        if (i < n) x[i] += by;
    }
    __kernel void follow(__global ulong *table, uint by) {
        __global uint *x = (__global uint *)table[0];
        x[get_global_id(0)] += by;
    }";

/// A module's two kernels; unloaded in the end.
struct Kernels(musaModule_t, musaFunction_t, musaFunction_t);

impl Kernels {
    fn load() -> Self {
        let (mut module, mut add, mut follow) = (null_mut(), null_mut(), null_mut());
        ok!(unsafe { musaModuleLoadData(&mut module, SOURCE.as_ptr().cast()) });
        ok!(unsafe { musaModuleGetFunction(&mut add, module, c"add_to".as_ptr()) });
        ok!(unsafe { musaModuleGetFunction(&mut follow, module, c"follow".as_ptr()) });
        Self(module, add, follow)
    }

    fn add(&self, pointer: *mut c_void, by: u32, n: u32, stream: musaStream_t) {
        let (mut pointer, mut by, mut n) = (pointer, by, n);
        let mut args = [(&raw mut pointer).cast::<c_void>(), (&raw mut by).cast(), (&raw mut n).cast()];
        let grid = dim3 { x: n.div_ceil(64), y: 1, z: 1 };
        let block = dim3 { x: 64, y: 1, z: 1 };
        ok!(unsafe { musaLaunchKernel(self.1.cast(), grid, block, args.as_mut_ptr(), 0, stream) });
    }

    fn follow(&self, table: *mut c_void, by: u32, n: u32, stream: musaStream_t) {
        let (mut table, mut by) = (table, by);
        let mut args = [(&raw mut table).cast::<c_void>(), (&raw mut by).cast()];
        let one = dim3 { x: 1, y: 1, z: 1 };
        let block = dim3 { x: n, y: 1, z: 1 };
        ok!(unsafe { musaLaunchKernel(self.2.cast(), one, block, args.as_mut_ptr(), 0, stream) });
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        assert_eq!(musaModuleUnload(self.0), musaSuccess);
    }
}

/// Whether there is managed memory here; where there is none the call says so.
fn has_managed() -> bool {
    let mut prop = musaDeviceProp::default();
    ok!(unsafe { musaGetDeviceProperties(&mut prop, 0) });
    if prop.managedMemory == 0 {
        let mut pointer = null_mut();
        fails!(unsafe { musaMallocManaged(&mut pointer, 64, GLOBAL) }, NOT_SUPPORTED, "pinned");
    }
    prop.managedMemory == 1
}

/// Whether host and device use it in turn.
fn takes_turns() -> bool {
    let mut prop = musaDeviceProp::default();
    ok!(unsafe { musaGetDeviceProperties(&mut prop, 0) });
    prop.concurrentManagedAccess == 0
}

/// Managed memory for all streams, full of zeros.
fn managed(bytes: usize) -> *mut c_void {
    let mut pointer = null_mut();
    ok!(unsafe { musaMallocManaged(&mut pointer, bytes, GLOBAL) });
    unsafe { std::ptr::write_bytes(pointer.cast::<u8>(), 0, bytes) };
    pointer
}

fn words<'a>(pointer: *mut c_void, len: usize) -> &'a mut [u32] {
    unsafe { std::slice::from_raw_parts_mut(pointer.cast(), len) }
}

fn stream() -> musaStream_t {
    let mut stream = null_mut();
    ok!(unsafe { musaStreamCreate(&mut stream) });
    stream
}

#[test]
fn host_and_device_use_it_in_turn_without_copies() {
    let _guard = guard();
    if !has_managed() {
        return;
    }
    let kernels = Kernels::load();
    let pointer = managed(4 * 10_000);
    let mut expected = 0;
    for round in 0..20_u32 {
        for word in words(pointer, 10_000) {
            assert_eq!(*word, expected * u32::from(round > 0), "round {round}");
            *word = expected + 1;
        }
        kernels.add(pointer, 10, 10_000, LEGACY);
        kernels.add(pointer, 100, 10_000, LEGACY);
        // Each way for the host to learn that the work is done makes it the host's again.
        match round % 4 {
            0 => ok!(musaDeviceSynchronize()),
            1 => ok!(musaStreamSynchronize(LEGACY)),
            2 => {
                let mut event = null_mut();
                ok!(unsafe { musaEventCreateWithFlags(&mut event, musaEventDisableTiming) });
                ok!(musaEventRecord(event, LEGACY));
                ok!(musaEventSynchronize(event));
                ok!(musaEventDestroy(event));
            }
            _ => crate::support::wait_until("the stream", || musaStreamQuery(LEGACY) == musaSuccess),
        }
        expected += 111;
    }
    ok!(musaFree(pointer));
}

#[test]
fn kernels_of_several_streams_use_it_between_two_turns_of_the_host() {
    let _guard = guard();
    if !has_managed() {
        return;
    }
    let kernels = Kernels::load();
    let streams: Vec<_> = (0..4).map(|_| stream()).collect();
    let blocks: Vec<_> = (0..4).map(|_| managed(4 * 5_000)).collect();
    for round in 1..=30_u32 {
        // The host is done with all of them before the first launch: it may not touch any while the device is busy.
        blocks.iter().for_each(|&block| words(block, 5_000)[round as usize] += 1000);
        for (&block, &stream) in blocks.iter().zip(&streams) {
            kernels.add(block, 1, 5_000, stream);
        }
        // Across the streams as well: each takes the block of its neighbour after it.
        for (index, &stream) in streams.iter().enumerate() {
            ok!(musaStreamSynchronize(streams[(index + 1) % 4]));
            kernels.add(blocks[(index + 1) % 4], 1, 5_000, stream);
        }
        streams.iter().for_each(|&stream| ok!(musaStreamSynchronize(stream)));
        for &block in &blocks {
            let block = words(block, 5_000);
            assert_eq!((block[0], block[round as usize], block[4999]), (2 * round, 2 * round + 1000, 2 * round));
        }
    }
    blocks.iter().for_each(|&block| ok!(musaFree(block)));
    streams.iter().for_each(|&stream| ok!(musaStreamDestroy(stream)));
}

#[test]
fn kernels_find_it_through_addresses_in_memory() {
    let _guard = guard();
    if !has_managed() {
        return;
    }
    let kernels = Kernels::load();
    let (table, pointer) = (managed(8), managed(4 * 64));
    for round in 1..=5 {
        words(table, 2).copy_from_slice(bytemuck::cast_slice(&[pointer as u64]));
        kernels.follow(table, 3, 64, LEGACY);
        ok!(musaDeviceSynchronize());
        assert!(words(pointer, 64).iter().all(|&word| word == 3 * round), "round {round}");
    }
    ok!(musaFree(pointer));
    ok!(musaFree(table));
}

#[test]
fn copies_and_sets_take_it_like_device_memory() {
    let _guard = guard();
    if !has_managed() {
        return;
    }
    const BYTES: usize = 300_001;
    let (one, two, there) = (managed(BYTES), managed(BYTES), device_memory!(BYTES));
    let bytes = |pointer: *mut c_void| unsafe { std::slice::from_raw_parts_mut(pointer.cast::<u8>(), BYTES) };
    let data = noise(1, BYTES);
    ok!(unsafe { musaMemcpy(one, data.as_ptr().cast(), BYTES, musaMemcpyDefault) });
    assert!(bytes(one) == data, "up");
    bytes(one)[5] ^= 1;
    ok!(unsafe { musaMemcpy(there, one, BYTES, musaMemcpyDefault) });
    ok!(unsafe { musaMemcpy(two, there, BYTES, musaMemcpyDefault) });
    assert!(bytes(two)[5] == data[5] ^ 1 && bytes(two)[6..] == data[6..], "across");
    ok!(musaMemset(two.wrapping_byte_add(7), 0xAB, 1000));
    assert!(bytes(two)[6] == data[6] && bytes(two)[7..1007].iter().all(|&byte| byte == 0xAB), "set");
    bytes(two)[8] = 1;
    let mut back = vec![0; BYTES];
    ok!(unsafe { musaMemcpy(back.as_mut_ptr().cast(), two, BYTES, musaMemcpyDefault) });
    assert!(back == bytes(two), "down");
    // In stream order, and the host's again after the synchronisation.
    let stream = stream();
    ok!(unsafe { musaMemcpyAsync(one, two, BYTES, musaMemcpyDefault, stream) });
    ok!(musaMemsetAsync(one, 3, 10, stream));
    ok!(musaStreamSynchronize(stream));
    assert!(bytes(one)[..10] == [3; 10] && bytes(one)[10..] == bytes(two)[10..]);
    ok!(musaStreamDestroy(stream));
    [one, two, there].into_iter().for_each(|pointer| ok!(musaFree(pointer)));
}

#[test]
fn calls_of_another_device_without_async_leave_it_the_hosts() {
    let _guard = guard();
    two_devices!();
    if !has_managed() {
        return;
    }
    const BYTES: usize = (16 << 20) + 3;
    let (near, data) = (managed(BYTES), noise(1, BYTES));
    let bytes = |pointer: *mut c_void| unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), BYTES) };
    ok!(musaSetDevice(1));
    let far = device_memory!(BYTES);
    for round in 1..=5_u8 {
        ok!(musaMemset(near, round.into(), BYTES));
        assert!(bytes(near).iter().rev().all(|&byte| byte == round), "set, round {round}");
        ok!(unsafe { musaMemcpy(near, data.as_ptr().cast(), BYTES, musaMemcpyDefault) });
        assert!(bytes(near) == data, "up, round {round}");
        ok!(musaMemset(far, 0xC0 | c_int::from(round), BYTES));
        ok!(unsafe { musaMemcpy(near, far, BYTES, musaMemcpyDefault) });
        assert!(bytes(near).iter().rev().all(|&byte| byte == 0xC0 | round), "across, round {round}");
    }
    ok!(musaFree(far));
    ok!(musaSetDevice(0));
    ok!(musaFree(near));
}

#[test]
fn it_changes_hands_once_for_any_number_of_launches() {
    let _guard = guard();
    if !has_managed() || !takes_turns() {
        return;
    }
    let kernels = Kernels::load();
    let (one, two) = (managed(4096), managed(4096));
    let ((), counts) = count_calls(|| {
        for _ in 0..10 {
            kernels.add(one, 1, 64, LEGACY);
        }
        ok!(musaDeviceSynchronize());
        ok!(musaDeviceSynchronize());
    });
    let count = |entry: &str| counts.iter().find(|(name, _)| *name == entry).map_or(0, |&(_, count)| count);
    assert_eq!((count("clEnqueueSVMUnmap"), count("clEnqueueSVMMap")), (2, 2), "{counts:?}");
    ok!(musaFree(two));
    ok!(musaFree(one));
}

#[test]
fn it_stays_the_devices_while_another_stream_works() {
    let _guard = guard();
    if !has_managed() || !takes_turns() {
        return;
    }
    let kernels = Kernels::load();
    let pointer = managed(4096);
    let (busy, gate) = gated(device());
    let stream = stream();
    let ((), counts) = count_calls(|| {
        kernels.add(pointer, 1, 64, stream);
        ok!(musaStreamSynchronize(stream));
    });
    assert!(!counts.iter().any(|(name, _)| *name == "clEnqueueSVMMap"), "{counts:?}");
    gate.open();
    busy.synchronize().unwrap();
    assert_eq!(words(pointer, 64), [1; 64], "the host's once all streams are idle");
    ok!(musaStreamDestroy(stream));
    ok!(musaFree(pointer));
}

#[test]
fn what_is_attached_to_a_stream_is_the_hosts_when_that_stream_is_idle() {
    let _guard = guard();
    if !has_managed() {
        return;
    }
    let kernels = Kernels::load();
    let pointer = managed(4096);
    let (mine, other) = (stream(), stream());
    ok!(musaStreamAttachMemAsync(mine, pointer, 0, musaMemAttachSingle));
    ok!(musaStreamSynchronize(mine));
    let (_busy, gate) = gated(device());
    kernels.add(pointer, 5, 64, mine);
    ok!(musaStreamSynchronize(mine));
    assert_eq!(words(pointer, 64), [5; 64], "while another stream is busy");
    words(pointer, 64).fill(1);
    kernels.add(pointer, 5, 64, mine);
    ok!(musaStreamSynchronize(mine));
    assert_eq!(words(pointer, 64), [6; 64]);
    gate.open();
    // The stream's end gives it back to all.
    ok!(musaStreamDestroy(mine));
    kernels.add(pointer, 5, 64, other);
    ok!(musaDeviceSynchronize());
    assert_eq!(words(pointer, 64), [11; 64]);
    ok!(musaStreamDestroy(other));
    ok!(musaFree(pointer));
}

#[test]
fn what_is_attached_to_the_host_is_only_for_launches_that_are_given_it() {
    let _guard = guard();
    if !has_managed() {
        return;
    }
    let kernels = Kernels::load();
    let mut pointer = null_mut();
    ok!(unsafe { musaMallocManaged(&mut pointer, 256, musaMemAttachHost) });
    let other = managed(256);
    words(pointer, 64).fill(1);
    let (_busy, gate) = gated(device());
    let stream = stream();
    kernels.add(other, 1, 64, stream);
    // The device is busy, with nothing that was given this memory.
    words(pointer, 64).fill(2);
    gate.open();
    ok!(musaDeviceSynchronize());
    kernels.add(pointer, 1, 64, stream);
    ok!(musaDeviceSynchronize());
    assert_eq!((words(pointer, 64)[0], words(other, 64)[0]), (3, 1));
    [pointer, other].into_iter().for_each(|pointer| ok!(musaFree(pointer)));
    ok!(musaStreamDestroy(stream));
}

#[test]
fn allocation_takes_the_flags_of_the_guide_and_refuses_others() {
    let _guard = guard();
    if !has_managed() {
        return;
    }
    for flags in [musaMemAttachGlobal, musaMemAttachHost, musaMemAttachSingle] {
        let mut pointer = null_mut();
        ok!(unsafe { musaMallocManaged(&mut pointer, 1000, flags) });
        assert!(!pointer.is_null() && (pointer as usize).is_multiple_of(128));
        words(pointer, 250).fill(9);
        ok!(musaFree(pointer));
        fails!(musaFree(pointer), INVALID_VALUE);
    }
    let mut pointer = null_mut();
    for flags in [0, 3, 5, 145, u32::MAX] {
        fails!(unsafe { musaMallocManaged(&mut pointer, 64, flags) }, INVALID_VALUE, "flags");
    }
    fails!(unsafe { musaMallocManaged(null_mut(), 64, GLOBAL) }, INVALID_VALUE, "null");
    fails!(unsafe { musaMallocManaged(&mut pointer, 0, GLOBAL) }, INVALID_VALUE, "size");
    fails!(unsafe { musaMallocManaged(&mut pointer, usize::MAX, GLOBAL) }, OUT_OF_MEMORY, "size");
    assert!(pointer.is_null());
}

#[test]
fn a_free_waits_for_the_device() {
    let _guard = guard();
    if !has_managed() {
        return;
    }
    let kernels = Kernels::load();
    let stream = stream();
    for _ in 0..20 {
        let pointer = managed(4 * 100_000);
        kernels.add(pointer, 1, 100_000, stream);
        ok!(musaFree(pointer));
        ok!(musaStreamQuery(stream));
    }
    ok!(musaStreamDestroy(stream));
}

#[test]
fn a_prefetch_is_an_action_of_its_stream_and_changes_nothing() {
    let _guard = guard();
    if !has_managed() {
        return;
    }
    let kernels = Kernels::load();
    let pointer = managed(4 * 10_000);
    words(pointer, 10_000).fill(7);
    let stream = stream();
    for to in [0, musaCpuDeviceId, 0] {
        // Inner and odd ranges are whole pages.
        ok!(musaMemPrefetchAsync(pointer.wrapping_byte_add(4100), 1, to, stream));
        ok!(musaMemPrefetchAsync(pointer, 4 * 10_000, to, stream));
        kernels.add(pointer, 1, 10_000, stream);
        ok!(musaMemPrefetchAsync(pointer, 4 * 10_000, musaCpuDeviceId, stream));
    }
    ok!(musaStreamSynchronize(stream));
    assert!(words(pointer, 10_000).iter().all(|&word| word == 10));
    let gate = Gate::close(&device().default_stream().unwrap()).unwrap();
    ok!(musaMemPrefetchAsync(pointer, 64, 0, stream));
    assert_eq!(musaStreamQuery(stream), NOT_READY, "it waits for its turn");
    gate.open();
    ok!(musaStreamSynchronize(stream));
    ok!(musaStreamDestroy(stream));
    ok!(musaFree(pointer));
}

#[test]
fn prefetches_of_anything_else_are_refused() {
    let _guard = guard();
    if !has_managed() {
        return;
    }
    let pointer = managed(4096);
    let (there, pinned) = (device_memory!(64), pinned_memory!(64));
    let mut own = [0_u8; 64];
    let dead = stream();
    ok!(musaStreamDestroy(dead));
    fails!(musaMemPrefetchAsync(null_mut(), 64, 0, LEGACY), INVALID_VALUE, "null");
    fails!(musaMemPrefetchAsync(pointer, 0, 0, LEGACY), INVALID_VALUE, "count");
    fails!(musaMemPrefetchAsync(pointer, 4097, 0, LEGACY), INVALID_VALUE, "4096 bytes");
    for other in [there, pinned, own.as_mut_ptr().cast()] {
        fails!(musaMemPrefetchAsync(other, 64, 0, LEGACY), INVALID_VALUE, "managed");
        fails!(musaMemAdvise(other, 64, musaMemAdviseSetReadMostly, 0), INVALID_VALUE, "managed");
    }
    fails!(musaMemPrefetchAsync(pointer, 64, -2, LEGACY), INVALID_DEVICE, "-2");
    fails!(musaMemPrefetchAsync(pointer, 64, 99, LEGACY), INVALID_DEVICE, "99");
    fails!(musaMemPrefetchAsync(pointer, 64, 0, dead), INVALID_HANDLE);
    ok!(musaFree(pointer));
    fails!(musaMemPrefetchAsync(pointer, 64, 0, LEGACY), INVALID_VALUE);
    ok!(musaFree(there));
    ok!(musaFreeHost(pinned));
}

fn attribute(which: musaMemRangeAttribute, pointer: *mut c_void, bytes: usize) -> c_int {
    let mut answer = 77;
    ok!(unsafe { musaMemRangeGetAttribute((&raw mut answer).cast(), 4, which, pointer, bytes) });
    answer
}

#[test]
fn advice_is_kept_for_whole_pages_and_read_back() {
    let _guard = guard();
    if !has_managed() {
        return;
    }
    const PAGES: usize = 8 * 4096;
    let pointer = managed(PAGES);
    let page = |index: usize| pointer.wrapping_byte_add(4096 * index);
    let (read_mostly, preferred) = (musaMemRangeAttributeReadMostly, musaMemRangeAttributePreferredLocation);
    assert_eq!(
        (attribute(read_mostly, pointer, PAGES), attribute(preferred, pointer, PAGES)),
        (0, musaInvalidDeviceId)
    );
    ok!(musaMemAdvise(page(2).wrapping_byte_add(10), 1, musaMemAdviseSetReadMostly, -2));
    assert_eq!((attribute(read_mostly, page(2), 4096), attribute(read_mostly, page(2), 4097)), (1, 0));
    ok!(musaMemAdvise(pointer, PAGES, musaMemAdviseSetReadMostly, 0));
    ok!(musaMemAdvise(pointer, PAGES, musaMemAdviseSetPreferredLocation, 0));
    ok!(musaMemAdvise(page(4), 4096, musaMemAdviseSetPreferredLocation, musaCpuDeviceId));
    assert_eq!(attribute(preferred, pointer, 4 * 4096), 0);
    assert_eq!(attribute(preferred, page(4), 4096), musaCpuDeviceId);
    assert_eq!(attribute(preferred, pointer, PAGES), musaInvalidDeviceId, "not the same everywhere");
    ok!(musaMemAdvise(pointer, PAGES, musaMemAdviseUnsetPreferredLocation, 0));
    assert_eq!((attribute(preferred, page(4), 4096), attribute(read_mostly, pointer, PAGES)), (musaInvalidDeviceId, 1));

    let users = |bytes| {
        let mut answer = [77; 3];
        let which = musaMemRangeAttributeAccessedBy;
        ok!(unsafe { musaMemRangeGetAttribute(answer.as_mut_ptr().cast(), 12, which, pointer, bytes) });
        answer
    };
    ok!(musaMemAdvise(pointer, PAGES, musaMemAdviseSetAccessedBy, 0));
    ok!(musaMemAdvise(pointer, 4096, musaMemAdviseSetAccessedBy, musaCpuDeviceId));
    assert_eq!((users(4096), users(PAGES)), ([-1, 0, -2], [0, -2, -2]));
    ok!(musaMemAdvise(pointer, PAGES, musaMemAdviseUnsetAccessedBy, 0));
    assert_eq!(users(4096), [-1, -2, -2]);

    let last = musaMemRangeAttributeLastPrefetchLocation;
    assert_eq!(attribute(last, pointer, PAGES), musaInvalidDeviceId, "advice prefetches nothing");
    ok!(musaMemPrefetchAsync(pointer, PAGES, musaCpuDeviceId, LEGACY));
    assert_eq!(attribute(last, pointer, PAGES), musaCpuDeviceId);
    ok!(musaDeviceSynchronize());

    let (mut one, mut two) = (77, 77);
    let mut outs = [(&raw mut one).cast::<c_void>(), (&raw mut two).cast()];
    let (mut sizes, mut which) = ([4, 4], [read_mostly, last]);
    let (sizes, which) = (sizes.as_mut_ptr(), which.as_mut_ptr());
    ok!(unsafe { musaMemRangeGetAttributes(outs.as_mut_ptr(), sizes, which, 2, pointer, PAGES) });
    assert_eq!((one, two), (1, -1));
    ok!(musaFree(pointer));
}

#[test]
fn advice_that_makes_no_sense_is_refused() {
    let _guard = guard();
    if !has_managed() {
        return;
    }
    let pointer = managed(4096);
    fails!(musaMemAdvise(null_mut(), 64, musaMemAdviseSetReadMostly, 0), INVALID_VALUE, "null");
    fails!(musaMemAdvise(pointer, 0, musaMemAdviseSetReadMostly, 0), INVALID_VALUE, "count");
    fails!(musaMemAdvise(pointer, 4097, musaMemAdviseSetReadMostly, 0), INVALID_VALUE, "4096 bytes");
    for advice in [0, 7, -1] {
        fails!(musaMemAdvise(pointer, 64, musaMemoryAdvise(advice), 0), INVALID_VALUE, "advice");
    }
    for advice in [musaMemAdviseSetPreferredLocation, musaMemAdviseSetAccessedBy, musaMemAdviseUnsetAccessedBy] {
        fails!(musaMemAdvise(pointer, 64, advice, -2), INVALID_DEVICE, "-2");
    }
    let mut answer = [0; 2];
    let out = answer.as_mut_ptr().cast::<c_void>();
    let read_mostly = musaMemRangeAttributeReadMostly;
    fails!(unsafe { musaMemRangeGetAttribute(null_mut(), 4, read_mostly, pointer, 64) }, INVALID_VALUE, "data");
    fails!(unsafe { musaMemRangeGetAttribute(out, 8, read_mostly, pointer, 64) }, INVALID_VALUE, "dataSize");
    fails!(unsafe { musaMemRangeGetAttribute(out, 4, musaMemRangeAttribute(9), pointer, 64) }, INVALID_VALUE, "9");
    let by = musaMemRangeAttributeAccessedBy;
    fails!(unsafe { musaMemRangeGetAttribute(out, 6, by, pointer, 64) }, INVALID_VALUE, "dataSize");
    fails!(unsafe { musaMemRangeGetAttribute(out, 4, read_mostly, pointer, 4097) }, INVALID_VALUE);
    ok!(musaFree(pointer));
}

#[test]
fn attachments_that_make_no_sense_are_refused() {
    let _guard = guard();
    if !has_managed() {
        return;
    }
    let pointer = managed(4096);
    let there = device_memory!(64);
    let (mine, dead) = (stream(), stream());
    ok!(musaStreamDestroy(dead));
    fails!(musaStreamAttachMemAsync(mine, null_mut(), 0, GLOBAL), INVALID_VALUE, "null");
    fails!(musaStreamAttachMemAsync(mine, there, 0, GLOBAL), INVALID_VALUE, "managed");
    fails!(musaStreamAttachMemAsync(mine, pointer, 64, GLOBAL), INVALID_VALUE, "length");
    fails!(musaStreamAttachMemAsync(mine, pointer.wrapping_byte_add(64), 0, GLOBAL), INVALID_VALUE, "start");
    fails!(musaStreamAttachMemAsync(mine, pointer, 0, GLOBAL | musaMemAttachHost), INVALID_VALUE, "flags");
    fails!(musaStreamAttachMemAsync(mine, pointer, 0, 8), INVALID_VALUE, "flags");
    fails!(musaStreamAttachMemAsync(LEGACY, pointer, 0, musaMemAttachSingle), INVALID_VALUE, "default stream");
    fails!(musaStreamAttachMemAsync(dead, pointer, 0, GLOBAL), INVALID_HANDLE);
    ok!(musaStreamAttachMemAsync(mine, pointer, 4096, musaMemAttachHost));
    ok!(musaStreamAttachMemAsync(LEGACY, pointer, 0, GLOBAL));
    ok!(musaDeviceSynchronize());
    ok!(musaStreamDestroy(mine));
    ok!(musaFree(pointer));
    ok!(musaFree(there));
}

#[test]
fn a_reset_ends_it() {
    let _guard = guard();
    if !has_managed() {
        return;
    }
    let kernels = Kernels::load();
    let pointer = managed(4096);
    kernels.add(pointer, 1, 64, LEGACY);
    drop(kernels);
    ok!(musaDeviceReset());
    fails!(musaFree(pointer), INVALID_VALUE);
    fails!(musaMemPrefetchAsync(pointer, 64, 0, LEGACY), INVALID_VALUE);
}

#[test]
fn threads_that_launch_and_read_side_by_side_find_their_own_values() {
    let _guard = guard();
    if !has_managed() || takes_turns() {
        // Host and device in turn: several threads would have to agree on whose turn it is.
        return;
    }
    let kernels = Kernels::load();
    std::thread::scope(|scope| {
        for thread in 0..4_u32 {
            let kernels = &kernels;
            let function = kernels.1 as usize;
            scope.spawn(move || {
                let _ = function;
                let (pointer, stream) = (managed(4 * 1000), stream());
                for round in 1..=30 {
                    kernels.add(pointer, thread + 1, 1000, stream);
                    ok!(musaStreamSynchronize(stream));
                    assert!(words(pointer, 1000).iter().all(|&word| word == round * (thread + 1)));
                }
                ok!(musaStreamDestroy(stream));
                ok!(musaFree(pointer));
            });
        }
    });
}

// SAFETY: the handles are the runtime's own, which any thread may use.
unsafe impl Sync for Kernels {}

#[test]
fn typed_buffers_share_their_elements_with_kernels() {
    let _guard = guard();
    if !device().has_managed_memory() {
        let error = ManagedBuffer::<u32>::new(device(), 4).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotSupported, "{error}");
        return;
    }
    let stream = device().create_stream().unwrap();
    let module = Module::from_source(device(), SOURCE.to_str().unwrap()).unwrap();
    let add_to = module.kernel("add_to").unwrap();
    let mut buffer = ManagedBuffer::<u32>::new(device(), 640).unwrap();
    assert!(buffer.read().unwrap().iter().all(|&word| word == 0));
    for round in 1..=20 {
        buffer.write().unwrap()[3] += 5;
        buffer.prefetch(&stream, false).unwrap();
        unsafe { launch!(add_to<<<10, 64, 0, &stream>>>(buffer, 2_u32, 640_u32)) }.unwrap();
        let read = buffer.read().unwrap();
        assert_eq!((read[0], read[3], read[639]), (2 * round, 7 * round, 2 * round));
    }
    stream.upload(&[9_u32; 640], &mut buffer).unwrap();
    let mut back = vec![0; 640];
    stream.download(&buffer, &mut back).unwrap();
    assert_eq!((back, buffer.read().unwrap()[0]), (vec![9; 640], 9));
    // Dropped with work under way.
    unsafe { launch!(add_to<<<10, 64, 0, &stream>>>(buffer, 2_u32, 640_u32)) }.unwrap();
    drop(buffer);
    stream.synchronize().unwrap();
    assert_eq!(ManagedBuffer::<u64>::new(device(), 0).unwrap().len(), 0);
}

#[test]
fn a_guard_keeps_launches_away_where_host_and_device_take_turns() {
    let _guard = guard();
    if !device().has_managed_memory() || device().has_concurrent_managed_access() {
        return;
    }
    let stream = device().create_stream().unwrap();
    let module = Module::from_source(device(), SOURCE.to_str().unwrap()).unwrap();
    let add_to = module.kernel("add_to").unwrap();
    let buffer = ManagedBuffer::<u32>::new(device(), 64).unwrap();
    let other = ManagedBuffer::<u32>::new(device(), 64).unwrap();
    let held = buffer.read().unwrap();
    let refused = unsafe { launch!(add_to<<<1, 64, 0, &stream>>>(other, 1_u32, 64_u32)) }.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotPermitted, "{refused}");
    assert!(refused.to_string().contains("guard"), "{refused}");
    drop(held);
    unsafe { launch!(add_to<<<1, 64, 0, &stream>>>(other, 1_u32, 64_u32)) }.unwrap();
    assert_eq!(other.read().unwrap()[0], 1);
}

#[test]
fn a_guard_waits_for_the_work_that_uses_the_buffer() {
    let _guard = guard();
    if !device().has_managed_memory() {
        return;
    }
    let mut buffer = ManagedBuffer::<u32>::new(device(), 64).unwrap();
    let (stream, gate) = gated(device());
    stream.upload(&[4; 64], &mut buffer).unwrap();
    let (asked, told) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        asked.send(()).unwrap();
        buffer.read().unwrap()[63]
    });
    told.recv_timeout(PATIENCE).unwrap();
    gate.open();
    assert_eq!(in_time("the guard", move || reader.join().unwrap()), 4);
}

#[test]
fn making_a_buffer_waits_for_nothing() {
    let _guard = guard();
    if !device().has_managed_memory() {
        return;
    }
    let (stream, gate) = gated(device());
    let buffer = in_time("the allocation", || ManagedBuffer::<u32>::new(device(), 64).unwrap());
    gate.open();
    stream.synchronize().unwrap();
    assert_eq!(*buffer.read().unwrap(), [0; 64]);
}
