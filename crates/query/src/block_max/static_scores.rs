//! What documents of a segment are worth before any question, and how much it is at most in a stretch of them.
//!
//! **Invariant.** [`StaticScores::most`] is not less than the score of any document of the stretch.

use index::DocId;

/// Documents of which the greatest score is kept.
const STRETCH: usize = 1024;

/// One score for each document, never negative.
#[derive(Debug, Default)]
pub(crate) struct StaticScores {
    scores: Vec<f64>,
    /// The greatest of each stretch.
    most: Vec<f32>,
}

impl StaticScores {
    /// What `scores` are, in the order of documents; 0 for those without.
    pub(crate) fn new(scores: Vec<f64>) -> StaticScores {
        #[expect(clippy::cast_possible_truncation, reason = "up, by more than the rounding")]
        let most =
            |stretch: &[f64]| (stretch.iter().copied().fold(0.0, f64::max) * 1.000_001) as f32;
        let most = scores.chunks(STRETCH).map(most).collect();
        StaticScores { scores, most }
    }

    #[inline]
    pub(crate) fn of(&self, doc: DocId) -> f64 {
        self.scores.get(doc.0 as usize).copied().unwrap_or(0.0)
    }

    /// The greatest score from `start` up to, but without, `end`.
    #[inline]
    pub(crate) fn most(&self, start: u32, end: u32) -> f32 {
        if self.most.is_empty() {
            return 0.0;
        }
        let (first, last) = (start as usize / STRETCH, (end.max(1) - 1) as usize / STRETCH);
        let last = (last + 1).min(self.most.len());
        self.most.get(first..last).unwrap_or_default().iter().copied().fold(0.0, f32::max)
    }
}
