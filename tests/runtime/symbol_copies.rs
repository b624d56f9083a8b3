//! Copies to and from symbols: ranges, kinds, and their place in a stream (TOPS 7.1; behaviour.md 3.5 the
//! MemcpyToSymbol and MemcpyFromSymbol rows).

use gridcl::testing::{Gate, guard};
use std::ptr::{null, null_mut};

use crate::support::{device, in_time};
use crate::symbols::MAKES;

/// Reads a symbol `at`, so that a test can see in which order things happened.
const ORDER: &str = "
__device__ int now = 1;
__kernel void note(__global int *y, int at) { y[at] = now; }
";

both_dialects! {
    fn writes_at_offsets_add_up_to_one_read() {
        let _guard = guard();
        let module = load!(MAKES);
        ok!(to_symbol!(c"matrix", [10i32, 20], 0));
        ok!(to_symbol!(c"matrix", [30i32], 8));
        ok!(to_symbol!(c"matrix", [0x0102_0304i32], 13));
        let mut bytes: Vec<u8> = [10i32, 20, 30, 4, 5, 6].into_iter().flat_map(i32::to_ne_bytes).collect();
        bytes[13..17].copy_from_slice(&0x0102_0304i32.to_ne_bytes());
        assert_eq!(from_symbol!(c"matrix", u8, 24), bytes);
        let mut part = [0u8; 5];
        let (to, symbol) = (part.as_mut_ptr().cast(), c"matrix".as_ptr().cast());
        ok!(unsafe { memcpy_from_symbol(to, symbol, 5, 12, DEFAULT) });
        assert_eq!(part, bytes[12..17]);
        ok!(module_unload(module));
    }

    fn symbols_copy_to_and_from_device_memory() {
        let _guard = guard();
        let module = load!(MAKES);
        let (matrix, from) = (c"matrix".as_ptr().cast(), put!([9i32, 8, 7, 6]));
        ok!(unsafe { memcpy_to_symbol(matrix, from.cast(), 16, 8, DEVICE_TO_DEVICE) });
        assert_eq!(from_symbol!(c"matrix", i32, 6), [1, 2, 9, 8, 7, 6]);
        ok!(unsafe { memcpy_from_symbol(from, matrix, 8, 0, DEVICE_TO_DEVICE) });
        assert_eq!(fetch!(from, i32, 4), [1, 2, 7, 6]);
        ok!(unsafe { memcpy_to_symbol(matrix, from.cast(), 4, 20, DEFAULT) });
        assert_eq!(from_symbol!(c"matrix", i32, 6)[5], 1);
        let host = [3i32];
        fails!(
            unsafe { memcpy_to_symbol(matrix, host.as_ptr().cast(), 4, 0, DEVICE_TO_DEVICE) },
            INVALID_VALUE,
            "host pointer",
        );
        assert_eq!(from_symbol!(c"matrix", i32, 1), [1]);
        ok!(module_unload(module));
        ok!(free(from));
    }

    fn nothing_beyond_a_symbol_is_copied() {
        let _guard = guard();
        let module = load!(MAKES);
        let (data, symbol) = ([-1i32; 8], c"matrix".as_ptr().cast());
        for (count, offset) in [(25, 0), (24, 1), (1, 24), (4, 400), (1, usize::MAX), (usize::MAX, 8), (32, 0)] {
            let text = format!("= {count}: matrix has 24 bytes, and the copy would end at {offset} + {count}");
            fails!(
                unsafe { memcpy_to_symbol(symbol, data.as_ptr().cast(), count, offset, HOST_TO_DEVICE) },
                INVALID_VALUE,
                "MemcpyToSymbol: ",
                &text,
            );
            let mut back = [77i32; 8];
            fails!(
                unsafe { memcpy_from_symbol(back.as_mut_ptr().cast(), symbol, count, offset, DEVICE_TO_HOST) },
                INVALID_VALUE,
                "MemcpyFromSymbol: ",
                &text,
            );
            assert_eq!(back, [77; 8]);
        }
        assert_eq!(from_symbol!(c"matrix", i32, 6), [1, 2, 3, 4, 5, 6]);
        ok!(module_unload(module));
    }

    fn copies_of_nothing_change_nothing() {
        let _guard = guard();
        let module = load!(MAKES);
        let (mut data, symbol) = ([-1i32; 1], c"matrix".as_ptr().cast());
        for offset in [0, 3, 24] {
            ok!(unsafe { memcpy_to_symbol(symbol, data.as_ptr().cast(), 0, offset, HOST_TO_DEVICE) });
            ok!(unsafe { memcpy_from_symbol(data.as_mut_ptr().cast(), symbol, 0, offset, DEVICE_TO_HOST) });
        }
        assert_eq!((data, from_symbol!(c"matrix", i32, 6)), ([-1], vec![1, 2, 3, 4, 5, 6]));
        ok!(module_unload(module));
    }

    fn the_kind_has_to_fit_the_call() {
        let _guard = guard();
        let module = load!(MAKES);
        let (mut data, symbol) = ([-1i32; 2], c"matrix".as_ptr().cast());
        for (kind, text) in [(DEVICE_TO_HOST, "DeviceToHost"), (HOST_TO_HOST, "HostToHost"), (Kind(7), "7")] {
            fails!(
                unsafe { memcpy_to_symbol(symbol, data.as_ptr().cast(), 8, 0, kind) },
                INVALID_MEMCPY_DIRECTION,
                &format!("kind = {text}"),
            );
        }
        for (kind, text) in [(HOST_TO_DEVICE, "HostToDevice"), (HOST_TO_HOST, "HostToHost"), (Kind(-1), "-1")] {
            fails!(
                unsafe { memcpy_from_symbol(data.as_mut_ptr().cast(), symbol, 8, 0, kind) },
                INVALID_MEMCPY_DIRECTION,
                &format!("kind = {text}"),
            );
        }
        assert_eq!((data, from_symbol!(c"matrix", i32, 2)), ([-1, -1], vec![1, 2]));
        ok!(module_unload(module));
    }

    fn updates_between_launches_come_in_the_order_of_the_stream() {
        let _guard = guard();
        let module = load!(ORDER);
        let note = function!(module, c"note");
        let (y, now) = (put!([0i32; 3]), address!(c"now"));
        let mut stream = null_mut();
        ok!(unsafe { stream_create(&mut stream) });
        // What a blocking stream gets from now on waits for the default stream.
        let gate = Gate::close(&device().default_stream().unwrap()).unwrap();
        let mut value = 1i32;
        for at in 0..3i32 {
            ok!(launch_in!(stream, note, 1, 1, 0, [y, at]));
            value += 10;
            ok!(unsafe { memcpy_async(now, (&raw const value).cast(), 4, HOST_TO_DEVICE, stream) });
        }
        value = -1;
        assert_eq!(stream_query(stream), NOT_READY);
        gate.open();
        ok!(stream_synchronize(stream));
        assert_eq!(fetch!(y, i32, 3), [1, 11, 21]);
        assert_eq!((value, from_symbol!(c"now", i32, 1)), (-1, vec![31]));
        ok!(module_unload(module));
        ok!(stream_destroy(stream));
        ok!(free(y));
    }

    fn symbol_copies_wait_for_the_launches_before_them() {
        let _guard = guard();
        let module = load!(ORDER);
        let note = function!(module, c"note");
        let y = put!([0i32; 2]);
        for round in 0..20i32 {
            ok!(to_symbol!(c"now", [2 * round], 0));
            ok!(start!(note, 1, 1, [y, 0i32]));
            ok!(to_symbol!(c"now", [2 * round + 1], 0));
            ok!(start!(note, 1, 1, [y, 1i32]));
            assert_eq!(fetch!(y, i32, 2), [2 * round, 2 * round + 1]);
        }
        ok!(module_unload(module));
        ok!(free(y));
    }

    fn threads_write_their_own_parts() {
        let _guard = guard();
        let module = load!("__device__ uint parts[8][64];\n__kernel void k(__global uint *y) { y[0] = parts[0][0]; }");
        std::thread::scope(|scope| {
            for thread in 0..8u32 {
                scope.spawn(move || {
                    for round in 0..20 {
                        ok!(to_symbol!(c"parts", [thread * 1000 + round; 64], thread as usize * 256));
                    }
                });
            }
        });
        let parts = from_symbol!(c"parts", u32, 512);
        assert!(parts.iter().enumerate().all(|(at, &part)| part == at as u32 / 64 * 1000 + 19), "{parts:?}");
        ok!(module_unload(module));
    }

    fn asynchronous_copies_come_in_the_order_of_their_stream() {
        let _guard = guard();
        let module = load!(ORDER);
        let note = function!(module, c"note");
        let y = put!([0i32; 3]);
        let (mut stream, mut pinned) = (null_mut(), null_mut());
        ok!(unsafe { stream_create(&mut stream) });
        ok!(unsafe { host_malloc(&mut pinned, 12) });
        let gate = Gate::close(&device().default_stream().unwrap()).unwrap();
        let (y_at, stream_at, note_at) = (y.addr(), stream.addr(), note.addr());
        let pinned_at = pinned.expose_provenance();
        in_time("asynchronous copies behind a gate", move || {
            let stream: Stream = std::ptr::without_provenance_mut(stream_at);
            let note: Function = std::ptr::without_provenance_mut(note_at);
            let symbol = c"now".as_ptr().cast();
            for at in 0..3i32 {
                ok!(launch_in!(stream, note, 1, 1, 0, [y_at, at]));
                let value = [10 * (at + 1)];
                let from = value.as_ptr().cast();
                ok!(unsafe { memcpy_to_symbol_async(symbol, from, 4, 0, HOST_TO_DEVICE, stream) });
                let to = std::ptr::with_exposed_provenance_mut(pinned_at + 4 * at as usize);
                ok!(unsafe { memcpy_from_symbol_async(to, symbol, 4, 0, DEVICE_TO_HOST, stream) });
            }
            assert_eq!(stream_query(stream), NOT_READY);
        });
        gate.open();
        ok!(stream_synchronize(stream));
        assert_eq!(fetch!(y, i32, 3), [1, 10, 20]);
        assert_eq!(unsafe { std::slice::from_raw_parts(pinned.cast::<i32>(), 3) }, [10, 20, 30]);
        ok!(host_free(pinned));
        ok!(module_unload(module));
        ok!(stream_destroy(stream));
        ok!(free(y));
    }

    fn asynchronous_copies_check_what_the_others_check_and_the_stream() {
        let _guard = guard();
        let module = load!(ORDER);
        let (symbol, mut data) = (c"now".as_ptr().cast(), [77i32; 2]);
        let mut stream = null_mut();
        ok!(unsafe { stream_create(&mut stream) });
        let to = |symbol, bytes, offset, kind, stream| unsafe {
            memcpy_to_symbol_async(symbol, [1i32, 2].as_ptr().cast(), bytes, offset, kind, stream)
        };
        fails!(to(symbol, 8, 0, HOST_TO_DEVICE, stream), INVALID_VALUE, "MemcpyToSymbolAsync: ", "has 4 bytes");
        fails!(to(symbol, 4, 1, HOST_TO_DEVICE, stream), INVALID_VALUE, "1 + 4");
        fails!(to(symbol, 4, 0, DEVICE_TO_HOST, stream), INVALID_MEMCPY_DIRECTION, "kind = DeviceToHost");
        fails!(to(null(), 4, 0, HOST_TO_DEVICE, stream), INVALID_SYMBOL, "symbol = 0x0");
        let mut from = |symbol, bytes, offset, kind, stream| unsafe {
            memcpy_from_symbol_async(data.as_mut_ptr().cast(), symbol, bytes, offset, kind, stream)
        };
        fails!(from(symbol, 8, 0, DEVICE_TO_HOST, stream), INVALID_VALUE, "MemcpyFromSymbolAsync: ");
        fails!(from(symbol, 4, 0, HOST_TO_DEVICE, stream), INVALID_MEMCPY_DIRECTION, "kind = HostToDevice");
        fails!(from(null(), 4, 0, DEVICE_TO_HOST, stream), INVALID_SYMBOL, "symbol = 0x0");
        ok!(stream_destroy(stream));
        let text = format!("stream = {:#x}", stream.addr());
        fails!(to(symbol, 4, 0, HOST_TO_DEVICE, stream), INVALID_HANDLE, &text);
        fails!(from(symbol, 4, 0, DEVICE_TO_HOST, stream), INVALID_HANDLE, &text);
        assert_eq!((data, from_symbol!(c"now", i32, 1)), ([77; 2], vec![1]));
        ok!(module_unload(module));
    }
}
