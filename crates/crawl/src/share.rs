//! What a host has had: what counts against `pages_per_host_max` and `requests_per_host_max`.
//!
//! What lives here: what an archived visit counts for; [`Changing`], the URLs of which no visit alone tells that; and
//! [`host_limit`], which asks the archive whether a host has had its share. What does not: what a limit does
//! (`frontier/`).
//!
//! **Invariant.** There is one way to count an archived visit: a crawl that goes on and whoever asks why a
//! URL was dropped use the same, also while a recrawl is under way ([`Again`]).

use std::collections::HashMap;
use std::path::Path;

use archive::{Archive, ArchiveError, CdxLine};
use sieve::signature;

use crate::answer::{Purpose, keeps_previous};
use crate::checkpoint::Settled;
use crate::clock::Moment;
use crate::config::Config;
use crate::error::CrawlError;
use crate::frontier::{Tally, is_same_site};
use crate::gaps::Gaps;
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
        let is_page = purpose == Purpose::Page && tells(entry, answered);
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

/// Whether an answer tells what its URL is now.
pub(crate) fn tells(entry: &Entry, answered: &Answered) -> bool {
    let stands = keeps_previous(entry.purpose, answered.status);
    !entry.is_inconclusive && (answered.unchanged || !stands)
}

/// The URLs that were asked for as sitemaps at some time. Such a one may be a page now and a sitemap then, and an answer
/// does not tell which of them the one before was. So they count apart, by their last answer that tells; and so do those
/// whose visits do not add up ([`Gaps`]). All visits are to be [noted](Self::note) first, and then [counted](Self::count).
#[derive(Debug, Default)]
pub(crate) struct Changing {
    found: HashMap<u64, Found>,
}

/// What such a URL counted for before a visit, and what it counts for after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Recount {
    pub(crate) before: Option<Count>,
    pub(crate) after: Option<Count>,
}

/// What is known of such a URL, each by the last answer: when it came, and whether it is a page.
#[derive(Debug, Default, Clone, Copy)]
struct Found {
    /// By those that are superseded.
    old: Option<(Moment, bool)>,
    /// By the others.
    now: Option<(Moment, bool)>,
}

impl Found {
    fn count(self) -> Option<Count> {
        match self {
            Found { now: Some((_, true)), .. } => Some(Count::Page),
            Found { old: Some((_, true)), now: None } => Some(Count::Due),
            _ => None,
        }
    }
}

/// What such a URL counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    /// A page.
    Page,
    /// A page that is to be asked for again.
    Due,
}

impl Changing {
    /// Takes note of a visit.
    pub(crate) fn note(&mut self, settled: &Settled) {
        if settled.entry.purpose == Purpose::Sitemap {
            self.found.entry(signature(settled.url.as_bytes()).0).or_default();
        }
    }

    /// Takes note of what does not add up.
    pub(crate) fn note_gaps(&mut self, gaps: &mut Gaps) {
        let uneven = gaps.take_uneven();
        self.found.extend(uneven.map(|url| (url, Found::default())));
    }

    /// Counts a visit, if it is one of such a URL. A page that is lost is none.
    pub(crate) fn count(
        &mut self,
        settled: &Settled,
        tally: Tally,
        gaps: &Gaps,
    ) -> Option<Recount> {
        let (entry, url) = (&settled.entry, &settled.url);
        if entry.purpose == Purpose::Robots || self.found.is_empty() {
            return None;
        }
        let found = self.found.get_mut(&signature(url.as_bytes()).0)?;
        let before = found.count();
        if let Some(answered) = settled.answered.as_ref().filter(|answered| tells(entry, answered))
        {
            let is_lost = gaps.has(settled);
            let is_page = entry.purpose == Purpose::Page && answered.is_page() && !is_lost;
            let last = if tally == Tally::Superseded { &mut found.old } else { &mut found.now };
            if last.is_none_or(|(date, _)| date <= settled.date()) {
                *last = Some((settled.date(), is_page));
            }
        }
        Some(Recount { before, after: found.count() })
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
    let (mut changing, mut gaps) = (Changing::default(), Gaps::default());
    each_visit(archive, &captures, &mut |file, settled| {
        changing.note(&settled);
        gaps.note(&settled);
        if let Some(again) = &mut again {
            again.note(file, &settled);
        }
    })?;
    gaps.find(&mut |take| each_visit(archive, &captures, &mut |_, settled| take(&settled)))?;
    changing.note_gaps(&mut gaps);
    let (mut pages, mut requests) = (0, 0);
    each_visit(archive, &captures, &mut |file, settled| {
        let settled = &settled;
        let tally = match again.as_ref().map(|again| again.tally(file, settled)) {
            _ if gaps.has(settled) => Tally::Superseded,
            tally => tally.unwrap_or(Tally::Again),
        };
        let recount = changing.count(settled, tally, &gaps);
        if let Some(Recount { before, after }) = recount {
            pages += u64::from(after == Some(Count::Page));
            // Dates may be exchanged, where a clock went back.
            pages = pages.saturating_sub(u64::from(before == Some(Count::Page)));
        }
        if tally != Tally::Superseded {
            let none = Answered::default();
            let answered = settled.answered.as_ref().unwrap_or(&none);
            let toll = Toll::of(&settled.entry, answered, tally == Tally::Again);
            requests += toll.requests();
            pages = if recount.is_some() { pages } else { toll.pages(pages) };
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
    take: &mut dyn FnMut(usize, Settled),
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
                    take(file, settled);
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
            blames_host: false,
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
