//! Static (query-independent) scores of the documents of a segment, and their maxima in ranges of documents.
//!
//! **Invariant.** [`StaticScores::most`] is an upper bound for the scores of all documents of the range.

use index::DocId;

/// Number of documents per stored maximum.
const STRETCH: usize = 1024;

/// One score for each document, never negative.
#[derive(Debug, Default)]
pub(crate) struct StaticScores {
    scores: Vec<f64>,
    /// Maximum of each range of documents.
    most: Vec<f32>,
}

impl StaticScores {
    /// Takes the scores in the order of documents. Later documents have a score of 0.
    pub(crate) fn new(scores: Vec<f64>) -> StaticScores {
        #[expect(clippy::cast_possible_truncation, reason = "the factor rounds up")]
        let most =
            |stretch: &[f64]| (stretch.iter().copied().fold(0.0, f64::max) * 1.000_001) as f32;
        let most = scores.chunks(STRETCH).map(most).collect();
        StaticScores { scores, most }
    }

    #[inline]
    pub(crate) fn of(&self, doc: DocId) -> f64 {
        self.scores.get(doc.0 as usize).copied().unwrap_or(0.0)
    }

    /// An upper bound of the scores in `start..end`.
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
