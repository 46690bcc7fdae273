//! Encoding of successor lists in the `BVGraph` format of `WebGraph`.
//!
//! This module chooses the reference and encodes the list. `decode.rs` reads lists, and the crate `codes` defines
//! the codewords.
//!
//! The list of node *x* starts with its outdegree. If that is above zero, these parts follow:
//!
//! - The reference *r*: the list is encoded relative to that of node *x* – *r*. Zero means no reference.
//! - The copy blocks: lengths of runs of the reference's list, alternately copied and skipped.
//! - The intervals: runs of consecutive numbers among the successors that are not copied.
//! - The residuals: all other successors.
//!
//! The encoder takes the reference in the window that gives the fewest bits; among equal ones, the nearest. The
//! length of the chain of references is limited. `docs/formats/graph.md` defines each number.
//!
//! **Reference.** P. Boldi, S. Vigna, "The `WebGraph` Framework I: Compression Techniques",
//! WWW 2004.
//!
//! **Invariant.** The bits equal those that `WebGraph` writes for the same lists and parameters.

use codes::{Bits, Code, Gamma, Unary};

use crate::shape::{RESIDUALS, Shape};

/// Writes the lists of a graph, node by node.
pub(crate) struct Compressor {
    shape: Shape,
    graph: Bits,
    /// γ codes of the lengths of the lists in bits, after a zero for the position of the first list.
    offsets: Bits,
    /// The latest lists and the lengths of their reference chains; that of `node` is at `node % (window + 1)`.
    recent: Vec<(Vec<u32>, u32)>,
    node: u32,
    best: Plan,
    plan: Plan,
}

impl Compressor {
    pub(crate) fn new(shape: Shape) -> Self {
        let mut offsets = Bits::default();
        Gamma.write(&mut offsets, 0);
        let recent = vec![(Vec::new(), 0); shape.window as usize + 1];
        let (best, plan) = (Plan::default(), Plan::default());
        Compressor { shape, graph: Bits::default(), offsets, recent, node: 0, best, plan }
    }

    /// Appends the list of the next node, strictly ascending.
    pub(crate) fn push(&mut self, successors: impl Iterator<Item = u32>) {
        let slots = self.recent.len();
        let here = self.node as usize % slots;
        let (mut list, _) = std::mem::take(&mut self.recent[here]);
        list.clear();
        list.extend(successors);
        let interval_min = self.shape.interval_min;
        self.best.fill(self.node, &list, 0, &[], interval_min);
        let (mut fewest, mut chain) = (self.best.len(self.shape), 0);
        let reach = if list.is_empty() { 0 } else { self.shape.window.min(self.node) };
        for reference in 1..=reach {
            let (other, before) = &self.recent[(self.node - reference) as usize % slots];
            if other.is_empty() || *before >= self.shape.chain_max {
                continue;
            }
            self.plan.fill(self.node, &list, reference, other, interval_min);
            let bits = self.plan.len(self.shape);
            if bits < fewest {
                (fewest, chain) = (bits, before + 1);
                std::mem::swap(&mut self.best, &mut self.plan);
            }
        }
        let start = self.graph.len();
        self.best.send(self.shape, &mut self.graph);
        debug_assert_eq!(self.graph.len() - start, fewest, "list of node {}", self.node);
        Gamma.write(&mut self.offsets, fewest as u64);
        self.recent[here] = (list, chain);
        self.node += 1;
    }

    /// The graph and the offsets.
    pub(crate) fn finish(self) -> (Bits, Bits) {
        (self.graph, self.offsets)
    }
}

/// The numbers that encode one list.
#[derive(Default)]
struct Plan {
    degree: u64,
    reference: u64,
    blocks: Vec<u64>,
    intervals: Vec<(u64, u64)>,
    residuals: Vec<u64>,
    /// The successors that are not copied.
    extras: Vec<u32>,
}

impl Plan {
    /// Encodes `list` of `node` relative to `other`, the list of the node `node - reference`.
    fn fill(&mut self, node: u32, list: &[u32], reference: u32, other: &[u32], interval_min: u32) {
        self.degree = list.len() as u64;
        self.reference = u64::from(reference);
        self.blocks.clear();
        self.extras.clear();
        if reference == 0 {
            self.extras.extend_from_slice(list);
        } else {
            self.copy(list, other);
        }
        self.intervalize(node, interval_min);
    }

    /// Splits `list` into the blocks of `other` that it shares and the extras.
    fn copy(&mut self, list: &[u32], other: &[u32]) {
        let mut rest = list.iter().copied().peekable();
        let (mut taking, mut run) = (true, 0);
        for &candidate in other {
            while let Some(extra) = rest.next_if(|&successor| successor < candidate) {
                self.extras.push(extra);
            }
            if rest.peek().is_none() {
                // The rest of `other` is not copied.
                break;
            }
            if rest.next_if_eq(&candidate).is_some() != taking {
                self.blocks.push(run);
                (taking, run) = (!taking, 0);
            }
            run += 1;
        }
        self.extras.extend(rest);
        let seen = self.blocks.iter().sum::<u64>() + run;
        if taking && seen < other.len() as u64 {
            self.blocks.push(run);
        }
    }

    /// Splits the extras into intervals and residuals.
    fn intervalize(&mut self, node: u32, interval_min: u32) {
        self.intervals.clear();
        self.residuals.clear();
        let (mut after_interval, mut after_residual) = (None, None);
        for run in self.extras.chunk_by(|a, b| a + 1 == *b) {
            let (first, len) = (u64::from(run[0]), run.len() as u64);
            if interval_min > 0 && len >= u64::from(interval_min) {
                let left = match after_interval {
                    None => signed(first, node),
                    Some(end) => first - end,
                };
                self.intervals.push((left, len - u64::from(interval_min)));
                // Intervals never touch, so the number right after one cannot begin another.
                after_interval = Some(first + len + 1);
            } else {
                for residual in run.iter().copied().map(u64::from) {
                    self.residuals.push(match after_residual {
                        None => signed(residual, node),
                        Some(end) => residual - end,
                    });
                    after_residual = Some(residual + 1);
                }
            }
        }
    }

    fn len(&self, shape: Shape) -> usize {
        let mut count = Count(0);
        self.send(shape, &mut count);
        count.0
    }

    /// Passes the numbers to `out` in the order of the file.
    fn send(&self, shape: Shape, out: &mut impl Numbers) {
        out.put(&Gamma, self.degree);
        if self.degree == 0 {
            return;
        }
        if shape.window > 0 {
            out.put(&Unary, self.reference);
        }
        if self.reference > 0 {
            out.put(&Gamma, self.blocks.len() as u64);
            for (at, &block) in self.blocks.iter().enumerate() {
                out.put(&Gamma, if at == 0 { block } else { block - 1 });
            }
        }
        if self.extras.is_empty() {
            return;
        }
        if shape.interval_min > 0 {
            out.put(&Gamma, self.intervals.len() as u64);
            for &(left, len) in &self.intervals {
                out.put(&Gamma, left);
                out.put(&Gamma, len);
            }
        }
        for &residual in &self.residuals {
            out.put(&RESIDUALS, residual);
        }
    }
}

/// A sink for the numbers of a list, which writes them or counts their bits.
trait Numbers {
    fn put(&mut self, code: &impl Code, n: u64);
}

impl Numbers for Bits {
    fn put(&mut self, code: &impl Code, n: u64) {
        code.write(self, n);
    }
}

struct Count(usize);

impl Numbers for Count {
    fn put(&mut self, code: &impl Code, n: u64) {
        self.0 += code.len(n);
    }
}

/// Maps the difference `to` – `node` to a natural number: 0, -1, 1, -2, … to 0, 1, 2, 3, …
fn signed(to: u64, node: u32) -> u64 {
    match to.checked_sub(u64::from(node)) {
        Some(ahead) => 2 * ahead,
        None => 2 * (u64::from(node) - to) - 1,
    }
}
