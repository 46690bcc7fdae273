//! The clusters of near-duplicates: `dups/clusters`.
//!
//! What lives here: [`Clusters`], the representative of each page. What does not: which pages are near-duplicates.
//!
//! **Invariant.** A representative represents itself.

use codes::vbyte;

use crate::pages::{Directory, put_text, take_text};
use crate::{Collection, CollectionError, disk};

const MAGIC: [u8; 8] = *b"CRVDUPS\x02";

/// The representative of each page.
#[derive(Debug)]
pub struct Clusters {
    /// The identifiers of the directory, settings and ranks that the clusters were made from.
    source: String,
    representatives: Vec<u32>,
    /// Pairs (representative, place) of the folded pages, sorted.
    behind: Vec<(u32, u32)>,
}

impl Clusters {
    /// Opens the clusters of `directory`. Returns `None` if they do not exist or belong to another directory.
    pub fn open(
        collection: &Collection,
        directory: &Directory,
    ) -> Result<Option<Self>, CollectionError> {
        let path = collection.dups_dir().join("clusters");
        let Some(bytes) = disk::read_sealed(&path, MAGIC)? else { return Ok(None) };
        let damaged = CollectionError::Damaged {
            path,
            offset: MAGIC.len() as u64,
            what: "clusters that cannot be read".into(),
        };
        let folding = Self::decode(&bytes).ok_or(damaged)?;
        let pages = directory.entries().len();
        let of_it = folding.source.split(' ').next() == Some(directory.id());
        Ok(Some(folding).filter(|folding| of_it && folding.representatives.len() == pages))
    }

    /// The clusters with this source, given the place of the representative of each page.
    pub fn new(source: String, representatives: Vec<u32>) -> Self {
        let pairs = representatives.iter().copied().zip(0_u32..);
        let mut behind: Vec<_> = pairs.filter(|(head, place)| head != place).collect();
        behind.sort_unstable();
        Self { source, representatives, behind }
    }

    /// Identifies the input of the clusters. Outputs made from them store it.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The place of the page that represents the page at `place`.
    pub fn representative(&self, place: usize) -> Option<usize> {
        self.representatives.get(place).map(|&place| place as usize)
    }

    /// The places of the pages that the page at `place` represents, itself excluded.
    pub fn behind(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        let first = self.behind.partition_point(|&(head, _)| (head as usize) < place);
        let mine =
            self.behind[first..].iter().take_while(move |&&(head, _)| head as usize == place);
        mine.map(|&(_, member)| member as usize)
    }

    /// The number of clusters of two or more pages, and the number of folded pages.
    pub fn counts(&self) -> (u64, u64) {
        let clusters = self.behind.chunk_by(|(a, _), (b, _)| a == b).count();
        (clusters as u64, self.behind.len() as u64)
    }

    /// Writes the clusters.
    pub fn write(&self, collection: &Collection) -> Result<(), CollectionError> {
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
