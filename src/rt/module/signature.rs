//! What a kernel's parameters are, and how large: pure, from the names that the compiler reports.

use crate::cl::AddressSpace;
use crate::cl::kernel::Parameter as Reported;
use serde::{Deserialize, Serialize};

/// A parameter, ready for arguments to be checked against.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// The type as written in the source, for messages.
    pub(crate) type_name: String,
    pub(crate) class: Class,
    /// Whether it is a vector of three, which the host may give without its fourth component.
    pub(crate) three: bool,
    /// Whether it is an image that the kernel may write.
    pub(crate) is_written_image: bool,
}

/// What kind of argument a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) enum Class {
    /// `__global` or `__constant`: a pointer to device memory.
    Pointer,
    /// `__local`: a size of shared memory.
    Local,
    /// An image.
    Image,
    /// A sampler.
    Sampler,
    /// So many bytes by value; `None` where the size is not known and the driver has to judge.
    Value(Option<usize>),
}

impl Class {
    /// Bytes that the argument takes of what a device can pass; 0 where the size is not known.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Value(size) => size.unwrap_or(0),
            Self::Pointer | Self::Local | Self::Image | Self::Sampler => size_of::<usize>(),
        }
    }
}

impl Parameter {
    /// Reads what the compiler reported.
    pub(crate) fn new(reported: &Reported) -> Self {
        let class = match reported.space {
            AddressSpace::Local => Class::Local,
            // Images are in global memory as far as the compiler is concerned.
            _ if is_image(&reported.type_name) => Class::Image,
            AddressSpace::Global | AddressSpace::Constant => Class::Pointer,
            AddressSpace::Private if reported.type_name == "sampler_t" => Class::Sampler,
            AddressSpace::Private => Class::Value(size_of_type(&reported.type_name)),
        };
        let three = matches!(class, Class::Value(Some(_))) && reported.type_name.ends_with('3');
        Self {
            name: reported.name.clone(),
            type_name: reported.type_name.clone(),
            class,
            three,
            is_written_image: reported.is_written_image,
        }
    }

    /// Whether its size has to be asked of the compiler.
    pub(crate) fn has_unknown_size(&self) -> bool {
        self.class == Class::Value(None)
    }
}

fn is_image(type_name: &str) -> bool {
    image_type(type_name).is_some()
}

/// The image type in a type's name, which some compilers report with its access qualifier.
pub(crate) fn image_type(type_name: &str) -> Option<&str> {
    // A struct of the program's may be called `image_size_t`.
    let is_dimension = |rest: &str| rest.starts_with(['1', '2', '3']);
    type_name
        .split_whitespace()
        .find(|word| word.ends_with("_t") && word.strip_prefix("image").is_some_and(is_dimension))
}

/// The size in bytes of a built-in scalar or vector type; `None` for anything else.
pub(crate) fn size_of_type(name: &str) -> Option<usize> {
    let words: Vec<&str> = name.split_whitespace().filter(|word| !is_qualifier(word)).collect();
    if let Some(size) = size_of_words(&words) {
        return Some(size);
    }
    let [word] = words[..] else { return None };
    let digits = word.len() - word.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (scalar, lanes) = word.split_at(digits);
    let lanes = match lanes {
        "2" => 2,
        // A vector of three takes the room of four.
        "3" | "4" => 4,
        "8" => 8,
        "16" => 16,
        _ => return None,
    };
    match scalar {
        "char" | "uchar" | "short" | "ushort" | "int" | "uint" | "long" | "ulong" | "float" | "double" | "half" => {
            Some(size_of_words(&[scalar])? * lanes)
        }
        _ => None,
    }
}

fn is_qualifier(word: &str) -> bool {
    matches!(word, "const" | "volatile" | "restrict" | "__private" | "private")
}

fn size_of_words(words: &[&str]) -> Option<usize> {
    Some(match words {
        ["char" | "uchar" | "bool" | "_Bool"] | ["signed" | "unsigned", "char"] => 1,
        ["short" | "ushort" | "half"] | ["signed" | "unsigned", "short"] => 2,
        ["int" | "uint" | "float" | "unsigned" | "signed"] | ["signed" | "unsigned", "int"] => 4,
        ["long" | "ulong" | "double"] | ["signed" | "unsigned", "long"] => 8,
        // Only 64-bit devices have shared addresses with a 64-bit host.
        ["size_t" | "ptrdiff_t" | "intptr_t" | "uintptr_t"] => 8,
        _ => return None,
    })
}

/// The text of a kernel that tells the size of `type_name` without being launched: the compiler evaluates the
/// work-group size that it demands. The second number is 2 for a vector of three and else 1; `plain` leaves that out,
/// for compilers that cannot tell. The parameter is for NVIDIA's assembler, which takes no kernel without one.
pub(crate) fn probe(index: usize, type_name: &str, plain: bool) -> String {
    let three = if plain { "0".to_owned() } else { format!("gridcl_is_three({type_name})") };
    format!(
        "\n__kernel __attribute__((reqd_work_group_size(sizeof({type_name}), 1 + {three}, 1))) void {}(__global uchar *unused) {{}}",
        probe_name(index)
    )
}

/// The macro that [`probe`] uses. A vector of three has the size, the alignment and by `vec_step` the length of one of
/// four, so that only its type tells.
pub(crate) const IS_THREE: &str = "
#define gridcl_is(T, V) __builtin_types_compatible_p(T, V)
#ifdef cl_khr_fp64
#define gridcl_is_double3(T) gridcl_is(T, double3)
#else
#define gridcl_is_double3(T) 0
#endif
#ifdef cl_khr_fp16
#define gridcl_is_half3(T) gridcl_is(T, half3)
#else
#define gridcl_is_half3(T) 0
#endif
#define gridcl_is_three(T) (gridcl_is(T, char3) || gridcl_is(T, uchar3) || gridcl_is(T, short3) || \\
    gridcl_is(T, ushort3) || gridcl_is(T, int3) || gridcl_is(T, uint3) || gridcl_is(T, long3) || \\
    gridcl_is(T, ulong3) || gridcl_is(T, float3) || gridcl_is_double3(T) || gridcl_is_half3(T))
";

/// What [`probe`] calls the kernel.
pub(crate) fn probe_name(index: usize) -> String {
    format!("gridcl_type_{index}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_sizes_of_built_in_types() {
        let known = [
            ("char", 1),
            ("unsigned char", 1),
            ("ushort", 2),
            ("half", 2),
            ("int", 4),
            ("unsigned", 4),
            ("const uint", 4),
            ("float", 4),
            ("double", 8),
            ("unsigned long", 8),
            ("size_t", 8),
            ("float3", 16),
            ("float4", 16),
            ("uchar2", 2),
            ("half3", 8),
            ("double16", 128),
        ];
        for (name, size) in known {
            assert_eq!(size_of_type(name), Some(size), "{name}");
        }
    }

    #[test]
    fn leaves_other_types_to_the_compiler() {
        for name in ["struct body", "S", "float5", "bool4", "real_t", "", "float 4"] {
            assert_eq!(size_of_type(name), None, "{name}");
        }
    }

    #[test]
    fn sorts_parameters_by_what_they_take() {
        let class = |space, type_name: &str| {
            let reported = Reported { name: "x".into(), type_name: type_name.into(), space, is_written_image: false };
            Parameter::new(&reported).class
        };
        assert_eq!(class(AddressSpace::Global, "float*"), Class::Pointer);
        assert_eq!(class(AddressSpace::Global, "image2d_t"), Class::Image);
        assert_eq!(class(AddressSpace::Global, "read_only image2d_array_t"), Class::Image);
        assert_eq!(class(AddressSpace::Local, "int*"), Class::Local);
        assert_eq!(class(AddressSpace::Private, "sampler_t"), Class::Sampler);
        assert_eq!(class(AddressSpace::Private, "S"), Class::Value(None));
    }
}
