//! Builds a static function: hashes the keys, then solves bucket by bucket, trying seeds.
//!
//! An attacker who knows the hash function may choose keys with equal hashes, or many keys of one bucket, which is
//! slow to eliminate. Then all keys are hashed again with a seed that depends on all of them. Without knowing all
//! keys, an attacker cannot predict the seed.
//!
//! **Invariant.** The output returns its value for every key. The same pairs give the same bytes; for [`build`] in
//! any order.

use super::gauss::{self, Equation};
use super::hash::Hash;
use super::header::{SEED_BITS, Solved};
use super::peel::peel;
use super::{BUCKET_KEYS, Buckets, FunctionError, KEYS_MAX, SIGNATURE_MAX, Scheme};
use crate::fixed;

/// Largest number of hashings, in case of equal hashes or an unsolvable bucket.
const HASHINGS: u32 = 16;
/// More keys than this in a bucket do not occur by chance.
pub(super) const BUCKET_KEYS_MAX: usize = 2 * BUCKET_KEYS;
/// After this many seeds a bucket gets more cells.
const SEEDS_BEFORE_GROWTH: u64 = 8;

/// Builds the function of these keys and values. Signatures have `signature` bits, at most [`SIGNATURE_MAX`]; 0
/// means none. Values take as many bits as the greatest; together with the signature at most 64. The pairs are
/// read once, and again only in case of trouble.
pub fn build<K: AsRef<[u8]>>(
    scheme: Scheme,
    signature: u32,
    pairs: impl Iterator<Item = (K, u64)> + Clone,
) -> Result<Vec<u8>, FunctionError> {
    build_with(scheme, Buckets::ByHash, signature, pairs)
}

/// Builds the bytes of a [`super::OrderedFunction`] by [`Scheme::Gauss4`]. The first 512 pairs are bucket 0, the
/// next 512 bucket 1, and so on. A value identifies a key only within its bucket, and a key may occur in several
/// buckets.
pub fn build_ordered<K: AsRef<[u8]>>(
    signature: u32,
    pairs: impl Iterator<Item = (K, u64)> + Clone,
) -> Result<Vec<u8>, FunctionError> {
    build_with(Scheme::Gauss4, Buckets::InOrder, signature, pairs)
}

#[expect(clippy::needless_pass_by_value, reason = "the iterator is consumed")]
fn build_with<K: AsRef<[u8]>>(
    scheme: Scheme,
    buckets: Buckets,
    signature: u32,
    pairs: impl Iterator<Item = (K, u64)> + Clone,
) -> Result<Vec<u8>, FunctionError> {
    let mut seed = 0;
    for _ in 0..HASHINGS {
        let (mut entries, width) = hash(pairs.clone(), seed, signature)?;
        for entry in &mut entries {
            entry.value |= entry.hash.signature(signature).checked_shl(width).unwrap_or(0);
        }
        let parts = buckets.part(scheme, &mut entries);
        let alike = |own: &[Entry]| own.array_windows().any(|[a, b]| a.hash == b.hash);
        if parts.iter().any(|own| alike(own)) {
            check_different(pairs.clone(), buckets)?;
        } else {
            let solution = match scheme {
                Scheme::Peeled2 => solve::<2>(scheme, &parts),
                Scheme::Peeled3 => solve::<3>(scheme, &parts),
                Scheme::Gauss4 => solve::<4>(scheme, &parts),
            };
            if let Some(Solution { directory, cells }) = solution {
                let keys = entries.len() as u64;
                let solved =
                    Solved { scheme, buckets, width, signature, keys, seed, directory, cells };
                return Ok(solved.write());
            }
        }
        seed = Hash::digest(entries.iter().map(|entry| entry.hash));
    }
    Err(FunctionError::NoSeed)
}

impl Buckets {
    /// Splits the keys into buckets, each sorted by hash.
    fn part(self, scheme: Scheme, entries: &mut [Entry]) -> Vec<&[Entry]> {
        let count = scheme.buckets(entries.len() as u64);
        match self {
            Buckets::ByHash => {
                entries.sort_unstable_by_key(|entry| entry.hash);
                let mut rest = &*entries;
                let own = (0..count).map(|bucket| {
                    let end = rest.partition_point(|entry| entry.hash.bucket(count) <= bucket);
                    let (own, others) = rest.split_at(end);
                    rest = others;
                    own
                });
                own.collect()
            }
            Buckets::InOrder if entries.is_empty() => vec![&[]],
            Buckets::InOrder => {
                let parts = entries.chunks_mut(BUCKET_KEYS).map(|own| {
                    own.sort_unstable_by_key(|entry| entry.hash);
                    &*own
                });
                parts.collect()
            }
        }
    }
}

/// A key, and the required sum of its cells.
struct Entry {
    hash: Hash,
    value: u64,
}

/// Hashes the keys in order. Also returns the bits of the greatest value.
fn hash<K: AsRef<[u8]>>(
    pairs: impl Iterator<Item = (K, u64)>,
    seed: u64,
    signature: u32,
) -> Result<(Vec<Entry>, u32), FunctionError> {
    let mut entries = Vec::with_capacity(pairs.size_hint().0);
    let mut width = 0;
    for (key, value) in pairs {
        if entries.len() as u64 == KEYS_MAX {
            return Err(FunctionError::TooManyKeys);
        }
        width = fixed::width(value).max(width);
        entries.push(Entry { hash: Hash::of(key.as_ref(), seed), value });
    }
    if signature > SIGNATURE_MAX || width + signature > u64::BITS {
        return Err(FunctionError::TooWide { width, signature });
    }
    Ok((entries, width))
}

/// Returns an error if a bucket has a key twice.
fn check_different<K: AsRef<[u8]>>(
    pairs: impl Iterator<Item = (K, u64)>,
    buckets: Buckets,
) -> Result<(), FunctionError> {
    let of_place = |position: u64| match buckets {
        Buckets::ByHash => 0, // the same key has the same hash
        Buckets::InOrder => position / BUCKET_KEYS as u64,
    };
    let keys = (0..).zip(pairs).map(|(position, (key, _))| (of_place(position), key, position));
    let mut keys: Vec<(u64, K, u64)> = keys.collect();
    keys.sort_unstable_by(|a, b| (a.0, a.1.as_ref(), a.2).cmp(&(b.0, b.1.as_ref(), b.2)));
    let alike = keys.array_windows().filter(|[a, b]| a.0 == b.0 && a.1.as_ref() == b.1.as_ref());
    match alike.map(|[_, again]| again.2).min() {
        Some(position) => Err(FunctionError::Duplicate { position }),
        None => Ok(()),
    }
}

/// First cell and seed of every bucket, and all cells.
struct Solution {
    directory: Vec<(u64, u64)>,
    cells: Vec<u64>,
}

/// Returns `None` if a bucket has no seed, or is too large to eliminate.
fn solve<const K: usize>(scheme: Scheme, buckets: &[&[Entry]]) -> Option<Solution> {
    let (mut directory, mut cells) = (Vec::with_capacity(buckets.len()), Vec::new());
    for own in buckets {
        if scheme == Scheme::Gauss4 && own.len() > BUCKET_KEYS_MAX {
            return None;
        }
        let first = cells.len();
        let seed = (0..1 << SEED_BITS).find(|&seed| {
            let part = part(scheme, own.len()) + seed / SEEDS_BEFORE_GROWTH;
            let part = u32::try_from(part).expect("at most twice KEYS_MAX");
            cells.resize(first + K * part as usize, 0);
            let edges: Vec<[u32; K]> =
                own.iter().map(|entry| entry.hash.edge(seed, part)).collect();
            solve_bucket(scheme, own, &edges, &mut cells[first..]).is_some()
        })?;
        directory.push((first as u64, seed));
    }
    Some(Solution { directory, cells })
}

/// Initial number of cells in each part of a bucket. After several failed seeds there are more; small buckets may
/// need that.
fn part(scheme: Scheme, keys: usize) -> u64 {
    let thousandths = match scheme {
        Scheme::Peeled2 => 2090,
        Scheme::Peeled3 => 1230,
        Scheme::Gauss4 => 1039,
    };
    (keys as u64 * thousandths).div_ceil(1000 * u64::from(scheme.cells_a_key()))
}

/// Sets the cells of a bucket, which must be zero. On `None` they stay zero.
fn solve_bucket<const K: usize>(
    scheme: Scheme,
    entries: &[Entry],
    edges: &[[u32; K]],
    cells: &mut [u64],
) -> Option<()> {
    let peeled = peel(edges, cells.len());
    if peeled.len() < edges.len() {
        if scheme != Scheme::Gauss4 {
            return None;
        }
        let mut left = vec![true; edges.len()];
        for peeled in &peeled {
            left[peeled.edge as usize] = false;
        }
        let core: Vec<Equation<K>> = (entries.iter().zip(edges).zip(left))
            .filter(|&(_, left)| left)
            .map(|((entry, &cells), _)| Equation { cells, value: entry.value })
            .collect();
        gauss::solve(&core, cells)?;
    }
    for peeled in peeled.into_iter().rev() {
        let edge = peeled.edge as usize;
        let sum = edges[edge].iter().fold(0, |sum, &vertex| sum ^ cells[vertex as usize]);
        cells[peeled.vertex as usize] = sum ^ entries[edge].value;
    }
    Some(())
}
