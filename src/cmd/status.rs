//! `crivello status`: the contents of the collection and the stages that are behind.
//!
//! **Invariant.** The command changes nothing but outdated CDXJ files, and needs no right to write.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Result;
use archive::Archive;
use collection::{Clusters, Collection, Directory, LinkGraph, PageTable, Vector, Writer};
use crawl::{CrawlError, CrawlStatus, MissingFile, Recrawl, Report};
use index::{Index, IndexError};
use jobs::Staleness;
use serde::Serialize;

use super::crawl::summary::{facts, missing, waiting};
use crate::config::Config;
use crate::console::{self, Fact, count, thousands};
use crate::context::{Context, Exit, command_line};
use crate::pipeline::{extract_options, merged};

#[derive(clap::Args)]
#[command(after_help = "Example:\n  crivello status --dir my-web --json")]
pub(crate) struct Args {}

/// Number of reasons for having no page that are shown.
const REASONS_SHOWN_MAX: usize = 8;

/// The answer. A stage that was not run yet is absent.
#[derive(Default, Serialize)]
struct Status {
    archive: ArchiveStatus,
    /// The process that writes to the collection now.
    running: Option<Writer>,
    /// Whether the crawl is paused, begun with a list, or a recrawl is unfinished.
    standing: CrawlStatus,
    /// The damage of the state of recrawls.
    recrawl_fault: Option<String>,
    /// The damage of the seeds, without which no crawl continues.
    seeds_fault: Option<String>,
    /// The report of the last crawl that ended.
    crawl: Option<Report>,
    /// The damage of that report.
    crawl_fault: Option<String>,
    pages: Option<PagesStatus>,
    graph: Option<GraphStatus>,
    duplicates: Option<DuplicatesStatus>,
    index: Option<IndexStatus>,
    /// Commands that would bring the collection up to date.
    behind: Vec<&'static str>,
    /// The reason.
    why_behind: Option<String>,
}

#[derive(Default, Serialize)]
struct ArchiveStatus {
    files: usize,
    bytes: u64,
    /// Missing files, unless all their URLs were visited again.
    gone: Vec<String>,
    /// Files that became shorter, unless all their lost URLs were visited again.
    shortened: Vec<String>,
}

#[derive(Serialize)]
struct PagesStatus {
    pages: usize,
    redirects: usize,
    others: usize,
    /// URLs without a page, by reason.
    reasons: BTreeMap<String, u64>,
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
    /// Whether it was imported from another engine, not built from the archive.
    imported: bool,
    /// Names for search.ranks.
    ranks: Vec<String>,
    /// Names for `search --topic`.
    topics: Vec<String>,
}

impl PagesStatus {
    fn of(directory: &Directory) -> Self {
        let pages = directory.entries().len();
        let (redirects, others) = (directory.redirects().len(), directory.others().len());
        let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
        for (_, what) in directory.others() {
            // `why` shows the rest.
            let what = what.split(':').next().unwrap_or_default();
            *reasons.entry(what.to_owned()).or_default() += 1;
        }
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let seen = (pages + redirects + others) as f64;
        let expected_collisions = seen * seen / 2_f64.powi(64);
        Self { pages, redirects, others, reasons, expected_collisions }
    }
}

pub(crate) fn run(_: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    let status = look(&collection, &context.config(&collection)?)?;
    if context.json {
        context.print_json(&status)?;
    } else {
        print(&status, &collection, context)?;
    }
    Ok(Exit::Done)
}

impl ArchiveStatus {
    fn of(collection: &Collection) -> Result<ArchiveStatus> {
        let (dir, frontier) = (collection.archive_dir(), collection.frontier_dir());
        let archive = Archive::open(&dir)?;
        let size = |file: &String| fs::metadata(dir.join(file)).map_or(0, |about| about.len());
        let (files, bytes) = (archive.files().len(), archive.files().iter().map(size).sum());
        let lost: Vec<String> = match crawl::missing_files(&frontier, &archive) {
            Ok(gone) => {
                gone.into_iter().filter(MissingFile::is_missed).map(|file| file.name).collect()
            }
            // Without the right to update CDXJ files it is unknown which URLs are in no other file.
            Err(_) => crawl::lost_files(&frontier, &archive)?.into_iter().collect(),
        };
        let (shortened, gone) = lost.into_iter().partition(|name| archive.files().contains(name));
        Ok(ArchiveStatus { files, bytes, gone, shortened })
    }
}

impl IndexStatus {
    fn of(index: &Index, collection: &Collection) -> IndexStatus {
        let (documents, generation) = (index.live_count(), index.generation());
        let (bytes, imported) =
            (folder_bytes(&collection.index_dir()), collection::is_imported(index));
        let (mut ranks, mut topics) = (Vec::new(), Vec::new());
        for (vector, _) in collection::document_vectors(collection, index) {
            match vector {
                Vector::Rank(name) => ranks.push(name),
                Vector::Topic(name) => topics.push(name),
            }
        }
        IndexStatus { documents, generation, bytes, imported, ranks, topics }
    }
}

/// The state of the crawl, or the damage of its file.
fn standing(collection: &Collection) -> Result<(CrawlStatus, Option<String>)> {
    Ok(match CrawlStatus::read(&collection.frontier_dir()) {
        Err(fault @ CrawlError::Recrawl { .. }) => {
            (CrawlStatus::default(), Some(fault.to_string()))
        }
        standing => (standing?, None),
    })
}

fn look(collection: &Collection, config: &Config) -> Result<Status> {
    let (standing, recrawl_fault) = standing(collection)?;
    let seeds = crawl::check_seeds(&collection.frontier_dir());
    let seeds_fault = seeds.err().map(|error| format!("{:#}", anyhow::Error::new(error)));
    let running = collection.writer();
    let mut status = Status { running, standing, recrawl_fault, seeds_fault, ..Status::default() };
    let mut pages_lag = None;
    status.archive = ArchiveStatus::of(collection)?;
    if collection.archive_dir().is_dir() || !status.archive.gone.is_empty() {
        pages_lag = jobs::extract_staleness(collection, &extract_options(&config.crawl))?;
    }
    match crawl::read_report(&collection.frontier_dir()) {
        Err(fault @ CrawlError::Report { .. }) => status.crawl_fault = Some(fault.to_string()),
        report => status.crawl = report?,
    }
    let table = PageTable::open_current(&collection.pages_dir())?;
    let directory = table.as_ref().map(PageTable::directory);
    status.pages = directory.map(PagesStatus::of);
    let mut rank_lag = Some("there are no ranks yet");
    if let Some(linking) = LinkGraph::open(collection)? {
        let graph = &linking.graph;
        let ranked = collection.ranks_file().is_file();
        let same = directory.is_some_and(|directory| directory.id() == linking.source);
        rank_lag = match (same, ranked) {
            (false, _) => Some("the link graph is older than the pages"),
            (true, false) => rank_lag,
            (true, true) => None,
        };
        let (nodes, arcs, bits_per_arc) = (graph.nodes(), graph.arcs(), graph.bits_per_arc());
        status.graph = Some(GraphStatus { nodes, arcs, bits_per_arc, ranked });
    }
    let folding = match directory {
        Some(directory) => Clusters::open(collection, directory)?,
        None => None,
    };
    status.duplicates = folding.as_ref().map(|folding| {
        let (clusters, folded) = folding.counts();
        DuplicatesStatus { clusters, folded }
    });
    let mut index_staleness = Some("there is no index yet".to_owned());
    match Index::open(&collection.index_dir()) {
        // A first build that was killed has left its folder.
        Err(IndexError::NotAnIndex { .. }) => {}
        // The other stages are still reported.
        Err(error @ IndexError::Version { .. }) => index_staleness = Some(error.to_string()),
        index => {
            let index = index?;
            let lag = match (pages_lag, directory.zip(folding.as_ref())) {
                (Some(lag), _) => Some(lag),
                (None, Some((directory, folding))) => {
                    lag_behind(&index, directory, folding, collection, config)?
                }
                (None, None) => Some(Staleness::Duplicates),
            };
            index_staleness = lag.map(|lag| lag.to_string());
            status.index = Some(IndexStatus::of(&index, collection));
        }
    }
    // `index` updates ranks and duplicates too.
    let lag = if status.index.as_ref().is_some_and(|index| index.imported) {
        // It cannot be built from the archive.
        None
    } else if status.archive.files == 0 {
        Some(("crawl", "the archive is empty".to_owned()))
    } else {
        let of_rank = rank_lag.map(|lag| ("rank", lag.to_owned()));
        index_staleness.map(|lag| ("index", lag)).or(of_rank)
    };
    status.behind.extend(lag.as_ref().map(|(command, _)| *command));
    status.why_behind = lag.map(|(_, lag)| lag);
    Ok(status)
}

/// Why the index is behind its pages and their duplicates; `None` if it is not.
fn lag_behind(
    index: &Index,
    directory: &Directory,
    folding: &Clusters,
    collection: &Collection,
    config: &Config,
) -> Result<Option<Staleness>> {
    if !jobs::is_folded(folding, collection, directory, &config.dedup)? {
        return Ok(Some(Staleness::Duplicates));
    }
    Ok(jobs::index_staleness(index, directory, folding, &config.index, &config.analysis))
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

/// Facts about the last crawl.
fn crawl_facts(report: &Report, crawl: &str) -> Vec<Fact> {
    let ended = if report.interrupted { "Stopped" } else { "Finished" };
    let mut all =
        vec![Fact::new(ended, format!("last crawl at {}", archive::date_text(report.finished_s)))];
    all.extend(facts(report, crawl));
    all.push(Fact::detail("Sites", format!("{} known", thousands(report.hosts))));
    let is_complete =
        !report.unread && report.limit.is_none() && report.waiting + report.put_off == 0;
    all.extend(is_complete.then(|| Fact::detail("Left", "no URL")));
    all.extend(missing(report));
    all.extend(report.aside.iter().map(waiting));
    all
}

/// `gone 12, timeout 3`, the most frequent reasons first. Servers can cause any number of reasons.
fn most_frequent(reasons: &BTreeMap<String, u64>) -> String {
    let mut sorted: Vec<(&String, u64)> =
        reasons.iter().map(|(what, times)| (what, *times)).collect();
    sorted.sort_by_key(|(_, times)| Reverse(*times));
    let rest: u64 = sorted.iter().skip(REASONS_SHOWN_MAX).map(|(_, times)| times).sum();
    let text = |what: &str, times| format!("{what} {}", thousands(times));
    let shown = sorted.iter().take(REASONS_SHOWN_MAX);
    let mut shown: Vec<String> = shown.map(|(what, times)| text(what, *times)).collect();
    shown.extend((rest > 0).then(|| text("others", rest)));
    console::plain(&shown.join(", "))
}

fn archive_facts(archive: &ArchiveStatus) -> Vec<Fact> {
    let files = count(archive.files as u64, "file");
    let mut facts =
        vec![Fact::new("Archive", format!("{files}, {}", console::bytes(archive.bytes)))];
    for files in console::lost_files(&archive.gone, &archive.shortened) {
        facts.push(Fact::new("Missing", format!("{files}; {}", console::SEE_DOCTOR)));
    }
    facts
}

/// Facts about the state of the crawl.
fn standing_facts(standing: &CrawlStatus, collection: &Collection) -> Vec<Fact> {
    let crawl = command_line(collection, "crawl");
    let mut facts = Vec::new();
    if standing.paused {
        facts.push(Fact::new("Paused", "by the file frontier/pause, until it is removed"));
    }
    if standing.list {
        let follow = command_line(collection, "crawl --follow");
        facts.push(Fact::new("List", format!("links are not followed; `{follow}` follows them")));
    }
    if let Some(since_s) = standing.recrawl_since_s {
        let since = archive::date_text(since_s);
        let what = match standing.recrawl {
            Some(Recrawl::Due) => "due pages",
            Some(Recrawl::Given) => "given pages",
            _ => "all pages",
        };
        let left = if standing.recrawl_rest {
            format!("has left sites that were set aside; `{crawl}` tries them")
        } else {
            format!("is unfinished; `{crawl}` continues")
        };
        facts.push(Fact::new("Recrawl", format!("of {what}, started {since}, {left}")));
    }
    facts
}

fn pages_facts(pages: &PagesStatus) -> Vec<Fact> {
    let (urls, redirects) =
        (count(pages.others as u64, "URL"), count(pages.redirects as u64, "redirect"));
    let lost = pages.expected_collisions;
    let lost = if lost < 0.5 { "none expected".to_owned() } else { format!("about {lost:.0}") };
    let reasons = most_frequent(&pages.reasons);
    let mut facts = vec![
        Fact::new("Pages", format!("{} and {redirects}", count(pages.pages as u64, "page"))),
        Fact::detail("Pages", format!("URLs lost to hash collisions: {lost}")),
    ];
    if pages.others > 0 {
        facts.push(Fact::new("No page", format!("{urls}: {reasons}")));
    }
    facts
}

fn index_facts(index: &IndexStatus) -> Vec<Fact> {
    let (documents, bytes) = (count(index.documents, "document"), console::bytes(index.bytes));
    let imported = if index.imported { "; imported, without positions" } else { "" };
    let mut facts = vec![
        Fact::new("Index", format!("{documents}, {bytes}{imported}")),
        Fact::detail("Index", format!("generation {}", index.generation)),
    ];
    for (label, names) in [("Ranks", &index.ranks), ("Topics", &index.topics)] {
        if !names.is_empty() {
            facts.push(Fact::new(label, names.join(", ")));
        }
    }
    facts
}

fn print(status: &Status, collection: &Collection, context: &Context) -> Result<()> {
    let mut facts = archive_facts(&status.archive);
    facts.extend(status.running.as_ref().map(|writer| Fact::new("Running", writer.to_string())));
    facts.extend(standing_facts(&status.standing, collection));
    for (label, fault) in [
        ("Recrawl", &status.recrawl_fault),
        ("Seeds", &status.seeds_fault),
        ("Crawl", &status.crawl_fault),
    ] {
        facts.extend(fault.as_ref().map(|fault| Fact::new(label, console::plain(fault))));
    }
    let crawl = command_line(collection, "crawl");
    facts.extend(status.crawl.iter().flat_map(|report| crawl_facts(report, &crawl)));
    facts.extend(status.pages.iter().flat_map(pages_facts));
    if let Some(graph) = &status.graph {
        let (pages, links) = (count(graph.nodes.into(), "page"), count(graph.arcs, "link"));
        let ranked = if graph.ranked { "" } else { ", not ranked" };
        facts.push(Fact::new("Links", format!("{links} between {pages}{ranked}")));
        facts.push(Fact::detail("Links", format!("{:.2} bits a link", graph.bits_per_arc)));
    }
    if let Some(duplicates) = &status.duplicates {
        facts.push(Fact::new("Merged", merged(duplicates.folded, duplicates.clusters)));
    }
    facts.extend(status.index.iter().flat_map(index_facts));
    for command in &status.behind {
        let why = status.why_behind.as_deref().unwrap_or_default();
        facts.push(Fact::new(
            "Behind",
            format!("run `{}`: {why}", command_line(collection, command)),
        ));
    }
    let mut out = std::io::stdout().lock();
    facts
        .iter()
        .filter(|fact| !fact.is_detail || context.verbose)
        .try_for_each(|fact| fact.write(&mut out))?;
    Ok(())
}
