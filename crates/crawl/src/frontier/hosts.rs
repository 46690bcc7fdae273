//! All hosts of a crawl: their queues, their turns, and what a visit changes.
//!
//! What lives here: [`Hosts`], one type with many fields because a visit may change any of them; adding URLs to
//! their hosts. `hosts/ids.rs` numbers the sites, `hosts/memory.rs` moves queues to disk, `hosts/schedule.rs` picks
//! the next visit, `hosts/on_answer.rs` handles answers, `hosts/on_failure.rs` failures, `hosts/replay.rs` visits of
//! earlier runs, and `hosts/stats.rs` reports. What does not: the sieve (`mod.rs`), the state of one host
//! (`host.rs`).
//!
//! **Invariant.** `waiting` is the number of pages that wait at all hosts. The workbench holds exactly the hosts
//! that are `Listed`, and `asides` exactly those that are `Aside`.

mod ids;
mod memory;
mod on_answer;
mod on_failure;
mod replay;
mod schedule;
mod stats;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use sieve::{Signature, signature};

use super::host::{Host, Replayed, State};
use super::robots_budget::RobotsBudget;
use super::spill::Spill;
use super::url_meta::UrlMeta;
use crate::agents::Agents;
use crate::config::Config;
use crate::error::CrawlError;
use crate::guard::Guard;
use crate::order::{Blame, Waiting};
use crate::owed::Owed;
use crate::politeness::Politeness;
use crate::report::Report;
use crate::site::{HostId, Site};
use crate::workbench::Workbench;

use on_failure::Aside;
pub(crate) use replay::Tally;

/// The class of URLs that continue a visit; those of other pages follow.
const NEXT_CLASS: u8 = 0;
/// The class of URLs that failed in earlier runs: it comes last, so that it does not hold up others.
const LAST_CLASS: u8 = u8::MAX;

pub(super) struct Hosts {
    config: Arc<Config>,
    politeness: Politeness,
    guard: Guard,
    agents: Agents,
    workbench: Workbench,
    table: Vec<Host>,
    /// By the signature of the site, or the next free number after it.
    ids: BTreeMap<u64, HostId>,
    /// Hosts set aside, by the moment they come back, and why.
    asides: BTreeMap<(u64, HostId), Aside>,
    /// The last request of earlier runs to each host, while the archive is replayed.
    replayed: BTreeMap<HostId, Replayed>,
    /// Failed attempts of URLs in the queues, and what they show, by signature; most URLs have none.
    tries: HashMap<u64, (u8, Blame)>,
    /// URLs in the queues to be fetched unconditionally, by signature; most are not.
    anyhow: HashSet<u64>,
    /// No request is made before this moment to hosts that the replay did not know.
    silent_until_ms: u64,
    /// The pauses that are due to hosts because of their response times.
    owed: Owed,
    /// The part of the queues and of the robots.txt rules that is on disk.
    spill: Spill,
    /// Bytes of the part that is in memory.
    memory_bytes: usize,
    /// The host whose part leaves memory next.
    hand: usize,
    waiting: usize,
    under_way: usize,
    /// Number of visits under way for pages: they wait if the run ends before.
    pages_under_way: usize,
    /// Number of visits under way that are requests, not DNS lookups.
    requests_under_way: usize,
    /// Known pages of earlier runs that this run still has to fetch again.
    pages_due: u64,
    report: Report,
    /// Bytes of bodies that earlier runs received.
    bytes_before: u64,
    /// When the run has to end, once it has begun.
    end_ms: Option<u64>,
    /// The limit that ends the run.
    limit: Option<&'static str>,
    /// The remaining work for robots.txt rules in this call.
    robots_budget: RobotsBudget,
    /// Whether this is a recrawl: then known pages are fetched in spite of `pages_max`.
    is_recrawl: bool,
    /// Visits under way for pages that are not known.
    new_under_way: usize,
    /// New pages that a recrawl leaves out because `pages_max` is reached.
    left_out: usize,
    /// The first error of a file of the frontier.
    failed: Option<CrawlError>,
}

impl Hosts {
    pub(super) fn create(
        config: &Arc<Config>,
        guard: Guard,
        agents: Agents,
        dir: &Path,
    ) -> Result<Hosts, CrawlError> {
        Ok(Hosts {
            politeness: Politeness::new(config),
            owed: Owed::new(Politeness::new(config)),
            workbench: Workbench::new(config.ip_delay_ms),
            config: Arc::clone(config),
            guard,
            agents,
            table: Vec::new(),
            ids: BTreeMap::new(),
            asides: BTreeMap::new(),
            replayed: BTreeMap::new(),
            tries: HashMap::new(),
            anyhow: HashSet::new(),
            silent_until_ms: 0,
            spill: Spill::create(dir)?,
            memory_bytes: 0,
            hand: 0,
            waiting: 0,
            under_way: 0,
            pages_under_way: 0,
            requests_under_way: 0,
            pages_due: 0,
            report: Report::default(),
            bytes_before: 0,
            end_ms: None,
            limit: None,
            robots_budget: RobotsBudget::default(),
            is_recrawl: false,
            new_under_way: 0,
            left_out: 0,
            failed: None,
        })
    }

    pub(super) fn begin_recrawl(&mut self) {
        self.is_recrawl = true;
    }

    /// Returns the pauses that are due to hosts because of their response times.
    pub(super) fn owed(&self) -> &Owed {
        &self.owed
    }

    pub(super) fn begin_owing(&mut self, id: HostId) {
        self.owed.begin(id, &self.table[index(id)].pace);
    }

    pub(super) fn redirects_max(&self) -> u8 {
        self.config.redirects_max
    }

    /// Records the failed attempts of a URL in earlier runs, and what they show.
    pub(super) fn note_tries(&mut self, url: Signature, tries: u8, blame: Blame) {
        let (noted, reputed) = self.tries.entry(url.0).or_insert((tries, blame));
        match (*reputed, blame) {
            // The earlier doubt was resolved when the page was given up.
            (Blame::Bad, Blame::Unclear) => return,
            (Blame::Unclear, Blame::Bad) => *noted = tries,
            _ => *noted = tries.max(*noted),
        }
        if *reputed == Blame::Unclear || blame == Blame::Bad {
            *reputed = blame;
        }
    }

    /// Records that a URL failed in a way that does not count: it comes after the others.
    pub(super) fn note_vain(&mut self, url: Signature) {
        self.tries.entry(url.0).or_insert((0, Blame::Unclear));
    }

    pub(super) fn note_anyhow(&mut self, url: Signature) {
        self.anyhow.insert(url.0);
    }

    /// Returns whether a URL failed in an earlier run.
    fn was_tried(&self, url: &str) -> bool {
        !self.tries.is_empty() && self.tries.contains_key(&signature(url.as_bytes()).0)
    }

    /// Adds a URL that came out of the sieve to its host.
    pub(super) fn enqueue(&mut self, key: &[u8]) {
        let Some((url, mark)) = UrlMeta::split(key) else { return };
        let Some((site, path)) = Site::split(url) else { return };
        let Some(id) = self.own_id(site, url, mark) else { return };
        let host = &mut self.table[index(id)];
        let limit = if is_reached(host.pages, self.config.pages_per_host_max)
            || is_reached(host.requests, self.config.requests_per_host_max)
        {
            Some("host-limit")
        } else if mark.is_next {
            // It takes the place of the page that led to it.
            None
        } else if host.waiting() >= self.config.waiting_per_host_max {
            Some("waiting-per-host")
        } else {
            (self.waiting >= self.config.waiting_max).then_some("waiting")
        };
        if let Some(limit) = limit {
            return self.drop_urls(limit, 1);
        }
        let turn_ms = self.politeness.pause_ms(host.crawl_delay_ms) * host.waiting() as u64;
        let turn_ms_max = self.config.turn_s_max.saturating_mul(1000);
        if turn_ms_max > 0 && turn_ms > turn_ms_max && !mark.is_next {
            self.report.pruned += 1;
            return;
        }
        let UrlMeta { hops, sitemap, depth, class, is_next, is_known: known } = mark;
        let class = match is_next {
            _ if self.was_tried(url) => LAST_CLASS,
            true => NEXT_CLASS,
            false => class + 1,
        };
        let page = Waiting { hops, sitemap, known, depth, ..Waiting::new(path) };
        self.busy(id, |hosts| hosts.change(id, |host, _| host.queue.push(class, &page)));
        self.waiting += 1;
        if class != LAST_CLASS {
            self.hear(id);
        }
        self.keep_to_memory();
    }

    /// Keeps the first error of a file until a caller can return it.
    fn note<T: Default>(&mut self, result: Result<T, CrawlError>) -> T {
        result.unwrap_or_else(|error| {
            self.failed.get_or_insert(error);
            T::default()
        })
    }

    /// Returns the error of a file, if there was one.
    pub(super) fn take_failure(&mut self) -> Result<(), CrawlError> {
        self.failed.take().map_or(Ok(()), Err)
    }

    pub(super) fn end_flush(&mut self) -> Result<(), CrawlError> {
        self.take_failure()?;
        self.agents.flush()
    }

    /// Counts URLs that a limit excludes.
    pub(super) fn drop_urls(&mut self, limit: &str, urls: usize) {
        if urls > 0 {
            *self.report.dropped.entry(limit.to_owned()).or_default() += urls as u64;
        }
    }

    /// Uncounts a dropped URL: a shorter path leads to it.
    pub(super) fn take_back_drop(&mut self, limit: &str) {
        if let Some(urls) = self.report.dropped.get_mut(limit) {
            *urls = urls.saturating_sub(1);
        }
        self.report.dropped.retain(|_, urls| *urls > 0);
    }

    pub(super) fn refuse(&mut self, refused: &BTreeMap<Cow<'static, str>, u64>) {
        for (name, times) in refused {
            *self.report.refused.entry(name.clone().into_owned()).or_default() += times;
        }
    }

    /// Gives a host a task. A host with only a later retry becomes ready earlier.
    fn busy(&mut self, id: HostId, give: impl FnOnce(&mut Hosts)) {
        let before_ms = self.table[index(id)].moment();
        give(self);
        let host = &self.table[index(id)];
        let (address, moment_ms) = (host.address, host.moment());
        match host.state {
            State::Idle => self.list(id),
            State::Listed if moment_ms < before_ms => {
                self.workbench.advance(id, address, before_ms, moment_ms);
            }
            _ => {}
        }
    }

    /// Puts a host that is not being visited into the state that fits its tasks.
    fn list(&mut self, id: HostId) {
        let host = &mut self.table[index(id)];
        debug_assert!(host.state != State::Aside, "{} waits aside", host.site);
        host.state = host.place();
        if host.state == State::Listed {
            self.workbench.insert(id, host.address, host.moment());
        }
    }
}

fn index(id: HostId) -> usize {
    usize::try_from(id.0).expect("an id is an index of the table of hosts")
}

/// Returns whether a count has reached its limit; 0 is no limit.
fn is_reached(count: u64, limit: u64) -> bool {
    limit > 0 && count >= limit
}
