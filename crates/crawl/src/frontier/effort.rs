//! How much work the rules of robots.txt files may make before the coordinator looks elsewhere.
//!
//! A file may have tens of thousands of lines, and millions of URLs that they forbid may wait. The thread that
//! holds each line against each URL is the one that looks after all hosts.
//!
//! What does not live here: the comparison itself (`robots/`), and whose turn it is (`hosts/turn.rs`).
//!
//! **Invariant.** Between two calls of [`Effort::begin`] the work is bounded, but for the URL that exceeds it.

/// Bytes of paths that lines are held against in one call; some milliseconds.
const BYTES_MAX: u64 = 4_000_000;
/// What a URL costs besides: so that there are a thousand of them at most.
const URL_BYTES: u64 = 4_000;
/// What a line costs besides the bytes of the path.
const LINE_BYTES: u64 = 16;

/// What is left of the work of one call.
#[derive(Debug, Default)]
pub(super) struct Effort {
    left: u64,
}

impl Effort {
    /// As much as so many calls may make.
    pub(super) fn of_calls(calls: u64) -> Effort {
        Effort { left: calls * BYTES_MAX }
    }

    /// Begins a call.
    pub(super) fn begin(&mut self) {
        self.left = BYTES_MAX;
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// A path was held against so many lines.
    pub(super) fn spend(&mut self, lines: usize, path: &str) {
        let bytes = (lines as u64).saturating_mul(path.len() as u64 + LINE_BYTES);
        self.left = self.left.saturating_sub(bytes.saturating_add(URL_BYTES));
    }
}
