//! Which visits of earlier runs their hosts were to blame for, and not their pages.
//!
//! What lives here: [`Spells`]. Visits of a host that were in vain, with no good answer in between, are a spell. One is an
//! outage if `host_failures_max` different pages or more failed in it: such a host is set aside, and its pages keep the tries
//! that it has cost. They keep all but one where fewer failed and the records blame the host, since nothing else was heard of
//! it then: a page that fails again after others have answered is given up. In a spell that goes on it is not clear yet whose
//! fault they are. What does not: the same in the run that is under way (`health.rs`), and what is settled for good,
//! which the record of a visit tells by itself (`journal.rs`).
//!
//! **Invariant.** What counts depends on the visits and not on the order in which they are told. About forty bytes are
//! kept for a visit that was in vain.

use std::collections::{HashMap, HashSet};

use sieve::{Signature, signature};

use crate::checkpoint::Settled;
use crate::clock::Moment;
use crate::order::Blame;
use crate::site::Site;

/// The visits that were in vain, by the signature of their site.
#[derive(Debug, Default)]
pub(super) struct Spells {
    sites: HashMap<u64, Failed>,
}

/// Those of one site.
#[derive(Debug, Default)]
struct Failed {
    vains: Vec<Vain>,
    /// Whether the host gave a good answer after all of them.
    is_over: bool,
}

/// A visit that was in vain.
#[derive(Debug, Clone, Copy)]
struct Vain {
    date: Moment,
    url: Signature,
    /// How often its URL was tried by then; 0 if that is of no interest any more.
    tries: u8,
    /// Whether the host is to blame by its record.
    blames_host: bool,
    /// Whether the host gave a good answer since the one before.
    is_first: bool,
}

impl Spells {
    /// Takes note of a visit that was in vain, after which its URL was tried so often.
    pub(super) fn note(&mut self, settled: &Settled, tries: u8) {
        let Some((site, _)) = Site::split(&settled.url) else { return };
        let url = signature(settled.url.as_bytes());
        let (date, blames_host) = (settled.date(), settled.entry.blames_host);
        let vain = Vain { date, url, tries, blames_host, is_first: false };
        self.sites.entry(signature(site.as_bytes()).0).or_default().vains.push(vain);
    }

    /// All of them are told: whether the good answers are to be [told](Self::answer) as well.
    pub(super) fn sort(&mut self) -> bool {
        self.sites.retain(|_, Failed { vains, .. }| vains.iter().any(|vain| vain.tries > 0));
        for Failed { vains, .. } in self.sites.values_mut() {
            vains.sort_by_key(|vain| vain.date);
        }
        !self.sites.is_empty()
    }

    /// Takes note of a good answer.
    pub(super) fn answer(&mut self, settled: &Settled) {
        let Some((site, _)) = Site::split(&settled.url) else { return };
        let failed = self.sites.get_mut(&signature(site.as_bytes()).0);
        let Some(Failed { vains, is_over }) = failed else { return };
        let next = vains.partition_point(|vain| vain.date <= settled.date());
        match vains.get_mut(next) {
            Some(vain) => vain.is_first = true,
            None => *is_over = true,
        }
    }

    /// Gives out the tries that count.
    pub(super) fn count(self, pages_max: usize, take: &mut dyn FnMut(Signature, u8, Blame)) {
        for Failed { vains, is_over } in self.sites.into_values() {
            let mut spells = vains.chunk_by(|_, next| !next.is_first).peekable();
            while let Some(spell) = spells.next() {
                let is_clear = is_over || spells.peek().is_some();
                let blame = if is_clear { Blame::Own } else { Blame::Unclear };
                if is_outage(spell, pages_max) {
                    continue;
                }
                let is_blamed = spell.iter().any(|vain| vain.blames_host);
                for vain in spell {
                    let tries = if is_blamed { vain.tries.min(1) } else { vain.tries };
                    take(vain.url, tries, blame);
                }
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
