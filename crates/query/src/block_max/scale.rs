//! What occurrences in a field count, in single precision: weight · f / (base + `per_term` · length).
//!
//! What does not live here: how that saturates (`word.rs`), and the same to the last digit (`bm25.rs`).
//!
//! **Invariant.** Up to rounding it is what [`FieldScale`] says; the bound of a maximum is not less than that of any document
//! of its block.

use index::{Field, Maximum, Segment};

use crate::bm25::FieldScale;

/// What occurrences count: weight · f / (base + `per_term` · length).
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    weight: f32,
    base: f32,
    per_term: f32,
    /// Between what occurrences count as multiples of the measure that maxima are of.
    quotients: (f32, f32),
    /// Whether they are the same multiple of it in all documents, but for the last digits.
    is_own: bool,
}

impl Scale {
    #[expect(clippy::cast_possible_truncation, reason = "bounds have a margin")]
    pub(super) fn new(exact: FieldScale, segment: &Segment, field: Field) -> Scale {
        let (weight, b, average) = exact.parameters();
        #[expect(clippy::cast_precision_loss, reason = "bounds have a margin")]
        let own = segment.length_total(field) as f64 / f64::from(segment.doc_count().max(1));
        // A field without any terms has no postings either.
        let is_empty = average <= 0.0 || own <= 0.0;
        let (base, per_term, average_ratio) =
            if is_empty { (1.0, 0.0, 1.0) } else { (1.0 - b, b / average, average / own) };
        let slope = segment.slope();
        let (least, greatest) = slope.quotients(b as f32, average_ratio as f32);
        // Both are hundredths, rounded in the same way.
        let has_own_slope = weight > 0.0 && b.to_bits() == slope.exactly().to_bits();
        Scale {
            weight: weight as f32,
            // A field of no terms at all must not divide nothing by nothing.
            base: (base as f32).max(1e-30),
            per_term: per_term as f32,
            quotients: (weight as f32 * least, weight as f32 * greatest),
            is_own: has_own_slope && (average_ratio as f32 - 1.0).abs() < f32::EPSILON,
        }
    }

    /// Whether documents are in the order of the measure of their segment: the one with more counts more.
    pub(super) fn is_own(self) -> bool {
        self.is_own
    }

    /// Weighted occurrences, and what they are divided by.
    #[inline]
    pub(super) fn fraction(self, frequency: u32, length: u32) -> (f32, f32) {
        (self.weight * number(frequency), self.base + self.per_term * number(length))
    }

    #[inline]
    pub(super) fn scaled(self, frequency: u32, length: u32) -> f32 {
        let (above, below) = self.fraction(frequency, length);
        above / below
    }

    /// What the occurrences of any document of a block with that maximum count at most.
    #[inline]
    pub(super) fn bound(self, most: Maximum) -> f32 {
        most.bound(self.quotients.1)
    }

    /// No more than what the occurrences of some document of a block with that maximum count.
    pub(super) fn reached(self, most: Maximum) -> f32 {
        most.reached(self.quotients.0)
    }
}

/// Of less than 2³¹, of which processors make a fraction faster than of any number: none of a list or a field is greater.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "bounds have a margin")]
fn number(n: u32) -> f32 {
    (n & i32::MAX.cast_unsigned()).cast_signed() as f32
}
