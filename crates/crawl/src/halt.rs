//! When a run leaves off reading what earlier ones archived.
//!
//! What lives here: [`Halt`], which is called when the run is stopped, and when its time is over as long as that
//! counts. What does not: the limits of a run that is under way (`frontier/hosts/schedule.rs`).
//!
//! **Invariant.** Once it was called it stays so, and whoever asks later knows whether anything was left unread; what is
//! [read on](Halt::read_on) hears nothing of it.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::clock::Clock;

/// Questions from one look at the clock to the next.
const ASKED_A_LOOK: u32 = 16;

/// Whether to go on reading.
pub(crate) struct Halt<'a> {
    stop: &'a AtomicBool,
    /// The clock, and the moment when the time of the run is over, if that counts.
    end: Cell<Option<(&'a dyn Clock, u64)>>,
    asked: Cell<u32>,
    was_called: Cell<bool>,
    is_deaf: Cell<bool>,
}

impl<'a> Halt<'a> {
    /// Called when the run is stopped.
    pub(crate) fn at(stop: &'a AtomicBool) -> Halt<'a> {
        let (asked, was_called) = (Cell::new(0), Cell::new(false));
        Halt { stop, end: Cell::new(None), asked, was_called, is_deaf: Cell::new(false) }
    }

    /// Called at `end_ms` as well, if the run has an end.
    pub(crate) fn or_at(self, clock: &'a dyn Clock, end_ms: Option<u64>) -> Halt<'a> {
        Halt { end: Cell::new(end_ms.map(|end_ms| (clock, end_ms))), ..self }
    }

    /// From now on the time of the run is looked at elsewhere.
    pub(crate) fn forget_time(&self) {
        self.end.set(None);
    }

    /// Has something read to its end, whatever comes.
    pub(crate) fn read_on<T>(&self, read: impl FnOnce() -> T) -> T {
        self.is_deaf.set(true);
        let value = read();
        self.is_deaf.set(false);
        value
    }

    /// Whether to leave off.
    pub(crate) fn is_called(&self) -> bool {
        if self.is_deaf.get() {
            return false;
        }
        if !self.was_called.get() {
            let asked = self.asked.get();
            self.asked.set(asked.wrapping_add(1));
            let end = self.end.get().filter(|_| asked.is_multiple_of(ASKED_A_LOOK));
            let is_over = end.is_some_and(|(clock, end_ms)| clock.now_ms() >= end_ms);
            self.was_called.set(is_over || self.stop.load(Ordering::Relaxed));
        }
        self.was_called.get()
    }

    /// Whether somebody was told to.
    pub(crate) fn was_called(&self) -> bool {
        self.was_called.get()
    }
}
