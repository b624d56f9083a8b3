//! Images (`images.cl`): arrays and samplers between other arguments, beside symbols and local memory, and volumes.

use crate::support::{Random, get, setting, zeros};
use gridcl::{Addressing, Array, Local, Module, Sampler};

const TEXT: &str = include_str!("images.cl");

/// Whether the first device builds the text; one without images does not. Says so where it does not.
fn has_images() -> bool {
    let probe =
        "#ifndef __IMAGE_SUPPORT__\n#error it has none\n#endif\n__kernel void probe(__global int *x) { x[0] = 1; }";
    let device = crate::support::device();
    let there = Module::from_source(device, probe).is_ok();
    if !there {
        eprintln!("skipped: {device} has no images");
    }
    there
}

/// A picture of whole numbers, and what is at a place; beyond the edges, the outermost.
fn picture(seed: u64, [width, height]: [usize; 2]) -> (Vec<f32>, impl Fn(i32, i32) -> f32) {
    let pixels = Random(seed).list(width * height, |random| random.below(1000) as f32);
    let own = pixels.clone();
    let at = move |x: i32, y: i32| {
        let [x, y] = [(x, width), (y, height)].map(|(at, end)| at.clamp(0, end as i32 - 1) as usize);
        own[y * width + x]
    };
    (pixels, at)
}

#[test]
fn a_dilation_reads_an_image_and_symbols() {
    if !has_images() {
        return;
    }
    let (_guard, module, stream) = setting(TEXT, "");
    let [width, height] = [45usize, 29];
    let (pixels, at) = picture(1, [width, height]);
    let from = Array::<f32>::from_slice(&stream, (width, height), &pixels).unwrap();
    let to = zeros::<f32>(&stream, width * height);
    for reach in [2, 1] {
        // The element's default is a diamond, and then a plus.
        if reach == 1 {
            let plus: [[u8; 5]; 5] =
                std::array::from_fn(|y| std::array::from_fn(|x| u8::from(x.abs_diff(2) + y.abs_diff(2) <= 1)));
            module.write_symbol(&stream, "element", &plus).unwrap();
        }
        let (size, greatest) = ([width as i32, height as i32], Local(16 * 4 * 4));
        run!(module.dilate[(3, 8), (16, 4), stream](from, to, size[0], size[1], greatest));
        let most = |place: usize| {
            let (x, y) = ((place % width) as i32, (place / width) as i32);
            let near = (-2..=2).flat_map(|dy: i32| (-2..=2).map(move |dx: i32| (dx, dy)));
            let inside = near.filter(|(dx, dy)| dx.abs() + dy.abs() <= reach);
            inside.map(|(dx, dy)| at(x + dx, y + dy)).fold(0.0, f32::max)
        };
        assert_eq!(get(&stream, &to), (0..width * height).map(most).collect::<Vec<_>>(), "reach {reach}");
    }
    let mut brightest = [0];
    module.read_symbol(&stream, "brightest", &mut brightest).unwrap();
    assert_eq!(brightest, [pixels.iter().copied().fold(0.0, f32::max) as i32]);
}

#[test]
fn slopes_go_from_image_to_image_by_a_sampler_of_the_hosts() {
    if !has_images() {
        return;
    }
    let (_guard, module, stream) = setting(TEXT, "");
    let [width, height] = [64usize, 32];
    let (pixels, at) = picture(2, [width, height]);
    let from = Array::<f32>::from_slice(&stream, (width, height), &pixels).unwrap();
    let to = Array::<[u8; 4]>::zeroed(&stream, (width, height)).unwrap();
    let by = Sampler::new().normalized(true).addressing(Addressing::Clamp);
    run!(module.slopes[(4, 4), (16, 8), stream](from, by, to, 0.0625f32));
    let slope = |place: usize| {
        let (x, y) = ((place % width) as i32, (place / width) as i32);
        let along = |a: f32, b: f32| (0.0625 * (a - b).abs()) as u8;
        let (x, y) = (along(at(x + 1, y), at(x - 1, y)), along(at(x, y + 1), at(x, y - 1)));
        [x, y, x + y, 255]
    };
    assert_eq!(to.to_vec(&stream).unwrap(), (0..width * height).map(slope).collect::<Vec<_>>());
}

#[test]
fn rays_go_through_a_volume() {
    if !has_images() {
        return;
    }
    let (_guard, module, stream) = setting(TEXT, "");
    let [width, height, depth] = [19usize, 13, 11];
    let values = Random(3).list(width * height * depth, |random| random.below(50) as i32 - 60);
    let volume = Array::<i32>::from_slice(&stream, (width, height, depth), &values).unwrap();
    let highest = zeros::<[i32; 2]>(&stream, width * height);
    run!(module.project[(3, 2), (8, 8), stream](volume, highest, depth as i32));
    let ray = |place: usize| {
        let along = (0..depth).map(|z| [values[z * width * height + place], z as i32]);
        along.reduce(|best, next| if next[0] > best[0] { next } else { best }).unwrap()
    };
    assert_eq!(get(&stream, &highest), (0..width * height).map(ray).collect::<Vec<_>>());
}
