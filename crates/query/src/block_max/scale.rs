//! Scaled occurrences in a field, in single precision: weight · f / (base + `per_term` · length).
//!
//! Elsewhere: saturation (`word.rs`) and the formula in double precision (`bm25.rs`).
//!
//! **Invariant.** Up to rounding, the result is that of [`FieldScale`]. The bound of a maximum is an upper bound
//! for all documents of its block.

use index::{Field, Maximum, Segment};

use crate::bm25::FieldScale;

/// The parameters of weight · f / (base + `per_term` · length).
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    weight: f32,
    base: f32,
    per_term: f32,
    /// Least and greatest quotient of scaled occurrences and the measure of block maxima.
    quotients: (f32, f32),
    /// Whether this quotient is the same in all documents, up to rounding.
    is_own: bool,
}

impl Scale {
    #[expect(clippy::cast_possible_truncation, reason = "bounds have a margin")]
    pub(super) fn new(exact: FieldScale, segment: &Segment, field: Field) -> Scale {
        let (weight, b, average) = exact.parameters();
        #[expect(clippy::cast_precision_loss, reason = "bounds have a margin")]
        let own = segment.length_total(field) as f64 / f64::from(segment.doc_count().max(1));
        // A field without terms has no postings.
        let is_empty = average <= 0.0 || own <= 0.0;
        let (base, per_term, average_ratio) =
            if is_empty { (1.0, 0.0, 1.0) } else { (1.0 - b, b / average, average / own) };
        let slope = segment.slope();
        let (least, greatest) = slope.quotients(b as f32, average_ratio as f32);
        // Both values are hundredths with the same rounding.
        let has_own_slope = weight > 0.0 && b.to_bits() == slope.exactly().to_bits();
        Scale {
            weight: weight as f32,
            // Avoids 0 / 0 in a field without terms.
            base: (base as f32).max(1e-30),
            per_term: per_term as f32,
            quotients: (weight as f32 * least, weight as f32 * greatest),
            is_own: has_own_slope && (average_ratio as f32 - 1.0).abs() < f32::EPSILON,
        }
    }

    /// Returns whether a greater measure of the segment always means a greater value.
    pub(super) fn is_own(self) -> bool {
        self.is_own
    }

    /// Numerator and denominator.
    #[inline]
    pub(super) fn fraction(self, frequency: u32, length: u32) -> (f32, f32) {
        (self.weight * number(frequency), self.base + self.per_term * number(length))
    }

    #[inline]
    pub(super) fn scaled(self, frequency: u32, length: u32) -> f32 {
        let (above, below) = self.fraction(frequency, length);
        above / below
    }

    /// An upper bound of the value in any document of a block with that maximum.
    #[inline]
    pub(super) fn bound(self, most: Maximum) -> f32 {
        most.bound(self.quotients.1)
    }

    /// A lower bound of the best value in a block with that maximum.
    pub(super) fn reached(self, most: Maximum) -> f32 {
        most.reached(self.quotients.0)
    }
}

/// Converts a number below 2³¹, which processors do faster than for any number. Frequencies and lengths are never
/// greater.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "bounds have a margin")]
fn number(n: u32) -> f32 {
    (n & i32::MAX.cast_unsigned()).cast_signed() as f32
}
