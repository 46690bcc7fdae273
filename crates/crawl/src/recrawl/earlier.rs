//! The capture that the answer to a repeated request is compared with.
//!
//! What lives here: what is taken from its record, the condition that it puts on the request, and whether
//! an answer is the same again. What does not: finding the record (`schedule.rs`).
//!
//! **Invariant.** A condition is sent as the server gave it. An answer counts as the same only if it is a 304
//! to a condition, or if status, target and payload are the same.
//!
//! Reference: RFC 9110, sections 8.8 and 13.1: If-None-Match by the entity tag, and only without one
//! If-Modified-Since by the date of modification.

use archive::{Record, parse_http, payload_digest};
use hyper::header::{HeaderValue, LOCATION};

use crate::answer::{Purpose, is_redirect};
use crate::fetch::Answer;
use crate::journal::Entry;

/// What is known of a URL from its last answer that had a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Earlier {
    pub(crate) status: u16,
    /// Whether it was asked for as a page, and not as a sitemap.
    pub(crate) is_page: bool,
    pub(crate) date_s: i64,
    pub(crate) record_id: String,
    /// Of its payload, as in the archive.
    pub(crate) digest: Option<String>,
    etag: Option<String>,
    last_modified: Option<String>,
    location: Option<String>,
}

impl Earlier {
    /// Reads a `response` record; `None` if it is no answer of HTTP.
    pub(crate) fn of(record: &Record) -> Option<Earlier> {
        let http = parse_http(&record.block).ok()?;
        let is_sendable = |value: &&str| !value.is_empty() && HeaderValue::from_str(value).is_ok();
        let find = |name| http.header(name).filter(is_sendable).map(str::to_owned);
        let digest = record.header("WARC-Payload-Digest").map(str::to_owned);
        Some(Earlier {
            status: http.status,
            is_page: Entry::read(record).is_some_and(|entry| entry.purpose == Purpose::Page),
            date_s: record.date_s,
            record_id: record.id.clone(),
            digest: digest.or_else(|| Some(payload_digest(http.body))),
            etag: find("ETag"),
            last_modified: find("Last-Modified"),
            location: find("Location"),
        })
    }

    /// The header that asks for an answer only if the page has changed.
    pub(crate) fn condition(&self) -> Option<(&'static str, &str)> {
        if self.status != 200 {
            return None;
        }
        let by_tag = self.etag.as_deref().map(|tag| ("if-none-match", tag));
        by_tag.or(self.last_modified.as_deref().map(|date| ("if-modified-since", date)))
    }

    /// Whether an answer says that nothing has changed, or is the same again.
    pub(crate) fn is_same(&self, answer: &Answer) -> bool {
        let status = answer.status();
        if status == 304 {
            return self.condition().is_some();
        }
        let location = answer.headers.get(LOCATION).and_then(|value| value.to_str().ok());
        status == self.status
            && !answer.is_truncated
            && (!is_redirect(status) || location == self.location.as_deref())
            && self.digest.as_deref() == Some(payload_digest(&answer.body).as_str())
    }
}
