//! Pages to clusters of near-duplicates, one representative each.
//!
//! Two pages are one cluster when their fingerprints are close (`neardup`) or when one names the
//! other as its canonical URL, and so on transitively. The representative is the page that most of
//! the others name as canonical, then the best ranked, then the one with the shortest URL, then the
//! first in SURT order; a page that asks not to be found represents nothing if another can.
//!
//! **Invariant.** A representative represents itself.

use std::cmp::Reverse;

use codes::vbyte;

use crate::pages::{Directory, put_text, take_text};
use crate::rank::node_ranks;
use crate::{Collection, JobsError, PageTable, Progress, Stage, disk};

const MAGIC: [u8; 8] = *b"CRVDUPS\x01";

/// What the stage found.
#[derive(Debug, Clone, Copy, Default, serde::Serialize)]
pub struct FoldReport {
    /// Pages in all.
    pub pages: u64,
    /// Clusters of two pages or more.
    pub clusters: u64,
    /// Pages that stand behind another.
    pub folded: u64,
    /// Nothing was to do.
    pub up_to_date: bool,
}

/// Who stands behind whom.
#[derive(Debug)]
pub struct Folding {
    /// The directory, the settings and the ranks it was made from.
    source: String,
    representatives: Vec<u32>,
    /// (representative, place) of the pages that stand behind another, in order.
    behind: Vec<(u32, u32)>,
}

impl Folding {
    /// The clusters of `directory`; `None` where there are none yet, or only those of another.
    pub fn open(collection: &Collection, directory: &Directory) -> Result<Option<Self>, JobsError> {
        let path = collection.dups_dir().join("clusters");
        let Some(bytes) = disk::read_sealed(&path, MAGIC)? else { return Ok(None) };
        let damaged = JobsError::Damaged {
            path,
            offset: MAGIC.len() as u64,
            what: "clusters that cannot be read".into(),
        };
        let folding = Self::decode(&bytes).ok_or(damaged)?;
        let pages = directory.entries().len();
        let of_it = folding.source.split(' ').next() == Some(directory.id());
        Ok(Some(folding).filter(|folding| of_it && folding.representatives.len() == pages))
    }

    fn new(source: String, representatives: Vec<u32>) -> Self {
        let pairs = representatives.iter().copied().zip(0_u32..);
        let mut behind: Vec<_> = pairs.filter(|(head, place)| head != place).collect();
        behind.sort_unstable();
        Self { source, representatives, behind }
    }

    /// Identifies what it was made from; outputs made from it carry that.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The place of the page that represents the page at `place`.
    pub fn representative(&self, place: usize) -> Option<usize> {
        self.representatives.get(place).map(|&place| place as usize)
    }

    /// The places of the pages that stand behind the page at `place`.
    pub fn behind(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        let first = self.behind.partition_point(|&(head, _)| (head as usize) < place);
        let mine =
            self.behind[first..].iter().take_while(move |&&(head, _)| head as usize == place);
        mine.map(|&(_, member)| member as usize)
    }

    /// Number of clusters of two or more, and of pages that stand behind another.
    pub fn counts(&self) -> (u64, u64) {
        let clusters = self.behind.chunk_by(|(a, _), (b, _)| a == b).count();
        (clusters as u64, self.behind.len() as u64)
    }

    fn write(&self, collection: &Collection) -> Result<(), JobsError> {
        let mut out = Vec::new();
        put_text(&mut out, &self.source);
        vbyte::write(&mut out, self.representatives.len() as u64);
        for &place in &self.representatives {
            vbyte::write(&mut out, u64::from(place));
        }
        disk::write_sealed(&collection.dups_dir().join("clusters"), MAGIC, &out)
    }

    fn decode(mut input: &[u8]) -> Option<Self> {
        let input = &mut input;
        let source = take_text(input)?;
        let count = vbyte::read(input)?;
        let mut representatives = Vec::new();
        for _ in 0..count {
            let place = vbyte::read(input).filter(|&place| place < count)?;
            representatives.push(u32::try_from(place).ok()?);
        }
        input.is_empty().then(|| Self::new(source, representatives))
    }
}

/// Finds the clusters of the page table and chooses their representatives.
pub fn fold(
    collection: &Collection,
    config: &neardup::Config,
    progress: Progress<'_>,
) -> Result<FoldReport, JobsError> {
    let table = PageTable::open(&collection.pages_dir())?;
    let directory = table.directory();
    let pages = directory.entries().len() as u64;
    let ranks = node_ranks(collection, directory)?;
    let source = source_of(directory, config, ranks.as_deref());
    if let Some(folding) = disk::made_again(Folding::open(collection, directory))?
        && folding.source == source
    {
        let (clusters, folded) = folding.counts();
        return Ok(FoldReport { pages, clusters, folded, up_to_date: true });
    }
    progress(Stage::Fold, 0, pages);
    let fingerprints: Vec<_> = directory.entries().iter().map(|entry| entry.fingerprint).collect();
    let mut clusters = Clusters::of(neardup::fold(&fingerprints, config));
    let named = join_canonicals(directory, &mut clusters);
    let representatives = choose(directory, &mut clusters, &named, ranks.as_deref());
    let folding = Folding::new(source, representatives);
    folding.write(collection)?;
    progress(Stage::Fold, pages, pages);
    let (clusters, folded) = folding.counts();
    Ok(FoldReport { pages, clusters, folded, up_to_date: false })
}

/// Whether `folding` is what these settings would make of the pages and their ranks.
pub fn is_folded(
    folding: &Folding,
    collection: &Collection,
    directory: &Directory,
    config: &neardup::Config,
) -> Result<bool, JobsError> {
    let ranks = node_ranks(collection, directory)?;
    Ok(folding.source == source_of(directory, config, ranks.as_deref()))
}

fn source_of(directory: &Directory, config: &neardup::Config, ranks: Option<&[f64]>) -> String {
    let (distance_max, words_min) = (config.distance_max, config.words_min);
    let ranks = identity(ranks.unwrap_or_default());
    format!("{} {distance_max} {words_min} {ranks:016x}", directory.id())
}

/// Tells one vector of ranks from another.
fn identity(ranks: &[f64]) -> u64 {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    for rank in ranks {
        hasher.update(&rank.to_bits().to_le_bytes());
    }
    hasher.digest()
}

/// Joins each page with the page that it names as canonical; how often each page was named.
fn join_canonicals(directory: &Directory, clusters: &mut Clusters) -> Vec<u32> {
    let places = directory.resolver();
    let mut named = vec![0; directory.entries().len()];
    for (place, entry) in (0_u32..).zip(directory.entries()) {
        if let Some(&target) = places.get(entry.canonical.as_str())
            && target != place
        {
            clusters.join(place, target);
            named[target as usize] += 1;
        }
    }
    named
}

fn choose(
    directory: &Directory,
    clusters: &mut Clusters,
    named: &[u32],
    ranks: Option<&[f64]>,
) -> Vec<u32> {
    let entries = directory.entries();
    let count = u32::try_from(entries.len()).expect("the count of pages fits");
    let better = |a: u32, b: u32| {
        let worth = |place: u32| {
            let at = place as usize;
            (!entries[at].noindex, named[at])
        };
        let rank = |place: u32| ranks.map_or(0.0, |ranks| ranks[place as usize]);
        let short = |place: u32| (Reverse(entries[place as usize].url.len()), Reverse(place));
        let by_rank = || rank(a).total_cmp(&rank(b));
        worth(a).cmp(&worth(b)).then_with(by_rank).then_with(|| short(a).cmp(&short(b))).is_gt()
    };
    let mut best: Vec<u32> = (0..count).collect();
    for place in 0..count {
        let root = clusters.find(place) as usize;
        if better(place, best[root]) {
            best[root] = place;
        }
    }
    (0..count).map(|place| best[clusters.find(place) as usize]).collect()
}

/// Disjoint sets with path halving; roots are the smallest member.
struct Clusters {
    parents: Vec<u32>,
}

impl Clusters {
    /// From a list that names for each member the smallest of its set.
    fn of(parents: Vec<u32>) -> Self {
        Self { parents }
    }

    fn find(&mut self, mut place: u32) -> u32 {
        while self.parents[place as usize] != place {
            let parent = self.parents[place as usize];
            self.parents[place as usize] = self.parents[parent as usize];
            place = parent;
        }
        place
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }
}
