//! The batch stages as commands run them, with progress and a summary on standard error.
//!
//! **Invariant.** Every command that runs a stage first brings the page table up to date with the archive. Order:
//! pages, graph, ranks, duplicates, index. Ranks come before duplicates, since the representative of a cluster is
//! its best ranked page.

use std::sync::Arc;

use anyhow::Result;
use archive::Archive;
use collection::{Collection, PageTable};
use crawl::{MissingFile, Normalisation};
use index::IndexError;
use jobs::{
    ExtractOptions, ExtractReport, FoldReport, IndexReport, LinkReport, LinkTarget, RankReport,
    Reuse, TopicReport,
};
use page::Url;
use serde::Serialize;

use crate::config::Config;
use crate::console::{self, Stages, count, thousands};
use crate::context::{Context, Exit, command_line};

/// Number of pages with a cut text that are named.
const CUT_SHOWN_MAX: usize = 3;

/// Updates the page table, then runs `stages`. `--json` prints their report.
pub(crate) fn run<T: Serialize>(
    command: &str,
    context: &Context,
    stages: impl FnOnce(&Pipeline<'_>) -> Result<T>,
) -> Result<Exit> {
    let collection = context.collection()?;
    let config = context.config(&collection)?;
    let _lock = collection.lock(command)?;
    let pipeline = Pipeline::of(&collection, &config, context);
    pipeline.extract()?;
    let report = stages(&pipeline)?;
    if context.json {
        context.print_json(&report)?;
    }
    Ok(Exit::Done)
}

/// Runs stages of one collection.
pub(crate) struct Pipeline<'a> {
    collection: &'a Collection,
    config: &'a Config,
    context: &'a Context,
}

impl<'a> Pipeline<'a> {
    pub(crate) fn of(collection: &'a Collection, config: &'a Config, context: &'a Context) -> Self {
        Self { collection, config, context }
    }

    pub(crate) fn extract(&self) -> Result<ExtractReport> {
        for damage in collection::discard_damaged(self.collection)? {
            self.say("Damaged", format!("{}; it is built again", damage.fault()));
        }
        for (damage, aside) in collection::set_aside_damaged_ranks(self.collection)? {
            self.say(
                "Damaged",
                format!(
                    "{}; the file is now {} and its rank is gone: `crivello rank import` brings it back",
                    damage.fault(),
                    aside.display()
                ),
            );
        }
        let options = extract_options(&self.config.crawl);
        let report = self.with_bar(|stages| {
            jobs::extract(self.collection, &options, &|stage, done, total| {
                stages.report(stage, done, total);
            })
        })?;
        for damage in &report.damages {
            self.say("Damaged", damage);
        }
        if report.damaged > 0 {
            let crawl = command_line(self.collection, "crawl --recrawl");
            self.say(
                "Remedy",
                format!(
                    "{} left out; `{crawl}` fetches the missing pages. Or restore the file in archive/, delete \
                     pages/ and run this again",
                    count(report.damaged, "damaged place"),
                ),
            );
        }
        if report.cut > 0 {
            let bytes = extract_options(&self.config.crawl).page.text_bytes_max as u64;
            let (pages, bytes) = (count(report.cut, "page"), count(bytes, "byte"));
            let urls = cut_urls(&report);
            self.say(
                "Cut",
                format!("{pages}: only the first {bytes} of text are searched: {urls}"),
            );
        }
        if report.files_read > 0 {
            self.say(
                "Read",
                format!(
                    "{} from {}",
                    count(report.pages, "page"),
                    count(report.files_read, "archive file")
                ),
            );
            let (redirects, others) =
                (count(report.redirects, "redirect"), count(report.others, "URL"));
            self.context.detail("Read", format!("{redirects}, {others} without a page"));
        }
        Ok(report)
    }

    pub(crate) fn rank(&self) -> Result<(LinkReport, RankReport)> {
        let (link, rank) = self.with_bar(|stages| {
            let progress = |stage, done, total| stages.report(stage, done, total);
            let link = jobs::link(self.collection, &progress)?;
            let rank = jobs::rank(self.collection, &self.config.rank, &progress)?;
            Ok((link, rank))
        })?;
        if rank.nodes > 0 {
            let (pages, links) = (count(rank.nodes.into(), "page"), count(rank.arcs, "link"));
            self.say("Ranked", format!("{pages} by {links}"));
            let rounds = count(rank.iterations.into(), "round");
            let (error, bits) = (rank.error_bound, link.bits_per_arc);
            self.context.detail("PageRank", format!("{rounds}, error at most {error:.0e}"));
            self.context.detail("Links", format!("{bits:.2} bits a link"));
        }
        for topic in &rank.topics {
            self.say("Topic", topic_text(topic));
        }
        Ok((link, rank))
    }

    pub(crate) fn fold(&self) -> Result<FoldReport> {
        let report = self.with_bar(|stages| {
            jobs::fold(self.collection, &self.config.dedup, &|stage, done, total| {
                stages.report(stage, done, total);
            })
        })?;
        if report.pages > 0 {
            self.say("Merged", merged(report.folded, report.clusters));
        }
        Ok(report)
    }

    pub(crate) fn index(&self, reuse: Reuse) -> Result<IndexReport> {
        let report = self.with_bar(|stages| {
            let progress = |stage, done, total| stages.report(stage, done, total);
            let warn = |fault: &IndexError| self.warn(fault);
            let Config { index, analysis, .. } = self.config;
            jobs::build_index(self.collection, index, analysis, reuse, &warn, &progress)
        })?;
        let kept = report.documents - report.added;
        let note = if report.up_to_date {
            " (nothing new)".to_owned()
        } else if kept > 0 {
            let [added, removed] = [report.added, report.removed].map(thousands);
            format!(" ({added} new or changed, {removed} gone or changed)")
        } else {
            String::new()
        };
        self.say("Indexed", format!("{}{note}", count(report.documents, "document")));
        if report.documents == 0 {
            self.say("Empty", empty(self.collection));
        }
        self.say_lost()?;
        Ok(report)
    }

    /// Reports why the present index cannot be used.
    fn warn(&self, fault: &IndexError) {
        let label = if let IndexError::Damaged { .. } = fault { "Damaged" } else { "Note" };
        self.say(label, format!("{}; all pages are indexed again", fault.fault()));
    }

    /// Reports archive files that are missing or shorter, and pages whose newest version was in them.
    fn say_lost(&self) -> Result<()> {
        let archive = Archive::open(&self.collection.archive_dir())?;
        let lost = match crawl::missing_files(&self.collection.frontier_dir(), &archive) {
            Ok(lost) => lost,
            // The index does not depend on it.
            Err(error) => {
                self.say("Note", format!("cannot check for missing archive files: {error}"));
                return Ok(());
            }
        };
        let missed = lost.iter().filter(|file| file.is_missed());
        let (shortened, gone): (Vec<_>, Vec<_>) = missed.partition(|file| file.is_shorter);
        let [gone, shortened] = [gone, shortened]
            .map(|files| files.iter().map(|file| file.name.clone()).collect::<Vec<_>>());
        for files in console::lost_files(&gone, &shortened) {
            self.say("Missing", format!("{files}; {}", console::SEE_DOCTOR));
        }
        let older = self.older_pages(&lost)?;
        if older > 0 {
            let crawl = command_line(self.collection, "crawl --recrawl");
            let pages = count(older, "page");
            self.say(
                "Older",
                format!(
                    "{pages} in an older version: the newer one is lost; `{crawl}` fetches it again"
                ),
            );
        }
        Ok(())
    }

    /// Returns the number of pages whose newest version was in these archive files.
    fn older_pages(&self, lost: &[MissingFile]) -> Result<u64> {
        if lost.iter().all(|file| file.newest.is_empty() && file.bodies.is_empty()) {
            return Ok(0);
        }
        let table = PageTable::open(&self.collection.pages_dir())?;
        let lost = lost.iter().flat_map(|file| file.newest.iter().chain(&file.bodies));
        Ok(lost.filter(|url| table.directory().find(url).is_some()).count() as u64)
    }

    fn with_bar<T>(&self, stage: impl FnOnce(&Stages) -> Result<T, jobs::JobsError>) -> Result<T> {
        let stages = Stages::start(self.context.quiet);
        let result = stage(&stages);
        stages.clear();
        Ok(result?)
    }

    fn say(&self, label: &'static str, text: impl Into<String>) {
        self.context.say(label, text);
    }
}

/// How many pages were merged, for `index` and `status`.
pub(crate) fn merged(folded: u64, clusters: u64) -> String {
    if folded == 0 {
        return "no near-identical pages".to_owned();
    }
    format!("{} into {}", count(folded, "near-identical page"), count(clusters, "result"))
}

/// How to fill an empty collection.
pub(crate) fn empty(collection: &Collection) -> String {
    let crawl = command_line(collection, "crawl URL");
    let import = command_line(collection, "import FILE");
    format!("nothing to search yet; `{crawl}` or `{import}` adds pages")
}

/// The first pages whose text was cut.
fn cut_urls(report: &ExtractReport) -> String {
    let named = report.cut_urls.iter().take(CUT_SHOWN_MAX);
    let named = named.map(|url| console::plain(url)).collect::<Vec<_>>();
    match report.cut - named.len() as u64 {
        0 => named.join(", "),
        more => format!("{} and {} more", named.join(", "), thousands(more)),
    }
}

/// The outcome of a topic.
fn topic_text(topic: &TopicReport) -> String {
    let TopicReport { name, pages, missing } = topic;
    let about = match pages {
        0 => "none of its pages is in the collection, so it has no ranks".to_owned(),
        _ => format!("ranked from {}", count(*pages, "page")),
    };
    let missing = match &missing[..] {
        [] => String::new(),
        [only] => format!("; not in the collection: {}", console::plain(only)),
        [first, others @ ..] => {
            format!("; not in the collection: {} and {} more", console::plain(first), others.len())
        }
    };
    format!("{name}: {about}{missing}")
}

/// The rules by which the crawl normalised URLs.
#[derive(Debug)]
struct AsVisited(Vec<Normalisation>);

impl LinkTarget for AsVisited {
    fn link(&self, url: Url) -> Url {
        Normalisation::apply(&self.0, url)
    }

    fn redirect(&self, from: &Url, target: Url) -> Url {
        Normalisation::apply_to_redirect(&self.0, from, target)
    }
}

/// The limits, the agent name and the URL rules of the crawl, so that pages are read as the crawl read them.
pub(crate) fn extract_options(crawl: &crawl::Config) -> ExtractOptions {
    ExtractOptions {
        page: page::Limits {
            body_bytes_max: crawl.decoded_bytes_max,
            url_bytes_max: crawl.url_bytes_max,
            links_max: crawl.links_per_page_max,
            ..page::Limits::default()
        },
        body_bytes_max: crawl.decoded_bytes_max,
        agent: crawl.agent_name().to_owned(),
        spelling: Arc::new(AsVisited(crawl.normalise.clone())),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    }
}
