//! SHA-1 digests in the notation of WARC files.
//!
//! What lives here: the computation of `sha1:` in base 32, and the comparison with the digests of other writers (base
//! 32 or hexadecimal, any case). What does not: other algorithms. The standard allows any algorithm, so their digests
//! are not checked.
//!
//! **Invariant.** A digest of another algorithm or in an unknown notation is never a mismatch.

use data_encoding::{BASE32, HEXLOWER};
use sha1::{Digest as _, Sha1};

const PREFIX: &str = "sha1:";
/// SHA-1 takes its input in blocks of this size.
const BLOCK_BYTES: usize = 64;

/// Returns the digest of `bytes` for a record header: `sha1:` and 32 characters of base 32.
pub fn sha1(bytes: &[u8]) -> String {
    text(&Sha1::digest(bytes))
}

/// The digests of `bytes` and of `bytes[offset..]`. Both are computed block by block in turn. A processor with SHA-1
/// instructions works on both at once, and takes two thirds of the time.
pub(crate) fn sha1_twice(bytes: &[u8], offset: usize) -> (String, String) {
    let tail = &bytes[offset..];
    let (mut whole, mut part) = (Sha1::new(), Sha1::new());
    let (blocks, _) = tail.as_chunks::<BLOCK_BYTES>();
    for (first, second) in bytes.as_chunks::<BLOCK_BYTES>().0.iter().zip(blocks) {
        whole.update(first);
        part.update(second);
    }
    let done = blocks.len() * BLOCK_BYTES;
    whole.update(&bytes[done..]);
    part.update(&tail[done..]);
    (text(&whole.finalize()), text(&part.finalize()))
}

fn text(hash: &[u8]) -> String {
    let mut text = String::with_capacity(PREFIX.len() + 32);
    text.push_str(PREFIX);
    BASE32.encode_append(hash, &mut text);
    text
}

/// Returns the digest as 20 bytes.
pub(crate) fn sha1_bytes(bytes: &[u8]) -> [u8; 20] {
    Sha1::digest(bytes).into()
}

/// Returns whether `declared` has the notation of [`sha1`], so that the two can be compared as text.
pub(crate) fn is_own(declared: &str) -> bool {
    let value = declared.strip_prefix(PREFIX).unwrap_or_default();
    value.len() == 32 && value.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'2'..=b'7'))
}

/// Returns the correct digest, in the notation of `declared`, if `declared` is not the digest of `bytes`. Returns
/// `None` if it is, or if its algorithm or notation is unknown.
pub(crate) fn mismatch(declared: &str, bytes: &[u8]) -> Option<String> {
    let (algorithm, value) = declared.split_once(':')?;
    let algorithm = algorithm.trim();
    if !algorithm.eq_ignore_ascii_case("sha1") && !algorithm.eq_ignore_ascii_case("sha-1") {
        return None;
    }
    let value = value.trim();
    let computed = match value.len() {
        32 => BASE32.encode(&Sha1::digest(bytes)),
        40 => HEXLOWER.encode(&Sha1::digest(bytes)),
        _ => return None,
    };
    (!computed.eq_ignore_ascii_case(value)).then(|| format!("{algorithm}:{computed}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4's "abc", and the empty string.
    #[test]
    fn digests_match_golden_values() {
        assert_eq!(sha1(b""), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        let abc = "a9993e364706816aba3e25717850c26c9cd0d89d";
        assert_eq!(mismatch(&format!("sha1:{abc}"), b"abc"), None);
        assert_eq!(mismatch(&format!("SHA-1: {}", abc.to_uppercase()), b"abc"), None);
        assert_eq!(mismatch(&format!("sha1:{abc}"), b"abd").map(|d| d.len()), Some(45));
        assert_eq!(mismatch("sha1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj", b""), None);
        assert_eq!(mismatch("md5:d41d8cd98f00b204e9800998ecf8427e", b"x"), None);
        assert_eq!(mismatch("sha1:   ", b"x"), None);
    }

    #[test]
    fn sha1_twice_matches_two_separate_digests() {
        let bytes: Vec<u8> = (0..1000_u32).map(|n| n.to_le_bytes()[0]).collect();
        for length in [0, 1, 63, 64, 65, 127, 128, 640, 1000] {
            for offset in [0, 1, 63, 64, 65, 130, 640, 1000].into_iter().filter(|&o| o <= length) {
                let bytes = &bytes[..length];
                let expected = (sha1(bytes), sha1(&bytes[offset..]));
                assert_eq!(sha1_twice(bytes, offset), expected, "{length} from {offset}");
            }
        }
        assert!(is_own(&sha1(b"")) && !is_own("sha1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj"));
    }
}
