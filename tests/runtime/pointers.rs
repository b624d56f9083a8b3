//! What a pointer can be asked (MUSA "pointer queries"; behaviour.md 1.6 and 3.7).

use gridcl::Device;
use gridcl::musa::*;
use gridcl::testing::guard;
use gridcl::tops::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut, without_provenance_mut};

const HOST: i32 = 1;
const DEVICE: i32 = 2;

/// One attribute of a pointer as a number, and the code.
macro_rules! told {
    ($attribute:expr, $pointer:expr) => {{
        let mut value = 0_u64;
        let code = unsafe { pointer_get_attribute((&raw mut value).cast(), PointerAttribute($attribute), $pointer) };
        (code, value)
    }};
}

both_dialects! {
    fn device_memory_is_told_from_any_address_within() {
        let _guard = guard();
        let memory = device_memory!(1000);
        for at in [0, 1, 500, 999] {
            let pointer = memory.wrapping_byte_add(at);
            assert_eq!(pointer_attributes(pointer), (SUCCESS, [DEVICE, 0], [pointer.addr(), 0]), "{at} bytes in");
            assert_eq!(told!(2, pointer), (SUCCESS, DEVICE as u64));
            assert_eq!(told!(3, pointer), (SUCCESS, pointer.addr() as u64));
            assert_eq!(told!(8, pointer), (SUCCESS, 0), "it is not managed");
            assert_eq!(told!(9, pointer), (SUCCESS, 0), "device 0");
            assert_eq!(told!(11, pointer), (SUCCESS, memory.addr() as u64));
            assert_eq!(told!(12, pointer), (SUCCESS, 1000), "what was asked for");
            fails!(told!(4, pointer).0, INVALID_VALUE, "attribute");
        }
        ok!(free(memory));
    }

    fn pinned_and_registered_memory_is_the_hosts() {
        let _guard = guard();
        let pinned = pinned_memory!(1000);
        let mut own = vec![0_u8; 1000];
        let registered: *mut c_void = own.as_mut_ptr().cast();
        ok!(unsafe { host_register(registered, 1000, 0) });
        for base in [pinned, registered] {
            for pointer in [base, base.wrapping_byte_add(999)] {
                let (code, [memory_type, device], [kernels, host]) = pointer_attributes(pointer);
                assert_eq!((code, memory_type, device, host), (SUCCESS, HOST, 0, pointer.addr()));
                assert!(kernels == pointer.addr() || kernels == 0, "its own address, where kernels reach it");
                assert_eq!(told!(2, pointer), (SUCCESS, HOST as u64));
                assert_eq!(told!(4, pointer), (SUCCESS, pointer.addr() as u64));
                assert_eq!(told!(11, pointer), (SUCCESS, base.addr() as u64));
                assert_eq!(told!(12, pointer), (SUCCESS, 1000));
                let (code, address) = told!(3, pointer);
                assert!((code, address) == (SUCCESS, kernels as u64) || (code, kernels) == (INVALID_VALUE, 0));
            }
        }
        ok!(host_unregister(registered));
        ok!(host_free(pinned));
    }

    fn a_symbols_storage_is_device_memory() {
        let _guard = guard();
        let source = c"__constant__ int table[3]; __kernel void all(__global int *to) { to[0] = table[0]; }";
        let (mut module, mut symbol) = (null_mut(), null_mut());
        ok!(unsafe { module_load_data(&mut module, source.as_ptr().cast()) });
        ok!(unsafe { module_get_global(&mut symbol, null_mut(), module, c"table".as_ptr()) });
        assert_eq!(pointer_attributes(symbol), (SUCCESS, [DEVICE, 0], [symbol.addr(), 0]));
        assert_eq!(told!(12, symbol), (SUCCESS, 12));
        ok!(module_unload(module));
    }

    fn freed_memory_is_no_longer_known() {
        let _guard = guard();
        let (memory, pinned) = (device_memory!(1000), pinned_memory!(1000));
        ok!(free(memory));
        ok!(host_free(pinned));
        for attribute in [2, 3, 4, 8, 9, 11, 12] {
            fails!(told!(attribute, memory).0, INVALID_VALUE, "freed");
        }
        for attribute in [3, 4, 8, 9, 11, 12] {
            fails!(told!(attribute, pinned).0, INVALID_VALUE);
        }
    }

    fn ordinary_memory_has_no_device_and_no_bounds() {
        let _guard = guard();
        let mut own = 0_u64;
        for attribute in [3, 4, 8, 9, 11, 12] {
            fails!(told!(attribute, (&raw mut own).cast()).0, INVALID_VALUE, "neither allocated nor registered");
            fails!(told!(attribute, without_provenance_mut(8)).0, INVALID_VALUE);
            fails!(told!(attribute, null_mut()).0, INVALID_VALUE, "null");
        }
    }

    fn null_results_and_unsupported_attributes_are_refused() {
        let _guard = guard();
        let memory = device_memory!(10);
        fails!(unsafe { pointer_get_attribute(null_mut(), PointerAttribute(2), memory) }, INVALID_VALUE, "data");
        for attribute in [1, 5, 10, 14, 15, 17] {
            fails!(told!(attribute, memory).0, NOT_SUPPORTED, "attribute");
        }
        fails!(told!(2, null_mut()).0, INVALID_VALUE, "null");
        ok!(free(memory));
    }

    fn the_owner_is_told_whatever_device_is_current() {
        let _guard = guard();
        if Device::count() < 2 {
            return eprintln!("needs two devices");
        }
        ok!(set_device(1));
        let memory = device_memory!(10);
        ok!(set_device(0));
        assert_eq!(pointer_attributes(memory), (SUCCESS, [DEVICE, 1], [memory.addr(), 0]));
        assert_eq!(told!(9, memory), (SUCCESS, 1));
        ok!(free(memory));
    }
}

const UNREGISTERED: (musaError_t, [i32; 2], [usize; 2]) = (musaSuccess, [0, musaInvalidDeviceId], [0, 0]);

/// The other names that MUSA has for two of the attributes.
fn type_and_device(pointer: *const c_void) -> (i32, i32) {
    let (mut memory_type, mut device) = (musaMemoryType(77), 77);
    assert_eq!(unsafe { musaPointerGetMemoryType(&mut memory_type, pointer) }, musaSuccess);
    assert_eq!(unsafe { musaPointerGetDevice(&mut device, pointer) }, musaSuccess);
    (memory_type.0, device)
}

#[test]
fn musa_calls_unknown_memory_unregistered() {
    use crate::dialects::musa::*;
    let _guard = guard();
    let memory = device_memory!(1000);
    let own = 0_u64;
    let unknown: [*const c_void; 4] =
        [(&raw const own).cast(), without_provenance_mut(8), null(), memory.wrapping_byte_add(1000).cast_const()];
    for pointer in unknown {
        assert_eq!(pointer_attributes(pointer), UNREGISTERED);
        assert_eq!(type_and_device(pointer), (0, musaInvalidDeviceId));
    }
    assert_eq!(type_and_device(memory), (DEVICE, 0));
    assert_eq!(told!(2, (&raw const own).cast()), (SUCCESS, 0), "the one attribute that any memory has");
    ok!(free(memory));
    assert_eq!(pointer_attributes(memory), UNREGISTERED);

    let pinned = pinned_memory!(10);
    assert_eq!(type_and_device(pinned), (HOST, 0));
    ok!(host_free(pinned));
    fails!(unsafe { musaPointerGetAttributes(null_mut(), memory) }, INVALID_VALUE, "attributes");
    fails!(unsafe { musaPointerGetMemoryType(null_mut(), memory) }, INVALID_VALUE, "memoryType");
    fails!(unsafe { musaPointerGetDevice(null_mut(), memory) }, INVALID_VALUE, "device");
    for attribute in [-1, 0, 6, 7, 13, 16, 18, 19, i32::MAX] {
        fails!(told!(attribute, pinned).0, NOT_SUPPORTED);
    }
}

#[test]
fn managed_memory_is_told_in_both_dialects() {
    use crate::dialects::musa::*;
    let _guard = guard();
    let mut memory = null_mut();
    if unsafe { musaMallocManaged(&mut memory, 1000, musaMemAttachGlobal) } == musaErrorNotSupported {
        let _ = get_last_error();
        return eprintln!("needs managed memory");
    }
    let inner = memory.wrapping_byte_add(999);
    assert_eq!(pointer_attributes(inner), (SUCCESS, [3, 0], [inner.addr(), inner.addr()]));
    assert_eq!(type_and_device(inner), (3, 0));
    assert_eq!((told!(2, inner), told!(8, inner)), ((SUCCESS, 3), (SUCCESS, 1)));
    assert_eq!((told!(4, inner), told!(12, inner)), ((SUCCESS, inner.addr() as u64), (SUCCESS, 1000)));
    let mut all = topsPointerAttribute_t::default();
    assert_eq!(unsafe { topsPointerGetAttributes(&mut all, inner) }, topsSuccess);
    assert_eq!((all.memoryType, all.isManaged, all.host_pointer), (topsMemoryTypeDevice, 1, inner));
    fails!(musaFreeAsync(memory, LEGACY), INVALID_VALUE, "managed");
    ok!(free(memory));
    assert_eq!(pointer_attributes(memory), UNREGISTERED);
}

#[test]
fn tops_refuses_unknown_memory() {
    use crate::dialects::tops::*;
    let _guard = guard();
    let memory = device_memory!(1000);
    let mut own = 0_u64;
    let mut unknown: Vec<*mut c_void> =
        vec![(&raw mut own).cast(), without_provenance_mut(8), null_mut(), memory.wrapping_byte_add(1000)];
    let (mut base, mut size) = (null_mut(), 77);
    for freed in [false, true] {
        for &pointer in &unknown {
            fails!(pointer_attributes(pointer).0, INVALID_VALUE, "ptr");
            fails!(told!(2, pointer).0, INVALID_VALUE, "ptr");
            fails!(unsafe { topsMemPtrGetInfo(pointer, &mut size) }, INVALID_VALUE, "ptr");
            fails!(unsafe { topsMemGetAddressRange(&mut base, &mut size, pointer) }, INVALID_DEVICE_POINTER, "ptr");
        }
        if !freed {
            ok!(free(memory));
            unknown = vec![memory];
        }
    }
    assert_eq!((base, size), (null_mut(), 77), "nothing was written");
    fails!(unsafe { topsPointerGetAttributes(null_mut(), memory) }, INVALID_VALUE, "attributes");
    for attribute in [-1, 0, 19, i32::MAX] {
        fails!(told!(attribute, memory).0, INVALID_VALUE, "attribute");
    }
}

#[test]
fn tops_tells_bounds_and_sizes() {
    use crate::dialects::tops::*;
    let _guard = guard();
    let (mut base, mut size) = (null_mut(), 77);
    let mut empty = null_mut();
    ok!(unsafe { malloc(&mut empty, 0) });
    let memory = device_memory!(1001);
    for pointer in [memory, memory.wrapping_byte_add(1000)] {
        ok!(unsafe { topsMemGetAddressRange(&mut base, &mut size, pointer) });
        assert_eq!((base, size), (memory, 1001));
        size = 77;
        ok!(unsafe { topsMemPtrGetInfo(pointer, &mut size) });
        assert_eq!(size, 1001);
    }
    (base, size) = (null_mut(), 77);
    ok!(unsafe { topsMemGetAddressRange(&mut base, null_mut(), memory) });
    ok!(unsafe { topsMemGetAddressRange(null_mut(), &mut size, memory) });
    assert_eq!((base, size), (memory, 1001));
    ok!(unsafe { topsMemPtrGetInfo(empty, &mut size) });
    assert_eq!(size, 0);
    fails!(unsafe { topsMemPtrGetInfo(memory, null_mut()) }, INVALID_VALUE, "size");
    ok!(free(memory));
    ok!(free(empty));
}

#[test]
fn tops_tells_more_attributes_and_a_number_of_each_allocation() {
    use crate::dialects::tops::*;
    let _guard = guard();
    let memory = device_memory!(100);
    assert_eq!(told!(6, memory), (SUCCESS, 0), "copies are not all synchronous");
    assert_eq!(told!(13, memory), (SUCCESS, 1), "memory is behind it");
    assert_eq!(told!(16, memory), (SUCCESS, topsMemAccessFlagsProtReadWrite.0 as u64));
    assert_eq!(told!(18, memory), (SUCCESS, 0));
    let (code, first) = told!(7, memory);
    assert_eq!((code, told!(7, memory.wrapping_byte_add(9)).1), (SUCCESS, first));
    ok!(free(memory));
    let again = device_memory!(100);
    assert_eq!(again, memory, "the same address, which the number tells apart");
    assert_ne!(told!(7, again).1, first);
    ok!(free(again));
}

#[test]
fn tops_tells_several_attributes_at_once_or_none() {
    use crate::dialects::tops::*;
    let _guard = guard();
    let memory = device_memory!(100);
    let mut asked = [
        TOPS_POINTER_ATTRIBUTE_MEMORY_TYPE,
        TOPS_POINTER_ATTRIBUTE_RANGE_SIZE,
        TOPS_POINTER_ATTRIBUTE_HOST_POINTER,
        TOPS_POINTER_ATTRIBUTE_RANGE_START_ADDR,
    ];
    let mut values = [77_u64; 4];
    let mut outs: [*mut c_void; 4] = values.each_mut().map(|value| (value as *mut u64).cast());
    let get = |count, asked: &mut [topsPointer_attribute; 4], outs: &mut [*mut c_void; 4], pointer| unsafe {
        topsDrvPointerGetAttributes(count, asked.as_mut_ptr(), outs.as_mut_ptr(), pointer)
    };
    let mut wrong = asked;
    wrong[3] = TOPS_POINTER_ATTRIBUTE_CONTEXT;
    fails!(get(4, &mut wrong, &mut outs, memory), NOT_SUPPORTED);
    wrong[3] = topsPointer_attribute(99);
    fails!(get(4, &mut wrong, &mut outs, memory), INVALID_VALUE);
    fails!(get(0, &mut asked, &mut outs, memory), INVALID_VALUE, "numAttributes");
    fails!(get(4, &mut asked, &mut outs, null_mut()), INVALID_VALUE);
    let last = std::mem::replace(&mut outs[3], null_mut());
    fails!(get(4, &mut asked, &mut outs, memory), INVALID_VALUE, "data");
    outs[3] = last;
    let out: *mut *mut c_void = outs.as_mut_ptr();
    fails!(unsafe { topsDrvPointerGetAttributes(4, null_mut(), out, memory) }, INVALID_VALUE, "attributes");
    fails!(unsafe { topsDrvPointerGetAttributes(4, asked.as_mut_ptr(), null_mut(), memory) }, INVALID_VALUE, "data");
    assert_eq!(values, [77; 4], "nothing was written so far");
    ok!(get(4, &mut asked, &mut outs, memory));
    // The type is an int in the lower half of a word.
    assert_eq!(values[0] as u32, DEVICE as u32);
    assert_eq!(values[1..], [100, 0, memory.addr() as u64]);
    ok!(free(memory));
}
