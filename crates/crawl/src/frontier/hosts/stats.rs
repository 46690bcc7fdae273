//! Reports about the hosts of a crawl, while it runs and when it is over.
//!
//! What lives here: counts and states as plain values. What does not: counting (`on_answer.rs`, `on_failure.rs`), and
//! displaying the values.

use std::collections::BTreeSet;

use super::super::host::State;
use super::on_failure::{Aside, Term};
use super::schedule::PAGES_MAX;
use super::{Hosts, index};
use crate::report::{AsideHost, Census, Report, Snapshot};
use crate::site::HostId;

impl Hosts {
    pub(in crate::frontier) fn snapshot(&self) -> Snapshot {
        Snapshot {
            report: self.counts(),
            hosts_aside: self.asides.len() as u64,
            under_way: self.under_way as u64,
            ..Snapshot::default()
        }
    }

    /// Returns the counts without the list of hosts that are set aside.
    fn counts(&self) -> Report {
        Report {
            pages: self.report.pages + self.pages_due,
            // Visits under way when a run ends count as requests, and the next run makes them again.
            requests: self.report.requests + self.requests_under_way as u64,
            waiting: (self.waiting + self.pages_under_way + self.left_out) as u64,
            hosts: self.table.len() as u64,
            limit: self.limit.or((self.left_out > 0).then_some(PAGES_MAX)).map(str::to_owned),
            spilled_bytes: self.spill.used_bytes(),
            ..self.report.clone()
        }
    }

    /// Returns whether known pages of a recrawl wait at hosts that are set aside.
    pub(in crate::frontier) fn has_known_aside(&self) -> bool {
        self.asides.keys().any(|&(_, id)| self.table[index(id)].has_known())
    }

    /// Returns the sites that are set aside and have waiting pages.
    pub(in crate::frontier) fn sites_aside(&self) -> BTreeSet<&str> {
        let hosts = self.asides.keys().map(|&(_, id)| &self.table[index(id)]);
        hosts.filter(|host| host.waiting() > 0).map(|host| host.site.key()).collect()
    }

    /// Counts the hosts by state, in time linear in their number.
    pub(in crate::frontier) fn census(&self, now_ms: u64) -> Census {
        let mut census = Census::default();
        for host in &self.table {
            let count = match host.state {
                State::Idle => &mut census.idle,
                State::Visiting => &mut census.visiting,
                State::Asking => &mut census.asking,
                State::Aside => &mut census.aside,
                State::Listed if host.moment() <= now_ms => &mut census.ready,
                State::Listed if host.health.is_failing() || host.moment() > host.ready_ms => {
                    &mut census.back_off
                }
                State::Listed => &mut census.resting,
            };
            *count += 1;
        }
        census
    }

    pub(in crate::frontier) fn report(&self) -> Report {
        let aside = |(&(until_ms, id), aside): (&(u64, HostId), &Aside)| {
            let until_s = match aside.term {
                Term::Asked { until_s } => Some(until_s),
                Term::Run | Term::Refused => None,
            };
            let host = &self.table[index(id)];
            AsideHost {
                host: host.site.key().to_owned(),
                why: aside.why.clone(),
                refused: aside.term == Term::Refused,
                idle: host.waiting() == 0,
                until_ms: until_s.map(|_| until_ms),
                until_s,
            }
        };
        Report { aside: self.asides.iter().map(aside).collect(), ..self.counts() }
    }
}
