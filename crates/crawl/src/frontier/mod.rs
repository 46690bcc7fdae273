//! The frontier: the URLs still to be visited, and the consequences of each visit.
//!
//! What lives here: [`Frontier`], which takes URLs in through the sieve and hands out [`Visit`]s, one per host at
//! a time. A URL that passes the sieve waits in the queue of its host. When the workbench says that the host is
//! ready, the URL becomes a visit. The answer leads to new URLs, and the host waits again.
//!
//! | file | contents |
//! | --- | --- |
//! | `discover.rs` | the URLs that an answer leads to |
//! | `url_meta.rs`, `depths.rs`, `given.rs` | what is known of a URL: its class, its depth, whether it was given |
//! | `hosts.rs`, `host.rs` | all hosts and what a visit changes; one host |
//! | `queue.rs`, `spill.rs` | the waiting pages of a host; the part of them on disk |
//! | `replay.rs` | the visits of earlier runs |
//!
//! What does not: fetching, threads, clocks; the current time is always an argument.
//!
//! **Invariant.** A URL becomes a visit at most once, except for retries after a temporary failure. A host has at
//! most one visit under way, and none before its moment.

mod depths;
mod discover;
mod given;
mod host;
mod hosts;
#[cfg(test)]
mod memory;
mod queue;
mod replay;
mod robots_budget;
mod spill;
#[cfg(test)]
mod tests;
mod url_meta;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

use page::Url;
use sieve::{KEY_BYTES_MAX, Recent, Sieve, SieveError, SieveKind, Signature, signature};

use crate::agents::Agents;
use crate::answer::Purpose;
use crate::config::Config;
use crate::error::CrawlError;
use crate::guard::Guard;
use crate::order::{VisitOrder, visit_order};
use crate::outcome::{Done, Outcome, Task, Visit};
use crate::owed::Owed;
use crate::report::{Census, Report, SieveReport, Snapshot};
use crate::seeds::{Start, seed_line};
use crate::site::Site;

use depths::Depths;
use discover::Source;
pub(crate) use given::Given;
use hosts::Hosts;
pub(crate) use hosts::Tally;
use url_meta::UrlMeta;

/// How long a buffering sieve may collect URLs before it is flushed when the crawl runs out of work.
const FLUSH_MS: u64 = 200;
/// Maximum nesting of sitemap indexes; the protocol has one level.
pub const SITEMAP_DEPTH_MAX: u16 = 2;

pub(crate) struct Frontier {
    kind: SieveKind,
    sieve: Box<dyn Sieve + Send>,
    /// Number of offers since the last flush.
    offered: usize,
    /// The number of offers that makes a flush worthwhile.
    offered_max: usize,
    flushed_ms: u64,
    order: Box<dyn VisitOrder>,
    /// Maximum number of links from the first page of a site; 0 for no limit.
    depth_max: u16,
    /// The shortest distances, if `depth_max` is set.
    depths: Option<Depths>,
    /// URLs beyond the limit of redirects or sitemap indexes.
    far: HashSet<Signature>,
    /// Sitemaps with a path within the limit.
    near: HashSet<Signature>,
    /// The given URLs, if nothing else is visited.
    given: Option<Given>,
    /// Number of URLs left to a crawl that follows links.
    held: u64,
    /// Number of URLs left to a run without `alone`.
    put_off: u64,
    hosts: Hosts,
    /// The key that is being offered.
    key: Vec<u8>,
}

impl Frontier {
    /// Creates an empty frontier with its files in `dir`.
    pub(crate) fn create(
        config: &Arc<Config>,
        seeds: &[Url],
        dir: &Path,
    ) -> Result<Frontier, CrawlError> {
        // The archive is the journal: the sieve is filled again from it.
        let sieve = config.sieve_plan().create(&dir.join("sieve"))?;
        let offered_max = (config.sieve_buffer_keys / 2).max(1);
        let agents = Agents::create(config, dir)?;
        let hosts = Hosts::create(config, Guard::new(config, seeds)?, agents, dir)?;
        Ok(Frontier {
            kind: config.sieve,
            sieve,
            offered: 0,
            offered_max,
            flushed_ms: 0,
            order: visit_order(config),
            depth_max: config.depth_max,
            depths: (config.depth_max > 0).then(Depths::default),
            far: HashSet::new(),
            near: HashSet::new(),
            given: (!config.follow).then(Given::default),
            held: 0,
            put_off: 0,
            hosts,
            key: Vec::new(),
        })
    }

    /// Returns the cache of URLs that need not be offered again.
    pub(crate) fn recent(&self) -> Option<Arc<Recent>> {
        self.sieve.recent()
    }

    /// Offers a seed: a page or a sitemap. It bypasses the cache: a seed may be removed before the next run, and
    /// then the log must still have the links to it.
    pub(crate) fn offer_seed(&mut self, seed: &Start) -> Result<(), CrawlError> {
        let &Start { ref url, is_sitemap, hops, depth } = seed;
        let class = if is_sitemap { 0 } else { self.class(url) };
        let mark = UrlMeta { sitemap: is_sitemap, hops, depth, class, ..UrlMeta::default() };
        self.give(&seed_line(url, is_sitemap));
        let signature = self.sign(url, mark)?;
        if let Some(depths) = self.depths.as_mut().filter(|_| !mark.sitemap) {
            depths.find(signature, mark.depth);
        }
        Ok(self.sieve.offer_uncached(signature, &self.key)?)
    }

    /// Counts URLs of other agents that a limit excludes.
    pub(crate) fn drop_urls(&mut self, limit: &str, urls: usize) {
        self.hosts.drop_urls(limit, urls);
    }

    /// Returns the class of a page without a linking page.
    fn class(&self, url: &str) -> u8 {
        let path = Site::split(url).map_or("/", |(_, path)| path);
        self.order.class(url, path, false, 0.0)
    }

    /// Offers a URL, to be visited unless it was offered before.
    pub(crate) fn offer(&mut self, url: &str) -> Result<(), CrawlError> {
        self.offer_marked(url, UrlMeta::default())
    }

    fn offer_marked(&mut self, url: &str, mark: UrlMeta) -> Result<(), CrawlError> {
        let signature = self.sign(url, mark)?;
        if mark.sitemap && self.near.insert(signature) && self.far.remove(&signature) {
            self.hosts.take_back_drop(discover::SITEMAP_DEPTH);
        }
        Ok(self.sieve.offer_signed(signature, &self.key)?)
    }

    /// Offers a page that was found at this depth.
    fn offer_page(&mut self, url: &str, mark: UrlMeta) -> Result<(), CrawlError> {
        let signature = self.sign(url, mark)?;
        if let Some(depths) = &mut self.depths {
            depths.find(signature, mark.depth);
        }
        Ok(self.sieve.offer_signed(signature, &self.key)?)
    }

    /// Builds the key for the sieve; its signature is that of the URL alone.
    fn sign(&mut self, url: &str, mark: UrlMeta) -> Result<Signature, CrawlError> {
        self.key.clear();
        self.key.extend_from_slice(url.as_bytes());
        mark.append(&mut self.key);
        let (len, max) = (self.key.len(), KEY_BYTES_MAX);
        if len > max {
            return Err(SieveError::KeyTooLong { len, max }.into());
        }
        self.offered += 1;
        Ok(signature(url.as_bytes()))
    }

    /// Moves new URLs to the queues.
    pub(crate) fn flush(&mut self, now_ms: u64) -> Result<(), CrawlError> {
        if self.offered == 0 {
            return Ok(());
        }
        (self.offered, self.flushed_ms) = (0, now_ms);
        let hosts = &mut self.hosts;
        self.sieve.flush(&mut |key| hosts.enqueue(key))?;
        hosts.end_flush()
    }

    /// Returns the next visit at `now_ms`, if there is one.
    pub(crate) fn next(&mut self, now_ms: u64, now_s: i64) -> Result<Option<Visit>, CrawlError> {
        if self.offered >= self.offered_max || self.sieve.is_prompt() {
            self.flush(now_ms)?;
        }
        if let Some(visit) = self.next_visit(now_ms, now_s) {
            return Ok(Some(visit));
        }
        self.hosts.take_failure()?;
        let idle = self.hosts.is_idle();
        if self.offered > 0 && (idle || now_ms >= self.flushed_ms + FLUSH_MS) {
            self.flush(now_ms)?;
            return Ok(self.next_visit(now_ms, now_s));
        }
        Ok(None)
    }

    /// Returns the next visit of the hosts, with the current depth of its page.
    fn next_visit(&mut self, now_ms: u64, now_s: i64) -> Option<Visit> {
        let mut visit = self.hosts.next(now_ms, now_s)?;
        if visit.task != Task::Resolve {
            self.hosts.begin_owing(visit.host);
        }
        if let Some(depths) = self.depths.as_ref().filter(|_| visit.task == Task::Page)
            && !visit.page.sitemap
        {
            let url = signature(visit.url().as_bytes());
            visit.page.depth = depths.of(url, visit.page.depth);
        }
        Some(visit)
    }

    /// Returns the depth to use for the links of a page that was found at `depth`.
    fn depth_read(&mut self, purpose: Purpose, url: &str, depth: u16) -> u16 {
        match self.depths.as_mut().filter(|_| purpose == Purpose::Page) {
            Some(depths) => depths.read(signature(url.as_bytes()), depth),
            None => depth,
        }
    }

    /// Returns when to call [`Frontier::next`] again if no visit ends before; `None` if only visits under way
    /// matter.
    pub(crate) fn next_ms(&self) -> Option<u64> {
        let flush_ms = (self.offered > 0).then_some(self.flushed_ms + FLUSH_MS);
        let hosts_ms = self.hosts.next_ms();
        flush_ms.into_iter().chain(hosts_ms).min()
    }

    /// Starts the time of the run; returns its end, if there is a limit.
    pub(crate) fn begin_time(&mut self, now_ms: u64) -> Option<u64> {
        self.hosts.end_ms(now_ms)
    }

    /// Returns whether the time of the run is over; also checks the other limits.
    pub(crate) fn is_time_over(&mut self, now_ms: u64) -> bool {
        self.hosts.check_limits(now_ms);
        self.hosts.is_time_over(now_ms)
    }

    /// Ends the run: flushes the last URLs into the queues, so that they are counted, and removes forbidden ones
    /// from the queues within a time limit.
    pub(crate) fn end_run(&mut self, now_ms: u64) -> Result<(), CrawlError> {
        if self.sieve.is_prompt() {
            self.flush(now_ms)?;
        }
        self.hosts.forget_forbidden()
    }

    pub(crate) fn begin_recrawl(&mut self) {
        self.hosts.begin_recrawl();
    }

    /// Returns whether known pages of a recrawl wait at hosts that are set aside.
    pub(crate) fn has_known_aside(&self) -> bool {
        self.hosts.has_known_aside()
    }

    /// Returns the sites that are set aside and have waiting pages.
    pub(crate) fn sites_aside(&self) -> BTreeSet<&str> {
        self.hosts.sites_aside()
    }

    /// Returns whether the host of a URL excludes it: its limit is reached, it belongs to another agent, it is
    /// refused, or its robots.txt forbids the URL.
    pub(crate) fn bars(&mut self, url: &str) -> Result<bool, CrawlError> {
        self.hosts.bars(url)
    }

    /// Returns whether a limit has ended the run early.
    pub(crate) fn is_cut(&self) -> bool {
        self.hosts.is_cut()
    }

    pub(crate) fn is_asking(&self) -> bool {
        self.hosts.is_asking()
    }

    /// Returns the pauses that are due to hosts because of their response times.
    pub(crate) fn owed(&self) -> &Owed {
        self.hosts.owed()
    }

    /// Returns whether all possible work is done.
    pub(crate) fn is_done(&self) -> bool {
        self.hosts.is_full() && self.hosts.is_quiet() || self.offered == 0 && self.hosts.is_idle()
    }

    /// Handles the end of a visit.
    pub(crate) fn settle(&mut self, mut done: Done) -> Result<(), CrawlError> {
        if let Outcome::Answered(answered) = &mut done.outcome {
            let page = &done.visit.page;
            let (purpose, hops) = (done.visit.purpose(), page.hops);
            if let Some(given) = &mut self.given {
                given.keep(purpose, &done.visit.url(), &mut answered.harvest);
            }
            let depth = match self.depths {
                Some(_) => self.depth_read(purpose, &done.visit.url(), page.depth),
                None => page.depth,
            };
            let site = done.visit.site.key();
            self.harvest(Source { site, purpose, hops, depth }, &mut answered.harvest)?;
        }
        self.hosts.settle(done);
        Ok(())
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut snapshot = self.hosts.snapshot();
        snapshot.report.sieve = self.sieve_report();
        snapshot
    }

    /// Counts the hosts by state, in time linear in their number.
    pub(crate) fn census(&self, now_ms: u64) -> Census {
        self.hosts.census(now_ms)
    }

    pub(crate) fn report(&self) -> Report {
        let (held, put_off) = (self.held, self.put_off);
        Report { sieve: self.sieve_report(), held, put_off, ..self.hosts.report() }
    }

    fn sieve_report(&self) -> SieveReport {
        SieveReport::new(self.kind, &self.sieve.stats())
    }
}

/// Returns whether two URLs are of one site.
pub(crate) fn is_same_site(one: &str, other: &str) -> bool {
    let site = |url| Site::split(url).map(|(site, _)| site);
    site(one) == site(other)
}
