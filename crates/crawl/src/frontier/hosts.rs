//! All hosts of a crawl: their queues, their turns, and what a visit changes.
//!
//! What lives here: [`Hosts`], one thing with many fields because a visit may change any of them.
//! What they tell of themselves is in `hosts/tell.rs`. What does not: the sieve (`mod.rs`), one host's
//! state (`host.rs`).
//!
//! **Invariant.** `waiting` is the sum of what waits at the hosts; the workbench holds exactly the
//! hosts that are `Listed`; `asides` exactly those that are `Aside`.

mod tell;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use sieve::signature;

use super::host::{Errand, Host, Replayed, RobotsState, Rules, State};
use super::spill::Spill;
use crate::agents::Agents;
use crate::answer::{Purpose, is_passing_status, is_redirect};
use crate::config::Config;
use crate::error::CrawlError;
use crate::guard::Guard;
use crate::health::Health;
use crate::journal::Entry;
use crate::order::Waiting;
use crate::outcome::{Answered, Done, Failure, Outcome, Task, Visit};
use crate::politeness::Politeness;
use crate::report::Report;
use crate::robots::Robots;
use crate::share::Toll;
use crate::site::{HostId, Site};
use crate::workbench::Workbench;

/// A connection is kept open for a pause no longer than this.
const KEEP_ALIVE_MS_MAX: u64 = 5_000;

/// Redirects of a robots.txt that are followed: the five of RFC 9309.
const ROBOTS_HOPS_MAX: u8 = 5;

/// How often in a row a host may be set aside and come back: without an end to it the dead hosts of
/// a wide crawl would keep each other's crawl alive for ever.
const ASIDES_MAX: u32 = 2;

/// In the queues, the class of what continues a visit; those of other pages follow.
const NEXT_CLASS: u8 = 0;

/// What is known of a URL besides its bytes, until it comes out of the sieve.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    pub(super) hops: u8,
    pub(super) sitemap: bool,
    /// Links from the first page of the site.
    pub(super) depth: u16,
    /// Its class among the pages of its host.
    pub(super) class: u8,
    /// It continues a visit: it comes before the other pages of its host.
    pub(super) is_next: bool,
}

/// What a visit of an earlier run counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tally {
    /// The first of its URL counts; a later one counts only for what it changed.
    Again,
    /// The first one since the URL became due again.
    Anew,
    /// Nothing: its URL is due again, and the next visit counts.
    Superseded,
}

pub(super) struct Hosts {
    config: Arc<Config>,
    politeness: Politeness,
    guard: Guard,
    agents: Agents,
    workbench: Workbench,
    table: Vec<Host>,
    /// By the signature of the site, or the next number that is free.
    ids: BTreeMap<u64, HostId>,
    /// Hosts set aside, by the moment they come back, and why.
    asides: BTreeMap<(u64, HostId), String>,
    /// The last request of earlier runs to each host, while the archive is replayed.
    replayed: BTreeMap<HostId, Replayed>,
    /// Before this moment no host is asked that the replay did not know.
    silent_until_ms: u64,
    /// By the signature of the URL.
    marks: BTreeMap<u64, Mark>,
    /// The part of the queues and of the rules of robots.txt files that is on disk.
    spill: Spill,
    /// Bytes of the part that is in memory.
    memory_bytes: usize,
    /// The host whose part is the next to leave memory.
    hand: usize,
    waiting: usize,
    under_way: usize,
    report: Report,
    /// Bytes of bodies that earlier runs received.
    bytes_before: u64,
    /// When the run has to end, once it has begun.
    end_ms: Option<u64>,
    /// The limit that ends the run.
    limit: Option<&'static str>,
    /// A file of the frontier that could not be read or written.
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
            workbench: Workbench::new(config.ip_delay_ms),
            config: Arc::clone(config),
            guard,
            agents,
            table: Vec::new(),
            ids: BTreeMap::new(),
            asides: BTreeMap::new(),
            replayed: BTreeMap::new(),
            silent_until_ms: 0,
            marks: BTreeMap::new(),
            spill: Spill::create(dir)?,
            memory_bytes: 0,
            hand: 0,
            waiting: 0,
            under_way: 0,
            report: Report::default(),
            bytes_before: 0,
            end_ms: None,
            limit: None,
            failed: None,
        })
    }

    pub(super) fn redirects_max(&self) -> u8 {
        self.config.redirects_max
    }

    pub(super) fn mark(&mut self, url: &str, mark: Mark) {
        self.marks.entry(signature(url.as_bytes()).0).or_insert(mark);
    }

    /// Puts a URL that came out of the sieve where it belongs.
    pub(super) fn enqueue(&mut self, key: &[u8]) {
        let Some((site, path)) = str::from_utf8(key).ok().and_then(Site::split) else { return };
        let url = str::from_utf8(key).unwrap_or_default();
        let mark = self.marks.get(&signature(key).0).copied().unwrap_or_default();
        let Some(id) = self.own_id(site, url) else { return };
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
        let Mark { hops, sitemap, depth, class, is_next } = mark;
        let class = if is_next { NEXT_CLASS } else { class + 1 };
        let page = Waiting { hops, sitemap, depth, ..Waiting::new(path) };
        self.change(id, |host, _| host.queue.push(class, &page));
        self.waiting += 1;
        if self.table[index(id)].state == State::Idle {
            self.list(id);
        }
        self.keep_to_memory();
    }

    /// Does something to a host that changes how much memory it takes.
    fn change<T>(&mut self, id: HostId, act: impl FnOnce(&mut Host, &mut Spill) -> T) -> T {
        let host = &mut self.table[index(id)];
        let before = host.memory_bytes();
        let result = act(host, &mut self.spill);
        self.memory_bytes = self.memory_bytes - before + host.memory_bytes();
        result
    }

    /// Bytes of memory that queues and rules take.
    #[cfg(test)]
    pub(super) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Moves queues and rules to disk if they take too much memory.
    fn keep_to_memory(&mut self) {
        if self.memory_bytes > self.config.waiting_memory_bytes {
            let spilled = self.spill();
            self.note(spilled);
        }
    }

    /// Moves queues and rules to disk, one host after the other, until half of the memory is free.
    fn spill(&mut self) -> Result<(), CrawlError> {
        for _ in 0..self.table.len() {
            if self.memory_bytes <= self.config.waiting_memory_bytes / 2 {
                break;
            }
            self.hand = (self.hand + 1) % self.table.len();
            let id = HostId(u32::try_from(self.hand).expect("hosts have numbers of 32 bits"));
            self.change(id, Host::spill)?;
        }
        if self.spill.is_wasteful() {
            for host in &mut self.table {
                host.rewrite(&mut self.spill)?;
            }
        }
        Ok(())
    }

    /// Keeps the first failure of a file until somebody can return it.
    fn note<T: Default>(&mut self, result: Result<T, CrawlError>) -> T {
        result.unwrap_or_else(|error| {
            self.failed.get_or_insert(error);
            T::default()
        })
    }

    /// The failure of a file, if there was one.
    pub(super) fn take_failure(&mut self) -> Result<(), CrawlError> {
        self.failed.take().map_or(Ok(()), Err)
    }

    pub(super) fn end_flush(&mut self) -> Result<(), CrawlError> {
        self.marks.clear();
        self.take_failure()?;
        self.agents.flush()
    }

    /// The number of the site of a URL; `None`, and the URL is dealt with, if it is not ours.
    fn own_id(&mut self, site: &str, url: &str) -> Option<HostId> {
        let known = self.known_id(site).ok();
        let other = match known {
            Some(id) => self.table[index(id)].other,
            None => self.agents.other(Site::parse(site)?.host()),
        };
        if let Some(agent) = other {
            self.report.sent += 1;
            let sent = self.agents.send(agent, url);
            self.note(sent);
            return None;
        }
        let id = known.or_else(|| self.id(site));
        if id.is_none() {
            self.drop_urls("hosts", 1);
        }
        id
    }

    /// The number of a site, whosever it is; `None` if there is no room for one more.
    fn id(&mut self, site: &str) -> Option<HostId> {
        match self.known_id(site) {
            Ok(id) => Some(id),
            Err(slot) => self.add(Site::parse(site)?, slot),
        }
    }

    /// The number of a site that is known, or where it is to be noted.
    fn known_id(&self, site: &str) -> Result<HostId, u64> {
        let mut slot = signature(site.as_bytes()).0;
        loop {
            match self.ids.get(&slot) {
                None => return Err(slot),
                Some(&id) if self.table[index(id)].site.key() == site => return Ok(id),
                Some(_) => slot = slot.wrapping_add(1),
            }
        }
    }

    fn add(&mut self, site: Site, slot: u64) -> Option<HostId> {
        let id = u32::try_from(self.table.len()).ok().map(HostId)?;
        if self.table.len() >= self.config.hosts_max {
            return None;
        }
        self.ids.insert(slot, id);
        let other = self.agents.other(site.host());
        let mut host = Host::new(site, other);
        host.ready_ms = self.silent_until_ms;
        self.table.push(host);
        Some(id)
    }

    pub(super) fn drop_redirect(&mut self) {
        self.drop_urls("redirects", 1);
    }

    fn drop_urls(&mut self, limit: &str, urls: usize) {
        if urls > 0 {
            *self.report.dropped.entry(limit.to_owned()).or_default() += urls as u64;
        }
    }

    pub(super) fn refuse(&mut self, refused: &BTreeMap<Cow<'static, str>, u64>) {
        for (name, times) in refused {
            *self.report.refused.entry(name.clone().into_owned()).or_default() += times;
        }
    }

    /// Puts a host that is not being visited where it belongs.
    fn list(&mut self, id: HostId) {
        let host = &mut self.table[index(id)];
        debug_assert!(host.state != State::Aside, "{} waits aside", host.site);
        host.state = host.place();
        if host.state == State::Listed {
            self.workbench.insert(id, host.address, host.moment());
        }
    }

    /// Leaves a host alone that is neither in the workbench nor, any more, being visited.
    fn set_aside(&mut self, id: HostId, why: String, now_ms: u64) {
        let host = &mut self.table[index(id)];
        debug_assert!(host.state != State::Aside, "{} is aside", host.site);
        host.state = State::Aside;
        host.asides += 1;
        if matches!(host.robots, RobotsState::Asked) {
            host.robots = RobotsState::Unknown;
        }
        let until_ms = if host.asides > ASIDES_MAX {
            u64::MAX
        } else {
            now_ms.saturating_add(self.config.set_aside_s.saturating_mul(1000))
        };
        self.asides.insert((until_ms, id), why);
        let errands = host.take_errands();
        let site = Arc::clone(&host.site);
        for Errand { asker, .. } in errands {
            if asker != id {
                self.lose_robots(
                    asker,
                    id,
                    format!("its robots.txt is at {site}, set aside"),
                    now_ms,
                );
            }
        }
    }

    /// The robots.txt of `asker` cannot be had, as the visit of `visited` has shown: it is set
    /// aside, or asks again in its next turn if it is busy with the errands of others.
    fn lose_robots(&mut self, asker: HostId, visited: HostId, why: String, now_ms: u64) {
        let host = &mut self.table[index(asker)];
        if asker == visited || host.state == State::Asking {
            self.set_aside(asker, why, now_ms);
        } else if matches!(host.robots, RobotsState::Asked) {
            host.robots = RobotsState::Unknown;
        }
    }

    /// Lets hosts come back whose time aside is over.
    fn wake(&mut self, now_ms: u64) {
        while let Some((&(until_ms, id), _)) = self.asides.first_key_value() {
            if until_ms > now_ms {
                break;
            }
            self.asides.pop_first();
            let host = &mut self.table[index(id)];
            (host.health, host.state) = (Health::default(), State::Idle);
            self.list(id);
        }
    }

    pub(super) fn next(&mut self, now_ms: u64, now_s: i64) -> Option<Visit> {
        self.wake(now_ms);
        self.check_limits(now_ms);
        while !self.is_full() && self.failed.is_none() {
            let id = self.workbench.take(now_ms)?;
            if let Some(visit) = self.turn(id, now_ms, now_s) {
                let host = &mut self.table[index(id)];
                host.state = State::Visiting;
                if visit.task != Task::Resolve {
                    self.politeness.begin(&mut host.pace, now_ms);
                }
                self.under_way += 1;
                return Some(visit);
            }
        }
        None
    }

    /// What a host that was taken from the workbench is visited for; `None` if it is not after all.
    fn turn(&mut self, id: HostId, now_ms: u64, now_s: i64) -> Option<Visit> {
        self.keep_to_limits(id);
        let host = &mut self.table[index(id)];
        let site = Arc::clone(&host.site);
        let visit = |task, page, address, keep_alive| Visit {
            host: id,
            site: Arc::clone(&site),
            task,
            page,
            address,
            keep_alive,
        };
        if let Some(old) = host.address.take_if(|_| now_ms >= host.address_until_ms) {
            self.workbench.release(Some(old), None);
        }
        let Some(address) = host.address else {
            let Some(address) = self.guard.known(site.host()) else {
                return Some(visit(Task::Resolve, Waiting::new("/"), None, false));
            };
            self.set_address(id, address, u64::MAX, now_ms);
            return None;
        };
        let asked = self.change(id, |host, spill| host.ask_robots(id, now_s, spill));
        self.note(asked);
        let host = &mut self.table[index(id)];
        let (task, page) = if let Some(errand) = host.pop_errand() {
            let asker_site = Arc::clone(&self.table[index(errand.asker)].site);
            (Task::Robots { asker: errand.asker, asker_site }, errand.page)
        } else if let Some(page) = self.pop_allowed(id, now_ms) {
            (Task::Page, page)
        } else {
            self.workbench.release(Some(address), None);
            self.list(id);
            return None;
        };
        let host = &self.table[index(id)];
        let is_robots = matches!(task, Task::Robots { .. });
        // A page most often leads to others of its host.
        let keep_alive = (is_robots || self.config.follow || host.waiting() > 0)
            && self.politeness.pause_ms(host.crawl_delay_ms) <= KEEP_ALIVE_MS_MAX;
        Some(visit(task, page, Some(address), keep_alive))
    }

    /// Forgets the pages of a host that has had its share.
    fn keep_to_limits(&mut self, id: HostId) {
        let host = &mut self.table[index(id)];
        if is_reached(host.pages, self.config.pages_per_host_max)
            || is_reached(host.requests, self.config.requests_per_host_max)
        {
            let cleared = self.change(id, Host::clear);
            let cleared = self.note(cleared);
            self.waiting -= cleared;
            self.drop_urls("host-limit", cleared);
        }
    }

    /// The next page of a host that its robots.txt allows, if it is known.
    fn pop_allowed(&mut self, id: HostId, now_ms: u64) -> Option<Waiting> {
        let mut forbidden = 0;
        let popped = self.change(id, |host, spill| host.pop_allowed(now_ms, spill, &mut forbidden));
        let page = self.note(popped);
        self.waiting -= forbidden + usize::from(page.is_some());
        self.report.forbidden_by_robots += forbidden as u64;
        self.keep_to_memory();
        page
    }

    /// Takes note of an address; it is held against the guard each time it is told.
    fn set_address(&mut self, id: HostId, address: IpAddr, until_ms: u64, now_ms: u64) {
        let host = &mut self.table[index(id)];
        match self.guard.check(host.site.host(), address) {
            Ok(()) => {
                (host.address, host.address_until_ms) = (Some(address), until_ms);
                self.list(id);
            }
            Err(failure) => {
                self.count_failure(failure.kind.name());
                self.set_aside(id, failure.to_string(), now_ms);
            }
        }
    }

    fn count_failure(&mut self, class: &str) {
        *self.report.failures.entry(class.to_owned()).or_default() += 1;
    }

    pub(super) fn settle(&mut self, done: Done) {
        let Done { visit, finished_ms, date_s, outcome } = done;
        self.under_way -= 1;
        let id = visit.host;
        if visit.task != Task::Resolve {
            self.workbench.release(visit.address, Some(finished_ms));
            self.report.requests += 1;
            let host = &mut self.table[index(id)];
            let pause_ms = self.politeness.end(&mut host.pace, finished_ms, host.crawl_delay_ms);
            host.ready_ms = finished_ms.saturating_add(pause_ms);
        }
        match outcome {
            Outcome::Resolved { address, until_ms } => {
                self.set_address(id, address, until_ms, finished_ms);
            }
            Outcome::Failed(failure) => self.stumble(visit, failure.into(), finished_ms),
            Outcome::Answered(answered) => {
                self.report.bytes += answered.bytes;
                *self.report.statuses.entry(answered.status).or_default() += 1;
                let host = &mut self.table[index(id)];
                if is_passing_status(answered.status) {
                    let stumble = Stumble {
                        class: format!("http-{}", answered.status),
                        why: format!("{} answers {}", visit.page.path, answered.status),
                        is_passing: true,
                        is_of_host: false,
                        is_pressing: matches!(answered.status, 429 | 503),
                        retry_after_ms: answered.retry_after_ms,
                    };
                    return self.stumble(visit, stumble, finished_ms);
                }
                host.health.recover();
                match visit.task {
                    Task::Robots { asker, .. } => {
                        self.settle_robots(&visit, asker, answered, date_s, finished_ms);
                    }
                    _ => self.settle_page(id, visit.page.sitemap, &answered),
                }
                // A Crawl-delay that has just become known counts at once.
                let host = &mut self.table[index(id)];
                let pause_ms = self.politeness.pause_ms(host.crawl_delay_ms);
                host.ready_ms = host.ready_ms.max(finished_ms.saturating_add(pause_ms));
                if host.state == State::Visiting {
                    self.list(id);
                }
            }
        }
    }

    fn settle_page(&mut self, id: HostId, is_sitemap: bool, answered: &Answered) {
        let host = &mut self.table[index(id)];
        host.requests += 1;
        host.asides = 0;
        let (status, before) = (answered.status, answered.before);
        if answered.is_page() && !is_sitemap {
            host.pages += 1;
            self.report.pages += 1;
        }
        self.report.redirects += u64::from(is_redirect(status));
        let count = match status {
            _ if is_sitemap => return,
            _ if answered.unchanged => &mut self.report.unchanged,
            200 if answered.is_unstored => return,
            200 if before == 200 => &mut self.report.changed,
            200 => &mut self.report.pages_new,
            404 | 410 if before == 200 => &mut self.report.deleted,
            _ => return,
        };
        *count += 1;
    }

    fn settle_robots(
        &mut self,
        visit: &Visit,
        asker: HostId,
        mut answered: Answered,
        date_s: i64,
        now_ms: u64,
    ) {
        if is_redirect(answered.status) {
            self.report.redirects += 1;
            let target = answered.harvest.redirect.take();
            let target = target.filter(|_| visit.page.hops < ROBOTS_HOPS_MAX);
            if let Some((site, path)) = target.as_deref().and_then(Site::split) {
                return self.send_errand(asker, visit, site, path, now_ms);
            }
        }
        // Anything but a file, an error of the server, or silence means that there are no rules.
        let robots = answered.harvest.robots.take().unwrap_or_default();
        self.know_robots(asker, robots, date_s);
    }

    fn know_robots(&mut self, asker: HostId, robots: Robots, fetched_s: i64) {
        let crawl_delay_ms = robots.crawl_delay_ms();
        let known = RobotsState::Known { fetched_s, rules: Rules::new(robots) };
        let replaced = self.change(asker, |host, spill| host.robots.replace(known, spill));
        self.note(replaced);
        self.keep_to_memory();
        let host = &mut self.table[index(asker)];
        host.crawl_delay_ms = crawl_delay_ms;
        if host.state == State::Asking {
            self.list(asker);
        }
    }

    /// Has the robots.txt of `asker` fetched where, by the answer to `visit`, it was moved to.
    fn send_errand(&mut self, asker: HostId, visit: &Visit, site: &str, path: &str, now_ms: u64) {
        let page = Waiting { hops: visit.page.hops + 1, ..Waiting::new(path) };
        let Some(id) = self.id(site) else {
            let why = format!("its robots.txt is at {site}, one host more than `hosts_max`");
            return self.lose_robots(asker, visit.host, why, now_ms);
        };
        let host = &mut self.table[index(id)];
        if host.state == State::Aside {
            let why = format!("its robots.txt is at {site}, set aside");
            return self.lose_robots(asker, visit.host, why, now_ms);
        }
        host.push_errand(Errand { asker, page });
        if matches!(host.state, State::Idle | State::Asking) {
            self.list(id);
        }
    }

    /// A visit did not lead to what it was for: it is tried again, given up, or the host is.
    fn stumble(&mut self, mut visit: Visit, stumble: Stumble, now_ms: u64) {
        let id = visit.host;
        let host = &mut self.table[index(id)];
        if visit.task == Task::Page {
            host.requests += 1;
        }
        if stumble.is_of_host {
            host.health.fail();
        } else if stumble.is_passing {
            host.health.fail_page(visit.page.attempts);
        } else {
            host.health.recover(); // it does answer
        }
        let failures = host.health.failures();
        let is_last = match visit.task {
            Task::Resolve => failures > self.config.retries.into(),
            _ => visit.page.attempts >= self.config.retries,
        };
        if stumble.is_of_host && !stumble.is_passing {
            self.count_failure(&stumble.class);
            self.put_back(visit, now_ms);
            return self.set_aside(id, stumble.why, now_ms);
        }
        if !stumble.is_passing || is_last {
            return self.give_up(&visit, stumble, now_ms);
        }
        if failures >= self.config.host_failures_max {
            self.count_failure(&stumble.class);
            self.put_back(visit, now_ms);
            return self.set_aside(id, stumble.why, now_ms);
        }
        visit.page.attempts += 1;
        let tries = if stumble.is_of_host { failures } else { visit.page.attempts.into() };
        let delay = host.crawl_delay_ms;
        let wait_ms = self.politeness.back_off_ms(tries, delay, stumble.retry_after_ms);
        let Some(wait_ms) = wait_ms else {
            self.put_back(visit, now_ms);
            let why = format!("{}, and asks to wait for too long", stumble.why);
            return self.set_aside(id, why, now_ms);
        };
        let due_ms = now_ms.saturating_add(wait_ms);
        if stumble.is_of_host || stumble.is_pressing || visit.task != Task::Page {
            host.ready_ms = host.ready_ms.max(due_ms);
        }
        if stumble.is_of_host && self.guard.known(visit.site.host()).is_none() {
            host.address = None; // it may have moved
        }
        self.put_back(visit, due_ms);
        self.slow_down(id, now_ms);
        self.list(id);
    }

    /// A host of which page after page fails is left alone for longer and longer.
    fn slow_down(&mut self, id: HostId, now_ms: u64) {
        let host = &mut self.table[index(id)];
        let too_many = host.health.failures().saturating_sub(self.config.host_failures_max / 2);
        if too_many > 0
            && let Some(wait_ms) = self.politeness.back_off_ms(too_many, host.crawl_delay_ms, None)
        {
            host.ready_ms = host.ready_ms.max(now_ms.saturating_add(wait_ms));
        }
    }

    fn give_up(&mut self, visit: &Visit, stumble: Stumble, now_ms: u64) {
        let id = visit.host;
        self.count_failure(&stumble.class);
        let failures = self.table[index(id)].health.failures();
        let is_worn = failures >= self.config.host_failures_max;
        match visit.task {
            Task::Resolve => return self.set_aside(id, stumble.why, now_ms),
            Task::Robots { asker, .. } => {
                let why = format!("its robots.txt cannot be had ({})", stumble.why);
                self.lose_robots(asker, id, why, now_ms);
                if asker == id {
                    return;
                }
            }
            Task::Page => {}
        }
        if is_worn {
            return self.set_aside(id, stumble.why, now_ms);
        }
        self.slow_down(id, now_ms);
        self.list(id);
    }

    /// Gives a visit back to its host, to be made again from `due_ms` on.
    fn put_back(&mut self, visit: Visit, due_ms: u64) {
        let host = &mut self.table[index(visit.host)];
        match visit.task {
            Task::Resolve => {}
            Task::Robots { asker, .. } => {
                host.put_back_errand(Errand { asker, page: visit.page });
            }
            Task::Page => {
                host.put_again(due_ms, visit.page);
                self.waiting += 1;
            }
        }
    }

    /// Takes note of a visit of an earlier run; `answered` is `None` if it failed.
    pub(super) fn replay(
        &mut self,
        url: &str,
        entry: &Entry,
        date_s: i64,
        answered: Option<Answered>,
        tally: Tally,
    ) {
        let Some((site, _)) = Site::split(url) else { return };
        let Some(id) = self.id(site) else { return };
        let status = answered.as_ref().map_or(0, |answered| answered.status);
        self.bytes_before += answered.as_ref().map_or(0, |answered| answered.bytes);
        let retry_after_ms = answered.as_ref().and_then(|answered| answered.retry_after_ms);
        let retry_after_ms = retry_after_ms.filter(|_| is_passing_status(status));
        let replayed = Replayed { date_s, retry_after_ms };
        let last = self.replayed.entry(id).or_insert(replayed);
        *last = replayed.max(*last);
        if entry.purpose == Purpose::Robots {
            let asker = entry.robots_for.as_deref().unwrap_or(site);
            let (Some(asker), Some(answered)) = (self.id(asker), answered) else { return };
            if !is_passing_status(status) && answered.harvest.redirect.is_none() {
                let robots = answered.harvest.robots.unwrap_or_default();
                self.know_robots(asker, robots, date_s);
            }
            return;
        }
        let answered = answered.unwrap_or_default();
        if tally == Tally::Superseded {
            return;
        }
        let toll = Toll::of(entry.purpose, &answered, tally == Tally::Again);
        let host = &mut self.table[index(id)];
        host.requests += toll.requests();
        for pages in [&mut host.pages, &mut self.report.pages] {
            *pages = toll.pages(*pages);
        }
    }

    /// Ends the replay: hosts that an earlier run asked rest as if it had not ended. The archive has the
    /// second in which a request began, so that is what counts. Of a request that was under way when the
    /// run was killed there is no trace, so every host, known or not, has one whole pause at least.
    pub(super) fn rest(&mut self, now_ms: u64, now_s: i64) {
        for (id, Replayed { date_s, retry_after_ms }) in std::mem::take(&mut self.replayed) {
            let host = &mut self.table[index(id)];
            let delay_ms = host.crawl_delay_ms;
            let pause_ms = self.politeness.first_pause_ms(delay_ms);
            let asked_ms = retry_after_ms
                .and_then(|wait_ms| self.politeness.back_off_ms(1, delay_ms, Some(wait_ms)));
            let over_s = u64::try_from(now_s.saturating_sub(date_s).saturating_sub(1)).unwrap_or(0);
            let left_ms = asked_ms.unwrap_or(0).saturating_sub(over_s.saturating_mul(1000));
            host.ready_ms = now_ms.saturating_add(left_ms.max(pause_ms));
            self.silent_until_ms = now_ms.saturating_add(self.politeness.first_pause_ms(None));
        }
    }

    pub(super) fn is_final(&self, entry: &Entry, status: u16) -> bool {
        entry.is_final(status, self.config.retries)
    }

    /// Whether as much as is wanted is there, or on its way.
    pub(super) fn is_full(&self) -> bool {
        let coming = self.report.pages + self.under_way as u64;
        self.limit.is_some() || is_reached(coming, self.config.pages_max)
    }

    /// Looks whether a limit of the whole crawl has come.
    fn check_limits(&mut self, now_ms: u64) {
        let run_ms = self.config.time_s_max.saturating_mul(1000);
        let end_ms = *self.end_ms.get_or_insert(now_ms.saturating_add(run_ms));
        self.limit = if is_reached(self.report.pages, self.config.pages_max) {
            Some("pages_max")
        } else if is_reached(self.bytes_before + self.report.bytes, self.config.bytes_max) {
            Some("bytes_max")
        } else {
            (self.config.time_s_max > 0 && now_ms >= end_ms).then_some("time_s_max")
        };
    }

    /// Whether nothing is under way.
    pub(super) fn is_quiet(&self) -> bool {
        self.under_way == 0
    }

    /// Whether nothing is under way and nothing waits for its moment.
    pub(super) fn is_idle(&self) -> bool {
        self.under_way == 0 && self.workbench.is_empty()
    }

    /// The moment before which [`Hosts::next`] gives nothing; `None` if it has to be told of a visit
    /// first.
    pub(super) fn next_ms(&self) -> Option<u64> {
        if self.is_full() {
            return None;
        }
        let wake_ms = self.asides.first_key_value().map(|(&(until_ms, _), _)| until_ms);
        self.workbench.next_ms().into_iter().chain(wake_ms).min()
    }
}

fn index(id: HostId) -> usize {
    usize::try_from(id.0).expect("an id is an index of the table of hosts")
}

/// Whether a count has come to its limit; 0 is no limit.
fn is_reached(count: u64, limit: u64) -> bool {
    limit > 0 && count >= limit
}

/// A visit that did not lead to what it was for.
struct Stumble {
    /// The class, for the report.
    class: String,
    /// The story, for people.
    why: String,
    /// Another try may end better.
    is_passing: bool,
    /// It is the host that cannot be reached.
    is_of_host: bool,
    /// The host asks for a rest.
    is_pressing: bool,
    retry_after_ms: Option<u64>,
}

impl From<Failure> for Stumble {
    fn from(failure: Failure) -> Stumble {
        Stumble {
            class: failure.kind.name().to_owned(),
            why: failure.to_string(),
            is_passing: failure.kind.is_passing(),
            is_of_host: failure.kind.is_of_host(),
            is_pressing: false,
            retry_after_ms: None,
        }
    }
}
