//! What devices say of themselves (MUSA "devices", TOPS "device management"; behaviour.md 3.1): count, properties,
//! attributes, names, addresses, memory, flags, limits and versions. Which device a call means, and what a reset
//! ends, is in `current_device`; what happens where there is no device, in `process`.

use crate::child;
use gridcl::Device;
use gridcl::testing::guard;
use std::collections::HashSet;
use std::ffi::{CStr, c_char, c_int, c_uint};
use std::ptr::{null, null_mut};

/// Ordinals that no device has.
fn strangers() -> [c_int; 4] {
    [-1, Device::count().try_into().unwrap(), c_int::MIN, c_int::MAX]
}

/// Every device, by its ordinal in C.
fn ordinals() -> impl Iterator<Item = (c_int, Device)> {
    (0..).zip(Device::all())
}

/// What a buffer holds before a call that must not write to it.
const UNTOUCHED: c_char = 0x55;

fn until_nul(text: &[c_char]) -> &str {
    assert!(text.contains(&0), "the text ends");
    unsafe { CStr::from_ptr(text.as_ptr()) }.to_str().unwrap()
}

/// Whether a text is `dddd:bb:dd.f` in lower-case hex.
fn is_pci_address(text: &str) -> bool {
    text.len() == 12
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b':',
            10 => byte == b'.',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

/// As `both_dialects`, with the device calls and types of both under names without a prefix as well.
macro_rules! both {
    ($($tests:tt)*) => {
        mod musa { device_names!(musa, musaDeviceAttr, musaLimit, musaDevAttrClockRate); $($tests)* }
        mod tops { device_names!(tops, topsDeviceAttribute_t, topsLimit_t, topsDeviceAttributeClockRate); $($tests)* }
    };
}

macro_rules! device_names {
    ($prefix:ident, $attribute:ident, $limit:ident, $clock:ident) => {
        use super::*;
        use crate::dialects::$prefix::*;
        pastey::paste! {
            use gridcl::$prefix::{
                [<$prefix ChooseDevice>] as choose_device,
                [<$prefix DeviceGetAttribute>] as device_get_attribute,
                [<$prefix DeviceGetByPCIBusId>] as device_get_by_pci_bus_id,
                [<$prefix DeviceGetLimit>] as device_get_limit,
                [<$prefix DeviceGetName>] as device_get_name,
                [<$prefix DeviceGetPCIBusId>] as device_get_pci_bus_id,
                [<$prefix DeviceLmemResizeToMax>] as LMEM_RESIZE_TO_MAX,
                [<$prefix DeviceMapHost>] as MAP_HOST,
                [<$prefix DeviceProp_t>] as Prop,
                [<$prefix DeviceTotalMem>] as device_total_mem,
                [<$prefix DriverGetVersion>] as driver_get_version,
                [<$prefix ErrorUnsupportedLimit>] as UNSUPPORTED_LIMIT,
                [<$prefix GetDeviceFlags>] as get_device_flags,
                [<$prefix LimitMallocHeapSize>] as MALLOC_HEAP_SIZE,
                [<$prefix RuntimeGetVersion>] as runtime_get_version,
                $attribute as Attribute, $clock as CLOCK_RATE, $limit as Limit,
            };
        }

        fn properties(ordinal: c_int) -> Prop {
            let mut prop = Prop::default();
            ok!(unsafe { get_device_properties(&mut prop, ordinal) });
            prop
        }

        fn flags() -> c_uint {
            let mut flags = c_uint::MAX;
            ok!(unsafe { get_device_flags(&mut flags) });
            flags
        }
    };
}

both! {
    #[test]
    fn the_count_is_that_of_the_devices() {
        let _guard = guard();
        let mut count = -1;
        ok!(unsafe { get_device_count(&mut count) });
        assert_eq!(usize::try_from(count), Ok(Device::count()));
        assert!(count >= 1);
        fails!(unsafe { get_device_count(null_mut()) }, INVALID_VALUE, "GetDeviceCount: ", "count = null");
    }

    #[test]
    fn an_ordinal_that_no_device_has_cannot_be_set() {
        let _guard = guard();
        let last = Device::count() - 1;
        ok!(set_device(last.try_into().unwrap()));
        for stranger in strangers() {
            let words = [format!("device = {stranger}: "), format!("there are {} devices", last + 1)];
            fails!(set_device(stranger), INVALID_DEVICE, "SetDevice: ", &words[0], &words[1]);
            let mut current = -1;
            ok!(unsafe { get_device(&mut current) });
            assert_eq!(usize::try_from(current), Ok(last), "the current device stays");
        }
        ok!(set_device(0));
        fails!(unsafe { get_device(null_mut()) }, INVALID_VALUE, "GetDevice: ", "device = null");
    }

    #[test]
    fn properties_say_what_the_device_says() {
        let _guard = guard();
        for (ordinal, device) in ordinals() {
            let prop = properties(ordinal);
            assert_eq!(until_nul(&prop.name), device.name());
            assert_eq!(prop.totalGlobalMem as u64, device.total_memory());
            assert_eq!(prop.sharedMemPerBlock as u64, device.shared_memory_per_block());
            assert_eq!(usize::try_from(prop.maxThreadsPerBlock), Ok(device.max_block_size()));
            assert_eq!(prop.maxThreadsDim.map(|n| n as usize), device.max_block_dim());
            assert_eq!(u32::try_from(prop.multiProcessorCount), Ok(device.compute_units()));
            assert!(prop.maxGridSize.iter().all(|&blocks| blocks > 0));
            assert!(prop.major >= 1 && prop.minor >= 0 && prop.clockRate >= 0);
        }
    }

    #[test]
    fn properties_are_written_for_a_device_that_is_there_alone() {
        let _guard = guard();
        let mut prop = Prop { multiProcessorCount: -7, ..Prop::default() };
        for stranger in strangers() {
            let words = format!("device = {stranger}: ");
            fails!(unsafe { get_device_properties(&mut prop, stranger) }, INVALID_DEVICE, &words);
            assert_eq!(prop.multiProcessorCount, -7);
        }
        let call = "GetDeviceProperties: ";
        fails!(unsafe { get_device_properties(null_mut(), 0) }, INVALID_VALUE, call, "prop = null");
        ok!(unsafe { get_device_properties(&mut prop, 0) });
        assert!(prop.multiProcessorCount > 0);
    }

    #[test]
    fn an_attribute_is_answered_for_a_device_that_is_there_alone() {
        let _guard = guard();
        let mut value = -7;
        for stranger in strangers() {
            let words = format!("device = {stranger}: ");
            fails!(unsafe { device_get_attribute(&mut value, CLOCK_RATE, stranger) }, INVALID_DEVICE, &words);
        }
        for number in [-1, 9_999, c_int::MAX, c_int::MIN] {
            let words = format!("attr = {number}: ");
            fails!(
                unsafe { device_get_attribute(&mut value, Attribute(number), 0) },
                INVALID_VALUE, "DeviceGetAttribute: ", &words,
            );
        }
        fails!(unsafe { device_get_attribute(null_mut(), CLOCK_RATE, 0) }, INVALID_VALUE, " = null: ");
        assert_eq!(value, -7, "nothing was written");
        ok!(unsafe { device_get_attribute(&mut value, CLOCK_RATE, 0) });
        assert_eq!(value, properties(0).clockRate);
    }

    #[test]
    fn a_name_is_cut_to_the_buffer_and_ended() {
        let _guard = guard();
        for (ordinal, device) in ordinals() {
            let name = device.name();
            let mut buffer = [UNTOUCHED; 256];
            ok!(unsafe { device_get_name(buffer.as_mut_ptr(), 256, ordinal) });
            assert_eq!(until_nul(&buffer), name);
            assert!(buffer[name.len() + 1..].iter().all(|&byte| byte == UNTOUCHED), "nothing behind the end");

            let mut buffer = [UNTOUCHED; 8];
            ok!(unsafe { device_get_name(buffer.as_mut_ptr(), 4, ordinal) });
            assert_eq!(until_nul(&buffer), &name[..3]);
            assert_eq!(buffer[4..], [UNTOUCHED; 4], "nothing behind the buffer");
            ok!(unsafe { device_get_name(buffer.as_mut_ptr(), 1, ordinal) });
            assert_eq!(until_nul(&buffer), "");
        }
    }

    #[test]
    fn a_name_needs_a_buffer_and_a_device() {
        let _guard = guard();
        let mut buffer = [UNTOUCHED; 256];
        let call = "DeviceGetName: ";
        fails!(unsafe { device_get_name(null_mut(), 256, 0) }, INVALID_VALUE, call, "name = null");
        for len in [0, -1, c_int::MIN] {
            let words = format!("len = {len}: ");
            fails!(unsafe { device_get_name(buffer.as_mut_ptr(), len, 0) }, INVALID_VALUE, call, &words);
        }
        for stranger in strangers() {
            let words = format!("device = {stranger}: ");
            fails!(unsafe { device_get_name(buffer.as_mut_ptr(), 256, stranger) }, INVALID_DEVICE, call, &words);
        }
        assert_eq!(buffer, [UNTOUCHED; 256], "nothing was written");
    }

    #[test]
    fn a_pci_address_has_twelve_lower_case_characters() {
        let _guard = guard();
        let mut seen = HashSet::new();
        for (ordinal, device) in ordinals() {
            // The seed's program has 16 bytes, and 13 are enough.
            for len in [16, 13] {
                let mut buffer = [UNTOUCHED; 20];
                ok!(unsafe { device_get_pci_bus_id(buffer.as_mut_ptr(), len, ordinal) });
                let address = until_nul(&buffer);
                assert!(is_pci_address(address), "{address}");
                assert_eq!(address, device.pci_bus_id());
                assert_eq!(buffer[13..], [UNTOUCHED; 7], "nothing behind the end");
            }
            let prop = properties(ordinal);
            let place = format!("{:04x}:{:02x}:{:02x}.", prop.pciDomainID, prop.pciBusID, prop.pciDeviceID);
            assert!(device.pci_bus_id().starts_with(&place), "{place}");
            assert!(seen.insert(device.pci_bus_id()), "no two devices are in one place");
        }
    }

    #[test]
    fn a_pci_address_needs_room_and_a_device() {
        let _guard = guard();
        let mut buffer = [UNTOUCHED; 16];
        let call = "DeviceGetPCIBusId: ";
        fails!(unsafe { device_get_pci_bus_id(null_mut(), 16, 0) }, INVALID_VALUE, call, "pciBusId = null");
        for len in [12, 1, 0, -1, c_int::MIN] {
            let words = format!("len = {len}: ");
            let pointer = buffer.as_mut_ptr();
            fails!(unsafe { device_get_pci_bus_id(pointer, len, 0) }, INVALID_VALUE, call, &words, "needs 13 bytes");
        }
        for stranger in strangers() {
            let words = format!("device = {stranger}: ");
            fails!(unsafe { device_get_pci_bus_id(buffer.as_mut_ptr(), 16, stranger) }, INVALID_DEVICE, call, &words);
        }
        assert_eq!(buffer, [UNTOUCHED; 16], "nothing was written");
    }

    #[test]
    fn a_device_is_found_at_its_pci_address() {
        let _guard = guard();
        for (ordinal, device) in ordinals() {
            let address = device.pci_bus_id();
            let mut spellings = vec![format!("{address}\0"), format!("{}\0", address.to_uppercase())];
            spellings.extend(address.strip_prefix("0000:").map(|rest| format!("{rest}\0")));
            for spelling in spellings {
                let mut found = -7;
                ok!(unsafe { device_get_by_pci_bus_id(&mut found, spelling.as_ptr().cast()) });
                assert_eq!(found, ordinal, "{spelling}");
            }
        }
        let mut found = -7;
        let call = "DeviceGetByPCIBusId: ";
        for nowhere in [c"fffe:ff:1f.7", c"nonsense", c"0"] {
            let words = format!("pciBusId = \"{}\": ", nowhere.to_str().unwrap());
            fails!(
                unsafe { device_get_by_pci_bus_id(&mut found, nowhere.as_ptr()) },
                INVALID_DEVICE, call, &words, "0000:3b:00.0",
            );
        }
        fails!(unsafe { device_get_by_pci_bus_id(&mut found, c"".as_ptr()) }, INVALID_VALUE, call, "empty");
        fails!(unsafe { device_get_by_pci_bus_id(&mut found, null()) }, INVALID_VALUE, call, "pciBusId = null");
        assert_eq!(found, -7, "nothing was written");
        fails!(
            unsafe { device_get_by_pci_bus_id(null_mut(), c"0000:00:00.0".as_ptr()) },
            INVALID_VALUE, call, "device = null",
        );
    }

    #[test]
    fn total_memory_is_that_of_the_properties() {
        let _guard = guard();
        let mut bytes = 7;
        for stranger in strangers() {
            fails!(unsafe { device_total_mem(&mut bytes, stranger) }, INVALID_DEVICE, "DeviceTotalMem: ");
        }
        assert_eq!(bytes, 7, "nothing was written");
        fails!(unsafe { device_total_mem(null_mut(), 0) }, INVALID_VALUE, "bytes = null");
        for (ordinal, _) in ordinals() {
            ok!(unsafe { device_total_mem(&mut bytes, ordinal) });
            assert_eq!(bytes, properties(ordinal).totalGlobalMem);
        }
    }

    #[test]
    fn an_allocation_makes_the_free_memory_less_and_leaves_the_total() {
        let _guard = guard();
        let info = || {
            let (mut free, mut total) = (0, 0);
            ok!(unsafe { mem_get_info(&mut free, &mut total) });
            (free, total)
        };
        let (before, total) = info();
        assert!(0 < before && before <= total);
        assert_eq!(total, properties(0).totalGlobalMem);
        let mut memory = null_mut();
        ok!(unsafe { malloc(&mut memory, 8 << 20) });
        let (during, same) = info();
        assert!(during < before, "{during} of {before}");
        assert_eq!(same, total);
        ok!(free(memory));
        assert!(info().0 > during);
    }

    #[test]
    fn memory_info_needs_both_variables() {
        let _guard = guard();
        let (mut free, mut total) = (7, 7);
        fails!(unsafe { mem_get_info(null_mut(), &mut total) }, INVALID_VALUE, "MemGetInfo: ", "free = null");
        fails!(unsafe { mem_get_info(&mut free, null_mut()) }, INVALID_VALUE, "MemGetInfo: ", "total = null");
        assert_eq!((free, total), (7, 7), "nothing was written");
    }

    #[test]
    fn flags_come_back_as_they_were_given_until_the_device_is_reset() {
        let _guard = guard();
        assert_eq!(flags(), 0);
        let ways = [SCHEDULE_SPIN, SCHEDULE_YIELD, SCHEDULE_BLOCKING_SYNC, MAP_HOST, LMEM_RESIZE_TO_MAX, 0];
        for given in ways.into_iter().chain([SCHEDULE_SPIN | MAP_HOST]) {
            ok!(set_device_flags(given));
            assert_eq!(flags(), given);
        }
        ok!(device_reset());
        assert_eq!(flags(), 0);
        ok!(device_synchronize());
    }

    #[test]
    fn flags_that_are_none_or_exclude_each_other_are_refused() {
        let _guard = guard();
        ok!(set_device_flags(MAP_HOST));
        for (given, unknown) in [(0x20, "0x20"), (0x8000_0000, "0x80000000"), (c_uint::MAX, "0xffffffe0")] {
            let words = [format!("flags = {given:#x}: "), format!("bits {unknown} are not flags")];
            fails!(set_device_flags(given), INVALID_VALUE, "SetDeviceFlags: ", &words[0], &words[1]);
        }
        for given in [SCHEDULE_SPIN | SCHEDULE_YIELD, SCHEDULE_SPIN | SCHEDULE_BLOCKING_SYNC, 7] {
            fails!(set_device_flags(given), INVALID_VALUE, &format!("flags = {given:#x}: "), "in one way only");
        }
        fails!(unsafe { get_device_flags(null_mut()) }, INVALID_VALUE, "GetDeviceFlags: ", "flags = null");
        assert_eq!(flags(), MAP_HOST, "what was refused changed nothing");
        ok!(set_device_flags(0));
    }

    #[test]
    fn flags_are_each_devices_own() {
        let _guard = guard();
        if Device::count() < 2 {
            return eprintln!("skipped: needs two devices");
        }
        ok!(set_device_flags(SCHEDULE_YIELD));
        ok!(set_device(1));
        assert_eq!(flags(), 0);
        ok!(set_device(0));
        assert_eq!(flags(), SCHEDULE_YIELD);
        ok!(set_device_flags(0));
    }

    #[test]
    fn the_heap_is_a_limit_and_an_unknown_one_is_not() {
        let _guard = guard();
        let mut value = 7;
        for number in [0, 77, -1, c_int::MAX] {
            let words = format!("limit = {number}: ");
            let call = "DeviceGetLimit: ";
            fails!(unsafe { device_get_limit(&mut value, Limit(number)) }, UNSUPPORTED_LIMIT, call, &words);
        }
        assert_eq!(value, 7, "nothing was written");
        fails!(unsafe { device_get_limit(null_mut(), MALLOC_HEAP_SIZE) }, INVALID_VALUE, "pValue = null");
        ok!(unsafe { device_get_limit(&mut value, MALLOC_HEAP_SIZE) });
        assert_eq!(value, 0, "kernels in OpenCL C cannot allocate");
    }

    #[test]
    fn versions_are_a_thousand_a_major_and_ten_a_minor() {
        let _guard = guard();
        let mut version = 0;
        ok!(unsafe { runtime_get_version(&mut version) });
        let part = |text: &str| text.parse::<c_int>().unwrap();
        let (major, minor) = (part(env!("CARGO_PKG_VERSION_MAJOR")), part(env!("CARGO_PKG_VERSION_MINOR")));
        assert_eq!(version, 1000 * major + 10 * minor);

        ok!(unsafe { driver_get_version(&mut version) });
        assert!((1_000..10_000).contains(&version) && version % 10 == 0, "{version}");
        let prop = properties(0);
        if !Device::get(0).unwrap().platform().contains("NVIDIA") {
            assert_eq!(version, 1000 * prop.major + 10 * prop.minor, "both are OpenCL's version");
        }
        fails!(unsafe { runtime_get_version(null_mut()) }, INVALID_VALUE, "RuntimeGetVersion: ", "Version = null");
        fails!(unsafe { driver_get_version(null_mut()) }, INVALID_VALUE, "DriverGetVersion: ", "Version = null");
    }

    #[test]
    fn the_device_that_meets_most_wishes_is_chosen() {
        let _guard = guard();
        let choose = |wanted: &Prop| {
            let mut chosen = -7;
            ok!(unsafe { choose_device(&mut chosen, wanted) });
            chosen
        };
        assert_eq!(choose(&Prop::default()), 0, "without a wish it is the first");
        assert_eq!(choose(&Prop { totalGlobalMem: usize::MAX, ..Prop::default() }), 0, "and if none can be met");
        for (ordinal, device) in ordinals() {
            let chosen = choose(&properties(ordinal));
            assert_eq!(Device::get(chosen.try_into().unwrap()).unwrap().name(), device.name());
        }
        let mut chosen = -7;
        fails!(unsafe { choose_device(&mut chosen, null()) }, INVALID_VALUE, "ChooseDevice: ", "prop = null");
        assert_eq!(chosen, -7, "nothing was written");
        fails!(unsafe { choose_device(null_mut(), &Prop::default()) }, INVALID_VALUE, "device = null");
    }

    #[test]
    fn a_wish_can_be_met_by_another_device_than_the_first() {
        if !child::is_child() {
            let name = format!("devices::{NAME}::a_wish_can_be_met_by_another_device_than_the_first");
            return child::passes(&name, &[("POCL_DEVICES", "pthread basic")]);
        }
        let _guard = guard();
        let Some((ordinal, device)) = ordinals().find(|(_, device)| device.name() != Device::all()[0].name()) else {
            return eprintln!("skipped: needs devices of two names");
        };
        let mut chosen = -7;
        let named = Prop { name: properties(ordinal).name, ..Prop::default() };
        ok!(unsafe { choose_device(&mut chosen, &named) });
        assert_eq!(chosen, ordinal, "{device}");
    }
}

#[test]
fn musa_attributes_are_the_properties() {
    use gridcl::musa::*;
    let _guard = guard();
    for (ordinal, device) in ordinals() {
        let mut prop = musaDeviceProp::default();
        assert_eq!(unsafe { musaGetDeviceProperties(&mut prop, ordinal) }, musaSuccess);
        let cut = |bytes: usize| c_int::try_from(bytes).unwrap_or(c_int::MAX);
        let expected = [
            (musaDevAttrMaxThreadsPerBlock, prop.maxThreadsPerBlock),
            (musaDevAttrMaxBlockDimX, prop.maxThreadsDim[0]),
            (musaDevAttrMaxBlockDimY, prop.maxThreadsDim[1]),
            (musaDevAttrMaxBlockDimZ, prop.maxThreadsDim[2]),
            (musaDevAttrMaxGridDimX, prop.maxGridSize[0]),
            (musaDevAttrMaxGridDimY, prop.maxGridSize[1]),
            (musaDevAttrMaxGridDimZ, prop.maxGridSize[2]),
            (musaDevAttrMaxSharedMemoryPerBlock, cut(prop.sharedMemPerBlock)),
            (musaDevAttrTotalConstantMemory, cut(prop.totalConstMem)),
            (musaDevAttrWarpSize, prop.warpSize),
            (musaDevAttrMaxPitch, cut(prop.memPitch)),
            (musaDevAttrMaxRegistersPerBlock, prop.regsPerBlock),
            (musaDevAttrClockRate, prop.clockRate),
            (musaDevAttrMultiProcessorCount, prop.multiProcessorCount),
            (musaDevAttrIntegrated, prop.integrated),
            (musaDevAttrCanMapHostMemory, prop.canMapHostMemory),
            (musaDevAttrConcurrentKernels, prop.concurrentKernels),
            (musaDevAttrEccEnabled, prop.ECCEnabled),
            (musaDevAttrPciBusId, prop.pciBusID),
            (musaDevAttrPciDeviceId, prop.pciDeviceID),
            (musaDevAttrPciDomainId, prop.pciDomainID),
            (musaDevAttrL2CacheSize, prop.l2CacheSize),
            (musaDevAttrMaxThreadsPerMultiProcessor, prop.maxThreadsPerMultiProcessor),
            (musaDevAttrUnifiedAddressing, prop.unifiedAddressing),
            (musaDevAttrComputeCapabilityMajor, prop.major),
            (musaDevAttrComputeCapabilityMinor, prop.minor),
            (musaDevAttrMaxTexture2DWidth, prop.maxTexture2D[0]),
            (musaDevAttrMaxTexture2DHeight, prop.maxTexture2D[1]),
            (musaDevAttrMaxTexture3DDepth, prop.maxTexture3D[2]),
            (musaDevAttrManagedMemory, prop.managedMemory),
            (musaDevAttrCooperativeLaunch, prop.cooperativeLaunch),
        ];
        for (attribute, wanted) in expected {
            let mut value = -7;
            assert_eq!(unsafe { musaDeviceGetAttribute(&mut value, attribute, ordinal) }, musaSuccess);
            assert_eq!(value, wanted, "{attribute:?}");
        }
        assert_eq!(u32::try_from(prop.warpSize), Ok(device.warp_size()));
        assert_eq!(prop.cooperativeLaunch, 0, "no OpenCL launch can wait for all its blocks");
    }
}

#[test]
fn tops_attributes_are_the_properties() {
    use gridcl::tops::*;
    let _guard = guard();
    for (ordinal, _) in ordinals() {
        let mut prop = topsDeviceProp_t::default();
        assert_eq!(unsafe { topsGetDeviceProperties(&mut prop, ordinal) }, topsSuccess);
        let shared = c_int::try_from(prop.sharedMemPerBlock).unwrap_or(c_int::MAX);
        let expected = [
            (topsDeviceAttributeClockRate, prop.clockRate),
            (topsDeviceAttributeComputeCapabilityMajor, prop.major),
            (topsDeviceAttributeComputeCapabilityMinor, prop.minor),
            (topsDeviceAttributeMaxBlockDimX, prop.maxThreadsDim[0]),
            (topsDeviceAttributeMaxBlockDimY, prop.maxThreadsDim[1]),
            (topsDeviceAttributeMaxBlockDimZ, prop.maxThreadsDim[2]),
            (topsDeviceAttributeMaxGridDimX, prop.maxGridSize[0]),
            (topsDeviceAttributeMaxGridDimY, prop.maxGridSize[1]),
            (topsDeviceAttributeMaxGridDimZ, prop.maxGridSize[2]),
            (topsDeviceAttributeMaxThreadsPerBlock, prop.maxThreadsPerBlock),
            (topsDeviceAttributeMultiprocessorCount, prop.multiProcessorCount),
            (topsDeviceAttributeMaxSharedMemoryPerBlock, shared),
        ];
        for (attribute, wanted) in expected {
            let mut value = -7;
            assert_eq!(unsafe { topsDeviceGetAttribute(&mut value, attribute, ordinal) }, topsSuccess);
            assert_eq!(value, wanted, "{attribute:?}");
        }
        let (mut major, mut minor) = (-7, -7);
        assert_eq!(unsafe { topsDeviceComputeCapability(&mut major, &mut minor, ordinal) }, topsSuccess);
        assert_eq!((major, minor), (prop.major, prop.minor));
    }
}

#[test]
fn tops_handles_of_devices_are_their_ordinals() {
    use crate::dialects::tops::*;
    use gridcl::tops::{topsDeviceComputeCapability, topsDeviceGet};
    let _guard = guard();
    let (mut handle, mut major, mut minor) = (-7, -7, -7);
    for stranger in strangers() {
        fails!(unsafe { topsDeviceGet(&mut handle, stranger) }, INVALID_DEVICE, "topsDeviceGet: ");
        fails!(unsafe { topsDeviceComputeCapability(&mut major, &mut minor, stranger) }, INVALID_DEVICE);
    }
    fails!(unsafe { topsDeviceGet(null_mut(), 0) }, INVALID_VALUE, "device = null");
    fails!(unsafe { topsDeviceComputeCapability(null_mut(), &mut minor, 0) }, INVALID_VALUE, "major = null");
    fails!(unsafe { topsDeviceComputeCapability(&mut major, null_mut(), 0) }, INVALID_VALUE, "minor = null");
    assert_eq!((handle, major, minor), (-7, -7, -7), "nothing was written");
    for (ordinal, _) in ordinals() {
        ok!(unsafe { topsDeviceGet(&mut handle, ordinal) });
        assert_eq!(handle, ordinal);
    }
}

#[test]
fn tops_init_takes_no_flags() {
    use crate::dialects::tops::*;
    use gridcl::tops::topsInit;
    let _guard = guard();
    ok!(topsInit(0));
    fails!(topsInit(1), INVALID_VALUE, "topsInit: ", "flags = 0x1: ");
    fails!(topsInit(c_uint::MAX), INVALID_VALUE, "flags = 0xffffffff: ");
    ok!(topsInit(0));
}

#[test]
fn only_musa_knows_how_much_kernels_print() {
    let _guard = guard();
    {
        use crate::dialects::musa::*;
        use gridcl::musa::{musaDeviceGetLimit, musaLimitPrintfFifoSize};
        let mut value = 0;
        ok!(unsafe { musaDeviceGetLimit(&mut value, musaLimitPrintfFifoSize) });
        assert_eq!(value, Device::get(0).unwrap().printf_bytes());
    }
    use crate::dialects::tops::*;
    use gridcl::tops::{topsDeviceGetLimit, topsErrorUnsupportedLimit, topsLimitPrintfFifoSize};
    let mut value = 7;
    fails!(unsafe { topsDeviceGetLimit(&mut value, topsLimitPrintfFifoSize) }, topsErrorUnsupportedLimit);
    assert_eq!(value, 7, "nothing was written");
}

#[test]
fn uuids_name_one_device_each() {
    use crate::dialects::musa::*;
    use gridcl::musa::{musaDeviceGetUuid, musaDeviceProp, musaUUID_t, musaUuid_t};
    let _guard = guard();
    let mut seen = HashSet::new();
    for (ordinal, device) in ordinals() {
        // Both spellings are one type.
        let mut uuid: musaUUID_t = musaUuid_t::default();
        ok!(unsafe { musaDeviceGetUuid(&mut uuid, ordinal) });
        assert!(uuid.bytes.iter().any(|&byte| byte != 0));
        assert_eq!(uuid.bytes, device.uuid());
        let mut prop = musaDeviceProp::default();
        ok!(unsafe { get_device_properties(&mut prop, ordinal) });
        assert_eq!(prop.uuid.bytes, uuid.bytes);
        assert!(seen.insert(uuid.bytes), "no two devices have one name");
    }
    let mut uuid = musaUuid_t { bytes: [7; 16] };
    for stranger in strangers() {
        fails!(unsafe { musaDeviceGetUuid(&mut uuid, stranger) }, INVALID_DEVICE, "musaDeviceGetUuid: ");
    }
    assert_eq!(uuid.bytes, [7; 16], "nothing was written");
    fails!(unsafe { musaDeviceGetUuid(null_mut(), 0) }, INVALID_VALUE, "uuid = null");
}

#[test]
fn a_uuid_is_the_same_in_another_process() {
    let name = |device: &Device| format!("uuid {} of {}", u128::from_be_bytes(device.uuid()), device.ordinal());
    let names = Device::all().iter().map(name).collect::<Vec<_>>().join("; ");
    if child::is_child() {
        return println!("{names}");
    }
    let output = child::run("devices::a_uuid_is_the_same_in_another_process", &[]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains(&names), "{names} in: {printed}");
}
