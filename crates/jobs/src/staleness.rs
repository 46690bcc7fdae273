//! Reasons why a stage must run.
//!
//! What lives here: [`Staleness`] and its text. What does not: how the reason is found (`extract.rs`, `indexing.rs`).
//!
//! **Invariant.** No two reasons have the same text.

use std::fmt;

/// The reason why the output of a stage is out of date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Staleness {
    /// No archive file was read before.
    Unread,
    /// This number of archive files are new or have changed.
    Files(usize),
    /// Archive files were removed.
    FilesGone,
    /// The options of extraction or the version of this program have changed.
    Reading,
    /// The directory of the page table is missing or has another version.
    Table,
    /// Parts of the page table are missing.
    Parts,
    /// The index was made from other pages.
    Pages,
    /// The index was made from other clusters of duplicates.
    Duplicates,
    /// The index has other codes, another order or other filters.
    Codes,
    /// The index was made with another analysis.
    Analysis,
}

impl fmt::Display for Staleness {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Staleness::Unread => out.write_str("the archive was never read for it"),
            Staleness::Files(1) => out.write_str("1 archive file is new or has changed"),
            Staleness::Files(files) => write!(out, "{files} archive files are new or have changed"),
            Staleness::FilesGone => out.write_str("archive files are gone that it was made from"),
            Staleness::Reading => out.write_str(
                "pages are read by other settings of [crawl] than they were (`normalise`, `user_agent`, limits \
                 of a page), or by another version",
            ),
            Staleness::Table => out.write_str("`pages/directory` is missing, or of another version"),
            Staleness::Parts => out.write_str("files of `pages/` are missing"),
            Staleness::Pages => out.write_str("it is of other pages than were read since"),
            Staleness::Duplicates => out.write_str("ranks or [dedup] are others than when it was made"),
            Staleness::Codes => out.write_str("[index] asks for other codes or another order, or another version made it"),
            Staleness::Analysis => out.write_str("[analysis] is another than when it was made"),
        }
    }
}
