//! Chance from a fixed seed: the same choice in every run.
//!
//! **Invariant.** What comes out depends on what goes in and on nothing else.

/// Puts `items` in an order without pattern.
pub(crate) fn shuffle<T>(items: &mut [T]) {
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    for last in (1..items.len()).rev() {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        items.swap(last, (seed % (last as u64 + 1)) as usize);
    }
}

/// `n` terms, or all, of a list with the number of documents of each: as many of every magnitude of
/// that number as there are, the rare and the frequent alike.
pub(crate) fn by_magnitude(terms: &[(String, u32)], n: usize) -> Vec<&(String, u32)> {
    let mut order: Vec<&(String, u32)> = terms.iter().collect();
    shuffle(&mut order);
    let mut classes: Vec<Vec<&(String, u32)>> = vec![Vec::new(); 33];
    for term in order {
        classes[term.1.checked_ilog2().map_or(0, |log| log as usize + 1)].push(term);
    }
    let mut chosen = Vec::new();
    while chosen.len() < n.min(terms.len()) {
        chosen.extend(classes.iter_mut().filter_map(Vec::pop));
    }
    chosen.truncate(n);
    chosen
}
