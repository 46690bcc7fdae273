//! Keeps the best k hits in a bounded heap.
//!
//! **Invariant.** Hits have a total order: by falling score, then by segment, then by document. So the first n of
//! the best m are the best n, and page two continues page one.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use index::DocId;

/// Initial capacity in hits.
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
    /// The worst hit is on top. The memory grows with the number of hits, since clients may request any `size`.
    best: BinaryHeap<Ranked>,
    /// The worst hit, if the heap is full.
    worst: Option<Ranked>,
}

impl TopK {
    /// Keeps `size` hits.
    pub fn new(size: usize) -> TopK {
        TopK { size, best: BinaryHeap::with_capacity(size.min(PAGE)), worst: None }
    }

    /// The maximum number of hits.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns whether `hit` is among the best so far.
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

    /// The score of the worst hit if the heap is full. Hits below it are rejected.
    #[inline]
    pub fn threshold(&self) -> Option<f64> {
        self.worst.map(|worst| worst.0.score)
    }

    /// The hits after the first `offset`, best first.
    pub fn into_hits(self, offset: usize) -> Vec<Hit> {
        let ranked = self.best.into_sorted_vec();
        ranked.into_iter().skip(offset).map(|Ranked(hit)| hit).collect()
    }
}

/// A hit ordered by rank: smaller is better.
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
