//! Rust's types as C writes them: the one place that knows both.

/// A declaration of `name` with a Rust type, for instance `void** devPtr` or `char name[256]`.
///
/// Types of the headers themselves are known by `is_known`; any other name is an error.
pub(crate) fn declare(kind: &str, name: &str, is_known: &dyn Fn(&str) -> bool) -> Result<String, String> {
    let kind = kind.trim();
    if let Some(array) = kind.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let (element, len) = array.rsplit_once(';').ok_or_else(|| format!("{kind}: an array without a length"))?;
        // C names the outer dimension first as well.
        return declare(element, &format!("{name}[{}]", len.trim()), is_known);
    }
    if let Some(function) = function(kind) {
        let (parameters, answer) = function?;
        let list = parameter_list(&parameters, is_known)?;
        return declare(&answer, &format!("(*{name})({list})"), is_known);
    }
    let spelled = spell(kind, is_known)?;
    Ok(if name.is_empty() { spelled } else { format!("{spelled} {name}") })
}

/// Parameters as C lists them; none is `void`.
pub(crate) fn parameter_list(
    parameters: &[(String, String)],
    is_known: &dyn Fn(&str) -> bool,
) -> Result<String, String> {
    if parameters.is_empty() {
        return Ok("void".to_owned());
    }
    let list: Result<Vec<_>, _> = parameters.iter().map(|(name, kind)| declare(kind, name, is_known)).collect();
    Ok(list?.join(", "))
}

/// Takes `Option<unsafe extern "C" fn(a: A, …) -> R>` apart, where it is one.
#[allow(clippy::type_complexity, reason = "parameters and a result")]
fn function(kind: &str) -> Option<Result<(Vec<(String, String)>, String), String>> {
    let inner = kind.strip_prefix("Option<unsafe extern")?.trim_start();
    let parse = || {
        let rest = inner.strip_prefix("\"C\"")?.trim_start().strip_prefix("fn(")?;
        let (parameters, answer) = rest.strip_suffix('>')?.rsplit_once(')')?;
        let pairs = parameters.split(',').filter(|pair| !pair.trim().is_empty());
        let pairs: Option<Vec<_>> = pairs
            .map(|pair| pair.split_once(':').map(|(name, kind)| (name.trim().to_owned(), kind.trim().to_owned())))
            .collect();
        let answer = answer.trim().strip_prefix("->").map_or("()", str::trim);
        Some((pairs?, answer.to_owned()))
    };
    Some(parse().ok_or_else(|| format!("{kind}: a function type that cannot be read")))
}

fn spell(kind: &str, is_known: &dyn Fn(&str) -> bool) -> Result<String, String> {
    let kind = kind.trim();
    if let Some(to) = kind.strip_prefix("*mut ") {
        return Ok(format!("{}*", spell(to, is_known)?));
    }
    if let Some(to) = kind.strip_prefix("*const ") {
        let to = spell(to, is_known)?;
        return Ok(if to.ends_with('*') { format!("{to} const*") } else { format!("const {to}*") });
    }
    Ok(match kind {
        "()" | "c_void" => "void",
        "c_char" => "char",
        "c_uchar" | "u8" => "unsigned char",
        "c_short" => "short",
        "c_ushort" => "unsigned short",
        "c_int" | "i32" => "int",
        "c_uint" => "unsigned int",
        "c_longlong" => "long long",
        "c_ulonglong" => "unsigned long long",
        "u16" => "uint16_t",
        "u32" => "uint32_t",
        "u64" => "uint64_t",
        "i64" => "int64_t",
        "usize" => "size_t",
        "f32" => "float",
        "f64" => "double",
        "dim3" => "dim3",
        name if is_known(name) => name,
        _ => return Err(format!("{kind} is no type that C knows; tests/header/c.rs has the list")),
    }
    .to_owned())
}

/// A constant's value as C writes it.
pub(crate) fn value(kind: &str, value: &str, is_known: &dyn Fn(&str) -> bool) -> Result<String, String> {
    if let Some(address) = value.strip_prefix("without_provenance_mut(").and_then(|rest| rest.strip_suffix(')')) {
        return Ok(format!("(({}){address})", spell(kind, is_known)?));
    }
    Ok(number(value))
}

/// A number, or another constant's name, without Rust's separators.
pub(crate) fn number(value: &str) -> String {
    let is_number = value.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    let value = if is_number { value.replace('_', "") } else { value.to_owned() };
    if value.starts_with('-') { format!("({value})") } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_what_the_tables_use() {
        let known = |name: &str| name == "musaArray_t";
        for (kind, name, expected) in [
            ("*mut *mut c_void", "p", "void** p"),
            ("*const c_char", "text", "const char* text"),
            ("*mut *const c_char", "out", "const char** out"),
            ("*const *const c_void", "list", "const void* const* list"),
            ("[[c_char; 16]; 6]", "ids", "char ids[6][16]"),
            ("musaArray_t", "a", "musaArray_t a"),
            ("Option<unsafe extern \"C\" fn(a: c_int, b: *mut c_void)>", "f", "void (*f)(int a, void* b)"),
        ] {
            assert_eq!(declare(kind, name, &known).as_deref(), Ok(expected));
        }
        assert!(declare("String", "s", &known).is_err());
        assert_eq!(number("0x8000_0000"), "0x80000000");
        assert_eq!(value("*mut c_void", "without_provenance_mut(0x1)", &known).as_deref(), Ok("((void*)0x1)"));
    }
}
