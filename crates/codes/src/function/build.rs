//! Building a static function: hashes in order, bucket by bucket, seed by seed.
//!
//! Keys may be picked by somebody who knows the hash function, so that two have the same hash, or many
//! fall into one bucket, where elimination would take long. Then all are hashed anew, with a seed that
//! depends on all of them: who does not know the other keys does not know the seed.
//!
//! **Invariant.** What is written gives every key its value: the equations were solved, not hoped
//! for. The same pairs give the same bytes, by [`build`] in any order.

use super::gauss::{self, Equation};
use super::hash::Hash;
use super::header::{SEED_BITS, Solved};
use super::peel::peel;
use super::{BUCKET_KEYS, Buckets, FunctionError, KEYS_MAX, SIGNATURE_MAX, Scheme};
use crate::fixed;

/// How often all keys are hashed at most, should two of them have the same hash, or a bucket no seed.
const HASHINGS: u32 = 16;
/// More keys than these in a bucket are no accident.
pub(super) const BUCKET_KEYS_MAX: usize = 2 * BUCKET_KEYS;
/// After so many seeds a bucket gets more cells.
const SEEDS_BEFORE_GROWTH: u64 = 8;

/// The bytes of the function with these keys and values, and with signatures of `signature` bits, at
/// most [`SIGNATURE_MAX`]; 0 is without. Values take as many bits as the greatest of them; with the
/// signature at most 64. The pairs are gone through once; again only if something is wrong with them.
pub fn build<K: AsRef<[u8]>>(
    scheme: Scheme,
    signature: u32,
    pairs: impl Iterator<Item = (K, u64)> + Clone,
) -> Result<Vec<u8>, FunctionError> {
    build_with(scheme, Buckets::ByHash, signature, pairs)
}

/// The same by [`Scheme::Gauss4`], for a [`super::OrderedFunction`]: the first 512 pairs are bucket 0, the next
/// 512 bucket 1, and so on. A value need tell a key only from those of its bucket, and a key may occur in several.
pub fn build_ordered<K: AsRef<[u8]>>(
    signature: u32,
    pairs: impl Iterator<Item = (K, u64)> + Clone,
) -> Result<Vec<u8>, FunctionError> {
    build_with(Scheme::Gauss4, Buckets::InOrder, signature, pairs)
}

#[expect(clippy::needless_pass_by_value, reason = "an iterator that is used up")]
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
    /// The keys of each bucket in the order of their hashes.
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

/// A key, and what its cells are to sum up to.
struct Entry {
    hash: Hash,
    value: u64,
}

/// The keys in their order, and the bits of the greatest value.
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

/// An error if a bucket has the same key twice.
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

/// `None` if there is a bucket without a seed, or one that would take long to eliminate.
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

/// How many cells each of the parts of a bucket has at first. More are given if seed after seed fails,
/// as among few keys they may.
fn part(scheme: Scheme, keys: usize) -> u64 {
    let thousandths = match scheme {
        Scheme::Peeled2 => 2090,
        Scheme::Peeled3 => 1230,
        Scheme::Gauss4 => 1039,
    };
    (keys as u64 * thousandths).div_ceil(1000 * u64::from(scheme.cells_a_key()))
}

/// Sets the cells of a bucket, which are zero, or leaves them so with `None`.
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
