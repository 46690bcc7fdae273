//! `crivello status`: what the collection holds and which stage is behind.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use archive::Archive;
use index::Index;
use jobs::{Collection, Folding, Linking, PageTable};
use serde::Serialize;

use crate::context::{Context, Exit};
use crate::talk;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  crivello status --dir my-web --json")]
pub(crate) struct Args {}

/// The answer; a stage that was not run yet is absent.
#[derive(Default, Serialize)]
struct Status {
    archive: ArchiveStatus,
    pages: Option<PagesStatus>,
    graph: Option<GraphStatus>,
    duplicates: Option<DuplicatesStatus>,
    index: Option<IndexStatus>,
    /// Commands that would bring the collection up to date.
    behind: Vec<&'static str>,
}

#[derive(Default, Serialize)]
struct ArchiveStatus {
    files: usize,
    bytes: u64,
}

#[derive(Serialize)]
struct PagesStatus {
    pages: usize,
    redirects: usize,
    others: usize,
    /// Expected collisions of 64-bit signatures among the URLs seen: k²/2^64.
    expected_collisions: f64,
}

#[derive(Serialize)]
struct GraphStatus {
    nodes: u32,
    arcs: u64,
    bits_per_arc: f64,
    ranked: bool,
}

#[derive(Serialize)]
struct DuplicatesStatus {
    clusters: u64,
    folded: u64,
}

#[derive(Serialize)]
struct IndexStatus {
    documents: u64,
    generation: u64,
    bytes: u64,
}

pub(crate) fn run(_: &Args, context: &Context) -> Result<Exit> {
    let status = look(&context.collection()?)?;
    if context.json {
        context.print_json(&status)?;
    } else {
        print(&status)?;
    }
    Ok(Exit::Done)
}

fn look(collection: &Collection) -> Result<Status> {
    let archive_dir = collection.archive_dir();
    let files = if archive_dir.is_dir() {
        Archive::open(&archive_dir)?.files().to_vec()
    } else {
        Vec::new()
    };
    let mut status = Status::default();
    let size = |file: &String| fs::metadata(archive_dir.join(file)).map_or(0, |about| about.len());
    status.archive = ArchiveStatus { files: files.len(), bytes: files.iter().map(size).sum() };
    let mut directory_id = String::new();
    if collection.pages_dir().join("directory").is_file() {
        let table = PageTable::open(&collection.pages_dir())?;
        let directory = table.directory();
        directory.id().clone_into(&mut directory_id);
        let (pages, redirects, others) =
            (directory.entries().len(), directory.redirects().len(), directory.others().len());
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let seen = (pages + redirects + others) as f64;
        let expected_collisions = seen * seen / 2_f64.powi(64);
        status.pages = Some(PagesStatus { pages, redirects, others, expected_collisions });
    }
    if let Some(linking) = Linking::open(collection)? {
        let graph = &linking.graph;
        let ranked = collection.ranks_file().is_file();
        if linking.source != directory_id || !ranked {
            status.behind.push("rank");
        }
        let (nodes, arcs, bits_per_arc) = (graph.nodes(), graph.arcs(), graph.bits_per_arc());
        status.graph = Some(GraphStatus { nodes, arcs, bits_per_arc, ranked });
    }
    if let Some(folding) = Folding::open(collection)? {
        let (clusters, folded) = folding.counts();
        status.duplicates = Some(DuplicatesStatus { clusters, folded });
    }
    let index_dir = collection.index_dir();
    if index_dir.is_dir() {
        let index = Index::open(&index_dir)?;
        if !index.source().starts_with(&directory_id) {
            status.behind.push("index");
        }
        let (documents, generation) = (index.doc_count(), index.generation());
        status.index = Some(IndexStatus { documents, generation, bytes: folder_bytes(&index_dir) });
    } else {
        status.behind.push("index");
    }
    Ok(status)
}

fn folder_bytes(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(about) if about.is_dir() => folder_bytes(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

fn print(status: &Status) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let archive = &status.archive;
    writeln!(out, "archive     {} files, {}", archive.files, talk::bytes(archive.bytes))?;
    if let Some(pages) = &status.pages {
        writeln!(
            out,
            "pages       {} pages, {} redirects, {} URLs without a page; {:.1e} expected signature collisions",
            pages.pages, pages.redirects, pages.others, pages.expected_collisions
        )?;
    }
    if let Some(graph) = &status.graph {
        let ranked = if graph.ranked { "ranked" } else { "not ranked" };
        let (nodes, arcs, bits) = (graph.nodes, graph.arcs, graph.bits_per_arc);
        writeln!(out, "graph       {nodes} nodes, {arcs} arcs, {bits:.2} bits an arc, {ranked}")?;
    }
    if let Some(duplicates) = &status.duplicates {
        let (clusters, folded) = (duplicates.clusters, duplicates.folded);
        writeln!(out, "duplicates  {folded} pages folded behind {clusters} others")?;
    }
    if let Some(index) = &status.index {
        let bytes = talk::bytes(index.bytes);
        writeln!(
            out,
            "index       {} documents, {bytes}, generation {}",
            index.documents, index.generation
        )?;
    }
    for command in &status.behind {
        writeln!(out, "behind      run `crivello {command}`")?;
    }
    Ok(())
}
