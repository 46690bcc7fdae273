//! Going on where an earlier run ended (W4): the visits of the archive once more, by their logs.
//!
//! What lives here: the passes over the visits. One puts the URLs into the sieve that need no further
//! visit, and remembers how often others were tried in vain; the last offers all that the visits led to, as if they had just taken place. A recrawl has a pass
//! before them, which finds out what is due again; and [`Again`], what a visit counts for in a recrawl.
//! `replay/lost.rs` is what the archive has lost, `replay/named.rs` what a list turns out to name while it is visited,
//! `replay/sitemaps.rs` what is asked for as a sitemap, `replay/spells.rs` what hosts are to blame for. What does not: the
//! logs (`checkpoint/`), and when a page is due (`recrawl/`).
//!
//! **Invariant.** Afterwards the frontier is where it was when the last record was written, except
//! that hosts set aside are tried again that did not ask for it. A host keeps the silence that its last request
//! asks for.

mod lost;
mod named;
mod sitemaps;
mod spells;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use archive::Archive;
use page::Url;
use sieve::{Signature, signature};

use crate::answer::{Answers, Purpose};
use crate::asked::Asked;
use crate::checkpoint::{Settled, VisitLogs, tells_all};
use crate::clock::Clock;
use crate::config::Config;
use crate::engine::Dirs;
use crate::error::CrawlError;
use crate::frontier::{Frontier, Tally};
use crate::gaps::Gaps;
use crate::halt::Halt;
use crate::order::Blame;
use crate::recrawl::{
    Alone, Epoch, Epochs, Extent, LastCaptures, Reading, Schedule, Wanted, lines,
};
use crate::rests::Rests;
use crate::rules::Rules;
use crate::seeds::{Seed, Start};
use crate::share::Changing;
use crate::untold::Untold;
use crate::visited::{Visited, VisitedSeeds};

use spells::Spells;

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
    /// Files of the archive that are gone, which no earlier run has told of.
    pub(crate) gone: BTreeSet<String>,
    /// Those that have become shorter.
    pub(crate) shortened: BTreeSet<String>,
    /// Whether a recrawl is not over.
    pub(crate) is_recrawl: bool,
    /// The captures to compare answers with, if known URLs are asked for again.
    pub(crate) known: Option<Arc<LastCaptures>>,
    /// The limit that keeps a recrawl that is wanted from being begun, as its key.
    pub(crate) unbegun: Option<&'static str>,
    /// Whether the run has ended before all was found: then nothing of this is whole.
    pub(crate) is_cut: bool,
    /// What alone the run may ask for, if that is so.
    pub(crate) alone: Option<Alone>,
    /// How many lists the run goes on with, and the known URLs that they are known to name.
    pub(crate) lists: usize,
    pub(crate) named: BTreeSet<String>,
    /// Addresses that are wanted first and need no visit, for they had one.
    pub(crate) visited: Visited,
    /// How many pages were missing in the archive, and which.
    pub(crate) lost: u64,
    pub(crate) gaps: Gaps,
    /// How many of those that are still missing are kept out as things are.
    pub(crate) kept_out: u64,
}

/// What a replay needs.
pub(crate) struct Replay<'a> {
    pub(crate) dirs: &'a Dirs,
    pub(crate) config: &'a Config,
    pub(crate) rules: &'a Rules,
    pub(crate) logs: &'a VisitLogs,
    pub(crate) answers: &'a Answers,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) halt: Halt<'a>,
    /// The addresses that were given to the run; it has seeds of earlier ones as well.
    pub(crate) given: &'a [Seed],
    pub(crate) seeds: &'a [Seed],
    /// What the run is asked to ask for again.
    pub(crate) wanted: &'a Wanted,
}

/// The recrawls that are not over, and what is due in them.
pub(crate) struct Again {
    parts: Vec<Part>,
    /// The URLs that alone are asked for, if that is so.
    alone: Option<BTreeSet<String>>,
}

/// One of them.
struct Part {
    schedule: Schedule,
    /// For every file of the archive, whether it is from before.
    is_old: Vec<bool>,
}

impl Part {
    fn is_old(&self, file: usize) -> bool {
        self.is_old.get(file) == Some(&true)
    }

    /// How many files are from before; the later it began, the more.
    fn age(&self) -> usize {
        self.is_old.iter().filter(|is_old| **is_old).count()
    }
}

impl Again {
    /// The recrawls of an archive of these files, if there are any; they have to be told of every visit before they
    /// are asked.
    pub(crate) fn new(epochs: &Epochs, files: &[String]) -> Option<Again> {
        let part = |epoch: &Epoch| Part {
            schedule: Schedule::new(epoch.extent.clone()),
            is_old: files.iter().map(|file| epoch.is_old(file)).collect(),
        };
        // What a list names is asked for by those of what was given, as soon as it is known.
        let is_list = |epoch: &&Epoch| matches!(epoch.extent, Extent::List { .. });
        let parts: Vec<Part> = epochs.iter().filter(|epoch| !is_list(epoch)).map(part).collect();
        (!parts.is_empty()).then_some(Again { parts, alone: None })
    }

    /// The recrawl of a list, of what it names.
    pub(crate) fn of_list(list: &Epoch, files: &[String]) -> Again {
        let extent = match list.extent {
            Extent::List { due: Some(due), .. } => Extent::Due(due),
            _ => Extent::All,
        };
        let is_old = files.iter().map(|file| list.is_old(file)).collect();
        Again { parts: vec![Part { schedule: Schedule::new(extent), is_old }], alone: None }
    }

    /// Takes note of a visit, by the place of its file.
    pub(crate) fn note(&mut self, file: usize, settled: &Settled) {
        for part in self.parts.iter_mut().filter(|part| part.is_old(file)) {
            part.schedule.note(file, settled);
        }
    }

    /// Whether the run may ask for a URL.
    fn is_asked(&self, settled: &Settled) -> bool {
        self.alone.as_ref().is_none_or(|urls| urls.contains(&settled.url))
    }

    /// Whether a URL is one of those that alone are asked for.
    fn names(&self, settled: &Settled) -> bool {
        self.alone.as_ref().is_some_and(|urls| urls.contains(&settled.url))
    }

    /// Whether a visit is from before, and its URL due again.
    pub(crate) fn is_old(&self, file: usize, settled: &Settled) -> bool {
        settled.entry.purpose != Purpose::Robots
            && self.parts.iter().any(|part| part.is_old(file) && part.schedule.is_due(settled))
    }

    fn is_superseded(&self, file: usize, settled: &Settled) -> bool {
        self.is_asked(settled) && self.is_old(file, settled)
    }

    /// Whether a URL is due again, and not asked for by this run.
    fn is_put_off(&self, file: usize, settled: &Settled) -> bool {
        !self.is_asked(settled) && self.is_old(file, settled)
    }

    /// What a visit counts for.
    pub(crate) fn tally(&self, file: usize, settled: &Settled) -> Tally {
        let is_due = || self.parts.iter().any(|part| part.schedule.is_due(settled));
        match self.is_superseded(file, settled) {
            true => Tally::Superseded,
            false if self.is_asked(settled) && is_due() => Tally::Anew,
            false => Tally::Again,
        }
    }

    /// The one that knows the most visits: that which began last.
    fn last(self) -> Option<Schedule> {
        self.parts.into_iter().max_by_key(Part::age).map(|part| part.schedule)
    }

    fn has_answered_since(&self, vain: &Settled) -> bool {
        self.parts.iter().any(|part| part.schedule.has_answered_since(vain))
    }
}

/// Takes note of how often a URL was tried by a visit; whether the visit has settled it for good.
fn note_try(frontier: &mut Frontier, spells: &mut Spells, settled: &Settled) -> bool {
    let (entry, url) = (&settled.entry, &settled.url);
    let status = settled.answered.as_ref().map_or(0, |answered| answered.status);
    let is_final = frontier.is_final(entry, status);
    let tries = if is_final { 0 } else { entry.tries(status) };
    if entry.is_against_host(status) {
        spells.note(settled, tries);
    } else {
        frontier.note_tries(signature(url.as_bytes()), tries, Blame::Own);
    }
    if !is_final {
        frontier.note_vain(url, entry, status);
    }
    is_final
}

/// The URLs that count anew, each once: a page may be given, and asked for, beside a recrawl that has had it.
#[derive(Default)]
struct Counted(HashSet<Signature>);

impl Counted {
    /// What a visit counts for.
    fn tally(&mut self, again: Option<&Again>, file: usize, settled: &Settled) -> Tally {
        match again.map_or(Tally::Again, |again| again.tally(file, settled)) {
            // The answer that is still to come counts for the page.
            Tally::Anew if settled.entry.is_inconclusive => Tally::Anew,
            Tally::Anew if !self.0.insert(signature(settled.url.as_bytes())) => Tally::Again,
            tally => tally,
        }
    }
}

impl Replay<'_> {
    /// Brings an empty `frontier` to where the archive ends; `tick` is called at every visit.
    pub(crate) fn run(
        &self,
        frontier: &mut Frontier,
        seeds: &[Start],
        tick: &mut dyn FnMut(&Frontier),
    ) -> Result<Replayed, CrawlError> {
        let archive = Archive::open(&self.dirs.archive)?;
        let mut gaps = Gaps::default();
        self.doubt_asked(&archive)?;
        let untold = Untold::keep(&self.dirs.frontier, &archive)?;
        let (shortened, gone) =
            untold.into_names().partition(|name| archive.files().contains(name));
        self.keep_rests(frontier, &archive)?;
        let found =
            self.logs.complete_noting(&archive, self.answers, &self.halt, &mut |visit| {
                tick(frontier);
                if let Some(settled) = visit {
                    gaps.note(settled);
                }
            })?;
        let damage = found.map(|error| error.to_string());
        let damage = damage.or(Untold::damage(&self.dirs.frontier)?);
        let mut replayed = Replayed { damage, gone, shortened, ..Replayed::default() };
        let again = self.again(&archive, &mut replayed)?;
        self.find_gaps(&mut gaps, &archive)?;
        if self.halt.was_called() {
            replayed.is_cut = true;
            return Ok(replayed);
        }
        replayed.lost = gaps.pages();
        let (again_of, mut changing) = (again.as_ref(), Changing::default());
        changing.note_gaps(&mut gaps);
        let answered = self.put_in_known(
            frontier,
            &archive,
            (again_of, &gaps),
            &mut changing,
            &mut replayed,
            tick,
        )?;
        // What is known comes before what is new, which a limit on a host's pages may keep out.
        let mut is_asking = !self.config.alone;
        self.put_off_lost(&gaps, frontier, &archive, &replayed.named)?;
        if let Some(again) = again_of {
            self.put_off(again, frontier, &archive)?;
            is_asking |= self.offer_due(again, frontier, &archive, &answered)?;
        }
        self.offer_lost(&gaps, frontier, &archive, &replayed.named)?;
        for seed in seeds {
            frontier.offer_seed(seed)?;
        }
        self.find_given(frontier, &archive)?;
        let mut counted = Counted::default();
        self.logs.each(&archive, &self.halt, &mut |file, mut settled| {
            tick(frontier);
            let tally = if gaps.has(&settled) {
                Tally::Superseded
            } else {
                counted.tally(again_of, file, &settled)
            };
            let recount = changing.count(&settled, tally, &gaps);
            settled.read_robots(self.answers);
            self.answers.know_body(&settled);
            let date = settled.date();
            let Settled { url, entry, answered, .. } = settled;
            frontier.replay(&url, &entry, date, answered, (tally, recount))
        })?;
        self.read_nearer(frontier, &archive)?;
        replayed.is_cut = self.halt.was_called();
        self.halt.forget_time();
        let asked = Asked::read(&self.dirs.frontier);
        frontier.end_replay(self.clock.over_ms(), self.clock.date(), asked)?;
        let last = again.filter(|_| is_asking).and_then(Again::last);
        let reading = Reading::of(self.config);
        replayed.known = last.map(|last| Arc::new(last.into_captures(archive, reading)));
        replayed.gaps = gaps;
        Ok(replayed)
    }

    /// Takes note that anybody may have been asked, if visits are lost of which nothing tells, before logs are made anew.
    fn doubt_asked(&self, archive: &Archive) -> Result<(), CrawlError> {
        let dir = &self.dirs.frontier;
        match Asked::read(dir).filter(|asked| !asked.is_open) {
            Some(asked) if !tells_all(dir, archive)? => asked.doubt(dir),
            _ => Ok(()),
        }
    }

    /// Takes note of what hosts asked for in files that are gone, before the logs go that tell of it.
    fn keep_rests(&self, frontier: &mut Frontier, archive: &Archive) -> Result<(), CrawlError> {
        let (dir, now) = (&self.dirs.frontier, self.clock.date());
        let rests = Rests::keep(dir, archive, self.answers, now)?;
        rests.iter().for_each(|(site, rest)| frontier.keep_rest(site, &rest.as_of(now)));
        Ok(())
    }

    /// Counts how often URLs were tried in vain, but for the tries that their hosts are to blame for.
    fn count_tries(
        &self,
        mut spells: Spells,
        frontier: &mut Frontier,
        archive: &Archive,
    ) -> Result<(), CrawlError> {
        let pages_max = usize::try_from(self.config.host_failures_max).unwrap_or(usize::MAX);
        if spells.sort() {
            self.logs.each(archive, &self.halt, &mut |_, settled| {
                let status = settled.answered.as_ref().map_or(0, |answered| answered.status);
                if settled.entry.is_good(status) {
                    spells.answer(&settled);
                }
                Ok(())
            })?;
        }
        let take = &mut |url, tries, blame| frontier.note_tries(url, tries, blame);
        spells.count(pages_max, take);
        Ok(())
    }

    /// Puts the URLs into the sieve that need no further visit, and takes note of how others were tried; those of the
    /// ones that alone are asked for which have had an answer.
    fn put_in_known(
        &self,
        frontier: &mut Frontier,
        archive: &Archive,
        (again, gaps): (Option<&Again>, &Gaps),
        changing: &mut Changing,
        replayed: &mut Replayed,
        tick: &mut dyn FnMut(&Frontier),
    ) -> Result<BTreeSet<String>, CrawlError> {
        let mut visited = VisitedSeeds::of(self.listed());
        let (mut answered, mut spells) = (BTreeSet::new(), Spells::default());
        replayed.damaged = self.logs.each(archive, &self.halt, &mut |file, settled| {
            replayed.resumed = true;
            tick(frontier);
            changing.note(&settled);
            // A URL that was read as a robots.txt may yet be a page: some redirect it to the home page.
            let status = settled.answered.as_ref().map_or(0, |answered| answered.status);
            if settled.entry.purpose == Purpose::Robots {
                return Ok(());
            }
            let (is_lost, is_final) =
                (gaps.is_of(&settled), frontier.is_final(&settled.entry, status));
            if is_lost {
                frontier.note_lost(&settled.url);
            }
            if let Some(again) = again.filter(|again| again.is_old(file, &settled)) {
                if settled.entry.is_vain(status) && !again.has_answered_since(&settled) {
                    if is_final {
                        frontier.note_given_up(&settled.url);
                    } else if settled.entry.blames_host {
                        frontier.note_unclear(&settled.url);
                    } else {
                        frontier.put_last(&settled.url);
                    }
                }
                return Ok(());
            }
            // It is asked for until it answers.
            if is_lost && is_final {
                return Ok(());
            }
            if note_try(frontier, &mut spells, &settled) {
                visited.note(&settled);
                frontier.offer(&settled.url)?;
                if again.is_some_and(|again| again.names(&settled)) {
                    answered.insert(settled.url);
                }
            }
            Ok(())
        })?;
        self.count_tries(spells, frontier, archive)?;
        frontier.forget()?;
        replayed.visited = visited.told();
        Ok(answered)
    }

    /// Puts in what is due again; whether there is anything but what was `answered` since.
    fn offer_due(
        &self,
        again: &Again,
        frontier: &mut Frontier,
        archive: &Archive,
        answered: &BTreeSet<String>,
    ) -> Result<bool, CrawlError> {
        let mut is_asking = false;
        let sitemaps = self.sitemaps(archive)?;
        self.logs.each(archive, &self.halt, &mut |file, mut settled| {
            if !again.is_superseded(file, &settled) {
                return Ok(());
            }
            sitemaps.claim(&mut settled);
            if self.is_wanted(&settled) {
                is_asking |= !answered.contains(&settled.url);
                frontier.offer_again(&settled.url, &settled.entry)?;
            }
            Ok(())
        })?;
        Ok(is_asking)
    }

    /// The addresses that the run was given, or else those of earlier runs.
    fn listed(&self) -> &[Seed] {
        if self.given.is_empty() { self.seeds } else { self.given }
    }

    /// Counts what the recrawls that are not over ask for, and this run does not.
    fn put_off(
        &self,
        again: &Again,
        frontier: &mut Frontier,
        archive: &Archive,
    ) -> Result<(), CrawlError> {
        if again.alone.is_none() {
            return Ok(());
        }
        self.logs.each(archive, &self.halt, &mut |file, settled| {
            if again.is_put_off(file, &settled) && self.is_wanted(&settled) {
                frontier.offer(&settled.url)?;
            }
            Ok(())
        })?;
        frontier.count_put_off()
    }

    /// Looks once more at what pages lead to that are nearer than they were taken for when they were visited,
    /// now that the run has come to its end; whether there is more to visit.
    pub(crate) fn go_on(&self, frontier: &mut Frontier) -> Result<bool, CrawlError> {
        if !frontier.has_nearer() {
            return Ok(false);
        }
        let archive = Archive::open(&self.dirs.archive)?;
        self.logs.complete(&archive, self.answers, &self.halt)?;
        self.read_nearer(frontier, &archive)?;
        frontier.flush(self.clock.now_ms())?;
        Ok(!frontier.is_done())
    }

    /// The same until none is nearer, since what they lead to may be nearer, too; or until the time is over.
    fn read_nearer(&self, frontier: &mut Frontier, archive: &Archive) -> Result<(), CrawlError> {
        let mut is_over = false;
        while frontier.has_nearer() && !is_over && !self.halt.is_called() {
            frontier.begin_pass();
            let mut visits = 0_u32;
            self.logs.each(archive, &self.halt, &mut |_, settled| {
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
        while is_more && !self.halt.is_called() {
            is_more = false;
            self.logs.each(archive, &self.halt, &mut |_, mut settled| {
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
        self.logs.complete(&archive, self.answers, &self.halt)?;
        frontier.flush(self.clock.now_ms())?;
        if self.config.alone {
            self.count_earlier(frontier, &archive)?;
        }
        self.logs.each(
            &archive,
            &self.halt,
            &mut |_, mut settled| match &mut settled.answered {
                Some(answered) => {
                    frontier.offer_held(&settled.url, settled.entry.purpose, answered)
                }
                None => Ok(()),
            },
        )?;
        frontier.count_held()
    }

    /// Counts, now that a run of the given addresses alone is over, what those of earlier runs would lead to.
    fn count_earlier(&self, frontier: &mut Frontier, archive: &Archive) -> Result<(), CrawlError> {
        for seed in self.seeds {
            frontier.give(&seed.line());
            frontier.offer(seed.url.as_str())?;
        }
        self.find_given(frontier, archive)?;
        self.logs.each(archive, &self.halt, &mut |_, mut settled| match &mut settled.answered {
            Some(answered) => frontier.offer_given(&settled.url, settled.entry.purpose, answered),
            None => Ok(()),
        })?;
        frontier.count_put_off()
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
            self.logs.each(archive, &self.halt, &mut |_, settled| {
                bytes += settled.answered.map_or(0, |answered| answered.bytes);
                Ok(())
            })?;
        }
        Ok(bytes_max > 0 && bytes >= bytes_max)
    }

    /// The recrawls that this run belongs to, if there are any.
    fn again(
        &self,
        archive: &Archive,
        replayed: &mut Replayed,
    ) -> Result<Option<Again>, CrawlError> {
        if !self.config.store {
            return Ok(None);
        }
        let now_s = self.wanted.now_s;
        let mut wanted = self.wanted.extent.clone();
        let is_full = wanted.is_some() && self.is_full(archive)?;
        if self.config.alone {
            let lines = lines(self.given, self.seeds);
            let extent = Extent::list(self.config, lines.clone(), now_s);
            let (known, due) = self.named_by(&extent, archive, &|_| true)?;
            wanted = wanted.filter(|_| !due.is_empty()).map(|_| Extent::Given(due));
            replayed.named.clone_from(&known);
            replayed.alone = Some(Alone { urls: known, lines });
        }
        let unwanted = wanted.filter(|_| is_full);
        // What was found so far may be less than all that is wanted.
        if self.halt.was_called() {
            return Ok(None);
        }
        let frontier = &self.dirs.frontier;
        if is_full {
            self.wanted.take_back(frontier)?;
        }
        self.go_on_with_lists(archive, replayed, now_s)?;
        let epochs = Epochs::read(frontier)?;
        let has_not_begun = unwanted.is_some_and(|unwanted| !epochs.has_some_of(&unwanted));
        replayed.unbegun = has_not_begun.then_some("bytes_max");
        replayed.is_recrawl = epochs.iter().next().is_some();
        let again = self.note_all(&epochs, archive)?;
        let alone = replayed.alone.as_ref().map(|alone| alone.urls.clone());
        Ok(again.map(|again| Again { alone, ..again }))
    }

    /// What is due in these recrawls, if there are any, by all visits of the archive.
    fn note_all(&self, epochs: &Epochs, archive: &Archive) -> Result<Option<Again>, CrawlError> {
        let Some(mut again) = Again::new(epochs, archive.files()) else { return Ok(None) };
        self.logs.each(archive, &self.halt, &mut |file, settled| {
            again.note(file, &settled);
            Ok(())
        })?;
        Ok(Some(again))
    }
}
