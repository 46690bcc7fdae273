//! The frontier: what is still to be visited, and what follows from each visit.
//!
//! What lives here: [`Frontier`], which takes URLs in through the sieve and hands out [`Visit`]s,
//! one host at a time. `hosts.rs` holds the hosts and decides what a visit changes, `host.rs` is one
//! of them. What does not: fetching, threads, clocks; the moment is always an argument.
//!
//! **Invariant.** A URL becomes a visit at most once, but for retries after a passing failure.
//! A host has at most one visit under way, and none before its moment.

mod host;
mod hosts;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use page::Url;
use sieve::{Sieve, SieveKind};

use crate::agents::Agents;
use crate::answer::Purpose;
use crate::config::Config;
use crate::error::CrawlError;
use crate::guard::Guard;
use crate::journal::Entry;
use crate::outcome::{Answered, Done, Harvest, Outcome, Visit};
use crate::report::{Census, Report, SieveReport, Snapshot};

pub(crate) use hosts::Tally;
use hosts::{Hosts, Mark};

/// How long a sieve that is not prompt gathers before it is flushed for want of work.
const FLUSH_MS: u64 = 200;
/// How deep indexes of sitemaps may nest; the protocol knows one level.
const SITEMAP_DEPTH_MAX: u8 = 2;

pub(crate) struct Frontier {
    kind: SieveKind,
    sieve: Box<dyn Sieve + Send>,
    /// Offers since the last flush.
    offered: usize,
    /// At so many of them a flush pays for itself.
    offered_max: usize,
    flushed_ms: u64,
    hosts: Hosts,
}

impl Frontier {
    /// An empty one, with its files in `dir`.
    pub(crate) fn create(
        config: &Arc<Config>,
        seeds: &[Url],
        dir: &Path,
    ) -> Result<Frontier, CrawlError> {
        // The archive is the journal: what an earlier run left in the sieve is told to it again.
        let sieve = config.sieve_plan().create(&dir.join("sieve"))?;
        let offered_max = (config.sieve_buffer_keys / 2).max(1);
        let agents = Agents::create(config, dir)?;
        let hosts = Hosts::new(config, Guard::new(config, seeds), agents);
        Ok(Frontier { kind: config.sieve, sieve, offered: 0, offered_max, flushed_ms: 0, hosts })
    }

    /// Puts a URL in that is to be visited unless it was put in before.
    pub(crate) fn offer(&mut self, url: &str) -> Result<(), CrawlError> {
        self.offered += 1;
        Ok(self.sieve.offer(url.as_bytes())?)
    }

    fn offer_marked(&mut self, url: &str, mark: Mark) -> Result<(), CrawlError> {
        self.hosts.mark(url, mark);
        self.offer(url)
    }

    /// Forgets what was put in since the last flush but that it was: it is never visited.
    pub(crate) fn forget(&mut self) -> Result<(), CrawlError> {
        self.offered = 0;
        Ok(self.sieve.flush(&mut |_| {})?)
    }

    /// Lets what is new join the queues.
    fn flush(&mut self, now_ms: u64) -> Result<(), CrawlError> {
        if self.offered == 0 {
            return Ok(());
        }
        (self.offered, self.flushed_ms) = (0, now_ms);
        let hosts = &mut self.hosts;
        self.sieve.flush(&mut |key| hosts.enqueue(key))?;
        hosts.end_flush()
    }

    /// The next thing to do at `now_ms`, if there is one.
    pub(crate) fn next(&mut self, now_ms: u64, now_s: i64) -> Result<Option<Visit>, CrawlError> {
        if self.offered >= self.offered_max || self.sieve.is_prompt() {
            self.flush(now_ms)?;
        }
        if let Some(visit) = self.hosts.next(now_ms, now_s) {
            return Ok(Some(visit));
        }
        let idle = self.hosts.is_idle();
        if self.offered > 0 && (idle || now_ms >= self.flushed_ms + FLUSH_MS) {
            self.flush(now_ms)?;
            return Ok(self.hosts.next(now_ms, now_s));
        }
        Ok(None)
    }

    /// When to ask again if nothing comes back before; `None` if only what is under way matters.
    pub(crate) fn next_ms(&self) -> Option<u64> {
        let flush_ms = (self.offered > 0).then_some(self.flushed_ms + FLUSH_MS);
        let hosts_ms = self.hosts.next_ms();
        flush_ms.into_iter().chain(hosts_ms).min()
    }

    /// Whether all is done that can be.
    pub(crate) fn is_done(&self) -> bool {
        self.hosts.is_full() && self.hosts.is_quiet() || self.offered == 0 && self.hosts.is_idle()
    }

    /// Takes note of how a visit ended.
    pub(crate) fn settle(&mut self, mut done: Done) -> Result<(), CrawlError> {
        if let Outcome::Answered(answered) = &mut done.outcome {
            self.harvest(done.visit.purpose(), done.visit.page.hops, &mut answered.harvest)?;
        }
        self.hosts.settle(done);
        Ok(())
    }

    /// Takes note of a visit that an earlier run archived. Its URL was [forgotten](Self::forget)
    /// before, if it need not be visited again.
    pub(crate) fn replay(
        &mut self,
        url: &str,
        entry: &Entry,
        date_s: i64,
        answered: Option<Answered>,
        tally: Tally,
    ) -> Result<(), CrawlError> {
        let mut answered = answered;
        if let Some(answered) = &mut answered {
            self.harvest(entry.purpose, entry.hops, &mut answered.harvest)?;
        }
        self.hosts.replay(url, entry, date_s, answered, tally);
        Ok(())
    }

    /// Puts a URL in that an earlier run visited and that is due again.
    pub(crate) fn offer_again(&mut self, url: &str, entry: &Entry) -> Result<(), CrawlError> {
        let mark = Mark { hops: entry.hops, sitemap: entry.purpose == Purpose::Sitemap };
        if mark.hops > 0 || mark.sitemap {
            self.hosts.mark(url, mark);
        }
        self.offer(url)
    }

    /// Ends the replay: what is still to be visited joins the queues.
    pub(crate) fn end_replay(&mut self, now_ms: u64, now_s: i64) -> Result<(), CrawlError> {
        self.hosts.rest(now_ms, now_s);
        self.flush(now_ms)
    }

    fn harvest(
        &mut self,
        purpose: Purpose,
        hops: u8,
        harvest: &mut Harvest,
    ) -> Result<(), CrawlError> {
        for url in harvest.links.drain(..) {
            self.offer(&url)?;
        }
        // An index of sitemaps names sitemaps; one that names indexes that name indexes is a trap.
        let depth = if purpose == Purpose::Sitemap { hops + 1 } else { 0 };
        let sitemaps = harvest.sitemaps.drain(..);
        for url in sitemaps.filter(|_| depth <= SITEMAP_DEPTH_MAX) {
            self.offer_marked(&url, Mark { hops: depth, sitemap: true })?;
        }
        if let Some(url) = harvest.redirect.take_if(|_| purpose != Purpose::Robots) {
            if hops < self.hosts.redirects_max() {
                let sitemap = purpose == Purpose::Sitemap;
                self.offer_marked(&url, Mark { hops: hops + 1, sitemap })?;
            } else {
                self.hosts.drop_redirect();
            }
        }
        self.hosts.refuse(&harvest.refused);
        Ok(())
    }

    /// Whether a visit of an earlier run settled its URL for good.
    pub(crate) fn is_final(&self, entry: &Entry, status: u16) -> bool {
        self.hosts.is_final(entry, status)
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot { sieve: self.sieve_report(), ..self.hosts.snapshot() }
    }

    /// Counts the hosts by what they are doing; as long as the table of them.
    pub(crate) fn census(&self, now_ms: u64) -> Census {
        self.hosts.census(now_ms)
    }

    pub(crate) fn report(&self) -> Report {
        Report { sieve: self.sieve_report(), ..self.hosts.report() }
    }

    fn sieve_report(&self) -> SieveReport {
        SieveReport::new(self.kind, &self.sieve.stats())
    }
}
