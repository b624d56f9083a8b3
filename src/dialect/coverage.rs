//! Which functions of the seeds work. `docs/coverage.md` is printed from the tables by [`markdown`].

use super::Entry;
use std::fmt::Write;

/// A dialect as the coverage page shows it.
struct Front {
    title: &'static str,
    /// Chapters of the seed document with the functions that it names, in its order.
    seed: &'static [(&'static str, &'static [&'static str])],
    table: &'static [Entry],
    /// What the seed names that is no call: helpers, and launches with chevrons.
    helpers: &'static [(&'static str, &'static str)],
}

#[cfg(feature = "musa")]
const MUSA: Front = Front {
    title: "MUSA Runtime",
    table: super::musa::TABLE,
    helpers: &[
        ("make_musaExtent, make_musaPitchedPtr, musaCreateChannelDesc", "helper functions, in `gridcl::musa`"),
        ("kernel<<<grid, block, shared, stream>>>(…)", "`musaLaunchKernel` of a loaded module's kernel"),
    ],
    seed: &[
        (
            "Device management",
            &[
                "musaGetDeviceCount",
                "musaGetDeviceProperties",
                "musaSetDevice",
                "musaGetDevice",
                "musaDeviceReset",
                "musaDeviceSynchronize",
                "musaDeviceCanAccessPeer",
                "musaDeviceGetPCIBusId",
                "musaDeviceGetUuid",
            ],
        ),
        (
            "Memory management",
            &[
                "musaMalloc",
                "musaMallocPitch",
                "musaMalloc3D",
                "musaMallocArray",
                "musaMallocHost",
                "musaHostAlloc",
                "musaHostRegister",
                "musaMallocManaged",
                "musaMemPrefetchAsync",
                "musaMemAdvise",
                "musaMemcpy",
                "musaMemcpy2D",
                "musaMemcpy3D",
                "musaMemcpyAsync",
                "musaMemcpyPeer",
                "musaMemcpyPeerAsync",
                "musaMemset",
                "musaMemset2D",
                "musaFree",
                "musaFreeHost",
                "musaMemHostUnregister",
                "musaPointerGetAttribute",
                "musaPointerGetMemoryType",
                "musaPointerGetDevice",
            ],
        ),
        (
            "Streams",
            &[
                "musaStreamCreate",
                "musaDeviceGetStreamPriorityRange",
                "musaStreamCreateWithPriority",
                "musaStreamDestroy",
                "musaStreamSynchronize",
                "musaStreamQuery",
                "musaStreamAddCallback",
            ],
        ),
        (
            "Events",
            &[
                "musaEventCreate",
                "musaEventCreateWithFlags",
                "musaEventDestroy",
                "musaEventRecord",
                "musaEventRecordWithFlags",
                "musaEventSynchronize",
                "musaEventQuery",
                "musaStreamWaitEvent",
                "musaEventElapsedTime",
                "musaIpcGetEventHandle",
                "musaIpcOpenEventHandle",
            ],
        ),
        ("Errors", &["musaGetLastError", "musaGetErrorString", "musaGetErrorName"]),
    ],
};

#[cfg(feature = "tops")]
const TOPS: Front = Front {
    title: "TopsRuntime",
    table: super::tops::TABLE,
    helpers: &[("kernel<<<grid, block, shared, stream>>>(…)", "`topsLaunchKernel` of a loaded module's kernel")],
    seed: &[
        (
            "7.1 Memory management",
            &[
                "topsMalloc",
                "topsFree",
                "topsGetSymbolAddress",
                "topsGetSymbolSize",
                "topsMemcpy",
                "topsMemcpyToSymbol",
                "topsHostMalloc",
                "topsHostFree",
                "topsHostRegister",
                "topsHostUnregister",
            ],
        ),
        ("7.2 Streams", &["topsStreamCreate", "topsMemcpyAsync", "topsDeviceSynchronize"]),
        ("7.3 Events", &["topsEventCreate", "topsEventRecord", "topsEventSynchronize", "topsEventElapsedTime"]),
        ("7.4 The default stream", &["topsStreamCreateWithFlags"]),
    ],
};

const HEAD: &str = "# Coverage

Printed from the tables of the dialects (`GRIDCL_BLESS=1 cargo test --test documents`); a test fails when it is stale.
First what the two seed documents name, then everything else that each dialect has.
";

/// The coverage page, as `docs/coverage.md` holds it.
pub fn markdown() -> String {
    let mut page = String::from(HEAD);
    #[cfg(feature = "musa")]
    print(&mut page, &MUSA);
    #[cfg(feature = "tops")]
    print(&mut page, &TOPS);
    page
}

fn print(page: &mut String, front: &Front) {
    let find = |name: &str| front.table.iter().find(|entry| entry.name == name);
    let named: Vec<&str> = front.seed.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let working = named.iter().filter(|name| find(name).is_some()).count();
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "\n## {}\n\n{working} of the {} functions that the document names work; {} functions in all.\n\n",
        front.title,
        named.len(),
        front.table.len()
    );
    page.push_str("| chapter | function | works |\n| --- | --- | --- |\n");
    for (chapter, names) in front.seed {
        for name in *names {
            let works = if find(name).is_some() { "yes" } else { "not yet" };
            let _ = writeln!(page, "| {chapter} | `{name}` | {works} |");
        }
    }
    for (what, how) in front.helpers {
        let _ = writeln!(page, "| Language | `{what}` | {how} |");
    }
    let _ = writeln!(page, "\n### {}: every function\n", front.title);
    page.push_str("| section | function | in short |\n| --- | --- | --- |\n");
    for entry in front.table {
        let parameters: Vec<&str> = entry.parameters.iter().map(|(name, _)| *name).collect();
        let _ = writeln!(
            page,
            "| {} | `{}({})` | {} |",
            entry.section,
            entry.name,
            parameters.join(", "),
            first_sentence(entry.doc)
        );
    }
}

/// The first sentence of a documentation text.
fn first_sentence(doc: &[&str]) -> String {
    let text: Vec<&str> = doc.iter().map(|line| line.trim()).take_while(|line| !line.is_empty()).collect();
    let text = text.join(" ");
    text.split_inclusive(". ").next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_first_sentence_over_lines() {
        assert_eq!(first_sentence(&[" One thing", " and so on. Another.", "", " More."]), "One thing and so on.");
    }
}
