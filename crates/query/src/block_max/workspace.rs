//! What evaluation works with, kept from query to query: to ask for the memory anew would cost more than many queries do.
//!
//! **Invariant.** Whoever takes a workspace finds its window empty.

use std::sync::Mutex;

use super::candidates::Span;
use super::front::Front;
use super::held::Rooms;
use super::intersection::Matches;
use super::nested::Found;
use super::phrase::Starts;
use super::window::WINDOW_MAX;
use super::windows::Windows;
use super::{Window, Word};

/// Where one document in as many is marked, to sort them costs less than to look at all marks.
const FEW: usize = 16;

/// A workspace that has served a query with more lists is dropped: it may have grown to many megabytes.
const LISTS_KEPT: usize = 1024;

/// Of one query at a time.
pub(super) struct Workspace {
    pub(super) window: Window,
    pub(super) scratch: Scratch,
    /// For each document of a window its place there; what was there before is left.
    pub(super) places: Vec<u16>,
    pub(super) found: Vec<(u32, f32)>,
    /// Documents of a window.
    pub(super) docs: Vec<u32>,
    /// What documents are worth, in points.
    pub(super) sums: Vec<u16>,
    pub(super) front: Front,
    rooms: Rooms,
    pub(super) windows: Windows,
    pub(super) matches: Matches,
    pub(super) starts: Starts,
    /// Of parts of a query, kept for their memory.
    spare: Vec<Found>,
    /// A bit for each document of a window: all zeros.
    pub(super) words: Vec<u64>,
    /// The last stamp that each document of a window was marked with.
    pub(super) marks: Vec<u8>,
    stamp: u8,
}

impl Workspace {
    /// Marks the documents of a window that have any of some words, with a stamp that no other has.
    pub(super) fn mark(&mut self, words: &mut [Word<'_>], span: Span) -> u8 {
        let stamp = self.next_stamp();
        for list in words.iter_mut().flat_map(|word| &mut word.lists) {
            for &doc in list.window(span.start, span.end) {
                self.marks[(doc - span.start) as usize] = stamp;
            }
        }
        stamp
    }

    /// Makes `docs` the documents of a window that have any of some words.
    pub(super) fn collect(&mut self, words: &mut [Word<'_>], span: Span) {
        let stamp = self.next_stamp();
        self.docs.clear();
        for list in words.iter_mut().flat_map(|word| &mut word.lists) {
            for &doc in list.window(span.start, span.end) {
                let mark = &mut self.marks[(doc - span.start) as usize];
                if *mark != stamp {
                    *mark = stamp;
                    self.docs.push(doc);
                }
            }
        }
        let wide = (span.end - span.start) as usize;
        if self.docs.len() * FEW < wide {
            self.docs.sort_unstable();
        } else {
            self.docs.clear();
            let marks = (span.start..span.end).zip(&self.marks);
            self.docs.extend(marks.filter(|(_, mark)| **mark == stamp).map(|(doc, _)| doc));
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

    /// A stamp that no mark has.
    pub(super) fn next_stamp(&mut self) -> u8 {
        if self.stamp == u8::MAX {
            self.marks.fill(0);
            self.stamp = 0;
        }
        self.stamp += 1;
        self.stamp
    }
}

/// Buffers without a meaning of their own.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) lengths: Vec<u32>,
    pub(super) scores: Vec<f32>,
    pub(super) kept: Vec<u32>,
    pub(super) is_found: Vec<bool>,
    /// A bit for each document of a window.
    pub(super) words: Vec<u64>,
}

/// Workspaces that no query uses. They grow with the lists of a query; after a query with many lists they are dropped.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "a workspace is large, and would be moved twice a query")]
pub(crate) struct Workspaces(Mutex<Vec<Box<Workspace>>>);

impl Workspaces {
    /// Does `work` with one of them, and its rooms.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Workspace, &mut Rooms) -> T) -> T {
        let free = self.0.lock().ok().and_then(|mut free| free.pop());
        let mut workspace = free.unwrap_or_else(|| {
            Box::new(Workspace {
                window: Window::new(),
                scratch: Scratch::default(),
                places: vec![0; WINDOW_MAX as usize],
                found: Vec::new(),
                docs: Vec::new(),
                sums: Vec::new(),
                front: Front::default(),
                rooms: Rooms::default(),
                windows: Windows::default(),
                matches: Matches::default(),
                starts: Starts::default(),
                spare: Vec::new(),
                marks: vec![0; WINDOW_MAX as usize],
                words: Vec::new(),
                stamp: 0,
            })
        });
        let mut rooms = std::mem::take(&mut workspace.rooms);
        let done = work(&mut workspace, &mut rooms);
        let is_kept = rooms.len() <= LISTS_KEPT;
        workspace.rooms = rooms;
        if is_kept && let Ok(mut free) = self.0.lock() {
            free.push(workspace);
        }
        done
    }
}
