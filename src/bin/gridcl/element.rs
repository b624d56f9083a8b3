//! Element types: what OpenCL C calls them, what NumPy does, and their values as text.

/// A scalar type and how many of them an element has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) scalar: Scalar,
    /// 1, or the components of a vector; a vector of three takes the room of four.
    pub(crate) lanes: usize,
}

/// A scalar type of OpenCL C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Char,
    Uchar,
    Short,
    Ushort,
    Int,
    Uint,
    Long,
    Ulong,
    Half,
    Float,
    Double,
}

use Scalar::{Char, Double, Float, Half, Int, Long, Short, Uchar, Uint, Ulong, Ushort};

/// Names in OpenCL C, in NumPy, and sizes in bytes.
const SCALARS: [(Scalar, &str, &str, usize); 11] = [
    (Char, "char", "i1", 1),
    (Uchar, "uchar", "u1", 1),
    (Short, "short", "i2", 2),
    (Ushort, "ushort", "u2", 2),
    (Int, "int", "i4", 4),
    (Uint, "uint", "u4", 4),
    (Long, "long", "i8", 8),
    (Ulong, "ulong", "u8", 8),
    (Half, "half", "f2", 2),
    (Float, "float", "f4", 4),
    (Double, "double", "f8", 8),
];

impl Scalar {
    fn row(self) -> (Self, &'static str, &'static str, usize) {
        SCALARS.into_iter().find(|row| row.0 == self).unwrap_or(SCALARS[0])
    }

    /// Bytes of one.
    pub(crate) fn bytes(self) -> usize {
        self.row().3
    }

    /// NumPy's name, without the order of bytes.
    pub(crate) fn numpy(self) -> &'static str {
        self.row().2
    }

    /// The type that NumPy calls so.
    pub(crate) fn from_numpy(name: &str) -> Option<Self> {
        let name = if name == "b1" { "u1" } else { name };
        SCALARS.into_iter().find(|row| row.2 == name).map(|row| row.0)
    }

    fn is_integer(self) -> bool {
        !matches!(self, Half | Float | Double)
    }

    /// Reads a number.
    pub(crate) fn parse(self, text: &str) -> Result<Vec<u8>, String> {
        let text = text.trim();
        if self.is_integer() { self.parse_integer(text) } else { self.parse_real(text) }
    }

    fn parse_integer(self, text: &str) -> Result<Vec<u8>, String> {
        let problem = || format!("\"{text}\" is not a value of {}", self.row().1);
        let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
        let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(digits) => i128::from_str_radix(digits, 16),
            None => digits.parse(),
        };
        let number = sign * number.map_err(|_| problem())?;
        let bits = 8 * self.bytes() as u32;
        let is_signed = matches!(self, Char | Short | Int | Long);
        let (least, most) = if is_signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        if !(least..=most).contains(&number) {
            return Err(format!("{}, which goes from {least} to {most}", problem()));
        }
        Ok(number.to_le_bytes()[..self.bytes()].to_vec())
    }

    fn parse_real(self, text: &str) -> Result<Vec<u8>, String> {
        let number: f64 =
            text.trim_end_matches(['f', 'F']).parse().map_err(|_| format!("\"{text}\" is not a number"))?;
        Ok(self.encode(number))
    }

    /// A number's bytes; integers are rounded towards 0.
    pub(crate) fn encode(self, number: f64) -> Vec<u8> {
        match self {
            Half => half::f16::from_f64(number).to_le_bytes().to_vec(),
            Float => (number as f32).to_le_bytes().to_vec(),
            Double => number.to_le_bytes().to_vec(),
            _ => (number as i128).to_le_bytes()[..self.bytes()].to_vec(),
        }
    }

    /// The value that lies in so many bytes, as text.
    pub(crate) fn show(self, bytes: &[u8]) -> String {
        let mut wide = [0; 8];
        wide[..self.bytes()].copy_from_slice(&bytes[..self.bytes()]);
        let number = u64::from_le_bytes(wide);
        match self {
            Char => (number as i8).to_string(),
            Short => (number as i16).to_string(),
            Int => (number as i32).to_string(),
            Long => number.cast_signed().to_string(),
            Uchar | Ushort | Uint | Ulong => number.to_string(),
            Half => half::f16::from_bits(number as u16).to_string(),
            Float => f32::from_bits(number as u32).to_string(),
            Double => f64::from_bits(number).to_string(),
        }
    }
}

impl Element {
    /// The type with a name of OpenCL C, in which qualifiers and a pointer's star are passed over; `None` for others,
    /// such as structures.
    pub(crate) fn from_opencl(name: &str) -> Option<Self> {
        let name = name.trim_end_matches('*');
        let is_qualifier = |word: &&str| matches!(*word, "const" | "volatile" | "restrict");
        let words: Vec<&str> = name.split_whitespace().filter(|word| !is_qualifier(word)).collect();
        let plain = match words[..] {
            ["unsigned", "char"] => "uchar",
            ["unsigned", "short"] => "ushort",
            ["unsigned"] | ["unsigned", "int"] => "uint",
            ["unsigned", "long"] => "ulong",
            ["size_t"] => "ulong",
            [word] => word,
            _ => return None,
        };
        let digits = plain.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        let base = plain.strip_suffix(digits)?;
        let lanes = match digits {
            "" => 1,
            "2" | "3" | "4" | "8" | "16" => digits.parse().ok()?,
            _ => return None,
        };
        let scalar = SCALARS.into_iter().find(|row| row.1 == base)?.0;
        Some(Self { scalar, lanes })
    }

    /// Components with the room that they take in memory.
    fn room(self) -> usize {
        if self.lanes == 3 { 4 } else { self.lanes }
    }

    /// Bytes of one element.
    pub(crate) fn bytes(self) -> usize {
        self.scalar.bytes() * self.room()
    }

    /// Reads a value: as many numbers as it has components, separated by commas, or one for all of them.
    pub(crate) fn parse(self, text: &str) -> Result<Vec<u8>, String> {
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() != 1 && parts.len() != self.lanes {
            return Err(format!("\"{text}\" has {} components, and the parameter {}", parts.len(), self.lanes));
        }
        let mut bytes = Vec::new();
        for lane in 0..self.lanes {
            bytes.extend(self.scalar.parse(parts.get(lane).unwrap_or(&parts[0]))?);
        }
        bytes.resize(self.bytes(), 0);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_known_by_their_names_in_opencl_c() {
        let element = |scalar, lanes| Some(Element { scalar, lanes });
        assert_eq!(Element::from_opencl("float*"), element(Float, 1));
        assert_eq!(Element::from_opencl("const unsigned int *"), element(Uint, 1));
        assert_eq!(Element::from_opencl("uchar4*"), element(Uchar, 4));
        assert_eq!(Element::from_opencl("float3"), element(Float, 3));
        assert_eq!(Element::from_opencl("double16"), element(Double, 16));
        for other in ["struct body*", "float5", "body", "4"] {
            assert_eq!(Element::from_opencl(other), None, "{other}");
        }
    }

    #[test]
    fn values_are_read_within_their_range() {
        let int = Element { scalar: Int, lanes: 1 };
        assert_eq!(int.parse("-2"), Ok((-2_i32).to_le_bytes().to_vec()));
        assert_eq!(int.parse("0x10"), Ok(16_i32.to_le_bytes().to_vec()));
        assert!(int.parse("2147483648").is_err());
        assert!(Element { scalar: Uchar, lanes: 1 }.parse("-1").is_err());
        assert_eq!(Element { scalar: Ulong, lanes: 1 }.parse("18446744073709551615"), Ok(vec![255; 8]));
        assert_eq!(Element { scalar: Half, lanes: 1 }.parse("1.5"), Ok(vec![0, 0x3e]));
        let three = Element { scalar: Short, lanes: 3 };
        assert_eq!(three.parse("1,2,3"), Ok(vec![1, 0, 2, 0, 3, 0, 0, 0]));
        assert!(three.parse("1,2").is_err());
        assert_eq!(Element { scalar: Char, lanes: 2 }.parse("7"), Ok(vec![7, 7]));
    }

    #[test]
    fn what_is_shown_is_what_was_read() {
        for (scalar, text) in [(Char, "-128"), (Short, "-5"), (Long, "-9223372036854775808"), (Uint, "4294967295")] {
            assert_eq!(scalar.parse(text).map(|bytes| scalar.show(&bytes)), Ok(text.to_owned()));
        }
        for (scalar, text) in [(Half, "-0.25"), (Float, "0.1"), (Double, "0.1")] {
            assert_eq!(scalar.parse(text).map(|bytes| scalar.show(&bytes)), Ok(text.to_owned()));
        }
    }
}
