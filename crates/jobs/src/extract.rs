//! Archive to pages: each archive file becomes one part of the page table.
//!
//! What lives here: the conversion of a record to a row: a page, a redirect, a failure or another outcome. What does
//! not: parsing HTML (`page`), reading WARC files (`archive`).
//!
//! **Invariant.** A part depends only on its archive file and the options. Files are therefore read in parallel, and
//! an unchanged file is not read twice with the same options. A damaged place is reported and skipped. The records
//! after it are used.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use archive::{Archive, ArchiveError, Kind, Record};
use collection::{
    CaptureOutcome, Collection, CollectionError, Directory, OutLink, PART_COUNT_MAX, PagePointer,
    PageRow, PageTable, Part, PartName, PartWriter, Parts, is_imported_source, made_again,
    write_directory,
};
use index::{Index, IndexError};
use page::{Directives, StatusClass, Url};
use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::{JobsError, LinkTarget, Progress, Stage, Staleness, Unchanged};

/// Maximum number of damaged places in the report.
const DAMAGES_MAX: usize = 20;
/// Maximum number of URLs with cut text in the report.
const CUT_URLS_MAX: usize = 20;

/// How records are read.
#[derive(Debug, Clone)]
pub struct ExtractOptions {
    /// Limits for one page.
    pub page: page::Limits,
    /// Maximum number of bytes of a decoded body. The rest is left out.
    pub body_bytes_max: usize,
    /// The crawler name that robots directives may address.
    pub agent: String,
    /// Makes the URL under which a link finds its page.
    pub spelling: Arc<dyn LinkTarget>,
    /// Archive files read at a time.
    pub threads: usize,
}

impl Default for ExtractOptions {
    fn default() -> Self {
        Self {
            page: page::Limits::default(),
            body_bytes_max: 8 << 20,
            agent: "crivello".to_owned(),
            spelling: Arc::new(Unchanged),
            threads: 2,
        }
    }
}

/// The results of the stage.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct ExtractReport {
    /// Archive files that were read this time.
    pub files_read: u64,
    /// Live pages.
    pub pages: u64,
    /// Redirects.
    pub redirects: u64,
    /// URLs that were fetched and are not a page.
    pub others: u64,
    /// Damaged places in the files that were read. The stage also read the records after these places.
    pub damaged: u64,
    /// Messages about the first damaged places, with file and byte.
    pub damages: Vec<String>,
    /// Indexed pages whose text exceeds [`page::Limits::text_bytes_max`], in the files that were read. The excess
    /// text was left out.
    pub cut: u64,
    /// The first of these pages by URL, in alphabetical order.
    pub cut_urls: Vec<String>,
}

/// A document that was imported rather than fetched.
#[derive(Deserialize)]
struct Imported {
    #[serde(default)]
    title: String,
    #[serde(default)]
    text: String,
}

/// Brings the page table up to date with the archive.
pub fn extract(
    collection: &Collection,
    options: &ExtractOptions,
    progress: Progress<'_>,
) -> Result<ExtractReport, JobsError> {
    let dir = collection.pages_dir();
    fs::create_dir_all(&dir).map_err(CollectionError::io(&dir))?;
    // A killed crawl may leave an incomplete last record. The caller holds the lock of the collection.
    archive::repair(&collection.archive_dir())?;
    check_archive(collection)?;
    let Plan { kept: mut parts, missing, lag } = Plan::of(collection, options)?;
    let files_read = missing.len() as u64;
    let mut found = Findings::default();
    if lag.is_some() {
        found = read_files(collection, &dir, &missing, options, progress)?;
        parts.names.extend(missing);
        // Sorted by file name: of two captures with the same date, the one in the later file counts.
        parts.names.sort_by(|a, b| a.archive_file.cmp(&b.archive_file));
        // The list is written last. After a kill in between, the old list still names files to read.
        write_directory(&dir, &parts)?;
        parts.write(&dir)?;
        remove_leftovers(&dir, &parts)?;
    }
    let table = PageTable::open(&dir)?;
    let directory = table.directory();
    let Damages { count: damaged, first: damages, .. } = std::mem::take(&mut found.damages);
    let mut cut_urls = found.cut_urls(directory);
    let cut = cut_urls.len() as u64;
    cut_urls.truncate(CUT_URLS_MAX);
    Ok(ExtractReport {
        files_read,
        pages: directory.entries().len() as u64,
        redirects: directory.redirects().len() as u64,
        others: directory.others().len() as u64,
        damaged,
        damages,
        cut,
        cut_urls,
    })
}

/// Fails if the archive has no files but the index has documents. Perhaps the disk of the archive is not mounted; then
/// the stage would empty the index.
fn check_archive(collection: &Collection) -> Result<(), JobsError> {
    let path = collection.archive_dir();
    if !Archive::open(&path)?.files().is_empty() {
        return Ok(());
    }
    let index = collection.index_dir();
    let is_imported = Index::source_in(&index).is_ok_and(|source| is_imported_source(&source));
    let documents = match Index::open(&index) {
        _ if is_imported => return Ok(()),
        Err(IndexError::NotAnIndex { .. }) => return Ok(()),
        opened => opened.ok().map(|index| index.live_count()),
    };
    if documents == Some(0) {
        Ok(())
    } else {
        Err(JobsError::ArchiveGone { path, index, documents })
    }
}

/// Findings in the files that were read.
#[derive(Debug, Default)]
struct Findings {
    damages: Damages,
    /// Pages whose text was cut, including captures that are not the newest of their URL.
    cut: BTreeSet<PagePointer>,
}

impl Findings {
    /// The URLs of the pages whose text was cut and that are searched, in alphabetical order.
    fn cut_urls(&self, directory: &Directory) -> Vec<String> {
        let searched = directory.entries().iter().filter(|entry| !entry.noindex);
        let cut = searched.filter(|entry| self.cut.contains(&entry.pointer));
        let mut urls: Vec<String> = cut.map(|entry| entry.url.clone()).collect();
        urls.sort_unstable();
        urls
    }
}

/// Damaged places in the archive.
#[derive(Debug, Default)]
struct Damages {
    count: u64,
    /// Messages about the first [`DAMAGES_MAX`] places.
    first: Vec<String>,
}

impl Damages {
    /// Records a damaged place. Returns any error that has no offset.
    fn note(&mut self, error: ArchiveError) -> Result<(), JobsError> {
        if error.offset().is_none() {
            return Err(error.into());
        }
        self.count += 1;
        if self.first.len() < DAMAGES_MAX {
            self.first.push(error.to_string());
        }
        Ok(())
    }
}

/// Returns why [`extract`] must run. Returns `None` if the page table is up to date with the archive.
pub fn extract_staleness(
    collection: &Collection,
    options: &ExtractOptions,
) -> Result<Option<Staleness>, JobsError> {
    Ok(Plan::of(collection, options)?.lag)
}

/// The version of the conversion. Increase it if the rows of a record change. All parts are then rebuilt.
const ROWS_VERSION: u32 = 7;

impl ExtractOptions {
    /// A hash of the options and the version. It changes if the rows change.
    fn identity(&self) -> String {
        let Self { page, body_bytes_max, agent, spelling, threads: _ } = self;
        let text = format!("{ROWS_VERSION} {page:?} {body_bytes_max} {agent} {spelling:?}");
        format!("{:016x}", xxh3_64(text.as_bytes()))
    }
}

/// The work of the stage.
struct Plan {
    /// Parts to keep.
    kept: Parts,
    /// Archive files to read, each with the number of its part.
    missing: Vec<PartName>,
    /// The reason to run; `None` if there is no work.
    lag: Option<Staleness>,
}

impl Plan {
    fn of(collection: &Collection, options: &ExtractOptions) -> Result<Self, JobsError> {
        let dir = collection.pages_dir();
        let had = made_again(Parts::read(&dir))?;
        let options = options.identity();
        let mut kept = Parts { options, names: Vec::new() };
        let (mut missing, mut is_part_gone) = (Vec::new(), false);
        let mut next = had.names.iter().map(|name| u64::from(name.number) + 1).max().unwrap_or(0);
        let usable = if had.options == kept.options { had.names.as_slice() } else { &[] };
        for archive_file in Archive::open(&collection.archive_dir())?.files() {
            let path = collection.archive_dir().join(archive_file);
            let archive_bytes = fs::metadata(&path).map_err(CollectionError::io(&path))?.len();
            let same = |name: &&PartName| {
                name.archive_file == *archive_file && name.archive_bytes == archive_bytes
            };
            if let Some(name) = usable.iter().find(same) {
                match Part::open(&Parts::path(&dir, name.number)) {
                    Err(CollectionError::Version { .. }) => {}
                    Err(CollectionError::Gone { .. }) => is_part_gone = true,
                    _ => {
                        kept.names.push(name.clone());
                        continue;
                    }
                }
            }
            let number = u16::try_from(next).map_err(|_| CollectionError::TooMany {
                what: "archive files",
                most: PART_COUNT_MAX,
            })?;
            next += 1;
            missing.push(PartName { number, archive_file: archive_file.clone(), archive_bytes });
        }
        let lag = if had.names.is_empty() && !missing.is_empty() {
            Some(Staleness::Unread)
        } else if had.options != kept.options {
            Some(Staleness::Reading)
        } else if is_part_gone {
            Some(Staleness::Parts)
        } else if !missing.is_empty() {
            Some(Staleness::Files(missing.len()))
        } else if kept != had {
            Some(Staleness::FilesGone)
        } else {
            (!Directory::is_there(&dir.join("directory"))).then_some(Staleness::Table)
        };
        Ok(Self { kept, missing, lag })
    }
}

fn read_files(
    collection: &Collection,
    dir: &Path,
    missing: &[PartName],
    options: &ExtractOptions,
    progress: Progress<'_>,
) -> Result<Findings, JobsError> {
    let archive = Archive::open(&collection.archive_dir())?;
    let found = Mutex::new(Findings::default());
    let findings = || found.lock().unwrap_or_else(PoisonError::into_inner);
    let total: u64 = missing.iter().map(|name| name.archive_bytes).sum();
    let done = AtomicU64::new(0);
    let queue = Mutex::new(missing.iter());
    let take = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || -> Result<(), JobsError> {
        while let Some(name) = take() {
            let mut writer = PartWriter::create(&Parts::path(dir, name.number), name.number)?;
            // Our own records are compressed, and the compression has a checksum.
            let verify_digests = !name.archive_file.starts_with("crivello-");
            let limits = archive::Limits { verify_digests, ..archive::Limits::default() };
            let mut last_offset = None;
            for record in archive.records_of(&name.archive_file, limits)? {
                let record = match record {
                    Ok(record) => record,
                    // One record may give several errors. Its place is recorded once.
                    Err(error) if error.offset().is_some() && error.offset() == last_offset => {
                        continue;
                    }
                    Err(error) => {
                        last_offset = error.offset();
                        findings().damages.note(error)?;
                        continue;
                    }
                };
                let length = record.location.length;
                if let Some((url, fate, is_cut)) = fate_of(&record, options) {
                    let row = writer.push(&url, (record.date_s, record.date_us), &fate)?;
                    if is_cut {
                        findings().cut.insert(row);
                    }
                }
                let sum = done.fetch_add(length, Ordering::Relaxed) + length;
                progress(Stage::Extract, sum, total);
            }
            writer.finish()?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads = options.threads.clamp(1, missing.len().max(1));
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let results = handles.into_iter().map(|handle| handle.join().expect("a reader panicked"));
        results.collect::<Result<(), JobsError>>()
    })?;
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Removes parts that the list does not name, and temporary files.
fn remove_leftovers(dir: &Path, parts: &Parts) -> Result<(), JobsError> {
    let named: Vec<_> = parts.names.iter().map(|name| Parts::path(dir, name.number)).collect();
    for file in fs::read_dir(dir).map_err(CollectionError::io(dir))? {
        let path = file.map_err(CollectionError::io(dir))?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        let left_over = ending == Some("tmp") || ending == Some("pages") && !named.contains(&path);
        if left_over {
            fs::remove_file(&path).map_err(CollectionError::io(&path))?;
        }
    }
    Ok(())
}

/// Returns whether the text of a record exceeds [`page::Limits::text_bytes_max`].
pub fn is_text_cut(record: &Record, options: &ExtractOptions) -> bool {
    fate_of(record, options).is_some_and(|(_, _, is_cut)| is_cut)
}

/// Returns the URL of a record, its fate, and whether its text was cut. Returns `None` if the record has no fate for
/// a URL.
fn fate_of(record: &Record, options: &ExtractOptions) -> Option<(String, CaptureOutcome, bool)> {
    let target = record.target.as_deref()?;
    let url = page::normalise(target, None, &options.page).ok();
    let name = url.as_ref().map_or_else(|| target.to_owned(), |url| url.as_str().to_owned());
    if url.as_ref().is_some_and(|url| url.path() == "/robots.txt") {
        return None;
    }
    let fate = match record.kind {
        _ if is_for_crawlers(record) => sitemap(record, &url?, options)?,
        Kind::Response => response(record, &url?, options),
        Kind::Resource => resource(record, url.as_ref(), options)?,
        Kind::Revisit if is_own(record) => revisit(record, options),
        Kind::Metadata => failed(&record.block)?,
        _ => return None,
    };
    let mut is_cut = false;
    let fate = fate.try_map(|page| {
        is_cut = page.is_cut;
        Some(page.row)
    });
    Some((name, fate?, is_cut))
}

/// A page, read from a record.
struct ReadPage {
    row: Box<PageRow>,
    /// Whether the text was cut.
    is_cut: bool,
}

/// The fate of a URL that became a sitemap after an earlier answer, which may have been a page. Returns `None` for
/// other records.
fn sitemap(
    record: &Record,
    url: &Url,
    options: &ExtractOptions,
) -> Option<CaptureOutcome<ReadPage>> {
    let is_again = record.kind == Kind::Response && record.header("Crivello-Before").is_some();
    let is_sitemap = record.header("Crivello-Purpose") == Some("sitemap");
    let is_there = archive::parse_http(&record.block).is_ok_and(|answer| answer.status == 200);
    (is_again && is_sitemap).then(|| {
        if is_there {
            CaptureOutcome::Gone { what: "a sitemap".to_owned() }
        } else {
            response(record, url, options)
        }
    })
}

/// Returns whether our crawl wrote the record. A revisit from another crawler may refer to any capture, even of
/// another URL.
fn is_own(record: &Record) -> bool {
    record.header("Crivello-Purpose").is_some()
}

/// Returns whether the crawl fetched the record as a robots.txt or a sitemap.
fn is_for_crawlers(record: &Record) -> bool {
    let purpose = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("Crivello-Purpose");
    record.headers.iter().find(purpose).is_some_and(|(_, value)| value != "page")
}

fn response(record: &Record, url: &Url, options: &ExtractOptions) -> CaptureOutcome<ReadPage> {
    let Ok(answer) = archive::parse_http(&record.block) else {
        return CaptureOutcome::Gone { what: "not an HTTP answer".to_owned() };
    };
    let what = format!("status {}", answer.status);
    match StatusClass::of(answer.status) {
        StatusClass::Page => {}
        StatusClass::Temporary | StatusClass::Odd => return CaptureOutcome::Failed { what },
        StatusClass::Gone => return CaptureOutcome::Gone { what },
        StatusClass::Moved => {
            let target = answer.header("location");
            let target = target.and_then(|to| page::normalise(to, Some(url), &options.page).ok());
            return match target {
                Some(target) => CaptureOutcome::Redirect {
                    target: options.spelling.redirect(url, target).into(),
                },
                None => CaptureOutcome::Gone { what: format!("{what} that leads nowhere") },
            };
        }
    }
    let body = match answer.decoded_body(options.body_bytes_max) {
        Ok(body) => body,
        Err(error) => return CaptureOutcome::Gone { what: error.to_string() },
    };
    let header = Directives::from_headers(&answer.headers, &options.agent);
    let kind = answer.header("content-type");
    text_of(record, url, &Body { kind, bytes: &body, header }, options)
}

/// Returns the outcome of a revisit. A 304 with `noindex` hides the page from searches, even if no later capture has
/// the page itself.
fn revisit(record: &Record, options: &ExtractOptions) -> CaptureOutcome<ReadPage> {
    let asks = |answer: archive::HttpResponse<'_>| {
        let directives = Directives::from_headers(&answer.headers, &options.agent);
        answer.status == 304 && directives.noindex
    };
    let is_withheld = archive::parse_http(&record.block).is_ok_and(asks);
    match record.header("WARC-Refers-To-Date").filter(|_| is_withheld) {
        Some(page_date) => CaptureOutcome::Withheld { page_date: page_date.to_owned() },
        None => CaptureOutcome::Same,
    }
}

fn resource(
    record: &Record,
    url: Option<&Url>,
    options: &ExtractOptions,
) -> Option<CaptureOutcome<ReadPage>> {
    let kind = record.content_type.as_deref();
    if kind.is_some_and(|kind| kind.starts_with("application/json")) {
        let imported: Imported = serde_json::from_slice(&record.block).ok()?;
        let is_cut = imported.text.len() > options.page.text_bytes_max;
        let row = Box::new(imported.into_row(record, &options.page));
        return Some(CaptureOutcome::Page(ReadPage { row, is_cut }));
    }
    let body = Body { kind, bytes: &record.block, header: Directives::default() };
    Some(text_of(record, url?, &body, options))
}

/// The input of the page parser.
struct Body<'a> {
    kind: Option<&'a str>,
    bytes: &'a [u8],
    /// Robots directives in the HTTP header.
    header: Directives,
}

fn text_of(
    record: &Record,
    url: &Url,
    body: &Body<'_>,
    options: &ExtractOptions,
) -> CaptureOutcome<ReadPage> {
    let page = match page::parse(url, body.kind, body.bytes, &options.page) {
        Ok(page) => page,
        Err(error) => return CaptureOutcome::Gone { what: error.to_string() },
    };
    let robots = page.robots.union(body.header);
    let canonical = page.canonical.map(|url| options.spelling.link(url));
    let links = page.links.into_iter().map(|link| OutLink {
        url: options.spelling.link(link.url).into(),
        text: link.text,
        nofollow: link.nofollow || robots.nofollow,
    });
    let is_cut = page.text_is_cut;
    let row = Box::new(PageRow {
        record_offset: record.location.offset,
        record_length: record.location.length,
        fingerprint: neardup::fingerprint(&page.title, &page.text),
        title: page.title,
        headings: page.headings.join("\n"),
        text: page.text,
        description: page.description,
        language: page.language,
        charset: page.charset.name.to_owned(),
        noindex: robots.noindex,
        is_record: false,
        canonical: canonical.map(String::from).unwrap_or_default(),
        links: links.collect(),
    });
    CaptureOutcome::Page(ReadPage { row, is_cut })
}

impl Imported {
    fn into_row(mut self, record: &Record, limits: &page::Limits) -> PageRow {
        self.title.truncate(self.title.floor_char_boundary(limits.title_bytes_max));
        self.text.truncate(self.text.floor_char_boundary(limits.text_bytes_max));
        PageRow {
            record_offset: record.location.offset,
            record_length: record.location.length,
            fingerprint: neardup::fingerprint(&self.title, &self.text),
            language: page::language_of(&self.text),
            title: self.title,
            headings: String::new(),
            text: self.text,
            description: String::new(),
            charset: "UTF-8".to_owned(),
            noindex: false,
            is_record: true,
            canonical: String::new(),
            links: Vec::new(),
        }
    }
}

/// The fate of a URL whose fetch failed. The page is withheld if the server answered `noindex` despite the failure.
fn failed(block: &[u8]) -> Option<CaptureOutcome<ReadPage>> {
    let text = std::str::from_utf8(block).ok()?;
    let find = |name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        Some(value.trim().to_owned())
    };
    let what = find("outcome")?;
    let withheld =
        find("Crivello-Withholds").map(|page_date| CaptureOutcome::Withheld { page_date });
    Some(withheld.unwrap_or(CaptureOutcome::Failed { what }))
}
