//! gridcl.h: host addresses that stand for kernels and symbols, and failures in words (design.md 6; behaviour.md 1.6).

use gridcl::dialect::native::{
    gridclLastErrorDetail, gridclRegisterFunction, gridclRegisterSymbol, gridclSetErrorSink,
};
use gridcl::testing::guard;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::Mutex;

/// A module whose symbol and kernel give `value`.
fn valued(value: i32) -> String {
    format!(
        "__device__ int table[2] = {{{value}, 1}};
        __kernel void get(__global int *y, int add) {{ y[0] = table[0] + add; }}"
    )
}

/// What stands for the kernel and for the symbol.
static STUB: u8 = 0;
static TABLE: [i32; 2] = [-1, -1];

fn stub() -> *const c_void {
    (&raw const STUB).cast()
}

fn table() -> *const c_void {
    TABLE.as_ptr().cast()
}

fn detail() -> String {
    unsafe { CStr::from_ptr(gridclLastErrorDetail()) }.to_string_lossy().into_owned()
}

both_dialects! {
    fn addresses_stand_for_kernels_and_symbols_until_the_module_ends() {
        let _guard = guard();
        let (first, second) = (load!(valued(10)), load!(valued(20)));
        let register = |module: Module| unsafe {
            assert_eq!(gridclRegisterFunction(module.cast(), stub(), c"get".as_ptr()), 0, "{}", detail());
            assert_eq!(gridclRegisterSymbol(module.cast(), table(), c"table".as_ptr()), 0, "{}", detail());
        };
        let y = put!([0i32]);
        let got = || {
            ok!(start!(stub().cast_mut(), 1, 1, [y, 3i32]));
            fetch!(y, i32, 1)[0]
        };
        fails!(start!(stub().cast_mut(), 1, 1, [y, 3i32]), INVALID_DEVICE_FUNCTION, "gridclRegisterFunction");
        register(first);
        assert_eq!(got(), 13);
        // The latest counts, and what was before it comes back.
        register(second);
        assert_eq!(got(), 23);
        let mut bytes = 0;
        ok!(unsafe { get_symbol_size(&mut bytes, table()) });
        assert_eq!(bytes, 8);
        let new = [7i32, 8];
        ok!(unsafe { memcpy_to_symbol(table(), new.as_ptr().cast(), 8, 0, HOST_TO_DEVICE) });
        assert_eq!(got(), 10);
        let mut back = [0i32; 2];
        ok!(unsafe { memcpy_from_symbol(back.as_mut_ptr().cast(), table(), 8, 0, DEVICE_TO_HOST) });
        assert_eq!((back, TABLE), (new, [-1, -1]));
        ok!(module_unload(second));
        assert_eq!(got(), 13);
        ok!(module_unload(first));
        fails!(start!(stub().cast_mut(), 1, 1, [y, 3i32]), INVALID_DEVICE_FUNCTION);
        fails!(unsafe { get_symbol_size(&mut bytes, table()) }, INVALID_SYMBOL);
        ok!(free(y));
    }

    fn a_reset_ends_registrations() {
        let _guard = guard();
        let module = load!(valued(1));
        assert_eq!(unsafe { gridclRegisterFunction(module.cast(), stub(), c"get".as_ptr()) }, 0);
        ok!(device_reset());
        fails!(start!(stub().cast_mut(), 1, 1, [null_mut::<c_void>(), 3i32]), INVALID_DEVICE_FUNCTION);
        assert_eq!(unsafe { gridclRegisterFunction(module.cast(), stub(), c"get".as_ptr()) }, 400);
    }

    fn what_cannot_be_registered_is_said() {
        let _guard = guard();
        let module = load!(valued(1));
        let _ = get_last_error();
        for (code, module, address, name, words) in [
            (400, null_mut(), stub(), c"get".as_ptr(), "module = 0x0"),
            (400, stub().cast_mut(), stub(), c"get".as_ptr(), "not a module of either dialect"),
            (1, module.cast(), null(), c"get".as_ptr(), "hostAddress = null"),
            (1, module.cast(), stub(), null(), "name = null"),
            (1, module.cast(), stub(), c"".as_ptr(), "the text is empty"),
            (500, module.cast(), stub(), c"other".as_ptr(), "it has: "),
        ] {
            assert_eq!(unsafe { gridclRegisterFunction(module, address, name) }, code);
            assert!(detail().starts_with("gridclRegisterFunction: ") && detail().contains(words), "{}", detail());
            assert_eq!(unsafe { gridclRegisterSymbol(module, address, name) }, code);
            assert!(detail().starts_with("gridclRegisterSymbol: ") && detail().contains(words), "{}", detail());
        }
        // It is no call of the dialect's.
        assert_eq!(get_last_error(), SUCCESS);
        ok!(module_unload(module));
    }
}

#[test]
fn one_dialects_module_serves_the_other() {
    use crate::dialects::musa::{Module, SUCCESS, module_load_data, module_unload};
    let _guard = guard();
    let module = load!(valued(5));
    assert_eq!(unsafe { gridclRegisterFunction(module.cast(), stub(), c"get".as_ptr()) }, 0);
    {
        use crate::dialects::tops::*;
        let y = put!([0i32]);
        ok!(start!(stub().cast_mut(), 1, 1, [y, 3i32]));
        assert_eq!(fetch!(y, i32, 1), [8]);
        ok!(free(y));
    }
    ok!(module_unload(module));
}

#[test]
fn the_error_sink_is_told_of_failures() {
    use crate::dialects::musa::{free, get_device, get_last_error, stream_query};
    static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    unsafe extern "C" fn sink(text: *const c_char, user: *mut c_void) {
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        assert_eq!(text, detail());
        assert_eq!(user.addr(), 42);
        // Not told of, and does not come back here.
        let _ = free(std::ptr::without_provenance_mut(9));
        TOLD.lock().unwrap().push(text);
    }
    let _guard = guard();
    gridclSetErrorSink(Some(sink), std::ptr::without_provenance_mut(42));
    let _ = unsafe { get_device(null_mut()) };
    let _ = stream_query(std::ptr::without_provenance_mut(5));
    gridclSetErrorSink(None, null_mut());
    let _ = unsafe { get_device(null_mut()) };
    let told = std::mem::take(&mut *TOLD.lock().unwrap());
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("musaGetDevice: device = null"), "{told:?}");
    assert!(told[1].starts_with("musaStreamQuery: "), "{told:?}");
    let _ = get_last_error();
}
