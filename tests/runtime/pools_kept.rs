//! What memory pools hold, count and give back (CUDA's `cudaMemPool…` under both dialects' names).

use crate::blocks::Held;
use crate::support::device;
use gridcl::Device;
use gridcl::musa::*;
use gridcl::testing::guard;
use gridcl::tops::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut, without_provenance_mut};

const OPPORTUNISTIC: i32 = 2;
const THRESHOLD: i32 = 4;
const RESERVED: i32 = 5;
const RESERVED_HIGH: i32 = 6;
const USED: i32 = 7;
const USED_HIGH: i32 = 8;

/// The current pool of a device.
macro_rules! pool_of {
    ($device:expr) => {{
        let mut pool = null_mut();
        ok!(unsafe { device_get_mem_pool(&mut pool, $device) });
        pool
    }};
}

macro_rules! told {
    ($pool:expr, $attribute:expr) => {{
        let mut value = 0_u64;
        ok!(unsafe { mem_pool_get_attribute($pool, PoolAttribute($attribute), (&raw mut value).cast()) });
        value
    }};
}

macro_rules! tell {
    ($pool:expr, $attribute:expr, $value:expr) => {{
        let mut value: u64 = $value;
        unsafe { mem_pool_set_attribute($pool, PoolAttribute($attribute), (&raw mut value).cast()) }
    }};
}

macro_rules! ordered {
    ($bytes:expr, $stream:expr) => {{
        let mut pointer = null_mut();
        ok!(unsafe { malloc_async(&mut pointer, $bytes, $stream) });
        pointer
    }};
}

/// How a pool of a device is asked for.
macro_rules! properties {
    ($device:expr) => {
        PoolProps {
            allocType: AllocationType(1),
            location: Location { r#type: LocationType(1), id: $device },
            ..Default::default()
        }
    };
}

both_dialects! {
    fn what_is_used_and_reserved_is_counted() {
        let _guard = guard();
        let (pool, stream) = (pool_of!(0), new_stream!());
        for high in [RESERVED_HIGH, USED_HIGH] {
            ok!(tell!(pool, high, 0));
        }
        assert_eq!([RESERVED, RESERVED_HIGH, USED, USED_HIGH].map(|number| told!(pool, number)), [0; 4]);
        let (first, second) = (ordered!(100_000, stream), ordered!(50_001, stream));
        assert_eq!([told!(pool, USED), told!(pool, USED_HIGH)], [150_001; 2], "what was asked for");
        let reserved = told!(pool, RESERVED);
        assert!((150_001..150_001 + 1024).contains(&reserved), "with its rounding: {reserved}");

        let held = Held::default_stream(device());
        ok!(memset_async(first, 1, 100_000, stream));
        ok!(free_async(first, stream));
        assert_eq!([told!(pool, USED), told!(pool, USED_HIGH)], [50_001, 150_001]);
        assert_eq!(told!(pool, RESERVED), reserved, "its work is not done");
        let again = ordered!(100_000, stream);
        assert_eq!([told!(pool, USED), told!(pool, RESERVED)], [150_001, reserved], "a freed block served");
        ok!(free_async(again, stream));
        held.open();

        ok!(stream_synchronize(stream));
        assert!((50_001..50_001 + 512).contains(&told!(pool, RESERVED)), "the threshold is 0");
        assert_eq!(told!(pool, RESERVED_HIGH), reserved);
        ok!(tell!(pool, RESERVED_HIGH, 0));
        ok!(tell!(pool, USED_HIGH, 0));
        assert_eq!(told!(pool, RESERVED_HIGH), told!(pool, RESERVED));
        assert_eq!(told!(pool, USED_HIGH), 50_001);
        ok!(free(second));
        assert_eq!([told!(pool, USED), told!(pool, RESERVED)], [0, 0], "the plain free gives back at once");

        let plain = device_memory!(1000);
        assert_eq!([told!(pool, USED), told!(pool, RESERVED)], [0, 0], "other memory is none of a pool's");
        ok!(free_async(plain, stream));
        assert_eq!([told!(pool, USED), told!(pool, RESERVED)], [0, 0]);
        ok!(stream_destroy(stream));
    }

    fn every_synchronisation_leaves_the_threshold_in_the_pool() {
        let _guard = guard();
        let (pool, stream, event) = (pool_of!(0), new_stream!(), work::untimed());
        let fill = || {
            let blocks: Vec<_> = (0..10).map(|_| ordered!(100_000, stream)).collect();
            for block in blocks {
                ok!(memset_async(block, 1, 100_000, stream));
                ok!(free_async(block, stream));
            }
            ok!(event_record(*event, stream));
        };
        let synchronisations: [&dyn Fn(); 5] = [
            &|| ok!(stream_synchronize(stream)),
            &|| ok!(device_synchronize()),
            &|| ok!(stream_synchronize(LEGACY)),
            &|| ok!(event_synchronize(*event)),
            &|| {
                let mut memory = null_mut();
                ok!(unsafe { malloc(&mut memory, 10) });
                ok!(free(memory));
            },
        ];
        for (number, synchronize) in synchronisations.into_iter().enumerate() {
            for (threshold, least, most) in
                [(u64::MAX, 1_000_000, 1_010_000), (500_000, 300_000, 500_000), (0, 0, 0), (300, 0, 300)]
            {
                ok!(tell!(pool, THRESHOLD, threshold));
                assert_eq!(told!(pool, THRESHOLD), threshold);
                fill();
                synchronize();
                let reserved = told!(pool, RESERVED);
                assert!((least..=most).contains(&reserved), "{number}, threshold {threshold}: {reserved} reserved");
                assert_eq!(told!(pool, USED), 0);
            }
        }
        ok!(tell!(pool, THRESHOLD, 0));
        ok!(stream_destroy(stream));
    }

    fn kept_memory_serves_any_stream_and_can_be_trimmed() {
        let _guard = guard();
        let (pool, first, second) = (pool_of!(0), new_stream!(), work::aside());
        ok!(tell!(pool, THRESHOLD, u64::MAX));
        let memory = ordered!(400_000, first);
        ok!(memset_async(memory, 1, 400_000, first));
        ok!(free_async(memory, first));
        ok!(stream_synchronize(first));
        let other = device_memory!(400_000);
        assert_ne!(other, memory, "the pool keeps it from the plain call");
        ok!(free(other));
        let again = ordered!(400_000, *second);
        assert_eq!(again, memory);
        let reserved = told!(pool, RESERVED);
        ok!(mem_pool_trim_to(pool, 0));
        assert_eq!(told!(pool, RESERVED), reserved, "what is used stays");
        ok!(free_async(again, *second));
        ok!(mem_pool_trim_to(pool, usize::MAX));
        ok!(mem_pool_trim_to(pool, reserved as usize));
        assert_eq!(told!(pool, RESERVED), reserved, "no more than is asked for is given back");
        ok!(mem_pool_trim_to(pool, 1000));
        assert_eq!(told!(pool, RESERVED), 0);

        let held = Held::default_stream(device());
        let memory = ordered!(400_000, first);
        ok!(memset_async(memory, 1, 400_000, first));
        ok!(free_async(memory, first));
        ok!(mem_pool_trim_to(pool, 0));
        assert_eq!(told!(pool, RESERVED), reserved, "work may still use it");
        held.open();
        ok!(tell!(pool, THRESHOLD, 0));
        ok!(stream_destroy(first));
        ok!(device_synchronize());
        assert_eq!(told!(pool, RESERVED), 0);
    }

    fn a_pool_can_be_told_not_to_reuse_what_just_happens_to_be_done() {
        let _guard = guard();
        let (pool, first, second) = (pool_of!(0), new_stream!(), work::aside());
        let attributes = [1, OPPORTUNISTIC, 3].map(|number| told!(pool, number) as i32);
        assert_eq!(attributes, [1; 3], "all are allowed to begin with");
        for (allowed, same) in [(0, false), (1, true)] {
            ok!(tell!(pool, OPPORTUNISTIC, allowed));
            assert_eq!(told!(pool, OPPORTUNISTIC) as u64, allowed);
            let memory = ordered!(600_000, first);
            ok!(memset_async(memory, 1, 600_000, first));
            ok!(free_async(memory, first));
            // Nobody waits for the stream, but its query tells that it is done.
            work::comes_to_its_end(first);
            let other = ordered!(600_000, *second);
            assert_eq!(other == memory, same);
            if !same {
                let again = ordered!(600_000, first);
                assert_eq!(again, memory, "the stream that freed it is no other");
                ok!(free_async(again, first));
            }
            ok!(free_async(other, *second));
            ok!(device_synchronize());
        }
        ok!(stream_destroy(first));
    }

    fn kept_memory_makes_way_for_who_finds_no_room() {
        let _guard = guard();
        let (pool, stream) = (pool_of!(0), new_stream!());
        ok!(tell!(pool, THRESHOLD, u64::MAX));
        let memory = ordered!(16 << 20, stream);
        ok!(memset_async(memory, 1, 1 << 20, stream));
        ok!(free_async(memory, stream));
        ok!(stream_synchronize(stream));
        assert!(told!(pool, RESERVED) >= 16 << 20);
        let (mut left, mut total, mut large) = (0, 0, null_mut());
        ok!(unsafe { mem_get_info(&mut left, &mut total) });
        // Whether a driver gives that much in one block is its own business.
        let code = unsafe { malloc(&mut large, left + 1) };
        assert!([SUCCESS, OUT_OF_MEMORY].contains(&code), "{code:?}");
        assert_eq!(told!(pool, RESERVED), 0);
        ok!(free(large));
        let _ = get_last_error();
        ok!(tell!(pool, THRESHOLD, 0));
        ok!(stream_destroy(stream));
    }

    fn pools_of_ones_own_are_made_used_and_destroyed() {
        let _guard = guard();
        let (default, stream) = (pool_of!(0), new_stream!());
        assert_eq!(pool_of!(0), default, "one pool, one handle");
        let (mut pool, mut memory) = (null_mut(), null_mut());
        let properties = properties!(0);
        ok!(unsafe { mem_pool_create(&mut pool, &properties) });
        assert_ne!(pool, default);
        ok!(unsafe { malloc_from_pool_async(&mut memory, 5000, pool, stream) });
        assert_eq!([told!(pool, USED), told!(default, USED)], [5000, 0]);
        ok!(memset_async(memory, 4, 5000, stream));
        ok!(mem_pool_destroy(pool));
        let mut value = 0_u64;
        let out: *mut c_void = (&raw mut value).cast();
        fails!(unsafe { mem_pool_get_attribute(pool, PoolAttribute(USED), out) }, INVALID_VALUE, "memPool");
        fails!(mem_pool_destroy(pool), INVALID_VALUE, "memPool");
        fails!(mem_pool_trim_to(pool, 0), INVALID_VALUE, "memPool");
        fails!(unsafe { malloc_from_pool_async(&mut memory, 1, pool, stream) }, INVALID_VALUE, "memPool");
        assert_eq!(downloaded!(memory, 5000), [4; 5000], "what was allocated from it stays");
        ok!(free_async(memory, stream));
        fails!(mem_pool_destroy(default), INVALID_VALUE, "default");
        ok!(stream_destroy(stream));
    }

    fn wrong_pools_attributes_and_properties_are_refused() {
        let _guard = guard();
        let (pool, stream) = (pool_of!(0), new_stream!());
        let (mut value, mut memory, mut made) = (0_u64, null_mut(), null_mut());
        let out: *mut c_void = (&raw mut value).cast();
        for wrong in [null_mut(), without_provenance_mut(77), stream.cast()] {
            fails!(mem_pool_trim_to(wrong, 0), INVALID_VALUE, "memPool");
            fails!(mem_pool_destroy(wrong), INVALID_VALUE, "memPool");
            fails!(unsafe { mem_pool_get_attribute(wrong, PoolAttribute(USED), out) }, INVALID_VALUE, "memPool");
            fails!(unsafe { mem_pool_set_attribute(wrong, PoolAttribute(4), out) }, INVALID_VALUE, "memPool");
            fails!(unsafe { malloc_from_pool_async(&mut memory, 1, wrong, stream) }, INVALID_VALUE, "memPool");
        }
        fails!(unsafe { mem_pool_get_attribute(pool, PoolAttribute(USED), null_mut()) }, INVALID_VALUE, "value");
        fails!(unsafe { mem_pool_set_attribute(pool, PoolAttribute(4), null_mut()) }, INVALID_VALUE, "value");
        for number in [-1, 0, 9, 1000] {
            fails!(unsafe { mem_pool_get_attribute(pool, PoolAttribute(number), out) }, INVALID_VALUE, "attr");
            fails!(unsafe { mem_pool_set_attribute(pool, PoolAttribute(number), out) }, INVALID_VALUE, "attr");
        }
        for number in [RESERVED, USED] {
            fails!(tell!(pool, number, 0), INVALID_VALUE, "asked");
        }
        for number in [RESERVED_HIGH, USED_HIGH] {
            fails!(tell!(pool, number, 1), INVALID_VALUE, "high mark");
        }
        fails!(unsafe { malloc_from_pool_async(null_mut(), 1, pool, stream) }, INVALID_VALUE, "devPtr");
        fails!(unsafe { device_get_mem_pool(null_mut(), 0) }, INVALID_VALUE, "memPool");
        for ordinal in [-1, Device::count() as i32] {
            fails!(unsafe { device_get_mem_pool(&mut made, ordinal) }, INVALID_DEVICE, "device");
        }

        let good = properties!(0);
        fails!(unsafe { mem_pool_create(null_mut(), &good) }, INVALID_VALUE, "memPool");
        fails!(unsafe { mem_pool_create(&mut made, null()) }, INVALID_VALUE, "poolProps");
        let wrong = [
            PoolProps::default(),
            PoolProps { allocType: AllocationType(0), ..good },
            PoolProps { location: Location { r#type: LocationType(0), id: 0 }, ..good },
            properties!(-1),
            properties!(Device::count() as i32),
            PoolProps { handleTypes: AllocationHandleType(8), ..good },
        ];
        for wrong in wrong {
            fails!(unsafe { mem_pool_create(&mut made, &wrong) }, INVALID_VALUE);
        }
        let shared = PoolProps { handleTypes: AllocationHandleType(1), ..good };
        fails!(unsafe { mem_pool_create(&mut made, &shared) }, NOT_SUPPORTED);
        assert!(made.is_null());
        ok!(stream_destroy(stream));
    }

    fn a_reset_ends_pools_and_what_was_freed_in_them() {
        let _guard = guard();
        let (default, stream) = (pool_of!(0), new_stream!());
        ok!(tell!(default, THRESHOLD, 12_345));
        let (mut pool, mut memory) = (null_mut(), null_mut());
        ok!(unsafe { mem_pool_create(&mut pool, &properties!(0)) });
        ok!(unsafe { malloc_from_pool_async(&mut memory, 5000, pool, stream) });
        let freed = ordered!(70_000, stream);
        ok!(memset_async(freed, 1, 70_000, stream));
        ok!(free_async(freed, stream));
        ok!(device_reset());
        fails!(mem_pool_destroy(pool), INVALID_VALUE, "memPool");
        fails!(mem_pool_trim_to(default, 0), INVALID_VALUE, "memPool");
        fails!(free_async(memory, LEGACY), INVALID_VALUE);
        let fresh = pool_of!(0);
        assert_eq!([THRESHOLD, USED, RESERVED, RESERVED_HIGH].map(|number| told!(fresh, number)), [0; 4]);
    }

    fn each_device_has_pools_of_its_own() {
        let _guard = guard();
        if Device::count() < 2 {
            return eprintln!("needs two devices");
        }
        let (here, there) = (pool_of!(0), pool_of!(1));
        assert_ne!(here, there);
        ok!(set_device(1));
        let stream = new_stream!();
        ok!(set_device(0));
        let memory = ordered!(1000, stream);
        assert_eq!([told!(here, USED), told!(there, USED)], [0, 1000], "the stream's device has it");
        ok!(memset_async(memory, 3, 1000, stream));
        ok!(free_async(memory, stream));
        let mut other = null_mut();
        ok!(unsafe { malloc_from_pool_async(&mut other, 2000, here, stream) });
        assert_eq!([told!(here, USED), told!(there, USED)], [2000, 0], "the pool's device has it");
        ok!(memset_async(other, 4, 2000, stream));
        // The copy below is in the order of the first device's default stream.
        ok!(stream_synchronize(stream));
        assert_eq!(downloaded!(other, 2000), [4; 2000]);
        ok!(free_async(other, stream));
        ok!(stream_synchronize(stream));
        ok!(device_synchronize());
        assert_eq!([told!(here, RESERVED), told!(there, RESERVED)], [0, 0]);
        ok!(stream_destroy(stream));
    }
}

#[test]
fn musa_has_a_default_pool_and_chooses_the_current_one() {
    use crate::dialects::musa::*;
    let _guard = guard();
    let (mut default, mut pool) = (null_mut(), null_mut());
    ok!(unsafe { musaDeviceGetDefaultMemPool(&mut default, 0) });
    assert_eq!(default, pool_of!(0));
    ok!(unsafe { mem_pool_create(&mut pool, &properties!(0)) });
    ok!(musaDeviceSetMemPool(0, pool));
    assert_eq!(pool_of!(0), pool);
    let memory = ordered!(1000, LEGACY);
    assert_eq!([told!(pool, USED), told!(default, USED)], [1000, 0]);
    ok!(mem_pool_destroy(pool));
    assert_eq!(pool_of!(0), default, "the device goes back to its default pool");
    ok!(free_async(memory, LEGACY));
    fails!(musaDeviceSetMemPool(0, pool), INVALID_VALUE, "memPool");
    fails!(musaDeviceSetMemPool(-1, default), INVALID_DEVICE, "device");
    fails!(unsafe { musaDeviceGetDefaultMemPool(null_mut(), 0) }, INVALID_VALUE, "memPool");
    fails!(unsafe { musaDeviceGetDefaultMemPool(&mut pool, 99) }, INVALID_DEVICE, "device");
    if Device::count() > 1 {
        fails!(musaDeviceSetMemPool(1, default), INVALID_VALUE, "device");
    }
    let mut supported = 0;
    ok!(unsafe { musaDeviceGetAttribute(&mut supported, musaDevAttrMemoryPoolsSupported, 0) });
    assert_eq!(supported, 1);
}

#[test]
fn tops_takes_flags_and_a_bank_with_an_allocation() {
    use crate::dialects::tops::*;
    let _guard = guard();
    let mut memory = null_mut();
    for flags in [0, 1, 2, 4, 8, 0x10, 0x20, 0x3f, 7 << 56, 7 << 56 | 4] {
        ok!(unsafe { topsMallocAsync(&mut memory, 10, LEGACY, flags) });
        ok!(free_async(memory, LEGACY));
    }
    for flags in [0x40, 0x80, 1 << 32, 1 << 55, u64::MAX] {
        fails!(unsafe { topsMallocAsync(&mut memory, 10, LEGACY, flags) }, INVALID_VALUE, "flags");
    }
}

#[test]
fn tops_tells_who_is_at_a_pools_memory_and_shares_none() {
    use crate::dialects::tops::*;
    let _guard = guard();
    let pool = pool_of!(0);
    let location = |id| topsMemLocation { r#type: topsMemLocationTypeDevice, id };
    let (mut here, mut access) = (location(0), topsMemAccessFlags(77));
    ok!(unsafe { topsMemPoolGetAccess(&mut access, pool, &mut here) });
    assert_eq!(access, topsMemAccessFlagsProtReadWrite);
    let set = |location, flags| {
        let desc = topsMemAccessDesc { location, flags };
        unsafe { topsMemPoolSetAccess(pool, &desc, 1) }
    };
    ok!(set(here, topsMemAccessFlagsProtReadWrite));
    fails!(set(here, topsMemAccessFlagsProtNone), INVALID_VALUE, "own device");
    fails!(set(here, topsMemAccessFlags(2)), INVALID_VALUE, "flags");
    fails!(set(location(-1), topsMemAccessFlagsProtReadWrite), INVALID_VALUE, "device");
    let nowhere = topsMemLocation { r#type: topsMemLocationTypeInvalid, id: 0 };
    fails!(set(nowhere, topsMemAccessFlagsProtReadWrite), INVALID_VALUE, "location");
    fails!(unsafe { topsMemPoolSetAccess(pool, null(), 1) }, INVALID_VALUE, "desc_list");
    fails!(unsafe { topsMemPoolGetAccess(null_mut(), pool, &mut here) }, INVALID_VALUE, "flags");
    fails!(unsafe { topsMemPoolGetAccess(&mut access, pool, null_mut()) }, INVALID_VALUE, "location");
    fails!(unsafe { topsMemPoolGetAccess(&mut access, null_mut(), &mut here) }, INVALID_VALUE, "memPool");
    if Device::count() > 1 {
        ok!(unsafe { topsMemPoolGetAccess(&mut access, pool, &mut location(1)) });
        assert_eq!(access, topsMemAccessFlagsProtNone);
        ok!(set(location(1), topsMemAccessFlagsProtNone));
        fails!(set(location(1), topsMemAccessFlagsProtReadWrite), topsErrorPeerAccessUnsupported);
    }

    let (mut memory, mut descriptor, mut made) = (ordered!(10, LEGACY), 0_i32, null_mut());
    let (handle, kind) = ((&raw mut descriptor).cast::<c_void>(), topsMemHandleTypePosixFileDescriptor);
    let mut data = topsMemPoolPtrExportData::default();
    fails!(topsMemPoolExportToShareableHandle(handle, pool, kind, 0), NOT_SUPPORTED);
    fails!(topsMemPoolExportToShareableHandle(null_mut(), pool, kind, 0), INVALID_VALUE);
    fails!(topsMemPoolExportToShareableHandle(handle, pool, kind, 1), INVALID_VALUE, "flags");
    fails!(topsMemPoolImportFromShareableHandle(&mut made, handle, kind, 0), NOT_SUPPORTED);
    fails!(topsMemPoolImportFromShareableHandle(null_mut(), handle, kind, 0), INVALID_VALUE);
    fails!(topsMemPoolExportPointer(&mut data, memory), NOT_SUPPORTED);
    fails!(topsMemPoolExportPointer(&mut data, null_mut()), INVALID_VALUE);
    fails!(topsMemPoolImportPointer(&mut memory, pool, &mut data), NOT_SUPPORTED);
    fails!(topsMemPoolImportPointer(&mut memory, null_mut(), &mut data), INVALID_VALUE, "memPool");
    ok!(free_async(memory, LEGACY));
}
