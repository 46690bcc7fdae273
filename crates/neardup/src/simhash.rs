//! `SimHash`: each bit is the majority of that bit over the hashes of the features.
//!
//! The hashes are added as vectors of ±1, and the sign of each sum is kept. This projects the text on 64 random
//! directions. For two texts with an angle θ between their feature vectors, a bit differs with probability θ/π.
//! Close texts therefore differ in few bits.
//!
//! A bit with equal numbers of ones and zeros is 0, so that the order of the features has no effect. Without
//! features all bits are 0.
//!
//! The 64 counters are stored vertically: plane *i* holds bit *i* of every counter. Hashes are added eight at a
//! time. A tree of carry-save adders reduces them to four planes. Only the last of these, the eights, carries
//! into the higher planes.
//!
//! `lib.rs` chooses the features, and `tables.rs` finds close values.
//!
//! **Invariant.** The value depends on the features and how often each occurs, not on their order.
//!
//! **Reference.** M. Charikar, "Similarity estimation techniques from rounding algorithms", STOC
//! 2002; for web pages G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web
//! crawling", WWW 2007.

/// The majority of each of the lowest `bits` bits over `features`. Ties and higher bits are 0.
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

/// The number of hashes added together.
const TOGETHER: usize = 8;

/// For each bit, the number of hashes that have it set.
#[derive(Debug, Clone, Default)]
struct Tally {
    /// The planes of the ones, twos and fours: bit `b` of each belongs to the counter of bit `b`.
    low: [u64; 3],
    /// The higher planes: bit `b` of `high[i]` is bit `i + 3` of the counter of bit `b`.
    high: Vec<u64>,
    /// The latest hashes, not yet counted.
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
        // Count the waiting hashes; unused slots are zero.
        let mut all = self.clone();
        all.count_waiting();
        let planes = || all.high.iter().rev().chain(all.low.iter().rev());
        let count = |bit: u32| {
            planes().fold(0, |count: usize, plane| count << 1 | usize::from(plane >> bit & 1 == 1))
        };
        (0..64).filter(|&bit| count(bit) > self.total / 2).fold(0, |all, bit| all | 1 << bit)
    }
}

/// Adds the bits of `a` and `b` to those of `plane`; returns the carries.
fn add_to(plane: &mut u64, a: u64, b: u64) -> u64 {
    let half = *plane ^ a;
    let carry = *plane & a | half & b;
    *plane = half ^ b;
    carry
}
