//! Document ordering by recursive graph bisection.
//!
//! Documents with the same terms get neighbouring numbers, which makes gaps small. The documents are split into
//! two halves. Each round swaps the pairs of documents, one of each half, that reduce the expected sum of the
//! gaps' logarithms. When no pair does so, or after some rounds, each half is treated in the same way. The terms
//! of documents come from `segment/forward.rs`; `segment/permute.rs` writes a segment in the new order.
//!
//! **Invariant.** An order contains every document once, and does not depend on the number of threads.
//!
//! L. Dhulipala et al., "Compressing graphs and indexes with recursive graph bisection", KDD 2016; J. Mackenzie et
//! al., "Compressing inverted indexes with recursive graph bisection", ECIR 2019.

/// Largest number of rounds per split.
const ROUNDS_MAX: u32 = 20;
/// Parts of at most this size keep their order.
const PART_DOCS_MAX: usize = 16;

/// How documents are numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DocOrder {
    /// In the order in which they are added. The index of a collection adds them by URL.
    #[default]
    Url,
    /// By recursive graph bisection.
    Bisection,
}

impl DocOrder {
    /// The name in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            DocOrder::Url => "url",
            DocOrder::Bisection => "bisection",
        }
    }
}

/// The forward index: the term numbers of each document.
#[derive(Debug, Default)]
pub(crate) struct Forward {
    /// Start of the terms of each document, and the end of the last.
    pub(crate) starts: Vec<usize>,
    pub(crate) terms: Vec<u32>,
    pub(crate) term_count: usize,
}

impl Forward {
    /// Returns the documents in an order with small gaps.
    pub(crate) fn bisect(&self, threads: usize) -> Vec<u32> {
        let count = self.starts.len().saturating_sub(1);
        let mut docs: Vec<u32> =
            (0..u32::try_from(count).expect("documents have 32 bits")).collect();
        bisect(self, &mut docs, &mut Halves::new(self.term_count), threads);
        docs
    }

    fn terms(&self, doc: u32) -> &[u32] {
        &self.terms[self.starts[doc as usize]..self.starts[doc as usize + 1]]
    }
}

/// Reorders `docs`, which must be ascending.
fn bisect(forward: &Forward, docs: &mut [u32], halves: &mut Halves, threads: usize) {
    if docs.len() <= PART_DOCS_MAX {
        return;
    }
    let (left, right) = docs.split_at_mut(docs.len() / 2);
    for _ in 0..ROUNDS_MAX {
        if !halves.exchange(forward, left, right) {
            break;
        }
    }
    left.sort_unstable();
    right.sort_unstable();
    if threads > 1 {
        std::thread::scope(|scope| {
            let rest = threads - threads / 2;
            scope.spawn(move || {
                bisect(forward, right, &mut Halves::new(forward.term_count), threads / 2);
            });
            bisect(forward, left, halves, rest);
        });
    } else {
        bisect(forward, left, halves, 1);
        bisect(forward, right, halves, 1);
    }
}

/// Term counts of two halves.
struct Halves {
    terms: Vec<Term>,
    /// The terms with counts that are not zero.
    touched: Vec<u32>,
    logarithms: Vec<f32>,
}

/// A term in two halves.
#[derive(Clone, Copy, Default)]
struct Term {
    /// Number of documents of each half with this term.
    counts: [u32; 2],
    /// Bits saved if one of its documents leaves the left half, or the right.
    gains: [f32; 2],
}

impl Halves {
    fn new(term_count: usize) -> Halves {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let logarithms = (0..4096).map(|n| (n as f32).log2()).collect();
        Halves { terms: vec![Term::default(); term_count], touched: Vec::new(), logarithms }
    }

    /// Swaps the pairs that save bits. Returns whether there were any.
    fn exchange(&mut self, forward: &Forward, left: &mut [u32], right: &mut [u32]) -> bool {
        for term in self.touched.drain(..) {
            self.terms[term as usize].counts = [0; 2];
        }
        for (half, docs) in [&*left, &*right].into_iter().enumerate() {
            for &term in docs.iter().flat_map(|&doc| forward.terms(doc)) {
                let counts = &mut self.terms[term as usize].counts;
                if *counts == [0; 2] {
                    self.touched.push(term);
                }
                counts[half] += 1;
            }
        }
        let sizes = [left.len(), right.len()].map(|size| self.logarithm(size));
        for at in 0..self.touched.len() {
            let term = self.touched[at] as usize;
            self.terms[term].gains = self.gains(self.terms[term].counts, sizes);
        }
        let [from_left, from_right] =
            [(0, &*left), (1, &*right)].map(|(half, docs)| self.leavers(forward, half, docs));
        let pairs = from_left.iter().zip(&from_right);
        let count = pairs.take_while(|(one, other)| one.0 + other.0 > 0.0).count();
        for ((_, one), (_, other)) in from_left[..count].iter().zip(&from_right) {
            std::mem::swap(&mut left[*one], &mut right[*other]);
        }
        count > 0
    }

    /// The documents of a half with the bits saved if each leaves, the best first.
    fn leavers(&self, forward: &Forward, half: usize, docs: &[u32]) -> Vec<(f32, usize)> {
        let gain = |doc: u32| -> f32 {
            forward.terms(doc).iter().map(|&term| self.terms[term as usize].gains[half]).sum()
        };
        let mut leavers: Vec<(f32, usize)> =
            docs.iter().enumerate().map(|(place, &doc)| (gain(doc), place)).collect();
        leavers.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        leavers
    }

    /// Bits saved for a term if one document moves to the other half.
    fn gains(&self, counts: [u32; 2], sizes: [f32; 2]) -> [f32; 2] {
        let bits = |half: usize, count: u32| self.bits(count, sizes[half]);
        let now = bits(0, counts[0]) + bits(1, counts[1]);
        [(0, 1), (1, 0)].map(|(from, to)| match counts[from].checked_sub(1) {
            Some(left) => now - bits(from, left) - bits(to, counts[to] + 1),
            None => 0.0,
        })
    }

    /// Estimated bits of the gaps of `count` documents among a set; `size` is the logarithm of the set's size.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn bits(&self, count: u32, size: f32) -> f32 {
        count as f32 * (size - self.logarithm(count as usize + 1))
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn logarithm(&self, n: usize) -> f32 {
        self.logarithms.get(n).copied().unwrap_or_else(|| (n as f32).log2())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Documents of several topics, each with terms of its topic, shuffled.
    fn shuffled(topics: u32, docs: u32) -> (Forward, Vec<u32>) {
        let mut forward = Forward { starts: vec![0], ..Forward::default() };
        let topic_of: Vec<u32> =
            (0..docs).map(|doc| (doc.wrapping_mul(2_654_435_761) >> 16) % topics).collect();
        for (doc, topic) in (0..).zip(&topic_of) {
            let of_topic =
                (0..20_u32).filter(|term| (doc + term) % 3 != 0).map(|term| topic * 20 + term);
            let common =
                (0..5_u32).filter(|term| (doc * 7 + term) % 2 == 0).map(|term| topics * 20 + term);
            forward.terms.extend(of_topic.chain(common));
            forward.starts.push(forward.terms.len());
        }
        forward.term_count = topics as usize * 20 + 5;
        (forward, topic_of)
    }

    /// The sum of the logarithms of all gaps.
    fn cost(forward: &Forward, order: &[u32]) -> f64 {
        let mut last = vec![None; forward.term_count];
        let mut sum = 0.0;
        for (place, &doc) in order.iter().enumerate() {
            for &term in forward.terms(doc) {
                let gap = place + 1 - last[term as usize].unwrap_or(0);
                sum += f64::from(u32::try_from(gap).expect("small")).log2();
                last[term as usize] = Some(place + 1);
            }
        }
        sum
    }

    #[test]
    fn documents_of_a_topic_are_grouped() {
        let (forward, topic_of) = shuffled(8, 1024);
        let order = forward.bisect(1);
        let mut every = order.clone();
        every.sort_unstable();
        assert!(every.into_iter().eq(0..1024));
        let changes = order
            .windows(2)
            .filter(|pair| topic_of[pair[0] as usize] != topic_of[pair[1] as usize])
            .count();
        assert!(changes < 100, "{changes} changes of topic");
        let identity: Vec<u32> = (0..1024).collect();
        assert!(cost(&forward, &order) < 0.5 * cost(&forward, &identity));
    }

    #[test]
    fn bisection_ignores_thread_count_and_keeps_few_documents() {
        let (forward, _) = shuffled(5, 700);
        let order = forward.bisect(1);
        for threads in 2..6 {
            assert_eq!(forward.bisect(threads), order);
        }
        for docs in [0, 1, 2, 16] {
            let (forward, _) = shuffled(3, docs);
            assert!(forward.bisect(2).into_iter().eq(0..docs));
        }
        assert!(Forward::default().bisect(2).is_empty());
    }
}
