//! What the files of the frontier tell about a crawl while nobody runs it, or beside the run.
//!
//! What lives here: [`CrawlStatus`], for `crivello status`. What does not: the counts of a run (`report.rs`).
//!
//! **Invariant.** Reading changes nothing, so it may be done beside a running crawl.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::config::Recrawl;
use crate::error::CrawlError;
use crate::recrawl::Epochs;
use crate::seeds::has_not_begun;

/// The file whose presence holds a crawl.
pub(crate) const PAUSE: &str = "pause";

/// The file whose presence makes a crawl one of its seeds alone. It comes before them, and says nothing without any.
const LIST: &str = "list";

/// What is still to be done with a crawl.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CrawlStatus {
    /// Whether `frontier/pause` holds it.
    pub paused: bool,
    /// Whether `frontier/list` says that no link is followed.
    pub list: bool,
    /// When the recrawl began that is not over, in seconds since 1970.
    pub recrawl_since_s: Option<i64>,
    /// What that recrawl asks for.
    pub recrawl: Option<Recrawl>,
    /// Whether only hosts are left of it that were set aside.
    pub recrawl_rest: bool,
    /// When the first one of a list began that is not over.
    #[serde(skip)]
    pub list_since_s: Option<i64>,
}

impl CrawlStatus {
    /// Looks into the folder `frontier`.
    pub fn read(frontier: &Path) -> Result<CrawlStatus, CrawlError> {
        let epochs = Epochs::read(frontier)?;
        // One of everything, or of what is due, comes before those of what was given.
        let epoch = epochs.iter().next();
        Ok(CrawlStatus {
            paused: frontier.join(PAUSE).exists(),
            list: frontier.join(LIST).exists() && !has_not_begun(frontier).unwrap_or(false),
            recrawl_rest: epoch.is_some_and(|epoch| epoch.is_rest),
            list_since_s: epochs.list_since_s(),
            recrawl_since_s: epoch.map(|epoch| epoch.begun_s),
            recrawl: epoch.map(|epoch| epoch.extent.mode()),
        })
    }

    /// Keeps for later runs whether links are followed, in the folder `frontier`.
    pub fn keep_list(frontier: &Path, is_list: bool) -> Result<(), CrawlError> {
        let path = frontier.join(LIST);
        let kept = if is_list {
            fs::create_dir_all(frontier).and_then(|()| File::create(&path)?.sync_all())
        } else {
            match fs::remove_file(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                removed => removed,
            }
        };
        kept.map_err(CrawlError::io(&path))
    }
}
