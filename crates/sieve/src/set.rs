//! [`SignatureSet`]: a set of signatures in memory.
//!
//! What lives here: the standard library's set with the signature for its own hash, and what it
//! takes. What does not: order; whoever needs one sorts.
//!
//! **Invariant.** [`bytes`] follows the table, not the number of signatures in it.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use crate::Signature;

/// A set of signatures.
pub(crate) type SignatureSet = HashSet<Signature, BuildHasherDefault<Verbatim>>;

/// The memory that a set takes: a slot is a signature and a control byte, and one in eight stays
/// empty.
pub(crate) fn bytes(set: &SignatureSet) -> u64 {
    (set.capacity() / 7 * 8 * (size_of::<Signature>() + 1)) as u64
}

/// The hash of a signature is the signature: it is one already.
#[derive(Debug, Default)]
pub(crate) struct Verbatim(u64);

impl Hasher for Verbatim {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("a signature is hashed as one number");
    }
}
