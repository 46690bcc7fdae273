//! The log: the requests and their times.
//!
//! **Invariant.** The log keeps no more lines than its limit. It counts the requests beyond it,
//! unless the limit is 0.

use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// Arrival, since the start of the server, by a clock that never goes back.
    pub at_ms: u64,
    /// The time when its answer began to go out, on the same clock. The answer cannot have ended
    /// earlier. So a pause of the server never counts against the client.
    pub answered_ms: u64,
    /// Name of the host, without port.
    pub host: String,
    /// Path and query as sent.
    pub path: String,
    /// Status of the answer; 0 if none was given.
    pub status: u16,
    /// The client's User-Agent.
    pub agent: String,
}

/// A log with a limit.
#[derive(Debug)]
pub(crate) struct Log {
    lines: Mutex<Lines>,
    lines_max: usize,
}

#[derive(Debug, Default)]
struct Lines {
    kept: Vec<LogLine>,
    dropped: u64,
}

impl Log {
    pub(crate) fn new(lines_max: usize) -> Self {
        Self { lines: Mutex::default(), lines_max }
    }

    /// Keeps a line, made only if there is room for it.
    pub(crate) fn push(&self, line: impl FnOnce() -> LogLine) {
        if self.lines_max == 0 {
            return;
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.kept.len() < self.lines_max {
            lines.kept.push(line());
        } else {
            lines.dropped += 1;
        }
    }

    pub(crate) fn lines(&self) -> Vec<LogLine> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).kept.clone()
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).dropped
    }
}
