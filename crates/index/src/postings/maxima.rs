//! Block maxima: the greatest measure of a document in a block, in one byte.
//!
//! The measure is the normalised frequency *f* / (1 – *s* + *s* · length / average), where the average is that of
//! the field in the segment, and *s* its [`Slope`]. It bounds the score of BM25 under any parameters, and is
//! tightest for *b* = *s*: see [`Maximum::bound`]. The scale is even in the score of BM25 with its usual *k1*. A
//! byte *c* encodes the measure *m* with *m* / (*m* + 1.2) = (*c* + 1) / 256, rounded up; 255 encodes anything
//! greater. Scores do not live here.
//!
//! **Invariant.** The decoded maximum is not less than the measure of any document of its block.
//! Reference: S. Ding, T. Suel, "Faster top-k document retrieval using block-max indexes", SIGIR 2011.

/// Weight of the length in the norm, in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slope(u8);

impl Default for Slope {
    /// The slope 0.5.
    fn default() -> Slope {
        Slope(50)
    }
}

impl Slope {
    /// The slope nearest to *b*, which is clamped to 0..=1.
    pub fn of(b: f64) -> Slope {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        Slope((b.clamp(0.0, 1.0) * 100.0).round() as u8)
    }

    /// The slope of a number of hundredths; `None` if there are more than 100.
    pub(crate) fn from_hundredths(hundredths: u64) -> Option<Slope> {
        u8::try_from(hundredths).ok().filter(|&hundredths| hundredths <= 100).map(Slope)
    }

    pub(crate) fn hundredths(self) -> u8 {
        self.0
    }

    /// The slope as a fraction.
    pub fn share(self) -> f32 {
        f32::from(self.0) / 100.0
    }

    /// The slope as a fraction in double precision.
    pub fn exactly(self) -> f64 {
        f64::from(self.0) / 100.0
    }

    /// The least and the greatest ratio, over all documents, of *f* / (1 – *b* + *b* · length / average) to the
    /// measure of the segment. `self` is the slope of the segment; `average_ratio` is the average asked for,
    /// divided by that of the segment.
    pub fn quotients(self, b: f32, average_ratio: f32) -> (f32, f32) {
        // The ratio of two norms, both linear in the length, is extreme at the ends. `min` and `max` ignore NaN (0
        // / 0).
        let at_nothing = (1.0 - self.share()) / (1.0 - b);
        let at_infinity = self.share() * average_ratio / b;
        // Round down and up by more than the rounding errors.
        (at_nothing.min(at_infinity) * 0.999_999, at_nothing.max(at_infinity) * 1.000_001)
    }
}

/// The measure at which a score is half of its maximum (*k1*).
const HALF: f64 = 1.2;

/// The measure of each byte.
static SCALE: [f32; 256] = {
    let (mut scale, mut code) = ([f32::INFINITY; 256], 0);
    let mut share = 1.0;
    while code < 255 {
        #[expect(clippy::cast_possible_truncation, reason = "a scale need not be exact")]
        {
            scale[code] = (HALF * share / (256.0 - share)) as f32;
        }
        share += 1.0;
        code += 1;
    }
    scale
};

/// Turns frequencies and lengths into the measure, for one field of a segment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Norm {
    /// The part of the norm that does not depend on the length.
    base: f32,
    /// Slope / average length.
    per_term: f32,
    /// Both in double precision.
    exactly: (f64, f64),
}

impl Norm {
    /// For a field that has `length_total` terms in `doc_count` documents.
    pub(crate) fn new(slope: Slope, length_total: u64, doc_count: u32) -> Norm {
        #[expect(clippy::cast_precision_loss, reason = "a norm")]
        let per_term = slope.exactly() * f64::from(doc_count) / length_total.max(1) as f64;
        let base = 1.0 - slope.exactly();
        #[expect(clippy::cast_possible_truncation, reason = "a norm")]
        Norm { base: base as f32, per_term: per_term as f32, exactly: (base, per_term) }
    }

    #[inline]
    pub(crate) fn measure(self, frequency: u32, length: u32) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "a measure")]
        let (frequency, length) = (frequency as f32, length as f32);
        frequency / (self.base + self.per_term * length)
    }

    /// The measure of a document in double precision.
    pub(crate) fn exact_measure(self, frequency: u32, length: u32) -> f64 {
        let (base, per_term) = self.exactly;
        f64::from(frequency) / (base + per_term * f64::from(length))
    }
}

/// The greatest measure of a block, rounded up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Maximum(pub(crate) u8);

impl Maximum {
    /// The bound of an unknown measure.
    pub(crate) const UNKNOWN: Maximum = Maximum(u8::MAX);

    /// All maxima, the least first.
    pub fn all() -> impl Iterator<Item = Maximum> {
        (0..=u8::MAX).map(Maximum)
    }

    /// The byte of this maximum.
    #[inline]
    pub fn code(self) -> u8 {
        self.0
    }

    /// The least byte whose measure is `measure` or more.
    pub(crate) fn of(measure: f32) -> Maximum {
        let code = SCALE.partition_point(|&value| value < measure);
        Maximum(u8::try_from(code).unwrap_or(u8::MAX))
    }

    /// An upper bound of the measure of any document of the block, under other parameters. `greatest` is the
    /// greater ratio of [`Slope::quotients`].
    #[inline]
    pub fn bound(self, greatest: f32) -> f32 {
        SCALE[usize::from(self.0)] * greatest
    }

    /// A measure that at least one document of the block reaches, under other parameters. `least` is the lesser
    /// ratio of [`Slope::quotients`].
    #[inline]
    pub fn reached(self, least: f32) -> f32 {
        self.0.checked_sub(1).map_or(0.0, |below| SCALE[usize::from(below)] * least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximum_is_rounded_up_to_the_scale() {
        for measure in [0.0, 0.003, 0.01, 0.5, 1.0, 1.3, 7.77, 240.0, 250.0, 70_000.0] {
            let Maximum(code) = Maximum::of(measure);
            assert!(SCALE[usize::from(code)] >= measure, "{measure}");
            assert!(code == 0 || SCALE[usize::from(code) - 1] < measure, "{measure}");
        }
        assert!((SCALE[127] - 1.2).abs() < 1e-4 && (SCALE[191] - 3.6).abs() < 1e-4);
    }

    #[test]
    fn the_maximum_bounds_scores_under_all_parameters() {
        let (total, docs) = (5000_u64, 40_u32);
        let average = 125.0_f32;
        let shapes = [(1, 1), (1, 5000), (3, 100), (40, 60), (900, 1000), (1, 0)];
        for (slope, (frequency, length)) in
            [0.0, 0.2, 0.5, 0.75, 1.0].into_iter().flat_map(|b| shapes.map(|shape| (b, shape)))
        {
            let slope = Slope::of(slope);
            let norm = Norm::new(slope, total, docs);
            let maximum = Maximum::of(norm.measure(frequency, length));
            for b in [0.0, 0.1, 0.4, 0.75, 0.9, 1.0] {
                for ratio in [0.01, 0.5, 1.0, 1.7, 60.0_f32] {
                    #[expect(clippy::cast_precision_loss, reason = "small")]
                    let (f, l) = (frequency as f32, length as f32);
                    let measure = f / (1.0 - b + b * l / (ratio * average));
                    let (least, greatest) = slope.quotients(b, ratio);
                    let bound = maximum.bound(greatest);
                    assert!(bound >= measure, "{frequency} {length} {slope:?} {b} {ratio}");
                    assert!(maximum.reached(least) <= measure, "{frequency} {length}");
                }
            }
            let share = |measure: f32| measure / (measure + 1.2);
            let bound = maximum.bound(slope.quotients(slope.share(), 1.0).1);
            let loose = share(bound) - share(norm.measure(frequency, length));
            assert!(loose < 0.004 || maximum == Maximum(255), "{frequency} {length}: {loose}");
        }
    }
}
