//! Pages to link graph: an arc for each link between two live pages, redirects followed.
//!
//! **Invariant.** Node `i` of the graph is entry `i` of the directory that `graph/source` identifies. The graph
//! leaves out `nofollow` links, links from a page to itself, and links to URLs outside the collection.

use std::fs;

use graph::{Graph, NodeId};

use crate::rank::remove_vectors;
use crate::{Collection, JobsError, PageTable, Progress, Stage, disk};

const MAGIC: [u8; 8] = *b"CRVLINK\x01";

/// What the stage built.
#[derive(Debug, Clone, Copy, Default, serde::Serialize)]
pub struct LinkReport {
    /// Pages.
    pub nodes: u32,
    /// Links between them.
    pub arcs: u64,
    /// Bits that an arc costs on disk.
    pub bits_per_arc: f64,
    /// Links that lead out of the collection.
    pub outside: u64,
    /// Nothing was to do.
    pub up_to_date: bool,
}

/// The link graph of a collection and the identifier of the directory that numbers its nodes.
pub struct Linking {
    /// Pages and links.
    pub graph: Graph,
    /// The directory it was made from.
    pub source: String,
    /// Links that lead out of the collection.
    pub outside: u64,
}

impl Linking {
    /// Opens the graph. Returns `None` if the collection has no graph.
    pub fn open(collection: &Collection) -> Result<Option<Self>, JobsError> {
        let Some((outside, source)) = read_source(collection)? else { return Ok(None) };
        let graph = Graph::open(&collection.links_dir())?;
        Ok(Some(Self { graph, source, outside }))
    }
}

/// Returns the number of links that lead out of the collection and the identifier of the directory. Returns `None` if
/// the collection has no graph. It does not open the graph, because that decodes all of it.
pub(crate) fn read_source(collection: &Collection) -> Result<Option<(u64, String)>, JobsError> {
    let path = collection.graph_dir().join("source");
    let Some(bytes) = disk::read_sealed(&path, MAGIC)? else { return Ok(None) };
    let pair = std::str::from_utf8(&bytes).ok().and_then(|text| text.split_once(' '));
    let read = pair.and_then(|(outside, source)| Some((outside.parse().ok()?, source.to_owned())));
    let (offset, what) = (MAGIC.len() as u64, "a source that cannot be read");
    read.map(Some).ok_or(JobsError::Damaged { path, offset, what: what.into() })
}

/// Builds the link graph from the page table.
pub fn link(collection: &Collection, progress: Progress<'_>) -> Result<LinkReport, JobsError> {
    let table = PageTable::open(&collection.pages_dir())?;
    let directory = table.directory();
    if let Some(linking) = disk::made_again(Linking::open(collection))?
        && linking.source == directory.id()
    {
        return Ok(report(&linking.graph, linking.outside, true));
    }
    let total = directory.entries().len() as u64;
    let nodes = u32::try_from(total)
        .map_err(|_| JobsError::TooMany { what: "pages", most: u64::from(u32::MAX) })?;
    let (arcs, outside) = arcs_of(&table, total, progress)?;
    let dir = collection.graph_dir();
    fs::create_dir_all(&dir).map_err(JobsError::io(&dir))?;
    // The source is removed first and written last. After a kill in between, the graph has no source, and the next
    // run rebuilds it. The ranks belong to the old graph.
    let source = dir.join("source");
    disk::remove(&source)?;
    remove_vectors(collection, |_| true)?;
    let graph = Graph::build(&collection.links_dir(), nodes, arcs.into_iter())?;
    let text = format!("{outside} {}", directory.id());
    disk::write_sealed(&source, MAGIC, text.as_bytes())?;
    Ok(report(&graph, outside, false))
}

fn arcs_of(
    table: &PageTable,
    total: u64,
    progress: Progress<'_>,
) -> Result<(Vec<(NodeId, NodeId)>, u64), JobsError> {
    let places = table.directory().resolver();
    let mut arcs = Vec::new();
    let (mut done, mut outside) = (0, 0);
    table.each_live(&mut |place, page| {
        let node = u32::try_from(place).expect("the count of pages fits");
        for link in page.links.iter().filter(|link| !link.nofollow) {
            match places.get(link.url.as_str()) {
                Some(&target) if target != node => arcs.push((NodeId(node), NodeId(target))),
                Some(_) => {}
                None => outside += 1,
            }
        }
        done += 1;
        progress(Stage::Link, done, total);
        Ok(())
    })?;
    Ok((arcs, outside))
}

fn report(graph: &Graph, outside: u64, up_to_date: bool) -> LinkReport {
    LinkReport {
        nodes: graph.nodes(),
        arcs: graph.arcs(),
        bits_per_arc: graph.bits_per_arc(),
        outside,
        up_to_date,
    }
}
