//! The archive as the journal of the crawl: what is written of a visit, and how it is read again.
//!
//! What lives here: the records of one visit. An answer is a `request` and a `response` record; what
//! HTTP does not say of it stands in headers of the response: `Crivello-Purpose` (`page`, `robots`,
//! `sitemap`), `Crivello-Attempt`, `Crivello-Hops` and `Crivello-Robots-For`, the site whose
//! robots.txt it is. A visit without an answer is a `metadata` record with the same as fields, and
//! with `outcome` and `detail`; its purpose is `address` if it was the name server that failed. What does not: what follows from a record (`replay.rs`).
//!
//! **Invariant.** The response is the last record of a visit: a visit whose writing was cut short
//! never took place.

use archive::{
    ArchiveError, Draft, Kind, Record, WarcWriter, http_block, parse_warc_fields, warc_fields,
};

use crate::answer::Purpose;
use crate::fetch::{ACCEPTED, Answer, CODING};
use crate::outcome::{Failure, FailureKind, Task, Visit};
use crate::site::Site;

const PURPOSE: &str = "Crivello-Purpose";
const ATTEMPT: &str = "Crivello-Attempt";
const HOPS: &str = "Crivello-Hops";
const ROBOTS_FOR: &str = "Crivello-Robots-For";

/// A visit as the archive tells it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) purpose: Purpose,
    /// How many visits had failed before.
    pub(crate) attempts: u8,
    pub(crate) hops: u8,
    /// The site whose robots.txt it is, if not that of the URL.
    pub(crate) robots_for: Option<String>,
    /// Why there was no answer; `None` if the record is one.
    pub(crate) failure: Option<FailureKind>,
}

impl Entry {
    /// What a record tells; `None` if it is not about a visit. A response of another crawler is a
    /// page, or a robots.txt by its name.
    pub(crate) fn read(record: &Record) -> Option<Entry> {
        let target = record.target.as_deref()?;
        let fields;
        let (headers, is_answer) = match record.kind {
            Kind::Response => (&record.headers, true),
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
        (is_answer || failure.is_some()).then(|| Entry {
            purpose,
            attempts: number(ATTEMPT),
            hops: number(HOPS),
            robots_for: find(ROBOTS_FOR).map(str::to_owned),
            failure: failure.filter(|_| !is_answer),
        })
    }
}

/// Writes an answer, unless nothing is to be stored; gives back its block.
pub(crate) fn write_answer(
    archive: Option<&mut WarcWriter>,
    visit: &Visit,
    date_s: i64,
    user_agent: &str,
    answer: &Answer,
) -> Result<Vec<u8>, ArchiveError> {
    let headers = answer.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    let (block, payload_offset) = http_block(&answer.status_line, headers, &answer.body);
    let Some(archive) = archive else { return Ok(block) };
    let url = visit.url();
    let address = visit.address.map(|address| address.to_string()).unwrap_or_default();
    let connection = if visit.keep_alive { "" } else { "connection: close\r\n" };
    let request = format!(
        "GET {} HTTP/1.1\r\nhost: {}\r\nuser-agent: {user_agent}\r\naccept: {ACCEPTED}\r\n\
         accept-encoding: {CODING}\r\n{connection}\r\n",
        visit.page.path,
        visit.site.authority()
    );
    archive.write(&Draft {
        kind: Kind::Request,
        date_s,
        target: Some(&url),
        content_type: "application/http;msgtype=request",
        extra: &[("WARC-IP-Address", &address)],
        block: request.as_bytes(),
        payload_offset: request.len(),
    })?;
    let notes = notes(visit);
    let mut extra: Vec<(&str, &str)> = vec![("WARC-IP-Address", &address)];
    if answer.is_truncated {
        extra.push(("WARC-Truncated", "length"));
    }
    extra.extend(notes.iter().map(|(name, value)| (*name, value.as_str())));
    archive.write(&Draft {
        kind: Kind::Response,
        date_s,
        target: Some(&url),
        content_type: "application/http;msgtype=response",
        extra: &extra,
        block: &block,
        payload_offset,
    })?;
    Ok(block)
}

/// Writes that a visit had no answer.
pub(crate) fn write_failure(
    archive: &mut WarcWriter,
    visit: &Visit,
    date_s: i64,
    failure: &Failure,
) -> Result<(), ArchiveError> {
    let notes = notes(visit);
    let mut fields = vec![("outcome", failure.kind.name()), ("detail", failure.detail.as_str())];
    fields.extend(notes.iter().map(|(name, value)| (*name, value.as_str())));
    archive.write(&Draft {
        kind: Kind::Metadata,
        date_s,
        target: Some(&visit.url()),
        content_type: "application/warc-fields",
        extra: &[],
        block: &warc_fields(&fields),
        payload_offset: 0,
    })?;
    Ok(())
}

/// Why a visit had no answer, as its `metadata` record tells; `None` if the record is another one.
pub fn read_failure(record: &Record) -> Option<Failure> {
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
            target: Some(target.to_owned()),
            content_type: None,
            headers: headers.collect(),
            block: Vec::new(),
            location: Location { file: String::new(), offset: 0, length: 0 },
        }
    }

    #[test]
    fn what_an_answer_of_anybody_was_for() {
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
