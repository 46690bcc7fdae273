//! Accumulators: the partial scores of the documents of a window.
//!
//! **Invariant.** Between windows every accumulator is 0. In a window, every document with one of the added words
//! has a positive one.

/// Maximum number of documents in a window.
pub(super) const WINDOW_MAX: u32 = 32768;
/// Minimum number of documents in a window, except the last.
pub(super) const WINDOW_MIN: u32 = 256;
/// Documents that are handled together.
const STRIPE_DOCS: u32 = 8;
const STRIPE: usize = STRIPE_DOCS as usize;
const STRIPES: usize = WINDOW_MAX as usize / STRIPE;

/// Added to every contribution, so that a word of score 0 is still visible.
const PRESENT: f32 = 1e-30;
/// Upper bound of a sum of [`PRESENT`] alone.
pub(super) const NOTHING: f32 = 1e-20;

/// Accumulators, by the distance of a document from the start of the window.
pub(super) struct Window {
    scores: Vec<f32>,
    /// Scaled occurrences of the current word, in the fields so far.
    pub(super) partial: Vec<f32>,
    /// Stripes with a contribution, a bit each.
    touched: [u64; STRIPES / 64],
}

impl Window {
    pub(super) fn new() -> Window {
        let zeros = || vec![0.0; WINDOW_MAX as usize];
        Window { scores: zeros(), partial: zeros(), touched: [0; STRIPES / 64] }
    }

    #[inline]
    pub(super) fn add(&mut self, at: usize, score: f32) {
        self.scores[at] += present(score);
        self.touched[at / STRIPE / 64] |= 1 << (at / STRIPE % 64);
    }

    /// Moves the sums of at least `least` to `found`, with their distances, and clears all accumulators.
    pub(super) fn drain(&mut self, least: f32, found: &mut Vec<(u32, f32)>) {
        found.clear();
        let least = least.max(PRESENT);
        self.each_touched(|base, stripe| gather(stripe, base, least, found));
    }

    /// Adds the accumulators to the scores in `found`, and clears all.
    pub(super) fn add_to(&mut self, found: &mut [(u32, f32)]) {
        for (distance, score) in found {
            *score += self.scores[*distance as usize];
        }
        self.clear();
    }

    /// The accumulator at a distance.
    #[inline]
    pub(super) fn sum(&self, distance: usize) -> f32 {
        self.scores[distance]
    }

    pub(super) fn clear(&mut self) {
        self.each_touched(|_, _| {});
    }

    /// Visits the stripes with a contribution, each with the distance of its first document, and clears them.
    #[inline]
    fn each_touched(&mut self, mut visit: impl FnMut(u32, &[f32; STRIPE])) {
        let (stripes, _) = self.scores.as_chunks_mut::<STRIPE>();
        let mut base = 0;
        for (stripes, touched) in stripes.chunks_mut(64).zip(&mut self.touched) {
            while *touched != 0 {
                let at = touched.trailing_zeros();
                *touched &= *touched - 1;
                let stripe = &mut stripes[at as usize];
                visit(base + at * STRIPE_DOCS, stripe);
                *stripe = [0.0; STRIPE];
            }
            base += 64 * STRIPE_DOCS;
        }
    }
}

/// Appends the scores of at least `least`, with their distances from `base` on. Usually no score reaches it, which
/// one test shows.
#[inline]
fn gather(scores: &[f32], base: u32, least: f32, found: &mut Vec<(u32, f32)>) {
    if scores.iter().map(|&score| u32::from(score >= least)).sum::<u32>() > 0 {
        for (distance, &score) in (base..).zip(scores) {
            if score >= least {
                found.push((distance, score));
            }
        }
    }
}

/// Keeps the items that pass `test`, in their order. This is faster than [`Vec::retain`] if branches are hard to
/// predict, because it has none.
#[inline]
pub(super) fn keep<T: Copy>(items: &mut Vec<T>, mut test: impl FnMut(&mut T) -> bool) {
    let mut kept = 0;
    for at in 0..items.len() {
        let mut item = items[at];
        let keeps = test(&mut item);
        items[kept] = item;
        kept += usize::from(keeps);
    }
    items.truncate(kept);
}

/// Marks a contribution as present.
#[inline]
pub(super) fn present(contribution: f32) -> f32 {
    contribution + PRESENT
}
