//! What a host has had: what counts against `pages_per_host_max` and `requests_per_host_max`.
//!
//! What lives here: what an archived visit counts for, and [`host_limit`], which asks the archive whether a
//! host has had its share. What does not: what a limit does (`frontier/`).
//!
//! **Invariant.** There is one way to count an archived visit: a crawl that goes on and whoever asks why a
//! URL was dropped use the same, also while a recrawl is under way ([`Again`]).

use std::path::Path;

use archive::{Archive, ArchiveError, CdxLine};

use crate::answer::{Purpose, leaves_standing};
use crate::checkpoint::Settled;
use crate::config::Config;
use crate::error::CrawlError;
use crate::frontier::{Tally, is_same_site};
use crate::journal::Entry;
use crate::outcome::Answered;
use crate::recrawl::Epochs;
use crate::replay::Again;

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
    /// that counts (`is_again`). One that does not tell what its page is now is a request and no more.
    pub(crate) fn of(entry: &Entry, answered: &Answered, is_again: bool) -> Toll {
        let purpose = entry.purpose;
        let was_counted = answered.before > 0 && is_again;
        let is_page = purpose == Purpose::Page
            && !entry.is_inconclusive
            && (answered.unchanged || !leaves_standing(purpose, answered.status));
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
/// While a recrawl is under way, what is still to be asked for again counts nothing, and what was asked for
/// again counts like new.
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
    // Nothing counts for more than one.
    let least = limits.iter().map(|&(_, limit)| limit).filter(|&limit| limit > 0).min();
    if least.is_none_or(|least| (captures.len() as u64) < least) {
        return Ok(None);
    }
    let mut again = Again::new(&Epochs::read(frontier)?, archive.files());
    if let Some(again) = &mut again {
        each_visit(archive, &captures, &mut |file, settled| again.note(file, settled))?;
    }
    let (mut pages, mut requests) = (0, 0);
    each_visit(archive, &captures, &mut |file, settled| {
        let tally = again.as_ref().map_or(Tally::Again, |again| again.tally(file, settled));
        if tally != Tally::Superseded {
            let none = Answered::default();
            let answered = settled.answered.as_ref().unwrap_or(&none);
            let toll = Toll::of(&settled.entry, answered, tally == Tally::Again);
            requests += toll.requests();
            pages = toll.pages(pages);
        }
    })?;
    let reached = [pages, requests].into_iter().zip(limits);
    let mut reached = reached.filter(|&(count, (_, limit))| limit > 0 && count >= limit);
    Ok(reached.next().map(|(_, (key, _))| key))
}

/// Hands every visit among the captures to `take`, with the place of its file.
pub(crate) fn each_visit(
    archive: &Archive,
    captures: &[CdxLine],
    take: &mut dyn FnMut(usize, &Settled),
) -> Result<(), CrawlError> {
    for CdxLine { location, .. } in captures {
        let Some(file) = archive.files().iter().position(|file| *file == location.file) else {
            continue;
        };
        match archive.read(location) {
            Err(error @ ArchiveError::Io { .. }) => return Err(error.into()),
            // A crawl that goes on cannot read it, either.
            Err(_) => {}
            Ok(record) => {
                if let Some(settled) = Settled::outline(&record) {
                    take(file, &settled);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(purpose: Purpose, status: u16, before: u16, is_again: bool, wanted: (u64, u64)) {
        let unchanged = status == 304 && before > 0;
        let answered = Answered { status, before, unchanged, ..Answered::default() };
        let toll = Toll::of(&entry(purpose), &answered, is_again);
        assert_eq!((toll.requests(), toll.pages(10)), wanted, "{status} after {before}");
    }

    fn entry(purpose: Purpose) -> Entry {
        Entry {
            purpose,
            attempts: 0,
            hops: 0,
            depth: 0,
            robots_for: None,
            failure: None,
            is_inconclusive: false,
        }
    }

    /// The answer that follows counts for the page.
    #[test]
    fn a_304_that_does_not_tell_what_the_page_is_counts_as_a_request() {
        let entry = Entry { is_inconclusive: true, ..entry(Purpose::Page) };
        let answered =
            Answered { status: 304, before: 200, unchanged: true, ..Answered::default() };
        for (is_again, requests) in [(false, 1), (true, 0)] {
            let toll = Toll::of(&entry, &answered, is_again);
            assert_eq!((toll.requests(), toll.pages(10)), (requests, 10), "{is_again}");
        }
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
