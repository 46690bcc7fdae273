//! The effects of an answer, or of an address, on the hosts.
//!
//! What lives here: counts, the rules of a robots.txt, and following its redirects. What does not: the URLs of an
//! answer (`discover.rs`), failed visits (`on_failure.rs`).
//!
//! **Invariant.** After [`Hosts::settle`] the host is in the right state, and ready no sooner than politeness
//! allows.

use std::net::IpAddr;

use super::super::host::{HostTask, RobotsRules, RobotsState, State};
use super::on_failure::{FailedVisit, Fault};
use super::schedule::is_new_page;
use super::{Hosts, index};
use crate::answer::{Purpose, is_redirect, is_temporary, keeps_previous};
use crate::clock::Moment;
use crate::order::{FetchMode, Waiting};
use crate::outcome::{Answered, Done, FailureKind, Outcome, Task, Visit};
use crate::politeness::Politeness;
use crate::robots::{ROBOTS_HOPS_MAX, Robots};
use crate::site::{HostId, Site};

impl Hosts {
    pub(in crate::frontier) fn settle(&mut self, done: Done) {
        let Done { visit, finished_ms, date, before, was_page, outcome } = done;
        self.under_way -= 1;
        self.pages_under_way -= usize::from(visit.task == Task::Page);
        self.new_under_way -= usize::from(is_new_page(&visit));
        let id = visit.host;
        if visit.task != Task::Resolve {
            self.workbench.release(visit.address, Some(finished_ms));
            self.report.requests += 1;
            self.requests_under_way -= 1;
            let host = &mut self.table[index(id)];
            let pause_ms = self.politeness.end(&mut host.pace, finished_ms, host.crawl_delay_ms);
            host.ready_ms = Politeness::after(finished_ms, pause_ms);
            self.owed.end(id, &host.pace, finished_ms);
        }
        match outcome {
            Outcome::Resolved { addresses, until_ms } => {
                self.set_address(id, addresses, until_ms, finished_ms);
            }
            Outcome::Failed(failure)
                if failure.kind == FailureKind::Connect
                    && self.table[index(id)].leave_address() =>
            {
                self.make_again(visit, finished_ms);
            }
            Outcome::Failed(failure)
                if failure.kind == FailureKind::Refused && visit.goes_on_after(&failure) =>
            {
                let page = Waiting { refused: true, ..visit.page };
                self.make_again(Visit { page, ..visit }, finished_ms);
            }
            Outcome::Failed(failure) => {
                let failed = FailedVisit { date, before, ..failure.into() };
                self.on_failure(visit, failed, finished_ms);
            }
            Outcome::Inconclusive { status, bytes } => {
                self.report.bytes += bytes;
                *self.report.statuses.entry(status).or_default() += 1;
                let page = Waiting { fetch_mode: FetchMode::Unconditional, ..visit.page };
                self.make_again(Visit { page, ..visit }, finished_ms);
            }
            Outcome::Answered(answered) => {
                self.report.bytes += answered.bytes;
                *self.report.statuses.entry(answered.status).or_default() += 1;
                if visit.task == Task::Page {
                    *self.report.page_statuses.entry(answered.status).or_default() += 1;
                }
                let host = &mut self.table[index(id)];
                if is_in_vain(visit.purpose(), &answered) {
                    let failed = FailedVisit {
                        date: date.later(answered.took_ms),
                        before,
                        ..failed_visit_of(&visit, &answered)
                    };
                    return self.on_failure(visit, failed, finished_ms);
                }
                host.health.recover();
                if let Task::Robots { asker, .. } = visit.task {
                    self.settle_robots(&visit, asker, answered, date.s, finished_ms);
                } else {
                    // The known page needs no other visit, whatever it is now.
                    self.pages_due = self.pages_due.saturating_sub(u64::from(was_page));
                    self.settle_page(id, visit.page.sitemap, &answered);
                }
                // A new Crawl-delay counts at once.
                let host = &mut self.table[index(id)];
                let pause_ms = self.politeness.pause_ms(host.crawl_delay_ms);
                host.ready_ms = host.ready_ms.max(Politeness::after(finished_ms, pause_ms));
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
        if is_sitemap {
            self.report.asked_sitemaps += u64::from(before > 0);
            return;
        }
        if before > 0 {
            self.report.count_again(answered);
        } else if status == 200 && !answered.is_unstored {
            self.report.pages_new += 1;
        }
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
        // All statuses but 2xx, 429 and 5xx mean that there are no rules.
        let robots = answered.harvest.robots.take().unwrap_or_default();
        self.know_robots(asker, robots, date_s);
    }

    pub(super) fn know_robots(&mut self, asker: HostId, robots: Robots, fetched_s: i64) {
        let crawl_delay_ms = robots.crawl_delay_ms();
        let known = RobotsState::Known { fetched_s, rules: RobotsRules::new(robots) };
        let replaced = self.change(asker, |host, spill| host.robots.replace(known, spill));
        self.note(replaced);
        self.keep_to_memory();
        let host = &mut self.table[index(asker)];
        host.crawl_delay_ms = crawl_delay_ms;
        if host.state == State::Asking {
            self.list(asker);
        }
    }

    /// Adds an errand for the robots.txt of `asker` at the host that it redirects to.
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
        let is_asking = host.state == State::Asking;
        self.busy(id, |hosts| hosts.table[index(id)].push_errand(HostTask { asker, page }));
        if is_asking {
            self.list(id);
        }
    }

    /// Sets the addresses of a host; the guard checks them each time.
    pub(super) fn set_address(
        &mut self,
        id: HostId,
        mut addresses: Vec<IpAddr>,
        until_ms: u64,
        now_ms: u64,
    ) {
        let host = &mut self.table[index(id)];
        let mut refused = None;
        addresses.retain(|&address| match self.guard.check(&host.site, address) {
            Ok(()) => true,
            Err(failure) => {
                refused.get_or_insert(failure);
                false
            }
        });
        if let Some(failure) = refused.filter(|_| addresses.is_empty()) {
            self.count_aside(failure.kind.name());
            return self.refuse_host(id, failure.to_string(), now_ms);
        }
        host.take_address(&addresses, until_ms);
        self.list(id);
    }
}

/// Converts an answer that counts as a failure.
fn failed_visit_of(visit: &Visit, answered: &Answered) -> FailedVisit {
    let &Answered { status, before, retry_after_ms, .. } = answered;
    FailedVisit {
        class: format!("http-{status}"),
        why: format!("{} answers {status}", visit.page.path),
        is_temporary: is_temporary(visit.purpose(), status),
        fault: Fault::Page,
        is_pressing: matches!(status, 429 | 503),
        date: Moment::default(),
        before,
        retry_after_ms,
    }
}

/// Returns whether an answer counts as a failure: it may be different another time, or it is an error while a
/// better answer is known.
fn is_in_vain(purpose: Purpose, answered: &Answered) -> bool {
    let &Answered { status, before, unchanged, .. } = answered;
    let is_known = before > 0 && !keeps_previous(purpose, before);
    is_temporary(purpose, status) || is_known && !unchanged && keeps_previous(purpose, status)
}
