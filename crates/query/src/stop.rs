//! Stopping a search that is under way.
//!
//! A search checks its [`Stop`] in every loop that may be long. Once it is set, the search ends early and returns
//! its results so far. Lists of documents end at once ([`Until`]), and so does every operator over them.
//!
//! This module has no clocks: the caller decides when to stop.
//!
//! **Invariant.** A set flag stays set. So a result is complete if the flag is not set after it was computed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use index::{DocId, DocIterator, END, Frequencies, Positions};

/// A flag that stops searches. Clones share the flag. It starts unset.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    is_set: AtomicBool,
    /// The number of checks, and the check at which the flag is set.
    #[cfg(test)]
    looks: (std::sync::atomic::AtomicU64, Option<u64>),
}

impl Stop {
    /// Stops every search that checks this flag.
    pub fn set(&self) {
        self.0.is_set.store(true, Ordering::Relaxed);
    }

    /// Returns whether the flag is set.
    #[inline]
    pub fn is_set(&self) -> bool {
        #[cfg(test)]
        self.look();
        self.0.is_set.load(Ordering::Relaxed)
    }
}

/// A list of documents that ends when a [`Stop`] is set.
#[derive(Debug)]
pub(crate) struct Until<'a, P> {
    list: P,
    stop: &'a Stop,
}

impl<'a, P> Until<'a, P> {
    /// Returns `list` with an end at `stop`.
    pub(crate) fn new(list: P, stop: &'a Stop) -> Until<'a, P> {
        Until { list, stop }
    }

    /// The list, without a check.
    pub(crate) fn list(&self) -> &P {
        &self.list
    }
}

impl<P: DocIterator> DocIterator for Until<'_, P> {
    #[inline]
    fn doc(&self) -> DocId {
        self.list.doc()
    }

    #[inline]
    fn next_doc(&mut self) -> DocId {
        if self.stop.is_set() {
            return self.list.skip_to(END);
        }
        self.list.next_doc()
    }

    #[inline]
    fn skip_to(&mut self, target: DocId) -> DocId {
        self.list.skip_to(if self.stop.is_set() { END } else { target })
    }
}

impl<P: Frequencies> Frequencies for Until<'_, P> {
    #[inline]
    fn frequency(&mut self) -> u32 {
        self.list.frequency()
    }
}

impl<P: Positions> Positions for Until<'_, P> {
    fn positions(&mut self, out: &mut Vec<u32>) {
        if self.stop.is_set() {
            return out.clear();
        }
        self.list.positions(out);
    }
}

#[cfg(test)]
mod tests;
