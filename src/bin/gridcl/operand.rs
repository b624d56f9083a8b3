//! What `gridcl run --arg` takes for a kernel's parameter.

use crate::element::{Element, Scalar};
use crate::npy;
use gridcl::{KernelParameter, ParameterKind};
use std::path::{Path, PathBuf};

/// An argument as it was written, before the kernel is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Written {
    /// A number, or several of a vector.
    Value(String),
    /// Bytes of shared memory.
    Local(usize),
    Buffer {
        source: Source,
        /// Where the contents go after the launch.
        out: Option<PathBuf>,
    },
}

/// What a buffer holds before the launch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    File(PathBuf),
    Zeros(Vec<usize>),
    Random(Vec<usize>, u64),
    Range(Vec<usize>),
}

/// An argument for a parameter.
pub(crate) enum Operand {
    Value(Vec<u8>),
    Local(usize),
    Buffer(Buffer),
}

/// A buffer's contents and what they mean.
pub(crate) struct Buffer {
    pub(crate) name: String,
    pub(crate) data: Vec<u8>,
    pub(crate) element: Element,
    pub(crate) shape: Vec<usize>,
    pub(crate) out: Option<PathBuf>,
}

impl std::str::FromStr for Written {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(bytes) = text.strip_prefix("local:") {
            return bytes.parse().map(Self::Local).map_err(|_| format!("\"{bytes}\" is not a number of bytes"));
        }
        let mut parts = text.split(',');
        let source = parts.next().unwrap_or_default();
        let (kind, rest) = source.split_once(':').unwrap_or((source, ""));
        let mut seed = 0;
        let mut out = None;
        let source = match kind {
            _ if source.starts_with('@') => Source::File(source[1..].into()),
            "zeros" => Source::Zeros(shape(rest)?),
            "random" => Source::Random(shape(rest)?, 0),
            "range" => Source::Range(shape(rest)?),
            _ => return Ok(Self::Value(text.to_owned())),
        };
        for option in parts {
            match option.split_once('=') {
                Some(("out", path)) => out = Some(path.into()),
                Some(("seed", number)) if kind == "random" => {
                    seed = number.parse().map_err(|_| format!("\"{number}\" is no seed"))?;
                }
                _ => return Err(format!("\"{option}\" is none of out=FILE and, of random, seed=N")),
            }
        }
        let source = if let Source::Random(shape, _) = source { Source::Random(shape, seed) } else { source };
        Ok(Self::Buffer { source, out })
    }
}

/// Reads `32x32`.
fn shape(text: &str) -> Result<Vec<usize>, String> {
    let problem = || format!("\"{text}\" is not a number of elements; 1024 and 32x32 are");
    text.split('x').map(|axis| axis.parse().map_err(|_| problem())).collect()
}

impl Written {
    /// The argument for a parameter of a kernel.
    pub(crate) fn fit(&self, parameter: &KernelParameter) -> Result<Operand, String> {
        self.fitted(parameter).map_err(|problem| format!("argument for `{parameter}`: {problem}"))
    }

    fn fitted(&self, parameter: &KernelParameter) -> Result<Operand, String> {
        match (self, parameter.kind) {
            (Self::Local(bytes), ParameterKind::Local) => Ok(Operand::Local(*bytes)),
            (_, ParameterKind::Local) => Err("shared memory is given as local:BYTES".into()),
            (Self::Value(text), ParameterKind::Value { .. }) => match Element::from_opencl(&parameter.type_name) {
                Some(element) => element.parse(text).map(Operand::Value),
                None => Err(format!("values of {} cannot be written here", parameter.type_name)),
            },
            (Self::Buffer { source, out }, ParameterKind::Pointer) => {
                let element = Element::from_opencl(&parameter.type_name);
                // Of a structure only its bytes are known.
                let element = element.unwrap_or(Element { scalar: Scalar::Uchar, lanes: 1 });
                let (data, shape) = source.read(element)?;
                let name = parameter.name.clone();
                Ok(Operand::Buffer(Buffer { name, data, element, shape, out: out.clone() }))
            }
            (_, ParameterKind::Pointer) => {
                Err("a buffer is given as @FILE, zeros:COUNT, random:COUNT or range:COUNT".into())
            }
            (_, ParameterKind::Value { .. }) => Err("it takes a number".into()),
            _ => Err("images and samplers cannot be given here".into()),
        }
    }
}

impl Source {
    fn read(&self, element: Element) -> Result<(Vec<u8>, Vec<usize>), String> {
        match self {
            Self::File(path) => read_file(path, element).map_err(|problem| format!("{}: {problem}", path.display())),
            Self::Zeros(shape) => Ok((vec![0; room(shape, element)?], shape.clone())),
            Self::Range(shape) => {
                let count = room(shape, element)? / element.scalar.bytes();
                let data = (0..count).flat_map(|number| element.scalar.encode(number as f64)).collect();
                Ok((data, shape.clone()))
            }
            Self::Random(shape, seed) => Ok((random(room(shape, element)?, element.scalar, *seed), shape.clone())),
        }
    }
}

fn room(shape: &[usize], element: Element) -> Result<usize, String> {
    let count = shape.iter().try_fold(element.bytes(), |count, axis| count.checked_mul(*axis));
    match count {
        Some(0) => Err("a buffer has at least one element".into()),
        Some(bytes) if bytes <= isize::MAX as usize => Ok(bytes),
        _ => Err("no memory holds that many elements".into()),
    }
}

fn read_file(path: &Path, element: Element) -> Result<(Vec<u8>, Vec<usize>), String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    if path.extension().is_none_or(|extension| extension != "npy") {
        if bytes.is_empty() || !bytes.len().is_multiple_of(element.bytes()) {
            return Err(format!("its {} bytes are not elements of {} bytes each", bytes.len(), element.bytes()));
        }
        let count = bytes.len() / element.bytes();
        return Ok((bytes, vec![count]));
    }
    let array = npy::Array::from_bytes(&bytes)?;
    let scalar = element.scalar;
    if array.scalar != scalar {
        return Err(format!("it holds {}, and the parameter takes {}", array.scalar.numpy(), scalar.numpy()));
    }
    if array.data.is_empty() || !array.data.len().is_multiple_of(element.bytes()) {
        return Err(format!("its shape {:?} is not a number of vectors of {} components", array.shape, element.lanes));
    }
    Ok((array.data, array.shape))
}

/// The same numbers for the same seed: reals from 0 to 1, integers from 0 to 255 or their type's largest.
fn random(bytes: usize, scalar: Scalar, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    };
    let number = |word: u64| match scalar {
        Scalar::Half | Scalar::Float | Scalar::Double => (word >> 40) as f64 / f64::from(1 << 24),
        Scalar::Char => (word >> 57) as f64,
        _ => (word >> 56) as f64,
    };
    (0..bytes / scalar.bytes()).flat_map(|_| scalar.encode(number(next()))).collect()
}

impl Buffer {
    /// Writes what came back: as `.npy` by that name, else as the bytes are.
    pub(crate) fn save(&self, path: &Path, data: &[u8]) -> Result<(), String> {
        let bytes = if path.extension().is_some_and(|extension| extension == "npy") {
            let scalars = data.len() / self.element.scalar.bytes();
            let mut shape = self.shape.clone();
            // Vectors get an axis of their own, unless the shape counts their components already.
            if shape.iter().product::<usize>() != scalars {
                shape.push(scalars / shape.iter().product::<usize>().max(1));
            }
            npy::Array { scalar: self.element.scalar, shape, data: data.to_vec() }.to_bytes()
        } else {
            data.to_vec()
        };
        std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// The first values, and how many more there are.
    pub(crate) fn show(&self, data: &[u8], most: usize) -> String {
        let size = self.element.scalar.bytes();
        let values: Vec<String> =
            data.chunks_exact(size).take(most).map(|part| self.element.scalar.show(part)).collect();
        let more = (data.len() / size).saturating_sub(most);
        if more > 0 { format!("{} … ({more} more)", values.join(" ")) } else { values.join(" ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let buffer = |source, out: Option<&str>| Ok(Written::Buffer { source, out: out.map(PathBuf::from) });
        assert_eq!("3".parse(), Ok(Written::Value("3".into())));
        assert_eq!("1,2,3,4".parse(), Ok(Written::Value("1,2,3,4".into())));
        assert_eq!("local:64".parse(), Ok(Written::Local(64)));
        assert_eq!("@a.npy".parse(), buffer(Source::File("a.npy".into()), None));
        assert_eq!("zeros:8x2,out=b.npy".parse(), buffer(Source::Zeros(vec![8, 2]), Some("b.npy")));
        assert_eq!("random:5,seed=9,out=c".parse(), buffer(Source::Random(vec![5], 9), Some("c")));
        for wrong in ["local:x", "zeros:", "zeros:ax2", "range:3,seed=1", "random:4,seed=x", "zeros:3,outt=a"] {
            assert!(wrong.parse::<Written>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn random_numbers_repeat_and_stay_in_range() {
        let once = random(4000, Scalar::Float, 7);
        assert_eq!(once, random(4000, Scalar::Float, 7));
        assert_ne!(once, random(4000, Scalar::Float, 8));
        let values: Vec<f32> =
            once.chunks_exact(4).map(|part| f32::from_le_bytes([part[0], part[1], part[2], part[3]])).collect();
        assert!(values.iter().all(|value| (0.0..1.0).contains(value)));
        let mean = values.iter().sum::<f32>() / values.len() as f32;
        assert!((mean - 0.5).abs() < 0.05, "{mean}");
    }
}
