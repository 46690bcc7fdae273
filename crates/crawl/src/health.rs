//! Whose fault a failure is: the page's or the host's (P7).
//!
//! What lives here: [`Health`], the failures of a host since its last good answer. A name without
//! an address or a connection that is refused speaks against the host each time. A page that
//! hangs, breaks off or answers 5xx speaks against the host the first time that a run tries it; when it is tried
//! again and fails again, against itself. What does not: what follows (`frontier/`, `politeness.rs`).
//!
//! **Invariant.** One page, however often it fails, counts once; an answer forgives all. Failures with no good answer
//! in between are one spell, and every spell has its own number, from 1.

use crate::order::{Repute, Waiting};

/// What failed at a host since its last good answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Health {
    failures: u32,
    /// How many spells are over.
    spells: u32,
    is_failing: bool,
    /// Whether it has given a good answer in this run.
    has_answered: bool,
}

impl Health {
    /// The host answered, or is given another chance.
    pub(crate) fn recover(&mut self) {
        let spells = self.spells.saturating_add(u32::from(self.is_failing));
        *self = Health { spells, has_answered: true, ..Health::default() };
    }

    /// The host could not be reached.
    pub(crate) fn fail(&mut self) {
        self.failures = self.failures.saturating_add(1);
        self.is_failing = true;
    }

    /// A page could not be had.
    pub(crate) fn fail_page(&mut self, page: &mut Waiting) {
        self.failures = self.failures.saturating_add(u32::from(page.spell == 0));
        self.is_failing = true;
        if page.spell != self.spell() {
            let is_unclear = page.repute == Repute::Unclear && !self.has_answered;
            let attempts_before = if is_unclear { 0 } else { page.attempts };
            (page.spell, page.attempts_before) = (self.spell(), attempts_before);
        }
    }

    /// Whether a page has failed since the last good answer of the host only, if ever.
    pub(crate) fn is_unclear(self, page: &Waiting) -> bool {
        match (page.repute, page.spell) {
            (Repute::Bad, _) => false,
            _ if page.attempts == 0 => true,
            (repute, 0) => repute == Repute::Unclear && !self.has_answered,
            (_, spell) => spell == self.spell() && page.attempts_before == 0,
        }
    }

    /// The number of the spell that the next failure belongs to.
    pub(crate) fn spell(self) -> u32 {
        self.spells.saturating_add(1)
    }

    /// Whether the last visit failed.
    pub(crate) fn is_failing(self) -> bool {
        self.is_failing
    }

    /// How many failures speak against the host.
    pub(crate) fn failures(self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_page_counts_once_and_an_answer_forgives_all() {
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
    fn what_an_earlier_run_tried_is_unclear_until_the_host_answers() {
        for (repute, is_unclear) in
            [(Repute::Own, false), (Repute::Unclear, true), (Repute::Bad, false)]
        {
            let mut health = Health::default();
            let mut page = Waiting { attempts: 1, repute, ..Waiting::new("/") };
            assert_eq!(health.is_unclear(&page), is_unclear, "{repute:?}");
            health.fail_page(&mut page);
            page.attempts = 2;
            assert_eq!((health.is_unclear(&page), health.failures()), (is_unclear, 1));
            health.recover();
            assert!(!health.is_unclear(&page));
            health.fail_page(&mut page);
            assert!(!health.is_unclear(&page), "{repute:?}");
        }
    }
}
