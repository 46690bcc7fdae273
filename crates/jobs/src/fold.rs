//! Pages to clusters of near-duplicates, one representative each.
//!
//! Candidates are pages with the same identity (title and identifiers) and an equal digest or close `SimHash`es.
//! Pages of which one names the other as its canonical URL are candidates too. A page is compared word by word
//! ([`PageWords`]) with its candidate representatives. It is folded only if the two are similar enough.
//!
//! Pages are processed in order of precedence. The page that most others name as canonical is first. Then come the
//! best rank, the shortest URL and SURT order. Pages with `noindex` come last. Each page joins the most similar
//! earlier representative, or becomes a representative itself.
//!
//! **Invariant.** A representative represents itself, and every page of its cluster was compared with it. A chain of
//! small changes is therefore not one cluster.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use collection::{Clusters, Collection, Directory, PageTable, made_again, node_ranks};
use neardup::{Dates, Fingerprint, PageWords, PermutedTables};
use serde::{Deserialize, Serialize};

use crate::{JobsError, Progress, Stage};

/// The least similarity of near-duplicates.
const SIMILARITY_MIN: f64 = 0.95;
/// Representatives that a page is compared with, those with equal words aside.
const TRIES_MAX: usize = 16;
/// Close `SimHash`es that are kept for each.
const CLOSE_MAX: usize = 32;
/// Pages whose words are kept, since others may be compared with them.
const CACHED_MAX: usize = 16;

/// Which pages are folded: the section `[dedup]` of crivello.toml.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FoldConfig {
    /// How similar pages must be.
    pub fold: Fold,
    /// Whether imported records are folded as pages are.
    pub fold_records: bool,
    /// Pages are compared if their `SimHash`es differ in at most this number of 64 bits.
    pub distance_max: u32,
}

impl Default for FoldConfig {
    fn default() -> Self {
        Self { fold: Fold::default(), fold_records: false, distance_max: 3 }
    }
}

/// How similar pages must be to be folded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fold {
    /// No page is folded.
    Off,
    /// Title and text have the same words in the same order, dates included.
    Identical,
    /// Titles have the same words, and texts nearly the same, dates left out of both.
    #[default]
    Near,
}

impl Fold {
    fn dates(self) -> Dates {
        if self == Self::Near { Dates::LeftOut } else { Dates::Kept }
    }
}

/// What the stage found.
#[derive(Debug, Clone, Copy, Default, serde::Serialize)]
pub struct FoldReport {
    /// Pages in all.
    pub pages: u64,
    /// Clusters of two pages or more.
    pub clusters: u64,
    /// Pages that another page represents.
    pub folded: u64,
    /// Nothing was to do.
    pub up_to_date: bool,
}

/// Finds the clusters of the page table and chooses their representatives.
pub fn fold(
    collection: &Collection,
    config: &FoldConfig,
    progress: Progress<'_>,
) -> Result<FoldReport, JobsError> {
    let table = PageTable::open(&collection.pages_dir())?;
    let directory = table.directory();
    let pages = directory.entries().len() as u64;
    let ranks = node_ranks(collection, directory)?;
    let source = source_of(directory, config, ranks.as_deref());
    if let Some(folding) = made_again(Clusters::open(collection, directory))?
        && folding.source() == source
    {
        let (clusters, folded) = folding.counts();
        return Ok(FoldReport { pages, clusters, folded, up_to_date: true });
    }
    progress(Stage::Fold, 0, pages);
    let mut clusters = ClusterBuilder::new(&table, config, ranks.as_deref());
    if config.fold != Fold::Off {
        clusters.find(progress)?;
    }
    let folding = Clusters::new(source, clusters.representatives);
    folding.write(collection)?;
    progress(Stage::Fold, pages, pages);
    let (clusters, folded) = folding.counts();
    Ok(FoldReport { pages, clusters, folded, up_to_date: false })
}

/// Returns whether `folding` is up to date with these settings, pages and ranks.
pub fn is_folded(
    folding: &Clusters,
    collection: &Collection,
    directory: &Directory,
    config: &FoldConfig,
) -> Result<bool, JobsError> {
    let ranks = node_ranks(collection, directory)?;
    Ok(folding.source() == source_of(directory, config, ranks.as_deref()))
}

fn source_of(directory: &Directory, config: &FoldConfig, ranks: Option<&[f64]>) -> String {
    let FoldConfig { fold, fold_records, distance_max } = config;
    let ranks = identity(ranks.unwrap_or_default());
    format!("{} {fold:?} {fold_records} {distance_max} {ranks:016x}", directory.id())
}

/// A hash that identifies a vector of ranks.
fn identity(ranks: &[f64]) -> u64 {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    for rank in ranks {
        hasher.update(&rank.to_bits().to_le_bytes());
    }
    hasher.digest()
}

/// How similar the texts of two pages are, dates left out: 0 where their titles differ or a text is empty. `None` if
/// one of them is gone.
pub fn similarity(table: &PageTable, a: usize, b: usize) -> Result<Option<f64>, JobsError> {
    let words = |place| words_of(table, place, Dates::LeftOut);
    Ok(words(a)?.zip(words(b)?).map(|(a, b)| a.similarity(&b)))
}

/// The words of the page at `place`; `None` if it is gone.
fn words_of(table: &PageTable, place: usize, dates: Dates) -> Result<Option<PageWords>, JobsError> {
    let page = table.page(table.directory().entries()[place].pointer)?;
    Ok(page.map(|(_, page)| PageWords::of(&page.title, &page.text, dates)))
}

/// Which page represents which, as far as is known.
struct ClusterBuilder<'a> {
    table: &'a PageTable,
    config: &'a FoldConfig,
    /// For each place the place of the page that it names as canonical, if that is another.
    canonicals: Vec<Option<u32>>,
    /// For each place its turn.
    turns: Vec<u32>,
    representatives: Vec<u32>,
    /// Words of the last representatives.
    cache: VecDeque<(u32, Rc<PageWords>)>,
}

impl<'a> ClusterBuilder<'a> {
    /// Every page represents itself.
    fn new(table: &'a PageTable, config: &'a FoldConfig, ranks: Option<&[f64]>) -> Self {
        let directory = table.directory();
        let canonicals = canonicals(directory);
        let turns = turns(directory, &canonicals, ranks);
        let representatives = (0..).take(turns.len()).collect();
        Self { table, config, canonicals, turns, representatives, cache: VecDeque::new() }
    }

    /// Folds what can be folded.
    fn find(&mut self, progress: Progress<'_>) -> Result<(), JobsError> {
        let entries = self.table.directory().entries();
        let mut pages: Vec<(u64, u32)> = (0..)
            .zip(entries)
            .filter(|(_, entry)| self.config.fold_records || !entry.is_record)
            .map(|(place, entry)| (entry.fingerprint.identity, place))
            .collect();
        pages.sort_unstable_by_key(|&(identity, place)| (identity, self.turns[place as usize]));
        let mut done = 0;
        for alike in pages.chunk_by(|a, b| a.0 == b.0) {
            if alike.len() > 1 {
                let places: Vec<u32> = alike.iter().map(|&(_, place)| place).collect();
                self.fold_alike(&places)?;
            }
            done += alike.len() as u64;
            progress(Stage::Fold, done, entries.len() as u64);
        }
        Ok(())
    }

    /// Folds pages of the same identity, which are in the order of their turns.
    fn fold_alike(&mut self, places: &[u32]) -> Result<(), JobsError> {
        let entries = self.table.directory().entries();
        let prints: Vec<_> =
            places.iter().map(|&place| entries[place as usize].fingerprint).collect();
        let candidates = Candidates::of(&prints, self.config);
        // Representatives by their words, and by the class of their `SimHash`.
        let (mut exact, mut classes) = (HashMap::new(), vec![Vec::new(); candidates.close.len()]);
        for (number, &place) in places.iter().enumerate() {
            let canonical = self.canonical_head(place);
            if canonical.is_none() && !candidates.has_any(number) {
                continue;
            }
            let words = words_of(self.table, place as usize, self.config.fold.dates())?;
            let Some(words) = words.filter(|words| !words.is_empty()) else { continue };
            let class = candidates.classes[number];
            let key = words.digest();
            let head = match exact.get(&key) {
                Some(&head) => Some(head),
                None if self.config.fold == Fold::Identical => None,
                None => {
                    let close = candidates.close[class].iter().flat_map(|&class| &classes[class]);
                    let tries =
                        canonical.into_iter().chain(classes[class].iter().chain(close).copied());
                    let tries: Vec<u32> = tries.take(TRIES_MAX).collect();
                    self.most_similar(&words, &tries)?
                }
            };
            if let Some(head) = head {
                self.representatives[place as usize] = head;
            } else {
                exact.insert(key, place);
                classes[class].push(place);
                self.keep(place, Rc::new(words));
            }
        }
        Ok(())
    }

    /// The representative of the page that the one at `place` names as canonical, if it may represent that, too.
    fn canonical_head(&self, place: u32) -> Option<u32> {
        let entries = self.table.directory().entries();
        let head = self.representatives[self.canonicals[place as usize]? as usize];
        let [page, other] = [place, head].map(|place| &entries[place as usize]);
        let is_alike = page.fingerprint.identity == other.fingerprint.identity;
        let may_fold = self.config.fold_records || !other.is_record;
        let is_before = self.turns[head as usize] < self.turns[place as usize];
        Some(head).filter(|_| is_alike && may_fold && is_before)
    }

    /// Which of the pages at `tries` is most similar, if one is similar enough; of several the first by turn.
    fn most_similar(&mut self, words: &PageWords, tries: &[u32]) -> Result<Option<u32>, JobsError> {
        let mut best = None;
        for &head in tries {
            let Some(other) = self.cached(head)? else { continue };
            let similarity = words.similarity(&other);
            let turn = self.turns[head as usize];
            let is_better = |&(least, before, _): &(f64, u32, u32)| {
                similarity.total_cmp(&least).then_with(|| before.cmp(&turn)).is_gt()
            };
            if similarity >= SIMILARITY_MIN && best.as_ref().is_none_or(is_better) {
                best = Some((similarity, turn, head));
            }
        }
        Ok(best.map(|(_, _, head)| head))
    }

    fn cached(&mut self, place: u32) -> Result<Option<Rc<PageWords>>, JobsError> {
        if let Some((_, words)) = self.cache.iter().find(|(held, _)| *held == place) {
            return Ok(Some(Rc::clone(words)));
        }
        let words = words_of(self.table, place as usize, self.config.fold.dates())?.map(Rc::new);
        if let Some(words) = &words {
            self.keep(place, Rc::clone(words));
        }
        Ok(words)
    }

    fn keep(&mut self, place: u32, words: Rc<PageWords>) {
        if self.cache.len() == CACHED_MAX {
            self.cache.pop_front();
        }
        self.cache.push_back((place, words));
    }
}

/// For each place the place of the page that it names as canonical, if that is another.
fn canonicals(directory: &Directory) -> Vec<Option<u32>> {
    let places = directory.resolver();
    let target = |(place, canonical): (u32, &str)| {
        places.get(canonical).copied().filter(|&target| target != place)
    };
    let names = directory.entries().iter().map(|entry| entry.canonical.as_str());
    (0..).zip(names).map(target).collect()
}

/// For each place its turn: the sooner, the better it represents others.
fn turns(directory: &Directory, canonicals: &[Option<u32>], ranks: Option<&[f64]>) -> Vec<u32> {
    let entries = directory.entries();
    let mut named = vec![0_u32; entries.len()];
    for target in canonicals.iter().flatten() {
        named[*target as usize] += 1;
    }
    let rank = |place: usize| ranks.map_or(0.0, |ranks| ranks[place]);
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by(|&a, &b| {
        let worth = |place: usize| (entries[place].noindex, Reverse(named[place]));
        let length = |place: usize| entries[place].url.len();
        let by_rank = || rank(b).total_cmp(&rank(a));
        worth(a).cmp(&worth(b)).then_with(by_rank).then_with(|| length(a).cmp(&length(b)))
    });
    let mut turns = vec![0; entries.len()];
    for (turn, place) in (0..).zip(order) {
        turns[place] = turn;
    }
    turns
}

/// Which pages of the same identity may be near-duplicates.
struct Candidates {
    /// For each page the class of those with its `SimHash`.
    classes: Vec<usize>,
    /// For each class the classes whose `SimHash`es are close.
    close: Vec<Vec<usize>>,
    /// For each page whether another has its `SimHash` or its digest.
    has_equal: Vec<bool>,
}

impl Candidates {
    fn of(prints: &[Fingerprint], config: &FoldConfig) -> Self {
        let simhashes: Vec<u64> = prints.iter().map(|print| print.simhash).collect();
        let tables = PermutedTables::build(&simhashes, config.distance_max);
        let mut classes = vec![0; prints.len()];
        let mut has_equal = vec![false; prints.len()];
        let mut count = 0;
        for class in tables.classes() {
            for &page in class {
                classes[page as usize] = count;
                has_equal[page as usize] = class.len() > 1;
            }
            count += 1;
        }
        let mut close = vec![Vec::new(); count];
        if config.fold == Fold::Near {
            tables.pairs(&mut |these, those| {
                let [a, b] = [these, those].map(|class| classes[class[0] as usize]);
                for (class, other) in [(a, b), (b, a)] {
                    if close[class].len() < CLOSE_MAX {
                        close[class].push(other);
                    }
                }
            });
        }
        let mut digests = HashMap::new();
        for (page, print) in prints.iter().enumerate() {
            if let Some(other) = digests.insert(print.digest, page) {
                has_equal[page] = true;
                has_equal[other] = true;
            }
        }
        Self { classes, close, has_equal }
    }

    fn has_any(&self, page: usize) -> bool {
        self.has_equal[page] || !self.close[self.classes[page]].is_empty()
    }
}
