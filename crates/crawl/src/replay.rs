//! Going on where an earlier run ended (W4): the visits of the archive once more, by their logs.
//!
//! What lives here: the passes over the visits. One puts the URLs into the sieve that need no further
//! visit, and remembers how often others were tried in vain; the last offers all that the visits led to, as if they had just taken place. A recrawl has a pass
//! before them, which finds out what is due again; and [`Again`], what a visit counts for in a recrawl. What
//! does not: the logs (`checkpoint/`), and when a page is due (`recrawl/`).
//!
//! **Invariant.** Afterwards the frontier is where it was when the last record was written, except
//! that hosts set aside are tried again that did not ask for it. A host keeps the silence that its last request
//! asks for.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use archive::Archive;
use page::Url;

use crate::answer::{Answers, Purpose};
use crate::checkpoint::{Settled, VisitLogs};
use crate::clock::Clock;
use crate::config::Config;
use crate::engine::Dirs;
use crate::error::CrawlError;
use crate::frontier::{Frontier, Tally};
use crate::recrawl::{Epoch, Extent, LastCaptures, Reading, Schedule};
use crate::rules::Rules;
use crate::seeds::Seed;
use crate::visited::{Visited, VisitedSeeds};

/// After so many archived visits it is looked whether the time of the run is over.
const VISITS_A_LOOK: u32 = 256;

/// What was found in the archive.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    /// Whether there was anything.
    pub(crate) resumed: bool,
    /// Records that could not be read.
    pub(crate) damaged: u64,
    /// What is wrong at the first of them that no earlier run has found.
    pub(crate) damage: Option<String>,
    /// The captures to compare answers with, if this is a recrawl.
    pub(crate) known: Option<Arc<LastCaptures>>,
    /// Addresses that are wanted first and need no visit, for they had one.
    pub(crate) visited: Visited,
}

/// What a replay needs.
pub(crate) struct Replay<'a> {
    pub(crate) dirs: &'a Dirs,
    pub(crate) config: &'a Config,
    pub(crate) rules: &'a Rules,
    pub(crate) logs: &'a VisitLogs,
    pub(crate) answers: &'a Answers,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) stop: &'a AtomicBool,
    /// The addresses that were given to the run; it has seeds of earlier ones as well.
    pub(crate) given: &'a [Seed],
    pub(crate) seeds: &'a [Seed],
}

/// A recrawl, and what is due in it.
pub(crate) struct Again {
    schedule: Schedule,
    /// For every file of the archive, whether it is from before.
    is_old: Vec<bool>,
}

impl Again {
    /// A recrawl of an archive of these files; it has to be told of every visit before it is asked.
    pub(crate) fn new(epoch: &Epoch, files: &[String]) -> Again {
        let is_old = files.iter().map(|file| epoch.is_old(file)).collect();
        Again { schedule: Schedule::new(epoch.extent.clone()), is_old }
    }

    /// Takes note of a visit, by the place of its file.
    pub(crate) fn note(&mut self, file: usize, settled: &Settled) {
        if self.is_old.get(file) == Some(&true) {
            self.schedule.note(file, settled);
        }
    }

    fn is_superseded(&self, file: usize, settled: &Settled) -> bool {
        self.is_old.get(file) == Some(&true)
            && settled.entry.purpose != Purpose::Robots
            && self.schedule.is_due(settled)
    }

    /// What a visit counts for.
    pub(crate) fn tally(&self, file: usize, settled: &Settled) -> Tally {
        match (self.is_superseded(file, settled), self.schedule.is_due(settled)) {
            (true, _) => Tally::Superseded,
            (false, true) => Tally::Anew,
            (false, false) => Tally::Again,
        }
    }
}

impl Replay<'_> {
    /// Brings an empty `frontier` to where the archive ends; `tick` is called at every visit.
    pub(crate) fn run(
        &self,
        frontier: &mut Frontier,
        seeds: &[String],
        tick: &mut dyn FnMut(&Frontier),
    ) -> Result<Replayed, CrawlError> {
        let dir: &Path = &self.dirs.archive;
        archive::repair_from(dir, &|name| self.logs.whole(name))?;
        let archive = Archive::open(dir)?;
        let found =
            self.logs.complete(&archive, self.answers, self.stop, &mut || tick(frontier))?;
        let again = self.again(&archive)?;
        let damage = found.map(|error| error.to_string());
        let mut replayed = Replayed { damage, ..Replayed::default() };
        let mut visited =
            VisitedSeeds::of(if self.given.is_empty() { self.seeds } else { self.given });
        replayed.damaged = self.logs.each(&archive, self.stop, &mut |file, settled| {
            replayed.resumed = true;
            tick(frontier);
            // A URL that was read as a robots.txt may yet be a page: some redirect it to the home page.
            let status = settled.answered.as_ref().map_or(0, |answered| answered.status);
            if settled.entry.purpose == Purpose::Robots {
                return Ok(());
            }
            if let Some(again) = again.as_ref().filter(|again| again.is_superseded(file, &settled))
            {
                if settled.entry.tries(status) > 0 && !again.schedule.has_answered_since(&settled) {
                    frontier.put_last(&settled.url);
                }
                return Ok(());
            }
            if frontier.is_final(&settled.entry, status) {
                visited.note(&settled);
                return frontier.offer(&settled.url);
            }
            frontier.note_tries(&settled.url, settled.entry.tries(status));
            Ok(())
        })?;
        frontier.forget()?;
        replayed.visited = visited.told();
        // What is known comes before what is new, which a limit on a host's pages may keep out.
        if let Some(again) = &again {
            self.logs.each(&archive, self.stop, &mut |file, settled| {
                if again.is_superseded(file, &settled) && self.is_wanted(&settled) {
                    frontier.offer_again(&settled.url, &settled.entry)?;
                }
                Ok(())
            })?;
        }
        for seed in seeds {
            frontier.offer_seed(seed)?;
        }
        self.find_given(frontier, &archive)?;
        self.logs.each(&archive, self.stop, &mut |file, mut settled| {
            tick(frontier);
            let again = again.as_ref();
            let tally = again.map_or(Tally::Again, |again| again.tally(file, &settled));
            settled.read_robots(self.answers);
            self.answers.know_body(&settled);
            let Settled { url, entry, date_s, answered, .. } = settled;
            frontier.replay(&url, &entry, date_s, answered, tally)
        })?;
        self.read_nearer(frontier, &archive)?;
        frontier.end_replay(self.clock.now_ms(), self.clock.unix_s())?;
        replayed.known = again.map(|again| {
            let reading = Reading::of(self.config);
            Arc::new(again.schedule.into_captures(archive, reading))
        });
        Ok(replayed)
    }

    /// Looks once more at what pages lead to that are nearer than they were taken for when they were visited,
    /// now that the run has come to its end; whether there is more to visit.
    pub(crate) fn go_on(&self, frontier: &mut Frontier) -> Result<bool, CrawlError> {
        if !frontier.has_nearer() {
            return Ok(false);
        }
        let archive = Archive::open(&self.dirs.archive)?;
        self.logs.complete(&archive, self.answers, self.stop, &mut || {})?;
        self.read_nearer(frontier, &archive)?;
        frontier.flush(self.clock.now_ms())?;
        Ok(!frontier.is_done())
    }

    /// The same until none is nearer, since what they lead to may be nearer, too; or until the time is over.
    fn read_nearer(&self, frontier: &mut Frontier, archive: &Archive) -> Result<(), CrawlError> {
        let mut is_over = false;
        while frontier.has_nearer() && !is_over && !self.stop.load(Ordering::Relaxed) {
            frontier.begin_pass();
            let mut visits = 0_u32;
            self.logs.each(archive, self.stop, &mut |_, settled| {
                visits = visits.wrapping_add(1);
                if visits.is_multiple_of(VISITS_A_LOOK) {
                    is_over = is_over || frontier.is_time_over(self.clock.now_ms());
                }
                if is_over {
                    return Ok(());
                }
                frontier.read_again(&settled.url, &settled.entry, settled.answered)
            })?;
            frontier.end_pass();
            is_over = is_over || frontier.is_time_over(self.clock.now_ms());
        }
        Ok(())
    }

    /// Finds out what the given URLs have led to, where nothing else is visited.
    fn find_given(&self, frontier: &mut Frontier, archive: &Archive) -> Result<(), CrawlError> {
        let mut is_more = !self.config.follow;
        while is_more && !self.stop.load(Ordering::Relaxed) {
            is_more = false;
            self.logs.each(archive, self.stop, &mut |_, mut settled| {
                if let Some(answered) = &mut settled.answered {
                    is_more |= frontier.find_given(&settled.url, settled.entry.purpose, answered);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Counts, now that the run is over, what it has left to one that follows links.
    pub(crate) fn count_held(&self, frontier: &mut Frontier) -> Result<(), CrawlError> {
        if self.config.follow {
            return Ok(());
        }
        let archive = Archive::open(&self.dirs.archive)?;
        self.logs.complete(&archive, self.answers, self.stop, &mut || {})?;
        frontier.flush(self.clock.now_ms())?;
        self.logs.each(&archive, self.stop, &mut |_, mut settled| match &mut settled.answered {
            Some(answered) => frontier.offer_held(&settled.url, settled.entry.purpose, answered),
            None => Ok(()),
        })?;
        frontier.count_held()
    }

    /// Whether the rules let a known URL be asked for again: they may be others than when it was found.
    fn is_wanted(&self, settled: &Settled) -> bool {
        let Ok(url) = Url::parse(&settled.url) else { return false };
        let depth_max = self.config.depth_max;
        match settled.entry.purpose {
            Purpose::Page => {
                self.rules.check(&url).is_ok()
                    && (depth_max == 0 || settled.entry.depth <= depth_max)
            }
            _ => self.rules.check_sitemap(&url).is_ok(),
        }
    }

    /// Whether earlier runs have received as many bytes as there may be, so that nothing can be asked for.
    fn is_full(&self, archive: &Archive) -> Result<bool, CrawlError> {
        let bytes_max = self.config.bytes_max;
        let mut bytes = 0;
        if bytes_max > 0 {
            self.logs.each(archive, self.stop, &mut |_, settled| {
                bytes += settled.answered.map_or(0, |answered| answered.bytes);
                Ok(())
            })?;
        }
        Ok(bytes_max > 0 && bytes >= bytes_max)
    }

    /// The recrawl that this run is, if it is one.
    fn again(&self, archive: &Archive) -> Result<Option<Again>, CrawlError> {
        if !self.config.store {
            return Ok(None);
        }
        let (now_s, files) = (self.clock.unix_s(), archive.files());
        let wanted = Extent::of(self.config, self.given, now_s);
        let wanted = if wanted.is_some() && self.is_full(archive)? { None } else { wanted };
        let begun = Epoch::begin(&self.dirs.frontier, wanted, files, now_s)?;
        let Some(epoch) = begun else { return Ok(None) };
        let mut again = Again::new(&epoch, files);
        self.logs.each(archive, self.stop, &mut |file, settled| {
            again.note(file, &settled);
            Ok(())
        })?;
        Ok(Some(again))
    }
}
