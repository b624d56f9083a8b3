//! Boxes of bytes in every sort of memory, and what copies and sets of them do, byte by byte, on the host.

use crate::dialects::musa::*;
use crate::support::device;
use gridcl::musa::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::slice;

/// Addresses that copies begin at, within a block.
pub const OFFSETS: [usize; 7] = [0, 1, 4, 127, 128, 511, 512];

/// What memory a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Of the device with this ordinal.
    Device(i32),
    Managed,
    Pinned,
    Registered,
    Pageable,
}

impl Sort {
    /// What the first device can have.
    pub fn all() -> Vec<Self> {
        let sorts = [Self::Device(0), Self::Pinned, Self::Registered, Self::Pageable, Self::Managed];
        sorts.into_iter().filter(|&sort| sort != Self::Managed || device().has_managed_memory()).collect()
    }

    /// Each sort to copy to, with each to copy from.
    pub fn pairs() -> Vec<(Self, Self)> {
        Self::all().into_iter().flat_map(|to| Self::all().into_iter().map(move |from| (to, from))).collect()
    }

    /// What the runtime may set.
    pub fn known() -> Vec<Self> {
        Self::all().into_iter().filter(|&sort| sort != Self::Pageable).collect()
    }

    /// Whether the device has it; the host may reach it in its turn.
    pub fn is_device(self) -> bool {
        matches!(self, Self::Device(_) | Self::Managed)
    }

    /// The kind of copy from one sort to another.
    pub fn copy_kind(to: Self, from: Self) -> musaMemcpyKind {
        match (from.is_device(), to.is_device()) {
            (false, false) => HOST_TO_HOST,
            (false, true) => HOST_TO_DEVICE,
            (true, false) => DEVICE_TO_HOST,
            (true, true) => DEVICE_TO_DEVICE,
        }
    }
}

/// A block of memory, freed with the value.
pub struct Memory {
    pub sort: Sort,
    base: *mut u8,
    bytes: usize,
}

impl Memory {
    /// A block that holds `contents`. The current device is the first one.
    pub fn new(sort: Sort, contents: &[u8]) -> Self {
        let bytes = contents.len();
        let plain = || Box::leak(vec![0_u8; bytes].into_boxed_slice()).as_mut_ptr();
        let base = match sort {
            Sort::Device(ordinal) => {
                ok!(set_device(ordinal));
                let base: *mut c_void = device_memory!(bytes);
                ok!(set_device(0));
                base.cast()
            }
            Sort::Managed => {
                let mut base = null_mut();
                ok!(unsafe { musaMallocManaged(&mut base, bytes, musaMemAttachGlobal) });
                base.cast()
            }
            Sort::Pinned => {
                let base: *mut c_void = pinned_memory!(bytes);
                base.cast()
            }
            Sort::Registered => {
                let base = plain();
                ok!(unsafe { host_register(base.cast(), bytes, 0) });
                base
            }
            Sort::Pageable => plain(),
        };
        let memory = Self { sort, base, bytes };
        memory.write(contents);
        memory
    }

    pub fn len(&self) -> usize {
        self.bytes
    }

    /// The address so many bytes in.
    pub fn at(&self, offset: usize) -> *mut c_void {
        self.base.wrapping_add(offset).cast()
    }

    /// Fills the block. No work may use it.
    pub fn write(&self, contents: &[u8]) {
        assert_eq!(contents.len(), self.bytes);
        if self.sort.is_device() {
            ok!(unsafe { memcpy(self.at(0), contents.as_ptr().cast(), self.bytes, HOST_TO_DEVICE) });
        } else {
            unsafe { self.base.copy_from_nonoverlapping(contents.as_ptr(), self.bytes) };
        }
    }

    /// What the block holds. No work may write it.
    pub fn read(&self) -> Vec<u8> {
        if self.sort.is_device() {
            downloaded!(self.at(0), self.bytes)
        } else {
            unsafe { slice::from_raw_parts(self.base, self.bytes) }.to_vec()
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let free_plain = || drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(self.base, self.bytes)) });
        match self.sort {
            Sort::Device(_) | Sort::Managed => ok!(free(self.at(0))),
            Sort::Pinned => ok!(host_free(self.at(0))),
            Sort::Registered => {
                ok!(host_unregister(self.at(0)));
                free_plain();
            }
            Sort::Pageable => free_plain(),
        }
    }
}

/// How a box lies in a block: where it begins, bytes from row to row, rows from slice to slice.
#[derive(Clone, Copy, Debug)]
pub struct Lie {
    pub at: usize,
    pub pitch: usize,
    pub rows: usize,
}

/// A box: bytes of a row, rows, slices.
pub type Size = [usize; 3];

impl Lie {
    /// From its first byte's offset to behind its last.
    pub fn range(self, [width, rows, slices]: Size) -> std::ops::Range<usize> {
        let last = (slices - 1) * self.pitch * self.rows + (rows - 1) * self.pitch;
        self.at..self.at + last + width
    }

    /// Where its rows begin, in order.
    pub fn starts(self, [_, rows, slices]: Size) -> impl Iterator<Item = usize> {
        (0..slices).flat_map(move |z| (0..rows).map(move |y| self.at + (z * self.rows + y) * self.pitch))
    }

    /// The pitched pointer to it in a block.
    pub fn pointer(self, memory: &Memory) -> musaPitchedPtr {
        make_musaPitchedPtr(memory.at(self.at), self.pitch, self.pitch, self.rows)
    }
}

/// What a copy of a box does.
pub fn model_copy(to: &mut [u8], to_lie: Lie, from: &[u8], from_lie: Lie, size: Size) {
    for (target, source) in to_lie.starts(size).zip(from_lie.starts(size)) {
        to[target..target + size[0]].copy_from_slice(&from[source..source + size[0]]);
    }
}

/// What a set of a box does.
pub fn model_set(to: &mut [u8], lie: Lie, value: u8, size: Size) {
    for start in lie.starts(size) {
        to[start..start + size[0]].fill(value);
    }
}

/// `Memcpy3D` of a box at the starts of two blocks' lies, or in a stream: answers the code.
pub fn copy_box(
    to: (&Memory, Lie),
    from: (&Memory, Lie),
    size: Size,
    kind: musaMemcpyKind,
    stream: Option<Stream>,
) -> Code {
    let parms = musaMemcpy3DParms {
        dstPtr: to.1.pointer(to.0),
        srcPtr: from.1.pointer(from.0),
        extent: make_musaExtent(size[0], size[1], size[2]),
        kind,
        ..Default::default()
    };
    match stream {
        None => unsafe { musaMemcpy3D(&parms) },
        Some(stream) => unsafe { musaMemcpy3DAsync(&parms, stream) },
    }
}

/// `Memcpy2D` of a box's first slice.
pub fn copy_rows(
    to: (&Memory, Lie),
    from: (&Memory, Lie),
    size: Size,
    kind: musaMemcpyKind,
    stream: Option<Stream>,
) -> Code {
    let ((to, to_pitch), (from, from_pitch)) = ((to.0.at(to.1.at), to.1.pitch), (from.0.at(from.1.at), from.1.pitch));
    match stream {
        None => unsafe { musaMemcpy2D(to, to_pitch, from, from_pitch, size[0], size[1], kind) },
        Some(stream) => unsafe { musaMemcpy2DAsync(to, to_pitch, from, from_pitch, size[0], size[1], kind, stream) },
    }
}

/// `Memset2D` or, for several slices, `Memset3D` of a box.
pub fn set_box(to: (&Memory, Lie), value: i32, size: Size, stream: Option<Stream>) -> Code {
    let (pointer, pitch, extent) = (to.0.at(to.1.at), to.1.pitch, make_musaExtent(size[0], size[1], size[2]));
    match (size[2], stream) {
        (1, None) => musaMemset2D(pointer, pitch, value, size[0], size[1]),
        (1, Some(stream)) => musaMemset2DAsync(pointer, pitch, value, size[0], size[1], stream),
        (_, None) => musaMemset3D(to.1.pointer(to.0), value, extent),
        (_, Some(stream)) => musaMemset3DAsync(to.1.pointer(to.0), value, extent, stream),
    }
}

/// Later work of the first stream waits for the second's work so far.
pub fn follow(later: Stream, earlier: Stream) {
    let mut event = null_mut();
    ok!(unsafe { event_create_with_flags(&mut event, EVENT_DISABLE_TIMING) });
    ok!(event_record(event, earlier));
    ok!(stream_wait_event(later, event, 0));
    ok!(event_destroy(event));
}
