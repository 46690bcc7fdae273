//! Known URLs that a list names, or is found to name while it is visited: by a sitemap that is new, or by a redirect.
//!
//! What lives here: what lists name by the visits of the archive, going on with those that are not over, and asking again
//! for what the run found to be named besides. What does not: what counts as given (`frontier/given.rs`), and the file that
//! keeps the lists (`recrawl/`).
//!
//! **Invariant.** What is asked for again here was archived before the list began, has had no visit since, and is put in
//! once. A recrawl that a kill ends goes on as if all had been named from the start, whoever goes on with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use archive::Archive;

use super::{Again, Replay, Replayed};
use crate::answer::{Purpose, keeps_previous};
use crate::checkpoint::Settled;
use crate::error::CrawlError;
use crate::frontier::{Frontier, Given};
use crate::journal::Entry;
use crate::outcome::Harvest;
use crate::recrawl::{Epoch, Epochs, Extent, Reading, Schedule};
use crate::seeds::cut;
use crate::site::Site;

/// A URL that is to be asked for again.
struct Known {
    entry: Entry,
    /// Whether it counts as a page.
    is_page: bool,
    /// Whether another recrawl that is not over asks for it, and whether that has had an answer.
    is_due: bool,
    is_answered: bool,
}

impl Replay<'_> {
    /// Has what the lists name by now that are not over, and that the run may go on with, asked for again.
    pub(super) fn go_on_with_lists(
        &self,
        archive: &Archive,
        replayed: &mut Replayed,
        now_s: i64,
    ) -> Result<(), CrawlError> {
        let frontier = &self.dirs.frontier;
        let mut asked = BTreeSet::new();
        for list in Epochs::read(frontier)?.into_lists(replayed.alone.as_ref()) {
            let (known, mut due) = self.named_by_list(&list, archive)?;
            replayed.lists += 1;
            replayed.named.extend(known);
            // What several name is asked for by the first of them.
            due.retain(|url| asked.insert(url.clone()));
            if !due.is_empty() && !self.halt.was_called() {
                Epochs::begin(frontier, Some(Extent::Given(due)), &list.files(), now_s, &[])?;
            }
        }
        Ok(())
    }

    /// Asks again for known URLs that lists are found to name by what the run has visited by now; whether there are any.
    pub(crate) fn ask_named(
        &self,
        frontier: &mut Frontier,
        replayed: &mut Replayed,
    ) -> Result<bool, CrawlError> {
        if !self.config.store {
            return Ok(false);
        }
        let lists = Epochs::read(&self.dirs.frontier)?.into_lists(replayed.alone.as_ref());
        let may_name_lost = self.config.alone && !replayed.gaps.is_empty();
        if lists.is_empty() && !may_name_lost {
            return Ok(false);
        }
        let archive = Archive::open(&self.dirs.archive)?;
        self.logs.complete(&archive, self.answers, &self.halt)?;
        let is_lost = may_name_lost && self.ask_lost_named(frontier, &archive, replayed)?;
        let mut is_more = false;
        for list in lists {
            let (known, mut due) = self.named_by_list(&list, &archive)?;
            // What is lost is asked for as such.
            due.retain(|url| !replayed.named.contains(url) && !replayed.gaps.has_url(url));
            replayed.named.extend(known);
            let mut found = self.find_known(frontier, &archive, due, &list)?;
            if !self.config.alone {
                // What another one is yet to ask for, this run does.
                found.retain(|_, known| !known.is_due || known.is_answered);
            }
            if found.is_empty() {
                continue;
            }
            is_more = true;
            let wanted = Extent::Given(found.keys().cloned().collect());
            let now_s = self.clock.unix_s();
            Epochs::begin(&self.dirs.frontier, Some(wanted), &list.files(), now_s, &[])?;
            for (url, known) in &found {
                // What another one is yet to ask for was counted with what goes on waiting.
                let is_put_off = known.is_due && !known.is_answered;
                frontier.ask_again(url, &known.entry, known.is_page, is_put_off)?;
            }
        }
        if let Some(alone) = &mut replayed.alone {
            alone.urls.clone_from(&replayed.named);
        }
        if is_more {
            let last = self.note_all(&Epochs::read(&self.dirs.frontier)?, &archive)?;
            let last = last.and_then(Again::last);
            let reading = Reading::of(self.config);
            replayed.known = last.map(|last| Arc::new(last.into_captures(archive, reading)));
        }
        Ok(is_more || is_lost)
    }

    /// The known URLs that a list names which is not over, and those of them that it asks for again: what became known
    /// only since it began it does not.
    fn named_by_list(
        &self,
        list: &Epoch,
        archive: &Archive,
    ) -> Result<(BTreeSet<String>, BTreeSet<String>), CrawlError> {
        let files: Vec<bool> = archive.files().iter().map(|file| list.is_old(file)).collect();
        self.named_by(&list.extent, archive, &|file| files.get(file) == Some(&true))
    }

    /// The known URLs that a list names, and those of them that were known by files that are old, and are due if it asks
    /// for what is due.
    pub(super) fn named_by(
        &self,
        list: &Extent,
        archive: &Archive,
        is_old: &dyn Fn(usize) -> bool,
    ) -> Result<(BTreeSet<String>, BTreeSet<String>), CrawlError> {
        let (mut known, mut asked) = (BTreeSet::new(), BTreeSet::new());
        let Extent::List { lines, due } = list else { return Ok((known, asked)) };
        let given = self.given_by(lines, archive)?;
        let mut schedule = Schedule::new(due.map_or(Extent::All, Extent::Due));
        if due.is_some() {
            self.logs.each(archive, &self.halt, &mut |file, settled| {
                if is_old(file) {
                    schedule.note(file, &settled);
                }
                Ok(())
            })?;
        }
        self.logs.each(archive, &self.halt, &mut |file, settled| {
            // What is given as one of them may be known as the other.
            let is_given =
                given.has(Purpose::Page, &settled.url) || given.has(Purpose::Sitemap, &settled.url);
            if settled.entry.purpose != Purpose::Robots && is_given {
                if is_old(file) && schedule.is_due(&settled) {
                    asked.insert(settled.url.clone());
                }
                known.insert(settled.url);
            }
            Ok(())
        })?;
        Ok((known, asked))
    }

    /// All that these lines of a list give by what was archived of them.
    fn given_by(&self, lines: &BTreeSet<String>, archive: &Archive) -> Result<Given, CrawlError> {
        let mut given = Given::default();
        for line in lines {
            given.add(line);
        }
        let mut is_more = true;
        while is_more && !self.halt.is_called() {
            let before = given.len();
            self.logs.each(archive, &self.halt, &mut |_, mut settled| {
                if let Some(answered) = &mut settled.answered {
                    given.keep(settled.entry.purpose, &settled.url, &mut answered.harvest);
                }
                Ok(())
            })?;
            is_more = given.len() > before;
        }
        Ok(given)
    }

    /// Ends the recrawls that the run has come to the end of, but for what hosts have that were set aside.
    pub(crate) fn close_recrawls(
        &self,
        frontier: &Frontier,
        replayed: &Replayed,
    ) -> Result<(), CrawlError> {
        let unread = self.unread_lists(frontier, replayed)?;
        let is_rest = frontier.has_known_aside();
        Epochs::close(&self.dirs.frontier, replayed.alone.as_ref(), is_rest, &unread)
    }

    /// The lists of the run that may name more than is known: something that they name waits at a host that is set aside,
    /// and has had no answer since they began.
    fn unread_lists(
        &self,
        frontier: &Frontier,
        replayed: &Replayed,
    ) -> Result<Vec<Epoch>, CrawlError> {
        let mut lists = Epochs::read(&self.dirs.frontier)?.into_lists(replayed.alone.as_ref());
        let aside = frontier.sites_aside();
        if aside.is_empty() || lists.is_empty() {
            return Ok(Vec::new());
        }
        let archive = Archive::open(&self.dirs.archive)?;
        let mut unread = Vec::new();
        for list in lists.drain(..) {
            if self.has_unread(&list, frontier, &aside, &archive)? {
                unread.push(list);
            }
        }
        Ok(unread)
    }

    fn has_unread(
        &self,
        list: &Epoch,
        frontier: &Frontier,
        aside: &BTreeSet<&str>,
        archive: &Archive,
    ) -> Result<bool, CrawlError> {
        let Extent::List { lines, .. } = &list.extent else { return Ok(false) };
        let is_aside = |url: &str| Site::split(url).is_some_and(|(site, _)| aside.contains(site));
        let mut named: BTreeSet<String> = lines.iter().map(|line| cut(line).0.to_owned()).collect();
        named.retain(|url| is_aside(url));
        let mut given = self.given_by(lines, archive)?;
        self.logs.each(archive, &self.halt, &mut |_, mut settled| {
            let purpose = settled.entry.purpose;
            if let Some(answered) = settled.answered.as_mut().filter(|_| purpose != Purpose::Robots)
            {
                given.keep(purpose, &settled.url, &mut answered.harvest);
                let Harvest { redirect, links, sitemaps, .. } = &mut answered.harvest;
                let urls = redirect.take().into_iter().chain(links.drain(..));
                let urls = urls.chain(sitemaps.drain(..));
                named.extend(urls.filter(|url| is_aside(url)));
            }
            Ok(())
        })?;
        let (_, due) = self.named_by_list(list, archive)?;
        self.logs.each(archive, &self.halt, &mut |file, settled| {
            let status = settled.answered.as_ref().map_or(0, |answered| answered.status);
            let is_old = archive.files().get(file).is_some_and(|file| list.is_old(file));
            let is_robots = settled.entry.purpose == Purpose::Robots;
            // What is known and not due is left as it is.
            let is_settled = if is_old {
                !due.contains(&settled.url)
            } else {
                frontier.is_final(&settled.entry, status)
            };
            if is_settled && !is_robots {
                named.remove(&settled.url);
            }
            Ok(())
        })?;
        Ok(!named.is_empty())
    }

    /// What the archive has of these URLs from before a list began, of those that had no visit since.
    fn find_known(
        &self,
        frontier: &Frontier,
        archive: &Archive,
        mut urls: BTreeSet<String>,
        list: &Epoch,
    ) -> Result<BTreeMap<String, Known>, CrawlError> {
        let mut found: BTreeMap<String, Known> = BTreeMap::new();
        if urls.is_empty() {
            return Ok(found);
        }
        let sitemaps = self.sitemaps(archive)?;
        let open = self.note_all(&Epochs::read(&self.dirs.frontier)?, archive)?;
        let is_before: Vec<bool> = archive.files().iter().map(|file| list.is_old(file)).collect();
        self.logs.each(archive, &self.halt, &mut |file, mut settled| {
            if settled.entry.purpose == Purpose::Robots || !urls.contains(&settled.url) {
                return Ok(());
            }
            if is_before.get(file) != Some(&true) {
                found.remove(&settled.url);
                urls.remove(&settled.url);
            } else if self.is_wanted(&settled) {
                let is_old = open.as_ref().is_some_and(|open| open.is_old(file, &settled));
                let status = settled.answered.as_ref().map_or(0, |answered| answered.status);
                let is_answer = !is_old && frontier.is_final(&settled.entry, status);
                let before = found.remove(&settled.url);
                let had = |is: fn(&Known) -> bool| before.as_ref().is_some_and(is);
                let is_page = is_page(&settled, had(|known| known.is_page));
                let is_due = is_old || had(|known| known.is_due);
                let is_answered = is_answer || had(|known| known.is_answered);
                sitemaps.claim(&mut settled);
                let Settled { url, entry, .. } = settled;
                found.insert(url, Known { entry, is_page, is_due, is_answered });
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// Whether a URL counts as a page after a visit, which did or did not before.
fn is_page(settled: &Settled, before: bool) -> bool {
    let purpose = settled.entry.purpose;
    match &settled.answered {
        Some(answered) if answered.unchanged || !keeps_previous(purpose, answered.status) => {
            purpose == Purpose::Page && answered.is_page()
        }
        _ => before,
    }
}
