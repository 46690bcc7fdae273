//! Known URLs that a list is found to name while it is visited: by a sitemap that is new, or by a redirect.
//!
//! What lives here: [`Named`], what a run of given addresses alone knew when it began, and asking again for what it
//! found to be given besides. What does not: what counts as given (`frontier/given.rs`).
//!
//! **Invariant.** What is asked for again here was archived before the run, has had no visit in it, and is put in
//! once. A recrawl that a kill ends goes on as if all had been named from the start.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use archive::Archive;

use super::{Again, Replay, Replayed};
use crate::answer::{Purpose, leaves_standing};
use crate::checkpoint::Settled;
use crate::config::Recrawl;
use crate::error::CrawlError;
use crate::frontier::Frontier;
use crate::journal::Entry;
use crate::recrawl::{Epochs, Extent, Reading};

/// What a run of given addresses alone knew when it began.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// The known URLs that were given.
    pub(super) urls: BTreeSet<String>,
    /// The files of the archive.
    pub(super) files: Vec<String>,
}

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
    /// Asks again for known URLs that are given by what the run has visited by now; whether there are any.
    pub(crate) fn ask_named(
        &self,
        frontier: &mut Frontier,
        replayed: &mut Replayed,
    ) -> Result<bool, CrawlError> {
        let is_wanted = self.config.alone && self.config.recrawl != Recrawl::Never;
        if !is_wanted || !self.config.store || replayed.unbegun.is_some() {
            return Ok(false);
        }
        let archive = Archive::open(&self.dirs.archive)?;
        self.logs.complete(&archive, self.answers, &self.halt, &mut || {})?;
        let now_s = self.clock.unix_s();
        let (known, mut due) = self.known_given(frontier, &archive, now_s)?;
        due.retain(|url| !replayed.named.urls.contains(url));
        replayed.named.urls.extend(known);
        let found = self.find_known(frontier, &archive, due, &replayed.named)?;
        if found.is_empty() {
            return Ok(false);
        }
        let wanted = Extent::Given(found.keys().cloned().collect());
        let files = &replayed.named.files;
        let epochs = Epochs::begin(&self.dirs.frontier, Some(wanted), files, now_s)?;
        let again = self.note_all(&epochs, &archive)?;
        for (url, known) in &found {
            // What another one is yet to ask for was counted with what goes on waiting.
            let is_put_off = known.is_due && !known.is_answered;
            frontier.ask_again(url, &known.entry, known.is_page, is_put_off)?;
        }
        replayed.is_recrawl = true;
        replayed.alone = Some(replayed.named.urls.clone());
        let last = again.and_then(Again::last);
        let reading = Reading::of(self.config);
        replayed.known = last.map(|last| Arc::new(last.into_captures(archive, reading)));
        Ok(true)
    }

    /// What the archive has of these URLs from before the run, of those that had no visit in it.
    fn find_known(
        &self,
        frontier: &Frontier,
        archive: &Archive,
        mut urls: BTreeSet<String>,
        named: &Named,
    ) -> Result<BTreeMap<String, Known>, CrawlError> {
        let mut found: BTreeMap<String, Known> = BTreeMap::new();
        if urls.is_empty() {
            return Ok(found);
        }
        let open = self.note_all(&Epochs::read(&self.dirs.frontier)?, archive)?;
        let is_before: Vec<bool> =
            archive.files().iter().map(|file| named.files.contains(file)).collect();
        self.logs.each(archive, &self.halt, &mut |file, settled| {
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
        Some(answered) if answered.unchanged || !leaves_standing(purpose, answered.status) => {
            purpose == Purpose::Page && answered.is_page()
        }
        _ => before,
    }
}
