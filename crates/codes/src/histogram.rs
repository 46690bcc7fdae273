//! [`Histogram`]: how often each number occurs.
//!
//! The entropy is that of single numbers, –Σ *p* log₂ *p*. No code that gives a number the same codeword
//! everywhere takes fewer bits on average. Codes that depend on more than one number can, for example by a width
//! per block.
//!
//! **Reference.** C. E. Shannon, "A mathematical theory of communication", Bell System Technical
//! Journal 27, 1948.

use std::collections::BTreeMap;

use crate::Code;

/// Numbers below this are counted in an array.
const SMALL: u32 = 1 << 16;

/// How often each number occurs.
#[derive(Debug, Clone, Default)]
pub struct Histogram {
    /// Counts up to the greatest number below [`SMALL`].
    small: Vec<u64>,
    great: BTreeMap<u32, u64>,
    count: u64,
    sum: u128,
}

impl Histogram {
    /// Counts `numbers`.
    pub fn add(&mut self, numbers: &[u32]) {
        for &n in numbers {
            if n < SMALL {
                let at = n as usize;
                if at >= self.small.len() {
                    self.small.resize(at + 1, 0);
                }
                self.small[at] += 1;
            } else {
                *self.great.entry(n).or_default() += 1;
            }
            self.sum += u128::from(n);
        }
        self.count += numbers.len() as u64;
    }

    /// Number of counted numbers.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The greatest number; zero if the histogram is empty.
    pub fn max(&self) -> u32 {
        self.iter().last().map_or(0, |(n, _)| n)
    }

    /// The mean; zero if there are no numbers.
    #[expect(clippy::cast_precision_loss, reason = "a mean need not be exact")]
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// The entropy in bits per number.
    #[expect(clippy::cast_precision_loss, reason = "a mean need not be exact")]
    pub fn entropy(&self) -> f64 {
        let total = self.count as f64;
        let part = |(_, count): (u32, u64)| count as f64 / total * (total / count as f64).log2();
        self.iter().map(part).fold(0.0, |sum, part| sum + part)
    }

    /// Bits of all numbers under a code, which must be able to code them all.
    pub fn bits(&self, code: &dyn Code) -> u64 {
        let bits = |(n, count): (u32, u64)| count.saturating_mul(code.len(u64::from(n)) as u64);
        self.iter().map(bits).fold(0, u64::saturating_add)
    }

    /// The numbers that occur, in ascending order, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        let small = (0..).zip(self.small.iter().copied()).filter(|&(_, count)| count > 0);
        small.chain(self.great.iter().map(|(&n, &count)| (n, count)))
    }
}
