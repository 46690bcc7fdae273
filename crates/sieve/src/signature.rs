//! [`Signature`]: the 64 bits by which a sieve knows a key again.
//!
//! What lives here: the hash and the odds that it deceives. What does not: normalisation; equal
//! keys are equal bytes.
//!
//! **Invariant.** The signature of a key never changes, from release to release and from machine
//! to machine: it is written to files.
//!
//! **Reference.** XXH3, 64 bits, seed 0, of the xxHash specification by Y. Collet. It is not a
//! cryptographic hash: whoever chooses keys can make two of them collide.

use xxhash_rust::xxh3::xxh3_64;

/// 64 bits that stand for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature(pub u64);

/// The signature of `key`.
pub fn signature(key: &[u8]) -> Signature {
    Signature(xxh3_64(key))
}

/// The collisions to expect among `keys` signatures: about `keys`² / 2⁶⁴.
///
/// That counts ordered pairs; half as many unordered ones. Either way a million keys expect none
/// (5·10⁻⁸), and a collision becomes likely at four billion.
#[expect(clippy::cast_precision_loss, reason = "an estimate: 53 bits are plenty")]
pub fn expected_collisions(keys: u64) -> f64 {
    let keys = keys as f64;
    keys * keys / 2_f64.powi(64)
}
