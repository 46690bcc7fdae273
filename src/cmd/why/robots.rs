//! The rules of robots.txt for a URL, from the archive.
//!
//! What lives here: the search for the newest robots.txt, redirects included. What does not: the meaning of its lines
//! (`crawl`).
//!
//! **Invariant.** The newest robots.txt in the archive counts, unless a newer one is known to be lost. Nothing is fetched.

use std::path::Path;

use anyhow::Result;
use archive::{Archive, ArchiveError, Location, Record};
use crawl::{Failure, LostRobots, Moment, ROBOTS_HOPS_MAX, RobotsExplanation};
use page::Url;

use super::captures;

/// Reads a record; `None` if it is damaged, since a crawl then fetches robots.txt again.
fn read(archive: &Archive, location: &Location) -> Result<Option<Record>> {
    match archive.read(location) {
        Err(error @ ArchiveError::Io { .. }) => Err(error.into()),
        read => Ok(read.ok()),
    }
}

/// Returns the rule of the newest robots.txt for a URL; `None` without a robots.txt. If the newest one is `lost`, older
/// ones do not count.
pub(super) fn saying(
    archive: &Archive,
    frontier: &Path,
    lost: &LostRobots,
    url: &Url,
    user_agent: &str,
) -> Result<Option<RobotsExplanation>> {
    let Ok(mut at) = url.join("/robots.txt") else { return Ok(None) };
    for _ in 0..=ROBOTS_HOPS_MAX {
        let mut captures = captures::all_lines(archive, frontier, &at)?;
        let answered = captures.iter().rposition(|capture| capture.status.is_some());
        let Some(answered) = answered else {
            let Some(last) = captures.last() else { return Ok(None) };
            let failure = read(archive, &last.location)?.and_then(|it| crawl::read_failure(&it));
            return Ok(failure.map(|failure| unheard(&failure)));
        };
        let capture = captures.swap_remove(answered);
        let Some(record) = read(archive, &capture.location)? else { return Ok(None) };
        let redirect = matches!(capture.status, Some(300..=399));
        if let Some(next) = location(&record, &at).filter(|_| redirect) {
            at = next;
            continue;
        }
        let date = Moment { s: capture.date_s, us: capture.date_us };
        let lost = lost.of(url.as_str()).filter(|lost| *lost > date);
        let said = crawl::explain_robots(&record, url, user_agent);
        return Ok(said.map(|said| lost.filter(|_| said.is_had).map_or(said, gone)));
    }
    Ok(None)
}

/// Returns a sentence if the newest robots.txt of its host cannot be read.
pub(super) fn unread(archive: &Archive, frontier: &Path, url: &Url) -> Result<Option<String>> {
    let Ok(at) = url.join("/robots.txt") else { return Ok(None) };
    let captures = captures::all_lines(archive, frontier, &at)?;
    let Some(last) = captures.iter().rfind(|it| it.status.is_some()) else { return Ok(None) };
    if read(archive, &last.location)?.is_some() {
        return Ok(None);
    }
    let date = archive::date_text(last.date_s);
    Ok(Some(format!(
        "the robots.txt of {date} cannot be read; the next crawl uses the rules in its visit log, or fetches robots.txt \
         first"
    )))
}

/// Describes a robots.txt without an answer.
fn unheard(failure: &Failure) -> RobotsExplanation {
    let what = if failure.kind.is_of_host() {
        "its host cannot be reached"
    } else {
        "its robots.txt cannot be fetched"
    };
    RobotsExplanation { allowed: false, is_had: false, why: format!("{what} ({failure})") }
}

/// Describes a lost robots.txt that is newer than all in the archive.
fn gone(lost: Moment) -> RobotsExplanation {
    let date = archive::date_text(lost.s);
    let why =
        format!("the robots.txt of {date} is lost with its archive file, and is fetched first");
    RobotsExplanation { allowed: true, is_had: false, why }
}

fn location(record: &Record, base: &Url) -> Option<Url> {
    let answer = archive::parse_http(&record.block).ok()?;
    page::normalise(answer.header("location")?, Some(base), &page::Limits::default()).ok()
}
