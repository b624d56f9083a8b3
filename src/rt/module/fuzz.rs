//! What fuzzers may feed to the readers of this folder (feature `testing`). Each function panics where a promise is broken.

use super::binary::{HEADER, Image, MAGIC};
use super::rewrite::rewrite;
use super::signature::{image_type, size_of_type};
use sha2::{Digest, Sha256};

/// The symbol rewriter: no text makes it panic, one without symbols comes back as it was, and lines keep their numbers.
pub(crate) fn text(bytes: &[u8]) {
    let source = String::from_utf8_lossy(bytes);
    let Ok(rewritten) = rewrite(&source) else { return };
    // Markers are taken away from functions, too.
    let is_marked =
        ["__constant__", "__device__", "__host__", "__forceinline__"].iter().any(|marker| source.contains(marker));
    if !is_marked {
        assert_eq!(rewritten.text, source, "a text without symbols comes back as it was");
    }
    let lines = |text: &str| text.matches('\n').count();
    assert!(lines(&rewritten.text) >= lines(&source), "lines keep their numbers");
    for (kernel, hidden) in &rewritten.hidden {
        assert!(hidden.iter().all(|&symbol| symbol < rewritten.symbols.len()), "{kernel} takes symbols that there are");
    }
}

/// The reader of types in signatures: any text has a size or none.
pub(crate) fn type_name(bytes: &[u8]) {
    let name = String::from_utf8_lossy(bytes);
    if let Some(size) = size_of_type(&name) {
        assert!(size > 0 && size <= 128, "{name} has {size} bytes");
    }
    if let Some(image) = image_type(&name) {
        assert!(name.contains(image), "{image} is a part of {name}");
    }
}

/// The reader of module binaries, which is the cache's too: as they are, and as a payload behind a header that is right.
pub(crate) fn binary(bytes: &[u8]) {
    let mut framed = MAGIC.to_vec();
    framed.extend((bytes.len() as u64).to_le_bytes());
    framed.extend(Sha256::digest(bytes));
    assert_eq!(framed.len(), HEADER);
    framed.extend(bytes);
    for bytes in [bytes, &framed] {
        if let Ok(image) = Image::from_bytes(bytes) {
            let again = image.to_bytes().and_then(|bytes| Image::from_bytes(&bytes));
            assert!(again.is_ok_and(|again| again == image), "what was read can be written and read again");
        }
    }
}
