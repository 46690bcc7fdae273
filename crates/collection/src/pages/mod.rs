//! The page table: what was extracted from the archive, one row a capture.
//!
//! What lives here: rows ([`PageRow`], [`CaptureOutcome`]), parts (one immutable file for each archive file),
//! and the [`Directory`] of live pages. What does not: how a row is made.
//!
//! **Invariant.** The directory lists every live page once, ordered by SURT; a page's place in it is
//! its node in the link graph. A page is live when the newest capture of its URL is a page.

mod directory;
mod part;
mod row;
mod table;

pub use directory::{Directory, Entry};
pub use part::{Part, PartWriter};
pub use row::{CaptureOutcome, OutLink, PagePointer, PageRow};
pub(crate) use row::{put_text, take_text};
pub use table::{PART_COUNT_MAX, PageTable, PartName, Parts, files_read, write_directory};
