//! A bound on the work of matching robots.txt rules.
//!
//! A file may have tens of thousands of lines, and may forbid millions of waiting URLs. The thread that matches
//! them also serves all other hosts.
//!
//! What lives here: [`RobotsBudget`], the bound. What does not: the matching itself (`robots/`), and the choice of a
//! host (`hosts/schedule.rs`).
//!
//! **Invariant.** Between two calls of [`RobotsBudget::begin`] the work is bounded, except for the URL that exceeds the
//! bound.

/// Bytes of paths that are matched against lines in one call; some milliseconds.
const BYTES_MAX: u64 = 4_000_000;
/// The fixed cost of a URL: it limits a call to a thousand URLs.
const URL_BYTES: u64 = 4_000;
/// The fixed cost of a line.
const LINE_BYTES: u64 = 16;

/// The remaining work of one call.
#[derive(Debug, Default)]
pub(super) struct RobotsBudget {
    left: u64,
}

impl RobotsBudget {
    /// Returns the work of `calls` calls.
    pub(super) fn of_calls(calls: u64) -> RobotsBudget {
        RobotsBudget { left: calls * BYTES_MAX }
    }

    pub(super) fn begin(&mut self) {
        self.left = BYTES_MAX;
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// Records that a path was matched against `lines` lines.
    pub(super) fn spend(&mut self, lines: usize, path: &str) {
        let bytes = (lines as u64).saturating_mul(path.len() as u64 + LINE_BYTES);
        self.left = self.left.saturating_sub(bytes.saturating_add(URL_BYTES));
    }
}
