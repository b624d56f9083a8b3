//! Arrays to test with, and pictures in host memory that say what they should hold.

use crate::blocks::{assert_same, noise};
use crate::dialects::musa::*;
use gridcl::musa::*;
use std::ffi::c_int;
use std::ptr::null_mut;

/// The format of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    pub bits: c_int,
    pub channels: usize,
    /// The number of the kind of channel.
    pub kind: c_int,
}

/// One unsigned integer of 32 bits.
pub const WORDS: Format = Format { bits: 32, channels: 1, kind: 1 };

/// Signed and unsigned integers of 8, 16 and 32 bits, floats of 16 and 32, and 1, 2 and 4 of them.
pub const ALL_FORMATS: [Format; 24] = {
    let kinds = [(8, 0), (16, 0), (32, 0), (8, 1), (16, 1), (32, 1), (16, 2), (32, 2)];
    let mut all = [WORDS; 24];
    let mut index = 0;
    while index < 24 {
        let (bits, kind) = kinds[index / 3];
        all[index] = Format { bits, channels: 1 << (index % 3), kind };
        index += 1;
    }
    all
};

impl Format {
    pub fn bytes(self) -> usize {
        self.bits as usize / 8 * self.channels
    }

    pub fn desc(self) -> musaChannelFormatDesc {
        let bits = |channel| if channel < self.channels { self.bits } else { 0 };
        musaCreateChannelDesc(bits(0), bits(1), bits(2), bits(3), musaChannelFormatKind(self.kind))
    }
}

/// An array, freed with the value.
#[derive(Debug)]
pub struct Made {
    pub handle: musaArray_t,
    pub format: Format,
    pub width: usize,
    pub height: usize,
}

impl Made {
    /// An array of one dimension where `height` is 0, else of two.
    pub fn new(format: Format, width: usize, height: usize) -> Self {
        Self::try_new(format, width, height).unwrap_or_else(|| panic!("the device lacks {format:?}"))
    }

    /// The same; `None`, after looking at how that is said, where the device lacks the format. One and four channels
    /// every device has.
    pub fn try_new(format: Format, width: usize, height: usize) -> Option<Self> {
        let mut handle = null_mut();
        let code = unsafe { musaMallocArray(&mut handle, &format.desc(), width, height, 0) };
        if code == NOT_SUPPORTED && format.channels == 2 {
            assert_eq!(get_last_error(), NOT_SUPPORTED);
            let text = gridcl::last_error_detail().expect("a text for the failure");
            assert!(text.contains("no elements of 2 channels of") && text.contains("1 or 4 channels"), "{text}");
            return None;
        }
        assert_eq!(code, SUCCESS, "{format:?}: {:?}", gridcl::last_error_detail());
        Some(Self { handle, format, width, height })
    }

    /// Asserts that the array holds a picture.
    pub fn holds(&self, expected: &Picture) {
        let row = self.width * self.format.bytes();
        let mut got = vec![0xEE_u8; row * self.height.max(1)];
        ok!(unsafe {
            musaMemcpy2DFromArray(
                got.as_mut_ptr().cast(),
                row,
                self.handle,
                0,
                0,
                row,
                self.height.max(1),
                musaMemcpyDeviceToHost,
            )
        });
        assert_same(&got, &expected.bytes, || format!("{:?} of {} x {}", self.format, self.width, self.height));
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let code = musaFreeArray(self.handle);
        assert!(code == SUCCESS || std::thread::panicking(), "{:?}", gridcl::last_error_detail());
    }
}

/// Rows of elements in host memory, without room between them.
#[derive(Clone, Debug)]
pub struct Picture {
    pub bytes: Vec<u8>,
    element: usize,
    width: usize,
}

impl Picture {
    pub fn noise(seed: u64, format: Format, width: usize, height: usize) -> Self {
        let element = format.bytes();
        Self { bytes: noise(seed, element * width * height), element, width }
    }

    pub fn new(format: Format, width: usize, bytes: Vec<u8>) -> Self {
        Self { bytes, element: format.bytes(), width }
    }

    /// Bytes from one row to the next.
    pub fn pitch(&self) -> usize {
        self.width * self.element
    }

    /// Where an element begins.
    pub fn offset(&self, x: usize, y: usize) -> usize {
        y * self.pitch() + x * self.element
    }

    pub fn at(&self, x: usize, y: usize) -> *const std::ffi::c_void {
        self.bytes[self.offset(x, y)..].as_ptr().cast()
    }

    pub fn at_mut(&mut self, x: usize, y: usize) -> *mut std::ffi::c_void {
        let offset = self.offset(x, y);
        self.bytes[offset..].as_mut_ptr().cast()
    }

    /// Copies a box of another picture to a place in this one.
    pub fn paste(&mut self, at: (usize, usize), from: &Self, part: (usize, usize), size: (usize, usize)) {
        for y in 0..size.1 {
            let (to, row) = (self.offset(at.0, at.1 + y), size.0 * self.element);
            let source = from.offset(part.0, part.1 + y);
            self.bytes[to..to + row].copy_from_slice(&from.bytes[source..source + row]);
        }
    }
}
