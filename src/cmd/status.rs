//! `crivello status`: what the collection holds and which stage is behind.
//!
//! **Invariant.** Looking changes nothing but CDXJ files that are behind, and needs no right to write.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use archive::Archive;
use collection::{Collection, Directory, Folding, Linking, PageTable, Vector, Writer};
use crawl::{CrawlError, GoneFile, Recrawl, Report, SieveReport, Standing};
use index::{Index, IndexError};
use jobs::Lag;
use serde::Serialize;

use super::crawl::aside_fate;
use super::crawl::summary::{again, left, left_out, missing};
use crate::config::Config;
use crate::context::{Context, Exit};
use crate::pipeline::extract_options;
use crate::talk::{self, count};

#[derive(clap::Args)]
#[command(after_help = "Example:\n  crivello status --dir my-web --json")]
pub(crate) struct Args {}

/// Reasons for having no page that are shown.
const REASONS_SHOWN_MAX: usize = 8;

/// The answer; a stage that was not run yet is absent.
#[derive(Default, Serialize)]
struct Status {
    archive: ArchiveStatus,
    /// Who writes to the collection right now.
    running: Option<Writer>,
    /// Whether the crawl is paused, one of a list, or a recrawl is not over.
    standing: Standing,
    /// What is wrong with what tells of recrawls.
    recrawl_fault: Option<String>,
    /// What is wrong with the seeds, without which no crawl goes on.
    seeds_fault: Option<String>,
    /// What the last crawl that came to its end said of itself.
    crawl: Option<Report>,
    /// What is wrong with that, if it cannot be told.
    crawl_fault: Option<String>,
    pages: Option<PagesStatus>,
    graph: Option<GraphStatus>,
    duplicates: Option<DuplicatesStatus>,
    index: Option<IndexStatus>,
    /// Commands that would bring the collection up to date.
    behind: Vec<&'static str>,
    /// Why.
    why_behind: Option<String>,
}

#[derive(Default, Serialize)]
struct ArchiveStatus {
    files: usize,
    bytes: u64,
    /// Files that are gone, unless all that they had was visited again.
    gone: Vec<String>,
    /// The same of those that have become shorter.
    shortened: Vec<String>,
}

#[derive(Serialize)]
struct PagesStatus {
    pages: usize,
    redirects: usize,
    others: usize,
    /// Why these are none.
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
    /// Whether it came from another engine, instead of from the archive.
    imported: bool,
    /// Names that search.ranks can give a weight to.
    ranks: Vec<String>,
    /// Names that a search can choose.
    topics: Vec<String>,
}

impl PagesStatus {
    fn of(directory: &Directory) -> Self {
        let pages = directory.entries().len();
        let (redirects, others) = (directory.redirects().len(), directory.others().len());
        let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
        for (_, what) in directory.others() {
            // What follows is for whoever asks about the URL.
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
        print(&status)?;
    }
    Ok(Exit::Done)
}

impl ArchiveStatus {
    fn of(collection: &Collection) -> Result<ArchiveStatus> {
        let (dir, frontier) = (collection.archive_dir(), collection.frontier_dir());
        let archive = Archive::open(&dir)?;
        let size = |file: &String| fs::metadata(dir.join(file)).map_or(0, |about| about.len());
        let (files, bytes) = (archive.files().len(), archive.files().iter().map(size).sum());
        let lost: Vec<String> = match crawl::gone_files(&frontier, &archive) {
            Ok(gone) => {
                gone.into_iter().filter(GoneFile::is_missed).map(|file| file.name).collect()
            }
            // Without the right to bring CDXJ files up to date nobody can tell what is in no other file.
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

/// What is still to be done with the crawl, and what is wrong if that cannot be told.
fn standing(collection: &Collection) -> Result<(Standing, Option<String>)> {
    Ok(match Standing::read(&collection.frontier_dir()) {
        Err(fault @ CrawlError::Recrawl { .. }) => (Standing::default(), Some(fault.to_string())),
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
        pages_lag = jobs::extract_lag(collection, &extract_options(&config.crawl))?;
    }
    match crawl::read_report(&collection.frontier_dir()) {
        Err(fault @ CrawlError::Report { .. }) => status.crawl_fault = Some(fault.to_string()),
        report => status.crawl = report?,
    }
    let table = PageTable::open_current(&collection.pages_dir())?;
    let directory = table.as_ref().map(PageTable::directory);
    status.pages = directory.map(PagesStatus::of);
    let mut rank_lag = Some("there are no ranks yet");
    if let Some(linking) = Linking::open(collection)? {
        let graph = &linking.graph;
        let ranked = collection.ranks_file().is_file();
        let same = directory.is_some_and(|directory| directory.id() == linking.source);
        rank_lag = match (same, ranked) {
            (false, _) => Some("the link graph is of other pages than were read since"),
            (true, false) => rank_lag,
            (true, true) => None,
        };
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
    let mut index_lag = Some("there is no index yet".to_owned());
    match Index::open(&collection.index_dir()) {
        // A first one that was killed has left its folder.
        Err(IndexError::NotAnIndex { .. }) => {}
        // The rest can be told all the same.
        Err(error @ IndexError::Version { .. }) => index_lag = Some(error.to_string()),
        index => {
            let index = index?;
            let lag = match (pages_lag, directory.zip(folding.as_ref())) {
                (Some(lag), _) => Some(lag),
                (None, Some((directory, folding))) => {
                    lag_behind(&index, directory, folding, collection, config)?
                }
                (None, None) => Some(Lag::Duplicates),
            };
            index_lag = lag.map(|lag| lag.to_string());
            status.index = Some(IndexStatus::of(&index, collection));
        }
    }
    // The index takes ranks and duplicates along.
    let lag = if status.index.as_ref().is_some_and(|index| index.imported) {
        // There is nothing to make it from.
        None
    } else if status.archive.files == 0 {
        Some(("crawl", "the archive is empty".to_owned()))
    } else {
        let of_rank = rank_lag.map(|lag| ("rank", lag.to_owned()));
        index_lag.map(|lag| ("index", lag)).or(of_rank)
    };
    status.behind.extend(lag.as_ref().map(|(command, _)| *command));
    status.why_behind = lag.map(|(_, lag)| lag);
    Ok(status)
}

/// Why an index is to be brought up to date with the pages and their duplicates; `None` if it is.
fn lag_behind(
    index: &Index,
    directory: &Directory,
    folding: &Folding,
    collection: &Collection,
    config: &Config,
) -> Result<Option<Lag>> {
    if !jobs::is_folded(folding, collection, directory, &config.dedup)? {
        return Ok(Some(Lag::Duplicates));
    }
    Ok(jobs::index_lag(index, directory, folding, &config.index, &config.analysis))
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
    // A run that could not tell, and none before it that could.
    let is_unknown = report.unread && report.hosts == 0;
    let (pages, hosts) = (count(report.pages, "page"), count(report.hosts, "host"));
    let all = format!("{pages} archived and {hosts} known in all; ");
    writeln!(
        out,
        "last crawl  {ended} {}: {}, {}, {} in {} s; {}{}",
        archive::date_text(report.finished_s),
        count(report.pages_new, "new page"),
        count(report.requests, "request"),
        talk::bytes(report.bytes),
        report.elapsed_ms / 1000,
        if is_unknown { "" } else { &all },
        left(report).unwrap_or_else(|| {
            let which = if report.alone { "no URL of its own" } else { "no URL" };
            format!("{which} is left")
        }),
    )?;
    if report.held > 0 {
        let held = count(report.held, "URL");
        writeln!(out, "            {held} left for a crawl that follows links")?;
    }
    if report.recrawled {
        writeln!(out, "            {}", again(report))?;
    }
    for part in missing(report).into_iter().chain(left_out(report)) {
        writeln!(out, "            {part}")?;
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

/// Reasons for having no page, behind a blank and in parentheses; servers may make up as many as they like.
fn most_frequent(reasons: &BTreeMap<String, u64>) -> String {
    let mut sorted: Vec<(&String, u64)> =
        reasons.iter().map(|(what, times)| (what, *times)).collect();
    sorted.sort_by_key(|(_, times)| Reverse(*times));
    let rest: u64 = sorted.iter().skip(REASONS_SHOWN_MAX).map(|(_, times)| times).sum();
    let shown = sorted.iter().take(REASONS_SHOWN_MAX);
    let mut shown: Vec<String> = shown.map(|(what, times)| format!("{what} {times}")).collect();
    shown.extend((rest > 0).then(|| format!("others {rest}")));
    if shown.is_empty() { String::new() } else { format!(" ({})", talk::plain(&shown.join(", "))) }
}

fn print_index(out: &mut impl Write, index: &IndexStatus) -> Result<()> {
    let bytes = talk::bytes(index.bytes);
    writeln!(
        out,
        "index       {}, {bytes}, generation {}{}",
        count(index.documents, "document"),
        index.generation,
        if index.imported { "; imported, without positions" } else { "" }
    )?;
    for (what, names) in [("ranks ", &index.ranks), ("topics", &index.topics)] {
        if !names.is_empty() {
            writeln!(out, "{what}      {}", names.join(", "))?;
        }
    }
    Ok(())
}

fn print_archive(out: &mut impl Write, archive: &ArchiveStatus) -> Result<()> {
    let files = count(archive.files as u64, "file");
    writeln!(out, "archive     {files}, {}", talk::bytes(archive.bytes))?;
    for files in talk::lost_files(&archive.gone, &archive.shortened) {
        writeln!(out, "            {files}; {}", talk::WHO_TELLS_LOST)?;
    }
    Ok(())
}

fn print(status: &Status) -> Result<()> {
    let mut out = std::io::stdout().lock();
    print_archive(&mut out, &status.archive)?;
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
        let what = match status.standing.recrawl {
            Some(Recrawl::Due) => "what was due",
            Some(Recrawl::Given) => "what was given",
            _ => "everything",
        };
        let left = if status.standing.recrawl_rest {
            "has left hosts that were set aside: `crivello crawl` asks them"
        } else {
            "is not over: `crivello crawl` goes on"
        };
        writeln!(out, "crawl       a recrawl of {what} since {since} {left}")?;
    }
    if let Some(fault) = &status.recrawl_fault {
        writeln!(out, "recrawl     {}", talk::plain(fault))?;
    }
    if let Some(fault) = &status.seeds_fault {
        writeln!(out, "seeds       {}", talk::plain(fault))?;
    }
    if let Some(fault) = &status.crawl_fault {
        writeln!(out, "last crawl  {}", talk::plain(fault))?;
    }
    if let Some(report) = &status.crawl {
        print_crawl(&mut out, report)?;
    }
    if let Some(pages) = &status.pages {
        let reasons = most_frequent(&pages.reasons);
        writeln!(
            out,
            "pages       {}, {}, {} without a page{reasons}; {:.1e} expected signature collisions",
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
        print_index(&mut out, index)?;
    }
    for command in &status.behind {
        let why = status.why_behind.as_deref().unwrap_or_default();
        writeln!(out, "behind      run `crivello {command}`: {why}")?;
    }
    Ok(())
}
