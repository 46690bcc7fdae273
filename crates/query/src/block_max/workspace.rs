//! What evaluation works with, kept from query to query: to ask for the memory anew would cost more than many queries do.
//!
//! **Invariant.** Whoever takes a workspace finds its window empty.

use std::sync::Mutex;

use super::Window;
use super::window::WINDOW_MAX;

/// Of one query at a time.
pub(super) struct Workspace {
    pub(super) window: Window,
    pub(super) scratch: Scratch,
    /// For each document of a window its place in a list; what was there before is left.
    pub(super) places: Vec<u16>,
    pub(super) found: Vec<(u32, f32)>,
}

/// Buffers without a meaning of their own.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) lengths: Vec<u32>,
    pub(super) scores: Vec<f32>,
    pub(super) kept: Vec<u32>,
}

/// Workspaces that nobody uses: as many as there have been queries at a time.
#[derive(Default)]
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
            })
        });
        let done = work(&mut workspace);
        if let Ok(mut free) = self.0.lock() {
            free.push(workspace);
        }
        done
    }
}
