//! The visits of one URL in the archive.
//!
//! What lives here: the captures of the URL, and the verdict that follows from them. What does not: why a URL was not
//! visited.
//!
//! **Invariant.** The archive has one key for `http` and `https`; only captures of exactly this URL count here.

use std::path::Path;

use anyhow::Result;
use archive::{Archive, ArchiveError, CdxLine, Kind, Location, Record, parse_http};
use crawl::{Config, Moment, Normalisation, Purpose, VisitRecord};
use page::{Directives, Page, StatusClass, Url};
use serde::Serialize;

use super::{URL_BYTES_MAX, truncation};
use crate::console;
use crate::pipeline::extract_options;

/// A visit.
#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the answer")]
pub(super) struct Capture {
    pub(super) date_s: i64,
    /// Microseconds of that second.
    #[serde(rename = "microseconds")]
    pub(super) date_us: u32,
    /// The status of the answer, or `-`.
    pub(super) status: String,
    /// The purpose of the request, if the record says it.
    pub(super) purpose: Option<Purpose>,
    /// Whether `store_filter` kept the answer out of the archive.
    pub(super) unstored: bool,
    /// Whether it equals the previous capture.
    pub(super) unchanged: bool,
    /// Set if the answer does not show the present page, so that another request is needed.
    pub(super) inconclusive: Option<Said>,
    /// Why there was no answer.
    pub(super) failure: Option<String>,
    /// Whether its record cannot be read.
    pub(super) unreadable: bool,
    /// Whether it is an imported document.
    #[serde(skip)]
    imported: bool,
    #[serde(skip)]
    told: Option<VisitRecord>,
    pub(super) file: String,
    pub(super) offset: u64,
}

/// Content of an answer that does not show the present page.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Said {
    /// `noindex`, perhaps with other changes.
    Noindex,
    /// Other headers that change the page.
    Other,
    /// Only that the condition of the request failed (412).
    Condition,
}

impl Capture {
    /// Returns whether the visit failed: no answer, a temporary error, or an inconclusive answer. Earlier answers stay
    /// valid then.
    pub(super) fn is_vain(&self) -> bool {
        let purpose = self.purpose.unwrap_or(Purpose::Page);
        let keeps_previous = |status| crawl::keeps_previous(purpose, status);
        let is_vain = self.status.parse().is_ok_and(keeps_previous);
        self.failure.is_some() || self.inconclusive.is_some() || is_vain && !self.unchanged
    }

    /// Returns whether the archive has a page from this visit.
    pub(super) fn is_page(&self) -> bool {
        let is_page = matches!(self.purpose, Some(Purpose::Page) | None);
        let is_same = self.unchanged && self.status == "304";
        is_page && !self.unstored && (self.status == "200" || is_same)
    }
}

/// Which crawl fetches a URL again.
#[derive(Default, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// Any crawl.
    #[default]
    Crawl,
    /// Any crawl, because an unfinished recrawl includes it, even if it was given up.
    Open,
    /// Any crawl, because an unfinished recrawl includes it, though the last visit succeeded.
    Due,
    /// Only a new recrawl: it was given up, or an earlier answer is still valid.
    Recrawl,
    /// A crawl that finds it again: the links to it are lost.
    IfFound,
    /// Any crawl that needs it: it is a robots.txt.
    Robots,
    /// No crawl, with the reason.
    Nobody(String),
}

/// Which crawl fetches a URL again, and the end of the wait that its host requested, in seconds since 1970.
pub(super) type Turn<'a> = (&'a Next, Option<i64>);

impl Next {
    /// Formats it for a URL that is lost or damaged.
    pub(super) fn asked(&self, until_s: Option<i64>) -> String {
        let until = not_before(until_s);
        match self {
            Next::Recrawl => {
                format!("`crivello crawl --recrawl=given` with this URL fetches it again{until}")
            }
            _ => self.told(until_s),
        }
    }

    /// Formats it for a URL that failed, or that a recrawl has yet to fetch.
    pub(super) fn told(&self, until_s: Option<i64>) -> String {
        let until = not_before(until_s);
        match self {
            Next::Crawl => format!("`crivello crawl` fetches it again{until}"),
            Next::Open => {
                format!("`crivello crawl` fetches it again for the unfinished recrawl{until}")
            }
            Next::Due => format!("the unfinished recrawl has yet to fetch it again{until}"),
            Next::Recrawl => format!("only `crivello crawl --recrawl` fetches it again{until}"),
            Next::IfFound => {
                "nothing in the archive links to it; a crawl fetches it again if it finds a link"
                    .to_owned()
            }
            Next::Robots => format!(
                "a crawl fetches it before other pages of its host, unless the visit log has its rules{until}"
            ),
            Next::Nobody(why) => format!("no crawl fetches it again: {why}"),
        }
    }
}

/// Formats the end of a wait.
pub(super) fn not_before(until_s: Option<i64>) -> String {
    let until = until_s.map(|s| format!(", not before {}", archive::date_text(s)));
    until.unwrap_or_default()
}

/// Returns whether the failed last visit used up all `retries`; `None` if it did not fail.
pub(super) fn is_given_up(captures: &[Capture], retries: u8) -> Option<bool> {
    let last = captures.iter().rfind(|capture| capture.told.is_some());
    let told = last.filter(|last| last.is_vain()).and_then(|last| last.told.as_ref());
    told.map(|told| told.is_final(retries))
}

/// Returns the end of the wait that the last answer requested.
pub(super) fn not_before_s(captures: &[Capture]) -> Option<i64> {
    let last = captures.iter().rfind(|capture| capture.told.is_some())?;
    last.told.as_ref()?.not_before_s
}

/// Returns its distance from the first page of its site at the last visit.
pub(super) fn depth(captures: &[Capture]) -> Option<u16> {
    let last = captures.iter().rfind(|capture| capture.told.is_some())?;
    last.told.as_ref().map(|told| told.depth)
}

/// Returns whether there is a valid answer, even if later visits failed.
pub(super) fn has_standing(captures: &[Capture]) -> bool {
    captures.iter().any(|capture| !capture.is_vain())
}

/// Loss of the body that the last valid answer, a revisit record, refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// The archive does not have it. The next crawl fetches the page again.
    Lost,
    /// Its record cannot be read. Only a recrawl of everything or of this page fetches it again.
    Damaged,
}

/// Returns whether the body of the last valid answer is lost or damaged.
pub(super) fn gap(captures: &[Capture]) -> Option<Gap> {
    let last = captures.iter().rfind(|capture| !capture.is_vain())?;
    if last.imported {
        return None;
    }
    if last.unreadable {
        return Some(Gap::Damaged);
    }
    let Moment { s, us } = last.told.as_ref()?.refers_to?;
    // Some records have no microseconds.
    let is_of_then = |it: &&Capture| it.date_s == s && (it.date_us == us || us == 0);
    let mut bodies = captures.iter().filter(is_of_then).filter(|it| !it.unchanged);
    match bodies.clone().any(|it| !it.unreadable && it.failure.is_none()) {
        true => None,
        false if bodies.next().is_some() => Some(Gap::Damaged),
        false => Some(Gap::Lost),
    }
}

/// Returns whether an unreadable capture is in a torn end, which the next crawl cuts off.
pub(super) fn is_torn(archive: &Archive, captures: &[Capture]) -> Result<bool> {
    for capture in captures.iter().filter(|capture| capture.unreadable) {
        let (file, offset) = (capture.file.clone(), capture.offset);
        if archive.is_torn(&Location { file, offset, length: 0 })? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A URL without any answer.
pub(super) struct Failed {
    pub(super) tries: u64,
    /// The last failure.
    pub(super) last: String,
    /// Whether it was given up.
    pub(super) is_final: bool,
}

/// Returns the CDXJ lines of exactly this URL, oldest first.
pub(super) fn lines(archive: &Archive, url: &Url) -> Result<Vec<CdxLine>> {
    let limits = page::Limits { url_bytes_max: URL_BYTES_MAX, ..page::Limits::default() };
    let is_it = |captured: &str| {
        let spelt = || page::normalise(captured, None, &limits);
        captured == url.as_str() || spelt().is_ok_and(|captured| captured == *url)
    };
    let mut captures = archive.captures(url.as_str())?;
    captures.retain(|capture| is_it(&capture.url));
    Ok(captures)
}

/// Returns the CDXJ lines of this URL, unreadable ones included, oldest first.
pub(super) fn all_lines(archive: &Archive, frontier: &Path, url: &Url) -> Result<Vec<CdxLine>> {
    let mut captures = lines(archive, url)?;
    let unreadable = crawl::unreadable_captures(frontier, archive, url.as_str())?;
    captures.extend(unreadable.into_iter().filter(|capture| capture.url == url.as_str()));
    captures.sort_by_key(|capture| (capture.date_s, capture.date_us));
    Ok(captures)
}

/// Returns every visit of a URL, oldest first.
pub(super) fn read(
    archive: &Archive,
    frontier: &Path,
    url: &Url,
    agent: &str,
) -> Result<Vec<Capture>> {
    let mut captures = Vec::new();
    for line in all_lines(archive, frontier, url)? {
        let record = match archive.read(&line.location) {
            Ok(record) => Some(record),
            Err(error @ ArchiveError::Io { .. }) => return Err(error.into()),
            // Only the CDXJ line is left of an unreadable record.
            Err(_) => None,
        };
        let mut told = record.as_ref().and_then(VisitRecord::read);
        if let Some(location) = told.as_mut().and_then(|told| told.location.as_mut())
            && let Ok(target) = page::normalise(location, Some(url), &page::Limits::default())
        {
            *location = target.into();
        }
        let status = line.status.or(told.as_ref().and_then(|told| told.status));
        let failure = record.as_ref().and_then(crawl::read_failure);
        let inconclusive = match &told {
            _ if record.as_ref().is_some_and(crawl::says_noindex) => Some(Said::Noindex),
            Some(told) if told.is_inconclusive && told.status == Some(412) => Some(Said::Condition),
            Some(told) if told.is_inconclusive => record.as_ref().map(|record| said(record, agent)),
            _ => None,
        };
        captures.push(Capture {
            date_s: line.date_s,
            date_us: line.date_us,
            status: status.map_or_else(|| "-".to_owned(), |status| status.to_string()),
            purpose: told.as_ref().map(|told| told.purpose),
            unstored: told.as_ref().is_some_and(|told| told.is_unstored),
            unchanged: told.as_ref().is_some_and(|told| told.unchanged),
            inconclusive,
            failure: failure.map(|failure| failure.to_string()),
            unreadable: record.is_none(),
            imported: record.is_some_and(|record| record.kind == Kind::Resource),
            told,
            file: line.location.file,
            offset: line.location.offset,
        });
    }
    Ok(captures)
}

/// Classifies the headers of an inconclusive answer.
fn said(record: &Record, agent: &str) -> Said {
    let http = parse_http(&record.block);
    let asks = http.is_ok_and(|http| Directives::from_headers(&http.headers, agent).noindex);
    if asks { Said::Noindex } else { Said::Other }
}

/// Returns the record of the newest page, or why it cannot be read; `None` if there was no page.
fn newest_page(archive: &Archive, url: &Url) -> Result<Option<Result<Record, ArchiveError>>> {
    let captures = lines(archive, url)?;
    let is_page = |capture: &&CdxLine| capture.status == Some(200) && !capture.is_revisit();
    match captures.iter().rfind(is_page).map(|last| archive.read(&last.location)) {
        Some(Err(error @ ArchiveError::Io { .. })) => Err(error.into()),
        read => Ok(read),
    }
}

/// Returns the newest page and whether it has `noindex`; `None` if it cannot be read.
fn read_newest(archive: &Archive, url: &Url, config: &Config) -> Result<Option<(Page, bool)>> {
    let Some(Ok(record)) = newest_page(archive, url)? else { return Ok(None) };
    let Ok(http) = parse_http(&record.block) else { return Ok(None) };
    let Ok(body) = http.decoded_body(config.decoded_bytes_max) else { return Ok(None) };
    let limits = extract_options(config).page;
    let header = Directives::from_headers(&http.headers, config.agent_name());
    let page = page::parse(url, http.header("Content-Type"), &body, &limits).ok();
    Ok(page.map(|page| {
        let noindex = page.robots.union(header).noindex;
        (page, noindex)
    }))
}

/// Returns the canonical URL of the newest page, and why it is not indexed.
pub(super) fn newest(
    archive: &Archive,
    url: &Url,
    config: &Config,
) -> Result<(Option<String>, Option<&'static str>)> {
    Ok(match read_newest(archive, url, config)? {
        None => (None, Some("it cannot be read")),
        Some((page, noindex)) => {
            let canonical = page.canonical;
            let canonical =
                canonical.map(|url| Normalisation::apply(&config.normalise, url).into());
            (canonical, noindex.then_some("it has noindex"))
        }
    })
}

/// Returns which limits cut the newest page or document.
pub(super) fn cuts(archive: &Archive, url: &Url, config: &Config) -> Result<Vec<String>> {
    let mut cuts = page_cuts(archive, url, config)?;
    cuts.extend(
        newest_text(archive, url)?.and_then(|record| truncation::text_cut(&record, config)),
    );
    Ok(cuts)
}

/// Returns the newest readable page or imported document.
fn newest_text(archive: &Archive, url: &Url) -> Result<Option<Record>> {
    let captures = lines(archive, url)?;
    let may_be =
        |capture: &&CdxLine| matches!(capture.status, Some(200) | None) && !capture.is_revisit();
    for capture in captures.iter().rev().filter(may_be) {
        match archive.read(&capture.location) {
            Ok(record) if matches!(record.kind, Kind::Response | Kind::Resource) => {
                return Ok(Some(record));
            }
            Err(error @ ArchiveError::Io { .. }) => return Err(error.into()),
            _ => {}
        }
    }
    Ok(None)
}

/// Returns which limits of the crawl cut the newest page.
fn page_cuts(archive: &Archive, url: &Url, config: &Config) -> Result<Vec<String>> {
    let record = match newest_page(archive, url)? {
        None => return Ok(Vec::new()),
        Some(Ok(record)) => record,
        Some(Err(error)) => return Ok(vec![format!("it cannot be read: {error}")]),
    };
    match VisitRecord::read(&record).map(|told| told.purpose) {
        Some(Purpose::Page) => truncation::cuts(&record, url, config),
        Some(Purpose::Sitemap) => truncation::sitemap_cuts(&record, config),
        Some(Purpose::Robots) | None => Ok(Vec::new()),
    }
}

/// Returns the verdict that follows from the answers; `None` without an answer.
pub(super) fn answered(
    captures: &[Capture],
    retries: u8,
    next: Option<Turn<'_>>,
    indexed: &str,
) -> Option<String> {
    let is_answer = |capture: &Capture| capture.failure.is_none();
    let standing = captures.iter().rposition(|capture| !capture.is_vain());
    let at = standing.or_else(|| captures.iter().rposition(is_answer))?;
    let (last, after) = (&captures[at], &captures[at + 1..]);
    if last.imported {
        return Some("imported".to_owned());
    }
    let gap = gap(captures);
    let mut verdict = match gap {
        Some(gap) => missing(last, gap, next.filter(|_| after.is_empty())),
        None => answer(&captures[..=at], retries, next.filter(|_| after.is_empty())),
    };
    if last.unstored {
        verdict.push_str("; `store_filter` kept it out of the archive");
    }
    if let Some(vain) = after.last() {
        verdict = format!("{verdict}; after that, {}", in_vain(vain, after, retries, next));
    }
    if standing.is_some() && !after.is_empty() && gap.is_none() {
        let what = if last.is_page() { "the page" } else { "the answer" };
        let date = archive::date_text(last.date_s);
        let place = place(last, after, indexed);
        verdict = format!("{verdict}; {what} of {date} is kept ({place})");
    }
    Some(verdict)
}

/// Describes a page whose body is lost or damaged, and which crawl fetches it.
fn missing(last: &Capture, gap: Gap, next: Option<Turn<'_>>) -> String {
    let date = archive::date_text(last.date_s);
    let body = last.told.as_ref().and_then(|told| told.refers_to);
    let what = match (body.map(|body| archive::date_text(body.s)), gap) {
        (Some(body), Gap::Lost) => {
            format!("missing: it was unchanged at {date}, and the record of {body} is lost")
        }
        (Some(body), Gap::Damaged) => {
            format!("damaged: it was unchanged at {date}, and the record of {body} cannot be read")
        }
        (None, _) => format!("damaged: the record of {date} cannot be read"),
    };
    next.map_or(what.clone(), |(next, until_s)| format!("{what}; {}", next.asked(until_s)))
}

/// Describes the last failed visit after a moment, if any, and which crawl makes another.
pub(super) fn since(
    captures: &[Capture],
    moment: (i64, u32),
    retries: u8,
    next: Option<Turn<'_>>,
) -> Option<String> {
    let at = captures.partition_point(|visit| (visit.date_s, visit.date_us) <= moment);
    let after = &captures[at..];
    after.last().map(|vain| in_vain(vain, after, retries, next))
}

/// Describes the last failed visit after a valid answer, and which crawl makes another.
fn in_vain(vain: &Capture, after: &[Capture], retries: u8, next: Option<Turn<'_>>) -> String {
    let told = vain.told.as_ref();
    let said = match &vain.failure {
        Some(failure) => format!("a request failed ({failure})"),
        None if vain.inconclusive == Some(Said::Condition) => {
            format!(
                "the server answered {} to a conditional request, and no other request followed",
                vain.status
            )
        }
        None if vain.inconclusive.is_some() => {
            let what = "with headers that change the page, which was not fetched since";
            format!("the server answered {} {what}", vain.status)
        }
        None if vain.unreadable => {
            let date = archive::date_text(vain.date_s);
            return format!("it was visited at {date}, and that record cannot be read");
        }
        None => return failing(&vain.status, told, requests(after), retries, next),
    };
    said + &fate(told, retries, next)
}

/// Counts the requests of the last visit and of the failed visits that it repeats.
fn requests(visits: &[Capture]) -> u64 {
    let tries =
        |capture: &Capture| capture.told.as_ref().map_or(1, |told| u64::from(told.attempts) + 1);
    let all = visits.last().map_or(1, tries);
    let (mut left, mut requests) = (all, 0);
    for capture in visits.iter().rev() {
        let is_asked_once_more = capture.inconclusive.is_some() && capture.failure.is_none();
        if !is_asked_once_more {
            if left == 0 {
                break;
            }
            left -= 1;
        }
        requests += 1;
    }
    requests.max(all)
}

/// Says whether search finds a valid answer. `indexed` is the state without the failed visits `after` it, whose
/// `noindex` may hide the page.
fn place(last: &Capture, after: &[Capture], indexed: &str) -> String {
    let says = |capture: &&Capture| !matches!(capture.inconclusive, None | Some(Said::Condition));
    let withheld = after.iter().rfind(says);
    let withheld = withheld.filter(|told| told.inconclusive == Some(Said::Noindex));
    match withheld {
        _ if !last.is_page() => "not a page".to_owned(),
        Some(told) => {
            let date = archive::date_text(told.date_s);
            format!("not in the index: the 304 of {date} has noindex")
        }
        None => indexed.to_owned(),
    }
}

/// Describes the last answer; if it failed, also which crawl fetches the URL `next`.
fn answer(captures: &[Capture], retries: u8, next: Option<Turn<'_>>) -> String {
    let Some((last, before)) = captures.split_last() else { return String::new() };
    let told = last.told.as_ref();
    match last.status.as_str() {
        // After a 304, the earlier capture is still valid.
        status if status == "200" || status == "304" && last.unchanged => match last.purpose {
            Some(Purpose::Robots) => "fetched, as a robots.txt".to_owned(),
            Some(Purpose::Sitemap) => "fetched, as a sitemap".to_owned(),
            Some(Purpose::Page) | None => "fetched".to_owned(),
        },
        "301" | "302" | "303" | "307" | "308" => {
            match told.and_then(|told| told.location.as_deref()) {
                Some(target) => format!("fetched: it redirects to {target}"),
                None => {
                    format!("fetched: the server answered {} without a valid Location", last.status)
                }
            }
        }
        status => {
            let purpose = last.purpose.unwrap_or(Purpose::Page);
            let number = status.parse().unwrap_or(0);
            if crawl::is_temporary(purpose, number) {
                // No answer is valid, so every visit counts.
                let requests = captures.iter().filter(|capture| capture.told.is_some()).count();
                let requests = requests as u64;
                return format!("failed: {}", failing(status, told, requests, retries, next));
            }
            let had = before.iter().rfind(|capture| capture.status == "200");
            match had.filter(|_| StatusClass::of(number) == StatusClass::Gone) {
                Some(had) => {
                    let date = archive::date_text(had.date_s);
                    format!("gone: the server answered {status}; it was there at {date}")
                }
                None => format!("fetched: the server answered {status}"),
            }
        }
    }
}

/// Describes a temporary error.
fn failing(
    status: &str,
    told: Option<&VisitRecord>,
    requests: u64,
    retries: u8,
    next: Option<Turn<'_>>,
) -> String {
    let requests = console::count(requests, "request");
    let fate = fate(told, retries, next);
    format!("the server answered {status} to the last of {requests}{fate}")
}

/// Says whether a failed visit used up all `retries`, and which crawl makes another.
fn fate(told: Option<&VisitRecord>, retries: u8, next: Option<Turn<'_>>) -> String {
    let Some((told, (next, until_s))) = told.zip(next) else { return String::new() };
    let given_up = if told.is_final(retries) { "; given up" } else { "" };
    format!("{given_up}; {}", next.told(until_s))
}

/// Counts the failures of a URL without any answer. Failed name lookups do not count.
pub(super) fn failed(captures: &[Capture], retries: u8) -> Option<Failed> {
    let visits = || captures.iter().filter(|capture| capture.told.is_some());
    let last = visits().next_back()?;
    let told = last.told.as_ref()?;
    Some(Failed {
        tries: visits().count() as u64,
        last: last.failure.clone()?,
        is_final: told.is_final(retries),
    })
}
