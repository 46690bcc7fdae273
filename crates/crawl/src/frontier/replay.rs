//! Visits of earlier runs, told to the frontier once more (W4).
//!
//! What lives here: what they led to, which of their URLs are never visited again and which are, and pages that turned
//! out to be nearer. What does not: reading the archive (`replay.rs` of the crate), and what they change at the hosts
//! (`hosts/replay.rs`).
//!
//! **Invariant.** What an earlier run settled for good is not visited again, unless it is due.

use sieve::{Signature, signature};

use super::depths::Depths;
use super::discover::Source;
use super::url_meta::UrlMeta;
use super::{Frontier, Tally};
use crate::answer::Purpose;
use crate::asked::Asked;
use crate::clock::Moment;
use crate::error::CrawlError;
use crate::journal::Entry;
use crate::order::Blame;
use crate::outcome::{Answered, Harvest};
use crate::rests::Rest;
use crate::share::Recount;
use crate::site::Site;

impl Frontier {
    /// Forgets what was put in since the last flush but that it was: it is never visited.
    pub(crate) fn forget(&mut self) -> Result<(), CrawlError> {
        self.offered = 0;
        Ok(self.sieve.flush(&mut |_| {})?)
    }

    /// Takes note of a visit after which a URL is to be asked for once more: after the others, if it was in vain, and
    /// without a condition, if the answer to one did not tell what it is now.
    pub(crate) fn note_vain(&mut self, url: &str, entry: &Entry, status: u16) {
        if entry.is_vain(status) {
            self.put_last(url);
        }
        if entry.is_inconclusive {
            self.hosts.note_anyhow(signature(url.as_bytes()));
        }
    }

    /// Takes note that a URL was tried so often in vain, and of what that tells.
    pub(crate) fn note_tries(&mut self, url: Signature, tries: u8, blame: Blame) {
        if tries > 0 {
            self.hosts.note_tries(url, tries, blame);
        }
    }

    /// Takes note that a URL which is due again was given up when it was last asked for, by its own fault.
    pub(crate) fn note_given_up(&mut self, url: &str) {
        self.hosts.note_tries(signature(url.as_bytes()), 0, Blame::Bad);
    }

    /// Takes note that a URL is to be asked for without a condition, since the archive has lost what it was.
    pub(crate) fn note_lost(&mut self, url: &str) {
        self.hosts.note_anyhow(signature(url.as_bytes()));
    }

    /// Takes note that a URL which is due again failed when it was last asked for, and nothing else was heard of its host then:
    /// it comes after the others, and has all but one of its tries.
    pub(crate) fn note_unclear(&mut self, url: &str) {
        self.hosts.note_tries(signature(url.as_bytes()), 1, Blame::Unclear);
    }

    /// Takes note that the last visit of a URL that is due again was in vain: it comes after the others.
    pub(crate) fn put_last(&mut self, url: &str) {
        self.hosts.note_vain(signature(url.as_bytes()));
    }

    /// Takes note of a visit that an earlier run archived. Its URL was [forgotten](Self::forget)
    /// before, if it need not be visited again. If its URL counts apart, so does whether it is of a page.
    pub(crate) fn replay(
        &mut self,
        url: &str,
        entry: &Entry,
        date: Moment,
        answered: Option<Answered>,
        counts: (Tally, Option<Recount>),
    ) -> Result<(), CrawlError> {
        let mut answered = answered;
        if let Some(answered) = &mut answered {
            let Entry { purpose, hops, depth, .. } = *entry;
            self.find_given(url, purpose, answered);
            let depth = self.depth_read(purpose, url, depth);
            let site = Site::split(url).map_or("", |(site, _)| site);
            // What it was refused was counted by its own run.
            self.discover(Source { site, purpose, hops, depth }, &mut answered.harvest)?;
        }
        self.hosts.replay(url, entry, date, answered, counts);
        Ok(())
    }

    /// Takes note of what a host asked for in visits that went with archive files; those that are left are to be told
    /// after it.
    pub(crate) fn keep_rest(&mut self, site: &str, rest: &Rest) {
        self.hosts.keep_rest(site, rest);
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

    /// Takes note of a URL that is given, as it stands among the seeds, but does not put it in.
    pub(crate) fn give(&mut self, seed: &str) {
        self.given.iter_mut().for_each(|given| given.add(seed));
    }

    /// Puts in what is given of that which an archived visit led to, to be [counted](Self::count_put_off).
    pub(crate) fn offer_given(
        &mut self,
        url: &str,
        purpose: Purpose,
        answered: &mut Answered,
    ) -> Result<(), CrawlError> {
        self.find_given(url, purpose, answered);
        let Harvest { redirect, links, sitemaps, .. } = &answered.harvest;
        let redirect = redirect.iter().filter(|_| purpose != Purpose::Robots);
        redirect.chain(links).chain(sitemaps).try_for_each(|url| self.offer(url))
    }

    /// Counts what was put in since the last flush and goes on waiting.
    pub(crate) fn count_put_off(&mut self) -> Result<(), CrawlError> {
        self.offered = 0;
        let put_off = &mut self.put_off;
        Ok(self.sieve.flush(&mut |_| *put_off += 1)?)
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
        let mark = self.mark_again(url, entry);
        if mark.sitemap { self.offer_marked(url, mark) } else { self.offer_page(url, mark) }
    }

    /// Has a URL visited again that earlier runs visited, and that has turned out to be given. The sieve has it, so it
    /// goes to its host at once: it is to be told once. Its last visit counts no more.
    pub(crate) fn ask_again(
        &mut self,
        url: &str,
        entry: &Entry,
        is_page: bool,
        is_put_off: bool,
    ) -> Result<(), CrawlError> {
        self.begin_recrawl();
        self.put_off = self.put_off.saturating_sub(u64::from(is_put_off));
        self.hosts.supersede(url, is_page);
        self.put_again(url, entry)
    }

    /// Has a URL visited that the archive has lost, that was counted with what goes on waiting, and that has turned out to
    /// be given: it is to be told once. Its visits counted for nothing.
    pub(crate) fn ask_lost(&mut self, url: &str, entry: &Entry) -> Result<(), CrawlError> {
        self.put_off = self.put_off.saturating_sub(1);
        self.put_again(url, entry)
    }

    /// Puts a URL into the queue of its host that the sieve has.
    fn put_again(&mut self, url: &str, entry: &Entry) -> Result<(), CrawlError> {
        let mark = self.mark_again(url, entry);
        let mut key = url.as_bytes().to_vec();
        mark.append(&mut key);
        self.hosts.enqueue(&key);
        self.hosts.end_flush()
    }

    /// The mark of a URL that an earlier run visited and that is due again.
    fn mark_again(&self, url: &str, entry: &Entry) -> UrlMeta {
        let &Entry { hops, depth, .. } = entry;
        let sitemap = entry.purpose == Purpose::Sitemap;
        let class = if sitemap { 0 } else { self.class(url) };
        UrlMeta { hops, sitemap, depth, class, is_known: true, ..UrlMeta::default() }
    }

    /// Ends the replay, with what is known of the last requests: what is still to be visited joins the queues.
    pub(crate) fn end_replay(
        &mut self,
        now_ms: u64,
        now: Moment,
        asked: Option<Asked>,
    ) -> Result<(), CrawlError> {
        self.hosts.rest(now_ms, now, asked);
        self.flush(now_ms)
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
        self.discover(Source { site, purpose, hops, depth }, &mut answered.harvest)
    }

    /// Whether a visit of an earlier run settled its URL for good.
    pub(crate) fn is_final(&self, entry: &Entry, status: u16) -> bool {
        self.hosts.is_final(entry, status)
    }
}
