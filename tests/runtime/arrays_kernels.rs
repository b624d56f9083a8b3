//! Arrays and samplers as arguments of kernels, in lists and in the safe API; the safe API's own copies; and what
//! samplers read, against the same on the host (behaviour.md 3.10; OpenCL 3.0 8.2, image addressing and filtering).

use crate::array_tools::{ALL_FORMATS, Format, Made, Picture, WORDS};
use crate::blocks::{Held, assert_same, noise};
use crate::dialects::musa::*;
use crate::support::device;
use gridcl::musa::*;
use gridcl::prelude::{Addressing, Array, DeviceBuffer, Filter, PinnedBuffer, Sampler, launch};
use gridcl::testing::{Gate, count_calls, guard};
use gridcl::{ArrayShape, Dim3, ErrorKind, Texel};
use std::ffi::{CString, c_void};
use std::fmt::Debug;
use std::ptr::null_mut;

type SafeModule = gridcl::Module;

/// A module of a dialect's, unloaded with the value.
struct Loaded(Module);

impl Loaded {
    fn new(source: &str) -> Self {
        let (mut module, source) = (null_mut(), CString::new(source).unwrap());
        ok!(unsafe { module_load_data(&mut module, source.as_ptr().cast()) });
        Self(module)
    }

    fn function(&self, name: &str) -> Function {
        let (mut function, name) = (null_mut(), CString::new(name).unwrap());
        ok!(unsafe { module_get_function(&mut function, self.0, name.as_ptr()) });
        function
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let code = module_unload(self.0);
        assert!(code == SUCCESS || std::thread::panicking(), "{:?}", gridcl::last_error_detail());
    }
}

/// Launches over a grid of so many blocks of one work item.
fn launch_over(function: Function, grid: dim3, arguments: &[*const c_void]) -> Code {
    let mut list: Vec<*mut c_void> = arguments.iter().map(|argument| argument.cast_mut()).collect();
    unsafe { launch_kernel(function.cast(), grid, dim3::new(1, 1, 1), list.as_mut_ptr(), 0, LEGACY) }
}

fn address<T>(value: &T) -> *const c_void {
    (&raw const *value).cast()
}

/// Copies one image to another, turned by half a turn, and as what the format is read as.
fn turning(format: Format) -> String {
    let suffix = ["i", "ui", "f"][format.kind as usize];
    format!(
        "__kernel void turn(read_only image2d_t from, write_only image2d_t to) {{
            const sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
            int x = get_global_id(0), y = get_global_id(1);
            int2 there = (int2)(get_global_size(0) - 1 - x, get_global_size(1) - 1 - y);
            write_image{suffix}(to, there, read_image{suffix}(from, exact, (int2)(x, y)));
        }}"
    )
}

#[test]
fn kernels_read_and_write_arrays_of_every_format() {
    let _guard = guard();
    for format in ALL_FORMATS {
        let Some(from) = Made::try_new(format, 13, 7) else { continue };
        let (to, module) = (Made::new(format, 13, 7), Loaded::new(&turning(format)));
        let mut picture = Picture::noise(1, format, 13, 7);
        if format.kind == 2 {
            // Numbers that every float holds exactly, so that their bits come back.
            let sample = |index: usize| (index % 199) as f32 * 0.5 - 20.0;
            let samples = 0..13 * 7 * format.channels;
            picture.bytes = match format.bits {
                32 => samples.flat_map(|index| sample(index).to_ne_bytes()).collect(),
                _ => samples.flat_map(|index| half(sample(index)).to_ne_bytes()).collect(),
            };
        }
        let row = picture.pitch();
        ok!(unsafe { musaMemcpy2DToArray(from.handle, 0, 0, picture.at(0, 0), row, row, 7, musaMemcpyHostToDevice) });
        let arguments = [address(&from.handle), address(&to.handle)];
        let launched = launch_over(module.function("turn"), dim3::new(13, 7, 1), &arguments);
        if launched == NOT_SUPPORTED && (format.bits, format.kind) == (16, 2) {
            let text = gridcl::last_error_detail().expect("a text for the failure");
            assert!(text.contains("1 of turn") && text.contains("16-bit floats"), "{text}");
            assert_eq!(get_last_error(), NOT_SUPPORTED);
            continue;
        }
        assert_eq!(launched, SUCCESS, "{format:?}: {:?}", gridcl::last_error_detail());
        let turned = picture.bytes.chunks(format.bytes()).rev().flatten().copied().collect();
        picture.bytes = turned;
        to.holds(&picture);
    }
}

#[test]
fn kernels_read_floats_of_16_bits() {
    let _guard = guard();
    let array = Made::new(Format { bits: 16, channels: 4, kind: 2 }, 4, 1);
    let numbers: Vec<f32> = (0..16).map(|index| index as f32 * 0.5 - 3.0).collect();
    let bits: Vec<u8> = numbers.iter().flat_map(|&number| half(number).to_ne_bytes()).collect();
    ok!(unsafe { musaMemcpy2DToArray(array.handle, 0, 0, bits.as_ptr().cast(), 32, 32, 1, musaMemcpyDefault) });
    let module = Loaded::new(
        "__kernel void spread(read_only image2d_t from, __global float4 *to) {
            const sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
            int x = get_global_id(0);
            to[x] = read_imagef(from, exact, (int2)(x, 0));
        }",
    );
    let memory = device_memory!(64);
    let arguments = [address(&array.handle), address(&memory)];
    ok!(launch_over(module.function("spread"), dim3::new(4, 1, 1), &arguments));
    let expected: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    assert_same(&downloaded!(memory, 64), &expected, || "16 numbers".into());
    ok!(free(memory));
}

/// The bits of a number as a float of 16 bits, which has to hold it.
fn half(number: f32) -> u16 {
    if number == 0.0 {
        return 0;
    }
    let bits = number.to_bits();
    let exponent = ((bits >> 23 & 0xFF) as i32 - 127 + 15) as u32;
    assert_eq!(bits & 0x1FFF, 0, "{number} has too many digits");
    ((bits >> 16 & 0x8000) | exponent << 10 | bits >> 13 & 0x3FF) as u16
}

/// One kernel for each shape, which adds to each element a number that its place makes.
const SHAPES: &str = "
constant sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
uint number(int x, int y, int z) { return x + 100 * y + 10000 * z; }
#define PLACE int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2)
#define INTO (uint4)(number(x, y, z), 0, 0, 0)
__kernel void d1(read_only image1d_t from, write_only image1d_t to) {
    PLACE; write_imageui(to, x, read_imageui(from, exact, x) + INTO);
}
__kernel void d2(read_only image2d_t from, write_only image2d_t to) {
    PLACE; write_imageui(to, (int2)(x, y), read_imageui(from, exact, (int2)(x, y)) + INTO);
}
__kernel void d1_layered(read_only image1d_array_t from, write_only image1d_array_t to) {
    PLACE; write_imageui(to, (int2)(x, z), read_imageui(from, exact, (int2)(x, z)) + INTO);
}
__kernel void d2_layered(read_only image2d_array_t from, write_only image2d_array_t to) {
    PLACE; write_imageui(to, (int4)(x, y, z, 0), read_imageui(from, exact, (int4)(x, y, z, 0)) + INTO);
}
__kernel void d3(read_only image3d_t from, __global uint *to) {
    PLACE;
    to[x + get_global_size(0) * (y + get_global_size(1) * z)] =
        read_imageui(from, exact, (int4)(x, y, z, 0)).x + number(x, y, z);
}";

/// Shapes of each kind with their sizes.
const ALL_SHAPES: [(ArrayShape, [usize; 3], &str); 5] = [
    (ArrayShape::D1(11), [11, 1, 1], "d1"),
    (ArrayShape::D2(11, 7), [11, 7, 1], "d2"),
    (ArrayShape::D3(11, 7, 5), [11, 7, 5], "d3"),
    (ArrayShape::D1Layered(11, 5), [11, 1, 5], "d1_layered"),
    (ArrayShape::D2Layered(11, 7, 5), [11, 7, 5], "d2_layered"),
];

#[test]
fn kernels_see_the_elements_of_every_shape_where_the_host_put_them() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let module = SafeModule::from_source(device(), SHAPES).unwrap();
    for (shape, [width, height, depth], name) in ALL_SHAPES {
        let kernel = module.kernel(name).unwrap();
        let values: Vec<u32> = (0..width * height * depth).map(|index| 1_000_000 + index as u32).collect();
        let from = Array::from_slice(&stream, shape, &values).unwrap();
        let grid = Dim3::new(width as u32, height as u32, depth as u32);
        let got = if matches!(shape, ArrayShape::D3(..)) {
            let to = DeviceBuffer::<u32>::zeroed(&stream, values.len()).unwrap();
            unsafe { launch!(kernel<<<grid, 1, 0, &stream>>>(from, to)) }.unwrap();
            to.to_vec(&stream).unwrap()
        } else {
            let to = Array::<u32>::zeroed(&stream, shape).unwrap();
            unsafe { launch!(kernel<<<grid, 1, 0, &stream>>>(from, to)) }.unwrap();
            to.to_vec(&stream).unwrap()
        };
        let places = (0..depth).flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| (x, y, z))));
        let number = |(x, y, z): (usize, usize, usize)| (x + 100 * y + 10000 * z) as u32;
        let expected: Vec<u32> = places.zip(&values).map(|(place, value)| value + number(place)).collect();
        assert_eq!(got, expected, "{shape:?}");
    }
}

#[test]
fn parts_of_every_shape_go_up_and_down() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    for (shape, [width, height, depth], _) in ALL_SHAPES {
        let index = |x: usize, y: usize, z: usize| x + width * (y + height * z);
        let mut expected: Vec<u32> = (0..width * height * depth).map(|index| index as u32).collect();
        let mut array = Array::from_slice(&stream, shape, &expected).unwrap();
        let at = [3, usize::from(height > 1) * 2, usize::from(depth > 1)];
        let size = [6, height.min(4), depth.min(3)];
        let rows = (0..size[2]).flat_map(|z| (0..size[1]).map(move |y| (y, z)));
        let inside: Vec<usize> = rows
            .flat_map(|(y, z)| (0..size[0]).map(move |x| (x, y, z)))
            .map(|(x, y, z)| index(at[0] + x, at[1] + y, at[2] + z))
            .collect();
        let new: Vec<u32> = (0..size.iter().product()).map(|index: usize| 5000 + index as u32).collect();
        array.upload_part(&stream, at, size, &new).unwrap();
        for (&index, &value) in inside.iter().zip(&new) {
            expected[index] = value;
        }
        assert_eq!(array.to_vec(&stream).unwrap(), expected, "{shape:?}");
        let mut got = vec![0; new.len()];
        array.download_part(&stream, at, size, &mut got).unwrap();
        assert_eq!(got, new, "{shape:?}");

        // Through device and pinned memory, and through a second array.
        let mut there = DeviceBuffer::<u32>::zeroed(&stream, expected.len()).unwrap();
        let mut pinned = PinnedBuffer::<u32>::new(device(), expected.len()).unwrap();
        let (mut second, mut third) =
            (Array::<u32>::zeroed(&stream, shape).unwrap(), Array::<u32>::zeroed(&stream, shape).unwrap());
        array.copy_to(&stream, &mut there).unwrap();
        second.copy_from(&stream, &there).unwrap();
        third.copy_from_array(&stream, &second).unwrap();
        third.copy_to(&stream, &mut pinned).unwrap();
        assert_eq!(*pinned.read().unwrap(), expected, "{shape:?}");
        second.copy_from(&stream, &pinned).unwrap();
        assert_eq!(second.to_vec(&stream).unwrap(), expected, "{shape:?}");

        for (at, size) in [([width, 0, 0], [1, 1, 1]), ([0, height, 0], [1, 1, 1]), ([0, 0, depth], [1, 1, 1])] {
            let error = array.upload_part(&stream, at, size, &[1]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidValue, "{shape:?} {error}");
        }
        let error = array.upload(&stream, &new[..1]).unwrap_err();
        assert!(error.to_string().contains("1 elements"), "{error}");
        assert_eq!(array.to_vec(&stream).unwrap(), expected, "a copy that fails changes nothing");
    }
}

#[test]
fn the_safe_api_has_every_element_type() {
    fn round<T: Texel + PartialEq + Debug>(make: impl Fn(u8) -> T) {
        let stream = device().create_stream().unwrap();
        let values: Vec<T> = (0..15).map(make).collect();
        match Array::from_slice(&stream, (5, 3), &values) {
            Ok(array) => {
                assert_eq!(array.to_vec(&stream).unwrap(), values);
                assert_eq!((array.len(), array.shape()), (15, ArrayShape::D2(5, 3)));
                let zeroed = Array::<T>::zeroed(&stream, (5, 3)).unwrap();
                assert_eq!(zeroed.to_vec(&stream).unwrap(), vec![T::zeroed(); 15]);
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::NotSupported, "{error}");
                assert!(error.to_string().contains("2 channels"), "only pairs may be missing: {error}");
            }
        }
    }
    let _guard = guard();
    macro_rules! rounds {
        ($($type:ty),+) => {$(
            round(|value| value as $type);
            round(|value| [value as $type, (value + 100) as $type]);
            round(|value| [value, value + 1, value + 2, value + 100].map(|value| value as $type));
        )+};
    }
    rounds!(i8, i16, i32, u8, u16, u32, f32);
}

/// Reads an image at places and keeps what was there.
const READING: &str = "
__kernel void look(read_only image2d_t image, sampler_t how, __global const float2 *places, __global float4 *out) {
    int i = get_global_id(0);
    out[i] = read_imagef(image, how, places[i]);
}";

/// What a sampler reads, by the rules of the specification.
fn sampled(pixels: &[[f32; 4]], size: [usize; 2], place: [f32; 2], sampler: (bool, Addressing, Filter)) -> [f32; 4] {
    let (normalized, addressing, filter) = sampler;
    let pixel = |at: [Option<usize>; 2]| match at {
        [Some(x), Some(y)] => pixels[y * size[0] + x],
        _ => [0.0; 4],
    };
    // An element's number along an axis, beyond the edge as the sampler has it.
    let within = |number: i64, size: usize| {
        let size = size as i64;
        let number = match addressing {
            Addressing::Clamp => number.clamp(0, size - 1),
            Addressing::Repeat => number.rem_euclid(size),
            Addressing::Mirror => {
                let turned = number.rem_euclid(2 * size);
                turned.min(2 * size - 1 - turned)
            }
            _ => number,
        };
        (0..size).contains(&number).then_some(number as usize)
    };
    let at: Vec<f32> = (0..2).map(|axis| place[axis] * if normalized { size[axis] as f32 } else { 1.0 }).collect();
    if filter == Filter::Nearest {
        return pixel([within(at[0].floor() as i64, size[0]), within(at[1].floor() as i64, size[1])]);
    }
    let low: Vec<f32> = at.iter().map(|at| (at - 0.5).floor()).collect();
    let mut mixed = [0.0; 4];
    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let part = |axis: usize, step: i64| {
            let weight = at[axis] - 0.5 - low[axis];
            let number = within(low[axis] as i64 + step, size[axis]);
            (number, if step == 1 { weight } else { 1.0 - weight })
        };
        let ((x, wide), (y, high)) = (part(0, dx), part(1, dy));
        for (sum, channel) in mixed.iter_mut().zip(pixel([x, y])) {
            *sum += wide * high * channel;
        }
    }
    mixed
}

#[test]
fn samplers_read_between_and_beyond_elements_as_on_the_host() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let module = SafeModule::from_source(device(), READING).unwrap();
    let look = module.kernel("look").unwrap();
    let size = [6, 5];
    let pixels: Vec<[f32; 4]> = noise(3, 30 * 4).chunks(4).map(|b| [b[0], b[1], b[2], b[3]].map(f32::from)).collect();
    let image = Array::from_slice(&stream, (6, 5), &pixels).unwrap();
    // Not on the borders between elements, where rounding may go either way.
    let steps = |size: usize| (-18..2 * 8).map(move |step| step as f32 * size as f32 / 8.3 + 0.137);
    let places: Vec<[f32; 2]> = steps(6).flat_map(|x| steps(5).map(move |y| [x, y])).collect();
    for normalized in [false, true] {
        let places: Vec<[f32; 2]> = match normalized {
            true => places.iter().map(|[x, y]| [x / 6.0, y / 5.0]).collect(),
            false => places.clone(),
        };
        let count = places.len();
        let at = DeviceBuffer::from_slice(&stream, &places).unwrap();
        let out = DeviceBuffer::<[f32; 4]>::zeroed(&stream, count).unwrap();
        for addressing in [Addressing::Border, Addressing::Clamp, Addressing::Repeat, Addressing::Mirror] {
            for filter in [Filter::Nearest, Filter::Linear] {
                let sampler = Sampler::new().normalized(normalized).addressing(addressing).filter(filter);
                let launched = unsafe { launch!(look<<<count as u32, 1, 0, &stream>>>(image, sampler, at, out)) };
                if !normalized && matches!(addressing, Addressing::Repeat | Addressing::Mirror) {
                    let error = launched.unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::InvalidValue);
                    assert!(error.to_string().contains("normalized(true)"), "{error}");
                    continue;
                }
                launched.unwrap();
                let got = out.to_vec(&stream).unwrap();
                for (place, got) in places.iter().zip(got) {
                    let expected = sampled(&pixels, size, *place, (normalized, addressing, filter));
                    // GPUs weigh with 8 bits behind the point.
                    let near = got.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 2.5);
                    assert!(near, "{sampler:?} at {place:?}: {got:?} is not {expected:?}");
                }
            }
        }
    }
}

#[test]
fn a_sampler_object_serves_all_launches_of_a_device() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let module = SafeModule::from_source(device(), READING).unwrap();
    let look = module.kernel("look").unwrap();
    let image = Array::from_slice(&stream, (1, 1), &[[1.0_f32, 2.0, 3.0, 4.0]]).unwrap();
    let at = DeviceBuffer::from_slice(&stream, &[[0.5_f32; 2]]).unwrap();
    let out = DeviceBuffer::<[f32; 4]>::zeroed(&stream, 1).unwrap();
    let ((), calls) = count_calls(|| {
        for _ in 0..5 {
            unsafe { launch!(look<<<1, 1, 0, &stream>>>(image, Sampler::new(), at, out)) }.unwrap();
        }
    });
    let made = calls.iter().find(|(entry, _)| *entry == "clCreateSamplerWithProperties").map_or(0, |(_, count)| *count);
    assert_eq!(made, 1);
    assert_eq!(out.to_vec(&stream).unwrap(), [[1.0, 2.0, 3.0, 4.0]]);
}

#[test]
fn arguments_that_are_not_what_the_parameter_takes_are_refused_with_both_types() {
    let _guard = guard();
    let module = Loaded::new(SHAPES);
    let flat = Made::new(WORDS, 8, 8);
    let line = Made::new(WORDS, 8, 0);
    let one = dim3::new(1, 1, 1);
    let d2 = module.function("d2");
    fails!(
        launch_over(d2, one, &[address(&flat.handle), address(&line.handle)]),
        INVALID_VALUE,
        "argument = 1 of d2: ",
        "image2d_t to",
        "array is an image1d_t"
    );
    let (mut stream, mut freed) = (null_mut(), null_mut());
    ok!(unsafe { stream_create(&mut stream) });
    ok!(unsafe { musaMallocArray(&mut freed, &WORDS.desc(), 8, 8, 0) });
    ok!(musaFreeArray(freed));
    for stranger in [null_mut(), freed, stream.cast()] {
        fails!(
            launch_over(d2, one, &[address(&stranger), address(&flat.handle)]),
            INVALID_HANDLE,
            "0 of d2",
            "image2d_t from"
        );
    }
    ok!(stream_destroy(stream));
    fails!(launch_over(d2, one, &[address(&flat.handle), std::ptr::null()]), INVALID_VALUE, "null entry", "1 of d2");
    let nothing = unsafe { || launch_kernel(d2.cast(), one, one, null_mut(), 0, LEGACY) };
    fails!(nothing(), INVALID_VALUE, "takes 2 arguments");
    let reading = Loaded::new(READING);
    let memory = device_memory!(64);
    let arguments = [address(&flat.handle), address(&0_usize), address(&memory), address(&memory)];
    fails!(
        launch_over(reading.function("look"), one, &arguments),
        NOT_SUPPORTED,
        "1 of look: sampler_t how",
        "declare the sampler"
    );
    ok!(free(memory));

    // In the safe API, where types are known.
    let stream = device().create_stream().unwrap();
    let module = SafeModule::from_source(device(), READING).unwrap();
    let look = module.kernel("look").unwrap();
    let image = Array::<f32>::zeroed(&stream, (4, 4)).unwrap();
    let volume = Array::<f32>::zeroed(&stream, (4, 4, 4)).unwrap();
    let buffer = DeviceBuffer::<f32>::zeroed(&stream, 16).unwrap();
    let how = Sampler::new();
    let cases = [
        (unsafe { launch!(look<<<1, 1, 0, &stream>>>(volume, how, buffer, buffer)) }, "image3d_t", "image2d_t"),
        (unsafe { launch!(look<<<1, 1, 0, &stream>>>(buffer, how, buffer, buffer)) }, "device pointer", "an array"),
        (unsafe { launch!(look<<<1, 1, 0, &stream>>>(image, image, buffer, buffer)) }, "image2d_t", "a sampler"),
        (unsafe { launch!(look<<<1, 1, 0, &stream>>>(image, how, image, buffer)) }, "an array", "device pointer"),
        (unsafe { launch!(look<<<1, 1, 0, &stream>>>(image, 3_u64, buffer, buffer)) }, "u64", "a sampler"),
    ];
    for (outcome, given, expected) in cases {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidValue, "{error}");
        assert!(error.to_string().contains(given) && error.to_string().contains(expected), "{error}");
        assert!(error.to_string().contains("of look"), "{error}");
    }
}

#[test]
fn an_array_that_is_dropped_or_freed_serves_the_kernels_under_way() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let module = SafeModule::from_source(device(), SHAPES).unwrap();
    let d2 = module.kernel("d2").unwrap();
    let values: Vec<u32> = (0..16 * 16).collect();
    let to = Array::<u32>::zeroed(&stream, (16, 16)).unwrap();
    stream.synchronize().unwrap();
    let gate = Gate::close(&stream).unwrap();
    let from = Array::from_slice(&stream, (16, 16), &values).unwrap();
    unsafe { launch!(d2<<<(16, 16), 1, 0, &stream>>>(from, to)) }.unwrap();
    drop(from);
    // What is made now must not get the memory.
    let other = device().create_stream_with(gridcl::StreamFlags::NON_BLOCKING, 0).unwrap();
    let others: Vec<_> = (0..4).map(|_| Array::<u32>::zeroed(&other, (16, 16)).unwrap()).collect();
    other.synchronize().unwrap();
    gate.open();
    let expected: Vec<u32> = values.iter().map(|&index| index + index % 16 + 100 * (index / 16)).collect();
    assert_eq!(to.to_vec(&stream).unwrap(), expected);
    drop(others);
}

#[test]
fn launches_and_copies_with_arrays_keep_the_order_of_their_stream() {
    let _guard = guard();
    let (module, array) = (Loaded::new(SHAPES), Made::new(WORDS, 8, 8));
    let (d2, second) = (module.function("d2"), Made::new(WORDS, 8, 8));
    let zeros = [0_u8; 256];
    let mut expected = vec![0_u32; 64];
    let copy = |to: &Made, from: &Made| {
        ok!(musaMemcpy2DArrayToArray(to.handle, 0, 0, from.handle, 0, 0, 32, 8, musaMemcpyDefault));
    };
    let held = Held::default_stream(device());
    ok!(unsafe {
        musaMemcpy2DToArrayAsync(array.handle, 0, 0, zeros.as_ptr().cast(), 32, 32, 8, musaMemcpyDefault, LEGACY)
    });
    for _ in 0..20 {
        ok!(launch_over(d2, dim3::new(8, 8, 1), &[address(&array.handle), address(&second.handle)]));
        copy(&array, &second);
        for (index, value) in expected.iter_mut().enumerate() {
            *value += (index % 8 + 100 * (index / 8)) as u32;
        }
    }
    held.open();
    let mut got = vec![0_u8; 256];
    ok!(unsafe {
        musaMemcpy2DFromArray(got.as_mut_ptr().cast(), 32, array.handle, 0, 0, 32, 8, musaMemcpyDeviceToHost)
    });
    let expected: Vec<u8> = expected.iter().flat_map(|value| value.to_ne_bytes()).collect();
    assert_same(&got, &expected, || "after 20 turns".into());
}

#[test]
fn an_array_of_another_device_is_refused() {
    let _guard = guard();
    let all = gridcl::Device::all();
    let [here, there, ..] = all[..] else { return };
    let streams = [here, there].map(|device| device.create_stream().unwrap());
    let module = SafeModule::from_source(here, READING).unwrap();
    let look = module.kernel("look").unwrap();
    let image = Array::<f32>::zeroed(&streams[1], (4, 4)).unwrap();
    let buffer = DeviceBuffer::<f32>::zeroed(&streams[0], 16).unwrap();
    let stream = &streams[0];
    let error = unsafe { launch!(look<<<1, 1, 0, stream>>>(image, Sampler::new(), buffer, buffer)) }.unwrap_err();
    assert!(error.to_string().contains("the array belongs to device 1"), "{error}");
}
