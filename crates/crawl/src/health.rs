//! Whose fault a failure is: the page's or the host's (P7).
//!
//! What lives here: [`Health`], the failures of a host since its last good answer. A name without
//! an address or a connection that is refused speaks against the host each time. A page that
//! hangs, breaks off or answers 5xx speaks against the host the first time; when it is tried again
//! and fails again, against itself. What does not: what follows (`frontier/`, `politeness.rs`).
//!
//! **Invariant.** One page, however often it fails, counts once; an answer forgives all.

/// What failed at a host since its last good answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Health {
    failures: u32,
    is_failing: bool,
}

impl Health {
    /// The host answered.
    pub(crate) fn recover(&mut self) {
        *self = Health::default();
    }

    /// The host could not be reached.
    pub(crate) fn fail(&mut self) {
        self.failures = self.failures.saturating_add(1);
        self.is_failing = true;
    }

    /// A page could not be had, after so many attempts before.
    pub(crate) fn fail_page(&mut self, attempts: u8) {
        self.failures = self.failures.saturating_add(u32::from(attempts == 0));
        self.is_failing = true;
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
        for attempts in [0, 0, 1, 2] {
            health.fail_page(attempts);
        }
        assert_eq!((health.failures(), health.is_failing()), (2, true));
        health.fail();
        health.fail();
        assert_eq!(health.failures(), 4);
        health.recover();
        assert_eq!((health.failures(), health.is_failing()), (0, false));
        health.fail_page(1);
        assert_eq!((health.failures(), health.is_failing()), (0, true));
    }
}
