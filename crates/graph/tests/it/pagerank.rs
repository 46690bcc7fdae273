//! `PageRank` compared with published values and with a dense solution of its equations.

use graph::{DeadEnds, NodeId, PageRankConfig, Solver, pagerank, topic_pagerank};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{build, folder};

const SOLVERS: [Solver; 2] = [Solver::GaussSeidel, Solver::Power];

fn ranks(nodes: u32, arcs: &[(u32, u32)], config: &PageRankConfig) -> graph::Ranks {
    let dir = folder();
    let graph = build(dir.path(), nodes, arcs);
    pagerank(&graph, config, &mut |_, _| {})
}

fn check_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let error: f64 = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).sum();
    assert!(error <= tolerance, "{found:?} is {error:e} from {expected:?}");
}

/// The spider trap of "Mining of Massive Datasets", example 5.6: A→B,C,D; B→A,D; C→C; D→B,C.
#[test]
fn ranks_match_the_textbook_spider_trap() {
    let arcs = [(0, 1), (0, 2), (0, 3), (1, 0), (1, 3), (2, 2), (3, 1), (3, 2)];
    for solver in SOLVERS {
        let config = PageRankConfig { damping: 0.8, epsilon: 1e-13, solver, ..Default::default() };
        let ranks = ranks(4, &arcs, &config);
        check_close(&ranks.values, &[15.0, 19.0, 95.0, 19.0].map(|n| n / 148.0), 1e-12);
    }
}

/// Removed dead ends, "Mining of Massive Datasets", example 5.5: A→B,C,D; B→A,D; C→E; D→B,C, without a jump.
#[test]
fn ranks_match_the_textbook_dead_ends() {
    let arcs = [(0, 1), (0, 2), (0, 3), (1, 0), (1, 3), (2, 4), (3, 1), (3, 2)];
    let dead_ends = DeadEnds::Remove;
    let config = PageRankConfig { damping: 1.0, dead_ends, ..Default::default() };
    let found = ranks(5, &arcs, &config);
    let expected = [2.0 / 9.0, 4.0 / 9.0, 13.0 / 54.0, 3.0 / 9.0, 13.0 / 54.0];
    check_close(&found.values, &expected, 1e-12);
    assert!(found.error_bound.is_infinite(), "without a jump nothing is promised");

    // With a jump, the remaining nodes have the ranks of their own graph: A→B,D; B→A,D; D→B.
    for solver in SOLVERS {
        let config = PageRankConfig { dead_ends, solver, epsilon: 1e-13, ..Default::default() };
        let found = ranks(5, &arcs, &config).values;
        let rest = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 1)];
        let rest = dense(3, &rest, 0.85, &[0, 1, 2]);
        check_close(&[found[0], found[1], found[3]], &rest, 1e-12);
        let c = rest[0] / 3.0 + rest[2] / 2.0;
        check_close(&[found[2], found[4]], &[c, c], 1e-12);
    }
}

/// The teleport set {B, D}, "Mining of Massive Datasets", example 5.10: A→B,C,D; B→A,D; C→A; D→B,C.
#[test]
fn ranks_match_the_textbook_topic() {
    let arcs = [(0, 1), (0, 2), (0, 3), (1, 0), (1, 3), (2, 0), (3, 1), (3, 2)];
    let dir = folder();
    let graph = build(dir.path(), 4, &arcs);
    for solver in SOLVERS {
        let config = PageRankConfig { damping: 0.8, epsilon: 1e-13, solver, ..Default::default() };
        // A repeated node counts once, and numbers that are not nodes are ignored.
        let topic = [1, 3, 1, 4, u32::MAX].map(NodeId);
        let ranks = topic_pagerank(&graph, &config, &topic, &mut |_, _| {});
        check_close(&ranks.values, &[54.0, 59.0, 38.0, 59.0].map(|n| n / 210.0), 1e-12);
        assert!(ranks.error_bound <= 1e-13);
    }
}

#[test]
fn topics_of_all_or_no_pages_are_ranked() {
    let dir = folder();
    let graph = build(dir.path(), 4, &[(0, 1), (1, 0), (1, 2), (2, 3)]);
    let all = [0, 1, 2, 3].map(NodeId);
    for solver in SOLVERS {
        for dead_ends in [DeadEnds::Spread, DeadEnds::Remove] {
            let config = PageRankConfig { solver, dead_ends, ..Default::default() };
            let topic = |nodes: &[NodeId]| topic_pagerank(&graph, &config, nodes, &mut |_, _| {});
            assert_eq!(topic(&all), pagerank(&graph, &config, &mut |_, _| {}), "of all pages");
            let none = topic(&[]);
            assert_eq!((none.values, none.error_bound), (vec![0.0; 4], 0.0));
            assert!(topic(&all[..1]).values.iter().all(|value| value.is_finite()));
        }
        // All nodes of the topic are removed.
        let config =
            PageRankConfig { solver, dead_ends: DeadEnds::Remove, ..PageRankConfig::default() };
        let gone = topic_pagerank(&graph, &config, &all[2..], &mut |_, _| {});
        assert_eq!(gone.values, [0.0; 4]);
    }
}

#[test]
fn empty_and_tiny_graphs_are_ranked() {
    for solver in SOLVERS {
        for dead_ends in [DeadEnds::Spread, DeadEnds::Remove] {
            let config = PageRankConfig { solver, dead_ends, ..Default::default() };
            let none = ranks(0, &[], &config);
            assert_eq!((none.values, none.error_bound), (vec![], 0.0));
            check_close(&ranks(1, &[(0, 0)], &config).values, &[1.0], 1e-9);
            check_close(&ranks(2, &[(0, 0), (1, 1)], &config).values, &[0.5, 0.5], 1e-9);
        }
        let config = PageRankConfig { solver, ..Default::default() };
        check_close(&ranks(4, &[], &config).values, &[0.25; 4], 1e-9);
        // Repeated removal of dead ends removes all nodes.
        let remove = PageRankConfig { dead_ends: DeadEnds::Remove, ..config };
        assert_eq!(ranks(3, &[(0, 1), (1, 2)], &remove).values, [0.0; 3]);
    }
}

#[test]
fn settings_out_of_range_terminate() {
    let arcs = [(0, 1), (1, 0), (1, 2)];
    for solver in SOLVERS {
        for damping in [-1.0, 0.0, 1.0, 7.0, f64::NAN, f64::INFINITY] {
            for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
                let config = PageRankConfig {
                    damping,
                    epsilon,
                    iterations_max: 50,
                    solver,
                    ..Default::default()
                };
                let ranks = ranks(3, &arcs, &config);
                let sum: f64 = ranks.values.iter().sum();
                assert!((sum - 1.0).abs() < 1e-12, "{config:?} gives {ranks:?}");
            }
        }
    }
    let config = PageRankConfig { iterations_max: 0, ..Default::default() };
    let ranks = ranks(2, &[], &config);
    assert_eq!((ranks.values, ranks.iterations), (vec![0.5, 0.5], 0));
    assert!(ranks.error_bound.is_infinite());
}

#[test]
fn progress_is_reported_each_iteration() {
    let dir = folder();
    let graph = build(dir.path(), 3, &[(0, 1), (1, 2), (2, 0), (0, 2)]);
    let mut told = Vec::new();
    let ranks = pagerank(&graph, &PageRankConfig::default(), &mut |i, e| told.push((i, e)));
    assert_eq!(told.len(), ranks.iterations as usize);
    assert!(told.iter().zip(1..).all(|(&(iteration, _), expected)| iteration == expected));
    assert_eq!(told.last(), Some(&(ranks.iterations, ranks.error_bound)));
    assert!(ranks.error_bound <= 1e-9 && told[told.len() - 2].1 > 1e-9);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn ranks_are_within_the_bound_of_the_dense_solution(
        nodes in 1..25_u32, pairs in vec((0..25_u32, 0..25_u32), 0..90), damping in 0.0..0.95,
        exponent in 2..12_i32,
    ) {
        let mut arcs: Vec<_> = pairs.iter().map(|&(a, b)| (a % nodes, b % nodes)).collect();
        arcs.sort_unstable();
        arcs.dedup();
        let all: Vec<u32> = (0..nodes).collect();
        let expected = dense(nodes, &arcs, damping, &all);
        let dir = folder();
        let graph = build(dir.path(), nodes, &arcs);
        for solver in SOLVERS {
            let epsilon = 10_f64.powi(-exponent);
            let config = PageRankConfig { damping, epsilon, solver, ..Default::default() };
            let found = pagerank(&graph, &config, &mut |_, _| {});
            prop_assert!(found.error_bound <= epsilon);
            check_close(&found.values, &expected, found.error_bound + 1e-13);
            let again = pagerank(&graph, &config, &mut |_, _| {});
            prop_assert_eq!(found, again, "twice the same");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn topic_ranks_are_within_the_dense_bound(
        nodes in 1..25_u32, pairs in vec((0..25_u32, 0..25_u32), 0..90), damping in 0.0..0.95,
        topic in vec(0..25_u32, 1..6), exponent in 2..12_i32,
    ) {
        let mut arcs: Vec<_> = pairs.iter().map(|&(a, b)| (a % nodes, b % nodes)).collect();
        arcs.sort_unstable();
        arcs.dedup();
        let mut topic: Vec<u32> = topic.iter().map(|node| node % nodes).collect();
        topic.sort_unstable();
        topic.dedup();
        let expected = dense(nodes, &arcs, damping, &topic);
        let topic: Vec<NodeId> = topic.into_iter().map(NodeId).collect();
        let dir = folder();
        let graph = build(dir.path(), nodes, &arcs);
        for solver in SOLVERS {
            let epsilon = 10_f64.powi(-exponent);
            let config = PageRankConfig { damping, epsilon, solver, ..Default::default() };
            let found = topic_pagerank(&graph, &config, &topic, &mut |_, _| {});
            prop_assert!(found.error_bound <= epsilon);
            check_close(&found.values, &expected, found.error_bound + 1e-13);
        }
    }

    #[test]
    fn in_degrees_count_the_arcs(nodes in 1..25_u32, pairs in vec((0..25_u32, 0..25_u32), 0..90)) {
        let mut arcs: Vec<_> = pairs.iter().map(|&(a, b)| (a % nodes, b % nodes)).collect();
        arcs.sort_unstable();
        arcs.dedup();
        let dir = folder();
        let graph = build(dir.path(), nodes, &arcs);
        let into = |node: u32| arcs.iter().filter(|arc| arc.1 == node).map(|_| 1.0).sum::<f64>();
        prop_assert_eq!(graph::in_degrees(&graph), (0..nodes).map(into).collect::<Vec<_>>());
    }
}

/// Solves (I – βM) x = (1 – β)v by elimination with pivots. Dead ends link to all nodes of the topic, like the jump.
fn dense(nodes: u32, arcs: &[(u32, u32)], damping: f64, topic: &[u32]) -> Vec<f64> {
    let n = nodes as usize;
    let mut rows = vec![vec![0.0; n + 1]; n];
    for from in 0..nodes {
        let mut to: Vec<_> = arcs.iter().filter(|a| a.0 == from).map(|a| a.1 as usize).collect();
        if to.is_empty() {
            to = topic.iter().map(|&node| node as usize).collect();
        }
        let degree = f64::from(u32::try_from(to.len()).expect("a small graph"));
        for &target in &to {
            rows[target][from as usize] -= damping / degree;
        }
    }
    for (i, row) in rows.iter_mut().enumerate() {
        row[i] += 1.0;
        let is_in_topic = topic.iter().any(|&node| node as usize == i);
        let targets = f64::from(u32::try_from(topic.len()).expect("a small graph"));
        row[n] = if is_in_topic { (1.0 - damping) / targets } else { 0.0 };
    }
    for i in 0..n {
        let pivot = (i..n).max_by(|&a, &b| rows[a][i].abs().total_cmp(&rows[b][i].abs()));
        rows.swap(i, pivot.expect("a row is left"));
        let top = rows[i].clone();
        for (at, row) in rows.iter_mut().enumerate() {
            if at != i {
                let factor = row[i] / top[i];
                row.iter_mut().zip(&top).for_each(|(value, above)| *value -= factor * above);
            }
        }
    }
    (0..n).map(|i| rows[i][n] / rows[i][i]).collect()
}
