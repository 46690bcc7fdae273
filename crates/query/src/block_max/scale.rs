//! What occurrences in a field count, in single precision: weight · f / (base + `per_term` · length).
//!
//! What does not live here: how that saturates (`word.rs`), and the same to the last digit (`bm25.rs`).
//!
//! **Invariant.** Up to rounding it is what [`FieldScale`] says; the bound of a maximum is not less than that of any document
//! of its block.

use index::{Field, Maximum, Segment, Slope};

use crate::bm25::FieldScale;

/// What occurrences count: weight · f / (base + `per_term` · length).
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    weight: f32,
    base: f32,
    per_term: f32,
    b: f32,
    average_ratio: f32,
    /// That of the maxima.
    slope: Slope,
    /// Whether *b* is that slope, and occurrences count at all.
    has_own_slope: bool,
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
        Scale {
            weight: weight as f32,
            // A field of no terms at all must not divide nothing by nothing.
            base: (base as f32).max(1e-30),
            per_term: per_term as f32,
            b: b as f32,
            average_ratio: average_ratio as f32,
            slope: segment.slope(),
            // Both are hundredths, rounded in the same way.
            has_own_slope: weight > 0.0 && b.to_bits() == segment.slope().exactly().to_bits(),
        }
    }

    /// Whether documents are in the order of the measure of their segment: the one with more counts more.
    pub(super) fn is_own(self) -> bool {
        self.has_own_slope && (self.average_ratio - 1.0).abs() < f32::EPSILON
    }

    /// Weighted occurrences, and what they are divided by.
    #[inline]
    pub(super) fn fraction(self, frequency: u32, length: u32) -> (f32, f32) {
        (self.weight * number(frequency), self.base + self.per_term * number(length))
    }

    /// The same of one occurrence more.
    #[inline]
    pub(super) fn fraction_of_more(self, more: u32, length: u32) -> (f32, f32) {
        (self.weight * (number(more) + 1.0), self.base + self.per_term * number(length))
    }

    /// How many occurrences it takes at the least to count as much, however short the field is.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    pub(super) fn least_frequency(self, scaled: f32) -> u32 {
        // Nothing is worth nothing, and not a number asks for none.
        (scaled * self.base / self.weight * 0.9999).ceil().max(1.0) as u32
    }

    #[inline]
    pub(super) fn scaled(self, frequency: u32, length: u32) -> f32 {
        let (above, below) = self.fraction(frequency, length);
        above / below
    }

    /// What the occurrences of any document of a block with that maximum count at most.
    #[inline]
    pub(super) fn bound(self, most: Maximum) -> f32 {
        self.weight * most.bound(self.slope, self.b, self.average_ratio)
    }

    /// No more than what the occurrences of some document of a block with that maximum count.
    pub(super) fn reached(self, most: Maximum) -> f32 {
        self.weight * most.reached(self.slope, self.b, self.average_ratio)
    }
}

/// Of less than 2³¹, of which processors make a fraction faster than of any number: none of a list or a field is greater.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "bounds have a margin")]
fn number(n: u32) -> f32 {
    (n & i32::MAX.cast_unsigned()).cast_signed() as f32
}
