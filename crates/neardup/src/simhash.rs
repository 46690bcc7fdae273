//! `SimHash`: each bit is the majority of that bit over the hashes of the features.
//!
//! Seen as vectors of ±1, the hashes are added and the sign of the sum is kept, a projection of
//! the text on 64 random directions: for two texts with an angle θ between their feature vectors a
//! bit differs with probability θ/π, so that close texts differ in few bits.
//!
//! A bit with as many ones as zeros is 0. (It must be something, and it must not depend on the
//! order of the features.) Without features all bits are 0.
//!
//! The sixty-four counters are kept vertically: plane *i* holds bit *i* of every counter. Adding a
//! hash is a carry that ripples through the planes, about as many steps as a counter has bits
//! instead of sixty-four additions.
//!
//! What does not live here: what the features are (`lib.rs`), and finding close values (`tables.rs`).
//!
//! **Invariant.** The value depends on the features and how often each occurs, not on their order.
//!
//! **Reference.** M. Charikar, "Similarity estimation techniques from rounding algorithms", STOC
//! 2002; for web pages G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web
//! crawling", WWW 2007.

/// The majority of each of the lowest `bits` bits over `features`; higher bits are 0, and so are
/// ties.
///
/// ```
/// let features = [0b10110, 0b01001, 0b01011];
/// assert_eq!(neardup::simhash(features.into_iter(), 5), 0b01011);
/// ```
pub fn simhash(features: impl Iterator<Item = u64>, bits: u32) -> u64 {
    let mut tally = Tally::default();
    features.for_each(|feature| tally.add(feature));
    let mask = if bits < 64 { (1 << bits) - 1 } else { u64::MAX };
    tally.majority() & mask
}

/// How many of the hashes so far have each bit set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// Bit `b` of `planes[i]` is bit `i` of the counter of bit `b`.
    planes: Vec<u64>,
    total: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, hash: u64) {
        self.total += 1;
        let mut carry = hash;
        for plane in &mut self.planes {
            if carry == 0 {
                return;
            }
            let overflow = *plane & carry;
            *plane ^= carry;
            carry = overflow;
        }
        if carry != 0 {
            self.planes.push(carry);
        }
    }

    pub(crate) fn majority(&self) -> u64 {
        let count = |bit: u32| {
            self.planes.iter().rev().fold(0, |count: u64, plane| count << 1 | plane >> bit & 1)
        };
        (0..64).filter(|&bit| count(bit) > self.total / 2).fold(0, |all, bit| all | 1 << bit)
    }
}
