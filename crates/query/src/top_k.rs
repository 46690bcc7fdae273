//! The best of many hits, in a heap that is no larger than what is asked for.
//!
//! **Invariant.** Hits are totally ordered: by score from above, then by segment, then by document. So the
//! first n of the best m are the best n, and page two continues page one.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use index::DocId;

/// As many hits as there is room for from the beginning.
const PAGE: usize = 16;

/// A document that matches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Number of its segment.
    pub segment: usize,
    /// Number of the document inside the segment.
    pub doc: DocId,
    /// See [`crate::bm25`].
    pub score: f64,
}

/// Keeps the best `size` of the hits that it is offered.
#[derive(Debug)]
pub struct TopK {
    size: usize,
    /// The worst on top. Grows with the hits, not with `size`, which anybody may ask for, beyond a page.
    best: BinaryHeap<Ranked>,
    /// The worst, if there is no room for more.
    worst: Option<Ranked>,
}

impl TopK {
    /// Keeps `size` hits.
    pub fn new(size: usize) -> TopK {
        TopK { size, best: BinaryHeap::with_capacity(size.min(PAGE)), worst: None }
    }

    /// How many hits it keeps.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether `hit` is among the best so far.
    #[inline]
    pub fn admits(&self, hit: &Hit) -> bool {
        self.worst.is_none_or(|worst| Ranked(*hit) < worst)
    }

    /// Keeps `hit` if it is among the best so far.
    pub fn offer(&mut self, hit: Hit) {
        if !self.admits(&hit) {
            return;
        }
        if self.best.len() < self.size {
            self.best.push(Ranked(hit));
        } else if let Some(mut worst) = self.best.peek_mut() {
            *worst = Ranked(hit);
        }
        if self.best.len() >= self.size {
            self.worst = self.best.peek().copied();
        }
    }

    /// What a hit must reach to be kept: the score of the worst that is, if there is no room for more.
    #[inline]
    pub fn threshold(&self) -> Option<f64> {
        self.worst.map(|worst| worst.0.score)
    }

    /// The best hits but the first `offset`, best first.
    pub fn into_hits(self, offset: usize) -> Vec<Hit> {
        let ranked = self.best.into_sorted_vec();
        ranked.into_iter().skip(offset).map(|Ranked(hit)| hit).collect()
    }
}

/// A hit by its place: smaller is better.
#[derive(Debug, Clone, Copy)]
struct Ranked(Hit);

impl Ord for Ranked {
    fn cmp(&self, other: &Ranked) -> Ordering {
        let (a, b) = (&self.0, &other.0);
        b.score.total_cmp(&a.score).then(a.segment.cmp(&b.segment)).then(a.doc.cmp(&b.doc))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Ranked) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Ranked) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}
