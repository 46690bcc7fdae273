//! Which visits of earlier runs their hosts were to blame for, and not their pages.
//!
//! What lives here: [`Spells`]. Visits of a host that were in vain, with no good answer in between, are a spell. One of
//! `host_failures_max` different pages or more is an outage: such a host is set aside, and its pages keep the tries that it
//! has cost. What does not: the same in the run that is under way (`health.rs`), and what is settled for good, which the
//! record of a visit tells by itself (`journal.rs`).
//!
//! **Invariant.** What counts depends on the visits and not on the order in which they are told. About forty bytes are
//! kept for a visit that was in vain.

use std::collections::{HashMap, HashSet};

use sieve::{Signature, signature};

use crate::checkpoint::Settled;
use crate::clock::Moment;
use crate::site::Site;

/// The visits that were in vain, by the signature of their site.
#[derive(Debug, Default)]
pub(super) struct Spells {
    sites: HashMap<u64, Vec<Vain>>,
}

/// A visit that was in vain.
#[derive(Debug, Clone, Copy)]
struct Vain {
    date: Moment,
    url: Signature,
    /// How often its URL was tried by then; 0 if that is of no interest any more.
    tries: u8,
    /// Whether the host gave a good answer since the one before.
    is_first: bool,
}

impl Spells {
    /// Takes note of a visit that was in vain, after which its URL was tried so often.
    pub(super) fn note(&mut self, settled: &Settled, tries: u8) {
        let Some((site, _)) = Site::split(&settled.url) else { return };
        let url = signature(settled.url.as_bytes());
        let vain = Vain { date: settled.date(), url, tries, is_first: false };
        self.sites.entry(signature(site.as_bytes()).0).or_default().push(vain);
    }

    /// All of them are told: gives out the tries at sites where too few pages failed for an outage; whether there are
    /// others, of which the good answers are to be [told](Self::answer).
    pub(super) fn sift(&mut self, pages_max: usize, take: &mut dyn FnMut(Signature, u8)) -> bool {
        self.sites.retain(|_, vains| {
            let is_outage = is_outage(vains, pages_max);
            if is_outage {
                vains.sort_by_key(|vain| vain.date);
            } else {
                for vain in &*vains {
                    take(vain.url, vain.tries);
                }
            }
            is_outage
        });
        !self.sites.is_empty()
    }

    /// Takes note of a good answer.
    pub(super) fn answer(&mut self, settled: &Settled) {
        let Some((site, _)) = Site::split(&settled.url) else { return };
        if let Some(vains) = self.sites.get_mut(&signature(site.as_bytes()).0) {
            let next = vains.partition_point(|vain| vain.date <= settled.date());
            vains.get_mut(next).into_iter().for_each(|vain| vain.is_first = true);
        }
    }

    /// Gives out the tries that count at the other sites.
    pub(super) fn count(self, pages_max: usize, take: &mut dyn FnMut(Signature, u8)) {
        for vains in self.sites.into_values() {
            let spells = vains.chunk_by(|_, next| !next.is_first);
            for vain in spells.filter(|spell| !is_outage(spell, pages_max)).flatten() {
                take(vain.url, vain.tries);
            }
        }
    }
}

/// Whether so many different pages failed.
fn is_outage(vains: &[Vain], pages_max: usize) -> bool {
    let mut urls = HashSet::new();
    vains.len() >= pages_max && {
        urls.extend(vains.iter().map(|vain| vain.url.0));
        urls.len() >= pages_max
    }
}
