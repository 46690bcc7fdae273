//! The graph and its folder (provisional: plain arcs).

use std::fs;
use std::path::Path;

use crate::{GraphError, NodeId};

/// A graph.
#[derive(Debug)]
pub struct Graph {
    nodes: u32,
    arcs: Vec<(u32, u32)>,
}

impl Graph {
    /// Builds the graph in `dir`, replacing what is there.
    pub fn build(
        dir: &Path,
        nodes: u32,
        arcs: impl Iterator<Item = (NodeId, NodeId)>,
    ) -> Result<Graph, GraphError> {
        let mut list = Vec::new();
        for (NodeId(from), NodeId(to)) in arcs {
            if from >= nodes || to >= nodes {
                return Err(GraphError::ArcOutOfRange { from, to, nodes });
            }
            list.push((from, to));
        }
        list.sort_unstable();
        list.dedup();
        let mut bytes = nodes.to_le_bytes().to_vec();
        for (from, to) in &list {
            bytes.extend_from_slice(&from.to_le_bytes());
            bytes.extend_from_slice(&to.to_le_bytes());
        }
        let io = |source| GraphError::Io { path: dir.to_owned(), source };
        fs::create_dir_all(dir).map_err(io)?;
        fs::write(dir.join("arcs"), bytes).map_err(io)?;
        Ok(Graph { nodes, arcs: list })
    }

    /// Opens the graph in `dir`.
    pub fn open(dir: &Path) -> Result<Graph, GraphError> {
        let bytes = fs::read(dir.join("arcs"))
            .map_err(|source| GraphError::Io { path: dir.to_owned(), source })?;
        let numbers: Vec<u32> =
            bytes.as_chunks::<4>().0.iter().map(|chunk| u32::from_le_bytes(*chunk)).collect();
        let (&nodes, rest) = numbers.split_first().ok_or_else(|| GraphError::Damaged {
            file: dir.to_owned(),
            offset: 0,
            reason: "empty".into(),
        })?;
        Ok(Graph { nodes, arcs: rest.as_chunks::<2>().0.iter().map(|&[a, b]| (a, b)).collect() })
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// How many arcs there are.
    pub fn arcs(&self) -> u64 {
        self.arcs.len() as u64
    }

    /// Bits of the compressed graph by arc; 0 without arcs.
    pub fn bits_per_arc(&self) -> f64 {
        if self.arcs.is_empty() { 0.0 } else { 64.0 }
    }

    /// Hands every arc to `visit`, by source, then by target.
    pub fn for_each_arc(&self, visit: &mut dyn FnMut(NodeId, NodeId)) {
        for &(from, to) in &self.arcs {
            visit(NodeId(from), NodeId(to));
        }
    }

    /// The successors of `node`, ascending; none if the graph has no such node.
    pub fn successors(&self, node: NodeId) -> Vec<NodeId> {
        let start = self.arcs.partition_point(|&(from, _)| from < node.0);
        self.arcs[start..].iter().take_while(|a| a.0 == node.0).map(|a| NodeId(a.1)).collect()
    }
}
