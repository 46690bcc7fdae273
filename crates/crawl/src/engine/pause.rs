//! Pauses: the file `frontier/pause`, which a user may create and delete while a crawl runs.
//!
//! What lives here: looking for the file, and measuring the pauses. What does not: creating it (`standing.rs` has
//! its name), and the behaviour of a paused run.
//!
//! **Invariant.** The file is looked for no more often than the watcher is called.

use std::path::PathBuf;

use super::WATCH_MS;

/// The file `frontier/pause`: while it exists, no request is made.
pub(super) struct Pause {
    path: PathBuf,
    /// When it was last looked for.
    looked_ms: Option<u64>,
    /// When it was first seen.
    pub(super) since_ms: Option<u64>,
    /// The total length of the pauses that are over.
    total_ms: u64,
}

impl Pause {
    pub(super) fn new(path: PathBuf) -> Pause {
        Pause { path, looked_ms: None, since_ms: None, total_ms: 0 }
    }

    /// Returns whether the run is paused.
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
