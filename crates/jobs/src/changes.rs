//! What an index must be told to hold the pages of now: which documents of it still stand, which go, and
//! which pages are to be added.
//!
//! A document still stands if the index has one of its URL with the same content: a hash of every text
//! that was indexed and of what the record says. What only the directory knows, such as the date of the
//! last visit, does not count: whoever shows a document asks the directory.
//!
//! **Invariant.** The documents that stand and the pages to be added are together the pages of the plan,
//! each once.

use std::collections::HashMap;

use index::{DocId, Index};

use crate::JobsError;

/// A page that is to be in the index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) place: usize,
    pub(crate) url: &'a str,
    pub(crate) content: u64,
}

/// The difference between an index and what it should hold.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Places of the pages to be added, in their order.
    pub(crate) added: Vec<usize>,
    /// Segment and document of what goes, changed pages included.
    pub(crate) removed: Vec<(usize, DocId)>,
    /// How many documents stand.
    pub(crate) kept: u64,
}

impl Changes {
    pub(crate) fn between(index: &Index, wanted: &[Wanted<'_>]) -> Result<Self, JobsError> {
        let mut missing: HashMap<&str, Wanted<'_>> =
            wanted.iter().map(|page| (page.url, *page)).collect();
        let mut changes = Self::default();
        for (number, segment) in index.segments().iter().enumerate() {
            segment.each_record(|doc, record| {
                let url = record.url.as_str();
                if missing.get(url).is_some_and(|page| page.content == record.content) {
                    missing.remove(url);
                    changes.kept += 1;
                } else {
                    changes.removed.push((number, doc));
                }
            })?;
        }
        changes.added = wanted
            .iter()
            .filter(|page| missing.contains_key(page.url))
            .map(|page| page.place)
            .collect();
        Ok(changes)
    }

    /// Whether the index is better built again: most of it would be deleted, or nothing of it stands.
    pub(crate) fn is_new_index(&self) -> bool {
        self.removed.len() as u64 > self.kept || self.kept == 0
    }
}
