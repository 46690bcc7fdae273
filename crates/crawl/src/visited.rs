//! What was given to a run and needs no visit, since earlier runs had an answer.
//!
//! What lives here: [`Visited`], for those who wonder why nothing was fetched. What does not: whether a visit settled
//! its URL (`journal.rs`).
//!
//! **Invariant.** The newest visit of a URL counts. As many are named as people read; all are counted.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::checkpoint::Settled;
use crate::clock::Moment;
use crate::outcome::FailureKind;
use crate::seeds::Seed;

/// Addresses that are named one by one.
const NAMED_MAX: usize = 10;

/// Addresses that were wanted and known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Visited {
    /// How many, by how their last visit ended: `status 401`, or the class of a failure.
    pub outcomes: BTreeMap<String, u64>,
    /// The first of them, those without a page before the others.
    pub first: Vec<VisitedUrl>,
}

/// An address and its last visit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct VisitedUrl {
    /// The address.
    pub url: String,
    /// How the visit ended.
    pub outcome: String,
    /// When it was made, in seconds since 1970.
    pub date_s: i64,
}

impl VisitedUrl {
    /// Whether the visit brought a page.
    pub fn is_page(&self) -> bool {
        self.outcome == PAGE
    }
}

const PAGE: &str = "status 200";

/// Finds them among the visits of earlier runs.
pub(crate) struct VisitedSeeds<'a> {
    by_url: HashMap<&'a str, Wanted>,
}

/// What is known of one.
struct Wanted {
    /// Its place among the seeds.
    place: usize,
    /// When its last visit was made, and how that ended.
    last: Option<(Moment, String)>,
}

impl<'a> VisitedSeeds<'a> {
    pub(crate) fn of(seeds: &'a [Seed]) -> VisitedSeeds<'a> {
        let wanted =
            |(place, seed): (usize, &'a Seed)| (seed.url.as_str(), Wanted { place, last: None });
        VisitedSeeds { by_url: seeds.iter().enumerate().map(wanted).collect() }
    }

    /// Takes note of a visit after which there is no other.
    pub(crate) fn note(&mut self, settled: &Settled) {
        let Some(Wanted { last, .. }) = self.by_url.get_mut(settled.url.as_str()) else { return };
        if last.as_ref().is_some_and(|(date, _)| *date > settled.date()) {
            return;
        }
        let outcome = match (&settled.answered, settled.entry.failure) {
            (_, Some(failure)) => FailureKind::name(failure).to_owned(),
            // Nothing has changed, and what was compared with it stands.
            (Some(answered), None) if answered.unchanged => format!("status {}", answered.before),
            (Some(answered), None) => format!("status {}", answered.status),
            (None, None) => "no answer".to_owned(),
        };
        *last = Some((settled.date(), outcome));
    }

    pub(crate) fn told(self) -> Visited {
        let mut found: Vec<(usize, VisitedUrl)> = Vec::new();
        for (url, Wanted { place, last }) in self.by_url {
            if let Some((Moment { s: date_s, .. }, outcome)) = last {
                found.push((place, VisitedUrl { url: url.to_owned(), outcome, date_s }));
            }
        }
        found.sort_by_key(|(place, url)| (url.is_page(), *place));
        let mut visited = Visited::default();
        for (_, url) in found {
            *visited.outcomes.entry(url.outcome.clone()).or_default() += 1;
            if visited.first.len() < NAMED_MAX {
                visited.first.push(url);
            }
        }
        visited
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Purpose;
    use crate::journal::Entry;
    use crate::outcome::Answered;

    fn visit(url: &str, date_s: i64, outcome: Result<Answered, FailureKind>) -> Settled {
        let (purpose, robots_for, failure) = (Purpose::Page, None, outcome.as_ref().err().copied());
        let entry = Entry {
            purpose,
            attempts: 0,
            hops: 0,
            depth: 0,
            robots_for,
            failure,
            is_inconclusive: false,
            blames_host: false,
        };
        Settled::plain(url.to_owned(), entry, date_s, (0, 0), 0, outcome.ok())
    }

    #[test]
    fn the_newest_visit_counts_and_what_has_no_page_comes_first() {
        let seed = |path: &str| Seed {
            url: format!("http://a.test/{path}").parse().expect("a URL"),
            is_sitemap: false,
        };
        let seeds = ["same", "never", "closed", "slow"].map(seed);
        let status = |status| Ok(Answered { status, ..Answered::default() });
        let same = Answered { status: 304, before: 200, unchanged: true, ..Answered::default() };
        let mut visited = VisitedSeeds::of(&seeds);
        for settled in [
            visit("http://a.test/closed", 5, status(401)),
            visit("http://a.test/closed", 3, status(200)),
            visit("http://a.test/same", 3, status(404)),
            visit("http://a.test/same", 4, Ok(same)),
            visit("http://a.test/slow", 6, Err(FailureKind::Timeout)),
            visit("http://a.test/other", 7, status(200)),
        ] {
            visited.note(&settled);
        }
        let Visited { outcomes, first } = visited.told();
        let wanted = [("status 200", 1), ("status 401", 1), ("timeout", 1)];
        assert_eq!(outcomes, wanted.map(|(name, times)| (name.to_owned(), times)).into());
        let first: Vec<(&str, i64)> =
            first.iter().map(|url| (url.url.as_str(), url.date_s)).collect();
        let wanted =
            [("http://a.test/closed", 5), ("http://a.test/slow", 6), ("http://a.test/same", 4)];
        assert_eq!(first, wanted);
    }
}
