//! What evaluation works with, kept from query to query: to ask for the memory anew would cost more than many queries do.
//!
//! **Invariant.** Whoever takes a workspace finds its window empty.

use std::sync::Mutex;

use super::candidates::Span;
use super::front::Front;
use super::intersection::Matches;
use super::marks::Marks;
use super::nested::Found;
use super::phrase::Starts;
use super::window::WINDOW_MAX;
use super::windows::Windows;
use super::{Window, Word};

/// Where one document in as many is marked, to sort them costs less than to look at all marks.
const FEW: usize = 16;

/// Of one query at a time.
pub(super) struct Workspace {
    pub(super) window: Window,
    pub(super) scratch: Scratch,
    /// For each document of a window its place there; what was there before is left.
    pub(super) places: Vec<u16>,
    pub(super) found: Vec<(u32, f32)>,
    /// Documents of a window.
    pub(super) docs: Vec<u32>,
    pub(super) front: Front,
    pub(super) windows: Windows,
    pub(super) matches: Matches,
    pub(super) starts: Starts,
    /// Of parts of a query, kept for their memory.
    spare: Vec<Found>,
    /// A bit for each document of a window: all zeros.
    pub(super) words: Vec<u64>,
    pub(super) marks: Marks,
}

impl Workspace {
    /// Marks the documents of a window that have any of some words, and no others.
    pub(super) fn mark(&mut self, words: &mut [Word<'_>], span: Span) {
        self.marks.clear();
        for list in words.iter_mut().flat_map(|word| &mut word.lists) {
            self.marks.extend(list.window(span.start, span.end), span.start);
        }
    }

    /// Makes `docs` the documents of a window that have any of some words.
    pub(super) fn collect(&mut self, words: &mut [Word<'_>], span: Span) {
        self.marks.clear();
        self.docs.clear();
        for list in words.iter_mut().flat_map(|word| &mut word.lists) {
            for &doc in list.window(span.start, span.end) {
                if self.marks.insert(doc - span.start) {
                    self.docs.push(doc);
                }
            }
        }
        let wide = (span.end - span.start) as usize;
        if self.docs.len() * FEW < wide {
            self.docs.sort_unstable();
        } else {
            self.docs.clear();
            let is_marked = |doc: &u32| self.marks.contains(doc - span.start);
            self.docs.extend((span.start..span.end).filter(is_marked));
        }
    }

    /// Room for documents: none yet.
    pub(super) fn take(&mut self) -> Found {
        self.spare.pop().unwrap_or_default()
    }

    /// Takes room that is not needed any more.
    pub(super) fn give_back(&mut self, mut found: Found) {
        found.clear();
        self.spare.push(found);
    }
}

/// Buffers without a meaning of their own.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) lengths: Vec<u32>,
    pub(super) scores: Vec<f32>,
    pub(super) kept: Vec<u32>,
    pub(super) is_found: Vec<bool>,
}

/// Workspaces that nobody uses: as many as there have been queries at a time.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "a workspace is large, and would be moved twice a query")]
pub(crate) struct Workspaces(Mutex<Vec<Box<Workspace>>>);

impl Workspaces {
    /// Does `work` with one of them.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Workspace) -> T) -> T {
        let free = self.0.lock().ok().and_then(|mut free| free.pop());
        let mut workspace = free.unwrap_or_else(|| {
            Box::new(Workspace {
                window: Window::new(),
                scratch: Scratch::default(),
                places: vec![0; WINDOW_MAX as usize],
                found: Vec::new(),
                docs: Vec::new(),
                front: Front::default(),
                windows: Windows::default(),
                matches: Matches::default(),
                starts: Starts::default(),
                spare: Vec::new(),
                marks: Marks::new(),
                words: Vec::new(),
            })
        });
        let done = work(&mut workspace);
        if let Ok(mut free) = self.0.lock() {
            free.push(workspace);
        }
        done
    }
}
