//! PageRank by the power method (provisional).

use serde::{Deserialize, Serialize};

use crate::{Graph, NodeId};

/// How PageRank is computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PageRankConfig {
    /// Probability β of following a link rather than jumping anywhere; from 0 to below 1.
    pub damping: f64,
    /// Stop when the error, as the sum of absolute differences, is surely not greater than this.
    pub epsilon: f64,
    /// Stop after so many iterations in any case.
    pub iterations_max: u32,
}

impl Default for PageRankConfig {
    fn default() -> Self {
        PageRankConfig { damping: 0.85, epsilon: 1e-9, iterations_max: 1000 }
    }
}

/// The result of [`pagerank`].
#[derive(Debug, Clone, PartialEq)]
pub struct Ranks {
    /// One value a node; they sum to one.
    pub values: Vec<f64>,
    /// How many iterations it took.
    pub iterations: u32,
    /// Bound on the sum of absolute differences from the true values.
    pub error_bound: f64,
}

/// PageRank of every node. `progress` is told the iteration and the error bound after it.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn pagerank(
    graph: &Graph,
    config: &PageRankConfig,
    progress: &mut dyn FnMut(u32, f64),
) -> Ranks {
    let n = graph.nodes() as usize;
    let mut degree = vec![0_u32; n];
    graph.for_each_arc(&mut |from, _| degree[from.0 as usize] += 1);
    let mut values = vec![1.0 / n.max(1) as f64; n];
    let mut ranks = Ranks { values: Vec::new(), iterations: 0, error_bound: f64::INFINITY };
    while n > 0 && ranks.iterations < config.iterations_max && ranks.error_bound > config.epsilon {
        let dangling: f64 = (0..n).filter(|&i| degree[i] == 0).map(|i| values[i]).sum();
        let base = (1.0 - config.damping + config.damping * dangling) / n as f64;
        let mut next = vec![base; n];
        graph.for_each_arc(&mut |NodeId(from), NodeId(to)| {
            let from = from as usize;
            next[to as usize] += config.damping * values[from] / f64::from(degree[from]);
        });
        let change: f64 = next.iter().zip(&values).map(|(a, b)| (a - b).abs()).sum();
        values = next;
        ranks.iterations += 1;
        ranks.error_bound = config.damping / (1.0 - config.damping) * change;
        progress(ranks.iterations, ranks.error_bound);
    }
    ranks.values = values;
    ranks
}
