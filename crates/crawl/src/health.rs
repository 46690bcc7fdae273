//! Whose fault a failure is: the page's or the host's (P7).
//!
//! What lives here: [`Health`], the failures of a host since its last good answer. A name without
//! an address or a connection that is refused speaks against the host each time. A page that
//! hangs, breaks off or answers 5xx speaks against itself; only different pages, one after the
//! other, speak against the host. What does not: what follows (`frontier/`, `politeness.rs`).
//!
//! **Invariant.** One page, however often it fails, counts once until the host answers.

use std::collections::BTreeSet;

/// What failed at a host since its last good answer.
#[derive(Debug, Default)]
pub(crate) struct Health {
    host: u32,
    pages: BTreeSet<Box<str>>,
}

impl Health {
    /// The host answered.
    pub(crate) fn recover(&mut self) {
        self.host = 0;
        self.pages.clear();
    }

    /// The host could not be reached.
    pub(crate) fn fail(&mut self) {
        self.host = self.host.saturating_add(1);
    }

    /// A page could not be had.
    pub(crate) fn fail_page(&mut self, path: &str) {
        if !self.pages.contains(path) {
            self.pages.insert(path.into());
        }
    }

    /// How many failures speak against the host.
    pub(crate) fn failures(&self) -> u32 {
        let pages = u32::try_from(self.pages.len()).unwrap_or(u32::MAX);
        self.host.saturating_add(pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_page_counts_once_and_an_answer_forgives_all() {
        let mut health = Health::default();
        for path in ["/a", "/b", "/a", "/a"] {
            health.fail_page(path);
        }
        assert_eq!(health.failures(), 2);
        health.fail();
        health.fail();
        assert_eq!(health.failures(), 4);
        health.recover();
        assert_eq!(health.failures(), 0);
    }
}
