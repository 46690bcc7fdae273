//! One visit as read from its record, for `crivello why`.
//!
//! What lives here: [`VisitRecord`], the visit as plain values. What does not: how the record is written (`journal.rs`),
//! and how the visit is printed (`crivello why`).
//!
//! **Invariant.** A record has the same meaning here as for a crawl that resumes from it.

use std::path::Path;

use archive::{Archive, ArchiveError, Kind, Record, parse_http};

use crate::answer::{Purpose, is_redirect, is_temporary, retry_after_ms};
use crate::clock::Moment;
use crate::error::CrawlError;
use crate::frontier::is_same_site;
use crate::journal::{BEFORE, Entry, read_failure, read_took_ms, read_unstored, refers_to};
use crate::outcome::Failure;
use crate::politeness::Politeness;
use crate::rests::Rests;

/// A visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitRecord {
    /// The kind of URL that was requested.
    pub purpose: Purpose,
    /// Number of failed visits before this one.
    pub attempts: u8,
    /// Number of redirects that led to the URL.
    pub hops: u8,
    /// Number of links from the first page of the site; for a sitemap, the number of indexes.
    pub depth: u16,
    /// The status of the answer; `None` if the visit failed.
    pub status: Option<u16>,
    /// Why the visit failed.
    pub failure: Option<Failure>,
    /// Whether a filter kept the answer out of the archive.
    pub is_unstored: bool,
    /// The status of the capture that the answer was compared with; `None` if there was none.
    pub before: Option<u16>,
    /// Whether the answer equals that capture.
    pub unchanged: bool,
    /// The date of the capture that holds the body, if it is in another record.
    pub refers_to: Option<Moment>,
    /// Whether the answer leaves open what the page is now, so that it still has to be fetched.
    pub is_inconclusive: bool,
    /// The target of a redirect, as the server spells it.
    pub location: Option<String>,
    /// The earliest time at which the server accepts another request, in seconds since 1970.
    pub not_before_s: Option<i64>,
    entry: Entry,
}

impl VisitRecord {
    /// Reads a record; `None` if it is not about a visit of a page, a robots.txt or a sitemap.
    pub fn read(record: &Record) -> Option<VisitRecord> {
        let entry = Entry::read(record)?;
        let is_answer = record.kind != Kind::Metadata && entry.failure.is_none();
        let http = parse_http(&record.block).ok().filter(|_| is_answer);
        let unstored = read_unstored(record);
        let status = http.as_ref().map(|http| http.status);
        let status = status.or(unstored.as_ref().map(|unstored| unstored.status));
        let header = |name| http.as_ref().and_then(|http| http.header(name));
        let date = Moment { s: record.date_s, us: record.date_us };
        let wait_ms = http.as_ref().and_then(|http| retry_after_ms(http, date));
        let took_ms = read_took_ms(record);
        let took_ms = unstored.as_ref().map_or(took_ms, |unstored| unstored.took_ms);
        let wait_ms = wait_ms.or(unstored.as_ref().and_then(|unstored| unstored.retry_after_ms));
        let wait_ms = wait_ms.filter(|_| is_temporary(entry.purpose, status.unwrap_or(0)));
        let from = date.later(took_ms);
        Some(VisitRecord {
            purpose: entry.purpose,
            attempts: entry.attempts,
            hops: entry.hops,
            depth: entry.depth,
            status,
            failure: read_failure(record),
            is_unstored: unstored.is_some(),
            before: record.header(BEFORE).and_then(|value| value.parse().ok()),
            unchanged: record.kind == Kind::Revisit,
            refers_to: refers_to(record),
            is_inconclusive: entry.is_inconclusive,
            location: unstored.and_then(|unstored| unstored.harvest.redirect).or_else(|| {
                header("Location").filter(|_| status.is_some_and(is_redirect)).map(str::to_owned)
            }),
            not_before_s: wait_ms.map(|ms| from.second_after(Politeness::asked_ms(ms))),
            entry,
        })
    }

    /// Returns the earliest second since 1970 at which the host of `url` accepts requests, according to its last
    /// visit. That visit may be in the archive, or in a missing archive file whose backoff is still recorded.
    /// `None` if the visit does not say.
    pub fn host_not_before_s(
        archive: &Archive,
        frontier: &Path,
        url: &str,
    ) -> Result<Option<i64>, CrawlError> {
        let captures = archive.captures_of_host(url)?;
        let captures = captures.iter().filter(|capture| is_same_site(&capture.url, url));
        let last = captures.max_by_key(|capture| (capture.date_s, capture.date_us));
        let rests = Rests::read(frontier, archive, None)?;
        if let Some(rest) = rests.of(url)
            && last.is_none_or(|last| (last.date_s, last.date_us) < (rest.date.s, rest.date.us))
        {
            return Ok(rest.not_before_s());
        }
        let Some(last) = last else { return Ok(None) };
        match archive.read(&last.location) {
            Err(error @ ArchiveError::Io { .. }) => Err(error.into()),
            read => Ok(read.ok().and_then(|record| VisitRecord::read(&record)?.not_before_s)),
        }
    }

    /// Returns whether the visit settled its URL for good, in a crawl with this number of retries.
    pub fn is_final(&self, retries: u8) -> bool {
        self.entry.is_final(self.status.unwrap_or(0), retries)
    }
}
