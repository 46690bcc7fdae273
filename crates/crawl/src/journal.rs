//! The archive as the journal of the crawl: how the records of a visit are written and read.
//!
//! What lives here: the records of one visit.
//!
//! - An answer is a `request` and a `response` record. Headers of the response hold what HTTP does not say.
//! - `Crivello-Purpose` is `page`, `robots` or `sitemap`; `Crivello-Robots-For` is the site whose robots.txt it
//!   is.
//! - `Crivello-Attempt`, `Crivello-Hops` and `Crivello-Depth` are the failed attempts, the redirects and the links
//!   so far.
//! - `Crivello-Took` is the time in milliseconds from the request to an answer with a Retry-After in seconds.
//! - `Crivello-Blame` is `host` if a failure counts against the host and not the page.
//! - A failed visit is a `metadata` record with the same notes as fields, and with `outcome` and `detail`. Its
//!   purpose is `address` if DNS failed.
//! - An answer equal to an earlier capture is a `revisit` record; `Crivello-Length` is the length of its body.
//!   Every answer that was compared with a capture has the status of that capture in `Crivello-Before`.
//! - A 304 whose head may change the meaning of the earlier page is a `revisit` record with
//!   `Crivello-Inconclusive`; its head counts until a better answer comes. A 412 to a conditional request is an
//!   inconclusive `response`, of which nothing counts.
//! - A 304 to an unconditional request is a failure. `Crivello-Withholds` marks one whose head says noindex.
//! - An answer that a filter keeps out of the archive is a `metadata` record of what it leads to.
//!
//! What does not: what follows from a record.
//!
//! **Invariant.** The response is the last record of a visit: a visit whose writing was interrupted never took
//! place.

use archive::{
    ArchiveError, Draft, Kind, Location, Record, WarcWriter, exact_date_text, http_block,
    parse_warc_fields, warc_fields,
};

use crate::answer::{Purpose, is_from_answer, is_temporary};
use crate::clock::Moment;
use crate::fetch::{ACCEPTED, Answer, CODING};
use crate::outcome::{Answered, Failure, FailureKind, Harvest, Task, Visit};
use crate::recrawl::{Earlier, Likeness};
use crate::site::Site;

const PURPOSE: &str = "Crivello-Purpose";
const ATTEMPT: &str = "Crivello-Attempt";
const HOPS: &str = "Crivello-Hops";
const DEPTH: &str = "Crivello-Depth";
/// Set on the last attempt of a page if its failure counts against the host.
const BLAME: &str = "Crivello-Blame";
const ROBOTS_FOR: &str = "Crivello-Robots-For";
/// The length of a body that is not in its record.
const LENGTH: &str = "Crivello-Length";
/// The status of the capture that an answer was compared with.
pub(crate) const BEFORE: &str = "Crivello-Before";

/// The date of the capture to which an unrequested 304 adds noindex.
const WITHHOLDS: &str = "Crivello-Withholds";

/// For an answer without a body: the date of the capture that has it.
const REFERS_TO_DATE: &str = "WARC-Refers-To-Date";

/// Set on an answer that leaves open what its page is now.
const INCONCLUSIVE: &str = "Crivello-Inconclusive";

const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";
const IDENTICAL: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
/// Our own profile: the payloads are equal after decoding.
const DECODED: &str = "urn:crivello:revisit:identical-decoded-payload";

/// The outcome of a visit whose answer was not archived.
const UNSTORED: &str = "not-stored";
/// Milliseconds between the date of its record and an answer with a relative Retry-After.
const TOOK: &str = "Crivello-Took";
/// The wait that such an answer requests, in seconds.
const RETRY_AFTER: &str = "retry-after";

/// A visit as recorded in the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) purpose: Purpose,
    /// Number of failed visits before this one.
    pub(crate) attempts: u8,
    pub(crate) hops: u8,
    /// Number of links from the first page of the site; for a sitemap, the number of indexes.
    pub(crate) depth: u16,
    /// The site whose robots.txt it is, if it differs from the site of the URL.
    pub(crate) robots_for: Option<String>,
    /// Why the visit failed; `None` if the record is an answer.
    pub(crate) failure: Option<FailureKind>,
    /// Whether the answer leaves open what the page is now, so that it still has to be fetched.
    pub(crate) is_inconclusive: bool,
    /// Whether a failure counts against the host. Then it is not an attempt of the page.
    pub(crate) blames_host: bool,
}

impl Entry {
    /// Returns the entry of a visit; `None` if the visit was a DNS lookup.
    pub(crate) fn of(visit: &Visit, failure: Option<FailureKind>) -> Option<Entry> {
        let robots_for = match &visit.task {
            Task::Resolve => return None,
            Task::Robots { asker_site, .. } => Some(asker_site.key()),
            Task::Page => None,
        };
        Some(Entry {
            purpose: visit.purpose(),
            attempts: visit.page.attempts,
            hops: visit.page.hops,
            depth: visit.page.depth,
            robots_for: robots_for.filter(|&site| site != visit.site.key()).map(str::to_owned),
            failure,
            is_inconclusive: false,
            blames_host: visit.blames_host,
        })
    }

    /// Returns whether the visit settled its URL for good, in a crawl with this number of retries. `status` is 0
    /// if there was no answer.
    pub(crate) fn is_final(&self, status: u16, retries: u8) -> bool {
        let is_temporary = match self.failure {
            None if self.is_inconclusive => return false,
            Some(failure) if failure.is_of_host() => return false,
            Some(failure) => failure.is_temporary(),
            None => is_temporary(self.purpose, status),
        };
        !is_temporary || self.attempts >= retries && !self.blames_host
    }

    /// Returns whether the visit failed for a reason that may pass.
    pub(crate) fn is_vain(&self, status: u16) -> bool {
        self.failure.map_or_else(|| is_temporary(self.purpose, status), FailureKind::is_temporary)
    }

    /// Returns whether the visit failed in a way that counts against the host as well.
    pub(crate) fn is_against_host(&self, status: u16) -> bool {
        self.is_vain(status) && self.failure != Some(FailureKind::Room)
    }

    /// Returns whether the host answered well enough to be asked for other pages.
    pub(crate) fn is_good(&self, status: u16) -> bool {
        let is_outage = self.failure.is_some_and(FailureKind::is_of_host);
        !self.is_against_host(status) && !is_outage && !self.is_inconclusive
    }

    /// Returns the number of attempts of the URL, this one included, if it failed for a reason that may pass.
    /// Returns 0 otherwise, and if the host could not be reached.
    pub(crate) fn tries(&self, status: u16) -> u8 {
        let is_outage = self.failure.is_some_and(FailureKind::is_of_host);
        if self.is_vain(status) && !is_outage { self.attempts.saturating_add(1) } else { 0 }
    }

    /// Reads the entry of a record; `None` if it is not about a visit. A response of another crawler is a page, or
    /// a robots.txt if its path says so.
    pub(crate) fn read(record: &Record) -> Option<Entry> {
        let target = record.target.as_deref()?;
        let fields;
        let (headers, is_answer) = match record.kind {
            Kind::Response => (&record.headers, true),
            // A revisit of another crawler may refer to another URL.
            Kind::Revisit if record.header(PURPOSE).is_some() => (&record.headers, true),
            Kind::Metadata => {
                fields = parse_warc_fields(&record.block);
                (&fields, false)
            }
            _ => return None,
        };
        let find = |name: &str| {
            let mut found = headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
            found.next().map(|(_, value)| value.as_str())
        };
        let failure = find("outcome").and_then(FailureKind::from_name);
        let purpose = match find(PURPOSE) {
            Some("robots") => Purpose::Robots,
            Some("sitemap") => Purpose::Sitemap,
            Some("page") => Purpose::Page,
            Some(_) => return None,
            None if Site::split(target).is_some_and(|(_, path)| path == "/robots.txt") => {
                Purpose::Robots
            }
            None => Purpose::Page,
        };
        let number = |name| find(name).and_then(|value| value.parse().ok()).unwrap_or(0);
        let is_unstored = find("outcome") == Some(UNSTORED);
        let is_inconclusive = is_answer && find(INCONCLUSIVE).is_some();
        (is_answer || is_unstored || failure.is_some()).then(|| Entry {
            purpose,
            attempts: number(ATTEMPT),
            hops: number(HOPS),
            depth: find(DEPTH).and_then(|value| value.parse().ok()).unwrap_or(0),
            robots_for: find(ROBOTS_FOR).filter(|site| !site.is_empty()).map(str::to_owned),
            failure: if is_answer {
                is_uncalled_304(record, purpose).then_some(FailureKind::Protocol)
            } else {
                failure
            },
            is_inconclusive,
            blames_host: find(BLAME).is_some(),
        })
    }
}

/// An archived answer.
pub(crate) struct Written {
    /// The part of the HTTP message that the record has.
    pub(crate) block: Vec<u8>,
    pub(crate) location: Location,
    /// Whether it equals the earlier capture.
    pub(crate) unchanged: bool,
}

/// Archives an answer; one that equals `earlier` becomes a revisit record.
pub(crate) fn write_answer(
    archive: &mut WarcWriter,
    visit: &Visit,
    date: Moment,
    user_agent: &str,
    answer: &Answer,
    earlier: Option<&Earlier>,
) -> Result<Written, ArchiveError> {
    let url = visit.url();
    let address = visit.address.map(|address| address.to_string()).unwrap_or_default();
    let request = request_block(visit, user_agent, answer, earlier);
    archive.write(&Draft {
        kind: Kind::Request,
        date_s: date.s,
        date_us: date.us,
        target: Some(&url),
        content_type: "application/http;msgtype=request",
        extra: &[("WARC-IP-Address", &address)],
        block: &request,
        payload_offset: request.len(),
    })?;
    let found = earlier.and_then(|earlier| Some((earlier, earlier.likeness(answer)?)));
    let body: &[u8] = if found.is_some() { &[] } else { &answer.body };
    let (block, payload_offset) = answer_block(answer, body);
    let notes = notes(visit);
    let revisit = found.map(|(found, likeness)| revisit(found, likeness)).unwrap_or_default();
    let before = earlier.map(|earlier| earlier.status.to_string());
    let mut extra: Vec<(&str, &str)> = vec![("WARC-IP-Address", &address)];
    if answer.is_truncated {
        extra.push(("WARC-Truncated", "length"));
    }
    if answer.is_http2 {
        extra.push(("WARC-Protocol", "h2"));
    }
    extra.extend(revisit.iter().chain(&notes).map(|(name, value)| (*name, value.as_str())));
    extra.extend(before.as_deref().map(|before| (BEFORE, before)));
    if earlier.is_some_and(|earlier| earlier.is_in_doubt(answer)) {
        extra.push((INCONCLUSIVE, "yes"));
    }
    let took_ms = Some(took_ms(answer)).filter(|&ms| ms > 0).map(|ms| ms.to_string());
    extra.extend(took_ms.as_deref().map(|took_ms| (TOOK, took_ms)));
    let length = answer.body.len().to_string();
    if found.is_some() {
        extra.push(("WARC-Refers-To-Target-URI", &url));
        extra.push((LENGTH, &length));
    }
    let location = archive.write(&Draft {
        kind: if found.is_some() { Kind::Revisit } else { Kind::Response },
        date_s: date.s,
        date_us: date.us,
        target: Some(&url),
        content_type: "application/http;msgtype=response",
        extra: &extra,
        block: &block,
        payload_offset: if found.is_some() { 0 } else { payload_offset },
    })?;
    Ok(Written { block, location, unchanged: found.is_some() })
}

/// Returns the time from the request to the answer if its Retry-After is a number of seconds; 0 otherwise.
pub(crate) fn took_ms(answer: &Answer) -> u32 {
    let value =
        answer.headers.get("Retry-After").and_then(|value| str::from_utf8(value.as_bytes()).ok());
    if value.is_some_and(is_from_answer) { answer.took_ms } else { 0 }
}

/// Reads [`took_ms`] from a record; 0 if it is missing.
pub(crate) fn read_took_ms(record: &Record) -> u32 {
    record.header(TOOK).and_then(|value| value.parse().ok()).unwrap_or(0)
}

/// Returns the length of a body that is in another record.
pub(crate) fn length_elsewhere(record: &Record) -> Option<u64> {
    record.header(LENGTH).filter(|_| record.kind == Kind::Revisit)?.parse().ok()
}

/// Returns the date of the capture whose body a revisit refers to.
pub(crate) fn refers_to(record: &Record) -> Option<Moment> {
    let date = record.header(REFERS_TO_DATE).filter(|_| record.kind == Kind::Revisit)?;
    archive::parse_date(date).map(|(s, us)| Moment { s, us })
}

/// Formats an answer as an HTTP message; also returns the offset of the body.
pub(crate) fn answer_block(answer: &Answer, body: &[u8]) -> (Vec<u8>, usize) {
    http_block(&answer.status_line, answer.fields(), body)
}

/// Returns the headers of a revisit that refer to the earlier record.
fn revisit(found: &Earlier, likeness: Likeness) -> Vec<(&'static str, String)> {
    let profile = match likeness {
        Likeness::NotModified => NOT_MODIFIED,
        Likeness::Identical => IDENTICAL,
        Likeness::Decoded => DECODED,
    };
    let mut headers = vec![
        ("WARC-Profile", profile.to_owned()),
        (REFERS_TO_DATE, exact_date_text(found.date.s, found.date.us)),
    ];
    if !found.record_id.is_empty() {
        headers.push(("WARC-Refers-To", format!("<{}>", found.record_id)));
    }
    headers.push(("WARC-Payload-Digest", found.digest.clone()));
    headers
}

/// Formats the request as HTTP/1.1, without secret values.
fn request_block(
    visit: &Visit,
    user_agent: &str,
    answer: &Answer,
    earlier: Option<&Earlier>,
) -> Vec<u8> {
    let request = format!(
        "GET {} HTTP/1.1\r\nhost: {}\r\nuser-agent: {user_agent}\r\naccept: {ACCEPTED}\r\n\
         accept-encoding: {CODING}\r\n",
        visit.page.path,
        visit.site.authority()
    );
    let mut request = request.into_bytes();
    let mut put = |name: &str, value: &[u8]| {
        for part in [name.as_bytes(), b": ", value, b"\r\n"] {
            request.extend_from_slice(part);
        }
    };
    if let Some((name, value)) = earlier.and_then(Earlier::condition) {
        put(name.as_str(), value.as_bytes());
    }
    if !visit.keep_alive && !answer.is_http2 {
        put("connection", b"close");
    }
    for name in &answer.secrets {
        put(name.as_str(), "…".as_bytes());
    }
    request.extend_from_slice(b"\r\n");
    request
}

fn write_fields(
    archive: &mut WarcWriter,
    visit: &Visit,
    date: Moment,
    fields: &[(&str, &str)],
) -> Result<Location, ArchiveError> {
    archive.write(&Draft {
        kind: Kind::Metadata,
        date_s: date.s,
        date_us: date.us,
        target: Some(&visit.url()),
        content_type: "application/warc-fields",
        extra: &[],
        block: &warc_fields(fields),
        payload_offset: 0,
    })
}

/// Archives a failed visit; `withheld` is the capture to which an unrequested 304 adds noindex.
pub(crate) fn write_failure(
    archive: &mut WarcWriter,
    visit: &Visit,
    date: Moment,
    failure: &Failure,
    withheld: Option<&Earlier>,
) -> Result<Location, ArchiveError> {
    let notes = notes(visit);
    let page_date = withheld.map(|page| exact_date_text(page.date.s, page.date.us));
    let mut fields = vec![("outcome", failure.kind.name()), ("detail", failure.detail.as_str())];
    fields.extend(page_date.as_deref().map(|page_date| (WITHHOLDS, page_date)));
    fields.extend(notes.iter().map(|(name, value)| (*name, value.as_str())));
    write_fields(archive, visit, date, &fields)
}

/// Archives the status and the links of an answer whose body is not stored.
pub(crate) fn write_unstored(
    archive: &mut WarcWriter,
    visit: &Visit,
    date: Moment,
    answered: &Answered,
) -> Result<Location, ArchiveError> {
    let notes = notes(visit);
    let (status, bytes) = (answered.status.to_string(), answered.bytes.to_string());
    let Harvest { robots: _, redirect, links, sitemaps, refused, similarity } = &answered.harvest;
    let nearness = similarity.to_string();
    let refused: Vec<String> = refused.iter().map(|(name, n)| format!("{name} {n}")).collect();
    let wait_s = answered.retry_after_ms.map(|wait_ms| wait_ms.div_ceil(1000).to_string());
    let took_ms = Some(answered.took_ms).filter(|&ms| ms > 0).map(|ms| ms.to_string());
    let mut fields = vec![("outcome", UNSTORED), ("status", &status), ("length", &bytes)];
    fields.extend(wait_s.as_deref().map(|wait_s| (RETRY_AFTER, wait_s)));
    fields.extend(took_ms.as_deref().map(|took_ms| (TOOK, took_ms)));
    fields.extend(notes.iter().map(|(name, value)| (*name, value.as_str())));
    fields.extend(Some(("similarity", nearness.as_str())).filter(|_| *similarity > 0.0));
    fields.extend(redirect.iter().map(|url| ("redirect", url.as_str())));
    fields.extend(links.iter().map(|url| ("outlink", url.as_str())));
    fields.extend(sitemaps.iter().map(|url| ("sitemap", url.as_str())));
    fields.extend(refused.iter().map(|refused| ("refused", refused.as_str())));
    write_fields(archive, visit, date, &fields)
}

/// Reads a record of [`write_unstored`]; `None` if the record is another one.
pub(crate) fn read_unstored(record: &Record) -> Option<Answered> {
    if record.kind != Kind::Metadata {
        return None;
    }
    let mut answered = Answered { is_unstored: true, ..Answered::default() };
    let harvest = &mut answered.harvest;
    let mut is_unstored = false;
    for (name, value) in parse_warc_fields(&record.block) {
        match name.as_str() {
            "outcome" => is_unstored = value == UNSTORED,
            "status" => answered.status = value.parse().ok()?,
            "length" => answered.bytes = value.parse().ok()?,
            RETRY_AFTER => {
                answered.retry_after_ms = Some(value.parse::<u64>().ok()?.saturating_mul(1000));
            }
            TOOK => answered.took_ms = value.parse().ok()?,
            "similarity" => harvest.similarity = value.parse().ok()?,
            "redirect" => harvest.redirect = Some(value).filter(|url| !url.is_empty()),
            "outlink" => harvest.links.push(value),
            "sitemap" => harvest.sitemaps.push(value),
            "refused" => {
                let (name, times) = value.split_once(' ')?;
                harvest.refused.insert(name.to_owned().into(), times.parse().ok()?);
            }
            _ => {}
        }
    }
    answered.took_ms = answered.retry_after_ms.map_or(0, |_| answered.took_ms);
    is_unstored.then_some(answered)
}

/// Returns whether a record holds a 304 as an ordinary response, as some crawlers write it. It counts as a
/// failure.
fn is_uncalled_304(record: &Record, purpose: Purpose) -> bool {
    record.kind == Kind::Response
        && purpose != Purpose::Robots
        && record.block.starts_with(b"HTTP/")
        && record.block.split(|&byte| byte == b' ').nth(1).is_some_and(|status| status == b"304")
}

/// Returns whether a visit ended with an unrequested 304 that adds noindex to the page.
pub fn says_noindex(record: &Record) -> bool {
    let is_it = |(name, _): &(String, String)| name.eq_ignore_ascii_case(WITHHOLDS);
    record.kind == Kind::Metadata && parse_warc_fields(&record.block).iter().any(is_it)
}

/// Returns why a visit failed, according to its record; `None` if the record is another one.
pub fn read_failure(record: &Record) -> Option<Failure> {
    if record.kind == Kind::Response {
        let is_uncalled = |entry: &Entry| entry.failure.is_some();
        return Entry::read(record).filter(is_uncalled).map(|_| Failure::uncalled_304());
    }
    if record.kind != Kind::Metadata {
        return None;
    }
    let fields = parse_warc_fields(&record.block);
    let find = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let kind = FailureKind::from_name(find("outcome")?)?;
    Some(Failure { kind, detail: find("detail").cloned().unwrap_or_default() })
}

fn notes(visit: &Visit) -> Vec<(&'static str, String)> {
    let purpose = match visit.task {
        Task::Resolve => "address",
        Task::Robots { .. } => "robots",
        Task::Page if visit.page.sitemap => "sitemap",
        Task::Page => "page",
    };
    let mut notes = vec![(PURPOSE, purpose.to_owned())];
    for (name, value) in [(ATTEMPT, visit.page.attempts), (HOPS, visit.page.hops)] {
        if value > 0 {
            notes.push((name, value.to_string()));
        }
    }
    if visit.page.depth > 0 {
        notes.push((DEPTH, visit.page.depth.to_string()));
    }
    if visit.blames_host {
        notes.push((BLAME, "host".to_owned()));
    }
    if let Task::Robots { asker_site, .. } = &visit.task
        && asker_site.key() != visit.site.key()
    {
        notes.push((ROBOTS_FOR, asker_site.key().to_owned()));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use archive::Location;

    fn response(target: &str, headers: &[(&str, &str)]) -> Record {
        let headers = headers.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        Record {
            kind: Kind::Response,
            id: String::new(),
            date_s: 0,
            date_us: 0,
            target: Some(target.to_owned()),
            content_type: None,
            headers: headers.collect(),
            block: Vec::new(),
            location: Location { file: String::new(), offset: 0, length: 0 },
        }
    }

    /// An imported archive may have such a response.
    #[test]
    fn a_304_without_a_revisit_is_a_failure() {
        for (purpose, kind, status, is_failure) in [
            ("page", Kind::Response, 304, true),
            ("sitemap", Kind::Response, 304, true),
            ("robots", Kind::Response, 304, false),
            ("page", Kind::Revisit, 304, false),
            ("page", Kind::Response, 200, false),
        ] {
            let block = format!("HTTP/1.1 {status} X\r\n\r\n").into_bytes();
            let record = Record { kind, block, ..response("http://a/", &[(PURPOSE, purpose)]) };
            let entry = Entry::read(&record).expect("it is an answer");
            assert_eq!(entry.failure.is_some(), is_failure, "{purpose} {status}");
            assert_eq!(read_failure(&record).is_some(), is_failure, "{purpose} {status}");
        }
    }

    #[test]
    fn an_imported_answer_has_the_right_purpose() {
        for (target, purpose, wanted) in [
            ("http://a/robots.txt", None, Purpose::Robots),
            ("http://a/b/robots.txt", None, Purpose::Page),
            ("http://a/robots.txt", Some("page"), Purpose::Page),
            ("http://a/", Some("robots"), Purpose::Robots),
            ("http://a/", Some("sitemap"), Purpose::Sitemap),
            ("http://a/", None, Purpose::Page),
        ] {
            let headers: Vec<_> = purpose.iter().map(|&value| (PURPOSE, value)).collect();
            let entry = Entry::read(&response(target, &headers)).expect("it is an answer");
            assert_eq!((entry.purpose, entry.attempts), (wanted, 0), "{target}");
        }
        assert_eq!(Entry::read(&response("http://a/", &[(PURPOSE, "address")])), None);
    }
}
