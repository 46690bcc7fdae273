//! The documents of a window: what their words add up to.
//!
//! **Invariant.** Between windows every sum is 0. Inside one, a document that has any of the words that were added has
//! more than 0.

/// How many documents a window has at most.
pub(super) const WINDOW_MAX: u32 = 32768;
/// And at least, but for the last.
pub(super) const WINDOW_MIN: u32 = 256;
/// Documents that are looked at together.
const STRIPE_DOCS: u32 = 8;
const STRIPE: usize = STRIPE_DOCS as usize;
const STRIPES: usize = WINDOW_MAX as usize / STRIPE;

/// A word that counts nothing still says that it is there.
const PRESENT: f32 = 1e-30;
/// No more than this is the sum of all that only say so.
pub(super) const NOTHING: f32 = 1e-20;

/// Sums, by the distance of a document from the first of the window.
pub(super) struct Window {
    scores: Vec<f32>,
    /// Of the word that is being added, in the fields so far.
    pub(super) partial: Vec<f32>,
    /// In which stripes anything was added: a bit for each.
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

    /// Hands over the sums that are `least` or more, with their distance, and clears them all.
    pub(super) fn drain(&mut self, least: f32, found: &mut Vec<(u32, f32)>) {
        found.clear();
        let least = least.max(PRESENT);
        self.each_touched(|base, stripe| gather(stripe, base, least, found));
    }

    /// Adds the sums to those in `found`, and clears all.
    pub(super) fn add_to(&mut self, found: &mut [(u32, f32)]) {
        for (distance, score) in found {
            *score += self.scores[*distance as usize];
        }
        self.clear();
    }

    /// What was added for the document at a distance.
    #[inline]
    pub(super) fn sum(&self, distance: usize) -> f32 {
        self.scores[distance]
    }

    pub(super) fn clear(&mut self) {
        self.each_touched(|_, _| {});
    }

    /// Hands over the stripes with anything in them, each with the distance of its first document, and clears them.
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

/// Appends the scores that are `least` or more, with their distance, which is `base` for the first. Most often there
/// are none, and that is seen at a glance.
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

/// Keeps the items for which `test` holds, in their order. Where that is hard to foretell, this costs less than
/// [`Vec::retain`]: nothing depends on the outcome but where the next one goes.
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

/// A contribution that says that there is one.
#[inline]
pub(super) fn present(contribution: f32) -> f32 {
    contribution + PRESENT
}
