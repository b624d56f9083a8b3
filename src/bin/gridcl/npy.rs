//! NumPy's `.npy` files: one array, its type and shape in front.

use crate::element::Scalar;

const MAGIC: &[u8] = b"\x93NUMPY";
/// What the data begins at a multiple of.
const ALIGN: usize = 64;

/// An array as it is in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Array {
    pub(crate) scalar: Scalar,
    /// In the order of C: the last axis varies fastest.
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<u8>,
}

impl Array {
    /// Reads a file's bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let rest = bytes.strip_prefix(MAGIC).ok_or("it is not a .npy file")?;
        let (version, rest) = rest.split_first_chunk::<2>().ok_or("the file ends in its header")?;
        let (length, rest) = if version[0] == 1 {
            let (length, rest) = rest.split_first_chunk::<2>().ok_or("the file ends in its header")?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        } else {
            let (length, rest) = rest.split_first_chunk::<4>().ok_or("the file ends in its header")?;
            (u32::from_le_bytes(*length) as usize, rest)
        };
        let (header, data) = rest.split_at_checked(length).ok_or("the file ends in its header")?;
        let header = std::str::from_utf8(header).map_err(|_| "its header is no text")?;
        let (scalar, shape) = read_header(header)?;
        let count = shape.iter().try_fold(1_usize, |count, axis| count.checked_mul(*axis));
        let size = count.and_then(|count| count.checked_mul(scalar.bytes())).ok_or("its shape is beyond any memory")?;
        if data.len() != size {
            return Err(format!("its shape {shape:?} takes {size} bytes and it has {}", data.len()));
        }
        Ok(Self { scalar, shape, data: data.to_vec() })
    }

    /// A file's bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let order = if self.scalar.bytes() == 1 { '|' } else { '<' };
        let axes: String = self.shape.iter().map(|axis| format!("{axis}, ")).collect();
        let axes = if self.shape.len() == 1 { axes.trim_end() } else { axes.trim_end_matches(", ") };
        let numpy = self.scalar.numpy();
        let mut header = format!("{{'descr': '{order}{numpy}', 'fortran_order': False, 'shape': ({axes}), }}");
        let before = MAGIC.len() + 4;
        let length = (before + header.len() + 1).next_multiple_of(ALIGN) - before;
        header.extend(std::iter::repeat_n(' ', length - header.len() - 1));
        header.push('\n');
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((length as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(&self.data);
        bytes
    }
}

/// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
fn read_header(header: &str) -> Result<(Scalar, Vec<usize>), String> {
    let after = |key: &str| {
        let start = header.find(&format!("'{key}'")).map(|at| at + key.len() + 2);
        start.and_then(|start| header[start..].trim_start().strip_prefix(':')).map(str::trim_start)
    };
    let descr = after("descr").and_then(|text| text.strip_prefix('\'')).and_then(|text| text.split_once('\''));
    let (descr, _) = descr.ok_or("its type is not a plain one (structures are not supported)")?;
    let (order, name) = descr.split_at_checked(1).ok_or("its header has no type")?;
    if order == ">" {
        return Err(format!("its type {descr} has the bytes in the other order; save it with .astype('<{name}')"));
    }
    let scalar = Scalar::from_numpy(name).ok_or_else(|| format!("its type {descr} is none of OpenCL C's"))?;
    if after("fortran_order").is_none_or(|text| !text.starts_with("False")) {
        return Err("its first axis varies fastest; save it with numpy.ascontiguousarray".into());
    }
    let shape = after("shape").and_then(|text| text.strip_prefix('(')).and_then(|text| text.split_once(')'));
    let (shape, _) = shape.ok_or("its header has no shape")?;
    let axes = shape.split(',').map(str::trim).filter(|axis| !axis.is_empty());
    let axes: Result<Vec<usize>, _> = axes.map(str::parse).collect();
    Ok((scalar, axes.map_err(|_| format!("({shape}) is no shape"))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(shape: &[usize]) -> Array {
        let count: usize = shape.iter().product();
        Array { scalar: Scalar::Short, shape: shape.to_vec(), data: (0..2 * count).map(|byte| byte as u8).collect() }
    }

    #[test]
    fn what_is_written_is_read() {
        for shape in [&[][..], &[5], &[2, 3], &[2, 3, 4], &[0]] {
            let array = array(shape);
            let bytes = array.to_bytes();
            assert_eq!((bytes.len() - array.data.len()) % ALIGN, 0, "the data is aligned");
            assert_eq!(Array::from_bytes(&bytes), Ok(array));
        }
    }

    #[test]
    fn the_header_is_numpys() {
        let bytes = array(&[3]).to_bytes();
        let header = String::from_utf8_lossy(&bytes[10..128]).into_owned();
        assert!(header.starts_with("{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }"), "{header}");
        assert!(header.ends_with(" \n"));
    }

    #[test]
    fn what_cannot_be_taken_is_refused_with_the_reason() {
        let with = |from: &str, to: &str| {
            let text = array(&[2, 3]).to_bytes();
            let at = text.windows(from.len()).position(|part| part == from.as_bytes()).expect("the part");
            let mut text = text;
            text.splice(at..at + from.len(), to.bytes());
            Array::from_bytes(&text).expect_err("refused")
        };
        assert!(with("<i2", ">i2").contains("other order"));
        assert!(with("<i2", "<c8").contains("none of OpenCL C's"));
        assert!(with("False", "True ").contains("ascontiguousarray"));
        assert!(with("(2, 3)", "(2, 4)").contains("takes 16 bytes and it has 12"));
        assert!(Array::from_bytes(b"\x93NUMPY\x01\x00\xff\xff{").expect_err("refused").contains("header"));
        assert!(Array::from_bytes(b"hello").expect_err("refused").contains("not a .npy file"));
    }
}
