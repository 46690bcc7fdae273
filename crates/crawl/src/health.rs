//! Whose fault a failure is: the page's or the host's.
//!
//! What lives here: [`Health`], the failures of a host since its last good answer. A failed lookup or a refused
//! connection counts against the host each time. A page that hangs, breaks off or answers 5xx counts against the
//! host only on its first attempt of a run; later attempts count against the page. What does not: the consequences
//! (`frontier/`, `politeness.rs`).
//!
//! **Invariant.** A page counts once, however often it fails, and a good answer resets the count. The failures
//! between two good answers are a spell; spells are numbered from 1.

use crate::order::{Blame, Waiting};

/// The failures of a host since its last good answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Health {
    failures: u32,
    /// Number of spells that are over.
    spells: u32,
    is_failing: bool,
    /// Whether the host has given a good answer in this run.
    has_answered: bool,
}

impl Health {
    /// Records a good answer, or a new chance for the host.
    pub(crate) fn recover(&mut self) {
        let spells = self.spells.saturating_add(u32::from(self.is_failing));
        *self = Health { spells, has_answered: true, ..Health::default() };
    }

    /// Records that the host could not be reached.
    pub(crate) fn fail(&mut self) {
        self.failures = self.failures.saturating_add(1);
        self.is_failing = true;
    }

    pub(crate) fn fail_page(&mut self, page: &mut Waiting) {
        self.failures = self.failures.saturating_add(u32::from(page.spell == 0));
        self.is_failing = true;
        if page.spell != self.spell() {
            let is_unclear = page.blame == Blame::Unclear && !self.has_answered;
            let attempts_before = if is_unclear { 0 } else { page.attempts };
            (page.spell, page.attempts_before) = (self.spell(), attempts_before);
        }
    }

    /// Returns whether a page has failed only since the last good answer of the host, if ever.
    pub(crate) fn is_unclear(self, page: &Waiting) -> bool {
        match (page.blame, page.spell) {
            (Blame::Bad, _) => false,
            _ if page.attempts == 0 => true,
            (blame, 0) => blame == Blame::Unclear && !self.has_answered,
            (_, spell) => spell == self.spell() && page.attempts_before == 0,
        }
    }

    /// Returns the number of the spell that the next failure belongs to.
    pub(crate) fn spell(self) -> u32 {
        self.spells.saturating_add(1)
    }

    pub(crate) fn is_failing(self) -> bool {
        self.is_failing
    }

    /// Returns the number of failures that count against the host.
    pub(crate) fn failures(self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_counts_once_and_an_answer_resets_failures() {
        let mut health = Health::default();
        let mut pages = ["/a", "/b"].map(Waiting::new);
        for page in [0, 1, 1, 0] {
            health.fail_page(&mut pages[page]);
        }
        assert_eq!((health.failures(), health.is_failing(), health.spell()), (2, true, 1));
        health.fail();
        health.fail();
        assert_eq!(health.failures(), 4);
        health.recover();
        assert_eq!((health.failures(), health.is_failing(), health.spell()), (0, false, 2));
        pages[0].attempts = 1;
        health.fail_page(&mut pages[0]);
        assert_eq!((health.failures(), health.is_failing()), (0, true));
        assert_eq!((pages[0].spell, pages[0].attempts_before), (2, 1));
        pages[0].attempts = 2;
        assert!(!health.is_unclear(&pages[0]), "it failed before the host answered");
        let mut page = Waiting::new("/c");
        health.fail_page(&mut page);
        page.attempts = 1;
        assert!(health.is_unclear(&page));
        health.recover();
        assert!(!health.is_unclear(&page));
    }

    #[test]
    fn an_earlier_failure_is_unclear_until_the_host_answers() {
        for (blame, is_unclear) in
            [(Blame::Own, false), (Blame::Unclear, true), (Blame::Bad, false)]
        {
            let mut health = Health::default();
            let mut page = Waiting { attempts: 1, blame, ..Waiting::new("/") };
            assert_eq!(health.is_unclear(&page), is_unclear, "{blame:?}");
            health.fail_page(&mut page);
            page.attempts = 2;
            assert_eq!((health.is_unclear(&page), health.failures()), (is_unclear, 1));
            health.recover();
            assert!(!health.is_unclear(&page));
            health.fail_page(&mut page);
            assert!(!health.is_unclear(&page), "{blame:?}");
        }
    }
}
