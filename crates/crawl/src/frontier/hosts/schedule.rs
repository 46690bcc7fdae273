//! The next visit: which host has its turn, and what it is visited for.
//!
//! What lives here: the way from the workbench to a [`Visit`], and the limits that end a run. What does not: the
//! effects of a visit (`on_answer.rs`), the order of hosts by their moments (`workbench.rs`).
//!
//! **Invariant.** The robots.txt of a host is fetched before any of its pages, and no page that it forbids is
//! fetched. A call of [`Hosts::next`] is short, however many pages are forbidden.

use std::sync::Arc;

use sieve::signature;

use super::super::host::{Host, State};
use super::super::robots_budget::RobotsBudget;
use super::on_failure::Term;
use super::{Hosts, index, is_reached};
use crate::error::CrawlError;
use crate::order::{FetchMode, Waiting};
use crate::outcome::{Task, Visit};
use crate::site::{HostId, Site};

/// The longest pause for which a connection is kept open.
const KEEP_ALIVE_MS_MAX: u64 = 5_000;

/// The key of the limit on pages.
pub(super) const PAGES_MAX: &str = "pages_max";

/// The work, in calls, that a finished run spends on counting forbidden pages: a fraction of a second.
const LAST_CALLS: u64 = 50;

/// Returns whether a visit may add a page. A URL that is requested as a sitemap may turn out to be a page.
pub(super) fn is_new_page(visit: &Visit) -> bool {
    visit.task == Task::Page && !visit.page.known
}

impl Hosts {
    /// Brings back hosts whose time aside is over.
    fn wake(&mut self, now_ms: u64) {
        while let Some((&(until_ms, id), _)) = self.asides.first_key_value() {
            if until_ms > now_ms {
                break;
            }
            self.come_back((until_ms, id));
        }
    }

    /// Brings back a host that is aside only because a single page failed: it has another page now.
    pub(super) fn hear(&mut self, id: HostId) {
        if let Some(until_ms) = self.table[index(id)].unheard_until_ms {
            self.come_back((until_ms, id));
        }
    }

    fn come_back(&mut self, aside: (u64, HostId)) {
        self.asides.remove(&aside);
        let host = &mut self.table[index(aside.1)];
        host.unheard_until_ms = None;
        host.health.recover();
        host.state = State::Idle;
        self.list(aside.1);
    }

    pub(in crate::frontier) fn next(&mut self, now_ms: u64, now_s: i64) -> Option<Visit> {
        self.wake(now_ms);
        self.check_limits(now_ms);
        // A call is short, however many pages are forbidden; the next call continues.
        self.robots_budget.begin();
        while !self.is_full() && self.failed.is_none() && !self.robots_budget.is_spent() {
            let id = self.workbench.take(now_ms)?;
            if let Some(visit) = self.turn(id, now_ms, now_s) {
                let host = &mut self.table[index(id)];
                host.state = State::Visiting;
                if visit.task != Task::Resolve {
                    self.requests_under_way += 1;
                    self.politeness.begin(&mut host.pace, now_ms);
                }
                self.under_way += 1;
                self.pages_under_way += usize::from(visit.task == Task::Page);
                self.new_under_way += usize::from(is_new_page(&visit));
                return Some(visit);
            }
        }
        None
    }

    /// Returns the visit of a host that was taken from the workbench; `None` if it has no task after all.
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
            has_other_address: false,
            keep_alive,
            blames_host: false,
        };
        if let Some(old) = host.address.take_if(|_| now_ms >= host.address_until_ms) {
            self.workbench.release(Some(old), None);
        }
        let Some(address) = host.address else {
            let known = self.guard.known(site.host());
            if known.is_empty() {
                return Some(visit(Task::Resolve, Waiting::new("/"), None, false));
            }
            self.set_address(id, known, u64::MAX, now_ms);
            return None;
        };
        let asked = self.change(id, |host, spill| host.ask_robots(id, now_s, spill));
        self.note(asked);
        let host = &mut self.table[index(id)];
        let (task, page) = if let Some(errand) = host.pop_errand() {
            let asker_site = Arc::clone(&self.table[index(errand.asker)].site);
            (Task::Robots { asker: errand.asker, asker_site }, errand.page)
        } else if let Some(page) = self.pop_wanted(id, now_ms) {
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
        let has_other_address = host.has_other_address();
        let blames_host = !is_robots && host.may_be_to_blame(&page, self.config.retries);
        let visit = visit(task, page, Some(address), keep_alive);
        Some(Visit { has_other_address, blames_host, ..visit })
    }

    /// Removes the pages of a host that has reached its limit.
    fn keep_to_limits(&mut self, id: HostId) {
        let host = &mut self.table[index(id)];
        if is_reached(host.pages, self.config.pages_per_host_max)
            || is_reached(host.requests, self.config.requests_per_host_max)
        {
            // These were requested without a conclusive answer.
            let unsettled = host.unsettled() as u64;
            self.report.asked += unsettled;
            self.report.failed += unsettled;
            let cleared = self.change(id, Host::clear);
            let cleared = self.note(cleared);
            self.waiting -= cleared;
            self.drop_urls("host-limit", cleared);
        }
    }

    /// Returns the next page of a host that may be visited. A recrawl leaves out new pages once `pages_max` is
    /// reached.
    fn pop_wanted(&mut self, id: HostId, now_ms: u64) -> Option<Waiting> {
        loop {
            let page = self.pop_allowed(id, now_ms)?;
            if !self.is_recrawl || page.known || page.sitemap || !self.is_full_of_pages() {
                return Some(page);
            }
            self.left_out += 1;
        }
    }

    /// Returns the next page of a host that its robots.txt allows, if that is known.
    fn pop_allowed(&mut self, id: HostId, now_ms: u64) -> Option<Waiting> {
        let mut forbidden = 0;
        let mut robots_budget = std::mem::take(&mut self.robots_budget);
        let popped = self.change(id, |host, spill| {
            host.pop_allowed(now_ms, spill, &mut robots_budget, &mut forbidden)
        });
        self.robots_budget = robots_budget;
        let mut page = self.note(popped);
        if let Some(page) = page.as_mut() {
            self.recall(id, page);
        }
        self.waiting -= forbidden + usize::from(page.is_some());
        self.report.forbidden_by_robots += forbidden as u64;
        if page.is_none() && self.robots_budget.is_spent() {
            self.table[index(id)].stand_back(now_ms);
        }
        self.keep_to_memory();
        page
    }

    /// Removes forbidden pages from the queues at the end of a run, so that they do not count as waiting; stops
    /// when that takes too long.
    pub(in crate::frontier) fn forget_forbidden(&mut self) -> Result<(), CrawlError> {
        let mut robots_budget = RobotsBudget::of_calls(LAST_CALLS);
        for id in (0_u32..).take(self.table.len()).map(HostId) {
            if robots_budget.is_spent() {
                break;
            }
            let forbidden =
                self.change(id, |host, spill| host.forget_forbidden(spill, &mut robots_budget))?;
            self.waiting -= forbidden;
            self.report.forbidden_by_robots += forbidden as u64;
            self.keep_to_memory();
        }
        self.take_failure()
    }

    /// Returns whether the host of a URL excludes it.
    pub(in crate::frontier) fn bars(&mut self, url: &str) -> Result<bool, CrawlError> {
        let Some((site, path)) = Site::split(url) else { return Ok(true) };
        let Ok(id) = self.known_id(site) else { return Ok(false) };
        let host = &self.table[index(id)];
        // A refused host never comes back.
        let aside = self.asides.get(&(u64::MAX, id));
        let is_refused = aside.is_some_and(|aside| aside.term == Term::Refused);
        if host.other.is_some()
            || is_refused
            || is_reached(host.pages, self.config.pages_per_host_max)
            || is_reached(host.requests, self.config.requests_per_host_max)
        {
            return Ok(true);
        }
        let is_forbidden = self.change(id, |host, spill| {
            Ok::<_, CrawlError>(host.robots.forbids_some() && !host.robots.allows(path, spill)?)
        });
        self.keep_to_memory();
        is_forbidden
    }

    /// Adds the failed attempts and the manner of a page, which the queue does not keep.
    fn recall(&mut self, id: HostId, page: &mut Waiting) {
        if self.tries.is_empty() && self.anyhow.is_empty() {
            return;
        }
        let url = signature(self.table[index(id)].site.url(&page.path).as_bytes()).0;
        if page.attempts == 0
            && let Some(noted) = self.tries.remove(&url)
        {
            (page.attempts, page.blame) = noted;
        }
        if self.anyhow.remove(&url) {
            page.fetch_mode = FetchMode::Unconditional;
        }
    }

    /// Returns whether the crawl needs no further visits than those under way.
    pub(in crate::frontier) fn is_full(&self) -> bool {
        self.limit.is_some() || !self.is_recrawl && self.is_full_of_pages()
    }

    /// Returns whether `pages_max` is reached, counting visits under way.
    fn is_full_of_pages(&self) -> bool {
        let coming = if self.is_recrawl { self.new_under_way } else { self.under_way };
        let pages = self.report.pages + self.pages_due + coming as u64;
        is_reached(pages, self.config.pages_max)
    }

    pub(in crate::frontier) fn is_cut(&self) -> bool {
        self.limit.is_some()
    }

    /// Returns when the time of the run is over, which begins with the first call; `None` if there is no limit.
    pub(in crate::frontier) fn end_ms(&mut self, now_ms: u64) -> Option<u64> {
        let run_ms = self.config.time_s_max.saturating_mul(1000);
        let end_ms = *self.end_ms.get_or_insert(now_ms.saturating_add(run_ms));
        (run_ms > 0).then_some(end_ms)
    }

    pub(in crate::frontier) fn is_time_over(&mut self, now_ms: u64) -> bool {
        self.end_ms(now_ms).is_some_and(|end_ms| now_ms >= end_ms)
    }

    /// Checks the limits of the whole crawl.
    pub(in crate::frontier) fn check_limits(&mut self, now_ms: u64) {
        let is_time_over = self.is_time_over(now_ms);
        self.limit = if !self.is_recrawl && is_reached(self.report.pages, self.config.pages_max) {
            Some(PAGES_MAX)
        } else if is_reached(self.bytes_before + self.report.bytes, self.config.bytes_max) {
            Some("bytes_max")
        } else {
            is_time_over.then_some("time_s_max")
        };
    }

    /// Returns whether no visit is under way.
    pub(in crate::frontier) fn is_quiet(&self) -> bool {
        self.under_way == 0
    }

    pub(in crate::frontier) fn is_asking(&self) -> bool {
        self.requests_under_way > 0
    }

    /// Returns whether no visit is under way and no host is in the workbench.
    pub(in crate::frontier) fn is_idle(&self) -> bool {
        self.under_way == 0 && self.workbench.is_empty()
    }

    /// Returns the moment before which [`Hosts::next`] returns nothing; `None` if a visit has to end first.
    pub(in crate::frontier) fn next_ms(&self) -> Option<u64> {
        if self.is_full() {
            return None;
        }
        let wake_ms = self.asides.first_key_value().map(|(&(until_ms, _), _)| until_ms);
        self.workbench.next_ms().into_iter().chain(wake_ms).min()
    }
}
