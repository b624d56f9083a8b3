//! The 64 bytes that another process opens an event by. Pure: reading them touches nothing, and whatever they say is
//! checked against the system before it is believed.

use super::process::Process;
use crate::error::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};

/// Bytes of a handle, in both dialects.
pub(crate) const HANDLE_BYTES: usize = 64;

const MAGIC: [u8; 8] = *b"gridclEv";
const VERSION: u32 = 1;
/// What the checksum, which fills the rest, is taken over.
const SIGNED: usize = 48;

/// What a handle says: where the page of an event lies, and how to tell that it is the one meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// The process that holds the page open.
    pub(super) holder: Process,
    /// Its descriptor of the page.
    pub(super) descriptor: u32,
    /// What the page begins with.
    pub(super) nonce: [u8; 16],
}

impl Parts {
    /// The handle that says this.
    pub(super) fn to_bytes(self) -> [u8; HANDLE_BYTES] {
        let mut bytes = [0; HANDLE_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.holder.id.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.holder.start.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.descriptor.to_le_bytes());
        bytes[28..44].copy_from_slice(&self.nonce);
        let checksum = checksum(&bytes);
        bytes[SIGNED..].copy_from_slice(&checksum);
        bytes
    }

    /// Reads a handle.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidHandle`] for bytes that [`to_bytes`](Self::to_bytes) of this version cannot have made.
    pub(super) fn parse(bytes: &[u8; HANDLE_BYTES]) -> Result<Self> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let refuse =
            |problem: &'static str| Err(Error::new(ErrorKind::InvalidHandle, problem).argument("handle", "64 bytes"));
        if bytes[..8] != MAGIC {
            return refuse("it is not a handle of an interprocess event");
        }
        if word(8) != VERSION {
            return refuse("it is of another version of gridcl");
        }
        if bytes[SIGNED..] != checksum(bytes) {
            return refuse("it was damaged on the way");
        }
        let mut nonce = [0; 16];
        nonce.copy_from_slice(&bytes[28..44]);
        let start = u64::from(word(16)) | u64::from(word(20)) << 32;
        Ok(Self { holder: Process { id: word(12), start }, descriptor: word(24), nonce })
    }
}

/// What a fuzzer may feed to the reader of handles: what is read is written in the same way, and any change is told.
#[cfg(feature = "testing")]
pub(crate) fn fuzz(bytes: &[u8]) {
    let mut handle = [0; HANDLE_BYTES];
    handle.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    let mut signed = handle;
    signed[SIGNED..].copy_from_slice(&checksum(&handle));
    for handle in [handle, signed] {
        if let Ok(parts) = Parts::parse(&handle) {
            let written = parts.to_bytes();
            assert!(written[..44] == handle[..44], "what was read is written in the same way");
        }
    }
}

/// Tells damage; it is no secret and proves nothing.
fn checksum(bytes: &[u8; HANDLE_BYTES]) -> [u8; HANDLE_BYTES - SIGNED] {
    let digest = Sha256::digest(&bytes[..SIGNED]);
    std::array::from_fn(|index| digest[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Parts {
        let holder = Process { id: 0x0403_0201, start: 0x1817_1615_1413_1211 };
        Parts { holder, descriptor: 7, nonce: *b"0123456789abcdef" }
    }

    #[test]
    fn a_handle_says_what_it_was_made_of() {
        assert_eq!(Parts::parse(&parts().to_bytes()).unwrap(), parts());
        let extreme =
            Parts { holder: Process { id: u32::MAX, start: u64::MAX }, descriptor: u32::MAX, nonce: [0xFF; 16] };
        assert_eq!(Parts::parse(&extreme.to_bytes()).unwrap(), extreme);
    }

    #[test]
    fn a_handle_with_any_bit_changed_is_refused() {
        let good = parts().to_bytes();
        for bit in 0..8 * HANDLE_BYTES {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            let error = Parts::parse(&bad).expect_err("a changed bit");
            assert_eq!(error.kind(), ErrorKind::InvalidHandle, "bit {bit}");
        }
    }

    #[test]
    fn a_refusal_says_why() {
        let text = |bytes: &[u8; HANDLE_BYTES]| Parts::parse(bytes).expect_err("no handle").to_string();
        assert!(text(&[0; HANDLE_BYTES]).contains("not a handle of an interprocess event"));
        let mut other = parts().to_bytes();
        other[8] += 1;
        assert!(text(&other).contains("another version"), "{}", text(&other));
        let mut damaged = parts().to_bytes();
        damaged[30] += 1;
        assert!(text(&damaged).contains("damaged"), "{}", text(&damaged));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_refused_or_say_something(bytes in proptest::array::uniform32(0u8..), more in proptest::array::uniform32(0u8..)) {
            let mut all = [0; HANDLE_BYTES];
            all[..32].copy_from_slice(&bytes);
            all[32..].copy_from_slice(&more);
            proptest::prop_assert!(Parts::parse(&all).is_err());
            // Past the checksum too.
            all[..8].copy_from_slice(&MAGIC);
            all[8..12].copy_from_slice(&VERSION.to_le_bytes());
            let checksum = checksum(&all);
            all[SIGNED..].copy_from_slice(&checksum);
            proptest::prop_assert!(Parts::parse(&all).is_ok());
        }
    }
}
