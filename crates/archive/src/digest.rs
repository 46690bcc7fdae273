//! SHA-1 digests as WARC files spell them.
//!
//! What lives here: computing `sha1:` in base 32, and comparing with what others wrote (base 32 or
//! hexadecimal, any case). What does not: other algorithms; a digest in one of those is passed over,
//! as the standard allows any.

use data_encoding::{BASE32, HEXLOWER};
use sha1::{Digest as _, Sha1};

/// A digest as records have it: `sha1:` and 32 characters of base 32.
pub fn sha1(bytes: &[u8]) -> String {
    format!("sha1:{}", BASE32.encode(&Sha1::digest(bytes)))
}

/// The plain 20 bytes.
pub(crate) fn sha1_bytes(bytes: &[u8]) -> [u8; 20] {
    Sha1::digest(bytes).into()
}

/// `None` when `declared` is the digest of `bytes` or of an algorithm or spelling unknown here;
/// otherwise what it should have been, in the same spelling.
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
    fn golden() {
        assert_eq!(sha1(b""), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        let abc = "a9993e364706816aba3e25717850c26c9cd0d89d";
        assert_eq!(mismatch(&format!("sha1:{abc}"), b"abc"), None);
        assert_eq!(mismatch(&format!("SHA-1: {}", abc.to_uppercase()), b"abc"), None);
        assert_eq!(mismatch(&format!("sha1:{abc}"), b"abd").map(|d| d.len()), Some(45));
        assert_eq!(mismatch("sha1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj", b""), None);
        assert_eq!(mismatch("md5:d41d8cd98f00b204e9800998ecf8427e", b"x"), None);
        assert_eq!(mismatch("sha1:   ", b"x"), None);
    }
}
