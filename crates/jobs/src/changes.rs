//! The difference between an index and the pages it should hold: documents to keep, documents to delete, pages to
//! add.
//!
//! A document is kept if a wanted page has its URL and its content hash. The hash covers every indexed text and the
//! record. It leaves out facts that only the directory holds, such as the date of the last visit.
//!
//! **Invariant.** The kept documents and the added pages together are the pages of the plan. Each page occurs once.

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
    /// Segment and document of each document to delete, changed pages included.
    pub(crate) removed: Vec<(usize, DocId)>,
    /// Number of documents that are kept.
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

    /// Returns whether to build a new index: more documents would be deleted than kept, or none would be kept.
    pub(crate) fn is_new_index(&self) -> bool {
        self.removed.len() as u64 > self.kept || self.kept == 0
    }
}
