//! What is told and set of kernels, and how many of their blocks fit (behaviour.md 3.10 FuncGetAttributes,
//! FuncSetAttribute, FuncGetAttribute).

use gridcl::testing::guard;
use std::ffi::c_void;

use crate::support::device;

/// One kernel that demands nothing, one that has shared memory of its own, one that demands its block.
const TEXT: &str = "
__kernel void plain(__global int *y) { y[get_global_id(0)] = 1; }
__kernel void sharing(__global int *y, __local int *more) {
    __local int own[256];
    own[get_local_id(0)] = more[get_local_id(0)] = y[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = own[0] + more[0];
}
__kernel __attribute__((reqd_work_group_size(8, 2, 1))) void demanding(__global int *y) { y[get_global_id(0)] = 1; }
";

both_dialects! {
    fn the_attributes_of_a_kernel_fit_its_launches() {
        let _guard = guard();
        let module = load!(TEXT);
        let (plain, sharing) = (function!(module, c"plain"), function!(module, c"sharing"));
        // SAFETY: zeros are such a structure.
        let mut about: FuncAttributes = unsafe { std::mem::zeroed() };
        ok!(unsafe { func_get_attributes(&mut about, plain.cast()) });
        let most = about.maxThreadsPerBlock as u32;
        assert!(most >= 1 && most as usize <= device().max_block_size());
        assert_eq!(about.maxDynamicSharedSizeBytes as u64, device().shared_memory_per_block());
        let y = put!(vec![0i32; most as usize]);
        ok!(start!(plain, 1, most, [y]));
        let none = about.sharedSizeBytes;
        ok!(unsafe { func_get_attributes(&mut about, sharing.cast()) });
        assert!(none == 0 && about.sharedSizeBytes >= 1024, "{} bytes", about.sharedSizeBytes);
        let left = about.maxDynamicSharedSizeBytes as u64;
        assert_eq!(left + about.sharedSizeBytes as u64, device().shared_memory_per_block());
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn attributes_are_asked_of_functions_only() {
        let _guard = guard();
        let module = load!(TEXT);
        let plain = function!(module, c"plain");
        fails!(unsafe { func_get_attributes(std::ptr::null_mut(), plain.cast()) }, INVALID_VALUE, "attr = null");
        // SAFETY: zeros are such a structure.
        let mut about: FuncAttributes = unsafe { std::mem::zeroed() };
        fails!(unsafe { func_get_attributes(&mut about, std::ptr::null()) }, INVALID_DEVICE_FUNCTION, "func = null");
        let wild: *const c_void = std::ptr::without_provenance(0xdead_0000);
        fails!(unsafe { func_get_attributes(&mut about, wild) }, INVALID_DEVICE_FUNCTION, "= 0xdead0000");
        ok!(module_unload(module));
        fails!(unsafe { func_get_attributes(&mut about, plain.cast()) }, INVALID_DEVICE_FUNCTION, "func = ");
        assert_eq!(about.maxThreadsPerBlock, 0, "nothing is written");
    }
}

mod musa_alone {
    use super::*;
    use crate::dialects::musa::*;
    use gridcl::musa::*;

    #[test]
    fn attributes_are_set_within_their_ranges() {
        let _guard = guard();
        let module = load!(TEXT);
        let sharing = function!(module, c"sharing").cast_const().cast();
        let shared = |value| musaFuncSetAttribute(sharing, musaFuncAttributeMaxDynamicSharedMemorySize, value);
        let carveout = |value| musaFuncSetAttribute(sharing, musaFuncAttributePreferredSharedMemoryCarveout, value);
        let mut about = musaFuncAttributes { maxThreadsPerBlock: 0, ..unsafe { std::mem::zeroed() } };
        ok!(unsafe { musaFuncGetAttributes(&mut about, sharing) });
        let most = about.maxDynamicSharedSizeBytes;
        for value in [0, most] {
            ok!(shared(value));
        }
        for value in [-1, most + 1] {
            fails!(shared(value), INVALID_VALUE, &format!("value = {value}"), &format!("0 to {most} bytes"));
        }
        for value in [-1, 0, 100] {
            ok!(carveout(value));
        }
        for value in [-2, 101] {
            fails!(carveout(value), INVALID_VALUE, &format!("value = {value}"), "percentage");
        }
        fails!(musaFuncSetAttribute(sharing, musaFuncAttribute(7), 0), INVALID_VALUE, "attr");
        let null = std::ptr::null();
        fails!(
            musaFuncSetAttribute(null, musaFuncAttributeMaxDynamicSharedMemorySize, 0),
            INVALID_DEVICE_FUNCTION,
            "func = null",
        );
        ok!(module_unload(module));
    }

    #[test]
    fn occupancy_tells_blocks_that_can_be_launched() {
        let _guard = guard();
        let module = load!(TEXT);
        let functions = [function!(module, c"plain"), function!(module, c"demanding")];
        let y = put!(vec![0i32; 1 << 16]);
        for function in functions {
            let address = function.cast_const().cast();
            let (mut grid, mut block, mut blocks) = (0, 0, 0);
            ok!(unsafe { musaOccupancyMaxPotentialBlockSize(&mut grid, &mut block, address, 0, 0) });
            assert!(grid >= 1 && block >= 1, "{grid} {block}");
            ok!(unsafe { musaOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, address, block, 0) });
            assert_eq!(grid, blocks * device().compute_units() as i32);
            if function == functions[0] {
                ok!(start!(function, 1, block as u32, [y]));
            } else {
                assert_eq!(block, 16, "the block that the source demands");
            }
            ok!(unsafe { musaOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, address, 1 << 30, 0) });
            assert_eq!(blocks, 0, "no such block");
            fails!(
                unsafe { musaOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, address, 0, 0) },
                INVALID_VALUE,
                "blockSize = 0"
            );
            fails!(
                unsafe { musaOccupancyMaxPotentialBlockSize(&mut grid, &mut block, address, 0, -1) },
                INVALID_VALUE,
                "blockSizeLimit = -1"
            );
            fails!(
                unsafe { musaOccupancyMaxPotentialBlockSize(&mut grid, &mut block, address, 1 << 40, 0) },
                INVALID_VALUE,
                "dynamicSMemSize = "
            );
            ok!(unsafe {
                musaOccupancyMaxPotentialBlockSizeWithFlags(&mut grid, &mut block, address, 0, 0, musaOccupancyDefault)
            });
            fails!(
                unsafe { musaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&mut blocks, address, 8, 0, 6) },
                INVALID_VALUE,
                "flags = 0x6"
            );
        }
        ok!(module_unload(module));
        ok!(free(y));
    }
}

mod tops_alone {
    use super::*;
    use crate::dialects::tops::*;
    use gridcl::tops::*;

    #[test]
    fn one_attribute_is_one_number_of_all() {
        let _guard = guard();
        let module = load!(TEXT);
        let sharing = function!(module, c"sharing");
        // SAFETY: zeros are such a structure.
        let mut about: topsFuncAttributes = unsafe { std::mem::zeroed() };
        ok!(unsafe { topsFuncGetAttributes(&mut about, sharing.cast()) });
        let ask = |which| {
            let mut value = -7;
            ok!(unsafe { topsFuncGetAttribute(&mut value, which, sharing) });
            value
        };
        assert_eq!(ask(TOPS_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), about.maxThreadsPerBlock);
        assert_eq!(ask(TOPS_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) as usize, about.sharedSizeBytes);
        assert_eq!(ask(TOPS_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), about.maxDynamicSharedSizeBytes);
        let mut value = -7;
        fails!(
            unsafe { topsFuncGetAttribute(&mut value, TOPS_FUNC_ATTRIBUTE_MAX, sharing) },
            INVALID_VALUE,
            "attrib = 10"
        );
        let which = TOPS_FUNC_ATTRIBUTE_NUM_REGS;
        fails!(unsafe { topsFuncGetAttribute(&mut value, which, std::ptr::null_mut()) }, INVALID_HANDLE, "func = null");
        fails!(unsafe { topsFuncGetAttribute(std::ptr::null_mut(), which, sharing) }, INVALID_VALUE, "value = null");
        assert_eq!(value, -7);
        ok!(module_unload(module));
    }

    #[test]
    fn options_of_the_vendors_compiler_are_taken_and_not_used() {
        let _guard = guard();
        let text = std::ffi::CString::new(TEXT).unwrap();
        let mut module = std::ptr::null_mut();
        let none = std::ptr::null_mut();
        let load = |module: &mut _, count, options, values| unsafe {
            topsModuleLoadDataEx(module, text.as_ptr().cast(), count, options, values)
        };
        let mut options = [topsJitOptionMaxRegisters];
        let mut values = [std::ptr::null_mut::<c_void>()];
        fails!(load(&mut module, 1, none, values.as_mut_ptr()), INVALID_VALUE, "options = null");
        let no_values = std::ptr::null_mut();
        fails!(load(&mut module, 1, options.as_mut_ptr(), no_values), INVALID_VALUE, "optionValues = null");
        assert!(module.is_null());
        ok!(load(&mut module, 0, std::ptr::null_mut(), std::ptr::null_mut()));
        ok!(module_unload(module));
        ok!(load(&mut module, 1, options.as_mut_ptr(), values.as_mut_ptr()));
        ok!(module_unload(module));
    }
}
