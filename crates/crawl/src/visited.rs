//! What was given to a run and needs no visit, since earlier runs had an answer.
//!
//! What lives here: [`Visited`], for those who wonder why nothing was fetched. What does not: whether a visit settled
//! its URL (`journal.rs`).
//!
//! **Invariant.** The newest visit of a URL counts. As many are named as people read; all are counted.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::checkpoint::Settled;
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
    /// By URL: the place among the seeds, and the last visit.
    last: HashMap<&'a str, (usize, Option<(i64, String)>)>,
}

impl<'a> VisitedSeeds<'a> {
    pub(crate) fn of(seeds: &'a [Seed]) -> VisitedSeeds<'a> {
        let places =
            seeds.iter().enumerate().map(|(place, seed)| (seed.url.as_str(), (place, None)));
        VisitedSeeds { last: places.collect() }
    }

    /// Takes note of a visit after which there is no other.
    pub(crate) fn note(&mut self, settled: &Settled) {
        let Some((_, last)) = self.last.get_mut(settled.url.as_str()) else { return };
        if last.as_ref().is_some_and(|(date_s, _)| *date_s > settled.date_s) {
            return;
        }
        let outcome = match (&settled.answered, settled.entry.failure) {
            (_, Some(failure)) => FailureKind::name(failure).to_owned(),
            // Nothing has changed, and what was compared with it stands.
            (Some(answered), None) if answered.unchanged => format!("status {}", answered.before),
            (Some(answered), None) => format!("status {}", answered.status),
            (None, None) => "no answer".to_owned(),
        };
        *last = Some((settled.date_s, outcome));
    }

    pub(crate) fn told(self) -> Visited {
        let mut found: Vec<(usize, VisitedUrl)> = Vec::new();
        for (url, (place, last)) in self.last {
            if let Some((date_s, outcome)) = last {
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
