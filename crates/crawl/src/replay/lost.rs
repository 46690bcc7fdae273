//! What a run does about pages that are missing in the archive.
//!
//! What lives here: finding them before the replay, having them asked for again, and counting what is still missing when
//! the run is over. What does not: which are missing (`gaps.rs`).
//!
//! **Invariant.** Every run that may ask for a page that is missing does, until it has an answer: also one of a list, as
//! soon as it is found to name the page.

use std::collections::BTreeSet;

use archive::Archive;

use super::{Replay, Replayed};
use crate::checkpoint::Settled;
use crate::error::CrawlError;
use crate::frontier::Frontier;
use crate::gaps::Gaps;
use crate::recrawl::{Extent, lines};

impl Replay<'_> {
    /// Looks for pages that are missing in the archive.
    pub(super) fn find_gaps(&self, gaps: &mut Gaps, archive: &Archive) -> Result<(), CrawlError> {
        gaps.find(&mut |take| {
            let each = self.logs.each(archive, &self.halt, &mut |_, settled| {
                take(&settled);
                Ok(())
            });
            each.map(|_| ())
        })
    }

    /// Counts what is lost and a run of the given addresses alone does not ask for. Nothing may be put in that is still
    /// to be asked for: what is counted is never visited.
    pub(super) fn put_off_lost(
        &self,
        gaps: &Gaps,
        frontier: &mut Frontier,
        archive: &Archive,
        named: &BTreeSet<String>,
    ) -> Result<(), CrawlError> {
        if !self.config.alone || gaps.is_empty() {
            return Ok(());
        }
        self.each_lost(gaps, archive, &mut |settled| {
            if named.contains(&settled.url) { Ok(()) } else { frontier.offer(&settled.url) }
        })?;
        frontier.count_put_off()
    }

    /// Puts in what is lost; in a run of the given addresses alone only what they name.
    pub(super) fn offer_lost(
        &self,
        gaps: &Gaps,
        frontier: &mut Frontier,
        archive: &Archive,
        named: &BTreeSet<String>,
    ) -> Result<(), CrawlError> {
        if gaps.is_empty() {
            return Ok(());
        }
        self.each_lost(gaps, archive, &mut |settled| {
            let is_asked = !self.config.alone || named.contains(&settled.url);
            if is_asked { frontier.offer_again(&settled.url, &settled.entry) } else { Ok(()) }
        })
    }

    /// Asks for what is lost and is found to be named by the given addresses, which alone the run asks for, by what it has
    /// visited by now; whether there is any. It was counted with what goes on waiting, and has not been asked for.
    pub(super) fn ask_lost_named(
        &self,
        frontier: &mut Frontier,
        archive: &Archive,
        replayed: &mut Replayed,
    ) -> Result<bool, CrawlError> {
        let lines = lines(self.given, self.seeds);
        let list = Extent::list(self.config, lines, self.wanted.now_s);
        let (known, _) = self.named_by(&list, archive, &|_| true)?;
        let (gaps, named, mut is_more) = (&replayed.gaps, &mut replayed.named, false);
        self.each_lost(gaps, archive, &mut |settled| {
            if known.contains(&settled.url) && named.insert(settled.url.clone()) {
                is_more = true;
                frontier.ask_lost(&settled.url, &settled.entry)?;
            }
            Ok(())
        })?;
        Ok(is_more)
    }

    /// Calls a function with the last visit of all that is lost and that the rules let be asked for.
    fn each_lost(
        &self,
        gaps: &Gaps,
        archive: &Archive,
        take: &mut dyn FnMut(&Settled) -> Result<(), CrawlError>,
    ) -> Result<(), CrawlError> {
        let sitemaps = self.sitemaps(archive)?;
        let each = self.logs.each(archive, &self.halt, &mut |_, mut settled| {
            if !gaps.is_last(&settled) {
                return Ok(());
            }
            sitemaps.claim(&mut settled);
            if self.is_wanted(&settled) { take(&settled) } else { Ok(()) }
        });
        each.map(|_| ())
    }

    /// Finds out which pages are still missing, now that the run is over, and which of them no run asks for as things are.
    pub(crate) fn count_missing(
        &self,
        replayed: &mut Replayed,
        frontier: &mut Frontier,
    ) -> Result<(), CrawlError> {
        if replayed.gaps.is_empty() {
            return Ok(());
        }
        let archive = Archive::open(&self.dirs.archive)?;
        self.logs.complete(&archive, self.answers, &self.halt)?;
        self.logs.each(&archive, &self.halt, &mut |_, settled| {
            replayed.gaps.mend(&settled);
            Ok(())
        })?;
        if replayed.gaps.is_empty() {
            return Ok(());
        }
        let sitemaps = self.sitemaps(&archive)?;
        let seeds: BTreeSet<&str> = self.seeds.iter().map(|seed| seed.url.as_str()).collect();
        self.logs.each(&archive, &self.halt, &mut |_, mut settled| {
            if replayed.gaps.is_last_of_page(&settled) {
                sitemaps.claim(&mut settled);
                let is_wanted = seeds.contains(settled.url.as_str()) || self.is_wanted(&settled);
                replayed.kept_out += u64::from(!is_wanted || frontier.bars(&settled.url)?);
            }
            Ok(())
        })?;
        Ok(())
    }
}
