//! `crivello doctor`: reads every file of a collection and reports whether each part is whole.
//!
//! What lives here: the checks of each part and the remedies. What does not: the check of a file, which is in its crate.
//!
//! **Invariant.** Nothing is changed. Damage is reported with file and offset. A damaged part does not stop the checks of
//! the others.

use std::io::Write as _;

use anyhow::Result;
use archive::{Archive, ArchiveError, CdxState, CdxSum, Limits};
use collection::{Clusters, Collection, LinkGraph, PageTable};
use crawl::{Bodies, Lost, MissingFile, Purpose, VisitLogsFound};
use index::Index;
use jobs::Staleness;
use page::Url;
use serde::Serialize;
use serde_json::json;

use super::why::KnownBlockers;
use crate::config::Config;
use crate::console::{self, Fact, Line, count};
use crate::context::{Context, Exit};
use crate::pipeline::{extract_options, merged};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crivello doctor --dir my-web
  crivello doctor archive --dir my-web --json")]
pub(crate) struct Args {
    /// Parts to check [default: all]
    parts: Vec<Part>,
}

/// A part of a collection.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// crivello.toml and the files it names
    Configuration,
    /// Every record: compression, lengths, digests; and the CDXJ files
    Archive,
    /// Only the CDXJ files; the records are read as well
    Cdx,
    /// The state of the crawl
    Frontier,
    /// Text, links and fingerprints of the pages
    Pages,
    /// The link graph and the ranks
    Graph,
    /// Near-duplicates
    Duplicates,
    /// Every byte of the index
    Index,
}

/// The state of a part.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Whole,
    /// Valid, but older than its source, or not made yet.
    Behind,
    Damaged,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Whole => "whole",
            State::Behind => "behind",
            State::Damaged => "damaged",
        }
    }
}

/// The result for a part.
#[derive(Serialize)]
struct Finding {
    part: &'static str,
    state: State,
    /// Its contents.
    about: String,
    /// Damages, each with file and offset.
    faults: Vec<String>,
    /// Facts that are no damage, caused by the user or a server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The remedy, unless a damage has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<&'static str>,
}

const CALL_INDEX: &str = "run `crivello index`";
const REPAIR_ARCHIVE: &str = "the next crawl removes an incomplete end and fetches missing pages; `crivello crawl --recrawl` also \
     fetches unreadable pages, `crivello crawl --recrawl=given URL` one of them; or restore the file in archive/, \
     delete pages/ and run `crivello index`";
const REPAIR_FOREIGN: &str = "crawls do not change imported files; restore the file, or move it and its CDXJ file out of archive/; \
     then delete pages/ and run `crivello index`; `crivello crawl --recrawl` fetches unreadable pages";
/// Number of missing pages that are named.
const LOST_SHOWN_MAX: usize = 5;
const REPAIR_CONFIGURATION: &str = "correct the line; `crivello config schema` describes every key";

impl Finding {
    /// A part that is whole, unless it has faults.
    fn of(part: &'static str, about: String, faults: Vec<String>) -> Finding {
        let state = if faults.is_empty() { State::Whole } else { State::Damaged };
        Finding { part, state, about, faults, notes: Vec::new(), remedy: None }
    }

    /// Makes a whole part behind if `is`.
    fn behind_if(self, is: bool, remedy: &'static str) -> Finding {
        if is && self.state == State::Whole {
            return Finding { state: State::Behind, remedy: Some(remedy), ..self };
        }
        self
    }

    /// Makes a whole part behind if it lags, with the reason.
    fn behind_for(self, lag: Option<Staleness>, remedy: &'static str) -> Finding {
        let Some(lag) = lag else { return self };
        let about = format!("{}; {lag}", self.about);
        Finding { about, ..self }.behind_if(true, remedy)
    }

    fn or_mend(self, remedy: &'static str) -> Finding {
        let remedy = (self.state == State::Damaged).then_some(remedy).or(self.remedy);
        Finding { remedy, ..self }
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    if let Some(writer) = collection.writer() {
        let text = format!("note     {writer} is at work: what it is writing may look unfinished");
        console::say(context.quiet, &text);
    }
    let config = context.config(&collection);
    let all = <Part as clap::ValueEnum>::value_variants();
    let parts = if args.parts.is_empty() { all } else { &args.parts };
    let line = Line::start(context.quiet);
    let mut findings = Vec::new();
    let fallback = Config::default();
    let patient = Patient { collection: &collection, config: config.as_ref().unwrap_or(&fallback) };
    for &part in all.iter().filter(|part| parts.contains(part)) {
        line.show(&[Fact::new("Checking", name_of(part))]);
        match part {
            Part::Configuration => findings.push(configuration(&config, &collection, context)),
            Part::Archive => findings.extend(patient.archive()),
            Part::Cdx if parts.contains(&Part::Archive) => {}
            Part::Cdx => findings.extend(patient.archive().into_iter().skip(1)),
            Part::Frontier => findings.push(patient.frontier()),
            Part::Pages => findings.push(patient.pages()),
            Part::Graph => findings.push(patient.graph()),
            Part::Duplicates => findings.push(patient.duplicates()),
            Part::Index => findings.push(patient.index()),
        }
    }
    line.clear();
    let damaged: Vec<_> = findings
        .iter()
        .filter(|found| found.state == State::Damaged)
        .map(|found| found.part)
        .collect();
    if context.json {
        context.print_json(&json!({ "whole": damaged.is_empty(), "parts": findings }))?;
    } else {
        print(&findings)?;
    }
    anyhow::ensure!(damaged.is_empty(), "damaged: {}", damaged.join(", "));
    Ok(Exit::Done)
}

fn name_of(part: Part) -> &'static str {
    match part {
        Part::Configuration => "configuration",
        Part::Archive => "archive",
        Part::Cdx => "cdx",
        Part::Frontier => "frontier",
        Part::Pages => "pages",
        Part::Graph => "graph",
        Part::Duplicates => "duplicates",
        Part::Index => "index",
    }
}

fn print(findings: &[Finding]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    for found in findings {
        let about = &found.about;
        writeln!(out, "{:8} {:14} {about}", found.state.name(), found.part)?;
        for fault in found.faults.iter().chain(&found.notes) {
            writeln!(out, "{:8} {:14} {}", "", "", console::plain(fault))?;
        }
        if let Some(remedy) = found.remedy {
            writeln!(out, "{:8} {:14} → {remedy}", "", "")?;
        }
    }
    Ok(())
}

fn configuration(config: &Result<Config>, collection: &Collection, context: &Context) -> Finding {
    let read = match config {
        Ok(config) => context.check_files(collection, config).map_err(|error| format!("{error:#}")),
        Err(error) => Err(format!("{error:#}")),
    };
    let about = collection.config_file().display().to_string();
    Finding::of("configuration", about, read.err().into_iter().collect())
        .or_mend(REPAIR_CONFIGURATION)
}

/// Formats an error and its causes.
fn with_causes(error: impl Into<anyhow::Error>) -> String {
    format!("{:#}", error.into())
}

/// The collection to check.
struct Patient<'a> {
    collection: &'a Collection,
    config: &'a Config,
}

impl Patient<'_> {
    /// Checks the archive files and their CDXJ files.
    fn archive(&self) -> [Finding; 2] {
        let (mut faults, mut cdx_faults) = (Vec::new(), Vec::new());
        let (mut files, mut records, mut behind) = (0, 0, 0);
        let (mut bodies, mut notes) = (Bodies::default(), Vec::new());
        let mut foreign_faults = 0;
        match Archive::open_unchanging(&self.collection.archive_dir()) {
            Ok(archive) => {
                for file in archive.files() {
                    files += 1;
                    let before = faults.len();
                    match read_file(&archive, file, &mut faults, &mut bodies) {
                        Ok((count, sum)) => {
                            records += count;
                            // Damage removes an unknown number of lines.
                            let cdx = archive.check_cdx(file, &sum);
                            match cdx {
                                Ok(CdxState::Whole) => {}
                                Ok(CdxState::Behind) => behind += 1,
                                Err(_) if faults.len() > before => {}
                                Err(error) => cdx_faults.push(with_causes(error)),
                            }
                        }
                        Err(error) => faults.push(with_causes(error)),
                    }
                    if !archive::is_own_name(file) {
                        foreign_faults += faults.len() - before;
                    }
                }
                match self.gone(&archive) {
                    Ok((gone, seen)) => {
                        faults.extend(gone);
                        notes.extend(seen);
                    }
                    Err(error) => faults.push(format!("{error:#}")),
                }
                match self.lost(bodies, &archive) {
                    Ok(lost) => lost.tell(&mut faults, &mut notes),
                    Err(error) => faults.push(format!("{error:#}")),
                }
            }
            Err(error) => faults.push(with_causes(error)),
        }
        let about = format!("{}, {}", count(files, "file"), count(records, "record"));
        let cdx_about = if behind == 0 {
            count(files, "file")
        } else {
            format!("{}, {behind} missing or behind", count(files, "file"))
        };
        let remedy = match foreign_faults {
            0 => REPAIR_ARCHIVE,
            _ if foreign_faults == faults.len() => REPAIR_FOREIGN,
            _ => {
                notes.push(REPAIR_FOREIGN.to_owned());
                REPAIR_ARCHIVE
            }
        };
        [
            Finding { notes, ..Finding::of("archive", about, faults).or_mend(remedy) },
            Finding::of("cdx", cdx_about, cdx_faults)
                .behind_if(behind > 0, "nothing to do: the next lookup updates it"),
        ]
    }

    /// Faults and notes about archive files that are missing or shorter, with URLs that are in no other file.
    fn gone(&self, archive: &Archive) -> Result<(Vec<String>, Vec<String>)> {
        let (mut faults, mut notes) = (Vec::new(), Vec::new());
        for file in crawl::missing_files(&self.collection.frontier_dir(), archive)? {
            let is_fault = !file.is_known || !file.only.is_empty() || !file.newest.is_empty();
            let told = if is_fault { &mut faults } else { &mut notes };
            told.push(self.told_gone(&file));
        }
        Ok((faults, notes))
    }

    /// The message about an archive file that is missing or shorter.
    fn told_gone(&self, file: &MissingFile) -> String {
        let MissingFile { name, is_shorter, is_known, urls, only, newest, bodies } = file;
        let (fate, its, had, back) = if *is_shorter {
            let its = format!("the {urls} that it lost");
            ("has become shorter", its, "lost", "put a whole copy in its place")
        } else {
            ("is gone", format!("its {urls}"), "had", "put it back")
        };
        let only = told(only, "URL", &format!("(of {its}) in no other file"));
        let older = format!("(of {its}) with only older captures in other files");
        let older = told(newest, "URL", &older);
        let next = "let the next crawl fetch the pages that seeds and links lead to";
        let again = match (&only, &older) {
            (_, Some(_)) => Some("let `crivello crawl --recrawl` fetch them"),
            (Some(_), None) => Some(next),
            (None, None) => (!is_known).then_some(next),
        };
        let lost: Vec<String> = only.into_iter().chain(older).collect();
        let what = if !lost.is_empty() {
            format!(", with {}", lost.join(", and with "))
        } else if *is_known && *urls == 0 {
            format!(
                ", but it {had} no page: only robots.txt files, which are fetched again when needed"
            )
        } else if *is_known && bodies.is_empty() {
            format!(", but all that it {had} is in other files, or was visited again")
        } else {
            String::new()
        };
        let mut said = vec![format!("archive/{name} {fate}{what}")];
        if !bodies.is_empty() {
            let bodies = count(bodies.len() as u64, "URL");
            let of_all = format!("(of {its}) that later visits found unchanged");
            said.push(format!("it had {bodies} {of_all}; their content is missing now"));
        }
        said.extend(again.map(|again| format!("{back}, or {again}")));
        let cdxj = self.collection.archive_dir().join(format!("{name}.cdxj"));
        if cdxj.exists() && bodies.is_empty() {
            said.push(format!("to stop this message, delete archive/{name}.cdxj"));
        }
        said.join("; ")
    }

    /// URLs that the archive has lost, by whether a crawl fetches them again.
    fn lost(&self, bodies: Bodies, archive: &Archive) -> Result<LostUrls> {
        let mut urls = LostUrls::default();
        let lost = bodies.lost(archive)?;
        if lost.is_empty() {
            return Ok(urls);
        }
        let report = crawl::known_report(&self.collection.frontier_dir())?;
        let mut bars = KnownBlockers::new(self.collection, archive, &report, self.config)?;
        for Lost { url, purpose, depth, is_page } in lost {
            let is_sitemap = purpose == Purpose::Sitemap;
            let bar = bars.bar(&Url::parse(&url)?, is_sitemap, Some(depth), true)?;
            let frontier = self.collection.frontier_dir();
            let mut unreadable = crawl::unreadable_captures(&frontier, archive, &url)?.into_iter();
            let (fate, url) = match bar {
                Some(bar) => (&mut urls.kept_out, format!("{url} ({})", bar.verdict())),
                None if unreadable.any(|line| line.url == url) => (&mut urls.unreadable, url),
                None => (&mut urls.missing, url),
            };
            fate[usize::from(!is_page)].push(url);
        }
        Ok(urls)
    }

    fn frontier(&self) -> Finding {
        let dir = self.collection.frontier_dir();
        let standing = crawl::CrawlStatus::read(&dir).map(|_| ()).map_err(with_causes);
        let report = crawl::read_report(&dir).map(|_| ()).map_err(with_causes);
        let seeds = crawl::check_seeds(&dir).map_err(with_causes);
        let settings = crawl::Settings::check(&dir).map_err(with_causes);
        let rests = crawl::check_cooldowns(&dir).map_err(with_causes);
        let untold = crawl::check_unreported_losses(&dir).map_err(with_causes);
        let read = [standing, report, seeds, settings, rests, untold];
        let mut faults: Vec<String> = read.into_iter().filter_map(Result::err).collect();
        let mut about = "notes of the crawl".to_owned();
        match crawl::verify_visit_logs(&dir, &self.collection.archive_dir()) {
            Ok(VisitLogsFound { logs, visits, behind, faults: found }) => {
                faults.extend(found.into_iter().map(with_causes));
                let (logs, visits) = (count(logs, "log"), count(visits, "visit"));
                about = format!("{about}, {logs} of {visits}");
                if behind > 0 {
                    about = format!("{about}, {behind} to be brought up to date by the next crawl");
                }
            }
            Err(error) => faults.push(with_causes(error)),
        }
        Finding::of("frontier", about, faults)
    }

    fn pages(&self) -> Finding {
        if !self.has_pages() {
            return self.not_yet("pages", CALL_INDEX);
        }
        let (rows, faults) = collection::verify_pages(self.collection);
        let faults: Vec<_> = faults.into_iter().map(with_causes).collect();
        let found = Finding::of("pages", count(rows, "row"), faults);
        if found.state == State::Damaged {
            return found;
        }
        match jobs::extract_staleness(self.collection, &extract_options(&self.config.crawl)) {
            Ok(lag) => found.behind_for(lag, CALL_INDEX),
            Err(error) => Finding::of("pages", found.about, vec![with_causes(error)]),
        }
    }

    fn graph(&self) -> Finding {
        match LinkGraph::open(self.collection) {
            // An imported index may have only imported ranks.
            Ok(None) => match collection::verify_ranks(self.collection) {
                Ok(()) => self.not_yet("graph", "run `crivello rank`"),
                Err(error) => Finding::of("graph", String::new(), vec![with_causes(error)]),
            },
            Ok(Some(linking)) => {
                let (nodes, arcs) = (linking.graph.nodes(), linking.graph.arcs());
                let about = format!("{}, {}", count(nodes.into(), "node"), count(arcs, "arc"));
                let faults = collection::verify_ranks(self.collection).map_err(with_causes).err();
                let table = PageTable::open(&self.collection.pages_dir());
                let is_ranked = table.is_ok_and(|table| {
                    let directory = table.directory();
                    directory.id() == linking.source
                        && jobs::is_all_ranked(
                            self.collection,
                            &linking,
                            directory,
                            &self.config.rank,
                        )
                });
                Finding::of("graph", about, faults.into_iter().collect())
                    .behind_if(!is_ranked, "run `crivello rank`")
            }
            Err(error) => Finding::of("graph", String::new(), vec![with_causes(error)]),
        }
    }

    fn duplicates(&self) -> Finding {
        // Damage of the pages is reported for that part.
        let Ok(table) = PageTable::open(&self.collection.pages_dir()) else {
            return self.not_yet("duplicates", CALL_INDEX);
        };
        match Clusters::open(self.collection, table.directory()) {
            Ok(None) => self.not_yet("duplicates", CALL_INDEX),
            Ok(Some(folding)) => {
                let (clusters, folded) = folding.counts();
                let about = merged(folded, clusters);
                let current = jobs::is_folded(
                    &folding,
                    self.collection,
                    table.directory(),
                    &self.config.dedup,
                );
                Finding::of("duplicates", about, Vec::new())
                    .behind_if(!current.unwrap_or(false), CALL_INDEX)
            }
            Err(error) => Finding::of("duplicates", String::new(), vec![with_causes(error)]),
        }
    }

    fn index(&self) -> Finding {
        let dir = self.collection.index_dir();
        let index = match Index::open(&dir) {
            Ok(index) => index,
            Err(index::IndexError::NotAnIndex { .. }) => return self.not_yet("index", CALL_INDEX),
            Err(error) => return Finding::of("index", String::new(), vec![with_causes(error)]),
        };
        let about = format!(
            "{}, generation {}, {}",
            count(index.live_count(), "document"),
            index.generation(),
            count(index.segments().len() as u64, "segment")
        );
        let faults: Vec<_> = index.verify().map_err(with_causes).err().into_iter().collect();
        if collection::is_imported(&index) {
            let found = Finding::of("index", format!("{about}, imported"), faults);
            return found.or_mend("import the file again");
        }
        let found = Finding::of("index", about, faults);
        // Damage of earlier parts is reported for them.
        let Ok(table) = PageTable::open(&self.collection.pages_dir()) else { return found };
        let lag = match Clusters::open(self.collection, table.directory()) {
            Ok(Some(folding)) => jobs::index_staleness(
                &index,
                table.directory(),
                &folding,
                &self.config.index,
                &self.config.analysis,
            ),
            Ok(None) => Some(Staleness::Duplicates),
            Err(_) => return found,
        };
        found.behind_for(lag, CALL_INDEX)
    }

    fn has_pages(&self) -> bool {
        self.collection.pages_dir().join("directory").is_file()
    }

    /// A part that is not made yet. It is behind unless the archive is empty.
    fn not_yet(&self, part: &'static str, remedy: &'static str) -> Finding {
        let archive = Archive::open(&self.collection.archive_dir());
        let is_empty = archive.is_ok_and(|archive| archive.files().is_empty());
        let about = "not made yet".to_owned();
        Finding::of(part, about, Vec::new()).behind_if(!is_empty, remedy)
    }
}

/// Lost URLs, of which only "not modified" records are left: pages and others.
#[derive(Default)]
struct LostUrls {
    /// The next crawl fetches them.
    missing: [Vec<String>; 2],
    /// Their records are damaged. Only a recrawl fetches them.
    unreadable: [Vec<String>; 2],
    /// No crawl fetches them now; each with the reason.
    kept_out: [Vec<String>; 2],
}

impl LostUrls {
    /// Their names, in the same order.
    const KINDS: [(&str, &str); 2] =
        [("page", ""), ("other URL", "(sitemaps, redirects, errors) ")];

    /// Adds messages to the `faults` and the `notes`.
    fn tell(&self, faults: &mut Vec<String>, notes: &mut Vec<String>) {
        let what = "though later visits found the content unchanged";
        let unreadable = "cannot be read, though later visits found the content unchanged: `crivello crawl --recrawl` fetches it again";
        let kept_out = "and excluded now; a crawl fetches them again once they are allowed; no action is needed";
        for (at, (noun, kind)) in LostUrls::KINDS.into_iter().enumerate() {
            let told = |urls: &[Vec<String>; 2], what: &str| {
                told(&urls[at], noun, &format!("{kind}{what}"))
            };
            faults.extend(told(&self.missing, &format!("missing, {what}")));
            faults.extend(told(&self.unreadable, unreadable));
            notes.extend(told(&self.kept_out, &format!("missing, {what}, {kept_out}")));
        }
    }
}

/// A message that names the first of these URLs; `None` if the list is empty.
fn told(urls: &[String], noun: &str, what: &str) -> Option<String> {
    let shown: Vec<&str> = urls.iter().take(LOST_SHOWN_MAX).map(String::as_str).collect();
    let more = if urls.len() > shown.len() { ", …" } else { "" };
    let (count, shown) = (count(urls.len() as u64, noun), shown.join(", "));
    (!urls.is_empty()).then(|| format!("{count} {what}: {shown}{more}"))
}

/// Reads a file of the archive. Returns the number of records and the sum of their lines.
fn read_file(
    archive: &Archive,
    file: &str,
    faults: &mut Vec<String>,
    bodies: &mut Bodies,
) -> Result<(u64, CdxSum), ArchiveError> {
    let (mut records, mut sum) = (0, CdxSum::default());
    for record in archive.records_of(file, Limits::default())? {
        match record {
            Ok(record) => {
                records += 1;
                sum.add(&record);
                bodies.note(&record);
            }
            Err(error) => faults.push(with_causes(error)),
        }
    }
    Ok((records, sum))
}
