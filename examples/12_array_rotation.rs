//! Array rotation: turns a photo by any angle with an array that is read between its elements, and checks every pixel
//! against the host.
//!
//! An array is memory that kernels reach by coordinates through a sampler, which mixes neighbouring elements and says what
//! there is beyond the edge: what CUDA calls a texture. The result is written to a second array. Seed chapter: MUSA
//! "内存管理" (texture memory, `musaMallocArray`).
//!
//! ```sh
//! cargo run --release --example 12_array_rotation -- 30
//! ```

mod common;

use gridcl::prelude::*;
use image::{DynamicImage, Rgba32FImage};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

const PHOTO: &[u8] = include_bytes!("data/chelsea.png");
const RESULT: &str = "out/chelsea_rotated.png";
/// Blocks are this wide and high: 256 work items, which any device can run.
const BLOCK: u32 = 16;
/// How far device and host may be apart, in steps of an 8-bit channel. GPUs mix neighbours in hardware, with weights that
/// are multiples of 1/256.
const TOLERANCE: f32 = 2.0;

/// Red, green, blue and alpha from 0 to 1: a `float4` of OpenCL C.
type Pixel = [f32; 4];

fn main() -> ExitCode {
    let usage = "12_array_rotation [DEGREES]    (default 30)";
    common::end(run(&common::argument(usage).unwrap_or_else(|| "30".into())))
}

fn run(degrees: &str) -> Result<(), Box<dyn Error>> {
    let degrees: f32 = degrees.parse().map_err(|error| format!("\"{degrees}\" is not an angle: {error}"))?;
    let (sine, cosine) = degrees.to_radians().sin_cos();
    let photo = image::load_from_memory(PHOTO)?.into_rgba32f();
    let (width, height) = photo.dimensions();
    let shape = (width as usize, height as usize);

    let device = Device::get(0)?;
    let stream = device.create_stream()?;
    println!("{device}: {width} x {height} pixels turned by {degrees} degrees");
    let module = Module::from_source(device, include_str!("../kernels_cl/rotate.cl"))?;
    let rotate_picture = module.kernel("rotate_picture")?;

    let from = Array::<Pixel>::from_slice(&stream, shape, photo.as_raw().as_chunks().0)?;
    let to = Array::<Pixel>::zeroed(&stream, shape)?;
    // Pixels are counted, not measured from 0 to 1; between them is a mixture, around them nothing.
    let sampler = Sampler::new().filter(Filter::Linear).addressing(Addressing::Border);
    let grid = (width.div_ceil(BLOCK), height.div_ceil(BLOCK));
    let turn = [cosine, sine];
    // SAFETY: the kernel leaves the pixels beyond `to` alone, and a sampler reads none outside of `from`.
    unsafe { launch!(rotate_picture<<<grid, (BLOCK, BLOCK), 0, &stream>>>(from, sampler, to, turn))? };
    let rotated = to.to_vec(&stream)?;

    compare(&rotated, photo.as_raw().as_chunks().0, shape, turn)?;
    save(&rotated, width, height)
}

// --- The same on the host, as plainly as it can be said ------------------------------------------------------------

/// The mixture of the four pixels around a place; nothing beyond the edges.
fn mixture(picture: &[Pixel], (width, height): (usize, usize), [x, y]: [f32; 2]) -> Pixel {
    let (left, top) = ((x - 0.5).floor(), (y - 0.5).floor());
    let (right_part, bottom_part) = (x - 0.5 - left, y - 0.5 - top);
    let mut mixed = [0.0; 4];
    for (dx, dy) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
        let (x, y) = (left + dx, top + dy);
        if x < 0.0 || y < 0.0 || x >= width as f32 || y >= height as f32 {
            continue;
        }
        let part = |step: f32, far: f32| if step == 0.0 { 1.0 - far } else { far };
        let weight = part(dx, right_part) * part(dy, bottom_part);
        for (sum, channel) in mixed.iter_mut().zip(picture[y as usize * width + x as usize]) {
            *sum += weight * channel;
        }
    }
    mixed
}

fn compare(device: &[Pixel], photo: &[Pixel], shape: (usize, usize), turn: [f32; 2]) -> Result<(), Box<dyn Error>> {
    let (width, height) = shape;
    let middle = [width as f32 * 0.5, height as f32 * 0.5];
    let mut worst = 0.0_f32;
    for (index, device) in device.iter().enumerate() {
        let out = [(index % width) as f32 + 0.5 - middle[0], (index / width) as f32 + 0.5 - middle[1]];
        let from = [turn[0] * out[0] + turn[1] * out[1] + middle[0], turn[0] * out[1] - turn[1] * out[0] + middle[1]];
        for (device, host) in device.iter().zip(mixture(photo, shape, from)) {
            let difference = (device - host).abs() * 255.0;
            // Not a number is further away than anything.
            if difference > TOLERANCE || difference.is_nan() {
                let place = format!("column {} of row {}", index % width, index / width);
                return Err(format!("{place} is {device} on the device and {host} on the host").into());
            }
            worst = worst.max(difference);
        }
    }
    println!("device and host are at most {worst:.4} of an 8-bit step apart");
    Ok(())
}

fn save(pixels: &[Pixel], width: u32, height: u32) -> Result<(), Box<dyn Error>> {
    let picture = Rgba32FImage::from_raw(width, height, pixels.as_flattened().to_vec()).ok_or("a pixel is missing")?;
    if let Some(folder) = Path::new(RESULT).parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
    }
    DynamicImage::from(picture).to_rgba8().save(RESULT)?;
    println!("wrote {RESULT}");
    Ok(())
}
