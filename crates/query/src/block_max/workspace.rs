//! Buffers for query evaluation. They are reused by later queries, because their allocation would take longer than
//! many queries.
//!
//! **Invariant.** A workspace is returned with an empty window.

use std::sync::Mutex;

use super::block_candidates::BlockCandidates;
use super::block_reader::BlockBuffers;
use super::candidates::Span;
use super::intersection::Matches;
use super::list::List;
use super::window::WINDOW_MAX;
use super::windows::Windows;
use super::{Window, Word};

/// With fewer than one document in this many, sorting them is cheaper than a scan of all marks.
const FEW: usize = 16;

/// A workspace is dropped after a query with more lists, because it may have many megabytes.
const LISTS_KEPT: usize = 1024;

/// Buffers of one query.
pub(super) struct Workspace {
    pub(super) window: Window,
    pub(super) scratch: Scratch,
    /// For each document of a window, its place there. Values of earlier windows remain.
    pub(super) places: Vec<u16>,
    pub(super) found: Vec<(u32, f32)>,
    /// Documents of a window.
    pub(super) docs: Vec<u32>,
    /// Quantized scores of documents, in points.
    pub(super) sums: Vec<u16>,
    pub(super) front: BlockCandidates,
    rooms: BlockBuffers,
    pub(super) windows: Windows,
    pub(super) matches: Matches,
    /// A bit for each document of a window. All are 0 between uses.
    pub(super) words: Vec<u64>,
    /// For each document of a window, the last stamp that it was marked with.
    pub(super) marks: Vec<u8>,
    stamp: u8,
}

impl Workspace {
    /// Marks the documents of a window that are in any of some lists with a new stamp, and returns the stamp.
    pub(super) fn mark<'l, 'a: 'l>(
        &mut self,
        lists: impl IntoIterator<Item = &'l mut List<'a>>,
        span: Span,
    ) -> u8 {
        let stamp = self.next_stamp();
        for list in lists {
            for &doc in list.window(span.start, span.end) {
                self.marks[(doc - span.start) as usize] = stamp;
            }
        }
        stamp
    }

    /// Sets `docs` to the documents of a window that contain any of some words.
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

    /// Returns a stamp that no mark has.
    pub(super) fn next_stamp(&mut self) -> u8 {
        if self.stamp == u8::MAX {
            self.marks.fill(0);
            self.stamp = 0;
        }
        self.stamp += 1;
        self.stamp
    }
}

/// Buffers for any use.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) lengths: Vec<u32>,
    pub(super) scores: Vec<f32>,
    pub(super) kept: Vec<u32>,
    pub(super) is_found: Vec<bool>,
    /// A bit for each document of a window.
    pub(super) words: Vec<u64>,
}

/// Workspaces that no query uses. They grow with the lists of a query and are dropped after a query with many lists.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "a workspace is large, and would be moved twice a query")]
pub(crate) struct Workspaces(Mutex<Vec<Box<Workspace>>>);

impl Workspaces {
    /// Runs `work` with a workspace and its buffers.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Workspace, &mut BlockBuffers) -> T) -> T {
        let free = self.0.lock().ok().and_then(|mut free| free.pop());
        let mut workspace = free.unwrap_or_else(|| {
            Box::new(Workspace {
                window: Window::new(),
                scratch: Scratch::default(),
                places: vec![0; WINDOW_MAX as usize],
                found: Vec::new(),
                docs: Vec::new(),
                sums: Vec::new(),
                front: BlockCandidates::default(),
                rooms: BlockBuffers::default(),
                windows: Windows::default(),
                matches: Matches::default(),
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
