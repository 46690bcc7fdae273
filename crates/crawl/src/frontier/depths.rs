//! The shortest known distance of each page from the first page of its site.
//!
//! What lives here: [`Depths`], which a frontier has if `depth_max` is set. A sieve emits a URL with the depth at
//! which it was first found; a shorter one that is found later is recorded here. A waiting page is then visited at
//! the shorter depth. A page that was parsed at a greater depth is [nearer](Depths::has_nearer) than assumed, so
//! its links must be offered again. What does not: reading these links from the archive (`replay.rs`).
//!
//! **Invariant.** When no page is nearer and none waits, the depth of every page is the length of the shortest
//! path to it in the archive. A path begins at the first page of its site or at a link of another site. The map
//! takes about 30 bytes per URL, and exists only with `depth_max`.

use std::collections::{BTreeSet, HashMap};

use sieve::Signature;

/// The depths of the URLs found so far.
#[derive(Debug, Default)]
pub(super) struct Depths {
    /// The depth, and whether the links of the page were offered at that depth.
    known: HashMap<u64, (u16, bool)>,
    /// Pages whose links were offered at a greater depth.
    nearer: BTreeSet<u64>,
    /// Pages whose links this pass offers again, and those of them that joined during the pass.
    passing: BTreeSet<u64>,
    late: BTreeSet<u64>,
}

impl Depths {
    /// Records a path to a URL.
    pub(super) fn find(&mut self, url: Signature, depth: u16) {
        let (least, is_read) = self.known.entry(url.0).or_insert((depth, false));
        if depth < *least {
            *least = depth;
            if std::mem::take(is_read) {
                self.nearer.insert(url.0);
            }
        }
    }

    /// Returns whether a path to a URL is known.
    pub(super) fn has(&self, url: Signature) -> bool {
        self.known.contains_key(&url.0)
    }

    /// Returns the depth of a URL that was first found at `depth`.
    pub(super) fn of(&self, url: Signature, depth: u16) -> u16 {
        self.known.get(&url.0).map_or(depth, |&(least, _)| least.min(depth))
    }

    /// Returns the depth for the links of a page that was first found at `depth`, and marks them as offered.
    pub(super) fn read(&mut self, url: Signature, depth: u16) -> u16 {
        self.find(url, depth);
        let known = self.known.get_mut(&url.0);
        known.map_or(depth, |(least, is_read)| {
            *is_read = true;
            *least
        })
    }

    /// Returns whether links must be offered again.
    pub(super) fn has_nearer(&self) -> bool {
        !self.nearer.is_empty()
    }

    /// Starts a pass through all visits that offers the links of nearer pages again.
    pub(super) fn begin_pass(&mut self) {
        self.passing = std::mem::take(&mut self.nearer);
        self.late.clear();
        for url in &self.passing {
            if let Some((_, is_read)) = self.known.get_mut(url) {
                *is_read = true;
            }
        }
    }

    /// Returns whether this pass offers the links of a page again. A page that became nearer during the pass is
    /// included; the next pass handles its visits that this one has missed.
    pub(super) fn is_passed(&mut self, url: Signature) -> bool {
        if self.passing.contains(&url.0) && !self.nearer.contains(&url.0) {
            return true;
        }
        let is_nearer = self.nearer.remove(&url.0);
        if is_nearer {
            self.passing.insert(url.0);
            self.late.insert(url.0);
            if let Some((_, is_read)) = self.known.get_mut(&url.0) {
                *is_read = true;
            }
        }
        is_nearer
    }

    pub(super) fn end_pass(&mut self) {
        self.passing.clear();
        self.nearer.append(&mut self.late);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_read_at_a_greater_depth_are_nearer() {
        let (mut depths, [a, b]) = (Depths::default(), [Signature(1), Signature(2)]);
        for (depth, least) in [(5, 5), (7, 5), (3, 3)] {
            depths.find(a, depth);
            assert_eq!(depths.of(a, 9), least);
        }
        assert!(!depths.has_nearer() && depths.has(a) && !depths.has(b));
        assert_eq!((depths.read(a, 4), depths.read(b, 2), depths.of(b, 1)), (3, 2, 1));
        depths.find(a, 3);
        assert!(!depths.has_nearer());
        for depth in [2, 1] {
            depths.find(a, depth);
        }
        depths.begin_pass();
        assert!(depths.is_passed(a) && !depths.is_passed(b) && !depths.has_nearer());
        // Both become nearer during the pass; a second pass handles what the first has missed.
        depths.find(a, 0);
        depths.find(b, 1);
        assert!(depths.is_passed(b) && depths.is_passed(a) && depths.is_passed(a));
        depths.end_pass();
        assert!(depths.has_nearer());
        depths.begin_pass();
        assert!(depths.is_passed(a) && depths.is_passed(b));
        depths.end_pass();
        assert!(!depths.has_nearer());
        assert_eq!((depths.of(a, 9), depths.of(b, 9)), (0, 1));
    }
}
