//! Visits of earlier runs: what they changed at the hosts, once more (W4).
//!
//! What lives here: how they count, and the rest that the hosts have afterwards. What does not: reading them
//! (`replay.rs` of the crate).
//!
//! **Invariant.** A replay makes no request due sooner than the run that ended would have made it.

use super::super::host::{Replayed, RobotsState};
use super::on_failure::{Aside, Term};
use super::{Hosts, index};
use crate::answer::{Purpose, is_temporary, keeps_previous};
use crate::asked::Asked;
use crate::clock::Moment;
use crate::journal::Entry;
use crate::outcome::Answered;
use crate::politeness::Politeness;
use crate::rests::Rest;
use crate::share::{Count, Recount, Toll};
use crate::site::{HostId, Site};

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

impl Hosts {
    /// Takes note of a visit of an earlier run; `answered` is `None` if it failed. If its URL counts apart, so does whether
    /// it is of a page.
    pub(in crate::frontier) fn replay(
        &mut self,
        url: &str,
        entry: &Entry,
        date: Moment,
        answered: Option<Answered>,
        (tally, recount): (Tally, Option<Recount>),
    ) {
        let Some((site, _)) = Site::split(url) else { return };
        let Some(id) = self.id(site) else { return };
        let status = answered.as_ref().map_or(0, |answered| answered.status);
        self.bytes_before += answered.as_ref().map_or(0, |answered| answered.bytes);
        let retry_after_ms = answered.as_ref().and_then(|answered| answered.retry_after_ms);
        let retry_after_ms = retry_after_ms.filter(|_| is_temporary(entry.purpose, status));
        let took_ms = answered.as_ref().map_or(0, |answered| answered.took_ms);
        self.note_last(id, Replayed { date: date.later(took_ms), retry_after_ms });
        if entry.purpose == Purpose::Robots {
            let asker = entry.robots_for.as_deref().unwrap_or(site);
            let (Some(asker), Some(answered)) = (self.id(asker), answered) else { return };
            let is_newest = !self.table[index(asker)].robots.is_after(date);
            let is_told =
                !is_temporary(Purpose::Robots, status) && answered.harvest.redirect.is_none();
            if is_told && is_newest {
                let robots = answered.harvest.robots.unwrap_or_default();
                self.know_robots(asker, robots, date.s);
            }
            return;
        }
        let answered = answered.unwrap_or_default();
        if let Some(recount) = recount {
            self.recount(id, recount);
        }
        let (host, apart) = (&mut self.table[index(id)], recount.is_some());
        if tally != Tally::Superseded {
            let toll = Toll::of(entry, &answered, tally == Tally::Again);
            host.requests += toll.requests();
            for pages in [&mut host.pages, &mut self.report.pages].into_iter().filter(|_| !apart) {
                *pages = toll.pages(*pages);
            }
        }
        let stands = keeps_previous(entry.purpose, status) && !answered.unchanged;
        if apart || entry.purpose != Purpose::Page || stands || entry.is_inconclusive {
            return;
        }
        let (now, before) = (u64::from(answered.is_page()), u64::from(answered.before == 200));
        self.pages_due = match tally {
            Tally::Again => self.pages_due,
            Tally::Anew => self.pages_due.saturating_sub(before),
            Tally::Superseded => (self.pages_due + now).saturating_sub(before),
        };
    }

    /// Takes note of what a host asked for in visits that went with archive files: only a robots.txt that is left and was
    /// asked for later has the say.
    pub(in crate::frontier) fn keep_rest(&mut self, site: &str, rest: &Rest) {
        let Some(id) = self.id(site) else { return };
        let &Rest { date, retry_after_ms, .. } = rest;
        self.note_last(id, Replayed { date, retry_after_ms });
        let host = &mut self.table[index(id)];
        host.crawl_delay_ms = rest.crawl_delay_ms();
        if let Some(fetched) = rest.robots {
            host.robots = RobotsState::Lost { fetched };
        }
    }

    /// Takes note of a request, if it is the last one to its host so far.
    fn note_last(&mut self, id: HostId, replayed: Replayed) {
        let last = self.replayed.entry(id).or_insert(replayed);
        *last = replayed.max(*last);
    }

    /// Counts a page whose visits count apart.
    fn recount(&mut self, id: HostId, Recount { before, after }: Recount) {
        let host = &mut self.table[index(id)];
        for pages in [&mut host.pages, &mut self.report.pages] {
            *pages += u64::from(after == Some(Count::Page));
            *pages = pages.saturating_sub(u64::from(before == Some(Count::Page)));
        }
        self.pages_due += u64::from(after == Some(Count::Due));
        self.pages_due = self.pages_due.saturating_sub(u64::from(before == Some(Count::Due)));
    }

    /// Takes back what the visits of a URL counted for that is asked for again.
    pub(in crate::frontier) fn supersede(&mut self, url: &str, is_page: bool) {
        let id = Site::split(url).and_then(|(site, _)| self.id(site));
        let Some(id) = id else { return };
        let pages = u64::from(is_page);
        let host = &mut self.table[index(id)];
        host.requests = host.requests.saturating_sub(1);
        host.pages = host.pages.saturating_sub(pages);
        self.report.pages = self.report.pages.saturating_sub(pages);
        self.pages_due += pages;
    }

    /// Ends the replay: hosts that an earlier run asked rest for what is left of their silence. Of a request that was
    /// under way when a run was killed there is no trace but `asked`, which does not tell where it went: then every host,
    /// known or not, may have been asked until that moment, and so it is where nothing is known of it. An address that
    /// hosts share is left alone as long as it would have been.
    pub(in crate::frontier) fn rest(&mut self, now_ms: u64, now: Moment, asked: Option<Asked>) {
        let silent_ms = asked.map_or(0, |asked| asked.silent_ms(now));
        let may_be_any = asked.map_or(!self.replayed.is_empty(), |asked| asked.is_open);
        let was_asked = may_be_any || !self.replayed.is_empty();
        let owed_ms = asked.and_then(|asked| asked.owed_ms);
        let first_ms = self.politeness.first_pause_ms(None, owed_ms);
        let pause_ms = if may_be_any { first_ms } else { 0 };
        // This run may end before it has been to the hosts that wait for it.
        let owed_left_ms = owed_ms.unwrap_or_else(|| self.politeness.silence_ms(u64::MAX));
        let owed_left_ms = owed_left_ms.saturating_sub(silent_ms);
        if was_asked && owed_left_ms > 0 {
            self.owed.keep_until(now_ms.saturating_add(owed_left_ms));
        }
        let ip_pause_ms = if was_asked { self.config.ip_delay_ms } else { 0 };
        let left_ms = pause_ms.max(ip_pause_ms).saturating_sub(silent_ms);
        self.silent_until_ms = if left_ms > 0 { now_ms.saturating_add(left_ms) } else { 0 };
        for host in &mut self.table {
            host.ready_ms = host.ready_ms.max(self.silent_until_ms);
        }
        for (id, last) in std::mem::take(&mut self.replayed) {
            let since_ms = now.ms_since(last.date);
            let over_ms = since_ms.saturating_sub(self.config.visit_ms_max());
            let silent_ms = if may_be_any { silent_ms } else { silent_ms.max(over_ms) };
            self.rest_one(id, last, (silent_ms, owed_ms), since_ms, now_ms);
        }
    }

    /// The same for one host, which has not been asked for `silent_ms`, of `owed_ms` if it was slow, and whose last request
    /// that is known began `since_ms` ago, or was over if that is known: a Retry-After counts from then.
    fn rest_one(
        &mut self,
        id: HostId,
        last: Replayed,
        (silent_ms, owed_ms): (u64, Option<u64>),
        since_ms: u64,
        now_ms: u64,
    ) {
        let host = &mut self.table[index(id)];
        let delay_ms = host.crawl_delay_ms;
        let pause_ms = self.politeness.first_pause_ms(delay_ms, owed_ms);
        let pause_ms = pause_ms.saturating_sub(silent_ms);
        let wait_ms = self.politeness.back_off_ms(1, delay_ms, last.retry_after_ms);
        let wait_ms = wait_ms.filter(|_| last.retry_after_ms.is_some());
        let left_ms = wait_ms.unwrap_or(0).saturating_sub(since_ms).max(pause_ms);
        if left_ms > 0 {
            host.ready_ms = host.ready_ms.max(now_ms.saturating_add(left_ms));
        }
        // It asks for more time than a run has.
        let asked_ms = Politeness::asked_ms(last.retry_after_ms.unwrap_or(0));
        let left_ms = asked_ms.saturating_sub(since_ms);
        if wait_ms.is_none() && left_ms > 0 {
            let why = "it asked an earlier crawl to wait".to_owned();
            let term = Term::Asked { until_s: last.date.second_after(asked_ms) };
            let aside = Aside { why, term };
            self.keep_away(id, now_ms.saturating_add(left_ms), aside, now_ms);
        }
    }

    pub(in crate::frontier) fn is_final(&self, entry: &Entry, status: u16) -> bool {
        entry.is_final(status, self.config.retries)
    }
}
