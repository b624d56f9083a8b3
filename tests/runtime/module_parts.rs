//! What a loaded module gives, functions and symbols, and its end (behaviour.md 3.10 ModuleGetFunction and
//! ModuleUnload, 3.5 ModuleGetGlobal, 1.6 "Scope").

use gridcl::testing::{Gate, guard};
use std::ffi::c_char;
use std::ptr::null_mut;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use crate::modules::{SEVEN, SYMBOLS};
use crate::support::device;

both_dialects! {
    fn only_kernels_are_functions() {
        let _guard = guard();
        let module = load!(format!("__device__ int n;\n{SEVEN}__kernel void count(__global int *y) {{ n = y[0]; }}"));
        let untouched: Function = std::ptr::without_provenance_mut(0x5a5a);
        let mut function = untouched;
        // A helper, no name of the text, a symbol, and kernels that only the runtime needs.
        for name in [c"seven", c"three times", c"n", c"gridcl_size_n"] {
            fails!(
                unsafe { module_get_function(&mut function, module, name.as_ptr()) },
                NOT_FOUND,
                &format!("name = {name:?}"),
                "kernel.cl has no kernel of that name",
                "put",
                "twice",
                "count",
            );
            let detail = gridcl::last_error_detail().unwrap();
            let listed = detail.split("it has: ").nth(1).unwrap();
            assert!(!listed.contains("gridcl_"), "generated kernels are not listed: {detail}");
        }
        fails!(unsafe { module_get_function(null_mut(), module, c"put".as_ptr()) }, INVALID_VALUE, "function = null");
        fails!(unsafe { module_get_function(&mut function, module, std::ptr::null()) }, INVALID_VALUE, "= null");
        fails!(unsafe { module_get_function(&mut function, module, c"".as_ptr()) }, INVALID_VALUE, "empty");
        assert_eq!(function, untouched, "nothing is written");
        ok!(module_unload(module));
    }

    fn what_is_no_module_is_an_invalid_handle() {
        let _guard = guard();
        let module = load!(SYMBOLS);
        let mut stream = null_mut();
        ok!(unsafe { stream_create(&mut stream) });
        let function = function!(module, c"sum");
        let wild = 0xdead_0000usize;
        for handle in [0, wild, stream.addr(), function.addr()] {
            let handle: Module = std::ptr::without_provenance_mut(handle);
            let text = format!("= {:#x}: ", handle.addr());
            let mut out: Function = null_mut();
            fails!(unsafe { module_get_function(&mut out, handle, c"put".as_ptr()) }, INVALID_HANDLE, &text);
            let (mut address, mut bytes) = (null_mut(), 77);
            fails!(
                unsafe { module_get_global(&mut address, &mut bytes, handle, c"table".as_ptr()) },
                INVALID_HANDLE,
                &text,
            );
            fails!(module_unload(handle), INVALID_HANDLE, &text, "module");
            assert!(out.is_null() && address.is_null() && bytes == 77, "nothing is written");
        }
        ok!(stream_synchronize(stream));
        ok!(stream_destroy(stream));
        ok!(module_unload(module));
    }

    fn a_symbols_address_and_size_can_be_had_one_by_one() {
        let _guard = guard();
        let module = load!(SYMBOLS);
        let (mut address, mut bytes) = (null_mut(), 0);
        ok!(unsafe { module_get_global(&mut address, &mut bytes, module, c"table".as_ptr()) });
        assert_eq!((bytes, fetch!(address, f32, 6)), (24, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        let (mut same, mut size) = (null_mut(), 0);
        ok!(unsafe { module_get_global(&mut same, null_mut(), module, c"table".as_ptr()) });
        ok!(unsafe { module_get_global(null_mut(), &mut size, module, c"total".as_ptr()) });
        assert_eq!((same, size), (address, 8));
        ok!(module_unload(module));
    }

    fn only_symbols_are_globals() {
        let _guard = guard();
        let module = load!(SYMBOLS);
        let (mut address, mut bytes) = (null_mut(), 77);
        let mut find = |name: *const c_char| unsafe { module_get_global(&mut address, &mut bytes, module, name) };
        for name in [c"nobody", c"sum", c"native", c"tabl", c"table "] {
            fails!(find(name.as_ptr()), NOT_FOUND, &format!("name = {name:?}"), "it has: table, total");
        }
        fails!(find(std::ptr::null()), INVALID_VALUE, "name = null");
        fails!(find(c"".as_ptr()), INVALID_VALUE, "name = \"\"");
        assert!(address.is_null() && bytes == 77, "nothing is written");
        ok!(module_unload(module));
    }

    fn a_module_without_symbols_says_so() {
        let _guard = guard();
        let module = load!(SEVEN);
        let mut bytes = 77;
        fails!(
            unsafe { module_get_global(null_mut(), &mut bytes, module, c"table".as_ptr()) },
            NOT_FOUND,
            "kernel.cl has no symbol of that name",
            "it has none",
        );
        assert_eq!(bytes, 77);
        ok!(module_unload(module));
    }

    fn an_unloaded_module_is_dead_with_its_functions() {
        let _guard = guard();
        let module = load!(SEVEN);
        let function = function!(module, c"put");
        let y = put!([1i32; 1]);
        ok!(module_unload(module));
        fails!(module_unload(module), INVALID_HANDLE, &format!("module = {:#x}", module.addr()), "alive");
        let mut other: Function = null_mut();
        fails!(unsafe { module_get_function(&mut other, module, c"put".as_ptr()) }, INVALID_HANDLE, "module = ");
        fails!(
            start!(function, 1, 1, [y]),
            INVALID_DEVICE_FUNCTION,
            "LaunchKernel",
            &format!("= {:#x}: it is not a function", function.addr()),
            "ModuleGetFunction",
        );
        assert_eq!(fetch!(y, i32, 1), [1], "nothing ran");
        // A new module is another one, whatever handle it gets.
        let again = load!(SEVEN);
        assert_ne!(again, module);
        ok!(start!(function!(again, c"put"), 1, 1, [y]));
        assert_eq!(fetch!(y, i32, 1), [7]);
        ok!(module_unload(again));
        ok!(free(y));
    }

    fn unloading_waits_for_the_kernels_under_way() {
        let _guard = guard();
        let module = load!(SEVEN);
        let put = function!(module, c"put");
        let y = put!([0i32; 4]);
        let gate = Gate::close(&device().default_stream().unwrap()).unwrap();
        ok!(start!(put, 1, 4, [y]));
        let (opened, started) = (AtomicBool::new(false), Barrier::new(2));
        let module = module.addr();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                started.wait();
                ok!(module_unload(std::ptr::without_provenance_mut(module)));
                assert!(opened.load(SeqCst), "it came back before the kernel could run");
            });
            started.wait();
            // The other thread may come back too early now.
            std::thread::sleep(Duration::from_millis(30));
            opened.store(true, SeqCst);
            gate.open();
        });
        assert_eq!(fetch!(y, i32, 4), [7; 4]);
        ok!(free(y));
    }
}

mod musa_alone {
    use super::*;
    use crate::dialects::musa::*;

    #[test]
    fn one_of_a_globals_results_has_to_be_asked_for() {
        let _guard = guard();
        let module = load!(SYMBOLS);
        let ask = |name: &std::ffi::CStr| unsafe { module_get_global(null_mut(), null_mut(), module, name.as_ptr()) };
        fails!(ask(c"table"), INVALID_VALUE, "dptr and bytes = null");
        ok!(module_unload(module));
    }

    #[test]
    fn the_other_dialects_handles_are_dead_ones() {
        let _guard = guard();
        let module = load!(SEVEN);
        let function = function!(module, c"put");
        let foreign = std::ptr::without_provenance_mut(module.addr());
        let mut out = null_mut();
        let code = unsafe { gridcl::tops::topsModuleGetFunction(&mut out, foreign, c"put".as_ptr()) };
        assert_eq!(code, gridcl::tops::topsErrorInvalidHandle);
        let code = gridcl::tops::topsModuleUnload(foreign);
        assert_eq!(code, gridcl::tops::topsErrorInvalidHandle);
        let one = dim3::from(1);
        let code = unsafe { gridcl::tops::topsLaunchKernel(function.cast(), one, one, null_mut(), 0, null_mut()) };
        assert_eq!(code, gridcl::tops::topsErrorInvalidDeviceFunction);
        assert_eq!(gridcl::tops::topsGetLastError(), gridcl::tops::topsErrorInvalidDeviceFunction);
        assert_eq!(get_last_error(), SUCCESS, "the last error is the other dialect's");
        ok!(module_unload(module));
    }
}

mod tops_alone {
    use super::*;
    use crate::dialects::tops::*;

    #[test]
    fn both_of_a_globals_results_may_be_left_out() {
        let _guard = guard();
        let module = load!(SYMBOLS);
        let ask = |name: &std::ffi::CStr| unsafe { module_get_global(null_mut(), null_mut(), module, name.as_ptr()) };
        ok!(ask(c"table"));
        fails!(ask(c"nobody"), NOT_FOUND, "nobody");
        ok!(module_unload(module));
    }
}
