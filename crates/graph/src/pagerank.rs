//! `PageRank`.
//!
//! Let β be the damping, *n* the number of nodes and *e* the vector of ones. The matrix *M* passes the rank of a
//! node to its successors in equal shares. `PageRank` is the solution *x* with sum one of
//!
//! > *x* = β *M* *x* + (1 – β) *e* / *n*.
//!
//! **Dead ends** pass their rank to no node, so *M* is not stochastic. [`DeadEnds`] selects the remedy: their rank
//! is spread over all nodes, or they are removed and restored later. **Self-loops** are ordinary links. The jump
//! handles **spider traps** and unreachable parts.
//!
//! **Power method.** *x'* = β(*M* + *e d*ᵀ/*n*) *x* + (1 – β) *e*/*n*, with *d* the indicator of the dead ends. The
//! map contracts distances in the 1-norm by β. Hence ‖*x'* – *x**‖ ≤ β/(1 – β) ‖*x'* – *x*‖.
//!
//! **Gauss–Seidel.** Let *y* = β *M y* + *e*/*n*, without the rank of the dead ends. With spread dead ends, *x*
//! satisfies *x* = β *M x* + c *e* / *n* with the scalar c = 1 – β + β *d*ᵀ*x*. Hence *x* = c *y* = *y*/‖*y*‖.
//! A sweep solves the equation of each node in turn with the latest values of the others:
//!
//! > *y*ᵢ = (1/*n* + β Σ_{j≠i} *M*ᵢⱼ*y*ⱼ) / (1 – β *M*ᵢᵢ).
//!
//! Let Δ be the change of *y* in a sweep. The equation of a node is violated only by later changes of other nodes,
//! so the residual is at most β‖Δ‖. Since ‖(*I* – β*M*)⁻¹‖ ≤ 1/(1 – β), the error of *y* is at most
//! ε = β/(1 – β) ‖Δ‖. After division by the sum, the error is at most 2ε/‖*y*‖. This is the reported bound.
//!
//! **Topics.** In topic-sensitive `PageRank`, a distribution *v* over the pages of a topic replaces *e*/*n*. It does
//! so in the jump and for the dead ends (strongly preferential). All formulas above hold with *v*, and *x* ranks
//! each node with respect to the topic.
//!
//! Both bounds ignore the rounding of doubles, which is of the order of 1e-15.
//!
//! **Reference.** L. Page, S. Brin, R. Motwani, T. Winograd, "The `PageRank` citation ranking:
//! bringing order to the Web", 1998; P. Boldi, M. Santini, S. Vigna, "`PageRank`: Functional
//! dependencies", ACM TOIS 27(4), 2009; G. M. Del Corso, A. Gullì, F. Romani, "Fast `PageRank`
//! computation via a sparse linear system", Internet Mathematics 2(3), 2005; T. H. Haveliwala, "Topic-sensitive
//! `PageRank`", WWW 2002.
//!
//! **Invariant.** Sums are taken in a fixed order, so equal graphs and configurations give identical bits.

use serde::{Deserialize, Serialize};

use crate::dead_ends::{removal_order, restore};
use crate::matrix::Matrix;
use crate::{Graph, NodeId};

/// How `PageRank` is computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PageRankConfig {
    /// The probability β of following a link instead of jumping, from 0 to below 1. Values outside 0 to 1 are
    /// clamped.
    /// With 1 there is no error bound: the power method runs until the values are stable or `iterations_max` is
    /// reached.
    pub damping: f64,
    /// The iteration stops when the error bound, a sum of absolute differences, is at most this.
    pub epsilon: f64,
    /// The maximum number of iterations.
    pub iterations_max: u32,
    /// The treatment of nodes without successors.
    pub dead_ends: DeadEnds,
    /// How the equations are solved.
    pub solver: Solver,
}

impl Default for PageRankConfig {
    fn default() -> Self {
        PageRankConfig {
            damping: 0.85,
            epsilon: 1e-9,
            iterations_max: 1000,
            dead_ends: DeadEnds::Spread,
            solver: Solver::GaussSeidel,
        }
    }
}

/// The treatment of nodes without successors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeadEnds {
    /// The rank of dead ends is spread evenly over all nodes, as if each dead end linked to all nodes.
    #[default]
    Spread,
    /// Dead ends are removed repeatedly, until no node is a dead end. The remaining nodes get ranks of sum one. The
    /// removed nodes are then restored in reverse order, each with the shares of its predecessors. The total sum
    /// exceeds one. If no node remains, all ranks are zero.
    Remove,
}

/// How the equations are solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Uses the latest values of all other nodes, in the order of the nodes. It needs about half the iterations of
    /// the
    /// power method.
    #[default]
    GaussSeidel,
    /// Uses the values of the previous iteration.
    Power,
}

/// The result of [`pagerank`].
#[derive(Debug, Clone, PartialEq)]
pub struct Ranks {
    /// One value per node. The sum is one, with two exceptions: restored dead ends make it greater, and all values
    /// are
    /// zero if no node can be jumped to.
    pub values: Vec<f64>,
    /// The number of iterations.
    pub iterations: u32,
    /// A bound on the sum of absolute differences from the true values. Removed dead ends are not included.
    pub error_bound: f64,
}

/// `PageRank` of every node. `progress` receives the number of each iteration and the error bound after it.
pub fn pagerank(
    graph: &Graph,
    config: &PageRankConfig,
    progress: &mut dyn FnMut(u32, f64),
) -> Ranks {
    solve(graph, config, |_| true, progress)
}

/// `PageRank` of every node with jumps only to the nodes of `topic`, with equal probability. Numbers in `topic` that
/// are not nodes are ignored. The rank of spread dead ends also goes to the topic. All values are zero if no node
/// of the topic can be jumped to.
pub fn topic_pagerank(
    graph: &Graph,
    config: &PageRankConfig,
    topic: &[NodeId],
    progress: &mut dyn FnMut(u32, f64),
) -> Ranks {
    let mut is_in_topic = vec![false; graph.nodes() as usize];
    for node in topic {
        if let Some(is_in) = is_in_topic.get_mut(node.0 as usize) {
            *is_in = true;
        }
    }
    solve(graph, config, |node| is_in_topic[node as usize], progress)
}

fn solve(
    graph: &Graph,
    config: &PageRankConfig,
    is_jump: impl Fn(u32) -> bool,
    progress: &mut dyn FnMut(u32, f64),
) -> Ranks {
    let matrix = Matrix::new(graph);
    match config.dead_ends {
        DeadEnds::Spread => {
            let all: Vec<u32> = (0..graph.nodes()).collect();
            Iteration::new(&matrix, &all, is_jump, config).run(progress)
        }
        DeadEnds::Remove => {
            let order = removal_order(&matrix, graph.nodes());
            let mut gone = vec![false; graph.nodes() as usize];
            for &node in &order {
                gone[node as usize] = true;
            }
            let rest: Vec<u32> = (0..graph.nodes()).filter(|&node| !gone[node as usize]).collect();
            let core = Matrix::among(graph, |node| !gone[node as usize]);
            let mut ranks = Iteration::new(&core, &rest, is_jump, config).run(progress);
            restore(&matrix, &order, &mut ranks.values);
            ranks
        }
    }
}

/// The state of an iteration.
struct Iteration<'a> {
    matrix: &'a Matrix,
    /// The nodes that are ranked.
    nodes: &'a [u32],
    config: &'a PageRankConfig,
    /// β, clamped to its range.
    damping: f64,
    /// The probability of a jump to each node, with sum one.
    jumps: Vec<f64>,
    /// The value of each node; zero for nodes that are not ranked.
    values: Vec<f64>,
    /// The reciprocal of the outdegree of each node; zero for dead ends.
    shares: Vec<f64>,
}

impl<'a> Iteration<'a> {
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2^32 nodes")]
    fn new(
        matrix: &'a Matrix,
        nodes: &'a [u32],
        is_jump: impl Fn(u32) -> bool,
        config: &'a PageRankConfig,
    ) -> Self {
        let targets = || nodes.iter().filter(|&&node| is_jump(node));
        let jump = 1.0 / targets().count().max(1) as f64;
        let damping = if config.damping.is_nan() { 0.0 } else { config.damping.clamp(0.0, 1.0) };
        let mut jumps = vec![0.0; matrix.len()];
        for &node in targets() {
            jumps[node as usize] = jump;
        }
        let share = |node| match matrix.degree(node) {
            0 => 0.0,
            degree => 1.0 / f64::from(degree),
        };
        let shares = (0..matrix.len()).map(share).collect();
        let values = jumps.clone();
        Iteration { matrix, nodes, config, damping, jumps, values, shares }
    }

    fn run(mut self, progress: &mut dyn FnMut(u32, f64)) -> Ranks {
        let mut ranks = Ranks { values: Vec::new(), iterations: 0, error_bound: f64::INFINITY };
        if self.values.iter().all(|&value| value == 0.0) {
            return Ranks { values: self.values, error_bound: 0.0, ..ranks };
        }
        let power = self.config.solver == Solver::Power || self.damping >= 1.0;
        let factor = self.damping / (1.0 - self.damping);
        let mut scratch = if power { self.values.clone() } else { Vec::new() };
        while ranks.iterations < self.config.iterations_max
            && (ranks.error_bound > self.config.epsilon || self.config.epsilon.is_nan())
        {
            let change = if power { self.multiply(&mut scratch) } else { self.sweep() };
            let error = if self.damping < 1.0 { factor * change } else { f64::INFINITY };
            ranks.iterations += 1;
            ranks.error_bound = if power { error } else { 2.0 * error / self.sum() };
            progress(ranks.iterations, ranks.error_bound);
            if change == 0.0 {
                break;
            }
        }
        if !power {
            let sum = self.sum();
            self.values.iter_mut().for_each(|value| *value /= sum);
        }
        ranks.values = self.values;
        ranks
    }

    fn sum(&self) -> f64 {
        self.values.iter().sum()
    }

    /// Runs one iteration of the power method. Returns the sum of absolute changes.
    fn multiply(&mut self, next: &mut Vec<f64>) -> f64 {
        let dead = self.nodes.iter().filter(|&&node| self.shares[node as usize] == 0.0);
        let dead: f64 = dead.map(|&node| self.values[node as usize]).sum();
        let base = 1.0 - self.damping + self.damping * dead;
        let mut change = 0.0;
        for &node in self.nodes {
            let node = node as usize;
            let mut inflow = 0.0;
            for &before in self.matrix.predecessors(node) {
                inflow += self.values[before as usize] * self.shares[before as usize];
            }
            next[node] = base * self.jumps[node] + self.damping * inflow;
            change += (next[node] - self.values[node]).abs();
        }
        std::mem::swap(&mut self.values, next);
        change
    }

    /// Runs one sweep of Gauss–Seidel. Returns the sum of absolute changes.
    fn sweep(&mut self) -> f64 {
        let mut change = 0.0;
        for &node in self.nodes {
            let node = node as usize;
            let (mut inflow, mut own) = (0.0, 0.0);
            for &before in self.matrix.predecessors(node) {
                let before = before as usize;
                if before == node {
                    own = self.shares[node];
                } else {
                    inflow += self.values[before] * self.shares[before];
                }
            }
            let value = (self.jumps[node] + self.damping * inflow) / (1.0 - self.damping * own);
            change += (value - self.values[node]).abs();
            self.values[node] = value;
        }
        change
    }
}
