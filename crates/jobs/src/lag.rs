//! Why a stage has something to do.
//!
//! What lives here: [`Lag`], and its words for people. What does not: finding out (`extract.rs`, `indexing.rs`).
//!
//! **Invariant.** No two causes are told in the same words.

use std::fmt;

/// What has changed since a stage was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lag {
    /// Nothing was ever read from the archive.
    Unread,
    /// So many files of the archive are new, or others than they were.
    Files(usize),
    /// Files of the archive are gone.
    FilesGone,
    /// Pages are read by other settings, or by another version of this program.
    Reading,
    /// The page table itself is not there, or cannot be read by this version.
    Table,
    /// Files of the page table are not there.
    Parts,
    /// The index is of other pages.
    Pages,
    /// The index is of other duplicates.
    Duplicates,
    /// The index has other codes, another order or other filters.
    Codes,
    /// The index was made with another analysis.
    Analysis,
}

impl fmt::Display for Lag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lag::Unread => out.write_str("the archive was never read for it"),
            Lag::Files(1) => out.write_str("1 archive file is new or has changed"),
            Lag::Files(files) => write!(out, "{files} archive files are new or have changed"),
            Lag::FilesGone => out.write_str("archive files are gone that it was made from"),
            Lag::Reading => out.write_str(
                "pages are read by other settings of [crawl] than they were (`normalise`, `user_agent`, limits \
                 of a page), or by another version",
            ),
            Lag::Table => out.write_str("`pages/directory` is missing, or of another version"),
            Lag::Parts => out.write_str("files of `pages/` are missing"),
            Lag::Pages => out.write_str("it is of other pages than were read since"),
            Lag::Duplicates => out.write_str("ranks or [dedup] are others than when it was made"),
            Lag::Codes => out.write_str("[index] asks for other codes or another order, or another version made it"),
            Lag::Analysis => out.write_str("[analysis] is another than when it was made"),
        }
    }
}
