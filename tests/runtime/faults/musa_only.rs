//! The chapters of what only MUSA has: boxes, arrays and managed memory.

use super::both::musa::code_of;
use super::step::Steps;
use super::sweep::{Chapter, Depth, sweep};
use crate::array_tools::WORDS;
use crate::blocks::noise;
use crate::dialects::musa::*;
use crate::steps::address_of;
use gridcl::musa::*;
use gridcl::testing::guard;
use std::ptr::null_mut;

const CHAPTERS: &[Chapter<Kernels>] = &[
    Chapter { name: "boxes", run: boxes },
    Chapter { name: "arrays", run: arrays },
    Chapter { name: "kernels and arrays", run: kernels_and_arrays },
    Chapter { name: "managed memory", run: managed_memory },
];

const TEXT: &std::ffi::CStr = c"
    __kernel void add(__global uint *x, uint by) { x[get_global_id(0)] += by; }
    __kernel void read(__global uint *y, read_only image2d_t from) {
        const sampler_t how = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
        int x = get_global_id(0), row = get_global_id(1);
        y[row * get_global_size(0) + x] = read_imageui(from, how, (int2)(x, row)).x;
    }";

/// What the chapters launch.
struct Kernels {
    module: Module,
    add: Function,
    read: Function,
}

impl Kernels {
    fn new() -> Self {
        let module = load!(TEXT.to_bytes());
        Self { module, add: function!(module, c"add"), read: function!(module, c"read") }
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        let code = module_unload(self.module);
        assert!(code == SUCCESS || std::thread::panicking(), "{:?}", gridcl::last_error_detail());
    }
}

#[test]
fn every_call_of_opencl_may_fail() {
    let _guard = guard();
    sweep(CHAPTERS, &Kernels::new(), |_| (), Depth::Usual, code_of);
}

fn boxes(steps: &mut Steps, _: &Kernels) {
    let (width, height) = (500_usize, 40_usize);
    let picture = noise(11, width * height);
    let mut pitch = 0;
    let a = made!(steps, |out| unsafe { musaMallocPitch(out, &mut pitch, width, height) });
    let mut b = musaPitchedPtr::default();
    step!(steps, unsafe { musaMalloc3D(&mut b, make_musaExtent(width, 20, 2)) });
    let from = picture.as_ptr().cast();
    step!(steps, unsafe { musaMemcpy2D(a, pitch, from, width, width, height, musaMemcpyHostToDevice) });
    let parms = musaMemcpy3DParms {
        srcPtr: make_musaPitchedPtr(a, pitch, width, 20),
        dstPtr: b,
        extent: make_musaExtent(width, 20, 2),
        kind: musaMemcpyDeviceToDevice,
        ..Default::default()
    };
    step!(steps, unsafe { musaMemcpy3DAsync(&parms, LEGACY) });
    step!(steps, musaMemset2DAsync(a, pitch, 3, width, height, LEGACY));
    step!(steps, musaMemset3D(b, 4, make_musaExtent(10, 20, 1)));
    let (mut of_a, mut of_b) = (vec![0_u8; width * height], vec![0_u8; width * height]);
    let (to_a, to_b) = (of_a.as_mut_ptr().cast(), of_b.as_mut_ptr().cast());
    step!(steps, unsafe { musaMemcpy2D(to_a, width, a, pitch, width, height, musaMemcpyDeviceToHost) });
    step!(steps, unsafe { musaMemcpy2D(to_b, width, b.ptr, b.pitch, width, height, musaMemcpyDeviceToHost) });
    assert!(of_a.iter().all(|&byte| byte == 3), "the rows are set");
    for (index, (&got, &first)) in of_b.iter().zip(&picture).enumerate() {
        let is_set = index % width < 10 && index / width < 20;
        assert_eq!(got, if is_set { 4 } else { first }, "byte {index} of the box");
    }
    step!(steps, free(a));
    step!(steps, free(b.ptr));
}

/// An array of words.
fn array(steps: &mut Steps, width: usize, height: usize) -> musaArray_t {
    made!(steps, |out| unsafe { musaMallocArray(out, &WORDS.desc(), width, height, 0) })
}

fn arrays(steps: &mut Steps, _: &Kernels) {
    let (width, height) = (32_usize, 8_usize);
    let (row, picture) = (width * 4, noise(12, width * height * 4));
    let (a, b) = (array(steps, width, height), array(steps, width, height));
    let device = made!(steps, |out| unsafe { malloc(out, picture.len()) });
    let (kind, from) = (musaMemcpyHostToDevice, picture.as_ptr().cast());
    step!(steps, unsafe { musaMemcpy2DToArray(a, 0, 0, from, row, row, height, kind) });
    step!(steps, musaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, row, height, musaMemcpyDeviceToDevice));
    step!(steps, unsafe {
        musaMemcpy2DFromArrayAsync(device, row, b, 0, 0, row, height, musaMemcpyDeviceToDevice, LEGACY)
    });
    step!(steps, unsafe {
        musaMemcpy2DToArrayAsync(b, 0, 4, device, row, row, 4, musaMemcpyDeviceToDevice, PER_THREAD)
    });
    step!(steps, device_synchronize());
    let mut got = vec![0_u8; picture.len()];
    let to = got.as_mut_ptr().cast();
    step!(steps, unsafe { musaMemcpy2DFromArray(to, row, b, 0, 0, row, height, musaMemcpyDeviceToHost) });
    let expected = [&picture[..4 * row], &picture[..4 * row]].concat();
    assert!(got == expected, "the array holds both halves");
    for array in [a, b] {
        step!(steps, musaFreeArray(array));
    }
    step!(steps, free(device));
}

fn kernels_and_arrays(steps: &mut Steps, kernels: &Kernels) {
    let (width, height) = (16_usize, 4_usize);
    let (row, picture) = (width * 4, noise(13, width * height * 4));
    let a = array(steps, width, height);
    let y = made!(steps, |out| unsafe { malloc(out, picture.len()) });
    let from = picture.as_ptr().cast();
    step!(steps, unsafe { musaMemcpy2DToArray(a, 0, 0, from, row, row, height, musaMemcpyHostToDevice) });
    let mut list = [address_of(&y), address_of(&a)];
    let (grid, block) = (dim3::new(4, 1, 1), dim3::new(4, 4, 1));
    step!(steps, unsafe { launch_kernel(kernels.read.cast(), grid, block, list.as_mut_ptr(), 0, LEGACY) });
    let mut got = vec![0_u8; picture.len()];
    step!(steps, unsafe { memcpy(got.as_mut_ptr().cast(), y, got.len(), DEVICE_TO_HOST) });
    assert!(got == picture, "the kernel read the array");
    step!(steps, musaFreeArray(a));
    step!(steps, free(y));
}

fn managed_memory(steps: &mut Steps, kernels: &Kernels) {
    const COUNT: usize = 64;
    let mut properties = musaDeviceProp::default();
    step!(steps, unsafe { musaGetDeviceProperties(&mut properties, 0) });
    if properties.managedMemory == 0 {
        return;
    }
    let x = made!(steps, |out| unsafe { musaMallocManaged(out, COUNT * 4, musaMemAttachGlobal) });
    let words = || unsafe { std::slice::from_raw_parts_mut(x.cast::<u32>(), COUNT) };
    words().iter_mut().zip(0..).for_each(|(word, value)| *word = value);
    for by in [10_u32, 100] {
        step!(steps, musaMemPrefetchAsync(x, COUNT * 4, 0, LEGACY));
        let mut list = [address_of(&x), address_of(&by)];
        let (grid, block) = (dim3::new(1, 1, 1), dim3::new(COUNT as u32, 1, 1));
        step!(steps, unsafe { launch_kernel(kernels.add.cast(), grid, block, list.as_mut_ptr(), 0, LEGACY) });
        step!(steps, device_synchronize());
        words().iter_mut().for_each(|word| *word += 1);
    }
    let mut s = null_mut();
    step!(steps, unsafe { stream_create(&mut s) });
    step!(steps, musaStreamAttachMemAsync(s, x, 0, musaMemAttachSingle));
    step!(steps, memset_async(x, 0, 4, s));
    step!(steps, stream_synchronize(s));
    let expected: Vec<u32> = (0..COUNT as u32).map(|index| if index == 0 { 0 } else { index + 112 }).collect();
    assert_eq!(words(), expected);
    step!(steps, stream_destroy(s));
    step!(steps, free(x));
}
