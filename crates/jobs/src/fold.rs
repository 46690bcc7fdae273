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

use crate::pages::Directory;
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
    /// The directory and the settings it was made from.
    pub source: String,
    representatives: Vec<u32>,
}

impl Folding {
    /// The clusters as they stand; `None` where there are none yet.
    pub fn open(collection: &Collection) -> Result<Option<Self>, JobsError> {
        let path = collection.dups_dir().join("clusters");
        let Some(bytes) = disk::read_sealed(&path, MAGIC)? else { return Ok(None) };
        let damaged = JobsError::Damaged {
            path,
            offset: MAGIC.len() as u64,
            what: "clusters that cannot be read",
        };
        Self::decode(&bytes).map(Some).ok_or(damaged)
    }

    /// The place of the page that represents the page at `place`.
    pub fn representative(&self, place: usize) -> Option<usize> {
        self.representatives.get(place).map(|&place| place as usize)
    }

    /// The places of all pages that `place` represents, itself included.
    pub fn members(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        let of = move |&(_, &represents): &(usize, &u32)| represents as usize == place;
        self.representatives.iter().enumerate().filter(of).map(|(member, _)| member)
    }

    /// Number of clusters of two or more, and of pages that stand behind another.
    pub fn counts(&self) -> (u64, u64) {
        let behind = |&(place, &represents): &(usize, &u32)| represents as usize != place;
        let mut heads: Vec<u32> =
            self.representatives.iter().enumerate().filter(behind).map(|(_, &head)| head).collect();
        let folded = heads.len() as u64;
        heads.sort_unstable();
        heads.dedup();
        (heads.len() as u64, folded)
    }

    fn write(&self, collection: &Collection) -> Result<(), JobsError> {
        let mut out = Vec::new();
        vbyte::write(&mut out, self.source.len() as u64);
        out.extend_from_slice(self.source.as_bytes());
        vbyte::write(&mut out, self.representatives.len() as u64);
        for &place in &self.representatives {
            vbyte::write(&mut out, u64::from(place));
        }
        disk::write_sealed(&collection.dups_dir().join("clusters"), MAGIC, &out)
    }

    fn decode(mut input: &[u8]) -> Option<Self> {
        let input = &mut input;
        let length = usize::try_from(vbyte::read(input)?).ok()?;
        let (source, rest) = input.split_at_checked(length)?;
        *input = rest;
        let source = std::str::from_utf8(source).ok()?.to_owned();
        let count = vbyte::read(input)?;
        let mut representatives = Vec::new();
        for _ in 0..count {
            let place =
                u32::try_from(vbyte::read(input)?).ok().filter(|&p| u64::from(p) < count)?;
            representatives.push(place);
        }
        Some(Self { source, representatives })
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
    let ranks = node_ranks(collection, directory.id())?;
    let source = format!(
        "{} {} {} {:016x}",
        directory.id(),
        config.distance_max,
        config.words_min,
        identity(ranks.as_deref().unwrap_or_default())
    );
    if let Some(folding) = Folding::open(collection)?
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
    let folding = Folding { source, representatives };
    folding.write(collection)?;
    progress(Stage::Fold, pages, pages);
    let (clusters, folded) = folding.counts();
    Ok(FoldReport { pages, clusters, folded, up_to_date: false })
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
