//! Pauses: the file `frontier/pause`, which anybody may put there and take away while a crawl runs.
//!
//! What lives here: looking for it, and how long the pauses were. What does not: who puts it there (`standing.rs` has its
//! name), and what a run does meanwhile.
//!
//! **Invariant.** It is looked for no more often than the watcher is told.

use std::path::PathBuf;

use super::WATCH_MS;

/// The file `frontier/pause`: while it is there, no request is made.
pub(super) struct Pause {
    path: PathBuf,
    /// When it was last looked for.
    looked_ms: Option<u64>,
    /// Since when it was seen to be there.
    pub(super) since_ms: Option<u64>,
    /// The pauses that are over.
    total_ms: u64,
}

impl Pause {
    pub(super) fn new(path: PathBuf) -> Pause {
        Pause { path, looked_ms: None, since_ms: None, total_ms: 0 }
    }

    /// Whether the run is to hold.
    pub(super) fn look(&mut self, now_ms: u64) -> bool {
        if self.looked_ms.is_none_or(|looked_ms| now_ms >= looked_ms + WATCH_MS) {
            self.looked_ms = Some(now_ms);
            if self.path.exists() {
                self.since_ms.get_or_insert(now_ms);
            } else {
                self.total_ms = self.total_ms(now_ms);
                self.since_ms = None;
            }
        }
        self.since_ms.is_some()
    }

    pub(super) fn total_ms(&self, now_ms: u64) -> u64 {
        self.total_ms + self.since_ms.map_or(0, |since_ms| now_ms.saturating_sub(since_ms))
    }
}
