//! The frontier: what is still to be visited, and what follows from each visit.
//!
//! What lives here: [`Frontier`], which takes URLs in through the sieve and hands out [`Visit`]s,
//! one host at a time. `lead.rs` is what an answer leads to, `replay.rs` what earlier runs did, `mark.rs` what else is
//! known of a URL, `depths.rs` how far it is, `given.rs` whether it was given. `hosts.rs` holds the hosts and decides
//! what a visit changes, `host.rs` is one of them, `queue.rs` what waits at it and `spill.rs` the part of that on
//! disk. What does not: fetching, threads, clocks; the moment is always an argument.
//!
//! **Invariant.** A URL becomes a visit at most once, but for retries after a passing failure.
//! A host has at most one visit under way, and none before its moment.

mod depths;
mod effort;
mod given;
mod host;
mod hosts;
mod lead;
mod mark;
#[cfg(test)]
mod memory;
mod queue;
mod replay;
mod spill;
#[cfg(test)]
mod tests;

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
pub(crate) use given::Given;
use hosts::Hosts;
pub(crate) use hosts::Tally;
use lead::Source;
use mark::Mark;

/// How long a sieve that is not prompt gathers before it is flushed for want of work.
const FLUSH_MS: u64 = 200;
/// How deep indexes of sitemaps may nest; the protocol knows one level.
pub const SITEMAP_DEPTH_MAX: u16 = 2;

pub(crate) struct Frontier {
    kind: SieveKind,
    sieve: Box<dyn Sieve + Send>,
    /// Offers since the last flush.
    offered: usize,
    /// At so many of them a flush pays for itself.
    offered_max: usize,
    flushed_ms: u64,
    order: Box<dyn VisitOrder>,
    /// Links from the first page of a site; 0 for no limit.
    depth_max: u16,
    /// The shortest ways, if that is a limit.
    depths: Option<Depths>,
    /// What is too many redirects or indexes of sitemaps away.
    far: HashSet<Signature>,
    /// Sitemaps that a way leads to which is not too long.
    near: HashSet<Signature>,
    /// What was given, if nothing else is visited.
    given: Option<Given>,
    /// URLs that are left to a crawl that follows links.
    held: u64,
    /// URLs that wait for a crawl that asks for others than those it is given.
    put_off: u64,
    hosts: Hosts,
    /// The key that is being offered.
    key: Vec<u8>,
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

    /// What need not be offered, for those who find URLs.
    pub(crate) fn recent(&self) -> Option<Arc<Recent>> {
        self.sieve.recent()
    }

    /// Puts in a URL that was given: a page, or a sitemap if it says so. It may be taken back before the next
    /// run, so it is no reason to leave out of the log that a page links to it: the cache does not hear of it.
    pub(crate) fn offer_seed(&mut self, seed: &Start) -> Result<(), CrawlError> {
        let &Start { ref url, is_sitemap, hops, depth } = seed;
        let class = if is_sitemap { 0 } else { self.class(url) };
        let mark = Mark { sitemap: is_sitemap, hops, depth, class, ..Mark::default() };
        self.give(&seed_line(url, is_sitemap));
        let signature = self.sign(url, mark)?;
        if let Some(depths) = self.depths.as_mut().filter(|_| !mark.sitemap) {
            depths.find(signature, mark.depth);
        }
        Ok(self.sieve.offer_uncached(signature, &self.key)?)
    }

    /// Counts URLs that were found elsewhere, and that a limit keeps out.
    pub(crate) fn drop_urls(&mut self, limit: &str, urls: usize) {
        self.hosts.drop_urls(limit, urls);
    }

    /// The class of a page that no link led to.
    fn class(&self, url: &str) -> u8 {
        let path = Site::split(url).map_or("/", |(_, path)| path);
        self.order.class(url, path, false, 0.0)
    }

    /// Puts a URL in that is to be visited unless it was put in before.
    pub(crate) fn offer(&mut self, url: &str) -> Result<(), CrawlError> {
        self.offer_marked(url, Mark::default())
    }

    fn offer_marked(&mut self, url: &str, mark: Mark) -> Result<(), CrawlError> {
        let signature = self.sign(url, mark)?;
        if mark.sitemap && self.near.insert(signature) && self.far.remove(&signature) {
            self.hosts.take_back_drop(lead::SITEMAP_DEPTH);
        }
        Ok(self.sieve.offer_signed(signature, &self.key)?)
    }

    /// Puts in a page that was found at this depth.
    fn offer_page(&mut self, url: &str, mark: Mark) -> Result<(), CrawlError> {
        let signature = self.sign(url, mark)?;
        if let Some(depths) = &mut self.depths {
            depths.find(signature, mark.depth);
        }
        Ok(self.sieve.offer_signed(signature, &self.key)?)
    }

    /// Makes the key that the sieve gets; it knows it by the URL alone.
    fn sign(&mut self, url: &str, mark: Mark) -> Result<Signature, CrawlError> {
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

    /// Lets what is new join the queues.
    pub(crate) fn flush(&mut self, now_ms: u64) -> Result<(), CrawlError> {
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

    /// The next visit of the hosts, at the depth that its page has by now.
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

    /// The depth by which the links of a page are looked at that was found at `depth`.
    fn depth_read(&mut self, purpose: Purpose, url: &str, depth: u16) -> u16 {
        match self.depths.as_mut().filter(|_| purpose == Purpose::Page) {
            Some(depths) => depths.read(signature(url.as_bytes()), depth),
            None => depth,
        }
    }

    /// When to ask again if nothing comes back before; `None` if only what is under way matters.
    pub(crate) fn next_ms(&self) -> Option<u64> {
        let flush_ms = (self.offered > 0).then_some(self.flushed_ms + FLUSH_MS);
        let hosts_ms = self.hosts.next_ms();
        flush_ms.into_iter().chain(hosts_ms).min()
    }

    /// Begins the time of the run; when it is over, if there is a limit.
    pub(crate) fn begin_time(&mut self, now_ms: u64) -> Option<u64> {
        self.hosts.end_ms(now_ms)
    }

    /// Whether the time of the run is over; whatever else keeps it from asking for visits, the limits are
    /// looked at.
    pub(crate) fn is_time_over(&mut self, now_ms: u64) -> bool {
        self.hosts.check_limits(now_ms);
        self.hosts.is_time_over(now_ms)
    }

    /// Ends the run: what was found last joins the queues, so that it is counted with what waits, and what is
    /// forbidden leaves them, unless that takes long.
    pub(crate) fn end_run(&mut self, now_ms: u64) -> Result<(), CrawlError> {
        if self.sieve.is_prompt() {
            self.flush(now_ms)?;
        }
        self.hosts.forget_forbidden()
    }

    /// From now on this is a recrawl.
    pub(crate) fn begin_recrawl(&mut self) {
        self.hosts.begin_recrawl();
    }

    /// Whether known pages wait that a recrawl asks for, at hosts that are set aside.
    pub(crate) fn has_known_aside(&self) -> bool {
        self.hosts.has_known_aside()
    }

    /// The sites that are set aside and that something waits at.
    pub(crate) fn sites_aside(&self) -> BTreeSet<&str> {
        self.hosts.sites_aside()
    }

    /// Whether the host of a URL keeps it out as things are: it has had its share, is another's or refused, or its robots.txt
    /// forbids the URL.
    pub(crate) fn bars(&mut self, url: &str) -> Result<bool, CrawlError> {
        self.hosts.bars(url)
    }

    /// Whether a limit has ended the run before everything was asked for.
    pub(crate) fn is_cut(&self) -> bool {
        self.hosts.is_cut()
    }

    /// Whether requests are under way.
    pub(crate) fn is_asking(&self) -> bool {
        self.hosts.is_asking()
    }

    /// The silence that is owed to hosts by how long they took.
    pub(crate) fn owed(&self) -> &Owed {
        self.hosts.owed()
    }

    /// Whether all is done that can be.
    pub(crate) fn is_done(&self) -> bool {
        self.hosts.is_full() && self.hosts.is_quiet() || self.offered == 0 && self.hosts.is_idle()
    }

    /// Takes note of how a visit ended.
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
        Snapshot { sieve: self.sieve_report(), ..self.hosts.snapshot() }
    }

    /// Counts the hosts by what they are doing; as long as the table of them.
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

/// Whether two URLs are of one site.
pub(crate) fn is_same_site(one: &str, other: &str) -> bool {
    let site = |url| Site::split(url).map(|(site, _)| site);
    site(one) == site(other)
}
