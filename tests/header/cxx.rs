//! What C++ programs get beside the C declarations, by rules over the tables: default arguments, overloads for typed
//! pointers, for functions that stand for kernels, and for texts.

use super::c;
use super::print::wrapped;
use gridcl::dialect::Entry;
use std::collections::HashSet;

/// The shape of grids and blocks, which both dialects share.
pub(crate) const DIM3: &str = "\
/** Extents of a grid in blocks, or of a block in threads; what is not given is 1. In C give all three. */
typedef struct dim3 {
    unsigned int x; /**< Along the axis that varies fastest. */
    unsigned int y; /**< Along the second axis. */
    unsigned int z; /**< Along the third axis. */
#ifdef __cplusplus
    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
#endif
} dim3;
";

/// Overloads of gridcl.h.
pub(crate) const OWN: &str = "
/** The same for a function of the program. */
template <class Result, class... Parameters>
inline int gridclRegisterFunction(void* module, Result (*function)(Parameters...), const char* name) {
    return gridclRegisterFunction(module, reinterpret_cast<const void*>(function), name);
}
";

/// Default values of flags, by the end of the call's name. 0 asks for nothing special in all of them but managed memory.
const FLAGS: &[(&str, &str)] = &[
    ("MallocManaged", "MemAttachGlobal"),
    ("HostAlloc", "HostAllocDefault"),
    ("HostMalloc", "HostMallocDefault"),
    ("HostRegister", "HostRegisterDefault"),
    ("HostGetDevicePointer", "0"),
    ("EventRecordWithFlags", "EventRecordDefault"),
    ("StreamWaitEvent", "0"),
    ("MallocArray", "0"),
    ("Malloc3DArray", "0"),
];

/// The default value of each parameter, where it has one and so have all behind it.
pub(crate) fn defaults(entry: &Entry) -> Vec<Option<String>> {
    let prefix = &entry.name[..entry.name.len().min(4)];
    let mut values: Vec<Option<String>> = Vec::new();
    for (index, (name, kind)) in entry.parameters.iter().enumerate().rev() {
        let all_behind = values.iter().all(Option::is_some);
        // A call that is about its first argument is always given it.
        let value = if index == 0 || !all_behind { None } else { default(entry.name, prefix, name, kind) };
        values.push(value);
    }
    values.reverse();
    values
}

fn default(call: &str, prefix: &str, parameter: &str, kind: &str) -> Option<String> {
    let symbol = call.contains("Symbol");
    match (parameter, kind) {
        _ if kind.ends_with("Stream_t") && !kind.contains('*') => Some("0".to_owned()),
        ("offset", "usize") if symbol => Some("0".to_owned()),
        ("kind", _) if call.contains("ToSymbol") => Some(format!("{prefix}MemcpyHostToDevice")),
        ("kind", _) if call.contains("FromSymbol") => Some(format!("{prefix}MemcpyDeviceToHost")),
        ("sharedMem" | "sharedMemBytes" | "dynamicSMemSize", "usize") | ("blockSizeLimit", "c_int") => {
            Some("0".to_owned())
        }
        ("flags", "c_uint") => {
            let (_, value) = FLAGS.iter().find(|(end, _)| &call[prefix.len()..] == *end)?;
            Some(if *value == "0" { "0".to_owned() } else { format!("{prefix}{value}") })
        }
        _ => None,
    }
}

/// The overloads of a call, as inline C++.
pub(crate) fn overloads(entry: &Entry, known: &HashSet<String>) -> String {
    let Some((first, kind)) = entry.parameters.first() else { return String::new() };
    let call = entry.name;
    let allocates =
        ["Malloc", "HostAlloc", "GetDevicePointer", "GetSymbolAddress"].iter().any(|part| call.contains(part));
    // Wherever a kernel is meant, a function of the program may stand for it.
    let is_kernel =
        |(name, kind): &(&str, &str)| *kind == "*const c_void" && (*name == "func" || call.ends_with("LaunchKernel"));
    if let Some(index) = entry.parameters.iter().position(is_kernel) {
        let name = entry.parameters[index].0;
        let pointer = format!("Result (*{name})(Parameters...)");
        let cast = format!("reinterpret_cast<const void*>({name})");
        return forward(entry, known, "template <class Result, class... Parameters>", (index, &pointer, &cast));
    }
    match *kind {
        "*mut *mut c_void" if allocates => {
            let cast = format!("static_cast<void**>(static_cast<void*>({first}))");
            forward(entry, known, "template <class T>", (0, &format!("T** {first}"), &cast))
        }
        // Names of errors with a result argument: the text itself as well.
        "*mut *const c_char" if entry.parameters.len() == 2 => {
            let (value, kind) = entry.parameters[1];
            format!(
                "/** The name itself; never null. */\ninline const char* {call}({kind} {value}) {{\n    \
                 const char* {first} = \"\";\n    (void){call}(&{first}, {value});\n    return {first};\n}}\n\n"
            )
        }
        _ => String::new(),
    }
}

/// A template that takes one argument as `pointer` and passes it on as `cast`.
fn forward(
    entry: &Entry,
    known: &HashSet<String>,
    template: &str,
    (special, pointer, cast): (usize, &str, &str),
) -> String {
    let is_known = |name: &str| known.contains(name);
    let (mut parameters, mut passed) = (Vec::new(), Vec::new());
    for (index, ((name, kind), default)) in entry.parameters.iter().zip(defaults(entry)).enumerate() {
        if index == special {
            parameters.push(pointer.to_owned());
            passed.push(cast.to_owned());
            continue;
        }
        let declared = c::declare(kind, name, &is_known).unwrap_or_else(|problem| panic!("{}: {problem}", entry.name));
        parameters.push(default.map_or(declared.clone(), |value| format!("{declared} = {value}")));
        passed.push((*name).to_owned());
    }
    let head = wrapped(&format!("inline {} {}(", entry.returns, entry.name), &parameters, ") {");
    let body = wrapped(&format!("    return {}(", entry.name), &passed, ");");
    format!("{template}\n{head}\n{body}\n}}\n\n")
}
