//! The frontier: what is still to be visited, and what follows from each visit.
//!
//! What lives here: [`Frontier`], which takes URLs in through the sieve and hands out [`Visit`]s,
//! one host at a time. `mark.rs` is what else is known of a URL, `depths.rs` how far it is, `given.rs` whether it was given, `hosts.rs` holds the hosts and decides what
//! a visit changes, `host.rs` is one of them, `queue.rs` what waits at it and `spill.rs` the part of that on
//! disk. What does not: fetching, threads, clocks; the moment is always an argument.
//!
//! **Invariant.** A URL becomes a visit at most once, but for retries after a passing failure.
//! A host has at most one visit under way, and none before its moment.

mod depths;
mod effort;
mod given;
mod host;
mod hosts;
mod mark;
#[cfg(test)]
mod memory;
mod queue;
mod spill;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use page::Url;
use sieve::{KEY_BYTES_MAX, Recent, Sieve, SieveError, SieveKind, Signature, signature};

use crate::agents::Agents;
use crate::answer::Purpose;
use crate::config::Config;
use crate::error::CrawlError;
use crate::guard::Guard;
use crate::journal::Entry;
use crate::order::{VisitOrder, visit_order};
use crate::outcome::{Answered, Done, Harvest, Outcome, Task, Visit};
use crate::report::{Census, Report, SieveReport, Snapshot};
use crate::seeds::SITEMAP_PREFIX;
use crate::site::Site;

use depths::Depths;
use given::Given;
use hosts::Hosts;
pub(crate) use hosts::Tally;
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
    /// What was given, if nothing else is visited.
    given: Option<Given>,
    /// URLs that are left to a crawl that follows links.
    held: u64,
    hosts: Hosts,
    /// The key that is being offered.
    key: Vec<u8>,
}

/// Where URLs were found.
#[derive(Clone, Copy)]
struct Source<'a> {
    site: &'a str,
    purpose: Purpose,
    hops: u8,
    depth: u16,
}

impl Source<'_> {
    /// How far pages are that it links to on its own site. Those of a sitemap are as far as if the first page
    /// linked to them.
    fn depth_of_links(self) -> u16 {
        if self.purpose == Purpose::Sitemap { 1 } else { self.depth.saturating_add(1) }
    }
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
            given: (!config.follow).then(Given::default),
            held: 0,
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
    pub(crate) fn offer_seed(&mut self, seed: &str) -> Result<(), CrawlError> {
        let (url, mark) = match seed.strip_prefix(SITEMAP_PREFIX) {
            Some(url) => (url, Mark { sitemap: true, ..Mark::default() }),
            None => (seed, Mark { class: self.class(seed), ..Mark::default() }),
        };
        if let Some(given) = &mut self.given {
            given.add(seed);
        }
        let signature = self.sign(url, mark)?;
        if let Some(depths) = self.depths.as_mut().filter(|_| !mark.sitemap) {
            depths.find(signature, mark.depth);
        }
        Ok(self.sieve.offer_uncached(signature, &self.key)?)
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

    /// Forgets what was put in since the last flush but that it was: it is never visited.
    pub(crate) fn forget(&mut self) -> Result<(), CrawlError> {
        self.offered = 0;
        Ok(self.sieve.flush(&mut |_| {})?)
    }

    /// Takes note that earlier runs tried a URL so often in vain.
    pub(crate) fn note_tries(&mut self, url: &str, tries: u8) {
        if tries > 0 {
            self.hosts.note_tries(signature(url.as_bytes()), tries);
        }
    }

    /// Takes note that the last visit of a URL that is due again was in vain: it comes after the others.
    pub(crate) fn put_last(&mut self, url: &str) {
        self.hosts.note_tries(signature(url.as_bytes()), 0);
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

    /// Whether pages were found to be nearer than they were when their links were looked at.
    pub(crate) fn has_nearer(&self) -> bool {
        self.depths.as_ref().is_some_and(Depths::has_nearer)
    }

    /// Begins a pass through all visits, each of which is to be [read again](Self::read_again).
    pub(crate) fn begin_pass(&mut self) {
        self.depths.iter_mut().for_each(Depths::begin_pass);
    }

    /// Ends the pass; there may be nearer pages again.
    pub(crate) fn end_pass(&mut self) {
        self.depths.iter_mut().for_each(Depths::end_pass);
    }

    /// Looks once more at what an archived visit led to, if its page is one of the nearer ones.
    pub(crate) fn read_again(
        &mut self,
        url: &str,
        entry: &Entry,
        answered: Option<Answered>,
    ) -> Result<(), CrawlError> {
        let sign = signature(url.as_bytes());
        let is_passed = self.depths.as_mut().is_some_and(|depths| depths.is_passed(sign));
        let Some(mut answered) = answered.filter(|_| is_passed) else { return Ok(()) };
        let &Entry { purpose, hops, depth, .. } = entry;
        self.find_given(url, purpose, &mut answered);
        let depth = self.depths.as_ref().map_or(depth, |depths| depths.of(sign, depth));
        let site = Site::split(url).map_or("", |(site, _)| site);
        self.lead(Source { site, purpose, hops, depth }, &mut answered.harvest)
    }

    /// When to ask again if nothing comes back before; `None` if only what is under way matters.
    pub(crate) fn next_ms(&self) -> Option<u64> {
        let flush_ms = (self.offered > 0).then_some(self.flushed_ms + FLUSH_MS);
        let hosts_ms = self.hosts.next_ms();
        flush_ms.into_iter().chain(hosts_ms).min()
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

    /// Whether a limit has ended the run before everything was asked for.
    pub(crate) fn is_cut(&self) -> bool {
        self.hosts.is_cut()
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
            let Entry { purpose, hops, depth, .. } = *entry;
            self.find_given(url, purpose, answered);
            let depth = self.depth_read(purpose, url, depth);
            let site = Site::split(url).map_or("", |(site, _)| site);
            // What it was refused was counted by its own run.
            self.lead(Source { site, purpose, hops, depth }, &mut answered.harvest)?;
        }
        self.hosts.replay(url, entry, date_s, answered, tally);
        Ok(())
    }

    /// Holds back what an archived visit led to that was not given, if nothing else is to be visited; whether
    /// there is more that counts as given. Visits are in no order, so they are to be told until there is not.
    pub(crate) fn find_given(
        &mut self,
        url: &str,
        purpose: Purpose,
        answered: &mut Answered,
    ) -> bool {
        let Some(given) = &mut self.given else { return false };
        let before = given.len();
        given.keep(purpose, url, &mut answered.harvest);
        given.len() > before
    }

    /// Puts in what is held back of that which an archived visit led to, to be [counted](Self::count_held).
    pub(crate) fn offer_held(
        &mut self,
        url: &str,
        purpose: Purpose,
        answered: &mut Answered,
    ) -> Result<(), CrawlError> {
        let given = self.given.as_mut();
        let held = given.map(|given| given.keep(purpose, url, &mut answered.harvest));
        held.into_iter().flatten().try_for_each(|url| self.offer(&url))
    }

    /// Counts what was put in since the last flush and is left to a crawl that follows links.
    pub(crate) fn count_held(&mut self) -> Result<(), CrawlError> {
        self.offered = 0;
        let held = &mut self.held;
        Ok(self.sieve.flush(&mut |_| *held += 1)?)
    }

    /// Puts a URL in that an earlier run visited and that is due again.
    pub(crate) fn offer_again(&mut self, url: &str, entry: &Entry) -> Result<(), CrawlError> {
        let &Entry { hops, depth, .. } = entry;
        let sitemap = entry.purpose == Purpose::Sitemap;
        let class = if sitemap { 0 } else { self.class(url) };
        let mark = Mark { hops, sitemap, depth, class, is_known: true, ..Mark::default() };
        if sitemap { self.offer_marked(url, mark) } else { self.offer_page(url, mark) }
    }

    /// Ends the replay: what is still to be visited joins the queues.
    pub(crate) fn end_replay(&mut self, now_ms: u64, now_s: i64) -> Result<(), CrawlError> {
        self.hosts.rest(now_ms, now_s);
        self.flush(now_ms)
    }

    fn harvest(&mut self, source: Source<'_>, harvest: &mut Harvest) -> Result<(), CrawlError> {
        self.lead(source, harvest)?;
        self.hosts.refuse(&harvest.refused);
        Ok(())
    }

    /// Puts in what an answer leads to.
    fn lead(&mut self, source: Source<'_>, harvest: &mut Harvest) -> Result<(), CrawlError> {
        let Source { purpose, hops, .. } = source;
        for url in std::mem::take(&mut harvest.links) {
            self.offer_link(source, &url, harvest)?;
        }
        // An index of sitemaps names sitemaps; one that names indexes that name indexes is a trap.
        let depth = if purpose == Purpose::Sitemap { source.depth.saturating_add(1) } else { 0 };
        if depth > SITEMAP_DEPTH_MAX {
            self.hosts.drop_urls("sitemap-depth", std::mem::take(&mut harvest.sitemaps).len());
        }
        for url in std::mem::take(&mut harvest.sitemaps) {
            self.offer_marked(&url, Mark { sitemap: true, depth, ..Mark::default() })?;
        }
        if let Some(url) = harvest.redirect.take_if(|_| purpose != Purpose::Robots) {
            if hops < self.hosts.redirects_max() {
                let sitemap = purpose == Purpose::Sitemap;
                let is_next = Site::split(&url).is_some_and(|(site, _)| site == source.site);
                let depth = if is_next || sitemap { source.depth } else { 0 };
                let mark = Mark { hops: hops + 1, sitemap, depth, is_next, ..Mark::default() };
                if sitemap {
                    self.offer_marked(&url, mark)?;
                } else {
                    self.offer_page(&url, mark)?;
                }
            } else {
                self.hosts.drop_urls("redirects", 1);
            }
        }
        Ok(())
    }

    /// Puts in a link with its distance and its class, unless it is too far from the first page.
    fn offer_link(
        &mut self,
        source: Source<'_>,
        url: &str,
        harvest: &mut Harvest,
    ) -> Result<(), CrawlError> {
        let (site, path) = Site::split(url).unwrap_or(("", "/"));
        let is_same_site = site == source.site;
        let depth = if is_same_site { source.depth_of_links() } else { 0 };
        if self.depth_max > 0 && depth > self.depth_max {
            let is_near = |depths: &Depths| depths.has(signature(url.as_bytes()));
            if !self.depths.as_ref().is_some_and(is_near) {
                *harvest.refused.entry("depth".into()).or_default() += 1;
            }
            return Ok(());
        }
        let class = self.order.class(url, path, !is_same_site, harvest.similarity);
        self.offer_page(url, Mark { depth, class, ..Mark::default() })
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
        Report { sieve: self.sieve_report(), held: self.held, ..self.hosts.report() }
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
