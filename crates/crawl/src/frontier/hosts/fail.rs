//! Visits that fail: pages are tried again or given up, hosts wait longer and longer or are set aside (P6).
//!
//! What lives here: [`Stumble`], which is a failure or an answer that comes to the same, and what follows from
//! it. What does not: how long a wait is (`politeness.rs`), when a host counts as failing (`health.rs`).
//!
//! **Invariant.** A visit that failed is given back to its host, or given up and counted; a host that is set
//! aside is in `asides` and has no errand of another, and what failed of it since its last good answer costs no page a
//! try. No page is given up that nothing but its host may be to blame for.

use std::sync::Arc;

use sieve::signature;

use super::super::host::{Errand, RobotsState, State};
use super::{Hosts, LAST_CLASS, index};
use crate::clock::Moment;
use crate::order::Manner;
use crate::outcome::{Failure, FailureKind, Task, Visit};
use crate::politeness::Politeness;
use crate::site::HostId;

/// How often in a row a host may be set aside and come back: without an end to it the dead hosts of
/// a wide crawl would keep each other's crawl alive for ever.
const ASIDES_MAX: u32 = 2;

impl Hosts {
    /// A visit did not lead to what it was for: it is tried again, given up, or the host is.
    pub(super) fn stumble(&mut self, mut visit: Visit, stumble: Stumble, now_ms: u64) {
        let id = visit.host;
        let host = &mut self.table[index(id)];
        if visit.task == Task::Page {
            host.requests += 1;
        }
        let is_of_host = stumble.fault == Fault::Host;
        if is_of_host {
            host.health.fail();
        } else if stumble.is_passing && stumble.fault == Fault::Page {
            host.health.fail_page(&mut visit.page);
        } else {
            host.health.recover(); // it does answer
        }
        let failures = host.health.failures();
        // A page has no part in it that its host cannot be reached.
        let is_outage = is_of_host && visit.task == Task::Page;
        let is_last = match visit.task {
            Task::Robots { .. } => visit.page.attempts >= self.config.retries,
            Task::Page if !is_of_host => visit.page.attempts >= self.config.retries,
            _ => failures > self.config.retries.into(),
        };
        if is_of_host && !stumble.is_passing || is_outage && is_last {
            self.put_aside(visit, stumble, now_ms);
            return;
        }
        // It is not clear yet whose fault it is: others may tell.
        let is_unclear = stumble.is_passing && stumble.fault == Fault::Page && visit.blames_host;
        if is_unclear && host.has_tried_all() {
            return self.keep(visit, stumble, now_ms);
        }
        if !stumble.is_passing || is_last && !is_unclear {
            return self.give_up(&visit, stumble, now_ms);
        }
        if failures >= self.config.host_failures_max {
            self.put_aside(visit, stumble, now_ms);
            return;
        }
        visit.page.attempts = visit.page.attempts.saturating_add(u8::from(!is_outage));
        *self.report.retried.entry(stumble.class.clone()).or_default() += 1;
        let tries = if is_of_host { failures } else { visit.page.attempts.into() };
        let delay = host.crawl_delay_ms;
        let wait_ms = self.politeness.back_off_ms(tries, delay, stumble.retry_after_ms);
        let Some(wait_ms) = wait_ms else {
            self.put_last(visit);
            return self.leave_alone(id, &stumble, now_ms);
        };
        let due_ms = now_ms.saturating_add(wait_ms);
        if is_of_host || stumble.is_pressing || visit.task != Task::Page {
            host.ready_ms = host.ready_ms.max(due_ms);
        }
        if is_of_host && self.guard.known(visit.site.host()).is_empty() {
            host.address = None; // it may have moved
        }
        self.put_back(visit, due_ms);
        self.slow_down(id, now_ms);
        self.list(id);
    }

    /// A visit shows that its host is to be left alone for a while; it waits until then. Returns when that is.
    fn put_aside(&mut self, visit: Visit, stumble: Stumble, now_ms: u64) -> u64 {
        let id = visit.host;
        self.count_aside(&stumble.class);
        self.put_back(visit, now_ms);
        self.set_aside(id, stumble.why, now_ms)
    }

    /// A page had its last try, and nothing tells that it is the page's fault: it waits until its host does better, or has
    /// another page that may tell.
    fn keep(&mut self, visit: Visit, stumble: Stumble, now_ms: u64) {
        let id = visit.host;
        let delay = self.table[index(id)].crawl_delay_ms;
        if self.politeness.back_off_ms(1, delay, stumble.retry_after_ms).is_some() {
            let until_ms = self.put_aside(visit, stumble, now_ms);
            self.table[index(id)].unheard_until_ms = Some(until_ms).filter(|&ms| ms < u64::MAX);
            return;
        }
        self.count_aside(&stumble.class);
        self.put_last(visit);
        self.leave_alone(id, &stumble, now_ms);
    }

    /// A visit was as good as none: nothing answers at the address of a host that has another one, or the
    /// server has refused it unseen. It is made again in the next turn of its host.
    pub(super) fn make_again(&mut self, visit: Visit, now_ms: u64) {
        let id = visit.host;
        self.table[index(id)].requests += u64::from(visit.task == Task::Page);
        self.put_back(visit, now_ms);
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
        match visit.task {
            Task::Page => self.count_failure(&stumble.class),
            _ => self.count_aside(&stumble.class),
        }
        match stumble.before {
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
                self.set_aside(id, stumble.why, now_ms);
                return;
            }
            Task::Robots { asker, .. } => {
                let is_own = asker == id && stumble.fault == Fault::Host;
                let what =
                    if is_own { "it cannot be reached" } else { "its robots.txt cannot be had" };
                let why = format!("{what} ({})", stumble.why);
                self.lose_robots(asker, id, why, now_ms);
                if asker == id {
                    return;
                }
            }
            Task::Page => {}
        }
        if stumble.is_pressing {
            let host = &mut self.table[index(id)];
            let (delay, retry_after_ms) = (host.crawl_delay_ms, stumble.retry_after_ms);
            let Some(wait_ms) = self.politeness.back_off_ms(1, delay, retry_after_ms) else {
                return self.leave_alone(id, &stumble, now_ms);
            };
            host.ready_ms = host.ready_ms.max(now_ms.saturating_add(wait_ms));
        }
        if is_worn {
            self.set_aside(id, stumble.why, now_ms);
            return;
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

    /// Gives a visit back to its host, to be made again after all others that wait.
    fn put_last(&mut self, visit: Visit) {
        if visit.task != Task::Page {
            return self.put_back(visit, 0);
        }
        let url = signature(visit.url().as_bytes());
        self.note_tries(url, visit.page.attempts, visit.page.repute);
        if visit.page.manner == Manner::Anyhow {
            self.note_anyhow(url);
        }
        self.change(visit.host, |host, _| host.queue.push(LAST_CLASS, &visit.page));
        self.waiting += 1;
    }

    /// Leaves a host alone, in this run and in those after it, for as long as it asks for.
    fn leave_alone(&mut self, id: HostId, stumble: &Stumble, now_ms: u64) {
        let asked_ms = Politeness::asked_ms(stumble.retry_after_ms.unwrap_or(0));
        let why = format!("{}, and asks to wait", stumble.why);
        // What is said of it is what its record tells.
        let term = Term::Asked { until_s: stumble.date.second_after(asked_ms) };
        self.keep_away(id, now_ms.saturating_add(asked_ms), Aside { why, term }, now_ms);
    }

    /// Leaves a host alone whose addresses this crawl may not visit.
    pub(super) fn refuse_host(&mut self, id: HostId, why: String, now_ms: u64) {
        self.keep_away(id, u64::MAX, Aside { why, term: Term::Refused }, now_ms);
    }

    /// Leaves a host alone for a while. Returns until when.
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

    /// Leaves a host alone that is neither in the workbench nor, any more, being visited.
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
    pub(super) fn lose_robots(&mut self, asker: HostId, visited: HostId, why: String, now_ms: u64) {
        let host = &mut self.table[index(asker)];
        if asker == visited || host.state == State::Asking {
            self.set_aside(asker, why, now_ms);
        } else if matches!(host.robots, RobotsState::Asked) {
            host.robots = RobotsState::Unknown;
        }
    }

    /// Counts a visit that is given up.
    fn count_failure(&mut self, class: &str) {
        *self.report.failures.entry(class.to_owned()).or_default() += 1;
    }

    /// Counts a visit that sets a host aside.
    pub(super) fn count_aside(&mut self, class: &str) {
        self.count_failure(class);
        *self.report.put_aside.entry(class.to_owned()).or_default() += 1;
    }
}

/// A host that is set aside.
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
    /// As long as it asks for, whatever runs there are: in seconds since 1970.
    Asked { until_s: i64 },
    /// For ever, unless its address or the configuration changes.
    Refused,
}

/// Whose fault it is that a visit did not lead to what it was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The host cannot be reached.
    Host,
    /// Another page of the host may do better.
    Page,
    /// The host did answer, and it is the crawl that could not take it.
    Ours,
}

/// A visit that did not lead to what it was for.
pub(super) struct Stumble {
    /// The class, for the report.
    pub(super) class: String,
    /// The story, for people.
    pub(super) why: String,
    /// Another try may end better.
    pub(super) is_passing: bool,
    /// Whose fault it is.
    pub(super) fault: Fault,
    /// The host asks for a rest.
    pub(super) is_pressing: bool,
    /// When the visit began, or, if it asks for a number of seconds, when it was over.
    pub(super) date: Moment,
    /// The status of the capture that an answer would be compared with; 0 if there is none.
    pub(super) before: u16,
    pub(super) retry_after_ms: Option<u64>,
}

impl From<Failure> for Stumble {
    fn from(failure: Failure) -> Stumble {
        Stumble {
            class: failure.kind.name().to_owned(),
            why: failure.to_string(),
            is_passing: failure.kind.is_passing(),
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
