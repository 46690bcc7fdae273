//! Visits that fail: pages are retried or given up, hosts wait longer and longer or are set aside.
//!
//! What lives here: [`FailedVisit`], a failure or an answer that counts as one, and its consequences. What does not:
//! the length of a wait (`politeness.rs`), when a host counts as failing (`health.rs`).
//!
//! **Invariant.** A failed visit returns to its host, or is given up and counted. A host that is set aside is in
//! `asides`, has no errand of another host, and its failures since its last good answer cost no page an attempt.
//! No page is given up while its host may be to blame.

use std::sync::Arc;

use sieve::signature;

use super::super::host::{HostTask, RobotsState, State};
use super::{Hosts, LAST_CLASS, index};
use crate::clock::Moment;
use crate::order::FetchMode;
use crate::outcome::{Failure, FailureKind, Task, Visit};
use crate::politeness::Politeness;
use crate::site::HostId;

/// How often in a row a host may be set aside and come back. Without a limit, the dead hosts of a wide crawl would
/// keep the crawl alive forever.
const ASIDES_MAX: u32 = 2;

impl Hosts {
    /// Handles a failed visit: retries it, gives it up, or sets the host aside.
    pub(super) fn on_failure(&mut self, mut visit: Visit, failed: FailedVisit, now_ms: u64) {
        let id = visit.host;
        let host = &mut self.table[index(id)];
        if visit.task == Task::Page {
            host.requests += 1;
        }
        let is_of_host = failed.fault == Fault::Host;
        if is_of_host {
            host.health.fail();
        } else if failed.is_temporary && failed.fault == Fault::Page {
            host.health.fail_page(&mut visit.page);
        } else {
            host.health.recover(); // it does answer
        }
        let failures = host.health.failures();
        // An unreachable host is not the fault of the page.
        let is_outage = is_of_host && visit.task == Task::Page;
        let is_last = match visit.task {
            Task::Robots { .. } => visit.page.attempts >= self.config.retries,
            Task::Page if !is_of_host => visit.page.attempts >= self.config.retries,
            _ => failures > self.config.retries.into(),
        };
        if is_of_host && !failed.is_temporary || is_outage && is_last {
            self.put_aside(visit, failed, now_ms);
            return;
        }
        // It is not clear yet whose fault it is: other pages may show it.
        let is_unclear = failed.is_temporary && failed.fault == Fault::Page && visit.blames_host;
        if is_unclear && host.has_tried_all() {
            return self.keep(visit, failed, now_ms);
        }
        if !failed.is_temporary || is_last && !is_unclear {
            return self.give_up(&visit, failed, now_ms);
        }
        if failures >= self.config.host_failures_max {
            self.put_aside(visit, failed, now_ms);
            return;
        }
        visit.page.attempts = visit.page.attempts.saturating_add(u8::from(!is_outage));
        *self.report.retried.entry(failed.class.clone()).or_default() += 1;
        let tries = if is_of_host { failures } else { visit.page.attempts.into() };
        let delay = host.crawl_delay_ms;
        let wait_ms = self.politeness.back_off_ms(tries, delay, failed.retry_after_ms);
        let Some(wait_ms) = wait_ms else {
            self.put_last(visit);
            return self.leave_alone(id, &failed, now_ms);
        };
        let due_ms = now_ms.saturating_add(wait_ms);
        if is_of_host || failed.is_pressing || visit.task != Task::Page {
            host.ready_ms = host.ready_ms.max(due_ms);
        }
        if is_of_host && self.guard.known(visit.site.host()).is_empty() {
            host.address = None; // it may have moved
        }
        self.put_back(visit, due_ms);
        self.slow_down(id, now_ms);
        self.list(id);
    }

    /// Sets the host of a failed visit aside; the visit waits until then. Returns when the host comes back.
    fn put_aside(&mut self, visit: Visit, failed: FailedVisit, now_ms: u64) -> u64 {
        let id = visit.host;
        self.count_aside(&failed.class);
        self.put_back(visit, now_ms);
        self.set_aside(id, failed.why, now_ms)
    }

    /// Handles the last attempt of a page whose failure may be the fault of the host: it waits until the host
    /// recovers, or another page shows whose fault it is.
    fn keep(&mut self, visit: Visit, failed: FailedVisit, now_ms: u64) {
        let id = visit.host;
        let delay = self.table[index(id)].crawl_delay_ms;
        if self.politeness.back_off_ms(1, delay, failed.retry_after_ms).is_some() {
            let until_ms = self.put_aside(visit, failed, now_ms);
            self.table[index(id)].unheard_until_ms = Some(until_ms).filter(|&ms| ms < u64::MAX);
            return;
        }
        self.count_aside(&failed.class);
        self.put_last(visit);
        self.leave_alone(id, &failed, now_ms);
    }

    /// Repeats a visit in the next turn of its host. It failed on one of several addresses, or the server refused
    /// it unprocessed.
    pub(super) fn make_again(&mut self, visit: Visit, now_ms: u64) {
        let id = visit.host;
        self.table[index(id)].requests += u64::from(visit.task == Task::Page);
        self.put_back(visit, now_ms);
        self.list(id);
    }

    /// Makes a host wait longer and longer while page after page fails.
    fn slow_down(&mut self, id: HostId, now_ms: u64) {
        let host = &mut self.table[index(id)];
        let too_many = host.health.failures().saturating_sub(self.config.host_failures_max / 2);
        if too_many > 0
            && let Some(wait_ms) = self.politeness.back_off_ms(too_many, host.crawl_delay_ms, None)
        {
            host.ready_ms = host.ready_ms.max(now_ms.saturating_add(wait_ms));
        }
    }

    fn give_up(&mut self, visit: &Visit, failed: FailedVisit, now_ms: u64) {
        let id = visit.host;
        match visit.task {
            Task::Page => self.count_failure(&failed.class),
            _ => self.count_aside(&failed.class),
        }
        match failed.before {
            0 => {}
            _ if visit.page.sitemap => self.report.asked_sitemaps += 1,
            _ => {
                self.report.asked += 1;
                self.report.failed += 1;
            }
        }
        let failures = self.table[index(id)].health.failures();
        let is_worn = failures >= self.config.host_failures_max;
        match visit.task {
            Task::Resolve => {
                self.set_aside(id, failed.why, now_ms);
                return;
            }
            Task::Robots { asker, .. } => {
                let is_own = asker == id && failed.fault == Fault::Host;
                let what =
                    if is_own { "it cannot be reached" } else { "its robots.txt cannot be had" };
                let why = format!("{what} ({})", failed.why);
                self.lose_robots(asker, id, why, now_ms);
                if asker == id {
                    return;
                }
            }
            Task::Page => {}
        }
        if failed.is_pressing {
            let host = &mut self.table[index(id)];
            let (delay, retry_after_ms) = (host.crawl_delay_ms, failed.retry_after_ms);
            let Some(wait_ms) = self.politeness.back_off_ms(1, delay, retry_after_ms) else {
                return self.leave_alone(id, &failed, now_ms);
            };
            host.ready_ms = host.ready_ms.max(now_ms.saturating_add(wait_ms));
        }
        if is_worn {
            self.set_aside(id, failed.why, now_ms);
            return;
        }
        self.slow_down(id, now_ms);
        self.list(id);
    }

    /// Returns a visit to its host, to be made again from `due_ms` on.
    fn put_back(&mut self, visit: Visit, due_ms: u64) {
        let host = &mut self.table[index(visit.host)];
        match visit.task {
            Task::Resolve => {}
            Task::Robots { asker, .. } => {
                host.put_back_errand(HostTask { asker, page: visit.page });
            }
            Task::Page => {
                host.put_again(due_ms, visit.page);
                self.waiting += 1;
            }
        }
    }

    /// Returns a visit to its host, to be made again after all other waiting pages.
    fn put_last(&mut self, visit: Visit) {
        if visit.task != Task::Page {
            return self.put_back(visit, 0);
        }
        let url = signature(visit.url().as_bytes());
        self.note_tries(url, visit.page.attempts, visit.page.blame);
        if visit.page.fetch_mode == FetchMode::Unconditional {
            self.note_anyhow(url);
        }
        self.change(visit.host, |host, _| host.queue.push(LAST_CLASS, &visit.page));
        self.waiting += 1;
    }

    /// Sets a host aside for as long as it requests, in this run and later ones.
    fn leave_alone(&mut self, id: HostId, failed: &FailedVisit, now_ms: u64) {
        let asked_ms = Politeness::asked_ms(failed.retry_after_ms.unwrap_or(0));
        let why = format!("{}, and asks to wait", failed.why);
        // Later runs compute the same time from the record.
        let term = Term::Asked { until_s: failed.date.second_after(asked_ms) };
        self.keep_away(id, now_ms.saturating_add(asked_ms), Aside { why, term }, now_ms);
    }

    /// Sets a host aside whose addresses this crawl may not visit.
    pub(super) fn refuse_host(&mut self, id: HostId, why: String, now_ms: u64) {
        self.keep_away(id, u64::MAX, Aside { why, term: Term::Refused }, now_ms);
    }

    /// Sets a host aside for a while. Returns when it comes back.
    pub(super) fn set_aside(&mut self, id: HostId, why: String, now_ms: u64) -> u64 {
        let host = &mut self.table[index(id)];
        host.forgive();
        host.asides += 1;
        let until_ms = if host.asides > ASIDES_MAX {
            u64::MAX
        } else {
            now_ms.saturating_add(self.config.set_aside_s.saturating_mul(1000))
        };
        self.keep_away(id, until_ms, Aside { why, term: Term::Run }, now_ms);
        until_ms
    }

    /// Sets a host aside that is neither in the workbench nor being visited.
    pub(super) fn keep_away(&mut self, id: HostId, until_ms: u64, aside: Aside, now_ms: u64) {
        let host = &mut self.table[index(id)];
        debug_assert!(host.state != State::Aside, "{} is aside", host.site);
        host.state = State::Aside;
        if matches!(host.robots, RobotsState::Asked) {
            host.robots = RobotsState::Unknown;
        }
        self.asides.insert((until_ms, id), aside);
        let errands = host.take_errands();
        let site = Arc::clone(&host.site);
        for HostTask { asker, .. } in errands {
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

    /// Handles the failure of the visit of `visited` to fetch the robots.txt of `asker`. The asker is set aside;
    /// if it is busy with errands of others, it tries again in its next turn.
    pub(super) fn lose_robots(&mut self, asker: HostId, visited: HostId, why: String, now_ms: u64) {
        let host = &mut self.table[index(asker)];
        if asker == visited || host.state == State::Asking {
            self.set_aside(asker, why, now_ms);
        } else if matches!(host.robots, RobotsState::Asked) {
            host.robots = RobotsState::Unknown;
        }
    }

    fn count_failure(&mut self, class: &str) {
        *self.report.failures.entry(class.to_owned()).or_default() += 1;
    }

    pub(super) fn count_aside(&mut self, class: &str) {
        self.count_failure(class);
        *self.report.put_aside.entry(class.to_owned()).or_default() += 1;
    }
}

/// Why and for how long a host is set aside.
#[derive(Debug)]
pub(super) struct Aside {
    /// Why, for people.
    pub(super) why: String,
    pub(super) term: Term,
}

/// For how long a host is set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Term {
    /// For a while, or the rest of the run: the next run tries it again.
    Run,
    /// As long as it requests, also in later runs: in seconds since 1970.
    Asked { until_s: i64 },
    /// Forever, unless its address or the configuration changes.
    Refused,
}

/// Whose fault a failed visit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The host cannot be reached.
    Host,
    /// Another page of the host may succeed.
    Page,
    /// The host answered, but the crawl could not take the answer.
    Ours,
}

/// A failed visit.
pub(super) struct FailedVisit {
    /// The class, for the report.
    pub(super) class: String,
    /// The description, for people.
    pub(super) why: String,
    /// Whether another attempt may succeed.
    pub(super) is_temporary: bool,
    /// Whose fault it is.
    pub(super) fault: Fault,
    /// Whether the host asks to slow down.
    pub(super) is_pressing: bool,
    /// When the visit began, or ended if it requests a wait in seconds.
    pub(super) date: Moment,
    /// The status of the capture that an answer would be compared with; 0 if none.
    pub(super) before: u16,
    pub(super) retry_after_ms: Option<u64>,
}

impl From<Failure> for FailedVisit {
    fn from(failure: Failure) -> FailedVisit {
        FailedVisit {
            class: failure.kind.name().to_owned(),
            why: failure.to_string(),
            is_temporary: failure.kind.is_temporary(),
            fault: match failure.kind {
                kind if kind.is_of_host() => Fault::Host,
                FailureKind::Room => Fault::Ours,
                _ => Fault::Page,
            },
            is_pressing: false,
            date: Moment::default(),
            before: 0,
            retry_after_ms: None,
        }
    }
}
