//! The visits of one URL, as the archive has them.
//!
//! What lives here: which captures are of the URL, what each was, and what the last of them means. What does
//! not: why there is none.
//!
//! **Invariant.** The archive keeps http and https under one key; only captures of the very URL count here.

use std::path::Path;

use anyhow::Result;
use archive::{Archive, ArchiveError, CdxLine, Kind, Location, Record, parse_http};
use crawl::{Config, Moment, Normalisation, Purpose, Told};
use page::{Directives, Page, StatusClass, Url};
use serde::Serialize;

use super::{URL_BYTES_MAX, cut};
use crate::pipeline::extract_options;
use crate::talk;

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
    /// What it was asked for; nothing if the record does not tell.
    pub(super) purpose: Option<Purpose>,
    /// Whether there is an answer that `store_filter` kept out of the archive.
    pub(super) unstored: bool,
    /// Whether it is as the one before was.
    pub(super) unchanged: bool,
    /// What it says, if that is not what the page is now, which only a later answer can tell.
    pub(super) inconclusive: Option<Said>,
    /// Why there was no answer.
    pub(super) failure: Option<String>,
    /// Whether its record cannot be read.
    pub(super) unreadable: bool,
    /// Whether it is a document that was imported, and not an answer.
    #[serde(skip)]
    imported: bool,
    #[serde(skip)]
    told: Option<Told>,
    pub(super) file: String,
    pub(super) offset: u64,
}

/// What an answer says that does not tell what the page is now.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Said {
    /// Among other things perhaps, that it is not to be found.
    Noindex,
    /// Something else that makes another page of the one before.
    Other,
    /// Nothing of the page: that the condition of the request does not hold.
    Condition,
}

impl Capture {
    /// Whether it was in vain: no answer, or one that may be better another time or says nothing of the page. It hides
    /// no earlier one.
    pub(super) fn is_vain(&self) -> bool {
        let purpose = self.purpose.unwrap_or(Purpose::Page);
        let leaves_standing = |status| crawl::leaves_standing(purpose, status);
        let is_vain = self.status.parse().is_ok_and(leaves_standing);
        self.failure.is_some() || self.inconclusive.is_some() || is_vain && !self.unchanged
    }

    /// Whether the archive has a page by it.
    pub(super) fn is_page(&self) -> bool {
        let is_page = matches!(self.purpose, Some(Purpose::Page) | None);
        let is_same = self.unchanged && self.status == "304";
        is_page && !self.unstored && (self.status == "200" || is_same)
    }
}

/// Who tries a URL again whose last visit was in vain.
#[derive(Default, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// Any crawl.
    #[default]
    Crawl,
    /// Any crawl, since a recrawl is not over that asks for it, whatever was given up before.
    Open,
    /// Any crawl, since a recrawl is not over that has yet to ask for it, though it was not in vain.
    Due,
    /// A recrawl, since an earlier answer stands and none is under way.
    Recrawl,
    /// A crawl that finds it once more, since what led there is lost.
    IfFound,
    /// Any crawl that needs it, for it is a robots.txt.
    Robots,
    /// Nobody, as things are: why.
    Nobody(String),
}

/// Who asks for a URL again, and before which moment, in seconds since 1970, its host does not want to be asked.
pub(super) type Turn<'a> = (&'a Next, Option<i64>);

impl Next {
    /// In words, for what is to be had once more since it is lost or damaged.
    pub(super) fn asked(&self, until_s: Option<i64>) -> String {
        let until = not_before(until_s);
        match self {
            Next::Crawl => format!("a crawl asks for it again{until}"),
            Next::Nobody(why) => format!("no crawl asks for it again now, since {why}"),
            Next::IfFound => {
                "nothing in the archive leads to it; a crawl asks for it again if it is found once more"
                    .to_owned()
            }
            Next::Recrawl => {
                format!("`crivello crawl --recrawl=given` with this URL asks for it again{until}")
            }
            Next::Robots => format!(
                "a crawl that does not know by its log of visits what it says asks for it before anything else of its host{until}"
            ),
            Next::Open | Next::Due => self.told(until_s),
        }
    }

    /// In words, for a server that wants to be left alone until a moment.
    pub(super) fn told(&self, until_s: Option<i64>) -> String {
        let until = not_before(until_s);
        match self {
            Next::Crawl => format!("a crawl tries it again{until}"),
            Next::Open => {
                format!("a crawl asks for it again, for the recrawl that is not over{until}")
            }
            Next::Due => format!("the recrawl that is not over is yet to ask for it again{until}"),
            Next::Recrawl => format!("the next recrawl asks for it again{until}"),
            Next::IfFound | Next::Robots => self.asked(until_s),
            Next::Nobody(why) => format!("no crawl tries it again now, since {why}"),
        }
    }
}

/// Of a server that wants to be left alone until a moment.
pub(super) fn not_before(until_s: Option<i64>) -> String {
    let until = until_s.map(|s| format!(", not before {}", archive::date_text(s)));
    until.unwrap_or_default()
}

/// Whether the last visit was in vain and was the last one by `retries`; `None` if it was not in vain.
pub(super) fn is_given_up(captures: &[Capture], retries: u8) -> Option<bool> {
    let last = captures.iter().rfind(|capture| capture.told.is_some());
    let told = last.filter(|last| last.is_vain()).and_then(|last| last.told.as_ref());
    told.map(|told| told.is_final(retries))
}

/// Until when the server wants to be left alone by the last visit alone.
pub(super) fn not_before_s(captures: &[Capture]) -> Option<i64> {
    let last = captures.iter().rfind(|capture| capture.told.is_some())?;
    last.told.as_ref()?.not_before_s
}

/// How far it was from the first page of its site when it was visited last.
pub(super) fn depth(captures: &[Capture]) -> Option<u16> {
    let last = captures.iter().rfind(|capture| capture.told.is_some())?;
    last.told.as_ref().map(|told| told.depth)
}

/// Whether an answer stands, whatever came after it.
pub(super) fn has_standing(captures: &[Capture]) -> bool {
    captures.iter().any(|capture| !capture.is_vain())
}

/// What has become of the body that the last answer refers to, which stands and has none of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// The archive has it no more; so a crawl asks for the page again.
    Lost,
    /// Its record cannot be read, which a crawl need not have found; a recrawl of everything, or of this page, asks for it
    /// again.
    Damaged,
}

/// What is missing of the last answer that stands, if anything is.
pub(super) fn gap(captures: &[Capture]) -> Option<Gap> {
    let last = captures.iter().rfind(|capture| !capture.is_vain())?;
    if last.imported {
        return None;
    }
    if last.unreadable {
        return Some(Gap::Damaged);
    }
    let Moment { s, us } = last.told.as_ref()?.refers_to?;
    // Some know of no microseconds.
    let is_of_then = |it: &&Capture| it.date_s == s && (it.date_us == us || us == 0);
    let mut bodies = captures.iter().filter(is_of_then).filter(|it| !it.unchanged);
    match bodies.clone().any(|it| !it.unreadable && it.failure.is_none()) {
        true => None,
        false if bodies.next().is_some() => Some(Gap::Damaged),
        false => Some(Gap::Lost),
    }
}

/// Whether what cannot be read belongs to a torn end, which the next crawl cuts off.
pub(super) fn is_torn(archive: &Archive, captures: &[Capture]) -> Result<bool> {
    for capture in captures.iter().filter(|capture| capture.unreadable) {
        let (file, offset) = (capture.file.clone(), capture.offset);
        if archive.is_torn(&Location { file, offset, length: 0 })? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What failed visits mean where there was never an answer.
pub(super) struct Failed {
    pub(super) tries: u64,
    /// The last failure.
    pub(super) last: String,
    /// Whether no crawl tries it again.
    pub(super) is_final: bool,
}

/// The lines of exactly this URL, oldest first.
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

/// The same with those that cannot be read.
pub(super) fn all_lines(archive: &Archive, frontier: &Path, url: &Url) -> Result<Vec<CdxLine>> {
    let mut captures = lines(archive, url)?;
    let unreadable = crawl::unreadable_captures(frontier, archive, url.as_str())?;
    captures.extend(unreadable.into_iter().filter(|capture| capture.url == url.as_str()));
    captures.sort_by_key(|capture| (capture.date_s, capture.date_us));
    Ok(captures)
}

/// Every visit of a URL, oldest first.
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
            // What cannot be read says no more than its line.
            Err(_) => None,
        };
        let mut told = record.as_ref().and_then(Told::read);
        if let Some(location) = told.as_mut().and_then(|told| told.location.as_mut())
            && let Ok(target) = page::normalise(location, Some(url), &page::Limits::default())
        {
            *location = target.into();
        }
        let status = line.status.or(told.as_ref().and_then(|told| told.status));
        let failure = record.as_ref().and_then(crawl::read_failure);
        let inconclusive = match &told {
            _ if record.as_ref().is_some_and(crawl::withholds) => Some(Said::Noindex),
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

/// What the head of a record says.
fn said(record: &Record, agent: &str) -> Said {
    let http = parse_http(&record.block);
    let asks = http.is_ok_and(|http| Directives::from_headers(&http.headers, agent).noindex);
    if asks { Said::Noindex } else { Said::Other }
}

/// The newest page, or what is wrong with its record; `None` if there never was one.
fn newest_page(archive: &Archive, url: &Url) -> Result<Option<Result<Record, ArchiveError>>> {
    let captures = lines(archive, url)?;
    let is_page = |capture: &&CdxLine| capture.status == Some(200) && !capture.is_revisit();
    match captures.iter().rfind(is_page).map(|last| archive.read(&last.location)) {
        Some(Err(error @ ArchiveError::Io { .. })) => Err(error.into()),
        read => Ok(read),
    }
}

/// The newest page, and whether it asks not to be found; `None` if it cannot be read.
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

/// Which address the newest page names as its canonical one, and what keeps it out of the index.
pub(super) fn newest(
    archive: &Archive,
    url: &Url,
    config: &Config,
) -> Result<(Option<String>, Option<&'static str>)> {
    Ok(match read_newest(archive, url, config)? {
        None => (None, Some("nothing of it can be read")),
        Some((page, noindex)) => {
            let canonical = page.canonical;
            let canonical =
                canonical.map(|url| Normalisation::apply(&config.normalise, url).into());
            (canonical, noindex.then_some("it asks not to be found"))
        }
    })
}

/// What of the newest page or document was not read.
pub(super) fn cuts(archive: &Archive, url: &Url, config: &Config) -> Result<Vec<String>> {
    let mut cuts = page_cuts(archive, url, config)?;
    cuts.extend(newest_text(archive, url)?.and_then(|record| cut::text_cut(&record, config)));
    Ok(cuts)
}

/// The newest page that was fetched, or document that was imported, if it can be read.
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

/// What of the newest page was not read, as far as limits of the crawl go.
fn page_cuts(archive: &Archive, url: &Url, config: &Config) -> Result<Vec<String>> {
    let record = match newest_page(archive, url)? {
        None => return Ok(Vec::new()),
        Some(Ok(record)) => record,
        Some(Err(error)) => return Ok(vec![format!("nothing of it is read: {error}")]),
    };
    match Told::read(&record).map(|told| told.purpose) {
        Some(Purpose::Page) => cut::cuts(&record, url, config),
        Some(Purpose::Sitemap) => cut::sitemap_cuts(&record, config),
        Some(Purpose::Robots) | None => Ok(Vec::new()),
    }
}

/// What the answers mean, in a sentence; `None` if there was none.
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
        verdict = format!("{verdict}; asked again, {}", in_vain(vain, after, retries, next));
    }
    if standing.is_some() && !after.is_empty() && gap.is_none() {
        let what = if last.is_page() { "the page" } else { "the answer" };
        let date = archive::date_text(last.date_s);
        let place = place(last, after, indexed);
        verdict = format!("{verdict}; {what} of {date} stands, {place}");
    }
    Some(verdict)
}

/// What is said of a page that the archive has no more; also who asks for it `next`, if nobody has since.
fn missing(last: &Capture, gap: Gap, next: Option<Turn<'_>>) -> String {
    let date = archive::date_text(last.date_s);
    let body = last.told.as_ref().and_then(|told| told.refers_to);
    let what = match (body.map(|body| archive::date_text(body.s)), gap) {
        (Some(body), Gap::Lost) => {
            format!(
                "missing: at {date} it was as at {body}, and the archive has lost what it was then"
            )
        }
        (Some(body), Gap::Damaged) => {
            format!("damaged: at {date} it was as at {body}, and that record cannot be read")
        }
        (None, _) => format!("damaged: the record of {date} cannot be read"),
    };
    next.map_or(what.clone(), |(next, until_s)| format!("{what}; {}", next.asked(until_s)))
}

/// What became of the last visit after a moment, if there was one, which was in vain; and who makes another one.
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

/// What became of the last visit after an answer that stands, and who makes another one.
fn in_vain(vain: &Capture, after: &[Capture], retries: u8, next: Option<Turn<'_>>) -> String {
    let told = vain.told.as_ref();
    let said = match &vain.failure {
        Some(failure) => failure.clone(),
        None if vain.inconclusive == Some(Said::Condition) => {
            let what = "that the condition of the request does not hold";
            format!(
                "the server answered {}, {what}, and nobody asked since without one",
                vain.status
            )
        }
        None if vain.inconclusive.is_some() => {
            let what = "with a head that makes another page of it";
            format!("the server answered {} {what}, and nobody asked since which", vain.status)
        }
        None if vain.unreadable => {
            let date = archive::date_text(vain.date_s);
            return format!("and the record of {date} cannot be read");
        }
        None => return failing(&vain.status, told, requests(after), retries, next),
    };
    said + &fate(told, retries, next)
}

/// How many requests were made for the last of these visits, those before it that it repeats included.
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

/// Where an answer is that stands, by visits after it that were in vain, and by where its page is `indexed` but for
/// these.
fn place(last: &Capture, after: &[Capture], indexed: &str) -> String {
    let says = |capture: &&Capture| !matches!(capture.inconclusive, None | Some(Said::Condition));
    let withheld = after.iter().rfind(says);
    let withheld = withheld.filter(|told| told.inconclusive == Some(Said::Noindex));
    match withheld {
        _ if !last.is_page() => "and there is no page in the index".to_owned(),
        Some(told) => {
            let date = archive::date_text(told.date_s);
            format!("but not in the index, since the 304 of {date} has noindex")
        }
        None => indexed.to_owned(),
    }
}

/// What the last answer was, after those before it; and if it was in vain, who asks `next`, if nobody has since.
fn answer(captures: &[Capture], retries: u8, next: Option<Turn<'_>>) -> String {
    let Some((last, before)) = captures.split_last() else { return String::new() };
    let told = last.told.as_ref();
    match last.status.as_str() {
        // After a 304 an earlier capture still holds.
        status if status == "200" || status == "304" && last.unchanged => match last.purpose {
            Some(Purpose::Robots) => "fetched, as a robots.txt".to_owned(),
            Some(Purpose::Sitemap) => "fetched, as a sitemap".to_owned(),
            Some(Purpose::Page) | None => "fetched".to_owned(),
        },
        "301" | "302" | "303" | "307" | "308" => {
            match told.and_then(|told| told.location.as_deref()) {
                Some(target) => format!("fetched: it redirects to {target}"),
                None => {
                    format!("fetched: the server answered {}, and not where to go", last.status)
                }
            }
        }
        status => {
            let purpose = last.purpose.unwrap_or(Purpose::Page);
            let number = status.parse().unwrap_or(0);
            if crawl::is_passing(purpose, number) {
                // Nothing but these: no earlier answer stands.
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

/// What an answer means that may be better another time.
fn failing(
    status: &str,
    told: Option<&Told>,
    requests: u64,
    retries: u8,
    next: Option<Turn<'_>>,
) -> String {
    let requests = talk::count(requests, "request");
    let fate = fate(told, retries, next);
    format!("the server answered {status} to the last of {requests}{fate}")
}

/// Whether a visit that was in vain was the last one by `retries`, and who makes another one.
fn fate(told: Option<&Told>, retries: u8, next: Option<Turn<'_>>) -> String {
    let Some((told, (next, until_s))) = told.zip(next) else { return String::new() };
    let given_up = if told.is_final(retries) { "; given up" } else { "" };
    format!("{given_up}; {}", next.told(until_s))
}

/// What the failures mean, if there is nothing else; one of the name server's is not one of the page.
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
