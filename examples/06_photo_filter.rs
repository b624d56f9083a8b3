//! Photo filter: blurs two photos and finds their edges on the device, and checks every pixel against the host.
//!
//! A whole small application in the safe API: grids and blocks of two dimensions, vector arguments, local (shared)
//! memory, options for the kernel compiler, a stream for each photo, and times by events. Seed chapters: MUSA "内核启动"
//! (launches of several dimensions, shared memory) and "流" (streams), TOPS 7.2 and 7.3.
//!
//! ```sh
//! cargo run --release --example 06_photo_filter -- out
//! ```

mod common;

use gridcl::prelude::*;
use image::{DynamicImage, GrayImage, Rgba32FImage};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const PHOTOS: [(&str, &[u8]); 2] = [
    ("chelsea", include_bytes!("data/chelsea.png")),
    ("hubble_deep_field", include_bytes!("data/hubble_deep_field.jpg")),
];

/// Pixels on each side of a pixel that the blur takes in, and the width of its bell curve.
const RADIUS: i32 = 6;
const SIGMA: f32 = 2.0;
/// Blocks are this wide and high: 256 work items, which any device can run.
const BLOCK: u32 = 16;
/// How far device and host may be apart, in steps of an 8-bit channel. Both round sums of floats, but not at the same
/// places, so they differ somewhere behind the fifth digit.
const TOLERANCE: f32 = 0.01;

/// Red, green, blue and alpha from 0 to 1: a `float4` of OpenCL C.
type Pixel = [f32; 4];

fn main() -> ExitCode {
    let out = common::argument("06_photo_filter [OUTPUT_DIRECTORY]    (default out)").unwrap_or_else(|| "out".into());
    common::end(run(Path::new(&out)))
}

fn run(out: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(out).map_err(|error| format!("{} cannot be made: {error}", out.display()))?;
    let device = Device::get(0)?;
    let filter = Filter::new(device)?;
    println!("{device}: blur with radius {RADIUS}, then edges");

    // All photos are under way before the first result is waited for.
    let mut jobs = Vec::new();
    for (name, file) in PHOTOS {
        let photo = image::load_from_memory(file)?.into_rgba32f();
        jobs.push((name, filter.start(&photo)?, photo));
    }
    for (name, job, photo) in jobs {
        let result = job.finish()?;
        let (width, height) = photo.dimensions();
        println!("{name}, {width} x {height}: blurred in {:.3} ms, edges in {:.3} ms", result.blur_ms, result.edges_ms);

        let picture = Picture { pixels: pixels(&photo).to_vec(), size: [width as i32, height as i32] };
        let blurred = blur_on_host(&picture, &filter.weights);
        let edges = sobel_on_host(&blurred);
        compare("blur", result.blurred.as_flattened(), blurred.pixels.as_flattened())?;
        compare("edges", &result.edges, &edges)?;

        let files = ["blur", "edges"].map(|what| out.join(format!("{name}_{what}.png")));
        save(&files, &result, width, height)?;
        println!("  wrote {} and {}", files[0].display(), files[1].display());
    }
    Ok(())
}

/// The kernels and the blur's weights, which all photos share.
struct Filter {
    device: Device,
    blur: Kernel,
    sobel: Kernel,
    weights: Vec<f32>,
}

impl Filter {
    fn new(device: Device) -> gridcl::Result<Self> {
        let blur = Module::from_source(device, include_str!("../kernels_cl/blur.cl"))?;
        // A constant that host and kernel have to agree on is defined once, here.
        let options = format!("-DBLOCK={BLOCK}");
        let sobel = Module::with_options(device, include_str!("../kernels_cl/sobel.cl"), &options)?;

        let bell: Vec<f32> = (-RADIUS..=RADIUS).map(|i| (-(i * i) as f32 / (2.0 * SIGMA * SIGMA)).exp()).collect();
        let sum: f32 = bell.iter().sum();
        let weights = bell.iter().map(|weight| weight / sum).collect();
        Ok(Self { device, blur: blur.kernel("blur")?, sobel: sobel.kernel("sobel")?, weights })
    }

    /// Puts all work on a photo into a stream of its own, and waits for none of it.
    fn start(&self, photo: &Rgba32FImage) -> gridcl::Result<Job> {
        let stream = self.device.create_stream()?;
        let (width, height) = photo.dimensions();
        let size = [width as i32, height as i32];
        let count = (width * height) as usize;

        let picture = DeviceBuffer::<Pixel>::from_slice(&stream, pixels(photo))?;
        let rows = DeviceBuffer::<Pixel>::zeroed(&stream, count)?;
        let blurred = DeviceBuffer::<Pixel>::zeroed(&stream, count)?;
        let edges = DeviceBuffer::<f32>::zeroed(&stream, count)?;
        let weights = DeviceBuffer::from_slice(&stream, &self.weights)?;

        let times = [Event::new(self.device)?, Event::new(self.device)?, Event::new(self.device)?];
        let grid = (width.div_ceil(BLOCK), height.div_ceil(BLOCK));
        let block = (BLOCK, BLOCK);
        let (blur, sobel) = (&self.blur, &self.sobel);

        times[0].record(&stream)?;
        // SAFETY: all pictures have `width` times `height` pixels and the kernels touch no others; there are
        // 2 * RADIUS + 1 weights. The launches are in one stream, so each sees the work of the one before.
        unsafe {
            launch!(blur<<<grid, block, 0, &stream>>>(picture, rows, size, [1, 0], weights, RADIUS))?;
            launch!(blur<<<grid, block, 0, &stream>>>(rows, blurred, size, [0, 1], weights, RADIUS))?;
        }
        times[1].record(&stream)?;
        // SAFETY: as above.
        unsafe { launch!(sobel<<<grid, block, 0, &stream>>>(blurred, edges, size))? };
        times[2].record(&stream)?;

        // `picture`, `rows` and `weights` may go: their memory is reused when the kernels are done with it.
        Ok(Job { stream, blurred, edges, times })
    }
}

/// A photo's work under way.
struct Job {
    stream: Stream,
    blurred: DeviceBuffer<Pixel>,
    edges: DeviceBuffer<f32>,
    times: [Event; 3],
}

struct Filtered {
    blurred: Vec<Pixel>,
    edges: Vec<f32>,
    blur_ms: f32,
    edges_ms: f32,
}

impl Job {
    fn finish(self) -> gridcl::Result<Filtered> {
        let [start, blurred, edged] = &self.times;
        Ok(Filtered {
            blurred: self.blurred.to_vec(&self.stream)?,
            edges: self.edges.to_vec(&self.stream)?,
            blur_ms: blurred.elapsed_since(start)?,
            edges_ms: edged.elapsed_since(blurred)?,
        })
    }
}

fn pixels(photo: &Rgba32FImage) -> &[Pixel] {
    photo.as_raw().as_chunks().0
}

// --- The same on the host, as plainly as it can be said ------------------------------------------------------------

struct Picture {
    pixels: Vec<Pixel>,
    size: [i32; 2],
}

impl Picture {
    /// The pixel at a place; beyond the edges, the outermost one.
    fn at(&self, x: i32, y: i32) -> Pixel {
        let [width, height] = self.size;
        self.pixels[(y.clamp(0, height - 1) * width + x.clamp(0, width - 1)) as usize]
    }

    fn map<T>(&self, pixel: impl Fn(i32, i32) -> T) -> Vec<T> {
        let [width, height] = self.size;
        (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| pixel(x, y)).collect()
    }
}

fn blur_on_host(picture: &Picture, weights: &[f32]) -> Picture {
    let pass = |from: &Picture, dx: i32, dy: i32| Picture {
        size: from.size,
        pixels: from.map(|x, y| {
            let mut sum = [0.0; 4];
            for (i, weight) in (-RADIUS..=RADIUS).zip(weights) {
                let near = from.at(x + i * dx, y + i * dy);
                for channel in 0..4 {
                    sum[channel] += weight * near[channel];
                }
            }
            sum
        }),
    };
    pass(&pass(picture, 1, 0), 0, 1)
}

fn sobel_on_host(picture: &Picture) -> Vec<f32> {
    let brightness = |x, y| {
        let [red, green, blue, _] = picture.at(x, y);
        0.299 * red + 0.587 * green + 0.114 * blue
    };
    picture.map(|x, y| {
        let column = |x| brightness(x, y - 1) + 2.0 * brightness(x, y) + brightness(x, y + 1);
        let row = |y| brightness(x - 1, y) + 2.0 * brightness(x, y) + brightness(x + 1, y);
        (column(x + 1) - column(x - 1)).hypot(row(y + 1) - row(y - 1))
    })
}

fn compare(what: &str, device: &[f32], host: &[f32]) -> Result<(), Box<dyn Error>> {
    assert_eq!(device.len(), host.len(), "{what}: as many values on the device as on the host");
    let mut worst = (0, 0.0_f32);
    for (i, (device, host)) in device.iter().zip(host).enumerate() {
        let difference = (device - host).abs() * 255.0;
        // Not a number is further away than anything.
        if difference > worst.1 || difference.is_nan() {
            worst = (i, difference);
        }
    }
    println!("  {what}: device and host are at most {:.6} of an 8-bit step apart", worst.1);
    if worst.1 <= TOLERANCE {
        return Ok(());
    }
    let (i, difference) = worst;
    Err(format!(
        "{what}: value {i} is {} on the device and {} on the host, {difference} steps apart, at most {TOLERANCE} allowed",
        device[i], host[i]
    )
    .into())
}

fn save(files: &[PathBuf; 2], result: &Filtered, width: u32, height: u32) -> Result<(), Box<dyn Error>> {
    let blurred = Rgba32FImage::from_raw(width, height, result.blurred.as_flattened().to_vec());
    let edges = result.edges.iter().map(|edge| (edge * 255.0).round().min(255.0) as u8).collect();
    let edges = GrayImage::from_raw(width, height, edges);
    DynamicImage::from(blurred.ok_or("a pixel is missing")?).to_rgb8().save(&files[0])?;
    edges.ok_or("a pixel is missing")?.save(&files[1])?;
    Ok(())
}
