//! `crivello status`: what the collection holds and which stage is behind.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use archive::Archive;
use crawl::{Recrawl, Report, SieveReport};
use index::Index;
use jobs::{Collection, Directory, Folding, Linking, PageTable, Writer};
use serde::Serialize;

use super::crawl::summary::again;
use super::crawl::{aside_fate, list};
use crate::config::Config;
use crate::context::{Context, Exit};
use crate::pipeline::extract_options;
use crate::talk::{self, count};

#[derive(clap::Args)]
#[command(after_help = "Example:\n  crivello status --dir my-web --json")]
pub(crate) struct Args {}

/// The answer; a stage that was not run yet is absent.
#[derive(Default, Serialize)]
struct Status {
    archive: ArchiveStatus,
    /// Who writes to the collection right now.
    running: Option<Writer>,
    /// Whether the crawl is paused, one of a list, or a recrawl is not over.
    standing: crawl::Standing,
    /// What the last crawl that came to its end said of itself.
    crawl: Option<Report>,
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

impl PagesStatus {
    fn of(directory: &Directory) -> Self {
        let pages = directory.entries().len();
        let (redirects, others) = (directory.redirects().len(), directory.others().len());
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let seen = (pages + redirects + others) as f64;
        Self { pages, redirects, others, expected_collisions: seen * seen / 2_f64.powi(64) }
    }
}

pub(crate) fn run(_: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    let status = look(&collection, &context.config(&collection)?)?;
    if context.json {
        context.print_json(&status)?;
    } else {
        print(&status)?;
    }
    Ok(Exit::Done)
}

fn look(collection: &Collection, config: &Config) -> Result<Status> {
    let standing = crawl::Standing::read(&collection.frontier_dir())?;
    let mut status = Status { standing, running: collection.writer(), ..Status::default() };
    let mut pages_behind = false;
    let archive_dir = collection.archive_dir();
    if archive_dir.is_dir() {
        let archive = Archive::open(&archive_dir)?;
        let size =
            |file: &String| fs::metadata(archive_dir.join(file)).map_or(0, |about| about.len());
        let (files, bytes) = (archive.files().len(), archive.files().iter().map(size).sum());
        status.archive = ArchiveStatus { files, bytes };
        pages_behind = !jobs::is_extracted(collection, &extract_options(&config.crawl))?;
    }
    status.crawl = crawl::read_report(&collection.frontier_dir())?;
    let has_pages = collection.pages_dir().join("directory").is_file();
    let table = has_pages.then(|| PageTable::open(&collection.pages_dir())).transpose()?;
    let directory = table.as_ref().map(PageTable::directory);
    status.pages = directory.map(PagesStatus::of);
    let mut rank_behind = true;
    if let Some(linking) = Linking::open(collection)? {
        let graph = &linking.graph;
        let ranked = collection.ranks_file().is_file();
        let same = directory.is_some_and(|directory| directory.id() == linking.source);
        rank_behind = !same || !ranked;
        let (nodes, arcs, bits_per_arc) = (graph.nodes(), graph.arcs(), graph.bits_per_arc());
        status.graph = Some(GraphStatus { nodes, arcs, bits_per_arc, ranked });
    }
    let folding = match directory {
        Some(directory) => Folding::open(collection, directory)?,
        None => None,
    };
    status.duplicates = folding.as_ref().map(|folding| {
        let (clusters, folded) = folding.counts();
        DuplicatesStatus { clusters, folded }
    });
    let index_dir = collection.index_dir();
    let mut index_behind = true;
    if index_dir.is_dir() {
        let index = Index::open(&index_dir)?;
        let same = match directory.zip(folding.as_ref()) {
            Some((directory, folding)) => {
                jobs::is_folded(folding, collection, directory, &config.dedup)?
                    && jobs::is_indexed(&index, directory, folding, &config.index, &config.analysis)
            }
            None => false,
        };
        index_behind = pages_behind || !same;
        let (documents, generation) = (index.live_count(), index.generation());
        status.index = Some(IndexStatus { documents, generation, bytes: folder_bytes(&index_dir) });
    }
    // The index takes ranks and duplicates along.
    if status.archive.files == 0 {
        status.behind.push("crawl");
    } else if index_behind {
        status.behind.push("index");
    } else if rank_behind {
        status.behind.push("rank");
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

fn print_crawl(out: &mut impl Write, report: &Report) -> Result<()> {
    let ended = if report.interrupted { "stopped" } else { "ended" };
    writeln!(
        out,
        "last crawl  {ended} {}: {}, {}, {} in {} s; {}, {} waiting",
        archive::date_text(report.finished_s),
        count(report.pages_new, "new page"),
        count(report.requests, "request"),
        talk::bytes(report.bytes),
        report.elapsed_ms / 1000,
        count(report.hosts, "host"),
        count(report.waiting, "URL"),
    )?;
    if report.held > 0 {
        let held = count(report.held, "URL");
        writeln!(out, "            {held} left for a crawl that follows links")?;
    }
    if report.recrawled {
        let asked = count(report.asked, "known URL");
        writeln!(out, "            asked for {asked} again: {}", again(report))?;
    }
    let robots = BTreeMap::from([("robots.txt".to_owned(), report.forbidden_by_robots)]);
    for (name, counts) in [
        ("failed", &report.failures),
        ("refused", &report.refused),
        ("forbidden", &robots),
        ("dropped", &report.dropped),
    ] {
        let counts = list(counts);
        if !counts.is_empty() {
            writeln!(out, "            {name}: {counts}")?;
        }
    }
    for aside in &report.aside {
        let (why, fate) = (talk::plain(&aside.why), aside_fate(aside));
        writeln!(out, "            set aside {}: {why}; {fate}", aside.host)?;
    }
    print_sieve(out, &report.sieve)
}

fn print_sieve(out: &mut impl Write, sieve: &SieveReport) -> Result<()> {
    writeln!(
        out,
        "sieve       {}, {} offered, {} new; the cache caught {:.0} % of the links; {} memory, {} disk",
        sieve.kind,
        count(sieve.offered, "URL"),
        sieve.emitted,
        100.0 * sieve.cache_hit_rate,
        talk::bytes(sieve.memory_bytes),
        talk::bytes(sieve.disk_bytes),
    )?;
    writeln!(
        out,
        "            expected signature collisions {:.1e}, false positives {:.1e} ({:.1e} planned)",
        sieve.expected_collisions, sieve.false_positive_rate, sieve.planned_false_positive_rate,
    )?;
    Ok(())
}

fn print(status: &Status) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let archive = &status.archive;
    let files = count(archive.files as u64, "file");
    writeln!(out, "archive     {files}, {}", talk::bytes(archive.bytes))?;
    if let Some(writer) = &status.running {
        writeln!(out, "running     {writer}")?;
    }
    if status.standing.paused {
        writeln!(out, "crawl       paused; remove frontier/pause to go on")?;
    }
    if status.standing.list {
        writeln!(
            out,
            "crawl       a list: no link is followed, unless `crivello crawl --follow` says so"
        )?;
    }
    if let Some(since_s) = status.standing.recrawl_since_s {
        let since = archive::date_text(since_s);
        let due = status.standing.recrawl == Some(Recrawl::Due);
        let what = if due { "what was due" } else { "everything" };
        let left = if status.standing.recrawl_rest {
            "has left hosts that were set aside: `crivello crawl` asks them"
        } else {
            "is not over: `crivello crawl` goes on"
        };
        writeln!(out, "crawl       a recrawl of {what} since {since} {left}")?;
    }
    if let Some(report) = &status.crawl {
        print_crawl(&mut out, report)?;
    }
    if let Some(pages) = &status.pages {
        writeln!(
            out,
            "pages       {}, {}, {} without a page; {:.1e} expected signature collisions",
            count(pages.pages as u64, "page"),
            count(pages.redirects as u64, "redirect"),
            count(pages.others as u64, "URL"),
            pages.expected_collisions
        )?;
    }
    if let Some(graph) = &status.graph {
        let ranked = if graph.ranked { "ranked" } else { "not ranked" };
        let (nodes, arcs) = (count(graph.nodes.into(), "node"), count(graph.arcs, "arc"));
        let bits = graph.bits_per_arc;
        writeln!(out, "graph       {nodes}, {arcs}, {bits:.2} bits an arc, {ranked}")?;
    }
    if let Some(duplicates) = &status.duplicates {
        let folded = count(duplicates.folded, "page");
        let clusters = count(duplicates.clusters, "other");
        writeln!(out, "duplicates  {folded} folded behind {clusters}")?;
    }
    if let Some(index) = &status.index {
        let bytes = talk::bytes(index.bytes);
        writeln!(
            out,
            "index       {}, {bytes}, generation {}",
            count(index.documents, "document"),
            index.generation
        )?;
    }
    for command in &status.behind {
        writeln!(out, "behind      run `crivello {command}`")?;
    }
    Ok(())
}
