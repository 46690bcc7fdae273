//! Sorts the lists of a batch by their keys.
//!
//! Multikey sort, eight bytes at a time as numbers: first the beginnings of all keys, then the next eight bytes of
//! those with equal beginnings, and so on. Keys are far apart in memory. Each is read once per eight bytes rather
//! than once per comparison, and prefetched some keys ahead.
//!
//! **Invariant.** Keys are ordered by their bytes, and no two are equal. Sorting allocates only its result.

use crate::build::arena::Arena;
use crate::build::paged::Paged;
use crate::lexicon;

/// Prefetch distance in keys.
const AHEAD: usize = 32;
/// Bytes compared at a time.
const STEP: usize = 8;
/// After this many equal bytes, compare the rest of the keys at once. Longer common prefixes are rare, and then
/// often whole keys agree.
const STEPS_BYTES_MAX: usize = 64;

/// Eight bytes of a key, and its list.
pub(crate) type Placed = (u64, u32);

/// Returns all lists in key order. The numbers beside them have no more use.
pub(crate) fn sorted(arena: &Arena, lists: &Paged<u32>) -> Vec<Placed> {
    let mut order = Vec::with_capacity(lists.len());
    let mut ahead = lists.iter().skip(AHEAD);
    for &list in lists.iter() {
        ahead.next().into_iter().for_each(|&list| arena.prefetch(list));
        order.push((lexicon::beginning(arena.key(list)), list));
    }
    sort_alike(arena, &mut order, STEP);
    order
}

/// Sorts lists by the eight bytes beside them. The keys agree in all bytes before these. `behind` is the offset of
/// the bytes that follow.
fn sort_alike(arena: &Arena, lists: &mut [Placed], behind: usize) {
    lists.sort_unstable_by_key(|&(bytes, _)| bytes);
    let (mut rest, mut asked) = (lists, 0);
    while let Some(&(first, _)) = rest.first() {
        let alike = rest.iter().take_while(|&&(bytes, _)| bytes == first).count();
        // A key without an equal neighbour is not read again.
        while asked < rest.len().min(alike + AHEAD) {
            let is_like = |other: usize| rest.get(other).is_some_and(|of| of.0 == rest[asked].0);
            if is_like(asked + 1) || is_like(asked.wrapping_sub(1)) {
                arena.prefetch_key(rest[asked].1, behind);
            }
            asked += 1;
        }
        let (own, others) = rest.split_at_mut(alike);
        if alike > 1 {
            refine(arena, own, behind);
        }
        (rest, asked) = (others, asked - alike);
    }
}

/// Sorts lists whose keys agree before `behind`.
fn refine(arena: &Arena, lists: &mut [Placed], behind: usize) {
    let mut is_over = behind >= STEPS_BYTES_MAX;
    for (bytes, list) in &mut *lists {
        let rest = arena.key(*list).get(behind..);
        // Zeros may be bytes of a key, or padding after its end.
        is_over |= rest.is_none();
        *bytes = lexicon::beginning(rest.unwrap_or_default());
    }
    if is_over {
        lists.sort_unstable_by(|a, b| arena.key(a.1).cmp(arena.key(b.1)));
    } else {
        sort_alike(arena, lists, behind + STEP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys with common prefixes of any length, some of them prefixes of others, with and without zeros.
    #[test]
    fn keys_are_sorted_by_bytes() {
        let mut state = 1_u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 12) % below
        };
        for round in 0..60 {
            let (mut arena, mut lists) = (Arena::default(), Paged::default());
            let mut keys = std::collections::BTreeMap::new();
            for _ in 0..[0, 1, 2, 3, 500, 3000][round % 6] {
                let alike = [0, 1, 7, 8, 9, 15, 16, 17, 24, 63, 64, 65, 90][random(13) as usize];
                let mut key = vec![b'k'; alike];
                key.extend((0..random(20)).map(|_| [0, b'a', b'k', 0xff][random(4) as usize]));
                keys.entry(key.clone()).or_insert_with(|| {
                    let list = arena.begin(&key).expect("there is room");
                    lists.push(list);
                    list
                });
            }
            let order = sorted(&arena, &lists).into_iter().map(|(_, list)| list);
            assert!(order.eq(keys.into_values()), "round {round}");
        }
    }
}
