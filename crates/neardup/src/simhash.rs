//! `SimHash`: each bit is the majority of that bit over the hashes of the features.
//!
//! Seen as vectors of ±1, the hashes are added and the sign of the sum is kept, a projection of
//! the text on 64 random directions: for two texts with an angle θ between their feature vectors a
//! bit differs with probability θ/π, so that close texts differ in few bits.
//!
//! A bit with as many ones as zeros is 0. (It must be something, and it must not depend on the
//! order of the features.) Without features all bits are 0.
//!
//! The sixty-four counters are kept vertically: plane *i* holds bit *i* of every counter. Hashes are
//! added eight at a time: a tree of carry-save adders makes four planes of them, of which only the last
//! one, the eights, ripples on through the higher planes.
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

/// Hashes that are added together.
const TOGETHER: usize = 8;

/// How many of the hashes so far have each bit set.
#[derive(Debug, Clone, Default)]
struct Tally {
    /// Bit `b` of the ones, the twos and the fours are the lowest bits of the counter of bit `b`.
    low: [u64; 3],
    /// Bit `b` of `high[i]` is bit `i + 3` of that counter.
    high: Vec<u64>,
    /// The last hashes, not yet counted.
    waiting: [u64; TOGETHER],
    total: usize,
}

impl Tally {
    fn add(&mut self, hash: u64) {
        self.waiting[self.total % TOGETHER] = hash;
        self.total += 1;
        if self.total.is_multiple_of(TOGETHER) {
            self.count_waiting();
        }
    }

    fn count_waiting(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let [ones, twos, fours] = &mut self.low;
        let mut four_from = |at: usize| {
            let two = add_to(ones, waiting[at], waiting[at + 1]);
            let other_two = add_to(ones, waiting[at + 2], waiting[at + 3]);
            add_to(twos, two, other_two)
        };
        let (four, other_four) = (four_from(0), four_from(4));
        let mut carry = add_to(fours, four, other_four);
        for plane in &mut self.high {
            if carry == 0 {
                return;
            }
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
        if carry != 0 {
            self.high.push(carry);
        }
    }

    fn majority(&self) -> u64 {
        // Those that wait are counted with zeros in the places that are free.
        let mut all = self.clone();
        all.count_waiting();
        let planes = || all.high.iter().rev().chain(all.low.iter().rev());
        let count = |bit: u32| {
            planes().fold(0, |count: usize, plane| count << 1 | usize::from(plane >> bit & 1 == 1))
        };
        (0..64).filter(|&bit| count(bit) > self.total / 2).fold(0, |all, bit| all | 1 << bit)
    }
}

/// Adds two bits to each of a plane; returns the carries.
fn add_to(plane: &mut u64, a: u64, b: u64) -> u64 {
    let half = *plane ^ a;
    let carry = *plane & a | half & b;
    *plane = half ^ b;
    carry
}
