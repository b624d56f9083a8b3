//! Modules as bytes: what a driver made of a text, with all that it does not tell a second time, and the text itself
//! for other devices. The files of the disk cache are the same. Pure.
//!
//! | bytes | what |
//! | --- | --- |
//! | 8 | [`MAGIC`], which no text begins with; its last byte is the format's version |
//! | 8 | length of the payload, little-endian |
//! | 32 | SHA-256 of the payload |
//! | .. | the payload: an [`Image`] in postcard's encoding |

use super::signature::Parameter;
use crate::cl::kernel::WorkGroup;
use crate::error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// How a binary begins.
pub(crate) const MAGIC: [u8; 8] = *b"\x7fGRIDCL\x01";
/// Bytes in front of the payload.
pub(crate) const HEADER: usize = MAGIC.len() + 8 + 32;
/// The version of the library is part of what a binary is good for: what is hidden in it may change.
const LIBRARY: &str = env!("CARGO_PKG_VERSION");

/// What a build was made from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Recipe {
    /// What messages call the text.
    pub(super) name: String,
    /// The whole text, with what it includes.
    pub(super) text: String,
    /// The program's own options.
    pub(super) options: String,
    /// Whether the text includes nothing that the driver would have to find.
    pub(super) complete: bool,
}

/// A module as a driver built it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Image {
    library: String,
    /// Platform, device and driver with their versions.
    device: String,
    /// SHA-256 of what the compiler was given: the text as it was rewritten, and all options.
    built: [u8; 32],
    pub(super) recipe: Recipe,
    pub(super) kernels: Vec<KernelRecord>,
    pub(super) symbols: Vec<SymbolRecord>,
    /// The sizes of blocks whose code is in the driver's binary, by kernel, where a driver compiles for each.
    pub(super) shapes: Vec<(usize, [usize; 4])>,
    pub(super) driver: Vec<u8>,
}

/// A kernel's signature and limits.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct KernelRecord {
    pub(super) name: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) group: WorkGroup,
    /// Whether a stand-in was given to a kernel without parameters.
    pub(super) filled: bool,
}

/// What the compiler told of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct SymbolRecord {
    pub(crate) bytes: usize,
    /// Whether the preprocessor left the declaration in the text.
    pub(crate) declared: bool,
    /// Whether a kernel writes its first value.
    pub(crate) initialized: bool,
}

impl Image {
    /// What was built for `device`, as far as it is known without the driver's binary.
    pub(super) fn new(
        device: String,
        built: [u8; 32],
        recipe: Recipe,
        kernels: Vec<KernelRecord>,
        symbols: Vec<SymbolRecord>,
    ) -> Self {
        let (shapes, driver) = (Vec::new(), Vec::new());
        Self { library: LIBRARY.into(), device, built, recipe, kernels, symbols, shapes, driver }
    }

    /// Whether it was made by this version of the library for a device and driver like `device`, and from what the
    /// compiler would be given now.
    pub(super) fn fits(&self, device: &str, built: &[u8; 32]) -> bool {
        self.library == LIBRARY && self.device == device && self.built == *built && !self.driver.is_empty()
    }

    pub(super) fn device(&self) -> &str {
        &self.device
    }

    /// The name of its entry in the cache.
    pub(super) fn key(&self) -> String {
        key(&self.device, &self.recipe)
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>> {
        let payload = postcard::to_allocvec(self)
            .map_err(|error| Error::new(ErrorKind::Unknown, "the module cannot be written").caused_by(error))?;
        let mut bytes = Vec::with_capacity(HEADER + payload.len());
        bytes.extend(MAGIC);
        bytes.extend((payload.len() as u64).to_le_bytes());
        bytes.extend(Sha256::digest(&payload));
        bytes.extend(payload);
        Ok(bytes)
    }

    /// Reads what [`Image::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidImage`] for anything else, and for what was changed or cut.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let refuse = |problem: &'static str| Error::new(ErrorKind::InvalidImage, problem);
        let length = payload_bytes(bytes)?;
        let payload = bytes.get(HEADER..HEADER.saturating_add(length));
        let payload = payload.ok_or_else(|| refuse("the module binary is cut short"))?;
        if Sha256::digest(payload)[..] != bytes[MAGIC.len() + 8..HEADER] {
            return Err(refuse("the module binary is damaged"));
        }
        postcard::from_bytes(payload).map_err(|error| refuse("the module binary is damaged").caused_by(error))
    }
}

/// Whether bytes are meant to be a module binary: of any version.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC[..7])
}

/// The length that a header tells of what follows it.
///
/// # Errors
/// [`ErrorKind::InvalidImage`] where `bytes` do not begin with a header of this version.
pub(crate) fn payload_bytes(bytes: &[u8]) -> Result<usize> {
    let refuse = |problem: &'static str| Error::new(ErrorKind::InvalidImage, problem);
    if !is_binary(bytes) {
        return Err(refuse("the bytes are not a module binary of gridcl"));
    }
    if bytes.len() > MAGIC.len() && !bytes.starts_with(&MAGIC) {
        return Err(other_version());
    }
    if bytes.len() < HEADER {
        return Err(refuse("the module binary is cut short"));
    }
    let length: [u8; 8] = bytes[MAGIC.len()..MAGIC.len() + 8].try_into().unwrap_or_default();
    usize::try_from(u64::from_le_bytes(length)).map_err(|_| refuse("the module binary is damaged"))
}

/// The error for a binary that begins as one of another version does.
pub(crate) fn other_version() -> Error {
    Error::new(ErrorKind::InvalidImage, "the module binary is of another format version")
        .help("write it again with this version of gridcl")
}

/// Stands for what the compiler is given.
pub(super) fn built(text: &str, options: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text);
    hash.update(options);
    hash.finalize().into()
}

/// The name under which the cache keeps what a device makes of a text.
pub(super) fn key(device: &str, recipe: &Recipe) -> String {
    let mut hash = Sha256::new();
    for part in [LIBRARY, device, &recipe.name, &recipe.options, &recipe.text] {
        // With its length, so that no two lists run together.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.update([MAGIC[7]]);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::signature::Class;
    use super::*;
    use proptest::prelude::*;

    fn image() -> Image {
        let recipe = Recipe {
            name: "k.cl".into(),
            text: "__kernel void k(v x) {}".into(),
            options: "-w".into(),
            complete: true,
        };
        let parameter = Parameter {
            name: "x".into(),
            type_name: "v".into(),
            class: Class::Value(Some(16)),
            three: true,
            is_written_image: false,
        };
        let group = WorkGroup { max_size: 64, multiple: 8, required: [1, 2, 3], local_bytes: 5, private_bytes: 7 };
        let kernel = KernelRecord { name: "k".into(), parameters: vec![parameter], group, filled: false };
        let symbol = SymbolRecord { bytes: 12, declared: true, initialized: true };
        let mut image = Image::new("device".into(), [7; 32], recipe, vec![kernel], vec![symbol]);
        image.driver = (0..=255).collect();
        image.shapes = vec![(0, [64, 1, 1, 0])];
        image
    }

    #[test]
    fn what_is_written_comes_back() {
        let bytes = image().to_bytes().unwrap();
        assert!(is_binary(&bytes));
        assert_eq!(payload_bytes(&bytes[..HEADER]).unwrap(), bytes.len() - HEADER);
        assert_eq!(Image::from_bytes(&bytes).unwrap(), image());
        // Whoever gives no length gives more than the binary.
        assert_eq!(Image::from_bytes(&[&bytes[..], b"more"].concat()).unwrap(), image());
    }

    #[test]
    fn it_fits_its_own_device_and_library_alone() {
        assert!(image().fits("device", &[7; 32]) && !image().fits("other", &[7; 32]));
        assert!(!image().fits("device", &[8; 32]), "what the compiler is given has changed");
        let mut old = image();
        old.library = "0.0.1".into();
        assert!(!old.fits("device", &[7; 32]));
    }

    #[test]
    fn every_part_is_in_the_key() {
        let recipe = image().recipe;
        let known = key("device", &recipe);
        assert_eq!(known.len(), 64);
        assert_eq!(known, image().key());
        let change = |change: fn(&mut Recipe)| {
            let mut changed = recipe.clone();
            change(&mut changed);
            key("device", &changed)
        };
        assert_ne!(known, key("devic", &recipe));
        assert_ne!(known, change(|recipe| recipe.name.push('x')));
        assert_ne!(known, change(|recipe| recipe.text.push('x')));
        assert_ne!(known, change(|recipe| recipe.options.push('x')));
        assert_ne!(known, change(|recipe| std::mem::swap(&mut recipe.name, &mut recipe.options)));
    }

    #[test]
    fn another_version_and_other_bytes_are_told_apart() {
        let mut bytes = image().to_bytes().unwrap();
        bytes[7] = 9;
        assert!(Image::from_bytes(&bytes).unwrap_err().to_string().contains("another format version"));
        assert!(Image::from_bytes(b"\x7fELF").unwrap_err().to_string().contains("not a module binary"));
        assert!(Image::from_bytes(b"\x7fGRIDCL\x01").unwrap_err().to_string().contains("cut short"));
    }

    proptest! {
        #[test]
        fn no_change_goes_unnoticed(at in any::<prop::sample::Index>(), by in 1_u8..) {
            let mut bytes = image().to_bytes().unwrap();
            let at = at.index(bytes.len());
            bytes[at] = bytes[at].wrapping_add(by);
            prop_assert_eq!(Image::from_bytes(&bytes).unwrap_err().kind(), ErrorKind::InvalidImage);
        }

        #[test]
        fn no_cut_goes_unnoticed(at in any::<prop::sample::Index>()) {
            let bytes = image().to_bytes().unwrap();
            prop_assert!(Image::from_bytes(&bytes[..at.index(bytes.len())]).is_err());
        }

        #[test]
        fn no_payload_makes_it_panic(payload: Vec<u8>, keep in any::<prop::sample::Index>()) {
            let whole = image().to_bytes().unwrap();
            // Any bytes, also behind a good beginning, under a hash that says that they are right.
            let good = &whole[HEADER..HEADER + keep.index(whole.len() - HEADER)];
            for payload in [payload.clone(), [good, &payload].concat()] {
                let mut bytes = MAGIC.to_vec();
                bytes.extend((payload.len() as u64).to_le_bytes());
                bytes.extend(Sha256::digest(&payload));
                bytes.extend(&payload);
                let _ = Image::from_bytes(&bytes);
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, length: u64) {
            let _ = Image::from_bytes(&bytes);
            let _ = Image::from_bytes(&[&MAGIC[..], &length.to_le_bytes(), &bytes].concat());
        }
    }
}
