//! The documents of a block that are left, and what is known of them, side by side, so that loops over it are short.
//!
//! **Invariant.** They ascend. Those of the block that are not left are no match, or their bounds stay below what it takes.

use std::ops::Range;

use index::{BLOCK, DocId, Lengths};

use super::Word;
use super::candidates::Span;
use super::list::List;
use super::workspace::Scratch;

/// Documents that are looked at together.
const STRIPE: usize = 8;

/// The places of a block.
const TAGS: [u8; BLOCK] = {
    let mut tags = [0; BLOCK];
    let mut at = 1;
    while at < BLOCK {
        tags[at] = tags[at - 1] + 1;
        at += 1;
    }
    tags
};

/// The documents of a block that are left: what is known of the first `count`.
pub(super) struct Front {
    pub(super) count: usize,
    pub(super) docs: [u32; BLOCK],
    /// What they are worth so far, about.
    pub(super) scores: [f32; BLOCK],
    /// Their places in the block of the word that proposes them.
    pub(super) tags: [u8; BLOCK],
    /// For each place in that block the length of the field of the list at hand.
    pub(super) lengths: Vec<u32>,
    /// Where those that are looked up are in a block of another list.
    pub(super) in_block: [u8; BLOCK],
    /// For each list how often the document at each place has its term; only where any of the words may match.
    pub(super) frequencies: Vec<[u32; BLOCK]>,
}

impl Default for Front {
    fn default() -> Front {
        Front {
            count: 0,
            docs: [0; BLOCK],
            scores: [0.0; BLOCK],
            tags: [0; BLOCK],
            lengths: Vec::new(),
            in_block: [0; BLOCK],
            frequencies: Vec::new(),
        }
    }
}

impl Front {
    /// The documents of a block, which the window is: those that the word adds `wanted` to, or more, if that is asked for.
    pub(super) fn propose(
        &mut self,
        word: &mut Word<'_>,
        span: Span,
        wanted: Option<f32>,
        scratch: &mut Scratch,
    ) {
        self.count = match wanted {
            Some(wanted) => self.propose_reaching(word, span, wanted, &mut scratch.scores),
            None => self.propose_all(&mut word.lists[0], span),
        };
    }

    fn propose_all(&mut self, list: &mut List<'_>, span: Span) -> usize {
        let docs = list.block_docs(list.first_block());
        let from = docs.partition_point(|&doc| doc < span.start);
        let docs = &docs[from..];
        let docs = &docs[..docs.partition_point(|&doc| doc < span.end)];
        self.docs[..docs.len()].copy_from_slice(docs);
        self.tags = TAGS;
        self.tags.rotate_left(from);
        docs.len()
    }

    fn propose_reaching(
        &mut self,
        word: &mut Word<'_>,
        span: Span,
        wanted: f32,
        surplus: &mut Vec<f32>,
    ) -> usize {
        let (saturation, list) = (word.saturation, &mut word.lists[0]);
        let (lengths, scale) = (list.lengths(), list.scale());
        let (docs, more) = list.block(list.first_block());
        let is_inside = |doc: Option<&u32>| doc.is_some_and(|&doc| span.contains(doc));
        if !is_inside(docs.first()) || !is_inside(docs.last()) {
            // Only files that we did not write are so.
            return 0;
        }
        // What it falls short of, without a division.
        let reach = saturation.inverse(wanted);
        let surplus_of = |more: u32, length: u32| {
            let (above, below) = scale.fraction_of_more(more, length);
            above - reach * below
        };
        lengths.of(docs, &mut self.lengths);
        surplus.resize(docs.len(), 0.0);
        for ((surplus, &more), &length) in surplus.iter_mut().zip(more).zip(&self.lengths) {
            *surplus = surplus_of(more, length);
        }
        let mut count = 0;
        let places = (0..).step_by(STRIPE);
        for ((docs, surplus), place) in docs.chunks(STRIPE).zip(surplus.chunks(STRIPE)).zip(places)
        {
            if count_reaching(surplus, 0.0) > 0 {
                for ((&doc, &surplus), place) in docs.iter().zip(surplus).zip(place..) {
                    (self.docs[count % BLOCK], self.tags[count % BLOCK]) = (doc, place);
                    count += usize::from(surplus >= 0.0);
                }
            }
        }
        for (score, &tag) in self.scores[..count].iter_mut().zip(&self.tags) {
            let tag = usize::from(tag);
            *score = saturation.of_field(scale, more[tag].saturating_add(1), self.lengths[tag]);
        }
        count
    }

    /// Adds what they are worth before any question.
    pub(super) fn add_worth(&mut self, span: Span, worth: &impl Fn(u32) -> f32) {
        if span.most > 0.0 {
            for (&doc, score) in self.docs[..self.count].iter().zip(&mut self.scores) {
                *score += worth(doc);
            }
        }
    }

    /// Keeps of some, which are moved to `to`, those that come to `least`; returns what follows them there.
    #[inline]
    pub(super) fn keep(&mut self, those: Range<usize>, to: usize, least: f32) -> usize {
        let Front { docs, scores, tags, .. } = self;
        let mut kept = to;
        let reaching = count_reaching(&scores[those.clone()], least);
        if reaching == those.len() && to == those.start {
            return those.end;
        }
        if reaching > 0 {
            for at in those {
                // Never more than a block.
                let (at, to) = (at % BLOCK, kept % BLOCK);
                let score = scores[at];
                (docs[to], scores[to], tags[to]) = (docs[at], score, tags[at]);
                kept += usize::from(score >= least);
            }
        }
        kept
    }

    /// Lengths of another field.
    pub(super) fn measure(&mut self, lengths: Lengths<'_>) {
        self.lengths.resize(BLOCK, 0);
        for (&doc, &tag) in self.docs[..self.count].iter().zip(&self.tags) {
            self.lengths[usize::from(tag)] = lengths.get(DocId(doc));
        }
    }
}

/// How many scores are `least` or more.
#[inline]
fn count_reaching(scores: &[f32], least: f32) -> usize {
    scores.iter().map(|&score| u32::from(score >= least)).sum::<u32>() as usize
}
