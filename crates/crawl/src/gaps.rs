//! What is missing in the archive though later visits tell of it.
//!
//! What lives here: [`Gaps`], which finds by the visits of the archive the URLs of which only is left that they were as
//! before, since the record with the body is in a file that is gone or damaged; and those whose visits do not add up, so
//! that what each was before does not tell how many pages there are: they lack one, or two files have the same, or a file
//! was gone for a while and its URLs were asked for as new. What does not: asking for them again (`replay.rs`),
//! and counting (`share.rs`). [`Bodies`] finds the same for whoever reads the archive anyway.
//!
//! **Invariant.** A URL is lost if and only if its last answer that tells refers to a body that no visit has.
//!
//! The visits are gone through two times, and two times more only if a body is missing. Until then about fifty bytes are
//! kept for a URL that was compared with an earlier answer, and two to four for others.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use archive::{Archive, Kind, Record};
use sieve::{Repeats, Signature, signature};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::answer::Purpose;
use crate::checkpoint::Settled;
use crate::clock::Moment;
use crate::error::CrawlError;
use crate::journal::{Entry, refers_to};
use crate::outcome::Answered;
use crate::share::tells;

/// What is missing.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    /// How many answers a URL has that were compared with none before, of those that have one which was.
    firsts: HashMap<u64, u8>,
    /// The bodies that answers refer to: a hash of URL and moment.
    bodies: HashSet<u64>,
    lost: HashMap<u64, Loss>,
    /// The visits that count, and the URLs of those that seem to be there twice.
    counted: Repeats,
    twice: HashSet<u64>,
}

/// Of a URL that is lost.
#[derive(Debug, Clone, Copy)]
struct Loss {
    /// When it was last found as it was before.
    date: Moment,
    /// Whether that is a page, and not a sitemap, a redirect or an error.
    is_page: bool,
}

impl Loss {
    fn of(settled: &Settled, answered: &Answered) -> Loss {
        let is_page = settled.entry.purpose == Purpose::Page && answered.is_page();
        Loss { date: settled.date(), is_page }
    }
}

/// Hands all visits to a function, each time that it is called.
pub(crate) type Visits<'a> = dyn FnMut(&mut dyn FnMut(&Settled)) -> Result<(), CrawlError> + 'a;

impl Gaps {
    /// Takes note of a visit. When it was told of all, it is to [look](Self::find) for what is missing.
    pub(crate) fn note(&mut self, settled: &Settled) {
        if counted(settled).is_some_and(|visit| self.counted.note(visit)) {
            self.twice.insert(place(settled));
        }
        let Some(answered) = answer(settled).filter(|answered| answered.before > 0) else { return };
        self.firsts.entry(place(settled)).or_default();
        if answered.unchanged && !settled.entry.is_inconclusive {
            self.bodies.extend(referred(settled));
        }
    }

    /// Looks for what is missing.
    pub(crate) fn find(&mut self, visits: &mut Visits<'_>) -> Result<(), CrawlError> {
        self.counted = Repeats::default();
        if self.firsts.is_empty() {
            return Ok(());
        }
        visits(&mut |settled| {
            let Some(answered) = answer(settled) else { return };
            if !answered.unchanged && !answered.is_unstored && !self.bodies.is_empty() {
                for body in bodies_of(&settled.url, settled.date()) {
                    self.bodies.remove(&body);
                }
            }
            if answered.before == 0
                && tells(&settled.entry, answered)
                && let Some(firsts) = self.firsts.get_mut(&place(settled))
            {
                *firsts = firsts.saturating_add(1);
            }
        })?;
        self.firsts.retain(|_, firsts| *firsts != 1);
        if self.bodies.is_empty() {
            return Ok(());
        }
        let mut lasts: HashMap<u64, (Loss, bool)> = HashMap::new();
        visits(&mut |settled| {
            if let Some(answered) = answer(settled).filter(|_| self.is_bare(settled)) {
                lasts.insert(place(settled), (Loss::of(settled, answered), true));
            }
        })?;
        visits(&mut |settled| {
            if let Some(answered) = answer(settled)
                && tells(&settled.entry, answered)
                && let Some(last) = lasts.get_mut(&place(settled))
                && last.0.date <= settled.date()
            {
                *last = (Loss::of(settled, answered), self.is_bare(settled));
            }
        })?;
        lasts.retain(|_, (_, is_bare)| *is_bare);
        self.lost = lasts.into_iter().map(|(place, (loss, _))| (place, loss)).collect();
        Ok(())
    }

    /// Whether a visit is one without the body that it refers to.
    fn is_bare(&self, settled: &Settled) -> bool {
        let is_unchanged = answer(settled).is_some_and(|answered| answered.unchanged);
        is_unchanged && referred(settled).is_some_and(|body| self.bodies.contains(&body))
    }

    /// Whether nothing is lost.
    pub(crate) fn is_empty(&self) -> bool {
        self.lost.is_empty()
    }

    /// How many pages are lost; other URLs that are do not count.
    pub(crate) fn pages(&self) -> u64 {
        self.lost.values().filter(|loss| loss.is_page).count() as u64
    }

    /// Whether the URL of a visit is lost.
    pub(crate) fn is_of(&self, settled: &Settled) -> bool {
        self.has_url(&settled.url)
    }

    /// Whether a URL is lost.
    pub(crate) fn has_url(&self, url: &str) -> bool {
        !self.lost.is_empty() && self.lost.contains_key(&signature(url.as_bytes()).0)
    }

    /// Whether the URL of a visit is lost, and the visit not one that was made since.
    pub(crate) fn has(&self, settled: &Settled) -> bool {
        !self.lost.is_empty()
            && settled.entry.purpose != Purpose::Robots
            && self.lost.get(&place(settled)).is_some_and(|loss| settled.date() <= loss.date)
    }

    /// Whether a visit is the last one that says of a lost URL that it is as before.
    pub(crate) fn is_last(&self, settled: &Settled) -> bool {
        let loss = self.lost.get(&place(settled)).filter(|_| self.has(settled));
        loss.is_some_and(|loss| loss.date == settled.date())
    }

    /// The same of a page.
    pub(crate) fn is_last_of_page(&self, settled: &Settled) -> bool {
        self.is_last(settled) && self.lost.get(&place(settled)).is_some_and(|loss| loss.is_page)
    }

    /// Takes note that a lost URL has had an answer since.
    pub(crate) fn mend(&mut self, settled: &Settled) {
        let is_answer = answer(settled).is_some_and(|answered| tells(&settled.entry, answered));
        let loss = self.lost.get(&place(settled)).filter(|_| is_answer);
        if loss.is_some_and(|loss| settled.date() > loss.date) {
            self.lost.remove(&place(settled));
        }
    }

    /// Hands out the URLs whose visits do not add up, by their signatures, and some others.
    pub(crate) fn take_uneven(&mut self) -> impl Iterator<Item = u64> {
        let (twice, firsts) = (std::mem::take(&mut self.twice), std::mem::take(&mut self.firsts));
        twice.into_iter().chain(firsts.into_keys()).chain(self.lost.keys().copied())
    }
}

/// A URL that is lost, as it was when it was last found as before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The URL.
    pub url: String,
    /// What it was asked for.
    pub purpose: Purpose,
    /// How far it was from the first page of its site.
    pub depth: u16,
    /// Whether it was a page then, and not a sitemap, a redirect or an error.
    pub is_page: bool,
}

/// Finds the same in an archive that is read from its first record to its last.
#[derive(Debug, Default)]
pub struct Bodies {
    /// Those that were read, and those that others refer to, with the URL.
    had: HashSet<u64>,
    wanted: HashMap<u64, String>,
}

impl Bodies {
    /// Takes note of a record.
    pub fn note(&mut self, record: &Record) {
        let Some(url) = &record.target else { return };
        match record.kind {
            Kind::Response => {
                for body in bodies_of(url, Moment { s: record.date_s, us: record.date_us }) {
                    self.wanted.remove(&body);
                    self.had.insert(body);
                }
            }
            // One of another crawler says nothing of a visit.
            Kind::Revisit if Entry::read(record).is_some() => {
                let body = refers_to(record).map(|date| body_of(url, date));
                if let Some(body) = body.filter(|body| !self.had.contains(body)) {
                    self.wanted.insert(body, url.clone());
                }
            }
            _ => {}
        }
    }

    /// What is lost, after all records were told; what cannot be read is as if it were not there.
    pub fn lost(self, archive: &Archive) -> Result<Vec<Lost>, CrawlError> {
        let urls: BTreeSet<String> = self.wanted.into_values().collect();
        if urls.is_empty() {
            return Ok(Vec::new());
        }
        let mut visits: Vec<Settled> = Vec::new();
        for record in archive.records().filter_map(Result::ok) {
            if record.target.as_ref().is_some_and(|url| urls.contains(url)) {
                visits.extend(Settled::outline(&record));
            }
        }
        let mut gaps = Gaps::default();
        for settled in &visits {
            gaps.note(settled);
        }
        gaps.find(&mut |take| {
            visits.iter().for_each(&mut *take);
            Ok(())
        })?;
        let lost = visits.into_iter().filter(|settled| gaps.is_last(settled));
        let lost: BTreeMap<String, Lost> = lost
            .map(|settled| {
                let is_page = gaps.is_last_of_page(&settled);
                let Entry { purpose, depth, .. } = settled.entry;
                (settled.url.clone(), Lost { url: settled.url, purpose, depth, is_page })
            })
            .collect();
        Ok(lost.into_values().collect())
    }
}

/// The answer of a visit, unless it was for a robots.txt.
fn answer(settled: &Settled) -> Option<&Answered> {
    settled.answered.as_ref().filter(|_| settled.entry.purpose != Purpose::Robots)
}

fn place(settled: &Settled) -> u64 {
    signature(settled.url.as_bytes()).0
}

/// What a visit counts by, if it may change how many pages there are: the first answer of a URL by the URL, since no other is
/// to be a first; one that was compared with another by its moment as well.
fn counted(settled: &Settled) -> Option<Signature> {
    let answered = answer(settled).filter(|answered| tells(&settled.entry, answered))?;
    match answered.before {
        0 => Some(signature(settled.url.as_bytes())),
        before if (before == 200) != answered.is_page() => {
            Some(Signature(body_of(&settled.url, settled.date())))
        }
        _ => None,
    }
}

/// The body that a visit refers to.
fn referred(settled: &Settled) -> Option<u64> {
    settled.refers_to.map(|date| body_of(&settled.url, date))
}

/// The body that came from a URL at a moment.
fn body_of(url: &str, Moment { s, us }: Moment) -> u64 {
    let seed = s.wrapping_mul(1_000_000).wrapping_add(us.into());
    xxh3_64_with_seed(url.as_bytes(), u64::from_le_bytes(seed.to_le_bytes()))
}

/// The same as it may be referred to: some know of no microseconds.
fn bodies_of(url: &str, date: Moment) -> [u64; 2] {
    [body_of(url, date), body_of(url, Moment { us: 0, ..date })]
}
