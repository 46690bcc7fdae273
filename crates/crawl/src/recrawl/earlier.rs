//! The capture that the answer to a repeated request is compared with.
//!
//! What lives here: what is taken from its record, the condition that it puts on the request, and whether
//! an answer is the same again. What does not: finding the record (`schedule.rs`).
//!
//! **Invariant.** A condition is sent as the server gave it last, byte by byte. An answer counts as the same only if it
//! is a 304 to a condition, or if status, target, meaning and body are the same: so what a page is by its last capture
//! with a body, it is still. A 304 that may take that back is none by which it is: what it says of robots counts, and the
//! page is asked for without a condition.
//!
//! Reference: RFC 9110, sections 8.8 and 13.1: If-None-Match by the entity tag, and only without one
//! If-Modified-Since by the date of modification; RFC 9111, section 4.3.4: what a 304 brings takes the place of what
//! was there, and what it leaves out stays.

use std::sync::Arc;

use archive::{HttpResponse, Record, http_field, parse_http, payload_digest};
use hyper::header::{HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LOCATION};
use page::{ContentType, Directives};
use xxhash_rust::xxh3::xxh3_64;

use crate::answer::{Purpose, is_redirect};
use crate::clock::Moment;
use crate::config::Config;
use crate::fetch::Answer;
use crate::journal::Entry;
use crate::sitemap::{HEAD_BYTES, Sitemap};

/// How answers are read that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The name that robots directives may address.
    agent: Arc<str>,
    decoded_bytes_max: usize,
}

impl Reading {
    pub(crate) fn of(config: &Config) -> Reading {
        Reading { agent: config.agent_name().into(), decoded_bytes_max: config.decoded_bytes_max }
    }

    /// The digest of a body with its codings undone; `None` if nothing can be decoded, or too much. One that breaks off
    /// is what can be read of it, and never the same as one that is whole.
    fn decoded_digest(&self, http: &HttpResponse<'_>) -> Option<String> {
        let bytes_max = self.decoded_bytes_max.saturating_add(1);
        let (body, end) = match http.whole_body(bytes_max) {
            Ok(body) => (body, ""),
            Err(_) => (http.decoded_body(bytes_max).ok()?, " and no end"),
        };
        let is_short = body.len() <= self.decoded_bytes_max;
        is_short.then(|| payload_digest(&body) + end)
    }
}

/// What the head of an answer makes of its body.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Meaning {
    content_type: ContentType,
    directives: Directives,
}

impl Meaning {
    fn of(http: &HttpResponse<'_>, agent: &str) -> Meaning {
        Meaning {
            content_type: ContentType::read(http.header(CONTENT_TYPE)),
            directives: Directives::from_headers(&http.headers, agent),
        }
    }

    /// Whether it asks for anything that a later answer may take back.
    fn is_restricted(&self) -> bool {
        self.directives != Directives::default()
    }

    /// Whether it is another one by what a 304 brings.
    fn is_other_by(&self, not_modified: &HttpResponse<'_>, agent: &str) -> bool {
        let told = Meaning::of(not_modified, agent);
        let ContentType { essence, charset } = told.content_type;
        let has = |name| not_modified.header(name).is_some();
        has(CONTENT_TYPE)
            && (essence != self.content_type.essence
                || charset.is_some() && charset != self.content_type.charset)
            || has(ROBOTS_TAG) && told.directives != self.directives
    }
}

const CONTENT_TYPE: &str = "Content-Type";
const ROBOTS_TAG: &str = "X-Robots-Tag";

/// In what an answer is the same as the earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// The server says so.
    NotModified,
    /// All bytes of the body are the same.
    Identical,
    /// They are the same when their coding is undone.
    Decoded,
}

/// What is known of a URL from its last answer that had a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Earlier {
    pub(crate) status: u16,
    /// Whether it was asked for as a page, and not as a sitemap.
    pub(crate) is_page: bool,
    /// Whether it is what a sitemap is, also if it was asked for as a page.
    pub(crate) is_listing: bool,
    /// Whether it was a page, and is read as a sitemap now.
    is_of_another_kind: bool,
    pub(crate) date: Moment,
    pub(crate) record_id: String,
    /// Of its payload, as in the archive.
    pub(crate) digest: String,
    /// The codings of the payload; empty if there are none.
    codings: String,
    /// Of the payload with these undone; `None` if they cannot be.
    decoded: Option<String>,
    /// `None` for a sitemap, of which only the body counts.
    meaning: Option<Meaning>,
    condition: Option<(HeaderName, HeaderValue)>,
    location: Option<Vec<u8>>,
    reading: Reading,
}

impl Earlier {
    /// Reads a `response` record, and the `revisit` of it that has the newest validators if it has not;
    /// `None` if it is no answer of HTTP.
    pub(crate) fn of(
        record: &Record,
        newest: Option<&Record>,
        reading: &Reading,
    ) -> Option<Earlier> {
        let http = parse_http(&record.block).ok()?;
        let digest = record.header("WARC-Payload-Digest").map(str::to_owned);
        let digest = digest.unwrap_or_else(|| payload_digest(http.body));
        let codings = codings(&http);
        let is_coded = !codings.is_empty() || http.header("Transfer-Encoding").is_some();
        let decoded = if is_coded { reading.decoded_digest(&http) } else { Some(digest.clone()) };
        let is_page = Entry::read(record).is_some_and(|entry| entry.purpose == Purpose::Page);
        let meaning = is_page.then(|| Meaning::of(&http, &reading.agent));
        let is_restricted = meaning.as_ref().is_some_and(Meaning::is_restricted);
        let is_asked = http.status == 200 && !is_restricted;
        Some(Earlier {
            status: http.status,
            is_page,
            is_listing: http.decoded_body(HEAD_BYTES).is_ok_and(|body| Sitemap::is_in(&body)),
            is_of_another_kind: false,
            date: Moment { s: record.date_s, us: record.date_us },
            record_id: record.id.clone(),
            digest,
            codings,
            decoded,
            meaning,
            condition: condition(&newest.unwrap_or(record).block).filter(|_| is_asked),
            location: http_field(&record.block, "Location").map(<[u8]>::to_vec),
            reading: reading.clone(),
        })
    }

    /// What is known of an answer whose record cannot be read: no answer is the same.
    pub(crate) fn unreadable(status: u16, is_page: bool, reading: &Reading) -> Earlier {
        Earlier {
            status,
            is_page,
            is_listing: false,
            is_of_another_kind: false,
            date: Moment::default(),
            record_id: String::new(),
            digest: String::new(),
            codings: String::new(),
            decoded: None,
            meaning: None,
            condition: None,
            location: None,
            reading: reading.clone(),
        }
    }

    /// The header that asks for an answer only if the page has changed. A page that asks not to be found, or not to be
    /// followed, has none: a 304 that says nothing of that does not take it back, and many are sent that way.
    pub(crate) fn condition(&self) -> Option<(&HeaderName, &HeaderValue)> {
        self.condition.as_ref().map(|(name, value)| (name, value))
    }

    /// The same, to be asked for without a condition.
    pub(crate) fn without_condition(self) -> Earlier {
        Earlier { condition: None, ..self }
    }

    /// The same, to be compared with an answer that is read as something else.
    pub(crate) fn of_another_kind(self) -> Earlier {
        Earlier { is_of_another_kind: true, ..self }
    }

    /// Whether an answer speaks of the condition and not of the page, so that the page has to be asked for without: it
    /// is not met by the server's word, or the page has not changed but what it means has.
    pub(crate) fn is_in_doubt(&self, answer: &Answer) -> bool {
        let is_other = |http: HttpResponse<'_>| {
            let meaning = self.meaning.as_ref();
            meaning.is_some_and(|meaning| meaning.is_other_by(&http, &self.reading.agent))
        };
        self.condition.is_some()
            && match answer.status() {
                304 => answer.http().is_ok_and(is_other),
                412 => true,
                _ => false,
            }
    }

    /// Whether an answer of 304 that nobody asked for says that the page is not to be found. That it is sent is a fault of
    /// the server; what its head says of robots it says of the page all the same.
    pub(crate) fn is_withheld_by(&self, answer: &Answer) -> bool {
        let asks =
            |http: HttpResponse<'_>| Meaning::of(&http, &self.reading.agent).directives.noindex;
        self.is_page && self.status == 200 && answer.http().is_ok_and(asks)
    }

    /// In what an answer is the same again; `None` if it is another one.
    pub(crate) fn likeness(&self, answer: &Answer) -> Option<Likeness> {
        let status = answer.status();
        if status == 304 {
            return self.condition.is_some().then_some(Likeness::NotModified);
        }
        let location = answer.headers.get(LOCATION).map(HeaderValue::as_bytes);
        let is_led_elsewhere = is_redirect(status) && location != self.location.as_deref();
        let is_other = self.is_of_another_kind || status != self.status;
        if is_other || answer.is_truncated || is_led_elsewhere {
            return None;
        }
        let http = answer.http().ok()?;
        let is_other = |meaning: &Meaning| Meaning::of(&http, &self.reading.agent) != *meaning;
        if status == 200 && self.meaning.as_ref().is_some_and(is_other) {
            return None;
        }
        let codings = codings(&http);
        let digest = payload_digest(http.body);
        if codings == self.codings && self.digest == digest {
            return Some(Likeness::Identical);
        }
        let decoded = match codings.is_empty() {
            true if self.codings.is_empty() => return None,
            true => Some(digest),
            false => self.reading.decoded_digest(&http),
        };
        (decoded.is_some() && decoded == self.decoded).then_some(Likeness::Decoded)
    }
}

/// The content codings of an answer, but for the one that does nothing.
fn codings(http: &HttpResponse<'_>) -> String {
    let fields =
        http.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("Content-Encoding"));
    let names =
        fields.flat_map(|(_, value)| value.split(',')).map(|name| name.trim().to_ascii_lowercase());
    let names: Vec<String> = names.filter(|name| !name.is_empty() && name != "identity").collect();
    names.join(",")
}

/// The condition by the validators in the head of an answer.
fn condition(block: &[u8]) -> Option<(HeaderName, HeaderValue)> {
    let find = |name| {
        let value = http_field(block, name).filter(|value| !value.is_empty())?;
        HeaderValue::from_bytes(value).ok()
    };
    let by_tag = find(ETAG).map(|tag| (IF_NONE_MATCH, tag));
    by_tag.or_else(|| find(LAST_MODIFIED).map(|date| (IF_MODIFIED_SINCE, date)))
}

const ETAG: &str = "ETag";
const LAST_MODIFIED: &str = "Last-Modified";

/// Tells the validators of answers apart: a hash of the one that makes the condition, and which of the two it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Validator(pub(crate) u32);

const IS_TAG: u32 = 1;
const IS_THERE: u32 = 2;

impl Validator {
    pub(crate) fn of(http: &HttpResponse<'_>) -> Validator {
        let find = |name| http.header(name).filter(|value| !value.is_empty());
        let (value, is_tag) = match (find(ETAG), find(LAST_MODIFIED)) {
            (Some(tag), _) => (tag, true),
            (None, Some(date)) => (date, false),
            (None, None) => return Validator::default(),
        };
        let [a, b, c, d, ..] = xxh3_64(value.as_bytes()).to_le_bytes();
        let hash = u32::from_le_bytes([a, b, c, d]) & !IS_TAG | IS_THERE;
        Validator(if is_tag { hash | IS_TAG } else { hash })
    }

    /// Whether, brought by a 304, it takes the place of another one: a date does not take that of a tag.
    pub(super) fn replaces(self, other: Validator) -> bool {
        self.0 & IS_TAG != 0 || self.0 & IS_THERE != 0 && other.0 & IS_TAG == 0
    }
}

#[cfg(test)]
mod tests {
    use archive::{Kind, Location};

    use super::*;

    fn record(kind: Kind, purpose: &str, head: &str) -> Record {
        Record {
            kind,
            id: String::new(),
            date_s: 0,
            date_us: 0,
            target: Some("http://a/".to_owned()),
            content_type: None,
            headers: vec![("Crivello-Purpose".to_owned(), purpose.to_owned())],
            block: format!("HTTP/1.1 {head}\r\n\r\n").into_bytes(),
            location: Location { file: String::new(), offset: 0, length: 0 },
        }
    }

    /// The condition after an answer, and perhaps one that was the same.
    #[track_caller]
    fn check(purpose: &str, head: &str, newest: Option<&str>, wanted: Option<&str>) {
        let newest = newest.map(|head| record(Kind::Revisit, purpose, head));
        let record = record(Kind::Response, purpose, head);
        let reading = Reading::of(&Config::default());
        let earlier = Earlier::of(&record, newest.as_ref(), &reading).expect("an answer");
        let text = |(name, value): (&HeaderName, &HeaderValue)| {
            format!("{name}: {}", value.to_str().expect("ASCII"))
        };
        assert_eq!(earlier.condition().map(text).as_deref(), wanted, "{purpose}: {head}");
        assert_eq!(earlier.without_condition().condition(), None);
    }

    #[test]
    fn what_may_be_asked_on_a_condition() {
        let tag = Some("if-none-match: \"1\"");
        check("page", "200 OK\r\nETag: \"1\"\r\nLast-Modified: then", None, tag);
        check(
            "page",
            "200 OK\r\nETag:\r\nLast-Modified: then",
            None,
            Some("if-modified-since: then"),
        );
        check("page", "404 No\r\nETag: \"1\"", None, None);
        check("page", "200 OK", None, None);
        let noindex = "200 OK\r\nETag: \"1\"\r\nX-Robots-Tag: noindex";
        check("page", noindex, None, None);
        check("sitemap", noindex, None, tag);
        check("page", "200 OK\r\nETag: \"1\"\r\nX-Robots-Tag: noarchive", None, tag);
    }

    #[test]
    fn the_newest_answer_has_the_validators() {
        let old = "200 OK\r\nETag: \"0\"\r\nLast-Modified: then";
        let tag = Some("if-none-match: \"1\"");
        check("page", old, Some("304 Not Modified\r\nETag: \"1\""), tag);
        check("page", old, Some("200 OK\r\nETag: \"1\""), tag);
        check("page", old, Some("200 OK\r\nLast-Modified: now"), Some("if-modified-since: now"));
        check("page", old, Some("200 OK"), None);
    }

    #[test]
    fn a_304_replaces_what_it_brings() {
        let of = |head: &str| {
            Validator::of(
                &parse_http(format!("HTTP/1.1 {head}\r\n\r\n").as_bytes()).expect("a head"),
            )
        };
        let (none, one, two) =
            (of("304 X"), of("304 X\r\nETag: \"1\""), of("304 X\r\nETag: \"2\""));
        let (then, now) = (of("304 X\r\nLast-Modified: then"), of("304 X\r\nLast-Modified: now"));
        assert!(one != two && then != now && one != then && none == Validator::default());
        for (newer, older, wanted) in [
            (two, one, true),
            (one, then, true),
            (one, none, true),
            (now, then, true),
            (now, none, true),
            (now, one, false),
            (none, one, false),
            (none, then, false),
        ] {
            assert_eq!(newer.replaces(older), wanted, "{newer:?} after {older:?}");
        }
    }
}
