//! [`Graph`] and its folder.
//!
//! This module builds a graph from arcs in any order, opens its folder, and reads a `BVGraph` of other programs.
//! `compress.rs` and `decode.rs` handle the bits.
//!
//! A folder has the files `links-G.properties`, `links-G.graph` and `links-G.offsets`, with G the generation. Any
//! reader of `BVGraph` can open them by the basename `links-G`. The file `manifest` has the current generation
//! and the checksums. A build writes the next generation, renames the manifest into place, and removes the old
//! files. Before the rename the folder is the old graph; after it, the new one.
//!
//! **Invariant.** The bytes in a [`Graph`] decode to `arcs` arcs in `nodes` lists that start at `offsets`.
//! [`Graph::check`] reads them all.

use std::fs;
use std::path::{Path, PathBuf};

use codes::{Code, Gamma, Reader};

use crate::compress::Compressor;
use crate::decode::{Lists, list_at};
use crate::manifest::{self, Manifest, SOURCE_BYTES_MAX, Sum};
use crate::shape::Shape;
use crate::{GraphError, NodeId};

const PREFIX: &str = "links-";

/// A graph, compressed in memory in the format of its file.
#[derive(Debug)]
pub struct Graph {
    shape: Shape,
    source: String,
    bytes: Vec<u8>,
    /// The start of the list of each node, and the end of the last list, in bits.
    offsets: Vec<u64>,
}

impl Graph {
    /// Builds the graph in `dir` and replaces the old one. Arcs may come in any order and more than once.
    pub fn build(
        dir: &Path,
        nodes: u32,
        arcs: impl Iterator<Item = (NodeId, NodeId)>,
    ) -> Result<Graph, GraphError> {
        Graph::build_from("", dir, nodes, arcs)
    }

    /// Builds a graph like [`Graph::build`], and stores `source`, a line that describes its input; see
    /// [`Graph::source`].
    pub fn build_from(
        source: &str,
        dir: &Path,
        nodes: u32,
        arcs: impl Iterator<Item = (NodeId, NodeId)>,
    ) -> Result<Graph, GraphError> {
        if source.len() > SOURCE_BYTES_MAX || source.contains(['\n', '\r']) {
            return Err(GraphError::SourceUnfit { bytes_max: SOURCE_BYTES_MAX });
        }
        let list = sorted(nodes, arcs)?;
        let shape = Shape::new(nodes, list.len() as u64);
        let mut compressor = Compressor::new(shape);
        let mut rest = list.as_slice();
        for node in 0..nodes {
            let (mine, others) = rest.split_at(rest.partition_point(|arc| arc.0 <= node));
            compressor.push(mine.iter().map(|arc| arc.1));
            rest = others;
        }
        let (graph, offsets) = compressor.finish();
        let properties = shape.properties(graph.len() as u64).into_bytes();
        let (graph, offsets) = (padded(graph.into_bytes()), padded(offsets.into_bytes()));
        // Verify that the bytes decode before they are written.
        let graph = Graph::check(shape, source.to_owned(), graph, dir)?;
        graph.check_offsets(&offsets, dir)?;
        write(dir, source, &properties, &graph.bytes, &offsets)?;
        Ok(graph)
    }

    /// Opens the graph in `dir`. Verifies the checksums of the manifest and decodes every list once.
    pub fn open(dir: &Path) -> Result<Graph, GraphError> {
        let manifest = Manifest::open(&dir.join(manifest::NAME))?;
        let base = basename(dir, manifest.generation);
        let properties_path = base.with_extension("properties");
        let properties = manifest.properties.read(&properties_path)?;
        let shape = Shape::parse(&properties, &properties_path)?;
        let graph_path = base.with_extension("graph");
        let graph = manifest.graph.read(&graph_path)?;
        let graph = Graph::check(shape, manifest.source, graph, &graph_path)?;
        let offsets_path = base.with_extension("offsets");
        graph.check_offsets(&manifest.offsets.read(&offsets_path)?, &offsets_path)?;
        Ok(graph)
    }

    /// Reads a `BVGraph` of this or another program from `basename.properties` and `basename.graph`. The graph must
    /// use the default codes of `WebGraph`.
    pub fn import(basename: &Path) -> Result<Graph, GraphError> {
        let path_of = |extension: &str| {
            let mut path = basename.as_os_str().to_owned();
            path.push(".");
            path.push(extension);
            PathBuf::from(path)
        };
        let read = |path: &Path| fs::read(path).map_err(GraphError::io(path));
        let properties = path_of("properties");
        let shape = Shape::parse(&read(&properties)?, &properties)?;
        let graph = path_of("graph");
        Graph::check(shape, String::new(), read(&graph)?, &graph)
    }

    /// The number of nodes.
    pub fn nodes(&self) -> u32 {
        self.shape.nodes
    }

    /// The number of arcs.
    pub fn arcs(&self) -> u64 {
        self.shape.arcs
    }

    /// The source given to [`Graph::build_from`]; empty for other graphs.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The number of bits of the compressed graph per arc; 0 without arcs.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn bits_per_arc(&self) -> f64 {
        let bits = self.offsets.last().copied().unwrap_or(0);
        if self.arcs() == 0 { 0.0 } else { bits as f64 / self.arcs() as f64 }
    }

    /// Passes every arc to `visit`, ordered by source, then by target.
    pub fn for_each_arc(&self, visit: &mut dyn FnMut(NodeId, NodeId)) {
        self.for_each_list(|node, list| {
            for &to in list {
                visit(NodeId(node), NodeId(to));
            }
        });
    }

    /// The successors of `node`, ascending. Empty if `node` does not exist.
    #[expect(clippy::missing_panics_doc, reason = "a graph that exists decodes")]
    pub fn successors(&self, node: NodeId) -> Vec<NodeId> {
        if node.0 >= self.nodes() {
            return Vec::new();
        }
        let list = list_at(self.shape, &self.bytes, &self.offsets, node.0);
        list.expect("every list was read by `check`").into_iter().map(NodeId).collect()
    }

    /// Passes the list of every node to `visit`.
    pub(crate) fn for_each_list(&self, mut visit: impl FnMut(u32, &[u32])) {
        let mut lists = Lists::new(self.shape, &self.bytes);
        for node in 0..self.nodes() {
            visit(node, lists.next_list().expect("every list was read by `check`"));
        }
    }

    /// Decodes every list in `bytes`. Errors name `path`.
    fn check(
        shape: Shape,
        source: String,
        bytes: Vec<u8>,
        path: &Path,
    ) -> Result<Graph, GraphError> {
        // A list takes at least one bit, so more nodes than bits are refused before any allocation.
        if shape.nodes as usize > bytes.len().saturating_mul(8) {
            return Err(GraphError::damaged(path, bytes.len(), "too short for so many nodes"));
        }
        let mut offsets = Vec::with_capacity(shape.nodes as usize + 1);
        offsets.push(0);
        let mut arcs = 0;
        let mut lists = Lists::new(shape, &bytes);
        for node in 0..shape.nodes {
            let start = lists.position() / 8;
            let degree = lists.next_list().map(<[u32]>::len).map_err(|fault| {
                GraphError::damaged(path, start, format!("list of node {node}: {}", fault.0))
            })?;
            arcs += degree as u64;
            if arcs > shape.arcs {
                let reason = format!("more than {} arcs", shape.arcs);
                return Err(GraphError::damaged(path, start, reason));
            }
            offsets.push(lists.position() as u64);
        }
        if arcs != shape.arcs {
            let reason = format!("{arcs} arcs instead of {}", shape.arcs);
            return Err(GraphError::damaged(path, lists.position() / 8, reason));
        }
        Ok(Graph { shape, source, bytes, offsets })
    }

    /// Verifies that the offsets file matches the decoded positions of the lists.
    fn check_offsets(&self, bytes: &[u8], path: &Path) -> Result<(), GraphError> {
        let mut input = Reader::new(bytes);
        let mut before = 0;
        for &offset in &self.offsets {
            if Gamma.read(&mut input) != Some(offset - before) {
                let reason = "not where the lists of the graph start";
                return Err(GraphError::damaged(path, input.position() / 8, reason));
            }
            before = offset;
        }
        Ok(())
    }
}

/// The distinct arcs, ordered by source, then by target.
fn sorted(
    nodes: u32,
    arcs: impl Iterator<Item = (NodeId, NodeId)>,
) -> Result<Vec<(u32, u32)>, GraphError> {
    let mut list = Vec::with_capacity(arcs.size_hint().0);
    for (NodeId(from), NodeId(to)) in arcs {
        if from >= nodes || to >= nodes {
            return Err(GraphError::ArcOutOfRange { from, to, nodes });
        }
        list.push((from, to));
    }
    list.sort_unstable();
    list.dedup();
    Ok(list)
}

/// Pads to whole words of 64 bits, at least one, since readers of `BVGraph` read and map words.
fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(8).max(8), 0);
    bytes
}

fn write(
    dir: &Path,
    source: &str,
    properties: &[u8],
    graph: &[u8],
    offsets: &[u8],
) -> Result<(), GraphError> {
    fs::create_dir_all(dir).map_err(GraphError::io(dir))?;
    let generation = generations(dir)?.into_iter().map(|(g, _)| g).max().unwrap_or(0) + 1;
    let base = basename(dir, generation);
    let write =
        |path: &Path, bytes: &[u8]| durable::replace(path, bytes).map_err(GraphError::io(path));
    write(&base.with_extension("properties"), properties)?;
    write(&base.with_extension("graph"), graph)?;
    write(&base.with_extension("offsets"), offsets)?;
    let manifest = Manifest {
        generation,
        source: source.to_owned(),
        properties: Sum::of(properties),
        graph: Sum::of(graph),
        offsets: Sum::of(offsets),
    };
    write(&dir.join(manifest::NAME), manifest.to_text().as_bytes())?;
    for (other, path) in generations(dir)? {
        if other != generation {
            fs::remove_file(&path).map_err(GraphError::io(&path))?;
        }
    }
    Ok(())
}

fn basename(dir: &Path, generation: u64) -> PathBuf {
    dir.join(format!("{PREFIX}{generation}"))
}

/// The graph files in `dir`, complete or partial, with their generations.
fn generations(dir: &Path) -> Result<Vec<(u64, PathBuf)>, GraphError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(GraphError::io(dir))? {
        let path = entry.map_err(GraphError::io(dir))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('.'));
        if let Some(generation) = number.and_then(|(number, _)| number.parse::<u64>().ok())
            && generation < u64::MAX
        {
            found.push((generation, path));
        }
    }
    Ok(found)
}
