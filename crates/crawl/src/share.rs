//! What a host has had: what counts against `pages_per_host_max` and `requests_per_host_max`.
//!
//! What lives here: what an archived visit counts for, and [`host_limit`], which asks the archive whether a
//! host has had its share. What does not: what a limit does (`frontier/`).
//!
//! **Invariant.** There is one way to count an archived visit: a crawl that goes on and whoever asks why a
//! URL was dropped use the same.

use std::path::Path;

use archive::{Archive, ArchiveError};

use crate::answer::{Purpose, is_passing_status};
use crate::config::Config;
use crate::error::CrawlError;
use crate::frontier::is_same_site;
use crate::outcome::Answered;
use crate::recrawl::Epoch;
use crate::told::Told;

/// What one visit counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Toll {
    /// Whether it is a request of its own, and not an earlier one made again.
    is_new: bool,
    /// Whether the archive has a page by it.
    page: bool,
    /// Whether it had one before.
    before: bool,
}

impl Toll {
    /// What an answer counts for; one that was compared with an earlier answer stands in its place, if
    /// that counts (`is_again`).
    pub(crate) fn of(purpose: Purpose, answered: &Answered, is_again: bool) -> Toll {
        let was_counted = answered.before > 0 && is_again;
        let is_page = purpose == Purpose::Page && !is_passing_status(answered.status);
        Toll {
            is_new: purpose != Purpose::Robots && !was_counted,
            page: is_page && answered.is_page(),
            before: is_page && was_counted && answered.before == 200,
        }
    }

    pub(crate) fn requests(self) -> u64 {
        u64::from(self.is_new)
    }

    /// A count of pages after the visit.
    pub(crate) fn pages(self, count: u64) -> u64 {
        (count + u64::from(self.page)).saturating_sub(u64::from(self.before))
    }
}

/// The limit that keeps a crawl from asking the host of `url` for more, by its key; `None` if there is none.
/// While a recrawl is under way only what it has asked for counts.
pub fn host_limit(
    archive: &Archive,
    frontier: &Path,
    config: &Config,
    url: &str,
) -> Result<Option<&'static str>, CrawlError> {
    let limits = [
        ("pages_per_host_max", config.pages_per_host_max),
        ("requests_per_host_max", config.requests_per_host_max),
    ];
    let mut captures = archive.captures_of_host(url)?;
    captures.retain(|capture| is_same_site(&capture.url, url));
    if let Some(epoch) = Epoch::read(frontier)? {
        captures.retain(|capture| !epoch.is_old(&capture.location.file));
    }
    // Nothing counts for more than one.
    let least = limits.iter().map(|&(_, limit)| limit).filter(|&limit| limit > 0).min();
    if least.is_none_or(|least| (captures.len() as u64) < least) {
        return Ok(None);
    }
    let (mut pages, mut requests) = (0, 0);
    for capture in captures {
        let record = match archive.read(&capture.location) {
            Err(error @ ArchiveError::Io { .. }) => return Err(error.into()),
            // A crawl that goes on cannot read it, either.
            other => other.ok(),
        };
        if let Some(told) = record.as_ref().and_then(Told::read) {
            let toll = Toll::of(told.purpose, &told.answered(), true);
            requests += toll.requests();
            pages = toll.pages(pages);
        }
    }
    let reached = [pages, requests].into_iter().zip(limits);
    let mut reached = reached.filter(|&(count, (_, limit))| limit > 0 && count >= limit);
    Ok(reached.next().map(|(_, (key, _))| key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(purpose: Purpose, status: u16, before: u16, is_again: bool, wanted: (u64, u64)) {
        let unchanged = status == 304 && before > 0;
        let answered = Answered { status, before, unchanged, ..Answered::default() };
        let toll = Toll::of(purpose, &answered, is_again);
        assert_eq!((toll.requests(), toll.pages(10)), wanted, "{status} after {before}");
    }

    #[test]
    fn what_a_visit_counts_for() {
        check(Purpose::Page, 200, 0, true, (1, 11));
        check(Purpose::Page, 404, 0, true, (1, 10));
        check(Purpose::Page, 503, 0, true, (1, 10));
        check(Purpose::Page, 304, 0, true, (1, 10));
        check(Purpose::Sitemap, 200, 0, true, (1, 10));
        check(Purpose::Robots, 200, 0, true, (0, 10));
        // Asked for again, its first answer has been counted.
        check(Purpose::Page, 200, 200, true, (0, 10));
        check(Purpose::Page, 304, 200, true, (0, 10));
        check(Purpose::Page, 404, 200, true, (0, 9));
        check(Purpose::Page, 200, 404, true, (0, 11));
        check(Purpose::Page, 503, 200, true, (0, 10));
        // In a recrawl that is not over it stands for itself.
        check(Purpose::Page, 200, 200, false, (1, 11));
        check(Purpose::Page, 404, 200, false, (1, 10));
    }
}
