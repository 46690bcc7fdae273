//! The batch stages as commands run them: settings in, progress on standard error, a sentence after.
//!
//! **Invariant.** Every command that runs a stage first brings the page table up to date with the
//! archive, so it never works on pages of yesterday. Order: pages, graph, ranks, duplicates, index; the
//! representative of a cluster is its best ranked page, so ranks come before duplicates.

use std::sync::Arc;

use anyhow::Result;
use archive::Archive;
use collection::{Collection, PageTable};
use crawl::{GoneFile, Normalisation};
use index::IndexError;
use jobs::{
    ExtractOptions, ExtractReport, FoldReport, IndexReport, LinkReport, RankReport, Reuse,
    Spelling, TopicReport,
};
use page::Url;
use serde::Serialize;

use crate::config::Config;
use crate::context::{Context, Exit};
use crate::talk::{self, Stages};

/// Pages whose text was cut that are named.
const CUT_SHOWN_MAX: usize = 3;

/// Runs stages of the collection that a command is about, the page table first; `--json` answers with what they report.
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
    quiet: bool,
}

impl<'a> Pipeline<'a> {
    pub(crate) fn of(collection: &'a Collection, config: &'a Config, context: &Context) -> Self {
        Self { collection, config, quiet: context.quiet }
    }

    pub(crate) fn extract(&self) -> Result<ExtractReport> {
        for damage in collection::discard_damaged(self.collection)? {
            self.say(&format!("damaged  {}; it is built again", damage.fault()));
        }
        for (damage, aside) in collection::set_aside_damaged_ranks(self.collection)? {
            self.say(&format!(
                "damaged  {}; the file is now {} and its rank is gone: `crivello rank import` brings it back",
                damage.fault(),
                aside.display(),
            ));
        }
        let options = extract_options(&self.config.crawl);
        let report = self.with_bar(|stages| {
            jobs::extract(self.collection, &options, &|stage, done, total| {
                stages.report(stage, done, total);
            })
        })?;
        for damage in &report.damages {
            self.say(&format!("damaged  {damage}"));
        }
        if report.damaged > 0 {
            self.say(&format!(
                "         {} left out, and all else is used; `crivello crawl --recrawl` fetches what is \
                 missing, or put a whole copy of the file into archive/, delete pages/ and run this again",
                talk::count(report.damaged, "place"),
            ));
        }
        if report.cut > 0 {
            self.say(&format!(
                "cut      the text of {} at {} bytes each; what follows is not searched: {}",
                talk::count(report.cut, "page"),
                extract_options(&self.config.crawl).page.text_bytes_max,
                cut_urls(&report),
            ));
        }
        if report.files_read > 0 {
            self.say(&format!(
                "read     {}: {}, {}, {} without a page",
                talk::count(report.files_read, "archive file"),
                talk::count(report.pages, "page"),
                talk::count(report.redirects, "redirect"),
                talk::count(report.others, "URL"),
            ));
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
        self.say(&format!(
            "ranked   {} by {} ({:.2} bits a link): PageRank in {}, error ≤ {:.0e}",
            talk::count(rank.nodes.into(), "page"),
            talk::count(rank.arcs, "link"),
            link.bits_per_arc,
            talk::count(rank.iterations.into(), "round"),
            rank.error_bound
        ));
        for topic in &rank.topics {
            self.say(&told(topic));
        }
        Ok((link, rank))
    }

    pub(crate) fn fold(&self) -> Result<FoldReport> {
        let report = self.with_bar(|stages| {
            jobs::fold(self.collection, &self.config.dedup, &|stage, done, total| {
                stages.report(stage, done, total);
            })
        })?;
        self.say(&format!(
            "folded   {} of {} behind {}",
            report.folded,
            talk::count(report.pages, "page"),
            talk::count(report.clusters, "other")
        ));
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
            " (nothing was new)".to_owned()
        } else if kept > 0 {
            format!(" ({} new or changed, {} gone or changed)", report.added, report.removed)
        } else {
            String::new()
        };
        self.say(&format!("indexed  {}{note}", talk::count(report.documents, "document")));
        self.say_lost()?;
        Ok(report)
    }

    /// Says why the index that there is cannot be used.
    fn warn(&self, fault: &IndexError) {
        let kind = if let IndexError::Damaged { .. } = fault { "damaged" } else { "note" };
        self.say(&format!("{kind:8} {}; all pages are indexed again", fault.fault()));
    }

    /// Says which files of the archive are gone or shorter, and how many pages are older than what these had.
    fn say_lost(&self) -> Result<()> {
        let archive = Archive::open(&self.collection.archive_dir())?;
        let lost = match crawl::gone_files(&self.collection.frontier_dir(), &archive) {
            Ok(lost) => lost,
            // The index is made all the same.
            Err(error) => {
                self.say(&format!(
                    "         whether files of the archive are gone cannot be told: {error}"
                ));
                return Ok(());
            }
        };
        let missed = lost.iter().filter(|file| file.is_missed());
        let (shortened, gone): (Vec<_>, Vec<_>) = missed.partition(|file| file.is_shorter);
        let [gone, shortened] = [gone, shortened]
            .map(|files| files.iter().map(|file| file.name.clone()).collect::<Vec<_>>());
        for files in talk::lost_files(&gone, &shortened) {
            self.say(&format!("         {files}; {}", talk::WHO_TELLS_LOST));
        }
        let older = self.older_pages(&lost)?;
        if older > 0 {
            self.say(&format!(
                "         {} in an older version, since the archive has lost the newer one with a file, or a part of \
                 it; `crivello crawl --recrawl` asks for it again",
                talk::count(older, "page"),
            ));
        }
        Ok(())
    }

    /// How many pages are older than what these archive files had.
    fn older_pages(&self, lost: &[GoneFile]) -> Result<u64> {
        if lost.iter().all(|file| file.newest.is_empty() && file.bodies.is_empty()) {
            return Ok(0);
        }
        let table = PageTable::open(&self.collection.pages_dir())?;
        let lost = lost.iter().flat_map(|file| file.newest.iter().chain(&file.bodies));
        Ok(lost.filter(|url| table.directory().find(url).is_some()).count() as u64)
    }

    fn with_bar<T>(&self, stage: impl FnOnce(&Stages) -> Result<T, jobs::JobsError>) -> Result<T> {
        let stages = Stages::start(self.quiet);
        let result = stage(&stages);
        stages.clear();
        Ok(result?)
    }

    fn say(&self, text: &str) {
        talk::say(self.quiet, text);
    }
}

/// The first pages whose text was cut, in words.
fn cut_urls(report: &ExtractReport) -> String {
    let named = report.cut_urls.iter().take(CUT_SHOWN_MAX);
    let named = named.map(|url| talk::plain(url)).collect::<Vec<_>>();
    match report.cut - named.len() as u64 {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// What became of a topic, in words.
fn told(topic: &TopicReport) -> String {
    let TopicReport { name, pages, missing } = topic;
    let about = match pages {
        0 => "no page of it is in the collection, so it has no ranks".to_owned(),
        _ => format!("ranked from {}", talk::count(*pages, "page")),
    };
    let missing = match &missing[..] {
        [] => String::new(),
        [only] => format!("; not in the collection: {}", talk::plain(only)),
        [first, others @ ..] => {
            format!("; not in the collection: {} and {} more", talk::plain(first), others.len())
        }
    };
    format!("topic    {name}: {about}{missing}")
}

/// The rules by which the crawl made one URL of several.
#[derive(Debug)]
struct AsVisited(Vec<Normalisation>);

impl Spelling for AsVisited {
    fn link(&self, url: Url) -> Url {
        Normalisation::apply(&self.0, url)
    }

    fn redirect(&self, from: &Url, target: Url) -> Url {
        Normalisation::apply_to_redirect(&self.0, from, target)
    }
}

/// Pages are read as the crawl read them: with its limits, under its name, and with its spelling of URLs.
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
