//! Pitched buffers of the safe API: shapes, views, and copies with slices, flat buffers and each other.

use crate::blocks::{Held, noise};
use crate::support::{device, gated};
use gridcl::testing::{count_calls, guard};
use gridcl::{Device, DeviceBuffer, ErrorKind, Module, PinnedBuffer, PitchedBuffer, Result, Shape, Strided, launch};

/// The elements of a box within tight rows.
fn boxed<T: Copy>(all: &[T], shape: Shape, x: (usize, usize), y: (usize, usize), z: (usize, usize)) -> Vec<T> {
    let row = |y: usize, z: usize| (z * shape.height + y) * shape.width;
    let rows = (z.0..z.1).flat_map(|z| (y.0..y.1).map(move |y| row(y, z)));
    rows.flat_map(|row| all[row + x.0..row + x.1].to_vec()).collect()
}

#[test]
fn rows_are_padded_to_a_pitch_and_come_back_tight() -> Result<()> {
    let _guard = guard();
    let stream = device().create_stream()?;
    for shape in [(1, 1, 1), (200, 30, 1), (128, 3, 1), (5, 4, 3), (1000, 2, 5)].map(Shape::from) {
        let data: Vec<u32> = (0..shape.len() as u32).collect();
        let buffer = PitchedBuffer::from_slice(&stream, (shape.width, shape.height, shape.depth), &data)?;
        assert_eq!((buffer.shape(), buffer.device()), (shape, device()));
        assert!(buffer.pitch() >= shape.width * 4 && buffer.pitch().is_multiple_of(512));
        assert_eq!(buffer.to_vec(&stream)?, data);
    }
    // Elements that no alignment is a multiple of.
    let data: Vec<[u8; 3]> = (0..70).map(|i| [i, 2 * i, 255 - i]).collect();
    assert_eq!(PitchedBuffer::from_slice(&stream, (10, 7), &data)?.to_vec(&stream)?, data);
    assert_eq!(PitchedBuffer::<f32>::zeroed(&stream, (9, 9))?.to_vec(&stream)?, [0.0; 81]);
    Ok(())
}

#[test]
fn views_read_write_and_fill_their_box_alone() -> Result<()> {
    let _guard = guard();
    let stream = device().create_stream()?;
    let shape = Shape::from((20, 10, 4));
    let mut data: Vec<u16> = (0..800).collect();
    let mut volume = PitchedBuffer::from_slice(&stream, (20, 10, 4), &data)?;
    for (x, y, z) in [((0, 20), (0, 10), (0, 4)), ((3, 7), (2, 9), (1, 3)), ((19, 20), (9, 10), (3, 4))] {
        let view = volume.view(x.0..x.1, y.0..y.1, z.0..z.1);
        assert_eq!(view.shape(), Shape::from((x.1 - x.0, y.1 - y.0, z.1 - z.0)));
        assert_eq!(view.to_vec(&stream)?, boxed(&data, shape, x, y, z));
    }
    volume.view_mut(3..7, 2..=8, 1..3).fill(&stream, 0xAB)?;
    stream.upload(&[7, 8, 9, 10], volume.view_mut(18.., ..2, 3..))?;
    for (z, y) in [1, 2].into_iter().flat_map(|z| (2..9).map(move |y| (z, y))) {
        data[(z * 10 + y) * 20 + 3..][..4].fill(0xABAB);
    }
    data[(3 * 10) * 20 + 18..][..2].copy_from_slice(&[7, 8]);
    data[(3 * 10 + 1) * 20 + 18..][..2].copy_from_slice(&[9, 10]);
    assert_eq!(volume.to_vec(&stream)?, data);
    volume.fill(&stream, 0)?;
    assert_eq!(volume.to_vec(&stream)?, [0; 800]);
    Ok(())
}

#[test]
fn host_slices_and_flat_buffers_may_have_gaps_between_their_rows() -> Result<()> {
    let _guard = guard();
    let stream = device().create_stream()?;
    let source: Vec<i32> = (0..100).collect();
    let mut image = PitchedBuffer::<i32>::zeroed(&stream, (3, 2, 2))?;
    // Rows of 3 that begin 7 apart, from the 5th element on.
    stream.upload_rows(&source[5..], 7, &mut image)?;
    assert_eq!(image.to_vec(&stream)?, [5, 6, 7, 12, 13, 14, 19, 20, 21, 26, 27, 28]);

    let mut host = [-1; 13];
    stream.download_rows(image.view(1.., .., ..), &mut host, 3)?;
    assert_eq!(host, [6, 7, -1, 13, 14, -1, 20, 21, -1, 27, 28, -1, -1]);

    let mut pinned = PinnedBuffer::<i32>::new(device(), 20)?;
    stream.copy(&image, Strided::new(pinned.slice_mut(1..), 5))?;
    let expected = [0, 5, 6, 7, 0, 0, 12, 13, 14, 0, 0, 19, 20, 21, 0, 0, 26, 27, 28, 0];
    assert_eq!(*pinned.read()?, expected);

    let mut flat = DeviceBuffer::<i32>::zeroed(&stream, 12)?;
    stream.copy(&image, &mut flat)?;
    assert_eq!(flat.to_vec(&stream)?, image.to_vec(&stream)?);
    let mut narrow = PitchedBuffer::<i32>::zeroed(&stream, (2, 4))?;
    stream.copy(Strided::new(flat.slice(1..), 3), &mut narrow)?;
    assert_eq!(narrow.to_vec(&stream)?, [6, 7, 13, 14, 20, 21, 27, 28]);
    // Within one buffer through another, and between two.
    let mut beside = PitchedBuffer::<i32>::zeroed(&stream, (9, 9))?;
    stream.copy(narrow.view(.., 1..3, ..), beside.view_mut(7.., 7.., ..))?;
    assert_eq!(beside.view(6.., 7.., ..).to_vec(&stream)?, [0, 13, 14, 0, 20, 21]);
    Ok(())
}

#[test]
fn ends_that_do_not_fit_are_refused_and_nothing_is_copied() -> Result<()> {
    let _guard = guard();
    let stream = device().create_stream()?;
    let mut image = PitchedBuffer::from_slice(&stream, (4, 3), &[1u8; 12])?;
    let mut flat = DeviceBuffer::<u8>::zeroed(&stream, 100)?;
    let other = PitchedBuffer::<u8>::zeroed(&stream, (3, 4))?;
    let refusals = [
        (stream.upload(&[0; 11], &mut image), ErrorKind::InvalidValue, "source = 11 elements"),
        (stream.download(&image, &mut [0; 13]), ErrorKind::InvalidValue, "target = 13 elements"),
        (stream.copy(&other, &mut image), ErrorKind::InvalidValue, "3 x 4 x 1"),
        (stream.upload_rows(&[0; 100], 3, &mut image), ErrorKind::InvalidPitch, "rows of 4 elements"),
        (stream.upload_rows(&[0; 23], 10, &mut image), ErrorKind::InvalidValue, "need 24"),
        (stream.upload_rows(&[0; 100], 10, &mut flat), ErrorKind::InvalidValue, "neither end"),
        (stream.download_rows(&image, &mut [0; 100], usize::MAX), ErrorKind::InvalidValue, "more than there can be"),
    ];
    for (refusal, kind, text) in refusals {
        let error = refusal.unwrap_err();
        assert!(error.kind() == kind && error.to_string().contains(text), "{text:?} in: {error}");
    }
    assert_eq!(image.to_vec(&stream)?, [1; 12]);

    let too_long = unsafe { PitchedBuffer::<u64>::uninit(device(), (1 << 28, 1)) }.unwrap_err();
    assert!(too_long.kind() == ErrorKind::InvalidValue && too_long.to_string().contains("width = 268435456 elements"));
    for shape in [(1, usize::MAX, 1), (1, 1 << 40, 1 << 40), (1, 1, usize::MAX)] {
        let too_large = unsafe { PitchedBuffer::<u8>::uninit(device(), shape) }.unwrap_err();
        assert_eq!(too_large.kind(), ErrorKind::OutOfMemory);
    }
    Ok(())
}

#[test]
fn empty_boxes_are_fine_everywhere() -> Result<()> {
    let _guard = guard();
    let stream = device().create_stream()?;
    for shape in [(0, 5, 5), (5, 0, 5), (5, 5, 0)] {
        let mut nothing = PitchedBuffer::<u32>::zeroed(&stream, shape)?;
        stream.upload(&[], &mut nothing)?;
        assert_eq!(nothing.to_vec(&stream)?, []);
    }
    let mut image = PitchedBuffer::from_slice(&stream, (4, 3), &[5u8; 12])?;
    image.view_mut(4.., .., ..).fill(&stream, 1)?;
    image.view_mut(.., 3..3, ..).fill(&stream, 1)?;
    stream.upload_rows(&[], 9, image.view_mut(.., .., 1..))?;
    assert_eq!(image.to_vec(&stream)?, [5; 12]);
    Ok(())
}

#[test]
#[should_panic(expected = "range 2..5 is not within a buffer of 4 elements")]
fn a_view_out_of_range_panics_as_a_slice_does() {
    let _guard = guard();
    let stream = device().create_stream().unwrap();
    let image = PitchedBuffer::<u8>::zeroed(&stream, (4, 3)).unwrap();
    let _ = image.view(2..5, .., ..);
}

#[test]
fn a_kernel_takes_the_start_of_a_buffer_or_of_a_view() -> Result<()> {
    let _guard = guard();
    let stream = device().create_stream()?;
    let module = Module::from_source(
        device(),
        "__kernel void add(__global uchar *base, ulong pitch, int more) {
            __global int *row = (__global int *)(base + get_global_id(1) * pitch);
            row[get_global_id(0)] += more;
        }",
    )?;
    let add = module.kernel("add")?;
    let data: Vec<i32> = (0..60).collect();
    let mut image = PitchedBuffer::from_slice(&stream, (10, 6), &data)?;
    let pitch = image.pitch() as u64;
    assert_eq!(image.as_device_ptr().address() % 256, 0);
    // SAFETY: the launches have the size of what they are given.
    unsafe {
        launch!(add<<<(10, 6), (1, 1), 0, &stream>>>(image, pitch, 100))?;
        launch!(add<<<(2, 3), (1, 1), 0, &stream>>>(image.view_mut(..2, 3.., ..), pitch, 1000))?;
    }
    let mut expected: Vec<i32> = data.iter().map(|value| value + 100).collect();
    for y in 3..6 {
        expected[y * 10..][..2].iter_mut().for_each(|value| *value += 1000);
    }
    assert_eq!(image.to_vec(&stream)?, expected);
    Ok(())
}

#[test]
fn dropping_a_pitched_buffer_in_use_waits_for_nothing_and_loses_nothing() -> Result<()> {
    let _guard = guard();
    let stream = device().create_stream()?;
    let data = noise(1, 300 * 200);
    let mut back = PinnedBuffer::<u8>::new(device(), data.len())?;
    let held = Held::close(&stream);
    let image = PitchedBuffer::from_slice(&stream, (300, 200), &data)?;
    stream.copy(&image, &mut back)?;
    drop(image);
    let mut others = Vec::new();
    for _ in 0..4 {
        // What comes after must not be given the memory that is still in use.
        let mut other = unsafe { PitchedBuffer::<u8>::uninit(device(), (300, 200)) }?;
        other.fill(&device().create_stream()?, 0)?;
        others.push(other);
    }
    held.open();
    assert!(*back.read()? == data[..], "what the buffer held");
    Ok(())
}

#[test]
fn a_view_goes_up_and_down_in_one_transfer_each() -> Result<()> {
    let _guard = guard();
    let (stream, gate) = gated(device());
    let mut image = PitchedBuffer::<u8>::zeroed(&stream, (1000, 100))?;
    let mut pinned = PinnedBuffer::<u8>::new(device(), 500 * 90)?;
    let rows = vec![7; 500 * 90];
    let mut run = || -> Result<()> {
        stream.upload(&rows, image.view_mut(100..600, 5..95, ..))?;
        stream.copy(image.view(100..600, 5..95, ..), &mut pinned)
    };
    run()?;
    let (outcome, calls) = count_calls(run);
    outcome?;
    let moves: u64 = calls.iter().filter(|(name, _)| name.ends_with("Rect")).map(|(_, count)| count).sum();
    assert_eq!(moves, 2, "{calls:?}");
    gate.open();
    assert!(*pinned.read()? == [7; 500 * 90]);
    Ok(())
}

#[test]
fn boxes_go_from_device_to_device() -> Result<()> {
    let _guard = guard();
    if Device::count() < 2 {
        eprintln!("needs two devices");
        return Ok(());
    }
    let streams = [Device::get(0)?.create_stream()?, Device::get(1)?.create_stream()?];
    let data = noise(2, 30 * 20 * 3);
    let source = PitchedBuffer::from_slice(&streams[0], (30, 20, 3), &data)?;
    let mut target = PitchedBuffer::<u8>::zeroed(&streams[1], (40, 30, 3))?;
    streams[0].synchronize()?;
    streams[1].copy(source.view(3..20, 5.., ..), target.view_mut(23.., 15.., ..))?;
    let moved = target.view(23.., 15.., ..).to_vec(&streams[1])?;
    assert_eq!(moved, boxed(&data, source.shape(), (3, 20), (5, 20), (0, 3)));
    Ok(())
}
