//! How far the pages of a site are from its first one, by the shortest way that was found (V3).
//!
//! What lives here: [`Depths`], which a frontier has where `depth_max` limits it. A sieve hands a URL out with
//! the way by which it was first found; a shorter one that is found later is noted here. A page that waits is
//! then visited at that depth. One that was visited has been read for its links at a greater depth: it is
//! [nearer](Depths::has_nearer) than it was taken for, and its links are to be looked at once more. What does
//! not: reading them, which the archive makes possible (`replay.rs`).
//!
//! **Invariant.** When nothing is nearer and nothing waits, the depth of every page is the length of the
//! shortest way to it, from its site's first page or from a link of another site, that the archive has. About
//! thirty bytes are kept for a URL, and only in a run with `depth_max`.

use std::collections::{BTreeSet, HashMap};

use sieve::Signature;

/// The depths of the URLs found so far.
#[derive(Debug, Default)]
pub(super) struct Depths {
    /// The depth, and whether the links of the page were looked at by that depth.
    known: HashMap<u64, (u16, bool)>,
    /// Those whose links were looked at by a greater one.
    nearer: BTreeSet<u64>,
    /// Those whose links the pass looks at once more, and of them those that joined it on its way.
    passing: BTreeSet<u64>,
    late: BTreeSet<u64>,
}

impl Depths {
    /// Takes note of a way to a URL.
    pub(super) fn find(&mut self, url: Signature, depth: u16) {
        let (least, is_read) = self.known.entry(url.0).or_insert((depth, false));
        if depth < *least {
            *least = depth;
            if std::mem::take(is_read) {
                self.nearer.insert(url.0);
            }
        }
    }

    /// Whether any way to a URL is known.
    pub(super) fn has(&self, url: Signature) -> bool {
        self.known.contains_key(&url.0)
    }

    /// The depth of a URL that was found at `depth` first.
    pub(super) fn of(&self, url: Signature, depth: u16) -> u16 {
        self.known.get(&url.0).map_or(depth, |&(least, _)| least.min(depth))
    }

    /// The depth by which the links of a page that was found at `depth` first are looked at, from now on.
    pub(super) fn read(&mut self, url: Signature, depth: u16) -> u16 {
        self.find(url, depth);
        let known = self.known.get_mut(&url.0);
        known.map_or(depth, |(least, is_read)| {
            *is_read = true;
            *least
        })
    }

    /// Whether links are to be looked at once more.
    pub(super) fn has_nearer(&self) -> bool {
        !self.nearer.is_empty()
    }

    /// Begins a pass through all visits, in which those of nearer pages are looked at once more.
    pub(super) fn begin_pass(&mut self) {
        self.passing = std::mem::take(&mut self.nearer);
        self.late.clear();
        for url in &self.passing {
            if let Some((_, is_read)) = self.known.get_mut(url) {
                *is_read = true;
            }
        }
    }

    /// Whether a visit of this page is to be looked at once more, now that the pass has come to it. A page that
    /// has become nearer in the same pass is, too; what the pass has missed of it comes with the next one.
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

    /// Ends the pass.
    pub(super) fn end_pass(&mut self) {
        self.passing.clear();
        self.nearer.append(&mut self.late);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_read_by_a_greater_depth_is_nearer() {
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
        // Both become nearer on the way; a second pass sees what of them the first has missed.
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
