//! The shape of a grid or of a block, shared by both dialects so that one program may use both.

#![allow(non_camel_case_types, reason = "the name is C's")]

use std::ffi::c_uint;

/// Extents in x, y and z; what is not given is 1, as with CUDA's `dim3`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct dim3 {
    /// Extent in x, the dimension whose neighbours lie next to each other.
    pub x: c_uint,
    /// Extent in y.
    pub y: c_uint,
    /// Extent in z.
    pub z: c_uint,
}

impl dim3 {
    /// A shape of `x` by `y` by `z`.
    #[must_use]
    pub const fn new(x: c_uint, y: c_uint, z: c_uint) -> Self {
        Self { x, y, z }
    }
}

impl Default for dim3 {
    fn default() -> Self {
        Self::new(1, 1, 1)
    }
}

impl From<c_uint> for dim3 {
    fn from(x: c_uint) -> Self {
        Self::new(x, 1, 1)
    }
}

impl From<(c_uint, c_uint)> for dim3 {
    fn from((x, y): (c_uint, c_uint)) -> Self {
        Self::new(x, y, 1)
    }
}

impl From<(c_uint, c_uint, c_uint)> for dim3 {
    fn from((x, y, z): (c_uint, c_uint, c_uint)) -> Self {
        Self::new(x, y, z)
    }
}

#[cfg(test)]
mod tests {
    use super::dim3;

    #[test]
    fn what_is_not_given_is_one() {
        assert_eq!(dim3::default(), dim3::new(1, 1, 1));
        assert_eq!(dim3::from(7), dim3::new(7, 1, 1));
        assert_eq!(dim3::from((7, 8)), dim3::new(7, 8, 1));
        assert_eq!(dim3::from((7, 8, 9)), dim3::new(7, 8, 9));
    }

    #[test]
    fn is_three_unsigned_integers() {
        assert_eq!((size_of::<dim3>(), align_of::<dim3>()), (12, 4));
    }
}
