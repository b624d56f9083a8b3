//! Arrays of the MUSA dialect: what can be made, what cannot, and copies to, from and between them (MUSA "memory",
//! texture memory; behaviour.md 1.5 C4, 1.6, 3.2 the MallocArray rows, 3.5 the array rows). TOPS has no such calls.

use crate::array_tools::{ALL_FORMATS, Format, Made, Picture, WORDS};
use crate::blocks::{assert_same, noise};
use crate::dialects::musa::*;
use gridcl::musa::*;
use gridcl::testing::{fail, guard};
use std::ptr::{null, null_mut, without_provenance_mut};

/// Copies part of a picture in host memory to an array.
fn up(array: &Made, at: (usize, usize), from: &Picture, part: (usize, usize), size: (usize, usize)) {
    let element = array.format.bytes();
    ok!(unsafe {
        musaMemcpy2DToArray(
            array.handle,
            at.0 * element,
            at.1,
            from.at(part.0, part.1),
            from.pitch(),
            size.0 * element,
            size.1,
            musaMemcpyHostToDevice,
        )
    });
}

#[test]
fn every_format_takes_boxes_from_pitched_host_memory_and_gives_them_back() {
    let _guard = guard();
    for format in ALL_FORMATS {
        let Some(array) = Made::try_new(format, 37, 23) else { continue };
        let mut expected = Picture::noise(1, format, 37, 23);
        up(&array, (0, 0), &expected, (0, 0), (37, 23));
        array.holds(&expected);

        // A part of something wider, into the middle.
        let other = Picture::noise(2, format, 50, 40);
        up(&array, (5, 3), &other, (7, 9), (20, 11));
        expected.paste((5, 3), &other, (7, 9), (20, 11));
        array.holds(&expected);

        // And out of the middle into something wider, of which the rest stays.
        let element = format.bytes();
        let (mut got, mut wanted) = (other.clone(), other);
        ok!(unsafe {
            musaMemcpy2DFromArray(
                got.at_mut(3, 2),
                got.pitch(),
                array.handle.cast_const(),
                6 * element,
                4,
                30 * element,
                17,
                musaMemcpyDeviceToHost,
            )
        });
        wanted.paste((3, 2), &expected, (6, 4), (30, 17));
        assert_same(&got.bytes, &wanted.bytes, || format!("{format:?}, a box out of the middle"));
    }
}

#[test]
fn arrays_of_one_dimension_are_rows() {
    let _guard = guard();
    let array = Made::new(WORDS, 100, 0);
    let expected = Picture::noise(3, WORDS, 100, 1);
    up(&array, (0, 0), &expected, (0, 0), (100, 1));
    array.holds(&expected);
    let (mut part, element) = (vec![0_u8; 40], 4);
    ok!(unsafe {
        musaMemcpy2DFromArray(
            part.as_mut_ptr().cast(),
            40,
            array.handle,
            30 * element,
            0,
            40,
            1,
            musaMemcpyDeviceToHost,
        )
    });
    assert_same(&part, &expected.bytes[120..160], || "elements 30 to 39".into());
}

#[test]
fn device_memory_with_and_without_room_between_its_rows_goes_in_and_out() {
    let _guard = guard();
    for format in ALL_FORMATS {
        let Some(array) = Made::try_new(format, 33, 19) else { continue };
        let element = format.bytes();
        for gap in [0, 3, 64] {
            let source = Picture::noise(gap as u64, format, 33 + gap, 19);
            let memory = uploaded!(source.bytes);
            ok!(unsafe {
                musaMemcpy2DToArray(
                    array.handle,
                    0,
                    0,
                    memory,
                    source.pitch(),
                    33 * element,
                    19,
                    musaMemcpyDeviceToDevice,
                )
            });
            let mut expected = Picture::noise(9, format, 33, 19);
            expected.paste((0, 0), &source, (0, 0), (33, 19));
            array.holds(&expected);

            // Back to the middle of another block, of which the rest stays.
            let mut target = Picture::noise(20, format, 33 + gap, 30);
            let back = uploaded!(target.bytes);
            ok!(unsafe {
                musaMemcpy2DFromArray(
                    back.wrapping_byte_add(target.offset(gap.min(2), 4)),
                    target.pitch(),
                    array.handle,
                    2 * element,
                    1,
                    30 * element,
                    18,
                    musaMemcpyDefault,
                )
            });
            target.paste((gap.min(2), 4), &expected, (2, 1), (30, 18));
            let got = downloaded!(back, target.bytes.len());
            assert_same(&got, &target.bytes, || format!("{format:?} with {gap} elements between rows"));
            ok!(free(memory));
            ok!(free(back));
        }
    }
}

#[test]
fn arrays_copy_to_each_other_and_within_themselves() {
    let _guard = guard();
    for format in ALL_FORMATS {
        let Some(source) = Made::try_new(format, 40, 30) else { continue };
        let (target, element) = (Made::new(format, 25, 45), format.bytes());
        let (from, mut to) = (Picture::noise(1, format, 40, 30), Picture::noise(2, format, 25, 45));
        up(&source, (0, 0), &from, (0, 0), (40, 30));
        up(&target, (0, 0), &to, (0, 0), (25, 45));
        let copy = |to: &Made, (x, y): (usize, usize), from: &Made, (u, v): (usize, usize), (width, height)| {
            musaMemcpy2DArrayToArray(
                to.handle,
                x * element,
                y,
                from.handle,
                u * element,
                v,
                width * element,
                height,
                musaMemcpyDeviceToDevice,
            )
        };
        ok!(copy(&target, (3, 20), &source, (11, 5), (20, 24)));
        to.paste((3, 20), &from, (11, 5), (20, 24));
        target.holds(&to);

        // Within one array, where the parts touch and do not overlap.
        ok!(copy(&target, (0, 0), &target, (10, 0), (10, 45)));
        let before = to.clone();
        to.paste((0, 0), &before, (10, 0), (10, 45));
        target.holds(&to);
        ok!(copy(&target, (4, 4), &target, (4, 4), (10, 10)));
        target.holds(&to);
        fails!(copy(&target, (1, 1), &target, (0, 0), (5, 5)), INVALID_VALUE, "overlap");
        fails!(copy(&target, (20, 0), &source, (0, 0), (6, 1)), INVALID_VALUE, "25 x 45", "6 x 1", "(20, 0, 0)");
        fails!(copy(&target, (0, 0), &source, (0, 29), (1, 2)), INVALID_VALUE, "40 x 30");
        target.holds(&to);
    }
}

#[test]
fn arrays_of_different_formats_and_one_size_of_element_exchange_bytes() {
    let _guard = guard();
    let formats = [WORDS, Format { bits: 8, channels: 4, kind: 1 }, Format { bits: 32, channels: 1, kind: 2 }];
    let contents = Picture::noise(7, WORDS, 17, 9);
    let arrays = formats.map(|format| Made::new(format, 17, 9));
    up(&arrays[0], (0, 0), &contents, (0, 0), (17, 9));
    for pair in arrays.windows(2) {
        let [from, to] = pair else { unreachable!() };
        ok!(musaMemcpy2DArrayToArray(to.handle, 0, 0, from.handle, 0, 0, 17 * 4, 9, musaMemcpyDefault));
        to.holds(&contents);
    }
    let bytes = Made::new(Format { bits: 8, channels: 1, kind: 1 }, 68, 9);
    let copy = || musaMemcpy2DArrayToArray(bytes.handle, 0, 0, arrays[0].handle, 0, 0, 4, 1, musaMemcpyDefault);
    fails!(copy(), INVALID_VALUE, "elements of 4 bytes", "elements of 1 bytes");
}

#[test]
fn an_array_tells_what_it_is() {
    let _guard = guard();
    let cases = [
        ([64, 0, 0], musaArrayDefault),
        ([64, 32, 0], musaArraySurfaceLoadStore),
        ([64, 32, 0], musaArrayTextureGather),
        ([16, 8, 4], musaArrayDefault),
        ([16, 0, 4], musaArrayLayered),
        ([16, 8, 4], musaArrayLayered | musaArraySurfaceLoadStore),
    ];
    for ([width, height, depth], flags) in cases {
        let (asked, desc) = (make_musaExtent(width, height, depth), WORDS.desc());
        let mut array = null_mut();
        ok!(unsafe { musaMalloc3DArray(&mut array, &desc, asked, flags) });
        let (mut got, mut extent, mut made_with) = (musaChannelFormatDesc::default(), musaExtent::default(), 77);
        ok!(unsafe { musaArrayGetInfo(&mut got, &mut extent, &mut made_with, array) });
        assert_eq!((got, extent, made_with), (desc, asked, flags));
        ok!(unsafe { musaArrayGetInfo(null_mut(), null_mut(), null_mut(), array) });
        let mut got = musaChannelFormatDesc::default();
        ok!(unsafe { musaGetChannelDesc(&mut got, array) });
        assert_eq!(got, desc);
        fails!(unsafe { musaGetChannelDesc(null_mut(), array) }, INVALID_VALUE, "desc = null");
        ok!(musaFreeArray(array));
    }
}

#[test]
fn the_guides_descriptor_is_one_float_of_32_bits() {
    let _guard = guard();
    let (mut array, mut got) = (null_mut(), musaChannelFormatDesc::default());
    let desc = musaCreateChannelDesc(1, 0, 0, 0, musaChannelFormatKindFloat);
    ok!(unsafe { musaMallocArray(&mut array, &desc, 64, 64, 0) });
    ok!(unsafe { musaGetChannelDesc(&mut got, array) });
    assert_eq!(got, musaCreateChannelDesc(32, 0, 0, 0, musaChannelFormatKindFloat));
    ok!(musaFreeArray(array));
    for kind in [musaChannelFormatKindSigned, musaChannelFormatKindUnsigned] {
        let desc = musaCreateChannelDesc(1, 0, 0, 0, kind);
        fails!(unsafe { musaMallocArray(&mut array, &desc, 64, 64, 0) }, INVALID_VALUE, "8, 16 or 32 bits");
    }
}

#[test]
fn descriptors_that_are_no_format_are_refused() {
    let _guard = guard();
    let signed = musaChannelFormatKindSigned;
    let cases = [
        (musaCreateChannelDesc(0, 0, 0, 0, signed), "1, 2 or 4 channels"),
        (musaCreateChannelDesc(8, 8, 8, 0, signed), "1, 2 or 4 channels"),
        (musaCreateChannelDesc(8, 0, 0, 8, signed), "0 bits"),
        (musaCreateChannelDesc(8, 16, 0, 0, signed), "different widths"),
        (musaCreateChannelDesc(7, 0, 0, 0, signed), "8, 16 or 32"),
        (musaCreateChannelDesc(64, 0, 0, 0, signed), "8, 16 or 32"),
        (musaCreateChannelDesc(-8, 0, 0, 0, signed), "8, 16 or 32"),
        (musaCreateChannelDesc(8, 0, 0, 0, musaChannelFormatKindFloat), "16 or 32 bits"),
        (musaCreateChannelDesc(32, 0, 0, 0, musaChannelFormatKindNone), "kind 3"),
        (musaCreateChannelDesc(32, 0, 0, 0, musaChannelFormatKind(0xFF)), "kind 255"),
    ];
    for (desc, reason) in cases {
        let mut array = null_mut();
        fails!(unsafe { musaMallocArray(&mut array, &desc, 8, 8, 0) }, INVALID_VALUE, "desc = ", reason);
        fails!(
            unsafe { musaMalloc3DArray(&mut array, &desc, make_musaExtent(8, 8, 8), 0) },
            INVALID_VALUE,
            "desc = ",
            reason
        );
        assert!(array.is_null(), "nothing is written by a call that fails");
    }
}

#[test]
fn extents_and_flags_that_are_no_array_are_refused() {
    let _guard = guard();
    let (desc, mut array) = (WORDS.desc(), null_mut());
    fails!(unsafe { musaMallocArray(null_mut(), &desc, 8, 8, 0) }, INVALID_VALUE, "array = null");
    fails!(unsafe { musaMallocArray(&mut array, null(), 8, 8, 0) }, INVALID_VALUE, "desc = null");
    fails!(unsafe { musaMallocArray(&mut array, &desc, 0, 8, 0) }, INVALID_VALUE, "0 x 8", "nothing in it");
    fails!(unsafe { musaMallocArray(&mut array, &desc, 8, 8, 0x10) }, INVALID_VALUE, "flags = 0x10");
    for flags in [musaArrayLayered, musaArrayCubemap] {
        fails!(unsafe { musaMallocArray(&mut array, &desc, 8, 8, flags) }, INVALID_VALUE, "flags");
    }
    fails!(
        unsafe { musaMallocArray(&mut array, &desc, 8, 0, musaArrayTextureGather) },
        INVALID_VALUE,
        "two dimensions"
    );

    let mut made = |extent: [usize; 3], flags| unsafe {
        musaMalloc3DArray(&mut array, &desc, make_musaExtent(extent[0], extent[1], extent[2]), flags)
    };
    fails!(made([0, 8, 8], 0), INVALID_VALUE, "nothing in it");
    fails!(made([8, 0, 8], 0), INVALID_VALUE, "a depth and no height");
    fails!(made([8, 8, 0], musaArrayLayered), INVALID_VALUE, "layers and has none");
    fails!(made([8, 8, 8], 0x20), INVALID_VALUE, "flags = 0x20");
    for (extent, flags) in [([8, 8, 8], 0), ([8, 8, 8], musaArrayLayered), ([8, 0, 0], 0)] {
        fails!(made(extent, flags | musaArrayTextureGather), INVALID_VALUE, "two dimensions");
    }
    fails!(made([8, 8, 5], musaArrayCubemap), INVALID_VALUE, "six faces");
    fails!(made([8, 9, 6], musaArrayCubemap), INVALID_VALUE, "six faces");
    fails!(made([8, 8, 6], musaArrayCubemap), NOT_SUPPORTED, "no cubemaps");
    fails!(made([8, 8, 12], musaArrayCubemap | musaArrayLayered), NOT_SUPPORTED, "no cubemaps");
    fails!(unsafe { musaMalloc3DArray(null_mut(), &desc, make_musaExtent(8, 8, 8), 0) }, INVALID_VALUE, "null");
    fails!(unsafe { musaMalloc3DArray(&mut array, null(), make_musaExtent(8, 8, 8), 0) }, INVALID_VALUE, "null");
    assert!(array.is_null());
}

#[test]
fn more_than_the_device_has_is_refused() {
    let _guard = guard();
    let mut prop = musaDeviceProp::default();
    ok!(unsafe { musaGetDeviceProperties(&mut prop, 0) });
    let [width, height] = prop.maxTexture2D.map(|limit| limit as usize);
    let (desc, mut array) = (WORDS.desc(), null_mut());
    for (w, h) in [(width + 1, 0), (width + 1, 1), (1, height + 1), (usize::MAX, 1), (1, usize::MAX)] {
        fails!(unsafe { musaMallocArray(&mut array, &desc, w, h, 0) }, INVALID_VALUE, "extent = ", "device 0");
    }
    let [w, h, d] = prop.maxTexture3D.map(|limit| limit as usize);
    for extent in [[w + 1, 1, 1], [1, h + 1, 1], [1, 1, d + 1], [usize::MAX; 3]] {
        let extent = make_musaExtent(extent[0], extent[1], extent[2]);
        fails!(unsafe { musaMalloc3DArray(&mut array, &desc, extent, 0) }, INVALID_VALUE, "image3d_t");
    }
    let layers = prop.maxTexture2DLayered[2] as usize;
    let extent = make_musaExtent(1, 1, layers + 1);
    fails!(unsafe { musaMalloc3DArray(&mut array, &desc, extent, musaArrayLayered) }, INVALID_VALUE, "image2d_array_t");

    // As large as images may be, and more than memory of the device.
    let quad = Format { bits: 32, channels: 4, kind: 2 };
    if [w, h, d].iter().try_fold(16_usize, |bytes, &along| bytes.checked_mul(along)).is_none_or(|bytes| bytes > 1 << 42)
    {
        let extent = make_musaExtent(w, h, d);
        fails!(
            unsafe { musaMalloc3DArray(&mut array, &quad.desc(), extent, 0) },
            OUT_OF_MEMORY,
            "size = ",
            "bytes left"
        );
    }
    fail("clCreateImage", 0, -4);
    let again = unsafe { musaMallocArray(&mut array, &desc, 8, 8, 0) };
    assert_eq!(again, SUCCESS, "one refusal may be for want of what the runtime only keeps");
    ok!(musaFreeArray(array));
    for status in [-10, -59] {
        fail("clCreateImage", 0, status);
        fails!(unsafe { musaMallocArray(&mut array, &desc, 8, 8, 0) }, NOT_SUPPORTED, "clCreateImage");
    }
}

#[test]
fn arrays_are_on_the_account_until_they_are_freed() {
    let _guard = guard();
    let (mut before, mut with, mut after, mut total) = (0, 0, 0, 0);
    ok!(unsafe { mem_get_info(&mut before, &mut total) });
    let array = Made::new(WORDS, 1000, 500);
    ok!(unsafe { mem_get_info(&mut with, &mut total) });
    drop(array);
    ok!(unsafe { mem_get_info(&mut after, &mut total) });
    assert_eq!((before - with, after), (2_000_000, before));
    fail("clCreateImage", 0, -59);
    let mut array = null_mut();
    fails!(unsafe { musaMallocArray(&mut array, &WORDS.desc(), 8, 8, 0) }, NOT_SUPPORTED);
    ok!(unsafe { mem_get_info(&mut after, &mut total) });
    assert_eq!(after, before, "an array that was not made takes nothing");
}

#[test]
fn dead_and_foreign_handles_are_told_apart_from_arrays() {
    let _guard = guard();
    let (array, mut stream) = (Made::new(WORDS, 8, 8), null_mut());
    ok!(unsafe { stream_create(&mut stream) });
    let mut freed = null_mut();
    ok!(unsafe { musaMallocArray(&mut freed, &WORDS.desc(), 8, 8, 0) });
    ok!(musaFreeArray(freed));
    let strangers = [null_mut(), freed, stream.cast(), without_provenance_mut(0x1234), &raw const array as *mut _];
    let (mut host, mut desc) = ([0_u8; 256], musaChannelFormatDesc::default());
    let memory = host.as_mut_ptr().cast();
    for stranger in strangers {
        let text = format!("{:#x}", stranger.addr());
        if !stranger.is_null() {
            fails!(musaFreeArray(stranger), INVALID_HANDLE, "array = ", &text);
        }
        fails!(unsafe { musaGetChannelDesc(&mut desc, stranger) }, INVALID_HANDLE, "array = ", &text);
        fails!(
            unsafe { musaArrayGetInfo(&mut desc, null_mut(), null_mut(), stranger) },
            INVALID_HANDLE,
            "array = ",
            &text
        );
        fails!(
            unsafe { musaMemcpy2DToArray(stranger, 0, 0, memory, 32, 32, 8, musaMemcpyHostToDevice) },
            INVALID_HANDLE,
            "dst = ",
            &text
        );
        fails!(
            unsafe { musaMemcpy2DFromArray(memory, 32, stranger, 0, 0, 32, 8, musaMemcpyDeviceToHost) },
            INVALID_HANDLE,
            "src = ",
            &text
        );
        for (to, from) in [(array.handle, stranger), (stranger, array.handle)] {
            fails!(
                musaMemcpy2DArrayToArray(to, 0, 0, from, 0, 0, 32, 8, musaMemcpyDeviceToDevice),
                INVALID_HANDLE,
                &text
            );
        }
    }
    ok!(musaFreeArray(null_mut()));
    ok!(stream_destroy(stream));
    // A stream's call does not take an array either.
    fails!(stream_synchronize(array.handle.cast()), INVALID_HANDLE);
}

#[test]
fn copies_that_do_not_fit_are_refused_and_change_nothing() {
    let _guard = guard();
    let (array, contents) = (Made::new(WORDS, 16, 8), Picture::noise(4, WORDS, 16, 8));
    up(&array, (0, 0), &contents, (0, 0), (16, 8));
    let mut host = noise(5, 1024);
    let memory = host.as_mut_ptr().cast();
    let to = |x, y, pitch, width, height, kind| unsafe {
        musaMemcpy2DToArray(array.handle, x, y, memory, pitch, width, height, kind)
    };
    let from = |x, y, pitch, width, height, kind| unsafe {
        musaMemcpy2DFromArray(memory, pitch, array.handle, x, y, width, height, kind)
    };
    let (down, in_array) = (musaMemcpyDeviceToHost, musaMemcpyHostToDevice);
    fails!(to(0, 0, 63, 64, 2, in_array), musaErrorInvalidPitchValue, "spitch = 63", "64 bytes");
    fails!(from(0, 0, 63, 64, 2, down), musaErrorInvalidPitchValue, "dpitch = 63", "64 bytes");
    fails!(to(0, 0, 0, 64, 1, in_array), musaErrorInvalidPitchValue, "spitch = 0");
    for (x, y, width, height) in [(4, 0, 64, 1), (64, 0, 4, 1), (0, 1, 4, 8), (0, 8, 4, 1), (usize::MAX - 3, 0, 4, 1)] {
        fails!(to(x, y, 64, width, height, in_array), INVALID_VALUE, "16 x 8 x 1 elements");
        fails!(from(x, y, 64, width, height, down), INVALID_VALUE, "16 x 8 x 1 elements");
    }
    fails!(to(0, usize::MAX, 64, 4, 2, in_array), INVALID_VALUE, "16 x 8 x 1 elements");
    fails!(to(2, 0, 64, 4, 1, in_array), INVALID_VALUE, "wOffset = 2", "elements have 4 bytes");
    fails!(to(0, 0, 64, 6, 1, in_array), INVALID_VALUE, "width = 6", "elements have 4 bytes");
    for kind in [-1, 5, 99] {
        fails!(to(0, 0, 64, 4, 1, musaMemcpyKind(kind)), INVALID_MEMCPY_DIRECTION, "kind = ");
        fails!(from(0, 0, 64, 4, 1, musaMemcpyKind(kind)), INVALID_MEMCPY_DIRECTION, "kind = ");
    }
    for kind in [musaMemcpyDeviceToHost, musaMemcpyHostToHost] {
        fails!(to(0, 0, 64, 4, 1, kind), INVALID_MEMCPY_DIRECTION, "destination is an array");
    }
    for kind in [musaMemcpyHostToDevice, musaMemcpyHostToHost] {
        fails!(from(0, 0, 64, 4, 1, kind), INVALID_MEMCPY_DIRECTION, "source is an array");
    }
    let nowhere = || unsafe { musaMemcpy2DToArray(array.handle, 0, 0, null(), 64, 4, 1, in_array) };
    fails!(nowhere(), INVALID_VALUE, "src = null");
    let nowhere = || unsafe { musaMemcpy2DFromArray(null_mut(), 64, array.handle, 0, 0, 4, 1, down) };
    fails!(nowhere(), INVALID_VALUE, "dst = null");
    // Said to be device memory.
    fails!(to(0, 0, 64, 64, 2, musaMemcpyDeviceToDevice), INVALID_VALUE, "src = ", "not memory that the runtime");
    // Nothing to copy.
    for (width, height) in [(0, 4), (4, 0), (0, 0)] {
        ok!(to(0, 0, 64, width, height, in_array));
        ok!(from(0, 0, 64, width, height, down));
    }
    assert_same(&host, &noise(5, 1024), || "host memory".into());
    array.holds(&contents);

    // Device memory that ends too early.
    let short = device_memory!(64 * 8 - 1);
    let within =
        |rows| unsafe { musaMemcpy2DToArray(array.handle, 0, 0, short, 64, 64, rows, musaMemcpyDeviceToDevice) };
    fails!(within(8), INVALID_VALUE, "src = ", "1 too many");
    ok!(free(short));
    fails!(within(7), INVALID_VALUE, "src = ", "was freed");
    array.holds(&contents);
}

#[test]
fn calls_for_two_dimensions_take_no_array_of_three() {
    let _guard = guard();
    let mut host = [0_u8; 64];
    for (extent, flags) in [([4, 4, 4], 0), ([4, 4, 4], musaArrayLayered), ([4, 0, 4], musaArrayLayered)] {
        let mut array = null_mut();
        let extent = make_musaExtent(extent[0], extent[1], extent[2]);
        ok!(unsafe { musaMalloc3DArray(&mut array, &WORDS.desc(), extent, flags) });
        let memory = host.as_mut_ptr().cast();
        fails!(
            unsafe { musaMemcpy2DToArray(array, 0, 0, memory, 16, 16, 1, musaMemcpyHostToDevice) },
            INVALID_VALUE,
            "third dimension"
        );
        fails!(
            unsafe { musaMemcpy2DFromArray(memory, 16, array, 0, 0, 16, 1, musaMemcpyDeviceToHost) },
            INVALID_VALUE,
            "third dimension"
        );
        ok!(musaFreeArray(array));
    }
}
