//! Pitched image: a photo in memory whose rows are padded to the device's liking, in the MUSA dialect.
//!
//! Rows go up with Memcpy2D into MallocPitch memory; a kernel reckons its rows by the pitch; Memset2D and a Memcpy2D
//! within the device touch boxes of the picture; a box of the result comes down into a wider picture on the host. The
//! same is done on the host, and every byte compared. Seed chapter: MUSA "内存管理" (memory), MallocPitch, Memcpy2D and
//! Memset2D. In safe Rust, `gridcl::PitchedBuffer` is the same with views in place of addresses.
//!
//! ```sh
//! cargo run --release --example 10_pitched_image -- out
//! ```

mod common;

use gridcl::musa::*;
use image::RgbaImage;
use std::error::Error;
use std::ffi::{CStr, c_void};
use std::path::Path;
use std::process::ExitCode;
use std::ptr::null_mut;

const PHOTO: &[u8] = include_bytes!("data/chelsea.png");
/// Kernels are OpenCL C, as NUL-terminated text.
const KERNELS: &str = concat!(include_str!("../kernels_cl/emboss.cl"), "\0");

/// Red, green, blue and alpha, a byte each: a `uchar4` of OpenCL C.
type Pixel = [u8; 4];
const PIXEL: usize = size_of::<Pixel>();

/// Blocks are this wide and high: 256 work items, which any device can run.
const BLOCK: u32 = 16;
/// The byte of which the bars above and below are made.
const BAR: u8 = 0xFF;
const BAR_ROWS: usize = 20;
/// What stays as in the photo, and what is brought back: column, row, columns, rows.
const EYES: [usize; 4] = [120, 75, 235, 75];
const CROP: [usize; 4] = [60, 10, 300, 200];

/// Hands an error to the caller when a call fails. The dialect's own text is short;
/// [`gridcl::last_error_detail`] knows the argument and the reason too.
macro_rules! musa_check {
    ($call:expr) => {
        let err = $call;
        if err != musaSuccess {
            let text = CStr::from_ptr(musaGetErrorString(err)).to_string_lossy();
            return Err(format!("{text}: {}", gridcl::last_error_detail().unwrap_or_default()).into());
        }
    };
}

fn main() -> ExitCode {
    let usage = "10_pitched_image [OUTPUT_DIRECTORY]    (default out)";
    let out = common::argument(usage).unwrap_or_else(|| "out".into());
    common::end(run(Path::new(&out)))
}

fn run(out: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(out).map_err(|error| format!("{} cannot be made: {error}", out.display()))?;
    let photo = image::load_from_memory(PHOTO)?.into_rgba8();
    let (width, height) = (photo.width() as usize, photo.height() as usize);

    // What is brought back goes beside the same box of the photo: into the right half of a picture of two crops.
    let [x, y, columns, rows] = CROP;
    let mut sheet = vec![[0; PIXEL]; 2 * columns * rows];
    for row in 0..rows {
        let from = &pixels(&photo)[(y + row) * width + x..][..columns];
        sheet[row * 2 * columns..][..columns].copy_from_slice(from);
    }
    let mut expected = sheet.clone();
    on_device(&photo, &mut sheet)?;

    let result = on_host(pixels(&photo), width, height);
    for row in 0..rows {
        let from = &result[(y + row) * width + x..][..columns];
        expected[row * 2 * columns + columns..][..columns].copy_from_slice(from);
    }
    if let Some(at) = sheet.iter().zip(&expected).position(|(device, host)| device != host) {
        let (device, host) = (sheet[at], expected[at]);
        let place = (at % (2 * columns), at / (2 * columns));
        return Err(format!("pixel {place:?} is {device:?} on the device and {host:?} on the host").into());
    }
    println!("device and host agree in all {} pixels of the result", sheet.len());

    let file = out.join("chelsea_emboss.png");
    let picture = RgbaImage::from_raw(2 * columns as u32, rows as u32, sheet.into_flattened());
    picture.ok_or("a pixel is missing")?.save(&file)?;
    println!("wrote {}", file.display());
    Ok(())
}

/// Embosses the photo on the device, and brings a box of the result back into the right half of `sheet`.
fn on_device(photo: &RgbaImage, sheet: &mut [Pixel]) -> Result<(), Box<dyn Error>> {
    let (width, height) = (photo.width() as usize, photo.height() as usize);
    // Widths and pitches are bytes, heights are rows. On the host there is no room between the rows.
    let row_bytes = width * PIXEL;
    // SAFETY: every pointer given is that of a live variable, of host memory that holds the rows, or of device memory
    // between its allocation and its one free; the kernel writes no pixel outside of `size`.
    unsafe {
        let (mut module, mut emboss): (musaModule_t, musaFunction_t) = (null_mut(), null_mut());
        musa_check!(musaModuleLoadData(&mut module, KERNELS.as_ptr().cast()));
        musa_check!(musaModuleGetFunction(&mut emboss, module, c"emboss".as_ptr()));

        // The device says how far apart the rows are, for either picture.
        let (mut d_photo, mut d_result): (*mut c_void, *mut c_void) = (null_mut(), null_mut());
        let (mut photo_pitch, mut result_pitch) = (0, 0);
        musa_check!(musaMallocPitch(&mut d_photo, &mut photo_pitch, row_bytes, height));
        musa_check!(musaMallocPitch(&mut d_result, &mut result_pitch, row_bytes, height));
        println!("{width} x {height} pixels: rows of {row_bytes} bytes, {photo_pitch} apart on the device");

        let from = photo.as_raw().as_ptr().cast();
        musa_check!(musaMemcpy2D(d_photo, photo_pitch, from, row_bytes, row_bytes, height, musaMemcpyHostToDevice));
        // The edges, which the kernel leaves alone.
        let within = musaMemcpyDeviceToDevice;
        musa_check!(musaMemcpy2D(d_result, result_pitch, d_photo, photo_pitch, row_bytes, height, within));

        // emboss<<<grid, block>>>(d_photo, photoPitch, d_result, resultPitch, {width, height});
        let (mut from_pitch, mut to_pitch) = (photo_pitch as u64, result_pitch as u64);
        let mut size = [width as i32, height as i32];
        let mut args: [*mut c_void; 5] = [
            (&raw mut d_photo).cast(),
            (&raw mut from_pitch).cast(),
            (&raw mut d_result).cast(),
            (&raw mut to_pitch).cast(),
            (&raw mut size).cast(),
        ];
        let grid = (photo.width().div_ceil(BLOCK), photo.height().div_ceil(BLOCK));
        let block = (BLOCK, BLOCK);
        musa_check!(musaLaunchKernel(emboss.cast(), grid.into(), block.into(), args.as_mut_ptr(), 0, null_mut()));

        // The eyes as they were: a box of one picture to the same place of the other.
        let place = |base: *mut c_void, pitch: usize, [x, y, ..]: [usize; 4]| base.byte_add(y * pitch + x * PIXEL);
        let (to, from) = (place(d_result, result_pitch, EYES), place(d_photo, photo_pitch, EYES));
        musa_check!(musaMemcpy2D(to, result_pitch, from, photo_pitch, EYES[2] * PIXEL, EYES[3], within));

        // Bars above and below, of which the room behind the rows is no part.
        let below = d_result.byte_add((height - BAR_ROWS) * result_pitch);
        musa_check!(musaMemset2D(d_result, result_pitch, BAR.into(), row_bytes, BAR_ROWS));
        musa_check!(musaMemset2D(below, result_pitch, BAR.into(), row_bytes, BAR_ROWS));

        // A box of the result, into rows on the host that are twice as long. This waits for all of the above.
        let [_, _, columns, rows] = CROP;
        let to = sheet.as_mut_ptr().add(columns).cast();
        let from = place(d_result, result_pitch, CROP);
        let down = musaMemcpyDeviceToHost;
        musa_check!(musaMemcpy2D(to, 2 * columns * PIXEL, from, result_pitch, columns * PIXEL, rows, down));

        musa_check!(musaFree(d_photo));
        musa_check!(musaFree(d_result));
        musa_check!(musaModuleUnload(module));
    }
    Ok(())
}

fn pixels(photo: &RgbaImage) -> &[Pixel] {
    photo.as_raw().as_chunks().0
}

// --- The same on the host, as plainly as it can be said ------------------------------------------------------------

fn on_host(photo: &[Pixel], width: usize, height: usize) -> Vec<Pixel> {
    let mut result = photo.to_vec();
    for y in 1..height - 1 {
        for x in 1..width - 1 {
            let (above, below) = (photo[(y - 1) * width + x - 1], photo[(y + 1) * width + x + 1]);
            let channel = |i: usize| (i32::from(below[i]) - i32::from(above[i]) + 128).clamp(0, 255) as u8;
            result[y * width + x] = [channel(0), channel(1), channel(2), 255];
        }
    }
    let [x, y, columns, rows] = EYES;
    for row in y..y + rows {
        let eyes = row * width + x..row * width + x + columns;
        result[eyes.clone()].copy_from_slice(&photo[eyes]);
    }
    result[..BAR_ROWS * width].fill([BAR; PIXEL]);
    result[(height - BAR_ROWS) * width..].fill([BAR; PIXEL]);
    result
}
