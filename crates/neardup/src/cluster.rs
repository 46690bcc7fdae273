//! Clusters: connected components of the pages that are taken for the same.
//!
//! What lives here: which pages are joined, and the union–find structure that makes components of
//! pairs. What does not: which page of a cluster is shown; that takes ranks and URLs.
//!
//! Two pages with the same identifiers are joined if their digests are equal, or if both have words enough
//! and their `SimHash`es are close. A page without words is joined to none: empty pages have nothing in
//! common.
//!
//! Components are the transitive closure: a chain of small changes ends far from where it began.
//! That is meant (D6): one version of a page is shown for all.
//!
//! **Invariant.** Clusters do not depend on the order of the pages, only their names do.
//!
//! **Reference.** R. E. Tarjan, J. van Leeuwen, "Worst-case analysis of set union algorithms",
//! Journal of the ACM 31(2), 1984 (path halving).

use crate::{Config, Fingerprint, PermutedTables};

/// For each page the smallest position of its cluster.
///
/// # Panics
/// If there are 2³² pages or more.
pub fn fold(fingerprints: &[Fingerprint], config: &Config) -> Vec<u32> {
    let mut components = Components::of_singletons(fingerprints.len());
    join_equal_digests(fingerprints, &mut components);
    join_close_simhashes(fingerprints, config, &mut components);
    components.into_smallest()
}

fn join_equal_digests(fingerprints: &[Fingerprint], components: &mut Components) {
    let mut digests: Vec<((u64, u64), u32)> = (0_u32..)
        .zip(fingerprints)
        .filter(|(_, print)| print.words > 0)
        .map(|(page, print)| ((print.digest, print.identifiers), page))
        .collect();
    digests.sort_unstable();
    for pair in digests.windows(2) {
        if pair[0].0 == pair[1].0 {
            components.join(pair[0].1, pair[1].1);
        }
    }
}

fn join_close_simhashes(
    fingerprints: &[Fingerprint],
    config: &Config,
    components: &mut Components,
) {
    let words_min = config.words_min.max(1);
    let mut pages: Vec<(u64, u32, u64)> = (0_u32..)
        .zip(fingerprints)
        .filter(|(_, print)| print.words >= words_min)
        .map(|(page, print)| (print.identifiers, page, print.simhash))
        .collect();
    pages.sort_unstable();
    for alike in pages.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
        let simhashes: Vec<u64> = alike.iter().map(|&(_, _, simhash)| simhash).collect();
        let page = |position: u32| alike[position as usize].1;
        let tables = PermutedTables::build(&simhashes, config.distance_max);
        for class in tables.classes() {
            for pair in class.windows(2) {
                components.join(page(pair[0]), page(pair[1]));
            }
        }
        tables.pairs(&mut |a, b| components.join(page(a[0]), page(b[0])));
    }
}

/// Union–find. The root of a component is its smallest member.
struct Components {
    parent: Vec<u32>,
}

impl Components {
    fn of_singletons(count: usize) -> Components {
        Components { parent: (0..u32::try_from(count).expect("fewer than 2^32 pages")).collect() }
    }

    fn root(&mut self, mut member: u32) -> u32 {
        loop {
            let parent = self.parent[member as usize];
            if parent == member {
                return member;
            }
            let grandparent = self.parent[parent as usize];
            self.parent[member as usize] = grandparent;
            member = grandparent;
        }
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    fn into_smallest(mut self) -> Vec<u32> {
        (0..).take(self.parent.len()).map(|member| self.root(member)).collect()
    }
}
