//! Arguments packed into one buffer, each at the next address that its type may lie at: pure arithmetic over the
//! kernel's parameters.

use crate::error::{Error, ErrorKind, Result};
use crate::rt::module::signature::{self, Class, Parameter};
use smallvec::SmallVec;

/// The largest alignment that a structure of the host's is taken to have.
const MAX_ALIGN: usize = 16;

/// Where each argument starts that is not `__local`, in a buffer of `bytes`.
///
/// How structures are aligned is not known here, nor whether a vector of three takes the room of four on the host. Where
/// the places of arguments depend on it they are refused rather than guessed.
///
/// # Errors
/// [`ErrorKind::InvalidValue`] for a buffer that is too small, [`ErrorKind::NotSupported`] for arguments whose places
/// are not certain.
pub(super) fn offsets(parameters: &[Parameter], bytes: usize) -> Result<SmallVec<[usize; 8]>> {
    let mut offsets = SmallVec::new();
    // Where the next argument may start at the earliest: several places while they are not certain.
    let mut ends: SmallVec<[usize; 4]> = SmallVec::from_slice(&[0]);
    for parameter in parameters.iter().filter(|parameter| parameter.class != Class::Local) {
        let layouts = layouts(parameter);
        let mut starts: SmallVec<[usize; 4]> = SmallVec::new();
        let mut next: SmallVec<[usize; 4]> = SmallVec::new();
        for (size, align) in &layouts {
            for start in ends.iter().map(|end| end.next_multiple_of(*align)) {
                starts.push(start);
                next.push(start + size);
            }
        }
        starts.sort_unstable();
        starts.dedup();
        let [start] = starts[..] else { return Err(uncertain(parameter)) };
        offsets.push(start);
        next.sort_unstable();
        next.dedup();
        ends = next;
    }
    // Only the last one's size can be uncertain here, and the buffer need not hold more than is read of it.
    let end = ends.iter().min().copied().unwrap_or(0);
    if end > bytes {
        let problem = format!("the buffer has {bytes} bytes and the kernel's arguments take {end}");
        return Err(Error::new(ErrorKind::InvalidValue, problem).argument("extra", format_args!("{bytes} bytes")));
    }
    Ok(offsets)
}

/// The sizes and alignments that an argument may have on the host.
fn layouts(parameter: &Parameter) -> SmallVec<[(usize, usize); 5]> {
    let word = size_of::<usize>();
    let size = match parameter.class {
        Class::Value(Some(size)) if size > 0 => size,
        Class::Value(_) => return SmallVec::new(),
        Class::Pointer | Class::Image | Class::Sampler | Class::Local => return SmallVec::from_slice(&[(word, word)]),
    };
    if parameter.three {
        return SmallVec::from_slice(&[(size, size), (size / 4 * 3, size / 4)]);
    }
    if signature::size_of_type(&parameter.type_name).is_none() {
        let fits = |align: &usize| size.is_multiple_of(*align);
        return [1, 2, 4, 8, MAX_ALIGN].into_iter().filter(fits).map(|align| (size, align)).collect();
    }
    SmallVec::from_slice(&[(size, size)])
}

fn uncertain(parameter: &Parameter) -> Error {
    let problem = format!("where {} {} lies in the buffer is not certain", parameter.type_name, parameter.name);
    Error::new(ErrorKind::NotSupported, problem)
        .argument("extra", "a buffer")
        .help("pass the address of each value by kernelParams, or put structures and vectors of three last")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(list: &[(&str, Class)]) -> Vec<Parameter> {
        let one = |(type_name, class): &(&str, Class)| Parameter {
            name: "p".into(),
            type_name: (*type_name).to_owned(),
            class: *class,
            three: type_name.ends_with('3'),
            is_written_image: false,
        };
        list.iter().map(one).collect()
    }

    fn value(type_name: &str) -> (&str, Class) {
        (type_name, Class::Value(signature::size_of_type(type_name)))
    }

    #[test]
    fn arguments_lie_as_in_a_structure_of_c() {
        let pointer = ("float*", Class::Pointer);
        let list =
            parameters(&[value("int"), pointer, ("int*", Class::Local), value("char"), value("float4"), pointer]);
        assert_eq!(offsets(&list, 56).expect("offsets")[..], [0, 8, 16, 32, 48]);
        let refusal = offsets(&list, 55).expect_err("too small");
        assert_eq!(refusal.kind(), ErrorKind::InvalidValue);
        assert!(refusal.to_string().contains("55 bytes and the kernel's arguments take 56"), "{refusal}");
        assert!(offsets(&[], 0).expect("none").is_empty());
    }

    #[test]
    fn what_is_not_certain_is_refused() {
        let structure = ("S", Class::Value(Some(12)));
        assert_eq!(
            offsets(&parameters(&[value("long"), structure, value("int")]), 24).expect("certain")[..],
            [0, 8, 20]
        );
        for list in [
            // It may start at 1, 2 or 4.
            parameters(&[value("char"), structure]),
            parameters(&[value("float3"), value("float")]),
            parameters(&[("S", Class::Value(None))]),
        ] {
            assert_eq!(offsets(&list, 64).expect_err("refused").kind(), ErrorKind::NotSupported);
        }
        assert_eq!(offsets(&parameters(&[value("float3")]), 12).expect("last")[..], [0]);
    }
}
