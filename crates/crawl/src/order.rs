//! In which order the pages of one host are visited (V2).
//!
//! What lives here: [`VisitOrder`], [`BreadthFirst`] and [`ShallowFirst`]. What does not:
//! politeness, robots, limits. There is no depth-first order: on a web without end it never comes
//! back.
//!
//! **Invariant.** What is pushed is popped once, and equal pages (for the order) leave in the
//! order in which they arrived.

use std::collections::{BTreeMap, VecDeque};

/// A page of a host that waits for its visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Path and query, beginning with `/`.
    pub path: Box<str>,
    /// How many redirects led here.
    pub hops: u8,
    /// How many visits have failed so far.
    pub attempts: u8,
    /// Whether it is a sitemap, which is read for its list and is no page.
    pub sitemap: bool,
}

impl Waiting {
    /// A page never tried, found by a link.
    pub fn new(path: &str) -> Waiting {
        Waiting { path: path.into(), hops: 0, attempts: 0, sitemap: false }
    }

    /// How many levels down the path goes: `/` 1, `/a` 1, `/a/` and `/a/b` 2.
    pub fn levels(&self) -> usize {
        let path = self.path.split('?').next().unwrap_or_default();
        path.bytes().filter(|&byte| byte == b'/').count()
    }
}

/// A queue of pages with an order of its own.
pub trait VisitOrder: Send {
    /// Puts a page in.
    fn push(&mut self, page: Waiting);
    /// Takes the next one.
    fn pop(&mut self) -> Option<Waiting>;
    /// How many wait.
    fn len(&self) -> usize;
    /// Whether none waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// First found, first visited.
#[derive(Debug, Default)]
pub struct BreadthFirst {
    queue: VecDeque<Waiting>,
}

impl VisitOrder for BreadthFirst {
    fn push(&mut self, page: Waiting) {
        self.queue.push_back(page);
    }

    fn pop(&mut self) -> Option<Waiting> {
        self.queue.pop_front()
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}

/// Fewer path levels first; among equals, first found first.
#[derive(Debug, Default)]
pub struct ShallowFirst {
    /// Levels → arrivals. A level leaves the map when it is empty.
    levels: BTreeMap<usize, VecDeque<Waiting>>,
    len: usize,
}

impl VisitOrder for ShallowFirst {
    fn push(&mut self, page: Waiting) {
        self.levels.entry(page.levels()).or_default().push_back(page);
        self.len += 1;
    }

    fn pop(&mut self) -> Option<Waiting> {
        let mut shallowest = self.levels.first_entry()?;
        let page = shallowest.get_mut().pop_front();
        if shallowest.get().is_empty() {
            shallowest.remove();
        }
        self.len -= usize::from(page.is_some());
        page
    }

    fn len(&self) -> usize {
        self.len
    }
}
