//! [`Signature`]: the 64 bits by which a sieve recognises a key.
//!
//! What lives here: the hash and its expected collisions. What does not: normalisation; equal keys
//! are equal bytes.
//!
//! **Invariant.** The signature of a key never changes, from release to release and from machine
//! to machine: it is written to files.
//!
//! **Reference.** XXH3, 64 bits, seed 0, of the xxHash specification by Y. Collet. It is not a
//! cryptographic hash: an attacker who chooses the keys can make two of them collide.

use xxhash_rust::xxh3::xxh3_64;

/// The 64 bits that identify a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature(pub u64);

/// The signature of `key`.
pub fn signature(key: &[u8]) -> Signature {
    Signature(xxh3_64(key))
}

/// The collisions to expect among `keys` signatures: about `keys`² / 2⁶⁴.
///
/// The number counts ordered pairs; unordered pairs are half of it. A million keys expect no
/// collision (5·10⁻⁸). A collision becomes likely at four billion keys.
#[expect(clippy::cast_precision_loss, reason = "an estimate: 53 bits are plenty")]
pub fn expected_collisions(keys: u64) -> f64 {
    let keys = keys as f64;
    keys * keys / 2_f64.powi(64)
}
