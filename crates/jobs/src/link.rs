//! Pages to link graph: an arc for each link between two live pages, redirects followed.
//!
//! **Invariant.** Node `i` of the graph is entry `i` of the directory that `graph/source` identifies. The graph
//! leaves out `nofollow` links, links from a page to itself, and links to URLs outside the collection.

use std::fs;

use collection::{Collection, CollectionError, LinkGraph, PageTable, made_again, remove_vectors};
use graph::{Graph, NodeId};

use crate::{JobsError, Progress, Stage};

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

/// Builds the link graph from the page table.
pub fn link(collection: &Collection, progress: Progress<'_>) -> Result<LinkReport, JobsError> {
    let table = PageTable::open(&collection.pages_dir())?;
    let directory = table.directory();
    if let Some(linking) = made_again(LinkGraph::open(collection))?
        && linking.source == directory.id()
    {
        return Ok(report(&linking.graph, linking.outside, true));
    }
    let total = directory.entries().len() as u64;
    let nodes = u32::try_from(total)
        .map_err(|_| CollectionError::TooMany { what: "pages", most: u64::from(u32::MAX) })?;
    let (arcs, outside) = arcs_of(&table, total, progress)?;
    let dir = collection.graph_dir();
    fs::create_dir_all(&dir).map_err(CollectionError::io(&dir))?;
    // The source is removed first and written last. After a kill in between, the graph has no source, and the next
    // run rebuilds it. The ranks belong to the old graph.
    LinkGraph::remove_source(collection)?;
    remove_vectors(collection, |_| true)?;
    let graph = Graph::build(&collection.links_dir(), nodes, arcs.into_iter())?;
    LinkGraph::write_source(collection, outside, directory.id())?;
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
